/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-line.h"
#include "sb-arith.h"

#include <string.h>

/* Steps of one pass before the next one's turn: long enough to hide the switch, short enough that
 * what one wrote is in the first cache when the next one reads it. */
#define STEPS 128

void
sb_line_class_init (SbLineClass *klass)
{
  /* A step writes result x below x - R - 1, the last sample that it or a later step reads. A line
   * shorter than that is read to and fro as a whole until its end. */
  klass->drift = MIN (klass->box.radius + 2, klass->length);
  klass->lag = klass->box.radius + (klass->box.fractional ? 2 : 1);
}

gint64
sb_line_class_memory (const SbLineClass *klass)
{
  return klass->length + klass->passes * klass->drift + 7;
}

gint64
sb_line_class_span (const SbLineClass *klass)
{
  return klass->passes * (2 * (gint64)klass->box.radius + 5);
}

void
sb_line_init (const SbLineClass *klass, SbLine *line)
{
  line->origin = (klass->passes * klass->drift + 7) & ~(gint64)7;
  for (guint p = 0; p < klass->passes; p++)
    {
      const gint64 reach = (klass->passes - 1 - p) * klass->lag;
      line->done[p] = MAX (klass->first - reach, 0);
    }
}

/* Place i of a line, anywhere: the sample there, how it moves from place to place, and for how many
 * steps (at least one) it goes on so. */
typedef struct
{
  gint64 index, steps;
  int move;
} Place;

static inline Place
place_at (gint64 i, gint64 n, gboolean mirror)
{
  if (i >= 0 && i < n - 1)
    return (Place){ i, n - 1 - i, 1 };
  if (!mirror)
    return i < 0 ? (Place){ 0, -i, 0 } : (Place){ n - 1, G_MAXINT64, 0 };

  gint64 j = i % (2 * n);
  if (j < 0)
    j += 2 * n;
  if (j < n - 1)
    return (Place){ j, n - 1 - j, 1 };
  if (j == n - 1)
    return (Place){ j, 1, 0 };
  if (j == 2 * n - 1)
    return (Place){ 0, 1, 0 };
  return (Place){ 2 * n - 1 - j, 2 * n - 1 - j, -1 };
}

/* How many vectors from v on, in the direction of `move`, lie side by side in memory. */
static inline gint64
side_by_side (const SbLineClass *klass, gint64 v, int move)
{
  const gint64 at = v >= klass->ring ? v - klass->ring : v;
  return move > 0 ? klass->ring - at : move < 0 ? at + 1 : G_MAXINT64;
}

/* state += weight * (count vectors from v on); the weight split to fit the kernel's 16 bits. */
static void
accumulate (const SbLineClass *klass, SbWalkState *state, guint16 *memory, gint64 v, int move,
            gint64 count, gint64 weight)
{
  while (count > 0)
    {
      const gint64 part = MIN (count, side_by_side (klass, v, move));
      for (gint64 left = weight; left > 0; left -= MIN (left, 32767))
        klass->kernels->accumulate (state, sb_line_vector (klass, memory, v), move * SB_VECTOR,
                                    (gsize)part, (gint32)MIN (left, 32767));
      v += move * part;
      count -= part;
    }
}

/* Adds the samples at places from .. to of the pass whose input begins at vector `in`. */
static void
accumulate_range (const SbLineClass *klass, SbWalkState *state, guint16 *memory, gint64 in,
                  gint64 from, gint64 to, gint64 weight)
{
  const gint64 n = klass->length;
  gint64 count = to - from + 1;

  if (klass->mirror && count >= 2 * n)
    {
      /* Whole periods hold every sample twice. */
      accumulate (klass, state, memory, in, 1, n, count / (2 * n) * 2 * weight);
      count %= 2 * n;
    }
  while (count > 0)
    {
      const Place place = place_at (from, n, klass->mirror);
      const gint64 steps = MIN (place.steps, count);
      if (place.move == 0)
        accumulate (klass, state, memory, in + place.index, 0, 1, weight * steps);
      else
        accumulate (klass, state, memory, in + place.index, place.move, steps, weight);
      from += steps;
      count -= steps;
    }
}

static void
start (const SbLineClass *klass, const SbBox *box, SbWalkState *state, guint16 *memory, gint64 in,
       gint64 x)
{
  const gint64 r = box->radius;

  for (guint j = 0; j < SB_VECTOR; j++)
    state->n[j] = box->offset;
  accumulate_range (klass, state, memory, in, x - r, x + r, box->inner);
  if (box->fractional)
    {
      accumulate_range (klass, state, memory, in, x - r - 1, x - r - 1, box->outer);
      accumulate_range (klass, state, memory, in, x + r + 1, x + r + 1, box->outer);
    }
}

/* Sets where the walk calls ahead; returns how many steps may go on so. */
static gint64
call_ahead (const SbAhead *ahead, SbWalk *walk, gint64 steps)
{
  if (ahead == NULL || ahead->rows <= 0)
    {
      walk->ahead = (const guint8 *)walk->enter;
      walk->ahead_step = 0;
      return steps;
    }
  walk->ahead = ahead->row + ahead->at;
  walk->ahead_step = ahead->step;
  return MIN (steps, (gint64)((ahead->bytes - ahead->at) / ahead->step) + 1);
}

static void
called_ahead (SbAhead *ahead, gint64 steps)
{
  if (ahead == NULL || ahead->rows <= 0)
    return;
  ahead->at += (gsize)steps * ahead->step;
  if (ahead->at < ahead->bytes)
    return;
  ahead->at = 0;
  ahead->row += ahead->stride;
  ahead->rows--;
}

/* Sets one of a walk's pointers to the sample at `place`; returns for how many steps it holds. */
static inline gint64
point (const SbLineClass *klass, guint16 *memory, gint64 in, gint64 i, const guint16 **pointer,
       gssize *step)
{
  const Place place = place_at (i, klass->length, klass->mirror);
  const gint64 v = in + place.index;

  *pointer = sb_line_vector (klass, memory, v);
  *step = place.move * SB_VECTOR;
  return MIN (place.steps, side_by_side (klass, v, place.move));
}

/* Results from .. to - 1 of pass p, whose input begins at vector `in`. */
static void
run_pass (const SbLineClass *klass, const SbBox *box, guint p, SbLine *line, SbLine *second,
          guint16 *memory, gsize second_behind, gint64 in, gint64 from, gint64 to,
          const SbBytes *bytes, SbAhead *ahead)
{
  const SbBlurKernels *kernels = klass->kernels;
  const gint64 r = box->radius;

  for (gint64 x = from; x < to;)
    {
      SbWalk walk = { .outer_enter = memory, .outer_leave = memory };
      gint64 steps = to - x;

      steps = MIN (steps, point (klass, memory, in, x + r + 1, &walk.enter, &walk.enter_step));
      steps = MIN (steps, point (klass, memory, in, x - r, &walk.leave, &walk.leave_step));
      if (box->fractional)
        {
          steps = MIN (steps, point (klass, memory, in, x + r + 2, &walk.outer_enter,
                                     &walk.outer_enter_step));
          steps = MIN (steps, point (klass, memory, in, x - r - 1, &walk.outer_leave,
                                     &walk.outer_leave_step));
        }
      if (!box->to_8)
        steps = MIN (steps, side_by_side (klass, in - klass->drift + x, 1));
      steps = call_ahead (ahead, &walk, steps);

      if (!box->to_8)
        kernels->walk (box, &line->states[p], &walk,
                       sb_line_vector (klass, memory, in - klass->drift + x), (gsize)steps);
      else if (second == NULL)
        kernels->walk_8 (box, &line->states[p], &walk,
                         bytes->pixels + (gsize)(x - bytes->first) * bytes->step, bytes->step,
                         (gsize)steps);
      else
        kernels->walk_8_pair (box, &line->states[p], &second->states[p], &walk, second_behind,
                              bytes->pixels + (gsize)(x - bytes->first) * bytes->step, bytes->step,
                              (gsize)steps);
      called_ahead (ahead, steps);
      x += steps;
    }
}

void
sb_line_advance (const SbLineClass *klass, SbLine *line, SbLine *second, guint16 *memory,
                 gsize second_behind, gint64 have, gint64 limit, const SbBytes *bytes,
                 SbAhead *ahead)
{
  const gint64 n = klass->length;
  gboolean moved = klass->passes > 0;

  limit = MIN (limit, klass->stop);
  while (moved)
    {
      moved = FALSE;
      for (guint p = 0; p < klass->passes; p++)
        {
          const SbBox *box
              = p + 1 == klass->passes && klass->last_to_8 ? &klass->last : &klass->box;
          const gint64 available = p == 0 ? have : line->done[p - 1];
          const gint64 reach = (klass->passes - 1 - p) * klass->lag;
          const gint64 x = line->done[p];
          gint64 end = available >= n ? n : available - klass->lag;

          end = MIN (MIN (end, limit + reach), x + STEPS);
          if (end <= x)
            continue;
          const gint64 in = line->origin - p * klass->drift;
          guint16 *other = memory + second_behind;
          if (x == MAX (klass->first - reach, 0))
            {
              start (klass, box, &line->states[p], memory, in, x);
              if (second != NULL)
                start (klass, box, &second->states[p], other, in, x);
            }
          run_pass (klass, box, p, line, box->to_8 ? second : NULL, memory, second_behind, in, x,
                    end, bytes, ahead);
          if (second != NULL && !box->to_8)
            run_pass (klass, box, p, second, NULL, other, 0, in, x, end, bytes, ahead);
          line->done[p] = end;
          moved = TRUE;
        }
    }
}

gint64
sb_line_behind (const SbLineClass *klass, const SbLine *line, gint64 kept)
{
  gint64 from = line->origin - klass->passes * klass->drift + kept;

  for (guint p = 0; p < klass->passes; p++)
    {
      const gint64 oldest = MAX (line->done[p] - klass->box.radius - 1, 0);
      from = MIN (from, line->origin - p * klass->drift + oldest);
    }
  return MAX (from, 0);
}

void
sb_line_shift (SbLine *line, guint16 *memory, gint64 have, gint64 by)
{
  memmove (memory, memory + by * SB_VECTOR, (gsize)(line->origin + have - by) * SB_VECTOR_BYTES);
  line->origin -= by;
}
