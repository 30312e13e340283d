/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-benchmark-private.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW        24
#define LARGEST_PIECE 200000 /* pixels */

const SbBenchmarkBlur sb_benchmark_blurs[] = {
  { SB_BENCHMARK_OPAQUE, 14, 1, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 14, 3, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 64, 1, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 64, 3, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 256, 1, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 256, 3, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 2.5, 3, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 14.5, 3, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_OPAQUE, 14, 3, FALSE, TRUE, FALSE },
  { SB_BENCHMARK_OPAQUE, 14, 3, FALSE, FALSE, TRUE },
  { SB_BENCHMARK_OPAQUE, 14, 3, TRUE, FALSE, FALSE },
  { SB_BENCHMARK_ALPHA, 14, 3, FALSE, FALSE, FALSE },
  { SB_BENCHMARK_16, 14, 3, FALSE, FALSE, FALSE },
};
const guint sb_benchmark_n_blurs = G_N_ELEMENTS (sb_benchmark_blurs);

const SbBenchmarkBands sb_benchmark_bands[] = {
  { SB_BENCHMARK_OPAQUE, "bands:threshold=10" },
  { SB_BENCHMARK_OPAQUE, "bands:gain1=0" },
  { SB_BENCHMARK_OPAQUE, "bands:levels=8,threshold=10" },
  { SB_BENCHMARK_OPAQUE, "bands:threshold=10,luma=1" },
  { SB_BENCHMARK_ALPHA, "bands:threshold=10" },
  { SB_BENCHMARK_16, "bands:threshold=10" },
};
const guint sb_benchmark_n_bands = G_N_ELEMENTS (sb_benchmark_bands);

const SbBenchmarkWindow sb_benchmark_windows[2] = { { 1280, 800 }, { 1900, 1273 } };

/* --- Pictures -------------------------------------------------------------------------------- */

static void
fill (SbImage *image, SbBenchmarkKind kind)
{
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;
  guint32 state = 12345;

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      {
        const gsize i = 4 * ((gsize)y * width + x);
        const gboolean edge = (x / 389 + y / 271) % 3 == 0;
        state = state * 1664525u + 1013904223u;
        for (guint c = 0; c < 3; c++)
          {
            const guint smooth
                = (guint)((guint64)x * (20000 + 5000 * c) / width + (guint64)y * 20000 / height);
            const guint v = smooth + (edge ? 9000 + 3000 * c : 0) + (state >> (8 + 4 * c) & 0xfff);
            if (kind == SB_BENCHMARK_16)
              p16[i + c] = (guint16)v;
            else
              p8[i + c] = (guint8)(v >> 8);
          }
        const guint alpha = kind != SB_BENCHMARK_ALPHA ? 0xffff : edge ? 0 : 0x4000 + (state >> 17);
        if (kind == SB_BENCHMARK_16)
          p16[i + 3] = (guint16)alpha;
        else
          p8[i + 3] = (guint8)(alpha >> 8);
      }
}

SbImage *
sb_benchmark_image (SbBenchmarkKind kind, guint width, guint height, GError **error)
{
  SbImage *image = sb_image_new (width, height, kind == SB_BENCHMARK_16 ? 16 : 8, error);

  if (image != NULL)
    fill (image, kind);
  return image;
}

SbEdit
sb_benchmark_edit (const SbBenchmarkBlur *blur, guint width, guint height)
{
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BLUR);
  edit.values[SB_BLUR_RADIUS] = blur->radius;
  edit.values[SB_BLUR_PASSES] = blur->passes;
  edit.values[SB_BLUR_LINEAR] = blur->linear;
  edit.values[SB_BLUR_EDGE] = blur->mirror ? SB_EDGE_MIRROR : SB_EDGE_CLAMP;
  if (blur->area)
    edit.area = (SbArea){ .shape = SB_AREA_ELLIPSE,
                          .x = (int)width / 4,
                          .y = (int)height / 4,
                          .width = MAX ((int)width / 2, 1),
                          .height = MAX ((int)height / 2, 1),
                          .feather = 20 };
  return edit;
}

char *
sb_benchmark_name (const SbBenchmarkBlur *blur)
{
  char radius[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup_printf ("blur radius=%s passes=%u linear=%u%s%s%s",
                          g_ascii_dtostr (radius, sizeof radius, blur->radius), blur->passes,
                          blur->linear ? 1 : 0, blur->mirror ? " edge=mirror" : "",
                          blur->area ? " area" : "",
                          blur->kind == SB_BENCHMARK_ALPHA ? " alpha"
                          : blur->kind == SB_BENCHMARK_16  ? " depth=16"
                                                           : "");
}

SbView
sb_benchmark_view (const SbBenchmarkWindow *window, guint width, guint height)
{
  const double zoom = MIN ((double)window->width / width, (double)window->height / height);

  return (SbView){
    .what = SB_SHOW_RESULT,
    .width = window->width,
    .height = window->height,
    .zoom = zoom,
    .x = width / 2.0 - window->width / 2.0 / zoom,
    .y = height / 2.0 - window->height / 2.0 / zoom,
    .checker_size = 16,
  };
}

/* --- Comparing ------------------------------------------------------------------------------- */

/* A part of an image as one of its own. */
static SbImage *
cut (SbImage *image, const SbRect *rect, GError **error)
{
  const gsize pixel = sb_image_get_depth (image) / 2;
  SbImage *part
      = sb_image_new ((guint)rect->width, (guint)rect->height, sb_image_get_depth (image), error);

  for (int y = 0; part != NULL && y < rect->height; y++)
    memcpy (sb_image_writable (part) + (gsize)y * sb_image_get_stride (part),
            sb_image_get_pixels (image) + (gsize)(rect->y + y) * sb_image_get_stride (image)
                + (gsize)rect->x * pixel,
            (gsize)rect->width * pixel);
  return part;
}

/* Whether a window of the large result is what the reference makes of the piece of picture around
 * it, `reach` pixels wider on each side. The piece ends where the picture does or beyond reach. */
static gboolean
compare_window (const SbBenchmarkOptions *options, SbImage *image, SbImage *result,
                const SbEdit *edit, int x, int y, int reach, SbBenchmarkVerdict *verdict,
                GError **error)
{
  const int width = (int)sb_image_get_width (image), height = (int)sb_image_get_height (image);
  const SbRect window = { x, y, MIN (WINDOW, width - x), MIN (WINDOW, height - y) };
  const int x0 = MAX (x - reach, 0), y0 = MAX (y - reach, 0);
  const SbRect piece = { x0, y0, MIN (x + window.width + reach, width) - x0,
                         MIN (y + window.height + reach, height) - y0 };
  const SbRect inner = { x - x0, y - y0, window.width, window.height };

  if ((gint64)piece.width * piece.height > LARGEST_PIECE)
    return TRUE;
  g_autoptr (SbImage) input = cut (image, &piece, error);
  g_autoptr (SbImage) whole
      = input != NULL ? options->reference (input, edit, options->reference_data, error) : NULL;
  g_autoptr (SbImage) expected = whole != NULL ? cut (whole, &inner, error) : NULL;
  g_autoptr (SbImage) actual = expected != NULL ? cut (result, &window, error) : NULL;
  if (actual == NULL)
    return FALSE;
  if (!sb_image_equal (expected, actual))
    *verdict = SB_BENCHMARK_DIFFERENT;
  return TRUE;
}

gboolean
sb_benchmark_compare (const SbBenchmarkOptions *options, const SbBenchmarkBlur *blur,
                      SbImage *large, SbImage *large_result, SbImage *small, SbImage *small_result,
                      SbBenchmarkVerdict *verdict, GError **error)
{
  const guint width = sb_image_get_width (large), height = sb_image_get_height (large);
  const SbEdit edit = sb_benchmark_edit (blur, width, height);
  const SbEdit small_edit
      = sb_benchmark_edit (blur, sb_image_get_width (small), sb_image_get_height (small));
  const int reach = (int)blur->passes * ((int)blur->radius + 1);
  const int right = MAX ((int)width - WINDOW, 0), bottom = MAX ((int)height - WINDOW, 0);
  const int places[][2]
      = { { 0, 0 },
          { right, bottom },
          { right / 2, bottom / 2 },
          { g_random_int_range (0, right + 1), g_random_int_range (0, bottom + 1) } };

  *verdict = SB_BENCHMARK_NOT_CHECKED;
  if (options->reference == NULL)
    return TRUE;
  *verdict = SB_BENCHMARK_EQUAL;
  /* An area is not where it is in a piece of the picture. */
  for (guint i = 0; i < G_N_ELEMENTS (places) && !blur->area; i++)
    if (*verdict == SB_BENCHMARK_EQUAL
        && !compare_window (options, large, large_result, &edit, places[i][0], places[i][1], reach,
                            verdict, error))
      return FALSE;
  g_autoptr (SbImage) expected
      = options->reference (small, &small_edit, options->reference_data, error);
  if (expected == NULL)
    return FALSE;
  if (!sb_image_equal (expected, small_result))
    *verdict = SB_BENCHMARK_DIFFERENT;
  return TRUE;
}

static int
compare_doubles (const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double
sb_benchmark_median (double *values, guint n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
