/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-haar-export.h"
#include "sb-cpu-haar.h"
#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

static const char *const format_keys[] = { "npy", "png16" };
static const char *const extensions[] = { "npy", "png" };

gboolean
sb_haar_format_parse (const char *text, SbHaarFormat *format, GError **error)
{
  g_return_val_if_fail (text != NULL && format != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (format_keys); i++)
    if (g_str_equal (text, format_keys[i]))
      {
        *format = (SbHaarFormat)i;
        return TRUE;
      }

  g_autofree char *shown = g_utf8_make_valid (text, -1);

  g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
               _ ("“%s” is not a format of bands; the formats are npy, png16"), shown);
  return FALSE;
}

char *
sb_haar_file_name (const char *stem, SbHaarBand band, SbHaarFormat format)
{
  g_return_val_if_fail (stem != NULL, NULL);

  g_autofree char *name = sb_haar_band_name (band);

  return g_strdup_printf ("%s-%s.%s", stem, name, extensions[format]);
}

/* --- NumPy ----------------------------------------------------------------------------------- */

static GBytes *
encode_npy (const float *values, guint columns, guint rows, GError **error)
{
  g_autofree char *description = g_strdup_printf (
      "{'descr': '<f4', 'fortran_order': False, 'shape': (%u, %u), }", rows, columns);
  const gsize n = (gsize)columns * rows;
  /* Magic, version and length take 10 bytes; the data begins at a multiple of 64. */
  const gsize length = strlen (description) + 1, head = (10 + length + 63) & ~(gsize)63;
  guint8 *data = g_try_malloc (head + 4 * n);

  if (data == NULL)
    {
      g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                           _ ("There is not enough memory to write the subbands"));
      return NULL;
    }
  memcpy (data, "\x93NUMPY\1\0", 8);
  data[8] = (guint8)((head - 10) & 255);
  data[9] = (guint8)((head - 10) >> 8);
  memset (data + 10, ' ', head - 10);
  memcpy (data + 10, description, length - 1);
  data[head - 1] = '\n';
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, &values[i], sizeof bits);
      bits = GUINT32_TO_LE (bits);
      memcpy (data + head + 4 * i, &bits, sizeof bits);
    }
  return g_bytes_new_take (data, head + 4 * n);
}

/* --- PNG ------------------------------------------------------------------------------------- */

static void
write_bytes (png_structp png, png_bytep data, png_size_t n)
{
  g_byte_array_append (png_get_io_ptr (png), data, (guint)n);
}

static void
flush_nothing (png_structp png)
{
}

static void
png_failed (png_structp png, png_const_charp message)
{
  longjmp (png_jmpbuf (png), 1);
}

static void
png_warned (png_structp png, png_const_charp message)
{
}

/* FALSE: libpng has no memory. */
static gboolean
write_png (GByteArray *out, const float *values, guint columns, guint rows, double scale,
           const char *mapping, guint16 *row)
{
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, png_failed, png_warned);
  png_infop info = png != NULL ? png_create_info_struct (png) : NULL;

  if (info == NULL || setjmp (png_jmpbuf (png)) != 0)
    {
      png_destroy_write_struct (&png, &info);
      return FALSE;
    }
  png_set_write_fn (png, out, write_bytes, flush_nothing);
  png_set_user_limits (png, SB_IMAGE_MAX_SIDE, SB_IMAGE_MAX_SIDE);
  png_set_IHDR (png, info, columns, rows, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level (png, 4);
  png_text text = { .compression = PNG_TEXT_COMPRESSION_NONE,
                    .key = (char *)"Softbox-Mapping",
                    .text = (char *)mapping };
  png_set_text (png, info, &text, 1);
  png_write_info (png, info);
  for (guint y = 0; y < rows; y++)
    {
      for (guint x = 0; x < columns; x++)
        {
          const double grey = floor (32768 + values[(gsize)y * columns + x] * scale + 0.5);
          row[x] = GUINT16_TO_BE ((guint16)CLAMP (grey, 0, 65535));
        }
      png_write_row (png, (png_const_bytep)row);
    }
  png_write_end (png, NULL);
  png_destroy_write_struct (&png, &info);
  return TRUE;
}

static GBytes *
encode_png (const float *values, guint columns, guint rows, guint depth, GError **error)
{
  const char *mapping = depth == 8 ? "grey = 32768 + value * 64" : "grey = 32768 + value / 4";
  g_autofree guint16 *row = g_new (guint16, columns);
  GByteArray *out = g_byte_array_new ();

  if (write_png (out, values, columns, rows, depth == 8 ? 64 : 0.25, mapping, row))
    return g_byte_array_free_to_bytes (out);
  g_byte_array_unref (out);
  g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("There is not enough memory to write the subbands"));
  return NULL;
}

/* --- Files ----------------------------------------------------------------------------------- */

GBytes *
sb_haar_encode (const SbHaar *haar, SbHaarBand band, SbHaarFormat format, GError **error)
{
  g_return_val_if_fail (haar != NULL, NULL);

  guint columns, rows;
  const float *values = sb_haar_get_band (haar, band, &columns, &rows);

  g_return_val_if_fail (values != NULL, NULL);
  return format == SB_HAAR_NPY
             ? encode_npy (values, columns, rows, error)
             : encode_png (values, columns, rows, sb_haar_get_depth (haar), error);
}

gboolean
sb_haar_save (const SbHaar *haar, SbHaarBand band, SbHaarFormat format, GFile *file,
              gboolean overwrite, GError **error)
{
  g_return_val_if_fail (haar != NULL && G_IS_FILE (file), FALSE);

  g_autoptr (GBytes) bytes = sb_haar_encode (haar, band, format, error);

  return bytes != NULL && sb_save_bytes (bytes, file, overwrite, NULL, error);
}

SbImage *
sb_haar_draw (const SbHaar *haar, const SbHaarLook *look, const guint8 ground[3], GError **error)
{
  g_return_val_if_fail (haar != NULL && look != NULL && ground != NULL, NULL);

  guint columns, rows;

  sb_haar_mosaic (haar->set.width, haar->set.height, haar->set.choice.levels, look->layout,
                  &columns, &rows, NULL);
  g_autoptr (SbImage) image = sb_image_new (columns, rows, 8, error);
  if (image == NULL)
    return NULL;

  const SbView view = { .what = SB_SHOW_SUBBANDS,
                        .width = (int)columns,
                        .height = (int)rows,
                        .zoom = 1,
                        .checker_size = 1,
                        .ground = { ground[0], ground[1], ground[2] },
                        .look = *look };
  SbParallel *parallel = sb_parallel_new (0);
  const gboolean done = sb_cpu_haar_show (&view, &haar->set, sb_image_writable (image),
                                          sb_image_get_stride (image), parallel, error);
  sb_parallel_free (parallel);
  return done ? g_steal_pointer (&image) : NULL;
}
