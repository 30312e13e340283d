/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur-job.h"
#include "sb-kernel-blur-bytes.h"

G_BEGIN_DECLS

/* One pass in each direction, of a whole radius, over an opaque picture of 8 bits and to 8 bits,
 * neither linear nor by a mask: the commonest blur and the one that memory bounds. It has kernels
 * of its own, which read the rows as they lie and need not turn them.
 *
 * A tile is a column of the picture some hundred pixels wide. A few rows of it at a time go through
 * the horizontal pass into a ring of the last 2R + 1 rows' results, 16 bits each, which stays in
 * the second cache; the sums of the columns take in what is new, let go of what is old, and give a
 * row of the target each. A thread that goes on to the tile to the right begins its rows with the
 * sums that the last tile's ended with. */

/* Whether a job's rectangle can be made so; then *bytes of memory a thread are needed. */
typedef struct _SbBytesPlan SbBytesPlan;

struct _SbBytesPlan
{
  const SbBlurJob *job;
  const SbBytesKernels *kernels;
  SbBytesBox box;
  SbRect rect;
  int columns, rows; /* of a tile */
  guint n_columns, n_rows;
  guint ring; /* rows */
  gsize row_bytes, staging_stride, edge_bytes, sums_bytes;
  gsize thread_bytes;
  guint8 *threads; /* n_threads * thread_bytes, to be set by the caller */
};

gboolean sb_bytes_plan_init (SbBytesPlan *plan, const SbBlurJob *job, const SbRect *rect);
/* FALSE where cancelled. */
gboolean sb_bytes_plan_run (const SbBytesPlan *plan);

G_END_DECLS
