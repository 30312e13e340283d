/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-properties-dialog.h"

#include <glib/gi18n-lib.h>

#include "sb-accessible.h"
#include "sb-metadata.h"

/* The groups that are filled when what is asked for has come. */
typedef struct
{
  GtkWindow *dialog; /* weak */
  AdwPreferencesGroup *file, *camera, *place;
} Dialog;

typedef struct
{
  GPtrArray *fields;
  char *location;
} Described;

static void
described_free (gpointer data)
{
  Described *described = data;

  g_ptr_array_unref (described->fields);
  g_free (described->location);
  g_free (described);
}

static void
dialog_free (Dialog *dialog)
{
  g_clear_weak_pointer (&dialog->dialog);
  g_free (dialog);
}

/* --- Rows ------------------------------------------------------------------------------------ */

/* Takes the value; no row where there is none. */
static void
add_row (AdwPreferencesGroup *group, const char *label, char *value)
{
  if (value == NULL || *value == '\0')
    {
      g_free (value);
      return;
    }
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), label);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), value);
  adw_preferences_group_add (group, row);
  g_free (value);
}

static AdwPreferencesGroup *
add_group (AdwPreferencesPage *page, const char *title)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), title);
  adw_preferences_page_add (page, ADW_PREFERENCES_GROUP (group));
  return ADW_PREFERENCES_GROUP (group);
}

/* --- The picture ----------------------------------------------------------------------------- */

static void
page_cb (GtkButton *button, gpointer user_data)
{
  GtkSpinButton *spin = user_data;
  GtkWindow *dialog = GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (button)));
  g_autoptr (SbWindow) window = g_object_ref (SB_WINDOW (gtk_window_get_transient_for (dialog)));
  const guint page = (guint)gtk_spin_button_get_value_as_int (spin);

  gtk_window_close (dialog);
  sb_window_load_page (window, page);
}

static void
add_pages (AdwPreferencesGroup *group, const SbMetadata *metadata)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *spin = gtk_spin_button_new_with_range (1, metadata->n_pages, 1);
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Open page"));
  g_autofree char *title = g_strdup_printf (
      ngettext ("Page of %u", "Page of %u", metadata->n_pages), metadata->n_pages);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (spin), metadata->page);
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_widget_set_valign (spin, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect (button, "clicked", G_CALLBACK (page_cb), spin);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), spin);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
  adw_preferences_group_add (group, row);
}

static void
describe_picture (AdwPreferencesGroup *group, SbImage *image)
{
  const SbMetadata *metadata = sb_image_get_metadata (image);
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);

  add_row (group, _ ("Size"),
           g_strdup_printf (_ ("%u × %u pixels (%.1f megapixels)"), width, height,
                            (double)width * height / 1e6));
  add_row (group, _ ("Depth"),
           g_strdup_printf (_ ("%u bits a channel"), sb_image_get_depth (image)));
  add_row (group, _ ("Color profile"), g_strdup (sb_image_get_profile_name (image)));
  add_row (group, _ ("Transparency"),
           g_strdup (sb_image_is_opaque (image) ? _ ("None") : _ ("Yes")));
  if (metadata != NULL && metadata->n_pages > 1)
    add_pages (group, metadata);
}

/* --- What takes a moment --------------------------------------------------------------------- */

static void
describe_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const SbMetadata *metadata = sb_image_get_metadata (data);
  Described *described = g_new0 (Described, 1);

  described->fields = sb_metadata_describe (metadata);
  described->location = sb_metadata_describe_location (metadata);
  g_task_return_pointer (task, described, described_free);
}

static void
described_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Dialog *dialog = user_data;
  Described *described = g_task_propagate_pointer (G_TASK (result), NULL);

  if (dialog->dialog != NULL && described != NULL)
    {
      for (guint i = 0; i < described->fields->len; i++)
        {
          const SbMetadataField *field = g_ptr_array_index (described->fields, i);
          add_row (dialog->camera, field->label, g_strdup (field->value));
        }
      gtk_widget_set_visible (GTK_WIDGET (dialog->camera), described->fields->len > 0);
      gtk_widget_set_visible (GTK_WIDGET (dialog->place), described->location != NULL);
      add_row (dialog->place, _ ("Taken at"), g_steal_pointer (&described->location));
    }
  if (described != NULL)
    described_free (described);
  dialog_free (dialog);
}

static void
info_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Dialog *dialog = user_data;
  g_autoptr (GFileInfo) info = g_file_query_info_finish (G_FILE (source), result, NULL);

  if (dialog->dialog != NULL && info != NULL)
    {
      g_autoptr (GDateTime) modified = g_file_info_get_modification_date_time (info);
      g_autoptr (GDateTime) local = modified != NULL ? g_date_time_to_local (modified) : NULL;

      add_row (
          dialog->file, _ ("File size"),
          g_format_size_full ((guint64)g_file_info_get_size (info), G_FORMAT_SIZE_LONG_FORMAT));
      if (local != NULL)
        add_row (dialog->file, _ ("Changed"), g_date_time_format (local, "%c"));
    }
  dialog_free (dialog);
}

/* --- The dialog ------------------------------------------------------------------------------ */

static Dialog *
dialog_new (GtkWindow *window, AdwPreferencesGroup *file, AdwPreferencesGroup *camera,
            AdwPreferencesGroup *place)
{
  Dialog *dialog = g_new0 (Dialog, 1);

  g_set_weak_pointer (&dialog->dialog, window);
  dialog->file = file;
  dialog->camera = camera;
  dialog->place = place;
  return dialog;
}

static gboolean
close_cb (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  gtk_window_close (GTK_WINDOW (gtk_widget_get_root (widget)));
  return TRUE;
}

static void
describe_file (AdwPreferencesGroup *group, GFile *file, SbImage *image)
{
  const SbMetadata *metadata = sb_image_get_metadata (image);
  g_autofree char *base = g_file_get_basename (file);
  g_autoptr (GFile) folder = g_file_get_parent (file);
  g_autofree char *place = folder != NULL ? g_file_get_parse_name (folder) : NULL;

  add_row (group, _ ("Name"), g_filename_display_name (base));
  if (place != NULL)
    add_row (group, _ ("Folder"), g_utf8_make_valid (place, -1));
  if (metadata != NULL)
    add_row (group, _ ("Format"), g_strdup (metadata->format));
}

GtkWindow *
sb_properties_dialog_new (SbWindow *window)
{
  g_return_val_if_fail (SB_IS_WINDOW (window), NULL);

  SbDocument *document = sb_window_get_document (window);
  SbImage *image = sb_document_get_image (document);
  GFile *file = sb_document_get_file (document);
  GtkWidget *self = adw_preferences_window_new ();
  AdwPreferencesPage *page = ADW_PREFERENCES_PAGE (adw_preferences_page_new ());
  GtkShortcut *shortcut = gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_w, GDK_CONTROL_MASK),
                                            gtk_callback_action_new (close_cb, NULL, NULL));
  GtkEventController *keys = gtk_shortcut_controller_new ();

  gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (keys), shortcut);
  gtk_widget_add_controller (self, keys);
  gtk_window_set_title (GTK_WINDOW (self), _ ("Properties"));
  gtk_window_set_transient_for (GTK_WINDOW (self), GTK_WINDOW (window));
  gtk_window_set_destroy_with_parent (GTK_WINDOW (self), TRUE);
  gtk_window_set_modal (GTK_WINDOW (self), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (self), 520, 560);
  adw_preferences_window_set_search_enabled (ADW_PREFERENCES_WINDOW (self), FALSE);
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (self), page);

  AdwPreferencesGroup *files = add_group (page, _ ("File"));
  AdwPreferencesGroup *picture = add_group (page, _ ("Picture"));
  AdwPreferencesGroup *camera = add_group (page, _ ("Photo"));
  AdwPreferencesGroup *place = add_group (page, _ ("Location"));
  gtk_widget_set_visible (GTK_WIDGET (files), file != NULL);
  gtk_widget_set_visible (GTK_WIDGET (camera), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (place), FALSE);
  adw_preferences_group_set_description (place,
                                         _ ("Left out of exports unless you ask for it there"));

  if (file != NULL && image != NULL)
    {
      describe_file (files, file, image);
      g_file_query_info_async (file,
                               G_FILE_ATTRIBUTE_STANDARD_SIZE "," G_FILE_ATTRIBUTE_TIME_MODIFIED,
                               G_FILE_QUERY_INFO_NONE, G_PRIORITY_DEFAULT, NULL, info_cb,
                               dialog_new (GTK_WINDOW (self), files, camera, place));
    }
  if (image != NULL)
    describe_picture (picture, image);
  if (image != NULL && sb_image_get_metadata (image) != NULL)
    {
      g_autoptr (GTask) task = g_task_new (NULL, NULL, described_cb,
                                           dialog_new (GTK_WINDOW (self), files, camera, place));
      g_task_set_task_data (task, sb_image_ref (image), (GDestroyNotify)sb_image_unref);
      g_task_run_in_thread (task, describe_thread);
    }
  sb_accessible_name_buttons (self);
  return GTK_WINDOW (self);
}
