/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "sb-file-dialog.h"

#include <glib/gi18n-lib.h>

static GtkFileChooserNative *put_away;

static void
drop (void)
{
  if (put_away == NULL)
    return;
  gtk_native_dialog_destroy (GTK_NATIVE_DIALOG (put_away));
  g_clear_object (&put_away);
}

GtkFileChooserNative *
sb_file_dialog_new (const char *title, GtkWindow *parent, GtkFileChooserAction action,
                    const char *accept)
{
  g_return_val_if_fail (GTK_IS_WINDOW (parent), NULL);

  drop ();
  GtkFileChooserNative *native
      = gtk_file_chooser_native_new (title, parent, action, accept, _ ("_Cancel"));
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (native), TRUE);
  return native;
}

void
sb_file_dialog_put_away (GtkFileChooserNative *native)
{
  g_return_if_fail (GTK_IS_FILE_CHOOSER_NATIVE (native));

  drop ();
  gtk_native_dialog_hide (GTK_NATIVE_DIALOG (native));
  put_away = native;
}
