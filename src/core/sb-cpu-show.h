/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-color.h"
#include "sb-engine.h"
#include "sb-parallel.h"

G_BEGIN_DECLS

/* Pixels that a view can be drawn from: a picture, a level of its pyramid, or part of either. */
typedef enum
{
  SB_ALPHA_OPAQUE,
  SB_ALPHA_STRAIGHT,
  SB_ALPHA_PREMULTIPLIED, /* 16 bits, below zoom 1 only */
} SbAlpha;

typedef struct
{
  guint width, height; /* of the full-size picture */
  guint level;         /* a pixel stands for 2^level x 2^level of the picture's */
  SbRect rect;         /* what is there, in pixels of the level */
  guint depth;
  SbAlpha alpha;
  const guint8 *pixels; /* of the pixel in the rect's corner */
  gsize stride;
  const SbColorTable *display; /* what colours go through, or NULL */
} SbShowSource;

/* Draws the view. A device pixel belongs to the picture where its centre does, and to a source
 * where its centre lies in the source's rect; of several sources the last one is seen. Below zoom 1
 * it is the mean, premultiplied, over the part of its footprint that the source has; from 1 on the
 * one pixel under its centre. All sources are of the same picture, the first one has all of it.
 * SB_ERROR_OUT_OF_MEMORY. Any thread. */
gboolean sb_cpu_show (const SbView *view, const SbShowSource *sources, guint n_sources,
                      guint8 *rgba, gsize stride, SbParallel *parallel, GError **error);

G_END_DECLS
