/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-preview.h"

#include <math.h>

#define QUANTUM       (1.0 / 16) /* of a radius */
#define N_FREQUENCIES 96

/* In pixels of the level, of the radius that keeps the true width. All but the first were found on
 * photos and textures: the bounds of a PREVIEW hold from these on. */
#define FIT_BELOW        8.0 /* from here on the true width is as good as any */
#define PASSES_BELOW     1.5 /* below, the number of passes is free too */
#define FINER_BELOW      1.5 /* below, a level above 1 is too coarse, */
#define FINER_BELOW_ONCE 2.75
#define SMALLEST         0.5 /* and level 1, or any that is averaged as light */
#define SMALLEST_ONCE    2.0

/* Of the standard deviation of all passes in pixels of a level, found on the sample photo; those
 * of one pass alone in second place. A box of the level does it from here on, of level 1 from */
static const double box_from[] = { 1.15, 2.6 }, box_from_1[] = { 0.95, 1.46 };
/* a pixel may be filtered from the level, */
static const double filter_from[] = { 1.15, 1.5 }, filter_from_1[] = { 0.95, 0.85 };
static const double filter_from_linear[] = { 1.75, 3.0 }, filter_from_linear_1[] = { 1.4, 1.75 };
/* and be encoded once, in linear light: where it is a pixel of what is shown, and where it is not.
 */
static const double encode_from[] = { 0.72, 0.9 }, encode_from_1[] = { 0.66, 0.76 };
static const double encode_from_finer[] = { 0.41, 0.53 };

/* What one pass does to a wave of w radians a pixel. */
static double
box_response (double radius, double w)
{
  const double R = floor (radius), f = radius - R;
  const double whole = sin ((R + 0.5) * w) / sin (0.5 * w);

  return (whole + 2 * f * cos ((R + 1) * w)) / (2 * R + 1 + 2 * f);
}

/* The radius that keeps the true width, not yet a multiple of the quantum. */
static double
true_radius (double radius, guint level)
{
  return MAX (0.0, (ldexp (2 * radius + 1, -(int)level) - 1) / 2);
}

static void
fit_blur (const SbEdit *edit, guint level, SbEdit *scaled)
{
  const double radius = edit->values[SB_BLUR_RADIUS];
  const double aim = true_radius (radius, level);
  const guint passes = (guint)edit->values[SB_BLUR_PASSES];
  double wanted[N_FREQUENCIES], weight[N_FREQUENCIES], w[N_FREQUENCIES];
  double best = G_MAXDOUBLE;

  if (aim >= FIT_BELOW || radius == 0)
    return;
  /* Frequencies of the picture, half a step away from 0 and from the poles of the formulas. */
  for (guint k = 0; k < N_FREQUENCIES; k++)
    {
      w[k] = G_PI * (k + 0.5) / N_FREQUENCIES;
      const double averaging
          = sin (ldexp (w[k] / 2, (int)level)) / ldexp (sin (w[k] / 2), (int)level);
      weight[k] = averaging * averaging * (1 / (w[k] * w[k]) + 0.05);
      wanted[k] = pow (fabs (box_response (radius, w[k])), passes);
      if (passes % 2 == 1 && box_response (radius, w[k]) < 0)
        wanted[k] = -wanted[k];
    }

  const double first = MAX (0.0, floor ((aim - 0.75) / QUANTUM) * QUANTUM);
  const guint fewest = aim < PASSES_BELOW ? 1 : passes;
  for (guint n = passes; n >= fewest; n--)
    for (double r = first; r <= aim + 0.75; r += QUANTUM)
      {
        double miss = 0;
        for (guint k = 0; k < N_FREQUENCIES && miss < best; k++)
          {
            const double h = box_response (r, ldexp (w[k], (int)level));
            double got = h;
            for (guint i = 1; i < n; i++)
              got *= h;
            miss += weight[k] * (got - wanted[k]) * (got - wanted[k]);
          }
        if (miss < best)
          {
            best = miss;
            scaled->values[SB_BLUR_RADIUS] = r;
            scaled->values[SB_BLUR_PASSES] = n;
          }
      }
}

/* The coarsest level up to `level` that a blur may run on. */
static guint
blur_level (const SbEdit *edit, guint level)
{
  const double radius = edit->values[SB_BLUR_RADIUS];
  /* One box alone lets fine texture through, which more of them do not. */
  const gboolean once = edit->values[SB_BLUR_PASSES] == 1;
  const double limit
      = level >= 2 ? (once ? FINER_BELOW_ONCE : FINER_BELOW) : (once ? SMALLEST_ONCE : SMALLEST);

  if (radius == 0 || level == 0 || true_radius (radius, level) >= limit)
    return level;
  level--;
  /* What the display averages in the encoded space must not have been averaged as light before. */
  if (level >= 2 && edit->values[SB_BLUR_LINEAR] != 0 && true_radius (radius, level) < SMALLEST)
    level--;
  return level;
}

/* --- Blurs that are filtered and reduced in one ---------------------------------------------- */

static gboolean
can_reduce (const SbEdit *edit)
{
  return edit->kind == SB_EDIT_BLUR && edit->values[SB_BLUR_RADIUS] > 0
         && edit->area.shape == SB_AREA_WHOLE && !edit->area.invert;
}

/* Standard deviation of what all passes do to a point, in pixels of the full-size picture. */
static double
spread (const SbEdit *edit)
{
  const double radius = edit->values[SB_BLUR_RADIUS], passes = edit->values[SB_BLUR_PASSES];
  const double R = floor (radius), f = radius - R;

  return sqrt (passes * (R * (R + 1) * (2 * R + 1) / 3 + 2 * f * (R + 1) * (R + 1))
               / (2 * R + 1 + 2 * f));
}

/* Whether a box of the level has what the blur does. */
static gboolean
is_wide (const SbEdit *edit, guint level)
{
  const gboolean once = edit->values[SB_BLUR_PASSES] == 1;

  return ldexp (spread (edit), -(int)level) >= (level == 1 ? box_from_1 : box_from)[once];
}

guint
sb_preview_from (const SbEdit *first, guint level)
{
  if (level == 0 || !can_reduce (first) || is_wide (first, level))
    return level;

  const gboolean once = first->values[SB_BLUR_PASSES] == 1;
  const gboolean linear = first->values[SB_BLUR_LINEAR] != 0;
  const double s = spread (first);
  guint from = level - 1;
  while (from > 0
         && ldexp (s, -(int)from) < (linear
                                         ? (from == 1 ? filter_from_linear_1 : filter_from_linear)
                                         : (from == 1 ? filter_from_1 : filter_from))[once])
    from--;
  return from;
}

/* The coarsest level up to `level` that a blur may be the first one of. */
static guint
first_level (const SbEdit *edit, guint level)
{
  const gboolean once = edit->values[SB_BLUR_PASSES] == 1;
  const double s = spread (edit);
  guint finer = level;

  /* The picture's edge is seen in every pixel of a wide blur, and is not to be had on a level that
   * has averaged it with what is beside it. */
  if (level >= 3 && is_wide (edit, level))
    return 2;
  if (edit->values[SB_BLUR_LINEAR] == 0)
    return level;
  if (ldexp (s, -(int)level) < (level == 1 ? encode_from_1 : encode_from)[once])
    do
      finer--;
    while (finer > 0 && ldexp (s, -(int)finer) < encode_from_finer[once]);
  /* A box there costs less than a filter from the picture itself. */
  if (finer >= 2 && is_wide (edit, finer - 1) && sb_preview_from (edit, finer) == 0)
    finer--;
  return finer;
}

guint
sb_preview_level (const SbEdit *edits, guint n_edits, guint level)
{
  guint finest = level;

  for (guint i = 0; i < n_edits; i++)
    if (i == 0 && can_reduce (&edits[i]))
      finest = MIN (finest, first_level (&edits[i], level));
    else if (edits[i].kind == SB_EDIT_BLUR)
      finest = MIN (finest, blur_level (&edits[i], level));
  return finest;
}

void
sb_preview_scale (const SbEdit *edits, guint n_edits, guint level, SbEdit *scaled)
{
  for (guint i = 0; i < n_edits; i++)
    {
      sb_edit_scale (&edits[i], level, &scaled[i]);
      if (level > 0 && edits[i].kind == SB_EDIT_BLUR)
        fit_blur (&edits[i], level, &scaled[i]);
    }
}
