/* SPDX-License-Identifier: MIT */

#include "march.cuh"

const SbMarchKernel sb_marches_1[5][3] = {
  MARCHES_OF (1, SB_METHOD_FLOAT, true),     MARCHES_OF (1, SB_METHOD_FRACTION, true),
  MARCHES_OF (1, SB_METHOD_FLOAT, false),    MARCHES_OF (1, SB_METHOD_WHOLE, false),
  MARCHES_OF (1, SB_METHOD_FRACTION, false),
};
