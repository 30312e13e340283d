/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli.h"

#include <string.h>

#include <glib/gi18n-lib.h>

/* --- Devices --------------------------------------------------------------------------------- */

int
sb_cli_list_devices (const SbCli *cli)
{
  g_autofree char *list = sb_engine_list_devices (cli->device.threads);

  if (!cli->json)
    {
      sb_cli_print ("%s", list);
      return SB_CLI_DONE;
    }

  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  g_autoptr (GString) json = g_string_new ("[");

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *colon = strstr (lines[i], ": ");

      if (colon == NULL)
        continue;
      *colon = '\0';
      g_string_append (json, json->len == 1 ? "\n  {\"device\": " : ",\n  {\"device\": ");
      sb_cli_append_json (json, lines[i]);
      g_string_append (json, ", \"description\": ");
      sb_cli_append_json (json, colon + 2);
      g_string_append_c (json, '}');
    }
  sb_cli_print ("%s\n]\n", json->str);
  return SB_CLI_DONE;
}

/* --- Edits ----------------------------------------------------------------------------------- */

/* What every edit has besides the table's parameters. */
static const struct
{
  const char *key, *label, *values, *initial;
} area_keys[] = {
  { "area", N_ ("Area"), "whole | rect:x:y:width:height | ellipse:x:y:width:height", "whole" },
  { "feather", N_ ("Feather"), "0..500 px", "0" },
  { "invert", N_ ("Invert the area"), "0 | 1", "0" },
};
G_STATIC_ASSERT (SB_AREA_MAX_FEATHER == 500);

static void
append_value (GString *text, const SbParameter *parameter, double value)
{
  if (parameter->type == SB_PARAMETER_CHOICE)
    g_string_append (text, parameter->choices[(guint)value]);
  else
    sb_cli_append_number (text, value, 0);
}

static char *
describe_values (const SbParameter *parameter)
{
  GString *text = g_string_new (NULL);

  switch (parameter->type)
    {
    case SB_PARAMETER_NUMBER:
      append_value (text, parameter, parameter->minimum);
      g_string_append (text, "..");
      append_value (text, parameter, parameter->maximum);
      if (parameter->unit != NULL)
        g_string_append_printf (text, " %s", parameter->unit);
      if (parameter->quantum < 1)
        g_string_append_printf (text, _ (", to the nearest 1/%u"),
                                (guint)(1 / parameter->quantum + 0.5));
      break;
    case SB_PARAMETER_SWITCH:
      g_string_append (text, "0 | 1");
      break;
    case SB_PARAMETER_CHOICE:
      for (guint i = 0; parameter->choices[i] != NULL; i++)
        g_string_append_printf (text, "%s%s", i == 0 ? "" : " | ", parameter->choices[i]);
      break;
    }
  return g_string_free (text, FALSE);
}

static void
append_json_number (GString *json, const char *key, double value, guint decimals)
{
  g_string_append_printf (json, ", \"%s\": ", key);
  sb_cli_append_number (json, value, decimals);
}

static void
append_json_string (GString *json, const char *key, const char *value)
{
  g_string_append_printf (json, ", \"%s\": ", key);
  sb_cli_append_json (json, value);
}

static void
append_json_parameter (GString *json, const SbParameter *parameter)
{
  g_string_append (json, "{\"key\": ");
  sb_cli_append_json (json, parameter->key);
  append_json_string (json, "label", _ (parameter->label));
  if (parameter->type == SB_PARAMETER_CHOICE)
    {
      g_string_append (json, ", \"values\": [");
      for (guint i = 0; parameter->choices[i] != NULL; i++)
        {
          g_string_append (json, i == 0 ? "" : ", ");
          sb_cli_append_json (json, parameter->choices[i]);
        }
      g_string_append_c (json, ']');
      append_json_string (json, "default", parameter->choices[(guint)parameter->initial]);
    }
  else
    {
      append_json_number (json, "minimum", parameter->minimum, 0);
      append_json_number (json, "maximum", parameter->maximum, 0);
      append_json_number (json, "quantum", parameter->quantum, parameter->quantum < 1 ? 6 : 0);
      append_json_number (json, "default", parameter->initial, 0);
      if (parameter->unit != NULL)
        append_json_string (json, "unit", parameter->unit);
    }
  g_string_append_c (json, '}');
}

static void
print_edits_json (void)
{
  g_autoptr (GString) json = g_string_new ("[");

  for (guint kind = 0; kind < SB_N_EDIT_KINDS; kind++)
    {
      const SbEditClass *klass = sb_edit_class ((SbEditKind)kind);

      g_string_append (json, kind == 0 ? "\n  {\"edit\": " : ",\n  {\"edit\": ");
      sb_cli_append_json (json, klass->key);
      append_json_string (json, "label", _ (klass->label));
      g_string_append (json, ", \"keys\": [");
      for (guint i = 0; i < klass->n_parameters; i++)
        {
          g_string_append (json, i == 0 ? "\n    " : ",\n    ");
          append_json_parameter (json, &klass->parameters[i]);
        }
      for (guint i = 0; i < G_N_ELEMENTS (area_keys); i++)
        {
          g_string_append (json, ",\n    {\"key\": ");
          sb_cli_append_json (json, area_keys[i].key);
          append_json_string (json, "label", _ (area_keys[i].label));
          append_json_string (json, "form", area_keys[i].values);
          append_json_string (json, "default", area_keys[i].initial);
          g_string_append_c (json, '}');
        }
      g_string_append (json, "]}");
    }
  sb_cli_print ("%s\n]\n", json->str);
}

static void
print_key (const char *key, const char *label, const char *values, const char *initial)
{
  /* Translators: a key of an edit's text: "radius  0..2000 px (14)  Radius"; the value in brackets
   * is the default */
  sb_cli_print (_ ("  %-10s %s  [%s]  %s\n"), key, values, initial, label);
}

int
sb_cli_list_edits (const SbCli *cli)
{
  if (cli->json)
    {
      print_edits_json ();
      return SB_CLI_DONE;
    }

  sb_cli_print (_ ("KIND:KEY=VALUE,KEY=VALUE, every key optional; its default is in brackets.\n"));
  for (guint kind = 0; kind < SB_N_EDIT_KINDS; kind++)
    {
      const SbEditClass *klass = sb_edit_class ((SbEditKind)kind);

      sb_cli_print ("\n%s\n", klass->key);
      for (guint i = 0; i < klass->n_parameters; i++)
        {
          const SbParameter *parameter = &klass->parameters[i];

          /* One line for all levels. */
          if (parameter->level > 1)
            continue;

          g_autofree char *values = describe_values (parameter);
          g_autofree char *key = parameter->level == 0 ? g_strdup (parameter->key)
                                                       : g_strdup_printf ("%s..%d", parameter->key,
                                                                          SB_BANDS_MAX_LEVELS);
          g_autoptr (GString) initial = g_string_new (NULL);

          append_value (initial, parameter, parameter->initial);
          print_key (key, _ (parameter->label), values, initial->str);
        }
      for (guint i = 0; i < G_N_ELEMENTS (area_keys); i++)
        print_key (area_keys[i].key, _ (area_keys[i].label), area_keys[i].values,
                   area_keys[i].initial);
    }
  return SB_CLI_DONE;
}
