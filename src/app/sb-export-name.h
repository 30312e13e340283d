/* SPDX-License-Identifier: MIT */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What has been done to a picture. */
typedef enum
{
  SB_EXPORT_UNCHANGED,
  SB_EXPORT_BLURRED,
  SB_EXPORT_EDITED, /* anything else */
} SbExportWork;

/* edits: the texts of all edits, as the document's "edits". */
SbExportWork sb_export_work (const char *edits);

/* "NAME (blurred).png", "NAME (edited).png" or "NAME.png" for an opened file's name: valid UTF-8,
 * under 255 bytes, without a suffix that is a picture's; attempt 2 and up give
 * "NAME (blurred 2).png" and "NAME (2).png". */
char *sb_export_suggest_name (const char *display_name, SbExportWork work,
                              guint attempt) G_GNUC_WARN_UNUSED_RESULT;
/* Whether the desktop's document portal has given this file and no other in its folder: any other
 * name is taken for that of a temporary file, and is hidden from the user. */
gboolean sb_export_stands_alone (GFile *file);
/* Where a chosen file is written: the same file, or one whose name ends in .png, a picture's suffix
 * replaced by it. A file that stands alone
 * keeps its name, whatever it is. */
GFile *sb_export_correct_name (GFile *file) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
