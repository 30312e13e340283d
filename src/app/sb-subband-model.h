/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib-object.h>

#include "sb-document.h"
#include "sb-subband-map.h"

G_BEGIN_DECLS

/* What the subband viewer of a window shows and how, which band is selected; the viewer, the panel
 * and the window share it. While it is visible it has the document make the transform.
 *
 * Signal "changed" (): anything of it. */
#define SB_TYPE_SUBBAND_MODEL (sb_subband_model_get_type ())
G_DECLARE_FINAL_TYPE (SbSubbandModel, sb_subband_model, SB, SUBBAND_MODEL, GObject)

SbSubbandModel *sb_subband_model_new (SbDocument *document) G_GNUC_WARN_UNUSED_RESULT;
/* The document goes; nothing is asked of it from now on. */
void sb_subband_model_close (SbSubbandModel *self);
SbDocument *sb_subband_model_get_document (SbSubbandModel *self); /* NULL: it is closed */

void sb_subband_model_set_visible (SbSubbandModel *self, gboolean visible);
gboolean sb_subband_model_get_visible (SbSubbandModel *self);

/* As many levels as the picture has are taken; more are remembered for the next picture. */
void sb_subband_model_set_levels (SbSubbandModel *self, guint levels);
guint sb_subband_model_get_wished_levels (SbSubbandModel *self);
guint sb_subband_model_get_max_levels (SbSubbandModel *self); /* 0: no picture */
void sb_subband_model_set_channel (SbSubbandModel *self, SbHaarChannel channel);
SbHaarChoice sb_subband_model_get_choice (SbSubbandModel *self);

void sb_subband_model_set_look (SbSubbandModel *self, const SbHaarLook *look);
const SbHaarLook *sb_subband_model_get_look (SbSubbandModel *self);

/* width 0: no picture. Owned by the model, changes with it. */
const SbSubbandMap *sb_subband_model_get_map (SbSubbandModel *self);
/* By its number in the map; of a level that goes away the same orientation of the last one is. */
void sb_subband_model_select (SbSubbandModel *self, guint cell);
guint sb_subband_model_get_selected (SbSubbandModel *self);
SbHaarBand sb_subband_model_get_band (SbSubbandModel *self);

G_END_DECLS
