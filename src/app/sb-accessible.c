/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-accessible.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

void
sb_accessible_name_buttons (GtkWidget *widget)
{
  GtkWidget *parent = gtk_widget_get_parent (widget);

  if (GTK_IS_BUTTON (widget) && gtk_button_get_use_underline (GTK_BUTTON (widget))
      && gtk_button_get_label (GTK_BUTTON (widget)) != NULL)
    gtk_accessible_reset_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL);
  else if (GTK_IS_MENU_BUTTON (widget) && parent != NULL && ADW_IS_SPLIT_BUTTON (parent))
    gtk_accessible_update_property (
        GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
        adw_split_button_get_dropdown_tooltip (ADW_SPLIT_BUTTON (parent)), -1);
  else if (GTK_IS_BUTTON (widget) && parent != NULL && GTK_IS_DROP_DOWN (parent)
           && gtk_widget_get_tooltip_text (parent) != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    gtk_widget_get_tooltip_text (parent), -1);
  else if (GTK_IS_BUTTON (widget)
           && (gtk_widget_has_css_class (widget, "close")
               || g_strcmp0 (gtk_button_get_icon_name (GTK_BUTTON (widget)),
                             "window-close-symbolic")
                      == 0))
    gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    _ ("Close"), -1);

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    sb_accessible_name_buttons (child);
}

void
sb_accessible_keep_name (gpointer widget)
{
  g_return_if_fail (GTK_IS_WIDGET (widget));

  gtk_accessible_reset_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
}
