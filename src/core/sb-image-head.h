/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-metadata.h"

G_BEGIN_DECLS

/* What the first bytes of a file tell that gdk-pixbuf's loaders keep to themselves. head[0 .. n -
 * 1] is the file's beginning, of any length; nothing beyond is looked for. Any thread. */

/* The name of the format, to be said where no loader for it is installed; NULL: not known. */
const char *sb_head_name_format (const guint8 *head, gsize n);
/* The greatest value of a portable anymap, P2, P3, P5 or P6; 0 where it is none. */
guint sb_head_anymap_maximum (const guint8 *head, gsize n);
/* Whether the file has more than the 8 bits that gdk-pixbuf's loaders give: anymaps, AVIF, HEIF and
 * JPEG XL. */
gboolean sb_head_is_deep (const guint8 *head, gsize n);
/* What AVIF, HEIF and JPEG XL list beside the picture, which no loader hands on. */
SbMetadataLoss sb_head_find_loss (const guint8 *head, gsize n);

G_END_DECLS
