/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A number as people read it, with so many significant digits: "−0.5", with the sign that is as
 * wide as a plus; never "-0". For machines there is g_ascii_dtostr(). */
char *sb_number_format (double value, guint digits) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
