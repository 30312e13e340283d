/* SPDX-License-Identifier: MIT */

#pragma once

#include <stdint.h>

/* The box passes along a line of pixels that lies in shared memory: the one algorithm that rows and
 * columns share. A line is cut into chunks of C pixels, one a thread, C odd so that neighbouring
 * threads hit different banks. A pass: the sums of whole chunks, and a few samples beside them,
 * give each thread the sum of its first window (of long windows, by prefix sums over a warp's
 * chunks); it then slides through its chunk with one sample in and one out, keeps the results in
 * registers, and writes them back when all have read. Two barriers a pass; cost hardly depends on
 * the radius.
 *
 * A pixel is a uint2: red and green, blue and alpha, 16 bits each. Where there are three channels
 * the alpha is not looked at, and what is written for it is arbitrary. The first pass can read
 * pixels of 4 bytes, each worth 257 times itself. */

#define SB_FULL_WARP 0xffffffffu

/* How a sum becomes a sample; all are exact where the host chooses them (see tests).
 * FLOAT: whole radii, windows to 187: an integer below 2^24 is already a denormal float, and its
 * product with 1 / w, rounded to a denormal, is the quotient, at the full rate.
 * WHOLE: whole radii, any window: high half of a product. FRACTION: any radius. */
enum SbMethod
{
  SB_METHOD_FLOAT,
  SB_METHOD_WHOLE,
  SB_METHOD_FRACTION,
};

struct SbWindow
{
  int radius, fraction;
  int mirror;
  uint32_t magic, shift, half;
  float inverse;      /* 1 / w */
  float inverse_byte; /* 257 / w: from sums of bytes */
  float inverse_to_8; /* 1 / (257 w): to bytes */
};

template <int CHANNELS> struct SbSum
{
  uint32_t c[CHANNELS];

  __device__ __forceinline__ void
  add (uint4 v)
  {
    c[0] += v.x;
    c[1] += v.y;
    c[2] += v.z;
    if (CHANNELS > 3)
      c[CHANNELS - 1] += v.w;
  }

  __device__ __forceinline__ void
  subtract (uint4 v)
  {
    c[0] -= v.x;
    c[1] -= v.y;
    c[2] -= v.z;
    if (CHANNELS > 3)
      c[CHANNELS - 1] -= v.w;
  }

  __device__ __forceinline__ uint4
  get () const
  {
    return make_uint4 (c[0], c[1], c[2], CHANNELS > 3 ? c[CHANNELS - 1] : 0);
  }
};

__device__ __forceinline__ uint32_t
sb_channel (uint2 p, int c)
{
  return __byte_perm (c < 2 ? p.x : p.y, 0, (c & 1) ? 0x4432 : 0x4410);
}

__device__ __forceinline__ uint32_t
sb_channel (uint32_t p, int c)
{
  return __byte_perm (p, 0, 0x4440 + c);
}

/* Any index, by the edge rule. */
__device__ __forceinline__ int
sb_edge (int i, int n, int mirror)
{
  if (!mirror)
    return min (max (i, 0), n - 1);
  const int period = 2 * n;
  i %= period;
  i = i < 0 ? i + period : i;
  return i < n ? i : period - 1 - i;
}

/* The same for -n <= i < 2n. */
__device__ __forceinline__ int
sb_edge_near (int i, int n, int mirror)
{
  if (!mirror)
    return min (max (i, 0), n - 1);
  i = i < 0 ? -1 - i : i;
  return i < n ? i : 2 * n - 1 - i;
}

template <int METHOD>
__device__ __forceinline__ uint32_t
sb_divide (uint32_t sum, uint32_t ends, const SbWindow &w)
{
  if (METHOD == SB_METHOD_FLOAT)
    return __float_as_uint (__fmul_rn (__uint_as_float (sum), w.inverse));
  if (METHOD == SB_METHOD_WHOLE)
    return __umulhi (sum + w.half, w.magic) >> w.shift;
  return __umulhi ((16u * sum + (uint32_t)w.fraction * ends + w.half) >> 1, w.magic) >> w.shift;
}

/* The same of sums of bytes. */
template <int METHOD>
__device__ __forceinline__ uint32_t
sb_divide_bytes (uint32_t sum, uint32_t ends, const SbWindow &w)
{
  if (METHOD == SB_METHOD_FLOAT)
    return __float_as_uint (__fmul_rn (__uint_as_float (sum), w.inverse_byte));
  return sb_divide<METHOD> (257u * sum, 257u * ends, w);
}

/* acc + a dot b: unsigned bytes times signed ones. */
__device__ __forceinline__ uint32_t
sb_dot (uint32_t a, uint32_t b, uint32_t acc)
{
  uint32_t r;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(acc));
  return r;
}

template <int CHANNELS>
__device__ __forceinline__ void
sb_slide_sums (SbSum<CHANNELS> &s, uint2 enter, uint2 leave)
{
#pragma unroll
  for (int c = 0; c < CHANNELS; c++)
    s.c[c] += sb_channel (enter, c) - sb_channel (leave, c);
}

template <int CHANNELS>
__device__ __forceinline__ void
sb_slide_sums (SbSum<CHANNELS> &s, uint32_t enter, uint32_t leave)
{
  const uint32_t rg = __byte_perm (enter, leave, 0x5140);
  s.c[0] = sb_dot (rg, 0x0000ff01, s.c[0]);
  s.c[1] = sb_dot (rg, 0xff010000, s.c[1]);
  s.c[2] = sb_dot (enter, 0x00010000, sb_dot (leave, 0x00ff0000, s.c[2]));
  if (CHANNELS > 3)
    s.c[CHANNELS - 1] = sb_dot (enter, 0x01000000, sb_dot (leave, 0xff000000, s.c[CHANNELS - 1]));
}

/* A thread's results until all have read: three channels take a register and a half. */
template <int C, int CHANNELS> struct SbHeld
{
  uint32_t rg[C], ba[CHANNELS > 3 ? C : (C + 1) / 2];

  __device__ __forceinline__ void
  put (int j, const uint32_t *q)
  {
    rg[j] = __byte_perm (q[0], q[1], 0x5410);
    if (CHANNELS > 3)
      ba[j] = __byte_perm (q[2], q[CHANNELS - 1], 0x5410);
    else if (j & 1)
      ba[j / 2] = __byte_perm (ba[j / 2], q[2], 0x5410);
    else
      ba[j / 2] = q[2];
  }

  __device__ __forceinline__ uint2
  get (int j) const
  {
    if (CHANNELS > 3)
      return make_uint2 (rg[j], ba[j]);
    return make_uint2 (rg[j], (j & 1) ? ba[j / 2] >> 16 : ba[j / 2]);
  }
};

/* What the threads of one line share. */
struct SbLine
{
  uint2 *pixels;       /* with R + 1 more before, and R + 1 + C after them */
  int len;             /* at least R + 1 */
  int thread, threads; /* of this line; threads * C >= len; whole warps where scan is set */
  uint4 *sums;         /* of chunks: threads + 1 entries */
  uint4 *totals;       /* of warps' chunks, where scan is set */
  int scan;
};

/* The sums of chunks, in registers, before the first pass. */
template <int C, int CHANNELS, typename Pixel>
__device__ __forceinline__ SbSum<CHANNELS>
sb_line_start (const SbLine &line, const Pixel *pixels)
{
  const Pixel *from = pixels + line.thread * C;
  const int count = line.len - line.thread * C;
  SbSum<CHANNELS> own = {};
#pragma unroll
  for (int j = 0; j < C; j++)
    if (j < count)
      {
        const Pixel p = from[j];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          own.c[c] += sb_channel (p, c);
      }
  return own;
}

/* What the edge rule makes up around the pixels, before the first pass. */
template <typename Pixel>
__device__ __forceinline__ void
sb_line_pad (const SbLine &line, Pixel *pixels, const SbWindow &w)
{
  for (int i = line.thread; i <= w.radius; i += line.threads)
    {
      pixels[-1 - i] = pixels[w.mirror ? i : 0];
      pixels[line.len + i] = pixels[line.len - 1 - (w.mirror ? i : 0)];
    }
}

/* The same after a pass, by the threads that hold the outer results. */
template <int C, int CHANNELS>
__device__ __forceinline__ void
sb_line_store_outer (const SbLine &line, const SbHeld<C, CHANNELS> &held, const SbWindow &w)
{
  const int base = line.thread * C, len = line.len;
  uint2 last = make_uint2 (0, 0);
  const int count = len - base;
  uint2 *to = line.pixels + base;
#pragma unroll
  for (int j = 0; j < C; j++)
    {
      const uint2 p = held.get (j);
      if (j < count)
        to[j] = p;
      if (j == count - 1)
        last = p;
    }
  if (w.mirror)
    {
      /* What a thread wrote it can read. */
#pragma unroll 1
      for (int i = base; i < min (base + C, len); i++)
        {
          if (i <= w.radius)
            line.pixels[-1 - i] = line.pixels[i];
          if (i >= len - 1 - w.radius)
            line.pixels[2 * len - 1 - i] = line.pixels[i];
        }
      return;
    }
  /* A warp may hold ends of several lines. */
  const int lane = threadIdx.x & 31;
  const uint2 first = held.get (0);
  for (unsigned left = __ballot_sync (SB_FULL_WARP, base == 0); left != 0; left &= left - 1)
    {
      const int from = __ffs (left) - 1;
      const uint2 p = make_uint2 (__shfl_sync (SB_FULL_WARP, first.x, from),
                                  __shfl_sync (SB_FULL_WARP, first.y, from));
      uint2 *to = (uint2 *)__shfl_sync (SB_FULL_WARP, (unsigned long long)line.pixels, from);
      for (int i = lane; i <= w.radius; i += 32)
        to[-1 - i] = p;
    }
  for (unsigned right = __ballot_sync (SB_FULL_WARP, base < len && base + C >= len); right != 0;
       right &= right - 1)
    {
      const int from = __ffs (right) - 1;
      const uint2 p = make_uint2 (__shfl_sync (SB_FULL_WARP, last.x, from),
                                  __shfl_sync (SB_FULL_WARP, last.y, from));
      uint2 *to
          = (uint2 *)__shfl_sync (SB_FULL_WARP, (unsigned long long)(line.pixels + len), from);
      for (int i = lane; i <= w.radius; i += 32)
        to[i] = p;
    }
}

/* One pass from `pixels` (the line's own, or its first pass's input, which may overlap them) to the
 * line's; what lies around them is as the edge rule makes it up, and is so again afterwards. Every
 * thread of the block calls it; a barrier must follow before pixels are read. */
template <int C, int CHANNELS, int METHOD, typename Pixel>
__device__ __forceinline__ void
sb_line_pass (const SbLine &line, const Pixel *pixels, const SbWindow &w, SbSum<CHANNELS> &own)
{
  typedef SbSum<CHANNELS> Sum;
  const int len = line.len, base = line.thread * C;
  const int lane = threadIdx.x & 31;

  if (line.scan)
    {
      /* Exclusive within the warp, and the warp's total. */
      Sum scan = own;
#pragma unroll
      for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          {
            const uint32_t up = __shfl_up_sync (SB_FULL_WARP, scan.c[c], d);
            scan.c[c] += lane >= d ? up : 0;
          }
      if (lane == 31)
        line.totals[line.thread >> 5] = scan.get ();
      scan.subtract (own.get ());
      line.sums[line.thread] = scan.get ();
      if (line.thread == line.threads - 1)
        line.sums[line.threads] = make_uint4 (0, 0, 0, 0);
    }
  else
    line.sums[line.thread] = own.get ();
  __syncthreads ();

  auto add_one = [&] (Sum &s, int i) {
    const Pixel p = pixels[i];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      s.c[c] += sb_channel (p, c);
  };
  /* Adds the chunks a .. b - 1. */
  auto add_chunks = [&] (Sum &s, int a, int b) {
    if (line.scan)
      {
        s.add (line.sums[b]);
        s.subtract (line.sums[a]);
#pragma unroll 1
        for (int i = a >> 5; i < b >> 5; i++)
          s.add (line.totals[i]);
      }
    else
#pragma unroll 2
      for (int i = a; i < b; i++)
        s.add (line.sums[i]);
  };
  Sum sum = {};
  const int whole0 = w.radius / C, whole1 = (w.radius + 1) / C;
  const bool inside = base - (whole0 + 1) * C >= 0 && base + (whole1 + 1) * C <= len;
  if (__all_sync (SB_FULL_WARP, inside))
    {
      /* Whole chunks, and what is less or more than they at both ends: the same for all threads.
       */
      const int part0 = w.radius - whole0 * C, part1 = w.radius + 1 - whole1 * C;
      const bool more0 = 2 * part0 > C, more1 = 2 * part1 > C;
      const int low = base - w.radius - (more0 ? C - part0 : 0);
      const int high = base + w.radius + 1 - (more1 ? 0 : part1);
      Sum beside0 = {}, beside1 = {};
#pragma unroll 4
      for (int i = 0; i < (more0 ? C - part0 : part0); i++)
        add_one (beside0, low + i);
#pragma unroll 4
      for (int i = 0; i < (more1 ? C - part1 : part1); i++)
        add_one (beside1, high + i);
#pragma unroll
      for (int c = 0; c < CHANNELS; c++)
        sum.c[c] += (more0 ? 0u - beside0.c[c] : beside0.c[c])
                    + (more1 ? 0u - beside1.c[c] : beside1.c[c]);
      add_chunks (sum, line.thread - whole0 - (more0 ? 1 : 0),
                  line.thread + whole1 + (more1 ? 1 : 0));
    }
  else if (base < len)
    {
      /* Of the line, whole chunks and what lies beside them; then what lies around it. */
      const int lo = max (base - w.radius, 0), hi = min (base + w.radius + 1, len);
      const int a = (lo + C - 1) / C, b = hi / C;
#pragma unroll 1
      for (int i = lo; i < min (a * C, hi); i++)
        add_one (sum, i);
#pragma unroll 1
      for (int i = max (b * C, lo); i < hi && a <= b; i++)
        add_one (sum, i);
      if (a < b)
        add_chunks (sum, a, b);
      if (w.mirror)
        {
#pragma unroll 1
          for (int i = base - w.radius; i < 0; i++)
            add_one (sum, i);
#pragma unroll 1
          for (int i = len; i <= base + w.radius; i++)
            add_one (sum, i);
        }
      else
        {
          const int before = max (w.radius - base, 0), after = max (base + w.radius + 1 - len, 0);
          const Pixel p = pixels[0], q = pixels[len - 1];
#pragma unroll
          for (int c = 0; c < CHANNELS; c++)
            sum.c[c] += (uint32_t)before * sb_channel (p, c) + (uint32_t)after * sb_channel (q, c);
        }
    }

  /* What is made up beyond the line's end is never asked for. */
  SbHeld<C, CHANNELS> held;
  {
    const int from = min (base, len - 1);
    const Pixel *enters = pixels + from + w.radius + 1, *leaves = pixels + from - w.radius;
    Pixel left = {};
    own = Sum{};
    if (METHOD == SB_METHOD_FRACTION)
      left = leaves[-1];
#pragma unroll
    for (int j = 0; j < C; j++)
      {
        const Pixel enter = enters[j], leave = leaves[j];
        uint32_t q[CHANNELS];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          {
            uint32_t ends = 0;
            if (METHOD == SB_METHOD_FRACTION)
              ends = sb_channel (enter, c) + sb_channel (left, c);
            q[c] = sizeof (Pixel) == 4 ? sb_divide_bytes<METHOD> (sum.c[c], ends, w)
                                       : sb_divide<METHOD> (sum.c[c], ends, w);
            own.c[c] += q[c];
          }
        sb_slide_sums (sum, enter, leave);
        left = leave;
        held.put (j, q);
      }
  }
  __syncthreads ();

  if (__any_sync (SB_FULL_WARP, base <= w.radius || base + C + w.radius >= len))
    sb_line_store_outer<C, CHANNELS> (line, held, w);
  else
#pragma unroll
    for (int j = 0; j < C; j++)
      line.pixels[base + j] = held.get (j);
}
