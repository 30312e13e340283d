/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-backend.h"
#include "sb-error.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <gmodule.h>

#define MODULE_NAME "softbox-cuda.so"

static const SbBackendClass *
open_module (const char *path, GError **error)
{
  /* Never closed: a driver does not survive that. */
  GModule *module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  gpointer symbol = NULL;

  if (module == NULL || !g_module_symbol (module, SB_BACKEND_SYMBOL, &symbol) || symbol == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("the CUDA module cannot be opened: %s"), g_module_error ());
      return NULL;
    }
  g_module_make_resident (module);

  const SbBackendClass *table = ((SbBackendOpenFunc)symbol) (SB_BACKEND_ABI);
  if (table == NULL || table->abi != SB_BACKEND_ABI)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("the CUDA module “%s” belongs to another version"), path);
      return NULL;
    }
  return table;
}

static char *
program_dir (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  return program != NULL ? g_path_get_dirname (program) : NULL;
}

static char *
find_module (void)
{
  const char *only = g_getenv ("SOFTBOX_MODULE_DIR");
  g_autofree char *beside = program_dir ();
  g_autofree char *built = g_build_filename (SB_BUILD_DIR, "cuda", NULL);
  const char *const directories[] = { beside, SB_MODULE_DIR, built };

  if (only != NULL && *only != '\0')
    {
      char *path = g_build_filename (only, MODULE_NAME, NULL);
      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        g_clear_pointer (&path, g_free);
      return path;
    }
  for (guint i = 0; i < G_N_ELEMENTS (directories); i++)
    if (directories[i] != NULL)
      {
        g_autofree char *path = g_build_filename (directories[i], MODULE_NAME, NULL);
        if (g_file_test (path, G_FILE_TEST_EXISTS))
          return g_steal_pointer (&path);
      }
  return NULL;
}

/* Whether the driver's library is installed; does not wake a device. */
static gboolean
has_driver (void)
{
  GModule *driver = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);

  if (driver == NULL)
    return FALSE;
  g_module_close (driver);
  return TRUE;
}

const SbBackendClass *
sb_module_get_cuda (GError **error)
{
  static gsize once;
  static const SbBackendClass *table;
  static GError *reason;

  if (g_once_init_enter (&once))
    {
      g_autofree char *path = find_module ();
      if (path != NULL)
        table = open_module (path, &reason);
      else if (has_driver ())
        g_set_error (&reason, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("this build has no CUDA module"));
      else
        g_set_error (&reason, SB_ERROR, SB_ERROR_UNAVAILABLE,
                     _ ("there is no NVIDIA driver (libcuda.so.1), and this build has no CUDA "
                        "module"));
      g_once_init_leave (&once, 1);
    }
  if (table == NULL && error != NULL)
    *error = g_error_copy (reason);
  return table;
}
