/* SPDX-License-Identifier: MIT */

#include "haar.cuh"

/* The edit of bands: forward, change, inverse, in registers; coefficients are never stored. Deeper
 * than five levels the means of level 5 are made first, for all planes, and edited in their turn as
 * a picture of their own; then the picture is gone over again with the means in their place. */

/* Blocks a multiprocessor, as was measured: the compiler keeps to the registers that they leave. */
#define BYTES_BLOCKS 5
#define OTHER_BLOCKS 4

struct Change
{
  int levels, hard;
  float threshold[SB_CUDA_HAAR_STEP]; /* times 4^level: sums are not divided */
  float gain[SB_CUDA_HAAR_STEP][3];   /* times 4^-level */
  float gain_a;                       /* likewise, of the last level */
  const float *means;                 /* instead of the last level's, or NULL */
};

struct Job
{
  SbCudaPicture source, target;
  int opaque;
  int x, y, right, bottom; /* what is written */
  int first_x, first_y;    /* of the first tile */
  const uint16_t *mask;
  size_t mask_stride;
  Change change;
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
change_level (SbTile &t, const Change &c)
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
edit_tile (SbTile &t, const SbPlace &p, const Change &c, const float *means, size_t stride)
{
  sb_tile_forward<EDGE> (t, p, c.levels);
  change_level<1> (t, c);
  if (c.levels >= 2)
    change_level<2> (t, c);
  if (c.levels >= 3)
    change_level<3> (t, c);
  if (c.levels >= 4)
    change_level<4> (t, c);
  if (c.levels >= 5)
    change_level<5> (t, c);
  if (means != NULL)
    t.a = means[(size_t)(p.y >> 5) * stride + (p.x >> 5)];
  else
    sb_each_mean (t, c.levels, [&] (float &a) { a *= c.gain_a; });
  sb_tile_inverse (t, c.levels);
}

__device__ __forceinline__ size_t
means_stride (int width)
{
  return (size_t)((width + 127) / 128 * 4);
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

__device__ __forceinline__ float
inverse_of (uint32_t a)
{
  return __fdividef (1.0f, sb_to_float (a));
}

/* --- Bytes to bytes -------------------------------------------------------------------------- */

/* Of 8 bits at this shift, as a float. */
__device__ __forceinline__ float
byte_alpha (uint32_t v, int at)
{
  return sb_to_float (v >> at & 255);
}

/* The channel in the lowest byte, as a sample of the picture of 16 bits; alpha: of 8 bits. */
template <bool ALPHA>
__device__ __forceinline__ float
byte_sample (uint32_t v, float alpha)
{
  if (ALPHA)
    {
      /* round (257 c 257 a / 65535) is m + round (m 2 / 255) of m = c a. */
      const float m = sb_to_float (v & 255) * alpha;
      return m + (__fmaf_rn (m, 2.0f / 255, 8388608.0f) - 8388608.0f);
    }
  return __uint_as_float (__byte_perm (v, 0x4b000000u, 0x7400)) - 8388608.0f;
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

__device__ __forceinline__ void
load_bytes (const SbCudaPicture &source, const SbPlace &p, bool edge, uint32_t (&v)[8][4])
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
byte_luma (uint32_t v, bool alpha)
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

/* A sample and what the luma has gained. */
__device__ __forceinline__ uint32_t
add_limited (uint32_t sample, int more)
{
  return (uint32_t)min (max ((int)sample + more, 0), 65535);
}

template <bool ALPHA>
__device__ __forceinline__ uint32_t
byte_add_luma (uint32_t v, float x)
{
  const uint32_t a = (v >> 24) * 257u;
  const int more = __float2int_rn (x) - (int)byte_luma (v, ALPHA);
#pragma unroll
  for (int c = 0; c < 3; c++)
    {
      const uint32_t s = (v & 255) * 257u;
      if (ALPHA)
        v = __byte_perm (
            v,
            straight_byte (sb_to_float (min (add_limited (sb_divide_65535 (s * a), more), a)),
                           sb_to_float (a)),
            0x4321);
      else
        v = __byte_perm (v, add_limited (s, more) * 255u + 32895u, 0x6321);
    }
  return v;
}

template <bool ALPHA, bool LUMA, bool EDGE>
__device__ __forceinline__ void
bytes_tile (const Job &job, const SbPlace &p, bool all)
{
  uint32_t v[8][4];
  SbTile t;
  const size_t stride = means_stride (p.width);

  load_bytes (job.source, p, EDGE, v);
  if (LUMA)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          t.s[i][j] = sb_to_float (byte_luma (v[i][j], ALPHA));
      edit_tile<EDGE> (t, p, job.change, job.change.means, stride);
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
              t.s[i][j] = byte_sample<ALPHA> (v[i][j], byte_alpha (v[i][j], at));
          edit_tile<EDGE> (t, p, job.change,
                           job.change.means == NULL ? NULL
                                                    : job.change.means + (size_t)c * job.made_size,
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

/* Whether all of the tile is written. */
__device__ __forceinline__ bool
is_inside (const Job &job, const SbPlace &p)
{
  const int x = p.x & ~31, y = p.y & ~31;
  return x >= job.x && x + 32 <= job.right && y >= job.y && y + 32 <= job.bottom;
}

template <bool ALPHA, bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS, ALPHA || LUMA ? OTHER_BLOCKS : BYTES_BLOCKS)
    bytes_kernel (const __grid_constant__ Job job)
{
  const SbPlace p = sb_place (job.first_x, job.first_y, job.width, job.height);
  if (!sb_tile_begins (p) || (p.x & ~31) >= job.right)
    return;
  if (is_inside (job, p))
    bytes_tile<ALPHA, LUMA, false> (job, p, true);
  else
    bytes_tile<ALPHA, LUMA, true> (job, p, false);
}

/* --- Any depth, and areas -------------------------------------------------------------------- */

/* A pixel's samples as the edit takes them. */
__device__ __forceinline__ uint2
premultiplied (uint2 p)
{
  const uint32_t a = p.y >> 16;
  return sb_pack (sb_divide_65535 ((p.x & 65535) * a), sb_divide_65535 ((p.x >> 16) * a),
                  sb_divide_65535 ((p.y & 65535) * a), a);
}

__device__ __forceinline__ uint32_t
luma_of (uint2 p)
{
  return (54 * (p.x & 65535) + 183 * (p.x >> 16) + 19 * (p.y & 65535) + 128) >> 8;
}

/* Every branch is around a whole loop: a load in a branch of its own would be waited for there. */
template <bool EDGE>
__device__ __forceinline__ void
load_pixels (const Job &job, const SbPlace &p, uint2 (&v)[8][4])
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
      load_bytes (job.source, p, EDGE, bytes);
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
          v[i][j] = premultiplied (v[i][j]);
    }
}

/* The next channel to the lowest 16 bits. */
__device__ __forceinline__ uint2
turn (uint2 p)
{
  return make_uint2 (__byte_perm (p.x, p.y, 0x5432), __byte_perm (p.y, p.x, 0x5432));
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
mix_pixel (const Job &job, int x, int y, uint2 p)
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
store_pixels (const Job &job, const SbPlace &p, uint2 (&v)[8][4])
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
pixels_tile (const Job &job, const SbPlace &p)
{
  uint2 v[8][4];
  SbTile t;
  const size_t stride = means_stride (p.width);

  load_pixels<EDGE> (job, p, v);
  if (LUMA)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          t.s[i][j] = sb_to_float (luma_of (v[i][j]));
      edit_tile<EDGE> (t, p, job.change, job.change.means, stride);
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          {
            const int more = __float2int_rn (t.s[i][j]) - (int)luma_of (v[i][j]);
            v[i][j] = sb_pack (add_limited (v[i][j].x & 65535, more),
                               add_limited (v[i][j].x >> 16, more),
                               add_limited (v[i][j].y & 65535, more), v[i][j].y >> 16);
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
          edit_tile<EDGE> (t, p, job.change,
                           job.change.means == NULL ? NULL
                                                    : job.change.means + (size_t)c * job.made_size,
                           stride);
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              v[i][j] = turn (make_uint2 (
                  __byte_perm (v[i][j].x, sb_round_bits (t.s[i][j]), 0x3254), v[i][j].y));
        }
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          v[i][j] = turn (v[i][j]);
    }
  store_pixels<EDGE> (job, p, v);
}

template <bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS, OTHER_BLOCKS)
    pixels_kernel (const __grid_constant__ Job job)
{
  const SbPlace p = sb_place (job.first_x, job.first_y, job.width, job.height);
  if (!sb_tile_begins (p) || (p.x & ~31) >= job.right)
    return;
  if (is_inside (job, p))
    pixels_tile<LUMA, false> (job, p);
  else
    pixels_tile<LUMA, true> (job, p);
}

/* --- Planes ---------------------------------------------------------------------------------- */

/* f (tile, n) of plane blockIdx.z of floats, or of one plane of a picture after the other. BYTES:
 * of 8 bits, opaque. */
template <bool BYTES, bool LUMA, bool EDGE, typename F>
__device__ __forceinline__ void
each_plane (const Job &job, const SbPlace &p, F f)
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
      load_bytes (job.source, p, EDGE, v);
#pragma unroll 1
      for (int c = 0; c < (LUMA ? 1 : 3); c++)
        {
#pragma unroll
          for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
              {
                t.s[i][j] = LUMA ? sb_to_float (byte_luma (v[i][j], false))
                                 : byte_sample<false> (v[i][j], 0);
                v[i][j] >>= 8;
              }
          f (t, c);
        }
      return;
    }
  uint2 v[8][4];
  load_pixels<EDGE> (job, p, v);
#pragma unroll 1
  for (int c = 0; c < (LUMA ? 1 : 3); c++)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          {
            t.s[i][j] = sb_to_float (LUMA ? luma_of (v[i][j]) : v[i][j].x & 65535);
            v[i][j] = turn (v[i][j]);
          }
      f (t, c);
    }
}

template <bool BYTES, bool LUMA, bool EDGE>
__device__ __forceinline__ void
means_tile (const Job &job, const SbPlace &p)
{
  each_plane<BYTES, LUMA, EDGE> (job, p, [&] (SbTile &t, int n) {
    sb_tile_forward<EDGE> (t, p, SB_CUDA_HAAR_STEP);
    if (p.lane == 0)
      job.made[(size_t)n * job.made_size + (size_t)(p.y >> 5) * job.made_stride + (p.x >> 5)]
          = t.a * job.made_scale;
  });
}

/* The means of level 5. */
template <bool BYTES, bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    means_kernel (const __grid_constant__ Job job)
{
  const SbPlace p = sb_place (0, 0, job.width, job.height);
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    means_tile<BYTES, LUMA, false> (job, p);
  else
    means_tile<BYTES, LUMA, true> (job, p);
}

template <bool EDGE>
__device__ __forceinline__ void
plane_tile (const Job &job, const SbPlace &p)
{
  float *plane = job.plane + (size_t)blockIdx.z * job.plane_size;
  const float *means
      = job.change.means == NULL ? NULL : job.change.means + (size_t)blockIdx.z * job.made_size;
  each_plane<false, false, EDGE> (job, p, [&] (SbTile &t, int) {
    edit_tile<EDGE> (t, p, job.change, means, means_stride (p.width));
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (!EDGE || (p.x + j < p.width && p.y + i < p.height))
          plane[(size_t)(p.y + i) * job.stride + p.x + j] = t.s[i][j];
  });
}

/* Floats, edited in place: a warp reads all of its tile before it writes. */
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    plane_kernel (const __grid_constant__ Job job)
{
  const SbPlace p = sb_place (0, 0, job.width, job.height);
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    plane_tile<false> (job, p);
  else
    plane_tile<true> (job, p);
}

/* --- Counting -------------------------------------------------------------------------------- */

template <int LEVEL, bool EDGE>
__device__ __forceinline__ void
count_level (SbTile &t, const SbPlace &p, const Change &c, uint32_t &before, uint32_t &after)
{
  const float limit = c.threshold[LEVEL - 1];
  const float gains[3] = { c.gain[LEVEL - 1][0], c.gain[LEVEL - 1][1], c.gain[LEVEL - 1][2] };
  const int columns = sb_side<LEVEL> (p.width), rows = sb_side<LEVEL> (p.height);
  int k = 0;

  /* Of deeper levels, one lane of those that hold the same. */
  if (LEVEL >= 3 && (p.lane & (LEVEL == 3 ? 1 : LEVEL == 4 ? 3 | 8 : 7 | 24)) != 0)
    return;
  sb_each_detail<LEVEL> (t, [&] (float &x, int o) {
    const int at = k++ / 3, step = LEVEL == 1 ? 2 : 1;
    if (EDGE && ((p.x >> LEVEL) + at % step >= columns || (p.y >> LEVEL) + at / step >= rows))
      return;
    before += x != 0;
    after += fabsf (x) > limit && gains[o] != 0;
  });
}

template <bool BYTES, bool LUMA, bool EDGE>
__device__ __forceinline__ void
count_tile (const Job &job, const SbPlace &p, uint32_t &before, uint32_t &after)
{
  const Change &c = job.change;
  each_plane<BYTES, LUMA, EDGE> (job, p, [&] (SbTile &t, int) {
    sb_tile_forward<EDGE> (t, p, c.levels);
    count_level<1, EDGE> (t, p, c, before, after);
    if (c.levels >= 2)
      count_level<2, EDGE> (t, p, c, before, after);
    if (c.levels >= 3)
      count_level<3, EDGE> (t, p, c, before, after);
    if (c.levels >= 4)
      count_level<4, EDGE> (t, p, c, before, after);
    if (c.levels >= 5)
      count_level<5, EDGE> (t, p, c, before, after);
  });
}

template <bool BYTES, bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    count_kernel (const __grid_constant__ Job job, unsigned long long *counts)
{
  const SbPlace p = sb_place (0, 0, job.width, job.height);
  uint32_t before = 0, after = 0;
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    count_tile<BYTES, LUMA, false> (job, p, before, after);
  else
    count_tile<BYTES, LUMA, true> (job, p, before, after);
  for (int k = 16; k > 0; k >>= 1)
    {
      before += __shfl_xor_sync (0xffffffffu, before, k);
      after += __shfl_xor_sync (0xffffffffu, after, k);
    }
  if (p.lane == 0)
    {
      atomicAdd (counts, (unsigned long long)before);
      atomicAdd (counts + 1, (unsigned long long)after);
    }
}

/* Four bytes as they are, 16 bits each. */
__device__ __forceinline__ uint2
sb_split (uint32_t v)
{
  return make_uint2 (__byte_perm (v, 0, 0x4140), __byte_perm (v, 0, 0x4342));
}

__global__ void
squared_error_kernel (const __grid_constant__ SbCudaPicture a,
                      const __grid_constant__ SbCudaPicture b, unsigned long long *sum)
{
  unsigned long long own = 0;
  for (int y = blockIdx.y; y < a.height; y += gridDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < a.width; x += gridDim.x * blockDim.x)
      {
        uint2 p = sb_load_straight (a, x, y), q = sb_load_straight (b, x, y);
        if (b.depth == 8)
          {
            p = sb_split (sb_pack_8 (p));
            q = sb_split (sb_pack_8 (q));
          }
        const long long r = (long long)(p.x & 65535) - (long long)(q.x & 65535);
        const long long g = (long long)(p.x >> 16) - (long long)(q.x >> 16);
        const long long u = (long long)(p.y & 65535) - (long long)(q.y & 65535);
        own += (unsigned long long)(r * r + g * g + u * u);
      }
  for (int k = 16; k > 0; k >>= 1)
    own += __shfl_xor_sync (0xffffffffu, own, k);
  if ((threadIdx.x & 31) == 0 && own > 0)
    atomicAdd (sum, own);
}

/* --- Launches -------------------------------------------------------------------------------- */

/* The planes of means of one step: rows of a multiple of 4 floats, three planes or one. */
static size_t
plane_floats (int width, int height)
{
  return (size_t)((width + 127) / 128 * 4) * (size_t)((height + 31) / 32);
}

size_t
sb_cuda_bands_room (int width, int height, int levels)
{
  size_t total = 0;

  for (; levels > SB_CUDA_HAAR_STEP; levels -= SB_CUDA_HAAR_STEP)
    {
      total += 3 * plane_floats (width, height);
      width = (width + 31) / 32;
      height = (height + 31) / 32;
    }
  return total;
}

static Change
make_change (const SbCudaBands *bands, int n)
{
  const int before = n * SB_CUDA_HAAR_STEP;
  Change c = {};

  c.levels
      = bands->levels - before < SB_CUDA_HAAR_STEP ? bands->levels - before : SB_CUDA_HAAR_STEP;
  c.hard = bands->hard;
  for (int l = 0; l < c.levels; l++)
    {
      const float unit = (float)(4 << 2 * l);
      c.threshold[l] = bands->threshold[before + l] * unit;
      for (int o = 0; o < 3; o++)
        c.gain[l][o] = bands->gain[before + l][o] / unit;
    }
  c.gain_a = bands->gain_a / (float)(1 << 2 * c.levels);
  return c;
}

struct Plan
{
  int n_steps;
  Job jobs[SB_CUDA_HAAR_STEPS];
};

/* Job n edits levels 5 n + 1 and on, of the picture or of the means before. */
static void
make_plan (const SbCudaBands *bands, Plan *plan)
{
  int width = bands->source.width, height = bands->source.height;
  float *room = bands->room;

  plan->n_steps = (bands->levels + SB_CUDA_HAAR_STEP - 1) / SB_CUDA_HAAR_STEP;
  for (int n = 0; n < plan->n_steps; n++)
    {
      Job &job = plan->jobs[n];
      job = Job{};
      job.width = width;
      job.height = height;
      job.change = make_change (bands, n);
      if (n == 0)
        {
          job.source = bands->source;
          job.target = bands->target;
          job.opaque = bands->opaque;
          job.x = bands->x;
          job.y = bands->y;
          job.right = bands->x + bands->width;
          job.bottom = bands->y + bands->height;
          job.first_x = bands->x / 32 * 32;
          job.first_y = bands->y / 32 * 32;
          job.mask = bands->mask;
          job.mask_stride = bands->mask_stride;
        }
      else
        {
          const Job &last = plan->jobs[n - 1];
          job.plane = last.made;
          job.stride = last.made_stride;
          job.plane_size = last.made_size;
        }
      if (n + 1 < plan->n_steps)
        {
          job.made = room;
          job.made_stride = (size_t)((width + 127) / 128 * 4);
          job.made_size = plane_floats (width, height);
          job.made_scale = 1.0f / 1024;
          room += 3 * job.made_size;
          width = (width + 31) / 32;
          height = (height + 31) / 32;
        }
    }
}

#define THREADS (32 * SB_HAAR_WARPS)

static dim3
planes_grid (const SbCudaBands *bands, const Job &job)
{
  dim3 grid = sb_tile_grid (job.width, job.height);
  grid.z = job.plane == NULL || bands->luma ? 1 : 3;
  return grid;
}

static bool
is_bytes (const Job &job)
{
  return job.plane == NULL && job.source.depth == 8 && job.opaque;
}

static cudaError_t
launch_means (const SbCudaBands *bands, const Plan &plan, cudaStream_t stream)
{
  cudaError_t status = cudaSuccess;

  for (int n = 0; status == cudaSuccess && n + 1 < plan.n_steps; n++)
    {
      const Job &job = plan.jobs[n];
      const dim3 grid = planes_grid (bands, job);
      if (is_bytes (job))
        (bands->luma ? means_kernel<true, true>
                     : means_kernel<true, false>)<<<grid, THREADS, 0, stream>>> (job);
      else
        (bands->luma ? means_kernel<false, true>
                     : means_kernel<false, false>)<<<grid, THREADS, 0, stream>>> (job);
      status = cudaGetLastError ();
    }
  return status;
}

cudaError_t
sb_cuda_bands (const SbCudaBands *bands, cudaStream_t stream)
{
  Plan plan;

  make_plan (bands, &plan);
  cudaError_t status = launch_means (bands, plan, stream);
  for (int n = plan.n_steps - 1; status == cudaSuccess && n > 0; n--)
    {
      Job &job = plan.jobs[n];
      job.change.means = job.made; /* NULL for the last one */
      plane_kernel<<<planes_grid (bands, job), THREADS, 0, stream>>> (job);
      status = cudaGetLastError ();
    }
  if (status != cudaSuccess)
    return status;

  Job &job = plan.jobs[0];
  job.change.means = job.made;
  const dim3 grid = sb_tile_grid (job.right - job.first_x, job.bottom - job.first_y);
  if (bands->source.depth == 8 && bands->target.depth == 8 && bands->mask == NULL)
    {
      if (bands->opaque)
        (bands->luma ? bytes_kernel<false, true>
                     : bytes_kernel<false, false>)<<<grid, THREADS, 0, stream>>> (job);
      else
        (bands->luma ? bytes_kernel<true, true>
                     : bytes_kernel<true, false>)<<<grid, THREADS, 0, stream>>> (job);
    }
  else
    (bands->luma ? pixels_kernel<true> : pixels_kernel<false>)<<<grid, THREADS, 0, stream>>> (job);
  return cudaGetLastError ();
}

cudaError_t
sb_cuda_bands_count (const SbCudaBands *bands, unsigned long long *counts, cudaStream_t stream)
{
  Plan plan;

  make_plan (bands, &plan);
  cudaError_t status = cudaMemsetAsync (counts, 0, 2 * sizeof *counts, stream);
  if (status == cudaSuccess)
    status = launch_means (bands, plan, stream);
  for (int n = 0; status == cudaSuccess && n < plan.n_steps; n++)
    {
      const Job &job = plan.jobs[n];
      const dim3 grid = planes_grid (bands, job);
      if (is_bytes (job))
        (bands->luma ? count_kernel<true, true>
                     : count_kernel<true, false>)<<<grid, THREADS, 0, stream>>> (job, counts);
      else
        (bands->luma ? count_kernel<false, true>
                     : count_kernel<false, false>)<<<grid, THREADS, 0, stream>>> (job, counts);
      status = cudaGetLastError ();
    }
  return status;
}

cudaError_t
sb_cuda_squared_error (const SbCudaPicture *a, const SbCudaPicture *b, unsigned long long *sum,
                       cudaStream_t stream)
{
  const cudaError_t status = cudaMemsetAsync (sum, 0, sizeof *sum, stream);
  if (status != cudaSuccess)
    return status;
  const dim3 grid (8, (unsigned)(a->height < 512 ? a->height : 512));
  squared_error_kernel<<<grid, 256, 0, stream>>> (*a, *b, sum);
  return cudaGetLastError ();
}
