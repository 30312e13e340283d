/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur-job.h"
#include "sb-cpu-blur-line.h"

G_BEGIN_DECLS

/* A rectangle of a job's result, made as a whole: groups of 8 rows go through the horizontal
 * passes, each group's result is turned into strips of 8 columns, which go through the vertical
 * passes and out to the target. In what order, and how much of the strips is there at a time, is
 * the caller's. */

#define SB_GROUP 8   /* rows of a group, columns of a strip */
#define SB_LOAD  128 /* pixels of a row group that are loaded at a time */

typedef struct
{
  const SbBlurJob *job;
  SbRect rect;        /* kept */
  int x0, x1, y0, y1; /* with what the passes reach beyond */
  SbLineClass h, v;
  guint n_strips;
  gsize row_vectors;   /* memory of a row line */
  gsize strip_vectors; /* memory of a strip, from strip to strip */
  guint direct_strips; /* the first ones: they go from the last pass to the target at once */
  guint strips_at_once, staging_rows;
  gsize staging_stride;
  gint64 strip_origin; /* of two phases: a strip's first input */
  guint8 *strips;      /* of two phases; a marching tile has them in its thread's memory */
  guint8 *threads;
  gsize thread_bytes;
} SbBlurTile;

/* A thread's own memory. */
typedef struct
{
  SbAhead *ahead; /* NULL: the hardware sees for itself what comes */
  guint16 *row;
  guint8 *staging;
  SbLine *lines;
  guint16 *mask_row;
  guint32 *mask_sums;
  guint16 *strips;
} SbBlurRoom;

static inline gsize
sb_padded (gsize bytes)
{
  /* An odd number of cache lines, so that equal places of neighbours fall into different sets. */
  return ((bytes + 63) / 64 | 1) * 64;
}

/* What all tiles of a job have in common. */
void sb_blur_tile_init (SbBlurTile *tile, const SbBlurJob *job);
/* Sets what depends on the tile's place and size; the rest of `tile` stands. */
void sb_blur_tile_place (SbBlurTile *tile, const SbRect *rect);
/* Memory for a row line: all of it where it is short, otherwise a window. */
void sb_blur_tile_set_row_vectors (SbBlurTile *tile);
gsize sb_blur_tile_staging_stride (const SbBlurJob *job, guint strips);
/* Where a thread's memory lies, from tile->threads on. bytes, or NULL: how much it is. */
void sb_blur_tile_room (const SbBlurTile *tile, gboolean marching, guint thread, SbBlurRoom *room,
                        gsize *bytes);

/* Line rows y .. y + 7 of the tile through the horizontal passes, then into place in the strips,
 * the first of which gets them at `out`. */
void sb_blur_tile_rows (const SbBlurTile *tile, const SbBlurRoom *room, gint64 y, guint16 *out);
/* For strips first .. first + n - 1, before their first sb_blur_tile_advance(). */
void sb_blur_tile_start_mask (const SbBlurTile *tile, const SbBlurRoom *room, guint first, guint n,
                              SbMaskWindow *window);
/* The strips as far as `have` rows allow, in portions that fit the staging, and out to the target;
 * returns the next result to come. */
gint64 sb_blur_tile_advance (const SbBlurTile *tile, const SbBlurRoom *room, guint16 *strips,
                             guint first, guint n, gint64 have, gint64 given, SbMaskWindow *window);

G_END_DECLS
