/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-pyramid.h"
#include "sb-error.h"
#include "sb-memory.h"
#include "sb-kernel-view.h"

#include <glib/gi18n-lib.h>

#define SMALLEST_SIDE 32
#define BAND_ROWS     8 /* rows of the level made, in one piece of work */

/* Pixels of the picture that pixel i of a level covers, of n in all. */
static guint
coverage (guint level, guint i, guint n)
{
  return (guint)(MIN ((guint64)(i + 1) << level, n) - ((guint64)i << level));
}

static guint
side_at (guint side, guint level)
{
  return (guint)(((guint64)side + ((guint64)1 << level) - 1) >> level);
}

static void
level_free (SbLevel *level)
{
  sb_memory_free (level->pixels, level->bytes);
  level->pixels = NULL;
  level->bytes = 0;
}

void
sb_pyramid_clear (SbPyramid *pyramid)
{
  for (guint i = 0; i <= SB_PYRAMID_MAX_LEVEL; i++)
    level_free (&pyramid->levels[i]);
  sb_pyramid_invalidate (pyramid);
}

void
sb_pyramid_invalidate (SbPyramid *pyramid)
{
  pyramid->n_levels = 0;
  pyramid->width = pyramid->height = 0;
  for (guint i = 0; i <= SB_PYRAMID_MAX_LEVEL; i++)
    pyramid->levels[i].width = pyramid->levels[i].height = 0;
}

/* Memory for a level, the same as before where the size is. */
static gboolean
level_reserve (SbPyramid *pyramid, guint index, guint depth, GError **error)
{
  SbLevel *level = &pyramid->levels[index];

  level->width = side_at (pyramid->width, index);
  level->height = side_at (pyramid->height, index);
  level->depth = depth;
  level->stride = (gsize)level->width * (depth / 2);
  const gsize bytes = level->stride * level->height;
  if (level->bytes != bytes)
    {
      level_free (level);
      level->pixels = sb_memory_alloc (bytes);
      if (level->pixels == NULL)
        {
          level->width = level->height = 0;
          g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("There is not enough memory for a smaller copy of the picture"));
          return FALSE;
        }
      level->bytes = bytes;
    }
  return TRUE;
}

/* --- One row --------------------------------------------------------------------------------- */

/* The mean of up to four pixels that weigh wx[.] * wy[.]. */
static void
weighted_mean (const guint16 *const rows[2], const guint wy[2], guint x, const guint wx[2],
               guint16 *out)
{
  const guint64 total = (guint64)(wx[0] + wx[1]) * (wy[0] + wy[1]);

  for (guint c = 0; c < 4; c++)
    {
      guint64 sum = total / 2;
      for (guint r = 0; r < 2; r++)
        for (guint k = 0; k < 2; k++)
          if (wx[k] > 0 && wy[r] > 0)
            sum += (guint64)wx[k] * wy[r] * rows[r][4 * (gsize)(x + k) + c];
      out[c] = (guint16)(sum / total);
    }
}

/* Row `j` of level `to` from rows 2j and 2j + 1 of the level before (lower is not read where there
 * is none), or of the picture in the space of the pyramid where `to` is 1. */
static void
reduce_row (const SbViewKernels *kernels, const SbPyramid *pyramid, guint to, guint j,
            const guint16 *upper, const guint16 *lower, guint16 *out)
{
  const guint from = to - 1;
  const guint width = side_at (pyramid->width, from);
  const guint height = side_at (pyramid->height, from);
  const gboolean pair = 2 * j + 1 < height;
  const guint wy[2] = { coverage (from, 2 * j, pyramid->height),
                        pair ? coverage (from, 2 * j + 1, pyramid->height) : 0 };
  const guint16 *const rows[2] = { upper, pair ? lower : upper };
  const guint out_width = (width + 1) / 2;
  /* The columns whose two pixels weigh the same: all but the last at most. */
  const guint whole = pyramid->width >> to;
  guint first = 0;

  if (!pair || wy[0] == wy[1])
    {
      kernels->reduce_16 (upper, rows[1], whole, out);
      first = whole;
    }
  for (guint i = first; i < out_width; i++)
    {
      const guint wx[2] = { coverage (from, 2 * i, pyramid->width),
                            2 * i + 1 < width ? coverage (from, 2 * i + 1, pyramid->width) : 0 };
      weighted_mean (rows, wy, 2 * i, wx, out + 4 * (gsize)i);
    }
}

/* --- From the picture ------------------------------------------------------------------------ */

typedef struct
{
  const SbViewKernels *kernels;
  SbPyramid *pyramid;
  const SbSource *picture;
  const guint16 *const *decode;
  gboolean keep_first;
  gboolean make_second;
  guint from; /* for bands_between */
  guint16 *scratch;
  gsize scratch_row; /* samples */
} Work;

static void
sum_block_8 (const SbSource *picture, guint x0, guint y0, guint side, guint32 sum[4],
             guint32 *count)
{
  const guint x1 = MIN (x0 + side, picture->width), y1 = MIN (y0 + side, picture->height);

  for (guint c = 0; c < 4; c++)
    sum[c] = 0;
  for (guint y = y0; y < y1; y++)
    for (guint x = x0; x < x1; x++)
      for (guint c = 0; c < 4; c++)
        sum[c] += picture->pixels[y * picture->stride + 4 * (gsize)x + c];
  *count = (x1 - x0) * (y1 - y0);
}

/* Bands of level 2 and the rows of level 1 that belong to them, of an opaque 8-bit picture. */
static void
bands_opaque_8 (gsize item, guint thread, gpointer user_data)
{
  const Work *work = user_data;
  const SbSource *picture = work->picture;
  const SbLevel *half = &work->pyramid->levels[1];
  const SbLevel *quarter = &work->pyramid->levels[2];
  const guint end = (guint)MIN ((item + 1) * BAND_ROWS, quarter->height);

  for (guint j = (guint)item * BAND_ROWS; j < end; j++)
    {
      guint whole = 0; /* columns of level 2 done */
      guint16 *out = (guint16 *)(quarter->pixels + j * quarter->stride);

      if (4 * j + 3 < picture->height)
        {
          const guint8 *rows[4];
          for (guint k = 0; k < 4; k++)
            rows[k] = picture->pixels + (4 * (gsize)j + k) * picture->stride;
          guint8 *halves[2]
              = { half->pixels + 2 * j * half->stride, half->pixels + (2 * j + 1) * half->stride };
          whole = picture->width / 4;
          work->kernels->reduce_twice_8 (rows, whole, halves, out);
        }
      for (guint i = whole; i < quarter->width; i++)
        {
          guint32 sum[4], count;
          sum_block_8 (picture, 4 * i, 4 * j, 4, sum, &count);
          for (guint c = 0; c < 4; c++)
            out[4 * (gsize)i + c] = (guint16)((257 * sum[c] + count / 2) / count);
        }
      for (guint y = 2 * j; y < MIN (2 * j + 2, half->height); y++)
        for (guint i = 2 * whole; i < half->width; i++)
          {
            guint32 sum[4], count;
            guint8 *to = half->pixels + y * half->stride + 4 * (gsize)i;
            sum_block_8 (picture, 2 * i, 2 * y, 2, sum, &count);
            for (guint c = 0; c < 4; c++)
              to[c] = (guint8)((sum[c] + count / 2) / count);
          }
    }
}

/* Bands of level 1, level 2, or both, of any picture. */
static void
bands_first (gsize item, guint thread, gpointer user_data)
{
  const Work *work = user_data;
  const SbSource *picture = work->picture;
  SbPyramid *pyramid = work->pyramid;
  guint16 *scratch = work->scratch + thread * 4 * work->scratch_row;
  guint16 *const rows[2] = { scratch, scratch + work->scratch_row };
  const guint height1 = side_at (pyramid->height, 1);
  const guint first = (guint)item * 2 * BAND_ROWS;
  const guint end = MIN (first + 2 * BAND_ROWS, height1);

  for (guint j = first; j < end; j++)
    {
      for (guint k = 0; k < 2 && 2 * j + k < picture->height; k++)
        {
          const guint8 *in = picture->pixels + (2 * (gsize)j + k) * picture->stride;
          if (picture->format == SB_PIXELS_8)
            work->kernels->work_8 (in, picture->width, work->decode, picture->opaque, rows[k]);
          else
            work->kernels->work_16 ((const guint16 *)in, picture->width, work->decode,
                                    picture->opaque, rows[k]);
        }
      guint16 *pair[2];
      for (guint k = 0; k < 2; k++)
        pair[k] = work->keep_first
                      ? (guint16 *)(pyramid->levels[1].pixels
                                    + MIN ((j & ~1u) + k, height1 - 1) * pyramid->levels[1].stride)
                      : scratch + (2 + k) * work->scratch_row;
      reduce_row (work->kernels, pyramid, 1, j, rows[0], rows[1], pair[j & 1]);
      if (work->make_second && ((j & 1) != 0 || j + 1 == height1))
        reduce_row (work->kernels, pyramid, 2, j / 2, pair[0], pair[1],
                    (guint16 *)(pyramid->levels[2].pixels + j / 2 * pyramid->levels[2].stride));
    }
}

/* Bands of level from + 1. */
static void
bands_between (gsize item, guint thread, gpointer user_data)
{
  const Work *work = user_data;
  const SbLevel *from = &work->pyramid->levels[work->from];
  const SbLevel *to = &work->pyramid->levels[work->from + 1];
  const guint end = (guint)MIN ((item + 1) * BAND_ROWS, to->height);

  for (guint j = (guint)item * BAND_ROWS; j < end; j++)
    reduce_row (work->kernels, work->pyramid, work->from + 1, j,
                (const guint16 *)(from->pixels + 2 * (gsize)j * from->stride),
                (const guint16 *)(from->pixels + (2 * (gsize)j + 1) * from->stride),
                (guint16 *)(to->pixels + j * to->stride));
}

static gboolean
run (Work *work, SbParallelFunc func, guint height, SbParallel *parallel, GCancellable *cancellable,
     GError **error)
{
  const gsize n = (height + BAND_ROWS - 1) / BAND_ROWS;

  if (sb_parallel_run (parallel, n, func, work, cancellable))
    return TRUE;
  g_cancellable_set_error_if_cancelled (cancellable, error);
  return FALSE;
}

static gboolean
make_first (Work *work, SbParallel *parallel, GCancellable *cancellable, GError **error)
{
  const guint threads = sb_parallel_get_n_threads (parallel);
  /* Two rows of the picture and two of level 1 for each thread. */
  work->scratch_row = 4 * (gsize)work->pyramid->width + 32;
  const gsize bytes = threads * 4 * work->scratch_row * sizeof (guint16);
  work->scratch = sb_memory_alloc (bytes);
  if (work->scratch == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory for a smaller copy of the picture"));
      return FALSE;
    }
  const gboolean done
      = run (work, bands_first, side_at (work->pyramid->height, 2), parallel, cancellable, error);
  sb_memory_free (work->scratch, bytes);
  return done;
}

static gboolean
make_between (Work *work, guint from, SbParallel *parallel, GCancellable *cancellable,
              GError **error)
{
  if (!level_reserve (work->pyramid, from + 1, 16, error))
    return FALSE;
  work->from = from;
  return run (work, bands_between, work->pyramid->levels[from + 1].height, parallel, cancellable,
              error);
}

gboolean
sb_pyramid_build (SbPyramid *pyramid, const SbSource *picture, SbParallel *parallel,
                  GCancellable *cancellable, GError **error)
{
  Work work = { .kernels = sb_view_kernels_get (), .pyramid = pyramid, .picture = picture };
  const gboolean bytes = picture->format == SB_PIXELS_8 && picture->opaque;
  guint n_levels = 0;

  sb_pyramid_invalidate (pyramid);
  pyramid->width = picture->width;
  pyramid->height = picture->height;
  while (side_at (MAX (picture->width, picture->height), n_levels) > SMALLEST_SIDE
         && n_levels < SB_PYRAMID_MAX_LEVEL)
    n_levels++;
  if (n_levels == 0)
    return TRUE;
  /* The first two are made together. */
  n_levels = MAX (n_levels, 2);

  gboolean done
      = level_reserve (pyramid, 1, bytes ? 8 : 16, error) && level_reserve (pyramid, 2, 16, error);
  if (done && bytes)
    done = run (&work, bands_opaque_8, pyramid->levels[2].height, parallel, cancellable, error);
  else if (done)
    {
      work.keep_first = work.make_second = TRUE;
      done = make_first (&work, parallel, cancellable, error);
    }
  for (guint from = 2; done && from < n_levels; from++)
    done = make_between (&work, from, parallel, cancellable, error);
  if (done)
    pyramid->n_levels = n_levels;
  else
    sb_pyramid_invalidate (pyramid);
  return done;
}

gboolean
sb_pyramid_get_work (SbPyramid *pyramid, const SbSource *picture, const SbTone *tone, guint level,
                     SbSource *source, SbParallel *parallel, GCancellable *cancellable,
                     GError **error)
{
  Work work = { .kernels = sb_view_kernels_get (), .pyramid = pyramid, .picture = picture };
  const guint16 *tables[3];
  guint made = level; /* the nearest level that is there, 0 for none */

  g_return_val_if_fail (level >= 1 && level <= SB_PYRAMID_MAX_LEVEL, FALSE);

  while (made > 0 && !(pyramid->levels[made].width > 0 && pyramid->levels[made].depth == 16))
    made--;
  if (made == 0)
    {
      const guint first = MIN (level, 2);
      for (guint c = 0; tone != NULL && c < 3; c++)
        tables[c] = picture->format == SB_PIXELS_8 ? tone->decode8[c] : tone->decode[c];
      work.decode = tone != NULL ? tables : NULL;
      work.keep_first = first == 1;
      work.make_second = first == 2;
      pyramid->width = picture->width;
      pyramid->height = picture->height;
      if (!level_reserve (pyramid, first, 16, error))
        return FALSE;
      if (!make_first (&work, parallel, cancellable, error))
        {
          pyramid->levels[first].width = 0;
          return FALSE;
        }
      made = first;
    }
  for (; made < level; made++)
    if (!make_between (&work, made, parallel, cancellable, error))
      {
        pyramid->levels[made + 1].width = 0;
        return FALSE;
      }
  *source = (SbSource){
    .format = SB_PIXELS_WORK,
    .width = pyramid->levels[level].width,
    .height = pyramid->levels[level].height,
    .pixels = pyramid->levels[level].pixels,
    .stride = pyramid->levels[level].stride,
    .opaque = picture->opaque,
  };
  return TRUE;
}
