/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-bytes.h"
#include "sb-arith.h"
#include "sb-memory.h"

#include <string.h>

/* Rows that go through at a time: their results are still in the first cache when the columns take
 * them in. */
#define ROWS 2
/* How many rows sooner the source is called for: a row takes about as long as memory does. */
#define AHEAD 8

static gsize
padded (gsize bytes)
{
  return ((bytes + 63) / 64 | 1) * 64;
}

/* A thread's own memory. */
typedef struct
{
  guint8 *ring, *staging, *edge, *carries;
  gint32 *sums;
} Room;

typedef struct
{
  const SbBytesPlan *plan;
  Room room;
  SbRect rect;
  gsize blocks;
  gboolean carried; /* the tile to the left has left the sums that rows begin with */
  gboolean edge;    /* rows are read from a copy that goes on beyond the picture */
  int start, made;  /* the first row of the picture made, and the next one to be */
} Tile;

static const guint16 *
row_at (const Tile *tile, gint64 y)
{
  const SbBlurJob *job = tile->plan->job;
  const gint64 row = sb_edge_index (y, job->source->height, job->mirror);

  return (const guint16 *)(tile->room.ring
                           + (gsize)(row % tile->plan->ring) * tile->plan->row_bytes);
}

/* Pixels x .. x + count - 1 of a row, all outside the picture on one side of it. */
static void
copy_outside (const SbBlurJob *job, const guint32 *row, gint64 x, gint64 count, guint32 *out)
{
  const gint64 width = job->source->width;

  if (job->mirror)
    for (gint64 i = 0; i < count; i++)
      out[i] = row[sb_edge_index (x + i, width, TRUE)];
  else
    {
      const guint32 end = row[x < 0 ? 0 : width - 1];
      for (gint64 i = 0; i < count; i++)
        out[i] = end;
    }
}

/* Pixels x .. x + count - 1 of a row, whatever lies outside by the edge rule. */
static void
copy_row (const SbBlurJob *job, int x, int y, gint64 count, guint32 *out)
{
  const gint64 width = job->source->width;
  const guint32 *row = (const guint32 *)sb_blur_job_source (job, 0, y);
  const gint64 from = CLAMP (-(gint64)x, 0, count), to = CLAMP (width - x, from, count);

  copy_outside (job, row, x, from, out);
  memcpy (out + from, row + x + from, (gsize)(to - from) * 4);
  copy_outside (job, row, x + to, count - to, out + to);
}

static void
make_rows (Tile *tile, gint64 stop)
{
  const SbBytesPlan *plan = tile->plan;
  const SbBlurJob *job = plan->job;
  const int radius = plan->box.radius, x = tile->rect.x - radius - 1;
  const int height = (int)job->source->height;

  for (; tile->made < MIN (stop, height); tile->made++)
    {
      const int y = tile->made;
      const guint8 *in = tile->room.edge;
      const guint8 *ahead = sb_blur_job_source (job, MAX (x, 0), MIN (y + AHEAD, height - 1));

      if (tile->edge)
        copy_row (job, x, y, 2 * (gint64)radius + 2 + (gint64)tile->blocks * SB_BLOCK,
                  (guint32 *)tile->room.edge);
      else
        in = sb_blur_job_source (job, x, y);
      plan->kernels->row (&plan->box, in + 4, tile->blocks, (guint16 *)row_at (tile, y),
                          tile->room.carries + (gsize)(y - tile->start) * SB_CARRY_BYTES,
                          tile->carried, ahead);
    }
}

static void
write_rows (const Tile *tile, gint64 y, gsize rows, const guint16 *const *enter,
            const guint16 *const *leave)
{
  const SbBytesPlan *plan = tile->plan;
  const SbBlurJob *job = plan->job;
  const gsize whole = (gsize)tile->rect.width / SB_BLOCK;
  const gsize bytes = (gsize)tile->rect.width * 4, stride = job->target->stride;
  guint8 *out = sb_blur_job_target (job, tile->rect.x, (int)y);
  const gboolean lines = (guintptr)out % 64 == 0 && stride % 64 == 0;
  /* Whole lines past the caches, or anything through them; what is neither takes a detour. */
  const gsize direct = lines || !job->stream ? whole : 0;

  plan->kernels->columns (&plan->box, tile->room.sums, enter, leave, rows, direct, out, stride,
                          job->stream);
  if (direct == tile->blocks)
    return;

  const guint16 *enter_rest[ROWS], *leave_rest[ROWS];
  for (gsize i = 0; i < rows; i++)
    {
      enter_rest[i] = enter[i] + direct * SB_BLOCK_SAMPLES;
      leave_rest[i] = leave[i] + direct * SB_BLOCK_SAMPLES;
    }
  plan->kernels->columns (&plan->box, tile->room.sums + direct * SB_BLOCK_SAMPLES, enter_rest,
                          leave_rest, rows, tile->blocks - direct, tile->room.staging,
                          plan->staging_stride, FALSE);
  for (gsize i = 0; i < rows; i++)
    {
      guint8 *to = out + i * stride + direct * 64;
      const guint8 *from = tile->room.staging + i * plan->staging_stride;
      if (job->stream)
        job->kernels->stream (to, from, bytes - direct * 64);
      else
        memcpy (to, from, bytes - direct * 64);
    }
}

static void
run_tile (gsize item, guint thread, gpointer data)
{
  const SbBytesPlan *plan = data;
  const SbBlurJob *job = plan->job;
  const gint64 radius = plan->box.radius;
  const int x = (int)(item % plan->n_columns) * plan->columns;
  const int y = (int)(item / plan->n_columns) * plan->rows;
  Tile tile = { .plan = plan };
  guint8 *memory = plan->threads + thread * plan->thread_bytes;
  gsize *next = (gsize *)memory; /* the item after the one that the carries are of */
  const guint16 *enter[ROWS], *leave[ROWS];

  tile.rect
      = (SbRect){ plan->rect.x + x, plan->rect.y + y, MIN (plan->columns, plan->rect.width - x),
                  MIN (plan->rows, plan->rect.height - y) };
  tile.blocks = ((gsize)tile.rect.width + SB_BLOCK - 1) / SB_BLOCK;
  tile.edge = tile.rect.x <= radius
              || tile.rect.x + (gint64)tile.blocks * SB_BLOCK + radius >= job->source->width;
  tile.room.ring = memory += 64; /* the kernels read the sample before */
  tile.room.staging = memory += plan->ring * plan->row_bytes;
  tile.room.edge = memory += ROWS * plan->staging_stride;
  tile.room.sums = (gint32 *)(memory += plan->edge_bytes);
  tile.room.carries = memory + plan->sums_bytes;

  const gint64 first = tile.rect.y, stop = first + tile.rect.height;
  for (gsize i = 0; i < tile.blocks * SB_BLOCK_SAMPLES; i++)
    tile.room.sums[i] = plan->box.offset;
  tile.start = tile.made = (int)MAX (first - radius, 0);
  tile.carried = item % plan->n_columns > 0 && *next == item;
  *next = 0;
  make_rows (&tile, first + radius + 1);
  for (gint64 i = first - radius, alike; i <= first + radius; i += alike)
    {
      /* Above a picture that is not mirrored there is its first row only. */
      alike = job->mirror ? 1 : MAX (-i, 1);
      plan->kernels->add (tile.room.sums, row_at (&tile, i), tile.blocks, (gint32)alike);
    }
  for (gint64 at = first; at < stop; at += ROWS)
    {
      const gsize rows = (gsize)MIN (ROWS, stop - at);

      if (g_cancellable_is_cancelled (job->cancellable))
        return;
      make_rows (&tile, at + (gint64)rows + radius + 1);
      for (gsize i = 0; i < rows; i++)
        {
          enter[i] = row_at (&tile, at + (gint64)i + radius + 1);
          leave[i] = row_at (&tile, at + (gint64)i - radius);
        }
      write_rows (&tile, at, rows, enter, leave);
    }
  job->kernels->fence ();
  *next = item + 1;
}

gboolean
sb_bytes_plan_init (SbBytesPlan *plan, const SbBlurJob *job, const SbRect *rect)
{
  const int radius = (int)job->radius16 / 16;
  const guint n_threads = sb_parallel_get_n_threads (job->parallel);

  *plan = (SbBytesPlan){ .job = job, .kernels = sb_bytes_kernels (), .rect = *rect };
  if (plan->kernels == NULL || job->passes_h != 1 || job->passes_v != 1 || job->radius16 % 16 != 0
      || job->linear || job->mask != NULL || !job->source->opaque
      || job->source->format != SB_PIXELS_8 || job->target->format != SB_PIXELS_8)
    return FALSE;
  /* The edge rule must not reach back beyond what the ring holds. */
  if ((int)job->source->height <= radius + 1 || !sb_bytes_box_init (&plan->box, (guint)radius))
    return FALSE;

  plan->ring = 2 * (guint)radius + 1 + ROWS;
  /* Of the second cache, what the rows on their way and the target's lines leave; and not so much
   * of a row that its sums and its results have no room in the first. */
  const gint64 cache = (gint64)sb_memory_second_cache () / 2;
  const gint64 columns = CLAMP (cache / (8 * (gint64)plan->ring + 16), 8 * SB_BLOCK, 608);
  const gint64 n = (rect->width + columns - 1) / columns;
  plan->columns = (int)((rect->width + n - 1) / n + SB_BLOCK - 1) / SB_BLOCK * SB_BLOCK;
  plan->n_columns = (guint)((rect->width + plan->columns - 1) / plan->columns);
  /* Enough tiles for the threads; each begins with a window's rows that another one makes too. */
  guint wanted = n_threads == 1 ? 1 : (4 * n_threads + plan->n_columns - 1) / plan->n_columns;
  wanted = (guint)CLAMP (rect->height / MAX (8 * radius, 64), 1, (gint64)wanted);
  plan->rows = (int)((guint)rect->height + wanted - 1) / (int)wanted;
  plan->n_rows = (guint)((rect->height + plan->rows - 1) / plan->rows);

  const gsize blocks = (gsize)plan->columns / SB_BLOCK;
  plan->row_bytes = padded (blocks * SB_BLOCK_BYTES);
  plan->staging_stride = padded (blocks * 64);
  plan->edge_bytes = padded ((2 * (gsize)radius + 2 + blocks * SB_BLOCK) * 4);
  plan->sums_bytes = padded (blocks * SB_BLOCK_SAMPLES * 4);
  plan->thread_bytes = 64 + plan->ring * plan->row_bytes + ROWS * plan->staging_stride
                       + plan->edge_bytes + plan->sums_bytes
                       + padded (((gsize)plan->rows + plan->ring) * SB_CARRY_BYTES);
  return TRUE;
}

gboolean
sb_bytes_plan_run (const SbBytesPlan *plan)
{
  const guint n_threads = sb_parallel_get_n_threads (plan->job->parallel);

  for (guint i = 0; i < n_threads; i++)
    *(gsize *)(plan->threads + i * plan->thread_bytes) = 0; /* no tile was made */
  return sb_parallel_run (plan->job->parallel, (gsize)plan->n_columns * plan->n_rows, run_tile,
                          (gpointer)plan, plan->job->cancellable)
         && !g_cancellable_is_cancelled (plan->job->cancellable);
}
