/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <glib/gi18n-lib.h>

#include "sb-accessible.h"

#define CANVAS_WIDTH 360 /* at least, beside the panel */
#define LEAVE_MS     2000
/* What a window manager may need to give a window its size back. */
#define RESTORE_FRAMES 30

/* One layout with room for the panel beside the picture, and one without. */

/* What the canvas, the panel and the line between them need beside each other. */
static int
unfolded_width (SbWindow *self)
{
  int panel;

  gtk_widget_measure (GTK_WIDGET (self->panel), GTK_ORIENTATION_HORIZONTAL, -1, &panel, NULL, NULL,
                      NULL);
  return CANVAS_WIDTH + panel + 1;
}

static void
set_words (SbWindow *self, gboolean words)
{
  if (words)
    {
      adw_split_button_set_label (self->open, _ ("_Open"));
      gtk_button_set_label (GTK_BUTTON (self->export), _ ("_Export"));
      gtk_button_set_use_underline (GTK_BUTTON (self->export), TRUE);
    }
  else
    {
      adw_split_button_set_icon_name (self->open, "document-open-symbolic");
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->open), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ ("Open a picture"), -1);
      gtk_button_set_icon_name (GTK_BUTTON (self->export), "document-save-symbolic");
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->export), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ ("Export"), -1);
    }
}

void
sb_window_follow_layout (SbWindow *self)
{
  gboolean has_picture;
  gboolean fullscreen = gtk_window_is_fullscreen (GTK_WINDOW (self));
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));
  int header;

  g_object_get (self->document, "has-picture", &has_picture, NULL);

  /* What goes takes the focus along, and GTK would hand it on as a key does. */
  if (fullscreen && has_picture && focus != NULL
      && (gtk_widget_is_ancestor (focus, GTK_WIDGET (self->header))
          || gtk_widget_is_ancestor (focus, GTK_WIDGET (self->status))))
    gtk_widget_grab_focus (GTK_WIDGET (self->canvas));

  gtk_stack_set_visible_child_name (self->pages, has_picture ? "picture" : "start");
  gtk_widget_set_visible (GTK_WIDGET (self->header), !fullscreen);
  gtk_widget_set_visible (GTK_WIDGET (self->leave), fullscreen);
  gtk_widget_set_visible (GTK_WIDGET (self->status), has_picture && !fullscreen);
  gtk_widget_set_visible (self->history, has_picture && !self->narrow);
  gtk_widget_set_visible (self->compare, has_picture && !self->narrow);
  gtk_widget_set_visible (self->subbands_button, has_picture && !self->narrow);
  gtk_widget_set_visible (self->panel_button, has_picture && !self->narrow);
  /* The name has little room beside it. */
  gtk_widget_set_visible (self->export, has_picture && !self->narrow);
  gtk_action_bar_set_revealed (self->bottom, has_picture && self->narrow && !fullscreen);
  sb_status_line_set_narrow (self->status, self->narrow);

  set_words (self, !self->narrow);
  /* With large letters and long words the header would keep the window from becoming so narrow
   * that the layout changes. */
  gtk_widget_measure (GTK_WIDGET (self->header), GTK_ORIENTATION_HORIZONTAL, -1, &header, NULL,
                      NULL, NULL);
  if (!self->narrow && header > unfolded_width (self))
    set_words (self, FALSE);
  sb_accessible_name_buttons (GTK_WIDGET (self->header));
}

static gboolean
fold_cb (gpointer user_data)
{
  SbWindow *self = user_data;

  self->fold_id = 0;
  self->narrow = adw_flap_get_folded (self->flap);
  /* What covers the picture comes when it is asked for. */
  adw_flap_set_reveal_flap (self->flap, !self->narrow && self->panel_wanted);
  sb_window_follow_layout (self);
  sb_window_follow_titles (self);
  sb_window_follow_subbands (self);
  sb_window_update_actions (self);
  return G_SOURCE_REMOVE;
}

/* In the middle of an allocation, when nothing may be shown or hidden. */
static void
folded_cb (SbWindow *self)
{
  if (self->fold_id == 0)
    self->fold_id = g_idle_add_full (G_PRIORITY_HIGH_IDLE, fold_cb, self, NULL);
}

/* On screen the width decides. */
static void
map_cb (SbWindow *self)
{
  adw_flap_set_fold_policy (self->flap, ADW_FLAP_FOLD_POLICY_AUTO);
}

/* A window that is to be so narrow starts folded: else all that stands beside each other in the
 * wide layout would keep it from being so. */
static gboolean
fold_for (SbWindow *self, int width)
{
  if (width >= unfolded_width (self))
    return FALSE;
  adw_flap_set_fold_policy (self->flap, ADW_FLAP_FOLD_POLICY_ALWAYS);
  return TRUE;
}

void
sb_window_start_layout (SbWindow *self, int width)
{
  adw_flap_set_reveal_flap (self->flap, self->panel_wanted);
  if (!gtk_window_is_maximized (GTK_WINDOW (self)))
    fold_for (self, width);
  fold_cb (self);
}

/* --- The panel ------------------------------------------------------------------------------- */

static void
reveal_cb (SbWindow *self)
{
  if (self->document != NULL)
    sb_window_update_actions (self);
}

void
sb_window_set_panel (SbWindow *self, gboolean shown)
{
  if (!self->narrow)
    {
      self->panel_wanted = shown;
      g_settings_set_boolean (self->settings, "panel-shown", shown);
    }
  adw_flap_set_reveal_flap (self->flap, shown);
  if (!shown)
    gtk_widget_grab_focus (GTK_WIDGET (self->canvas));
}

/* --- Fullscreen ------------------------------------------------------------------------------ */

static gboolean
restored_cb (GtkWidget *widget, GdkFrameClock *clock, gpointer user_data)
{
  SbWindow *self = SB_WINDOW (widget);

  if (++self->restore_frames < RESTORE_FRAMES)
    return G_SOURCE_CONTINUE;
  self->restore_id = 0;
  adw_flap_set_fold_policy (self->flap, ADW_FLAP_FOLD_POLICY_AUTO);
  return G_SOURCE_REMOVE;
}

static void
fullscreen_cb (SbWindow *self)
{
  int width, height;

  /* The size from before is about to come back. */
  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  if (!gtk_window_is_fullscreen (GTK_WINDOW (self)) && !gtk_window_is_maximized (GTK_WINDOW (self))
      && fold_for (self, width))
    {
      g_clear_handle_id (&self->fold_id, g_source_remove);
      fold_cb (self);
      self->restore_frames = 0;
      if (self->restore_id == 0)
        self->restore_id
            = gtk_widget_add_tick_callback (GTK_WIDGET (self), restored_cb, NULL, NULL);
    }
  else
    sb_window_follow_layout (self);
  sb_window_update_actions (self);
}

static gboolean
leave_cb (gpointer user_data)
{
  SbWindow *self = user_data;

  self->leave_id = 0;
  gtk_revealer_set_reveal_child (self->leave, FALSE);
  return G_SOURCE_REMOVE;
}

static void
motion_cb (SbWindow *self)
{
  if (!gtk_window_is_fullscreen (GTK_WINDOW (self)))
    return;
  gtk_revealer_set_reveal_child (self->leave, TRUE);
  g_clear_handle_id (&self->leave_id, g_source_remove);
  self->leave_id = g_timeout_add (LEAVE_MS, leave_cb, self);
}

void
sb_window_connect_layout (SbWindow *self)
{
  GtkEventController *controller = gtk_event_controller_motion_new ();

  g_signal_connect_swapped (controller, "motion", G_CALLBACK (motion_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), controller);
  g_signal_connect (self, "map", G_CALLBACK (map_cb), NULL);
  g_signal_connect (self, "notify::fullscreened", G_CALLBACK (fullscreen_cb), NULL);
  g_signal_connect_object (self->flap, "notify::folded", G_CALLBACK (folded_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->flap, "notify::reveal-flap", G_CALLBACK (reveal_cb), self,
                           G_CONNECT_SWAPPED);
}

void
sb_window_close_layout (SbWindow *self)
{
  g_clear_handle_id (&self->leave_id, g_source_remove);
  g_clear_handle_id (&self->fold_id, g_source_remove);
}
