/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-benchmark.h"
#include "sb-cpu-blur.h"
#include "sb-cpu-preview.h"
#include "sb-cpu-pyramid.h"
#include "sb-cpu-show.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WIDTH   6000
#define DEFAULT_HEIGHT  4000
#define DEFAULT_REPEATS 9
#define SMALL_WIDTH     131
#define SMALL_HEIGHT    97
#define WINDOW          24
#define LARGEST_PIECE   200000 /* pixels */
#define PREVIEW_LEVEL   2
#define VIEW_WIDTH      1280
#define VIEW_HEIGHT     800

/* A picture and room for what is made of it. */
typedef struct
{
  SbImage *image;
  SbImage *result;
} Subject;

typedef enum
{
  KIND_OPAQUE,
  KIND_ALPHA,
  KIND_16,
  N_KINDS,
} Kind;

typedef struct
{
  const SbBenchmarkOptions *options;
  GCancellable *cancellable;
  guint width, height, repeats;
  const SbTone *tone;
  Subject large[N_KINDS], small[N_KINDS];
  guint8 *copy; /* where the copies go: 8 bytes a pixel */
  SbParallel *parallel;
  SbBlurScratch *scratch;
  SbPyramid pyramid, work;
  guint8 *view;
} Run;

typedef gboolean (*Operation) (Run *run, gconstpointer data, GError **error);

typedef struct
{
  Kind kind;
  double radius;
  guint passes;
  gboolean linear;
} BlurCase;

static const BlurCase blur_cases[] = {
  { KIND_OPAQUE, 14, 1, FALSE },  { KIND_OPAQUE, 14, 3, FALSE },  { KIND_OPAQUE, 64, 1, FALSE },
  { KIND_OPAQUE, 64, 3, FALSE },  { KIND_OPAQUE, 256, 1, FALSE }, { KIND_OPAQUE, 256, 3, FALSE },
  { KIND_OPAQUE, 2.5, 3, FALSE }, { KIND_OPAQUE, 14, 3, TRUE },   { KIND_ALPHA, 14, 3, FALSE },
  { KIND_16, 14, 3, FALSE },
};

/* --- Pictures -------------------------------------------------------------------------------- */

/* Smooth ground, edges and noise, as in a photo; the same in every run. */
static void
fill (SbImage *image, Kind kind)
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
            if (kind == KIND_16)
              p16[i + c] = (guint16)v;
            else
              p8[i + c] = (guint8)(v >> 8);
          }
        const guint alpha = kind != KIND_ALPHA ? 0xffff : edge ? 0 : 0x4000 + (state >> 17);
        if (kind == KIND_16)
          p16[i + 3] = (guint16)alpha;
        else
          p8[i + 3] = (guint8)(alpha >> 8);
      }
}

static gboolean
subject_init (Subject *subject, Kind kind, guint width, guint height, GError **error)
{
  const guint depth = kind == KIND_16 ? 16 : 8;

  subject->image = sb_image_new (width, height, depth, error);
  if (subject->image == NULL)
    return FALSE;
  fill (subject->image, kind);
  subject->result = sb_image_new (width, height, depth, error);
  return subject->result != NULL;
}

static void
subject_clear (Subject *subject)
{
  g_clear_pointer (&subject->image, sb_image_unref);
  g_clear_pointer (&subject->result, sb_image_unref);
}

static SbSource
source_of (SbImage *image)
{
  return (SbSource){
    .format = sb_image_get_depth (image) == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = sb_image_get_width (image),
    .height = sb_image_get_height (image),
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .opaque = sb_image_is_opaque (image),
  };
}

static SbEdit
edit_of (const BlurCase *blur)
{
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BLUR);
  edit.values[SB_BLUR_RADIUS] = blur->radius;
  edit.values[SB_BLUR_PASSES] = blur->passes;
  edit.values[SB_BLUR_LINEAR] = blur->linear;
  return edit;
}

/* --- Operations ------------------------------------------------------------------------------ */

static gboolean
blur (Run *run, Subject *subject, const SbEdit *edit, GError **error)
{
  const SbSource source = source_of (subject->image);
  const SbTarget target = {
    .format = source.format,
    .rect = { 0, 0, (int)source.width, (int)source.height },
    .pixels = sb_image_writable (subject->result),
    .stride = source.stride,
  };

  return sb_cpu_blur (&source, edit, run->tone, &target, run->parallel, run->scratch,
                      run->cancellable, error);
}

static gboolean
operate_blur (Run *run, gconstpointer data, GError **error)
{
  const BlurCase *one = data;
  const SbEdit edit = edit_of (one);

  return blur (run, &run->large[one->kind], &edit, error);
}

static gboolean
operate_preview (Run *run, gconstpointer data, GError **error)
{
  const SbSource picture = source_of (run->large[KIND_OPAQUE].image);
  const SbEdit edit = edit_of (data);
  SbEdit scaled;
  SbSource source;

  sb_preview_scale (&edit, 1, PREVIEW_LEVEL, &scaled);
  if (!sb_pyramid_get_work (&run->work, &picture, edit.values[SB_BLUR_LINEAR] ? run->tone : NULL,
                            PREVIEW_LEVEL, &source, run->parallel, run->cancellable, error))
    return FALSE;
  const SbTarget target = {
    .format = SB_PIXELS_8,
    .rect = { 0, 0, (int)source.width, (int)source.height },
    .pixels = run->copy,
    .stride = 4 * (gsize)source.width,
  };
  return sb_cpu_blur (&source, &scaled, run->tone, &target, run->parallel, run->scratch,
                      run->cancellable, error);
}

static gboolean
operate_pyramid (Run *run, gconstpointer data, GError **error)
{
  const SbSource picture = source_of (run->large[KIND_OPAQUE].image);

  return sb_pyramid_build (&run->pyramid, &picture, run->parallel, run->cancellable, error);
}

/* The whole picture in a window, as when it was just opened. */
static gboolean
operate_show (Run *run, gconstpointer data, GError **error)
{
  const double zoom = MIN ((double)VIEW_WIDTH / run->width, (double)VIEW_HEIGHT / run->height);
  const SbView view = {
    .what = SB_SHOW_RESULT,
    .width = VIEW_WIDTH,
    .height = VIEW_HEIGHT,
    .zoom = zoom,
    .x = run->width / 2.0 - VIEW_WIDTH / 2.0 / zoom,
    .y = run->height / 2.0 - VIEW_HEIGHT / 2.0 / zoom,
    .checker_size = 16,
  };
  SbShowSource source = {
    .width = run->width,
    .height = run->height,
    .level = MIN (sb_engine_level_for_zoom (zoom), run->pyramid.n_levels),
    .alpha = SB_ALPHA_OPAQUE,
  };

  if (source.level == 0)
    {
      SbImage *image = run->large[KIND_OPAQUE].image;
      source.depth = 8;
      source.rect = (SbRect){ 0, 0, (int)run->width, (int)run->height };
      source.pixels = sb_image_get_pixels (image);
      source.stride = sb_image_get_stride (image);
    }
  else
    {
      const SbLevel *level = &run->pyramid.levels[source.level];
      source.depth = level->depth;
      source.rect = (SbRect){ 0, 0, (int)level->width, (int)level->height };
      source.pixels = level->pixels;
      source.stride = level->stride;
    }
  return sb_cpu_show (&view, &source, 1, run->view, 4 * VIEW_WIDTH, run->parallel, error);
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
compare_window (Run *run, const Subject *subject, const SbEdit *edit, int x, int y, int reach,
                SbBenchmarkVerdict *verdict, GError **error)
{
  const SbRect window
      = { x, y, MIN (WINDOW, (int)run->width - x), MIN (WINDOW, (int)run->height - y) };
  const int x0 = MAX (x - reach, 0), y0 = MAX (y - reach, 0);
  const SbRect piece = { x0, y0, MIN (x + window.width + reach, (int)run->width) - x0,
                         MIN (y + window.height + reach, (int)run->height) - y0 };
  const SbRect inner = { x - x0, y - y0, window.width, window.height };

  if ((gint64)piece.width * piece.height > LARGEST_PIECE)
    return TRUE;
  g_autoptr (SbImage) input = cut (subject->image, &piece, error);
  g_autoptr (SbImage) whole
      = input != NULL ? run->options->reference (input, edit, run->options->reference_data, error)
                      : NULL;
  g_autoptr (SbImage) expected = whole != NULL ? cut (whole, &inner, error) : NULL;
  g_autoptr (SbImage) actual = expected != NULL ? cut (subject->result, &window, error) : NULL;
  if (actual == NULL)
    return FALSE;
  if (!sb_image_equal (expected, actual))
    *verdict = SB_BENCHMARK_DIFFERENT;
  return TRUE;
}

static gboolean
compare_blur (Run *run, const BlurCase *one, SbBenchmarkVerdict *verdict, GError **error)
{
  const SbEdit edit = edit_of (one);
  const int reach = (int)one->passes * ((int)one->radius + 1);
  Subject *small = &run->small[one->kind];
  const Subject *large = &run->large[one->kind];
  const int right = MAX ((int)run->width - WINDOW, 0), bottom = MAX ((int)run->height - WINDOW, 0);
  const int places[][2]
      = { { 0, 0 },
          { right, bottom },
          { right / 2, bottom / 2 },
          { g_random_int_range (0, right + 1), g_random_int_range (0, bottom + 1) } };

  *verdict = SB_BENCHMARK_NOT_CHECKED;
  if (run->options->reference == NULL)
    return TRUE;
  *verdict = SB_BENCHMARK_EQUAL;
  /* The large result is that of the last repeat. */
  for (guint i = 0; i < G_N_ELEMENTS (places) && *verdict == SB_BENCHMARK_EQUAL; i++)
    if (!compare_window (run, large, &edit, places[i][0], places[i][1], reach, verdict, error))
      return FALSE;
  g_autoptr (SbImage) expected
      = run->options->reference (small->image, &edit, run->options->reference_data, error);
  if (expected == NULL || !blur (run, small, &edit, error))
    return FALSE;
  if (!sb_image_equal (expected, small->result))
    *verdict = SB_BENCHMARK_DIFFERENT;
  return TRUE;
}

/* --- Measuring ------------------------------------------------------------------------------- */

static int
compare_doubles (const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double
median (double *values, guint n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double
now_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static gboolean
measure (Run *run, Operation operation, gconstpointer data, Kind kind, SbBenchmarkRow *row,
         GError **error)
{
  g_autofree double *times = g_new (double, run->repeats);
  g_autofree double *copies = g_new (double, run->repeats);
  SbImage *image = run->large[kind].image;

  /* Once for the caches, the tables and the memory. */
  if (!operation (run, data, error))
    return FALSE;
  for (guint i = 0; i < run->repeats; i++)
    {
      const double begin = now_ms ();
      memcpy (run->copy, sb_image_get_pixels (image), sb_image_get_bytes (image));
      const double middle = now_ms ();
      if (!operation (run, data, error))
        return FALSE;
      copies[i] = middle - begin;
      times[i] = now_ms () - middle;
      if (g_cancellable_set_error_if_cancelled (run->cancellable, error))
        return FALSE;
    }
  row->ms = median (times, run->repeats);
  row->copy_ms = median (copies, run->repeats);
  row->ratio = row->ms / row->copy_ms;
  row->megapixels_per_second = (double)run->width * run->height / 1e3 / row->ms;
  return TRUE;
}

static gboolean
report (Run *run, Operation operation, gconstpointer data, const char *name, Kind kind,
        GError **error)
{
  SbBenchmarkRow row = { .operation = name,
                         .device = "cpu",
                         .threads = sb_parallel_get_n_threads (run->parallel),
                         .width = run->width,
                         .height = run->height };

  if (!measure (run, operation, data, kind, &row, error))
    return FALSE;
  if (operation == operate_blur && !compare_blur (run, data, &row.equal, error))
    return FALSE;
  run->options->row (&row, run->options->row_data);
  return TRUE;
}

static gboolean
run_threads (Run *run, guint threads, GError **error)
{
  static const BlurCase previews[]
      = { { KIND_OPAQUE, 14, 3, FALSE }, { KIND_OPAQUE, 14, 3, TRUE } };
  gboolean done = TRUE;

  run->parallel = sb_parallel_new (threads);
  for (guint i = 0; done && i < G_N_ELEMENTS (blur_cases); i++)
    {
      const BlurCase *one = &blur_cases[i];
      char radius[G_ASCII_DTOSTR_BUF_SIZE];
      g_autofree char *name = g_strdup_printf ("blur radius=%s passes=%u linear=%u%s",
                                               g_ascii_dtostr (radius, sizeof radius, one->radius),
                                               one->passes, one->linear ? 1 : 0,
                                               one->kind == KIND_ALPHA ? " alpha"
                                               : one->kind == KIND_16  ? " depth=16"
                                                                       : "");
      done = report (run, operate_blur, one, name, one->kind, error);
    }
  done = done && report (run, operate_pyramid, NULL, "pyramid", KIND_OPAQUE, error);
  for (guint i = 0; done && i < G_N_ELEMENTS (previews); i++)
    {
      g_autofree char *name
          = g_strdup_printf ("preview level=%d radius=14 passes=3 linear=%u", PREVIEW_LEVEL, i);
      sb_pyramid_invalidate (&run->work); /* of the other space */
      done = report (run, operate_preview, &previews[i], name, KIND_OPAQUE, error);
    }
  g_autofree char *show = g_strdup_printf ("show fitted %dx%d", VIEW_WIDTH, VIEW_HEIGHT);
  done = done && report (run, operate_show, NULL, show, KIND_OPAQUE, error);
  g_clear_pointer (&run->parallel, sb_parallel_free);
  return done;
}

gboolean
sb_benchmark_run (const SbBenchmarkOptions *options, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (options != NULL && options->row != NULL, FALSE);

  Run run = { .options = options,
              .cancellable = cancellable,
              .width = options->width > 0 ? options->width : DEFAULT_WIDTH,
              .height = options->height > 0 ? options->height : DEFAULT_HEIGHT,
              .repeats = options->repeats > 0 ? options->repeats : DEFAULT_REPEATS };
  const gsize copy_bytes = (gsize)run.width * run.height * 8;
  const gsize view_bytes = (gsize)VIEW_WIDTH * VIEW_HEIGHT * 4;
  gboolean done = TRUE;

  run.tone = sb_tone_new (NULL);
  run.scratch = sb_blur_scratch_new ();
  for (guint k = 0; done && k < N_KINDS; k++)
    done = subject_init (&run.large[k], k, run.width, run.height, error)
           && subject_init (&run.small[k], k, SMALL_WIDTH, SMALL_HEIGHT, error);
  if (done)
    {
      run.copy = sb_memory_alloc (copy_bytes);
      run.view = sb_memory_alloc (view_bytes);
      done = run.copy != NULL && run.view != NULL;
      if (!done)
        g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                     _ ("There is not enough memory to measure with a picture of this size"));
    }

  const guint all = options->threads > 0 ? options->threads : g_get_num_processors ();
  if (done && options->threads == 0 && all > 1)
    done = run_threads (&run, 1, error);
  done = done && run_threads (&run, all, error);

  for (guint k = 0; k < N_KINDS; k++)
    {
      subject_clear (&run.large[k]);
      subject_clear (&run.small[k]);
    }
  sb_memory_free (run.copy, copy_bytes);
  sb_memory_free (run.view, view_bytes);
  sb_pyramid_clear (&run.pyramid);
  sb_pyramid_clear (&run.work);
  sb_blur_scratch_free (run.scratch);
  sb_tone_unref (run.tone);
  return done;
}
