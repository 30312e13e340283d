/* SPDX-License-Identifier: MIT */

#include "march.cuh"

/* Which march, and how many segments. */

#define MAX_MARCH 3
/* Fewer warps a multiprocessor than this cannot hide each other's latency. */
#define MIN_WARPS 4

/* An SbWindow's sums of bytes and the like are of no concern here: method as line.cuh has it. */
static SbMarchKernel
kernel_of (int n, const SbCudaBlur *b, int method, int ring, int to_work)
{
  const int kind = !b->opaque ? 2 : !to_work && sb_plain_target (b) ? 0 : 1;
  const int fraction = method == SB_METHOD_FRACTION ? 1 : 0;
  if (n == 3)
    return sb_marches_3[fraction][kind];
  if (n == 2)
    return sb_marches_2[fraction][kind];
  return ring ? sb_marches_1[fraction][kind] : sb_marches_1[2 + method][kind];
}

/* Warps of a multiprocessor. */
static int
warps_of (const SbCudaLimits *limits, int n, int radius, int ring)
{
  const size_t bytes = sb_march_bytes (n, radius, ring) + 1024;
  const size_t warps
      = bytes > limits->shared_per_block ? 0 : limits->shared_per_multiprocessor / bytes;
  return warps > 16 ? 16 : (int)warps;
}

static int
rings (const SbCudaLimits *limits, int n, const SbCudaBlur *b)
{
  return n > 1
         || (2 * b->radius + 1 <= SB_MAX_FLOAT_WINDOW
             && warps_of (limits, 1, b->radius, 1) >= MIN_WARPS);
}

int
sb_cuda_march_passes (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  int n = b->passes < MAX_MARCH ? b->passes : MAX_MARCH;
  while (n > 1
         && (2 * b->radius + 1 > SB_MAX_FLOAT_WINDOW
             || warps_of (limits, n, b->radius, 1) < MIN_WARPS))
    n--;
  /* Even shares: 4 passes are 2 and 2. */
  const int launches = (b->passes + n - 1) / n;
  return (b->passes + launches - 1) / launches;
}

int
sb_cuda_march_can (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  if (!(b->vertical && b->horizontal && b->source.height > 2 * b->radius + 2)
      || limits->march == SB_CUDA_NEVER)
    return 0;
  /* More than two marches cost more than columns in shared memory. */
  return limits->march == SB_CUDA_ALWAYS
         || 2 * sb_cuda_march_passes (limits, b) >= (b->passes > 3 ? b->passes : 2 * b->passes);
}

cudaError_t
sb_cuda_march_prepare (const SbCudaLimits *limits)
{
  cudaError_t status = cudaSuccess;
  const SbMarchKernel *all[3] = { &sb_marches_1[0][0], &sb_marches_2[0][0], &sb_marches_3[0][0] };
  const int counts[3] = { 5 * 3, 2 * 3, 2 * 3 };
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < counts[k] && status == cudaSuccess; i++)
      status = cudaFuncSetAttribute ((const void *)all[k][i],
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)limits->shared_per_block);
  return status;
}

cudaError_t
sb_cuda_march (const SbCudaLimits *limits, const SbCudaBlur *b, const SbWindow *window, int method,
               cudaStream_t stream)
{
  const int reach = b->radius + (b->fraction != 0);
  const int share = sb_cuda_march_passes (limits, b);
  void *work[2] = { b->work, b->work2 };
  int now = 0;

  for (int done = 0; done < b->passes;)
    {
      const int n = b->passes - done < share ? b->passes - done : share;
      const int rest = b->passes - done - n; /* passes that follow and need rows around */
      SbMarch m = {};
      m.blur = *b;
      m.window = *window;
      m.in = (const char *)work[now];
      m.out = rest > 0 ? (char *)work[!now] : NULL;
      m.stride = b->work_stride;
      m.height = b->source.height;
      m.first = b->x / 8 * 8;
      m.last = b->x + b->width;
      m.begin = b->y - rest * reach > 0 ? b->y - rest * reach : 0;
      m.end = b->y + b->height + rest * reach;
      if (m.end > m.height)
        m.end = m.height;
      if (rest > 0 && work[!now] == NULL)
        return cudaErrorInvalidValue;

      const int ring = rings (limits, n, b);
      const size_t shared = sb_march_bytes (n, b->radius, ring);
      const int columns = (m.last - m.first + 31) / 32;
      const int warps = warps_of (limits, n, b->radius, ring);
      if (warps < 1)
        return cudaErrorInvalidConfiguration;
      /* As many segments as the device has room for at once, and no more than pay for their
       * run-up: a wave that is not full costs as much as one that is. */
      const int runup = 2 * n * reach + n;
      const int rows = m.end - m.begin;
      double best = 0;
      int segments = 1;
      for (int s = 1; s <= rows && s <= 256; s++)
        {
          const long long blocks = (long long)columns * s;
          const long long room = (long long)limits->multiprocessors * warps;
          const double waves = (double)((blocks + room - 1) / room);
          const double cost = waves * ((rows + s - 1) / s + runup);
          if (best == 0 || cost < best)
            {
              best = cost;
              segments = s;
            }
        }
      m.rows = (rows + segments - 1) / segments;
      const dim3 grid ((unsigned)columns, (unsigned)((rows + m.rows - 1) / m.rows));
      kernel_of (n, b, method, ring, rest > 0)<<<grid, 32, shared, stream>>> (m);
      const cudaError_t status = cudaGetLastError ();
      if (status != cudaSuccess)
        return status;
      done += n;
      now = !now;
    }
  return cudaSuccess;
}
