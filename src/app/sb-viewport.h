/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Which part of a picture a canvas shows: plain arithmetic, no widgets. Sizes of the canvas are in
 * device pixels, places in the picture in its own pixels; zoom is device pixels a picture pixel.
 *
 * A picture that is smaller than the canvas is centred, one that is larger covers it: it cannot be
 * pushed off the screen. */
typedef struct
{
  double picture_width, picture_height; /* 0: there is no picture */
  int width, height;
  double zoom;
  double x, y;     /* the picture's point at the top left corner of the canvas */
  gboolean fitted; /* the zoom follows the canvas' size */
  gboolean mosaic; /* of subbands, which have to be seen, the finest first, however thin they are */
} SbViewport;

#define SB_VIEWPORT_MAX_ZOOM 20.0

/* The zoom that shows the whole picture; never above 1. */
double sb_viewport_get_fit (const SbViewport *self);
double sb_viewport_get_min_zoom (const SbViewport *self);
/* Another picture: it is fitted. */
void sb_viewport_set_picture (SbViewport *self, guint width, guint height);
/* The picture has another size and is much the same: zoom and place stay, unless it is fitted. */
void sb_viewport_change_picture (SbViewport *self, guint width, guint height);
/* What is in the middle stays there, unless the picture is fitted. */
void sb_viewport_resize (SbViewport *self, int width, int height);
void sb_viewport_fit (SbViewport *self);
/* The picture's point under device pixel (at_x, at_y) stays there as far as possible. */
void sb_viewport_zoom_at (SbViewport *self, double zoom, double at_x, double at_y);
/* The picture's point (x, y) comes to device pixel (at_x, at_y) as far as possible. */
void sb_viewport_put (SbViewport *self, double zoom, double x, double y, double at_x, double at_y);
/* By device pixels: the view moves right and down over the picture. */
void sb_viewport_pan (SbViewport *self, double dx, double dy);
/* Whether there is more of the picture than can be seen. */
gboolean sb_viewport_is_scrollable (const SbViewport *self);
/* The view's corner, so that whole device pixels move: x * zoom and y * zoom are whole numbers. A
 * side of the picture that is thinner than a device pixel has its middle at the centre of one, and
 * is seen; of a mosaic, one thinner than some device pixels the middle of its last point. */
void sb_viewport_get_origin (const SbViewport *self, double *x, double *y);

G_END_DECLS
