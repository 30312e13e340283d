/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

#include "sb-document.h"

G_BEGIN_DECLS

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
