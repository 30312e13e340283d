/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-tone.h"

#include <lcms2.h>
#include <math.h>
#include <string.h>

#define LAST 65535

typedef double (*Curve) (double x);

static double
srgb (double x)
{
  return x <= 0.04045 ? x / 12.92 : pow ((x + 0.055) / 1.055, 2.4);
}

/* A profile holds numbers in steps of 1/65536 (ICC's s15Fixed16). */
static double
gamma22 (double x)
{
  return MAX (pow (x, round (2.2 * 65536) / 65536), x / 32);
}

static double
linear (double x)
{
  return x;
}

/* Steps down in the middle, and flat: what a table may hold but no curve should. */
static const guint16 odd_table[5] = { 0, 30000, 20000, 20000, 60000 };

static double
odd (double x)
{
  const double at = x * 4;

  if (at <= 1)
    return MAX (30000 * at / LAST, x / 32);
  if (at <= 3.25) /* the rise from 20000 to 60000 passes 30000 a quarter of the way */
    return 30000.0 / LAST;
  return (20000 + 40000 * (at - 3)) / LAST;
}

static GBytes *
profile_new (cmsToneCurve *red, cmsToneCurve *green, cmsToneCurve *blue)
{
  const cmsCIExyY white = { 0.3127, 0.3290, 1 };
  const cmsCIExyYTRIPLE primaries = { { 0.64, 0.33, 1 }, { 0.30, 0.60, 1 }, { 0.15, 0.06, 1 } };
  cmsToneCurve *const curves[3] = { red, green, blue };
  cmsHPROFILE handle = cmsCreateRGBProfile (&white, &primaries, curves);
  cmsUInt32Number n = 0;

  g_assert_nonnull (handle);
  g_assert_true (cmsSaveProfileToMem (handle, NULL, &n));
  guint8 *data = g_malloc (n);
  g_assert_true (cmsSaveProfileToMem (handle, data, &n));
  cmsCloseProfile (handle);
  return g_bytes_new_take (data, n);
}

static GBytes *
profile_of (cmsToneCurve *curve)
{
  GBytes *profile = profile_new (curve, curve, curve);

  cmsFreeToneCurve (curve);
  return profile;
}

/* One channel against the definition: decode for every u, encode by trying every u for some v, and
 * by its neighbours for all (with f rising, what is nearer than both different neighbours is
 * nearest of all). */
static void
check (const SbTone *tone, guint c, Curve curve)
{
  g_autofree double *f = g_new (double, LAST + 1);

  for (guint u = 0; u <= LAST; u++)
    {
      f[u] = LAST * curve ((double)u / LAST);
      g_assert_cmpuint (tone->decode[c][u], ==, (guint)floor (f[u] + 0.5));
    }
  for (guint v = 0; v <= LAST; v += v % 4096 < 64 || v > LAST - 64 ? 1 : 61)
    {
      guint nearest = 0;
      for (guint u = 1; u <= LAST; u++)
        if (fabs (f[u] - v) < fabs (f[nearest] - v))
          nearest = u;
      g_assert_cmpuint (tone->encode[c][v], ==, nearest);
    }
  for (guint v = 0; v <= LAST; v++)
    {
      const guint u = tone->encode[c][v];
      const double distance = fabs (f[u] - v);
      guint next = u;
      while (next < LAST && f[next] == f[u])
        next++;
      g_assert_true (u == 0 || fabs (f[u - 1] - v) > distance);
      g_assert_true (f[next] == f[u] || fabs (f[next] - v) >= distance);
      g_assert_cmpuint (tone->encode8[c][v], ==, (2 * u + 257) / 514);
    }
  for (guint u = 0; u < 256; u++)
    g_assert_cmpuint (tone->decode8[c][u], ==, tone->decode[c][257 * u]);
}

/* All values of 8 bits come back. */
static void
check_survival (const SbTone *tone)
{
  for (guint c = 0; c < 3; c++)
    for (guint u = 0; u < 256; u++)
      {
        g_assert_cmpuint (tone->encode8[c][tone->decode[c][257 * u]], ==, u);
        g_assert_cmpuint (tone->encode8[c][tone->decode8[c][u]], ==, u);
      }
}

static void
test_srgb (void)
{
  const SbTone *tone = sb_tone_new (NULL);

  g_assert_true (tone->same);
  for (guint c = 0; c < 3; c++)
    check (tone, c, srgb);
  check_survival (tone);
  /* Worked out by hand from IEC 61966-2-1. */
  g_assert_cmpuint (tone->decode8[0][0], ==, 0);
  g_assert_cmpuint (tone->decode8[0][1], ==, 20);      /* 65535/255/12.92 = 19.89 */
  g_assert_cmpuint (tone->decode8[1][10], ==, 199);    /* 198.92 */
  g_assert_cmpuint (tone->decode8[2][128], ==, 14146); /* 0.2158605 */
  g_assert_cmpuint (tone->decode8[0][255], ==, 65535);
  g_assert_cmpuint (tone->encode8[0][32768], ==, 188); /* 0.7353570 * 255 = 187.5 and more */
  sb_tone_unref (tone);
}

static void
test_gamma (void)
{
  g_autoptr (GBytes) profile = profile_of (cmsBuildGamma (NULL, 2.2));
  const SbTone *tone = sb_tone_new (profile);

  g_assert_true (tone->same);
  check (tone, 0, gamma22);
  check_survival (tone);
  /* Near black the limit x/32 holds: 257/32 and 514/32. */
  g_assert_cmpuint (tone->decode8[0][1], ==, 8);
  g_assert_cmpuint (tone->decode8[0][2], ==, 16);
  sb_tone_unref (tone);
}

static void
test_linear (void)
{
  g_autoptr (GBytes) profile = profile_of (cmsBuildGamma (NULL, 1.0));
  const SbTone *tone = sb_tone_new (profile);

  check (tone, 1, linear);
  for (guint v = 0; v <= LAST; v++)
    {
      g_assert_cmpuint (tone->decode[0][v], ==, v);
      g_assert_cmpuint (tone->encode[2][v], ==, v);
    }
  check_survival (tone);
  sb_tone_unref (tone);
}

/* ICC's function 3 with sRGB's numbers is sRGB, up to what 16 bits after the point can say. */
static void
test_parametric (void)
{
  const double numbers[5] = { 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045 };
  g_autoptr (GBytes) profile = profile_of (cmsBuildParametricToneCurve (NULL, 4, numbers));
  const SbTone *tone = sb_tone_new (profile);
  const SbTone *exact = sb_tone_new (NULL);

  for (guint u = 0; u <= LAST; u++)
    g_assert_cmpint (ABS (tone->decode[0][u] - exact->decode[0][u]), <=, 2);
  check_survival (tone);
  sb_tone_unref (tone);
  sb_tone_unref (exact);
}

static void
test_table (void)
{
  g_autoptr (GBytes) profile = profile_of (cmsBuildTabulatedToneCurve16 (NULL, 5, odd_table));
  const SbTone *tone = sb_tone_new (profile);

  check (tone, 0, odd);
  g_assert_cmpuint (tone->decode[0][LAST], ==, 60000);
  g_assert_cmpuint (tone->encode[0][65535], ==, LAST);
  sb_tone_unref (tone);
}

static void
test_channels (void)
{
  cmsToneCurve *a = cmsBuildGamma (NULL, 1.0);
  cmsToneCurve *b = cmsBuildGamma (NULL, 2.2);
  cmsToneCurve *c = cmsBuildTabulatedToneCurve16 (NULL, 5, odd_table);
  g_autoptr (GBytes) profile = profile_new (a, b, c);
  const SbTone *tone = sb_tone_new (profile);

  g_assert_false (tone->same);
  check (tone, 0, linear);
  check (tone, 1, gamma22);
  check (tone, 2, odd);
  sb_tone_unref (tone);
  cmsFreeToneCurve (a);
  cmsFreeToneCurve (b);
  cmsFreeToneCurve (c);
}

/* What has no curves for red, green and blue is taken for sRGB. */
static void
test_unusable (void)
{
  cmsToneCurve *curve = cmsBuildGamma (NULL, 1.0);
  cmsHPROFILE handle = cmsCreateGrayProfile (cmsD50_xyY (), curve);
  cmsUInt32Number n = 0;
  g_assert_true (cmsSaveProfileToMem (handle, NULL, &n));
  guint8 *data = g_malloc (n);
  g_assert_true (cmsSaveProfileToMem (handle, data, &n));
  cmsCloseProfile (handle);
  cmsFreeToneCurve (curve);

  g_autoptr (GBytes) grey = g_bytes_new_take (data, n);
  g_autoptr (GBytes) noise = g_bytes_new_static ("not a profile at all", 20);
  g_autoptr (GBytes) nothing = g_bytes_new_static ("", 0);
  GBytes *profiles[] = { grey, noise, nothing };
  const SbTone *exact = sb_tone_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    {
      const SbTone *tone = sb_tone_new (profiles[i]);
      g_assert_true (tone->same);
      g_assert_cmpmem (tone->decode, sizeof tone->decode, exact->decode, sizeof exact->decode);
      g_assert_cmpmem (tone->encode, sizeof tone->encode, exact->encode, sizeof exact->encode);
      sb_tone_unref (tone);
    }
  sb_tone_unref (exact);
}

static gpointer
take (gpointer data)
{
  return (gpointer)sb_tone_new (data);
}

static void
test_shared (void)
{
  g_autoptr (GBytes) profile = profile_of (cmsBuildGamma (NULL, 1.8));
  g_autoptr (GBytes) copy
      = g_bytes_new (g_bytes_get_data (profile, NULL), g_bytes_get_size (profile));
  const SbTone *first = sb_tone_new (profile);
  GThread *threads[4];

  for (guint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("take", take, copy);
  for (guint i = 0; i < 4; i++)
    {
      const SbTone *tone = g_thread_join (threads[i]);
      g_assert_true (tone == first);
      sb_tone_unref (tone);
    }
  sb_tone_unref (first);
  sb_tone_unref (NULL);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tone/srgb", test_srgb);
  g_test_add_func ("/tone/gamma", test_gamma);
  g_test_add_func ("/tone/linear", test_linear);
  g_test_add_func ("/tone/parametric", test_parametric);
  g_test_add_func ("/tone/table", test_table);
  g_test_add_func ("/tone/channels", test_channels);
  g_test_add_func ("/tone/unusable", test_unusable);
  g_test_add_func ("/tone/shared", test_shared);
  return g_test_run ();
}
