/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <glib/gi18n-lib.h>

#include "pictures.h"
#include "reference.h"
#include "sb-isa.h"

/* Every backend and every instruction set of this machine against the slow reference, on random
 * pictures. A group is one kind of picture and edit; its cases are drawn one after another from the
 * seed, so that a seed gives the same cases on every machine. */

typedef struct
{
  const char *label;
  guint n_cases;
  guint max_width, max_height;
  guint min_radius, max_radius;
  guint n_edits;
  guint depth;     /* of the picture */
  guint out_depth; /* of the result */
  SbFill fills[2]; /* taken in turn */
} Group;

#define FILLS(a, b)                                                                                \
  {                                                                                                \
    SB_FILL_##a, SB_FILL_##b                                                                       \
  }

/* clang-format off */
static const Group groups[] = {
  /* label, cases, sides, radii, edits, depth in, depth out, fills */
  { N_ ("8 bits, opaque"),           180,   70,   50,  0,   40, 1,  8,  8, FILLS (NOISE, RAMP) },
  { N_ ("8 bits, transparent"),      180,   60,   40,  0,   30, 1,  8,  8, FILLS (NOISE_ALPHA, SPARSE) },
  { N_ ("16 bits, opaque"),          180,   70,   50,  0,   40, 1, 16, 16, FILLS (NOISE, CHECKER) },
  { N_ ("16 bits, transparent"),     180,   60,   40,  0,   30, 1, 16, 16, FILLS (NOISE_ALPHA, SPARSE) },
  { N_ ("sums near a half"),         240,   90,   60,  0,   24, 1, 16, 16, FILLS (NEAR_TIE, TIE_ALPHA) },
  { N_ ("tiny"),                     450,    5,    5,  0,  300, 1,  8,  8, FILLS (NOISE_ALPHA, WHITE) },
  { N_ ("long and thin"),            120, 1500,    2,  0,  300, 1,  8, 16, FILLS (NOISE, NOISE_ALPHA) },
  { N_ ("high and narrow"),          120,    2, 1500,  0,  300, 1, 16, 16, FILLS (NOISE, NOISE_ALPHA) },
  { N_ ("large radii"),               48,   40,   30, 64, 2000, 1,  8,  8, FILLS (NOISE, TIE_ALPHA) },
  { N_ ("larger than a tile"),        30,  900,  300,  0,   12, 1,  8,  8, FILLS (NOISE, TIE_ALPHA) },
  { N_ ("several edits"),            120,   50,   40,  0,   20, 3,  8,  8, FILLS (NOISE, NOISE_ALPHA) },
  { N_ ("several edits, to 16 bits"), 120,   50,   40,  0,   20, 3,  8, 16, FILLS (RAMP, NOISE_ALPHA) },
};
/* clang-format on */

/* What is held against the reference. */
typedef struct
{
  char *label;
  SbEngine *engine;
  int isa; /* SbIsa, or -1 for a device that has none */
  guint n_failed;
} Subject;

static void
subject_free (gpointer data)
{
  Subject *subject = data;

  sb_engine_free (subject->engine);
  g_free (subject->label);
  g_free (subject);
}

static gboolean
add_subject (GPtrArray *subjects, SbDevice device, int isa, GError **error)
{
  if (isa >= 0)
    sb_isa_force ((SbIsa)isa);

  SbEngine *engine = sb_engine_new (device, error);

  if (engine == NULL)
    return FALSE;

  Subject *subject = g_new0 (Subject, 1);

  subject->engine = engine;
  subject->isa = isa;
  subject->label = g_strdup (sb_engine_get_name (engine));
  g_ptr_array_add (subjects, subject);
  return TRUE;
}

/* The devices that --device names: auto means every one there is. */
static gboolean
add_subjects (GPtrArray *subjects, const SbCli *cli)
{
  g_autoptr (GError) error = NULL;
  SbDevice device = cli->device;

  if (device.kind != SB_DEVICE_CUDA)
    {
      device.kind = SB_DEVICE_CPU;
      for (guint isa = 0; isa < SB_N_ISAS; isa++)
        if (sb_isa_is_available ((SbIsa)isa) && !add_subject (subjects, device, (int)isa, &error))
          {
            sb_cli_error (NULL, "%s", error->message);
            return FALSE;
          }
    }
  if (cli->device.kind != SB_DEVICE_CPU)
    {
      device.kind = SB_DEVICE_CUDA;
      if (!add_subject (subjects, device, -1, &error))
        {
          if (cli->device.kind == SB_DEVICE_CUDA)
            {
              sb_cli_error (NULL, "%s", error->message);
              return FALSE;
            }
          sb_cli_print (_ ("not verified: %s\n"), error->message);
        }
    }
  return TRUE;
}

/* One case on one subject. difference: what is wrong, or NULL. */
static gboolean
run_case (Subject *subject, SbImage *image, const SbEditList *edits, SbImage *expected, guint depth,
          GCancellable *cancellable, char **difference)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) actual = NULL;

  if (subject->isa >= 0)
    sb_isa_force ((SbIsa)subject->isa);
  if (sb_engine_load (subject->engine, image, &error))
    actual = sb_engine_read (subject->engine, edits, edits->n_edits == 0 ? 0 : edits->n_edits - 1,
                             depth, cancellable, &error);
  *difference
      = actual == NULL ? g_strdup (error->message) : sb_test_first_difference (expected, actual);
  return *difference == NULL;
}

static SbEdit
random_edit (GRand *rand, const Group *group, guint width, guint height)
{
  SbEdit edit = sb_test_random_edit (rand, width, height, group->max_radius);

  if (edit.values[SB_BLUR_RADIUS] < group->min_radius)
    edit.values[SB_BLUR_RADIUS] = group->min_radius;
  /* The reference takes its time in proportion. */
  if (group->max_radius > 300)
    edit.values[SB_BLUR_PASSES] = MIN (edit.values[SB_BLUR_PASSES], 2);
  return edit;
}

static guint
run_group (const Group *group, GPtrArray *subjects, const SbReferenceTone *tone, GRand *rand,
           GCancellable *cancellable)
{
  guint n_failed = 0;

  for (guint i = 0; i < group->n_cases && !g_cancellable_is_cancelled (cancellable); i++)
    {
      guint width = (guint)g_rand_int_range (rand, 1, (gint32)group->max_width + 1);
      guint height = (guint)g_rand_int_range (rand, 1, (gint32)group->max_height + 1);
      SbFill fill = group->fills[i % G_N_ELEMENTS (group->fills)];
      SbEdit edits[3];

      for (guint j = 0; j < group->n_edits; j++)
        edits[j] = random_edit (rand, group, width, height);

      guint run = 2 * (guint)edits[0].values[SB_BLUR_RADIUS] + 3;
      g_autoptr (SbImage) image = sb_fill_image (width, height, fill, run, group->depth, rand);
      g_autoptr (SbEditList) list = sb_edit_list_new (edits, group->n_edits);
      g_autoptr (SbImage) expected = sb_reference_fold (image, list, group->out_depth, tone);

      for (guint s = 0; s < subjects->len; s++)
        {
          Subject *subject = g_ptr_array_index (subjects, s);
          g_autofree char *difference = NULL;

          if (run_case (subject, image, list, expected, group->out_depth, cancellable, &difference)
              || g_cancellable_is_cancelled (cancellable))
            continue;

          g_autofree char *text = sb_test_describe_list (edits, group->n_edits);

          n_failed++;
          subject->n_failed++;
          sb_cli_print (_ ("%s: %s, case %u: %s at %u × %u, %u bits, to %u bits, %s: %s\n"),
                        subject->label, _ (group->label), i, sb_fill_name (fill), width, height,
                        group->depth, group->out_depth, text, difference);
        }
    }
  return n_failed;
}

/* Wavelets, with the cases of the same seed on every subject. */
static guint
run_haar (GPtrArray *subjects, guint32 seed, guint *n_cases, GCancellable *cancellable)
{
  guint n_failed = 0;

  for (guint s = 0; s < subjects->len; s++)
    {
      Subject *subject = g_ptr_array_index (subjects, s);

      if (subject->isa >= 0)
        sb_isa_force ((SbIsa)subject->isa);
      n_failed += sb_cli_verify_haar (subject->engine, subject->label, seed, n_cases, cancellable);
    }
  return n_failed;
}

int
sb_cli_verify (const SbCli *cli)
{
  g_autoptr (GPtrArray) subjects = g_ptr_array_new_with_free_func (subject_free);
  g_autoptr (GRand) rand = g_rand_new_with_seed (cli->seed);
  SbReferenceTone tone;
  guint n_cases = 0, n_failed = 0;

  if (!add_subjects (subjects, cli))
    return SB_CLI_FAILED;

  sb_reference_tone_srgb (&tone);
  sb_cli_print (_ ("seed %u\n"), cli->seed);
  for (guint s = 0; s < subjects->len; s++)
    sb_cli_print ("%s\n", ((Subject *)g_ptr_array_index (subjects, s))->label);

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      guint failed = run_group (&groups[i], subjects, &tone, rand, cli->cancellable);

      if (g_cancellable_is_cancelled (cli->cancellable))
        break;
      n_cases += groups[i].n_cases;
      n_failed += failed;
      if (failed == 0)
        sb_cli_print (_ ("%s: %u cases equal\n"), _ (groups[i].label), groups[i].n_cases);
      else
        sb_cli_print (_ ("%s: %u of %u results differ\n"), _ (groups[i].label), failed,
                      groups[i].n_cases * subjects->len);
      /* Nobody reads on. */
      if (!sb_cli_flush ())
        {
          sb_reference_tone_clear (&tone);
          return SB_CLI_FAILED;
        }
    }
  sb_reference_tone_clear (&tone);

  guint n_haar = 0;
  const guint haar_failed = run_haar (subjects, cli->seed, &n_haar, cli->cancellable);

  n_cases += n_haar;
  n_failed += haar_failed;
  if (haar_failed == 0 && !g_cancellable_is_cancelled (cli->cancellable))
    sb_cli_print (_ ("%s: %u cases equal\n"), _ ("wavelets"), n_haar);

  if (g_cancellable_is_cancelled (cli->cancellable))
    {
      sb_cli_error (NULL, _ ("stopped"));
      return SB_CLI_FAILED;
    }
  if (n_failed == 0)
    sb_cli_print (_ ("all %u cases equal the reference\n"), n_cases);
  else
    sb_cli_print (_ ("%u of %u results differ from the reference\n"), n_failed,
                  n_cases * subjects->len);
  return n_failed == 0 ? SB_CLI_DONE : SB_CLI_FAILED;
}
