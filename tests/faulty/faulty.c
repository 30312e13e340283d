/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-backend.h"
#include "sb-cuda-fault-plan.h"
#include "sb-cuda-fault.h"
#include "sb-error.h"

#include <gmodule.h>
#include <stdlib.h>
#include <string.h>

/* A module like the CUDA one, where the CPU computes: what fails, and when, is planned by the test
 * as sb-cuda-fault.h says. Codes: 2 is memory, all others end the device.
 *
 * SOFTBOX_FAULTY in the environment makes another module of it: "abi": for another version;
 * "driver", "device", "old", "memory": what cannot be had when it is opened; "WHAT:SKIP:CODE": what
 * is planned from the start. */

#define MEMORY 2

static GMutex lock;
static gboolean lost, trapped;

G_MODULE_EXPORT const SbBackendClass *sb_backend_open (guint abi);

/* Whether the call may go on. */
static gboolean
pass (const char *what, GError **error)
{
  const int code = sb_cuda_fault_due (what);

  g_mutex_lock (&lock);
  if (code != 0)
    {
      lost = code != MEMORY;
      trapped = code == SB_CUDA_FAULT_TRAP;
    }
  const gboolean gone = lost;
  g_mutex_unlock (&lock);
  if (code == MEMORY)
    g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_FULL, "Faulty: the GPU's memory is full");
  else if (gone)
    g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_LOST, "Faulty answers no more (%s)", what);
  return code == 0 && !gone;
}

static const SbBackendClass *
cpu (void)
{
  return &sb_cpu_backend_class;
}

static gboolean
refuse (GError **error)
{
  static const struct
  {
    const char *name, *message;
    SbError code;
  } reasons[] = {
    { "driver", "there is no NVIDIA driver", SB_ERROR_UNAVAILABLE },
    { "device", "there is no NVIDIA GPU", SB_ERROR_UNAVAILABLE },
    { "old", "Faulty is too old: it has compute capability 6.1, 7.5 is needed",
      SB_ERROR_UNAVAILABLE },
    { "memory", "Faulty: the GPU's memory is full", SB_ERROR_DEVICE_FULL },
  };
  const char *wish = g_getenv ("SOFTBOX_FAULTY");

  for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
    if (g_strcmp0 (wish, reasons[i].name) == 0)
      {
        g_set_error_literal (error, SB_ERROR, (int)reasons[i].code, reasons[i].message);
        return TRUE;
      }
  return FALSE;
}

static char *
faulty_list (guint threads, GError **error)
{
  return refuse (error) ? NULL : g_strdup ("0: Faulty");
}

static SbBackend *
faulty_open (const SbDevice *device, GError **error)
{
  const SbDevice inner = { SB_DEVICE_CPU, 0, 2 };

  g_mutex_lock (&lock);
  lost = trapped; /* a kernel's fault ends the process's device */
  g_mutex_unlock (&lock);
  return !refuse (error) && pass ("open", error) ? cpu ()->open (&inner, error) : NULL;
}

static const char *
faulty_get_name (SbBackend *backend)
{
  return "Faulty, CUDA";
}

static gboolean
faulty_is_immediate (SbBackend *backend)
{
  return TRUE;
}

static gboolean
faulty_load (SbBackend *backend, const SbPicture *original, GError **error)
{
  return pass ("upload", error) && cpu ()->load (backend, original, error);
}

static gboolean
faulty_make_base (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                  GCancellable *cancellable, GError **error)
{
  return pass ("blur", error)
         && cpu ()->make_base (backend, start, edits, n_edits, cancellable, error);
}

static gboolean
faulty_render (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
               SbQuality quality, GCancellable *cancellable, GError **error)
{
  return pass ("blur", error)
         && cpu ()->render (backend, start, edits, n_edits, quality, cancellable, error);
}

static gboolean
faulty_read (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits, guint depth,
             guint8 *pixels, GCancellable *cancellable, GError **error)
{
  return pass ("download", error)
         && cpu ()->read (backend, start, edits, n_edits, depth, pixels, cancellable, error);
}

static gboolean
faulty_read_result (SbBackend *backend, guint8 *pixels, GError **error)
{
  return pass ("download", error) && cpu ()->read_result (backend, pixels, error);
}

static gboolean
faulty_set_subbands (SbBackend *backend, const SbHaarChoice *choice, GCancellable *cancellable,
                     GError **error)
{
  return pass ("haar", error) && cpu ()->set_subbands (backend, choice, cancellable, error);
}

static gboolean
faulty_read_subbands (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                      const SbHaarChoice *choice, float *const *bands, GCancellable *cancellable,
                      GError **error)
{
  return pass ("haar", error)
         && cpu ()->read_subbands (backend, start, edits, n_edits, choice, bands, cancellable,
                                   error);
}

static gboolean
faulty_measure_band (SbBackend *backend, SbHaarBand band, SbHaarStatistics *statistics,
                     GCancellable *cancellable, GError **error)
{
  return pass ("measure", error)
         && cpu ()->measure_band (backend, band, statistics, cancellable, error);
}

static gboolean
faulty_summarize_subbands (SbBackend *backend, SbHaarSummary *summary, GCancellable *cancellable,
                           GError **error)
{
  return pass ("measure", error)
         && cpu ()->summarize_subbands (backend, summary, cancellable, error);
}

static gboolean
faulty_measure_edit (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                     SbBandsMeasure *measure, GCancellable *cancellable, GError **error)
{
  return pass ("measure", error)
         && cpu ()->measure_edit (backend, start, edits, n_edits, measure, cancellable, error);
}

static gboolean
faulty_show_host (SbBackend *backend, const SbView *view, guint8 *rgba, gsize stride,
                  GError **error)
{
  return pass ("show", error) && cpu ()->show_host (backend, view, rgba, stride, error);
}

static void
plan_from_environment (void)
{
  const char *wish = g_getenv ("SOFTBOX_FAULTY");
  g_auto (GStrv) parts = wish != NULL ? g_strsplit (wish, ":", 3) : NULL;

  if (parts != NULL && g_strv_length (parts) == 3)
    sb_cuda_fault_plan (parts[0], (guint)strtoul (parts[1], NULL, 10),
                        (int)strtol (parts[2], NULL, 10));
}

const SbBackendClass *
sb_backend_open (guint abi)
{
  static SbBackendClass table;

  if (abi != SB_BACKEND_ABI || g_strcmp0 (g_getenv ("SOFTBOX_FAULTY"), "abi") == 0)
    return NULL;
  plan_from_environment ();
  table = *cpu ();
  table.kind = "cuda";
  table.list = faulty_list;
  table.open = faulty_open;
  table.get_name = faulty_get_name;
  table.is_immediate = faulty_is_immediate;
  table.load = faulty_load;
  table.make_base = faulty_make_base;
  table.render = faulty_render;
  table.read = faulty_read;
  table.read_result = faulty_read_result;
  table.ref_result = NULL; /* a device's pixels are elsewhere */
  table.set_subbands = faulty_set_subbands;
  table.read_subbands = faulty_read_subbands;
  table.measure_band = faulty_measure_band;
  table.summarize_subbands = faulty_summarize_subbands;
  table.measure_edit = faulty_measure_edit;
  table.show_host = faulty_show_host;
  return &table;
}
