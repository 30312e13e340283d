/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

#include "sb-engine.h"

G_BEGIN_DECLS

/* The program: its command line, its windows and what belongs to none of them. */
#define SB_TYPE_APPLICATION (sb_application_get_type ())
G_DECLARE_FINAL_TYPE (SbApplication, sb_application, SB, APPLICATION, AdwApplication)

SbApplication *sb_application_new (void) G_GNUC_WARN_UNUSED_RESULT;
GSettings *sb_application_get_settings (SbApplication *self);

/* Opens a picture: in `near` where that window shows nothing or nothing that would be lost, else in
 * a window of its own. near may be NULL. */
struct _SbWindow;
void sb_application_open (SbApplication *self, GFile *file, struct _SbWindow *near);

G_END_DECLS
