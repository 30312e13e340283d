/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-color.h"
#include "sb-tone.h"

#include <lcms2.h>
#include <math.h>

#define LAST     65535
#define SEGMENTS (SB_COLOR_CURVE - 1)
#define CELLS    (SB_COLOR_GRID - 1)
#define STEPS    (SB_COLOR_ENCODE - 1)

/* A quarter of an 8-bit level: nobody sees less, and nothing is done for it. */
#define UNSEEN 64

/* Light beyond this is cut off: no colour that can be seen comes near it. */
#define LEAST (-4.0)
#define MOST  5.0

/* --- the curves ------------------------------------------------------------------------------ */

/* IEC 61966-2-1, from light to code. */
static double
srgb_encode (double x)
{
  return x <= 0.04045 / 12.92 ? x * 12.92 : 1.055 * pow (x, 1 / 2.4) - 0.055;
}

static guint16
to_code (double x)
{
  return (guint16)floor (LAST * CLAMP (x, 0.0, 1.0) + 0.5);
}

/* From the picture's code over light to sRGB's code, from 0 to the top. */
static void
make_even_curve (const guint16 decode[65536], guint16 curve[SB_COLOR_CURVE])
{
  const double low = srgb_encode (decode[0] / (double)LAST);
  const double high = srgb_encode (decode[LAST] / (double)LAST);

  for (guint i = 0; i <= SEGMENTS; i++)
    {
      const guint code = (i * (guint)LAST + SEGMENTS / 2) / SEGMENTS;
      const double x = srgb_encode (decode[code] / (double)LAST);
      curve[i] = high > low ? to_code ((x - low) / (high - low)) : (guint16)code;
    }
}

/* From the picture's code to light, as its profile says; FALSE where that does not rise. */
static gboolean
make_own_curve (cmsHPROFILE profile, cmsTagSignature tag, guint16 curve[SB_COLOR_CURVE])
{
  const cmsToneCurve *own = cmsReadTag (profile, tag);

  if (own == NULL)
    return FALSE;
  const double low = cmsEvalToneCurveFloat (own, 0), high = cmsEvalToneCurveFloat (own, 1);
  if (!(low >= -1 && high <= 2 && high - low > 0.01))
    return FALSE;
  for (guint i = 0; i <= SEGMENTS; i++)
    {
      const double x = cmsEvalToneCurveFloat (own, (float)i / SEGMENTS);
      curve[i] = to_code ((x - low) / (high - low));
      if (i > 0 && curve[i] < curve[i - 1])
        return FALSE;
    }
  return TRUE;
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

typedef struct
{
  cmsContext context; /* of its own, as lcms2's error log of the default one is global */
  cmsHPROFILE from;
  cmsHTRANSFORM light; /* float to light of sRGB's primaries, below 0 and above 1 too */
  cmsHTRANSFORM right; /* 16 bits to sRGB's code */
} Colors;

static cmsHTRANSFORM
make_transform (const Colors *colors, cmsUInt32Number in, cmsHPROFILE to, cmsUInt32Number out)
{
  cmsHTRANSFORM transform
      = to != NULL ? cmsCreateTransformTHR (
            colors->context, colors->from, in, to, out, INTENT_RELATIVE_COLORIMETRIC,
            cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE)
                   : NULL;

  if (to != NULL)
    cmsCloseProfile (to);
  return transform;
}

/* sRGB's primaries and white without its curve. */
static cmsHPROFILE
make_light (cmsContext context)
{
  const cmsCIExyY white = { 0.3127, 0.3290, 1 };
  const cmsCIExyYTRIPLE primaries = { { 0.64, 0.33, 1 }, { 0.30, 0.60, 1 }, { 0.15, 0.06, 1 } };
  cmsToneCurve *straight = cmsBuildGamma (context, 1);
  cmsHPROFILE profile
      = straight != NULL ? cmsCreateRGBProfileTHR (
            context, &white, &primaries, (cmsToneCurve *[]){ straight, straight, straight })
                         : NULL;

  if (straight != NULL)
    cmsFreeToneCurve (straight);
  return profile;
}

static gboolean
open_colors (Colors *colors, GBytes *profile)
{
  gsize n = 0;
  const void *data = g_bytes_get_data (profile, &n);

  *colors = (Colors){ .context = cmsCreateContext (NULL, NULL) };
  if (colors->context == NULL || n > G_MAXUINT32 || n < 128)
    return FALSE;
  colors->from = cmsOpenProfileFromMemTHR (colors->context, data, (cmsUInt32Number)n);
  if (colors->from == NULL || cmsGetColorSpace (colors->from) != cmsSigRgbData)
    return FALSE;
  colors->light = make_transform (colors, TYPE_RGB_FLT, make_light (colors->context), TYPE_RGB_FLT);
  colors->right = make_transform (colors, TYPE_RGB_16, cmsCreate_sRGBProfileTHR (colors->context),
                                  TYPE_RGB_16);
  return colors->light != NULL && colors->right != NULL;
}

static void
close_colors (Colors *colors)
{
  if (colors->light != NULL)
    cmsDeleteTransform (colors->light);
  if (colors->right != NULL)
    cmsDeleteTransform (colors->right);
  if (colors->from != NULL)
    cmsCloseProfile (colors->from);
  if (colors->context != NULL)
    cmsDeleteContext (colors->context);
}

/* The last curve, so wide that it holds light from `low` to `high`; which of its points is 0, and
 * how far apart they are. */
static void
make_encode (double low, double high, guint16 encode[SB_COLOR_ENCODE], guint *zero, double *step)
{
  *zero = (guint)ceil (-low / (high - low) * (STEPS - 1));
  *step = MAX (high / (STEPS - 1 - *zero), *zero > 0 ? -low / *zero : 0);
  for (guint i = 0; i <= STEPS; i++)
    encode[i] = to_code (srgb_encode (((double)i - *zero) * *step));
}

/* All of the table behind the first curves. */
static gboolean
fill (SbColorTable *table, const Colors *colors)
{
  const gsize n = (gsize)SB_COLOR_GRID * SB_COLOR_GRID * SB_COLOR_GRID;
  float inputs[3][SB_COLOR_GRID];
  float in[SB_COLOR_GRID][3];
  g_autofree float *lights = g_new (float, n * 3);
  double low = 0, high = 1, step;
  guint zero;

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
        cmsDoTransform (colors->light, in,
                        lights + 3 * ((gsize)r * SB_COLOR_GRID + g) * SB_COLOR_GRID, SB_COLOR_GRID);
      }
  for (gsize i = 0; i < 3 * n; i++)
    {
      if (!isfinite (lights[i]))
        return FALSE;
      lights[i] = (float)CLAMP (lights[i], LEAST, MOST);
      low = MIN (low, lights[i]);
      high = MAX (high, lights[i]);
    }
  make_encode (low, high, table->encode, &zero, &step);
  guint16 *points = &table->points[0][0][0][0];
  for (gsize i = 0; i < n; i++)
    for (guint c = 0; c < 3; c++)
      points[4 * i + c]
          = (guint16)CLAMP (floor ((lights[3 * i + c] / step + zero) * 16 + 0.5), 0, LAST);
  return TRUE;
}

/* The table as a matrix, if it is one: but for the rounding of curves and points, which between
 * them are less than eight of a point's steps off. */
static void
find_matrix (SbColorTable *table)
{
  static const guint8 corners[4][3]
      = { { CELLS, 0, 0 }, { 0, CELLS, 0 }, { 0, 0, CELLS }, { 0, 0, 0 } };
  const double most = 8.0 / 16;

  for (guint c = 0; c < 3; c++)
    for (guint k = 0; k < 4; k++)
      {
        const guint8 *at = corners[k];
        const double here = table->points[at[0]][at[1]][at[2]][c];
        table->matrix[c][k]
            = (float)(k < 3 ? (here - table->points[0][0][0][c]) / 16 / LAST : here / 16);
      }
  table->is_matrix = TRUE;
  for (guint r = 0; r <= CELLS; r++)
    for (guint g = 0; g <= CELLS; g++)
      for (guint b = 0; b <= CELLS; b++)
        for (guint c = 0; c < 3; c++)
          {
            const float *m = table->matrix[c];
            const double x = (m[0] * r + m[1] * g + m[2] * b) * LAST / CELLS + m[3];
            table->is_matrix
                = table->is_matrix && fabs (x - table->points[r][g][b][c] / 16.0) <= most;
          }
}

/* How far the table's colours are from lcms2's own, at worst, of 4913 evenly spread ones. */
static guint
measure (const SbColorTable *table, const Colors *colors)
{
  enum
  {
    SIDE = 17
  };
  guint worst = 0;

  for (guint r = 0; r < SIDE; r++)
    for (guint g = 0; g < SIDE; g++)
      {
        guint16 in[SIDE][3], right[SIDE][3];
        for (guint b = 0; b < SIDE; b++)
          {
            in[b][0] = (guint16)(r * LAST / (SIDE - 1));
            in[b][1] = (guint16)(g * LAST / (SIDE - 1));
            in[b][2] = (guint16)(b * LAST / (SIDE - 1));
          }
        cmsDoTransform (colors->right, in, right, SIDE);
        for (guint b = 0; b < SIDE; b++)
          {
            guint16 out[3];
            sb_color_table_apply (table, in[b], out);
            for (guint c = 0; c < 3; c++)
              worst = MAX (worst, (guint)ABS ((int)out[c] - (int)right[b][c]));
          }
      }
  return worst;
}

/* Whether any colour is to be changed: greys of all levels, and mixed ones of 17 each. */
static gboolean
differs (const Colors *colors)
{
  enum
  {
    SIDE = 17,
    GREYS = 256
  };

  for (guint i = 0; i < GREYS + SIDE * SIDE * SIDE; i++)
    {
      const guint k = i < GREYS ? 0 : i - GREYS;
      const guint16 grey = (guint16)(i * 257);
      const guint16 in[3] = { i < GREYS ? grey : (guint16)(k / (SIDE * SIDE) * LAST / (SIDE - 1)),
                              i < GREYS ? grey : (guint16)(k / SIDE % SIDE * LAST / (SIDE - 1)),
                              i < GREYS ? grey : (guint16)(k % SIDE * LAST / (SIDE - 1)) };
      guint16 right[3];
      cmsDoTransform (colors->right, in, right, 1);
      for (guint c = 0; c < 3; c++)
        if (ABS ((int)right[c] - (int)in[c]) > UNSEEN)
          return TRUE;
    }
  return FALSE;
}

/* With the profile's own curves, if it is nothing but those and a matrix. */
static gboolean
fill_matrix (SbColorTable *table, const Colors *colors)
{
  static const cmsTagSignature tags[3] = { cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag };

  if (!cmsIsMatrixShaper (colors->from))
    return FALSE;
  for (guint c = 0; c < 3; c++)
    if (!make_own_curve (colors->from, tags[c], table->curves[c]))
      return FALSE;
  if (!fill (table, colors) || measure (table, colors) > 2 * UNSEEN)
    return FALSE;
  find_matrix (table);
  return TRUE;
}

static gboolean
fill_any (SbColorTable *table, const Colors *colors, GBytes *profile)
{
  const SbTone *tone = sb_tone_new (profile);

  for (guint c = 0; c < 3; c++)
    make_even_curve (tone->decode[c], table->curves[c]);
  sb_tone_unref (tone);
  return fill (table, colors);
}

SbColorTable *
sb_color_table_new (GBytes *profile)
{
  Colors colors;
  SbColorTable *table = NULL;

  if (profile == NULL)
    return NULL;
  if (open_colors (&colors, profile) && differs (&colors))
    {
      table = g_new0 (SbColorTable, 1);
      g_atomic_ref_count_init (&table->references);
      if (!fill_matrix (table, &colors) && !fill_any (table, &colors, profile))
        g_clear_pointer (&table, sb_color_table_unref);
    }
  close_colors (&colors);
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
    {
      const double x = sum[c] / 16;
      const guint i = (guint)x;
      const double low = table->encode[i], high = table->encode[i + 1];
      out[c] = (guint16)floor (low + (x - i) * (high - low) + 0.5);
    }
}
