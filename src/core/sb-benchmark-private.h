/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-benchmark.h"

G_BEGIN_DECLS

/* What the benchmarks of the CPU and of devices share: pictures, cases, comparing. */

/* Of the picture that small results are compared on. */
#define SB_BENCHMARK_SMALL_WIDTH  131
#define SB_BENCHMARK_SMALL_HEIGHT 97

typedef enum
{
  SB_BENCHMARK_OPAQUE,
  SB_BENCHMARK_ALPHA,
  SB_BENCHMARK_16,
  SB_BENCHMARK_N_KINDS,
} SbBenchmarkKind;

typedef struct
{
  SbBenchmarkKind kind;
  double radius;
  guint passes;
  gboolean linear, mirror;
  gboolean area; /* an ellipse with a soft rim, half as wide and high as the picture */
} SbBenchmarkBlur;

extern const SbBenchmarkBlur sb_benchmark_blurs[];
extern const guint sb_benchmark_n_blurs;

/* An edit of bands, by its text. */
typedef struct
{
  SbBenchmarkKind kind;
  const char *text;
} SbBenchmarkBands;

extern const SbBenchmarkBands sb_benchmark_bands[];
extern const guint sb_benchmark_n_bands;

/* Windows that the whole picture is shown in. */
typedef struct
{
  int width, height;
} SbBenchmarkWindow;

extern const SbBenchmarkWindow sb_benchmark_windows[2];

/* Smooth ground, edges and noise, as in a photo; the same in every run. */
SbImage *sb_benchmark_image (SbBenchmarkKind kind, guint width, guint height, GError **error);
SbEdit sb_benchmark_edit (const SbBenchmarkBlur *blur, guint width, guint height);
char *sb_benchmark_name (const SbBenchmarkBlur *blur);
/* The whole of a width x height picture in the window, as when it was just opened. */
SbView sb_benchmark_view (const SbBenchmarkWindow *window, guint width, guint height);

/* The results of a blur over a large picture (at some places) and over a small one against the
 * reference, as sb-benchmark.h says. */
gboolean sb_benchmark_compare (const SbBenchmarkOptions *options, const SbBenchmarkBlur *blur,
                               SbImage *large, SbImage *large_result, SbImage *small,
                               SbImage *small_result, SbBenchmarkVerdict *verdict, GError **error);

/* Sorts them. */
double sb_benchmark_median (double *values, guint n);

/* sb-benchmark-device.c: blurs, bands, subbands and shows on the device that options->device names.
 */
gboolean sb_benchmark_run_device (const SbBenchmarkOptions *options, guint width, guint height,
                                  guint repeats, GCancellable *cancellable, GError **error);

G_END_DECLS
