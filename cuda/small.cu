/* SPDX-License-Identifier: MIT */

#include "blur.cuh"
#include "pixel.cuh"

/* Lines shorter than a pass reaches, where an edge rule may go to and fro many times: a block
 * filters one line by prefix sums over all of it. */

extern __shared__ uint4 small_memory[];

__device__ __forceinline__ uint4
times (uint4 a, uint32_t n)
{
  return make_uint4 (a.x * n, a.y * n, a.z * n, a.w * n);
}

__device__ __forceinline__ uint4
plus (uint4 a, uint4 b)
{
  return make_uint4 (a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ __forceinline__ uint4
wide (uint2 p)
{
  return make_uint4 (p.x & 65535, p.x >> 16, p.y & 65535, p.y >> 16);
}

/* The sum of the samples before i, of any i: modulo 2^32, as the sums are. */
__device__ __forceinline__ uint4
sum_before (const uint4 *prefix, const uint2 *pixels, int len, int mirror, int i)
{
  if (!mirror)
    {
      const int over = i < 0 ? i : max (i - len, 0);
      return plus (prefix[min (max (i, 0), len)],
                   times (wide (pixels[i < 0 ? 0 : len - 1]), (uint32_t)over));
    }
  const int period = 2 * len;
  int turns = i / period, rest = i % period;
  if (rest < 0)
    {
      rest += period;
      turns--;
    }
  uint4 s = times (prefix[len], (uint32_t)(2 * turns));
  if (rest <= len)
    return plus (s, prefix[rest]);
  s = plus (s, times (prefix[len], 2));
  return plus (s, times (prefix[period - rest], ~0u));
}

__global__ void __launch_bounds__ (256) small_kernel (const __grid_constant__ SbJob job)
{
  const SbWindow &w = job.window;
  const int len = job.length, number = job.first + (int)blockIdx.x;
  uint4 *prefix = small_memory;
  uint2 *pixels = (uint2 *)(prefix + len + 1), *next = pixels + len;

  for (int i = threadIdx.x; i < len; i += blockDim.x)
    {
      const int x = job.vertical ? number : i, y = job.vertical ? i : number;
      pixels[i] = job.from_source ? sb_load_work (job.blur, x, y)
                                  : ((const uint2 *)(job.in + (size_t)y * job.work_stride))[x];
    }
  __syncthreads ();
  for (int pass = 0; pass < job.passes; pass++)
    {
      /* A thread a channel. */
      if (threadIdx.x < 4)
        {
          uint32_t *p = (uint32_t *)prefix + threadIdx.x, sum = 0;
          for (int i = 0; i < len; i++)
            {
              p[4 * i] = sum;
              sum += ((const uint16_t *)(pixels + i))[threadIdx.x];
            }
          p[4 * len] = sum;
        }
      __syncthreads ();
      for (int i = threadIdx.x; i < len; i += blockDim.x)
        {
          const uint4 high = sum_before (prefix, pixels, len, w.mirror, i + w.radius + 1);
          const uint4 low = sum_before (prefix, pixels, len, w.mirror, i - w.radius);
          const uint4 sum = plus (high, times (low, ~0u));
          const uint4 ends = plus (wide (pixels[sb_edge (i - w.radius - 1, len, w.mirror)]),
                                   wide (pixels[sb_edge (i + w.radius + 1, len, w.mirror)]));
          auto divide = [&] (uint32_t s, uint32_t e) {
            return sb_divide (16u * s + (uint32_t)w.fraction * e + w.half, w);
          };
          next[i] = sb_pack (divide (sum.x, ends.x), divide (sum.y, ends.y), divide (sum.z, ends.z),
                             divide (sum.w, ends.w));
        }
      __syncthreads ();
      uint2 *swap = pixels;
      pixels = next;
      next = swap;
    }
  for (int i = job.begin + threadIdx.x; i < job.end; i += blockDim.x)
    {
      const int x = job.vertical ? number : i, y = job.vertical ? i : number;
      if (!job.to_target)
        ((uint2 *)(job.out + (size_t)y * job.work_stride))[x] = pixels[i];
      else if (x >= job.blur.x && x < job.blur.x + job.blur.width)
        sb_store_result (job.blur, x, y, pixels[i]);
    }
}

cudaError_t
sb_cuda_small_prepare (const SbCudaLimits *limits)
{
  return cudaFuncSetAttribute ((const void *)small_kernel,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)limits->shared_per_block);
}

cudaError_t
sb_cuda_small (const SbJob *job, cudaStream_t stream)
{
  const size_t shared
      = sizeof (uint4) * ((size_t)job->length + 1) + 2 * sizeof (uint2) * (size_t)job->length;
  small_kernel<<<(unsigned)(job->last - job->first), 256, shared, stream>>> (*job);
  return cudaGetLastError ();
}
