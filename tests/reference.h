/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
#include "sb-haar.h"
#include "sb-image.h"

G_BEGIN_DECLS

/* The arithmetic of the blur written down a second time, as slowly and plainly as it is defined:
 * plain integers (64 bits), one loop per definition, every index through the edge rule, no running
 * sum, no table but the tone curve's own definition evaluated in double. Nothing here is shared
 * with src/core's arithmetic. Used by the tests and by softbox-cli --verify.
 *
 * sb_reference_blur: the edit applied to 16-bit straight RGBA `in` of width x height into `out`,
 * another buffer.
 * decode, encode: the three channels' tables of 65,536 entries, from sb_reference_tone() or
 * elsewhere. */
typedef struct
{
  guint16 *decode[3];
  guint16 *encode[3];
} SbReferenceTone;

/* sRGB by its four constants, by search for the encode. Freed with _clear. */
void sb_reference_tone_srgb (SbReferenceTone *tone);
void sb_reference_tone_clear (SbReferenceTone *tone);
void sb_reference_blur (const guint16 *in, guint16 *out, guint width, guint height,
                        const SbEdit *edit, const SbReferenceTone *tone);

/* The same in parts. A work pixel is premultiplied and, where `linear`, decoded; as a source it
 * stands for the straight pixel it turns back into. `work` and `straight` may be one buffer. */
void sb_reference_to_work (const guint16 *straight, guint16 *work, gsize n_pixels, gboolean linear,
                           const SbReferenceTone *tone);
void sb_reference_from_work (const guint16 *work, guint16 *straight, gsize n_pixels,
                             gboolean linear, const SbReferenceTone *tone);
void sb_reference_blur_work (const guint16 *work, guint16 *out, guint width, guint height,
                             const SbEdit *edit, const SbReferenceTone *tone);

/* The Haar transform of width x height samples, level by level over whole planes. Index 0 of the
 * arrays is level 1. Freed with _clear. */
typedef struct
{
  guint levels;
  guint columns[SB_HAAR_MAX_LEVELS], rows[SB_HAAR_MAX_LEVELS];
  float *means[SB_HAAR_MAX_LEVELS];      /* of every level; only the last one's are a band */
  float *details[SB_HAAR_MAX_LEVELS][3]; /* H, V, D */
} SbReferenceHaar;

void sb_reference_haar (const float *samples, guint width, guint height, guint levels,
                        SbReferenceHaar *haar);
/* What the bands make together; width x height samples, freed with g_free(). */
float *sb_reference_haar_inverse (const SbReferenceHaar *haar, guint width,
                                  guint height) G_GNUC_WARN_UNUSED_RESULT;
void sb_reference_haar_clear (SbReferenceHaar *haar);
/* The band as the engine names it. */
const float *sb_reference_haar_band (const SbReferenceHaar *haar, SbHaarBand band);
/* The samples of a channel of a picture. */
float *sb_reference_channel (SbImage *image, SbHaarChannel channel) G_GNUC_WARN_UNUSED_RESULT;

/* An edit of bands over straight RGBA of 16 bits; and over premultiplied pixels. */
void sb_reference_bands (const guint16 *in, guint16 *out, guint width, guint height,
                         const SbEdit *edit);
void sb_reference_bands_work (const guint16 *work, guint16 *out, guint width, guint height,
                              const SbEdit *edit);
/* How many details of an edit's input, straight, are not zero before it and after it. */
void sb_reference_count_bands (const guint16 *in, guint width, guint height, const SbEdit *edit,
                               guint64 *before, guint64 *after);

/* The fold of a list over an image of 8 or 16 bits, rounded to `depth` bits at the end. */
SbImage *sb_reference_fold (SbImage *image, const SbEditList *edits, guint depth,
                            const SbReferenceTone *tone) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
