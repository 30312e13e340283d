/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur.h"

G_BEGIN_DECLS

/* A small blur and the averaging of its result into pixels of a preview's level, as one filter.
 *
 * A box of a few pixels cannot be had on a level where it is hardly a pixel wide: what is averaged
 * first has lost what the box would have let through. Here every pixel of level `to` is a weighted
 * sum of the pixels of a finer level `from` (0: the picture itself): per axis the adjoint of the
 * passes, edges included, of the pixel's own footprint. From level 0 that is the averaged result
 * but for the rounding between the passes, and for tone curves: in linear light the sum is encoded
 * once for a pixel of `to`, where the averaged result has the mean of encoded pixels.
 *
 * source: level `from` of a picture of width x height, of the edit's space (SB_PIXELS_WORK) or the
 * picture itself at level 0; or SB_PIXELS_8 that stands for encoded, opaque pixels of any level.
 * edit: a blur with the radius of the full-size picture; its area is not looked at. target: rect in
 * pixels of level `to`. Errors as sb_cpu_blur(). */
gboolean sb_cpu_reduce (const SbSource *source, guint width, guint height, guint from, guint to,
                        const SbEdit *edit, const SbTone *tone, const SbTarget *target,
                        SbParallel *parallel, GCancellable *cancellable, GError **error);

G_END_DECLS
