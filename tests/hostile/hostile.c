/* SPDX-License-Identifier: MIT */

/* A loader for gdk-pixbuf that does on demand what others can be brought to by a file: the bytes
 * "HOSTILE!" and a word, or the first box of an AVIF or HEIF file, for which it gives a small grey
 * picture. Only for tests. */

#include <gdk-pixbuf/gdk-pixbuf-io.h>

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

G_MODULE_EXPORT void fill_vtable (GdkPixbufModule *module);
G_MODULE_EXPORT void fill_info (GdkPixbufFormat *info);

#define SIDE 8

typedef struct
{
  GdkPixbufModuleSizeFunc size;
  GdkPixbufModulePreparedFunc prepared;
  GdkPixbufModuleUpdatedFunc updated;
  gpointer user_data;
  GString *bytes;
} Context;

static gpointer
begin (GdkPixbufModuleSizeFunc size, GdkPixbufModulePreparedFunc prepared,
       GdkPixbufModuleUpdatedFunc updated, gpointer user_data, GError **error)
{
  Context *context = g_new0 (Context, 1);

  *context = (Context){ size, prepared, updated, user_data, g_string_new (NULL) };
  return context;
}

static gboolean
load (gpointer data, const guchar *bytes, guint n, GError **error)
{
  Context *context = data;

  g_string_append_len (context->bytes, (const char *)bytes, n);
  if (strstr (context->bytes->str, "hang at once") != NULL)
    for (;;)
      sleep (1);
  return TRUE;
}

static void
give (Context *context)
{
  int width = SIDE, height = SIDE;

  context->size (&width, &height, context->user_data);
  if (width == 0 || height == 0)
    return;
  GdkPixbuf *pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, SIDE, SIDE);
  gdk_pixbuf_fill (pixbuf, 0x80808000);
  context->prepared (pixbuf, NULL, context->user_data);
  context->updated (pixbuf, 0, 0, SIDE, SIDE, context->user_data);
  g_object_unref (pixbuf);
}

static gboolean
finish (gpointer data, GError **error)
{
  Context *context = data;
  const char *word = context->bytes->str + 8;
  volatile guint64 work = 0;

  if (g_str_has_prefix (word, "loop"))
    for (;;)
      work++;
  else if (g_str_has_prefix (word, "sleep"))
    for (;;)
      sleep (1);
  else if (g_str_has_prefix (word, "crash"))
    abort ();
  else if (g_str_has_prefix (word, "leave"))
    _exit (0);
  else if (g_str_has_prefix (word, "forge"))
    {
      /* More than an answer's worth of nonsense to whoever waits. */
      char nonsense[4096];
      memset (nonsense, 'x', sizeof nonsense);
      if (write (0, nonsense, sizeof nonsense) < 0)
        _exit (1);
      _exit (0);
    }
  else if (g_str_has_prefix (word, "memory"))
    for (;;)
      memset (g_malloc ((gsize)16 << 20), 1, (gsize)16 << 20);
  else
    give (context);
  g_string_free (context->bytes, TRUE);
  g_free (context);
  return TRUE;
}

void
fill_vtable (GdkPixbufModule *module)
{
  module->begin_load = begin;
  module->load_increment = load;
  module->stop_load = finish;
}

void
fill_info (GdkPixbufFormat *info)
{
  static const GdkPixbufModulePattern signature[]
      = { { (char *)"HOSTILE!", NULL, 100 }, { NULL, NULL, 0 } };
  /* What content like that is taken for, where gdk-pixbuf asks GIO. */
  static const char *mime_types[] = { "image/x-hostile", "text/plain", NULL };
  static const char *extensions[] = { "hostile", NULL };

  info->name = (char *)"hostile";
  info->signature = (GdkPixbufModulePattern *)signature;
  info->description = (char *)"For tests";
  info->mime_types = (char **)mime_types;
  info->extensions = (char **)extensions;
  info->flags = GDK_PIXBUF_FORMAT_THREADSAFE;
  info->license = (char *)"MIT";
}
