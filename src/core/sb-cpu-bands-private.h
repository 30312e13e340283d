/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur-job.h"
#include "sb-cpu-haar.h"

G_BEGIN_DECLS

#define SB_BANDS_TILE_LEVELS 5
#define SB_BANDS_TILE        (1u << SB_BANDS_TILE_LEVELS)

/* An edit of bands as it runs over strips: pieces of a picture one tile high and some tiles wide,
 * that lie on the grid of tiles from the picture's corner. */
typedef struct
{
  const SbHaarKernels *kernels;
  const SbSource *source;
  const SbTarget *target;
  const SbMask *mask; /* NULL: none */
  SbBlurJob job;      /* for the blending by a mask and copies */
  SbParallel *parallel;
  GCancellable *cancellable;
  guint levels;      /* that the picture has */
  guint tile_levels; /* of these, within a tile */
  guint n_planes;    /* R, G, B or the luma */
  gboolean hard;
  float gain_means;
  float gains[SB_BANDS_MAX_LEVELS + 1][3];
  float thresholds[SB_BANDS_MAX_LEVELS + 1];
  gboolean acts[SB_BANDS_MAX_LEVELS + 1];
  /* The means of the tiles, changed already, where there are more levels than a tile has. */
  SbHaarPlane means[3];
  guint columns; /* of a strip */
  gboolean stream;
} SbBandsJob;

/* The memory of a thread, and where in it things are for the strip at hand. */
typedef struct
{
  int x, y; /* of the strip in the picture */
  guint columns, rows;
  float *samples[3][2]; /* two rows of each of R, G, B */
  float *luma[2];       /* of the luma as it was */
  float *made[2];       /* two rows of one plane after the last inverse */
  SbHaarPlane planes[3][SB_BANDS_TILE_LEVELS + 1][4]; /* [plane][level]: a, h, v, d */
  guint16 *alpha, *result;                            /* a row */
  guint16 *mask;
  guint32 *sums;
} SbBandsRoom;

typedef struct
{
  guint64 before, after; /* details that are not zero */
} SbBandsCount;

void sb_bands_job_init (SbBandsJob *job, const SbSource *source, const SbEdit *edit,
                        SbParallel *parallel, GCancellable *cancellable);
/* Bytes of a thread's room; memory NULL: only that. */
gsize sb_bands_room_init (const SbBandsJob *job, guint8 *memory, SbBandsRoom *room);
/* Where the strip lies. */
void sb_bands_room_place (const SbBandsJob *job, SbBandsRoom *room, guint x, guint y);
/* Row j of the strip as samples (and luma) into slot 0 or 1. */
void sb_bands_load_row (const SbBandsJob *job, const SbBandsRoom *room, guint j, guint slot);
/* Three planes of opaque pixels of 8 bits, which have kernels of their own. */
gboolean sb_bands_is_plain (const SbBandsJob *job);
/* The transform of a strip with the changes made; count: NULL, or what is counted on the way. */
void sb_bands_forward (const SbBandsJob *job, SbBandsRoom *room, SbBandsCount *count);
/* Levels beyond the tiles': changes a plane of means in place. FALSE: out of memory. */
gboolean sb_bands_deep (const SbBandsJob *job, const SbHaarPlane *means, guint level,
                        SbBandsCount *count);

G_END_DECLS
