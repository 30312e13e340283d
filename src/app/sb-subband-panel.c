/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-accessible.h"
#include "sb-choice.h"
#include "sb-stats.h"
#include "sb-subband-panel-private.h"

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
painted_cb (SbSubbandPanel *self, GdkFrameClock *clock)
{
  const SbSubbandMeasures *measures
      = self->document != NULL ? sb_document_get_measures (self->document) : NULL;

  g_signal_handlers_disconnect_by_func (clock, painted_cb, self);
  if (measures != NULL && measures->id != 0)
    sb_stats_measured (measures->id);
}

static void
measured_cb (SbSubbandPanel *self)
{
  GdkFrameClock *clock = sb_stats_is_on () ? gtk_widget_get_frame_clock (GTK_WIDGET (self)) : NULL;

  self->updating = TRUE;
  sb_subband_figures_follow (self);
  self->updating = FALSE;
  if (clock == NULL)
    return;
  g_signal_handlers_disconnect_by_func (clock, painted_cb, self);
  g_signal_connect_object (clock, "after-paint", G_CALLBACK (painted_cb), self, G_CONNECT_SWAPPED);
  gdk_frame_clock_request_phase (clock, GDK_FRAME_CLOCK_PHASE_AFTER_PAINT);
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
  BIND (use);
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
  sb_choice_show_whole (self->channel);
  sb_choice_show_whole (self->band);
  sb_choice_show_whole (self->rule);
  sb_edit_init (&self->edit, SB_EDIT_BANDS);
  for (guint i = 0; i < SB_N_BANDS_PARAMETERS; i++)
    self->last_gain[i] = 1;
  sb_accessible_keep_name (self->magnitude);
  sb_accessible_keep_name (self->use);
  sb_accessible_keep_name (self->from);
  sb_accessible_keep_name (self->to);

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

  sb_subband_figures_add (self);
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
  g_signal_connect_swapped (model, "changed", G_CALLBACK (sb_subband_panel_follow_model), self);
  g_signal_connect_swapped (self->document, "edits-changed", G_CALLBACK (edits_changed_cb), self);
  g_signal_connect_swapped (self->document, "picture-changed", G_CALLBACK (picture_changed_cb),
                            self);
  g_signal_connect_swapped (self->document, "measured", G_CALLBACK (measured_cb), self);
  sb_subband_panel_follow_model (self);
  sb_subband_panel_forget (self);
}
