/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "pictures.h"
#include "sb-engine.h"

#include <string.h>

/* What comes out of small pictures whose right result is known beforehand, by the engine and by
 * loading and encoding: the mistakes that image editors make with blurs, alpha, colour profiles,
 * orientation and depth. */

static SbEngine *engine;

/* --- Tools ----------------------------------------------------------------------------------- */

/* A picture of tests/data/corpus. */
static SbImage *
picture (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "corpus", name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_load (file, 0, NULL, &error);

  g_assert_no_error (error);
  return image;
}

/* Its PNG, read again. */
static SbImage *
through_png (SbImage *image, guint depth)
{
  const SbSaveOptions options = { .depth = depth, .compression = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) png = sb_image_encode_png (image, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (png);
  SbImage *again = sb_image_load_stream (stream, "again.png", 0, NULL, &error);

  g_assert_no_error (error);
  return again;
}

static SbImage *
edited (SbImage *image, SbEdit edit, guint depth)
{
  g_autoptr (SbEditList) list = sb_edit_list_new (&edit, 1);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_load (engine, image, &error));
  g_assert_no_error (error);
  SbImage *result = sb_engine_read (engine, list, 0, depth, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sb_image_get_width (result), ==, sb_image_get_width (image));
  g_assert_cmpuint (sb_image_get_height (result), ==, sb_image_get_height (image));
  return result;
}

static SbImage *
blurred (SbImage *image, double radius, guint passes, gboolean linear)
{
  return edited (image, sb_test_blur (radius, passes, linear), 8);
}

static const guint8 *
at (SbImage *image, guint x, guint y)
{
  g_assert_cmpuint (sb_image_get_depth (image), ==, 8);
  return sb_image_get_pixels (image) + y * sb_image_get_stride (image) + 4 * x;
}

static const guint16 *
at16 (SbImage *image, guint x, guint y)
{
  g_assert_cmpuint (sb_image_get_depth (image), ==, 16);
  return (const guint16 *)(const void *)(sb_image_get_pixels (image)
                                         + y * sb_image_get_stride (image) + 8 * x);
}

#define assert_near(is, should, tolerance)                                                         \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_assert_cmpint (is, >=, (should) - (tolerance));                                              \
    g_assert_cmpint (is, <=, (should) + (tolerance));                                              \
  }                                                                                                \
  G_STMT_END

static SbImage *
plain (guint width, guint height, guint depth, const guint8 rgba[4])
{
  SbImage *image = sb_image_new (width, height, depth, NULL);
  guint8 *pixels = sb_image_writable (image);

  for (gsize i = 0; i < sb_image_get_bytes (image); i++)
    pixels[i] = rgba[i / (depth / 8) % 4]; /* v * 257 is the byte twice */
  return image;
}

/* --- Values ---------------------------------------------------------------------------------- */

/* A plain colour stays, edges and all, however often and wide it is blurred. */
static void
test_constant (void)
{
  static const guint8 values[] = { 1, 127, 128, 254, 255 };
  static const double radii[] = { 1, 2, 7, 33, 1000 };

  for (guint v = 0; v < G_N_ELEMENTS (values); v++)
    {
      const guint8 rgba[4] = { values[v], values[v], values[v], 255 };
      g_autoptr (SbImage) image = plain (67, 61, 8, rgba);

      for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
        for (guint passes = 1; passes <= 10; passes++)
          for (guint linear = 0; linear < 2; linear++)
            {
              g_autoptr (SbImage) result = blurred (image, radii[i], passes, linear);

              if (sb_test_in_share () && !sb_test_same_image (image, result, "a plain colour"))
                return;
            }
    }

  static const char *const files[]
      = { "blur/const_1.png", "blur/const_254.png", "blur/const16_65535.png" };
  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    {
      g_autoptr (SbImage) image = picture (files[f]);
      g_autoptr (SbImage) result
          = edited (image, sb_test_blur (7, 3, TRUE), sb_image_get_depth (image));

      sb_test_same_image (image, result, files[f]);
    }
}

/* One white pixel becomes a centred square of 25, of 1/25 of the light or of the code. */
static void
test_impulse (void)
{
  g_autoptr (SbImage) image = picture ("blur/impulse_65.png");

  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = blurred (image, 2, 1, linear);

      for (guint y = 0; y < 65; y++)
        for (guint x = 0; x < 65; x++)
          {
            const gboolean inside = x >= 30 && x <= 34 && y >= 30 && y <= 34;

            for (guint c = 0; c < 3; c++)
              g_assert_cmpuint (at (result, x, y)[c], ==, !inside ? 0 : linear ? 56 : 10);
            g_assert_cmpuint (at (result, x, y)[3], ==, 255);
          }
    }
}

static void
test_impulse_three_passes (void)
{
  g_autoptr (SbImage) image = picture ("blur/impulse_65.png");

  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = edited (image, sb_test_blur (2, 3, linear), 16);

      /* 19 * 19 / 125 / 125 of white is 5.89 of 255, 42.0 in linear light. */
      assert_near (at16 (result, 32, 32)[0] / 257.0, linear ? 42.0 : 5.89, 0.1);
      for (int y = 0; y < 65; y++)
        for (int x = 0; x < 65; x++)
          {
            const guint value = at16 (result, (guint)x, (guint)y)[0];

            g_assert_cmpint (value > 0, ==, ABS (x - 32) <= 6 && ABS (y - 32) <= 6);
            g_assert_cmpuint (value, ==, at16 (result, (guint)(64 - x), (guint)(64 - y))[0]);
            g_assert_cmpuint (value, ==, at16 (result, (guint)(64 - x), (guint)y)[0]);
          }
      /* Rows and columns round at different moments, hence 1 of 65535 apart at most before coding,
       * where the steepest code is 12.92 wide. */
      for (guint y = 26; y <= 38; y++)
        for (guint x = 26; x <= 38; x++)
          assert_near ((int)at16 (result, x, y)[0], (int)at16 (result, y, x)[0], linear ? 13 : 1);
    }
}

/* A checker of single pixels is half of the light, not half of the code, in linear light. */
static void
test_checker (void)
{
  g_autoptr (SbImage) image = picture ("blur/checker_1px.png");

  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = blurred (image, 16, 1, linear);

      for (guint y = 20; y <= 43; y++)
        for (guint x = 20; x <= 43; x++)
          assert_near (at (result, x, y)[1], linear ? 187.5 : 127.5, 1);
    }
}

/* Red beside green: the seam is dark only where the codes are averaged. */
static void
test_red_green (void)
{
  static const double seam[2][2][3] = {
    { { 135, 120, 0 }, { 120, 135, 0 } },
    { { 192.4, 182.5, 0 }, { 182.5, 192.4, 0 } },
  };
  const guint8 black[4] = { 0, 0, 0, 255 };
  g_autoptr (SbImage) image = plain (64, 40, 8, black);

  for (guint y = 0; y < 40; y++)
    for (guint x = 0; x < 64; x++)
      sb_image_writable (image)[(y * 64 + x) * 4 + (x < 32 ? 0 : 1)] = 255;

  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = blurred (image, 8, 1, linear);

      for (guint y = 0; y < 40; y++)
        for (guint side = 0; side < 2; side++)
          for (guint c = 0; c < 3; c++)
            assert_near (at (result, 31 + side, y)[c], seam[linear][side][c], 1);
    }
}

/* --- Alpha ----------------------------------------------------------------------------------- */

/* A white disc stays white as it fades, whatever colour is hidden around it. */
static void
test_hidden_colour (void)
{
  g_autoptr (SbImage) black = picture ("alpha/black_hidden_disc.png");
  g_autoptr (SbImage) random = sb_image_new (64, 64, 8, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  guint8 *pixels = sb_image_writable (random);

  memcpy (pixels, sb_image_get_pixels (black), sb_image_get_bytes (black));
  for (gsize i = 0; i < 64 * 64; i++)
    for (guint c = 0; c < 3; c++)
      if (pixels[4 * i + 3] == 0)
        pixels[4 * i + c] = (guint8)g_rand_int_range (rand, 0, 256);

  for (guint passes = 1; passes <= 3; passes++)
    for (guint linear = 0; linear < 2; linear++)
      {
        g_autoptr (SbImage) from_black = blurred (black, 6, passes, linear);
        g_autoptr (SbImage) from_random = blurred (random, 6, passes, linear);

        sb_test_same_image (from_black, from_random, "hidden colours");
        for (guint i = 0; i < 64 * 64; i++)
          if (at (from_black, i % 64, i / 64)[3] > 0)
            for (guint c = 0; c < 3; c++)
              assert_near (at (from_black, i % 64, i / 64)[c], 255, 2);
      }
}

static void
test_hole (void)
{
  g_autoptr (SbImage) image = picture ("alpha/hole_red_hidden.png");
  g_autoptr (SbImage) result = blurred (image, 6, 1, TRUE);
  guint faded = 0;

  for (guint i = 0; i < 64 * 64; i++)
    {
      const guint8 *pixel = at (result, i % 64, i / 64);

      if (pixel[3] == 0)
        continue;
      faded += pixel[3] < 255;
      g_assert_cmpuint (pixel[0], <=, 2);
      g_assert_cmpuint (pixel[1], >=, 253);
      g_assert_cmpuint (pixel[2], <=, 2);
    }
  g_assert_cmpuint (faded, >, 0);
}

/* Alpha is a share of area and has no tone curve: 6/11 and 5/11 of 255 beside the step. */
static void
test_alpha_step (void)
{
  g_autoptr (SbImage) image = picture ("alpha/edge_alpha_step.png");

  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = blurred (image, 5, 1, linear);

      for (guint y = 0; y < 32; y++)
        {
          g_assert_cmpuint (at (result, 31, y)[3], ==, 139);
          g_assert_cmpuint (at (result, 32, y)[3], ==, 116);
          for (guint x = 0; x < 64; x++)
            if (at (result, x, y)[3] > 0)
              for (guint c = 0; c < 3; c++)
                assert_near (at (result, x, y)[c], 255, 1);
        }
    }
}

static void
test_transparent (void)
{
  g_autoptr (SbImage) black = picture ("alpha/full_transparent_black.png");
  const guint8 rgba[4] = { 10, 200, 90, 0 };
  g_autoptr (SbImage) coloured = plain (16, 16, 8, rgba);
  static const double radii[] = { 1, 4.5, 100, 2000 };

  for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
    for (guint linear = 0; linear < 2; linear++)
      {
        g_autoptr (SbImage) a = blurred (black, radii[i], 3, linear);
        g_autoptr (SbImage) b = blurred (coloured, radii[i], 3, linear);

        sb_test_same_image (black, a, "nothing, blurred");
        for (guint y = 0; y < 16; y++)
          for (guint x = 0; x < 16; x++)
            g_assert_cmpuint (at (b, x, y)[3], ==, 0);
      }
}

/* Not edited is not touched: hidden and faint colours come out of an export as they were. */
static void
test_untouched (void)
{
  const guint8 rgba[4] = { 10, 200, 90, 0 };
  g_autoptr (SbImage) hidden = plain (16, 16, 8, rgba);
  g_autoptr (SbImage) faint = picture ("alpha/alpha_1_of_255.png");
  g_autoptr (SbImage) mixed = picture ("png/rgba8.png");
  SbImage *images[] = { hidden, faint, mixed };

  for (guint i = 0; i < G_N_ELEMENTS (images); i++)
    {
      g_autoptr (SbImage) result = blurred (images[i], 0, 3, TRUE);
      g_autoptr (SbImage) exported = through_png (result, 0);

      sb_test_same_image (images[i], result, "not edited");
      sb_test_same_image (images[i], exported, "not edited, exported");
    }
}

static void
test_low_alpha (void)
{
  static const guint8 colour[3] = { 200, 100, 50 };
  g_autoptr (SbImage) image = picture ("alpha/alpha_low_ramp.png");

  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = blurred (image, 1, 1, linear);

      for (guint y = 0; y < 16; y++)
        for (guint x = 0; x < 256; x++)
          if (at (result, x, y)[3] >= 8)
            for (guint c = 0; c < 3; c++)
              assert_near (at (result, x, y)[c], colour[c], 2);
    }
}

/* --- Sizes ----------------------------------------------------------------------------------- */

static void
test_sizes (void)
{
  static const guint made[][2] = { { 2, 1 }, { 2, 2 }, { 1, 5000 }, { 5000, 1 } };
  static const char *const files[]
      = { "size/1x1.png",   "size/1x2.png",    "size/2x3.png",   "size/3x3.png",
          "size/17x31.png", "size/3x4093.png", "size/1023x5.png" };
  static const double radii[] = { 0, 1, 2, 5, 100, 1000, 2000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (guint s = 0; s < G_N_ELEMENTS (made) + G_N_ELEMENTS (files); s++)
    {
      const guint f = s - G_N_ELEMENTS (made);
      g_autoptr (SbImage) image
          = s < G_N_ELEMENTS (made)
                ? sb_fill_image (made[s][0], made[s][1], SB_FILL_NOISE, 9, 8, rand)
                : picture (files[f]);

      for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
        for (guint passes = 1; passes <= 10; passes += 9)
          {
            g_autoptr (SbImage) once = blurred (image, radii[i], passes, TRUE);
            g_autoptr (SbImage) twice = blurred (image, radii[i], passes, TRUE);

            if (!sb_test_same_image (once, twice, "done twice"))
              return;
            if (radii[i] == 0 || sb_image_get_bytes (image) == 4)
              sb_test_same_image (image, once, "nothing to average");
          }
    }
}

/* Sums of the brightest samples over the widest windows do not run over. */
static void
test_overflow (void)
{
  static const char *const files[]
      = { "size/70000x2_g16_white.png", "size/5000x5000_g1_white.png" };
  static const double radii[] = { 2000, 1000, 300 };
  const guint8 white[4] = { 255, 255, 255, 255 };

  for (guint f = 0; f < G_N_ELEMENTS (files) + 1; f++)
    {
      g_autoptr (SbImage) image
          = f < G_N_ELEMENTS (files) ? picture (files[f]) : plain (65536, 1, 8, white);
      const guint depth = sb_image_get_depth (image);

      g_assert_cmpuint (sb_image_get_pixels (image)[0], ==, 255);
      for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
        {
          if (sb_image_get_height (image) > 2 && !sb_test_in_share ())
            continue;
          g_autoptr (SbImage) result = edited (image, sb_test_blur (radii[i], 1, i == 1), depth);

          if (!sb_test_same_image (image, result, "white"))
            return;
        }
    }
}

/* Rows and columns are treated alike. */
static void
test_transposed (void)
{
  g_autoptr (SbImage) across = picture ("blur/step_h.png");
  g_autoptr (SbImage) down = sb_image_new (64, 64, 8, NULL);

  for (guint y = 0; y < 64; y++)
    for (guint x = 0; x < 64; x++)
      memcpy (sb_image_writable (down) + (y * 64 + x) * 4, at (across, y, x), 4);

  for (guint passes = 1; passes <= 3; passes++)
    for (guint linear = 0; linear < 2; linear++)
      {
        g_autoptr (SbImage) a = edited (across, sb_test_blur (7, passes, linear), 16);
        g_autoptr (SbImage) b = edited (down, sb_test_blur (7, passes, linear), 16);

        for (guint y = 0; y < 64; y++)
          for (guint x = 0; x < 64; x++)
            {
              g_assert_cmpmem (at16 (a, x, y), 8, at16 (b, y, x), 8);
              g_assert_cmpmem (at16 (a, x, y), 8, at16 (a, x, 0), 8);
              if (x > 0)
                g_assert_cmpuint (at16 (a, x, y)[0], >=, at16 (a, x - 1, y)[0]);
            }
      }
}

/* Bright, then black: nothing of the bright part is left over where the window has passed it. */
static void
test_after_bright (void)
{
  const guint8 black[4] = { 0, 0, 0, 255 };
  g_autoptr (SbImage) image = plain (8192, 1, 8, black);

  memset (sb_image_writable (image), 255, 4096 * 4);
  for (guint linear = 0; linear < 2; linear++)
    {
      g_autoptr (SbImage) result = edited (image, sb_test_blur (50, 1, linear), 16);

      for (guint x = 0; x < 8192; x++)
        {
          if (x <= 4045)
            g_assert_cmpuint (at16 (result, x, 0)[0], ==, 65535);
          if (x >= 4146)
            g_assert_cmpuint (at16 (result, x, 0)[0], ==, 0);
        }
    }
}

/* --- Depth, orientation, profiles ------------------------------------------------------------ */

static guint
count_greys (SbImage *image)
{
  g_autofree guint8 *seen = g_new0 (guint8, 65536);
  guint n = 0;

  for (guint y = 0; y < sb_image_get_height (image); y++)
    for (guint x = 0; x < sb_image_get_width (image); x++)
      {
        n += !seen[at16 (image, x, y)[0]];
        seen[at16 (image, x, y)[0]] = 1;
      }
  return n;
}

static void
test_sixteen_bits (void)
{
  g_autoptr (SbImage) image = picture ("png/rgb16_ramp.png");

  g_assert_cmpuint (sb_image_get_depth (image), ==, 16);
  for (guint radius = 0; radius <= 8; radius += 8)
    {
      g_autoptr (SbImage) result = edited (image, sb_test_blur (radius, 1, TRUE), 16);
      g_autoptr (SbImage) exported = through_png (result, 16);

      g_assert_cmpuint (count_greys (exported), >, 256);
      sb_test_same_image (result, exported, "exported at 16 bits");
    }

  g_autoptr (SbImage) tiff = picture ("tiff/grey16.tif");
  for (guint x = 0; x < 64; x++) /* from black to white, by the file's own numbers */
    for (guint c = 0; c < 3; c++)
      g_assert_cmpuint (at16 (tiff, x, 5)[c], ==, x * 65535 / 63);
}

/* Steps of one code become a ramp, and many passes do not drift out of their range. */
static void
test_dark_steps (void)
{
  g_autoptr (SbImage) image = picture ("blur/banding_dark.png");

  for (guint passes = 1; passes <= 10; passes += 3)
    {
      g_autoptr (SbImage) result = edited (image, sb_test_blur (32, passes, TRUE), 16);

      for (guint x = 0; x < 512; x++)
        {
          const guint value = at16 (result, x, 7)[0];

          g_assert_cmpuint (value, >=, 8 * 257 - 13);
          g_assert_cmpuint (value, <=, 15 * 257 + 13);
          if (x > 0)
            g_assert_cmpint ((int)value - (int)at16 (result, x - 1, 7)[0], >=, 0);
        }
    }
}

static void
assert_corners (SbImage *image, const guint8 corners[4][3], int tolerance)
{
  const guint x = sb_image_get_width (image) - 1, y = sb_image_get_height (image) - 1;
  const guint8 *const pixels[4]
      = { at (image, 0, 0), at (image, x, 0), at (image, 0, y), at (image, x, y) };

  for (guint i = 0; i < 4; i++)
    for (guint c = 0; c < 3; c++)
      assert_near (pixels[i][c], corners[i][c], tolerance);
}

static const guint8 red_green_blue_yellow[4][3]
    = { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 }, { 255, 255, 0 } };

static void
test_orientation (void)
{
  static const char *const files[]
      = { "orient/exif_1.jpg",       "orient/exif_2.jpg", "orient/exif_5.jpg",
          "orient/exif_6_slong.jpg", "orient/exif_7.jpg", "orient/exif_8.jpg" };

  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    {
      g_autoptr (SbImage) image = picture (files[f]);
      g_autoptr (SbImage) exported = through_png (image, 8);

      g_test_message ("%s", files[f]);
      g_assert_cmpuint (sb_image_get_width (image), ==, 96);
      g_assert_cmpuint (sb_image_get_height (image), ==, 64);
      assert_corners (image, red_green_blue_yellow, 6);
      sb_test_same_image (image, exported, files[f]);
    }
}

static gboolean
is_rgb_profile (GBytes *profile)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (profile, &size);

  return size >= 128 && memcmp (data + 16, "RGB ", 4) == 0;
}

/* Pixels and profile stay together, through edits and through an export. */
static void
test_profiles (void)
{
  static const struct
  {
    const char *name;
    guint8 corners[4][3];
    int tolerance;
  } files[] = {
    { "color/jpeg_icc_display_p3.jpg",
      { { 0xea, 0x33, 0x23 }, { 0, 255, 0 }, { 0, 0, 255 }, { 255, 255, 0 } },
      8 },
    { "color/png_iccp_swapped_rgba.png",
      { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 }, { 255, 255, 0 } },
      0 },
  };

  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    {
      g_autoptr (SbImage) image = picture (files[f].name);
      g_autoptr (SbImage) result = blurred (image, 0, 1, TRUE);
      g_autoptr (SbImage) exported = through_png (result, 0);

      assert_corners (image, files[f].corners, files[f].tolerance);
      sb_test_same_image (image, exported, files[f].name);
      g_assert_nonnull (sb_image_get_profile (image));
      g_assert_true (is_rgb_profile (sb_image_get_profile (image)));
      g_assert_nonnull (sb_image_get_profile (exported));
      g_assert_true (g_bytes_equal (sb_image_get_profile (image), sb_image_get_profile (exported)));
    }

  /* A profile of grey says nothing about RGB: it is gone, and the pixels are in another, or in
   * sRGB, where the linear grey of 128 is 188. */
  g_autoptr (SbImage) grey = picture ("color/png_grey_icc.png");
  g_autoptr (SbImage) exported = through_png (grey, 8);
  if (sb_image_get_profile (exported) == NULL)
    for (guint c = 0; c < 3; c++)
      assert_near (at (exported, 3, 3)[c], 188, 1);
  else
    g_assert_true (is_rgb_profile (sb_image_get_profile (exported)));
}

/* --- What is seen is what is exported -------------------------------------------------------- */

static void
test_shown_is_exported (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbImage) image = sb_fill_image (401, 303, SB_FILL_RAMP, 9, depth, rand);
      const SbEdit edit = sb_test_blur (14, 3, TRUE);
      g_autoptr (SbEditList) list = sb_edit_list_new (&edit, 1);
      g_autoptr (SbImage) shown = sb_image_new (200, 150, 8, NULL);
      const SbView view = {
        .what = SB_SHOW_RESULT,
        .width = 200,
        .height = 150,
        .zoom = 1,
        .x = 90,
        .y = 70,
        .checker_size = 8,
      };
      g_autoptr (GError) error = NULL;

      g_assert_true (sb_engine_load (engine, image, &error));
      g_assert_true (sb_engine_render (engine, list, 0, SB_QUALITY_EXACT, NULL, &error));
      g_assert_true (sb_engine_show_host (engine, &view, sb_image_writable (shown),
                                          sb_image_get_stride (shown), &error));
      g_assert_no_error (error);
      g_autoptr (SbImage) result = sb_engine_read (engine, list, 0, 8, NULL, &error);
      g_assert_no_error (error);
      g_autoptr (SbImage) exported = through_png (result, 8);

      for (guint y = 0; y < 150; y++)
        for (guint x = 0; x < 200; x++)
          for (guint c = 0; c < 4; c++)
            assert_near (at (shown, x, y)[c], at (exported, 90 + x, 70 + y)[c], 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_autoptr (GError) error = NULL;
  const SbDevice device = { SB_DEVICE_CPU, 0, 0 };

  engine = sb_engine_new (device, &error);
  g_assert_no_error (error);

  g_test_add_func ("/checks/constant", test_constant);
  g_test_add_func ("/checks/impulse", test_impulse);
  g_test_add_func ("/checks/impulse-three-passes", test_impulse_three_passes);
  g_test_add_func ("/checks/checker", test_checker);
  g_test_add_func ("/checks/red-green", test_red_green);
  g_test_add_func ("/checks/hidden-colour", test_hidden_colour);
  g_test_add_func ("/checks/hole", test_hole);
  g_test_add_func ("/checks/alpha-step", test_alpha_step);
  g_test_add_func ("/checks/transparent", test_transparent);
  g_test_add_func ("/checks/untouched", test_untouched);
  g_test_add_func ("/checks/low-alpha", test_low_alpha);
  g_test_add_func ("/checks/sizes", test_sizes);
  g_test_add_func ("/checks/overflow", test_overflow);
  g_test_add_func ("/checks/transposed", test_transposed);
  g_test_add_func ("/checks/after-bright", test_after_bright);
  g_test_add_func ("/checks/sixteen-bits", test_sixteen_bits);
  g_test_add_func ("/checks/dark-steps", test_dark_steps);
  g_test_add_func ("/checks/orientation", test_orientation);
  g_test_add_func ("/checks/profiles", test_profiles);
  g_test_add_func ("/checks/shown-is-exported", test_shown_is_exported);
  const int status = g_test_run ();

  sb_engine_free (engine);
  return status;
}
