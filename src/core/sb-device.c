/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-backend.h"
#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <string.h>

gboolean
sb_device_parse (const char *text, SbDevice *device, GError **error)
{
  SbDevice parsed = { SB_DEVICE_AUTO, 0, 0 };
  guint64 index = 0;

  g_return_val_if_fail (text != NULL && device != NULL, FALSE);

  if (strcmp (text, "auto") == 0)
    parsed.kind = SB_DEVICE_AUTO;
  else if (strcmp (text, "cpu") == 0)
    parsed.kind = SB_DEVICE_CPU;
  else if (strcmp (text, "cuda") == 0)
    parsed.kind = SB_DEVICE_CUDA;
  else if (g_str_has_prefix (text, "cuda:")
           && g_ascii_string_to_unsigned (text + 5, 10, 0, 1023, &index, NULL))
    {
      parsed.kind = SB_DEVICE_CUDA;
      parsed.index = (int)index;
    }
  else
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("“%s” is not a device: choose auto, cpu, cuda or cuda:N with N from 0"),
                   text);
      return FALSE;
    }
  *device = parsed;
  return TRUE;
}

static void
append_devices (GString *text, const SbBackendClass *table, const char *kind, guint threads,
                const GError *missing)
{
  g_autoptr (GError) error = missing != NULL ? g_error_copy (missing) : NULL;
  g_autofree char *lines = table != NULL ? table->list (threads, &error) : NULL;

  if (lines == NULL)
    {
      g_string_append_printf (text, _ ("%s: not available: %s"), kind,
                              error != NULL ? error->message : "");
      g_string_append_c (text, '\n');
      return;
    }
  g_auto (GStrv) each = g_strsplit (lines, "\n", -1);
  for (guint i = 0; each[i] != NULL; i++)
    if (*each[i] != '\0')
      g_string_append_printf (text, "%s: %s\n", kind, each[i]);
}

char *
sb_engine_list_devices (guint threads)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  const SbBackendClass *cuda = sb_module_get_cuda (&error);

  append_devices (text, &sb_cpu_backend_class, "cpu", threads, NULL);
  append_devices (text, cuda, "cuda", threads, error);
  return g_string_free (text, FALSE);
}
