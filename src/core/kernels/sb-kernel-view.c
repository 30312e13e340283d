/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-view.h"

#include <string.h>

/* Plain loops that the compiler turns into vectors of whatever width the instruction set has; a
 * pixel at a time where the four channels already fill one. */

typedef float Float4 __attribute__ ((vector_size (16)));
typedef gint32 Int4 __attribute__ ((vector_size (16)));
typedef guint8 Byte4 __attribute__ ((vector_size (4)));
typedef guint16 Short4 __attribute__ ((vector_size (8)));
/* Pixels of 8 bits, or pairs of them, wherever they lie. */
typedef guint32 Word __attribute__ ((may_alias, aligned (1)));
typedef guint64 Long __attribute__ ((may_alias, aligned (1)));

/* 1 in the build that proves that the tests of the display can fail. */
#ifdef SB_MUTATE_SHOW
#define MUTATION 1
#else
#define MUTATION 0
#endif

/* --- Reducing -------------------------------------------------------------------------------- */

/* Two channels in the halves of each 32-bit word: red and blue, or green and alpha. Two pixels are
 * read as one word of 64 bits, so that the sum of neighbours is a shift and an add, and every load
 * and store is of consecutive words. */
#define LANES   G_GUINT64_CONSTANT (0x00ff00ff00ff00ff)
#define CHUNK   64 /* pairs of pixels whose sums are kept between the two levels */
#define HALF(s) ((((s) + 0x00020002u) >> 2) & (guint32)LANES)
/* (257 s + 8) >> 4 = 16 s + ((s + 8) >> 4), which stays inside 16 bits for s <= 4080. */
#define SIXTEENTH(s) (((s) << 4) + ((((s) + 0x00080008u) >> 4) & 0x0fff0fffu))

/* n pixels of 8 bits from two rows of 2n, and their sums by channels. */
static inline void
halve (const Long *restrict a, const Long *restrict b, gsize n, Word *restrict out,
       Word *restrict even, Word *restrict odd)
{
  for (gsize i = 0; i < n; i++)
    {
      const guint64 e = (a[i] & LANES) + (b[i] & LANES);
      const guint64 o = (a[i] >> 8 & LANES) + (b[i] >> 8 & LANES);
      const guint32 es = (guint32)(e + (e >> 32)), os = (guint32)(o + (o >> 32));
      out[i] = HALF (es) | HALF (os) << 8;
      even[i] = es;
      odd[i] = os;
    }
}

static void
reduce_twice_8 (const guint8 *const rows[4], gsize n, guint8 *const half[2], guint16 *quarter)
{
  guint32 even[2][CHUNK] __attribute__ ((aligned (64)));
  guint32 odd[2][CHUNK] __attribute__ ((aligned (64)));

  for (gsize first = 0; first < 2 * n; first += CHUNK)
    {
      const gsize count = MIN (CHUNK, 2 * n - first);
      for (guint r = 0; r < 2; r++)
        halve ((const Long *)(rows[2 * r] + 8 * first), (const Long *)(rows[2 * r + 1] + 8 * first),
               count, (Word *)(half[r] + 4 * first), even[r], odd[r]);

      const Long *restrict e0 = (const Long *)even[0], *restrict e1 = (const Long *)even[1];
      const Long *restrict o0 = (const Long *)odd[0], *restrict o1 = (const Long *)odd[1];
      Long *restrict out = (Long *)(quarter + 2 * first);
      for (gsize i = 0; i < count / 2; i++)
        {
          /* The halves hold sums of 8 samples, at most 2040: nothing carries. */
          const guint64 es = e0[i] + e1[i], os = o0[i] + o1[i];
          const guint64 e = SIXTEENTH ((es + (es >> 32)) & 0xffffffffu);
          const guint64 o = SIXTEENTH ((os + (os >> 32)) & 0xffffffffu);
          out[i] = (e & 0xffffu) | (o & 0xffffu) << 16 | (e & 0xffff0000u) << 16
                   | (o & 0xffff0000u) << 32;
        }
    }
}

static inline Int4
load_16 (const guint16 *in)
{
  Short4 v;
  memcpy (&v, in, sizeof v);
  return __builtin_convertvector(v, Int4);
}

static inline void
store_16 (guint16 *out, Int4 v)
{
  const Short4 s = __builtin_convertvector(v, Short4);
  memcpy (out, &s, sizeof s);
}

static void
reduce_16 (const guint16 *upper, const guint16 *lower, gsize n, guint16 *out)
{
  for (gsize i = 0; i < n; i++)
    {
      const Int4 sum = load_16 (upper + 8 * i) + load_16 (upper + 8 * i + 4)
                       + load_16 (lower + 8 * i) + load_16 (lower + 8 * i + 4);
      store_16 (out + 4 * i, (sum + 2) >> 2);
    }
}

/* --- To the space an edit works in ----------------------------------------------------------- */

/* round (x / 65535) for a product of two samples: with t = x + 32768, (t + (t >> 16)) >> 16; both
 * sums stay inside 32 bits. */
static inline guint16
divide_65535 (guint32 x)
{
  const guint32 t = x + 32768u;
  return (guint16)((t + (t >> 16)) >> 16);
}

static void
work_8 (const guint8 *restrict in, gsize n, const guint16 *const *decode, gboolean opaque,
        guint16 *restrict out)
{
  if (decode == NULL && opaque)
    {
      for (gsize i = 0; i < 4 * n; i++)
        out[i] = (guint16)(in[i] * 257u);
      return;
    }
  for (gsize i = 0; i < n; i++)
    {
      const guint32 a = in[4 * i + 3] * 257u;
      for (guint c = 0; c < 3; c++)
        {
          const guint32 v = decode != NULL ? decode[c][in[4 * i + c]] : in[4 * i + c] * 257u;
          out[4 * i + c] = opaque ? (guint16)v : divide_65535 (v * a);
        }
      out[4 * i + 3] = (guint16)a;
    }
}

static void
work_16 (const guint16 *restrict in, gsize n, const guint16 *const *decode, gboolean opaque,
         guint16 *restrict out)
{
  if (decode == NULL && opaque)
    {
      memcpy (out, in, 8 * n);
      return;
    }
  for (gsize i = 0; i < n; i++)
    {
      const guint32 a = in[4 * i + 3];
      for (guint c = 0; c < 3; c++)
        {
          const guint32 v = decode != NULL ? decode[c][in[4 * i + c]] : in[4 * i + c];
          out[4 * i + c] = opaque ? (guint16)v : divide_65535 (v * a);
        }
      out[4 * i + 3] = (guint16)a;
    }
}

/* --- To the screen --------------------------------------------------------------------------- */

/* Up to three rows at once, which is all there is between two levels of a pyramid. */
#define DEFINE_SUM(name, type)                                                                     \
  static void name (const type *const *rows, const float *weights, gsize n_rows, gsize n,          \
                    float *restrict out)                                                           \
  {                                                                                                \
    const gsize samples = 4 * n;                                                                   \
    const type *restrict a = rows[0];                                                              \
    const float wa = weights[0];                                                                   \
    gsize done = 1;                                                                                \
                                                                                                   \
    if (n_rows == 1)                                                                               \
      {                                                                                            \
        for (gsize i = 0; i < samples; i++)                                                        \
          out[i] = wa * (float)(gint32)a[i];                                                       \
      }                                                                                            \
    else                                                                                           \
      {                                                                                            \
        const type *restrict b = rows[1];                                                          \
        const float wb = weights[1];                                                               \
        if (n_rows == 2)                                                                           \
          {                                                                                        \
            for (gsize i = 0; i < samples; i++)                                                    \
              out[i] = wa * (float)(gint32)a[i] + wb * (float)(gint32)b[i];                        \
            done = 2;                                                                              \
          }                                                                                        \
        else                                                                                       \
          {                                                                                        \
            const type *restrict c = rows[2];                                                      \
            const float wc = weights[2];                                                           \
            for (gsize i = 0; i < samples; i++)                                                    \
              out[i] = wa * (float)(gint32)a[i] + wb * (float)(gint32)b[i]                         \
                       + wc * (float)(gint32)c[i];                                                 \
            done = 3;                                                                              \
          }                                                                                        \
      }                                                                                            \
    for (gsize k = done; k < n_rows; k++)                                                          \
      {                                                                                            \
        const type *restrict d = rows[k];                                                          \
        const float w = weights[k];                                                                \
        for (gsize i = 0; i < samples; i++)                                                        \
          out[i] += w * (float)(gint32)d[i];                                                       \
      }                                                                                            \
  }

DEFINE_SUM (sum_8, guint8)
DEFINE_SUM (sum_16, guint16)

static inline Float4
load_float_8 (const guint8 *in)
{
  Byte4 v;
  memcpy (&v, in, sizeof v);
  return __builtin_convertvector(v, Float4);
}

static inline Float4
load_float_16 (const guint16 *in)
{
  Short4 v;
  memcpy (&v, in, sizeof v);
  return __builtin_convertvector(v, Float4);
}

#define DEFINE_SUM_STRAIGHT(name, type, load, maximum)                                             \
  static void name (const type *const *rows, const float *weights, gsize n_rows, gsize n,          \
                    float *restrict out)                                                           \
  {                                                                                                \
    for (gsize k = 0; k < n_rows; k++)                                                             \
      {                                                                                            \
        const type *in = rows[k];                                                                  \
        const float w = weights[k];                                                                \
        const float wa = w / maximum;                                                              \
        for (gsize i = 0; i < n; i++)                                                              \
          {                                                                                        \
            const Float4 v = load (in + 4 * i);                                                    \
            const float s = wa * v[3];                                                             \
            Float4 sum = v * (Float4){ s, s, s, w };                                               \
            if (k > 0)                                                                             \
              {                                                                                    \
                Float4 before;                                                                     \
                memcpy (&before, out + 4 * i, sizeof before);                                      \
                sum += before;                                                                     \
              }                                                                                    \
            memcpy (out + 4 * i, &sum, sizeof sum);                                                \
          }                                                                                        \
      }                                                                                            \
  }

DEFINE_SUM_STRAIGHT (sum_straight_8, guint8, load_float_8, 255.0f)
DEFINE_SUM_STRAIGHT (sum_straight_16, guint16, load_float_16, 65535.0f)

static inline Float4
load_float (const float *in)
{
  Float4 v;
  memcpy (&v, in, sizeof v);
  return v;
}

/* Rounds half up and makes opaque. Values are 0 .. 255 but for the last bits of a float. */
static inline void
store_8 (guint8 *out, Float4 v)
{
  const Int4 i = __builtin_convertvector(v + 0.5f, Int4);
  const Byte4 b = __builtin_convertvector(i, Byte4);
  guint32 word;
  memcpy (&word, &b, sizeof word);
  word ^= MUTATION;
  word |= GUINT32_TO_LE (0xff000000u);
  memcpy (out, &word, sizeof word);
}

static inline Float4
over (Float4 v, const float *ground)
{
  const float rest = 1.0f - v[3] * (1.0f / 255.0f);
  return v + rest * load_float (ground);
}

static inline Float4
weigh (const float *in, const float *weights, gsize taps)
{
  Float4 sum = weights[0] * load_float (in);
  for (gsize k = 1; k < taps; k++)
    sum += weights[k] * load_float (in + 4 * k);
  return sum;
}

static inline __attribute__ ((always_inline)) void
spread_taps (const float *in, const guint32 *first, const float *weights, gsize taps, gsize n,
             const float *ground, guint8 *out)
{
  if (ground == NULL)
    for (gsize i = 0; i < n; i++)
      store_8 (out + 4 * i, weigh (in + 4 * (gsize)first[i], weights + i * taps, taps));
  else
    for (gsize i = 0; i < n; i++)
      store_8 (out + 4 * i,
               over (weigh (in + 4 * (gsize)first[i], weights + i * taps, taps), ground + 4 * i));
}

static void
spread (const float *in, const guint32 *first, const float *weights, gsize taps, gsize n,
        const float *ground, guint8 *out)
{
  switch (taps)
    {
    case 1:
      spread_taps (in, first, weights, 1, n, ground, out);
      break;
    case 2:
      spread_taps (in, first, weights, 2, n, ground, out);
      break;
    case 3:
      spread_taps (in, first, weights, 3, n, ground, out);
      break;
    default:
      spread_taps (in, first, weights, taps, n, ground, out);
    }
}

static inline Float4
multiplied (Float4 v)
{
  const float s = v[3] * (1.0f / 255.0f);
  return v * (Float4){ s, s, s, 1.0f };
}

static void
pick_8 (const guint8 *in, const guint32 *first, gsize n, const float *ground, guint8 *out)
{
  if (ground == NULL)
    for (gsize i = 0; i < n; i++)
      {
        guint32 word;
        memcpy (&word, in + 4 * (gsize)first[i], sizeof word);
        word ^= MUTATION;
        word |= GUINT32_TO_LE (0xff000000u);
        memcpy (out + 4 * i, &word, sizeof word);
      }
  else
    for (gsize i = 0; i < n; i++)
      store_8 (out + 4 * i,
               over (multiplied (load_float_8 (in + 4 * (gsize)first[i])), ground + 4 * i));
}

static void
pick_16 (const guint16 *in, const guint32 *first, gsize n, const float *ground, guint8 *out)
{
  if (ground == NULL)
    for (gsize i = 0; i < n; i++)
      {
        const Int4 v = load_16 (in + 4 * (gsize)first[i]);
        /* round (v / 257), with the product in 32 bits */
        store_8 (out + 4 * i, __builtin_convertvector((v * 255 + 32895) >> 16, Float4));
      }
  else
    for (gsize i = 0; i < n; i++)
      store_8 (out + 4 * i,
               over (multiplied (load_float_16 (in + 4 * (gsize)first[i]) * (1.0f / 257.0f)),
                     ground + 4 * i));
}

/* --- Through a table of colours -------------------------------------------------------------- */

static void
mix (const float *in, const guint32 *first, const float *weights, gsize taps, gsize n,
     float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    {
      const Float4 v = weigh (in + 4 * (gsize)first[i], weights + i * taps, taps);
      memcpy (out + 4 * i, &v, sizeof v);
    }
}

static void
take_8 (const guint8 *in, const guint32 *first, gsize n, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    {
      const Float4 v = load_float_8 (in + 4 * (gsize)first[i]);
      memcpy (out + 4 * i, &v, sizeof v);
    }
}

static void
take_16 (const guint16 *in, const guint32 *first, gsize n, float *restrict out)
{
  for (gsize i = 0; i < n; i++)
    {
      const Float4 v = load_float_16 (in + 4 * (gsize)first[i]) * (1.0f / 257.0f);
      memcpy (out + 4 * i, &v, sizeof v);
    }
}

/* Pixels on their way through the table, channel by channel, so that all but the look-ups are loops
 * over vectors. */
typedef struct
{
  float x[3][SB_VIEW_COLOR_PIXELS];   /* a code in segments of its curve; in cells; what is shown */
  gint32 at[3][SB_VIEW_COLOR_PIXELS]; /* the whole part of it */
  float low[SB_VIEW_COLOR_PIXELS], high[SB_VIEW_COLOR_PIXELS];
  float weight[4][SB_VIEW_COLOR_PIXELS];
  gint32 corner[3][SB_VIEW_COLOR_PIXELS]; /* the first one in the table; from it to the next two */
} Colors;

enum
{
  SEGMENTS = SB_COLOR_CURVE - 1,
  CELLS = SB_COLOR_GRID - 1,
  STEPS = SB_COLOR_ENCODE - 1,
  STEP_B = 4, /* in the table, by channel */
  STEP_G = STEP_B * SB_COLOR_GRID,
  STEP_R = STEP_G * SB_COLOR_GRID,
};

/* The codes, straight, in segments of the curves. */
static void
split (const float *restrict in, gsize n, gboolean premultiplied, Colors *restrict c)
{
  for (gsize i = 0; i < n; i++)
    {
      const float a = in[4 * i + 3];
      const float s = !premultiplied ? SEGMENTS / 255.0f : a > 0 ? (float)SEGMENTS / a : 0;
      for (guint k = 0; k < 3; k++)
        {
          const float x = in[4 * i + k] * s;
          c->x[k][i] = x < SEGMENTS ? x : SEGMENTS;
        }
    }
}

/* From a place on a curve of `segments` to what it has there, times `scale`. */
static void
follow_curve (const guint16 *curve, gint32 segments, float scale, gsize n, float *restrict x,
              gint32 *restrict at, float *restrict low, float *restrict high)
{
  for (gsize i = 0; i < n; i++)
    {
      const gint32 whole = (gint32)x[i];
      at[i] = whole < segments - 1 ? whole : segments - 1;
    }
  for (gsize i = 0; i < n; i++)
    {
      low[i] = curve[at[i]];
      high[i] = curve[at[i] + 1];
    }
  for (gsize i = 0; i < n; i++)
    x[i] = (low[i] + (x[i] - (float)at[i]) * (high[i] - low[i])) * scale;
}

/* The cell and the place in it. */
static void
find_cell (gsize n, float *restrict x, gint32 *restrict at)
{
  for (gsize i = 0; i < n; i++)
    {
      const gint32 whole = (gint32)x[i];
      at[i] = whole < CELLS - 1 ? whole : CELLS - 1;
      x[i] = x[i] - (float)at[i];
    }
}

/* A table that is a matrix: places on the last curve. */
static void
multiply (const float matrix[3][4], gsize n, Colors *restrict c)
{
  for (gsize i = 0; i < n; i++)
    {
      const float r = c->x[0][i], g = c->x[1][i], b = c->x[2][i];
      for (guint k = 0; k < 3; k++)
        {
          const float *m = matrix[k];
          const float x = m[0] * r + m[1] * g + (m[2] * b + m[3]);
          const float above = x > 0 ? x : 0;
          c->x[k][i] = above < STEPS ? above : STEPS;
        }
    }
}

/* The tetrahedron's corners and what they weigh. Where two parts are equal the corner between them
 * weighs nothing, so either may come first. */
static void
find_corners (gsize n, Colors *restrict c)
{
  for (gsize i = 0; i < n; i++)
    {
      const float r = c->x[0][i], g = c->x[1][i], b = c->x[2][i];
      const float rg_most = r > g ? r : g, rg_least = r > g ? g : r;
      const float most = rg_most > b ? rg_most : b;
      const float least = rg_least < b ? rg_least : b;
      const float rest = rg_most > b ? b : rg_most;
      const float middle = rg_least > rest ? rg_least : rest;
      const gint32 along_most = b > rg_most ? STEP_B : r > g ? STEP_R : STEP_G;
      const gint32 along_least = b < rg_least ? STEP_B : r > g ? STEP_G : STEP_R;

      c->weight[0][i] = 1.0f - most;
      c->weight[1][i] = most - middle;
      c->weight[2][i] = middle - least;
      c->weight[3][i] = least;
      c->corner[0][i] = c->at[0][i] * STEP_R + c->at[1][i] * STEP_G + c->at[2][i] * STEP_B;
      c->corner[1][i] = along_most;
      c->corner[2][i] = STEP_R + STEP_G + STEP_B - along_least;
    }
}

/* What comes out of the table, channel by channel, as places on the last curve. */
static void
look_up (const guint16 *points, gsize n, Colors *c)
{
  for (gsize i = 0; i < n; i++)
    {
      const guint16 *p = points + c->corner[0][i];
      const Float4 sum = load_float_16 (p) * c->weight[0][i]
                         + load_float_16 (p + c->corner[1][i]) * c->weight[1][i]
                         + load_float_16 (p + c->corner[2][i]) * c->weight[2][i]
                         + load_float_16 (p + STEP_R + STEP_G + STEP_B) * c->weight[3][i];
      for (guint k = 0; k < 3; k++)
        c->x[k][i] = sum[k] * (1.0f / 16.0f);
    }
}

static void
color (const SbColorTable *table, const float *in, gsize n, gboolean premultiplied,
       const float *ground, guint8 *out)
{
  const guint16 *points = &table->points[0][0][0][0];
  Colors c;

  split (in, n, premultiplied, &c);
  for (guint k = 0; k < 3; k++)
    follow_curve (table->curves[k], SEGMENTS, table->is_matrix ? 1 : CELLS / 65535.0f, n, c.x[k],
                  c.at[k], c.low, c.high);
  if (table->is_matrix)
    multiply (table->matrix, n, &c);
  else
    {
      for (guint k = 0; k < 3; k++)
        find_cell (n, c.x[k], c.at[k]);
      find_corners (n, &c);
      look_up (points, n, &c);
    }
  for (guint k = 0; k < 3; k++)
    follow_curve (table->encode, STEPS, 1.0f / 257.0f, n, c.x[k], c.at[k], c.low, c.high);
  if (ground == NULL)
    for (gsize i = 0; i < n; i++)
      store_8 (out + 4 * i, (Float4){ c.x[0][i], c.x[1][i], c.x[2][i] });
  else
    for (gsize i = 0; i < n; i++)
      {
        const Float4 v = { c.x[0][i], c.x[1][i], c.x[2][i], in[4 * i + 3] };
        store_8 (out + 4 * i, over (multiplied (v), ground + 4 * i));
      }
}

extern const SbViewKernels SB_ISA_SYMBOL (sb_view_kernels);
const SbViewKernels SB_ISA_SYMBOL (sb_view_kernels) = {
  .reduce_twice_8 = reduce_twice_8,
  .reduce_16 = reduce_16,
  .work_8 = work_8,
  .work_16 = work_16,
  .sum_8 = sum_8,
  .sum_16 = sum_16,
  .sum_straight_8 = sum_straight_8,
  .sum_straight_16 = sum_straight_16,
  .spread = spread,
  .pick_8 = pick_8,
  .pick_16 = pick_16,
  .mix = mix,
  .take_8 = take_8,
  .take_16 = take_16,
  .color = color,
};
