/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-locale.h"

#include <glib/gi18n-lib.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

const char *
sb_locale_build_dir (void)
{
  static gsize found = 0;
  static gboolean inside = FALSE;

  if (g_once_init_enter (&found))
    {
      g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
      char *build = realpath (SB_BUILD_DIR, NULL);

      inside = program != NULL && build != NULL && g_str_has_prefix (program, build)
               && program[strlen (build)] == '/';
      free (build);
      g_once_init_leave (&found, 1);
    }
  return inside ? SB_BUILD_DIR : NULL;
}

void
sb_locale_init (void)
{
  const char *build = sb_locale_build_dir ();
  g_autofree char *built = build == NULL ? NULL : g_build_filename (build, "po", NULL);

  /* A locale that the machine does not have leaves the one of C, which is usable. */
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, built == NULL ? SB_LOCALE_DIR : built);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
}
