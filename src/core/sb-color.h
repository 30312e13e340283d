/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How colours of a picture look on an sRGB screen: a table over its encoded R, G, B with
 * SB_COLOR_GRID points each way, evenly from 0 to 65535, made once from the picture's profile by
 * lcms2 (relative colorimetric with black point compensation). Between points it is interpolated in
 * the tetrahedron the colour lies in, so that greys stay neutral where the table's are. */
#define SB_COLOR_GRID 33

typedef struct
{
  gatomicrefcount references;
  /* [r][g][b][c]: 65535 is 1; the fourth is there for alignment. */
  guint16 points[SB_COLOR_GRID][SB_COLOR_GRID][SB_COLOR_GRID][4];
} SbColorTable;

/* NULL where nothing has to be done: no profile, one that amounts to sRGB (no point farther off
 * than a quarter of an 8-bit level), or one that cannot be used. Takes some milliseconds. */
SbColorTable *sb_color_table_new (GBytes *profile) G_GNUC_WARN_UNUSED_RESULT;
SbColorTable *sb_color_table_ref (SbColorTable *table) G_GNUC_WARN_UNUSED_RESULT;
void sb_color_table_unref (SbColorTable *table); /* NULL: nothing happens */
/* One colour by the table; in and out 0 .. 65535. The definition that kernels follow, in float. */
void sb_color_table_apply (const SbColorTable *table, const guint16 in[3], guint16 out[3]);

G_END_DECLS
