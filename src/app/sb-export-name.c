/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-export-name.h"

#include <string.h>

#include <glib/gi18n-lib.h>

#define MAX_NAME 254 /* bytes */

static const char *const picture_suffixes[]
    = { "png", "jpg", "jpeg", "jpe", "tif", "tiff", "bmp", "gif", "webp", "avif", "heic", "heif",
        "jxl", "jp2", "tga",  "ppm", "pgm", "pbm",  "pnm", "ico", "svg",  "xpm",  "xbm",  "dng" };

/* Where the suffix of a picture begins, its dot, or the end of the name. */
static gsize
stem_length (const char *name)
{
  const char *dot = strrchr (name, '.');

  if (dot == NULL || dot == name)
    return strlen (name);
  for (guint i = 0; i < G_N_ELEMENTS (picture_suffixes); i++)
    if (g_ascii_strcasecmp (dot + 1, picture_suffixes[i]) == 0)
      return (gsize)(dot - name);
  return strlen (name);
}

char *
sb_export_suggest_name (const char *display_name, guint attempt)
{
  g_return_val_if_fail (display_name != NULL, NULL);

  g_autofree char *valid = g_utf8_make_valid (display_name, -1);
  g_autofree char *suffix = NULL;
  gsize length = stem_length (valid);

  if (attempt < 2)
    /* Translators: ends the suggested name of an exported file, before ".png". */
    suffix = g_strdup (_ (" (blurred)"));
  else
    /* Translators: as " (blurred)", with a number. */
    suffix = g_strdup_printf (_ (" (blurred %u)"), attempt);

  /* Cut between characters. */
  if (length + strlen (suffix) + strlen (".png") > MAX_NAME)
    {
      const char *cut = valid + MAX_NAME - strlen (suffix) - strlen (".png");

      length = (gsize)((g_utf8_find_prev_char (valid, cut + 1)) - valid);
    }
  valid[length] = '\0';
  return g_strconcat (valid, suffix, ".png", NULL);
}

GFile *
sb_export_correct_name (GFile *file)
{
  g_return_val_if_fail (G_IS_FILE (file), NULL);

  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *stem = NULL;
  g_autofree char *corrected = NULL;
  g_autoptr (GFile) folder = g_file_get_parent (file);
  const char *dot = strrchr (name, '.');

  if (folder == NULL || (dot != NULL && dot != name && g_ascii_strcasecmp (dot, ".png") == 0))
    return g_object_ref (file);
  stem = g_strndup (name, stem_length (name));
  corrected = g_strconcat (stem, ".png", NULL);
  return g_file_get_child (folder, corrected);
}
