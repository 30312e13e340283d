/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <glib/gi18n-lib.h>

/* Progress is told in steps of this. */
#define PROGRESS_STEPS 200

/* A load or an export on its way through the threads. Created and freed on the main thread; the
 * thread that has it in between is its only user, but for the cancellable. */
typedef struct
{
  SbWork *work;
  GTask *task; /* main thread only; NULL once it has returned */
  GFile *file;
  GCancellable *cancellable;
  GCancellable *callers; /* or NULL */
  gulong handler;
  GError *error;

  SbImage *image;
  SbImage *original; /* of an export */
  GFile *opened;     /* what the document had open when the export began, or NULL */
  char *etag;        /* of the document's file, when it was loaded or written; or NULL */
  guint64 limit;
  guint page;
  gboolean decoded; /* main thread only: the worker has it or may have it */
  guint generation; /* of the picture: loaded, or exported from */

  SbEditList *edits;
  SbSaveOptions options;
  GPtrArray *warnings; /* what the user must be told of the exported file */
  int progress;        /* of PROGRESS_STEPS, atomic */
  gboolean exported;
} Job;

static void
forward_cancel (GCancellable *callers, gpointer data)
{
  g_cancellable_cancel (data);
}

static Job *
job_new (SbDocument *self, GFile *file, GCancellable *cancellable, GAsyncReadyCallback callback,
         gpointer user_data, gpointer tag)
{
  Job *job = g_new0 (Job, 1);

  job->work = sb_work_ref (sb_document_get_work (self));
  job->file = g_object_ref (file);
  job->cancellable = g_cancellable_new ();
  /* Without a cancellable: what the job says is what the caller gets. */
  job->task = g_task_new (self, NULL, callback, user_data);
  g_task_set_source_tag (job->task, tag);
  if (cancellable != NULL)
    {
      job->callers = g_object_ref (cancellable);
      job->handler = g_cancellable_connect (cancellable, G_CALLBACK (forward_cancel),
                                            g_object_ref (job->cancellable), g_object_unref);
    }
  return job;
}

/* Returns the task: the caller's callback may run in here. */
static void
job_return (Job *job, GError *error)
{
  g_autoptr (GTask) task = g_steal_pointer (&job->task);

  if (task == NULL)
    g_clear_error (&error);
  else if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

static void
job_free (Job *job)
{
  if (job->callers != NULL)
    g_cancellable_disconnect (job->callers, job->handler);
  g_clear_object (&job->callers);
  g_clear_object (&job->cancellable);
  g_clear_object (&job->file);
  g_clear_pointer (&job->image, sb_image_unref);
  g_clear_pointer (&job->original, sb_image_unref);
  g_clear_object (&job->opened);
  g_free (job->etag);
  g_clear_pointer (&job->edits, sb_edit_list_unref);
  g_clear_pointer (&job->warnings, g_ptr_array_unref);
  g_clear_error (&job->error);
  sb_work_unref (job->work);
  g_free (job);
}

static void
show_jobs (SbDocument *self)
{
  SbJobs *jobs = sb_document_get_jobs (self);
  const Job *export = jobs->export;
  const Job *told = export != NULL ? export : jobs->load;

  sb_document_set_io (self, jobs->load != NULL, export != NULL,
                      told != NULL ? (double)g_atomic_int_get (&told->progress) / PROGRESS_STEPS
                                   : 0);
}

static void
progressed (SbDocument *self, gpointer data)
{
  if (self != NULL)
    show_jobs (self);
}

/* On the job's thread. */
static void
tell_progress (double fraction, gpointer data)
{
  Job *job = data;
  const int progress = (int)(CLAMP (fraction, 0, 1) * PROGRESS_STEPS);

  if (progress == g_atomic_int_get (&job->progress))
    return;
  g_atomic_int_set (&job->progress, progress);
  sb_work_post (job->work, progressed, NULL);
}

/* What changes whenever the file does; NULL where that cannot be told. On the job's thread. */
static char *
query_etag (GFile *file, GCancellable *cancellable)
{
  g_autoptr (GFileInfo) info = g_file_query_info (file, G_FILE_ATTRIBUTE_ETAG_VALUE,
                                                  G_FILE_QUERY_INFO_NONE, cancellable, NULL);

  return info != NULL ? g_strdup (g_file_info_get_etag (info)) : NULL;
}

/* What tells files apart whatever they are called; NULL where nothing does. */
static char *
query_id (GFile *file)
{
  g_autoptr (GFileInfo) info
      = g_file_query_info (file, G_FILE_ATTRIBUTE_ID_FILE, G_FILE_QUERY_INFO_NONE, NULL, NULL);

  return info != NULL ? g_strdup (g_file_info_get_attribute_string (info, G_FILE_ATTRIBUTE_ID_FILE))
                      : NULL;
}

/* A link may lead from one to the other. */
static gboolean
is_same_file (GFile *a, GFile *b)
{
  if (g_file_equal (a, b))
    return TRUE;
  g_autofree char *a_id = query_id (a);
  g_autofree char *b_id = query_id (b);
  return a_id != NULL && g_strcmp0 (a_id, b_id) == 0;
}

/* --- Load ------------------------------------------------------------------------------------ */

static void
load_finished (SbDocument *self, gpointer data)
{
  Job *job = data;
  GError *error = g_steal_pointer (&job->error);
  g_autoptr (SbImage) image = g_steal_pointer (&job->image);

  if (self != NULL)
    {
      SbJobs *jobs = sb_document_get_jobs (self);
      if (jobs->load == job)
        jobs->load = NULL;
      /* The engine has it, so the document has it, whoever changed their mind meanwhile. */
      if (job->generation != 0)
        {
          sb_document_set_etag (self, job->etag);
          sb_document_loaded (self, job->file, image, job->generation);
        }
      else if (job->task != NULL && error != NULL)
        sb_document_failed (self, error);
      show_jobs (self);
    }
  job_return (job, error);
  job_free (job);
}

void
sb_load_job_done (SbWork *work, gpointer data, guint generation, GError *error)
{
  Job *job = data;

  job->generation = generation;
  job->error = error;
  sb_work_post (work, load_finished, job);
}

/* The picture is decoded, and the caller still wants it: into the engine with it. */
static void
load_decoded (SbDocument *self, gpointer data)
{
  Job *job = data;

  if (job->error == NULL && g_cancellable_is_cancelled (job->cancellable))
    job->error = sb_work_cancelled ();
  if (job->error != NULL || self == NULL)
    load_finished (self, job);
  else
    {
      job->decoded = TRUE;
      sb_work_load (job->work, sb_image_ref (job->image), job);
    }
}

static gpointer
load_thread (gpointer data)
{
  Job *job = data;

  const SbLoadOptions options = { job->limit, job->page, tell_progress, job };

  job->etag = query_etag (job->file, job->cancellable);
  job->image = sb_image_load_with (job->file, &options, job->cancellable, &job->error);
  sb_work_post (job->work, load_decoded, job);
  return NULL;
}

/* The caller is told at once, unless it is too late; the thread's result is dropped when it comes.
 */
static void
cancel_load (SbDocument *self)
{
  SbJobs *jobs = sb_document_get_jobs (self);
  Job *job = jobs->load;

  if (job == NULL)
    return;
  g_cancellable_cancel (job->cancellable);
  if (!job->decoded)
    {
      jobs->load = NULL;
      job_return (job, sb_work_cancelled ());
    }
  else if (sb_work_unload (job->work, job))
    {
      jobs->load = NULL;
      job_return (job, sb_work_cancelled ());
      job_free (job);
    }
}

void
sb_document_load_async (SbDocument *self, GFile *file, GCancellable *cancellable,
                        GAsyncReadyCallback callback, gpointer user_data)
{
  sb_document_load_page_async (self, file, 0, cancellable, callback, user_data);
}

void
sb_document_load_page_async (SbDocument *self, GFile *file, guint page, GCancellable *cancellable,
                             GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));
  g_return_if_fail (G_IS_FILE (file));

  cancel_load (self);
  sb_document_report (self, NULL);
  SbJobs *jobs = sb_document_get_jobs (self);
  Job *job = job_new (self, file, cancellable, callback, user_data, sb_document_load_async);
  jobs->load = job;
  job->limit = sb_document_get_memory_limit (self);
  job->page = page;
  g_mutex_lock (&job->work->mutex);
  if (job->work->box == NULL)
    job->work->open = TRUE; /* while the file is being decoded */
  g_cond_signal (&job->work->wake);
  g_mutex_unlock (&job->work->mutex);
  show_jobs (self);
  sb_work_thread (job->work, "softbox-load", load_thread, job);
}

gboolean
sb_document_load_finish (SbDocument *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* --- Export ---------------------------------------------------------------------------------- */

static void
export_finished (SbDocument *self, gpointer data)
{
  Job *job = data;
  GError *error = g_steal_pointer (&job->error);

  if (self != NULL)
    {
      SbJobs *jobs = sb_document_get_jobs (self);
      if (jobs->export == job)
        jobs->export = NULL;
      if (job->exported)
        {
          GFile *file = sb_document_get_file (self);
          if (job->etag != NULL && file != NULL && g_file_equal (file, job->opened))
            sb_document_set_etag (self, job->etag);
          sb_document_exported (self, job->generation, job->edits);
          for (guint i = 0; i < job->warnings->len; i++)
            sb_document_warn (self, g_ptr_array_index (job->warnings, i));
        }
      else
        sb_document_failed (self, error);
      show_jobs (self);
    }
  job_return (job, error);
  job_free (job);
}

/* On the job's thread. */
static void
note_warning (const char *sentence, gpointer data)
{
  Job *job = data;

  g_ptr_array_add (job->warnings, g_strdup (sentence));
}

static gpointer
export_thread (gpointer data)
{
  Job *job = data;

  job->options.metadata = sb_image_get_metadata (job->original);
  job->options.warned = note_warning;
  job->warnings = g_ptr_array_new_with_free_func (g_free);
  job->exported = sb_image_save_png (job->image, job->file, &job->options, tell_progress, job,
                                     job->cancellable, &job->error);
  if (job->exported && job->opened != NULL && is_same_file (job->file, job->opened))
    job->etag = query_etag (job->opened, NULL);
  sb_work_post (job->work, export_finished, job);
  return NULL;
}

void
sb_read_job_done (SbWork *work, gpointer data, SbImage *image, GError *error)
{
  Job *job = data;

  job->image = image;
  job->error = error;
  if (image != NULL)
    sb_work_thread (work, "softbox-save", export_thread, job);
  else
    sb_work_post (work, export_finished, job);
}

void
sb_document_export_async (SbDocument *self, GFile *file, const SbSaveOptions *options,
                          GCancellable *cancellable, GAsyncReadyCallback callback,
                          gpointer user_data)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));
  g_return_if_fail (G_IS_FILE (file));
  g_return_if_fail (options != NULL);

  SbJobs *jobs = sb_document_get_jobs (self);
  SbImage *image = sb_document_get_image (self);
  Job *job = job_new (self, file, cancellable, callback, user_data, sb_document_export_async);
  if (image == NULL || jobs->export != NULL)
    {
      g_autoptr (GError) error
          = image == NULL
                ? g_error_new_literal (G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                                       _ ("There is no picture to export. Open one first"))
                : g_error_new_literal (
                    G_IO_ERROR, G_IO_ERROR_PENDING,
                    _ ("An export is under way. Wait for it or cancel it first"));
      sb_document_failed (self, error);
      job_return (job, g_steal_pointer (&error));
      job_free (job);
      return;
    }

  guint n_applied;
  sb_document_report (self, NULL);
  jobs->export = job;
  job->options = *options;
  job->generation = sb_document_get_generation (self);
  job->edits = sb_edit_list_ref (sb_document_get_state (self, &n_applied));
  if (job->options.depth == 0)
    job->options.depth = sb_image_get_depth (image);
  job->original = sb_image_ref (image);
  g_set_object (&job->opened, sb_document_get_file (self));
  /* Dithering needs what 8 bits cannot hold. */
  const guint depth = job->options.dither ? 16 : job->options.depth;
  const SbReadRequest request
      = { job->generation, job->edits, n_applied, depth, job->cancellable, job };
  show_jobs (self);
  sb_work_read (job->work, &request);
}

gboolean
sb_document_export_finish (SbDocument *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  return g_task_propagate_boolean (G_TASK (result), error);
}

void
sb_document_cancel_export (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  Job *job = sb_document_get_jobs (self)->export;
  if (job != NULL)
    g_cancellable_cancel (job->cancellable);
}

void
sb_document_cancel_jobs (SbDocument *self)
{
  cancel_load (self);
  sb_document_cancel_export (self);
}
