/* SPDX-License-Identifier: MIT */

#include "config.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viewport/fit", test_fit);
  g_test_add_func ("/viewport/zoom", test_zoom);
  g_test_add_func ("/viewport/pan", test_pan);
  g_test_add_func ("/viewport/whole-pixels", test_whole_pixels);
  return g_test_run ();
}
