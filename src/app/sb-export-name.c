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

SbExportWork
sb_export_work (const char *edits)
{
  g_return_val_if_fail (edits != NULL, SB_EXPORT_UNCHANGED);

  g_auto (GStrv) texts = g_strsplit (edits, " ", -1);
  SbExportWork work = SB_EXPORT_UNCHANGED;

  for (guint i = 0; texts[i] != NULL; i++)
    if (g_str_has_prefix (texts[i], "blur:"))
      return SB_EXPORT_BLURRED;
    else if (*texts[i] != '\0')
      work = SB_EXPORT_EDITED;
  return work;
}

static char *
make_suffix (SbExportWork work, guint attempt)
{
  switch (work)
    {
    case SB_EXPORT_BLURRED:
      if (attempt < 2)
        /* Translators: ends the suggested name of an exported file, before ".png". */
        return g_strdup (_ (" (blurred)"));
      /* Translators: as " (blurred)", with a number. */
      return g_strdup_printf (_ (" (blurred %u)"), attempt);
    case SB_EXPORT_EDITED:
      if (attempt < 2)
        /* Translators: as " (blurred)", where something else was done. */
        return g_strdup (_ (" (edited)"));
      /* Translators: as " (edited)", with a number. */
      return g_strdup_printf (_ (" (edited %u)"), attempt);
    case SB_EXPORT_UNCHANGED:
    default:
      return attempt < 2 ? g_strdup ("") : g_strdup_printf (" (%u)", attempt);
    }
}

char *
sb_export_suggest_name (const char *display_name, SbExportWork work, guint attempt)
{
  g_return_val_if_fail (display_name != NULL, NULL);

  g_autofree char *valid = g_utf8_make_valid (display_name, -1);
  g_autofree char *suffix = make_suffix (work, attempt);
  gsize length = stem_length (valid);

  /* Cut between characters. */
  if (length + strlen (suffix) + strlen (".png") > MAX_NAME)
    {
      const char *cut = valid + MAX_NAME - strlen (suffix) - strlen (".png");

      length = (gsize)((g_utf8_find_prev_char (valid, cut + 1)) - valid);
    }
  valid[length] = '\0';
  return g_strconcat (valid, suffix, ".png", NULL);
}

gboolean
sb_export_stands_alone (GFile *file)
{
  g_return_val_if_fail (G_IS_FILE (file), FALSE);

  const char *path = g_file_peek_path (file);
  g_autofree char *own = g_build_filename (g_get_user_runtime_dir (), "doc", NULL);
  const char *const roots[] = { own, "/run/flatpak/doc" };

  for (guint i = 0; path != NULL && i < G_N_ELEMENTS (roots); i++)
    if (g_str_has_prefix (path, roots[i]) && path[strlen (roots[i])] == G_DIR_SEPARATOR)
      {
        g_auto (GStrv) parts = g_strsplit (path + strlen (roots[i]) + 1, G_DIR_SEPARATOR_S, -1);

        /* A number and a name: in a folder that was given there are more. */
        return g_strv_length (parts) == 2;
      }
  return FALSE;
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

  if (folder == NULL || sb_export_stands_alone (file)
      || (dot != NULL && dot != name && g_ascii_strcasecmp (dot, ".png") == 0))
    return g_object_ref (file);
  stem = g_strndup (name, stem_length (name));
  corrected = g_strconcat (stem, ".png", NULL);
  return g_file_get_child (folder, corrected);
}
