/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-isa.h"

#include <glib.h>

G_BEGIN_DECLS

#define SB_REDUCE_TAPS 4

/* The tables of 256 entries of red, green and blue, and the same in parts: as what is added up to a
 * whole pixel, and, where all three are one, as its low bytes and its high ones. */
typedef struct
{
  guint64 pixel[3][256];
  gboolean same;
  guint8 bytes[2][256];
} SbReduceDecode;

/* Many rows weighed into one, many columns into one: a filter with a smaller picture behind it.
 * `samples` are channels, four to a pixel; `n` counts pixels. Nothing may overlap. */
typedef struct
{
  /* out[i] = sum over k of weights[k] * rows[k][i], k rising. */
  void (*sum_8) (const guint8 *const *rows, const float *weights, gsize n_rows, gsize samples,
                 float *out);
  void (*sum_16) (const guint16 *const *rows, const float *weights, gsize n_rows, gsize samples,
                  float *out);
  /* Pixel i is the sum of weights[i * taps + k] * in[begin[i] + k] for k < taps, a multiple of
   * SB_REDUCE_TAPS. */
  void (*mix) (const float *in, const guint32 *begin, const float *weights, gsize taps, gsize n,
               float *out);
  /* round (in[i]), and round (in[i] / 257), of values from 0 to 65535 but for the last bits. */
  void (*round_16) (const float *in, gsize samples, guint16 *out);
  void (*round_8) (const float *in, gsize samples, guint8 *out);
  /* n opaque pixels of 8 bits through tables of colours (alpha 65535), and back. */
  void (*decode) (const SbReduceDecode *tables, const guint8 *in, gsize n, guint16 *out);
  void (*encode) (const guint8 *const tables[3], const guint16 *in, gsize n, guint8 *out);
} SbReduceKernels;

/* Those of the instruction set in use. */
const SbReduceKernels *sb_reduce_kernels_get (void);

extern const SbReduceKernels sb_reduce_kernels_base;
#if defined(__x86_64__)
extern const SbReduceKernels sb_reduce_kernels_avx2;
extern const SbReduceKernels sb_reduce_kernels_avx512;
#endif

G_END_DECLS
