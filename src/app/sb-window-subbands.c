/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

/* The second canvas: where it stands, and what follows it. */

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
    }
  gtk_widget_set_visible (photo, !visible || self->subbands_layout != SB_SUBBANDS_ALONE);
  gtk_widget_set_visible (mosaic, visible);
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
        return TRUE;
      }
  return FALSE;
}

const char *
sb_window_get_subbands_layout (SbWindow *self)
{
  return layouts[self->subbands_layout];
}

static void
pointed_cb (SbWindow *self, const char *text)
{
  sb_status_line_set_text (self->status, text);
}

static void
changed_cb (SbWindow *self)
{
  sb_window_update_actions (self);
}

void
sb_window_connect_subbands (SbWindow *self)
{
  self->model = sb_subband_model_new (self->document);
  sb_subband_view_set_model (self->subbands, self->model, self->canvas);
  sb_edit_panel_set_model (self->panel, self->model);
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
  sb_subband_view_set_model (self->subbands, NULL, NULL);
  sb_edit_panel_set_model (self->panel, NULL);
  if (self->model != NULL)
    sb_subband_model_close (self->model);
  g_clear_object (&self->model);
}
