/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-canvas.h"

G_BEGIN_DECLS

/* The line under the picture: zoom, the point and colour under the pointer, and what computes, with
 * a popover that says why and how fast. */
#define SB_TYPE_STATUS_LINE (sb_status_line_get_type ())
G_DECLARE_FINAL_TYPE (SbStatusLine, sb_status_line, SB, STATUS_LINE, GtkWidget)

void sb_status_line_set_document (SbStatusLine *self, SbDocument *document);
void sb_status_line_set_canvas (SbStatusLine *self, SbCanvas *canvas);
/* Leaves out the device's name, which the popover says too. */
void sb_status_line_set_narrow (SbStatusLine *self, gboolean narrow);
/* The zoom that is shown is this canvas'; at first that of the one above. */
void sb_status_line_set_zoomed (SbStatusLine *self, SbCanvas *canvas);
/* What is shown after the point under the pointer, and where it is narrow, in the place of all
 * else;
 * "": nothing. */
void sb_status_line_set_text (SbStatusLine *self, const char *text, const char *brief);

G_END_DECLS
