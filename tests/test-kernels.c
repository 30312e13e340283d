/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-arith.h"
#include "sb-cpu-blur-line.h"
#include "sb-cpu-blur-tone.h"
#include "sb-kernel-blur-bytes.h"
#include "sb-memory.h"

#include <math.h>
#include <string.h>

/* The kernels of every instruction set this machine has: each method of dividing over every divisor
 * it is used for, each table over every value, and the walks against plain sums.
 *
 * A quotient by a rising function is right everywhere if it is right on both sides of every step,
 * so these, two a value of the result, are all that need be looked at. */

#define BIAS 0x8000

static void
for_each_isa (void (*test) (const SbBlurKernels *kernels))
{
  const SbIsa best = sb_isa_get ();

  for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
    if (sb_isa_is_available (isa))
      {
        g_test_message ("%s", sb_isa_name (isa));
        sb_isa_force (isa);
        test (sb_blur_kernels ());
      }
  sb_isa_force (best);
}

/* --- Division -------------------------------------------------------------------------------- */

/* A state's order is the kernel's own: place[j] is where state n[j] comes out. Found by giving each
 * a quotient of its own. */
static void
find_order (const SbBlurKernels *kernels, guint place[SB_VECTOR])
{
  static guint16 room[3 * SB_VECTOR] __attribute__ ((aligned (64)));
  const guint16 *zero = room + SB_VECTOR;
  guint16 out[SB_VECTOR] __attribute__ ((aligned (64)));
  const SbWalk walk = { .enter = zero,
                        .leave = zero,
                        .outer_enter = zero,
                        .outer_leave = zero,
                        .ahead = (const guint8 *)zero };
  SbBox box;
  SbWalkState state;

  g_assert_true (sb_box_init (&box, 16 * 14, FALSE, kernels->limits));
  for (guint j = 0; j < SB_VECTOR; j++)
    state.n[j] = (gint32)j * 29 + box.offset;
  kernels->walk (&box, &state, &walk, out, 1);
  for (guint i = 0; i < SB_VECTOR; i++)
    {
      g_assert_cmpuint (out[i], <, SB_VECTOR);
      place[out[i]] = i;
    }
}

/* N for each of a vector's states into what the kernel keeps of it. */
static void
set_state (const SbBox *box, SbWalkState *state, const gint64 *n, gint64 d, gint64 scale)
{
  for (guint j = 0; j < SB_VECTOR; j++)
    state->n[j] = (gint32)(guint32)(scale * (n[j] - 32768 * d) + box->offset);
}

static void
check_quotients (const SbBlurKernels *kernels, const guint place[SB_VECTOR], guint radius16,
                 gboolean to_8)
{
  static guint16 room[3 * SB_VECTOR] __attribute__ ((aligned (64)));
  const guint16 *zero = room + SB_VECTOR;
  guint16 out[SB_VECTOR] __attribute__ ((aligned (64)));
  const SbWalk walk = { .enter = zero,
                        .leave = zero,
                        .outer_enter = zero,
                        .outer_leave = zero,
                        .ahead = (const guint8 *)zero };
  const gint64 k = radius16 % 16;
  const gint64 g = k == 0 ? 16 : k % 2 == 1 ? 1 : k % 4 == 2 ? 2 : k % 8 == 4 ? 4 : 8;
  const gint64 d = 16 / g * (2 * (gint64)(radius16 / 16) + 1) + 2 * k / g;
  const gint64 unit = to_8 ? 257 * d : d; /* of N for one step of the result */
  const gint64 steps = to_8 ? 255 : 65535;
  SbBox box;
  SbWalkState state;

  if (!sb_box_init (&box, radius16, to_8, kernels->limits))
    return;
  const gint64 scale = box.inner / (16 / g);

  for (gint64 v = 1; v <= steps; v += SB_VECTOR / 2)
    {
      gint64 n[SB_VECTOR];
      for (guint j = 0; j < SB_VECTOR; j++)
        {
          /* The least N that gives w, and the one below. */
          const gint64 w = MIN (v + j / 2, steps);
          n[j] = (2 * w * unit - unit + 1) / 2 - (j % 2 == 0 ? 1 : 0);
        }
      if (v == 1)
        {
          n[SB_VECTOR - 2] = 0;
          n[SB_VECTOR - 1] = 65535 * d;
        }
      set_state (&box, &state, n, d, scale);
      if (to_8)
        kernels->walk_8 (&box, &state, &walk, (guint8 *)out, 32, 1);
      else
        kernels->walk (&box, &state, &walk, out, 1);
      for (guint j = 0; j < SB_VECTOR; j++)
        {
          const gint64 w = MIN (v + j / 2, steps) - (j % 2 == 0 ? 1 : 0);
          gint64 want = v == 1 && j >= SB_VECTOR - 2 ? (j % 2 == 0 ? 0 : steps) : w;
          const gint64 got = to_8 ? ((guint8 *)out)[place[j]] : out[place[j]] ^ BIAS;
          if (got != want)
            g_error ("radius %u/16, N = %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT
                     " instead of %" G_GINT64_FORMAT,
                     radius16, n[j], got, want);
        }
      if (to_8)
        for (guint j = 0; j < SB_VECTOR; j++)
          g_assert_cmpuint (((guint8 *)out)[place[j]], ==,
                            sb_round_to_8 ((guint32)((2 * n[j] + d) / (2 * d))));
    }
}

static void
check_whole_radii (const SbBlurKernels *kernels)
{
  guint place[SB_VECTOR];

  find_order (kernels, place);
  for (guint radius16 = 16; radius16 <= 16 * SB_MAX_RADIUS; radius16 += 16)
    {
      check_quotients (kernels, place, radius16, FALSE);
      check_quotients (kernels, place, radius16, TRUE);
    }
}

static void
test_whole_radii (void)
{
  for_each_isa (check_whole_radii);
}

static void
check_fractional_radii (const SbBlurKernels *kernels)
{
  guint place[SB_VECTOR];

  /* Reduced fractions meet the same divisor again and again: once is enough for the long method. */
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  SbBox box;

  find_order (kernels, place);
  for (guint radius16 = 16 * SB_MAX_RADIUS - 1; radius16 > 0; radius16--)
    if (radius16 % 16 != 0)
      {
        g_assert_true (sb_box_init (&box, radius16, FALSE, kernels->limits));
        if (box.method == SB_BOX_INTEGER_EVEN
            && !g_hash_table_add (
                seen, GINT_TO_POINTER (box.inner * (2 * box.radius + 1) + 2 * box.outer)))
          continue;
        check_quotients (kernels, place, radius16, FALSE);
        check_quotients (kernels, place, radius16, TRUE);
      }
}

static void
test_fractional_radii (void)
{
  for_each_isa (check_fractional_radii);
}

/* --- Bytes ----------------------------------------------------------------------------------- */

/* A block's order is the kernel's own: order[i] is the sample (4 x + c) that stands at place i of
 * what a row stores. Found by blurring one bright sample at a time. */
static void
find_block_order (const SbBytesKernels *kernels, guint order[SB_BLOCK_SAMPLES])
{
  guint16 out[SB_BLOCK_SAMPLES] __attribute__ ((aligned (64)));
  guint8 room[4 * (4 + 2 * SB_BLOCK)], *in = room + 4;
  SbBytesBox box;

  g_assert_true (sb_bytes_box_init (&box, 1));
  for (guint i = 0; i < SB_BLOCK_SAMPLES; i++)
    order[i] = SB_BLOCK_SAMPLES;
  for (gint x = 0; x < SB_BLOCK; x++)
    for (gint c = 0; c < 4; c++)
      {
        memset (room, 0, sizeof room);
        in[4 * (x + 1) + c] = 3; /* 257 in results x - 1 .. x + 1 */
        kernels->row (&box, in, 1, out, NULL, FALSE, in);
        /* Bright for the first time is the result x + 1, and with x = 0 those before it. */
        for (guint i = 0; i < SB_BLOCK_SAMPLES; i++)
          if ((out[i] ^ BIAS) == 257 && order[i] == SB_BLOCK_SAMPLES)
            order[i] = (guint)(4 * (x + 1) + c);
      }
  /* Which of those is result 0: a pixel before the first one is bright there only. */
  for (gint c = 0; c < 4; c++)
    {
      memset (room, 0, sizeof room);
      in[c] = 3;
      kernels->row (&box, in, 1, out, NULL, FALSE, in);
      for (guint i = 0; i < SB_BLOCK_SAMPLES; i++)
        if ((out[i] ^ BIAS) == 257)
          order[i] = (guint)c;
    }
  guint8 seen[SB_BLOCK_SAMPLES] = { 0 };
  for (guint i = 0; i < SB_BLOCK_SAMPLES; i++)
    {
      g_assert_cmpuint (order[i], <, SB_BLOCK_SAMPLES);
      g_assert_cmpuint (seen[order[i]]++, ==, 0);
    }
}

/* Every sum that there can be, one after the other: with p[i] = floor (i / w) the window's sum
 * rises by one from pixel to pixel. */
static void
check_byte_rows (const SbBytesKernels *kernels, const SbBytesBox *box,
                 const guint order[SB_BLOCK_SAMPLES])
{
  const gsize w = 2 * (gsize)box->radius + 1, blocks = (255 * w + SB_BLOCK) / SB_BLOCK;
  const gsize bytes = 4 * (w + blocks * SB_BLOCK);
  g_autofree guint8 *room = g_malloc0 (4 + bytes);
  guint8 *in = room + 4;
  guint16 *out = sb_memory_alloc (blocks * SB_BLOCK_BYTES);

  for (gsize i = 0; i < bytes / 4; i++)
    for (guint c = 0; c < 4; c++)
      {
        const guint v = (guint)MIN (i / w, 255);
        in[4 * i + c] = (guint8)(c % 2 == 0 ? v : 255 - v);
      }
  kernels->row (box, in, blocks, out, NULL, FALSE, in);
  for (gsize i = 0; i < blocks * SB_BLOCK_SAMPLES; i++)
    {
      const guint sample = order[i % SB_BLOCK_SAMPLES];
      const gsize s = MIN (i / SB_BLOCK_SAMPLES * SB_BLOCK + sample / 4, 255 * w);
      const gsize sum = sample % 2 == 0 ? s : 255 * w - s;
      if ((guint)(out[i] ^ BIAS) != (2 * 257 * sum + w) / (2 * w))
        g_error ("radius %d, sum %" G_GSIZE_FORMAT ": %u instead of %" G_GSIZE_FORMAT, box->radius,
                 sum, out[i] ^ BIAS, (2 * 257 * sum + w) / (2 * w));
    }

  /* In two parts, the second one going on from the first one's sums: the same. */
  const gsize first = blocks / 3 + 1;
  guint8 carry[SB_CARRY_BYTES] __attribute__ ((aligned (SB_CARRY_BYTES)));
  g_autofree guint16 *whole = g_memdup2 (out, blocks * SB_BLOCK_BYTES);
  memset (out, 0, blocks * SB_BLOCK_BYTES);
  kernels->row (box, in, first, out, carry, FALSE, in);
  kernels->row (box, in + first * 4 * SB_BLOCK, blocks - first, out + first * SB_BLOCK_SAMPLES,
                carry, TRUE, in);
  g_assert_cmpmem (out, blocks * SB_BLOCK_BYTES, whole, blocks * SB_BLOCK_BYTES);
  sb_memory_free (out, blocks * SB_BLOCK_BYTES);
}

/* Both sides of every step of a column's quotient, at every place of a block, and both ends. */
static void
check_byte_columns (const SbBytesKernels *kernels, const SbBytesBox *box)
{
  static guint16 room[3 * SB_BLOCK_SAMPLES] __attribute__ ((aligned (64)));
  const guint16 *zero = room + SB_BLOCK_SAMPLES;
  gint32 sums[SB_BLOCK_SAMPLES] __attribute__ ((aligned (64)));
  guint8 out[64] __attribute__ ((aligned (64)));
  const guint16 *const rows[1] = { zero };
  const gint64 w = 2 * (gint64)box->radius + 1;

  for (guint v = 0; v <= 255; v++)
    for (guint side = 0; side < 2; side++)
      {
        /* The least N with round (round (N / w) / 257) = v, then the greatest. */
        const gint64 below = (2 * (257 * (gint64)v - 128) - 1) * w; /* 2 N > this */
        const gint64 above = below + 2 * 257 * w;
        const gint64 n
            = side == 0 ? (v == 0 ? 0 : (below + 1) / 2) : (v == 255 ? 65535 * w : (above - 1) / 2);

        g_assert_cmpuint (sb_round_to_8 ((guint32)((2 * n + w) / (2 * w))), ==, v);
        for (guint i = 0; i < SB_BLOCK_SAMPLES; i++)
          sums[i] = box->offset + (gint32)(n - 32768 * w);
        kernels->columns (box, sums, rows, rows, 1, 1, out, 64, v % 2 == 0);
        for (guint i = 0; i < SB_BLOCK_SAMPLES; i++)
          if (out[i] != v)
            g_error ("radius %d, sum %" G_GINT64_FORMAT ", place %u: %u instead of %u", box->radius,
                     n, i, out[i], v);
      }
}

static void
check_bytes (const SbBlurKernels *unused)
{
  const SbBytesKernels *kernels = sb_bytes_kernels ();
  guint order[SB_BLOCK_SAMPLES], radii = 0;

  if (kernels == NULL)
    return;
  find_block_order (kernels, order);
  for (guint radius = 1; radius <= SB_MAX_RADIUS; radius++)
    {
      SbBytesBox box;
      if (!sb_bytes_box_init (&box, radius))
        continue;
      radii++;
      check_byte_rows (kernels, &box, order);
      check_byte_columns (kernels, &box);
    }
  g_assert_cmpuint (radii, >=, 100);
}

static void
test_bytes (void)
{
  for_each_isa (check_bytes);
}

/* --- Alpha and rounding ---------------------------------------------------------------------- */

static void
test_premultiply (void)
{
  /* A function of the product c a alone, and rising: both sides of each step. Products that do not
   * exist are shown right as well, through c = product, a = 1. */
  for (guint64 v = 1; v <= 65535; v++)
    {
      const guint64 least = (2 * v * 65535 - 65535 + 1) / 2;
      g_assert_cmpuint (sb_premultiply ((guint32)(least - 1), 1), ==, v - 1);
      g_assert_cmpuint (sb_premultiply ((guint32)least, 1), ==, v);
    }
  g_assert_cmpuint (sb_premultiply (65535, 65535), ==, 65535);
}

static void
check_premultiply (const SbBlurKernels *kernels)
{
  guint16 v[SB_VECTOR] __attribute__ ((aligned (64)));
  guint16 in[SB_VECTOR];

  for (guint turn = 0; turn < 200000; turn++)
    {
      for (guint j = 0; j < SB_VECTOR; j++)
        {
          in[j] = (guint16)(g_test_rand_int () >> (turn % 3 == 0 ? 8 : 0));
          v[j] = in[j] ^ BIAS;
        }
      kernels->premultiply (v, 1);
      for (guint j = 0; j < SB_VECTOR; j++)
        g_assert_cmpuint (v[j] ^ BIAS, ==, j % 4 == 3 ? in[j] : sb_premultiply (in[j], in[j | 3]));
    }
}

/* Every colour below and around every alpha; all alphas with -m slow, a share of them otherwise. */
static void
check_unpremultiply (const SbBlurKernels *kernels)
{
  guint16 v[SB_VECTOR] __attribute__ ((aligned (64)));

  for (guint32 a = 0; a <= 65535; a += g_test_slow () || a < 300 || a > 65500 ? 1 : 211)
    {
      const guint32 last = MIN (a + 40, 65535);
      for (guint32 p = 0; p <= last; p += SB_VECTOR * 3 / 4)
        {
          for (guint j = 0; j < SB_VECTOR; j++)
            v[j] = (guint16)(j % 4 == 3 ? a : MIN (p + j / 4 * 3 + j % 4, last)) ^ BIAS;
          kernels->unpremultiply (v, 1);
          for (guint j = 0; j < SB_VECTOR; j++)
            {
              const guint32 c = MIN (p + j / 4 * 3 + j % 4, last);
              const guint32 want = j % 4 == 3 ? a : sb_unpremultiply (c, a);
              if ((guint32)(v[j] ^ BIAS) != want)
                g_error ("%u over %u: %u instead of %u", c, a, v[j] ^ BIAS, want);
            }
        }
      for (guint j = 0; j < SB_VECTOR; j++)
        v[j] = (guint16)(j % 4 == 3 ? a : 65535 - j) ^ BIAS;
      kernels->unpremultiply (v, 1);
      for (guint j = 0; j < SB_VECTOR; j++)
        g_assert_cmpuint (v[j] ^ BIAS, ==, j % 4 == 3 ? a : sb_unpremultiply (65535 - j, a));
    }
}

static void
test_alpha (void)
{
  for_each_isa (check_premultiply);
  for_each_isa (check_unpremultiply);
}

/* The definition itself, on small and on awkward numbers. */
static void
test_unpremultiply (void)
{
  g_assert_cmpuint (sb_unpremultiply (0, 0), ==, 0);
  g_assert_cmpuint (sb_unpremultiply (65535, 0), ==, 0);
  g_assert_cmpuint (sb_unpremultiply (1, 2), ==, 32768); /* 32767.5, halves up */
  g_assert_cmpuint (sb_unpremultiply (1, 3), ==, 21845);
  g_assert_cmpuint (sb_unpremultiply (2, 1), ==, 65535);
  g_assert_cmpuint (sb_unpremultiply (65534, 65535), ==, 65534);
  for (guint v = 0; v <= 65535; v++)
    {
      g_assert_cmpuint (sb_unpremultiply (v, 65535), ==, v);
      g_assert_cmpuint (sb_round_to_8 (v), ==, (2 * v + 257) / 514);
    }
}

/* --- Tables ---------------------------------------------------------------------------------- */

/* sRGB, or a tone whose channels differ: powers, which stay above x / 32 in neither direction of
 * doubt (exponents 1 and below 1 rise fast, 2.2 is lifted). */
static SbTone *
make_tone (gboolean same)
{
  const SbTone *srgb = sb_tone_new (NULL);
  SbTone *tone = g_memdup2 (srgb, sizeof *srgb);

  sb_tone_unref (srgb);
  tone->same = same;
  for (guint c = 0; c < 3 && !same; c++)
    {
      const double power[] = { 1.0, 0.7, 1.9 };
      guint u = 0;
      for (guint v = 0; v < 65536; v++)
        {
          tone->decode[c][v]
              = (guint16)(65535 * MAX (pow (v / 65535.0, power[c]), v / 65535.0 / 32) + 0.5);
          if (v % 257 == 0)
            tone->decode8[c][v / 257] = tone->decode[c][v];
        }
      for (guint v = 0; v < 65536; v++)
        {
          while (u < 65535
                 && abs (tone->decode[c][u + 1] - (int)v) < abs (tone->decode[c][u] - (int)v))
            u++;
          tone->encode[c][v] = (guint16)u;
          tone->encode8[c][v] = sb_round_to_8 (u);
        }
    }
  return tone;
}

static void
check_encode (const SbBlurKernels *kernels, const SbBlurTone *small, const SbTone *tone)
{
  guint16 v[SB_VECTOR] __attribute__ ((aligned (64)));
  guint8 bytes[32];

  for (guint value = 0; value < 65536; value++)
    {
      for (guint j = 0; j < SB_VECTOR; j++)
        v[j] = (guint16)(value + j * 257) ^ BIAS;
      kernels->encode_8 (small, v, bytes, 32, 1);
      for (guint j = 0; j < SB_VECTOR; j++)
        {
          const guint16 w = (guint16)(value + j * 257);
          g_assert_cmpuint (bytes[j], ==, j % 4 == 3 ? sb_round_to_8 (w) : tone->encode8[j % 4][w]);
        }
      kernels->store_8 (v, bytes, 32, 1);
      for (guint j = 0; j < SB_VECTOR; j++)
        g_assert_cmpuint (bytes[j], ==, sb_round_to_8 ((guint16)(value + j * 257)));
    }
}

static void
check_tables_of (const SbBlurKernels *kernels, gboolean same)
{
  g_autofree SbTone *tone = make_tone (same);
  g_autofree SbBlurTone *small = g_new0 (SbBlurTone, 1);

  sb_blur_tone_init (small, tone);
  g_assert_true (small->fits == same);
  check_encode (kernels, small, tone);

  /* 8 rows in which every byte stands at every channel, in whole blocks and in what is left. */
  enum
  {
    WIDTH = 256 + 13
  };
  g_autofree guint8 *pixels = g_malloc (8 * WIDTH * 4);
  guint16 *vectors = sb_memory_alloc (WIDTH * SB_VECTOR_BYTES);
  const guint8 *rows[8];
  for (guint i = 0; i < 8 * WIDTH * 4; i++)
    pixels[i] = (guint8)(i / 4 + i % 4 * 91 + i / (WIDTH * 4) * 17);
  for (guint i = 0; i < 8; i++)
    rows[i] = pixels + i * WIDTH * 4;
  kernels->decode_8 (small, rows, WIDTH, vectors);
  for (guint x = 0; x < WIDTH; x++)
    for (guint j = 0; j < SB_VECTOR; j++)
      {
        const guint8 b = rows[j / 4][x * 4 + j % 4];
        g_assert_cmpuint (vectors[x * SB_VECTOR + j] ^ BIAS, ==,
                          j % 4 == 3 ? b * 257 : tone->decode8[j % 4][b]);
      }
  kernels->load_8 (rows, WIDTH, vectors);
  for (guint x = 0; x < WIDTH; x++)
    for (guint j = 0; j < SB_VECTOR; j++)
      g_assert_cmpuint (vectors[x * SB_VECTOR + j] ^ BIAS, ==, rows[j / 4][x * 4 + j % 4] * 257);
  sb_memory_free (vectors, WIDTH * SB_VECTOR_BYTES);
}

static void
check_tables (const SbBlurKernels *kernels)
{
  check_tables_of (kernels, TRUE);
  check_tables_of (kernels, FALSE);
}

static void
test_tables (void)
{
  for_each_isa (check_tables);
}

/* A curve that the lines cannot follow must be told, and be right all the same. */
static void
test_steep_curve (void)
{
  g_autofree SbTone *tone = make_tone (TRUE);
  g_autofree SbBlurTone *small = g_new0 (SbBlurTone, 1);

  for (guint c = 0; c < 3; c++)
    for (guint v = 0; v < 65536; v++)
      {
        tone->encode[c][v] = (guint16)MIN (v / 2 * 257, 65535);
        tone->encode8[c][v] = (guint8)MIN (v / 2, 255);
      }
  sb_blur_tone_init (small, tone);
  g_assert_true (small->one_curve);
  g_assert_true (small->fits);
  check_encode (sb_blur_kernels (), small, tone);

  for (guint v = 30000; v < 65536; v++)
    for (guint c = 0; c < 3; c++)
      {
        tone->encode[c][v] = 65535;
        tone->encode8[c][v] = 255;
      }
  for (guint v = 0; v < 30000; v++)
    for (guint c = 0; c < 3; c++)
      {
        tone->encode[c][v] = v < 29990 ? 0 : 45 * 257;
        tone->encode8[c][v] = v < 29990 ? 0 : 45;
      }
  sb_blur_tone_init (small, tone);
  g_assert_false (small->fits);
  check_encode (sb_blur_kernels (), small, tone);
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* One pass by the definition, sample by sample. */
static void
plain_pass (guint16 *line, gint64 n, guint radius16, gboolean mirror)
{
  g_autofree guint16 *in = g_memdup2 (line, (gsize)n * SB_VECTOR_BYTES);
  const gint64 r = radius16 / 16;

  for (gint64 x = 0; x < n; x++)
    for (guint j = 0; j < SB_VECTOR; j++)
      {
        guint32 sum = 0, ends = 0;
        for (gint64 i = x - r; i <= x + r; i++)
          sum += in[sb_edge_index (i, n, mirror) * SB_VECTOR + j];
        ends = in[sb_edge_index (x - r - 1, n, mirror) * SB_VECTOR + j];
        ends += in[sb_edge_index (x + r + 1, n, mirror) * SB_VECTOR + j];
        line[x * SB_VECTOR + j] = sb_box_quotient (sum, ends, (guint32)r, radius16 % 16);
      }
}

static void
check_lines (const SbBlurKernels *kernels)
{
  for (guint turn = 0; turn < 300; turn++)
    {
      const gint64 n = g_test_rand_int_range (1, turn % 3 == 0 ? 12 : 250);
      const guint radius16 = (guint)g_test_rand_int_range (1, turn % 10 == 0  ? 16 * SB_MAX_RADIUS
                                                              : turn % 2 == 0 ? 16 * 90
                                                                              : 16 * 9);
      const guint r = turn % 2 == 0 ? MAX (radius16 / 16 * 16, 16) : radius16;
      SbLineClass klass = { .kernels = kernels,
                            .passes = (guint)g_test_rand_int_range (1, 4),
                            .mirror = g_test_rand_int_range (0, 2),
                            .length = n,
                            .ring = SB_NO_RING };
      klass.first = g_test_rand_int_range (0, (gint32)n);
      klass.stop = g_test_rand_int_range ((gint32)klass.first, (gint32)n) + 1;
      sb_box_init (&klass.box, r, FALSE, kernels->limits);
      klass.last_to_8 = sb_box_init (&klass.last, r, TRUE, kernels->limits) && turn % 3 != 1;
      sb_line_class_init (&klass);

      const gsize bytes = (gsize)sb_line_class_memory (&klass) * SB_VECTOR_BYTES;
      guint16 *room = sb_memory_alloc (2 * bytes + 2 * SB_VECTOR_BYTES);
      guint16 *memory[2] = { room + SB_VECTOR, room + SB_VECTOR + bytes / 2 };
      g_autofree guint16 *want[2] = { g_malloc ((gsize)n * SB_VECTOR_BYTES), NULL };
      want[1] = g_malloc ((gsize)n * SB_VECTOR_BYTES);
      guint8 *pixels = sb_memory_alloc ((gsize)n * 64);
      SbLine lines[2];

      for (guint i = 0; i < 2; i++)
        {
          sb_line_init (&klass, &lines[i]);
          guint16 *in = sb_line_input (&klass, &lines[i], memory[i], 0);
          for (gint64 v = 0; v < n * SB_VECTOR; v++)
            {
              want[i][v] = turn % 4 == 0 ? (g_test_rand_int () % 2 ? 65535 : 0)
                                         : (guint16)g_test_rand_int ();
              in[v] = want[i][v] ^ BIAS;
            }
          for (guint p = 0; p < klass.passes; p++)
            plain_pass (want[i], n, r, klass.mirror);
        }

      const gboolean pair = klass.last_to_8 && kernels->walk_8_pair != NULL && turn % 2 == 0;
      const SbBytes out = { pixels, 0, 64 };
      /* In portions, as rows come. */
      for (gint64 have = MIN (n, 5); sb_line_done (&klass, &lines[0], have) < klass.stop;
           have = MIN (n, have + g_test_rand_int_range (1, 60)))
        {
          sb_line_advance (&klass, &lines[0], pair ? &lines[1] : NULL, memory[0], bytes / 2, have,
                           n, &out, NULL);
          if (!pair)
            {
              const SbBytes second = { pixels + 32, 0, 64 };
              sb_line_advance (&klass, &lines[1], NULL, memory[1], 0, have, n, &second, NULL);
            }
        }
      kernels->fence ();
      for (guint i = 0; i < 2; i++)
        for (gint64 x = klass.first; x < klass.stop; x++)
          for (guint j = 0; j < SB_VECTOR; j++)
            if (klass.last_to_8)
              g_assert_cmpuint (pixels[x * 64 + i * 32 + j], ==,
                                sb_round_to_8 (want[i][x * SB_VECTOR + j]));
            else
              g_assert_cmpuint (sb_line_result (&klass, &lines[i], memory[i], x)[j] ^ BIAS, ==,
                                want[i][x * SB_VECTOR + j]);
      g_free (want[1]);
      sb_memory_free (pixels, (gsize)n * 64);
      sb_memory_free (room, 2 * bytes + 2 * SB_VECTOR_BYTES);
    }
}

static void
test_lines (void)
{
  for_each_isa (check_lines);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/divide/whole-radii", test_whole_radii);
  g_test_add_func ("/kernels/divide/fractional-radii", test_fractional_radii);
  g_test_add_func ("/kernels/divide/bytes", test_bytes);
  g_test_add_func ("/kernels/premultiply", test_premultiply);
  g_test_add_func ("/kernels/unpremultiply", test_unpremultiply);
  g_test_add_func ("/kernels/alpha", test_alpha);
  g_test_add_func ("/kernels/tables", test_tables);
  g_test_add_func ("/kernels/steep-curve", test_steep_curve);
  g_test_add_func ("/kernels/lines", test_lines);
  return g_test_run ();
}
