/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-edit-panel.h"

#include "sb-edit-group.h"
#include "sb-subband-panel.h"

struct _SbEditPanel
{
  GtkWidget parent_instance;

  SbEditGroup *blur;
  SbSubbandPanel *bands;
  GtkBox *box;
};

enum
{
  CHANGED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (SbEditPanel, sb_edit_panel, GTK_TYPE_WIDGET)

static void
group_changed_cb (SbEditPanel *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
sb_edit_panel_dispose (GObject *object)
{
  SbEditPanel *self = SB_EDIT_PANEL (object);

  for (GtkWidget *child; (child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL;)
    gtk_widget_unparent (child);

  G_OBJECT_CLASS (sb_edit_panel_parent_class)->dispose (object);
}

static void
sb_edit_panel_class_init (SbEditPanelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_edit_panel_dispose;

  signals[CHANGED] = g_signal_new ("changed", SB_TYPE_EDIT_PANEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "editpanel");
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/edit-panel.ui");
  gtk_widget_class_bind_template_child (widget_class, SbEditPanel, box);
}

static void
sb_edit_panel_init (SbEditPanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));

  self->blur = SB_EDIT_GROUP (sb_edit_group_new (SB_EDIT_BLUR));
  self->bands = SB_SUBBAND_PANEL (sb_subband_panel_new ());
  g_signal_connect_swapped (self->blur, "changed", G_CALLBACK (group_changed_cb), self);
  g_signal_connect_swapped (self->bands, "changed", G_CALLBACK (group_changed_cb), self);
  gtk_box_append (self->box, GTK_WIDGET (self->blur));
  gtk_box_append (self->box, GTK_WIDGET (self->bands));
}

void
sb_edit_panel_set_document (SbEditPanel *self, SbDocument *document)
{
  g_return_if_fail (SB_IS_EDIT_PANEL (self));

  sb_edit_group_set_document (self->blur, document);
}

void
sb_edit_panel_set_model (SbEditPanel *self, SbSubbandModel *model)
{
  g_return_if_fail (SB_IS_EDIT_PANEL (self));

  sb_subband_panel_set_model (self->bands, model);
}

gboolean
sb_edit_panel_step (SbEditPanel *self, const char *control, double delta)
{
  g_return_val_if_fail (SB_IS_EDIT_PANEL (self) && control != NULL, FALSE);

  g_auto (GStrv) names = g_strsplit (control, ".", 2);

  if (g_strv_length (names) != 2)
    return FALSE;
  if (g_str_equal (sb_edit_class (SB_EDIT_BLUR)->key, names[0]))
    return sb_edit_group_step (self->blur, names[1], delta);
  if (g_str_equal (sb_edit_class (SB_EDIT_BANDS)->key, names[0]))
    return sb_subband_panel_step (self->bands, names[1], delta);
  return FALSE;
}

void
sb_edit_panel_reset (SbEditPanel *self)
{
  g_return_if_fail (SB_IS_EDIT_PANEL (self));

  sb_edit_group_reset (self->blur);
  sb_subband_panel_reset (self->bands);
}

gboolean
sb_edit_panel_can_reset (SbEditPanel *self)
{
  g_return_val_if_fail (SB_IS_EDIT_PANEL (self), FALSE);

  return sb_edit_group_can_reset (self->blur) || sb_subband_panel_can_reset (self->bands);
}

void
sb_edit_panel_forget (SbEditPanel *self)
{
  g_return_if_fail (SB_IS_EDIT_PANEL (self));

  sb_edit_group_forget (self->blur);
  sb_subband_panel_forget (self->bands);
}
