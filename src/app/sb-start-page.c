/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-start-page.h"

#include <adwaita.h>
#include <glib/gi18n-lib.h>

#include "sb-recent.h"
#include "sb-thumbnail.h"

struct _SbStartPage
{
  GtkWidget parent_instance;

  GCancellable *cancellable; /* of the thumbnails on their way */

  GtkButton *sample;
  GtkBox *recent;
  GtkFlowBox *pictures;
};

G_DEFINE_FINAL_TYPE (SbStartPage, sb_start_page, GTK_TYPE_WIDGET)

static void
thumbnail_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GtkPicture) picture = user_data;
  g_autoptr (GdkTexture) texture = sb_thumbnail_load_finish (result, NULL);

  if (texture != NULL)
    gtk_picture_set_paintable (picture, GDK_PAINTABLE (texture));
}

static GtkWidget *
create_picture (SbStartPage *self, GFile *file)
{
  GtkWidget *button = gtk_button_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *overlay = gtk_overlay_new ();
  GtkWidget *tile = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *picture = gtk_picture_new ();
  GtkWidget *label = gtk_label_new (NULL);
  g_autofree char *base = g_file_get_basename (file);
  g_autofree char *name = g_filename_display_name (base);
  g_autofree char *path = g_file_get_parse_name (file);
  g_autofree char *uri = g_file_get_uri (file);

  /* Tiles of one size, filled by what fits of the picture. */
  gtk_widget_set_size_request (tile, 132, 88);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), tile);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), picture);
  gtk_picture_set_can_shrink (GTK_PICTURE (picture), TRUE);
  gtk_picture_set_content_fit (GTK_PICTURE (picture), GTK_CONTENT_FIT_COVER);
  gtk_widget_set_overflow (overlay, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (overlay, "tile");
  gtk_accessible_update_state (GTK_ACCESSIBLE (picture), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);

  gtk_label_set_text (GTK_LABEL (label), name);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 14);
  gtk_widget_add_css_class (label, "caption");

  gtk_box_append (GTK_BOX (box), overlay);
  gtk_box_append (GTK_BOX (box), label);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "recent");
  gtk_widget_set_tooltip_text (button, path);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "app.open");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", uri);

  sb_thumbnail_load_async (file, self->cancellable, thumbnail_cb, g_object_ref (picture));
  return button;
}

void
sb_start_page_refresh (SbStartPage *self)
{
  g_return_if_fail (SB_IS_START_PAGE (self));

  g_autoptr (GPtrArray) files = sb_recent_list ();

  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();

  for (GtkWidget *child;
       (child = gtk_widget_get_first_child (GTK_WIDGET (self->pictures))) != NULL;)
    gtk_flow_box_remove (self->pictures, child);
  for (guint i = 0; i < files->len; i++)
    {
      GtkWidget *child = gtk_flow_box_child_new ();

      gtk_flow_box_child_set_child (GTK_FLOW_BOX_CHILD (child),
                                    create_picture (self, files->pdata[i]));
      gtk_widget_set_focusable (child, FALSE); /* the button in it is */
      gtk_flow_box_append (self->pictures, child);
    }
  gtk_flow_box_set_max_children_per_line (self->pictures, CLAMP (files->len, 1, 3));
  gtk_widget_set_visible (GTK_WIDGET (self->recent), files->len > 0);
}

static void
sb_start_page_map (GtkWidget *widget)
{
  sb_start_page_refresh (SB_START_PAGE (widget));

  GTK_WIDGET_CLASS (sb_start_page_parent_class)->map (widget);
}

static void
sb_start_page_dispose (GObject *object)
{
  SbStartPage *self = SB_START_PAGE (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  for (GtkWidget *child; (child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL;)
    gtk_widget_unparent (child);

  G_OBJECT_CLASS (sb_start_page_parent_class)->dispose (object);
}

static void
sb_start_page_class_init (SbStartPageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_start_page_dispose;
  widget_class->map = sb_start_page_map;

  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "startpage");
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/start-page.ui");
  gtk_widget_class_bind_template_child (widget_class, SbStartPage, sample);
  gtk_widget_class_bind_template_child (widget_class, SbStartPage, recent);
  gtk_widget_class_bind_template_child (widget_class, SbStartPage, pictures);
}

static void
sb_start_page_init (SbStartPage *self)
{
  g_autoptr (GFile) sample = sb_sample_file ();

  self->cancellable = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));

  if (sample != NULL)
    {
      g_autofree char *uri = g_file_get_uri (sample);

      gtk_actionable_set_action_target (GTK_ACTIONABLE (self->sample), "s", uri);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (self->sample), "app.open");
    }
  gtk_widget_set_visible (GTK_WIDGET (self->sample), sample != NULL);
}
