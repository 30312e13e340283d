/* SPDX-License-Identifier: MIT */

#pragma once

#include <stdint.h>

/* The box passes along a line of pixels that lies in shared memory: the one algorithm that rows and
 * columns share. A line is cut into chunks of C pixels, one a thread, C odd so that neighbouring
 * threads hit different banks. A pass: prefix sums over the chunks' sums give each thread the sum
 * of its first window; it then slides through its chunk with one sample in and one out, keeps the
 * results in registers, and writes them back when all have read. Cost does not depend on the
 * radius.
 *
 * A pixel is a uint2: red and green, blue and alpha, 16 bits each. */

#define SB_FULL_WARP 0xffffffffu

/* How a sum becomes a sample; all are exact where the host chooses them (see tests).
 * FLOAT: whole radii, windows to 207: an integer below 2^24 is already a denormal float, and one
 * multiply-add with 2^126 / w and 1 leaves the quotient in the low bits at the full rate.
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
  float inverse;
};

template <int CHANNELS> struct SbSum
{
  uint32_t c[CHANNELS];
};

__device__ __forceinline__ uint32_t
sb_channel (uint2 p, int c)
{
  return __byte_perm (c < 2 ? p.x : p.y, 0, (c & 1) ? 0x4432 : 0x4410);
}

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

template <int METHOD>
__device__ __forceinline__ uint32_t
sb_divide (uint32_t sum, uint32_t ends, const SbWindow &w)
{
  if (METHOD == SB_METHOD_FLOAT)
    return __float_as_uint (__fmaf_rn (__uint_as_float (sum), w.inverse, 1.0f));
  if (METHOD == SB_METHOD_WHOLE)
    return __umulhi (sum + w.half, w.magic) >> w.shift;
  return __umulhi ((16u * sum + (uint32_t)w.fraction * ends + w.half) >> 1, w.magic) >> w.shift;
}

/* passes box passes over line[0 .. len), in place. thread: 0 .. threads - 1 of this line, threads a
 * multiple of 32 with threads * C >= len. prefix: `threads` entries; totals: a warp's worth of
 * them. Every thread of the block calls it; ends with a barrier. */
template <int C, int CHANNELS, int METHOD>
__device__ __forceinline__ void
sb_line_passes (uint2 *line, int len, int thread, int threads, uint4 *prefix, uint4 *totals,
                const SbWindow w, int passes)
{
  typedef SbSum<CHANNELS> Sum;
  const int base = thread * C;
  const int count = min (max (len - base, 0), C);
  const int lane = thread & 31, warp = thread >> 5, warps = threads >> 5;
  const int reach = w.radius + (METHOD == SB_METHOD_FRACTION ? 1 : 0);
  Sum own = {};

#pragma unroll
  for (int j = 0; j < C; j++)
    if (j < count)
      {
        const uint2 p = line[base + j];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          own.c[c] += sb_channel (p, c);
      }

  for (int pass = 0; pass < passes; pass++)
    {
      Sum scan = own;
#pragma unroll
      for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          {
            const uint32_t up = __shfl_up_sync (SB_FULL_WARP, scan.c[c], d);
            scan.c[c] += lane >= d ? up : 0;
          }
      const uint4 mine
          = make_uint4 (scan.c[0], scan.c[1], scan.c[2], CHANNELS > 3 ? scan.c[CHANNELS - 1] : 0);
      prefix[thread] = mine;
      if (lane == 31)
        totals[warp] = mine;
      __syncthreads ();

      /* The sums before each warp, one a lane. */
      Sum before = {};
      {
        uint4 t = lane < warps ? totals[lane] : make_uint4 (0, 0, 0, 0);
        Sum s = { { t.x, t.y, t.z } };
        if (CHANNELS > 3)
          s.c[CHANNELS - 1] = t.w;
        before = s;
#pragma unroll
        for (int d = 1; d < 32; d *= 2)
#pragma unroll
          for (int c = 0; c < CHANNELS; c++)
            {
              const uint32_t up = __shfl_up_sync (SB_FULL_WARP, before.c[c], d);
              before.c[c] += lane >= d ? up : 0;
            }
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          before.c[c] -= s.c[c];
      }

      /* The sum of the samples before i, 0 <= i <= len. All lanes must call it. */
      auto sum_before = [&] (int i) {
        const int chunk = min (i / C, threads - 1);
        const int k = max (chunk - 1, 0);
        Sum s;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          s.c[c] = __shfl_sync (SB_FULL_WARP, before.c[c], k >> 5);
        if (chunk > 0)
          {
            const uint4 p = prefix[k];
            s.c[0] += p.x;
            s.c[1] += p.y;
            s.c[2] += p.z;
            if (CHANNELS > 3)
              s.c[CHANNELS - 1] += p.w;
          }
        else
#pragma unroll
          for (int c = 0; c < CHANNELS; c++)
            s.c[c] = 0;
        for (int j = chunk * C; j < i; j++)
          {
            const uint2 p = line[j];
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
              s.c[c] += sb_channel (p, c);
          }
        return s;
      };
      /* The same beyond the ends, where the edge rule makes up samples; sums are modulo 2^32. */
      auto sum_before_any = [&] (int i) {
        if (!w.mirror)
          {
            Sum s = sum_before (min (max (i, 0), len));
            const int over = i < 0 ? i : max (i - len, 0);
            const uint2 p = line[i < 0 ? 0 : len - 1];
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
              s.c[c] += (uint32_t)over * sb_channel (p, c);
            return s;
          }
        const int period = 2 * len;
        int turns = i / period, rest = i % period;
        if (rest < 0)
          {
            rest += period;
            turns--;
          }
        const Sum all = sum_before (len);
        const Sum part = sum_before (rest <= len ? rest : period - rest);
        Sum s;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          s.c[c] = (uint32_t)turns * 2 * all.c[c]
                   + (rest <= len ? part.c[c] : 2 * all.c[c] - part.c[c]);
        return s;
      };

      const int first = min (base, len - 1);
      Sum sum = sum_before_any (first + w.radius + 1);
      {
        const Sum low = sum_before_any (first - w.radius);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
          sum.c[c] -= low.c[c];
      }

      /* Sums of chunks that the line does not fill are made up, and never asked for. */
      uint2 result[C];
      own = Sum{};
      auto slide = [&] (auto at) {
        uint2 left = make_uint2 (0, 0);
        if (METHOD == SB_METHOD_FRACTION)
          left = line[at (base - w.radius - 1)];
#pragma unroll
        for (int j = 0; j < C; j++)
          {
            const uint2 enter = line[at (base + j + w.radius + 1)];
            const uint2 leave = line[at (base + j - w.radius)];
            uint32_t q[4];
            q[3] = 0xffff;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
              {
                const uint32_t in = sb_channel (enter, c);
                uint32_t ends = 0;
                if (METHOD == SB_METHOD_FRACTION)
                  ends = in + sb_channel (left, c);
                q[c] = sb_divide<METHOD> (sum.c[c], ends, w);
                sum.c[c] += in - sb_channel (leave, c);
                /* The float form carries the bits of 1.0 above the quotient. */
                own.c[c] += METHOD == SB_METHOD_FLOAT ? q[c] - 0x3f800000u : q[c];
              }
            left = leave;
            result[j]
                = make_uint2 (__byte_perm (q[0], q[1], 0x5410), __byte_perm (q[2], q[3], 0x5410));
          }
      };
      const bool inside = base - reach >= 0 && base + C + reach < len;
      if (__all_sync (SB_FULL_WARP, inside))
        slide ([] (int i) { return i; });
      else
        slide ([&] (int i) { return sb_edge (i, len, w.mirror); });
      __syncthreads ();

#pragma unroll
      for (int j = 0; j < C; j++)
        if (j < count)
          line[base + j] = result[j];
    }
  __syncthreads ();
}
