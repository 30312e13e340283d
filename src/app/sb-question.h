/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* A question that is answered "cancel", by Escape too, or `response`, which loses something: its
 * label says so as a verb with a mnemonic. Connect "response", then present it. body: may be NULL.
 */
GtkWidget *sb_question_new (GtkWindow *parent, const char *heading, const char *body,
                            const char *response, const char *label);

G_END_DECLS
