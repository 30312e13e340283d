/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "pictures.h"

#include <math.h>
#include <string.h>

#define MAXIMUM 65535

/* --- Pictures -------------------------------------------------------------------------------- */

const char *
sb_fill_name (SbFill fill)
{
  static const char *const names[SB_N_FILLS] = {
    [SB_FILL_NOISE] = "noise",
    [SB_FILL_NOISE_ALPHA] = "noise with alpha",
    [SB_FILL_SPARSE] = "sparse",
    [SB_FILL_NEAR_TIE] = "near ties",
    [SB_FILL_TIE_ALPHA] = "near ties with alpha",
    [SB_FILL_BLACK] = "black",
    [SB_FILL_WHITE] = "white",
    [SB_FILL_CONSTANT] = "constant",
    [SB_FILL_CHECKER] = "checker",
    [SB_FILL_IMPULSE] = "impulse",
    [SB_FILL_RAMP] = "ramp",
  };

  return names[fill];
}

/* In steps of the depth: 0 .. 255 or 0 .. 65535. */
static guint
any_sample (guint limit, GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 8))
    {
    case 0:
      return 0;
    case 1:
      return limit;
    case 2:
      return (guint)g_rand_int_range (rand, 0, MIN (16, limit));
    case 3:
      return limit - (guint)g_rand_int_range (rand, 0, MIN (16, limit));
    default:
      return (guint)g_rand_int_range (rand, 0, (gint32)limit + 1);
    }
}

static guint
any_alpha (guint limit, GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 9))
    {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return limit;
    default:
      return any_sample (limit, rand);
    }
}

/* Runs along the longer side, so that a line of either direction holds several. */
static void
fill_near_ties (guint16 *rgba, guint width, guint height, guint run, guint limit, gboolean alpha,
                GRand *rand)
{
  const gsize n = (gsize)width * height;
  guint q[4] = { 0 }, left = 0;

  for (gsize i = 0; i < n; i++)
    {
      const gsize at = width >= height ? i : (i % height) * width + i / height;

      if (left-- == 0)
        {
          left = run + (guint)g_rand_int_range (rand, 0, (gint32)run + 1);
          for (guint c = 0; c < 4; c++)
            q[c] = any_sample (limit - 1, rand);
        }

      const guint32 bits = g_rand_int (rand);
      for (guint c = 0; c < 3; c++)
        rgba[4 * at + c] = (guint16)(q[c] + (bits >> (5 * c) & 1));
      rgba[4 * at + 3] = (guint16)(alpha ? q[3] + (bits >> 17 & 1) : limit);
    }
}

void
sb_fill_pixels (guint16 *rgba, guint width, guint height, SbFill fill, guint run, guint depth,
                GRand *rand)
{
  const guint limit = depth == 8 ? 255 : MAXIMUM;
  const gsize n = (gsize)width * height;
  const gsize impulse = n > 0 ? (height / 2) * (gsize)width + width / 2 : 0;
  guint colour[4];

  for (guint c = 0; c < 4; c++)
    colour[c] = any_sample (limit, rand);

  if (fill == SB_FILL_NEAR_TIE || fill == SB_FILL_TIE_ALPHA)
    fill_near_ties (rgba, width, height, MAX (run, 1), limit, fill == SB_FILL_TIE_ALPHA, rand);
  else
    for (gsize i = 0; i < n; i++)
      {
        const guint x = (guint)(i % width), y = (guint)(i / width);
        guint16 *pixel = rgba + 4 * i;

        for (guint c = 0; c < 4; c++)
          {
            guint value = 0;

            switch (fill)
              {
              case SB_FILL_NOISE:
                value = c < 3 ? any_sample (limit, rand) : limit;
                break;
              case SB_FILL_NOISE_ALPHA:
                value = c < 3 ? any_sample (limit, rand) : any_alpha (limit, rand);
                break;
              case SB_FILL_SPARSE:
                value = c < 3                                 ? any_sample (limit, rand)
                        : g_rand_int_range (rand, 0, 24) == 0 ? any_alpha (limit, rand)
                                                              : 0;
                break;
              case SB_FILL_WHITE:
                value = limit;
                break;
              case SB_FILL_CONSTANT:
                value = colour[c];
                break;
              case SB_FILL_CHECKER:
                value = c == 3 || ((x + y + c) & 1) ? limit : 0;
                break;
              case SB_FILL_IMPULSE:
                value = c == 3 || i == impulse ? limit : 0;
                break;
              case SB_FILL_RAMP:
                value = c == 0   ? (guint)((guint64)limit * x / width)
                        : c == 1 ? (guint)((guint64)limit * y / height)
                        : c == 2 ? (guint)((guint64)limit * (width - 1 - x + y) / (width + height))
                                 : limit;
                break;
              default:
                break;
              }
            pixel[c] = (guint16)value;
          }
      }

  if (depth == 8)
    for (gsize i = 0; i < 4 * n; i++)
      rgba[i] = (guint16)(rgba[i] * 257);
}

SbImage *
sb_fill_image (guint width, guint height, SbFill fill, guint run, guint depth, GRand *rand)
{
  const gsize n = (gsize)width * height * 4;
  g_autofree guint16 *rgba = g_new (guint16, n);
  SbImage *image = sb_image_new (width, height, depth, NULL);

  sb_fill_pixels (rgba, width, height, fill, run, depth, rand);
  if (depth == 16)
    memcpy (sb_image_writable (image), rgba, n * sizeof (guint16));
  else
    for (gsize i = 0; i < n; i++)
      sb_image_writable (image)[i] = (guint8)(rgba[i] / 257);
  return image;
}

/* --- Edits ----------------------------------------------------------------------------------- */

guint32
sb_test_seed (void)
{
  const char *text = g_getenv ("SOFTBOX_TEST_SEED");
  const guint32 seed = text != NULL ? (guint32)g_ascii_strtoull (text, NULL, 0) : g_random_int ();

  g_test_message ("SOFTBOX_TEST_SEED=%u", seed);
  return seed;
}

gboolean
sb_test_in_share (void)
{
  static guint64 share, calls;

  if (share == 0)
    {
      const char *text = g_getenv ("SOFTBOX_TEST_SHARE");

      share = text != NULL ? MAX (1, g_ascii_strtoull (text, NULL, 10)) : 1;
    }
  return calls++ % share == 0;
}

SbEdit
sb_test_blur (double radius, guint passes, gboolean linear)
{
  SbEdit edit = { .kind = SB_EDIT_BLUR, .area = { .width = 1, .height = 1 } };

  edit.values[SB_BLUR_RADIUS] = radius;
  edit.values[SB_BLUR_PASSES] = passes;
  edit.values[SB_BLUR_LINEAR] = linear;
  return edit;
}

static SbArea
random_area (GRand *rand, int width, int height)
{
  SbArea area = { .shape = g_rand_boolean (rand) ? SB_AREA_RECT : SB_AREA_ELLIPSE };

  /* At least one pixel of the box is a pixel of the picture. */
  area.width = g_rand_int_range (rand, 1, width + 2);
  area.height = g_rand_int_range (rand, 1, height + 2);
  if (g_rand_int_range (rand, 0, 6) == 0)
    area.width += 3 * width;
  if (g_rand_int_range (rand, 0, 6) == 0)
    area.height += 3 * height;
  if (g_rand_int_range (rand, 0, 8) == 0)
    area.width = area.height = 1;
  area.x = g_rand_int_range (rand, 1 - area.width, width);
  area.y = g_rand_int_range (rand, 1 - area.height, height);
  if (g_rand_int_range (rand, 0, 2) == 0)
    area.feather = (guint)g_rand_int_range (rand, 0, 1 + MAX (width, height));
  else if (g_rand_int_range (rand, 0, 8) == 0)
    area.feather = (guint)g_rand_int_range (rand, 0, 501);
  area.feather = MIN (area.feather, 500);
  area.invert = g_rand_int_range (rand, 0, 4) == 0;
  return area;
}

SbEdit
sb_test_random_edit (GRand *rand, guint width, guint height, guint max_radius)
{
  SbEdit edit = sb_test_blur (g_rand_int_range (rand, 0, (gint32)max_radius + 1),
                              (guint)g_rand_int_range (rand, 1, 4), g_rand_boolean (rand));

  if (g_rand_boolean (rand) && max_radius > 0)
    edit.values[SB_BLUR_RADIUS] = g_rand_int_range (rand, 0, (gint32)max_radius * 16 + 1) / 16.0;
  if (g_rand_int_range (rand, 0, 4) == 0)
    edit.values[SB_BLUR_PASSES] = g_rand_int_range (rand, 1, 11);
  edit.values[SB_BLUR_EDGE] = g_rand_int_range (rand, SB_EDGE_CLAMP, SB_EDGE_MIRROR + 1);
  if (g_rand_boolean (rand))
    edit.values[SB_BLUR_DIRECTION]
        = g_rand_int_range (rand, SB_DIRECTION_BOTH, SB_DIRECTION_VERTICAL + 1);
  if (g_rand_boolean (rand))
    edit.area = random_area (rand, (int)width, (int)height);
  return edit;
}

static double
random_gain (GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:
      return 0;
    case 1:
      return g_rand_int_range (rand, 0, 257) / 64.0;
    default:
      return 1;
    }
}

SbEdit
sb_test_random_bands (GRand *rand, guint width, guint height)
{
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BANDS);
  edit.values[SB_BANDS_LEVELS] = g_rand_int_range (rand, 1, g_rand_boolean (rand) ? 7 : 21);
  if (g_rand_boolean (rand))
    edit.values[SB_BANDS_THRESHOLD]
        = g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 16001 : 320) / 16.0;
  edit.values[SB_BANDS_RULE] = g_rand_int_range (rand, SB_BANDS_SOFT, SB_BANDS_HARD + 1);
  edit.values[SB_BANDS_LUMA] = g_rand_boolean (rand);
  if (g_rand_int_range (rand, 0, 4) == 0)
    edit.values[SB_BANDS_GAIN_A] = random_gain (rand);
  for (guint i = SB_BANDS_GAIN; g_rand_boolean (rand) && i < SB_N_BANDS_PARAMETERS; i++)
    edit.values[i] = random_gain (rand);
  for (guint i = 0; i < 4; i++)
    edit.values[SB_BANDS_GAIN + i * SB_BANDS_MAX_LEVELS + (guint)g_rand_int_range (rand, 0, 6)]
        = random_gain (rand);
  if (g_rand_boolean (rand))
    edit.area = random_area (rand, (int)width, (int)height);
  return edit;
}

char *
sb_test_describe_edit (const SbEdit *edit)
{
  if (edit->kind == SB_EDIT_BANDS)
    return sb_edit_print (edit);

  static const char *const edges[] = { "clamp", "mirror" };
  static const char *const directions[] = { "both", "horizontal", "vertical" };
  static const char *const shapes[] = { "whole", "rect", "ellipse" };
  const SbArea *area = &edit->area;
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "blur:radius=%.4f,passes=%d,linear=%d,edge=%s,direction=%s,area=%s",
                          edit->values[SB_BLUR_RADIUS], (int)edit->values[SB_BLUR_PASSES],
                          (int)edit->values[SB_BLUR_LINEAR], edges[(int)edit->values[SB_BLUR_EDGE]],
                          directions[(int)edit->values[SB_BLUR_DIRECTION]], shapes[area->shape]);
  if (area->shape != SB_AREA_WHOLE)
    g_string_append_printf (text, ":%d:%d:%d:%d", area->x, area->y, area->width, area->height);
  g_string_append_printf (text, ",feather=%u,invert=%d", area->feather, area->invert);
  return g_string_free (text, FALSE);
}

char *
sb_test_describe_list (const SbEdit *edits, guint n_edits)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < n_edits; i++)
    {
      g_autofree char *edit = sb_test_describe_edit (&edits[i]);

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", edit);
    }
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

/* --- Differences ----------------------------------------------------------------------------- */

static guint
sample_at (SbImage *image, gsize i)
{
  const guint8 *pixels = sb_image_get_pixels (image);

  return sb_image_get_depth (image) == 8 ? pixels[i] : ((const guint16 *)(const void *)pixels)[i];
}

char *
sb_test_first_difference (SbImage *expected, SbImage *actual)
{
  const guint width = sb_image_get_width (expected), height = sb_image_get_height (expected);
  const guint depth = sb_image_get_depth (expected);
  const gsize n = (gsize)width * height;
  gsize first = n, different = 0;

  if (sb_image_get_width (actual) != width || sb_image_get_height (actual) != height
      || sb_image_get_depth (actual) != depth)
    return g_strdup_printf ("expected %ux%u at %u bits, got %ux%u at %u bits", width, height, depth,
                            sb_image_get_width (actual), sb_image_get_height (actual),
                            sb_image_get_depth (actual));
  if (memcmp (sb_image_get_pixels (expected), sb_image_get_pixels (actual),
              sb_image_get_bytes (expected))
      == 0)
    return NULL;

  for (gsize i = 0; i < n; i++)
    for (guint c = 0; c < 4; c++)
      if (sample_at (expected, 4 * i + c) != sample_at (actual, 4 * i + c))
        {
          different++;
          first = MIN (first, i);
          break;
        }
  return g_strdup_printf (
      "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " pixels of %ux%u at %u bits differ, the first at "
      "x=%u y=%u: expected %u,%u,%u,%u, got %u,%u,%u,%u",
      different, n, width, height, depth, (guint)(first % width), (guint)(first / width),
      sample_at (expected, 4 * first), sample_at (expected, 4 * first + 1),
      sample_at (expected, 4 * first + 2), sample_at (expected, 4 * first + 3),
      sample_at (actual, 4 * first), sample_at (actual, 4 * first + 1),
      sample_at (actual, 4 * first + 2), sample_at (actual, 4 * first + 3));
}

gboolean
sb_test_same_image (SbImage *expected, SbImage *actual, const char *what)
{
  g_autofree char *difference = sb_test_first_difference (expected, actual);

  if (difference == NULL)
    return TRUE;
  g_test_message ("%s: %s", what, difference);
  g_test_fail ();
  return FALSE;
}

/* --- Tables ---------------------------------------------------------------------------------- */

static void
make_tone (SbTestTone *tone)
{
  SbTone *made = g_new0 (SbTone, 1);

  for (guint c = 0; c < 3; c++)
    {
      memcpy (made->decode[c], tone->reference.decode[c], sizeof made->decode[c]);
      memcpy (made->encode[c], tone->reference.encode[c], sizeof made->encode[c]);
      for (guint u = 0; u < 256; u++)
        made->decode8[c][u] = made->decode[c][u * 257];
      for (guint v = 0; v <= MAXIMUM; v++)
        made->encode8[c][v] = (guint8)floor (made->encode[c][v] / 257.0 + 0.5);
    }
  made->same = memcmp (made->decode[0], made->decode[1], sizeof made->decode[0]) == 0
               && memcmp (made->decode[0], made->decode[2], sizeof made->decode[0]) == 0;
  g_ref_count_init (&made->references_);
  tone->tone = made;
}

void
sb_test_tone_init_srgb (SbTestTone *tone)
{
  sb_reference_tone_srgb (&tone->reference);
  make_tone (tone);
}

void
sb_test_tone_init_mixed (SbTestTone *tone)
{
  g_autofree double *linear = g_new (double, MAXIMUM + 1);

  sb_reference_tone_srgb (&tone->reference);

  /* A gamma of 1.8, at least x / 32; no two of its values are equal, so the nearest is unique but
   * for a tie, which goes to the lower. */
  for (guint u = 0; u <= MAXIMUM; u++)
    {
      const double x = u / (double)MAXIMUM;

      linear[u] = MAXIMUM * MAX (pow (x, 1.8), x / 32);
      tone->reference.decode[0][u] = (guint16)floor (linear[u] + 0.5);
      tone->reference.decode[2][u] = (guint16)u;
      tone->reference.encode[2][u] = (guint16)u;
    }
  for (guint v = 0, u = 0; v <= MAXIMUM; v++)
    {
      while (u < MAXIMUM && fabs (linear[u + 1] - v) < fabs (linear[u] - v))
        u++;
      tone->reference.encode[0][v] = (guint16)u;
    }
  make_tone (tone);
}

void
sb_test_tone_clear (SbTestTone *tone)
{
  sb_reference_tone_clear (&tone->reference);
  g_clear_pointer (&tone->tone, g_free);
}
