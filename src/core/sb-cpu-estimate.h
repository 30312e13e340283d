/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-haar.h"

G_BEGIN_DECLS

/* What is seen of the bands that a PREVIEW cannot have.
 *
 * A PREVIEW of level L has the bands above L. Those up to L would need the whole picture at full
 * size, which is an EXACT render. Until that comes they are estimated, frame by frame. How large
 * they are is measured in the edited picture itself, in a few strips of it at full size. Where they
 * are is taken from one of two patterns, for each band the one that fits the strips better: the
 * band of the picture that the edits start from, which is right for small changes; or the PREVIEW's
 * own finest band, as fine details of what has been blurred are its slopes. A line is fitted to
 * magnitudes:
 *
 *   |estimate| = scale * |pattern| + offset,
 *
 * the offset being what rounding leaves everywhere. Patterns of the start are kept at half of
 * a band's size each way, the largest in magnitude of 2 x 2 coefficients, as a mosaic that is
 * reduced shows them. */

/* Each way, in powers of two. */
#define SB_CPU_ESTIMATE_SHIFT 1
/* Finer levels than this are not estimated: no window is so small. */
#define SB_CPU_ESTIMATE_LEVELS SB_CPU_HAAR_LEVELS
/* By 3 * (level - 1) + orientation H, V, D. */
#define SB_CPU_ESTIMATE_BANDS  (3 * SB_CPU_ESTIMATE_LEVELS)
#define SB_CPU_ESTIMATE_STRIPS 3

typedef struct
{
  SbHaarChoice choice; /* levels 0: nothing is known */
  const guint8 *of;    /* the pixels of the start */
  SbCpuHaar *pooled;
  guint n_strips; /* strips of the most detail, from different parts of the picture */
  SbRect strips[SB_CPU_ESTIMATE_STRIPS];
} SbCpuEstimate;

typedef struct
{
  gboolean coarse; /* the pattern is the PREVIEW's finest band of this orientation */
  float scale, offset;
} SbCpuEstimateFit;

/* What the edits start from, and a way to have a part of what they make of it: `target` is of 8 or
 * 16 bits, the document's depth. */
typedef struct
{
  SbSource picture;
  gboolean (*render) (gpointer data, const SbTarget *target, GCancellable *cancellable,
                      GError **error);
  gpointer data;
  guint reach; /* how far away a pixel has to do with another */
} SbCpuStart;

void sb_cpu_estimate_clear (SbCpuEstimate *estimate);
/* Makes the estimate one for this start and choice, from `haar`, its transform. FALSE: out of
 * memory. */
gboolean sb_cpu_estimate_begin (SbCpuEstimate *estimate, const SbHaarChoice *choice,
                                const SbCpuStart *start, const SbCpuHaar *haar,
                                SbParallel *parallel, GCancellable *cancellable, GError **error);
gboolean sb_cpu_estimate_is_of (const SbCpuEstimate *estimate, const SbHaarChoice *choice,
                                const SbCpuStart *start);
/* Fits the bands of levels 1 .. n_levels; preview: the transform of the picture reduced by 2^level.
 */
gboolean sb_cpu_estimate_fit (const SbCpuEstimate *estimate, const SbCpuStart *start,
                              const SbCpuHaar *preview, guint level, guint n_levels,
                              SbCpuEstimateFit *fits, SbParallel *parallel,
                              GCancellable *cancellable, GError **error);

G_END_DECLS
