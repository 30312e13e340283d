/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-parameter-row.h"
#include "sb-subband-panel.h"
#include "sb-subband-plot.h"

G_BEGIN_DECLS

/* The figures of the selected band, of the whole transform and of the edit. */
enum
{
  SB_FIGURE_SIZE,
  SB_FIGURE_COUNT,
  SB_FIGURE_ENERGY,
  SB_FIGURE_NEAR_ZERO,
  SB_FIGURE_ENTROPY,
  SB_FIGURE_DEVIATION,
  SB_FIGURE_NOISE,
  SB_FIGURE_RECONSTRUCTION,
  SB_FIGURE_KEPT,
  SB_FIGURE_PSNR,
  SB_N_FIGURES,
};

struct _SbSubbandPanel
{
  GtkBox parent_instance;

  SbSubbandModel *model;
  SbDocument *document;
  gboolean updating; /* the controls follow, not the other way round */

  SbEdit edit;                             /* what the controls show */
  gboolean on;                             /* the document has it */
  SbEdit off_edit;                         /* what the switch took away */
  gboolean has_off;                        /* there is such a thing */
  double last_gain[SB_N_BANDS_PARAMETERS]; /* what a band that is switched off comes back with */
  GActionGroup *actions;

  /* Rows of the table of this panel: their ranges follow the picture. */
  SbParameter levels_parameter, band_gain_parameter, level_gain_parameter, sigmas_parameter;
  char *band_gain_label, *level_gain_label;
  guint listed_levels; /* in the list of bands */

  GtkSwitch *toggle;
  SbParameterRow *levels;
  AdwComboRow *channel;
  GtkWidget *layout_row, *show_row, *logarithmic_row, *figures_row, *effect_row;
  GtkToggleButton *pyramid, *grid, *signed_button, *magnitude, *color;
  GtkButton *use;
  SbParameterRow *view_gain;
  GtkSwitch *logarithmic;
  AdwComboRow *band;
  SbSubbandPlot *plot;
  GtkGrid *figures, *effect;
  GtkLabel *values[SB_N_FIGURES];
  GtkSwitch *band_on;
  SbParameterRow *band_gain, *level_gain;
  SbParameterRow *sigmas, *threshold;
  AdwActionRow *suggestion, *luma_row;
  AdwComboRow *rule;
  GtkSwitch *luma;
  GtkDropDown *from, *to;
};

/* --- sb-subband-panel.c ----------------------------------------------------------------------- */

void sb_subband_panel_emit_changed (SbSubbandPanel *self);

/* --- sb-subband-follow.c ---------------------------------------------------------------------- */

/* The controls of the edit show what it is. */
void sb_subband_panel_follow (SbSubbandPanel *self);
/* Those of the viewer, too. */
void sb_subband_panel_follow_model (SbSubbandPanel *self);

/* --- sb-subband-figures.c --------------------------------------------------------------------- */

void sb_subband_figures_add (SbSubbandPanel *self);
/* Between `updating`: one of the controls goes by the noise. */
void sb_subband_figures_follow (SbSubbandPanel *self);

/* --- sb-subband-edit.c ------------------------------------------------------------------------ */

void sb_subband_edit_reload (SbSubbandPanel *self);
/* Positions in SbEdit.values of the gain of the selected band, and of its level; of A there is no
 * other, and both are the same. */
guint sb_subband_edit_band_gain (SbSubbandPanel *self);
guint sb_subband_edit_level_gain (SbSubbandPanel *self);
/* Sets one value, as the hand does. */
void sb_subband_edit_set (SbSubbandPanel *self, guint parameter, double value);
void sb_subband_edit_set_kept (SbSubbandPanel *self, gboolean kept);
/* The gains of the levels outside are zero, those inside as they were. */
void sb_subband_edit_keep_levels (SbSubbandPanel *self, guint from, guint to);
void sb_subband_edit_toggle (SbSubbandPanel *self, gboolean on);
void sb_subband_edit_add_actions (SbSubbandPanel *self);
void sb_subband_edit_update_actions (SbSubbandPanel *self);

G_END_DECLS
