/* SPDX-License-Identifier: MIT */

#pragma once

#include <gio/gio.h>

#include "sb-edit.h"
#include "sb-engine.h"
#include "sb-haar-export.h"

G_BEGIN_DECLS

/* The command line tool. Exit statuses: 0 done, 1 something failed, 2 the command line is wrong. */

enum
{
  SB_CLI_DONE,
  SB_CLI_FAILED,
  SB_CLI_USAGE,
};

/* What was asked for, checked as far as it can be without opening a file. */
typedef struct
{
  char **inputs; /* names as bytes; "-" is standard input */
  char *output;  /* name as bytes; "-" is standard output; NULL: no picture is written */
  SbEditList *edits;
  guint depth; /* 8, 16, or 0 for the picture's own */
  gboolean force;
  gboolean dither, interlace, keep_location, strip_metadata;
  guint page;           /* of a TIFF file, or 0 for the first */
  int compression;      /* 0 .. 9, or -1 for the default */
  guint64 memory_limit; /* bytes that one picture may need, or 0 for the default */
  SbDevice device;
  gboolean json;
  guint width, height; /* of the benchmark's picture */
  guint32 seed;        /* of the verification's pictures */
  /* What is made of the transform of each result. */
  char *subbands; /* name of a folder as bytes, or NULL */
  char *mosaic;   /* name as bytes, of a folder for several inputs, or NULL */
  gboolean statistics;
  SbHaarChannel channel;
  guint levels; /* 0: 5, or as many as there are */
  SbHaarFormat format;
  GHashTable *places; /* see sb_cli_claim() */
  GCancellable *cancellable;
} SbCli;

/* Each returns an exit status and has told on standard error what went wrong. */
int sb_cli_convert (const SbCli *cli);
int sb_cli_subbands (const SbCli *cli);
int sb_cli_verify (const SbCli *cli);
int sb_cli_benchmark (const SbCli *cli);
int sb_cli_list_devices (const SbCli *cli);
int sb_cli_list_edits (const SbCli *cli);

/* --- sb-cli-convert.c ------------------------------------------------------------------------ */

/* The picture of an input, with its warnings told; NULL with an error. */
SbImage *sb_cli_load (const SbCli *cli, const char *input,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* What the edits make of the picture that the engine has loaded, ready to be saved. */
SbImage *sb_cli_read (const SbCli *cli, SbEngine *engine, SbImage *image,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Writes a picture as PNG, with what the command line says of it and the original has. */
gboolean sb_cli_save (const SbCli *cli, SbImage *image, SbImage *original, const char *output,
                      GError **error);
/* A device that was chosen for the user and has failed gives the picture to the CPU: a message, and
 * an engine that takes its place; *error is cleared. NULL, with *error, where that is no way out.
 * name: of the picture, for the message. */
SbEngine *sb_cli_leave_device (const SbCli *cli, const char *name,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* An error in the words of a command line. */
const char *sb_cli_reason (const GError *error);
/* FALSE, with a message, where an input or `output` (or NULL) is a terminal. */
gboolean sb_cli_check_streams (const SbCli *cli, const char *output);

/* --- sb-cli-verify-haar.c -------------------------------------------------------------------- */

/* Edits of bands and transforms on one device; the cases of a seed are the same on all. Returns how
 * many results were wrong, each told. */
guint sb_cli_verify_haar (SbEngine *engine, const char *label, guint32 seed, guint *n_cases,
                          GCancellable *cancellable);

/* --- sb-cli-plan.c --------------------------------------------------------------------------- */

/* Where each input's picture goes, decided before anything is written: no two to one file, none to
 * a file that is an input. Returns as many names as there are inputs, or NULL with an error. A
 * folder that is missing is not made yet. */
char **sb_cli_plan (char *const *inputs, const char *output,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* What an input names: a path, or a URI where no file is called so. */
GFile *sb_cli_file (const char *input) G_GNUC_WARN_UNUSED_RESULT;
/* The files that nothing may be written to: the inputs, and whatever has been claimed since. */
GHashTable *sb_cli_places_new (char *const *inputs) G_GNUC_WARN_UNUSED_RESULT;
/* A file for one result, by what it is and not how it is called; its folder is there already.
 * FALSE, with a message, where it is an input or another result's. */
gboolean sb_cli_claim (GHashTable *places, const char *name);
/* "photo" of "holiday/photo.jpg", "my photo" of "sftp://host/my%20photo.jpg". */
char *sb_cli_stem (const char *input) G_GNUC_WARN_UNUSED_RESULT;
/* Whether the name is that of a PNG or has no extension; *extension receives what it has. */
gboolean sb_cli_is_png_name (const char *name, const char **extension);

/* --- sb-cli-print.c -------------------------------------------------------------------------- */

/* Before anything is printed: what the locale's characters cannot say is written as near as may be.
 */
void sb_cli_print_init (void);
/* "softbox-cli: photo.jpg: the reason" on standard error; name as bytes, or NULL. */
void sb_cli_error (const char *name, const char *format, ...) G_GNUC_PRINTF (2, 3);
void sb_cli_warning (const char *name, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Writes over itself on standard error, where that is a terminal. NULL wipes it. */
void sb_cli_progress (const char *text);
/* Text to standard output; what fails there is told by sb_cli_flush(). */
void sb_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* FALSE, with a message the first time, where not all that was printed has arrived. */
gboolean sb_cli_flush (void);
/* Appends "text" with quotes, escaped for JSON; all of it where the locale is not UTF-8. */
void sb_cli_append_json (GString *json, const char *text);
/* Appends text so many cells of a terminal wide, right-aligned; left-aligned where width is
 * negative. */
void sb_cli_append_cell (GString *line, const char *text, int width);
/* Appends a number with so many decimals, with a point in every locale. */
void sb_cli_append_number (GString *text, double value, guint decimals);

G_END_DECLS
