/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur.h"
#include "sb-cpu-blur-bytes.h"
#include "sb-cpu-blur-tile.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A rectangle of the result is made in tiles. In a tile, groups of 8 rows go through the horizontal
 * passes; each group's result is turned into strips of 8 columns, which then go through the
 * vertical passes. There are two ways to order the work:
 *
 * - marching, where the windows are small: a tile is some hundred columns wide and as high as a
 *   thread's share; it goes down row group by row group, and only the last rows of each strip, as
 *   many as the vertical windows reach, are kept. All of that stays in the second cache. A tile
 *   is one thread's.
 * - in two phases, where they are large: all row groups of the tile, then all its strips, each
 *   phase spread over the threads, with the whole tile between them in memory. */

#define MARCH_ROWS 32

typedef struct
{
  gpointer memory;
  gsize bytes;
} Block;

struct _SbBlurScratch
{
  Block block;
  SbBlurTone tone;
};

SbBlurScratch *
sb_blur_scratch_new (void)
{
  return g_new0 (SbBlurScratch, 1);
}

void
sb_blur_scratch_trim (SbBlurScratch *scratch)
{
  g_return_if_fail (scratch != NULL);
  sb_memory_free (scratch->block.memory, scratch->block.bytes);
  scratch->block = (Block){ NULL, 0 };
}

void
sb_blur_scratch_free (SbBlurScratch *scratch)
{
  if (scratch == NULL)
    return;
  sb_blur_scratch_trim (scratch);
  g_free (scratch);
}

static guint8 *
scratch_get (SbBlurScratch *scratch, gsize bytes)
{
  /* From 4 MiB on it comes in huge pages. The kernels read beyond vectors by a sample. */
  bytes = MAX (bytes + 2 * SB_VECTOR_BYTES, (gsize)4 << 20);
  if (scratch->block.bytes < bytes)
    {
      sb_blur_scratch_trim (scratch);
      scratch->block.memory = sb_memory_alloc (bytes);
      if (scratch->block.memory != NULL)
        scratch->block.bytes = bytes;
    }
  return scratch->block.memory == NULL ? NULL : (guint8 *)scratch->block.memory + SB_VECTOR_BYTES;
}

static gsize
odd_blocks (gsize vectors)
{
  return (((vectors + SB_GROUP - 1) / SB_GROUP) | 1) * SB_GROUP;
}

/* --- Marching ------------------------------------------------------------------------------- */

typedef struct
{
  const SbBlurJob *job;
  SbRect rect;
  int columns, rows; /* of an item */
  guint n_columns, n_rows;
  SbBlurTile tile; /* of full size; an item makes its own from it */
} March;

static void
march (gsize item, guint thread, gpointer data)
{
  const March *plan = data;
  const SbRect *rect = &plan->rect;
  SbBlurTile tile = plan->tile;
  SbBlurRoom room;
  SbMaskWindow window = { 0 };
  SbAhead ahead = { 0 };
  const int x = (int)(item % plan->n_columns) * plan->columns;
  const int y = (int)(item / plan->n_columns) * plan->rows;

  sb_blur_tile_place (&tile,
                      &(SbRect){ rect->x + x, rect->y + y, MIN (plan->columns, rect->width - x),
                                 MIN (plan->rows, rect->height - y) });
  sb_blur_tile_room (&tile, TRUE, thread, &room, NULL);
  for (guint s = 0; s < tile.n_strips; s++)
    sb_line_init (&tile.v, &room.lines[s]);
  sb_blur_tile_start_mask (&tile, &room, 0, tile.n_strips, &window);
  const SbSource *source = plan->job->source;
  ahead.bytes = (gsize)(tile.x1 - tile.x0) * sb_pixel_bytes (source->format);
  ahead.stride = source->stride;
  /* All of the next portion while this one is worked on, and a little sooner. */
  ahead.step
      = SB_GROUP * sb_pixel_bytes (source->format) * 5 / 4 / MAX (tile.h.passes + tile.v.passes, 1)
        + 1;
  room.ahead = &ahead;

  gint64 have = 0, given = tile.v.first;
  while (given < tile.v.stop)
    {
      const gint64 rows = MIN (MARCH_ROWS, tile.v.length - have);
      if (sb_line_behind (&tile.v, &room.lines[0], given) >= tile.v.ring)
        for (guint s = 0; s < tile.n_strips; s++)
          room.lines[s].origin -= tile.v.ring;
      const gint64 next = MIN (MARCH_ROWS, tile.v.length - have - rows);
      if (next > 0)
        {
          ahead.row = sb_blur_job_source (plan->job, tile.x0, tile.y0 + (int)(have + rows));
          ahead.at = 0;
          ahead.rows = next;
        }
      for (gint64 i = 0; i < rows; i += SB_GROUP)
        sb_blur_tile_rows (&tile, &room, have + i,
                           sb_line_input (&tile.v, &room.lines[0], room.strips, have + i));
      have += rows;
      if (g_cancellable_is_cancelled (plan->job->cancellable))
        return;
      given = sb_blur_tile_advance (&tile, &room, room.strips, 0, tile.n_strips, have, given,
                                    &window);
    }
  plan->job->kernels->fence ();
}

/* --- Two phases ----------------------------------------------------------------------------- */

typedef struct
{
  SbBlurTile tile;
  /* Passes move a line through memory. Where that takes much more than the line, strips are kept
   * without, and each thread moves its own in room for a few: 0 vectors where they move in place.
   */
  gsize moving_vectors;
  gsize moving_bytes; /* of a thread */
  guint8 *moving;
} Phases;

static void
phase_rows (gsize item, guint thread, gpointer data)
{
  const SbBlurTile *tile = &((const Phases *)data)->tile;
  const gint64 y = (gint64)item * SB_GROUP;
  SbBlurRoom room;

  sb_blur_tile_room (tile, FALSE, thread, &room, NULL);
  sb_blur_tile_rows (tile, &room, y,
                     (guint16 *)tile->strips + (tile->strip_origin + y) * SB_VECTOR);
}

static void
phase_columns (gsize item, guint thread, gpointer data)
{
  const Phases *phases = data;
  SbBlurTile tile = phases->tile;
  const guint first = (guint)item * tile.strips_at_once;
  const guint n = MIN (tile.strips_at_once, tile.n_strips - first);
  guint16 *strips = (guint16 *)tile.strips + (gsize)first * tile.strip_vectors * SB_VECTOR;
  SbMaskWindow window = { 0 };
  SbBlurRoom room;

  sb_blur_tile_room (&tile, FALSE, thread, &room, NULL);
  for (guint s = 0; s < n; s++)
    sb_line_init (&tile.v, &room.lines[s]);
  if (phases->moving_vectors > 0)
    {
      guint16 *moving = (guint16 *)(phases->moving + thread * phases->moving_bytes);
      for (guint s = 0; s < n; s++)
        memcpy (sb_line_input (&tile.v, &room.lines[s],
                               moving + s * phases->moving_vectors * SB_VECTOR, 0),
                strips + s * tile.strip_vectors * SB_VECTOR,
                (gsize)tile.v.length * SB_VECTOR_BYTES);
      strips = moving;
      tile.strip_vectors = phases->moving_vectors;
    }
  sb_blur_tile_start_mask (&tile, &room, first, n, &window);
  sb_blur_tile_advance (&tile, &room, strips, first, n, tile.v.length, tile.v.first, &window);
}

/* --- The whole ------------------------------------------------------------------------------ */

static gboolean
out_of_memory (const SbBlurJob *job, GError **error)
{
  g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
               _ ("There is not enough memory to blur %u × %u pixels."), job->source->width,
               job->source->height);
  return FALSE;
}

/* Blurs a rectangle by marching. *done is FALSE where the windows are too large for it. */
static gboolean
blur_marching (const SbBlurJob *job, const SbRect *rect, gboolean *done, GError **error)
{
  March plan = { job, *rect };
  SbBlurTile *tile = &plan.tile;
  const guint n_threads = sb_parallel_get_n_threads (job->parallel);

  *done = FALSE;
  sb_blur_tile_init (tile, job);
  sb_blur_tile_place (tile, rect);
  /* A line that the windows see all of at once is no case for a ring. */
  if (2 * sb_line_class_span (&tile->v) > tile->v.length)
    return TRUE;
  const gint64 span = sb_line_class_span (&tile->v) + 2 * SB_GROUP;
  const gint64 reach_h = tile->h.passes * tile->h.lag;
  const gint64 reach_v = tile->v.passes * tile->v.lag;
  const gint64 window = (gint64)odd_blocks ((gsize)span + MARCH_ROWS);
  /* Of the second cache, what the rows on their way and the target's lines leave. */
  const gint64 cache = (gint64)sb_memory_second_cache () * 9 / 16;
  gint64 columns = cache / (window * SB_VECTOR_BYTES) * SB_GROUP;

  if (columns < 4 * reach_h && columns < rect->width)
    return TRUE;
  /* Even tiles, and enough of them for the threads. */
  guint n = (guint)((rect->width + columns - 1) / columns);
  /* Pairs of strips, so that every tile writes whole lines of the target where the first does. */
  plan.columns
      = (int)((rect->width + n - 1) / n + 2 * SB_GROUP - 1) / (2 * SB_GROUP) * (2 * SB_GROUP);
  plan.n_columns = (guint)((rect->width + plan.columns - 1) / plan.columns);
  guint wanted = n_threads == 1 ? 1 : (4 * n_threads + plan.n_columns - 1) / plan.n_columns;
  wanted = (guint)CLAMP (rect->height / MAX (8 * reach_v, 64), 1, (gint64)wanted);
  plan.rows = (int)((guint)rect->height + wanted - 1) / (int)wanted;
  plan.n_rows = (guint)((rect->height + plan.rows - 1) / plan.rows);

  sb_blur_tile_place (tile,
                      &(SbRect){ rect->x, rect->y, MIN (plan.columns, rect->width), plan.rows });
  sb_blur_tile_set_row_vectors (tile);
  /* A tile inside the picture reaches out on both sides. */
  tile->row_vectors
      = (gsize)MIN ((gint64)tile->row_vectors + 2 * reach_h,
                    2 * sb_line_class_span (&tile->h) + 3 * SB_LOAD + SB_GROUP + 2 * reach_h);
  tile->strip_vectors = (gsize)window;
  tile->v.ring = window;
  tile->strips_at_once = tile->n_strips;
  tile->staging_rows = MARCH_ROWS;
  tile->staging_stride = sb_blur_tile_staging_stride (job, tile->n_strips);
  SbBlurRoom room;
  sb_blur_tile_room (tile, TRUE, 0, &room, &tile->thread_bytes);
  tile->threads = scratch_get (job->scratch, tile->thread_bytes * n_threads);
  if (tile->threads == NULL)
    return out_of_memory (job, error);
  *done = TRUE;
  if (!sb_parallel_run (job->parallel, (gsize)plan.n_columns * plan.n_rows, march, &plan,
                        job->cancellable)
      || g_cancellable_is_cancelled (job->cancellable))
    return sb_error_cancelled (error);
  return TRUE;
}

static gboolean
blur_phases (const SbBlurJob *job, const SbRect *rect, GError **error)
{
  const guint n_threads = sb_parallel_get_n_threads (job->parallel);
  const gsize pixels = (gsize)job->source->width * job->source->height;
  const gsize budget = MAX ((gsize)32 << 20, pixels * 4);
  Phases phases = { .moving = NULL };
  SbBlurTile *tile = &phases.tile;
  int columns = rect->width;

  sb_blur_tile_init (tile, job);
  for (;;)
    {
      sb_blur_tile_place (tile, &(SbRect){ rect->x, rect->y, columns, rect->height });
      tile->strip_vectors = odd_blocks ((gsize)sb_line_class_memory (&tile->v) + SB_GROUP);
      if (4 * sb_line_class_memory (&tile->v) > 5 * tile->v.length)
        {
          phases.moving_vectors = tile->strip_vectors;
          tile->strip_vectors = odd_blocks ((gsize)tile->v.length + SB_GROUP);
        }
      const gsize bytes = tile->n_strips * tile->strip_vectors * SB_VECTOR_BYTES;
      const int reach_h = (int)(tile->h.passes * tile->h.lag);
      /* Parts repeat what they reach of each other's rows: two are the most where that is all. */
      if (bytes <= budget || (columns < rect->width && columns <= 2 * reach_h)
          || columns <= SB_GROUP)
        break;
      columns = (columns / 2 + SB_GROUP - 1) / SB_GROUP * SB_GROUP;
    }
  const int step = columns;
  gsize row_vectors = 0;
  /* The widest of them decides about the memory. */
  for (int x = 0; x < rect->width; x += step)
    {
      sb_blur_tile_place (
          tile, &(SbRect){ rect->x + x, rect->y, MIN (step, rect->width - x), rect->height });
      sb_blur_tile_set_row_vectors (tile);
      row_vectors = MAX (row_vectors, tile->row_vectors);
    }
  sb_blur_tile_place (tile, &(SbRect){ rect->x, rect->y, step, rect->height });
  tile->row_vectors = row_vectors;
  /* Strips side by side fill whole lines of the target; a portion is long against the windows, so
   * that changing from one to the next is rare. */
  tile->strips_at_once = MIN (4, tile->n_strips);
  tile->staging_rows = (guint)CLAMP (sb_line_class_span (&tile->v), 64, 1024);
  tile->staging_stride = sb_blur_tile_staging_stride (job, tile->strips_at_once);
  const gsize strips = sb_padded (tile->n_strips * tile->strip_vectors * SB_VECTOR_BYTES);
  SbBlurRoom room;
  sb_blur_tile_room (tile, FALSE, 0, &room, &tile->thread_bytes);
  phases.moving_bytes = sb_padded (tile->strips_at_once * phases.moving_vectors * SB_VECTOR_BYTES);
  guint8 *memory
      = scratch_get (job->scratch, strips + (tile->thread_bytes + phases.moving_bytes) * n_threads);
  if (memory == NULL)
    return out_of_memory (job, error);
  tile->strips = memory;
  tile->strip_origin
      = phases.moving_vectors > 0 ? 0 : (tile->v.passes * tile->v.drift + 7) & ~(gint64)7;
  tile->threads = memory + strips;
  phases.moving = tile->threads + tile->thread_bytes * n_threads;
  for (int x = 0; x < rect->width; x += step)
    {
      sb_blur_tile_place (
          tile, &(SbRect){ rect->x + x, rect->y, MIN (step, rect->width - x), rect->height });
      if (!sb_parallel_run (job->parallel, ((gsize)tile->v.length + SB_GROUP - 1) / SB_GROUP,
                            phase_rows, &phases, job->cancellable)
          || !sb_parallel_run (job->parallel,
                               (tile->n_strips + tile->strips_at_once - 1) / tile->strips_at_once,
                               phase_columns, &phases, job->cancellable))
        return sb_error_cancelled (error);
    }
  return TRUE;
}

static gboolean
blur_rect (const SbBlurJob *job, const SbRect *rect, GError **error)
{
  gboolean done;
  SbBytesPlan bytes;

  if (sb_bytes_plan_init (&bytes, job, rect))
    {
      const guint n_threads = sb_parallel_get_n_threads (job->parallel);
      bytes.threads = scratch_get (job->scratch, bytes.thread_bytes * n_threads);
      if (bytes.threads == NULL)
        return out_of_memory (job, error);
      return sb_bytes_plan_run (&bytes) || sb_error_cancelled (error);
    }
  if (!blur_marching (job, rect, &done, error))
    return FALSE;
  if (done)
    return TRUE;
  return blur_phases (job, rect, error);
}

gboolean
sb_cpu_blur (const SbSource *source, const SbEdit *edit, const SbTone *tone, const SbTarget *target,
             SbParallel *parallel, SbBlurScratch *scratch, GCancellable *cancellable,
             GError **error)
{
  g_return_val_if_fail (source != NULL && edit != NULL && tone != NULL && target != NULL, FALSE);
  g_return_val_if_fail (parallel != NULL && scratch != NULL, FALSE);
  g_return_val_if_fail (edit->kind == SB_EDIT_BLUR, FALSE);
  g_return_val_if_fail (target->format != SB_PIXELS_WORK, FALSE);

  const SbRect *rect = &target->rect;
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  const guint passes = (guint)edit->values[SB_BLUR_PASSES];
  SbBlurJob job = { .kernels = sb_blur_kernels (),
                    .source = source,
                    .target = target,
                    .tone = tone,
                    .small = &scratch->tone,
                    .parallel = parallel,
                    .scratch = scratch,
                    .cancellable = cancellable };
  job.radius16 = (guint)(edit->values[SB_BLUR_RADIUS] * 16 + 0.5);
  job.passes_h = direction != SB_DIRECTION_VERTICAL ? passes : 0;
  job.passes_v = direction != SB_DIRECTION_HORIZONTAL ? passes : 0;
  job.linear = edit->values[SB_BLUR_LINEAR] != 0;
  job.mirror = edit->values[SB_BLUR_EDGE] == SB_EDGE_MIRROR;
  job.stream = (gsize)rect->height * target->stride > ((gsize)8 << 20);

  if (!sb_edit_check (edit, source->width, source->height, error))
    return FALSE;
  /* Everything but the whole is nothing. */
  if (job.radius16 == 0 || (edit->area.shape == SB_AREA_WHOLE && edit->area.invert))
    return sb_blur_job_copy (&job, rect) || sb_error_cancelled (error);
  if (job.linear)
    sb_blur_tone_init (&scratch->tone, tone);
  if (edit->area.shape == SB_AREA_WHOLE)
    return blur_rect (&job, rect, error);

  SbMask mask;
  SbMaskPart parts[5];
  sb_mask_init (&mask, &edit->area, source->width, source->height);
  job.mask = &mask;
  const guint n = sb_mask_split (&mask, rect, parts);
  for (guint i = 0; i < n; i++)
    {
      if (!parts[i].zero && !blur_rect (&job, &parts[i].rect, error))
        return FALSE;
      if (parts[i].zero && !sb_blur_job_copy (&job, &parts[i].rect))
        return sb_error_cancelled (error);
    }
  return TRUE;
}
