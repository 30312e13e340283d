/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-engine.h"

G_BEGIN_DECLS

/* Where the subbands of a picture lie on their mosaic, and which pixels of the picture a
 * coefficient stands for: plain arithmetic, no widgets. Cells are numbered as sb_haar_nth_band()
 * does. */
typedef struct
{
  guint width, height; /* of the picture; 0: there is none */
  guint levels;
  SbHaarLayout layout;
  guint columns, rows; /* of the mosaic, in its points */
  guint n_cells;
  SbHaarCell cells[1 + 3 * SB_HAAR_MAX_LEVELS];
} SbSubbandMap;

/* A coefficient by its cell and index. */
typedef struct
{
  guint cell, column, row;
} SbCoefficient;

void sb_subband_map_init (SbSubbandMap *map, guint width, guint height, guint levels,
                          SbHaarLayout layout);
/* The part of the mosaic that a cell takes, in points. */
void sb_subband_map_get_box (const SbSubbandMap *map, guint cell, double *x, double *y,
                             double *width, double *height);
/* The coefficient at a point of the mosaic; FALSE in the gaps and outside. */
gboolean sb_subband_map_hit (const SbSubbandMap *map, double x, double y,
                             SbCoefficient *coefficient);
/* The coefficient of a cell that stands for a point of the picture; FALSE outside the picture. */
gboolean sb_subband_map_cover (const SbSubbandMap *map, guint cell, double x, double y,
                               SbCoefficient *coefficient);
/* The pixels that a coefficient stands for. */
SbRect sb_subband_map_get_area (const SbSubbandMap *map, SbCoefficient coefficient);
/* A point of the mosaic as a point of the picture, as the cell counts, and back; both go on beyond
 * the cell's edges. */
void sb_subband_map_to_picture (const SbSubbandMap *map, guint cell, double *x, double *y);
void sb_subband_map_from_picture (const SbSubbandMap *map, guint cell, double *x, double *y);
/* The cell beside one, dx and dy being -1, 0 or 1; the same where there is none. */
guint sb_subband_map_step (const SbSubbandMap *map, guint cell, int dx, int dy);

G_END_DECLS
