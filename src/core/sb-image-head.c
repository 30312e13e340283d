/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-head.h"

#include <string.h>

const char *
sb_head_name_format (const guint8 *head, gsize n)
{
  static const struct
  {
    guint8 offset;
    const char *bytes;
    const char *name;
  } formats[] = {
    { 4, "ftypheic", "HEIC" },    { 4, "ftypheix", "HEIC" },
    { 4, "ftyphevc", "HEIC" },    { 4, "ftypmif1", "HEIF" },
    { 4, "ftypmsf1", "HEIF" },    { 4, "ftypavif", "AVIF" },
    { 4, "ftypavis", "AVIF" },    { 4, "JXL \r\n\x87\n", "JPEG XL" },
    { 0, "\xff\x0a", "JPEG XL" }, { 8, "WEBP", "WebP" },
    { 0, "8BPS", "Photoshop" },   { 4, "jP  \r\n\x87\n", "JPEG 2000" },
    { 0, "%PDF", "PDF" },         { 0, "gimp xcf", "GIMP" },
    { 0, "v/1\x01", "OpenEXR" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      const gsize length = strlen (formats[i].bytes);
      if (n >= formats[i].offset + length
          && memcmp (head + formats[i].offset, formats[i].bytes, length) == 0)
        return formats[i].name;
    }
  return NULL;
}

/* The third number after the two letters, with comments anywhere. */
guint
sb_head_anymap_maximum (const guint8 *head, gsize n)
{
  guint numbers[3] = { 0 };
  gsize at = 2;

  if (n < 3 || head[0] != 'P'
      || !(head[1] == '2' || head[1] == '3' || head[1] == '5' || head[1] == '6'))
    return 0;
  for (guint i = 0; i < 3; i++)
    {
      while (at < n && (g_ascii_isspace (head[at]) || head[at] == '#'))
        if (head[at++] == '#')
          while (at < n && head[at] != '\n')
            at++;
      for (; at < n && g_ascii_isdigit (head[at]); at++)
        numbers[i] = MIN (numbers[i] * 10 + (head[at] - '0'), 1000000u);
    }
  return numbers[2];
}

/* --- AVIF and HEIF --------------------------------------------------------------------------- */

static gboolean
is_iso_file (const guint8 *head, gsize n)
{
  return n >= 12 && memcmp (head + 4, "ftyp", 4) == 0;
}

/* The boxes that set the decoder up tell (AV1-ISOBMFF 2.3.3: bit 6 of the third byte; ISO/IEC
 * 14496-15 8.3.3.1: the low three bits of the eighteenth, plus 8). */
static gboolean
is_deep_iso_file (const guint8 *head, gsize n)
{
  for (gsize at = 8; at + 4 + 18 <= n; at++)
    if ((memcmp (head + at, "av1C", 4) == 0 && (head[at + 4 + 2] & 0x40) != 0)
        || (memcmp (head + at, "hvcC", 4) == 0 && (head[at + 4 + 17] & 7) != 0))
      return TRUE;
  return FALSE;
}

/* Items of the type Exif, and of a media type, which is XMP's (ISO/IEC 14496-12 8.11.6; 23008-12
 * A.2, A.3). */
static SbMetadataLoss
find_iso_items (const guint8 *head, gsize n)
{
  SbMetadataLoss found = 0;

  for (gsize at = 8; at + 18 <= n; at++)
    if (memcmp (head + at, "infe", 4) == 0)
      {
        /* after a version, flags, a number of two or four bytes, and two more */
        const guint8 *type = head + at + (head[at + 4] == 3 ? 14 : 12);
        found |= memcmp (type, "Exif", 4) == 0   ? SB_METADATA_LOST_EXIF
                 : memcmp (type, "mime", 4) == 0 ? SB_METADATA_LOST_XMP
                                                 : 0;
      }
  return found;
}

/* --- JPEG XL --------------------------------------------------------------------------------- */

/* ISO/IEC 18181-1: bits from the lowest on; behind the end they are 0. */
typedef struct
{
  const guint8 *bytes;
  gsize n, at; /* n in bytes, at in bits */
} Bits;

static guint
take_bits (Bits *bits, guint count)
{
  guint value = 0;

  for (guint i = 0; i < count; i++, bits->at++)
    if (bits->at / 8 < bits->n)
      value |= (guint)(bits->bytes[bits->at / 8] >> bits->at % 8 & 1) << i;
  return value;
}

/* One of four: as many bits as are given. */
static guint
take_one_of (Bits *bits, const guint8 widths[4])
{
  return take_bits (bits, widths[take_bits (bits, 2)]);
}

/* A height, and a width where it is not one of seven ratios of it; both of no interest here. */
static void
skip_size (Bits *bits, const guint8 widths[4], const guint8 eighths[4])
{
  const gboolean in_eighths = take_bits (bits, 1) != 0;

  take_one_of (bits, in_eighths ? eighths : widths);
  if (take_bits (bits, 3) == 0)
    take_one_of (bits, in_eighths ? eighths : widths);
}

/* A size of the picture has no choice of widths for eighths: five bits always. */
static void
skip_picture_size (Bits *bits)
{
  static const guint8 widths[4] = { 9, 13, 18, 30 };
  const gboolean in_eighths = take_bits (bits, 1) != 0;

  for (guint side = 0; side < 2; side++)
    {
      if (in_eighths)
        take_bits (bits, 5);
      else
        take_one_of (bits, widths);
      if (side == 0 && take_bits (bits, 3) != 0)
        break;
    }
}

/* Bits a sample, of the codestream: past what may come before (D.2, D.3). */
static guint
codestream_depth (const guint8 *codestream, gsize n)
{
  static const guint8 preview[4] = { 6, 8, 10, 12 }, preview_eighths[4] = { 0, 0, 5, 9 };
  static const guint8 numerator[4] = { 0, 0, 10, 30 }, denominator[4] = { 0, 0, 8, 10 };
  static const guint8 loops[4] = { 0, 3, 16, 32 };
  Bits bits = { codestream, n, 16 };

  skip_picture_size (&bits);
  if (take_bits (&bits, 1) != 0)
    return 8; /* all as usual */
  if (take_bits (&bits, 1) != 0)
    {
      take_bits (&bits, 3); /* orientation */
      if (take_bits (&bits, 1) != 0)
        skip_picture_size (&bits);
      if (take_bits (&bits, 1) != 0)
        skip_size (&bits, preview, preview_eighths);
      if (take_bits (&bits, 1) != 0)
        {
          take_one_of (&bits, numerator);
          take_one_of (&bits, denominator);
          take_one_of (&bits, loops);
          take_bits (&bits, 1);
        }
    }
  if (take_bits (&bits, 1) != 0)
    return 32; /* floating point has 16 at least */
  switch (take_bits (&bits, 2))
    {
    case 0:
      return 8;
    case 1:
      return 10;
    case 2:
      return 12;
    default:
      return 1 + take_bits (&bits, 6);
    }
}

/* Calls back with each box of the container: its type and what of its content is in the head. A
 * bare codestream is one box. Until one answers TRUE. */
static void
each_box (const guint8 *head, gsize n,
          gboolean (*look) (const char *type, const guint8 *content, gsize n, gpointer user_data),
          gpointer user_data)
{
  if (n >= 2 && memcmp (head, "\xff\x0a", 2) == 0)
    {
      look ("jxlc", head, n, user_data);
      return;
    }
  if (n < 12 || memcmp (head, "\0\0\0\x0cJXL \r\n\x87\n", 12) != 0)
    return;
  for (guint64 at = 12; at + 8 <= n;)
    {
      guint64 size = 0;
      guint header = 8;

      for (guint i = 0; i < 4; i++)
        size = size << 8 | head[at + i];
      if (size == 1 && at + 16 <= n)
        {
          for (guint i = 8; i < 16; i++)
            size = size << 8 | head[at + i];
          header = 16;
        }
      /* 0: to the end of the file. */
      const guint64 end = size == 0 ? n : at + MIN (size, (guint64)n);
      if (size != 0 && size < header)
        return;
      if (look ((const char *)head + at + 4, head + at + header,
                (gsize)(MIN (end, n) - MIN (at + header, n)), user_data))
        return;
      at = end;
    }
}

static gboolean
look_for_depth (const char *type, const guint8 *content, gsize n, gpointer user_data)
{
  guint *depth = user_data;
  /* A part of it begins with its number. */
  const gsize number = memcmp (type, "jxlp", 4) == 0 ? 4 : 0;

  if ((number == 0 && memcmp (type, "jxlc", 4) != 0) || n < number)
    return FALSE;
  *depth = codestream_depth (content + number, n - number);
  return TRUE;
}

static gboolean
look_for_metadata (const char *type, const guint8 *content, gsize n, gpointer user_data)
{
  SbMetadataLoss *found = user_data;

  /* Packed, its own type is inside. */
  if (memcmp (type, "brob", 4) == 0 && n >= 4)
    type = (const char *)content;
  if (memcmp (type, "Exif", 4) == 0)
    *found |= SB_METADATA_LOST_EXIF;
  else if (memcmp (type, "xml ", 4) == 0)
    *found |= SB_METADATA_LOST_XMP;
  return FALSE;
}

/* --- All of them ----------------------------------------------------------------------------- */

gboolean
sb_head_is_deep (const guint8 *head, gsize n)
{
  guint depth = 8;

  if (sb_head_anymap_maximum (head, n) > 255)
    return TRUE;
  if (is_iso_file (head, n))
    return is_deep_iso_file (head, n);
  each_box (head, n, look_for_depth, &depth);
  return depth > 8;
}

SbMetadataLoss
sb_head_find_loss (const guint8 *head, gsize n)
{
  SbMetadataLoss found = 0;

  if (is_iso_file (head, n))
    return find_iso_items (head, n);
  each_box (head, n, look_for_metadata, &found);
  return found;
}
