/* SPDX-License-Identifier: MIT */

#include "march.cuh"

/* Longer windows never march 2 passes at once. */
const SbMarchKernel sb_marches_2[2][3] = {
  MARCHES_OF (2, SB_METHOD_FLOAT, true),
  MARCHES_OF (2, SB_METHOD_FRACTION, true),
};
