/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "pictures.h"
#include "sb-bands.h"
#include "sb-cpu-bands.h"
#include "sb-isa.h"

#include <math.h>
#include <string.h>

/* A picture in any of the forms that an edit takes, and the same as the reference takes it. */
typedef struct
{
  SbSource source;
  guint8 *pixels;
  guint16 *straight; /* or work pixels */
} Input;

static void
input_init (Input *input, guint width, guint height, SbFill fill, SbPixelFormat format, GRand *rand)
{
  const gsize n = (gsize)width * height;
  const gsize pixel = format == SB_PIXELS_8 ? 4 : 8;
  const gsize stride = width * pixel + (format == SB_PIXELS_8 ? 4 : 16);

  input->straight = g_new (guint16, 4 * n);
  sb_fill_pixels (input->straight, width, height, fill, 20, format == SB_PIXELS_8 ? 8 : 16, rand);
  if (format == SB_PIXELS_WORK)
    sb_reference_to_work (input->straight, input->straight, n, FALSE, NULL);
  input->pixels = g_malloc (stride * height);
  gboolean opaque = TRUE;
  for (guint y = 0; y < height; y++)
    for (gsize i = 0; i < 4 * (gsize)width; i++)
      {
        const guint16 v = input->straight[4 * (gsize)y * width + i];

        if (i % 4 == 3 && v != 65535)
          opaque = FALSE;
        if (format == SB_PIXELS_8)
          input->pixels[y * stride + i] = (guint8)(v / 257);
        else
          memcpy (input->pixels + y * stride + 2 * i, &v, 2);
      }
  input->source = (SbSource){ format, width, height, input->pixels, stride, opaque };
}

static void
input_clear (Input *input)
{
  g_free (input->pixels);
  g_free (input->straight);
}

/* The edit over `rect` into a target of `depth`, against the reference, and that nothing beside the
 * rect is written. */
static gboolean
check (const Input *input, const SbEdit *edit, const SbRect *rect, guint depth, guint threads)
{
  const SbSource *source = &input->source;
  const gsize n = (gsize)source->width * source->height;
  const gsize pixel = depth / 2, stride = (gsize)rect->width * pixel + 32;
  const gsize bytes = stride * (gsize)rect->height;
  g_autofree guint16 *expected = g_new (guint16, 4 * n);
  g_autofree guint8 *out = g_malloc (bytes);
  SbParallel *parallel = sb_parallel_new (threads);
  const SbTarget target = { depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16, *rect, out, stride };
  g_autoptr (GError) error = NULL;
  gboolean same = TRUE;

  if (source->format == SB_PIXELS_WORK)
    sb_reference_bands_work (input->straight, expected, source->width, source->height, edit);
  else
    sb_reference_bands (input->straight, expected, source->width, source->height, edit);
  memset (out, 0xa5, bytes);
  g_assert_true (sb_cpu_bands (source, edit, &target, parallel, NULL, &error));
  g_assert_no_error (error);
  sb_parallel_free (parallel);

  for (int y = 0; same && y < rect->height; y++)
    {
      const guint8 *row = out + (gsize)y * stride;

      for (int i = 0; same && i < 4 * rect->width; i++)
        {
          const gsize at = 4 * ((gsize)(rect->y + y) * source->width + (gsize)rect->x) + (gsize)i;
          const guint v = depth == 8 ? (expected[at] * 255u + 32895) >> 16 : expected[at];
          const guint got = depth == 8 ? row[i] : ((const guint16 *)(const void *)row)[i];

          if (v != got)
            {
              g_autofree char *text = sb_test_describe_edit (edit);
              g_test_message ("%s on %ux%u, format %d, opaque %d, to %u bits, rect %d,%d %dx%d, %u "
                              "threads, %s: x=%d y=%d channel %d: expected %u, got %u",
                              text, source->width, source->height, source->format, source->opaque,
                              depth, rect->x, rect->y, rect->width, rect->height, threads,
                              sb_isa_name (sb_isa_get ()), rect->x + i / 4, rect->y + y, i % 4, v,
                              got);
              same = FALSE;
            }
        }
      for (gsize i = (gsize)rect->width * pixel; i < stride; i++)
        g_assert_cmpuint (row[i], ==, 0xa5);
    }
  if (!same)
    g_test_fail ();
  return same;
}

static SbRect
random_rect (GRand *rand, guint width, guint height)
{
  const int x = g_rand_int_range (rand, 0, (gint32)width);
  const int y = g_rand_int_range (rand, 0, (gint32)height);

  return (SbRect){ x, y, g_rand_int_range (rand, 1, (gint32)width - x + 1),
                   g_rand_int_range (rand, 1, (gint32)height - y + 1) };
}

static const SbFill fills[]
    = { SB_FILL_NOISE,    SB_FILL_NOISE_ALPHA, SB_FILL_SPARSE, SB_FILL_WHITE,
        SB_FILL_CONSTANT, SB_FILL_CHECKER,     SB_FILL_RAMP,   SB_FILL_IMPULSE };

static void
sweep (guint rounds, guint max_width, guint max_height)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (sb_test_seed ());

  for (guint round = 0; round < rounds; round++)
    {
      if (!sb_test_in_share ())
        continue;

      const guint width = (guint)g_rand_int_range (rand, 1, (gint32)max_width + 1);
      const guint height = (guint)g_rand_int_range (rand, 1, (gint32)max_height + 1);
      const SbPixelFormat format
          = (SbPixelFormat)g_rand_int_range (rand, SB_PIXELS_8, SB_PIXELS_WORK + 1);
      const SbFill fill = fills[g_rand_int_range (rand, 0, G_N_ELEMENTS (fills))];
      const SbEdit edit = sb_test_random_bands (rand, width, height);
      const SbRect whole = { 0, 0, (int)width, (int)height };
      const SbRect part = random_rect (rand, width, height);
      const guint threads = (guint)g_rand_int_range (rand, 1, 4);
      Input input;

      input_init (&input, width, height, fill, format, rand);
      for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
        {
          if (!sb_isa_is_available (isa))
            continue;
          sb_isa_force (isa);
          for (guint depth = 8; depth <= 16; depth += 8)
            if (!check (&input, &edit, &whole, depth, threads)
                || !check (&input, &edit, &part, depth, threads))
              break;
        }
      input_clear (&input);
      if (g_test_failed ())
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
  sweep (150, 90, 80);
}

static void
test_long (void)
{
  sweep (40, 2000, 3);
  sweep (40, 3, 2000);
}

/* Beyond one strip, and beyond the levels of a tile. */
static void
test_large (void)
{
  sweep (12, 1500, 300);
}

/* Opaque pixels of 8 bits have kernels of their own, at every width. */
static void
test_widths (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BANDS);
  edit.values[SB_BANDS_GAIN] = 0.5;
  edit.values[SB_BANDS_THRESHOLD] = 20;
  for (guint width = 1; width <= 140; width++)
    for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
      {
        const SbRect whole = { 0, 0, (int)width, 33 };
        Input input;

        if (!sb_isa_is_available (isa))
          continue;
        sb_isa_force (isa);
        input_init (&input, width, 33, SB_FILL_NOISE, SB_PIXELS_8, rand);
        const gboolean same = check (&input, &edit, &whole, 8, 1);
        input_clear (&input);
        if (!same)
          return;
      }
}

/* Known by hand: dropping the finest level leaves means of 2x2; a threshold too. */
static void
test_known (void)
{
  const guint16 in[16]
      = { 0, 100, 65535, 65535, 4, 100, 65535, 65535, 8, 300, 1, 65535, 0, 300, 1, 65535 };
  guint16 out[16];
  const SbSource source = { SB_PIXELS_16, 2, 2, (const guint8 *)in, 16, TRUE };
  const SbTarget target = { SB_PIXELS_16, { 0, 0, 2, 2 }, (guint8 *)out, 16 };
  SbParallel *parallel = sb_parallel_new (1);
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BANDS);
  edit.values[SB_BANDS_GAIN] = 0;
  g_assert_true (sb_cpu_bands (&source, &edit, &target, parallel, NULL, NULL));
  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpuint (out[4 * i], ==, 3);
      g_assert_cmpuint (out[4 * i + 1], ==, 200);
      g_assert_cmpuint (out[4 * i + 2], ==, 32768);
      g_assert_cmpuint (out[4 * i + 3], ==, 65535);
    }

  /* H of G is -100; soft by 64.25 (1/2 in 8-bit units of the orthonormal scale): -35.75. */
  sb_edit_init (&edit, SB_EDIT_BANDS);
  edit.values[SB_BANDS_THRESHOLD] = 0.5;
  g_assert_true (sb_cpu_bands (&source, &edit, &target, parallel, NULL, NULL));
  g_assert_cmpuint (out[1], ==, 164);
  g_assert_cmpuint (out[9], ==, 236);
  edit.values[SB_BANDS_RULE] = SB_BANDS_HARD;
  g_assert_true (sb_cpu_bands (&source, &edit, &target, parallel, NULL, NULL));
  g_assert_cmpuint (out[1], ==, 100);
  g_assert_cmpuint (out[9], ==, 300);
  edit.values[SB_BANDS_THRESHOLD] = 1; /* 128.5 */
  g_assert_true (sb_cpu_bands (&source, &edit, &target, parallel, NULL, NULL));
  g_assert_cmpuint (out[1], ==, 200);
  sb_parallel_free (parallel);
}

static void
test_identity (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  const SbRect whole = { 0, 0, 50, 40 };
  SbEdit edit;
  Input input;

  sb_edit_init (&edit, SB_EDIT_BANDS);
  g_assert_true (sb_edit_is_identity (&edit));
  /* Colour under alpha 0 stays. */
  input_init (&input, 50, 40, SB_FILL_SPARSE, SB_PIXELS_8, rand);
  g_autofree guint8 *out = g_malloc (50 * 40 * 4);
  const SbTarget target = { SB_PIXELS_8, whole, out, 200 };
  SbParallel *parallel = sb_parallel_new (1);
  g_assert_true (sb_cpu_bands (&input.source, &edit, &target, parallel, NULL, NULL));
  for (guint y = 0; y < 40; y++)
    g_assert_cmpmem (out + 200 * y, 200, input.pixels + input.source.stride * y, 200);

  /* All gains that act are 1: the others do not matter. */
  edit.values[SB_BANDS_LEVELS] = 2;
  edit.values[SB_BANDS_GAIN + 2] = 0;
  edit.values[SB_BANDS_GAIN] = 0.5;
  for (guint o = 1; o <= 3; o++)
    edit.values[SB_BANDS_GAIN + o * SB_BANDS_MAX_LEVELS] = 2;
  g_assert_true (sb_edit_is_identity (&edit));
  edit.values[SB_BANDS_GAIN_A] = 0;
  g_assert_false (sb_edit_is_identity (&edit));
  sb_parallel_free (parallel);
  input_clear (&input);
}

/* Levels that the picture does not have change nothing. */
static void
test_too_deep (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  const SbRect whole = { 0, 0, 40, 13 };
  Input input;

  input_init (&input, 40, 13, SB_FILL_NOISE, SB_PIXELS_16, rand);
  for (guint levels = 6; levels <= 20; levels++)
    {
      SbEdit edit;

      sb_edit_init (&edit, SB_EDIT_BANDS);
      edit.values[SB_BANDS_LEVELS] = levels;
      edit.values[SB_BANDS_GAIN + 5] = 0;
      edit.values[SB_BANDS_GAIN_A] = 0.75;
      g_assert_cmpuint (sb_cpu_bands_levels (&edit, 40, 13), ==, 6);
      if (!check (&input, &edit, &whole, 16, 1))
        break;
    }
  input_clear (&input);
}

static void
test_measure (void)
{
  /* One block: three details that are not zero, of which the threshold leaves one. */
  const guint16 in[16]
      = { 0, 0, 0, 65535, 400, 0, 0, 65535, 2000, 0, 0, 65535, 2400 + 40, 0, 0, 65535 };
  guint16 out[16];
  const SbSource source = { SB_PIXELS_16, 2, 2, (const guint8 *)in, 16, TRUE };
  const SbSource result = { SB_PIXELS_16, 2, 2, (const guint8 *)out, 16, TRUE };
  const SbTarget target = { SB_PIXELS_16, { 0, 0, 2, 2 }, (guint8 *)out, 16 };
  SbParallel *parallel = sb_parallel_new (2);
  SbBandsMeasure measure;
  g_autoptr (GError) error = NULL;
  SbEdit edit;
  double sum = 0;

  sb_edit_init (&edit, SB_EDIT_BANDS);
  edit.values[SB_BANDS_THRESHOLD] = 4; /* 514: H is -1010, V -210, D 10 */
  edit.values[SB_BANDS_RULE] = SB_BANDS_HARD;
  g_assert_true (sb_cpu_bands (&source, &edit, &target, parallel, NULL, &error));
  g_assert_true (sb_cpu_bands_measure (&source, &result, &edit, parallel, &measure, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (measure.kept, ==, 1.0 / 3);
  for (guint i = 0; i < 4; i++)
    sum += ((double)in[4 * i] - out[4 * i]) * ((double)in[4 * i] - out[4 * i]);
  g_assert_cmpfloat (sum, >, 0);
  g_assert_cmpfloat_with_epsilon (measure.psnr, 10 * log10 (65535.0 * 65535 / (sum / 12)), 1e-9);
  edit.values[SB_BANDS_THRESHOLD] = 0;
  g_assert_true (sb_cpu_bands_measure (&source, &source, &edit, parallel, &measure, NULL, &error));
  g_assert_cmpfloat (measure.kept, ==, 1);
  g_assert_true (isinf (measure.psnr));
  sb_parallel_free (parallel);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bands/known", test_known);
  g_test_add_func ("/bands/identity", test_identity);
  g_test_add_func ("/bands/widths", test_widths);
  g_test_add_func ("/bands/small", test_small);
  g_test_add_func ("/bands/middle", test_middle);
  g_test_add_func ("/bands/long", test_long);
  g_test_add_func ("/bands/large", test_large);
  g_test_add_func ("/bands/too-deep", test_too_deep);
  g_test_add_func ("/bands/measure", test_measure);
  return g_test_run ();
}
