/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-subband-panel-private.h"

#include <string.h>

/* What the document has. */
void
sb_subband_edit_reload (SbSubbandPanel *self)
{
  const SbEdit *edit
      = self->document == NULL ? NULL : sb_document_get_edit (self->document, SB_EDIT_BANDS);

  self->on = edit != NULL;
  if (edit != NULL)
    {
      self->edit = *edit;
      sb_subband_model_set_levels (self->model, (guint)edit->values[SB_BANDS_LEVELS]);
    }
  else if (self->has_off)
    self->edit = self->off_edit;
  else
    sb_edit_init (&self->edit, SB_EDIT_BANDS);
  for (guint i = SB_BANDS_GAIN_A; i < SB_N_BANDS_PARAMETERS; i++)
    if (self->edit.values[i] > 0)
      self->last_gain[i] = self->edit.values[i];
  sb_subband_panel_follow (self);
}

guint
sb_subband_edit_level_gain (SbSubbandPanel *self)
{
  const SbHaarBand band = sb_subband_model_get_band (self->model);

  return band.orientation == SB_HAAR_A ? SB_BANDS_GAIN_A : SB_BANDS_GAIN + band.level - 1;
}

guint
sb_subband_edit_band_gain (SbSubbandPanel *self)
{
  const SbHaarBand band = sb_subband_model_get_band (self->model);

  return sb_subband_edit_level_gain (self) + SB_BANDS_MAX_LEVELS * band.orientation;
}

/* control: what the hand moves, or NULL for a step of its own. */
static void
change (SbSubbandPanel *self, const SbEdit *edit, const char *control)
{
  g_autoptr (GError) error = NULL;
  SbEdit next = *edit;

  if (self->document == NULL)
    return;
  /* What the viewer shows is what is edited. */
  next.values[SB_BANDS_LEVELS] = sb_subband_model_get_choice (self->model).levels;
  if (sb_document_set_edit (self->document, &next, control, &error))
    self->has_off = FALSE;
  else
    sb_document_report (self->document, error);
  sb_subband_edit_reload (self);
}

void
sb_subband_edit_set (SbSubbandPanel *self, guint parameter, double value)
{
  const SbEditClass *klass = sb_edit_class (SB_EDIT_BANDS);
  g_autofree char *control
      = g_strdup_printf ("%s.%s", klass->key, klass->parameters[parameter].key);
  SbEdit edit = self->edit;

  edit.values[parameter] = sb_parameter_clamp (&klass->parameters[parameter], value);
  change (self, &edit, control);
}

void
sb_subband_edit_set_kept (SbSubbandPanel *self, gboolean kept)
{
  const guint own = sb_subband_edit_band_gain (self);
  const guint level = sb_subband_edit_level_gain (self);
  SbEdit edit = self->edit;

  if (!kept)
    edit.values[own] = 0;
  else
    {
      if (edit.values[level] == 0 && own != level)
        {
          /* The level was dropped as a whole, and only this band of it comes back. */
          const guint first = level + SB_BANDS_MAX_LEVELS;

          edit.values[level] = self->last_gain[level];
          for (guint i = 0; i < 3; i++)
            edit.values[first + i * SB_BANDS_MAX_LEVELS] = 0;
        }
      if (edit.values[own] == 0)
        edit.values[own] = self->last_gain[own];
    }
  change (self, &edit, NULL);
}

void
sb_subband_edit_keep_levels (SbSubbandPanel *self, guint from, guint to)
{
  const guint levels = sb_subband_model_get_choice (self->model).levels;
  SbEdit edit = self->edit;

  for (guint level = 1; level <= levels; level++)
    {
      double *gain = &edit.values[SB_BANDS_GAIN + level - 1];

      if (level < from || level > to)
        *gain = 0;
      else if (*gain == 0)
        *gain = self->last_gain[SB_BANDS_GAIN + level - 1];
    }
  change (self, &edit, "bands.keep");
}

void
sb_subband_edit_toggle (SbSubbandPanel *self, gboolean on)
{
  if (on)
    {
      change (self, &self->edit, NULL);
      return;
    }
  self->off_edit = self->edit;
  self->has_off = TRUE;
  sb_document_remove_edit (self->document, SB_EDIT_BANDS);
  sb_subband_edit_reload (self);
}

/* --- Presets ---------------------------------------------------------------------------------- */

static double
get_suggestion (SbSubbandPanel *self)
{
  const SbSubbandMeasures *measures
      = self->document != NULL ? sb_document_get_measures (self->document) : NULL;

  return measures != NULL ? measures->suggested : 0;
}

static void
set_threshold (SbEdit *edit, double threshold)
{
  const SbParameter *parameter = &sb_edit_class (SB_EDIT_BANDS)->parameters[SB_BANDS_THRESHOLD];

  edit->values[SB_BANDS_THRESHOLD] = sb_parameter_clamp (parameter, threshold);
}

/* What a preset begins with: it says nothing of where the edit acts. */
static void
init_preset (SbSubbandPanel *self, SbEdit *edit)
{
  sb_edit_init (edit, SB_EDIT_BANDS);
  edit->values[SB_BANDS_LUMA] = self->edit.values[SB_BANDS_LUMA];
  edit->area = self->edit.area;
}

static void
denoise_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbSubbandPanel *self = user_data;
  SbEdit edit;

  init_preset (self, &edit);
  set_threshold (&edit, get_suggestion (self));
  change (self, &edit, NULL);
}

static void
preset_cb (GSimpleAction *action, GVariant *name, gpointer user_data)
{
  SbSubbandPanel *self = user_data;
  const char *preset = g_variant_get_string (name, NULL);
  SbEdit edit;

  init_preset (self, &edit);
  if (g_str_equal (preset, "sharpen"))
    {
      /* The finest level has the noise as well: the next one gains most. */
      edit.values[SB_BANDS_GAIN] = 1.5;
      edit.values[SB_BANDS_GAIN + 1] = 1.75;
      edit.values[SB_BANDS_GAIN + 2] = 1.25;
    }
  else if (g_str_equal (preset, "edges"))
    {
      /* Without the means of the blocks what is left is small, and only what is above zero seen. */
      edit.values[SB_BANDS_GAIN_A] = 0;
      for (guint level = 1; level <= 3; level++)
        edit.values[SB_BANDS_GAIN + level - 1] = 4;
      for (guint level = 4; level <= sb_subband_model_get_choice (self->model).levels; level++)
        edit.values[SB_BANDS_GAIN + level - 1] = 0;
    }
  else
    return;
  change (self, &edit, NULL);
}

static void
pixelate_cb (GSimpleAction *action, GVariant *levels, gpointer user_data)
{
  SbSubbandPanel *self = user_data;
  const guint n = MIN (g_variant_get_uint32 (levels), SB_BANDS_MAX_LEVELS);
  SbEdit edit;

  init_preset (self, &edit);
  for (guint level = 1; level <= n; level++)
    edit.values[SB_BANDS_GAIN + level - 1] = 0;
  if (sb_subband_model_get_choice (self->model).levels < n)
    sb_subband_model_set_levels (self->model, n);
  change (self, &edit, NULL);
}

static void
suggest_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbSubbandPanel *self = user_data;
  SbEdit edit = self->edit;

  set_threshold (&edit, get_suggestion (self));
  change (self, &edit, NULL);
}

void
sb_subband_edit_update_actions (SbSubbandPanel *self)
{
  static const char *const names[] = { "suggest", "denoise" };

  /* Without a measure of the noise there is nothing to go by. */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->actions), names[i]);

      g_simple_action_set_enabled (G_SIMPLE_ACTION (action), get_suggestion (self) > 0);
    }
}

void
sb_subband_edit_add_actions (SbSubbandPanel *self)
{
  static const GActionEntry entries[] = {
    { .name = "preset", .activate = preset_cb, .parameter_type = "s" },
    { .name = "denoise", .activate = denoise_cb },
    { .name = "pixelate", .activate = pixelate_cb, .parameter_type = "u" },
    { .name = "suggest", .activate = suggest_cb },
  };
  GSimpleActionGroup *group = g_simple_action_group_new ();

  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), self);
  self->actions = G_ACTION_GROUP (group);
  gtk_widget_insert_action_group (GTK_WIDGET (self), "bands", self->actions);
  sb_subband_edit_update_actions (self);
}

/* --- As SbEditGroup --------------------------------------------------------------------------- */

gboolean
sb_subband_panel_step (SbSubbandPanel *self, const char *key, double delta)
{
  g_return_val_if_fail (SB_IS_SUBBAND_PANEL (self) && key != NULL, FALSE);

  const SbEditClass *klass = sb_edit_class (SB_EDIT_BANDS);

  if (self->model == NULL)
    return FALSE;
  for (guint i = 0; i < klass->n_parameters; i++)
    if (g_str_equal (klass->parameters[i].key, key))
      {
        const SbParameter *parameter = &klass->parameters[i];
        const double value
            = sb_parameter_clamp (parameter, self->edit.values[i] + delta * parameter->step);

        if (i == SB_BANDS_LEVELS)
          sb_subband_model_set_levels (self->model, (guint)value);
        sb_subband_edit_set (self, i, value);
        return TRUE;
      }
  return FALSE;
}

void
sb_subband_panel_reset (SbSubbandPanel *self)
{
  g_return_if_fail (SB_IS_SUBBAND_PANEL (self));

  if (self->document != NULL && sb_document_get_edit (self->document, SB_EDIT_BANDS) != NULL)
    sb_document_remove_edit (self->document, SB_EDIT_BANDS);
  sb_subband_panel_forget (self);
}

void
sb_subband_panel_forget (SbSubbandPanel *self)
{
  g_return_if_fail (SB_IS_SUBBAND_PANEL (self));

  self->has_off = FALSE;
  for (guint i = 0; i < SB_N_BANDS_PARAMETERS; i++)
    self->last_gain[i] = 1;
  if (self->model != NULL)
    sb_subband_edit_reload (self);
}

gboolean
sb_subband_panel_can_reset (SbSubbandPanel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_PANEL (self), FALSE);

  SbEdit initial;

  sb_edit_init (&initial, SB_EDIT_BANDS);
  initial.values[SB_BANDS_LEVELS] = self->edit.values[SB_BANDS_LEVELS]; /* the viewer's */
  return self->on || !sb_edit_equal (&self->edit, &initial);
}
