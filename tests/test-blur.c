/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "pictures.h"
#include "sb-cpu-blur.h"
#include "sb-error.h"
#include "sb-isa.h"

#include <math.h>
#include <string.h>

/* sb_cpu_blur() of every instruction set against the slow reference, byte by byte. */

#define MAX_THREADS 3
#define GUARD       0xA5

typedef struct
{
  guint width, height;
  SbFill fill;
  guint run; /* of SB_FILL_NEAR_TIE */
  SbPixelFormat source, target;
  gboolean tell_opaque; /* say so in the source where it is */
  gboolean mixed_tone;
  guint threads;
  guint parts; /* random parts of the output checked besides the whole */
  SbEdit edit;
} Case;

static struct
{
  SbTestTone srgb, mixed;
  SbParallel *parallel[MAX_THREADS + 1];
  SbBlurScratch *scratch; /* of all cases, so that what one leaves behind may harm the next */
  SbIsa best;
  guint turn; /* counts cases: what is not the point of a sweep takes turns */
} shared;

/* Additions the reference needs, all channels. */
static double
reference_cost (const Case *c)
{
  const double window = 2 * c->edit.values[SB_BLUR_RADIUS] + 1;
  const double axes = c->edit.values[SB_BLUR_DIRECTION] == SB_DIRECTION_BOTH ? 2 : 1;
  const double mask = 2.0 * (2 * c->edit.area.feather + 1);
  const double pixels = (double)c->width * c->height;

  return pixels * (4 * window * axes * c->edit.values[SB_BLUR_PASSES] + mask);
}

static gsize
bytes_per_pixel (SbPixelFormat format)
{
  return format == SB_PIXELS_8 ? 4 : 8;
}

static const char *
format_name (SbPixelFormat format)
{
  return format == SB_PIXELS_8 ? "8" : format == SB_PIXELS_16 ? "16" : "work";
}

static char *
describe_case (const Case *c)
{
  g_autofree char *edit = sb_test_describe_edit (&c->edit);

  return g_strdup_printf ("%ux%u of %s (run %u), %s to %s bits%s%s, %u threads, %s", c->width,
                          c->height, sb_fill_name (c->fill), c->run, format_name (c->source),
                          format_name (c->target), c->tell_opaque ? ", told opaque" : "",
                          c->mixed_tone ? ", mixed tone" : "", c->threads, edit);
}

/* Packs 16-bit samples into rows of `format` with `padding` bytes between, the last row none. */
static guint8 *
pack_source (const guint16 *rgba, guint width, guint height, SbPixelFormat format, gsize padding,
             gsize *stride)
{
  const gsize row = width * bytes_per_pixel (format);
  guint8 *packed = g_malloc ((row + padding) * height - padding);

  *stride = row + padding;
  for (guint y = 0; y < height; y++)
    {
      const guint16 *from = rgba + (gsize)y * width * 4;
      guint8 *to = packed + y * *stride;

      if (format != SB_PIXELS_8)
        memcpy (to, from, row);
      else
        for (gsize i = 0; i < row; i++)
          to[i] = (guint8)(from[i] / 257);
      if (y + 1 < height)
        memset (to + row, GUARD, padding);
    }
  return packed;
}

/* Runs the blur for one part of the output and compares; the message is NULL if all is well. */
static char *
check_part (const SbSource *source, const Case *c, const SbTone *tone, const guint8 *expected,
            const SbRect *rect, gsize padding)
{
  const gsize size = bytes_per_pixel (c->target);
  const gsize row = (gsize)rect->width * size, stride = row + padding;
  const gsize bytes = stride * (gsize)rect->height - padding;
  g_autofree guint8 *pixels = g_malloc (bytes);
  g_autoptr (GError) error = NULL;
  SbTarget target = { c->target, *rect, pixels, stride };

  memset (pixels, GUARD, bytes);
  if (!sb_cpu_blur (source, &c->edit, tone, &target, shared.parallel[c->threads], shared.scratch,
                    NULL, &error))
    return g_strdup_printf ("it failed: %s", error->message);

  for (int y = 0; y < rect->height; y++)
    {
      const guint8 *is = pixels + (gsize)y * stride;
      const guint8 *should = expected + ((gsize)(rect->y + y) * c->width + (gsize)rect->x) * size;

      if (memcmp (is, should, row) != 0)
        {
          gsize i = 0;

          while (memcmp (is + i * size, should + i * size, size) == 0)
            i++;
          guint a[4], b[4];
          for (guint k = 0; k < 4; k++)
            {
              const gsize at = i * size + k * size / 4;

              a[k] = should[at];
              b[k] = is[at];
              if (size == 8)
                {
                  a[k] = *(const guint16 *)(const void *)(should + at);
                  b[k] = *(const guint16 *)(const void *)(is + at);
                }
            }
          return g_strdup_printf ("at x=%d y=%d expected %u,%u,%u,%u, got %u,%u,%u,%u",
                                  rect->x + (int)i, rect->y + y, a[0], a[1], a[2], a[3], b[0], b[1],
                                  b[2], b[3]);
        }
      if (y + 1 < rect->height)
        for (gsize i = row; i < stride; i++)
          if (is[i] != GUARD)
            return g_strdup_printf ("it wrote between the rows, after y=%d", rect->y + y);
    }
  return NULL;
}

static gboolean
all_opaque (const guint16 *rgba, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (rgba[4 * i + 3] != 65535)
      return FALSE;
  return TRUE;
}

/* Checks one case in every instruction set, the whole output and some parts of it. FALSE, and the
 * test failed, at the first difference. */
static gboolean
check_case (const Case *c, guint32 seed)
{
  const gsize n = (gsize)c->width * c->height;
  const gboolean linear = c->edit.values[SB_BLUR_LINEAR] != 0;
  const SbTestTone *tone = c->mixed_tone ? &shared.mixed : &shared.srgb;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree guint16 *in = g_new (guint16, n * 4);
  g_autofree guint16 *expected16 = g_new (guint16, n * 4);
  g_autofree guint8 *expected8 = NULL;
  gboolean equal = TRUE;

  sb_fill_pixels (in, c->width, c->height, c->fill, c->run, c->source == SB_PIXELS_8 ? 8 : 16,
                  rand);
  if (c->source == SB_PIXELS_WORK)
    {
      sb_reference_to_work (in, in, n, linear, &tone->reference);
      sb_reference_blur_work (in, expected16, c->width, c->height, &c->edit, &tone->reference);
    }
  else
    sb_reference_blur (in, expected16, c->width, c->height, &c->edit, &tone->reference);

  if (c->target == SB_PIXELS_8)
    {
      expected8 = g_new (guint8, n * 4);
      for (gsize i = 0; i < n * 4; i++)
        expected8[i] = (guint8)floor (expected16[i] / 257.0 + 0.5);
    }
  const guint8 *expected = expected8 != NULL ? expected8 : (const guint8 *)expected16;

  SbSource source = { .format = c->source, .width = c->width, .height = c->height };
  g_autofree guint8 *packed = pack_source (
      in, c->width, c->height, c->source,
      (gsize)g_rand_int_range (rand, 0, 3) * bytes_per_pixel (c->source), &source.stride);
  source.pixels = packed;
  source.opaque = c->tell_opaque && all_opaque (in, n);

  for (guint part = 0; part <= c->parts && equal; part++)
    {
      SbRect rect = { 0, 0, (int)c->width, (int)c->height };
      const gsize padding = (gsize)g_rand_int_range (rand, 0, 3) * bytes_per_pixel (c->target);

      if (part > 0)
        {
          rect.x = g_rand_int_range (rand, 0, (gint32)c->width);
          rect.y = g_rand_int_range (rand, 0, (gint32)c->height);
          rect.width = g_rand_int_range (rand, 1, (gint32)c->width - rect.x + 1);
          rect.height = g_rand_int_range (rand, 1, (gint32)c->height - rect.y + 1);
        }
      for (SbIsa isa = 0; isa < SB_N_ISAS && equal; isa++)
        {
          if (!sb_isa_is_available (isa))
            continue;
          sb_isa_force (isa);

          g_autofree char *wrong = check_part (&source, c, tone->tone, expected, &rect, padding);
          if (wrong != NULL)
            {
              g_autofree char *what = describe_case (c);

              g_test_message ("%s, %s, seed %u, part %d,%d %dx%d: %s", sb_isa_name (isa), what,
                              seed, rect.x, rect.y, rect.width, rect.height, wrong);
              g_test_fail ();
              equal = FALSE;
            }
        }
    }
  sb_isa_force (shared.best);
  return equal;
}

/* A case of an edit, everything else taking turns. */
static Case
turn_case (guint width, guint height, SbFill fill, SbEdit edit)
{
  const guint turn = shared.turn++;

  return (Case){
    .width = width,
    .height = height,
    .fill = fill,
    .run = 2 * (guint)edit.values[SB_BLUR_RADIUS] + 4,
    .source = (turn / 2) % 2 == 0 ? SB_PIXELS_16 : SB_PIXELS_8,
    .target = (turn / 4) % 2 == 0 ? SB_PIXELS_16 : SB_PIXELS_8,
    .tell_opaque = turn % 3 != 0,
    .mixed_tone = turn % 5 == 0,
    .threads = 1 + turn % MAX_THREADS,
    .parts = turn % 2,
    .edit = edit,
  };
}

/* --- Sweeps ---------------------------------------------------------------------------------- */

static gboolean
check_radius (double radius, guint length, guint lines, guint seed)
{
  SbEdit edit = sb_test_blur (radius, 1, FALSE);

  for (guint vertical = 0; vertical < 2; vertical++)
    {
      edit.values[SB_BLUR_EDGE] = shared.turn / 2 % 2;
      edit.values[SB_BLUR_DIRECTION] = vertical ? SB_DIRECTION_VERTICAL : SB_DIRECTION_HORIZONTAL;

      Case c = turn_case (vertical ? lines : length, vertical ? length : lines,
                          shared.turn % 4 == 1 ? SB_FILL_TIE_ALPHA : SB_FILL_NEAR_TIE, edit);
      /* Bits below the eighth are what this is about. */
      if (shared.turn % 8 != 0)
        c.source = c.target = SB_PIXELS_16;
      c.mixed_tone = FALSE;
      if (sb_test_in_share () && !check_case (&c, seed + vertical))
        return FALSE;
    }
  return TRUE;
}

/* Every window up to 601, so also where a cheaper way to divide ends (107, 207, 255 to 257) and
 * where the divisor is a power of two, with every fraction. */
static void
test_radii (void)
{
  for (guint radius = 0; radius <= 300; radius++)
    for (guint k = 0; k < 16; k++)
      if (!check_radius (radius + k / 16.0, 3 * (2 * radius + 1) + 40, 2, radius * 32 + 2 * k))
        return;
}

static void
test_large_radii (void)
{
  static const double radii[] = { 301,  333.3125, 400.5,     511,       511.5,     512, 707.1875,
                                  1000, 1023.5,   1024.9375, 1499.0625, 1999.9375, 2000 };

  for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
    if (!check_radius (radii[i], 2 * (guint)radii[i] + 301, 1, i))
      return;
}

static void
test_passes (void)
{
  static const double radii[] = { 0.0625, 0.5, 1, 2.25, 3, 7, 14, 31.5, 64 };

  for (guint passes = 1; passes <= 10; passes++)
    for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
      for (guint edge = 0; edge < 2; edge++)
        for (guint direction = 0; direction < 3; direction++)
          for (guint linear = 0; linear < 2; linear++)
            {
              SbEdit edit = sb_test_blur (radii[i], passes, linear);

              edit.values[SB_BLUR_EDGE] = edge;
              edit.values[SB_BLUR_DIRECTION] = direction;
              Case c = turn_case (37, 29,
                                  shared.turn % 3 == 0 ? SB_FILL_NOISE : SB_FILL_NOISE_ALPHA, edit);
              if (sb_test_in_share () && !check_case (&c, shared.turn))
                return;
            }
}

static void
test_sizes (void)
{
  static const guint sizes[][2] = {
    { 1, 1 },   { 1, 2 },   { 2, 1 },   { 2, 2 },   { 2, 3 },   { 3, 2 },   { 1, 7 },
    { 7, 1 },   { 3, 3 },   { 7, 9 },   { 8, 8 },   { 9, 17 },  { 15, 16 }, { 16, 15 },
    { 17, 31 }, { 33, 32 }, { 63, 65 }, { 64, 64 }, { 65, 63 }, { 127, 3 }, { 3, 129 },
    { 255, 5 }, { 6, 257 }, { 1, 300 }, { 300, 1 },
  };
  static const double radii[] = { 0, 0.0625, 1, 3.5, 17, 100, 200.25, 2000 };
  static const guint passes[] = { 1, 2, 3, 10 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
      for (guint p = 0; p < G_N_ELEMENTS (passes); p++)
        for (guint edge = 0; edge < 2; edge++)
          for (guint direction = 0; direction < 3; direction++)
            {
              SbEdit edit = sb_test_blur (radii[i], passes[p], shared.turn % 2);

              edit.values[SB_BLUR_EDGE] = edge;
              edit.values[SB_BLUR_DIRECTION] = direction;
              Case c = turn_case (sizes[s][0], sizes[s][1],
                                  shared.turn % 2 ? SB_FILL_NOISE : SB_FILL_NOISE_ALPHA, edit);
              const double cost = reference_cost (&c);
              if (cost > 60e6 || (cost > 1e6 && shared.turn % (1 + (guint)(cost / 1e6)) != 0))
                continue;
              if (sb_test_in_share () && !check_case (&c, shared.turn))
                return;
            }
}

static void
test_long (void)
{
  static const guint sizes[][2]
      = { { 1, 5000 }, { 5000, 1 }, { 4099, 3 }, { 3, 4099 }, { 20011, 2 }, { 2, 20011 } };
  static const double radii[] = { 1, 14, 127.5, 300, 2000 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
      {
        SbEdit edit = sb_test_blur (radii[i], radii[i] > 200 ? 1 : 3, shared.turn % 2);

        edit.values[SB_BLUR_EDGE] = i % 2;
        if (radii[i] > 1000)
          edit.values[SB_BLUR_DIRECTION]
              = sizes[s][0] > sizes[s][1] ? SB_DIRECTION_HORIZONTAL : SB_DIRECTION_VERTICAL;
        Case c = turn_case (sizes[s][0], sizes[s][1],
                            shared.turn % 2 ? SB_FILL_NEAR_TIE : SB_FILL_NOISE_ALPHA, edit);
        c.parts = 3;
        if (reference_cost (&c) < 400e6 && sb_test_in_share () && !check_case (&c, shared.turn))
          return;
      }
}

/* Pictures larger than any band or strip an implementation may cut them into. */
static void
test_bands (void)
{
  static const guint sizes[][2]
      = { { 700, 500 }, { 1501, 230 }, { 230, 1501 }, { 2100, 70 }, { 70, 2100 }, { 4200, 33 } };
  static const double radii[] = { 0.5, 3, 14, 40.0625 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
      {
        SbEdit edit = sb_test_blur (radii[i], 1 + (s + i) % 3, i % 2);

        edit.values[SB_BLUR_EDGE] = (s + i) % 2;
        Case c = turn_case (sizes[s][0], sizes[s][1],
                            s % 2 ? SB_FILL_NOISE_ALPHA : SB_FILL_NEAR_TIE, edit);
        c.threads = 1 + i % MAX_THREADS;
        c.parts = 4;
        if (sb_test_in_share () && !check_case (&c, shared.turn))
          return;
      }
}

static void
test_fills (void)
{
  static const double radii[] = { 0, 0.9375, 2, 9, 53, 300 };

  for (SbFill fill = 0; fill < SB_N_FILLS; fill++)
    for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
      for (guint passes = 1; passes <= 3; passes += 2)
        for (guint linear = 0; linear < 2; linear++)
          for (SbPixelFormat source = SB_PIXELS_8; source <= SB_PIXELS_WORK; source++)
            for (SbPixelFormat target = SB_PIXELS_8; target <= SB_PIXELS_16; target++)
              {
                SbEdit edit = sb_test_blur (radii[i], passes, linear);
                Case c = turn_case (41, 23, fill, edit);

                c.source = source;
                c.target = target;
                if (sb_test_in_share () && !check_case (&c, shared.turn))
                  return;
              }
}

/* --- Areas ----------------------------------------------------------------------------------- */

static void
test_areas (void)
{
  static const guint sizes[][2] = { { 61, 47 }, { 130, 70 }, { 5, 90 }, { 1, 1 } };
  static const SbArea areas[] = {
    { SB_AREA_WHOLE, 0, 0, 1, 1, 0, TRUE },
    { SB_AREA_WHOLE, 0, 0, 1, 1, 7, FALSE },
    { SB_AREA_RECT, 0, 0, 1, 1, 0, FALSE },
    { SB_AREA_RECT, 10, 12, 20, 9, 0, FALSE },
    { SB_AREA_RECT, 10, 12, 20, 9, 0, TRUE },
    { SB_AREA_RECT, 10, 12, 20, 9, 3, FALSE },
    { SB_AREA_RECT, 10, 12, 20, 9, 3, TRUE },
    { SB_AREA_RECT, -15, -8, 30, 21, 0, FALSE },
    { SB_AREA_RECT, -15, -8, 30, 21, 5, FALSE },
    { SB_AREA_RECT, 50, 30, 1000, 900, 2, FALSE },
    { SB_AREA_RECT, -1000, -1000, 3000, 3000, 40, FALSE },
    { SB_AREA_RECT, 4, 0, 1, 1000, 1, FALSE },
    { SB_AREA_RECT, 12, 20, 5, 5, 500, FALSE },
    { SB_AREA_RECT, -2000000000, -2000000000, 2000000004, 2000000010, 1, FALSE },
    { SB_AREA_ELLIPSE, 0, 0, 1, 1, 0, FALSE },
    { SB_AREA_ELLIPSE, 3, 3, 2, 2, 0, FALSE },
    { SB_AREA_ELLIPSE, 3, 3, 7, 4, 0, FALSE },
    { SB_AREA_ELLIPSE, 5, 2, 50, 41, 0, FALSE },
    { SB_AREA_ELLIPSE, 5, 2, 50, 41, 0, TRUE },
    { SB_AREA_ELLIPSE, 5, 2, 50, 41, 6, FALSE },
    { SB_AREA_ELLIPSE, 5, 2, 50, 41, 6, TRUE },
    { SB_AREA_ELLIPSE, -20, -20, 40, 60, 4, FALSE },
    { SB_AREA_ELLIPSE, -20, -20, 400, 300, 31, FALSE },
    { SB_AREA_ELLIPSE, -700000, -600000, 1000000, 999999, 0, FALSE },
  };
  static const double radii[] = { 0, 0.5, 3, 12.25 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint a = 0; a < G_N_ELEMENTS (areas); a++)
      for (guint i = 0; i < G_N_ELEMENTS (radii); i++)
        for (guint direction = 0; direction < 3; direction++)
          for (guint alpha = 0; alpha < 2; alpha++)
            {
              SbEdit edit = sb_test_blur (radii[i], 1 + shared.turn % 3, shared.turn / 3 % 2);

              edit.values[SB_BLUR_EDGE] = shared.turn / 5 % 2;
              edit.values[SB_BLUR_DIRECTION] = direction;
              edit.area = areas[a];
              if (edit.area.shape != SB_AREA_WHOLE
                  && (edit.area.x >= (int)sizes[s][0] || edit.area.y >= (int)sizes[s][1]))
                continue;
              Case c = turn_case (sizes[s][0], sizes[s][1],
                                  alpha ? SB_FILL_NOISE_ALPHA : SB_FILL_NOISE, edit);
              c.parts = 3;
              if (sb_test_in_share () && !check_case (&c, shared.turn))
                return;
            }
}

static void
test_area_outside (void)
{
  static const SbArea areas[] = {
    { SB_AREA_RECT, 8, 0, 4, 4, 0, FALSE },       { SB_AREA_RECT, 0, 6, 4, 4, 0, FALSE },
    { SB_AREA_RECT, -4, 0, 4, 4, 3, FALSE },      { SB_AREA_ELLIPSE, 0, -9, 5, 9, 0, FALSE },
    { SB_AREA_ELLIPSE, 100, 100, 5, 9, 0, TRUE },
  };
  guint8 in[8 * 6 * 4] = { 0 }, out[8 * 6 * 4];
  const SbSource source = { SB_PIXELS_8, 8, 6, in, 8 * 4, FALSE };
  const SbTarget target = { SB_PIXELS_8, { 0, 0, 8, 6 }, out, 8 * 4 };

  for (guint a = 0; a < G_N_ELEMENTS (areas); a++)
    {
      SbEdit edit = sb_test_blur (2, 1, FALSE);
      g_autoptr (GError) error = NULL;

      edit.area = areas[a];
      g_assert_false (sb_cpu_blur (&source, &edit, shared.srgb.tone, &target, shared.parallel[1],
                                   shared.scratch, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
    }
}

static void
test_cancelled (void)
{
  guint8 in[8 * 6 * 4] = { 0 }, out[8 * 6 * 4];
  const SbSource source = { SB_PIXELS_8, 8, 6, in, 8 * 4, FALSE };
  const SbTarget target = { SB_PIXELS_8, { 0, 0, 8, 6 }, out, 8 * 4 };
  const SbEdit edit = sb_test_blur (2, 3, TRUE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  for (guint threads = 1; threads <= MAX_THREADS; threads++)
    {
      g_assert_false (sb_cpu_blur (&source, &edit, shared.srgb.tone, &target,
                                   shared.parallel[threads], shared.scratch, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
}

/* --- Draws ----------------------------------------------------------------------------------- */

static guint
random_side (GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      return (guint)g_rand_int_range (rand, 1, 5);
    case 1:
      return (guint)(g_rand_int_range (rand, 1, 17) * 16 + g_rand_int_range (rand, -1, 2));
    case 2:
      return (guint)g_rand_int_range (rand, 100, 700);
    default:
      return (guint)g_rand_int_range (rand, 1, 100);
    }
}

static void
test_draws (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint checked = 0;

  while (checked < 1500)
    {
      static const guint limits[] = { 3, 20, 70, 300, 2000 };
      const guint width = random_side (rand), height = random_side (rand);
      const guint limit = limits[g_rand_int_range (rand, 0, G_N_ELEMENTS (limits))];
      Case c = {
        .width = width,
        .height = height,
        .fill = (SbFill)g_rand_int_range (rand, 0, SB_N_FILLS),
        .run = (guint)g_rand_int_range (rand, 1, 200),
        .source = (SbPixelFormat)g_rand_int_range (rand, SB_PIXELS_8, SB_PIXELS_WORK + 1),
        .target = (SbPixelFormat)g_rand_int_range (rand, SB_PIXELS_8, SB_PIXELS_16 + 1),
        .tell_opaque = g_rand_boolean (rand),
        .mixed_tone = g_rand_boolean (rand),
        .threads = (guint)g_rand_int_range (rand, 1, MAX_THREADS + 1),
        .parts = (guint)g_rand_int_range (rand, 0, 4),
        .edit = sb_test_random_edit (rand, width, height, limit),
      };
      const guint32 case_seed = g_rand_int (rand);

      if (reference_cost (&c) > 12e6)
        continue;
      checked++;
      if (g_rand_int_range (rand, 0, 16) == 0)
        sb_blur_scratch_trim (shared.scratch);
      if (sb_test_in_share () && !check_case (&c, case_seed))
        return;
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  shared.best = sb_isa_get ();
  sb_test_tone_init_srgb (&shared.srgb);
  sb_test_tone_init_mixed (&shared.mixed);
  shared.scratch = sb_blur_scratch_new ();
  for (guint threads = 1; threads <= MAX_THREADS; threads++)
    shared.parallel[threads] = sb_parallel_new (threads);
  for (SbIsa isa = 0; isa < SB_N_ISAS; isa++)
    g_test_message ("%s: %s", sb_isa_name (isa),
                    sb_isa_is_available (isa) ? "tested" : "not on this machine");

  g_test_add_func ("/blur/radii", test_radii);
  g_test_add_func ("/blur/large-radii", test_large_radii);
  g_test_add_func ("/blur/passes", test_passes);
  g_test_add_func ("/blur/sizes", test_sizes);
  g_test_add_func ("/blur/long", test_long);
  g_test_add_func ("/blur/bands", test_bands);
  g_test_add_func ("/blur/fills", test_fills);
  g_test_add_func ("/blur/areas", test_areas);
  g_test_add_func ("/blur/area-outside", test_area_outside);
  g_test_add_func ("/blur/cancelled", test_cancelled);
  g_test_add_func ("/blur/draws", test_draws);
  const int status = g_test_run ();

  for (guint threads = 1; threads <= MAX_THREADS; threads++)
    sb_parallel_free (shared.parallel[threads]);
  sb_blur_scratch_free (shared.scratch);
  sb_test_tone_clear (&shared.srgb);
  sb_test_tone_clear (&shared.mixed);
  return status;
}
