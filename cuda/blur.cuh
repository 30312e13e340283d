/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cuda-kernels.h"

#include "line.cuh"

/* What the parts of the blur share: rows.cu and columns.cu filter lines that lie in shared memory
 * (line.cuh), march.cu columns on the way down (march.cuh), small.cu lines shorter than a pass
 * reaches; blur.cu chooses. */

/* Windows up to here divide by the float forms; proven by the tests. */
#define SB_MAX_FLOAT_WINDOW 187

/* A launch over lines in shared memory. */
struct SbJob
{
  SbCudaBlur blur;
  SbWindow window;
  int passes;
  int first, last; /* lines: columns x or rows y, [first, last) */
  int begin, end;  /* wanted part of each line */
  int length;      /* of the picture along the line */
  int halo;        /* samples before and after a segment's kept part */
  int keep;        /* samples a segment keeps */
  int segments;
  int lines;    /* a block: 1, 2 or 4 */
  int pitch;    /* pixels of a line in shared memory */
  int pad;      /* of them before a line's first; a multiple of 4 */
  int groups;   /* of columns: blocks of a segment */
  int cluster;  /* blocks of a cluster */
  int scan;     /* long windows */
  int bulk;     /* the device copies in bulk */
  size_t table; /* rows: shared memory before the lines' */
  int from_source, to_target;
  int vertical;
  const char *in;
  char *out;
  size_t work_stride;
};

/* How lines are cut. */
struct SbPlan
{
  int threads, lines, segments, keep, halo;
  int len; /* of a segment with its halo, at most */
  size_t shared;
  double cost;
};

/* Pixels of a line that a thread has, and threads a block and blocks a multiprocessor at most:
 * bounds of the kernels' registers. */
#define SB_CHUNK          21
#define SB_ROW_THREADS    288
#define SB_ROW_BLOCKS     3
#define SB_COLUMN_THREADS 448
#define SB_COLUMN_BLOCKS  2
/* Of rows that are decoded from bytes. */
#define SB_ROW_TABLE ((size_t)16384)

/* Pixels that are bytes and stay so until the first pass has summed them. */
__host__ __device__ static inline int
sb_plain_source (const SbCudaBlur *b)
{
  return b->source.depth == 8 && b->opaque && !b->linear;
}

/* Results that are rounded to bytes and stored as they are. */
__host__ __device__ static inline int
sb_plain_target (const SbCudaBlur *b)
{
  return b->target.depth == 8 && b->opaque && !b->linear && b->mask == NULL;
}

cudaError_t sb_cuda_rows_prepare (const SbCudaLimits *limits);
cudaError_t sb_cuda_rows (const SbJob *job, const SbPlan *plan, int method, cudaStream_t stream);
cudaError_t sb_cuda_columns_prepare (const SbCudaLimits *limits);
/* Fills in groups and cluster. */
cudaError_t sb_cuda_columns (SbJob *job, const SbPlan *plan, int method, cudaStream_t stream);
cudaError_t sb_cuda_small_prepare (const SbCudaLimits *limits);
/* All of the job's lines at once, without segments. */
cudaError_t sb_cuda_small (const SbJob *job, cudaStream_t stream);

/* Whether one kernel does all of this blur. */
int sb_cuda_fused_can (const SbCudaLimits *limits, const SbCudaBlur *b);
cudaError_t sb_cuda_fused_prepare (const SbCudaLimits *limits);
cudaError_t sb_cuda_fused (const SbCudaLimits *limits, const SbCudaBlur *b, const SbWindow *window,
                           const SbWindow *across, int method, cudaStream_t stream);

cudaError_t sb_cuda_march_prepare (const SbCudaLimits *limits);
int sb_cuda_march_can (const SbCudaLimits *limits, const SbCudaBlur *b);
/* How many passes one march takes together. */
int sb_cuda_march_passes (const SbCudaLimits *limits, const SbCudaBlur *b);
cudaError_t sb_cuda_march (const SbCudaLimits *limits, const SbCudaBlur *b, const SbWindow *window,
                           int method, cudaStream_t stream);
