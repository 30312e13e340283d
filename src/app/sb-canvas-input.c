/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-canvas-private.h"

#include <math.h>

/* One detent of a wheel, as a factor of the zoom and in units of the widget; one unit of a
 * touchpad's scrolling with Ctrl; one press of an arrow as a share of the canvas. */
#define WHEEL_ZOOM   1.3
#define WHEEL_SCROLL 80.0
#define TOUCH_ZOOM   1.005
#define ARROW_SHARE  0.1

void
sb_canvas_update_cursor (SbCanvas *self)
{
  const char *name = NULL;

  if (self->panning)
    name = "grabbing";
  else if (sb_viewport_is_scrollable (&self->viewport))
    name = "grab";
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), name);
}

/* A press that moves less than this before it ends is a click. */
#define CLICK_SLOP 4.0

/* --- Pointer --------------------------------------------------------------------------------- */

/* The picture's point at a place of the widget, both negative outside. */
static void
find_point (SbCanvas *self, double at_x, double at_y, double *x, double *y)
{
  double left, top;

  *x = *y = -1;
  if (at_x < 0 || self->viewport.picture_width <= 0)
    return;
  sb_viewport_get_origin (&self->viewport, &left, &top);
  left += (at_x * self->scale + 0.5) / self->viewport.zoom;
  top += (at_y * self->scale + 0.5) / self->viewport.zoom;
  if (left < 0 || top < 0 || left >= self->viewport.picture_width
      || top >= self->viewport.picture_height)
    return;
  *x = left;
  *y = top;
}

void
sb_canvas_emit_pointer (SbCanvas *self)
{
  double x, y;

  find_point (self, self->pointer_x, self->pointer_y, &x, &y);
  g_signal_emit_by_name (self, "pointer-moved", x, y);
}

static void
on_motion (GtkEventControllerMotion *controller, double x, double y, SbCanvas *self)
{
  if (x == self->pointer_x && y == self->pointer_y)
    return;
  self->pointer_x = MAX (x, 0);
  self->pointer_y = MAX (y, 0);
  sb_canvas_emit_pointer (self);
}

static void
on_leave (GtkEventControllerMotion *controller, SbCanvas *self)
{
  self->pointer_x = self->pointer_y = -1;
  sb_canvas_emit_pointer (self);
}

/* --- Wheel and touchpad ----------------------------------------------------------------------- */

static gboolean
on_scroll (GtkEventControllerScroll *controller, double dx, double dy, SbCanvas *self)
{
  const GdkModifierType state
      = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  const gboolean control = (state & GDK_CONTROL_MASK) != 0;
  const gboolean shift = (state & GDK_SHIFT_MASK) != 0;
  const gboolean wheel = gtk_event_controller_scroll_get_unit (controller) == GDK_SCROLL_UNIT_WHEEL;

  if (self->viewport.picture_width <= 0)
    return FALSE;
  if (wheel ? !control && !shift : control)
    {
      /* The pointer may never have moved over the canvas: then around its middle. */
      const gboolean inside = self->pointer_x >= 0;
      const double x = inside ? self->pointer_x * self->scale : self->viewport.width / 2.0;
      const double y = inside ? self->pointer_y * self->scale : self->viewport.height / 2.0;
      sb_canvas_zoom_at (self, self->viewport.zoom * pow (wheel ? WHEEL_ZOOM : TOUCH_ZOOM, -dy), x,
                         y);
    }
  else
    {
      const double unit = (wheel ? WHEEL_SCROLL : 1.0) * self->scale;
      if (wheel && shift && dx == 0)
        {
          dx = dy;
          dy = 0;
        }
      sb_canvas_pan_by (self, dx * unit, dy * unit);
    }
  return TRUE;
}

/* --- Drag ------------------------------------------------------------------------------------ */

static void
on_drag_begin (GtkGestureDrag *gesture, double x, double y, SbCanvas *self)
{
  const guint button = gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture));

  gtk_widget_grab_focus (GTK_WIDGET (self));
  gtk_widget_remove_css_class (GTK_WIDGET (self), SB_CANVAS_REACHED);
  self->pressed = button == GDK_BUTTON_PRIMARY;
  self->press_x = x;
  self->press_y = y;
  if (self->pressed && !sb_viewport_is_scrollable (&self->viewport))
    return;
  if ((button != GDK_BUTTON_PRIMARY && button != GDK_BUTTON_MIDDLE)
      || !sb_viewport_is_scrollable (&self->viewport))
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  self->panning = TRUE;
  self->pan_x = self->pan_y = 0;
  sb_canvas_update_cursor (self);
}

static void
on_drag_update (GtkGestureDrag *gesture, double dx, double dy, SbCanvas *self)
{
  if (hypot (dx, dy) >= CLICK_SLOP)
    self->pressed = FALSE;
  if (!self->panning)
    return;
  sb_canvas_pan_by (self, (self->pan_x - dx) * self->scale, (self->pan_y - dy) * self->scale);
  self->pan_x = dx;
  self->pan_y = dy;
}

static void
on_drag_end (GtkGestureDrag *gesture, double dx, double dy, SbCanvas *self)
{
  double x, y;

  self->panning = FALSE;
  sb_canvas_update_cursor (self);
  find_point (self, self->press_x, self->press_y, &x, &y);
  if (self->pressed && x >= 0)
    g_signal_emit_by_name (self, "clicked", x, y);
  self->pressed = FALSE;
}

/* --- Pinch ----------------------------------------------------------------------------------- */

static void
on_pinch_begin (GtkGesture *gesture, GdkEventSequence *sequence, SbCanvas *self)
{
  self->pinch_zoom = self->viewport.zoom;
  gtk_gesture_set_state (gesture, GTK_EVENT_SEQUENCE_CLAIMED);
}

static void
on_pinch (GtkGestureZoom *gesture, double factor, SbCanvas *self)
{
  double x = self->viewport.width / 2.0, y = self->viewport.height / 2.0;

  if (gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y))
    {
      x *= self->scale;
      y *= self->scale;
    }
  sb_canvas_zoom_at (self, self->pinch_zoom * factor, x, y);
}

/* --- Keys ------------------------------------------------------------------------------------ */

static gboolean
on_key (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
        SbCanvas *self)
{
  double dx = 0, dy = 0;

  if ((state & gtk_accelerator_get_default_mod_mask ()) != 0)
    return GDK_EVENT_PROPAGATE;
  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      dx = -ARROW_SHARE;
      break;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      dx = ARROW_SHARE;
      break;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      dy = -ARROW_SHARE;
      break;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      dy = ARROW_SHARE;
      break;
    default:
      return GDK_EVENT_PROPAGATE;
    }
  sb_canvas_pan (self, dx, dy);
  return GDK_EVENT_STOP;
}

static void
on_focus_leave (GtkEventControllerFocus *controller, SbCanvas *self)
{
  gtk_widget_remove_css_class (GTK_WIDGET (self), SB_CANVAS_REACHED);
}

void
sb_canvas_add_controllers (SbCanvas *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkEventController *controller = gtk_event_controller_motion_new ();

  g_signal_connect (controller, "enter", G_CALLBACK (on_motion), self);
  g_signal_connect (controller, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (controller, "leave", G_CALLBACK (on_leave), self);
  gtk_widget_add_controller (widget, controller);

  controller = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect (controller, "scroll", G_CALLBACK (on_scroll), self);
  gtk_widget_add_controller (widget, controller);

  GtkGesture *drag = gtk_gesture_drag_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), 0);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));

  GtkGesture *pinch = gtk_gesture_zoom_new ();
  g_signal_connect (pinch, "begin", G_CALLBACK (on_pinch_begin), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (on_pinch), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (pinch));

  controller = gtk_event_controller_key_new ();
  g_signal_connect (controller, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (widget, controller);

  controller = gtk_event_controller_focus_new ();
  g_signal_connect (controller, "leave", G_CALLBACK (on_focus_leave), self);
  gtk_widget_add_controller (widget, controller);
}
