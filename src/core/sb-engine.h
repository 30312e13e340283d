/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
#include "sb-haar.h"
#include "sb-image.h"

G_BEGIN_DECLS

/* The engine of one document: holds the original, renders edits over it, shows views of the result.
 * Device buffers, streams and threads stay behind it.
 *
 * Threads: load, set_base, render, read and benchmark on one worker thread at a time; show_host in
 * any thread, also while a render runs; gl_attach, show_gl and gl_detach where the GL context is
 * current. A render goes to the back result and swaps under one mutex, so showing never waits for
 * it, and a render that fails or is cancelled leaves what is shown as it was. */
typedef struct _SbEngine SbEngine;

typedef enum
{
  SB_DEVICE_AUTO, /* CUDA where it is to be had, else the CPU; never an error */
  SB_DEVICE_CPU,
  SB_DEVICE_CUDA, /* or an error */
} SbDeviceKind;

typedef struct
{
  SbDeviceKind kind;
  int index;     /* of a CUDA device */
  guint threads; /* of the CPU; 0: one for each core this process may use */
} SbDevice;

/* "auto", "cpu", "cuda", "cuda:1": SB_ERROR_INVALID names the token and the allowed ones. */
gboolean sb_device_parse (const char *text, SbDevice *device, GError **error);

typedef struct
{
  int x, y, width, height;
} SbRect;

/* EXACT: level 0 and region NULL. PREVIEW: the edits scaled to the picture reduced by 2^level, or
 * to a finer level where they would be too small for that one; only the pixels of `region`, in
 * full-size pixels, need be right, NULL means all. Outside the region the last EXACT result is
 * shown. */
typedef struct
{
  gboolean exact;
  guint level;
  const SbRect *region;
} SbQuality;

#define SB_QUALITY_EXACT ((SbQuality){ TRUE, 0, NULL })

typedef enum
{
  SB_SHOW_RESULT,   /* of the last render */
  SB_SHOW_ORIGINAL, /* as loaded, without any rendering */
  SB_SHOW_SUBBANDS, /* the mosaic of the result's transform, see sb_engine_set_subbands() */
} SbShowWhat;

/* What a canvas covers: width x height device pixels; the centre of device pixel (i, j) shows the
 * picture's point x + (i + 1/2) / zoom, y + (j + 1/2) / zoom, in pixels of the full-size picture
 * with (0, 0) its top left corner. zoom is device pixels a picture pixel, above 0. Below 1 the
 * picture is reduced by area (exact footprint weights over a pyramid of premultiplied 2x2 means),
 * from 1 on its pixels stay sharp. Under transparency a checkerboard fixed to the viewport, outside
 * the picture the ground; what comes out is opaque.
 *
 * Of SB_SHOW_SUBBANDS the points are those of the mosaic (sb_haar_mosaic()), and `look` says how
 * coefficients are drawn; of the others `look` is all zeros. */
typedef struct
{
  SbShowWhat what;
  int width, height;
  double zoom;
  double x, y;
  guint checker_size;   /* in device pixels, >= 1 */
  guint8 ground[3];     /* R G B */
  guint8 checker[2][3]; /* the two colours */
  SbHaarLook look;
} SbView;

/* The level of a pyramid that a view or a PREVIEW at this zoom needs: the largest one whose pixels
 * are not coarser than the device's, 2^-level >= zoom; 0 from zoom 1/2 (exclusive) on. */
#define SB_ENGINE_MAX_LEVEL 20
guint sb_engine_level_for_zoom (double zoom);

SbEngine *sb_engine_new (SbDevice device, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void sb_engine_free (SbEngine *engine);

/* "CPU, 2 threads, AVX2": what computes. Owned by the engine. */
const char *sb_engine_get_name (SbEngine *engine);
/* Why AUTO did not take a better device ("no NVIDIA driver"), or NULL. Owned by the engine. */
const char *sb_engine_get_reason (SbEngine *engine);
/* TRUE where an EXACT render fits in a frame, so that PREVIEW is never needed. */
gboolean sb_engine_is_immediate (SbEngine *engine);

/* Takes a reference to `original` and makes ready to show and edit it: all that was rendered before
 * is gone, and the result is the original itself. */
gboolean sb_engine_load (SbEngine *engine, SbImage *original, GError **error);
/* Puts a kept state back: `result16`, 16 bits, is what the first n_edits of `edits` make of the
 * original. The next render starts there if its list begins with them. */
gboolean sb_engine_set_base (SbEngine *engine, SbImage *result16, const SbEditList *edits,
                             guint n_edits, GError **error);
/* Renders `edits` over the original. n_fixed: how many of them stand before the one being changed;
 * the engine keeps their result, so that a drag costs what its own edits cost. The result has the
 * document's depth. Cancelled: G_IO_ERROR_CANCELLED within a few milliseconds. */
gboolean sb_engine_render (SbEngine *engine, const SbEditList *edits, guint n_fixed,
                           SbQuality quality, GCancellable *cancellable, GError **error);
/* The EXACT result of `edits` as an image of `depth` bits (8: rounded from 16 where the document
 * has 8; 16: unrounded), the original's profile on it. Returns what is there already where it can;
 * does not change what is shown. */
SbImage *sb_engine_read (SbEngine *engine, const SbEditList *edits, guint n_fixed, guint depth,
                         GCancellable *cancellable, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Makes room for the next EXACT render, so that it need not wait for fresh memory: worth a call
 * whenever the worker has nothing else to do. What cannot be had the render will tell. */
void sb_engine_prepare (SbEngine *engine, GCancellable *cancellable);
/* Gives back the memory that only speeds up the next render, but for what sb_engine_prepare()
 * makes.
 */
void sb_engine_trim (SbEngine *engine);

/* A number that changes whenever what SB_SHOW_RESULT shows has changed. Any thread. */
guint64 sb_engine_get_serial (SbEngine *engine);
/* The colour at a pixel of what is shown, straight, at 16 bits; FALSE outside. Any thread. */
gboolean sb_engine_pick (SbEngine *engine, SbShowWhat what, int x, int y, guint16 rgba[4]);

/* --- Subbands -------------------------------------------------------------------------------- */

/* From now on, and with every render, the transform of the result is there to be shown as
 * SB_SHOW_SUBBANDS and measured; NULL ends that, and so does a load. On the CPU a PREVIEW of level
 * L renews the bands of levels above L; the finer ones are estimated until the next EXACT render
 * (sb-cpu-estimate.h). Worker thread; the serial changes. SB_ERROR_INVALID: more levels than the
 * picture has. */
gboolean sb_engine_set_subbands (SbEngine *engine, const SbHaarChoice *choice,
                                 GCancellable *cancellable, GError **error);
/* What is set; levels 0: nothing. Any thread. */
SbHaarChoice sb_engine_get_subbands (SbEngine *engine);
/* The bands of levels 1 to this one are shown as estimates now, and no coefficient of theirs can be
 * picked; 0: all are what they are. Any thread. */
guint sb_engine_get_estimated (SbEngine *engine);
/* Of the last EXACT result, full resolution, as set. Worker thread. */
gboolean sb_engine_measure_band (SbEngine *engine, SbHaarBand band, SbHaarStatistics *statistics,
                                 GCancellable *cancellable, GError **error);
gboolean sb_engine_summarize_subbands (SbEngine *engine, SbHaarSummary *summary,
                                       GCancellable *cancellable, GError **error);
/* One coefficient of what is shown, in our (averaging) scale; FALSE where there is none. Any
 * thread. */
gboolean sb_engine_pick_coefficient (SbEngine *engine, SbHaarBand band, guint column, guint row,
                                     float *value);
/* The transform of the EXACT result of `edits`, in host memory. Does not change what is shown.
 * Worker thread. */
SbHaar *sb_engine_read_subbands (SbEngine *engine, const SbEditList *edits, guint n_fixed,
                                 const SbHaarChoice *choice, GCancellable *cancellable,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What an edit of bands does, between its own input and output. */
typedef struct
{
  double kept; /* the part of detail coefficients that are not zero afterwards, of those that are
                  not before */
  double psnr; /* decibels, of the output against the input, R G B at the document's depth; infinite
                  if equal */
} SbBandsMeasure;

/* Of the last edit of bands of the last EXACT render; what follows it plays no part.
 * SB_ERROR_INVALID: there is none. Worker thread. */
gboolean sb_engine_measure_edit (SbEngine *engine, SbBandsMeasure *measure,
                                 GCancellable *cancellable, GError **error);

/* --- Display --------------------------------------------------------------------------------- */

/* Fills view->height rows of view->width RGBA pixels, stride bytes apart. */
gboolean sb_engine_show_host (SbEngine *engine, const SbView *view, guint8 *rgba, gsize stride,
                              GError **error);

/* Display straight from a device into a GL pixel buffer object of `bytes` bytes; several may be
 * attached. The CPU backend answers SB_ERROR_UNAVAILABLE: show through the host then. */
gpointer sb_engine_gl_attach (SbEngine *engine, guint pbo, gsize bytes, GError **error);
gboolean sb_engine_show_gl (SbEngine *engine, gpointer target, const SbView *view, GError **error);
void sb_engine_gl_detach (SbEngine *engine, gpointer target);

/* One line a device, "cpu: …" first; a device that cannot be had names the reason. */
char *sb_engine_list_devices (guint threads) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbEngine, sb_engine_free)

G_END_DECLS
