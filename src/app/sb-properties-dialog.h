/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

#include "sb-window.h"

G_BEGIN_DECLS

/* What there is to know of the open picture: its file, pixels, profile, camera, place, and of a
 * file with pages which one is open. Over the window, which may go first. */
GtkWindow *sb_properties_dialog_new (SbWindow *window) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
