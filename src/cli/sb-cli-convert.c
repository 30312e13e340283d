/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#include "sb-error.h"
#include "sb-image.h"

static gboolean
is_stream (const char *name)
{
  return g_str_equal (name, "-");
}

static SbImage *
load (const SbCli *cli, const char *input, GError **error)
{
  const SbLoadOptions options = { .page = cli->page, .limit_bytes = cli->memory_limit };

  if (!is_stream (input))
    {
      g_autoptr (GFile) file = sb_cli_file (input);

      return sb_image_load_with (file, &options, cli->cancellable, error);
    }

  g_autoptr (GInputStream) stream = g_unix_input_stream_new (STDIN_FILENO, FALSE);

  return sb_image_load_stream_with (stream, _ ("standard input"), &options, cli->cancellable,
                                    error);
}

SbImage *
sb_cli_load (const SbCli *cli, const char *input, GError **error)
{
  SbImage *image = load (cli, input, error);

  for (guint i = 0; image != NULL && sb_image_get_warnings (image)[i] != NULL; i++)
    sb_cli_warning (is_stream (input) ? _ ("standard input") : input, "%s",
                    sb_image_get_warnings (image)[i]);
  return image;
}

static gboolean
write_stream (const SbCli *cli, GBytes *png, GError **error)
{
  g_autoptr (GOutputStream) stream = g_unix_output_stream_new (STDOUT_FILENO, FALSE);
  gsize n;
  const void *data = g_bytes_get_data (png, &n);

  return g_output_stream_write_all (stream, data, n, NULL, cli->cancellable, error)
         && g_output_stream_close (stream, cli->cancellable, error);
}

static guint
output_depth (const SbCli *cli, SbImage *original)
{
  return cli->depth != 0 ? cli->depth : sb_image_get_depth (original);
}

static void
warn (const char *sentence, gpointer name)
{
  sb_cli_warning (name, "%s", sentence);
}

gboolean
sb_cli_save (const SbCli *cli, SbImage *image, SbImage *original, const char *output,
             GError **error)
{
  const SbSaveOptions options = {
    .depth = output_depth (cli, original),
    .compression = cli->compression,
    .overwrite = cli->force,
    .dither = cli->dither,
    .interlace = cli->interlace,
    .metadata = sb_image_get_metadata (original),
    .strip_metadata = cli->strip_metadata,
    .keep_location = cli->keep_location,
    .warned = warn,
  };
  char *name = is_stream (output) ? (char *)_ ("standard output") : (char *)output;

  if (is_stream (output))
    {
      g_autoptr (GBytes) png
          = sb_image_encode_png (image, &options, NULL, name, cli->cancellable, error);

      return png != NULL && write_stream (cli, png, error);
    }

  g_autoptr (GFile) file = g_file_new_for_path (output);

  return sb_image_save_png (image, file, &options, NULL, name, cli->cancellable, error);
}

/* In the words of a command line where the cause is a key. */
const char *
sb_cli_reason (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? _ ("stopped") : error->message;
}

/* What 8 bits cannot hold is still there for dithering. */
SbImage *
sb_cli_read (const SbCli *cli, SbEngine *engine, SbImage *image, GError **error)
{
  return sb_engine_read (engine, cli->edits, 0, cli->dither ? 16 : output_depth (cli, image),
                         cli->cancellable, error);
}

/* Without edits no device has to know of the picture. */
static SbImage *
edit (const SbCli *cli, SbEngine *engine, SbImage *image, GError **error)
{
  if (cli->edits->n_edits == 0)
    return sb_image_convert (image, cli->dither ? 16 : output_depth (cli, image), error);
  return sb_engine_load (engine, image, error) ? sb_cli_read (cli, engine, image, error) : NULL;
}

SbEngine *
sb_cli_leave_device (const SbCli *cli, const char *name, GError **error)
{
  const SbDevice cpu = { SB_DEVICE_CPU, 0, cli->device.threads };

  if (cli->device.kind != SB_DEVICE_AUTO
      || !(g_error_matches (*error, SB_ERROR, SB_ERROR_DEVICE_FULL)
           || g_error_matches (*error, SB_ERROR, SB_ERROR_DEVICE_LOST)))
    return NULL;
  sb_cli_warning (name, _ ("%s; continuing on the CPU"), (*error)->message);
  g_clear_error (error);
  return sb_engine_new (cpu, error);
}

static gboolean
convert_one (const SbCli *cli, SbEngine *engine, const char *input, const char *output)
{
  const char *input_name = is_stream (input) ? _ ("standard input") : input;
  const char *output_name = is_stream (output) ? _ ("standard output") : output;
  g_autoptr (GError) error = NULL;
  struct stat status;

  /* Before time is spent on it; saving looks again. */
  if (!is_stream (output) && !cli->force && g_lstat (output, &status) == 0)
    {
      sb_cli_error (output, _ ("exists already; --force replaces it"));
      return FALSE;
    }

  g_autoptr (SbImage) image = sb_cli_load (cli, input, &error);

  if (image == NULL)
    {
      sb_cli_error (input_name, "%s", sb_cli_reason (error));
      return FALSE;
    }

  g_autoptr (SbImage) result = edit (cli, engine, image, &error);

  if (result == NULL)
    {
      g_autoptr (SbEngine) other = sb_cli_leave_device (cli, input_name, &error);

      if (other != NULL)
        result = edit (cli, other, image, &error);
    }
  if (result == NULL)
    {
      sb_cli_error (input_name, "%s", sb_cli_reason (error));
      return FALSE;
    }
  if (!sb_cli_save (cli, result, image, output, &error))
    {
      sb_cli_error (output_name, "%s", sb_cli_reason (error));
      return FALSE;
    }
  return TRUE;
}

gboolean
sb_cli_check_streams (const SbCli *cli, const char *output)
{
  if (output != NULL && is_stream (output) && isatty (STDOUT_FILENO))
    {
      sb_cli_error (_ ("standard output"), _ ("is a terminal; a picture is not written to one"));
      return FALSE;
    }
  for (guint i = 0; cli->inputs[i] != NULL; i++)
    if (is_stream (cli->inputs[i]) && isatty (STDIN_FILENO))
      {
        sb_cli_error (_ ("standard input"), _ ("is a terminal; a picture is not read from one"));
        return FALSE;
      }
  return TRUE;
}

int
sb_cli_convert (const SbCli *cli)
{
  guint n_inputs = g_strv_length (cli->inputs);
  guint n_written = 0, n_failed = 0;
  g_autoptr (GError) error = NULL;

  if (!sb_cli_check_streams (cli, cli->output))
    return SB_CLI_FAILED;

  g_auto (GStrv) outputs = sb_cli_plan (cli->inputs, cli->output, &error);

  if (outputs == NULL)
    {
      sb_cli_error (cli->output, "%s", error->message);
      return SB_CLI_FAILED;
    }

  g_autoptr (SbEngine) engine = sb_engine_new (cli->device, &error);

  if (engine == NULL)
    {
      sb_cli_error (NULL, "%s", error->message);
      return SB_CLI_FAILED;
    }
  if (n_inputs > 1 && g_mkdir_with_parents (cli->output, 0777) != 0)
    {
      sb_cli_error (cli->output, _ ("the folder could not be made: %s"), g_strerror (errno));
      return SB_CLI_FAILED;
    }

  for (guint i = 0; i < n_inputs && !g_cancellable_is_cancelled (cli->cancellable); i++)
    {
      if (n_inputs > 1)
        {
          g_autofree char *name = g_filename_display_basename (cli->inputs[i]);
          g_autofree char *line = g_strdup_printf ("%u/%u %s", i + 1, n_inputs, name);

          sb_cli_progress (line);
        }
      if (convert_one (cli, engine, cli->inputs[i], outputs[i]))
        n_written++;
      else
        n_failed++;
    }
  sb_cli_progress (NULL);

  if (n_inputs > 1)
    {
      g_autofree char *written = g_strdup_printf (
          ngettext ("%u picture written", "%u pictures written", n_written), n_written);
      guint n_left = n_inputs - n_written - n_failed;

      if (n_failed + n_left == 0)
        g_printerr ("softbox-cli: %s\n", written);
      else if (n_left == 0)
        /* Translators: "3 pictures written, 1 failed" */
        g_printerr (_ ("softbox-cli: %s, %u failed\n"), written, n_failed);
      else
        g_printerr (_ ("softbox-cli: %s, %u failed, %u not begun\n"), written, n_failed, n_left);
    }
  return n_written == n_inputs ? SB_CLI_DONE : SB_CLI_FAILED;
}
