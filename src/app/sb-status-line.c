/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-status-line.h"

#include <math.h>

#include <glib/gi18n-lib.h>

struct _SbStatusLine
{
  GtkWidget parent_instance;

  SbDocument *document;
  SbCanvas *canvas;
  SbCanvas *zoomed; /* whose zoom is shown */
  double x, y;      /* the picture's point under the pointer */
  char *text;       /* after that, or NULL */
  char *brief;      /* the same where it is narrow */
  guint busy_id;    /* work that takes long is named */
  guint figures_id;
  gboolean slow;
  gboolean narrow;

  GtkMenuButton *zoom;
  GtkLabel *zoom_label;
  GtkLabel *point;
  GtkMenuButton *device;
  GtkLabel *device_label;
  GtkLabel *time_label;
  GtkLabel *info_device;
  GtkLabel *info_reason;
  GtkLabel *info_reason_title;
  GtkLabel *info_rung;
  GtkLabel *info_render;
  GtkLabel *info_fps;
  GtkLabel *info_fps_title;
};

G_DEFINE_FINAL_TYPE (SbStatusLine, sb_status_line, GTK_TYPE_WIDGET)

#define SLOW_MS 400
/* Figures that change with every frame are not read, but cost a layout each. */
#define FIGURES_MS 200

static char *
format_ms (double ms)
{
  /* Translators: a time in milliseconds. */
  return g_strdup_printf (ms < 10 ? _ ("%.1f ms") : _ ("%.0f ms"), ms);
}

static void
follow_zoom (SbStatusLine *self)
{
  double percent = 0;
  g_autofree char *text = NULL;
  g_autofree char *name = NULL;

  if (self->zoomed != NULL)
    percent = 100 * sb_canvas_get_zoom (self->zoomed);
  /* Translators: how large the picture is shown. */
  text = g_strdup_printf (percent < 10 ? _ ("%.1f %%") : _ ("%.0f %%"), percent);
  gtk_label_set_text (self->zoom_label, text);
  /* Translators: the name of a button for those who do not see it; %s is "42 %". */
  name = g_strdup_printf (_ ("Zoom, %s"), text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->zoom), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                  -1);
}

static void
follow_point (SbStatusLine *self)
{
  g_autofree char *text = NULL;
  guint16 rgba[4];

  if (self->document != NULL && self->x >= 0 && self->y >= 0
      && sb_document_pick (self->document, (int)floor (self->x), (int)floor (self->y), rgba))
    {
      guint red = (rgba[0] * 255u + 32895) >> 16;
      guint green = (rgba[1] * 255u + 32895) >> 16;
      guint blue = (rgba[2] * 255u + 32895) >> 16;

      if (rgba[3] == G_MAXUINT16)
        text = g_strdup_printf ("x %d  y %d  #%02x%02x%02x", (int)self->x, (int)self->y, red, green,
                                blue);
      else
        /* Translators: position and colour of a pixel, and how opaque it is. */
        text = g_strdup_printf (_ ("x %d  y %d  #%02x%02x%02x  %.0f %% opaque"), (int)self->x,
                                (int)self->y, red, green, blue, rgba[3] * 100.0 / G_MAXUINT16);
    }
  if (self->narrow && self->text != NULL)
    gtk_label_set_text (self->point, self->brief);
  else if (self->text != NULL && text != NULL)
    {
      g_autofree char *both = g_strconcat (text, "   ", self->text, NULL);

      gtk_label_set_text (self->point, both);
    }
  else
    gtk_label_set_text (self->point, self->text != NULL ? self->text : text == NULL ? "" : text);
}

/* Of a button, unless it has the keyboard. */
static void
make_way (SbStatusLine *self, GtkWidget *button)
{
  const gboolean focused = (gtk_widget_get_state_flags (button) & GTK_STATE_FLAG_FOCUS_WITHIN) != 0;

  gtk_widget_set_visible (button, !self->narrow || self->text == NULL || focused);
}

static void
follow_device (SbStatusLine *self)
{
  g_autofree char *name = NULL;
  g_autofree char *reason = NULL;
  g_autofree char *rung = NULL;
  g_autofree char *time = NULL;
  g_autofree char *rate = NULL;
  gboolean animating = FALSE;
  double ms = 0, fps = 0;

  if (self->document == NULL)
    return;
  g_object_get (self->document, "device-name", &name, "device-reason", &reason, "render-ms", &ms,
                "animating", &animating, "animation-fps", &fps, NULL);
  if (self->canvas != NULL)
    g_object_get (self->canvas, "rung", &rung, NULL);

  if (name == NULL || *name == '\0')
    {
      g_free (name);
      name = g_strdup (_ ("Starting…"));
    }
  if (ms >= 0.05)
    time = format_ms (ms);
  rate = g_strdup_printf (_ ("%.0f a second"), fps);

  gtk_label_set_text (self->device_label, name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->device), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  name, -1);
  gtk_label_set_text (self->time_label, self->slow ? _ ("Working…") : time != NULL ? time : "");
  gtk_widget_set_visible (GTK_WIDGET (self->time_label), self->slow || time != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->device_label),
                          !self->narrow || (!self->slow && time == NULL));
  /* What the pointer points at takes all the room there is. */
  make_way (self, GTK_WIDGET (self->device));
  make_way (self, GTK_WIDGET (self->zoom));
  gtk_label_set_text (self->info_device, name);
  gtk_label_set_text (self->info_reason, reason == NULL ? "" : reason);
  gtk_widget_set_visible (GTK_WIDGET (self->info_reason), reason != NULL && *reason != '\0');
  gtk_widget_set_visible (GTK_WIDGET (self->info_reason_title), reason != NULL && *reason != '\0');
  gtk_label_set_text (self->info_rung, rung == NULL ? "" : rung);
  gtk_label_set_text (self->info_render, time == NULL ? _ ("None yet") : time);
  gtk_label_set_text (self->info_fps, rate);
  gtk_widget_set_visible (GTK_WIDGET (self->info_fps), animating);
  gtk_widget_set_visible (GTK_WIDGET (self->info_fps_title), animating);
}

static gboolean
figures_cb (gpointer user_data)
{
  SbStatusLine *self = user_data;

  self->figures_id = 0;
  follow_device (self);
  return G_SOURCE_REMOVE;
}

static void
figures_changed (SbStatusLine *self)
{
  if (self->figures_id == 0)
    self->figures_id = g_timeout_add (FIGURES_MS, figures_cb, self);
}

static gboolean
slow_cb (gpointer user_data)
{
  SbStatusLine *self = user_data;

  self->busy_id = 0;
  self->slow = TRUE;
  follow_device (self);
  return G_SOURCE_REMOVE;
}

static void
follow_busy (SbStatusLine *self)
{
  gboolean busy = FALSE, animating = FALSE;

  if (self->document != NULL)
    g_object_get (self->document, "busy", &busy, "animating", &animating, NULL);
  if (busy && !animating)
    {
      if (self->busy_id == 0 && !self->slow)
        self->busy_id = g_timeout_add (SLOW_MS, slow_cb, self);
      return;
    }
  g_clear_handle_id (&self->busy_id, g_source_remove);
  if (self->slow)
    {
      self->slow = FALSE;
      follow_device (self);
    }
}

/* The pixel under a resting pointer changes with the picture. */
static void
shown_cb (SbStatusLine *self)
{
  if (self->x >= 0)
    follow_point (self);
}

static void
pointer_moved_cb (SbStatusLine *self, double x, double y)
{
  self->x = x;
  self->y = y;
  follow_point (self);
}

static void
sb_status_line_dispose (GObject *object)
{
  SbStatusLine *self = SB_STATUS_LINE (object);

  g_clear_handle_id (&self->busy_id, g_source_remove);
  g_clear_handle_id (&self->figures_id, g_source_remove);
  sb_status_line_set_document (self, NULL);
  if (self->canvas != NULL)
    g_signal_handlers_disconnect_by_data (self->canvas, self);
  g_clear_object (&self->canvas);
  if (self->zoomed != NULL)
    g_signal_handlers_disconnect_by_data (self->zoomed, self);
  g_clear_object (&self->zoomed);
  for (GtkWidget *child; (child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL;)
    gtk_widget_unparent (child);

  G_OBJECT_CLASS (sb_status_line_parent_class)->dispose (object);
}

static void
sb_status_line_finalize (GObject *object)
{
  g_free (SB_STATUS_LINE (object)->text);
  g_free (SB_STATUS_LINE (object)->brief);

  G_OBJECT_CLASS (sb_status_line_parent_class)->finalize (object);
}

static void
sb_status_line_class_init (SbStatusLineClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_status_line_dispose;
  object_class->finalize = sb_status_line_finalize;

  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "statusline");
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/status-line.ui");
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, zoom);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, zoom_label);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, point);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, device);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, device_label);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, time_label);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_device);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_reason);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_reason_title);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_rung);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_render);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_fps);
  gtk_widget_class_bind_template_child (widget_class, SbStatusLine, info_fps_title);
}

static void
sb_status_line_init (SbStatusLine *self)
{
  self->x = self->y = -1;
  gtk_widget_init_template (GTK_WIDGET (self));
}

void
sb_status_line_set_document (SbStatusLine *self, SbDocument *document)
{
  g_return_if_fail (SB_IS_STATUS_LINE (self));

  static const char *const signals[]
      = { "notify::device-name", "notify::device-reason", "notify::animating" };

  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_set_object (&self->document, document);
  if (document == NULL)
    return;

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_swapped (document, signals[i], G_CALLBACK (follow_device), self);
  g_signal_connect_swapped (document, "notify::render-ms", G_CALLBACK (figures_changed), self);
  g_signal_connect_swapped (document, "notify::animation-fps", G_CALLBACK (figures_changed), self);
  g_signal_connect_swapped (document, "notify::busy", G_CALLBACK (follow_busy), self);
  g_signal_connect_swapped (document, "notify::animating", G_CALLBACK (follow_busy), self);
  g_signal_connect_swapped (document, "shown", G_CALLBACK (shown_cb), self);
  follow_device (self);
  follow_busy (self);
}

void
sb_status_line_set_canvas (SbStatusLine *self, SbCanvas *canvas)
{
  g_return_if_fail (SB_IS_STATUS_LINE (self) && SB_IS_CANVAS (canvas));
  g_return_if_fail (self->canvas == NULL);

  self->canvas = g_object_ref (canvas);
  g_signal_connect_swapped (canvas, "notify::rung", G_CALLBACK (follow_device), self);
  g_signal_connect_swapped (canvas, "pointer-moved", G_CALLBACK (pointer_moved_cb), self);
  sb_status_line_set_zoomed (self, canvas);
}

void
sb_status_line_set_zoomed (SbStatusLine *self, SbCanvas *canvas)
{
  g_return_if_fail (SB_IS_STATUS_LINE (self) && SB_IS_CANVAS (canvas));

  if (self->zoomed == canvas)
    return;
  if (self->zoomed != NULL)
    g_signal_handlers_disconnect_by_func (self->zoomed, follow_zoom, self);
  g_set_object (&self->zoomed, canvas);
  g_signal_connect_swapped (canvas, "notify::zoom", G_CALLBACK (follow_zoom), self);
  follow_zoom (self);
}

void
sb_status_line_set_narrow (SbStatusLine *self, gboolean narrow)
{
  g_return_if_fail (SB_IS_STATUS_LINE (self));

  self->narrow = narrow;
  follow_point (self);
  follow_device (self);
}

void
sb_status_line_set_text (SbStatusLine *self, const char *text, const char *brief)
{
  g_return_if_fail (SB_IS_STATUS_LINE (self) && text != NULL && brief != NULL);

  g_free (self->text);
  g_free (self->brief);
  self->brief = g_strdup (brief);
  self->text = *text != '\0' ? g_strdup (text) : NULL;
  follow_point (self);
  if (self->narrow)
    follow_device (self);
}
