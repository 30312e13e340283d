/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* One table of keys: the application's accelerators, the keys of a window and the shortcuts window
 * are all made from it. */

/* Sets the accelerators, which work wherever the focus is. */
void sb_shortcuts_install (GtkApplication *application);

/* The keys that give way to an entry being typed into: bare ones, and those that mean something
 * to text. Added to a window they act in the bubble phase, after the focused widget has declined
 * them; `phase` is for widgets that would otherwise take such a key for themselves. */
GtkEventController *
sb_shortcuts_controller_new (GtkPropagationPhase phase) G_GNUC_WARN_UNUSED_RESULT;

/* The window that lists all of them. */
GtkWindow *sb_shortcuts_window_new (void) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
