/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli-typed.h"

#include <locale.h>
#include <signal.h>

#include <glib/gi18n-lib.h>

#include "sb-locale.h"

static void
cli_clear (SbCli *cli)
{
  g_clear_object (&cli->cancellable);
  g_clear_pointer (&cli->edits, sb_edit_list_unref);
  g_clear_pointer (&cli->places, g_hash_table_unref);
}

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

/* --- Running --------------------------------------------------------------------------------- */

/* Whatever is not about pictures and files. */
static int
run_other (const SbCliTyped *typed, SbCli *cli)
{
  guint n = (typed->benchmark ? 1 : 0) + (typed->verify ? 1 : 0) + (typed->devices ? 1 : 0)
            + (typed->list_edits ? 1 : 0);

  if (n > 1)
    return sb_cli_usage_error (NULL, _ ("give only one of --benchmark, --verify, --devices and "
                                        "--list-edits"));
  if (typed->inputs != NULL || typed->output != NULL || typed->edits != NULL
      || typed->radius != NULL || typed->passes != NULL || typed->linear != NULL
      || typed->depth != NULL || typed->compression != NULL || typed->page != NULL
      || typed->memory_limit != NULL || typed->force || typed->dither || typed->interlace
      || typed->keep_location || typed->strip_metadata || sb_cli_wants_subbands (typed)
      || typed->levels != NULL || typed->channel != NULL || typed->format != NULL)
    return sb_cli_usage_error (NULL, _ ("--benchmark, --verify, --devices and --list-edits take no "
                                        "pictures and no edits"));
  if (typed->json && typed->verify)
    return sb_cli_usage_error (NULL,
                               _ ("--json goes with --benchmark, --devices and --list-edits"));
  if (typed->size != NULL && !typed->benchmark)
    return sb_cli_usage_error (NULL, _ ("--size goes with --benchmark"));
  if (typed->seed != NULL && !typed->verify)
    return sb_cli_usage_error (NULL, _ ("--seed goes with --verify"));

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
run (const SbCliTyped *typed)
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
  if (!sb_cli_parse_numbers (typed, &cli))
    return SB_CLI_USAGE;

  if (typed->benchmark || typed->verify || typed->devices || typed->list_edits)
    return run_other (typed, &cli);

  if ((typed->json && !typed->statistics) || typed->size != NULL || typed->seed != NULL)
    return sb_cli_usage_error (NULL,
                               _ ("--json, --size and --seed go with --benchmark, --verify, "
                                  "--devices or --list-edits, --json also with --statistics"));
  if (!sb_cli_wants_subbands (typed)
      && (typed->levels != NULL || typed->channel != NULL || typed->format != NULL))
    return sb_cli_usage_error (
        NULL, _ ("--levels, --channel and --format go with --subbands, --mosaic or "
                 "--statistics"));
  if (typed->inputs == NULL || typed->inputs[0] == NULL)
    return sb_cli_usage_error (NULL, _ ("no input: name a picture, or - for standard input"));

  cli.inputs = typed->inputs;
  cli.output = typed->output;
  cli.force = typed->force;
  cli.dither = typed->dither;
  cli.interlace = typed->interlace;
  cli.keep_location = typed->keep_location;
  cli.strip_metadata = typed->strip_metadata;
  if (cli.dither && cli.depth == 16)
    return sb_cli_usage_error (NULL,
                               _ ("--dither is for 8 bits, and --depth=16 keeps all there is"));
  if (cli.keep_location && cli.strip_metadata)
    return sb_cli_usage_error (NULL, _ ("--keep-location and --strip-metadata exclude each other"));
  if (!sb_cli_check_inputs (cli.inputs)
      || (!(sb_cli_wants_subbands (typed) && typed->output == NULL)
          && !sb_cli_check_output (typed, g_strv_length (cli.inputs)))
      || (sb_cli_wants_subbands (typed) && !sb_cli_parse_subbands (typed, &cli)))
    return SB_CLI_USAGE;
  cli.edits = sb_cli_parse_edits (typed);
  if (cli.edits == NULL)
    return SB_CLI_USAGE;
  cli.places = sb_cli_places_new (cli.inputs);
  return sb_cli_wants_subbands (typed) ? sb_cli_subbands (&cli) : sb_cli_convert (&cli);
}

int
main (int argc, char **argv)
{
  g_auto (SbCliTyped) typed = { NULL };
  g_autoptr (GError) error = NULL;

  sb_locale_init ();
  /* What is printed is read by scripts too: a point in every locale. */
  setlocale (LC_NUMERIC, "C");
  sb_cli_print_init ();
  /* A reader that goes away is an error of writing, with a message. */
  signal (SIGPIPE, SIG_IGN);
  g_set_prgname ("softbox-cli");

  g_autoptr (GOptionContext) context = sb_cli_typed_context (&typed);

  const gboolean parsed = g_option_context_parse (context, &argc, &argv, &error);
  int status;

  if (typed.help)
    {
      g_autofree char *help = g_option_context_get_help (context, TRUE, NULL);

      sb_cli_print ("%s", help);
      status = SB_CLI_DONE;
    }
  else if (!parsed)
    status = sb_cli_usage_error (NULL, error->message);
  else
    {
      sb_cli_typed_decode (&typed);
      status = run (&typed);
    }

  if (!sb_cli_flush () && status == SB_CLI_DONE)
    status = SB_CLI_FAILED;
  return status;
}
