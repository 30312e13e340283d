/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-subband-map.h"

#include <math.h>

void
sb_subband_map_init (SbSubbandMap *map, guint width, guint height, guint levels,
                     SbHaarLayout layout)
{
  *map = (SbSubbandMap){ .width = width, .height = height, .levels = levels, .layout = layout };
  if (width == 0 || height == 0)
    return;
  map->n_cells = sb_haar_n_bands (levels);
  sb_haar_mosaic (width, height, levels, layout, &map->columns, &map->rows, map->cells);
}

void
sb_subband_map_get_box (const SbSubbandMap *map, guint cell, double *x, double *y, double *width,
                        double *height)
{
  const SbHaarCell *box = &map->cells[cell];

  *x = box->x;
  *y = box->y;
  *width = box->columns * box->scale;
  *height = box->rows * box->scale;
  if (map->layout == SB_HAAR_GRID)
    {
      *width = MIN (*width, sb_haar_side (map->width, 1));
      *height = MIN (*height, sb_haar_side (map->height, 1));
    }
}

gboolean
sb_subband_map_hit (const SbSubbandMap *map, double x, double y, SbCoefficient *coefficient)
{
  for (guint i = 0; i < map->n_cells; i++)
    {
      double left, top, width, height;

      sb_subband_map_get_box (map, i, &left, &top, &width, &height);
      if (x < left || y < top || x >= left + width || y >= top + height)
        continue;
      const double column = floor ((x - left) / map->cells[i].scale);
      const double row = floor ((y - top) / map->cells[i].scale);
      *coefficient = (SbCoefficient){ i, (guint)column, (guint)row };
      return TRUE;
    }
  return FALSE;
}

gboolean
sb_subband_map_cover (const SbSubbandMap *map, guint cell, double x, double y,
                      SbCoefficient *coefficient)
{
  if (cell >= map->n_cells || x < 0 || y < 0 || x >= map->width || y >= map->height)
    return FALSE;
  const guint level = map->cells[cell].band.level;
  *coefficient = (SbCoefficient){ cell, (guint)x >> level, (guint)y >> level };
  return TRUE;
}

SbRect
sb_subband_map_get_area (const SbSubbandMap *map, SbCoefficient coefficient)
{
  const guint level = map->cells[coefficient.cell].band.level;
  const gint64 side = G_GINT64_CONSTANT (1) << level;
  const gint64 x = coefficient.column * side, y = coefficient.row * side;

  return (SbRect){ (int)x, (int)y, (int)(MIN (x + side, map->width) - x),
                   (int)(MIN (y + side, map->height) - y) };
}

void
sb_subband_map_to_picture (const SbSubbandMap *map, guint cell, double *x, double *y)
{
  const SbHaarCell *box = &map->cells[cell];
  const double side = ldexp (1, (int)box->band.level) / box->scale;

  *x = (*x - box->x) * side;
  *y = (*y - box->y) * side;
}

void
sb_subband_map_from_picture (const SbSubbandMap *map, guint cell, double *x, double *y)
{
  const SbHaarCell *box = &map->cells[cell];
  const double side = ldexp (1, (int)box->band.level) / box->scale;

  *x = box->x + *x / side;
  *y = box->y + *y / side;
}

guint
sb_subband_map_step (const SbSubbandMap *map, guint cell, int dx, int dy)
{
  double x, y, width, height, best = HUGE_VAL;
  guint found = cell;

  sb_subband_map_get_box (map, cell, &x, &y, &width, &height);
  for (guint i = 0; i < map->n_cells; i++)
    {
      double left, top, columns, rows;

      sb_subband_map_get_box (map, i, &left, &top, &columns, &rows);
      /* From edge to edge along the way, from side to side across it. */
      const double along = dx > 0   ? left - (x + width)
                           : dx < 0 ? x - (left + columns)
                           : dy > 0 ? top - (y + height)
                                    : y - (top + rows);
      const double across = dx != 0 ? MAX (top - (y + height), y - (top + rows))
                                    : MAX (left - (x + width), x - (left + columns));
      /* Of those that are as near the largest: what is finest. */
      const double distance = along + 4 * MAX (across, -0.5) - columns * rows * 1e-12;
      if (i != cell && along >= 0 && across < 0 && distance < best)
        {
          best = distance;
          found = i;
        }
    }
  return found;
}
