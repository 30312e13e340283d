/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-edit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <glib/gi18n-lib.h>

#include "sb-bands.h"
#include "sb-error.h"

/* Keys that every kind has after its own. */
enum
{
  KEY_AREA,
  KEY_FEATHER,
  KEY_INVERT,
  N_AREA_KEYS,
};
static const char *const area_keys[N_AREA_KEYS] = { "area", "feather", "invert" };

/* --- Labels ---------------------------------------------------------------------------------- */

/* For people: at most two decimals, the decimal point that printf() has where it runs. */
static char *
number_label (double value)
{
  guint decimals = 0;

  while (decimals < 2
         && fabs (value * pow (10, decimals) - rint (value * pow (10, decimals))) > 1e-9)
    decimals++;
  return g_strdup_printf ("%.*f", (int)decimals, value);
}

static char *
blur_label (const SbEdit *edit)
{
  g_autofree char *radius = number_label (edit->values[SB_BLUR_RADIUS]);
  guint passes = (guint)edit->values[SB_BLUR_PASSES];

  switch ((SbDirection)edit->values[SB_BLUR_DIRECTION])
    {
    case SB_DIRECTION_HORIZONTAL:
      return g_strdup_printf (ngettext ("Blur %s px horizontally, %u pass",
                                        "Blur %s px horizontally, %u passes", passes),
                              radius, passes);
    case SB_DIRECTION_VERTICAL:
      return g_strdup_printf (
          ngettext ("Blur %s px vertically, %u pass", "Blur %s px vertically, %u passes", passes),
          radius, passes);
    case SB_DIRECTION_BOTH:
    default:
      return g_strdup_printf (ngettext ("Blur %s px, %u pass", "Blur %s px, %u passes", passes),
                              radius, passes);
    }
}

static char *
bands_label (const SbEdit *edit)
{
  const guint levels = (guint)edit->values[SB_BANDS_LEVELS];
  guint off = edit->values[SB_BANDS_GAIN_A] == 0 ? 1 : 0;
  guint changed = edit->values[SB_BANDS_GAIN_A] != 1 ? 1 : 0;

  for (guint level = 1; level <= levels; level++)
    for (guint orientation = 1; orientation <= 3; orientation++)
      {
        const float gain = sb_bands_gain (edit, level, orientation);
        off += gain == 0 ? 1 : 0;
        changed += gain != 1 ? 1 : 0;
      }

  g_autofree char *label
      = g_strdup_printf (ngettext ("Wavelets, %u level", "Wavelets, %u levels", levels), levels);
  g_autofree char *threshold = number_label (edit->values[SB_BANDS_THRESHOLD]);
  /* Off, or only louder and softer: the first that is so, and the threshold before both. */
  if (edit->values[SB_BANDS_THRESHOLD] > 0)
    /* Translators: "Wavelets, 5 levels, threshold 12" */
    return g_strdup_printf (_ ("%s, threshold %s"), label, threshold);
  if (off > 0)
    /* Translators: "Wavelets, 5 levels, 3 bands off" */
    return g_strdup_printf (ngettext ("%s, %u band off", "%s, %u bands off", off), label, off);
  if (changed > 0)
    return g_strdup_printf (ngettext ("%s, %u band changed", "%s, %u bands changed", changed),
                            label, changed);
  return g_steal_pointer (&label);
}

char *
sb_edit_label (const SbEdit *edit)
{
  g_return_val_if_fail (edit != NULL, NULL);

  g_autofree char *label = NULL;

  switch (edit->kind)
    {
    case SB_EDIT_BLUR:
      label = blur_label (edit);
      break;
    case SB_EDIT_BANDS:
      label = bands_label (edit);
      break;
    case SB_N_EDIT_KINDS:
      break;
    }

  switch (edit->area.shape)
    {
    case SB_AREA_RECT:
      return edit->area.invert
                 /* Translators: %s is an edit, "Blur 14 px, 3 passes". */
                 ? g_strdup_printf (_ ("%s, outside a rectangle"), label)
                 : g_strdup_printf (_ ("%s, in a rectangle"), label);
    case SB_AREA_ELLIPSE:
      return edit->area.invert ? g_strdup_printf (_ ("%s, outside an ellipse"), label)
                               : g_strdup_printf (_ ("%s, in an ellipse"), label);
    case SB_AREA_WHOLE:
    default:
      return g_steal_pointer (&label);
    }
}

/* --- Printing -------------------------------------------------------------------------------- */

/* The fewest decimals that give the same double again; never an exponent. */
static void
append_number (GString *text, double value)
{
  char buffer[64];

  for (guint decimals = 0; decimals <= 17; decimals++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%uf", decimals);
      g_ascii_formatd (buffer, sizeof buffer, format, value);
      if (g_ascii_strtod (buffer, NULL) == value)
        break;
    }
  g_string_append (text, buffer);
}

static void
append_key (GString *text, const char *key, gboolean *first)
{
  g_string_append_printf (text, "%c%s=", *first ? ':' : ',', key);
  *first = FALSE;
}

char *
sb_edit_print (const SbEdit *edit)
{
  g_return_val_if_fail (edit != NULL, NULL);

  const SbEditClass *klass = sb_edit_class (edit->kind);
  const SbArea *area = &edit->area;
  GString *text = g_string_new (klass->key);
  gboolean first = TRUE;

  for (guint i = 0; i < klass->n_parameters; i++)
    {
      const SbParameter *parameter = &klass->parameters[i];

      if (edit->values[i] == parameter->initial)
        continue;
      append_key (text, parameter->key, &first);
      if (parameter->type == SB_PARAMETER_CHOICE)
        g_string_append (text, parameter->choices[(guint)edit->values[i]]);
      else
        append_number (text, edit->values[i]);
    }
  if (area->shape != SB_AREA_WHOLE)
    {
      append_key (text, area_keys[KEY_AREA], &first);
      g_string_append_printf (text, "%s:%d:%d:%d:%d",
                              area->shape == SB_AREA_RECT ? "rect" : "ellipse", area->x, area->y,
                              area->width, area->height);
    }
  if (area->feather != 0)
    {
      append_key (text, area_keys[KEY_FEATHER], &first);
      g_string_append_printf (text, "%u", area->feather);
    }
  if (area->invert)
    {
      append_key (text, area_keys[KEY_INVERT], &first);
      g_string_append_c (text, '1');
    }
  return g_string_free (text, FALSE);
}

/* --- Parsing --------------------------------------------------------------------------------- */

/* A token as it can stand in a message: valid UTF-8, not endless. */
static char *
quotable (const char *token)
{
  const glong limit = 80;
  g_autofree char *valid = g_utf8_make_valid (token, -1);

  if (g_utf8_strlen (valid, -1) <= limit)
    return g_steal_pointer (&valid);

  g_autofree char *start = g_utf8_substring (valid, 0, limit);

  return g_strconcat (start, "…", NULL);
}

static char *
list_kinds (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < SB_N_EDIT_KINDS; i++)
    g_string_append_printf (names, "%s%s", i == 0 ? "" : ", ", sb_edit_class (i)->key);
  return g_string_free (names, FALSE);
}

/* Keys that differ by the level in their name only are told by the first and the last. */
static char *
list_keys (const SbEditClass *klass)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < klass->n_parameters; i++)
    {
      const SbParameter *parameters = klass->parameters;

      g_string_append (names, parameters[i].key);
      if (parameters[i].level > 0)
        {
          while (i + 1 < klass->n_parameters && parameters[i + 1].level > parameters[i].level)
            i++;
          g_string_append_printf (names, "…%s", parameters[i].key);
        }
      g_string_append (names, ", ");
    }
  for (guint i = 0; i < N_AREA_KEYS; i++)
    g_string_append_printf (names, "%s%s", i == 0 ? "" : ", ", area_keys[i]);
  return g_string_free (names, FALSE);
}

static void set_edit_error (GError **error, const SbEditClass *klass, const char *token,
                            const char *format, ...) G_GNUC_PRINTF (4, 5);

/* "blur, “radius=x”: must be …. The keys of blur are …". */
static void
set_edit_error (GError **error, const SbEditClass *klass, const char *token, const char *format,
                ...)
{
  g_autofree char *shown = quotable (token);
  g_autofree char *keys = list_keys (klass);
  g_autofree char *reason = NULL;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  /* Translators: a key or value of an edit's text that was refused, why, and what there is:
   * “passes=11”: must be a whole number from 1 to 10. The keys of “blur” are radius, passes */
  g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("“%s”: %s. The keys of “%s” are %s"), shown,
               reason, klass->key, keys);
}

/* Digits with at most one point and a minus sign, nothing else: g_ascii_strtod() alone would take
 * "nan", "inf", "0x1p4" and leading blanks. */
static gboolean
parse_decimal (const char *text, double *value)
{
  const char *p = text;
  guint n_digits = 0, n_points = 0;

  if (*p == '-')
    p++;
  for (; *p != '\0'; p++)
    {
      if (g_ascii_isdigit (*p))
        n_digits++;
      else if (*p == '.')
        n_points++;
      else
        return FALSE;
    }
  if (n_digits == 0 || n_points > 1)
    return FALSE;
  *value = g_ascii_strtod (text, NULL);
  return TRUE;
}

static gboolean
parse_whole (const char *text, gint64 minimum, gint64 maximum, gint64 *value)
{
  double number;

  if (strchr (text, '.') != NULL || !parse_decimal (text, &number))
    return FALSE;
  if (number < (double)minimum || number > (double)maximum)
    return FALSE;
  *value = (gint64)number;
  return TRUE;
}

static gboolean
parse_parameter (const SbEditClass *klass, guint position, const char *token, const char *text,
                 SbEdit *edit, GError **error)
{
  const SbParameter *parameter = &klass->parameters[position];
  gint64 whole;
  double number;

  switch (parameter->type)
    {
    case SB_PARAMETER_NUMBER:
      if (parameter->quantum >= 1)
        {
          if (parse_whole (text, (gint64)parameter->minimum, (gint64)parameter->maximum, &whole))
            {
              edit->values[position] = sb_parameter_clamp (parameter, (double)whole);
              return TRUE;
            }
          set_edit_error (error, klass, token, _ ("must be a whole number from %d to %d"),
                          (int)parameter->minimum, (int)parameter->maximum);
          return FALSE;
        }
      if (parse_decimal (text, &number) && number >= parameter->minimum
          && number <= parameter->maximum)
        {
          /* Adding zero takes the sign off a zero. */
          edit->values[position] = sb_parameter_clamp (parameter, number) + 0.0;
          return TRUE;
        }
      set_edit_error (error, klass, token,
                      _ ("must be a number from %d to %d, with a point for decimals"),
                      (int)parameter->minimum, (int)parameter->maximum);
      return FALSE;

    case SB_PARAMETER_SWITCH:
      if (g_str_equal (text, "0") || g_str_equal (text, "1"))
        {
          edit->values[position] = text[0] - '0';
          return TRUE;
        }
      set_edit_error (error, klass, token, _ ("must be 0 or 1"));
      return FALSE;

    case SB_PARAMETER_CHOICE:
      for (guint i = 0; parameter->choices[i] != NULL; i++)
        if (g_str_equal (text, parameter->choices[i]))
          {
            edit->values[position] = i;
            return TRUE;
          }

      g_autofree char *names = g_strjoinv (", ", (char **)parameter->choices);

      set_edit_error (error, klass, token, _ ("must be one of %s"), names);
      return FALSE;
    }
  g_return_val_if_reached (FALSE);
}

static gboolean
parse_area (const char *text, SbArea *area)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  gint64 numbers[4];

  if (g_str_equal (text, "whole"))
    {
      area->shape = SB_AREA_WHOLE;
      return TRUE;
    }
  if (g_strv_length (parts) != 5)
    return FALSE;
  if (g_str_equal (parts[0], "rect"))
    area->shape = SB_AREA_RECT;
  else if (g_str_equal (parts[0], "ellipse"))
    area->shape = SB_AREA_ELLIPSE;
  else
    return FALSE;
  for (guint i = 0; i < 4; i++)
    if (!parse_whole (parts[i + 1], i < 2 ? -SB_AREA_MAX_SIDE : 1, SB_AREA_MAX_SIDE, &numbers[i]))
      return FALSE;
  area->x = (int)numbers[0];
  area->y = (int)numbers[1];
  area->width = (int)numbers[2];
  area->height = (int)numbers[3];
  return TRUE;
}

static gboolean
parse_area_key (const SbEditClass *klass, guint key, const char *token, const char *text,
                SbEdit *edit, GError **error)
{
  gint64 whole;

  switch (key)
    {
    case KEY_AREA:
      if (parse_area (text, &edit->area))
        return TRUE;
      set_edit_error (error, klass, token,
                      _ ("must be whole, rect:x:y:width:height or ellipse:x:y:width:height, x and "
                         "y whole numbers from %d to %d, width and height from 1 to %d"),
                      -SB_AREA_MAX_SIDE, SB_AREA_MAX_SIDE, SB_AREA_MAX_SIDE);
      return FALSE;
    case KEY_FEATHER:
      if (parse_whole (text, 0, SB_AREA_MAX_FEATHER, &whole))
        {
          edit->area.feather = (guint)whole;
          return TRUE;
        }
      set_edit_error (error, klass, token, _ ("must be a whole number from %d to %d"), 0,
                      SB_AREA_MAX_FEATHER);
      return FALSE;
    default:
      if (g_str_equal (text, "0") || g_str_equal (text, "1"))
        {
          edit->area.invert = text[0] == '1';
          return TRUE;
        }
      set_edit_error (error, klass, token, _ ("must be 0 or 1"));
      return FALSE;
    }
}

/* seen: one for each key, the kind's own first. */
static gboolean
parse_token (const SbEditClass *klass, const char *token, const char *before, gboolean *seen,
             SbEdit *edit, GError **error)
{
  const char *equals = strchr (token, '=');
  guint n_keys = klass->n_parameters + N_AREA_KEYS;
  guint position;
  double number;

  if (equals == NULL)
    {
      const char *value = before == NULL ? NULL : strchr (before, '=');

      if (value != NULL && *token != '-' && parse_decimal (token, &number)
          && parse_decimal (value + 1, &number))
        set_edit_error (error, klass, token,
                        _ ("is not key=value; decimals take a point, not a comma: “%s.%s”"), before,
                        token);
      else
        set_edit_error (error, klass, token, _ ("is not key=value"));
      return FALSE;
    }

  g_autofree char *key = g_strndup (token, (gsize)(equals - token));

  for (position = 0; position < n_keys; position++)
    if (g_str_equal (key, position < klass->n_parameters
                              ? klass->parameters[position].key
                              : area_keys[position - klass->n_parameters]))
      break;
  if (position == n_keys)
    {
      g_autofree char *shown = quotable (key);

      set_edit_error (error, klass, token, _ ("there is no key “%s”"), shown);
      return FALSE;
    }
  if (seen[position])
    {
      set_edit_error (error, klass, token, _ ("the key “%s” is there twice"), key);
      return FALSE;
    }
  seen[position] = TRUE;

  if (position < klass->n_parameters)
    return parse_parameter (klass, position, token, equals + 1, edit, error);
  return parse_area_key (klass, position - klass->n_parameters, token, equals + 1, edit, error);
}

gboolean
sb_edit_parse (const char *text, SbEdit *edit, GError **error)
{
  g_return_val_if_fail (text != NULL && edit != NULL, FALSE);

  const char *colon = strchr (text, ':');
  g_autofree char *kind = colon == NULL ? g_strdup (text) : g_strndup (text, colon - text);
  const SbEditClass *klass = NULL;
  SbEdit result;
  gboolean seen[SB_EDIT_MAX_PARAMETERS + N_AREA_KEYS] = { FALSE };

  for (guint i = 0; i < SB_N_EDIT_KINDS && klass == NULL; i++)
    if (g_str_equal (kind, sb_edit_class (i)->key))
      {
        klass = sb_edit_class (i);
        sb_edit_init (&result, i);
      }
  if (klass == NULL)
    {
      g_autofree char *shown = quotable (kind);
      g_autofree char *kinds = list_kinds ();

      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("“%s” is not a kind of edit. An edit is written kind:key=value,key=value; "
                      "the kinds are %s"),
                   shown, kinds);
      return FALSE;
    }

  if (colon != NULL)
    {
      g_auto (GStrv) tokens = g_strsplit (colon + 1, ",", -1);

      /* No token at all is what g_strsplit() makes of "blur:". */
      if (tokens[0] == NULL)
        {
          set_edit_error (error, klass, text, _ ("nothing stands after the colon"));
          return FALSE;
        }
      for (guint i = 0; tokens[i] != NULL; i++)
        if (!parse_token (klass, tokens[i], i == 0 ? NULL : tokens[i - 1], seen, &result, error))
          return FALSE;
    }
  *edit = result;
  return TRUE;
}
