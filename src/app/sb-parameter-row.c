/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-parameter-row.h"

#include <math.h>
#include <string.h>

#include <glib/gi18n-lib.h>

#include "sb-shortcuts.h"

struct _SbParameterRow
{
  AdwPreferencesRow parent_instance;

  const SbParameter *parameter;
  double shown;
  gboolean updating; /* the widgets follow the value, not the other way round */
  gboolean dragging;
  guint32 last_press; /* event time, for the double click */
  guint select_id;

  GtkLabel *label;
  GtkLabel *unit;
  GtkSpinButton *spin;
  GtkAdjustment *value;
  GtkScale *scale;
  GtkAdjustment *position;
  GtkLabel *note;
};

enum
{
  CHANGED,
  DRAG_BEGIN,
  DRAG_END,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (SbParameterRow, sb_parameter_row, ADW_TYPE_PREFERENCES_ROW)

static void
follow (SbParameterRow *self)
{
  g_autofree char *number = g_strdup_printf ("%.*f", (int)self->parameter->digits, self->shown);
  g_autofree char *text
      = self->parameter->unit == NULL
            ? g_strdup (number)
            : g_strdup_printf ("%s %s", number,
                               g_dgettext (GETTEXT_PACKAGE, self->parameter->unit));

  self->updating = TRUE;
  gtk_adjustment_set_value (self->value, self->shown);
  gtk_adjustment_set_value (self->position, sb_parameter_to_slider (self->parameter, self->shown));
  gtk_spin_button_update (self->spin);
  self->updating = FALSE;

  /* The slider's own position, 0 to 1, says nothing to a listener. */
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->scale), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT,
                                  text, -1);
}

/* What the user chose. */
static void
choose (SbParameterRow *self, double value)
{
  double allowed = sb_parameter_clamp (self->parameter, value);
  gboolean changed = allowed != self->shown;

  self->shown = allowed;
  follow (self);
  if (changed)
    g_signal_emit (self, signals[CHANGED], 0, allowed);
}

/* --- The slider ------------------------------------------------------------------------------ */

static void
drag_end (SbParameterRow *self)
{
  if (!self->dragging)
    return;
  self->dragging = FALSE;
  g_signal_emit (self, signals[DRAG_END], 0);
}

/* A hand on a slider of some 250 pixels means no sixteenths: takes the value to halves where a
 * pixel of the slider moves it by less, to whole numbers beyond. */
static double
snap (SbParameterRow *self, double value)
{
  double quantum = self->parameter->quantum;
  double pixel = 1.0 / MAX (1, gtk_widget_get_width (GTK_WIDGET (self->scale)));
  double at = sb_parameter_to_slider (self->parameter, value);
  double change = fabs (sb_parameter_from_slider (self->parameter, at + pixel)
                        - sb_parameter_from_slider (self->parameter, at - pixel))
                  / 2;

  if (value <= self->parameter->minimum || value >= self->parameter->maximum)
    return value;
  /* Halves of halves for sixteenths, round decimals for decimals. */
  const double rest = log10 (quantum) - floor (log10 (quantum) + 0.5);
  const gboolean decimal = fabs (rest) < 1e-9 && quantum < 1;
  for (guint i = 0; quantum < 0.5 && quantum * 2 <= 4 * change; i++)
    quantum *= decimal && i % 3 == 1 ? 2.5 : 2;
  if (change >= 0.5)
    quantum = MAX (quantum, 1);
  return sb_parameter_clamp (self->parameter, floor (value / quantum + 0.5) * quantum);
}

static gboolean
change_value_cb (SbParameterRow *self, GtkScrollType scroll, double position)
{
  if (!self->updating)
    choose (self, snap (self, sb_parameter_from_slider (self->parameter, CLAMP (position, 0, 1))));
  return GDK_EVENT_STOP;
}

static gboolean
scale_key_cb (SbParameterRow *self, guint key, guint code, GdkModifierType state)
{
  gboolean rtl = gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;
  double step = self->parameter->step;

  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  if ((state & GDK_SHIFT_MASK) != 0)
    step *= 10;

  switch (key)
    {
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      choose (self, self->shown + (rtl ? -step : step));
      break;
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      choose (self, self->shown + (rtl ? step : -step));
      break;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      choose (self, self->shown + step);
      break;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      choose (self, self->shown - step);
      break;
    case GDK_KEY_Page_Up:
    case GDK_KEY_KP_Page_Up:
      choose (self, self->shown + 10 * self->parameter->step);
      break;
    case GDK_KEY_Page_Down:
    case GDK_KEY_KP_Page_Down:
      choose (self, self->shown - 10 * self->parameter->step);
      break;
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      choose (self, self->parameter->minimum);
      break;
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      choose (self, self->parameter->maximum);
      break;
    default:
      return GDK_EVENT_PROPAGATE;
    }
  return GDK_EVENT_STOP;
}

/* Raw events: the slider's own gestures claim the sequence, and would end any gesture beside them
 * in the middle of the drag. */
static gboolean
scale_event_cb (SbParameterRow *self, GdkEvent *event)
{
  guint32 time = gdk_event_get_time (event);
  int double_time = 400;

  switch ((int)gdk_event_get_event_type (event))
    {
    case GDK_BUTTON_PRESS:
      if (gdk_button_event_get_button (event) != GDK_BUTTON_PRIMARY)
        return GDK_EVENT_PROPAGATE;
      g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)), "gtk-double-click-time",
                    &double_time, NULL);
      if (self->last_press != 0 && time - self->last_press < (guint32)double_time)
        {
          self->last_press = 0;
          drag_end (self);
          gtk_widget_grab_focus (GTK_WIDGET (self->scale));
          choose (self, self->parameter->initial);
          return GDK_EVENT_STOP;
        }
      self->last_press = time;
      G_GNUC_FALLTHROUGH;
    case GDK_TOUCH_BEGIN:
      if (!self->dragging)
        {
          self->dragging = TRUE;
          g_signal_emit (self, signals[DRAG_BEGIN], 0);
        }
      break;
    case GDK_BUTTON_RELEASE:
      if (gdk_button_event_get_button (event) == GDK_BUTTON_PRIMARY)
        drag_end (self);
      break;
    case GDK_TOUCH_END:
    case GDK_TOUCH_CANCEL:
    case GDK_GRAB_BROKEN:
      drag_end (self);
      break;
    default:
      break;
    }
  return GDK_EVENT_PROPAGATE;
}

/* --- The spin button ------------------------------------------------------------------------- */

static int
input_cb (SbParameterRow *self, double *value)
{
  g_autofree char *text = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->spin))));
  g_autofree char *shown = g_strdup_printf ("%.*f", (int)self->parameter->digits, self->shown);
  char *end = NULL;

  /* Untouched text is rounded and must not round the value. */
  if (strcmp (text, shown) == 0)
    {
      *value = self->shown;
      return TRUE;
    }
  /* Either decimal sign, whatever the locale: a comma never groups digits here. */
  g_strdelimit (text, ",", '.');
  *value = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !isfinite (*value))
    return GTK_INPUT_ERROR;
  *value = sb_parameter_clamp (self->parameter, *value);
  return TRUE;
}

static gboolean
output_cb (SbParameterRow *self)
{
  double value = gtk_adjustment_get_value (self->value);
  g_autofree char *text = g_strdup_printf ("%.*f", (int)self->parameter->digits, value);

  if (strcmp (text, gtk_editable_get_text (GTK_EDITABLE (self->spin))) != 0)
    gtk_editable_set_text (GTK_EDITABLE (self->spin), text);
  return TRUE;
}

static void
value_changed_cb (SbParameterRow *self)
{
  if (!self->updating && self->parameter != NULL)
    choose (self, gtk_adjustment_get_value (self->value));
}

/* The number is done: the keys of the window work again, and minus is not typed. */
static void
activate_cb (SbParameterRow *self)
{
  gtk_spin_button_update (self->spin);
  gtk_widget_grab_focus (GTK_WIDGET (self->scale));
}

static gboolean
spin_key_cb (SbParameterRow *self, guint key)
{
  if (key != GDK_KEY_Escape)
    return GDK_EVENT_PROPAGATE;
  follow (self);
  gtk_widget_grab_focus (GTK_WIDGET (self->scale));
  return GDK_EVENT_STOP;
}

static gboolean
select_cb (gpointer user_data)
{
  SbParameterRow *self = user_data;

  self->select_id = 0;
  gtk_editable_select_region (GTK_EDITABLE (self->spin), 0, -1);
  return G_SOURCE_REMOVE;
}

/* A click selects the number, so that typing replaces it; once the click has set its cursor. */
static void
spin_enter_cb (SbParameterRow *self)
{
  if (self->select_id == 0)
    self->select_id = g_idle_add_full (G_PRIORITY_DEFAULT, select_cb, self, NULL);
}

/* --- The row --------------------------------------------------------------------------------- */

/* The wheel over these scrolls the panel. */
static void
ignore_wheel (GtkWidget *widget)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_SCROLL (controller))
        gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_NONE);
    }
}

static void
sb_parameter_row_unmap (GtkWidget *widget)
{
  SbParameterRow *self = SB_PARAMETER_ROW (widget);

  drag_end (self);
  g_clear_handle_id (&self->select_id, g_source_remove);

  GTK_WIDGET_CLASS (sb_parameter_row_parent_class)->unmap (widget);
}

static void
sb_parameter_row_dispose (GObject *object)
{
  SbParameterRow *self = SB_PARAMETER_ROW (object);

  g_clear_handle_id (&self->select_id, g_source_remove);

  G_OBJECT_CLASS (sb_parameter_row_parent_class)->dispose (object);
}

static void
sb_parameter_row_class_init (SbParameterRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_parameter_row_dispose;
  widget_class->unmap = sb_parameter_row_unmap;

  signals[CHANGED] = g_signal_new ("changed", SB_TYPE_PARAMETER_ROW, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  signals[DRAG_BEGIN] = g_signal_new ("drag-begin", SB_TYPE_PARAMETER_ROW, G_SIGNAL_RUN_LAST, 0,
                                      NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DRAG_END] = g_signal_new ("drag-end", SB_TYPE_PARAMETER_ROW, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/parameter-row.ui");
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, label);
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, unit);
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, spin);
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, value);
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, scale);
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, position);
  gtk_widget_class_bind_template_child (widget_class, SbParameterRow, note);
}

static void
sb_parameter_row_init (SbParameterRow *self)
{
  GtkEventController *controller;

  gtk_widget_init_template (GTK_WIDGET (self));

  ignore_wheel (GTK_WIDGET (self->scale));
  ignore_wheel (GTK_WIDGET (self->spin));
  /* Undo is the picture's, also while a number has the focus. */
  gtk_editable_set_enable_undo (GTK_EDITABLE (self->spin), FALSE);

  controller = gtk_event_controller_legacy_new ();
  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (controller, "event", G_CALLBACK (scale_event_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->scale), controller);

  /* A slider has its own use for minus and plus; here they mean the radius, as everywhere. */
  gtk_widget_add_controller (GTK_WIDGET (self->scale),
                             sb_shortcuts_controller_new (GTK_PHASE_CAPTURE));
  controller = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (controller, "key-pressed", G_CALLBACK (scale_key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->scale), controller);
  g_signal_connect_swapped (self->scale, "change-value", G_CALLBACK (change_value_cb), self);

  controller = gtk_event_controller_focus_new ();
  g_signal_connect_swapped (controller, "enter", G_CALLBACK (spin_enter_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->spin), controller);
  controller = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (controller, "key-pressed", G_CALLBACK (spin_key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->spin), controller);
  g_signal_connect_swapped (self->spin, "input", G_CALLBACK (input_cb), self);
  g_signal_connect_swapped (self->spin, "output", G_CALLBACK (output_cb), self);
  g_signal_connect_swapped (gtk_editable_get_delegate (GTK_EDITABLE (self->spin)), "activate",
                            G_CALLBACK (activate_cb), self);
  g_signal_connect_swapped (self->value, "value-changed", G_CALLBACK (value_changed_cb), self);
}

void
sb_parameter_row_set_parameter (SbParameterRow *self, const SbParameter *parameter)
{
  g_return_if_fail (SB_IS_PARAMETER_ROW (self));
  g_return_if_fail (parameter != NULL && parameter->type == SB_PARAMETER_NUMBER);

  const char *label = g_dgettext (GETTEXT_PACKAGE, parameter->label);
  double range = parameter->maximum - parameter->minimum;

  self->updating = TRUE;
  self->parameter = parameter;
  self->shown = parameter->initial;
  gtk_label_set_text (self->label, label);
  gtk_label_set_text (self->unit,
                      parameter->unit == NULL ? "" : g_dgettext (GETTEXT_PACKAGE, parameter->unit));
  gtk_adjustment_configure (self->value, parameter->initial, parameter->minimum, parameter->maximum,
                            parameter->step, MIN (10 * parameter->step, range), 0);
  gtk_spin_button_set_digits (self->spin, parameter->digits);
  gtk_scale_clear_marks (self->scale);
  gtk_scale_add_mark (self->scale, sb_parameter_to_slider (parameter, parameter->initial),
                      GTK_POS_BOTTOM, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  label, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->spin), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  follow (self);
}

GtkWidget *
sb_parameter_row_new (const SbParameter *parameter)
{
  g_return_val_if_fail (parameter != NULL && parameter->type == SB_PARAMETER_NUMBER, NULL);

  SbParameterRow *self = g_object_new (SB_TYPE_PARAMETER_ROW, NULL);

  sb_parameter_row_set_parameter (self, parameter);
  return GTK_WIDGET (self);
}

void
sb_parameter_row_set_value (SbParameterRow *self, double value)
{
  g_return_if_fail (SB_IS_PARAMETER_ROW (self));

  self->shown = sb_parameter_clamp (self->parameter, value);
  follow (self);
}

void
sb_parameter_row_set_note (SbParameterRow *self, const char *text)
{
  g_return_if_fail (SB_IS_PARAMETER_ROW (self));

  gtk_label_set_text (self->note, text == NULL ? "" : text);
  gtk_widget_set_visible (GTK_WIDGET (self->note), text != NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->scale), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text == NULL ? "" : text, -1);
}
