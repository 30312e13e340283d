/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-bands.h"
#include "sb-bands.h"
#include "sb-cpu-bands-private.h"
#include "sb-error.h"
#include "sb-haar-arith.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* From here on what is written is not read again soon: it goes past the caches. */
#define STREAM_BYTES ((gsize)8 << 20)

guint
sb_cpu_bands_levels (const SbEdit *edit, guint width, guint height)
{
  return MIN ((guint)edit->values[SB_BANDS_LEVELS], sb_haar_max_levels (width, height));
}

SbRect
sb_cpu_bands_reach (const SbEdit *edit, const SbRect *rect, guint width, guint height)
{
  const guint levels = sb_cpu_bands_levels (edit, width, height);
  const int unit = 1 << MIN (levels, SB_BANDS_TILE_LEVELS);

  if (levels > SB_BANDS_TILE_LEVELS)
    return (SbRect){ 0, 0, (int)width, (int)height };
  const int x0 = rect->x / unit * unit, y0 = rect->y / unit * unit;
  const int x1 = MIN ((rect->x + rect->width + unit - 1) / unit * unit, (int)width);
  const int y1 = MIN ((rect->y + rect->height + unit - 1) / unit * unit, (int)height);
  return (SbRect){ x0, y0, x1 - x0, y1 - y0 };
}

/* --- Back to pixels -------------------------------------------------------------------------- */

typedef struct
{
  SbBandsJob bands;
  SbRect rect;            /* of the output */
  guint first_x, first_y; /* of the strips */
  guint n_columns;        /* strips beside each other */
  guint8 *memory;         /* of the threads */
  gsize thread_bytes;
  SbBandsCount *counts; /* for each thread; NULL: nothing is counted */
  gboolean only_means;  /* the strip's means are wanted, and nothing else */
  gboolean failed;      /* atomic */
} Run;

static void
inverse_row (const SbBandsJob *job, float *const in[4], guint columns, float *upper, float *lower)
{
  const guint n = columns / 2;

  job->kernels->inverse (in[0], in[1], in[2], in[3], n, upper, lower);
  if (columns % 2 == 1)
    {
      const SbHaarQuad c = { in[0][n], in[1][n], in[2][n], in[3][n] };
      float block[4];
      sb_haar_inverse (c, block);
      upper[columns - 1] = block[0];
      lower[columns - 1] = block[2];
    }
}

static inline void
pointers (const SbHaarPlane planes[4], guint j, float *rows[4])
{
  for (guint k = 0; k < 4; k++)
    rows[k] = planes[k].values + j * planes[k].stride;
}

/* The coarsest means of a strip: multiplied, or taken from where the deeper levels are done. */
static void
change_means (const SbBandsJob *job, SbBandsRoom *room)
{
  const guint level = job->tile_levels;

  for (guint c = 0; c < job->n_planes; c++)
    {
      const SbHaarPlane *a = &room->planes[c][level][0];

      for (guint j = 0; j < a->rows; j++)
        {
          float *row = a->values + j * a->stride;

          if (job->levels > level)
            memcpy (row,
                    job->means[c].values + (((gsize)room->y >> level) + j) * job->means[c].stride
                        + (room->x >> level),
                    a->columns * sizeof (float));
          else if (job->gain_means != 1)
            for (guint i = 0; i < a->columns; i++)
              row[i] *= job->gain_means;
        }
    }
}

/* All levels but the first. */
static void
inverse_levels (const SbBandsJob *job, SbBandsRoom *room)
{
  /* Where an odd last row is taken apart its partner goes here. */
  float *unused = room->made[1];

  for (guint c = 0; c < job->n_planes; c++)
    for (guint level = job->tile_levels; level >= 2; level--)
      {
        const SbHaarPlane *to = &room->planes[c][level - 1][0];

        for (guint j = 0; j < sb_haar_side (room->rows, level); j++)
          {
            float *upper = to->values + 2 * j * to->stride;
            float *in[4];

            pointers (room->planes[c][level], j, in);
            inverse_row (job, in, to->columns, upper,
                         2 * j + 1 < to->rows ? upper + to->stride : unused);
          }
      }
}

/* The part of a row of the strip that is wanted: columns *from .. *to - 1 of it. FALSE: none. */
static gboolean
wanted (const Run *run, const SbBandsRoom *room, guint j, guint *from, guint *to)
{
  const SbRect *rect = &run->rect;
  const int y = room->y + (int)j;

  if (y < rect->y || y >= rect->y + rect->height)
    return FALSE;
  *from = (guint)MAX (rect->x - room->x, 0);
  *to = (guint)MIN (rect->x + rect->width - room->x, (int)room->columns);
  return TRUE;
}

/* One row of samples, room->samples[.][slot], to where it belongs. */
static void
store_row (const Run *run, SbBandsRoom *room, SbMaskWindow *window, guint j, guint slot)
{
  const SbBandsJob *job = &run->bands;
  const SbSource *source = job->source;
  const SbTarget *target = job->target;
  const int y = room->y + (int)j;
  const guint16 *alpha = NULL;
  guint from, to;

  if (!wanted (run, room, j, &from, &to))
    return;
  const guint n = to - from;
  const int x = room->x + (int)from;
  if (!source->opaque)
    {
      const guint8 *in = sb_blur_job_source (&job->job, x, y);

      if (source->format == SB_PIXELS_8)
        {
          job->kernels->alphas_8 (in, n, room->alpha);
          alpha = room->alpha;
        }
      else
        alpha = (const guint16 *)(const void *)in + 3;
    }

  guint8 *out = sb_blur_job_target (&job->job, x, y);
  const gboolean direct = window == NULL && target->format == SB_PIXELS_16;
  guint16 *result = direct ? (guint16 *)(void *)out : room->result;
  job->kernels->store_16 (room->samples[0][slot] + from, room->samples[1][slot] + from,
                          room->samples[2][slot] + from, n, source->opaque, alpha, result);
  if (window != NULL)
    {
      sb_mask_window_next (window, room->mask);
      sb_blur_job_blend_row (&job->job, room->mask, result, x, y, n);
    }
  else if (!direct)
    job->kernels->round_8 (result, n, out);
}

/* Rows 2 j and 2 j + 1 of the strip; level 1 is undone on the way. */
static void
store_pair (const Run *run, SbBandsRoom *room, SbMaskWindow *window, guint j)
{
  const SbBandsJob *job = &run->bands;
  const guint rows = MIN (room->rows - 2 * j, 2);

  if (job->n_planes == 1)
    {
      float *in[4];

      for (guint k = 0; k < rows; k++)
        sb_bands_load_row (job, room, 2 * j + k, k);
      pointers (room->planes[0][1], j, in);
      inverse_row (job, in, room->columns, room->made[0], room->made[1]);
      for (guint k = 0; k < rows; k++)
        for (guint c = 0; c < 3; c++)
          job->kernels->shift (room->samples[c][k], room->luma[k], room->made[k], room->columns);
    }
  else
    for (guint c = 0; c < 3; c++)
      {
        float *in[4];

        pointers (room->planes[c][1], j, in);
        inverse_row (job, in, room->columns, room->samples[c][0], room->samples[c][1]);
      }
  for (guint k = 0; k < rows; k++)
    store_row (run, room, window, 2 * j + k, k);
}

/* Without any level left, the means are the samples. */
static void
store_scaled (const Run *run, SbBandsRoom *room, SbMaskWindow *window, guint j)
{
  const SbBandsJob *job = &run->bands;

  sb_bands_load_row (job, room, j, 0);
  if (job->n_planes == 1)
    {
      for (guint i = 0; i < room->columns; i++)
        room->made[0][i] = room->luma[0][i] * job->gain_means;
      for (guint c = 0; c < 3; c++)
        job->kernels->shift (room->samples[c][0], room->luma[0], room->made[0], room->columns);
    }
  else
    for (guint c = 0; c < 3; c++)
      for (guint i = 0; i < room->columns; i++)
        room->samples[c][0][i] *= job->gain_means;
  store_row (run, room, window, j, 0);
}

/* Opaque pixels of 8 bits on both sides, a whole strip: straight from level 1 to the target. */
static void
store_plain (const Run *run, SbBandsRoom *room, guint j)
{
  const SbBandsJob *job = &run->bands;
  guint8 *upper = sb_blur_job_target (&job->job, room->x, room->y + 2 * (int)j);
  guint8 *lower = 2 * j + 1 < room->rows ? upper + job->target->stride : (guint8 *)room->result;
  const float *bands[3][4];

  for (guint c = 0; c < 3; c++)
    for (guint k = 0; k < 4; k++)
      {
        const SbHaarPlane *plane = &room->planes[c][1][k];
        bands[c][k] = plane->values + j * plane->stride;
      }
  job->kernels->last_8 (bands, room->columns / 2, job->stream, upper, lower);
  if (room->columns % 2 == 1)
    {
      const guint at = room->columns / 2;
      guint16 pixels[2][4];
      float samples[3][2];

      for (guint c = 0; c < 3; c++)
        {
          const SbHaarQuad quad
              = { bands[c][0][at], bands[c][1][at], bands[c][2][at], bands[c][3][at] };
          float block[4];
          sb_haar_inverse (quad, block);
          samples[c][0] = block[0];
          samples[c][1] = block[2];
        }
      for (guint k = 0; k < 2; k++)
        {
          job->kernels->store_16 (&samples[0][k], &samples[1][k], &samples[2][k], 1, TRUE, NULL,
                                  pixels[k]);
          job->kernels->round_8 (pixels[k], 1, (k == 0 ? upper : lower) + 8 * (gsize)at);
        }
    }
}

static void
run_strip (gsize item, guint thread, gpointer data)
{
  Run *run = data;
  SbBandsJob *job = &run->bands;
  const guint x = run->first_x + (guint)(item % run->n_columns) * job->columns;
  const guint y = run->first_y + (guint)(item / run->n_columns) * SB_BANDS_TILE;
  SbMaskWindow window;
  SbBandsRoom room;

  sb_bands_room_init (job, run->memory + thread * run->thread_bytes, &room);
  sb_bands_room_place (job, &room, x, y);
  sb_bands_forward (job, &room, run->counts != NULL ? &run->counts[thread] : NULL);
  if (run->only_means)
    {
      for (guint c = 0; c < job->n_planes && job->means[c].values != NULL; c++)
        {
          const SbHaarPlane *a = &room.planes[c][job->tile_levels][0];

          for (guint j = 0; j < a->rows; j++)
            memcpy (job->means[c].values
                        + (((gsize)y >> job->tile_levels) + j) * job->means[c].stride
                        + (x >> job->tile_levels),
                    a->values + j * a->stride, a->columns * sizeof (float));
        }
      return;
    }

  const SbRect *rect = &run->rect;
  if (job->mask != NULL)
    {
      const int x0 = MAX (rect->x, (int)x),
                x1 = MIN (rect->x + rect->width, (int)(x + room.columns));

      sb_mask_window_start (&window, job->mask, x0, x1, MAX (rect->y, (int)y), room.sums);
    }
  SbMaskWindow *with = job->mask != NULL ? &window : NULL;
  if (job->tile_levels == 0)
    {
      for (guint j = 0; j < room.rows; j++)
        store_scaled (run, &room, with, j);
      return;
    }
  change_means (job, &room);
  inverse_levels (job, &room);
  const gboolean whole = (int)x >= rect->x && (int)y >= rect->y
                         && (int)(x + room.columns) <= rect->x + rect->width
                         && (int)(y + room.rows) <= rect->y + rect->height;
  const gboolean plain
      = whole && with == NULL && sb_bands_is_plain (job) && job->target->format == SB_PIXELS_8;
  for (guint j = 0; j < sb_haar_side (room.rows, 1); j++)
    if (plain)
      store_plain (run, &room, j);
    else
      store_pair (run, &room, with, j);
  if (plain && job->stream)
    job->kernels->fence ();
}

static gboolean
out_of_memory (GError **error)
{
  g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("There is not enough memory to change the wavelets"));
  return FALSE;
}

/* All strips that touch the rect. */
static gboolean
run_rect (Run *run, const SbRect *rect, GError **error)
{
  const guint tile = SB_BANDS_TILE;

  run->rect = *rect;
  run->first_x = (guint)rect->x / tile * tile;
  run->first_y = (guint)rect->y / tile * tile;
  const guint columns = run->bands.columns;
  const guint rows = (guint)(rect->y + rect->height) - run->first_y;
  run->n_columns = ((guint)(rect->x + rect->width) - run->first_x + columns - 1) / columns;
  if (!sb_parallel_run (run->bands.parallel, (gsize)run->n_columns * ((rows + tile - 1) / tile),
                        run_strip, run, run->bands.cancellable))
    return sb_error_cancelled (error);
  return TRUE;
}

static gboolean
run_init (Run *run, GError **error)
{
  const guint n_threads = sb_parallel_get_n_threads (run->bands.parallel);
  SbBandsRoom room;

  run->thread_bytes = (sb_bands_room_init (&run->bands, NULL, &room) + 127) & ~(gsize)63;
  run->memory = sb_memory_alloc (run->thread_bytes * n_threads);
  return run->memory != NULL || out_of_memory (error);
}

static void
run_clear (Run *run)
{
  sb_memory_free (run->memory, run->thread_bytes * sb_parallel_get_n_threads (run->bands.parallel));
  for (guint c = 0; c < 3; c++)
    g_free (run->bands.means[c].values);
}

/* Where there are more levels than in a tile: the means of all tiles, through the rest of the
 * transform and back. */
static gboolean
make_means (Run *run, SbBandsCount *count, GError **error)
{
  SbBandsJob *job = &run->bands;
  const SbRect all = { 0, 0, (int)job->source->width, (int)job->source->height };
  const guint columns = sb_haar_side (job->source->width, job->tile_levels);
  const guint rows = sb_haar_side (job->source->height, job->tile_levels);

  for (guint c = 0; c < job->n_planes; c++)
    {
      job->means[c]
          = (SbHaarPlane){ g_try_new (float, (gsize)columns *rows), columns, columns, rows };
      if (job->means[c].values == NULL)
        return out_of_memory (error);
    }
  run->only_means = TRUE;
  if (!run_rect (run, &all, error))
    return FALSE;
  run->only_means = FALSE;
  for (guint c = 0; c < job->n_planes; c++)
    if (!sb_bands_deep (job, &job->means[c], job->tile_levels, count))
      return out_of_memory (error);
  return TRUE;
}

gboolean
sb_cpu_bands (const SbSource *source, const SbEdit *edit, const SbTarget *target,
              SbParallel *parallel, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (source != NULL && edit != NULL && target != NULL, FALSE);
  g_return_val_if_fail (edit->kind == SB_EDIT_BANDS, FALSE);
  g_return_val_if_fail (target->format != SB_PIXELS_WORK, FALSE);

  const SbRect *rect = &target->rect;
  Run run = { 0 };
  SbBandsJob *job = &run.bands;
  SbMask mask;
  SbMaskPart parts[5];
  guint n_parts = 1;
  gboolean done = TRUE;

  if (!sb_edit_check (edit, source->width, source->height, error))
    return FALSE;
  sb_bands_job_init (job, source, edit, parallel, cancellable);
  job->target = target;
  job->job.target = target;
  job->stream = (gsize)rect->height * target->stride > STREAM_BYTES;
  if (sb_edit_is_identity (edit))
    return sb_blur_job_copy (&job->job, rect) || sb_error_cancelled (error);

  parts[0] = (SbMaskPart){ *rect, FALSE };
  if (edit->area.shape != SB_AREA_WHOLE)
    {
      sb_mask_init (&mask, &edit->area, source->width, source->height);
      job->mask = &mask;
      n_parts = sb_mask_split (&mask, rect, parts);
    }
  done = run_init (&run, error)
         && (job->levels == job->tile_levels || make_means (&run, NULL, error));
  for (guint i = 0; done && i < n_parts; i++)
    {
      if (!parts[i].zero)
        done = run_rect (&run, &parts[i].rect, error);
      else if (!sb_blur_job_copy (&job->job, &parts[i].rect))
        done = sb_error_cancelled (error);
    }
  run_clear (&run);
  return done;
}

/* --- Measures -------------------------------------------------------------------------------- */

typedef struct
{
  const SbSource *source, *result;
  double *sums; /* of squares, for each item */
} Distance;

#define DISTANCE_ROWS 32

static inline guint
sample (const SbSource *source, const guint8 *row, gsize i, gboolean to_8)
{
  if (source->format == SB_PIXELS_8)
    return row[i];
  const guint v = ((const guint16 *)(const void *)row)[i];
  return to_8 ? (v * 255 + 32895) >> 16 : v;
}

static void
measure_rows (gsize item, guint thread, gpointer data)
{
  const Distance *distance = data;
  const SbSource *a = distance->source, *b = distance->result;
  const gboolean to_8 = b->format == SB_PIXELS_8;
  const guint from = (guint)item * DISTANCE_ROWS, to = MIN (from + DISTANCE_ROWS, a->height);
  guint64 sum = 0;

  for (guint y = from; y < to; y++)
    {
      const guint8 *in = a->pixels + y * a->stride, *out = b->pixels + y * b->stride;

      for (gsize x = 0; x < a->width; x++)
        for (guint c = 0; c < 3; c++)
          {
            const gint64 d = (gint64)sample (a, in, 4 * x + c, to_8)
                             - (gint64)sample (b, out, 4 * x + c, to_8);
            sum += (guint64)(d * d);
          }
    }
  distance->sums[item] = (double)sum;
}

gboolean
sb_cpu_bands_measure (const SbSource *source, const SbSource *result, const SbEdit *edit,
                      SbParallel *parallel, SbBandsMeasure *measure, GCancellable *cancellable,
                      GError **error)
{
  const guint n_threads = sb_parallel_get_n_threads (parallel);
  const gsize n = ((gsize)source->height + DISTANCE_ROWS - 1) / DISTANCE_ROWS;
  g_autofree SbBandsCount *counts = g_new0 (SbBandsCount, n_threads);
  g_autofree double *sums = g_new0 (double, n);
  Distance distance = { source, result, sums };
  const SbRect all = { 0, 0, (int)source->width, (int)source->height };
  Run run = { .counts = counts, .only_means = TRUE };
  SbBandsCount count = { 0, 0 };

  sb_bands_job_init (&run.bands, source, edit, parallel, cancellable);
  const gboolean deep = run.bands.levels > run.bands.tile_levels;
  const gboolean done = run_init (&run, error)
                        && (deep ? make_means (&run, &count, error) : run_rect (&run, &all, error));
  run_clear (&run);
  if (!done)
    return FALSE;
  if (!sb_parallel_run (parallel, n, measure_rows, &distance, cancellable))
    return sb_error_cancelled (error);
  for (guint t = 0; t < n_threads; t++)
    {
      count.before += counts[t].before;
      count.after += counts[t].after;
    }

  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += sums[i];
  const double peak = result->format == SB_PIXELS_8 ? 255 : 65535;
  const double mean = sum / (3.0 * source->width * source->height);
  measure->kept = count.before > 0 ? (double)count.after / (double)count.before : 1;
  measure->psnr = mean > 0 ? 10 * log10 (peak * peak / mean) : INFINITY;
  return TRUE;
}
