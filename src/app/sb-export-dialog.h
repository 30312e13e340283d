/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

#include "sb-document.h"

G_BEGIN_DECLS

/* "NAME (blurred).png" for an opened file's name: valid UTF-8, under 255 bytes, without a suffix
 * that is a picture's; attempt 2 and up give "NAME (blurred 2).png". */
char *sb_export_suggest_name (const char *display_name, guint attempt) G_GNUC_WARN_UNUSED_RESULT;
/* Where a chosen file is written: the same file, or one whose name ends in .png, a picture's suffix
 * replaced by it. */
GFile *sb_export_correct_name (GFile *file) G_GNUC_WARN_UNUSED_RESULT;

typedef struct
{
  GFile *file;
  SbSaveOptions options;
  gboolean corrected; /* the name is not the one that was typed */
} SbExportChoice;

void sb_export_choice_free (SbExportChoice *choice);

/* Asks for a place and a depth, and once more where the corrected name belongs to a file already.
 * settings: for the folder. The result is NULL without an error when the user cancels. */
void sb_export_dialog_run (GtkWindow *parent, SbDocument *document, GSettings *settings,
                           GAsyncReadyCallback callback, gpointer user_data);
SbExportChoice *sb_export_dialog_finish (GAsyncResult *result) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbExportChoice, sb_export_choice_free)

G_END_DECLS
