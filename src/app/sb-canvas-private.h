/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-canvas.h"
#include "sb-document-view.h"
#include "sb-viewport.h"

G_BEGIN_DECLS

typedef struct _SbCanvasGl SbCanvasGl;

struct _SbCanvas
{
  GtkWidget parent_instance;

  SbDocument *document;
  SbDocumentView *view; /* of the document, or NULL */
  SbViewport viewport;
  int scale; /* device pixels a unit of the widget */
  SbView wanted;
  gboolean has_wanted;
  gboolean subbands; /* their mosaic, not the picture */
  SbCanvasOverlayFunc overlay;
  gpointer overlay_data;

  /* The pointer, in units of the widget; where it is outside, negative. */
  double pointer_x, pointer_y;
  gboolean panning;
  double pan_x, pan_y;
  gboolean pressed; /* what may become a click */
  double press_x, press_y;
  double pinch_zoom;

  GtkWidget *area; /* a GtkGLArea, or NULL: through a GdkTexture */
  SbCanvasGl *gl;  /* while the area is realized */
  gboolean may_attach;
  guint drop_id;
  char *drop_reason;

  GdkTexture *texture;
  SbView texture_view;
  gpointer host_buffers[SB_DOCUMENT_VIEW_BUFFERS];
  gsize host_bytes[SB_DOCUMENT_VIEW_BUFFERS];

  char *rung;
  guint tick_id;
  GdkFrameClock *clock; /* while animating */
};

/* The style class of a canvas that has the focus by a key: only then it shows that it has. */
#define SB_CANVAS_REACHED "reached"

/* The picture's place on screen has changed, or its size, colours or document. */
void sb_canvas_update (SbCanvas *self);
/* In device pixels. */
void sb_canvas_pan_by (SbCanvas *self, double dx, double dy);
void sb_canvas_zoom_at (SbCanvas *self, double zoom, double x, double y);
/* Where a view's pixels lie on a canvas that wants another one, in device pixels; FALSE: exactly
 * where they were made for. */
gboolean sb_canvas_place (SbCanvas *self, const SbView *view, graphene_rect_t *place);
/* How pixels reach the screen, for people. */
void sb_canvas_set_rung (SbCanvas *self, const char *rung);

/* --- sb-canvas-input.c ----------------------------------------------------------------------- */

void sb_canvas_add_controllers (SbCanvas *self);
void sb_canvas_update_cursor (SbCanvas *self);
/* Tells where the pointer is, or that it is not over the picture. */
void sb_canvas_emit_pointer (SbCanvas *self);

/* --- sb-canvas-gl.c -------------------------------------------------------------------------- */

/* Adds the area; it takes itself away, with the reason in "rung", where GL cannot be had. */
void sb_canvas_add_area (SbCanvas *self);
/* Has new pixels drawn. */
void sb_canvas_queue (SbCanvas *self);
/* The view or the document goes away: nothing is lent to it from now on. */
void sb_canvas_gl_forget_view (SbCanvas *self);

/* --- sb-canvas-host.c ------------------------------------------------------------------------ */

/* Without an area. */
void sb_canvas_host_snapshot (SbCanvas *self, GtkSnapshot *snapshot);
void sb_canvas_host_free (SbCanvas *self);

G_END_DECLS
