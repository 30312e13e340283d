/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-image.h"

G_BEGIN_DECLS

/* What the files that read and write pictures share. */

/* Profile, metadata and warnings of `from`, added to those of `image`. */
void sb_image_copy_properties (SbImage *image, const SbImage *from);

/* The file's base name, made fit to be shown: valid UTF-8, one line. */
char *sb_file_display_name (GFile *file) G_GNUC_WARN_UNUSED_RESULT;

/* --- sb-image-profile.c ---------------------------------------------------------------------- */

/* Whether lcms2 can read pixels of RGB with this profile; only such ones may become the profile of
 * an image. */
gboolean sb_profile_is_rgb (GBytes *profile);
/* An RGB profile with the tone curve of a grey one (sRGB's primaries, the curve three times): grey
 * pixels spread over R, G and B mean the same in it. NULL for anything but a grey profile. */
GBytes *sb_profile_from_grey (GBytes *profile) G_GNUC_WARN_UNUSED_RESULT;
/* An RGB profile of one gamma (encoded = linear ^ gamma, 0.45455 for most) and primaries as
 * chromaticities: white x y, red x y, green x y, blue x y; NULL for sRGB's. NULL where the numbers
 * describe no colour space. */
GBytes *sb_profile_from_gamma (double gamma,
                               const double *chromaticities) G_GNUC_WARN_UNUSED_RESULT;
/* The profile's description for people, never NULL. */
char *sb_profile_describe (GBytes *profile) G_GNUC_WARN_UNUSED_RESULT;

/* --- sb-image-load.c ------------------------------------------------------------------------- */

/* Bytes of a file in the order they come, through a small window, so that no file is ever held in
 * memory whole unless its format needs it. All calls check the cancellable. */
typedef struct
{
  GInputStream *stream;
  const char *name; /* for people */
  guint64 limit_bytes;
  guint page;          /* wanted; 0: the first */
  guint decode_ms;     /* what a loader of gdk-pixbuf may take */
  guint64 total, done; /* bytes of the file, 0 where unknown, and those read from it */
  SbProgressFunc progress;
  gpointer user_data;
  GCancellable *cancellable;
  GError *error; /* the first failure of the stream, NULL at a plain end */
  gsize start;   /* what is unread: window[start .. end - 1] */
  gsize end;
  guint8 window[65536];
} SbReader;

/* At least one unread byte in the window. FALSE at the end or after a failure. */
gboolean sb_reader_fill (SbReader *reader);
/* Up to n bytes: fewer at the end or after a failure. */
gsize sb_reader_read (SbReader *reader, void *to, gsize n);
/* All that is left; NULL with an error when it is more than max bytes or reading fails. */
GBytes *sb_reader_slurp (SbReader *reader, gsize max, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Whether a picture of this size may be decoded: the error names the file and the limit. */
gboolean sb_reader_check_size (SbReader *reader, guint64 width, guint64 height, GError **error);
/* "Could not open “name”: reason", SB_ERROR_INVALID. */
void sb_reader_set_error (SbReader *reader, GError **error, const char *reason);
/* Moves reader->error, if there is one, into error, with the file's name. TRUE if it did. */
gboolean sb_reader_take_error (SbReader *reader, GError **error);

/* The EXIF orientation 1 .. 8 in a TIFF structure ("II*" or "MM*" first): 1 for whatever is missing
 * or undefined. Never reads past n bytes. */
guint sb_exif_orientation (const guint8 *tiff, gsize n);
/* The picture upright: takes `image` and gives a new one, or `image` itself for 1. NULL when memory
 * runs out. */
SbImage *sb_image_orient (SbImage *image, guint orientation,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives `image` the profile if it fits, with a warning if it does not. `grey`: the file's pixels
 * were grey. */
void sb_image_take_profile (SbImage *image, GBytes *profile, gboolean grey);

/* One decoder each. Warnings are in the picture, orientation is applied. */
SbImage *sb_image_load_png (SbReader *reader, GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_load_jpeg (SbReader *reader, GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_load_tiff (SbReader *reader, GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_load_pnm (SbReader *reader, GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbImage *sb_image_load_webp (SbReader *reader, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What a file's container says of a picture and its loader may leave out. */
typedef struct
{
  GBytes *profile; /* or NULL */
  guint orientation;
  SbMetadata *metadata; /* or NULL */
} SbAside;

/* Whatever gdk-pixbuf has loaders for, decoded by softbox-decoder. `aside` (may be NULL) is taken
 * where the loader says nothing of its own. SB_ERROR_UNAVAILABLE for a format that no loader knows.
 */
SbImage *sb_image_load_pixbuf (SbReader *reader, const SbAside *aside,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
