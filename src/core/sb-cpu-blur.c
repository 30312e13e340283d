/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur.h"
#include "sb-arith.h"
#include "sb-cpu-blur-area.h"
#include "sb-cpu-blur-line.h"
#include "sb-cpu-blur-tone.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <string.h>
#include <glib/gi18n-lib.h>

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

#define GROUP       8           /* rows of a group, columns of a strip */
#define LOAD        128         /* pixels of a row group that are loaded at a time */
#define CACHE_BYTES (704 << 10) /* of the second cache, for a marching tile */
#define MARCH_ROWS  32

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
  /* From 4 MiB on it comes in huge pages. */
  bytes = MAX (bytes, (gsize)4 << 20);
  if (scratch->block.bytes < bytes)
    {
      sb_blur_scratch_trim (scratch);
      scratch->block.memory = sb_memory_alloc (bytes);
      if (scratch->block.memory != NULL)
        scratch->block.bytes = bytes;
    }
  return scratch->block.memory;
}

/* --- The job --------------------------------------------------------------------------------- */

typedef struct
{
  const SbBlurKernels *kernels;
  const SbSource *source;
  const SbTarget *target;
  const SbTone *tone;
  const SbBlurTone *small; /* of a linear edit */
  SbParallel *parallel;
  SbBlurScratch *scratch;
  GCancellable *cancellable;
  guint radius16, passes_h, passes_v;
  gboolean linear, mirror;
  const SbMask *mask; /* NULL: 65535 everywhere */
  gboolean stream;    /* the target is too large to stay in the caches */
} Job;

typedef struct
{
  const Job *job;
  SbRect rect;        /* kept */
  int x0, x1, y0, y1; /* with what the passes reach beyond */
  SbLineClass h, v;
  guint n_strips;
  gsize row_vectors;   /* memory of a row line */
  gsize strip_vectors; /* memory of a strip, from strip to strip */
  guint direct_strips; /* the first ones: they go from the last pass to the target at once */
  guint strips_at_once, staging_rows;
  gsize staging_stride;
  gint64 strip_origin; /* of two phases: a strip's first input */
  guint8 *strips;      /* of two phases; a marching tile has them in its thread's memory */
  guint8 *threads;
  gsize thread_bytes;
} Tile;

/* A thread's own memory. */
typedef struct
{
  SbAhead *ahead; /* NULL: the hardware sees for itself what comes */
  guint16 *row;
  guint8 *staging;
  SbLine *lines;
  guint16 *mask_row;
  guint32 *mask_sums;
  guint16 *strips;
} Room;

static gsize
padded (gsize bytes)
{
  /* An odd number of cache lines, so that equal places of neighbours fall into different sets. */
  return ((bytes + 63) / 64 | 1) * 64;
}

static void
room_layout (const Tile *tile, gboolean marching, guint thread, Room *room, gsize *bytes)
{
  guint8 *base = tile->threads == NULL ? NULL : tile->threads + thread * tile->thread_bytes;
  gsize at = 0;
  const gsize width = tile->strips_at_once * GROUP;

  room->ahead = NULL;

#define PLACE(field, type, size)                                                                   \
  G_STMT_START                                                                                     \
  {                                                                                                \
    room->field = base == NULL ? NULL : (type *)(base + at);                                       \
    at += padded (size);                                                                           \
  }                                                                                                \
  G_STMT_END
  PLACE (row, guint16, tile->row_vectors * SB_VECTOR_BYTES);
  PLACE (staging, guint8, tile->staging_rows * tile->staging_stride);
  PLACE (lines, SbLine, tile->strips_at_once * sizeof (SbLine));
  PLACE (mask_row, guint16, width * 2);
  PLACE (mask_sums, guint32, width * 4);
  PLACE (strips, guint16, marching ? tile->n_strips * tile->strip_vectors * SB_VECTOR_BYTES : 0);
#undef PLACE
  if (bytes != NULL)
    *bytes = at;
}

static gsize
pixel_bytes (SbPixelFormat format)
{
  return format == SB_PIXELS_8 ? 4 : 8;
}

/* --- Pixels that no pass touches ------------------------------------------------------------- */

/* A source pixel as straight, encoded 16 bits. */
static inline void
read_pixel (const Job *job, const guint8 *in, guint16 out[4])
{
  if (job->source->format == SB_PIXELS_8)
    {
      for (guint c = 0; c < 4; c++)
        out[c] = in[c] * 257;
      return;
    }
  memcpy (out, in, 8);
  if (job->source->format == SB_PIXELS_WORK)
    for (guint c = 0; c < 3; c++)
      {
        out[c] = sb_unpremultiply (out[c], out[3]);
        if (job->linear)
          out[c] = job->tone->encode[c][out[c]];
      }
}

static inline void
write_pixel (const Job *job, const guint16 in[4], guint8 *out)
{
  if (job->target->format == SB_PIXELS_8)
    for (guint c = 0; c < 4; c++)
      out[c] = sb_round_to_8 (in[c]);
  else
    memcpy (out, in, 8);
}

static const guint8 *
source_at (const Job *job, int x, int y)
{
  return job->source->pixels + (gsize)y * job->source->stride
         + (gsize)x * pixel_bytes (job->source->format);
}

static guint8 *
target_at (const Job *job, int x, int y)
{
  return job->target->pixels + (gsize)(y - job->target->rect.y) * job->target->stride
         + (gsize)(x - job->target->rect.x) * pixel_bytes (job->target->format);
}

typedef struct
{
  const Job *job;
  SbRect rect;
  guint rows; /* of an item */
} CopyJob;

static void
copy_rows (gsize item, guint thread, gpointer data)
{
  const CopyJob *copy = data;
  const Job *job = copy->job;
  const SbRect *rect = &copy->rect;
  const gsize in_step = pixel_bytes (job->source->format);
  const gsize out_step = pixel_bytes (job->target->format);
  const int from = rect->y + (int)(item * copy->rows);
  const int to = MIN (from + (int)copy->rows, rect->y + rect->height);

  for (int y = from; y < to; y++)
    {
      const guint8 *in = source_at (job, rect->x, y);
      guint8 *out = target_at (job, rect->x, y);
      if (job->source->format == job->target->format)
        {
          memcpy (out, in, (gsize)rect->width * out_step);
          continue;
        }
      for (int x = 0; x < rect->width; x++, in += in_step, out += out_step)
        {
          guint16 pixel[4];
          read_pixel (job, in, pixel);
          write_pixel (job, pixel, out);
        }
    }
}

static gboolean
copy_rect (const Job *job, const SbRect *rect)
{
  CopyJob copy = { job, *rect, (guint)CLAMP (65536 / rect->width, 1, 256) };

  return sb_parallel_run (job->parallel, ((gsize)rect->height + copy.rows - 1) / copy.rows,
                          copy_rows, &copy, job->cancellable);
}

/* --- Horizontal ------------------------------------------------------------------------------ */

/* Line rows y .. y + 7 of the tile through the horizontal passes, then into place in the strips,
 * the first of which gets them at `out`. */
static void
row_group (const Tile *tile, const Room *room, gint64 y, guint16 *out)
{
  const Job *job = tile->job;
  const SbSource *source = job->source;
  const SbBlurKernels *kernels = job->kernels;
  const gsize step = pixel_bytes (source->format);
  const gint64 capacity = (gint64)tile->row_vectors - GROUP;
  const guint8 *rows[GROUP];
  SbLine line;
  gint64 have = 0, given = tile->h.first;

  for (gint64 i = 0; i < GROUP; i++)
    rows[i] = source_at (job, tile->x0, (int)MIN (tile->y0 + y + i, tile->y1 - 1));
  sb_line_init (&tile->h, &line);
  while (given < tile->h.stop)
    {
      const gint64 count = MIN (LOAD, tile->h.length - have);
      if (line.origin + have + count > capacity)
        sb_line_shift (&line, room->row, have, sb_line_behind (&tile->h, &line, given));
      guint16 *in = sb_line_input (&tile->h, &line, room->row, have);
      if (source->format != SB_PIXELS_8)
        {
          kernels->load_16 (rows, (gsize)count, in);
          if (source->format == SB_PIXELS_16 && job->linear)
            for (gint64 i = 0; i < count * SB_VECTOR; i += 4)
              for (gint64 c = 0; c < 3; c++)
                in[i + c] = job->tone->decode[c][in[i + c] ^ 0x8000] ^ 0x8000;
        }
      else if (job->linear)
        kernels->decode_8 (job->small, rows, (gsize)count, in);
      else
        kernels->load_8 (rows, (gsize)count, in);
      if (!source->opaque && source->format != SB_PIXELS_WORK)
        kernels->premultiply (in, (gsize)count);
      for (guint i = 0; i < GROUP; i++)
        rows[i] += (gsize)count * step;
      have += count;

      sb_line_advance (&tile->h, &line, NULL, room->row, 0, have, tile->h.stop, NULL, room->ahead);
      const gint64 done = MIN (sb_line_done (&tile->h, &line, have), tile->h.stop);
      /* The last block may lack some columns; what stands in their place is not read on. */
      const gint64 blocks
          = done == tile->h.stop ? (done - given + GROUP - 1) / GROUP : (done - given) / GROUP;
      if (blocks <= 0)
        continue;
      kernels->transpose (
          sb_line_result (&tile->h, &line, room->row, given),
          out + (gsize)((given - tile->h.first) / GROUP) * tile->strip_vectors * SB_VECTOR,
          tile->strip_vectors * SB_VECTOR, (gsize)blocks);
      given += blocks * GROUP;
    }
}

/* --- Vertical -------------------------------------------------------------------------------- */

/* Blends one row of results, 16 bits, into the source by the mask, and writes it. */
static void
blend_row (const Job *job, const guint16 *mask, const guint16 *result, int x, int y, guint width)
{
  const guint8 *in = source_at (job, x, y);
  guint8 *out = target_at (job, x, y);
  const gsize in_step = pixel_bytes (job->source->format);
  const gsize out_step = pixel_bytes (job->target->format);
  const gboolean same = job->source->format == job->target->format;

  for (guint i = 0; i < width; i++, in += in_step, out += out_step, result += 4)
    {
      guint16 pixel[4];
      if (mask[i] == 0 && same)
        {
          memcpy (out, in, out_step);
          continue;
        }
      if (mask[i] == 65535)
        {
          write_pixel (job, result, out);
          continue;
        }
      read_pixel (job, in, pixel);
      if (mask[i] != 0)
        {
          const guint32 a = pixel[3];
          for (guint c = 0; c < 3; c++)
            pixel[c] = sb_blend (pixel[c], a, result[c], result[3], mask[i], &pixel[3]);
        }
      write_pixel (job, pixel, out);
    }
}

/* Results of the last pass into straight, encoded pixels. */
static void
finish (const Job *job, guint16 *vectors, gsize count, guint8 *out, gsize stride, gboolean to_8)
{
  const SbBlurKernels *kernels = job->kernels;

  if (!job->source->opaque)
    kernels->unpremultiply (vectors, count);
  if (to_8 && job->linear)
    {
      kernels->encode_8 (job->small, vectors, out, stride, count);
      return;
    }
  if (job->linear)
    for (gsize i = 0; i < count * SB_VECTOR; i += 4)
      for (gsize c = 0; c < 3; c++)
        vectors[i + c] = job->tone->encode[c][vectors[i + c] ^ 0x8000] ^ 0x8000;
  if (to_8)
    kernels->store_8 (vectors, out, stride, count);
  else
    kernels->store_16 (vectors, out, stride, count);
}

/* Results from .. to - 1 of strips first .. first + n - 1 to the target. */
static void
emit (const Tile *tile, const Room *room, guint16 *strips, guint first, guint n, gint64 from,
      gint64 to, SbMaskWindow *window)
{
  const Job *job = tile->job;
  const SbBlurKernels *kernels = job->kernels;
  const gsize rows = (gsize)(to - from);
  const gsize stride = tile->staging_stride;
  const int x = tile->rect.x + (int)first * GROUP, y = tile->y0 + (int)from;
  const guint width = (guint)MIN ((int)n * GROUP, tile->rect.x + tile->rect.width - x);
  const gboolean to_8 = job->target->format == SB_PIXELS_8 && job->mask == NULL;

  for (guint s = 0; s < n && !tile->v.last_to_8; s++)
    for (gint64 y0 = from, count; y0 < to; y0 += count)
      {
        guint16 *memory = strips + s * tile->strip_vectors * SB_VECTOR;
        guint16 *vectors = sb_line_result (&tile->v, &room->lines[s], memory, y0);
        guint8 *out
            = room->staging + (gsize)(y0 - from) * stride + (gsize)s * GROUP * (to_8 ? 4 : 8);
        count = MIN (to - y0, tile->v.ring - (vectors - memory) / SB_VECTOR);
        finish (job, vectors, (gsize)count, out, stride, to_8);
      }
  if (job->mask == NULL)
    {
      const guint direct = tile->direct_strips > first ? MIN (tile->direct_strips - first, n) : 0;
      const gsize at = (gsize)direct * GROUP * pixel_bytes (job->target->format);
      const gsize bytes = width * pixel_bytes (job->target->format);
      guint8 *out = target_at (job, x, y);
      const guint8 *in = room->staging;

      for (gsize i = 0; i < rows && at < bytes; i++)
        {
          if (job->stream)
            kernels->stream (out + at, in + at, bytes - at);
          else
            memcpy (out + at, in + at, bytes - at);
          out += job->target->stride;
          in += stride;
        }
      return;
    }
  for (gsize i = 0; i < rows; i++)
    {
      sb_mask_window_next (window, room->mask_row);
      blend_row (job, room->mask_row, (const guint16 *)(room->staging + i * stride), x, y + (int)i,
                 width);
    }
}

static void
start_mask (const Tile *tile, const Room *room, guint first, guint n, SbMaskWindow *window)
{
  const int x = tile->rect.x + (int)first * GROUP;

  if (tile->job->mask != NULL)
    sb_mask_window_start (window, tile->job->mask, x,
                          MIN (x + (int)n * GROUP, tile->rect.x + tile->rect.width), tile->rect.y,
                          room->mask_sums);
}

/* The strips as far as `have` rows allow, in portions that fit the staging; returns the next result
 * to come. */
static gint64
advance (const Tile *tile, const Room *room, guint16 *strips, guint first, guint n, gint64 have,
         gint64 given, SbMaskWindow *window)
{
  const gsize step = tile->strip_vectors * SB_VECTOR;

  while (given < tile->v.stop)
    {
      const gint64 limit = MIN (given + tile->staging_rows, tile->v.stop);
      for (guint s = 0; s < n; s += 2)
        {
          guint16 *memory = strips + s * step;
          const int x = tile->rect.x + (int)(first + s) * GROUP;
          const gboolean direct = first + s < tile->direct_strips;
          const SbBytes bytes
              = { direct ? target_at (tile->job, x, tile->y0 + (int)given)
                         : room->staging + s * GROUP * 4,
                  given, direct ? tile->job->target->stride : tile->staging_stride };
          const SbBytes next_bytes = { bytes.pixels + GROUP * 4, given, bytes.step };
          const gboolean both = s + 1 < n && (direct || !tile->v.last_to_8);

          sb_line_advance (&tile->v, &room->lines[s], both ? &room->lines[s + 1] : NULL, memory,
                           step, have, limit, &bytes, room->ahead);
          if (s + 1 < n && !both)
            sb_line_advance (&tile->v, &room->lines[s + 1], NULL, memory + step, 0, have, limit,
                             &next_bytes, room->ahead);
        }
      const gint64 done = MIN (sb_line_done (&tile->v, &room->lines[0], have), limit);
      if (done <= given)
        break;
      emit (tile, room, strips, first, n, given, done, window);
      given = done;
    }
  return given;
}

/* --- Marching -------------------------------------------------------------------------------- */

typedef struct
{
  const Job *job;
  SbRect rect;
  int columns, rows; /* of an item */
  guint n_columns, n_rows;
  Tile tile; /* of full size; an item makes its own from it */
} March;

static void tile_place (Tile *tile, const SbRect *rect);

static void
march (gsize item, guint thread, gpointer data)
{
  const March *plan = data;
  const SbRect *rect = &plan->rect;
  Tile tile = plan->tile;
  Room room;
  SbMaskWindow window = { 0 };
  SbAhead ahead = { 0 };
  const int x = (int)(item % plan->n_columns) * plan->columns;
  const int y = (int)(item / plan->n_columns) * plan->rows;

  tile_place (&tile, &(SbRect){ rect->x + x, rect->y + y, MIN (plan->columns, rect->width - x),
                                MIN (plan->rows, rect->height - y) });
  room_layout (&tile, TRUE, thread, &room, NULL);
  for (guint s = 0; s < tile.n_strips; s++)
    sb_line_init (&tile.v, &room.lines[s]);
  start_mask (&tile, &room, 0, tile.n_strips, &window);
  const SbSource *source = plan->job->source;
  ahead.bytes = (gsize)(tile.x1 - tile.x0) * pixel_bytes (source->format);
  ahead.stride = source->stride;
  /* All of the next portion while this one is worked on, and a little sooner. */
  ahead.step
      = GROUP * pixel_bytes (source->format) * 5 / 4 / MAX (tile.h.passes + tile.v.passes, 1) + 1;
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
          ahead.row = source_at (plan->job, tile.x0, tile.y0 + (int)(have + rows));
          ahead.at = 0;
          ahead.rows = next;
        }
      for (gint64 i = 0; i < rows; i += GROUP)
        row_group (&tile, &room, have + i,
                   sb_line_input (&tile.v, &room.lines[0], room.strips, have + i));
      have += rows;
      if (g_cancellable_is_cancelled (plan->job->cancellable))
        return;
      given = advance (&tile, &room, room.strips, 0, tile.n_strips, have, given, &window);
    }
  plan->job->kernels->fence ();
}

/* --- Two phases ------------------------------------------------------------------------------ */

static void
phase_rows (gsize item, guint thread, gpointer data)
{
  const Tile *tile = data;
  const gint64 y = (gint64)item * GROUP;
  Room room;

  room_layout (tile, FALSE, thread, &room, NULL);
  row_group (tile, &room, y, (guint16 *)tile->strips + (tile->strip_origin + y) * SB_VECTOR);
}

static void
phase_columns (gsize item, guint thread, gpointer data)
{
  const Tile *tile = data;
  const guint first = (guint)item * tile->strips_at_once;
  const guint n = MIN (tile->strips_at_once, tile->n_strips - first);
  SbMaskWindow window = { 0 };
  Room room;

  room_layout (tile, FALSE, thread, &room, NULL);
  for (guint s = 0; s < n; s++)
    sb_line_init (&tile->v, &room.lines[s]);
  start_mask (tile, &room, first, n, &window);
  advance (tile, &room, (guint16 *)tile->strips + (gsize)first * tile->strip_vectors * SB_VECTOR,
           first, n, tile->v.length, tile->v.first, &window);
}

/* --- Tiles ----------------------------------------------------------------------------------- */

/* Sets what depends on the tile's place and size; the rest of `tile` stands. */
static void
tile_place (Tile *tile, const SbRect *rect)
{
  const Job *job = tile->job;
  const int reach = (int)(job->radius16 + 15) / 16 + 1; /* of one pass, see SbLineClass.lag */
  const int reach_h = reach * (int)job->passes_h, reach_v = reach * (int)job->passes_v;

  tile->rect = *rect;
  tile->x0 = MAX (rect->x - reach_h, 0);
  tile->x1 = (int)MIN ((gint64)rect->x + rect->width + reach_h, job->source->width);
  tile->y0 = MAX (rect->y - reach_v, 0);
  tile->y1 = (int)MIN ((gint64)rect->y + rect->height + reach_v, job->source->height);
  tile->n_strips = ((guint)rect->width + GROUP - 1) / GROUP;

  tile->h.length = tile->x1 - tile->x0;
  tile->h.first = rect->x - tile->x0;
  tile->h.stop = tile->h.first + rect->width;
  tile->v.length = tile->y1 - tile->y0;
  tile->v.first = rect->y - tile->y0;
  tile->v.stop = tile->v.first + rect->height;
  sb_line_class_init (&tile->h);
  sb_line_class_init (&tile->v);

  const gboolean whole_lines = tile->v.last_to_8 && job->kernels->walk_8_pair != NULL && job->stream
                               && (guintptr)target_at (job, rect->x, rect->y) % 64 == 0
                               && job->target->stride % 64 == 0;
  tile->direct_strips = whole_lines ? (guint)rect->width / (2 * GROUP) * 2 : 0;
}

static void
tile_init (Tile *tile, const Job *job)
{
  const SbBoxLimits limits = job->kernels->limits;

  *tile = (Tile){ .job = job };
  tile->h.kernels = tile->v.kernels = job->kernels;
  tile->h.mirror = tile->v.mirror = job->mirror;
  tile->h.ring = tile->v.ring = SB_NO_RING;
  tile->h.passes = job->passes_h;
  tile->v.passes = job->passes_v;
  sb_box_init (&tile->h.box, job->radius16, FALSE, limits);
  tile->v.box = tile->h.box;
  /* Where nothing comes between the last pass and the rounding to 8 bits, they are one. */
  tile->v.last_to_8 = job->passes_v > 0 && job->source->opaque && !job->linear && job->mask == NULL
                      && job->target->format == SB_PIXELS_8
                      && sb_box_init (&tile->v.last, job->radius16, TRUE, limits);
}

/* Memory for a row line: all of it where it is short, otherwise a window. */
static void
set_row_vectors (Tile *tile)
{
  tile->row_vectors
      = (gsize)MIN (sb_line_class_memory (&tile->h), 2 * sb_line_class_span (&tile->h) + 3 * LOAD)
        + GROUP;
}

static gsize
odd_blocks (gsize vectors)
{
  return (((vectors + GROUP - 1) / GROUP) | 1) * GROUP;
}

static gsize
staging_stride (const Job *job, guint strips)
{
  const gboolean bytes = job->target->format == SB_PIXELS_8 && job->mask == NULL;
  return padded ((gsize)strips * GROUP * (bytes ? 4 : 8));
}

static gboolean
out_of_memory (const Job *job, GError **error)
{
  g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
               _ ("There is not enough memory to blur %u × %u pixels."), job->source->width,
               job->source->height);
  return FALSE;
}

static gboolean
cancelled (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _ ("Cancelled"));
  return FALSE;
}

/* Blurs a rectangle by marching. *done is FALSE where the windows are too large for it. */
static gboolean
blur_marching (const Job *job, const SbRect *rect, gboolean *done, GError **error)
{
  March plan = { job, *rect };
  Tile *tile = &plan.tile;
  const guint n_threads = sb_parallel_get_n_threads (job->parallel);

  *done = FALSE;
  tile_init (tile, job);
  tile_place (tile, rect);
  /* A line that the windows see all of at once is no case for a ring. */
  if (2 * sb_line_class_span (&tile->v) > tile->v.length)
    return TRUE;
  const gint64 span = sb_line_class_span (&tile->v) + 2 * GROUP;
  const gint64 reach_h = tile->h.passes * tile->h.lag;
  const gint64 reach_v = tile->v.passes * tile->v.lag;
  const gint64 window = (gint64)odd_blocks ((gsize)span + MARCH_ROWS);
  gint64 columns = CACHE_BYTES / (window * SB_VECTOR_BYTES) * GROUP;

  if (columns < 4 * reach_h && columns < rect->width)
    return TRUE;
  /* Even tiles, and enough of them for the threads. */
  guint n = (guint)((rect->width + columns - 1) / columns);
  /* Pairs of strips, so that every tile writes whole lines of the target where the first does. */
  plan.columns = (int)((rect->width + n - 1) / n + 2 * GROUP - 1) / (2 * GROUP) * (2 * GROUP);
  plan.n_columns = (guint)((rect->width + plan.columns - 1) / plan.columns);
  guint wanted = n_threads == 1 ? 1 : (4 * n_threads + plan.n_columns - 1) / plan.n_columns;
  wanted = (guint)CLAMP (rect->height / MAX (8 * reach_v, 64), 1, (gint64)wanted);
  plan.rows = (int)((guint)rect->height + wanted - 1) / (int)wanted;
  plan.n_rows = (guint)((rect->height + plan.rows - 1) / plan.rows);

  tile_place (tile, &(SbRect){ rect->x, rect->y, MIN (plan.columns, rect->width), plan.rows });
  set_row_vectors (tile);
  /* A tile inside the picture reaches out on both sides. */
  tile->row_vectors
      = (gsize)MIN ((gint64)tile->row_vectors + 2 * reach_h,
                    2 * sb_line_class_span (&tile->h) + 3 * LOAD + GROUP + 2 * reach_h);
  tile->strip_vectors = (gsize)window;
  tile->v.ring = window;
  tile->strips_at_once = tile->n_strips;
  tile->staging_rows = MARCH_ROWS;
  tile->staging_stride = staging_stride (job, tile->n_strips);
  Room room;
  room_layout (tile, TRUE, 0, &room, &tile->thread_bytes);
  tile->threads = scratch_get (job->scratch, tile->thread_bytes * n_threads);
  if (tile->threads == NULL)
    return out_of_memory (job, error);
  *done = TRUE;
  if (!sb_parallel_run (job->parallel, (gsize)plan.n_columns * plan.n_rows, march, &plan,
                        job->cancellable)
      || g_cancellable_is_cancelled (job->cancellable))
    return cancelled (error);
  return TRUE;
}

static gboolean
blur_phases (const Job *job, const SbRect *rect, GError **error)
{
  const guint n_threads = sb_parallel_get_n_threads (job->parallel);
  const gsize pixels = (gsize)job->source->width * job->source->height;
  const gsize budget = MAX ((gsize)32 << 20, pixels * 4);
  Tile tile;
  int columns = rect->width;

  tile_init (&tile, job);
  for (;;)
    {
      tile_place (&tile, &(SbRect){ rect->x, rect->y, columns, rect->height });
      tile.strip_vectors = odd_blocks ((gsize)sb_line_class_memory (&tile.v) + GROUP);
      const gsize bytes = tile.n_strips * tile.strip_vectors * SB_VECTOR_BYTES;
      const int reach_h = (int)(tile.h.passes * tile.h.lag);
      if (bytes <= budget || columns <= 2 * reach_h || columns <= GROUP)
        break;
      columns = (columns / 2 + GROUP - 1) / GROUP * GROUP;
    }
  const int step = columns;
  gsize row_vectors = 0;
  /* The widest of them decides about the memory. */
  for (int x = 0; x < rect->width; x += step)
    {
      tile_place (&tile,
                  &(SbRect){ rect->x + x, rect->y, MIN (step, rect->width - x), rect->height });
      set_row_vectors (&tile);
      row_vectors = MAX (row_vectors, tile.row_vectors);
    }
  tile_place (&tile, &(SbRect){ rect->x, rect->y, step, rect->height });
  tile.row_vectors = row_vectors;
  /* Strips side by side fill whole lines of the target; a portion is long against the windows, so
   * that changing from one to the next is rare. */
  tile.strips_at_once = MIN (4, tile.n_strips);
  tile.staging_rows = (guint)CLAMP (sb_line_class_span (&tile.v), 64, 1024);
  tile.staging_stride = staging_stride (job, tile.strips_at_once);
  const gsize strips = padded (tile.n_strips * tile.strip_vectors * SB_VECTOR_BYTES);
  Room room;
  room_layout (&tile, FALSE, 0, &room, &tile.thread_bytes);
  guint8 *memory = scratch_get (job->scratch, strips + tile.thread_bytes * n_threads);
  if (memory == NULL)
    return out_of_memory (job, error);
  tile.strips = memory;
  tile.strip_origin = (tile.v.passes * tile.v.drift + 7) & ~(gint64)7;
  tile.threads = memory + strips;
  for (int x = 0; x < rect->width; x += step)
    {
      tile_place (&tile,
                  &(SbRect){ rect->x + x, rect->y, MIN (step, rect->width - x), rect->height });
      if (!sb_parallel_run (job->parallel, ((gsize)tile.v.length + GROUP - 1) / GROUP, phase_rows,
                            &tile, job->cancellable)
          || !sb_parallel_run (job->parallel,
                               (tile.n_strips + tile.strips_at_once - 1) / tile.strips_at_once,
                               phase_columns, &tile, job->cancellable))
        return cancelled (error);
    }
  return TRUE;
}

static gboolean
blur_rect (const Job *job, const SbRect *rect, GError **error)
{
  gboolean done;

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
  Job job = { .kernels = sb_blur_kernels (),
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
    return copy_rect (&job, rect) || cancelled (error);
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
      if (parts[i].zero && !copy_rect (&job, &parts[i].rect))
        return cancelled (error);
    }
  return TRUE;
}
