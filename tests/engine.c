/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "engine.h"
#include "sb-cpu-blur.h"

#include <math.h>

SbEngine *
sb_test_open_engine (void)
{
  g_autoptr (GError) error = NULL;
  SbEngine *engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 0 }, &error);

  g_assert_no_error (error);
  g_assert_nonnull (engine);
  return engine;
}

void
sb_test_load (SbEngine *engine, SbImage *image)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_load (engine, image, &error));
  g_assert_no_error (error);
}

/* A wall, sky, disks and stripes: gradients, hard and soft edges, fine texture and some noise. */
SbImage *
sb_test_photo (guint width, guint height, guint depth, gboolean alpha)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (width, height, depth, &error);
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;

  g_assert_no_error (error);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      {
        const double ground = 0.35 + 0.4 * y / height + 0.1 * sin (x * 0.006);
        const double texture = 0.05 * sin (x * 0.9) * sin (y * 1.1);
        const double disk = hypot (x - 0.6 * width, y - 0.45 * height) - 0.13 * height;
        const double inside = CLAMP (0.5 - disk, 0, 1);
        const gboolean block = (x / 170 + y / 140) % 5 == 0;
        for (guint c = 0; c < 4; c++)
          {
            const gsize i = 4 * ((gsize)y * width + x) + c;
            double v = block ? 0.2 + 0.15 * c + texture * (1 + c) : ground * (0.7 + 0.15 * c);
            v = (1 - inside) * v + inside * (0.75 - 0.2 * c);
            v += 0.02 * (g_rand_double (rand) - 0.5);
            if (c == 3)
              v = alpha ? 1 - inside * 0.9 : 1;
            v = CLAMP (v, 0, 1);
            if (depth == 16)
              p16[i] = (guint16)(v * 65535 + 0.5);
            else
              p8[i] = (guint8)(v * 255 + 0.5);
          }
      }
  return image;
}

SbEdit
sb_test_make_blur (double radius, guint passes, gboolean linear)
{
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BLUR);
  edit.values[SB_BLUR_RADIUS] = radius;
  edit.values[SB_BLUR_PASSES] = passes;
  edit.values[SB_BLUR_LINEAR] = linear;
  return edit;
}

void
sb_test_render (SbEngine *engine, const SbEdit *edits, guint n_edits, guint n_fixed,
                SbQuality quality)
{
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, n_edits);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_render (engine, list, n_fixed, quality, NULL, &error));
  g_assert_no_error (error);
}

SbImage *
sb_test_read (SbEngine *engine, const SbEdit *edits, guint n_edits, guint depth)
{
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, n_edits);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_engine_read (engine, list, 0, depth, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (image);
  g_assert_cmpuint (sb_image_get_depth (image), ==, depth);
  return image;
}

/* One edit by the blur alone. */
SbImage *
sb_test_blur_alone (SbImage *image, const SbEdit *edit, guint depth)
{
  g_autoptr (SbParallel) parallel = sb_parallel_new (1);
  g_autoptr (SbBlurScratch) scratch = sb_blur_scratch_new ();
  g_autoptr (GError) error = NULL;
  const SbTone *tone = sb_tone_new (NULL);
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  SbImage *result = sb_image_new (width, height, depth, &error);
  const SbSource source = {
    .format = sb_image_get_depth (image) == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = width,
    .height = height,
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .opaque = sb_image_is_opaque (image),
  };
  const SbTarget target = {
    .format = depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .rect = { 0, 0, (int)width, (int)height },
    .pixels = sb_image_writable (result),
    .stride = sb_image_get_stride (result),
  };

  g_assert_true (sb_cpu_blur (&source, edit, tone, &target, parallel, scratch, NULL, &error));
  g_assert_no_error (error);
  sb_tone_unref (tone);
  return result;
}

guint8 *
sb_test_shoot (SbEngine *engine, SbShowWhat what, double x, double y, int width, int height,
               double zoom)
{
  const SbView view = {
    .what = what,
    .width = width,
    .height = height,
    .zoom = zoom,
    .x = x,
    .y = y,
    .checker_size = 8,
    .ground = { 1, 2, 3 },
    .checker = { { 90, 90, 90 }, { 160, 160, 160 } },
  };
  guint8 *pixels = g_malloc (4 * (gsize)width * (gsize)height);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_show_host (engine, &view, pixels, 4 * (gsize)width, &error));
  g_assert_no_error (error);
  return pixels;
}
