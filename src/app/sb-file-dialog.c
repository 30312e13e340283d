/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "sb-file-dialog.h"

#include <glib/gi18n-lib.h>

/* At least as wide as what is in it. */
#define WIDTH  840
#define HEIGHT 560

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

GtkFileChooser *
sb_file_dialog_show (GtkFileChooserNative *native)
{
  g_return_val_if_fail (GTK_IS_FILE_CHOOSER_NATIVE (native), NULL);

  GtkWindow *parent = gtk_native_dialog_get_transient_for (GTK_NATIVE_DIALOG (native));
  GListModel *windows = gtk_window_get_toplevels ();
  GtkFileChooser *own = NULL;

  gtk_native_dialog_show (GTK_NATIVE_DIALOG (native));
  /* GTK's own makes room for many letters, and for every choice with a long name beside it. */
  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWindow) window = g_list_model_get_item (windows, i);

      if (GTK_IS_FILE_CHOOSER_DIALOG (window) && gtk_window_get_transient_for (window) == parent
          && gtk_widget_get_visible (GTK_WIDGET (window)))
        {
          gtk_window_set_default_size (window, WIDTH, HEIGHT);
          own = GTK_FILE_CHOOSER (window);
        }
    }
  return own;
}
