/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <glib/gi18n-lib.h>

#include "sb-accessible.h"
#include "sb-export-dialog.h"

typedef struct
{
  SbWindow *window; /* held: the callback may come when it is closed */
  GApplication *application;
  GFile *file;
  gboolean corrected;
  gboolean then_close;
} Export;

static void
close_now (SbWindow *self)
{
  self->closing = TRUE;
  gtk_window_close (GTK_WINDOW (self));
}

static gboolean
close_cb (gpointer user_data)
{
  SbWindow *self = user_data;

  if (self->document != NULL)
    close_now (self);
  return G_SOURCE_REMOVE;
}

/* A dialog closes first: it looks at the window it belongs to when it goes. */
static void
close_soon (SbWindow *self)
{
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, close_cb, g_object_ref (self), g_object_unref);
}

void
sb_window_tell_exported (SbWindow *self, GFile *file, gboolean corrected)
{
  g_autofree char *base = g_file_get_basename (file);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *uri = g_file_get_uri (file);
  g_autofree char *text = NULL;
  g_autofree char *markup = NULL;
  AdwToast *toast;

  if (corrected)
    text = g_strdup_printf (_ ("Exported “%s”: it is a PNG file"), name);
  else
    text = g_strdup_printf (_ ("Exported “%s”"), name);
  markup = g_markup_escape_text (text, -1);
  toast = adw_toast_new (markup);
  adw_toast_set_button_label (toast, _ ("Show in Files"));
  adw_toast_set_action_name (toast, "app.show-in-files");
  adw_toast_set_action_target (toast, "s", uri);
  sb_window_add_toast (self, toast);
}

static void
exported_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Export *export = user_data;
  SbWindow *self = export->window;
  g_autoptr (GError) error = NULL;
  gboolean exported = sb_document_export_finish (SB_DOCUMENT (source), result, &error);
  gboolean modified = TRUE;

  if (!sb_window_is_closed (self))
    {
      const gboolean close_waits = self->close_waits;

      self->close_waits = FALSE;
      g_object_get (self->document, "modified", &modified, NULL);
      if (!exported)
        sb_window_report (self, error);
      else if ((export->then_close || close_waits) && !modified)
        {
          /* What it asks about has just been settled. */
          if (self->question != NULL)
            gtk_window_close (GTK_WINDOW (self->question));
          close_soon (self);
        }
      else
        {
          sb_window_tell_exported (self, export->file, export->corrected);
          /* Changes made meanwhile are asked about. */
          if (close_waits)
            sb_window_ask_to_close (self);
        }
    }
  else if (!exported && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_printerr ("softbox: %s\n", error->message);
  g_application_release (export->application);
  g_object_unref (export->application);
  g_object_unref (export->window);
  g_object_unref (export->file);
  g_free (export);
}

static void
start (SbWindow *self, GFile *file, const SbSaveOptions *options, gboolean corrected,
       gboolean then_close)
{
  Export *export = g_new0 (Export, 1);

  export->window = g_object_ref (self);
  export->application
      = g_object_ref (G_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
  export->file = g_object_ref (file);
  export->corrected = corrected;
  export->then_close = then_close;
  /* The program lives until the file is in place. */
  g_application_hold (export->application);
  sb_document_export_async (self->document, file, options, NULL, exported_cb, export);
}

void
sb_window_export_to (SbWindow *self, GFile *file)
{
  const SbSaveOptions options = { .depth = 0, .compression = -1, .overwrite = FALSE };

  g_object_set (self->document, "animating", FALSE, NULL);
  sb_document_report (self->document, NULL);
  start (self, file, &options, FALSE, FALSE);
}

static void
chosen_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbWindow *self = SB_WINDOW (source);
  g_autoptr (SbExportChoice) choice = sb_export_dialog_finish (result);

  self->choosing = FALSE;
  if (choice != NULL && !sb_window_is_closed (self))
    start (self, choice->file, &choice->options, choice->corrected, GPOINTER_TO_INT (user_data));
}

void
sb_window_export (SbWindow *self, gboolean then_close)
{
  if (self->choosing)
    return;
  self->choosing = TRUE;
  g_object_set (self->document, "animating", FALSE, NULL);
  sb_export_dialog_run (GTK_WINDOW (self), self->document, self->settings, chosen_cb,
                        GINT_TO_POINTER (then_close));
}

/* --- Unsaved changes ------------------------------------------------------------------------- */

static void
answer_cb (SbWindow *self, const char *response)
{
  g_clear_weak_pointer (&self->question);
  self->close_waits = FALSE;
  if (g_str_equal (response, "discard"))
    {
      sb_document_cancel_export (self->document);
      close_soon (self);
    }
  else if (g_str_equal (response, "export"))
    sb_window_export (self, TRUE);
}

void
sb_window_ask_to_close (SbWindow *self)
{
  g_autofree char *name = NULL;
  g_autofree char *body = NULL;
  GtkWidget *dialog;
  gboolean exporting;

  if (self->question != NULL)
    return;
  g_object_get (self->document, "title", &name, "exporting", &exporting, NULL);
  /* The export on its way may be of just these changes. Who asks again wants to be asked. */
  if (exporting && !self->close_waits)
    {
      self->close_waits = TRUE;
      sb_window_toast (self, _ ("Closes when the export is done"));
      return;
    }

  body = g_strdup_printf (
      _ ("The changes to “%s” have not been exported. Without an export they are lost."), name);
  dialog = adw_message_dialog_new (GTK_WINDOW (self), _ ("Export the changes?"), NULL);
  adw_message_dialog_set_body (ADW_MESSAGE_DIALOG (dialog), body);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "discard",
                                    _ ("_Discard"), "export", _ ("_Export…"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard",
                                              ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "export",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "export");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  sb_accessible_name_buttons (dialog);
  g_set_weak_pointer (&self->question, dialog);
  g_signal_connect_object (dialog, "response", G_CALLBACK (answer_cb), self, G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}
