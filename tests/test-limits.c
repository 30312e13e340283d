/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <glib/gstdio.h>

#include "sb-cpu-blur.h"
#include "sb-document-private.h"
#include "sb-history.h"
#include "sb-memory.h"
#include "wait.h"

/* What editing may cost, counted and not timed: the linker puts these functions between the core
 * and the two that all large buffers and all blurs go through. */

gpointer __real_sb_memory_alloc (gsize bytes);
void __real_sb_memory_free (gpointer memory, gsize bytes);
gboolean __real_sb_cpu_blur (const SbSource *source, const SbEdit *edit, const SbTone *tone,
                             const SbTarget *target, SbParallel *parallel, SbBlurScratch *scratch,
                             GCancellable *cancellable, GError **error);
gpointer __wrap_sb_memory_alloc (gsize bytes);
void __wrap_sb_memory_free (gpointer memory, gsize bytes);
gboolean __wrap_sb_cpu_blur (const SbSource *source, const SbEdit *edit, const SbTone *tone,
                             const SbTarget *target, SbParallel *parallel, SbBlurScratch *scratch,
                             GCancellable *cancellable, GError **error);

static GMutex mutex;
static gsize live, peak;              /* bytes, under mutex */
static guint64 n_blurs, blurred_area; /* pixels, under mutex */

gpointer
__wrap_sb_memory_alloc (gsize bytes)
{
  gpointer memory = __real_sb_memory_alloc (bytes);

  if (memory != NULL)
    {
      g_mutex_lock (&mutex);
      live += bytes;
      peak = MAX (peak, live);
      g_mutex_unlock (&mutex);
    }
  return memory;
}

void
__wrap_sb_memory_free (gpointer memory, gsize bytes)
{
  if (memory != NULL)
    {
      g_mutex_lock (&mutex);
      live -= bytes;
      g_mutex_unlock (&mutex);
    }
  __real_sb_memory_free (memory, bytes);
}

gboolean
__wrap_sb_cpu_blur (const SbSource *source, const SbEdit *edit, const SbTone *tone,
                    const SbTarget *target, SbParallel *parallel, SbBlurScratch *scratch,
                    GCancellable *cancellable, GError **error)
{
  g_mutex_lock (&mutex);
  n_blurs++;
  blurred_area += (guint64)target->rect.width * (guint64)target->rect.height;
  g_mutex_unlock (&mutex);
  return __real_sb_cpu_blur (source, edit, tone, target, parallel, scratch, cancellable, error);
}

/* --- A document that is looked at ------------------------------------------------------------- */

typedef struct
{
  char *folder;
  SbDocument *document;
  SbDocumentView *view;
  gpointer buffers[2];
  gboolean loaded;
} Desk;

#define VIEW_WIDTH  960
#define VIEW_HEIGHT 640

static gboolean
is_busy (Desk *desk)
{
  gboolean busy;

  g_object_get (desk->document, "busy", &busy, NULL);
  return busy;
}

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Desk *desk = user_data;
  g_autoptr (GError) error = NULL;

  desk->loaded = sb_document_load_finish (SB_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
}

/* What a canvas does when it is told of new pixels. */
static void
take (Desk *desk)
{
  SbFrame frame;

  while (sb_document_view_take (desk->view, &frame))
    {
      sb_document_view_drawn (desk->view, &frame);
      sb_document_view_give (desk->view, frame.buffer, desk->buffers[frame.buffer],
                             VIEW_WIDTH * VIEW_HEIGHT * 4);
    }
}

static void
look (Desk *desk, double zoom, double x, double y)
{
  const SbView view = {
    .width = VIEW_WIDTH, .height = VIEW_HEIGHT, .zoom = zoom, .x = x, .y = y, .checker_size = 12
  };

  sb_document_view_set (desk->view, &view);
}

static void
rest (Desk *desk)
{
  wait_for (!is_busy (desk));
  take (desk);
}

static void
desk_open (Desk *desk, guint width, guint height)
{
  const SbSaveOptions options = { .depth = 0, .compression = 0, .overwrite = FALSE };
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (width);
  SbImage *image = sb_image_new (width, height, 8, &error);
  guint8 *pixels = sb_image_writable (image);

  g_assert_no_error (error);
  for (gsize i = 0; i < (gsize)width * height; i++)
    {
      const guint32 noise = g_rand_int (rand);
      for (guint c = 0; c < 3; c++)
        pixels[4 * i + c] = (guint8)((i / (7 + c) + (noise >> (8 * c) & 31)) & 255);
      pixels[4 * i + 3] = 255;
    }
  desk->folder = g_dir_make_tmp ("softbox-limits-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *path = g_build_filename (desk->folder, "picture.png", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  sb_image_save_png (image, file, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  sb_image_unref (image);
  g_mutex_lock (&mutex);
  g_assert_cmpuint (live, ==, 0);
  peak = 0;
  g_mutex_unlock (&mutex);

  desk->document = sb_document_new ((SbDevice){ SB_DEVICE_CPU, 0, 2 });
  /* The history's pictures have a limit of their own. */
  sb_document_set_history_budget (desk->document, 1);
  desk->view = sb_document_view_new (desk->document);
  g_signal_connect_swapped (desk->document, "shown", G_CALLBACK (take), desk);
  sb_document_load_async (desk->document, file, NULL, loaded_cb, desk);
  wait_for (desk->loaded);
  for (guint b = 0; b < 2; b++)
    {
      desk->buffers[b] = g_malloc0 (VIEW_WIDTH * VIEW_HEIGHT * 4);
      sb_document_view_give (desk->view, b, desk->buffers[b], VIEW_WIDTH * VIEW_HEIGHT * 4);
    }
  look (desk, MIN (VIEW_WIDTH / (double)width, VIEW_HEIGHT / (double)height), 0, 0);
  rest (desk);
  g_unlink (path);
  g_rmdir (desk->folder);
}

static void
desk_close (Desk *desk)
{
  sb_document_view_free (desk->view);
  sb_document_close (desk->document);
  g_object_unref (desk->document);
  wait_for (sb_work_n_threads () == 0);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_mutex_lock (&mutex);
  g_assert_cmpuint (live, ==, 0);
  g_mutex_unlock (&mutex);
  for (guint b = 0; b < 2; b++)
    g_free (desk->buffers[b]);
  g_free (desk->folder);
}

static void
set_edit (Desk *desk, const char *text)
{
  g_autoptr (GError) error = NULL;
  SbEdit edit;

  sb_edit_parse (text, &edit, &error);
  g_assert_no_error (error);
  sb_document_set_edit (desk->document, &edit, "radius", &error);
  g_assert_no_error (error);
}

/* --- The tests ------------------------------------------------------------------------------- */

/* The program may have 30 bytes a pixel and 150 MB. With libraries, GL and what an allocator
 * keeps, a window that shows nothing has 180 MB where GL is software; so 28 are left. */
#define MAX_BYTES_PER_PIXEL 28

static void
test_memory (void)
{
  static const char *const edits[]
      = { "blur:radius=14",          "blur:radius=3,linear=0",     "blur:radius=1.5",
          "blur:radius=64,passes=1", "blur:radius=300.5",          "blur:radius=2000,passes=10",
          "blur:radius=30,linear=0", "blur:radius=90,edge=mirror", "blur:direction=vertical",
          "blur:radius=700",         "blur:direction=horizontal" };
  const guint width = 6000, height = 4000;
  Desk desk = { 0 };

  desk_open (&desk, width, height);
  /* Once where every step is slow. */
  const guint rounds = g_getenv ("SOFTBOX_TEST_SHARE") == NULL ? 2 : 1;
  for (guint round = 0; round < rounds; round++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
        {
          /* Some in a hurry, some until all is done. */
          set_edit (&desk, edits[i]);
          if (i % 3 != 1)
            rest (&desk);
        }
      sb_document_undo (desk.document);
      rest (&desk);
      sb_document_redo (desk.document);
      rest (&desk);
      g_object_set (desk.document, "comparing", TRUE, NULL);
      rest (&desk);
      g_object_set (desk.document, "comparing", FALSE, NULL);
      look (&desk, round == 0 ? 1.0 : 0.5, 1500, 900);
      rest (&desk);
    }
  g_test_message ("at most %.1f bytes a pixel", (double)peak / ((double)width * height));
  g_assert_cmpuint (peak, <=, (gsize)width * height * MAX_BYTES_PER_PIXEL);
  desk_close (&desk);
}

/* Steps of a drag as the last of n edits: blurs and pixels blurred, PREVIEW and EXACT together. */
static void
count_drag (guint n_edits, guint64 *blurs, guint64 *area)
{
  Desk desk = { 0 };

  desk_open (&desk, 1203, 801);
  for (guint i = 1; i < n_edits; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u,passes=1", 2 * i);

      set_edit (&desk, text);
      rest (&desk);
      sb_document_apply (desk.document);
    }
  set_edit (&desk, "blur:radius=5");
  rest (&desk);

  g_mutex_lock (&mutex);
  n_blurs = blurred_area = 0;
  g_mutex_unlock (&mutex);
  sb_document_begin_drag (desk.document, "radius");
  for (guint i = 0; i < 8; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", 20 + 5 * i);

      set_edit (&desk, text);
      rest (&desk);
    }
  sb_document_end_drag (desk.document);
  rest (&desk);
  g_mutex_lock (&mutex);
  *blurs = n_blurs;
  *area = blurred_area;
  g_mutex_unlock (&mutex);
  desk_close (&desk);
}

static void
test_fifth_edit (void)
{
  guint64 first, fifth, first_area, fifth_area;

  count_drag (1, &first, &first_area);
  count_drag (5, &fifth, &fifth_area);
  g_test_message ("%" G_GUINT64_FORMAT " blurs of %" G_GUINT64_FORMAT " pixels", first, first_area);
  g_assert_cmpuint (first, >=, 8);
  g_assert_cmpuint (fifth, ==, first);
  g_assert_cmpuint (fifth_area, ==, first_area);
}

static void
test_default_budget (void)
{
  const guint64 physical = sb_memory_physical ();
  const guint64 gib = G_GUINT64_CONSTANT (1) << 30;

  g_assert_cmpuint (physical, >, 0);
  g_assert_cmpuint (sb_history_default_budget (8 * gib), ==, 2 * gib);
  g_assert_cmpuint (sb_history_default_budget (16 * gib), ==, 4 * gib);
  g_assert_cmpuint (sb_history_default_budget (64 * gib), ==, 4 * gib);

  g_autoptr (SbHistory) history = sb_history_new (0);
  g_assert_cmpuint (sb_history_get_budget (history), ==, MIN (physical / 4, 4 * gib));
  sb_history_set_budget (history, 5);
  g_assert_cmpuint (sb_history_get_budget (history), ==, 5);
  sb_history_set_budget (history, 0);
  g_assert_cmpuint (sb_history_get_budget (history), ==, MIN (physical / 4, 4 * gib));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_timeout_add (2, sb_test_wake_up, NULL);
  g_test_add_func ("/limits/memory", test_memory);
  g_test_add_func ("/limits/fifth-edit", test_fifth_edit);
  g_test_add_func ("/limits/default-budget", test_default_budget);
  return g_test_run ();
}
