/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <glib/gi18n-lib.h>

#include "sb-accessible.h"
#include "sb-metadata.h"
#include "sb-recent.h"
#include "sb-shortcuts.h"

#define SPINNER_MS 300

G_DEFINE_FINAL_TYPE (SbWindow, sb_window, ADW_TYPE_APPLICATION_WINDOW)

/* --- What the window says of the document ---------------------------------------------------- */

void
sb_window_follow_titles (SbWindow *self)
{
  g_autofree char *name = NULL;
  g_autofree char *subtitle = NULL;
  g_autofree char *title = NULL;
  g_autofree char *tip = NULL;
  gboolean has_picture, modified, exporting, loading;
  double progress;

  g_object_get (self->document, "title", &name, "subtitle", &subtitle, "has-picture", &has_picture,
                "modified", &modified, "exporting", &exporting, "progress", &progress, "loading",
                &loading, NULL);

  if (!has_picture)
    title = g_strdup (g_get_application_name ());
  else if (modified)
    /* What is cut off is the end. */
    title = self->narrow ? g_strconcat ("• ", name, NULL) : g_strconcat (name, " •", NULL);
  else
    title = g_steal_pointer (&name);
  if (exporting)
    {
      g_free (subtitle);
      /* Translators: how much of an export is done. */
      subtitle = g_strdup_printf (_ ("Saving… %.0f %%"), 100 * progress);
    }

  adw_window_title_set_title (self->title, title);
  adw_window_title_set_subtitle (self->title, subtitle == NULL ? "" : subtitle);
  tip = subtitle == NULL || *subtitle == '\0' ? NULL : g_strconcat (title, "\n", subtitle, NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), tip);
  gtk_window_set_title (GTK_WINDOW (self), title);
  /* A load is told of late: see the spinner. */
  gtk_widget_set_visible (GTK_WIDGET (self->progress),
                          exporting || (loading && gtk_widget_get_visible (self->loading)));
  gtk_progress_bar_set_fraction (self->progress, progress);
}

static void
follow_labels (SbWindow *self)
{
  g_autofree char *undo = NULL;
  g_autofree char *redo = NULL;
  g_autofree char *undo_text = NULL;
  g_autofree char *redo_text = NULL;

  g_object_get (self->document, "undo-label", &undo, "redo-label", &redo, NULL);
  /* Translators: %s is what will be undone, "Blur 14 px, 3 passes". */
  undo_text = undo == NULL || *undo == '\0' ? g_strdup (_ ("Undo"))
                                            : g_strdup_printf (_ ("Undo: %s"), undo);
  redo_text = redo == NULL || *redo == '\0' ? g_strdup (_ ("Redo"))
                                            : g_strdup_printf (_ ("Redo: %s"), redo);
  gtk_widget_set_tooltip_text (self->undo, undo_text);
  gtk_widget_set_tooltip_text (self->bottom_undo, undo_text);
  gtk_widget_set_tooltip_text (self->redo, redo_text);
  gtk_widget_set_tooltip_text (self->bottom_redo, redo_text);
}

/* Photo, its size and how large it is shown, for those who do not see it. */
static void
describe_canvas (SbWindow *self)
{
  SbImage *image = sb_document_get_image (self->document);
  g_autofree char *text = NULL;

  if (image == NULL)
    return;
  text = g_strdup_printf (_ ("Photo, %u by %u, zoomed to %.0f percent"), sb_image_get_width (image),
                          sb_image_get_height (image), 100 * sb_canvas_get_zoom (self->canvas));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->canvas), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  text, -1);
}

static gboolean
spinner_cb (gpointer user_data)
{
  SbWindow *self = user_data;

  self->loading_id = 0;
  gtk_widget_set_visible (self->loading, TRUE);
  return G_SOURCE_REMOVE;
}

static void
follow_loading (SbWindow *self)
{
  gboolean loading;

  g_object_get (self->document, "loading", &loading, NULL);
  if (loading && self->loading_id == 0)
    self->loading_id = g_timeout_add (SPINNER_MS, spinner_cb, self);
  else if (!loading)
    {
      g_clear_handle_id (&self->loading_id, g_source_remove);
      gtk_widget_set_visible (self->loading, FALSE);
    }
}

/* --- The document ---------------------------------------------------------------------------- */

static void
banner_response_cb (SbWindow *self, int response)
{
  if (response == GTK_RESPONSE_CLOSE)
    sb_window_clear_banner (self);
}

static void
picture_changed_cb (SbWindow *self)
{
  SbImage *image = sb_document_get_image (self->document);

  sb_window_set_comparing (self, FALSE);
  sb_window_clear_banner (self);
  if (image != NULL)
    {
      const char *const *warnings = sb_image_get_warnings (image);

      for (guint i = 0; warnings[i] != NULL; i++)
        sb_window_warn (self, warnings[i]);
      if (self->animate)
        g_object_set (self->document, "animating", TRUE, NULL);
      if (self->show_subbands)
        sb_window_set_subbands (self, TRUE);
      self->animate = self->show_subbands = FALSE;
    }
  gtk_widget_set_visible (self->choose_page, image != NULL && sb_image_get_metadata (image) != NULL
                                                 && sb_image_get_metadata (image)->n_pages > 1);
  sb_window_follow_layout (self);
  describe_canvas (self);
  if (image != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (self->canvas));
}

static void
message_cb (SbWindow *self, const char *sentence)
{
  sb_window_toast (self, sentence);
}

static void
budget_cb (SbWindow *self)
{
  guint64 budget = g_settings_get_uint (self->settings, "history-budget");
  guint64 limit = g_settings_get_uint (self->settings, "memory-limit");

  sb_document_set_history_budget (self->document, budget << 20);
  sb_document_set_memory_limit (self->document, limit << 20);
}

static void
connect_document (SbWindow *self)
{
  static const char *const titles[]
      = { "notify::title",    "notify::subtitle",  "notify::modified",
          "notify::progress", "notify::exporting", "notify::has-picture" };
  static const char *const actions[]
      = { "notify::has-picture", "notify::can-undo",  "notify::can-redo", "notify::can-apply",
          "notify::edits",       "notify::busy",      "notify::error",    "notify::comparing",
          "notify::animating",   "notify::exporting", "notify::loading" };
  SbDocument *document = self->document;

  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    g_signal_connect_object (document, titles[i], G_CALLBACK (sb_window_follow_titles), self,
                             G_CONNECT_SWAPPED);
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    g_signal_connect_object (document, actions[i], G_CALLBACK (sb_window_update_actions), self,
                             G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::error", G_CALLBACK (sb_window_follow_error), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::device-reason", G_CALLBACK (sb_window_follow_device),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::undo-label", G_CALLBACK (follow_labels), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::redo-label", G_CALLBACK (follow_labels), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::loading", G_CALLBACK (follow_loading), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::has-picture", G_CALLBACK (sb_window_follow_layout),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "picture-changed", G_CALLBACK (picture_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "warning", G_CALLBACK (sb_window_warn), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "message", G_CALLBACK (message_cb), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->settings, "changed::history-budget", G_CALLBACK (budget_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->settings, "changed::memory-limit", G_CALLBACK (budget_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->canvas, "notify::zoom", G_CALLBACK (describe_canvas), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->panel, "changed", G_CALLBACK (sb_window_update_actions), self,
                           G_CONNECT_SWAPPED);
}

/* --- The window ------------------------------------------------------------------------------ */

static void
recent_cb (SbWindow *self)
{
  g_autoptr (GMenuModel) menu = sb_recent_menu ();

  adw_split_button_set_menu_model (self->open, menu);
}

static void
save_size (SbWindow *self)
{
  int width, height;

  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  g_settings_set (self->settings, "window-size", "(ii)", width, height);
  g_settings_set_boolean (self->settings, "window-maximized",
                          gtk_window_is_maximized (GTK_WINDOW (self)));
}

static gboolean
sb_window_close_request (GtkWindow *window)
{
  SbWindow *self = SB_WINDOW (window);
  gboolean modified;

  g_object_get (self->document, "modified", &modified, NULL);
  if (modified && !self->closing)
    {
      sb_window_ask_to_close (self);
      return GDK_EVENT_STOP;
    }
  save_size (self);
  return GTK_WINDOW_CLASS (sb_window_parent_class)->close_request (window);
}

static void
sb_window_dispose (GObject *object)
{
  SbWindow *self = SB_WINDOW (object);

  g_clear_handle_id (&self->loading_id, g_source_remove);
  sb_window_close_layout (self);
  g_clear_handle_id (&self->toast_id, g_source_remove);
  g_clear_weak_pointer (&self->toast);
  g_clear_object (&self->next_toast);
  if (self->load != NULL)
    g_cancellable_cancel (self->load);
  g_clear_object (&self->load);
  if (self->document != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->document, self);
      sb_window_close_subbands (self);
      sb_canvas_set_document (self->canvas, NULL);
      sb_edit_panel_set_document (self->panel, NULL);
      sb_status_line_set_document (self->status, NULL);
      sb_document_close (self->document);
    }
  g_clear_object (&self->document);
  g_clear_object (&self->settings);
  g_clear_weak_pointer (&self->question);

  G_OBJECT_CLASS (sb_window_parent_class)->dispose (object);
}

static void
sb_window_finalize (GObject *object)
{
  SbWindow *self = SB_WINDOW (object);

  g_string_free (self->warnings, TRUE);

  G_OBJECT_CLASS (sb_window_parent_class)->finalize (object);
}

static void
sb_window_class_init (SbWindowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  GtkWindowClass *window_class = GTK_WINDOW_CLASS (klass);

  object_class->dispose = sb_window_dispose;
  object_class->finalize = sb_window_finalize;
  window_class->close_request = sb_window_close_request;

  g_type_ensure (SB_TYPE_CANVAS);
  g_type_ensure (SB_TYPE_EDIT_PANEL);
  g_type_ensure (SB_TYPE_START_PAGE);
  g_type_ensure (SB_TYPE_STATUS_LINE);
  g_type_ensure (SB_TYPE_SUBBAND_VIEW);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/window.ui");
  gtk_widget_class_bind_template_child (widget_class, SbWindow, toasts);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, header);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, title);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, open);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, history);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, undo);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, redo);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, bottom_undo);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, bottom_redo);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, compare);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, bottom_compare);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, export);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, panel_button);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, menu);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, banner);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, banner_label);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, choose_page);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, stage);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, pages);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, start);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, flap);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, canvas);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, canvases);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, subbands);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, subbands_button);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, panel);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, progress);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, loading);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, leave);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, drop);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, status);
  gtk_widget_class_bind_template_child (widget_class, SbWindow, bottom);
  gtk_widget_class_bind_template_callback (widget_class, banner_response_cb);
}

static void
sb_window_init (SbWindow *self)
{
  self->warnings = g_string_new (NULL);
  gtk_widget_init_template (GTK_WIDGET (self));

  gtk_widget_add_controller (GTK_WIDGET (self), sb_shortcuts_controller_new (GTK_PHASE_BUBBLE));
  sb_window_connect_layout (self);
  sb_window_connect_compare (self);
  g_signal_connect_object (gtk_recent_manager_get_default (), "changed", G_CALLBACK (recent_cb),
                           self, G_CONNECT_SWAPPED);
  recent_cb (self);
  sb_accessible_name_buttons (GTK_WIDGET (self->banner));
  sb_accessible_name_buttons (GTK_WIDGET (self->stage));
}

SbWindow *
sb_window_new (SbApplication *application, SbDevice device)
{
  g_return_val_if_fail (SB_IS_APPLICATION (application), NULL);

  SbWindow *self = g_object_new (SB_TYPE_WINDOW, "application", application, NULL);
  int width, height;

  self->settings = g_object_ref (sb_application_get_settings (application));
  self->device = device;
  self->document = sb_document_new (device);
  self->panel_wanted = g_settings_get_boolean (self->settings, "panel-shown");

  g_settings_get (self->settings, "window-size", "(ii)", &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (self), MAX (width, 360), MAX (height, 420));
  if (g_settings_get_boolean (self->settings, "window-maximized"))
    gtk_window_maximize (GTK_WINDOW (self));

  budget_cb (self);
  sb_canvas_set_document (self->canvas, self->document);
  sb_edit_panel_set_document (self->panel, self->document);
  sb_window_connect_subbands (self);
  sb_window_add_actions (self);
  connect_document (self);
  sb_status_line_set_canvas (self->status, self->canvas);
  sb_status_line_set_document (self->status, self->document);
  sb_window_accept_drops (self);

  sb_window_start_layout (self, width);
  follow_labels (self);
  return self;
}

SbDocument *
sb_window_get_document (SbWindow *self)
{
  g_return_val_if_fail (SB_IS_WINDOW (self), NULL);

  return self->document;
}

gboolean
sb_window_is_closed (SbWindow *self)
{
  g_return_val_if_fail (SB_IS_WINDOW (self), TRUE);

  /* gtk_window_destroy() leaves the application, and disposes with the last reference only. */
  return self->document == NULL || gtk_window_get_application (GTK_WINDOW (self)) == NULL;
}

gboolean
sb_window_is_empty (SbWindow *self)
{
  g_return_val_if_fail (SB_IS_WINDOW (self), FALSE);

  gboolean has_picture, loading;

  g_object_get (self->document, "has-picture", &has_picture, "loading", &loading, NULL);
  return !has_picture && !loading && self->load == NULL;
}

void
sb_window_animate (SbWindow *self)
{
  g_return_if_fail (SB_IS_WINDOW (self));

  gboolean has_picture;

  g_object_get (self->document, "has-picture", &has_picture, NULL);
  if (has_picture)
    g_object_set (self->document, "animating", TRUE, NULL);
  else
    self->animate = TRUE;
}

void
sb_window_show_subbands (SbWindow *self)
{
  g_return_if_fail (SB_IS_WINDOW (self));

  self->show_subbands = sb_document_get_image (self->document) == NULL;
  sb_window_set_subbands (self, TRUE);
}
