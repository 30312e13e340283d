/* SPDX-License-Identifier: MIT */

#include "sb-cuda-haar.h"

#include "../src/core/sb-haar-arith.h"

#include <math.h>

/* Shows the mosaic. The host says which device pixels belong to which cell; a pixel looks at the
 * coefficients that its footprint touches. */

#define N_SHADES 4096 /* on each side of zero */

__device__ __forceinline__ double
edge_of (double origin, double zoom, int i)
{
  return origin + i / zoom;
}

__device__ __forceinline__ double
centre_of (double origin, double zoom, int i)
{
  return origin + (i + 0.5) / zoom;
}

static_assert (sizeof (SbCudaMosaic) + sizeof (SbCudaView) + 16 <= 4096,
               "what a launch can carry everywhere");

/* The coefficients from .. to - 1 that device pixel i shows, of n. */
__device__ __forceinline__ int2
find_touched (double origin, double zoom, int i, double place, double scale, double length, int n,
              bool reduced)
{
  double from = (centre_of (origin, zoom, i) - place) / scale, to = from;
  if (reduced)
    {
      from = (fmax (edge_of (origin, zoom, i), place) - place) / scale;
      to = (fmin (edge_of (origin, zoom, i + 1), place + length) - place) / scale;
    }
  int2 s;
  s.x = (int)fmin (fmax (floor (from), 0.0), n - 1.0);
  s.y = reduced ? (int)fmin (fmax (ceil (to), s.x + 1.0), (double)n) : s.x + 1;
  return s;
}

__device__ __forceinline__ uint32_t
shade_of (const SbCudaMosaic &m, const SbCudaCell &cell, float value)
{
  if (cell.means)
    {
      const uint32_t grey = (uint32_t)(fminf (fmaxf (value * cell.factor, 0.0f), 255.0f) + 0.5f);
      return grey * 0x010101u | 0xff000000u;
    }
  float u = fminf (fmaxf (value * cell.factor, -1.0f), 1.0f);
  if (m.logarithmic)
    {
      const float size = log2f (1 + 255 * fabsf (u)) / 8;
      u = u < 0 ? -size : size;
    }
  uint8_t rgb[3];
  sb_haar_shade (m.display, m.dark,
                 (float)((int)(u * N_SHADES + (N_SHADES + 0.5f)) - N_SHADES) / N_SHADES, rgb);
  return rgb[0] | (uint32_t)rgb[1] << 8 | (uint32_t)rgb[2] << 16 | 0xff000000u;
}

__device__ __forceinline__ uint32_t
show_pixel (const SbCudaMosaic &m, const SbCudaCell &cell, const SbCudaView &view, int i, int j)
{
  const int2 sx = find_touched (view.x, view.zoom, i, cell.x, cell.scale, cell.width, cell.columns,
                                cell.reduced);
  const int2 sy = find_touched (view.y, view.zoom, j, cell.y, cell.scale, cell.height, cell.rows,
                                cell.reduced);
  float high = -3e38f, low = 3e38f, sum = 0;

  for (int y = sy.x; y < sy.y; y++)
    {
      const float *row = cell.values + (size_t)y * (size_t)cell.stride;
#pragma unroll 4
      for (int x = sx.x; x < sx.y; x++)
        {
          const float c = __ldg (row + x);
          high = fmaxf (high, c);
          low = fminf (low, c);
          sum += c;
        }
    }
  if (cell.means)
    return shade_of (m, cell, sum / ((float)(sx.y - sx.x) * (float)(sy.y - sy.x)));
  return shade_of (m, cell, high >= -low ? high : low);
}

#define BLOCK_X 32
#define BLOCK_Y 8

__global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y)
    mosaic_kernel (const __grid_constant__ SbCudaMosaic m, const __grid_constant__ SbCudaView view,
                   uint8_t *rgba, size_t stride)
{
  __shared__ int found[SB_CUDA_HAAR_MAX_BANDS], n_found;
  const int t = (int)(threadIdx.y * BLOCK_X + threadIdx.x);
  const int i0 = (int)blockIdx.x * BLOCK_X, j0 = (int)blockIdx.y * BLOCK_Y;
  const int i = i0 + (int)threadIdx.x, j = j0 + (int)threadIdx.y;

  /* The cells that the block's pixels may lie in: most often one. */
  if (t == 0)
    n_found = 0;
  __syncthreads ();
  if (t < m.n_cells && m.cells[t].left < i0 + BLOCK_X && m.cells[t].right > i0
      && m.cells[t].top < j0 + BLOCK_Y && m.cells[t].bottom > j0)
    found[atomicAdd (&n_found, 1)] = t;
  __syncthreads ();
  if (i >= view.width || j >= view.height)
    return;

  uint32_t pixel = view.ground[0] | view.ground[1] << 8 | view.ground[2] << 16 | 0xff000000u;
  for (int k = 0; k < n_found; k++)
    {
      const SbCudaCell &cell = m.cells[found[k]];
      if (i >= cell.left && i < cell.right && j >= cell.top && j < cell.bottom)
        {
          pixel = show_pixel (m, cell, view, i, j);
          break;
        }
    }
  ((uint32_t *)(rgba + (size_t)j * stride))[i] = pixel;
}

cudaError_t
sb_cuda_show_mosaic (const SbCudaMosaic *mosaic, const SbCudaView *view, void *rgba, size_t stride,
                     cudaStream_t stream)
{
  const dim3 block (BLOCK_X, BLOCK_Y);
  const dim3 grid ((unsigned)(view->width + BLOCK_X - 1) / BLOCK_X,
                   (unsigned)(view->height + BLOCK_Y - 1) / BLOCK_Y);
  mosaic_kernel<<<grid, block, 0, stream>>> (*mosaic, *view, (uint8_t *)rgba, stride);
  return cudaGetLastError ();
}
