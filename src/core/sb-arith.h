/* SPDX-License-Identifier: MIT */

#pragma once

#include <stdint.h>

/* The arithmetic of the blur, sample by sample: what every kernel must equal. Compiled by C and by
 * CUDA alike, so it knows only <stdint.h>. All values are whole numbers; "round" is to the nearest,
 * halves up. */

#ifdef __CUDACC__
#define SB_ARITH static inline __host__ __device__
#else
#define SB_ARITH static inline __attribute__ ((unused))
#endif

/* 16 bits to 8: round (v / 257), exact for every v. */
SB_ARITH uint8_t
sb_round_to_8 (uint32_t v)
{
  return (uint8_t)((v * 255u + 32895u) >> 16);
}

/* round (c * a / 65535), exact for every pair: with t = c * a + 32768, the quotient is
 * (t + (t >> 16)) >> 16, and t stays below 2^32. */
SB_ARITH uint16_t
sb_premultiply (uint32_t c, uint32_t a)
{
  const uint32_t t = c * a + 32768u;
  return (uint16_t)((t + (t >> 16)) >> 16);
}

/* min (65535, round (p * 65535 / a)), 0 where a is 0. */
SB_ARITH uint16_t
sb_unpremultiply (uint32_t p, uint32_t a)
{
  if (a == 0)
    return 0;
  const uint64_t q = ((uint64_t)p * 131070u + a) / (2u * (uint64_t)a);
  return (uint16_t)(q > 65535u ? 65535u : q);
}

/* Index i of a line of n samples beyond its ends: clamp repeats the end sample, mirror reflects
 * between samples (-1 is 0, n is n - 1) with period 2n. */
SB_ARITH int64_t
sb_edge_index (int64_t i, int64_t n, int mirror)
{
  if (i >= 0 && i < n)
    return i;
  if (!mirror)
    return i < 0 ? 0 : n - 1;
  int64_t j = i % (2 * n);
  if (j < 0)
    j += 2 * n;
  return j < n ? j : 2 * n - 1 - j;
}

/* One pass of radius R + k / 16: sum is the whole window's, ends the sum of the two samples just
 * outside it. N = 16 sum + k ends over D = 16 (2R + 1) + 2k, rounded; below 2^32 to R = 2000. */
SB_ARITH uint16_t
sb_box_quotient (uint32_t sum, uint32_t ends, uint32_t radius, uint32_t k)
{
  const uint64_t d = 16u * (2u * (uint64_t)radius + 1u) + 2u * k;
  return (uint16_t)((16u * (uint64_t)sum + (uint64_t)k * ends + d / 2u) / d);
}

/* Between the input (c, alpha a) and the result (rc, alpha ra) of an edit by the mask m, all
 * 65535 at most: *alpha is round (A / 65535) of A = a (65535 - m) + ra m, the colour
 * round ((c a (65535 - m) + rc ra m) / A), or c where A is 0. */
SB_ARITH uint16_t
sb_blend (uint32_t c, uint32_t a, uint32_t rc, uint32_t ra, uint32_t m, uint16_t *alpha)
{
  const uint64_t wi = (uint64_t)a * (65535u - m), wo = (uint64_t)ra * m, total = wi + wo;
  *alpha = (uint16_t)((total + 32767u) / 65535u);
  return (uint16_t)(total == 0 ? c : (2u * (c * wi + rc * wo) + total) / (2u * total));
}
