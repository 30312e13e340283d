/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

#include "sb-document.h"

G_BEGIN_DECLS

/* The picture on screen: a focusable widget that shows a document through a GtkGLArea with pixel
 * buffer objects, or through a GdkMemoryTexture where no GL can be had or SOFTBOX_SHOW=host says
 * so. Wheel, pinch and keys zoom at the pointer, drag and arrows pan; zoom is in device pixels a
 * picture pixel, up to 20, and "fit" follows the size of the widget until something else is chosen.
 *
 * Properties: "document"; "zoom" d (readable), "fitted" b (readable), "rung" s (readable: how
 * pixels reach the screen, for people). Signals: "pointer-moved" (d x, d y): the picture's point
 * under the pointer, both negative when it is outside; "clicked" (d x, d y): a press that became no
 * drag, at a point of the picture; "moved": zoom or place were changed by the user, or by
 * sb_canvas_set_zoom() and its like. Actions on the widget: none; the window calls these. */
#define SB_TYPE_CANVAS (sb_canvas_get_type ())
G_DECLARE_FINAL_TYPE (SbCanvas, sb_canvas, SB, CANVAS, GtkWidget)

GtkWidget *sb_canvas_new (void);
void sb_canvas_set_document (SbCanvas *self, SbDocument *document);

double sb_canvas_get_zoom (SbCanvas *self);
/* Around the pointer where it is over the canvas, else around its centre. */
void sb_canvas_set_zoom (SbCanvas *self, double zoom);
void sb_canvas_zoom_in (SbCanvas *self);
void sb_canvas_zoom_out (SbCanvas *self);
void sb_canvas_fit (SbCanvas *self);
/* By a share of the viewport's size. */
void sb_canvas_pan (SbCanvas *self, double dx, double dy);

/* The canvas shows the mosaic of the document's subbands from now on, columns x rows points large,
 * in the place of the picture; dark of `look` follows the style. columns 0: nothing for now. */
void sb_canvas_set_subbands (SbCanvas *self, guint columns, guint rows, const SbHaarLook *look);
/* R G B of what lies around the picture. */
void sb_canvas_get_ground (SbCanvas *self, guint8 ground[3]);
/* What is drawn over the picture, in units of the widget. */
typedef void (*SbCanvasOverlayFunc) (SbCanvas *self, GtkSnapshot *snapshot, gpointer data);
void sb_canvas_set_overlay (SbCanvas *self, SbCanvasOverlayFunc func, gpointer data);
/* Where a point of the picture lies on the widget. */
void sb_canvas_to_widget (SbCanvas *self, double x, double y, double *at_x, double *at_y);
/* The point under the pointer, or in the middle where it is outside, and its place on the widget,
 * 0 .. 1 each way; and the other way round, without "moved". */
void sb_canvas_get_anchor (SbCanvas *self, double *x, double *y, double *at_x, double *at_y);
void sb_canvas_put (SbCanvas *self, double zoom, double x, double y, double at_x, double at_y);
/* As sb_canvas_fit(), without "moved". */
void sb_canvas_put_fitted (SbCanvas *self);

G_END_DECLS
