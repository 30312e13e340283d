/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-benchmark-private.h"
#include "sb-cpu-bands.h"
#include "sb-cpu-blur.h"
#include "sb-cpu-haar.h"
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
#define PREVIEW_LEVEL   2
#define HAAR_LEVELS     5

/* A picture and room for what is made of it. */
typedef struct
{
  SbImage *image;
  SbImage *result;
} Subject;

typedef struct
{
  const SbBenchmarkOptions *options;
  GCancellable *cancellable;
  guint width, height, repeats;
  const SbTone *tone;
  Subject large[SB_BENCHMARK_N_KINDS], small[SB_BENCHMARK_N_KINDS];
  guint8 *copy; /* where the copies go: 8 bytes a pixel */
  SbParallel *parallel;
  SbBlurScratch *scratch;
  SbPyramid pyramid, work;
  SbCpuHaar *haar;
  guint8 *view;
} Run;

static const SbHaarChannel haar_channels[] = { SB_HAAR_LIGHTNESS, SB_HAAR_LUMA, SB_HAAR_RED };

typedef gboolean (*Operation) (Run *run, gconstpointer data, GError **error);

/* --- Pictures -------------------------------------------------------------------------------- */

static gboolean
subject_init (Subject *subject, SbBenchmarkKind kind, guint width, guint height, GError **error)
{
  subject->image = sb_benchmark_image (kind, width, height, error);
  if (subject->image == NULL)
    return FALSE;
  subject->result = sb_image_new (width, height, sb_image_get_depth (subject->image), error);
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
  const SbBenchmarkBlur *one = data;
  const SbEdit edit = sb_benchmark_edit (one, run->width, run->height);

  return blur (run, &run->large[one->kind], &edit, error);
}

static gboolean
operate_preview (Run *run, gconstpointer data, GError **error)
{
  const SbSource picture = source_of (run->large[SB_BENCHMARK_OPAQUE].image);
  const SbEdit edit = sb_benchmark_edit (data, run->width, run->height);
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
  const SbSource picture = source_of (run->large[SB_BENCHMARK_OPAQUE].image);

  return sb_pyramid_build (&run->pyramid, &picture, run->parallel, run->cancellable, error);
}

static gboolean
operate_show (Run *run, gconstpointer data, GError **error)
{
  const SbView view = sb_benchmark_view (data, run->width, run->height);
  SbShowSource source = {
    .width = run->width,
    .height = run->height,
    .level = MIN (sb_engine_level_for_zoom (view.zoom), run->pyramid.n_levels),
    .alpha = SB_ALPHA_OPAQUE,
  };

  if (source.level == 0)
    {
      SbImage *image = run->large[SB_BENCHMARK_OPAQUE].image;
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
  return sb_cpu_show (&view, &source, 1, run->view, 4 * (gsize)view.width, run->parallel, error);
}

static gboolean
compare_blur (Run *run, const SbBenchmarkBlur *one, SbBenchmarkVerdict *verdict, GError **error)
{
  Subject *small = &run->small[one->kind];
  const Subject *large = &run->large[one->kind];
  const SbEdit edit = sb_benchmark_edit (one, SB_BENCHMARK_SMALL_WIDTH, SB_BENCHMARK_SMALL_HEIGHT);

  /* The large result is that of the last repeat. */
  return blur (run, small, &edit, error)
         && sb_benchmark_compare (run->options, one, large->image, large->result, small->image,
                                  small->result, verdict, error);
}

/* --- Bands ----------------------------------------------------------------------------------- */

static gboolean
bands (Run *run, const SbBenchmarkBands *one, Subject *subject, SbEdit *edit, GError **error)
{
  const SbSource source = source_of (subject->image);
  const SbTarget target = {
    .format = source.format,
    .rect = { 0, 0, (int)source.width, (int)source.height },
    .pixels = sb_image_writable (subject->result),
    .stride = source.stride,
  };

  return sb_edit_parse (one->text, edit, error)
         && sb_cpu_bands (&source, edit, &target, run->parallel, run->cancellable, error);
}

static gboolean
operate_bands (Run *run, gconstpointer data, GError **error)
{
  const SbBenchmarkBands *one = data;
  SbEdit edit;

  return bands (run, one, &run->large[one->kind], &edit, error);
}

/* On the small picture alone. */
static gboolean
compare_bands (Run *run, const SbBenchmarkBands *one, SbBenchmarkVerdict *verdict, GError **error)
{
  Subject *small = &run->small[one->kind];
  SbEdit edit;

  *verdict = SB_BENCHMARK_NOT_CHECKED;
  if (run->options->reference == NULL)
    return TRUE;
  if (!bands (run, one, small, &edit, error))
    return FALSE;
  g_autoptr (SbImage) expected
      = run->options->reference (small->image, &edit, run->options->reference_data, error);
  if (expected == NULL)
    return FALSE;
  *verdict = sb_image_equal (expected, small->result) ? SB_BENCHMARK_EQUAL : SB_BENCHMARK_DIFFERENT;
  return TRUE;
}

static gboolean
operate_haar (Run *run, gconstpointer data, GError **error)
{
  const SbHaarChoice choice = { *(const SbHaarChannel *)data, HAAR_LEVELS };
  const SbSource source = source_of (run->large[SB_BENCHMARK_OPAQUE].image);

  if (!sb_cpu_haar_fits (run->haar, run->width, run->height, 8, &choice))
    {
      sb_cpu_haar_unref (run->haar);
      run->haar = sb_cpu_haar_new (run->width, run->height, 8, &choice, error);
      if (run->haar == NULL)
        return FALSE;
    }
  return sb_cpu_haar_transform (run->haar, &source, run->parallel, run->cancellable, error);
}

/* The whole mosaic, reduced to a window. */
static gboolean
operate_haar_show (Run *run, gconstpointer data, GError **error)
{
  const SbBenchmarkWindow window = { 640, 700 };
  SbView view = sb_benchmark_view (&window, run->width, run->height);

  view.what = SB_SHOW_SUBBANDS;
  view.look.gain = 1;
  return sb_cpu_haar_show (&view, &run->haar->set, run->view, 4 * (gsize)view.width, run->parallel,
                           error);
}

/* Every band. */
static gboolean
operate_haar_measure (Run *run, gconstpointer data, GError **error)
{
  const SbHaarBands *set = &run->haar->set;
  SbHaarTotals totals[1 + 3 * HAAR_LEVELS];
  const double total = sb_haar_bands_totals (set, totals, run->parallel, run->cancellable);
  double noise;

  for (guint n = 0; n < sb_haar_n_bands (HAAR_LEVELS); n++)
    {
      SbHaarStatistics statistics;
      sb_haar_plane_measure (&set->planes[n], sb_haar_nth_band (HAAR_LEVELS, n).level, &totals[n],
                             total, &statistics, run->parallel, run->cancellable);
    }
  const guint finest = sb_haar_band_index (HAAR_LEVELS, (SbHaarBand){ 1, SB_HAAR_D });
  return sb_haar_plane_noise (&set->planes[finest], &totals[finest], &noise, run->parallel,
                              run->cancellable);
}

/* --- Measuring ------------------------------------------------------------------------------- */

static double
now_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static gboolean
measure (Run *run, Operation operation, gconstpointer data, SbBenchmarkKind kind,
         SbBenchmarkRow *row, GError **error)
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
  row->ms = sb_benchmark_median (times, run->repeats);
  row->copy_ms = sb_benchmark_median (copies, run->repeats);
  row->ratio = row->ms / row->copy_ms;
  row->megapixels_per_second = (double)run->width * run->height / 1e3 / row->ms;
  return TRUE;
}

static gboolean
report (Run *run, Operation operation, gconstpointer data, const char *name, SbBenchmarkKind kind,
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
  if (operation == operate_bands && !compare_bands (run, data, &row.equal, error))
    return FALSE;
  run->options->row (&row, run->options->row_data);
  return TRUE;
}

static gboolean
run_bands (Run *run, GError **error)
{
  gboolean done = TRUE;

  for (guint i = 0; done && i < sb_benchmark_n_bands; i++)
    {
      const SbBenchmarkBands *one = &sb_benchmark_bands[i];
      g_autofree char *name = g_strdup_printf ("%s%s", one->text,
                                               one->kind == SB_BENCHMARK_ALPHA ? " alpha"
                                               : one->kind == SB_BENCHMARK_16  ? " depth=16"
                                                                               : "");
      done = report (run, operate_bands, one, g_strdelimit (name, ":,", ' '), one->kind, error);
    }
  for (guint i = 0; done && i < G_N_ELEMENTS (haar_channels); i++)
    {
      g_autofree char *name = g_strdup_printf ("haar levels=%d channel=%s", HAAR_LEVELS,
                                               sb_haar_channel_key (haar_channels[i]));
      done = report (run, operate_haar, &haar_channels[i], name, SB_BENCHMARK_OPAQUE, error);
    }
  return done
         && report (run, operate_haar_show, NULL, "subbands fitted 640x700", SB_BENCHMARK_OPAQUE,
                    error)
         && report (run, operate_haar_measure, NULL, "subbands measured", SB_BENCHMARK_OPAQUE,
                    error);
}

static gboolean
run_threads (Run *run, guint threads, GError **error)
{
  static const SbBenchmarkBlur previews[] = { { SB_BENCHMARK_OPAQUE, 14, 3, FALSE, FALSE, FALSE },
                                              { SB_BENCHMARK_OPAQUE, 14, 3, TRUE, FALSE, FALSE } };
  gboolean done = TRUE;

  run->parallel = sb_parallel_new (threads);
  for (guint i = 0; done && i < sb_benchmark_n_blurs; i++)
    {
      const SbBenchmarkBlur *one = &sb_benchmark_blurs[i];
      g_autofree char *name = sb_benchmark_name (one);
      done = report (run, operate_blur, one, name, one->kind, error);
    }
  done = done && report (run, operate_pyramid, NULL, "pyramid", SB_BENCHMARK_OPAQUE, error);
  for (guint i = 0; done && i < G_N_ELEMENTS (previews); i++)
    {
      g_autofree char *name
          = g_strdup_printf ("preview level=%d radius=14 passes=3 linear=%u", PREVIEW_LEVEL, i);
      sb_pyramid_invalidate (&run->work); /* of the other space */
      done = report (run, operate_preview, &previews[i], name, SB_BENCHMARK_OPAQUE, error);
    }
  for (guint i = 0; done && i < G_N_ELEMENTS (sb_benchmark_windows); i++)
    {
      const SbBenchmarkWindow *window = &sb_benchmark_windows[i];
      g_autofree char *name = g_strdup_printf ("show fitted %dx%d", window->width, window->height);
      done = report (run, operate_show, window, name, SB_BENCHMARK_OPAQUE, error);
    }
  done = done && run_bands (run, error);
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
  gsize view_bytes = 0;
  gboolean done = TRUE;

  if (options->device.kind == SB_DEVICE_CUDA)
    return sb_benchmark_run_device (options, run.width, run.height, run.repeats, cancellable,
                                    error);
  for (guint i = 0; i < G_N_ELEMENTS (sb_benchmark_windows); i++)
    view_bytes = MAX (view_bytes, (gsize)sb_benchmark_windows[i].width
                                      * (gsize)sb_benchmark_windows[i].height * 4);
  run.tone = sb_tone_new (NULL);
  run.scratch = sb_blur_scratch_new ();
  for (guint k = 0; done && k < SB_BENCHMARK_N_KINDS; k++)
    done = subject_init (&run.large[k], k, run.width, run.height, error)
           && subject_init (&run.small[k], k, SB_BENCHMARK_SMALL_WIDTH, SB_BENCHMARK_SMALL_HEIGHT,
                            error);
  if (done)
    {
      run.copy = sb_memory_alloc (copy_bytes);
      run.view = sb_memory_alloc (view_bytes);
      done = run.copy != NULL && run.view != NULL;
      if (!done)
        g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                     _ ("There is not enough memory to measure with a picture of this size"));
    }

  const guint all = options->device.threads > 0 ? options->device.threads : g_get_num_processors ();
  if (done && options->device.threads == 0 && all > 1)
    done = run_threads (&run, 1, error);
  done = done && run_threads (&run, all, error);

  for (guint k = 0; k < SB_BENCHMARK_N_KINDS; k++)
    {
      subject_clear (&run.large[k]);
      subject_clear (&run.small[k]);
    }
  sb_cpu_haar_unref (run.haar);
  sb_memory_free (run.copy, copy_bytes);
  sb_memory_free (run.view, view_bytes);
  sb_pyramid_clear (&run.pyramid);
  sb_pyramid_clear (&run.work);
  sb_blur_scratch_free (run.scratch);
  sb_tone_unref (run.tone);
  return done;
}
