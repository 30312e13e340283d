/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-color.h"
#include "sb-tone.h"

#include <lcms2.h>
#include <math.h>

#define LAST     65535
#define SEGMENTS (SB_COLOR_CURVE - 1)
#define CELLS    (SB_COLOR_GRID - 1)

/* A quarter of an 8-bit level: nobody sees less, and nothing is done for it. */
#define UNSEEN 64

/* A curve this near to a straight line stays one: that is what sRGB's own would be. */
#define STRAIGHT 257

/* --- the curves ------------------------------------------------------------------------------ */

/* IEC 61966-2-1, from light to code. */
static double
srgb_encode (double x)
{
  return x <= 0.04045 / 12.92 ? x * 12.92 : 1.055 * pow (x, 1 / 2.4) - 0.055;
}

static guint16
even_point (guint i)
{
  return (guint16)((i * (guint)LAST + SEGMENTS / 2) / SEGMENTS);
}

/* From the picture's code over light to sRGB's code, from 0 to the top. */
static void
make_curve (const guint16 decode[65536], guint16 curve[SB_COLOR_CURVE])
{
  const double low = srgb_encode (decode[0] / (double)LAST);
  const double high = srgb_encode (decode[LAST] / (double)LAST);
  gboolean straight = TRUE;

  for (guint i = 0; i <= SEGMENTS; i++)
    {
      const double code = srgb_encode (decode[even_point (i)] / (double)LAST);
      curve[i]
          = high > low ? (guint16)floor (LAST * (code - low) / (high - low) + 0.5) : even_point (i);
      straight = straight && ABS ((int)curve[i] - (int)even_point (i)) <= STRAIGHT;
    }
  for (guint i = 0; straight && i <= SEGMENTS; i++)
    curve[i] = even_point (i);
}

/* Where on the curve each grid point lies, 0 .. 1: curves rise from 0 to the top. */
static void
find_inputs (const guint16 curve[SB_COLOR_CURVE], float inputs[SB_COLOR_GRID])
{
  guint i = 0;

  for (guint g = 0; g <= CELLS; g++)
    {
      const double target = g * (double)LAST / CELLS;
      while (i < SEGMENTS - 1 && curve[i + 1] < target)
        i++;
      const double rise = curve[i + 1] - curve[i];
      const double part = rise > 0 ? (target - curve[i]) / rise : 0;
      inputs[g] = (float)((i + CLAMP (part, 0.0, 1.0)) / SEGMENTS);
    }
}

/* --- the table ------------------------------------------------------------------------------- */

/* A context of its own, as lcms2's error log of the default one is global. */
static cmsHTRANSFORM
make_transform (cmsContext context, GBytes *profile)
{
  gsize n = 0;
  const void *data = g_bytes_get_data (profile, &n);
  cmsHPROFILE from = n <= G_MAXUINT32 && n >= 128
                         ? cmsOpenProfileFromMemTHR (context, data, (cmsUInt32Number)n)
                         : NULL;
  cmsHPROFILE to = cmsCreate_sRGBProfileTHR (context);
  cmsHTRANSFORM transform = NULL;

  if (from != NULL && to != NULL && cmsGetColorSpace (from) == cmsSigRgbData)
    transform = cmsCreateTransformTHR (
        context, from, TYPE_RGB_FLT, to, TYPE_RGB_16, INTENT_RELATIVE_COLORIMETRIC,
        cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
  if (from != NULL)
    cmsCloseProfile (from);
  if (to != NULL)
    cmsCloseProfile (to);
  return transform;
}

/* FALSE where every colour stays what it is. */
static gboolean
fill (SbColorTable *table, cmsHTRANSFORM transform)
{
  float inputs[3][SB_COLOR_GRID];
  float in[SB_COLOR_GRID][3];
  guint16 out[SB_COLOR_GRID][3];
  gboolean differs = FALSE;

  for (guint c = 0; c < 3; c++)
    find_inputs (table->curves[c], inputs[c]);
  for (guint r = 0; r < SB_COLOR_GRID; r++)
    for (guint g = 0; g < SB_COLOR_GRID; g++)
      {
        for (guint b = 0; b < SB_COLOR_GRID; b++)
          {
            in[b][0] = inputs[0][r];
            in[b][1] = inputs[1][g];
            in[b][2] = inputs[2][b];
          }
        cmsDoTransform (transform, in, out, SB_COLOR_GRID);
        for (guint b = 0; b < SB_COLOR_GRID; b++)
          for (guint c = 0; c < 3; c++)
            {
              table->points[r][g][b][c] = out[b][c];
              differs = differs || fabs (out[b][c] - (double)in[b][c] * LAST) > UNSEEN;
            }
      }
  return differs;
}

SbColorTable *
sb_color_table_new (GBytes *profile)
{
  if (profile == NULL)
    return NULL;

  cmsContext context = cmsCreateContext (NULL, NULL);
  cmsHTRANSFORM transform = context != NULL ? make_transform (context, profile) : NULL;
  SbColorTable *table = NULL;
  if (transform != NULL)
    {
      const SbTone *tone = sb_tone_new (profile);
      table = g_new0 (SbColorTable, 1);
      g_atomic_ref_count_init (&table->references);
      for (guint c = 0; c < 3; c++)
        make_curve (tone->decode[c], table->curves[c]);
      sb_tone_unref (tone);
      if (!fill (table, transform))
        g_clear_pointer (&table, sb_color_table_unref);
      cmsDeleteTransform (transform);
    }
  if (context != NULL)
    cmsDeleteContext (context);
  return table;
}

SbColorTable *
sb_color_table_ref (SbColorTable *table)
{
  g_return_val_if_fail (table != NULL, NULL);

  g_atomic_ref_count_inc (&table->references);
  return table;
}

void
sb_color_table_unref (SbColorTable *table)
{
  if (table != NULL && g_atomic_ref_count_dec (&table->references))
    g_free (table);
}

/* --- the definition -------------------------------------------------------------------------- */

void
sb_color_table_apply (const SbColorTable *table, const guint16 in[3], guint16 out[3])
{
  g_return_if_fail (table != NULL);

  guint at[3], order[3] = { 0, 1, 2 };
  double f[3];

  for (guint c = 0; c < 3; c++)
    {
      const double x = in[c] * (double)SEGMENTS / LAST;
      const guint i = MIN ((guint)x, SEGMENTS - 1);
      const double low = table->curves[c][i], high = table->curves[c][i + 1];
      const double p = (low + (x - i) * (high - low)) * CELLS / LAST;
      at[c] = MIN ((guint)p, CELLS - 1);
      f[c] = p - at[c];
    }
  for (guint i = 0; i < 2; i++)
    for (guint k = 0; k < 2 - i; k++)
      if (f[order[k]] < f[order[k + 1]])
        {
          const guint first = order[k];
          order[k] = order[k + 1];
          order[k + 1] = first;
        }

  double sum[3] = { 0, 0, 0 };
  for (guint step = 0; step <= 3; step++)
    {
      const double before = step == 0 ? 1 : f[order[step - 1]];
      const double weight = before - (step < 3 ? f[order[step]] : 0);
      const guint16 *point = table->points[at[0]][at[1]][at[2]];
      for (guint c = 0; c < 3; c++)
        sum[c] += weight * point[c];
      if (step < 3)
        at[order[step]]++;
    }
  for (guint c = 0; c < 3; c++)
    out[c] = (guint16)floor (sum[c] + 0.5);
}
