/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <stdio.h>

#include <glib/gi18n-lib.h>

#include "reference.h"
#include "sb-benchmark.h"

typedef struct
{
  const SbCli *cli;
  SbReferenceTone tone;
  guint n_rows, n_different;
  gboolean unread; /* what is printed arrives nowhere any more */
} Run;

static SbImage *
compute_reference (SbImage *image, const SbEdit *edit, gpointer user_data, GError **error)
{
  Run *run = user_data;
  g_autoptr (SbEditList) edits = sb_edit_list_new (edit, 1);

  return sb_reference_fold (image, edits, sb_image_get_depth (image), &run->tone);
}

static void
print_json (const SbBenchmarkRow *row, gboolean first)
{
  static const char *const verdicts[] = {
    [SB_BENCHMARK_NOT_CHECKED] = "null",
    [SB_BENCHMARK_EQUAL] = "true",
    [SB_BENCHMARK_DIFFERENT] = "false",
  };
  g_autoptr (GString) json
      = g_string_new (first ? "\n  {\"operation\": " : ",\n  {\"operation\": ");

  sb_cli_append_json (json, row->operation);
  g_string_append (json, ", \"device\": ");
  sb_cli_append_json (json, row->device);
  g_string_append_printf (json, ", \"threads\": %u, \"width\": %u, \"height\": %u, \"ms\": ",
                          row->threads, row->width, row->height);
  sb_cli_append_number (json, row->ms, 3);
  g_string_append (json, ", \"copy_ms\": ");
  sb_cli_append_number (json, row->copy_ms, 3);
  g_string_append (json, ", \"ratio\": ");
  sb_cli_append_number (json, row->ratio, 3);
  g_string_append_printf (json, ", \"equal\": %s}", verdicts[row->equal]);
  sb_cli_print ("%s", json->str);
}

static void
print_line (const char *operation, const char *threads, const char *ms, const char *ratio,
            const char *speed, const char *equal)
{
  const struct
  {
    const char *text;
    int width;
  } cells[] = { { operation, -44 }, { threads, 7 }, { ms, 10 },
                { ratio, 8 },       { speed, 9 },   { equal, -1 } };
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
    {
      g_string_append (line, i == 0 ? "" : "  ");
      sb_cli_append_cell (line, cells[i].text, cells[i].width);
    }
  sb_cli_print ("%s\n", line->str);
}

static void
print_row (const SbBenchmarkRow *row)
{
  const char *const verdicts[] = {
    [SB_BENCHMARK_NOT_CHECKED] = "-",
    [SB_BENCHMARK_EQUAL] = _ ("equal"),
    [SB_BENCHMARK_DIFFERENT] = _ ("DIFFERENT"),
  };
  /* A device's are not ours to count. */
  g_autofree char *threads
      = row->threads > 0 ? g_strdup_printf ("%u", row->threads) : g_strdup (row->device);
  g_autoptr (GString) ms = g_string_new (NULL);
  g_autoptr (GString) ratio = g_string_new (NULL);
  g_autoptr (GString) speed = g_string_new (NULL);

  sb_cli_append_number (ms, row->ms, 2);
  sb_cli_append_number (ratio, row->ratio, 2);
  sb_cli_append_number (speed, row->megapixels_per_second, 0);
  print_line (row->operation, threads, ms->str, ratio->str, speed->str, verdicts[row->equal]);
}

static void
on_row (const SbBenchmarkRow *row, gpointer user_data)
{
  Run *run = user_data;

  sb_cli_progress (NULL);
  if (run->cli->json)
    print_json (row, run->n_rows == 0);
  else
    {
      if (run->n_rows == 0)
        {
          sb_cli_print (_ ("%u × %u pixels, medians\n"), row->width, row->height);
          /* Translators: heads of columns: what was done, how many threads, milliseconds, how many
           * times as long as a copy in memory, megapixels a second, whether the result is right */
          print_line (_ ("operation"), _ ("threads"), _ ("ms"), _ ("copies"), _ ("MP/s"),
                      _ ("result"));
        }
      print_row (row);
    }
  run->n_rows++;
  run->n_different += row->equal == SB_BENCHMARK_DIFFERENT ? 1 : 0;
  if (!run->unread && !sb_cli_flush ())
    {
      run->unread = TRUE;
      g_cancellable_cancel (run->cli->cancellable);
    }
}

int
sb_cli_benchmark (const SbCli *cli)
{
  Run run = { .cli = cli };
  SbBenchmarkOptions options = {
    .width = cli->width,
    .height = cli->height,
    .device = cli->device,
    .reference = compute_reference,
    .reference_data = &run,
    .row = on_row,
    .row_data = &run,
  };
  g_autoptr (GError) error = NULL;

  sb_reference_tone_srgb (&run.tone);
  if (cli->json)
    sb_cli_print ("[");

  gboolean done = sb_benchmark_run (&options, cli->cancellable, &error);

  if (cli->json)
    sb_cli_print ("\n]\n");
  sb_reference_tone_clear (&run.tone);
  if (run.unread)
    return SB_CLI_FAILED;
  if (!done)
    {
      sb_cli_error (NULL, "%s",
                    g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ? _ ("stopped")
                                                                              : error->message);
      return SB_CLI_FAILED;
    }
  if (run.n_different > 0)
    {
      sb_cli_error (NULL,
                    ngettext ("%u operation gave a wrong result",
                              "%u operations gave a wrong result", run.n_different),
                    run.n_different);
      return SB_CLI_FAILED;
    }
  return SB_CLI_DONE;
}
