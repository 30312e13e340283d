/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What --stats prints: samples in milliseconds, from any thread, of one process. Off until started;
 * then one JSON object with frames, fps, and p50, p95 and p99 of each kind. */
typedef enum
{
  SB_STATS_SHOWN,  /* from a change of an edit or the view to its pixels handed to the frame */
  SB_STATS_RENDER, /* one render, PREVIEW or EXACT */
  SB_STATS_SHOW,   /* one show */
  SB_STATS_STALL,  /* how late the main loop came to a source that was due */
  SB_STATS_EXACT,  /* from rest (button up, or 50 ms after the last change) to EXACT on screen */
  SB_N_STATS,
} SbStatsKind;

void sb_stats_start (void);
gboolean sb_stats_is_on (void);
void sb_stats_add (SbStatsKind kind, double ms);
void sb_stats_frame (void); /* the canvas drew new pixels */
char *sb_stats_print (void) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
