/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <glib/gi18n-lib.h>
#include <lcms2.h>
#include <math.h>
#include <string.h>

/* lcms2 writes the time of day into a profile that it makes; the same picture must give the same
 * bytes, so a made profile says 1 January 2000 (ICC.1:2010, 7.2.1: bytes 24 to 35 of the header).
 */
#define DATE_OFFSET 24
static const guint8 fixed_date[12] = { 2000 >> 8, 2000 & 0xff, 0, 1, 0, 1 };

/* Real profiles are some kB to some MB. */
#define MAX_PROFILE ((gsize)64 << 20)

/* A context of its own for each use: lcms2's error log of the default one is global. */
static cmsHPROFILE
open_profile (cmsContext context, GBytes *profile)
{
  gsize n = 0;
  const guint8 *data = g_bytes_get_data (profile, &n);

  /* The size that the header claims, the signature, and a 4-byte grid (ICC.1:2010, 7.2): readers
   * are strict about these, so that such a profile would not survive an export. */
  if (n < 132 || n > MAX_PROFILE || memcmp (data + 36, "acsp", 4) != 0)
    return NULL;
  const guint32 claimed
      = (guint32)data[0] << 24 | (guint32)data[1] << 16 | (guint32)data[2] << 8 | data[3];
  if (claimed != n)
    return NULL;
  return cmsOpenProfileFromMemTHR (context, data, (cmsUInt32Number)n);
}

static gboolean
can_reach_srgb (cmsContext context, cmsHPROFILE from, cmsUInt32Number format)
{
  cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR (context);
  cmsHTRANSFORM transform
      = srgb != NULL ? cmsCreateTransformTHR (context, from, format, srgb, TYPE_RGB_8,
                                              INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_NOOPTIMIZE)
                     : NULL;
  const gboolean can = transform != NULL;

  if (transform != NULL)
    cmsDeleteTransform (transform);
  if (srgb != NULL)
    cmsCloseProfile (srgb);
  return can;
}

gboolean
sb_profile_is_rgb (GBytes *profile)
{
  cmsContext context = cmsCreateContext (NULL, NULL);
  cmsHPROFILE handle = open_profile (context, profile);
  gboolean is = FALSE;

  if (handle != NULL)
    {
      const cmsProfileClassSignature class = cmsGetDeviceClass (handle);
      is = cmsGetColorSpace (handle) == cmsSigRgbData && class != cmsSigLinkClass
           && class != cmsSigAbstractClass && class != cmsSigNamedColorClass
           && can_reach_srgb (context, handle, TYPE_RGB_8);
      cmsCloseProfile (handle);
    }
  cmsDeleteContext (context);
  return is;
}

static GBytes *
save_profile (cmsHPROFILE handle)
{
  cmsUInt32Number n = 0;

  if (!cmsSaveProfileToMem (handle, NULL, &n) || n < 128)
    return NULL;
  guint8 *data = g_malloc (n);
  if (!cmsSaveProfileToMem (handle, data, &n))
    {
      g_free (data);
      return NULL;
    }
  memcpy (data + DATE_OFFSET, fixed_date, sizeof fixed_date);
  return g_bytes_new_take (data, n);
}

static void
set_description (cmsContext context, cmsHPROFILE handle, const char *text)
{
  cmsMLU *mlu = cmsMLUalloc (context, 1);

  if (mlu == NULL)
    return;
  cmsMLUsetASCII (mlu, "en", "US", text);
  cmsWriteTag (handle, cmsSigProfileDescriptionTag, mlu);
  cmsMLUfree (mlu);
}

/* chromaticities: white, red, green, blue. */
static GBytes *
make_rgb (cmsContext context, const cmsToneCurve *curve, const double *chromaticities,
          const char *description)
{
  const cmsCIExyY white = { chromaticities[0], chromaticities[1], 1 };
  const cmsCIExyYTRIPLE primaries = { { chromaticities[2], chromaticities[3], 1 },
                                      { chromaticities[4], chromaticities[5], 1 },
                                      { chromaticities[6], chromaticities[7], 1 } };
  cmsToneCurve *const curves[3]
      = { (cmsToneCurve *)curve, (cmsToneCurve *)curve, (cmsToneCurve *)curve };
  cmsHPROFILE handle = cmsCreateRGBProfileTHR (context, &white, &primaries, curves);
  GBytes *profile = NULL;

  if (handle != NULL)
    {
      set_description (context, handle, description);
      profile = save_profile (handle);
      cmsCloseProfile (handle);
    }
  return profile;
}

/* IEC 61966-2-1: D65 and the primaries of BT.709. */
static const double srgb_chromaticities[8] = { 0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06 };

GBytes *
sb_profile_from_grey (GBytes *profile)
{
  cmsContext context = cmsCreateContext (NULL, NULL);
  cmsHPROFILE handle = open_profile (context, profile);
  GBytes *spread = NULL;

  if (handle != NULL)
    {
      if (cmsGetColorSpace (handle) == cmsSigGrayData
          && can_reach_srgb (context, handle, TYPE_GRAY_8))
        {
          const cmsToneCurve *curve = cmsReadTag (handle, cmsSigGrayTRCTag);
          if (curve != NULL)
            spread
                = make_rgb (context, curve, srgb_chromaticities, "RGB with a gray profile's curve");
        }
      cmsCloseProfile (handle);
    }
  cmsDeleteContext (context);
  return spread;
}

GBytes *
sb_profile_from_gamma (double gamma, const double *chromaticities)
{
  if (!(gamma >= 0.1 && gamma <= 10.0))
    return NULL;
  if (chromaticities == NULL)
    chromaticities = srgb_chromaticities;
  for (guint i = 0; i < 8; i++)
    if (!(chromaticities[i] >= 0 && chromaticities[i] <= 1) || chromaticities[i | 1] <= 0)
      return NULL;

  cmsContext context = cmsCreateContext (NULL, NULL);
  cmsToneCurve *curve = cmsBuildGamma (context, 1.0 / gamma);
  GBytes *profile = NULL;
  if (curve != NULL)
    {
      g_autofree char *description = g_strdup_printf ("RGB with gamma %.2f", 1.0 / gamma);
      profile = make_rgb (context, curve, chromaticities, description);
      cmsFreeToneCurve (curve);
    }
  cmsDeleteContext (context);
  if (profile != NULL && !sb_profile_is_rgb (profile))
    g_clear_pointer (&profile, g_bytes_unref);
  return profile;
}

char *
sb_profile_describe (GBytes *profile)
{
  enum
  {
    LONGEST = 128
  };
  cmsContext context = cmsCreateContext (NULL, NULL);
  cmsHPROFILE handle = open_profile (context, profile);
  wchar_t wide[LONGEST + 1] = { 0 };
  char *text = NULL;

  if (handle != NULL)
    {
      if (cmsGetProfileInfo (handle, cmsInfoDescription, "en", "US", wide, sizeof wide) > 0)
        {
          GString *string = g_string_new (NULL);
          for (guint i = 0; i < LONGEST && wide[i] != 0; i++)
            if (g_unichar_validate ((gunichar)wide[i]))
              g_string_append_unichar (
                  string, g_unichar_isprint ((gunichar)wide[i]) ? (gunichar)wide[i] : ' ');
          text = g_strstrip (g_string_free (string, FALSE));
        }
      cmsCloseProfile (handle);
    }
  cmsDeleteContext (context);
  if (text == NULL || *text == '\0')
    {
      g_free (text);
      text = g_strdup (_ ("Unnamed profile"));
    }
  return text;
}
