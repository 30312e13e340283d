/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <string.h>
#include <time.h>

#include <gio/gio.h>

#include "sb-error.h"
#include "sb-history.h"

typedef enum
{
  FILL_ZERO,
  FILL_MAXIMUM,
  FILL_NOISE,
  FILL_RAMP, /* steps of one and wraps around: the smallest and the largest differences */
  FILL_STRIPES,
  N_FILLS,
} Fill;

static SbImage *
make_image (guint width, guint height, guint depth, Fill fill, gboolean opaque)
{
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (width, height, depth, &error);

  g_assert_no_error (error);

  guint8 *bytes = sb_image_writable (image);
  guint16 *words = (guint16 *)bytes;
  gsize n = (gsize)width * height * 4;

  for (gsize i = 0; i < n; i++)
    {
      guint value = 0;

      switch (fill)
        {
        case FILL_ZERO:
          break;
        case FILL_MAXIMUM:
          value = 65535;
          break;
        case FILL_NOISE:
          value = (guint)g_test_rand_int () & 0xffff;
          break;
        case FILL_RAMP:
          value = (guint)(i * 16411) & 0xffff;
          break;
        case FILL_STRIPES:
        case N_FILLS:
          value = i / 4 % 2 == 0 ? 0 : 65535;
          break;
        }
      if (opaque && i % 4 == 3)
        value = 65535;
      if (depth == 8)
        bytes[i] = (guint8)(value >> 8);
      else
        words[i] = (guint16)value;
    }
  return image;
}

static void
assert_round_trip (SbImage *image)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbSnapshot) snapshot = sb_snapshot_new (image, NULL, &error);

  g_assert_no_error (error);

  g_autoptr (SbImage) again = sb_snapshot_restore (snapshot, &error);

  g_assert_no_error (error);
  g_assert_true (sb_image_equal (image, again));
  g_assert_cmpmem (sb_image_get_pixels (image), sb_image_get_bytes (image),
                   sb_image_get_pixels (again), sb_image_get_bytes (again));
}

static void
test_round_trip (void)
{
  const guint sizes[][2] = { { 1, 1 },     { 1, 2 },     { 2, 1 },     { 3, 5 },     { 640, 479 },
                             { 1, 70000 }, { 70000, 2 }, { 65536, 1 }, { 65537, 3 }, { 257, 256 } };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint depth = 8; depth <= 16; depth += 8)
      for (guint fill = 0; fill < N_FILLS; fill++)
        for (guint opaque = 0; opaque < 2; opaque++)
          {
            g_autoptr (SbImage) image
                = make_image (sizes[s][0], sizes[s][1], depth, fill, opaque != 0);

            assert_round_trip (image);
          }
}

/* Every difference of two samples there is, beside and below one another. */
static void
test_every_difference (void)
{
  for (guint depth = 8; depth <= 16; depth += 8)
    {
      guint side = depth == 8 ? 16 : 256;
      g_autoptr (SbImage) image = make_image (2 * side, side, depth, FILL_ZERO, FALSE);
      guint8 *bytes = sb_image_writable (image);

      for (guint i = 0; i < side * side; i++)
        for (guint c = 0; c < 4; c++)
          {
            gsize at = (gsize)i * 8 + c;

            if (depth == 8)
              bytes[at] = (guint8)i;
            else
              ((guint16 *)bytes)[at] = (guint16)i;
          }
      assert_round_trip (image);
    }
}

/* One alpha below the maximum, anywhere, and alpha must be kept. */
static void
test_one_alpha (void)
{
  for (guint depth = 8; depth <= 16; depth += 8)
    for (guint i = 0; i < 6; i++)
      {
        g_autoptr (SbImage) image = make_image (3, 2, depth, FILL_MAXIMUM, TRUE);
        guint8 *bytes = sb_image_writable (image);

        if (depth == 8)
          bytes[4 * i + 3] = 254;
        else
          ((guint16 *)bytes)[4 * i + 3] = 65534;
        assert_round_trip (image);
      }
}

static void
test_profile (void)
{
  g_autoptr (SbImage) image = make_image (5, 4, 16, FILL_NOISE, FALSE);
  g_autoptr (GBytes) profile = g_bytes_new_static ("not looked at", 13);

  sb_image_set_profile (image, profile);

  GBytes *own = sb_image_get_profile (image);
  g_autoptr (SbSnapshot) snapshot = sb_snapshot_new (image, NULL, NULL);
  g_autoptr (SbImage) again = sb_snapshot_restore (snapshot, NULL);
  GBytes *kept = sb_image_get_profile (again);

  if (own == NULL)
    g_assert_null (kept);
  else
    g_assert_true (g_bytes_equal (own, kept));
}

static void
test_wrap (void)
{
  g_autoptr (SbImage) image = make_image (5, 4, 8, FILL_NOISE, FALSE);
  g_autoptr (SbSnapshot) snapshot = sb_snapshot_wrap (image);
  g_autoptr (SbImage) again = sb_snapshot_restore (snapshot, NULL);

  g_assert_true (again == image);
  g_assert_cmpuint (sb_snapshot_get_bytes (snapshot), ==, 80);
}

static void
test_cancelled (void)
{
  g_autoptr (SbImage) image = make_image (5, 4, 16, FILL_NOISE, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);

  g_autoptr (SbSnapshot) snapshot = sb_snapshot_new (image, cancellable, &error);

  g_assert_null (snapshot);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A smooth picture must come out far smaller than it is, a plain one next to nothing. */
static void
test_ratio (void)
{
  g_autoptr (SbImage) plain = make_image (1000, 1000, 16, FILL_MAXIMUM, TRUE);
  g_autoptr (SbSnapshot) plain_snapshot = sb_snapshot_new (plain, NULL, NULL);
  g_autoptr (SbImage) smooth = make_image (1000, 1000, 16, FILL_ZERO, TRUE);
  guint16 *words = (guint16 *)sb_image_writable (smooth);

  g_assert_cmpuint (sb_snapshot_get_bytes (plain_snapshot), <, 8000);

  for (gint64 y = 0; y < 1000; y++)
    for (gint64 x = 0; x < 1000; x++)
      for (gint64 c = 0; c < 3; c++)
        words[(y * 1000 + x) * 4 + c] = (guint16)((x * x + y * (c + 1) * 20 + x * y) / 64);

  g_autoptr (SbSnapshot) snapshot = sb_snapshot_new (smooth, NULL, NULL);

  g_assert_cmpuint (sb_snapshot_get_bytes (snapshot), <, 1000000);
  assert_round_trip (smooth);
}

/* --- Figures --------------------------------------------------------------------------------- */

static void
box (guint16 *samples, gint64 n, gint64 step, gint64 radius, guint16 *line)
{
  guint64 sum = 0;

  for (gint64 i = 0; i < n; i++)
    line[i] = samples[i * step];
  for (gint64 j = -radius; j <= radius; j++)
    sum += line[CLAMP (j, 0, n - 1)];
  for (gint64 i = 0; i < n; i++)
    {
      samples[i * step] = (guint16)((sum + (guint64)radius) / (guint64)(2 * radius + 1));
      sum += line[MIN (i + radius + 1, n - 1)];
      sum -= line[MAX (i - radius, 0)];
    }
}

/* CPU time of all threads, so that what else the machine does counts little. */
static double
cpu_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

/* The best of five, in milliseconds. */
#define TIME(best, expression)                                                                     \
  do                                                                                               \
    {                                                                                              \
      best = G_MAXDOUBLE;                                                                          \
      for (guint run_ = 0; run_ < 5; run_++)                                                       \
        {                                                                                          \
          double start_ = cpu_ms ();                                                               \
          expression;                                                                              \
          best = MIN (best, cpu_ms () - start_);                                                   \
        }                                                                                          \
    }                                                                                              \
  while (0)

static int
print_figures (const char *path)
{
  const gint64 radii[] = { 14, 2, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GFile) file = g_file_new_for_commandline_arg (path);
  g_autoptr (SbImage) loaded = sb_image_load (file, 0, NULL, &error);

  if (loaded == NULL)
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  gint64 width = sb_image_get_width (loaded), height = sb_image_get_height (loaded);
  g_autofree guint16 *line = g_new (guint16, MAX (width, height));

  for (guint r = 0; r < G_N_ELEMENTS (radii); r++)
    {
      g_autoptr (SbImage) image = sb_image_new (width, height, 16, NULL);
      g_autoptr (SbImage) wide = sb_image_convert (loaded, 16, NULL);
      guint16 *words = (guint16 *)sb_image_writable (image);
      gsize bytes = sb_image_get_bytes (image);
      double copy, pack, unpack;

      memcpy (words, sb_image_get_pixels (wide), bytes);
      for (guint pass = 0; pass < 3 && radii[r] > 0; pass++)
        for (gint64 c = 0; c < 3; c++)
          {
            for (gint64 y = 0; y < height; y++)
              box (words + y * width * 4 + c, width, 4, radii[r], line);
            for (gint64 x = 0; x < width; x++)
              box (words + x * 4 + c, height, 4 * width, radii[r], line);
          }

      g_autofree guint8 *target = g_malloc0 (bytes);
      SbSnapshot *snapshot = NULL;
      SbImage *again = NULL;

      TIME (copy, memcpy (target, words, bytes));
      TIME (pack, g_clear_pointer (&snapshot, sb_snapshot_unref);
            snapshot = sb_snapshot_new (image, NULL, NULL));
      TIME (unpack, g_clear_pointer (&again, sb_image_unref);
            again = sb_snapshot_restore (snapshot, NULL));
      g_assert_true (sb_image_equal (image, again));
      g_print ("%s %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT " radius %" G_GINT64_FORMAT
               ": %.2f bytes/px, memcpy %.1f ms, pack %.0f ms (%.1f x), restore %.0f ms (%.1f x)\n",
               path, width, height, radii[r],
               (double)sb_snapshot_get_bytes (snapshot) / (double)(width * height), copy, pack,
               pack / copy, unpack, unpack / copy);
      sb_snapshot_unref (snapshot);
      sb_image_unref (again);
    }
  return 0;
}

int
main (int argc, char **argv)
{
  if (argc > 2 && g_str_equal (argv[1], "--figures"))
    {
      int status = 0;

      for (int i = 2; i < argc; i++)
        status |= print_figures (argv[i]);
      return status;
    }

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/snapshot/round-trip", test_round_trip);
  g_test_add_func ("/snapshot/every-difference", test_every_difference);
  g_test_add_func ("/snapshot/one-alpha", test_one_alpha);
  g_test_add_func ("/snapshot/profile", test_profile);
  g_test_add_func ("/snapshot/wrap", test_wrap);
  g_test_add_func ("/snapshot/cancelled", test_cancelled);
  g_test_add_func ("/snapshot/ratio", test_ratio);
  return g_test_run ();
}
