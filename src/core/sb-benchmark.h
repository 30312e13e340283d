/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-engine.h"

G_BEGIN_DECLS

/* What the program computes while someone edits, timed on a made picture, in ratios to a copy of it
 * in the same run: on the CPU in memory by one thread; on a device within its own memory, and there
 * all times are the device's own, from the first kernel's start to the last one's end. What a frame
 * costs beyond that, some microseconds for launching and waiting, does not depend on the picture.
 */

typedef enum
{
  SB_BENCHMARK_NOT_CHECKED,
  SB_BENCHMARK_EQUAL,
  SB_BENCHMARK_DIFFERENT,
} SbBenchmarkVerdict;

typedef struct
{
  const char *operation; /* "blur radius=14 passes=3 linear=0" */
  const char *device;    /* "cpu" or "cuda" */
  guint threads;         /* 0: a device's own */
  guint width, height;   /* of the picture */
  double ms;             /* median of the repeats */
  double copy_ms;        /* median of copies made in turn with them: 4 bytes a pixel, or 8 where the
                            operation is on 16 bits */
  double ratio;          /* ms / copy_ms */
  double megapixels_per_second;
  SbBenchmarkVerdict equal;
} SbBenchmarkRow;

/* Computes what the operation must give, from its definition: `edit` over `image`, rounded to the
 * image's depth. NULL with an error. */
typedef SbImage *(*SbBenchmarkReferenceFunc) (SbImage *image, const SbEdit *edit,
                                              gpointer user_data, GError **error);
/* Told each row as soon as it is there; its strings live as long as the call. */
typedef void (*SbBenchmarkRowFunc) (const SbBenchmarkRow *row, gpointer user_data);

typedef struct
{
  guint width, height; /* 0: 6000 x 4000 */
  /* CUDA: that device, or an error; else the CPU. threads 0: once with one thread, once with all;
   * else with that many. */
  SbDevice device;
  guint repeats; /* 0: 9 */
  /* NULL: `equal` stays NOT_CHECKED. What `equal` covers: the reference takes a second for each
   * tenth of a megapixel, so the operation is compared byte for byte over all of a picture of 131 x
   * 97 pixels of the same kind, with the same threads, and at the size measured over windows of 24
   * x 24 pixels (both ends, middle, a place at random): a piece of the picture around a window,
   * wide enough to hold all that it is made from, is given to the reference. Where that piece would
   * be larger than 200,000 pixels the small picture alone decides. Previews, pyramids and shows are
   * not compared here; the tests bound them. */
  SbBenchmarkReferenceFunc reference;
  gpointer reference_data;
  SbBenchmarkRowFunc row;
  gpointer row_data;
} SbBenchmarkOptions;

/* FALSE with an error when memory is short or it was cancelled. Blocks for a minute or so. */
gboolean sb_benchmark_run (const SbBenchmarkOptions *options, GCancellable *cancellable,
                           GError **error);

G_END_DECLS
