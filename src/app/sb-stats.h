/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What --stats prints: samples in milliseconds, from any thread, of one process. Off until started;
 * then one JSON object with frames, fps, and p50, p95 and p99 of each kind; and how the subbands
 * keep up: subbands_frames, subbands_fps, results, unmeasured. */
typedef enum
{
  SB_STATS_SHOWN,    /* from a change of an edit or the view to its pixels handed to the frame */
  SB_STATS_RENDER,   /* one render, PREVIEW or EXACT */
  SB_STATS_SHOW,     /* one show */
  SB_STATS_STALL,    /* how late the main loop came to a source that was due */
  SB_STATS_EXACT,    /* from rest (button up, or 50 ms after the last change) to EXACT on screen */
  SB_STATS_MEASURED, /* from an EXACT result on screen to its statistics on screen */
  SB_N_STATS,
} SbStatsKind;

typedef enum
{
  SB_STATS_PHOTO,
  SB_STATS_SUBBANDS,
  SB_N_STATS_CANVASES,
} SbStatsCanvas;

void sb_stats_start (void);
gboolean sb_stats_is_on (void);
void sb_stats_add (SbStatsKind kind, double ms);
void sb_stats_frame (SbStatsCanvas canvas); /* it drew new pixels */
/* The EXACT result of a state of the picture, by its number from 1 on, is on screen, and its
 * statistics are to follow; again for the same state is nothing new. */
void sb_stats_result (guint64 id);
/* The statistics of a state are on screen. Those that are there before their result count as 0 ms;
 * a result that another one follows first counts as unmeasured. */
void sb_stats_measured (guint64 id);
char *sb_stats_print (void) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
