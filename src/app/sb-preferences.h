/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* The preferences, written to the settings at once. */
#define SB_TYPE_PREFERENCES (sb_preferences_get_type ())
G_DECLARE_FINAL_TYPE (SbPreferences, sb_preferences, SB, PREFERENCES, AdwPreferencesWindow)

GtkWindow *sb_preferences_new (GSettings *settings) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
