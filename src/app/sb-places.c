/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-places.h"

#define LIMIT_MS     400
#define MAX_ATTEMPTS 100

typedef struct
{
  GPtrArray *folders;
  char *title;
  SbExportWork work;
  guint limit_id;
} Search;

typedef struct
{
  GFile *folder;
  char *name;
} Place;

static void
search_free (gpointer data)
{
  Search *search = data;

  g_ptr_array_unref (search->folders);
  g_free (search->title);
  g_free (search);
}

static void
place_free (gpointer data)
{
  Place *place = data;

  g_clear_object (&place->folder);
  g_free (place->name);
  g_free (place);
}

static gboolean
is_good (GFile *folder, gboolean writable)
{
  if (!g_file_is_native (folder))
    return TRUE;

  g_autoptr (GFileInfo) info = g_file_query_info (
      folder, G_FILE_ATTRIBUTE_ACCESS_CAN_WRITE "," G_FILE_ATTRIBUTE_STANDARD_TYPE,
      G_FILE_QUERY_INFO_NONE, NULL, NULL);

  if (info == NULL || g_file_info_get_file_type (info) != G_FILE_TYPE_DIRECTORY)
    return FALSE;
  if (!writable)
    return TRUE;

  /* Where only one file was given there is no room for others. */
  g_autoptr (GFile) other = g_file_get_child (folder, "other");

  return !sb_export_stands_alone (other)
         && g_file_info_get_attribute_boolean (info, G_FILE_ATTRIBUTE_ACCESS_CAN_WRITE);
}

static char *
find_name (GFile *folder, const char *title, SbExportWork work)
{
  for (guint attempt = 1; g_file_is_native (folder) && attempt < MAX_ATTEMPTS; attempt++)
    {
      g_autofree char *name = sb_export_suggest_name (title, work, attempt);
      g_autoptr (GFile) file = g_file_get_child_for_display_name (folder, name, NULL);

      if (file == NULL || !g_file_query_exists (file, NULL))
        return g_steal_pointer (&name);
    }
  /* The chooser asks before it is replaced. */
  return sb_export_suggest_name (title, work, 1);
}

static void
find_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Search *search = data;
  Place *place = g_new0 (Place, 1);

  for (guint i = 0; i < search->folders->len && place->folder == NULL; i++)
    if (is_good (search->folders->pdata[i], search->title != NULL))
      place->folder = g_object_ref (search->folders->pdata[i]);
  if (search->title != NULL)
    place->name = place->folder == NULL ? sb_export_suggest_name (search->title, search->work, 1)
                                        : find_name (place->folder, search->title, search->work);
  g_task_return_pointer (task, place, place_free);
}

static gboolean
limit_cb (gpointer user_data)
{
  GTask *task = user_data;
  Search *search = g_task_get_task_data (task);

  search->limit_id = 0;
  g_cancellable_cancel (g_task_get_cancellable (task));
  return G_SOURCE_REMOVE;
}

void
sb_places_find_async (GObject *source, GPtrArray *folders, const char *title, SbExportWork work,
                      GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (folders != NULL);

  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (source, cancellable, callback, user_data);
  Search *search = g_new0 (Search, 1);

  search->folders = g_ptr_array_ref (folders);
  search->title = g_strdup (title);
  search->work = work;
  g_task_set_source_tag (task, sb_places_find_async);
  g_task_set_task_data (task, search, search_free);
  /* The thread is left to itself: what hangs in the kernel cannot be called back. */
  g_task_set_return_on_cancel (task, TRUE);
  search->limit_id = g_timeout_add_full (G_PRIORITY_DEFAULT, LIMIT_MS, limit_cb,
                                         g_object_ref (task), g_object_unref);
  g_task_run_in_thread (task, find_thread);
}

GFile *
sb_places_find_finish (GAsyncResult *result, char **name)
{
  g_return_val_if_fail (g_async_result_is_tagged (result, sb_places_find_async), NULL);

  GTask *task = G_TASK (result);
  Search *search = g_task_get_task_data (task);
  GFile *folder = NULL;

  g_clear_handle_id (&search->limit_id, g_source_remove);
  Place *place = g_task_propagate_pointer (task, NULL);
  if (place != NULL)
    {
      folder = g_steal_pointer (&place->folder);
      if (name != NULL)
        *name = g_steal_pointer (&place->name);
      place_free (place);
    }
  else
    {
      if (search->folders->len > 0)
        folder = g_object_ref (search->folders->pdata[0]);
      if (name != NULL && search->title != NULL)
        *name = sb_export_suggest_name (search->title, search->work, 1);
    }
  return folder;
}
