/* SPDX-License-Identifier: MIT */

#include "sb-cuda-kernels.h"

/* A fault of the device for tests: what it leaves behind, no call survives. */

__global__ void
trap_kernel ()
{
  asm volatile("trap;");
}

cudaError_t
sb_cuda_trap (cudaStream_t stream)
{
  trap_kernel<<<1, 1, 0, stream>>> ();
  return cudaGetLastError ();
}
