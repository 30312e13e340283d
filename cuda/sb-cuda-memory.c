/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-private.h"

#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <string.h>

gboolean
sb_cuda_check (SbBackend *self, cudaError_t status, const char *what, GError **error)
{
#ifdef SB_CUDA_FAULTS
  status = sb_cuda_fault (self, status, what);
#endif
  if (status == cudaSuccess)
    return TRUE;
  cudaGetLastError ();
  if (status == cudaErrorMemoryAllocation)
    g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_FULL, _ ("%s: the GPU's memory is full"),
                 self->name);
  else
    {
      /* Faults of a kernel, and what a driver answers after suspend, end the device for this
       * process. */
      g_atomic_int_set (&self->lost, TRUE);
      g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_LOST, _ ("%s answers no more (%s: %s)"),
                   self->name, what, cudaGetErrorString (status));
    }
  return FALSE;
}

gboolean
sb_cuda_enter (SbBackend *self, GError **error)
{
  if (g_atomic_int_get (&self->lost))
    {
      g_set_error (error, SB_ERROR, SB_ERROR_DEVICE_LOST, _ ("%s answers no more"), self->name);
      return FALSE;
    }
  return sb_cuda_check (self, cudaSetDevice (self->device), "cudaSetDevice", error);
}

/* --- Buffers --------------------------------------------------------------------------------- */

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
      sb_cuda_release (buffer);
      return FALSE;
    }
  buffer->bytes = bytes;
  return TRUE;
}

gboolean
sb_cuda_reserve_picture (SbBackend *self, SbCudaBuffer *buffer, guint width, guint height,
                         guint depth, GError **error)
{
  const gsize bytes = sb_cuda_stride (width, depth) * height;

  if (buffer->bytes >= bytes)
    return TRUE;
  return sb_cuda_reserve (self, buffer, bytes, error)
         && sb_cuda_check (self, cudaMemsetAsync (buffer->data, 0, bytes, self->compute),
                           "cudaMemset", error);
}

gboolean
sb_cuda_reserve_staging (SbBackend *self, gsize bytes, GError **error)
{
  if (self->staging_bytes >= bytes)
    return TRUE;
  cudaFreeHost (self->staging);
  self->staging = NULL;
  self->staging_bytes = 0;
  bytes += bytes / 4; /* for a window that is being made larger */
  if (!sb_cuda_check (self, cudaHostAlloc ((void **)&self->staging, bytes, cudaHostAllocDefault),
                      "cudaHostAlloc", error))
    {
      cudaFreeHost (self->staging);
      self->staging = NULL;
      return FALSE;
    }
  self->staging_bytes = bytes;
  return TRUE;
}

SbCudaPicture
sb_cuda_picture (SbBackend *self, const SbCudaBuffer *buffer, guint depth)
{
  return (SbCudaPicture){ buffer->data, sb_cuda_stride (self->picture.width, depth),
                          (int)self->picture.width, (int)self->picture.height, (int)depth };
}

/* --- Pictures to and from the host ----------------------------------------------------------- */

/* A chunk that nothing uses any more. */
static gboolean
next_chunk (SbBackend *self, guint *chunk, GError **error)
{
  *chunk = self->chunks.next;
  self->chunks.next = (*chunk + 1) % SB_CUDA_CHUNKS;
  return sb_cuda_check (self, cudaEventSynchronize (self->chunks.done[*chunk]), "transfer", error);
}

/* Rows of a chunk, and of each of `n` parts of a row that does not fit. */
static gsize
rows_a_chunk (gsize row)
{
  return MAX (SB_CUDA_CHUNK_BYTES / row, 1);
}

gboolean
sb_cuda_upload (SbBackend *self, const SbCudaPicture *to, const guint8 *pixels, gsize stride,
                GError **error)
{
  const gsize row = (gsize)to->width * (gsize)to->depth / 2, height = (gsize)to->height;
  const gsize piece = MIN (row, SB_CUDA_CHUNK_BYTES), rows = rows_a_chunk (piece);

  for (gsize y = 0; y < height; y += rows)
    for (gsize x = 0; x < row; x += piece)
      {
        const gsize n = MIN (rows, height - y), bytes = MIN (piece, row - x);
        guint chunk;
        if (!next_chunk (self, &chunk, error))
          return FALSE;
        guint8 *packed = self->chunks.pixels[chunk];
        for (gsize i = 0; i < n; i++)
          memcpy (packed + i * bytes, pixels + (y + i) * stride + x, bytes);
        if (!sb_cuda_check (self,
                            cudaMemcpy2DAsync ((guint8 *)to->pixels + y * to->stride + x,
                                               to->stride, packed, bytes, bytes, n,
                                               cudaMemcpyHostToDevice, self->compute),
                            "upload", error)
            || !sb_cuda_check (self, cudaEventRecord (self->chunks.done[chunk], self->compute),
                               "upload", error))
          return FALSE;
      }
  return TRUE;
}

gboolean
sb_cuda_download (SbBackend *self, const SbCudaPicture *from, guint8 *pixels, GError **error)
{
  const gsize row = (gsize)from->width * (gsize)from->depth / 2, height = (gsize)from->height;
  const gsize piece = MIN (row, SB_CUDA_CHUNK_BYTES), rows = rows_a_chunk (piece);
  struct
  {
    gsize x, y, n, bytes;
    guint chunk;
  } waiting[SB_CUDA_CHUNKS];
  guint first = 0, n_waiting = 0;
  gsize x = 0, y = 0;

  /* Chunks are asked for as long as there are free ones, and unpacked in turn. */
  while (y < height || n_waiting > 0)
    {
      if (y < height && n_waiting < SB_CUDA_CHUNKS)
        {
          const guint at = (first + n_waiting) % SB_CUDA_CHUNKS;
          const gsize n = MIN (rows, height - y), bytes = MIN (piece, row - x);
          guint chunk;
          if (!next_chunk (self, &chunk, error)
              || !sb_cuda_check (
                  self,
                  cudaMemcpy2DAsync (self->chunks.pixels[chunk], bytes,
                                     (const guint8 *)from->pixels + y * from->stride + x,
                                     from->stride, bytes, n, cudaMemcpyDeviceToHost, self->compute),
                  "download", error)
              || !sb_cuda_check (self, cudaEventRecord (self->chunks.done[chunk], self->compute),
                                 "download", error))
            return FALSE;
          waiting[at].x = x;
          waiting[at].y = y;
          waiting[at].n = n;
          waiting[at].bytes = bytes;
          waiting[at].chunk = chunk;
          n_waiting++;
          x += piece;
          if (x >= row)
            {
              x = 0;
              y += rows;
            }
          continue;
        }
      const guint chunk = waiting[first].chunk;
      if (!sb_cuda_check (self, cudaEventSynchronize (self->chunks.done[chunk]), "download", error))
        return FALSE;
      for (gsize i = 0; i < waiting[first].n; i++)
        memcpy (pixels + (waiting[first].y + i) * row + waiting[first].x,
                self->chunks.pixels[chunk] + i * waiting[first].bytes, waiting[first].bytes);
      first = (first + 1) % SB_CUDA_CHUNKS;
      n_waiting--;
    }
  return TRUE;
}

/* --- Time ------------------------------------------------------------------------------------ */

gboolean
sb_cuda_begin_timing (SbBackend *self, int stream, GError **error)
{
  return sb_cuda_check (self,
                        cudaEventRecord (self->timers[stream].begin,
                                         stream == SB_CUDA_COMPUTE ? self->compute : self->display),
                        "cudaEventRecord", error);
}

gboolean
sb_cuda_end_timing (SbBackend *self, int stream, GError **error)
{
  const gboolean done
      = sb_cuda_check (self,
                       cudaEventRecord (self->timers[stream].end,
                                        stream == SB_CUDA_COMPUTE ? self->compute : self->display),
                       "cudaEventRecord", error);
  if (done)
    g_atomic_int_set (&self->timed, stream);
  return done;
}

gboolean
sb_cuda_get_device_ms (SbBackend *self, double *ms)
{
  const int stream = g_atomic_int_get (&self->timed);
  float elapsed = 0;

  if (stream < 0 || !sb_cuda_enter (self, NULL)
      || !sb_cuda_check (self, cudaEventSynchronize (self->timers[stream].end), "time", NULL)
      || !sb_cuda_check (
          self,
          cudaEventElapsedTime (&elapsed, self->timers[stream].begin, self->timers[stream].end),
          "time", NULL))
    return FALSE;
  *ms = elapsed;
  return TRUE;
}
