/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-viewport.h"

#include <math.h>

/* At the smallest zoom the picture's longer side still has this many device pixels. */
#define MIN_SIDE 16.0
#define MIN_ZOOM 0.1

double
sb_viewport_get_fit (const SbViewport *self)
{
  if (self->picture_width <= 0 || self->width <= 0 || self->height <= 0)
    return 1.0;
  const double fit = MIN (self->width / self->picture_width, self->height / self->picture_height);
  return MIN (fit, 1.0);
}

double
sb_viewport_get_min_zoom (const SbViewport *self)
{
  const double side = MAX (self->picture_width, self->picture_height);
  const double small = side > 0 ? MAX (MIN_ZOOM, MIN_SIDE / side) : MIN_ZOOM;
  return MIN (sb_viewport_get_fit (self), small);
}

static double
clamp_corner (double corner, double picture, int canvas, double zoom)
{
  const double seen = canvas / zoom;
  if (picture <= seen)
    return -(seen - picture) / 2;
  return CLAMP (corner, 0, picture - seen);
}

static void
settle (SbViewport *self)
{
  self->x = clamp_corner (self->x, self->picture_width, self->width, self->zoom);
  self->y = clamp_corner (self->y, self->picture_height, self->height, self->zoom);
}

void
sb_viewport_fit (SbViewport *self)
{
  self->fitted = TRUE;
  self->zoom = sb_viewport_get_fit (self);
  settle (self);
}

void
sb_viewport_set_picture (SbViewport *self, guint width, guint height)
{
  self->picture_width = width;
  self->picture_height = height;
  self->x = self->y = 0;
  sb_viewport_fit (self);
}

void
sb_viewport_change_picture (SbViewport *self, guint width, guint height)
{
  if (self->picture_width <= 0)
    {
      sb_viewport_set_picture (self, width, height);
      return;
    }
  self->picture_width = width;
  self->picture_height = height;
  if (self->fitted)
    sb_viewport_fit (self);
  else
    settle (self);
}

void
sb_viewport_resize (SbViewport *self, int width, int height)
{
  if (self->zoom > 0)
    {
      self->x += (self->width - width) / 2.0 / self->zoom;
      self->y += (self->height - height) / 2.0 / self->zoom;
    }
  self->width = width;
  self->height = height;
  if (self->fitted || self->zoom <= 0)
    sb_viewport_fit (self);
  else
    settle (self);
}

void
sb_viewport_zoom_at (SbViewport *self, double zoom, double at_x, double at_y)
{
  zoom = CLAMP (zoom, sb_viewport_get_min_zoom (self), SB_VIEWPORT_MAX_ZOOM);
  self->x += at_x / self->zoom - at_x / zoom;
  self->y += at_y / self->zoom - at_y / zoom;
  self->zoom = zoom;
  self->fitted = FALSE;
  settle (self);
}

void
sb_viewport_put (SbViewport *self, double zoom, double x, double y, double at_x, double at_y)
{
  self->zoom = CLAMP (zoom, sb_viewport_get_min_zoom (self), SB_VIEWPORT_MAX_ZOOM);
  self->x = x - at_x / self->zoom;
  self->y = y - at_y / self->zoom;
  self->fitted = FALSE;
  settle (self);
}

void
sb_viewport_pan (SbViewport *self, double dx, double dy)
{
  self->x += dx / self->zoom;
  self->y += dy / self->zoom;
  settle (self);
}

gboolean
sb_viewport_is_scrollable (const SbViewport *self)
{
  /* Not for the sake of a rounding error. */
  return self->picture_width * self->zoom > self->width + 1e-6
         || self->picture_height * self->zoom > self->height + 1e-6;
}

/* What has fewer device pixels than this is thin: */
#define THIN        1.0
#define THIN_MOSAIC 8.0

static double
get_origin (const SbViewport *self, double corner, double picture)
{
  const double zoom = self->zoom;

  if (picture * zoom >= (self->mosaic ? THIN_MOSAIC : THIN) || zoom >= 1)
    return floor (corner * zoom + 0.5) / zoom;
  /* Between the centres of two device pixels nothing would be seen of it, or of a mosaic nothing of
   * its finest bands, which are last. */
  const double seen = self->mosaic ? picture - 0.5 : picture / 2;
  const double pixel = floor ((seen - corner) * zoom);
  return seen - (pixel + 0.5) / zoom;
}

void
sb_viewport_get_origin (const SbViewport *self, double *x, double *y)
{
  *x = get_origin (self, self->x, self->picture_width);
  *y = get_origin (self, self->y, self->picture_height);
}
