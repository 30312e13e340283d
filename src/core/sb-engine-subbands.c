/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-bands.h"
#include "sb-cpu-haar.h"
#include "sb-engine-private.h"
#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* The engine's front to the Haar transform. Where a backend does not make it, it is made here, in
 * host memory, of each EXACT result. */

static void
store (SbEngine *engine, const SbHaarChoice *choice, SbHaar *haar)
{
  g_mutex_lock (&engine->lock);
  SbHaar *old = engine->haar;
  engine->subbands = choice != NULL ? *choice : (SbHaarChoice){ 0 };
  engine->haar = haar;
  g_mutex_unlock (&engine->lock);
  sb_haar_unref (old);
}

static SbHaar *
get_host (SbEngine *engine)
{
  g_mutex_lock (&engine->lock);
  SbHaar *haar = engine->haar != NULL ? sb_haar_ref (engine->haar) : NULL;
  g_mutex_unlock (&engine->lock);
  return haar;
}

void
sb_engine_forget_subbands (SbEngine *engine)
{
  store (engine, NULL, NULL);
}

static SbHaar *
make_host (SbEngine *engine, const SbHaarChoice *choice, GError **error)
{
  g_autoptr (SbImage) image = sb_engine_read_exact (engine, error);

  return image != NULL ? sb_haar_new (image, choice, error) : NULL;
}

void
sb_engine_renew_subbands (SbEngine *engine)
{
  const SbHaarChoice choice = engine->subbands;

  if (engine->class->set_subbands == NULL && choice.levels > 0)
    store (engine, &choice, make_host (engine, &choice, NULL));
}

gboolean
sb_engine_set_subbands (SbEngine *engine, const SbHaarChoice *choice, GCancellable *cancellable,
                        GError **error)
{
  g_return_val_if_fail (engine != NULL, FALSE);

  SbHaar *haar = NULL;

  if (!sb_engine_check_loaded (engine, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (choice != NULL
      && !sb_haar_check (choice, engine->picture.width, engine->picture.height, error))
    return FALSE;
  if (engine->class->set_subbands != NULL)
    {
      if (!engine->class->set_subbands (engine->backend, choice, cancellable, error))
        return FALSE;
    }
  else if (choice != NULL)
    {
      haar = make_host (engine, choice, error);
      if (haar == NULL)
        return FALSE;
    }
  store (engine, choice, haar);
  sb_engine_changed (engine);
  return TRUE;
}

SbHaarChoice
sb_engine_get_subbands (SbEngine *engine)
{
  g_return_val_if_fail (engine != NULL, (SbHaarChoice){ 0 });

  g_mutex_lock (&engine->lock);
  const SbHaarChoice choice = engine->subbands;
  g_mutex_unlock (&engine->lock);
  return choice;
}

/* --- Measures -------------------------------------------------------------------------------- */

static gboolean
off (GError **error)
{
  g_set_error_literal (error, SB_ERROR, SB_ERROR_INVALID, _ ("No subbands are made"));
  return FALSE;
}

static gboolean
has_band (const SbHaarChoice *choice, SbHaarBand band)
{
  return band.level >= 1 && band.level <= choice->levels
         && (guint)band.orientation < SB_N_HAAR_ORIENTATIONS
         && (band.orientation != SB_HAAR_A || band.level == choice->levels);
}

gboolean
sb_engine_measure_band (SbEngine *engine, SbHaarBand band, SbHaarStatistics *statistics,
                        GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (engine != NULL && statistics != NULL, FALSE);

  const SbHaarChoice choice = sb_engine_get_subbands (engine);

  if (choice.levels == 0)
    return off (error);
  if (!has_band (&choice, band))
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("There is no such band; the bands are cA%u, and cH, cV and cD of level 1 to "
                      "%u"),
                   choice.levels, choice.levels);
      return FALSE;
    }
  if (engine->class->measure_band != NULL)
    return engine->class->measure_band (engine->backend, band, statistics, cancellable, error);

  g_autoptr (SbHaar) haar = get_host (engine);
  if (haar == NULL)
    return off (error);
  sb_haar_measure (haar, band, statistics);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

gboolean
sb_engine_summarize_subbands (SbEngine *engine, SbHaarSummary *summary, GCancellable *cancellable,
                              GError **error)
{
  g_return_val_if_fail (engine != NULL && summary != NULL, FALSE);

  if (sb_engine_get_subbands (engine).levels == 0)
    return off (error);
  if (engine->class->summarize_subbands != NULL)
    {
      const SbHaarChannel channel = sb_engine_get_subbands (engine).channel;
      const guint depth = sb_image_get_depth (engine->original);

      if (!engine->class->summarize_subbands (engine->backend, summary, cancellable, error))
        return FALSE;
      summary->noise_levels = summary->noise / sb_haar_unit (channel, depth);
      return TRUE;
    }

  g_autoptr (SbHaar) haar = get_host (engine);
  if (haar == NULL)
    return off (error);
  sb_haar_summarize (haar, summary);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

guint
sb_engine_get_estimated (SbEngine *engine)
{
  g_return_val_if_fail (engine != NULL, 0);
  return engine->class->get_estimated != NULL ? engine->class->get_estimated (engine->backend) : 0;
}

gboolean
sb_engine_pick_coefficient (SbEngine *engine, SbHaarBand band, guint column, guint row,
                            float *value)
{
  g_return_val_if_fail (engine != NULL && value != NULL, FALSE);

  const SbHaarChoice choice = sb_engine_get_subbands (engine);

  if (!has_band (&choice, band))
    return FALSE;
  if (engine->class->pick_coefficient != NULL)
    return engine->class->pick_coefficient (engine->backend, band, column, row, value);

  g_autoptr (SbHaar) haar = get_host (engine);
  guint columns, rows;
  if (haar == NULL)
    return FALSE;
  const float *values = sb_haar_get_band (haar, band, &columns, &rows);
  if (column >= columns || row >= rows)
    return FALSE;
  *value = values[(gsize)row * columns + column];
  return TRUE;
}

/* --- The whole transform --------------------------------------------------------------------- */

SbHaar *
sb_engine_read_subbands (SbEngine *engine, const SbEditList *edits, guint n_fixed,
                         const SbHaarChoice *choice, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (engine != NULL && choice != NULL, NULL);

  if (!sb_engine_check_loaded (engine, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error)
      || !sb_haar_check (choice, engine->picture.width, engine->picture.height, error))
    return NULL;
  if (engine->class->read_subbands == NULL)
    {
      g_autoptr (SbImage) image
          = sb_engine_read (engine, edits, n_fixed, engine->picture.depth, cancellable, error);
      return image != NULL ? sb_haar_new (image, choice, error) : NULL;
    }

  g_autoptr (SbEditList) simple = sb_engine_simplify (engine, edits, &n_fixed, error);
  if (simple == NULL)
    return NULL;
  const guint done = sb_engine_base_edits (engine, simple);
  g_autoptr (SbHaar) haar = sb_haar_alloc (engine->picture.width, engine->picture.height,
                                           engine->picture.depth, choice, error);
  float *bands[1 + 3 * SB_HAAR_MAX_LEVELS];
  if (haar == NULL)
    return NULL;
  for (guint n = 0; n < sb_haar_n_bands (choice->levels); n++)
    bands[n] = haar->set.planes[n].values;
  if (!engine->class->read_subbands (engine->backend, done > 0 ? SB_START_BASE : SB_START_ORIGINAL,
                                     simple->edits + done, simple->n_edits - done, choice, bands,
                                     cancellable, error))
    return NULL;
  return g_steal_pointer (&haar);
}

static SbSource
image_source (SbImage *image, gboolean opaque)
{
  return (SbSource){
    .format = sb_image_get_depth (image) == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = sb_image_get_width (image),
    .height = sb_image_get_height (image),
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .opaque = opaque,
  };
}

/* What the edit makes of `from`, at the depth of the document. */
static SbImage *
run_bands (SbEngine *engine, const SbSource *from, const SbEdit *edit, SbParallel *parallel,
           GCancellable *cancellable, GError **error)
{
  g_autoptr (SbImage) image
      = sb_image_new (from->width, from->height, engine->picture.depth, error);

  if (image == NULL)
    return NULL;
  const SbTarget target = { .format = engine->picture.depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
                            .rect = { 0, 0, (int)from->width, (int)from->height },
                            .pixels = sb_image_writable (image),
                            .stride = sb_image_get_stride (image) };
  return sb_cpu_bands (from, edit, &target, parallel, cancellable, error) ? g_steal_pointer (&image)
                                                                          : NULL;
}

/* In host memory, where the backend does not measure it: of the edit at `at` of the last EXACT
 * result, whose own input and output are made once more where they are not at hand. */
static gboolean
measure_on_host (SbEngine *engine, guint at, SbBandsMeasure *measure, GCancellable *cancellable,
                 GError **error)
{
  const SbEditList *exact = engine->exact;
  g_autoptr (SbEditList) before = sb_edit_list_new (exact->edits, at);
  g_autoptr (SbImage) input = at == 0 ? sb_image_ref (engine->original)
                                      : sb_engine_read (engine, before, 0, 16, cancellable, error);

  if (input == NULL)
    return FALSE;
  const SbSource from = image_source (input, engine->picture.opaque);
  SbParallel *parallel = sb_parallel_new (1);
  g_autoptr (SbImage) result
      = at + 1 == exact->n_edits
            ? sb_engine_read_exact (engine, error)
            : run_bands (engine, &from, &exact->edits[at], parallel, cancellable, error);
  gboolean measured = FALSE;
  if (result != NULL)
    {
      const SbSource to = image_source (result, engine->picture.opaque);

      measured = sb_cpu_bands_measure (&from, &to, &exact->edits[at], parallel, measure,
                                       cancellable, error);
    }
  sb_parallel_free (parallel);
  return measured;
}

gboolean
sb_engine_measure_edit (SbEngine *engine, SbBandsMeasure *measure, GCancellable *cancellable,
                        GError **error)
{
  g_return_val_if_fail (engine != NULL && measure != NULL, FALSE);

  if (!sb_engine_check_loaded (engine, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  const SbEditList *exact = engine->exact;
  const guint n = exact->n_edits;
  guint at = n;
  while (at > 0 && exact->edits[at - 1].kind != SB_EDIT_BANDS)
    at--;
  if (at-- == 0)
    {
      g_set_error_literal (error, SB_ERROR, SB_ERROR_INVALID,
                           _ ("None of the edits is one of wavelets"));
      return FALSE;
    }
  if (at + 1 < n || engine->class->measure_edit == NULL)
    return measure_on_host (engine, at, measure, cancellable, error);

  guint done = sb_engine_base_edits (engine, exact);
  if (done == n)
    done = 0; /* what the last edit starts from has to be made */
  return engine->class->measure_edit (engine->backend, done > 0 ? SB_START_BASE : SB_START_ORIGINAL,
                                      exact->edits + done, n - done, measure, cancellable, error);
}

/* --- Showing --------------------------------------------------------------------------------- */

gboolean
sb_engine_show_subbands (SbEngine *engine, const SbView *view, guint8 *rgba, gsize stride,
                         GError **error)
{
  const SbHaarLook *look = &view->look;

  if (!(look->gain >= 0.25 && look->gain <= 256) || (guint)look->layout > SB_HAAR_GRID
      || (guint)look->display > SB_HAAR_COLOR)
    {
      g_set_error_literal (error, SB_ERROR, SB_ERROR_INVALID, _ ("This view cannot be shown"));
      return FALSE;
    }
  if (engine->class->set_subbands != NULL)
    return engine->class->show_host (engine->backend, view, rgba, stride, error);

  g_autoptr (SbHaar) haar = get_host (engine);
  if (haar == NULL)
    return off (error);
  SbParallel *parallel = sb_parallel_new (1);
  const gboolean done = sb_cpu_haar_show (view, &haar->set, rgba, stride, parallel, error);
  sb_parallel_free (parallel);
  return done;
}
