/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-area.h"
#include "sb-cuda-private.h"

#include <math.h>
#include <string.h>

/* How `work` is shared out. It has room for one picture of 16 bits and a little. A blur of the
 * whole picture whose columns take one launch uses all of it. Where more is asked for, a second
 * picture between launches of the columns, or, where pictures of 16 bits leave no memory for it
 * elsewhere, a mask (2 bytes a pixel, at the end), the blur is done in strips of columns, as wide
 * as what is left has room for. */

/* The widest reads of the kernels, in pixels: strips begin at a multiple of it. */
#define STRIP_UNIT 32

/* So that half the columns, and what is kept free behind them, take half the room. */
#define SPARE_BYTES 1024

gboolean
sb_cuda_reserve_work (SbBackend *self, SbCudaBuffer *work, guint width, guint height,
                      GError **error)
{
  return sb_cuda_reserve_picture (self, work, width + SPARE_BYTES / 8, height, 16, error);
}

static gsize
mask_bytes (SbBackend *self)
{
  return (sb_cuda_mask_stride (self->picture.width) * self->picture.height + 255) / 256 * 256;
}

/* The mask of an area, 16 bits a pixel of the whole picture, kept until the area changes or its
 * room is needed. */
static gboolean
load_mask (SbBackend *self, const SbMask *mask, guint16 *at, GError **error)
{
  const gsize height = self->picture.height, span_bytes = height * 2 * sizeof (gint32);
  const int f = (int)mask->area.feather;
  const gsize n_values = 2 * (gsize)f + 2, value_bytes = (n_values * sizeof (guint16) + 3) / 4 * 4;

  if (self->mask_at == at && memcmp (&self->mask_area, &mask->area, sizeof (SbArea)) == 0)
    return TRUE;
  self->mask_at = NULL;
  if (!sb_cuda_reserve (self, &self->spans, span_bytes + sizeof mask->values, error))
    return FALSE;

  g_autofree gint32 *spans = g_malloc0 (span_bytes + value_bytes);
  for (gsize y = 0; y < height; y++)
    {
      gint64 from, to;
      sb_mask_span (mask, (gint64)y, &from, &to);
      if (from >= to)
        continue;
      /* Ends are repeated. */
      spans[2 * y] = (gint32)(from == 0 ? -f : from);
      spans[2 * y + 1] = (gint32)(to == (gint64)self->picture.width ? to + f : to);
    }
  memcpy (spans + 2 * height, mask->values, n_values * sizeof (guint16));

  const gsize bytes = span_bytes + value_bytes;
  const SbCudaPicture to = { self->spans.data, bytes, (int)(bytes / 4), 1, 8 };
  const SbCudaMask made = {
    .width = (int)self->picture.width,
    .height = (int)height,
    .feather = f,
    .spans = self->spans.data,
    .values = (const guint16 *)((const guint8 *)self->spans.data + span_bytes),
    .stride = sb_cuda_mask_stride (self->picture.width),
  };
  if (!sb_cuda_upload (self, &to, (const guint8 *)spans, bytes, error)
      || !sb_cuda_check (self, sb_cuda_mask (&made, at, self->compute), "mask", error))
    return FALSE;
  self->mask_area = mask->area;
  self->mask_at = at;
  return TRUE;
}

/* The blur with buffers for the whole picture. */
static gboolean
run_whole (SbBackend *self, SbCudaBlur *blur, void *work, void *work2, GError **error)
{
  blur->work = work;
  blur->work2 = work2;
  blur->work_stride = sb_cuda_stride (self->picture.width, 16);
  return sb_cuda_check (self, sb_cuda_blur (&self->limits, blur, self->compute), "blur", error);
}

/* The blur of the rect, in strips of columns where `room` bytes of `work` are too few for it as a
 * whole. */
static gboolean
run_strips (SbBackend *self, SbCudaBlur *blur, gsize room, GError **error)
{
  const int needs = sb_cuda_blur_needs (&self->limits, blur);
  const gsize n = needs & SB_CUDA_NEEDS_SECOND ? 2 : 1;
  const int width = blur->source.width, height = blur->source.height;
  const gsize whole = sb_cuda_stride (self->picture.width, 16) * (gsize)height;

  if (n * whole <= room)
    return run_whole (self, blur, self->work.data, (guint8 *)self->work.data + whole, error);

  const int reach = (blur->radius + 1) * blur->passes;
  const gboolean all_rows = (needs & SB_CUDA_NEEDS_ALL_ROWS) != 0;
  const int top = all_rows ? 0 : MAX (blur->y - reach, 0);
  const int bottom = all_rows ? height : MIN (blur->y + blur->height + reach, height);
  const gsize rows = (gsize)(bottom - top);
  /* A row of 256 bytes more than its strip: kernels read in units. */
  const gsize most = room / n / rows / 256 * 256;
  const int columns = most > 256 ? (int)MIN ((most - 256) / 8, (gsize)G_MAXINT / 2) : 0;
  const int first = blur->x / STRIP_UNIT * STRIP_UNIT, end = blur->x + blur->width;

  if ((needs & SB_CUDA_NEEDS_ALL_COLUMNS && columns < width) || columns < STRIP_UNIT)
    {
      /* Lines so long that several launches go over them whole. */
      const guint pictures = room < whole ? 2 : 1;
      if (!sb_cuda_reserve_picture (self, &self->second, (guint)width, pictures * (guint)height, 16,
                                    error))
        return FALSE;
      guint8 *second = self->second.data;
      return room < whole ? run_whole (self, blur, second, second + whole, error)
                          : run_whole (self, blur, self->work.data, second, error);
    }
  const int widest = columns / STRIP_UNIT * STRIP_UNIT;
  const int n_strips = (end - first + widest - 1) / widest;
  const int step
      = ((end - first + n_strips - 1) / n_strips + STRIP_UNIT - 1) / STRIP_UNIT * STRIP_UNIT;
  const SbRect rect = { blur->x, blur->y, blur->width, blur->height };
  for (int x = first; x < end; x += step)
    {
      const int to = MIN (x + step, end), strip = (to - x + STRIP_UNIT - 1) / STRIP_UNIT;
      blur->x = MAX (x, rect.x);
      blur->width = to - blur->x;
      blur->work_stride = (gsize)strip * STRIP_UNIT * 8 + 256;
      /* Where pixel (0, 0) would be. */
      const gsize origin = (gsize)top * blur->work_stride + 8 * (gsize)x;
      blur->work = (guint8 *)self->work.data - origin;
      blur->work2 = (guint8 *)self->work.data + blur->work_stride * rows - origin;
      if (!sb_cuda_check (self, sb_cuda_blur (&self->limits, blur, self->compute), "blur", error))
        return FALSE;
    }
  return TRUE;
}

/* Bands need nothing of `work` but its mask. */
static gboolean
edit_bands (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
            const SbCudaPicture *target, const SbRect *rect, GError **error)
{
  SbMaskPart parts[5];
  SbMask mask;

  if (edit->area.shape == SB_AREA_WHOLE)
    return sb_cuda_bands_edit (self, edit, source, target, rect, NULL, error);

  if (!sb_cuda_reserve_work (self, &self->work, self->picture.width, self->picture.height, error))
    return FALSE;
  guint16 *at = (guint16 *)((guint8 *)self->work.data + self->work.bytes - mask_bytes (self));
  sb_mask_init (&mask, &edit->area, self->picture.width, self->picture.height);
  if (!load_mask (self, &mask, at, error))
    return FALSE;
  const guint n_parts = sb_mask_split (&mask, rect, parts);
  for (guint i = 0; i < n_parts; i++)
    {
      const SbRect *r = &parts[i].rect;
      const gboolean done
          = parts[i].zero ? sb_cuda_check (
                self,
                sb_cuda_convert (source, target, r->x, r->y, r->width, r->height, self->compute),
                "convert", error)
                          : sb_cuda_bands_edit (self, edit, source, target, r, at, error);
      if (!done)
        return FALSE;
    }
  return TRUE;
}

gboolean
sb_cuda_edit (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
              const SbCudaPicture *target, const SbRect *rect, GError **error)
{
  const double radius = edit->values[SB_BLUR_RADIUS];
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  SbMaskPart parts[5] = { { *rect, FALSE } };
  guint n_parts = 1;
  SbCudaBlur blur = {
    .source = *source,
    .target = *target,
    .radius = (int)floor (radius),
    .fraction = (int)floor ((radius - floor (radius)) * 16 + 0.5),
    .passes = (int)edit->values[SB_BLUR_PASSES],
    .mirror = (int)edit->values[SB_BLUR_EDGE] == SB_EDGE_MIRROR,
    .linear = edit->values[SB_BLUR_LINEAR] != 0,
    .opaque = self->opaque,
    .horizontal = direction != SB_DIRECTION_VERTICAL,
    .vertical = direction != SB_DIRECTION_HORIZONTAL,
    .x = rect->x,
    .y = rect->y,
    .width = rect->width,
    .height = rect->height,
    .tone = self->tone_tables,
    .work_stride = sb_cuda_stride (self->picture.width, 16),
  };
  gsize room;

  if (edit->kind == SB_EDIT_BANDS)
    return edit_bands (self, edit, source, target, rect, error);
  if (!sb_cuda_reserve_work (self, &self->work, self->picture.width, self->picture.height, error))
    return FALSE;
  room = self->work.bytes;
  if (edit->area.shape != SB_AREA_WHOLE)
    {
      const int needs = sb_cuda_blur_needs (&self->limits, &blur);
      SbMask mask;
      sb_mask_init (&mask, &edit->area, self->picture.width, self->picture.height);
      n_parts = sb_mask_split (&mask, rect, parts);
      guint16 *at = (guint16 *)((guint8 *)self->work.data + room - mask_bytes (self));
      /* Narrow pictures leave no room for strips beside it. */
      if (self->picture.depth == 8 || needs & SB_CUDA_NEEDS_ALL_COLUMNS
          || self->picture.width < 256)
        {
          if (!sb_cuda_reserve (self, &self->mask, mask_bytes (self), error))
            return FALSE;
          at = self->mask.data;
        }
      else
        room -= mask_bytes (self);
      if (!load_mask (self, &mask, at, error))
        return FALSE;
      blur.mask = at;
      blur.mask_stride = sb_cuda_mask_stride (self->picture.width);
    }
  else if (self->mask_at != self->mask.data)
    self->mask_at = NULL; /* its room is in use */

  for (guint i = 0; i < n_parts; i++)
    {
      const SbRect *r = &parts[i].rect;
      blur.x = r->x;
      blur.y = r->y;
      blur.width = r->width;
      blur.height = r->height;
      const gboolean done
          = parts[i].zero ? sb_cuda_check (
                self,
                sb_cuda_convert (source, target, r->x, r->y, r->width, r->height, self->compute),
                "convert", error)
                          : run_strips (self, &blur, room, error);
      if (!done)
        return FALSE;
    }
  return TRUE;
}
