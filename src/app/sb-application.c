/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-application.h"

#include <math.h>
#include <string.h>

#include <glib/gi18n-lib.h>

#include "sb-locale.h"
#include "sb-preferences.h"
#include "sb-shortcuts.h"
#include "sb-stats.h"
#include "sb-window.h"

/* A window of its own for a picture appears when it is loaded, or after this. */
#define PRESENT_MS 400

struct _SbApplication
{
  AdwApplication parent_instance;

  GSettings *settings;
  SbDevice device; /* of new windows */
  double quit_after;
};

G_DEFINE_FINAL_TYPE (SbApplication, sb_application, ADW_TYPE_APPLICATION)

/* --- Windows --------------------------------------------------------------------------------- */

static SbWindow *
find_empty (SbApplication *self)
{
  for (GList *item = gtk_application_get_windows (GTK_APPLICATION (self)); item != NULL;
       item = item->next)
    if (SB_IS_WINDOW (item->data) && sb_window_is_empty (item->data))
      return item->data;
  return NULL;
}

static SbWindow *
find_active (SbApplication *self)
{
  for (GList *item = gtk_application_get_windows (GTK_APPLICATION (self)); item != NULL;
       item = item->next)
    if (SB_IS_WINDOW (item->data))
      return item->data;
  return NULL;
}

static gboolean
present_cb (gpointer user_data)
{
  /* Where the picture cannot be opened, it may be gone by now. */
  if (!sb_window_is_closed (user_data))
    gtk_window_present (user_data);
  return G_SOURCE_REMOVE;
}

/* A window that is there for this picture alone. */
static SbWindow *
open_in_new (SbApplication *self, GFile *file, SbWindow *origin, SbDevice device)
{
  SbWindow *window = sb_window_new (self, device);

  sb_window_load (window, file, origin);
  if (origin == NULL)
    gtk_window_present (GTK_WINDOW (window));
  else
    {
      guint id = g_timeout_add_full (G_PRIORITY_DEFAULT, PRESENT_MS, present_cb,
                                     g_object_ref (window), g_object_unref);

      g_source_set_name_by_id (id, "softbox-present");
    }
  return window;
}

void
sb_application_open (SbApplication *self, GFile *file, SbWindow *near)
{
  g_return_if_fail (SB_IS_APPLICATION (self) && G_IS_FILE (file));

  gboolean modified = TRUE;

  if (near != NULL)
    g_object_get (sb_window_get_document (near), "modified", &modified, NULL);
  if (near != NULL && !modified)
    {
      sb_window_load (near, file, NULL);
      gtk_window_present (GTK_WINDOW (near));
    }
  else
    open_in_new (self, file, near, self->device);
}

/* Files from outside: each has a window, the first one that shows nothing yet included. */
static SbWindow *
open_from_outside (SbApplication *self, GFile *file, SbDevice device)
{
  SbWindow *window = find_empty (self);

  if (window == NULL)
    return open_in_new (self, file, NULL, device);
  sb_window_load (window, file, NULL);
  gtk_window_present (GTK_WINDOW (window));
  return window;
}

/* --- Actions --------------------------------------------------------------------------------- */

static void
open_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbApplication *self = user_data;
  g_autoptr (GFile) file = g_file_new_for_commandline_arg (g_variant_get_string (parameter, NULL));

  sb_application_open (self, file, find_active (self));
}

static void
new_window_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbApplication *self = user_data;

  gtk_window_present (GTK_WINDOW (sb_window_new (self, self->device)));
}

static void
quit_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbApplication *self = user_data;
  /* Closing one may destroy its dialogs, which are in the list too. */
  GList *windows = g_list_copy_deep (gtk_application_get_windows (GTK_APPLICATION (self)),
                                     (GCopyFunc)g_object_ref, NULL);

  /* Each asks about its own changes; without a window the program ends. */
  for (GList *item = windows; item != NULL; item = item->next)
    if (SB_IS_WINDOW (item->data))
      gtk_window_close (item->data);
  g_list_free_full (windows, g_object_unref);
}

static void
preferences_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  SbApplication *self = user_data;
  GtkWindow *window = sb_preferences_new (self->settings);

  gtk_window_set_transient_for (window, gtk_application_get_active_window (GTK_APPLICATION (self)));
  gtk_window_present (window);
}

static void
shortcuts_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  GtkWindow *window = sb_shortcuts_window_new ();

  gtk_window_set_transient_for (window, gtk_application_get_active_window (user_data));
  gtk_window_present (window);
}

static void
about_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  adw_show_about_window (gtk_application_get_active_window (user_data), "application-name",
                         "Softbox", "application-icon", SB_APP_ID, "version", SB_VERSION,
                         "developer-name", _ ("The Softbox authors"), "license-type",
                         GTK_LICENSE_MIT_X11, "comments",
                         _ ("Blurs photos live and exports them as PNG."), "translator-credits",
                         /* Translators: your names, one a line. */
                         _ ("translator-credits"), NULL);
}

static void
shown_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree char *uri = user_data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply
      = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &error);

  if (reply == NULL)
    {
      /* No file manager that can point at a file: its folder is the next best. */
      g_autoptr (GFile) file = g_file_new_for_uri (uri);
      g_autoptr (GFile) folder = g_file_get_parent (file);
      g_autofree char *folder_uri = folder == NULL ? NULL : g_file_get_uri (folder);

      if (folder_uri != NULL)
        gtk_show_uri (NULL, folder_uri, GDK_CURRENT_TIME);
    }
}

static void
show_in_files_cb (GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
  const char *uri = g_variant_get_string (parameter, NULL);
  GDBusConnection *bus = g_application_get_dbus_connection (user_data);
  const char *uris[] = { uri, NULL };

  if (bus != NULL)
    g_dbus_connection_call (bus, "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1",
                            "org.freedesktop.FileManager1", "ShowItems",
                            g_variant_new ("(^ass)", uris, ""), NULL, G_DBUS_CALL_FLAGS_NONE, -1,
                            NULL, shown_cb, g_strdup (uri));
}

static const GActionEntry entries[] = {
  { .name = "open", .activate = open_cb, .parameter_type = "s" },
  { .name = "new-window", .activate = new_window_cb },
  { .name = "preferences", .activate = preferences_cb },
  { .name = "shortcuts", .activate = shortcuts_cb },
  { .name = "about", .activate = about_cb },
  { .name = "show-in-files", .activate = show_in_files_cb, .parameter_type = "s" },
  { .name = "quit", .activate = quit_cb },
};

/* --- The command line ------------------------------------------------------------------------ */

static const GOptionEntry options[] = {
  { "device", 0, 0, G_OPTION_ARG_STRING, NULL, N_ ("What computes: auto, cpu, cuda or cuda:N"),
    N_ ("DEVICE") },
  { "animate", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Sweep the radius as soon as a picture is open"),
    NULL },
  { "subbands", 0, 0, G_OPTION_ARG_NONE, NULL,
    N_ ("Show the subbands as soon as a picture is open"), NULL },
  { "stats", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Print frames and times as JSON at the end"),
    NULL },
  { "quit-after", 0, 0, G_OPTION_ARG_DOUBLE, NULL, N_ ("Quit after that many seconds"),
    N_ ("SECONDS") },
  { "version", 0, 0, G_OPTION_ARG_NONE, NULL, N_ ("Print the version"), NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, NULL, NULL, N_ ("[FILE…]") },
  { NULL },
};

/* GLib's own help would end the program, and call it done whatever has become of the text. */
static gboolean
sb_application_local_command_line (GApplication *application, char ***arguments, int *status)
{
  static const char *const words[]
      = { "-h", "-?", "--help", "--help-all", "--help-gapplication", NULL };

  for (char **argument = *arguments + 1; *argument != NULL && !g_str_equal (*argument, "--");
       argument++)
    if (g_strv_contains (words, *argument))
      {
        g_autoptr (GOptionContext) context = g_option_context_new (NULL);
        g_autofree char *help = NULL;

        g_option_context_add_main_entries (context, options, GETTEXT_PACKAGE);
        help = g_option_context_get_help (context, TRUE, NULL);
        g_print ("%s", help);
        *status = 0;
        return TRUE;
      }
  return G_APPLICATION_CLASS (sb_application_parent_class)
      ->local_command_line (application, arguments, status);
}

/* What needs no other instance of the program: -1 goes on. */
static int
sb_application_handle_local_options (GApplication *application, GVariantDict *dict)
{
  SbApplication *self = SB_APPLICATION (application);
  g_autoptr (GError) error = NULL;
  const char *device = NULL;
  double seconds = 0;
  gboolean timed = g_variant_dict_lookup (dict, "quit-after", "d", &seconds);

  if (g_variant_dict_contains (dict, "version"))
    {
      g_print ("softbox %s\n", SB_VERSION);
      return 0;
    }
  if (g_variant_dict_lookup (dict, "device", "&s", &device)
      && !sb_device_parse (device, &self->device, &error))
    {
      g_printerr ("softbox: %s\n", error->message);
      return 2;
    }
  if (timed && !(seconds >= 0 && seconds <= G_MAXUINT / 1000))
    {
      g_printerr (_ ("softbox: --quit-after takes a number of seconds, 0 or more\n"));
      return 2;
    }
  /* Otherwise GTK ends the program in its own words. */
  if (!gtk_init_check ())
    {
      g_printerr (_ ("softbox: no display can be opened. Run it in a graphical session, or use "
                     "softbox-cli, which needs none.\n"));
      return 1;
    }

  /* A measurement is of this process. */
  if (g_variant_dict_contains (dict, "stats"))
    sb_stats_start ();
  self->quit_after = timed ? seconds : -1;
  if (timed || g_variant_dict_contains (dict, "stats"))
    g_application_set_flags (application,
                             g_application_get_flags (application) | G_APPLICATION_NON_UNIQUE);
  return -1;
}

/* A file of that name is meant where there is one, though the name may look like a URI. */
static GFile *
create_file (GApplicationCommandLine *command_line, const char *name)
{
  const char *folder = g_application_command_line_get_cwd (command_line);

  if (folder != NULL)
    {
      g_autofree char *path = g_canonicalize_filename (name, folder);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return g_file_new_for_path (path);
    }
  return g_application_command_line_create_file_for_arg (command_line, name);
}

/* In the first instance, also for a later one's command line. */
static int
sb_application_command_line (GApplication *application, GApplicationCommandLine *command_line)
{
  SbApplication *self = SB_APPLICATION (application);
  GVariantDict *dict = g_application_command_line_get_options_dict (command_line);
  gboolean animate = g_variant_dict_contains (dict, "animate");
  gboolean subbands = g_variant_dict_contains (dict, "subbands");
  SbDevice device = self->device;
  const char *name = NULL;
  g_autofree const char **files = NULL;

  if (g_variant_dict_lookup (dict, "device", "&s", &name) && !sb_device_parse (name, &device, NULL))
    return 2; /* told by the instance that was started */

  g_variant_dict_lookup (dict, G_OPTION_REMAINING, "^a&ay", &files);
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    {
      g_autoptr (GFile) file = create_file (command_line, files[i]);
      SbWindow *window = open_from_outside (self, file, device);

      if (animate)
        sb_window_animate (window);
      if (subbands)
        sb_window_show_subbands (window);
    }
  if (files == NULL || files[0] == NULL)
    {
      SbWindow *window = find_empty (self);

      if (window == NULL)
        window = sb_window_new (self, device);
      if (animate)
        sb_window_animate (window);
      if (subbands)
        sb_window_show_subbands (window);
      gtk_window_present (GTK_WINDOW (window));
    }
  return 0;
}

static void
sb_application_activate (GApplication *application)
{
  SbApplication *self = SB_APPLICATION (application);
  SbWindow *window = find_active (self);

  gtk_window_present (GTK_WINDOW (window == NULL ? sb_window_new (self, self->device) : window));
}

/* From file managers, over the bus. */
static void
sb_application_open_files (GApplication *application, GFile **files, int n_files, const char *hint)
{
  for (int i = 0; i < n_files; i++)
    open_from_outside (SB_APPLICATION (application), files[i],
                       SB_APPLICATION (application)->device);
}

/* --- The application ------------------------------------------------------------------------- */

static void
follow_style (SbApplication *self)
{
  static const AdwColorScheme schemes[]
      = { ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT, ADW_COLOR_SCHEME_FORCE_DARK };
  int style = g_settings_get_enum (self->settings, "style");

  adw_style_manager_set_color_scheme (adw_style_manager_get_default (),
                                      schemes[CLAMP (style, 0, 2)]);
}

static gboolean
quit_after_cb (gpointer user_data)
{
  g_application_quit (user_data);
  return G_SOURCE_REMOVE;
}

static void
sb_application_startup (GApplication *application)
{
  SbApplication *self = SB_APPLICATION (application);

  G_APPLICATION_CLASS (sb_application_parent_class)->startup (application);

  self->settings = g_settings_new (SB_APP_ID);
  g_signal_connect_swapped (self->settings, "changed::style", G_CALLBACK (follow_style), self);
  follow_style (self);
  if (sb_locale_build_dir () != NULL)
    gtk_icon_theme_add_search_path (gtk_icon_theme_get_for_display (gdk_display_get_default ()),
                                    SB_SOURCE_DIR "/data/icons");
  gtk_window_set_default_icon_name (SB_APP_ID);
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  sb_shortcuts_install (GTK_APPLICATION (self));
  if (self->quit_after >= 0)
    g_timeout_add ((guint)(self->quit_after * 1000), quit_after_cb, self);
}

static void
sb_application_shutdown (GApplication *application)
{
  SbApplication *self = SB_APPLICATION (application);
  GList *windows = g_list_copy_deep (gtk_application_get_windows (GTK_APPLICATION (self)),
                                     (GCopyFunc)g_object_ref, NULL);

  for (GList *item = windows; item != NULL; item = item->next)
    gtk_window_destroy (item->data);
  g_list_free_full (windows, g_object_unref);
  g_clear_object (&self->settings);

  G_APPLICATION_CLASS (sb_application_parent_class)->shutdown (application);
}

static void
sb_application_class_init (SbApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  application_class->local_command_line = sb_application_local_command_line;
  application_class->handle_local_options = sb_application_handle_local_options;
  application_class->command_line = sb_application_command_line;
  application_class->activate = sb_application_activate;
  application_class->open = sb_application_open_files;
  application_class->startup = sb_application_startup;
  application_class->shutdown = sb_application_shutdown;
}

static void
sb_application_init (SbApplication *self)
{
  self->quit_after = -1;
  g_application_add_main_option_entries (G_APPLICATION (self), options);
}

SbApplication *
sb_application_new (void)
{
  return g_object_new (SB_TYPE_APPLICATION, "application-id", SB_APP_ID, "resource-base-path",
                       "/io/github/softbox/Softbox", "flags",
                       G_APPLICATION_HANDLES_OPEN | G_APPLICATION_HANDLES_COMMAND_LINE, NULL);
}

GSettings *
sb_application_get_settings (SbApplication *self)
{
  g_return_val_if_fail (SB_IS_APPLICATION (self), NULL);

  return self->settings;
}
