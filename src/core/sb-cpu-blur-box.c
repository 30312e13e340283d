/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-blur.h"

extern const SbBlurKernels sb_blur_kernels_base;
#if defined(__x86_64__)
extern const SbBlurKernels sb_blur_kernels_avx2, sb_blur_kernels_avx512;
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
