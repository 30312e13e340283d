/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-tone.h"
#include "sb-arith.h"

#define LOW 4096 /* where the segments get longer */

/* The level that the lines of the segments give v, as the kernels reckon it. */
static guint
line_at (const SbBlurTone *small, guint v)
{
  const guint high = v >= LOW, s = high ? v / 1024 : v / 64;
  const guint along = high ? v % 1024 * 64 : v % 64 * 1024;

  return MIN (small->base[high][s] + (along * small->slope[high][s] >> 16), 65535) / 256;
}

static gboolean
line_fits (const SbBlurTone *small, const guint8 *e, guint v)
{
  const guint g = line_at (small, v);
  return g == e[v] || g == e[v] + 1u;
}

/* Both e and the line of a segment rise, so the line fits everywhere if it does at the ends of the
 * segments and on both sides of the steps of e. */
static gboolean
make_lines (SbBlurTone *small, const guint16 *encode, const guint8 *e)
{
  for (guint high = 0; high < 2; high++)
    for (guint s = 0; s < 64; s++)
      {
        const guint length = high ? 1024 : 64, v0 = s * length, v1 = MIN (v0 + length, 65535);
        /* A level is 257 of the 65536 values, here 256 of the line's; from 0.5 to 1.5 levels too
         * high will do. */
        const double y0 = encode[v0] * 256.0 / 257, y1 = encode[v1] * 256.0 / 257;
        small->base[high][s] = (guint16)MIN (y0 + 256, 65535);
        small->slope[high][s] = (guint16)MIN (MAX (y1 - y0, 0), 65535);
      }
  for (guint g = 0, v = 0; g < 256; g++)
    {
      while (v < 65535 && e[v] < g)
        v++;
      if (e[v] < g)
        return FALSE;
      small->least[g] = (guint16)v;
    }

  for (guint v = 0; v < 65536; v += v < LOW ? 64 : 1024)
    if (!line_fits (small, e, v) || (v > 0 && !line_fits (small, e, v - 1)))
      return FALSE;
  for (guint g = 1; g < 256; g++)
    if (!line_fits (small, e, small->least[g])
        || (small->least[g] > 0 && !line_fits (small, e, small->least[g] - 1u)))
      return FALSE;
  return line_fits (small, e, 65535);
}

void
sb_blur_tone_init (SbBlurTone *small, const SbTone *tone)
{
  const guint64 bias = 0x8000;

  small->one_curve = tone->same;
  for (guint v = 0; v < 256; v++)
    {
      for (guint c = 0; c < 3; c++)
        small->decode64[c][v] = (tone->decode8[c][v] ^ bias) << (16 * c);
      small->decode64[3][v] = (v * 257 ^ bias) << 48;
      small->decode_byte[0][v] = (guint8)(tone->decode8[0][v] & 0xff);
      small->decode_byte[1][v] = (guint8)(tone->decode8[0][v] >> 8);
    }

  for (guint c = 0; c < 3; c++)
    small->encode8[c] = tone->encode8[c];
  small->fits = tone->same && make_lines (small, tone->encode[0], tone->encode8[0]);
}
