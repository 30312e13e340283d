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
 * WHOLE: whole radii, any window: high half of a product. FRACTION: any radius, in sixteenths. */
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
  uint32_t magic, shift, half; /* (n + half) * magic >> (32 + shift) is the quotient */
  float inverse;               /* 1 / w */
  float inverse_byte;          /* 257 / w: from sums of bytes */
  float inverse_to_8;          /* 1 / (257 w): to bytes */
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

/* acc + a dot b: unsigned bytes times signed ones. */
__device__ __forceinline__ uint32_t
sb_dot (uint32_t a, uint32_t b, uint32_t acc)
{
  uint32_t r;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(acc));
  return r;
}

/* acc + times (-128 to 127) one of the two channels in a word: unsigned halves, signed bytes. */
__device__ __forceinline__ uint32_t
sb_add_half (uint32_t p, int c, int times, uint32_t acc)
{
  uint32_t r;
  asm("dp2a.lo.u32.s32 %0, %1, %2, %3;"
      : "=r"(r)
      : "r"(p), "r"((uint32_t)(times & 255) << (c ? 8 : 0)), "r"(acc));
  return r;
}

/* The same of a pixel. */
__device__ __forceinline__ uint32_t
sb_add_times (uint2 p, int c, int times, uint32_t acc)
{
  return sb_add_half (c < 2 ? p.x : p.y, c & 1, times, acc);
}

__device__ __forceinline__ uint32_t
sb_add_times (uint32_t p, int c, int times, uint32_t acc)
{
  return sb_dot (p, (uint32_t)(times & 255) << 8 * c, acc);
}

__device__ __forceinline__ uint32_t
sb_divide (uint32_t n, const SbWindow &w)
{
  return __umulhi (n, w.magic) >> w.shift;
}

/* What slides along a line: the sum of the window; of fractional radii, in sixteenths, without the
 * sample that is about to enter. */
template <int CHANNELS, int METHOD, typename Pixel> struct SbSlide
{
  enum
  {
    BYTES = sizeof (Pixel) == 4
  };
  SbSum<CHANNELS> sum;
  Pixel left;

  /* sum: of the window. before: the pixel before it. */
  __device__ __forceinline__ void
  start (const SbSum<CHANNELS> &window, Pixel before, const SbWindow &w)
  {
    sum = window;
    left = before;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      {
        if (METHOD == SB_METHOD_FRACTION)
          sum.c[c] = sb_add_times (before, c, w.fraction, 16u * sum.c[c]);
        if (METHOD != SB_METHOD_FLOAT && !BYTES)
          sum.c[c] += w.half;
      }
  }

  /* The sample of the window; then on by one. */
  __device__ __forceinline__ void
  step (Pixel enter, Pixel leave, const SbWindow &w, uint32_t *q)
  {
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      {
        if (METHOD == SB_METHOD_FLOAT)
          {
            q[c] = __float_as_uint (
                __fmul_rn (__uint_as_float (sum.c[c]), BYTES ? w.inverse_byte : w.inverse));
            continue;
          }
        if (METHOD == SB_METHOD_FRACTION)
          sum.c[c] = sb_add_times (enter, c, w.fraction, sum.c[c]);
        q[c] = sb_divide (BYTES ? 257u * sum.c[c] + w.half : sum.c[c], w);
        if (METHOD == SB_METHOD_FRACTION)
          {
            const int rest = 16 - w.fraction;
            sum.c[c] = sb_add_times (enter, c, rest, sum.c[c]);
            sum.c[c] = sb_add_times (leave, c, -rest, sum.c[c]);
            sum.c[c] = sb_add_times (left, c, -w.fraction, sum.c[c]);
          }
      }
    if (METHOD == SB_METHOD_FRACTION)
      left = leave;
    else
      slide (enter, leave);
  }

private:
  __device__ __forceinline__ void
  slide (uint2 enter, uint2 leave)
  {
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      sum.c[c] = sb_add_times (leave, c, -1, sb_add_times (enter, c, 1, sum.c[c]));
  }

  __device__ __forceinline__ void
  slide (uint32_t enter, uint32_t leave)
  {
    const uint32_t rg = __byte_perm (enter, leave, 0x5140);
    sum.c[0] = sb_dot (rg, 0x0000ff01, sum.c[0]);
    sum.c[1] = sb_dot (rg, 0xff010000, sum.c[1]);
    sum.c[2] = sb_dot (enter, 0x00010000, sb_dot (leave, 0x00ff0000, sum.c[2]));
    if (CHANNELS > 3)
      sum.c[CHANNELS - 1]
          = sb_dot (enter, 0x01000000, sb_dot (leave, 0xff000000, sum.c[CHANNELS - 1]));
  }
};

/* Adds a pixel: bytes by permutations, which are the faster where nothing else is done. */
template <int CHANNELS, typename Pixel>
__device__ __forceinline__ void
sb_add (SbSum<CHANNELS> &s, Pixel p)
{
#pragma unroll
  for (int c = 0; c < CHANNELS; c++)
    if (sizeof (Pixel) == 4)
      s.c[c] += sb_channel (p, c);
    else
      s.c[c] = sb_add_times (p, c, 1, s.c[c]);
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

/* What the threads of one line share. LINES lines lie interleaved, pixel by pixel, and so do their
 * threads, sums and totals. */
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
template <int C, int CHANNELS, int LINES, typename Pixel>
__device__ __forceinline__ SbSum<CHANNELS>
sb_line_start (const SbLine &line, const Pixel *pixels)
{
  const Pixel *from = pixels + line.thread * C * LINES;
  const int count = line.len - line.thread * C;
  SbSum<CHANNELS> own = {};
#pragma unroll
  for (int j = 0; j < C; j++)
    if (j < count)
      sb_add (own, from[j * LINES]);
  return own;
}

/* What the edge rule makes up around the pixels, before the first pass. */
template <int LINES, typename Pixel>
__device__ __forceinline__ void
sb_line_pad (const SbLine &line, Pixel *pixels, const SbWindow &w)
{
  for (int i = line.thread; i <= w.radius; i += line.threads)
    {
      pixels[(-1 - i) * LINES] = pixels[(w.mirror ? i : 0) * LINES];
      pixels[(line.len + i) * LINES] = pixels[(line.len - 1 - (w.mirror ? i : 0)) * LINES];
    }
}

/* The same after a pass, by the threads that hold the outer results. */
template <int C, int CHANNELS, int LINES>
__device__ __forceinline__ void
sb_line_store_outer (const SbLine &line, const SbHeld<C, CHANNELS> &held, const SbWindow &w)
{
  const int base = line.thread * C, len = line.len;
  uint2 last = make_uint2 (0, 0);
  const int count = len - base;
  uint2 *to = line.pixels + base * LINES;
#pragma unroll
  for (int j = 0; j < C; j++)
    {
      const uint2 p = held.get (j);
      if (j < count)
        to[j * LINES] = p;
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
            line.pixels[(-1 - i) * LINES] = line.pixels[i * LINES];
          if (i >= len - 1 - w.radius)
            line.pixels[(2 * len - 1 - i) * LINES] = line.pixels[i * LINES];
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
        to[(-1 - i) * LINES] = p;
    }
  for (unsigned right = __ballot_sync (SB_FULL_WARP, base < len && base + C >= len); right != 0;
       right &= right - 1)
    {
      const int from = __ffs (right) - 1;
      const uint2 p = make_uint2 (__shfl_sync (SB_FULL_WARP, last.x, from),
                                  __shfl_sync (SB_FULL_WARP, last.y, from));
      uint2 *to = (uint2 *)__shfl_sync (SB_FULL_WARP,
                                        (unsigned long long)(line.pixels + len * LINES), from);
      for (int i = lane; i <= w.radius; i += 32)
        to[i * LINES] = p;
    }
}

/* One pass from `pixels` (the line's own, or its first pass's input, which may overlap them) to the
 * line's; what lies around them is as the edge rule makes it up, and is so again afterwards. Every
 * thread of the block calls it; a barrier must follow before pixels are read. */
template <int C, int CHANNELS, int METHOD, int LINES, typename Pixel>
__device__ __forceinline__ void
sb_line_pass (const SbLine &line, const Pixel *pixels, const SbWindow &w, SbSum<CHANNELS> &own)
{
  typedef SbSum<CHANNELS> Sum;
  enum
  {
    GROUP = 32 / LINES /* chunks of a line that a warp holds */
  };
  const int len = line.len, base = line.thread * C;

  if (line.scan)
    {
      /* Exclusive within the warp, and the warp's total. */
      const int lane = threadIdx.x & 31;
      Sum scan = own;
#pragma unroll
      for (int d = LINES; d < 32; d *= 2)
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          {
            const uint32_t up = __shfl_up_sync (SB_FULL_WARP, scan.c[c], d);
            scan.c[c] += lane >= d ? up : 0;
          }
      if (lane >= 32 - LINES)
        line.totals[line.thread / GROUP * LINES] = scan.get ();
      scan.subtract (own.get ());
      line.sums[line.thread * LINES] = scan.get ();
      if (line.thread == line.threads - 1)
        line.sums[line.threads * LINES] = make_uint4 (0, 0, 0, 0);
    }
  else
    line.sums[line.thread * LINES] = own.get ();
  __syncthreads ();

  auto add_one = [&] (Sum &s, int i) { sb_add (s, pixels[i * LINES]); };
  /* Adds the chunks a .. b - 1. */
  auto add_chunks = [&] (Sum &s, int a, int b) {
    if (line.scan)
      {
        s.add (line.sums[b * LINES]);
        s.subtract (line.sums[a * LINES]);
#pragma unroll 1
        for (int i = a / GROUP; i < b / GROUP; i++)
          s.add (line.totals[i * LINES]);
      }
    else
#pragma unroll 2
      for (int i = a; i < b; i++)
        s.add (line.sums[i * LINES]);
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
      auto add_range = [&] (int lo, int hi) {
        const int a = (lo + C - 1) / C, b = hi / C;
#pragma unroll 1
        for (int i = lo; i < min (a * C, hi); i++)
          add_one (sum, i);
#pragma unroll 1
        for (int i = max (b * C, lo); i < hi && a <= b; i++)
          add_one (sum, i);
        if (a < b)
          add_chunks (sum, a, b);
      };
      add_range (max (base - w.radius, 0), min (base + w.radius + 1, len));
      if (w.mirror)
        {
          /* Which is the line again. */
          if (base < w.radius)
            add_range (0, w.radius - base);
          if (base + w.radius >= len)
            add_range (2 * len - 1 - base - w.radius, len);
        }
      else
        {
          const int before = max (w.radius - base, 0), after = max (base + w.radius + 1 - len, 0);
          const Pixel p = pixels[0], q = pixels[(len - 1) * LINES];
#pragma unroll
          for (int c = 0; c < CHANNELS; c++)
            sum.c[c] += (uint32_t)before * sb_channel (p, c) + (uint32_t)after * sb_channel (q, c);
        }
    }

  /* What is made up beyond the line's end is never asked for. */
  SbHeld<C, CHANNELS> held;
  {
    const int from = min (base, len - 1);
    const Pixel *enters = pixels + (from + w.radius + 1) * LINES,
                *leaves = pixels + (from - w.radius) * LINES;
    Pixel before = {};
    SbSlide<CHANNELS, METHOD, Pixel> slide;
    own = Sum{};
    if (METHOD == SB_METHOD_FRACTION)
      before = leaves[-LINES];
    slide.start (sum, before, w);
#pragma unroll
    for (int j = 0; j < C; j++)
      {
        uint32_t q[CHANNELS];
        slide.step (enters[j * LINES], leaves[j * LINES], w, q);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          own.c[c] += q[c];
        held.put (j, q);
      }
  }
  __syncthreads ();

  if (__any_sync (SB_FULL_WARP, base <= w.radius || base + C + w.radius >= len))
    sb_line_store_outer<C, CHANNELS, LINES> (line, held, w);
  else
#pragma unroll
    for (int j = 0; j < C; j++)
      line.pixels[(base + j) * LINES] = held.get (j);
}
