/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-estimate.h"
#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define POOL          (1u << SB_CPU_ESTIMATE_SHIFT)
#define STRIP_ROWS    (1u << SB_CPU_ESTIMATE_LEVELS) /* where blocks of all levels begin and end */
#define STRIP_COLUMNS 2048
#define CANDIDATES                                                                                 \
  4 /* strips of a part of the picture of which the one with most detail is taken */
#define MOST_ROWS 512 /* that are blurred for all strips together; one strip there is always */

void
sb_cpu_estimate_clear (SbCpuEstimate *estimate)
{
  g_clear_pointer (&estimate->pooled, sb_cpu_haar_unref);
  estimate->choice.levels = 0;
  estimate->of = NULL;
}

static guint
n_levels_of (const SbHaarChoice *choice)
{
  return MIN (choice->levels, SB_CPU_ESTIMATE_LEVELS);
}

static const SbHaarPlane *
details (const SbHaarBands *set, guint level)
{
  return &set->planes[sb_haar_band_index (set->choice.levels, (SbHaarBand){ level, SB_HAAR_H })];
}

/* --- Patterns -------------------------------------------------------------------------------- */

typedef struct
{
  const SbHaarKernels *kernels;
  const SbHaarPlane *from, *to;
  float *rows; /* 2 * from->columns for each thread */
} Pooling;

static void
pool_row (gsize item, guint thread, gpointer data)
{
  const Pooling *pooling = data;
  const SbHaarPlane *from = pooling->from;
  float *high = pooling->rows + thread * 2 * (gsize)from->columns, *low = high + from->columns;
  float *out = pooling->to->values + item * pooling->to->stride;
  const float *rows[POOL];
  guint n = 0;

  for (; n < POOL && item * POOL + n < from->rows; n++)
    rows[n] = from->values + (item * POOL + n) * from->stride;
  pooling->kernels->extremes (rows, n, from->columns, high, low);
  for (guint i = 0; i < pooling->to->columns; i++)
    {
      const guint end = MIN ((i + 1) * POOL, from->columns);
      float up = high[i * POOL], down = low[i * POOL];

      for (guint k = i * POOL + 1; k < end; k++)
        {
          up = MAX (up, high[k]);
          down = MIN (down, low[k]);
        }
      out[i] = up >= -down ? up : down;
    }
}

static gboolean
pool (const SbCpuHaar *haar, SbCpuHaar *pooled, SbParallel *parallel, GCancellable *cancellable)
{
  const guint threads = sb_parallel_get_n_threads (parallel);
  Pooling pooling = { .kernels = sb_haar_kernels_get () };
  const gsize columns = sb_haar_side (haar->set.width, 1);
  g_autofree float *rows = g_try_new (float, 2 * columns * threads);

  if (rows == NULL)
    return FALSE;
  pooling.rows = rows;
  for (guint level = 1; level <= pooled->set.choice.levels; level++)
    for (guint k = 0; k < 3; k++)
      {
        pooling.from = details (&haar->set, level) + k;
        pooling.to = details (&pooled->set, level) + k;
        sb_parallel_run (parallel, pooling.to->rows, pool_row, &pooling, cancellable);
      }
  return TRUE;
}

/* --- Strips ---------------------------------------------------------------------------------- */

static double
plane_energy (const SbHaarPlane *plane, guint x, guint y, guint columns, guint rows)
{
  double energy = 0;

  for (guint j = y; j < MIN (y + rows, plane->rows); j++)
    {
      const float *row = plane->values + j * plane->stride;
      for (guint i = x; i < MIN (x + columns, plane->columns); i++)
        energy += (double)row[i] * (double)row[i];
    }
  return energy;
}

/* In the orthonormal scale, of all that may be estimated. */
static double
strip_energy (const SbHaarBands *set, const SbRect *rect, guint n_levels)
{
  double energy = 0;

  for (guint level = 1; level <= n_levels; level++)
    for (guint k = 0; k < 3; k++)
      energy
          += ldexp (plane_energy (details (set, level) + k, (guint)rect->x >> level,
                                  (guint)rect->y >> level, sb_haar_side ((guint)rect->width, level),
                                  sb_haar_side ((guint)rect->height, level)),
                    2 * (int)level);
  return energy;
}

static void
choose_strips (SbCpuEstimate *estimate, const SbHaarBands *set)
{
  const guint n_rows = MAX (set->height / STRIP_ROWS, 1); /* of strips */
  const guint n_columns = MAX (set->width / STRIP_ROWS, 1);
  const guint width = MIN (n_columns * STRIP_ROWS, STRIP_COLUMNS);
  const guint n_levels = n_levels_of (&estimate->choice);

  estimate->n_strips = MIN (SB_CPU_ESTIMATE_STRIPS, n_rows);
  for (guint s = 0; s < estimate->n_strips; s++)
    {
      const guint first = s * n_rows / estimate->n_strips;
      const guint end = (s + 1) * n_rows / estimate->n_strips;
      double most = -1;

      for (guint c = 0; c < MIN (CANDIDATES, end - first); c++)
        {
          const guint row = first + c * (end - first) / MIN (CANDIDATES, end - first);
          const SbRect rect = {
            .x = (int)((set->width - MIN (width, set->width)) / 2 / STRIP_ROWS * STRIP_ROWS),
            .y = (int)(row * STRIP_ROWS),
            .width = (int)MIN (width, set->width),
            .height = (int)MIN (STRIP_ROWS, set->height),
          };
          const double energy = strip_energy (set, &rect, n_levels);

          if (energy > most)
            {
              most = energy;
              estimate->strips[s] = rect;
            }
        }
    }
}

/* --- Both ------------------------------------------------------------------------------------ */

static gboolean
out_of_memory (GError **error)
{
  g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("There is not enough memory for the subbands"));
  return FALSE;
}

gboolean
sb_cpu_estimate_is_of (const SbCpuEstimate *estimate, const SbHaarChoice *choice,
                       const SbCpuStart *start)
{
  return estimate->choice.levels == choice->levels && estimate->choice.channel == choice->channel
         && estimate->of == start->picture.pixels;
}

gboolean
sb_cpu_estimate_begin (SbCpuEstimate *estimate, const SbHaarChoice *choice, const SbCpuStart *start,
                       const SbCpuHaar *haar, SbParallel *parallel, GCancellable *cancellable,
                       GError **error)
{
  const SbHaarChoice patterns = { choice->channel, n_levels_of (choice) };

  sb_cpu_estimate_clear (estimate);
  SbCpuHaar *pooled = sb_cpu_haar_new (sb_haar_side (haar->set.width, SB_CPU_ESTIMATE_SHIFT),
                                       sb_haar_side (haar->set.height, SB_CPU_ESTIMATE_SHIFT),
                                       haar->set.depth, &patterns, error);
  if (pooled == NULL)
    return FALSE;
  if (!pool (haar, pooled, parallel, cancellable))
    {
      sb_cpu_haar_unref (pooled);
      return out_of_memory (error);
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      sb_cpu_haar_unref (pooled);
      return FALSE;
    }
  estimate->pooled = pooled;
  estimate->choice = *choice;
  estimate->of = start->picture.pixels;
  choose_strips (estimate, &haar->set);
  return TRUE;
}

/* --- The fit --------------------------------------------------------------------------------- */

/* Magnitudes t of a band against those p of a pattern. */
typedef struct
{
  double n, t, t2, p, p2, tp;
} Sums;

/* The largest magnitude in columns x .. x + n - 1 of a plane and rows y .. y + n - 1. */
static double
largest (const SbHaarPlane *plane, guint x, guint y, guint n)
{
  float most = 0;

  for (guint j = y; j < MIN (y + n, plane->rows); j++)
    {
      const float *row = plane->values + j * plane->stride;
      for (guint i = x; i < MIN (x + n, plane->columns); i++)
        most = MAX (most, fabsf (row[i]));
    }
  return (double)most;
}

static void
add (Sums *sums, double t, double p)
{
  sums->n++;
  sums->t += t;
  sums->t2 += t * t;
  sums->p += p;
  sums->p2 += p * p;
  sums->tp += t * p;
}

/* The line, and the sum of squares that it leaves. */
static double
fit_line (const Sums *s, double *scale, double *offset)
{
  const double variance = s->n * s->p2 - s->p * s->p;

  *scale = variance > 0 ? (s->n * s->tp - s->t * s->p) / variance : 0;
  *offset = (s->t - *scale * s->p) / s->n;
  if (*scale < 0)
    {
      *scale = 0;
      *offset = s->t / s->n;
    }
  else if (*offset < 0)
    {
      *scale = s->tp / s->p2;
      *offset = 0;
    }
  return s->t2 - 2 * *scale * s->tp - 2 * *offset * s->t + *scale * *scale * s->p2
         + 2 * *scale * *offset * s->p + s->n * *offset * *offset;
}

/* Squares of 4 x 4 coefficients of a strip against patterns of the same place. */
static void
compare_strip (const SbHaarPlane *strip, const SbRect *rect, guint band_level,
               const SbHaarPlane *pooled, const SbHaarPlane *coarse, guint level, Sums sums[2])
{
  const guint square = 2;
  const guint side = band_level + square; /* in the picture; all of these in powers of two */
  const guint patterns[] = { band_level + SB_CPU_ESTIMATE_SHIFT, level + 1 };
  const SbHaarPlane *planes[] = { pooled, coarse };

  for (guint j = 0; j << square < strip->rows; j++)
    for (guint i = 0; i << square < strip->columns; i++)
      {
        const double t = largest (strip, i << square, j << square, 1u << square);

        for (guint k = 0; k < 2; k++)
          {
            const guint x = ((guint)rect->x + (i << side)) >> patterns[k];
            const guint y = ((guint)rect->y + (j << side)) >> patterns[k];

            add (&sums[k], t,
                 largest (planes[k], x, y, side > patterns[k] ? 1u << (side - patterns[k]) : 1));
          }
      }
}

/* A strip of the result, transformed. NULL with an error. */
static SbCpuHaar *
transform_strip (const SbCpuStart *start, const SbRect *rect, guint depth,
                 const SbHaarChoice *choice, SbParallel *parallel, GCancellable *cancellable,
                 GError **error)
{
  const gsize stride = (gsize)rect->width * (depth / 2);
  g_autofree guint8 *pixels = g_try_malloc (stride * (gsize)rect->height);
  const SbTarget target = { .format = depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
                            .rect = *rect,
                            .pixels = pixels,
                            .stride = stride };
  const SbSource source = { .format = target.format,
                            .width = (guint)rect->width,
                            .height = (guint)rect->height,
                            .pixels = pixels,
                            .stride = stride,
                            .opaque = start->picture.opaque };

  if (pixels == NULL)
    {
      out_of_memory (error);
      return NULL;
    }
  SbCpuHaar *haar = sb_cpu_haar_new (source.width, source.height, depth, choice, error);
  if (haar != NULL
      && (!start->render (start->data, &target, cancellable, error)
          || !sb_cpu_haar_transform (haar, &source, parallel, cancellable, error)))
    g_clear_pointer (&haar, sb_cpu_haar_unref);
  return haar;
}

gboolean
sb_cpu_estimate_fit (const SbCpuEstimate *estimate, const SbCpuStart *start,
                     const SbCpuHaar *preview, guint level, guint n_levels, SbCpuEstimateFit *fits,
                     SbParallel *parallel, GCancellable *cancellable, GError **error)
{
  const SbHaarChoice choice = { estimate->choice.channel, n_levels };
  const guint at_once = MOST_ROWS / (STRIP_ROWS + 2 * MIN (start->reach, MOST_ROWS));
  const guint n_strips = MIN (MAX (at_once, 1), estimate->n_strips);
  /* One alone is best from the middle. */
  const guint first = (estimate->n_strips - n_strips) / 2;
  Sums sums[SB_CPU_ESTIMATE_BANDS][2] = { { { 0 } } };

  for (guint s = first; s < first + n_strips; s++)
    {
      const SbRect *rect = &estimate->strips[s];
      g_autoptr (SbCpuHaar) strip = transform_strip (start, rect, preview->set.depth, &choice,
                                                     parallel, cancellable, error);

      if (strip == NULL)
        return FALSE;
      for (guint l = 1; l <= n_levels; l++)
        for (guint k = 0; k < 3; k++)
          compare_strip (details (&strip->set, l) + k, rect, l,
                         details (&estimate->pooled->set, l) + k, details (&preview->set, 1) + k,
                         level, sums[3 * (l - 1) + k]);
    }
  for (guint k = 0; k < 3 * n_levels; k++)
    {
      double scale[2], offset[2], rest[2];

      for (guint i = 0; i < 2; i++)
        rest[i] = fit_line (&sums[k][i], &scale[i], &offset[i]);
      const guint better = rest[1] < rest[0];
      fits[k] = (SbCpuEstimateFit){ better == 1, (float)scale[better], (float)offset[better] };
    }
  return TRUE;
}
