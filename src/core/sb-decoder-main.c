/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-decoder.h"

#include <locale.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static GLogWriterOutput
say_nothing (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer user_data)
{
  return G_LOG_WRITER_HANDLED;
}

/* softbox-decoder: decodes one picture for softbox; see sb-decoder.h. Whoever started it goes, and
 * it goes too. What loaders grumble about is nobody's concern; their errors are in the language of
 * whoever asked. */
int
main (int argc, char *argv[])
{
  const struct rlimit none = { 0, 0 };

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  setrlimit (RLIMIT_CORE, &none);
  setlocale (LC_ALL, "");
  g_log_set_writer_func (say_nothing, NULL, NULL);
  return sb_decoder_serve (SB_DECODER_SOCKET, SB_DECODER_MEMORY) ? 0 : 1;
}
