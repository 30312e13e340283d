/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"
#include "sb-error.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* Decodes through whatever loaders gdk-pixbuf has installed. */
typedef struct
{
  SbReader *reader;
  GdkPixbufLoader *loader;
  GError *size_error; /* the header claims too much, or the file has no end */
  int rows_seen;      /* rows from the top that the loader said it has filled */
} Decode;

/* The header is read, nothing decoded. 0 × 0 makes a loader stop, which is how gdk-pixbuf itself
 * looks at a file's size only. */
static void
on_size (GdkPixbufLoader *loader, int width, int height, gpointer user_data)
{
  Decode *decode = user_data;

  if (decode->size_error == NULL
      && !sb_reader_check_size (decode->reader, (guint64)MAX (width, 0), (guint64)MAX (height, 0),
                                &decode->size_error))
    gdk_pixbuf_loader_set_size (loader, 0, 0);
}

static void
on_area (GdkPixbufLoader *loader, int x, int y, int width, int height, gpointer user_data)
{
  Decode *decode = user_data;

  decode->rows_seen = MAX (decode->rows_seen, y + height);
}

/* Opaque and straight-alpha rows to RGBA. The last row has no padding: never look past it. */
static SbImage *
copy_pixels (GdkPixbuf *pixbuf, GError **error)
{
  const guint width = (guint)gdk_pixbuf_get_width (pixbuf);
  const guint height = (guint)gdk_pixbuf_get_height (pixbuf);
  const gsize from_stride = (gsize)gdk_pixbuf_get_rowstride (pixbuf);
  const guint channels = (guint)gdk_pixbuf_get_n_channels (pixbuf);
  const guint8 *from = gdk_pixbuf_read_pixels (pixbuf);
  SbImage *image = sb_image_new (width, height, 8, error);

  if (image == NULL)
    return NULL;
  const gsize stride = sb_image_get_stride (image);
  guint8 *to = sb_image_writable (image);
  for (gsize y = 0; y < height; y++)
    {
      const guint8 *source = from + y * from_stride;
      guint8 *target = to + y * stride;
      if (channels == 4)
        memcpy (target, source, stride);
      else
        for (gsize x = 0; x < width; x++, source += 3, target += 4)
          {
            target[0] = source[0];
            target[1] = source[1];
            target[2] = source[2];
            target[3] = 0xff;
          }
    }
  return image;
}

static void
take_profile (SbImage *image, GdkPixbuf *pixbuf, const SbAside *aside)
{
  const char *text = gdk_pixbuf_get_option (pixbuf, "icc-profile");

  if (text != NULL)
    {
      gsize n = 0;
      guint8 *data = g_base64_decode (text, &n);
      g_autoptr (GBytes) profile = g_bytes_new_take (data, n);
      sb_image_take_profile (image, profile, TRUE);
    }
  else if (aside != NULL && aside->profile != NULL)
    sb_image_take_profile (image, aside->profile, TRUE);
}

static guint
find_orientation (GdkPixbuf *pixbuf, const SbAside *aside)
{
  const char *text = gdk_pixbuf_get_option (pixbuf, "orientation");

  if (text == NULL)
    return aside != NULL ? aside->orientation : 1;
  const guint64 value = g_ascii_strtoull (text, NULL, 10);
  return value >= 1 && value <= 8 ? (guint)value : 1;
}

/* The loader of BMP asks for as much memory as the file's header claims to take, before any of it
 * has come. Real ones have 124 bytes, and their pixels begin soon after. */
#define BMP_MAX_HEADER 65536
#define BMP_MAX_OFFSET (16u << 20)

static gboolean
is_excessive_bmp (const guint8 *data, gsize n)
{
  guint32 offset, header;

  if (n < 18 || data[0] != 'B' || data[1] != 'M')
    return FALSE;
  memcpy (&offset, data + 10, sizeof offset);
  memcpy (&header, data + 14, sizeof header);
  return GUINT32_FROM_LE (header) > BMP_MAX_HEADER || GUINT32_FROM_LE (offset) > BMP_MAX_OFFSET;
}

/* The whole file through the loader. FALSE with the loader's error, if it gave one. */
static gboolean
feed (Decode *decode, GError **error)
{
  SbReader *reader = decode->reader;

  guint64 fed = 0;

  while (decode->size_error == NULL && sb_reader_fill (reader))
    {
      const guint8 *data = reader->window + reader->start;
      const gsize n = reader->end - reader->start;
      reader->start = reader->end;
      if (fed == 0 && is_excessive_bmp (data, n))
        sb_reader_set_error (reader, &decode->size_error, _ ("the file is damaged"));
      if (decode->size_error != NULL)
        break;
      fed += n;
      /* Some loaders gather all that they are given before they look at it. */
      if (fed > reader->limit_bytes)
        sb_reader_set_error (reader, &decode->size_error, _ ("the file is too large"));
      else if (!gdk_pixbuf_loader_write (decode->loader, data, n, error))
        {
          gdk_pixbuf_loader_close (decode->loader, NULL);
          return FALSE;
        }
    }
  if (decode->size_error != NULL || reader->error != NULL)
    {
      gdk_pixbuf_loader_close (decode->loader, NULL);
      return FALSE;
    }
  return gdk_pixbuf_loader_close (decode->loader, error);
}

static SbImage *
take (GdkPixbuf *pixbuf, GdkPixbufFormat *format, gboolean whole, gboolean animated,
      const SbAside *aside, GError **error)
{
  SbImage *image = copy_pixels (pixbuf, error);

  if (image == NULL)
    return NULL;
  take_profile (image, pixbuf, aside);
  g_autoptr (SbMetadata) metadata = aside != NULL && aside->metadata != NULL
                                        ? sb_metadata_ref (aside->metadata)
                                        : sb_metadata_new ();
  if (metadata->format == NULL && format != NULL)
    {
      g_autofree char *name = gdk_pixbuf_format_get_name (format);
      g_autofree char *upper = g_ascii_strup (name, -1);
      metadata->format = g_intern_string (upper);
    }
  sb_image_set_metadata (image, metadata);
  if (!whole)
    sb_image_add_warning (image, _ ("The file is incomplete or damaged: a part of the picture may "
                                    "be missing."));
  if (animated)
    sb_image_add_warning (image, _ ("The file is an animation: only its first picture is shown."));
  return sb_image_orient (image, find_orientation (pixbuf, aside), error);
}

SbImage *
sb_image_load_pixbuf (SbReader *reader, const SbAside *aside, GError **error)
{
  g_autoptr (GdkPixbufLoader) loader = gdk_pixbuf_loader_new ();
  g_autoptr (GError) failure = NULL;
  Decode decode = { .reader = reader, .loader = loader };

  g_signal_connect (loader, "size-prepared", G_CALLBACK (on_size), &decode);
  g_signal_connect (loader, "area-updated", G_CALLBACK (on_area), &decode);
  const gboolean closed = feed (&decode, &failure);

  if (sb_reader_take_error (reader, error))
    {
      g_clear_error (&decode.size_error);
      return NULL;
    }
  if (decode.size_error != NULL)
    {
      g_propagate_error (error, decode.size_error);
      return NULL;
    }

  /* A loader may fail without saying why, and may give a picture that it never filled; those of
   * animations need not tell of rows. */
  GdkPixbuf *pixbuf = gdk_pixbuf_loader_get_pixbuf (loader);
  GdkPixbufAnimation *animation = gdk_pixbuf_loader_get_animation (loader);
  const gboolean animated = animation != NULL && !gdk_pixbuf_animation_is_static_image (animation);
  if (pixbuf != NULL && (decode.rows_seen > 0 || (animated && closed)))
    {
      const gboolean whole
          = closed && (animated || decode.rows_seen >= gdk_pixbuf_get_height (pixbuf));
      return take (pixbuf, gdk_pixbuf_loader_get_format (loader), whole, animated, aside, error);
    }
  if (g_error_matches (failure, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_UNKNOWN_TYPE))
    g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                 _ ("Could not open “%s”: it is not a picture of a known format"), reader->name);
  else
    sb_reader_set_error (reader, error,
                         failure != NULL ? failure->message : _ ("the file is damaged"));
  return NULL;
}
