/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The error domain of the core and of every backend. Failures of files keep GIO's own domain.
 *
 * INVALID: an argument or an edit text that cannot be honoured; the message names the token and
 * what is allowed. UNAVAILABLE: a device, module or format that is not there; the message says why.
 * OUT_OF_MEMORY: host or device memory; the object that reports it stays usable. DEVICE_LOST: the
 * device answers no more; what it held must be made again elsewhere from host memory. */
#define SB_ERROR (sb_error_quark ())

typedef enum
{
  SB_ERROR_INVALID,
  SB_ERROR_UNAVAILABLE,
  SB_ERROR_OUT_OF_MEMORY,
  SB_ERROR_DEVICE_LOST,
} SbError;

GQuark sb_error_quark (void);

G_END_DECLS
