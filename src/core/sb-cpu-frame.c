/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-frame.h"
#include "sb-memory.h"

#include <string.h>

SbCpuFrame *
sb_cpu_frame_new (const SbPicture *picture)
{
  SbCpuFrame *frame = g_new0 (SbCpuFrame, 1);

  g_atomic_ref_count_init (&frame->references);
  frame->width = picture->width;
  frame->height = picture->height;
  frame->depth = picture->depth;
  frame->opaque = picture->opaque;
  return frame;
}

SbCpuFrame *
sb_cpu_frame_ref (SbCpuFrame *frame)
{
  g_atomic_ref_count_inc (&frame->references);
  return frame;
}

void
sb_cpu_frame_unref (SbCpuFrame *frame)
{
  if (frame == NULL || !g_atomic_ref_count_dec (&frame->references))
    return;
  sb_image_unref (frame->image);
  sb_pyramid_clear (&frame->pyramid);
  sb_memory_free (frame->pixels, frame->bytes);
  g_free (frame);
}

gboolean
sb_cpu_frame_is_free (SbCpuFrame *frame)
{
  return frame != NULL && g_atomic_ref_count_compare (&frame->references, 1);
}

SbShowSource
sb_cpu_frame_source (const SbCpuFrame *frame, double zoom)
{
  SbShowSource source = {
    .width = frame->width,
    .height = frame->height,
    .depth = frame->depth,
    .alpha = frame->opaque ? SB_ALPHA_OPAQUE : SB_ALPHA_STRAIGHT,
  };

  if (frame->image == NULL)
    {
      source.level = frame->level;
      source.rect = frame->rect;
      source.pixels = frame->pixels;
      source.stride = (gsize)frame->rect.width * (frame->depth / 2);
      return source;
    }
  source.level = MIN (sb_engine_level_for_zoom (zoom), frame->pyramid.n_levels);
  if (source.level == 0)
    {
      source.rect = (SbRect){ 0, 0, (int)frame->width, (int)frame->height };
      source.pixels = sb_image_get_pixels (frame->image);
      source.stride = sb_image_get_stride (frame->image);
      return source;
    }
  const SbLevel *level = &frame->pyramid.levels[source.level];
  source.rect = (SbRect){ 0, 0, (int)level->width, (int)level->height };
  source.pixels = level->pixels;
  source.stride = level->stride;
  source.depth = level->depth;
  source.alpha = frame->opaque ? SB_ALPHA_OPAQUE : SB_ALPHA_PREMULTIPLIED;
  return source;
}

gboolean
sb_cpu_frame_pick (const SbCpuFrame *frame, int x, int y, guint16 rgba[4])
{
  const SbShowSource source = sb_cpu_frame_source (frame, 1.0);
  const int u = (x >> source.level) - source.rect.x, v = (y >> source.level) - source.rect.y;

  if (u < 0 || v < 0 || u >= source.rect.width || v >= source.rect.height)
    return FALSE;
  const guint8 *row = source.pixels + (gsize)v * source.stride;
  if (source.depth == 16)
    memcpy (rgba, row + 8 * (gsize)u, 8);
  else
    for (guint c = 0; c < 4; c++)
      rgba[c] = (guint16)(row[4 * (gsize)u + c] * 257);
  return TRUE;
}
