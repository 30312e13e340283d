/* SPDX-License-Identifier: MIT */

#include "haar-bands.cuh"

/* The edit of bands at any depth, and in areas. */

__device__ __forceinline__ float
inverse_of (uint32_t a)
{
  return __fdividef (1.0f, sb_to_float (a));
}

/* sb_unpremultiply() of sb-arith.h: a quotient of floats, at most one off where it is not above
 * 65535, put right by what is left. a is not 0; inverse is about 1 / a. */
__device__ __forceinline__ uint32_t
straight (uint32_t p, uint32_t a, float inverse)
{
  const float near = fminf (sb_to_float (p) * (65535.0f * inverse), 65536.0f);
  uint32_t q = __float_as_uint (near + 8388608.0f) & 0x1ffffu;
  const int left = (int)(p * 65535u + (a >> 1) - q * a);
  q += left < 0 ? ~0u : left >= (int)a ? 1u : 0u;
  return min (q, 65535u);
}

__device__ __forceinline__ uint2
straight_pixel (uint2 p)
{
  const uint32_t a = p.y >> 16;
  const float inverse = inverse_of (a);
  if (a == 0)
    return make_uint2 (0, 0);
  return sb_pack (straight (p.x & 65535, a, inverse), straight (p.x >> 16, a, inverse),
                  straight (p.y & 65535, a, inverse), a);
}

/* Between what was there and the result, straight, by the mask. */
__device__ __forceinline__ uint2
mix_pixel (const SbBandsJob &job, int x, int y, uint2 p)
{
  const uint32_t mask = sb_load_mask (job.mask, job.mask_stride, x, y);
  if (mask == 65535)
    return p;
  const uint2 in = sb_load_straight (job.source, x, y);
  return mask == 0 ? in : sb_mix (in, p, mask);
}

/* Straight again, mixed by the mask, and written at the target's depth. */
template <bool EDGE>
__device__ __forceinline__ void
store_pixels (const SbBandsJob &job, const SbPlace &p, uint2 (&v)[8][4])
{
  if (!job.opaque)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i][j] = straight_pixel (v[i][j]);
    }
  if (job.mask != NULL)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          if (!EDGE
              || (p.x + j >= job.x && p.x + j < job.right && p.y + i >= job.y
                  && p.y + i < job.bottom))
            v[i][j] = mix_pixel (job, p.x + j, p.y + i, v[i][j]);
    }
#pragma unroll
  for (int i = 0; i < 8; i++)
    {
      const int y = p.y + i;
      char *row = (char *)job.target.pixels + (size_t)y * job.target.stride;
      if (EDGE && (y < job.y || y >= job.bottom))
        continue;
      if (EDGE)
        {
#pragma unroll
          for (int j = 0; j < 4; j++)
            if (p.x + j >= job.x && p.x + j < job.right)
              {
                if (job.target.depth == 16)
                  ((uint2 *)row)[p.x + j] = v[i][j];
                else
                  ((uint32_t *)row)[p.x + j] = sb_pack_8 (v[i][j]);
              }
          continue;
        }
      if (job.target.depth == 16)
        {
          uint4 *to = (uint4 *)(row + (size_t)p.x * 8);
          to[0] = make_uint4 (v[i][0].x, v[i][0].y, v[i][1].x, v[i][1].y);
          to[1] = make_uint4 (v[i][2].x, v[i][2].y, v[i][3].x, v[i][3].y);
        }
      else
        *(uint4 *)(row + (size_t)p.x * 4) = make_uint4 (sb_pack_8 (v[i][0]), sb_pack_8 (v[i][1]),
                                                        sb_pack_8 (v[i][2]), sb_pack_8 (v[i][3]));
    }
}

template <bool LUMA, bool EDGE>
__device__ __forceinline__ void
pixels_tile (const SbBandsJob &job, const SbPlace &p)
{
  uint2 v[8][4];
  SbTile t;
  const size_t stride = sb_bands_means_stride (p.width);

  sb_bands_load_pixels<EDGE> (job, p, v);
  if (LUMA)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          t.s[i][j] = sb_to_float (sb_bands_luma (v[i][j]));
      sb_bands_edit_tile<EDGE> (t, p, job.change, job.change.means, stride);
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          {
            const int more = __float2int_rn (t.s[i][j]) - (int)sb_bands_luma (v[i][j]);
            v[i][j] = sb_pack (sb_bands_add (v[i][j].x & 65535, more),
                               sb_bands_add (v[i][j].x >> 16, more),
                               sb_bands_add (v[i][j].y & 65535, more), v[i][j].y >> 16);
          }
    }
  else
    {
#pragma unroll 1
      for (int c = 0; c < 3; c++)
        {
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              t.s[i][j] = sb_to_float (v[i][j].x & 65535);
          sb_bands_edit_tile<EDGE> (
              t, p, job.change,
              job.change.means == NULL ? NULL : job.change.means + (size_t)c * job.made_size,
              stride);
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              v[i][j] = sb_bands_turn (make_uint2 (
                  __byte_perm (v[i][j].x, sb_round_bits (t.s[i][j]), 0x3254), v[i][j].y));
        }
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i][j] = sb_bands_turn (v[i][j]);
    }
  store_pixels<EDGE> (job, p, v);
}

template <bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS, OTHER_BLOCKS)
    pixels_kernel (const __grid_constant__ SbBandsJob job)
{
  const SbPlace p = sb_place (job.first_x, job.first_y, job.width, job.height);
  if (!sb_tile_begins (p) || (p.x & ~31) >= job.right)
    return;
  if (sb_bands_is_inside (job, p))
    pixels_tile<LUMA, false> (job, p);
  else
    pixels_tile<LUMA, true> (job, p);
}

cudaError_t
sb_bands_launch_pixels (const SbBandsJob &job, bool luma, dim3 grid, cudaStream_t stream)
{
  (luma ? pixels_kernel<true>
        : pixels_kernel<false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job);
  return cudaGetLastError ();
}
