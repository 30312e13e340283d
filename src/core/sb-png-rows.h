/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-image.h"

G_BEGIN_DECLS

/* One of the reduced pictures that an interlaced PNG is made of: every step_x-th pixel of every
 * step_y-th row, from (x, y) on. */
typedef struct
{
  guint x, y, step_x, step_y;
  guint width;
  guint first, n_rows; /* among all rows */
} SbPngPass;

/* Rows of a picture as a PNG stores them: samples packed to RGB or RGBA, 8 or 16 bits, big-endian,
 * each row with the filter that suits it best (PNG 3rd edition, 9); interlaced (8.2) pass after
 * pass, those without pixels left out. Read-only once made: any number of threads may filter rows
 * at a time. */
typedef struct
{
  SbImage *image; /* borrowed */
  guint depth;    /* of the file, 8 or 16 */
  gboolean opaque;
  gboolean dither;
  guint bpp; /* bytes a pixel in the file: 3, 4, 6 or 8 */
  SbPngPass passes[7];
  guint n_passes;
  guint n_rows;
} SbPngRows;

/* depth: 8, 16, or 0 for the image's own. Alpha is left out of an opaque picture. dither: see
 * SbSaveOptions. */
void sb_png_rows_init (SbPngRows *rows, SbImage *image, guint depth, gboolean dither,
                       gboolean interlace);
/* The bytes of one row with the number of its filter. */
gsize sb_png_rows_bytes (const SbPngRows *rows, guint row);
/* Writes n rows from row `first` on, one after the other. FALSE when there is no memory. */
gboolean sb_png_rows_filter (const SbPngRows *rows, guint first, guint n, guint8 *to);

G_END_DECLS
