/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"
#include "sb-subband-map.h"
#include "sb-view-range.h"
#include "sb-viewport.h"

#include <math.h>

/* Numbers that come out exactly in binary are compared exactly. */

static SbViewport
make (guint picture_width, guint picture_height, int width, int height)
{
  SbViewport viewport = { .zoom = 1, .fitted = TRUE };

  sb_viewport_resize (&viewport, width, height);
  sb_viewport_set_picture (&viewport, picture_width, picture_height);
  return viewport;
}

static void
test_fit (void)
{
  SbViewport viewport = make (6000, 4000, 1500, 800);

  g_assert_true (viewport.fitted);
  g_assert_cmpfloat (viewport.zoom, ==, 0.2); /* 800 of 4000 rows */
  g_assert_cmpfloat (viewport.y, ==, 0);
  g_assert_cmpfloat (viewport.x, ==, -750); /* 1200 of 1500 columns, in the middle */
  g_assert_false (sb_viewport_is_scrollable (&viewport));

  sb_viewport_resize (&viewport, 750, 800); /* follows */
  g_assert_cmpfloat (viewport.zoom, ==, 0.125);
  g_assert_cmpfloat (viewport.x, ==, 0);
  g_assert_cmpfloat (viewport.y, ==, -1200);

  /* A small picture is not enlarged. */
  viewport = make (100, 50, 1000, 800);
  g_assert_cmpfloat (viewport.zoom, ==, 1);
  g_assert_cmpfloat (viewport.x, ==, -450);
  g_assert_cmpfloat (viewport.y, ==, -375);

  /* Before there is a canvas, and without a picture. */
  viewport = make (100, 50, 0, 0);
  g_assert_cmpfloat (viewport.zoom, ==, 1);
  viewport = make (0, 0, 640, 480);
  g_assert_cmpfloat (viewport.zoom, ==, 1);
  g_assert_false (sb_viewport_is_scrollable (&viewport));
}

static void
test_zoom (void)
{
  SbViewport viewport = make (6000, 4000, 1500, 1000);

  g_assert_cmpfloat (viewport.zoom, ==, 0.25);
  /* The point under (300, 200) is (1200, 800), and stays there. */
  sb_viewport_zoom_at (&viewport, 1, 300, 200);
  g_assert_false (viewport.fitted);
  g_assert_cmpfloat (viewport.x, ==, 900);
  g_assert_cmpfloat (viewport.y, ==, 600);
  sb_viewport_zoom_at (&viewport, 8, 300, 200);
  g_assert_cmpfloat (viewport.x, ==, 1200 - 37.5);
  g_assert_cmpfloat (viewport.y, ==, 800 - 25);
  sb_viewport_zoom_at (&viewport, 0.25, 300, 200);
  g_assert_cmpfloat (viewport.x, ==, 0);
  g_assert_cmpfloat (viewport.y, ==, 0);

  /* Limits. */
  sb_viewport_zoom_at (&viewport, 1000, 0, 0);
  g_assert_cmpfloat (viewport.zoom, ==, SB_VIEWPORT_MAX_ZOOM);
  sb_viewport_zoom_at (&viewport, 0.0001, 0, 0);
  g_assert_cmpfloat (viewport.zoom, ==, 0.1);
  viewport = make (60000, 200, 600, 600); /* fits at less than that */
  sb_viewport_zoom_at (&viewport, 0.0001, 0, 0);
  g_assert_cmpfloat (viewport.zoom, ==, 0.01);
  viewport = make (3, 2, 600, 600); /* is never lost */
  sb_viewport_zoom_at (&viewport, 0.0001, 0, 0);
  g_assert_cmpfloat (viewport.zoom, ==, 1);
  viewport = make (32, 2, 600, 600);
  sb_viewport_zoom_at (&viewport, 0.0001, 0, 0);
  g_assert_cmpfloat (viewport.zoom, ==, 0.5);
}

static void
test_pan (void)
{
  SbViewport viewport = make (4000, 200, 1000, 500);

  sb_viewport_zoom_at (&viewport, 2, 0, 0);
  g_assert_true (sb_viewport_is_scrollable (&viewport));
  sb_viewport_pan (&viewport, 100, 30);
  g_assert_cmpfloat (viewport.x, ==, 50);
  g_assert_cmpfloat (viewport.y, ==, -25); /* 400 of 500 rows: in the middle, and stays there */
  sb_viewport_pan (&viewport, -1000, -1000);
  g_assert_cmpfloat (viewport.x, ==, 0);
  sb_viewport_pan (&viewport, 1e6, 1e6);
  g_assert_cmpfloat (viewport.x, ==, 3500);
  g_assert_cmpfloat (viewport.y, ==, -25);

  /* Made larger, the canvas keeps its middle as far as there is picture. */
  sb_viewport_pan (&viewport, -2000, 0);
  g_assert_cmpfloat (viewport.x, ==, 2500);
  sb_viewport_resize (&viewport, 1200, 300);
  g_assert_cmpfloat (viewport.x, ==, 2450);
  g_assert_cmpfloat (viewport.y, ==, 25);
  g_assert_cmpfloat (viewport.zoom, ==, 2);
}

static void
test_whole_pixels (void)
{
  SbViewport viewport = make (1001, 777, 400, 300);
  double x, y;

  for (guint i = 0; i < 500; i++)
    {
      sb_viewport_zoom_at (&viewport, 0.4 + 0.037 * i, 17 * i % 400, 13 * i % 300);
      sb_viewport_pan (&viewport, 0.37 * i, -0.21 * i);
      sb_viewport_get_origin (&viewport, &x, &y);
      g_assert_cmpfloat (fabs (x * viewport.zoom - round (x * viewport.zoom)), <, 1e-9);
      g_assert_cmpfloat (fabs (y * viewport.zoom - round (y * viewport.zoom)), <, 1e-9);
      g_assert_cmpfloat (fabs (x - viewport.x) * viewport.zoom, <=, 0.5 + 1e-9);
      /* Covered, or centred. */
      if (1001 * viewport.zoom >= 400)
        {
          g_assert_cmpfloat (viewport.x, >=, 0);
          g_assert_cmpfloat (viewport.x + 400 / viewport.zoom, <=, 1001 + 1e-9);
        }
    }
}

/* However thin, a picture has a row of device pixels. */
static void
test_thin (void)
{
  for (guint height = 1; height <= 4; height++)
    for (guint i = 0; i < 300; i++)
      {
        const int size = 200 + (int)i;
        SbViewport viewport = make (3000, height, size, size);
        int start, end;
        double x, y;

        sb_viewport_get_origin (&viewport, &x, &y);
        sb_view_range (y, viewport.zoom, size, 0, height, &start, &end);
        g_assert_cmpint (end, ==, start + 1);
        g_assert_cmpint (ABS (2 * start + 1 - size), <=, 1); /* in the middle */
        sb_view_range (x, viewport.zoom, size, 0, 3000, &start, &end);
        g_assert_cmpint (start, ==, 0);
        g_assert_cmpint (end, ==, size);

        viewport = make (height, 3000, size, size);
        sb_viewport_get_origin (&viewport, &x, &y);
        sb_view_range (x, viewport.zoom, size, 0, height, &start, &end);
        g_assert_cmpint (end, ==, start + 1);
      }
}

/* Of a mosaic that is seen as a thread, it is the finest bands. */
static void
test_thin_mosaic (void)
{
  static const guint widths[] = { 1, 2, 3, 5, 8 };

  for (guint k = 0; k < G_N_ELEMENTS (widths); k++)
    for (int size = 200; size < 500; size++)
      {
        SbSubbandMap map;
        double left, top, columns, rows, x, y;
        int start, end;

        sb_subband_map_init (&map, widths[k], 4000, 5, SB_HAAR_PYRAMID);
        SbViewport viewport = make (map.columns, map.rows, size, size);
        viewport.mosaic = TRUE;
        sb_viewport_get_origin (&viewport, &x, &y);
        sb_subband_map_get_box (&map, map.n_cells - 1, &left, &top, &columns, &rows);
        sb_view_range (x, viewport.zoom, size, left, left + columns, &start, &end);
        g_assert_cmpint (end, >, start);
        /* And the pointer finds it there. */
        SbCoefficient found;
        const double at = sb_view_centre (x, viewport.zoom, start);
        g_assert_true (sb_subband_map_hit (&map, at, 0.75 * map.rows, &found));
        g_assert_cmpuint (found.cell, ==, map.n_cells - 1);

        viewport = make (map.rows, map.columns, size, size);
        viewport.mosaic = TRUE;
        sb_viewport_get_origin (&viewport, &x, &y);
        sb_view_range (y, viewport.zoom, size, left, left + columns, &start, &end);
        g_assert_cmpint (end, >, start);
      }
}

static void
test_put (void)
{
  SbViewport viewport = make (4000, 3000, 1000, 500);

  sb_viewport_put (&viewport, 2, 1000, 800, 250, 100);
  g_assert_false (viewport.fitted);
  g_assert_cmpfloat (viewport.zoom, ==, 2);
  g_assert_cmpfloat (viewport.x, ==, 875);
  g_assert_cmpfloat (viewport.y, ==, 750);
  sb_viewport_put (&viewport, 100, 3999, 2999, 0, 0); /* as far as it goes */
  g_assert_cmpfloat (viewport.zoom, ==, SB_VIEWPORT_MAX_ZOOM);
  g_assert_cmpfloat (viewport.x, ==, 3950);
  g_assert_cmpfloat (viewport.y, ==, 2975);

  /* Another size of much the same. */
  sb_viewport_put (&viewport, 2, 1000, 800, 250, 100);
  sb_viewport_change_picture (&viewport, 4001, 3002);
  g_assert_cmpfloat (viewport.zoom, ==, 2);
  g_assert_cmpfloat (viewport.x, ==, 875);
  sb_viewport_change_picture (&viewport, 1000, 900);
  g_assert_cmpfloat (viewport.x, ==, 500);
  sb_viewport_fit (&viewport);
  sb_viewport_change_picture (&viewport, 2000, 500);
  g_assert_cmpfloat (viewport.zoom, ==, 0.5);
  viewport = make (0, 0, 1000, 500);
  sb_viewport_change_picture (&viewport, 2000, 1000);
  g_assert_true (viewport.fitted);
  g_assert_cmpfloat (viewport.zoom, ==, 0.5);
}

/* --- The mosaic ------------------------------------------------------------------------------ */

/* Every coefficient is found at its place, and its pixels have it as theirs; together they cover
 * the picture once. */
static void
check_map (guint width, guint height, guint levels, SbHaarLayout layout)
{
  SbSubbandMap map;

  sb_subband_map_init (&map, width, height, levels, layout);
  g_assert_cmpuint (map.n_cells, ==, sb_haar_n_bands (levels));
  for (guint i = 0; i < map.n_cells; i++)
    {
      const SbHaarCell *cell = &map.cells[i];
      guint64 covered = 0;
      double left, top, columns, rows;

      sb_subband_map_get_box (&map, i, &left, &top, &columns, &rows);
      for (guint row = 0; row < cell->rows; row++)
        for (guint column = 0; column < cell->columns; column++)
          {
            const SbCoefficient one = { i, column, row };
            const SbRect area = sb_subband_map_get_area (&map, one);
            const double x = cell->x + (column + 0.25) * cell->scale;
            const double y = cell->y + (row + 0.25) * cell->scale;
            SbCoefficient found;

            covered += (guint64)area.width * area.height;
            if (x < left + columns && y < top + rows) /* not cut */
              {
                g_assert_true (sb_subband_map_hit (&map, x, y, &found));
                g_assert_cmpmem (&found, sizeof found, &one, sizeof one);
              }
            g_assert_true (sb_subband_map_cover (&map, i, area.x + area.width - 0.5,
                                                 area.y + area.height - 0.5, &found));
            g_assert_cmpmem (&found, sizeof found, &one, sizeof one);
          }
      g_assert_cmpuint (covered, ==, (guint64)width * height);

      double x = width / 3.0, y = height / 5.0;
      sb_subband_map_from_picture (&map, i, &x, &y);
      g_assert_cmpfloat_with_epsilon (
          x, cell->x + width / 3.0 / (1 << cell->band.level) * cell->scale, 1e-9);
      sb_subband_map_to_picture (&map, i, &x, &y);
      g_assert_cmpfloat_with_epsilon (x, width / 3.0, 1e-9);
      g_assert_cmpfloat_with_epsilon (y, height / 5.0, 1e-9);
    }
  SbCoefficient none;
  g_assert_false (sb_subband_map_hit (&map, -0.5, 0, &none));
  g_assert_false (sb_subband_map_hit (&map, map.columns, 0, &none));
  g_assert_false (sb_subband_map_cover (&map, 0, width, 0, &none));
  g_assert_false (sb_subband_map_cover (&map, map.n_cells, 0, 0, &none));
}

static void
test_map (void)
{
  static const guint sizes[][3]
      = { { 1, 1, 1 }, { 2, 1, 1 }, { 1, 7, 3 }, { 64, 64, 6 }, { 101, 37, 7 }, { 53, 97, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint levels = 1; levels <= sizes[i][2]; levels++)
      {
        check_map (sizes[i][0], sizes[i][1], levels, SB_HAAR_PYRAMID);
        check_map (sizes[i][0], sizes[i][1], levels, SB_HAAR_GRID);
      }

  SbSubbandMap map;
  sb_subband_map_init (&map, 0, 0, 5, SB_HAAR_PYRAMID);
  g_assert_cmpuint (map.n_cells, ==, 0);
  g_assert_cmpuint (map.columns, ==, 0);
}

static void
assert_step (const SbSubbandMap *map, const char *from, int dx, int dy, const char *to)
{
  SbHaarBand a, b;

  g_assert_true (sb_haar_band_parse (from, map->levels, &a, NULL));
  g_assert_true (sb_haar_band_parse (to, map->levels, &b, NULL));
  g_assert_cmpuint (sb_subband_map_step (map, sb_haar_band_index (map->levels, a), dx, dy), ==,
                    sb_haar_band_index (map->levels, b));
}

static void
test_steps (void)
{
  SbSubbandMap map;

  sb_subband_map_init (&map, 401, 301, 3, SB_HAAR_PYRAMID);
  assert_step (&map, "cA3", 1, 0, "cV3");
  assert_step (&map, "cV3", 1, 0, "cV2");
  assert_step (&map, "cV2", 1, 0, "cV1");
  assert_step (&map, "cV1", 1, 0, "cV1");
  assert_step (&map, "cV1", -1, 0, "cV2");
  assert_step (&map, "cH1", 1, 0, "cD1");
  assert_step (&map, "cD1", 0, -1, "cV1");
  assert_step (&map, "cA3", 0, 1, "cH3");
  assert_step (&map, "cH3", 0, 1, "cH2");
  assert_step (&map, "cA3", -1, 0, "cA3");

  sb_subband_map_init (&map, 401, 301, 3, SB_HAAR_GRID);
  assert_step (&map, "cH1", 0, 1, "cH2");
  assert_step (&map, "cH1", 1, 0, "cV1");
  assert_step (&map, "cH3", -1, 0, "cA3");
  assert_step (&map, "cD3", 1, 0, "cD3");

  /* From everywhere to everywhere, by some way or other. */
  for (guint layout = 0; layout < 2; layout++)
    {
      gboolean reached[1 + 3 * SB_HAAR_MAX_LEVELS] = { FALSE };

      sb_subband_map_init (&map, 401, 301, 5, (SbHaarLayout)layout);
      reached[map.n_cells - 1] = TRUE;
      for (guint n = 0; n < map.n_cells; n++)
        for (guint i = 0; i < map.n_cells; i++)
          if (reached[i])
            {
              reached[sb_subband_map_step (&map, i, -1, 0)] = TRUE;
              reached[sb_subband_map_step (&map, i, 1, 0)] = TRUE;
              reached[sb_subband_map_step (&map, i, 0, -1)] = TRUE;
              reached[sb_subband_map_step (&map, i, 0, 1)] = TRUE;
            }
      for (guint i = 0; i < map.n_cells; i++)
        g_assert_true (reached[i]);
    }
}

/* With a sign as wide as a plus, in every place of one. */
static void
test_numbers (void)
{
  static const struct
  {
    double value;
    guint digits;
    const char *text;
  } cases[] = { { 0, 4, "0" },
                { -0.0, 4, "0" },
                { -0.5, 5, "−0.5" },
                { 127.5, 4, "127.5" },
                { 127.54, 4, "127.5" },
                { -1e-7, 3, "−1e−07" },
                { 12345678, 5, "1.2346e+07" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = sb_number_format (cases[i].value, cases[i].digits);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viewport/fit", test_fit);
  g_test_add_func ("/viewport/zoom", test_zoom);
  g_test_add_func ("/viewport/pan", test_pan);
  g_test_add_func ("/viewport/whole-pixels", test_whole_pixels);
  g_test_add_func ("/viewport/thin", test_thin);
  g_test_add_func ("/viewport/thin-mosaic", test_thin_mosaic);
  g_test_add_func ("/viewport/put", test_put);
  g_test_add_func ("/subband-map/places", test_map);
  g_test_add_func ("/subband-map/steps", test_steps);
  g_test_add_func ("/number", test_numbers);
  return g_test_run ();
}
