/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <glib/gi18n-lib.h>

/* Binary anymaps with more than 8 bits, P5 and P6 with a greatest value of 256 to 65535 (netpbm's
 * pgm(5) and ppm(5)): two bytes a sample, the more significant first. Those of 8 bits and in
 * plain text are gdk-pixbuf's. */

/* A number of the header and the one white space behind it, with comments before it; 0 where there
 * is none. */
static guint
read_number (SbReader *reader)
{
  guint8 c = 0;
  guint number = 0;
  gsize n = sb_reader_read (reader, &c, 1);

  while (n == 1 && (g_ascii_isspace (c) || c == '#'))
    {
      if (c == '#')
        while (n == 1 && c != '\n')
          n = sb_reader_read (reader, &c, 1);
      n = sb_reader_read (reader, &c, 1);
    }
  for (; n == 1 && g_ascii_isdigit (c); n = sb_reader_read (reader, &c, 1))
    number = MIN (number * 10 + (c - '0'), 100000000u);
  return n == 1 && g_ascii_isspace (c) ? number : 0;
}

/* round (v * 65535 / maximum), and white for what is above the maximum. */
static guint16
scale (const guint8 *sample, guint maximum)
{
  const guint v = MIN ((guint)sample[0] << 8 | sample[1], maximum);

  return (guint16)(((guint64)v * 65535 + maximum / 2) / maximum);
}

SbImage *
sb_image_load_pnm (SbReader *reader, GError **error)
{
  guint8 kind[2] = { 0 };

  sb_reader_read (reader, kind, sizeof kind);
  const guint channels = kind[1] == '6' ? 3 : 1;
  const guint width = read_number (reader);
  const guint height = read_number (reader);
  const guint maximum = read_number (reader);
  if (maximum < 256 || maximum > 65535)
    {
      if (!sb_reader_take_error (reader, error))
        sb_reader_set_error (reader, error, _ ("the file is damaged"));
      return NULL;
    }
  if (!sb_reader_check_size (reader, width, height, error))
    return NULL;
  const gsize row_bytes = (gsize)width * channels * 2;
  /* What cannot hold a row gets no memory for thousands of them. */
  const guint64 read = reader->done - (reader->end - reader->start);
  if (reader->total > 0 && (reader->total < read || reader->total - read < row_bytes))
    {
      sb_reader_set_error (reader, error, _ ("the file is incomplete"));
      return NULL;
    }
  g_autoptr (SbImage) image = sb_image_new (width, height, 16, error);
  if (image == NULL)
    return NULL;

  g_autofree guint8 *row = g_malloc (row_bytes);
  guint16 *to = (guint16 *)sb_image_writable (image);
  gsize n_rows = 0;
  for (guint y = 0; y < height; y++)
    {
      const gboolean whole = n_rows == y && sb_reader_read (reader, row, row_bytes) == row_bytes;
      n_rows += whole ? 1 : 0;
      for (guint x = 0; x < width; x++, to += 4)
        {
          for (guint c = 0; c < 3; c++)
            to[c] = whole
                        ? scale (row + 2 * ((gsize)x * channels + (channels == 3 ? c : 0)), maximum)
                        : 0;
          to[3] = 65535;
        }
    }
  if (sb_reader_take_error (reader, error))
    return NULL;
  if (n_rows == 0)
    {
      sb_reader_set_error (reader, error, _ ("the file is incomplete"));
      return NULL;
    }
  if (n_rows < height)
    sb_image_add_warning (image, _ ("The file is incomplete: a part of the picture may be missing "
                                    "or blurred."));
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();
  metadata->format = "PNM";
  sb_image_set_metadata (image, metadata);
  return g_steal_pointer (&image);
}
