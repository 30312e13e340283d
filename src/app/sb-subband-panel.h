/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

#include "sb-subband-model.h"

G_BEGIN_DECLS

/* The controls of the subbands: what the viewer shows, the figures of the selected band, and the
 * edit of bands. What belongs to the viewer alone is there while the viewer is.
 *
 * Signal "changed" (): the edit went on or off, or a value changed. */
#define SB_TYPE_SUBBAND_PANEL (sb_subband_panel_get_type ())
G_DECLARE_FINAL_TYPE (SbSubbandPanel, sb_subband_panel, SB, SUBBAND_PANEL, GtkBox)

GtkWidget *sb_subband_panel_new (void);
/* NULL: the window goes. */
void sb_subband_panel_set_model (SbSubbandPanel *self, SbSubbandModel *model);

/* What SbEditGroup has under the same names, for the edit of bands. */
gboolean sb_subband_panel_step (SbSubbandPanel *self, const char *key, double delta);
void sb_subband_panel_reset (SbSubbandPanel *self);
void sb_subband_panel_forget (SbSubbandPanel *self);
gboolean sb_subband_panel_can_reset (SbSubbandPanel *self);

G_END_DECLS
