/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cuda-kernels.h"

/* A colour through the display table, as sb-color.h defines it, in float. */

#define SB_COLOR_SEGMENTS 1024
#define SB_COLOR_CELLS    32
#define SB_COLOR_LAST     (3 * (SB_COLOR_SEGMENTS + 1)) /* where the last curve begins */

/* Where the curve puts x, 0 .. 1, in cells. */
__device__ __forceinline__ float
sb_color_curve (const uint16_t *curve, float x)
{
  const float at = fminf (fmaxf (x, 0.0f), 1.0f) * SB_COLOR_SEGMENTS;
  const int i = min ((int)at, SB_COLOR_SEGMENTS - 1);
  const float low = (float)__ldg (curve + i), high = (float)__ldg (curve + i + 1);
  return (low + (at - (float)i) * (high - low)) * (SB_COLOR_CELLS / 65535.0f);
}

/* Light, as it comes from the table, to sRGB's code, 0 .. 255. */
__device__ __forceinline__ float
sb_color_encode (const uint16_t *curve, float sum)
{
  const float at = sum * (1.0f / 16.0f);
  const int i = (int)at;
  const float low = (float)__ldg (curve + i), high = (float)__ldg (curve + i + 1);
  return (low + (at - (float)i) * (high - low)) * (1.0f / 257.0f);
}

__device__ __forceinline__ void
sb_color_add (float (&sum)[3], const uint2 *point, float weight)
{
  const uint2 p = __ldg (point);
  sum[0] += weight * (float)(p.x & 65535);
  sum[1] += weight * (float)(p.x >> 16);
  sum[2] += weight * (float)(p.y & 65535);
}

/* In and out 0 .. 255. */
__device__ __forceinline__ void
sb_color_apply (const SbCudaColor &color, float (&c)[3])
{
  const int steps[3] = { (SB_COLOR_CELLS + 1) * (SB_COLOR_CELLS + 1), SB_COLOR_CELLS + 1, 1 };
  float f[3];
  int at = 0, step[3];

#pragma unroll
  for (int k = 0; k < 3; k++)
    {
      const float p
          = sb_color_curve (color.curves + (SB_COLOR_SEGMENTS + 1) * k, c[k] * (1.0f / 255.0f));
      const int i = min ((int)p, SB_COLOR_CELLS - 1);
      at += i * steps[k];
      f[k] = p - (float)i;
      step[k] = steps[k];
    }
    /* The greatest part first. */
#pragma unroll
  for (int n = 0; n < 3; n++)
    {
      const int k = n == 1 ? 1 : 0;
      if (f[k] < f[k + 1])
        {
          const float g = f[k];
          const int s = step[k];
          f[k] = f[k + 1];
          step[k] = step[k + 1];
          f[k + 1] = g;
          step[k + 1] = s;
        }
    }
  float sum[3] = { 0, 0, 0 };
  const uint2 *point = color.points + at;
  sb_color_add (sum, point, 1.0f - f[0]);
  sb_color_add (sum, point += step[0], f[0] - f[1]);
  sb_color_add (sum, point += step[1], f[1] - f[2]);
  sb_color_add (sum, point += step[2], f[2]);
#pragma unroll
  for (int k = 0; k < 3; k++)
    c[k] = sb_color_encode (color.curves + SB_COLOR_LAST, sum[k]);
}
