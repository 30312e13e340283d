/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <string.h>

/* WebP is decoded by gdk-pixbuf's loader, where one is installed, but that loader leaves out what
 * stands beside the pixels. This file reads it from the container: chunks of RIFF, each a name, a
 * length in little-endian order and so many bytes, padded to an even number (RFC 9649, 2.3). */

static guint32
get32 (const guint8 *p)
{
  return (guint32)p[3] << 24 | (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0];
}

/* The size that a chunk claims, of the whole picture or of one frame; the loader makes room for it
 * before it tells of it. 0 x 0: it claims none. */
static void
find_size (const guint8 *name, const guint8 *body, gsize n, guint64 *width, guint64 *height)
{
  *width = *height = 0;
  if (memcmp (name, "VP8X", 4) == 0 && n >= 10)
    {
      *width = 1 + (body[4] | (guint64)body[5] << 8 | (guint64)body[6] << 16);
      *height = 1 + (body[7] | (guint64)body[8] << 8 | (guint64)body[9] << 16);
    }
  else if (memcmp (name, "VP8L", 4) == 0 && n >= 5)
    {
      const guint32 bits = get32 (body + 1);
      *width = 1 + (bits & 0x3fff);
      *height = 1 + (bits >> 14 & 0x3fff);
    }
  else if (memcmp (name, "VP8 ", 4) == 0 && n >= 10)
    {
      *width = get32 (body + 6) & 0x3fff;
      *height = get32 (body + 6) >> 16 & 0x3fff;
    }
}

static gboolean
check_sizes (SbReader *reader, const guint8 *data, gsize n, GError **error)
{
  gsize at = 12; /* RIFF, length, WEBP */

  while (at <= n && n - at >= 8)
    {
      const gsize length = MIN ((gsize)get32 (data + at + 4), n - at - 8);
      guint64 width, height;
      find_size (data + at, data + at + 8, length, &width, &height);
      if (width > 0 && height > 0 && !sb_reader_check_size (reader, width, height, error))
        return FALSE;
      at += 8 + length + (length & 1);
    }
  return TRUE;
}

static void
walk_chunks (const guint8 *data, gsize n, SbAside *aside)
{
  static const guint8 exif[6] = "Exif\0"; /* some writers begin as JPEG does */
  gsize at = 12;                          /* RIFF, length, WEBP */

  while (at <= n && n - at >= 8)
    {
      const guint8 *body = data + at + 8;
      const gsize length = MIN ((gsize)get32 (data + at + 4), n - at - 8);
      if (memcmp (data + at, "ICCP", 4) == 0 && aside->profile == NULL)
        aside->profile = g_bytes_new (body, length);
      else if (memcmp (data + at, "EXIF", 4) == 0)
        {
          const gsize skip
              = length > sizeof exif && memcmp (body, exif, sizeof exif) == 0 ? sizeof exif : 0;
          aside->orientation = sb_exif_orientation (body + skip, length - skip);
          sb_metadata_take_exif (aside->metadata, body, length);
        }
      else if (memcmp (data + at, "XMP ", 4) == 0)
        sb_metadata_take_xmp (aside->metadata, body, length);
      at += 8 + length + (length & 1);
    }
}

SbImage *
sb_image_load_webp (SbReader *reader, GError **error)
{
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();
  SbAside aside = { NULL, 1, metadata };
  g_autoptr (GBytes) bytes
      = sb_reader_slurp (reader, (gsize)MIN (reader->limit_bytes, (guint64)G_MAXSSIZE), error);
  gsize n = 0;

  metadata->format = "WebP";
  if (bytes == NULL)
    return NULL;
  const guint8 *data = g_bytes_get_data (bytes, &n);
  if (!check_sizes (reader, data, n, error))
    return NULL;
  walk_chunks (data, n, &aside);

  /* The same reader again, over the bytes that were taken from it. */
  g_autoptr (GInputStream) memory = g_memory_input_stream_new_from_bytes (bytes);
  GInputStream *stream = reader->stream;
  reader->stream = memory;
  SbImage *image = sb_image_load_pixbuf (reader, &aside, error);
  reader->stream = stream;
  g_clear_pointer (&aside.profile, g_bytes_unref);
  return image;
}
