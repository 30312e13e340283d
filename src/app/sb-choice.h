/* SPDX-License-Identifier: MIT */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* A row that offers names of a GtkStringList, of its own accord, cuts off the one that is chosen
 * where its title leaves little room: with large letters, or in long words. Makes it the title that
 * wraps. */
void sb_choice_show_whole (AdwComboRow *row);

G_END_DECLS
