/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-show.h"
#include "sb-error.h"
#include "sb-kernel-view.h"
#include "sb-view-range.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define BAND_ROWS 16

/* One direction of a drawing: device pixels start .. end - 1 lie in the source; pixel start + i is
 * made from `taps` pixels of it, from first[i] on (counted from the source's rect), which weigh
 * weights[i * taps]. Without weights it is the pixel first[i]. */
typedef struct
{
  int start, end;
  guint32 *first;
  float *weights;
  gsize taps;
  guint32 low, high; /* the pixels of the source that are needed: low .. high - 1 */
} Axis;

typedef struct
{
  const SbViewKernels *kernels;
  const SbView *view;
  const SbShowSource *source;
  Axis x, y;
  float *ground[2]; /* the checkerboard, in rows of even and odd checks; NULL: opaque */
  float *sums;      /* one row of the source for each thread */
  gsize sums_row;
  float *pixels;       /* SB_VIEW_COLOR_PIXELS for each thread; NULL: colours stay as they are */
  const guint8 **rows; /* y.taps for each thread */
  float *weights;      /* likewise */
  guint8 *rgba;
  gsize stride;
} Drawing;

static void
axis_clear (Axis *axis)
{
  g_clear_pointer (&axis->first, g_free);
  g_clear_pointer (&axis->weights, g_free);
}

/* side: of the picture, first and n: the source's rect in pixels of its level; scale: the sum of
 * the weights. */
static gboolean
axis_init (Axis *axis, double origin, double zoom, int size, guint side, guint level, guint first,
           guint n, double scale)
{
  const double unit = (double)((guint64)1 << level);
  const double low = first * unit, high = MIN ((first + n) * unit, (double)side);

  sb_view_range (origin, zoom, size, low, high, &axis->start, &axis->end);
  const gsize count = (gsize)(axis->end - axis->start);
  if (count == 0)
    return TRUE;
  axis->first = g_try_new (guint32, count);
  if (axis->first == NULL)
    return FALSE;

  if (zoom >= 1)
    {
      for (gsize i = 0; i < count; i++)
        {
          const double point = sb_view_centre (origin, zoom, axis->start + (int)i);
          axis->first[i] = (guint32)CLAMP (floor (point / unit) - first, 0.0, n - 1.0);
        }
      axis->taps = 1;
      axis->low = axis->first[0];
      axis->high = axis->first[count - 1] + 1;
      return TRUE;
    }

  /* A footprint of f pixels touches at most ceil (f) + 1 of them. */
  axis->taps = MIN ((gsize)ceil (1 / zoom / unit) + 1, n);
  axis->weights = g_try_new0 (float, count * axis->taps);
  if (axis->weights == NULL)
    return FALSE;
  for (gsize i = 0; i < count; i++)
    {
      const double device = (double)axis->start + (double)i;
      const double from = MAX (origin + device / zoom, low);
      const double to = MIN (origin + (device + 1) / zoom, high);
      const double begin = floor (from / unit) - first;
      /* Late enough to hold the last pixel touched, early enough to stay inside. */
      const guint32 k0 = (guint32)CLAMP (begin, 0.0, (double)(n - axis->taps));
      double total = 0;
      float *out = axis->weights + i * axis->taps;

      for (gsize k = 0; k < axis->taps; k++)
        {
          const double left = (first + k0 + k) * unit;
          const double right = MIN (left + unit, (double)side);
          const double overlap = MAX (MIN (to, right) - MAX (from, left), 0.0);
          out[k] = (float)overlap;
          total += overlap;
        }
      for (gsize k = 0; k < axis->taps; k++)
        out[k] = (float)(out[k] * scale / total);
      axis->first[i] = k0;
    }
  axis->low = axis->first[0];
  axis->high = axis->first[count - 1] + (guint32)axis->taps;
  return TRUE;
}

static guint
check (const SbView *view, int i, int j)
{
  return ((guint)i / view->checker_size + (guint)j / view->checker_size) & 1;
}

/* n pixels of a row through the table, some at a time. `in` is a row of the source without
 * weights, else of sums. */
static void
color_row (const Drawing *d, guint thread, const void *in, gsize n, const float *ground,
           guint8 *out)
{
  float *pixels = d->pixels + thread * 4 * SB_VIEW_COLOR_PIXELS;
  const gboolean summed = d->x.weights != NULL;

  for (gsize at = 0; at < n; at += SB_VIEW_COLOR_PIXELS)
    {
      const gsize some = MIN (n - at, SB_VIEW_COLOR_PIXELS);
      const guint32 *first = d->x.first + at;
      if (summed)
        d->kernels->mix (in, first, d->x.weights + at * d->x.taps, d->x.taps, some, pixels);
      else if (d->source->depth == 8)
        d->kernels->take_8 (in, first, some, pixels);
      else
        d->kernels->take_16 (in, first, some, pixels);
      d->kernels->color (d->source->display, pixels, some, summed && ground != NULL,
                         ground != NULL ? ground + 4 * at : NULL, out + 4 * at);
    }
}

/* Rows of a drawing. */
static void
draw_band (gsize item, guint thread, gpointer user_data)
{
  const Drawing *d = user_data;
  const SbShowSource *source = d->source;
  const gsize pixel = source->depth / 2;
  const gsize n = (gsize)(d->x.end - d->x.start);
  const int start = d->y.start + (int)item * BAND_ROWS;
  const int end = MIN (start + BAND_ROWS, d->y.end);
  float *sums = d->sums + thread * d->sums_row;
  const guint8 **rows = d->rows + thread * d->y.taps;
  const gsize needed = d->x.high - d->x.low;

  for (int j = start; j < end; j++)
    {
      const gsize index = (gsize)(j - d->y.start);
      const guint8 *in = source->pixels + d->y.first[index] * source->stride;
      guint8 *out = d->rgba + (gsize)j * d->stride + 4 * (gsize)d->x.start;
      const float *ground = d->ground[0] != NULL ? d->ground[check (d->view, 0, j)] : NULL;

      if (d->y.weights == NULL)
        {
          if (d->pixels != NULL)
            color_row (d, thread, in, n, ground, out);
          else if (source->depth == 8)
            d->kernels->pick_8 (in, d->x.first, n, ground, out);
          else
            d->kernels->pick_16 ((const guint16 *)in, d->x.first, n, ground, out);
          continue;
        }

      const float *weights = d->y.weights + index * d->y.taps;
      float *used = d->weights + thread * d->y.taps;
      gsize n_rows = 0;
      for (gsize k = 0; k < d->y.taps; k++)
        if (weights[k] > 0) /* the others would only cost time */
          {
            used[n_rows] = weights[k];
            rows[n_rows++] = in + k * source->stride + d->x.low * pixel;
          }

      if (source->depth == 8)
        (source->alpha == SB_ALPHA_STRAIGHT ? d->kernels->sum_straight_8
                                            : d->kernels->sum_8) (rows, used, n_rows, needed, sums);
      else
        (source->alpha == SB_ALPHA_STRAIGHT ? d->kernels->sum_straight_16 : d->kernels->sum_16) (
            (const guint16 *const *)rows, used, n_rows, needed, sums);
      if (d->pixels != NULL)
        color_row (d, thread, sums, n, ground, out);
      else
        d->kernels->spread (sums, d->x.first, d->x.weights, d->x.taps, n, ground, out);
    }
}

/* The checkerboard of the device pixels of a row, as floats; two rows, which differ by a check. */
static gboolean
make_ground (Drawing *d)
{
  const gsize n = (gsize)(d->x.end - d->x.start);

  d->ground[0] = g_try_new0 (float, 8 * n);
  if (d->ground[0] == NULL)
    return FALSE;
  d->ground[1] = d->ground[0] + 4 * n;
  for (guint r = 0; r < 2; r++)
    for (gsize i = 0; i < n; i++)
      {
        const guint8 *colour = d->view->checker[check (d->view, d->x.start + (int)i, 0) ^ r];
        for (guint c = 0; c < 3; c++)
          d->ground[r][4 * i + c] = colour[c];
      }
  return TRUE;
}

static gboolean
drawing_init (Drawing *d, guint threads)
{
  const SbView *view = d->view;
  const SbShowSource *s = d->source;

  if (!axis_init (&d->x, view->x, view->zoom, view->width, s->width, s->level, (guint)s->rect.x,
                  (guint)s->rect.width, 1.0)
      || !axis_init (&d->y, view->y, view->zoom, view->height, s->height, s->level,
                     (guint)s->rect.y, (guint)s->rect.height, s->depth == 8 ? 1.0 : 1.0 / 257.0))
    return FALSE;
  if (d->x.start == d->x.end || d->y.start == d->y.end)
    return TRUE;
  if (s->alpha != SB_ALPHA_OPAQUE && !make_ground (d))
    return FALSE;
  if (s->display != NULL)
    {
      d->pixels = g_try_new (float, threads * 4 * SB_VIEW_COLOR_PIXELS);
      if (d->pixels == NULL)
        return FALSE;
    }
  if (d->x.weights == NULL)
    return TRUE;
  for (int i = 0; i < d->x.end - d->x.start; i++)
    d->x.first[i] -= d->x.low;
  /* Rows of sums start in lines of their own. */
  d->sums_row = (4 * (gsize)(d->x.high - d->x.low) + 31) & ~(gsize)15;
  d->sums = g_try_new (float, threads * d->sums_row);
  d->rows = g_try_new (const guint8 *, threads * d->y.taps);
  d->weights = g_try_new (float, threads * d->y.taps);
  return d->sums != NULL && d->rows != NULL && d->weights != NULL;
}

static void
drawing_clear (Drawing *d)
{
  axis_clear (&d->x);
  axis_clear (&d->y);
  g_free (d->ground[0]);
  g_free (d->pixels);
  g_free (d->sums);
  g_free (d->rows);
  g_free (d->weights);
}

static void
fill (guint8 *out, gsize n, const guint8 colour[3])
{
  const guint8 pixel[4] = { colour[0], colour[1], colour[2], 255 };

  for (gsize i = 0; i < n; i++)
    memcpy (out + 4 * i, pixel, 4);
}

gboolean
sb_cpu_show (const SbView *view, const SbShowSource *sources, guint n_sources, guint8 *rgba,
             gsize stride, SbParallel *parallel, GError **error)
{
  const guint threads = sb_parallel_get_n_threads (parallel);
  int x0, x1, y0, y1; /* the picture, in device pixels */
  gboolean done = TRUE;

  g_return_val_if_fail (n_sources >= 1, FALSE);

  sb_view_range (view->x, view->zoom, view->width, 0, sources[0].width, &x0, &x1);
  sb_view_range (view->y, view->zoom, view->height, 0, sources[0].height, &y0, &y1);
  if (x0 == x1)
    y0 = y1 = 0;
  for (int j = 0; j < view->height; j++)
    {
      guint8 *row = rgba + (gsize)j * stride;
      const gboolean inside = j >= y0 && j < y1;
      fill (row, (gsize)(inside ? x0 : view->width), view->ground);
      if (inside)
        fill (row + 4 * (gsize)x1, (gsize)(view->width - x1), view->ground);
    }

  for (guint i = 0; done && i < n_sources; i++)
    {
      Drawing d = { .kernels = sb_view_kernels_get (),
                    .view = view,
                    .source = &sources[i],
                    .rgba = rgba,
                    .stride = stride };
      if (i + 1 < n_sources)
        {
          /* Not worth drawing where the next one covers all of it. */
          const SbShowSource *next = &sources[i + 1];
          const guint64 unit = (guint64)1 << next->level;
          int a, b, c, e;
          sb_view_range (view->x, view->zoom, view->width, (double)((guint64)next->rect.x * unit),
                         (double)((guint64)(next->rect.x + next->rect.width) * unit), &a, &b);
          sb_view_range (view->y, view->zoom, view->height, (double)((guint64)next->rect.y * unit),
                         (double)((guint64)(next->rect.y + next->rect.height) * unit), &c, &e);
          if (a <= x0 && b >= x1 && c <= y0 && e >= y1)
            continue;
        }
      done = drawing_init (&d, threads);
      if (done && d.x.start < d.x.end && d.y.start < d.y.end)
        sb_parallel_run (parallel, (gsize)(d.y.end - d.y.start + BAND_ROWS - 1) / BAND_ROWS,
                         draw_band, &d, NULL);
      drawing_clear (&d);
    }
  if (!done)
    g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                 _ ("There is not enough memory to show the picture"));
  return done;
}
