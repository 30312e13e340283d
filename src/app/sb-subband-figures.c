/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"
#include "sb-subband-panel-private.h"

#include <math.h>

#include <glib/gi18n-lib.h>

/* What is told of the selected band, the transform and the edit. */

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
  gtk_grid_attach (grid, name, 0, row, 1, 1);
  gtk_grid_attach (grid, value, 1, row, 1, 1);
  self->values[figure] = GTK_LABEL (value);
}

static void
set_figure (SbSubbandPanel *self, guint figure, char *text)
{
  g_autofree char *name = g_strdup_printf ("%s %s", _ (figures[figure].title), text);

  gtk_label_set_text (self->values[figure], text);
  /* Beside its title it needs none; read out alone it does. */
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->values[figure]),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
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

void
sb_subband_figures_follow (SbSubbandPanel *self)
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
  const gboolean unknown = isnan (measures->noise), noisy = measures->noise > 0;
  const double initial = noisy ? measures->suggested / measures->noise : 0;
  g_autofree char *title = noisy     ? g_strdup_printf (_ ("Suggested: %.2f σ"), initial)
                           : unknown ? g_strdup (_ ("Noise unknown"))
                                     : g_strdup (_ ("No noise"));
  g_autofree char *noise = format_levels (measures->noise);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->suggestion), title);
  tell_noise (self, unknown ? "–" : noise);
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

void
sb_subband_figures_add (SbSubbandPanel *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      const gboolean of_edit = i >= SB_FIGURE_KEPT;

      add_figure (self, of_edit ? self->effect : self->figures, i,
                  g_dgettext (GETTEXT_PACKAGE, figures[i].title),
                  figures[i].tip != NULL ? g_dgettext (GETTEXT_PACKAGE, figures[i].tip) : NULL,
                  (int)i);
    }
}
