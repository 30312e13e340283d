/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-metadata.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* A picture in host memory: RGBA, straight alpha, encoded in its own colour space, 8 or 16 bits a
 * channel (16 bits in the machine's byte order). Row y starts at pixels + y * stride, and stride is
 * width * 4 * depth / 8 exactly: there is no padding.
 *
 * Reference-counted, and immutable from the moment a second reference or thread can see it: whoever
 * made it fills it through sb_image_writable() before handing it on. References may be taken and
 * dropped in any thread. */
typedef struct _SbImage SbImage;

/* No side of a picture is longer than this: indices and radii stay far inside 32 bits. */
#define SB_IMAGE_MAX_SIDE 1000000

/* width, height: 1 .. SB_IMAGE_MAX_SIDE; depth: 8 or 16. The pixels are undefined. NULL with
 * SB_ERROR_OUT_OF_MEMORY when there is no memory, SB_ERROR_INVALID for a side out of range. */
SbImage *sb_image_new (guint width, guint height, guint depth,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same picture at another depth: v * 257 upwards, round (v / 257) downwards, profile and
 * warnings kept. A reference to `image` itself where it has that depth already. */
SbImage *sb_image_convert (SbImage *image, guint depth, GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_ref (SbImage *image) G_GNUC_WARN_UNUSED_RESULT;
void sb_image_unref (SbImage *image);

guint sb_image_get_width (const SbImage *image);
guint sb_image_get_height (const SbImage *image);
guint sb_image_get_depth (const SbImage *image);
gsize sb_image_get_stride (const SbImage *image);
gsize sb_image_get_bytes (const SbImage *image); /* stride * height */
const guint8 *sb_image_get_pixels (const SbImage *image);
guint8 *sb_image_writable (SbImage *image);
/* TRUE when the caller's reference is the only one: the pixels may then be filled anew, and what
 * was known of them (opacity) is forgotten. Lets a renderer use its memory again. */
gboolean sb_image_reclaim (SbImage *image);

/* Whether every alpha is the maximum. Looked up once, on first use, in any thread. */
gboolean sb_image_is_opaque (SbImage *image);
/* Equal size, depth and bytes. Profiles are not compared. */
gboolean sb_image_equal (const SbImage *a, const SbImage *b);

/* The ICC profile of the pixels, always one of RGB data, or NULL: then they are sRGB. */
GBytes *sb_image_get_profile (const SbImage *image);
void sb_image_set_profile (SbImage *image, GBytes *profile);
/* A name for people: the profile's description, "sRGB" without one. Owned by the image. */
const char *sb_image_get_profile_name (const SbImage *image);

/* What the file said of the picture, or NULL. */
SbMetadata *sb_image_get_metadata (const SbImage *image);
void sb_image_set_metadata (SbImage *image, SbMetadata *metadata);

/* Told in the calling thread of a load or save: fraction 0 .. 1 of the work. */
typedef void (*SbProgressFunc) (double fraction, gpointer user_data);
/* A translated sentence that the user must be told; likewise. */
typedef void (*SbWarningFunc) (const char *sentence, gpointer user_data);

/* What a user must be told of a picture that was opened all the same ("cut short", "first of 12
 * frames"): translated sentences, NULL-terminated, owned by the image; never NULL, often empty. */
const char *const *sb_image_get_warnings (const SbImage *image);
void sb_image_add_warning (SbImage *image, const char *warning);

/* --- sb-image-load.c ------------------------------------------------------------------------- */

/* Reads a picture, deciding by content, never by name: PNG (libpng), TIFF (libtiff) and binary
 * anymaps at 8 or 16 bits, JPEG (libjpeg) and whatever gdk-pixbuf has loaders for at 8; orientation
 * applied. Those loaders run in a process of their own, with limits to time and memory, that ends
 * with them or at once when cancelled. An ICC profile of RGB is kept; of a grey one the curve is
 * kept in an RGB profile; gAMA and cHRM of a PNG become a profile; CMYK becomes sRGB. Blocks: call
 * it in a worker. Only regular files are opened (a FIFO would hang), or `stream` when `file` is
 * NULL.
 *
 * limit_bytes: width * height * 30 may not exceed it, checked from the header before anything is
 * decoded; 0 means half of the physical memory. Errors are GIO's for the file, SB_ERROR_INVALID for
 * what is damaged beyond showing, SB_ERROR_UNAVAILABLE for what no loader knows; each message names
 * the file and the reason. A JPEG or TIFF that is cut short or damaged is returned with a warning
 * where something of it can be shown; a PNG only when no row is missing. */
/* page: where the format has pages (TIFF), the one to take, from 1 on; 0 is the first, and then the
 * picture comes with a warning that there are more. SB_ERROR_INVALID for one that is not there;
 * other formats have one. progress may be NULL; it is told how much of the file has been read,
 * where that can be known. decode_ms: how long a loader of gdk-pixbuf may take, reading not
 * counted; 0 means 9 seconds, and past it the load fails with SB_ERROR_INVALID. */
typedef struct
{
  guint64 limit_bytes;
  guint page;
  SbProgressFunc progress;
  gpointer user_data;
  guint decode_ms;
} SbLoadOptions;

SbImage *sb_image_load_with (GFile *file, const SbLoadOptions *options, GCancellable *cancellable,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_load_stream_with (GInputStream *stream, const char *name,
                                    const SbLoadOptions *options, GCancellable *cancellable,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same without choice. */
SbImage *sb_image_load (GFile *file, guint64 limit_bytes, GCancellable *cancellable,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_load_stream (GInputStream *stream, const char *name, guint64 limit_bytes,
                               GCancellable *cancellable, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --- sb-image-save.c ------------------------------------------------------------------------- */

typedef struct
{
  guint depth;        /* 8, 16, or 0 for the image's own */
  int compression;    /* 0 .. 9 as deflate counts it, -1 for the default tuned for photos */
  gboolean overwrite; /* replace an existing file; otherwise G_IO_ERROR_EXISTS */
  /* From 16 bits to 8, mix the two nearest values in a fixed fine pattern, so that a smooth ramp
   * stays one: v = 257 q + r becomes q + 1 at r / 257 of all places, so what 8 bits can hold is
   * never touched. Otherwise round. */
  gboolean dither;
  gboolean interlace;      /* Adam7 */
  SbMetadata *metadata;    /* what to keep of the file that was opened, or NULL; borrowed */
  gboolean strip_metadata; /* keep nothing of it, resolution included */
  gboolean keep_location;  /* where it was taken too */
  SbWarningFunc warned; /* what of the metadata could not be kept; or NULL; data as progress has */
} SbSaveOptions;

/* The whole PNG in memory, packed by all cores; the same picture and options give the same bytes on
 * any number of them. Cancelled: G_IO_ERROR_CANCELLED. */
GBytes *sb_image_encode_png (SbImage *image, const SbSaveOptions *options, SbProgressFunc progress,
                             gpointer user_data, GCancellable *cancellable,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Puts a file into place by a rename within its directory: on any failure (full disk, read-only
 * folder, cancelled) what was there is untouched and no temporary file is left. A symbolic link
 * stays one and its target is replaced; mode and, where allowed, owner of a replaced file are kept;
 * a read-only file is not replaced. A file with several hard links parts from them: the other names
 * keep the old contents. Without overwrite a file that is there is G_IO_ERROR_EXISTS. Files without
 * a local path go through GIO. The message names the file and the reason. Blocks. */
gboolean sb_save_bytes (GBytes *bytes, GFile *file, gboolean overwrite, GCancellable *cancellable,
                        GError **error);
/* Encodes to memory, then as sb_save_bytes(); a place where that can only fail is told before. */
gboolean sb_image_save_png (SbImage *image, GFile *file, const SbSaveOptions *options,
                            SbProgressFunc progress, gpointer user_data, GCancellable *cancellable,
                            GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbImage, sb_image_unref)

G_END_DECLS
