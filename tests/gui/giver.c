/* SPDX-License-Identifier: MIT */

/* Another program, for the tests of the window: gives what is dragged from it, or what is on the
 * clipboard, with GTK's own hands.
 *
 *   giver png FILE       puts a picture's bytes on the clipboard
 *   giver files FILE…    puts files on the clipboard
 *   giver text WORDS     puts words there
 *   giver drag FILE…     a window, all of which is files to be dragged
 *
 * Says "ready" when it can be taken from, and lives until it is ended. */

#include "config.h"

#include <gtk/gtk.h>

static GdkContentProvider *
make_content (int argc, char **argv)
{
  if (g_str_equal (argv[1], "png"))
    {
      g_autoptr (GFile) file = g_file_new_for_commandline_arg (argv[2]);
      g_autoptr (GBytes) bytes = g_file_load_bytes (file, NULL, NULL, NULL);

      return gdk_content_provider_new_for_bytes ("image/png", bytes);
    }
  if (g_str_equal (argv[1], "text"))
    return gdk_content_provider_new_typed (G_TYPE_STRING, argv[2]);

  GSList *files = NULL;
  for (int i = argc - 1; i >= 2; i--)
    files = g_slist_prepend (files, g_file_new_for_commandline_arg (argv[i]));
  GdkFileList *list = gdk_file_list_new_from_list (files);
  GdkContentProvider *content = gdk_content_provider_new_typed (GDK_TYPE_FILE_LIST, list);
  g_boxed_free (GDK_TYPE_FILE_LIST, list);
  g_slist_free_full (files, g_object_unref);
  return content;
}

static gboolean
say_ready (gpointer data)
{
  g_print ("ready\n");
  return G_SOURCE_REMOVE;
}

int
main (int argc, char **argv)
{
  if (argc < 3)
    return 2;
  gtk_init ();

  GtkWidget *window = gtk_window_new ();
  g_autoptr (GdkContentProvider) content = make_content (argc, argv);
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  gtk_window_set_title (GTK_WINDOW (window), "giver");
  gtk_window_set_default_size (GTK_WINDOW (window), 200, 150);
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_window_present (GTK_WINDOW (window));
  if (g_str_equal (argv[1], "drag"))
    {
      GtkDragSource *source = gtk_drag_source_new ();

      gtk_drag_source_set_content (source, content);
      gtk_drag_source_set_actions (source, GDK_ACTION_COPY);
      gtk_widget_add_controller (window, GTK_EVENT_CONTROLLER (source));
    }
  else
    gdk_clipboard_set_content (gtk_widget_get_clipboard (window), content);
  g_timeout_add (500, say_ready, NULL);
  g_main_loop_run (loop);
  return 0;
}
