/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The error domain of the core and of every backend. Failures of files keep GIO's own domain.
 *
 * INVALID: an argument or an edit text that cannot be honoured; the message names the token and
 * what is allowed. UNAVAILABLE: a device, module or format that is not there; the message says why.
 * OUT_OF_MEMORY: host memory; the object that reports it stays usable. DEVICE_FULL: the same of the
 * memory of a device other than the CPU; the CPU may have enough. DEVICE_LOST: the device answers
 * no more; what it held must be made again elsewhere from host memory. */
#define SB_ERROR (sb_error_quark ())

typedef enum
{
  SB_ERROR_INVALID,
  SB_ERROR_UNAVAILABLE,
  SB_ERROR_OUT_OF_MEMORY,
  SB_ERROR_DEVICE_LOST,
  SB_ERROR_DEVICE_FULL,
} SbError;

GQuark sb_error_quark (void);
/* Says that the caller has cancelled; returns FALSE. */
gboolean sb_error_cancelled (GError **error);

G_END_DECLS
