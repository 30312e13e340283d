/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-engine.h"

G_BEGIN_DECLS

/* The suite of an engine, whatever computes behind it: loads, folds of edits against the slow
 * reference, kept states put back, any order of calls, cancelling, bad edits, picking and showing.
 * Adds its cases below `prefix` ("/cpu"). Call between g_test_init() and g_test_run(). An engine
 * that cannot be had fails the suite: whoever may be without the device asks before. */
void sb_suite_add (const char *prefix, SbDevice device);

G_END_DECLS
