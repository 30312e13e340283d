/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-estimate.h"
#include "sb-cpu-frame.h"
#include "sb-cpu-haar.h"

G_BEGIN_DECLS

/* The transforms that the CPU backend keeps while subbands are looked at: of the last EXACT result,
 * and over it of a PREVIEW, with estimates of the bands that it does not have. Nothing is allocated
 * while they are off. set, exact, preview and the measures on the worker thread; show and pick in
 * any. */
typedef struct
{
  SbParallel *parallel; /* borrowed; of the worker */

  GMutex lock;         /* guards what follows */
  SbHaarChoice choice; /* levels 0: off */
  SbCpuHaar *exact;
  SbCpuHaar *preview; /* of the picture reduced by 2^level, or NULL */
  guint level;
  SbCpuHaar *pooled; /* of the estimate that is shown with the preview, or NULL */
  guint n_estimated; /* levels from 1 on */
  SbCpuEstimateFit fits[SB_CPU_ESTIMATE_BANDS];
  /* Memory to be used again; the worker's. */
  SbCpuHaar *spare, *spare_preview;
  SbCpuEstimate estimate;
  /* Of the last EXACT result; energy of all bands, negative: not added up yet. The worker's. */
  SbHaarTotals totals[1 + 3 * SB_HAAR_MAX_LEVELS];
  double energy;
} SbCpuSubbands;

void sb_cpu_subbands_init (SbCpuSubbands *subbands, SbParallel *parallel);
void sb_cpu_subbands_clear (SbCpuSubbands *subbands);
/* Gives back what only saves time. */
void sb_cpu_subbands_trim (SbCpuSubbands *subbands);
gboolean sb_cpu_subbands_are_on (SbCpuSubbands *subbands);
/* choice NULL: off. The transform is of `frame`, an EXACT one. */
gboolean sb_cpu_subbands_set (SbCpuSubbands *subbands, const SbHaarChoice *choice,
                              const SbCpuFrame *frame, GCancellable *cancellable, GError **error);
/* Takes the transform of an EXACT frame, which is about to be shown, in two steps, so that nothing
 * fails in between: make returns it, or NULL with an error, or with none where they are off. */
SbCpuHaar *sb_cpu_subbands_make (SbCpuSubbands *subbands, const SbCpuFrame *frame,
                                 GCancellable *cancellable, GError **error);
void sb_cpu_subbands_take (SbCpuSubbands *subbands, SbCpuHaar *haar);
/* Likewise of a PREVIEW; exact: what is seen outside its rect; start: what its edits start from. */
gboolean sb_cpu_subbands_preview (SbCpuSubbands *subbands, const SbCpuFrame *frame,
                                  const SbCpuFrame *exact, const SbCpuStart *start,
                                  GCancellable *cancellable, GError **error);
/* Pixels that edits started from are going to change or to be freed. */
void sb_cpu_subbands_forget (SbCpuSubbands *subbands, const guint8 *pixels);
/* No PREVIEW is shown any more. */
void sb_cpu_subbands_end_preview (SbCpuSubbands *subbands);

gboolean sb_cpu_subbands_show (SbCpuSubbands *subbands, const SbView *view, guint8 *rgba,
                               gsize stride, SbParallel *parallel, GError **error);
/* The bands of levels 1 to this one are shown as estimates now. Any thread. */
guint sb_cpu_subbands_estimated (SbCpuSubbands *subbands);
/* FALSE for those. */
gboolean sb_cpu_subbands_pick (SbCpuSubbands *subbands, SbHaarBand band, guint column, guint row,
                               float *value);
gboolean sb_cpu_subbands_measure (SbCpuSubbands *subbands, SbHaarBand band,
                                  SbHaarStatistics *statistics, GCancellable *cancellable,
                                  GError **error);
gboolean sb_cpu_subbands_summarize (SbCpuSubbands *subbands, const SbCpuFrame *frame,
                                    SbHaarSummary *summary, GCancellable *cancellable,
                                    GError **error);

G_END_DECLS
