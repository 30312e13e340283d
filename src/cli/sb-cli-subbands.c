/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#include "sb-error.h"
#include "sb-image.h"

#define LEVELS 5 /* unless told, where the picture has so many */

/* One input on its way. */
typedef struct
{
  const SbCli *cli;
  SbEngine *engine;
  SbEngine *cpu; /* in the engine's place, where that has failed; owned */
  SbImage *image;
  const char *input;
  const char *name;   /* for messages */
  const char *output; /* or NULL */
  const char *mosaic; /* or NULL */
  const char *stem;   /* of the bands' files */
  SbHaarChoice choice;
  guint width, height, depth;
} Task;

static gboolean
failed (const char *name, const GError *error)
{
  sb_cli_error (name, "%s", sb_cli_reason (error));
  return FALSE;
}

/* Before time is spent on it. */
static gboolean
is_free (const SbCli *cli, const char *path)
{
  struct stat status;

  if (path == NULL || g_str_equal (path, "-") || cli->force || g_lstat (path, &status) != 0)
    return TRUE;
  sb_cli_error (path, _ ("exists already; --force replaces it"));
  return FALSE;
}

/* --- Files ----------------------------------------------------------------------------------- */

static char *
band_path (const Task *task, guint n)
{
  const SbHaarBand band = sb_haar_nth_band (task->choice.levels, n);
  g_autofree char *name = sb_haar_file_name (task->stem, band, task->cli->format);

  return g_build_filename (task->cli->subbands, name, NULL);
}

static gboolean
write_bands (const Task *task, const SbHaar *haar)
{
  const guint levels = task->choice.levels;

  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    {
      g_autofree char *path = band_path (task, n);

      if (!is_free (task->cli, path) || !sb_cli_claim (task->cli->places, path))
        return FALSE;
    }
  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    {
      g_autofree char *path = band_path (task, n);
      g_autoptr (GFile) file = g_file_new_for_path (path);
      g_autoptr (GError) error = NULL;

      if (g_cancellable_set_error_if_cancelled (task->cli->cancellable, &error)
          || !sb_haar_save (haar, sb_haar_nth_band (levels, n), task->cli->format, file,
                            task->cli->force, &error))
        return failed (path, error);
    }
  return TRUE;
}

static gboolean
write_mosaic (const Task *task, const SbHaar *haar)
{
  const SbHaarLook look = { SB_HAAR_PYRAMID, SB_HAAR_SIGNED, 1, FALSE, FALSE };
  const guint8 ground[3] = { 0, 0, 0 };
  SbCli cli = *task->cli;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = sb_haar_draw (haar, &look, ground, &error);

  cli.depth = 8;
  cli.dither = FALSE;
  cli.strip_metadata = TRUE; /* they are of the picture */
  if (image == NULL || !sb_cli_save (&cli, image, image, task->mosaic, &error))
    return failed (task->mosaic, error);
  return TRUE;
}

/* --- Statistics ------------------------------------------------------------------------------ */

/* The shortest digits that give the number again; null for what JSON has no number for. */
static void
append_double (GString *text, const char *key, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, ", \"%s\": %s", key,
                          isfinite (value) ? g_ascii_dtostr (buffer, sizeof buffer, value)
                                           : "null");
}

static void
append_band_json (GString *json, const Task *task, SbHaarBand band,
                  const SbHaarStatistics *statistics)
{
  static const char *const orientations[] = { "A", "H", "V", "D" };
  g_autofree char *name = sb_haar_band_name (band);

  g_string_append_printf (
      json,
      "{\"band\": \"%s\", \"level\": %u, \"orientation\": \"%s\", \"columns\": %u, \"rows\": %u, "
      "\"count\": %" G_GUINT64_FORMAT,
      name, band.level, orientations[band.orientation], sb_haar_side (task->width, band.level),
      sb_haar_side (task->height, band.level), statistics->count);
  append_double (json, "mean", statistics->mean);
  append_double (json, "deviation", statistics->deviation);
  append_double (json, "energy", statistics->energy);
  append_double (json, "share", statistics->share);
  append_double (json, "near_zero", statistics->near_zero);
  append_double (json, "entropy", statistics->entropy);
  append_double (json, "bin_width", statistics->bin_width);
  g_string_append (json, ", \"histogram\": [");
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    g_string_append_printf (json, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "",
                            statistics->histogram[i]);
  g_string_append (json, "]}");
}

/* As it is printed in a table: percents have two decimals, the rest four. */
static char *
number (double value, guint decimals)
{
  GString *text = g_string_new (NULL);

  if (isinf (value))
    g_string_append (text, "∞");
  else
    sb_cli_append_number (text, value, decimals);
  return g_string_free (text, FALSE);
}

static void
print_row (const char *band, const char *count, const char *mean, const char *deviation,
           const char *share, const char *near_zero, const char *entropy)
{
  const struct
  {
    const char *text;
    int width;
  } cells[] = { { band, -6 },  { count, 12 },     { mean, 14 },   { deviation, 14 },
                { share, 12 }, { near_zero, 12 }, { entropy, 10 } };
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
    sb_cli_append_cell (line, cells[i].text, cells[i].width);
  sb_cli_print ("%s\n", line->str);
}

static void
print_band (SbHaarBand band, const SbHaarStatistics *statistics)
{
  g_autofree char *name = sb_haar_band_name (band);
  g_autofree char *mean = number (statistics->mean, 4);
  g_autofree char *deviation = number (statistics->deviation, 4);
  g_autofree char *share = number (100 * statistics->share, 4);
  g_autofree char *near_zero = number (100 * statistics->near_zero, 2);
  g_autofree char *entropy = number (statistics->entropy, 4);

  g_autofree char *count = g_strdup_printf ("%" G_GUINT64_FORMAT, statistics->count);

  print_row (name, count, mean, deviation, share, near_zero, entropy);
}

static void
print_head (const Task *task)
{
  g_autofree char *shown = g_filename_display_name (task->name);

  /* Translators: "photo.jpg: 6000 × 4000 pixels, 8 bits, luma, 5 levels" */
  sb_cli_print (g_dngettext (GETTEXT_PACKAGE, "%s: %u × %u pixels, %u bits, %s, %u level\n",
                             "%s: %u × %u pixels, %u bits, %s, %u levels\n", task->choice.levels),
                shown, task->width, task->height, task->depth,
                sb_haar_channel_key (task->choice.channel), task->choice.levels);
  /* Translators: heads of columns, right-aligned: a subband, how many coefficients, their mean and
   * standard deviation, their part of the energy and the part near zero in percent, entropy */
  print_row (_ ("band"), _ ("count"), _ ("mean"), _ ("deviation"), _ ("energy %"), _ ("zeros %"),
             _ ("bits"));
}

typedef struct
{
  SbHaarStatistics bands[1 + 3 * SB_HAAR_MAX_LEVELS];
  SbHaarSummary summary;
  gboolean changed; /* by an edit of bands, of which this is told: */
  SbBandsMeasure change;
} Measures;

static gboolean
measure (const Task *task, Measures *measures, GError **error)
{
  const SbCli *cli = task->cli;
  const guint n_edits = cli->edits->n_edits;

  measures->changed = FALSE;
  for (guint i = 0; i < n_edits; i++)
    measures->changed = measures->changed
                        || (cli->edits->edits[i].kind == SB_EDIT_BANDS
                            && !sb_edit_is_identity (&cli->edits->edits[i]));
  /* What an edit of bands begins with is wanted once more, to compare with. */
  const guint n_fixed
      = n_edits > 0 && cli->edits->edits[n_edits - 1].kind == SB_EDIT_BANDS ? n_edits - 1 : 0;
  if (!sb_engine_render (task->engine, cli->edits, n_fixed, SB_QUALITY_EXACT, cli->cancellable,
                         error)
      || !sb_engine_set_subbands (task->engine, &task->choice, cli->cancellable, error)
      || !sb_engine_summarize_subbands (task->engine, &measures->summary, cli->cancellable, error)
      || (measures->changed
          && !sb_engine_measure_edit (task->engine, &measures->change, cli->cancellable, error)))
    return FALSE;
  for (guint n = 0; n < sb_haar_n_bands (task->choice.levels); n++)
    if (!sb_engine_measure_band (task->engine, sb_haar_nth_band (task->choice.levels, n),
                                 &measures->bands[n], cli->cancellable, error))
      return FALSE;
  return TRUE;
}

static void
print_measures (const Task *task, const Measures *measures, GString *json)
{
  const guint levels = task->choice.levels;

  if (json != NULL)
    {
      g_autofree char *shown = g_filename_display_name (task->name);

      g_string_append (json, json->len == 1 ? "\n  {\"file\": " : ",\n  {\"file\": ");
      sb_cli_append_json (json, shown);
      g_string_append_printf (json,
                              ", \"width\": %u, \"height\": %u, \"depth\": %u, \"channel\": "
                              "\"%s\", \"levels\": %u",
                              task->width, task->height, task->depth,
                              sb_haar_channel_key (task->choice.channel), levels);
      append_double (json, "noise", measures->summary.noise);
      append_double (json, "noise_levels", measures->summary.noise_levels);
      append_double (json, "reconstruction_error", measures->summary.reconstruction_error);
      if (measures->changed)
        {
          append_double (json, "kept", measures->change.kept);
          append_double (json, "psnr", measures->change.psnr);
        }
      g_string_append (json, ", \"bands\": [");
    }
  else
    print_head (task);
  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    {
      const SbHaarBand band = sb_haar_nth_band (levels, n);

      if (json == NULL)
        print_band (band, &measures->bands[n]);
      else
        {
          g_string_append (json, n > 0 ? ",\n    " : "\n    ");
          append_band_json (json, task, band, &measures->bands[n]);
        }
    }
  if (json != NULL)
    {
      g_string_append (json, "]}");
      return;
    }

  g_autofree char *noise = number (measures->summary.noise, 4);
  g_autofree char *levels_of_noise = number (measures->summary.noise_levels, 4);
  g_autofree char *wrong = number (measures->summary.reconstruction_error, 6);
  /* Translators: σ of the noise in the units of the table and of thresholds */
  sb_cli_print (_ ("noise: %s; in 8-bit levels %s\n"), noise, levels_of_noise);
  sb_cli_print (_ ("reconstruction error: %s\n"), wrong);
  if (measures->changed)
    {
      g_autofree char *kept = number (100 * measures->change.kept, 2);
      g_autofree char *psnr = number (measures->change.psnr, 2);

      sb_cli_print (_ ("coefficients kept: %s %%\n"), kept);
      sb_cli_print (_ ("PSNR: %s dB\n"), psnr);
    }
}

/* --- Running --------------------------------------------------------------------------------- */

/* What an engine does of a task; where the device fails, once more on the CPU. */
typedef gpointer (*Work) (const Task *task, gpointer data, GError **error);

static gpointer
attempt (Task *task, Work work, gpointer data)
{
  g_autoptr (GError) error = NULL;
  gpointer done = work (task, data, &error);

  if (done == NULL && task->cpu == NULL)
    {
      task->cpu = sb_cli_leave_device (task->cli, task->name, &error);
      if (task->cpu != NULL)
        {
          task->engine = task->cpu;
          if (sb_engine_load (task->engine, task->image, &error))
            done = work (task, data, &error);
        }
    }
  if (done == NULL)
    failed (task->name, error);
  return done;
}

static gpointer
load_work (const Task *task, gpointer data, GError **error)
{
  return sb_engine_load (task->engine, task->image, error) ? task->engine : NULL;
}

static gpointer
transform_work (const Task *task, gpointer data, GError **error)
{
  return sb_engine_read_subbands (task->engine, task->cli->edits, 0, &task->choice,
                                  task->cli->cancellable, error);
}

static gpointer
measure_work (const Task *task, gpointer data, GError **error)
{
  return measure (task, data, error) ? data : NULL;
}

static gpointer
result_work (const Task *task, gpointer data, GError **error)
{
  return sb_cli_read (task->cli, task->engine, task->image, error);
}

static gboolean
run_loaded (Task *task, GString *json)
{
  const SbCli *cli = task->cli;
  g_autoptr (GError) error = NULL;

  if (attempt (task, load_work, NULL) == NULL)
    return FALSE;

  /* The transform first: it tells whether there are so many levels before anything is written. */
  if (cli->subbands != NULL || task->mosaic != NULL)
    {
      g_autoptr (SbHaar) haar = attempt (task, transform_work, NULL);

      if (haar == NULL || (cli->subbands != NULL && !write_bands (task, haar))
          || (task->mosaic != NULL && !write_mosaic (task, haar)))
        return FALSE;
    }
  if (cli->statistics)
    {
      g_autofree Measures *measures = g_new0 (Measures, 1);

      if (attempt (task, measure_work, measures) == NULL)
        return FALSE;
      print_measures (task, measures, json);
    }
  if (task->output == NULL)
    return TRUE;

  g_autoptr (SbImage) result = attempt (task, result_work, NULL);
  if (result == NULL)
    return FALSE;
  return sb_cli_save (cli, result, task->image, task->output, &error)
         || failed (g_str_equal (task->output, "-") ? _ ("standard output") : task->output, error);
}

static gboolean
run_task (Task *task, GString *json)
{
  const SbCli *cli = task->cli;
  g_autoptr (GError) error = NULL;

  if (!is_free (cli, task->output) || !is_free (cli, task->mosaic))
    return FALSE;
  g_autoptr (SbImage) image = sb_cli_load (cli, task->input, &error);
  if (image == NULL)
    return failed (task->name, error);
  task->image = image;
  task->width = sb_image_get_width (image);
  task->height = sb_image_get_height (image);
  task->depth = sb_image_get_depth (image);
  task->choice.channel = cli->channel;
  task->choice.levels = cli->levels > 0
                            ? cli->levels
                            : MIN (LEVELS, sb_haar_max_levels (task->width, task->height));
  const gboolean good = run_loaded (task, json);
  g_clear_pointer (&task->cpu, sb_engine_free);
  return good;
}

static gboolean
make_folder (const char *name)
{
  if (g_mkdir_with_parents (name, 0777) == 0)
    return TRUE;
  sb_cli_error (name, _ ("the folder could not be made: %s"), g_strerror (errno));
  return FALSE;
}

/* Names for the bands' files: a stem for each input, no two alike. */
static char **
plan_stems (char *const *inputs)
{
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *stems = g_ptr_array_new ();

  for (guint i = 0; inputs[i] != NULL; i++)
    {
      g_autofree char *base = sb_cli_stem (inputs[i]);
      char *stem = g_strdup (base);

      for (guint k = 2; g_hash_table_contains (taken, stem); k++)
        {
          g_free (stem);
          stem = g_strdup_printf ("%s-%u", base, k);
        }
      g_hash_table_add (taken, g_strdup (stem));
      g_ptr_array_add (stems, stem);
    }
  g_ptr_array_add (stems, NULL);
  return (char **)g_ptr_array_free (stems, FALSE);
}

/* Where pictures go, or NULL twice: none do. FALSE: told. */
static gboolean
plan (const SbCli *cli, const char *place, char ***names)
{
  g_autoptr (GError) error = NULL;

  *names = NULL;
  if (place == NULL)
    return TRUE;
  *names = sb_cli_plan (cli->inputs, place, &error);
  if (*names == NULL)
    return failed (place, error);
  if (cli->inputs[1] != NULL && !make_folder (place))
    return FALSE;
  for (guint i = 0; (*names)[i] != NULL; i++)
    if (!g_str_equal ((*names)[i], "-") && !sb_cli_claim (cli->places, (*names)[i]))
      return FALSE;
  return TRUE;
}

int
sb_cli_subbands (const SbCli *cli)
{
  g_auto (GStrv) stems = plan_stems (cli->inputs);
  g_auto (GStrv) outputs = NULL;
  g_auto (GStrv) mosaics = NULL;
  g_autoptr (GString) json = cli->json ? g_string_new ("[") : NULL;
  g_autoptr (GError) error = NULL;
  gboolean good = TRUE;

  if (!sb_cli_check_streams (cli, cli->output))
    return SB_CLI_FAILED;
  g_autoptr (SbEngine) engine = sb_engine_new (cli->device, &error);
  if (engine == NULL)
    {
      sb_cli_error (NULL, "%s", error->message);
      return SB_CLI_FAILED;
    }
  if (!plan (cli, cli->output, &outputs) || !plan (cli, cli->mosaic, &mosaics)
      || (cli->subbands != NULL && !make_folder (cli->subbands)))
    return SB_CLI_FAILED;

  for (guint i = 0; cli->inputs[i] != NULL; i++)
    {
      Task task
          = { .cli = cli,
              .engine = engine,
              .input = cli->inputs[i],
              .name = g_str_equal (cli->inputs[i], "-") ? _ ("standard input") : cli->inputs[i],
              .output = outputs != NULL ? outputs[i] : NULL,
              .mosaic = mosaics != NULL ? mosaics[i] : NULL,
              .stem = stems[i] };

      if (g_cancellable_is_cancelled (cli->cancellable))
        good = FALSE;
      else if (!run_task (&task, json))
        good = FALSE;
    }
  if (json != NULL)
    sb_cli_print ("%s\n]\n", json->str);
  return good ? SB_CLI_DONE : SB_CLI_FAILED;
}
