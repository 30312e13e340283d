/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <string.h>

#include "documents.h"
#include "sb-document-private.h"
#include "wait.h"

/* The document without a display: every state's pixels are compared with those of an engine that
 * was given the same list and nothing else. */

#define WIDTH  203
#define HEIGHT 151

typedef struct
{
  char *folder;
  GFile *file; /* an opaque picture of WIDTH x HEIGHT */
  SbImage *image;
  SbDocument *document;
  guint n_edits_changed, n_picture_changed;
  char *message;
} Fixture;

static void
spin (void)
{
  g_main_context_iteration (NULL, TRUE);
}

static char *
get_text (SbDocument *document, const char *name)
{
  char *value;
  g_object_get (document, name, &value, NULL);
  return value;
}

#define assert_text(document, name, expected)                                                      \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_autofree char *text_ = get_text (document, name);                                            \
    g_assert_cmpstr (text_, ==, expected);                                                         \
  }                                                                                                \
  G_STMT_END

static SbImage *
make_image (guint width, guint height, guint32 seed)
{
  SbImage *image = sb_image_new (width, height, 8, NULL);
  guint8 *pixels = sb_image_writable (image);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (gsize i = 0; i < (gsize)width * height; i++)
    {
      const guint32 noise = g_rand_int (rand);
      pixels[4 * i] = (guint8)(noise & 255);
      pixels[4 * i + 1] = (guint8)((i % width + (noise >> 8 & 15)) & 255);
      pixels[4 * i + 2] = (guint8)(i / width & 255);
      pixels[4 * i + 3] = 255;
    }
  return image;
}

static GFile *
save_image (const char *folder, const char *name, SbImage *image)
{
  const SbSaveOptions options = { 0, 0, TRUE };
  g_autofree char *path = g_build_filename (folder, name, NULL);
  GFile *file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  sb_image_save_png (image, file, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return file;
}

static void
count_edits (SbDocument *document, gpointer data)
{
  ((Fixture *)data)->n_edits_changed++;
}

static void
count_pictures (SbDocument *document, gpointer data)
{
  ((Fixture *)data)->n_picture_changed++;
}

static void
note_message (SbDocument *document, const char *message, gpointer data)
{
  Fixture *fixture = data;
  g_free (fixture->message);
  fixture->message = g_strdup (message);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("softbox-document-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  fixture->image = make_image (WIDTH, HEIGHT, 1);
  fixture->file = save_image (fixture->folder, "picture.png", fixture->image);
  fixture->document = sb_document_new ((SbDevice){ SB_DEVICE_CPU, 0, 2 });
  g_signal_connect (fixture->document, "edits-changed", G_CALLBACK (count_edits), fixture);
  g_signal_connect (fixture->document, "picture-changed", G_CALLBACK (count_pictures), fixture);
  g_signal_connect (fixture->document, "message", G_CALLBACK (note_message), fixture);
  sb_test_load (fixture->document, fixture->file);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_add_weak_pointer (G_OBJECT (fixture->document), (gpointer *)&fixture->document);
  g_object_unref (fixture->document);
  g_assert_null (fixture->document);
  /* Nobody waits for the threads but we: they end on their own. */
  wait_for (sb_work_n_threads () == 0);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  sb_test_remove_folder (fixture->folder);
  sb_image_unref (fixture->image);
  g_object_unref (fixture->file);
  g_free (fixture->folder);
  g_free (fixture->message);
}

static SbEdit
parse (const char *text)
{
  SbEdit edit;
  g_autoptr (GError) error = NULL;
  sb_edit_parse (text, &edit, &error);
  g_assert_no_error (error);
  return edit;
}

static void
set_edit (Fixture *fixture, const char *text, const char *control)
{
  const SbEdit edit = parse (text);
  g_autoptr (GError) error = NULL;
  g_assert_true (sb_document_set_edit (fixture->document, &edit, control, &error));
  g_assert_no_error (error);
}

/* What an engine of its own makes of the edits, given as texts with a space between. */
static SbImage *
expect (SbImage *image, const char *texts, guint depth)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 }, &error);
  g_assert_no_error (error);
  g_assert_true (sb_engine_load (engine, image, &error));

  g_auto (GStrv) words = g_strsplit (texts, " ", -1);
  SbEdit edits[8];
  guint n = 0;
  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      edits[n++] = parse (words[i]);
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, n);
  SbImage *result = sb_engine_read (engine, list, 0, depth, NULL, &error);
  g_assert_no_error (error);
  return result;
}

static SbImage *
reload (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_load (file, 0, NULL, &error);
  g_assert_no_error (error);
  return image;
}

static SbTestOutcome export(Fixture *fixture, const char *name, guint depth, gboolean overwrite)
{
  SbTestOutcome outcome = { 0 };
  const SbSaveOptions options = { depth, 0, overwrite };
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);

  sb_document_export_async (fixture->document, file, &options, NULL, sb_test_exported_cb, &outcome);
  g_assert_true (sb_test_get_flag (fixture->document, "exporting"));
  g_assert_true (sb_test_get_flag (fixture->document, "busy"));
  wait_for (outcome.done);
  g_assert_false (sb_test_get_flag (fixture->document, "exporting"));
  return outcome;
}

/* The document's state is these edits, in its property and in the bytes of an export. */
static void
assert_state (Fixture *fixture, const char *texts)
{
  assert_text (fixture->document, "edits", texts);
  const SbTestOutcome outcome = export(fixture, "state.png", 16, TRUE);
  g_assert_no_error (outcome.error);
  g_autoptr (SbImage) got = reload (fixture->folder, "state.png");
  g_autoptr (SbImage) expected = expect (fixture->image, texts, 16);
  g_assert_true (sb_image_equal (got, expected));
}

/* And what it shows at rest is that, too, to the last pixel. */
static void
assert_shown (Fixture *fixture, SbDocumentView *view, const char *texts)
{
  static guint8 buffers[2][WIDTH * HEIGHT * 4];
  SbFrame frame;
  const SbView whole = { .width = WIDTH, .height = HEIGHT, .zoom = 1.0, .checker_size = 8 };

  wait_for (!sb_test_get_flag (fixture->document, "busy"));
  for (guint i = 0; i < 2; i++)
    if (sb_document_view_lent (view, i) == 0)
      sb_document_view_give (view, i, buffers[i], sizeof buffers[i]);
  sb_document_view_set (view, &whole);
  wait_for (!sb_test_get_flag (fixture->document, "busy") && sb_document_view_take (view, &frame));
  g_autoptr (SbImage) expected = expect (fixture->image, texts, 8);
  g_assert_cmpmem (buffers[frame.buffer], sizeof buffers[0], sb_image_get_pixels (expected),
                   sb_image_get_bytes (expected));
}

/* --- Tests ----------------------------------------------------------------------------------- */

static void
test_load (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;

  g_assert_true (sb_test_get_flag (document, "has-picture"));
  g_assert_false (sb_test_get_flag (document, "modified"));
  g_assert_false (sb_test_get_flag (document, "can-undo"));
  assert_text (document, "title", "picture.png");
  assert_text (document, "subtitle", "203 × 151, sRGB, 8 bit");
  assert_text (document, "edits", "");
  assert_text (document, "error", "");
  g_assert_cmpuint (fixture->n_picture_changed, ==, 1);
  g_assert_true (sb_image_equal (sb_document_get_image (document), fixture->image));
  g_assert_true (g_file_equal (sb_document_get_file (document), fixture->file));
  wait_for (!sb_test_get_flag (document, "busy"));
  g_autofree char *name = get_text (document, "device-name");
  g_assert_true (g_str_has_prefix (name, "CPU, 2 threads"));

  guint16 rgba[4];
  const guint8 *pixels = sb_image_get_pixels (fixture->image);
  g_assert_true (sb_document_pick (document, 5, 7, rgba));
  for (guint c = 0; c < 4; c++)
    g_assert_cmpuint (rgba[c], ==, pixels[(7 * WIDTH + 5) * 4 + c] * 257);
  g_assert_false (sb_document_pick (document, WIDTH, 0, rgba));
  g_assert_false (sb_document_pick (document, -1, 0, rgba));
}

static void
test_steps (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;

  assert_state (fixture, "");
  set_edit (fixture, "blur:radius=3", NULL);
  g_assert_true (sb_test_get_flag (document, "busy"));
  assert_state (fixture, "blur:radius=3");
  assert_text (document, "undo-label", "Blur 3 px, 3 passes");
  set_edit (fixture, "blur:radius=5.5,passes=2", NULL); /* replaces it */
  assert_state (fixture, "blur:radius=5.5,passes=2");
  g_assert_true (sb_test_get_flag (document, "can-apply"));
  sb_document_apply (document);
  g_assert_false (sb_test_get_flag (document, "can-apply"));
  g_assert_null (sb_document_get_edit (document, SB_EDIT_BLUR));
  set_edit (fixture, "blur:radius=1,linear=0", NULL); /* comes after it */
  assert_state (fixture, "blur:radius=5.5,passes=2 blur:radius=1,linear=0");
  g_assert_cmpfloat (sb_document_get_edit (document, SB_EDIT_BLUR)->values[SB_BLUR_RADIUS], ==, 1);

  sb_document_undo (document);
  assert_state (fixture, "blur:radius=5.5,passes=2");
  sb_document_undo (document);
  assert_state (fixture, "blur:radius=3");
  assert_text (document, "redo-label", "Blur 5.5 px, 2 passes");
  sb_document_undo (document);
  assert_state (fixture, "");
  g_assert_null (sb_document_get_edit (document, SB_EDIT_BLUR));
  g_assert_false (sb_test_get_flag (document, "can-undo"));
  sb_document_undo (document);
  g_assert_cmpstr (fixture->message, ==, "Nothing to undo");

  sb_document_redo (document);
  sb_document_redo (document);
  sb_document_redo (document);
  assert_state (fixture, "blur:radius=5.5,passes=2 blur:radius=1,linear=0");
  g_assert_false (sb_test_get_flag (document, "can-redo"));

  /* A change after undo forgets what was undone. */
  sb_document_undo (document);
  sb_document_undo (document);
  set_edit (fixture, "blur:radius=2", NULL);
  assert_state (fixture, "blur:radius=2");
  g_assert_false (sb_test_get_flag (document, "can-redo"));
  sb_document_remove_edit (document, SB_EDIT_BLUR);
  assert_state (fixture, "");
  assert_text (document, "undo-label", "Blur off");
}

static void
test_merge (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  guint edits_changed;

  wait_for (!sb_test_get_flag (document, "busy"));
  edits_changed = fixture->n_edits_changed;
  sb_document_begin_drag (document, "blur.radius");
  for (guint i = 1; i <= 40; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", i);
      set_edit (fixture, text, "blur.radius");
      if (i % 8 == 0)
        g_usleep (1000);
      while (g_main_context_iteration (NULL, FALSE))
        ;
    }
  sb_document_end_drag (document);
  /* The control that moves is not told to read its value. */
  g_assert_cmpuint (fixture->n_edits_changed, ==, edits_changed);
  assert_state (fixture, "blur:radius=40");
  sb_document_undo (document);
  assert_state (fixture, "");
  g_assert_false (sb_test_get_flag (document, "can-undo"));
  sb_document_redo (document);

  /* Another control is another step, and so is every change without one. */
  set_edit (fixture, "blur:radius=40,passes=2", "blur.passes");
  set_edit (fixture, "blur:radius=40,passes=1", "blur.passes");
  set_edit (fixture, "blur:radius=6,passes=1", NULL);
  set_edit (fixture, "blur:radius=7,passes=1", NULL);
  sb_document_undo (document);
  assert_text (document, "edits", "blur:radius=6,passes=1");
  sb_document_undo (document);
  assert_text (document, "edits", "blur:radius=40,passes=1");
  sb_document_undo (document);
  assert_text (document, "edits", "blur:radius=40");
  sb_document_undo (document);
  assert_text (document, "edits", "");
}

static void
test_bad_edit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  const SbEdit outside = parse ("blur:radius=3,area=rect:500:0:10:10");

  set_edit (fixture, "blur:radius=2", NULL);
  g_assert_false (sb_document_set_edit (fixture->document, &outside, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  assert_state (fixture, "blur:radius=2");

  g_autoptr (SbDocument) empty = sb_document_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 });
  const SbEdit blur = parse ("blur");
  g_clear_error (&error);
  g_assert_false (sb_document_set_edit (empty, &blur, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  sb_document_undo (empty);
  sb_document_apply (empty);
  g_assert_false (sb_test_get_flag (empty, "busy"));
}

static void
test_bad_load (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  SbTestOutcome outcome = { 0 };
  g_autofree char *path = g_build_filename (fixture->folder, "text.png", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);

  g_assert_true (g_file_set_contents (path, "no picture", -1, NULL));
  set_edit (fixture, "blur:radius=2", NULL);
  sb_document_load_async (document, file, NULL, sb_test_loaded_cb, &outcome);
  g_assert_true (sb_test_get_flag (document, "loading"));
  wait_for (outcome.done);
  g_assert_false (outcome.result);
  g_assert_nonnull (outcome.error);
  g_assert_nonnull (strstr (outcome.error->message, "text.png"));
  assert_text (document, "error", outcome.error->message);
  g_clear_error (&outcome.error);
  g_assert_false (sb_test_get_flag (document, "loading"));
  g_assert_cmpuint (fixture->n_picture_changed, ==, 1);
  assert_text (document, "title", "picture.png");
  assert_state (fixture, "blur:radius=2");

  /* A second load takes the place of the first. */
  g_autoptr (SbImage) other = make_image (31, 17, 2);
  g_autoptr (GFile) other_file = save_image (fixture->folder, "other.png", other);
  SbTestOutcome first = { 0 }, second = { 0 };
  sb_document_load_async (document, fixture->file, NULL, sb_test_loaded_cb, &first);
  sb_document_load_async (document, other_file, NULL, sb_test_loaded_cb, &second);
  wait_for (first.done && second.done);
  g_assert_error (first.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&first.error);
  g_assert_no_error (second.error);
  assert_text (document, "title", "other.png");
  assert_text (document, "edits", "");
  assert_text (document, "error", "");
  g_assert_true (sb_image_equal (sb_document_get_image (document), other));
  g_assert_false (sb_test_get_flag (document, "can-undo"));

  /* And one that the caller ends leaves what is open. */
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  SbTestOutcome ended = { 0 };
  sb_document_load_async (document, fixture->file, cancellable, sb_test_loaded_cb, &ended);
  g_cancellable_cancel (cancellable);
  wait_for (ended.done);
  g_assert_error (ended.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&ended.error);
  assert_text (document, "title", "other.png");
  assert_text (document, "error", "");
  wait_for (!sb_test_get_flag (document, "busy"));
}

static void
test_export (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;

  /* In the middle of a drag, with older states still on their way. */
  sb_document_begin_drag (document, "blur.radius");
  for (guint i = 1; i <= 9; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", i);
      set_edit (fixture, text, "blur.radius");
    }
  SbTestOutcome outcome = export(fixture, "drag.png", 0, FALSE);
  g_assert_no_error (outcome.error);
  g_autoptr (SbImage) drag = reload (fixture->folder, "drag.png");
  g_autoptr (SbImage) nine = expect (fixture->image, "blur:radius=9", 8);
  g_assert_true (sb_image_equal (drag, nine));
  g_assert_false (sb_test_get_flag (document, "modified"));

  /* The drag goes on while another is under way: the saved state is the exported one. */
  SbTestOutcome second = { 0 };
  const SbSaveOptions options = { 8, 0, FALSE };
  g_autofree char *path = g_build_filename (fixture->folder, "second.png", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  set_edit (fixture, "blur:radius=10", "blur.radius");
  sb_document_export_async (document, file, &options, NULL, sb_test_exported_cb, &second);
  set_edit (fixture, "blur:radius=11", "blur.radius");
  sb_document_end_drag (document);
  wait_for (second.done);
  g_assert_no_error (second.error);
  g_autoptr (SbImage) got = reload (fixture->folder, "second.png");
  g_autoptr (SbImage) ten = expect (fixture->image, "blur:radius=10", 8);
  g_assert_true (sb_image_equal (got, ten));
  g_assert_true (sb_test_get_flag (document, "modified"));
  set_edit (fixture, "blur:radius=10", NULL);
  g_assert_false (sb_test_get_flag (document, "modified"));

  /* An existing file is not replaced unasked. */
  set_edit (fixture, "blur:radius=12", NULL);
  outcome = export(fixture, "drag.png", 8, FALSE);
  g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  assert_text (document, "error", outcome.error->message);
  g_clear_error (&outcome.error);
  g_assert_true (sb_test_get_flag (document, "modified"));
  g_autoptr (SbImage) still = reload (fixture->folder, "drag.png");
  g_assert_true (sb_image_equal (still, nine));

  /* One at a time. */
  SbTestOutcome a = { 0 }, b = { 0 };
  g_autofree char *path_a = g_build_filename (fixture->folder, "a.png", NULL);
  g_autoptr (GFile) file_a = g_file_new_for_path (path_a);
  sb_document_export_async (document, file_a, &options, NULL, sb_test_exported_cb, &a);
  sb_document_export_async (document, file, &options, NULL, sb_test_exported_cb, &b);
  wait_for (a.done && b.done);
  g_assert_no_error (a.error);
  g_assert_error (b.error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&b.error);
}

static void
test_modified (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;

  set_edit (fixture, "blur:radius=3", NULL);
  g_assert_true (sb_test_get_flag (document, "modified"));
  SbTestOutcome outcome = export(fixture, "saved.png", 8, FALSE);
  g_assert_no_error (outcome.error);
  g_assert_false (sb_test_get_flag (document, "modified"));
  sb_document_undo (document);
  g_assert_true (sb_test_get_flag (document, "modified"));
  sb_document_redo (document);
  g_assert_false (sb_test_get_flag (document, "modified"));
  set_edit (fixture, "blur:radius=4", NULL);
  g_assert_true (sb_test_get_flag (document, "modified"));
  sb_document_undo (document);
  g_assert_false (sb_test_get_flag (document, "modified"));
}

static void
test_cancel_export (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  g_autoptr (SbImage) large = make_image (3000, 2000, 3);
  g_autoptr (GFile) large_file = save_image (fixture->folder, "large.png", large);
  g_autofree char *path = g_build_filename (fixture->folder, "cancelled.png", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  const SbSaveOptions options = { 16, 9, FALSE };
  SbTestOutcome outcome = { 0 };
  double progress = 0;

  sb_test_load (document, large_file);
  set_edit (fixture, "blur:radius=20", NULL);
  sb_document_export_async (document, file, &options, NULL, sb_test_exported_cb, &outcome);
  while (!outcome.done && progress == 0)
    {
      spin ();
      g_object_get (document, "progress", &progress, NULL);
    }
  g_assert_false (outcome.done);
  g_assert_cmpfloat (progress, <, 1);
  sb_document_cancel_export (document);
  wait_for (outcome.done);
  g_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&outcome.error);
  assert_text (document, "error", "");
  g_assert_true (sb_test_get_flag (document, "modified"));

  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  guint n = 0;
  while (g_dir_read_name (dir) != NULL)
    n++;
  g_assert_cmpuint (n, ==, 2); /* picture.png and large.png */
}

/* Undo and redo with kept pixels, and without. */
static void
test_history (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  static const char *const states[] = { "", "blur:radius=2", "blur:radius=4,edge=mirror",
                                        "blur:radius=4,edge=mirror blur:radius=9,passes=1" };
  SbDocumentView *view = sb_document_view_new (document);

  if (data != NULL)
    sb_document_set_history_budget (document, 1);
  for (guint i = 1; i < G_N_ELEMENTS (states); i++)
    {
      const char *last = strrchr (states[i], ' ');
      if (last != NULL)
        sb_document_apply (document);
      set_edit (fixture, last != NULL ? last + 1 : states[i], NULL);
      wait_for (!sb_test_get_flag (document, "busy"));
      if (data == NULL)
        wait_for (sb_history_get_state (document->history, i).kept);
      else
        {
          /* Time for the pixels to be read, packed and refused. */
          const gint64 until = g_get_monotonic_time () + 500 * 1000;
          wait_for (g_get_monotonic_time () > until);
        }
      sb_history_settle (document->history);
      g_autoptr (SbSnapshot) kept = sb_history_take (document->history, i);
      g_assert_true ((kept != NULL) == (data == NULL));
      if (kept != NULL)
        {
          g_autoptr (SbImage) restored = sb_snapshot_restore (kept, NULL);
          g_autoptr (SbImage) expected = expect (fixture->image, states[i], 16);
          g_assert_true (sb_image_equal (restored, expected));
        }
    }
  for (guint i = G_N_ELEMENTS (states) - 1; i-- > 0;)
    {
      sb_document_undo (document);
      assert_shown (fixture, view, states[i]);
      assert_state (fixture, states[i]);
    }
  for (guint i = 1; i < G_N_ELEMENTS (states); i++)
    {
      sb_document_redo (document);
      assert_shown (fixture, view, states[i]);
    }
  /* Nothing was kept that has gone; now all of it goes. */
  g_assert_null (fixture->message);
  sb_document_set_history_budget (document, 1);
  sb_document_undo (document);
  assert_shown (fixture, view, states[2]);
  g_assert_cmpstr (fixture->message, ==,
                   data != NULL ? NULL : "This step is no longer kept and is rendered again");
  sb_document_view_free (view);
}

/* A view follows a drag, PREVIEW first, and is exact at rest. */
static void
test_view (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  static guint8 buffers[2][100 * 80 * 4];
  SbDocumentView *view = sb_document_view_new (document);
  const SbView half
      = { SB_SHOW_RESULT, 100, 80, 0.45, -3, -4, 8, { 1, 2, 3 }, { { 9, 9, 9 }, { 7, 7, 7 } } };
  SbFrame frame;
  guint n_frames = 0;
  guint64 last_id = 0;

  /* Too small a buffer is not touched. */
  sb_document_view_give (view, 0, buffers[0], 100);
  sb_document_view_set (view, &half);
  const gint64 until = g_get_monotonic_time () + 20 * 1000;
  wait_for (g_get_monotonic_time () > until);
  g_assert_false (sb_document_view_take (view, &frame));
  g_assert_cmpuint (sb_document_view_lent (view, 0), ==, 100);
  sb_document_view_withdraw (view);
  g_assert_cmpuint (sb_document_view_lent (view, 0), ==, 0);

  for (guint i = 0; i < 2; i++)
    sb_document_view_give (view, i, buffers[i], sizeof buffers[i]);
  sb_document_begin_drag (document, "blur.radius");
  for (guint i = 1; i <= 30; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", i);
      set_edit (fixture, text, "blur.radius");
      wait_for (sb_document_view_take (view, &frame));
      g_assert_cmpuint (frame.id, >=, last_id);
      g_assert_cmpint (frame.view.width, ==, 100);
      last_id = frame.id;
      n_frames++;
      sb_document_view_drawn (view, &frame);
      sb_document_view_give (view, frame.buffer, buffers[frame.buffer], sizeof buffers[0]);
    }
  g_assert_cmpuint (n_frames, ==, 30);
  sb_document_end_drag (document);
  wait_for (!sb_test_get_flag (document, "busy"));
  while (sb_document_view_take (view, &frame))
    ;

  /* At rest: what an engine shows of the EXACT result. */
  g_autoptr (GError) error = NULL;
  g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 }, &error);
  const SbEdit edit = parse ("blur:radius=30");
  g_autoptr (SbEditList) list = sb_edit_list_new (&edit, 1);
  g_autofree guint8 *expected = g_malloc (sizeof buffers[0]);
  g_assert_true (sb_engine_load (engine, fixture->image, &error));
  g_assert_true (sb_engine_render (engine, list, 0, SB_QUALITY_EXACT, NULL, &error));
  g_assert_true (sb_engine_show_host (engine, &half, expected, 400, &error));
  g_assert_cmpmem (buffers[frame.buffer], sizeof buffers[0], expected, sizeof buffers[0]);

  /* Nothing new: nothing is filled. */
  for (guint i = 0; i < 2; i++)
    if (sb_document_view_lent (view, i) == 0)
      sb_document_view_give (view, i, buffers[i], sizeof buffers[i]);
  sb_document_view_set (view, &half);
  g_usleep (20 * 1000);
  g_assert_false (sb_document_view_take (view, &frame));

  /* The original, without rendering. */
  SbView original = half;
  original.what = SB_SHOW_ORIGINAL;
  const guint64 serial = sb_engine_get_serial (document->work->box->engine);
  sb_document_view_set (view, &original);
  wait_for (sb_document_view_take (view, &frame));
  g_assert_true (sb_engine_show_host (engine, &original, expected, 400, &error));
  g_assert_cmpmem (buffers[frame.buffer], sizeof buffers[0], expected, sizeof buffers[0]);
  g_assert_cmpuint (sb_engine_get_serial (document->work->box->engine), ==, serial);
  sb_document_view_free (view);
}

static void
test_animation (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  static guint8 buffers[2][100 * 80 * 4];
  SbDocumentView *view = sb_document_view_new (document);
  const SbView some = { SB_SHOW_RESULT, 100, 80, 0.45, 0, 0, 8, { 0 }, { { 0 } } };
  SbFrame frame;

  for (guint i = 0; i < 2; i++)
    sb_document_view_give (view, i, buffers[i], sizeof buffers[i]);
  sb_document_view_set (view, &some);
  set_edit (fixture, "blur:radius=62.5,passes=1", NULL);
  wait_for (!sb_test_get_flag (document, "busy"));
  g_object_set (document, "animating", TRUE, NULL);
  g_assert_false (sb_test_get_flag (document, "busy"));

  static const double radii[] = { 63, 64, 64, 63, 62 };
  for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
    {
      const SbEdit *edit = sb_document_get_edit (document, SB_EDIT_BLUR);
      g_assert_cmpfloat (edit->values[SB_BLUR_RADIUS], ==, radii[i]);
      g_assert_cmpfloat (edit->values[SB_BLUR_PASSES], ==, 1);
      sb_document_animate (document); /* not shown yet: no next step */
      g_assert_cmpfloat (sb_document_get_edit (document, SB_EDIT_BLUR)->values[SB_BLUR_RADIUS], ==,
                         radii[i]);
      const guint64 id = document->wanted_id;
      do
        {
          wait_for (sb_document_view_take (view, &frame));
          sb_document_view_drawn (view, &frame);
          sb_document_view_give (view, frame.buffer, buffers[frame.buffer], sizeof buffers[0]);
        }
      while (frame.id < id);
      sb_document_animate (document);
    }
  /* Another control moves meanwhile: one step, with the radius that was there. */
  set_edit (fixture, "blur:radius=61,passes=2", "blur.passes");
  assert_text (document, "edits", "blur:radius=62.5,passes=2");
  g_assert_true (sb_test_get_flag (document, "animating"));

  g_object_set (document, "animating", FALSE, NULL);
  g_assert_cmpfloat (sb_document_get_edit (document, SB_EDIT_BLUR)->values[SB_BLUR_RADIUS], ==,
                     62.5);
  assert_state (fixture, "blur:radius=62.5,passes=2");
  sb_document_undo (document);
  sb_document_undo (document);
  assert_state (fixture, "");
  g_assert_false (sb_test_get_flag (document, "can-undo"));
  sb_document_view_free (view);
}

/* The last reference goes while every thread is at work. */
static void
test_dispose (void)
{
  g_autofree char *folder = g_dir_make_tmp ("softbox-document-XXXXXX", NULL);
  g_autoptr (SbImage) large = make_image (2000, 1500, 4);
  g_autoptr (GFile) file = save_image (folder, "large.png", large);
  g_autofree char *path = g_build_filename (folder, "export.png", NULL);
  g_autoptr (GFile) target = g_file_new_for_path (path);
  const SbSaveOptions options = { 16, 9, FALSE };
  static guint8 buffers[2][400 * 300 * 4];
  const SbView view_of = { SB_SHOW_RESULT, 400, 300, 0.2, 0, 0, 8, { 0 }, { { 0 } } };

  for (guint i = 0; i < 12; i++)
    {
      SbDocument *document = sb_document_new ((SbDevice){ SB_DEVICE_CPU, 0, 2 });
      SbDocumentView *view = NULL;
      SbTestOutcome loaded = { 0 }, exported = { 0 };

      if (i % 3 == 0)
        sb_document_load_async (document, file, NULL, sb_test_loaded_cb, &loaded);
      else
        {
          sb_test_load (document, file);
          view = sb_document_view_new (document);
          for (guint b = 0; b < 2; b++)
            sb_document_view_give (view, b, buffers[b], sizeof buffers[b]);
          sb_document_view_set (view, &view_of);
          const SbEdit edit = parse ("blur:radius=30,passes=10");
          g_assert_true (sb_document_set_edit (document, &edit, NULL, NULL));
          if (i % 3 == 2)
            sb_document_export_async (document, target, &options, NULL, sb_test_exported_cb,
                                      &exported);
          g_usleep (i * 4000);
          while (g_main_context_iteration (NULL, FALSE))
            ;
        }
      const gint64 start = g_get_monotonic_time ();
      sb_document_close (document);
      g_assert_false (sb_document_is_immediate (document));
      if (i % 2 == 0 && view != NULL)
        g_clear_pointer (&view, sb_document_view_free);
      g_object_unref (document);
      g_assert_cmpint (g_get_monotonic_time () - start, <, G_USEC_PER_SEC);
      if (i % 3 == 0)
        {
          wait_for (loaded.done);
          g_assert_error (loaded.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        }
      if (i % 3 == 2)
        {
          wait_for (exported.done);
          g_assert_error (exported.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        }
      g_clear_pointer (&view, sb_document_view_free);
      g_clear_error (&loaded.error);
      g_clear_error (&exported.error);
      wait_for (sb_work_n_threads () == 0);
      while (g_main_context_iteration (NULL, FALSE))
        ;
    }
  sb_test_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_timeout_add (2, sb_test_wake_up, NULL);

#define TEST(name, argument, func)                                                                 \
  g_test_add ("/document/" name, Fixture, argument, set_up, func, tear_down)
  TEST ("load", NULL, test_load);
  TEST ("steps", NULL, test_steps);
  TEST ("merge", NULL, test_merge);
  TEST ("bad-edit", NULL, test_bad_edit);
  TEST ("bad-load", NULL, test_bad_load);
  TEST ("export", NULL, test_export);
  TEST ("modified", NULL, test_modified);
  TEST ("cancel-export", NULL, test_cancel_export);
  TEST ("history", NULL, test_history);
  TEST ("history-without-room", "1", test_history);
  TEST ("view", NULL, test_view);
  TEST ("animation", NULL, test_animation);
  g_test_add_func ("/document/dispose", test_dispose);
  return g_test_run ();
}
