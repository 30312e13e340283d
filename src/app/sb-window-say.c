/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <glib/gi18n-lib.h>

#include "sb-accessible.h"

#define TOAST_MS 600
/* Twice what a slide takes, and some more. */
#define SETTLED_US   700000
#define MAX_FRAME_US 50000
/* A toast is one short line, or a few where there is little room. */
#define MAX_TOAST       60 /* characters */
#define MIN_TOAST_WIDTH 12
#define MAX_TOAST_WIDTH 50
#define TOAST_EDGES     110 /* pixels */

static gboolean
name_toast_cb (gpointer user_data)
{
  SbWindow *self = user_data;

  self->toast_id = 0;
  sb_accessible_name_buttons (GTK_WIDGET (self->toasts));
  return G_SOURCE_REMOVE;
}

/* libadwaita 1.2 crashes where a toast is dismissed while it slides in and both slides end in one
 * frame: the one out frees what the one in still uses. So none is until it has been there for so
 * many frames' time; a frame that is late counts little, as slides may begin only after it. */
static gboolean
settle_toast_cb (GtkWidget *toasts, GdkFrameClock *clock, gpointer user_data)
{
  SbWindow *self = user_data;
  const gint64 now = gdk_frame_clock_get_frame_time (clock);
  AdwToast *next;

  if (self->settle_frame != 0)
    self->settled_us += MIN (now - self->settle_frame, MAX_FRAME_US);
  self->settle_frame = now;
  if (self->settled_us < SETTLED_US)
    return G_SOURCE_CONTINUE;

  self->settle_id = 0;
  next = g_steal_pointer (&self->next_toast);
  if (next != NULL)
    sb_window_add_toast (self, next);
  return G_SOURCE_REMOVE;
}

void
sb_window_add_toast (SbWindow *self, AdwToast *toast)
{
  if (self->settle_id != 0)
    {
      g_set_object (&self->next_toast, toast);
      g_object_unref (toast);
      return;
    }
  /* The newest is what matters: it waits for none that is there already. */
  if (self->toast != NULL)
    adw_toast_dismiss (self->toast);
  g_set_weak_pointer (&self->toast, toast);
  adw_toast_overlay_add_toast (self->toasts, toast);
  /* Its widget comes when the one before has gone. */
  g_clear_handle_id (&self->toast_id, g_source_remove);
  self->toast_id = g_timeout_add (TOAST_MS, name_toast_cb, self);
  self->settle_frame = 0;
  self->settled_us = 0;
  self->settle_id
      = gtk_widget_add_tick_callback (GTK_WIDGET (self->toasts), settle_toast_cb, self, NULL);
}

/* So many letters leave room for the edges of a toast and its button in the window as it is. */
static int
toast_width (SbWindow *self, GtkWidget *label)
{
  PangoContext *context = gtk_widget_get_pango_context (label);
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  const int letter = PANGO_PIXELS_CEIL (pango_font_metrics_get_approximate_char_width (metrics));
  int room = gtk_widget_get_width (GTK_WIDGET (self->toasts));

  pango_font_metrics_unref (metrics);
  if (room == 0)
    gtk_window_get_default_size (GTK_WINDOW (self), &room, &(int){ 0 });
  return CLAMP ((room - TOAST_EDGES) / (letter + 1), MIN_TOAST_WIDTH, MAX_TOAST_WIDTH);
}

void
sb_window_toast (SbWindow *self, const char *title)
{
  /* A toast's own title is one line, and loses its end in a narrow window. */
  GtkWidget *label = gtk_label_new (title);
  AdwToast *toast = adw_toast_new ("");

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), toast_width (self, label));
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "heading");
  adw_toast_set_custom_title (toast, label);
  sb_window_add_toast (self, toast);
}

static void
show_banner (SbWindow *self, GtkMessageType type)
{
  gtk_label_set_text (self->banner_label, self->warnings->str);
  gtk_info_bar_set_message_type (self->banner, type);
  gtk_info_bar_set_revealed (self->banner, TRUE);
}

void
sb_window_report (SbWindow *self, const GError *error)
{
  g_return_if_fail (SB_IS_WINDOW (self) && error != NULL);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  sb_document_report (self->document, error);
  if (g_utf8_strlen (error->message, -1) <= MAX_TOAST)
    sb_window_toast (self, error->message);
  else
    {
      g_string_assign (self->warnings, error->message);
      show_banner (self, GTK_MESSAGE_ERROR);
    }
}

void
sb_window_clear_banner (SbWindow *self)
{
  g_string_truncate (self->warnings, 0);
  gtk_info_bar_set_revealed (self->banner, FALSE);
}

void
sb_window_warn (SbWindow *self, const char *sentence)
{
  if (strstr (self->warnings->str, sentence) != NULL)
    return;
  if (self->warnings->len > 0)
    g_string_append_c (self->warnings, '\n');
  g_string_append (self->warnings, sentence);
  show_banner (self, GTK_MESSAGE_WARNING);
}

/* What went wrong is over when something else is tried. */
void
sb_window_follow_error (SbWindow *self)
{
  g_autofree char *error = NULL;

  g_object_get (self->document, "error", &error, NULL);
  if ((error == NULL || *error == '\0')
      && gtk_info_bar_get_message_type (self->banner) == GTK_MESSAGE_ERROR)
    sb_window_clear_banner (self);
}

void
sb_window_follow_device (SbWindow *self)
{
  g_autofree char *name = NULL;
  g_autofree char *reason = NULL;
  g_autofree char *told = g_settings_get_string (self->settings, "told-device");
  g_autofree char *text = NULL;

  g_object_get (self->document, "device-name", &name, "device-reason", &reason, NULL);
  /* The document says the reason before the name: with a name this is a device that was lost or
   * that was asked for, which is told of in other words. */
  if ((name != NULL && *name != '\0') || reason == NULL || *reason == '\0'
      || self->device.kind != SB_DEVICE_AUTO || g_str_equal (reason, told))
    return;
  g_settings_set_string (self->settings, "told-device", reason);
  /* Translators: %s is why no GPU is used, "there is no NVIDIA GPU". */
  text = g_strdup_printf (_ ("Computing on the CPU: %s"), reason);
  sb_window_toast (self, text);
}
