/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"

G_BEGIN_DECLS

/* How edits run on a picture reduced by 2^level, so that what comes out looks like the reduced
 * result of the edits themselves.
 *
 * sb_edit_scale() keeps a box's true width. Where that is less than a few pixels of the level, a
 * box of whole pixels and two fractions is a poor picture of it: there, radius and number of passes
 * are chosen whose frequency response, after the averaging into the level's pixels, is nearest to
 * the edit's own, weighted as the spectrum of photos falls (power 1 / w^2 over a little noise).
 *
 * Boxes smaller still cannot be had on the level at all. The first blur of a list, over the whole
 * picture, is then filtered and reduced in one (sb-cpu-reduce.h): sb_preview_from() gives the level
 * it is filtered from, `level` itself where a box of that level does it. sb_preview_level() gives
 * the level a list runs on for a preview of `level`: a finer one where a blur is not the first, has
 * an area, or is so small that in linear light its pixels must be encoded before they are averaged.
 *
 * Pure functions; `scaled` has room for n_edits. */
guint sb_preview_level (const SbEdit *edits, guint n_edits, guint level);
guint sb_preview_from (const SbEdit *first, guint level);
void sb_preview_scale (const SbEdit *edits, guint n_edits, guint level, SbEdit *scaled);

G_END_DECLS
