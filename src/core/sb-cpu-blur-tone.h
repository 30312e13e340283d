/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-kernel-blur.h"
#include "sb-tone.h"

G_BEGIN_DECLS

/* Fills the small tables of the kernels from a tone's. */
void sb_blur_tone_init (SbBlurTone *small, const SbTone *tone);

G_END_DECLS
