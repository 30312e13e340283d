/* SPDX-License-Identifier: MIT */

#pragma once

#include "haar.cuh"

/* The edit of bands: forward, change, inverse, in registers; coefficients are never stored. Deeper
 * than five levels the means of level 5 are made first, for all planes, and edited in their turn as
 * a picture of their own; then the picture is gone over again with the means in their place. */

/* Blocks a multiprocessor, as was measured: the compiler keeps to the registers that they leave. */
#define BYTES_BLOCKS 5
#define OTHER_BLOCKS 4

struct SbBandsChange
{
  int levels, hard;
  float threshold[SB_CUDA_HAAR_STEP]; /* times 4^level: sums are not divided */
  float gain[SB_CUDA_HAAR_STEP][3];   /* times 4^-level */
  float gain_a;                       /* likewise, of the last level */
  const float *means;                 /* instead of the last level's, or NULL */
};

struct SbBandsJob
{
  SbCudaPicture source, target;
  int opaque;
  int x, y, right, bottom; /* what is written */
  int first_x, first_y;    /* of the first tile */
  const uint16_t *mask;
  size_t mask_stride;
  SbBandsChange change;
  float *plane;      /* of floats, edited in place, instead of the pictures */
  int width, height; /* of it, or of the pictures */
  size_t stride;     /* of it */
  size_t plane_size; /* from plane to plane, in floats */
  float *made;       /* where means go, when only those are made */
  size_t made_stride, made_size;
  float made_scale;
};

/* --- Coefficients ---------------------------------------------------------------------------- */

template <int LEVEL>
__device__ __forceinline__ void
sb_bands_change_level (SbTile &t, const SbBandsChange &c)
{
  const float limit = c.threshold[LEVEL - 1];
  const float gains[3] = { c.gain[LEVEL - 1][0], c.gain[LEVEL - 1][1], c.gain[LEVEL - 1][2] };
  if (limit == 0)
    sb_each_detail<LEVEL> (t, [&] (float &x, int o) { x *= gains[o]; });
  else if (c.hard)
    sb_each_detail<LEVEL> (t,
                           [&] (float &x, int o) { x = fabsf (x) > limit ? x * gains[o] : 0.0f; });
  else
    /* x less what of it is within the limit: the same difference, or 0. */
    sb_each_detail<LEVEL> (
        t, [&] (float &x, int o) { x = (x - fminf (fmaxf (x, -limit), limit)) * gains[o]; });
}

template <bool EDGE>
__device__ __forceinline__ void
sb_bands_edit_tile (SbTile &t, const SbPlace &p, const SbBandsChange &c, const float *means,
                    size_t stride)
{
  sb_tile_forward<EDGE> (t, p, c.levels);
  sb_bands_change_level<1> (t, c);
  if (c.levels >= 2)
    sb_bands_change_level<2> (t, c);
  if (c.levels >= 3)
    sb_bands_change_level<3> (t, c);
  if (c.levels >= 4)
    sb_bands_change_level<4> (t, c);
  if (c.levels >= 5)
    sb_bands_change_level<5> (t, c);
  if (means != NULL)
    t.a = means[(size_t)(p.y >> 5) * stride + (p.x >> 5)];
  else
    sb_each_mean (t, c.levels, [&] (float &a) { a *= c.gain_a; });
  sb_tile_inverse (t, c.levels);
}

__device__ __forceinline__ size_t
sb_bands_means_stride (int width)
{
  return (size_t)((width + 127) / 128 * 4);
}

/* --- What is edited -------------------------------------------------------------------------- */

/* The channel in the lowest byte, as a sample of the picture of 16 bits; alpha: of 8 bits. */
template <bool ALPHA>
__device__ __forceinline__ float
sb_bands_byte_sample (uint32_t v, float alpha)
{
  if (ALPHA)
    {
      /* round (257 c 257 a / 65535) is m + round (m 2 / 255) of m = c a. */
      const float m = sb_to_float (v & 255) * alpha;
      return m + (__fmaf_rn (m, 2.0f / 255, 8388608.0f) - 8388608.0f);
    }
  return __uint_as_float (__byte_perm (v, 0x4b000000u, 0x7400)) - 8388608.0f;
}

__device__ __forceinline__ void
sb_bands_load_bytes (const SbCudaPicture &source, const SbPlace &p, bool edge, uint32_t (&v)[8][4])
{
#pragma unroll
  for (int i = 0; i < 8; i++)
    {
      const int y = edge ? min (p.y + i, p.height - 1) : p.y + i;
      const uint4 raw = __ldg ((const uint4 *)(sb_row_at (source, y) + (size_t)p.x * 4));
      v[i][0] = raw.x;
      v[i][1] = raw.y;
      v[i][2] = raw.z;
      v[i][3] = raw.w;
    }
}

__device__ __forceinline__ uint32_t
sb_bands_byte_luma (uint32_t v, bool alpha)
{
  uint32_t r = (v & 255) * 257u, g = (v >> 8 & 255) * 257u, b = (v >> 16 & 255) * 257u;
  if (alpha)
    {
      const uint32_t a = (v >> 24) * 257u;
      r = sb_divide_65535 (r * a);
      g = sb_divide_65535 (g * a);
      b = sb_divide_65535 (b * a);
    }
  return (54 * r + 183 * g + 19 * b + 128) >> 8;
}

/* A pixel's samples as the edit takes them. */
__device__ __forceinline__ uint2
sb_bands_premultiplied (uint2 p)
{
  const uint32_t a = p.y >> 16;
  return sb_pack (sb_divide_65535 ((p.x & 65535) * a), sb_divide_65535 ((p.x >> 16) * a),
                  sb_divide_65535 ((p.y & 65535) * a), a);
}

__device__ __forceinline__ uint32_t
sb_bands_luma (uint2 p)
{
  return (54 * (p.x & 65535) + 183 * (p.x >> 16) + 19 * (p.y & 65535) + 128) >> 8;
}

/* Every branch is around a whole loop: a load in a branch of its own would be waited for there. */
template <bool EDGE>
__device__ __forceinline__ void
sb_bands_load_pixels (const SbBandsJob &job, const SbPlace &p, uint2 (&v)[8][4])
{
  if (job.source.depth == 16)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
        {
          const int y = EDGE ? min (p.y + i, p.height - 1) : p.y + i;
          const uint4 *at = (const uint4 *)(sb_row_at (job.source, y) + (size_t)p.x * 8);
          const uint4 a = __ldg (at), b = __ldg (at + 1);
          v[i][0] = make_uint2 (a.x, a.y);
          v[i][1] = make_uint2 (a.z, a.w);
          v[i][2] = make_uint2 (b.x, b.y);
          v[i][3] = make_uint2 (b.z, b.w);
        }
    }
  else
    {
      uint32_t bytes[8][4];
      sb_bands_load_bytes (job.source, p, EDGE, bytes);
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i][j] = sb_expand (bytes[i][j]);
    }
  if (!job.opaque)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i][j] = sb_bands_premultiplied (v[i][j]);
    }
}

/* The next channel to the lowest 16 bits. */
__device__ __forceinline__ uint2
sb_bands_turn (uint2 p)
{
  return make_uint2 (__byte_perm (p.x, p.y, 0x5432), __byte_perm (p.y, p.x, 0x5432));
}

/* A sample and what the luma has gained. */
__device__ __forceinline__ uint32_t
sb_bands_add (uint32_t sample, int more)
{
  return (uint32_t)min (max ((int)sample + more, 0), 65535);
}

/* Whether all of the tile is written. */
__device__ __forceinline__ bool
sb_bands_is_inside (const SbBandsJob &job, const SbPlace &p)
{
  const int x = p.x & ~31, y = p.y & ~31;
  return x >= job.x && x + 32 <= job.right && y >= job.y && y + 32 <= job.bottom;
}

/* f (tile, n) of plane blockIdx.z of floats, or of one plane of a picture after the other. BYTES:
 * of 8 bits, opaque. */
template <bool BYTES, bool LUMA, bool EDGE, typename F>
__device__ __forceinline__ void
sb_bands_each_plane (const SbBandsJob &job, const SbPlace &p, F f)
{
  SbTile t;
  if (job.plane != NULL)
    {
      const float *plane = job.plane + (size_t)blockIdx.z * job.plane_size;
      /* Rows need not reach as far as the tile. */
      const int x = EDGE && p.x >= p.width ? p.x & ~31 : p.x;
#pragma unroll
      for (int i = 0; i < 8; i++)
        {
          const int y = EDGE ? min (p.y + i, p.height - 1) : p.y + i;
          const float4 v = *(const float4 *)(plane + (size_t)y * job.stride + x);
          t.s[i][0] = v.x;
          t.s[i][1] = v.y;
          t.s[i][2] = v.z;
          t.s[i][3] = v.w;
        }
      f (t, (int)blockIdx.z);
      return;
    }
  if (BYTES)
    {
      uint32_t v[8][4];
      sb_bands_load_bytes (job.source, p, EDGE, v);
#pragma unroll 1
      for (int c = 0; c < (LUMA ? 1 : 3); c++)
        {
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              {
                t.s[i][j] = LUMA ? sb_to_float (sb_bands_byte_luma (v[i][j], false))
                                 : sb_bands_byte_sample<false> (v[i][j], 0);
                v[i][j] >>= 8;
              }
          f (t, c);
        }
      return;
    }
  uint2 v[8][4];
  sb_bands_load_pixels<EDGE> (job, p, v);
#pragma unroll 1
  for (int c = 0; c < (LUMA ? 1 : 3); c++)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          {
            t.s[i][j] = sb_to_float (LUMA ? sb_bands_luma (v[i][j]) : v[i][j].x & 65535);
            v[i][j] = sb_bands_turn (v[i][j]);
          }
      f (t, c);
    }
}

/* --- Launches -------------------------------------------------------------------------------- */

/* One kernel each. Of pictures: grid covers the job's tiles. Of planes: sb_tile_grid() of the job,
 * z of the planes. bytes: the picture has 8 bits and is opaque. */
cudaError_t sb_bands_launch_bytes (const SbBandsJob &job, bool luma, dim3 grid,
                                   cudaStream_t stream);
cudaError_t sb_bands_launch_pixels (const SbBandsJob &job, bool luma, dim3 grid,
                                    cudaStream_t stream);
cudaError_t sb_bands_launch_means (const SbBandsJob &job, bool bytes, bool luma, dim3 grid,
                                   cudaStream_t stream);
cudaError_t sb_bands_launch_plane (const SbBandsJob &job, dim3 grid, cudaStream_t stream);
cudaError_t sb_bands_launch_count (const SbBandsJob &job, bool bytes, bool luma, dim3 grid,
                                   unsigned long long *counts, cudaStream_t stream);
