/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <stdio.h>

#include <glib/gi18n-lib.h>

#include "sb-application.h"
#include "sb-locale.h"
#include "sb-stats.h"

/* From the build tree the compiled settings schema is the build tree's. */
static gboolean
find_schema (void)
{
  const char *build = sb_locale_build_dir ();
  g_autoptr (GSettingsSchema) schema = NULL;

  if (build != NULL)
    {
      g_autofree char *folder = g_build_filename (build, "data", NULL);

      g_setenv ("GSETTINGS_SCHEMA_DIR", folder, FALSE);
    }
  schema
      = g_settings_schema_source_lookup (g_settings_schema_source_get_default (), SB_APP_ID, TRUE);
  return schema != NULL;
}

int
main (int argc, char *argv[])
{
  g_autoptr (SbApplication) application = NULL;
  int status;

  sb_locale_init ();
  g_set_application_name ("Softbox");
  if (!find_schema ())
    {
      g_printerr (_ ("softbox: the settings schema %s is not installed. Run “meson install”, or "
                     "start the program from its build folder.\n"),
                  SB_APP_ID);
      return 1;
    }

  application = sb_application_new ();
  status = g_application_run (G_APPLICATION (application), argc, argv);

  if (sb_stats_is_on ())
    {
      g_autofree char *stats = sb_stats_print ();

      g_print ("%s\n", stats);
    }
  if (fflush (stdout) == 0 && !ferror (stdout))
    return status;
  g_printerr (_ ("softbox: standard output cannot be written to\n"));
  return status == 0 ? 1 : status;
}
