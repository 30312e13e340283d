/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur.h"
#include "sb-cpu-blur-area.h"
#include "sb-cpu-blur-tone.h"

G_BEGIN_DECLS

/* One call of sb_cpu_blur(), and the pixels of it that no pass touches. */

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
} SbBlurJob;

static inline gsize
sb_pixel_bytes (SbPixelFormat format)
{
  return format == SB_PIXELS_8 ? 4 : 8;
}

static inline const guint8 *
sb_blur_job_source (const SbBlurJob *job, int x, int y)
{
  return job->source->pixels + (gsize)y * job->source->stride
         + (gsize)x * sb_pixel_bytes (job->source->format);
}

static inline guint8 *
sb_blur_job_target (const SbBlurJob *job, int x, int y)
{
  return job->target->pixels + (gsize)(y - job->target->rect.y) * job->target->stride
         + (gsize)(x - job->target->rect.x) * sb_pixel_bytes (job->target->format);
}

/* The source's pixels of a rectangle at the target's depth; FALSE where cancelled. */
gboolean sb_blur_job_copy (const SbBlurJob *job, const SbRect *rect);
/* Blends one row of results, straight and encoded at 16 bits, into the source by the mask, and
 * writes it. */
void sb_blur_job_blend_row (const SbBlurJob *job, const guint16 *mask, const guint16 *result, int x,
                            int y, guint width);

G_END_DECLS
