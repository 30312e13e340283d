/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-metadata.h"

#include <string.h>

/* Directories of TIFF 6.0 and EXIF 2.32: a count of entries of 12 bytes each, a tag, a type, a
 * count of values, and the values or where they are. Copied entry by entry into a new structure of
 * the same byte order; never read past the end of the file. */

enum
{
  TAG_EXIF = 0x8769,
  TAG_GPS = 0x8825,
  ENTRY = 12,
  MOST_ENTRIES = 1000,
  MOST_VALUES = 1 << 16, /* bytes of one entry */
};

typedef struct
{
  SbReadAtFunc read_at;
  gpointer user_data;
  gboolean big;
  GByteArray *out;
} Copy;

static guint
get16 (const Copy *copy, const guint8 *p)
{
  return copy->big ? (guint)p[0] << 8 | p[1] : (guint)p[1] << 8 | p[0];
}

static guint32
get32 (const Copy *copy, const guint8 *p)
{
  return copy->big ? (guint32)get16 (copy, p) << 16 | get16 (copy, p + 2)
                   : (guint32)get16 (copy, p + 2) << 16 | get16 (copy, p);
}

static void
put16 (const Copy *copy, guint8 *p, guint v)
{
  p[copy->big ? 1 : 0] = (guint8)v;
  p[copy->big ? 0 : 1] = (guint8)(v >> 8);
}

static void
put32 (const Copy *copy, guint8 *p, guint32 v)
{
  put16 (copy, p + (copy->big ? 2 : 0), v & 0xffff);
  put16 (copy, p + (copy->big ? 0 : 2), v >> 16);
}

static gboolean
get (const Copy *copy, guint64 at, guint8 *to, gsize n)
{
  return copy->read_at (copy->user_data, at, to, n) == n;
}

/* Of the first directory: about the picture, not about its samples. */
static gboolean
is_wanted (guint tag)
{
  static const guint16 tags[] = {
    0x010d, 0x010e,   0x010f,  0x0110, /* name, description, make, model */
    0x011a, 0x011b,   0x0128,          /* resolution */
    0x0131, 0x0132,   0x013b,  0x013c, /* software, date, artist, computer */
    0x8298, TAG_EXIF, TAG_GPS,         /* copyright */
  };

  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    if (tags[i] == tag)
      return TRUE;
  return FALSE;
}

/* Copies a directory to the end of what there is; the offset it has there, or 0. */
static guint32
copy_directory (Copy *copy, guint64 at, gboolean first)
{
  static const guint8 sizes[] = { 0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8 };
  g_autofree guint8 *entries = g_malloc0 ((gsize)MOST_ENTRIES * ENTRY);
  guint kept = 0;

  guint8 count[2], next[4] = { 0 };
  if (!get (copy, at, count, sizeof count))
    return 0;
  const guint n = MIN (get16 (copy, count), MOST_ENTRIES);
  for (guint i = 0; i < n; i++)
    {
      guint8 entry[ENTRY];
      if (!get (copy, at + 2 + (guint64)i * ENTRY, entry, ENTRY))
        break;
      guint8 *to = entries + (gsize)kept * ENTRY;
      const guint tag = get16 (copy, entry), type = get16 (copy, entry + 2);
      const guint64 bytes
          = type < sizeof sizes ? (guint64)sizes[type] * get32 (copy, entry + 4) : 0;

      if (bytes == 0 || bytes > MOST_VALUES || (first && !is_wanted (tag)))
        continue;
      memcpy (to, entry, ENTRY);
      if (tag == TAG_EXIF || tag == TAG_GPS)
        {
          /* One level down and no farther: a directory that names itself ends there. */
          const guint32 offset = first ? copy_directory (copy, get32 (copy, entry + 8), FALSE) : 0;
          if (offset == 0)
            continue;
          put32 (copy, to + 8, offset);
        }
      else if (bytes > 4)
        {
          const guint start = copy->out->len;
          if (start > SB_METADATA_MAX_BLOCK)
            continue;
          g_byte_array_set_size (copy->out, start + (guint)(bytes + (bytes & 1)));
          copy->out->data[copy->out->len - 1] = 0;
          if (!get (copy, get32 (copy, entry + 8), copy->out->data + start, (gsize)bytes))
            {
              g_byte_array_set_size (copy->out, start);
              continue;
            }
          put32 (copy, to + 8, start);
        }
      kept++;
    }
  if (kept == 0)
    return 0;

  const guint32 offset = copy->out->len;
  put16 (copy, count, kept);
  g_byte_array_append (copy->out, count, sizeof count);
  g_byte_array_append (copy->out, entries, kept * ENTRY);
  g_byte_array_append (copy->out, next, sizeof next);
  return offset;
}

GBytes *
sb_metadata_exif_from_tiff (SbReadAtFunc read_at, gpointer user_data, guint64 first)
{
  guint8 head[8] = { 0 };

  if (read_at (user_data, 0, head, 4) != 4
      || (memcmp (head, "II*", 4) != 0 && memcmp (head, "MM\0*", 4) != 0))
    return NULL;

  Copy copy = { read_at, user_data, head[0] == 'M', g_byte_array_new () };
  g_byte_array_append (copy.out, head, sizeof head);
  const guint32 offset = copy_directory (&copy, first, TRUE);
  if (offset == 0)
    {
      g_byte_array_unref (copy.out);
      return NULL;
    }
  put32 (&copy, copy.out->data + 4, offset);
  return g_byte_array_free_to_bytes (copy.out);
}
