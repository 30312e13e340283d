/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-shortcuts.h"

#include <string.h>

#include <glib/gi18n-lib.h>

typedef enum
{
  GLOBAL, /* an accelerator of the application */
  KEY,    /* inert while an entry is typed into */
  HIDDEN, /* as KEY, not listed: another way to what is listed already */
  LISTED, /* only listed: handled where it happens */
} Scope;

typedef struct
{
  Scope scope;
  const char *group; /* NULL: as the one above */
  const char *title;
  const char *action; /* a detailed action name */
  const char *keys;   /* accelerators with spaces between */
} Shortcut;

static const Shortcut shortcuts[] = {
  { GLOBAL, N_ ("Picture"), N_ ("Open"), "win.open", "<Control>o" },
  { GLOBAL, NULL, N_ ("Export"), "win.export", "<Control>e <Control>s <Control><Shift>s" },
  { KEY, NULL, N_ ("Copy the result"), "win.copy", "<Control>c" },
  { KEY, NULL, N_ ("Paste a picture"), "win.paste", "<Control>v" },

  { KEY, N_ ("Editing"), N_ ("Larger radius"), "win.step(('blur.radius', 1.0))", "equal plus" },
  { KEY, NULL, N_ ("Smaller radius"), "win.step(('blur.radius', -1.0))", "minus" },
  { KEY, NULL, N_ ("More passes"), "win.step(('blur.passes', 1.0))", "bracketright" },
  { KEY, NULL, N_ ("Fewer passes"), "win.step(('blur.passes', -1.0))", "bracketleft" },
  { KEY, NULL, N_ ("Start or stop the animation"), "win.animate", "a" },
  { LISTED, NULL, N_ ("Compare with the original (hold)"), NULL, "c" },
  { GLOBAL, NULL, N_ ("Apply"), "win.apply", "<Control>Return <Control>KP_Enter" },
  { GLOBAL, NULL, N_ ("Undo"), "win.undo", "<Control>z" },
  { GLOBAL, NULL, N_ ("Redo"), "win.redo", "<Control><Shift>z <Control>y" },
  /* These come only where the actions above are disabled and decline their keys. */
  { HIDDEN, NULL, NULL, "win.nothing-to('undo')", "<Control>z" },
  { HIDDEN, NULL, NULL, "win.nothing-to('redo')", "<Control><Shift>z <Control>y" },

  { GLOBAL, N_ ("Subbands"), N_ ("Show or hide the subbands"), "win.subbands", "F9" },
  { LISTED, NULL, N_ ("Select another band, on the subbands"), NULL, "Left Right Up Down" },

  { GLOBAL, N_ ("View"), N_ ("Zoom in"), "win.zoom-in",
    "<Control>plus <Control>equal <Control>KP_Add" },
  { GLOBAL, NULL, N_ ("Zoom out"), "win.zoom-out", "<Control>minus <Control>KP_Subtract" },
  { HIDDEN, NULL, NULL, "win.zoom-in", "<Control>plus KP_Add" },
  { HIDDEN, NULL, NULL, "win.zoom-out", "<Control>minus KP_Subtract" },
  { KEY, NULL, N_ ("Fit into the window"), "win.fit", "0 KP_0" },
  { GLOBAL, NULL, NULL, "win.fit", "<Control>0 <Control>KP_0" },
  { LISTED, NULL, N_ ("Zoom to 100, 200 or 300 %"), NULL, "1 2 3" },
  { HIDDEN, NULL, NULL, "win.zoom(1.0)", "1 KP_1" },
  { HIDDEN, NULL, NULL, "win.zoom(2.0)", "2 KP_2" },
  { HIDDEN, NULL, NULL, "win.zoom(3.0)", "3 KP_3" },
  { GLOBAL, NULL, NULL, "win.zoom(1.0)", "<Control>1 <Control>KP_1" },
  { GLOBAL, NULL, NULL, "win.zoom(2.0)", "<Control>2 <Control>KP_2" },
  { GLOBAL, NULL, NULL, "win.zoom(3.0)", "<Control>3 <Control>KP_3" },
  { LISTED, NULL, N_ ("Move the view sideways"), NULL, "<Control>Left <Control>Right" },
  { LISTED, NULL, N_ ("Move the view up or down"), NULL, "<Control>Up <Control>Down" },
  { HIDDEN, NULL, NULL, "win.pan((-0.125, 0.0))", "<Control>Left" },
  { HIDDEN, NULL, NULL, "win.pan((0.125, 0.0))", "<Control>Right" },
  { HIDDEN, NULL, NULL, "win.pan((0.0, -0.125))", "<Control>Up" },
  { HIDDEN, NULL, NULL, "win.pan((0.0, 0.125))", "<Control>Down" },
  { GLOBAL, NULL, N_ ("Show or hide the panel"), "win.panel", "F8" },
  { GLOBAL, NULL, N_ ("Fullscreen"), "win.fullscreen", "F11" },

  { GLOBAL, N_ ("Application"), N_ ("New window"), "app.new-window", "<Control>n" },
  { GLOBAL, NULL, N_ ("Main menu"), "win.menu", "F10" },
  { GLOBAL, NULL, N_ ("Preferences"), "app.preferences", "<Control>comma" },
  { GLOBAL, NULL, N_ ("Keyboard shortcuts"), "app.shortcuts", "<Control>question F1" },
  { KEY, NULL, N_ ("Cancel an export, leave fullscreen"), "win.cancel", "Escape" },
  { GLOBAL, NULL, N_ ("Close the window"), "window.close", "<Control>w" },
  { GLOBAL, NULL, N_ ("Quit"), "app.quit", "<Control>q" },
};

void
sb_shortcuts_install (GtkApplication *application)
{
  g_return_if_fail (GTK_IS_APPLICATION (application));

  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    if (shortcuts[i].scope == GLOBAL)
      {
        g_auto (GStrv) keys = g_strsplit (shortcuts[i].keys, " ", -1);

        gtk_application_set_accels_for_action (application, shortcuts[i].action,
                                               (const char *const *)keys);
      }
}

GtkEventController *
sb_shortcuts_controller_new (GtkPropagationPhase phase)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();

  gtk_event_controller_set_propagation_phase (controller, phase);
  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      if (shortcuts[i].scope != KEY && shortcuts[i].scope != HIDDEN)
        continue;

      g_auto (GStrv) keys = g_strsplit (shortcuts[i].keys, " ", -1);
      g_autofree char *name = NULL;
      g_autoptr (GVariant) target = NULL;
      g_autoptr (GError) error = NULL;

      if (!g_action_parse_detailed_name (shortcuts[i].action, &name, &target, &error))
        g_error ("%s", error->message);
      /* Menus show the last one: it is to be the first, and none of the keypad's. */
      for (guint k = g_strv_length (keys); k > 0; k--)
        {
          GtkShortcut *shortcut = gtk_shortcut_new (gtk_shortcut_trigger_parse_string (keys[k - 1]),
                                                    gtk_named_action_new (name));

          gtk_shortcut_set_arguments (shortcut, target);
          gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller), shortcut);
        }
    }
  return controller;
}

#define MAX_SHOWN 2

/* For the list: the keypad's keys look like those they stand beside, and of many ways to one thing
 * the first are enough. */
static char *
shown_keys (const Shortcut *shortcut)
{
  g_auto (GStrv) all = g_strsplit (shortcut->keys, " ", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) kept = NULL;
  guint n = 0;

  for (guint i = 0; all[i] != NULL; i++)
    if (strstr (all[i], "KP_") == NULL && (shortcut->scope == LISTED || n++ < MAX_SHOWN))
      g_strv_builder_add (builder, all[i]);
  kept = g_strv_builder_end (builder);
  return g_strjoinv (" ", kept);
}

/* GTK 4.8 can fill a shortcuts window only from a description. */
GtkWindow *
sb_shortcuts_window_new (void)
{
  g_autoptr (GString) xml
      = g_string_new ("<interface><object class=\"GtkShortcutsWindow\" id=\"window\">"
                      "<property name=\"modal\">1</property>"
                      "<child><object class=\"GtkShortcutsSection\">"
                      "<property name=\"section-name\">shortcuts</property>"
                      "<property name=\"max-height\">18</property>");
  g_autoptr (GtkBuilder) builder = NULL;
  gboolean in_group = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    {
      const Shortcut *shortcut = &shortcuts[i];

      if (shortcut->title == NULL)
        continue;
      if (shortcut->group != NULL)
        {
          g_autofree char *title = g_markup_escape_text (_ (shortcut->group), -1);

          g_string_append_printf (xml,
                                  "%s<child><object class=\"GtkShortcutsGroup\">"
                                  "<property name=\"title\">%s</property>",
                                  in_group ? "</object></child>" : "", title);
          in_group = TRUE;
        }

      g_autofree char *title = g_markup_escape_text (_ (shortcut->title), -1);
      g_autofree char *shown = shown_keys (shortcut);
      g_autofree char *keys = g_markup_escape_text (shown, -1);

      g_string_append_printf (xml,
                              "<child><object class=\"GtkShortcutsShortcut\">"
                              "<property name=\"title\">%s</property>"
                              "<property name=\"accelerator\">%s</property></object></child>",
                              title, keys);
    }
  g_string_append (xml, "</object></child></object></child></object></interface>");

  builder = gtk_builder_new_from_string (xml->str, (gssize)xml->len);
  return GTK_WINDOW (gtk_builder_get_object (builder, "window"));
}
