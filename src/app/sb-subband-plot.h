/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

#include "sb-haar.h"

G_BEGIN_DECLS

/* The histogram of a band: how many coefficients there are of each size, on a logarithmic scale, so
 * that the few large ones are seen beside the many small ones. */
#define SB_TYPE_SUBBAND_PLOT (sb_subband_plot_get_type ())
G_DECLARE_FINAL_TYPE (SbSubbandPlot, sb_subband_plot, SB, SUBBAND_PLOT, GtkWidget)

/* NULL: nothing. threshold, in the histogram's scale: where the two lines stand that mark it; 0:
 * none. */
void sb_subband_plot_set (SbSubbandPlot *self, const SbHaarStatistics *statistics,
                          double threshold);

G_END_DECLS
