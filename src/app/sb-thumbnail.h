/* SPDX-License-Identifier: MIT */

#pragma once

#include <gdk/gdk.h>

#include "sb-image.h"

G_BEGIN_DECLS

/* Small pictures of files in the desktop's own cache of thumbnails, where file managers find them
 * too. Main thread; the work is done elsewhere. */

/* Makes the thumbnail of a picture that has been opened, unless a valid one is there. Failures are
 * nobody's concern: the thumbnail is then missing. */
void sb_thumbnail_save (GFile *file, SbImage *image);

/* NULL with G_IO_ERROR_NOT_FOUND where there is no valid one. */
void sb_thumbnail_load_async (GFile *file, GCancellable *cancellable, GAsyncReadyCallback callback,
                              gpointer user_data);
GdkTexture *sb_thumbnail_load_finish (GAsyncResult *result,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
