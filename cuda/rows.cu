/* SPDX-License-Identifier: MIT */

#include "async.cuh"
#include "blur.cuh"
#include "pixel.cuh"

/* Rows: a block filters one row, or a segment of it, in shared memory. Where the device copies in
 * bulk one thread asks for the whole row and later stores it; elsewhere all copy 16 bytes at a
 * time. Bytes lie in the upper half of the room for the pixels until the first pass has read them,
 * or until they are decoded and premultiplied, by threads that hold a chunk each in registers. */

extern __shared__ uint4 row_memory[];

/* Loads and stores go in batches of independent accesses: a block has nothing else to hide their
 * latency with. */
#define BATCH 4

/* Calls fetch (i) for a batch of this thread's items, then put (i, value) for each. */
template <typename Fetch, typename Put>
__device__ __forceinline__ void
in_batches (int n, Fetch fetch, Put put)
{
  for (int i = threadIdx.x; i < n; i += BATCH * blockDim.x)
    {
      decltype (fetch (0)) value[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        if (i + u * (int)blockDim.x < n)
          value[u] = fetch (i + u * (int)blockDim.x);
#pragma unroll
      for (int u = 0; u < BATCH; u++)
        if (i + u * (int)blockDim.x < n)
          put (i + u * (int)blockDim.x, value[u]);
    }
}

/* bytes, a multiple of 16, as they are; meanwhile () runs while they are under way. Ends with a
 * barrier. */
template <typename Meanwhile>
__device__ __forceinline__ void
load_whole (const SbJob &job, void *to, const char *from, int bytes, Meanwhile meanwhile)
{
#if SB_HAS_BULK
  if (job.bulk)
    {
      __shared__ uint64_t loaded;
      if (threadIdx.x == 0)
        {
          sb_bulk_init (&loaded);
          sb_bulk_load (to, from, (uint32_t)bytes, &loaded);
        }
      meanwhile ();
      __syncthreads ();
      sb_bulk_wait (&loaded, 0);
      return;
    }
#endif
  in_batches (
      bytes / 16, [&] (int i) { return __ldg ((const uint4 *)from + i); },
      [&] (int i, uint4 v) { ((uint4 *)to)[i] = v; });
  meanwhile ();
  __syncthreads ();
}

/* Decoded values of bytes, 32 times each: lanes read their own copy, so that only two of them can
 * hit a bank. */
#define TABLE_COPIES ((int)(SB_ROW_TABLE / 512))

__device__ __forceinline__ int
fill_table (const SbCudaBlur &b, uint16_t *table)
{
  int same = 1;
  for (int i = threadIdx.x; i < 256 * TABLE_COPIES / 8; i += blockDim.x)
    {
      const uint16_t *entry = b.tone.decode8 + i / (TABLE_COPIES / 8);
      const uint32_t v = __ldg (entry), two = v | v << 16;
      same &= v == __ldg (entry + 256) && v == __ldg (entry + 512);
      ((uint4 *)table)[i] = make_uint4 (two, two, two, two);
    }
  return same;
}

/* Linear pixels of 8 bits where the table is of no use: colours differ, or there was no room. */
__device__ __forceinline__ void
load_decoded (const SbCudaBlur &b, uint2 *pixels, const char *from, int len)
{
  in_batches ((len + 3) / 4, [&] (int i) { return __ldg ((const uint4 *)from + i); },
              [&] (int i, uint4 v) {
                const uint2 p0 = sb_to_work (b, make_uint2 (v.x, 0));
                const uint2 p1 = sb_to_work (b, make_uint2 (v.y, 0));
                const uint2 p2 = sb_to_work (b, make_uint2 (v.z, 0));
                const uint2 p3 = sb_to_work (b, make_uint2 (v.w, 0));
                uint4 *to = (uint4 *)(pixels + 4 * i);
                to[0] = make_uint4 (p0.x, p0.y, p1.x, p1.y);
                to[1] = make_uint4 (p2.x, p2.y, p3.x, p3.y);
              });
  __syncthreads ();
}

/* Rows start at multiples of 256 bytes and so end in room to spare; start is a multiple of 4; raw
 * is room for bytes in the upper half of the pixels'. The sums of chunks. Ends with a barrier,
 * after which what lies around the pixels is still to be made. */
template <int C, int CHANNELS>
__device__ __forceinline__ SbSum<CHANNELS>
load_row (const SbJob &job, const SbLine &line, uint32_t *raw, uint16_t *table, int y, int start)
{
  const SbCudaBlur &b = job.blur;
  const char *row = job.from_source ? (const char *)b.source.pixels + (size_t)y * b.source.stride
                                    : job.in + (size_t)y * job.work_stride;
  uint2 *pixels = line.pixels;
  const int base = line.thread * C, count = line.len - base;

  if (!job.from_source || b.source.depth == 16)
    {
      load_whole (job, pixels, row + 8 * (size_t)start, (line.len + 1) / 2 * 16, [] {});
      if (job.from_source && (b.linear || !b.opaque))
        {
#pragma unroll 3
          for (int j = 0; j < C; j++)
            if (j < count)
              pixels[base + j] = sb_to_work (b, pixels[base + j]);
          __syncthreads ();
        }
      return sb_line_start<C, CHANNELS, 1> (line, pixels);
    }

  int same = 1;
  load_whole (job, raw, row + 4 * (size_t)start, (line.len + 3) / 4 * 16, [&] {
    if (job.table > 0)
      same = fill_table (b, table);
  });
  if (b.linear && (job.table == 0 || !__syncthreads_and (same)))
    {
      load_decoded (b, pixels, row + 4 * (size_t)start, line.len);
      return sb_line_start<C, CHANNELS, 1> (line, pixels);
    }
  uint32_t v[C];
#pragma unroll
  for (int j = 0; j < C; j++)
    v[j] = j < count ? raw[base + j] : 0;
  __syncthreads ();
  SbSum<CHANNELS> own = {};
  if (b.linear)
    {
      const uint16_t *copy = table + (threadIdx.x & 31);
#pragma unroll
      for (int j = 0; j < C; j++)
        if (j < count)
          {
            uint2 p = sb_pack (copy[(v[j] & 255) * TABLE_COPIES],
                               copy[(v[j] >> 8 & 255) * TABLE_COPIES],
                               copy[(v[j] >> 16 & 255) * TABLE_COPIES], (v[j] >> 24) * 257u);
            if (CHANNELS > 3)
              p = sb_premultiply_16 (p);
            pixels[base + j] = p;
            sb_add (own, p);
          }
    }
  else
#pragma unroll
    for (int j = 0; j < C; j++)
      if (j < count)
        {
          const uint2 p = sb_premultiply_8 (v[j]);
          pixels[base + j] = p;
          sb_add (own, p);
        }
  __syncthreads ();
  return own;
}

/* After a barrier. */
__device__ __forceinline__ void
store_row (const SbJob &job, const uint2 *pixels, int y, int x0, int n)
{
  if (job.to_target)
    {
      if (sb_plain_target (&job.blur) && (x0 & 3) == 0)
        {
          uint32_t *row
              = (uint32_t *)((char *)job.blur.target.pixels + (size_t)y * job.blur.target.stride)
                + x0;
          for (int i = threadIdx.x; i < n / 4; i += blockDim.x)
            {
              uint32_t v[4];
#pragma unroll
              for (int u = 0; u < 4; u++)
                v[u] = sb_pack_8 (pixels[4 * i + u]) | 0xff000000u;
              ((uint4 *)row)[i] = make_uint4 (v[0], v[1], v[2], v[3]);
            }
          if ((int)threadIdx.x < (n & 3))
            {
              const int i = (n & ~3) + threadIdx.x;
              row[i] = sb_pack_8 (pixels[i]) | 0xff000000u;
            }
          return;
        }
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        sb_store_result (job.blur, x0 + i, y, pixels[i]);
      return;
    }
  char *row = job.out + (size_t)y * job.work_stride + 8 * (size_t)x0;
  /* x0 is a multiple of 8; so is n, unless the row ends there. */
#if SB_HAS_BULK
  if (job.bulk)
    {
      if (threadIdx.x == 0)
        sb_bulk_store (row, pixels, (uint32_t)(n + 1) / 2 * 16);
      return;
    }
#endif
  in_batches ((n + 1) / 2, [&] (int i) { return ((const uint4 *)pixels)[i]; },
              [&] (int i, uint4 v) { ((uint4 *)row)[i] = v; });
}

template <int C, int CHANNELS, int METHOD, bool BYTES>
__global__ void
__launch_bounds__ (SB_ROW_THREADS, SB_ROW_BLOCKS) row_kernel (const __grid_constant__ SbJob job)
{
  const int segment = (int)(blockIdx.x % (unsigned)job.segments);
  const int y = job.first + (int)(blockIdx.x / (unsigned)job.segments);
  const int keep0 = job.begin + segment * job.keep;
  const int keep1 = min (keep0 + job.keep, job.end);
  const int start = max (keep0 - job.halo, 0) & ~3;

  SbLine line;
  line.totals = row_memory + job.table / sizeof (uint4);
  line.sums = line.totals + 16;
  uint2 *memory = (uint2 *)(line.sums + blockDim.x + 1);
  line.pixels = memory + job.pad;
  line.len = min (keep1 + job.halo, job.length) - start;
  line.thread = threadIdx.x;
  line.threads = blockDim.x;
  line.scan = job.scan;
  uint32_t *raw = (uint32_t *)(memory + job.pitch / 2) + job.pad;

  SbSum<CHANNELS> own;
  if (BYTES)
    {
      load_whole (job, raw,
                  (const char *)job.blur.source.pixels + (size_t)y * job.blur.source.stride
                      + 4 * (size_t)start,
                  (line.len + 3) / 4 * 16, [] {});
      sb_line_pad<1> (line, raw, job.window);
      own = sb_line_start<C, CHANNELS, 1> (line, raw);
      sb_line_pass<C, CHANNELS, METHOD, 1> (line, (const uint32_t *)raw, job.window, own);
    }
  else
    {
      own = load_row<C, CHANNELS> (job, line, raw, (uint16_t *)row_memory, y, start);
      sb_line_pad<1> (line, line.pixels, job.window);
    }
  for (int pass = BYTES ? 1 : 0; pass < job.passes; pass++)
    sb_line_pass<C, CHANNELS, METHOD, 1> (line, (const uint2 *)line.pixels, job.window, own);

#if SB_HAS_BULK
  sb_bulk_fence ();
#endif
  __syncthreads ();
  store_row (job, line.pixels + (keep0 - start), y, keep0, keep1 - keep0);
}

typedef void (*RowKernel) (const SbJob);

#define ROWS_OF(m)                                                                                 \
  {                                                                                                \
    row_kernel<SB_CHUNK, 3, m, true>, row_kernel<SB_CHUNK, 3, m, false>,                           \
        row_kernel<SB_CHUNK, 4, m, false>                                                          \
  }

/* By method, and by how pixels come: bytes, three channels, four. */
static const RowKernel rows[3][3]
    = { ROWS_OF (SB_METHOD_FLOAT), ROWS_OF (SB_METHOD_WHOLE), ROWS_OF (SB_METHOD_FRACTION) };

cudaError_t
sb_cuda_rows_prepare (const SbCudaLimits *limits)
{
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < 3 * 3 && status == cudaSuccess; i++)
    status = cudaFuncSetAttribute ((const void *)((const RowKernel *)rows)[i],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)limits->shared_per_block - 256);
  return status;
}

cudaError_t
sb_cuda_rows (const SbJob *job, const SbPlan *plan, int method, cudaStream_t stream)
{
  const int kind = !job->blur.opaque ? 2 : job->from_source && sb_plain_source (&job->blur) ? 0 : 1;
  const unsigned blocks = (unsigned)(job->last - job->first) * (unsigned)job->segments;
  rows[method][kind]<<<blocks, plan->threads, plan->shared, stream>>> (*job);
  return cudaGetLastError ();
}
