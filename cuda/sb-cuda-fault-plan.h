/* SPDX-License-Identifier: MIT */

#pragma once

#include <gmodule.h>

G_BEGIN_DECLS

/* The plan of sb-cuda-fault.h, for the modules that can fail on demand: the real one and the CPU in
 * its place; two of its functions leave the module. */

G_MODULE_EXPORT void sb_cuda_fault_plan (const char *what, guint skip, int code);
G_MODULE_EXPORT gboolean sb_cuda_fault_struck (void);

/* The code that a call of this kind has to answer, 0 for what it would answer anyway. Any thread.
 */
int sb_cuda_fault_due (const char *what);

G_END_DECLS
