/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-area.h"
#include "sb-cuda-private.h"

#include <math.h>
#include <string.h>

/* The mask of an area, 16 bits a pixel of the whole picture, made on the host by the same code as
 * the CPU uses, and kept on the device until the area changes: sliders of the edit do not touch it.
 */
static gboolean
load_mask (SbBackend *self, const SbMask *mask, GError **error)
{
  const gsize width = self->picture.width, height = self->picture.height;
  const gsize bytes = 2 * width * height;

  if (self->has_mask && memcmp (&self->mask_area, &mask->area, sizeof (SbArea)) == 0)
    return TRUE;
  self->has_mask = FALSE;
  g_autofree guint16 *rows = g_try_malloc (bytes);
  g_autofree guint32 *sums = g_try_new (guint32, width);
  if (rows == NULL || sums == NULL)
    return sb_cuda_check (self, cudaErrorMemoryAllocation, "mask", error);
  if (!sb_cuda_reserve (self, &self->mask, bytes, error))
    return FALSE;

  SbMaskWindow window;
  sb_mask_window_start (&window, mask, 0, (int)width, 0, sums);
  for (gsize y = 0; y < height; y++)
    sb_mask_window_next (&window, rows + y * width);
  if (!sb_cuda_check (
          self,
          cudaMemcpyAsync (self->mask.data, rows, bytes, cudaMemcpyHostToDevice, self->compute),
          "mask", error)
      || !sb_cuda_check (self, cudaStreamSynchronize (self->compute), "mask", error))
    return FALSE;
  self->mask_area = mask->area;
  self->has_mask = TRUE;
  return TRUE;
}

gboolean
sb_cuda_edit (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
              const SbCudaPicture *target, GError **error)
{
  const double radius = edit->values[SB_BLUR_RADIUS];
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  const SbRect whole = { 0, 0, source->width, source->height };
  SbMaskPart parts[5] = { { whole, FALSE } };
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
    .tone = self->tone_tables,
    .work_stride = sb_cuda_stride ((guint)source->width, 16),
  };

  if (edit->area.shape != SB_AREA_WHOLE)
    {
      SbMask mask;
      sb_mask_init (&mask, &edit->area, (guint)source->width, (guint)source->height);
      if (!load_mask (self, &mask, error))
        return FALSE;
      blur.mask = self->mask.data;
      blur.mask_stride = 2 * (gsize)source->width;
      n_parts = sb_mask_split (&mask, &whole, parts);
    }

  for (guint i = 0; i < n_parts; i++)
    {
      const SbRect *r = &parts[i].rect;
      if (parts[i].zero)
        {
          if (!sb_cuda_check (
                  self,
                  sb_cuda_convert (source, target, r->x, r->y, r->width, r->height, self->compute),
                  "convert", error))
            return FALSE;
          continue;
        }
      blur.x = r->x;
      blur.y = r->y;
      blur.width = r->width;
      blur.height = r->height;
      const gsize bytes = blur.work_stride * (gsize)source->height;
      if (!sb_cuda_reserve (self, &self->work[0], bytes, error))
        return FALSE;
      blur.work = self->work[0].data;
      blur.work2 = NULL;
      if (sb_cuda_blur_needs_second (&self->limits, &blur))
        {
          if (!sb_cuda_reserve (self, &self->work[1], bytes, error))
            return FALSE;
          blur.work2 = self->work[1].data;
        }
      if (!sb_cuda_check (self, sb_cuda_blur (&self->limits, &blur, self->compute), "blur", error))
        return FALSE;
    }
  return TRUE;
}
