/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-backend.h"
#include "sb-benchmark-private.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>

/* The same operations on a device. Its clock rises under load only: an operation runs for so long
 * before it is timed. */
#define WARM_US (60 * 1000)

typedef struct
{
  const SbBenchmarkOptions *options;
  GCancellable *cancellable;
  guint width, height, repeats;
  const SbBackendClass *class;
  SbBackend *backend;
  const SbTone *tone;
  guint8 *view;
} Run;

/* What is timed: an edit; a show where `window` is set; a transform where `choice` is, or a show of
 * its mosaic where both are. */
typedef struct
{
  SbEdit edit;
  const SbBenchmarkWindow *window;
  const SbHaarChoice *choice;
} Operation;

#define HAAR_LEVELS 5

static gboolean
load (Run *run, SbImage *image, GError **error)
{
  const SbPicture picture = {
    .width = sb_image_get_width (image),
    .height = sb_image_get_height (image),
    .depth = sb_image_get_depth (image),
    .opaque = sb_image_is_opaque (image),
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .tone = run->tone,
    .image = image,
  };

  return run->class->load (run->backend, &picture, error);
}

static gboolean
operate (Run *run, const Operation *operation, GError **error)
{
  if (operation->window != NULL)
    {
      SbView view = sb_benchmark_view (operation->window, run->width, run->height);
      if (operation->choice != NULL)
        {
          view.what = SB_SHOW_SUBBANDS;
          view.look.gain = 1;
        }
      return run->class->show_host (run->backend, &view, run->view, 4 * (gsize)view.width, error);
    }
  if (operation->choice != NULL)
    return run->class->set_subbands (run->backend, operation->choice, run->cancellable, error);
  return run->class->render (run->backend, SB_START_ORIGINAL, &operation->edit, 1, SB_QUALITY_EXACT,
                             run->cancellable, error);
}

static gboolean
measure (Run *run, const Operation *operation, SbBenchmarkRow *row, GError **error)
{
  g_autofree double *times = g_new (double, run->repeats);
  const gint64 begin = g_get_monotonic_time ();

  do
    if (!operate (run, operation, error))
      return FALSE;
  while (g_get_monotonic_time () < begin + WARM_US);
  for (guint i = 0; i < run->repeats; i++)
    {
      if (g_cancellable_set_error_if_cancelled (run->cancellable, error)
          || !operate (run, operation, error))
        return FALSE;
      if (!run->class->get_device_ms (run->backend, &times[i]))
        {
          g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_LOST, _ ("The device gives no times"));
          return FALSE;
        }
    }
  if (!run->class->measure_copy (run->backend, &row->copy_ms, error))
    return FALSE;
  row->ms = sb_benchmark_median (times, run->repeats);
  row->ratio = row->ms / row->copy_ms;
  row->megapixels_per_second = (double)run->width * run->height / 1e3 / row->ms;
  return TRUE;
}

static SbImage *
read_result (Run *run, SbImage *image, GError **error)
{
  g_autoptr (SbImage) result = sb_image_new (
      sb_image_get_width (image), sb_image_get_height (image), sb_image_get_depth (image), error);

  if (result == NULL || !run->class->read_result (run->backend, sb_image_writable (result), error))
    return NULL;
  return g_steal_pointer (&result);
}

/* The result of the last repeat, and that of the same blur over a small picture. */
static gboolean
compare (Run *run, const SbBenchmarkBlur *blur, SbImage *large, SbBenchmarkVerdict *verdict,
         GError **error)
{
  const guint width = SB_BENCHMARK_SMALL_WIDTH, height = SB_BENCHMARK_SMALL_HEIGHT;
  const SbEdit edit = sb_benchmark_edit (blur, width, height);
  g_autoptr (SbImage) large_result = read_result (run, large, error);
  g_autoptr (SbImage) small
      = large_result != NULL ? sb_benchmark_image (blur->kind, width, height, error) : NULL;

  if (small == NULL || !load (run, small, error)
      || !run->class->render (run->backend, SB_START_ORIGINAL, &edit, 1, SB_QUALITY_EXACT,
                              run->cancellable, error))
    return FALSE;
  g_autoptr (SbImage) small_result = read_result (run, small, error);
  return small_result != NULL
         && sb_benchmark_compare (run->options, blur, large, large_result, small, small_result,
                                  verdict, error);
}

static gboolean
run_blurs (Run *run, SbBenchmarkRow *row, SbBenchmarkKind kind, GError **error)
{
  g_autoptr (SbImage) image = sb_benchmark_image (kind, run->width, run->height, error);

  if (image == NULL)
    return FALSE;
  for (guint i = 0; i < sb_benchmark_n_blurs; i++)
    {
      const SbBenchmarkBlur *blur = &sb_benchmark_blurs[i];
      if (blur->kind != kind)
        continue;
      const Operation operation = { .edit = sb_benchmark_edit (blur, run->width, run->height) };
      g_autofree char *name = sb_benchmark_name (blur);
      if (!load (run, image, error) || !measure (run, &operation, row, error)
          || !compare (run, blur, image, &row->equal, error))
        return FALSE;
      row->operation = name;
      run->options->row (row, run->options->row_data);
    }
  return TRUE;
}

/* The result over a small picture against the reference. */
static gboolean
compare_bands (Run *run, const SbBenchmarkBands *bands, const SbEdit *edit,
               SbBenchmarkVerdict *verdict, GError **error)
{
  *verdict = SB_BENCHMARK_NOT_CHECKED;
  if (run->options->reference == NULL)
    return TRUE;
  g_autoptr (SbImage) small = sb_benchmark_image (bands->kind, SB_BENCHMARK_SMALL_WIDTH,
                                                  SB_BENCHMARK_SMALL_HEIGHT, error);
  if (small == NULL || !load (run, small, error)
      || !run->class->render (run->backend, SB_START_ORIGINAL, edit, 1, SB_QUALITY_EXACT,
                              run->cancellable, error))
    return FALSE;
  g_autoptr (SbImage) result = read_result (run, small, error);
  g_autoptr (SbImage) expected
      = result != NULL ? run->options->reference (small, edit, run->options->reference_data, error)
                       : NULL;
  if (expected == NULL)
    return FALSE;
  *verdict = sb_image_equal (expected, result) ? SB_BENCHMARK_EQUAL : SB_BENCHMARK_DIFFERENT;
  return TRUE;
}

static gboolean
run_bands (Run *run, SbBenchmarkRow *row, GError **error)
{
  for (guint i = 0; i < sb_benchmark_n_bands; i++)
    {
      const SbBenchmarkBands *bands = &sb_benchmark_bands[i];
      g_autoptr (SbImage) image = sb_benchmark_image (bands->kind, run->width, run->height, error);
      Operation operation = { 0 };
      if (image == NULL || !sb_edit_parse (bands->text, &operation.edit, error)
          || !load (run, image, error) || !measure (run, &operation, row, error)
          || !compare_bands (run, bands, &operation.edit, &row->equal, error))
        return FALSE;
      g_autofree char *name = g_strconcat (bands->text,
                                           bands->kind == SB_BENCHMARK_ALPHA ? " alpha"
                                           : bands->kind == SB_BENCHMARK_16  ? " depth=16"
                                                                             : "",
                                           NULL);
      row->operation = g_strdelimit (name, ":,", ' ');
      run->options->row (row, run->options->row_data);
    }
  return TRUE;
}

/* One operation on the picture that is loaded, unchecked. */
static gboolean
run_unchecked (Run *run, SbBenchmarkRow *row, const Operation *operation, const char *name,
               GError **error)
{
  if (!measure (run, operation, row, error))
    return FALSE;
  row->operation = name;
  row->equal = SB_BENCHMARK_NOT_CHECKED;
  run->options->row (row, run->options->row_data);
  return TRUE;
}

static gboolean
run_subbands (Run *run, SbBenchmarkRow *row, GError **error)
{
  static const SbHaarChannel channels[] = { SB_HAAR_LIGHTNESS, SB_HAAR_LUMA, SB_HAAR_RED };
  const SbBenchmarkWindow *window = &sb_benchmark_windows[1];
  const gsize bytes = (gsize)window->width * (gsize)window->height * 4;
  g_autoptr (SbImage) image
      = sb_benchmark_image (SB_BENCHMARK_OPAQUE, run->width, run->height, error);
  gboolean done = image != NULL && load (run, image, error);

  if (run->class->set_subbands == NULL)
    return done;
  for (guint i = 0; done && i < G_N_ELEMENTS (channels); i++)
    {
      const SbHaarChoice choice = { channels[i], HAAR_LEVELS };
      const Operation operation = { .choice = &choice };
      g_autofree char *name = g_strdup_printf ("haar levels=%d channel=%s", HAAR_LEVELS,
                                               sb_haar_channel_key (channels[i]));
      done = run_unchecked (run, row, &operation, name, error);
    }
  if (!done)
    return FALSE;
  run->view = sb_memory_alloc (bytes);
  if (run->view == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory to measure with a picture of this size"));
      return FALSE;
    }
  const SbHaarChoice choice = { SB_HAAR_RED, HAAR_LEVELS };
  const Operation operation = { .choice = &choice, .window = window };
  g_autofree char *name = g_strdup_printf ("subbands fitted %dx%d", window->width, window->height);
  done = run_unchecked (run, row, &operation, name, error);
  sb_memory_free (run->view, bytes);
  return done;
}

static gboolean
run_shows (Run *run, SbBenchmarkRow *row, GError **error)
{
  g_autoptr (SbImage) image
      = sb_benchmark_image (SB_BENCHMARK_OPAQUE, run->width, run->height, error);

  if (image == NULL || !load (run, image, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (sb_benchmark_windows); i++)
    {
      const SbBenchmarkWindow *window = &sb_benchmark_windows[i];
      const Operation operation = { .window = window };
      g_autofree char *name = g_strdup_printf ("show fitted %dx%d", window->width, window->height);
      const gsize bytes = (gsize)window->width * (gsize)window->height * 4;
      run->view = sb_memory_alloc (bytes);
      if (run->view == NULL)
        {
          g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("There is not enough memory to measure with a picture of this size"));
          return FALSE;
        }
      const gboolean done = run_unchecked (run, row, &operation, name, error);
      sb_memory_free (run->view, bytes);
      if (!done)
        return FALSE;
    }
  return TRUE;
}

gboolean
sb_benchmark_run_device (const SbBenchmarkOptions *options, guint width, guint height,
                         guint repeats, GCancellable *cancellable, GError **error)
{
  Run run = { .options = options,
              .cancellable = cancellable,
              .width = width,
              .height = height,
              .repeats = repeats,
              .class = sb_module_get_cuda (error) };
  SbBenchmarkRow row = { .width = width, .height = height };
  gboolean done = FALSE;

  if (run.class == NULL)
    return FALSE;
  row.device = run.class->kind;
  if (run.class->measure_copy == NULL || run.class->get_device_ms == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("The device gives no times"));
      return FALSE;
    }
  run.backend = run.class->open (&options->device, error);
  if (run.backend == NULL)
    return FALSE;
  run.tone = sb_tone_new (NULL);
  done = run_blurs (&run, &row, SB_BENCHMARK_OPAQUE, error)
         && run_blurs (&run, &row, SB_BENCHMARK_ALPHA, error)
         && run_blurs (&run, &row, SB_BENCHMARK_16, error) && run_bands (&run, &row, error)
         && run_subbands (&run, &row, error) && run_shows (&run, &row, error);
  run.class->close (run.backend);
  sb_tone_unref (run.tone);
  return done;
}
