/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-backend.h"
#include "sb-cpu-pyramid.h"
#include "sb-cpu-show.h"

G_BEGIN_DECLS

/* Something to show: a whole picture with its pyramid, or a part of one reduced by 2^level. Never
 * changed while it can be seen; whoever draws holds a reference. */
typedef struct
{
  gatomicrefcount references;
  guint width, height; /* of the full-size picture */
  guint depth;
  gboolean opaque;
  /* EXACT: */
  SbImage *image;
  SbPyramid pyramid;
  /* PREVIEW: */
  guint level;
  SbRect rect;
  guint8 *pixels;
  gsize bytes; /* of `pixels`, at least what the rect needs */
} SbCpuFrame;

/* Empty, for results of `picture`. */
SbCpuFrame *sb_cpu_frame_new (const SbPicture *picture) G_GNUC_WARN_UNUSED_RESULT;
SbCpuFrame *sb_cpu_frame_ref (SbCpuFrame *frame) G_GNUC_WARN_UNUSED_RESULT;
void sb_cpu_frame_unref (SbCpuFrame *frame); /* NULL is nothing */
/* Whether the caller's reference is the only one: nobody draws from it. FALSE for NULL. */
gboolean sb_cpu_frame_is_free (SbCpuFrame *frame);
/* What a view at this zoom is drawn from. */
SbShowSource sb_cpu_frame_source (const SbCpuFrame *frame, double zoom);
/* The straight pixel that is seen at (x, y) of the full-size picture, inside it; FALSE where the
 * frame does not have it. */
gboolean sb_cpu_frame_pick (const SbCpuFrame *frame, int x, int y, guint16 rgba[4]);

G_END_DECLS
