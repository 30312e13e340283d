/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-backend.h"
#include "sb-cpu-blur.h"
#include "sb-cpu-pyramid.h"

G_BEGIN_DECLS

/* Edits one after the other, at full size or on a level of a pyramid, and the memory this takes,
 * which lives from call to call. One thread at a time. */

/* Memory that grows as needed. */
typedef struct
{
  guint8 *pixels;
  gsize bytes;
} SbCpuBuffer;

void sb_cpu_buffer_clear (SbCpuBuffer *buffer);
/* At least `bytes`; what was in it is gone where it grows. SB_ERROR_OUT_OF_MEMORY: it is empty. */
gboolean sb_cpu_buffer_reserve (SbCpuBuffer *buffer, gsize bytes, GError **error);

typedef struct
{
  SbParallel *parallel; /* borrowed */
  SbBlurScratch *scratch;
  SbCpuBuffer between[2]; /* results of all edits but the last, 16 bits */
  /* Levels of one picture, told by its pixels, in the space of one kind of edit. */
  SbPyramid work;
  const guint8 *work_of; /* NULL: of none */
  gboolean work_linear;
} SbCpuFold;

void sb_cpu_fold_init (SbCpuFold *fold, SbParallel *parallel);
void sb_cpu_fold_clear (SbCpuFold *fold);
void sb_cpu_fold_trim (SbCpuFold *fold);
/* Pixels that were folded from are going to change or to be freed. */
void sb_cpu_fold_forget (SbCpuFold *fold, const guint8 *pixels);

/* A picture as the blur takes it. */
SbSource sb_cpu_picture_source (const SbPicture *picture);

/* Makes target->rect, pixels of `level`, from `picture`. encoded: a pyramid of it for the display,
 * whose levels are used where they are what is needed, or NULL. Level 0 is exact; on other levels
 * the edits are scaled (sb-cpu-preview.h). n_edits may be 0. Errors as sb_cpu_blur(). */
gboolean sb_cpu_fold_run (SbCpuFold *fold, const SbPicture *picture, const SbPyramid *encoded,
                          const SbEdit *edits, guint n_edits, guint level, const SbTarget *target,
                          GCancellable *cancellable, GError **error);
/* How far away, in either direction, pixels have to do with each other at most. */
guint sb_cpu_fold_reach (const SbEdit *edits, guint n_edits);

G_END_DECLS
