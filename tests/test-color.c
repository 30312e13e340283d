/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-color.h"
#include "sb-engine.h"
#include "sb-error.h"
#include "sb-isa.h"

#include "engine.h"

#include <lcms2.h>
#include <math.h>
#include <string.h>

/* How colours of a profile reach the screen: the table against lcms2, and what is shown against the
 * table. */

#define WIDTH  600
#define HEIGHT 64

static const SbView plain = {
  .what = SB_SHOW_RESULT,
  .width = WIDTH + 1,
  .height = HEIGHT,
  .zoom = 1,
  .checker_size = 8,
  .ground = { 40, 41, 42 },
  .checker = { { 102, 103, 104 }, { 153, 152, 151 } },
};

/* Noise in stripes, so that neighbours differ and dark tones are not rare; every kind of alpha. */
static SbImage *
make_picture (guint depth, gboolean alpha, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (WIDTH, HEIGHT, depth, &error);
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;

  g_assert_no_error (error);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    for (guint c = 0; c < 4; c++)
      {
        const guint part = i % WIDTH / 16 % 4;
        guint v = g_rand_int (rand) & 0xffff;
        if (c == 3)
          v = !alpha || part == 0 ? 65535 : part == 1 ? 0 : v;
        else if (part == 3)
          v /= 16;
        if (depth == 16)
          p16[4 * i + c] = (guint16)v;
        else
          p8[4 * i + c] = (guint8)(v >> 8);
      }
  return image;
}

static double
sample (SbImage *image, gsize x, gsize y, guint c)
{
  const gsize i = 4 * (y * WIDTH + x) + c;
  const guint8 *pixels = sb_image_get_pixels (image);

  return sb_image_get_depth (image) == 8 ? pixels[i] / 255.0
                                         : ((const guint16 *)pixels)[i] / 65535.0;
}

/* The premultiplied mean of a square. */
static void
mean (SbImage *image, gsize x0, gsize y0, gsize side, double sum[4])
{
  memset (sum, 0, 4 * sizeof *sum);
  for (gsize y = y0; y < y0 + side; y++)
    for (gsize x = x0; x < x0 + side; x++)
      {
        const double a = sample (image, x, y, 3) / (double)(side * side);
        for (guint c = 0; c < 3; c++)
          sum[c] += a * sample (image, x, y, c);
        sum[3] += a;
      }
}

static cmsHPROFILE
make_profile (const double primaries[6], double gamma)
{
  const cmsCIExyY white = { 0.3127, 0.3290, 1 };
  const cmsCIExyYTRIPLE xyY = { { primaries[0], primaries[1], 1 },
                                { primaries[2], primaries[3], 1 },
                                { primaries[4], primaries[5], 1 } };
  const double srgb[5] = { 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045 };
  cmsToneCurve *curve
      = gamma > 0 ? cmsBuildGamma (NULL, gamma) : cmsBuildParametricToneCurve (NULL, 4, srgb);
  cmsHPROFILE profile
      = cmsCreateRGBProfile (&white, &xyY, (cmsToneCurve *[]){ curve, curve, curve });

  cmsFreeToneCurve (curve);
  return profile;
}

static GBytes *
save_profile (cmsHPROFILE profile)
{
  cmsUInt32Number n = 0;

  g_assert_true (cmsSaveProfileToMem (profile, NULL, &n));
  guint8 *data = g_malloc (n);
  g_assert_true (cmsSaveProfileToMem (profile, data, &n));
  cmsCloseProfile (profile);
  return g_bytes_new_take (data, n);
}

static const double display_p3[6] = { 0.680, 0.320, 0.265, 0.690, 0.150, 0.060 };
static const double adobe_rgb[6] = { 0.64, 0.33, 0.21, 0.71, 0.15, 0.06 };
static const double prophoto[6] = { 0.7347, 0.2653, 0.1596, 0.8404, 0.0366, 0.0001 };
static const double rec_2020[6] = { 0.708, 0.292, 0.170, 0.797, 0.131, 0.046 };
static const double bt_709[6] = { 0.64, 0.33, 0.30, 0.60, 0.15, 0.06 };
/* Red stands for green, green for blue, blue for red. */
static const double swapped[6] = { 0.30, 0.60, 0.15, 0.06, 0.64, 0.33 };

static const struct
{
  const char *name;
  const double *primaries;
  double gamma; /* 0: sRGB's curve */
} spaces[] = {
  { "Display P3", display_p3, 0 }, { "Adobe RGB", adobe_rgb, 563 / 256.0 },
  { "ProPhoto", prophoto, 1.8 },   { "Rec. 2020", rec_2020, 0 },
  { "swapped", swapped, 0 },       { "linear light", bt_709, 1 },
  { "gamma 1.8", bt_709, 1.8 },
};

static cmsInt32Number
to_lab (const cmsUInt16Number in[], cmsUInt16Number out[], void *transform)
{
  cmsDoTransform (transform, in, out, 1);
  return TRUE;
}

/* The same colours said with a table of 25 points each way instead of a matrix, as profiles of
 * scanners and measured screens do. */
static cmsHPROFILE
make_table_profile (const double primaries[6], double gamma)
{
  cmsHPROFILE matrix = make_profile (primaries, gamma);
  cmsHPROFILE lab = cmsCreateLab4Profile (NULL);
  cmsHTRANSFORM transform
      = cmsCreateTransform (matrix, TYPE_RGB_16, lab, TYPE_LabV2_16, INTENT_RELATIVE_COLORIMETRIC,
                            cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
  cmsPipeline *pipeline = cmsPipelineAlloc (NULL, 3, 3);
  cmsStage *table = cmsStageAllocCLut16bit (NULL, 25, 3, 3, NULL);
  cmsHPROFILE profile = cmsCreateProfilePlaceholder (NULL);

  g_assert_true (cmsStageSampleCLut16bit (table, to_lab, transform, 0));
  g_assert_true (cmsPipelineInsertStage (pipeline, cmsAT_END, table));
  cmsSetProfileVersion (profile, 2.4);
  cmsSetDeviceClass (profile, cmsSigDisplayClass);
  cmsSetColorSpace (profile, cmsSigRgbData);
  cmsSetPCS (profile, cmsSigLabData);
  g_assert_true (cmsWriteTag (profile, cmsSigMediaWhitePointTag, cmsD50_XYZ ()));
  g_assert_true (cmsWriteTag (profile, cmsSigAToB0Tag, pipeline));
  cmsPipelineFree (pipeline);
  cmsDeleteTransform (transform);
  cmsCloseProfile (lab);
  cmsCloseProfile (matrix);
  return profile;
}

/* One picture, shown at 1:1 and halved: the table applied to the mean of what a pixel covers. */
static void
check_shown (SbEngine *engine, SbImage *image, const SbColorTable *table)
{
  const gsize stride = 4 * (gsize)plain.width;
  g_autofree guint8 *shot = g_malloc (stride * HEIGHT);
  const gboolean flat = sb_image_get_depth (image) == 8 && sb_image_is_opaque (image);

  for (guint halved = 0; halved < 2; halved++)
    {
      g_autoptr (GError) error = NULL;
      SbView view = plain;
      view.zoom = halved ? 0.5 : 1;
      sb_engine_show_host (engine, &view, shot, stride, &error);
      g_assert_no_error (error);
      for (guint j = 0; j < HEIGHT >> halved; j++)
        for (guint i = 0; i < WIDTH >> halved; i++)
          {
            const guint8 *ground
                = view.checker[(i / view.checker_size + j / view.checker_size) % 2];
            double sum[4];
            guint16 in[3], out[3];
            mean (image, i << halved, j << halved, 1 << halved, sum);
            for (guint c = 0; c < 3; c++)
              {
                double v = sum[3] > 0 ? sum[c] / sum[3] : 0;
                if (halved && flat) /* the level has 8 bits, as the picture has */
                  v = floor (v * 255 + 0.5 + 1e-6) / 255;
                in[c] = (guint16)floor (v * 65535 + 0.5);
              }
            sb_color_table_apply (table, in, out);
            for (guint c = 0; c < 3; c++)
              {
                const double right = out[c] / 257.0 * sum[3] + (1 - sum[3]) * ground[c];
                g_assert_cmpfloat (fabs (shot[j * stride + 4 * i + c] - right), <=, 1.0);
              }
          }
    }
}

static void
check_spaces (SbEngine *engine)
{
  /* And Adobe RGB said with a table. */
  for (guint s = 0; s <= G_N_ELEMENTS (spaces); s++)
    for (guint kind = 0; kind < 4; kind++)
      {
        g_autoptr (GBytes) profile = save_profile (
            s < G_N_ELEMENTS (spaces) ? make_profile (spaces[s].primaries, spaces[s].gamma)
                                      : make_table_profile (adobe_rgb, 563 / 256.0));
        SbColorTable *table = sb_color_table_new (profile);
        g_autoptr (SbImage) image = make_picture ((kind & 1) ? 16 : 8, (kind & 2) != 0, kind);
        g_autoptr (GError) error = NULL;

        g_assert_nonnull (table);
        g_assert_cmpint (table->is_matrix, ==, s < G_N_ELEMENTS (spaces));
        sb_image_set_profile (image, profile);
        sb_engine_load (engine, image, &error);
        g_assert_no_error (error);
        check_shown (engine, image, table);
        sb_color_table_unref (table);
      }
}

static void
test_shown (gconstpointer data)
{
  sb_isa_force (GPOINTER_TO_UINT (data));
  g_autoptr (SbEngine) engine = sb_test_open_engine ();

  check_spaces (engine);
}

/* The same where a CUDA device shows. */
static void
test_shown_by_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ SB_DEVICE_CUDA, 0, 2 }, &error);

  if (engine == NULL)
    {
      g_assert_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE);
      g_test_skip (error->message);
      return;
    }
  check_spaces (engine);
}

/* A profile's table of any kind, opened from its bytes as a file's is. */
static cmsHPROFILE
reopen (cmsHPROFILE profile)
{
  g_autoptr (GBytes) bytes = save_profile (profile);
  gsize n = 0;
  const void *data = g_bytes_get_data (bytes, &n);

  return cmsOpenProfileFromMem (data, (cmsUInt32Number)n);
}

/* The table and the curves around it come near to what lcms2 makes of each colour by itself: where
 * the profile is a matrix nobody could tell them apart, else to a few levels at worst. */
static void
check_table (const char *name, cmsHPROFILE from, double mean_limit, double limit, double grey_limit)
{
  cmsHPROFILE to = cmsCreate_sRGBProfile ();
  cmsHTRANSFORM exact = cmsCreateTransform (
      from, TYPE_RGB_16, to, TYPE_RGB_16, INTENT_RELATIVE_COLORIMETRIC,
      cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
  g_autoptr (GBytes) profile = save_profile (from);
  SbColorTable *table = sb_color_table_new (profile);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  double total = 0, worst = 0;
  guint n = 0, far = 0;

  g_assert_nonnull (table);
  for (guint round = 0; round < 20000; round++)
    {
      guint16 in[3], shown[3], right[3];
      for (guint c = 0; c < 3; c++)
        in[c] = (guint16)(round < 256 ? round * 257 : g_rand_int (rand));
      cmsDoTransform (exact, in, right, 1);
      sb_color_table_apply (table, in, shown);
      for (guint c = 0; c < 3; c++)
        {
          const double off = abs ((int)shown[c] - (int)right[c]) / 257.0;
          far += off > 0.5;
          worst = MAX (worst, off);
          if (off > limit)
            g_error ("%s: %u %u %u is shown as %u %u %u, not %u %u %u", name, in[0], in[1], in[2],
                     shown[0], shown[1], shown[2], right[0], right[1], right[2]);
          total += off;
          n++;
        }
      if (round < 256) /* a grey stays one */
        for (guint c = 1; c < 3; c++)
          g_assert_cmpfloat (abs ((int)shown[c] - (int)shown[0]) / 257.0, <=, grey_limit);
    }
  g_test_message ("%s: off by %.3f levels in the mean, %.2f at worst, %.2f %% by more than half",
                  name, total / n, worst, 100.0 * far / n);
  g_assert_cmpfloat (total / n, <, mean_limit);
  sb_color_table_unref (table);
  cmsDeleteTransform (exact);
  cmsCloseProfile (to);
}

static void
test_color_table (void)
{
  for (guint s = 0; s < G_N_ELEMENTS (spaces); s++)
    check_table (spaces[s].name, make_profile (spaces[s].primaries, spaces[s].gamma), 0.02, 0.25,
                 0.25);
}

static void
test_tables_of_others (void)
{
  for (guint s = 0; s < 4; s++)
    check_table (spaces[s].name, reopen (make_table_profile (spaces[s].primaries, spaces[s].gamma)),
                 1, 100, 100);
}

/* Nothing is done for what is sRGB already, or is no profile of RGB. */
static void
test_no_color_table (void)
{
  g_autoptr (GBytes) srgb = save_profile (cmsCreate_sRGBProfile ());
  g_autoptr (GBytes) lab = save_profile (cmsCreateLab4Profile (NULL));
  g_autoptr (GBytes) junk = g_bytes_new_static ("no profile at all", 17);
  g_autoptr (GBytes) cut = g_bytes_new_from_bytes (srgb, 0, g_bytes_get_size (srgb) / 2);

  g_assert_null (sb_color_table_new (NULL));
  g_assert_null (sb_color_table_new (srgb));
  g_assert_null (sb_color_table_new (lab));
  g_assert_null (sb_color_table_new (junk));
  SbColorTable *half = sb_color_table_new (cut); /* what there is of it, or nothing */
  sb_color_table_unref (half);
}

/* A colour that is picked is the picture's own. */
static void
test_picked (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = make_picture (16, FALSE, 9);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) profile = save_profile (make_profile (swapped, 0));
  guint16 rgba[4];

  sb_image_set_profile (image, profile);
  sb_engine_load (engine, image, &error);
  g_assert_no_error (error);
  g_assert_true (sb_engine_pick (engine, SB_SHOW_RESULT, 7, 3, rgba));
  g_assert_cmpmem (rgba, 8, sb_image_get_pixels (image) + 8 * (3 * WIDTH + 7), 8);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/color/table", test_color_table);
  g_test_add_func ("/color/table-of-table", test_tables_of_others);
  g_test_add_func ("/color/no-table", test_no_color_table);
  g_test_add_func ("/color/picked", test_picked);
  for (guint isa = 0; isa < SB_N_ISAS; isa++)
    if (sb_isa_is_available (isa))
      {
        g_autofree char *path = g_strdup_printf ("/color/shown/%s", sb_isa_name (isa));
        g_test_add_data_func (path, GUINT_TO_POINTER (isa), test_shown);
      }
  g_test_add_func ("/color/shown/cuda", test_shown_by_device);
  return g_test_run ();
}
