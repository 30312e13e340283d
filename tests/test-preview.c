/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "engine.h"

#include <math.h>

/* What is seen while a hand is on a control, against what is seen when it rests. */

/* What PREVIEW shows at the zoom of its level against what EXACT shows there: so much of it has to
 * lie within 3 of 255. */
static void
check_share (SbEngine *engine, SbImage *image, const SbEdit *edits, guint n_edits, guint level,
             double share)
{
  const int width = (int)sb_image_get_width (image) >> level;
  const int height = (int)sb_image_get_height (image) >> level;
  const double zoom = ldexp (1, -(int)level);
  guint64 histogram[256] = { 0 }, count = 0, sum = 0;

  sb_test_render (engine, edits, n_edits, n_edits - 1, SB_QUALITY_EXACT);
  g_autofree guint8 *exact = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, width, height, zoom);
  sb_test_render (engine, edits, n_edits, n_edits - 1, (SbQuality){ FALSE, level, NULL });
  g_autofree guint8 *preview = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, width, height, zoom);
  for (int i = 0; i < width * height; i++)
    for (guint c = 0; c < 3; c++)
      {
        const int difference = ABS (exact[4 * i + c] - preview[4 * i + c]);
        histogram[difference]++;
        sum += (guint64)difference;
        count++;
      }
  const double mean = (double)sum / (double)count;
  const double close
      = (double)(histogram[0] + histogram[1] + histogram[2] + histogram[3]) / (double)count;
  if (mean > 0.5 || close < share)
    {
      g_autofree char *text = sb_edit_print (&edits[n_edits - 1]);
      g_test_message ("level %u, %s: mean %.3f, within 3: %.5f", level, text, mean, close);
      g_test_fail ();
    }
}

static void
check_bounds (SbEngine *engine, SbImage *image, const SbEdit *edits, guint n_edits, guint level)
{
  check_share (engine, image, edits, n_edits, level, 0.999);
}

static void
test_preview_bounds (void)
{
  static const double radii[] = { 0, 0.5, 1, 2, 2.5, 3, 4, 6, 8, 11, 14, 20.25, 32, 45, 64 };
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (1200, 904, 8, FALSE);

  sb_test_load (engine, image);
  for (guint level = 1; level <= 3; level++)
    for (guint r = 0; r < G_N_ELEMENTS (radii); r++)
      for (guint passes = 1; passes <= 5; passes += 2)
        for (guint linear = 0; linear < 2; linear++)
          for (guint edge = 0; edge < 2; edge++)
            {
              SbEdit edit = sb_test_make_blur (radii[r], passes, linear);
              edit.values[SB_BLUR_EDGE] = edge;
              check_bounds (engine, image, &edit, 1, level);
            }
}

static void
test_preview_bounds_others (void)
{
  for (guint kind = 0; kind < 4; kind++)
    {
      g_autoptr (SbEngine) engine = sb_test_open_engine ();
      g_autoptr (SbImage) image = sb_test_photo (801, 603, (kind & 1) ? 16 : 8, (kind & 2) != 0);
      const SbEdit edits[3] = { sb_test_make_blur (2, 1, TRUE), sb_test_make_blur (12, 3, FALSE),
                                sb_test_make_blur (8, 2, TRUE) };
      sb_test_load (engine, image);
      for (guint level = 1; level <= 3; level++)
        for (guint n = 1; n <= 3; n++)
          check_bounds (engine, image, edits, n, level);
      for (guint direction = 0; direction < 3; direction++)
        {
          SbEdit edit = sb_test_make_blur (10, 3, direction == SB_DIRECTION_BOTH);
          edit.values[SB_BLUR_DIRECTION] = direction;
          edit.area = (SbArea){ SB_AREA_ELLIPSE, 100, 80, 500, 400, 60, direction == 1 };
          check_bounds (engine, image, &edit, 1, 1 + direction % 2);
        }
    }
}

/* Bands of the reduced picture are the coarse ones of the whole; what the fine ones lose is not
 * seen there, as it leaves the means alone. */
static void
test_preview_bounds_bands (void)
{
  static const char *const texts[] = {
    "bands:gain1=0",
    "bands:gain2=0",
    "bands:gain3=0,gain4=0",
    "bands:levels=2,gain1=0,gain2=0",
    "bands:threshold=10",
    "bands:threshold=40",
    "bands:threshold=25,rule=hard",
    "bands:threshold=30,luma=1",
    "bands:gain1=2,gain2=1.5",
    "bands:levels=8,gain7=0.5,gainH3=0",
    "bands:gainA=0.75",
    "bands:levels=1,gainA=0.5",
    "bands:gain3=0,area=ellipse:100:80:500:400,feather=60",
  };

  for (guint kind = 0; kind < 4; kind++)
    {
      g_autoptr (SbEngine) engine = sb_test_open_engine ();
      g_autoptr (SbImage) image = sb_test_photo (801, 603, (kind & 1) ? 16 : 8, (kind & 2) != 0);

      sb_test_load (engine, image);
      for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
        for (guint level = 1; level <= 3; level++)
          {
            SbEdit edits[2];

            edits[0] = sb_test_make_blur (8, 3, TRUE);
            g_assert_true (sb_edit_parse (texts[i], &edits[1], NULL));
            const double share = (kind & 2) != 0 ? 0.99 : 0.999;
            check_share (engine, image, edits + 1, 1, level, share);
            check_share (engine, image, edits, 2, level, share);
          }
    }
}

/* Level 0 is the result itself. */
static void
test_preview_level_0 (void)
{
  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbEngine) engine = sb_test_open_engine ();
      g_autoptr (SbImage) image = sb_test_photo (301, 203, depth, TRUE);
      const SbEdit edits[2]
          = { sb_test_make_blur (6.25, 3, TRUE), sb_test_make_blur (3, 2, FALSE) };
      sb_test_load (engine, image);
      for (guint n_fixed = 0; n_fixed < 2; n_fixed++)
        {
          sb_test_render (engine, edits, 2, n_fixed, SB_QUALITY_EXACT);
          g_autofree guint8 *exact = sb_test_shoot (engine, SB_SHOW_RESULT, -4, -4, 310, 211, 1);
          sb_test_render (engine, edits, 2, n_fixed, (SbQuality){ FALSE, 0, NULL });
          g_autofree guint8 *preview = sb_test_shoot (engine, SB_SHOW_RESULT, -4, -4, 310, 211, 1);
          g_assert_cmpmem (exact, 310 * 211 * 4, preview, 310 * 211 * 4);
        }
    }
}

/* A region costs less and looks the same inside; outside it the last EXACT result is seen. */
static void
test_preview_region (void)
{
  static const SbRect regions[] = { { 100, 50, 200, 150 },
                                    { 0, 0, 64, 64 },
                                    { 337, 211, 300, 300 },
                                    { -50, -50, 120, 80 },
                                    { 401, 0, 1, 301 } };
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (402, 301, 8, FALSE);
  const SbEdit edits[2] = { sb_test_make_blur (4, 2, TRUE), sb_test_make_blur (9.5, 3, FALSE) };
  SbEdit before = sb_test_make_blur (1, 1, FALSE);

  sb_test_load (engine, image);
  for (guint level = 0; level <= 2; level++)
    for (guint r = 0; r < G_N_ELEMENTS (regions); r++)
      for (guint linear = 0; linear < 2; linear++)
        {
          const SbRect *region = &regions[r];
          const int unit = 1 << level;
          const double zoom = 1.0 / unit;
          sb_test_render (engine, edits, 2, 0, (SbQuality){ FALSE, level, NULL });
          g_autofree guint8 *whole = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 402, 301, zoom);
          sb_test_render (engine, &before, 1, 0, SB_QUALITY_EXACT);
          g_autofree guint8 *exact = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 402, 301, zoom);
          sb_test_render (engine, edits, 2, 0, (SbQuality){ FALSE, level, region });
          g_autofree guint8 *part = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 402, 301, zoom);
          for (int j = 0; j < 301 / unit; j++)
            for (int i = 0; i < 402 / unit; i++)
              {
                const double x = (i + 0.5) * unit, y = (j + 0.5) * unit;
                const gsize at = 4 * ((gsize)j * 402 + (gsize)i);
                const gboolean inside = x >= region->x && x < region->x + region->width
                                        && y >= region->y && y < region->y + region->height;
                const gboolean away
                    = x < region->x - 4 * unit || x > region->x + region->width + 4 * unit
                      || y < region->y - 4 * unit || y > region->y + region->height + 4 * unit;
                if (inside)
                  g_assert_cmpmem (part + at, 4, whole + at, 4);
                else if (away)
                  g_assert_cmpmem (part + at, 4, exact + at, 4);
              }
        }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/preview/bounds", test_preview_bounds);
  g_test_add_func ("/preview/bounds-others", test_preview_bounds_others);
  g_test_add_func ("/preview/bounds-bands", test_preview_bounds_bands);
  g_test_add_func ("/preview/level-0", test_preview_level_0);
  g_test_add_func ("/preview/region", test_preview_region);
  return g_test_run ();
}
