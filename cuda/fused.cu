/* SPDX-License-Identifier: MIT */

#include "async.cuh"
#include "blur.cuh"
#include "pixel.cuh"

/* One pass of rows and one of columns of plain bytes in one kernel (or of columns alone: then the
 * rows' window is one pixel): what the rows give never leaves shared memory. A block goes down a
 * strip of the picture, eight rows a phase. In a phase four warps filter eight rows of bytes into a
 * ring of 16-bit rows, five warps, a thread a column, slide down the eight rows of the phase
 * before, and one warp asks for rows by bulk copies, two phases ahead, and makes up what lies
 * beside the picture. A barrier ends the phase. */

#define STRIP      144 /* columns */
#define CHUNK      9   /* of a row, for a thread */
#define BATCH      8   /* rows a phase */
#define ACROSS     (STRIP / CHUNK * BATCH)
#define DOWN       160
#define THREADS    (ACROSS + DOWN + 32)
#define RING_PITCH (STRIP + 2) /* pixels; spreads eight rows over the banks */
#define BUFFERS    3
#define BLOCKS     3 /* a multiprocessor, at most */

struct SbFused
{
  SbCudaBlur blur;
  SbWindow window, across; /* of columns, of rows */
  int reach, beside;       /* of columns, of rows */
  int first;               /* column */
  int begin, end, rows;    /* rows [begin, end), `rows` of them a segment */
  int pitch; /* words of a row of bytes; an odd multiple of four, for the banks' sake */
  int slots; /* rows of the ring */
};

#if SB_HAS_BULK

extern __shared__ uint4 fused_memory[];

/* Rows of bytes: the first is that of the column `start`, a multiple of 4, which may lie before the
 * picture. */
struct Strip
{
  uint32_t *raw;
  uint64_t *loaded;
  int x0, y0, start;
  int total, batches; /* rows that enter */
};

/* The loading warp: rows of a batch. */
__device__ __forceinline__ void
ask (const SbFused &f, const Strip &s, int batch)
{
  if (batch >= s.batches)
    return;
  const SbCudaPicture &p = f.blur.source;
  const int lane = threadIdx.x & 31, buffer = batch % BUFFERS;
  const int from = max (s.start, 0);
  const int to = min ((s.x0 + STRIP + f.beside + 3) & ~3, (p.width + 3) & ~3);
  const uint32_t bytes = 4 * (uint32_t)(to - from);
  if (lane == 0)
    sb_bulk_expect (BATCH * bytes, s.loaded + buffer);
  __syncwarp ();
  if (lane < BATCH)
    {
      const int row = s.y0 - f.reach + min (BATCH * batch + lane, s.total - 1);
      const char *source
          = (const char *)p.pixels + (size_t)sb_edge (row, p.height, f.window.mirror) * p.stride;
      sb_bulk_ask (s.raw + (buffer * BATCH + lane) * f.pitch + (from - s.start), source + 4 * from,
                   bytes, s.loaded + buffer);
    }
}

/* The loading warp: the mask of the results that a batch leads to. */
__device__ __forceinline__ void
ask_mask (const SbFused &f, const Strip &s, int batch)
{
  const int row = s.y0 - 2 * f.reach + BATCH * batch + (int)(threadIdx.x & 31);
  if ((threadIdx.x & 31) >= BATCH || row < s.y0 || row >= f.end)
    return;
  const size_t from = 2 * (size_t)s.x0, room = f.blur.mask_stride - from;
  sb_bulk_prefetch ((const char *)f.blur.mask + (size_t)row * f.blur.mask_stride + from,
                    room < 2 * STRIP ? (uint32_t)room : 2 * STRIP);
}

/* The loading warp: what lies beside the picture, where the strip does. */
__device__ __forceinline__ void
make_up (const SbFused &f, const Strip &s, int batch)
{
  const int n = f.blur.source.width;
  const int before = f.beside - s.x0, after = min (s.x0 + STRIP - n, 0) + f.beside;
  if ((before <= 0 && after <= 0) || batch >= s.batches)
    return;
  const int buffer = batch % BUFFERS;
  sb_bulk_wait (s.loaded + buffer, (uint32_t)(batch / BUFFERS) & 1);
  uint32_t *row = s.raw + (buffer * BATCH + (int)(threadIdx.x & 7)) * f.pitch - s.start;
  for (int i = (int)(threadIdx.x & 31) >> 3; i < before; i += 4)
    row[-1 - i] = row[f.window.mirror ? i : 0];
  for (int i = (int)(threadIdx.x & 31) >> 3; i < after; i += 4)
    row[n + i] = row[n - 1 - (f.window.mirror ? i : 0)];
  sb_bulk_fence ();
}

/* A chunk of a row, from bytes to 16 bits. */
template <int METHOD>
__device__ __forceinline__ void
across (const SbFused &f, const Strip &s, uint2 *ring, int batch)
{
  const SbWindow &w = f.across;
  const int window = 2 * w.radius + 1, buffer = batch % BUFFERS;
  const int row = threadIdx.x % BATCH, chunk = threadIdx.x / BATCH;
  const uint32_t *p
      = s.raw + (buffer * BATCH + row) * f.pitch + (s.x0 - f.beside - s.start) + chunk * CHUNK;
  int slot = batch * BATCH % f.slots + row;
  slot -= slot >= f.slots ? f.slots : 0;
  uint2 *to = ring + slot * RING_PITCH + chunk * CHUNK;

  sb_bulk_wait (s.loaded + buffer, (uint32_t)(batch / BUFFERS) & 1);
  uint32_t before = 0;
  if (METHOD == SB_METHOD_FRACTION)
    before = *p++;
  /* Two sums in a word: windows have no more than 257 samples. */
  uint32_t rb = p[0] & 0x00ff00ffu, g = sb_add_times (p[0], 1, 1, 0);
#pragma unroll 4
  for (int i = 1; i < window; i += 2)
    {
      const uint32_t u = p[i], v = p[i + 1];
      rb += (u & 0x00ff00ffu) + (v & 0x00ff00ffu);
      g = sb_add_times (v, 1, 1, sb_add_times (u, 1, 1, g));
    }
  const SbSum<3> sum = { { rb & 0xffffu, g, rb >> 16 } };
  SbSlide<3, METHOD, uint32_t> slide;
  slide.start (sum, before, w);
#pragma unroll
  for (int j = 0; j < CHUNK; j++)
    {
      uint32_t q[3];
      slide.step (p[window + j], p[j], w, q);
      to[j] = make_uint2 (__byte_perm (q[0], q[1], 0x5410), q[2]);
    }
}

/* A column's sum, and where it is. */
template <int METHOD> struct Down
{
  uint32_t sum[3];
  uint2 left;

  /* The row that enters as number i, and the one that leaves as it does. */
  __device__ __forceinline__ void
  enter (uint2 p, const SbWindow &w, int i)
  {
#pragma unroll
    for (int c = 0; c < 3; c++)
      sum[c] = METHOD == SB_METHOD_FLOAT ? sb_add_times (p, c, 1, sum[c])
               : i == 0                  ? sb_add_times (p, c, w.fraction, w.half)
                                         : sb_add_times (p, c, 16, sum[c]);
    if (METHOD == SB_METHOD_FRACTION && i == 0)
      left = p;
  }

  /* The sample, divided by `inverse` where that is how. */
  __device__ __forceinline__ void
  slide (uint2 p, uint2 leave, const SbWindow &w, float inverse, uint32_t *q)
  {
#pragma unroll
    for (int c = 0; c < 3; c++)
      if (METHOD == SB_METHOD_FLOAT)
        {
          sum[c] = sb_add_times (leave, c, -1, sb_add_times (p, c, 1, sum[c]));
          q[c] = __float_as_uint (__fmul_rn (__uint_as_float (sum[c]), inverse));
        }
      else
        {
          const int rest = 16 - w.fraction;
          sum[c] = sb_add_times (p, c, w.fraction, sum[c]);
          q[c] = sb_divide (sum[c], w);
          sum[c] = sb_add_times (p, c, rest, sum[c]);
          sum[c] = sb_add_times (leave, c, -rest, sum[c]);
          sum[c] = sb_add_times (left, c, -w.fraction, sum[c]);
        }
    left = leave;
  }

  __device__ __forceinline__ uint32_t
  step (uint2 p, uint2 leave, const SbWindow &w)
  {
    uint32_t q[3];
    slide (p, leave, w, w.inverse_to_8, q);
    if (METHOD == SB_METHOD_FLOAT)
      return __byte_perm (q[0], q[1], 0x7740) + (q[2] << 16 | 0xff000000u);
    return sb_to_8 (q[0]) | sb_to_8 (q[1]) << 8 | sb_to_8 (q[2]) << 16 | 0xff000000u;
  }

  /* Mixed with the input by the mask. */
  __device__ __forceinline__ uint32_t
  step_under (uint2 p, uint2 leave, const SbWindow &w, uint32_t mask, uint32_t raw)
  {
    uint32_t q[3];
    slide (p, leave, w, w.inverse, q);
    return sb_pack_8 (sb_mix_opaque (sb_expand (raw), sb_pack (q[0], q[1], q[2], 65535), mask))
           | 0xff000000u;
  }
};

#endif

template <int METHOD, bool MIXED>
__global__ void
__launch_bounds__ (THREADS, BLOCKS) fused_kernel (const __grid_constant__ SbFused f)
{
#if SB_HAS_BULK
  __shared__ uint64_t loaded[BUFFERS];
  const SbWindow &w = f.window;
  const int window = 2 * w.radius + 1;
  uint2 *ring = (uint2 *)fused_memory;
  Strip s;
  s.raw = (uint32_t *)(ring + f.slots * RING_PITCH);
  s.loaded = loaded;
  s.x0 = f.first + (int)blockIdx.x * STRIP;
  s.y0 = f.begin + (int)blockIdx.y * f.rows;
  s.start = (s.x0 - f.beside) & ~3;
  const int y1 = min (s.y0 + f.rows, f.end);
  s.total = y1 - s.y0 + 2 * f.reach;
  s.batches = (s.total + BATCH - 1) / BATCH;

  if (threadIdx.x == 0)
    for (int i = 0; i < BUFFERS; i++)
      sb_bulk_init (loaded + i);
  __syncthreads ();
  const int column = (int)threadIdx.x - ACROSS;
  const int x = s.x0 + column;
  const bool write = column < STRIP && x >= f.blur.x && x < f.blur.x + f.blur.width;
  const size_t stride = f.blur.target.stride;
  char *to = (char *)f.blur.target.pixels + (size_t)s.y0 * stride + 4 * (size_t)x;
  /* The mask and the input of what is written. */
  const int inner_x = min (max (x, f.blur.x), f.blur.x + f.blur.width - 1);
  const uint16_t *mask = NULL;
  const char *under = (const char *)f.blur.source.pixels + (size_t)s.y0 * f.blur.source.stride
                      + 4 * (size_t)inner_x;
  if (MIXED)
    mask = (const uint16_t *)((const char *)f.blur.mask + (size_t)s.y0 * f.blur.mask_stride)
           + inner_x;
  auto take_mask = [&] {
    const uint32_t m = __ldg (mask);
    mask = (const uint16_t *)((const char *)mask + f.blur.mask_stride);
    return m;
  };
  auto take_raw = [&] {
    const uint32_t v = __ldg ((const uint32_t *)under);
    under += f.blur.source.stride;
    return v;
  };
  /* The first rows fill the window, and nothing leaves it yet. */
  const int full = window + (METHOD == SB_METHOD_FRACTION ? 1 : 0);
  Down<METHOD> down = {};
  /* The column's place in the ring's rows that enter and leave. */
  const uint2 *top = ring + min (column, STRIP - 1), *bottom = top + f.slots * RING_PITCH;
  const uint2 *now = top, *gone = bottom - window * RING_PITCH;
  auto next = [&] (const uint2 *p) { return p + RING_PITCH == bottom ? top : p + RING_PITCH; };

  if (threadIdx.x >= ACROSS + DOWN)
    {
      for (int i = 0; i < BUFFERS; i++)
        ask (f, s, i);
      make_up (f, s, 0);
    }
  __syncthreads ();
  for (int batch = 0; batch <= s.batches; batch++)
    {
      if (threadIdx.x < ACROSS)
        {
          if (batch < s.batches)
            across<METHOD> (f, s, ring, batch);
        }
      else if (threadIdx.x >= ACROSS + DOWN)
        {
          if (batch > 0)
            ask (f, s, batch - 1 + BUFFERS);
          if (MIXED)
            ask_mask (f, s, batch + 2);
          make_up (f, s, batch + 1);
        }
      else if (batch > 0 && column < STRIP)
        {
          const int i0 = (batch - 1) * BATCH;
          if (i0 >= full && i0 + BATCH <= s.total)
            {
              uint32_t m[MIXED ? BATCH : 1], raw[MIXED ? BATCH : 1], all = 65535;
              if (MIXED)
#pragma unroll
                for (int u = 0; u < BATCH; u++)
                  {
                    m[MIXED ? u : 0] = take_mask ();
                    raw[MIXED ? u : 0] = take_raw ();
                    all &= m[MIXED ? u : 0];
                  }
              /* Columns beside the strip are not here. */
              const bool plain = !MIXED || __all_sync (__activemask (), all == 65535);
#pragma unroll
              for (int half = 0; half < BATCH; half += 4)
                {
                  uint2 p[4], q[4];
#pragma unroll
                  for (int u = 0; u < 4; u++)
                    {
                      p[u] = *now;
                      q[u] = *gone;
                      now = next (now);
                      gone = next (gone);
                    }
#pragma unroll
                  for (int u = 0; u < 4; u++)
                    {
                      const int k = MIXED ? half + u : 0;
                      const uint32_t v = plain ? down.step (p[u], q[u], w)
                                               : down.step_under (p[u], q[u], w, m[k], raw[k]);
                      if (write)
                        *(uint32_t *)to = v;
                      to += stride;
                    }
                }
            }
          else
#pragma unroll 1
            for (int i = i0; i < min (i0 + BATCH, s.total); i++)
              {
                const uint2 p = *now;
                /* Before anything leaves there is nothing to subtract. */
                const uint2 q = i >= window ? *gone : make_uint2 (0, 0);
                now = next (now);
                gone = next (gone);
                if (i < 2 * f.reach)
                  {
                    down.enter (p, w, i);
                    continue;
                  }
                uint32_t v;
                if (MIXED)
                  {
                    const uint32_t m = take_mask ();
                    v = down.step_under (p, q, w, m, take_raw ());
                  }
                else
                  v = down.step (p, q, w);
                if (write)
                  *(uint32_t *)to = v;
                to += stride;
              }
        }
      __syncthreads ();
    }
#endif
}

/* Columns beside a strip that its rows read: fractions look at one more even in windows of one
 * pixel. */
static int
beside_of (const SbCudaBlur *b)
{
  return (b->horizontal ? b->radius : 0) + (b->fraction != 0);
}

static int
pitch_of (const SbCudaBlur *b)
{
  const int least = STRIP + 2 * beside_of (b) + 6;
  return (least + 3) / 8 * 8 + 4;
}

static size_t
bytes_of (const SbCudaBlur *b)
{
  const int slots = 2 * b->radius + 1 + 2 * BATCH;
  return sizeof (uint2) * RING_PITCH * (size_t)slots
         + sizeof (uint32_t) * BUFFERS * BATCH * (size_t)pitch_of (b);
}

static int
blocks_of (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  const size_t blocks = limits->shared_per_multiprocessor / (bytes_of (b) + 1024 + 128);
  return blocks > BLOCKS ? BLOCKS : (int)blocks;
}

int
sb_cuda_fused_can (const SbCudaLimits *limits, const SbCudaBlur *b)
{
  return limits->bulk && limits->march == SB_CUDA_AUTO && b->passes == 1 && b->vertical
         && sb_plain_source (b) && b->target.depth == 8 && 2 * b->radius + 1 <= SB_MAX_FLOAT_WINDOW
         && b->source.width > beside_of (b) && blocks_of (limits, b) >= 2;
}

/* By method, and whether there is a mask. */
static void (*const kernels[2][2]) (const SbFused)
    = { { fused_kernel<SB_METHOD_FLOAT, false>, fused_kernel<SB_METHOD_FLOAT, true> },
        { fused_kernel<SB_METHOD_FRACTION, false>, fused_kernel<SB_METHOD_FRACTION, true> } };

cudaError_t
sb_cuda_fused_prepare (const SbCudaLimits *limits)
{
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < 4 && status == cudaSuccess; i++)
    status = cudaFuncSetAttribute ((const void *)kernels[i >> 1][i & 1],
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)limits->shared_per_block - 256);
  return status;
}

cudaError_t
sb_cuda_fused (const SbCudaLimits *limits, const SbCudaBlur *b, const SbWindow *window,
               const SbWindow *across, int method, cudaStream_t stream)
{
  SbFused f = {};
  f.blur = *b;
  f.window = *window;
  f.across = *across;
  f.reach = b->radius + (b->fraction != 0);
  f.first = b->x / 8 * 8;
  f.begin = b->y;
  f.end = b->y + b->height;
  f.beside = beside_of (b);
  f.pitch = pitch_of (b);
  f.slots = 2 * b->radius + 1 + 2 * BATCH;

  /* As many segments as all multiprocessors hold at once, or a multiple: each has a run-up. */
  const int strips = (b->x + b->width - f.first + STRIP - 1) / STRIP;
  const int room = limits->multiprocessors * blocks_of (limits, b);
  long long best = 0;
  int segments = 1;
  for (int n = 1; n <= 64 && n <= b->height; n++)
    {
      const int waves = (strips * n + room - 1) / room;
      const long long cost = (long long)waves * ((b->height + n - 1) / n + 2 * f.reach + 2 * BATCH);
      if (best == 0 || cost < best)
        {
          best = cost;
          segments = n;
        }
    }
  f.rows = (b->height + segments - 1) / segments;
  const dim3 grid ((unsigned)strips, (unsigned)((b->height + f.rows - 1) / f.rows));
  kernels[method == SB_METHOD_FRACTION][b->mask != NULL]<<<grid, THREADS, bytes_of (b), stream>>> (
      f);
  return cudaGetLastError ();
}
