/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-parallel.h"

#define ITEMS 5000

typedef struct
{
  int calls[ITEMS];
  int inside; /* calls that run now */
  int n_threads;
  int begun; /* items, in the order in which they were taken */
  GCancellable *cancellable;
  gsize cancel_at;
} Loop;

static void
count (gsize item, guint thread, gpointer data)
{
  Loop *loop = data;

  g_assert_cmpuint (item, <, ITEMS);
  g_assert_cmpuint (thread, <, (guint)loop->n_threads);
  g_assert_cmpint (g_atomic_int_add (&loop->inside, 1), <, loop->n_threads);
  g_atomic_int_inc (&loop->calls[item]);
  g_atomic_int_inc (&loop->begun);
  if (loop->cancellable != NULL && item == loop->cancel_at)
    g_cancellable_cancel (loop->cancellable);
  g_atomic_int_add (&loop->inside, -1);
}

static void
test_once_each (void)
{
  for (guint n = 1; n <= 5; n++)
    {
      g_autoptr (SbParallel) parallel = sb_parallel_new (n);
      g_assert_cmpuint (sb_parallel_get_n_threads (parallel), ==, n);

      /* Many loops one after the other: a thread that comes late to one must not join the next. */
      static const gsize sizes[] = { 0, 1, 2, 3, 7, 100, ITEMS };
      for (guint turn = 0; turn < 70; turn++)
        {
          const gsize size = sizes[turn % G_N_ELEMENTS (sizes)];
          g_autofree Loop *loop = g_new0 (Loop, 1);
          loop->n_threads = (int)n;
          g_assert_true (sb_parallel_run (parallel, size, count, loop, NULL));
          for (gsize i = 0; i < ITEMS; i++)
            g_assert_cmpint (loop->calls[i], ==, i < size ? 1 : 0);
        }
    }
}

static void
test_default (void)
{
  g_autoptr (SbParallel) parallel = sb_parallel_new (0);

  g_assert_cmpuint (sb_parallel_get_n_threads (parallel), ==, g_get_num_processors ());
}

static void
test_cancel (void)
{
  for (guint n = 1; n <= 4; n++)
    {
      g_autoptr (SbParallel) parallel = sb_parallel_new (n);
      g_autofree Loop *loop = g_new0 (Loop, 1);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();

      loop->n_threads = (int)n;
      loop->cancellable = cancellable;
      loop->cancel_at = 100;
      g_assert_false (sb_parallel_run (parallel, ITEMS, count, loop, cancellable));
      /* What was begun is a run from the start, each item once. */
      for (gsize i = 0; i < ITEMS; i++)
        g_assert_cmpint (loop->calls[i], ==, (int)i < loop->begun ? 1 : 0);
      g_assert_cmpint (loop->begun, >, 100);

      /* The pool goes on. */
      g_autofree Loop *next = g_new0 (Loop, 1);
      next->n_threads = (int)n;
      g_assert_true (sb_parallel_run (parallel, ITEMS, count, next, NULL));
      g_assert_cmpint (next->begun, ==, ITEMS);

      /* Cancelled before it begins: nothing is. */
      g_autofree Loop *none = g_new0 (Loop, 1);
      none->n_threads = (int)n;
      g_assert_false (sb_parallel_run (parallel, 10, count, none, cancellable));
      g_assert_cmpint (none->begun, ==, 0);
    }
}

static gpointer
run_loops (gpointer data)
{
  SbParallel *parallel = data;

  for (guint turn = 0; turn < 50; turn++)
    {
      g_autofree Loop *loop = g_new0 (Loop, 1);
      loop->n_threads = (int)sb_parallel_get_n_threads (parallel);
      g_assert_true (sb_parallel_run (parallel, 500, count, loop, NULL));
      g_assert_cmpint (loop->begun, ==, 500);
    }
  return NULL;
}

static void
test_two_callers (void)
{
  g_autoptr (SbParallel) parallel = sb_parallel_new (3);
  GThread *other = g_thread_new ("other", run_loops, parallel);

  run_loops (parallel);
  g_thread_join (other);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/parallel/once-each", test_once_each);
  g_test_add_func ("/parallel/default", test_default);
  g_test_add_func ("/parallel/cancel", test_cancel);
  g_test_add_func ("/parallel/two-callers", test_two_callers);
  return g_test_run ();
}
