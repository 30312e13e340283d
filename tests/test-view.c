/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-engine.h"
#include "sb-isa.h"
#include "sb-kernel-view.h"

#include <math.h>
#include <string.h>

/* What is shown, against the definition written down in double over the full-size picture. */

static const SbView plain = {
  .what = SB_SHOW_RESULT,
  .width = 64,
  .height = 48,
  .zoom = 1,
  .checker_size = 8,
  .ground = { 40, 41, 42 },
  .checker = { { 102, 103, 104 }, { 153, 152, 151 } },
};

typedef struct
{
  guint8 *pixels;
  int width, height;
} Shot;

static void
shot_clear (Shot *shot)
{
  g_clear_pointer (&shot->pixels, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Shot, shot_clear)

static Shot
show (SbEngine *engine, const SbView *view)
{
  /* A stride of its own, and bytes behind each row that must stay as they are. */
  const gsize stride = 4 * (gsize)view->width + 12;
  g_autofree guint8 *rows = g_malloc (stride * view->height);
  Shot shot = { g_malloc (4 * (gsize)view->width * view->height), view->width, view->height };
  g_autoptr (GError) error = NULL;

  memset (rows, 0x5a, stride * view->height);
  g_assert_true (sb_engine_show_host (engine, view, rows, stride, &error));
  g_assert_no_error (error);
  for (int j = 0; j < view->height; j++)
    {
      memcpy (shot.pixels + 4 * (gsize)j * view->width, rows + j * stride, 4 * (gsize)view->width);
      for (guint i = 0; i < 12; i++)
        g_assert_cmpuint (rows[j * stride + 4 * (gsize)view->width + i], ==, 0x5a);
    }
  for (int i = 0; i < view->width * view->height; i++)
    g_assert_cmpuint (shot.pixels[4 * i + 3], ==, 255);
  return shot;
}

static const guint8 *
at (const Shot *shot, int i, int j)
{
  g_assert_true (i >= 0 && j >= 0 && i < shot->width && j < shot->height);
  return shot->pixels + 4 * ((gsize)j * shot->width + i);
}

static void
assert_colour (const Shot *shot, int i, int j, const guint8 *colour)
{
  const guint8 *pixel = at (shot, i, j);
  for (guint c = 0; c < 3; c++)
    if (pixel[c] != colour[c])
      g_error ("pixel %d, %d: %u %u %u instead of %u %u %u", i, j, pixel[0], pixel[1], pixel[2],
               colour[0], colour[1], colour[2]);
}

/* Noise over a gradient with hard edges; alpha of every kind where asked for. */
static SbImage *
make_picture (guint width, guint height, guint depth, gboolean alpha, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (width, height, depth, &error);
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;

  g_assert_no_error (error);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      for (guint c = 0; c < 4; c++)
        {
          const gsize i = 4 * ((gsize)y * width + x) + c;
          guint32 v = g_rand_int (rand) & 0xffff;
          if (c < 3 && (x / 37 + y / 23) % 3 == 0)
            v = (c * 20000 + x * 60 + y * 90) & 0xffff;
          if (c == 3)
            v = !alpha                      ? 0xffff
                : (x / 11 + y / 7) % 4 == 0 ? 0
                : (x / 11 + y / 7) % 4 == 1 ? 0xffff
                                            : v;
          if (depth == 16)
            p16[i] = (guint16)v;
          else
            p8[i] = (guint8)(v >> 8);
        }
  return image;
}

static double
sample (SbImage *image, gsize x, gsize y, guint c)
{
  const gsize i = 4 * (y * sb_image_get_width (image) + x) + c;
  const guint8 *pixels = sb_image_get_pixels (image);

  return sb_image_get_depth (image) == 8 ? pixels[i] / 255.0
                                         : ((const guint16 *)pixels)[i] / 65535.0;
}

/* The level a view is made from: the one the zoom asks for, as long as the one before has more than
 * 32 pixels a side. */
static guint
level_of (SbImage *image, double zoom)
{
  const guint side = MAX (sb_image_get_width (image), sb_image_get_height (image));
  guint n_levels = 0;

  while ((side + (1u << n_levels) - 1) >> n_levels > 32)
    n_levels++;
  return MIN (sb_engine_level_for_zoom (zoom), n_levels > 0 ? MAX (n_levels, 2) : 0);
}

/* Adds the premultiplied mean of columns x0 .. x1 - 1 and rows y0 .. y1 - 1, w times. */
static void
add_block (SbImage *image, gsize x0, gsize x1, gsize y0, gsize y1, double w, double sum[4])
{
  const double share = w / (double)((x1 - x0) * (y1 - y0));

  for (gsize y = y0; y < y1; y++)
    for (gsize x = x0; x < x1; x++)
      {
        const double a = sample (image, x, y, 3);
        for (guint c = 0; c < 3; c++)
          sum[c] += share * a * sample (image, x, y, c);
        sum[3] += share * a;
      }
}

/* Device pixel (i, j) by definition, 0 .. 255: the mean over its footprint of the picture as it is
 * at `level`, where each pixel is the mean of what it covers. */
static void
restate (SbImage *image, const SbView *view, guint level, int i, int j, double out[3])
{
  const int width = (int)sb_image_get_width (image), height = (int)sb_image_get_height (image);
  const double x = view->x + (i + 0.5) / view->zoom, y = view->y + (j + 0.5) / view->zoom;
  const int unit = 1 << level;
  double sum[4] = { 0 }, area = 0;

  if (x < 0 || y < 0 || x >= width || y >= height)
    {
      for (guint c = 0; c < 3; c++)
        out[c] = view->ground[c];
      return;
    }
  if (view->zoom >= 1)
    {
      add_block (image, (gsize)x, (gsize)x + 1, (gsize)y, (gsize)y + 1, 1, sum);
      area = 1;
    }
  else
    {
      const double half = 0.5 / view->zoom;
      const double x0 = MAX (x - half, 0), x1 = MIN (x + half, width);
      const double y0 = MAX (y - half, 0), y1 = MIN (y + half, height);
      for (int v = (int)y0 / unit * unit; v < y1; v += unit)
        for (int u = (int)x0 / unit * unit; u < x1; u += unit)
          {
            const int right = MIN (u + unit, width), bottom = MIN (v + unit, height);
            const double w = (MIN (x1, right) - MAX (x0, u)) * (MIN (y1, bottom) - MAX (y0, v));
            add_block (image, (gsize)u, (gsize)right, (gsize)v, (gsize)bottom, w, sum);
            area += w;
          }
    }
  const guint check = ((guint)i / view->checker_size + (guint)j / view->checker_size) % 2;
  for (guint c = 0; c < 3; c++)
    out[c] = 255 * sum[c] / area + (1 - sum[3] / area) * view->checker[check][c];
}

static SbEngine *
open_engine (guint threads)
{
  g_autoptr (GError) error = NULL;
  SbEngine *engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, threads }, &error);

  g_assert_no_error (error);
  g_assert_nonnull (engine);
  return engine;
}

static void
load (SbEngine *engine, SbImage *image)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_load (engine, image, &error));
  g_assert_no_error (error);
}

/* Every device pixel within `tolerance` of the definition; 0.5 and a bit is exact rounding. */
static void
compare (SbEngine *engine, SbImage *image, const SbView *view, guint level, double tolerance)
{
  g_auto (Shot) shot = show (engine, view);

  for (int j = 0; j < view->height; j++)
    for (int i = 0; i < view->width; i++)
      {
        double expected[3];
        restate (image, view, level, i, j, expected);
        for (guint c = 0; c < 3; c++)
          if (fabs (at (&shot, i, j)[c] - expected[c]) > tolerance)
            g_error ("%u x %u, depth %u, zoom %g at %g, %g: pixel %d, %d channel %u: %u instead of "
                     "%.3f",
                     sb_image_get_width (image), sb_image_get_height (image),
                     sb_image_get_depth (image), view->zoom, view->x, view->y, i, j, c,
                     at (&shot, i, j)[c], expected[c]);
      }
}

static void
test_copy (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = make_picture (53, 39, 8, FALSE, 1);
  const guint8 *pixels = sb_image_get_pixels (image);
  SbView view = plain;

  load (engine, image);
  for (int dy = -5; dy <= 5; dy += 5)
    for (int dx = -7; dx <= 7; dx += 7)
      {
        view.x = dx;
        view.y = dy;
        g_auto (Shot) shot = show (engine, &view);
        for (int j = 0; j < view.height; j++)
          for (int i = 0; i < view.width; i++)
            {
              const int x = i + dx, y = j + dy;
              const gboolean inside = x >= 0 && y >= 0 && x < 53 && y < 39;
              assert_colour (&shot, i, j, inside ? pixels + 4 * (y * 53 + x) : view.ground);
            }
      }
}

static void
test_copy_16 (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = sb_image_new (256, 256, 16, &error);
  guint16 *pixels = (guint16 *)sb_image_writable (image);
  SbView view = plain;

  /* Every value of 16 bits. */
  for (guint i = 0; i < 65536; i++)
    {
      pixels[4 * i] = (guint16)i;
      pixels[4 * i + 1] = (guint16)(65535 - i);
      pixels[4 * i + 2] = (guint16)(i * 40503u);
      pixels[4 * i + 3] = 65535;
    }
  load (engine, image);
  view.width = view.height = 256;
  g_auto (Shot) shot = show (engine, &view);
  for (guint i = 0; i < 65536; i++)
    for (guint c = 0; c < 3; c++)
      g_assert_cmpuint (shot.pixels[4 * i + c], ==, (2 * pixels[4 * i + c] + 257) / 514);
}

static void
test_repeat (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = make_picture (9, 7, 8, FALSE, 2);
  const guint8 *pixels = sb_image_get_pixels (image);
  SbView view = plain;

  load (engine, image);
  for (int zoom = 1; zoom <= 20; zoom++)
    {
      view.zoom = zoom;
      view.x = 2;
      view.y = 1;
      g_auto (Shot) shot = show (engine, &view);
      for (int j = 0; j < view.height; j++)
        for (int i = 0; i < view.width; i++)
          {
            const int x = 2 + i / zoom, y = 1 + j / zoom;
            assert_colour (&shot, i, j, x < 9 && y < 7 ? pixels + 4 * (y * 9 + x) : view.ground);
          }
    }
}

/* 1.5 device pixels a pixel: the pixel under each centre. */
static void
test_centres (void)
{
  g_autoptr (SbEngine) engine = open_engine (1);
  g_autoptr (SbImage) image = make_picture (6, 6, 8, FALSE, 3);
  const guint8 *pixels = sb_image_get_pixels (image);
  static const int source[9] = { 0, 1, 1, 2, 3, 3, 4, 5, 5 };
  SbView view = plain;

  load (engine, image);
  view.zoom = 1.5;
  g_auto (Shot) shot = show (engine, &view);
  for (int j = 0; j < 9; j++)
    for (int i = 0; i < 9; i++)
      assert_colour (&shot, i, j, pixels + 4 * (source[j] * 6 + source[i]));
  assert_colour (&shot, 9, 0, view.ground);
  assert_colour (&shot, 0, 9, view.ground);
}

static void
test_area (void)
{
  static const guint sizes[][2]
      = { { 1, 1 }, { 3, 200 }, { 257, 131 }, { 333, 222 }, { 64, 64 }, { 127, 1 }, { 200, 259 } };
  static const double zooms[] = { 0.97, 0.75, 0.5001, 0.5, 0.37, 0.25, 0.2, 0.13, 0.06, 0.01 };
  static const double origins[][2] = { { 0, 0 }, { -3.25, 7.6 }, { 20.4, -11 } };
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint kind = 0; kind < 4; kind++)
      {
        g_autoptr (SbImage) image
            = make_picture (sizes[s][0], sizes[s][1], (kind & 1) ? 16 : 8, (kind & 2) != 0, 10 + s);
        load (engine, image);
        for (guint z = 0; z < G_N_ELEMENTS (zooms); z++)
          for (guint o = 0; o < G_N_ELEMENTS (origins); o++)
            {
              SbView view = plain;
              view.width = 61;
              view.height = 33;
              view.zoom = zooms[z];
              view.x = origins[o][0];
              view.y = origins[o][1];
              compare (engine, image, &view, level_of (image, view.zoom), 1.001);
              /* Without a level that was rounded to 8 bits, nothing is lost but the last bit. */
              if (level_of (image, view.zoom) != 1 || (kind & 1) != 0)
                compare (engine, image, &view, level_of (image, view.zoom), 0.51);
            }
      }
}

/* Footprints made of whole pixels of a level: the mean of the full-size picture itself. */
static void
test_area_aligned (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint kind = 0; kind < 4; kind++)
    {
      g_autoptr (SbImage) image
          = make_picture (331, 223, (kind & 1) ? 16 : 8, (kind & 2) != 0, 40 + kind);
      load (engine, image);
      for (guint level = 0; level <= 4; level++)
        {
          SbView view = plain;
          view.zoom = 1.0 / (1u << level);
          view.x = -2.0 * (1u << level);
          view.y = 3.0 * (1u << level);
          compare (engine, image, &view, 0, 1.001);
        }
    }
}

/* Transparency at zooms from 1 on. */
static void
test_sharp_alpha (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbImage) image = make_picture (61, 43, depth, TRUE, depth);
      SbView view = plain;
      load (engine, image);
      for (view.zoom = 1; view.zoom < 6; view.zoom += 0.75)
        {
          view.x = -1.3;
          view.y = 2.7;
          compare (engine, image, &view, 0, 0.51);
        }
    }
}

static void
test_checkerboard (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = make_picture (40, 30, 8, FALSE, 4);
  guint8 *pixels = sb_image_writable (image);
  SbView view = plain;

  /* Whatever colour lies under alpha 0. */
  for (guint i = 0; i < 40 * 30; i++)
    pixels[4 * i + 3] = 0;
  load (engine, image);
  for (guint size = 1; size <= 16; size += 5)
    for (int moved = 0; moved < 2; moved++)
      for (int z = 0; z < 3; z++)
        {
          view.checker_size = size;
          view.zoom = z == 0 ? 0.5 : z == 1 ? 1 : 4;
          /* Fixed to the viewport: moving the picture moves its edge only. */
          view.x = moved ? -5 / view.zoom : 0;
          view.y = moved ? -3 / view.zoom : 0;
          g_auto (Shot) shot = show (engine, &view);
          for (int j = 0; j < view.height; j++)
            for (int i = 0; i < view.width; i++)
              {
                const int x0 = moved ? 5 : 0, y0 = moved ? 3 : 0;
                const gboolean inside
                    = i >= x0 && j >= y0 && i < x0 + 40 * view.zoom && j < y0 + 30 * view.zoom;
                const guint check = ((guint)i / size + (guint)j / size) % 2;
                assert_colour (&shot, i, j, inside ? view.checker[check] : view.ground);
              }
        }
}

/* Columns of opaque red beside columns of invisible green: half red, half checkerboard, no green,
 * and no dark fringe. */
static void
test_premultiplied (void)
{
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SbImage) image = sb_image_new (256, 256, depth, &error);
      guint8 *p8 = sb_image_writable (image);
      guint16 *p16 = (guint16 *)p8;
      for (guint i = 0; i < 65536; i++)
        {
          const guint8 pixel[2][4] = { { 200, 0, 0, 255 }, { 0, 255, 0, 0 } };
          for (guint c = 0; c < 4; c++)
            if (depth == 8)
              p8[4 * i + c] = pixel[i & 1][c];
            else
              p16[4 * i + c] = (guint16)(pixel[i & 1][c] * 257);
        }
      load (engine, image);
      for (guint level = 1; level <= 3; level++)
        {
          SbView view = plain;
          view.width = view.height = 32;
          view.zoom = 1.0 / (1u << level);
          view.checker_size = 64;
          view.checker[0][0] = 100;
          view.checker[0][1] = 50;
          view.checker[0][2] = 20;
          g_auto (Shot) shot = show (engine, &view);
          const guint8 expected[3] = { 150, 25, 10 };
          for (int j = 0; j < 32; j++)
            for (int i = 0; i < 32; i++)
              for (guint c = 0; c < 3; c++)
                g_assert_cmpint (ABS (at (&shot, i, j)[c] - expected[c]), <=, 1);
        }
    }
}

static void
test_bad_views (void)
{
  g_autoptr (SbEngine) engine = open_engine (1);
  g_autoptr (SbImage) image = make_picture (5, 5, 8, FALSE, 5);
  g_autoptr (GError) error = NULL;
  guint8 pixels[64 * 48 * 4];
  SbView view = plain;

  g_assert_false (sb_engine_show_host (engine, &view, pixels, 256, &error));
  g_assert_nonnull (error); /* nothing is loaded */
  g_clear_error (&error);
  load (engine, image);
  view.zoom = NAN;
  g_assert_false (sb_engine_show_host (engine, &view, pixels, 256, &error));
  g_assert_nonnull (error);
  /* Far away, and far out: only ground. */
  view = plain;
  view.x = 1e12;
  g_auto (Shot) far = show (engine, &view);
  assert_colour (&far, 10, 10, view.ground);
  view.x = -1e12;
  g_auto (Shot) left = show (engine, &view);
  assert_colour (&left, 63, 47, view.ground);
  view.x = -16000;
  view.zoom = 1e-3;
  g_auto (Shot) tiny = show (engine, &view);
  assert_colour (&tiny, 20, 0, view.ground);
}

static void
test_level (void)
{
  g_assert_cmpuint (sb_engine_level_for_zoom (20), ==, 0);
  g_assert_cmpuint (sb_engine_level_for_zoom (1), ==, 0);
  g_assert_cmpuint (sb_engine_level_for_zoom (0.5000001), ==, 0);
  g_assert_cmpuint (sb_engine_level_for_zoom (0.5), ==, 1);
  g_assert_cmpuint (sb_engine_level_for_zoom (0.26), ==, 1);
  g_assert_cmpuint (sb_engine_level_for_zoom (0.25), ==, 2);
  g_assert_cmpuint (sb_engine_level_for_zoom (0.16), ==, 2);
  g_assert_cmpuint (sb_engine_level_for_zoom (0.125), ==, 3);
  g_assert_cmpuint (sb_engine_level_for_zoom (1e-30), ==, SB_ENGINE_MAX_LEVEL);
}

/* The row functions against their definitions. */
static void
test_kernels (void)
{
  const SbViewKernels *kernels = sb_view_kernels_get ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint8 rows[4][4 * 4 * 37], halves[2][4 * 2 * 37];
  guint16 quarter[4 * 37];

  for (guint round = 0; round < 200; round++)
    {
      for (guint r = 0; r < 4; r++)
        for (guint i = 0; i < sizeof rows[0]; i++)
          rows[r][i] = round == 0   ? 255
                       : round == 1 ? 0
                       : round < 20 ? (guint8)(g_rand_int (rand) & 1 ? 255 : 254)
                                    : (guint8)g_rand_int (rand);
      kernels->reduce_twice_8 ((const guint8 *const[]){ rows[0], rows[1], rows[2], rows[3] }, 37,
                               (guint8 *const[]){ halves[0], halves[1] }, quarter);
      for (guint i = 0; i < 37; i++)
        for (guint c = 0; c < 4; c++)
          {
            guint all = 0;
            for (guint v = 0; v < 2; v++)
              for (guint u = 0; u < 2; u++)
                {
                  guint sum = 0;
                  for (guint k = 0; k < 4; k++)
                    sum += rows[2 * v + k / 2][4 * (4 * i + 2 * u + k % 2) + c];
                  g_assert_cmpuint (halves[v][4 * (2 * i + u) + c], ==, (sum + 2) / 4);
                  all += sum;
                }
            g_assert_cmpuint (quarter[4 * i + c], ==, (257 * all + 8) / 16);
          }
    }

  guint16 in[2][8 * 37], out[4 * 37];
  for (guint round = 0; round < 100; round++)
    {
      for (guint r = 0; r < 2; r++)
        for (guint i = 0; i < G_N_ELEMENTS (in[0]); i++)
          in[r][i] = round == 0 ? 65535 : (guint16)g_rand_int (rand);
      kernels->reduce_16 (in[0], in[1], 37, out);
      for (guint i = 0; i < G_N_ELEMENTS (out); i++)
        {
          const guint k = i / 4 * 8 + i % 4;
          g_assert_cmpuint (out[i], ==,
                            (in[0][k] + in[0][k + 4] + in[1][k] + in[1][k + 4] + 2u) / 4);
        }
    }

  /* Premultiplying: every alpha, colours at random and at the ends. */
  g_autofree guint16 *straight = g_new (guint16, 4 * 65536);
  g_autofree guint16 *product = g_new (guint16, 4 * 65536);
  for (guint round = 0; round < 20; round++)
    {
      for (guint a = 0; a < 65536; a++)
        {
          straight[4 * a] = (guint16)g_rand_int (rand);
          straight[4 * a + 1] = (guint16)(round == 0 ? 65535 : round == 1 ? a : g_rand_int (rand));
          straight[4 * a + 2] = (guint16)(round == 0 ? 32768 : g_rand_int (rand));
          straight[4 * a + 3] = (guint16)a;
        }
      kernels->work_16 (straight, 65536, NULL, FALSE, product);
      for (guint a = 0; a < 65536; a++)
        {
          for (guint c = 0; c < 3; c++)
            g_assert_cmpuint (product[4 * a + c], ==,
                              ((guint64)straight[4 * a + c] * a * 2 + 65535) / 131070);
          g_assert_cmpuint (product[4 * a + 3], ==, a);
        }
    }
  g_autofree guint8 *bytes = g_new (guint8, 4 * 65536);
  for (guint i = 0; i < 65536; i++)
    {
      bytes[4 * i] = (guint8)i;
      bytes[4 * i + 1] = (guint8)(255 - (i & 255));
      bytes[4 * i + 2] = (guint8)(i * 7);
      bytes[4 * i + 3] = (guint8)(i >> 8);
    }
  kernels->work_8 (bytes, 65536, NULL, FALSE, product);
  for (guint i = 0; i < 65536; i++)
    for (guint c = 0; c < 3; c++)
      g_assert_cmpuint (product[4 * i + c], ==,
                        (2 * 257 * (guint)bytes[4 * i + c] * bytes[4 * i + 3] + 255) / 510);
}

static const struct
{
  const char *name;
  void (*func) (void);
} cases[] = {
  { "copy", test_copy },
  { "copy-16", test_copy_16 },
  { "repeat", test_repeat },
  { "centres", test_centres },
  { "area", test_area },
  { "area-aligned", test_area_aligned },
  { "sharp-alpha", test_sharp_alpha },
  { "checkerboard", test_checkerboard },
  { "premultiplied", test_premultiplied },
  { "bad-views", test_bad_views },
  { "kernels", test_kernels },
};

static void
run_case (gconstpointer data)
{
  const guint packed = GPOINTER_TO_UINT (data);

  sb_isa_force (packed >> 8);
  cases[packed & 255].func ();
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/view/level", test_level);
  for (guint isa = 0; isa < SB_N_ISAS; isa++)
    for (guint i = 0; i < G_N_ELEMENTS (cases) && sb_isa_is_available (isa); i++)
      {
        g_autofree char *path = g_strdup_printf ("/view/%s/%s", sb_isa_name (isa), cases[i].name);
        g_test_add_data_func (path, GUINT_TO_POINTER (isa << 8 | i), run_case);
      }
  return g_test_run ();
}
