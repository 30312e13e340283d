/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <gmodule.h>
#include <string.h>

#include "documents.h"
#include "sb-cuda-fault.h"
#include "sb-document-private.h"
#include "wait.h"

/* A device that fails while someone edits: the document goes on on the CPU with every byte. The
 * module in SOFTBOX_MODULE_DIR answers what is planned: the CPU behind a device's face, or a GPU.
 */

#define WIDTH  301
#define HEIGHT 223
/* What CUDA calls them: no memory, and "unknown error", as after suspend. */
#define MEMORY  2
#define UNKNOWN 999

static SbCudaFaultPlanFunc plan;
static SbCudaFaultStruckFunc has_struck;

typedef struct
{
  char *folder;
  GFile *file, *other;
  SbImage *image;
  SbDocument *document;
  guint n_warnings, n_messages;
  char *warning, *message;
} Fixture;

static void
assert_text_has (SbDocument *document, const char *name, const char *part, gboolean expected)
{
  g_autofree char *value = NULL;
  g_object_get (document, name, &value, NULL);
  if ((value != NULL && strstr (value, part) != NULL) != expected)
    g_test_fail_printf ("%s is “%s”", name, value);
}

static void
assert_on_device (SbDocument *document, gboolean expected)
{
  /* What the threads have noted reaches the properties by the main loop. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
  assert_text_has (document, "device-name", ", CUDA", expected);
}

static void
load (SbDocument *document, GFile *file)
{
  sb_test_load (document, file);
  wait_for (!sb_test_get_flag (document, "busy"));
}

static void
note_warning (SbDocument *document, const char *sentence, gpointer data)
{
  Fixture *fixture = data;
  fixture->n_warnings++;
  g_free (fixture->warning);
  fixture->warning = g_strdup (sentence);
}

static void
note_message (SbDocument *document, const char *sentence, gpointer data)
{
  Fixture *fixture = data;
  fixture->n_messages++;
  g_free (fixture->message);
  fixture->message = g_strdup (sentence);
}

static GFile *
save_noise (Fixture *fixture, const char *name, guint width, guint height, guint32 seed,
            SbImage **kept)
{
  const SbSaveOptions options = { 0, 0, TRUE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbImage) image = sb_image_new (width, height, 8, NULL);
  guint8 *pixels = sb_image_writable (image);
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  GFile *file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < (gsize)width * height * 4; i++)
    pixels[i] = (guint8)(i % 4 == 3 ? 255 : g_rand_int_range (rand, 0, 256));
  sb_image_save_png (image, file, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  if (kept != NULL)
    *kept = g_steal_pointer (&image);
  return file;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  plan (NULL, 0, 0);
  fixture->folder = g_dir_make_tmp ("softbox-faults-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  fixture->file = save_noise (fixture, "one.png", WIDTH, HEIGHT, 1, &fixture->image);
  fixture->other = save_noise (fixture, "two.png", 97, 61, 2, NULL);
  fixture->document = sb_document_new ((SbDevice){ SB_DEVICE_AUTO, 0, 2 });
  g_signal_connect (fixture->document, "warning", G_CALLBACK (note_warning), fixture);
  g_signal_connect (fixture->document, "message", G_CALLBACK (note_message), fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_unref (fixture->document);
  wait_for (sb_work_n_threads () == 0);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  sb_test_remove_folder (fixture->folder);
  sb_image_unref (fixture->image);
  g_object_unref (fixture->file);
  g_object_unref (fixture->other);
  g_free (fixture->warning);
  g_free (fixture->message);
  g_free (fixture->folder);
}

static SbEdit
parse (const char *text)
{
  SbEdit edit;
  g_autoptr (GError) error = NULL;
  g_assert_true (sb_edit_parse (text, &edit, &error));
  g_assert_no_error (error);
  return edit;
}

static void
set_radius (Fixture *fixture, guint radius)
{
  g_autofree char *text = g_strdup_printf ("blur:radius=%u", radius);
  const SbEdit edit = parse (text);
  g_autoptr (GError) error = NULL;
  g_assert_true (sb_document_set_edit (fixture->document, &edit, "blur.radius", &error));
  g_assert_no_error (error);
}

/* What is exported is what an engine of the CPU makes of the same edits, and so is each pixel that
 * is shown. */
static void
assert_exact (Fixture *fixture, const char *const *texts)
{
  const SbSaveOptions options = { 0, 0, TRUE };
  g_autofree char *path = g_build_filename (fixture->folder, "out.png", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 }, &error);
  SbEdit edits[4];
  guint n_edits = 0;
  SbTestOutcome outcome = { 0 };

  for (; texts[n_edits] != NULL; n_edits++)
    edits[n_edits] = parse (texts[n_edits]);
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, n_edits);
  sb_document_export_async (fixture->document, file, &options, NULL, sb_test_exported_cb, &outcome);
  wait_for (outcome.done);
  g_assert_no_error (outcome.error);
  wait_for (!sb_test_get_flag (fixture->document, "busy"));

  g_autoptr (SbImage) actual = sb_image_load (file, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sb_engine_load (engine, fixture->image, &error));
  g_autoptr (SbImage) expected = sb_engine_read (engine, list, 0, 8, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sb_image_equal (expected, actual));
  for (int i = 0; i < 40; i++)
    {
      const int x = i * 37 % WIDTH, y = i * 53 % HEIGHT;
      const guint8 *pixel = sb_image_get_pixels (expected) + 4 * ((gsize)y * WIDTH + (gsize)x);
      guint16 rgba[4];
      g_assert_true (sb_document_pick (fixture->document, x, y, rgba));
      for (int c = 0; c < 4; c++)
        g_assert_cmpuint (rgba[c], ==, pixel[c] * 257u);
    }
}

static void
assert_moved (Fixture *fixture, const char *part)
{
  g_assert_true (has_struck ());
  assert_on_device (fixture->document, FALSE);
  assert_text_has (fixture->document, "device-reason", part, TRUE);
  assert_text_has (fixture->document, "error", "answers", FALSE);
  assert_text_has (fixture->document, "error", "memory", FALSE);
}

/* --- While a picture is opened ---------------------------------------------------------------- */

static void
test_load (Fixture *fixture, gconstpointer data)
{
  const int code = GPOINTER_TO_INT (data);

  plan ("upload", 0, code);
  load (fixture->document, fixture->file);
  assert_moved (fixture, code == MEMORY ? "memory" : "answers no more");
  g_assert_cmpuint (fixture->n_messages, ==, 1);
  g_assert_cmpuint (fixture->n_warnings, ==, 0);
  set_radius (fixture, 5);
  wait_for (!sb_test_get_flag (fixture->document, "busy"));
  assert_exact (fixture, (const char *const[]){ "blur:radius=5", NULL });

  /* A picture too large for the device says nothing about the next one. */
  load (fixture->document, fixture->other);
  assert_on_device (fixture->document, code == MEMORY);
  assert_text_has (fixture->document, "device-reason", "memory", FALSE);
}

/* A device that was asked for by its number and is not there: told once, and why it is the CPU. */
static void
test_missing (Fixture *fixture, gconstpointer data)
{
  plan ("open", 0, UNKNOWN);
  g_autoptr (SbDocument) document = sb_document_new ((SbDevice){ SB_DEVICE_CUDA, 99, 2 });
  g_signal_connect (document, "warning", G_CALLBACK (note_warning), fixture);
  g_signal_connect (document, "message", G_CALLBACK (note_message), fixture);
  load (document, fixture->file);
  assert_on_device (document, FALSE);
  assert_text_has (document, "device-reason", "CUDA cannot be used: ", TRUE);
  g_assert_cmpuint (fixture->n_messages, ==, 1);
  g_assert_cmpuint (fixture->n_warnings, ==, 0);
  g_assert_nonnull (strstr (fixture->message, "Continuing on the CPU"));
}

/* The picture that is open survives the one that does not fit. */
static void
test_second_load (Fixture *fixture, gconstpointer data)
{
  load (fixture->document, fixture->other);
  assert_on_device (fixture->document, TRUE);
  plan ("upload", 0, MEMORY);
  load (fixture->document, fixture->file);
  assert_moved (fixture, "memory");
  assert_exact (fixture, (const char *const[]){ NULL });
}

/* --- While someone edits ---------------------------------------------------------------------- */

static void
test_drag (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  const int code = GPOINTER_TO_INT (data);
  const SbEdit first = parse ("blur:radius=3,passes=2");
  g_autoptr (GError) error = NULL;

  load (document, fixture->file);
  assert_on_device (document, TRUE);
  g_assert_true (sb_document_set_edit (document, &first, NULL, &error));
  sb_document_apply (document);
  wait_for (!sb_test_get_flag (document, "busy"));

  sb_document_begin_drag (document, "blur.radius");
  for (guint radius = 1; radius <= 20; radius++)
    {
      if (radius == 9)
        plan ("blur", 0, code);
      set_radius (fixture, radius);
      wait_for (!sb_test_get_flag (document, "busy") || radius % 3 == 0);
    }
  sb_document_end_drag (document);
  wait_for (!sb_test_get_flag (document, "busy"));

  assert_moved (fixture, code == MEMORY ? "memory" : "answers no more");
  g_assert_cmpuint (fixture->n_warnings, ==, 1);
  g_assert_nonnull (strstr (fixture->warning, "no work is lost"));
  assert_exact (fixture, (const char *const[]){ "blur:radius=3,passes=2", "blur:radius=20", NULL });

  /* The history is whole: the drag is one step, the edit before it another. */
  sb_document_undo (document);
  wait_for (!sb_test_get_flag (document, "busy"));
  assert_exact (fixture, (const char *const[]){ "blur:radius=3,passes=2", NULL });
  sb_document_redo (document);
  wait_for (!sb_test_get_flag (document, "busy"));
  assert_exact (fixture, (const char *const[]){ "blur:radius=3,passes=2", "blur:radius=20", NULL });
}

static void
test_export (Fixture *fixture, gconstpointer data)
{
  load (fixture->document, fixture->file);
  set_radius (fixture, 7);
  wait_for (!sb_test_get_flag (fixture->document, "busy"));
  plan ("download", 0, UNKNOWN);
  assert_exact (fixture, (const char *const[]){ "blur:radius=7", NULL });
  assert_moved (fixture, "answers no more");
}

/* Nothing is rendered when the window is drawn anew, and the pixels come all the same. */
static void
test_show (Fixture *fixture, gconstpointer data)
{
  static guint8 pixels[60 * 40 * 4];
  g_autofree guint8 *expected = g_malloc (sizeof pixels);
  SbView wanted
      = { SB_SHOW_RESULT, 60, 40, 0.2, 0, 0, 8, { 1, 2, 3 }, { { 9, 9, 9 }, { 7, 7, 7 } } };
  SbFrame frame;
  g_autoptr (GError) error = NULL;
  g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 }, &error);

  load (fixture->document, fixture->file);
  SbDocumentView *view = sb_document_view_new (fixture->document);
  sb_document_view_set (view, &wanted);
  sb_document_view_give (view, 0, pixels, sizeof pixels);
  wait_for (sb_document_view_take (view, &frame));
  plan ("show", 0, UNKNOWN);
  wanted.x = 1;
  sb_document_view_set (view, &wanted);
  sb_document_view_give (view, 0, pixels, sizeof pixels);
  wait_for (sb_document_view_take (view, &frame));
  wait_for (!sb_test_get_flag (fixture->document, "busy"));
  assert_moved (fixture, "answers no more");
  g_assert_true (sb_engine_load (engine, fixture->image, &error));
  g_assert_true (sb_engine_show_host (engine, &wanted, expected, 240, &error));
  g_assert_cmpmem (pixels, sizeof pixels, expected, sizeof pixels);
  sb_document_view_free (view);
}

/* A fault of the device itself takes it from the whole process: what is open beside goes to the CPU
 * too, and so does what is opened later. The last test of all. */
static void
test_trap (Fixture *fixture, gconstpointer data)
{
  g_autoptr (SbDocument) beside = sb_document_new ((SbDevice){ SB_DEVICE_AUTO, 0, 2 });
  g_autoptr (GError) error = NULL;
  const SbEdit edit = parse ("blur:radius=2");

  load (beside, fixture->other);
  assert_on_device (beside, TRUE);
  test_drag (fixture, GINT_TO_POINTER (SB_CUDA_FAULT_TRAP));
  assert_on_device (beside, TRUE);
  g_assert_true (sb_document_set_edit (beside, &edit, NULL, &error));
  wait_for (!sb_test_get_flag (beside, "busy"));
  assert_on_device (beside, FALSE);

  g_autoptr (SbDocument) later = sb_document_new ((SbDevice){ SB_DEVICE_AUTO, 0, 2 });
  load (later, fixture->other);
  assert_on_device (later, FALSE);
  assert_text_has (later, "device-reason", "", TRUE);
}

int
main (int argc, char **argv)
{
  const char *folder = g_getenv ("SOFTBOX_MODULE_DIR");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : ".", "softbox-cuda.so", NULL);
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_print ("1..0 # SKIP the module for tests is not built\n");
      return 0;
    }
  SbEngine *engine = sb_engine_new ((SbDevice){ SB_DEVICE_CUDA, 0, 2 }, &error);
  if (engine == NULL)
    {
      g_assert_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE);
      g_print ("1..0 # SKIP %s\n", error->message);
      return 0;
    }
  sb_engine_free (engine);

  GModule *module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  gpointer plan_symbol = NULL, struck_symbol = NULL;
  g_assert_true (g_module_symbol (module, SB_CUDA_FAULT_PLAN, &plan_symbol));
  g_assert_true (g_module_symbol (module, SB_CUDA_FAULT_STRUCK, &struck_symbol));
  plan = (SbCudaFaultPlanFunc)plan_symbol;
  has_struck = (SbCudaFaultStruckFunc)struck_symbol;
  g_timeout_add (1, sb_test_wake_up, NULL);

#define add(name, func, code)                                                                      \
  g_test_add ("/faults/" name, Fixture, GINT_TO_POINTER (code), set_up, func, tear_down)
  add ("load/memory", test_load, MEMORY);
  add ("load/unknown", test_load, UNKNOWN);
  add ("load/second", test_second_load, 0);
  add ("load/missing", test_missing, 0);
  add ("drag/memory", test_drag, MEMORY);
  add ("drag/unknown", test_drag, UNKNOWN);
  add ("idle/export", test_export, 0);
  add ("idle/show", test_show, 0);
  add ("trap/process", test_trap, 0);
  return g_test_run ();
}
