/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-bands.h"
#include "sb-cpu-fold.h"
#include "sb-cpu-preview.h"
#include "sb-cpu-reduce.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <math.h>

void
sb_cpu_buffer_clear (SbCpuBuffer *buffer)
{
  sb_memory_free (buffer->pixels, buffer->bytes);
  *buffer = (SbCpuBuffer){ NULL, 0 };
}

gboolean
sb_cpu_buffer_reserve (SbCpuBuffer *buffer, gsize bytes, GError **error)
{
  if (buffer->bytes >= bytes)
    return TRUE;
  sb_cpu_buffer_clear (buffer);
  buffer->pixels = sb_memory_alloc (bytes);
  if (buffer->pixels == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory to render the picture"));
      return FALSE;
    }
  buffer->bytes = bytes;
  return TRUE;
}

void
sb_cpu_fold_init (SbCpuFold *fold, SbParallel *parallel)
{
  *fold = (SbCpuFold){ .parallel = parallel, .scratch = sb_blur_scratch_new () };
}

void
sb_cpu_fold_trim (SbCpuFold *fold)
{
  sb_pyramid_clear (&fold->work);
  fold->work_of = NULL;
  sb_cpu_buffer_clear (&fold->between[0]);
  sb_cpu_buffer_clear (&fold->between[1]);
  sb_blur_scratch_trim (fold->scratch);
}

void
sb_cpu_fold_clear (SbCpuFold *fold)
{
  sb_cpu_fold_trim (fold);
  g_clear_pointer (&fold->scratch, sb_blur_scratch_free);
}

void
sb_cpu_fold_forget (SbCpuFold *fold, const guint8 *pixels)
{
  if (fold->work_of == pixels)
    fold->work_of = NULL;
}

SbSource
sb_cpu_picture_source (const SbPicture *picture)
{
  return (SbSource){
    .format = picture->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = picture->width,
    .height = picture->height,
    .pixels = picture->pixels,
    .stride = picture->stride,
    .opaque = picture->opaque,
  };
}

static SbSource
level_source (const SbPyramid *pyramid, guint level, gboolean opaque)
{
  const SbLevel *from = &pyramid->levels[level];

  return (SbSource){
    .format = from->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_WORK,
    .width = from->width,
    .height = from->height,
    .pixels = from->pixels,
    .stride = from->stride,
    .opaque = opaque,
  };
}

/* What a list of edits starts from at a level, in the space of its first edit; that may be opaque
 * bytes only where `bytes`. */
static gboolean
get_start (SbCpuFold *fold, const SbPicture *picture, const SbPyramid *encoded, guint level,
           gboolean linear, gboolean bytes, SbSource *source, GCancellable *cancellable,
           GError **error)
{
  const SbSource whole = sb_cpu_picture_source (picture);

  if (level == 0)
    {
      *source = whole;
      return TRUE;
    }
  if (encoded != NULL && !linear && level <= encoded->n_levels
      && (bytes || encoded->levels[level].depth == 16))
    {
      *source = level_source (encoded, level, picture->opaque);
      return TRUE;
    }
  if (fold->work_of != picture->pixels || fold->work_linear != linear)
    {
      sb_pyramid_invalidate (&fold->work);
      fold->work_of = picture->pixels;
      fold->work_linear = linear;
    }
  return sb_pyramid_get_work (&fold->work, &whole, linear ? picture->tone : NULL, level, source,
                              fold->parallel, cancellable, error);
}

static guint
side_at (guint side, guint level)
{
  return (guint)(((guint64)side + ((guint64)1 << level) - 1) >> level);
}

/* The pixels of an edit's input that `rect` of its output is made from. */
static SbRect
reach (const SbEdit *edit, const SbRect *rect, guint width, guint height)
{
  if (edit->kind == SB_EDIT_BANDS)
    return sb_cpu_bands_reach (edit, rect, width, height);

  const int by
      = (int)edit->values[SB_BLUR_PASSES] * ((int)floor (edit->values[SB_BLUR_RADIUS]) + 1);
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  const int dx = direction == SB_DIRECTION_VERTICAL ? 0 : by;
  const int dy = direction == SB_DIRECTION_HORIZONTAL ? 0 : by;
  const int x0 = MAX (rect->x - dx, 0), y0 = MAX (rect->y - dy, 0);
  const int x1 = MIN (rect->x + rect->width + dx, (int)width);
  const int y1 = MIN (rect->y + rect->height + dy, (int)height);

  return (SbRect){ x0, y0, x1 - x0, y1 - y0 };
}

guint
sb_cpu_fold_reach (const SbEdit *edits, guint n_edits)
{
  guint sum = 0;

  for (guint i = 0; i < n_edits; i++)
    sum += edits[i].kind == SB_EDIT_BANDS
               ? 1u << MIN ((guint)edits[i].values[SB_BANDS_LEVELS], 16)
               : (guint)edits[i].values[SB_BLUR_PASSES]
                     * ((guint)floor (edits[i].values[SB_BLUR_RADIUS]) + 1);
  return sum;
}

/* Whether the edit works in linear light. */
static gboolean
is_linear (const SbEdit *edit)
{
  return edit->kind == SB_EDIT_BLUR && edit->values[SB_BLUR_LINEAR] != 0;
}

gboolean
sb_cpu_fold_run (SbCpuFold *fold, const SbPicture *picture, const SbPyramid *encoded,
                 const SbEdit *edits, guint n_edits, guint level, const SbTarget *target,
                 GCancellable *cancellable, GError **error)
{
  SbEdit nothing;
  sb_edit_init (&nothing, SB_EDIT_BLUR);
  nothing.values[SB_BLUR_RADIUS] = 0;
  nothing.values[SB_BLUR_LINEAR] = 0;
  if (n_edits == 0)
    {
      edits = &nothing;
      n_edits = 1;
    }

  g_autofree SbEdit *scaled = g_new (SbEdit, n_edits);
  g_autofree SbRect *rects = g_new (SbRect, n_edits);
  sb_preview_scale (edits, n_edits, level, scaled);

  const guint from = sb_preview_from (&edits[0], level);
  SbSource source;
  if (!get_start (fold, picture, encoded, from, is_linear (&scaled[0]), from < level, &source,
                  cancellable, error))
    return FALSE;
  const guint width = side_at (picture->width, level), height = side_at (picture->height, level);
  rects[n_edits - 1] = target->rect;
  for (guint i = n_edits - 1; i > 0; i--)
    rects[i - 1] = reach (&scaled[i], &rects[i], width, height);

  for (guint i = 0; i < n_edits; i++)
    {
      SbTarget to = *target;
      if (i + 1 < n_edits)
        {
          SbCpuBuffer *buffer = &fold->between[i & 1];
          const gsize stride = (gsize)width * 8;
          if (!sb_cpu_buffer_reserve (buffer, stride * height, error))
            return FALSE;
          to = (SbTarget){ .format = SB_PIXELS_16,
                           .rect = rects[i],
                           .pixels
                           = buffer->pixels + (gsize)rects[i].y * stride + (gsize)rects[i].x * 8,
                           .stride = stride };
        }
      const gboolean done
          = i == 0 && from < level
                ? sb_cpu_reduce (&source, picture->width, picture->height, from, level, &edits[0],
                                 picture->tone, &to, fold->parallel, cancellable, error)
            : scaled[i].kind == SB_EDIT_BANDS
                ? sb_cpu_bands (&source, &scaled[i], &to, fold->parallel, cancellable, error)
                : sb_cpu_blur (&source, &scaled[i], picture->tone, &to, fold->parallel,
                               fold->scratch, cancellable, error);
      if (!done)
        return FALSE;
      source = (SbSource){ .format = SB_PIXELS_16,
                           .width = width,
                           .height = height,
                           .pixels = fold->between[i & 1].pixels,
                           .stride = (gsize)width * 8,
                           .opaque = picture->opaque };
    }
  return TRUE;
}
