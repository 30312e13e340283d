/* SPDX-License-Identifier: MIT */

/* Preloaded into the program by the tests of the window, so that the accessibility bus tells where
 * widgets are: from GTK 4.10 on, what it says of a place is measured from inside the parent's
 * padding and added up as if it were from the parent's corner. Here it is from corner to corner; a
 * window counts without its edge, as in older GTK, where places are right and this does nothing. */

#include "config.h"

#include <gtk/gtk.h>

#if GTK_CHECK_VERSION(4, 10, 0)

/* Relative to the widget's own contents or to its parent's. */
static gboolean
measure (GtkWidget *widget, GtkWidget *target, graphene_rect_t *bounds)
{
  if (gtk_widget_get_parent (widget) != NULL)
    return gtk_widget_compute_bounds (widget, target, bounds);
  graphene_rect_init (bounds, 0, 0, (float)gtk_widget_get_width (widget),
                      (float)gtk_widget_get_height (widget));
  return TRUE;
}

static gboolean
get_bounds (GtkAccessible *accessible, int *x, int *y, int *width, int *height)
{
  GtkWidget *widget = GTK_WIDGET (accessible);
  GtkWidget *parent = gtk_widget_get_parent (widget);
  graphene_rect_t own, outer = GRAPHENE_RECT_INIT (0, 0, 0, 0);

  if (!gtk_widget_get_realized (widget) || !measure (widget, parent, &own)
      || (parent != NULL && !measure (parent, parent, &outer)))
    return FALSE;
  *x = (int)(own.origin.x - outer.origin.x);
  *y = (int)(own.origin.y - outer.origin.y);
  *width = (int)own.size.width;
  *height = (int)own.size.height;
  return TRUE;
}

/* Called for every class that is accessible, when it has filled in how. */
static void
correct (gpointer data, gpointer interface)
{
  GTypeInterface *base = interface;

  /* By its name, as its type is of GTK 4.10, and older ones are supported. */
  if (g_str_equal (g_type_name (base->g_type), "GtkAccessible")
      && g_type_is_a (base->g_instance_type, GTK_TYPE_WIDGET))
    ((GtkAccessibleInterface *)interface)->get_bounds = get_bounds;
}

__attribute__ ((constructor)) static void
load (void)
{
  g_type_add_interface_check (NULL, correct);
}

#endif
