/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-tone.h"
#include "sb-arith.h"

#include <string.h>

#define BUCKET  16
#define BUCKETS (65536 / BUCKET)

/* The table of a rising function of 16 bits to 8: bucket b holds 16 f (16 b) + 16 - t where f steps
 * up by one at 16 b + t, and 16 f (16 b) where it does not step. FALSE where some 16 neighbours do
 * not fit that. */
static gboolean
make_encode (guint32 *table, const guint8 *values)
{
  for (guint b = 0; b < BUCKETS; b++)
    {
      const guint8 *v = values + b * BUCKET;
      guint t = BUCKET;

      if (v[BUCKET - 1] != v[0])
        {
          if (v[BUCKET - 1] != v[0] + 1)
            return FALSE;
          for (t = 1; v[t] == v[0]; t++)
            ;
        }
      table[b] = v[0] * BUCKET + BUCKET - t;
    }
  return TRUE;
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

  small->encode8_exact = make_encode (small->encode8, tone->encode8[0]);
  for (guint c = 1; c < 3; c++)
    if (tone->same)
      memcpy (small->encode8 + c * BUCKETS, small->encode8, sizeof (guint32) * BUCKETS);
    else
      small->encode8_exact
          = make_encode (small->encode8 + c * BUCKETS, tone->encode8[c]) && small->encode8_exact;
  /* Alpha is never coded, only rounded. */
  for (guint b = 0; b < BUCKETS; b++)
    {
      guint32 t = 1;
      while (t < BUCKET && sb_round_to_8 (b * BUCKET + t) == sb_round_to_8 (b * BUCKET))
        t++;
      small->encode8[3 * BUCKETS + b] = sb_round_to_8 (b * BUCKET) * BUCKET + BUCKET - t;
    }
}
