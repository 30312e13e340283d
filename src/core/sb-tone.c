/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-tone.h"

#include <lcms2.h>
#include <math.h>
#include <string.h>

#define LAST 65535

/* Tables that somebody holds, by what they were made for: the SHA-256 of a profile, "" for sRGB.
 * Guarded by the lock, as are the references. */
static GMutex lock;
static GHashTable *tables;

/* --- curves ---------------------------------------------------------------------------------- */

/* IEC 61966-2-1, as the exact numbers have it. */
static double
srgb (double x)
{
  return x <= 0.04045 ? x / 12.92 : pow ((x + 0.055) / 1.055, 2.4);
}

static double
power (double base, double exponent)
{
  return base > 0 ? pow (base, exponent) : 0;
}

/* lcms2's parametric types 1 to 5 are ICC's functions 0 to 4 (ICC.1:2010, 10.15), parameters
 * g a b c d e f. NAN for any other. */
static double
parametric (int type, const double *p, double x)
{
  const double g = p[0];

  switch (type)
    {
    case 1:
      return power (x, g);
    case 2:
      return x >= -p[2] / p[1] ? power (p[1] * x + p[2], g) : 0;
    case 3:
      return x >= -p[2] / p[1] ? power (p[1] * x + p[2], g) + p[3] : p[3];
    case 4:
      return x >= p[4] ? power (p[1] * x + p[2], g) : p[3] * x;
    case 5:
      return x >= p[4] ? power (p[1] * x + p[2], g) + p[5] : p[3] * x + p[6];
    default:
      return NAN;
    }
}

static double
tabulated (const guint16 *table, guint n, double x)
{
  const double at = x * (n - 1);
  const guint i = MIN ((guint)at, n - 2);

  return (table[i] + (at - i) * (table[i + 1] - table[i])) / LAST;
}

/* 65535 f (u / 65535) for every u, unshaped. FALSE where lcms2's curve is of no known kind. */
static gboolean
sample (const cmsToneCurve *curve, double *f)
{
  const int type = cmsGetToneCurveParametricType (curve);
  const double *parameters = type != 0 ? cmsGetToneCurveParams (curve) : NULL;
  const guint n = cmsGetToneCurveEstimatedTableEntries (curve);
  const guint16 *table = cmsGetToneCurveEstimatedTable (curve);

  if (type != 0 ? parameters == NULL : table == NULL || n < 2)
    return FALSE;
  for (guint u = 0; u <= LAST; u++)
    {
      const double x = (double)u / LAST;
      f[u] = LAST * (type != 0 ? parametric (type, parameters, x) : tabulated (table, n, x));
      if (!isfinite (f[u]))
        return FALSE;
    }
  return TRUE;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* f: made monotone and at least x / 32 in place, so that a code of 8 bits, 257 steps wide, moves
 * the decoded value by 8 at least and comes back. */
static void
shape (double *f)
{
  double top = 0;

  for (guint u = 0; u <= LAST; u++)
    {
      top = MAX (top, MAX (f[u], u / 32.0));
      top = MIN (top, LAST);
      f[u] = top;
    }
}

/* The lowest u nearest to v, for all v in one sweep: f rises, so the nearest is the first at or
 * above v or the last below it, and among equals of the latter the first. */
static void
invert (const double *f, guint16 *encode)
{
  guint above = 0; /* the first u with f[u] >= v, 65536 where there is none */
  guint below = 0; /* the first u with f[u] == f[above - 1] */

  for (guint v = 0; v <= LAST; v++)
    {
      while (above <= LAST && f[above] < v)
        {
          if (above == 0 || f[above] > f[below])
            below = above;
          above++;
        }
      if (above == 0 || (above <= LAST && f[above] - v < v - f[below]))
        encode[v] = (guint16)above;
      else
        encode[v] = (guint16)below;
    }
}

static void
fill (SbTone *tone, guint c, double *f)
{
  shape (f);
  for (guint u = 0; u <= LAST; u++)
    tone->decode[c][u] = (guint16)floor (f[u] + 0.5);
  invert (f, tone->encode[c]);
  for (guint u = 0; u < 256; u++)
    tone->decode8[c][u] = tone->decode[c][u * 257];
  for (guint v = 0; v <= LAST; v++)
    tone->encode8[c][v] = (guint8)((tone->encode[c][v] * 255u + 32895u) >> 16);
}

/* The three curves of a profile. FALSE, with nothing to rely on in `tone`, where one is missing. */
static gboolean
fill_from_profile (SbTone *tone, GBytes *profile, double *f)
{
  static const cmsTagSignature tags[3] = { cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag };
  gsize n = 0;
  const void *data = g_bytes_get_data (profile, &n);
  cmsContext context = cmsCreateContext (NULL, NULL);
  cmsHPROFILE handle
      = n <= G_MAXUINT32 ? cmsOpenProfileFromMemTHR (context, data, (guint32)n) : NULL;
  gboolean good = handle != NULL && cmsGetColorSpace (handle) == cmsSigRgbData;

  for (guint c = 0; good && c < 3; c++)
    {
      const cmsToneCurve *curve = cmsReadTag (handle, tags[c]);
      good = curve != NULL && sample (curve, f);
      if (good)
        fill (tone, c, f);
    }
  if (handle != NULL)
    cmsCloseProfile (handle);
  cmsDeleteContext (context);
  return good;
}

static SbTone *
make (GBytes *profile)
{
  SbTone *tone = g_new0 (SbTone, 1);
  g_autofree double *f = g_new (double, LAST + 1);

  if (profile == NULL || !fill_from_profile (tone, profile, f))
    for (guint c = 0; c < 3; c++)
      {
        for (guint u = 0; u <= LAST; u++)
          f[u] = LAST * srgb ((double)u / LAST);
        fill (tone, c, f);
      }
  tone->same = memcmp (tone->encode[0], tone->encode[1], sizeof tone->encode[0]) == 0
               && memcmp (tone->encode[0], tone->encode[2], sizeof tone->encode[0]) == 0
               && memcmp (tone->decode[0], tone->decode[1], sizeof tone->decode[0]) == 0
               && memcmp (tone->decode[0], tone->decode[2], sizeof tone->decode[0]) == 0;
  return tone;
}

const SbTone *
sb_tone_new (GBytes *profile)
{
  g_autofree char *key
      = profile != NULL ? g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, profile) : g_strdup ("");

  /* Made under the lock: a second thread that wants the same waits for it instead of making it
   * again. */
  g_mutex_lock (&lock);
  if (tables == NULL)
    tables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  SbTone *tone = g_hash_table_lookup (tables, key);
  if (tone != NULL)
    g_ref_count_inc (&tone->references_);
  else
    {
      tone = make (profile);
      g_ref_count_init (&tone->references_);
      g_hash_table_insert (tables, g_steal_pointer (&key), tone);
    }
  g_mutex_unlock (&lock);
  return tone;
}

static gboolean
is_value (gpointer key, gpointer value, gpointer tone)
{
  return value == tone;
}

void
sb_tone_unref (const SbTone *tone)
{
  if (tone == NULL)
    return;

  SbTone *ours = (SbTone *)tone;
  g_mutex_lock (&lock);
  const gboolean last = g_ref_count_dec (&ours->references_);
  if (last)
    g_hash_table_foreach_remove (tables, is_value, ours);
  g_mutex_unlock (&lock);
  if (last)
    g_free (ours);
}
