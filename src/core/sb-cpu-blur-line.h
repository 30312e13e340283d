/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-kernel-blur.h"

G_BEGIN_DECLS

/* All passes of one direction over one line of vectors, in place and in step.
 *
 * Pass p reads its input sample i at vector `origin - p * drift + i` of the line's memory and
 * writes its result x there, as input x of pass p + 1: each pass moves the line `drift` vectors
 * towards the start, far enough never to overwrite what it still reads, edges included. So each
 * vector is loaded into the first cache once and stored from it once, whatever the number of
 * passes, and the passes run one close behind the other. Input may arrive in portions, and what
 * lies behind can be let go, so that a window over a long line is all the memory it takes. */

#define SB_MAX_PASSES 10

/* What all lines of a direction share. */
typedef struct
{
  const SbBlurKernels *kernels;
  SbBox box;  /* every pass, or every pass but the last where last_to_8 */
  SbBox last; /* the last one, to 8 bits */
  gboolean last_to_8;
  guint passes;
  gboolean mirror;
  gint64 length;      /* of the line, samples */
  gint64 first, stop; /* results that are wanted: first .. stop - 1 */
  gint64 drift;
  gint64 lag; /* a pass can go on to result x when the one before has made x + lag of its own */
} SbLineClass;

typedef struct
{
  SbWalkState states[SB_MAX_PASSES];
  gint64 done[SB_MAX_PASSES]; /* the next result of each pass */
  gint64 origin;
} SbLine;

/* Fills in drift and lag; box, last, passes, mirror, length, first, stop stand. */
void sb_line_class_init (SbLineClass *klass);
/* Vectors of memory that a whole line takes. */
gint64 sb_line_class_memory (const SbLineClass *klass);
/* Vectors between the newest input and the oldest vector that is still read, at most. */
gint64 sb_line_class_span (const SbLineClass *klass);

void sb_line_init (const SbLineClass *klass, SbLine *line);
/* Runs all passes as far as the first `have` input samples allow, the last one no farther than
 * result `limit`. With last_to_8, result x goes to out_8 + (x - out_first) * out_step. */
void sb_line_advance (const SbLineClass *klass, SbLine *line, guint16 *memory, gint64 have,
                      gint64 limit, guint8 *out_8, gint64 out_first, gsize out_step);
/* The next result that the last pass will make; of a line without passes, its input. */
static inline gint64
sb_line_done (const SbLineClass *klass, const SbLine *line, gint64 have)
{
  return klass->passes == 0 ? have : line->done[klass->passes - 1];
}
/* Where result x lies (not with last_to_8). */
static inline guint16 *
sb_line_result (const SbLineClass *klass, const SbLine *line, guint16 *memory, gint64 x)
{
  return memory + (line->origin - klass->passes * klass->drift + x) * SB_VECTOR;
}
/* Where input x goes. */
static inline guint16 *
sb_line_input (const SbLine *line, guint16 *memory, gint64 x)
{
  return memory + (line->origin + x) * SB_VECTOR;
}
/* Moves what is still needed (results from `kept` on included) to the start of the memory. */
void sb_line_slide (const SbLineClass *klass, SbLine *line, guint16 *memory, gint64 have,
                    gint64 kept);

G_END_DECLS
