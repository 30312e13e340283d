/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

#include "sb-export-name.h"
#include "sb-file-dialog.h"
#include "sb-places.h"
#include "sb-question.h"

/* Where subbands are to go. Of one band the name's suffix is the format, so that the chooser, which
 * asks about the name as it stands, asks about the file that is replaced. */

/* What was answered. */
typedef struct
{
  SbWindow *window;
  SbBandsExport what;
  GFile *file;
  SbHaarFormat format;
} Answer;

static void
answer_free (Answer *answer)
{
  g_object_unref (answer->window);
  g_object_unref (answer->file);
  g_free (answer);
}

static void
write_answer (Answer *answer, gboolean overwrite)
{
  g_autoptr (GFile) folder = answer->what == SB_BANDS_EXPORT_ALL ? g_object_ref (answer->file)
                                                                 : g_file_get_parent (answer->file);
  g_autofree char *uri = folder != NULL ? g_file_get_uri (folder) : NULL;

  if (uri != NULL)
    g_settings_set_string (answer->window->settings, "export-folder", uri);
  sb_window_write_bands (answer->window, answer->what, answer->file, answer->format, overwrite);
}

/* --- A name that was changed ------------------------------------------------------------------ */

static void
replace_response_cb (Answer *answer, const char *response)
{
  if (g_str_equal (response, "replace") && !sb_window_is_closed (answer->window))
    write_answer (answer, TRUE);
  answer_free (answer);
}

static void
is_there_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Answer *answer = user_data;
  g_autoptr (GFileInfo) info = g_file_query_info_finish (G_FILE (source), result, NULL);

  if (sb_window_is_closed (answer->window))
    {
      answer_free (answer);
      return;
    }
  /* What cannot be told is told by saving, which replaces nothing unasked. */
  if (info == NULL)
    {
      write_answer (answer, FALSE);
      answer_free (answer);
      return;
    }
  g_autofree char *base = g_file_get_basename (answer->file);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *heading = g_strdup_printf (_ ("Replace “%s”?"), name);
  GtkWidget *question = sb_question_new (
      GTK_WINDOW (answer->window), heading,
      _ ("The name was given a suffix, and a file of that name is there already. Replacing it "
         "overwrites what it holds."),
      "replace", _ ("_Replace"));

  g_signal_connect_swapped (question, "response", G_CALLBACK (replace_response_cb), answer);
  gtk_window_present (GTK_WINDOW (question));
}

static const char *
suffix_of (SbHaarFormat format)
{
  return format == SB_HAAR_PNG16 ? ".png" : ".npy";
}

/* The file itself where its name says what it is. format: what is meant, and then what it is. */
static GFile *
correct_name (GFile *file, SbHaarFormat *format)
{
  g_autoptr (GFile) folder = g_file_get_parent (file);
  SbHaarFormat own;

  if (sb_window_bands_format (file, &own))
    *format = own;
  else if (folder != NULL && !sb_export_stands_alone (file))
    {
      g_autofree char *base = g_file_get_basename (file);
      g_autofree char *name = g_strconcat (base, suffix_of (*format), NULL);

      return g_file_get_child (folder, name);
    }
  return g_object_ref (file);
}

/* --- The dialog ------------------------------------------------------------------------------- */

/* The format that the filter of a chooser stands for. */
static SbHaarFormat
filtered_format (GtkFileChooser *chooser)
{
  GtkFileFilter *filter = gtk_file_chooser_get_filter (chooser);

  return filter == NULL
             ? SB_HAAR_NPY
             : (SbHaarFormat)GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (filter), "format"));
}

/* Of one band another filter is another suffix. */
static void
filter_cb (GtkFileChooser *chooser)
{
  g_autofree char *name = gtk_file_chooser_get_current_name (chooser);
  char *dot = name != NULL ? strrchr (name, '.') : NULL;

  if (dot == NULL || dot == name
      || (g_ascii_strcasecmp (dot, ".npy") != 0 && g_ascii_strcasecmp (dot, ".png") != 0))
    return;
  *dot = '\0';
  g_autofree char *renamed = g_strconcat (name, suffix_of (filtered_format (chooser)), NULL);
  gtk_file_chooser_set_current_name (chooser, renamed);
}

static void
response_cb (SbWindow *self, int response, GtkFileChooserNative *native)
{
  const SbBandsExport what
      = (SbBandsExport)GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (native), "what"));
  GtkFileChooser *chooser = GTK_FILE_CHOOSER (native);
  g_autoptr (GFile) file
      = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (chooser) : NULL;

  self->choosing = FALSE;
  if (file != NULL && !sb_window_is_closed (self))
    {
      Answer *answer = g_new (Answer, 1);

      *answer = (Answer){ g_object_ref (self), what, NULL, SB_HAAR_NPY };
      if (what == SB_BANDS_EXPORT_ALL)
        {
          const char *choice = gtk_file_chooser_get_choice (chooser, "format");

          answer->format = g_strcmp0 (choice, "png16") == 0 ? SB_HAAR_PNG16 : SB_HAAR_NPY;
          answer->file = g_object_ref (file);
        }
      else if (what == SB_BANDS_EXPORT_ONE)
        {
          answer->format = filtered_format (chooser);
          answer->file = correct_name (file, &answer->format);
        }
      else
        answer->file = sb_export_correct_name (file);

      if (g_file_equal (answer->file, file))
        {
          /* The chooser has asked about the file, and names in a folder it does not know. */
          write_answer (answer, what != SB_BANDS_EXPORT_ALL);
          answer_free (answer);
        }
      else
        g_file_query_info_async (answer->file, G_FILE_ATTRIBUTE_STANDARD_TYPE,
                                 G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, G_PRIORITY_DEFAULT, NULL,
                                 is_there_cb, answer);
    }
  sb_file_dialog_put_away (native);
}

static void
add_filter (GtkFileChooser *chooser, const char *name, const char *suffix, const char *type,
            SbHaarFormat format)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, name);
  if (suffix != NULL)
    gtk_file_filter_add_suffix (filter, suffix);
  else
    gtk_file_filter_add_mime_type (filter, type);
  g_object_set_data (G_OBJECT (filter), "format", GUINT_TO_POINTER (format));
  gtk_file_chooser_add_filter (chooser, filter);
}

typedef struct
{
  SbWindow *window;
  SbBandsExport what;
} Question;

static void
present (SbWindow *self, SbBandsExport what, GFile *folder)
{
  const char *formats[] = { "npy", "png16", NULL };
  const char *labels[] = { _ ("NumPy array"), _ ("16-bit gray PNG"), NULL };
  const char *titles[]
      = { _ ("Export the mosaic"), _ ("Export the selected band"), _ ("Export all bands") };
  g_autofree char *stem = sb_window_get_stem (self);
  g_autofree char *name = NULL;
  GtkFileChooserNative *native
      = sb_file_dialog_new (titles[what], GTK_WINDOW (self),
                            what == SB_BANDS_EXPORT_ALL ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER
                                                        : GTK_FILE_CHOOSER_ACTION_SAVE,
                            _ ("_Export"));
  GtkFileChooser *chooser = GTK_FILE_CHOOSER (native);

  switch (what)
    {
    case SB_BANDS_EXPORT_MOSAIC:
      name = g_strconcat (stem, "-mosaic.png", NULL);
      add_filter (chooser, _ ("PNG pictures"), "png", NULL, SB_HAAR_PNG16);
      break;
    case SB_BANDS_EXPORT_ONE:
      name = sb_haar_file_name (stem, sb_subband_model_get_band (self->model), SB_HAAR_NPY);
      add_filter (chooser, labels[0], "npy", NULL, SB_HAAR_NPY);
      add_filter (chooser, labels[1], "png", NULL, SB_HAAR_PNG16);
      break;
    default:
      add_filter (chooser, _ ("Folders"), NULL, "inode/directory", SB_HAAR_NPY);
      gtk_file_chooser_add_choice (chooser, "format", _ ("Format"), formats, labels);
      gtk_file_chooser_set_choice (chooser, "format", "npy");
      break;
    }
  if (name != NULL)
    {
      g_autofree char *shown = g_filename_display_name (name);

      gtk_file_chooser_set_current_name (chooser, shown);
    }
  if (folder != NULL)
    gtk_file_chooser_set_current_folder (chooser, folder, NULL);
  g_object_set_data (G_OBJECT (native), "what", GUINT_TO_POINTER (what));
  g_signal_connect_object (native, "response", G_CALLBACK (response_cb), self, G_CONNECT_SWAPPED);
  GtkFileChooser *own = sb_file_dialog_show (native);
  if (own != NULL && what == SB_BANDS_EXPORT_ONE)
    g_signal_connect (own, "notify::filter", G_CALLBACK (filter_cb), NULL);
}

static void
found_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Question *question = user_data;
  g_autoptr (SbWindow) self = question->window;
  g_autoptr (GFile) folder = sb_places_find_finish (result, NULL);

  if (sb_window_is_closed (self))
    self->choosing = FALSE;
  else
    present (self, question->what, folder);
  g_free (question);
}

/* Beside the picture, or where a picture was exported to last. */
void
sb_window_export_bands (SbWindow *self, SbBandsExport what)
{
  GFile *file = sb_document_get_file (self->document);
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree char *last = g_settings_get_string (self->settings, "export-folder");
  g_autofree char *stem = sb_window_get_stem (self);
  GFile *beside;

  if (self->choosing)
    return;
  self->choosing = TRUE;
  beside = file != NULL ? g_file_get_parent (file) : NULL;
  if (beside != NULL)
    g_ptr_array_add (folders, beside);
  if (*last != '\0')
    g_ptr_array_add (folders, g_file_new_for_uri (last));
  g_ptr_array_add (folders, g_file_new_for_path (g_get_home_dir ()));

  Question *question = g_new (Question, 1);
  *question = (Question){ g_object_ref (self), what };
  sb_places_find_async (NULL, folders, stem, SB_EXPORT_UNCHANGED, found_cb, question);
}
