/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-blur-pixels.h"
#include "sb-arith.h"
#include "sb-kernel-blur-simd.h"

#include <string.h>

#define INLINE static inline __attribute__ ((always_inline))
#define BIAS   0x8000

/* --- Rows to vectors ------------------------------------------------------------------------- */

#if SB_V_BYTES == 64
/* 16 pixels of 8 rows: as bytes, vector 2i of the result holds x and x + 4, in the order that
 * unpacking with the high bytes spreads: for each pair of rows 8 bytes of x, 8 of x + 4. */
INLINE void
gather_bytes (const guint8 *const rows[8], gsize x, __m512i out[8])
{
  __m512i r[8], s[8];

  for (guint i = 0; i < 8; i++)
    r[i] = _mm512_loadu_si512 (rows[i] + x * 4);
  for (guint i = 0; i < 8; i += 2)
    {
      s[i] = _mm512_unpacklo_epi32 (r[i], r[i + 1]);
      s[i + 1] = _mm512_unpackhi_epi32 (r[i], r[i + 1]);
    }
  /* r[i]: rows 0 .. 3 at x = 4 lane + i; r[4 + i]: rows 4 .. 7 */
  for (guint h = 0; h < 2; h++)
    {
      r[4 * h] = _mm512_unpacklo_epi64 (s[4 * h], s[4 * h + 2]);
      r[4 * h + 1] = _mm512_unpackhi_epi64 (s[4 * h], s[4 * h + 2]);
      r[4 * h + 2] = _mm512_unpacklo_epi64 (s[4 * h + 1], s[4 * h + 3]);
      r[4 * h + 3] = _mm512_unpackhi_epi64 (s[4 * h + 1], s[4 * h + 3]);
    }
  const __m512i low = _mm512_set_epi64 (8 + 3, 8 + 1, 8 + 2, 8 + 0, 3, 1, 2, 0);
  const __m512i high = _mm512_set_epi64 (8 + 7, 8 + 5, 8 + 6, 8 + 4, 7, 5, 6, 4);
  for (guint i = 0; i < 4; i++)
    {
      out[2 * i] = _mm512_permutex2var_epi64 (r[i], low, r[4 + i]);
      out[2 * i + 1] = _mm512_permutex2var_epi64 (r[i], high, r[4 + i]);
    }
}
#endif

INLINE void
load_pixel_8 (const guint8 *in, guint16 *out)
{
  for (guint c = 0; c < 4; c++)
    out[c] = (guint16)((in[c] * 257u) ^ BIAS);
}

void
sb_blur_load_8 (const guint8 *const rows[8], gsize count, guint16 *out)
{
  gsize x = 0;

#if SB_V_BYTES == 64
  for (; x + 16 <= count; x += 16)
    {
      __m512i bytes[8];
      gather_bytes (rows, x, bytes);
      for (guint i = 0; i < 4; i++)
        for (guint h = 0; h < 2; h++)
          {
            const __m512i lo = bytes[2 * i + h],
                          hi = _mm512_xor_si512 (lo, _mm512_set1_epi8 (-128));
            guint16 *to = out + (x + 8 * h + i) * SB_VECTOR;
            _mm512_store_si512 (to, _mm512_unpacklo_epi8 (lo, hi));
            _mm512_store_si512 (to + 4 * SB_VECTOR, _mm512_unpackhi_epi8 (lo, hi));
          }
    }
#elif SB_V_BYTES == 32
  for (; x + 8 <= count; x += 8)
    {
      __m256i r[8], s[8];
      for (guint i = 0; i < 8; i++)
        r[i] = _mm256_loadu_si256 ((const __m256i *)(rows[i] + x * 4));
      for (guint i = 0; i < 8; i += 2)
        {
          s[i] = _mm256_unpacklo_epi32 (r[i], r[i + 1]);
          s[i + 1] = _mm256_unpackhi_epi32 (r[i], r[i + 1]);
        }
      for (guint h = 0; h < 8; h += 4)
        {
          r[h] = _mm256_unpacklo_epi64 (s[h], s[h + 2]);
          r[h + 1] = _mm256_unpackhi_epi64 (s[h], s[h + 2]);
          r[h + 2] = _mm256_unpacklo_epi64 (s[h + 1], s[h + 3]);
          r[h + 3] = _mm256_unpackhi_epi64 (s[h + 1], s[h + 3]);
        }
      /* r[i]: rows 0 .. 3 at x + 4 lane + i; r[4 + i]: rows 4 .. 7 */
      for (guint i = 0; i < 4; i++)
        for (guint h = 0; h < 2; h++)
          {
            const __m256i v = r[4 * h + i], w = _mm256_xor_si256 (v, _mm256_set1_epi8 (-128));
            const __m256i lo = _mm256_unpacklo_epi8 (v, w), hi = _mm256_unpackhi_epi8 (v, w);
            __m128i *to = (__m128i *)(out + (x + i) * SB_VECTOR + h * 16);
            _mm_store_si128 (to, _mm256_castsi256_si128 (lo));
            _mm_store_si128 (to + 1, _mm256_castsi256_si128 (hi));
            to += 4 * SB_VECTOR_BYTES / 16;
            _mm_store_si128 (to, _mm256_extracti128_si256 (lo, 1));
            _mm_store_si128 (to + 1, _mm256_extracti128_si256 (hi, 1));
          }
    }
#elif SB_V_BYTES == 16
  for (; x + 4 <= count; x += 4)
    for (guint h = 0; h < 2; h++)
      {
        __m128i r[4], s[4];
        for (guint i = 0; i < 4; i++)
          r[i] = _mm_loadu_si128 ((const __m128i *)(rows[4 * h + i] + x * 4));
        s[0] = _mm_unpacklo_epi32 (r[0], r[1]);
        s[1] = _mm_unpackhi_epi32 (r[0], r[1]);
        s[2] = _mm_unpacklo_epi32 (r[2], r[3]);
        s[3] = _mm_unpackhi_epi32 (r[2], r[3]);
        r[0] = _mm_unpacklo_epi64 (s[0], s[2]);
        r[1] = _mm_unpackhi_epi64 (s[0], s[2]);
        r[2] = _mm_unpacklo_epi64 (s[1], s[3]);
        r[3] = _mm_unpackhi_epi64 (s[1], s[3]);
        for (guint i = 0; i < 4; i++)
          {
            const __m128i w = _mm_xor_si128 (r[i], _mm_set1_epi8 (-128));
            __m128i *to = (__m128i *)(out + (x + i) * SB_VECTOR + h * 16);
            _mm_store_si128 (to, _mm_unpacklo_epi8 (r[i], w));
            _mm_store_si128 (to + 1, _mm_unpackhi_epi8 (r[i], w));
          }
      }
#endif
  for (; x < count; x++)
    for (guint i = 0; i < 8; i++)
      load_pixel_8 (rows[i] + x * 4, out + x * SB_VECTOR + i * 4);
}

#if SB_V_BYTES == 64
/* 64 look-ups of a table of 256 bytes, of which t holds four quarters. */
INLINE __m512i
look_up (__m512i index, const __m512i t[4])
{
  const __m512i low = _mm512_permutex2var_epi8 (t[0], index, t[1]);
  const __m512i high = _mm512_permutex2var_epi8 (t[2], index, t[3]);
  return _mm512_mask_mov_epi8 (low, _mm512_movepi8_mask (index), high);
}
#endif

void
sb_blur_decode_8 (const SbBlurTone *tone, const guint8 *const rows[8], gsize count, guint16 *out)
{
  gsize x = 0;

#if SB_V_BYTES == 64
  if (tone->one_curve)
    {
      const __mmask64 colour = 0x7777777777777777;
      const __m512i flip = _mm512_set1_epi8 (-128);
      __m512i low[4], high[4];
      for (guint i = 0; i < 4; i++)
        {
          low[i] = _mm512_loadu_si512 (tone->decode_byte[0] + 64 * i);
          high[i] = _mm512_xor_si512 (_mm512_loadu_si512 (tone->decode_byte[1] + 64 * i), flip);
        }
      for (; x + 16 <= count; x += 16)
        {
          __m512i bytes[8];
          gather_bytes (rows, x, bytes);
          for (guint i = 0; i < 4; i++)
            for (guint h = 0; h < 2; h++)
              {
                const __m512i v = bytes[2 * i + h];
                const __m512i lo = _mm512_mask_mov_epi8 (v, colour, look_up (v, low));
                const __m512i hi
                    = _mm512_mask_mov_epi8 (_mm512_xor_si512 (v, flip), colour, look_up (v, high));
                guint16 *to = out + (x + 8 * h + i) * SB_VECTOR;
                _mm512_store_si512 (to, _mm512_unpacklo_epi8 (lo, hi));
                _mm512_store_si512 (to + 4 * SB_VECTOR, _mm512_unpackhi_epi8 (lo, hi));
              }
        }
    }
#endif
  for (; x < count; x++)
    for (guint i = 0; i < 8; i++)
      {
        const guint8 *in = rows[i] + x * 4;
        const guint64 pixel = tone->decode64[0][in[0]] | tone->decode64[1][in[1]]
                              | tone->decode64[2][in[2]] | tone->decode64[3][in[3]];
        memcpy (out + x * SB_VECTOR + i * 4, &pixel, 8);
      }
}

void
sb_blur_load_16 (const guint8 *const rows[8], gsize count, guint16 *out)
{
  const guint64 flip = G_GUINT64_CONSTANT (0x8000800080008000);

  for (gsize x = 0; x < count; x++)
    for (guint i = 0; i < 8; i++)
      {
        guint64 pixel;
        memcpy (&pixel, rows[i] + x * 8, 8);
        pixel ^= flip;
        memcpy (out + x * SB_VECTOR + i * 4, &pixel, 8);
      }
}

#if SB_V_BYTES == 64
#define ALPHA_WORDS(v)                                                                             \
  _mm512_shufflehi_epi16 (_mm512_shufflelo_epi16 (v, (_MM_PERM_ENUM)0xff), (_MM_PERM_ENUM)0xff)
#define KEEP_ALPHA(v, alpha) _mm512_mask_mov_epi16 (v, 0x88888888, alpha)
#define MUL_LOW(a, b)        _mm512_mullo_epi16 (a, b)
#define MUL_HIGH(a, b)       _mm512_mulhi_epu16 (a, b)
#define UNPACK_LOW(a, b)     _mm512_unpacklo_epi16 (a, b)
#define UNPACK_HIGH(a, b)    _mm512_unpackhi_epi16 (a, b)
#define SHIFT_SIGNED(a)      _mm512_srai_epi32 (a, 16)
#define PACK_SIGNED(a, b)    _mm512_packs_epi32 (a, b)
#elif SB_V_BYTES == 32
#define ALPHA_WORDS(v)       _mm256_shufflehi_epi16 (_mm256_shufflelo_epi16 (v, 0xff), 0xff)
#define KEEP_ALPHA(v, alpha) _mm256_blend_epi16 (v, alpha, 0x88)
#define MUL_LOW(a, b)        _mm256_mullo_epi16 (a, b)
#define MUL_HIGH(a, b)       _mm256_mulhi_epu16 (a, b)
#define UNPACK_LOW(a, b)     _mm256_unpacklo_epi16 (a, b)
#define UNPACK_HIGH(a, b)    _mm256_unpackhi_epi16 (a, b)
#define SHIFT_SIGNED(a)      _mm256_srai_epi32 (a, 16)
#define PACK_SIGNED(a, b)    _mm256_packs_epi32 (a, b)
#elif SB_V_BYTES == 16
#define ALPHA_WORDS(v) _mm_shufflehi_epi16 (_mm_shufflelo_epi16 (v, 0xff), 0xff)
#define KEEP_ALPHA(v, alpha)                                                                       \
  _mm_or_si128 (_mm_srli_epi64 (_mm_slli_epi64 (v, 16), 16),                                       \
                _mm_slli_epi64 (_mm_srli_epi64 (alpha, 48), 48))
#define MUL_LOW(a, b)     _mm_mullo_epi16 (a, b)
#define MUL_HIGH(a, b)    _mm_mulhi_epu16 (a, b)
#define UNPACK_LOW(a, b)  _mm_unpacklo_epi16 (a, b)
#define UNPACK_HIGH(a, b) _mm_unpackhi_epi16 (a, b)
#define SHIFT_SIGNED(a)   _mm_srai_epi32 (a, 16)
#define PACK_SIGNED(a, b) _mm_packs_epi32 (a, b)
#endif

#if SB_V_BYTES > 0
/* round (product / 65535), less 32768: sb_premultiply, with the bias put in above the shift. */
INLINE SbV
divide_65535 (SbV product)
{
  const SbV t = sb_v_add32 (product, sb_v_set32 (32768));
  const SbV sum = sb_v_add32 (t, sb_v_srl32 (t, 16));
  return SHIFT_SIGNED (sb_v_add32 (sum, sb_v_set32 (G_MININT32)));
}

void
sb_blur_premultiply (guint16 *vectors, gsize count)
{
  const SbV bias = sb_v_set16 ((gint16)BIAS);

  for (gsize i = 0; i < count * SB_VECTOR; i += SB_V_BYTES / 2)
    {
      const SbV biased = sb_v_load (vectors + i), v = sb_v_xor (biased, bias);
      const SbV a = ALPHA_WORDS (v), low = MUL_LOW (v, a), high = MUL_HIGH (v, a);
      const SbV q = PACK_SIGNED (divide_65535 (UNPACK_LOW (low, high)),
                                 divide_65535 (UNPACK_HIGH (low, high)));
      sb_v_store (vectors + i, KEEP_ALPHA (q, biased));
    }
}
#else
void
sb_blur_premultiply (guint16 *vectors, gsize count)
{
  for (gsize i = 0; i < count * SB_VECTOR; i += 4)
    {
      const guint32 a = vectors[i + 3] ^ BIAS;
      for (guint c = 0; c < 3; c++)
        vectors[i + c] = sb_premultiply (vectors[i + c] ^ BIAS, a) ^ BIAS;
    }
}
#endif

/* --- Turning --------------------------------------------------------------------------------- */

void
sb_blur_transpose (const guint16 *in, guint16 *out, gsize out_step, gsize blocks)
{
  for (gsize b = 0; b < blocks; b++, in += 8 * SB_VECTOR, out += out_step)
    {
      /* The next block's lines are in the second cache at best: call for them before they are
       * written. */
      if (b + 1 < blocks)
        for (guint i = 0; i < 8; i++)
          __builtin_prefetch (out + out_step + i * SB_VECTOR, 1, 3);
#if SB_V_BYTES >= 32
      for (guint q = 0; q < 2; q++)
        for (guint i = 0; i < 4; i++)
          {
            const guint16 *from = in + q * 4 * SB_VECTOR + i * 8;
            __m256i r[2];
            for (guint h = 0; h < 2; h++, from += SB_VECTOR)
              r[h] = _mm256_inserti128_si256 (
                  _mm256_castsi128_si256 (_mm_load_si128 ((const __m128i *)from)),
                  _mm_load_si128 ((const __m128i *)(from + 2 * SB_VECTOR)), 1);
            guint16 *to = out + 2 * i * SB_VECTOR + q * 16;
            _mm256_store_si256 ((__m256i *)to, _mm256_unpacklo_epi64 (r[0], r[1]));
            _mm256_store_si256 ((__m256i *)(to + SB_VECTOR), _mm256_unpackhi_epi64 (r[0], r[1]));
          }
#elif SB_V_BYTES == 16
      for (guint x = 0; x < 8; x += 2)
        for (guint y = 0; y < 8; y += 2)
          {
            const __m128i a = _mm_load_si128 ((const __m128i *)(in + x * SB_VECTOR + y * 4));
            const __m128i c = _mm_load_si128 ((const __m128i *)(in + (x + 1) * SB_VECTOR + y * 4));
            __m128i *to = (__m128i *)(out + y * SB_VECTOR + x * 4);
            _mm_store_si128 (to, _mm_unpacklo_epi64 (a, c));
            _mm_store_si128 (to + SB_VECTOR_BYTES / 16, _mm_unpackhi_epi64 (a, c));
          }
#else
      for (guint x = 0; x < 8; x++)
        for (guint y = 0; y < 8; y++)
          memcpy (out + y * SB_VECTOR + x * 4, in + x * SB_VECTOR + y * 4, 8);
#endif
    }
}

/* --- Vectors to pixels ----------------------------------------------------------------------- */

void
sb_blur_store_8 (const guint16 *in, guint8 *out, gsize out_step, gsize count)
{
  for (gsize i = 0; i < count; i++, in += SB_VECTOR, out += out_step)
    for (guint j = 0; j < SB_VECTOR; j++)
      out[j] = sb_round_to_8 (in[j] ^ BIAS);
}

#if SB_V_BYTES == 64
INLINE __m512i
look_up_64 (const __m512i table[2], __m512i index)
{
  return _mm512_permutex2var_epi16 (table[0], index, table[1]);
}

static void
encode_8_lines (const SbBlurTone *tone, const guint16 *in, guint8 *out, gsize out_step, gsize count)
{
  const __mmask32 alpha = 0x88888888;
  const __m512i even_bytes = _mm512_set_epi64 (0, 0, 0, 0, 0x3e3c3a3836343230, 0x2e2c2a2826242220,
                                               0x1e1c1a1816141210, 0x0e0c0a0806040200);
  __m512i base[2][2], slope[2][2], least[4][2];

  for (guint h = 0; h < 2; h++)
    {
      for (guint i = 0; i < 2; i++)
        {
          base[i][h] = _mm512_loadu_si512 (tone->base[i] + 32 * h);
          slope[i][h] = _mm512_loadu_si512 (tone->slope[i] + 32 * h);
        }
      for (guint i = 0; i < 4; i++)
        least[i][h] = _mm512_loadu_si512 (tone->least + 64 * i + 32 * h);
    }
  for (gsize i = 0; i < count; i++, in += SB_VECTOR, out += out_step)
    {
      const __m512i v = _mm512_xor_si512 (_mm512_load_si512 (in), _mm512_set1_epi16 ((short)BIAS));
      const __mmask32 high = _mm512_cmpge_epu16_mask (v, _mm512_set1_epi16 (4096));
      const __m512i low_segment = _mm512_srli_epi16 (v, 6), segment = _mm512_srli_epi16 (v, 10);
      const __m512i along = _mm512_mask_slli_epi16 (_mm512_slli_epi16 (v, 10), high, v, 6);
      const __m512i b = _mm512_mask_mov_epi16 (look_up_64 (base[0], low_segment), high,
                                               look_up_64 (base[1], segment));
      const __m512i s = _mm512_mask_mov_epi16 (look_up_64 (slope[0], low_segment), high,
                                               look_up_64 (slope[1], segment));
      const __m512i line = _mm512_adds_epu16 (b, _mm512_mulhi_epu16 (along, s));
      const __m512i g = _mm512_srli_epi16 (line, 8);

      const __mmask32 bit6 = _mm512_test_epi16_mask (g, _mm512_set1_epi16 (64));
      const __mmask32 bit7 = _mm512_test_epi16_mask (g, _mm512_set1_epi16 (128));
      const __m512i t0
          = _mm512_mask_mov_epi16 (look_up_64 (least[0], g), bit6, look_up_64 (least[1], g));
      const __m512i t1
          = _mm512_mask_mov_epi16 (look_up_64 (least[2], g), bit6, look_up_64 (least[3], g));
      const __m512i t = _mm512_mask_mov_epi16 (t0, bit7, t1);
      const __mmask32 below = _mm512_cmplt_epu16_mask (v, t);
      __m512i e = _mm512_mask_sub_epi16 (g, below, g, _mm512_set1_epi16 (1));

      /* (v * 255 + 32895) >> 16: the product in two halves, and the carry out of the lower. */
      const __m512i product = _mm512_mullo_epi16 (v, _mm512_set1_epi16 (255));
      const __mmask32 carry
          = _mm512_cmpge_epu16_mask (product, _mm512_set1_epi16 ((short)(65536 - 32895)));
      const __m512i a = _mm512_mulhi_epu16 (v, _mm512_set1_epi16 (255));
      e = _mm512_mask_mov_epi16 (e, alpha,
                                 _mm512_mask_add_epi16 (a, carry, a, _mm512_set1_epi16 (1)));
      _mm256_storeu_si256 ((__m256i *)out,
                           _mm512_castsi512_si256 (_mm512_permutexvar_epi8 (even_bytes, e)));
    }
}
#endif

void
sb_blur_encode_8 (const SbBlurTone *tone, const guint16 *in, guint8 *out, gsize out_step,
                  gsize count)
{
  const guint8 *r = tone->encode8[0], *g = tone->encode8[1], *b = tone->encode8[2];

#if SB_V_BYTES == 64
  if (tone->fits)
    {
      encode_8_lines (tone, in, out, out_step, count);
      return;
    }
#endif
  for (gsize i = 0; i < count; i++, in += SB_VECTOR, out += out_step)
    for (guint j = 0; j < SB_VECTOR; j += 4)
      {
        out[j] = r[in[j] ^ BIAS];
        out[j + 1] = g[in[j + 1] ^ BIAS];
        out[j + 2] = b[in[j + 2] ^ BIAS];
        out[j + 3] = sb_round_to_8 (in[j + 3] ^ BIAS);
      }
}

void
sb_blur_store_16 (const guint16 *in, guint8 *out, gsize out_step, gsize count)
{
  for (gsize i = 0; i < count; i++, in += SB_VECTOR, out += out_step)
    {
      guint16 v[SB_VECTOR];
      for (guint j = 0; j < SB_VECTOR; j++)
        v[j] = in[j] ^ BIAS;
      memcpy (out, v, sizeof v);
    }
}

#if SB_V_BYTES == 64
/* min (65535, round (p * 65535 / a)) of 16 samples, scale being 65535 / a: the float quotient is
 * off by one at most; the exact remainder, small enough for 32 bits whatever the products lost
 * above them, says which way. a: above 0. */
INLINE __m512i
unpremultiply_16 (__m512i p, __m512i a, __m512 scale)
{
  const __m512i c = _mm512_min_epu32 (p, a), one = _mm512_set1_epi32 (1);
  const __m512i near = _mm512_cvttps_epi32 (
      _mm512_fmadd_ps (_mm512_cvtepi32_ps (c), scale, _mm512_set1_ps (0.5f)));
  const __m512i whole = _mm512_sub_epi32 (_mm512_slli_epi32 (c, 16), c);
  const __m512i rest
      = _mm512_slli_epi32 (_mm512_sub_epi32 (whole, _mm512_mullo_epi32 (near, a)), 1);
  const __m512i up = _mm512_mask_add_epi32 (near, _mm512_cmpge_epi32_mask (rest, a), near, one);

  return _mm512_mask_sub_epi32 (
      up, _mm512_cmplt_epi32_mask (_mm512_add_epi32 (rest, a), _mm512_setzero_si512 ()), up, one);
}

void
sb_blur_unpremultiply (guint16 *vectors, gsize count)
{
  const __m512i bias = _mm512_set1_epi16 ((short)BIAS), one = _mm512_set1_epi32 (1);
  const __m512i pixel = _mm512_setr_epi32 (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);

  for (gsize i = 0; i < count; i++, vectors += SB_VECTOR)
    {
      const __m512i biased = _mm512_load_si512 (vectors), v = _mm512_xor_si512 (biased, bias);
      /* One division for each pixel, by 1 where alpha is 0. */
      const __m256i alpha = _mm512_cvtepi64_epi32 (_mm512_srli_epi64 (v, 48));
      const __m256i above = _mm256_max_epu32 (alpha, _mm256_set1_epi32 (1));
      const __m512 scale = _mm512_castps256_ps512 (
          _mm256_div_ps (_mm256_set1_ps (65535.0f), _mm256_cvtepi32_ps (above)));
      const __m512i p[2] = { _mm512_cvtepu16_epi32 (_mm512_castsi512_si256 (v)),
                             _mm512_cvtepu16_epi32 (_mm512_extracti64x4_epi64 (v, 1)) };
      __m256i q[2];

      for (guint h = 0; h < 2; h++)
        {
          const __m512i a = _mm512_shuffle_epi32 (p[h], (_MM_PERM_ENUM)0xff);
          const __m512i index = _mm512_add_epi32 (pixel, _mm512_set1_epi32 (4 * (int)h));
          const __m512i full = unpremultiply_16 (p[h], _mm512_max_epu32 (a, one),
                                                 _mm512_permutexvar_ps (index, scale));
          q[h] = _mm512_cvtepi32_epi16 (
              _mm512_maskz_mov_epi32 (_mm512_test_epi32_mask (a, a), full));
        }
      const __m512i both = _mm512_inserti64x4 (_mm512_castsi256_si512 (q[0]), q[1], 1);
      _mm512_store_si512 (
          vectors, _mm512_mask_mov_epi16 (_mm512_xor_si512 (both, bias), 0x88888888, biased));
    }
}
#elif SB_V_BYTES == 32
/* As with AVX-512 above, 8 samples. */
INLINE __m256i
unpremultiply_8 (__m256i p)
{
  const __m256i alpha = _mm256_shuffle_epi32 (p, 0xff), zero = _mm256_setzero_si256 ();
  const __m256i a = _mm256_max_epu32 (alpha, _mm256_set1_epi32 (1));
  const __m256 scale = _mm256_div_ps (_mm256_set1_ps (65535.0f), _mm256_cvtepi32_ps (a));
  const __m256i c = _mm256_min_epu32 (p, a);
  const __m256i near = _mm256_cvttps_epi32 (
      _mm256_fmadd_ps (_mm256_cvtepi32_ps (c), scale, _mm256_set1_ps (0.5f)));
  const __m256i whole = _mm256_sub_epi32 (_mm256_slli_epi32 (c, 16), c);
  const __m256i rest
      = _mm256_slli_epi32 (_mm256_sub_epi32 (whole, _mm256_mullo_epi32 (near, a)), 1);
  /* A comparison that holds is -1; one up where the rest is not below a. */
  const __m256i not_up = _mm256_cmpgt_epi32 (a, rest);
  const __m256i down = _mm256_cmpgt_epi32 (zero, _mm256_add_epi32 (rest, a));
  const __m256i q = _mm256_add_epi32 (
      _mm256_add_epi32 (_mm256_add_epi32 (near, _mm256_set1_epi32 (1)), not_up), down);

  return _mm256_andnot_si256 (_mm256_cmpeq_epi32 (alpha, zero), q);
}

void
sb_blur_unpremultiply (guint16 *vectors, gsize count)
{
  const __m256i bias = _mm256_set1_epi16 ((short)BIAS);

  for (gsize i = 0; i < 2 * count; i++, vectors += SB_VECTOR / 2)
    {
      const __m256i biased = sb_v_load (vectors), v = _mm256_xor_si256 (biased, bias);
      const __m256i low = unpremultiply_8 (_mm256_cvtepu16_epi32 (_mm256_castsi256_si128 (v)));
      const __m256i high
          = unpremultiply_8 (_mm256_cvtepu16_epi32 (_mm256_extracti128_si256 (v, 1)));
      const __m256i q = _mm256_permute4x64_epi64 (_mm256_packus_epi32 (low, high), 0xd8);
      sb_v_store (vectors, _mm256_blend_epi16 (_mm256_xor_si256 (q, bias), biased, 0x88));
    }
}
#else
void
sb_blur_unpremultiply (guint16 *vectors, gsize count)
{
  for (gsize i = 0; i < count; i++, vectors += SB_VECTOR)
    {
      gint32 p[SB_VECTOR], a[SB_VECTOR], q[SB_VECTOR];
      for (guint j = 0; j < SB_VECTOR; j++)
        p[j] = vectors[j] ^ BIAS;
      for (guint j = 0; j < SB_VECTOR; j += 4)
        a[j] = a[j + 1] = a[j + 2] = a[j + 3] = MAX (p[j + 3], 1);
      for (guint j = 0; j < SB_VECTOR; j++)
        {
          /* The float quotient is off by one at most; the exact remainder, small enough for 32
           * bits whatever the products lost above them, says which way. */
          const gint32 c = MIN (p[j], a[j]);
          const gint32 near = (gint32)((float)c * (65535.0f / (float)a[j]) + 0.5f);
          const gint32 rest = (gint32)(2u * ((guint32)c * 65535u - (guint32)near * (guint32)a[j]));
          q[j] = near + (rest >= a[j]) - (rest < -a[j]);
        }
      /* Where alpha is 0, and 1 was divided by, so is the colour to be; alpha itself stays. */
      for (guint j = 0; j < SB_VECTOR; j += 4)
        {
          const gint32 any = p[j + 3] == 0 ? 0 : -1;
          q[j] &= any;
          q[j + 1] &= any;
          q[j + 2] &= any;
          q[j + 3] = p[j + 3];
        }
      for (guint j = 0; j < SB_VECTOR; j++)
        vectors[j] = (guint16)(q[j] ^ BIAS);
    }
}
#endif

void
sb_blur_stream (guint8 *out, const guint8 *in, gsize bytes)
{
#if SB_V_BYTES > 0
  const gsize head = MIN (bytes, -(guintptr)out % 64);
  gsize i = head;

  memcpy (out, in, head);
  for (; i + 64 <= bytes; i += 64)
#if SB_V_BYTES == 64
    _mm512_stream_si512 ((void *)(out + i), _mm512_loadu_si512 (in + i));
#else
    for (guint p = 0; p < 64; p += 16)
      _mm_stream_si128 ((__m128i *)(out + i + p), _mm_loadu_si128 ((const __m128i *)(in + i + p)));
#endif
  memcpy (out + i, in + i, bytes - i);
#else
  memcpy (out, in, bytes);
#endif
}

void
sb_blur_fence (void)
{
#if SB_V_BYTES > 0
  _mm_sfence ();
#endif
}
