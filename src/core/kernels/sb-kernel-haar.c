/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-haar.h"
#include "sb-haar-arith.h"

#include <string.h>

#if defined(__AVX512BW__)
#define WIDTH 16
#elif defined(__AVX2__)
#define WIDTH 8
#else
#define WIDTH 4
#endif

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* 1 in the build that proves that the tests of the transform can fail. */
#ifdef SB_MUTATE_HAAR
#define MUTATION 1
#else
#define MUTATION 0
#endif

/* As many floats, or whole pixels of 8 bits, as a register holds. */
typedef float F __attribute__ ((vector_size (4 * WIDTH)));
typedef gint32 I __attribute__ ((vector_size (4 * WIDTH)));
typedef guint32 U __attribute__ ((vector_size (4 * WIDTH)));
typedef guint16 S __attribute__ ((vector_size (4 * WIDTH)));
typedef guint8 B __attribute__ ((vector_size (4 * WIDTH)));

#if WIDTH == 16
#define EVEN(a, b)                                                                                 \
  __builtin_shufflevector (a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD(a, b)                                                                                  \
  __builtin_shufflevector (a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define FIRST(a, b)                                                                                \
  __builtin_shufflevector (a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define SECOND(a, b)                                                                               \
  __builtin_shufflevector (a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define SETTLE(a) (a)
#elif WIDTH == 8
/* In halves of a register, which is one instruction; what is made of them is put in order once. */
#define EVEN(a, b)   __builtin_shufflevector (a, b, 0, 2, 8, 10, 4, 6, 12, 14)
#define ODD(a, b)    __builtin_shufflevector (a, b, 1, 3, 9, 11, 5, 7, 13, 15)
#define SETTLE(a)    __builtin_shufflevector (a, a, 0, 1, 4, 5, 2, 3, 6, 7)
#define FIRST(a, b)  __builtin_shufflevector (a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define SECOND(a, b) __builtin_shufflevector (a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define EVEN(a, b)   __builtin_shufflevector (a, b, 0, 2, 4, 6)
#define ODD(a, b)    __builtin_shufflevector (a, b, 1, 3, 5, 7)
#define SETTLE(a)    (a)
#define FIRST(a, b)  __builtin_shufflevector (a, b, 0, 4, 1, 5)
#define SECOND(a, b) __builtin_shufflevector (a, b, 2, 6, 3, 7)
#endif

#define INLINE static inline __attribute__ ((always_inline, unused))

INLINE F
load (const float *p)
{
  F v;
  memcpy (&v, p, sizeof v);
  return v;
}

INLINE void
store (float *p, F v)
{
  memcpy (p, &v, sizeof v);
}

INLINE U
load_pixels (const guint8 *p)
{
  U v;
  memcpy (&v, p, sizeof v);
#if G_BYTE_ORDER == G_BIG_ENDIAN
  for (guint i = 0; i < WIDTH; i++)
    v[i] = GUINT32_FROM_LE (v[i]);
#endif
  return v;
}

INLINE void
store_pixels (guint8 *p, U v)
{
#if G_BYTE_ORDER == G_BIG_ENDIAN
  for (guint i = 0; i < WIDTH; i++)
    v[i] = GUINT32_TO_LE (v[i]);
#endif
  memcpy (p, &v, sizeof v);
}

INLINE void
put_pixels (guint8 *p, U v, gboolean stream)
{
#if WIDTH == 16
  if (stream)
    _mm512_stream_si512 ((void *)p, (__m512i)v);
  else
#elif WIDTH == 8
  if (stream)
    _mm256_stream_si256 ((void *)p, (__m256i)v);
  else
#elif defined(__SSE2__)
  if (stream)
    _mm_stream_si128 ((void *)p, (__m128i)v);
  else
#endif
    store_pixels (p, v);
}

/* To memory that nothing reads soon. */
INLINE void
put (float *p, F v, gboolean stream)
{
#if WIDTH == 16
  if (stream)
    _mm512_stream_ps (p, (__m512)v);
  else
#elif WIDTH == 8
  if (stream)
    _mm256_stream_ps (p, (__m256)v);
  else
#elif defined(__SSE2__)
  if (stream)
    _mm_stream_ps (p, (__m128)v);
  else
#endif
    store (p, v);
}

/* Registers of a line of 64 bytes: what goes past the caches goes in whole lines. */
#define LINE (16 / WIDTH)

INLINE void
put_line (float *p, const F v[LINE], gboolean stream)
{
  for (guint k = 0; k < LINE; k++)
    put (p + k * WIDTH, v[k], stream);
}

INLINE gboolean
aligned (const float *h, const float *v, const float *d)
{
  return (((guintptr)h | (guintptr)v | (guintptr)d) & 63) == 0;
}

INLINE F
set (float x)
{
  return x - (F){ 0 };
}

INLINE F
choose (I mask, F yes, F no)
{
  return (F)((mask & (I)yes) | (~mask & (I)no));
}

INLINE F
limit (F x, float low, float high)
{
#if WIDTH == 16
  return (F)_mm512_min_ps (_mm512_max_ps ((__m512)x, (__m512)set (low)), (__m512)set (high));
#elif WIDTH == 8
  return (F)_mm256_min_ps (_mm256_max_ps ((__m256)x, (__m256)set (low)), (__m256)set (high));
#elif defined(__SSE2__)
  return (F)_mm_min_ps (_mm_max_ps ((__m128)x, (__m128)set (low)), (__m128)set (high));
#else
  x = choose (x < set (low), set (low), x);
  return choose (x > set (high), set (high), x);
#endif
}

INLINE F
higher (F x, F y)
{
#if WIDTH == 16
  return (F)_mm512_max_ps ((__m512)x, (__m512)y);
#elif WIDTH == 8
  return (F)_mm256_max_ps ((__m256)x, (__m256)y);
#elif defined(__SSE2__)
  return (F)_mm_max_ps ((__m128)x, (__m128)y);
#else
  return choose (x > y, x, y);
#endif
}

INLINE F
lower_of (F x, F y)
{
#if WIDTH == 16
  return (F)_mm512_min_ps ((__m512)x, (__m512)y);
#elif WIDTH == 8
  return (F)_mm256_min_ps ((__m256)x, (__m256)y);
#elif defined(__SSE2__)
  return (F)_mm_min_ps ((__m128)x, (__m128)y);
#else
  return choose (x < y, x, y);
#endif
}

/* --- Channels of pixels of 8 bits ------------------------------------------------------------ */

INLINE U
max_bytes (U x, U y)
{
#if WIDTH == 16
  return (U)_mm512_max_epu8 ((__m512i)x, (__m512i)y);
#elif WIDTH == 8
  return (U)_mm256_max_epu8 ((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
  return (U)_mm_max_epu8 ((__m128i)x, (__m128i)y);
#else
  const B mask = (B)((B)x > (B)y);
  return (U)(((B)x & mask) | ((B)y & ~mask));
#endif
}

INLINE U
min_bytes (U x, U y)
{
#if WIDTH == 16
  return (U)_mm512_min_epu8 ((__m512i)x, (__m512i)y);
#elif WIDTH == 8
  return (U)_mm256_min_epu8 ((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
  return (U)_mm_min_epu8 ((__m128i)x, (__m128i)y);
#else
  const B mask = (B)((B)x < (B)y);
  return (U)(((B)x & mask) | ((B)y & ~mask));
#endif
}

INLINE I
samples_8 (U x, guint channel)
{
  switch (channel)
    {
    case 0:
      {
        const U high = max_bytes (max_bytes (x, x >> 8), x >> 16);
        const U low = min_bytes (min_bytes (x, x >> 8), x >> 16);
        return (I)((high & 255) + (low & 255));
      }
    case 1:
      {
        /* Two products of 16 bits in a word: 54 R + 183 G stays below 65536, 19 B beside it. */
        const S red_blue = (S)(x & 0x00ff00ffu) * (S)((U){ 0 } + (54u | 19u << 16));
        const S green = (S)(x >> 8 & 0x000000ffu) * (S)((U){ 0 } + 183u);
        const U sum = (U)(red_blue + green);
        return (I)(((sum & 0xffffu) + (sum >> 16) + 128) >> 8);
      }
    case 2:
      return (I)(x & 255);
    case 3:
      return (I)(x >> 8 & 255);
    case 4:
      return (I)(x >> 16 & 255);
    default:
      return (I)(x >> 24);
    }
}

INLINE void
blocks_8 (const guint8 *upper, const guint8 *lower, gsize n, guint channel, float scale,
          gboolean stream, float *a, float *h, float *v, float *d)
{
  gsize i = 0;

  for (; i + 16 <= n; i += 16)
    {
      F ch[LINE], cv[LINE], cd[LINE];

      for (guint k = 0; k < LINE; k++)
        {
          const guint8 *up = upper + 8 * (i + k * WIDTH), *down = lower + 8 * (i + k * WIDTH);
          const U u0 = load_pixels (up), u1 = load_pixels (up + 4 * WIDTH);
          const U l0 = load_pixels (down), l1 = load_pixels (down + 4 * WIDTH);
          const I p = samples_8 ((U)EVEN (u0, u1), channel);
          const I q = samples_8 ((U)ODD (u0, u1), channel);
          const I r = samples_8 ((U)EVEN (l0, l1), channel);
          const I t = samples_8 ((U)ODD (l0, l1), channel);
          /* Whole numbers: the order does not matter. */
          const I left = p + r, right = q + t, above = p - r, beside = q - t;

          store (a + i + k * WIDTH, (F)SETTLE (__builtin_convertvector(left + right, F) * scale));
          ch[k] = (F)SETTLE (__builtin_convertvector(above + beside, F) * scale);
          cv[k] = (F)SETTLE (__builtin_convertvector(left - right, F) * scale);
          cd[k] = (F)SETTLE (__builtin_convertvector(above - beside, F) * scale);
        }
      put_line (h + i, ch, stream);
      put_line (v + i, cv, stream);
      put_line (d + i, cd, stream);
    }
  for (; i < n; i++)
    {
      gint32 s[4];
      for (guint k = 0; k < 4; k++)
        {
          const guint8 *pixel = (k < 2 ? upper : lower) + 8 * i + 4 * (k & 1);
          s[k] = channel == 0   ? sb_haar_lightness (pixel[0], pixel[1], pixel[2])
                 : channel == 1 ? sb_haar_luma (pixel[0], pixel[1], pixel[2])
                                : pixel[channel - 2];
        }
      a[i] = (float)(s[0] + s[2] + s[1] + s[3]) * scale;
      h[i] = (float)(s[0] - s[2] + s[1] - s[3]) * scale;
      v[i] = (float)(s[0] + s[2] - s[1] - s[3]) * scale;
      d[i] = (float)(s[0] - s[2] - s[1] + s[3]) * scale;
    }
}

#define BLOCKS_8(channel)                                                                          \
  case channel:                                                                                    \
    if (stream && aligned (h, v, d))                                                               \
      blocks_8 (upper, lower, n, channel, scale, TRUE, a, h, v, d);                                \
    else                                                                                           \
      blocks_8 (upper, lower, n, channel, scale, FALSE, a, h, v, d);                               \
    break

static void
first_8 (const guint8 *upper, const guint8 *lower, gsize n, guint channel, float scale,
         gboolean stream, float *a, float *h, float *v, float *d)
{
  switch (channel)
    {
      BLOCKS_8 (0);
      BLOCKS_8 (1);
      BLOCKS_8 (2);
      BLOCKS_8 (3);
      BLOCKS_8 (4);
      BLOCKS_8 (5);
    default:
      break;
    }
}

/* --- Rows of floats -------------------------------------------------------------------------- */

INLINE void
forward_rows (const float *upper, const float *lower, gsize n, gboolean stream, float *a, float *h,
              float *v, float *d)
{
  gsize i = 0;

  for (; i + 16 <= n; i += 16)
    {
      F ch[LINE], cv[LINE], cd[LINE];

      for (guint k = 0; k < LINE; k++)
        {
          const float *up = upper + 2 * (i + k * WIDTH), *down = lower + 2 * (i + k * WIDTH);
          const F u0 = load (up), u1 = load (up + WIDTH);
          const F l0 = load (down), l1 = load (down + WIDTH);
          const F p = EVEN (u0, u1), q = ODD (u0, u1), r = EVEN (l0, l1), t = ODD (l0, l1);
          const F left = p + r, right = q + t, above = p - r, beside = q - t;

          store (a + i + k * WIDTH, (F)SETTLE ((left + right) * 0.25f));
          ch[k] = (F)SETTLE ((above + beside) * 0.25f);
          cv[k] = (F)SETTLE ((left - right) * 0.25f);
          cd[k] = (F)SETTLE ((above - beside) * 0.25f);
        }
      put_line (h + i, ch, stream);
      put_line (v + i, cv, stream);
      put_line (d + i, cd, stream);
    }
  for (; i < n; i++)
    {
      const SbHaarQuad c
          = sb_haar_forward (upper[2 * i], upper[2 * i + 1], lower[2 * i], lower[2 * i + 1]);
      a[i] = c.a;
      h[i] = c.h;
      v[i] = c.v;
      d[i] = c.d;
    }
}

static void
forward (const float *upper, const float *lower, gsize n, gboolean stream, float *a, float *h,
         float *v, float *d)
{
  if (stream && aligned (h, v, d))
    forward_rows (upper, lower, n, TRUE, a, h, v, d);
  else
    forward_rows (upper, lower, n, FALSE, a, h, v, d);
}

static void
inverse (const float *a, const float *h, const float *v, const float *d, gsize n, float *upper,
         float *lower)
{
  gsize i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    {
      const F ca = load (a + i), ch = load (h + i), cv = load (v + i), cd = load (d + i);
      const F left = ca + cv, right = ca - cv, above = ch + cd, beside = ch - cd;
      const F p = left + above, q = right + beside, r = left - above, t = right - beside;

      store (upper + 2 * i, (F)FIRST (p, q));
      store (upper + 2 * i + WIDTH, (F)SECOND (p, q));
      store (lower + 2 * i, (F)FIRST (r, t));
      store (lower + 2 * i + WIDTH, (F)SECOND (r, t));
    }
  for (; i < n; i++)
    {
      const SbHaarQuad c = { a[i], h[i], v[i], d[i] };
      float block[4];
      sb_haar_inverse (c, block);
      upper[2 * i] = block[0];
      upper[2 * i + 1] = block[1];
      lower[2 * i] = block[2];
      lower[2 * i + 1] = block[3];
    }
}

#define CHUNK 64 /* blocks of pixels of 16 bits that are taken apart at a time */

INLINE void
samples_16 (const guint16 *in, gsize n, guint channel, float *out)
{
  for (gsize i = 0; i < n; i++)
    {
      const gint32 r = in[4 * i], g = in[4 * i + 1], b = in[4 * i + 2];
      out[i] = (float)(channel == 0   ? sb_haar_lightness (r, g, b)
                       : channel == 1 ? sb_haar_luma (r, g, b)
                                      : in[4 * i + (channel >= 2 ? channel - 2 : 0)]);
    }
}

static void
take_16 (const guint16 *in, gsize n, guint channel, float *out)
{
  switch (channel)
    {
    case 0:
      samples_16 (in, n, 0, out);
      break;
    case 1:
      samples_16 (in, n, 1, out);
      break;
    case 2:
      samples_16 (in, n, 2, out);
      break;
    case 3:
      samples_16 (in, n, 3, out);
      break;
    case 4:
      samples_16 (in, n, 4, out);
      break;
    default:
      samples_16 (in, n, 5, out);
      break;
    }
}

static void
first_16 (const guint16 *upper, const guint16 *lower, gsize n, guint channel, gboolean stream,
          float *a, float *h, float *v, float *d)
{
  float rows[2][2 * CHUNK];

  for (gsize i = 0; i < n; i += CHUNK)
    {
      const gsize count = MIN (CHUNK, n - i);
      take_16 (upper + 8 * i, 2 * count, channel, rows[0]);
      take_16 (lower + 8 * i, 2 * count, channel, rows[1]);
      forward (rows[0], rows[1], count, stream, a + i, h + i, v + i, d + i);
    }
}

static void
fence (void)
{
#if defined(__SSE2__)
  _mm_sfence ();
#endif
}

/* --- Changes --------------------------------------------------------------------------------- */

static void
change (float *c, gsize n, float threshold, float gain, gboolean hard)
{
  const I sign = (I){ 0 } + (gint32)G_MININT32;
  gsize i = 0;

  for (; threshold <= 0 && i + WIDTH <= n; i += WIDTH)
    store (c + i, load (c + i) * gain);
  for (; hard && i + WIDTH <= n; i += WIDTH)
    {
      const F x = load (c + i), size = (F)((I)x & ~sign);
      store (c + i, (F)((I)x & (size > threshold)) * gain);
    }
  for (; i + WIDTH <= n; i += WIDTH)
    {
      const F x = load (c + i), size = (F)((I)x & ~sign);
      const F left = higher (size - threshold, set (0));
      store (c + i, (F)((I)left | ((I)x & sign)) * gain);
    }
  for (; i < n; i++)
    c[i] = sb_haar_change (c[i], threshold, gain, hard);
}

/* --- Edits: to and from pixels --------------------------------------------------------------- */

/* Added to a number of a magnitude below 2^22, it leaves the number, rounded half to even, in the
 * low bits. */
#define MAGIC 12582912.0f

/* 0 .. 65535, rounded. */
INLINE U
whole (F x)
{
  return (U)(limit (x, 0, 65535) + MAGIC) & 0xffffu;
}

INLINE U
bytes_of (F x)
{
  const U u = whole (x);
  return ((u << 8) - u + (32895u + 512 * MUTATION)) >> 16;
}

INLINE void
last_rows_8 (const float *const bands[3][4], gsize n, gboolean stream, guint8 *upper, guint8 *lower)
{
  gsize i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    {
      U p = (U){ 0 } + 0xff000000u, q = p, r = p, t = p;

      for (guint k = 0; k < 3; k++)
        {
          const F ca = load (bands[k][0] + i), ch = load (bands[k][1] + i);
          const F cv = load (bands[k][2] + i), cd = load (bands[k][3] + i);
          const F left = ca + cv, right = ca - cv, above = ch + cd, beside = ch - cd;

          p |= bytes_of (left + above) << (8 * k);
          q |= bytes_of (right + beside) << (8 * k);
          r |= bytes_of (left - above) << (8 * k);
          t |= bytes_of (right - beside) << (8 * k);
        }
      put_pixels (upper + 8 * i, (U)FIRST (p, q), stream);
      put_pixels (upper + 8 * i + 4 * WIDTH, (U)SECOND (p, q), stream);
      put_pixels (lower + 8 * i, (U)FIRST (r, t), stream);
      put_pixels (lower + 8 * i + 4 * WIDTH, (U)SECOND (r, t), stream);
    }
  for (; i < n; i++)
    for (guint k = 0; k < 4; k++)
      {
        guint8 *out = (k < 2 ? upper : lower) + 8 * i + 4 * (k & 1);
        for (guint c = 0; c < 3; c++)
          {
            const SbHaarQuad quad
                = { bands[c][0][i], bands[c][1][i], bands[c][2][i], bands[c][3][i] };
            float block[4];
            sb_haar_inverse (quad, block);
            const float x = block[k] < 0 ? 0 : block[k] > 65535 ? 65535 : block[k];
            out[c] = (guint8)(((guint32)__builtin_rintf (x) * 255u + 32895u) >> 16);
          }
        out[3] = 255;
      }
}

static void
last_8 (const float *const bands[3][4], gsize n, gboolean stream, guint8 *upper, guint8 *lower)
{
  /* Narrower registers would give half a line at a time. */
  if (WIDTH >= 8 && stream && (((guintptr)upper | (guintptr)lower) & 63) == 0)
    last_rows_8 (bands, n, TRUE, upper, lower);
  else
    last_rows_8 (bands, n, FALSE, upper, lower);
}

static void
ahead (const guint8 *in, gsize bytes)
{
  for (gsize i = 0; i < bytes; i += 64)
    __builtin_prefetch (in + i);
}

/* round (x / 65535) for a product of two samples. */
INLINE guint32
divide_65535 (guint32 x)
{
  const guint32 t = x + 32768u;
  return (t + (t >> 16)) >> 16;
}

/* Of pixels of 8 bits: one channel, at 16 bits. */
INLINE U
sample_8 (U x, guint shift)
{
  const U v = x >> shift & 255;
  return v | v << 8;
}

INLINE U
times (U x, U a)
{
  const U t = x * a + 32768u;
  return (t + (t >> 16)) >> 16;
}

INLINE void
store_whole (float *p, U v)
{
  store (p, __builtin_convertvector((I)v, F));
}

static void
load_8 (const guint8 *in, gsize n, gboolean opaque, float *r, float *g, float *b)
{
  float *const out[3] = { r, g, b };
  gsize i = 0;

  for (; opaque && i + WIDTH <= n; i += WIDTH)
    {
      const U x = load_pixels (in + 4 * i);
      for (guint c = 0; c < 3; c++)
        store_whole (out[c] + i, sample_8 (x, 8 * c));
    }
  for (; i + WIDTH <= n; i += WIDTH)
    {
      const U x = load_pixels (in + 4 * i), a = sample_8 (x, 24);
      for (guint c = 0; c < 3; c++)
        store_whole (out[c] + i, times (sample_8 (x, 8 * c), a));
    }
  for (; i < n; i++)
    for (guint c = 0; c < 3; c++)
      {
        const guint32 v = in[4 * i + c] * 257u;
        out[c][i] = (float)(gint32)(opaque ? v : divide_65535 (v * (in[4 * i + 3] * 257u)));
      }
}

static void
load_16 (const guint16 *in, gsize n, gboolean opaque, float *r, float *g, float *b)
{
  float *const out[3] = { r, g, b };
  gsize i = 0;

  for (; G_BYTE_ORDER == G_LITTLE_ENDIAN && i + WIDTH <= n; i += WIDTH)
    {
      const U x0 = load_pixels ((const guint8 *)(in + 4 * i));
      const U x1 = load_pixels ((const guint8 *)(in + 4 * i) + 4 * WIDTH);
      const U red_green = (U)EVEN (x0, x1), blue_alpha = (U)ODD (x0, x1);
      U c[3] = { red_green & 0xffff, red_green >> 16, blue_alpha & 0xffff };

      for (guint k = 0; k < 3; k++)
        store_whole (out[k] + i, (U)SETTLE ((opaque ? c[k] : times (c[k], blue_alpha >> 16))));
    }
  for (; i < n; i++)
    for (guint c = 0; c < 3; c++)
      {
        const guint32 v = in[4 * i + c];
        out[c][i] = (float)(gint32)(opaque ? v : divide_65535 (v * in[4 * i + 3]));
      }
}

static void
luma (const float *restrict r, const float *restrict g, const float *restrict b, gsize n,
      float *restrict y)
{
  /* Every sum is below 2^24: exact in float as well. */
  for (gsize i = 0; i < n; i++)
    y[i] = (float)((gint32)(54 * r[i] + 183 * g[i] + 19 * b[i] + 128) >> 8);
}

static void
shift (float *restrict s, const float *restrict y0, const float *restrict y1, gsize n)
{
  gsize i = 0;

  /* What lies farther off ends at a limit anyway. */
  for (; i + WIDTH <= n; i += WIDTH)
    {
      const F y = limit (load (y1 + i), -1048576, 1048576) + MAGIC;
      store (s + i, load (s + i) + ((y - MAGIC) - load (y0 + i)));
    }
  for (; i < n; i++)
    {
      const float y = y1[i] < -1048576 ? -1048576 : y1[i] > 1048576 ? 1048576 : y1[i];
      s[i] += __builtin_rintf (y) - y0[i];
    }
}

INLINE guint32
whole_1 (float x)
{
  union
  {
    float f;
    guint32 u;
  } bits;

  x = x > 0 ? x : 0;
  x = x < 65535 ? x : 65535;
  bits.f = x + MAGIC;
  return bits.u & 0xffffu;
}

/* floor (p * 65535 / a + 1/2) for p <= a, a > 0; by: 65535 / a in float. The float quotient is far
 * less than one off, and what it leaves of (2 * 65535 p + a) / 2a, which 32 bits have however large
 * both are, tells on which side. */
INLINE guint32
divide_alpha (guint32 p, guint32 a, float by)
{
  const gint32 q = (gint32)((float)(gint32)p * by + 0.5f);
  const gint32 rest = (gint32)(p * 131070u + a - (guint32)q * (2 * a));

  return (guint32)(q - (((gint32)(2 * a) - 1 - rest) >> 31) + (rest >> 31));
}

#define PIXELS 64

/* PIXELS colours of 16 bits divided by their alphas, in place: 65535 at most, and 0 / 1 where alpha
 * is 0. */
INLINE void
divide_colours (guint32 colours[3][PIXELS], const guint32 *restrict alpha)
{
  guint32 a[PIXELS];
  float by[PIXELS];

  for (guint i = 0; i < PIXELS; i++)
    {
      a[i] = alpha[i] > 1 ? alpha[i] : 1;
      by[i] = 65535.0f / (float)(gint32)a[i];
    }
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < PIXELS; i++)
      {
        const guint32 p = colours[c][i] < alpha[i] ? colours[c][i] : alpha[i];
        colours[c][i] = divide_alpha (p, a[i], by[i]);
      }
}

static void
store_16 (const float *r, const float *g, const float *b, gsize n, gboolean opaque,
          const guint16 *alpha, guint16 *out)
{
  const float *const in[3] = { r, g, b };
  gsize i = 0;

  for (; G_BYTE_ORDER == G_LITTLE_ENDIAN && opaque && i + WIDTH <= n; i += WIDTH)
    {
      const U red_green = whole (load (r + i)) | whole (load (g + i)) << 16;
      const U blue_alpha = whole (load (b + i)) | 0xffff0000u;

      store_pixels ((guint8 *)(out + 4 * i), (U)FIRST (red_green, blue_alpha));
      store_pixels ((guint8 *)(out + 4 * i) + 4 * WIDTH, (U)SECOND (red_green, blue_alpha));
    }
  for (; !opaque && i + PIXELS <= n; i += PIXELS)
    {
      guint32 colours[3][PIXELS];
      guint32 alphas[PIXELS];

      for (guint k = 0; k < PIXELS; k++)
        alphas[k] = alpha[4 * (i + k)];
      for (guint c = 0; c < 3; c++)
        for (guint k = 0; k < PIXELS; k += WIDTH)
          {
            const U v = whole (load (in[c] + i + k));
            memcpy (&colours[c][k], &v, sizeof v);
          }
      divide_colours (colours, alphas);
      for (guint k = 0; k < PIXELS; k++)
        {
          const guint64 pixel = colours[0][k] | (guint64)colours[1][k] << 16
                                | (guint64)colours[2][k] << 32 | (guint64)alphas[k] << 48;
          const guint64 stored = GUINT64_TO_LE (pixel);
          memcpy (out + 4 * (i + k), &stored, sizeof stored);
        }
    }
  for (; i < n; i++)
    {
      const guint32 a = opaque ? 65535 : alpha[4 * i];
      const guint32 least = MAX (a, 1);
      const float by = 65535.0f / (float)(gint32)least;

      for (guint c = 0; c < 3; c++)
        {
          const guint32 p = whole_1 (in[c][i]);
          out[4 * i + c] = (guint16)(opaque ? p : divide_alpha (MIN (p, a), least, by));
        }
      out[4 * i + 3] = (guint16)a;
    }
}

static void
alphas_8 (const guint8 *restrict in, gsize n, guint16 *restrict alpha)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 pixel;

      memcpy (&pixel, in + 4 * i, sizeof pixel);
      const guint64 wide = GUINT64_TO_LE ((guint64)((GUINT32_FROM_LE (pixel) >> 24) * 257u));
      memcpy (alpha + 4 * i, &wide, sizeof wide);
    }
}

static void
round_8 (const guint16 *restrict in, gsize n, guint8 *restrict out)
{
  for (gsize i = 0; i < 4 * n; i++)
    out[i] = (guint8)((in[i] * 255u + 32895u) >> 16);
}

/* --- Display --------------------------------------------------------------------------------- */

static void
extremes (const float *const *rows, gsize n_rows, gsize n, float *restrict high,
          float *restrict low)
{
  gsize i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    {
      F up = load (rows[0] + i), down = up;
      for (gsize k = 1; k < n_rows; k++)
        {
          const F x = load (rows[k] + i);
          up = higher (up, x);
          down = lower_of (down, x);
        }
      store (high + i, up);
      store (low + i, down);
    }
  for (; i < n; i++)
    {
      high[i] = low[i] = rows[0][i];
      for (gsize k = 1; k < n_rows; k++)
        {
          high[i] = rows[k][i] > high[i] ? rows[k][i] : high[i];
          low[i] = rows[k][i] < low[i] ? rows[k][i] : low[i];
        }
    }
}

static void
sums (const float *const *rows, gsize n_rows, gsize n, float *restrict sum)
{
  memcpy (sum, rows[0], n * sizeof *sum);
  for (gsize k = 1; k < n_rows; k++)
    for (gsize i = 0; i < n; i++)
      sum[i] += rows[k][i];
}

/* --- Comparing ------------------------------------------------------------------------------- */

INLINE void
channel_8 (const guint8 *in, gsize n, guint channel, float *out)
{
  gsize i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, __builtin_convertvector(samples_8 (load_pixels (in + 4 * i), channel), F));
  for (; i < n; i++)
    out[i] = (float)(channel == 0   ? sb_haar_lightness (in[4 * i], in[4 * i + 1], in[4 * i + 2])
                     : channel == 1 ? sb_haar_luma (in[4 * i], in[4 * i + 1], in[4 * i + 2])
                                    : in[4 * i + (channel >= 2 ? channel - 2 : 0)]);
}

static void
take_8 (const guint8 *in, gsize n, guint channel, float *out)
{
  switch (channel)
    {
    case 0:
      channel_8 (in, n, 0, out);
      break;
    case 1:
      channel_8 (in, n, 1, out);
      break;
    case 2:
      channel_8 (in, n, 2, out);
      break;
    case 3:
      channel_8 (in, n, 3, out);
      break;
    case 4:
      channel_8 (in, n, 4, out);
      break;
    default:
      channel_8 (in, n, 5, out);
      break;
    }
}

static float
distance (const float *a, const float *b, gsize n)
{
  const I size = (I){ 0 } + G_MAXINT32;
  F most = { 0 };
  float result = 0;
  gsize i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    most = higher (most, (F)((I)(load (a + i) - load (b + i)) & size));
  for (guint k = 0; k < WIDTH; k++)
    result = most[k] > result ? most[k] : result;
  for (; i < n; i++)
    {
      const float off = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
      result = off > result ? off : result;
    }
  return result;
}

/* --- Measures -------------------------------------------------------------------------------- */

typedef double D __attribute__ ((vector_size (8 * SB_HAAR_LANES)));

static void
moments (const float *c, gsize n, float scale, double centre, SbHaarMoments *m)
{
  D x, x2, d, d2;
  float low = m->low, high = m->high;
  guint64 near_zero = 0;
  gsize i = 0;

  memcpy (&x, m->x, sizeof x);
  memcpy (&x2, m->x2, sizeof x2);
  memcpy (&d, m->d, sizeof d);
  memcpy (&d2, m->d2, sizeof d2);
  for (; i + SB_HAAR_LANES <= n; i += SB_HAAR_LANES)
    {
      D v, off;
      for (guint k = 0; k < SB_HAAR_LANES; k++)
        v[k] = (double)(c[i + k] * scale);
      off = v - centre;
      x += v;
      x2 += v * v;
      d += off;
      d2 += off * off;
    }
  for (; i < n; i++)
    {
      const double v = (double)(c[i] * scale), off = v - centre;
      x[i % SB_HAAR_LANES] += v;
      x2[i % SB_HAAR_LANES] += v * v;
      d[i % SB_HAAR_LANES] += off;
      d2[i % SB_HAAR_LANES] += off * off;
    }
  memcpy (m->x, &x, sizeof x);
  memcpy (m->x2, &x2, sizeof x2);
  memcpy (m->d, &d, sizeof d);
  memcpy (m->d2, &d2, sizeof d2);

  i = 0;
  if (n >= WIDTH)
    {
      F up = load (c), down = up;
      I count = { 0 };
      const I size = (I){ 0 } + G_MAXINT32; /* all but the sign */

      for (; i + WIDTH <= n; i += WIDTH)
        {
          const F v = load (c + i);
          up = higher (up, v);
          down = lower_of (down, v);
          count -= (F)((I)v & size) * scale < 0.5f;
        }
      for (guint k = 0; k < WIDTH; k++)
        {
          high = up[k] * scale > high ? up[k] * scale : high;
          low = down[k] * scale < low ? down[k] * scale : low;
          near_zero += (guint64)count[k];
        }
    }
  for (; i < n; i++)
    {
      const float v = c[i] * scale;
      high = v > high ? v : high;
      low = v < low ? v : low;
      near_zero += v > -0.5f && v < 0.5f;
    }
  m->low = low;
  m->high = high;
  m->near_zero += near_zero;
}

static void
nearest (const float *restrict c, gsize n, float scale, gint32 *restrict out)
{
  for (gsize i = 0; i < n; i++)
    {
      /* What is left is exact, so that nothing is rounded before it is decided. */
      const float x = c[i] * scale;
      gint32 whole = (gint32)x;
      whole -= (float)whole > x;
      out[i] = whole + (x - (float)whole >= 0.5f);
    }
}

extern const SbHaarKernels SB_ISA_SYMBOL (sb_haar_kernels);
const SbHaarKernels SB_ISA_SYMBOL (sb_haar_kernels) = {
  .first_8 = first_8,
  .first_16 = first_16,
  .forward = forward,
  .inverse = inverse,
  .fence = fence,
  .change = change,
  .last_8 = last_8,
  .ahead = ahead,
  .load_8 = load_8,
  .load_16 = load_16,
  .luma = luma,
  .shift = shift,
  .store_16 = store_16,
  .alphas_8 = alphas_8,
  .round_8 = round_8,
  .extremes = extremes,
  .sums = sums,
  .samples_8 = take_8,
  .samples_16 = take_16,
  .distance = distance,
  .moments = moments,
  .nearest = nearest,
};
