/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-haar.h"
#include "sb-error.h"
#include "sb-haar-arith.h"
#include "sb-view-range.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define BAND_ROWS 16
#define N_SHADES  4096 /* on each side of zero */

/* One direction of a cell: device pixels start .. end - 1 lie in it, and pixel start + i shows
 * coefficients from[i] .. to[i] - 1. */
typedef struct
{
  int start, end;
  guint *from, *to;
} Span;

typedef struct
{
  const SbHaarKernels *kernels;
  const SbView *view;
  const SbHaarPlane *plane;
  Span x, y;
  gboolean means, reduced;
  float factor;          /* of a detail, to u; of a mean, to 0 .. 255 */
  float offset;          /* of a detail, away from zero */
  gsize most;            /* rows that a pixel touches */
  gsize columns;         /* coefficients of a row that are touched, from x.from[0] on */
  float *values;         /* 2 rows of columns for each thread */
  const float **rows;    /* `most` for each thread */
  const guint32 *shades; /* of u = -1 .. 1 */
  guint8 *rgba;
  gsize stride;
} Drawing;

static inline double
edge (double origin, double zoom, int i)
{
  return origin + i / zoom;
}

/* place, scale: of the cell; length: of it in points; n: its coefficients. */
static gboolean
span_init (Span *span, double origin, double zoom, int size, double place, double scale,
           double length, guint n, gboolean reduced)
{
  sb_view_range (origin, zoom, size, place, place + length, &span->start, &span->end);
  const gsize count = (gsize)(span->end - span->start);
  if (count == 0)
    return TRUE;
  span->from = g_try_new (guint, count);
  span->to = g_try_new (guint, count);
  if (span->from == NULL || span->to == NULL)
    return FALSE;
  for (gsize k = 0; k < count; k++)
    {
      const int i = span->start + (int)k;
      double from = (sb_view_centre (origin, zoom, i) - place) / scale, to = from;
      if (reduced)
        {
          from = (MAX (edge (origin, zoom, i), place) - place) / scale;
          to = (MIN (edge (origin, zoom, i + 1), place + length) - place) / scale;
        }
      span->from[k] = (guint)CLAMP (floor (from), 0.0, n - 1.0);
      span->to[k] = (guint)CLAMP (ceil (to), span->from[k] + 1.0, (double)n);
      if (!reduced)
        span->to[k] = span->from[k] + 1;
    }
  return TRUE;
}

static void
span_clear (Span *span)
{
  g_clear_pointer (&span->from, g_free);
  g_clear_pointer (&span->to, g_free);
}

static inline guint32
pixel_of (const guint8 rgb[3])
{
  return GUINT32_TO_LE (rgb[0] | (guint32)rgb[1] << 8 | (guint32)rgb[2] << 16 | 0xff000000u);
}

static inline guint32
shade_of (const Drawing *d, float value)
{
  if (d->means)
    {
      const float grey = CLAMP (value * d->factor, 0.0f, 255.0f) + 0.5f;
      return pixel_of ((const guint8[3]){ (guint8)grey, (guint8)grey, (guint8)grey });
    }

  const float to = value * d->factor;
  float u = CLAMP (to + (value < 0 ? -d->offset : d->offset), -1.0f, 1.0f);
  if (d->view->look.logarithmic)
    {
      const float size = log2f (1 + 255 * fabsf (u)) / 8;
      u = u < 0 ? -size : size;
    }
  return d->shades[(gint)(u * N_SHADES + (N_SHADES + 0.5f))];
}

static void
draw_band (gsize item, guint thread, gpointer data)
{
  const Drawing *d = data;
  const int start = d->y.start + (int)item * BAND_ROWS;
  const int end = MIN (start + BAND_ROWS, d->y.end);
  const gsize n = (gsize)(d->x.end - d->x.start);
  const guint first = d->x.from[0];
  float *high = d->reduced ? d->values + thread * 2 * d->columns : NULL;
  float *low = d->reduced ? high + d->columns : NULL;
  const float **rows = d->rows + thread * d->most;

  for (int j = start; j < end; j++)
    {
      const guint from = d->y.from[j - d->y.start], to = d->y.to[j - d->y.start];
      const float *values = d->plane->values + from * d->plane->stride;
      guint8 *out = d->rgba + (gsize)j * d->stride + 4 * (gsize)d->x.start;

      if (!d->reduced)
        {
          for (gsize i = 0; i < n; i++)
            {
              const guint32 pixel = shade_of (d, values[d->x.from[i]]);
              memcpy (out + 4 * i, &pixel, 4);
            }
          continue;
        }

      for (guint k = from; k < to; k++)
        rows[k - from] = d->plane->values + k * d->plane->stride + first;
      if (d->means)
        d->kernels->sums (rows, to - from, d->columns, high);
      else
        d->kernels->extremes (rows, to - from, d->columns, high, low);
      for (gsize i = 0; i < n; i++)
        {
          const guint a = d->x.from[i] - first, b = d->x.to[i] - first;
          float up = high[a], down = d->means ? 0 : low[a];
          for (guint k = a + 1; k < b; k++)
            {
              if (d->means)
                {
                  up += high[k];
                  continue;
                }
              up = high[k] > up ? high[k] : up;
              down = low[k] < down ? low[k] : down;
            }
          const float value = d->means      ? up / (float)((b - a) * (to - from))
                              : up >= -down ? up
                                            : down;
          const guint32 pixel = shade_of (d, value);
          memcpy (out + 4 * i, &pixel, 4);
        }
    }
}

static gboolean
drawing_init (Drawing *d, const SbHaarBands *set, const SbHaarCell *cell, SbCpuHaarStand stand,
              guint threads)
{
  const SbView *view = d->view;
  double width = cell->columns * cell->scale, height = cell->rows * cell->scale;
  const double sample = (set->depth == 16 ? 1 / 257.0 : 1.0)
                        * (set->choice.channel == SB_HAAR_LIGHTNESS ? 0.5 : 1.0);

  if (view->look.layout == SB_HAAR_GRID)
    {
      width = MIN (width, sb_haar_side (set->width, 1));
      height = MIN (height, sb_haar_side (set->height, 1));
    }
  d->means = cell->band.orientation == SB_HAAR_A;
  const double scale = ldexp (cell->scale, (int)stand.shift);
  d->reduced = view->zoom * scale < 1;
  d->factor
      = (float)(d->means ? sample : sample * ldexp (view->look.gain / 255, (int)cell->band.level));
  d->offset = stand.offset * d->factor;
  d->factor *= stand.scale;
  if (!span_init (&d->x, view->x, view->zoom, view->width, cell->x, scale, width, d->plane->columns,
                  d->reduced)
      || !span_init (&d->y, view->y, view->zoom, view->height, cell->y, scale, height,
                     d->plane->rows, d->reduced))
    return FALSE;
  if (d->x.start == d->x.end || d->y.start == d->y.end)
    return TRUE;
  d->columns = d->x.to[d->x.end - d->x.start - 1] - d->x.from[0];
  for (int j = 0; j < d->y.end - d->y.start; j++)
    d->most = MAX (d->most, d->y.to[j] - d->y.from[j]);
  d->rows = g_try_new (const float *, threads * d->most);
  if (d->reduced)
    d->values = g_try_new (float, threads * 2 * d->columns);
  return d->rows != NULL && (!d->reduced || d->values != NULL);
}

static void
drawing_clear (Drawing *d)
{
  span_clear (&d->x);
  span_clear (&d->y);
  g_free (d->rows);
  g_free (d->values);
}

static guint32 *
make_shades (const SbHaarLook *look)
{
  guint32 *shades = g_try_new (guint32, 2 * N_SHADES + 1);

  for (gint i = 0; shades != NULL && i <= 2 * N_SHADES; i++)
    {
      guint8 rgb[3];
      sb_haar_shade (look->display, look->dark, (float)(i - N_SHADES) / N_SHADES, rgb);
      shades[i] = pixel_of (rgb);
    }
  return shades;
}

gboolean
sb_cpu_haar_show (const SbView *view, const SbHaarBands *set, guint8 *rgba, gsize stride,
                  SbParallel *parallel, GError **error)
{
  return sb_cpu_haar_show_stands (view, set, NULL, rgba, stride, parallel, error);
}

gboolean
sb_cpu_haar_show_stands (const SbView *view, const SbHaarBands *set, const SbCpuHaarStand *stands,
                         guint8 *rgba, gsize stride, SbParallel *parallel, GError **error)
{
  const guint n = sb_haar_n_bands (set->choice.levels);
  SbHaarCell cells[1 + 3 * SB_HAAR_MAX_LEVELS];
  g_autofree guint32 *shades = make_shades (&view->look);
  const guint32 ground = pixel_of (view->ground);
  gboolean done = shades != NULL;

  for (int j = 0; j < view->height; j++)
    for (int i = 0; i < view->width; i++)
      memcpy (rgba + (gsize)j * stride + 4 * (gsize)i, &ground, 4);
  sb_haar_mosaic (set->width, set->height, set->choice.levels, view->look.layout, NULL, NULL,
                  cells);
  for (guint k = 0; done && k < n; k++)
    {
      Drawing d = { .kernels = sb_haar_kernels_get (),
                    .view = view,
                    .plane = &set->planes[k],
                    .shades = shades,
                    .rgba = rgba,
                    .stride = stride };

      done = drawing_init (&d, set, &cells[k],
                           stands != NULL ? stands[k] : (SbCpuHaarStand){ 0, 1, 0 },
                           sb_parallel_get_n_threads (parallel));
      if (done && d.x.start < d.x.end && d.y.start < d.y.end)
        sb_parallel_run (parallel, (gsize)(d.y.end - d.y.start + BAND_ROWS - 1) / BAND_ROWS,
                         draw_band, &d, NULL);
      drawing_clear (&d);
    }
  if (!done)
    g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                 _ ("There is not enough memory to show the subbands"));
  return done;
}
