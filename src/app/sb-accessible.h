/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What GTK 4.8 leaves to be said to those who do not see the window: it names a button by its text
 * with the underline and again by the label in it, and those inside its compound widgets not at
 * all. Sets this right for all that is inside a widget, or the widget itself. */
void sb_accessible_name_buttons (GtkWidget *widget);
/* Newer GTK names a button with text and a list by what is written in them, whatever name the
 * template gave: takes that back. */
void sb_accessible_keep_name (gpointer widget);

G_END_DECLS
