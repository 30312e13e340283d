/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-backend.h"
#include "sb-cuda-haar.h"
#include "sb-cuda-kernels.h"

#include <cuda_runtime_api.h>

G_BEGIN_DECLS

/* A buffer on the device that grows when asked for more and stays. */
typedef struct
{
  void *data;
  gsize bytes;
} SbCudaBuffer;

/* Pinned memory through which pictures travel, in chunks taken in turn. */
#define SB_CUDA_CHUNKS      3
#define SB_CUDA_CHUNK_BYTES (4 << 20)

/* The two streams, and what was timed on them. */
enum
{
  SB_CUDA_COMPUTE,
  SB_CUDA_DISPLAY,
  SB_CUDA_N_STREAMS,
};

/* One document's device side. Pictures lie in rows of a multiple of 256 bytes.
 *
 * Memory, in bytes a pixel (8 bits, 16 bits): the original 4, 8; two results 8, 16, one shown and
 * one being rendered; `work`, where the rows of a blur wait for its columns, 8. That is all a
 * document with one edit needs, 20 or 32, and all of it is allocated by load. The base adds 8 with
 * the second edit; `steps` hold what lies between edits that are made in one go. Exports, and
 * pictures for the history, are made in the result that is not shown, in bands where it is too
 * small. What many passes add shares `work` (sb-cuda-blur.c), and so does an area's mask, but with
 * pictures of 8 bits, where it adds 2. While subbands are shown two transforms of 4 bytes a pixel
 * each come on top.
 *
 * Threads: `lock` guards front, serials of shows and everything show_host and show_gl use; the rest
 * is the worker's alone. Renders go to `compute`, shows to `display`; a render that is about to
 * overwrite the buffer a show may still read waits for `shown` on the device, a show of a picture
 * that is still being uploaded for `loaded`. */
struct _SbBackend
{
  int device;
  char *name;
  SbCudaLimits limits;
  cudaStream_t compute, display;
  cudaEvent_t shown, loaded;
  struct
  {
    cudaEvent_t begin, end;
  } timers[SB_CUDA_N_STREAMS];
  int timed; /* the stream that worked last, atomic; -1: none yet */

  SbPicture picture; /* the original; its pixels are not read after load */
  gboolean opaque;
  SbCudaBuffer original, base, results[2], steps[2], work, second;
  gboolean has_base;

  SbCudaBuffer mask, spans; /* whether the mask lies here or in `work`: sb-cuda-blur.c */
  guint16 *mask_at;         /* where it is; NULL: there is none */
  SbArea mask_area;         /* what it holds */

  const SbTone *tone; /* what the tables hold */
  SbCudaBuffer tables;
  SbCudaTone tone_tables;

  SbCudaBuffer display_table;
  SbCudaColor color; /* the picture's; points NULL: colours are shown as they are */

  SbHaarChoice choice; /* of the subbands; levels 0: none are made */
  SbCudaBuffer subbands[2];
  SbCudaHaar haar[2];
  gboolean summed; /* `sums` are of the transform shown */
  SbCudaSums sums[SB_CUDA_HAAR_MAX_BANDS];
  SbCudaBuffer measures, bins; /* what measuring needs */
  SbCudaBuffer deep;           /* the means of edits of more than five levels */

  struct
  {
    guint8 *pixels[SB_CUDA_CHUNKS];
    cudaEvent_t done[SB_CUDA_CHUNKS];
    guint next;
  } chunks;

  GMutex lock;
  int front;      /* of results; -1: the original is the result */
  int haar_front; /* of subbands; -1: there are none */
  SbCudaBuffer view;
  guint8 *staging; /* pinned */
  gsize staging_bytes;
  int lost; /* atomic */
};

/* The device's rows. */
static inline gsize
sb_cuda_stride (guint width, guint depth)
{
  return ((gsize)width * depth / 2 + 255) / 256 * 256;
}

/* A mask's. */
static inline gsize
sb_cuda_mask_stride (guint width)
{
  return (2 * (gsize)width + 15) / 16 * 16;
}

/* --- sb-cuda-memory.c ------------------------------------------------------------------------ */

/* Takes the calling thread to the device; every entry begins with it. */
gboolean sb_cuda_enter (SbBackend *self, GError **error);
/* TRUE for success; else says what failed, clears what can be cleared, and marks the device as lost
 * where it answers no more. */
gboolean sb_cuda_check (SbBackend *self, cudaError_t status, const char *what, GError **error);
gboolean sb_cuda_reserve (SbBackend *self, SbCudaBuffer *buffer, gsize bytes, GError **error);
void sb_cuda_release (SbCudaBuffer *buffer);
/* Room for a picture of this size. Fresh memory is zeroed, behind the rows too: kernels read rows
 * in units that reach there. */
gboolean sb_cuda_reserve_picture (SbBackend *self, SbCudaBuffer *buffer, guint width, guint height,
                                  guint depth, GError **error);
/* Pinned host memory; `lock` held. */
gboolean sb_cuda_reserve_staging (SbBackend *self, gsize bytes, GError **error);

/* From pageable host memory, in chunks: packing one overlaps with the way of those before it. When
 * this returns the host memory is free, and the last chunks may still be on their way, in the order
 * of `compute`. */
gboolean sb_cuda_upload (SbBackend *self, const SbCudaPicture *to, const guint8 *pixels,
                         gsize stride, GError **error);
/* To pageable host memory, rows without padding; ends when it is there. */
gboolean sb_cuda_download (SbBackend *self, const SbCudaPicture *from, guint8 *pixels,
                           GError **error);

SbCudaPicture sb_cuda_picture (SbBackend *self, const SbCudaBuffer *buffer, guint depth);

/* --- sb-cuda-render.c ------------------------------------------------------------------------ */

gboolean sb_cuda_load (SbBackend *self, const SbPicture *original, GError **error);
gboolean sb_cuda_set_base (SbBackend *self, const SbPicture *base16, GError **error);
gboolean sb_cuda_make_base (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                            GCancellable *cancellable, GError **error);
gboolean sb_cuda_render (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                         SbQuality quality, GCancellable *cancellable, GError **error);
gboolean sb_cuda_read (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                       guint depth, guint8 *pixels, GCancellable *cancellable, GError **error);
gboolean sb_cuda_read_result (SbBackend *self, guint8 *pixels, GError **error);
void sb_cuda_trim (SbBackend *self);
/* The edits but the last one; *source receives what that one works on. */
gboolean sb_cuda_run_steps (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                            SbCudaPicture *source, GCancellable *cancellable, GError **error);
/* All of them, at the original's depth, put on `compute` in the result that is not shown. */
gboolean sb_cuda_render_back (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                              SbCudaPicture *result, GCancellable *cancellable, GError **error);
gboolean sb_cuda_measure_copy (SbBackend *self, double *ms, GError **error);
/* The result that is shown; with `lock`, or on the worker. */
SbCudaPicture sb_cuda_front (SbBackend *self);

/* Around what is put on a stream: how long that takes by the device's clock. */
gboolean sb_cuda_begin_timing (SbBackend *self, int stream, GError **error);
gboolean sb_cuda_end_timing (SbBackend *self, int stream, GError **error);
gboolean sb_cuda_get_device_ms (SbBackend *self, double *ms);

/* --- sb-cuda-blur.c -------------------------------------------------------------------------- */

/* Room for what lies between the rows and the columns of a blur. */
gboolean sb_cuda_reserve_work (SbBackend *self, SbCudaBuffer *work, guint width, guint height,
                               GError **error);
/* One edit over the rect of the picture, from source to target, on `compute`. */
gboolean sb_cuda_edit (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
                       const SbCudaPicture *target, const SbRect *rect, GError **error);

/* --- sb-cuda-haar.c -------------------------------------------------------------------------- */

/* One edit of bands over the rect, likewise; mask: of the whole picture, or NULL. */
gboolean sb_cuda_bands_edit (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
                             const SbCudaPicture *target, const SbRect *rect, const guint16 *mask,
                             GError **error);

/* The transform of a result, where one is wanted: put on `compute`, then shown from `take` on,
 * with `lock`. `forget`, with `lock` too: there is none any more. */
gboolean sb_cuda_subbands_make (SbBackend *self, const SbCudaPicture *result, GError **error);
void sb_cuda_subbands_take (SbBackend *self);
void sb_cuda_subbands_forget (SbBackend *self);
/* Put on `display`; with `lock`. */
gboolean sb_cuda_subbands_show (SbBackend *self, const SbView *view, const SbCudaView *v,
                                void *rgba, gsize stride, GError **error);

gboolean sb_cuda_set_subbands (SbBackend *self, const SbHaarChoice *choice,
                               GCancellable *cancellable, GError **error);
gboolean sb_cuda_measure_band (SbBackend *self, SbHaarBand band, SbHaarStatistics *statistics,
                               GCancellable *cancellable, GError **error);
gboolean sb_cuda_summarize_subbands (SbBackend *self, SbHaarSummary *summary,
                                     GCancellable *cancellable, GError **error);
gboolean sb_cuda_pick_coefficient (SbBackend *self, SbHaarBand band, guint column, guint row,
                                   float *value);
gboolean sb_cuda_read_subbands (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                                const SbHaarChoice *choice, float *const *bands,
                                GCancellable *cancellable, GError **error);
gboolean sb_cuda_measure_edit (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                               SbBandsMeasure *measure, GCancellable *cancellable, GError **error);

/* --- sb-cuda-show.c -------------------------------------------------------------------------- */

/* A picture's display table (NULL: none) into `buffer`. */
gboolean sb_cuda_load_color (SbBackend *self, const SbColorTable *table, SbCudaBuffer *buffer,
                             SbCudaColor *color, GError **error);
gboolean sb_cuda_show_host (SbBackend *self, const SbView *view, guint8 *rgba, gsize stride,
                            GError **error);
gpointer sb_cuda_gl_attach (SbBackend *self, guint pbo, gsize bytes, GError **error);
gboolean sb_cuda_show_gl (SbBackend *self, gpointer target, const SbView *view, GError **error);
void sb_cuda_gl_detach (SbBackend *self, gpointer target);

#ifdef SB_CUDA_FAULTS
/* sb-cuda-fault.c, in the module that tests open only: what a call is to have answered. */
cudaError_t sb_cuda_fault (SbBackend *self, cudaError_t status, const char *what);
void sb_cuda_fault_limits (SbCudaLimits *limits);
#endif

G_END_DECLS
