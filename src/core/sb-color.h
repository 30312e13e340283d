/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How colours of a picture look on an sRGB screen: a curve for each channel, a table over R, G, B
 * behind it, and one more curve behind that, made once from the picture's profile by lcms2
 * (relative colorimetric with black point compensation).
 *
 * The first curves have SB_COLOR_CURVE points evenly from 0 to 65535, linear between them. Of a
 * profile that is curves and a matrix they are its own, from code to light; then the table is what
 * the matrix is, linear, and interpolating it is exact. Of others they spread dark tones as sRGB
 * does.
 *
 * What comes out of them goes into the table, SB_COLOR_GRID points each way, evenly from 0 to
 * 65535, interpolated in the tetrahedron that the colour lies in, so that greys stay neutral where
 * the table's are: with x the position in cells, i = min (floor (x), SB_COLOR_GRID - 2) and f = x -
 * i for each channel, the walk from corner i to i + 1 of all three goes first along the channel
 * with the greatest f, then the middle, then the least (which of equal ones comes first makes no
 * difference), and
 *
 *   out = p0 (1 - f1) + p1 (f1 - f2) + p2 (f2 - f3) + p3 f3.
 *
 * That is light on an sRGB screen, and below 0 or above 1 where a colour is none of sRGB's: cut off
 * before it is interpolated, all colours near it would be wrong. The last curve, of SB_COLOR_ENCODE
 * points and linear between them, at out / 16, cuts it off and brings it to sRGB's code; 0 is one
 * of its points. It follows the first curves in memory. */
#define SB_COLOR_CURVE  1025
#define SB_COLOR_GRID   33
#define SB_COLOR_ENCODE 4097

typedef struct
{
  gatomicrefcount references;
  guint16 curves[3][SB_COLOR_CURVE];
  guint16 encode[SB_COLOR_ENCODE];
  /* [r][g][b][c]: places on the last curve, times 16; the fourth is there for alignment. */
  guint16 points[SB_COLOR_GRID][SB_COLOR_GRID][SB_COLOR_GRID][4] __attribute__ ((aligned (16)));
  /* Where the table is linear, the same in fewer steps: a place on the last curve is matrix[c][0] r
   * + matrix[c][1] g + matrix[c][2] b + matrix[c][3] of what comes out of the first ones. */
  gboolean is_matrix;
  float matrix[3][4];
} SbColorTable;

/* NULL where nothing has to be done: no profile, one that amounts to sRGB (no point farther off
 * than a quarter of an 8-bit level), or one that cannot be used. Takes some milliseconds. */
SbColorTable *sb_color_table_new (GBytes *profile) G_GNUC_WARN_UNUSED_RESULT;
SbColorTable *sb_color_table_ref (SbColorTable *table) G_GNUC_WARN_UNUSED_RESULT;
void sb_color_table_unref (SbColorTable *table); /* NULL: nothing happens */
/* One colour by the table; in and out 0 .. 65535, rounded half up. The definition that kernels
 * follow, in float and within one level of 255. */
void sb_color_table_apply (const SbColorTable *table, const guint16 in[3], guint16 out[3]);

G_END_DECLS
