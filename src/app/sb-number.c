/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"

#include <string.h>

char *
sb_number_format (double value, guint digits)
{
  /* + 0.0: minus zero is no number to people. */
  g_autofree char *plain = g_strdup_printf ("%.*g", (int)digits, value + 0.0);
  GString *text = g_string_new (NULL);

  for (const char *p = plain; *p != '\0'; p++)
    if (*p == '-')
      g_string_append (text, "−");
    else
      g_string_append_c (text, *p);
  return g_string_free (text, FALSE);
}
