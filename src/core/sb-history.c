/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-history.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "sb-memory.h"

/* Changes of one control this close together are one step. */
#define MERGE_TIME G_USEC_PER_SEC

/* Pictures wait for their compression uncompressed: one, however large; more only while all
 * together are no larger than this, so that a burst of steps cannot fill the memory. */
#define BACKLOG_BYTES (64u << 20)
/* No photo is packed smaller than that. */
#define MAX_PACKING 64

/* What the history shares with the compressing thread, and what outlives it there. */
typedef struct
{
  gatomicrefcount references;
  SbHistory *history; /* main thread only; NULL once freed */
  GMutex mutex;
  GCond rested;
  guint n_running; /* under mutex */
  GQueue done;     /* of Job, under mutex */
  gboolean woken;  /* under mutex: an idle source is on its way */
} Shared;

/* One compression. Belongs to the thread, then to the queue of those done; the state that waits for
 * it points here until the main thread takes it from the queue or drops the state. */
typedef struct
{
  Shared *shared;
  SbImage *image; /* does not change while a state points here */
  GCancellable *cancellable;
  SbSnapshot *result;
} Job;

typedef struct
{
  SbEditList *edits;
  guint n_applied;
  char *label;
  SbSnapshot *snapshot;
  Job *pending;     /* where there is no snapshot yet */
  gboolean evicted; /* there was a snapshot, or a job, and others needed its room */
} State;

struct _SbHistory
{
  GPtrArray *states; /* of State */
  guint cursor;
  SbEditList *saved;
  guint64 budget;
  guint64 bytes;
  Shared *shared;

  /* The change that the state at the cursor was made by, as long as more of it may come. */
  char *control; /* NULL: nothing merges */
  gint64 changed;
  gboolean in_drag; /* made by the drag that is on */
  char *drag;       /* the control of the drag that is on, or NULL */
};

/* --- Compression ----------------------------------------------------------------------------- */

static void drain (Shared *shared);

static Shared *
shared_ref (Shared *shared)
{
  g_atomic_ref_count_inc (&shared->references);
  return shared;
}

static void
job_free (Job *job)
{
  g_clear_pointer (&job->image, sb_image_unref);
  g_clear_pointer (&job->result, sb_snapshot_unref);
  g_object_unref (job->cancellable);
  g_free (job);
}

static void
shared_unref (Shared *shared)
{
  if (!g_atomic_ref_count_dec (&shared->references))
    return;

  g_queue_clear_full (&shared->done, (GDestroyNotify)job_free);
  g_mutex_clear (&shared->mutex);
  g_cond_clear (&shared->rested);
  g_free (shared);
}

static gboolean
on_idle (gpointer user_data)
{
  drain (user_data);
  return G_SOURCE_REMOVE;
}

static void
compress (gpointer data, gpointer user_data)
{
  static gsize humble;
  Job *job = data;
  Shared *shared = job->shared; /* with the job's own reference */
  g_autoptr (GError) error = NULL;

#ifdef __linux__
  /* The pool has one thread for good: let it step back behind the renderer. */
  if (g_once_init_enter (&humble))
    {
      setpriority (PRIO_PROCESS, (id_t)gettid (), 10);
      g_once_init_leave (&humble, 1);
    }
#else
  (void)humble;
#endif

  job->result = sb_snapshot_new (job->image, job->cancellable, &error);
  if (error != NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_debug ("a picture of the history is not kept: %s", error->message);

  g_mutex_lock (&shared->mutex);
  g_queue_push_tail (&shared->done, job);
  shared->n_running--;
  if (!shared->woken)
    {
      shared->woken = TRUE;
      g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, on_idle, shared_ref (shared),
                       (GDestroyNotify)shared_unref);
    }
  g_cond_broadcast (&shared->rested);
  g_mutex_unlock (&shared->mutex);
  shared_unref (shared);
}

/* One thread for all histories: packing is quicker than hands, and the other cores are the
 * renderer's. */
static GThreadPool *
compression_pool (void)
{
  static gsize pool;

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, (gsize)g_thread_pool_new (compress, NULL, 1, TRUE, NULL));
  return (GThreadPool *)pool;
}

static Job *
job_start (Shared *shared, SbImage *image)
{
  Job *job = g_new0 (Job, 1);

  job->shared = shared_ref (shared);
  job->image = sb_image_ref (image);
  job->cancellable = g_cancellable_new ();

  g_mutex_lock (&shared->mutex);
  shared->n_running++;
  g_mutex_unlock (&shared->mutex);
  g_thread_pool_push (compression_pool (), job, NULL);
  return job;
}

/* --- States ---------------------------------------------------------------------------------- */

static State *
state_at (const SbHistory *self, guint position)
{
  return g_ptr_array_index (self->states, position);
}

static State *
state_new (SbEditList *edits, guint n_applied, const char *label)
{
  State *state = g_new0 (State, 1);

  state->edits = sb_edit_list_ref (edits);
  state->n_applied = n_applied;
  state->label = g_strdup (label);
  return state;
}

/* Forgets the pixels. */
static void
state_drop (SbHistory *self, State *state)
{
  if (state->pending != NULL)
    {
      g_cancellable_cancel (state->pending->cancellable);
      state->pending = NULL;
    }
  if (state->snapshot != NULL)
    {
      self->bytes -= sb_snapshot_get_bytes (state->snapshot);
      g_clear_pointer (&state->snapshot, sb_snapshot_unref);
    }
}

static void
state_free (SbHistory *self, State *state)
{
  state_drop (self, state);
  sb_edit_list_unref (state->edits);
  g_free (state->label);
  g_free (state);
}

static void
truncate_states (SbHistory *self, guint n)
{
  while (self->states->len > n)
    state_free (self, g_ptr_array_steal_index (self->states, self->states->len - 1));
}

static gboolean
state_is (const State *state, const SbEditList *edits, guint n_applied)
{
  return state->n_applied == n_applied && sb_edit_list_equal (state->edits, edits);
}

static gboolean
has_pixels (const State *state)
{
  return state->snapshot != NULL || state->pending != NULL;
}

/* The state whose pixels are those of the state at `position`: itself, or one with the same edits
 * (applying edits makes a state that looks like the one before). */
static State *
find_pixels (const SbHistory *self, guint position)
{
  State *own = state_at (self, position);

  if (has_pixels (own))
    return own;
  for (guint i = 0; i < self->states->len; i++)
    {
      State *state = state_at (self, i);

      if (has_pixels (state) && sb_edit_list_equal (state->edits, own->edits))
        return state;
    }
  return NULL;
}

static SbSnapshot *
take_pixels (const State *state)
{
  return state->snapshot != NULL ? sb_snapshot_ref (state->snapshot)
                                 : sb_snapshot_wrap (state->pending->image);
}

/* The state with a snapshot, or with a job that waits, farthest from the cursor; of two as far the
 * one to be reached by redo. NULL where there is none. */
static State *
find_farthest (const SbHistory *self, gboolean pending)
{
  State *farthest = NULL;
  guint distance = 0;

  for (guint i = 0; i < self->states->len; i++)
    {
      State *state = state_at (self, i);
      guint d = i < self->cursor ? self->cursor - i : i - self->cursor;

      if ((pending ? state->pending != NULL : state->snapshot != NULL)
          && (farthest == NULL || d >= distance))
        {
          farthest = state;
          distance = d;
        }
    }
  return farthest;
}

static void
evict (SbHistory *self, gboolean pending)
{
  State *state = find_farthest (self, pending);

  state_drop (self, state);
  state->evicted = TRUE;
}

static void
hold_budget (SbHistory *self)
{
  while (self->bytes > self->budget)
    evict (self, FALSE);
}

/* Makes room in the backlog for a picture of so many bytes. */
static void
hold_backlog (SbHistory *self, gsize bytes)
{
  for (;;)
    {
      guint n = 1;
      guint64 total = bytes;

      for (guint i = 0; i < self->states->len; i++)
        {
          const State *state = state_at (self, i);

          if (state->pending != NULL)
            {
              n++;
              total += sb_image_get_bytes (state->pending->image);
            }
        }
      if (n == 1 || total <= BACKLOG_BYTES)
        return;
      evict (self, TRUE);
    }
}

/* Main thread: takes over what the compressing thread has done. */
static void
drain (Shared *shared)
{
  SbHistory *self = shared->history;
  GQueue done;
  Job *job;

  g_mutex_lock (&shared->mutex);
  done = shared->done;
  g_queue_init (&shared->done);
  shared->woken = FALSE;
  g_mutex_unlock (&shared->mutex);

  while ((job = g_queue_pop_head (&done)) != NULL)
    {
      for (guint i = 0; self != NULL && i < self->states->len; i++)
        {
          State *state = state_at (self, i);

          if (state->pending != job)
            continue;
          state->pending = NULL;
          if (job->result != NULL && sb_snapshot_get_bytes (job->result) <= self->budget)
            {
              state->snapshot = g_steal_pointer (&job->result);
              self->bytes += sb_snapshot_get_bytes (state->snapshot);
              hold_budget (self);
            }
          break;
        }
      job_free (job);
    }
}

/* --- The history ----------------------------------------------------------------------------- */

guint64
sb_history_default_budget (guint64 physical)
{
  return MIN (physical / 4, G_GUINT64_CONSTANT (4) << 30);
}

static guint64
actual_budget (guint64 budget)
{
  return budget != 0 ? budget : sb_history_default_budget (sb_memory_physical ());
}

guint64
sb_history_get_budget (const SbHistory *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->budget;
}

SbHistory *
sb_history_new (guint64 budget)
{
  SbHistory *self = g_new0 (SbHistory, 1);
  g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);

  self->states = g_ptr_array_new ();
  g_ptr_array_add (self->states, state_new (none, 0, _ ("Original")));
  self->saved = sb_edit_list_ref (none);
  self->budget = actual_budget (budget);
  self->shared = g_new0 (Shared, 1);
  g_atomic_ref_count_init (&self->shared->references);
  g_mutex_init (&self->shared->mutex);
  g_cond_init (&self->shared->rested);
  self->shared->history = self;
  return self;
}

void
sb_history_free (SbHistory *self)
{
  if (self == NULL)
    return;

  truncate_states (self, 0);
  g_ptr_array_unref (self->states);
  sb_edit_list_unref (self->saved);
  self->shared->history = NULL;
  shared_unref (self->shared);
  g_free (self->control);
  g_free (self->drag);
  g_free (self);
}

void
sb_history_set_budget (SbHistory *self, guint64 budget)
{
  g_return_if_fail (self != NULL);

  self->budget = actual_budget (budget);
  hold_budget (self);
}

guint64
sb_history_get_bytes (const SbHistory *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->bytes;
}

/* Whether a change of `control` belongs to the one that made the state at the cursor. */
static gboolean
merges (const SbHistory *self, const char *control, gint64 now)
{
  if (control == NULL || self->cursor == 0 || g_strcmp0 (control, self->control) != 0)
    return FALSE;
  if (sb_edit_list_equal (state_at (self, self->cursor)->edits, self->saved))
    return FALSE;
  return now - self->changed <= MERGE_TIME
         || (self->in_drag && g_strcmp0 (control, self->drag) == 0);
}

void
sb_history_push (SbHistory *self, SbEditList *edits, guint n_applied, const char *label,
                 const char *control, gint64 now)
{
  g_return_if_fail (self != NULL && edits != NULL && label != NULL);
  g_return_if_fail (n_applied <= edits->n_edits);

  gboolean merge = merges (self, control, now);

  if (state_is (state_at (self, self->cursor), edits, n_applied))
    {
      if (merge)
        self->changed = now;
      return;
    }

  truncate_states (self, self->cursor + 1);
  if (merge)
    {
      truncate_states (self, self->cursor);
      self->cursor--;
    }
  if (merge && state_is (state_at (self, self->cursor), edits, n_applied))
    {
      /* Back where it began; the state there was made by something else. */
      sb_history_close (self);
      return;
    }
  g_ptr_array_add (self->states, state_new (edits, n_applied, label));
  self->cursor++;

  if (g_strcmp0 (control, self->control) != 0)
    {
      g_free (self->control);
      self->control = g_strdup (control);
    }
  self->changed = now;
  self->in_drag = self->drag != NULL && g_strcmp0 (control, self->drag) == 0;
}

void
sb_history_begin_drag (SbHistory *self, const char *control)
{
  g_return_if_fail (self != NULL && control != NULL);

  g_free (self->drag);
  self->drag = g_strdup (control);
  self->in_drag = FALSE;
}

void
sb_history_end_drag (SbHistory *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->drag, g_free);
  self->in_drag = FALSE;
}

void
sb_history_apply (SbHistory *self)
{
  g_return_if_fail (self != NULL);

  State *state = state_at (self, self->cursor);
  state->n_applied = state->edits->n_edits;
  sb_history_close (self);
}

void
sb_history_close (SbHistory *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->control, g_free);
  self->in_drag = FALSE;
}

guint
sb_history_get_n_states (const SbHistory *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->states->len;
}

guint
sb_history_get_cursor (const SbHistory *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->cursor;
}

SbHistoryState
sb_history_get_state (const SbHistory *self, guint position)
{
  g_return_val_if_fail (self != NULL && position < self->states->len, (SbHistoryState){ NULL });

  const State *state = state_at (self, position);

  const gboolean kept = find_pixels (self, position) != NULL;

  return (SbHistoryState){ state->edits, state->n_applied, state->label, kept,
                           !kept && state->evicted };
}

gboolean
sb_history_undo (SbHistory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->cursor == 0)
    return FALSE;
  self->cursor--;
  sb_history_close (self);
  return TRUE;
}

gboolean
sb_history_redo (SbHistory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->cursor + 1 == self->states->len)
    return FALSE;
  self->cursor++;
  sb_history_close (self);
  return TRUE;
}

void
sb_history_mark_saved_edits (SbHistory *self, SbEditList *edits)
{
  g_return_if_fail (self != NULL && edits != NULL);

  SbEditList *saved = sb_edit_list_ref (edits);

  sb_edit_list_unref (self->saved);
  self->saved = saved;
}

void
sb_history_mark_saved (SbHistory *self)
{
  g_return_if_fail (self != NULL);

  sb_history_mark_saved_edits (self, state_at (self, self->cursor)->edits);
}

gboolean
sb_history_is_modified (const SbHistory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return !sb_edit_list_equal (state_at (self, self->cursor)->edits, self->saved);
}

/* --- Pixels ---------------------------------------------------------------------------------- */

void
sb_history_keep (SbHistory *self, guint position, SbImage *pixels)
{
  g_return_if_fail (self != NULL && pixels != NULL);
  g_return_if_fail (position < self->states->len);

  /* The same edits give the same pixels. */
  if (find_pixels (self, position) != NULL)
    return;
  if (self->budget < sb_image_get_bytes (pixels) / MAX_PACKING)
    return;

  hold_backlog (self, sb_image_get_bytes (pixels));
  state_at (self, position)->pending = job_start (self->shared, pixels);
  state_at (self, position)->evicted = FALSE;
}

SbSnapshot *
sb_history_take (SbHistory *self, guint position)
{
  g_return_val_if_fail (self != NULL && position < self->states->len, NULL);

  const State *state = find_pixels (self, position);

  return state == NULL ? NULL : take_pixels (state);
}

SbSnapshot *
sb_history_take_nearest (SbHistory *self, guint position, guint *n_edits)
{
  g_return_val_if_fail (self != NULL && position < self->states->len, NULL);
  g_return_val_if_fail (n_edits != NULL, NULL);

  const SbEditList *edits = state_at (self, position)->edits;
  const State *nearest = NULL;

  *n_edits = 0;
  for (guint i = 0; i <= position; i++)
    {
      const State *state = state_at (self, i);

      if (has_pixels (state) && state->edits->n_edits > *n_edits
          && sb_edit_list_common (state->edits, edits) == state->edits->n_edits)
        {
          nearest = state;
          *n_edits = state->edits->n_edits;
        }
    }
  return nearest == NULL ? NULL : take_pixels (nearest);
}

void
sb_history_settle (SbHistory *self)
{
  g_return_if_fail (self != NULL);

  Shared *shared = self->shared;

  g_mutex_lock (&shared->mutex);
  while (shared->n_running > 0)
    g_cond_wait (&shared->rested, &shared->mutex);
  g_mutex_unlock (&shared->mutex);
  drain (shared);
}
