/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-engine.h"
#include "sb-history.h"

G_BEGIN_DECLS

/* One open picture with its edits, history, engine and worker; no widgets. Everything here is
 * called on the main thread and returns at once: pixels are computed by the document's threads.
 *
 * Properties (all readable, notify on the main thread):
 *   "has-picture" b, "title" s (display name), "subtitle" s ("6000 × 4000, Display P3, 8 bit"),
 *   "modified" b, "can-undo" b, "can-redo" b, "undo-label" s, "redo-label" s, "can-apply" b,
 *   "edits" s (texts of all edits, applied ones first), "busy" b (a load, render or export is
 *   pending, so what is on screen is not yet the newest state at full quality), "error" s (the last
 *   failure or ""), "loading" b, "exporting" b, "progress" d (of the export or
 *   load, 0 .. 1), "comparing" b
 *   (writable: the canvas shows the original), "animating" b (writable), "animation-fps" d,
 *   "device-name" s, "device-reason" s, "render-ms" d (of the last render).
 * Signals:
 *   "picture-changed" (): another picture is open, or other pixels of it;
 *   "edits-changed" (): the unapplied edits changed by other means than the control that is being
 *     moved (undo, redo, apply, D-Bus, animation): controls read their values again;
 *   "warning" (s): a sentence for the banner; "message" (s): one for a toast;
 *   "shown" (): a canvas has new pixels to put on screen (see sb-document-view.h);
 *   "measured" (): sb_document_get_measures() has other figures. */
#define SB_TYPE_DOCUMENT (sb_document_get_type ())
G_DECLARE_FINAL_TYPE (SbDocument, sb_document, SB, DOCUMENT, GObject)

/* The engine opens on the worker; until then, and where CUDA is not to be had, the CPU works. */
SbDocument *sb_document_new (SbDevice device) G_GNUC_WARN_UNUSED_RESULT;

/* Replaces the picture; on failure what was open stays and the error names file and reason. A
 * second load cancels the first. */
void sb_document_load_async (SbDocument *self, GFile *file, GCancellable *cancellable,
                             GAsyncReadyCallback callback, gpointer user_data);
gboolean sb_document_load_finish (SbDocument *self, GAsyncResult *result, GError **error);

/* The same for one page of a file, as in SbLoadOptions. */
void sb_document_load_page_async (SbDocument *self, GFile *file, guint page,
                                  GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data);

GFile *sb_document_get_file (SbDocument *self); /* NULL: none, or no file */
/* G_FILE_ATTRIBUTE_ETAG_VALUE of the file when it was loaded, or exported over since; NULL where it
 * has none: with another one, somebody else has changed the file. */
const char *sb_document_get_etag (SbDocument *self);
SbImage *sb_document_get_image (SbDocument *self); /* the original, or NULL; borrowed */

/* The unapplied edit of that kind, or NULL where there is none (switched off). */
const SbEdit *sb_document_get_edit (SbDocument *self, SbEditKind kind);
/* Sets or replaces it. control: what the user moves ("blur.radius"): such changes within a second
 * or one drag are one undo step; NULL: a step of its own. SB_ERROR_INVALID where the edit does not
 * fit the picture; then nothing changed. */
gboolean sb_document_set_edit (SbDocument *self, const SbEdit *edit, const char *control,
                               GError **error);
void sb_document_remove_edit (SbDocument *self, SbEditKind kind);
/* Between these the hand is on a control: the canvas shows PREVIEW, and all changes are one step.
 */
void sb_document_begin_drag (SbDocument *self, const char *control);
void sb_document_end_drag (SbDocument *self);

void sb_document_apply (SbDocument *self);
void sb_document_undo (SbDocument *self);
void sb_document_redo (SbDocument *self);

/* Exports the newest state, EXACT, whatever is on screen. On success with mark_saved the document
 * counts as saved. sb_document_cancel_export() ends it with G_IO_ERROR_CANCELLED, nothing written.
 */
void sb_document_export_async (SbDocument *self, GFile *file, const SbSaveOptions *options,
                               GCancellable *cancellable, GAsyncReadyCallback callback,
                               gpointer user_data);
gboolean sb_document_export_finish (SbDocument *self, GAsyncResult *result, GError **error);
void sb_document_cancel_export (SbDocument *self);

/* The straight colour of a pixel of what is shown, at 16 bits; FALSE outside the picture. */
gboolean sb_document_pick (SbDocument *self, int x, int y, guint16 rgba[4]);

/* --- Subbands; sb-document-subbands.c ----------------------------------------------------------
 */

/* What was measured of the last EXACT result, and of the band that was asked for. */
typedef struct
{
  guint64 id; /* of the state that statistics and summary are of, as in SbFrame; 0: of two */
  SbHaarChoice choice;
  SbHaarBand band;
  guint depth; /* of the picture: samples are 0 .. 255 or 0 .. 65535, lightness twice that */
  SbHaarStatistics statistics;
  SbHaarSummary summary;
  gboolean has_edit;   /* there is an unapplied edit of bands, and it does something */
  SbBandsMeasure edit; /* from its own input to its own output, whatever follows it */
  /* Of what an unapplied edit of bands works on, of the result where there is none: the noise, and
   * the threshold that suits it, both as SB_BANDS_THRESHOLD counts. The threshold is BayesShrink's
   * for the finest diagonals, noise^2 / sqrt (deviation^2 - noise^2), but at most the universal
   * one, noise * sqrt (2 ln count). NAN: not known yet. */
  double noise, suggested;
} SbSubbandMeasures;

/* From now on the transform of the result is made with every change, shown to the views that ask
 * for SB_SHOW_SUBBANDS, and `band` measured; NULL: nothing of that. Of the picture that is open
 * now: to be set again after "picture-changed". */
void sb_document_set_subbands (SbDocument *self, const SbHaarChoice *choice, SbHaarBand band);
/* NULL: nothing has been measured yet, or nothing is asked for. */
const SbSubbandMeasures *sb_document_get_measures (SbDocument *self);
/* The bands of levels 1 to this one are shown as estimates, as the hand is on a control; 0: none.
 */
guint sb_document_get_estimated (SbDocument *self);
/* One coefficient of what is shown, in the averaging scale; FALSE where there is none, or only an
 * estimate. */
gboolean sb_document_pick_coefficient (SbDocument *self, SbHaarBand band, guint column, guint row,
                                       float *value);
/* The transform of the newest state, EXACT, whatever is on screen. */
void sb_document_read_subbands_async (SbDocument *self, const SbHaarChoice *choice,
                                      GAsyncReadyCallback callback, gpointer user_data);
SbHaar *sb_document_read_subbands_finish (SbDocument *self, GAsyncResult *result,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Ends all work, as when the window closes: pending loads and exports finish with
 * G_IO_ERROR_CANCELLED as soon as they can, and nothing is computed any more. An export that is
 * already being put into place may still succeed: keep the program running until its callback.
 * Implied by the last unref; never waits. */
void sb_document_close (SbDocument *self);

void sb_document_set_history_budget (SbDocument *self, guint64 bytes);
/* What a picture may take, as sb_image_load() counts; 0 for half of the physical memory. For the
 * loads that follow. */
void sb_document_set_memory_limit (SbDocument *self, guint64 bytes);
/* Somebody else works on what this document gave it, and "busy" says so until it is released. */
void sb_document_hold (SbDocument *self);
void sb_document_release (SbDocument *self);
/* A failure that the interface shows: sets "error". NULL clears it. */
void sb_document_report (SbDocument *self, const GError *error);

G_END_DECLS
