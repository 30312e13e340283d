/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gi18n-lib.h>

#define PROGRAM "softbox-cli"

static gboolean progress_shown;
static int print_errno;

static void tell (const char *name, const char *kind, const char *format, va_list arguments)
    G_GNUC_PRINTF (3, 0);

static void
tell (const char *name, const char *kind, const char *format, va_list arguments)
{
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  g_autofree char *shown = name == NULL ? NULL : g_filename_display_name (name);

  sb_cli_progress (NULL);
  g_printerr ("%s: %s%s%s%s\n", PROGRAM, kind, shown == NULL ? "" : shown,
              shown == NULL ? "" : ": ", message);
}

void
sb_cli_error (const char *name, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  tell (name, "", format, arguments);
  va_end (arguments);
}

void
sb_cli_warning (const char *name, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  tell (name, _ ("warning: "), format, arguments);
  va_end (arguments);
}

void
sb_cli_progress (const char *text)
{
  if (!isatty (STDERR_FILENO) || (text == NULL && !progress_shown))
    return;

  g_printerr ("\r\033[K%s", text == NULL ? "" : text);
  progress_shown = text != NULL;
}

void
sb_cli_print (const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;
  g_autofree char *local = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  if (!g_get_charset (NULL))
    local = g_locale_from_utf8 (text, -1, NULL, NULL, NULL);
  errno = 0;
  if (fputs (local != NULL ? local : text, stdout) == EOF && print_errno == 0)
    print_errno = errno != 0 ? errno : EIO;
}

gboolean
sb_cli_flush (void)
{
  errno = 0;
  if (fflush (stdout) != 0 && print_errno == 0)
    print_errno = errno != 0 ? errno : EIO;
  if (print_errno == 0)
    return TRUE;

  sb_cli_error (_ ("standard output"), "%s", g_strerror (print_errno));
  return FALSE;
}

void
sb_cli_append_json (GString *json, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  g_string_append_c (json, '"');
  for (const char *p = valid; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_printf (json, "\\%c", *p);
      else if ((guchar)*p < 0x20)
        g_string_append_printf (json, "\\u%04x", (guint)*p);
      else
        g_string_append_c (json, *p);
    }
  g_string_append_c (json, '"');
}

void
sb_cli_append_number (GString *text, double value, guint decimals)
{
  char format[8], buffer[G_ASCII_DTOSTR_BUF_SIZE + 320];

  g_snprintf (format, sizeof format, "%%.%uf", decimals);
  g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, format, value));
}
