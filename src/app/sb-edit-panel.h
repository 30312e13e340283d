/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

#include "sb-subband-model.h"

G_BEGIN_DECLS

/* The panel beside the picture: a group of controls for each kind of edit, Apply and Reset below.
 * Signal "changed" (): what can be reset may have changed. */
#define SB_TYPE_EDIT_PANEL (sb_edit_panel_get_type ())
G_DECLARE_FINAL_TYPE (SbEditPanel, sb_edit_panel, SB, EDIT_PANEL, GtkWidget)

void sb_edit_panel_set_document (SbEditPanel *self, SbDocument *document);
/* The subbands' part follows it; NULL: the window goes. */
void sb_edit_panel_set_model (SbEditPanel *self, SbSubbandModel *model);
/* control: "blur.radius"; delta: in steps of the parameter. FALSE: there is no such control. */
gboolean sb_edit_panel_step (SbEditPanel *self, const char *control, double delta);
void sb_edit_panel_reset (SbEditPanel *self);
gboolean sb_edit_panel_can_reset (SbEditPanel *self);
/* After apply: every group off, with its defaults. */
void sb_edit_panel_forget (SbEditPanel *self);

G_END_DECLS
