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
  return klass->length + klass->passes * klass->drift;
}

gint64
sb_line_class_span (const SbLineClass *klass)
{
  return klass->passes * (2 * (gint64)klass->box.radius + 5);
}

void
sb_line_init (const SbLineClass *klass, SbLine *line)
{
  line->origin = klass->passes * klass->drift;
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

/* state += weight * samples, the weight split to fit the kernel's 16 bits. */
static void
accumulate (const SbLineClass *klass, SbWalkState *state, const guint16 *in, gssize step,
            gint64 count, gint64 weight)
{
  while (weight > 0)
    {
      const gint32 part = (gint32)MIN (weight, 32767);
      klass->kernels->accumulate (state, in, step, (gsize)count, part);
      weight -= part;
    }
}

/* Adds the samples at places from .. to, times weight. */
static void
accumulate_range (const SbLineClass *klass, SbWalkState *state, const guint16 *in, gint64 from,
                  gint64 to, gint64 weight)
{
  const gint64 n = klass->length;
  gint64 count = to - from + 1;

  if (klass->mirror && count >= 2 * n)
    {
      /* Whole periods hold every sample twice. */
      accumulate (klass, state, in, SB_VECTOR, n, count / (2 * n) * 2 * weight);
      count %= 2 * n;
    }
  while (count > 0)
    {
      const Place place = place_at (from, n, klass->mirror);
      /* The place moves `steps` times, so it stands on steps + 1 samples; where it turns, the next
       * call takes the last of them. */
      const gint64 steps = MIN (place.steps, count);
      if (place.move == 0)
        accumulate (klass, state, in + place.index * SB_VECTOR, 0, 1, weight * steps);
      else
        accumulate (klass, state, in + place.index * SB_VECTOR, place.move * SB_VECTOR, steps,
                    weight);
      from += steps;
      count -= steps;
    }
}

static void
start (const SbLineClass *klass, const SbBox *box, SbWalkState *state, const guint16 *in, gint64 x)
{
  const gint64 r = box->radius;

  for (guint j = 0; j < SB_VECTOR; j++)
    state->n[j] = box->offset;
  accumulate_range (klass, state, in, x - r, x + r, box->inner);
  if (box->fractional)
    {
      accumulate_range (klass, state, in, x - r - 1, x - r - 1, box->outer);
      accumulate_range (klass, state, in, x + r + 1, x + r + 1, box->outer);
    }
}

void
sb_line_advance (const SbLineClass *klass, SbLine *line, guint16 *memory, gint64 have, gint64 limit,
                 guint8 *out_8, gint64 out_first, gsize out_step)
{
  const gint64 n = klass->length;
  const gint64 r = klass->box.radius;
  gboolean moved = klass->passes > 0;

  limit = MIN (limit, klass->stop);
  while (moved)
    {
      moved = FALSE;
      for (guint p = 0; p < klass->passes; p++)
        {
          const gboolean is_last = p + 1 == klass->passes;
          const gboolean to_8 = is_last && klass->last_to_8;
          const SbBox *box = to_8 ? &klass->last : &klass->box;
          const gint64 available = p == 0 ? have : line->done[p - 1];
          const gint64 reach = (klass->passes - 1 - p) * klass->lag;
          gint64 x = line->done[p], end = available >= n ? n : available - klass->lag;

          end = MIN (end, limit + reach);
          if (end <= x)
            continue;
          guint16 *in = memory + (line->origin - p * klass->drift) * SB_VECTOR;
          guint16 *out = in - klass->drift * SB_VECTOR;
          if (x == MAX (klass->first - reach, 0))
            start (klass, box, &line->states[p], in, x);
          end = MIN (end, x + STEPS);
          line->done[p] = end;
          moved = TRUE;

          while (x < end)
            {
              const Place enter = place_at (x + r + 1, n, klass->mirror);
              const Place leave = place_at (x - r, n, klass->mirror);
              gint64 steps = MIN (MIN (enter.steps, leave.steps), end - x);
              SbWalk walk = { in + enter.index * SB_VECTOR, in + leave.index * SB_VECTOR, in, in,
                              enter.move * SB_VECTOR,       leave.move * SB_VECTOR,       0,  0 };
              if (box->fractional)
                {
                  const Place outer_enter = place_at (x + r + 2, n, klass->mirror);
                  const Place outer_leave = place_at (x - r - 1, n, klass->mirror);
                  walk.outer_enter = in + outer_enter.index * SB_VECTOR;
                  walk.outer_leave = in + outer_leave.index * SB_VECTOR;
                  walk.outer_enter_step = outer_enter.move * SB_VECTOR;
                  walk.outer_leave_step = outer_leave.move * SB_VECTOR;
                  steps = MIN (steps, MIN (outer_enter.steps, outer_leave.steps));
                }
              if (to_8)
                klass->kernels->walk_8 (box, &line->states[p], &walk,
                                        out_8 + (x - out_first) * out_step, out_step, (gsize)steps);
              else
                klass->kernels->walk (box, &line->states[p], &walk, out + x * SB_VECTOR,
                                      (gsize)steps);
              x += steps;
            }
        }
    }
}

void
sb_line_slide (const SbLineClass *klass, SbLine *line, guint16 *memory, gint64 have, gint64 kept)
{
  gint64 from = line->origin - klass->passes * klass->drift + kept;

  for (guint p = 0; p < klass->passes; p++)
    {
      const gint64 oldest = MAX (line->done[p] - klass->box.radius - 1, 0);
      from = MIN (from, line->origin - p * klass->drift + oldest);
    }
  if (from <= 0)
    return;
  memmove (memory, memory + from * SB_VECTOR,
           (gsize)(line->origin + have - from) * SB_VECTOR_BYTES);
  line->origin -= from;
}
