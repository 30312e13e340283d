/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-backend.h"
#include "sb-cuda-kernels.h"

#include <cuda_runtime_api.h>

G_BEGIN_DECLS

/* A buffer on the device that grows when asked for more and stays. */
typedef struct
{
  void *data;
  gsize bytes;
} SbCudaBuffer;

/* One document's device side. Pictures lie in rows of a multiple of 256 bytes.
 *
 * Threads: `lock` guards front, serials of shows and everything show_host and show_gl use; the rest
 * is the worker's alone. Renders go to `compute`, shows to `display`; a render that is about to
 * overwrite the buffer a show may still read waits for `shown` on the device. */
struct _SbBackend
{
  int device;
  char *name;
  SbCudaLimits limits;
  cudaStream_t compute, display;
  cudaEvent_t shown;

  SbPicture picture; /* the original, in host memory */
  gboolean opaque;
  SbCudaBuffer original, base, results[2], steps[2], work[2], mask;
  gboolean has_base;
  SbArea mask_area; /* what `mask` holds */
  gboolean has_mask;

  const SbTone *tone; /* what the tables hold */
  SbCudaBuffer tables;
  SbCudaTone tone_tables;

  GMutex lock;
  guint front; /* of results */
  SbCudaBuffer view;
  guint8 *staging; /* pinned */
  gsize staging_bytes;
  gboolean lost;
};

/* The device's rows. */
static inline gsize
sb_cuda_stride (guint width, guint depth)
{
  return ((gsize)width * depth / 2 + 255) / 256 * 256;
}

/* Takes the calling thread to the device; every entry begins with it. */
gboolean sb_cuda_enter (SbBackend *self, GError **error);
/* TRUE for success; else says what failed, clears what can be cleared, and marks the device as lost
 * where it answers no more. */
gboolean sb_cuda_check (SbBackend *self, cudaError_t status, const char *what, GError **error);
gboolean sb_cuda_reserve (SbBackend *self, SbCudaBuffer *buffer, gsize bytes, GError **error);
void sb_cuda_release (SbCudaBuffer *buffer);
/* Pinned host memory; `lock` held. */
gboolean sb_cuda_reserve_staging (SbBackend *self, gsize bytes, GError **error);

SbCudaPicture sb_cuda_picture (SbBackend *self, const SbCudaBuffer *buffer, guint depth);

/* sb-cuda-blur.c: one edit from source to target, on `compute`. */
gboolean sb_cuda_edit (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
                       const SbCudaPicture *target, GError **error);

/* sb-cuda-show.c */
gboolean sb_cuda_show_host (SbBackend *self, const SbView *view, guint8 *rgba, gsize stride,
                            GError **error);
gpointer sb_cuda_gl_attach (SbBackend *self, guint pbo, gsize bytes, GError **error);
gboolean sb_cuda_show_gl (SbBackend *self, gpointer target, const SbView *view, GError **error);
void sb_cuda_gl_detach (SbBackend *self, gpointer target);

G_END_DECLS
