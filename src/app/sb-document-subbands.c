/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <math.h>

/* --- State; with the mutex -------------------------------------------------------------------- */

static gboolean
choice_equal (SbHaarChoice a, SbHaarChoice b)
{
  return a.levels == b.levels && (a.levels == 0 || a.channel == b.channel);
}

static gboolean
band_equal (SbHaarBand a, SbHaarBand b)
{
  return a.level == b.level && a.orientation == b.orientation;
}

static void
forget_edits (SbWorkBands *bands)
{
  g_clear_pointer (&bands->before, sb_edit_list_unref);
  g_clear_pointer (&bands->until, sb_edit_list_unref);
}

void
sb_work_bands_lost (SbWork *work)
{
  work->bands.set.levels = 0;
  work->bands.failed = FALSE;
  work->bands.measured_id = 0;
  work->bands.last.choice.levels = 0;
  forget_edits (&work->bands);
}

static void
request_clear (SbBandsRequest *request)
{
  g_clear_pointer (&request->edits, sb_edit_list_unref);
  g_clear_object (&request->task);
}

typedef struct
{
  GTask *task;
  SbHaar *haar;
  GError *error;
} Answer;

/* On the main thread, and the task goes there, too: with it perhaps the document. */
static void
deliver_answer (SbDocument *document, gpointer data)
{
  Answer *answer = data;

  if (answer->haar != NULL)
    g_task_return_pointer (answer->task, answer->haar, (GDestroyNotify)sb_haar_unref);
  else
    g_task_return_error (answer->task, answer->error);
  g_object_unref (answer->task);
  g_free (answer);
}

/* Ends a request with one of both. */
static void
answer (SbWork *work, SbBandsRequest *request, SbHaar *haar, GError *error)
{
  Answer *given = g_new (Answer, 1);

  *given = (Answer){ g_steal_pointer (&request->task), haar, error };
  request_clear (request);
  sb_work_post (work, deliver_answer, given);
}

void
sb_work_bands_quit (SbWork *work)
{
  if (work->bands.request.task != NULL)
    answer (work, &work->bands.request, NULL, sb_work_cancelled ());
}

void
sb_work_bands_clear (SbWork *work)
{
  forget_edits (&work->bands);
}

/* What the engine has is not what is wanted. */
static gboolean
is_to_be_set (const SbWork *work)
{
  const SbWorkBands *bands = &work->bands;

  return work->box != NULL && work->generation != 0
         && (bands->wanted.levels == 0 || bands->generation == work->generation)
         && !choice_equal (bands->set, bands->wanted);
}

gboolean
sb_work_bands_ready (const SbWork *work)
{
  return work->bands.wanted.levels > 0 && work->bands.generation == work->generation
         && !work->bands.failed && choice_equal (work->bands.set, work->bands.wanted);
}

static gboolean
is_to_be_measured (const SbWork *work)
{
  return sb_work_bands_ready (work) && work->box != NULL && work->wanted.id != 0
         && work->wanted.generation == work->generation && work->exact_id == work->wanted.id
         && work->stamp_exact && work->exact_edits != NULL
         && (work->bands.measured_id != work->exact_id
             || !band_equal (work->bands.measured_band, work->bands.band));
}

gboolean
sb_work_bands_pending (const SbWork *work)
{
  return is_to_be_set (work) || is_to_be_measured (work);
}

gboolean
sb_work_bands_seen (const SbWork *work)
{
  if (!sb_work_bands_ready (work))
    return FALSE;
  for (guint i = 0; i < work->views->len; i++)
    {
      const SbDocumentView *view = g_ptr_array_index (work->views, i);

      if (view->wanted && view->generation == work->generation
          && view->view.what == SB_SHOW_SUBBANDS)
        return TRUE;
    }
  return FALSE;
}

/* --- The worker's jobs ------------------------------------------------------------------------ */

gboolean
sb_work_bands_set (SbWork *work, GError **error)
{
  const SbHaarChoice choice = work->bands.wanted;

  if (!is_to_be_set (work))
    return FALSE;
  g_mutex_unlock (&work->mutex);
  const gboolean set
      = sb_engine_set_subbands (work->box->engine, choice.levels > 0 ? &choice : NULL, NULL, error);
  g_mutex_lock (&work->mutex);
  work->bands.set = choice; /* what failed is not tried again until something changes */
  work->bands.failed = !set;
  work->bands.measured_id = 0;
  work->bands.last.choice.levels = 0;
  return TRUE;
}

gboolean
sb_work_bands_read (SbWork *work, GError **error)
{
  SbBandsRequest request = work->bands.request;
  GError *failed = NULL;
  SbHaar *haar = NULL;

  if (request.task == NULL || work->box == NULL)
    return FALSE;
  work->bands.request = (SbBandsRequest){ 0 };
  if (request.generation == work->generation)
    {
      g_mutex_unlock (&work->mutex);
      haar = sb_engine_read_subbands (work->box->engine, request.edits, request.n_fixed,
                                      &request.choice, NULL, &failed);
      g_mutex_lock (&work->mutex);
    }
  else
    failed = sb_work_cancelled (); /* another picture is open by now */
  if (failed != NULL && sb_work_must_leave (failed) && work->bands.request.task == NULL)
    {
      work->bands.request = request; /* once more, elsewhere */
      g_propagate_error (error, failed);
    }
  else
    answer (work, &request, haar, failed);
  return TRUE;
}

/* The noise of a transform in the units of SB_BANDS_THRESHOLD, and the threshold for it. count and
 * deviation: of the finest diagonals. */
static void
suggest (guint64 count, double deviation, double noise, SbSubbandMeasures *measures)
{
  const double unit = sb_haar_unit (measures->choice.channel, measures->depth);
  const double universal = noise * sqrt (2 * log (MAX ((double)count, 2)));
  const double rest = deviation * deviation - noise * noise;
  const double threshold = rest > 0 ? MIN (noise * noise / sqrt (rest), universal) : universal;

  measures->noise = noise / unit;
  measures->suggested = threshold / unit;
}

/* The position of the unapplied edit of bands, or the length of the list. */
static guint
find_bands (const SbEditList *edits, guint n_fixed)
{
  guint i = MIN (n_fixed, edits->n_edits);

  while (i < edits->n_edits && edits->edits[i].kind != SB_EDIT_BANDS)
    i++;
  return i;
}

static const SbHaarBand finest = { 1, SB_HAAR_D };

/* Without the mutex: `work` is only read where nobody else writes. */
static gboolean
measure_before (SbWork *work, const SbEditList *before, guint n_fixed, SbSubbandMeasures *measures,
                GCancellable *cancellable, GError **error)
{
  const SbHaarChoice choice = { measures->choice.channel, 1 };
  guint columns, rows;
  double deviation;
  g_autoptr (SbHaar) haar
      = sb_engine_read_subbands (work->box->engine, before, n_fixed, &choice, cancellable, error);

  if (haar == NULL)
    return FALSE;
  sb_haar_get_band (haar, finest, &columns, &rows);
  const double noise = sb_haar_noise (haar, &deviation);
  suggest ((guint64)columns * rows, deviation, noise, measures);
  return TRUE;
}

typedef struct
{
  SbSubbandMeasures measures;
  guint generation;
} Measured;

static void
deliver_measures (SbDocument *document, gpointer data)
{
  g_autofree Measured *measured = data;

  if (document != NULL && measured->generation == sb_document_get_generation (document))
    sb_document_measured (document, &measured->measures);
}

/* Hands them to the document. With the mutex. */
static void
post_measures (SbWork *work, const SbSubbandMeasures *measures)
{
  Measured *measured = g_new (Measured, 1);

  *measured = (Measured){ *measures, work->generation };
  sb_work_post (work, deliver_measures, measured);
}

/* What is neither of the selected band nor of the whole transform. Without the mutex: `work` is
 * only read where nobody else writes. */
static gboolean
measure_edit (SbWork *work, const SbEditList *edits, guint n_fixed, SbSubbandMeasures *measures,
              gboolean noise_known, gboolean edit_known, GCancellable *cancellable, GError **error)
{
  SbEngine *engine = work->box->engine;
  const guint n_before = find_bands (edits, n_fixed);

  measures->has_edit = n_before < edits->n_edits && !sb_edit_is_identity (&edits->edits[n_before]);
  if (measures->has_edit && !edit_known
      && !sb_engine_measure_edit (engine, &measures->edit, cancellable, error))
    return FALSE;
  if (noise_known)
    return TRUE;
  if (n_before < edits->n_edits)
    {
      g_autoptr (SbEditList) before = sb_edit_list_new (edits->edits, n_before);

      return measure_before (work, before, MIN (n_fixed, n_before), measures, cancellable, error);
    }
  /* The result is what such an edit would work on. */
  SbHaarStatistics statistics = measures->statistics;
  if (!band_equal (measures->band, finest)
      && !sb_engine_measure_band (engine, finest, &statistics, cancellable, error))
    return FALSE;
  suggest (statistics.count, statistics.deviation, measures->summary.noise, measures);
  return TRUE;
}

gboolean
sb_work_bands_measure (SbWork *work, GError **error)
{
  SbWorkBands *bands = &work->bands;

  if (!is_to_be_measured (work))
    return FALSE;
  const guint64 id = work->exact_id;
  const SbHaarBand band = bands->band;
  g_autoptr (SbEditList) edits = sb_edit_list_ref (work->exact_edits);
  const guint n_fixed = MIN (work->wanted.n_fixed, edits->n_edits);
  const guint n_before = find_bands (edits, n_fixed);
  g_autoptr (SbEditList) before = sb_edit_list_new (edits->edits, n_before);
  g_autoptr (SbEditList) until
      = sb_edit_list_new (edits->edits, MIN (n_before + 1, edits->n_edits));
  g_autoptr (GCancellable) cancellable = work->cancellable = g_cancellable_new ();
  const gboolean noise_known = bands->before != NULL && bands->before_channel == bands->set.channel
                               && sb_edit_list_equal (bands->before, before);
  const gboolean edit_known = bands->until != NULL && sb_edit_list_equal (bands->until, until);
  SbSubbandMeasures measures = bands->last;
  const gboolean had = measures.choice.levels > 0;

  measures.id = bands->measured_id == id ? id : 0;
  measures.choice = bands->set;
  measures.band = band;
  measures.depth = sb_image_get_depth (work->original);
  measures.noise = had || noise_known ? bands->noise : NAN;
  measures.suggested = had || noise_known ? bands->suggested : NAN;
  g_mutex_unlock (&work->mutex);
  gboolean done
      = sb_engine_measure_band (work->box->engine, band, &measures.statistics, cancellable, error);
  g_mutex_lock (&work->mutex);

  if (done && bands->measured_id != id)
    {
      /* What is quick comes first, with what is left of the state before: what an edit of bands
       * works on may have to be rendered. */
      if (had)
        post_measures (work, &measures);
      g_mutex_unlock (&work->mutex);
      done
          = sb_engine_summarize_subbands (work->box->engine, &measures.summary, cancellable, error);
      g_mutex_lock (&work->mutex);
      measures.id = id;
      if (done)
        post_measures (work, &measures);
      g_mutex_unlock (&work->mutex);
      done = done
             && measure_edit (work, edits, n_fixed, &measures, noise_known, edit_known, cancellable,
                              error);
      g_mutex_lock (&work->mutex);
    }
  work->cancellable = NULL;
  if (!done && g_cancellable_is_cancelled (cancellable))
    return TRUE; /* for newer work; afterwards it is measured anew */

  bands->measured_id = id;
  bands->measured_band = band;
  if (done)
    {
      bands->last = measures;
      g_clear_pointer (&bands->before, sb_edit_list_unref);
      bands->before = sb_edit_list_ref (before);
      if (measures.has_edit)
        {
          g_clear_pointer (&bands->until, sb_edit_list_unref);
          bands->until = sb_edit_list_ref (until);
        }
      bands->before_channel = measures.choice.channel;
      bands->noise = measures.noise;
      bands->suggested = measures.suggested;
      post_measures (work, &measures);
    }
  sb_work_update (work);
  return TRUE;
}

/* --- For the interface, on the main thread ---------------------------------------------------- */

void
sb_document_set_subbands (SbDocument *self, const SbHaarChoice *choice, SbHaarBand band)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  SbWork *work = self->work;
  const SbHaarChoice wanted = choice != NULL ? *choice : (SbHaarChoice){ SB_HAAR_LIGHTNESS, 0 };

  g_mutex_lock (&work->mutex);
  const gboolean same = choice_equal (work->bands.wanted, wanted)
                        && (wanted.levels == 0 || work->bands.generation == self->generation);
  work->bands.wanted = wanted;
  work->bands.band = band;
  work->bands.generation = self->generation;
  g_cond_signal (&work->wake);
  g_mutex_unlock (&work->mutex);
  if (!same)
    sb_document_measured (self, NULL);
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
}

const SbSubbandMeasures *
sb_document_get_measures (SbDocument *self)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), NULL);
  return self->has_measures ? &self->measures : NULL;
}

/* The engine that has the bands of what is open now, with a reference, or NULL. */
static SbEngineBox *
ref_box (SbDocument *self)
{
  SbWork *work = self->work;
  SbEngineBox *box = NULL;

  g_mutex_lock (&work->mutex);
  if (work->box != NULL && work->generation == self->generation && sb_work_bands_ready (work))
    box = sb_engine_box_ref (work->box);
  g_mutex_unlock (&work->mutex);
  return box;
}

guint
sb_document_get_estimated (SbDocument *self)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), 0);

  SbEngineBox *box = ref_box (self);
  if (box == NULL)
    return 0;
  const guint estimated = sb_engine_get_estimated (box->engine);
  sb_engine_box_unref (box);
  return estimated;
}

gboolean
sb_document_pick_coefficient (SbDocument *self, SbHaarBand band, guint column, guint row,
                              float *value)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), FALSE);

  SbEngineBox *box = ref_box (self);
  if (box == NULL)
    return FALSE;
  const gboolean found = sb_engine_pick_coefficient (box->engine, band, column, row, value);
  sb_engine_box_unref (box);
  return found;
}

void
sb_document_read_subbands_async (SbDocument *self, const SbHaarChoice *choice,
                                 GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (SB_IS_DOCUMENT (self) && choice != NULL);

  SbWork *work = self->work;
  GTask *task = g_task_new (self, NULL, callback, user_data);
  guint n_applied = 0;
  SbBandsRequest request = { .generation = self->generation, .choice = *choice, .task = task };

  g_task_set_source_tag (task, sb_document_read_subbands_async);
  request.edits = sb_edit_list_ref (sb_document_get_state (self, &n_applied));
  request.n_fixed = n_applied;
  g_mutex_lock (&work->mutex);
  if (!work->quit)
    {
      SbBandsRequest passed = work->bands.request; /* one that the worker has not come to */

      work->bands.request = request;
      request = passed;
      g_cond_signal (&work->wake);
    }
  g_mutex_unlock (&work->mutex);
  if (request.task != NULL)
    g_task_return_error (request.task, sb_work_cancelled ());
  request_clear (&request);
}

SbHaar *
sb_document_read_subbands_finish (SbDocument *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  return g_task_propagate_pointer (G_TASK (result), error);
}
