/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-isa.h"

G_BEGIN_DECLS

/* The kernels of one pass in each direction over an opaque picture of 8 bits, to 8 bits.
 *
 * Here nothing is turned: a row's sums run along it in blocks of 16 pixels, straight from its
 * bytes, whose differences fit the small dot products that processors have. Its results of 16 bits
 * are stored in a block order of the kernel's own, and a column's sums stand beside them, as many
 * for the widest window as for the narrowest. */

#define SB_BLOCK         16  /* pixels */
#define SB_BLOCK_SAMPLES 64  /* of 16 bits, v - 32768 each, or sums of 32 bits */
#define SB_BLOCK_BYTES   128 /* of samples */
#define SB_CARRY_BYTES   16
#define SB_MOST_ROWS     8 /* of columns, at a time */

/* Both passes for a whole radius, w = 2R + 1. All states are the bits of floats between 2^23 and
 * 2^24, as of SB_BOX_FLOAT_BITS, or, of a column and without `bits`, whole numbers. */
typedef struct
{
  gint32 radius;
  /* Of S, the sum of w bytes (S and the lower half of row_offset together fit 16 bits), the
   * quotient round (S * 257 / w): the low 16 bits of the float that S's bits over row_offset, times
   * row_inverse, plus row_addend come to. */
  gint32 row_offset;
  float row_inverse, row_addend;
  /* Of N, the sum of w biased samples, round (round (N / w) / 257): over `offset`, times `inverse`,
   * plus low_addend the lowest byte; with plus high_addend, rounded down, the second one. */
  gboolean bits;
  gint32 offset;
  float inverse, low_addend, high_addend;
} SbBytesBox;

/* FALSE where the reciprocals are not good enough for this radius: always beyond 127. */
gboolean sb_bytes_box_init (SbBytesBox *box, guint radius);

typedef struct
{
  /* The results of `blocks` blocks of a row into `out`; `in` is the pixel a radius before the first
   * one. Reads from the pixel before that to the one a radius and one beyond the last block.
   * carry: SB_CARRY_BYTES of the kernel's own, or NULL: where `carried`, what the blocks to the
   * left of these have left there; and what those to the right may begin with. `ahead`: the like of
   * `in` in a row to come, which is called for. */
  void (*row) (const SbBytesBox *box, const guint8 *in, gsize blocks, guint16 *out, void *carry,
               gboolean carried, const guint8 *ahead);
  /* The first window of columns: sums += weight * samples; 0 <= weight < 32768. */
  void (*add) (gint32 *sums, const guint16 *in, gsize blocks, gint32 weight);
  /* `rows` steps of columns, SB_MOST_ROWS at most: writes 64 bytes a block to the next line of
   * `out`, then adds enter[i] and takes leave[i] away; reads a sample before and behind these too.
   * stream: past the caches, out and out_step whole lines of 64 bytes, to be followed by a fence.
   */
  void (*columns) (const SbBytesBox *box, gint32 *sums, const guint16 *const *enter,
                   const guint16 *const *leave, gsize rows, gsize blocks, guint8 *out,
                   gsize out_step, gboolean stream);
} SbBytesKernels;

/* The table of sb_isa_get(); NULL where it has none. */
const SbBytesKernels *sb_bytes_kernels (void);

G_END_DECLS
