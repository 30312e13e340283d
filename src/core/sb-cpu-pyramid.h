/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur.h"

G_BEGIN_DECLS

/* A picture at half its size, a quarter, and so on: level L has ceil (side / 2^L) pixels a side,
 * and pixel (i, j) is the mean of what the picture has in columns i 2^L .. (i + 1) 2^L - 1 and rows
 * likewise, premultiplied; at the right and bottom edge that may be fewer columns or rows, and they
 * weigh what they cover. Each level is rounded once to 16 bits (level 1 of an opaque 8-bit picture
 * to 8, which is half a level at most, and level 2 of it comes from the picture itself). */

#define SB_PYRAMID_MAX_LEVEL 20

typedef struct
{
  guint width, height;
  guint depth; /* 8 (opaque) or 16 */
  gsize stride;
  guint8 *pixels; /* NULL: this level is not there */
  gsize bytes;
} SbLevel;

typedef struct
{
  guint width, height; /* of the picture */
  guint n_levels;      /* levels 1 .. n_levels of a pyramid for the display */
  SbLevel levels[SB_PYRAMID_MAX_LEVEL + 1];
} SbPyramid;

void sb_pyramid_clear (SbPyramid *pyramid);
/* Nothing of it is valid any more, but its memory stays to be used again. */
void sb_pyramid_invalidate (SbPyramid *pyramid);

/* All levels down to 32 pixels a side, in the picture's encoded space, for the display. Memory of
 * an earlier build of the same size is used again. SB_ERROR_OUT_OF_MEMORY, G_IO_ERROR_CANCELLED:
 * the pyramid is then invalid. */
gboolean sb_pyramid_build (SbPyramid *pyramid, const SbSource *picture, SbParallel *parallel,
                           GCancellable *cancellable, GError **error);
/* Makes sure that `level` is there at 16 bits, decoded by `tone` first (NULL: not at all), and
 * gives it as a source of SB_PIXELS_WORK. A pyramid is for one picture and one tone until
 * invalidated. */
gboolean sb_pyramid_get_work (SbPyramid *pyramid, const SbSource *picture, const SbTone *tone,
                              guint level, SbSource *source, SbParallel *parallel,
                              GCancellable *cancellable, GError **error);

G_END_DECLS
