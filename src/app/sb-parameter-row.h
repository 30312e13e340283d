/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

#include "sb-edit.h"

G_BEGIN_DECLS

/* A number of an edit: label, spin button, and a slider below them, all from the row of the table.
 * The wheel goes past both to the panel; a double click on the slider gives the default back.
 *
 * Signals: "changed" (d): the user chose another value; "drag-begin", "drag-end": the hand is on
 * the slider between them. */
#define SB_TYPE_PARAMETER_ROW (sb_parameter_row_get_type ())
G_DECLARE_FINAL_TYPE (SbParameterRow, sb_parameter_row, SB, PARAMETER_ROW, AdwPreferencesRow)

/* The row of the table must outlive the widget. */
GtkWidget *sb_parameter_row_new (const SbParameter *parameter);
/* Another row of the table, or that row with another range: shows its initial value. Has to come
 * before anything else where the row is made by a template. */
void sb_parameter_row_set_parameter (SbParameterRow *self, const SbParameter *parameter);
/* Shows a value; no signal. */
void sb_parameter_row_set_value (SbParameterRow *self, double value);
/* A line below the slider: what the number amounts to. NULL: none. */
void sb_parameter_row_set_note (SbParameterRow *self, const char *text);

G_END_DECLS
