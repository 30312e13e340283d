/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-private.h"
#include "sb-view-range.h"

#include "sb-error.h"

#include <cuda_gl_interop.h>
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The level that every backend's show starts from, as on the CPU: the largest whose pixels are not
 * coarser than the device's, and none beyond the first one that is as small as this. */
#define SMALLEST_SIDE 32

static int
level_of (const SbView *view, guint side)
{
  int level = 0, coarsest = 0;

  while ((((guint64)side + (1u << coarsest) - 1) >> coarsest) > SMALLEST_SIDE)
    coarsest++;
  if (coarsest > 0)
    coarsest = MAX (coarsest, 2);
  while (level < coarsest && ldexp (1.0, -level - 1) >= view->zoom)
    level++;
  return level;
}

static SbCudaView
convert_view (const SbView *view, const SbPicture *picture)
{
  SbCudaView v = { .width = view->width,
                   .height = view->height,
                   .zoom = view->zoom,
                   .inverse = 1 / view->zoom,
                   .x = view->x,
                   .y = view->y,
                   .level = level_of (view, MAX (picture->width, picture->height)),
                   .checker_size = (int)view->checker_size };

  sb_view_range (view->x, view->zoom, view->width, 0, picture->width, &v.left, &v.right);
  sb_view_range (view->y, view->zoom, view->height, 0, picture->height, &v.top, &v.bottom);
  memcpy (v.ground, view->ground, 3);
  for (int i = 0; i < 2; i++)
    memcpy (v.checker[i], view->checker[i], 3);
  return v;
}

gboolean
sb_cuda_load_color (SbBackend *self, const SbColorTable *table, SbCudaBuffer *buffer,
                    SbCudaColor *color, GError **error)
{
  /* The whole struct, as parts of it are aligned within it. */
  const gsize bytes = sizeof *table;

  *color = (SbCudaColor){ NULL, NULL };
  if (table == NULL)
    return TRUE;
  if (!sb_cuda_reserve (self, buffer, bytes, error))
    return FALSE;
  const SbCudaPicture to = { buffer->data, bytes, (int)(bytes / 4), 1, 8 };
  const guint8 *at = buffer->data;
  color->curves = (const guint16 *)(at + G_STRUCT_OFFSET (SbColorTable, curves));
  color->points = (const uint2 *)(at + G_STRUCT_OFFSET (SbColorTable, points));
  return sb_cuda_upload (self, &to, (const guint8 *)table, bytes, error);
}

/* Puts a show on the display stream; `lock` held. */
static gboolean
launch (SbBackend *self, const SbView *view, void *rgba, gsize stride, GError **error)
{
  const SbCudaView v = convert_view (view, &self->picture);
  const SbCudaPicture source = view->what == SB_SHOW_ORIGINAL
                                   ? sb_cuda_picture (self, &self->original, self->picture.depth)
                                   : sb_cuda_front (self);

  const SbCudaColor *color = self->color.points != NULL ? &self->color : NULL;

  return sb_cuda_begin_timing (self, SB_CUDA_DISPLAY, error)
         && (view->what == SB_SHOW_SUBBANDS
                 ? sb_cuda_subbands_show (self, view, &v, rgba, stride, error)
                 : sb_cuda_check (
                     self,
                     sb_cuda_show (&source, self->opaque, color, &v, rgba, stride, self->display),
                     "show", error))
         && sb_cuda_end_timing (self, SB_CUDA_DISPLAY, error)
         && sb_cuda_check (self, cudaEventRecord (self->shown, self->display), "show", error);
}

gboolean
sb_cuda_show_host (SbBackend *self, const SbView *view, guint8 *rgba, gsize stride, GError **error)
{
  const gsize row = 4 * (gsize)view->width, bytes = row * (gsize)view->height;

  if (!sb_cuda_enter (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  const gboolean done
      = (self->view.bytes >= bytes || sb_cuda_reserve (self, &self->view, bytes + bytes / 4, error))
        && sb_cuda_reserve_staging (self, bytes, error)
        && launch (self, view, self->view.data, row, error)
        && sb_cuda_check (self,
                          cudaMemcpyAsync (self->staging, self->view.data, bytes,
                                           cudaMemcpyDeviceToHost, self->display),
                          "show", error)
        && sb_cuda_check (self, cudaStreamSynchronize (self->display), "show", error);
  if (done)
    for (int y = 0; y < view->height; y++)
      memcpy (rgba + (gsize)y * stride, self->staging + (gsize)y * row, row);
  g_mutex_unlock (&self->lock);
  return done;
}

typedef struct
{
  cudaGraphicsResource_t resource;
  gsize bytes;
} Target;

gpointer
sb_cuda_gl_attach (SbBackend *self, guint pbo, gsize bytes, GError **error)
{
  unsigned int n = 0;
  int devices[16];
  Target target = { NULL, bytes };

  if (!sb_cuda_enter (self, error))
    return NULL;
  /* Refusals here are ordinary: GL on another device, a software GL, a remote one. */
  cudaError_t status = cudaGLGetDevices (&n, devices, G_N_ELEMENTS (devices), cudaGLDeviceListAll);
  if (status != cudaSuccess)
    {
      cudaGetLastError ();
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("OpenGL does not run on an NVIDIA GPU (%s)"), cudaGetErrorString (status));
      return NULL;
    }
  gboolean same = FALSE;
  for (unsigned int i = 0; i < n && i < G_N_ELEMENTS (devices); i++)
    same = same || devices[i] == self->device;
  if (!same)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("OpenGL runs on another GPU than CUDA device %d"), self->device);
      return NULL;
    }
  status
      = cudaGraphicsGLRegisterBuffer (&target.resource, pbo, cudaGraphicsRegisterFlagsWriteDiscard);
  if (status != cudaSuccess)
    {
      cudaGetLastError ();
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("CUDA cannot write to OpenGL's buffer (%s)"), cudaGetErrorString (status));
      return NULL;
    }
  return g_memdup2 (&target, sizeof target);
}

gboolean
sb_cuda_show_gl (SbBackend *self, gpointer data, const SbView *view, GError **error)
{
  Target *target = data;
  void *pixels = NULL;
  size_t bytes = 0;
  const gsize row = 4 * (gsize)view->width, need = row * (gsize)view->height;

  if (!sb_cuda_enter (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  gboolean done = sb_cuda_check (
      self, cudaGraphicsMapResources (1, &target->resource, self->display), "map", error);
  if (done)
    {
      done = sb_cuda_check (
          self, cudaGraphicsResourceGetMappedPointer (&pixels, &bytes, target->resource), "map",
          error);
      if (done && bytes < need)
        {
          g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                       "a view of %" G_GSIZE_FORMAT " bytes in a buffer of %" G_GSIZE_FORMAT, need,
                       (gsize)bytes);
          done = FALSE;
        }
      done = done && launch (self, view, pixels, row, error);
      /* Unmapping makes GL wait for the kernel, not this thread. */
      const cudaError_t status = cudaGraphicsUnmapResources (1, &target->resource, self->display);
      if (done)
        done = sb_cuda_check (self, status, "unmap", error);
    }
  g_mutex_unlock (&self->lock);
  return done;
}

void
sb_cuda_gl_detach (SbBackend *self, gpointer data)
{
  Target *target = data;

  cudaSetDevice (self->device);
  cudaGraphicsUnregisterResource (target->resource);
  cudaGetLastError ();
  g_free (target);
}
