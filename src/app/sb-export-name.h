/* SPDX-License-Identifier: MIT */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* "NAME (blurred).png" for an opened file's name: valid UTF-8, under 255 bytes, without a suffix
 * that is a picture's; attempt 2 and up give "NAME (blurred 2).png". */
char *sb_export_suggest_name (const char *display_name, guint attempt) G_GNUC_WARN_UNUSED_RESULT;
/* Where a chosen file is written: the same file, or one whose name ends in .png, a picture's suffix
 * replaced by it. */
GFile *sb_export_correct_name (GFile *file) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
