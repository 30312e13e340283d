/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <glib/gi18n-lib.h>

static int n_threads;

SbEngineBox *
sb_engine_box_ref (SbEngineBox *box)
{
  return g_atomic_rc_box_acquire (box);
}

static void
engine_box_clear (gpointer data)
{
  SbEngineBox *box = data;
  sb_engine_free (box->engine);
}

void
sb_engine_box_unref (SbEngineBox *box)
{
  g_atomic_rc_box_release_full (box, engine_box_clear);
}

void
sb_wanted_clear (SbWanted *wanted)
{
  g_clear_pointer (&wanted->edits, sb_edit_list_unref);
  g_clear_pointer (&wanted->snapshot, sb_snapshot_unref);
  wanted->id = 0;
}

/* --- Threads and messages -------------------------------------------------------------------- */

typedef struct
{
  SbWork *work;
  GThreadFunc func;
  gpointer data;
} ThreadStart;

int
sb_work_n_threads (void)
{
  return g_atomic_int_get (&n_threads);
}

static gpointer
thread_main (gpointer data)
{
  ThreadStart start = *(ThreadStart *)data;
  g_free (data);
  start.func (start.data);
  sb_work_unref (start.work);
  g_atomic_int_dec_and_test (&n_threads);
  return NULL;
}

/* Runs func (data) in a thread of its own that nobody waits for. */
void
sb_work_thread (SbWork *work, const char *name, GThreadFunc func, gpointer data)
{
  ThreadStart *start = g_new (ThreadStart, 1);

  *start = (ThreadStart){ sb_work_ref (work), func, data };
  g_atomic_int_inc (&n_threads);
  g_thread_unref (g_thread_new (name, thread_main, start));
}

typedef struct
{
  SbWork *work;
  SbWorkFunc func;
  gpointer data;
} Message;

static gboolean
deliver_message (gpointer data)
{
  Message *message = data;
  SbDocument *document = message->work->document;

  /* What is called may drop the last reference. */
  if (document != NULL)
    g_object_ref (document);
  message->func (document, message->data);
  if (document != NULL)
    g_object_unref (document);
  return G_SOURCE_REMOVE;
}

static void
free_message (gpointer data)
{
  Message *message = data;
  sb_work_unref (message->work);
  g_free (message);
}

void
sb_work_post (SbWork *work, SbWorkFunc func, gpointer data)
{
  Message *message = g_new (Message, 1);

  *message = (Message){ sb_work_ref (work), func, data };
  /* Before the redraw that it may lead to. */
  g_idle_add_full (G_PRIORITY_DEFAULT, deliver_message, message, free_message);
}

static void
deliver_update (SbDocument *document, gpointer data)
{
  SbWork *work = data;

  g_mutex_lock (&work->mutex);
  work->update_pending = FALSE;
  g_mutex_unlock (&work->mutex);
  if (document != NULL)
    sb_document_updated (document);
}

void
sb_work_update (SbWork *work)
{
  if (work->update_pending)
    return;
  work->update_pending = TRUE;
  sb_work_post (work, deliver_update, work);
}

/* --- Called on the main thread --------------------------------------------------------------- */

SbWork *
sb_work_new (SbDocument *document, SbDevice device)
{
  SbWork *work = g_new0 (SbWork, 1);

  g_atomic_ref_count_init (&work->references);
  g_mutex_init (&work->mutex);
  g_cond_init (&work->wake);
  g_cond_init (&work->show);
  g_cond_init (&work->settled);
  work->document = document;
  work->device = device;
  work->restore_ns_per_pixel = 8; /* until one is measured */
  work->views = g_ptr_array_new ();
  sb_work_thread (work, "softbox-work", sb_work_render_thread, work);
  sb_work_thread (work, "softbox-show", sb_work_show_thread, work);
  return work;
}

SbWork *
sb_work_ref (SbWork *work)
{
  g_atomic_ref_count_inc (&work->references);
  return work;
}

void
sb_work_unref (SbWork *work)
{
  if (!g_atomic_ref_count_dec (&work->references))
    return;
  g_clear_pointer (&work->box, sb_engine_box_unref);
  g_clear_pointer (&work->original, sb_image_unref);
  g_clear_pointer (&work->fixed, sb_edit_list_unref);
  g_clear_pointer (&work->exact_edits, sb_edit_list_unref);
  sb_wanted_clear (&work->wanted);
  sb_work_bands_clear (work);
  g_clear_error (&work->open_error);
  g_clear_error (&work->lost);
  g_free (work->left);
  g_ptr_array_unref (work->views);
  g_mutex_clear (&work->mutex);
  g_cond_clear (&work->wake);
  g_cond_clear (&work->show);
  g_cond_clear (&work->settled);
  g_free (work);
}

void
sb_work_close (SbWork *work)
{
  g_mutex_lock (&work->mutex);
  work->quit = TRUE;
  if (work->cancellable != NULL)
    g_cancellable_cancel (work->cancellable);
  g_cond_signal (&work->wake);
  g_cond_signal (&work->show);
  g_mutex_unlock (&work->mutex);
}

guint64
sb_work_want (SbWork *work, SbWanted *wanted)
{
  g_mutex_lock (&work->mutex);
  const guint64 id = wanted->id = ++work->next_id;
  sb_wanted_clear (&work->wanted);
  work->wanted = *wanted;
  *wanted = (SbWanted){ 0 };
  if (work->cancellable != NULL)
    g_cancellable_cancel (work->cancellable);
  g_cond_signal (&work->wake);
  g_mutex_unlock (&work->mutex);
  return id;
}

GError *
sb_work_cancelled (void)
{
  return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, _ ("Cancelled"));
}

void
sb_work_load (SbWork *work, SbImage *image, gpointer job)
{
  SbLoadRequest passed = { image, job };

  g_mutex_lock (&work->mutex);
  if (!work->quit)
    {
      passed = work->load; /* one that the worker has not come to */
      work->load = (SbLoadRequest){ image, job };
      g_cond_signal (&work->wake);
    }
  g_mutex_unlock (&work->mutex);
  if (passed.job != NULL)
    {
      sb_load_job_done (work, passed.job, 0, sb_work_cancelled ());
      sb_image_unref (passed.image);
    }
}

gboolean
sb_work_unload (SbWork *work, gpointer job)
{
  SbImage *image = NULL;

  g_mutex_lock (&work->mutex);
  if (work->load.job == job)
    {
      image = work->load.image;
      work->load = (SbLoadRequest){ NULL, NULL };
    }
  g_mutex_unlock (&work->mutex);
  if (image == NULL)
    return FALSE;
  sb_image_unref (image);
  return TRUE;
}

void
sb_work_read (SbWork *work, const SbReadRequest *request)
{
  g_mutex_lock (&work->mutex);
  const gboolean quit = work->quit;
  if (!quit)
    {
      work->read = *request;
      work->read.edits = sb_edit_list_ref (request->edits);
      if (work->keeping)
        g_cancellable_cancel (work->cancellable);
      g_cond_signal (&work->wake);
    }
  g_mutex_unlock (&work->mutex);
  if (quit)
    sb_read_job_done (work, request->job, NULL, sb_work_cancelled ());
}

void
sb_work_rest (SbWork *work)
{
  g_mutex_lock (&work->mutex);
  work->wanted.exact_at = MIN (work->wanted.exact_at, g_get_monotonic_time ());
  g_cond_signal (&work->wake);
  g_mutex_unlock (&work->mutex);
}

gboolean
sb_work_is_pending (SbWork *work)
{
  if (work->quit)
    return FALSE;
  if (work->leaving || work->lost != NULL)
    return TRUE;
  if (work->box == NULL && !work->open)
    return FALSE; /* there is no engine, and the error was told */
  return (work->wanted.id != 0 && work->exact_id != work->wanted.id) || sb_work_owes_show (work)
         || sb_work_bands_pending (work);
}
