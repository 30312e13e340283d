/* SPDX-License-Identifier: MIT */

#include "march.cuh"

/* Which march, and how many segments. */

#define MAX_MARCH 3
/* Fewer warps a multiprocessor than this cannot hide each other's latency. */
#define MIN_WARPS 4
/* More than this bring little; more of those that read all rows twice. */
#define ENOUGH_WARPS(ring) ((ring) ? 7 : 11)

static SbMarchKernel
kernel_of (int n, const SbCudaBlur *b, int method, int ring, int plain)
{
  const int kind = !b->opaque ? 2 : plain ? 0 : 1;
  const int fraction = method == SB_METHOD_FRACTION ? 1 : 0;
  if (n == 3)
    return sb_marches_3[fraction][kind];
  if (n == 2)
    return sb_marches_2[fraction][kind];
  return ring ? sb_marches_1[fraction][kind] : sb_marches_1[2 + method][kind];
}

/* Warps of a multiprocessor, and how many of them a block has: those share a table. Without one
 * larger blocks fit one more warp at times, and were slower. */
static int
warps_of (const SbCudaLimits *limits, size_t bytes, size_t table, int *a_block)
{
  size_t best = 0;
  for (int k = 1; k <= (table > 0 ? MARCH_MAX_WARPS : 1); k++)
    {
      const size_t block = bytes * (size_t)k + table;
      if (block > limits->shared_per_block)
        break;
      const size_t warps = limits->shared_per_multiprocessor / (block + 1024) * (size_t)k;
      if (warps > best)
        {
          best = warps;
          *a_block = k;
        }
    }
  return best > 16 ? 16 : (int)best;
}

/* The same without a table. */
static int
warps_at_least (const SbCudaLimits *limits, int n, int radius)
{
  int a_block;
  return warps_of (limits, sb_march_bytes (n, 3, radius, 1, 1, 0, 0), 0, &a_block);
}

static int
rings (const SbCudaLimits *limits, int n, const SbCudaBlur *b)
{
  return n > 1
         || (2 * b->radius + 1 <= SB_MAX_FLOAT_WINDOW
             && warps_at_least (limits, 1, b->radius) >= MIN_WARPS);
}

int
sb_cuda_march_passes (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  int n = b->passes < MAX_MARCH ? b->passes : MAX_MARCH;
  while (n > 1
         && (2 * b->radius + 1 > SB_MAX_FLOAT_WINDOW
             || warps_at_least (limits, n, b->radius) < MIN_WARPS))
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

/* One launch. */
typedef struct
{
  SbMarch march;
  int n, ring, plain;
  size_t shared;
  int threads;
  dim3 grid;
} Launch;

static cudaError_t
plan (const SbCudaLimits *limits, const SbCudaBlur *b, int done, Launch *launch)
{
  const int reach = b->radius + (b->fraction != 0);
  const int share = sb_cuda_march_passes (limits, b);
  const int n = b->passes - done < share ? b->passes - done : share;
  const int rest = b->passes - done - n; /* passes that follow and need rows around */
  SbMarch m = {};

  m.blur = *b;
  m.stride = (uint32_t)b->work_stride;
  m.height = b->source.height;
  m.first = b->x / 8 * 8;
  m.last = b->x + b->width;
  m.begin = b->y - rest * reach > 0 ? b->y - rest * reach : 0;
  m.end = b->y + b->height + rest * reach;
  if (m.end > m.height)
    m.end = m.height;
  m.top = b->y - (rest + n) * reach > 0 ? b->y - (rest + n) * reach : 0;
  m.bottom = b->y + b->height + (rest + n) * reach - 1;
  if (m.bottom > m.height - 1)
    m.bottom = m.height - 1;

  const int ring = rings (limits, n, b);
  const int plain = rest == 0 && sb_plain_target (b);
  m.fast = rest == 0 && b->target.depth == 8 && (b->mask == NULL || b->source.depth == 8)
           && (!b->linear || (b->tone.encode8_steps != NULL && b->tone.same));
  m.wide = rest > 0 || (b->target.depth == 16 && b->opaque && !b->linear && b->mask == NULL);
  m.to_stride = (uint32_t)(rest > 0 ? b->work_stride : b->target.stride);
  size_t table = m.fast && b->linear ? MARCH_TABLE_BYTES : 0, bytes;
  int a_block = 0, warps;
  for (;;)
    {
      bytes = sb_march_bytes (n, b->opaque ? 3 : 4, b->radius, ring, plain,
                              !plain && !m.fast && !m.wide, m.fast && b->mask != NULL);
      warps = warps_of (limits, bytes, table, &a_block);
      if (warps > 0 || table == 0)
        break;
      m.fast = 0;
      table = 0;
    }
  if (warps < 1)
    return cudaErrorInvalidConfiguration;
  m.bytes = (int)bytes;
  const int columns = (m.last - m.first + 32 * a_block - 1) / (32 * a_block);
  /* A multiprocessor that holds the most warps is the last to finish; too few of them leave it
   * waiting as long as enough would take. */
  const int runup = 2 * n * reach + n, enough = ENOUGH_WARPS (ring);
  const int rows = m.end - m.begin;
  double best = 0;
  int segments = 1;
  for (int s = 1; s <= rows && s <= 256; s++)
    {
      const int room = limits->multiprocessors;
      const int load = (int)(((long long)columns * a_block * s + room - 1) / room);
      const int waves = (load + warps - 1) / warps, last = load - (waves - 1) * warps;
      const double busy = (double)(waves - 1) * (warps > enough ? warps : enough)
                          + (last > enough ? last : enough);
      const double cost = busy * ((rows + s - 1) / s + runup);
      if (best == 0 || cost < best)
        {
          best = cost;
          segments = s;
        }
    }
  m.rows = (rows + segments - 1) / segments;
  launch->march = m;
  launch->n = n;
  launch->ring = ring;
  launch->plain = plain;
  launch->shared = table + bytes * (size_t)a_block;
  launch->threads = 32 * a_block;
  launch->grid = dim3 ((unsigned)columns, (unsigned)((rows + m.rows - 1) / m.rows));
  return cudaSuccess;
}

cudaError_t
sb_cuda_march (const SbCudaLimits *limits, const SbCudaBlur *b, const SbWindow *window, int method,
               cudaStream_t stream)
{
  void *work[2] = { b->work, b->work2 };
  int now = 0;

  for (int done = 0; done < b->passes;)
    {
      Launch launch = {};
      const cudaError_t planned = plan (limits, b, done, &launch);
      if (planned != cudaSuccess)
        return planned;
      SbMarch &m = launch.march;
      m.window = *window;
      m.in = (const char *)work[now];
      m.to = (char *)b->target.pixels;
      if (done + launch.n < b->passes)
        {
          if (work[!now] == NULL)
            return cudaErrorInvalidValue;
          m.to = m.out = (char *)work[!now];
        }
      kernel_of (launch.n, b, method, launch.ring,
                 launch.plain)<<<launch.grid, launch.threads, launch.shared, stream>>> (m);
      const cudaError_t status = cudaGetLastError ();
      if (status != cudaSuccess)
        return status;
      done += launch.n;
      now = !now;
    }
  return cudaSuccess;
}
