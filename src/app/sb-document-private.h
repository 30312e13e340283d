/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-document-view.h"
#include "sb-error.h"

G_BEGIN_DECLS

/* What a document and its threads share. It outlives the document: the threads hold references, so
 * that closing never waits for them. Everything is guarded by `mutex` unless said otherwise, and
 * the mutex is only ever held for moments: the main thread takes it.
 *
 * The worker opens the engine, loads, renders and reads; the show thread fills the buffers that
 * canvases lend. Files are decoded, and exports encoded, in a thread of their own each, so that
 * what is open stays live meanwhile. */
typedef struct _SbWork SbWork;

/* An engine with the references of those who still have something attached to it. */
typedef struct
{
  SbEngine *engine;
} SbEngineBox;

SbEngineBox *sb_engine_box_ref (SbEngineBox *box);
void sb_engine_box_unref (SbEngineBox *box);

/* The one state that is wanted; the newest wins and older ones are forgotten. */
typedef struct
{
  guint64 id; /* grows with every change; 0: nothing is wanted */
  guint generation;
  SbEditList *edits;
  guint n_fixed;
  gint64 changed;       /* monotonic, when the user asked for it */
  gint64 exact_at;      /* monotonic, when the hand has come to rest; G_MAXINT64: it moves */
  gboolean same_pixels; /* as the state before it: PREVIEW would show nothing new */
  gboolean keep;        /* its pixels belong into the history */
  SbSnapshot *snapshot; /* a kept state to start from, of the first n_snapshot edits, or NULL */
  guint n_snapshot;
} SbWanted;

void sb_wanted_clear (SbWanted *wanted);

typedef enum
{
  SB_BUFFER_AWAY, /* with the canvas */
  SB_BUFFER_FREE,
  SB_BUFFER_FILLING,
  SB_BUFFER_FILLED,
} SbBufferState;

struct _SbDocumentView
{
  SbWork *work;

  gboolean wanted;
  SbView view;
  guint generation; /* of the picture that the view is of */
  gint64 changed;   /* when the canvas asked for this view */

  struct
  {
    SbBufferState state;
    guint8 *pixels;
    gsize bytes;
    SbFrame frame;
  } buffers[SB_DOCUMENT_VIEW_BUFFERS];

  /* What the newest filled pixels show. */
  gboolean has_shown;
  SbView shown;
  guint64 shown_stamp;
  guint shown_generation;
  guint64 shown_id; /* of the wanted state */
  guint64 exact_id; /* the same, of the last EXACT one */
  guint64 drawn_id; /* the last one that reached the screen */
};

/* A picture on its way into the engine. */
typedef struct
{
  SbImage *image;
  gpointer job; /* of sb-document-io.c */
} SbLoadRequest;

typedef struct
{
  guint generation;
  SbEditList *edits;
  guint n_fixed;
  guint depth;
  GCancellable *cancellable; /* owned by the job */
  gpointer job;              /* of sb-document-io.c; NULL: nothing to read */
} SbReadRequest;

/* The transform of the newest state for somebody; task is NULL where nobody asks. */
typedef struct
{
  guint generation;
  SbEditList *edits;
  guint n_fixed;
  SbHaarChoice choice;
  GTask *task;
} SbBandsRequest;

/* The transform that is made with every result; sb-document-subbands.c. */
typedef struct
{
  SbHaarChoice wanted; /* levels 0: none */
  SbHaarBand band;     /* to be measured */
  guint generation;    /* of the picture that both are of */
  SbHaarChoice set;    /* in the engine */
  gboolean failed;     /* to be set */

  guint64 measured_id; /* of the state measured, or given up; 0: none */
  SbHaarBand measured_band;
  SbSubbandMeasures last; /* its choice says levels 0: there are none of what is set */
  /* What an edit of bands works on was measured of these edits, and this channel. */
  SbEditList *before;
  SbHaarChannel before_channel;
  double noise, suggested;
  /* What the edit of bands does was measured of these, the last of which it is. */
  SbEditList *until;

  SbBandsRequest request;
  gboolean followed; /* the last step of a drag was for them, too */
} SbWorkBands;

struct _SbWork
{
  gatomicrefcount references;
  GMutex mutex;
  GCond wake;    /* of the worker, also when the show thread has caught up */
  GCond show;    /* of the show thread */
  GCond settled; /* a buffer is no longer being filled */
  gboolean quit;

  SbDocument *document; /* main thread only; NULL once it is gone */
  gboolean update_pending;

  SbDevice device;
  gboolean open;      /* the engine is asked for */
  GError *open_error; /* why there is none */
  SbDevice wish;      /* the device that the engine left... */
  char *left;         /* ...and why; NULL: it has not left any */
  gboolean leaving;   /* right now */
  gboolean full;      /* because this picture was too large for it */
  GError *lost;       /* a show has found that the device is to be left */
  SbEngineBox *box;
  SbImage *original; /* in the engine */
  guint generation;  /* of the picture in the engine; 0: none */
  guint next_generation;

  SbLoadRequest load;
  SbReadRequest read;
  SbWorkBands bands;
  SbWanted wanted;
  guint64 next_id;

  guint64 preview_id; /* of the last state shown at PREVIEW or better */
  guint64 exact_id;   /* of the last state rendered EXACT, or given up with an error */
  guint64 kept_id;
  gint64 exact_done;         /* when that was */
  guint64 stamp;             /* grows whenever what the engine shows has changed */
  guint64 stamp_id;          /* of the state shown */
  gint64 stamp_changed;      /* its time */
  gint64 stamp_rest;         /* when the hand came to rest, for EXACT ones */
  gboolean stamp_exact;      /* what the engine shows is EXACT */
  gboolean trimmed;          /* since the last render */
  gboolean prepared;         /* since the last EXACT render */
  GCancellable *cancellable; /* of what the worker does now and newer work may end, or NULL */
  gboolean keeping;          /* that is a read for the history */
  SbEditList *fixed;         /* the edits whose result the engine holds */
  SbEditList *exact_edits;   /* of the last EXACT render */
  double exact_ms_per_edit;
  double restore_ns_per_pixel;
  guint level;      /* that the zoom needed for the last PREVIEW */
  guint coarser;    /* levels added to it */
  guint slow_steps; /* one after the other, by now */
  double render_ms; /* of the last render of any kind */

  GPtrArray *views; /* SbDocumentView, owned once each by its canvas and here */
};

SbWork *sb_work_new (SbDocument *document, SbDevice device);
SbWork *sb_work_ref (SbWork *work);
void sb_work_unref (SbWork *work);
void sb_work_close (SbWork *work);

/* Runs func on the main thread, also when the document is gone by then (NULL). Any thread, with or
 * without the mutex. */
typedef void (*SbWorkFunc) (SbDocument *document, gpointer data);
void sb_work_post (SbWork *work, SbWorkFunc func, gpointer data);
/* Has sb_document_updated() called soon, once for many. With the mutex. */
void sb_work_update (SbWork *work);

/* Takes over what `wanted` holds, and gives it its id. Ends a render that is no longer useful. */
guint64 sb_work_want (SbWork *work, SbWanted *wanted);
/* The hand has come to rest. */
void sb_work_rest (SbWork *work);
/* Something is still to be rendered, or filled into a canvas' buffer. With the mutex. */
gboolean sb_work_is_pending (SbWork *work);

/* Puts a decoded picture into the engine, taking over the image; sb_load_job_done() tells. */
void sb_work_load (SbWork *work, SbImage *image, gpointer job);
/* FALSE: the worker has begun with it, or done it already. */
gboolean sb_work_unload (SbWork *work, gpointer job);
/* One at a time; sb_read_job_done() tells. */
void sb_work_read (SbWork *work, const SbReadRequest *request);
GError *sb_work_cancelled (void);

/* Threads that run now in this process; for tests that look for leaks at the end. */
int sb_work_n_threads (void);
void sb_work_thread (SbWork *work, const char *name, GThreadFunc func, gpointer data);

/* --- sb-document-render.c -------------------------------------------------------------------- */

gpointer sb_work_render_thread (gpointer work);
/* The device that answered this is of no more use to what is open. */
gboolean sb_work_must_leave (const GError *error);
/* A show of the engine in the box has failed: has the worker see to it. With the mutex. */
void sb_work_show_failed (SbWork *work, const SbEngineBox *box, const GError *error);

/* --- sb-document-subbands.c; all but the document's own part with the mutex --------------------
 */

/* The engine has forgotten the transform, being another, or with another picture. */
void sb_work_bands_lost (SbWork *work);
/* The worker ends: nobody is left without an answer. */
void sb_work_bands_quit (SbWork *work);
void sb_work_bands_clear (SbWork *work);
/* The engine makes the transform that is wanted: it can be shown and measured. */
gboolean sb_work_bands_ready (const SbWork *work);
/* Something is still to be set or measured. */
gboolean sb_work_bands_pending (const SbWork *work);
/* A canvas shows it. */
gboolean sb_work_bands_seen (const SbWork *work);
/* The worker's jobs; FALSE: there was nothing to be done. *error: what the engine refused, and what
 * is to be done about it the worker knows. */
gboolean sb_work_bands_set (SbWork *work, GError **error);
gboolean sb_work_bands_read (SbWork *work, GError **error);
gboolean sb_work_bands_measure (SbWork *work, GError **error);

/* --- sb-document-show.c; with the mutex ------------------------------------------------------ */

gpointer sb_work_show_thread (gpointer work);
/* Its newest pixels show another view or another result than there is now. */
gboolean sb_work_view_is_stale (const SbDocumentView *view);
/* Notes what pixels are about to show, and from when they are measured; gives the frame for the
 * canvas. Before the pixels are made: what changes meanwhile makes them stale again. */
SbFrame sb_work_begin_frame (SbDocumentView *view, guint buffer);
/* A buffer is there to be filled with something newer. */
gboolean sb_work_owes_show (SbWork *work);
/* The pyramid level and the part of the picture that the canvases need; FALSE: no canvas shows the
 * result. */
gboolean sb_work_get_detail (SbWork *work, guint *level, SbRect *region);

/* --- sb-document-io.c ------------------------------------------------------------------------ */

/* On the worker, without the mutex. */
void sb_load_job_done (SbWork *work, gpointer job, guint generation, GError *error);
void sb_read_job_done (SbWork *work, gpointer job, SbImage *image, GError *error);

/* The jobs that are running; owned by io. */
typedef struct
{
  gpointer load, export;
} SbJobs;
/* --- The document itself; all of what follows on the main thread ------------------------------ */

enum
{
  SB_PROP_0,
  SB_PROP_HAS_PICTURE,
  SB_PROP_TITLE,
  SB_PROP_SUBTITLE,
  SB_PROP_MODIFIED,
  SB_PROP_CAN_UNDO,
  SB_PROP_CAN_REDO,
  SB_PROP_UNDO_LABEL,
  SB_PROP_REDO_LABEL,
  SB_PROP_CAN_APPLY,
  SB_PROP_EDITS,
  SB_PROP_BUSY,
  SB_PROP_ERROR,
  SB_PROP_LOADING,
  SB_PROP_EXPORTING,
  SB_PROP_PROGRESS,
  SB_PROP_COMPARING,
  SB_PROP_ANIMATING,
  SB_PROP_ANIMATION_FPS,
  SB_PROP_DEVICE_NAME,
  SB_PROP_DEVICE_REASON,
  SB_PROP_RENDER_MS,
  SB_N_PROPS,
};

enum
{
  SB_SIGNAL_PICTURE_CHANGED,
  SB_SIGNAL_EDITS_CHANGED,
  SB_SIGNAL_WARNING,
  SB_SIGNAL_MESSAGE,
  SB_SIGNAL_SHOWN,
  SB_SIGNAL_MEASURED,
  SB_N_SIGNALS,
};

struct _SbDocument
{
  GObject parent_instance;

  SbDevice device;
  SbWork *work;
  SbJobs jobs;
  gboolean closed;
  guint n_holds; /* sb_document_hold() */
  guint64 memory_limit;
  guint64 history_budget;

  GFile *file;
  char *etag;
  SbImage *image;
  guint generation; /* of the picture; 0: none */
  SbHistory *history;
  guint n_applied; /* of the edits of the state at the cursor */
  gboolean dragging;
  guint64 wanted_id;

  /* The animation: `edit` stands in for the unapplied blur, or is added where there is none. */
  struct
  {
    SbEdit edit;
    int direction;
    guint64 id; /* of the step that is on its way */
    guint n_steps;
    gint64 since;
  } sweep;

  gboolean has_measures;
  SbSubbandMeasures measures;

  /* The properties as they were last told, by their kind. */
  gboolean flags[SB_N_PROPS];
  char *texts[SB_N_PROPS];
  double numbers[SB_N_PROPS];
};

/* Set a property and tell of it where that changes it. NULL counts as "". */
void sb_document_set_flag (SbDocument *self, guint prop, gboolean value);
void sb_document_set_text (SbDocument *self, guint prop, const char *value);
void sb_document_set_number (SbDocument *self, guint prop, double value);
/* Sets what follows from the history. */
void sb_document_refresh (SbDocument *self);
gboolean sb_document_is_busy (SbDocument *self);
SbHistoryState sb_document_get_cursor_state (SbDocument *self);
void sb_document_changed_elsewhere (SbDocument *self);
void sb_document_message (SbDocument *self, const char *sentence);
/* measures: NULL, there are none any more. */
void sb_document_measured (SbDocument *self, const SbSubbandMeasures *measures);

/* --- sb-document-edit.c ---------------------------------------------------------------------- */

/* Has the newest state rendered. exact_at: when the hand will have come to rest. same_pixels: it
 * looks like the one before. */
void sb_document_want (SbDocument *self, gint64 exact_at, gboolean same_pixels);
void sb_document_set_animating (SbDocument *self, gboolean animating);

/* --- sb-document.c --------------------------------------------------------------------------- */

void sb_document_updated (SbDocument *self);
void sb_document_kept (SbDocument *self, guint64 id, SbImage *pixels);
void sb_document_warn (SbDocument *self, const char *sentence);
void sb_document_failed (SbDocument *self, const GError *error);
SbWork *sb_document_get_work (SbDocument *self);
/* The picture that is open; views are of it. */
guint sb_document_get_generation (SbDocument *self);
guint64 sb_document_get_memory_limit (SbDocument *self);
/* The newest state, as it stands in the history. */
SbEditList *sb_document_get_state (SbDocument *self, guint *n_applied);
void sb_document_loaded (SbDocument *self, GFile *file, SbImage *image, guint generation);
void sb_document_set_etag (SbDocument *self, const char *etag);
void sb_document_exported (SbDocument *self, guint generation, SbEditList *edits);
/* Properties that io keeps. */
void sb_document_set_io (SbDocument *self, gboolean loading, gboolean exporting, double progress);

SbJobs *sb_document_get_jobs (SbDocument *self);
void sb_document_cancel_jobs (SbDocument *self);

G_END_DECLS
