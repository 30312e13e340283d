/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <errno.h>
#include <gio/gfiledescriptorbased.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

/* Decodes with libtiff: gdk-pixbuf's loader cuts 16 bits to 8, multiplies colors by their alpha and
 * knows neither floating point nor BigTIFF. Samples of 8 and 16 bits and of floating point, gray or
 * RGB, are read as they are; the other kinds (palettes, few bits, CMYK, YCbCr) through libtiff's
 * own conversion to 8 bits.
 *
 * TIFF jumps about in the file: a local one is read where libtiff wants it, so that a header is
 * judged before the rest is looked at; any other is held in memory whole. */
typedef struct
{
  SbReader *reader;
  TIFF *tiff;
  int fd;             /* of a local file, or -1 */
  const guint8 *data; /* of any other */
  guint64 n;
  guint64 at;
  char message[256]; /* the first error */
  gboolean damaged;  /* a decoder went on past something wrong */

  guint width;
  guint height;
  guint bits;
  guint samples; /* a pixel */
  guint colors;  /* of those: 1 or 3 */
  guint format;
  guint photometric;
  guint orientation;
  gboolean separate; /* one plane a sample */
  guint page, n_pages;
  guint alpha;      /* 0 none, else EXTRASAMPLE_… */
  gboolean clipped; /* a sample was outside 0 .. 1 */
} Decode;

/* Beyond any real one; stops a header from asking for it. */
#define MAX_SAMPLES 64

/* --- the file in memory ---------------------------------------------------------------------- */

/* Up to n bytes: fewer at the end, and none when it is cancelled. */
static gsize
read_at (gpointer user_data, guint64 at, guint8 *to, gsize n)
{
  Decode *decode = user_data;
  SbReader *reader = decode->reader;
  const gsize some = at < decode->n ? (gsize)MIN ((guint64)n, decode->n - at) : 0;
  gsize done = 0;

  if (decode->fd < 0)
    {
      if (some > 0)
        memcpy (to, decode->data + at, some);
      return some;
    }
  if (reader->error != NULL
      || g_cancellable_set_error_if_cancelled (reader->cancellable, &reader->error))
    return 0;
  while (done < some)
    {
      const gssize got = pread (decode->fd, to + done, some - done, (off_t)(at + done));
      if (got == 0)
        break; /* cut short meanwhile */
      if (got > 0)
        done += (gsize)got;
      else if (errno != EINTR)
        {
          g_set_error_literal (&reader->error, G_IO_ERROR, g_io_error_from_errno (errno),
                               g_strerror (errno));
          break;
        }
    }
  return done;
}

static tmsize_t
on_read (thandle_t handle, void *to, tmsize_t n)
{
  Decode *decode = handle;
  const gsize some = read_at (decode, decode->at, to, (gsize)MAX (n, 0));

  decode->at += some;
  return (tmsize_t)some;
}

static tmsize_t
on_write (thandle_t handle, void *from, tmsize_t n)
{
  return 0;
}

static toff_t
on_seek (thandle_t handle, toff_t offset, int whence)
{
  Decode *decode = handle;
  const guint64 base = whence == SEEK_CUR ? decode->at : whence == SEEK_END ? decode->n : 0;

  decode->at = MIN (base + offset, decode->n);
  return decode->at;
}

static int
on_close (thandle_t handle)
{
  return 0;
}

static toff_t
on_size (thandle_t handle)
{
  return ((Decode *)handle)->n;
}

static int on_error (TIFF *tiff, void *user_data, const char *module, const char *format,
                     va_list arguments) G_GNUC_PRINTF (4, 0);

static int
on_error (TIFF *tiff, void *user_data, const char *module, const char *format, va_list arguments)
{
  Decode *decode = user_data;

  if (decode->message[0] == '\0')
    g_vsnprintf (decode->message, sizeof decode->message, format, arguments);
  return 1;
}

/* Most warnings are of tags. Of the pixels those that these decoders give are as bad as errors:
 * they go on with what they make up. */
static int
on_warning (TIFF *tiff, void *user_data, const char *module, const char *format, va_list arguments)
{
  Decode *decode = user_data;

  if (module != NULL
      && (g_str_has_prefix (module, "Fax") || strcmp (module, "JPEGLib") == 0
          || strcmp (module, "PackBitsDecode") == 0))
    decode->damaged = TRUE;
  return 1;
}

static TIFF *
open_tiff (Decode *decode)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();
  TIFF *tiff = NULL;

  if (options == NULL)
    return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR (options, on_error, decode);
  TIFFOpenOptionsSetWarningHandlerExtR (options, on_warning, decode);
  TIFFOpenOptionsSetMaxSingleMemAlloc (
      options, (tmsize_t)MIN (decode->reader->limit_bytes, (guint64)G_MAXSSIZE));
  /* m: no mapping; the data is in memory already. */
  tiff = TIFFClientOpenExt (decode->reader->name, "rm", decode, on_read, on_write, on_seek,
                            on_close, on_size, NULL, NULL, options);
  TIFFOpenOptionsFree (options);
  return tiff;
}

/* --- samples --------------------------------------------------------------------------------- */

static guint16
from_float (Decode *decode, float value)
{
  if (!(value >= 0 && value <= 1))
    {
      decode->clipped = TRUE;
      return value > 1 ? 65535 : 0; /* not a number: 0 */
    }
  return (guint16)floor (value * 65535.0 + 0.5);
}

/* IEEE 754's 16 bits: a sign, 5 bits of exponent, 10 of fraction. */
static float
from_half (guint16 half)
{
  const int exponent = half >> 10 & 31;
  const float fraction = half & 1023;
  const float value = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                      : exponent == 0 ? ldexpf (fraction, -24)
                                      : ldexpf (1024 + fraction, exponent - 25);

  return (half & 0x8000) != 0 ? -value : value;
}

/* 0 is black, as the format has it, and what is below it is cut off; the highest value is white. */
static guint
from_signed (Decode *decode, gint64 value, guint white)
{
  const gint64 most = ((gint64)1 << (decode->bits - 1)) - 1;

  if (value < 0)
    {
      decode->clipped = TRUE;
      return 0;
    }
  return (guint)((value * white + most / 2) / most);
}

static guint
get_signed (Decode *decode, const guint8 *row, gsize index)
{
  if (decode->bits == 8)
    return from_signed (decode, ((const gint8 *)row)[index], 255);
  if (decode->bits == 16)
    return from_signed (decode, ((const gint16 *)row)[index], 65535);
  return from_signed (decode, ((const gint32 *)row)[index], 65535);
}

static guint
get_sample (Decode *decode, const guint8 *row, gsize index)
{
  const gboolean is_float = decode->format == SAMPLEFORMAT_IEEEFP;

  if (decode->format == SAMPLEFORMAT_INT)
    return get_signed (decode, row, index);
  if (decode->bits == 8)
    return row[index];
  if (decode->bits == 16)
    {
      const guint16 value = ((const guint16 *)row)[index];
      return is_float ? from_float (decode, from_half (value)) : value;
    }
  if (decode->bits == 64)
    return from_float (decode, (float)((const double *)row)[index]);
  /* 65537 times 65535 is what 32 bits hold. */
  return is_float ? from_float (decode, ((const float *)row)[index])
                  : (guint)(((guint64)((const guint32 *)row)[index] + 32768) / 65537);
}

static void
put_sample (SbImage *image, gsize index, guint value)
{
  if (sb_image_get_depth (image) == 8)
    sb_image_writable (image)[index] = (guint8)value;
  else
    ((guint16 *)sb_image_writable (image))[index] = (guint16)value;
}

/* One decoded row of a strip or tile, n pixels from (x, y) on, of one plane or of all. */
static void
spread_row (Decode *decode, SbImage *image, const guint8 *row, guint x, guint y, guint n,
            guint plane)
{
  const guint first = decode->separate ? plane : 0;
  const guint in_row = decode->separate ? 1 : decode->samples;
  const guint last = decode->separate ? plane : decode->samples - 1;
  const guint most = decode->bits == 8 ? 255 : 65535;

  for (guint s = first; s <= last; s++)
    {
      if (s > decode->colors || (s == decode->colors && decode->alpha == 0))
        break;
      for (guint i = 0; i < n; i++)
        {
          guint v = get_sample (decode, row, (gsize)i * in_row + (s - first));
          const gsize to = ((gsize)y * decode->width + x + i) * 4;
          if (s == decode->colors)
            put_sample (image, to + 3, v);
          else if (decode->colors == 3)
            put_sample (image, to + s, v);
          else
            {
              if (decode->photometric == PHOTOMETRIC_MINISWHITE)
                v = most - v;
              for (guint c = 0; c < 3; c++)
                put_sample (image, to + c, v);
            }
        }
    }
}

/* All strips or tiles. What cannot be read stays black; FALSE when nothing could be, or with an
 * error of the reader when cancelled. */
static gboolean
read_chunks (Decode *decode, SbImage *image)
{
  TIFF *tiff = decode->tiff;
  const gboolean tiled = TIFFIsTiled (tiff) != 0;
  guint32 chunk_w = decode->width;
  guint32 chunk_h = decode->height;

  if (tiled)
    {
      TIFFGetField (tiff, TIFFTAG_TILEWIDTH, &chunk_w);
      TIFFGetField (tiff, TIFFTAG_TILELENGTH, &chunk_h);
    }
  else
    TIFFGetFieldDefaulted (tiff, TIFFTAG_ROWSPERSTRIP, &chunk_h);
  const tmsize_t size = tiled ? TIFFTileSize (tiff) : TIFFStripSize (tiff);
  const tmsize_t row_size = tiled ? TIFFTileRowSize (tiff) : TIFFScanlineSize (tiff);
  const gsize least = (gsize)MIN (chunk_w, decode->width) * (decode->separate ? 1 : decode->samples)
                      * decode->bits / 8;
  if (chunk_w == 0 || chunk_h == 0 || size <= 0 || row_size <= 0 || (gsize)row_size < least
      || (guint64)size > decode->reader->limit_bytes)
    return FALSE;
  guint8 *buffer = g_try_malloc ((gsize)size);
  gboolean any = FALSE;

  for (guint plane = 0; buffer != NULL && plane < (decode->separate ? decode->samples : 1); plane++)
    for (guint64 top = 0; top < decode->height; top += chunk_h)
      for (guint64 left = 0; left < decode->width; left += chunk_w)
        {
          if (decode->reader->progress != NULL && left == 0)
            decode->reader->progress ((double)top / decode->height, decode->reader->user_data);
          if (decode->reader->error != NULL
              || g_cancellable_set_error_if_cancelled (decode->reader->cancellable,
                                                       &decode->reader->error))
            {
              g_free (buffer);
              return FALSE;
            }
          const guint32 x = (guint32)left, y = (guint32)top;
          const tmsize_t got
              = tiled ? TIFFReadTile (tiff, buffer, x, y, 0, (guint16)plane)
                      : TIFFReadEncodedStrip (tiff, TIFFComputeStrip (tiff, y, (guint16)plane),
                                              buffer, size);
          if (got <= 0)
            continue;
          any = TRUE;
          const guint rows
              = (guint)MIN ((guint64)(got / row_size), MIN (chunk_h, decode->height - top));
          const guint n = (guint)MIN (chunk_w, decode->width - left);
          for (guint i = 0; i < rows; i++)
            spread_row (decode, image, buffer + (gsize)i * (gsize)row_size, x, y + i, n, plane);
        }
  g_free (buffer);
  return any;
}

/* Colors that were stored multiplied by their alpha. */
static void
unmultiply (SbImage *image)
{
  const gsize n = (gsize)sb_image_get_width (image) * sb_image_get_height (image) * 4;
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;

  for (gsize i = 0; i < n; i += 4)
    for (guint c = 0; c < 3; c++)
      if (sb_image_get_depth (image) == 8)
        {
          const guint a = p8[i + 3];
          p8[i + c] = a == 0 ? 0 : (guint8)MIN (255, (p8[i + c] * 255u + a / 2) / a);
        }
      else
        {
          const guint64 a = p16[i + 3];
          p16[i + c] = a == 0 ? 0 : (guint16)MIN (65535, (p16[i + c] * (guint64)65535 + a / 2) / a);
        }
}

static void
set_damaged (Decode *decode, GError **error)
{
  g_autofree char *reason = decode->message[0] != '\0'
                                ? g_strdup_printf (_ ("the file is damaged (%s)"), decode->message)
                                : g_strdup (_ ("the file is damaged"));

  sb_reader_set_error (decode->reader, error, reason);
}

static SbImage *
read_samples (Decode *decode, GError **error)
{
  const guint depth = decode->bits == 8 ? 8 : 16;
  SbImage *image = sb_image_new (decode->width, decode->height, depth, error);

  if (image == NULL)
    return NULL;
  /* Black, and opaque where no alpha is stored. */
  const gsize n = (gsize)decode->width * decode->height * 4;
  memset (sb_image_writable (image), 0, sb_image_get_bytes (image));
  for (gsize i = 3; decode->alpha == 0 && i < n; i += 4)
    put_sample (image, i, depth == 8 ? 255 : 65535);

  if (!read_chunks (decode, image))
    {
      g_clear_pointer (&image, sb_image_unref);
      if (!sb_reader_take_error (decode->reader, error))
        set_damaged (decode, error);
      return NULL;
    }
  if (decode->alpha == EXTRASAMPLE_ASSOCALPHA)
    unmultiply (image);
  return image;
}

/* --- everything else ------------------------------------------------------------------------- */

static SbImage *
read_converted (Decode *decode, GError **error)
{
  char reason[1024] = "";

  /* libtiff's own conversion looks at bits alone. */
  if (decode->format != SAMPLEFORMAT_UINT && decode->format != SAMPLEFORMAT_VOID)
    {
      sb_reader_set_error (decode->reader, error, _ ("samples of this kind are not supported"));
      return NULL;
    }
  if (!TIFFRGBAImageOK (decode->tiff, reason))
    {
      sb_reader_set_error (decode->reader, error, reason);
      return NULL;
    }
  SbImage *image = sb_image_new (decode->width, decode->height, 8, error);
  if (image == NULL)
    return NULL;
  memset (sb_image_writable (image), 0, sb_image_get_bytes (image));

  /* Asked for in the orientation that it has, the raster comes as it is stored. */
  guint32 *raster = (guint32 *)sb_image_writable (image);
  const int stored = decode->orientation != 0 ? (int)decode->orientation : ORIENTATION_TOPLEFT;
  if (!TIFFReadRGBAImageOriented (decode->tiff, decode->width, decode->height, raster, stored, 0))
    {
      sb_image_unref (image);
      set_damaged (decode, error);
      return NULL;
    }
  guint8 *bytes = sb_image_writable (image);
  for (gsize i = 0; i < (gsize)decode->width * decode->height; i++)
    {
      const guint32 v = raster[i];
      bytes[4 * i] = (guint8)TIFFGetR (v);
      bytes[4 * i + 1] = (guint8)TIFFGetG (v);
      bytes[4 * i + 2] = (guint8)TIFFGetB (v);
      bytes[4 * i + 3] = (guint8)TIFFGetA (v);
    }
  unmultiply (image);
  return image;
}

/* --- a file ---------------------------------------------------------------------------------- */

static guint
get_short (TIFF *tiff, guint32 tag, guint otherwise)
{
  guint16 value = 0;

  return TIFFGetFieldDefaulted (tiff, tag, &value) ? value : otherwise;
}

static void
look_at_samples (Decode *decode)
{
  TIFF *tiff = decode->tiff;
  guint16 n_extra = 0;
  guint16 *extra = NULL;

  decode->bits = get_short (tiff, TIFFTAG_BITSPERSAMPLE, 1);
  decode->samples = get_short (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  decode->format = get_short (tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  decode->photometric = get_short (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  decode->orientation = get_short (tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  decode->separate
      = get_short (tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  decode->colors = decode->photometric == PHOTOMETRIC_RGB ? 3 : 1;

  /* An extra sample of a kind that is not told is a mask or a spot color, not alpha; one that is
   * not told of at all is what writers leave who mean alpha. */
  if (decode->samples > decode->colors)
    {
      if (!TIFFGetField (tiff, TIFFTAG_EXTRASAMPLES, &n_extra, &extra) || n_extra == 0)
        decode->alpha = EXTRASAMPLE_UNASSALPHA;
      else if (extra[0] == EXTRASAMPLE_ASSOCALPHA || extra[0] == EXTRASAMPLE_UNASSALPHA)
        decode->alpha = extra[0];
    }
}

static gboolean
has_plain_samples (const Decode *decode)
{
  const gboolean whole = decode->format == SAMPLEFORMAT_UINT || decode->format == SAMPLEFORMAT_INT
                         || decode->format == SAMPLEFORMAT_VOID;

  return (decode->photometric == PHOTOMETRIC_RGB || decode->photometric == PHOTOMETRIC_MINISBLACK
          || decode->photometric == PHOTOMETRIC_MINISWHITE)
         && decode->samples >= decode->colors && decode->samples <= MAX_SAMPLES
         && ((whole && (decode->bits == 8 || decode->bits == 16 || decode->bits == 32))
             || (decode->format == SAMPLEFORMAT_IEEEFP
                 && (decode->bits == 16 || decode->bits == 32 || decode->bits == 64)));
}

/* Camera files are TIFF outside: their first page is a thumbnail, which nobody wants to edit. */
static gboolean
is_raw (TIFF *tiff)
{
  guint32 kind = 0;
  guint16 n = 0;
  const guint8 *version = NULL;

  return TIFFGetField (tiff, TIFFTAG_DNGVERSION, &version)
         || (TIFFGetField (tiff, TIFFTAG_SUBFILETYPE, &kind) && (kind & FILETYPE_REDUCEDIMAGE) != 0
             && TIFFGetField (tiff, TIFFTAG_SUBIFD, &n, &version));
}

static void
take_profile (Decode *decode, SbImage *image)
{
  guint32 n = 0;
  void *data = NULL;

  if (decode->photometric == PHOTOMETRIC_SEPARATED || decode->photometric == PHOTOMETRIC_CIELAB
      || !TIFFGetField (decode->tiff, TIFFTAG_ICCPROFILE, &n, &data))
    return; /* the pixels are converted: they are not what the profile is of */
  g_autoptr (GBytes) profile = g_bytes_new (data, n);
  sb_image_take_profile (image, profile, decode->photometric != PHOTOMETRIC_RGB);
}

static void
take_metadata (Decode *decode, SbImage *image)
{
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();
  TIFF *tiff = decode->tiff;
  guint32 n = 0;
  void *data = NULL;
  float x = 0, y = 0;

  metadata->format = "TIFF";
  metadata->page = decode->page;
  metadata->n_pages = decode->n_pages;
  if (TIFFGetField (tiff, TIFFTAG_XMLPACKET, &n, &data) && data != NULL)
    sb_metadata_take_xmp (metadata, data, n);
  /* Counted in words of four bytes, and turned about as such. */
  if (TIFFGetField (tiff, TIFFTAG_RICHTIFFIPTC, &n, &data) && data != NULL && n < 1u << 20)
    {
      if (TIFFIsByteSwapped (tiff))
        TIFFSwabArrayOfLong (data, n);
      sb_metadata_take_iptc (metadata, data, (gsize)n * 4);
    }
  if (TIFFGetField (tiff, TIFFTAG_PHOTOSHOP, &n, &data) && data != NULL)
    sb_metadata_take_resources (metadata, data, n);
  if (TIFFGetField (tiff, TIFFTAG_XRESOLUTION, &x) && TIFFGetField (tiff, TIFFTAG_YRESOLUTION, &y))
    {
      const guint unit = get_short (tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
      const double scale = unit == RESUNIT_CENTIMETER ? 2.54 : unit == RESUNIT_INCH ? 1 : 0;
      sb_metadata_take_dpi (metadata, x * scale, y * scale);
    }
  g_autoptr (GBytes) exif
      = sb_metadata_exif_from_tiff (read_at, decode, TIFFCurrentDirOffset (tiff));
  if (exif != NULL)
    sb_metadata_take_exif (metadata, g_bytes_get_data (exif, NULL), g_bytes_get_size (exif));
  sb_image_set_metadata (image, metadata);
}

/* Goes to the page that is wanted. */
static gboolean
find_page (Decode *decode, GError **error)
{
  decode->n_pages = TIFFNumberOfDirectories (decode->tiff);
  decode->page = MAX (decode->reader->page, 1);
  if (decode->page == 1
      || (decode->page <= decode->n_pages
          && TIFFSetDirectory (decode->tiff, (tdir_t)(decode->page - 1))))
    return TRUE;
  g_autofree char *reason
      = g_strdup_printf (ngettext ("there is no page %u, the file has %u page",
                                   "there is no page %u, the file has %u pages", decode->n_pages),
                         decode->page, decode->n_pages);
  sb_reader_set_error (decode->reader, error, reason);
  return FALSE;
}

static SbImage *
read_page (Decode *decode, GError **error)
{
  guint32 width = 0;
  guint32 height = 0;

  TIFFGetField (decode->tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField (decode->tiff, TIFFTAG_IMAGELENGTH, &height);
  if (!sb_reader_check_size (decode->reader, width, height, error))
    return NULL;
  if (is_raw (decode->tiff))
    {
      sb_reader_set_error (decode->reader, error, _ ("raw files of cameras are not supported"));
      return NULL;
    }
  decode->width = width;
  decode->height = height;
  look_at_samples (decode);

  decode->message[0] = '\0'; /* what came before did no harm */
  SbImage *image
      = has_plain_samples (decode) ? read_samples (decode, error) : read_converted (decode, error);
  if (image == NULL)
    return NULL;
  if (decode->message[0] != '\0' || decode->damaged)
    sb_image_add_warning (image, _ ("The file is incomplete or damaged: a part of the picture may "
                                    "be missing."));
  if (decode->clipped)
    sb_image_add_warning (image, _ ("The picture has values brighter than white or darker than "
                                    "black: they were cut off."));
  take_profile (decode, image);
  take_metadata (decode, image);
  if (decode->n_pages > 1 && decode->reader->page == 0)
    {
      g_autofree char *warning = g_strdup_printf (
          ngettext ("The file has %u page: the first is shown.",
                    "The file has %u pages: the first is shown.", decode->n_pages),
          decode->n_pages);
      sb_image_add_warning (image, warning);
    }
  return sb_image_orient (image, decode->orientation, error);
}

/* Of a stream that is a local file read from its start. */
static int
find_fd (SbReader *reader, guint64 *n)
{
  struct stat status;

  if (!G_IS_FILE_DESCRIPTOR_BASED (reader->stream))
    return -1;
  const int fd = g_file_descriptor_based_get_fd (G_FILE_DESCRIPTOR_BASED (reader->stream));
  if (fstat (fd, &status) != 0 || !S_ISREG (status.st_mode)
      || lseek (fd, 0, SEEK_CUR) != (off_t)reader->end)
    return -1;
  *n = (guint64)status.st_size;
  return fd;
}

SbImage *
sb_image_load_tiff (SbReader *reader, GError **error)
{
  Decode decode = { .reader = reader };
  g_autoptr (GBytes) bytes = NULL;
  SbImage *image = NULL;

  decode.fd = find_fd (reader, &decode.n);
  if (decode.fd < 0)
    {
      gsize n = 0;
      bytes
          = sb_reader_slurp (reader, (gsize)MIN (reader->limit_bytes, (guint64)G_MAXSSIZE), error);
      if (bytes == NULL)
        return NULL;
      decode.data = g_bytes_get_data (bytes, &n);
      decode.n = n;
    }
  decode.tiff = open_tiff (&decode);
  if (decode.tiff != NULL)
    {
      if (find_page (&decode, error))
        image = read_page (&decode, error);
      TIFFClose (decode.tiff);
    }
  else if (!sb_reader_take_error (reader, error))
    set_damaged (&decode, error);
  if (image != NULL && reader->error != NULL)
    {
      g_clear_pointer (&image, sb_image_unref);
      sb_reader_take_error (reader, error);
    }
  return image;
}
