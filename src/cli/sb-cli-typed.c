/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cli-typed.h"

#include <glib/gi18n-lib.h>

void
sb_cli_typed_clear (SbCliTyped *typed)
{
  g_strfreev (typed->inputs);
  g_strfreev (typed->edits);
  g_free (typed->output);
  g_free (typed->radius);
  g_free (typed->passes);
  g_free (typed->linear);
  g_free (typed->depth);
  g_free (typed->device);
  g_free (typed->threads);
  g_free (typed->size);
  g_free (typed->seed);
  g_free (typed->compression);
  g_free (typed->subbands);
  g_free (typed->mosaic);
  g_free (typed->levels);
  g_free (typed->channel);
  g_free (typed->format);
  g_free (typed->page);
  g_free (typed->memory_limit);
}

/* What stands there as UTF-8. Bytes that are no text in this locale are wrong wherever a number or
 * a key is due; so they can be quoted. */
static void
make_text (char **word)
{
  if (*word == NULL)
    return;

  g_autofree char *bytes = *word;

  *word = g_locale_to_utf8 (bytes, -1, NULL, NULL, NULL);
  if (*word == NULL)
    *word = g_utf8_make_valid (bytes, -1);
}

void
sb_cli_typed_decode (SbCliTyped *typed)
{
  char **const words[] = { &typed->radius,      &typed->passes,      &typed->linear, &typed->depth,
                           &typed->device,      &typed->threads,     &typed->size,   &typed->seed,
                           &typed->levels,      &typed->channel,     &typed->format, &typed->page,
                           &typed->compression, &typed->memory_limit };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    make_text (words[i]);
  for (guint i = 0; typed->edits != NULL && typed->edits[i] != NULL; i++)
    make_text (&typed->edits[i]);
}

/* Whatever else is on the command line: parsing ends here. GLib's own help would end the program,
 * and call it done whatever has become of the text. */
static gboolean
help_cb (const char *name, const char *value, gpointer user_data, GError **error)
{
  SbCliTyped *typed = user_data;

  typed->help = TRUE;
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, name);
  return FALSE;
}

GOptionContext *
sb_cli_typed_context (SbCliTyped *typed)
{
  /* FILENAME takes any bytes: GLib's own word on what is no text names neither option nor value. */
  const GOptionEntry entries[] = {
    { "edit", 'e', 0, G_OPTION_ARG_FILENAME_ARRAY, &typed->edits,
      N_ ("Do this edit; may be given again for more, done in this order"), N_ ("EDIT") },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &typed->output,
      N_ ("Write here: a PNG file, - for standard output, a folder for several inputs"),
      N_ ("OUTPUT") },
    { "radius", 0, 0, G_OPTION_ARG_FILENAME, &typed->radius,
      N_ ("Blur with this radius in pixels, 0 to 2000 (14)"), N_ ("R") },
    { "passes", 0, 0, G_OPTION_ARG_FILENAME, &typed->passes, N_ ("Blur so many times, 1 to 10 (3)"),
      N_ ("N") },
    { "linear", 0, 0, G_OPTION_ARG_FILENAME, &typed->linear,
      N_ ("Blur in linear light, 0 or 1 (1)"), "0|1" },
    { "depth", 0, 0, G_OPTION_ARG_FILENAME, &typed->depth,
      N_ ("Write so many bits a channel; the input’s without it"), "8|16" },
    { "page", 0, 0, G_OPTION_ARG_FILENAME, &typed->page, N_ ("Take this page of a TIFF file (1)"),
      N_ ("N") },
    { "dither", 0, 0, G_OPTION_ARG_NONE, &typed->dither,
      N_ ("Where 8 bits are written, mix two values rather than round"), NULL },
    { "compression", 0, 0, G_OPTION_ARG_FILENAME, &typed->compression,
      N_ ("Pack so hard, 0 to 9 (4)"), N_ ("LEVEL") },
    { "interlace", 0, 0, G_OPTION_ARG_NONE, &typed->interlace,
      N_ ("Write what can be shown before all of it has come; larger files"), NULL },
    { "keep-location", 0, 0, G_OPTION_ARG_NONE, &typed->keep_location,
      N_ ("Keep where a photo was taken, which is left out without it"), NULL },
    { "strip-metadata", 0, 0, G_OPTION_ARG_NONE, &typed->strip_metadata,
      N_ ("Keep nothing but pixels and colors"), NULL },
    { "force", 0, 0, G_OPTION_ARG_NONE, &typed->force, N_ ("Replace files that exist"), NULL },
    { "device", 0, 0, G_OPTION_ARG_FILENAME, &typed->device, N_ ("Compute there (auto)"),
      "auto|cpu|cuda[:N]" },
    { "threads", 0, 0, G_OPTION_ARG_FILENAME, &typed->threads,
      N_ ("Use so many threads (one a core)"), N_ ("N") },
    { "memory-limit", 0, 0, G_OPTION_ARG_FILENAME, &typed->memory_limit,
      N_ ("Open no picture that needs more memory, at 30 bytes a pixel (half of the memory)"),
      N_ ("MIB") },
    { "subbands", 0, 0, G_OPTION_ARG_FILENAME, &typed->subbands,
      N_ ("Write the result’s Haar subbands into this folder"), N_ ("FOLDER") },
    { "mosaic", 0, 0, G_OPTION_ARG_FILENAME, &typed->mosaic,
      N_ ("Write all subbands as one PNG; a folder for several inputs"), N_ ("FILE") },
    { "statistics", 0, 0, G_OPTION_ARG_NONE, &typed->statistics,
      N_ ("Print what the subbands measure"), NULL },
    { "levels", 0, 0, G_OPTION_ARG_FILENAME, &typed->levels,
      N_ ("Transform so many levels, 1 to what the picture has (5)"), N_ ("N") },
    { "channel", 0, 0, G_OPTION_ARG_FILENAME, &typed->channel,
      N_ ("Transform this channel (lightness)"), "lightness|luma|red|green|blue|alpha" },
    { "format", 0, 0, G_OPTION_ARG_FILENAME, &typed->format,
      N_ ("Write subbands as float32 arrays of NumPy or grey PNG (npy)"), "npy|png16" },
    { "devices", 0, 0, G_OPTION_ARG_NONE, &typed->devices, N_ ("List the devices"), NULL },
    { "list-edits", 0, 0, G_OPTION_ARG_NONE, &typed->list_edits,
      N_ ("List the edits with their keys and ranges"), NULL },
    { "benchmark", 0, 0, G_OPTION_ARG_NONE, &typed->benchmark,
      N_ ("Measure the speed and print a table"), NULL },
    { "size", 0, 0, G_OPTION_ARG_FILENAME, &typed->size,
      N_ ("Measure with a picture of this size (6000x4000)"), N_ ("WIDTHxHEIGHT") },
    { "verify", 0, 0, G_OPTION_ARG_NONE, &typed->verify,
      N_ ("Compare every device with the slow reference on random pictures"), NULL },
    { "seed", 0, 0, G_OPTION_ARG_FILENAME, &typed->seed,
      N_ ("Verify with the pictures of this seed"), N_ ("N") },
    { "json", 0, 0, G_OPTION_ARG_NONE, &typed->json, N_ ("Print a table as JSON"), NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &typed->version, N_ ("Print the version"), NULL },
    { "help", 'h', G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, help_cb, N_ ("Print this"), NULL },
    { "help-all", '?', G_OPTION_FLAG_NO_ARG | G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_CALLBACK, help_cb,
      NULL, NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &typed->inputs, NULL,
      N_ ("INPUT… -o OUTPUT") },
    { NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);
  GOptionGroup *group = g_option_group_new ("main", "", "", typed, NULL);

  g_option_group_add_entries (group, entries);
  g_option_group_set_translation_domain (group, GETTEXT_PACKAGE);
  g_option_context_set_main_group (context, group);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (
      context, N_ ("Blurs photos and writes them as PNG, without a window. Reads what the system "
                   "can read: PNG at 8 and 16 bits, JPEG, TIFF, WebP and more."));
  g_option_context_set_description (
      context,
      N_ ("An edit is written KIND:KEY=VALUE,KEY=VALUE with every key optional; --list-edits tells "
          "them all. --radius, --passes and --linear together are one blur. Without any edit the "
          "picture is only converted. Numbers take a point for decimals.\n"
          "\n"
          "Several inputs go to a folder, which is made if it is missing, as NAME.png; where two "
          "would have one name, the second is NAME-2.png. An input is never overwritten, another "
          "file only with --force.\n"
          "\n"
          "Examples:\n"
          "  softbox-cli photo.jpg --radius 12.5 -o soft.png\n"
          "  softbox-cli photo.jpg -e blur:radius=40,direction=horizontal -o streaks.png\n"
          "  softbox-cli photo.jpg -e blur:radius=20,area=ellipse:900:400:600:800,feather=60,"
          "invert=1 -o portrait.png\n"
          "  softbox-cli photo.jpg -e bands:threshold=12 -o quiet.png\n"
          "  softbox-cli photo.jpg --subbands bands --levels 3 --channel luma\n"
          "  softbox-cli photo.jpg -e blur --statistics --json\n"
          "  softbox-cli *.jpg --radius 3 --depth=16 -o softened\n"
          "  curl -s https://example.org/photo.jpg | softbox-cli - -e blur -o - | display\n"
          "\n"
          "Exit status: 0 all done, 1 something failed, 2 the command line is wrong.\n"));
  return context;
}
