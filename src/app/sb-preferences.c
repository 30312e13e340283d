/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-preferences.h"

#include <glib/gi18n-lib.h>

#include "sb-choice.h"

struct _SbPreferences
{
  AdwPreferencesWindow parent_instance;

  GSettings *settings;

  AdwComboRow *style;
  AdwComboRow *history;
  AdwComboRow *limit;
};

G_DEFINE_FINAL_TYPE (SbPreferences, sb_preferences, ADW_TYPE_PREFERENCES_WINDOW)

/* Amounts of memory on offer, in MiB; 0 is the default, which depends on the machine. */
static const guint amounts[] = { 0, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 };

static void
amount_cb (SbPreferences *self, GParamSpec *pspec, AdwComboRow *row)
{
  const char *key = g_object_get_data (G_OBJECT (row), "sb-key");
  guint selected = adw_combo_row_get_selected (row);

  /* Beyond the amounts stands one that was set by other means: it stays. */
  if (selected < G_N_ELEMENTS (amounts))
    g_settings_set_uint (self->settings, key, amounts[selected]);
}

static char *
format_amount (guint mebibytes)
{
  return g_format_size_full ((guint64)mebibytes << 20, G_FORMAT_SIZE_IEC_UNITS);
}

static void
bind_amount (SbPreferences *self, AdwComboRow *row, const char *key, const char *automatic)
{
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);
  guint value = g_settings_get_uint (self->settings, key);
  guint selected = G_N_ELEMENTS (amounts);

  for (guint i = 0; i < G_N_ELEMENTS (amounts); i++)
    {
      if (amounts[i] == value)
        selected = i;
      gtk_string_list_take (labels,
                            amounts[i] == 0 ? g_strdup (automatic) : format_amount (amounts[i]));
    }
  if (selected == G_N_ELEMENTS (amounts))
    gtk_string_list_take (labels, format_amount (value));

  adw_combo_row_set_model (row, G_LIST_MODEL (labels));
  adw_combo_row_set_selected (row, selected);
  g_object_set_data (G_OBJECT (row), "sb-key", (gpointer)key);
  g_signal_connect_swapped (row, "notify::selected", G_CALLBACK (amount_cb), self);
}

static void
style_cb (SbPreferences *self)
{
  g_settings_set_enum (self->settings, "style", (int)adw_combo_row_get_selected (self->style));
}

static gboolean
escape_cb (GtkWidget *widget, GVariant *arguments, gpointer user_data)
{
  gtk_window_close (GTK_WINDOW (widget));
  return TRUE;
}

static void
sb_preferences_dispose (GObject *object)
{
  SbPreferences *self = SB_PREFERENCES (object);

  g_clear_object (&self->settings);

  G_OBJECT_CLASS (sb_preferences_parent_class)->dispose (object);
}

static void
sb_preferences_class_init (SbPreferencesClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = sb_preferences_dispose;

  gtk_widget_class_add_binding (widget_class, GDK_KEY_w, GDK_CONTROL_MASK, escape_cb, NULL);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/preferences.ui");
  gtk_widget_class_bind_template_child (widget_class, SbPreferences, style);
  gtk_widget_class_bind_template_child (widget_class, SbPreferences, history);
  gtk_widget_class_bind_template_child (widget_class, SbPreferences, limit);
}

static void
sb_preferences_init (SbPreferences *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  sb_choice_show_whole (self->style);
  sb_choice_show_whole (self->history);
  sb_choice_show_whole (self->limit);
}

GtkWindow *
sb_preferences_new (GSettings *settings)
{
  g_return_val_if_fail (G_IS_SETTINGS (settings), NULL);

  SbPreferences *self = g_object_new (SB_TYPE_PREFERENCES, NULL);

  self->settings = g_object_ref (settings);
  adw_combo_row_set_selected (self->style, (guint)g_settings_get_enum (settings, "style"));
  g_signal_connect_swapped (self->style, "notify::selected", G_CALLBACK (style_cb), self);
  bind_amount (self, self->history, "history-budget", _ ("Automatic"));
  bind_amount (self, self->limit, "memory-limit", _ ("Half of the memory"));
  return GTK_WINDOW (self);
}
