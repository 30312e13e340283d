/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-window-private.h"

#include <math.h>

#include <glib/gi18n-lib.h>

#include "sb-error.h"
#include "sb-properties-dialog.h"

/* Every change that a script or a test can make comes through here as well as the user's own. */

static void
open_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_open (user_data);
}

static void
export_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_export (user_data, FALSE);
}

static void
export_to_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  g_autoptr (GFile) file = g_file_new_for_commandline_arg (g_variant_get_string (parameter, NULL));

  sb_window_export_to (user_data, file);
}

static void
copy_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_copy (user_data);
}

static void
paste_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_paste (user_data);
}

static void
set_edit_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;
  g_autoptr (GError) error = NULL;
  SbEdit edit;

  sb_document_report (self->document, NULL);
  g_object_set (self->document, "animating", FALSE, NULL);
  if (!sb_edit_parse (g_variant_get_string (parameter, NULL), &edit, &error)
      || !sb_document_set_edit (self->document, &edit, NULL, &error))
    sb_window_report (self, error);
}

static void
step_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;
  g_autoptr (GError) error = NULL;
  const char *control;
  double delta;

  g_variant_get (parameter, "(&sd)", &control, &delta);
  if (isfinite (delta) && sb_edit_panel_step (self->panel, control, delta))
    return;
  error = g_error_new (SB_ERROR, SB_ERROR_INVALID, _ ("“%s” is no control that takes steps"),
                       control);
  sb_window_report (self, error);
}

static void
apply_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;

  g_object_set (self->document, "animating", FALSE, NULL);
  sb_document_apply (self->document);
  sb_edit_panel_forget (self->panel);
}

static void
reset_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;

  sb_edit_panel_reset (self->panel);
}

static void
undo_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;

  g_object_set (self->document, "animating", FALSE, NULL);
  sb_document_undo (self->document);
}

static void
redo_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;

  g_object_set (self->document, "animating", FALSE, NULL);
  sb_document_redo (self->document);
}

static void
nothing_to_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  gboolean undo = g_str_equal (g_variant_get_string (parameter, NULL), "undo");

  sb_window_toast (user_data, undo ? _ ("Nothing to undo") : _ ("Nothing to redo"));
}

static void
zoom_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;
  double zoom = g_variant_get_double (parameter);

  if (isfinite (zoom) && zoom > 0)
    sb_canvas_set_zoom (sb_window_get_active_canvas (self), zoom);
}

static void
zoom_in_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_canvas_zoom_in (sb_window_get_active_canvas (user_data));
}

static void
zoom_out_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_canvas_zoom_out (sb_window_get_active_canvas (user_data));
}

static void
fit_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_canvas_fit (sb_window_get_active_canvas (user_data));
}

static void
pan_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;
  double dx, dy;

  g_variant_get (parameter, "(dd)", &dx, &dy);
  if (isfinite (dx) && isfinite (dy))
    sb_canvas_pan (sb_window_get_active_canvas (self), dx, dy);
}

static void
compare_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  sb_window_set_comparing (user_data, g_variant_get_boolean (value));
}

static void
animate_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  SbWindow *self = user_data;

  g_object_set (self->document, "animating", g_variant_get_boolean (value), NULL);
}

static void
panel_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  sb_window_set_panel (user_data, g_variant_get_boolean (value));
}

static void
subbands_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  sb_window_set_subbands (user_data, g_variant_get_boolean (value));
}

static void
subbands_layout_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  SbWindow *self = user_data;
  const char *name = g_variant_get_string (value, NULL);

  if (sb_window_set_subbands_layout (self, name))
    {
      sb_window_update_actions (self);
      return;
    }
  g_autoptr (GError) error = g_error_new (
      SB_ERROR, SB_ERROR_INVALID, _ ("“%s” is none of the places beside, before, alone"), name);
  sb_window_report (self, error);
}

static void
subbands_link_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  SbWindow *self = user_data;

  g_object_set (self->subbands, "linked", g_variant_get_boolean (value), NULL);
}

static void
export_mosaic_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_export_bands (user_data, SB_BANDS_EXPORT_MOSAIC);
}

static void
export_band_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_export_bands (user_data, SB_BANDS_EXPORT_ONE);
}

static void
export_bands_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  sb_window_export_bands (user_data, SB_BANDS_EXPORT_ALL);
}

/* (what, path): "mosaic", "band" or "bands". */
static void
export_subbands_to_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  static const char *const names[] = { "mosaic", "band", "bands" };
  const char *what, *path;

  g_variant_get (parameter, "(&s&s)", &what, &path);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], what))
      {
        g_autoptr (GFile) file = g_file_new_for_commandline_arg (path);

        sb_window_export_bands_to (user_data, (SbBandsExport)i, file);
        return;
      }
  g_autoptr (GError) error
      = g_error_new (SB_ERROR, SB_ERROR_INVALID,
                     _ ("“%s” is none of mosaic, band, bands: nothing is exported"), what);
  sb_window_report (user_data, error);
}

static void
fullscreen_cb (GSimpleAction *action, GVariant *value, gpointer user_data)
{
  if (g_variant_get_boolean (value))
    gtk_window_fullscreen (user_data);
  else
    gtk_window_unfullscreen (user_data);
}

/* Escape: the innermost thing that can end. */
static void
cancel_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;
  gboolean exporting, loading, animating;

  g_object_get (self->document, "exporting", &exporting, "loading", &loading, "animating",
                &animating, NULL);
  if (exporting)
    sb_document_cancel_export (self->document);
  else if (loading && self->load != NULL)
    g_cancellable_cancel (self->load);
  else if (animating)
    g_object_set (self->document, "animating", FALSE, NULL);
  else if (gtk_window_is_fullscreen (GTK_WINDOW (self)))
    gtk_window_unfullscreen (GTK_WINDOW (self));
  else if (self->narrow && adw_flap_get_reveal_flap (self->flap))
    sb_window_set_panel (self, FALSE);
}

static void
menu_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;

  if (gtk_widget_get_mapped (GTK_WIDGET (self->menu)))
    gtk_menu_button_popup (self->menu);
}

static void
properties_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbWindow *self = user_data;

  gtk_window_present (sb_properties_dialog_new (self));
}

/* GSimpleAction sets what it is asked to where nobody says otherwise, also when it is disabled. */
static void
keep_state_cb (GSimpleAction *action, GVariant *state, gpointer user_data)
{
}

static const GActionEntry entries[] = {
  { .name = "open", .activate = open_cb },
  { .name = "export", .activate = export_cb },
  { .name = "export-to", .activate = export_to_cb, .parameter_type = "s" },
  { .name = "copy", .activate = copy_cb },
  { .name = "paste", .activate = paste_cb },
  { .name = "properties", .activate = properties_cb },
  { .name = "set-edit", .activate = set_edit_cb, .parameter_type = "s" },
  { .name = "step", .activate = step_cb, .parameter_type = "(sd)" },
  { .name = "apply", .activate = apply_cb },
  { .name = "reset", .activate = reset_cb },
  { .name = "undo", .activate = undo_cb },
  { .name = "redo", .activate = redo_cb },
  { .name = "nothing-to", .activate = nothing_to_cb, .parameter_type = "s" },
  { .name = "zoom", .activate = zoom_cb, .parameter_type = "d" },
  { .name = "zoom-in", .activate = zoom_in_cb },
  { .name = "zoom-out", .activate = zoom_out_cb },
  { .name = "fit", .activate = fit_cb },
  { .name = "pan", .activate = pan_cb, .parameter_type = "(dd)" },
  { .name = "compare", .state = "false", .change_state = compare_cb },
  { .name = "animate", .state = "false", .change_state = animate_cb },
  { .name = "panel", .state = "false", .change_state = panel_cb },
  { .name = "subbands", .state = "false", .change_state = subbands_cb },
  { .name = "subbands-layout",
    .parameter_type = "s",
    .state = "'beside'",
    .change_state = subbands_layout_cb },
  { .name = "export-mosaic", .activate = export_mosaic_cb },
  { .name = "export-band", .activate = export_band_cb },
  { .name = "export-bands", .activate = export_bands_cb },
  { .name = "export-subbands-to", .activate = export_subbands_to_cb, .parameter_type = "(ss)" },
  { .name = "subbands-link", .state = "true", .change_state = subbands_link_cb },
  { .name = "fullscreen", .state = "false", .change_state = fullscreen_cb },
  { .name = "cancel", .activate = cancel_cb },
  { .name = "menu", .activate = menu_cb },
  /* Read-only: always disabled, only their states say something. */
  { .name = "busy", .state = "false", .change_state = keep_state_cb },
  { .name = "edits", .state = "''", .change_state = keep_state_cb },
  { .name = "error", .state = "''", .change_state = keep_state_cb },
};

void
sb_window_add_actions (SbWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  sb_window_update_actions (self);
}

static void
update (SbWindow *self, const char *name, gboolean enabled, GVariant *state)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), name);

  if (state != NULL)
    g_simple_action_set_state (G_SIMPLE_ACTION (action), state);
  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

void
sb_window_update_actions (SbWindow *self)
{
  gboolean has_picture, can_undo, can_redo, can_apply, busy, exporting, comparing, animating;
  gboolean linked;
  g_autofree char *edits = NULL;
  g_autofree char *error = NULL;

  g_object_get (self->document, "has-picture", &has_picture, "can-undo", &can_undo, "can-redo",
                &can_redo, "can-apply", &can_apply, "busy", &busy, "exporting", &exporting,
                "comparing", &comparing, "animating", &animating, "edits", &edits, "error", &error,
                NULL);

  update (self, "export", has_picture && !exporting, NULL);
  /* One that comes during another fails with an error, where a disabled one would be lost. */
  update (self, "export-to", has_picture, NULL);
  update (self, "copy", has_picture, NULL);
  update (self, "properties", has_picture, NULL);
  update (self, "set-edit", has_picture, NULL);
  update (self, "step", has_picture, NULL);
  update (self, "apply", can_apply, NULL);
  update (self, "reset", has_picture && sb_edit_panel_can_reset (self->panel), NULL);
  update (self, "undo", can_undo, NULL);
  update (self, "redo", can_redo, NULL);
  update (self, "nothing-to", has_picture, NULL);
  update (self, "zoom", has_picture, NULL);
  update (self, "zoom-in", has_picture, NULL);
  update (self, "zoom-out", has_picture, NULL);
  update (self, "fit", has_picture, NULL);
  update (self, "pan", has_picture, NULL);
  update (self, "compare", has_picture, g_variant_new_boolean (comparing));
  update (self, "animate", has_picture, g_variant_new_boolean (animating));
  update (self, "panel", has_picture,
          g_variant_new_boolean (adw_flap_get_reveal_flap (self->flap)));
  update (self, "subbands", has_picture,
          g_variant_new_boolean (sb_subband_model_get_visible (self->model)));
  update (self, "subbands-layout", has_picture,
          g_variant_new_string (sb_window_get_subbands_layout (self)));
  update (self, "export-mosaic", has_picture, NULL);
  update (self, "export-band", has_picture, NULL);
  update (self, "export-bands", has_picture, NULL);
  update (self, "export-subbands-to", has_picture, NULL);
  g_object_get (self->subbands, "linked", &linked, NULL);
  update (self, "subbands-link", has_picture, g_variant_new_boolean (linked));
  update (self, "fullscreen", TRUE,
          g_variant_new_boolean (gtk_window_is_fullscreen (GTK_WINDOW (self))));
  update (self, "busy", FALSE, g_variant_new_boolean (busy));
  update (self, "edits", FALSE, g_variant_new_string (edits == NULL ? "" : edits));
  update (self, "error", FALSE, g_variant_new_string (error == NULL ? "" : error));
}
