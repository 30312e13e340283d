/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-png-rows.h"

#include <string.h>

/* Rows are filtered in blocks of a constant length: loops of known length are what compilers
 * vectorise without being asked twice. Buffers are padded to whole blocks, and begin with a
 * pixel of zeros, the left neighbour of the first. */
#define BLOCK 64
#define LEFT  8

enum
{
  SUB = 1,
  UP = 2,
  AVERAGE = 3,
  PAETH = 4
};

void
sb_png_rows_init (SbPngRows *rows, SbImage *image, guint depth)
{
  rows->image = image;
  rows->depth = depth != 0 ? depth : sb_image_get_depth (image);
  rows->opaque = sb_image_is_opaque (image);
  rows->bpp = (rows->opaque ? 3 : 4) * (rows->depth / 8);
  rows->row_bytes = (gsize)sb_image_get_width (image) * rows->bpp;
}

/* --- samples --------------------------------------------------------------------------------- */

#define DEFINE_PACK(name, from_type, per_pixel, ...)                                               \
  static void name (const void *from_row, guint8 *to, gsize width)                                 \
  {                                                                                                \
    const from_type *from = from_row;                                                              \
    for (gsize x = 0; x < width; x++, from += 4)                                                   \
      for (guint c = 0; c < per_pixel; c++)                                                        \
        {                                                                                          \
          const guint v = from[c];                                                                 \
          __VA_ARGS__                                                                              \
        }                                                                                          \
  }

DEFINE_PACK (pack_8_to_8_rgb, guint8, 3, *to++ = (guint8)v;)
DEFINE_PACK (pack_8_to_16_rgb, guint8, 3, *to++ = (guint8)v; *to++ = (guint8)v;)
DEFINE_PACK (pack_8_to_16_rgba, guint8, 4, *to++ = (guint8)v; *to++ = (guint8)v;)
DEFINE_PACK (pack_16_to_8_rgb, guint16, 3, *to++ = (guint8)((v * 255 + 32895) >> 16);)
DEFINE_PACK (pack_16_to_8_rgba, guint16, 4, *to++ = (guint8)((v * 255 + 32895) >> 16);)
DEFINE_PACK (pack_16_to_16_rgb, guint16, 3, *to++ = (guint8)(v >> 8); *to++ = (guint8)v;)
DEFINE_PACK (pack_16_to_16_rgba, guint16, 4, *to++ = (guint8)(v >> 8); *to++ = (guint8)v;)

static void
pack_row (const SbPngRows *rows, gsize y, guint8 *to)
{
  const guint8 *from = sb_image_get_pixels (rows->image) + y * sb_image_get_stride (rows->image);
  const gsize width = sb_image_get_width (rows->image);
  const gboolean wide = sb_image_get_depth (rows->image) == 16;

  if (!wide && rows->depth == 8 && rows->opaque)
    pack_8_to_8_rgb (from, to, width);
  else if (!wide && rows->depth == 8)
    memcpy (to, from, rows->row_bytes);
  else if (!wide)
    (rows->opaque ? pack_8_to_16_rgb : pack_8_to_16_rgba) (from, to, width);
  else if (rows->depth == 8)
    (rows->opaque ? pack_16_to_8_rgb : pack_16_to_8_rgba) (from, to, width);
  else
    (rows->opaque ? pack_16_to_16_rgb : pack_16_to_16_rgba) (from, to, width);
}

/* --- filters --------------------------------------------------------------------------------- */

static inline guint
distance (guint8 v)
{
  return v < 128 ? v : 256u - v;
}

/* x: the sample; a: left; b: above; c: above left. */
#define DEFINE_FILTER(name, ...)                                                                   \
  static guint64 name (const guint8 *restrict row, const guint8 *restrict above, gsize bpp,        \
                       guint8 *restrict to, gsize padded)                                          \
  {                                                                                                \
    guint64 sum = 0;                                                                               \
    for (gsize at = 0; at < padded; at += BLOCK)                                                   \
      {                                                                                            \
        const guint8 *restrict px = row + at;                                                      \
        const guint8 *restrict pa = row + at - bpp;                                                \
        const guint8 *restrict pb = above + at;                                                    \
        const guint8 *restrict pc = above + at - bpp;                                              \
        guint8 *restrict out = to + at;                                                            \
        guint block = 0;                                                                           \
        for (guint i = 0; i < BLOCK; i++)                                                          \
          {                                                                                        \
            const gint16 x = px[i], a = pa[i], b = pb[i], c = pc[i];                               \
            (void)x, (void)a, (void)b, (void)c;                                                    \
            __VA_ARGS__                                                                            \
          }                                                                                        \
        for (guint i = 0; i < BLOCK; i++)                                                          \
          block += distance (out[i]);                                                              \
        sum += block;                                                                              \
      }                                                                                            \
    return sum;                                                                                    \
  }

DEFINE_FILTER (filter_sub, out[i] = (guint8)(x - a);)
DEFINE_FILTER (filter_up, out[i] = (guint8)(x - b);)
DEFINE_FILTER (filter_average, out[i] = (guint8)(x - ((a + b) >> 1));)
/* PNG 3rd edition, 9.4: the neighbour nearest to a + b - c, ties in the order a, b, c. */
DEFINE_FILTER (filter_paeth, const gint16 da = (gint16)(b - c); const gint16 db = (gint16)(a - c);
               const gint16 dc = (gint16)(da + db); const gint16 na = (gint16)(da < 0 ? -da : da);
               const gint16 nb = (gint16)(db < 0 ? -db : db);
               const gint16 nc = (gint16)(dc < 0 ? -dc : dc); const gint16 bc = nb <= nc ? b : c;
               const gint16 nbc = nb <= nc ? nb : nc; const gint16 p = na <= nbc ? a : bc;
               out[i] = (guint8)(x - p);)

/* The filter whose differences are smallest in sum; ties go to the lowest number. */
static void
filter_row (const SbPngRows *rows, const guint8 *row, const guint8 *above, guint8 *scratch,
            gsize padded, guint8 *to)
{
  static guint64 (*const filters[]) (const guint8 *restrict, const guint8 *restrict, gsize,
                                     guint8 *restrict, gsize)
      = { NULL, filter_sub, filter_up, filter_average, filter_paeth };
  guint64 least = G_MAXUINT64;
  guint best = SUB;

  for (guint f = SUB; f <= PAETH; f++)
    {
      const guint64 sum = filters[f](row, above, rows->bpp, scratch + f * padded, padded);
      if (sum < least)
        {
          least = sum;
          best = f;
        }
    }
  to[0] = (guint8)best;
  memcpy (to + 1, scratch + best * padded, rows->row_bytes);
}

gboolean
sb_png_rows_filter (const SbPngRows *rows, guint first, guint n, guint8 *to)
{
  const gsize padded = (rows->row_bytes + BLOCK - 1) / BLOCK * BLOCK;
  const gsize one = LEFT + padded;
  guint8 *memory = g_try_malloc0 (2 * one + 5 * padded);

  if (memory == NULL)
    return FALSE;
  guint8 *above = memory + LEFT;
  guint8 *row = memory + one + LEFT;
  guint8 *scratch = memory + 2 * one;
  if (first > 0)
    pack_row (rows, first - 1, above);
  for (guint i = 0; i < n; i++)
    {
      pack_row (rows, first + i, row);
      filter_row (rows, row, above, scratch, padded, to + i * (rows->row_bytes + 1));
      guint8 *done = above;
      above = row;
      row = done;
    }
  g_free (memory);
  return TRUE;
}
