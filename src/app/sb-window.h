/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

#include "sb-application.h"
#include "sb-document.h"

G_BEGIN_DECLS

/* A window with one picture, or none yet. Its actions are GSimpleActions in its GActionMap, so that
 * they are on the session bus at /io/github/softbox/Softbox/window/N. */
#define SB_TYPE_WINDOW (sb_window_get_type ())
G_DECLARE_FINAL_TYPE (SbWindow, sb_window, SB, WINDOW, AdwApplicationWindow)

SbWindow *sb_window_new (SbApplication *application, SbDevice device) G_GNUC_WARN_UNUSED_RESULT;
SbDocument *sb_window_get_document (SbWindow *self);

/* For callbacks that held the window: it is closed, though it may be there as long as they are. */
gboolean sb_window_is_closed (SbWindow *self);
/* Shows nothing and loads nothing. */
gboolean sb_window_is_empty (SbWindow *self);
/* Loads a picture into this window; on failure what was open stays, and the reason is shown here,
 * or in `origin`, and this window closed, where it is only there for that picture. */
void sb_window_load (SbWindow *self, GFile *file, SbWindow *origin);
/* The open file once more, another page of it. Edits are lost: it asks first where there are any.
 */
void sb_window_load_page (SbWindow *self, guint page);
/* Animates, and shows the subbands, as soon as there is a picture. */
void sb_window_animate (SbWindow *self);
void sb_window_show_subbands (SbWindow *self);
/* Shows a failure as a toast and in the "error" state. */
void sb_window_report (SbWindow *self, const GError *error);

G_END_DECLS
