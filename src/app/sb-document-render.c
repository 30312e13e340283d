/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <glib/gi18n-lib.h>

#include "sb-stats.h"

/* After the last EXACT render, in microseconds: when its pixels are read for the history, and when
 * the engine gives memory back. */
#define KEEP_DELAY (300 * 1000)
#define TRIM_DELAY (30 * G_USEC_PER_SEC)
/* A step of a drag, render and show together, should fit in a frame of a screen of 60 Hz. */
#define STEP_MS 16.0
/* Of an EXACT render, a pixel, until one is measured. */
#define GUESS_MS 1e-5
/* As long as that takes, a render waits for the pixels before it to be filled in. */
#define SHOW_PATIENCE (100 * 1000)
#define MAX_COARSER   2

static void
deliver_error (SbDocument *document, gpointer data)
{
  g_autoptr (GError) error = data;
  if (document != NULL)
    sb_document_failed (document, error);
}

static void
deliver_warning (SbDocument *document, gpointer data)
{
  g_autofree char *sentence = data;
  if (document != NULL)
    sb_document_warn (document, sentence);
}

static void
deliver_message (SbDocument *document, gpointer data)
{
  g_autofree char *sentence = data;
  if (document != NULL)
    sb_document_message (document, sentence);
}

/* --- The engine ------------------------------------------------------------------------------ */

static SbEngineBox *
open_box (SbDevice device, GError **error)
{
  SbEngine *engine = sb_engine_new (device, error);
  if (engine == NULL)
    return NULL;
  SbEngineBox *box = g_atomic_rc_box_new0 (SbEngineBox);
  box->engine = engine;
  return box;
}

/* What the engine shows has changed. With the mutex. */
static void
stamp (SbWork *work, guint64 id, gint64 changed, gint64 rest, gboolean exact)
{
  work->stamp++;
  work->stamp_id = id;
  work->stamp_changed = changed;
  work->stamp_rest = rest;
  work->stamp_exact = exact;
  g_cond_signal (&work->show);
  sb_work_update (work);
}

/* Opens the engine that was asked for, and the CPU's where that cannot be had: a device that is
 * named and missing must not keep anyone from the picture. With the mutex. */
static void
open_engine (SbWork *work)
{
  const SbDevice device = work->device;
  GError *error = NULL;
  char *missing = NULL;

  g_mutex_unlock (&work->mutex);
  SbEngineBox *box = open_box (device, &error);
  if (box == NULL && device.kind != SB_DEVICE_CPU)
    {
      /* A toast: the banner is cleared by the picture that is being opened. */
      sb_work_post (work, deliver_message,
                    g_strdup_printf (_ ("%s. Continuing on the CPU."), error->message));
      missing = g_strdup (error->message);
      g_clear_error (&error);
      box = open_box ((SbDevice){ SB_DEVICE_CPU, 0, device.threads }, &error);
    }
  g_mutex_lock (&work->mutex);

  work->open = FALSE;
  work->box = box;
  if (missing != NULL)
    {
      g_free (work->left);
      work->left = missing;
    }
  g_clear_error (&work->open_error);
  work->open_error = error; /* for the load that comes */
  sb_work_update (work);
}

gboolean
sb_work_must_leave (const GError *error)
{
  return g_error_matches (error, SB_ERROR, SB_ERROR_DEVICE_LOST)
         || g_error_matches (error, SB_ERROR, SB_ERROR_DEVICE_FULL);
}

void
sb_work_show_failed (SbWork *work, const SbEngineBox *box, const GError *error)
{
  if (sb_work_must_leave (error) && work->box == box && work->lost == NULL)
    {
      work->lost = g_error_copy (error);
      g_cond_signal (&work->wake);
    }
  else
    g_debug ("nothing to show: %s", error->message); /* the render that comes tells the user */
}

/* The device has gone, or has too little memory: what it held is made again on the CPU from host
 * memory. `loading`: it was for a picture that is not open yet. With the mutex. */
static void
leave_device (SbWork *work, const GError *lost, gboolean loading)
{
  SbEngineBox *old = g_steal_pointer (&work->box);
  SbImage *original = work->original != NULL ? sb_image_ref (work->original) : NULL;
  GError *error = NULL;

  g_free (work->left);
  work->left = g_strdup (lost->message);
  work->full = g_error_matches (lost, SB_ERROR, SB_ERROR_DEVICE_FULL);
  work->wish = work->device;
  work->leaving = TRUE;
  g_mutex_unlock (&work->mutex);
  if (loading)
    sb_work_post (work, deliver_message,
                  g_strdup_printf (_ ("%s. This picture is edited on the CPU."), lost->message));
  else
    sb_work_post (
        work, deliver_warning,
        g_strdup_printf (_ ("%s. Continuing on the CPU; no work is lost."), lost->message));
  sb_engine_box_unref (old);
  SbEngineBox *box = open_box ((SbDevice){ SB_DEVICE_CPU, 0, work->device.threads }, &error);
  if (box != NULL && original != NULL && !sb_engine_load (box->engine, original, &error))
    g_clear_pointer (&box, sb_engine_box_unref);
  g_clear_pointer (&original, sb_image_unref);
  g_mutex_lock (&work->mutex);

  work->leaving = FALSE;
  work->device.kind = SB_DEVICE_CPU;
  work->box = box;
  g_clear_error (&work->lost);
  g_clear_pointer (&work->fixed, sb_edit_list_unref);
  g_clear_pointer (&work->exact_edits, sb_edit_list_unref);
  work->preview_id = work->exact_id = 0;
  work->coarser = 0;
  work->exact_ms_per_edit = 0;
  sb_work_bands_lost (work);
  if (box == NULL)
    {
      g_clear_error (&work->open_error);
      work->open_error = g_error_copy (error);
      sb_work_post (work, deliver_error, error);
    }
  stamp (work, 0, 0, 0, FALSE);
}

/* After a failed call: FALSE where the job is to be tried again, elsewhere. With the mutex. */
static gboolean
is_final (SbWork *work, const GError *error)
{
  if (!sb_work_must_leave (error) || work->box == NULL)
    return TRUE;
  leave_device (work, error, FALSE);
  return work->box == NULL;
}

/* --- The worker's jobs; each is entered and left with the mutex ------------------------------- */

/* A device that was too small for the picture before may do for this one. TRUE where it does. */
static gboolean
return_to_device (SbWork *work, SbImage *image)
{
  const SbDevice wish = work->wish;

  g_mutex_unlock (&work->mutex);
  SbEngineBox *box = open_box (wish, NULL);
  if (box != NULL && !sb_engine_load (box->engine, image, NULL))
    g_clear_pointer (&box, sb_engine_box_unref);
  g_mutex_lock (&work->mutex);
  if (box == NULL)
    return FALSE;

  SbEngineBox *old = work->box;
  work->box = box;
  work->device = wish;
  work->full = FALSE;
  g_clear_pointer (&work->left, g_free);
  g_mutex_unlock (&work->mutex);
  sb_engine_box_unref (old);
  g_mutex_lock (&work->mutex);
  return TRUE;
}

static void
run_load (SbWork *work)
{
  SbLoadRequest load = work->load;
  g_autoptr (GError) error = NULL;
  guint generation = 0;

  work->load = (SbLoadRequest){ NULL, NULL };
  gboolean loaded = FALSE;
  if (work->box == NULL)
    error = g_error_copy (work->open_error);
  else if (work->full && return_to_device (work, load.image))
    loaded = TRUE;
  else
    {
      g_mutex_unlock (&work->mutex);
      loaded = sb_engine_load (work->box->engine, load.image, &error);
      g_mutex_lock (&work->mutex);
    }

  if (!loaded && work->box != NULL && sb_work_must_leave (error))
    leave_device (work, error, TRUE);
  if (!loaded && work->box != NULL && sb_work_must_leave (error))
    {
      g_clear_error (&error);
      g_mutex_unlock (&work->mutex);
      loaded = sb_engine_load (work->box->engine, load.image, &error);
      g_mutex_lock (&work->mutex);
    }
  if (loaded)
    {
      g_clear_pointer (&work->original, sb_image_unref);
      work->original = sb_image_ref (load.image);
      generation = work->generation = ++work->next_generation;
      g_clear_pointer (&work->fixed, sb_edit_list_unref);
      g_clear_pointer (&work->exact_edits, sb_edit_list_unref);
      work->preview_id = work->exact_id = work->kept_id = 0;
      work->exact_ms_per_edit = 0;
      work->coarser = 0;
      work->trimmed = work->prepared = FALSE;
      sb_work_bands_lost (work);
      stamp (work, 0, 0, 0, TRUE);
    }

  g_mutex_unlock (&work->mutex);
  sb_load_job_done (work, load.job, generation, g_steal_pointer (&error));
  sb_image_unref (load.image);
  g_mutex_lock (&work->mutex);
}

static void
run_read (SbWork *work)
{
  SbReadRequest read = work->read;
  g_autoptr (GError) error = NULL;
  SbImage *image = NULL;

  work->read = (SbReadRequest){ 0 };
  if (read.generation != work->generation || work->box == NULL)
    g_set_error_literal (&error, G_IO_ERROR, G_IO_ERROR_BUSY,
                         _ ("Another picture is being opened; nothing was exported"));
  else
    do
      {
        g_clear_error (&error);
        g_mutex_unlock (&work->mutex);
        image = sb_engine_read (work->box->engine, read.edits, read.n_fixed, read.depth,
                                read.cancellable, &error);
        g_mutex_lock (&work->mutex);
      }
    while (image == NULL && !is_final (work, error));

  g_mutex_unlock (&work->mutex);
  sb_read_job_done (work, read.job, image, g_steal_pointer (&error));
  sb_edit_list_unref (read.edits);
  g_mutex_lock (&work->mutex);
}

typedef struct
{
  SbWork *work; /* kept alive by the message */
  guint64 id;
  SbImage *pixels;
} Kept;

static void
deliver_kept (SbDocument *document, gpointer data)
{
  Kept *kept = data;
  if (document != NULL)
    sb_document_kept (document, kept->id, kept->pixels);
  sb_image_unref (kept->pixels);
  g_free (kept);
}

/* Reads the pixels that the history keeps. Newer work ends it, and what fails here costs nothing
 * but time later, so that it is not reported. */
static void
run_keep (SbWork *work)
{
  g_autoptr (SbEditList) edits = sb_edit_list_ref (work->wanted.edits);
  const guint n_fixed = work->wanted.n_fixed;
  const guint64 id = work->wanted.id;
  g_autoptr (GCancellable) cancellable = work->cancellable = g_cancellable_new ();

  work->kept_id = id;
  work->keeping = TRUE;
  g_mutex_unlock (&work->mutex);
  g_autoptr (GError) error = NULL;
  SbImage *pixels = sb_engine_read (work->box->engine, edits, n_fixed, 16, cancellable, &error);
  g_mutex_lock (&work->mutex);
  work->cancellable = NULL;
  work->keeping = FALSE;
  if (g_cancellable_is_cancelled (cancellable))
    work->kept_id = 0;
  if (pixels == NULL && sb_work_must_leave (error))
    leave_device (work, error, FALSE);
  if (pixels != NULL)
    {
      Kept *kept = g_new (Kept, 1);
      *kept = (Kept){ work, id, pixels };
      sb_work_post (work, deliver_kept, kept);
    }
}

/* How many of the edits the engine holds the result of. */
static guint
count_done (SbWork *work, const SbWanted *wanted)
{
  const guint n = work->fixed == NULL ? 0 : work->fixed->n_edits;
  return n > 0 && sb_edit_list_common (work->fixed, wanted->edits) == n ? n : 0;
}

/* Puts the kept pixels into the engine where that is quicker than rendering the edits that it does
 * not have. Without the mutex, on a copy of the wanted state. */
static gboolean
restore_snapshot (SbWork *work, const SbWanted *wanted, guint n_done, guint64 n_pixels)
{
  if (wanted->snapshot == NULL || wanted->n_snapshot <= n_done
      || (wanted->n_snapshot - n_done) * work->exact_ms_per_edit * 1e6
             < work->restore_ns_per_pixel * n_pixels)
    return FALSE;

  const gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) stored = sb_snapshot_restore (wanted->snapshot, &error);
  g_autoptr (SbImage) pixels = stored != NULL ? sb_image_convert (stored, 16, &error) : NULL;
  if (pixels == NULL
      || !sb_engine_set_base (work->box->engine, pixels, wanted->edits, wanted->n_snapshot, &error))
    {
      /* Without memory for it the edits are rendered: the same bytes, later. */
      g_debug ("a kept state was not put back: %s", error->message);
      return FALSE;
    }
  work->restore_ns_per_pixel = (g_get_monotonic_time () - start) * 1e3 / n_pixels;
  return TRUE;
}

static void
copy_wanted (SbWork *work, SbWanted *copy)
{
  *copy = work->wanted;
  copy->edits = sb_edit_list_ref (copy->edits);
  if (copy->snapshot != NULL)
    copy->snapshot = sb_snapshot_ref (copy->snapshot);
}

/* FALSE: the state was given up; the error has been passed on. With the mutex. */
static gboolean
check_render (SbWork *work, guint64 id, gboolean rendered, GError *error)
{
  if (rendered)
    return TRUE;
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && is_final (work, error))
    {
      /* What is on screen stays; the next change tries anew. */
      work->preview_id = work->exact_id = work->kept_id = id;
      sb_work_post (work, deliver_error, g_steal_pointer (&error));
      sb_work_update (work);
    }
  g_clear_error (&error);
  return FALSE;
}

/* The engine holds the result of the edits before the one that moves, unless a kept state that went
 * further took its place. */
static void
set_fixed (SbWork *work, const SbWanted *wanted, gboolean restored)
{
  g_clear_pointer (&work->fixed, sb_edit_list_unref);
  if (wanted->n_fixed > 0 && !(restored && wanted->n_snapshot > wanted->n_fixed))
    work->fixed = sb_edit_list_new (wanted->edits->edits, wanted->n_fixed);
}

/* Lets what was just rendered reach the canvases before the next render takes the processors. With
 * the mutex. */
static void
wait_for_show (SbWork *work)
{
  const gint64 until = g_get_monotonic_time () + SHOW_PATIENCE;

  while (!work->quit && sb_work_owes_show (work))
    if (!g_cond_wait_until (&work->wake, &work->mutex, until))
      break;
}

/* Two steps that take too long make the next ones coarser, by `most` levels at the most; once four
 * times as many pixels would fit in a frame they are finer again. */
static void
adapt (SbWork *work, gint64 start, double render_ms, guint most)
{
  const double step_ms = (g_get_monotonic_time () - start) / 1000.0;

  work->slow_steps = step_ms > STEP_MS ? work->slow_steps + 1 : 0;
  if (work->slow_steps >= 2 && work->coarser < most)
    {
      work->coarser++;
      work->slow_steps = 0;
    }
  else if (step_ms + 3 * render_ms < 0.9 * STEP_MS && work->coarser > 0)
    work->coarser--;
}

/* most: as adapt() takes it; 0: this is no step that is to fit in a frame. */
static void
run_exact (SbWork *work, gboolean may_end, guint most)
{
  SbWanted wanted;
  GError *error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const guint64 n_pixels
      = (guint64)sb_image_get_width (work->original) * sb_image_get_height (work->original);

  copy_wanted (work, &wanted);
  if (may_end)
    work->cancellable = cancellable;
  const guint n_done = count_done (work, &wanted);
  g_mutex_unlock (&work->mutex);
  const gboolean restored = restore_snapshot (work, &wanted, n_done, n_pixels);
  const gint64 start = g_get_monotonic_time ();
  const gboolean rendered = sb_engine_render (work->box->engine, wanted.edits, wanted.n_fixed,
                                              SB_QUALITY_EXACT, cancellable, &error);
  const double ms = (g_get_monotonic_time () - start) / 1000.0;
  g_mutex_lock (&work->mutex);
  work->cancellable = NULL;

  if (check_render (work, wanted.id, rendered, error))
    {
      const gboolean first = work->preview_id != wanted.id;
      sb_stats_add (SB_STATS_RENDER, ms);
      work->preview_id = work->exact_id = wanted.id;
      work->exact_done = g_get_monotonic_time ();
      work->trimmed = work->prepared = FALSE;
      work->render_ms = ms;
      if (wanted.edits->n_edits > n_done && !restored
          && !sb_edit_list_equal (wanted.edits, work->exact_edits)) /* or it was there already */
        work->exact_ms_per_edit = ms / (wanted.edits->n_edits - n_done);
      g_clear_pointer (&work->exact_edits, sb_edit_list_unref);
      work->exact_edits = sb_edit_list_ref (wanted.edits);
      set_fixed (work, &wanted, restored);
      stamp (work, wanted.id, first && !wanted.same_pixels ? wanted.changed : 0,
             !wanted.same_pixels && wanted.exact_at <= work->exact_done ? wanted.exact_at : 0,
             TRUE);
      if (!may_end)
        wait_for_show (work);
      if (most > 0)
        adapt (work, start, ms, most);
    }
  sb_wanted_clear (&wanted);
}

static void
run_preview (SbWork *work, guint level, const SbRect *region, guint most)
{
  SbWanted wanted;
  GError *error = NULL;
  const SbQuality quality = { FALSE, level, region };
  const gint64 start = g_get_monotonic_time ();

  copy_wanted (work, &wanted);
  g_mutex_unlock (&work->mutex);
  const gboolean rendered
      = sb_engine_render (work->box->engine, wanted.edits, wanted.n_fixed, quality, NULL, &error);
  const double ms = (g_get_monotonic_time () - start) / 1000.0;
  g_mutex_lock (&work->mutex);

  if (check_render (work, wanted.id, rendered, error))
    {
      sb_stats_add (SB_STATS_RENDER, ms);
      work->preview_id = wanted.id;
      work->trimmed = FALSE;
      work->render_ms = ms;
      set_fixed (work, &wanted, FALSE);
      stamp (work, wanted.id, wanted.changed, 0, FALSE);
      wait_for_show (work);
      adapt (work, start, ms, most);
    }
  sb_wanted_clear (&wanted);
}

/* Renders what is wanted, if anything is to be rendered now. Otherwise *until receives when that
 * will be. With the mutex. */
static gboolean
run_wanted (SbWork *work, gint64 *until)
{
  const SbWanted *wanted = &work->wanted;
  guint level = 0;
  SbRect region;

  if (wanted->id == 0 || wanted->generation != work->generation || work->exact_id == wanted->id)
    return FALSE;

  const gboolean rest = g_get_monotonic_time () >= wanted->exact_at;
  const gboolean fresh = work->preview_id != wanted->id && !wanted->same_pixels;
  const gboolean immediate = sb_engine_is_immediate (work->box->engine);
  const SbRect all = { 0, 0, (int)sb_image_get_width (work->original),
                       (int)sb_image_get_height (work->original) };
  gboolean seen = sb_work_get_detail (work, &level, &region);
  guint most = MAX_COARSER;
  if (sb_work_bands_seen (work) && !immediate)
    {
      /* Every band is to follow, the finest as well: as fine as the time allows, of everything. */
      most = level + MAX_COARSER;
      level = 0;
      region = all;
      seen = TRUE;
      if (!work->bands.followed)
        {
          double ms = work->exact_ms_per_edit > 0 ? work->exact_ms_per_edit
                                                  : (double)all.width * all.height * GUESS_MS;
          work->coarser = work->slow_steps = 0;
          for (; ms > STEP_MS && work->coarser < most; ms /= 4)
            work->coarser++;
          work->level = 0;
        }
      work->bands.followed = TRUE;
    }
  else
    {
      if (level != work->level || work->bands.followed)
        work->coarser = work->slow_steps = 0;
      work->bands.followed = FALSE;
    }
  const gboolean whole = level == 0 && (!work->bands.followed || work->coarser == 0)
                         && region.width >= all.width && region.height >= all.height;
  if (fresh && (immediate || (seen && whole)))
    run_exact (work, FALSE, work->bands.followed ? most : 0); /* PREVIEW would cost as much */
  else if (fresh && rest && count_done (work, wanted) < wanted->n_fixed)
    run_exact (work, TRUE,
               0); /* PREVIEW would have to make those first, and a kept state may serve */
  else if (fresh && seen)
    {
      work->level = level;
      run_preview (work, level + work->coarser, &region, most);
    }
  else if (rest)
    run_exact (work, TRUE, 0);
  else
    {
      *until = MIN (*until, wanted->exact_at);
      return FALSE;
    }
  return TRUE;
}

/* What is done when nothing else is. With the mutex. */
static gboolean
run_idle (SbWork *work, gint64 *until)
{
  const gint64 now = g_get_monotonic_time ();

  if (work->wanted.id == 0 || work->exact_id != work->wanted.id
      || work->wanted.generation != work->generation)
    return FALSE;
  if (!work->prepared)
    {
      work->prepared = TRUE;
      g_mutex_unlock (&work->mutex);
      sb_engine_prepare (work->box->engine, NULL);
      g_mutex_lock (&work->mutex);
      return TRUE;
    }
  if (work->wanted.keep && work->kept_id != work->wanted.id)
    {
      if (now >= work->exact_done + KEEP_DELAY)
        {
          run_keep (work);
          return TRUE;
        }
      *until = MIN (*until, work->exact_done + KEEP_DELAY);
    }
  else if (count_done (work, &work->wanted) < work->wanted.n_fixed)
    {
      if (now >= work->exact_done + KEEP_DELAY)
        {
          run_exact (work, TRUE, 0); /* nothing new to see, but the next drag begins at once */
          return TRUE;
        }
      *until = MIN (*until, work->exact_done + KEEP_DELAY);
    }
  else if (!work->trimmed)
    {
      if (now >= work->exact_done + TRIM_DELAY)
        {
          work->trimmed = TRUE;
          g_mutex_unlock (&work->mutex);
          sb_engine_trim (work->box->engine);
          g_mutex_lock (&work->mutex);
          return TRUE;
        }
      *until = MIN (*until, work->exact_done + TRIM_DELAY);
    }
  return FALSE;
}

/* What follows the picture: its subbands. With the mutex. */
static gboolean
run_bands (SbWork *work, gboolean (*job) (SbWork *work, GError **error))
{
  g_autoptr (GError) error = NULL;

  /* What is to be measured was just rendered, and is on its way to the screen. */
  if (job == sb_work_bands_measure && sb_work_bands_pending (work))
    wait_for_show (work);
  const gboolean worked = job (work, &error);

  if (error != NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
      && is_final (work, error))
    sb_work_post (work, deliver_error, g_steal_pointer (&error));
  if (worked && job == sb_work_bands_set)
    stamp (work, work->stamp_id, 0, 0, work->stamp_exact);
  return worked;
}

gpointer
sb_work_render_thread (gpointer data)
{
  SbWork *work = data;

  g_mutex_lock (&work->mutex);
  while (!work->quit)
    {
      gint64 until = G_MAXINT64;

      if (work->open && work->box == NULL)
        open_engine (work);
      else if (work->lost != NULL && work->box != NULL)
        {
          g_autoptr (GError) lost = g_steal_pointer (&work->lost);
          leave_device (work, lost, FALSE);
        }
      else if (work->read.job != NULL)
        run_read (work);
      else if (work->load.job != NULL)
        run_load (work);
      else if (work->box != NULL
               && (run_bands (work, sb_work_bands_read) || run_bands (work, sb_work_bands_set)
                   || run_wanted (work, &until) || run_bands (work, sb_work_bands_measure)
                   || run_idle (work, &until)))
        continue;
      else if (until == G_MAXINT64)
        g_cond_wait (&work->wake, &work->mutex);
      else
        g_cond_wait_until (&work->wake, &work->mutex, until);
    }

  /* What was asked for and not begun ends here. */
  const SbLoadRequest load = work->load;
  const SbReadRequest read = work->read;
  work->load = (SbLoadRequest){ NULL, NULL };
  work->read = (SbReadRequest){ 0 };
  sb_work_bands_quit (work);
  g_mutex_unlock (&work->mutex);
  if (load.job != NULL)
    sb_load_job_done (work, load.job, 0, sb_work_cancelled ());
  if (read.job != NULL)
    sb_read_job_done (work, read.job, NULL, sb_work_cancelled ());
  if (load.image != NULL)
    sb_image_unref (load.image);
  if (read.edits != NULL)
    sb_edit_list_unref (read.edits);
  return NULL;
}
