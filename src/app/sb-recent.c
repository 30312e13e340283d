/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-recent.h"

#include <gtk/gtk.h>

#include "sb-locale.h"

void
sb_recent_add (GFile *file)
{
  g_return_if_fail (G_IS_FILE (file));

  g_autofree char *uri = g_file_get_uri (file);

  gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
}

static int
compare_visited (gconstpointer a, gconstpointer b)
{
  GDateTime *time_a = gtk_recent_info_get_visited ((GtkRecentInfo *)a);
  GDateTime *time_b = gtk_recent_info_get_visited ((GtkRecentInfo *)b);

  if (time_a == NULL || time_b == NULL)
    return (time_a == NULL) - (time_b == NULL);
  return g_date_time_compare (time_b, time_a);
}

GPtrArray *
sb_recent_list (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_object_unref);
  GList *items = gtk_recent_manager_get_items (gtk_recent_manager_get_default ());

  items = g_list_sort (items, compare_visited);
  for (GList *item = items; item != NULL && files->len < SB_RECENT_MAX; item = item->next)
    {
      GtkRecentInfo *info = item->data;

      /* Only what is local is asked whether it is there: a dead server would hang. */
      if (gtk_recent_info_has_application (info, g_get_application_name ())
          && !gtk_recent_info_get_private_hint (info) && gtk_recent_info_is_local (info)
          && gtk_recent_info_exists (info))
        g_ptr_array_add (files, g_file_new_for_uri (gtk_recent_info_get_uri (info)));
    }
  g_list_free_full (items, (GDestroyNotify)gtk_recent_info_unref);
  return files;
}

GMenuModel *
sb_recent_menu (void)
{
  GMenu *menu = g_menu_new ();
  g_autoptr (GPtrArray) files = sb_recent_list ();

  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *uri = g_file_get_uri (files->pdata[i]);
      g_autofree char *base = g_file_get_basename (files->pdata[i]);
      g_autofree char *name = g_filename_display_name (base);
      g_auto (GStrv) parts = g_strsplit (name, "_", -1);
      /* An underline would mark an access key. */
      g_autofree char *label = g_strjoinv ("__", parts);
      g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);

      g_menu_item_set_action_and_target (item, "app.open", "s", uri);
      g_menu_append_item (menu, item);
    }
  return G_MENU_MODEL (menu);
}

GFile *
sb_sample_file (void)
{
  const char *folder = sb_locale_build_dir () == NULL ? SB_DATA_DIR : SB_SOURCE_DIR "/data";
  g_autofree char *path = g_build_filename (folder, "sample.jpg", NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_file_new_for_path (path) : NULL;
}
