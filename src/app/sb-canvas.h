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
 * pixels reach the screen, for people). Signal "pointer-moved" (d x, d y): the picture's point
 * under the pointer, both negative when it is outside. Actions on the widget: none; the window
 * calls these. */
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

G_END_DECLS
