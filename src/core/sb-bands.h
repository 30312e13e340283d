/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"

G_BEGIN_DECLS

/* What an edit of bands asks for, as its kernels take it; the arithmetic is in sb-haar-arith.h.
 * Inline, so that a module can use it. */

/* Of H (1), V (2) or D (3), as SbHaarOrientation counts, at level 1 .. 20. */
static inline float
sb_bands_gain (const SbEdit *edit, guint level, guint orientation)
{
  const guint of_level = SB_BANDS_GAIN + level - 1;

  return (float)(edit->values[of_level]
                 * edit->values[of_level + SB_BANDS_MAX_LEVELS * orientation]);
}

/* The threshold for our coefficients at a level, those of the 16-bit picture: t * 257 / 2^level,
 * computed in double, rounded once. */
static inline float
sb_bands_threshold (const SbEdit *edit, guint level)
{
  return (float)(edit->values[SB_BANDS_THRESHOLD] * 257 / (double)(1u << level));
}

/* Whether anything happens to the details of a level. */
static inline gboolean
sb_bands_acts_on (const SbEdit *edit, guint level)
{
  for (guint orientation = 1; orientation <= 3; orientation++)
    if (sb_bands_gain (edit, level, orientation) != 1)
      return TRUE;
  return edit->values[SB_BANDS_THRESHOLD] > 0;
}

G_END_DECLS
