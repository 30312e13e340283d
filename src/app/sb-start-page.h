/* SPDX-License-Identifier: MIT */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What a window without a picture shows: a button to open one, the sample where it is installed,
 * and the recent pictures. */
#define SB_TYPE_START_PAGE (sb_start_page_get_type ())
G_DECLARE_FINAL_TYPE (SbStartPage, sb_start_page, SB, START_PAGE, GtkWidget)

/* Looks for recent pictures again. */
void sb_start_page_refresh (SbStartPage *self);

G_END_DECLS
