/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-export-name.h"

G_BEGIN_DECLS

/* Where a dialog of files begins. Folders are asked on a thread of its own: one on a network or a
 * sleeping disk may take long to answer, and must not hold up the window. */

/* folders: GFile, the best first. Finds the first that is there, and where `title` is not NULL,
 * that can be written to, with the name of a file that is not there yet, after
 * sb_export_suggest_name(). Folders that are not native are taken at their word. Without an answer
 * after 0.4 s the first folder and the first name are taken as they are. Not to be cancelled;
 * source may be NULL. */
void sb_places_find_async (GObject *source, GPtrArray *folders, const char *title,
                           SbExportWork work, GAsyncReadyCallback callback, gpointer user_data);
/* NULL, without an error, where no folder is there. name: may be NULL, else set where a title was
 * given. */
GFile *sb_places_find_finish (GAsyncResult *result, char **name) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
