/* SPDX-License-Identifier: MIT */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Pictures that this program opened lately, in the desktop's list of recent files. */

#define SB_RECENT_MAX 6

/* Puts a file on the list. */
void sb_recent_add (GFile *file);
/* GFile, newest first, at most SB_RECENT_MAX; those that are gone are left out. */
GPtrArray *sb_recent_list (void) G_GNUC_WARN_UNUSED_RESULT;
/* The list as items that activate app.open. */
GMenuModel *sb_recent_menu (void) G_GNUC_WARN_UNUSED_RESULT;

/* The sample photo, or NULL where it is not installed. */
GFile *sb_sample_file (void) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
