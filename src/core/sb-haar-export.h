/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-haar.h"

G_BEGIN_DECLS

/* Bands as files. */

typedef enum
{
  SB_HAAR_NPY,   /* NumPy's format 1.0: float32, little endian, C order, values as they are */
  SB_HAAR_PNG16, /* grey of 16 bits: 32768 + value * 64 of an 8-bit picture, 32768 + value / 4 of a
                    16-bit one, rounded and limited; said in a tEXt chunk, Softbox-Mapping */
} SbHaarFormat;

/* "npy", "png16"; SB_ERROR_INVALID names the token and the allowed ones. */
gboolean sb_haar_format_parse (const char *text, SbHaarFormat *format, GError **error);
/* "photo-cH1.npy" for a stem of "photo". */
char *sb_haar_file_name (const char *stem, SbHaarBand band,
                         SbHaarFormat format) G_GNUC_WARN_UNUSED_RESULT;
/* A band's file in memory. */
GBytes *sb_haar_encode (const SbHaar *haar, SbHaarBand band, SbHaarFormat format,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Puts it into `file`, as sb_save_bytes() does. */
gboolean sb_haar_save (const SbHaar *haar, SbHaarBand band, SbHaarFormat format, GFile *file,
                       gboolean overwrite, GError **error);
/* The whole mosaic, a pixel a point, over `ground`. */
SbImage *sb_haar_draw (const SbHaar *haar, const SbHaarLook *look, const guint8 ground[3],
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
