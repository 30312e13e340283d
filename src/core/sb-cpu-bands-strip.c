/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-bands.h"
#include "sb-cpu-bands.h"
#include "sb-cpu-bands-private.h"
#include "sb-haar-arith.h"
#include "sb-memory.h"

#include <string.h>

#define PADDED(n) (((gsize)(n) + 15) & ~(gsize)15)

/* 257 / 4: means of four samples of 8 bits that stand for 16. */
#define SCALE_8 64.25f

void
sb_bands_job_init (SbBandsJob *job, const SbSource *source, const SbEdit *edit,
                   SbParallel *parallel, GCancellable *cancellable)
{
  *job = (SbBandsJob){ .kernels = sb_haar_kernels_get (),
                       .source = source,
                       .parallel = parallel,
                       .cancellable = cancellable,
                       .hard = edit->values[SB_BANDS_RULE] == SB_BANDS_HARD,
                       .n_planes = edit->values[SB_BANDS_LUMA] != 0 ? 1 : 3,
                       .gain_means = (float)edit->values[SB_BANDS_GAIN_A] };
  job->job = (SbBlurJob){ .source = source, .parallel = parallel, .cancellable = cancellable };
  job->levels = sb_cpu_bands_levels (edit, source->width, source->height);
  job->tile_levels = MIN (job->levels, SB_BANDS_TILE_LEVELS);
  for (guint level = 1; level <= job->levels; level++)
    {
      for (guint k = 0; k < 3; k++)
        job->gains[level][k] = sb_bands_gain (edit, level, k + 1);
      job->thresholds[level] = sb_bands_threshold (edit, level);
      job->acts[level] = sb_bands_acts_on (edit, level);
    }
  /* All planes of a strip in half of the second cache. */
  const gsize column = job->n_planes * SB_BANDS_TILE * sizeof (float) * 3 / 2;
  const guint most
      = (guint)(sb_memory_second_cache () / 2 / column) / SB_BANDS_TILE * SB_BANDS_TILE;
  job->columns = CLAMP (most, 4 * SB_BANDS_TILE, 32 * SB_BANDS_TILE);
}

gsize
sb_bands_room_init (const SbBandsJob *job, guint8 *memory, SbBandsRoom *room)
{
  const gsize row = PADDED (job->columns) * sizeof (float);
  guint8 *next = memory;

  memset (room, 0, sizeof *room);
  for (guint k = 0; k < 2; k++)
    {
      for (guint c = 0; c < 3; c++, next += row)
        room->samples[c][k] = (float *)(void *)next;
      room->luma[k] = (float *)(void *)next;
      next += row;
      room->made[k] = (float *)(void *)next;
      next += row;
    }
  for (guint c = 0; c < job->n_planes; c++)
    for (guint level = 1; level <= MIN (job->tile_levels, SB_BANDS_TILE_LEVELS); level++)
      for (guint k = 0; k < 4; k++)
        {
          SbHaarPlane *plane = &room->planes[c][level][k];
          plane->stride = PADDED (job->columns >> level);
          plane->values = (float *)(void *)next;
          next += plane->stride * (SB_BANDS_TILE >> level) * sizeof (float);
        }
  room->alpha = (guint16 *)(void *)next;
  next += 2 * row;
  room->result = (guint16 *)(void *)next;
  next += 2 * row;
  room->mask = (guint16 *)(void *)next;
  next += row;
  room->sums = (guint32 *)(void *)next;
  next += row;
  return (gsize)(next - memory) + 64;
}

void
sb_bands_room_place (const SbBandsJob *job, SbBandsRoom *room, guint x, guint y)
{
  room->x = (int)x;
  room->y = (int)y;
  room->columns = MIN (job->columns, job->source->width - x);
  room->rows = MIN (SB_BANDS_TILE, job->source->height - y);
  for (guint c = 0; c < job->n_planes; c++)
    for (guint level = 1; level <= job->tile_levels; level++)
      for (guint k = 0; k < 4; k++)
        {
          room->planes[c][level][k].columns = sb_haar_side (room->columns, level);
          room->planes[c][level][k].rows = sb_haar_side (room->rows, level);
        }
}

static const guint8 *
source_row (const SbBandsJob *job, const SbBandsRoom *room, guint j)
{
  return sb_blur_job_source (&job->job, room->x, room->y + (int)j);
}

/* --- Rows ------------------------------------------------------------------------------------ */

static inline void
pointers (const SbHaarPlane planes[4], guint j, float *rows[4])
{
  for (guint k = 0; k < 4; k++)
    rows[k] = planes[k].values + j * planes[k].stride;
}

/* An odd last column: p over r. */
static void
forward_last (float p, float r, guint at, float *const out[4])
{
  const SbHaarQuad c = sb_haar_forward (p, p, r, r);

  out[0][at] = c.a;
  out[1][at] = c.h;
  out[2][at] = c.v;
  out[3][at] = c.d;
}

static void
forward_row (const SbBandsJob *job, const float *upper, const float *lower, guint columns,
             float *const out[4])
{
  job->kernels->forward (upper, lower, columns / 2, FALSE, out[0], out[1], out[2], out[3]);
  if (columns % 2 == 1)
    forward_last (upper[columns - 1], lower[columns - 1], columns / 2, out);
}

static guint64
count_row (const float *row, guint n)
{
  guint64 count = 0;

  for (guint i = 0; i < n; i++)
    count += row[i] != 0;
  return count;
}

static void
change_row (const SbBandsJob *job, guint level, guint columns, float *const rows[4],
            SbBandsCount *count)
{
  for (guint k = 0; k < 3; k++)
    {
      if (count != NULL)
        count->before += count_row (rows[k + 1], columns);
      if (job->gains[level][k] != 1 || job->thresholds[level] > 0)
        job->kernels->change (rows[k + 1], columns, job->thresholds[level], job->gains[level][k],
                              job->hard);
      if (count != NULL)
        count->after += count_row (rows[k + 1], columns);
    }
}

void
sb_bands_load_row (const SbBandsJob *job, const SbBandsRoom *room, guint j, guint slot)
{
  const SbSource *source = job->source;
  const guint8 *in = source_row (job, room, j);
  float *const r = room->samples[0][slot], *const g = room->samples[1][slot],
               *const b = room->samples[2][slot];

  if (source->format == SB_PIXELS_8)
    job->kernels->load_8 (in, room->columns, source->opaque, r, g, b);
  else
    job->kernels->load_16 ((const guint16 *)(const void *)in, room->columns,
                           source->opaque || source->format == SB_PIXELS_WORK, r, g, b);
  if (job->n_planes == 1)
    job->kernels->luma (r, g, b, room->columns, room->luma[slot]);
}

gboolean
sb_bands_is_plain (const SbBandsJob *job)
{
  return job->source->format == SB_PIXELS_8 && job->source->opaque && job->n_planes == 3;
}

/* Level 1 of a strip. */
static void
first_level (const SbBandsJob *job, SbBandsRoom *room, SbBandsCount *count)
{
  const gboolean plain = sb_bands_is_plain (job);
  const guint columns = room->columns;

  for (guint j = 0; j < sb_haar_side (room->rows, 1); j++)
    {
      const gboolean pair = 2 * j + 1 < room->rows;
      const guint8 *upper = source_row (job, room, 2 * j);
      const guint8 *lower = pair ? upper + job->source->stride : upper;

      /* A row of a strip ends with a page, and no hardware looks beyond. */
      for (guint k = 2; k < 4 && 2 * j + k < room->rows; k++)
        job->kernels->ahead (upper + k * job->source->stride,
                             columns * sb_pixel_bytes (job->source->format));
      if (!plain)
        {
          sb_bands_load_row (job, room, 2 * j, 0);
          if (pair)
            sb_bands_load_row (job, room, 2 * j + 1, 1);
        }
      for (guint c = 0; c < job->n_planes; c++)
        {
          float *rows[4];

          pointers (room->planes[c][1], j, rows);
          if (plain)
            {
              job->kernels->first_8 (upper, lower, columns / 2, SB_HAAR_RED + c, SCALE_8, FALSE,
                                     rows[0], rows[1], rows[2], rows[3]);
              if (columns % 2 == 1)
                forward_last (upper[4 * (columns - 1) + c] * 257.0f,
                              lower[4 * (columns - 1) + c] * 257.0f, columns / 2, rows);
            }
          else
            {
              float *const *in = job->n_planes == 1 ? room->luma : room->samples[c];
              forward_row (job, in[0], in[pair ? 1 : 0], columns, rows);
            }
          if (job->acts[1] || count != NULL)
            change_row (job, 1, sb_haar_side (columns, 1), rows, count);
        }
    }
}

void
sb_bands_forward (const SbBandsJob *job, SbBandsRoom *room, SbBandsCount *count)
{
  if (job->tile_levels > 0)
    first_level (job, room, count);
  for (guint c = 0; c < job->n_planes; c++)
    for (guint level = 2; level <= job->tile_levels; level++)
      {
        const SbHaarPlane *from = &room->planes[c][level - 1][0];

        for (guint j = 0; j < sb_haar_side (room->rows, level); j++)
          {
            const float *upper = from->values + 2 * j * from->stride;
            const float *lower = 2 * j + 1 < from->rows ? upper + from->stride : upper;
            float *rows[4];

            pointers (room->planes[c][level], j, rows);
            forward_row (job, upper, lower, from->columns, rows);
            if (job->acts[level] || count != NULL)
              change_row (job, level, sb_haar_side (room->columns, level), rows, count);
          }
      }
}

/* --- Beyond the tiles ------------------------------------------------------------------------ */

gboolean
sb_bands_deep (const SbBandsJob *job, const SbHaarPlane *means, guint level, SbBandsCount *count)
{
  if (level == job->levels)
    {
      for (guint j = 0; j < means->rows; j++)
        for (guint i = 0; i < means->columns; i++)
          means->values[j * means->stride + i] *= job->gain_means;
      return TRUE;
    }

  const guint columns = sb_haar_side (means->columns, 1), rows = sb_haar_side (means->rows, 1);
  const gsize n = (gsize)columns * rows;
  g_autofree float *memory = g_try_new (float, 4 * n);
  SbHaarPlane planes[4];

  if (memory == NULL)
    return FALSE;
  for (guint k = 0; k < 4; k++)
    planes[k] = (SbHaarPlane){ memory + k * n, columns, columns, rows };
  sb_haar_forward_plane (means, &planes[0], &planes[1], &planes[2], &planes[3]);
  for (guint j = 0; j < rows; j++)
    {
      float *in[4];

      pointers (planes, j, in);
      change_row (job, level + 1, columns, in, count);
    }
  if (!sb_bands_deep (job, &planes[0], level + 1, count))
    return FALSE;
  sb_haar_inverse_plane (&planes[0], &planes[1], &planes[2], &planes[3], means);
  return TRUE;
}
