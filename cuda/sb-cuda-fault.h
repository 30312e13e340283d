/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What the module for tests, cuda/faults/softbox-cuda.so, exports beside what every module does. It
 * is never installed. */

/* After `skip` calls of that kind ("upload", "cudaMalloc", "blur", "render", "show", …: the names
 * in messages) the next one answers the CUDA error `code`, once; 0 forgets what was planned.
 * SB_CUDA_FAULT_TRAP: the device then runs a kernel that traps, and every call after it fails. */
#define SB_CUDA_FAULT_TRAP (-1)
typedef void (*SbCudaFaultPlanFunc) (const char *what, guint skip, int code);
#define SB_CUDA_FAULT_PLAN "sb_cuda_fault_plan"
/* Whether it has struck. */
typedef gboolean (*SbCudaFaultStruckFunc) (void);
#define SB_CUDA_FAULT_STRUCK "sb_cuda_fault_struck"
/* Allocations on the device and of pinned memory so far, in this process. */
typedef guint (*SbCudaFaultAllocationsFunc) (void);
#define SB_CUDA_FAULT_ALLOCATIONS "sb_cuda_fault_allocations"
/* Bytes of device 0 that are free. */
typedef gsize (*SbCudaFaultFreeFunc) (void);
#define SB_CUDA_FAULT_FREE "sb_cuda_fault_free"
/* Takes device memory until no more than `leave` bytes are free; G_MAXSIZE gives it back. */
typedef void (*SbCudaFaultHogFunc) (gsize leave);
#define SB_CUDA_FAULT_HOG "sb_cuda_fault_hog"
/* The paths that launchers choose by, for engines opened from now on: bulk and march of
 * SbCudaLimits; -1: by the device. */
typedef void (*SbCudaFaultPathFunc) (int bulk, int march);
#define SB_CUDA_FAULT_PATH "sb_cuda_fault_path"

G_END_DECLS
