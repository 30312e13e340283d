/* SPDX-License-Identifier: MIT */

#include "async.cuh"
#include "blur.cuh"
#include "pixel.cuh"

/* Columns: a block filters a few neighbouring ones, or a segment of them, in shared memory. Eight
 * columns of bytes fill a sector of 32 bytes; where devices have clusters the blocks of one join
 * their columns so that whole sectors are written. */

extern __shared__ uint4 column_memory[];

/* Ends with a barrier. */
__device__ __forceinline__ void
load_columns (const SbJob &job, uint2 *pixels, int x0, int lines, int start, int len)
{
  const int n = len << job.log_lines, mask = job.lines - 1;
  if (job.from_source)
    {
#pragma unroll 4
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        {
          const int column = i & mask, row = i >> job.log_lines;
          pixels[column * job.pitch + row] = column < lines
                                                 ? sb_load_work (job.blur, x0 + column, start + row)
                                                 : make_uint2 (0, 0);
        }
    }
  else
    {
      /* Rows of the work picture end in room to spare: columns beyond the last exist. */
      const char *from = job.in + (size_t)start * job.work_stride + 8 * (size_t)x0;
      const int column = threadIdx.x & mask;
      const int step = blockDim.x >> job.log_lines;
      uint2 *to = pixels + column * job.pitch;
      from += 8 * min (column, job.last - 1 - x0);
      for (int row = threadIdx.x >> job.log_lines; row < len; row += step)
        sb_copy_8 (to + row, from + (size_t)row * job.work_stride);
      sb_commit_copies ();
      sb_wait_copies<0> ();
    }
  __syncthreads ();
}

#if SB_HAS_BULK

__device__ __forceinline__ uint2
load_of_block (const uint2 *mine, uint32_t rank)
{
  uint32_t there;
  uint2 p;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(sb_shared_address (mine)), "r"(rank));
  asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
               : "=r"(p.x), "=r"(p.y)
               : "r"(there)
               : "memory");
  return p;
}

/* The columns of all blocks of the cluster, 8 from x0 on; a block writes its share of the rows. */
__device__ __forceinline__ void
store_joined (const SbJob &job, const uint2 *pixels, int x0, uint32_t rank, int y0, int n)
{
  const SbCudaBlur &b = job.blur;
  const int first = n * (int)rank / job.cluster, last = n * (int)(rank + 1) / job.cluster;
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  for (int i = 2 * first + threadIdx.x; i < 2 * last; i += blockDim.x)
    {
      const int row = i >> 1, half = i & 1;
      uint32_t v[4];
#pragma unroll
      for (int c = 0; c < 4; c++)
        {
          const int column = 4 * half + c;
          const uint2 p = load_of_block (pixels + (column & (job.lines - 1)) * job.pitch + row,
                                         (uint32_t)column >> job.log_lines);
          v[c] = sb_pack_8 (p) | 0xff000000u;
        }
      *(uint4 *)((char *)b.target.pixels + (size_t)(y0 + row) * b.target.stride
                 + 4 * (size_t)(x0 + 4 * half))
          = make_uint4 (v[0], v[1], v[2], v[3]);
    }
  /* A block stays until all have read from it. */
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
               "barrier.cluster.wait.aligned;" ::
                   : "memory");
}

#endif

/* After a barrier. */
__device__ __forceinline__ void
store_columns (const SbJob &job, const uint2 *pixels, int x0, int lines, int y0, int n)
{
  const SbCudaBlur &b = job.blur;
  const int mask = job.lines - 1;
  if (job.to_target && sb_plain_target (&b) && lines == job.lines && lines >= 4 && x0 >= b.x
      && x0 + lines <= b.x + b.width)
    {
      /* Four columns a thread: 16 bytes. */
      const int log = job.log_lines - 2, fours = job.lines / 4 - 1;
      char *to = (char *)b.target.pixels + (size_t)y0 * b.target.stride + 4 * (size_t)x0;
      for (int i = threadIdx.x; i < n << log; i += blockDim.x)
        {
          const int column = 4 * (i & fours), row = i >> log;
          uint32_t v[4];
#pragma unroll
          for (int c = 0; c < 4; c++)
            v[c] = sb_pack_8 (pixels[(column + c) * job.pitch + row]) | 0xff000000u;
          *(uint4 *)(to + (size_t)row * b.target.stride + 4 * column)
              = make_uint4 (v[0], v[1], v[2], v[3]);
        }
      return;
    }
  for (int i = threadIdx.x; i < n << job.log_lines; i += blockDim.x)
    {
      const int column = i & mask, row = i >> job.log_lines, x = x0 + column;
      const uint2 p = pixels[column * job.pitch + row];
      if (column >= lines)
        continue;
      if (!job.to_target)
        ((uint2 *)(job.out + (size_t)(y0 + row) * job.work_stride))[x] = p;
      else if (x >= b.x && x < b.x + b.width)
        sb_store_result (b, x, y0 + row, p);
    }
}

template <int C, int CHANNELS, int METHOD>
__global__ void
__launch_bounds__ (SB_COLUMN_THREADS, 2) column_kernel (const __grid_constant__ SbJob job)
{
  const int threads = blockDim.x / job.lines;
  /* Neighbouring columns are neighbouring blocks: they share sectors of memory. */
  const int groups = job.groups;
  const int segment = (int)(blockIdx.x / (unsigned)groups);
  const int x0 = job.first + (int)(blockIdx.x % (unsigned)groups) * job.lines;
  const int lines = min (job.lines, job.last - x0);
  const int keep0 = job.begin + segment * job.keep;
  const int keep1 = min (keep0 + job.keep, job.end);
  const int start = max (keep0 - job.halo, 0);
  const int mine = threadIdx.x / threads;

  SbLine line;
  line.totals = column_memory + 16 * mine;
  line.sums = column_memory + 16 * job.lines + (threads + 1) * mine;
  line.thread = threadIdx.x - mine * threads;
  line.threads = threads;
  line.scan = job.scan;
  line.len = min (keep1 + job.halo, job.length) - start;
  uint2 *pixels = (uint2 *)(column_memory + (16 + threads + 1) * job.lines);
  pixels += job.pad;
  line.pixels = pixels + mine * job.pitch;

  load_columns (job, pixels, x0, lines, start, line.len);
  sb_line_pad (line, line.pixels, job.window);
  SbSum<CHANNELS> own = sb_line_start<C, CHANNELS> (line, line.pixels);
  for (int pass = 0; pass < job.passes; pass++)
    sb_line_pass<C, CHANNELS, METHOD> (line, (const uint2 *)line.pixels, job.window, own);
  __syncthreads ();
#if SB_HAS_BULK
  if (job.cluster > 1)
    {
      const uint32_t rank = blockIdx.x % (unsigned)job.cluster;
      const int left = x0 - (int)rank * job.lines;
      if (left >= job.blur.x && left + 8 <= job.blur.x + job.blur.width)
        {
          store_joined (job, pixels + (keep0 - start), left, rank, keep0, keep1 - keep0);
          return;
        }
    }
#endif
  store_columns (job, pixels + (keep0 - start), x0, lines, keep0, keep1 - keep0);
}

typedef void (*ColumnKernel) (const SbJob);

#define COLUMNS_OF(n)                                                                              \
  {                                                                                                \
    column_kernel<SB_CHUNK, n, SB_METHOD_FLOAT>, column_kernel<SB_CHUNK, n, SB_METHOD_WHOLE>,      \
        column_kernel<SB_CHUNK, n, SB_METHOD_FRACTION>                                             \
  }

static const ColumnKernel columns[2][3] = { COLUMNS_OF (3), COLUMNS_OF (4) };

cudaError_t
sb_cuda_columns_prepare (const SbCudaLimits *limits)
{
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < 2 * 3 && status == cudaSuccess; i++)
    status = cudaFuncSetAttribute ((const void *)((const ColumnKernel *)columns)[i],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)limits->shared_per_block);
  return status;
}

cudaError_t
sb_cuda_columns (SbJob *job, const SbPlan *plan, int method, cudaStream_t stream)
{
  const ColumnKernel kernel = columns[job->blur.opaque ? 0 : 1][method];

  job->groups = (job->last - job->first + job->lines - 1) / job->lines;
  job->cluster = job->bulk && job->to_target && sb_plain_target (&job->blur) && job->lines >= 2
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
