/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-edit.h"

#include <math.h>
#include <string.h>

#include <glib/gi18n-lib.h>

#include "sb-bands.h"
#include "sb-error.h"

/* --- The table ------------------------------------------------------------------------------- */

static const char *const edge_keys[] = { "clamp", "mirror", NULL };
static const char *const edge_labels[] = { N_ ("Extend"), N_ ("Mirror"), NULL };
static const char *const direction_keys[] = { "both", "horizontal", "vertical", NULL };
static const char *const direction_labels[]
    = { N_ ("Both"), N_ ("Horizontal"), N_ ("Vertical"), NULL };

static const SbParameter blur_parameters[SB_N_BLUR_PARAMETERS] = {
  [SB_BLUR_RADIUS] = {
    .key = "radius",
    .label = N_ ("Radius"),
    .type = SB_PARAMETER_NUMBER,
    .minimum = 0,
    .maximum = 2000,
    .initial = 14,
    .quantum = 1.0 / 16,
    .step = 1,
    .digits = 1,
    .unit = N_ ("px"),
    .curve_position = 1.0 / 3,
    .curve_value = 20,
    .scale = SB_SCALE_BOX_RADIUS,
  },
  [SB_BLUR_PASSES] = {
    .key = "passes",
    .label = N_ ("Passes"),
    .type = SB_PARAMETER_NUMBER,
    .minimum = 1,
    .maximum = 10,
    .initial = 3,
    .quantum = 1,
    .step = 1,
  },
  [SB_BLUR_LINEAR] = {
    .key = "linear",
    .label = N_ ("Linear light"),
    .type = SB_PARAMETER_SWITCH,
    .maximum = 1,
    .initial = 1,
    .quantum = 1,
    .step = 1,
  },
  [SB_BLUR_EDGE] = {
    .key = "edge",
    .label = N_ ("Edges"),
    .type = SB_PARAMETER_CHOICE,
    .maximum = SB_EDGE_MIRROR,
    .initial = SB_EDGE_CLAMP,
    .quantum = 1,
    .step = 1,
    .choices = edge_keys,
    .choice_labels = edge_labels,
  },
  [SB_BLUR_DIRECTION] = {
    .key = "direction",
    .label = N_ ("Direction"),
    .type = SB_PARAMETER_CHOICE,
    .maximum = SB_DIRECTION_VERTICAL,
    .initial = SB_DIRECTION_BOTH,
    .quantum = 1,
    .step = 1,
    .choices = direction_keys,
    .choice_labels = direction_labels,
  },
};

static const char *const rule_keys[] = { "soft", "hard", NULL };
static const char *const rule_labels[] = { N_ ("Soft"), N_ ("Hard"), NULL };

#define GAIN(name, words)                                                                          \
  .key = name, .label = words, .type = SB_PARAMETER_NUMBER, .maximum = 4, .initial = 1,            \
  .quantum = 1e-4, .step = 0.05, .digits = 2
#define GAIN_OF_LEVEL(first, name, words, number)                                                  \
  [(first) + (number)-1] = {                                                                       \
    GAIN (name #number, words),                                                                    \
    .scale = SB_SCALE_OF_LEVEL,                                                                    \
    .level = (number),                                                                             \
  }
#define GAINS_OF_5(first, name, words, a, b, c, d, e)                                              \
  GAIN_OF_LEVEL (first, name, words, a), GAIN_OF_LEVEL (first, name, words, b),                    \
      GAIN_OF_LEVEL (first, name, words, c), GAIN_OF_LEVEL (first, name, words, d),                \
      GAIN_OF_LEVEL (first, name, words, e)
#define GAINS(first, name, words)                                                                  \
  GAINS_OF_5 (first, name, words, 1, 2, 3, 4, 5), GAINS_OF_5 (first, name, words, 6, 7, 8, 9, 10), \
      GAINS_OF_5 (first, name, words, 11, 12, 13, 14, 15),                                         \
      GAINS_OF_5 (first, name, words, 16, 17, 18, 19, 20)
G_STATIC_ASSERT (SB_BANDS_MAX_LEVELS == 20);
G_STATIC_ASSERT (SB_N_BANDS_PARAMETERS <= SB_EDIT_MAX_PARAMETERS);

static const SbParameter bands_parameters[SB_N_BANDS_PARAMETERS] = {
  [SB_BANDS_LEVELS] = {
    .key = "levels",
    .label = N_ ("Levels"),
    .type = SB_PARAMETER_NUMBER,
    .minimum = 1,
    .maximum = SB_BANDS_MAX_LEVELS,
    .initial = 5,
    .quantum = 1,
    .step = 1,
    .scale = SB_SCALE_LEVELS,
  },
  [SB_BANDS_THRESHOLD] = {
    .key = "threshold",
    .label = N_ ("Threshold"),
    .type = SB_PARAMETER_NUMBER,
    .maximum = 1000,
    .quantum = 1e-4,
    .step = 1,
    .digits = 1,
    .curve_position = 0.5,
    .curve_value = 50,
    .scale = SB_SCALE_ORTHONORMAL,
  },
  [SB_BANDS_RULE] = {
    .key = "rule",
    .label = N_ ("Below the threshold"),
    .type = SB_PARAMETER_CHOICE,
    .maximum = SB_BANDS_HARD,
    .initial = SB_BANDS_SOFT,
    .quantum = 1,
    .step = 1,
    .choices = rule_keys,
    .choice_labels = rule_labels,
  },
  [SB_BANDS_LUMA] = {
    .key = "luma",
    .label = N_ ("Luma only"),
    .type = SB_PARAMETER_SWITCH,
    .maximum = 1,
    .quantum = 1,
    .step = 1,
  },
  [SB_BANDS_GAIN_A] = { GAIN ("gainA", N_ ("Gain of the coarsest means")) },
  GAINS (SB_BANDS_GAIN, "gain", N_ ("Gain of a level")),
  GAINS (SB_BANDS_GAIN_H, "gainH", N_ ("Gain of horizontal edges")),
  GAINS (SB_BANDS_GAIN_V, "gainV", N_ ("Gain of vertical edges")),
  GAINS (SB_BANDS_GAIN_D, "gainD", N_ ("Gain of diagonals")),
};

static const SbEditClass edit_classes[SB_N_EDIT_KINDS] = {
  [SB_EDIT_BLUR] = {
    .key = "blur",
    .label = N_ ("Blur"),
    .n_parameters = SB_N_BLUR_PARAMETERS,
    .parameters = blur_parameters,
  },
  [SB_EDIT_BANDS] = {
    .key = "bands",
    .label = N_ ("Wavelets"),
    .n_parameters = SB_N_BANDS_PARAMETERS,
    .parameters = bands_parameters,
  },
};

const SbEditClass *
sb_edit_class (SbEditKind kind)
{
  g_return_val_if_fail ((guint)kind < SB_N_EDIT_KINDS, NULL);

  return &edit_classes[kind];
}

/* --- Sliders --------------------------------------------------------------------------------- */

/* Up to the curve's point the slider is straight, so that the hand meets the same step at 1 px as
 * at 15; from there the value rises by a cubic that starts with the straight part's slope and no
 * bend, so nothing jerks under the hand: with t = 0 .. 1 on the rest of the slider,
 *
 *   value = curve_value + s t + c t^3,  s the slope of the straight part for the whole of t,
 *
 * and c what is left to the maximum. A power law in one piece, through the same three points, would
 * give half of the first third to radii below one pixel. */
typedef struct
{
  double position, value; /* where the straight part ends */
  double s, c;
} Curve;

static gboolean
curve_init (Curve *curve, const SbParameter *parameter)
{
  if (parameter->curve_position <= 0 || parameter->curve_position >= 1)
    return FALSE;

  curve->position = parameter->curve_position;
  curve->value = parameter->curve_value;
  curve->s = (parameter->curve_value - parameter->minimum) / parameter->curve_position
             * (1 - parameter->curve_position);
  curve->c = parameter->maximum - parameter->curve_value - curve->s;
  return curve->s > 0 && curve->c > 0;
}

double
sb_parameter_to_slider (const SbParameter *parameter, double value)
{
  g_return_val_if_fail (parameter != NULL, 0);

  Curve curve;

  if (!(value > parameter->minimum))
    return 0;
  if (value >= parameter->maximum)
    return 1;
  if (!curve_init (&curve, parameter))
    return (value - parameter->minimum) / (parameter->maximum - parameter->minimum);
  if (value <= curve.value)
    return curve.position * ((value - parameter->minimum) / (curve.value - parameter->minimum));

  /* The one real root of c t^3 + s t = d, from sinh (3x) = 4 sinh^3 (x) + 3 sinh (x). */
  double d = value - curve.value;
  double x = asinh (1.5 * d / curve.s * sqrt (3 * curve.c / curve.s)) / 3;
  double t = 2 * sqrt (curve.s / (3 * curve.c)) * sinh (x);

  return MIN (curve.position + (1 - curve.position) * t, 1);
}

double
sb_parameter_from_slider (const SbParameter *parameter, double position)
{
  g_return_val_if_fail (parameter != NULL, 0);

  Curve curve;
  double value;

  if (!(position > 0))
    return parameter->minimum;
  if (position >= 1)
    return parameter->maximum;

  if (!curve_init (&curve, parameter))
    value = parameter->minimum + position * (parameter->maximum - parameter->minimum);
  else if (position <= curve.position)
    value = parameter->minimum + position / curve.position * (curve.value - parameter->minimum);
  else
    {
      double t = (position - curve.position) / (1 - curve.position);

      value = curve.value + curve.s * t + curve.c * t * t * t;
    }
  return sb_parameter_clamp (parameter, value);
}

double
sb_parameter_clamp (const SbParameter *parameter, double value)
{
  g_return_val_if_fail (parameter != NULL, 0);

  if (isnan (value))
    return parameter->initial;
  if (value <= parameter->minimum)
    return parameter->minimum;
  if (value >= parameter->maximum)
    return parameter->maximum;
  if (parameter->quantum >= 1)
    return floor (value / parameter->quantum + 0.5) * parameter->quantum;
  /* One over a whole number: so that 0.3 stays what 0.3 reads as. */
  const double parts = floor (1 / parameter->quantum + 0.5);
  return floor (value * parts + 0.5) / parts;
}

/* --- Values ---------------------------------------------------------------------------------- */

void
sb_edit_init (SbEdit *edit, SbEditKind kind)
{
  g_return_if_fail (edit != NULL);
  g_return_if_fail ((guint)kind < SB_N_EDIT_KINDS);

  const SbEditClass *klass = &edit_classes[kind];

  memset (edit, 0, sizeof *edit);
  edit->kind = kind;
  for (guint i = 0; i < klass->n_parameters; i++)
    edit->values[i] = klass->parameters[i].initial;
  edit->area.shape = SB_AREA_WHOLE;
  edit->area.width = 1;
  edit->area.height = 1;
}

static gboolean
area_equal (const SbArea *a, const SbArea *b)
{
  if (a->shape != b->shape || a->feather != b->feather || !a->invert != !b->invert)
    return FALSE;
  return a->shape == SB_AREA_WHOLE
         || (a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height);
}

gboolean
sb_edit_equal (const SbEdit *a, const SbEdit *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->kind != b->kind)
    return FALSE;
  for (guint i = 0; i < edit_classes[a->kind].n_parameters; i++)
    if (a->values[i] != b->values[i])
      return FALSE;
  return area_equal (&a->area, &b->area);
}

static gboolean
bands_change_nothing (const SbEdit *edit)
{
  if (edit->values[SB_BANDS_GAIN_A] != 1)
    return FALSE;
  for (guint level = 1; level <= (guint)edit->values[SB_BANDS_LEVELS]; level++)
    if (sb_bands_acts_on (edit, level))
      return FALSE;
  return TRUE;
}

gboolean
sb_edit_is_identity (const SbEdit *edit)
{
  g_return_val_if_fail (edit != NULL, TRUE);

  /* The inverse of the whole picture is nothing, feathered or not. */
  if (edit->area.shape == SB_AREA_WHOLE && edit->area.invert)
    return TRUE;

  switch (edit->kind)
    {
    case SB_EDIT_BLUR:
      return edit->values[SB_BLUR_RADIUS] == 0;
    case SB_EDIT_BANDS:
      return bands_change_nothing (edit);
    case SB_N_EDIT_KINDS:
      break;
    }
  return FALSE;
}

gboolean
sb_edit_check (const SbEdit *edit, guint width, guint height, GError **error)
{
  g_return_val_if_fail (edit != NULL, FALSE);

  const SbArea *area = &edit->area;

  if (area->shape == SB_AREA_WHOLE)
    return TRUE;
  if (area->width >= 1 && area->height >= 1 && area->x < (gint64)width && area->y < (gint64)height
      && (gint64)area->x + area->width > 0 && (gint64)area->y + area->height > 0)
    return TRUE;

  g_autofree char *text = sb_edit_print (edit);

  g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
               _ ("“%s”: the area lies outside the picture, which has %u × %u pixels"), text, width,
               height);
  return FALSE;
}

/* floor (value / 2^level), for negative values too. */
static int
divide_down (gint64 value, guint level)
{
  gint64 unit = G_GINT64_CONSTANT (1) << level;

  return (int)((value - (((value % unit) + unit) % unit)) / unit);
}

static int
divide_up (gint64 value, guint level)
{
  return -divide_down (-value, level);
}

void
sb_edit_scale (const SbEdit *edit, guint level, SbEdit *scaled)
{
  g_return_if_fail (edit != NULL && scaled != NULL);
  g_return_if_fail (level < 32);

  const SbEditClass *klass = &edit_classes[edit->kind];
  SbEdit result = *edit;

  for (guint i = 0; level > 0 && i < klass->n_parameters; i++)
    {
      const SbParameter *parameter = &klass->parameters[i];

      switch (parameter->scale)
        {
        case SB_SCALE_NONE:
          break;
        case SB_SCALE_BOX_RADIUS:
          result.values[i] = sb_parameter_clamp (
              parameter, ((2 * edit->values[i] + 1) / (double)(1u << level) - 1) / 2);
          break;
        case SB_SCALE_LEVELS:
          result.values[i] = MAX (edit->values[i] - level, 0);
          break;
        case SB_SCALE_OF_LEVEL:
          result.values[i] = parameter->level + level <= SB_BANDS_MAX_LEVELS
                                 ? edit->values[i + level]
                                 : parameter->initial;
          break;
        case SB_SCALE_ORTHONORMAL:
          result.values[i] = edit->values[i] / (double)(1u << level);
          break;
        }
    }

  if (level > 0 && edit->area.shape != SB_AREA_WHOLE)
    {
      const SbArea *area = &edit->area;

      result.area.x = divide_down (area->x, level);
      result.area.y = divide_down (area->y, level);
      result.area.width = divide_up ((gint64)area->x + area->width, level) - result.area.x;
      result.area.height = divide_up ((gint64)area->y + area->height, level) - result.area.y;
    }
  if (level > 0)
    result.area.feather = (guint)divide_up (edit->area.feather, level);

  *scaled = result;
}

double
sb_edit_blur_sigma (const SbEdit *edit)
{
  g_return_val_if_fail (edit != NULL && edit->kind == SB_EDIT_BLUR, 0);

  double whole = floor (edit->values[SB_BLUR_RADIUS]);
  double f = edit->values[SB_BLUR_RADIUS] - whole;
  double moment = whole * (whole + 1) * (2 * whole + 1) / 3 + 2 * f * (whole + 1) * (whole + 1);

  return sqrt (edit->values[SB_BLUR_PASSES] * moment / (2 * whole + 1 + 2 * f));
}

/* --- Lists ----------------------------------------------------------------------------------- */

typedef struct
{
  SbEditList list; /* first: the public view of the same object */
  gatomicrefcount references;
  SbEdit edits[];
} OwnedList;

SbEditList *
sb_edit_list_new (const SbEdit *edits, guint n_edits)
{
  g_return_val_if_fail (edits != NULL || n_edits == 0, NULL);

  OwnedList *owned = g_malloc (sizeof *owned + n_edits * sizeof *edits);

  g_atomic_ref_count_init (&owned->references);
  owned->list.n_edits = n_edits;
  owned->list.edits = owned->edits;
  if (n_edits > 0)
    memcpy (owned->edits, edits, n_edits * sizeof *edits);
  return &owned->list;
}

SbEditList *
sb_edit_list_ref (const SbEditList *list)
{
  g_return_val_if_fail (list != NULL, NULL);

  OwnedList *owned = (OwnedList *)list;

  g_atomic_ref_count_inc (&owned->references);
  return &owned->list;
}

void
sb_edit_list_unref (const SbEditList *list)
{
  OwnedList *owned = (OwnedList *)list;

  if (owned != NULL && g_atomic_ref_count_dec (&owned->references))
    g_free (owned);
}

gboolean
sb_edit_list_equal (const SbEditList *a, const SbEditList *b)
{
  guint n_a = a == NULL ? 0 : a->n_edits;
  guint n_b = b == NULL ? 0 : b->n_edits;

  return n_a == n_b && sb_edit_list_common (a, b) == n_a;
}

guint
sb_edit_list_common (const SbEditList *a, const SbEditList *b)
{
  if (a == NULL || b == NULL)
    return 0;

  guint shorter = MIN (a->n_edits, b->n_edits);
  guint n = 0;

  while (n < shorter && sb_edit_equal (&a->edits[n], &b->edits[n]))
    n++;
  return n;
}

char *
sb_edit_list_print (const SbEditList *list)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; list != NULL && i < list->n_edits; i++)
    {
      g_autofree char *edit = sb_edit_print (&list->edits[i]);

      if (i > 0)
        g_string_append_c (text, ' ');
      g_string_append (text, edit);
    }
  return g_string_free (text, FALSE);
}
