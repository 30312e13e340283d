/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-subband-panel-private.h"

#include <glib/gi18n-lib.h>

/* What the controls of the panel show: the edit, and how the subbands are looked at. */

static void
follow_kept_levels (SbSubbandPanel *self)
{
  const guint levels = sb_subband_model_get_choice (self->model).levels;
  guint from = 0, to = 0;

  for (guint level = 1; level <= levels; level++)
    if (self->edit.values[SB_BANDS_GAIN + level - 1] > 0)
      {
        from = from == 0 ? level : from;
        to = level;
      }
  gtk_drop_down_set_selected (self->from, from == 0 ? GTK_INVALID_LIST_POSITION : from - 1);
  gtk_drop_down_set_selected (self->to, to == 0 ? GTK_INVALID_LIST_POSITION : to - 1);
}

void
sb_subband_panel_follow (SbSubbandPanel *self)
{
  const SbEdit *edit = &self->edit;
  const guint own = sb_subband_edit_band_gain (self), level = sb_subband_edit_level_gain (self);

  self->updating = TRUE;
  gtk_switch_set_active (self->toggle, self->on);
  gtk_switch_set_active (self->band_on, edit->values[own] > 0 && edit->values[level] > 0);
  sb_parameter_row_set_value (self->band_gain, edit->values[own]);
  sb_parameter_row_set_value (self->level_gain, edit->values[level]);
  sb_parameter_row_set_value (self->threshold, edit->values[SB_BANDS_THRESHOLD]);
  adw_combo_row_set_selected (self->rule, (guint)edit->values[SB_BANDS_RULE]);
  gtk_switch_set_active (self->luma, edit->values[SB_BANDS_LUMA] != 0);
  follow_kept_levels (self);
  sb_subband_figures_follow (self);
  self->updating = FALSE;
  sb_subband_panel_emit_changed (self);
}

static void
list_bands (SbSubbandPanel *self, guint levels)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  g_autoptr (GtkStringList) numbers = gtk_string_list_new (NULL);

  if (self->listed_levels == levels)
    return;
  for (guint i = 0; i < sb_haar_n_bands (levels); i++)
    gtk_string_list_take (names, sb_haar_band_name (sb_haar_nth_band (levels, i)));
  adw_combo_row_set_model (self->band, G_LIST_MODEL (names));
  for (guint level = 1; level <= levels; level++)
    gtk_string_list_take (numbers, g_strdup_printf ("%u", level));
  gtk_drop_down_set_model (self->from, G_LIST_MODEL (numbers));
  gtk_drop_down_set_model (self->to, G_LIST_MODEL (numbers));
  self->listed_levels = levels;
}

/* Takes the label over. */
static void
label_gain (SbParameter *parameter, SbParameterRow *row, char **kept, char *label)
{
  if (g_strcmp0 (*kept, label) == 0)
    {
      g_free (label);
      return;
    }
  parameter->label = label;
  sb_parameter_row_set_parameter (row, parameter);
  g_free (*kept);
  *kept = label;
}

static const char *
describe_band (SbHaarOrientation orientation)
{
  switch (orientation)
    {
    case SB_HAAR_H:
      return _ ("Horizontal edges");
    case SB_HAAR_V:
      return _ ("Vertical edges");
    case SB_HAAR_D:
      return _ ("Diagonals");
    default:
      return _ ("Means of blocks");
    }
}

void
sb_subband_panel_follow_model (SbSubbandPanel *self)
{
  const SbHaarChoice choice = sb_subband_model_get_choice (self->model);
  const SbHaarLook *look = sb_subband_model_get_look (self->model);
  const SbHaarBand band = sb_subband_model_get_band (self->model);
  const guint most = sb_subband_model_get_max_levels (self->model);
  const gboolean visible = sb_subband_model_get_visible (self->model);

  self->updating = TRUE;
  if (most > 0 && self->levels_parameter.maximum != most)
    {
      self->levels_parameter.maximum = most;
      self->levels_parameter.initial = MIN (5, most);
      sb_parameter_row_set_parameter (self->levels, &self->levels_parameter);
    }
  /* A slider needs two ends. */
  gtk_widget_set_sensitive (GTK_WIDGET (self->levels), most > 1);
  sb_parameter_row_set_value (self->levels, choice.levels);
  adw_combo_row_set_selected (self->channel, choice.channel);
  gtk_toggle_button_set_active (look->layout == SB_HAAR_GRID ? self->grid : self->pyramid, TRUE);
  gtk_toggle_button_set_active (look->display == SB_HAAR_COLOR       ? self->color
                                : look->display == SB_HAAR_MAGNITUDE ? self->magnitude
                                                                     : self->signed_button,
                                TRUE);
  sb_parameter_row_set_value (self->view_gain, look->gain);
  gtk_switch_set_active (self->logarithmic, look->logarithmic);

  list_bands (self, choice.levels);
  adw_combo_row_set_selected (self->band, sb_subband_model_get_selected (self->model));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->band), describe_band (band.orientation));

  g_autofree char *name = sb_haar_band_name (band);
  /* Translators: of a band, "cV2" */
  label_gain (&self->band_gain_parameter, self->band_gain, &self->band_gain_label,
              g_strdup_printf (_ ("Gain of %s"), name));
  label_gain (&self->level_gain_parameter, self->level_gain, &self->level_gain_label,
              g_strdup_printf (_ ("Gain of level %u"), band.level));
  gtk_widget_set_visible (GTK_WIDGET (self->level_gain), band.orientation != SB_HAAR_A);

  GtkWidget *viewers[]
      = { GTK_WIDGET (self->channel),   self->layout_row,  self->show_row,
          GTK_WIDGET (self->view_gain), self->figures_row, self->logarithmic_row,
          GTK_WIDGET (self->sigmas),    self->effect_row,  GTK_WIDGET (self->suggestion) };
  for (guint i = 0; i < G_N_ELEMENTS (viewers); i++)
    gtk_widget_set_visible (viewers[i], visible);
  self->updating = FALSE;
  sb_subband_panel_follow (self);
}
