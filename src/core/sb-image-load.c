/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-head.h"
#include "sb-image-private.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a picture may cost a pixel while it is edited. */
#define BYTES_PER_PIXEL 30

/* Real pictures take a second or two; longer than ten is no answer. */
#define DECODE_MS 9000

/* --- the reader ------------------------------------------------------------------------------ */

/* Not every stream looks at the cancellable. */
static gssize
read_some (SbReader *reader, guint8 *to, gsize n)
{
  if (g_cancellable_set_error_if_cancelled (reader->cancellable, &reader->error))
    return -1;
  return g_input_stream_read (reader->stream, to, n, reader->cancellable, &reader->error);
}

gboolean
sb_reader_fill (SbReader *reader)
{
  if (reader->start < reader->end)
    return TRUE;
  if (reader->error != NULL)
    return FALSE;

  const gssize n = read_some (reader, reader->window, sizeof reader->window);
  reader->start = 0;
  reader->end = n > 0 ? (gsize)n : 0;
  reader->done += reader->end;
  if (reader->progress != NULL && reader->total > 0)
    reader->progress (MIN ((double)reader->done / (double)reader->total, 1.0), reader->user_data);
  return n > 0;
}

/* Enough for every signature that is looked at, though a pipe may give it in small pieces. */
static void
fill_head (SbReader *reader)
{
  gsize n = 0;
  gssize some = 1;

  while (some > 0 && n < sizeof reader->window)
    {
      some = read_some (reader, reader->window + n, sizeof reader->window - n);
      n += some > 0 ? (gsize)some : 0;
    }
  reader->start = 0;
  reader->end = reader->error == NULL ? n : 0;
  reader->done = n;
}

gsize
sb_reader_read (SbReader *reader, void *to, gsize n)
{
  gsize done = 0;

  while (done < n && sb_reader_fill (reader))
    {
      const gsize some = MIN (n - done, reader->end - reader->start);
      memcpy ((guint8 *)to + done, reader->window + reader->start, some);
      reader->start += some;
      done += some;
    }
  return done;
}

GBytes *
sb_reader_slurp (SbReader *reader, gsize max, GError **error)
{
  g_autofree guint8 *all = NULL;
  gsize n = 0;
  gsize room = 0;

  while (sb_reader_fill (reader))
    {
      const gsize some = reader->end - reader->start;
      if (some > max - n)
        {
          sb_reader_set_error (reader, error, _ ("the file is too large"));
          return NULL;
        }
      if (some > room - n)
        {
          room = MAX (room + room / 2, n + some);
          guint8 *more = g_try_realloc (all, room);
          if (more == NULL)
            {
              g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                           _ ("Could not open “%s”: there is not enough memory"), reader->name);
              return NULL;
            }
          all = more;
        }
      n += sb_reader_read (reader, all + n, some);
    }
  if (sb_reader_take_error (reader, error))
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&all), n);
}

gboolean
sb_reader_check_size (SbReader *reader, guint64 width, guint64 height, GError **error)
{
  g_autofree char *reason = NULL;

  if (width < 1 || height < 1)
    reason = g_strdup (_ ("the picture has no pixels"));
  else if (width > SB_IMAGE_MAX_SIDE || height > SB_IMAGE_MAX_SIDE)
    reason = g_strdup_printf (
        _ ("the picture is %llu × %llu pixels, and no side may be longer than %d"),
        (unsigned long long)width, (unsigned long long)height, SB_IMAGE_MAX_SIDE);
  else if (width * height * BYTES_PER_PIXEL > reader->limit_bytes)
    {
      g_autofree char *need = g_format_size (width * height * BYTES_PER_PIXEL);
      g_autofree char *limit = g_format_size (reader->limit_bytes);
      reason = g_strdup_printf (_ ("the picture is %llu × %llu pixels and would need %s of memory, "
                                   "more than the limit of %s"),
                                (unsigned long long)width, (unsigned long long)height, need, limit);
    }
  else
    return TRUE;

  sb_reader_set_error (reader, error, reason);
  return FALSE;
}

void
sb_reader_set_error (SbReader *reader, GError **error, const char *reason)
{
  g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("Could not open “%s”: %s"), reader->name,
               reason);
}

gboolean
sb_reader_take_error (SbReader *reader, GError **error)
{
  if (reader->error == NULL)
    return FALSE;

  g_propagate_prefixed_error (error, g_steal_pointer (&reader->error), _ ("Could not open “%s”: "),
                              reader->name);
  return TRUE;
}

/* --- orientation ----------------------------------------------------------------------------- */

static guint
get16 (const guint8 *p, gboolean big)
{
  return big ? (guint)(p[0] << 8 | p[1]) : (guint)(p[1] << 8 | p[0]);
}

static guint32
get32 (const guint8 *p, gboolean big)
{
  return big ? (guint32)get16 (p, big) << 16 | get16 (p + 2, big)
             : (guint32)get16 (p + 2, big) << 16 | get16 (p, big);
}

guint
sb_exif_orientation (const guint8 *tiff, gsize n)
{
  enum
  {
    TAG = 0x0112,
    SHORT = 3,
    LONG = 4,
    SLONG = 9
  };

  if (n < 8 || (memcmp (tiff, "II*", 4) != 0 && memcmp (tiff, "MM\0*", 4) != 0))
    return 1;
  const gboolean big = tiff[0] == 'M';
  const gsize directory = get32 (tiff + 4, big);
  if (directory > n - 2)
    return 1;

  const guint entries = get16 (tiff + directory, big);
  for (guint i = 0; i < entries; i++)
    {
      const gsize at = directory + 2 + 12 * (gsize)i;
      if (at + 12 > n)
        return 1;
      if (get16 (tiff + at, big) != TAG || get32 (tiff + at + 4, big) != 1)
        continue;
      const guint type = get16 (tiff + at + 2, big);
      const guint32 value = type == SHORT                   ? get16 (tiff + at + 8, big)
                            : type == LONG || type == SLONG ? get32 (tiff + at + 8, big)
                                                            : 1;
      return value >= 1 && value <= 8 ? value : 1;
    }
  return 1;
}

/* Copies in tiles, so that a transposed copy stays in cache: to[x, y] = from[first + x * dx +
 * y * dy], counted in pixels. */
#define DEFINE_TURN(name, type)                                                                    \
  static void name (const type *from, gssize dx, gssize dy, type *to, gsize width, gsize height)   \
  {                                                                                                \
    enum                                                                                           \
    {                                                                                              \
      TILE = 32                                                                                    \
    };                                                                                             \
    for (gsize top = 0; top < height; top += TILE)                                                 \
      for (gsize left = 0; left < width; left += TILE)                                             \
        for (gsize y = top; y < MIN (top + TILE, height); y++)                                     \
          for (gsize x = left; x < MIN (left + TILE, width); x++)                                  \
            to[y * width + x] = from[(gssize)x * dx + (gssize)y * dy];                             \
  }

DEFINE_TURN (turn32, guint32)
DEFINE_TURN (turn64, guint64)

SbImage *
sb_image_orient (SbImage *image, guint orientation, GError **error)
{
  if (orientation <= 1 || orientation > 8)
    return image;

  const gssize w = sb_image_get_width (image);
  const gssize h = sb_image_get_height (image);
  const gboolean swapped = orientation >= 5;
  SbImage *upright = sb_image_new ((guint)(swapped ? h : w), (guint)(swapped ? w : h),
                                   sb_image_get_depth (image), error);
  if (upright == NULL)
    {
      sb_image_unref (image);
      return NULL;
    }

  /* In EXIF's words: which stored side row 0 and column 0 of the view are. */
  const gboolean from_right = orientation == 2 || orientation == 3 || orientation >= 7;
  const gboolean from_bottom
      = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const gssize along_x = from_right ? -1 : 1;
  const gssize along_y = from_bottom ? -w : w;
  const gssize first = (from_right ? w - 1 : 0) + (from_bottom ? (h - 1) * w : 0);
  const gssize dx = swapped ? along_y : along_x;
  const gssize dy = swapped ? along_x : along_y;
  const guint8 *from = sb_image_get_pixels (image);
  guint8 *to = sb_image_writable (upright);
  const gsize view_w = sb_image_get_width (upright);
  const gsize view_h = sb_image_get_height (upright);

  if (sb_image_get_depth (image) == 8)
    turn32 ((const guint32 *)from + first, dx, dy, (guint32 *)to, view_w, view_h);
  else
    turn64 ((const guint64 *)from + first, dx, dy, (guint64 *)to, view_w, view_h);
  sb_image_copy_properties (upright, image);
  SbMetadata *metadata = sb_image_get_metadata (upright);
  if (swapped && metadata != NULL)
    {
      const guint32 x = metadata->density_x;
      metadata->density_x = metadata->density_y;
      metadata->density_y = x;
    }
  sb_image_unref (image);
  return upright;
}

char *
sb_file_display_name (GFile *file)
{
  g_autofree char *base = g_file_get_basename (file);
  char *name = g_filename_display_name (base != NULL ? base : "?");

  for (char *c = name; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  return name;
}

/* --- profiles -------------------------------------------------------------------------------- */

static guint32
get_big (const guint8 *p)
{
  return (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3];
}

/* What readers of PNG insist on and lcms2 is lenient about: a profile that is kept is one that an
 * export can carry. Length, signature, intent, kind, space of connection, and tags within the file
 * (ICC.1, 7.2 and 7.3). */
static gboolean
is_strict_profile (GBytes *profile)
{
  gsize n = 0;
  const guint8 *data = g_bytes_get_data (profile, &n);

  if (n < 132 || get_big (data) != n || (data[8] > 3 && n % 4 != 0)
      || memcmp (data + 36, "acsp", 4) != 0 || get_big (data + 64) >= 0xffff
      || memcmp (data + 12, "abst", 4) == 0 || memcmp (data + 12, "link", 4) == 0
      || (memcmp (data + 20, "XYZ ", 4) != 0 && memcmp (data + 20, "Lab ", 4) != 0))
    return FALSE;
  const guint32 n_tags = get_big (data + 128);
  if (n_tags > (n - 132) / 12)
    return FALSE;
  for (const guint8 *tag = data + 132; tag < data + 132 + 12 * (gsize)n_tags; tag += 12)
    if (get_big (tag + 4) > n || get_big (tag + 8) > n - get_big (tag + 4))
      return FALSE;
  return TRUE;
}

void
sb_image_take_profile (SbImage *image, GBytes *profile, gboolean grey)
{
  g_autoptr (GBytes) spread = NULL;

  if (sb_profile_is_rgb (profile) && is_strict_profile (profile))
    sb_image_set_profile (image, profile);
  else if (grey && (spread = sb_profile_from_grey (profile)) != NULL)
    sb_image_set_profile (image, spread);
  else
    sb_image_add_warning (image, _ ("The color profile is damaged or does not fit the picture, and "
                                    "was left out."));
}

/* --- opening --------------------------------------------------------------------------------- */

/* Either byte order, plain or with offsets of 64 bits. */
static gboolean
is_tiff (const guint8 *head, gsize n)
{
  return n >= 4
         && (memcmp (head, "II*", 4) == 0 || memcmp (head, "MM\0*", 4) == 0
             || memcmp (head, "II+", 4) == 0 || memcmp (head, "MM\0+", 4) == 0);
}

static SbImage *
load (SbReader *reader, GError **error)
{
  static const guint8 png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
  static const guint8 jpeg[] = { 0xff, 0xd8, 0xff };

  fill_head (reader);
  if (sb_reader_take_error (reader, error))
    return NULL;

  const guint8 *head = reader->window;
  const gsize n = reader->end;
  if (n == 0)
    {
      sb_reader_set_error (reader, error, _ ("the file is empty"));
      return NULL;
    }
  if (n >= sizeof png && memcmp (head, png, sizeof png) == 0)
    return sb_image_load_png (reader, error);
  if (n >= sizeof jpeg && memcmp (head, jpeg, sizeof jpeg) == 0)
    return sb_image_load_jpeg (reader, error);
  if (is_tiff (head, n))
    return sb_image_load_tiff (reader, error);
  if (n >= 2 && (head[1] == '5' || head[1] == '6') && sb_head_anymap_maximum (head, n) > 255)
    return sb_image_load_pnm (reader, error);

  /* The loader uses the window up: the name is looked up before it is asked. */
  const char *format = sb_head_name_format (head, n);
  const gboolean deep = sb_head_is_deep (head, n);
  const SbMetadataLoss beside = sb_head_find_loss (head, n);
  g_autoptr (GError) failure = NULL;
  const gboolean webp
      = n >= 12 && memcmp (head, "RIFF", 4) == 0 && memcmp (head + 8, "WEBP", 4) == 0;
  SbImage *image = webp ? sb_image_load_webp (reader, &failure)
                        : sb_image_load_pixbuf (reader, NULL, &failure);
  if (image != NULL && deep)
    sb_image_add_warning (image, _ ("The file has more than 8 bits a channel: the picture was "
                                    "reduced to 8."));
  if (image != NULL && sb_image_get_metadata (image) != NULL)
    sb_image_get_metadata (image)->lost |= beside;
  if (image != NULL)
    return image;
  if (format != NULL && g_error_matches (failure, SB_ERROR, SB_ERROR_UNAVAILABLE))
    g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                 _ ("Could not open “%s”: no loader for %s files is installed"), reader->name,
                 format);
  else
    g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

static SbImage *
load_stream (GInputStream *stream, const char *name, guint64 total, const SbLoadOptions *options,
             GCancellable *cancellable, GError **error)
{
  SbReader *reader = g_new0 (SbReader, 1);

  reader->stream = stream;
  reader->name = name;
  reader->limit_bytes = options->limit_bytes > 0 ? options->limit_bytes : sb_memory_physical () / 2;
  reader->page = options->page;
  reader->decode_ms = options->decode_ms > 0 ? options->decode_ms : DECODE_MS;
  reader->total = total;
  reader->progress = options->progress;
  reader->user_data = options->user_data;
  reader->cancellable = cancellable;

  SbImage *image = load (reader, error);
  g_clear_error (&reader->error);
  g_free (reader);

  /* A decoder may have been past the last look at it. */
  if (image != NULL && g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      g_prefix_error (error, _ ("Could not open “%s”: "), name);
      g_clear_pointer (&image, sb_image_unref);
      return NULL;
    }

  const SbMetadata *metadata = image != NULL ? sb_image_get_metadata (image) : NULL;
  if (image != NULL && options->page > 1 && (metadata == NULL || metadata->n_pages == 0))
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("Could not open page %u of “%s”: the file has no pages"), options->page,
                   name);
      g_clear_pointer (&image, sb_image_unref);
    }
  return image;
}

SbImage *
sb_image_load_stream_with (GInputStream *stream, const char *name, const SbLoadOptions *options,
                           GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (G_IS_INPUT_STREAM (stream), NULL);
  g_return_val_if_fail (name != NULL && options != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return load_stream (stream, name, 0, options, cancellable, error);
}

SbImage *
sb_image_load_stream (GInputStream *stream, const char *name, guint64 limit_bytes,
                      GCancellable *cancellable, GError **error)
{
  const SbLoadOptions options = { .limit_bytes = limit_bytes };

  return sb_image_load_stream_with (stream, name, &options, cancellable, error);
}

static void
set_type_error (GError **error, const char *name, gboolean folder)
{
  if (folder)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                 _ ("Could not open “%s”: it is a folder"), name);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                 _ ("Could not open “%s”: it is not a regular file"), name);
}

/* Looks before it opens, since opening a device can have effects, and opens without waiting: even
 * if a FIFO takes the file's place in between, nothing hangs. */
static GInputStream *
open_path (const char *path, const char *name, guint64 *total, GError **error)
{
  struct stat status;
  int fd = -1;

  if (stat (path, &status) == 0
      && (!S_ISREG (status.st_mode)
          || ((fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) >= 0
              && fstat (fd, &status) == 0)))
    {
      if (S_ISREG (status.st_mode))
        {
          *total = (guint64)status.st_size;
          return g_unix_input_stream_new (fd, TRUE);
        }
      set_type_error (error, name, S_ISDIR (status.st_mode));
    }
  else
    {
      const int saved = errno;
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved), _ ("Could not open “%s”: %s"),
                   name, g_strerror (saved));
    }
  if (fd >= 0)
    close (fd);
  return NULL;
}

static GInputStream *
open_remote (GFile *file, const char *name, guint64 *total, GCancellable *cancellable,
             GError **error)
{
  g_autoptr (GFileInfo) info
      = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_TYPE "," G_FILE_ATTRIBUTE_STANDARD_SIZE,
                           G_FILE_QUERY_INFO_NONE, cancellable, error);
  GFileInputStream *stream = NULL;

  if (info != NULL)
    {
      /* Some places know no types: only what is certain to be wrong is refused. */
      const GFileType type = g_file_info_get_file_type (info);
      if (type != G_FILE_TYPE_REGULAR && type != G_FILE_TYPE_UNKNOWN)
        {
          set_type_error (error, name, type == G_FILE_TYPE_DIRECTORY);
          return NULL;
        }
      *total = (guint64)MAX (g_file_info_get_size (info), 0);
      stream = g_file_read (file, cancellable, error);
    }
  if (stream == NULL)
    g_prefix_error (error, _ ("Could not open “%s”: "), name);
  return (GInputStream *)stream;
}

SbImage *
sb_image_load_with (GFile *file, const SbLoadOptions *options, GCancellable *cancellable,
                    GError **error)
{
  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (options != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  g_autofree char *name = sb_file_display_name (file);
  const char *path = g_file_peek_path (file);
  guint64 total = 0;
  g_autoptr (GInputStream) stream = path != NULL
                                        ? open_path (path, name, &total, error)
                                        : open_remote (file, name, &total, cancellable, error);

  if (stream == NULL)
    return NULL;
  return load_stream (stream, name, total, options, cancellable, error);
}

SbImage *
sb_image_load (GFile *file, guint64 limit_bytes, GCancellable *cancellable, GError **error)
{
  const SbLoadOptions options = { .limit_bytes = limit_bytes };

  return sb_image_load_with (file, &options, cancellable, error);
}
