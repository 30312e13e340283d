/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-metadata.h"
#include "sb-metadata-private.h"

#include <string.h>
#include <zlib.h>

static void
chunk_free (gpointer data)
{
  SbMetadataChunk *chunk = data;

  g_bytes_unref (chunk->data);
  g_free (chunk);
}

static void
add_chunk (GPtrArray *chunks, const char *type, GByteArray *data)
{
  SbMetadataChunk *chunk = g_new0 (SbMetadataChunk, 1);

  memcpy (chunk->type, type, 4);
  chunk->data = g_byte_array_free_to_bytes (data);
  g_ptr_array_add (chunks, chunk);
}

static void
append (GByteArray *array, const void *data, gsize n)
{
  g_byte_array_append (array, data, (guint)n);
}

static void
append_packed (GByteArray *array, const void *data, gsize n)
{
  uLong packed = compressBound (n);
  g_autofree guint8 *buffer = g_malloc (packed);

  if (compress2 (buffer, &packed, data, n, Z_BEST_COMPRESSION) == Z_OK)
    append (array, buffer, packed);
}

/* --- EXIF ------------------------------------------------------------------------------------ */

GMutex sb_exiv2_lock;

/* Exiv2 and gexiv2 take time by the square of the number of properties: seconds for some ten
 * thousand, of which there is one at most for each value and each two tags. Real packets have a
 * thousand. */
#define MAX_PROPERTIES 10000

static gboolean
is_excessive_xmp (const guint8 *data, gsize n)
{
  gsize twice = 0;

  for (gsize i = 0; i < n; i++)
    twice += data[i] == '=' ? 2 : data[i] == '<' ? 1 : 0;
  return twice > 2 * MAX_PROPERTIES;
}

GExiv2Metadata *
sb_exiv2_open (GBytes *exif, GBytes *xmp)
{
  static gsize ready = 0;
  g_autoptr (GExiv2Metadata) metadata = NULL;

  if (g_once_init_enter (&ready))
    {
      gexiv2_initialize ();
      gexiv2_log_set_level (GEXIV2_LOG_LEVEL_MUTE); /* what is odd in a file is nobody's concern */
      g_once_init_leave (&ready, 1);
    }
  metadata = gexiv2_metadata_new ();
  if (exif != NULL)
    {
      static const guint8 name[6] = "Exif\0";
      gsize n = 0;
      const guint8 *data = g_bytes_get_data (exif, &n);
      g_autofree guint8 *segment = g_malloc (sizeof name + n);
      memcpy (segment, name, sizeof name);
      memcpy (segment + sizeof name, data, n);
      if (!gexiv2_metadata_from_app1_segment (metadata, segment, (glong)(sizeof name + n), NULL))
        return NULL;
    }
  if (xmp != NULL)
    {
      gsize n = 0;
      const guint8 *data = g_bytes_get_data (xmp, &n);
      if (is_excessive_xmp (data, n) || !gexiv2_metadata_open_buf (metadata, data, (glong)n, NULL))
        return NULL;
    }
  return g_steal_pointer (&metadata);
}

void
sb_metadata_get_exif_density (const SbMetadata *from, guint32 *x, guint32 *y)
{
  enum
  {
    INCHES = 2,
    CENTIMETERS = 3,
    TURNED = 5, /* orientations from there on: width and height change places */
    MOST = 4000000
  };

  if (from->exif == NULL)
    return;
  g_mutex_lock (&sb_exiv2_lock);
  g_autoptr (GExiv2Metadata) exif = sb_exiv2_open (from->exif, NULL);
  int n[2] = { 0, 0 }, d[2] = { 0, 0 };
  if (exif != NULL
      && gexiv2_metadata_try_get_exif_tag_rational (exif, "Exif.Image.XResolution", &n[0], &d[0],
                                                    NULL)
      && gexiv2_metadata_try_get_exif_tag_rational (exif, "Exif.Image.YResolution", &n[1], &d[1],
                                                    NULL)
      && n[0] > 0 && d[0] > 0 && n[1] > 0 && d[1] > 0)
    {
      const glong unit = gexiv2_metadata_try_get_tag_long (exif, "Exif.Image.ResolutionUnit", NULL);
      const glong turned = gexiv2_metadata_try_get_tag_long (exif, "Exif.Image.Orientation", NULL);
      const double scale = unit == CENTIMETERS ? 100 : unit == INCHES ? 1 / 0.0254 : 0;
      const double density[2] = { (double)n[0] / d[0] * scale, (double)n[1] / d[1] * scale };
      if (density[0] >= 1 && density[0] <= MOST && density[1] >= 1 && density[1] <= MOST)
        {
          *x = (guint32)(density[turned >= TURNED ? 1 : 0] + 0.5);
          *y = (guint32)(density[turned >= TURNED ? 0 : 1] + 0.5);
        }
    }
  g_clear_object (&exif);
  g_mutex_unlock (&sb_exiv2_lock);
}

/* Only groups whose tags are known for what they are: none of a camera maker, none of a second
 * picture in the file. */
static gboolean
keeps_exif (const char *tag, gboolean keep_location)
{
  static const char *const dropped[] = {
    "Exif.Photo.MakerNote",
    "Exif.Image.Orientation",
    "Exif.Image.ImageWidth",
    "Exif.Image.ImageLength",
    "Exif.Image.SubIFDs",
    "Exif.Image.JPEGInterchangeFormat",
    "Exif.Image.JPEGInterchangeFormatLength",
    "Exif.Image.StripOffsets",
    "Exif.Image.StripByteCounts",
    "Exif.Image.TileOffsets",
    "Exif.Image.TileByteCounts",
    "Exif.Image.XMLPacket",
    "Exif.Image.IPTCNAA",
    "Exif.Image.ImageResources",
    "Exif.Image.InterColorProfile",
    "Exif.Image.DNGPrivateData",
    "Exif.Image.OriginalRawFileData",
    NULL,
  };

  if (g_strv_contains (dropped, tag))
    return FALSE;
  if (g_str_has_prefix (tag, "Exif.GPSInfo.") || g_str_equal (tag, "Exif.Image.GPSTag"))
    return keep_location;
  return g_str_has_prefix (tag, "Exif.Image.") || g_str_has_prefix (tag, "Exif.Photo.")
         || g_str_has_prefix (tag, "Exif.Iop.");
}

/* FALSE where there is something and it cannot be kept. */
static gboolean
add_exif (GPtrArray *chunks, const SbMetadata *from, guint width, guint height,
          gboolean keep_location)
{
  if (from->exif == NULL)
    return TRUE;
  g_autoptr (GExiv2Metadata) metadata = sb_exiv2_open (from->exif, NULL);
  if (metadata == NULL)
    return FALSE;

  gexiv2_metadata_try_erase_exif_thumbnail (metadata, NULL);
  g_auto (GStrv) tags = gexiv2_metadata_get_exif_tags (metadata);
  if (tags[0] == NULL) /* a directory of absurd length is left unread without an error */
    return FALSE;
  guint kept = 0;
  for (guint i = 0; tags[i] != NULL; i++)
    if (keeps_exif (tags[i], keep_location))
      kept++;
    else
      gexiv2_metadata_try_clear_tag (metadata, tags[i], NULL);
  if (kept == 0)
    return TRUE;
  gexiv2_metadata_try_set_tag_long (metadata, "Exif.Image.Orientation", 1, NULL);
  gexiv2_metadata_try_set_tag_long (metadata, "Exif.Photo.PixelXDimension", width, NULL);
  gexiv2_metadata_try_set_tag_long (metadata, "Exif.Photo.PixelYDimension", height, NULL);

  gsize n = 0;
  const guint8 *given = g_bytes_get_data (from->exif, &n);
  g_autoptr (GBytes) exif = gexiv2_metadata_get_exif_data (
      metadata, given[0] == 'M' ? GEXIV2_BYTE_ORDER_BIG : GEXIV2_BYTE_ORDER_LITTLE, NULL);
  if (exif == NULL)
    return FALSE;
  const guint8 *data = g_bytes_get_data (exif, &n);
  /* PNG 3rd edition, 11.3.4.5: without the name that JPEG puts in front. */
  if (n > 6 && memcmp (data, "Exif\0", 6) == 0)
    {
      data += 6;
      n -= 6;
    }
  if (n < 8)
    return FALSE;
  GByteArray *chunk = g_byte_array_new ();
  append (chunk, data, n);
  add_chunk (chunks, "eXIf", chunk);
  return TRUE;
}

/* --- XMP ------------------------------------------------------------------------------------- */

static gboolean
keeps_xmp (const char *tag, gboolean keep_location)
{
  static const char *const dropped[] = {
    "Xmp.tiff.Orientation",
    "Xmp.tiff.ImageWidth",
    "Xmp.tiff.ImageLength",
    "Xmp.xmp.Thumbnails",
    "Xmp.exif.PixelXDimension",
    "Xmp.exif.PixelYDimension",
    "Xmp.photoshop.History",
    "Xmp.xmpGImg.",
    "Xmp.GImage.",
    "Xmp.GDepth.",
    "Xmp.xmpMM.Pantry",
    "Xmp.crs.",
    "Xmp.xmpNote.HasExtendedXMP", /* the rest of it is not there */
  };
  static const char *const places[] = {
    "Xmp.exif.GPS",           "Xmp.iptc.Location",  "Xmp.iptc.CountryCode",
    "Xmp.iptcExt.Location",   "Xmp.photoshop.City", "Xmp.photoshop.State",
    "Xmp.photoshop.Country",  "Xmp.mwg-coll.",      "Xmp.digiKam.PicasawebGPhoto",
    "Xmp.MicrosoftPhoto.GPS", "Xmp.exifEX.GPS",
  };

  for (guint i = 0; i < G_N_ELEMENTS (dropped); i++)
    if (g_str_has_prefix (tag, dropped[i]))
      return FALSE;
  for (guint i = 0; !keep_location && i < G_N_ELEMENTS (places); i++)
    if (g_str_has_prefix (tag, places[i]))
      return FALSE;
  return TRUE;
}

/* Beyond this XMP is given up: only made-up packets have so many properties to take out one by one.
 */
#define CLEARING_TIME G_TIME_SPAN_SECOND

/* With what it is in: a list of places says that there were some, though it be empty. */
static void
clear_xmp (GExiv2Metadata *metadata, char *tag)
{
  gexiv2_metadata_try_clear_tag (metadata, tag, NULL);
  for (gsize n = strlen (tag); n > 0; n--)
    if (tag[n - 1] == '[' || tag[n - 1] == '/')
      {
        tag[n - 1] = '\0';
        /* What holds nothing is not found unless it is given something. */
        gexiv2_metadata_try_set_tag_string (metadata, tag, "-", NULL);
        gexiv2_metadata_try_clear_tag (metadata, tag, NULL);
      }
}

static gboolean
add_xmp (GPtrArray *chunks, const SbMetadata *from, gboolean keep_location)
{
  if (from->xmp == NULL)
    return TRUE;
  g_autoptr (GExiv2Metadata) metadata = sb_exiv2_open (NULL, from->xmp);
  if (metadata == NULL)
    return FALSE;

  g_auto (GStrv) tags = gexiv2_metadata_get_xmp_tags (metadata);
  const gint64 latest = g_get_monotonic_time () + CLEARING_TIME;
  guint kept = 0;
  for (guint i = 0; tags[i] != NULL; i++)
    if (keeps_xmp (tags[i], keep_location))
      kept++;
    else if (g_get_monotonic_time () < latest)
      clear_xmp (metadata, tags[i]);
    else
      return FALSE;
  if (kept == 0)
    return TRUE;
  g_autofree char *packet = gexiv2_metadata_try_generate_xmp_packet (
      metadata, GEXIV2_USE_COMPACT_FORMAT | GEXIV2_OMIT_ALL_FORMATTING, 0, NULL);
  if (packet == NULL || *packet == '\0')
    return FALSE;
  static const char head[] = "XML:com.adobe.xmp\0\0\0\0"; /* not packed, no language */
  GByteArray *chunk = g_byte_array_new ();
  append (chunk, head, sizeof head);
  append (chunk, packet, strlen (packet));
  add_chunk (chunks, "iTXt", chunk);
  return TRUE;
}

/* --- IPTC ------------------------------------------------------------------------------------ */

/* Record 2 of IPTC-IIM 4.2: places are 26, 27, 90, 92, 95, 100, 101; a preview is 200 to 202. */
static gboolean
keeps_iptc (guint record, guint dataset, gboolean keep_location)
{
  if (record != 2)
    return record == 1;
  if (dataset >= 200 && dataset <= 202)
    return FALSE;
  return keep_location
         || !(dataset == 26 || dataset == 27 || dataset == 90 || dataset == 92 || dataset == 95
              || dataset == 100 || dataset == 101);
}

static GByteArray *
filter_iptc (GBytes *iptc, gboolean keep_location)
{
  GByteArray *kept = g_byte_array_new ();
  gsize n = 0, at = 0;
  gboolean any = FALSE;
  const guint8 *data = g_bytes_get_data (iptc, &n);

  while (n - at >= 5 && data[at] == 0x1c)
    {
      const gsize length = (gsize)data[at + 3] << 8 | data[at + 4];
      /* Lengths of more than two bytes are for pictures within. */
      if (length > 0x7fff || n - at - 5 < length)
        break;
      if (keeps_iptc (data[at + 1], data[at + 2], keep_location))
        {
          append (kept, data + at, 5 + length);
          any = any || data[at + 1] == 2;
        }
      at += 5 + length;
    }
  if (!any)
    g_byte_array_set_size (kept, 0);
  return kept;
}

/* As ImageMagick, Exiv2 and ExifTool have it: Photoshop's resource in hex digits, packed. */
static void
add_iptc (GPtrArray *chunks, const SbMetadata *from, gboolean keep_location)
{
  if (from->iptc == NULL)
    return;
  g_autoptr (GByteArray) kept = filter_iptc (from->iptc, keep_location);
  if (kept->len == 0)
    return;
  guint8 head[12] = "8BIM\x04\x04\0";
  for (guint i = 0; i < 4; i++)
    head[8 + i] = (guint8)(kept->len >> (24 - 8 * i));
  g_byte_array_prepend (kept, head, sizeof head);
  if (kept->len & 1)
    g_byte_array_append (kept, (const guint8 *)"", 1);

  g_autoptr (GString) hex = g_string_new (NULL);
  g_string_append_printf (hex, "\niptc\n%8u", kept->len);
  for (guint i = 0; i < kept->len; i++)
    g_string_append_printf (hex, "%s%02x", i % 36 == 0 ? "\n" : "", kept->data[i]);
  g_string_append_c (hex, '\n');

  static const char name[] = "Raw profile type iptc\0"; /* deflate */
  GByteArray *chunk = g_byte_array_new ();
  append (chunk, name, sizeof name);
  append_packed (chunk, hex->str, hex->len);
  add_chunk (chunks, "zTXt", chunk);
}

/* --- texts, resolution ----------------------------------------------------------------------- */

static void
add_text (GPtrArray *chunks, const SbMetadataText *text)
{
  enum
  {
    WORTH_PACKING = 1024
  };
  gsize n_keyword = 0, n = 0;
  g_autofree char *keyword
      = g_convert (text->keyword, -1, "ISO-8859-1", "UTF-8", NULL, &n_keyword, NULL);
  g_autofree char *latin1 = g_convert (text->text, -1, "ISO-8859-1", "UTF-8", NULL, &n, NULL);
  GByteArray *chunk = g_byte_array_new ();

  if (keyword == NULL) /* it came from there, so this is no case */
    {
      g_byte_array_unref (chunk);
      return;
    }
  append (chunk, keyword, n_keyword + 1);
  if (latin1 != NULL && n < WORTH_PACKING)
    {
      append (chunk, latin1, n);
      add_chunk (chunks, "tEXt", chunk);
    }
  else if (latin1 != NULL)
    {
      append (chunk, "", 1);
      append_packed (chunk, latin1, n);
      add_chunk (chunks, "zTXt", chunk);
    }
  else
    {
      append (chunk, "\0\0\0", 4);
      append (chunk, text->text, strlen (text->text));
      add_chunk (chunks, "iTXt", chunk);
    }
}

static void
add_density (GPtrArray *chunks, const SbMetadata *from)
{
  guint32 x = from->density_x, y = from->density_y;
  guint8 data[9];

  if (x == 0 || y == 0)
    sb_metadata_get_exif_density (from, &x, &y);
  if (x == 0 || y == 0)
    return;
  for (guint i = 0; i < 4; i++)
    {
      data[i] = (guint8)(x >> (24 - 8 * i));
      data[4 + i] = (guint8)(y >> (24 - 8 * i));
    }
  data[8] = from->density_is_ratio ? 0 : 1;
  GByteArray *chunk = g_byte_array_new ();
  append (chunk, data, sizeof data);
  add_chunk (chunks, "pHYs", chunk);
}

GPtrArray *
sb_metadata_to_png (const SbMetadata *metadata, guint width, guint height, gboolean keep_location,
                    SbMetadataLoss *lost)
{
  g_return_val_if_fail (metadata != NULL, NULL);
  g_return_val_if_fail (lost != NULL, NULL);

  GPtrArray *chunks = g_ptr_array_new_with_free_func (chunk_free);
  *lost = metadata->lost;
  add_density (chunks, metadata);
  g_mutex_lock (&sb_exiv2_lock);
  if (!add_exif (chunks, metadata, width, height, keep_location))
    *lost |= SB_METADATA_LOST_EXIF;
  if (!add_xmp (chunks, metadata, keep_location))
    *lost |= SB_METADATA_LOST_XMP;
  g_mutex_unlock (&sb_exiv2_lock);
  add_iptc (chunks, metadata, keep_location);
  for (guint i = 0; i < metadata->texts->len; i++)
    add_text (chunks, g_ptr_array_index (metadata->texts, i));
  return chunks;
}
