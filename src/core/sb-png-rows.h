/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-image.h"

G_BEGIN_DECLS

/* Rows of a picture as a PNG stores them: samples packed to RGB or RGBA, 8 or 16 bits, big-endian,
 * each row with the filter that suits it best (PNG 3rd edition, 9). Read-only once made: any number
 * of threads may filter rows at a time. */
typedef struct
{
  SbImage *image; /* borrowed */
  guint depth;    /* of the file, 8 or 16 */
  gboolean opaque;
  guint bpp; /* bytes a pixel in the file: 3, 4, 6 or 8 */
  gsize row_bytes;
} SbPngRows;

/* depth: 8, 16, or 0 for the image's own. Alpha is left out of an opaque picture. */
void sb_png_rows_init (SbPngRows *rows, SbImage *image, guint depth);
/* Writes n rows from row `first` on: n * (row_bytes + 1) bytes. FALSE when there is no memory. */
gboolean sb_png_rows_filter (const SbPngRows *rows, guint first, guint n, guint8 *to);

G_END_DECLS
