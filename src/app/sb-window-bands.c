/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

#include "sb-file-dialog.h"
#include "sb-haar-export.h"
#include "sb-places.h"

/* Subbands as files: by the functions that the command line calls, so that the bytes are the same.
 */

typedef struct
{
  SbWindow *window; /* held: the answer may come when it is closed */
  GApplication *application;
  SbDocument *document;
  SbBandsExport what;
  GFile *file; /* or the folder */
  char *stem;
  SbHaarFormat format;
  gboolean overwrite;
  SbHaarBand band;
  SbHaarLook look;
  guint8 ground[3];
  SbHaar *haar;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  sb_document_release (job->document);
  g_object_unref (job->document);
  g_application_release (job->application);
  g_object_unref (job->application);
  g_object_unref (job->window);
  g_object_unref (job->file);
  g_free (job->stem);
  g_clear_pointer (&job->haar, sb_haar_unref);
  g_free (job);
}

/* --- Writing, in a thread --------------------------------------------------------------------- */

/* Into the folder, which is made where it is missing. None is begun where one of the names is
 * taken.
 */
static gboolean
write_bands (const Job *job, GError **error)
{
  const guint levels = sb_haar_get_choice (job->haar).levels;
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GError) failure = NULL;

  if (!g_file_make_directory_with_parents (job->file, NULL, &failure)
      && !g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_EXISTS))
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  for (guint i = 0; i < sb_haar_n_bands (levels); i++)
    {
      g_autofree char *name
          = sb_haar_file_name (job->stem, sb_haar_nth_band (levels, i), job->format);
      GFile *file = g_file_get_child (job->file, name);

      g_ptr_array_add (files, file);
      if (g_file_query_exists (file, NULL))
        {
          g_autofree char *shown = g_file_get_parse_name (file);

          g_set_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS, _ ("“%s” exists already"), shown);
          return FALSE;
        }
    }
  for (guint i = 0; i < files->len; i++)
    if (!sb_haar_save (job->haar, sb_haar_nth_band (levels, i), job->format,
                       g_ptr_array_index (files, i), FALSE, error))
      return FALSE;
  return TRUE;
}

static void
write_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Job *job = data;
  const SbSaveOptions options = { .depth = 8, .compression = -1, .overwrite = job->overwrite };
  g_autoptr (SbImage) mosaic = NULL;
  GError *error = NULL;
  gboolean written;

  switch (job->what)
    {
    case SB_BANDS_EXPORT_MOSAIC:
      mosaic = sb_haar_draw (job->haar, &job->look, job->ground, &error);
      written = mosaic != NULL
                && sb_image_save_png (mosaic, job->file, &options, NULL, NULL, NULL, &error);
      break;
    case SB_BANDS_EXPORT_ONE:
      written = sb_haar_save (job->haar, job->band, job->format, job->file, job->overwrite, &error);
      break;
    default:
      written = write_bands (job, &error);
      break;
    }
  if (written)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
written_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  const Job *job = g_task_get_task_data (G_TASK (result));
  SbWindow *self = job->window;
  g_autoptr (GError) error = NULL;
  const gboolean written = g_task_propagate_boolean (G_TASK (result), &error);

  if (sb_window_is_closed (self))
    {
      if (!written)
        g_printerr ("softbox: %s\n", error->message);
    }
  else if (written)
    sb_window_tell_exported (self, job->file, FALSE);
  else
    sb_window_report (self, error);
}

static void
read_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Job *job = user_data;
  g_autoptr (GError) error = NULL;

  job->haar = sb_document_read_subbands_finish (SB_DOCUMENT (source), result, &error);
  if (job->haar == NULL)
    {
      if (!sb_window_is_closed (job->window))
        sb_window_report (job->window, error);
      job_free (job);
      return;
    }
  g_autoptr (GTask) task = g_task_new (NULL, NULL, written_cb, NULL);
  g_task_set_task_data (task, job, job_free);
  g_task_run_in_thread (task, write_thread);
}

/* The name of the picture without its suffix. */
static char *
get_stem (SbWindow *self)
{
  GFile *file = sb_document_get_file (self->document);
  g_autofree char *base = file != NULL ? g_file_get_basename (file) : NULL;
  char *stem = g_strdup (base != NULL ? base : _ ("Picture"));
  char *dot = strrchr (stem, '.');

  if (dot != NULL && dot != stem)
    *dot = '\0';
  return stem;
}

static void
start (SbWindow *self, SbBandsExport what, GFile *file, SbHaarFormat format, gboolean overwrite)
{
  const SbHaarChoice choice = sb_subband_model_get_choice (self->model);
  Job *job = g_new0 (Job, 1);

  job->window = g_object_ref (self);
  job->application = g_object_ref (G_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
  g_application_hold (job->application);
  job->document = g_object_ref (self->document);
  sb_document_hold (job->document);
  job->what = what;
  job->file = g_object_ref (file);
  job->stem = get_stem (self);
  job->format = format;
  job->overwrite = overwrite;
  job->band = sb_subband_model_get_band (self->model);
  job->look = *sb_subband_model_get_look (self->model);
  job->look.dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  sb_canvas_get_ground (self->canvas, job->ground);
  sb_document_report (self->document, NULL);
  sb_document_read_subbands_async (self->document, &choice, read_cb, job);
}

static SbHaarFormat
format_of (GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *folded = g_ascii_strdown (name, -1);

  return g_str_has_suffix (folded, ".png") ? SB_HAAR_PNG16 : SB_HAAR_NPY;
}

void
sb_window_export_bands_to (SbWindow *self, SbBandsExport what, GFile *file)
{
  start (self, what, file, what == SB_BANDS_EXPORT_ONE ? format_of (file) : SB_HAAR_NPY, FALSE);
}

/* --- Asking ----------------------------------------------------------------------------------- */

static void
response_cb (SbWindow *self, int response, GtkFileChooserNative *native)
{
  const SbBandsExport what
      = (SbBandsExport)GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (native), "what"));
  GtkFileChooser *chooser = GTK_FILE_CHOOSER (native);
  g_autoptr (GFile) file
      = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (chooser) : NULL;

  self->choosing = FALSE;
  if (file != NULL && !sb_window_is_closed (self))
    {
      const char *choice
          = what == SB_BANDS_EXPORT_MOSAIC ? NULL : gtk_file_chooser_get_choice (chooser, "format");
      SbHaarFormat format = g_strcmp0 (choice, "png16") == 0 ? SB_HAAR_PNG16 : SB_HAAR_NPY;
      gboolean asked = what != SB_BANDS_EXPORT_ALL; /* about what it replaces */
      g_autoptr (GFile) folder
          = what == SB_BANDS_EXPORT_ALL ? g_object_ref (file) : g_file_get_parent (file);
      g_autofree char *uri = folder != NULL ? g_file_get_uri (folder) : NULL;

      if (what == SB_BANDS_EXPORT_ONE && format_of (file) != format)
        {
          /* The name of a file says what it is. */
          g_autofree char *base = g_file_get_basename (file);
          char *dot = strrchr (base, '.');
          if (dot != NULL && dot != base
              && (g_ascii_strcasecmp (dot, ".npy") == 0 || g_ascii_strcasecmp (dot, ".png") == 0))
            *dot = '\0';
          g_autofree char *name
              = g_strconcat (base, format == SB_HAAR_PNG16 ? ".png" : ".npy", NULL);

          g_object_unref (file);
          file = g_file_get_child (folder, name);
          asked = FALSE;
        }
      if (uri != NULL)
        g_settings_set_string (self->settings, "export-folder", uri);
      start (self, what, file, format, asked);
    }
  sb_file_dialog_put_away (native);
}

typedef struct
{
  SbWindow *window;
  SbBandsExport what;
} Question;

static void
present (SbWindow *self, SbBandsExport what, GFile *folder)
{
  const char *formats[] = { "npy", "png16", NULL };
  const char *labels[] = { _ ("NumPy array"), _ ("16-bit gray PNG"), NULL };
  const char *titles[]
      = { _ ("Export the mosaic"), _ ("Export the selected band"), _ ("Export all bands") };
  g_autofree char *stem = get_stem (self);
  g_autofree char *name = NULL;
  GtkFileChooserNative *native
      = sb_file_dialog_new (titles[what], GTK_WINDOW (self),
                            what == SB_BANDS_EXPORT_ALL ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER
                                                        : GTK_FILE_CHOOSER_ACTION_SAVE,
                            _ ("_Export"));
  GtkFileChooser *chooser = GTK_FILE_CHOOSER (native);
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  if (what == SB_BANDS_EXPORT_MOSAIC)
    name = g_strconcat (stem, "-mosaic.png", NULL);
  else if (what == SB_BANDS_EXPORT_ONE)
    name = sb_haar_file_name (stem, sb_subband_model_get_band (self->model), SB_HAAR_NPY);
  if (name != NULL)
    {
      g_autofree char *shown = g_filename_display_name (name);

      gtk_file_chooser_set_current_name (chooser, shown);
    }
  if (what == SB_BANDS_EXPORT_ALL)
    {
      gtk_file_filter_set_name (filter, _ ("Folders"));
      gtk_file_filter_add_mime_type (filter, "inode/directory");
    }
  else
    {
      gtk_file_filter_set_name (filter,
                                what == SB_BANDS_EXPORT_MOSAIC ? _ ("PNG pictures") : _ ("Bands"));
      gtk_file_filter_add_suffix (filter, "png");
      if (what == SB_BANDS_EXPORT_ONE)
        gtk_file_filter_add_suffix (filter, "npy");
    }
  gtk_file_chooser_add_filter (chooser, filter);
  if (what != SB_BANDS_EXPORT_MOSAIC)
    {
      gtk_file_chooser_add_choice (chooser, "format", _ ("Format"), formats, labels);
      gtk_file_chooser_set_choice (chooser, "format", "npy");
    }
  if (folder != NULL)
    gtk_file_chooser_set_current_folder (chooser, folder, NULL);
  g_object_set_data (G_OBJECT (native), "what", GUINT_TO_POINTER (what));
  g_signal_connect_object (native, "response", G_CALLBACK (response_cb), self, G_CONNECT_SWAPPED);
  sb_file_dialog_show (native);
}

static void
found_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Question *question = user_data;
  g_autoptr (SbWindow) self = question->window;
  g_autoptr (GFile) folder = sb_places_find_finish (result, NULL);

  if (sb_window_is_closed (self))
    self->choosing = FALSE;
  else
    present (self, question->what, folder);
  g_free (question);
}

/* Beside the picture, or where a picture was exported to last. */
void
sb_window_export_bands (SbWindow *self, SbBandsExport what)
{
  GFile *file = sb_document_get_file (self->document);
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree char *last = g_settings_get_string (self->settings, "export-folder");
  g_autofree char *stem = get_stem (self);
  GFile *beside;

  if (self->choosing)
    return;
  self->choosing = TRUE;
  beside = file != NULL ? g_file_get_parent (file) : NULL;
  if (beside != NULL)
    g_ptr_array_add (folders, beside);
  if (*last != '\0')
    g_ptr_array_add (folders, g_file_new_for_uri (last));
  g_ptr_array_add (folders, g_file_new_for_path (g_get_home_dir ()));

  Question *question = g_new (Question, 1);
  *question = (Question){ g_object_ref (self), what };
  sb_places_find_async (NULL, folders, stem, SB_EXPORT_UNCHANGED, found_cb, question);
}
