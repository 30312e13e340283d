/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cuda-kernels.h"

/* Reading and writing single pixels in the arithmetic of the edits: 16-bit working pixels are uint2
 * (red and green, blue and alpha), premultiplied, linear where the edit is. */

/* round (x / 65535) for x up to 65535 squared: proven over all products by the tests. */
__device__ __forceinline__ uint32_t
sb_divide_65535 (uint32_t x)
{
  const uint32_t t = x + 32768u;
  /* Beyond 2^32 - 32769 the sum would wrap; 65535 squared is below that. */
  return (t + (t >> 16)) >> 16;
}

__device__ __forceinline__ uint2
sb_pack (uint32_t r, uint32_t g, uint32_t b, uint32_t a)
{
  return make_uint2 (r | g << 16, b | a << 16);
}

/* round (x / 257) to 8 bits. */
__device__ __forceinline__ uint32_t
sb_to_8 (uint32_t x)
{
  return (x * 255u + 32895u) >> 16;
}

__device__ __forceinline__ uint32_t
sb_load_8 (const SbCudaPicture &s, int x, int y)
{
  return __ldg ((const uint32_t *)((const char *)s.pixels + (size_t)y * s.stride) + x);
}

/* The byte twice is v * 257. */
__device__ __forceinline__ uint2
sb_expand (uint32_t v)
{
  return make_uint2 (__byte_perm (v, 0, 0x1100), __byte_perm (v, 0, 0x3322));
}

/* The encoded straight pixel at 16 bits. */
__device__ __forceinline__ uint2
sb_load_straight (const SbCudaPicture &s, int x, int y)
{
  if (s.depth == 16)
    return __ldg ((const uint2 *)((const char *)s.pixels + (size_t)y * s.stride) + x);
  return sb_expand (sb_load_8 (s, x, y));
}

/* A pixel of 4 bytes, premultiplied at 16 bits. */
__device__ __forceinline__ uint2
sb_premultiply_8 (uint32_t v)
{
  const uint32_t a = v >> 24, factor = a * 66049u; /* 257 squared */
  uint32_t t[3];
#pragma unroll
  for (int c = 0; c < 3; c++)
    {
      t[c] = (v >> 8 * c & 255) * factor + 32768u;
      t[c] += t[c] >> 16;
    }
  return make_uint2 (__byte_perm (t[0], t[1], 0x7632), t[2] >> 16 | a * 257u << 16);
}

__device__ __forceinline__ uint2
sb_premultiply_16 (uint2 p)
{
  const uint32_t a = p.y >> 16;
  return sb_pack (sb_divide_65535 ((p.x & 65535) * a), sb_divide_65535 ((p.x >> 16) * a),
                  sb_divide_65535 ((p.y & 65535) * a), a);
}

/* Decoded and premultiplied, from a pixel as it lies in the source: 4 bytes (in raw.x) or 8. */
__device__ __forceinline__ uint2
sb_to_work (const SbCudaBlur &b, uint2 raw)
{
  uint2 p;
  if (b.linear && b.source.depth == 8)
    {
      const uint32_t v = raw.x;
      p = sb_pack (__ldg (b.tone.decode8 + (v & 255)),
                   __ldg (b.tone.decode8 + 256 + (v >> 8 & 255)),
                   __ldg (b.tone.decode8 + 512 + (v >> 16 & 255)), (v >> 24) * 257u);
    }
  else
    {
      p = b.source.depth == 8 ? sb_expand (raw.x) : raw;
      if (b.linear)
        p = sb_pack (__ldg (b.tone.decode + (p.x & 65535)),
                     __ldg (b.tone.decode + 65536 + (p.x >> 16)),
                     __ldg (b.tone.decode + 131072 + (p.y & 65535)), p.y >> 16);
    }
  return b.opaque ? p : sb_premultiply_16 (p);
}

__device__ __forceinline__ uint2
sb_load_work (const SbCudaBlur &b, int x, int y)
{
  return sb_to_work (b, b.source.depth == 8 ? make_uint2 (sb_load_8 (b.source, x, y), 0)
                                            : sb_load_straight (b.source, x, y));
}

/* To a float by the bits: the units that convert are few. */
__device__ __forceinline__ float
sb_float_of_16 (uint32_t v)
{
  return __uint_as_float (v | 0x4b000000u) - 8388608.0f;
}

/* Three channels p become min (65535, round (p * 65535 / a)), 0 where a is 0: a float quotient is
 * wrong by one at most, which the remainder tells. */
__device__ __forceinline__ void
sb_unpremultiply (uint32_t *p, uint32_t a)
{
  const float factor = __fdividef (65535.0f, sb_float_of_16 (a));
#pragma unroll
  for (int i = 0; i < 3; i++)
    {
      const uint32_t q
          = __float_as_uint (__fadd_rn (__fmul_rn (sb_float_of_16 (p[i]), factor), 8388608.0f))
            & 0x7fffffu;
      const int rest = (int)(p[i] * 65535u + (a >> 1) - q * a);
      p[i] = a == 0 ? 0 : min (q + (rest < 0 ? ~0u : rest >= (int)a ? 1u : 0u), 65535u);
    }
}

/* The same, rounded to bytes: both roundings together are one of p * 255 / a. No p is above a, as
 * passes keep it. p is the bits of a denormal float, the factor 255 / a times 2^119: 2^15 times
 * 2^-30 puts the quotient's units into bit 8. It is rounded down by a little too much, and the
 * remainder tells where by one. */
__device__ __forceinline__ uint32_t
sb_unpremultiply_bytes (const uint32_t *p, uint32_t a)
{
  const uint32_t b = max (a, 1u);
  const float factor = __fdividef (255.0f * 0x1p119f, sb_float_of_16 (b));
  uint32_t v = sb_to_8 (a) << 24;
#pragma unroll
  for (int i = 0; i < 3; i++)
    {
      const float x
          = __fmaf_rz (__uint_as_float (p[i]), factor, (32768.0f + 0.5f - 1.0f / 256) * 0x1p-30f);
      const uint32_t q = __float_as_uint (x) >> 8 & 255;
      const int less = (int)(510u * p[i] - b - 2u * b * q); /* 510 p + a - 2 a (q + 1) */
      v |= (q + 1 + (uint32_t)(less >> 31)) << 8 * i;
    }
  return v;
}

__device__ __forceinline__ uint32_t
sb_encode_8 (const uint16_t *steps, uint32_t v)
{
  const uint32_t e = __ldg (steps + (v >> 3));
  return (e & 255) + ((v & 7) >= (e >> 8) ? 1 : 0);
}

__device__ __forceinline__ uint32_t
sb_pack_8 (uint2 p)
{
  return sb_to_8 (p.x & 65535) | sb_to_8 (p.x >> 16) << 8 | sb_to_8 (p.y & 65535) << 16
         | sb_to_8 (p.y >> 16) << 24;
}

/* A pixel as it lies in the picture, 4 bytes (in the first word) or 8; and as it is at 16 bits. */
__device__ __forceinline__ uint2
sb_load_raw (const SbCudaPicture &s, int x, int y)
{
  if (s.depth == 16)
    return __ldg ((const uint2 *)((const char *)s.pixels + (size_t)y * s.stride) + x);
  return make_uint2 (sb_load_8 (s, x, y), 0);
}

__device__ __forceinline__ uint2
sb_straight (const SbCudaPicture &s, uint2 raw)
{
  return s.depth == 16 ? raw : sb_expand (raw.x);
}

__device__ __forceinline__ uint32_t
sb_load_mask (const uint16_t *mask, size_t stride, int x, int y)
{
  return __ldg ((const uint16_t *)((const char *)mask + (size_t)y * stride) + x);
}

/* Between opaque pixels by the mask: A (see below) is 65535 squared. */
__device__ __forceinline__ uint2
sb_mix_opaque (uint2 in, uint2 p, uint32_t mask)
{
  const uint32_t under = 65535u - mask;
  return sb_pack (sb_divide_65535 ((in.x & 65535) * under + (p.x & 65535) * mask),
                  sb_divide_65535 ((in.x >> 16) * under + (p.x >> 16) * mask),
                  sb_divide_65535 ((in.y & 65535) * under + (p.y & 65535) * mask), 65535);
}

/* round ((ci wi + co wo) / A), A = wi + wo, inverse about 1 / A: the float is wrong by one at most,
 * which the remainder tells. */
__device__ __forceinline__ uint32_t
sb_mix_channel (uint32_t ci, uint32_t co, uint32_t wi, uint32_t wo, float inverse)
{
  const uint32_t total = wi + wo;
  const float about = (sb_float_of_16 (ci) * (float)wi + sb_float_of_16 (co) * (float)wo) * inverse;
  const uint32_t q = __float_as_uint (__fadd_rn (about, 8388608.0f)) & 0x7fffffu;
  const int64_t rest = (int64_t)((uint64_t)ci * wi + (uint64_t)co * wo + (total >> 1))
                       - (int64_t)((uint64_t)q * total);
  return q + (rest < 0 ? ~0u : rest >= (int64_t)total ? 1u : 0u);
}

/* Between what was there and an edit's result, both straight, as areas define it. A is
 * ai (65535 - mask) + ao mask, at most 65535 squared. */
__device__ __forceinline__ uint2
sb_mix (uint2 in, uint2 p, uint32_t mask)
{
  const uint32_t wi = (in.y >> 16) * (65535u - mask), wo = (p.y >> 16) * mask, total = wi + wo;
  const float inverse = __fdividef (1.0f, (float)total);
  const uint2 q = sb_pack (sb_mix_channel (in.x & 65535, p.x & 65535, wi, wo, inverse),
                           sb_mix_channel (in.x >> 16, p.x >> 16, wi, wo, inverse),
                           sb_mix_channel (in.y & 65535, p.y & 65535, wi, wo, inverse),
                           sb_divide_65535 (total));
  return total == 0 ? make_uint2 (in.x, in.y & 65535) : q;
}

/* Unpremultiplies and encodes the result of the passes, mixes it with the input (as it lies in the
 * source) by the mask and rounds it to the target's depth: 8 bits are in the first word. Where
 * there is no mask it is 65535, and the input is not looked at. */
__device__ __forceinline__ uint2
sb_finish (const SbCudaBlur &b, uint2 p, uint32_t mask, uint2 raw)
{
  if (mask == 0 && b.source.depth == b.target.depth)
    return raw;

  uint32_t c[3] = { p.x & 65535, p.x >> 16, p.y & 65535 };
  const uint32_t a = b.opaque ? 65535 : p.y >> 16;
  if (!b.opaque)
    {
      if (!b.linear && b.target.depth == 8 && mask == 65535)
        return make_uint2 (sb_unpremultiply_bytes (c, a), 0);
      sb_unpremultiply (c, a);
    }
  if (b.linear && b.target.depth == 8 && mask == 65535 && b.tone.encode8_steps != NULL)
    {
      uint32_t v = sb_to_8 (a) << 24;
#pragma unroll
      for (int i = 0; i < 3; i++)
        v |= sb_encode_8 (b.tone.encode8_steps + 8192 * i, c[i]) << 8 * i;
      return make_uint2 (v, 0);
    }
  if (b.linear)
    {
#pragma unroll
      for (int i = 0; i < 3; i++)
        c[i] = __ldg (b.tone.encode + 65536 * i + c[i]);
    }
  uint2 q = sb_pack (c[0], c[1], c[2], a);
  if (mask == 0)
    q = sb_straight (b.source, raw);
  else if (mask != 65535)
    q = b.opaque ? sb_mix_opaque (sb_straight (b.source, raw), q, mask)
                 : sb_mix (sb_straight (b.source, raw), q, mask);
  return b.target.depth == 16 ? q : make_uint2 (sb_pack_8 (q), 0);
}

__device__ __forceinline__ void
sb_store_result (const SbCudaBlur &b, int x, int y, uint2 p)
{
  char *row = (char *)b.target.pixels + (size_t)y * b.target.stride;
  const uint2 q = b.mask == NULL ? sb_finish (b, p, 65535, make_uint2 (0, 0))
                                 : sb_finish (b, p, sb_load_mask (b.mask, b.mask_stride, x, y),
                                              sb_load_raw (b.source, x, y));
  if (b.target.depth == 16)
    ((uint2 *)row)[x] = q;
  else
    ((uint32_t *)row)[x] = q.x;
}
