/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-blur-bytes.h"
#include "sb-kernel-blur.h"

#include <math.h>

extern const SbBlurKernels sb_blur_kernels_base;
#if defined(__x86_64__)
extern const SbBlurKernels sb_blur_kernels_avx2, sb_blur_kernels_avx512;
extern const SbBytesKernels sb_bytes_kernels_avx2, sb_bytes_kernels_avx512;
#endif

const SbBlurKernels *
sb_blur_kernels (void)
{
  switch (sb_isa_get ())
    {
#if defined(__x86_64__)
    case SB_ISA_AVX512:
      return &sb_blur_kernels_avx512;
    case SB_ISA_AVX2:
      return &sb_blur_kernels_avx2;
#endif
    default:
      return &sb_blur_kernels_base;
    }
}

const SbBytesKernels *
sb_bytes_kernels (void)
{
  switch (sb_isa_get ())
    {
#if defined(__x86_64__)
    case SB_ISA_AVX512:
      return &sb_bytes_kernels_avx512;
    case SB_ISA_AVX2:
      return &sb_bytes_kernels_avx2;
#endif
    default:
      return NULL;
    }
}

static guint
greatest_common_divisor (guint a, guint b)
{
  while (b != 0)
    {
      const guint rest = a % b;
      a = b;
      b = rest;
    }
  return a;
}

/* Turns the float method into the one on bits, where M can be had and the reciprocal is good
 * enough: its error counts M + N times here, and may not reach half a unit of N. bound: of |N|. */
static void
use_bits (SbBox *box, gint32 divisor, gint32 bound)
{
  const gint32 low = 1 << 23, units = (low + bound + divisor - 1) / divisor;
  const gint64 m = (gint64)units * divisor;
  const double error = (double)box->inverse * divisor - 1;

  if (m + bound >= 2 * low || (error < 0 ? -error : error) * (double)(m + bound) >= 0.499)
    return;
  box->method = SB_BOX_FLOAT_BITS;
  box->offset += 0x4b000000 + (gint32)(m - low); /* the bits of 2^23 as a float, and so on */
  box->addend = (float)(3 << 22) - (float)units + (box->to_8 ? 128 : 0);
}

gboolean
sb_box_init (SbBox *box, guint radius16, gboolean to_8, SbBoxLimits limits)
{
  const guint k = radius16 % 16, g = greatest_common_divisor (16, k);
  const guint32 radius = radius16 / 16, inner = 16 / g, outer = k / g;
  const guint32 d = inner * (2 * radius + 1) + 2 * outer;
  const gboolean odd = k == 0;

  g_return_val_if_fail (radius16 > 0 && radius16 <= 16 * SB_MAX_RADIUS, FALSE);

  *box = (SbBox){ .radius = (gint32)radius, .fractional = k > 0, .to_8 = to_8 };
  if (to_8 && d > (odd ? limits.to_8_odd : limits.to_8_even))
    return FALSE;
  if (to_8 || d <= limits.to_16)
    {
      /* To 8 bits the samples count from 128 * 257 = 32896 rather than from 32768. */
      const gint32 scale = odd ? 1 : 2;
      box->method = SB_BOX_FLOAT;
      box->inner = scale * (gint32)inner;
      box->outer = scale * (gint32)outer;
      box->offset = (to_8 ? -128 * scale * (gint32)d : 0) + (scale - 1);
      box->inverse = (float)(1.0 / ((to_8 ? 257.0 : 1.0) * scale * d));
      if (limits.bits)
        use_bits (box, (to_8 ? 257 : 1) * scale * (gint32)d,
                  (to_8 ? 32896 : 32768) * scale * (gint32)d + 1);
      return TRUE;
    }

  const guint32 divisor = odd ? d : d / 2;
  guint32 s = 31 - (guint32)__builtin_clz (divisor);
  if ((divisor & (divisor - 1)) == 0)
    s--; /* keeps the multiplier within 32 bits; no quotient is lost, it is a plain shift */
  box->method = odd ? SB_BOX_INTEGER : SB_BOX_INTEGER_EVEN;
  box->inner = (gint32)inner;
  box->outer = (gint32)outer;
  box->offset = (gint32)(32768u * d + d / 2); /* d / 2 is (d - 1) / 2 where d is odd */
  box->shift = s;
  box->multiplier = (guint32)((((guint64)1 << (32 + s)) + divisor - 1) / divisor);
  return TRUE;
}

/* --- Bytes ----------------------------------------------------------------------------------- */

/* A quotient N * a / d by the bits of a float M + N: (M + N) * inverse, where inverse is
 * (a + error) / d, is a whole number besides N * a / d if a * M + error * (M + N) is a multiple of
 * d. It cannot be for every N, but M can be chosen so that what it lacks stays below a half, the
 * distance of N * a to the nearest halfway point, d being odd. */
typedef struct
{
  gint64 a, d;
  gint64 least, most; /* of N */
  gint64 unit;        /* what the whole number has to be a multiple of, a power of two */
  gint64 m, whole;    /* M, from a least one on; the whole number */
} Tuning;

static gboolean
tune (Tuning *t, float inverse)
{
  const double error = (double)inverse * (double)t->d - (double)t->a; /* exact: 41 bits at most */
  const double middle = (double)(t->least + t->most) / 2;
  const double spread = fabs (error) * (double)(t->most - t->least) / 2;
  const gint64 modulus = t->d * t->unit;
  const gint64 wanted = (gint64)nearbyint (error * ((double)t->m + middle));
  gint64 rest = (t->a * t->m + wanted) % modulus;

  if (t->a == 1)
    t->m += (modulus - rest) % modulus;
  else
    for (gint64 turns = modulus; rest != 0 && turns > 0; turns--, t->m++)
      rest = (rest + t->a) % modulus;
  t->whole = (t->a * t->m + wanted) / t->d;
  return (t->a * t->m + wanted) % modulus == 0 && t->m + t->most < 1 << 24
         && fabs (error * ((double)t->m + middle) - (double)wanted) + spread < 0.499;
}

gboolean
sb_bytes_box_init (SbBytesBox *box, guint radius)
{
  const gint64 w = 2 * (gint64)radius + 1;
  const gint32 float_bits = 0x4b000000; /* of 2^23 */

  g_return_val_if_fail (radius > 0 && radius <= SB_MAX_RADIUS, FALSE);

  /* Rows. What is added to the product is a float too: where the whole part has more than 24 bits,
   * it must end in zeros. */
  Tuning rows = { .a = 257, .d = w, .most = 255 * w, .unit = 1 };
  gboolean found = FALSE;
  while (rows.unit * w < 257)
    rows.unit *= 2;
  *box = (SbBytesBox){ .radius = (gint32)radius, .row_inverse = (float)(257.0 / (double)w) };
  for (gint64 m = 1 << 23; m < 1 << 24 && !found && w < 257; m += 65536)
    {
      rows.m = m;
      found = tune (&rows, box->row_inverse) && rows.m % 65536 + rows.most < 65536;
    }
  if (!found)
    return FALSE;
  box->row_offset = float_bits + (gint32)(rows.m - (1 << 23));
  box->row_addend = (float)((3 << 22) + 32768 - rows.whole);

  /* Columns, from the middle of the range: N - 32896 w, of biased samples N - 128 w. */
  Tuning columns = { .a = 1, .d = 257 * w, .least = -32896 * w, .most = 32896 * w, .unit = 1 };
  columns.m = (1 << 23) + columns.most;
  box->inverse = (float)(1 / (257.0 * (double)w));
  box->bits = tune (&columns, box->inverse);
  if (!box->bits)
    {
      const double error = (double)box->inverse * (double)columns.d - 1;
      if (columns.most >= 1 << 24 || fabs (error) * (double)columns.most > 0.499)
        return FALSE;
      columns.m = columns.whole = 0;
    }
  box->offset = (box->bits ? float_bits + (gint32)(columns.m - (1 << 23)) : 0) - 128 * (gint32)w;
  box->low_addend = (float)((3 << 22) + 128 - columns.whole);
  box->high_addend = (float)((3 << 14) + 128 - (double)columns.whole + 0.5);
  return TRUE;
}
