/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-metadata.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#define LONGEST_KEYWORD 79

static void
text_free (gpointer data)
{
  SbMetadataText *text = data;

  g_free (text->keyword);
  g_free (text->text);
  g_free (text);
}

SbMetadata *
sb_metadata_new (void)
{
  SbMetadata *metadata = g_new0 (SbMetadata, 1);

  g_atomic_ref_count_init (&metadata->references);
  metadata->texts = g_ptr_array_new_with_free_func (text_free);
  return metadata;
}

SbMetadata *
sb_metadata_ref (SbMetadata *metadata)
{
  g_return_val_if_fail (metadata != NULL, NULL);

  g_atomic_ref_count_inc (&metadata->references);
  return metadata;
}

void
sb_metadata_unref (SbMetadata *metadata)
{
  if (metadata == NULL || !g_atomic_ref_count_dec (&metadata->references))
    return;
  g_clear_pointer (&metadata->exif, g_bytes_unref);
  g_clear_pointer (&metadata->xmp, g_bytes_unref);
  g_clear_pointer (&metadata->iptc, g_bytes_unref);
  g_ptr_array_unref (metadata->texts);
  g_free (metadata);
}

/* --- blocks ---------------------------------------------------------------------------------- */

static void
take (SbMetadata *metadata, GBytes **block, SbMetadataLoss kind, gboolean good, const guint8 *data,
      gsize n)
{
  if (*block != NULL || n == 0)
    return;
  if (good && n <= SB_METADATA_MAX_BLOCK)
    *block = g_bytes_new (data, n);
  else
    metadata->lost |= kind;
}

void
sb_metadata_take_exif (SbMetadata *metadata, const guint8 *data, gsize n)
{
  static const guint8 name[6] = "Exif\0";

  if (n > sizeof name && memcmp (data, name, sizeof name) == 0)
    {
      data += sizeof name;
      n -= sizeof name;
    }
  take (metadata, &metadata->exif, SB_METADATA_LOST_EXIF,
        n >= 8 && (memcmp (data, "II*", 4) == 0 || memcmp (data, "MM\0*", 4) == 0), data, n);
}

void
sb_metadata_take_xmp (SbMetadata *metadata, const guint8 *data, gsize n)
{
  while (n > 0 && data[n - 1] == '\0')
    n--;
  take (metadata, &metadata->xmp, SB_METADATA_LOST_XMP,
        g_utf8_validate_len ((const char *)data, n, NULL), data, n);
}

void
sb_metadata_take_iptc (SbMetadata *metadata, const guint8 *data, gsize n)
{
  take (metadata, &metadata->iptc, SB_METADATA_LOST_IPTC, n >= 5 && data[0] == 0x1c, data, n);
}

/* Each resource: "8BIM", a number, a name of bytes counted by its first and padded to an even
 * number, a length, so many bytes padded likewise (Adobe Photoshop File Formats, 2019). */
void
sb_metadata_take_resources (SbMetadata *metadata, const guint8 *data, gsize n)
{
  enum
  {
    IPTC = 0x0404
  };
  gsize at = 0;

  while (n - at >= 12 && memcmp (data + at, "8BIM", 4) == 0)
    {
      const guint id = (guint)data[at + 4] << 8 | data[at + 5];
      const gsize name = ((gsize)data[at + 6] + 2) & ~(gsize)1;
      at += 6;
      if (n - at < name + 4)
        return;
      at += name;
      const gsize length = (gsize)data[at] << 24 | (gsize)data[at + 1] << 16
                           | (gsize)data[at + 2] << 8 | data[at + 3];
      at += 4;
      if (n - at < length)
        return;
      if (id == IPTC)
        sb_metadata_take_iptc (metadata, data + at, length);
      at += MIN (length + (length & 1), n - at);
    }
}

void
sb_metadata_take_dpi (SbMetadata *metadata, double x, double y)
{
  enum
  {
    MOST = 100000
  };

  if (metadata->density_x != 0 || !(x >= 1 && x <= MOST && y >= 1 && y <= MOST))
    return;
  metadata->density_x = (guint32)floor (x / 0.0254 + 0.5);
  metadata->density_y = (guint32)floor (y / 0.0254 + 0.5);
  metadata->density_is_ratio = FALSE;
}

/* --- texts ----------------------------------------------------------------------------------- */

/* What ImageMagick and Exiv2 write: a line with the kind, one with the length, then hex digits. */
static GBytes *
read_raw_profile (const char *text, gsize n)
{
  gsize at = 0, length = 0;

  while (at < n && g_ascii_isspace (text[at]))
    at++;
  while (at < n && text[at] != '\n')
    at++;
  while (at < n && g_ascii_isspace (text[at]))
    at++;
  for (; at < n && g_ascii_isdigit (text[at]); at++)
    {
      length = length * 10 + (gsize)(text[at] - '0');
      if (length > SB_METADATA_MAX_BLOCK)
        return NULL;
    }
  if (length == 0 || length > n / 2)
    return NULL;

  guint8 *data = g_malloc (length);
  gsize digits = 0;
  for (; at < n && digits < 2 * length; at++)
    if (g_ascii_isxdigit (text[at]))
      {
        const guint8 v = (guint8)g_ascii_xdigit_value (text[at]);
        data[digits / 2] = digits % 2 == 0 ? (guint8)(v << 4) : data[digits / 2] | v;
        digits++;
      }
  if (digits < 2 * length)
    {
      g_free (data);
      return NULL;
    }
  return g_bytes_new_take (data, length);
}

static gboolean
take_raw_profile (SbMetadata *metadata, const char *kind, const char *text, gsize n)
{
  gsize length = 0;
  g_autoptr (GBytes) bytes = read_raw_profile (text, n);

  if (bytes == NULL)
    return FALSE;
  const guint8 *data = g_bytes_get_data (bytes, &length);
  if (g_str_equal (kind, "exif") || g_str_equal (kind, "APP1"))
    sb_metadata_take_exif (metadata, data, length);
  else if (g_str_equal (kind, "xmp"))
    sb_metadata_take_xmp (metadata, data, length);
  else if (g_str_equal (kind, "iptc") || g_str_equal (kind, "8bim"))
    {
      if (length >= 4 && memcmp (data, "8BIM", 4) == 0)
        sb_metadata_take_resources (metadata, data, length);
      else
        sb_metadata_take_iptc (metadata, data, length);
    }
  return TRUE;
}

static gboolean
is_keyword (const char *keyword)
{
  const gsize n = strlen (keyword);

  if (n < 1 || n > LONGEST_KEYWORD || keyword[0] == ' ' || keyword[n - 1] == ' '
      || strstr (keyword, "  ") != NULL)
    return FALSE;
  for (const char *c = keyword; *c != '\0'; c++)
    {
      const guint8 v = (guint8)*c;
      if (v < 32 || (v > 126 && v < 161))
        return FALSE;
    }
  return TRUE;
}

static char *
from_latin1 (const char *text, gsize n)
{
  return g_convert (text, (gssize)n, "UTF-8", "ISO-8859-1", NULL, NULL, NULL);
}

#define XMP_KEYWORD "XML:com.adobe.xmp"
#define RAW_KEYWORD "Raw profile type "

static void
lose_text (SbMetadata *metadata, const char *keyword)
{
  if (g_str_equal (keyword, XMP_KEYWORD) || g_str_equal (keyword, RAW_KEYWORD "xmp"))
    metadata->lost |= SB_METADATA_LOST_XMP;
  else if (g_str_equal (keyword, RAW_KEYWORD "exif") || g_str_equal (keyword, RAW_KEYWORD "APP1"))
    metadata->lost |= SB_METADATA_LOST_EXIF;
  else if (g_str_equal (keyword, RAW_KEYWORD "iptc") || g_str_equal (keyword, RAW_KEYWORD "8bim"))
    metadata->lost |= SB_METADATA_LOST_IPTC;
  else if (!g_str_has_prefix (keyword, RAW_KEYWORD))
    metadata->lost |= SB_METADATA_LOST_TEXT;
}

/* keyword: Latin-1, as it stands in the file. */
static void
add_text (SbMetadata *metadata, const char *keyword, const char *text, gsize n, gboolean utf8)
{
  if (!is_keyword (keyword))
    {
      metadata->lost |= SB_METADATA_LOST_TEXT;
      return;
    }
  if (g_str_equal (keyword, XMP_KEYWORD))
    {
      sb_metadata_take_xmp (metadata, (const guint8 *)text, n);
      return;
    }
  if (g_str_has_prefix (keyword, RAW_KEYWORD))
    {
      /* Of other kinds nobody can tell what they hold. */
      if (!take_raw_profile (metadata, keyword + strlen (RAW_KEYWORD), text, n))
        lose_text (metadata, keyword);
      return;
    }
  /* A small copy of the picture for folders of files is an old picture too. */
  if (g_str_has_prefix (keyword, "Thumb::"))
    return;
  if (n > SB_METADATA_MAX_TEXTS - metadata->texts_bytes)
    {
      metadata->lost |= SB_METADATA_LOST_TEXT;
      return;
    }

  const char *end = memchr (text, '\0', n);
  const gsize length = end != NULL ? (gsize)(end - text) : n;
  SbMetadataText *one = g_new0 (SbMetadataText, 1);
  one->keyword = from_latin1 (keyword, strlen (keyword));
  one->text = utf8 ? g_utf8_make_valid (text, (gssize)length) : from_latin1 (text, length);
  if (one->keyword == NULL || one->text == NULL)
    {
      metadata->lost |= SB_METADATA_LOST_TEXT;
      text_free (one);
      return;
    }
  metadata->texts_bytes += n + strlen (keyword);
  g_ptr_array_add (metadata->texts, one);
}

void
sb_metadata_take_text (SbMetadata *metadata, const char *keyword, const char *text, gsize n)
{
  add_text (metadata, keyword, text, n, TRUE);
}

/* No more than the largest block: what is larger is left out, not cut. */
static guint8 *
unpack (const guint8 *data, gsize n, gsize *unpacked)
{
  const gsize most = SB_METADATA_MAX_BLOCK;
  gsize room = MIN (most, MAX (n * 4, 1024));
  guint8 *out = NULL;
  z_stream z = { .next_in = (Bytef *)data, .avail_in = (uInt)n };
  int result = Z_OK;

  if (inflateInit (&z) != Z_OK)
    return NULL;
  while (result == Z_OK)
    {
      out = g_realloc (out, room);
      z.next_out = out + z.total_out;
      z.avail_out = (uInt)(room - z.total_out);
      result = inflate (&z, Z_NO_FLUSH);
      if (result == Z_OK && z.avail_out > 0)
        break; /* cut short */
      if (result == Z_OK && room == most)
        break;
      room = MIN (most, room * 2);
    }
  *unpacked = z.total_out;
  inflateEnd (&z);
  if (result != Z_STREAM_END)
    g_clear_pointer (&out, g_free);
  return out;
}

/* PNG 3rd edition, 11.3.3: a keyword and a zero before the rest. FALSE where it is damaged. */
static gboolean
take_png_text (SbMetadata *metadata, const char type[4], const guint8 *data, gsize n)
{
  const guint8 *zero = memchr (data, 0, n);
  gboolean packed = memcmp (type, "zTXt", 4) == 0;
  gboolean utf8 = FALSE;

  const char *keyword = (const char *)data;
  const guint8 *body = zero + 1;
  gsize left = (gsize)(data + n - body);
  if (memcmp (type, "iTXt", 4) == 0)
    {
      /* packed or not, the method, a language and a translated keyword, each ended by a zero */
      if (left < 2)
        return FALSE;
      packed = body[0] != 0;
      utf8 = TRUE;
      body += 1;
      left -= 1;
      if (packed && body[0] != 0)
        return FALSE;
      body += 1;
      left -= 1;
      for (guint i = 0; i < 2; i++)
        {
          const guint8 *end = left > 0 ? memchr (body, 0, left) : NULL;
          if (end == NULL)
            return FALSE;
          left -= (gsize)(end + 1 - body);
          body = end + 1;
        }
    }
  else if (packed)
    {
      if (left < 1 || body[0] != 0)
        return FALSE;
      body += 1;
      left -= 1;
    }

  if (!packed)
    {
      add_text (metadata, keyword, (const char *)body, left, utf8);
      return TRUE;
    }
  gsize unpacked = 0;
  if (metadata->unpacked_bytes > SB_METADATA_MAX_UNPACKED)
    return FALSE;
  g_autofree guint8 *text = unpack (body, left, &unpacked);
  metadata->unpacked_bytes += unpacked;
  if (text == NULL)
    return FALSE;
  add_text (metadata, keyword, (const char *)text, unpacked, utf8);
  return TRUE;
}

void
sb_metadata_take_png_text (SbMetadata *metadata, const char type[4], const guint8 *data, gsize n)
{
  if (n == 0 || n > SB_METADATA_MAX_BLOCK * 2 || memchr (data, 0, n) == NULL)
    metadata->lost |= SB_METADATA_LOST_TEXT;
  else if (!take_png_text (metadata, type, data, n))
    lose_text (metadata, (const char *)data);
}
