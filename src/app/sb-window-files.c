/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <string.h>

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#include "sb-file-dialog.h"
#include "sb-places.h"
#include "sb-question.h"
#include "sb-recent.h"
#include "sb-thumbnail.h"

/* --- Loading --------------------------------------------------------------------------------- */

typedef struct
{
  SbWindow *window;
  SbWindow *origin; /* where a failure is shown if this window is there for this picture only */
  GCancellable *cancellable;
  GFile *file;
  guint page;
  gboolean remember;
  char *pasted; /* a folder that is there for this load only, or NULL */
} Load;

static void
load_free (Load *load)
{
  if (load->pasted != NULL)
    {
      g_file_delete (load->file, NULL, NULL);
      g_rmdir (load->pasted);
    }
  g_clear_weak_pointer (&load->window);
  g_clear_weak_pointer (&load->origin);
  g_object_unref (load->cancellable);
  g_object_unref (load->file);
  g_free (load->pasted);
  g_free (load);
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Load *load = user_data;
  SbWindow *self = load->window;
  g_autoptr (GError) error = NULL;
  gboolean loaded = sb_document_load_finish (SB_DOCUMENT (source), result, &error);

  if (self == NULL || sb_window_is_closed (self))
    {
      load_free (load);
      return;
    }
  if (self->load == load->cancellable)
    g_clear_object (&self->load);

  if (loaded)
    {
      if (load->remember)
        {
          sb_recent_add (load->file);
          sb_thumbnail_save (load->file, sb_document_get_image (self->document));
        }
      gtk_window_present (GTK_WINDOW (self));
    }
  else if (load->origin != NULL && load->origin != self && sb_window_is_empty (self))
    {
      sb_window_report (load->origin, error);
      gtk_window_destroy (GTK_WINDOW (self));
    }
  else
    {
      sb_window_report (self, error);
      if (sb_window_is_empty (self))
        gtk_window_present (GTK_WINDOW (self));
    }
  load_free (load);
}

static void
start_load (SbWindow *self, Load *load, SbWindow *origin)
{
  g_set_weak_pointer (&load->window, self);
  g_set_weak_pointer (&load->origin, origin);
  load->cancellable = g_cancellable_new ();
  g_set_object (&self->load, load->cancellable);
  sb_document_report (self->document, NULL);
  sb_document_load_page_async (self->document, load->file, load->page, load->cancellable, loaded_cb,
                               load);
}

void
sb_window_load (SbWindow *self, GFile *file, SbWindow *origin)
{
  g_return_if_fail (SB_IS_WINDOW (self) && G_IS_FILE (file));

  Load *load = g_new0 (Load, 1);
  g_autoptr (GFile) sample = sb_sample_file ();

  load->file = g_object_ref (file);
  load->remember = sample == NULL || !g_file_equal (sample, file);
  start_load (self, load, origin);
}

typedef struct
{
  SbWindow *window;
  guint page;
} Turn;

static void
turn (SbWindow *self, guint page)
{
  GFile *file = sb_document_get_file (self->document);

  if (file == NULL)
    return;
  Load *load = g_new0 (Load, 1);
  load->file = g_object_ref (file);
  load->page = page;
  start_load (self, load, NULL);
}

static void
turn_cb (Turn *waiting, const char *response)
{
  if (g_str_equal (response, "discard") && !sb_window_is_closed (waiting->window))
    turn (waiting->window, waiting->page);
}

static void
turn_free (gpointer data, GClosure *closure)
{
  Turn *waiting = data;

  g_object_unref (waiting->window);
  g_free (waiting);
}

void
sb_window_load_page (SbWindow *self, guint page)
{
  g_return_if_fail (SB_IS_WINDOW (self));

  gboolean modified;
  g_object_get (self->document, "modified", &modified, NULL);
  if (!modified)
    {
      turn (self, page);
      return;
    }

  GtkWidget *message = sb_question_new (
      GTK_WINDOW (self), _ ("Discard the changes to this page?"),
      _ ("Another page begins without edits. The changes to this one have not been exported."),
      "discard", _ ("_Discard"));
  Turn *waiting = g_new0 (Turn, 1);

  waiting->window = g_object_ref (self);
  waiting->page = page;
  g_signal_connect_data (message, "response", G_CALLBACK (turn_cb), waiting, turn_free,
                         G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (message));
}

/* --- The dialog ------------------------------------------------------------------------------ */

static void
open_response_cb (SbWindow *self, int response, GtkFileChooserNative *native)
{
  g_autoptr (GListModel) files = NULL;
  g_autoptr (GFile) folder = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      SbApplication *application = SB_APPLICATION (gtk_window_get_application (GTK_WINDOW (self)));

      files = gtk_file_chooser_get_files (GTK_FILE_CHOOSER (native));
      for (guint i = 0; i < g_list_model_get_n_items (files); i++)
        {
          g_autoptr (GFile) file = g_list_model_get_item (files, i);

          if (i == 0)
            folder = g_file_get_parent (file);
          sb_application_open (application, file, i == 0 ? self : NULL);
        }
    }
  if (folder != NULL)
    {
      g_autofree char *uri = g_file_get_uri (folder);

      g_settings_set_string (self->settings, "open-folder", uri);
    }
  sb_file_dialog_put_away (native);
}

static void
show_open_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbWindow) self = user_data;
  g_autoptr (GFile) folder = sb_places_find_finish (result, NULL);
  GtkFileChooserNative *native;
  g_autoptr (GtkFileFilter) pictures = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();
  GtkFileChooser *chooser;

  self->opening = FALSE;
  if (sb_window_is_closed (self))
    return;
  native = sb_file_dialog_new (_ ("Open a picture"), GTK_WINDOW (self),
                               GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"));
  chooser = GTK_FILE_CHOOSER (native);
  gtk_file_filter_set_name (pictures, _ ("Pictures"));
  gtk_file_filter_add_pixbuf_formats (pictures);
  gtk_file_filter_add_mime_type (pictures, "image/png");
  gtk_file_filter_set_name (all, _ ("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (chooser, pictures);
  gtk_file_chooser_add_filter (chooser, all);
  gtk_file_chooser_set_select_multiple (chooser, TRUE);
  if (folder != NULL && g_file_is_native (folder))
    gtk_file_chooser_set_current_folder (chooser, folder, NULL);

  g_signal_connect_object (native, "response", G_CALLBACK (open_response_cb), self,
                           G_CONNECT_SWAPPED);
  sb_file_dialog_show (native);
}

void
sb_window_open (SbWindow *self)
{
  g_autofree char *uri = g_settings_get_string (self->settings, "open-folder");
  GFile *file = sb_document_get_file (self->document);
  GFile *beside = file == NULL ? NULL : g_file_get_parent (file);
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_object_unref);

  if (self->opening)
    return;
  self->opening = TRUE;
  /* Where the last one came from, else beside the picture. */
  if (*uri != '\0')
    g_ptr_array_add (folders, g_file_new_for_uri (uri));
  if (beside != NULL)
    g_ptr_array_add (folders, beside);
  sb_places_find_async (NULL, folders, NULL, SB_EXPORT_UNCHANGED, show_open_cb,
                        g_object_ref (self));
}

/* --- Drops ----------------------------------------------------------------------------------- */

static void
open_list (SbWindow *self, const GValue *value)
{
  SbApplication *application = SB_APPLICATION (gtk_window_get_application (GTK_WINDOW (self)));
  GSList *files = g_value_get_boxed (value);
  SbWindow *near = self;

  for (GSList *item = files; item != NULL; item = item->next, near = NULL)
    sb_application_open (application, item->data, near);
}

static gboolean
drop_cb (SbWindow *self, const GValue *value)
{
  gtk_revealer_set_reveal_child (self->drop, FALSE);
  if (!G_VALUE_HOLDS (value, GDK_TYPE_FILE_LIST))
    return FALSE;
  open_list (self, value);
  gtk_window_present (GTK_WINDOW (self));
  return TRUE;
}

static GdkDragAction
drop_enter_cb (SbWindow *self)
{
  gtk_revealer_set_reveal_child (self->drop, TRUE);
  return GDK_ACTION_COPY;
}

static void
drop_leave_cb (SbWindow *self)
{
  gtk_revealer_set_reveal_child (self->drop, FALSE);
}

void
sb_window_accept_drops (SbWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect_swapped (target, "drop", G_CALLBACK (drop_cb), self);
  g_signal_connect_swapped (target, "enter", G_CALLBACK (drop_enter_cb), self);
  g_signal_connect_swapped (target, "leave", G_CALLBACK (drop_leave_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->stage), GTK_EVENT_CONTROLLER (target));
}

/* --- The clipboard --------------------------------------------------------------------------- */

typedef struct
{
  SbImage *image;
  SbEditList *edits;
} Copy;

static void
copy_free (gpointer data)
{
  Copy *copy = data;

  sb_image_unref (copy->image);
  sb_edit_list_unref (copy->edits);
  g_free (copy);
}

/* An engine of its own leaves the document's free to follow the hand meanwhile. */
static void
copy_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Copy *copy = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) result = NULL;
  g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ .kind = SB_DEVICE_CPU }, &error);
  const SbSaveOptions options = { .depth = 0, .compression = 1 };
  GBytes *png = NULL;

  if (engine != NULL && sb_engine_load (engine, copy->image, &error))
    result = sb_engine_read (engine, copy->edits, copy->edits->n_edits,
                             sb_image_get_depth (copy->image), cancellable, &error);
  if (result != NULL)
    png = sb_image_encode_png (result, &options, NULL, NULL, cancellable, &error);
  if (png != NULL)
    g_task_return_pointer (task, png, (GDestroyNotify)g_bytes_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
copied_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbWindow *self = SB_WINDOW (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) png = g_task_propagate_pointer (G_TASK (result), &error);
  g_autoptr (GdkContentProvider) content = NULL;

  if (sb_window_is_closed (self))
    return;
  if (png == NULL)
    {
      sb_window_report (self, error);
      return;
    }
  content = gdk_content_provider_new_for_bytes ("image/png", png);
  gdk_clipboard_set_content (gtk_widget_get_clipboard (GTK_WIDGET (self)), content);
  sb_window_toast (self, _ ("Copied the result"));
}

void
sb_window_copy (SbWindow *self)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, copied_cb, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) texts = NULL;
  g_autofree SbEdit *edits = NULL;
  SbImage *image = sb_document_get_image (self->document);
  Copy *copy;
  guint n;

  if (image == NULL)
    return;
  g_object_get (self->document, "edits", &text, NULL);
  texts = g_strsplit (text == NULL ? "" : text, " ", -1);
  n = g_strv_length (texts);
  edits = g_new0 (SbEdit, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) error = NULL;

      if (!sb_edit_parse (texts[i], &edits[i], &error))
        {
          sb_window_report (self, error);
          return;
        }
    }

  copy = g_new (Copy, 1);
  copy->image = sb_image_ref (image);
  copy->edits = sb_edit_list_new (edits, n);
  g_task_set_task_data (task, copy, copy_free);
  g_task_run_in_thread (task, copy_thread);
}

static void
paste_error (SbWindow *self, const char *reason)
{
  g_autoptr (GError) error
      = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, _ ("Could not paste the picture: %s"), reason);

  sb_window_report (self, error);
}

typedef struct
{
  SbWindow *window;
  char *folder;
} Paste;

static void
paste_written_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Paste *paste = user_data;
  SbWindow *self = paste->window;
  g_autoptr (GError) error = NULL;
  const gboolean written = g_file_replace_contents_finish (G_FILE (source), result, NULL, &error);

  if (written && !sb_window_is_closed (self))
    {
      SbApplication *application = SB_APPLICATION (gtk_window_get_application (GTK_WINDOW (self)));
      gboolean modified;
      Load *load = g_new0 (Load, 1);
      SbWindow *window = self;

      g_object_get (self->document, "modified", &modified, NULL);
      if (modified)
        window = sb_window_new (application, (SbDevice){ .kind = SB_DEVICE_AUTO });
      load->file = g_object_ref (G_FILE (source));
      load->pasted = g_steal_pointer (&paste->folder);
      start_load (window, load, self);
    }
  else
    {
      /* The folder can go only after what is in it; both are ours, local and gone at once. */
      g_file_delete (G_FILE (source), NULL, NULL);
      g_rmdir (paste->folder);
      if (!sb_window_is_closed (self))
        paste_error (self, error->message);
    }
  g_object_unref (paste->window);
  g_free (paste->folder);
  g_free (paste);
}

/* The clipboard's bytes go through a file of their own, so that they are read like any other. */
static void
pasted_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbWindow) self = user_data;
  g_autoptr (GError) error = NULL;
  gssize size = g_output_stream_splice_finish (G_OUTPUT_STREAM (source), result, &error);
  char *folder = NULL;

  if (sb_window_is_closed (self))
    return;
  if (size >= 0)
    folder = g_dir_make_tmp ("softbox-XXXXXX", &error);
  if (folder == NULL)
    {
      paste_error (self, error->message);
      return;
    }

  g_autofree char *name = g_strconcat (_ ("Pasted picture"), ".png", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GBytes) bytes
      = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (source));
  Paste *paste = g_new0 (Paste, 1);

  paste->window = g_object_ref (self);
  paste->folder = folder;
  g_file_replace_contents_bytes_async (file, bytes, NULL, FALSE, G_FILE_CREATE_PRIVATE, NULL,
                                       paste_written_cb, paste);
}

static void
paste_stream_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbWindow) self = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) stream
      = gdk_clipboard_read_finish (GDK_CLIPBOARD (source), result, NULL, &error);
  g_autoptr (GOutputStream) bytes = NULL;

  if (sb_window_is_closed (self))
    return;
  if (stream == NULL)
    {
      paste_error (self, error->message);
      return;
    }
  bytes = g_memory_output_stream_new_resizable ();
  g_output_stream_splice_async (
      bytes, stream, G_OUTPUT_STREAM_SPLICE_CLOSE_SOURCE | G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET,
      G_PRIORITY_DEFAULT, NULL, pasted_cb, g_object_ref (self));
}

static void
paste_files_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (SbWindow) self = user_data;
  g_autoptr (GError) error = NULL;
  const GValue *value = gdk_clipboard_read_value_finish (GDK_CLIPBOARD (source), result, &error);

  if (sb_window_is_closed (self))
    return;
  if (value == NULL)
    paste_error (self, error->message);
  else
    open_list (self, value);
}

void
sb_window_paste (SbWindow *self)
{
  static const char *types[] = { "image/png", "image/tiff", "image/jpeg", "image/bmp", NULL };
  GdkClipboard *clipboard = gtk_widget_get_clipboard (GTK_WIDGET (self));
  GdkContentFormats *formats = gdk_clipboard_get_formats (clipboard);

  for (guint i = 0; types[i] != NULL; i++)
    if (gdk_content_formats_contain_mime_type (formats, types[i]))
      {
        gdk_clipboard_read_async (clipboard, types, G_PRIORITY_DEFAULT, NULL, paste_stream_cb,
                                  g_object_ref (self));
        return;
      }
  if (gdk_content_formats_contain_gtype (formats, GDK_TYPE_FILE_LIST)
      || gdk_content_formats_contain_mime_type (formats, "text/uri-list"))
    gdk_clipboard_read_value_async (clipboard, GDK_TYPE_FILE_LIST, G_PRIORITY_DEFAULT, NULL,
                                    paste_files_cb, g_object_ref (self));
  else
    sb_window_toast (self, _ ("There is no picture on the clipboard"));
}
