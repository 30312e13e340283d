/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cuda-haar.h"

#include "pixel.cuh"

/* A tile of 32 x 32 samples is a warp's: a lane holds 4 columns of 8 rows, lanes 0 to 7 lie side by
 * side, 8 to 15 below them, and so on. Two levels are a lane's own, the other three are made by
 * shuffles, and nothing needs shared memory or a barrier. Tiles do not overlap.
 *
 * Forward sums are not divided: a coefficient of level l is 4^l times what it is to be, which
 * changes no rounding, and whoever takes it multiplies by 4^-l in a multiplication he has anyway.
 * The inverse takes what is to scale.
 *
 * EDGE: the tile reaches beyond the plane. Past an odd side the last sample of that level pairs
 * with itself; what lies beyond is not used. */

struct SbTile
{
  /* Level by level in place: of a block p q / r t, a stays where p is, v where q, h where r, d
   * where t is. */
  float s[8][4];
  /* Levels 3 to 5, in all lanes whose samples they cover, with the signs of sb_join(). */
  float a, h[3], v[3], d[3];
};

/* Where a lane's samples lie in its plane. */
struct SbPlace
{
  int x, y;          /* of the first */
  int width, height; /* of the plane */
  int lane;
};

#define SB_HAAR_WARPS 4 /* a block's tiles lie side by side */

__device__ __forceinline__ SbPlace
sb_place (int first_x, int first_y, int width, int height)
{
  SbPlace p;
  p.lane = (int)threadIdx.x & 31;
  p.x = first_x + ((int)(blockIdx.x * SB_HAAR_WARPS) + (int)(threadIdx.x >> 5)) * 32
        + (p.lane & 7) * 4;
  p.y = first_y + (int)blockIdx.y * 32 + (p.lane >> 3) * 8;
  p.width = width;
  p.height = height;
  return p;
}

/* Of the whole tile: whether it begins in, and ends in, the plane. */
__device__ __forceinline__ bool
sb_tile_begins (const SbPlace &p)
{
  return (p.x & ~31) < p.width;
}

__device__ __forceinline__ bool
sb_tile_ends (const SbPlace &p)
{
  return (p.x & ~31) + 32 <= p.width && (p.y & ~31) + 32 <= p.height;
}

/* Whether coefficient 2 i + 1 of a level is there, of a side whose level has (side + 2^level - 1)
 * >> level. */
template <int LEVEL>
__device__ __forceinline__ int
sb_side (int side)
{
  return (side + (1 << LEVEL) - 1) >> LEVEL;
}

__device__ __forceinline__ float
sb_from (float x, int mask)
{
  return __shfl_xor_sync (0xffffffffu, x, mask);
}

/* A level that lanes make together: r lies ROWS lanes beside p, q COLUMNS beside. Each lane takes
 * its own less the other's, so that it holds v and d with the sign they have in its own sample, h
 * and d likewise: the first lane's are the coefficients themselves, and the inverse is additions
 * alone. */
template <bool EDGE>
__device__ __forceinline__ void
sb_exchange (float &own, float &other, int mask, int lane, bool alone)
{
  other = sb_from (own, mask);
  if (EDGE && alone)
    {
      own = (lane & mask) != 0 ? other : own;
      other = own;
    }
}

template <bool EDGE, int COLUMNS>
__device__ __forceinline__ void
sb_join_columns (float sum, float difference, int lane, bool alone, float &a, float &h, float &v,
                 float &d)
{
  float sum2, difference2;
  sb_exchange<EDGE> (sum, sum2, COLUMNS, lane, alone);
  sb_exchange<EDGE> (difference, difference2, COLUMNS, lane, alone);
  a = sum + sum2;
  v = sum - sum2;
  h = difference + difference2;
  d = difference - difference2;
}

template <bool EDGE, int LEVEL, int COLUMNS, int ROWS>
__device__ __forceinline__ void
sb_join (SbTile &t, const SbPlace &p)
{
  /* The block's first coefficient of the level before. */
  const int x = p.x >> LEVEL << 1, y = p.y >> LEVEL << 1;
  const bool alone_x = EDGE && x + 1 >= sb_side<LEVEL - 1> (p.width);
  const bool alone_y = EDGE && y + 1 >= sb_side<LEVEL - 1> (p.height);
  float own = t.a, other;

  sb_exchange<EDGE> (own, other, ROWS, p.lane, alone_y);
  sb_join_columns<EDGE, COLUMNS> (own + other, own - other, p.lane, alone_x, t.a, t.h[LEVEL - 3],
                                  t.v[LEVEL - 3], t.d[LEVEL - 3]);
}

template <bool EDGE>
__device__ __forceinline__ void
sb_tile_forward (SbTile &t, const SbPlace &p, int levels)
{
  {
    const bool alone_0 = EDGE && p.x + 1 >= p.width, alone_1 = EDGE && p.x + 3 >= p.width;
#pragma unroll
    for (int i = 0; i < 8; i += 2)
      {
        const bool alone_y = EDGE && p.y + i + 1 >= p.height;
#pragma unroll
        for (int j = 0; j < 4; j += 2)
          {
            const bool alone_x = j == 0 ? alone_0 : alone_1;
            const float pp = t.s[i][j];
            const float q = alone_x ? pp : t.s[i][j + 1];
            const float r = alone_y ? pp : t.s[i + 1][j];
            const float tt = alone_y ? q : alone_x ? r : t.s[i + 1][j + 1];
            const float left = pp + r, right = q + tt, above = pp - r, beside = q - tt;
            t.s[i][j] = left + right;
            t.s[i][j + 1] = left - right;
            t.s[i + 1][j] = above + beside;
            t.s[i + 1][j + 1] = above - beside;
          }
      }
  }
  if (levels < 2)
    return;
  {
    const bool alone_x = EDGE && (p.x >> 1) + 1 >= sb_side<1> (p.width);
#pragma unroll
    for (int i = 0; i < 8; i += 4)
      {
        const bool alone_y = EDGE && ((p.y + i) >> 1) + 1 >= sb_side<1> (p.height);
        const float pp = t.s[i][0];
        const float q = alone_x ? pp : t.s[i][2];
        const float r = alone_y ? pp : t.s[i + 2][0];
        const float tt = alone_y ? q : alone_x ? r : t.s[i + 2][2];
        const float left = pp + r, right = q + tt, above = pp - r, beside = q - tt;
        t.s[i][0] = left + right;
        t.s[i][2] = left - right;
        t.s[i + 2][0] = above + beside;
        t.s[i + 2][2] = above - beside;
      }
  }
  if (levels < 3)
    return;
  {
    const float top = t.s[0][0];
    const float bottom = EDGE && (p.y >> 2) + 1 >= sb_side<2> (p.height) ? top : t.s[4][0];
    const bool alone_x = EDGE && (p.x >> 3 << 1) + 1 >= sb_side<2> (p.width);
    sb_join_columns<EDGE, 1> (top + bottom, top - bottom, p.lane, alone_x, t.a, t.h[0], t.v[0],
                              t.d[0]);
  }
  if (levels < 4)
    return;
  sb_join<EDGE, 4, 2, 8> (t, p);
  if (levels < 5)
    return;
  sb_join<EDGE, 5, 4, 16> (t, p);
}

__device__ __forceinline__ void
sb_tile_inverse (SbTile &t, int levels)
{
  if (levels >= 5)
    t.a = (t.a + t.v[2]) + (t.h[2] + t.d[2]);
  if (levels >= 4)
    t.a = (t.a + t.v[1]) + (t.h[1] + t.d[1]);
  if (levels >= 3)
    {
      const float sum = t.a + t.v[0], difference = t.h[0] + t.d[0];
      t.s[0][0] = sum + difference;
      t.s[4][0] = sum - difference;
    }
  if (levels >= 2)
    {
#pragma unroll
      for (int i = 0; i < 8; i += 4)
        {
          const float a = t.s[i][0], v = t.s[i][2], h = t.s[i + 2][0], d = t.s[i + 2][2];
          const float left = a + v, right = a - v, above = h + d, beside = h - d;
          t.s[i][0] = left + above;
          t.s[i][2] = right + beside;
          t.s[i + 2][0] = left - above;
          t.s[i + 2][2] = right - beside;
        }
    }
#pragma unroll
  for (int i = 0; i < 8; i += 2)
#pragma unroll
    for (int j = 0; j < 4; j += 2)
      {
        const float a = t.s[i][j], v = t.s[i][j + 1], h = t.s[i + 1][j], d = t.s[i + 1][j + 1];
        const float left = a + v, right = a - v, above = h + d, beside = h - d;
        t.s[i][j] = left + above;
        t.s[i][j + 1] = right + beside;
        t.s[i + 1][j] = left - above;
        t.s[i + 1][j + 1] = right - beside;
      }
}

/* f (x, orientation) of every detail of a level that the lane holds: 0, 1, 2 for H, V, D. Of the
 * deeper levels several lanes hold the same. */
template <int LEVEL, typename F>
__device__ __forceinline__ void
sb_each_detail (SbTile &t, F f)
{
  if (LEVEL >= 3)
    {
      f (t.h[LEVEL >= 3 ? LEVEL - 3 : 0], 0);
      f (t.v[LEVEL >= 3 ? LEVEL - 3 : 0], 1);
      f (t.d[LEVEL >= 3 ? LEVEL - 3 : 0], 2);
      return;
    }
  const int step = LEVEL == 1 ? 1 : 2;
#pragma unroll
  for (int i = 0; i < 8; i += 2 * step)
#pragma unroll
    for (int j = 0; j < 4; j += 2 * step)
      {
        f (t.s[i + step][j], 0);
        f (t.s[i][j + step], 1);
        f (t.s[i + step][j + step], 2);
      }
}

/* f (a) of every mean of the last level that the lane holds. */
template <typename F>
__device__ __forceinline__ void
sb_each_mean (SbTile &t, int levels, F f)
{
  if (levels >= 3)
    f (t.a);
  else if (levels == 2)
    {
      f (t.s[0][0]);
      f (t.s[4][0]);
    }
  else
    {
#pragma unroll
      for (int i = 0; i < 8; i += 2)
#pragma unroll
        for (int j = 0; j < 4; j += 2)
          f (t.s[i][j]);
    }
}

/* Whole numbers below 2^23 as floats, and back from 0 .. 65535. */
__device__ __forceinline__ float
sb_to_float (uint32_t v)
{
  return __uint_as_float (v | 0x4b000000u) - 8388608.0f;
}

/* Limited to 0 .. 65535 and rounded half to even; 0x4b000000 is still on it. */
__device__ __forceinline__ uint32_t
sb_round_bits (float x)
{
  return __float_as_uint (fminf (fmaxf (x, 0.0f), 65535.0f) + 8388608.0f);
}

/* A lane's part of a row: 4 pixels of 4 or 8 bytes. Rows end at multiples of 256 bytes, so that
 * what lies beyond the plane can be read. */
__device__ __forceinline__ const char *
sb_row_at (const SbCudaPicture &s, int y)
{
  return (const char *)s.pixels + (size_t)y * s.stride;
}

inline dim3
sb_tile_grid (int width, int height)
{
  return dim3 ((unsigned)((width + 32 * SB_HAAR_WARPS - 1) / (32 * SB_HAAR_WARPS)),
               (unsigned)((height + 31) / 32));
}
