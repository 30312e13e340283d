/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "engine.h"
#include "sb-cpu-reduce.h"
#include "sb-isa.h"

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

/* Harsher than the others: texture at the last frequency, seen at every level. */
static void
test_preview_bounds_sample (void)
{
  static const double radii[] = { 0.5, 0.75, 1,  1.25, 1.5, 2,  2.25, 2.5, 3,  3.5, 4,  4.5, 5,
                                  6,   8,    10, 12,   15,  16, 18,   22,  26, 32,  45, 64 };
  static const guint passes[] = { 1, 3, 10 };
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", "data", "sample.jpg", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = sb_image_load (file, G_MAXUINT64, NULL, &error);

  g_assert_no_error (error);
  sb_test_load (engine, image);
  /* Under a sanitizer a few will do: it is the pixels that are looked at here. */
  const guint step = g_getenv ("SOFTBOX_TEST_SHARE") == NULL ? 1 : 6;
  for (guint r = 0; r < G_N_ELEMENTS (radii); r += step)
    for (guint p = 0; p < G_N_ELEMENTS (passes); p++)
      for (guint linear = 0; linear < 2; linear++)
        {
          const SbEdit edit = sb_test_make_blur (radii[r], passes[p], linear);
          for (guint level = 1; level <= 3; level++)
            check_bounds (engine, image, &edit, 1, level);
        }
}

/* Premultiplied, of 0 .. 65535. */
static void
get_pixel (SbImage *image, guint x, guint y, double rgba[4])
{
  const guint8 *row = sb_image_get_pixels (image) + y * sb_image_get_stride (image);

  for (guint c = 0; c < 4; c++)
    rgba[c] = sb_image_get_depth (image) == 8 ? row[4 * x + c] * 257.0
                                              : ((const guint16 *)row)[4 * x + c];
  for (guint c = 0; c < 3; c++)
    rgba[c] *= rgba[3] / 65535;
}

/* A blur filtered and reduced in one against one that is averaged afterwards, at 16 bits. */
static void
check_reduce (guint width, guint height, guint depth, gboolean alpha, const SbEdit *edit,
              guint level)
{
  g_autoptr (SbParallel) parallel = sb_parallel_new (2);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = sb_test_photo (width, height, depth, alpha);
  g_autoptr (SbImage) blurred = sb_test_blur_alone (image, edit, 16);
  const guint unit = 1u << level;
  const int out_width = (int)((width + unit - 1) / unit);
  const int out_height = (int)((height + unit - 1) / unit);
  const SbSource source = {
    .format = depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = width,
    .height = height,
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .opaque = sb_image_is_opaque (image),
  };
  /* All but the first column and row of the level, where there are more. */
  const int x0 = out_width > 1, y0 = out_height > 1;
  g_autoptr (SbImage) result
      = sb_image_new ((guint)(out_width - x0), (guint)(out_height - y0), 16, &error);
  const SbTarget target = { .format = SB_PIXELS_16,
                            .rect = { x0, y0, out_width - x0, out_height - y0 },
                            .pixels = sb_image_writable (result),
                            .stride = sb_image_get_stride (result) };

  g_assert_true (sb_cpu_reduce (&source, width, height, 0, level, edit, NULL, &target, parallel,
                                NULL, &error));
  g_assert_no_error (error);
  for (guint j = (guint)y0; j < (guint)out_height; j++)
    for (guint i = (guint)x0; i < (guint)out_width; i++)
      {
        double mean[4] = { 0 }, got[4];
        guint count = 0;
        for (guint y = j * unit; y < MIN ((j + 1) * unit, height); y++)
          for (guint x = i * unit; x < MIN ((i + 1) * unit, width); x++)
            {
              double pixel[4];
              get_pixel (blurred, x, y, pixel);
              for (guint c = 0; c < 4; c++)
                mean[c] += pixel[c];
              count++;
            }
        get_pixel (result, i - (guint)x0, j - (guint)y0, got);
        /* Each pass rounds to 16 bits, and so do (un)premultiplying and the result. */
        for (guint c = 0; c < 4; c++)
          g_assert_cmpfloat (fabs (got[c] - mean[c] / count), <=,
                             edit->values[SB_BLUR_PASSES] + 2.0);
      }
}

static void
test_preview_reduce (void)
{
  static const guint sizes[][2]
      = { { 1, 1 }, { 2, 3 }, { 7, 5 }, { 33, 1 }, { 1, 40 }, { 65, 47 }, { 128, 64 } };
  static const double radii[] = { 0.0625, 0.5, 1, 1.75, 4, 9.5 };

  for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
    {
      const SbIsa best = sb_isa_get ();
      if (!sb_isa_is_available (isa))
        continue;
      sb_isa_force (isa);
      for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
        for (guint r = 0; r < G_N_ELEMENTS (radii); r++)
          for (guint level = 1; level <= 3; level++)
            for (guint kind = 0; kind < 8; kind++)
              {
                SbEdit edit = sb_test_make_blur (radii[r], 1 + (s + r) % 3, FALSE);
                edit.values[SB_BLUR_EDGE] = kind & 1;
                edit.values[SB_BLUR_DIRECTION] = (s + level) % 3;
                check_reduce (sizes[s][0], sizes[s][1], (kind & 2) != 0 ? 16 : 8, (kind & 4) != 0,
                              &edit, level);
              }
      sb_isa_force (best);
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

/* --- Subbands -------------------------------------------------------------------------------- */

#define MOSAIC_WIDTH  306
#define MOSAIC_HEIGHT 204

static guint8 *
shoot_mosaic (SbEngine *engine, double gain)
{
  const SbView view = {
    .what = SB_SHOW_SUBBANDS,
    .width = MOSAIC_WIDTH,
    .height = MOSAIC_HEIGHT,
    .zoom = 1.0 / 8,
    .checker_size = 8,
    .look = { SB_HAAR_PYRAMID, SB_HAAR_MAGNITUDE, gain, FALSE, TRUE },
  };
  guint8 *pixels = g_malloc (4 * MOSAIC_WIDTH * MOSAIC_HEIGHT);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_show_host (engine, &view, pixels, 4 * MOSAIC_WIDTH, &error));
  g_assert_no_error (error);
  return pixels;
}

/* The mean distance of two mosaics where the bands of the three finest levels are, and their means.
 */
static double
compare_mosaics (const guint8 *a, const guint8 *b, double means[2])
{
  double sum = 0;
  guint n = 0;

  means[0] = means[1] = 0;
  for (guint y = 0; y < MOSAIC_HEIGHT; y++)
    for (guint x = 0; x < MOSAIC_WIDTH; x++)
      if (x > MOSAIC_WIDTH / 8 || y > MOSAIC_HEIGHT / 8)
        {
          const gsize at = 4 * ((gsize)y * MOSAIC_WIDTH + x);
          sum += ABS (a[at] - b[at]);
          means[0] += a[at];
          means[1] += b[at];
          n++;
        }
  means[0] /= n;
  means[1] /= n;
  return sum / n;
}

/* What a PREVIEW has no bands of is estimated: much nearer to what will be there than what was
 * there before, as bright on the whole, and never told as a value. */
static void
test_preview_estimates (void)
{
  static const struct
  {
    double radius, gain;
    double nearer; /* than this part of the way */
  } cases[] = { { 0, 1, 0.15 }, { 0.5, 1, 0.5 }, { 1, 1, 0.5 }, { 2, 4, 0.6 }, { 4, 4, 0.7 } };
  const SbHaarChoice choices[] = { { SB_HAAR_LIGHTNESS, 5 }, { SB_HAAR_GREEN, 2 } };
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", "data", "sample.jpg", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = sb_image_load (file, G_MAXUINT64, NULL, &error);

  g_assert_no_error (error);
  sb_test_load (engine, image);
  for (guint n_fixed = 0; n_fixed < 2; n_fixed++)
    for (guint k = 0; k < G_N_ELEMENTS (choices); k++)
      {
        g_assert_true (sb_engine_set_subbands (engine, &choices[k], NULL, &error));
        for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
          {
            /* n_fixed 1: the edits start from a base, which has 16 bits. */
            SbEdit before[2] = { sb_test_make_blur (0.25, 1, FALSE) };
            SbEdit after[2] = { sb_test_make_blur (0.25, 1, FALSE) };
            double means[2];
            float value;

            before[n_fixed] = sb_test_make_blur (14, 3, FALSE);
            after[n_fixed] = sb_test_make_blur (cases[i].radius, 3, FALSE);
            sb_test_render (engine, after, n_fixed + 1, n_fixed, SB_QUALITY_EXACT);
            g_assert_cmpuint (sb_engine_get_estimated (engine), ==, 0);
            g_autofree guint8 *wanted = shoot_mosaic (engine, cases[i].gain);
            sb_test_render (engine, before, n_fixed + 1, n_fixed, SB_QUALITY_EXACT);
            g_autofree guint8 *old = shoot_mosaic (engine, cases[i].gain);
            sb_test_render (engine, after, n_fixed + 1, n_fixed, (SbQuality){ FALSE, 3, NULL });
            g_autofree guint8 *got = shoot_mosaic (engine, cases[i].gain);

            const double far = compare_mosaics (wanted, old, means);
            const double near = compare_mosaics (wanted, got, means);
            g_test_message ("radius %g: %.2f of %.2f, %.1f for %.1f", cases[i].radius, near, far,
                            means[1], means[0]);
            g_assert_cmpfloat (near, <, cases[i].nearer * far);
            g_assert_cmpfloat (means[1], >, 0.75 * means[0]);
            g_assert_cmpfloat (means[1], <, 1.25 * means[0]);

            const guint estimated = MIN (3, choices[k].levels);
            g_assert_cmpuint (sb_engine_get_estimated (engine), ==, estimated);
            for (guint level = 1; level <= choices[k].levels; level++)
              g_assert_true (sb_engine_pick_coefficient (engine, (SbHaarBand){ level, SB_HAAR_H },
                                                         2, 1, &value)
                             == (level > estimated));
            sb_test_render (engine, after, n_fixed + 1, n_fixed, SB_QUALITY_EXACT);
            g_assert_cmpuint (sb_engine_get_estimated (engine), ==, 0);
            g_autofree guint8 *rest = shoot_mosaic (engine, cases[i].gain);
            g_assert_cmpmem (rest, 4 * MOSAIC_WIDTH * MOSAIC_HEIGHT, wanted,
                             4 * MOSAIC_WIDTH * MOSAIC_HEIGHT);
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
  g_test_add_func ("/preview/bounds-sample", test_preview_bounds_sample);
  g_test_add_func ("/preview/reduce", test_preview_reduce);
  g_test_add_func ("/preview/bounds-others", test_preview_bounds_others);
  g_test_add_func ("/preview/bounds-bands", test_preview_bounds_bands);
  g_test_add_func ("/preview/estimates", test_preview_estimates);
  g_test_add_func ("/preview/level-0", test_preview_level_0);
  g_test_add_func ("/preview/region", test_preview_region);
  return g_test_run ();
}
