/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The user's language, for both programs: takes the locale of the environment and finds the
 * messages, the build tree's where the program runs from there. Call it first in main(), before any
 * thread. Afterwards LC_NUMERIC is the user's: what is read or written for scripts uses the
 * g_ascii_ functions. */
void sb_locale_init (void);

/* The top of the build tree where the running program lies in it, else NULL. A program
 * installed elsewhere never looks there. Any thread. */
const char *sb_locale_build_dir (void);

G_END_DECLS
