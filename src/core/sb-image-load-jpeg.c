/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <glib/gi18n-lib.h>
#include <lcms2.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

/* Decodes with libjpeg-turbo rather than through gdk-pixbuf, which hands out damaged and cut-short
 * files without a word and takes every CMYK file for an inverted one. libjpeg leaves by longjmp:
 * what must outlive that is kept in Decode. */
typedef struct
{
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  jmp_buf jump;
  SbReader *reader;
  SbImage *image;
  GError *error; /* ours */
  char message[JMSG_LENGTH_MAX];
  gboolean at_end;  /* the stream ended before the picture did */
  gboolean damaged; /* libjpeg had to guess */
  gboolean bad_profile;
  guint orientation;
  guint8 *profile;
  unsigned int profile_bytes;
  SbMetadata *metadata;
  guint8 *row; /* of CMYK */
  cmsHTRANSFORM transform;
} Decode;

/* A progressive file may ask for any number of scans over the whole picture; real ones have about
 * ten. Of small pictures more may come than of those where each takes a second. */
#define MAX_SCANS      200
#define ENOUGH_SCANS   20
#define SCANNED_PIXELS 2000000000u

/* What may stand before the pixels, all of which libjpeg keeps. */
#define MAX_HEADER ((guint64)128 << 20)

static void
on_error (j_common_ptr jpeg)
{
  Decode *decode = jpeg->client_data;

  jpeg->err->format_message (jpeg, decode->message);
  longjmp (decode->jump, 1);
}

static void
on_message (j_common_ptr jpeg, int level)
{
  Decode *decode = jpeg->client_data;

  if (level >= 0)
    return;
  jpeg->err->num_warnings++;
  switch (jpeg->err->msg_code)
    {
    case JWRN_BOGUS_ICC:
      decode->bad_profile = TRUE;
      break;
    case JWRN_JPEG_EOF:        /* noticed where the bytes run out */
    case JWRN_EXTRANEOUS_DATA: /* cameras pad */
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
      break;
    default:
      decode->damaged = TRUE;
    }
}

static void
on_output (j_common_ptr jpeg)
{
}

static void
on_init (j_decompress_ptr jpeg)
{
}

/* At the end an end marker is made up, so that what came is decoded. */
static boolean
on_fill (j_decompress_ptr jpeg)
{
  static const JOCTET end[2] = { 0xff, JPEG_EOI };
  Decode *decode = jpeg->client_data;
  SbReader *reader = decode->reader;

  if (decode->image == NULL && reader->done > MAX_HEADER)
    {
      sb_reader_set_error (reader, &decode->error, _ ("the file is damaged"));
      longjmp (decode->jump, 1);
    }
  if (sb_reader_fill (reader))
    {
      jpeg->src->next_input_byte = reader->window + reader->start;
      jpeg->src->bytes_in_buffer = reader->end - reader->start;
      reader->start = reader->end;
      return TRUE;
    }
  if (reader->error != NULL)
    longjmp (decode->jump, 1);
  decode->at_end = TRUE;
  jpeg->src->next_input_byte = end;
  jpeg->src->bytes_in_buffer = sizeof end;
  return TRUE;
}

static void
on_skip (j_decompress_ptr jpeg, long n)
{
  while (n > 0 && (gsize)n > jpeg->src->bytes_in_buffer)
    {
      n -= (long)jpeg->src->bytes_in_buffer;
      on_fill (jpeg);
      if (((Decode *)jpeg->client_data)->at_end)
        return;
    }
  if (n > 0)
    {
      jpeg->src->next_input_byte += n;
      jpeg->src->bytes_in_buffer -= (gsize)n;
    }
}

static void
on_progress (j_common_ptr jpeg)
{
  Decode *decode = jpeg->client_data;
  SbReader *reader = decode->reader;

  if (g_cancellable_set_error_if_cancelled (reader->cancellable, &reader->error))
    longjmp (decode->jump, 1);
  const guint64 pixels = (guint64)decode->jpeg.image_width * decode->jpeg.image_height;
  const guint64 most = CLAMP (SCANNED_PIXELS / MAX (pixels, 1), ENOUGH_SCANS, MAX_SCANS);
  if (jpeg->is_decompressor && (guint64)MAX (decode->jpeg.input_scan_number, 0) > most)
    {
      sb_reader_set_error (reader, &decode->error, _ ("it has more layers than any real picture"));
      longjmp (decode->jump, 1);
    }
}

/* --- CMYK ------------------------------------------------------------------------------------ */

/* The transform of the file's own profile, if it has one that fits. `inverted`: 255 is no ink. */
static cmsHTRANSFORM
cmyk_transform (const guint8 *profile, gsize n, gboolean inverted)
{
  cmsHPROFILE from = profile != NULL ? cmsOpenProfileFromMem (profile, (cmsUInt32Number)n) : NULL;
  cmsHTRANSFORM transform = NULL;

  if (from == NULL)
    return NULL;
  if (cmsGetColorSpace (from) == cmsSigCmykData)
    {
      cmsHPROFILE srgb = cmsCreate_sRGBProfile ();
      transform = cmsCreateTransform (from, inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8, srgb,
                                      TYPE_RGBA_8, INTENT_PERCEPTUAL, 0);
      cmsCloseProfile (srgb);
    }
  cmsCloseProfile (from);
  return transform;
}

static void
convert_cmyk (const guint8 *cmyk, guint8 *rgba, guint width, gboolean inverted)
{
  const guint flip = inverted ? 0 : 255;

  for (guint x = 0; x < width; x++, cmyk += 4, rgba += 4)
    {
      const guint light = cmyk[3] ^ flip;
      for (guint c = 0; c < 3; c++)
        rgba[c] = (guint8)(((cmyk[c] ^ flip) * light + 127) / 255);
    }
}

/* --- decoding -------------------------------------------------------------------------------- */

static void
read_rows (Decode *decode)
{
  j_decompress_ptr jpeg = &decode->jpeg;
  const guint width = jpeg->output_width;
  const gsize stride = sb_image_get_stride (decode->image);
  guint8 *pixels = sb_image_writable (decode->image);
  const gboolean inverted = jpeg->saw_Adobe_marker;

  while (jpeg->output_scanline < jpeg->output_height)
    {
      guint8 *to = pixels + jpeg->output_scanline * stride;
      JSAMPROW row = decode->row != NULL ? decode->row : to;
      if (jpeg_read_scanlines (jpeg, &row, 1) != 1)
        longjmp (decode->jump, 1); /* never with a source that does not suspend */
      if (decode->row == NULL)
        continue;
      for (gsize x = 0; x < width; x++)
        to[4 * x + 3] = 0xff; /* lcms2 leaves alpha alone */
      if (decode->transform != NULL)
        cmsDoTransform (decode->transform, decode->row, to, width);
      else
        convert_cmyk (decode->row, to, width, inverted);
    }
}

static guint
find_orientation (const struct jpeg_decompress_struct *jpeg)
{
  static const guint8 exif[6] = "Exif\0";

  for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker != NULL; marker = marker->next)
    if (marker->marker == JPEG_APP0 + 1 && marker->data_length > sizeof exif
        && memcmp (marker->data, exif, sizeof exif) == 0)
      return sb_exif_orientation (marker->data + sizeof exif, marker->data_length - sizeof exif);
  return 1;
}

static void
take_metadata (Decode *decode)
{
  static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
  static const char extension[] = "http://ns.adobe.com/xmp/extension/";
  static const char resources[] = "Photoshop 3.0";
  const struct jpeg_decompress_struct *jpeg = &decode->jpeg;
  SbMetadata *metadata = decode->metadata;

  for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker != NULL; marker = marker->next)
    {
      const guint8 *data = marker->data;
      const gsize n = marker->data_length;
      if (marker->marker == JPEG_APP0 + 1 && n > sizeof xmp && memcmp (data, xmp, sizeof xmp) == 0)
        sb_metadata_take_xmp (metadata, data + sizeof xmp, n - sizeof xmp);
      else if (marker->marker == JPEG_APP0 + 1 && n > sizeof extension
               && memcmp (data, extension, sizeof extension) == 0)
        metadata->lost |= SB_METADATA_LOST_XMP_EXTENSION;
      else if (marker->marker == JPEG_APP0 + 1 && n > 6 && memcmp (data, "Exif", 4) == 0)
        sb_metadata_take_exif (metadata, data, n);
      else if (marker->marker == JPEG_APP0 + 13 && n > sizeof resources
               && memcmp (data, resources, sizeof resources) == 0)
        sb_metadata_take_resources (metadata, data + sizeof resources, n - sizeof resources);
      else if (marker->marker == JPEG_COM && n > 0)
        sb_metadata_take_text (metadata, "Comment", (const char *)data, n);
    }
  /* JFIF 1.02: 1 is inches, 2 centimeters. */
  if (jpeg->saw_JFIF_marker && jpeg->density_unit == 1)
    sb_metadata_take_dpi (metadata, jpeg->X_density, jpeg->Y_density);
  else if (jpeg->saw_JFIF_marker && jpeg->density_unit == 2)
    sb_metadata_take_dpi (metadata, jpeg->X_density * 2.54, jpeg->Y_density * 2.54);
}

static gboolean
run (Decode *decode)
{
  j_decompress_ptr jpeg = &decode->jpeg;

  if (setjmp (decode->jump) != 0)
    return FALSE;

  jpeg_create_decompress (jpeg);
  jpeg->client_data = decode;
  jpeg->src = &decode->source;
  jpeg->progress = &decode->progress;
  jpeg_save_markers (jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_save_markers (jpeg, JPEG_APP0 + 2, 0xffff);
  jpeg_save_markers (jpeg, JPEG_APP0 + 13, 0xffff);
  jpeg_save_markers (jpeg, JPEG_COM, 0xffff);
  jpeg_read_header (jpeg, TRUE);
  if (!sb_reader_check_size (decode->reader, jpeg->image_width, jpeg->image_height, &decode->error))
    return FALSE;
  /* The markers are gone once decoding is finished. */
  jpeg_read_icc_profile (jpeg, &decode->profile, &decode->profile_bytes);
  decode->orientation = find_orientation (jpeg);
  take_metadata (decode);

  const gboolean cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
  jpeg->out_color_space = cmyk ? JCS_CMYK : JCS_EXT_RGBA;
  decode->image = sb_image_new (jpeg->image_width, jpeg->image_height, 8, &decode->error);
  if (decode->image == NULL)
    return FALSE;
  if (cmyk)
    {
      decode->row = g_malloc ((gsize)jpeg->image_width * 4);
      decode->transform
          = cmyk_transform (decode->profile, decode->profile_bytes, jpeg->saw_Adobe_marker);
    }
  jpeg_start_decompress (jpeg);
  read_rows (decode);
  jpeg_finish_decompress (jpeg);
  return TRUE;
}

static SbImage *
finish (Decode *decode, GError **error)
{
  const J_COLOR_SPACE space = decode->jpeg.jpeg_color_space;

  if (decode->profile != NULL && space != JCS_CMYK && space != JCS_YCCK)
    {
      g_autoptr (GBytes) profile = g_bytes_new (decode->profile, decode->profile_bytes);
      sb_image_take_profile (decode->image, profile, space == JCS_GRAYSCALE);
    }
  else if (decode->bad_profile || (decode->profile != NULL && decode->transform == NULL))
    sb_image_add_warning (decode->image, _ ("The color profile is damaged or does not fit the "
                                            "picture, and was left out."));
  if (decode->at_end)
    sb_image_add_warning (decode->image, _ ("The file is incomplete: a part of the picture may be "
                                            "missing or blurred."));
  else if (decode->damaged)
    sb_image_add_warning (decode->image, _ ("The file is damaged: a part of the picture may be "
                                            "wrong."));
  sb_image_set_metadata (decode->image, decode->metadata);
  return sb_image_orient (g_steal_pointer (&decode->image), decode->orientation, error);
}

SbImage *
sb_image_load_jpeg (SbReader *reader, GError **error)
{
  Decode *decode = g_new0 (Decode, 1);
  SbImage *image = NULL;

  decode->reader = reader;
  decode->metadata = sb_metadata_new ();
  decode->metadata->format = "JPEG";
  decode->jpeg.err = jpeg_std_error (&decode->errors);
  decode->jpeg.client_data = decode;
  decode->errors.error_exit = on_error;
  decode->errors.emit_message = on_message;
  decode->errors.output_message = on_output;
  decode->source.init_source = on_init;
  decode->source.fill_input_buffer = on_fill;
  decode->source.skip_input_data = on_skip;
  decode->source.resync_to_restart = jpeg_resync_to_restart;
  decode->source.term_source = on_init;
  decode->progress.progress_monitor = on_progress;

  if (run (decode))
    image = finish (decode, error);
  else if (decode->error != NULL)
    g_propagate_error (error, g_steal_pointer (&decode->error));
  else if (!sb_reader_take_error (reader, error))
    {
      g_autofree char *reason
          = decode->at_end ? g_strdup (_ ("the file is incomplete"))
                           : g_strdup_printf (_ ("the file is damaged (%s)"), decode->message);
      sb_reader_set_error (reader, error, reason);
    }

  jpeg_destroy_decompress (&decode->jpeg);
  g_clear_pointer (&decode->image, sb_image_unref);
  g_clear_pointer (&decode->transform, cmsDeleteTransform);
  sb_metadata_unref (decode->metadata);
  g_free (decode->row);
  free (decode->profile);
  g_free (decode);
  return image;
}
