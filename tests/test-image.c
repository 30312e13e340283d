/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-error.h"
#include "sb-image.h"

#include <string.h>

static SbImage *
make (guint width, guint height, guint depth)
{
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (width, height, depth, &error);

  g_assert_no_error (error);
  g_assert_nonnull (image);
  return image;
}

static void
test_new (void)
{
  g_autoptr (SbImage) a = make (3, 5, 8);
  g_autoptr (SbImage) b = make (3, 5, 16);

  g_assert_cmpuint (sb_image_get_width (a), ==, 3);
  g_assert_cmpuint (sb_image_get_height (a), ==, 5);
  g_assert_cmpuint (sb_image_get_depth (a), ==, 8);
  g_assert_cmpuint (sb_image_get_stride (a), ==, 12);
  g_assert_cmpuint (sb_image_get_bytes (a), ==, 60);
  g_assert_cmpuint (sb_image_get_depth (b), ==, 16);
  g_assert_cmpuint (sb_image_get_stride (b), ==, 24);
  g_assert_cmpuint (sb_image_get_bytes (b), ==, 120);
  g_assert_true (sb_image_get_pixels (a) == sb_image_writable (a));
  g_assert_null (sb_image_get_profile (a));
  g_assert_cmpstr (sb_image_get_profile_name (a), ==, "sRGB");
  g_assert_null (sb_image_get_warnings (a)[0]);
}

static void
test_sides (void)
{
  static const guint sides[][2]
      = { { 0, 1 }, { 1, 0 }, { SB_IMAGE_MAX_SIDE + 1, 1 }, { 1, G_MAXUINT } };

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_null (sb_image_new (sides[i][0], sides[i][1], 8, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
    }
  g_autoptr (SbImage) longest = make (SB_IMAGE_MAX_SIDE, 1, 8);
  g_assert_cmpuint (sb_image_get_bytes (longest), ==, 4000000);
}

/* 10^12 pixels of 8 bytes: more than any address space has. */
static void
test_out_of_memory (void)
{
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (SB_IMAGE_MAX_SIDE, SB_IMAGE_MAX_SIDE, 16, &error);

  if (image != NULL) /* a kernel that promises all of it */
    {
      sb_image_unref (image);
      g_test_skip ("this kernel promises any amount of memory");
      return;
    }
  g_assert_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY);
}

static void
test_opaque (void)
{
  /* Around the word of 8 bytes and the block of 512 words that are looked at together. */
  static const guint widths[] = { 1, 2, 3, 511, 512, 513, 1023, 1024, 1025, 3001 };

  for (guint depth = 8; depth <= 16; depth += 8)
    for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
      {
        const gsize n = (gsize)widths[i] * 4 * (depth / 8);
        g_autoptr (SbImage) full = make (widths[i], 1, depth);
        memset (sb_image_writable (full), 0xff, n);
        g_assert_true (sb_image_is_opaque (full));
        g_assert_true (sb_image_is_opaque (full));

        /* Colors do not count. */
        g_autoptr (SbImage) colors = make (widths[i], 1, depth);
        memset (sb_image_writable (colors), 0xff, n);
        for (guint x = 0; x < widths[i]; x++)
          memset (sb_image_writable (colors) + x * (n / widths[i]), 0, n / widths[i] / 4 * 3);
        g_assert_true (sb_image_is_opaque (colors));

        /* One alpha one below the most, first, in the middle and last. */
        for (guint k = 0; k < 3; k++)
          {
            const gsize x = k == 0 ? 0 : k == 1 ? widths[i] / 2 : widths[i] - 1;
            g_autoptr (SbImage) almost = make (widths[i], 1, depth);
            memset (sb_image_writable (almost), 0xff, n);
            if (depth == 8)
              sb_image_writable (almost)[4 * x + 3] = 254;
            else
              ((guint16 *)sb_image_writable (almost))[4 * x + 3] = 65534;
            g_assert_false (sb_image_is_opaque (almost));
          }
      }
}

static void
test_convert (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) wide = make (128, 128, 16);
  guint16 *w = (guint16 *)sb_image_writable (wide);
  for (guint v = 0; v < 65536; v++)
    w[v] = (guint16)v;
  sb_image_add_warning (wide, "one");
  sb_image_add_warning (wide, "two");

  g_autoptr (SbImage) narrow = sb_image_convert (wide, 8, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sb_image_get_depth (narrow), ==, 8);
  for (guint v = 0; v < 65536; v++)
    g_assert_cmpuint (sb_image_get_pixels (narrow)[v], ==, (2 * v + 257) / 514);
  g_assert_cmpstr (sb_image_get_warnings (narrow)[0], ==, "one");
  g_assert_cmpstr (sb_image_get_warnings (narrow)[1], ==, "two");
  g_assert_null (sb_image_get_warnings (narrow)[2]);

  g_autoptr (SbImage) back = sb_image_convert (narrow, 16, &error);
  g_assert_no_error (error);
  for (guint v = 0; v < 65536; v++)
    g_assert_cmpuint (((const guint16 *)sb_image_get_pixels (back))[v], ==,
                      sb_image_get_pixels (narrow)[v] * 257);

  g_autoptr (SbImage) same = sb_image_convert (back, 16, &error);
  g_assert_true (same == back);
}

static void
test_equal (void)
{
  g_autoptr (SbImage) a = make (4, 2, 8);
  g_autoptr (SbImage) b = make (4, 2, 8);
  g_autoptr (SbImage) turned = make (2, 4, 8);
  g_autoptr (SbImage) wide = make (2, 2, 16);

  memset (sb_image_writable (a), 7, 32);
  memset (sb_image_writable (b), 7, 32);
  memset (sb_image_writable (turned), 7, 32);
  memset (sb_image_writable (wide), 7, 32);
  g_assert_true (sb_image_equal (a, a));
  g_assert_true (sb_image_equal (a, b));
  g_assert_false (sb_image_equal (a, turned));
  g_assert_false (sb_image_equal (a, wide));
  sb_image_writable (b)[31] = 8;
  g_assert_false (sb_image_equal (a, b));
}

static gpointer
use (gpointer data)
{
  for (guint i = 0; i < 20000; i++)
    {
      SbImage *image = sb_image_ref (data);
      g_assert_false (sb_image_is_opaque (image));
      sb_image_unref (image);
    }
  sb_image_unref (data);
  return NULL;
}

static void
test_threads (void)
{
  SbImage *image = make (300, 200, 8);
  GThread *threads[4];

  memset (sb_image_writable (image), 0xff, sb_image_get_bytes (image));
  sb_image_writable (image)[sb_image_get_bytes (image) - 1] = 0;
  for (guint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("use", use, sb_image_ref (image));
  sb_image_unref (image);
  for (guint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/image/new", test_new);
  g_test_add_func ("/image/sides", test_sides);
  g_test_add_func ("/image/out-of-memory", test_out_of_memory);
  g_test_add_func ("/image/opaque", test_opaque);
  g_test_add_func ("/image/convert", test_convert);
  g_test_add_func ("/image/equal", test_equal);
  g_test_add_func ("/image/threads", test_threads);
  return g_test_run ();
}
