/* SPDX-License-Identifier: MIT */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What could not be kept though nobody asked to leave it out. */
typedef enum
{
  SB_METADATA_LOST_EXIF = 1 << 0,
  SB_METADATA_LOST_XMP = 1 << 1,
  SB_METADATA_LOST_IPTC = 1 << 2,
  SB_METADATA_LOST_TEXT = 1 << 3,
  SB_METADATA_LOST_XMP_EXTENSION = 1 << 4, /* of a JPEG, XMP past what one of its segments holds */
} SbMetadataLoss;

/* What a file says of its picture besides the pixels, as it stands there: the blocks are kept whole
 * and unread until they are exported or shown to somebody. Whoever makes one fills it before
 * handing it on; then it is immutable. References may be taken and dropped in any thread. */
typedef struct
{
  gatomicrefcount references;
  const char *format; /* of the file, for people: "JPEG"; static, or NULL */
  GBytes *exif;       /* a TIFF structure, "II*" or "MM*" first, or NULL */
  GBytes *xmp;        /* an XMP packet, or NULL */
  GBytes *iptc;       /* datasets of IPTC-IIM, or NULL */
  GPtrArray *texts;   /* of SbMetadataText */
  gsize texts_bytes;
  gsize unpacked_bytes;
  /* Pixels a meter, or only their ratio to each other; 0: not told. */
  guint32 density_x, density_y;
  gboolean density_is_ratio;
  guint page, n_pages; /* of a file with pages, from 1 on; 0 of others */
  SbMetadataLoss lost; /* what the file had and could not be taken */
} SbMetadata;

typedef struct
{
  char *keyword; /* as PNG allows it: 1 .. 79 printable characters of Latin-1, as UTF-8 */
  char *text;    /* UTF-8 */
} SbMetadataText;

/* More than any real file has of one block; what is larger is left out. */
#define SB_METADATA_MAX_BLOCK ((gsize)4 << 20)
/* And of all texts together. */
#define SB_METADATA_MAX_TEXTS ((gsize)1 << 20)
/* What is unpacked for all of them, kept or not. */
#define SB_METADATA_MAX_UNPACKED ((gsize)32 << 20)

SbMetadata *sb_metadata_new (void) G_GNUC_WARN_UNUSED_RESULT;
SbMetadata *sb_metadata_ref (SbMetadata *metadata) G_GNUC_WARN_UNUSED_RESULT;
void sb_metadata_unref (SbMetadata *metadata); /* NULL: nothing happens */

/* Each takes a copy, the first one of a kind; what is empty is left out, and what is too large or
 * not what it should be is too, but noted in `lost`. EXIF may begin with "Exif\0\0". */
void sb_metadata_take_exif (SbMetadata *metadata, const guint8 *data, gsize n);
void sb_metadata_take_xmp (SbMetadata *metadata, const guint8 *data, gsize n);
void sb_metadata_take_iptc (SbMetadata *metadata, const guint8 *data, gsize n);
/* Photoshop's image resources, where IPTC is in a JPEG. */
void sb_metadata_take_resources (SbMetadata *metadata, const guint8 *data, gsize n);
/* A text of a PNG; "XML:com.adobe.xmp" and "Raw profile type …" become what they hold. `text` need
 * not be valid. */
void sb_metadata_take_text (SbMetadata *metadata, const char *keyword, const char *text, gsize n);
/* A body of a chunk tEXt, zTXt or iTXt. Unpacks no more than the limits above. */
void sb_metadata_take_png_text (SbMetadata *metadata, const char type[4], const guint8 *data,
                                gsize n);
/* Pixels an inch; what is no real density is left out. */
void sb_metadata_take_dpi (SbMetadata *metadata, double x, double y);

/* --- sb-metadata-exif.c ---------------------------------------------------------------------- */

/* Up to n bytes from `at` on into `to`; how many there were. */
typedef gsize (*SbReadAtFunc) (gpointer user_data, guint64 at, guint8 *to, gsize n);

/* The EXIF that a TIFF file has among its own tags: those of its first directory that speak of the
 * picture and not of how its pixels are stored, and the directories of camera and location. NULL
 * where there is none. `first`: where the page's directory is in the file. */
GBytes *sb_metadata_exif_from_tiff (SbReadAtFunc read_at, gpointer user_data,
                                    guint64 first) G_GNUC_WARN_UNUSED_RESULT;

/* --- sb-metadata-png.c ----------------------------------------------------------------------- */

typedef struct
{
  char type[5];
  GBytes *data;
} SbMetadataChunk;

/* The chunks that a PNG of this picture, upright and of this size, keeps of it: pHYs, eXIf, texts,
 * XMP and IPTC. What would show the picture as it was is never among them: embedded thumbnails and
 * previews, in maker notes too, which are left out whole. Orientation is normal, sizes are the
 * picture's. Where it was taken (GPS, places in XMP and IPTC) is left out unless asked for. `lost`
 * gets what cannot be kept, what was lost when the file was opened among it. Free with
 * g_ptr_array_unref(). Blocks for milliseconds; any thread. */
GPtrArray *sb_metadata_to_png (const SbMetadata *metadata, guint width, guint height,
                               gboolean keep_location,
                               SbMetadataLoss *lost) G_GNUC_WARN_UNUSED_RESULT;
/* A translated sentence for each kind of loss in `lost`, in a fixed order; free with
 * g_strfreev(). */
char **sb_metadata_describe_loss (SbMetadataLoss lost) G_GNUC_WARN_UNUSED_RESULT;

/* --- sb-metadata-describe.c ------------------------------------------------------------------ */

typedef struct
{
  const char *label; /* translated */
  char *value;
} SbMetadataField;

/* What people want to know of it, in the order of importance: camera, lens, exposure, date, author,
 * resolution. Free with g_ptr_array_unref(). Blocks for milliseconds; any thread. */
GPtrArray *sb_metadata_describe (const SbMetadata *metadata) G_GNUC_WARN_UNUSED_RESULT;
/* "52.50330° N, 13.41000° E", or NULL where the file does not tell. */
char *sb_metadata_describe_location (const SbMetadata *metadata) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbMetadata, sb_metadata_unref)

G_END_DECLS
