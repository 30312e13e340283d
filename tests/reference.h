/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
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

/* The fold of a list over an image of 8 or 16 bits, rounded to `depth` bits at the end. */
SbImage *sb_reference_fold (SbImage *image, const SbEditList *edits, guint depth,
                            const SbReferenceTone *tone) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
