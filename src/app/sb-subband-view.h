/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-canvas.h"
#include "sb-subband-model.h"

G_BEGIN_DECLS

/* The second canvas: the mosaic of the subbands with its borders, names and selection, linked to
 * the photo's canvas. Either one outlines what the pointer over the other one points at. A click or
 * bare arrows select a band.
 *
 * Property "linked" b (writable): pan and zoom of both canvases go together. Signal "pointed" (s):
 * the coefficient under the pointer, over the subbands or over the photo, "" for none. */
#define SB_TYPE_SUBBAND_VIEW (sb_subband_view_get_type ())
G_DECLARE_FINAL_TYPE (SbSubbandView, sb_subband_view, SB, SUBBAND_VIEW, GtkWidget)

/* model NULL: the window goes. photo: the other canvas. */
void sb_subband_view_set_model (SbSubbandView *self, SbSubbandModel *model, SbCanvas *photo);
SbCanvas *sb_subband_view_get_canvas (SbSubbandView *self);
/* For the window's menu button in the corner of the view. */
GtkMenuButton *sb_subband_view_get_menu_button (SbSubbandView *self);

G_END_DECLS
