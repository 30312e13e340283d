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
#define SB_NO_RING    (G_MAXINT64 / 4)

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
  /* Vectors of a line's memory where it is a ring, a multiple of 8: vector v of the line lies at
   * v - ring from v = ring on. SB_NO_RING where the memory goes on. */
  gint64 ring;
  gint64 lag; /* a pass can go on to result x when the one before has made x + lag of its own */
} SbLineClass;

typedef struct
{
  SbWalkState states[SB_MAX_PASSES];
  gint64 done[SB_MAX_PASSES]; /* the next result of each pass */
  gint64 origin;
} SbLine;

/* Fills in drift and lag; all the rest stands. */
void sb_line_class_init (SbLineClass *klass);
/* Vectors of memory that a whole line takes. */
gint64 sb_line_class_memory (const SbLineClass *klass);
/* Vectors between the newest input and the oldest vector that is still read, at most. */
gint64 sb_line_class_span (const SbLineClass *klass);

/* Rows of memory that will be needed soon, called for a line at a time while the passes run. */
typedef struct
{
  const guint8 *row; /* the next one */
  gsize stride, bytes, at;
  gint64 rows;
  gsize step; /* bytes for each step of a walk */
} SbAhead;

/* Where results of 8 bits go: result x of a line to pixels + (x - first) * step, 32 bytes. */
typedef struct
{
  guint8 *pixels;
  gint64 first;
  gsize step;
} SbBytes;

void sb_line_init (const SbLineClass *klass, SbLine *line);
/* Runs all passes as far as the first `have` input samples allow, the last one no farther than
 * result `limit`. bytes: with last_to_8. ahead: may be NULL.
 *
 * second: NULL, or a line that stands exactly where `line` does, its memory second_behind samples
 * after the first one's. Of the two `line` tells for both how far they are. With last_to_8 their
 * results go together, 64 bytes for each x, by walk_8_pair. */
void sb_line_advance (const SbLineClass *klass, SbLine *line, SbLine *second, guint16 *memory,
                      gsize second_behind, gint64 have, gint64 limit, const SbBytes *bytes,
                      SbAhead *ahead);
/* The next result that the last pass will make; of a line without passes, its input. */
static inline gint64
sb_line_done (const SbLineClass *klass, const SbLine *line, gint64 have)
{
  return klass->passes == 0 ? have : line->done[klass->passes - 1];
}
static inline guint16 *
sb_line_vector (const SbLineClass *klass, guint16 *memory, gint64 v)
{
  return memory + (v >= klass->ring ? v - klass->ring : v) * SB_VECTOR;
}
/* Where result x lies (not with last_to_8). */
static inline guint16 *
sb_line_result (const SbLineClass *klass, const SbLine *line, guint16 *memory, gint64 x)
{
  return sb_line_vector (klass, memory, line->origin - klass->passes * klass->drift + x);
}
/* Where input x goes. */
static inline guint16 *
sb_line_input (const SbLineClass *klass, const SbLine *line, guint16 *memory, gint64 x)
{
  return sb_line_vector (klass, memory, line->origin + x);
}
/* How many vectors at the start nothing reads any more, results below `kept` being done with. */
gint64 sb_line_behind (const SbLineClass *klass, const SbLine *line, gint64 kept);
/* Moves a line down by so many in memory that goes on. In a ring nothing moves: taking the ring's
 * length off the origin, as soon as so many are behind, is all. */
void sb_line_shift (SbLine *line, guint16 *memory, gint64 have, gint64 by);

G_END_DECLS
