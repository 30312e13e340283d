/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-private.h"

#include "sb-error.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Opening --------------------------------------------------------------------------------- */

/* What a user reads where there is no device. */
static gboolean
unavailable (cudaError_t status, GError **error)
{
  cudaGetLastError ();
  if (status == cudaErrorInsufficientDriver)
    {
      int driver = 0, runtime = 0;
      cudaDriverGetVersion (&driver);
      cudaRuntimeGetVersion (&runtime);
      cudaGetLastError ();
      if (driver == 0)
        g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("there is no NVIDIA driver"));
      else
        g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                     _ ("the NVIDIA driver is too old: it supports CUDA %d.%d, %d.%d is needed"),
                     driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    }
  else if (status == cudaErrorNoDevice)
    g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("there is no NVIDIA GPU"));
  else if (status == cudaErrorSystemDriverMismatch)
    g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                 _ ("the NVIDIA driver was updated; restart the computer"));
  else if (status == cudaErrorNoKernelImageForDevice)
    g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                 _ ("this build has no code for this NVIDIA GPU"));
  else
    g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("CUDA cannot be used: %s"),
                 cudaGetErrorString (status));
  return FALSE;
}

/* Older devices lack what the kernels are built on. */
#define LEAST_MAJOR 7
#define LEAST_MINOR 5

static gboolean
is_too_old (const struct cudaDeviceProp *p)
{
  return p->major < LEAST_MAJOR || (p->major == LEAST_MAJOR && p->minor < LEAST_MINOR);
}

static char *
cuda_list (guint threads, GError **error)
{
  int n = 0;
  cudaError_t status = cudaGetDeviceCount (&n);
  g_autoptr (GString) text = g_string_new (NULL);

  if (status != cudaSuccess || n == 0)
    {
      unavailable (status == cudaSuccess ? cudaErrorNoDevice : status, error);
      return NULL;
    }
  for (int i = 0; i < n; i++)
    {
      struct cudaDeviceProp p;
      status = cudaGetDeviceProperties (&p, i);
      if (i > 0)
        g_string_append_c (text, '\n');
      if (status != cudaSuccess)
        g_string_append_printf (text, "%d: %s", i, cudaGetErrorString (status));
      else if (is_too_old (&p))
        g_string_append_printf (text, _ ("%d: %s, compute capability %d.%d, below %d.%d: not used"),
                                i, p.name, p.major, p.minor, LEAST_MAJOR, LEAST_MINOR);
      else
        g_string_append_printf (text, _ ("%d: %s, compute capability %d.%d, %.1f GiB"), i, p.name,
                                p.major, p.minor, (double)p.totalGlobalMem / (1 << 30));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
cuda_close (SbBackend *self)
{
  SbCudaBuffer *const buffers[]
      = { &self->original,    &self->base,       &self->results[0], &self->results[1],
          &self->steps[0],    &self->steps[1],   &self->work,       &self->second,
          &self->mask,        &self->spans,      &self->tables,     &self->view,
          &self->deep,        &self->bins,       &self->measures,   &self->display_table,
          &self->subbands[0], &self->subbands[1] };

  /* Of a lost device all of this fails. */
  cudaSetDevice (self->device);
  if (self->compute != NULL)
    cudaStreamSynchronize (self->compute);
  if (self->display != NULL)
    cudaStreamSynchronize (self->display);
  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++)
    sb_cuda_release (buffers[i]);
  for (guint i = 0; i < SB_CUDA_CHUNKS; i++)
    {
      cudaFreeHost (self->chunks.pixels[i]);
      if (self->chunks.done[i] != NULL)
        cudaEventDestroy (self->chunks.done[i]);
    }
  cudaFreeHost (self->staging);
  cudaEvent_t const events[] = { self->shown,
                                 self->loaded,
                                 self->timers[SB_CUDA_COMPUTE].begin,
                                 self->timers[SB_CUDA_COMPUTE].end,
                                 self->timers[SB_CUDA_DISPLAY].begin,
                                 self->timers[SB_CUDA_DISPLAY].end };
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    if (events[i] != NULL)
      cudaEventDestroy (events[i]);
  if (self->compute != NULL)
    cudaStreamDestroy (self->compute);
  if (self->display != NULL)
    cudaStreamDestroy (self->display);
  cudaGetLastError ();
  g_mutex_clear (&self->lock);
  g_free (self->name);
  g_free (self);
}

static cudaError_t
make_objects (SbBackend *self)
{
  int least = 0, greatest = 0;
  cudaError_t status = cudaDeviceGetStreamPriorityRange (&least, &greatest);

  if (status == cudaSuccess)
    status = cudaStreamCreateWithPriority (&self->compute, cudaStreamNonBlocking, least);
  if (status == cudaSuccess)
    status = cudaStreamCreateWithPriority (&self->display, cudaStreamNonBlocking, greatest);
  if (status == cudaSuccess)
    status = cudaEventCreateWithFlags (&self->shown, cudaEventDisableTiming);
  if (status == cudaSuccess)
    status = cudaEventCreateWithFlags (&self->loaded, cudaEventDisableTiming);
  for (guint i = 0; status == cudaSuccess && i < SB_CUDA_N_STREAMS; i++)
    {
      status = cudaEventCreate (&self->timers[i].begin);
      if (status == cudaSuccess)
        status = cudaEventCreate (&self->timers[i].end);
    }
  for (guint i = 0; status == cudaSuccess && i < SB_CUDA_CHUNKS; i++)
    {
      status = cudaHostAlloc ((void **)&self->chunks.pixels[i], SB_CUDA_CHUNK_BYTES,
                              cudaHostAllocDefault);
      if (status == cudaSuccess)
        status = cudaEventCreateWithFlags (&self->chunks.done[i], cudaEventDisableTiming);
    }
  return status;
}

static SbBackend *
open_device (int index, GError **error)
{
  struct cudaDeviceProp properties;
  cudaError_t status = cudaGetDeviceProperties (&properties, index);

  if (status != cudaSuccess)
    {
      unavailable (status, error);
      return NULL;
    }
  if (is_too_old (&properties))
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("%s is too old: it has compute capability %d.%d, %d.%d is needed"),
                   properties.name, properties.major, properties.minor, LEAST_MAJOR, LEAST_MINOR);
      return NULL;
    }

  SbBackend *self = g_new0 (SbBackend, 1);
  self->device = index;
  self->timed = -1;
  self->front = -1;
  self->haar_front = -1;
  self->name = g_strdup_printf ("%s, CUDA", properties.name);
  g_mutex_init (&self->lock);
  if ((status = cudaSetDevice (index)) != cudaSuccess
      || (status = sb_cuda_blur_prepare (&self->limits, index)) != cudaSuccess
      || (status = make_objects (self)) != cudaSuccess)
    {
      if (status == cudaErrorMemoryAllocation)
        sb_cuda_check (self, status, "open", error);
      else
        unavailable (status, error);
      cuda_close (self);
      return NULL;
    }
#ifdef SB_CUDA_FAULTS
  sb_cuda_fault_limits (&self->limits);
#endif
  return self;
}

static SbBackend *
cuda_open (const SbDevice *device, GError **error)
{
  int n = 0;
  const cudaError_t status = cudaGetDeviceCount (&n);

  if (status != cudaSuccess || n == 0)
    {
      unavailable (status == cudaSuccess ? cudaErrorNoDevice : status, error);
      return NULL;
    }
  if (device->kind == SB_DEVICE_CUDA)
    {
      if (device->index >= 0 && device->index < n)
        return open_device (device->index, error);
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("there is no CUDA device %d; devices are 0 to %d"), device->index, n - 1);
      return NULL;
    }
  /* The first that works; why the first of all does not, where none does. */
  g_autoptr (GError) reason = NULL;
  for (int i = 0; i < n; i++)
    {
      SbBackend *self = open_device (i, reason == NULL ? &reason : NULL);
      if (self != NULL)
        return self;
    }
  g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

static const char *
cuda_get_name (SbBackend *self)
{
  return self->name;
}

static gboolean
cuda_is_immediate (SbBackend *self)
{
  return TRUE;
}

/* --- Picking --------------------------------------------------------------------------------- */

static gboolean
cuda_pick (SbBackend *self, SbShowWhat what, int x, int y, guint16 rgba[4])
{
  guint16 wide[4];
  const guint depth = self->picture.depth;
  const gsize bytes = depth / 2;

  if (x < 0 || y < 0 || x >= (int)self->picture.width || y >= (int)self->picture.height
      || !sb_cuda_enter (self, NULL))
    return FALSE;
  g_mutex_lock (&self->lock);
  const SbCudaPicture from = what == SB_SHOW_ORIGINAL
                                 ? sb_cuda_picture (self, &self->original, depth)
                                 : sb_cuda_front (self);
  const guint8 *at = (const guint8 *)from.pixels + (gsize)y * from.stride + (gsize)x * bytes;
  const gboolean done
      = sb_cuda_check (self,
                       cudaMemcpyAsync (wide, at, bytes, cudaMemcpyDeviceToHost, self->display),
                       "pick", NULL)
        && sb_cuda_check (self, cudaStreamSynchronize (self->display), "pick", NULL);
  g_mutex_unlock (&self->lock);
  if (!done)
    return FALSE;
  for (int c = 0; c < 4; c++)
    rgba[c] = depth == 8 ? (guint16)(((const guint8 *)wide)[c] * 257) : wide[c];
  return TRUE;
}

/* The last render is always EXACT. */
static void
cuda_show_exact (SbBackend *self)
{
}

static const SbBackendClass cuda_class = {
  .abi = SB_BACKEND_ABI,
  .kind = "cuda",
  .list = cuda_list,
  .open = cuda_open,
  .close = cuda_close,
  .get_name = cuda_get_name,
  .is_immediate = cuda_is_immediate,
  .load = sb_cuda_load,
  .set_base = sb_cuda_set_base,
  .make_base = sb_cuda_make_base,
  .render = sb_cuda_render,
  .show_exact = cuda_show_exact,
  .read = sb_cuda_read,
  .read_result = sb_cuda_read_result,
  .trim = sb_cuda_trim,
  .set_subbands = sb_cuda_set_subbands,
  .measure_band = sb_cuda_measure_band,
  .summarize_subbands = sb_cuda_summarize_subbands,
  .pick_coefficient = sb_cuda_pick_coefficient,
  .read_subbands = sb_cuda_read_subbands,
  .measure_edit = sb_cuda_measure_edit,
  .measure_copy = sb_cuda_measure_copy,
  .get_device_ms = sb_cuda_get_device_ms,
  .pick = cuda_pick,
  .show_host = sb_cuda_show_host,
  .gl_attach = sb_cuda_gl_attach,
  .show_gl = sb_cuda_show_gl,
  .gl_detach = sb_cuda_gl_detach,
};

G_MODULE_EXPORT const SbBackendClass *sb_backend_open (guint abi);

const SbBackendClass *
sb_backend_open (guint abi)
{
  return abi == SB_BACKEND_ABI ? &cuda_class : NULL;
}
