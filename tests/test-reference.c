/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "pictures.h"
#include "sb-tone.h"

#include <math.h>
#include <string.h>

/* The reference against values worked out by hand, and the tables and formulas of the core that
 * have few enough inputs to try them all. */

#define MAXIMUM 65535

static SbReferenceTone srgb;

/* --- By hand --------------------------------------------------------------------------------- */

/* A row of opaque grey pixels, or a column of them, blurred; back into the row. */
static void
blur_row (guint16 *row, guint n, const SbEdit *edit)
{
  const gboolean upright = edit->values[SB_BLUR_DIRECTION] == SB_DIRECTION_VERTICAL;
  g_autofree guint16 *in = g_new (guint16, 4 * n), *out = g_new (guint16, 4 * n);

  for (guint i = 0; i < n; i++)
    {
      in[4 * i] = in[4 * i + 1] = in[4 * i + 2] = row[i];
      in[4 * i + 3] = MAXIMUM;
    }
  sb_reference_blur (in, out, upright ? 1 : n, upright ? n : 1, edit, &srgb);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpuint (out[4 * i], ==, out[4 * i + 1]);
      g_assert_cmpuint (out[4 * i], ==, out[4 * i + 2]);
      g_assert_cmpuint (out[4 * i + 3], ==, MAXIMUM);
      row[i] = out[4 * i];
    }
}

#define assert_row(row, ...)                                                                       \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const guint16 expected_[] = { __VA_ARGS__ };                                                   \
    for (guint i_ = 0; i_ < G_N_ELEMENTS (expected_); i_++)                                        \
      g_assert_cmpuint ((row)[i_], ==, expected_[i_]);                                             \
  }                                                                                                \
  G_STMT_END

/* A window of 5, three times: 1 3 6 10 15 18 19 18 … over 125, were it not rounded each time:
 * 13107, then 2621.4 5242.8 7864.2 10485.6 13107, then fifths of sums of those rounded. */
static void
test_impulse (void)
{
  for (guint vertical = 0; vertical < 2; vertical++)
    {
      guint16 row[17] = { [8] = MAXIMUM };
      SbEdit edit = sb_test_blur (2, 1, FALSE);

      edit.values[SB_BLUR_DIRECTION] = vertical ? SB_DIRECTION_VERTICAL : SB_DIRECTION_HORIZONTAL;
      blur_row (row, 17, &edit);
      assert_row (row, 0, 0, 0, 0, 0, 0, 13107, 13107, 13107, 13107, 13107, 0, 0, 0, 0, 0, 0);
      blur_row (row, 17, &edit);
      assert_row (row, 0, 0, 0, 0, 2621, 5243, 7864, 10486, 13107, 10486, 7864, 5243, 2621, 0, 0, 0,
                  0);
      blur_row (row, 17, &edit);
      assert_row (row, 0, 0, 524, 1573, 3146, 5243, 7864, 9437, 9961, 9437, 7864, 5243, 3146, 1573,
                  524, 0, 0);

      guint16 again[17] = { [8] = MAXIMUM };
      edit.values[SB_BLUR_PASSES] = 3;
      blur_row (again, 17, &edit);
      g_assert_cmpmem (again, sizeof again, row, sizeof row);
    }
}

/* Radius 1.5: 16 16 16 and twice 8, over 64. */
static void
test_fraction (void)
{
  guint16 row[7] = { [3] = MAXIMUM };
  SbEdit edit = sb_test_blur (1.5, 1, FALSE);

  blur_row (row, 7, &edit);
  assert_row (row, 0, 8192, 16384, 16384, 16384, 8192, 0);

  /* A sixteenth alone: 16 and twice 1, over 18. 18 * 3640.83 = 65535. */
  guint16 least[3] = { 0, MAXIMUM, 0 };
  edit.values[SB_BLUR_RADIUS] = 0.0625;
  blur_row (least, 3, &edit);
  assert_row (least, 3641, 58253, 3641);

  /* Halves go up: a quarter, a half, a quarter of 9 are 2.25, 4.5, 2.25. */
  guint16 halves[4] = { 0, 9, 0, 0 };
  edit.values[SB_BLUR_RADIUS] = 0.5;
  blur_row (halves, 4, &edit);
  assert_row (halves, 2, 5, 2, 0);
}

static void
test_edges (void)
{
  SbEdit edit = sb_test_blur (2, 1, FALSE);

  /* 0 0 [0 100 1000] 1000 1000 */
  guint16 clamped[3] = { 0, 100, 1000 };
  blur_row (clamped, 3, &edit);
  assert_row (clamped, 220, 420, 620);

  /* 100 0 [0 100 1000] 1000 100 */
  guint16 mirrored[3] = { 0, 100, 1000 };
  edit.values[SB_BLUR_EDGE] = SB_EDGE_MIRROR;
  blur_row (mirrored, 3, &edit);
  assert_row (mirrored, 240, 420, 440);

  /* The mirror repeats: 100 1000 1000 100 0 [0 100 1000] 1000 100 0 0 100, windows of 11. */
  guint16 far[3] = { 0, 100, 1000 };
  edit.values[SB_BLUR_RADIUS] = 5;
  blur_row (far, 3, &edit);
  assert_row (far, 400, 391, 309);

  /* Nothing but itself to see. */
  guint16 single[1] = { 12345 };
  edit.values[SB_BLUR_RADIUS] = 2000;
  edit.values[SB_BLUR_PASSES] = 10;
  blur_row (single, 1, &edit);
  assert_row (single, 12345);
}

/* All passes along the rows, then all along the columns. Of two samples a b radius 1 makes
 * round ((2a + b) / 3), round ((a + 2b) / 3). So 1 0 / 0 4 becomes along the rows 1 0 / 1 3, then
 * 1 0 / 2 2, and along the columns 1 1 / 2 1 twice. Rows and columns in turn would end in
 * 1 1 / 1 2, columns first in 1 2 / 1 1. */
static void
test_order (void)
{
  static const guint16 samples[4] = { 1, 0, 0, 4 }, expected[4] = { 1, 1, 2, 1 };
  guint16 in[16], out[16];
  const SbEdit edit = sb_test_blur (1, 2, FALSE);

  for (guint i = 0; i < 16; i++)
    in[i] = i % 4 == 3 ? MAXIMUM : samples[i / 4];
  sb_reference_blur (in, out, 2, 2, &edit, &srgb);
  for (guint i = 0; i < 16; i++)
    g_assert_cmpuint (out[i], ==, i % 4 == 3 ? MAXIMUM : expected[i / 4]);
}

static void
test_alpha (void)
{
  /* A red pixel beside one of alpha 0 that hides green. */
  const guint16 in[8] = { MAXIMUM, 0, 0, MAXIMUM, 5, MAXIMUM, 7, 0 };
  guint16 out[8];
  SbEdit edit = sb_test_blur (1, 1, TRUE);

  sb_reference_blur (in, out, 2, 1, &edit, &srgb);
  assert_row (out, MAXIMUM, 0, 0, 43690, MAXIMUM, 0, 0, 21845);

  /* Where no alpha is left there is no colour. */
  const guint16 clear[8] = { 1, 2, 3, 0, 4, 5, 6, 0 };
  sb_reference_blur (clear, out, 2, 1, &edit, &srgb);
  assert_row (out, 0, 0, 0, 0, 0, 0, 0, 0);

  /* 1 of 32767 / 65535 is less than a half, of 32768 / 65535 more. */
  const guint16 straight[8] = { 1, 3, MAXIMUM, 32767, 1, 3, MAXIMUM, 32768 };
  guint16 work[8];
  sb_reference_to_work (straight, work, 2, FALSE, &srgb);
  assert_row (work, 0, 1, 32767, 32767, 1, 2, 32768, 32768);
  sb_reference_from_work (work, work, 2, FALSE, &srgb);
  assert_row (work, 0, 2, MAXIMUM, 32767, 2, 4, MAXIMUM, 32768);
}

static void
test_identity (void)
{
  const guint16 in[8] = { 1, 2, 3, 0, 400, MAXIMUM, 6, 1 };
  guint16 out[8];
  SbEdit edit = sb_test_blur (0, 10, TRUE);

  sb_reference_blur (in, out, 2, 1, &edit, &srgb);
  g_assert_cmpmem (in, sizeof in, out, sizeof out);

  edit = sb_test_blur (3, 2, TRUE);
  edit.area.invert = TRUE; /* of the whole picture: nothing */
  sb_reference_blur (in, out, 2, 1, &edit, &srgb);
  g_assert_cmpmem (in, sizeof in, out, sizeof out);
}

/* --- Areas ----------------------------------------------------------------------------------- */

/* Which pixels of a picture an edit changes: a blur of radius 1 changes all of a checker. */
static void
assert_area (const SbArea *area, guint width, guint height, const char *const *map)
{
  g_autofree guint16 *in = g_new (guint16, 4 * width * height);
  g_autofree guint16 *out = g_new (guint16, 4 * width * height);
  g_autoptr (GRand) rand = g_rand_new_with_seed (0); /* a checker has nothing random */
  SbEdit edit = sb_test_blur (1, 1, FALSE);

  sb_fill_pixels (in, width, height, SB_FILL_CHECKER, 1, 16, rand);
  edit.area = *area;
  sb_reference_blur (in, out, width, height, &edit, &srgb);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      {
        const gsize at = 4 * ((gsize)y * width + x);

        g_assert_cmpint (in[at] != out[at], ==, map[y][x] == '#');
      }
}

static void
test_areas (void)
{
  static const char *const rect[] = { "......", "..##..", "..##..", "..##..", "......" };
  static const char *const hole[] = { "######", "##..##", "##..##", "##..##", "######" };
  static const char *const five[] = { ".###..", "#####.", "#####.", "#####.", ".###.." };
  static const char *const flat[] = { "####..", "####..", "......", "......", "......" };
  /* The upper left of an ellipse of 6 x 6 from (-3, -3): 50 > 36 is out, 34 in. */
  static const char *const cut[] = { "###...", "###...", "##....", "......", "......" };

  assert_area (&(SbArea){ SB_AREA_RECT, 2, 1, 2, 3, 0, FALSE }, 6, 5, rect);
  assert_area (&(SbArea){ SB_AREA_RECT, 2, 1, 2, 3, 0, TRUE }, 6, 5, hole);
  assert_area (&(SbArea){ SB_AREA_ELLIPSE, 0, 0, 5, 5, 0, FALSE }, 6, 5, five);
  assert_area (&(SbArea){ SB_AREA_ELLIPSE, 0, 0, 4, 2, 0, FALSE }, 6, 5, flat);
  assert_area (&(SbArea){ SB_AREA_ELLIPSE, -3, -3, 6, 6, 0, FALSE }, 6, 5, cut);
}

/* A mask of 43690, 21845, 0 over a blur of 0 0 65535 to 0 21845 43690. */
static void
test_feather (void)
{
  guint16 row[3] = { 0, 0, MAXIMUM };
  SbEdit edit = sb_test_blur (1, 1, FALSE);

  edit.area = (SbArea){ SB_AREA_RECT, 0, 0, 1, 1, 1, FALSE };
  blur_row (row, 3, &edit);
  assert_row (row, 0, 7282, MAXIMUM); /* 21845 * 21845 / 65535 = 7281.67 */

  /* Turned round: 21845, 43690, 65535. 21845 * 43690 / 65535 = 14563.33 */
  guint16 turned[3] = { 0, 0, MAXIMUM };
  edit.area.invert = TRUE;
  blur_row (turned, 3, &edit);
  assert_row (turned, 0, 14563, 43690);

  /* With alpha: colours weigh by it. The last pixel's colour is hidden, the first's is all that
   * there is, so it keeps its value in any blend; alpha 30000 0 0 becomes 20000 10000 0, by the
   * mask 43690 21845 0: 30000 / 3 + 20000 * 2 / 3, 10000 / 3. */
  const guint16 in[12] = { MAXIMUM, 0, MAXIMUM, 30000, 5, 6, 7, 0, 8, 9, 10, 0 };
  guint16 out[12];
  edit.area.invert = FALSE;
  sb_reference_blur (in, out, 3, 1, &edit, &srgb);
  assert_row (out, MAXIMUM, 0, MAXIMUM, 23333, MAXIMUM, 0, MAXIMUM, 3333, 8, 9, 10, 0);
}

static void
test_fold (void)
{
  g_autoptr (SbImage) deep = sb_image_new (2, 1, 16, NULL);
  const guint16 samples[8] = { 0, 128, 129, 385, 386, 65406, 65407, MAXIMUM };

  /* 128 / 257 is below a half, 129 / 257 above; 385 / 257 = 1.498, 386 / 257 = 1.502. */
  memcpy (sb_image_writable (deep), samples, sizeof samples);
  g_autoptr (SbImage) eight = sb_reference_fold (deep, NULL, 8, &srgb);
  assert_row (sb_image_get_pixels (eight), 0, 0, 1, 1, 2, 254, 255, 255);

  g_autoptr (SbImage) back = sb_reference_fold (eight, NULL, 16, &srgb);
  assert_row ((const guint16 *)(const void *)sb_image_get_pixels (back), 0, 0, 257, 257, 514, 65278,
              MAXIMUM, MAXIMUM);

  /* The second edit works on 16 bits, not on what the first looks like at 8. */
  const SbEdit edits[2] = { sb_test_blur (1, 1, FALSE), sb_test_blur (1, 1, FALSE) };
  const SbEditList list = { 2, edits };
  const guint8 row[12] = { 0, 0, 0, 255, 0, 0, 0, 255, 1, 1, 1, 255 };
  g_autoptr (SbImage) dark = sb_image_new (3, 1, 8, NULL);
  memcpy (sb_image_writable (dark), row, sizeof row);
  g_autoptr (SbImage) folded = sb_reference_fold (dark, &list, 16, &srgb);
  const guint16 *out = (const guint16 *)(const void *)sb_image_get_pixels (folded);
  /* 0 0 257 -> 0 86 171 -> 29 86 143 */
  g_assert_cmpuint (out[0], ==, 29);
  g_assert_cmpuint (out[4], ==, 86);
  g_assert_cmpuint (out[8], ==, 143);
}

/* --- Tables ---------------------------------------------------------------------------------- */

static double
srgb_value (guint u)
{
  const double x = u / 65535.0;

  return 65535 * (x > 0.04045 ? pow ((x + 0.055) / 1.055, 2.4) : x / 12.92);
}

static void
test_tone (void)
{
  g_assert_cmpuint (srgb.decode[0][0], ==, 0);
  g_assert_cmpuint (srgb.decode[0][MAXIMUM], ==, MAXIMUM);
  g_assert_cmpuint (srgb.decode[0][10 * 257], ==, 199); /* 2570 / 12.92 = 198.9 */
  g_assert_cmpuint (srgb.encode[0][199], ==, 2571);     /* 199 * 12.92 = 2571.1 */

  for (guint c = 0; c < 3; c++)
    for (guint u = 0; u <= MAXIMUM; u++)
      {
        g_assert_cmpuint (srgb.decode[c][u], ==, (guint)floor (srgb_value (u) + 0.5));
        if (u > 0)
          {
            g_assert_cmpuint (srgb.decode[c][u], >=, srgb.decode[c][u - 1]);
            g_assert_cmpuint (srgb.encode[c][u], >=, srgb.encode[c][u - 1]);
          }
      }

  /* Every code for some values: the lowest of the nearest. */
  g_autofree double *values = g_new (double, MAXIMUM + 1);
  for (guint u = 0; u <= MAXIMUM; u++)
    values[u] = srgb_value (u);
  for (guint v = 0; v <= MAXIMUM; v += v < 64 || v > MAXIMUM - 64 ? 1 : 61)
    {
      guint best = 0;

      for (guint u = 1; u <= MAXIMUM; u++)
        if (fabs (values[u] - v) < fabs (values[best] - v))
          best = u;
      g_assert_cmpuint (srgb.encode[0][v], ==, best);
    }
}

static void
test_eight_bits_survive (void)
{
  for (guint v = 0; v < 256; v++)
    {
      const guint u = srgb.encode[0][srgb.decode[0][v * 257]];

      g_assert_cmpuint ((u * 255 + 32895) >> 16, ==, v);
    }
}

static void
test_rounding_to_eight_bits (void)
{
  for (guint x = 0; x <= MAXIMUM; x++)
    g_assert_cmpuint ((x * 255 + 32895) >> 16, ==, (guint)floor (x / 257.0 + 0.5));
}

static void
test_image_convert (void)
{
  g_autoptr (SbImage) deep = sb_image_new (128, 128, 16, NULL);
  guint16 *samples = (guint16 *)(void *)sb_image_writable (deep);

  for (guint x = 0; x <= MAXIMUM; x++)
    samples[x] = (guint16)x;

  g_autoptr (SbImage) eight = sb_image_convert (deep, 8, NULL);
  for (guint x = 0; x <= MAXIMUM; x++)
    g_assert_cmpuint (sb_image_get_pixels (eight)[x], ==, (guint)floor (x / 257.0 + 0.5));

  g_autoptr (SbImage) back = sb_image_convert (eight, 16, NULL);
  samples = (guint16 *)(void *)sb_image_get_pixels (back);
  for (guint x = 0; x <= MAXIMUM; x++)
    g_assert_cmpuint (samples[x], ==, sb_image_get_pixels (eight)[x] * 257);
}

/* The core's tables for a picture without a profile. */
static void
test_core_tone (void)
{
  const SbTone *tone = sb_tone_new (NULL);

  g_assert_true (tone->same);
  for (guint c = 0; c < 3; c++)
    {
      g_assert_cmpmem (tone->decode[c], sizeof tone->decode[c], srgb.decode[c],
                       sizeof tone->decode[c]);
      g_assert_cmpmem (tone->encode[c], sizeof tone->encode[c], srgb.encode[c],
                       sizeof tone->encode[c]);
      for (guint u = 0; u < 256; u++)
        g_assert_cmpuint (tone->decode8[c][u], ==, srgb.decode[c][u * 257]);
      for (guint v = 0; v <= MAXIMUM; v++)
        g_assert_cmpuint (tone->encode8[c][v], ==, (guint)floor (srgb.encode[c][v] / 257.0 + 0.5));
    }
  sb_tone_unref (tone);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sb_reference_tone_srgb (&srgb);

  g_test_add_func ("/reference/impulse", test_impulse);
  g_test_add_func ("/reference/fraction", test_fraction);
  g_test_add_func ("/reference/edges", test_edges);
  g_test_add_func ("/reference/order", test_order);
  g_test_add_func ("/reference/alpha", test_alpha);
  g_test_add_func ("/reference/identity", test_identity);
  g_test_add_func ("/reference/areas", test_areas);
  g_test_add_func ("/reference/feather", test_feather);
  g_test_add_func ("/reference/fold", test_fold);
  g_test_add_func ("/tables/srgb", test_tone);
  g_test_add_func ("/tables/eight-bits-survive", test_eight_bits_survive);
  g_test_add_func ("/tables/rounding-to-eight-bits", test_rounding_to_eight_bits);
  g_test_add_func ("/tables/image-convert", test_image_convert);
  g_test_add_func ("/tables/core-tone", test_core_tone);
  const int status = g_test_run ();

  sb_reference_tone_clear (&srgb);
  return status;
}
