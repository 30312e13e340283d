/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-error.h"
#include "sb-image.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <lcms2.h>
#include <png.h>
#include <sched.h>
#include <string.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const SbSaveOptions plain = { 0, -1, FALSE };
static const SbSaveOptions over = { 0, -1, TRUE };

/* A picture whose rows want different filters: ramps, noise, flat parts. */
static SbImage *
make (guint width, guint height, guint depth, gboolean opaque)
{
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (width, height, depth, &error);
  g_autoptr (GRand) rand = g_rand_new_with_seed (width * 31 + height);
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;

  g_assert_no_error (error);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      for (guint c = 0; c < 4; c++)
        {
          guint v = y % 4 == 0   ? x * 300 + c * 9000
                    : y % 4 == 1 ? g_rand_int (rand)
                    : y % 4 == 2 ? 40000
                                 : y * 777 + x * 13;
          if (c == 3 && opaque)
            v = 65535;
          if (depth == 8)
            *p8++ = (guint8)(v >> 8);
          else
            *p16++ = (guint16)v;
        }
  return image;
}

/* --- libpng as an independent reader --------------------------------------------------------- */

typedef struct
{
  guint width;
  guint height;
  guint depth;
  guint color_type;
  gboolean srgb;
  GBytes *profile;
  guint8 *samples; /* as in the file, 16 bits in the machine's order */
  gsize row;
  const guint8 *data;
  gsize left;
} Png;

static void
read_bytes (png_structp png, png_bytep to, size_t n)
{
  Png *file = png_get_io_ptr (png);

  g_assert_cmpuint (n, <=, file->left);
  memcpy (to, file->data, n);
  file->data += n;
  file->left -= n;
}

static void
png_clear_all (Png *file)
{
  g_clear_pointer (&file->profile, g_bytes_unref);
  g_clear_pointer (&file->samples, g_free);
}

static void
png_read_all (GBytes *bytes, Png *file)
{
  png_structp png = png_create_read_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);

  memset (file, 0, sizeof *file);
  file->data = g_bytes_get_data (bytes, &file->left);
  if (setjmp (png_jmpbuf (png)) != 0)
    g_error ("libpng refuses the export");
  png_set_read_fn (png, file, read_bytes);
  png_read_info (png, info);
  file->width = png_get_image_width (png, info);
  file->height = png_get_image_height (png, info);
  file->depth = png_get_bit_depth (png, info);
  file->color_type = png_get_color_type (png, info);
  file->srgb = png_get_valid (png, info, PNG_INFO_sRGB) != 0;
  png_charp name;
  png_bytep profile;
  png_uint_32 n;
  int method;
  if (png_get_iCCP (png, info, &name, &method, &profile, &n) != 0)
    file->profile = g_bytes_new (profile, n);
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN && file->depth == 16)
    png_set_swap (png);
  png_read_update_info (png, info);
  file->row = png_get_rowbytes (png, info);
  file->samples = g_malloc (file->row * file->height);
  for (guint y = 0; y < file->height; y++)
    png_read_row (png, file->samples + y * file->row, NULL);
  png_read_end (png, info);
  g_assert_cmpuint (file->left, ==, 0);
  png_destroy_read_struct (&png, &info, NULL);
}

static guint
sample (const Png *file, guint x, guint y, guint c)
{
  const guint channels = file->color_type == PNG_COLOR_TYPE_RGB ? 3 : 4;
  const guint8 *row = file->samples + y * file->row;

  return file->depth == 8 ? row[x * channels + c] : ((const guint16 *)row)[x * channels + c];
}

static void
check_pixels (SbImage *image, GBytes *bytes, guint depth)
{
  Png file;
  const guint from = sb_image_get_depth (image);
  const guint channels = sb_image_is_opaque (image) ? 3 : 4;
  const guint8 *p8 = sb_image_get_pixels (image);

  png_read_all (bytes, &file);
  g_assert_cmpuint (file.width, ==, sb_image_get_width (image));
  g_assert_cmpuint (file.height, ==, sb_image_get_height (image));
  g_assert_cmpuint (file.depth, ==, depth);
  g_assert_cmpuint (file.color_type, ==,
                    channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA);
  for (guint y = 0; y < file.height; y++)
    for (guint x = 0; x < file.width; x++)
      for (guint c = 0; c < channels; c++)
        {
          const gsize at = ((gsize)y * file.width + x) * 4 + c;
          guint v = from == 8 ? p8[at] : ((const guint16 *)p8)[at];
          if (from == 8 && depth == 16)
            v *= 257;
          else if (from == 16 && depth == 8)
            v = (2 * v + 257) / 514;
          if (sample (&file, x, y, c) != v)
            g_error ("pixel %u %u channel %u: %u, want %u", x, y, c, sample (&file, x, y, c), v);
        }
  png_clear_all (&file);
}

/* --- encoding -------------------------------------------------------------------------------- */

static GBytes *
encode (SbImage *image, guint depth, int compression)
{
  const SbSaveOptions options = { depth, compression, FALSE };
  g_autoptr (GError) error = NULL;
  GBytes *png = sb_image_encode_png (image, &options, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (png);
  return png;
}

static void
test_pixels (void)
{
  static const guint sizes[][2]
      = { { 1, 1 },   { 1, 7 },     { 7, 1 },    { 3, 3 },     { 21, 5 },     { 22, 9 },
          { 64, 64 }, { 641, 479 }, { 1, 4000 }, { 70000, 2 }, { 1500, 1200 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint from = 8; from <= 16; from += 8)
      for (guint to = 8; to <= 16; to += 8)
        for (guint opaque = 0; opaque < 2; opaque++)
          {
            g_autoptr (SbImage) image = make (sizes[i][0], sizes[i][1], from, opaque);
            g_autoptr (GBytes) png = encode (image, to, -1);
            check_pixels (image, png, to);
          }
}

static void
test_levels (void)
{
  g_autoptr (SbImage) image = make (500, 900, 8, FALSE);

  for (int level = 0; level <= 9; level++)
    {
      g_autoptr (GBytes) png = encode (image, 0, level);
      check_pixels (image, png, 8);
    }
}

static void
test_every_value (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = sb_image_new (128, 128, 16, &error);
  guint16 *p = (guint16 *)sb_image_writable (image);

  for (guint v = 0; v < 65536; v++)
    p[v] = (guint16)v;
  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (GBytes) png = encode (image, depth, -1);
      check_pixels (image, png, depth);
    }
}

static void
test_threads_agree (void)
{
  g_autoptr (SbImage) image = make (1500, 1200, 8, FALSE); /* several bands */
  cpu_set_t all, one;

  g_assert_cmpint (sched_getaffinity (0, sizeof all, &all), ==, 0);
  g_autoptr (GBytes) many = encode (image, 0, -1);
  CPU_ZERO (&one);
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET (i, &all))
      {
        CPU_SET (i, &one);
        break;
      }
  g_assert_cmpint (sched_setaffinity (0, sizeof one, &one), ==, 0);
  g_autoptr (GBytes) single = encode (image, 0, -1);
  g_assert_cmpint (sched_setaffinity (0, sizeof all, &all), ==, 0);
  g_assert_true (g_bytes_equal (many, single));
}

static GBytes *
profile_new (gboolean grey)
{
  cmsToneCurve *curve = cmsBuildGamma (NULL, 1.8);
  const cmsCIExyY white = { 0.3127, 0.3290, 1 };
  const cmsCIExyYTRIPLE primaries = { { 0.68, 0.32, 1 }, { 0.265, 0.69, 1 }, { 0.15, 0.06, 1 } };
  cmsToneCurve *const curves[3] = { curve, curve, curve };
  cmsHPROFILE handle = grey ? cmsCreateGrayProfile (&white, curve)
                            : cmsCreateRGBProfile (&white, &primaries, curves);
  cmsUInt32Number n = 0;

  g_assert_true (cmsSaveProfileToMem (handle, NULL, &n));
  guint8 *data = g_malloc (n);
  g_assert_true (cmsSaveProfileToMem (handle, data, &n));
  cmsCloseProfile (handle);
  cmsFreeToneCurve (curve);
  return g_bytes_new_take (data, n);
}

static void
test_profile (void)
{
  g_autoptr (SbImage) image = make (30, 20, 8, TRUE);
  g_autoptr (GBytes) profile = profile_new (FALSE);
  g_autoptr (GBytes) without = encode (image, 0, -1);
  Png file;

  png_read_all (without, &file);
  g_assert_true (file.srgb);
  g_assert_null (file.profile);
  png_clear_all (&file);

  sb_image_set_profile (image, profile);
  g_autoptr (GBytes) with = encode (image, 0, -1);
  png_read_all (with, &file);
  g_assert_false (file.srgb);
  g_assert_true (g_bytes_equal (file.profile, profile));
  png_clear_all (&file);

  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (with);
  g_autoptr (SbImage) again = sb_image_load_stream (stream, "again", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (sb_image_get_profile (again), profile));
  g_assert_true (sb_image_equal (again, image));
}

typedef struct
{
  double last;
  guint calls;
  GCancellable *cancel;
} Progress;

static void
on_progress (double fraction, gpointer user_data)
{
  Progress *progress = user_data;

  g_assert_cmpfloat (fraction, >, progress->last);
  g_assert_cmpfloat (fraction, <=, 1.0);
  progress->last = fraction;
  progress->calls++;
  if (progress->cancel != NULL)
    g_cancellable_cancel (progress->cancel);
}

static void
test_progress (void)
{
  g_autoptr (SbImage) image = make (1500, 1200, 8, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Progress progress = { 0 };

  g_autoptr (GBytes) png
      = sb_image_encode_png (image, &plain, on_progress, &progress, NULL, &error);
  g_assert_nonnull (png);
  g_assert_no_error (error);
  g_assert_cmpfloat (progress.last, ==, 1.0);
  g_assert_cmpuint (progress.calls, ==, 7); /* 7.2 MB in bands of whole rows below 1 MB */

  progress = (Progress){ .cancel = cancellable };
  g_assert_null (sb_image_encode_png (image, &plain, on_progress, &progress, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (progress.calls, ==, 1);
}

/* --- into place ------------------------------------------------------------------------------ */

typedef struct
{
  char *folder;
  SbImage *image;
  GBytes *png; /* what a save of the image writes */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  fixture->folder = g_dir_make_tmp ("softbox-save-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->image = make (200, 100, 8, FALSE);
  fixture->png = encode (fixture->image, 0, -1);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_chmod (folder, 0755);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
        remove_folder (path);
      else
        g_unlink (path);
    }
  g_rmdir (folder);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder (fixture->folder);
  g_free (fixture->folder);
  sb_image_unref (fixture->image);
  g_bytes_unref (fixture->png);
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static char *
in (Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->folder, name, NULL);
}

static void
put (const char *path, const char *text, guint mode)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_chmod (path, (int)mode), ==, 0);
}

static void
assert_text (const char *path, const char *text)
{
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &contents, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (contents, ==, text);
}

static void
assert_png (Fixture *fixture, const char *path)
{
  g_autofree char *contents = NULL;
  gsize n = 0;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &contents, &n, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (contents, n, g_bytes_get_data (fixture->png, NULL),
                   g_bytes_get_size (fixture->png));
}

static gboolean
save (Fixture *fixture, const char *path, const SbSaveOptions *options, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return sb_image_save_png (fixture->image, file, options, NULL, NULL, NULL, error);
}

static void
assert_saves (Fixture *fixture, const char *path, const SbSaveOptions *options)
{
  g_autoptr (GError) error = NULL;
  const gboolean good = save (fixture, path, options, &error);

  g_assert_no_error (error);
  g_assert_true (good);
  assert_png (fixture, path);
}

static void
assert_fails (Fixture *fixture, const char *path, const SbSaveOptions *options, int code)
{
  g_autoptr (GError) error = NULL;
  const guint files = count_files (fixture->folder);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *quoted = g_strdup_printf ("“%s”: ", base);

  g_assert_false (save (fixture, path, options, &error));
  g_assert_error (error, G_IO_ERROR, code);
  g_assert_nonnull (strstr (error->message, quoted));
  g_assert_cmpuint (count_files (fixture->folder), ==, files);
}

static guint
mode_of (const char *path)
{
  struct stat status;

  g_assert_cmpint (lstat (path, &status), ==, 0);
  return status.st_mode & 07777;
}

static void
test_new_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "new.png");
  const mode_t before = umask (027);

  assert_saves (fixture, path, &plain);
  umask (before);
  g_assert_cmpuint (mode_of (path), ==, 0640);
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static void
test_exists (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "old.png");
  g_autofree char *link = in (fixture, "dangling.png");
  g_autofree char *nowhere = in (fixture, "nowhere.png");

  put (path, "old", 0644);
  assert_fails (fixture, path, &plain, G_IO_ERROR_EXISTS);
  assert_text (path, "old");

  /* A link that leads nowhere exists too. */
  g_assert_cmpint (symlink ("nowhere.png", link), ==, 0);
  assert_fails (fixture, link, &plain, G_IO_ERROR_EXISTS);
  g_assert_false (g_file_test (nowhere, G_FILE_TEST_EXISTS));
  assert_saves (fixture, link, &over);
  assert_png (fixture, nowhere);
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
}

/* A file that comes up while the picture is packed is not replaced either. */
static void
make_file (double fraction, gpointer user_data)
{
  put (user_data, "faster", 0644);
}

static void
test_exists_meanwhile (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "race.png");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  g_assert_false (sb_image_save_png (fixture->image, file, &plain, make_file, path, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  assert_text (path, "faster");
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static void
test_mode (Fixture *fixture, gconstpointer data)
{
  static const guint modes[] = { 0600, 0640, 0750, 0666, 0200 };
  g_autofree char *path = in (fixture, "mode.png");

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      put (path, "a much longer text than nothing", modes[i]);
      g_autoptr (GError) error = NULL;
      g_assert_true (save (fixture, path, &over, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (mode_of (path), ==, modes[i]);
    }
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

/* The new file has nothing of a longer old one. */
static void
test_size (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "long.png");
  g_autofree char *text = g_strnfill (1 << 20, 'x');

  put (path, text, 0644);
  assert_saves (fixture, path, &over);
}

static void
test_links (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = in (fixture, "target");
  g_autofree char *real = in (fixture, "target/real.png");
  g_autofree char *one = in (fixture, "one.png");
  g_autofree char *two = in (fixture, "two.png");
  g_autofree char *three = in (fixture, "three.png");
  g_autofree char *loop = in (fixture, "loop.png");
  g_autofree char *hard = in (fixture, "hard.png");
  const char *const links[] = { one, two, three };

  g_assert_cmpint (g_mkdir (folder, 0755), ==, 0);
  g_assert_cmpint (symlink ("target/real.png", one), ==, 0);
  g_assert_cmpint (symlink ("one.png", two), ==, 0);
  g_assert_cmpint (symlink (real, three), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (links); i++)
    {
      put (real, "old", 0640);
      assert_saves (fixture, links[i], &over);
      g_assert_true (g_file_test (links[i], G_FILE_TEST_IS_SYMLINK));
      assert_png (fixture, real);
      g_assert_cmpuint (mode_of (real), ==, 0640);
      g_assert_cmpuint (count_files (folder), ==, 1);
    }

  g_assert_cmpint (symlink ("loop.png", loop), ==, 0);
  assert_fails (fixture, loop, &over, G_IO_ERROR_TOO_MANY_LINKS);

  /* The other name of a file with two keeps the old contents. */
  put (real, "old", 0644);
  g_assert_cmpint (link (real, hard), ==, 0);
  assert_saves (fixture, hard, &over);
  assert_text (real, "old");
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = in (fixture, "folder.png");
  g_autofree char *fifo = in (fixture, "fifo.png");
  g_autofree char *readonly = in (fixture, "readonly.png");
  g_autofree char *nowhere = in (fixture, "missing/x.png");

  g_assert_cmpint (g_mkdir (folder, 0755), ==, 0);
  assert_fails (fixture, folder, &over, G_IO_ERROR_IS_DIRECTORY);
  g_assert_cmpint (mkfifo (fifo, 0644), ==, 0);
  assert_fails (fixture, fifo, &over, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_fails (fixture, "/dev/full", &over, G_IO_ERROR_NOT_REGULAR_FILE);
  put (readonly, "old", 0444);
  assert_fails (fixture, readonly, &over, G_IO_ERROR_PERMISSION_DENIED);
  assert_text (readonly, "old");
  g_assert_cmpuint (mode_of (readonly), ==, 0444);
  assert_fails (fixture, nowhere, &plain, G_IO_ERROR_NOT_FOUND);
}

static void
test_names (Fixture *fixture, gconstpointer data)
{
  g_autofree char *stem = g_strnfill (251, 'L');
  g_autofree char *long_name = g_strconcat (stem, ".png", NULL);
  const char *const names[]
      = { long_name,    "日本語 café.png", "caf\xe9\xff.png",   "new\nline%s%n.png",
          "--help.png", " .png ",          "hash#query?%41.png" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = in (fixture, names[i]);
      assert_saves (fixture, path, &plain);
      assert_saves (fixture, path, &over);
      g_autoptr (GError) error = NULL;
      g_assert_false (save (fixture, path, &plain, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      g_assert_null (strchr (error->message, '\n'));
      g_assert_cmpuint (count_files (fixture->folder), ==, i + 1);
    }
  g_autofree char *too_long = g_strnfill (256, 'L');
  g_autofree char *path = in (fixture, too_long);
  assert_fails (fixture, path, &plain, G_IO_ERROR_FILENAME_TOO_LONG);
}

/* A full disk in its two shapes: a limit on the size of files, whose signal would end the program,
 * and a file system without room. */
static void
test_size_limit (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "limit.png");
  g_autofree char *fresh = in (fixture, "fresh.png");
  struct rlimit before, small;

  put (path, "old", 0644);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 10000;
  g_assert_cmpuint (g_bytes_get_size (fixture->png), >, 10000);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  g_autoptr (GError) first = NULL;
  g_autoptr (GError) second = NULL;
  const gboolean replaced = save (fixture, path, &over, &first);
  const gboolean made = save (fixture, fresh, &plain, &second);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);

  g_assert_false (replaced);
  g_assert_false (made);
  g_assert_cmpstr (first->message, ==, "Could not write “limit.png”: File too large");
  g_assert_cmpstr (second->message, ==, "Could not write “fresh.png”: File too large");
  assert_text (path, "old");
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static void
test_full_disk (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "full.png");

  if (mount ("none", fixture->folder, "tmpfs", 0, "size=16k") != 0)
    {
      g_test_skip ("mounting is not allowed here");
      return;
    }
  put (path, "old", 0644);
  g_autoptr (GError) error = NULL;
  const gboolean saved = save (fixture, path, &over, &error);
  const guint files = count_files (fixture->folder);
  g_autofree char *contents = NULL;
  g_file_get_contents (path, &contents, NULL, NULL);
  g_assert_cmpint (umount (fixture->folder), ==, 0);

  g_assert_false (saved);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_cmpstr (error->message, ==, "Could not write “full.png”: No space left on device");
  g_assert_cmpstr (contents, ==, "old");
  g_assert_cmpuint (files, ==, 1);
}

/* As a user whom modes bind. */
static void
test_read_only_folder (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "old.png");
  g_autofree char *fresh = in (fixture, "fresh.png");
  const uid_t nobody = 65534;

  put (path, "old", 0666);
  g_assert_cmpint (g_chmod (fixture->folder, 0555), ==, 0);
  const gboolean root = geteuid () == 0;
  g_assert_cmpint (root ? seteuid (nobody) : 0, ==, 0);
  g_autoptr (GError) first = NULL;
  g_autoptr (GError) second = NULL;
  const gboolean replaced = save (fixture, path, &over, &first);
  const gboolean made = save (fixture, fresh, &plain, &second);
  g_assert_cmpint (root ? seteuid (0) : 0, ==, 0);

  g_assert_false (replaced);
  g_assert_false (made);
  g_assert_error (first, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
  g_assert_error (second, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
  assert_text (path, "old");
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "old.png");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Progress progress = { .cancel = cancellable };
  g_autoptr (GError) error = NULL;

  put (path, "old", 0644);
  g_assert_false (
      sb_image_save_png (fixture->image, file, &over, on_progress, &progress, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_text (path, "old");
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static gboolean dies_at_sync;

/* In the place of the C library's: where all is written and the name has yet to be given. */
int
fsync (int fd)
{
  if (dies_at_sync)
    kill (getpid (), SIGKILL);
  return (int)syscall (SYS_fsync, fd);
}

/* In a program of its own, which ends without a word. */
static void
test_killed_writer (void)
{
  const char *path = g_getenv ("SOFTBOX_TEST_PATH");

  if (path == NULL)
    return;
  g_autoptr (SbImage) image = make (3000, 2000, 8, FALSE);
  g_autoptr (GFile) file = g_file_new_for_path (path);

  dies_at_sync = TRUE;
  sb_image_save_png (image, file, &over, NULL, NULL, NULL, NULL);
  g_print ("written");
}

/* Killed while it writes, over a file and beside it: nothing is left. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "old.png", "fresh.png" };
  g_autofree char *real = realpath (fixture->folder, NULL);
  g_autofree char *old = in (fixture, "old.png");
  const int fd = open (real, O_WRONLY | O_TMPFILE, 0600);

  if (fd < 0)
    {
      g_test_skip ("the file system has no files without names");
      return;
    }
  close (fd);
  put (old, "old", 0644);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (real, names[i], NULL);

      g_setenv ("SOFTBOX_TEST_PATH", path, TRUE);
      g_test_trap_subprocess ("/save/killed-writer", 0, 0);
      g_unsetenv ("SOFTBOX_TEST_PATH");
      g_test_trap_assert_failed ();
      g_test_trap_assert_stdout_unmatched ("*written*");
      assert_text (old, "old");
      g_assert_cmpuint (count_files (fixture->folder), ==, 1);
    }
}

/* Where a file without a name cannot be given one, for want of /proc. */
static void
test_named (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in (fixture, "out.png");

  if (unshare (CLONE_NEWNS) != 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
      || mount ("none", "/proc", "tmpfs", 0, NULL) != 0)
    {
      g_test_skip ("mounting is not allowed here");
      return;
    }
  g_autoptr (GError) first = NULL;
  g_autoptr (GError) second = NULL;
  const gboolean made = save (fixture, path, &plain, &first);
  const gboolean replaced = save (fixture, path, &over, &second);
  g_assert_cmpint (umount ("/proc"), ==, 0);

  g_assert_no_error (first);
  g_assert_no_error (second);
  g_assert_true (made && replaced);
  assert_png (fixture, path);
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *path;
    void (*func) (Fixture *, gconstpointer);
  } tests[] = {
    { "/save/place/new", test_new_file },
    { "/save/place/exists", test_exists },
    { "/save/place/exists-meanwhile", test_exists_meanwhile },
    { "/save/place/mode", test_mode },
    { "/save/place/size", test_size },
    { "/save/place/links", test_links },
    { "/save/place/refused", test_refused },
    { "/save/place/names", test_names },
    { "/save/place/size-limit", test_size_limit },
    { "/save/place/full-disk", test_full_disk },
    { "/save/place/read-only-folder", test_read_only_folder },
    { "/save/place/cancelled", test_cancelled },
    { "/save/place/killed", test_killed },
    { "/save/place/named", test_named },
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/save/pixels", test_pixels);
  g_test_add_func ("/save/levels", test_levels);
  g_test_add_func ("/save/every-value", test_every_value);
  g_test_add_func ("/save/threads-agree", test_threads_agree);
  g_test_add_func ("/save/profile", test_profile);
  g_test_add_func ("/save/progress", test_progress);
  g_test_add_func ("/save/killed-writer", test_killed_writer);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].func, tear_down);
  return g_test_run ();
}
