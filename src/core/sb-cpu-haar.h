/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur.h"
#include "sb-haar-private.h"
#include "sb-kernel-haar.h"

G_BEGIN_DECLS

/* The transform on the CPU, and what is done with it. */

/* --- sb-cpu-haar.c --------------------------------------------------------------------------- */

/* A transform that is kept: reference-counted, never changed while others can see it. */
typedef struct
{
  gatomicrefcount references;
  SbHaarBands set;
  SbHaarPlane means; /* cA of the level down to which bands of rows are made at once */
  float *memory;
  gsize bytes;
} SbCpuHaar;

/* What one pass over bands of rows makes; deeper levels are made of its means. */
#define SB_CPU_HAAR_LEVELS 5

/* Room for the bands of a picture. SB_ERROR_OUT_OF_MEMORY. */
SbCpuHaar *sb_cpu_haar_new (guint width, guint height, guint depth, const SbHaarChoice *choice,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbCpuHaar *sb_cpu_haar_ref (SbCpuHaar *haar);
void sb_cpu_haar_unref (SbCpuHaar *haar); /* NULL is nothing */
/* Whether the caller has the only reference, and it has this form. FALSE for NULL. */
gboolean sb_cpu_haar_fits (SbCpuHaar *haar, guint width, guint height, guint depth,
                           const SbHaarChoice *choice);
/* Fills the bands from straight pixels of 8 or 16 bits. G_IO_ERROR_CANCELLED. */
gboolean sb_cpu_haar_transform (SbCpuHaar *haar, const SbSource *source, SbParallel *parallel,
                                GCancellable *cancellable, GError **error);
/* The largest distance of what the inverse makes of the bands from the source's samples. Negative:
 * cancelled, or out of memory. */
double sb_cpu_haar_error (const SbCpuHaar *haar, const SbSource *source, SbParallel *parallel,
                          GCancellable *cancellable);

/* --- sb-cpu-haar-show.c ---------------------------------------------------------------------- */

/* How a plane stands in for a band of the mosaic: a value v of it for 2^shift x 2^shift
 * coefficients, as v * scale, of a detail `offset` further away from zero. */
typedef struct
{
  guint shift;
  float scale, offset;
} SbCpuHaarStand;

/* Draws a view of the mosaic. stands: of each plane; NULL: all are the bands themselves.
 * SB_ERROR_OUT_OF_MEMORY. Any thread. */
gboolean sb_cpu_haar_show_stands (const SbView *view, const SbHaarBands *set,
                                  const SbCpuHaarStand *stands, guint8 *rgba, gsize stride,
                                  SbParallel *parallel, GError **error);
gboolean sb_cpu_haar_show (const SbView *view, const SbHaarBands *set, guint8 *rgba, gsize stride,
                           SbParallel *parallel, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbCpuHaar, sb_cpu_haar_unref)

G_END_DECLS
