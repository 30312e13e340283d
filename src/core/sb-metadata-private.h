/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-metadata.h"

#include <gexiv2/gexiv2.h>

G_BEGIN_DECLS

/* Exiv2's XMP toolkit is not safe in several threads: held around all use of what follows. */
extern GMutex sb_exiv2_lock;

/* Either block, or NULL, read. NULL where it cannot be. */
GExiv2Metadata *sb_exiv2_open (GBytes *exif, GBytes *xmp) G_GNUC_WARN_UNUSED_RESULT;

/* Pixels a meter of the picture, upright, as EXIF has it; left alone where it does not tell. */
void sb_metadata_get_exif_density (const SbMetadata *metadata, guint32 *x, guint32 *y);

G_END_DECLS
