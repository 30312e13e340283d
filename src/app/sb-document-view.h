/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-document.h"

G_BEGIN_DECLS

/* How a canvas gets its pixels: it says which view it wants and lends buffers; a thread of the
 * document fills them whenever the view or the result has changed, newest first, and the document
 * emits "shown". Several canvases have one each. Main thread only, unless said otherwise.
 *
 * A document that shows from the device itself (sb_document_is_immediate) needs no thread: the
 * canvas attaches its pixel buffer object and asks for the pixels while its GL context is current.
 */
typedef struct _SbDocumentView SbDocumentView;

/* Buffers that one canvas may have lent at a time. */
#define SB_DOCUMENT_VIEW_BUFFERS 2

/* One finished set of pixels. */
typedef struct
{
  guint buffer;   /* which of the buffers they are in */
  SbView view;    /* what they show: view.width x view.height, rows without padding */
  guint64 id;     /* of the state, growing */
  gint64 since;   /* monotonic time of the change that these pixels are the first to show, or 0 */
  gint64 rest;    /* when the hand came to rest, where they are the first EXACT ones since, or 0 */
  gboolean exact; /* the state's own pixels, no PREVIEW and not the original's */
} SbFrame;

SbDocumentView *sb_document_view_new (SbDocument *document) G_GNUC_WARN_UNUSED_RESULT;
/* Withdraws the buffers. The document may be gone already. */
void sb_document_view_free (SbDocumentView *view);

/* What shall be seen from now on, of the picture that is open now; NULL: nothing, the canvas is not
 * on screen. */
void sb_document_view_set (SbDocumentView *view, const SbView *wanted);
/* Lends a buffer: 0 .. SB_DOCUMENT_VIEW_BUFFERS - 1. It is only written to, in any order, and not
 * filled for a view that needs more than `bytes`. It comes back by _take or _withdraw. */
void sb_document_view_give (SbDocumentView *view, guint buffer, guint8 *pixels, gsize bytes);
/* Bytes of a buffer that the canvas has lent and not got back, 0 for none. */
gsize sb_document_view_lent (SbDocumentView *view, guint buffer);
/* The newest finished pixels, whose buffer is the canvas' own again; FALSE: nothing new. */
gboolean sb_document_view_take (SbDocumentView *view, SbFrame *frame);
gboolean sb_document_view_has_frame (SbDocumentView *view);
/* Takes one buffer back, with what is in it, unless it is being filled right now. */
gboolean sb_document_view_reclaim (SbDocumentView *view, guint buffer);
/* Takes the buffers back, waiting for the one being filled (some milliseconds). What was filled and
 * not taken is forgotten, and filled again once there are buffers. */
void sb_document_view_withdraw (SbDocumentView *view);

/* Whether pixels of the device can go to GL directly; changes with "device-name". */
gboolean sb_document_is_immediate (SbDocument *self);

/* A pixel buffer object attached to the engine; with the GL context current. The error says why
 * the engine cannot: show through lent buffers then. */
typedef struct _SbGlTarget SbGlTarget;
SbGlTarget *sb_document_gl_attach (SbDocument *self, guint pbo, gsize bytes,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void sb_document_gl_detach (SbGlTarget *target);
/* Whether the target's engine is still the document's: detach it otherwise. */
gboolean sb_document_gl_is_current (SbDocument *self, SbGlTarget *target);
/* Fills the target where the wanted view or the result differs from what it was last filled with;
 * *shown says whether it did. FALSE with an error: detach, and show through lent buffers. */
gboolean sb_document_view_show_gl (SbDocumentView *view, SbGlTarget *target, SbFrame *frame,
                                   gboolean *shown, GError **error);

/* The canvas has handed a frame to the screen: measured for --stats, and the animation goes on. */
void sb_document_view_drawn (SbDocumentView *view, const SbFrame *frame);
/* Once in each tick of a canvas' frame clock while "animating": the next step, as soon as the last
 * one is on screen. */
void sb_document_animate (SbDocument *self);

G_END_DECLS
