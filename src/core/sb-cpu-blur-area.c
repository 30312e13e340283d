/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-area.h"

#include <string.h>

/* Lengths of up to a million pixels, squared twice, pass 64 bits. */
__extension__ typedef __int128 Wide;

static gboolean
ellipse_contains (const SbArea *area, gint64 i, gint64 j)
{
  const Wide w = area->width, h = area->height;
  const Wide dx = 2 * (i - area->x) + 1 - w, dy = 2 * (j - area->y) + 1 - h;
  return dx * dx * h * h + dy * dy * w * w <= w * w * h * h;
}

void
sb_mask_span (const SbMask *mask, gint64 j, gint64 *from, gint64 *to)
{
  const SbArea *area = &mask->area;
  gint64 a = area->x, b = (gint64)area->x + area->width;

  *from = *to = 0;
  if (j < area->y || j >= (gint64)area->y + area->height)
    return;
  if (area->shape == SB_AREA_ELLIPSE)
    {
      /* The row's span is symmetric: find its first sample between the left side and the middle. */
      gint64 low = a, high = a + (area->width - 1) / 2;
      if (!ellipse_contains (area, high, j))
        return;
      while (low < high)
        {
          const gint64 middle = low + (high - low) / 2;
          if (ellipse_contains (area, middle, j))
            high = middle;
          else
            low = middle + 1;
        }
      b -= low - a;
      a = low;
    }
  a = MAX (a, 0);
  b = MIN (b, mask->width);
  if (a < b)
    {
      *from = a;
      *to = b;
    }
}

void
sb_mask_init (SbMask *mask, const SbArea *area, guint width, guint height)
{
  const guint32 f = area->feather, w = 2 * f + 1;

  mask->area = *area;
  mask->width = width;
  mask->height = height;
  for (guint32 count = 0; count <= w; count++)
    mask->values[count] = (guint16)((65535u * (area->invert ? w - count : count) + f) / w);
}

static void
add_part (SbMaskPart parts[5], guint *n, gint64 x0, gint64 y0, gint64 x1, gint64 y1, gboolean zero)
{
  if (x0 >= x1 || y0 >= y1)
    return;
  parts[(*n)++] = (SbMaskPart){ { (int)x0, (int)y0, (int)(x1 - x0), (int)(y1 - y0) }, zero };
}

guint
sb_mask_split (const SbMask *mask, const SbRect *wanted, SbMaskPart parts[5])
{
  const SbArea *area = &mask->area;
  const gint64 f = area->feather, w = area->width, h = area->height;
  const gint64 x0 = wanted->x, x1 = x0 + wanted->width, y0 = wanted->y, y1 = y0 + wanted->height;
  gint64 ax0 = area->x, ax1 = ax0 + w, ay0 = area->y, ay1 = ay0 + h;
  guint n = 0;

  if (!area->invert)
    {
      ax0 -= f;
      ax1 += f;
      ay0 -= f;
      ay1 += f;
    }
  else
    {
      if (area->shape == SB_AREA_ELLIPSE)
        {
          /* A rectangle whose corners lie in the ellipse lies in it as a whole. */
          const gint64 dx = w * 3 / 20 + 1, dy = h * 3 / 20 + 1;
          ax0 += dx;
          ax1 -= dx;
          ay0 += dy;
          ay1 -= dy;
          if (ax0 >= ax1 || ay0 >= ay1 || !ellipse_contains (area, ax0, ay0))
            ax1 = ax0;
        }
      /* At the picture's sides the mask goes on as it is there. */
      ax0 = ax0 <= 0 ? 0 : ax0 + f;
      ay0 = ay0 <= 0 ? 0 : ay0 + f;
      ax1 = ax1 >= mask->width ? mask->width : ax1 - f;
      ay1 = ay1 >= mask->height ? mask->height : ay1 - f;
    }
  ax0 = CLAMP (ax0, x0, x1);
  ax1 = CLAMP (ax1, x0, x1);
  ay0 = CLAMP (ay0, y0, y1);
  ay1 = CLAMP (ay1, y0, y1);
  if (ax0 >= ax1 || ay0 >= ay1)
    {
      add_part (parts, &n, x0, y0, x1, y1, !area->invert);
      return n;
    }
  add_part (parts, &n, ax0, ay0, ax1, ay1, area->invert);
  add_part (parts, &n, x0, y0, x1, ay0, !area->invert);
  add_part (parts, &n, x0, ay1, x1, y1, !area->invert);
  add_part (parts, &n, x0, ay0, ax0, ay1, !area->invert);
  add_part (parts, &n, ax1, ay0, x1, ay1, !area->invert);
  return n;
}

/* Adds (or takes off) what the horizontal box makes of row j, times `weight`, to the sums. */
static void
add_row (SbMaskWindow *window, gint64 j, guint32 weight)
{
  const SbMask *mask = window->mask;
  const gint64 f = mask->area.feather;
  gint64 a, b;

  sb_mask_span (mask, j, &a, &b);
  if (a >= b)
    {
      const guint32 none = weight * mask->values[0];
      for (int i = 0; i < window->x1 - window->x0; i++)
        window->sums[i] += none;
      return;
    }
  /* The end samples are repeated. */
  const int from = (int)(a == 0 ? -f : a), to = (int)(b == mask->width ? b + f : b);
  for (int i = 0; i < window->x1 - window->x0; i++)
    {
      const int x = window->x0 + i;
      const int low = MAX (x - (int)f, from), high = MIN (x + (int)f + 1, to);
      window->sums[i] += weight * mask->values[MAX (high - low, 0)];
    }
}

static gint64
row_at (const SbMask *mask, gint64 j)
{
  return CLAMP (j, 0, (gint64)mask->height - 1);
}

void
sb_mask_window_start (SbMaskWindow *window, const SbMask *mask, int x0, int x1, int y,
                      guint32 *sums)
{
  const gint64 f = mask->area.feather, last = (gint64)mask->height - 1;

  *window = (SbMaskWindow){ mask, x0, x1, y, sums };
  if (f == 0)
    return;
  memset (sums, 0, sizeof (guint32) * (gsize)(x1 - x0));
  if (y - f < 0)
    add_row (window, 0, (guint32)(f - y));
  for (gint64 j = MAX (y - f, 0); j <= MIN (y + f, last); j++)
    add_row (window, j, 1);
  if (y + f > last)
    add_row (window, last, (guint32)(y + f - last));
}

void
sb_mask_window_next (SbMaskWindow *window, guint16 *out)
{
  const SbMask *mask = window->mask;
  const guint32 f = mask->area.feather, w = 2 * f + 1;
  const int n = window->x1 - window->x0;

  if (f == 0)
    {
      gint64 a, b;
      sb_mask_span (mask, window->y, &a, &b);
      a = CLAMP (a - window->x0, 0, n);
      b = CLAMP (b - window->x0, 0, n);
      for (int i = 0; i < n; i++)
        out[i] = mask->values[i >= a && i < b];
    }
  else
    {
      for (int i = 0; i < n; i++)
        out[i] = (guint16)((window->sums[i] + f) / w);
      add_row (window, row_at (mask, (gint64)window->y + f + 1), 1);
      add_row (window, row_at (mask, (gint64)window->y - f), (guint32)-1);
    }
  window->y++;
}
