/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* GTK's dialog for files, which outlives its answer: some releases of GTK (seen in 4.18) crash when
 * it is destroyed while it still asks about the folder it shows, as a quick Esc does. So it is
 * hidden, and goes when the next is made. Main thread. */

/* A modal dialog above PARENT; TITLE and ACCEPT as in gtk_file_chooser_native_new(). The caller
 * owns it until it is put away. */
GtkFileChooserNative *sb_file_dialog_new (const char *title, GtkWindow *parent,
                                          GtkFileChooserAction action, const char *accept);

/* Hides NATIVE and takes the caller's reference. The caller's handlers must be off or know that
 * they are done; no answer comes any more. */
void sb_file_dialog_put_away (GtkFileChooserNative *native);

/* In a size that leaves some of the window to be seen, where it is GTK's own dialog: that one is
 * returned, as it tells of more than NATIVE does; NULL where the desktop has its own. */
GtkFileChooser *sb_file_dialog_show (GtkFileChooserNative *native);

G_END_DECLS
