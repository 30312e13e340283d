/* SPDX-License-Identifier: MIT */

#include "async.cuh"
#include "blur.cuh"
#include "pixel.cuh"

/* Columns: a block filters a few neighbouring ones, or a segment of them, in shared memory, where
 * they lie as in the picture, row by row. Eight columns of bytes fill a sector of 32 bytes; where
 * devices have clusters the blocks of one join their columns so that whole sectors are written. */

extern __shared__ uint4 column_memory[];

/* Ends with a barrier. */
template <int LINES>
__device__ __forceinline__ void
load_columns (const SbJob &job, uint2 *pixels, int x0, int lines, int start, int len)
{
  if (job.from_source)
    {
#pragma unroll 4
      for (int i = threadIdx.x; i < len * LINES; i += blockDim.x)
        {
          const int column = i % LINES, row = i / LINES;
          pixels[i] = column < lines ? sb_load_work (job.blur, x0 + column, start + row)
                                     : make_uint2 (0, 0);
        }
    }
  else
    {
      /* Columns beyond the last are copies of others; rows are written in pairs of pixels. */
      const char *from = job.in + (size_t)start * job.work_stride;
      if constexpr (LINES == 1)
        {
          from += 8 * (size_t)min (x0, job.last - 1);
#pragma unroll 4
          for (int row = threadIdx.x; row < len; row += blockDim.x)
            sb_copy_8 (pixels + row, from + (size_t)row * job.work_stride);
        }
      else
        {
          const int half = threadIdx.x % (LINES / 2);
          from += 16 * (size_t)min (x0 / 2 + half, (job.last - 1) / 2);
          const int step = blockDim.x / (LINES / 2);
          uint2 *to = pixels + 2 * half;
#pragma unroll 4
          for (int row = threadIdx.x / (LINES / 2); row < len; row += step)
            sb_copy_16 (to + row * LINES, from + (size_t)row * job.work_stride);
        }
      sb_commit_copies ();
      sb_wait_copies<0> ();
    }
  __syncthreads ();
}

/* A pixel of 4 bytes. */
static __device__ __noinline__ uint32_t
finish_one (const SbCudaBlur &b, uint2 p, uint32_t mask, uint2 raw)
{
  return sb_finish (b, p, mask, raw).x;
}

#if SB_HAS_BULK

__device__ __forceinline__ uint32_t
address_of_block (const void *mine, uint32_t rank)
{
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(sb_shared_address (mine)), "r"(rank));
  return there;
}

__device__ __forceinline__ uint2
load_of_block (uint32_t address)
{
  uint2 p;
  asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
               : "=r"(p.x), "=r"(p.y)
               : "r"(address)
               : "memory");
  return p;
}

__device__ __forceinline__ uint4
load_pair_of_block (uint32_t address)
{
  uint4 p;
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(p.x), "=r"(p.y), "=r"(p.z), "=r"(p.w)
               : "r"(address)
               : "memory");
  return p;
}

/* What threads of the cluster wrote to shared memory is seen by all of it. */
__device__ __forceinline__ void
join_cluster ()
{
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/* A block stays until all have read from it. */
__device__ __forceinline__ void
leave_cluster ()
{
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
               "barrier.cluster.wait.aligned;" ::
                   : "memory");
}

/* The columns of all blocks of the cluster, 8 from x0 on: each block makes its bytes and then
 * writes whole sectors of a share of the rows, of which it fetches what the others have made.
 * `pixels` is the first of n rows from y0 on, `bytes` the memory that then holds rows of LINES
 * words. */
template <int C, int LINES>
__device__ __forceinline__ void
store_joined (const SbJob &job, const uint2 *pixels, uint32_t *bytes, int x0, uint32_t rank, int y0,
              int n)
{
  enum
  {
    ROWS = (C + LINES - 1) / LINES, /* a thread, at most */
    BLOCKS = 8 / LINES
  };
  const SbCudaBlur &b = job.blur;
  const bool plain = sb_plain_target (&b);
  uint32_t v[ROWS][LINES];
#pragma unroll
  for (int u = 0; u < ROWS; u++)
    {
      const int row = u * blockDim.x + threadIdx.x;
      if (row < n)
#pragma unroll
        for (int c = 0; c < LINES / 2; c++)
          {
            const uint4 two = ((const uint4 *)(pixels + row * LINES))[c];
            const uint2 p = make_uint2 (two.x, two.y), q = make_uint2 (two.z, two.w);
            const uint2 none = make_uint2 (0, 0);
            v[u][2 * c] = plain ? sb_pack_8 (p) | 0xff000000u : finish_one (b, p, 65535, none);
            v[u][2 * c + 1] = plain ? sb_pack_8 (q) | 0xff000000u : finish_one (b, q, 65535, none);
          }
    }
  __syncthreads ();
#pragma unroll
  for (int u = 0; u < ROWS; u++)
    {
      const int row = u * blockDim.x + threadIdx.x;
      if (row < n)
#pragma unroll
        for (int c = 0; c < LINES / 2; c++)
          ((uint2 *)bytes)[row * (LINES / 2) + c] = make_uint2 (v[u][2 * c], v[u][2 * c + 1]);
    }
  join_cluster ();
  const int first = n * (int)rank / BLOCKS, count = n * (int)(rank + 1) / BLOCKS - first;
  const int half = threadIdx.x & 1;
  char *to = (char *)b.target.pixels + (size_t)(y0 + first) * b.target.stride
             + 4 * (size_t)(x0 + 4 * half);
  /* Of the four columns that this thread joins. */
  const uint32_t from0 = address_of_block (bytes + first * LINES, (uint32_t)half * (4 / LINES));
  const uint32_t from1 = address_of_block (bytes + first * LINES + (LINES == 4 ? 2 : 0),
                                           (uint32_t)half * (4 / LINES) + (LINES == 2 ? 1 : 0));
#pragma unroll 4
  for (int row = threadIdx.x >> 1; row < count; row += blockDim.x / 2)
    {
      const uint2 p = load_of_block (from0 + 4 * LINES * (uint32_t)row);
      const uint2 q = load_of_block (from1 + 4 * LINES * (uint32_t)row);
      *(uint4 *)(to + (size_t)row * b.target.stride) = make_uint4 (p.x, p.y, q.x, q.y);
    }
  leave_cluster ();
}

/* The same under a mask. The pixels stay as they are; who writes a row's eight fetches them, its
 * mask and its input, all of them in whole sectors. */
template <int LINES>
__device__ __forceinline__ void
store_mixed (const SbJob &job, const uint2 *pixels, int x0, uint32_t rank, int y0, int n)
{
  enum
  {
    ROWS = 2, /* at a time */
    BLOCKS = 8 / LINES
  };
  const SbCudaBlur &b = job.blur;
  const bool simple = b.opaque && !b.linear;
  const int first = n * (int)rank / BLOCKS, count = n * (int)(rank + 1) / BLOCKS - first;
  const int half = threadIdx.x & 1, x = x0 + 4 * half, y = y0 + first;
  const uint2 *from = pixels + first * LINES;

  join_cluster ();
  /* Pairs of the four columns that this thread joins. */
  const uint32_t from0 = address_of_block (from, (uint32_t)half * (4 / LINES));
  const uint32_t from1 = address_of_block (from + (LINES == 4 ? 2 : 0),
                                           (uint32_t)half * (4 / LINES) + (LINES == 2 ? 1 : 0));
#pragma unroll 1
  for (int row = threadIdx.x >> 1; row < count; row += ROWS * (blockDim.x / 2))
    {
      uint2 mask[ROWS];
      uint4 raw[ROWS], p[ROWS], q[ROWS];
#pragma unroll
      for (int u = 0; u < ROWS; u++)
        {
          const int i = min (row + u * (int)(blockDim.x / 2), count - 1);
          mask[u] = __ldg ((const uint2 *)((const char *)b.mask + (size_t)(y + i) * b.mask_stride
                                           + 2 * (size_t)x));
          raw[u] = __ldg ((const uint4 *)((const char *)b.source.pixels
                                          + (size_t)(y + i) * b.source.stride + 4 * (size_t)x));
          p[u] = load_pair_of_block (from0 + 8 * LINES * (uint32_t)i);
          q[u] = load_pair_of_block (from1 + 8 * LINES * (uint32_t)i);
        }
#pragma unroll
      for (int u = 0; u < ROWS; u++)
        {
          const int i = row + u * (int)(blockDim.x / 2);
          const uint2 c[4] = { make_uint2 (p[u].x, p[u].y), make_uint2 (p[u].z, p[u].w),
                               make_uint2 (q[u].x, q[u].y), make_uint2 (q[u].z, q[u].w) };
          const uint32_t in[4] = { raw[u].x, raw[u].y, raw[u].z, raw[u].w };
          uint32_t v[4];
#pragma unroll
          for (int k = 0; k < 4; k++)
            {
              const uint32_t m = (k < 2 ? mask[u].x : mask[u].y) >> (k & 1 ? 16 : 0) & 65535;
              v[k] = simple ? sb_pack_8 (sb_mix_opaque (sb_expand (in[k]), c[k], m)) | 0xff000000u
                            : finish_one (b, c[k], m, make_uint2 (in[k], 0));
            }
          if (i < count)
            *(uint4 *)((char *)b.target.pixels + (size_t)(y + i) * b.target.stride + 4 * (size_t)x)
                = make_uint4 (v[0], v[1], v[2], v[3]);
        }
    }
  leave_cluster ();
}

#endif

/* After a barrier. */
template <int LINES>
__device__ __forceinline__ void
store_columns (const SbJob &job, const uint2 *pixels, int x0, int lines, int y0, int n)
{
  const SbCudaBlur &b = job.blur;
  if (LINES == 4 && job.to_target && sb_plain_target (&b) && lines == LINES && x0 >= b.x
      && x0 + lines <= b.x + b.width)
    {
      char *to = (char *)b.target.pixels + (size_t)y0 * b.target.stride + 4 * (size_t)x0;
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        {
          uint32_t v[4];
#pragma unroll
          for (int c = 0; c < 4; c++)
            v[c] = sb_pack_8 (pixels[i * LINES + c % LINES]) | 0xff000000u;
          *(uint4 *)(to + (size_t)i * b.target.stride) = make_uint4 (v[0], v[1], v[2], v[3]);
        }
      return;
    }
  for (int i = threadIdx.x; i < n * LINES; i += blockDim.x)
    {
      const int column = i % LINES, row = i / LINES, x = x0 + column;
      const uint2 p = pixels[i];
      if (column >= lines)
        continue;
      if (!job.to_target)
        ((uint2 *)(job.out + (size_t)(y0 + row) * job.work_stride))[x] = p;
      else if (x >= b.x && x < b.x + b.width)
        sb_store_result (b, x, y0 + row, p);
    }
}

template <int C, int CHANNELS, int METHOD, int LINES>
__global__ void
__launch_bounds__ (SB_COLUMN_THREADS, SB_COLUMN_BLOCKS)
    column_kernel (const __grid_constant__ SbJob job)
{
  const int threads = blockDim.x / LINES;
  /* Neighbouring columns are neighbouring blocks: they share sectors of memory. */
  const int groups = job.groups;
  const int segment = (int)(blockIdx.x / (unsigned)groups);
  const int x0 = job.first + (int)(blockIdx.x % (unsigned)groups) * LINES;
  const int lines = min (LINES, job.last - x0);
  const int keep0 = job.begin + segment * job.keep;
  const int keep1 = min (keep0 + job.keep, job.end);
  const int start = max (keep0 - job.halo, 0);
  const int mine = threadIdx.x % LINES;

  SbLine line;
  line.totals = column_memory + mine;
  line.sums = column_memory + 16 * LINES + mine;
  line.thread = threadIdx.x / LINES;
  line.threads = threads;
  line.scan = job.scan;
  line.len = min (keep1 + job.halo, job.length) - start;
  uint2 *memory = (uint2 *)(column_memory + (16 + threads + 1) * LINES);
  uint2 *pixels = memory + job.pad * LINES;
  line.pixels = pixels + mine;

  load_columns<LINES> (job, pixels, x0, lines, start, line.len);
  sb_line_pad<LINES> (line, line.pixels, job.window);
  SbSum<CHANNELS> own = sb_line_start<C, CHANNELS, LINES> (line, line.pixels);
  for (int pass = 0; pass < job.passes; pass++)
    sb_line_pass<C, CHANNELS, METHOD, LINES> (line, (const uint2 *)line.pixels, job.window, own);
  __syncthreads ();
#if SB_HAS_BULK
  if constexpr (LINES > 1)
    {
      const uint32_t rank = blockIdx.x % (8u / LINES);
      const int left = x0 - (int)rank * LINES;
      if (job.cluster > 1 && left >= job.blur.x && left + 8 <= job.blur.x + job.blur.width)
        {
          const uint2 *kept = pixels + (keep0 - start) * LINES;
          if (job.blur.mask != NULL)
            store_mixed<LINES> (job, kept, left, rank, keep0, keep1 - keep0);
          else
            store_joined<C, LINES> (job, kept, (uint32_t *)memory, left, rank, keep0,
                                    keep1 - keep0);
          return;
        }
    }
#endif
  store_columns<LINES> (job, pixels + (keep0 - start) * LINES, x0, lines, keep0, keep1 - keep0);
}

typedef void (*ColumnKernel) (const SbJob);

#define COLUMNS_OF(n, lines)                                                                       \
  {                                                                                                \
    column_kernel<SB_CHUNK, n, SB_METHOD_FLOAT, lines>,                                            \
        column_kernel<SB_CHUNK, n, SB_METHOD_WHOLE, lines>,                                        \
        column_kernel<SB_CHUNK, n, SB_METHOD_FRACTION, lines>                                      \
  }

/* By the number of lines: 1, 2, 4; channels; and method. */
static const ColumnKernel columns[3][2][3] = { { COLUMNS_OF (3, 1), COLUMNS_OF (4, 1) },
                                               { COLUMNS_OF (3, 2), COLUMNS_OF (4, 2) },
                                               { COLUMNS_OF (3, 4), COLUMNS_OF (4, 4) } };

cudaError_t
sb_cuda_columns_prepare (const SbCudaLimits *limits)
{
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < 3 * 2 * 3 && status == cudaSuccess; i++)
    status = cudaFuncSetAttribute ((const void *)((const ColumnKernel *)columns)[i],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)limits->shared_per_block);
  return status;
}

cudaError_t
sb_cuda_columns (SbJob *job, const SbPlan *plan, int method, cudaStream_t stream)
{
  const ColumnKernel kernel = columns[plan->lines / 2][job->blur.opaque ? 0 : 1][method];

  job->groups = (job->last - job->first + job->lines - 1) / job->lines;
  const SbCudaBlur &b = job->blur;
  job->cluster = job->bulk && job->to_target && b.target.depth == 8 && job->lines >= 2
                         && (b.mask == NULL || b.source.depth == 8)
                     ? 8 / job->lines
                     : 1;
  if (job->cluster == 1)
    {
      kernel<<<(unsigned)(job->groups * job->segments), plan->threads, plan->shared, stream>>> (
          *job);
      return cudaGetLastError ();
    }
  job->groups = (job->groups + job->cluster - 1) / job->cluster * job->cluster;

  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = (unsigned)job->cluster;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3 ((unsigned)(job->groups * job->segments));
  config.blockDim = dim3 ((unsigned)plan->threads);
  config.dynamicSmemBytes = plan->shared;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return cudaLaunchKernelEx (&config, kernel, *job);
}
