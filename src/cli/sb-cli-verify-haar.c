/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <string.h>

#include <glib/gi18n-lib.h>

#include "pictures.h"
#include "reference.h"

/* Edits of bands, alone and among blurs, and the transform of what comes out, against the slow
 * reference: random pictures of all kinds, tiny, odd, long and larger than a tile. */

#define N_CASES 240

typedef struct
{
  guint max_width, max_height;
} Shape;

static const Shape shapes[] = { { 7, 7 }, { 90, 70 }, { 1500, 2 }, { 2, 1500 }, { 300, 200 } };

static SbImage *
random_picture (GRand *rand, guint i)
{
  const Shape *shape = &shapes[i % G_N_ELEMENTS (shapes)];
  const guint width = (guint)g_rand_int_range (rand, 1, (gint32)shape->max_width + 1);
  const guint height = (guint)g_rand_int_range (rand, 1, (gint32)shape->max_height + 1);

  return sb_fill_image (width, height, (SbFill)g_rand_int_range (rand, 0, SB_N_FILLS), 20,
                        g_rand_boolean (rand) ? 8 : 16, rand);
}

/* The first band that differs, or NULL. */
static char *
compare_bands (const SbHaar *haar, SbImage *folded, const SbHaarChoice *choice)
{
  g_autofree float *samples = sb_reference_channel (folded, choice->channel);
  SbReferenceHaar reference;
  char *different = NULL;

  sb_reference_haar (samples, sb_image_get_width (folded), sb_image_get_height (folded),
                     choice->levels, &reference);
  for (guint n = 0; different == NULL && n < sb_haar_n_bands (choice->levels); n++)
    {
      const SbHaarBand band = sb_haar_nth_band (choice->levels, n);
      guint columns, rows;
      const float *values = sb_haar_get_band (haar, band, &columns, &rows);

      if (memcmp (values, sb_reference_haar_band (&reference, band),
                  (gsize)columns * rows * sizeof (float))
          != 0)
        different = sb_haar_band_name (band);
    }
  sb_reference_haar_clear (&reference);
  return different;
}

/* What is wrong, or NULL. */
static char *
run_case (SbEngine *engine, SbImage *image, const SbEditList *list, const SbHaarChoice *choice,
          const SbReferenceTone *tone, GCancellable *cancellable)
{
  const guint depth = sb_image_get_depth (image);
  g_autoptr (SbImage) expected = sb_reference_fold (image, list, depth, tone);
  g_autoptr (SbImage) actual = NULL;
  g_autoptr (SbHaar) haar = NULL;
  g_autoptr (GError) error = NULL;

  if (sb_engine_load (engine, image, &error))
    actual = sb_engine_read (engine, list, 0, depth, cancellable, &error);
  if (actual != NULL)
    haar = sb_engine_read_subbands (engine, list, 0, choice, cancellable, &error);
  if (haar == NULL)
    return g_strdup (error->message);

  char *difference = sb_test_first_difference (expected, actual);

  return difference != NULL ? difference : compare_bands (haar, expected, choice);
}

guint
sb_cli_verify_haar (SbEngine *engine, const char *label, guint32 seed, guint *n_cases,
                    GCancellable *cancellable)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  SbReferenceTone tone;
  guint n_failed = 0;

  sb_reference_tone_srgb (&tone);
  for (guint i = 0; i < N_CASES && !g_cancellable_is_cancelled (cancellable); i++)
    {
      g_autoptr (SbImage) image = random_picture (rand, i);
      const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
      const SbEdit edits[2] = { sb_test_random_bands (rand, width, height),
                                sb_test_random_edit (rand, width, height, 4) };
      g_autoptr (SbEditList) list = sb_edit_list_new (edits, i % 4 == 0 ? 2 : 1);
      const SbHaarChoice choice
          = { (SbHaarChannel)g_rand_int_range (rand, 0, SB_N_HAAR_CHANNELS),
              (guint)g_rand_int_range (rand, 1, (gint32)sb_haar_max_levels (width, height) + 1) };
      g_autofree char *difference = run_case (engine, image, list, &choice, &tone, cancellable);

      if (difference == NULL || g_cancellable_is_cancelled (cancellable))
        continue;

      g_autofree char *text = sb_test_describe_list (list->edits, list->n_edits);

      n_failed++;
      sb_cli_print (_ ("%s: wavelets, case %u: %u × %u, %u bits, %s, %s of %u levels: %s\n"), label,
                    i, width, height, sb_image_get_depth (image), text,
                    sb_haar_channel_key (choice.channel), choice.levels, difference);
    }
  sb_reference_tone_clear (&tone);
  *n_cases = N_CASES;
  return n_failed;
}
