/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cli.h"

G_BEGIN_DECLS

/* The command line as it was typed. */
typedef struct
{
  char **inputs;
  char *output;
  char **edits;
  char *radius, *passes, *linear;
  char *depth, *device, *threads, *size, *seed, *compression, *page, *memory_limit;
  char *subbands, *mosaic, *levels, *channel, *format;
  gboolean dither, interlace, keep_location, strip_metadata;
  gboolean force, json, statistics;
  gboolean benchmark, verify, devices, list_edits, version, help;
} SbCliTyped;

/* --- sb-cli-typed.c -------------------------------------------------------------------------- */

/* Fills `typed`; its "help" is set in the place of an error. */
GOptionContext *sb_cli_typed_context (SbCliTyped *typed);
/* Makes text of what is neither a file's name nor checked yet, so that it can be quoted. */
void sb_cli_typed_decode (SbCliTyped *typed);
void sb_cli_typed_clear (SbCliTyped *typed);

/* --- sb-cli-check.c -------------------------------------------------------------------------- */

/* All of these have told on standard error what is wrong where they return FALSE or NULL. */

/* Tells, and how to call it. name: of the file that it is about, or NULL. SB_CLI_USAGE. */
int sb_cli_usage_error (const char *name, const char *message);
/* Options that are numbers, and the device. */
gboolean sb_cli_parse_numbers (const SbCliTyped *typed, SbCli *cli);
SbEditList *sb_cli_parse_edits (const SbCliTyped *typed);
gboolean sb_cli_check_inputs (char *const *inputs);
gboolean sb_cli_check_output (const SbCliTyped *typed, guint n_inputs);
gboolean sb_cli_wants_subbands (const SbCliTyped *typed);
/* Into `cli`, whose inputs and output are known by then. */
gboolean sb_cli_parse_subbands (const SbCliTyped *typed, SbCli *cli);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbCliTyped, sb_cli_typed_clear)

G_END_DECLS
