/* SPDX-License-Identifier: MIT */

#pragma once

#include <stdint.h>

/* The arithmetic of the Haar transform and of the edit of its bands, coefficient by coefficient:
 * what every kernel must equal to the last bit. Compiled by C and by CUDA alike, so it knows only
 * <stdint.h>. Everything is float, in the order written, without contraction; a multiplication by
 * a power of two may stand anywhere, it rounds nothing. */

#ifdef __CUDACC__
#define SB_HAAR_ARITH static inline __host__ __device__
#else
#define SB_HAAR_ARITH static inline __attribute__ ((unused))
#endif

typedef struct
{
  float a, h, v, d;
} SbHaarQuad;

/* The block p q / r t. Past the last column q = p and t = r, past the last row r = p and t = q. */
SB_HAAR_ARITH SbHaarQuad
sb_haar_forward (float p, float q, float r, float t)
{
  const float left = p + r, right = q + t, above = p - r, beside = q - t;
  SbHaarQuad c;

  c.a = (left + right) * 0.25f;
  c.v = (left - right) * 0.25f;
  c.h = (above + beside) * 0.25f;
  c.d = (above - beside) * 0.25f;
  return c;
}

/* And back: p q r t in block[0 .. 3]. Those past an odd side are not used. */
SB_HAAR_ARITH void
sb_haar_inverse (SbHaarQuad c, float block[4])
{
  const float left = c.a + c.v, right = c.a - c.v, above = c.h + c.d, beside = c.h - c.d;

  block[0] = left + above;
  block[1] = right + beside;
  block[2] = left - above;
  block[3] = right - beside;
}

/* What an edit does to a detail: the threshold t >= 0, then the gain. Soft: sign (c) max (|c| - t,
 * 0); hard: c where |c| > t, else 0. With t = 0 both leave c. */
SB_HAAR_ARITH float
sb_haar_change (float c, float t, float gain, int hard)
{
  const float size = c < 0 ? -c : c;

  if (size <= t)
    c = 0;
  else if (!hard)
    c = c < 0 ? -(size - t) : size - t;
  return c * gain;
}

/* Samples of an edit are those of the 16-bit picture, premultiplied where there is alpha, as
 * floats; what comes back is limited to 0 .. 65535 and rounded half to even. With luma = 1 the
 * plane is Y = (54 R + 183 G + 19 B + 128) >> 8 of these samples; what comes back of it, Y', is
 * rounded half to even without a limit, and each sample s becomes s + Y' - Y, limited to 0 ..
 * 65535. */
SB_HAAR_ARITH int32_t
sb_haar_luma (int32_t r, int32_t g, int32_t b)
{
  return (54 * r + 183 * g + 19 * b + 128) >> 8;
}

/* Twice the L of HSL. */
SB_HAAR_ARITH int32_t
sb_haar_lightness (int32_t r, int32_t g, int32_t b)
{
  const int32_t high = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const int32_t low = r < g ? (r < b ? r : b) : (g < b ? g : b);

  return high + low;
}

/* How a coefficient shows. display: 0 signed, 1 magnitude, 2 colour, as SbHaarDisplay counts; u is
 * in -1 .. 1, 0 the zero of the scale. The ends of the two-sided scale, and its zero, on white and
 * on dark ground. */
SB_HAAR_ARITH void
sb_haar_shade (int display, int dark, float u, uint8_t rgb[3])
{
  const float size = u < 0 ? -u : u;

  if (display != 2)
    {
      rgb[0] = (uint8_t)(display == 0 ? 127.5f * (1 + u) + 0.5f : 255 * size + 0.5f);
      rgb[1] = rgb[2] = rgb[0];
      return;
    }

  const float zero = dark ? 20.0f : 255.0f;
  const float red = u < 0 ? (dark ? 90.0f : 0.0f) : (dark ? 255.0f : 190.0f);
  const float green = u < 0 ? (dark ? 160.0f : 80.0f) : (dark ? 170.0f : 80.0f);
  const float blue = u < 0 ? (dark ? 255.0f : 180.0f) : (dark ? 40.0f : 0.0f);

  rgb[0] = (uint8_t)(zero + size * (red - zero) + 0.5f);
  rgb[1] = (uint8_t)(zero + size * (green - zero) + 0.5f);
  rgb[2] = (uint8_t)(zero + size * (blue - zero) + 0.5f);
}
