/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <string.h>
#include <sys/stat.h>

#include <glib/gi18n-lib.h>

#include "sb-error.h"

/* A file by what it is, whatever name or link leads to it; NULL where there is none. */
static char *
file_identity (const char *name)
{
  struct stat status;

  if (stat (name, &status) != 0)
    return NULL;
  return g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)status.st_dev,
                          (guint64)status.st_ino);
}

/* --- Claims ---------------------------------------------------------------------------------- */

enum
{
  PLACE_OF_INPUT = 1,
  PLACE_OF_RESULT,
};

static gboolean
is_uri (const char *input)
{
  const char *scheme = g_uri_peek_scheme (input);

  return scheme != NULL && strstr (input, "://") != NULL
         && !g_file_test (input, G_FILE_TEST_EXISTS);
}

GFile *
sb_cli_file (const char *input)
{
  g_return_val_if_fail (input != NULL, NULL);

  return is_uri (input) ? g_file_new_for_uri (input) : g_file_new_for_path (input);
}

GHashTable *
sb_cli_places_new (char *const *inputs)
{
  g_return_val_if_fail (inputs != NULL, NULL);

  GHashTable *places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; inputs[i] != NULL; i++)
    {
      g_autoptr (GFile) file = sb_cli_file (inputs[i]);
      const char *path = g_file_peek_path (file);
      char *identity = g_str_equal (inputs[i], "-") || path == NULL ? NULL : file_identity (path);

      if (identity != NULL)
        g_hash_table_insert (places, identity, GINT_TO_POINTER (PLACE_OF_INPUT));
    }
  return places;
}

/* A name in a folder, which says the same of a file that is yet to be written. */
static char *
place_in_folder (const char *name)
{
  g_autofree char *folder = g_path_get_dirname (name);
  g_autofree char *base = g_path_get_basename (name);
  g_autofree char *identity = file_identity (folder);

  return g_strdup_printf ("%s/%s", identity != NULL ? identity : folder, base);
}

gboolean
sb_cli_claim (GHashTable *places, const char *name)
{
  g_return_val_if_fail (places != NULL && name != NULL, FALSE);

  char *keys[] = { place_in_folder (name), file_identity (name) };
  gboolean free = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const int taken
          = keys[i] == NULL ? 0 : GPOINTER_TO_INT (g_hash_table_lookup (places, keys[i]));

      if (free && taken == PLACE_OF_INPUT)
        sb_cli_error (name, _ ("is the input itself, which is never overwritten"));
      else if (free && taken == PLACE_OF_RESULT)
        sb_cli_error (name, _ ("is where another result of this call goes; choose another name"));
      free = free && taken == 0;
    }
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (free && keys[i] != NULL)
      g_hash_table_insert (places, keys[i], GINT_TO_POINTER (PLACE_OF_RESULT));
    else
      g_free (keys[i]);
  return free;
}

/* --- Names ----------------------------------------------------------------------------------- */

/* Where the extension begins, at its dot; NULL where there is none. A dot in front hides a file. */
static const char *
find_extension (const char *name)
{
  const char *base = strrchr (name, G_DIR_SEPARATOR);
  const char *dot;

  base = base == NULL ? name : base + 1;
  dot = strrchr (base, '.');
  return dot == NULL || dot == base || dot[1] == '\0' ? NULL : dot;
}

gboolean
sb_cli_is_png_name (const char *name, const char **extension)
{
  const char *dot = find_extension (name);

  *extension = dot;
  return dot == NULL || g_ascii_strcasecmp (dot, ".png") == 0;
}

char *
sb_cli_stem (const char *input)
{
  if (g_str_equal (input, "-"))
    return g_strdup ("stdin");

  g_autoptr (GFile) file = sb_cli_file (input);
  g_autofree char *base = is_uri (input) ? g_file_get_basename (file) : g_path_get_basename (input);
  const char *dot = find_extension (base);

  return dot == NULL ? g_steal_pointer (&base) : g_strndup (base, (gsize)(dot - base));
}

static char **
plan_one (char *const *inputs, const char *output, GError **error)
{
  g_autoptr (GHashTable) identities = sb_cli_places_new (inputs);
  g_autofree char *identity = file_identity (output);
  struct stat status;

  if (g_str_equal (output, "-"))
    return g_strdupv ((char *[]){ (char *)output, NULL });

  /* A slash at the end says folder, also where there is none yet. */
  if ((*output != '\0' && G_IS_DIR_SEPARATOR (output[strlen (output) - 1]))
      || (stat (output, &status) == 0 && S_ISDIR (status.st_mode)))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                   _ ("is a folder; name a file in it"));
      return NULL;
    }
  if (identity != NULL && g_hash_table_contains (identities, identity))
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("is the input itself, which is never overwritten"));
      return NULL;
    }
  return g_strdupv ((char *[]){ (char *)output, NULL });
}

/* Whether a picture may go to the file `name` in `folder`: its name has not been given away, nor
 * does a link of that name lead to an input or to what was given away. */
static gboolean
is_free (const char *folder, const char *name, GHashTable *taken, GHashTable *identities)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *identity = file_identity (path);

  return !g_hash_table_contains (taken, name)
         && (identity == NULL || !g_hash_table_contains (identities, identity));
}

static char *
choose_name (const char *folder, const char *base, GHashTable *taken, GHashTable *natural,
             GHashTable *identities)
{
  char *name = g_strconcat (base, ".png", NULL);

  /* A number must not take the name that another input has by itself. */
  for (guint number = 2; !is_free (folder, name, taken, identities)
                         || (number > 2 && g_hash_table_contains (natural, name));
       number++)
    {
      g_free (name);
      name = g_strdup_printf ("%s-%u.png", base, number);
    }
  return name;
}

char **
sb_cli_plan (char *const *inputs, const char *output, GError **error)
{
  g_return_val_if_fail (inputs != NULL && output != NULL, NULL);

  guint n = g_strv_length ((char **)inputs);
  struct stat status;

  if (n == 1)
    return plan_one (inputs, output, error);

  if (stat (output, &status) == 0 && !S_ISDIR (status.st_mode))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY,
                   _ ("is not a folder; several pictures need one to go to"));
      return NULL;
    }

  g_autoptr (GHashTable) identities = sb_cli_places_new (inputs);
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) natural = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) plan = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *base = sb_cli_stem (inputs[i]);

      g_hash_table_add (natural, g_strconcat (base, ".png", NULL));
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *base = sb_cli_stem (inputs[i]);
      char *name = choose_name (output, base, taken, natural, identities);
      char *path = g_build_filename (output, name, NULL);
      char *identity = file_identity (path);

      g_ptr_array_add (plan, path);
      g_hash_table_add (taken, name);
      if (identity != NULL)
        g_hash_table_add (identities, identity);
    }
  g_ptr_array_add (plan, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&plan), FALSE);
}
