/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "documents.h"

#include <glib/gstdio.h>

#include "wait.h"

void
sb_test_loaded_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbTestOutcome *outcome = user_data;

  outcome->done = TRUE;
  outcome->result = sb_document_load_finish (SB_DOCUMENT (source), result, &outcome->error);
}

void
sb_test_exported_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbTestOutcome *outcome = user_data;

  outcome->done = TRUE;
  outcome->result = sb_document_export_finish (SB_DOCUMENT (source), result, &outcome->error);
}

void
sb_test_load (SbDocument *document, GFile *file)
{
  SbTestOutcome outcome = { 0 };

  sb_document_load_async (document, file, NULL, sb_test_loaded_cb, &outcome);
  wait_for (outcome.done);
  g_assert_no_error (outcome.error);
  g_assert_true (outcome.result);
}

void
sb_test_remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}
