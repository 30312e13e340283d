/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Which device pixels show what, along one side of a view (SbView). Inline, so that a module can
 * use it: all backends round alike. */

/* The point under the centre of device pixel i. */
static inline double
sb_view_centre (double origin, double zoom, int i)
{
  return origin + (i + 0.5) / zoom;
}

/* The pixels, of `size`, whose centres lie in [low, high): *start .. *end - 1. */
static inline void
sb_view_range (double origin, double zoom, int size, double low, double high, int *start, int *end)
{
  const double from = (low - origin) * zoom - 1.5, to = (high - origin) * zoom - 1.5;
  int i = from <= 0 ? 0 : from >= size ? size : (int)from;
  while (i < size && sb_view_centre (origin, zoom, i) < low)
    i++;
  int e = to <= i ? i : to >= size ? size : (int)to;
  while (e < size && sb_view_centre (origin, zoom, e) < high)
    e++;
  *start = i;
  *end = MAX (e, i);
}

G_END_DECLS
