/* SPDX-License-Identifier: MIT */

/* Compiled once for each instruction set; see meson.build. */

#include "config.h"

#include "sb-kernel-reduce.h"

#include <string.h>

typedef float Float4 __attribute__ ((vector_size (16)));

/* Samples of a row as floats, as many as a register holds. */
#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 16
typedef __m512 Floats;

static inline Floats
load_8 (const guint8 *in)
{
  return _mm512_cvtepi32_ps (_mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const __m128i *)in)));
}

static inline Floats
load_16 (const guint16 *in)
{
  return _mm512_cvtepi32_ps (_mm512_cvtepu16_epi32 (_mm256_loadu_si256 ((const __m256i *)in)));
}
#elif defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
typedef __m256 Floats;

static inline Floats
load_8 (const guint8 *in)
{
  return _mm256_cvtepi32_ps (_mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *)in)));
}

static inline Floats
load_16 (const guint16 *in)
{
  return _mm256_cvtepi32_ps (_mm256_cvtepu16_epi32 (_mm_loadu_si128 ((const __m128i *)in)));
}
#else
#define LANES 4
typedef Float4 Floats;

static inline Floats
load_8 (const guint8 *in)
{
  return (Floats){ in[0], in[1], in[2], in[3] };
}

static inline Floats
load_16 (const guint16 *in)
{
  return (Floats){ in[0], in[1], in[2], in[3] };
}
#endif

/* The sums stay in registers while the rows go by. */
#define DEFINE_SUM(name, type, load)                                                               \
  static void name (const type *const *rows, const float *weights, gsize n_rows, gsize samples,    \
                    float *out)                                                                    \
  {                                                                                                \
    gsize i = 0;                                                                                   \
                                                                                                   \
    for (; i + 4 * LANES <= samples; i += 4 * LANES)                                               \
      {                                                                                            \
        Floats sums[4] = { { 0 } };                                                                \
        for (gsize k = 0; k < n_rows; k++)                                                         \
          for (gsize j = 0; j < 4; j++)                                                            \
            sums[j] += weights[k] * load (rows[k] + i + j * LANES);                                \
        memcpy (out + i, sums, sizeof sums);                                                       \
      }                                                                                            \
    for (; i < samples; i++)                                                                       \
      {                                                                                            \
        float sum = 0;                                                                             \
        for (gsize k = 0; k < n_rows; k++)                                                         \
          sum += weights[k] * (float)(gint32)rows[k][i];                                           \
        out[i] = sum;                                                                              \
      }                                                                                            \
  }

DEFINE_SUM (sum_8, guint8, load_8)
DEFINE_SUM (sum_16, guint16, load_16)

/* Taps lie one behind the other in a register, and are added at the end. */
static void
mix (const float *in, const guint32 *begin, const float *weights, gsize taps, gsize n, float *out)
{
#if defined(__AVX512F__)
  const __m512i each = _mm512_set_epi32 (3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
#elif defined(__AVX2__)
  const __m256i each[2]
      = { _mm256_set_epi32 (1, 1, 1, 1, 0, 0, 0, 0), _mm256_set_epi32 (3, 3, 3, 3, 2, 2, 2, 2) };
#endif

  for (gsize i = 0; i < n; i++)
    {
      const float *from = in + 4 * (gsize)begin[i];
      const float *w = weights + i * taps;
#if defined(__AVX512F__)
      __m512 sum = { 0 };
      for (gsize k = 0; k < taps; k += 4)
        sum += _mm512_permutexvar_ps (each, _mm512_castps128_ps512 (_mm_loadu_ps (w + k)))
               * _mm512_loadu_ps (from + 4 * k);
      const __m256 half = _mm512_castps512_ps256 (sum) + _mm512_extractf32x8_ps (sum, 1);
      const __m128 pixel = _mm256_castps256_ps128 (half) + _mm256_extractf128_ps (half, 1);
#elif defined(__AVX2__)
      __m256 a = { 0 }, b = { 0 };
      for (gsize k = 0; k < taps; k += 4)
        {
          const __m256 four = _mm256_castps128_ps256 (_mm_loadu_ps (w + k));
          a += _mm256_permutevar8x32_ps (four, each[0]) * _mm256_loadu_ps (from + 4 * k);
          b += _mm256_permutevar8x32_ps (four, each[1]) * _mm256_loadu_ps (from + 4 * k + 8);
        }
      const __m256 half = a + b;
      const __m128 pixel = _mm256_castps256_ps128 (half) + _mm256_extractf128_ps (half, 1);
#else
      Float4 pixel = { 0 };
      for (gsize k = 0; k < taps; k++)
        {
          Float4 v;
          memcpy (&v, from + 4 * k, sizeof v);
          pixel += w[k] * v;
        }
#endif
      memcpy (out + 4 * i, &pixel, sizeof pixel);
    }
}

static inline gint32
rounded (float v)
{
  return (gint32)(v + 0.5f);
}

static void
round_16 (const float *restrict in, gsize samples, guint16 *restrict out)
{
  for (gsize i = 0; i < samples; i++)
    {
      const gint32 v = rounded (in[i]);
      out[i] = (guint16)(v < 65535 ? v : 65535);
    }
}

static void
round_8 (const float *restrict in, gsize samples, guint8 *restrict out)
{
  for (gsize i = 0; i < samples; i++)
    {
      const gint32 v = rounded (in[i]);
      out[i] = (guint8)(((v < 65535 ? v : 65535) * 255 + 32895) >> 16);
    }
}

static void
decode (const SbReduceDecode *tables, const guint8 *in, gsize n, guint16 *out)
{
  gsize i = 0;

#if defined(__AVX512VBMI__)
  if (tables->same)
    {
      const __m512i order[2] = { _mm512_set_epi64 (11, 10, 3, 2, 9, 8, 1, 0),
                                 _mm512_set_epi64 (15, 14, 7, 6, 13, 12, 5, 4) };
      const __mmask64 alpha = 0x8888888888888888;
      __m512i part[2][4];
      for (gsize k = 0; k < 2; k++)
        for (gsize j = 0; j < 4; j++)
          part[k][j] = _mm512_loadu_si512 (tables->bytes[k] + 64 * j);
      for (; i + 16 <= n; i += 16)
        {
          const __m512i v = _mm512_loadu_si512 (in + 4 * i);
          const __mmask64 high = _mm512_movepi8_mask (v);
          __m512i byte[2];
          for (gsize k = 0; k < 2; k++)
            {
              byte[k] = _mm512_mask_blend_epi8 (
                  high, _mm512_permutex2var_epi8 (part[k][0], v, part[k][1]),
                  _mm512_permutex2var_epi8 (part[k][2], v, part[k][3]));
              byte[k] = _mm512_mask_set1_epi8 (byte[k], alpha, -1);
            }
          const __m512i a = _mm512_unpacklo_epi8 (byte[0], byte[1]);
          const __m512i b = _mm512_unpackhi_epi8 (byte[0], byte[1]);
          for (gsize k = 0; k < 2; k++)
            _mm512_storeu_si512 (out + 4 * i + 32 * k, _mm512_permutex2var_epi64 (a, order[k], b));
        }
    }
#endif
  for (; i < n; i++)
    {
      const guint8 *p = in + 4 * i;
      const guint64 v = tables->pixel[0][p[0]] | tables->pixel[1][p[1]] | tables->pixel[2][p[2]];
      memcpy (out + 4 * i, &v, sizeof v);
    }
}

static void
encode (const guint8 *const tables[3], const guint16 *in, gsize n, guint8 *out)
{
  const guint8 *red = tables[0], *green = tables[1], *blue = tables[2];

  for (gsize i = 0; i < n; i++)
    {
      const guint16 *p = in + 4 * i;
      const guint8 pixel[4] = { red[p[0]], green[p[1]], blue[p[2]], 255 };
      memcpy (out + 4 * i, pixel, sizeof pixel);
    }
}

extern const SbReduceKernels SB_ISA_SYMBOL (sb_reduce_kernels);
const SbReduceKernels SB_ISA_SYMBOL (sb_reduce_kernels) = {
  .sum_8 = sum_8,
  .sum_16 = sum_16,
  .mix = mix,
  .round_16 = round_16,
  .round_8 = round_8,
  .decode = decode,
  .encode = encode,
};
