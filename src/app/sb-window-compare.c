/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

void
sb_window_set_comparing (SbWindow *self, gboolean comparing)
{
  gboolean has_picture;

  g_object_get (self->document, "has-picture", &has_picture, NULL);
  self->comparing = FALSE;
  g_object_set (self->document, "comparing", comparing && has_picture, NULL);
}

static gboolean
compare_event_cb (SbWindow *self, GdkEvent *event, GtkEventController *controller)
{
  switch ((int)gdk_event_get_event_type (event))
    {
    case GDK_BUTTON_PRESS:
      if (gdk_button_event_get_button (event) != GDK_BUTTON_PRIMARY)
        return GDK_EVENT_PROPAGATE;
      G_GNUC_FALLTHROUGH;
    case GDK_TOUCH_BEGIN:
      sb_window_set_comparing (self, TRUE);
      self->comparing = TRUE;
      return GDK_EVENT_STOP;
    case GDK_BUTTON_RELEASE:
    case GDK_TOUCH_END:
    case GDK_TOUCH_CANCEL:
    case GDK_GRAB_BROKEN:
      if (!self->comparing)
        return GDK_EVENT_PROPAGATE;
      sb_window_set_comparing (self, FALSE);
      return GDK_EVENT_STOP;
    default:
      return GDK_EVENT_PROPAGATE;
    }
}

static void
hold_to_compare (SbWindow *self, GtkWidget *button)
{
  GtkEventController *controller = gtk_event_controller_legacy_new ();

  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (controller, "event", G_CALLBACK (compare_event_cb), self);
  gtk_widget_add_controller (button, controller);
}

static gboolean
key_pressed_cb (SbWindow *self, guint key, guint code, GdkModifierType state)
{
  if ((key != GDK_KEY_c && key != GDK_KEY_C)
      || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  if (!self->comparing)
    {
      sb_window_set_comparing (self, TRUE);
      self->comparing = TRUE;
    }
  return GDK_EVENT_STOP;
}

static void
key_released_cb (SbWindow *self, guint key)
{
  if (self->comparing && (key == GDK_KEY_c || key == GDK_KEY_C))
    sb_window_set_comparing (self, FALSE);
}

/* The key may come up elsewhere. */
static void
active_cb (SbWindow *self)
{
  if (self->comparing && !gtk_window_is_active (GTK_WINDOW (self)))
    sb_window_set_comparing (self, FALSE);
}

void
sb_window_connect_compare (SbWindow *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (key_pressed_cb), self);
  g_signal_connect_swapped (keys, "key-released", G_CALLBACK (key_released_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  hold_to_compare (self, self->compare);
  hold_to_compare (self, self->bottom_compare);
  g_signal_connect (self, "notify::is-active", G_CALLBACK (active_cb), NULL);
}
