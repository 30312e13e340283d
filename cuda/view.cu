/* SPDX-License-Identifier: MIT */

#include "sb-cuda-kernels.h"

#include "color.cuh"
#include "pixel.cuh"

#include <math.h>

/* Copies between depths, and show: from the full-size picture into the viewport. No pyramid is
 * kept: a block makes the pixels of the level that its outputs need on the way, in shared memory.
 */

__global__ void
convert_kernel (const __grid_constant__ SbCudaPicture source,
                const __grid_constant__ SbCudaPicture target, int x0, int y0, int width, int height)
{
  const int x = x0 + blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= x0 + width)
    return;
  for (int y = y0 + blockIdx.y; y < y0 + height; y += gridDim.y)
    {
      char *row = (char *)target.pixels + (size_t)y * target.stride;
      if (target.depth == 16)
        ((uint2 *)row)[x] = sb_load_straight (source, x, y);
      else
        ((uint32_t *)row)[x] = source.depth == 8 ? sb_load_8 (source, x, y)
                                                 : sb_pack_8 (sb_load_straight (source, x, y));
    }
}

cudaError_t
sb_cuda_convert (const SbCudaPicture *source, const SbCudaPicture *target, int x, int y, int width,
                 int height, cudaStream_t stream)
{
  if (source->depth == target->depth)
    {
      const size_t pixel = (size_t)source->depth / 2;
      return cudaMemcpy2DAsync (
          (char *)target->pixels + (size_t)y * target->stride + (size_t)x * pixel, target->stride,
          (const char *)source->pixels + (size_t)y * source->stride + (size_t)x * pixel,
          source->stride, (size_t)width * pixel, (size_t)height, cudaMemcpyDeviceToDevice, stream);
    }
  const int blocks = (height + 7) / 8;
  const dim3 grid ((unsigned)(width + 255) / 256, (unsigned)(blocks < 65535 ? blocks : 65535));
  convert_kernel<<<grid, 256, 0, stream>>> (*source, *target, x, y, width, height);
  return cudaGetLastError ();
}

/* --- Show ------------------------------------------------------------------------------------ */

/* Of a block: outputs, and threads, a column of them each. */
#define SHOW_WIDTH   32
#define SHOW_HEIGHT  16
#define SHOW_THREADS 256

/* One pixel's finished colour, premultiplied, in 0 .. 255; the fourth is its alpha in 0 .. 1. */
template <bool OPAQUE, bool COLOR>
__device__ __forceinline__ uint32_t
finish (const SbCudaView &view, const SbCudaColor &color, int i, int j, float4 sum)
{
  float c[3] = { sum.x, sum.y, sum.z };
  if (COLOR)
    {
      /* The table is for straight colours. */
      const float straight = OPAQUE ? 1.0f : sum.w > 0 ? 1.0f / sum.w : 0.0f;
      for (int k = 0; k < 3; k++)
        c[k] *= straight;
      sb_color_apply (color, c);
      for (int k = 0; k < 3 && !OPAQUE; k++)
        c[k] *= sum.w;
    }
  if (!OPAQUE)
    {
      const uint8_t *check = view.checker[(i / view.checker_size + j / view.checker_size) & 1];
      const float under = 1.0f - sum.w;
      for (int k = 0; k < 3; k++)
        c[k] += under * check[k];
    }
  uint32_t v = 0xff000000u;
  for (int k = 0; k < 3; k++)
    v |= (uint32_t)fminf (fmaxf (c[k] + 0.5f, 0.0f), 255.0f) << 8 * k;
  return v;
}

__device__ __forceinline__ uint32_t
ground_of (const SbCudaView &view)
{
  return view.ground[0] | view.ground[1] << 8 | view.ground[2] << 16 | 0xff000000u;
}

/* Sums of pixels, premultiplied. Of opaque ones of 8 bits up to 256 are added as integers first: a
 * conversion to a float costs as much as four additions. */
template <int DEPTH, bool OPAQUE> struct Sum
{
  float4 sum = make_float4 (0, 0, 0, 0);

  __device__ __forceinline__ void
  add (uint32_t v)
  {
    const float w = (float)(v >> 24) * (1.0f / 255.0f);
    sum.x += w * (float)(v & 255);
    sum.y += w * (float)(v >> 8 & 255);
    sum.z += w * (float)(v >> 16 & 255);
    sum.w += w;
  }
  __device__ __forceinline__ void
  add (uint2 v)
  {
    const float w = OPAQUE ? 1.0f / 257.0f : (float)(v.y >> 16) * (float)(1.0 / 65535.0 / 257.0);
    sum.x += w * (float)(v.x & 65535);
    sum.y += w * (float)(v.x >> 16);
    sum.z += w * (float)(v.y & 65535);
    sum.w += 257.0f * w;
  }
  __device__ __forceinline__ float4
  take () const
  {
    return sum;
  }
};

template <> struct Sum<8, true>
{
  uint32_t outer = 0, inner = 0;

  __device__ __forceinline__ void
  add (uint32_t v)
  {
    outer += v & 0xff00ffu;
    inner += v >> 8 & 0xffu;
  }
  __device__ __forceinline__ float4
  take () const
  {
    return make_float4 ((float)(outer & 0xffffu), (float)inner, (float)(outer >> 16), 1.0f);
  }
};

/* Four pixels of a row. */
template <int DEPTH> struct Four
{
  uint4 v;

  __device__ __forceinline__ void
  load (const char *row, int group)
  {
    v = __ldg ((const uint4 *)row + group);
  }
  __device__ __forceinline__ uint32_t
  get (int k) const
  {
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
  }
};

template <> struct Four<16>
{
  uint4 u, v;

  __device__ __forceinline__ void
  load (const char *row, int group)
  {
    u = __ldg ((const uint4 *)row + 2 * group);
    v = __ldg ((const uint4 *)row + 2 * group + 1);
  }
  __device__ __forceinline__ uint2
  get (int k) const
  {
    return k == 0   ? make_uint2 (u.x, u.y)
           : k == 1 ? make_uint2 (u.z, u.w)
           : k == 2 ? make_uint2 (v.x, v.y)
                    : make_uint2 (v.z, v.w);
  }
};

/* Magnified: the pixel under the output's centre. */
template <int DEPTH, bool OPAQUE, bool COLOR>
__global__ void
pick_kernel (const __grid_constant__ SbCudaPicture source, const __grid_constant__ SbCudaView view,
             const __grid_constant__ SbCudaColor color, uint8_t *rgba, size_t stride)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= view.width || j >= view.height)
    return;
  uint32_t *out = (uint32_t *)(rgba + (size_t)j * stride) + i;
  if (i < view.left || i >= view.right || j < view.top || j >= view.bottom)
    {
      *out = ground_of (view);
      return;
    }
  const int cx = min (max ((int)(view.x + (i + 0.5) / view.zoom), 0), source.width - 1);
  const int cy = min (max ((int)(view.y + (j + 0.5) / view.zoom), 0), source.height - 1);
  const char *row = (const char *)source.pixels + (size_t)cy * source.stride;
  Sum<DEPTH, OPAQUE> sum;
  if constexpr (DEPTH == 8)
    sum.add (__ldg ((const uint32_t *)row + cx));
  else
    sum.add (__ldg ((const uint2 *)row + cx));
  *out = finish<OPAQUE, COLOR> (view, color, i, j, sum.take ());
}

/* One direction of an output's footprint: n cells from `first` on, which weigh `begin`, `middle`
 * each, and `end`; in all 1. n is 0 where the output lies outside the picture. */
struct Span
{
  int first, n;
  float begin, middle, end;
};

__device__ __forceinline__ int
least_of_warp (int v)
{
  for (int step = 16; step > 0; step /= 2)
    v = min (v, __shfl_xor_sync (~0u, v, step));
  return v;
}

/* A cell is a pixel of the level: 2^level of the picture's, fewer at its end. The output lies in
 * the picture. */
__device__ __forceinline__ Span
span_of (double origin, double inverse, int i, int side, int level)
{
  const double from = fmax (origin + i * inverse, 0.0);
  const double to = fmin (origin + (i + 1) * inverse, (double)side);
  const int unit = 1 << level, cells = (side + unit - 1) >> level;
  const float scale = 1.0f / (float)(to - from);
  Span s;
  const int last = min (max ((((int)ceil (to) + unit - 1) >> level) - 1, 0), cells - 1);
  s.first = min ((int)from >> level, last);
  s.n = last - s.first + 1;
  s.middle = (float)unit * scale;
  s.begin = s.n == 1 ? 1.0f : (float)((double)((s.first + 1) << level) - from) * scale;
  s.end = (float)(to - (double)(last << level)) * scale;
  return s;
}

__device__ __forceinline__ float
weight_of (const Span &s, int k)
{
  return k == 0 ? s.begin : k == s.n - 1 ? s.end : s.middle;
}

extern __shared__ float4 show_cells[];

/* item / across, for the small numbers here. */
__device__ __forceinline__ int
quotient (int item, float inverse)
{
  return (int)(((float)item + 0.5f) * inverse);
}

/* The block's cells, nx x ny of them from (x0, y0) on, as means, where a cell is 1 pixel across
 * (LOG 0) or 2 (LOG 1). A thread takes four pixels across, some of them at a time. */
template <int DEPTH, bool OPAQUE, int LOG>
__device__ __forceinline__ void
make_small_cells (const SbCudaPicture &source, int x0, int y0, int nx, int ny)
{
  constexpr int ROWS = 1 << LOG, CELLS = 4 >> LOG;
  constexpr int BATCH = LOG == 0 ? DEPTH == 8 ? 4 : 2 : DEPTH == 8 ? 3 : 1;
  /* Of the cells in the outer groups some may not be asked for. */
  const int first = (x0 << LOG) / 4, end = (min ((x0 + nx) << LOG, source.width) + 3) / 4;
  const int across = end - first, n = across * ny;
  const float inverse = 1.0f / (float)across;

  for (int base = (int)threadIdx.x; base < n; base += BATCH * SHOW_THREADS)
    {
      Four<DEPTH> loaded[BATCH][ROWS];
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        {
          const int item = base + b * SHOW_THREADS;
          if (item < n)
            {
              const int row = quotient (item, inverse), group = first + item - row * across;
#pragma unroll
              for (int r = 0; r < ROWS; r++)
                {
                  const int y = min (((y0 + row) << LOG) + r, source.height - 1);
                  loaded[b][r].load ((const char *)source.pixels + (size_t)y * source.stride,
                                     group);
                }
            }
        }
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        {
          const int item = base + b * SHOW_THREADS;
          if (item < n)
            {
              const int row = quotient (item, inverse), group = first + item - row * across;
              const int rows = min (ROWS, source.height - ((y0 + row) << LOG));
#pragma unroll
              for (int k = 0; k < CELLS; k++)
                {
                  const int cell = group * CELLS + k - x0;
                  const int columns = min (1 << LOG, source.width - ((x0 + cell) << LOG));
                  Sum<DEPTH, OPAQUE> sum;
#pragma unroll
                  for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int c = 0; c < 1 << LOG; c++)
                      if (r < rows && c < columns)
                        sum.add (loaded[b][r].get ((k << LOG) + c));
                  const float4 all = sum.take ();
                  const float scale = LOG == 0 ? 1.0f : 1.0f / (float)(rows * columns);
                  if (cell >= 0 && cell < nx)
                    show_cells[row * nx + cell] = make_float4 (
                        all.x * scale, all.y * scale, all.z * scale, OPAQUE ? 1.0f : all.w * scale);
                }
            }
        }
    }
}

/* The same of levels from 2 on. Threads that are neighbours in a warp share a cell, each with some
 * groups of four pixels across. */
template <int DEPTH, bool OPAQUE>
__device__ __forceinline__ void
make_large_cells (const SbCudaPicture &source, int level, int x0, int y0, int nx, int ny)
{
  const int side = 1 << level, log = min (level - 2, 5), share = 1 << log;
  const int each = 1 << (level - 2 - log);
  const int across = nx << log, n = across * ny;
  const float inverse = 1.0f / (float)across;

  for (int base = 0; base < n; base += SHOW_THREADS)
    {
      const int item = base + (int)threadIdx.x;
      const int row = quotient (item, inverse), at = item - row * across, cell = at >> log;
      const int top = (y0 + row) << level, bottom = min (top + side, source.height);
      int group = ((x0 + cell) << (level - 2)) + (at & (share - 1)) * each;
      float4 sum = make_float4 (0, 0, 0, 0);
      if (item < n)
        for (int g = 0; g < each && 4 * group < source.width; g++, group++)
          for (int y = top; y < bottom; y += 4)
            {
              Four<DEPTH> loaded[4];
              Sum<DEPTH, OPAQUE> some;
#pragma unroll
              for (int r = 0; r < 4; r++)
                loaded[r].load ((const char *)source.pixels
                                    + (size_t)min (y + r, source.height - 1) * source.stride,
                                group);
#pragma unroll
              for (int r = 0; r < 4; r++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                  if (y + r < bottom && 4 * group + k < source.width)
                    some.add (loaded[r].get (k));
              const float4 four = some.take ();
              sum.x += four.x;
              sum.y += four.y;
              sum.z += four.z;
              sum.w += four.w;
            }
      for (int step = share / 2; step > 0; step /= 2)
        {
          sum.x += __shfl_down_sync (~0u, sum.x, step, share);
          sum.y += __shfl_down_sync (~0u, sum.y, step, share);
          sum.z += __shfl_down_sync (~0u, sum.z, step, share);
          sum.w += __shfl_down_sync (~0u, sum.w, step, share);
        }
      if (item < n && (at & (share - 1)) == 0)
        {
          const int columns = min (side, source.width - ((x0 + cell) << level));
          const float scale = 1.0f / ((float)columns * (float)(bottom - top));
          show_cells[row * nx + cell] = make_float4 (sum.x * scale, sum.y * scale, sum.z * scale,
                                                     OPAQUE ? 1.0f : sum.w * scale);
        }
    }
}

__device__ __forceinline__ void
add_cell (float4 &sum, float w, const float4 &c)
{
  sum.x += w * c.x;
  sum.y += w * c.y;
  sum.z += w * c.z;
  sum.w += w * c.w;
}

/* Reduced: exact footprint weights over the cells of a level. */
template <int DEPTH, bool OPAQUE, bool COLOR>
__global__ void
__launch_bounds__ (SHOW_THREADS)
    show_kernel (const __grid_constant__ SbCudaPicture source,
                 const __grid_constant__ SbCudaView view, const __grid_constant__ SbCudaColor color,
                 uint8_t *rgba, size_t stride)
{
  __shared__ Span across[SHOW_WIDTH], down[SHOW_HEIGHT];
  __shared__ int tile[4]; /* x0, nx, y0, ny */
  const int i0 = (int)blockIdx.x * SHOW_WIDTH, j0 = (int)blockIdx.y * SHOW_HEIGHT;
  const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32;

  if (warp < 2)
    {
      const int n
          = warp == 0 ? min (SHOW_WIDTH, view.width - i0) : min (SHOW_HEIGHT, view.height - j0);
      const int at = lane + (warp == 0 ? i0 : j0);
      Span s = {};
      if (lane < n && at >= (warp == 0 ? view.left : view.top)
          && at < (warp == 0 ? view.right : view.bottom))
        s = warp == 0 ? span_of (view.x, view.inverse, at, source.width, view.level)
                      : span_of (view.y, view.inverse, at, source.height, view.level);
      if (warp == 0)
        across[lane] = s;
      else if (lane < SHOW_HEIGHT)
        down[lane] = s;
      const int first = least_of_warp (s.n > 0 ? s.first : 0x7fffffff);
      const int end = -least_of_warp (s.n > 0 ? -(s.first + s.n) : 0);
      if (lane == 0)
        {
          tile[2 * warp] = first;
          tile[2 * warp + 1] = end > first ? end - first : 0;
        }
    }
  __syncthreads ();
  const int x0 = tile[0], nx = tile[1], y0 = tile[2], ny = tile[3];
  if (nx > 0 && ny > 0)
    {
      if (view.level == 0)
        make_small_cells<DEPTH, OPAQUE, 0> (source, x0, y0, nx, ny);
      else if (view.level == 1)
        make_small_cells<DEPTH, OPAQUE, 1> (source, x0, y0, nx, ny);
      else
        make_large_cells<DEPTH, OPAQUE> (source, view.level, x0, y0, nx, ny);
    }
  __syncthreads ();
  /* As on the CPU, so that steep tables see the same. */
  if (COLOR && OPAQUE && DEPTH == 8 && view.level > 0)
    {
      for (int k = (int)threadIdx.x; k < nx * ny; k += SHOW_THREADS)
        {
          float4 &c = show_cells[k];
          c = make_float4 (floorf (c.x + 0.5f), floorf (c.y + 0.5f), floorf (c.z + 0.5f), 1.0f);
        }
      __syncthreads ();
    }

  const int i = i0 + lane;
  if (i >= view.width)
    return;
  const Span sx = across[lane];
  for (int r = warp; r < SHOW_HEIGHT && j0 + r < view.height; r += SHOW_THREADS / 32)
    {
      const Span sy = down[r];
      uint32_t *out = (uint32_t *)(rgba + (size_t)(j0 + r) * stride) + i;
      if (sx.n == 0 || sy.n == 0)
        {
          *out = ground_of (view);
          continue;
        }
      float4 sum = make_float4 (0, 0, 0, 0);
      const float4 *cells = show_cells + (sy.first - y0) * nx + sx.first - x0;
      if (sx.n <= 3)
        {
          /* As many as there are, unless the level is the coarsest. */
          const float middle = sx.n > 2 ? sx.middle : sx.end;
          for (int k = 0; k < sy.n; k++, cells += nx)
            {
              const float wy = weight_of (sy, k);
              add_cell (sum, wy * sx.begin, cells[0]);
              if (sx.n > 1)
                add_cell (sum, wy * middle, cells[1]);
              if (sx.n > 2)
                add_cell (sum, wy * sx.end, cells[2]);
            }
        }
      else
        for (int k = 0; k < sy.n; k++, cells += nx)
          for (int m = 0; m < sx.n; m++)
            add_cell (sum, weight_of (sy, k) * weight_of (sx, m), cells[m]);
      *out = finish<OPAQUE, COLOR> (view, color, i, j0 + r, sum);
    }
}

/* Cells that `outputs` in a row may touch. */
static int
cells_of (int outputs, double zoom, int level, int side)
{
  const int most = (side + (1 << level) - 1) >> level;
  const double n = ceil (outputs / (zoom * (double)(1 << level))) + 2;
  return n < most ? (int)n : most;
}

template <int DEPTH, bool OPAQUE, bool COLOR>
static void
launch_show (const SbCudaPicture *source, const SbCudaColor &color, const SbCudaView *view,
             void *rgba, size_t stride, cudaStream_t stream)
{
  if (view->zoom >= 1)
    {
      const dim3 block (32, 8);
      const dim3 grid ((unsigned)(view->width + 31) / 32, (unsigned)(view->height + 7) / 8);
      pick_kernel<DEPTH, OPAQUE, COLOR>
          <<<grid, block, 0, stream>>> (*source, *view, color, (uint8_t *)rgba, stride);
      return;
    }
  /* At most 66 x 34 cells, or all of the coarsest level's. */
  const size_t shared = sizeof (float4)
                        * (size_t)cells_of (SHOW_WIDTH, view->zoom, view->level, source->width)
                        * (size_t)cells_of (SHOW_HEIGHT, view->zoom, view->level, source->height);
  const dim3 grid ((unsigned)(view->width + SHOW_WIDTH - 1) / SHOW_WIDTH,
                   (unsigned)(view->height + SHOW_HEIGHT - 1) / SHOW_HEIGHT);
  show_kernel<DEPTH, OPAQUE, COLOR>
      <<<grid, SHOW_THREADS, shared, stream>>> (*source, *view, color, (uint8_t *)rgba, stride);
}

template <int DEPTH, bool OPAQUE>
static void
launch_colored (const SbCudaPicture *source, const SbCudaColor *color, const SbCudaView *view,
                void *rgba, size_t stride, cudaStream_t stream)
{
  if (color != NULL)
    launch_show<DEPTH, OPAQUE, true> (source, *color, view, rgba, stride, stream);
  else
    launch_show<DEPTH, OPAQUE, false> (source, SbCudaColor{}, view, rgba, stride, stream);
}

cudaError_t
sb_cuda_show (const SbCudaPicture *source, int opaque, const SbCudaColor *color,
              const SbCudaView *view, void *rgba, size_t stride, cudaStream_t stream)
{
  if (source->depth == 8)
    (opaque ? launch_colored<8, true> : launch_colored<8, false>)(source, color, view, rgba, stride,
                                                                  stream);
  else
    (opaque ? launch_colored<16, true> : launch_colored<16, false>)(source, color, view, rgba,
                                                                    stride, stream);
  return cudaGetLastError ();
}
