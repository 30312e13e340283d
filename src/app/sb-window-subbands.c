/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <math.h>

/* The second canvas: where it stands, what follows it, and that it is there again as it was. */

#define REMEMBER_MS 500

SbCanvas *
sb_window_get_active_canvas (SbWindow *self)
{
  SbCanvas *mosaic = sb_subband_view_get_canvas (self->subbands);

  if (!sb_subband_model_get_visible (self->model))
    return self->canvas;
  if (self->subbands_layout == SB_SUBBANDS_ALONE || gtk_widget_has_focus (GTK_WIDGET (mosaic)))
    return mosaic;
  return self->canvas;
}

/* --- The divider ------------------------------------------------------------------------------ */

/* What both canvases have, along the way that the divider moves; 0 where they are not both seen. */
static int
get_room (SbWindow *self)
{
  GtkWidget *widgets[] = { GTK_WIDGET (self->canvas), GTK_WIDGET (self->subbands) };
  const gboolean across = gtk_orientable_get_orientation (GTK_ORIENTABLE (self->canvases))
                          == GTK_ORIENTATION_HORIZONTAL;
  int room = 0;

  for (guint i = 0; i < G_N_ELEMENTS (widgets); i++)
    {
      if (!gtk_widget_get_mapped (widgets[i]))
        return 0;
      room += across ? gtk_widget_get_width (widgets[i]) : gtk_widget_get_height (widgets[i]);
    }
  return room;
}

static void remember_later (SbWindow *self);

/* Room that has changed is divided as before; a divider that has moved in the same room was moved
 * by hand, unless it is at an end because the room ends there. */
static gboolean
divider_cb (gpointer user_data)
{
  SbWindow *self = user_data;
  const int room = get_room (self);
  const gboolean first = gtk_paned_get_start_child (self->canvases) == GTK_WIDGET (self->canvas);
  const int wanted = (int)lround ((first ? self->divider : 1 - self->divider) * room);
  int position, least, most;

  self->divider_id = 0;
  if (room <= 0)
    return G_SOURCE_REMOVE;
  g_object_get (self->canvases, "position", &position, "min-position", &least, "max-position",
                &most, NULL);
  if (room != self->divided)
    {
      self->divided = room;
      gtk_paned_set_position (self->canvases, wanted);
    }
  else if (ABS (position - wanted) > 1 && position <= room
           && position != CLAMP (wanted, least, most))
    {
      self->divider = (double)(first ? position : room - position) / room;
      remember_later (self);
    }
  return G_SOURCE_REMOVE;
}

/* When all has its place: this comes in the middle of an allocation. */
static void
divide_later (SbWindow *self)
{
  if (self->divider_id == 0)
    self->divider_id = g_idle_add (divider_cb, self);
}

/* --- Where it stands -------------------------------------------------------------------------- */

void
sb_window_follow_subbands (SbWindow *self)
{
  const gboolean visible = sb_subband_model_get_visible (self->model);
  GtkWidget *photo = GTK_WIDGET (self->canvas), *mosaic = GTK_WIDGET (self->subbands);
  GtkWidget *first = self->subbands_layout == SB_SUBBANDS_BEFORE ? mosaic : photo;

  /* One above the other where there is no room beside each other. */
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->canvases),
                                  self->narrow ? GTK_ORIENTATION_VERTICAL
                                               : GTK_ORIENTATION_HORIZONTAL);
  if (gtk_paned_get_start_child (self->canvases) != first)
    {
      g_object_ref (photo);
      g_object_ref (mosaic);
      gtk_paned_set_start_child (self->canvases, NULL);
      gtk_paned_set_end_child (self->canvases, NULL);
      gtk_paned_set_start_child (self->canvases, first);
      gtk_paned_set_end_child (self->canvases, first == photo ? mosaic : photo);
      g_object_unref (photo);
      g_object_unref (mosaic);
      self->divided = 0;
    }
  gtk_widget_set_visible (photo, !visible || self->subbands_layout != SB_SUBBANDS_ALONE);
  gtk_widget_set_visible (mosaic, visible);
  divide_later (self);
  sb_status_line_set_zoomed (self->status, visible && self->subbands_layout == SB_SUBBANDS_ALONE
                                               ? sb_subband_view_get_canvas (self->subbands)
                                               : self->canvas);
}

void
sb_window_set_subbands (SbWindow *self, gboolean shown)
{
  gboolean has_picture;

  g_object_get (self->document, "has-picture", &has_picture, NULL);
  shown = shown && has_picture;
  if (shown == sb_subband_model_get_visible (self->model))
    return;
  GtkWidget *mosaic = GTK_WIDGET (sb_subband_view_get_canvas (self->subbands));
  const gboolean focused = gtk_widget_has_focus (mosaic);
  sb_subband_model_set_visible (self->model, shown);
  sb_window_follow_subbands (self);
  if (shown && self->subbands_layout == SB_SUBBANDS_ALONE)
    gtk_widget_grab_focus (mosaic);
  else if (!shown && focused)
    gtk_widget_grab_focus (GTK_WIDGET (self->canvas));
}

static const char *const layouts[] = { "beside", "before", "alone" };

gboolean
sb_window_set_subbands_layout (SbWindow *self, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    if (g_str_equal (layouts[i], name))
      {
        self->subbands_layout = (SbSubbandsLayout)i;
        sb_window_follow_subbands (self);
        remember_later (self);
        return TRUE;
      }
  return FALSE;
}

const char *
sb_window_get_subbands_layout (SbWindow *self)
{
  return layouts[self->subbands_layout];
}

/* --- Between runs ----------------------------------------------------------------------------- */

static const char *const keys[SB_N_REMEMBERED] = {
  "subbands-place",   "subbands-divider", "subbands-linked",
  "subbands-levels",  "subbands-channel", "subbands-layout",
  "subbands-display", "subbands-gain",    "subbands-logarithmic",
};

/* In the order of the keys. */
static void
describe (SbWindow *self, GVariant *values[SB_N_REMEMBERED])
{
  static const char *const layouts_of_bands[] = { "pyramid", "grid" };
  static const char *const displays[] = { "signed", "magnitude", "color" };
  const SbHaarLook *look = sb_subband_model_get_look (self->model);
  gboolean linked;

  g_object_get (self->subbands, "linked", &linked, NULL);
  values[0] = g_variant_new_string (layouts[self->subbands_layout]);
  values[1] = g_variant_new_double (self->divider);
  values[2] = g_variant_new_boolean (linked);
  values[3] = g_variant_new_uint32 (sb_subband_model_get_wished_levels (self->model));
  values[4] = g_variant_new_string (
      sb_haar_channel_key (sb_subband_model_get_choice (self->model).channel));
  values[5] = g_variant_new_string (layouts_of_bands[look->layout]);
  values[6] = g_variant_new_string (displays[look->display]);
  values[7] = g_variant_new_double (look->gain);
  values[8] = g_variant_new_boolean (look->logarithmic);
  for (guint i = 0; i < SB_N_REMEMBERED; i++)
    g_variant_ref_sink (values[i]);
}

/* Only what has changed here: another window may have its own. */
static void
remember (SbWindow *self)
{
  GVariant *values[SB_N_REMEMBERED];

  g_clear_handle_id (&self->remember_id, g_source_remove);
  describe (self, values);
  for (guint i = 0; i < SB_N_REMEMBERED; i++)
    {
      if (!g_variant_equal (values[i], self->remembered[i]))
        g_settings_set_value (self->settings, keys[i], values[i]);
      g_variant_unref (self->remembered[i]);
      self->remembered[i] = values[i];
    }
}

static void
restore (SbWindow *self)
{
  GSettings *settings = self->settings;
  const SbHaarLook look
      = { .layout = (SbHaarLayout)g_settings_get_enum (settings, "subbands-layout"),
          .display = (SbHaarDisplay)g_settings_get_enum (settings, "subbands-display"),
          .gain = g_settings_get_double (settings, "subbands-gain"),
          .logarithmic = g_settings_get_boolean (settings, "subbands-logarithmic") };

  self->subbands_layout = (SbSubbandsLayout)g_settings_get_enum (settings, "subbands-place");
  self->divider = g_settings_get_double (settings, "subbands-divider");
  g_object_set (self->subbands, "linked", g_settings_get_boolean (settings, "subbands-linked"),
                NULL);
  sb_subband_model_set_levels (self->model, g_settings_get_uint (settings, "subbands-levels"));
  sb_subband_model_set_channel (self->model,
                                (SbHaarChannel)g_settings_get_enum (settings, "subbands-channel"));
  sb_subband_model_set_look (self->model, &look);
  describe (self, self->remembered);
}

static gboolean
remember_cb (gpointer user_data)
{
  SbWindow *self = user_data;

  self->remember_id = 0;
  remember (self);
  return G_SOURCE_REMOVE;
}

/* A slider that is moved is written down once. */
static void
remember_later (SbWindow *self)
{
  if (self->remember_id == 0)
    self->remember_id = g_timeout_add (REMEMBER_MS, remember_cb, self);
}

/* --- The window ------------------------------------------------------------------------------- */

static void
pointed_cb (SbWindow *self, const char *text, const char *brief)
{
  sb_status_line_set_text (self->status, text, brief);
}

static void
changed_cb (SbWindow *self)
{
  sb_window_update_actions (self);
  remember_later (self);
}

void
sb_window_connect_subbands (SbWindow *self)
{
  self->model = sb_subband_model_new (self->document);
  restore (self);
  sb_subband_view_set_model (self->subbands, self->model, self->canvas);
  sb_edit_panel_set_model (self->panel, self->model);
  g_signal_connect_object (self->canvases, "notify::position", G_CALLBACK (divide_later), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->canvases, "notify::max-position", G_CALLBACK (divide_later), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->subbands, "pointed", G_CALLBACK (pointed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->model, "changed", G_CALLBACK (changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->subbands, "notify::linked", G_CALLBACK (changed_cb), self,
                           G_CONNECT_SWAPPED);
}

void
sb_window_close_subbands (SbWindow *self)
{
  if (self->remember_id != 0)
    remember (self);
  g_clear_handle_id (&self->divider_id, g_source_remove);
  g_signal_handlers_disconnect_by_func (self->canvases, divide_later, self);
  sb_subband_view_set_model (self->subbands, NULL, NULL);
  sb_edit_panel_set_model (self->panel, NULL);
  if (self->model != NULL)
    sb_subband_model_close (self->model);
  g_clear_object (&self->model);
  for (guint i = 0; i < SB_N_REMEMBERED; i++)
    g_clear_pointer (&self->remembered[i], g_variant_unref);
}
