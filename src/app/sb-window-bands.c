/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

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

char *
sb_window_get_stem (SbWindow *self)
{
  GFile *file = sb_document_get_file (self->document);
  g_autofree char *base = file != NULL ? g_file_get_basename (file) : NULL;
  char *stem = g_strdup (base != NULL ? base : _ ("Picture"));
  char *dot = strrchr (stem, '.');

  if (dot != NULL && dot != stem)
    *dot = '\0';
  return stem;
}

void
sb_window_write_bands (SbWindow *self, SbBandsExport what, GFile *file, SbHaarFormat format,
                       gboolean overwrite)
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
  job->stem = sb_window_get_stem (self);
  job->format = format;
  job->overwrite = overwrite;
  job->band = sb_subband_model_get_band (self->model);
  job->look = *sb_subband_model_get_look (self->model);
  job->look.dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  sb_canvas_get_ground (self->canvas, job->ground);
  sb_document_report (self->document, NULL);
  sb_document_read_subbands_async (self->document, &choice, read_cb, job);
}

gboolean
sb_window_bands_format (GFile *file, SbHaarFormat *format)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *folded = g_ascii_strdown (name, -1);
  const gboolean png = g_str_has_suffix (folded, ".png");

  *format = png ? SB_HAAR_PNG16 : SB_HAAR_NPY;
  return png || g_str_has_suffix (folded, ".npy");
}

void
sb_window_export_bands_to (SbWindow *self, SbBandsExport what, GFile *file)
{
  SbHaarFormat format = SB_HAAR_NPY;

  if (what == SB_BANDS_EXPORT_ONE)
    sb_window_bands_format (file, &format);
  sb_window_write_bands (self, what, file, format, FALSE);
}
