/* SPDX-License-Identifier: MIT */

#include "sb-cuda-kernels.h"

#include "line.cuh"
#include "march.cuh"
#include "pixel.cuh"

#include <stdlib.h>

/* The blur: rows, then columns, each line in shared memory (line.cuh), with a picture of 16 bits a
 * channel between the two. A block filters one row or several neighbouring columns: columns are
 * read and written in whole sectors of 32 bytes that way. Lines longer than shared memory are cut
 * into segments with a halo of one reach a pass; where even the halo does not fit, a launch does
 * one pass. */

struct Job
{
  SbCudaBlur blur;
  SbWindow window;
  int passes;
  int first, last; /* lines: columns x or rows y, [first, last) */
  int begin, end;  /* wanted part of each line */
  int length;      /* of the picture along the line */
  int halo;        /* samples before and after a segment's kept part */
  int keep;        /* samples a segment keeps */
  int segments;
  int lines, log_lines; /* a block; a power of two */
  int pitch;            /* pixels from line to line in shared memory */
  int from_source, to_target;
  const char *in;
  char *out;
  size_t work_stride;
};

extern __shared__ uint4 shared_memory[];

/* Loads and stores go in batches of independent accesses, 16 bytes each where alignment allows: a
 * block has nothing else to hide their latency with. */
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

__device__ __forceinline__ const uint4 *
quads (const void *row, size_t bytes)
{
  return (const uint4 *)((const char *)row + bytes);
}

__device__ __forceinline__ void
load_row (const Job &job, uint2 *pixels, int y, int start, int len)
{
  const SbCudaBlur &b = job.blur;
  const char *row = job.from_source ? (const char *)b.source.pixels + (size_t)y * b.source.stride
                                    : job.in + (size_t)y * job.work_stride;
  /* Rows are padded to whole lines of memory, and so are those in shared memory. */
  if (job.from_source && b.source.depth == 8 && (start & 3) == 0)
    {
      const uint4 *from = quads (row, 4 * (size_t)start);
      in_batches ((len + 3) / 4, [&] (int i) { return __ldg (from + i); },
                  [&] (int i, uint4 v) {
                    const uint2 p0 = sb_to_work (b, make_uint2 (v.x, 0));
                    const uint2 p1 = sb_to_work (b, make_uint2 (v.y, 0));
                    const uint2 p2 = sb_to_work (b, make_uint2 (v.z, 0));
                    const uint2 p3 = sb_to_work (b, make_uint2 (v.w, 0));
                    uint4 *to = (uint4 *)(pixels + 4 * i);
                    to[0] = make_uint4 (p0.x, p0.y, p1.x, p1.y);
                    to[1] = make_uint4 (p2.x, p2.y, p3.x, p3.y);
                  });
    }
  else if (!job.from_source)
    in_batches (
        len, [&] (int i) { return __ldg ((const uint2 *)row + start + i); },
        [&] (int i, uint2 v) { pixels[i] = v; });
  else
    for (int i = threadIdx.x; i < len; i += blockDim.x)
      pixels[i] = sb_load_work (b, start + i, y);
}

__device__ __forceinline__ void
store_row (const Job &job, const uint2 *pixels, int y, int x0, int n)
{
  if (job.to_target)
    {
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        sb_store_result (job.blur, x0 + i, y, pixels[i]);
      return;
    }
  uint2 *row = (uint2 *)(job.out + (size_t)y * job.work_stride) + x0;
  if ((((size_t)pixels | (size_t)row) & 15) == 0)
    {
      in_batches (
          n / 2, [&] (int i) { return ((const uint4 *)pixels)[i]; },
          [&] (int i, uint4 v) { ((uint4 *)row)[i] = v; });
      if ((n & 1) && threadIdx.x == 0)
        row[n - 1] = pixels[n - 1];
    }
  else
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      row[i] = pixels[i];
}

__device__ __forceinline__ void
load_columns (const Job &job, uint2 *pixels, int x0, int lines, int start, int len)
{
  const int n = len << job.log_lines, mask = job.lines - 1;
  if (job.from_source)
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      {
        const int column = i & mask, row = i >> job.log_lines;
        pixels[column * job.pitch + row] = column < lines
                                               ? sb_load_work (job.blur, x0 + column, start + row)
                                               : make_uint2 (0, 0);
      }
  else if (job.lines >= 2)
    {
      /* Two columns at a time; rows of the work picture are padded, so that the last pair exists.
       */
      const char *from = job.in + (size_t)start * job.work_stride + 8 * (size_t)x0;
      const int log = job.log_lines - 1, pairs = job.lines / 2 - 1;
      in_batches (
          n / 2,
          [&] (int i) {
            return 2 * (i & pairs) < lines ? __ldg (
                       (const uint4 *)(from + (size_t)(i >> log) * job.work_stride) + (i & pairs))
                                           : make_uint4 (0, 0, 0, 0);
          },
          [&] (int i, uint4 v) {
            uint2 *to = pixels + 2 * (i & pairs) * job.pitch + (i >> log);
            to[0] = make_uint2 (v.x, v.y);
            to[job.pitch] = make_uint2 (v.z, v.w);
          });
    }
  else
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      pixels[i] = __ldg ((const uint2 *)(job.in + (size_t)(start + i) * job.work_stride) + x0);
}

__device__ __forceinline__ void
store_columns (const Job &job, const uint2 *pixels, int x0, int lines, int y0, int n)
{
  const SbCudaBlur &b = job.blur;
  const int mask = job.lines - 1;
  if (job.to_target && b.target.depth == 8 && lines == job.lines && lines >= 4 && x0 >= b.x
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
            v[c] = sb_finish (b, x0 + column + c, y0 + row, pixels[(column + c) * job.pitch + row])
                       .x;
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

/* The registers of a thread hold its chunk's results: these bounds keep the rest of them small. */
template <int C, int CHANNELS, int METHOD, bool VERTICAL>
__global__ void
__launch_bounds__ (VERTICAL  ? 512
                   : C <= 15 ? 416
                             : 288,
                   VERTICAL ? (C > 15 ? 1 : 2)
                   : C > 15 ? 2
                            : 3) line_kernel (const __grid_constant__ Job job)
{
  const int threads = blockDim.x / job.lines;
  uint4 *prefix = shared_memory;
  uint4 *totals = prefix + blockDim.x;
  uint2 *pixels = (uint2 *)(totals + 32 * job.lines);

  const long long block = blockIdx.x;
  const int segment = (int)(block % job.segments);
  const int line0 = job.first + (int)(block / job.segments) * job.lines;
  const int lines = min (job.lines, job.last - line0);
  const int keep0 = job.begin + segment * job.keep;
  const int keep1 = min (keep0 + job.keep, job.end);
  const int start = max (keep0 - job.halo, 0);
  const int len = min (keep1 + job.halo, job.length) - start;

  if (VERTICAL)
    load_columns (job, pixels, line0, lines, start, len);
  else
    load_row (job, pixels, line0, start, len);
  __syncthreads ();

  const int line = VERTICAL ? threadIdx.x / threads : 0;
  sb_line_passes<C, CHANNELS, METHOD> (pixels + line * job.pitch, len, threadIdx.x - line * threads,
                                       threads, prefix + line * threads, totals + 32 * line,
                                       job.window, job.passes);

  if (VERTICAL)
    store_columns (job, pixels + (keep0 - start), line0, lines, keep0, keep1 - keep0);
  else
    store_row (job, pixels + (keep0 - start), line0, keep0, keep1 - keep0);
}

typedef void (*Kernel) (const Job);

#define KERNELS_OF(c, v)                                                                           \
  {                                                                                                \
    { line_kernel<c, 3, SB_METHOD_FLOAT, v>, line_kernel<c, 3, SB_METHOD_WHOLE, v>,                \
      line_kernel<c, 3, SB_METHOD_FRACTION, v> },                                                  \
    {                                                                                              \
      line_kernel<c, 4, SB_METHOD_FLOAT, v>, line_kernel<c, 4, SB_METHOD_WHOLE, v>,                \
          line_kernel<c, 4, SB_METHOD_FRACTION, v>                                                 \
    }                                                                                              \
  }

/* By chunk, direction, alpha, method. */
static const int chunks[2] = { 15, 23 };
static const Kernel kernels[2][2][2][3] = { { KERNELS_OF (15, false), KERNELS_OF (15, true) },
                                            { KERNELS_OF (23, false), KERNELS_OF (23, true) } };

/* Windows up to here divide by the float form; proven by the tests. */
#define MAX_FLOAT_WINDOW 207

typedef void (*MarchKernel) (const March);

#define MARCHES_OF(n)                                                                              \
  {                                                                                                \
    { march_kernel<n, 3, SB_METHOD_FLOAT>, march_kernel<n, 3, SB_METHOD_WHOLE>,                    \
      march_kernel<n, 3, SB_METHOD_FRACTION> },                                                    \
    {                                                                                              \
      march_kernel<n, 4, SB_METHOD_FLOAT>, march_kernel<n, 4, SB_METHOD_WHOLE>,                    \
          march_kernel<n, 4, SB_METHOD_FRACTION>                                                   \
    }                                                                                              \
  }

#define MAX_MARCH 3
static const MarchKernel marches[MAX_MARCH][2][3]
    = { MARCHES_OF (1), MARCHES_OF (2), MARCHES_OF (3) };

#define MARCH_WARPS 4

/* Shared memory of a block that marches n passes at once. */
static size_t
march_bytes (int n, int radius)
{
  return (size_t)(n - 1) * (2 * (size_t)radius + 2) * 32 * sizeof (uint2) * MARCH_WARPS;
}

/* How many passes one march takes together: enough warps must fit to hide each other's latency. */
static int
march_passes (const SbCudaLimits *limits, int radius, int passes)
{
  int n = passes < MAX_MARCH ? passes : MAX_MARCH;
  while (n > 1 && 2 * march_bytes (n, radius) > limits->shared_per_multiprocessor - 4096)
    n--;
  /* Even shares: 4 passes are 2 and 2. */
  const int launches = (passes + n - 1) / n;
  return (passes + launches - 1) / launches;
}

static int
can_march (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  /* More than two marches cost more than columns in shared memory. */
  return b->vertical && b->horizontal && b->source.height > 2 * b->radius + 2
         && 2 * march_passes (limits, b->radius, b->passes) >= b->passes;
}

static cudaError_t
march (const SbCudaLimits *limits, const SbCudaBlur *b, const SbWindow *window, int method,
       cudaStream_t stream)
{
  const int reach = b->radius + (b->fraction != 0);
  const int share = march_passes (limits, b->radius, b->passes);
  void *work[2] = { b->work, b->work2 };
  int now = 0;

  for (int done = 0; done < b->passes;)
    {
      const int n = b->passes - done < share ? b->passes - done : share;
      const int rest = b->passes - done - n; /* passes that follow and need rows around */
      March m = {};
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

      const size_t shared = march_bytes (n, b->radius);
      const int columns = (m.last - m.first + 32 * MARCH_WARPS - 1) / (32 * MARCH_WARPS);
      /* As many segments as the device has room for, and no more than pay for their run-up. */
      int fit = shared > 0 ? (int)(limits->shared_per_multiprocessor / (shared + 1024)) : 8;
      if (fit > 8)
        fit = 8;
      const int runup = 2 * n * reach + 1;
      const int rows = m.end - m.begin;
      double best = 0;
      int segments = 1;
      for (int s = 1; s <= rows && s <= 256; s++)
        {
          const double waves = (double)columns * s / (limits->multiprocessors * fit);
          const double cost = (waves < 1 ? 1 : waves) * ((double)rows / s + runup);
          if (best == 0 || cost < best * 0.999)
            {
              best = cost;
              segments = s;
            }
        }
      m.rows = (rows + segments - 1) / segments;
      const dim3 grid ((unsigned)columns, (unsigned)((rows + m.rows - 1) / m.rows));
      marches[n - 1][b->opaque ? 0 : 1][method]<<<grid, 32 * MARCH_WARPS, shared, stream>>> (m);
      const cudaError_t status = cudaGetLastError ();
      if (status != cudaSuccess)
        return status;
      done += n;
      now = !now;
    }
  return cudaSuccess;
}

cudaError_t
sb_cuda_blur_prepare (SbCudaLimits *limits, int device)
{
  cudaDeviceProp properties;
  cudaError_t status = cudaGetDeviceProperties (&properties, device);
  if (status != cudaSuccess)
    return status;
  limits->multiprocessors = properties.multiProcessorCount;
  limits->shared_per_block = properties.sharedMemPerBlockOptin;
  limits->shared_per_multiprocessor = properties.sharedMemPerMultiprocessor;
  for (int i = 0; i < 2 * 2 * 2 * 3 && status == cudaSuccess; i++)
    status = cudaFuncSetAttribute ((const void *)((const Kernel *)kernels)[i],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)limits->shared_per_block);
  for (int i = 0; i < MAX_MARCH * 2 * 3 && status == cudaSuccess; i++)
    status = cudaFuncSetAttribute ((const void *)((const MarchKernel *)marches)[i],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)limits->shared_per_block);
  return status;
}

/* Shared memory of a block of `lines` lines of `len` pixels. */
static size_t
shared_bytes (int threads, int lines, int pitch)
{
  return sizeof (uint4) * (size_t)threads + sizeof (uint4) * 32 * (size_t)lines
         + sizeof (uint2) * (size_t)lines * (size_t)pitch;
}

/* Columns are stored a pitch apart that spreads neighbouring columns over the banks. */
static int
pitch_of (int len, int lines)
{
  const int want = lines > 1 ? 16 / lines : 0;
  return (len + 15) / 16 * 16 + want;
}

typedef struct
{
  int chunk, threads, lines, segments, keep, halo;
  size_t shared;
  double cost;
} Plan;

/* The cheapest way to filter lines of `length` with `passes` passes of this reach: pixels computed,
 * less so where few threads share a multiprocessor and where sectors are written in parts. */
static int
plan_lines (const SbCudaLimits *limits, int vertical, int length, int wanted, int halo, Plan *best)
{
  best->cost = 0;
  for (int k = 0; k < 2; k++)
    for (int lines = vertical ? 8 : 1; lines >= 1; lines /= 2)
      for (int segments = 1; segments <= 64; segments = segments < 8 ? segments + 1 : segments * 2)
        {
          const int keep = ((wanted + segments - 1) / segments + 15) / 16 * 16;
          const int len = keep + 2 * halo < length ? keep + 2 * halo : length;
          const int threads = (len + chunks[k] * 32 - 1) / (chunks[k] * 32) * 32;
          if (threads * lines > (vertical ? 512 : k == 0 ? 416 : 288))
            continue;
          const size_t shared = shared_bytes (threads * lines, lines, pitch_of (len, lines));
          if (shared + 1024 > limits->shared_per_block)
            continue;
          int blocks = (int)(limits->shared_per_multiprocessor / (shared + 1024));
          const int most = (vertical ? (k == 0 ? 1024 : 512)
                            : k == 0 ? 832
                                     : 576)
                           / (threads * lines);
          if (blocks > most)
            blocks = most > 0 ? most : 1;
          const double busy = blocks * threads * lines;
          double cost = (double)segments * threads * chunks[k];
          cost *= 1.0 + 250.0 / busy;
          if (vertical && lines < 8)
            cost *= lines == 4 ? 1.3 : lines == 2 ? 1.8 : 3.0;
          if (best->cost == 0 || cost < best->cost)
            *best = (Plan){ k, threads * lines, lines, segments, keep, halo, shared, cost };
        }
  return best->cost > 0;
}

static void
window_of (const SbCudaBlur *b, SbWindow *w, int *method)
{
  const uint32_t width = 2 * (uint32_t)b->radius + 1;
  const uint32_t divisor = b->fraction != 0 ? 8 * width + (uint32_t)b->fraction : width;
  uint32_t log = 0;
  while (divisor >> (log + 1) != 0)
    log++;
  /* The factor is below 2^32: a power of two takes a shift less. */
  const uint32_t shift = (divisor & (divisor - 1)) == 0 && log > 0 ? log - 1 : log;

  w->radius = b->radius;
  w->fraction = b->fraction;
  w->mirror = b->mirror;
  w->shift = shift;
  w->magic = (uint32_t)((((uint64_t)1 << (32 + shift)) + divisor - 1) / divisor);
  w->half = b->fraction != 0 ? divisor : (uint32_t)b->radius;
  w->inverse = (float)(85070591730234615865843651857942052864.0 / width); /* 2^126 / w */
  *method = b->fraction != 0            ? SB_METHOD_FRACTION
            : width <= MAX_FLOAT_WINDOW ? SB_METHOD_FLOAT
                                        : SB_METHOD_WHOLE;
}

typedef struct
{
  Plan plan;
  int launches, passes; /* passes of each launch */
} Direction;

static int
plan_direction (const SbCudaLimits *limits, const SbCudaBlur *b, int vertical, Direction *d)
{
  const int reach = b->radius + (b->fraction != 0);
  const int length = vertical ? b->source.height : b->source.width;
  const int halo = (reach * b->passes + 3) / 4 * 4; /* keeps segments aligned */
  /* A launch of one pass must leave its whole length right, so it wants all of it. */
  const int wanted = vertical ? b->height : b->width + (b->vertical ? 14 : 0);

  if (plan_lines (limits, vertical, length, wanted, halo < length ? halo : length, &d->plan))
    {
      d->launches = 1;
      d->passes = b->passes;
      return 1;
    }
  d->launches = b->passes;
  d->passes = 1;
  return plan_lines (limits, vertical, length, length,
                     (reach + 3) / 4 * 4 < length ? (reach + 3) / 4 * 4 : length, &d->plan);
}

int
sb_cuda_blur_needs_second (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  Direction h, v;
  if (can_march (limits, b) && march_passes (limits, b->radius, b->passes) < b->passes)
    return 1;
  return (b->horizontal && plan_direction (limits, b, 0, &h) && h.launches > 1)
         || (b->vertical && !can_march (limits, b) && plan_direction (limits, b, 1, &v)
             && v.launches > 1);
}

cudaError_t
sb_cuda_blur (const SbCudaLimits *limits, const SbCudaBlur *b, cudaStream_t stream)
{
  const int reach = b->radius + (b->fraction != 0);
  void *work[2] = { b->work, b->work2 };
  int now = 0;   /* the work buffer that holds the picture */
  int fresh = 1; /* nothing is in it yet */
  Job job = {};
  int method;

  job.blur = *b;
  job.work_stride = b->work_stride;
  window_of (b, &job.window, &method);

  for (int vertical = 0; vertical < 2; vertical++)
    {
      Direction d;
      if (!(vertical ? b->vertical : b->horizontal))
        continue;
      if (vertical && can_march (limits, b) && now == 0)
        return march (limits, b, &job.window, method, stream);
      if (!plan_direction (limits, b, vertical, &d))
        return cudaErrorInvalidConfiguration;
      const int last_direction = vertical || !b->vertical;

      job.length = vertical ? b->source.height : b->source.width;
      job.passes = d.passes;
      job.halo = d.plan.halo;
      job.keep = d.plan.keep;
      job.lines = d.plan.lines;
      job.log_lines = d.plan.lines >= 8 ? 3 : d.plan.lines / 2;
      {
        const int len = job.keep + 2 * job.halo < job.length ? job.keep + 2 * job.halo : job.length;
        job.pitch = pitch_of (len, job.lines);
      }
      if (vertical)
        {
          /* Whole sectors: what lies beside the rect is not written. */
          job.first = b->x / 8 * 8;
          job.last = b->x + b->width;
          job.begin = d.launches > 1 ? 0 : b->y;
          job.end = d.launches > 1 ? job.length : b->y + b->height;
        }
      else
        {
          /* The columns need rows above and below the rect. */
          const int above = b->vertical ? reach * b->passes : 0;
          job.first = b->y - above > 0 ? b->y - above : 0;
          job.last = b->y + b->height + above < b->source.height ? b->y + b->height + above
                                                                 : b->source.height;
          if (b->vertical)
            {
              Direction next;
              if (plan_direction (limits, b, 1, &next) && next.launches > 1)
                {
                  job.first = 0;
                  job.last = b->source.height;
                }
            }
          /* The columns are read eight at a time. */
          const int begin = b->vertical ? b->x / 8 * 8 : b->x;
          const int end = b->vertical ? (b->x + b->width + 7) / 8 * 8 : b->x + b->width;
          job.begin = d.launches > 1 ? 0 : begin;
          job.end = d.launches > 1 || end > job.length ? job.length : end;
        }

      const Kernel kernel = kernels[d.plan.chunk][vertical][b->opaque ? 0 : 1][method];
      for (int launch = 0; launch < d.launches; launch++)
        {
          job.from_source = fresh;
          job.to_target = last_direction && launch == d.launches - 1;
          job.in = (const char *)work[now];
          /* Where nothing is read from the work buffer it can be written; else the other one. */
          const int next = fresh ? now : !now;
          job.out = (char *)work[next];
          if (!job.to_target && work[next] == NULL)
            return cudaErrorInvalidValue;
          if (job.to_target)
            {
              /* The last launch of several computes whole lines but writes only the rect. */
              if (vertical)
                job.begin = b->y, job.end = b->y + b->height;
              else
                job.begin = b->x, job.end = b->x + b->width;
            }
          job.segments = (job.end - job.begin + job.keep - 1) / job.keep;
          const long long blocks
              = (long long)((job.last - job.first + job.lines - 1) / job.lines) * job.segments;
          kernel<<<(unsigned)blocks, d.plan.threads, d.plan.shared, stream>>> (job);
          const cudaError_t status = cudaGetLastError ();
          if (status != cudaSuccess)
            return status;
          now = next;
          fresh = 0;
        }
    }
  return cudaSuccess;
}
