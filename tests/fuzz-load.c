/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image.h"

#include <gio/gio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Any bytes opened as a picture; what opens is exported with its metadata and opened again, and
 * must then be the same. With libFuzzer (-Dfuzz=true) it makes up the bytes; otherwise the program
 * takes files and folders of them. */

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t n);

/* 2 megapixels: large enough for every path, small enough for thousands of runs. */
/* What the fuzzer takes for a find, and keeps the input of. */
#define fail(...)                                                                                  \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_printerr (__VA_ARGS__);                                                                      \
    g_printerr ("\n");                                                                             \
    abort ();                                                                                      \
  }                                                                                                \
  G_STMT_END

#define LIMIT ((guint64)30 * 2000000)

static void
check_round_trip (SbImage *image)
{
  const SbSaveOptions options = {
    .compression = 1,
    .interlace = sb_image_get_width (image) % 2 == 0,
    .metadata = sb_image_get_metadata (image),
    .keep_location = sb_image_get_height (image) % 2 == 0,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) png = sb_image_encode_png (image, &options, NULL, NULL, NULL, &error);

  if (png == NULL)
    fail ("not written: %s", error->message);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (png);
  g_autoptr (SbImage) again = sb_image_load_stream (stream, "again", LIMIT, NULL, &error);
  if (again == NULL)
    fail ("not read again: %s", error->message);
  if (!sb_image_equal (image, again))
    fail ("other pixels");
  if (sb_image_get_warnings (again)[0] != NULL)
    fail ("a warning: %s", sb_image_get_warnings (again)[0]);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data (data, (gssize)n, NULL);
  /* A second page now and then. */
  const SbLoadOptions options = { .limit_bytes = LIMIT, .page = n % 7 == 0 ? 2 : 0 };
  g_autoptr (SbImage) image = sb_image_load_stream_with (stream, "input", &options, NULL, &error);

  if ((image == NULL) == (error == NULL))
    fail ("neither a picture nor an error, or both");
  if (image != NULL)
    check_round_trip (image);
  return 0;
}

#ifndef SB_FUZZ
static guint n_files;

static void
run (const char *path)
{
  g_autofree char *data = NULL;
  gsize n = 0;
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);

  if (folder != NULL)
    {
      for (const char *name = g_dir_read_name (folder); name != NULL;
           name = g_dir_read_name (folder))
        {
          g_autofree char *child = g_build_filename (path, name, NULL);
          run (child);
        }
      return;
    }
  if (!g_file_get_contents (path, &data, &n, NULL))
    fail ("%s cannot be read", path);
  /* On the heap, without a byte behind it: a sanitizer sees what reads on. */
  g_autofree uint8_t *exact = g_memdup2 (data, n);
  LLVMFuzzerTestOneInput (exact, n);
  n_files++;
}

int
main (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    run (argv[i]);
  printf ("1..1\n%s 1 %u files\n", n_files > 0 ? "ok" : "not ok", n_files);
  return n_files > 0 ? 0 : 1;
}
#endif
