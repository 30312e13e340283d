/* SPDX-License-Identifier: MIT */

#include "march.cuh"

/* Longer windows never march 3 passes at once. */
const SbMarchKernel sb_marches_3[2][3] = {
  MARCHES_OF (3, SB_METHOD_FLOAT, true),
  MARCHES_OF (3, SB_METHOD_FRACTION, true),
};
