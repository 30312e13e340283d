/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"
#include "sb-subband-plot.h"

#include <math.h>

#include <glib/gi18n-lib.h>

#define HEIGHT 72
#define MIDDLE (SB_HAAR_BINS / 2)

struct _SbSubbandPlot
{
  GtkWidget parent_instance;

  gboolean filled;
  float bins[SB_HAAR_BINS]; /* 0 .. 1 */
  double bin_width;
  double threshold;
};

G_DEFINE_FINAL_TYPE (SbSubbandPlot, sb_subband_plot, GTK_TYPE_WIDGET)

static void
draw_text (SbSubbandPlot *self, GtkSnapshot *snapshot, const char *text, double x, double align,
           double y, const GdkRGBA *colour)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  int width;

  pango_layout_get_pixel_size (layout, &width, NULL);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT ((float)floor (x - align * width), (float)y));
  gtk_snapshot_append_layout (snapshot, layout, colour);
  gtk_snapshot_restore (snapshot);
}

static void
sb_subband_plot_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  SbSubbandPlot *self = SB_SUBBAND_PLOT (widget);
  const double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  const double reach = MIDDLE * self->bin_width;
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, "0");
  int text_height;
  GdkRGBA ink, faint;

  if (!self->filled || width < 16)
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  faint = ink;
  faint.alpha *= 0.2f;
  pango_layout_get_pixel_size (layout, NULL, &text_height);

  const double floor_y = height - text_height - 2;
  const graphene_rect_t bounds = GRAPHENE_RECT_INIT (0, 0, (float)width, (float)height);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &bounds);
  gdk_cairo_set_source_rgba (cr, &ink);
  cairo_move_to (cr, 0, floor_y);
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    {
      const double y = floor_y - self->bins[i] * (floor_y - 2);

      cairo_line_to (cr, i * width / SB_HAAR_BINS, y);
      cairo_line_to (cr, (i + 1) * width / SB_HAAR_BINS, y);
    }
  cairo_line_to (cr, width, floor_y);
  cairo_close_path (cr);
  cairo_set_source_rgba (cr, ink.red, ink.green, ink.blue, 0.55 * ink.alpha);
  cairo_fill (cr);
  gdk_cairo_set_source_rgba (cr, &ink);
  cairo_set_line_width (cr, 1);
  if (self->threshold > 0 && self->threshold <= reach)
    for (int side = -1; side <= 1; side += 2)
      {
        const double x
            = (MIDDLE + 0.5 + side * self->threshold / self->bin_width) * width / SB_HAAR_BINS;

        cairo_move_to (cr, floor (x) + 0.5, 0);
        cairo_line_to (cr, floor (x) + 0.5, floor_y);
      }
  cairo_stroke (cr);
  cairo_destroy (cr);
  gtk_snapshot_append_color (snapshot, &faint,
                             &GRAPHENE_RECT_INIT (0, (float)floor_y, (float)width, 1));

  g_autofree char *low = sb_number_format (-reach, 4);
  g_autofree char *unsigned_high = sb_number_format (reach, 4);
  g_autofree char *high = g_strconcat ("+", unsigned_high, NULL);
  /* The accent is too pale for small figures. */
  GdkRGBA dim;
  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), "card_fg_color",
                                       &dim))
    dim = ink;
  dim.alpha *= 0.75f;
  draw_text (self, snapshot, low, 0, 0, floor_y + 2, &dim);
  draw_text (self, snapshot, "0", width / 2, 0.5, floor_y + 2, &dim);
  draw_text (self, snapshot, high, width, 1, floor_y + 2, &dim);
}

static void
sb_subband_plot_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                         int *natural, int *minimum_baseline, int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_VERTICAL ? HEIGHT : 0;
  *minimum_baseline = *natural_baseline = -1;
}

static void
sb_subband_plot_class_init (SbSubbandPlotClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = sb_subband_plot_snapshot;
  widget_class->measure = sb_subband_plot_measure;
  gtk_widget_class_set_css_name (widget_class, "plot");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
sb_subband_plot_init (SbSubbandPlot *self)
{
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
}

void
sb_subband_plot_set (SbSubbandPlot *self, const SbHaarStatistics *statistics, double threshold)
{
  g_return_if_fail (SB_IS_SUBBAND_PLOT (self));

  guint64 most = 1;

  self->filled = statistics != NULL;
  self->threshold = threshold;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (statistics == NULL)
    return;
  self->bin_width = statistics->bin_width;
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    most = MAX (most, statistics->histogram[i]);
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    self->bins[i] = (float)(log1p ((double)statistics->histogram[i]) / log1p ((double)most));

  g_autofree char *low = sb_number_format (-MIDDLE * self->bin_width, 4);
  g_autofree char *high = sb_number_format (MIDDLE * self->bin_width, 4);
  g_autofree char *label = g_strdup_printf (
      /* Translators: of a plot, for people who do not see it; both numbers are its ends */
      _ ("Histogram from %s to %s"), low, high);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}
