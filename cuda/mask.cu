/* SPDX-License-Identifier: MIT */

#include "sb-cuda-kernels.h"

/* The mask of an area. The host sends where the shape begins and ends in each row; a thread goes
 * down a column and keeps the sum of the rows that the vertical box covers. */

__device__ __forceinline__ uint32_t
row_value (const SbCudaMask &m, int x, int y)
{
  const int2 span = __ldg (m.spans + min (max (y, 0), m.height - 1));
  const int low = max (x - m.feather, span.x), high = min (x + m.feather + 1, span.y);
  return __ldg (m.values + max (high - low, 0));
}

__global__ void
mask_kernel (const __grid_constant__ SbCudaMask m, char *out, int rows)
{
  /* What lies behind a row repeats its last: masks are read two at a time. */
  const int place = (int)(blockIdx.x * blockDim.x + threadIdx.x), x = min (place, m.width - 1);
  if (place >= (int)(m.stride / sizeof (uint16_t)))
    return;
  const int first = (int)blockIdx.y * rows, last = min (first + rows, m.height);
  const uint32_t f = (uint32_t)m.feather, width = 2 * f + 1;
  uint32_t sum = 0;

  for (int y = first - m.feather; y <= first + m.feather; y++)
    sum += row_value (m, x, y);
  for (int y = first; y < last; y++)
    {
      ((uint16_t *)(out + (size_t)y * m.stride))[place] = (uint16_t)((sum + f) / width);
      sum += row_value (m, x, y + m.feather + 1) - row_value (m, x, y - m.feather);
    }
}

cudaError_t
sb_cuda_mask (const SbCudaMask *mask, uint16_t *out, cudaStream_t stream)
{
  /* The run-up of 2 feather rows is to cost no more than the rows themselves, and a grid has at
   * most 65535 rows of blocks. */
  int rows = mask->feather > 32 ? 2 * mask->feather : 64;
  if (rows < (mask->height + 65534) / 65535)
    rows = (mask->height + 65534) / 65535;
  const dim3 grid ((unsigned)(mask->stride / sizeof (uint16_t) + 127) / 128,
                   (unsigned)((mask->height + rows - 1) / rows));
  mask_kernel<<<grid, 128, 0, stream>>> (*mask, (char *)out, rows);
  return cudaGetLastError ();
}
