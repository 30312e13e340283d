/* SPDX-License-Identifier: MIT */

#include "blur.cuh"

#include <stdlib.h>
#include <string.h>

/* The blur: rows, then columns, with a picture of 16 bits a channel between the two. Lines longer
 * than shared memory are cut into segments with a halo of one reach a pass; where even the halo
 * does not fit, a launch does one pass. */

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
  limits->bulk = properties.major >= 9;
  limits->march = SB_CUDA_AUTO;
  status = sb_cuda_rows_prepare (limits);
  if (status == cudaSuccess)
    status = sb_cuda_columns_prepare (limits);
  if (status == cudaSuccess)
    status = sb_cuda_march_prepare (limits);
  if (status == cudaSuccess)
    status = sb_cuda_fused_prepare (limits);
  if (status == cudaSuccess)
    status = sb_cuda_small_prepare (limits);
  return status;
}

/* Shared memory of a block of `lines` lines of `pitch` pixels. */
static size_t
shared_bytes (int threads, int lines, int pitch)
{
  return sizeof (uint4) * ((size_t)threads + 17 * (size_t)lines)
         + sizeof (uint2) * (size_t)lines * (size_t)pitch;
}

/* Pixels before the first of a line. */
static int
pad_of (const SbCudaBlur *b)
{
  return (b->radius + 1 + 3) / 4 * 4;
}

/* Segments may start up to three samples early; a thread reads a chunk more than the window behind
 * a line. */
static int
pitch_of (const SbCudaBlur *b, int len)
{
  return (2 * pad_of (b) + SB_CHUNK + len + 3 + 15) / 16 * 16;
}

/* Rows of bytes in linear light decode them by a table. */
static size_t
table_bytes (const SbCudaBlur *b)
{
  return b->linear && b->source.depth == 8 ? SB_ROW_TABLE : 0;
}

/* Windows of more chunks than this are summed by prefixes over warps. */
#define MAX_SUMMED_CHUNKS 14

static int
scans (const SbCudaBlur *b)
{
  return 2 * b->radius + 1 > MAX_SUMMED_CHUNKS * SB_CHUNK;
}

/* The cheapest way to filter lines of `length` with passes of this reach: pixels computed, more
 * where few threads share a multiprocessor and where sectors of memory are written in parts.
 * `whole`: all of the length is wanted, so that the first and the last segment have a halo on one
 * side only. */
static int
plan_lines (const SbCudaLimits *limits, const SbCudaBlur *b, int vertical, int length, int wanted,
            int whole, int halo, SbPlan *best)
{
  best->cost = 0;
  const int most = vertical ? SB_COLUMN_THREADS : SB_ROW_THREADS;
  const int resident = vertical ? SB_COLUMN_BLOCKS * SB_COLUMN_THREADS : SB_ROW_BLOCKS * most;
  for (int lines = vertical ? 4 : 1; lines >= 1; lines /= 2)
    for (int segments = 1; segments <= 256; segments = segments < 8 ? segments + 1 : segments * 2)
      {
        const int unit = SB_CHUNK * (lines > 1 ? 16 : 32); /* whole warps of all lines */
        const int keep = ((wanted + segments - 1) / segments + 15) / 16 * 16;
        const int most_len = keep + (whole && segments <= 2 ? 1 : 2) * halo + 3;
        const int len = most_len < length ? most_len : length;
        int threads = (len + unit - 1) / unit * unit / SB_CHUNK * lines;
        threads = (threads + 31) / 32 * 32;
        if (threads > most || threads % lines != 0)
          continue;
        const size_t shared
            = shared_bytes (threads, lines, pitch_of (b, len)) + (vertical ? 0 : table_bytes (b));
        if (shared + 1280 > limits->shared_per_block)
          continue;
        int blocks = (int)(limits->shared_per_multiprocessor / (shared + 1024));
        if (blocks > resident / threads)
          blocks = resident / threads;
        if (blocks < 1)
          continue;
        const double busy = (double)blocks * threads;
        double cost = (double)segments * threads / lines * SB_CHUNK;
        cost *= 1.0 + 300.0 / busy;
        if (blocks < 2)
          cost *= 1.3; /* nothing computes while it waits for memory */
        if (vertical && lines < 4)
          cost *= lines == 2 ? 1.25 : 3.0;
        if (best->cost == 0 || cost < best->cost)
          *best = (SbPlan){ threads, lines, segments, keep, halo, len, shared, cost };
      }
  return best->cost > 0;
}

/* `any` for the one kernel that takes whole radii as fractional ones. */
static void
window_of (const SbCudaBlur *b, int any, SbWindow *w, int *method)
{
  const uint32_t width = 2 * (uint32_t)b->radius + 1;
  const int fraction = b->fraction != 0 || any;
  const uint32_t divisor = fraction ? 16 * width + 2 * (uint32_t)b->fraction : width;
  uint32_t log = 0;
  while (divisor >> (log + 1) != 0)
    log++;
  /* The factor is below 2^32: a power of two takes a shift less. */
  const uint32_t shift = (divisor & (divisor - 1)) == 0 && log > 0 ? log - 1 : log;
  const uint64_t unit = (uint64_t)1 << (32 + shift);

  memset (w, 0, sizeof *w);
  w->radius = b->radius;
  w->fraction = b->fraction;
  w->mirror = b->mirror;
  w->shift = shift;
  w->magic = (uint32_t)((unit + divisor - 1) / divisor);
  w->half = divisor / 2;
  /* A factor that is too large errs most for the largest sum below a step. Where that reaches the
   * step, the factor that is too small and a sum larger by one are exact. */
  const uint64_t largest = (uint64_t)divisor * 65535 - 1;
  if (largest * w->magic / unit != 65534)
    {
      w->magic = (uint32_t)(unit / divisor);
      w->half++;
    }
  w->inverse = (float)(1.0 / width);
  w->inverse_byte = (float)(257.0 / width);
  w->inverse_to_8 = (float)(1.0 / (257.0 * width));
  *method = fraction                       ? SB_METHOD_FRACTION
            : width <= SB_MAX_FLOAT_WINDOW ? SB_METHOD_FLOAT
                                           : SB_METHOD_WHOLE;
}

typedef struct
{
  SbPlan plan;
  int small;            /* lines shorter than the reach */
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
  const int whole = (vertical ? b->height : b->width) == length;

  d->launches = 1;
  d->passes = b->passes;
  d->small = length < b->radius + 1;
  if (d->small
      || plan_lines (limits, b, vertical, length, wanted, whole, halo < length ? halo : length,
                     &d->plan))
    return 1;
  d->launches = b->passes;
  d->passes = 1;
  return plan_lines (limits, b, vertical, length, length, 0,
                     (reach + 3) / 4 * 4 < length ? (reach + 3) / 4 * 4 : length, &d->plan);
}

/* Whether the columns march. One pass of a long window reads all rows twice then: four columns at a
 * time in shared memory are faster where two segments are enough. */
static int
marches (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  Direction d = {};
  if (!sb_cuda_march_can (limits, b))
    return 0;
  return !(limits->march == SB_CUDA_AUTO && limits->bulk && b->passes == 1
           && 2 * b->radius + 1 > SB_MAX_FLOAT_WINDOW && b->target.depth == 8
           && plan_direction (limits, b, 1, &d) && !d.small && d.launches == 1 && d.plan.lines == 4
           && d.plan.segments <= 2);
}

int
sb_cuda_blur_needs (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  Direction d = {};
  int needs = 0;
  if (sb_cuda_fused_can (limits, b))
    return 0;
  const int march = marches (limits, b);
  if (march && sb_cuda_march_passes (limits, b) < b->passes)
    needs |= SB_CUDA_NEEDS_SECOND;
  if (b->horizontal && plan_direction (limits, b, 0, &d) && d.launches > 1)
    needs |= SB_CUDA_NEEDS_SECOND | SB_CUDA_NEEDS_ALL_COLUMNS | SB_CUDA_NEEDS_ALL_ROWS;
  if (b->vertical && !march && plan_direction (limits, b, 1, &d) && d.launches > 1)
    needs |= SB_CUDA_NEEDS_SECOND | SB_CUDA_NEEDS_ALL_ROWS;
  return needs;
}

cudaError_t
sb_cuda_blur (const SbCudaLimits *limits, const SbCudaBlur *b, cudaStream_t stream)
{
  const int reach = b->radius + (b->fraction != 0);
  void *work[2] = { b->work, b->work2 };
  int now = 0;   /* the work buffer that holds the picture */
  int fresh = 1; /* nothing is in it yet */
  SbJob job = {};
  int method;

  job.blur = *b;
  job.work_stride = b->work_stride;
  window_of (b, 0, &job.window, &method);
  job.bulk = limits->bulk;
  if (sb_cuda_fused_can (limits, b))
    {
      SbWindow across = job.window;
      if (!b->horizontal)
        {
          SbCudaBlur none = *b;
          int any;
          none.radius = none.fraction = 0;
          window_of (&none, method == SB_METHOD_FRACTION, &across, &any);
        }
      return sb_cuda_fused (limits, b, &job.window, &across, method, stream);
    }

  for (int vertical = 0; vertical < 2; vertical++)
    {
      Direction d = {};
      if (!(vertical ? b->vertical : b->horizontal))
        continue;
      if (vertical && marches (limits, b) && now == 0)
        return sb_cuda_march (limits, b, &job.window, method, stream);
      if (!plan_direction (limits, b, vertical, &d))
        return cudaErrorInvalidConfiguration;
      const int last_direction = vertical || !b->vertical;

      job.length = vertical ? b->source.height : b->source.width;
      job.passes = d.passes;
      job.halo = d.plan.halo;
      job.keep = d.plan.keep;
      job.lines = d.plan.lines;
      job.pad = pad_of (b);
      job.pitch = pitch_of (b, d.plan.len);
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
              Direction next = {};
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

      job.vertical = vertical;
      job.table = vertical ? 0 : table_bytes (b);
      job.scan = !d.small && scans (b);
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
          cudaError_t status;
          if (d.small)
            {
              int any;
              window_of (b, 1, &job.window, &any);
              status = sb_cuda_small (&job, stream);
              window_of (b, 0, &job.window, &method);
            }
          else
            {
              job.segments = (job.end - job.begin + job.keep - 1) / job.keep;
              status = vertical ? sb_cuda_columns (&job, &d.plan, method, stream)
                                : sb_cuda_rows (&job, &d.plan, method, stream);
            }
          if (status != cudaSuccess)
            return status;
          now = next;
          fresh = 0;
        }
    }
  return cudaSuccess;
}
