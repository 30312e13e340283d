/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-edit-group.h"

#include <glib/gi18n-lib.h>

#include "sb-choice.h"
#include "sb-parameter-row.h"

struct _SbEditGroup
{
  AdwPreferencesGroup parent_instance;

  SbEditKind kind;
  const SbEditClass *klass;
  SbDocument *document;
  SbEdit edit;       /* what the controls show */
  gboolean on;       /* the document has it */
  SbEdit off_edit;   /* what the switch took away */
  gboolean has_off;  /* there is such a thing */
  gboolean updating; /* the controls follow the document, not the other way round */

  GtkWidget *rows[SB_EDIT_MAX_PARAMETERS]; /* SbParameterRow, GtkSwitch or AdwComboRow */
  GtkSwitch *toggle;
  AdwExpanderRow *more;
  AdwActionRow *animation;
};

enum
{
  CHANGED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (SbEditGroup, sb_edit_group, ADW_TYPE_PREFERENCES_GROUP)

/* What stands under "Direction, animation". */
static gboolean
is_seldom_used (SbEditKind kind, guint parameter)
{
  return kind == SB_EDIT_BLUR && parameter == SB_BLUR_DIRECTION;
}

static void
follow_animation (SbEditGroup *self)
{
  gboolean animating = FALSE;
  double fps = 0;
  g_autofree char *text = NULL;

  if (self->animation == NULL)
    return;
  if (self->document != NULL)
    g_object_get (self->document, "animating", &animating, "animation-fps", &fps, NULL);
  if (animating && fps > 0)
    text = g_strdup_printf (_ ("%.0f frames a second"), fps);
  else
    text = g_strdup (_ ("Radius to 64 px and back"));
  adw_action_row_set_subtitle (self->animation, text);
}

static void
follow (SbEditGroup *self)
{
  self->updating = TRUE;
  gtk_switch_set_active (self->toggle, self->on);
  for (guint i = 0; i < self->klass->n_parameters; i++)
    switch (self->klass->parameters[i].type)
      {
      case SB_PARAMETER_NUMBER:
        sb_parameter_row_set_value (SB_PARAMETER_ROW (self->rows[i]), self->edit.values[i]);
        break;
      case SB_PARAMETER_SWITCH:
        gtk_switch_set_active (GTK_SWITCH (self->rows[i]), self->edit.values[i] != 0);
        break;
      case SB_PARAMETER_CHOICE:
        adw_combo_row_set_selected (ADW_COMBO_ROW (self->rows[i]), (guint)self->edit.values[i]);
        break;
      }
  if (self->kind == SB_EDIT_BLUR)
    {
      /* What the numbers above amount to. */
      g_autofree char *text
          = g_strdup_printf (_ ("≈ Gaussian, sigma %.1f px"), sb_edit_blur_sigma (&self->edit));

      sb_parameter_row_set_note (SB_PARAMETER_ROW (self->rows[SB_BLUR_PASSES]), text);
    }
  self->updating = FALSE;
  g_signal_emit (self, signals[CHANGED], 0);
}

/* What the document has. */
static void
reload (SbEditGroup *self)
{
  const SbEdit *edit
      = self->document == NULL ? NULL : sb_document_get_edit (self->document, self->kind);

  self->on = edit != NULL;
  if (edit != NULL)
    self->edit = *edit;
  else if (self->has_off)
    self->edit = self->off_edit;
  else
    sb_edit_init (&self->edit, self->kind);
  follow (self);
}

static void
set_value (SbEditGroup *self, guint parameter, double value)
{
  g_autofree char *control
      = g_strdup_printf ("%s.%s", self->klass->key, self->klass->parameters[parameter].key);
  g_autoptr (GError) error = NULL;
  gboolean animating = FALSE;
  SbEdit edit;

  if (self->updating || self->document == NULL)
    return;

  /* Stopping gives back the values from before the animation. */
  g_object_get (self->document, "animating", &animating, NULL);
  if (animating)
    g_object_set (self->document, "animating", FALSE, NULL);

  edit = self->edit;
  edit.values[parameter] = sb_parameter_clamp (&self->klass->parameters[parameter], value);
  if (sb_document_set_edit (self->document, &edit, control, &error))
    {
      self->edit = edit;
      self->on = TRUE;
      self->has_off = FALSE;
      follow (self);
    }
  else
    {
      sb_document_report (self->document, error);
      reload (self);
    }
}

/* --- Controls -------------------------------------------------------------------------------- */

static guint
parameter_of (gpointer widget)
{
  return GPOINTER_TO_UINT (g_object_get_data (widget, "sb-parameter"));
}

static void
row_changed_cb (SbEditGroup *self, double value, SbParameterRow *row)
{
  set_value (self, parameter_of (row), value);
}

static void
row_drag_begin_cb (SbEditGroup *self, SbParameterRow *row)
{
  g_autofree char *control = g_strdup_printf ("%s.%s", self->klass->key,
                                              self->klass->parameters[parameter_of (row)].key);

  if (self->document != NULL)
    sb_document_begin_drag (self->document, control);
}

static void
row_drag_end_cb (SbEditGroup *self)
{
  if (self->document != NULL)
    sb_document_end_drag (self->document);
}

static void
switch_cb (SbEditGroup *self, GParamSpec *pspec, GtkSwitch *widget)
{
  set_value (self, parameter_of (widget), gtk_switch_get_active (widget));
}

static void
choice_cb (SbEditGroup *self, GParamSpec *pspec, AdwComboRow *row)
{
  set_value (self, parameter_of (row), adw_combo_row_get_selected (row));
}

static void
toggle_cb (SbEditGroup *self)
{
  g_autoptr (GError) error = NULL;

  if (self->updating || self->document == NULL)
    return;

  g_object_set (self->document, "animating", FALSE, NULL);
  if (gtk_switch_get_active (self->toggle))
    {
      if (!sb_document_set_edit (self->document, &self->edit, NULL, &error))
        sb_document_report (self->document, error);
    }
  else
    {
      self->off_edit = self->edit;
      self->has_off = TRUE;
      sb_document_remove_edit (self->document, self->kind);
    }
  reload (self);
}

/* --- Rows from the table --------------------------------------------------------------------- */

static GtkWidget *
create_row (SbEditGroup *self, guint i)
{
  const SbParameter *parameter = &self->klass->parameters[i];
  const char *label = g_dgettext (GETTEXT_PACKAGE, parameter->label);
  GtkWidget *row = NULL;

  switch (parameter->type)
    {
    case SB_PARAMETER_NUMBER:
      row = self->rows[i] = sb_parameter_row_new (parameter);
      g_signal_connect_swapped (row, "changed", G_CALLBACK (row_changed_cb), self);
      g_signal_connect_swapped (row, "drag-begin", G_CALLBACK (row_drag_begin_cb), self);
      g_signal_connect_swapped (row, "drag-end", G_CALLBACK (row_drag_end_cb), self);
      break;

    case SB_PARAMETER_SWITCH:
      row = adw_action_row_new ();
      self->rows[i] = gtk_switch_new ();
      gtk_widget_set_valign (self->rows[i], GTK_ALIGN_CENTER);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), label);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->rows[i]);
      adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->rows[i]);
      g_signal_connect_swapped (self->rows[i], "notify::active", G_CALLBACK (switch_cb), self);
      break;

    case SB_PARAMETER_CHOICE:
      {
        g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);

        for (guint k = 0; parameter->choice_labels[k] != NULL; k++)
          gtk_string_list_append (labels,
                                  g_dgettext (GETTEXT_PACKAGE, parameter->choice_labels[k]));
        row = self->rows[i] = adw_combo_row_new ();
        adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), label);
        adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (labels));
        sb_choice_show_whole (ADW_COMBO_ROW (row));
        g_signal_connect_swapped (row, "notify::selected", G_CALLBACK (choice_cb), self);
      }
      break;
    }

  g_object_set_data (G_OBJECT (self->rows[i]), "sb-parameter", GUINT_TO_POINTER (i));
  return row;
}

static GtkWidget *
create_animation_row (SbEditGroup *self)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *toggle = gtk_switch_new ();

  self->animation = ADW_ACTION_ROW (row);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ ("Animate"));
  gtk_widget_add_css_class (row, "numeric");
  gtk_widget_set_valign (toggle, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (toggle), "win.animate");
  adw_action_row_add_suffix (self->animation, toggle);
  adw_action_row_set_activatable_widget (self->animation, toggle);
  return row;
}

static void
create_rows (SbEditGroup *self)
{
  for (guint i = 0; i < self->klass->n_parameters; i++)
    {
      GtkWidget *row = create_row (self, i);

      if (is_seldom_used (self->kind, i))
        {
          if (self->more == NULL)
            self->more = ADW_EXPANDER_ROW (adw_expander_row_new ());
          adw_expander_row_add_row (self->more, row);
        }
      else
        adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
    }
  if (self->more != NULL)
    {
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->more), _ ("Direction, animation"));
      adw_expander_row_add_row (self->more, create_animation_row (self));
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), GTK_WIDGET (self->more));
    }
}

/* --- The group ------------------------------------------------------------------------------- */

static void
sb_edit_group_dispose (GObject *object)
{
  SbEditGroup *self = SB_EDIT_GROUP (object);

  sb_edit_group_set_document (self, NULL);

  G_OBJECT_CLASS (sb_edit_group_parent_class)->dispose (object);
}

static void
sb_edit_group_class_init (SbEditGroupClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_edit_group_dispose;

  signals[CHANGED] = g_signal_new ("changed", SB_TYPE_EDIT_GROUP, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);

  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/edit-group.ui");
  gtk_widget_class_bind_template_child (widget_class, SbEditGroup, toggle);
  gtk_widget_class_bind_template_callback (widget_class, toggle_cb);
}

static void
sb_edit_group_init (SbEditGroup *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
sb_edit_group_new (SbEditKind kind)
{
  SbEditGroup *self = g_object_new (SB_TYPE_EDIT_GROUP, NULL);
  const char *label;

  self->kind = kind;
  self->klass = sb_edit_class (kind);
  label = g_dgettext (GETTEXT_PACKAGE, self->klass->label);
  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (self), label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->toggle), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  label, -1);
  sb_edit_init (&self->edit, kind);
  create_rows (self);
  follow (self);
  follow_animation (self);
  return GTK_WIDGET (self);
}

static void
picture_changed_cb (SbEditGroup *self)
{
  sb_edit_group_forget (self);
}

void
sb_edit_group_set_document (SbEditGroup *self, SbDocument *document)
{
  g_return_if_fail (SB_IS_EDIT_GROUP (self));

  if (self->document == document)
    return;
  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_set_object (&self->document, document);
  if (document == NULL)
    return;

  g_signal_connect_object (document, "edits-changed", G_CALLBACK (reload), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "picture-changed", G_CALLBACK (picture_changed_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::animating", G_CALLBACK (follow_animation), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::animation-fps", G_CALLBACK (follow_animation), self,
                           G_CONNECT_SWAPPED);
  sb_edit_group_forget (self);
  follow_animation (self);
}

gboolean
sb_edit_group_step (SbEditGroup *self, const char *key, double delta)
{
  g_return_val_if_fail (SB_IS_EDIT_GROUP (self) && key != NULL, FALSE);

  for (guint i = 0; i < self->klass->n_parameters; i++)
    if (g_str_equal (self->klass->parameters[i].key, key))
      {
        const SbParameter *parameter = &self->klass->parameters[i];

        set_value (self, i, self->edit.values[i] + delta * parameter->step);
        return TRUE;
      }
  return FALSE;
}

void
sb_edit_group_reset (SbEditGroup *self)
{
  g_return_if_fail (SB_IS_EDIT_GROUP (self));

  if (self->document != NULL)
    {
      g_object_set (self->document, "animating", FALSE, NULL);
      if (sb_document_get_edit (self->document, self->kind) != NULL)
        sb_document_remove_edit (self->document, self->kind);
    }
  sb_edit_group_forget (self);
}

void
sb_edit_group_forget (SbEditGroup *self)
{
  g_return_if_fail (SB_IS_EDIT_GROUP (self));

  self->has_off = FALSE;
  reload (self);
}

gboolean
sb_edit_group_can_reset (SbEditGroup *self)
{
  g_return_val_if_fail (SB_IS_EDIT_GROUP (self), FALSE);

  SbEdit initial;

  sb_edit_init (&initial, self->kind);
  return self->on || !sb_edit_equal (&self->edit, &initial);
}
