/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

#include "sb-document.h"

G_BEGIN_DECLS

/* The controls of one kind of edit: a title with a switch that turns the edit off and on without
 * losing its values, and a row for each parameter of the table. A control that is moved turns the
 * edit on.
 *
 * Signal "changed" (): the edit went on or off, or a value changed. */
#define SB_TYPE_EDIT_GROUP (sb_edit_group_get_type ())
G_DECLARE_FINAL_TYPE (SbEditGroup, sb_edit_group, SB, EDIT_GROUP, AdwPreferencesGroup)

GtkWidget *sb_edit_group_new (SbEditKind kind);
void sb_edit_group_set_document (SbEditGroup *self, SbDocument *document);

/* Moves a number or turns a switch or a choice by `delta` of its steps; FALSE: the kind has no
 * such parameter. key: "radius". */
gboolean sb_edit_group_step (SbEditGroup *self, const char *key, double delta);
/* Off, and every control at its default. */
void sb_edit_group_reset (SbEditGroup *self);
/* The values that a switched off edit would come back with are gone: after apply. */
void sb_edit_group_forget (SbEditGroup *self);
/* Whether reset would change anything. */
gboolean sb_edit_group_can_reset (SbEditGroup *self);

G_END_DECLS
