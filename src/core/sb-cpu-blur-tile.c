/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-tile.h"

#include <string.h>

void
sb_blur_tile_room (const SbBlurTile *tile, gboolean marching, guint thread, SbBlurRoom *room,
                   gsize *bytes)
{
  guint8 *base = tile->threads == NULL ? NULL : tile->threads + thread * tile->thread_bytes;
  gsize at = 0;
  const gsize width = tile->strips_at_once * SB_GROUP;

  room->ahead = NULL;

#define PLACE(field, type, size)                                                                   \
  G_STMT_START                                                                                     \
  {                                                                                                \
    room->field = base == NULL ? NULL : (type *)(base + at);                                       \
    at += sb_padded (size);                                                                        \
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

void
sb_blur_tile_place (SbBlurTile *tile, const SbRect *rect)
{
  const SbBlurJob *job = tile->job;
  const int reach = (int)(job->radius16 + 15) / 16 + 1; /* of one pass, see SbLineClass.lag */
  const int reach_h = reach * (int)job->passes_h, reach_v = reach * (int)job->passes_v;

  tile->rect = *rect;
  tile->x0 = MAX (rect->x - reach_h, 0);
  tile->x1 = (int)MIN ((gint64)rect->x + rect->width + reach_h, job->source->width);
  tile->y0 = MAX (rect->y - reach_v, 0);
  tile->y1 = (int)MIN ((gint64)rect->y + rect->height + reach_v, job->source->height);
  tile->n_strips = ((guint)rect->width + SB_GROUP - 1) / SB_GROUP;

  tile->h.length = tile->x1 - tile->x0;
  tile->h.first = rect->x - tile->x0;
  tile->h.stop = tile->h.first + rect->width;
  tile->v.length = tile->y1 - tile->y0;
  tile->v.first = rect->y - tile->y0;
  tile->v.stop = tile->v.first + rect->height;
  sb_line_class_init (&tile->h);
  sb_line_class_init (&tile->v);

  const gboolean whole_lines = tile->v.last_to_8 && job->kernels->walk_8_pair != NULL && job->stream
                               && (guintptr)sb_blur_job_target (job, rect->x, rect->y) % 64 == 0
                               && job->target->stride % 64 == 0;
  tile->direct_strips = whole_lines ? (guint)rect->width / (2 * SB_GROUP) * 2 : 0;
}

void
sb_blur_tile_init (SbBlurTile *tile, const SbBlurJob *job)
{
  const SbBoxLimits limits = job->kernels->limits;

  *tile = (SbBlurTile){ .job = job };
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

void
sb_blur_tile_set_row_vectors (SbBlurTile *tile)
{
  tile->row_vectors = (gsize)MIN (sb_line_class_memory (&tile->h),
                                  2 * sb_line_class_span (&tile->h) + 3 * SB_LOAD)
                      + SB_GROUP;
}

gsize
sb_blur_tile_staging_stride (const SbBlurJob *job, guint strips)
{
  const gboolean bytes = job->target->format == SB_PIXELS_8 && job->mask == NULL;
  return sb_padded ((gsize)strips * SB_GROUP * (bytes ? 4 : 8));
}

/* --- Rows ------------------------------------------------------------------------------------ */

void
sb_blur_tile_rows (const SbBlurTile *tile, const SbBlurRoom *room, gint64 y, guint16 *out)
{
  const SbBlurJob *job = tile->job;
  const SbSource *source = job->source;
  const SbBlurKernels *kernels = job->kernels;
  const gsize step = sb_pixel_bytes (source->format);
  const gint64 capacity = (gint64)tile->row_vectors - SB_GROUP;
  const guint8 *rows[SB_GROUP];
  SbLine line;
  gint64 have = 0, given = tile->h.first;

  for (gint64 i = 0; i < SB_GROUP; i++)
    rows[i] = sb_blur_job_source (job, tile->x0, (int)MIN (tile->y0 + y + i, tile->y1 - 1));
  sb_line_init (&tile->h, &line);
  while (given < tile->h.stop)
    {
      const gint64 count = MIN (SB_LOAD, tile->h.length - have);
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
      for (guint i = 0; i < SB_GROUP; i++)
        rows[i] += (gsize)count * step;
      have += count;

      sb_line_advance (&tile->h, &line, NULL, room->row, 0, have, tile->h.stop, NULL, room->ahead);
      const gint64 done = MIN (sb_line_done (&tile->h, &line, have), tile->h.stop);
      /* The last block may lack some columns; what stands in their place is not read on. */
      const gint64 blocks = done == tile->h.stop ? (done - given + SB_GROUP - 1) / SB_GROUP
                                                 : (done - given) / SB_GROUP;
      if (blocks <= 0)
        continue;
      kernels->transpose (
          sb_line_result (&tile->h, &line, room->row, given),
          out + (gsize)((given - tile->h.first) / SB_GROUP) * tile->strip_vectors * SB_VECTOR,
          tile->strip_vectors * SB_VECTOR, (gsize)blocks);
      given += blocks * SB_GROUP;
    }
}

/* --- Columns --------------------------------------------------------------------------------- */

/* Results of the last pass into straight, encoded pixels. */
static void
finish (const SbBlurJob *job, guint16 *vectors, gsize count, guint8 *out, gsize stride,
        gboolean to_8)
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
emit (const SbBlurTile *tile, const SbBlurRoom *room, guint16 *strips, guint first, guint n,
      gint64 from, gint64 to, SbMaskWindow *window)
{
  const SbBlurJob *job = tile->job;
  const SbBlurKernels *kernels = job->kernels;
  const gsize rows = (gsize)(to - from);
  const gsize stride = tile->staging_stride;
  const int x = tile->rect.x + (int)first * SB_GROUP, y = tile->y0 + (int)from;
  const guint width = (guint)MIN ((int)n * SB_GROUP, tile->rect.x + tile->rect.width - x);
  const gboolean to_8 = job->target->format == SB_PIXELS_8 && job->mask == NULL;

  for (guint s = 0; s < n && !tile->v.last_to_8; s++)
    for (gint64 y0 = from, count; y0 < to; y0 += count)
      {
        guint16 *memory = strips + s * tile->strip_vectors * SB_VECTOR;
        guint16 *vectors = sb_line_result (&tile->v, &room->lines[s], memory, y0);
        guint8 *out
            = room->staging + (gsize)(y0 - from) * stride + (gsize)s * SB_GROUP * (to_8 ? 4 : 8);
        count = MIN (to - y0, tile->v.ring - (vectors - memory) / SB_VECTOR);
        finish (job, vectors, (gsize)count, out, stride, to_8);
      }
  if (job->mask == NULL)
    {
      const guint direct = tile->direct_strips > first ? MIN (tile->direct_strips - first, n) : 0;
      const gsize at = (gsize)direct * SB_GROUP * sb_pixel_bytes (job->target->format);
      const gsize bytes = width * sb_pixel_bytes (job->target->format);
      guint8 *out = sb_blur_job_target (job, x, y);
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
      sb_blur_job_blend_row (job, room->mask_row, (const guint16 *)(room->staging + i * stride), x,
                             y + (int)i, width);
    }
}

void
sb_blur_tile_start_mask (const SbBlurTile *tile, const SbBlurRoom *room, guint first, guint n,
                         SbMaskWindow *window)
{
  const int x = tile->rect.x + (int)first * SB_GROUP;

  if (tile->job->mask != NULL)
    sb_mask_window_start (window, tile->job->mask, x,
                          MIN (x + (int)n * SB_GROUP, tile->rect.x + tile->rect.width),
                          tile->rect.y, room->mask_sums);
}

gint64
sb_blur_tile_advance (const SbBlurTile *tile, const SbBlurRoom *room, guint16 *strips, guint first,
                      guint n, gint64 have, gint64 given, SbMaskWindow *window)
{
  const gsize step = tile->strip_vectors * SB_VECTOR;

  while (given < tile->v.stop)
    {
      const gint64 limit = MIN (given + tile->staging_rows, tile->v.stop);
      for (guint s = 0; s < n; s += 2)
        {
          guint16 *memory = strips + s * step;
          const int x = tile->rect.x + (int)(first + s) * SB_GROUP;
          const gboolean direct = first + s < tile->direct_strips;
          const SbBytes bytes
              = { direct ? sb_blur_job_target (tile->job, x, tile->y0 + (int)given)
                         : room->staging + s * SB_GROUP * 4,
                  given, direct ? tile->job->target->stride : tile->staging_stride };
          const SbBytes next_bytes = { bytes.pixels + SB_GROUP * 4, given, bytes.step };
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
