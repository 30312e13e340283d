/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "pictures.h"
#include "sb-arith.h"
#include "sb-cpu-haar.h"
#include "sb-error.h"
#include "sb-haar.h"
#include "sb-isa.h"

#include <math.h>
#include <string.h>

/* --- Names and places ------------------------------------------------------------------------ */

static void
test_levels (void)
{
  static const guint cases[][3]
      = { { 1, 1, 1 },        { 2, 1, 1 },     { 1, 3, 2 },     { 4, 4, 2 },       { 5, 1, 3 },
          { 6000, 4000, 13 }, { 8192, 1, 13 }, { 8193, 1, 14 }, { 1000000, 7, 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (sb_haar_max_levels (cases[i][0], cases[i][1]), ==, cases[i][2]);
  g_assert_cmpuint (sb_haar_side (7, 0), ==, 7);
  g_assert_cmpuint (sb_haar_side (7, 1), ==, 4);
  g_assert_cmpuint (sb_haar_side (7, 2), ==, 2);
  g_assert_cmpuint (sb_haar_side (7, 9), ==, 1);
}

static void
test_names (void)
{
  static const char *const order[] = { "cA2", "cH2", "cV2", "cD2", "cH1", "cV1", "cD1" };
  static const char *const refused[]
      = { "", "cA", "cA1", "cH3", "cH0", "CH1", "cX1", "cH1 ", "H1", "cH01", "\xff" };

  g_assert_cmpuint (sb_haar_n_bands (2), ==, G_N_ELEMENTS (order));
  for (guint n = 0; n < G_N_ELEMENTS (order); n++)
    {
      g_autofree char *name = sb_haar_band_name (sb_haar_nth_band (2, n));
      SbHaarBand band;

      g_assert_cmpstr (name, ==, order[n]);
      g_assert_true (sb_haar_band_parse (name, 2, &band, NULL));
      g_assert_cmpuint (sb_haar_band_index (2, band), ==, n);
    }
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      SbHaarBand band;
      g_autoptr (GError) error = NULL;

      g_assert_false (sb_haar_band_parse (refused[i], 2, &band, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "cA2"));
      g_assert_nonnull (strstr (error->message, "1 to 2"));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }

  for (guint c = 0; c < SB_N_HAAR_CHANNELS; c++)
    {
      SbHaarChannel channel;

      g_assert_true (sb_haar_channel_parse (sb_haar_channel_key (c), &channel, NULL));
      g_assert_cmpuint (channel, ==, c);
    }
  SbHaarChannel channel;
  g_autoptr (GError) error = NULL;
  g_assert_false (sb_haar_channel_parse ("Red", &channel, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "“Red”"));
  g_assert_nonnull (strstr (error->message, "lightness, luma, red, green, blue, alpha"));
}

static void
test_mosaic (void)
{
  SbHaarCell cells[1 + 3 * 3];
  guint columns, rows;

  /* 7 x 5: 4 x 3, 2 x 2, 1 x 1. */
  sb_haar_mosaic (7, 5, 3, SB_HAAR_PYRAMID, &columns, &rows, cells);
  g_assert_cmpuint (columns, ==, 1 + 1 + 2 + 4);
  g_assert_cmpuint (rows, ==, 1 + 1 + 2 + 3);
  static const double places[][4] = {
    { 0, 0, 1, 1 }, { 0, 1, 1, 1 }, { 1, 0, 1, 1 }, { 1, 1, 1, 1 }, { 0, 2, 2, 2 },
    { 2, 0, 2, 2 }, { 2, 2, 2, 2 }, { 0, 4, 4, 3 }, { 4, 0, 4, 3 }, { 4, 4, 4, 3 },
  };
  for (guint n = 0; n < G_N_ELEMENTS (places); n++)
    {
      g_assert_cmpfloat (cells[n].x, ==, places[n][0]);
      g_assert_cmpfloat (cells[n].y, ==, places[n][1]);
      g_assert_cmpuint (cells[n].columns, ==, (guint)places[n][2]);
      g_assert_cmpuint (cells[n].rows, ==, (guint)places[n][3]);
      g_assert_cmpfloat (cells[n].scale, ==, 1);
    }

  sb_haar_mosaic (7, 5, 3, SB_HAAR_GRID, &columns, &rows, cells);
  g_assert_cmpuint (columns, ==, 4 * 4 + 3 * 8);
  g_assert_cmpuint (rows, ==, 3 * 3 + 2 * 8);
  g_assert_cmpfloat (cells[0].x, ==, 0); /* cA3 */
  g_assert_cmpfloat (cells[0].y, ==, 22);
  g_assert_cmpfloat (cells[0].scale, ==, 4);
  g_assert_cmpfloat (cells[5].x, ==, 24); /* cV2 */
  g_assert_cmpfloat (cells[5].y, ==, 11);
  g_assert_cmpfloat (cells[5].scale, ==, 2);
}

static void
test_colors (void)
{
  SbHaarLook look = { SB_HAAR_PYRAMID, SB_HAAR_SIGNED, 1, FALSE, FALSE };
  guint8 rgb[3];

  sb_haar_color (&look, 0, rgb);
  g_assert_cmpuint (rgb[0], ==, 128);
  sb_haar_color (&look, -7, rgb);
  g_assert_cmpuint (rgb[1], ==, 0);
  sb_haar_color (&look, 1, rgb);
  g_assert_cmpuint (rgb[2], ==, 255);
  look.display = SB_HAAR_MAGNITUDE;
  sb_haar_color (&look, -1, rgb);
  g_assert_cmpuint (rgb[0], ==, 255);
  sb_haar_color (&look, 0, rgb);
  g_assert_cmpuint (rgb[0], ==, 0);
  look.display = SB_HAAR_COLOR;
  sb_haar_color (&look, 0, rgb);
  g_assert_true (rgb[0] == 255 && rgb[1] == 255 && rgb[2] == 255);
  sb_haar_color (&look, 0.9, rgb);
  g_assert_cmpuint (rgb[0], >, rgb[2]); /* orange */
  sb_haar_color (&look, -0.9, rgb);
  g_assert_cmpuint (rgb[2], >, rgb[0]); /* blue */
  look.dark = TRUE;
  sb_haar_color (&look, 0, rgb);
  g_assert_cmpuint (rgb[0] + rgb[1] + rgb[2], <, 90);
}

/* --- The transform --------------------------------------------------------------------------- */

static SbSource
source_of (SbImage *image)
{
  return (SbSource){ sb_image_get_depth (image) == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
                     sb_image_get_width (image),
                     sb_image_get_height (image),
                     sb_image_get_pixels (image),
                     sb_image_get_stride (image),
                     FALSE };
}

static SbCpuHaar *
on_cpu (SbImage *image, const SbHaarChoice *choice, guint threads)
{
  SbParallel *parallel = sb_parallel_new (threads);
  const SbSource source = source_of (image);
  g_autoptr (GError) error = NULL;
  SbCpuHaar *haar
      = sb_cpu_haar_new (source.width, source.height, sb_image_get_depth (image), choice, &error);

  g_assert_no_error (error);
  /* What was in it must not matter. */
  memset (haar->memory, 0xff, haar->bytes);
  g_assert_true (sb_cpu_haar_transform (haar, &source, parallel, NULL, &error));
  g_assert_no_error (error);
  sb_parallel_free (parallel);
  return haar;
}

static gboolean
same_plane (const SbHaarPlane *plane, const float *expected, const char *what)
{
  for (guint j = 0; j < plane->rows; j++)
    if (memcmp (plane->values + j * plane->stride, expected + (gsize)j * plane->columns,
                plane->columns * sizeof (float))
        != 0)
      {
        for (guint i = 0; i < plane->columns; i++)
          {
            const float x = plane->values[j * plane->stride + i];
            const float y = expected[(gsize)j * plane->columns + i];

            if (memcmp (&x, &y, sizeof x) != 0)
              {
                g_test_message ("%s at %u,%u: expected %.9g, got %.9g", what, i, j, y, x);
                break;
              }
          }
        g_test_fail ();
        return FALSE;
      }
  return TRUE;
}

/* The host's and the CPU's bands, each on every instruction set, against the reference; and back.
 */
static gboolean
check (SbImage *image, const SbHaarChoice *choice, guint threads)
{
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  g_autofree float *samples = sb_reference_channel (image, choice->channel);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbHaar) host = sb_haar_new (image, choice, &error);
  SbReferenceHaar reference;
  gboolean same = TRUE;

  g_assert_no_error (error);
  sb_reference_haar (samples, width, height, choice->levels, &reference);
  for (guint n = 0; same && n < sb_haar_n_bands (choice->levels); n++)
    {
      const SbHaarBand band = sb_haar_nth_band (choice->levels, n);
      guint columns, rows;
      const float *values = sb_haar_get_band (host, band, &columns, &rows);
      const SbHaarPlane plane = { (float *)values, columns, columns, rows };
      g_autofree char *name = sb_haar_band_name (band);
      g_autofree char *what = g_strdup_printf (
          "%s of %s, %u levels, %ux%u, %u bits", name, sb_haar_channel_key (choice->channel),
          choice->levels, width, height, sb_image_get_depth (image));

      g_assert_cmpuint (columns, ==, sb_haar_side (width, band.level));
      g_assert_cmpuint (rows, ==, sb_haar_side (height, band.level));
      same = same_plane (&plane, sb_reference_haar_band (&reference, band), what);
    }
  for (SbIsa isa = SB_ISA_BASE; same && isa < SB_N_ISAS; isa++)
    {
      if (!sb_isa_is_available (isa))
        continue;
      sb_isa_force (isa);
      g_autoptr (SbCpuHaar) haar = on_cpu (image, choice, threads);
      for (guint n = 0; same && n < sb_haar_n_bands (choice->levels); n++)
        {
          const SbHaarBand band = sb_haar_nth_band (choice->levels, n);
          g_autofree char *name = sb_haar_band_name (band);
          g_autofree char *what
              = g_strdup_printf ("%s of %s, %u levels, %ux%u, %u bits, %u threads, %s", name,
                                 sb_haar_channel_key (choice->channel), choice->levels, width,
                                 height, sb_image_get_depth (image), threads, sb_isa_name (isa));

          same = same_plane (&haar->set.planes[n], sb_reference_haar_band (&reference, band), what);
        }

      /* The error is what the reference's inverse has, and 0 where it is promised to be. */
      SbParallel *parallel = sb_parallel_new (threads);
      const SbSource source = source_of (image);
      const double got = sb_cpu_haar_error (haar, &source, parallel, NULL);
      g_autofree float *back = sb_reference_haar_inverse (&reference, width, height);
      double expected = 0;
      SbHaarSummary summary;

      sb_parallel_free (parallel);
      for (gsize i = 0; i < (gsize)width * height; i++)
        {
          expected = MAX (expected, fabs ((double)back[i] - samples[i]));
          g_assert_cmpfloat (rint (back[i]), ==, samples[i]);
        }
      g_assert_cmpfloat (got, ==, expected);
      sb_haar_summarize (host, &summary);
      g_assert_cmpfloat (summary.reconstruction_error, ==, expected);
      const guint exact = sb_image_get_depth (image) == 16       ? 4
                          : choice->channel == SB_HAAR_LIGHTNESS ? 7
                                                                 : 8;
      if (choice->levels
          <= exact - (sb_image_get_depth (image) == 16 && choice->channel == SB_HAAR_LIGHTNESS))
        g_assert_cmpfloat (got, ==, 0);
    }
  sb_reference_haar_clear (&reference);
  return same;
}

static void
sweep (guint rounds, guint max_width, guint max_height)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (sb_test_seed ());

  for (guint round = 0; round < rounds; round++)
    {
      const guint width = (guint)g_rand_int_range (rand, 1, (gint32)max_width + 1);
      const guint height = (guint)g_rand_int_range (rand, 1, (gint32)max_height + 1);
      const SbFill fill = (SbFill)g_rand_int_range (rand, 0, SB_N_FILLS);
      g_autoptr (SbImage) image
          = sb_fill_image (width, height, fill, 9, g_rand_boolean (rand) ? 8 : 16, rand);
      const SbHaarChoice choice
          = { (SbHaarChannel)g_rand_int_range (rand, 0, SB_N_HAAR_CHANNELS),
              (guint)g_rand_int_range (rand, 1, (gint32)sb_haar_max_levels (width, height) + 1) };

      if (sb_test_in_share () && !check (image, &choice, (guint)g_rand_int_range (rand, 1, 4)))
        return;
    }
}

static void
test_small (void)
{
  sweep (300, 9, 9);
}

static void
test_middle (void)
{
  sweep (120, 150, 130);
}

static void
test_long (void)
{
  sweep (30, 3000, 2);
  sweep (30, 2, 3000);
}

/* So large that bands go past the caches. */
static void
test_large (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbImage) image = sb_fill_image (2051, 1033, SB_FILL_NOISE_ALPHA, 9, depth, rand);
      const SbHaarChoice choice = { SB_HAAR_LIGHTNESS, depth == 8 ? 5 : 12 };

      check (image, &choice, 2);
    }
}

static void
test_too_many (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  g_autoptr (SbImage) image = sb_fill_image (9, 5, SB_FILL_NOISE, 9, 8, rand);
  static const guint levels[] = { 0, 5, 20, 21, G_MAXUINT };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      const SbHaarChoice choice = { SB_HAAR_RED, levels[i] };
      g_autoptr (GError) error = NULL;

      g_assert_null (sb_haar_new (image, &choice, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "1 to 4"));
    }
}

/* --- Measures -------------------------------------------------------------------------------- */

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void
assert_close (double actual, double expected)
{
  g_assert_cmpfloat_with_epsilon (actual, expected, 1e-9 * (1 + fabs (expected)));
}

/* By their definitions, on sorted copies. */
static void
check_measures (const SbHaar *haar, SbHaarBand band, double total)
{
  guint columns, rows;
  const float *values = sb_haar_get_band (haar, band, &columns, &rows);
  const gsize n = (gsize)columns * rows;
  g_autofree double *x = g_new (double, n);
  SbHaarStatistics statistics;
  double sum = 0, squares = 0, deviation = 0, near_zero = 0, entropy = 0;

  for (gsize i = 0; i < n; i++)
    {
      x[i] = ldexp (values[i], (int)band.level);
      sum += x[i];
      squares += x[i] * x[i];
      near_zero += fabs (x[i]) < 0.5;
    }
  for (gsize i = 0; i < n; i++)
    deviation += (x[i] - sum / n) * (x[i] - sum / n);
  sb_haar_measure (haar, band, &statistics);
  g_assert_cmpuint (statistics.count, ==, n);
  assert_close (statistics.mean, sum / n);
  assert_close (statistics.energy, squares);
  assert_close (statistics.share, total > 0 ? squares / total : 0);
  assert_close (statistics.deviation, sqrt (deviation / n));
  assert_close (statistics.near_zero, near_zero / n);

  double width = 1.0 / 16;
  while (127 * width < 3 * sqrt (squares / n))
    width *= 2;
  g_assert_cmpfloat (statistics.bin_width, ==, width);
  guint64 histogram[SB_HAAR_BINS] = { 0 };
  for (gsize i = 0; i < n; i++)
    histogram[(gsize)CLAMP (floor (x[i] / width + 0.5) + 127, 0, 254)]++;
  g_assert_cmpmem (statistics.histogram, sizeof histogram, histogram, sizeof histogram);

  qsort (x, n, sizeof *x, compare_doubles);
  for (gsize i = 0, k; i < n; i = k)
    {
      for (k = i; k < n && floor (x[k] + 0.5) == floor (x[i] + 0.5); k++)
        ;
      entropy -= (double)(k - i) / n * log2 ((double)(k - i) / n);
    }
  assert_close (statistics.entropy, entropy);
}

static void
test_measures (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (sb_test_seed ());

  for (guint round = 0; round < 40; round++)
    {
      const guint width = (guint)g_rand_int_range (rand, 1, 300);
      const guint height = (guint)g_rand_int_range (rand, 1, 200);
      g_autoptr (SbImage) image = sb_fill_image (width, height, (SbFill)(round % SB_N_FILLS), 9,
                                                 round % 2 ? 8 : 16, rand);
      const SbHaarChoice choice
          = { (SbHaarChannel)(round % SB_N_HAAR_CHANNELS), sb_haar_max_levels (width, height) };
      g_autoptr (SbHaar) haar = sb_haar_new (image, &choice, NULL);
      const guint n_bands = sb_haar_n_bands (choice.levels);
      double total = 0;
      SbHaarSummary summary;

      for (guint n = 0; n < n_bands; n++)
        {
          const SbHaarBand band = sb_haar_nth_band (choice.levels, n);
          guint columns, rows;
          const float *values = sb_haar_get_band (haar, band, &columns, &rows);

          for (gsize i = 0; i < (gsize)columns * rows; i++)
            total += ldexp (values[i], (int)band.level) * ldexp (values[i], (int)band.level);
        }
      for (guint n = 0; n < n_bands; n++)
        check_measures (haar, sb_haar_nth_band (choice.levels, n), total);

      guint columns, rows;
      const float *finest = sb_haar_get_band (haar, (SbHaarBand){ 1, SB_HAAR_D }, &columns, &rows);
      const gsize n = (gsize)columns * rows;
      g_autofree double *sizes = g_new (double, n);
      for (gsize i = 0; i < n; i++)
        sizes[i] = fabs (2 * (double)finest[i]);
      qsort (sizes, n, sizeof *sizes, compare_doubles);
      sb_haar_summarize (haar, &summary);
      assert_close (summary.noise, (sizes[(n - 1) / 2] + sizes[n / 2]) / 2 / 0.6745);
      /* In levels of the picture, where lightness is max + min, and 16 bits are 257 to a level. */
      const double unit = (choice.channel == SB_HAAR_LIGHTNESS ? 2.0 : 1.0)
                          * (sb_haar_get_depth (haar) == 16 ? 257 : 1);
      assert_close (summary.noise_levels * unit, summary.noise);
    }
}

/* The same with any number of threads. */
static void
test_measure_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (SbImage) image = sb_fill_image (1200, 700, SB_FILL_NOISE, 9, 16, rand);
  const SbHaarChoice choice = { SB_HAAR_LUMA, 3 };
  g_autoptr (SbHaar) host = sb_haar_new (image, &choice, NULL);

  for (guint threads = 1; threads <= 4; threads++)
    {
      SbParallel *parallel = sb_parallel_new (threads);
      g_autoptr (SbCpuHaar) haar = on_cpu (image, &choice, threads);

      for (guint n = 0; n < sb_haar_n_bands (3); n++)
        {
          const SbHaarBand band = sb_haar_nth_band (3, n);
          SbHaarStatistics expected, actual;
          SbHaarTotals totals[1 + 3 * 3];
          const double total = sb_haar_bands_totals (&haar->set, totals, parallel, NULL);

          sb_haar_measure (host, band, &expected);
          g_assert_true (sb_haar_plane_measure (&haar->set.planes[n], band.level, &totals[n], total,
                                                &actual, parallel, NULL));
          g_assert_cmpmem (&actual, sizeof actual, &expected, sizeof expected);
        }
      sb_parallel_free (parallel);
    }
}

/* --- The display ----------------------------------------------------------------------------- */

/* A pixel by the words of the header, in double. */
static void
expected_pixel (const SbHaarBands *set, const SbView *view, int i, int j, guint8 rgb[3])
{
  SbHaarCell cells[1 + 3 * SB_HAAR_MAX_LEVELS];
  const double x = view->x + (i + 0.5) / view->zoom, y = view->y + (j + 0.5) / view->zoom;
  const guint levels = set->choice.levels;

  memcpy (rgb, view->ground, 3);
  sb_haar_mosaic (set->width, set->height, levels, view->look.layout, NULL, NULL, cells);
  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    {
      const SbHaarCell *cell = &cells[n];
      const SbHaarPlane *plane = &set->planes[n];
      double width = cell->columns * cell->scale, height = cell->rows * cell->scale;
      const double sample
          = (set->depth == 16 ? 1 / 257.0 : 1) / (set->choice.channel == SB_HAAR_LIGHTNESS ? 2 : 1);

      if (view->look.layout == SB_HAAR_GRID)
        {
          width = MIN (width, (set->width + 1) / 2);
          height = MIN (height, (set->height + 1) / 2);
        }
      if (x < cell->x || y < cell->y || x >= cell->x + width || y >= cell->y + height)
        continue;

      double best = 0, sum = 0;
      guint count = 0;
      for (guint r = 0; r < cell->rows; r++)
        for (guint c = 0; c < cell->columns; c++)
          {
            const double left = cell->x + c * cell->scale, top = cell->y + r * cell->scale;
            const double right = left + cell->scale, bottom = top + cell->scale;
            const float value = plane->values[r * plane->stride + c];
            gboolean touched;

            if (view->zoom * cell->scale >= 1)
              touched = x >= left && x < right && y >= top && y < bottom;
            else
              touched = left < MIN (view->x + (i + 1) / view->zoom, cell->x + width)
                        && right > MAX (view->x + i / view->zoom, cell->x)
                        && top < MIN (view->y + (j + 1) / view->zoom, cell->y + height)
                        && bottom > MAX (view->y + j / view->zoom, cell->y);
            if (!touched)
              continue;
            if (count == 0 || fabs (value) > fabs (best)
                || (fabs (value) == fabs (best) && value > 0))
              best = value;
            sum += value;
            count++;
          }
      g_assert_cmpuint (count, >, 0);
      if (cell->band.orientation == SB_HAAR_A)
        {
          rgb[0] = rgb[1] = rgb[2] = (guint8)(CLAMP (sum / count * sample, 0, 255) + 0.5);
          return;
        }
      double u
          = CLAMP (best * sample * ldexp (view->look.gain / 255, (int)cell->band.level), -1, 1);
      if (view->look.logarithmic)
        u = copysign (log2 (1 + 255 * fabs (u)) / 8, u);
      sb_haar_color (&view->look, u, rgb);
      return;
    }
}

static void
test_show (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (sb_test_seed ());
  SbParallel *parallel = sb_parallel_new (2);

  for (guint round = 0; round < 150; round++)
    {
      const guint width = (guint)g_rand_int_range (rand, 1, 60);
      const guint height = (guint)g_rand_int_range (rand, 1, 60);
      g_autoptr (SbImage) image = sb_fill_image (width, height, (SbFill)(round % SB_N_FILLS), 9,
                                                 round % 2 ? 8 : 16, rand);
      const SbHaarChoice choice
          = { (SbHaarChannel)(round % SB_N_HAAR_CHANNELS),
              (guint)g_rand_int_range (rand, 1, (gint32)sb_haar_max_levels (width, height) + 1) };
      const SbIsa isa = (SbIsa)(round % SB_N_ISAS);
      if (sb_isa_is_available (isa))
        sb_isa_force (isa);
      g_autoptr (SbCpuHaar) haar = on_cpu (image, &choice, 1);
      const SbView view = {
        .what = SB_SHOW_SUBBANDS,
        .width = g_rand_int_range (rand, 1, 50),
        .height = g_rand_int_range (rand, 1, 40),
        /* Whole parts of 64, so that nothing lies just beside an edge by rounding. */
        .zoom = ldexp (1, g_rand_int_range (rand, -4, 4)),
        .x = g_rand_int_range (rand, -640, 3000) / 64.0,
        .y = g_rand_int_range (rand, -640, 3000) / 64.0,
        .checker_size = 8,
        .ground = { 7, 8, 9 },
        .look
        = { (SbHaarLayout)g_rand_int_range (rand, 0, 2),
            (SbHaarDisplay)g_rand_int_range (rand, 0, 3), ldexp (1, g_rand_int_range (rand, -2, 9)),
            g_rand_boolean (rand), g_rand_boolean (rand) },
      };
      const gsize stride = 4 * (gsize)view.width + 12;
      g_autofree guint8 *shown = g_malloc (stride * (gsize)view.height);
      g_autoptr (GError) error = NULL;

      g_assert_true (sb_cpu_haar_show (&view, &haar->set, shown, stride, parallel, &error));
      g_assert_no_error (error);
      for (int j = 0; j < view.height; j++)
        for (int i = 0; i < view.width; i++)
          {
            const guint8 *got = shown + (gsize)j * stride + 4 * (gsize)i;
            guint8 rgb[3];

            expected_pixel (&haar->set, &view, i, j, rgb);
            for (guint c = 0; c < 3; c++)
              if (ABS ((int)got[c] - (int)rgb[c]) > 1)
                {
                  g_test_message ("round %u, %ux%u, %u levels, zoom %g, layout %d, display %d, at "
                                  "%d,%d: expected %u,%u,%u, got %u,%u,%u",
                                  round, width, height, choice.levels, view.zoom, view.look.layout,
                                  view.look.display, i, j, rgb[0], rgb[1], rgb[2], got[0], got[1],
                                  got[2]);
                  g_test_fail ();
                  sb_parallel_free (parallel);
                  return;
                }
            g_assert_cmpuint (got[3], ==, 255);
          }
    }
  sb_parallel_free (parallel);
}

/* Every colour up to its alpha and a little beyond; all alphas with -m slow, a share of them
 * otherwise. */
static void
test_store_alpha (void)
{
  const SbIsa best = sb_isa_get ();
  g_autofree float *colours = g_new (float, 65536);
  g_autofree guint16 *alphas = g_new (guint16, 4 * 65536);
  g_autofree guint16 *stored = g_new (guint16, 4 * 65536);

  for (guint c = 0; c < 65536; c++)
    colours[c] = (float)c;
  for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
    {
      if (!sb_isa_is_available (isa))
        continue;
      sb_isa_force (isa);
      const SbHaarKernels *kernels = sb_haar_kernels_get ();
      for (guint a = 0; a < 65536; a += a < 300 || a >= 65500 || g_test_slow () ? 1 : 97)
        {
          const guint n = MIN (a + 3, 65536);

          for (guint c = 0; c < n; c++)
            alphas[4 * c] = (guint16)a;
          kernels->store_16 (colours, colours, colours, n, FALSE, alphas, stored);
          for (guint c = 0; c < n; c++)
            {
              const guint16 wanted = sb_unpremultiply (c, a);

              for (guint k = 0; k < 3; k++)
                if (stored[4 * c + k] != wanted)
                  g_error ("%u under %u: %u, not %u", c, a, stored[4 * c + k], wanted);
              g_assert_cmpuint (stored[4 * c + 3], ==, a);
            }
        }
      /* And those of 8 bits. */
      guint8 pixels[4 * 256];
      for (guint v = 0; v < 4 * 256; v++)
        pixels[v] = (guint8)(v % 4 == 3 ? v / 4 : 255 - v / 4);
      for (guint n = 0; n <= 256; n += 51)
        {
          kernels->alphas_8 (pixels, n, alphas);
          for (guint v = 0; v < n; v++)
            g_assert_cmpuint (alphas[4 * v], ==, v * 257);
        }
    }
  sb_isa_force (best);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/haar/store-alpha", test_store_alpha);
  g_test_add_func ("/haar/levels", test_levels);
  g_test_add_func ("/haar/names", test_names);
  g_test_add_func ("/haar/mosaic", test_mosaic);
  g_test_add_func ("/haar/colors", test_colors);
  g_test_add_func ("/haar/small", test_small);
  g_test_add_func ("/haar/middle", test_middle);
  g_test_add_func ("/haar/long", test_long);
  g_test_add_func ("/haar/large", test_large);
  g_test_add_func ("/haar/too-many", test_too_many);
  g_test_add_func ("/haar/measures", test_measures);
  g_test_add_func ("/haar/measure-threads", test_measure_threads);
  g_test_add_func ("/haar/show", test_show);
  return g_test_run ();
}
