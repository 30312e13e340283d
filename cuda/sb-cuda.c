/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-private.h"

#include "sb-error.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Status and memory ----------------------------------------------------------------------- */

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

gboolean
sb_cuda_check (SbBackend *self, cudaError_t status, const char *what, GError **error)
{
  if (status == cudaSuccess)
    return TRUE;
  cudaGetLastError ();
  if (status == cudaErrorMemoryAllocation)
    g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY, _ ("%s: the GPU's memory is full"),
                 self->name);
  else
    {
      /* Faults of a kernel, and what a driver answers after suspend, end the device for this
       * process. */
      self->lost = TRUE;
      g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_LOST, _ ("%s answers no more (%s: %s)"),
                   self->name, what, cudaGetErrorString (status));
    }
  return FALSE;
}

gboolean
sb_cuda_enter (SbBackend *self, GError **error)
{
  if (self->lost)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_LOST, _ ("%s answers no more"), self->name);
      return FALSE;
    }
  return sb_cuda_check (self, cudaSetDevice (self->device), "cudaSetDevice", error);
}

void
sb_cuda_release (SbCudaBuffer *buffer)
{
  if (buffer->data != NULL)
    cudaFree (buffer->data);
  buffer->data = NULL;
  buffer->bytes = 0;
}

gboolean
sb_cuda_reserve (SbBackend *self, SbCudaBuffer *buffer, gsize bytes, GError **error)
{
  if (buffer->bytes >= bytes)
    return TRUE;
  sb_cuda_release (buffer);
  if (!sb_cuda_check (self, cudaMalloc (&buffer->data, bytes), "cudaMalloc", error))
    {
      buffer->data = NULL;
      return FALSE;
    }
  buffer->bytes = bytes;
  return TRUE;
}

gboolean
sb_cuda_reserve_staging (SbBackend *self, gsize bytes, GError **error)
{
  if (self->staging_bytes >= bytes)
    return TRUE;
  cudaFreeHost (self->staging);
  self->staging = NULL;
  self->staging_bytes = 0;
  if (!sb_cuda_check (self, cudaHostAlloc ((void **)&self->staging, bytes, cudaHostAllocDefault),
                      "cudaHostAlloc", error))
    return FALSE;
  self->staging_bytes = bytes;
  return TRUE;
}

SbCudaPicture
sb_cuda_picture (SbBackend *self, const SbCudaBuffer *buffer, guint depth)
{
  return (SbCudaPicture){ buffer->data, sb_cuda_stride (self->picture.width, depth),
                          (int)self->picture.width, (int)self->picture.height, (int)depth };
}

static gboolean
reserve_picture (SbBackend *self, SbCudaBuffer *buffer, guint depth, GError **error)
{
  const gsize stride = sb_cuda_stride (self->picture.width, depth);
  const gsize bytes = (gsize)self->picture.width * depth / 2;

  if (!sb_cuda_reserve (self, buffer, stride * self->picture.height, error))
    return FALSE;
  /* Kernels read rows in units that reach into the room behind their last pixel. */
  return stride == bytes
         || sb_cuda_check (self,
                           cudaMemset2DAsync ((guint8 *)buffer->data + bytes, stride, 0,
                                              stride - bytes, self->picture.height, self->compute),
                           "cudaMemset2D", error);
}

/* --- Opening --------------------------------------------------------------------------------- */

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
      = { &self->original, &self->base,     &self->results[0], &self->results[1],
          &self->steps[0], &self->steps[1], &self->work[0],    &self->work[1],
          &self->mask,     &self->tables,   &self->view };

  cudaSetDevice (self->device);
  for (guint i = 0; i < G_N_ELEMENTS (buffers); i++)
    sb_cuda_release (buffers[i]);
  cudaFreeHost (self->staging);
  if (self->shown != NULL)
    cudaEventDestroy (self->shown);
  if (self->compute != NULL)
    cudaStreamDestroy (self->compute);
  if (self->display != NULL)
    cudaStreamDestroy (self->display);
  cudaGetLastError (); /* of a lost device all of these fail */
  g_mutex_clear (&self->lock);
  g_free (self->name);
  g_free (self);
}

static SbBackend *
cuda_open (const SbDevice *device, GError **error)
{
  int n = 0;
  cudaError_t status = cudaGetDeviceCount (&n);
  struct cudaDeviceProp properties;

  if (status != cudaSuccess || n == 0)
    {
      unavailable (status == cudaSuccess ? cudaErrorNoDevice : status, error);
      return NULL;
    }
  const int index = device->kind == SB_DEVICE_CUDA ? device->index : 0;
  if (index < 0 || index >= n)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("there is no CUDA device %d; devices are 0 to %d"), index, n - 1);
      return NULL;
    }

  SbBackend *self = g_new0 (SbBackend, 1);
  self->device = index;
  g_mutex_init (&self->lock);
  int least = 0, greatest = 0;
  if ((status = cudaSetDevice (index)) != cudaSuccess
      || (status = cudaGetDeviceProperties (&properties, index)) != cudaSuccess
      || (status = sb_cuda_blur_prepare (&self->limits, index)) != cudaSuccess
      || (status = cudaDeviceGetStreamPriorityRange (&least, &greatest)) != cudaSuccess
      || (status = cudaStreamCreateWithPriority (&self->compute, cudaStreamNonBlocking, least))
             != cudaSuccess
      || (status = cudaStreamCreateWithPriority (&self->display, cudaStreamNonBlocking, greatest))
             != cudaSuccess
      || (status = cudaEventCreateWithFlags (&self->shown, cudaEventDisableTiming)) != cudaSuccess)
    {
      unavailable (status, error);
      cuda_close (self);
      return NULL;
    }
  self->name = g_strdup_printf ("%s, CUDA", properties.name);
  return self;
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

/* --- Pictures -------------------------------------------------------------------------------- */

static gboolean
upload (SbBackend *self, const SbCudaPicture *to, const guint8 *pixels, gsize stride,
        GError **error)
{
  return sb_cuda_check (self,
                        cudaMemcpy2DAsync (to->pixels, to->stride, pixels, stride,
                                           (gsize)to->width * (gsize)to->depth / 2,
                                           (gsize)to->height, cudaMemcpyHostToDevice,
                                           self->compute),
                        "upload", error)
         && sb_cuda_check (self, cudaStreamSynchronize (self->compute), "upload", error);
}

static gboolean
download (SbBackend *self, const SbCudaPicture *from, guint8 *pixels, GError **error)
{
  const gsize row = (gsize)from->width * (gsize)from->depth / 2;
  return sb_cuda_check (self,
                        cudaMemcpy2DAsync (pixels, row, from->pixels, from->stride, row,
                                           (gsize)from->height, cudaMemcpyDeviceToHost,
                                           self->compute),
                        "download", error)
         && sb_cuda_check (self, cudaStreamSynchronize (self->compute), "download", error);
}

/* The tables of the picture's tone curve, once for a curve. */
static gboolean
load_tone (SbBackend *self, const SbTone *tone, GError **error)
{
  const gsize wide = 3 * 65536 * sizeof (guint16), narrow = 3 * 256 * sizeof (guint16);
  const gsize steps_bytes = 3 * 8192 * sizeof (guint16);
  g_autofree guint16 *steps = g_new (guint16, 3 * 8192);
  gboolean gentle = TRUE;

  if (self->tone == tone)
    return TRUE;
  self->tone = NULL;
  for (int c = 0; c < 3; c++)
    for (int j = 0; j < 8192; j++)
      {
        const guint8 *codes = tone->encode8[c] + 8 * j;
        int at = 8;
        for (int k = 7; k > 0; k--)
          if (codes[k] != codes[0])
            at = k;
        gentle = gentle && codes[7] <= codes[0] + 1;
        steps[8192 * c + j] = (guint16)(codes[0] | at << 8);
      }

  if (!sb_cuda_reserve (self, &self->tables, 2 * wide + narrow + steps_bytes, error))
    return FALSE;
  guint8 *at = self->tables.data;
  const struct
  {
    const void *from;
    gsize bytes;
  } parts[] = { { tone->decode, wide },
                { tone->encode, wide },
                { tone->decode8, narrow },
                { steps, steps_bytes } };
  const guint8 *places[4];
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      if (!sb_cuda_check (self,
                          cudaMemcpy (at, parts[i].from, parts[i].bytes, cudaMemcpyHostToDevice),
                          "tables", error))
        return FALSE;
      places[i] = at;
      at += parts[i].bytes;
    }
  self->tone_tables.decode = (const guint16 *)places[0];
  self->tone_tables.encode = (const guint16 *)places[1];
  self->tone_tables.decode8 = (const guint16 *)places[2];
  self->tone_tables.encode8_steps = gentle ? (const guint16 *)places[3] : NULL;
  self->tone_tables.same = TRUE;
  for (int c = 1; c < 3; c++)
    if (memcmp (steps, steps + 8192 * c, 8192 * sizeof (guint16)) != 0)
      self->tone_tables.same = FALSE;
  self->tone = tone;
  return TRUE;
}

static gboolean
cuda_load (SbBackend *self, const SbPicture *original, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;

  /* A view may be reading what is there: it has the lock while it launches, and the device's end
   * here. */
  g_mutex_lock (&self->lock);
  cudaStreamSynchronize (self->display);
  self->picture = *original;
  self->opaque = original->opaque;
  self->has_base = self->has_mask = FALSE;
  self->front = 0;
  const gboolean done = load_tone (self, original->tone, error)
                        && reserve_picture (self, &self->original, original->depth, error)
                        && reserve_picture (self, &self->results[0], original->depth, error)
                        && reserve_picture (self, &self->results[1], original->depth, error);
  if (done)
    {
      const SbCudaPicture to = sb_cuda_picture (self, &self->original, original->depth);
      const gboolean there
          = upload (self, &to, original->pixels, original->stride, error)
            && sb_cuda_check (
                self,
                cudaMemcpy2DAsync (self->results[0].data, to.stride, self->original.data, to.stride,
                                   (gsize)to.width * original->depth / 2, (gsize)to.height,
                                   cudaMemcpyDeviceToDevice, self->compute),
                "copy", error)
            && sb_cuda_check (self, cudaStreamSynchronize (self->compute), "copy", error);
      g_mutex_unlock (&self->lock);
      return there;
    }
  self->picture.width = 0;
  g_mutex_unlock (&self->lock);
  return FALSE;
}

static gboolean
cuda_set_base (SbBackend *self, const SbPicture *base16, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  self->has_base = FALSE;
  if (base16 == NULL)
    return TRUE;
  if (!reserve_picture (self, &self->base, 16, error))
    return FALSE;
  const SbCudaPicture to = sb_cuda_picture (self, &self->base, 16);
  self->has_base = upload (self, &to, base16->pixels, base16->stride, error);
  return self->has_base;
}

/* --- Rendering ------------------------------------------------------------------------------- */

/* The edits from where they start to `target`, through 16-bit pictures in between. */
static gboolean
run (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
     const SbCudaPicture *target, GCancellable *cancellable, GError **error)
{
  SbCudaPicture source = start == SB_START_BASE
                             ? sb_cuda_picture (self, &self->base, 16)
                             : sb_cuda_picture (self, &self->original, self->picture.depth);

  if (n_edits == 0)
    return sb_cuda_check (
        self, sb_cuda_convert (&source, target, 0, 0, source.width, source.height, self->compute),
        "convert", error);
  for (guint i = 0; i < n_edits; i++)
    {
      SbCudaPicture to = *target;
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (i + 1 < n_edits)
        {
          if (!reserve_picture (self, &self->steps[i & 1], 16, error))
            return FALSE;
          to = sb_cuda_picture (self, &self->steps[i & 1], 16);
        }
      if (!sb_cuda_edit (self, &edits[i], &source, &to, error))
        return FALSE;
      source = to;
    }
  return TRUE;
}

static gboolean
finish (SbBackend *self, GError **error)
{
  return sb_cuda_check (self, cudaStreamSynchronize (self->compute), "render", error);
}

static gboolean
cuda_make_base (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                GCancellable *cancellable, GError **error)
{
  SbCudaBuffer made = { NULL, 0 };

  if (!sb_cuda_enter (self, error) || !reserve_picture (self, &made, 16, error))
    return FALSE;
  const SbCudaPicture target = sb_cuda_picture (self, &made, 16);
  if (!run (self, start, edits, n_edits, &target, cancellable, error) || !finish (self, error))
    {
      cudaStreamSynchronize (self->compute);
      sb_cuda_release (&made);
      return FALSE;
    }
  sb_cuda_release (&self->base);
  self->base = made;
  self->has_base = TRUE;
  return TRUE;
}

static gboolean
cuda_render (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, SbQuality quality,
             GCancellable *cancellable, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  const guint back = 1 - self->front;
  const cudaError_t status = cudaStreamWaitEvent (self->compute, self->shown, 0);
  g_mutex_unlock (&self->lock);

  const SbCudaPicture target = sb_cuda_picture (self, &self->results[back], self->picture.depth);
  if (!sb_cuda_check (self, status, "cudaStreamWaitEvent", error)
      || !run (self, start, edits, n_edits, &target, cancellable, error) || !finish (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  self->front = back;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
cuda_show_exact (SbBackend *self)
{
}

static gboolean
cuda_read (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, guint depth,
           guint8 *pixels, GCancellable *cancellable, GError **error)
{
  SbCudaBuffer made = { NULL, 0 };

  if (!sb_cuda_enter (self, error) || !reserve_picture (self, &made, depth, error))
    return FALSE;
  const SbCudaPicture target = sb_cuda_picture (self, &made, depth);
  const gboolean done = run (self, start, edits, n_edits, &target, cancellable, error)
                        && download (self, &target, pixels, error);
  cudaStreamSynchronize (self->compute);
  sb_cuda_release (&made);
  return done;
}

static gboolean
cuda_read_result (SbBackend *self, guint8 *pixels, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  const SbCudaPicture from
      = sb_cuda_picture (self, &self->results[self->front], self->picture.depth);
  return download (self, &from, pixels, error);
}

static void
cuda_trim (SbBackend *self)
{
  if (!sb_cuda_enter (self, NULL))
    return;
  sb_cuda_release (&self->steps[0]);
  sb_cuda_release (&self->steps[1]);
  sb_cuda_release (&self->work[1]);
}

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
  const guint8 *at
      = what == SB_SHOW_ORIGINAL ? self->original.data : self->results[self->front].data;
  at += (gsize)y * sb_cuda_stride (self->picture.width, depth) + (gsize)x * bytes;
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

static const SbBackendClass cuda_class = {
  .abi = SB_BACKEND_ABI,
  .kind = "cuda",
  .list = cuda_list,
  .open = cuda_open,
  .close = cuda_close,
  .get_name = cuda_get_name,
  .is_immediate = cuda_is_immediate,
  .load = cuda_load,
  .set_base = cuda_set_base,
  .make_base = cuda_make_base,
  .render = cuda_render,
  .show_exact = cuda_show_exact,
  .read = cuda_read,
  .read_result = cuda_read_result,
  .trim = cuda_trim,
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
