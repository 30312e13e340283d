/* SPDX-License-Identifier: MIT */

#include "sb-cuda-haar.h"

/* What is measured of bands. Sums are doubles in an order that depends on the band's size alone:
 * the same input gives the same bits on every device and every time. */

#define THREADS 256

/* Coefficients four at a time, unit after unit; the last unit of a row may be cut. f (value) of
 * each. */
template <typename F>
__device__ __forceinline__ void
each_value (const SbCudaPlane &plane, F f)
{
  const unsigned units = (unsigned)(plane.columns + 3) / 4;
  const unsigned long long n = (unsigned long long)units * (unsigned)plane.rows;
  for (unsigned long long i = blockIdx.x * (unsigned)THREADS + threadIdx.x; i < n;
       i += (unsigned long long)gridDim.x * THREADS)
    {
      const unsigned y = n <= 0xffffffffu ? (unsigned)i / units : (unsigned)(i / units);
      const unsigned x = 4 * (unsigned)(i - (unsigned long long)y * units);
      const float4 v = __ldg ((const float4 *)(plane.values + (size_t)y * plane.stride + x));
      const int left = plane.columns - (int)x;
      f (v.x);
      if (left > 1)
        f (v.y);
      if (left > 2)
        f (v.z);
      if (left > 3)
        f (v.w);
    }
}

__device__ __forceinline__ double
block_sum (double x, double *shared)
{
  shared[threadIdx.x] = x;
  __syncthreads ();
  for (int k = THREADS / 2; k > 0; k >>= 1)
    {
      if ((int)threadIdx.x < k)
        shared[threadIdx.x] += shared[threadIdx.x + k];
      __syncthreads ();
    }
  x = shared[0];
  __syncthreads ();
  return x;
}

/* --- Sums ------------------------------------------------------------------------------------ */

struct Bands
{
  SbCudaPlane planes[SB_CUDA_HAAR_MAX_BANDS];
  int levels;
};

__device__ __forceinline__ int
level_of (int levels, int band)
{
  return band == 0 ? levels : levels - (band - 1) / 3;
}

__global__ void
__launch_bounds__ (THREADS) sums_kernel (const __grid_constant__ Bands bands, SbCudaSums *out)
{
  __shared__ double shared[THREADS];
  __shared__ float lows[THREADS], highs[THREADS];
  __shared__ unsigned long long zeros;
  const int band = (int)blockIdx.y;
  const float scale = (float)(1 << level_of (bands.levels, band));
  double sum = 0, squares = 0;
  float low = 3e38f, high = -3e38f;
  unsigned near_zero = 0;

  if (threadIdx.x == 0)
    zeros = 0;
  each_value (bands.planes[band], [&] (float v) {
    const float x = v * scale;
    const double d = (double)x;
    sum += d;
    squares += d * d;
    low = fminf (low, x);
    high = fmaxf (high, x);
    near_zero += fabsf (x) < 0.5f;
  });
  lows[threadIdx.x] = low;
  highs[threadIdx.x] = high;
  sum = block_sum (sum, shared);
  squares = block_sum (squares, shared);
  for (int k = 16; k > 0; k >>= 1)
    near_zero += __shfl_xor_sync (0xffffffffu, near_zero, k);
  if ((threadIdx.x & 31) == 0)
    atomicAdd (&zeros, (unsigned long long)near_zero);
  for (int k = THREADS / 2; k > 0; k >>= 1)
    {
      __syncthreads ();
      if ((int)threadIdx.x < k)
        {
          lows[threadIdx.x] = fminf (lows[threadIdx.x], lows[threadIdx.x + k]);
          highs[threadIdx.x] = fmaxf (highs[threadIdx.x], highs[threadIdx.x + k]);
        }
    }
  __syncthreads ();
  if (threadIdx.x == 0)
    out[band * SB_CUDA_SUM_BLOCKS + blockIdx.x]
        = SbCudaSums{ sum, squares, lows[0], highs[0], zeros };
}

/* The blocks of a band in their order, a thread a band. */
__global__ void
join_kernel (const SbCudaSums *parts, SbCudaSums *sums)
{
  const SbCudaSums *own = parts + threadIdx.x * SB_CUDA_SUM_BLOCKS;
  SbCudaSums all = own[0];
  for (int i = 1; i < SB_CUDA_SUM_BLOCKS; i++)
    {
      all.sum += own[i].sum;
      all.squares += own[i].squares;
      all.low = fminf (all.low, own[i].low);
      all.high = fmaxf (all.high, own[i].high);
      all.near_zero += own[i].near_zero;
    }
  sums[threadIdx.x] = all;
}

cudaError_t
sb_cuda_haar_sums (const SbCudaHaar *haar, SbCudaSums *sums, SbCudaSums *room, cudaStream_t stream)
{
  const int n = 1 + 3 * haar->levels;
  Bands bands = {};

  bands.levels = haar->levels;
  for (int i = 0; i < n; i++)
    bands.planes[i] = haar->bands[i];
  sums_kernel<<<dim3 (SB_CUDA_SUM_BLOCKS, (unsigned)n), THREADS, 0, stream>>> (bands, room);
  join_kernel<<<1, n, 0, stream>>> (room, sums);
  return cudaGetLastError ();
}

/* --- Histograms ------------------------------------------------------------------------------ */

#define PLOT_BINS 255
/* Bins of width 1 around the mean that a block counts for itself: most coefficients are there. */
#define NEAR_BINS 8192

/* The integer nearest to x, halves up. */
__device__ __forceinline__ int
nearest (float x)
{
  const float whole = floorf (x);
  return (int)whole + (x - whole >= 0.5f ? 1 : 0);
}

__global__ void
__launch_bounds__ (THREADS) counts_kernel (const __grid_constant__ SbCudaCounts c)
{
  __shared__ unsigned plot[PLOT_BINS + 1], near[NEAR_BINS];
  __shared__ double shared[THREADS];
  const int n_near = min (NEAR_BINS, c.n_bins);
  const int middle = (int)fmin (fmax (c.mean, -1e9), 1e9) - c.first - n_near / 2;
  const int first_near = max (0, min (middle, c.n_bins - n_near));
  const float unit = (float)(1.0 / c.bin_width);
  double deviation = 0;

  for (int i = (int)threadIdx.x; i < n_near; i += THREADS)
    near[i] = 0;
  plot[threadIdx.x] = 0;
  __syncthreads ();
  each_value (c.band, [&] (float v) {
    const float x = v * c.scale;
    const double off = (double)x - c.mean;
    deviation += off * off;
    const float place = fminf (fmaxf (x * unit, -1000.0f), 1000.0f);
    atomicAdd (&plot[min (max (nearest (place) + 127, 0), PLOT_BINS - 1)], 1u);
    if (n_near > 0)
      {
        const int bin = nearest (x) - c.first, near_bin = bin - first_near;
        if (near_bin >= 0 && near_bin < n_near)
          atomicAdd (&near[near_bin], 1u);
        else
          atomicAdd (c.bins + bin, 1u);
      }
  });
  deviation = block_sum (deviation, shared);
  if (threadIdx.x == 0)
    c.deviations[blockIdx.x] = deviation;
  if (threadIdx.x < PLOT_BINS && plot[threadIdx.x] > 0)
    atomicAdd (c.plot + threadIdx.x, plot[threadIdx.x]);
  for (int i = (int)threadIdx.x; i < n_near; i += THREADS)
    if (near[i] > 0)
      atomicAdd (c.bins + first_near + i, near[i]);
}

__global__ void
__launch_bounds__ (THREADS) entropy_kernel (const __grid_constant__ SbCudaCounts c)
{
  __shared__ double shared[THREADS];
  const double count = (double)c.band.columns * c.band.rows;
  double entropy = 0;

  for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < c.n_bins;
       i += SB_CUDA_SUM_BLOCKS * THREADS)
    {
      const unsigned n = c.bins[i];
      if (n > 0)
        {
          const double part = (double)n / count;
          entropy -= part * log2 (part);
        }
    }
  entropy = block_sum (entropy, shared);
  if (threadIdx.x == 0)
    c.entropies[blockIdx.x] = entropy;
}

cudaError_t
sb_cuda_haar_counts (const SbCudaCounts *counts, cudaStream_t stream)
{
  cudaError_t status = cudaMemsetAsync (counts->plot, 0, PLOT_BINS * sizeof *counts->plot, stream);
  if (status == cudaSuccess && counts->n_bins > 0)
    status
        = cudaMemsetAsync (counts->bins, 0, (size_t)counts->n_bins * sizeof *counts->bins, stream);
  if (status != cudaSuccess)
    return status;
  counts_kernel<<<SB_CUDA_SUM_BLOCKS, THREADS, 0, stream>>> (*counts);
  entropy_kernel<<<SB_CUDA_SUM_BLOCKS, THREADS, 0, stream>>> (*counts);
  return cudaGetLastError ();
}

/* --- The median ------------------------------------------------------------------------------ */

/* Magnitudes are floats from 0 on, in the order of their 31 bits. The two ranks in the middle are
 * found together, 11 bits, then 10 and 10. */
struct Ranks
{
  unsigned prefix[2];
  unsigned long long rank[2]; /* among those of the prefix */
};

#define MEDIAN_BINS 2048

__device__ __forceinline__ int
shift_of (int pass)
{
  return pass == 0 ? 20 : pass == 1 ? 10 : 0;
}

__global__ void
__launch_bounds__ (THREADS) ranks_kernel (const __grid_constant__ SbCudaPlane plane,
                                          const Ranks *ranks, unsigned *tables, int pass)
{
  __shared__ unsigned own[2][MEDIAN_BINS];
  const int shift = shift_of (pass), n = pass == 0 ? 2048 : 1024;
  const unsigned prefix[2] = { ranks->prefix[0], ranks->prefix[1] };

  for (int i = (int)threadIdx.x; i < 2 * MEDIAN_BINS; i += THREADS)
    (&own[0][0])[i] = 0;
  __syncthreads ();
  each_value (plane, [&] (float v) {
    const unsigned bits = __float_as_uint (v) & 0x7fffffffu;
    const unsigned digit = bits >> shift & (unsigned)(n - 1);
    const unsigned before = pass == 0 ? 0 : bits >> shift_of (pass - 1);
    if (before == prefix[0])
      atomicAdd (&own[0][digit], 1u);
    else if (before == prefix[1])
      atomicAdd (&own[1][digit], 1u);
  });
  __syncthreads ();
  for (int i = (int)threadIdx.x; i < 2 * MEDIAN_BINS; i += THREADS)
    if ((&own[0][0])[i] > 0)
      atomicAdd (tables + i, (&own[0][0])[i]);
}

/* One block of 1024 threads: the digit in which each rank falls; clears the tables. */
__global__ void __launch_bounds__ (1024)
    digit_kernel (Ranks *ranks, unsigned *tables, float *middle, int pass)
{
  __shared__ unsigned long long sums[1024];
  const int t = (int)threadIdx.x, shift = shift_of (pass);
  const unsigned prefix[2] = { ranks->prefix[0], ranks->prefix[1] };
  const unsigned long long rank[2] = { ranks->rank[0], ranks->rank[1] };

  for (int k = 0; k < 2; k++)
    {
      /* Where both have one prefix, one table has them. */
      const unsigned *table = tables + (prefix[k] == prefix[0] ? 0 : MEDIAN_BINS);
      const unsigned a = table[2 * t], b = table[2 * t + 1];
      sums[t] = (unsigned long long)a + b;
      __syncthreads ();
      for (int d = 1; d < 1024; d <<= 1)
        {
          const unsigned long long more = t >= d ? sums[t - d] : 0;
          __syncthreads ();
          sums[t] += more;
          __syncthreads ();
        }
      const unsigned long long end = sums[t], begin = end - a - b;
      if (rank[k] >= begin && rank[k] < end)
        {
          const bool second = rank[k] >= begin + a;
          const unsigned digit = 2 * (unsigned)t + (second ? 1 : 0);
          const unsigned made = prefix[k] << (pass == 0 ? 11 : 10) | digit;
          ranks->prefix[k] = made;
          ranks->rank[k] = rank[k] - begin - (second ? a : 0);
          if (shift == 0)
            middle[k] = __uint_as_float (made);
        }
      __syncthreads ();
    }
  for (int i = t; i < 2 * MEDIAN_BINS; i += 1024)
    tables[i] = 0;
}

__global__ void
start_kernel (Ranks *ranks, unsigned *tables, unsigned long long count)
{
  if (threadIdx.x < 2)
    {
      ranks->prefix[threadIdx.x] = 0;
      ranks->rank[threadIdx.x] = threadIdx.x == 0 ? (count - 1) / 2 : count / 2;
    }
  for (int i = (int)threadIdx.x; i < 2 * MEDIAN_BINS; i += (int)blockDim.x)
    tables[i] = 0;
}

cudaError_t
sb_cuda_haar_median (const SbCudaPlane *plane, float *middle, void *room, cudaStream_t stream)
{
  static_assert (sizeof (Ranks) <= 64 && SB_CUDA_MEDIAN_ROOM >= 64 + 2 * MEDIAN_BINS * 4, "room");
  Ranks *ranks = (Ranks *)room;
  unsigned *tables = (unsigned *)((char *)room + 64);

  start_kernel<<<1, 256, 0, stream>>> (ranks, tables,
                                       (unsigned long long)plane->columns * plane->rows);
  for (int pass = 0; pass < 3; pass++)
    {
      ranks_kernel<<<SB_CUDA_SUM_BLOCKS, THREADS, 0, stream>>> (*plane, ranks, tables, pass);
      digit_kernel<<<1, 1024, 0, stream>>> (ranks, tables, middle, pass);
    }
  return cudaGetLastError ();
}
