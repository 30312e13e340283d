/* SPDX-License-Identifier: MIT */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A pool of threads for loops over bands of a picture. One loop runs at a time in a pool; the
 * caller works along as one of the threads. */
typedef struct _SbParallel SbParallel;

/* One piece of work. item: 0 .. n_items - 1; thread: 0 .. n_threads - 1, so that each can have its
 * own scratch memory. */
typedef void (*SbParallelFunc) (gsize item, guint thread, gpointer user_data);

/* n_threads: 0 means one for each core that this process may run on. */
SbParallel *sb_parallel_new (guint n_threads) G_GNUC_WARN_UNUSED_RESULT;
void sb_parallel_free (SbParallel *parallel);
guint sb_parallel_get_n_threads (const SbParallel *parallel);
/* Calls func once for each item, items taken in rising order by whichever thread is free, and
 * returns when all are done. Cancelled: no further item is begun and FALSE is returned. */
gboolean sb_parallel_run (SbParallel *parallel, gsize n_items, SbParallelFunc func,
                          gpointer user_data, GCancellable *cancellable);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbParallel, sb_parallel_free)

G_END_DECLS
