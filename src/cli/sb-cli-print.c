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
static gboolean print_told;

/* --- The locale's characters ------------------------------------------------------------------ */

/* GLib leaves a question mark wherever a quotation mark or a times sign is not to be had. */
static char *
to_local (const char *text)
{
  const char *charset;

  if (g_get_charset (&charset) || g_str_is_ascii (text))
    return g_strdup (text);

  g_autofree char *nearest = g_strconcat (charset, "//TRANSLIT", NULL);
  char *local = g_convert_with_fallback (text, -1, nearest, "UTF-8", "?", NULL, NULL, NULL);

  return local != NULL ? local : g_strdup (text);
}

static void
write_out (const char *text)
{
  g_autofree char *local = to_local (text);

  errno = 0;
  if (fputs (local, stdout) == EOF && print_errno == 0)
    print_errno = errno != 0 ? errno : EIO;
}

static void
write_error (const char *text)
{
  g_autofree char *local = to_local (text);

  fputs (local, stderr);
  fflush (stderr);
}

void
sb_cli_print_init (void)
{
  /* --help among them. */
  g_set_print_handler (write_out);
  g_set_printerr_handler (write_error);
}

/* --- Messages -------------------------------------------------------------------------------- */

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

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  write_out (text);
}

gboolean
sb_cli_flush (void)
{
  errno = 0;
  if (fflush (stdout) != 0 && print_errno == 0)
    print_errno = errno != 0 ? errno : EIO;
  if (print_errno == 0)
    return TRUE;
  if (!print_told)
    sb_cli_error (_ ("standard output"), "%s", g_strerror (print_errno));
  print_told = TRUE;
  return FALSE;
}

void
sb_cli_append_json (GString *json, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  const gboolean any = g_get_charset (NULL); /* character can be written as it is */

  g_string_append_c (json, '"');
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      const gunichar c = g_utf8_get_char (p);

      if (c == '"' || c == '\\')
        g_string_append_printf (json, "\\%c", (char)c);
      else if (c > 0xffff && !any)
        g_string_append_printf (json, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                0xdc00 + (c & 0x3ff));
      else if (c < 0x20 || (c > 0x7e && !any))
        g_string_append_printf (json, "\\u%04x", c);
      else
        g_string_append_unichar (json, c);
    }
  g_string_append_c (json, '"');
}

void
sb_cli_append_cell (GString *line, const char *text, int width)
{
  int missing = ABS (width);

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    missing -= g_unichar_iswide (g_utf8_get_char (p)) ? 2 : 1;

  g_autofree char *blanks = g_strnfill ((gsize)MAX (missing, 0), ' ');

  g_string_append_printf (line, "%s%s", width < 0 ? text : blanks, width < 0 ? blanks : text);
}

void
sb_cli_append_number (GString *text, double value, guint decimals)
{
  char format[8], buffer[G_ASCII_DTOSTR_BUF_SIZE + 320];

  g_snprintf (format, sizeof format, "%%.%uf", decimals);
  g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, format, value));
}
