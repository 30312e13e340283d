/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-export-dialog.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

#include "sb-export-name.h"
#include "sb-file-dialog.h"
#include "sb-places.h"
#include "sb-question.h"

typedef struct
{
  GtkWindow *parent;
  SbDocument *document;
  GSettings *settings;
  GtkFileChooserNative *native;
  SbExportChoice *choice; /* waits for the second question */
  GFileInfo *chosen;      /* of the file that is to be replaced, by whatever name */
} Dialog;

static void check_change (GTask *task);

/* --- The dialog ------------------------------------------------------------------------------ */

void
sb_export_choice_free (SbExportChoice *choice)
{
  g_object_unref (choice->file);
  g_free (choice);
}

static void
dialog_free (gpointer data)
{
  Dialog *dialog = data;

  if (dialog->native != NULL)
    sb_file_dialog_put_away (dialog->native);
  g_clear_object (&dialog->parent);
  g_clear_object (&dialog->document);
  g_clear_object (&dialog->settings);
  g_clear_pointer (&dialog->choice, sb_export_choice_free);
  g_clear_object (&dialog->chosen);
  g_free (dialog);
}

static void
finish (GTask *task)
{
  Dialog *dialog = g_task_get_task_data (task);
  SbExportChoice *choice = g_steal_pointer (&dialog->choice);
  g_autoptr (GFile) folder = choice == NULL ? NULL : g_file_get_parent (choice->file);

  if (folder != NULL)
    {
      g_autofree char *uri = g_file_get_uri (folder);

      g_settings_set_string (dialog->settings, "export-folder", uri);
    }
  g_task_return_pointer (task, choice, (GDestroyNotify)sb_export_choice_free);
  g_object_unref (task);
}

static void
replace_response_cb (GTask *task, const char *response)
{
  Dialog *dialog = g_task_get_task_data (task);

  if (g_str_equal (response, "replace"))
    {
      dialog->choice->options.overwrite = TRUE;
      check_change (task);
      return;
    }
  g_clear_pointer (&dialog->choice, sb_export_choice_free);
  finish (task);
}

static void
ask_to_replace (GTask *task)
{
  Dialog *dialog = g_task_get_task_data (task);
  g_autofree char *base = g_file_get_basename (dialog->choice->file);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *heading = g_strdup_printf (_ ("Replace “%s”?"), name);
  GtkWidget *message = sb_question_new (
      dialog->parent, heading,
      _ ("Softbox writes PNG files, so the name was changed, and a file of that name is there "
         "already. Replacing it overwrites what it holds."),
      "replace", _ ("_Replace"));

  g_signal_connect_swapped (message, "response", G_CALLBACK (replace_response_cb), task);
  gtk_window_present (GTK_WINDOW (message));
}

/* A window that was closed meanwhile asks nothing. */
static gboolean
is_gone (Dialog *dialog)
{
  return gtk_window_get_application (dialog->parent) == NULL;
}

static void
changed_cb (GTask *task, const char *response)
{
  Dialog *dialog = g_task_get_task_data (task);

  if (!g_str_equal (response, "replace"))
    g_clear_pointer (&dialog->choice, sb_export_choice_free);
  finish (task);
}

/* The chooser has asked whether the file may be replaced, but of what was opened. */
static void
ask_about_change (GTask *task)
{
  Dialog *dialog = g_task_get_task_data (task);
  g_autofree char *base = g_file_get_basename (dialog->choice->file);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *heading = g_strdup_printf (_ ("“%s” has changed"), name);
  GtkWidget *message
      = sb_question_new (dialog->parent, heading,
                         _ ("Another program has changed the file since it was opened. "
                            "Replacing it loses that change."),
                         "replace", _ ("_Replace"));

  g_signal_connect_swapped (message, "response", G_CALLBACK (changed_cb), task);
  gtk_window_present (GTK_WINDOW (message));
}

/* A link to the opened file, of either kind, is the opened file. */
static void
opened_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Dialog *dialog = g_task_get_task_data (task);
  const char *then = sb_document_get_etag (dialog->document);
  const char *now = g_file_info_get_etag (dialog->chosen);
  const char *chosen = g_file_info_get_attribute_string (dialog->chosen, G_FILE_ATTRIBUTE_ID_FILE);
  g_autoptr (GFileInfo) info = g_file_query_info_finish (G_FILE (source), result, NULL);
  const char *opened
      = info != NULL ? g_file_info_get_attribute_string (info, G_FILE_ATTRIBUTE_ID_FILE) : NULL;
  const gboolean same = g_file_equal (dialog->choice->file, G_FILE (source))
                        || (chosen != NULL && g_strcmp0 (chosen, opened) == 0);

  if (same && then != NULL && now != NULL && !g_str_equal (then, now) && !is_gone (dialog))
    ask_about_change (task);
  else
    finish (task);
}

static void
chosen_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Dialog *dialog = g_task_get_task_data (task);
  GFile *opened = sb_document_get_file (dialog->document);

  dialog->chosen = g_file_query_info_finish (G_FILE (source), result, NULL);
  if (dialog->chosen == NULL || opened == NULL)
    finish (task);
  else
    g_file_query_info_async (opened, G_FILE_ATTRIBUTE_ID_FILE, G_FILE_QUERY_INFO_NONE,
                             G_PRIORITY_DEFAULT, NULL, opened_cb, task);
}

/* What the user has agreed to replace may have changed since it was opened. */
static void
check_change (GTask *task)
{
  Dialog *dialog = g_task_get_task_data (task);

  g_file_query_info_async (dialog->choice->file,
                           G_FILE_ATTRIBUTE_ETAG_VALUE "," G_FILE_ATTRIBUTE_ID_FILE,
                           G_FILE_QUERY_INFO_NONE, G_PRIORITY_DEFAULT, NULL, chosen_cb, task);
}

static void
is_there_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Dialog *dialog = g_task_get_task_data (task);
  g_autoptr (GFileInfo) info = g_file_query_info_finish (G_FILE (source), result, NULL);

  /* What cannot be told is told by saving, which replaces nothing unasked. */
  if (info == NULL)
    finish (task);
  else if (is_gone (dialog))
    {
      g_clear_pointer (&dialog->choice, sb_export_choice_free);
      finish (task);
    }
  else
    ask_to_replace (task);
}

/* A portal may leave choices out. */
static const char *
get_choice (GtkFileChooser *chooser, const char *id, const char *otherwise)
{
  const char *choice = gtk_file_chooser_get_choice (chooser, id);

  return choice != NULL ? choice : otherwise;
}

static gboolean
is_chosen (GtkFileChooser *chooser, const char *id, gboolean otherwise)
{
  return g_str_equal (get_choice (chooser, id, otherwise ? "true" : "false"), "true");
}

static void
add_switch (GtkFileChooser *chooser, const char *id, const char *label, gboolean on)
{
  gtk_file_chooser_add_choice (chooser, id, label, NULL, NULL);
  gtk_file_chooser_set_choice (chooser, id, on ? "true" : "false");
}

static void
response_cb (GTask *task, int response)
{
  Dialog *dialog = g_task_get_task_data (task);
  GtkFileChooser *chooser = GTK_FILE_CHOOSER (dialog->native);
  g_autoptr (GFile) file = NULL;
  SbExportChoice *choice;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (chooser);
  if (file == NULL)
    {
      finish (task);
      return;
    }

  choice = dialog->choice = g_new0 (SbExportChoice, 1);
  choice->file = sb_export_correct_name (file);
  choice->corrected = !g_file_equal (choice->file, file);
  choice->options.compression
      = (int)g_ascii_strtoll (get_choice (chooser, "compression", "-1"), NULL, 10);
  choice->options.depth = g_str_equal (get_choice (chooser, "depth", "8"), "16") ? 16 : 8;
  choice->options.dither = choice->options.depth == 8 && is_chosen (chooser, "dither", FALSE);
  choice->options.interlace = is_chosen (chooser, "interlace", FALSE);
  choice->options.strip_metadata = !is_chosen (chooser, "metadata", TRUE);
  choice->options.keep_location = is_chosen (chooser, "location", FALSE);
  /* The chooser has asked about the name that was typed. */
  choice->options.overwrite = !choice->corrected;

  if (choice->corrected)
    g_file_query_info_async (choice->file, G_FILE_ATTRIBUTE_STANDARD_TYPE,
                             G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, G_PRIORITY_DEFAULT, NULL,
                             is_there_cb, task);
  else
    check_change (task);
}

static void
present_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Dialog *dialog = g_task_get_task_data (task);
  g_autofree char *name = NULL;
  g_autoptr (GFile) folder = sb_places_find_finish (result, &name);

  if (is_gone (dialog))
    {
      finish (task);
      return;
    }

  SbImage *image = sb_document_get_image (dialog->document);
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  GtkFileChooser *chooser;

  dialog->native = sb_file_dialog_new (_ ("Export as PNG"), dialog->parent,
                                       GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Export"));
  chooser = GTK_FILE_CHOOSER (dialog->native);
  gtk_file_filter_set_name (filter, _ ("PNG pictures"));
  gtk_file_filter_add_mime_type (filter, "image/png");
  gtk_file_chooser_add_filter (chooser, filter);
  if (folder != NULL)
    gtk_file_chooser_set_current_folder (chooser, folder, NULL);
  gtk_file_chooser_set_current_name (chooser, name);
  /* What is meant by default stands first: GTK 4.8 shows the first whatever is set. */
  const gboolean deep = image != NULL && sb_image_get_depth (image) == 16;
  const char *depths[] = { deep ? "16" : "8", deep ? "8" : "16", NULL };
  const char *labels[] = { deep ? _ ("16 bits a channel") : _ ("8 bits a channel"),
                           deep ? _ ("8 bits a channel") : _ ("16 bits a channel"), NULL };
  gtk_file_chooser_add_choice (chooser, "depth", _ ("Depth"), depths, labels);
  gtk_file_chooser_set_choice (chooser, "depth", depths[0]);
  const char *levels[] = { "-1", "1", "7", NULL };
  const char *level_labels[] = { _ ("Normal"), _ ("Fast"), _ ("Smallest file"), NULL };
  gtk_file_chooser_add_choice (chooser, "compression", _ ("Compression"), levels, level_labels);
  gtk_file_chooser_set_choice (chooser, "compression", "-1");
  add_switch (chooser, "dither", _ ("Dither 8 bits"), FALSE);
  add_switch (chooser, "interlace", _ ("Interlace"), FALSE);
  add_switch (chooser, "metadata", _ ("Keep metadata"), TRUE);
  add_switch (chooser, "location", _ ("Keep location"), FALSE);
  g_signal_connect_swapped (dialog->native, "response", G_CALLBACK (response_cb), task);
  sb_file_dialog_show (dialog->native);
}

void
sb_export_dialog_run (GtkWindow *parent, SbDocument *document, GSettings *settings,
                      GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (GTK_IS_WINDOW (parent) && SB_IS_DOCUMENT (document));

  Dialog *dialog = g_new0 (Dialog, 1);
  GTask *task = g_task_new (parent, NULL, callback, user_data);
  GFile *file = sb_document_get_file (document);
  GFile *beside = file == NULL ? NULL : g_file_get_parent (file);
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree char *last = g_settings_get_string (settings, "export-folder");
  const char *pictures = g_get_user_special_dir (G_USER_DIRECTORY_PICTURES);
  g_autofree char *title = NULL;
  g_autofree char *edits = NULL;

  dialog->parent = g_object_ref (parent);
  dialog->document = g_object_ref (document);
  dialog->settings = g_object_ref (settings);
  g_task_set_task_data (task, dialog, dialog_free);

  /* Beside the picture, else where the last one went, else among the pictures. */
  if (beside != NULL)
    g_ptr_array_add (folders, beside);
  if (*last != '\0')
    g_ptr_array_add (folders, g_file_new_for_uri (last));
  if (pictures != NULL)
    g_ptr_array_add (folders, g_file_new_for_path (pictures));
  g_ptr_array_add (folders, g_file_new_for_path (g_get_home_dir ()));
  g_object_get (document, "title", &title, "edits", &edits, NULL);
  sb_places_find_async (NULL, folders, title == NULL ? "" : title,
                        sb_export_work (edits == NULL ? "" : edits), present_cb, task);
}

SbExportChoice *
sb_export_dialog_finish (GAsyncResult *result)
{
  g_return_val_if_fail (G_IS_TASK (result), NULL);

  return g_task_propagate_pointer (G_TASK (result), NULL);
}
