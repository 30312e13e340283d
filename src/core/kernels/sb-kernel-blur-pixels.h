/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-kernel-blur.h"

/* The kernels between pixels and vectors, of the instruction set that is being compiled; what they
 * do stands at the members of SbBlurKernels that they fill. */

#define sb_blur_load_8        SB_ISA_SYMBOL (sb_blur_load_8_)
#define sb_blur_decode_8      SB_ISA_SYMBOL (sb_blur_decode_8_)
#define sb_blur_load_16       SB_ISA_SYMBOL (sb_blur_load_16_)
#define sb_blur_premultiply   SB_ISA_SYMBOL (sb_blur_premultiply_)
#define sb_blur_transpose     SB_ISA_SYMBOL (sb_blur_transpose_)
#define sb_blur_store_8       SB_ISA_SYMBOL (sb_blur_store_8_)
#define sb_blur_encode_8      SB_ISA_SYMBOL (sb_blur_encode_8_)
#define sb_blur_store_16      SB_ISA_SYMBOL (sb_blur_store_16_)
#define sb_blur_unpremultiply SB_ISA_SYMBOL (sb_blur_unpremultiply_)
#define sb_blur_stream        SB_ISA_SYMBOL (sb_blur_stream_)
#define sb_blur_fence         SB_ISA_SYMBOL (sb_blur_fence_)

G_BEGIN_DECLS

void sb_blur_load_8 (const guint8 *const rows[8], gsize count, guint16 *out);
void sb_blur_decode_8 (const SbBlurTone *tone, const guint8 *const rows[8], gsize count,
                       guint16 *out);
void sb_blur_load_16 (const guint8 *const rows[8], gsize count, guint16 *out);
void sb_blur_premultiply (guint16 *vectors, gsize count);
void sb_blur_transpose (const guint16 *in, guint16 *out, gsize out_step, gsize blocks);
void sb_blur_store_8 (const guint16 *in, guint8 *out, gsize out_step, gsize count);
void sb_blur_encode_8 (const SbBlurTone *tone, const guint16 *in, guint8 *out, gsize out_step,
                       gsize count);
void sb_blur_store_16 (const guint16 *in, guint8 *out, gsize out_step, gsize count);
void sb_blur_unpremultiply (guint16 *vectors, gsize count);
void sb_blur_stream (guint8 *out, const guint8 *in, gsize bytes);
void sb_blur_fence (void);

G_END_DECLS
