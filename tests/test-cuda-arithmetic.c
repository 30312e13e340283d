/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-arith.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* The short cuts that the CUDA kernels take, said again in C and tried wherever they could differ
 * from the arithmetic itself; needs no GPU. A quotient by a rising function is right everywhere if
 * it is right on both sides of every step. */

static gfloat
float_of (guint32 bits)
{
  gfloat f;
  memcpy (&f, &bits, sizeof f);
  return f;
}

static guint32
bits_of (gfloat f)
{
  guint32 bits;
  memcpy (&bits, &f, sizeof bits);
  return bits;
}

/* A sum below 2^24 is the bits of a denormal float, and so is its quotient. */
static guint32
quotient_by_float (guint32 sum, gfloat inverse)
{
  return bits_of (float_of (sum) * inverse);
}

static void
test_floats (void)
{
  for (guint32 radius = 1; radius <= 93; radius++)
    {
      const guint32 width = 2 * radius + 1;
      const gfloat inverse = (gfloat)(1.0 / width);
      const gfloat inverse_byte = (gfloat)(257.0 / width);
      const gfloat inverse_to_8 = (gfloat)(1.0 / (257.0 * width));

      for (guint32 q = 1; q <= 65535; q++)
        {
          const guint32 sum = width * q - radius;
          g_assert_cmpuint (quotient_by_float (sum, inverse), ==, q);
          g_assert_cmpuint (quotient_by_float (sum - 1, inverse), ==, q - 1);
        }
      g_assert_cmpuint (quotient_by_float (width * 65535, inverse), ==, 65535);
      for (guint32 sum = 0; sum <= 255 * width; sum++)
        g_assert_cmpuint (quotient_by_float (sum, inverse_byte), ==,
                          sb_box_quotient (257 * sum, 0, radius, 0));
      /* From 257 b - 128 on a sample is nearest to b. */
      for (guint32 b = 1; b <= 255; b++)
        {
          const guint32 sum = width * (257 * b - 128) - radius;
          g_assert_cmpuint (sb_round_to_8 (257 * b - 128), ==, b);
          g_assert_cmpuint (sb_round_to_8 (257 * b - 129), ==, b - 1);
          g_assert_cmpuint (quotient_by_float (sum, inverse_to_8), ==, b);
          g_assert_cmpuint (quotient_by_float (sum - 1, inverse_to_8), ==, b - 1);
        }
      g_assert_cmpuint (quotient_by_float (width * 65535, inverse_to_8), ==, 255);
    }
}

/* By a factor a little too large the quotient is wrong first below the last step, by one a little
 * too small, of a sum that is larger by one, at the last step. */
static void
check_factor (guint64 divisor)
{
  guint log = 0;
  while (divisor >> (log + 1) != 0)
    log++;
  const guint shift = (divisor & (divisor - 1)) == 0 ? log - 1 : log;
  const guint64 unit = (guint64)1 << (32 + shift);
  guint64 factor = (unit + divisor - 1) / divisor, more = 0;

  if ((divisor * 65535 - 1) * factor / unit != 65534)
    {
      factor = unit / divisor;
      more = 1;
    }
  g_assert_cmpuint (factor, <=, G_MAXUINT32);
  for (guint64 q = 65535; q > 0; q = q > 65530 ? q - 1 : q / 2)
    {
      g_assert_cmpuint ((divisor * q + more) * factor / unit, ==, q);
      g_assert_cmpuint ((divisor * q - 1 + more) * factor / unit, ==, q - 1);
    }
  g_assert_cmpuint (divisor * 65535 + divisor / 2 + more, <=, G_MAXUINT32);
  g_assert_cmpuint ((divisor * 65535 + divisor / 2 + more) * factor / unit, ==, 65535);
}

static void
test_factors (void)
{
  for (guint64 radius = 0; radius <= 2000; radius++)
    {
      if (radius > 0)
        check_factor (2 * radius + 1);
      for (guint64 fraction = 0; fraction < 16; fraction++)
        check_factor (16 * (2 * radius + 1) + 2 * fraction);
    }
}

static void
test_premultiply (void)
{
  for (guint32 a = 0; a <= 255; a++)
    for (guint32 c = 0; c <= 255; c++)
      {
        guint32 t = c * (a * 66049u) + 32768u;
        t += t >> 16;
        g_assert_cmpuint (t >> 16, ==, sb_premultiply (257 * c, 257 * a));
      }
}

/* a * b + c, exact in a double, rounded towards zero. */
static gfloat
fma_to_zero (gfloat a, gfloat b, gfloat c)
{
  const gdouble exact = (gdouble)a * b + c;
  const gfloat nearest = (gfloat)exact;
  return nearest > exact ? nextafterf (nearest, 0) : nearest;
}

/* The factor may be off by two units of its last place, as the device's division is. */
static void
test_unpremultiply (void)
{
  for (guint32 a = 1; a <= 65535; a += a < 600 || a >= 65500 ? 1 : 211)
    for (gint off = -2; off <= 2; off++)
      {
        const gfloat factor = float_of (bits_of ((gfloat)(255.0 * 0x1p119 / a)) + (guint32)off);
        for (guint32 p = 0; p <= a; p++)
          {
            const gfloat x
                = fma_to_zero (float_of (p), factor, (32768.0f + 0.5f - 1.0f / 256) * 0x1p-30f);
            const guint32 q = bits_of (x) >> 8 & 255;
            const gint32 less = (gint32)(510 * p - a - 2 * a * q);
            const guint32 got = less < 0 ? q : q + 1;
            if (got != sb_round_to_8 (sb_unpremultiply (p, a)))
              g_error ("%u by %u, factor off by %d: %u", p, a, off, got);
          }
      }
}

/* A step of a table of codes, and eight times the code plus what is left to the step. */
static void
test_ramps (void)
{
  for (guint32 code = 0; code <= 255; code++)
    for (guint32 step = 1; step <= 8; step++)
      for (guint32 low = 0; low < 8; low++)
        g_assert_cmpuint ((code * 8 + 8 - step + low) >> 3, ==, code + (low >= step ? 1 : 0));
}

static guint32
divide_65535 (guint32 x)
{
  const guint32 t = x + 32768;
  return (t + (t >> 16)) >> 16;
}

/* Between opaque pixels: a quotient by 65535, on both sides of every step. */
static void
test_divide (void)
{
  for (guint64 q = 0; q <= 65535; q++)
    {
      const guint64 first = q == 0 ? 0 : q * 65535 - 32767, last = MIN (q, 65534) * 65535 + 32767;
      g_assert_cmpuint (divide_65535 ((guint32)first), ==, q);
      g_assert_cmpuint (divide_65535 ((guint32)(q == 65535 ? q * q : last)), ==, q);
    }
}

/* The kernels' way between two pixels of any alpha, with a reciprocal that is off by more than a
 * device's. */
static guint32
mix (guint32 ci, guint32 co, guint32 wi, guint32 wo, gfloat inverse)
{
  const guint32 total = wi + wo;
  const gfloat about = ((gfloat)ci * (gfloat)wi + (gfloat)co * (gfloat)wo) * inverse;
  const guint32 q = bits_of (about + 8388608.0f) & 0x7fffff;
  const gint64 rest
      = (gint64)((guint64)ci * wi + (guint64)co * wo + total / 2) - (gint64)((guint64)q * total);
  return q + (rest < 0 ? -1u : rest >= (gint64)total ? 1u : 0u);
}

static void
test_mix (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  static const guint32 edges[] = { 0, 1, 2, 32767, 32768, 65534, 65535 };

  for (guint i = 0; i < 3000000; i++)
    {
      guint32 v[5];
      for (guint k = 0; k < G_N_ELEMENTS (v); k++)
        {
          const guint32 r = g_rand_int (rand);
          v[k] = r & 0x70000 ? r & 65535 : edges[(r & 65535) % G_N_ELEMENTS (edges)];
        }
      const guint32 wi = v[1] * (65535 - v[4]), wo = v[3] * v[4], total = wi + wo;
      if (total == 0)
        continue;
      guint16 alpha;
      const guint16 expected = sb_blend (v[0], v[1], v[2], v[3], v[4], &alpha);
      g_assert_cmpuint (alpha, ==, divide_65535 (total));
      for (int off = -4; off <= 4; off++)
        {
          const gfloat inverse = float_of (bits_of (1.0f / (gfloat)total) + (guint32)off);
          const guint32 got = mix (v[0], v[2], wi, wo, inverse);
          if (got != expected)
            g_error ("%u, %u and %u, %u by %u, reciprocal off by %d: %u", v[0], v[1], v[2], v[3],
                     v[4], off, got);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cuda-arithmetic/floats", test_floats);
  g_test_add_func ("/cuda-arithmetic/factors", test_factors);
  g_test_add_func ("/cuda-arithmetic/premultiply", test_premultiply);
  g_test_add_func ("/cuda-arithmetic/unpremultiply", test_unpremultiply);
  g_test_add_func ("/cuda-arithmetic/ramps", test_ramps);
  g_test_add_func ("/cuda-arithmetic/divide", test_divide);
  g_test_add_func ("/cuda-arithmetic/mix", test_mix);
  return g_test_run ();
}
