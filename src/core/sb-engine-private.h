/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-backend.h"

G_BEGIN_DECLS

/* What the files of the engine's front share. */
struct _SbEngine
{
  const SbBackendClass *class;
  SbBackend *backend;
  char *reason;

  SbImage *original; /* NULL: nothing loaded */
  SbPicture picture;
  /* What the backend's base is made of, without edits that change nothing; NULL: there is none. A
   * base that came from the host keeps its image alive. */
  SbEditList *base;
  SbImage *base_image;
  /* What the last EXACT result is made of, likewise; the empty list right after a load. */
  SbEditList *exact;
  guint64 serial;   /* atomic */
  gboolean loaded;  /* atomic, for other threads */
  gboolean preview; /* a PREVIEW is shown in place of the EXACT result */

  GMutex lock; /* guards what follows, which other threads ask for */
  SbHaarChoice subbands;
  /* The transform of the last EXACT result, where the backend makes none itself. */
  SbHaar *haar;
};

/* --- sb-engine.c ----------------------------------------------------------------------------- */

/* FALSE with SB_ERROR_INVALID where no picture has been loaded. */
gboolean sb_engine_check_loaded (SbEngine *engine, GError **error);
/* What is shown is another. */
void sb_engine_changed (SbEngine *engine);
/* The list without what changes nothing; *n_fixed counts among what is left. NULL with an error for
 * an edit that does not fit the picture. */
SbEditList *sb_engine_simplify (SbEngine *engine, const SbEditList *edits, guint *n_fixed,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* How many edits of `edits` the base has done: all of its own if it is how they begin, else 0. */
guint sb_engine_base_edits (SbEngine *engine, const SbEditList *edits);
/* The last EXACT result at the original's depth. */
SbImage *sb_engine_read_exact (SbEngine *engine, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --- sb-engine-subbands.c -------------------------------------------------------------------- */

/* Another picture: nothing is set any more. */
void sb_engine_forget_subbands (SbEngine *engine);
/* After an EXACT render, where the backend does not see to it. Without the memory there are none.
 */
void sb_engine_renew_subbands (SbEngine *engine);
/* SB_SHOW_SUBBANDS in host memory. */
gboolean sb_engine_show_subbands (SbEngine *engine, const SbView *view, guint8 *rgba, gsize stride,
                                  GError **error);

G_END_DECLS
