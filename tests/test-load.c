/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-color.h"
#include "sb-error.h"
#include "sb-image-private.h"

#include <fcntl.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gio/gunixinputstream.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tiffio.h>
#include <unistd.h>

#define LIMIT ((guint64)2 << 30)

/* AddressSanitizer takes terabytes of addresses for itself: no test can bound them then. */
#if defined(__SANITIZE_ADDRESS__)
#define BOUNDABLE FALSE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BOUNDABLE FALSE
#endif
#endif
#ifndef BOUNDABLE
#define BOUNDABLE TRUE
#endif

/* --- pictures made here, by libpng alone ----------------------------------------------------- */

typedef struct
{
  guint width;
  guint height;
  int depth;
  int color_type;
  int interlace;
  const guint8 *rows; /* as in the file: big-endian, packed */
  gsize stride;
  guint orientation; /* 0: no eXIf */
  gboolean late;     /* eXIf after the pixels */
  const png_color *palette;
  int n_palette;
  const guint8 *palette_alpha;
  int n_alpha;
  const png_color_16 *transparent;
} Source;

static void
on_write (png_structp png, png_bytep data, size_t n)
{
  g_byte_array_append (png_get_io_ptr (png), data, (guint)n);
}

static void
on_flush (png_structp png)
{
}

static void
write_exif (png_structp png, guint orientation)
{
  /* Big-endian TIFF of one entry: tag 0x112, SHORT, one value. */
  const guint8 exif[26]
      = { 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, (guint8)orientation };

  png_write_chunk (png, (png_const_bytep) "eXIf", exif, sizeof exif);
}

static GBytes *
write_png (const Source *source)
{
  GByteArray *out = g_byte_array_new ();
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);

  if (setjmp (png_jmpbuf (png)) != 0)
    g_error ("libpng cannot write the picture of the test");
  png_set_write_fn (png, out, on_write, on_flush);
  png_set_IHDR (png, info, source->width, source->height, source->depth, source->color_type,
                source->interlace, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  if (source->palette != NULL)
    png_set_PLTE (png, info, source->palette, source->n_palette);
  if (source->palette_alpha != NULL || source->transparent != NULL)
    png_set_tRNS (png, info, source->palette_alpha, source->n_alpha, source->transparent);
  png_write_info (png, info);
  if (source->orientation != 0 && !source->late)
    write_exif (png, source->orientation);
  const int passes = png_set_interlace_handling (png);
  for (int pass = 0; pass < passes; pass++)
    for (guint y = 0; y < source->height; y++)
      png_write_row (png, source->rows + y * source->stride);
  if (source->orientation != 0 && source->late)
    write_exif (png, source->orientation);
  png_write_end (png, NULL);
  png_destroy_write_struct (&png, &info);
  return g_byte_array_free_to_bytes (out);
}

static SbImage *
load_bytes (GBytes *bytes, GError **error)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);

  return sb_image_load_stream (stream, "bytes", LIMIT, NULL, error);
}

static SbImage *
load_source (const Source *source)
{
  g_autoptr (GBytes) bytes = write_png (source);
  g_autoptr (GError) error = NULL;
  SbImage *image = load_bytes (bytes, &error);

  g_assert_no_error (error);
  g_assert_nonnull (image);
  g_assert_null (sb_image_get_warnings (image)[0]);
  return image;
}

/* The pixel as RRGGBBAA, or RRRRGGGGBBBBAAAA at 16 bits. */
static guint64
pixel (SbImage *image, guint x, guint y)
{
  const guint8 *row = sb_image_get_pixels (image) + y * sb_image_get_stride (image);
  guint64 value = 0;

  for (guint c = 0; c < 4; c++)
    if (sb_image_get_depth (image) == 8)
      value = value << 8 | row[4 * x + c];
    else
      value = value << 16 | ((const guint16 *)row)[4 * x + c];
  return value;
}

static void
assert_pixel (SbImage *image, guint x, guint y, guint64 want)
{
  const guint64 is = pixel (image, x, y);

  if (is != want)
    g_error ("pixel %u %u is %0*" G_GINT64_MODIFIER "x, want %0*" G_GINT64_MODIFIER "x", x, y,
             (int)sb_image_get_depth (image), is, (int)sb_image_get_depth (image), want);
}

static void
test_grey_bits (void)
{
  static const guint8 row1[1] = { 0xa0 };       /* 1 0 1 */
  static const guint8 row2[1] = { 0x1b };       /* 0 1 2 3 */
  static const guint8 row4[2] = { 0x07, 0xf0 }; /* 0 7 15 */
  static const guint8 row8[3] = { 0, 100, 255 };
  static const guint8 row16[6] = { 0, 1, 0x12, 0x34, 0xff, 0xfe };

  g_autoptr (SbImage) one
      = load_source (&(Source){ .width = 3, .height = 1, .depth = 1, .rows = row1 });
  assert_pixel (one, 0, 0, 0xffffffff);
  assert_pixel (one, 1, 0, 0x000000ff);
  assert_pixel (one, 2, 0, 0xffffffff);
  g_autoptr (SbImage) two
      = load_source (&(Source){ .width = 4, .height = 1, .depth = 2, .rows = row2 });
  assert_pixel (two, 0, 0, 0x000000ff);
  assert_pixel (two, 1, 0, 0x555555ff);
  assert_pixel (two, 2, 0, 0xaaaaaaff);
  assert_pixel (two, 3, 0, 0xffffffff);
  g_autoptr (SbImage) four
      = load_source (&(Source){ .width = 3, .height = 1, .depth = 4, .rows = row4 });
  assert_pixel (four, 1, 0, 0x777777ff);
  assert_pixel (four, 2, 0, 0xffffffff);
  g_autoptr (SbImage) eight
      = load_source (&(Source){ .width = 3, .height = 1, .depth = 8, .rows = row8 });
  assert_pixel (eight, 1, 0, 0x646464ff);
  g_assert_cmpuint (sb_image_get_depth (eight), ==, 8);
  g_autoptr (SbImage) wide
      = load_source (&(Source){ .width = 3, .height = 1, .depth = 16, .rows = row16 });
  g_assert_cmpuint (sb_image_get_depth (wide), ==, 16);
  assert_pixel (wide, 0, 0, 0x000100010001ffff);
  assert_pixel (wide, 1, 0, 0x123412341234ffff);
  assert_pixel (wide, 2, 0, 0xfffefffefffeffff);
}

static void
test_transparent_color (void)
{
  static const guint8 grey[3] = { 76, 77, 78 };
  static const guint8 wide[12]
      = { 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x41, 0x40, 0x40, 0x40, 0x40 };
  const png_color_16 grey77 = { .gray = 77 };
  const png_color_16 wide4040 = { .red = 0x4040, .green = 0x4040, .blue = 0x4040 };

  g_autoptr (SbImage) a = load_source (
      &(Source){ .width = 3, .height = 1, .depth = 8, .rows = grey, .transparent = &grey77 });
  assert_pixel (a, 0, 0, 0x4c4c4cff);
  assert_pixel (a, 1, 0, 0x4d4d4d00);
  assert_pixel (a, 2, 0, 0x4e4e4eff);
  g_autoptr (SbImage) b = load_source (&(Source){ .width = 2,
                                                  .height = 1,
                                                  .depth = 16,
                                                  .color_type = PNG_COLOR_TYPE_RGB,
                                                  .rows = wide,
                                                  .transparent = &wide4040 });
  assert_pixel (b, 0, 0, 0x4040404040400000);
  assert_pixel (b, 1, 0, 0x404140404040ffff);
}

static void
test_palette (void)
{
  static const guint8 row[3] = { 0, 1, 2 };
  static const png_color colors[3] = { { 255, 0, 0 }, { 0, 200, 0 }, { 1, 2, 3 } };
  static const guint8 alpha[2] = { 0, 128 };

  g_autoptr (SbImage) image = load_source (&(Source){ .width = 3,
                                                      .height = 1,
                                                      .depth = 8,
                                                      .color_type = PNG_COLOR_TYPE_PALETTE,
                                                      .rows = row,
                                                      .palette = colors,
                                                      .n_palette = 3,
                                                      .palette_alpha = alpha,
                                                      .n_alpha = 2 });
  assert_pixel (image, 0, 0, 0xff000000);
  assert_pixel (image, 1, 0, 0x00c80080);
  assert_pixel (image, 2, 0, 0x010203ff);
}

/* Interlaced or not is the same picture, at every small size and both depths. */
static void
test_interlaced (void)
{
  guint8 rows[16 * 16 * 8];
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (gsize i = 0; i < sizeof rows; i++)
    rows[i] = (guint8)g_rand_int (rand);
  for (guint depth = 8; depth <= 16; depth += 8)
    for (guint width = 1; width <= 16; width++)
      for (guint height = 1; height <= 16; height++)
        {
          Source source = { .width = width,
                            .height = height,
                            .depth = (int)depth,
                            .color_type = PNG_COLOR_TYPE_RGB_ALPHA,
                            .rows = rows,
                            .stride = width * depth / 2 };
          g_autoptr (SbImage) plain = load_source (&source);
          source.interlace = PNG_INTERLACE_ADAM7;
          g_autoptr (SbImage) interlaced = load_source (&source);
          g_assert_true (sb_image_equal (plain, interlaced));
          for (guint i = 0; i < 4; i++)
            {
              const guint8 *sample = rows + i * depth / 8;
              const guint shown = depth == 8
                                      ? sb_image_get_pixels (plain)[i]
                                      : ((const guint16 *)sb_image_get_pixels (plain))[i] >> 8;
              g_assert_cmpuint (shown, ==, sample[0]);
            }
        }
}

/* A picture of 3 × 2 numbers, stored the eight ways EXIF 2.3 (table of tag 274) tells of, seen
 * upright as 1 2 3 / 4 5 6. */
static void
test_orientation (void)
{
  static const guint8 stored[9][6] = {
    { 1, 2, 3, 4, 5, 6 }, { 1, 2, 3, 4, 5, 6 }, /* 0: no tag; 1: as it is */
    { 3, 2, 1, 6, 5, 4 },                       /* 2: row 0 is the top, column 0 the right */
    { 6, 5, 4, 3, 2, 1 },                       /* 3: bottom, right */
    { 4, 5, 6, 1, 2, 3 },                       /* 4: bottom, left */
    { 1, 4, 2, 5, 3, 6 },                       /* 5: row 0 is the left, column 0 the top */
    { 3, 6, 2, 5, 1, 4 },                       /* 6: right, top */
    { 6, 3, 5, 2, 4, 1 },                       /* 7: right, bottom */
    { 4, 1, 5, 2, 6, 3 },                       /* 8: left, bottom */
  };
  guint8 wide[12];

  for (guint depth = 8; depth <= 16; depth += 8)
    for (guint late = 0; late < 2; late++)
      for (guint o = 0; o <= 9; o++)
        {
          const guint8 *numbers = stored[o == 9 ? 1 : o]; /* 9 is undefined: as 1 */
          const gboolean turned = o >= 5 && o <= 8;
          Source source = { .width = turned ? 2 : 3,
                            .height = turned ? 3 : 2,
                            .depth = (int)depth,
                            .rows = numbers,
                            .orientation = o,
                            .late = (gboolean)late };
          source.stride = source.width * depth / 8;
          for (guint i = 0; depth == 16 && i < 6; i++)
            {
              wide[2 * i] = numbers[i];
              wide[2 * i + 1] = numbers[i];
              source.rows = wide;
            }
          g_autoptr (SbImage) image = load_source (&source);
          g_assert_cmpuint (sb_image_get_width (image), ==, 3);
          g_assert_cmpuint (sb_image_get_height (image), ==, 2);
          for (guint i = 0; i < 6; i++)
            assert_pixel (image, i % 3, i / 3,
                          depth == 8 ? (i + 1) * 0x01010100u + 0xffu
                                     : (i + 1) * G_GUINT64_CONSTANT (0x0101010101010000) + 0xffffu);
        }
}

/* --- TIFF, made here by libtiff -------------------------------------------------------------- */

typedef struct
{
  guint bits;
  guint samples;
  gint extra; /* -1: not told */
  guint format;
  guint photometric;
  guint planar;
  guint tile; /* 0: one row a strip */
  guint orientation;
  guint pages;
} Tiff;

/* A picture of 3 × 2 pixels whose samples are given row by row, pixel by pixel. */
static GBytes *
write_tiff (const Tiff *kind, const void *samples)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "softbox-test-XXXXXX", NULL);
  const int fd = g_mkstemp (path);
  TIFF *tiff = TIFFFdOpen (fd, path, "w");
  const gsize size = kind->bits / 8;
  char *data = NULL;
  gsize n = 0;

  g_assert_nonnull (tiff);
  for (guint page = 0; page < MAX (kind->pages, 1); page++)
    {
      const guint16 extra = (guint16)kind->extra;
      TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, 3);
      TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, 2);
      TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, kind->bits);
      TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, kind->samples);
      TIFFSetField (tiff, TIFFTAG_SAMPLEFORMAT, kind->format);
      TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, kind->photometric);
      TIFFSetField (tiff, TIFFTAG_PLANARCONFIG, kind->planar);
      TIFFSetField (tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
      TIFFSetField (tiff, TIFFTAG_ORIENTATION, MAX (kind->orientation, 1));
      if (kind->extra >= 0)
        TIFFSetField (tiff, TIFFTAG_EXTRASAMPLES, 1, &extra);
      if (kind->tile != 0)
        {
          TIFFSetField (tiff, TIFFTAG_TILEWIDTH, kind->tile);
          TIFFSetField (tiff, TIFFTAG_TILELENGTH, kind->tile);
        }
      else
        TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, 1);

      const guint planes = kind->planar == PLANARCONFIG_SEPARATE ? kind->samples : 1;
      const guint in_row = kind->samples / planes;
      const guint width = kind->tile != 0 ? kind->tile : 3;
      for (guint plane = 0; plane < planes; plane++)
        {
          guint8 block[16 * 16 * 16] = { 0 };
          for (guint y = 0; y < 2; y++)
            {
              guint8 *row = block + (kind->tile != 0 ? y * width * in_row * size : 0);
              for (guint x = 0; x < 3; x++)
                memcpy (row + x * in_row * size,
                        (const guint8 *)samples + ((y * 3 + x) * kind->samples + plane) * size,
                        in_row * size);
              if (kind->tile == 0)
                g_assert_cmpint (TIFFWriteScanline (tiff, row, y, (guint16)plane), ==, 1);
            }
          if (kind->tile != 0)
            g_assert_cmpint (TIFFWriteTile (tiff, block, 0, 0, 0, (guint16)plane), >, 0);
        }
      g_assert_cmpint (TIFFWriteDirectory (tiff), ==, 1);
    }
  TIFFClose (tiff);
  g_assert_true (g_file_get_contents (path, &data, &n, NULL));
  g_unlink (path);
  return g_bytes_new_take (data, n);
}

static SbImage *
load_tiff (const Tiff *kind, const void *samples, gboolean warns)
{
  g_autoptr (GBytes) bytes = write_tiff (kind, samples);
  g_autoptr (GError) error = NULL;
  SbImage *image = load_bytes (bytes, &error);

  g_assert_no_error (error);
  g_assert_nonnull (image);
  g_assert_true ((sb_image_get_warnings (image)[0] != NULL) == warns);
  return image;
}

/* Samples as they are, in strips, tiles and planes; alpha straight, whichever way it is stored. */
static void
test_tiff_samples (void)
{
  static const guint8 s8[24] = { 255, 128, 0,  131, 1, 2, 3, 0,   9,  8,  7,  255,
                                 10,  20,  30, 40,  5, 5, 5, 200, 77, 66, 55, 44 };
  guint16 s16[24];

  for (guint i = 0; i < 24; i++)
    s16[i] = (guint16)(s8[i] * 257 + (i % 4 != 3 ? i : 0));
  for (guint tile = 0; tile <= 16; tile += 16)
    for (guint planar = PLANARCONFIG_CONTIG; planar <= PLANARCONFIG_SEPARATE; planar++)
      for (gint extra = -1; extra <= EXTRASAMPLE_UNASSALPHA; extra++)
        {
          Tiff kind = { .bits = 8,
                        .samples = 4,
                        .extra = extra,
                        .format = SAMPLEFORMAT_UINT,
                        .photometric = PHOTOMETRIC_RGB,
                        .planar = planar,
                        .tile = tile };
          if (extra == EXTRASAMPLE_ASSOCALPHA)
            continue; /* below */
          g_autoptr (SbImage) a = load_tiff (&kind, s8, FALSE);
          kind.bits = 16;
          g_autoptr (SbImage) b = load_tiff (&kind, s16, FALSE);
          g_assert_cmpuint (sb_image_get_depth (a), ==, 8);
          g_assert_cmpuint (sb_image_get_depth (b), ==, 16);
          for (guint i = 0; i < 24; i++)
            {
              /* A sample that is said to be no alpha is none. */
              const gboolean none = i % 4 == 3 && extra == EXTRASAMPLE_UNSPECIFIED;
              g_assert_cmpuint (sb_image_get_pixels (a)[i], ==, none ? 255 : s8[i]);
              g_assert_cmpuint (((const guint16 *)sb_image_get_pixels (b))[i], ==,
                                none ? 65535 : s16[i]);
            }
        }

  static const guint8 multiplied[24]
      = { 131, 66, 0, 131, 0, 0, 0, 0, 9, 8, 7, 255, 1, 2, 3, 4, 1, 1, 1, 2, 0, 0, 0, 1 };
  const Tiff kind = { .bits = 8,
                      .samples = 4,
                      .extra = EXTRASAMPLE_ASSOCALPHA,
                      .format = SAMPLEFORMAT_UINT,
                      .photometric = PHOTOMETRIC_RGB,
                      .planar = PLANARCONFIG_CONTIG };
  g_autoptr (SbImage) image = load_tiff (&kind, multiplied, FALSE);
  assert_pixel (image, 0, 0, 0xff800083); /* 66 * 255 / 131 = 128.5 */
  assert_pixel (image, 1, 0, 0x00000000);
  assert_pixel (image, 2, 0, 0x090807ff);
  assert_pixel (image, 0, 1, 0x4080bf04); /* 63.75, 127.5, 191.25 */
  assert_pixel (image, 1, 1, 0x80808002);
}

static void
test_tiff_grey (void)
{
  static const guint16 grey[6] = { 0, 1, 0x1234, 0xfffe, 0xffff, 300 };
  Tiff kind = { .bits = 16,
                .samples = 1,
                .extra = -1,
                .format = SAMPLEFORMAT_UINT,
                .photometric = PHOTOMETRIC_MINISBLACK,
                .planar = PLANARCONFIG_CONTIG };

  g_autoptr (SbImage) black = load_tiff (&kind, grey, FALSE);
  assert_pixel (black, 2, 0, 0x123412341234ffff);
  kind.photometric = PHOTOMETRIC_MINISWHITE;
  g_autoptr (SbImage) white = load_tiff (&kind, grey, FALSE);
  assert_pixel (white, 0, 0, 0xffffffffffffffff);
  assert_pixel (white, 2, 0, 0xedcbedcbedcbffff);
  kind.orientation = 6; /* row 0 is the right, column 0 the top */
  kind.photometric = PHOTOMETRIC_MINISBLACK;
  kind.pages = 2;
  g_autoptr (SbImage) turned = load_tiff (&kind, grey, TRUE); /* of the second page */
  g_assert_cmpuint (sb_image_get_width (turned), ==, 2);
  assert_pixel (turned, 1, 0, 0x000000000000ffff);
  assert_pixel (turned, 0, 0, 0xfffefffefffeffff);
  assert_pixel (turned, 1, 2, 0x123412341234ffff);
}

static void
test_tiff_float (void)
{
  static const float plain[6] = { 0, 1, 0.5f, 1.0f / 65535, 0.25f, 0.75f };
  static const float wild[6] = { -1, 4, NAN, INFINITY, -INFINITY, 0.5f };
  const Tiff kind = { .bits = 32,
                      .samples = 1,
                      .extra = -1,
                      .format = SAMPLEFORMAT_IEEEFP,
                      .photometric = PHOTOMETRIC_MINISBLACK,
                      .planar = PLANARCONFIG_CONTIG };

  g_autoptr (SbImage) a = load_tiff (&kind, plain, FALSE);
  assert_pixel (a, 1, 0, 0xffffffffffffffff);
  assert_pixel (a, 2, 0, 0x800080008000ffff); /* 32767.5 and up */
  assert_pixel (a, 0, 1, 0x000100010001ffff);
  g_autoptr (SbImage) b = load_tiff (&kind, wild, TRUE);
  assert_pixel (b, 0, 0, 0x000000000000ffff);
  assert_pixel (b, 1, 0, 0xffffffffffffffff);
  assert_pixel (b, 2, 0, 0x000000000000ffff);
  assert_pixel (b, 0, 1, 0xffffffffffffffff);
  assert_pixel (b, 1, 1, 0x000000000000ffff);
  assert_pixel (b, 2, 1, 0x800080008000ffff);
}

/* Samples of other widths, rounded to 16 bits. */
static void
test_tiff_wide (void)
{
  /* 1, 0.5, 2 ^ -14 and the least of halves; below 0, not a number */
  static const guint16 halves[6] = { 0x3c00, 0x3800, 0x0400, 0x0001, 0x8400, 0x7e00 };
  static const double doubles[6] = { 1, 0.5, 0.25, 1.0 / 65535, 1e300, -1e-300 };
  static const guint32 words[6] = { 0, 0xffffffff, 65537, 32768, 32769, 0x80000000 };
  /* 0 is black: what is below is cut off, and told. */
  static const gint16 shorts[6] = { 0, 32767, 16384, 1, 32766, 100 };
  static const gint16 below[6] = { -1, -32768, 0, 32767, -300, 2 };
  static const gint32 longs[6] = { G_MAXINT32, 1 << 30, 32767, 1, 0, 16384 };
  const struct
  {
    guint bits, format;
    const void *samples;
    gboolean warns;
    guint16 right[6];
  } kinds[] = {
    { 16, SAMPLEFORMAT_IEEEFP, halves, TRUE, { 65535, 32768, 4, 0, 0, 0 } },
    { 64, SAMPLEFORMAT_IEEEFP, doubles, TRUE, { 65535, 32768, 16384, 1, 65535, 0 } },
    { 32, SAMPLEFORMAT_UINT, words, FALSE, { 0, 65535, 1, 0, 1, 32768 } },
    { 16, SAMPLEFORMAT_INT, shorts, FALSE, { 0, 65535, 32769, 2, 65533, 200 } },
    { 16, SAMPLEFORMAT_INT, below, TRUE, { 0, 0, 0, 65535, 0, 4 } },
    { 32, SAMPLEFORMAT_INT, longs, FALSE, { 65535, 32768, 1, 0, 0, 0 } },
  };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      const Tiff kind = { .bits = kinds[k].bits,
                          .samples = 1,
                          .extra = -1,
                          .format = kinds[k].format,
                          .photometric = PHOTOMETRIC_MINISBLACK,
                          .planar = PLANARCONFIG_CONTIG };
      g_autoptr (SbImage) image = load_tiff (&kind, kinds[k].samples, kinds[k].warns);
      for (guint i = 0; i < 6; i++)
        assert_pixel (image, i % 3, i / 3,
                      kinds[k].right[i] * G_GUINT64_CONSTANT (0x0001000100010000) + 0xffffu);
    }
}

static void
test_tiff_signed_bytes (void)
{
  static const gint8 bytes[6] = { 0, 127, 64, 1, -1, -128 };
  Tiff kind = { .bits = 8,
                .samples = 1,
                .extra = -1,
                .format = SAMPLEFORMAT_INT,
                .photometric = PHOTOMETRIC_MINISBLACK,
                .planar = PLANARCONFIG_CONTIG };
  g_autoptr (SbImage) image = load_tiff (&kind, bytes, TRUE);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (sb_image_get_depth (image), ==, 8);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpuint (sb_image_get_pixels (image)[4 * i], ==,
                      ((const guint8[6]){ 0, 255, 129, 2, 0, 0 })[i]);

  /* Complex numbers are no picture. */
  kind.format = SAMPLEFORMAT_COMPLEXINT;
  g_autoptr (GBytes) complex = write_tiff (&kind, bytes);
  g_assert_null (load_bytes (complex, &error));
  g_assert_nonnull (strstr (error->message, "samples of this kind are not supported"));
}

/* Pixels, packed as they come, of 16 × 4 in one strip. */
static SbImage *
load_packed (guint compression, guint bits, const char *packed, gsize n)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "softbox-test-XXXXXX", NULL);
  const int fd = g_mkstemp (path);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  TIFF *tiff = TIFFFdOpen (fd, path, "w");
  g_autoptr (GError) error = NULL;

  g_assert_nonnull (tiff);
  TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, 16);
  TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, 4);
  TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField (tiff, TIFFTAG_COMPRESSION, compression);
  TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, 4);
  g_assert_cmpint (TIFFWriteRawStrip (tiff, 0, (void *)packed, (tmsize_t)n), ==, (tmsize_t)n);
  TIFFClose (tiff);

  SbImage *image = sb_image_load (file, 0, NULL, &error);
  g_unlink (path);
  g_assert_no_error (error);
  return image;
}

/* Decoders that only mutter and go on: the picture is shown, and that it is damaged is told. */
static void
test_tiff_damaged (void)
{
  static const char zeros[64] = { 0 };
  const struct
  {
    guint compression, bits;
    const char *packed;
    gsize n;
    gboolean warns;
  } kinds[] = {
    { COMPRESSION_CCITTFAX4, 1, zeros, 64, TRUE },
    { COMPRESSION_CCITTFAX3, 1, zeros, 64, TRUE },
    /* Each bit: as the line before, which was white at first. */
    { COMPRESSION_CCITTFAX4, 1, "\xf0\x01\x00\x10", 4, FALSE },
    { COMPRESSION_PACKBITS, 8, "\xf1\x20\xf1\x20\xf1\x20\xf1\x20", 8, FALSE },
    { COMPRESSION_PACKBITS, 8, "\xf1\x20\xf1\x20\xf1\x20\x81\x20", 8, TRUE },
  };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      g_autoptr (SbImage) image
          = load_packed (kinds[k].compression, kinds[k].bits, kinds[k].packed, kinds[k].n);
      const char *warning = sb_image_get_warnings (image)[0];

      g_assert_cmpuint (sb_image_get_height (image), ==, 4);
      if (!kinds[k].warns)
        g_assert_null (warning);
      else if (warning == NULL || strstr (warning, "incomplete or damaged") == NULL)
        g_test_fail_printf ("kind %u: %s", k, warning);
    }
}

/* A header that claims much, and less than a row behind it. */
static void
test_short_anymap (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "softbox-test-XXXXXX", NULL);
  const int fd = g_mkstemp (path);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (write (fd, "P5\n20000 20000\n65535\n12345678", 30), ==, 30);
  close (fd);
  g_assert_null (sb_image_load (file, 0, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "the file is incomplete"));
  unlink (path);
}

/* --- the collection of odd and hostile files ------------------------------------------------- */

static gboolean
near (const char *want, SbImage *image, guint x, guint y, gint tolerance)
{
  const guint64 value = g_ascii_strtoull (want, NULL, 16);
  const guint8 *row = sb_image_get_pixels (image) + y * sb_image_get_stride (image);
  gint is[4];

  for (guint c = 0; c < 4; c++)
    is[c] = sb_image_get_depth (image) == 8
                ? row[4 * x + c]
                : (((const guint16 *)row)[4 * x + c] * 255 + 32895) >> 16;
  for (guint c = 0; c < 4; c++)
    {
      const gint right = (gint)(value >> (24 - 8 * c) & 0xff);
      if (ABS (is[c] - right) > tolerance && (c == 3 || (value & 0xff) != 0))
        return FALSE;
    }
  return TRUE;
}

static gboolean
loader_installed (const char *name)
{
  g_autoptr (GSList) formats = gdk_pixbuf_get_formats ();

  for (GSList *at = formats; at != NULL; at = at->next)
    {
      g_autofree char *format = gdk_pixbuf_format_get_name (at->data);
      if (g_str_equal (format, name))
        return TRUE;
    }
  return FALSE;
}

/* Files that open with a word to the user though nothing of the picture is wrong. */
static gboolean
may_warn (const char *file)
{
  static const char *const files[]
      = { "color/png_iccp_truncated.png",  "color/png_iccp_garbage.png", "color/png_cicp_pq.png",
          "color/jpeg_icc_chunk_lies.jpg", "jpeg/cmyk_with_rgb_icc.jpg", NULL };

  return g_strv_contains (files, file);
}

enum
{
  FILE_COLUMN,
  WIDTH,
  HEIGHT,
  BITS,
  CORNERS,
  CORNERS_SRGB,
  TOLERANCE,
  PROBES,
  EXPECT,
  N_COLUMNS
};

static void
check_picture (SbImage *image, char **row)
{
  if (g_str_equal (row[WIDTH], "-"))
    return;
  const guint width = (guint)g_ascii_strtoull (row[WIDTH], NULL, 10);
  const guint height = (guint)g_ascii_strtoull (row[HEIGHT], NULL, 10);
  g_assert_cmpuint (sb_image_get_width (image), ==, width);
  g_assert_cmpuint (sb_image_get_height (image), ==, height);
  if (g_str_has_suffix (row[FILE_COLUMN], ".png"))
    g_assert_cmpuint (sb_image_get_depth (image), ==, g_str_equal (row[BITS], "16") ? 16 : 8);

  if (!g_str_equal (row[CORNERS], "-"))
    {
      g_auto (GStrv) corners = g_strsplit (row[CORNERS], " ", 4);
      for (guint i = 0; i < 4; i++)
        if (!near (corners[i], image, i % 2 == 0 ? 0 : width - 1, i / 2 == 0 ? 0 : height - 1,
                   (gint)g_ascii_strtoll (row[TOLERANCE], NULL, 10)))
          g_error ("corner %u is %" G_GINT64_MODIFIER "x, want %s", i,
                   pixel (image, i % 2 == 0 ? 0 : width - 1, i / 2 == 0 ? 0 : height - 1),
                   corners[i]);
    }
  /* On the screen: through the display table, over nothing. */
  if (!g_str_equal (row[CORNERS_SRGB], "-"))
    {
      g_auto (GStrv) corners = g_strsplit (row[CORNERS_SRGB], " ", 4);
      SbColorTable *table = sb_color_table_new (sb_image_get_profile (image));
      for (guint i = 0; i < 4; i++)
        {
          const guint64 v = pixel (image, i % 2 == 0 ? 0 : width - 1, i / 2 == 0 ? 0 : height - 1);
          const guint64 right = g_ascii_strtoull (corners[i], NULL, 16);
          guint16 shown[3];
          for (guint c = 0; c < 3; c++)
            shown[c] = sb_image_get_depth (image) == 8 ? (guint16)((v >> (24 - 8 * c) & 0xff) * 257)
                                                       : (guint16)(v >> (48 - 16 * c));
          if (table != NULL)
            sb_color_table_apply (table, shown, shown);
          for (guint c = 0; c < 3; c++)
            g_assert_cmpint (
                ABS ((int)(shown[c] / 257.0 + 0.5) - (int)(right >> (24 - 8 * c) & 0xff)), <=,
                3 + g_ascii_strtoll (row[TOLERANCE], NULL, 10));
        }
      sb_color_table_unref (table);
    }
  if (!g_str_equal (row[PROBES], "-"))
    {
      g_auto (GStrv) probes = g_strsplit (row[PROBES], " ", -1);
      for (guint i = 0; probes[i] != NULL; i++)
        {
          guint x = 0, y = 0;
          guint64 value = 0;
          g_assert_cmpint (sscanf (probes[i], "%u,%u=%" G_GINT64_MODIFIER "x", &x, &y, &value), ==,
                           3);
          assert_pixel (image, x, y, value << 16 | 0xffff); /* 16 bits, opaque */
        }
    }
}

static void
check_row (const char *folder, char **row)
{
  g_autofree char *relative = g_uri_unescape_string (row[FILE_COLUMN], NULL);
  g_autofree char *path = g_build_filename (folder, relative, NULL);
  g_autofree char *base = g_path_get_basename (relative);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  const gint64 before = g_get_monotonic_time ();

  g_test_message ("%s: %s", row[FILE_COLUMN], row[EXPECT]);
  g_autoptr (SbImage) image = sb_image_load (file, LIMIT, NULL, &error);
  g_assert_cmpint (g_get_monotonic_time () - before, <, 10 * G_USEC_PER_SEC);
  g_assert_true ((image == NULL) == (error != NULL));

  const gboolean webp = image == NULL && error != NULL && strstr (error->message, "WebP") != NULL;
  if (webp && !loader_installed ("webp"))
    return; /* said so: that is right where no loader is installed */
  if (g_str_equal (row[EXPECT], "error"))
    g_assert_null (image);
  else if (!g_str_equal (row[EXPECT], "either"))
    g_assert_no_error (error);
  if (image == NULL)
    {
      g_assert_nonnull (strstr (error->message, base));
      return;
    }

  const gboolean warned = sb_image_get_warnings (image)[0] != NULL;
  if (g_str_equal (row[EXPECT], "ok_warn"))
    g_assert_true (warned);
  else if (g_str_equal (row[EXPECT], "ok") && !may_warn (row[FILE_COLUMN]))
    g_assert_cmpstr (sb_image_get_warnings (image)[0], ==, NULL);
  if (!g_str_equal (row[EXPECT], "either"))
    check_picture (image, row);
}

static void
test_collection (void)
{
  g_autofree char *folder = g_test_build_filename (G_TEST_DIST, "data", "corpus", NULL);
  g_autofree char *path = g_build_filename (folder, "manifest.tsv", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 2; lines[i] != NULL && lines[i][0] != '\0'; i++, n++) /* note, head, rows */
    {
      g_auto (GStrv) row = g_strsplit (lines[i], "\t", -1);
      g_assert_cmpuint (g_strv_length (row), ==, N_COLUMNS);
      check_row (folder, row);
    }
  g_assert_cmpuint (n, >=, 150);
}

static SbImage *
load_from_collection (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "corpus", name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_load (file, LIMIT, NULL, &error);

  g_assert_no_error (error);
  return image;
}

static void
test_profiles (void)
{
  g_autoptr (SbImage) p3 = load_from_collection ("color/png_iccp_p3.png");
  g_autoptr (SbImage) jpeg = load_from_collection ("color/jpeg_icc_display_p3.jpg");
  g_autoptr (SbImage) grey = load_from_collection ("color/png_grey_icc.png");
  g_autoptr (SbImage) garbage = load_from_collection ("color/png_iccp_garbage.png");
  g_autoptr (SbImage) same = load_from_collection ("color/png_gama_srgb_chrm.png");
  g_autoptr (SbImage) wide = load_from_collection ("color/png_chrm_p3.png");
  g_autoptr (SbImage) invalid = load_from_collection ("color/png_gama0.png");
  g_autoptr (SbImage) both = load_from_collection ("color/png_srgb_and_iccp.png");
  g_autoptr (SbImage) misfit = load_from_collection ("jpeg/cmyk_with_rgb_icc.jpg");

  g_assert_cmpstr (sb_image_get_profile_name (p3), ==, "Softbox test Display P3");
  g_assert_cmpstr (sb_image_get_profile_name (jpeg), ==, "Softbox test Display P3");
  g_assert_cmpstr (sb_image_get_profile_name (both), ==, "Softbox test swapped R-G-B");
  g_assert_null (sb_image_get_profile (garbage));
  g_assert_null (sb_image_get_profile (same));
  g_assert_null (sb_image_get_profile (invalid));
  g_assert_null (sb_image_get_profile (misfit));
  g_assert_cmpstr (sb_image_get_profile_name (wide), ==, "RGB with gamma 2.20");

  /* Never the gray one: "RGB " stands in byte 16 of the header. */
  g_assert_cmpmem ((const guint8 *)g_bytes_get_data (sb_image_get_profile (grey), NULL) + 16, 4,
                   "RGB ", 4);
  /* The same again has the same bytes, whatever the time of day. */
  g_autoptr (SbImage) again = load_from_collection ("color/png_grey_icc.png");
  g_assert_true (g_bytes_equal (sb_image_get_profile (grey), sb_image_get_profile (again)));
}

/* What PNG does not take back is left out when a picture is opened, not when its export is. */
static void
test_lenient_profiles (void)
{
  static const struct
  {
    gsize at;
    guint8 value;
  } changes[] = { { 65, 0x0f }, { 3, 0xff },   { 36, 'A' },   { 12, 'x' },
                  { 20, 'x' },  { 128, 0x10 }, { 136, 0x7f }, { 140, 0x7f } };
  g_autoptr (SbImage) image = load_from_collection ("color/png_iccp_p3.png");
  gsize n = 0;
  const guint8 *right = g_bytes_get_data (sb_image_get_profile (image), &n);

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autofree guint8 *data = g_memdup2 (right, n);
      data[changes[i].at] = changes[i].value;
      if (changes[i].at == 12)
        memcpy (data + 12, "link", 4);
      g_autoptr (GBytes) profile = g_bytes_new (data, n);
      g_autoptr (SbImage) other = sb_image_new (1, 1, 8, NULL);
      memset (sb_image_writable (other), 255, 4);
      sb_image_take_profile (other, profile, FALSE);
      g_assert_null (sb_image_get_profile (other));
      g_assert_nonnull (sb_image_get_warnings (other)[0]);
    }
  g_autoptr (SbImage) same = sb_image_new (1, 1, 8, NULL);
  sb_image_take_profile (same, sb_image_get_profile (image), FALSE);
  g_assert_true (sb_image_get_profile (same) == sb_image_get_profile (image));
}

/* --- cut short, damaged ---------------------------------------------------------------------- */

static GBytes *
read_from_collection (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "corpus", name, NULL);
  char *data = NULL;
  gsize n = 0;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &data, &n, &error);
  g_assert_no_error (error);
  return g_bytes_new_take (data, n);
}

static const char *const seeds[] = { "png/rgba8.png",           "png/interlaced_rgba16.png",
                                     "png/p8_trns.png",         "color/png_grey_icc.png",
                                     "orient/exif_6_slong.jpg", "jpeg/ycck_adobe.jpg",
                                     "jpeg/arith.jpg",          "bad/trunc_50_prog.jpg",
                                     "anim/gif_1frame.gif",     "fmt/bmp24_odd.bmp",
                                     "fmt/tga_24.tga",          "fmt/pgm_ascii_comment.pgm" };

/* A file that is cut anywhere opens with a warning or fails with a message. Files of formats that
 * are read here, not by a loader of gdk-pixbuf, never open without one. */
static void
test_cut (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++)
    {
      g_autoptr (GBytes) whole = read_from_collection (seeds[i]);
      const gsize size = g_bytes_get_size (whole);
      const gboolean ours = g_str_has_suffix (seeds[i], ".png")
                            || g_str_has_suffix (seeds[i], ".jpg")
                            || g_str_has_suffix (seeds[i], ".tif");
      for (gsize n = 0; n < size; n += 1 + size / 300)
        {
          g_autoptr (GBytes) cut = g_bytes_new_from_bytes (whole, 0, n);
          g_autoptr (GError) error = NULL;
          g_autoptr (SbImage) image = load_bytes (cut, &error);
          g_assert_true ((image == NULL) == (error != NULL));
          if (image != NULL && ours && sb_image_get_warnings (image)[0] == NULL)
            g_error ("%s cut to %" G_GSIZE_FORMAT " bytes opens without a warning", seeds[i], n);
        }
    }
}

static void
test_flipped (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);

  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++)
    {
      g_autoptr (GBytes) whole = read_from_collection (seeds[i]);
      gsize n = 0;
      const guint8 *data = g_bytes_get_data (whole, &n);
      for (guint k = 0; k < 150; k++)
        {
          guint8 *copy = g_memdup2 (data, n);
          const guint flips = 1 + g_rand_int (rand) % 4;
          for (guint f = 0; f < flips; f++)
            copy[g_rand_int (rand) % n] = (guint8)g_rand_int (rand);
          g_autoptr (GBytes) bytes = g_bytes_new_take (copy, n);
          g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
          g_autoptr (GError) error = NULL;
          g_autoptr (SbImage) image
              = sb_image_load_stream (stream, "flipped", 64 << 20, NULL, &error);
          g_assert_true ((image == NULL) == (error != NULL));
        }
    }
}

static void
test_missing_end (void)
{
  g_autoptr (GBytes) whole = read_from_collection ("png/rgba8.png");
  g_autoptr (GBytes) cut = g_bytes_new_from_bytes (whole, 0, g_bytes_get_size (whole) - 12);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) right = load_bytes (whole, &error);
  g_autoptr (SbImage) image = load_bytes (cut, &error);

  g_assert_no_error (error);
  g_assert_true (sb_image_equal (image, right));
  g_assert_nonnull (sb_image_get_warnings (image)[0]);
  g_assert_null (sb_image_get_warnings (image)[1]);
}

/* --- limits ---------------------------------------------------------------------------------- */

static void
test_limit (void)
{
  g_autoptr (GBytes) bytes = read_from_collection ("png/rgba8.png"); /* 48 × 40 */
  g_autoptr (GError) error = NULL;
  const guint64 need = 48 * 40 * 30;

  g_autoptr (GInputStream) enough = g_memory_input_stream_new_from_bytes (bytes);
  g_autoptr (SbImage) image = sb_image_load_stream (enough, "x", need, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (image);
  g_autoptr (GInputStream) less = g_memory_input_stream_new_from_bytes (bytes);
  g_assert_null (sb_image_load_stream (less, "x", need - 1, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "“x”: the picture is 48 × 40 pixels"));
}

/* Headers that claim the moon, with little memory to be had: refused at once, before anything of
 * that size is asked for. */
static void
test_claims (void)
{
  static const char *const names[] = { "bad/claims_65536x65536.png", "bad/claims_2g.bmp",
                                       "fmt/svg_huge.svg", "size/5000x5000_g1_white.png" };

  if (g_test_subprocess ())
    {
      const struct rlimit memory = { 1 << 30, 1 << 30 };
      g_assert_cmpint (setrlimit (RLIMIT_AS, &memory), ==, 0);
      for (guint i = 0; i < G_N_ELEMENTS (names); i++)
        {
          g_autofree char *path
              = g_test_build_filename (G_TEST_DIST, "data", "corpus", names[i], NULL);
          g_autofree char *base = g_path_get_basename (names[i]);
          g_autoptr (GFile) file = g_file_new_for_path (path);
          g_autoptr (GError) error = NULL;
          g_assert_null (sb_image_load (file, 512 << 20, NULL, &error));
          g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
          g_assert_nonnull (strstr (error->message, base));
        }
      struct rusage usage;
      getrusage (RUSAGE_SELF, &usage);
      g_assert_cmpint (usage.ru_maxrss, <, 200 * 1024);
      return;
    }
  if (!BOUNDABLE)
    {
      g_test_skip ("the address space cannot be bounded under AddressSanitizer");
      return;
    }
  g_test_trap_subprocess (NULL, 20 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
}

/* A BMP whose header claims to be long itself: the loader would make room for it first. */
static void
test_long_bmp_header (void)
{
  static const guint claims[][2]
      = { { 54, 0xff030000 }, { 0xf0000000, 40 }, { 0x1000001, 40 }, { 54, 65537 } };

  for (guint i = 0; i < G_N_ELEMENTS (claims); i++)
    {
      guint8 *data = g_malloc0 (4096);
      memcpy (data, "BM", 2);
      for (guint k = 0; k < 4; k++)
        {
          data[10 + k] = (guint8)(claims[i][0] >> (8 * k));
          data[14 + k] = (guint8)(claims[i][1] >> (8 * k));
        }
      g_autoptr (GBytes) bytes = g_bytes_new_take (data, 4096);
      g_autoptr (GError) error = NULL;
      g_assert_null (load_bytes (bytes, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "the file is damaged"));
    }
}

/* Sizes that a WebP claims, in each of its ways, and no pixels behind them. */
static void
test_large_webp (void)
{
  static const struct
  {
    const char *chunk;
    guint8 body[10];
    const char *size;
  } claims[] = {
    { "VP8X", { 0, 0, 0, 0, 0, 0, 0xb8, 0x5f, 0, 0 }, "12058625 × 96 pixels" },
    { "VP8L", { 0x2f, 0xff, 0xff, 0xff, 0x0f }, "16384 × 16384 pixels" },
    { "VP8 ", { 0, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0xbf }, "16383 × 16383 pixels" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (claims); i++)
    {
      guint8 *data = g_malloc0 (64);
      memcpy (data, "RIFF\x38\0\0\0WEBP", 12);
      memcpy (data + 12, claims[i].chunk, 4);
      data[16] = 10;
      memcpy (data + 20, claims[i].body, 10);
      g_autoptr (GBytes) bytes = g_bytes_new_take (data, 64);
      g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
      g_autoptr (GError) error = NULL;
      g_assert_null (sb_image_load_stream (stream, "x", 1 << 30, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, claims[i].size));
    }
}

/* No memory for the pixels is an error like any other. */
static void
test_no_memory (void)
{
  if (g_test_subprocess ())
    {
      const struct rlimit memory = { 400 << 20, 400 << 20 };
      guint8 *row = g_malloc0 (12000 / 8);
      g_autoptr (GBytes) bytes = write_png (
          &(Source){ .width = 12000, .height = 12000, .depth = 1, .rows = row, .stride = 0 });
      g_free (row);
      g_assert_cmpint (setrlimit (RLIMIT_AS, &memory), ==, 0);
      g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
      g_autoptr (GError) error = NULL;
      g_assert_null (sb_image_load_stream (stream, "x", (guint64)1 << 40, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY);
      return;
    }
  if (!BOUNDABLE)
    {
      g_test_skip ("the address space cannot be bounded under AddressSanitizer");
      return;
    }
  g_test_trap_subprocess (NULL, 20 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
}

/* --- files that are none --------------------------------------------------------------------- */

static void
assert_refused (const char *path, int code)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autofree char *base = g_path_get_basename (path);
  const gint64 before = g_get_monotonic_time ();

  g_assert_null (sb_image_load (file, LIMIT, NULL, &error));
  g_assert_error (error, G_IO_ERROR, code);
  g_assert_nonnull (strstr (error->message, base));
  g_assert_cmpint (g_get_monotonic_time () - before, <, G_USEC_PER_SEC);
}

static void
test_not_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("softbox-load-XXXXXX", &error);
  g_autofree char *fifo = g_build_filename (folder, "fifo.png", NULL);
  g_autofree char *loop = g_build_filename (folder, "loop.png", NULL);
  g_autofree char *zero = g_build_filename (folder, "zero.png", NULL);
  g_autofree char *sock = g_build_filename (folder, "sock.png", NULL);
  g_autofree char *null = g_build_filename (folder, "null.png", NULL);
  g_autofree char *dangling = g_build_filename (folder, "dangling.png", NULL);
  g_autofree char *missing = g_build_filename (folder, "missing.png", NULL);
  g_autofree char *step = g_strnfill (100, 'p');
  g_autoptr (GString) deep = g_string_new (folder);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_no_error (error);
  g_assert_cmpint (mkfifo (fifo, 0644), ==, 0);
  g_assert_cmpint (symlink ("loop.png", loop), ==, 0);
  g_assert_cmpint (symlink ("/dev/zero", zero), ==, 0);
  g_assert_cmpint (symlink ("/dev/null", null), ==, 0);
  g_assert_cmpint (symlink ("nowhere.png", dangling), ==, 0);
  while (deep->len <= PATH_MAX)
    g_string_append_printf (deep, "/%s", step);
  g_strlcpy (address.sun_path, sock, sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (struct sockaddr *)&address, sizeof address), ==, 0);

  assert_refused (fifo, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refused (zero, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refused (sock, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refused (folder, G_IO_ERROR_IS_DIRECTORY);
  assert_refused (loop, G_IO_ERROR_TOO_MANY_LINKS);
  assert_refused (null, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refused (dangling, G_IO_ERROR_NOT_FOUND);
  assert_refused (missing, G_IO_ERROR_NOT_FOUND);
  assert_refused (deep->str, G_IO_ERROR_FILENAME_TOO_LONG);

  close (fd);
  g_unlink (fifo);
  g_unlink (loop);
  g_unlink (zero);
  g_unlink (null);
  g_unlink (dangling);
  g_unlink (sock);
  g_rmdir (folder);
}

/* Odd names open, and stand in messages as text. */
static void
test_names (void)
{
  g_autofree char *letters = g_strnfill (251, 'L');
  g_autofree char *longest = g_strconcat (letters, ".png", NULL);
  g_autoptr (GString) wide = g_string_new (NULL);
  for (guint i = 0; i < 83; i++)
    g_string_append (wide, "日");
  g_string_append (wide, "ab.png");
  const char *const names[] = { "caf\xe9\xff.png",
                                "sjis_\x83\x65\x83\x58.png",
                                "new\nline%s%n.png",
                                "tab\there.png",
                                "%41.png",
                                "percent%20.png",
                                "hash#query?.png",
                                "colon:name.png",
                                "file:x.png",
                                "http:__x.png",
                                "--help.png",
                                "-dash.png",
                                ".png",
                                ".hidden.png",
                                "no_ext",
                                " spaces .png ",
                                "emoji 😀.png",
                                "cafe\xcc\x81.png",
                                "café.png",
                                "rtl_\xe2\x80\xaegnp.exe.png",
                                "zero\xe2\x80\x8bwidth.png",
                                "amp&lt<b>bold.png",
                                "'quote\"both.png",
                                "$(touch pwned).png",
                                "`id`;x.png",
                                "star*[a]?.png",
                                "back\\slash.png",
                                longest,
                                wide->str };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("softbox-load-XXXXXX", &error);
  g_autoptr (GBytes) png = read_from_collection ("png/rgba8.png");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_autoptr (GFile) file = g_file_new_for_path (path);
      g_autoptr (SbImage) none = sb_image_load (file, 0, NULL, &error);
      g_assert_null (none);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      g_assert_null (strchr (error->message, '\n'));
      g_clear_error (&error);
      /* GLib's own way needs room for a longer name. */
      const int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      g_assert_cmpint (write (fd, g_bytes_get_data (png, NULL), g_bytes_get_size (png)), ==,
                       (gssize)g_bytes_get_size (png));
      close (fd);
      g_autoptr (SbImage) image = sb_image_load (file, 0, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (sb_image_get_width (image), ==, 48);
      g_unlink (path);
    }
  g_rmdir (folder);
}

/* A whole picture at the head of 4 GiB of nothing, and one without its end: not read on. */
static void
test_sparse (void)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "softbox-test-XXXXXX", NULL);
  const int fd = g_mkstemp (path);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GBytes) png = read_from_collection ("png/rgba8.png");
  const gsize n = g_bytes_get_size (png);
  const gint64 begun = g_get_monotonic_time ();

  for (guint cut = 0; cut <= 12; cut += 12)
    {
      g_autoptr (GError) error = NULL;
      g_assert_cmpint (ftruncate (fd, 0), ==, 0);
      g_assert_cmpint (pwrite (fd, g_bytes_get_data (png, NULL), n - cut, 0), ==,
                       (gssize)(n - cut));
      g_assert_cmpint (ftruncate (fd, (off_t)4 << 30), ==, 0);
      g_autoptr (SbImage) image = sb_image_load (file, 0, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (sb_image_get_warnings (image)[0] != NULL, ==, cut != 0);
    }
  g_assert_cmpint (g_get_monotonic_time () - begun, <, 5 * G_TIME_SPAN_SECOND);
  close (fd);
  unlink (path);
}

/* --- streams --------------------------------------------------------------------------------- */

typedef struct
{
  int fd;
  GBytes *bytes;
} Drip;

static gpointer
drip (gpointer user_data)
{
  Drip *tap = user_data;
  gsize n = 0;
  const guint8 *data = g_bytes_get_data (tap->bytes, &n);

  for (gsize i = 0; i < n; i += 7)
    {
      const gsize some = MIN (7, n - i);
      g_assert_cmpint (write (tap->fd, data + i, some), ==, (gssize)some);
      if (i % 70 == 0)
        g_usleep (100);
    }
  close (tap->fd);
  return NULL;
}

/* A pipe gives what it has, in bits smaller than a signature. */
static void
test_pipe (void)
{
  static const char *const names[] = { "png/rgba8.png", "jpeg/q100.jpg", "anim/gif_1frame.gif" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GBytes) bytes = read_from_collection (names[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (SbImage) right = load_bytes (bytes, &error);
      int ends[2];
      g_assert_cmpint (pipe (ends), ==, 0);
      Drip tap = { ends[1], bytes };
      GThread *thread = g_thread_new ("drip", drip, &tap);
      g_autoptr (GInputStream) stream = g_unix_input_stream_new (ends[0], TRUE);
      g_autoptr (SbImage) image = sb_image_load_stream (stream, "pipe", 0, NULL, &error);
      g_thread_join (thread);
      g_assert_no_error (error);
      g_assert_true (sb_image_equal (image, right));
    }
}

static gpointer
cancel (gpointer user_data)
{
  g_usleep (50000);
  g_cancellable_cancel (user_data);
  return NULL;
}

/* Cancelling ends a load that waits for a pipe that gives nothing. */
static void
test_cancel (void)
{
  int ends[2];
  g_assert_cmpint (pipe (ends), ==, 0);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GInputStream) stream = g_unix_input_stream_new (ends[0], TRUE);
  g_autoptr (GError) error = NULL;
  GThread *thread = g_thread_new ("cancel", cancel, cancellable);

  g_assert_null (sb_image_load_stream (stream, "pipe", 0, cancellable, &error));
  g_thread_join (thread);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  close (ends[1]);

  /* And one that has not begun. */
  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++)
    {
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "corpus", seeds[i], NULL);
      g_autoptr (GFile) file = g_file_new_for_path (path);
      g_clear_error (&error);
      g_assert_null (sb_image_load (file, 0, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/load/grey-bits", test_grey_bits);
  g_test_add_func ("/load/transparent-color", test_transparent_color);
  g_test_add_func ("/load/palette", test_palette);
  g_test_add_func ("/load/interlaced", test_interlaced);
  g_test_add_func ("/load/orientation", test_orientation);
  g_test_add_func ("/load/tiff/samples", test_tiff_samples);
  g_test_add_func ("/load/tiff/grey", test_tiff_grey);
  g_test_add_func ("/load/tiff/float", test_tiff_float);
  g_test_add_func ("/load/tiff/wide", test_tiff_wide);
  g_test_add_func ("/load/tiff/signed-bytes", test_tiff_signed_bytes);
  g_test_add_func ("/load/tiff/damaged", test_tiff_damaged);
  g_test_add_func ("/load/short-anymap", test_short_anymap);
  g_test_add_func ("/load/collection", test_collection);
  g_test_add_func ("/load/profiles", test_profiles);
  g_test_add_func ("/load/lenient-profiles", test_lenient_profiles);
  g_test_add_func ("/load/cut", test_cut);
  g_test_add_func ("/load/flipped", test_flipped);
  g_test_add_func ("/load/missing-end", test_missing_end);
  g_test_add_func ("/load/limit", test_limit);
  g_test_add_func ("/load/claims", test_claims);
  g_test_add_func ("/load/no-memory", test_no_memory);
  g_test_add_func ("/load/large-webp", test_large_webp);
  g_test_add_func ("/load/long-bmp-header", test_long_bmp_header);
  g_test_add_func ("/load/not-files", test_not_files);
  g_test_add_func ("/load/names", test_names);
  g_test_add_func ("/load/sparse", test_sparse);
  g_test_add_func ("/load/pipe", test_pipe);
  g_test_add_func ("/load/cancel", test_cancel);
  return g_test_run ();
}
