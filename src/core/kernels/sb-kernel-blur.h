/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-isa.h"

G_BEGIN_DECLS

/* The kernels of the blur. They all work on vectors of 64 bytes: 8 pixels of 4 channels of 16 bits,
 * each stored as v - 32768 (that is, v ^ 0x8000), so that sums are signed and the reciprocal's
 * error counts over half the range only. In a row pass the 8 pixels are 8 rows at one x, in a
 * column pass 8 columns at one y; a line is a sequence of vectors, contiguous in memory, and both
 * kinds of pass are the same walk along it. All vectors are aligned to 64 bytes. */

#define SB_VECTOR       32 /* samples in a vector */
#define SB_VECTOR_BYTES 64
#define SB_MAX_RADIUS   2000

/* --- One pass ---------------------------------------------------------------------------------
 *
 * A pass of radius R + k/16 is N / D, rounded half up, with N = inner * (sum of the window's 2R + 1
 * samples) + outer * (the two samples just outside it), D = inner (2R + 1) + 2 outer, the fraction
 * reduced: inner = 16/g, outer = k/g, g = gcd (16, k); k = 0 gives 1 and 0. */
typedef enum
{
  /* round (N x 1/D) in one FMA (or a product and a conversion). Halves do not occur: D is odd when
   * k = 0, and otherwise 2N + 1 is divided by 2D, which rounds the same. */
  SB_BOX_FLOAT,
  /* The same without a conversion, where the numbers allow it: the state is the bits of the float
   * M + N, M a multiple of the divisor, M + N within 2^23 .. 2^24 where a float's step is 1. */
  SB_BOX_FLOAT_BITS,
  SB_BOX_INTEGER,      /* T / D of T = N + (D - 1) / 2, D odd: (T * multiplier) >> (32 + shift) */
  SB_BOX_INTEGER_EVEN, /* the same with T / 2 and D / 2, D even */
} SbBoxMethod;

typedef struct
{
  SbBoxMethod method;
  gint32 radius;       /* R */
  gboolean fractional; /* k > 0 */
  gboolean to_8;       /* the result is round (round (N / D) / 257), divided once */
  gint32 inner, outer; /* twice the above where 2N + 1 is divided */
  gint32 offset;       /* what a state starts from, modulo 2^32 */
  float inverse;       /* of the float methods */
  float addend;        /* of SB_BOX_FLOAT_BITS: 1.5 * 2^23 - M / divisor, + 128 to 8 bits */
  guint32 multiplier, shift;
} SbBox;

/* Of the float method: the largest D for which the error of the reciprocal (and of the product,
 * where there is no FMA) stays below half the distance of N / D to the nearest half. */
typedef struct
{
  guint32 to_16;               /* D */
  guint32 to_8_odd, to_8_even; /* D, both roundings in one division */
  gboolean bits;               /* SB_BOX_FLOAT_BITS may be used: there is an FMA */
} SbBoxLimits;

/* With an FMA: 2^15 2^-24 < 1 / 2D for 16 bits; 2^7 2^-24 < 1 / (2 257 D), and half of it where
 * 2N + 1 is divided. With a product that is rounded too, twice and 1.5 times these errors. */
#define SB_BOX_LIMITS_FMA                                                                          \
  {                                                                                                \
    255, 253, 126, TRUE                                                                            \
  }
#define SB_BOX_LIMITS_PRODUCT                                                                      \
  {                                                                                                \
    127, 169, 84, FALSE                                                                            \
  }
#define SB_BOX_LIMITS_NONE                                                                         \
  {                                                                                                \
    0, 0, 0, FALSE                                                                                 \
  }

/* radius16: the radius in sixteenths, above 0. FALSE: to_8 is asked for and cannot be had. */
gboolean sb_box_init (SbBox *box, guint radius16, gboolean to_8, SbBoxLimits limits);

/* --- The kernels ------------------------------------------------------------------------------ */

/* Where a walk reads: at step j the window takes in the samples at in[.] + j * step[.]; see
 * SbBlurKernels.walk. The outer two are read only when the box is fractional. All are read from a
 * sample before to a sample behind the vectors named. */
typedef struct
{
  const guint16 *enter, *leave, *outer_enter, *outer_leave;
  gssize enter_step, leave_step, outer_enter_step, outer_leave_step; /* in samples */
  /* Memory that will be needed soon: each step calls for the line at `ahead` and moves on by
   * ahead_step bytes. A core has a dozen buffers for lines on their way; calling for one now and
   * then, between the arithmetic, costs nothing, while many at once are waited for. */
  const guint8 *ahead;
  gsize ahead_step;
} SbWalk;

/* A state: N for each of a vector's samples, in an order of the kernel's own, as signed or unsigned
 * 32 bits by the box's method. Aligned to 64 bytes. */
typedef struct
{
  gint32 n[SB_VECTOR];
} SbWalkState __attribute__ ((aligned (64)));

/* How pixels become samples and back. */
typedef struct
{
  /* Decoding, 8 bits: colour value v of channel c gives decode64[c][v], shifted to its channel's
   * place in a pixel of 64 bits; [3] is alpha, v * 257. All are biased. */
  guint64 decode64[4][256];
  /* Encoding to 8 bits: e[v] of channel c is encode8[c][v], a rising function. */
  const guint8 *encode8[3];

  gboolean one_curve;         /* of all three channels; then, of the same by bytes: */
  guint8 decode_byte[2][256]; /* [0] the low ones of decode */
  /* Encoding without looking up memory, where fits: v lies in segment v / 64 below 4096, in segment
   * v / 1024 from there on. In a segment a straight line, in 256ths of a level and a level too
   * high, gives g = e or e + 1, and g is one too high where v is below least[g], the lowest v
   * with e[v] >= g. */
  gboolean fits;
  guint16 base[2][64], slope[2][64]; /* [0] below 4096; the slope is that of a whole segment */
  guint16 least[256];
} SbBlurTone;

typedef struct
{
  SbBoxLimits limits;

  /* state += weight * (sum of `count` vectors from `in`, step samples apart); |weight| < 32768. */
  void (*accumulate) (SbWalkState *state, const guint16 *in, gssize step, gsize count,
                      gint32 weight);
  /* count steps: writes the state's quotient to the next vector of `out`, then moves the window
   * on: N += inner * (enter - leave), or, of a fractional box, with e and l the vectors entering
   * and leaving, N += outer * (e_outer - l_outer) + (inner - outer) * (e - l). */
  void (*walk) (const SbBox *box, SbWalkState *state, const SbWalk *walk, guint16 *out,
                gsize count);
  /* The same to 8 bits: 32 bytes, out_step bytes apart. box->to_8. */
  void (*walk_8) (const SbBox *box, SbWalkState *state, const SbWalk *walk, guint8 *out,
                  gsize out_step, gsize count);
  /* The same for two lines at once, the second one's samples `second` behind the first one's, its
   * 32 bytes behind the first one's 32, past the caches; out and out_step are whole lines of 64
   * bytes. NULL where that gains nothing. To be followed by a fence. */
  void (*walk_8_pair) (const SbBox *box, SbWalkState *first_state, SbWalkState *second_state,
                       const SbWalk *walk, gsize second, guint8 *out, gsize out_step, gsize count);

  /* 8 rows of count RGBA pixels into count vectors. load_8 takes v * 257, decode_8 the tables. */
  void (*load_8) (const guint8 *const rows[8], gsize count, guint16 *out);
  void (*decode_8) (const SbBlurTone *tone, const guint8 *const rows[8], gsize count, guint16 *out);
  void (*load_16) (const guint8 *const rows[8], gsize count, guint16 *out);
  /* Colour times alpha, in place. */
  void (*premultiply) (guint16 *vectors, gsize count);
  /* Blocks of 8 vectors of 8 rows into blocks of 8 vectors of 8 columns, out_step samples apart. */
  void (*transpose) (const guint16 *in, guint16 *out, gsize out_step, gsize blocks);

  /* count vectors into pixels, out_step bytes apart, 32 bytes (8 bits) or 64 (16 bits) each. */
  void (*store_8) (const guint16 *in, guint8 *out, gsize out_step, gsize count);
  void (*encode_8) (const SbBlurTone *tone, const guint16 *in, guint8 *out, gsize out_step,
                    gsize count);
  void (*store_16) (const guint16 *in, guint8 *out, gsize out_step, gsize count);
  /* Colour over alpha, in place: stays biased. */
  void (*unpremultiply) (guint16 *vectors, gsize count);
  /* `bytes` bytes, past the caches but for the ends that fill no whole line of 64; to be followed
   * by a fence before another thread reads them. */
  void (*stream) (guint8 *out, const guint8 *in, gsize bytes);
  void (*fence) (void);
} SbBlurKernels;

/* The table of sb_isa_get(). */
const SbBlurKernels *sb_blur_kernels (void);

G_END_DECLS
