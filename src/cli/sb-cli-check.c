/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli-typed.h"

#include <string.h>

#include <glib/gi18n-lib.h>

#include "sb-error.h"

#define MAX_THREADS 1024
#define MAX_SIDE    100000
#define MAX_PAGE    65535
/* The setting of the window has the same range. */
#define MAX_MEMORY_LIMIT 1048576 /* MiB */

int
sb_cli_usage_error (const char *name, const char *message)
{
  sb_cli_error (name, "%s", message);
  g_printerr ("%s\n", _ ("“softbox-cli --help” tells how to call it."));
  return SB_CLI_USAGE;
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
parse_shorthand (const SbCliTyped *typed, SbEdit *edit, GError **error)
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
SbEditList *
sb_cli_parse_edits (const SbCliTyped *typed)
{
  gboolean shorthand = typed->radius != NULL || typed->passes != NULL || typed->linear != NULL;
  guint n = typed->edits == NULL ? 0 : g_strv_length (typed->edits);
  g_autofree SbEdit *edits = g_new (SbEdit, n + 1);
  g_autoptr (GError) error = NULL;

  if (shorthand && n > 0)
    {
      sb_cli_usage_error (
          NULL, _ ("--radius, --passes and --linear are short for one --edit; give either "
                   "them or --edit"));
      return NULL;
    }
  for (guint i = 0; i < n; i++)
    if (!sb_edit_parse (typed->edits[i], &edits[i], &error))
      {
        sb_cli_usage_error (NULL, error->message);
        return NULL;
      }
  if (shorthand)
    {
      n = 1;
      if (!parse_shorthand (typed, &edits[0], &error))
        {
          sb_cli_usage_error (NULL, error->message);
          return NULL;
        }
    }
  return sb_edit_list_new (edits, n);
}

gboolean
sb_cli_parse_numbers (const SbCliTyped *typed, SbCli *cli)
{
  g_autoptr (GError) error = NULL;

  if (typed->device != NULL && !sb_device_parse (typed->device, &cli->device, &error))
    {
      sb_cli_usage_error (NULL, error->message);
      return FALSE;
    }
  if (typed->threads != NULL && !parse_whole (typed->threads, 0, MAX_THREADS, &cli->device.threads))
    {
      g_autofree char *message
          = g_strdup_printf (_ ("“--threads=%s”: must be a whole number from 0 to %d, 0 for one "
                                "thread a core"),
                             typed->threads, MAX_THREADS);

      sb_cli_usage_error (NULL, message);
      return FALSE;
    }
  if (typed->depth != NULL && !g_str_equal (typed->depth, "8") && !g_str_equal (typed->depth, "16"))
    {
      g_autofree char *message
          = g_strdup_printf (_ ("“--depth=%s”: must be 8 or 16"), typed->depth);

      sb_cli_usage_error (NULL, message);
      return FALSE;
    }
  cli->depth = typed->depth == NULL ? 0 : (guint)atoi (typed->depth);
  if (typed->page != NULL && !parse_whole (typed->page, 1, MAX_PAGE, &cli->page))
    {
      g_autofree char *message = g_strdup_printf (
          _ ("“--page=%s”: must be a whole number from 1 to %d"), typed->page, MAX_PAGE);

      sb_cli_usage_error (NULL, message);
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

          sb_cli_usage_error (NULL, message);
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

          sb_cli_usage_error (NULL, message);
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

          sb_cli_usage_error (NULL, message);
          return FALSE;
        }
    }
  if (typed->seed != NULL && !parse_whole (typed->seed, 0, G_MAXUINT32, &cli->seed))
    {
      g_autofree char *message = g_strdup_printf (
          _ ("“--seed=%s”: must be a whole number from 0 to %u"), typed->seed, G_MAXUINT32);

      sb_cli_usage_error (NULL, message);
      return FALSE;
    }
  return TRUE;
}

gboolean
sb_cli_check_output (const SbCliTyped *typed, guint n_inputs)
{
  const char *extension;

  if (typed->output == NULL)
    sb_cli_usage_error (NULL, _ ("no output: -o OUTPUT is missing"));
  else if (*typed->output == '\0')
    sb_cli_usage_error (NULL, _ ("the name of the output is empty"));
  else if (n_inputs > 1 && g_str_equal (typed->output, "-"))
    sb_cli_usage_error (NULL, _ ("several pictures need a folder to go to, not standard output"));
  else if (n_inputs == 1 && !sb_cli_is_png_name (typed->output, &extension))
    {
      g_autofree char *shown = g_filename_display_name (extension);
      g_autofree char *message
          = g_strdup_printf (_ ("only PNG is written: end the name in .png instead of %s"), shown);

      sb_cli_usage_error (typed->output, message);
    }
  else
    return TRUE;
  return FALSE;
}

gboolean
sb_cli_check_inputs (char *const *inputs)
{
  guint n_streams = 0;

  for (guint i = 0; inputs[i] != NULL; i++)
    {
      if (*inputs[i] == '\0')
        {
          sb_cli_usage_error (NULL, _ ("the name of an input is empty"));
          return FALSE;
        }
      n_streams += g_str_equal (inputs[i], "-") ? 1 : 0;
    }
  if (n_streams > 1)
    {
      sb_cli_usage_error (NULL, _ ("standard input (-) can be read only once"));
      return FALSE;
    }
  return TRUE;
}

/* --- Subbands -------------------------------------------------------------------------------- */

gboolean
sb_cli_wants_subbands (const SbCliTyped *typed)
{
  return typed->subbands != NULL || typed->mosaic != NULL || typed->statistics;
}

gboolean
sb_cli_parse_subbands (const SbCliTyped *typed, SbCli *cli)
{
  const guint n_inputs = g_strv_length (cli->inputs);
  const char *extension;
  g_autoptr (GError) error = NULL;

  if (typed->levels != NULL && !parse_whole (typed->levels, 1, SB_HAAR_MAX_LEVELS, &cli->levels))
    {
      g_autofree char *message
          = g_strdup_printf (_ ("“--levels=%s”: must be a whole number from 1 to %d"),
                             typed->levels, SB_HAAR_MAX_LEVELS);

      sb_cli_usage_error (NULL, message);
      return FALSE;
    }
  if ((typed->channel != NULL && !sb_haar_channel_parse (typed->channel, &cli->channel, &error))
      || (typed->format != NULL && !sb_haar_format_parse (typed->format, &cli->format, &error)))
    {
      sb_cli_usage_error (NULL, error->message);
      return FALSE;
    }
  cli->subbands = typed->subbands;
  cli->mosaic = typed->mosaic;
  cli->statistics = typed->statistics;
  cli->json = typed->json;
  if (cli->subbands != NULL && *cli->subbands == '\0')
    sb_cli_usage_error (NULL, _ ("the name of the folder for the subbands is empty"));
  else if (typed->format != NULL && cli->subbands == NULL)
    sb_cli_usage_error (NULL, _ ("--format goes with --subbands"));
  else if (cli->mosaic != NULL && *cli->mosaic == '\0')
    sb_cli_usage_error (NULL, _ ("the name of the mosaic is empty"));
  else if (cli->mosaic != NULL && g_str_equal (cli->mosaic, "-"))
    sb_cli_usage_error (NULL, _ ("the mosaic goes to a file, not to standard output"));
  else if (cli->mosaic != NULL && n_inputs == 1 && !sb_cli_is_png_name (cli->mosaic, &extension))
    {
      g_autofree char *shown = g_filename_display_name (extension);
      g_autofree char *message
          = g_strdup_printf (_ ("only PNG is written: end the name in .png instead of %s"), shown);

      sb_cli_usage_error (cli->mosaic, message);
    }
  else if (cli->statistics && cli->output != NULL && g_str_equal (cli->output, "-"))
    sb_cli_usage_error (NULL, _ ("a picture and statistics cannot both go to standard output"));
  else if (cli->mosaic != NULL && cli->output != NULL && g_str_equal (cli->mosaic, cli->output))
    sb_cli_usage_error (NULL, _ ("the mosaic and the picture would go to one place"));
  else
    return TRUE;
  return FALSE;
}
