/* SPDX-License-Identifier: MIT */

#include "haar-bands.cuh"

/* The edit of bands from 8 bits to 8 bits without an area, which is most of what is edited. */

/* Of 8 bits at this shift, as a float. */
__device__ __forceinline__ float
byte_alpha (uint32_t v, int at)
{
  return sb_to_float (v >> at & 255);
}

/* A whole sample p, not above alpha (both of 16 bits), straight and rounded to 8 bits, in the
 * lowest byte: sb_unpremultiply() and sb_round_to_8() together are one rounding of 255 p / alpha.
 * It is tried a little too low, and what is left tells whether by one. */
__device__ __forceinline__ uint32_t
straight_byte (float p, float alpha)
{
  const float factor = __fdividef (255.0f * (1.0f - 0x1p-20f), fmaxf (alpha, 1.0f));
  const float near = p * factor + 8388608.0f;
  const float left = __fmaf_rn (8388608.0f - near, alpha, 255.0f * p);
  return __float_as_uint (near) + (left >= 0.5f * alpha && alpha > 0 ? 1u : 0u);
}

/* The new sample's byte behind the other three, which move down. */
template <bool ALPHA>
__device__ __forceinline__ uint32_t
put_byte (uint32_t v, float x, float alpha)
{
  if (ALPHA)
    {
      const float a = alpha * 257.0f;
      const float p = (fminf (fmaxf (x, 0.0f), a) + 8388608.0f) - 8388608.0f;
      return __byte_perm (v, straight_byte (p, a), 0x4321);
    }
  /* Rounded to 8 bits in the third byte, without the bits of 2^23. */
  return __byte_perm (v, sb_round_bits (x) * 255u + (32895u - 0x4b000000u * 255u), 0x6321);
}

template <bool ALPHA>
__device__ __forceinline__ uint32_t
byte_add_luma (uint32_t v, float x)
{
  const uint32_t a = (v >> 24) * 257u;
  const int more = __float2int_rn (x) - (int)sb_bands_byte_luma (v, ALPHA);
#pragma unroll
  for (int c = 0; c < 3; c++)
    {
      const uint32_t s = (v & 255) * 257u;
      if (ALPHA)
        v = __byte_perm (
            v,
            straight_byte (sb_to_float (min (sb_bands_add (sb_divide_65535 (s * a), more), a)),
                           sb_to_float (a)),
            0x4321);
      else
        v = __byte_perm (v, sb_bands_add (s, more) * 255u + 32895u, 0x6321);
    }
  return v;
}

template <bool ALPHA, bool LUMA, bool EDGE>
__device__ __forceinline__ void
bytes_tile (const SbBandsJob &job, const SbPlace &p, bool all)
{
  uint32_t v[8][4];
  SbTile t;
  const size_t stride = sb_bands_means_stride (p.width);

  sb_bands_load_bytes (job.source, p, EDGE, v);
  if (LUMA)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          t.s[i][j] = sb_to_float (sb_bands_byte_luma (v[i][j], ALPHA));
      sb_bands_edit_tile<EDGE> (t, p, job.change, job.change.means, stride);
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i][j] = byte_add_luma<ALPHA> (v[i][j], t.s[i][j]);
    }
  else
    {
      /* Each channel in turn at the lowest byte. */
#pragma unroll 1
      for (int c = 0; c < 3; c++)
        {
          const int at = 24 - 8 * c;
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              t.s[i][j] = sb_bands_byte_sample<ALPHA> (v[i][j], byte_alpha (v[i][j], at));
          sb_bands_edit_tile<EDGE> (
              t, p, job.change,
              job.change.means == NULL ? NULL : job.change.means + (size_t)c * job.made_size,
              stride);
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              v[i][j] = put_byte<ALPHA> (v[i][j], t.s[i][j], byte_alpha (v[i][j], at));
        }
    }
    /* Alpha is where red began. */
#pragma unroll
  for (int i = 0; i < 8; i++)
    {
#pragma unroll
      for (int j = 0; j < 4; j++)
        v[i][j] = __byte_perm (v[i][j], 0, 0x0321);
      uint32_t *to = (uint32_t *)(sb_row_at (job.target, p.y + i)) + p.x;
      if (!EDGE || all)
        *(uint4 *)to = make_uint4 (v[i][0], v[i][1], v[i][2], v[i][3]);
      else if (p.y + i >= job.y && p.y + i < job.bottom)
        {
#pragma unroll
          for (int j = 0; j < 4; j++)
            if (p.x + j >= job.x && p.x + j < job.right)
              to[j] = v[i][j];
        }
    }
}

template <bool ALPHA, bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS, ALPHA || LUMA ? OTHER_BLOCKS : BYTES_BLOCKS)
    bytes_kernel (const __grid_constant__ SbBandsJob job)
{
  const SbPlace p = sb_place (job.first_x, job.first_y, job.width, job.height);
  if (!sb_tile_begins (p) || (p.x & ~31) >= job.right)
    return;
  if (sb_bands_is_inside (job, p))
    bytes_tile<ALPHA, LUMA, false> (job, p, true);
  else
    bytes_tile<ALPHA, LUMA, true> (job, p, false);
}

cudaError_t
sb_bands_launch_bytes (const SbBandsJob &job, bool luma, dim3 grid, cudaStream_t stream)
{
  if (job.opaque)
    (luma ? bytes_kernel<false, true>
          : bytes_kernel<false, false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job);
  else
    (luma ? bytes_kernel<true, true>
          : bytes_kernel<true, false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job);
  return cudaGetLastError ();
}
