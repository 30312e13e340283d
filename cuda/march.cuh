/* SPDX-License-Identifier: MIT */

#pragma once

#include "async.cuh"
#include "blur.cuh"
#include "pixel.cuh"

/* The vertical passes as a march: a thread owns a column of the 16-bit picture and goes down it,
 * one row a step, with up to three passes in a cascade. Rows stream from the picture into shared
 * memory MARCH_AHEAD rows before they are used; a pass slides its sum by the sample that enters and
 * the one that leaves, which lie in a ring in shared memory that only the column's own thread
 * touches: nothing ever waits at a barrier. A block is one warp, or as many as share a table. Where
 * even the ring of the picture's rows is too long the rows that leave are read from memory (from
 * the L2 cache, mostly) a second time.
 *
 * Level 0 is the picture, level k + 1 what pass k makes. Each ring holds the 2R + 1 samples of its
 * pass's window, at the same position in all of them.
 *
 * Needs a picture of more than 2R + 2 rows, so that edges never reach around twice. */

/* Fewer where that makes room for one more warp, which pays but for four channels. */
#define MARCH_AHEAD(n, channels, plain)                                                            \
  ((plain) ? ((n) == 1 ? 19 : 16) : (n) == 1 || (channels) > 3 ? 12 : 8)
#define MARCH_MAX_WARPS   8
#define MARCH_TABLE_BYTES (8192 * sizeof (uint16_t))

struct SbMarch
{
  SbCudaBlur blur;
  SbWindow window;
  const char *in; /* the work picture */
  char *out;      /* another work picture, or NULL: the target */
  char *to;       /* the same: where rows of results go */
  uint32_t to_stride;
  uint32_t stride;
  int height, first, last; /* columns [first, last) */
  int top, bottom;         /* rows that `in` has: others are asked for ahead, and not used */
  int begin, end, rows;    /* rows [begin, end), `rows` of them a segment */
  int bytes;               /* shared memory of a warp */
  int fast;                /* results are bytes that finish_8 can make, and bytes under a mask */
  int wide;                /* results are stored as they are */
};

/* Of one warp; stage: results leave by finish_rows; mixed: fast under a mask. */
static inline size_t
sb_march_bytes (int n, int channels, int radius, int ring, int plain, int stage, int mixed)
{
  const size_t ahead = MARCH_AHEAD (n, channels, plain);
  const size_t window = 2 * (size_t)radius + 1;
  return 32 * sizeof (uint2)
         * ((ring ? window + ahead : 2 * ahead) + (size_t)(n - 1) * window + (stage ? 4 : 0)
            + (mixed ? ahead : 0));
}

/* Rows that are not just rounded to bytes: `count` of them, from y on. */
static __device__ __noinline__ void
finish_rows (const SbMarch &m, int x, int y, const uint2 *stage, int count)
{
#pragma unroll 1
  for (int u = 0; u < count; u++)
    {
      const uint2 p = stage[u * 32];
      if (m.out != NULL)
        ((uint2 *)(m.out + (size_t)(y + u) * m.stride))[x] = p;
      else
        sb_store_result (m.blur, x, y + u, p);
    }
}

/* Two entries of the table of steps, each as 8 times the code and, added, 8 less where the next one
 * begins: plus the low three bits of a linear value this is 8 times the value's code and more. */
static __device__ __forceinline__ uint32_t
ramps (uint32_t e)
{
  return (e & 0x00ff00ffu) * 8 + 0x00080008u - (e >> 8 & 0x00ff00ffu);
}

/* Bytes of a result without a mask, encoded by a table of steps that is the same for all colours
 * where the picture is linear. */
template <int CHANNELS, bool LINEAR>
static __device__ __forceinline__ uint32_t
finish_8 (const uint16_t *table, const uint32_t *q)
{
  uint32_t c[3] = { q[0], q[1], q[2] }, a = 65535;
  if (CHANNELS > 3)
    {
      a = q[CHANNELS - 1];
      if (!LINEAR)
        return sb_unpremultiply_bytes (c, a);
      /* What is opaque stays as it is. */
      if (__any_sync (SB_FULL_WARP, a != 65535))
        sb_unpremultiply (c, a);
    }
  uint32_t v[3];
#pragma unroll
  for (int i = 0; i < 3; i++)
    v[i] = LINEAR ? (table[c[i] >> 3] + (c[i] & 7)) >> 3 : sb_to_8 (c[i]);
  return v[0] | v[1] << 8 | v[2] << 16 | (CHANNELS > 3 ? sb_to_8 (a) : 255) << 24;
}

/* Bytes of what lies between a result and the input, raw. */
template <int CHANNELS, bool LINEAR>
static __device__ __forceinline__ uint32_t
finish_mixed (const SbCudaBlur &b, const uint32_t *q, uint32_t mask, uint32_t raw)
{
  uint32_t c[3] = { q[0], q[1], q[2] };
  const uint32_t a = CHANNELS > 3 ? q[CHANNELS - 1] : 65535;
  if (CHANNELS > 3)
    sb_unpremultiply (c, a);
  if (LINEAR)
#pragma unroll
    for (int i = 0; i < 3; i++)
      c[i] = __ldg (b.tone.encode + 65536 * i + c[i]);
  const uint2 p = sb_pack (c[0], c[1], c[2], a), in = sb_expand (raw);
  if (CHANNELS == 3)
    return sb_pack_8 (sb_mix_opaque (in, p, mask)) | 0xff000000u;
  /* Where nothing is seen the mask would keep the input's colour. */
  const uint2 between = sb_mix (in, p, mask);
  return sb_pack_8 (mask == 65535 ? p : between);
}

/* A single row's, of any of these kinds. */
static __device__ __noinline__ uint32_t
finish_any (const SbCudaBlur &b, uint2 p, uint32_t mask, uint32_t raw)
{
  return sb_finish (b, p, mask, make_uint2 (raw, 0)).x;
}

/* What the next AHEAD rows of a column need where there is a mask, in shared memory: the input's
 * bytes, and a word with the mask of two columns. Copied as far ahead as the rows themselves. */
template <int AHEAD> struct Under
{
  uint32_t *slots;        /* [slot][input, mask][lane] */
  const char *raw, *mask; /* of the row that is copied next */
  uint32_t raw_stride, mask_stride;
  int wanted, end, now;
  bool high;

  __device__ __forceinline__
  Under (const SbCudaBlur &b, int x, int y, int end_, uint32_t *memory)
      : slots (memory),
        raw ((const char *)b.source.pixels + (size_t)y * b.source.stride + 4 * (size_t)x),
        mask ((const char *)b.mask + (size_t)y * b.mask_stride + 4 * (size_t)(x >> 1)),
        raw_stride ((uint32_t)b.source.stride), mask_stride ((uint32_t)b.mask_stride), wanted (y),
        end (end_), now (0), high ((x & 1) != 0)
  {
  }

  __device__ __forceinline__ void
  copy (int slot)
  {
    if (wanted >= end)
      return;
    sb_copy_4 (slots + slot * 64, raw);
    sb_copy_4 (slots + slot * 64 + 32, mask);
    raw += raw_stride;
    mask += mask_stride;
    wanted++;
  }

  __device__ __forceinline__ void
  start ()
  {
    for (int i = 0; i < AHEAD; i++)
      copy (i);
    sb_commit_copies ();
    sb_wait_copies<0> ();
  }

  /* Of row u from the next one on. */
  __device__ __forceinline__ uint32_t
  get_raw (int u) const
  {
    return slots[(now + u) * 64];
  }

  __device__ __forceinline__ uint32_t
  get_mask (int u) const
  {
    const uint32_t two = slots[(now + u) * 64 + 32];
    return high ? two >> 16 : two & 65535;
  }

  /* On by `n` rows, in whose place others are asked for. */
  __device__ __forceinline__ void
  advance (int n)
  {
#pragma unroll
    for (int u = 0; u < n; u++)
      copy (now + u);
    now = now + n == AHEAD ? 0 : now + n;
  }
};

template <int N, int CHANNELS, int METHOD, bool RING, bool PLAIN> struct Marcher
{
  typedef SbSum<CHANNELS> Sum;
  /* Channels, unpacked. */
  struct Sample
  {
    uint32_t c[CHANNELS];
  };

  enum
  {
    AHEAD = MARCH_AHEAD (N, CHANNELS, PLAIN)
  };
  const SbMarch &m;
  const char *column; /* of this thread, row 0 */
  uint2 *stream;      /* [slot][lane] */
  uint2 *rings;       /* [slot][pass - 1][lane] */
  const int R, n, window, length;
  int origin;    /* the first row of the stream, unclipped */
  int wanted;    /* the row that is copied next, unclipped */
  int now, gone; /* positions in the stream of the rows that enter and leave */
  int position[N];
  Sum sum[N];
  uint2 left[N];
  int at[N]; /* the row each pass makes next */

  __device__ __forceinline__
  Marcher (const SbMarch &march, const char *column_, uint2 *memory)
      : m (march), column (column_), stream (memory), R (march.window.radius), n (march.height),
        window (2 * march.window.radius + 1),
        length (RING ? 2 * march.window.radius + 1 + AHEAD : AHEAD)
  {
    rings = stream + 32 * (RING ? length : 2 * AHEAD);
  }

  __device__ __forceinline__ int
  next_in_stream (int i) const
  {
    return i + 1 == length ? 0 : i + 1;
  }

  __device__ __forceinline__ int
  next_in_ring (int i) const
  {
    return i + 1 == window ? 0 : i + 1;
  }

  __device__ __forceinline__ const char *
  row (int y) const
  {
    if (y < m.top || y > m.bottom)
      y = min (max (sb_edge_near (min (y, n + R), n, m.window.mirror), m.top), m.bottom);
    return column + (uint64_t)(uint32_t)y * m.stride;
  }

  /* The next row of the picture to its slot; with it the one that leaves when it enters. */
  __device__ __forceinline__ void
  copy (int slot)
  {
    sb_copy_8 (stream + slot * 32, row (wanted));
    if (!RING && wanted - window > origin)
      sb_copy_8 (stream + (AHEAD + slot) * 32, row (wanted - window));
    sb_commit_copies ();
    wanted++;
  }

  /* The same of four rows, which are mostly neighbours. */
  __device__ __forceinline__ void
  copy_four (const int *slots)
  {
    if (wanted < m.top || wanted + 3 > m.bottom || (!RING && wanted - window < m.top))
      {
#pragma unroll 1
        for (int u = 0; u < 4; u++)
          copy (u == 0 ? slots[0] : u == 1 ? slots[1] : u == 2 ? slots[2] : slots[3]);
        return;
      }
    const char *from = column + (uint64_t)(uint32_t)wanted * m.stride;
    const char *back = column + (int64_t)(wanted - window) * m.stride;
#pragma unroll
    for (int u = 0; u < 4; u++)
      {
        sb_copy_8 (stream + slots[u] * 32, from);
        from += m.stride;
        if (!RING)
          {
            sb_copy_8 (stream + (AHEAD + slots[u]) * 32, back);
            back += m.stride;
          }
        sb_commit_copies ();
      }
    wanted += 4;
  }

  __device__ __forceinline__ uint2
  take (uint2 *leave)
  {
    sb_wait_copies<AHEAD - 1> ();
    const uint2 p = stream[now * 32];
    *leave = stream[(RING ? gone : AHEAD + now) * 32];
    copy (RING ? gone : now);
    now = next_in_stream (now);
    gone = next_in_stream (gone);
    return p;
  }

  __device__ __forceinline__ uint2 &
  slot (int k, int i)
  {
    return rings[(i * (N - 1) + k - 1) * 32];
  }

  static __device__ __forceinline__ Sample
  unpack (uint2 p)
  {
    Sample s;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      s.c[c] = sb_channel (p, c);
    return s;
  }

  static __device__ __forceinline__ uint2
  pack (const Sample &s)
  {
    return make_uint2 (__byte_perm (s.c[0], s.c[1], 0x5410),
                       CHANNELS > 3 ? __byte_perm (s.c[2], s.c[CHANNELS - 1], 0x5410) : s.c[2]);
  }

  /* Turns the sum of pass K into its sample, and slides. Sums are as in SbSlide; what does not
   * depend on them is added up first, as few warps share a multiprocessor. */
  template <int K>
  __device__ __forceinline__ Sample
  make (const Sample &enter, uint2 leave)
  {
    Sample q;
    const int rest = 16 - m.window.fraction;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      if (METHOD == SB_METHOD_FRACTION)
        {
          const uint32_t now = sum[K].c[c] + (uint32_t)m.window.fraction * enter.c[c];
          const uint32_t more
              = sb_add_times (left[K], c, -m.window.fraction,
                              sb_add_times (leave, c, -rest, (uint32_t)rest * enter.c[c]));
          q.c[c] = sb_divide (now, m.window);
          sum[K].c[c] = now + more;
        }
      else
        {
          q.c[c] = METHOD == SB_METHOD_WHOLE
                       ? sb_divide (sum[K].c[c], m.window)
                       : __float_as_uint (__fmul_rn (__uint_as_float (sum[K].c[c]),
                                                     PLAIN && K == N - 1 ? m.window.inverse_to_8
                                                                         : m.window.inverse));
          sum[K].c[c] += enter.c[c] - sb_channel (leave, c);
        }
    if (METHOD == SB_METHOD_FRACTION)
      left[K] = leave;
    at[K]++;
    return q;
  }

  /* As SbSlide's. */
  template <int K>
  __device__ __forceinline__ void
  begin (const Sum &window)
  {
    sum[K] = window;
    if (METHOD != SB_METHOD_FLOAT)
#pragma unroll
      for (int c = 0; c < CHANNELS; c++)
        {
          if (METHOD == SB_METHOD_FRACTION)
            sum[K].c[c] = sb_add_times (left[K], c, m.window.fraction, 16u * sum[K].c[c]);
          sum[K].c[c] += m.window.half;
        }
  }

  /* Sample at[K] of pass K, wherever edges are. */
  template <int K>
  __device__ Sample
  step ()
  {
    uint2 leave;
    Sample enter;
    if constexpr (K == 0)
      enter = unpack (take (&leave));
    else
      {
        const int in = at[K] + R + 1, p = position[K];
        leave = slot (K, p);
        if (in < n)
          enter = step<K - 1> ();
        else
          {
            const int back = p - (in - sb_edge_near (in, n, m.window.mirror));
            enter = unpack (slot (K, back < 0 ? back + window : back));
          }
        slot (K, p) = pack (enter);
        position[K] = next_in_ring (p);
      }
    return make<K> (enter, leave);
  }

  __device__ __forceinline__ void
  add (Sum &s, uint2 p)
  {
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      s.c[c] += sb_channel (p, c);
  }

  /* Sets pass K, and those before it, to make row y next. */
  template <int K>
  __device__ void
  start (int y)
  {
    Sum s = {};
    at[K] = y;
    if constexpr (K == 0)
      {
        wanted = origin = y - R - 1;
        now = 0;
        gone = RING ? AHEAD : 0;
        for (int i = 0; i < AHEAD; i++)
          copy (i);
        uint2 unused;
        left[0] = take (&unused);
#pragma unroll 2
        for (int i = 0; i < window; i++)
          add (s, take (&unused));
      }
    else
      {
        /* From the row before the window on, for the fraction's sake. */
        const int low = max (y - R - 1, 0), high = min (y + R, n - 1);
        start<K - 1> (low);
        /* Such that positions are the same in all rings when all are full. */
        int p = (low - (N - 1 - K) * (R + 1)) % window;
        p = p < 0 ? p + window : p;
#pragma unroll 1
        for (int i = low; i <= high; i++)
          {
            const uint2 q = pack (step<K - 1> ());
            if (i < y - R)
              left[K] = q;
            else
              add (s, q);
            slot (K, p) = q;
            p = next_in_ring (p);
          }
        auto copy_edge = [&] (int i, int at_i) {
          const int from = at_i - (i - sb_edge_near (i, n, m.window.mirror));
          const uint2 q = slot (K, from < 0         ? from + window
                                   : from >= window ? from - window
                                                    : from);
          return q;
        };
        for (int i = high + 1; i <= y + R; i++)
          {
            const uint2 q = copy_edge (i, p);
            slot (K, p) = q;
            add (s, q);
            p = next_in_ring (p);
          }
        position[K] = p;
        /* Rows above the picture, upwards from row -1; p is the place of row y + R + 1. */
        for (int i = -1; i >= y - R; i--)
          {
            int at_i = p - (y + R + 1 - i);
            at_i = at_i < 0 ? at_i + window : at_i;
            const uint2 q = copy_edge (i, at_i);
            slot (K, at_i) = q;
            add (s, q);
          }
        if (y - R - 1 < 0)
          {
            /* Its own place is that of the last row. */
            int at_i = p - (2 * R + 2);
            at_i += at_i < 0 ? window : 0;
            at_i += at_i < 0 ? window : 0;
            left[K] = copy_edge (y - R - 1, at_i);
          }
      }
    begin<K> (s);
  }
};

extern __shared__ uint4 march_memory[];

template <int N, int CHANNELS, int METHOD, bool RING, bool PLAIN>
__global__ void
__launch_bounds__ (PLAIN ? 32 : 32 * MARCH_MAX_WARPS)
    march_kernel (const __grid_constant__ SbMarch m)
{
  const int lane = threadIdx.x & 31;
  const int x = m.first + blockIdx.x * blockDim.x + threadIdx.x;
  const int y0 = m.begin + blockIdx.y * m.rows;
  const int y1 = min (y0 + m.rows, m.end);
  const uint16_t *table = (const uint16_t *)march_memory;
  char *memory = (char *)march_memory + (threadIdx.x >> 5) * m.bytes;
  if (!PLAIN && m.fast && m.blur.linear)
    {
      for (int i = threadIdx.x; i < (int)(MARCH_TABLE_BYTES / 16); i += blockDim.x)
        {
          const uint4 e = __ldg ((const uint4 *)m.blur.tone.encode8_steps + i);
          march_memory[i] = make_uint4 (ramps (e.x), ramps (e.y), ramps (e.z), ramps (e.w));
        }
      memory += MARCH_TABLE_BYTES;
      __syncthreads ();
    }
  constexpr int ahead = MARCH_AHEAD (N, CHANNELS, PLAIN);
  const bool direct = PLAIN || m.fast || m.wide;
  const bool mixed = !PLAIN && m.fast && m.blur.mask != NULL;
  uint2 *stage = (uint2 *)memory + lane;
  /* Columns beyond the last work along on the last one. */
  Marcher<N, CHANNELS, METHOD, RING, PLAIN> marcher (m, m.in + 8 * (size_t)min (x, m.last - 1),
                                                     stage
                                                         + (mixed    ? ahead * 32
                                                            : direct ? 0
                                                                     : 4 * 32));
  typedef typename Marcher<N, CHANNELS, METHOD, RING, PLAIN>::Sample Sample;
  const bool write
      = m.out != NULL ? x < m.last : x < m.last && x >= m.blur.x && x < m.blur.x + m.blur.width;

  if (y0 >= y1)
    return;
  marcher.template start<N - 1> (y0);

  char *to = m.to + (uint64_t)(uint32_t)y0 * m.to_stride + (m.wide ? 8 : 4) * (size_t)x;
  Under<ahead> under (m.blur, min (x, m.last - 1), y0, y1, (uint32_t *)memory + lane);
  auto store = [&] (uint32_t v) {
    if (write)
      *(uint32_t *)to = v;
    to += m.to_stride;
  };
  auto store_wide = [&] (const Sample &q) {
    uint2 p = marcher.pack (q);
    if (CHANNELS == 3)
      p.y |= 0xffff0000u;
    if (write)
      *(uint2 *)to = p;
    to += m.to_stride;
  };
  /* Four rows at once: they wait for tables and quotients together. */
  auto store_four = [&] (auto finish) {
    uint32_t v[4];
#pragma unroll
    for (int u = 0; u < 4; u++)
      v[u] = finish (u);
#pragma unroll
    for (int u = 0; u < 4; u++)
      store (v[u]);
  };
  auto finish_plain = [&] (const Sample &q) {
    return METHOD == SB_METHOD_FLOAT
               ? __byte_perm (q.c[0], q.c[1], 0x7740) + (q.c[2] << 16 | 0xff000000u)
               : sb_pack_8 (marcher.pack (q)) | 0xff000000u;
  };
  if (mixed)
    under.start ();
  int y = y0;

  /* Four rows at a time, while all that enters any ring is of the picture. */
  if (marcher.window >= 4)
    {
      const int inside = min (y1, N > 1 ? m.height - (N - 1) * (marcher.R + 1) : y1);
      int position = N > 1 ? marcher.position[N - 1] : 0;
      for (; y + 4 <= inside; y += 4)
        {
          uint2 in[4], out[4], old[N][4];
          Sample made[4];
          int free[4], place[4];
          sb_wait_copies<ahead - 4> ();
#pragma unroll
          for (int u = 0; u < 4; u++)
            {
              free[u] = RING ? marcher.gone : marcher.now;
              in[u] = marcher.stream[marcher.now * 32];
              out[u] = marcher.stream[(RING ? marcher.gone : ahead + marcher.now) * 32];
              marcher.now = marcher.next_in_stream (marcher.now);
              marcher.gone = marcher.next_in_stream (marcher.gone);
              place[u] = position;
#pragma unroll
              for (int k = 1; k < N; k++)
                old[k][u] = marcher.slot (k, position);
              position = marcher.next_in_ring (position);
            }
#pragma unroll
          for (int u = 0; u < 4; u++)
            {
              Sample q = marcher.template make<0> (marcher.unpack (in[u]), out[u]);
              if constexpr (N > 1)
                {
                  marcher.slot (1, place[u]) = marcher.pack (q);
                  q = marcher.template make<1> (q, old[1][u]);
                }
              if constexpr (N > 2)
                {
                  marcher.slot (2, place[u]) = marcher.pack (q);
                  q = marcher.template make<2> (q, old[2][u]);
                }
              made[u] = q;
            }
          if (PLAIN)
            store_four ([&] (int u) { return finish_plain (made[u]); });
          else if (m.wide)
            {
#pragma unroll
              for (int u = 0; u < 4; u++)
                store_wide (made[u]);
            }
          else if (!m.fast)
            {
#pragma unroll
              for (int u = 0; u < 4; u++)
                stage[u * 32] = marcher.pack (made[u]);
              if (write)
                finish_rows (m, x, y, stage, 4);
            }
          else
            {
              uint32_t mask[4], raw[4];
              bool all = true, none = false;
              if (mixed)
                {
#pragma unroll
                  for (int u = 0; u < 4; u++)
                    {
                      mask[u] = under.get_mask (u);
                      raw[u] = under.get_raw (u);
                    }
                  all = __all_sync (SB_FULL_WARP, (mask[0] & mask[1] & mask[2] & mask[3]) == 65535);
                  none = __all_sync (SB_FULL_WARP, (mask[0] | mask[1] | mask[2] | mask[3]) == 0);
                  under.advance (4);
                }
              if (none)
                store_four ([&] (int u) { return raw[u]; });
              else if (!all && m.blur.linear)
                store_four ([&] (int u) {
                  return finish_mixed<CHANNELS, true> (m.blur, made[u].c, mask[u], raw[u]);
                });
              else if (!all)
                store_four ([&] (int u) {
                  return finish_mixed<CHANNELS, false> (m.blur, made[u].c, mask[u], raw[u]);
                });
              else if (m.blur.linear)
                store_four ([&] (int u) { return finish_8<CHANNELS, true> (table, made[u].c); });
              else
                store_four ([&] (int u) { return finish_8<CHANNELS, false> (table, made[u].c); });
            }
          marcher.copy_four (free);
        }
      if (y > y0)
#pragma unroll
        for (int k = 1; k < N; k++)
          marcher.position[k] = position;
    }
#pragma unroll 1
  for (; y < y1; y++)
    {
      const Sample q = marcher.template step<N - 1> ();
      if (PLAIN)
        store (finish_plain (q));
      else if (m.wide)
        store_wide (q);
      else if (m.fast)
        {
          uint32_t mask = 65535, raw = 0;
          if (mixed)
            {
              sb_wait_copies<ahead - 1> ();
              mask = under.get_mask (0);
              raw = under.get_raw (0);
              under.advance (1);
              sb_commit_copies ();
            }
          store (finish_any (m.blur, marcher.pack (q), mask, raw));
        }
      else if (write)
        {
          stage[0] = marcher.pack (q);
          finish_rows (m, x, y, stage, 1);
        }
    }
  sb_wait_copies<0> ();
}

typedef void (*SbMarchKernel) (const SbMarch);

/* By what is written: bytes; three channels; four. */
#define MARCHES_OF(n, method, ring)                                                                \
  {                                                                                                \
    march_kernel<n, 3, method, ring, true>, march_kernel<n, 3, method, ring, false>,               \
        march_kernel<n, 4, method, ring, false>                                                    \
  }

extern const SbMarchKernel sb_marches_1[5][3], sb_marches_2[2][3], sb_marches_3[2][3];
