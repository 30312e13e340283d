/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cpu-blur.h"

G_BEGIN_DECLS

/* The edit of Haar bands on the CPU, whole or in part: forward, change and inverse in one pass over
 * tiles of 32 x 32, which need nothing of their neighbours for five levels. Deeper ones are made of
 * the tiles' means beforehand.
 *
 * Writes every pixel of target->rect, as sb_cpu_blur() does; tone is not used but for the type of
 * the masks. Errors are the same. */
gboolean sb_cpu_bands (const SbSource *source, const SbEdit *edit, const SbTarget *target,
                       SbParallel *parallel, GCancellable *cancellable, GError **error);

/* The levels that the edit acts on in a picture of this size. */
guint sb_cpu_bands_levels (const SbEdit *edit, guint width, guint height);
/* The pixels of the edit's input that `rect` of its output is made from. */
SbRect sb_cpu_bands_reach (const SbEdit *edit, const SbRect *rect, guint width, guint height);

/* What the edit does: source is its input, result its output at the depth of the document, to which
 * the input is rounded for the comparison. The transform is that of the whole input, whatever the
 * edit's area. */
gboolean sb_cpu_bands_measure (const SbSource *source, const SbSource *result, const SbEdit *edit,
                               SbParallel *parallel, SbBandsMeasure *measure,
                               GCancellable *cancellable, GError **error);

G_END_DECLS
