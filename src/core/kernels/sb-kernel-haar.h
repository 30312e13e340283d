/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-isa.h"

#include <glib.h>

G_BEGIN_DECLS

/* Sums over coefficients x = scale * c: in lanes, so that every instruction set adds in one order.
 */
#define SB_HAAR_LANES 8
typedef struct
{
  double x[SB_HAAR_LANES], x2[SB_HAAR_LANES]; /* of x and its square */
  double d[SB_HAAR_LANES], d2[SB_HAAR_LANES]; /* of x - centre */
  float low, high;
  guint64 near_zero; /* |x| < 1/2 */
} SbHaarMoments;

/* Rows of the Haar transform and of the edit of its bands, by the arithmetic of sb-haar-arith.h.
 * `n` counts 2x2 blocks, so that rows of samples are 2n long; an odd last column is the caller's.
 * No pointer may overlap another unless it is said; pixels need no alignment, floats that of one.
 * channel: an SbHaarChannel. */
typedef struct
{
  /* The first level from pixels of 8 and 16 bits; means and details are multiplied by `scale`
   * instead of 1/4, exact for 257/4. stream: h, v, d go past the caches where they are aligned to
   * 64 bytes. */
  void (*first_8) (const guint8 *upper, const guint8 *lower, gsize n, guint channel, float scale,
                   gboolean stream, float *a, float *h, float *v, float *d);
  void (*first_16) (const guint16 *upper, const guint16 *lower, gsize n, guint channel,
                    gboolean stream, float *a, float *h, float *v, float *d);
  void (*forward) (const float *upper, const float *lower, gsize n, gboolean stream, float *a,
                   float *h, float *v, float *d);
  void (*inverse) (const float *a, const float *h, const float *v, const float *d, gsize n,
                   float *upper, float *lower);
  /* Waits for what went past the caches. */
  void (*fence) (void);

  /* Threshold and gain over n coefficients in place. */
  void (*change) (float *c, gsize n, float threshold, float gain, gboolean hard);

  /* The last inverse of an edit, to opaque pixels of 8 bits: bands[c] has a, h, v, d of R, G, B.
   * stream: past the caches where both rows are aligned to 64 bytes. */
  void (*last_8) (const float *const bands[3][4], gsize n, gboolean stream, guint8 *upper,
                  guint8 *lower);
  /* Calls for bytes that will be read soon. */
  void (*ahead) (const guint8 *in, gsize bytes);

  /* n pixels of a row as three rows of floats, at 16 bits, premultiplied with round (c * a / 65535)
   * unless they are opaque or `work`, which has them so already. */
  void (*load_8) (const guint8 *in, gsize n, gboolean opaque, float *r, float *g, float *b);
  void (*load_16) (const guint16 *in, gsize n, gboolean opaque, float *r, float *g, float *b);
  /* (54 R + 183 G + 19 B + 128) >> 8 of n samples. */
  void (*luma) (const float *r, const float *g, const float *b, gsize n, float *y);
  /* s = s + round (y1) - y0 over n samples, y0 whole, rounded half to even. */
  void (*shift) (float *s, const float *y0, const float *y1, gsize n);
  /* n pixels of three rows, limited, rounded half to even and, unless they are opaque, divided by
   * their alpha: straight pixels of 16 bits. alpha: of 16 bits, 4 values apart (the alpha of RGBA
   * pixels); not used where they are opaque. */
  void (*store_16) (const float *r, const float *g, const float *b, gsize n, gboolean opaque,
                    const guint16 *alpha, guint16 *out);
  /* The alphas of n pixels of 8 bits as store_16 takes them; what lies between is not defined. */
  void (*alphas_8) (const guint8 *in, gsize n, guint16 *alpha);
  /* n pixels from 16 to 8 bits. */
  void (*round_8) (const guint16 *in, gsize n, guint8 *out);

  /* For display: the highest and the lowest of `rows` values each, of n columns. */
  void (*extremes) (const float *const *rows, gsize n_rows, gsize n, float *high, float *low);
  /* Likewise the sums. */
  void (*sums) (const float *const *rows, gsize n_rows, gsize n, float *sum);

  /* The samples of a channel of n pixels. */
  void (*samples_8) (const guint8 *in, gsize n, guint channel, float *out);
  void (*samples_16) (const guint16 *in, gsize n, guint channel, float *out);
  /* The largest |a - b|. */
  float (*distance) (const float *a, const float *b, gsize n);
  /* Adds n coefficients of a row. */
  void (*moments) (const float *c, gsize n, float scale, double centre, SbHaarMoments *moments);
  /* floor (x + 1/2) of x = scale * c, below 2^30, for n coefficients. */
  void (*nearest) (const float *c, gsize n, float scale, gint32 *out);
} SbHaarKernels;

/* Those of the instruction set in use. */
const SbHaarKernels *sb_haar_kernels_get (void);

extern const SbHaarKernels sb_haar_kernels_base;
#if defined(__x86_64__)
extern const SbHaarKernels sb_haar_kernels_avx2;
extern const SbHaarKernels sb_haar_kernels_avx512;
#endif

G_END_DECLS
