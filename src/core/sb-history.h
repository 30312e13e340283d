/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
#include "sb-image.h"

G_BEGIN_DECLS

/* The undo history of one document: a list of states and a cursor. A state is the edits that make
 * it from the original, how many of them are applied (closed: the next change starts new ones), and
 * a label. State 0 is the original, always there. A state may keep its rendered pixels, losslessly
 * compressed, as long as the byte budget allows; nothing else is ever forgotten.
 *
 * Lives on the main thread. Only the compression of snapshots runs elsewhere, and it reports back
 * through the default main context. */
typedef struct _SbHistory SbHistory;

typedef struct
{
  SbEditList *edits;
  guint n_applied;
  const char *label; /* translated; owned by the history */
  gboolean kept;     /* its pixels are there, or on their way */
  gboolean evicted;  /* they were, and are to be rendered again */
} SbHistoryState;

/* budget: bytes of compressed snapshots; 0 means the default, a quarter of the physical memory, at
 * most 4 GiB. */
SbHistory *sb_history_new (guint64 budget) G_GNUC_WARN_UNUSED_RESULT;
void sb_history_free (SbHistory *history);
void sb_history_set_budget (SbHistory *history, guint64 budget);
guint64 sb_history_get_budget (const SbHistory *history);
/* What 0 means on a machine with so many bytes. */
guint64 sb_history_default_budget (guint64 physical);
/* Bytes of snapshots kept now; never above the budget once compression has come to rest. */
guint64 sb_history_get_bytes (const SbHistory *history);

/* Makes a new state after the cursor and forgets the states beyond. control names what was changed
 * ("blur.radius"), NULL what never merges. A change of the same control within a second of the last
 * one, or in the same drag (sb_history_begin_drag .. sb_history_end_drag), replaces the state at
 * the cursor instead of adding one, unless that is state 0 or the saved one. A state equal to the
 * one before it is not kept: a drag that comes back to where it began adds nothing. now: monotonic
 * time in microseconds. */
void sb_history_push (SbHistory *history, SbEditList *edits, guint n_applied, const char *label,
                      const char *control, gint64 now);
void sb_history_begin_drag (SbHistory *history, const char *control);
void sb_history_end_drag (SbHistory *history);
/* All edits of the state at the cursor count as applied from now on, also when it is come back to;
 * the next push adds a state. */
void sb_history_apply (SbHistory *history);
/* The next push adds a state whatever it changes. */
void sb_history_close (SbHistory *history);

guint sb_history_get_n_states (const SbHistory *history);
guint sb_history_get_cursor (const SbHistory *history);
/* position: 0 .. n_states - 1. Valid until the next change. */
SbHistoryState sb_history_get_state (const SbHistory *history, guint position);
gboolean sb_history_undo (SbHistory *history); /* FALSE: nothing to undo */
gboolean sb_history_redo (SbHistory *history);

/* Saved: the state at the cursor is what the file holds. Modified: the cursor's edits are not those
 * of the saved state; states are compared, not counted. The original starts out as saved. */
void sb_history_mark_saved (SbHistory *history);
/* The same for the state with these edits, wherever it stands, or if it is gone by now: a save that
 * took its time. */
void sb_history_mark_saved_edits (SbHistory *history, SbEditList *edits);
gboolean sb_history_is_modified (const SbHistory *history);

/* Gives the state at `position` its pixels (16 bits a channel, or 8 where that is all there is); a
 * thread compresses them. Older snapshots, farthest from the cursor first, are dropped to hold the
 * budget; one that is larger than the whole budget is not kept. */
void sb_history_keep (SbHistory *history, guint position, SbImage *pixels);
/* The kept pixels, byte-equal to what was given, or NULL where they were evicted or never kept.
 * Decompresses in the calling thread; may be called from any thread with a snapshot taken on the
 * main thread by sb_history_take(). */
typedef struct _SbSnapshot SbSnapshot;
SbSnapshot *sb_history_take (SbHistory *history, guint position) G_GNUC_WARN_UNUSED_RESULT;
/* Of the states at or before the one at `position` whose edits are a prefix of its edits, the one
 * with the most edits that has pixels; *n_edits receives their number. NULL: start at the original.
 */
SbSnapshot *sb_history_take_nearest (SbHistory *history, guint position,
                                     guint *n_edits) G_GNUC_WARN_UNUSED_RESULT;
/* Waits until no compression is pending; for tests and for reading the byte count. */
void sb_history_settle (SbHistory *history);

/* --- sb-snapshot.c --------------------------------------------------------------------------- */

/* A picture compressed without loss: each sample's difference from its neighbours, of 16 bits split
 * into planes of low and high bytes, packed in bands of rows. Reference-counted, any thread. */
SbSnapshot *sb_snapshot_new (SbImage *image, GCancellable *cancellable,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The picture itself in the dress of a snapshot. */
SbSnapshot *sb_snapshot_wrap (SbImage *image) G_GNUC_WARN_UNUSED_RESULT;
SbSnapshot *sb_snapshot_ref (SbSnapshot *snapshot) G_GNUC_WARN_UNUSED_RESULT;
void sb_snapshot_unref (SbSnapshot *snapshot);
gsize sb_snapshot_get_bytes (const SbSnapshot *snapshot);
SbImage *sb_snapshot_restore (SbSnapshot *snapshot, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbHistory, sb_history_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbSnapshot, sb_snapshot_unref)

G_END_DECLS
