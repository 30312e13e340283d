/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-thumbnail.h"

#include <gdk-pixbuf/gdk-pixbuf.h>

#define SIDE 256 /* of the cache's "large" thumbnails */

typedef struct
{
  GFile *file;
  SbImage *image;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  g_object_unref (job->file);
  sb_image_unref (job->image);
  g_free (job);
}

/* Means over whole source pixels, which is good enough for a picture of this size; colour weighted
 * by alpha, so that what is invisible does not tint the rest. */
static GdkPixbuf *
reduce (SbImage *image)
{
  guint width = sb_image_get_width (image);
  guint height = sb_image_get_height (image);
  guint depth = sb_image_get_depth (image);
  double scale = MIN (1, (double)SIDE / MAX (width, height));
  guint to_width = MAX (1, (guint)(width * scale + 0.5));
  guint to_height = MAX (1, (guint)(height * scale + 0.5));
  GdkPixbuf *pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, TRUE, 8, (int)to_width, (int)to_height);

  if (pixbuf == NULL)
    return NULL;
  for (guint y = 0; y < to_height; y++)
    {
      guint8 *to = gdk_pixbuf_get_pixels (pixbuf) + y * (gsize)gdk_pixbuf_get_rowstride (pixbuf);
      guint top = (guint)((guint64)y * height / to_height);
      guint bottom = MAX (top + 1, (guint)((guint64)(y + 1) * height / to_height));

      for (guint x = 0; x < to_width; x++, to += 4)
        {
          guint left = (guint)((guint64)x * width / to_width);
          guint right = MAX (left + 1, (guint)((guint64)(x + 1) * width / to_width));
          guint64 sum[4] = { 0 };
          guint64 n = (guint64)(right - left) * (bottom - top);

          for (guint j = top; j < bottom; j++)
            {
              const guint8 *row = sb_image_get_pixels (image) + j * sb_image_get_stride (image);
              const guint16 *row16 = (const guint16 *)row;

              for (guint i = left; i < right; i++)
                {
                  guint c[4];

                  for (guint k = 0; k < 4; k++)
                    c[k] = depth == 16 ? row16[4 * i + k] >> 8 : row[4 * i + k];
                  for (guint k = 0; k < 3; k++)
                    sum[k] += c[k] * c[3];
                  sum[3] += c[3];
                }
            }
          for (guint k = 0; k < 3; k++)
            to[k] = (guint8)(sum[3] == 0 ? 0 : (sum[k] + sum[3] / 2) / sum[3]);
          to[3] = (guint8)((sum[3] + n / 2) / n);
        }
    }
  return pixbuf;
}

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (GFileInfo) info
      = g_file_query_info (job->file,
                           G_FILE_ATTRIBUTE_TIME_MODIFIED "," G_FILE_ATTRIBUTE_THUMBNAIL_PATH
                                                          "," G_FILE_ATTRIBUTE_THUMBNAIL_IS_VALID,
                           G_FILE_QUERY_INFO_NONE, NULL, NULL);

  if (info == NULL || g_file_info_get_attribute_boolean (info, G_FILE_ATTRIBUTE_THUMBNAIL_IS_VALID))
    return;

  g_autofree char *uri = g_file_get_uri (job->file);
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_MD5, uri, -1);
  g_autofree char *name = g_strconcat (sum, ".png", NULL);
  g_autofree char *folder = g_build_filename (g_get_user_cache_dir (), "thumbnails", "large", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *modified
      = g_strdup_printf ("%" G_GUINT64_FORMAT,
                         g_file_info_get_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED));
  g_autoptr (GdkPixbuf) pixbuf = reduce (job->image);
  g_autofree char *png = NULL;
  gsize size = 0;

  if (pixbuf != NULL && g_mkdir_with_parents (folder, 0700) == 0
      && gdk_pixbuf_save_to_buffer (pixbuf, &png, &size, "png", NULL, "tEXt::Thumb::URI", uri,
                                    "tEXt::Thumb::MTime", modified, "tEXt::Software", "Softbox",
                                    NULL))
    g_file_set_contents_full (path, png, (gssize)size, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
}

void
sb_thumbnail_save (GFile *file, SbImage *image)
{
  g_return_if_fail (G_IS_FILE (file) && image != NULL);

  g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);
  Job *job = g_new (Job, 1);

  job->file = g_object_ref (file);
  job->image = sb_image_ref (image);
  g_task_set_task_data (task, job, job_free);
  g_task_run_in_thread (task, save_thread);
}

static void
load_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GFileInfo) info = g_file_query_info (
      data, G_FILE_ATTRIBUTE_THUMBNAIL_PATH "," G_FILE_ATTRIBUTE_THUMBNAIL_IS_VALID,
      G_FILE_QUERY_INFO_NONE, cancellable, &error);
  const char *path
      = info == NULL
            ? NULL
            : g_file_info_get_attribute_byte_string (info, G_FILE_ATTRIBUTE_THUMBNAIL_PATH);
  g_autoptr (GdkPixbuf) pixbuf = NULL;

  if (info == NULL)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  if (path == NULL
      || !g_file_info_get_attribute_boolean (info, G_FILE_ATTRIBUTE_THUMBNAIL_IS_VALID))
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no thumbnail");
      return;
    }
  pixbuf = gdk_pixbuf_new_from_file (path, &error);
  if (pixbuf == NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task, gdk_texture_new_for_pixbuf (pixbuf), g_object_unref);
}

void
sb_thumbnail_load_async (GFile *file, GCancellable *cancellable, GAsyncReadyCallback callback,
                         gpointer user_data)
{
  g_return_if_fail (G_IS_FILE (file));

  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);

  g_task_set_task_data (task, g_object_ref (file), g_object_unref);
  g_task_run_in_thread (task, load_thread);
}

GdkTexture *
sb_thumbnail_load_finish (GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (G_IS_TASK (result), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
