/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-edit.h"
#include "sb-engine.h"
#include "sb-parallel.h"
#include "sb-tone.h"

G_BEGIN_DECLS

/* The blur on the CPU: one edit from one picture to another, whole or in part. */

typedef enum
{
  SB_PIXELS_8,    /* RGBA, 8 bits, straight, encoded; stands for v * 257 */
  SB_PIXELS_16,   /* RGBA, 16 bits, straight, encoded */
  SB_PIXELS_WORK, /* RGBA, 16 bits, premultiplied, decoded to linear where the edit is linear: a
                     level of the preview pyramid. Only as a source. */
} SbPixelFormat;

/* Pixels to read: the whole input picture of the edit. */
typedef struct
{
  SbPixelFormat format;
  guint width, height;
  const guint8 *pixels;
  gsize stride;
  gboolean opaque;
} SbSource;

/* Pixels to write: rect of the edit's output, which has the input's size; `pixels` is where pixel
 * (rect.x, rect.y) goes. SB_PIXELS_8 or SB_PIXELS_16. May not overlap the source. */
typedef struct
{
  SbPixelFormat format;
  SbRect rect;
  guint8 *pixels;
  gsize stride;
} SbTarget;

/* Scratch memory that lives from call to call. One call at a time. */
typedef struct _SbBlurScratch SbBlurScratch;
SbBlurScratch *sb_blur_scratch_new (void) G_GNUC_WARN_UNUSED_RESULT;
void sb_blur_scratch_free (SbBlurScratch *scratch);
void sb_blur_scratch_trim (SbBlurScratch *scratch); /* gives the memory back */

/* Writes every pixel of target->rect: the edit's result inside its area, blended by the mask where
 * the mask is between, the input's bytes (converted to the target's depth) elsewhere. Exactly the
 * arithmetic of the design: decode, premultiply, horizontal passes, vertical passes, unpremultiply,
 * encode, mask, each step rounded to 16 bits, a target of 8 bits rounded at the end. Reads only the
 * rows and columns that the rect and the area need; an 8-bit target from an 8-bit source returns
 * the source's bytes outside the area and for an identity edit, colour under alpha 0 included.
 *
 * tone: for linear edits and their encode; must be given. SB_ERROR_OUT_OF_MEMORY, SB_ERROR_INVALID
 * (an area outside the picture), G_IO_ERROR_CANCELLED: then the target is partly written. */
gboolean sb_cpu_blur (const SbSource *source, const SbEdit *edit, const SbTone *tone,
                      const SbTarget *target, SbParallel *parallel, SbBlurScratch *scratch,
                      GCancellable *cancellable, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbBlurScratch, sb_blur_scratch_free)

G_END_DECLS
