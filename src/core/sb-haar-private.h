/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-haar.h"
#include "sb-parallel.h"

G_BEGIN_DECLS

/* What the files of the transform share. */

/* A band, or any plane of floats: `stride` floats from row to row. */
typedef struct
{
  float *values;
  gsize stride;
  guint columns, rows;
} SbHaarPlane;

/* All bands of a transform, in the order of sb_haar_nth_band(). */
typedef struct
{
  guint width, height, depth; /* of the picture */
  SbHaarChoice choice;
  SbHaarPlane planes[1 + 3 * SB_HAAR_MAX_LEVELS];
} SbHaarBands;

struct _SbHaar
{
  gatomicrefcount references;
  SbHaarBands set;
  SbImage *image; /* NULL: not known */
  float *memory;
};

/* With room for the bands, without padding, of undefined contents. SB_ERROR_OUT_OF_MEMORY. */
SbHaar *sb_haar_alloc (guint width, guint height, guint depth, const SbHaarChoice *choice,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Whether the choice is one for a picture of this size: SB_ERROR_INVALID names what is allowed. */
gboolean sb_haar_check (const SbHaarChoice *choice, guint width, guint height, GError **error);
/* The samples of a channel of pixels of 8 or 16 bits, as floats. */
void sb_haar_samples (const guint8 *pixels, gsize n, guint depth, SbHaarChannel channel,
                      float *samples);
/* One level of whole planes, plainly: a, h, v, d have the sizes of the next level. */
void sb_haar_forward_plane (const SbHaarPlane *from, const SbHaarPlane *a, const SbHaarPlane *h,
                            const SbHaarPlane *v, const SbHaarPlane *d);
void sb_haar_inverse_plane (const SbHaarPlane *a, const SbHaarPlane *h, const SbHaarPlane *v,
                            const SbHaarPlane *d, const SbHaarPlane *to);

/* --- sb-haar-measure.c ----------------------------------------------------------------------- */

/* What one pass over a band finds, in the orthonormal scale, 2^level times the plane's. */
typedef struct
{
  double mean, deviation, energy;
  float low, high;
  guint64 near_zero;
} SbHaarTotals;

/* All of these give the same with any number of threads; parallel NULL: in the calling thread.
 * Cancelled: what comes back is of no use. */
/* Of all bands, totals[sb_haar_n_bands()]; the energy of all of them. */
double sb_haar_bands_totals (const SbHaarBands *set, SbHaarTotals *totals, SbParallel *parallel,
                             GCancellable *cancellable);
/* total: the energy of all bands. FALSE: out of memory. */
gboolean sb_haar_plane_measure (const SbHaarPlane *plane, guint level, const SbHaarTotals *totals,
                                double total, SbHaarStatistics *statistics, SbParallel *parallel,
                                GCancellable *cancellable);
/* From cD1 and its totals. FALSE: out of memory. */
gboolean sb_haar_plane_noise (const SbHaarPlane *plane, const SbHaarTotals *totals, double *noise,
                              SbParallel *parallel, GCancellable *cancellable);

G_END_DECLS
