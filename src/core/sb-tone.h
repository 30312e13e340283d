/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-image.h"

G_BEGIN_DECLS

/* The tone curve of a picture as pairs of tables: what the blur in linear light decodes and encodes
 * with. With f a channel's curve (from its ICC profile's red, green and blue TRC, evaluated in
 * double; that of sRGB, 0.04045, 12.92, 0.055, 2.4, where it has none or none that can be used),
 * made monotone and at least x / 32:
 *
 *   decode[c][u] = round (65535 f (u / 65535)),
 *   encode[c][v] = the lowest u that minimises |65535 f (u / 65535) - v|.
 *
 * decode8[c][u] = decode[c][u * 257]; encode8[c][v] = round (encode[c][v] / 257), the rounding to 8
 * bits taken into the table. All 256 values of 8 bits survive decode and encode. c: 0 red, 1 green,
 * 2 blue. Immutable and reference-counted; pictures with the same curve share one. */
typedef struct
{
  guint16 decode[3][65536];
  guint16 encode[3][65536];
  guint16 decode8[3][256];
  guint8 encode8[3][65536];
  gboolean same;         /* the three channels have one curve */
  grefcount references_; /* private */
} SbTone;

/* The tables for `profile` (NULL: sRGB). Takes some milliseconds the first time for a curve; safe
 * in any thread. Never NULL: a profile that lcms2 cannot use gives sRGB's. */
const SbTone *sb_tone_new (GBytes *profile) G_GNUC_WARN_UNUSED_RESULT;
void sb_tone_unref (const SbTone *tone);

G_END_DECLS
