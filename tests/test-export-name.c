/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-export-name.h"

#include <string.h>

/* The names that an export is suggested and written under. */

static void
assert_suggested (const char *from, guint attempt, const char *expected)
{
  g_autofree char *name = sb_export_suggest_name (from, SB_EXPORT_BLURRED, attempt);

  g_assert_cmpstr (name, ==, expected);
}

static void
test_suggest (void)
{
  assert_suggested ("street.jpg", 1, "street (blurred).png");
  assert_suggested ("street.JPEG", 1, "street (blurred).png");
  assert_suggested ("street.jpg", 2, "street (blurred 2).png");
  assert_suggested ("street", 1, "street (blurred).png");
  /* Not a picture's suffix, so part of the name. */
  assert_suggested ("v1.2", 1, "v1.2 (blurred).png");
  assert_suggested ("a.b.tiff", 1, "a.b (blurred).png");
  /* A hidden file has no suffix. */
  assert_suggested (".png", 1, ".png (blurred).png");
  assert_suggested ("", 1, " (blurred).png");
  assert_suggested ("bad\xff.png", 1, "bad\xef\xbf\xbd (blurred).png");
}

static void
assert_named (const char *edits, guint attempt, const char *expected)
{
  g_autofree char *name = sb_export_suggest_name ("street.jpg", sb_export_work (edits), attempt);

  g_assert_cmpstr (name, ==, expected);
}

/* The name tells what was done. */
static void
test_work (void)
{
  assert_named ("", 1, "street.png");
  assert_named ("", 2, "street (2).png");
  assert_named ("blur:radius=14", 1, "street (blurred).png");
  assert_named ("bands:gain1=0 blur:radius=14", 3, "street (blurred 3).png");
  assert_named ("bands:gain1=0", 1, "street (edited).png");
  assert_named ("bands:gain1=0", 2, "street (edited 2).png");
}

/* Names of 1 to 400 characters of one to four bytes: never too long, never cut inside one. */
static void
test_suggest_length (void)
{
  static const char *const characters[] = { "a", "é", "日", "🌊" };

  for (guint c = 0; c < G_N_ELEMENTS (characters); c++)
    {
      g_autoptr (GString) from = g_string_new (NULL);

      for (guint n = 1; n <= 400; n++)
        {
          g_autofree char *name = NULL;
          gsize bytes = strlen (characters[c]);
          gsize kept = MIN (n, (254 - strlen (" (blurred).png")) / bytes);

          g_string_append (from, characters[c]);
          name = sb_export_suggest_name (from->str, SB_EXPORT_BLURRED, 1);
          g_assert_true (g_utf8_validate (name, -1, NULL));
          g_assert_cmpuint (strlen (name), ==, kept * bytes + strlen (" (blurred).png"));
          g_assert_true (g_str_has_suffix (name, " (blurred).png"));
        }
    }
}

static void
assert_corrected (const char *from, const char *expected)
{
  g_autoptr (GFile) file = g_file_new_for_path (from);
  g_autoptr (GFile) corrected = sb_export_correct_name (file);
  g_autofree char *path = g_file_get_path (corrected);

  g_assert_cmpstr (path, ==, expected);
}

static void
test_correct (void)
{
  assert_corrected ("/tmp/a.png", "/tmp/a.png");
  assert_corrected ("/tmp/a.PNG", "/tmp/a.PNG");
  assert_corrected ("/tmp/a.jpg", "/tmp/a.png");
  assert_corrected ("/tmp/a.tar.WebP", "/tmp/a.tar.png");
  assert_corrected ("/tmp/a", "/tmp/a.png");
  assert_corrected ("/tmp/v1.2", "/tmp/v1.2.png");
  assert_corrected ("/tmp/.png", "/tmp/.png.png");
  /* Bytes that are no text stay as they are. */
  assert_corrected ("/tmp/bad\xff.jpg", "/tmp/bad\xff.png");
}

/* What the document portal has given is written under the name that it has. */
static void
test_alone (void)
{
  const char *runtime = g_get_user_runtime_dir ();
  g_autofree char *own = g_build_filename (runtime, "doc", "1f2e3d", "street.jpg", NULL);
  g_autofree char *deep = g_build_filename (runtime, "doc", "1f2e3d", "photos", "street.jpg", NULL);
  g_autofree char *deep_png
      = g_build_filename (runtime, "doc", "1f2e3d", "photos", "street.png", NULL);
  g_autofree char *near = g_build_filename (runtime, "documents", "street.jpg", NULL);
  g_autofree char *near_png = g_build_filename (runtime, "documents", "street.png", NULL);
  const char *const names[][2] = {
    { own, own },
    { "/run/flatpak/doc/1f2e3d/street.jpg", "/run/flatpak/doc/1f2e3d/street.jpg" },
    { deep, deep_png },
    { near, near_png },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GFile) file = g_file_new_for_path (names[i][0]);
      g_autoptr (GFile) corrected = sb_export_correct_name (file);

      g_assert_cmpint (sb_export_stands_alone (file), ==, i < 2);
      g_assert_cmpstr (g_file_peek_path (corrected), ==, names[i][1]);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/export-name/suggest", test_suggest);
  g_test_add_func ("/export-name/work", test_work);
  g_test_add_func ("/export-name/suggest-length", test_suggest_length);
  g_test_add_func ("/export-name/correct", test_correct);
  g_test_add_func ("/export-name/alone", test_alone);

  return g_test_run ();
}
