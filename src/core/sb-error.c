/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-error.h"

G_DEFINE_QUARK (sb - error - quark, sb_error)
