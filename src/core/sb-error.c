/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-error.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>

/* A name, not a subtraction. */
/* clang-format off */
G_DEFINE_QUARK (sb-error-quark, sb_error)
/* clang-format on */

gboolean
sb_error_cancelled (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _ ("Cancelled"));
  return FALSE;
}
