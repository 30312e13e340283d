/* SPDX-License-Identifier: MIT */

#include "sb-cuda-kernels.h"

#include "color.cuh"
#include "pixel.cuh"

#include <math.h>

/* Copies between depths, and show: straight from the full-size picture into the viewport. A device
 * reads memory so fast that no pyramid is needed. */

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
  const dim3 grid ((unsigned)(width + 255) / 256, (unsigned)(height < 65535 ? height : 65535));
  convert_kernel<<<grid, 256, 0, stream>>> (*source, *target, x, y, width, height);
  return cudaGetLastError ();
}

/* One direction of the footprint of a device pixel: source pixels first .. last, the outer two in
 * part, clipped to the picture. */
struct Span
{
  int first, last;
  float begin, end; /* weights of the first and the last; those between weigh 1 */
};

__device__ __forceinline__ Span
span_of (double origin, double inverse, int i, int side)
{
  const double from = fmax (origin + i * inverse, 0.0);
  const double to = fmin (origin + (i + 1) * inverse, (double)side);
  Span s;
  s.first = min (max ((int)floor (from), 0), side - 1);
  s.last = min (max ((int)ceil (to) - 1, s.first), side - 1);
  if (s.first == s.last)
    {
      s.begin = (float)(to - from);
      s.end = 0;
    }
  else
    {
      s.begin = (float)(s.first + 1 - from);
      s.end = (float)(to - s.last);
    }
  return s;
}

template <int DEPTH, bool OPAQUE>
__device__ __forceinline__ void
add_pixel (float4 &sum, const char *row, int x, float weight)
{
  if (DEPTH == 8)
    {
      const uint32_t v = __ldg ((const uint32_t *)row + x);
      const float w = OPAQUE ? weight : weight * (float)(v >> 24) * (1.0f / 255.0f);
      sum.x += w * (float)(v & 255);
      sum.y += w * (float)(v >> 8 & 255);
      sum.z += w * (float)(v >> 16 & 255);
      sum.w += w;
    }
  else
    {
      const uint2 v = __ldg ((const uint2 *)row + x);
      const float w = OPAQUE ? weight : weight * (float)(v.y >> 16) * (1.0f / 65535.0f);
      sum.x += w * (float)(v.x & 65535) * (1.0f / 257.0f);
      sum.y += w * (float)(v.x >> 16) * (1.0f / 257.0f);
      sum.z += w * (float)(v.y & 65535) * (1.0f / 257.0f);
      sum.w += w;
    }
}

template <int DEPTH, bool OPAQUE, bool COLOR>
__global__ void
show_kernel (const __grid_constant__ SbCudaPicture source, const __grid_constant__ SbCudaView view,
             const __grid_constant__ SbCudaColor color, uint8_t *rgba, size_t stride)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= view.width || j >= view.height)
    return;
  uint32_t *out = (uint32_t *)(rgba + (size_t)j * stride) + i;

  /* The picture's point under the centre. */
  const double cx = view.x + (i + 0.5) / view.zoom, cy = view.y + (j + 0.5) / view.zoom;
  if (cx < 0 || cy < 0 || cx >= source.width || cy >= source.height)
    {
      *out = view.ground[0] | view.ground[1] << 8 | view.ground[2] << 16 | 0xff000000u;
      return;
    }

  float4 sum = make_float4 (0, 0, 0, 0);
  float area = 1;
  if (view.zoom >= 1)
    add_pixel<DEPTH, OPAQUE> (
        sum, (const char *)source.pixels + (size_t)min ((int)cy, source.height - 1) * source.stride,
        min ((int)cx, source.width - 1), 1.0f);
  else
    {
      const double inverse = 1.0 / view.zoom;
      const Span sx = span_of (view.x, inverse, i, source.width);
      const Span sy = span_of (view.y, inverse, j, source.height);
      float height = 0, width = 0;
      for (int x = sx.first; x <= sx.last; x++)
        width += x == sx.first ? sx.begin : x == sx.last ? sx.end : 1.0f;
      for (int y = sy.first; y <= sy.last; y++)
        {
          const float wy = y == sy.first ? sy.begin : y == sy.last ? sy.end : 1.0f;
          const char *row = (const char *)source.pixels + (size_t)y * source.stride;
          float4 line = make_float4 (0, 0, 0, 0);
          add_pixel<DEPTH, OPAQUE> (line, row, sx.first, sx.begin);
#pragma unroll 4
          for (int x = sx.first + 1; x < sx.last; x++)
            add_pixel<DEPTH, OPAQUE> (line, row, x, 1.0f);
          if (sx.last > sx.first)
            add_pixel<DEPTH, OPAQUE> (line, row, sx.last, sx.end);
          sum.x += wy * line.x;
          sum.y += wy * line.y;
          sum.z += wy * line.z;
          sum.w += wy * line.w;
          height += wy;
        }
      area = width * height;
    }

  const float scale = 1.0f / area;
  float c[3] = { sum.x * scale, sum.y * scale, sum.z * scale };
  if (COLOR)
    {
      /* The table is for straight colours. */
      const float alpha = OPAQUE ? 1.0f : sum.w * scale;
      const float straight = alpha > 0 ? 1.0f / alpha : 0.0f;
      for (int k = 0; k < 3; k++)
        c[k] *= straight;
      sb_color_apply (color, c);
      for (int k = 0; k < 3; k++)
        c[k] *= alpha;
    }
  if (!OPAQUE)
    {
      const uint8_t *check = view.checker[(i / view.checker_size + j / view.checker_size) & 1];
      const float under = 1.0f - sum.w * scale;
      for (int k = 0; k < 3; k++)
        c[k] += under * check[k];
    }
  uint32_t v = 0xff000000u;
  for (int k = 0; k < 3; k++)
    v |= (uint32_t)fminf (fmaxf (c[k] + 0.5f, 0.0f), 255.0f) << 8 * k;
  *out = v;
}

template <int DEPTH, bool OPAQUE>
static void
launch_show (const SbCudaPicture *source, const SbCudaColor *color, const SbCudaView *view,
             void *rgba, size_t stride, cudaStream_t stream)
{
  const dim3 block (32, 8);
  const dim3 grid ((unsigned)(view->width + 31) / 32, (unsigned)(view->height + 7) / 8);
  if (color != NULL)
    show_kernel<DEPTH, OPAQUE, true>
        <<<grid, block, 0, stream>>> (*source, *view, *color, (uint8_t *)rgba, stride);
  else
    show_kernel<DEPTH, OPAQUE, false>
        <<<grid, block, 0, stream>>> (*source, *view, SbCudaColor{}, (uint8_t *)rgba, stride);
}

cudaError_t
sb_cuda_show (const SbCudaPicture *source, int opaque, const SbCudaColor *color,
              const SbCudaView *view, void *rgba, size_t stride, cudaStream_t stream)
{
  if (source->depth == 8)
    (opaque ? launch_show<8, true> : launch_show<8, false>)(source, color, view, rgba, stride,
                                                            stream);
  else
    (opaque ? launch_show<16, true> : launch_show<16, false>)(source, color, view, rgba, stride,
                                                              stream);
  return cudaGetLastError ();
}
