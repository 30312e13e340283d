/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gi18n-lib.h>

#include "sb-error.h"
#include "sb-locale.h"

#define MAX_THREADS 1024
#define MAX_SIDE    100000
#define MAX_PAGE    65535
/* The setting of the window has the same range. */
#define MAX_MEMORY_LIMIT 1048576 /* MiB */

/* The command line as it was typed. */
typedef struct
{
  char **inputs;
  char *output;
  char **edits;
  char *radius, *passes, *linear;
  char *depth, *device, *threads, *size, *seed, *compression, *page, *memory_limit;
  char *subbands, *mosaic, *levels, *channel, *format;
  gboolean dither, interlace, keep_location, strip_metadata;
  gboolean force, json, statistics;
  gboolean benchmark, verify, devices, list_edits, version, help;
} Typed;

static void
typed_clear (Typed *typed)
{
  g_strfreev (typed->inputs);
  g_strfreev (typed->edits);
  g_free (typed->output);
  g_free (typed->radius);
  g_free (typed->passes);
  g_free (typed->linear);
  g_free (typed->depth);
  g_free (typed->device);
  g_free (typed->threads);
  g_free (typed->size);
  g_free (typed->seed);
  g_free (typed->compression);
  g_free (typed->subbands);
  g_free (typed->mosaic);
  g_free (typed->levels);
  g_free (typed->channel);
  g_free (typed->format);
  g_free (typed->page);
  g_free (typed->memory_limit);
}

static void
cli_clear (SbCli *cli)
{
  g_clear_object (&cli->cancellable);
  g_clear_pointer (&cli->edits, sb_edit_list_unref);
  g_clear_pointer (&cli->places, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, typed_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbCli, cli_clear)

/* --- Ending early ---------------------------------------------------------------------------- */

/* Waits for the wish to stop in a thread of its own, where anything may be done about it. Then the
 * signals have their usual effect again: a second one ends the program at once. */
static gpointer
wait_for_signal (gpointer data)
{
  g_autoptr (GCancellable) cancellable = data;
  sigset_t signals;
  int number;

  pthread_sigmask (SIG_SETMASK, NULL, &signals);
  sigwait (&signals, &number);
  g_cancellable_cancel (cancellable);
  pthread_sigmask (SIG_UNBLOCK, &signals, NULL);
  return NULL;
}

/* Call it before any other thread begins, so that all have the signals blocked. */
static void
catch_signals (GCancellable *cancellable)
{
  const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  sigset_t signals;
  gboolean any = FALSE;

  sigemptyset (&signals);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      struct sigaction action;

      /* What whoever started us had ignored (nohup) stays so. */
      if (sigaction (numbers[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
        continue;
      sigaddset (&signals, numbers[i]);
      any = TRUE;
    }
  pthread_sigmask (SIG_SETMASK, &signals, NULL);
  if (any)
    g_thread_unref (g_thread_new ("signals", wait_for_signal, g_object_ref (cancellable)));
}

/* --- Checking -------------------------------------------------------------------------------- */

static int
usage_error (const char *name, const char *message)
{
  sb_cli_error (name, "%s", message);
  g_printerr ("%s\n", _ ("“softbox-cli --help” tells how to call it."));
  return SB_CLI_USAGE;
}

/* What stands there as UTF-8. Bytes that are no text in this locale are wrong wherever a number or
 * a key is due; so they can be quoted. */
static void
make_text (char **word)
{
  if (*word == NULL)
    return;

  g_autofree char *bytes = *word;

  *word = g_locale_to_utf8 (bytes, -1, NULL, NULL, NULL);
  if (*word == NULL)
    *word = g_utf8_make_valid (bytes, -1);
}

static void
make_texts (Typed *typed)
{
  char **const words[] = { &typed->radius,      &typed->passes,      &typed->linear, &typed->depth,
                           &typed->device,      &typed->threads,     &typed->size,   &typed->seed,
                           &typed->levels,      &typed->channel,     &typed->format, &typed->page,
                           &typed->compression, &typed->memory_limit };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    make_text (words[i]);
  for (guint i = 0; typed->edits != NULL && typed->edits[i] != NULL; i++)
    make_text (&typed->edits[i]);
}

static gboolean
parse_whole (const char *text, guint64 minimum, guint64 maximum, guint *value)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (text, 10, minimum, maximum, &number, NULL))
    return FALSE;
  *value = (guint)number;
  return TRUE;
}

/* --radius, --passes and --linear: one blur. */
static gboolean
parse_shorthand (const Typed *typed, SbEdit *edit, GError **error)
{
  const struct
  {
    const char *value;
    guint position;
  } parts[] = {
    { typed->radius, SB_BLUR_RADIUS },
    { typed->passes, SB_BLUR_PASSES },
    { typed->linear, SB_BLUR_LINEAR },
  };

  sb_edit_init (edit, SB_EDIT_BLUR);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      const char *key = sb_edit_class (SB_EDIT_BLUR)->parameters[parts[i].position].key;
      SbEdit one;

      if (parts[i].value == NULL)
        continue;

      g_autofree char *text = g_strdup_printf ("blur:%s=%s", key, parts[i].value);

      if (!sb_edit_parse (text, &one, error))
        return FALSE;
      /* "3,passes=1" is an edit's text, and no number. */
      if (strchr (parts[i].value, ',') != NULL)
        {
          g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("“--%s=%s”: must be one number"), key,
                       parts[i].value);
          return FALSE;
        }
      edit->values[parts[i].position] = one.values[parts[i].position];
    }
  return TRUE;
}

/* NULL: a usage error that has been told. */
static SbEditList *
parse_edits (const Typed *typed)
{
  gboolean shorthand = typed->radius != NULL || typed->passes != NULL || typed->linear != NULL;
  guint n = typed->edits == NULL ? 0 : g_strv_length (typed->edits);
  g_autofree SbEdit *edits = g_new (SbEdit, n + 1);
  g_autoptr (GError) error = NULL;

  if (shorthand && n > 0)
    {
      usage_error (NULL, _ ("--radius, --passes and --linear are short for one --edit; give either "
                            "them or --edit"));
      return NULL;
    }
  for (guint i = 0; i < n; i++)
    if (!sb_edit_parse (typed->edits[i], &edits[i], &error))
      {
        usage_error (NULL, error->message);
        return NULL;
      }
  if (shorthand)
    {
      n = 1;
      if (!parse_shorthand (typed, &edits[0], &error))
        {
          usage_error (NULL, error->message);
          return NULL;
        }
    }
  return sb_edit_list_new (edits, n);
}

static gboolean
parse_numbers (const Typed *typed, SbCli *cli)
{
  g_autoptr (GError) error = NULL;

  if (typed->device != NULL && !sb_device_parse (typed->device, &cli->device, &error))
    {
      usage_error (NULL, error->message);
      return FALSE;
    }
  if (typed->threads != NULL && !parse_whole (typed->threads, 0, MAX_THREADS, &cli->device.threads))
    {
      g_autofree char *message
          = g_strdup_printf (_ ("“--threads=%s”: must be a whole number from 0 to %d, 0 for one "
                                "thread a core"),
                             typed->threads, MAX_THREADS);

      usage_error (NULL, message);
      return FALSE;
    }
  if (typed->depth != NULL && !g_str_equal (typed->depth, "8") && !g_str_equal (typed->depth, "16"))
    {
      g_autofree char *message
          = g_strdup_printf (_ ("“--depth=%s”: must be 8 or 16"), typed->depth);

      usage_error (NULL, message);
      return FALSE;
    }
  cli->depth = typed->depth == NULL ? 0 : (guint)atoi (typed->depth);
  if (typed->page != NULL && !parse_whole (typed->page, 1, MAX_PAGE, &cli->page))
    {
      g_autofree char *message = g_strdup_printf (
          _ ("“--page=%s”: must be a whole number from 1 to %d"), typed->page, MAX_PAGE);

      usage_error (NULL, message);
      return FALSE;
    }
  if (typed->memory_limit != NULL)
    {
      guint mebibytes;

      if (!parse_whole (typed->memory_limit, 1, MAX_MEMORY_LIMIT, &mebibytes))
        {
          g_autofree char *message = g_strdup_printf (
              _ ("“--memory-limit=%s”: must be a whole number of MiB from 1 to %d"),
              typed->memory_limit, MAX_MEMORY_LIMIT);

          usage_error (NULL, message);
          return FALSE;
        }
      cli->memory_limit = (guint64)mebibytes << 20;
    }
  if (typed->compression != NULL)
    {
      guint level;

      if (!parse_whole (typed->compression, 0, 9, &level))
        {
          g_autofree char *message = g_strdup_printf (
              _ ("“--compression=%s”: must be a whole number from 0, fast and large, to 9, slow "
                 "and small"),
              typed->compression);

          usage_error (NULL, message);
          return FALSE;
        }
      cli->compression = (int)level;
    }

  if (typed->size != NULL)
    {
      g_auto (GStrv) sides = g_strsplit (typed->size, "x", -1);

      if (g_strv_length (sides) != 2 || !parse_whole (sides[0], 1, MAX_SIDE, &cli->width)
          || !parse_whole (sides[1], 1, MAX_SIDE, &cli->height))
        {
          g_autofree char *message
              = g_strdup_printf (_ ("“--size=%s”: must be two whole numbers from 1 to %d with an x "
                                    "between: 6000x4000"),
                                 typed->size, MAX_SIDE);

          usage_error (NULL, message);
          return FALSE;
        }
    }
  if (typed->seed != NULL && !parse_whole (typed->seed, 0, G_MAXUINT32, &cli->seed))
    {
      g_autofree char *message = g_strdup_printf (
          _ ("“--seed=%s”: must be a whole number from 0 to %u"), typed->seed, G_MAXUINT32);

      usage_error (NULL, message);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_output (const Typed *typed, guint n_inputs)
{
  const char *extension;

  if (typed->output == NULL)
    usage_error (NULL, _ ("no output: -o OUTPUT is missing"));
  else if (*typed->output == '\0')
    usage_error (NULL, _ ("the name of the output is empty"));
  else if (n_inputs > 1 && g_str_equal (typed->output, "-"))
    usage_error (NULL, _ ("several pictures need a folder to go to, not standard output"));
  else if (n_inputs == 1 && !sb_cli_is_png_name (typed->output, &extension))
    {
      g_autofree char *shown = g_filename_display_name (extension);
      g_autofree char *message
          = g_strdup_printf (_ ("only PNG is written: end the name in .png instead of %s"), shown);

      usage_error (typed->output, message);
    }
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_inputs (char *const *inputs)
{
  guint n_streams = 0;

  for (guint i = 0; inputs[i] != NULL; i++)
    {
      if (*inputs[i] == '\0')
        {
          usage_error (NULL, _ ("the name of an input is empty"));
          return FALSE;
        }
      n_streams += g_str_equal (inputs[i], "-") ? 1 : 0;
    }
  if (n_streams > 1)
    {
      usage_error (NULL, _ ("standard input (-) can be read only once"));
      return FALSE;
    }
  return TRUE;
}

/* --- Subbands -------------------------------------------------------------------------------- */

static gboolean
wants_subbands (const Typed *typed)
{
  return typed->subbands != NULL || typed->mosaic != NULL || typed->statistics;
}

static gboolean
parse_subbands (const Typed *typed, SbCli *cli)
{
  const guint n_inputs = g_strv_length (cli->inputs);
  const char *extension;
  g_autoptr (GError) error = NULL;

  if (typed->levels != NULL && !parse_whole (typed->levels, 1, SB_HAAR_MAX_LEVELS, &cli->levels))
    {
      g_autofree char *message
          = g_strdup_printf (_ ("“--levels=%s”: must be a whole number from 1 to %d"),
                             typed->levels, SB_HAAR_MAX_LEVELS);

      usage_error (NULL, message);
      return FALSE;
    }
  if ((typed->channel != NULL && !sb_haar_channel_parse (typed->channel, &cli->channel, &error))
      || (typed->format != NULL && !sb_haar_format_parse (typed->format, &cli->format, &error)))
    {
      usage_error (NULL, error->message);
      return FALSE;
    }
  cli->subbands = typed->subbands;
  cli->mosaic = typed->mosaic;
  cli->statistics = typed->statistics;
  cli->json = typed->json;
  if (cli->subbands != NULL && *cli->subbands == '\0')
    usage_error (NULL, _ ("the name of the folder for the subbands is empty"));
  else if (typed->format != NULL && cli->subbands == NULL)
    usage_error (NULL, _ ("--format goes with --subbands"));
  else if (cli->mosaic != NULL && *cli->mosaic == '\0')
    usage_error (NULL, _ ("the name of the mosaic is empty"));
  else if (cli->mosaic != NULL && g_str_equal (cli->mosaic, "-"))
    usage_error (NULL, _ ("the mosaic goes to a file, not to standard output"));
  else if (cli->mosaic != NULL && n_inputs == 1 && !sb_cli_is_png_name (cli->mosaic, &extension))
    {
      g_autofree char *shown = g_filename_display_name (extension);
      g_autofree char *message
          = g_strdup_printf (_ ("only PNG is written: end the name in .png instead of %s"), shown);

      usage_error (cli->mosaic, message);
    }
  else if (cli->statistics && cli->output != NULL && g_str_equal (cli->output, "-"))
    usage_error (NULL, _ ("a picture and statistics cannot both go to standard output"));
  else if (cli->mosaic != NULL && cli->output != NULL && g_str_equal (cli->mosaic, cli->output))
    usage_error (NULL, _ ("the mosaic and the picture would go to one place"));
  else
    return TRUE;
  return FALSE;
}

/* --- Running --------------------------------------------------------------------------------- */

/* Whatever is not about pictures and files. */
static int
run_other (const Typed *typed, SbCli *cli)
{
  guint n = (typed->benchmark ? 1 : 0) + (typed->verify ? 1 : 0) + (typed->devices ? 1 : 0)
            + (typed->list_edits ? 1 : 0);

  if (n > 1)
    return usage_error (NULL, _ ("give only one of --benchmark, --verify, --devices and "
                                 "--list-edits"));
  if (typed->inputs != NULL || typed->output != NULL || typed->edits != NULL
      || typed->radius != NULL || typed->passes != NULL || typed->linear != NULL
      || typed->depth != NULL || typed->compression != NULL || typed->page != NULL
      || typed->memory_limit != NULL || typed->force || typed->dither || typed->interlace
      || typed->keep_location || typed->strip_metadata || wants_subbands (typed)
      || typed->levels != NULL || typed->channel != NULL || typed->format != NULL)
    return usage_error (NULL, _ ("--benchmark, --verify, --devices and --list-edits take no "
                                 "pictures and no edits"));
  if (typed->json && typed->verify)
    return usage_error (NULL, _ ("--json goes with --benchmark, --devices and --list-edits"));
  if (typed->size != NULL && !typed->benchmark)
    return usage_error (NULL, _ ("--size goes with --benchmark"));
  if (typed->seed != NULL && !typed->verify)
    return usage_error (NULL, _ ("--seed goes with --verify"));

  cli->json = typed->json;
  if (typed->benchmark)
    return sb_cli_benchmark (cli);
  if (typed->verify)
    return sb_cli_verify (cli);
  if (typed->devices)
    return sb_cli_list_devices (cli);
  return sb_cli_list_edits (cli);
}

static int
run (const Typed *typed)
{
  g_auto (SbCli) cli = {
    .device = { SB_DEVICE_AUTO },
    .compression = -1,
    .width = 6000,
    .height = 4000,
    .seed = g_random_int (),
    .cancellable = g_cancellable_new (),
  };

  catch_signals (cli.cancellable);

  if (typed->version)
    {
      sb_cli_print ("softbox-cli %s\n", SB_VERSION);
      return SB_CLI_DONE;
    }
  if (!parse_numbers (typed, &cli))
    return SB_CLI_USAGE;

  if (typed->benchmark || typed->verify || typed->devices || typed->list_edits)
    return run_other (typed, &cli);

  if ((typed->json && !typed->statistics) || typed->size != NULL || typed->seed != NULL)
    return usage_error (NULL, _ ("--json, --size and --seed go with --benchmark, --verify, "
                                 "--devices or --list-edits, --json also with --statistics"));
  if (!wants_subbands (typed)
      && (typed->levels != NULL || typed->channel != NULL || typed->format != NULL))
    return usage_error (NULL, _ ("--levels, --channel and --format go with --subbands, --mosaic or "
                                 "--statistics"));
  if (typed->inputs == NULL || typed->inputs[0] == NULL)
    return usage_error (NULL, _ ("no input: name a picture, or - for standard input"));

  cli.inputs = typed->inputs;
  cli.output = typed->output;
  cli.force = typed->force;
  cli.dither = typed->dither;
  cli.interlace = typed->interlace;
  cli.keep_location = typed->keep_location;
  cli.strip_metadata = typed->strip_metadata;
  if (cli.dither && cli.depth == 16)
    return usage_error (NULL, _ ("--dither is for 8 bits, and --depth=16 keeps all there is"));
  if (cli.keep_location && cli.strip_metadata)
    return usage_error (NULL, _ ("--keep-location and --strip-metadata exclude each other"));
  if (!check_inputs (cli.inputs)
      || (!(wants_subbands (typed) && typed->output == NULL)
          && !check_output (typed, g_strv_length (cli.inputs)))
      || (wants_subbands (typed) && !parse_subbands (typed, &cli)))
    return SB_CLI_USAGE;
  cli.edits = parse_edits (typed);
  if (cli.edits == NULL)
    return SB_CLI_USAGE;
  cli.places = sb_cli_places_new (cli.inputs);
  return wants_subbands (typed) ? sb_cli_subbands (&cli) : sb_cli_convert (&cli);
}

/* Whatever else is on the command line: parsing ends here. GLib's own help would end the program,
 * and call it done whatever has become of the text. */
static gboolean
help_cb (const char *name, const char *value, gpointer user_data, GError **error)
{
  Typed *typed = user_data;

  typed->help = TRUE;
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, name);
  return FALSE;
}

static GOptionContext *
make_context (Typed *typed)
{
  /* FILENAME takes any bytes: GLib's own word on what is no text names neither option nor value. */
  const GOptionEntry entries[] = {
    { "edit", 'e', 0, G_OPTION_ARG_FILENAME_ARRAY, &typed->edits,
      N_ ("Do this edit; may be given again for more, done in this order"), N_ ("EDIT") },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &typed->output,
      N_ ("Write here: a PNG file, - for standard output, a folder for several inputs"),
      N_ ("OUTPUT") },
    { "radius", 0, 0, G_OPTION_ARG_FILENAME, &typed->radius,
      N_ ("Blur with this radius in pixels, 0 to 2000 (14)"), N_ ("R") },
    { "passes", 0, 0, G_OPTION_ARG_FILENAME, &typed->passes, N_ ("Blur so many times, 1 to 10 (3)"),
      N_ ("N") },
    { "linear", 0, 0, G_OPTION_ARG_FILENAME, &typed->linear,
      N_ ("Blur in linear light, 0 or 1 (1)"), "0|1" },
    { "depth", 0, 0, G_OPTION_ARG_FILENAME, &typed->depth,
      N_ ("Write so many bits a channel; the input’s without it"), "8|16" },
    { "page", 0, 0, G_OPTION_ARG_FILENAME, &typed->page, N_ ("Take this page of a TIFF file (1)"),
      N_ ("N") },
    { "dither", 0, 0, G_OPTION_ARG_NONE, &typed->dither,
      N_ ("Where 8 bits are written, mix two values rather than round"), NULL },
    { "compression", 0, 0, G_OPTION_ARG_FILENAME, &typed->compression,
      N_ ("Pack so hard, 0 to 9 (4)"), N_ ("LEVEL") },
    { "interlace", 0, 0, G_OPTION_ARG_NONE, &typed->interlace,
      N_ ("Write what can be shown before all of it has come; larger files"), NULL },
    { "keep-location", 0, 0, G_OPTION_ARG_NONE, &typed->keep_location,
      N_ ("Keep where a photo was taken, which is left out without it"), NULL },
    { "strip-metadata", 0, 0, G_OPTION_ARG_NONE, &typed->strip_metadata,
      N_ ("Keep nothing but pixels and colors"), NULL },
    { "force", 0, 0, G_OPTION_ARG_NONE, &typed->force, N_ ("Replace files that exist"), NULL },
    { "device", 0, 0, G_OPTION_ARG_FILENAME, &typed->device, N_ ("Compute there (auto)"),
      "auto|cpu|cuda[:N]" },
    { "threads", 0, 0, G_OPTION_ARG_FILENAME, &typed->threads,
      N_ ("Use so many threads (one a core)"), N_ ("N") },
    { "memory-limit", 0, 0, G_OPTION_ARG_FILENAME, &typed->memory_limit,
      N_ ("Open no picture that needs more memory, at 30 bytes a pixel (half of the memory)"),
      N_ ("MIB") },
    { "subbands", 0, 0, G_OPTION_ARG_FILENAME, &typed->subbands,
      N_ ("Write the result’s Haar subbands into this folder"), N_ ("FOLDER") },
    { "mosaic", 0, 0, G_OPTION_ARG_FILENAME, &typed->mosaic,
      N_ ("Write all subbands as one PNG; a folder for several inputs"), N_ ("FILE") },
    { "statistics", 0, 0, G_OPTION_ARG_NONE, &typed->statistics,
      N_ ("Print what the subbands measure"), NULL },
    { "levels", 0, 0, G_OPTION_ARG_FILENAME, &typed->levels,
      N_ ("Transform so many levels, 1 to what the picture has (5)"), N_ ("N") },
    { "channel", 0, 0, G_OPTION_ARG_FILENAME, &typed->channel,
      N_ ("Transform this channel (lightness)"), "lightness|luma|red|green|blue|alpha" },
    { "format", 0, 0, G_OPTION_ARG_FILENAME, &typed->format,
      N_ ("Write subbands as float32 arrays of NumPy or grey PNG (npy)"), "npy|png16" },
    { "devices", 0, 0, G_OPTION_ARG_NONE, &typed->devices, N_ ("List the devices"), NULL },
    { "list-edits", 0, 0, G_OPTION_ARG_NONE, &typed->list_edits,
      N_ ("List the edits with their keys and ranges"), NULL },
    { "benchmark", 0, 0, G_OPTION_ARG_NONE, &typed->benchmark,
      N_ ("Measure the speed and print a table"), NULL },
    { "size", 0, 0, G_OPTION_ARG_FILENAME, &typed->size,
      N_ ("Measure with a picture of this size (6000x4000)"), N_ ("WIDTHxHEIGHT") },
    { "verify", 0, 0, G_OPTION_ARG_NONE, &typed->verify,
      N_ ("Compare every device with the slow reference on random pictures"), NULL },
    { "seed", 0, 0, G_OPTION_ARG_FILENAME, &typed->seed,
      N_ ("Verify with the pictures of this seed"), N_ ("N") },
    { "json", 0, 0, G_OPTION_ARG_NONE, &typed->json, N_ ("Print a table as JSON"), NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &typed->version, N_ ("Print the version"), NULL },
    { "help", 'h', G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, help_cb, N_ ("Print this"), NULL },
    { "help-all", '?', G_OPTION_FLAG_NO_ARG | G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_CALLBACK, help_cb,
      NULL, NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &typed->inputs, NULL,
      N_ ("INPUT… -o OUTPUT") },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new ("main", "", "", typed, NULL);

  g_option_group_add_entries (group, entries);
  g_option_group_set_translation_domain (group, GETTEXT_PACKAGE);
  g_option_context_set_main_group (context, group);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (
      context, N_ ("Blurs photos and writes them as PNG, without a window. Reads what the system "
                   "can read: PNG at 8 and 16 bits, JPEG, TIFF, WebP and more."));
  g_option_context_set_description (
      context,
      N_ ("An edit is written KIND:KEY=VALUE,KEY=VALUE with every key optional; --list-edits tells "
          "them all. --radius, --passes and --linear together are one blur. Without any edit the "
          "picture is only converted. Numbers take a point for decimals.\n"
          "\n"
          "Several inputs go to a folder, which is made if it is missing, as NAME.png; where two "
          "would have one name, the second is NAME-2.png. An input is never overwritten, another "
          "file only with --force.\n"
          "\n"
          "Examples:\n"
          "  softbox-cli photo.jpg --radius 12.5 -o soft.png\n"
          "  softbox-cli photo.jpg -e blur:radius=40,direction=horizontal -o streaks.png\n"
          "  softbox-cli photo.jpg -e blur:radius=20,area=ellipse:900:400:600:800,feather=60,"
          "invert=1 -o portrait.png\n"
          "  softbox-cli photo.jpg -e bands:threshold=12 -o quiet.png\n"
          "  softbox-cli photo.jpg --subbands bands --levels 3 --channel luma\n"
          "  softbox-cli photo.jpg -e blur --statistics --json\n"
          "  softbox-cli *.jpg --radius 3 --depth=16 -o softened\n"
          "  curl -s https://example.org/photo.jpg | softbox-cli - -e blur -o - | display\n"
          "\n"
          "Exit status: 0 all done, 1 something failed, 2 the command line is wrong.\n"));
  return context;
}

int
main (int argc, char **argv)
{
  g_auto (Typed) typed = { NULL };
  g_autoptr (GError) error = NULL;

  sb_locale_init ();
  /* What is printed is read by scripts too: a point in every locale. */
  setlocale (LC_NUMERIC, "C");
  sb_cli_print_init ();
  /* A reader that goes away is an error of writing, with a message. */
  signal (SIGPIPE, SIG_IGN);
  g_set_prgname ("softbox-cli");

  g_autoptr (GOptionContext) context = make_context (&typed);

  const gboolean parsed = g_option_context_parse (context, &argc, &argv, &error);
  int status;

  if (typed.help)
    {
      g_autofree char *help = g_option_context_get_help (context, TRUE, NULL);

      sb_cli_print ("%s", help);
      status = SB_CLI_DONE;
    }
  else if (!parsed)
    status = usage_error (NULL, error->message);
  else
    {
      make_texts (&typed);
      status = run (&typed);
    }

  if (!sb_cli_flush () && status == SB_CLI_DONE)
    status = SB_CLI_FAILED;
  return status;
}
