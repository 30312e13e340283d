/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <glib/gi18n-lib.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

/* Decodes with libpng. libpng leaves by longjmp; what must outlive that is kept in Decode, never in
 * local variables. */
typedef struct
{
  SbReader *reader;
  png_structp png;
  png_infop info;
  png_infop end;
  SbImage *image;
  GError *error;     /* ours: wins over libpng's message */
  char *message;     /* libpng's, when it gave up */
  gboolean complete; /* all rows are there */
  gboolean damaged;  /* a chunk that is not needed was left out */
  gboolean no_profile;
  gboolean grey; /* as stored: libpng forgets it once rows are expanded */
  /* As stored too: libpng 1.6.48 puts 1 for a gamma of 0 when it begins on the rows. */
  gboolean gamma_given;
  double gamma;
  SbMetadata *metadata;
} Decode;

/* A text or profile that unpacks to more than this is left out. */
#define MAX_CHUNK   (16 << 20)
#define MAX_CHUNKS  1000
#define CHECK_EVERY 64

static void
on_error (png_structp png, png_const_charp message)
{
  Decode *decode = png_get_error_ptr (png);

  g_free (decode->message);
  decode->message = g_strdup (message);
  png_longjmp (png, 1);
}

/* libpng warns of much that no user must know (odd times, known profiles with odd headers). */
static void
on_warning (png_structp png, png_const_charp message)
{
  Decode *decode = png_get_error_ptr (png);

  g_debug ("libpng: %s", message);
  if (strstr (message, "CRC error") != NULL)
    decode->damaged = TRUE;
  if (g_str_has_prefix (message, "iCCP") && strstr (message, "known incorrect") == NULL)
    decode->no_profile = TRUE;
}

static void
on_read (png_structp png, png_bytep to, size_t n)
{
  Decode *decode = png_get_io_ptr (png);

  if (sb_reader_read (decode->reader, to, n) < n)
    png_error (png, decode->reader->error != NULL ? "read failed" : "end of file");
}

static void
fail (Decode *decode)
{
  png_longjmp (decode->png, 1);
}

static void
check_cancelled (Decode *decode)
{
  if (g_cancellable_set_error_if_cancelled (decode->reader->cancellable, &decode->reader->error))
    fail (decode);
}

/* libpng would unpack texts to any number of times 16 MB. */
static int
on_chunk (png_structp png, png_unknown_chunkp chunk)
{
  Decode *decode = png_get_user_chunk_ptr (png);
  char type[5] = { 0 };

  memcpy (type, chunk->name, 4);
  if (strcmp (type, "tEXt") != 0 && strcmp (type, "zTXt") != 0 && strcmp (type, "iTXt") != 0)
    return 0; /* libpng keeps it */
  sb_metadata_take_png_text (decode->metadata, type, chunk->data, chunk->size);
  return 1;
}

/* What says more than libpng knows is kept. */
static void
choose_chunks (Decode *decode)
{
  static const png_byte kept[] = "acTL\0cICP\0tEXt\0zTXt\0iTXt";
  png_structp png = decode->png;

  png_set_read_user_chunk_fn (png, decode, on_chunk);
  png_set_keep_unknown_chunks (png, PNG_HANDLE_CHUNK_ALWAYS, kept, 5);
  png_set_chunk_malloc_max (png, MAX_CHUNK);
  png_set_chunk_cache_max (png, MAX_CHUNKS);
  png_set_user_limits (png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_benign_errors (png, 1);
#ifdef PNG_SKIP_sRGB_CHECK_PROFILE
  png_set_option (png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
#endif
}

/* To RGBA at 8 or 16 bits in the machine's byte order. */
static void
choose_format (Decode *decode)
{
  png_structp png = decode->png;
  const gboolean wide = png_get_bit_depth (png, decode->info) == 16;
  const gboolean alpha = (png_get_color_type (png, decode->info) & PNG_COLOR_MASK_ALPHA) != 0
                         || png_get_valid (png, decode->info, PNG_INFO_tRNS) != 0;

  decode->grey = (png_get_color_type (png, decode->info) & PNG_COLOR_MASK_COLOR) == 0;
  png_set_expand (png);
  png_set_gray_to_rgb (png);
  if (!alpha)
    png_set_add_alpha (png, wide ? 0xffff : 0xff, PNG_FILLER_AFTER);
  if (wide && G_BYTE_ORDER == G_LITTLE_ENDIAN)
    png_set_swap (png);
}

static void
read_rows (Decode *decode)
{
  png_structp png = decode->png;
  const int passes = png_set_interlace_handling (png);
  const gsize stride = sb_image_get_stride (decode->image);
  const guint height = sb_image_get_height (decode->image);
  guint8 *pixels = sb_image_writable (decode->image);

  png_read_update_info (png, decode->info);
  if (png_get_rowbytes (png, decode->info) != stride)
    png_error (png, "unexpected row size");
  for (int pass = 0; pass < passes; pass++)
    for (guint y = 0; y < height; y++)
      {
        if (y % CHECK_EVERY == 0)
          check_cancelled (decode);
        png_read_row (png, pixels + y * stride, NULL);
      }
  decode->complete = TRUE;
}

static void
note_unknown (Decode *decode)
{
  png_unknown_chunkp chunks = NULL;
  const int n = png_get_unknown_chunks (decode->png, decode->info, &chunks);

  for (int i = 0; i < n; i++)
    {
      const guint8 *data = chunks[i].data;
      if (memcmp (chunks[i].name, "acTL", 4) == 0 && chunks[i].size >= 8)
        {
          const guint32 frames
              = (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
          if (frames > 1)
            sb_image_add_warning (decode->image, _ ("The file is an animation: only its first "
                                                    "picture is shown."));
        }
      /* PNG 3rd edition: transfer functions 16 (PQ) and 18 (HLG) of H.273. */
      if (memcmp (chunks[i].name, "cICP", 4) == 0 && chunks[i].size == 4
          && (data[1] == 16 || data[1] == 18))
        sb_image_add_warning (decode->image, _ ("The picture is made for HDR screens: its colors "
                                                "are shown as if it were not."));
    }
}

/* PNG 3rd edition, 4.3: iCCP before sRGB before gAMA and cHRM. */
static void
take_colors (Decode *decode)
{
  png_structp png = decode->png;
  png_charp name = NULL;
  png_bytep data = NULL;
  png_uint_32 n = 0;
  int method = 0;
  const double gamma = decode->gamma;
  double c[8];
  g_autoptr (GBytes) profile = NULL;

  if (png_get_iCCP (png, decode->info, &name, &method, &data, &n) != 0)
    {
      profile = g_bytes_new (data, n);
      sb_image_take_profile (decode->image, profile, decode->grey);
      return;
    }
  if (decode->no_profile)
    {
      sb_image_add_warning (decode->image, _ ("The color profile is damaged or does not fit the "
                                              "picture, and was left out."));
      return;
    }
  if (png_get_valid (png, decode->info, PNG_INFO_sRGB) != 0)
    return;

  const gboolean primaries_given
      = png_get_valid (png, decode->info, PNG_INFO_cHRM) != 0
        && png_get_cHRM (png, decode->info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7])
               != 0;
  if (!decode->gamma_given)
    return;
  /* 1/2.2 with sRGB's primaries is how sRGB is said in these chunks. */
  const gboolean srgb_gamma = gamma > 0.450 && gamma < 0.459;
  const double srgb[8] = { 0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06 };
  gboolean srgb_primaries = TRUE;
  for (guint i = 0; primaries_given && i < 8; i++)
    srgb_primaries = srgb_primaries && ABS (c[i] - srgb[i]) < 0.001;
  if (srgb_gamma && srgb_primaries)
    return;
  profile = sb_profile_from_gamma (gamma, primaries_given ? c : NULL);
  if (profile != NULL)
    sb_image_set_profile (decode->image, profile);
}

static void
take_density (Decode *decode)
{
  png_uint_32 x = 0, y = 0;
  int unit = 0;

  if (png_get_pHYs (decode->png, decode->info, &x, &y, &unit) == 0 || x == 0 || y == 0)
    return;
  decode->metadata->density_x = x;
  decode->metadata->density_y = y;
  decode->metadata->density_is_ratio = unit != PNG_RESOLUTION_METER;
}

static guint
find_orientation (Decode *decode)
{
  const png_infop infos[2] = { decode->info, decode->end };

  for (guint i = 0; i < 2; i++)
    {
      png_uint_32 n = 0;
      png_bytep data = NULL;
      if (png_get_eXIf_1 (decode->png, infos[i], &n, &data) != 0)
        {
          sb_metadata_take_exif (decode->metadata, data, n);
          return sb_exif_orientation (data, n);
        }
    }
  return 1;
}

/* Everything that may longjmp. FALSE after a jump. */
static gboolean
run (Decode *decode)
{
  SbReader *reader = decode->reader;

  if (setjmp (png_jmpbuf (decode->png)) != 0)
    return FALSE;

  png_set_read_fn (decode->png, decode, on_read);
  choose_chunks (decode);
  png_read_info (decode->png, decode->info);
  const guint width = png_get_image_width (decode->png, decode->info);
  const guint height = png_get_image_height (decode->png, decode->info);
  const guint depth = png_get_bit_depth (decode->png, decode->info) == 16 ? 16 : 8;
  if (!sb_reader_check_size (reader, width, height, &decode->error))
    return FALSE;
  decode->image = sb_image_new (width, height, depth, &decode->error);
  if (decode->image == NULL)
    return FALSE;
  decode->gamma_given = png_get_valid (decode->png, decode->info, PNG_INFO_gAMA) != 0
                        && png_get_gAMA (decode->png, decode->info, &decode->gamma) != 0;
  choose_format (decode);
  read_rows (decode);
  png_read_end (decode->png, decode->end);
  return TRUE;
}

SbImage *
sb_image_load_png (SbReader *reader, GError **error)
{
  Decode decode = { .reader = reader, .metadata = sb_metadata_new () };

  decode.metadata->format = "PNG";
  decode.png = png_create_read_struct (PNG_LIBPNG_VER_STRING, &decode, on_error, on_warning);
  if (decode.png != NULL)
    {
      decode.info = png_create_info_struct (decode.png);
      decode.end = png_create_info_struct (decode.png);
    }
  if (decode.info == NULL || decode.end == NULL)
    sb_reader_set_error (reader, &decode.error, _ ("there is not enough memory"));
  else if (!run (&decode) && decode.error == NULL && !sb_reader_take_error (reader, &decode.error)
           && !decode.complete)
    {
      /* A reader that stopped at the file's end is no riddle; else libpng knows best. */
      g_autofree char *reason
          = g_strcmp0 (decode.message, "end of file") == 0
                ? g_strdup (_ ("the file is incomplete"))
                : g_strdup_printf (_ ("the file is damaged (%s)"),
                                   decode.message != NULL ? decode.message : "?");
      sb_reader_set_error (reader, &decode.error, reason);
    }

  SbImage *image = NULL;
  if (decode.error == NULL)
    {
      if (decode.message != NULL)
        sb_image_add_warning (decode.image, _ ("The end of the file is damaged or missing, but the "
                                               "picture is complete."));
      if (decode.damaged)
        sb_image_add_warning (decode.image,
                              _ ("A part of the file that is not needed for the picture is damaged "
                                 "and was left out."));
      take_colors (&decode);
      note_unknown (&decode);
      take_density (&decode);
      const guint orientation = find_orientation (&decode);
      sb_image_set_metadata (decode.image, decode.metadata);
      image = sb_image_orient (g_steal_pointer (&decode.image), orientation, error);
    }
  else
    g_propagate_error (error, decode.error);

  g_clear_pointer (&decode.image, sb_image_unref);
  sb_metadata_unref (decode.metadata);
  g_free (decode.message);
  png_destroy_read_struct (&decode.png, &decode.info, &decode.end);
  return image;
}
