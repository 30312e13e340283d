/* SPDX-License-Identifier: MIT */

/* How a row pass should read its picture: texture objects, global memory, or shared memory that is
 * filled first. One pass of rows over random bytes, 16 bits out, by the same code but for where a
 * sample comes from; all give the same bytes, or it fails. Not part of the build:
 *
 *   nvcc -O3 -std=c++17 -arch=native -o bench-texture tests/bench-texture.cu && ./bench-texture
 */

#include <cuda_runtime.h>

#include <algorithm>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define WIDTH   6016
#define HEIGHT  4032
#define CHUNK   21
#define THREADS 288 /* times CHUNK is the width and more */
#define RUNS    15

enum Way
{
  TEXTURE,
  GLOBAL,
  SHARED,
  SHARED_TEXTURE,
};

static void
check (cudaError_t status, const char *what)
{
  if (status == cudaSuccess)
    return;
  fprintf (stderr, "%s: %s\n", what, cudaGetErrorString (status));
  exit (1);
}

__device__ static uint32_t
channel (uint32_t p, int c)
{
  return p >> 8 * c & 255;
}

/* A block a row, a thread a chunk of it; results go out through shared memory, so that the rows are
 * written as wholes. Ends repeat. */
template <int WAY>
__global__ void
__launch_bounds__ (THREADS, 3)
    rows (cudaTextureObject_t texture, const uint32_t *source, uint2 *out, int radius)
{
  extern __shared__ uint4 memory[];
  uint32_t *line = (uint32_t *)memory;
  const int y = blockIdx.x, base = (int)threadIdx.x * CHUNK;
  const uint32_t *row = source + (size_t)y * WIDTH;

  if (WAY == SHARED)
    for (int i = threadIdx.x; i < WIDTH / 4; i += THREADS)
      memory[i] = __ldg ((const uint4 *)row + i);
  if (WAY == SHARED_TEXTURE)
    for (int i = threadIdx.x; i < WIDTH; i += THREADS)
      line[i] = tex2D<uint32_t> (texture, (float)i, (float)y);
  __syncthreads ();
  auto get = [&] (int i) {
    i = min (max (i, 0), WIDTH - 1);
    return WAY == TEXTURE  ? tex2D<uint32_t> (texture, (float)i, (float)y)
           : WAY == GLOBAL ? __ldg (row + i)
                           : line[i];
  };
  const float inverse = 257.0f / (float)(2 * radius + 1);
  uint32_t sum[3] = {};
  for (int i = base - radius; i <= base + radius; i++)
    {
      const uint32_t p = get (i);
      for (int c = 0; c < 3; c++)
        sum[c] += channel (p, c);
    }
  uint2 result[CHUNK];
#pragma unroll
  for (int j = 0; j < CHUNK; j++)
    {
      const uint32_t enter = get (base + j + radius + 1), leave = get (base + j - radius);
      uint32_t q[3];
#pragma unroll
      for (int c = 0; c < 3; c++)
        {
          q[c] = __float2uint_rn (__fmul_rn ((float)sum[c], inverse));
          sum[c] += channel (enter, c) - channel (leave, c);
        }
      result[j] = make_uint2 (q[0] | q[1] << 16, q[2] | 65535u << 16);
    }
  __syncthreads ();
#pragma unroll
  for (int j = 0; j < CHUNK; j++)
    if (base + j < WIDTH)
      ((uint2 *)memory)[base + j] = result[j];
  __syncthreads ();
  for (int i = threadIdx.x; i < WIDTH / 2; i += THREADS)
    ((uint4 *)(out + (size_t)y * WIDTH))[i] = memory[i];
}

template <typename Run>
static double
median_us (Run run)
{
  cudaEvent_t from, to;
  std::vector<float> times;
  check (cudaEventCreate (&from), "event");
  check (cudaEventCreate (&to), "event");
  for (int i = 0; i < RUNS; i++)
    {
      float ms;
      check (cudaEventRecord (from), "record");
      run ();
      check (cudaGetLastError (), "launch");
      check (cudaEventRecord (to), "record");
      check (cudaEventSynchronize (to), "run");
      check (cudaEventElapsedTime (&ms, from, to), "time");
      times.push_back (ms);
    }
  std::sort (times.begin () + 3, times.end ());
  return 1000 * times[3 + (RUNS - 3) / 2];
}

int
main (void)
{
  static const char *const names[]
      = { "texture object", "global memory", "shared memory, 16-byte loads",
          "shared memory, texture object" };
  typedef void (*Kernel) (cudaTextureObject_t, const uint32_t *, uint2 *, int);
  static const Kernel kernels[]
      = { rows<TEXTURE>, rows<GLOBAL>, rows<SHARED>, rows<SHARED_TEXTURE> };
  static const int radii[] = { 14, 64 };
  const size_t pixels = (size_t)WIDTH * HEIGHT;
  std::vector<uint32_t> host (pixels);
  std::vector<uint2> first (pixels), other (pixels);
  uint32_t *source, *copy, seed = 1;
  uint2 *out;

  for (uint32_t &p : host)
    p = (seed = seed * 1664525u + 1013904223u) ^ seed >> 15;
  check (cudaMalloc (&source, 4 * pixels), "memory");
  check (cudaMalloc (&copy, 4 * pixels), "memory");
  check (cudaMalloc (&out, 8 * pixels), "memory");
  check (cudaMemcpy (source, host.data (), 4 * pixels, cudaMemcpyHostToDevice), "upload");

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = source;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uint32_t> ();
  resource.res.pitch2D.width = WIDTH;
  resource.res.pitch2D.height = HEIGHT;
  resource.res.pitch2D.pitchInBytes = 4 * WIDTH;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  check (cudaCreateTextureObject (&texture, &resource, &description, NULL), "texture");

  const double unit = median_us ([&] {
    check (cudaMemcpyAsync (copy, source, 4 * pixels, cudaMemcpyDeviceToDevice), "copy");
  });
  printf ("%dx%d, copy %.1f us\n", WIDTH, HEIGHT, unit);
  for (int radius : radii)
    for (int way = 0; way < 4; way++)
      {
        check (cudaFuncSetAttribute ((const void *)kernels[way],
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, 8 * WIDTH),
               "shared memory");
        check (cudaMemset (out, 0, 8 * pixels), "clear");
        const double us = median_us (
            [&] { kernels[way]<<<HEIGHT, THREADS, 8 * WIDTH>>> (texture, source, out, radius); });
        std::vector<uint2> &got = way == 0 ? first : other;
        check (cudaMemcpy (got.data (), out, 8 * pixels, cudaMemcpyDeviceToHost), "download");
        for (size_t i = 0; way > 0 && i < pixels; i++)
          if (got[i].x != first[i].x || got[i].y != first[i].y)
            {
              fprintf (stderr, "%s: another result at %zu\n", names[way], i);
              return 1;
            }
        printf ("radius %d, %s: %.1f us, %.2f\n", radius, names[way], us, us / unit);
      }
  return 0;
}
