/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-places.h"

#include <glib/gstdio.h>
#include <unistd.h>

/* --- A folder that does not answer until it is let go ----------------------------------------- */

#define TEST_TYPE_SLOW (test_slow_get_type ())
G_DECLARE_FINAL_TYPE (TestSlow, test_slow, TEST, SLOW, GObject)

struct _TestSlow
{
  GObject parent_instance;
};

static GMutex mutex;
static GCond cond;
static gboolean asked, released, answered;

static GFile *
slow_dup (GFile *file)
{
  return g_object_ref (file);
}

static gboolean
slow_is_native (GFile *file)
{
  return TRUE;
}

static GFileInfo *
slow_query_info (GFile *file, const char *attributes, GFileQueryInfoFlags flags,
                 GCancellable *cancellable, GError **error)
{
  g_mutex_lock (&mutex);
  asked = TRUE;
  while (!released)
    g_cond_wait (&cond, &mutex);
  answered = TRUE;
  g_cond_signal (&cond);
  g_mutex_unlock (&mutex);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "slow");
  return NULL;
}

static void
slow_iface_init (GFileIface *iface)
{
  iface->dup = slow_dup;
  iface->is_native = slow_is_native;
  iface->query_info = slow_query_info;
}

static void
test_slow_init (TestSlow *self)
{
}

static void
test_slow_class_init (TestSlowClass *klass)
{
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestSlow, test_slow, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_FILE, slow_iface_init))

/* --- The tests ------------------------------------------------------------------------------- */

typedef struct
{
  gboolean done;
  GFile *folder;
  char *name;
} Found;

static void
found_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Found *found = user_data;

  found->folder = sb_places_find_finish (result, &found->name);
  found->done = TRUE;
}

static void
find (GPtrArray *folders, const char *title, GFile *folder, const char *name)
{
  Found found = { FALSE, NULL, NULL };

  sb_places_find_async (NULL, folders, title, SB_EXPORT_BLURRED, found_cb, &found);
  while (!found.done)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (found.name, ==, name);
  if (folder == NULL)
    g_assert_null (found.folder);
  else
    g_assert_true (g_file_equal (found.folder, folder));
  g_clear_object (&found.folder);
  g_free (found.name);
}

static GPtrArray *
list (GFile *first, GFile *second)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_object_unref);

  g_ptr_array_add (folders, g_object_ref (first));
  if (second != NULL)
    g_ptr_array_add (folders, g_object_ref (second));
  return folders;
}

static void
touch (GFile *folder, const char *name)
{
  g_autoptr (GFile) file = g_file_get_child (folder, name);
  g_autoptr (GError) error = NULL;

  g_file_replace_contents (file, "x", 1, NULL, FALSE, G_FILE_CREATE_NONE, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
remove_all (GFile *folder)
{
  g_autoptr (GDir) dir = g_dir_open (g_file_peek_path (folder), 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autoptr (GFile) file = g_file_get_child (folder, name);

      g_file_delete (file, NULL, NULL);
    }
  g_assert_true (g_file_delete (folder, NULL, NULL));
}

static void
test_folders (void)
{
  g_autofree char *path = g_dir_make_tmp ("softbox-places-XXXXXX", NULL);
  g_autoptr (GFile) folder = g_file_new_for_path (path);
  g_autoptr (GFile) missing = g_file_get_child (folder, "missing");
  g_autoptr (GFile) file = g_file_get_child (folder, "street (blurred).png");
  g_autoptr (GFile) remote = g_file_new_for_uri ("sftp://example.invalid/pictures");
  g_autoptr (GPtrArray) first = list (missing, folder);
  g_autoptr (GPtrArray) no_folder = list (file, folder);
  g_autoptr (GPtrArray) none = list (missing, NULL);
  g_autoptr (GPtrArray) empty = g_ptr_array_new ();
  g_autoptr (GPtrArray) far = list (remote, folder);

  find (first, NULL, folder, NULL);
  find (none, NULL, NULL, NULL);
  find (none, "street.jpg", NULL, "street (blurred).png");
  find (empty, NULL, NULL, NULL);
  find (far, "street.jpg", remote, "street (blurred).png");

  find (first, "street.jpg", folder, "street (blurred).png");
  touch (folder, "street (blurred).png");
  find (first, "street.jpg", folder, "street (blurred 2).png");
  find (no_folder, NULL, folder, NULL);
  touch (folder, "street (blurred 2).png");
  find (first, "street.jpg", folder, "street (blurred 3).png");
  remove_all (folder);
}

/* Access is a question of the real user. */
static void
test_read_only (void)
{
  g_autofree char *path = g_dir_make_tmp ("softbox-places-XXXXXX", NULL);
  g_autofree char *other_path = g_dir_make_tmp ("softbox-places-XXXXXX", NULL);
  g_autoptr (GFile) folder = g_file_new_for_path (path);
  g_autoptr (GFile) other = g_file_new_for_path (other_path);
  g_autoptr (GPtrArray) folders = list (folder, other);
  const uid_t nobody = 65534;
  const gboolean root = geteuid () == 0;

  g_assert_cmpint (g_chmod (path, 0555), ==, 0);
  g_assert_cmpint (g_chmod (other_path, 0777), ==, 0);
  g_assert_cmpint (root ? setresuid (nobody, nobody, 0) : 0, ==, 0);
  find (folders, NULL, folder, NULL);
  find (folders, "a.png", other, "a (blurred).png");
  g_assert_cmpint (root ? setresuid (0, 0, 0) : 0, ==, 0);
  remove_all (folder);
  remove_all (other);
}

/* The answer is there before the folder's. */
static void
test_slow (void)
{
  g_autoptr (GFile) slow = g_object_new (TEST_TYPE_SLOW, NULL);
  g_autoptr (GFile) other = g_file_new_for_path (g_get_tmp_dir ());
  g_autoptr (GPtrArray) folders = list (slow, other);

  find (folders, "street.jpg", slow, "street (blurred).png");
  g_mutex_lock (&mutex);
  g_assert_true (asked);
  g_assert_false (answered);
  released = TRUE;
  g_cond_signal (&cond);
  while (!answered)
    g_cond_wait (&cond, &mutex);
  g_mutex_unlock (&mutex);
  /* The task holds the folder until its thread and its timeout are through. */
  while (g_atomic_int_get (&G_OBJECT (slow)->ref_count) > 2)
    {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (1000);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/places/folders", test_folders);
  g_test_add_func ("/places/read-only", test_read_only);
  g_test_add_func ("/places/slow", test_slow);
  return g_test_run ();
}
