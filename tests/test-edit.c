/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <math.h>
#include <string.h>

#include <glib.h>

#include "sb-edit.h"
#include "sb-error.h"

static void
test_table (void)
{
  const SbEditClass *blur = sb_edit_class (SB_EDIT_BLUR);
  const struct
  {
    const char *key;
    double minimum, maximum, initial, quantum;
  } expected[] = {
    { "radius", 0, 2000, 14, 0.0625 }, { "passes", 1, 10, 3, 1 },
    { "linear", 0, 1, 1, 1 },          { "edge", 0, 1, 0, 1 },
    { "direction", 0, 2, 0, 1 },
  };

  g_assert_cmpstr (blur->key, ==, "blur");
  g_assert_cmpuint (blur->n_parameters, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < blur->n_parameters; i++)
    {
      g_assert_cmpstr (blur->parameters[i].key, ==, expected[i].key);
      g_assert_cmpfloat (blur->parameters[i].minimum, ==, expected[i].minimum);
      g_assert_cmpfloat (blur->parameters[i].maximum, ==, expected[i].maximum);
      g_assert_cmpfloat (blur->parameters[i].initial, ==, expected[i].initial);
      g_assert_cmpfloat (blur->parameters[i].quantum, ==, expected[i].quantum);
    }
  g_assert_cmpstr (blur->parameters[SB_BLUR_EDGE].choice_labels[SB_EDGE_CLAMP], ==, "Extend");
  g_assert_cmpstr (blur->parameters[SB_BLUR_EDGE].choice_labels[SB_EDGE_MIRROR], ==, "Mirror");
  for (guint i = 0; i < blur->n_parameters; i++)
    {
      const SbParameter *parameter = &blur->parameters[i];

      if (parameter->type == SB_PARAMETER_CHOICE)
        {
          g_assert_cmpuint (g_strv_length ((char **)parameter->choices), ==,
                            (guint)parameter->maximum + 1);
          g_assert_cmpuint (g_strv_length ((char **)parameter->choice_labels), ==,
                            (guint)parameter->maximum + 1);
        }
    }
}

static void
test_slider (void)
{
  const SbParameter *radius = &sb_edit_class (SB_EDIT_BLUR)->parameters[SB_BLUR_RADIUS];
  const SbParameter *passes = &sb_edit_class (SB_EDIT_BLUR)->parameters[SB_BLUR_PASSES];
  double last = -1;

  g_assert_cmpfloat (sb_parameter_to_slider (radius, 0), ==, 0);
  g_assert_cmpfloat (sb_parameter_to_slider (radius, 20), ==, 1.0 / 3);
  g_assert_cmpfloat (sb_parameter_to_slider (radius, 2000), ==, 1);
  g_assert_cmpfloat (sb_parameter_from_slider (radius, 0), ==, 0);
  g_assert_cmpfloat (sb_parameter_from_slider (radius, 1.0 / 3), ==, 20);
  g_assert_cmpfloat (sb_parameter_from_slider (radius, 1), ==, 2000);
  g_assert_cmpfloat (sb_parameter_from_slider (radius, -1), ==, 0);
  g_assert_cmpfloat (sb_parameter_from_slider (radius, 2), ==, 2000);
  g_assert_cmpfloat (sb_parameter_from_slider (radius, NAN), ==, 0);

  /* Every allowed radius has its own place, later than the one before, and comes back from it. */
  for (guint i = 0; i <= 32000; i++)
    {
      double value = i / 16.0;
      double position = sb_parameter_to_slider (radius, value);

      g_assert_cmpfloat (position, >, last);
      g_assert_cmpfloat (position, <=, 1);
      g_assert_cmpfloat (sb_parameter_from_slider (radius, position), ==, value);
      last = position;
    }

  /* No kink: the slope does not jump where the pieces meet. */
  double before = sb_parameter_to_slider (radius, 20) - sb_parameter_to_slider (radius, 19.9);
  double after = sb_parameter_to_slider (radius, 20.1) - sb_parameter_to_slider (radius, 20);

  g_assert_cmpfloat_with_epsilon (before, after, before * 0.001);

  g_assert_cmpfloat (sb_parameter_from_slider (passes, 0.5), ==, 6);
  for (guint i = 1; i <= 10; i++)
    g_assert_cmpfloat (sb_parameter_from_slider (passes, sb_parameter_to_slider (passes, i)), ==,
                       i);
}

static void
test_clamp (void)
{
  const SbParameter *radius = &sb_edit_class (SB_EDIT_BLUR)->parameters[SB_BLUR_RADIUS];
  const SbParameter *passes = &sb_edit_class (SB_EDIT_BLUR)->parameters[SB_BLUR_PASSES];

  g_assert_cmpfloat (sb_parameter_clamp (radius, -3), ==, 0);
  g_assert_cmpfloat (sb_parameter_clamp (radius, 1e9), ==, 2000);
  g_assert_cmpfloat (sb_parameter_clamp (radius, INFINITY), ==, 2000);
  g_assert_cmpfloat (sb_parameter_clamp (radius, NAN), ==, 14);
  g_assert_cmpfloat (sb_parameter_clamp (radius, 2.53), ==, 2.5);
  g_assert_cmpfloat (sb_parameter_clamp (radius, 2.5 + 1.0 / 32), ==, 2.5625);
  g_assert_cmpfloat (sb_parameter_clamp (radius, 0.03), ==, 0);
  g_assert_cmpfloat (sb_parameter_clamp (passes, 0), ==, 1);
  g_assert_cmpfloat (sb_parameter_clamp (passes, 2.5), ==, 3);
}

/* --- Texts ----------------------------------------------------------------------------------- */

static void
test_parse (void)
{
  SbEdit edit, initial;
  g_autoptr (GError) error = NULL;

  sb_edit_init (&initial, SB_EDIT_BLUR);
  g_assert_true (sb_edit_parse ("blur", &edit, &error));
  g_assert_no_error (error);
  g_assert_true (sb_edit_equal (&edit, &initial));
  g_assert_cmpfloat (edit.values[SB_BLUR_RADIUS], ==, 14);
  g_assert_cmpfloat (edit.values[SB_BLUR_PASSES], ==, 3);
  g_assert_cmpfloat (edit.values[SB_BLUR_LINEAR], ==, 1);
  g_assert_cmpint (edit.area.shape, ==, SB_AREA_WHOLE);

  g_assert_true (sb_edit_parse ("blur:invert=1,direction=vertical,passes=10,feather=500,"
                                "area=ellipse:-5:6:70:8,edge=mirror,linear=0,radius=2.53",
                                &edit, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (edit.values[SB_BLUR_RADIUS], ==, 2.5);
  g_assert_cmpfloat (edit.values[SB_BLUR_PASSES], ==, 10);
  g_assert_cmpfloat (edit.values[SB_BLUR_LINEAR], ==, 0);
  g_assert_cmpfloat (edit.values[SB_BLUR_EDGE], ==, SB_EDGE_MIRROR);
  g_assert_cmpfloat (edit.values[SB_BLUR_DIRECTION], ==, SB_DIRECTION_VERTICAL);
  g_assert_cmpint (edit.area.shape, ==, SB_AREA_ELLIPSE);
  g_assert_cmpint (edit.area.x, ==, -5);
  g_assert_cmpint (edit.area.y, ==, 6);
  g_assert_cmpint (edit.area.width, ==, 70);
  g_assert_cmpint (edit.area.height, ==, 8);
  g_assert_cmpuint (edit.area.feather, ==, 500);
  g_assert_true (edit.area.invert);
}

/* text and what the message must name: token, range or names, and always the keys. */
static const struct
{
  const char *text, *token, *allowed;
} refused[] = {
  { "blur:radius=nan", "radius=nan", "from 0 to 2000" },
  { "blur:radius=inf", "radius=inf", "from 0 to 2000" },
  { "blur:radius=-inf", "radius=-inf", "from 0 to 2000" },
  { "blur:radius=0x10", "radius=0x10", "from 0 to 2000" },
  { "blur:radius=1e2", "radius=1e2", "from 0 to 2000" },
  { "blur:radius=14px", "radius=14px", "from 0 to 2000" },
  { "blur:radius= 14", "radius= 14", "from 0 to 2000" },
  { "blur:radius=14 ", "radius=14 ", "from 0 to 2000" },
  { "blur:radius=+14", "radius=+14", "from 0 to 2000" },
  { "blur:radius=", "radius=", "from 0 to 2000" },
  { "blur:radius=-", "radius=-", "from 0 to 2000" },
  { "blur:radius=.", "radius=.", "from 0 to 2000" },
  { "blur:radius=1.2.3", "radius=1.2.3", "from 0 to 2000" },
  { "blur:radius=-0.01", "radius=-0.01", "from 0 to 2000" },
  { "blur:radius=2000.01", "radius=2000.01", "from 0 to 2000" },
  { "blur:radius=99999999999999999999999999999", "radius=9999999", "from 0 to 2000" },
  { "blur:radius=2,5", "“5”", "“radius=2.5”" },
  { "blur:passes=0", "passes=0", "from 1 to 10" },
  { "blur:passes=11", "passes=11", "from 1 to 10" },
  { "blur:passes=2.5", "passes=2.5", "whole number from 1 to 10" },
  { "blur:passes=3.0", "passes=3.0", "whole number from 1 to 10" },
  { "blur:linear=2", "linear=2", "0 or 1" },
  { "blur:linear=yes", "linear=yes", "0 or 1" },
  { "blur:linear=", "linear=", "0 or 1" },
  { "blur:edge=wrap", "edge=wrap", "clamp, mirror" },
  { "blur:edge=Clamp", "edge=Clamp", "clamp, mirror" },
  { "blur:direction=up", "direction=up", "both, horizontal, vertical" },
  { "blur:raduis=3", "raduis=3", "no key “raduis”" },
  { "blur:=3", "=3", "no key" },
  { "blur:Radius=3", "Radius=3", "no key “Radius”" },
  { "blur:radius", "radius", "key=value" },
  { "blur:", "blur:", "after the colon" },
  { "blur:radius=3,", "“”", "key=value" },
  { "blur:,radius=3", "“”", "key=value" },
  { "blur:radius=3,,passes=1", "“”", "key=value" },
  { "blur:radius=3,radius=3", "radius=3", "twice" },
  { "blur:radius=3 passes=1", "radius=3 passes=1", "from 0 to 2000" },
  { "blur:area=circle:1:2:3:4", "area=circle:1:2:3:4", "ellipse:x:y:width:height" },
  { "blur:area=rect:1:2:3", "area=rect:1:2:3", "rect:x:y:width:height" },
  { "blur:area=rect:1:2:3:4:5", "area=rect:1:2:3:4:5", "rect:x:y:width:height" },
  { "blur:area=rect:1:2:0:4", "area=rect:1:2:0:4", "from 1 to 1000000" },
  { "blur:area=rect:1:2:3:-4", "area=rect:1:2:3:-4", "from 1 to 1000000" },
  { "blur:area=rect:1.5:2:3:4", "area=rect:1.5:2:3:4", "whole numbers" },
  { "blur:area=rect:1:2:3:1000001", "area=rect:1:2:3:1000001", "1000000" },
  { "blur:area=rect:-1000001:2:3:4", "area=rect:-1000001:2:3:4", "-1000000" },
  { "blur:area=", "area=", "whole" },
  { "blur:feather=501", "feather=501", "from 0 to 500" },
  { "blur:feather=-1", "feather=-1", "from 0 to 500" },
  { "blur:feather=0.5", "feather=0.5", "whole number from 0 to 500" },
  { "blur:invert=2", "invert=2", "0 or 1" },
};

static void
test_parse_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      SbEdit edit, before;
      g_autoptr (GError) error = NULL;

      memset (&edit, 0x55, sizeof edit);
      before = edit;
      g_assert_false (sb_edit_parse (refused[i].text, &edit, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, refused[i].token));
      g_assert_nonnull (strstr (error->message, refused[i].allowed));
      g_assert_nonnull (strstr (error->message,
                                "radius, passes, linear, edge, direction, area, feather, invert"));
      /* What was there is untouched. */
      g_assert_cmpmem (&edit, sizeof edit, &before, sizeof before);
    }

  const char *kinds[]
      = { "", ":", "sharpen", "Blur", "blur ", " blur", "blurr:radius=3", "radius=3" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      SbEdit edit;
      g_autoptr (GError) error = NULL;

      g_assert_false (sb_edit_parse (kinds[i], &edit, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "the kinds are blur, bands"));
    }
}

/* Messages stay valid and of bearable length whatever comes in. */
static void
test_parse_odd_bytes (void)
{
  SbEdit edit;
  g_autoptr (GError) error = NULL;
  g_autofree char *zeros = g_strnfill (100000, '0');
  g_autofree char *many = g_strconcat ("blur:radius=0.", zeros, "x", NULL);
  g_autofree char *tiny = g_strconcat ("blur:radius=2.", zeros, "1", NULL);

  g_assert_false (sb_edit_parse ("blur:radius=\xff\xfe", &edit, &error));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_clear_error (&error);
  g_assert_false (sb_edit_parse ("\xff", &edit, &error));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_clear_error (&error);
  g_assert_false (sb_edit_parse (many, &edit, &error));
  g_assert_cmpuint (strlen (error->message), <, 1000);
  g_clear_error (&error);
  g_assert_true (sb_edit_parse (tiny, &edit, &error));
  g_assert_cmpfloat (edit.values[SB_BLUR_RADIUS], ==, 2);
}

static void
test_print (void)
{
  const struct
  {
    const char *in, *out;
  } cases[] = {
    { "blur", "blur" },
    { "blur:radius=14,passes=3,linear=1,edge=clamp,direction=both,area=whole,feather=0,invert=0",
      "blur" },
    { "blur:passes=1,radius=2.5", "blur:radius=2.5,passes=1" },
    { "blur:radius=2000", "blur:radius=2000" },
    { "blur:radius=0", "blur:radius=0" },
    { "blur:radius=-0", "blur:radius=0" },
    { "blur:radius=0.06", "blur:radius=0.0625" },
    { "blur:radius=007.500", "blur:radius=7.5" },
    { "blur:radius=12.1", "blur:radius=12.125" },
    { "blur:linear=0,direction=horizontal,edge=mirror",
      "blur:linear=0,edge=mirror,direction=horizontal" },
    { "blur:invert=1,feather=12,area=rect:-1:2:3:4",
      "blur:area=rect:-1:2:3:4,feather=12,invert=1" },
    { "blur:area=ellipse:1:2:3:4", "blur:area=ellipse:1:2:3:4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbEdit edit, again;
      g_autoptr (GError) error = NULL;

      g_assert_true (sb_edit_parse (cases[i].in, &edit, &error));
      g_assert_no_error (error);

      g_autofree char *text = sb_edit_print (&edit);

      g_assert_cmpstr (text, ==, cases[i].out);
      g_assert_true (sb_edit_parse (text, &again, &error));
      g_assert_true (sb_edit_equal (&edit, &again));
    }
}

/* Every radius there is, and many random edits, come back from their text. */
static void
test_round_trip (void)
{
  const SbEditClass *blur = sb_edit_class (SB_EDIT_BLUR);
  SbEdit edit, again;

  sb_edit_init (&edit, SB_EDIT_BLUR);
  for (guint i = 0; i <= 32000; i++)
    {
      edit.values[SB_BLUR_RADIUS] = i / 16.0;

      g_autofree char *text = sb_edit_print (&edit);

      g_assert_true (sb_edit_parse (text, &again, NULL));
      g_assert_true (sb_edit_equal (&edit, &again));
      g_assert_cmpuint (strlen (text), <=, strlen ("blur:radius=1999.9375"));
    }

  for (guint n = 0; n < 20000; n++)
    {
      for (guint i = 0; i < blur->n_parameters; i++)
        edit.values[i] = sb_parameter_clamp (
            &blur->parameters[i], g_test_rand_double_range (blur->parameters[i].minimum,
                                                            blur->parameters[i].maximum + 0.49));
      edit.area.shape = (SbAreaShape)g_test_rand_int_range (0, 3);
      edit.area.x = g_test_rand_int_range (-SB_AREA_MAX_SIDE, SB_AREA_MAX_SIDE + 1);
      edit.area.y = g_test_rand_int_range (-SB_AREA_MAX_SIDE, SB_AREA_MAX_SIDE + 1);
      edit.area.width = g_test_rand_int_range (1, SB_AREA_MAX_SIDE + 1);
      edit.area.height = g_test_rand_int_range (1, SB_AREA_MAX_SIDE + 1);
      edit.area.feather = (guint)g_test_rand_int_range (0, SB_AREA_MAX_FEATHER + 1);
      edit.area.invert = g_test_rand_bit ();

      g_autofree char *text = sb_edit_print (&edit);

      g_assert_true (sb_edit_parse (text, &again, NULL));
      g_assert_true (sb_edit_equal (&edit, &again));
    }
}

/* --- Values ---------------------------------------------------------------------------------- */

static void
assert_label (const char *text, const char *expected)
{
  SbEdit edit;

  g_assert_true (sb_edit_parse (text, &edit, NULL));

  g_autofree char *label = sb_edit_label (&edit);

  g_assert_cmpstr (label, ==, expected);
}

static void
test_label (void)
{
  assert_label ("blur", "Blur 14 px, 3 passes");
  assert_label ("blur:passes=1", "Blur 14 px, 1 pass");
  assert_label ("blur:radius=2.5", "Blur 2.5 px, 3 passes");
  assert_label ("blur:radius=0.0625", "Blur 0.06 px, 3 passes");
  assert_label ("blur:radius=12.125", "Blur 12.12 px, 3 passes");
  assert_label ("blur:radius=2000", "Blur 2000 px, 3 passes");
  assert_label ("blur:direction=horizontal", "Blur 14 px horizontally, 3 passes");
  assert_label ("blur:direction=vertical,passes=1", "Blur 14 px vertically, 1 pass");
  assert_label ("blur:area=rect:1:2:3:4", "Blur 14 px, 3 passes, in a rectangle");
  assert_label ("blur:area=ellipse:1:2:3:4,invert=1", "Blur 14 px, 3 passes, outside an ellipse");
}

static void
test_identity (void)
{
  const struct
  {
    const char *text;
    gboolean identity;
  } cases[] = {
    { "blur", FALSE },
    { "blur:radius=0", TRUE },
    { "blur:radius=0,passes=10,linear=0,edge=mirror", TRUE },
    { "blur:radius=0.03", TRUE },
    { "blur:radius=0.0625", FALSE },
    { "blur:invert=1", TRUE },
    { "blur:invert=1,feather=9", TRUE },
    { "blur:invert=1,area=rect:0:0:1:1", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbEdit edit;

      g_assert_true (sb_edit_parse (cases[i].text, &edit, NULL));
      g_assert_cmpint (sb_edit_is_identity (&edit), ==, cases[i].identity);
    }
}

static void
test_check (void)
{
  const struct
  {
    const char *area;
    gboolean inside;
  } cases[] = {
    { "whole", TRUE },
    { "rect:0:0:1:1", TRUE },
    { "rect:99:49:1:1", TRUE },
    { "rect:-9:-9:10:10", TRUE },
    { "rect:-1000000:-1000000:1000000:1000000", FALSE },
    { "rect:-9:0:9:10", FALSE },
    { "rect:0:-9:10:9", FALSE },
    { "rect:100:0:10:10", FALSE },
    { "ellipse:0:50:10:10", FALSE },
    { "ellipse:1000000:1000000:1000000:1000000", FALSE },
    { "ellipse:-500000:-500000:1000000:1000000", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbEdit edit;
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strconcat ("blur:area=", cases[i].area, NULL);

      g_assert_true (sb_edit_parse (text, &edit, NULL));
      g_assert_cmpint (sb_edit_check (&edit, 100, 50, &error), ==, cases[i].inside);
      if (cases[i].inside)
        g_assert_no_error (error);
      else
        {
          g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
          g_assert_nonnull (strstr (error->message, cases[i].area));
          g_assert_nonnull (strstr (error->message, "100"));
        }
    }
}

static void
test_scale (void)
{
  const struct
  {
    const char *in;
    guint level;
    const char *out;
  } cases[] = {
    { "blur:radius=14.0625,area=rect:1:1:1:1,feather=3", 0,
      "blur:radius=14.0625,area=rect:1:1:1:1,feather=3" },
    /* (29 / 2 - 1) / 2 = 6.75 */
    { "blur:radius=14", 1, "blur:radius=6.75" },
    /* (29 / 4 - 1) / 2 = 3.125 */
    { "blur:radius=14,passes=1,edge=mirror", 2, "blur:radius=3.125,passes=1,edge=mirror" },
    /* (29 / 8 - 1) / 2 = 1.3125 */
    { "blur:radius=14", 3, "blur:radius=1.3125" },
    /* (4001 / 16 - 1) / 2 = 124.53125, half a quantum, up */
    { "blur:radius=2000", 4, "blur:radius=124.5625" },
    /* the box is narrower than a reduced pixel */
    { "blur:radius=1", 2, "blur:radius=0" },
    { "blur:area=rect:3:4:5:4,feather=1", 2, "blur:radius=3.125,area=rect:0:1:2:1,feather=1" },
    { "blur:area=ellipse:-3:-4:2:9,feather=500", 2,
      "blur:radius=3.125,area=ellipse:-1:-1:1:3,feather=125" },
    { "blur:radius=0,area=rect:1000000:1000000:1000000:1000000", 20,
      "blur:radius=0,area=rect:0:0:2:2" },
    { "blur:radius=0,area=rect:5:5:1:1,invert=1", 3, "blur:radius=0,area=rect:0:0:1:1,invert=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbEdit edit, scaled;

      g_assert_true (sb_edit_parse (cases[i].in, &edit, NULL));
      sb_edit_scale (&edit, cases[i].level, &scaled);

      g_autofree char *text = sb_edit_print (&scaled);

      g_assert_cmpstr (text, ==, cases[i].out);
    }
}

/* Against the variance of the window itself, summed sample by sample. */
static void
test_sigma (void)
{
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BLUR);
  for (guint i = 0; i <= 32000; i += i < 400 ? 1 : 37)
    for (guint passes = 1; passes <= 10; passes += 3)
      {
        double radius = i / 16.0;
        int whole = (int)radius;
        double f = radius - whole;
        double weight = 0, moment = 0;

        for (int j = -whole - 1; j <= whole + 1; j++)
          {
            double w = j == -whole - 1 || j == whole + 1 ? f : 1;

            weight += w;
            moment += w * j * j;
          }
        edit.values[SB_BLUR_RADIUS] = radius;
        edit.values[SB_BLUR_PASSES] = passes;
        g_assert_cmpfloat_with_epsilon (sb_edit_blur_sigma (&edit), sqrt (passes * moment / weight),
                                        1e-9 * (1 + radius * passes));
      }

  g_assert_true (sb_edit_parse ("blur", &edit, NULL));
  g_assert_cmpfloat_with_epsilon (sb_edit_blur_sigma (&edit), 14.4914, 0.0001);
}

static void
test_equal (void)
{
  SbEdit a, b;

  g_assert_true (sb_edit_parse ("blur:radius=3", &a, NULL));
  g_assert_true (sb_edit_parse ("blur:radius=3", &b, NULL));
  /* A whole picture's box is of no account. */
  b.area.x = 5;
  g_assert_true (sb_edit_equal (&a, &b));
  a.area.shape = b.area.shape = SB_AREA_RECT;
  g_assert_false (sb_edit_equal (&a, &b));
  b.area.x = 0;
  g_assert_true (sb_edit_equal (&a, &b));
  b.area.invert = 2;
  g_assert_false (sb_edit_equal (&a, &b));
  a.area.invert = 1;
  g_assert_true (sb_edit_equal (&a, &b));
  a.area.feather = 1;
  g_assert_false (sb_edit_equal (&a, &b));
}

static void
test_lists (void)
{
  SbEdit edits[3];

  g_assert_true (sb_edit_parse ("blur:radius=1", &edits[0], NULL));
  g_assert_true (sb_edit_parse ("blur", &edits[1], NULL));
  g_assert_true (sb_edit_parse ("blur:radius=2.5,passes=1", &edits[2], NULL));

  g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);
  g_autoptr (SbEditList) two = sb_edit_list_new (edits, 2);
  g_autoptr (SbEditList) three = sb_edit_list_new (edits, 3);

  /* The list has its own copies. */
  edits[0].values[SB_BLUR_RADIUS] = 99;
  g_autoptr (SbEditList) other = sb_edit_list_new (edits, 3);

  g_autofree char *text = sb_edit_list_print (three);
  g_autofree char *empty = sb_edit_list_print (none);
  g_autofree char *null = sb_edit_list_print (NULL);

  g_assert_cmpstr (text, ==, "blur:radius=1 blur blur:radius=2.5,passes=1");
  g_assert_cmpstr (empty, ==, "");
  g_assert_cmpstr (null, ==, "");
  g_assert_true (sb_edit_list_equal (none, NULL));
  g_assert_true (sb_edit_list_equal (NULL, NULL));
  g_assert_false (sb_edit_list_equal (none, two));
  g_assert_false (sb_edit_list_equal (two, three));
  g_assert_true (sb_edit_list_equal (three, three));
  g_assert_cmpuint (sb_edit_list_common (two, three), ==, 2);
  g_assert_cmpuint (sb_edit_list_common (three, other), ==, 0);
  g_assert_cmpuint (sb_edit_list_common (NULL, three), ==, 0);

  SbEditList *second = sb_edit_list_ref (two);

  g_assert_true (second == two);
  sb_edit_list_unref (second);
  g_assert_cmpuint (two->n_edits, ==, 2);
}

/* --- Bands ----------------------------------------------------------------------------------- */

static void
test_bands_table (void)
{
  const SbEditClass *bands = sb_edit_class (SB_EDIT_BANDS);
  static const char *const families[] = { "gain", "gainH", "gainV", "gainD" };

  g_assert_cmpstr (bands->key, ==, "bands");
  g_assert_cmpuint (bands->n_parameters, ==, SB_N_BANDS_PARAMETERS);
  g_assert_cmpstr (bands->parameters[SB_BANDS_LEVELS].key, ==, "levels");
  g_assert_cmpstr (bands->parameters[SB_BANDS_THRESHOLD].key, ==, "threshold");
  g_assert_cmpstr (bands->parameters[SB_BANDS_RULE].key, ==, "rule");
  g_assert_cmpstr (bands->parameters[SB_BANDS_LUMA].key, ==, "luma");
  g_assert_cmpstr (bands->parameters[SB_BANDS_GAIN_A].key, ==, "gainA");
  for (guint f = 0; f < G_N_ELEMENTS (families); f++)
    for (guint level = 1; level <= SB_BANDS_MAX_LEVELS; level++)
      {
        const SbParameter *parameter
            = &bands->parameters[SB_BANDS_GAIN + f * SB_BANDS_MAX_LEVELS + level - 1];
        g_autofree char *key = g_strdup_printf ("%s%u", families[f], level);

        g_assert_cmpstr (parameter->key, ==, key);
        g_assert_cmpuint (parameter->level, ==, level);
        g_assert_cmpint (parameter->scale, ==, SB_SCALE_OF_LEVEL);
        g_assert_cmpfloat (parameter->minimum, ==, 0);
        g_assert_cmpfloat (parameter->maximum, ==, 4);
        g_assert_cmpfloat (parameter->initial, ==, 1);
      }
}

static void
test_bands_text (void)
{
  const struct
  {
    const char *in, *out;
  } cases[] = {
    { "bands", "bands" },
    { "bands:levels=5,threshold=0,rule=soft,luma=0,gain1=1,gainA=1.0", "bands" },
    { "bands:gainD20=0,gain1=0,gainH3=2.5,levels=8",
      "bands:levels=8,gain1=0,gainH3=2.5,gainD20=0" },
    { "bands:threshold=10.03,rule=hard,luma=1", "bands:threshold=10.03,rule=hard,luma=1" },
    { "bands:gain2=1.1,gainD3=.3", "bands:gain2=1.1,gainD3=0.3" },
    { "bands:gain2=1.00004999,gain3=1.00005001", "bands:gain3=1.0001" },
    { "bands:gainA=0,area=rect:1:2:3:4,invert=1", "bands:gainA=0,area=rect:1:2:3:4,invert=1" },
  };
  const struct
  {
    const char *text, *token, *allowed;
  } wrong[] = {
    { "bands:levels=0", "levels=0", "from 1 to 20" },
    { "bands:levels=21", "levels=21", "from 1 to 20" },
    { "bands:levels=2.5", "levels=2.5", "from 1 to 20" },
    { "bands:gain0=1", "gain0", "no key" },
    { "bands:gain21=1", "gain21", "no key" },
    { "bands:gainX1=1", "gainX1", "gainH1…gainH20" },
    { "bands:gain1=4.01", "gain1=4.01", "from 0 to 4" },
    { "bands:gainA=-1", "gainA=-1", "from 0 to 4" },
    { "bands:threshold=1000.1", "threshold=1000.1", "from 0 to 1000" },
    { "bands:threshold=nan", "threshold=nan", "from 0 to 1000" },
    { "bands:rule=medium", "rule=medium", "soft, hard" },
    { "bands:luma=2", "luma=2", "0 or 1" },
    { "bands:gain7=1,gain7=1", "gain7=1", "twice" },
    { "bands:radius=3", "radius=3", "levels, threshold, rule, luma, gainA, gain1…gain20" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbEdit edit;
      g_autoptr (GError) error = NULL;

      g_assert_true (sb_edit_parse (cases[i].in, &edit, &error));
      g_assert_no_error (error);
      g_autofree char *text = sb_edit_print (&edit);
      g_assert_cmpstr (text, ==, cases[i].out);
    }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      SbEdit edit;
      g_autoptr (GError) error = NULL;

      g_assert_false (sb_edit_parse (wrong[i].text, &edit, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, wrong[i].token));
      g_assert_nonnull (strstr (error->message, wrong[i].allowed));
      g_assert_cmpuint (strlen (error->message), <, 300);
    }

  /* Every key, random values, and back. */
  for (guint n = 0; n < 2000; n++)
    {
      const SbEditClass *bands = sb_edit_class (SB_EDIT_BANDS);
      SbEdit edit, again;

      sb_edit_init (&edit, SB_EDIT_BANDS);
      for (guint i = 0; i < bands->n_parameters; i++)
        edit.values[i] = sb_parameter_clamp (
            &bands->parameters[i], g_test_rand_double_range (bands->parameters[i].minimum,
                                                             bands->parameters[i].maximum + 0.49));
      g_autofree char *text = sb_edit_print (&edit);
      g_assert_true (sb_edit_parse (text, &again, NULL));
      g_assert_true (sb_edit_equal (&edit, &again));
    }
}

static void
test_bands_label (void)
{
  assert_label ("bands", "Wavelets, 5 levels");
  assert_label ("bands:levels=1,gain1=0.5", "Wavelets, 1 level, 3 bands changed");
  assert_label ("bands:gain1=0", "Wavelets, 5 levels, 3 bands off");
  assert_label ("bands:gainD2=0", "Wavelets, 5 levels, 1 band off");
  assert_label ("bands:gainD6=0", "Wavelets, 5 levels");
  assert_label ("bands:gainA=0,gain2=0", "Wavelets, 5 levels, 4 bands off");
  assert_label ("bands:threshold=12.5,gain1=0", "Wavelets, 5 levels, threshold 12.5");
  assert_label ("bands:gain1=0,area=rect:1:2:3:4",
                "Wavelets, 5 levels, 3 bands off, in a rectangle");
}

static void
test_bands_scale (void)
{
  const struct
  {
    const char *in;
    guint level;
    const char *out;
  } cases[] = {
    { "bands:gain1=0,gain2=0.5,threshold=12", 0, "bands:threshold=12,gain1=0,gain2=0.5" },
    { "bands:gain1=0,gain2=0.5,gainH3=2", 1, "bands:levels=4,gain1=0.5,gainH2=2" },
    { "bands:levels=20,gain20=0,gainV20=3", 3, "bands:levels=17,gain17=0,gainV17=3" },
    { "bands:levels=3,threshold=1", 5, "bands:levels=0,threshold=0.03125" },
    { "bands:levels=6,gainA=0.5", 1, "bands:gainA=0.5" },
    { "bands:levels=7,area=rect:3:4:5:4,feather=1", 2, "bands:area=rect:0:1:2:1,feather=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbEdit edit, scaled;

      g_assert_true (sb_edit_parse (cases[i].in, &edit, NULL));
      sb_edit_scale (&edit, cases[i].level, &scaled);
      g_autofree char *text = sb_edit_print (&scaled);
      g_assert_cmpstr (text, ==, cases[i].out);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/edit/table", test_table);
  g_test_add_func ("/edit/slider", test_slider);
  g_test_add_func ("/edit/clamp", test_clamp);
  g_test_add_func ("/edit/parse", test_parse);
  g_test_add_func ("/edit/parse-refused", test_parse_refused);
  g_test_add_func ("/edit/parse-odd-bytes", test_parse_odd_bytes);
  g_test_add_func ("/edit/print", test_print);
  g_test_add_func ("/edit/round-trip", test_round_trip);
  g_test_add_func ("/edit/label", test_label);
  g_test_add_func ("/edit/identity", test_identity);
  g_test_add_func ("/edit/check", test_check);
  g_test_add_func ("/edit/scale", test_scale);
  g_test_add_func ("/edit/sigma", test_sigma);
  g_test_add_func ("/edit/equal", test_equal);
  g_test_add_func ("/edit/lists", test_lists);
  g_test_add_func ("/edit/bands-table", test_bands_table);
  g_test_add_func ("/edit/bands-text", test_bands_text);
  g_test_add_func ("/edit/bands-label", test_bands_label);
  g_test_add_func ("/edit/bands-scale", test_bands_scale);
  return g_test_run ();
}
