/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-color.h"
#include "sb-isa.h"

#include <glib.h>

G_BEGIN_DECLS

/* Rows of a picture on their way to a smaller one or to the screen. Everything works on RGBA; `n`
 * counts pixels. What is called "16" has 16 bits a channel. No pointer may overlap another, none
 * but those of guint16 and float need be aligned to more than a byte. */
#define SB_VIEW_COLOR_PIXELS 256

typedef struct
{
  /* Two levels of 2x2 means at once from four rows of opaque 8-bit pixels: n groups of four columns
   * give 2n pixels of 8 bits in each of half[0], half[1] and n pixels of 16 bits in quarter.
   * half = floor ((sum of 4 + 2) / 4), quarter = floor ((257 * sum of 16 + 8) / 16). */
  void (*reduce_twice_8) (const guint8 *const rows[4], gsize n, guint8 *const half[2],
                          guint16 *quarter);
  /* n pixels of floor ((sum of 4 + 2) / 4) from two rows of 2n. */
  void (*reduce_16) (const guint16 *upper, const guint16 *lower, gsize n, guint16 *out);

  /* Straight, encoded pixels to premultiplied ones of 16 bits: round (c * a / 65535), where an
   * 8-bit v stands for v * 257. decode: NULL, or three tables of 256 (65536) entries that are
   * applied to the colours first. opaque: nothing is multiplied. */
  void (*work_8) (const guint8 *in, gsize n, const guint16 *const *decode, gboolean opaque,
                  guint16 *out);
  void (*work_16) (const guint16 *in, gsize n, const guint16 *const *decode, gboolean opaque,
                   guint16 *out);

  /* out[i] = sum over k of weights[k] * rows[k][i], for n RGBA pixels, n_rows >= 1. The straight
   * ones multiply the colours by alpha over its maximum first. */
  void (*sum_8) (const guint8 *const *rows, const float *weights, gsize n_rows, gsize n,
                 float *out);
  void (*sum_16) (const guint16 *const *rows, const float *weights, gsize n_rows, gsize n,
                  float *out);
  void (*sum_straight_8) (const guint8 *const *rows, const float *weights, gsize n_rows, gsize n,
                          float *out);
  void (*sum_straight_16) (const guint16 *const *rows, const float *weights, gsize n_rows, gsize n,
                           float *out);
  /* n pixels for the screen: the sum of weights[i * taps + k] * in[first[i] + k] for k < taps, over
   * `ground` (n RGBA pixels of 0 .. 255 with A = 0; NULL: the pixels are opaque), rounded to 8
   * bits, alpha 255. `in` has values of 0 .. 255. */
  void (*spread) (const float *in, const guint32 *first, const float *weights, gsize taps, gsize n,
                  const float *ground, guint8 *out);
  /* n pixels for the screen, each the straight pixel in[first[i]], over `ground` as above. */
  void (*pick_8) (const guint8 *in, const guint32 *first, gsize n, const float *ground,
                  guint8 *out);
  void (*pick_16) (const guint16 *in, const guint32 *first, gsize n, const float *ground,
                   guint8 *out);

  /* The same in two steps, for a picture whose colours go through a table: pixels of 0 .. 255 in
   * float, then those, at most SB_VIEW_COLOR_PIXELS of them, to the screen. What `mix` gives is
   * premultiplied where there is a ground, what `take` gives is straight. */
  void (*mix) (const float *in, const guint32 *first, const float *weights, gsize taps, gsize n,
               float *out);
  void (*take_8) (const guint8 *in, const guint32 *first, gsize n, float *out);
  void (*take_16) (const guint16 *in, const guint32 *first, gsize n, float *out);
  void (*color) (const SbColorTable *table, const float *in, gsize n, gboolean premultiplied,
                 const float *ground, guint8 *out);
} SbViewKernels;

/* Those of the instruction set in use. */
const SbViewKernels *sb_view_kernels_get (void);

extern const SbViewKernels sb_view_kernels_base;
#if defined(__x86_64__)
extern const SbViewKernels sb_view_kernels_avx2;
extern const SbViewKernels sb_view_kernels_avx512;
#endif

G_END_DECLS
