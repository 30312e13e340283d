/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _SbImage
{
  gatomicrefcount references;
  guint width;
  guint height;
  guint depth;
  gsize bytes;
  guint8 *pixels;
  gint opaque; /* atomic: 0 not looked up yet, 1 no, 2 yes */
  GBytes *profile;
  char *profile_name;
  SbMetadata *metadata;
  GPtrArray *warnings; /* NULL-terminated */
};

SbImage *
sb_image_new (guint width, guint height, guint depth, GError **error)
{
  g_return_val_if_fail (depth == 8 || depth == 16, NULL);

  if (width < 1 || width > SB_IMAGE_MAX_SIDE || height < 1 || height > SB_IMAGE_MAX_SIDE)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("A picture of %u × %u pixels is not possible: a side must be 1 to %d"), width,
                   height, SB_IMAGE_MAX_SIDE);
      return NULL;
    }

  /* At most 10^12 pixels of 8 bytes: no overflow in 64 bits. */
  const guint64 bytes = (guint64)width * height * 4 * (depth / 8);
  guint8 *pixels = bytes <= G_MAXSSIZE ? sb_memory_alloc ((gsize)bytes) : NULL;
  if (pixels == NULL)
    {
      g_autofree char *size = g_format_size (bytes);
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory for a picture of %u × %u pixels (%s)"), width,
                   height, size);
      return NULL;
    }

  SbImage *image = g_new0 (SbImage, 1);
  g_atomic_ref_count_init (&image->references);
  image->width = width;
  image->height = height;
  image->depth = depth;
  image->bytes = (gsize)bytes;
  image->pixels = pixels;
  image->warnings = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (image->warnings, NULL);
  return image;
}

SbImage *
sb_image_ref (SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);

  g_atomic_ref_count_inc (&image->references);
  return image;
}

void
sb_image_unref (SbImage *image)
{
  if (image == NULL || !g_atomic_ref_count_dec (&image->references))
    return;

  sb_memory_free (image->pixels, image->bytes);
  g_clear_pointer (&image->profile, g_bytes_unref);
  g_free (image->profile_name);
  sb_metadata_unref (image->metadata);
  g_ptr_array_unref (image->warnings);
  g_free (image);
}

guint
sb_image_get_width (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, 0);
  return image->width;
}

guint
sb_image_get_height (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, 0);
  return image->height;
}

guint
sb_image_get_depth (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, 0);
  return image->depth;
}

gsize
sb_image_get_stride (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, 0);
  return (gsize)image->width * 4 * (image->depth / 8);
}

gsize
sb_image_get_bytes (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, 0);
  return image->bytes;
}

const guint8 *
sb_image_get_pixels (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);
  return image->pixels;
}

guint8 *
sb_image_writable (SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);
  return image->pixels;
}

gboolean
sb_image_reclaim (SbImage *image)
{
  g_return_val_if_fail (image != NULL, FALSE);

  if (!g_atomic_ref_count_compare (&image->references, 1))
    return FALSE;
  g_atomic_int_set (&image->opaque, 0);
  return TRUE;
}

/* Whether all the bits of `mask` are set in each of n 64-bit words. Words are taken in blocks, so
 * that the loop vectorises and a picture with alpha is left at its first block that shows it. */
static gboolean
all_set (const guint8 *bytes, gsize n, guint64 mask)
{
  enum
  {
    BLOCK = 512
  };
  gsize i = 0;

  while (i < n)
    {
      const gsize end = MIN (n, i + BLOCK);
      guint64 all = mask;
      for (; i < end; i++)
        {
          guint64 word;
          memcpy (&word, bytes + 8 * i, 8);
          all &= word;
        }
      if (all != mask)
        return FALSE;
    }
  return TRUE;
}

static gboolean
scan_opaque (const SbImage *image)
{
  const guint16 alpha16[4] = { 0, 0, 0, 0xffff };
  const guint8 alpha8[8] = { 0, 0, 0, 0xff, 0, 0, 0, 0xff };
  guint64 mask;

  memcpy (&mask, image->depth == 16 ? (const void *)alpha16 : (const void *)alpha8, sizeof mask);
  if (!all_set (image->pixels, image->bytes / 8, mask))
    return FALSE;
  /* An odd number of 8-bit pixels leaves one over. */
  return image->bytes % 8 == 0 || image->pixels[image->bytes - 1] == 0xff;
}

gboolean
sb_image_is_opaque (SbImage *image)
{
  g_return_val_if_fail (image != NULL, FALSE);

  /* Two threads may both scan at first: they find the same. */
  gint opaque = g_atomic_int_get (&image->opaque);
  if (opaque == 0)
    {
      opaque = scan_opaque (image) ? 2 : 1;
      g_atomic_int_set (&image->opaque, opaque);
    }
  return opaque == 2;
}

gboolean
sb_image_equal (const SbImage *a, const SbImage *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  return a == b
         || (a->width == b->width && a->height == b->height && a->depth == b->depth
             && memcmp (a->pixels, b->pixels, a->bytes) == 0);
}

static void
widen (const guint8 *from, guint16 *to, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = (guint16)(from[i] * 257);
}

static void
narrow (const guint16 *from, guint8 *to, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = (guint8)((from[i] * 255u + 32895u) >> 16);
}

SbImage *
sb_image_convert (SbImage *image, guint depth, GError **error)
{
  g_return_val_if_fail (image != NULL, NULL);
  g_return_val_if_fail (depth == 8 || depth == 16, NULL);

  if (image->depth == depth)
    return sb_image_ref (image);

  SbImage *other = sb_image_new (image->width, image->height, depth, error);
  if (other == NULL)
    return NULL;

  const gsize n = (gsize)image->width * image->height * 4;
  if (depth == 16)
    widen (image->pixels, (guint16 *)other->pixels, n);
  else
    narrow ((const guint16 *)image->pixels, other->pixels, n);
  sb_image_copy_properties (other, image);
  return other;
}

void
sb_image_copy_properties (SbImage *image, const SbImage *from)
{
  sb_image_set_profile (image, from->profile);
  sb_image_set_metadata (image, from->metadata);
  for (guint i = 0; i + 1 < from->warnings->len; i++)
    sb_image_add_warning (image, g_ptr_array_index (from->warnings, i));
}

GBytes *
sb_image_get_profile (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);
  return image->profile;
}

void
sb_image_set_profile (SbImage *image, GBytes *profile)
{
  g_return_if_fail (image != NULL);

  if (profile != NULL)
    g_bytes_ref (profile);
  g_clear_pointer (&image->profile, g_bytes_unref);
  image->profile = profile;
  g_free (image->profile_name);
  image->profile_name = profile != NULL ? sb_profile_describe (profile) : NULL;
}

const char *
sb_image_get_profile_name (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);
  return image->profile_name != NULL ? image->profile_name : "sRGB";
}

SbMetadata *
sb_image_get_metadata (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);
  return image->metadata;
}

void
sb_image_set_metadata (SbImage *image, SbMetadata *metadata)
{
  g_return_if_fail (image != NULL);

  SbMetadata *old = image->metadata;
  image->metadata = metadata != NULL ? sb_metadata_ref (metadata) : NULL;
  sb_metadata_unref (old);
}

const char *const *
sb_image_get_warnings (const SbImage *image)
{
  g_return_val_if_fail (image != NULL, NULL);
  return (const char *const *)image->warnings->pdata;
}

void
sb_image_add_warning (SbImage *image, const char *warning)
{
  g_return_if_fail (image != NULL);
  g_return_if_fail (warning != NULL);

  g_ptr_array_insert (image->warnings, (gint)image->warnings->len - 1, g_strdup (warning));
}
