/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-subband-view.h"

G_BEGIN_DECLS

struct _SbSubbandView
{
  GtkWidget parent_instance;

  SbSubbandModel *model;
  SbCanvas *photo;
  gboolean linked;
  guint frame; /* the cell by which both canvases go together */

  /* The model as it was. */
  guint selected;
  gboolean was_visible;
  SbHaarLayout layout;
  guint levels, width, height;

  /* The coefficient under the pointer, which is over the mosaic, or over the photo. */
  gboolean has_pointed, over_photo;
  SbCoefficient pointed;
  guint estimated; /* the bands of levels 1 to this one are estimates now */

  SbCanvas *canvas;
  GtkMenuButton *menu;
};

/* sb-subband-draw.c: what lies over the two canvases. */
void sb_subband_view_draw_mosaic (SbSubbandView *self, GtkSnapshot *snapshot);
/* The pixels of the coefficient under the pointer. */
void sb_subband_view_draw_photo (SbSubbandView *self, GtkSnapshot *snapshot);

G_END_DECLS
