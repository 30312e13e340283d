/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
#include "sb-engine.h"

G_BEGIN_DECLS

/* The mask of an area over a picture: 65535 inside, 0 outside, inverted where asked for, then
 * softened by one horizontal and one vertical box of radius `feather`, ends repeated. It is never
 * held as a whole: rows come one after the other from the spans of the shape. */
typedef struct
{
  SbArea area;
  guint width, height;  /* of the picture */
  guint16 values[1002]; /* what the horizontal box makes of a count of samples inside */
} SbMask;

/* A walk down some columns of a mask. */
typedef struct
{
  const SbMask *mask;
  int x0, x1, y;
  guint32 *sums; /* x1 - x0, of the 2 feather + 1 rows around y; not used without feather */
} SbMaskWindow;

void sb_mask_init (SbMask *mask, const SbArea *area, guint width, guint height);

/* Cuts `wanted` into rectangles where the mask may be above 0 and such where it is 0 all over;
 * together they cover it once. At most 5 altogether, none empty. */
typedef struct
{
  SbRect rect;
  gboolean zero;
} SbMaskPart;
guint sb_mask_split (const SbMask *mask, const SbRect *wanted, SbMaskPart parts[5]);

/* The samples of row y inside the shape, before inverting and softening: *from .. *to - 1, in the
 * picture. None: both 0. */
void sb_mask_span (const SbMask *mask, gint64 y, gint64 *from, gint64 *to);

/* sums: room for x1 - x0. */
void sb_mask_window_start (SbMaskWindow *window, const SbMask *mask, int x0, int x1, int y,
                           guint32 *sums);
/* The mask of row y into `out`, x1 - x0 of them; then goes to the next row. */
void sb_mask_window_next (SbMaskWindow *window, guint16 *out);

G_END_DECLS
