/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-view.h"

const SbViewKernels *
sb_view_kernels_get (void)
{
#if defined(__x86_64__)
  switch (sb_isa_get ())
    {
    case SB_ISA_AVX512:
      return &sb_view_kernels_avx512;
    case SB_ISA_AVX2:
      return &sb_view_kernels_avx2;
    default:
      break;
    }
#endif
  return &sb_view_kernels_base;
}
