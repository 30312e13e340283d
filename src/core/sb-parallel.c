/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-parallel.h"

#define MAX_THREADS 512

typedef struct
{
  SbParallel *parallel;
  guint index;
  GThread *thread;
} Worker;

struct _SbParallel
{
  guint n_threads; /* with the caller */
  Worker *workers; /* n_threads - 1 */

  GMutex loop_lock; /* held by the caller of the loop that runs */

  GMutex lock; /* guards what follows */
  GCond begin, end;
  guint64 loop;    /* grows with every loop; a worker that sees a new number joins it */
  guint n_working; /* workers that have not left the present loop yet */
  gboolean quit;

  /* The present loop; written before `loop` grows, read by its threads only. */
  SbParallelFunc func;
  gpointer user_data;
  gsize n_items;
  GCancellable *cancellable;
  gsize next; /* atomic */
};

static void
work (SbParallel *parallel, guint thread)
{
  while (!g_cancellable_is_cancelled (parallel->cancellable))
    {
      const gsize item = __atomic_fetch_add (&parallel->next, 1, __ATOMIC_RELAXED);
      if (item >= parallel->n_items)
        break;
      parallel->func (item, thread, parallel->user_data);
    }
}

static gpointer
worker_main (gpointer data)
{
  Worker *worker = data;
  SbParallel *parallel = worker->parallel;
  guint64 seen = 0;

  g_mutex_lock (&parallel->lock);
  for (;;)
    {
      while (parallel->loop == seen && !parallel->quit)
        g_cond_wait (&parallel->begin, &parallel->lock);
      if (parallel->quit)
        break;
      seen = parallel->loop;
      g_mutex_unlock (&parallel->lock);
      work (parallel, worker->index);
      g_mutex_lock (&parallel->lock);
      if (--parallel->n_working == 0)
        g_cond_signal (&parallel->end);
    }
  g_mutex_unlock (&parallel->lock);
  return NULL;
}

SbParallel *
sb_parallel_new (guint n_threads)
{
  SbParallel *parallel = g_new0 (SbParallel, 1);

  if (n_threads == 0)
    n_threads = g_get_num_processors (); /* honours the process's affinity */
  n_threads = CLAMP (n_threads, 1, MAX_THREADS);
  g_mutex_init (&parallel->loop_lock);
  g_mutex_init (&parallel->lock);
  g_cond_init (&parallel->begin);
  g_cond_init (&parallel->end);
  parallel->workers = g_new0 (Worker, n_threads);
  parallel->n_threads = 1;
  while (parallel->n_threads < n_threads)
    {
      Worker *worker = &parallel->workers[parallel->n_threads - 1];
      g_autoptr (GError) error = NULL;
      worker->parallel = parallel;
      worker->index = parallel->n_threads;
      worker->thread = g_thread_try_new ("sb-band", worker_main, worker, &error);
      if (worker->thread == NULL)
        {
          /* A limit on processes must not end the program: fewer threads give the same pixels. */
          g_info ("Running with %u threads: %s", parallel->n_threads, error->message);
          break;
        }
      parallel->n_threads++;
    }
  return parallel;
}

void
sb_parallel_free (SbParallel *parallel)
{
  if (parallel == NULL)
    return;
  g_mutex_lock (&parallel->lock);
  parallel->quit = TRUE;
  g_cond_broadcast (&parallel->begin);
  g_mutex_unlock (&parallel->lock);
  for (guint i = 0; i + 1 < parallel->n_threads; i++)
    g_thread_join (parallel->workers[i].thread);
  g_free (parallel->workers);
  g_cond_clear (&parallel->begin);
  g_cond_clear (&parallel->end);
  g_mutex_clear (&parallel->lock);
  g_mutex_clear (&parallel->loop_lock);
  g_free (parallel);
}

guint
sb_parallel_get_n_threads (const SbParallel *parallel)
{
  g_return_val_if_fail (parallel != NULL, 1);
  return parallel->n_threads;
}

gboolean
sb_parallel_run (SbParallel *parallel, gsize n_items, SbParallelFunc func, gpointer user_data,
                 GCancellable *cancellable)
{
  g_return_val_if_fail (parallel != NULL, FALSE);
  g_return_val_if_fail (func != NULL, FALSE);

  g_mutex_lock (&parallel->loop_lock);
  /* Waking the others for one item would cost more than it gives. */
  const gboolean alone = parallel->n_threads == 1 || n_items <= 1;

  g_mutex_lock (&parallel->lock);
  parallel->func = func;
  parallel->user_data = user_data;
  parallel->n_items = n_items;
  parallel->cancellable = cancellable;
  parallel->next = 0;
  if (!alone)
    {
      parallel->loop++;
      parallel->n_working = parallel->n_threads - 1;
      g_cond_broadcast (&parallel->begin);
    }
  g_mutex_unlock (&parallel->lock);

  work (parallel, 0);

  g_mutex_lock (&parallel->lock);
  while (!alone && parallel->n_working > 0)
    g_cond_wait (&parallel->end, &parallel->lock);
  /* Items are begun in order: what was not begun lies behind `next`. */
  const gboolean complete = parallel->next >= n_items;
  g_mutex_unlock (&parallel->lock);
  g_mutex_unlock (&parallel->loop_lock);
  return complete;
}
