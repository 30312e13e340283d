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
sb_png_rows_init (SbPngRows *rows, SbImage *image, guint depth, gboolean dither, gboolean interlace)
{
  static const guint adam7[7][4] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 },
                                     { 0, 2, 2, 4 }, { 1, 0, 2, 2 }, { 0, 1, 1, 2 } };
  static const guint whole[1][4] = { { 0, 0, 1, 1 } };
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);

  rows->image = image;
  rows->depth = depth != 0 ? depth : sb_image_get_depth (image);
  rows->opaque = sb_image_is_opaque (image);
  rows->dither = dither && rows->depth == 8 && sb_image_get_depth (image) == 16;
  rows->bpp = (rows->opaque ? 3 : 4) * (rows->depth / 8);
  rows->n_passes = 0;
  rows->n_rows = 0;
  for (guint i = 0; i < (interlace ? 7u : 1u); i++)
    {
      const guint *pass = interlace ? adam7[i] : whole[i];
      if (pass[0] >= width || pass[1] >= height)
        continue;
      const guint n = (height - pass[1] + pass[3] - 1) / pass[3];
      rows->passes[rows->n_passes++] = (SbPngPass){
        pass[0],      pass[1], pass[2], pass[3], (width - pass[0] + pass[2] - 1) / pass[2],
        rows->n_rows, n
      };
      rows->n_rows += n;
    }
}

static const SbPngPass *
find_pass (const SbPngRows *rows, guint row)
{
  const SbPngPass *pass = rows->passes;

  while (row >= pass->first + pass->n_rows)
    pass++;
  return pass;
}

gsize
sb_png_rows_bytes (const SbPngRows *rows, guint row)
{
  return (gsize)find_pass (rows, row)->width * rows->bpp + 1;
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

/* Thresholds that fill the plane evenly in any direction: the fractions of x / p + y / p^2, where p
 * = 1.3247… solves p^3 = p + 1, as numbers of 32 bits. All channels share them, so greys stay
 * greys. */
#define DITHER_X 0xc13fa9a9u
#define DITHER_Y 0x91e10da5u

static void
dither_row (const guint16 *from, guint8 *to, gsize width, guint channels, guint32 at, guint32 step)
{
  for (gsize x = 0; x < width; x++, from += 4, at += step)
    for (guint c = 0; c < channels; c++)
      {
        /* v / 257 for all v of 16 bits */
        const guint32 v = from[c], q = (v * 65281u) >> 24, r = v - 257 * q;
        *to++ = (guint8)(q + (r * 65536 > (at >> 16) * 257 ? 1 : 0));
      }
}

/* Every step-th pixel of a row, side by side. */
static const guint8 *
gather (const guint8 *from, guint8 *to, gsize width, gsize step, gsize pixel)
{
  for (gsize x = 0; x < width; x++)
    memcpy (to + x * pixel, from + x * step * pixel, pixel);
  return to;
}

/* scratch: room for a row of the image, or NULL where no pixel of a row is left out. */
static void
pack_row (const SbPngRows *rows, const SbPngPass *pass, guint row, guint8 *scratch, guint8 *to)
{
  const gsize y = pass->y + (gsize)(row - pass->first) * pass->step_y;
  const gsize pixel = sb_image_get_depth (rows->image) / 2;
  const gsize width = pass->width;
  const gboolean wide = sb_image_get_depth (rows->image) == 16;
  const guint8 *from
      = sb_image_get_pixels (rows->image) + y * sb_image_get_stride (rows->image) + pass->x * pixel;

  if (pass->step_x > 1)
    from = gather (from, scratch, width, pass->step_x, pixel);
  if (rows->dither)
    dither_row ((const guint16 *)from, to, width, rows->opaque ? 3 : 4,
                pass->x * DITHER_X + (guint32)y * DITHER_Y, pass->step_x * DITHER_X);
  else if (!wide && rows->depth == 8 && rows->opaque)
    pack_8_to_8_rgb (from, to, width);
  else if (!wide && rows->depth == 8)
    memcpy (to, from, width * rows->bpp);
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
            gsize row_bytes, gsize padded, guint8 *to)
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
  memcpy (to + 1, scratch + best * padded, row_bytes);
}

/* Rows of one pass. memory: two rows with their left neighbours, five filtered ones, a row of the
 * image; all zero at first. */
static void
filter_pass (const SbPngRows *rows, const SbPngPass *pass, guint first, guint n, guint8 *memory,
             guint8 *to)
{
  const gsize row_bytes = (gsize)pass->width * rows->bpp;
  const gsize padded = (row_bytes + BLOCK - 1) / BLOCK * BLOCK;
  guint8 *above = memory + LEFT;
  guint8 *row = memory + 2 * LEFT + padded;
  guint8 *scratch = memory + 2 * (LEFT + padded);
  guint8 *gathered = scratch + 5 * padded;

  memset (memory, 0, 2 * (LEFT + padded));
  if (first > pass->first)
    pack_row (rows, pass, first - 1, gathered, above);
  for (guint i = 0; i < n; i++)
    {
      pack_row (rows, pass, first + i, gathered, row);
      filter_row (rows, row, above, scratch, row_bytes, padded, to + i * (row_bytes + 1));
      guint8 *done = above;
      above = row;
      row = done;
    }
}

gboolean
sb_png_rows_filter (const SbPngRows *rows, guint first, guint n, guint8 *to)
{
  const gsize widest = (gsize)sb_image_get_width (rows->image) * rows->bpp;
  const gsize padded = (widest + BLOCK - 1) / BLOCK * BLOCK;
  guint8 *memory
      = g_try_malloc (2 * (LEFT + padded) + 5 * padded + sb_image_get_stride (rows->image));

  if (memory == NULL)
    return FALSE;
  while (n > 0)
    {
      const SbPngPass *pass = find_pass (rows, first);
      const guint some = MIN (n, pass->first + pass->n_rows - first);
      filter_pass (rows, pass, first, some, memory, to);
      to += some * ((gsize)pass->width * rows->bpp + 1);
      first += some;
      n -= some;
    }
  g_free (memory);
  return TRUE;
}
