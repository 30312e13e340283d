/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
#include "sb-color.h"
#include "sb-engine.h"
#include "sb-tone.h"

G_BEGIN_DECLS

/* What a device must do for the engine: a table of functions over an opaque object. The front
 * (sb-engine.c) has checked every argument, left out the edits that change nothing, and decided
 * where a render starts; a backend may rely on all of that. Of the headers named here a module uses
 * types only: nothing of the core is linked into it.
 *
 * Threads and errors are those of sb-engine.h. A function that fails leaves what is shown, and the
 * base, as they were, and the object usable; SB_ERROR_DEVICE_LOST alone ends it.
 *
 * A module is a shared library, softbox-cuda.so, with one exported symbol of type
 * SbBackendOpenFunc, named by SB_BACKEND_SYMBOL. */
#define SB_BACKEND_ABI    5
#define SB_BACKEND_SYMBOL "sb_backend_open"

typedef struct _SbBackend SbBackend;

/* A picture in host memory: RGBA, straight, encoded, `depth` bits a channel. Valid from the call
 * that receives it until the next one of the same kind, or close. */
typedef struct
{
  guint width, height;
  guint depth; /* 8 or 16 */
  gboolean opaque;
  const guint8 *pixels;
  gsize stride;
  const SbTone *tone; /* of its profile */
  /* Its colours on an sRGB screen, applied by every show but that of subbands; NULL: as they are.
   */
  const SbColorTable *display;
  SbImage *image; /* the picture as the core's object; a module leaves it alone */
} SbPicture;

/* What the first edit of a list works on. */
typedef enum
{
  SB_START_ORIGINAL,
  SB_START_BASE,
} SbStart;

typedef struct
{
  guint abi;        /* SB_BACKEND_ABI */
  const char *kind; /* "cpu", "cuda": as in sb_device_parse() */

  /* One line a device, without the kind in front, or an error that says why there is none. */
  char *(*list) (guint threads, GError **error);

  SbBackend *(*open) (const SbDevice *device, GError **error);
  void (*close) (SbBackend *backend);
  /* "CPU, 2 threads, AVX2". */
  const char *(*get_name) (SbBackend *backend);
  gboolean (*is_immediate) (SbBackend *backend);

  /* The original. Base and results are gone; the result shown is the original itself. */
  gboolean (*load) (SbBackend *backend, const SbPicture *original, GError **error);

  /* The base: a picture of 16 bits that renders may start from. set_base takes one from the host
   * (NULL: there is none any more), make_base renders it. */
  gboolean (*set_base) (SbBackend *backend, const SbPicture *base16, GError **error);
  gboolean (*make_base) (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                         GCancellable *cancellable, GError **error);

  /* n_edits may be 0: then the result is the start itself. quality.level has been limited to levels
   * that the picture has, region clipped to it. The result has the original's depth and is what is
   * shown from then on. An EXACT result is kept while a PREVIEW is shown in its place. */
  gboolean (*render) (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                      SbQuality quality, GCancellable *cancellable, GError **error);
  /* Shows the last EXACT result again, after PREVIEWs. */
  void (*show_exact) (SbBackend *backend);
  /* The EXACT result of the edits, rounded to `depth`, into rows of width * 4 * depth / 8 bytes.
   * Does not change what is shown. */
  gboolean (*read) (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                    guint depth, guint8 *pixels, GCancellable *cancellable, GError **error);
  /* The last EXACT result, at the original's depth. */
  gboolean (*read_result) (SbBackend *backend, guint8 *pixels, GError **error);
  /* Optional: the same as an image without a copy, or NULL where there is none such. */
  SbImage *(*ref_result) (SbBackend *backend);
  /* Optional; see sb_engine.h. */
  void (*prepare) (SbBackend *backend, GCancellable *cancellable);
  void (*trim) (SbBackend *backend);

  /* What sb_engine.h says of them; levels are those the picture has. All of these or none; without
   * them the engine answers SB_ERROR_UNAVAILABLE. read_subbands fills the bands in the order of
   * sb_haar_nth_band(), each without padding, from the EXACT result of the edits. */
  gboolean (*set_subbands) (SbBackend *backend, const SbHaarChoice *choice,
                            GCancellable *cancellable, GError **error);
  gboolean (*measure_band) (SbBackend *backend, SbHaarBand band, SbHaarStatistics *statistics,
                            GCancellable *cancellable, GError **error);
  gboolean (*summarize_subbands) (SbBackend *backend, SbHaarSummary *summary,
                                  GCancellable *cancellable, GError **error);
  gboolean (*pick_coefficient) (SbBackend *backend, SbHaarBand band, guint column, guint row,
                                float *value);
  /* Optional: see sb_engine_get_estimated(). */
  guint (*get_estimated) (SbBackend *backend);
  gboolean (*read_subbands) (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                             const SbHaarChoice *choice, float *const *bands,
                             GCancellable *cancellable, GError **error);
  /* start and edits are those of the last EXACT render; the last one is of bands. */
  gboolean (*measure_edit) (SbBackend *backend, SbStart start, const SbEdit *edits, guint n_edits,
                            SbBandsMeasure *measure, GCancellable *cancellable, GError **error);

  /* Optional: median milliseconds of a copy of the original's pixels within the device's own
   * memory, and of the last render, show or transform on the device's own clock, for the benchmark.
   */
  gboolean (*measure_copy) (SbBackend *backend, double *ms, GError **error);
  gboolean (*get_device_ms) (SbBackend *backend, double *ms);

  gboolean (*pick) (SbBackend *backend, SbShowWhat what, int x, int y, guint16 rgba[4]);
  gboolean (*show_host) (SbBackend *backend, const SbView *view, guint8 *rgba, gsize stride,
                         GError **error);

  /* Optional, all three or none. */
  gpointer (*gl_attach) (SbBackend *backend, guint pbo, gsize bytes, GError **error);
  gboolean (*show_gl) (SbBackend *backend, gpointer target, const SbView *view, GError **error);
  void (*gl_detach) (SbBackend *backend, gpointer target);
} SbBackendClass;

/* The table of a module, or NULL where it was built for another number than `abi`. */
typedef const SbBackendClass *(*SbBackendOpenFunc) (guint abi);

/* The CPU's, in sb-cpu.c. */
extern const SbBackendClass sb_cpu_backend_class;

/* sb-module.c: the CUDA module's table, opened once and never closed, or an error that says why it
 * cannot be had. Looked for in SOFTBOX_MODULE_DIR alone where that is set; else beside the program,
 * where it is installed, and in the build tree. */
const SbBackendClass *sb_module_get_cuda (GError **error);

G_END_DECLS
