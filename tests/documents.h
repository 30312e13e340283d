/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-document.h"

G_BEGIN_DECLS

/* What tests of documents share: how a load or an export went, and the folder it was in. */

typedef struct
{
  gboolean done, result;
  GError *error; /* the reader's to free */
} SbTestOutcome;

/* Callbacks of sb_document_load_async() and sb_document_export_async(); user_data: the outcome. */
void sb_test_loaded_cb (GObject *source, GAsyncResult *result, gpointer user_data);
void sb_test_exported_cb (GObject *source, GAsyncResult *result, gpointer user_data);
/* Loads the file and turns the main loop until it is there; a failure fails the test. */
void sb_test_load (SbDocument *document, GFile *file);
/* Removes the folder and the files in it; there must be no folder within. */
void sb_test_remove_folder (const char *folder);

G_END_DECLS
