/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"
#include "sb-subband-panel-private.h"

#include <math.h>

#include <glib/gi18n-lib.h>

enum
{
  CHANGED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (SbSubbandPanel, sb_subband_panel, GTK_TYPE_BOX)

static const SbParameter levels_parameter = {
  .key = "levels",
  .label = N_ ("Level"),
  .type = SB_PARAMETER_NUMBER,
  .minimum = 1,
  .maximum = 5,
  .initial = 5,
  .quantum = 1,
  .step = 1,
};

static const SbParameter view_gain_parameter = {
  .key = "view-gain",
  .label = N_ ("Gain"),
  .type = SB_PARAMETER_NUMBER,
  .minimum = 0.25,
  .maximum = 256,
  .initial = 2,
  .quantum = 0.25,
  .step = 1,
  .digits = 2,
  .unit = "×",
  .curve_position = 0.6,
  .curve_value = 8,
};

static const SbParameter sigmas_parameter = {
  .key = "sigmas",
  .label = N_ ("Noise threshold"),
  .type = SB_PARAMETER_NUMBER,
  .maximum = 10,
  .quantum = 1.0 / 64,
  .step = 0.25,
  .digits = 2,
  .unit = "σ",
};

void
sb_subband_panel_emit_changed (SbSubbandPanel *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

/* --- Figures ---------------------------------------------------------------------------------- */

static const struct
{
  const char *title, *tip;
} figures[SB_N_FIGURES] = {
  [SB_FIGURE_SIZE] = { N_ ("Size"), NULL },
  [SB_FIGURE_COUNT] = { N_ ("Coefficients"), NULL },
  [SB_FIGURE_ENERGY] = { N_ ("Energy"), N_ ("Share of the energy of all bands") },
  [SB_FIGURE_NEAR_ZERO] = { N_ ("Near zero"), N_ ("Share of coefficients below 0.5") },
  [SB_FIGURE_ENTROPY]
  = { N_ ("Entropy"), N_ ("Information in each coefficient, rounded to whole numbers") },
  [SB_FIGURE_DEVIATION] = { N_ ("Standard deviation"),
                            N_ ("In the orthonormal scale and the units of the samples; lightness "
                                "counts twice, as the sum of the largest and smallest of R G B") },
  [SB_FIGURE_NOISE] = { N_ ("Noise σ of the result"),
                        N_ ("Estimated from the finest diagonals, in levels of 8 bits") },
  [SB_FIGURE_RECONSTRUCTION]
  = { N_ ("Reconstruction error"),
      N_ ("The largest difference of a sample after transforming it there and back") },
  [SB_FIGURE_KEPT]
  = { N_ ("Coefficients kept"), N_ ("Details that the edit leaves other than zero") },
  [SB_FIGURE_PSNR] = { N_ ("PSNR against before"),
                       N_ ("Of what the edit makes against what it is given; more is closer") },
};

static void
add_figure (SbSubbandPanel *self, GtkGrid *grid, guint figure, const char *title, const char *tip,
            int row)
{
  GtkWidget *name = gtk_label_new (title);
  GtkWidget *value = gtk_label_new ("–");

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (name, "dim-label");
  gtk_widget_set_hexpand (name, TRUE);
  gtk_widget_set_tooltip_text (name, tip);
  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_label_set_selectable (GTK_LABEL (value), FALSE);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (value), GTK_ACCESSIBLE_RELATION_LABELLED_BY, name,
                                  NULL, -1);
  gtk_grid_attach (grid, name, 0, row, 1, 1);
  gtk_grid_attach (grid, value, 1, row, 1, 1);
  self->values[figure] = GTK_LABEL (value);
}

static void
set_figure (SbSubbandPanel *self, guint figure, char *text)
{
  gtk_label_set_text (self->values[figure], text);
  g_free (text);
}

static char *
format_percent (double part)
{
  const double percent = 100 * part;

  /* Translators: a share. */
  return g_strdup_printf (percent != 0 && percent < 0.995 ? _ ("%.3f %%") : _ ("%.1f %%"), percent);
}

/* Of the noise everywhere: whatever the channel and the depth. */
static char *
format_levels (double levels)
{
  /* Translators: of the 255 levels that 8 bits have above black */
  return g_strdup_printf (_ ("%.2f of 255"), levels);
}

/* Always: rows that come and go move others away under the hand. */
static void
tell_noise (SbSubbandPanel *self, const char *noise)
{
  /* Translators: %s is "0.74 of 255", or "–" */
  g_autofree char *subtitle = g_strdup_printf (_ ("Noise σ before: %s"), noise);

  adw_action_row_set_subtitle (self->suggestion, subtitle);
}

static void
follow_measures (SbSubbandPanel *self)
{
  const SbSubbandMeasures *measures
      = self->document != NULL ? sb_document_get_measures (self->document) : NULL;
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  const SbHaarBand band = sb_subband_model_get_band (self->model);

  sb_subband_edit_update_actions (self);
  if (map->width > 0)
    {
      const SbHaarCell *cell = &map->cells[sb_subband_model_get_selected (self->model)];

      set_figure (self, SB_FIGURE_SIZE, g_strdup_printf ("%u × %u", cell->columns, cell->rows));
    }
  const gboolean known = measures != NULL && measures->band.level == band.level
                         && measures->band.orientation == band.orientation;
  if (!known)
    {
      /* Figures of another band would be wrong; those of an older result are on their way out. */
      for (guint i = SB_FIGURE_COUNT; i <= SB_FIGURE_DEVIATION; i++)
        set_figure (self, i, g_strdup ("–"));
      sb_subband_plot_set (self->plot, NULL, 0);
    }
  else
    {
      const SbHaarStatistics *s = &measures->statistics;
      const double unit = sb_haar_unit (measures->choice.channel, measures->depth);
      const gboolean cut = self->on && band.orientation != SB_HAAR_A;

      set_figure (self, SB_FIGURE_COUNT, g_strdup_printf ("%" G_GUINT64_FORMAT, s->count));
      set_figure (self, SB_FIGURE_ENERGY, format_percent (s->share));
      set_figure (self, SB_FIGURE_NEAR_ZERO, format_percent (s->near_zero));
      /* Translators: of information, for each coefficient */
      set_figure (self, SB_FIGURE_ENTROPY, g_strdup_printf (_ ("%.2f bit"), s->entropy));
      set_figure (self, SB_FIGURE_DEVIATION, sb_number_format (s->deviation, 4));
      sb_subband_plot_set (self->plot, s, cut ? self->edit.values[SB_BANDS_THRESHOLD] * unit : 0);
    }
  if (measures == NULL)
    {
      for (guint i = SB_FIGURE_NOISE; i < SB_N_FIGURES; i++)
        set_figure (self, i, g_strdup ("–"));
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->suggestion), _ ("Noise unknown"));
      tell_noise (self, "–");
      gtk_widget_set_sensitive (GTK_WIDGET (self->sigmas), FALSE);
      return;
    }
  set_figure (self, SB_FIGURE_NOISE, format_levels (measures->summary.noise_levels));
  set_figure (self, SB_FIGURE_RECONSTRUCTION,
              sb_number_format (measures->summary.reconstruction_error, 3));
  /* One that changes nothing is not measured. */
  const gboolean idle = self->on && sb_edit_is_identity (&self->edit);
  const double kept = idle ? 1 : measures->edit.kept;
  const double psnr = idle ? INFINITY : measures->edit.psnr;
  const gboolean told = idle || measures->has_edit;

  set_figure (self, SB_FIGURE_KEPT, told ? format_percent (kept) : g_strdup ("–"));
  if (!told)
    set_figure (self, SB_FIGURE_PSNR, g_strdup ("–"));
  else if (isinf (psnr))
    set_figure (self, SB_FIGURE_PSNR, g_strdup (_ ("equal")));
  else
    /* Translators: decibels */
    set_figure (self, SB_FIGURE_PSNR, g_strdup_printf (_ ("%.2f dB"), psnr));

  /* The threshold by the noise of what the edit works on; the mark is what is suggested. */
  const gboolean noisy = measures->noise > 0;
  const double initial = noisy ? measures->suggested / measures->noise : 0;
  g_autofree char *title = g_strdup_printf (_ ("Suggested: %.2f σ"), initial);
  g_autofree char *noise = format_levels (measures->noise);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->suggestion),
                                 noisy ? title : _ ("No noise"));
  tell_noise (self, noise);
  gtk_widget_set_sensitive (GTK_WIDGET (self->sigmas), noisy);
  if (self->sigmas_parameter.initial != initial)
    {
      self->sigmas_parameter.initial = initial;
      sb_parameter_row_set_parameter (self->sigmas, &self->sigmas_parameter);
    }
  if (noisy)
    sb_parameter_row_set_value (self->sigmas,
                                self->edit.values[SB_BANDS_THRESHOLD] / measures->noise);
}

/* --- What the controls show ------------------------------------------------------------------- */

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
  follow_measures (self);
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

static void
model_changed_cb (SbSubbandPanel *self)
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

static void
measured_cb (SbSubbandPanel *self)
{
  self->updating = TRUE;
  follow_measures (self);
  self->updating = FALSE;
}

/* --- What the hand does ----------------------------------------------------------------------- */

static gboolean
may_change (SbSubbandPanel *self)
{
  return !self->updating && self->document != NULL;
}

static void
levels_cb (SbSubbandPanel *self, double value)
{
  if (!may_change (self))
    return;
  sb_subband_model_set_levels (self->model, (guint)value);
  if (self->on)
    sb_subband_edit_set (self, SB_BANDS_LEVELS, value);
}

static void
channel_cb (SbSubbandPanel *self)
{
  const guint selected = adw_combo_row_get_selected (self->channel);

  if (may_change (self) && selected < SB_N_HAAR_CHANNELS)
    sb_subband_model_set_channel (self->model, (SbHaarChannel)selected);
}

static void
look_cb (SbSubbandPanel *self)
{
  if (!may_change (self))
    return;
  SbHaarLook look = *sb_subband_model_get_look (self->model);
  look.layout = gtk_toggle_button_get_active (self->grid) ? SB_HAAR_GRID : SB_HAAR_PYRAMID;
  look.display = gtk_toggle_button_get_active (self->color)       ? SB_HAAR_COLOR
                 : gtk_toggle_button_get_active (self->magnitude) ? SB_HAAR_MAGNITUDE
                                                                  : SB_HAAR_SIGNED;
  look.logarithmic = gtk_switch_get_active (self->logarithmic);
  sb_subband_model_set_look (self->model, &look);
}

/* Of a group of buttons first one goes out, then another on: only that one counts. */
static void
toggled_cb (SbSubbandPanel *self, GtkToggleButton *button)
{
  if (gtk_toggle_button_get_active (button))
    look_cb (self);
}

static void
view_gain_cb (SbSubbandPanel *self, double value)
{
  if (!may_change (self))
    return;
  SbHaarLook look = *sb_subband_model_get_look (self->model);
  look.gain = value;
  sb_subband_model_set_look (self->model, &look);
}

static void
band_cb (SbSubbandPanel *self)
{
  if (may_change (self))
    sb_subband_model_select (self->model, adw_combo_row_get_selected (self->band));
}

static void
band_on_cb (SbSubbandPanel *self)
{
  if (may_change (self))
    sb_subband_edit_set_kept (self, gtk_switch_get_active (self->band_on));
}

static void
band_gain_cb (SbSubbandPanel *self, double value)
{
  if (may_change (self))
    sb_subband_edit_set (self, sb_subband_edit_band_gain (self), value);
}

static void
level_gain_cb (SbSubbandPanel *self, double value)
{
  if (may_change (self))
    sb_subband_edit_set (self, sb_subband_edit_level_gain (self), value);
}

static void
sigmas_cb (SbSubbandPanel *self, double value)
{
  const SbSubbandMeasures *measures
      = self->document != NULL ? sb_document_get_measures (self->document) : NULL;

  if (may_change (self) && measures != NULL)
    sb_subband_edit_set (self, SB_BANDS_THRESHOLD, value * measures->noise);
}

static void
threshold_cb (SbSubbandPanel *self, double value)
{
  if (may_change (self))
    sb_subband_edit_set (self, SB_BANDS_THRESHOLD, value);
}

static void
rule_cb (SbSubbandPanel *self)
{
  if (may_change (self))
    sb_subband_edit_set (self, SB_BANDS_RULE, adw_combo_row_get_selected (self->rule));
}

static void
luma_cb (SbSubbandPanel *self)
{
  if (may_change (self))
    sb_subband_edit_set (self, SB_BANDS_LUMA, gtk_switch_get_active (self->luma));
}

static void
keep_cb (SbSubbandPanel *self, GParamSpec *pspec, GtkDropDown *moved)
{
  guint from = gtk_drop_down_get_selected (self->from);
  guint to = gtk_drop_down_get_selected (self->to);

  if (!may_change (self) || gtk_drop_down_get_selected (moved) == GTK_INVALID_LIST_POSITION)
    return;
  /* The one that is not moved makes way. */
  if (moved == self->from)
    to = to == GTK_INVALID_LIST_POSITION ? from : MAX (from, to);
  else
    from = from == GTK_INVALID_LIST_POSITION ? to : MIN (from, to);
  sb_subband_edit_keep_levels (self, from + 1, to + 1);
}

static void
toggle_cb (SbSubbandPanel *self)
{
  if (may_change (self))
    sb_subband_edit_toggle (self, gtk_switch_get_active (self->toggle));
}

static void
drag_begin_cb (SbSubbandPanel *self, SbParameterRow *row)
{
  const SbParameter *table = sb_edit_class (SB_EDIT_BANDS)->parameters;
  guint parameter = SB_BANDS_THRESHOLD;

  if (self->document == NULL || (row == self->levels && !self->on))
    return;
  if (row == self->levels)
    parameter = SB_BANDS_LEVELS;
  else if (row == self->band_gain)
    parameter = sb_subband_edit_band_gain (self);
  else if (row == self->level_gain)
    parameter = sb_subband_edit_level_gain (self);
  g_autofree char *control = g_strdup_printf ("bands.%s", table[parameter].key);
  sb_document_begin_drag (self->document, control);
}

static void
drag_end_cb (SbSubbandPanel *self)
{
  if (self->document != NULL)
    sb_document_end_drag (self->document);
}

/* --- The panel -------------------------------------------------------------------------------- */

/* Every step of the animation tells of the edits, and moves nothing here. */
static void
edits_changed_cb (SbSubbandPanel *self)
{
  const SbEdit *edit = sb_document_get_edit (self->document, SB_EDIT_BANDS);

  if (edit == NULL ? self->on : !self->on || !sb_edit_equal (edit, &self->edit))
    sb_subband_edit_reload (self);
}

static void
picture_changed_cb (SbSubbandPanel *self)
{
  sb_subband_panel_forget (self);
}

static void
sb_subband_panel_dispose (GObject *object)
{
  SbSubbandPanel *self = SB_SUBBAND_PANEL (object);

  sb_subband_panel_set_model (self, NULL);
  g_clear_object (&self->actions);

  G_OBJECT_CLASS (sb_subband_panel_parent_class)->dispose (object);
}

static void
sb_subband_panel_finalize (GObject *object)
{
  SbSubbandPanel *self = SB_SUBBAND_PANEL (object);

  g_free (self->band_gain_label);
  g_free (self->level_gain_label);

  G_OBJECT_CLASS (sb_subband_panel_parent_class)->finalize (object);
}

static void
sb_subband_panel_class_init (SbSubbandPanelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_subband_panel_dispose;
  object_class->finalize = sb_subband_panel_finalize;

  signals[CHANGED] = g_signal_new ("changed", SB_TYPE_SUBBAND_PANEL, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);

  g_type_ensure (SB_TYPE_PARAMETER_ROW);
  g_type_ensure (SB_TYPE_SUBBAND_PLOT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/subband-panel.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, SbSubbandPanel, name)
  BIND (toggle);
  BIND (levels);
  BIND (channel);
  BIND (layout_row);
  BIND (show_row);
  BIND (logarithmic_row);
  BIND (figures_row);
  BIND (effect_row);
  BIND (pyramid);
  BIND (grid);
  BIND (signed_button);
  BIND (magnitude);
  BIND (color);
  BIND (view_gain);
  BIND (logarithmic);
  BIND (band);
  BIND (plot);
  BIND (figures);
  BIND (effect);
  BIND (band_on);
  BIND (band_gain);
  BIND (level_gain);
  BIND (sigmas);
  BIND (threshold);
  BIND (suggestion);
  BIND (luma_row);
  BIND (rule);
  BIND (luma);
  BIND (from);
  BIND (to);
#undef BIND
#define BIND(name) gtk_widget_class_bind_template_callback (widget_class, name)
  BIND (toggle_cb);
  BIND (levels_cb);
  BIND (channel_cb);
  BIND (look_cb);
  BIND (toggled_cb);
  BIND (view_gain_cb);
  BIND (band_cb);
  BIND (band_on_cb);
  BIND (band_gain_cb);
  BIND (level_gain_cb);
  BIND (sigmas_cb);
  BIND (threshold_cb);
  BIND (rule_cb);
  BIND (luma_cb);
  BIND (keep_cb);
  BIND (drag_begin_cb);
  BIND (drag_end_cb);
#undef BIND
}

static void
sb_subband_panel_init (SbSubbandPanel *self)
{
  const SbParameter *table = sb_edit_class (SB_EDIT_BANDS)->parameters;
  const char *const *labels = table[SB_BANDS_RULE].choice_labels;
  g_autoptr (GtkStringList) rules = gtk_string_list_new (NULL);

  self->updating = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  sb_edit_init (&self->edit, SB_EDIT_BANDS);
  for (guint i = 0; i < SB_N_BANDS_PARAMETERS; i++)
    self->last_gain[i] = 1;

  self->levels_parameter = levels_parameter;
  self->sigmas_parameter = sigmas_parameter;
  self->band_gain_parameter = table[SB_BANDS_GAIN_A];
  self->level_gain_parameter = self->band_gain_parameter;
  sb_parameter_row_set_parameter (self->levels, &self->levels_parameter);
  sb_parameter_row_set_parameter (self->view_gain, &view_gain_parameter);
  sb_parameter_row_set_parameter (self->band_gain, &self->band_gain_parameter);
  sb_parameter_row_set_parameter (self->level_gain, &self->level_gain_parameter);
  sb_parameter_row_set_parameter (self->sigmas, &self->sigmas_parameter);
  sb_parameter_row_set_parameter (self->threshold, &table[SB_BANDS_THRESHOLD]);
  for (guint i = 0; labels[i] != NULL; i++)
    gtk_string_list_append (rules, g_dgettext (GETTEXT_PACKAGE, labels[i]));
  adw_combo_row_set_model (self->rule, G_LIST_MODEL (rules));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->rule),
                                 g_dgettext (GETTEXT_PACKAGE, table[SB_BANDS_RULE].label));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->luma_row),
                                 g_dgettext (GETTEXT_PACKAGE, table[SB_BANDS_LUMA].label));

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      const gboolean of_edit = i >= SB_FIGURE_KEPT;

      add_figure (self, of_edit ? self->effect : self->figures, i,
                  g_dgettext (GETTEXT_PACKAGE, figures[i].title),
                  figures[i].tip != NULL ? g_dgettext (GETTEXT_PACKAGE, figures[i].tip) : NULL,
                  (int)i);
    }
  sb_subband_edit_add_actions (self);
  self->updating = FALSE;
}

GtkWidget *
sb_subband_panel_new (void)
{
  return g_object_new (SB_TYPE_SUBBAND_PANEL, NULL);
}

void
sb_subband_panel_set_model (SbSubbandPanel *self, SbSubbandModel *model)
{
  g_return_if_fail (SB_IS_SUBBAND_PANEL (self));

  if (self->model == model)
    return;
  if (self->model != NULL)
    g_signal_handlers_disconnect_by_data (self->model, self);
  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_object (&self->document);
  g_set_object (&self->model, model);
  if (model == NULL)
    return;

  g_set_object (&self->document, sb_subband_model_get_document (model));
  g_signal_connect_swapped (model, "changed", G_CALLBACK (model_changed_cb), self);
  g_signal_connect_swapped (self->document, "edits-changed", G_CALLBACK (edits_changed_cb), self);
  g_signal_connect_swapped (self->document, "picture-changed", G_CALLBACK (picture_changed_cb),
                            self);
  g_signal_connect_swapped (self->document, "measured", G_CALLBACK (measured_cb), self);
  model_changed_cb (self);
  sb_subband_panel_forget (self);
}
