/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <adwaita.h>
#include <glib/gstdio.h>

#include "sb-canvas.h"
#include "sb-document-private.h"
#include "wait.h"

/* What two fingers do to the canvas. No server makes touches for tests, so the gesture that GTK
 * would recognize them with is told of them here: from its signals on, all is as with a screen. */

typedef struct
{
  SbDocument *document;
  GtkWidget *window;
  SbCanvas *canvas;
  GtkGesture *pinch;
  gboolean loaded;
} Fixture;

static void
loaded_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Fixture *fixture = user_data;
  g_autoptr (GError) error = NULL;

  fixture->loaded = sb_document_load_finish (SB_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const SbSaveOptions options = { .depth = 0, .compression = 0, .overwrite = FALSE };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("softbox-pinch-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "picture.png", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (SbImage) image = sb_image_new (2000, 1500, 8, &error);
  g_autoptr (GListModel) controllers = NULL;

  sb_image_writable (image);
  sb_image_save_png (image, file, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);

  fixture->document = sb_document_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 });
  fixture->canvas = SB_CANVAS (sb_canvas_new ());
  fixture->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 800, 600);
  gtk_window_set_child (GTK_WINDOW (fixture->window), GTK_WIDGET (fixture->canvas));
  sb_canvas_set_document (fixture->canvas, fixture->document);
  gtk_window_present (GTK_WINDOW (fixture->window));
  sb_document_load_async (fixture->document, file, NULL, loaded_cb, fixture);
  wait_for (fixture->loaded && gtk_widget_get_width (GTK_WIDGET (fixture->canvas)) > 1
            && sb_canvas_get_zoom (fixture->canvas) < 1);
  g_unlink (path);
  g_rmdir (folder);

  controllers = gtk_widget_observe_controllers (GTK_WIDGET (fixture->canvas));
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_GESTURE_ZOOM (controller))
        fixture->pinch = GTK_GESTURE (controller); /* the canvas keeps it */
    }
  g_assert_nonnull (fixture->pinch);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  sb_document_close (fixture->document);
  g_object_unref (fixture->document);
  wait_for (sb_work_n_threads () == 0);
}

static void
begin (Fixture *fixture)
{
  g_signal_emit_by_name (fixture->pinch, "begin", NULL);
}

static double
spread (Fixture *fixture, double factor)
{
  g_signal_emit_by_name (fixture->pinch, "scale-changed", factor);
  return sb_canvas_get_zoom (fixture->canvas);
}

/* The factor is of where the fingers began, not of the last event. */
static void
test_pinch (Fixture *fixture, gconstpointer data)
{
  sb_canvas_set_zoom (fixture->canvas, 0.5);
  begin (fixture);
  g_assert_cmpfloat (spread (fixture, 1.5), ==, 0.75);
  g_assert_cmpfloat (spread (fixture, 2.0), ==, 1.0);
  g_assert_cmpfloat (spread (fixture, 1.0), ==, 0.5);
  g_assert_cmpfloat (spread (fixture, 4.0), ==, 2.0);
  /* The next one begins where that ended. */
  begin (fixture);
  g_assert_cmpfloat (spread (fixture, 0.5), ==, 1.0);
  /* As far as zooming goes. */
  g_assert_cmpfloat (spread (fixture, 1000), ==, 20);
  begin (fixture);
  g_assert_cmpfloat (spread (fixture, 0.05), ==, 1.0);
  g_assert_cmpfloat (spread (fixture, 1e-9), ==, 0.1);
}

static void
test_without_picture (void)
{
  g_autoptr (GListModel) controllers = NULL;
  GtkWidget *canvas = g_object_ref_sink (sb_canvas_new ());

  controllers = gtk_widget_observe_controllers (canvas);
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_GESTURE_ZOOM (controller))
        {
          g_signal_emit_by_name (controller, "begin", NULL);
          g_signal_emit_by_name (controller, "scale-changed", 2.0);
        }
    }
  g_assert_cmpfloat (sb_canvas_get_zoom (SB_CANVAS (canvas)), ==, 1.0);
  g_object_unref (canvas);
}

/* GTK asks the gesture's last event where it is, and here there is none. */
static void
log_cb (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if ((level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) != 0)
    g_assert_nonnull (strstr (message, "gdk_event_get_event_type"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  g_log_set_default_handler (log_cb, NULL);
  g_timeout_add (5, sb_test_wake_up, NULL);
  g_test_add ("/canvas/pinch", Fixture, NULL, set_up, test_pinch, tear_down);
  g_test_add_func ("/canvas/pinch-without-picture", test_without_picture);
  return g_test_run ();
}
