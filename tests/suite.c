/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "suite.h"

#include "pictures.h"
#include "sb-cpu-haar.h"
#include "sb-engine-private.h"
#include "sb-error.h"

#include <math.h>
#include <string.h>

static SbDevice suite_device;
static SbReferenceTone srgb;
/* Engines whose backend makes no transforms: they are made on the host. */
static gboolean without_subbands;

static SbEngine *
open_engine (guint threads)
{
  SbDevice device = suite_device;
  g_autoptr (GError) error = NULL;

  if (device.kind == SB_DEVICE_CPU)
    device.threads = threads;

  SbEngine *engine = sb_engine_new (device, &error);
  g_assert_no_error (error);
  g_assert_nonnull (engine);
  g_assert_nonnull (sb_engine_get_name (engine));
  if (without_subbands)
    {
      static SbBackendClass class;

      class = *engine->class;
      class.set_subbands = NULL;
      class.measure_band = NULL;
      class.summarize_subbands = NULL;
      class.pick_coefficient = NULL;
      class.read_subbands = NULL;
      class.measure_edit = NULL;
      engine->class = &class;
    }
  return engine;
}

static SbFill
random_fill (GRand *rand)
{
  return (SbFill)g_rand_int_range (rand, 0, SB_N_FILLS);
}

static SbImage *
random_picture (GRand *rand, guint max_side)
{
  const guint width = (guint)g_rand_int_range (rand, 1, (gint32)max_side + 1);
  const guint height = (guint)g_rand_int_range (rand, 1, (gint32)max_side + 1);
  const guint depth = g_rand_boolean (rand) ? 8 : 16;

  return sb_fill_image (width, height, random_fill (rand), 20, depth, rand);
}

static SbEditList *
random_list (GRand *rand, SbImage *image, guint n_edits)
{
  g_autofree SbEdit *edits = g_new (SbEdit, n_edits + 1);

  for (guint i = 0; i < n_edits; i++)
    {
      const guint radius = g_rand_int_range (rand, 0, 6) == 0 ? 60 : 8;

      edits[i] = g_rand_int_range (rand, 0, 3) > 0
                     ? sb_test_random_edit (rand, sb_image_get_width (image),
                                            sb_image_get_height (image), radius)
                     : sb_test_random_bands (rand, sb_image_get_width (image),
                                             sb_image_get_height (image));
    }
  return sb_edit_list_new (edits, n_edits);
}

static void
load (SbEngine *engine, SbImage *image)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_load (engine, image, &error));
  g_assert_no_error (error);
}

static void
render (SbEngine *engine, const SbEditList *list, guint n_fixed)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_render (engine, list, n_fixed, SB_QUALITY_EXACT, NULL, &error));
  g_assert_no_error (error);
}

/* Reads at both depths and compares with the reference. */
static gboolean
check_read (SbEngine *engine, SbImage *image, const SbEditList *list, guint n_fixed)
{
  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SbImage) expected = sb_reference_fold (image, list, depth, &srgb);
      g_autoptr (SbImage) actual = sb_engine_read (engine, list, n_fixed, depth, NULL, &error);
      g_autofree char *edits = sb_test_describe_list (list->edits, list->n_edits);
      g_autofree char *what
          = g_strdup_printf ("read at %u bits, %u fixed, of a picture of %u bits, %s", depth,
                             n_fixed, sb_image_get_depth (image), edits);

      g_assert_no_error (error);
      if (!sb_test_same_image (expected, actual, what))
        return FALSE;
    }
  return TRUE;
}

/* What is shown, pixel by pixel: the fold at the document's depth. */
static gboolean
check_shown (SbEngine *engine, SbShowWhat what, SbImage *image, const SbEditList *list)
{
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  g_autoptr (SbImage) folded = sb_reference_fold (image, list, sb_image_get_depth (image), &srgb);
  g_autoptr (SbImage) expected = sb_reference_fold (folded, NULL, 16, &srgb);
  g_autoptr (SbImage) actual = sb_image_new (width, height, 16, NULL);
  guint16 *to = (guint16 *)(void *)sb_image_writable (actual);

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      g_assert_true (
          sb_engine_pick (engine, what, (int)x, (int)y, to + 4 * ((gsize)y * width + x)));
  return sb_test_same_image (expected, actual,
                             what == SB_SHOW_RESULT ? "result picked" : "original picked");
}

/* --- Loading --------------------------------------------------------------------------------- */

static void
test_unedited (void)
{
  static const guint sizes[][2] = { { 1, 1 }, { 1, 9 }, { 9, 1 }, { 33, 31 }, { 257, 65 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (SbFill fill = 0; fill < SB_N_FILLS; fill++)
      for (guint depth = 8; depth <= 16; depth += 8)
        {
          g_autoptr (SbImage) image
              = sb_fill_image (sizes[s][0], sizes[s][1], fill, 9, depth, rand);

          load (engine, image);
          if (!check_read (engine, image, none, 0)
              || !check_shown (engine, SB_SHOW_RESULT, image, none)
              || !check_shown (engine, SB_SHOW_ORIGINAL, image, none))
            return;
        }
}

/* An edit that changes nothing gives every byte back, colour under alpha 0 too. */
static void
test_identity (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbImage) image = sb_fill_image (40, 30, SB_FILL_SPARSE, 9, depth, rand);
      SbEdit edits[2] = { sb_test_blur (0, 10, TRUE), sb_test_blur (9, 3, TRUE) };

      edits[1].area.invert = TRUE; /* of the whole: nothing */
      g_autoptr (SbEditList) list = sb_edit_list_new (edits, 2);
      load (engine, image);
      render (engine, list, 0);

      g_autoptr (SbImage) same = sb_engine_read (engine, list, 0, depth, NULL, NULL);
      sb_test_same_image (image, same, "edits that change nothing");
      check_shown (engine, SB_SHOW_RESULT, image, list);
    }
}

static void
test_reload (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (SbEngine) engine = open_engine (2);

  /* Nothing of a picture before, of its size or its depth, is left in the next. */
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (SbImage) image = random_picture (rand, 60);
      g_autoptr (SbEditList) list = random_list (rand, image, 1 + i % 3);
      g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);
      const guint64 serial = sb_engine_get_serial (engine);

      load (engine, image);
      g_assert_cmpuint (sb_engine_get_serial (engine), !=, serial);
      if (!check_shown (engine, SB_SHOW_RESULT, image, none)
          || !check_read (engine, image, list, 0))
        return;
      render (engine, list, 0);
      if (!check_shown (engine, SB_SHOW_RESULT, image, list))
        return;
    }
}

/* --- Lists of edits -------------------------------------------------------------------------- */

static void
test_lists (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 120; i++)
    {
      g_autoptr (SbImage) image = random_picture (rand, 70);
      const guint n = (guint)g_rand_int_range (rand, 0, 6);
      g_autoptr (SbEditList) list = random_list (rand, image, n);

      load (engine, image);
      for (guint n_fixed = 0; n_fixed <= n; n_fixed++)
        {
          const gboolean rendered = g_rand_boolean (rand);

          if (rendered)
            render (engine, list, n_fixed);
          if (!check_read (engine, image, list, n_fixed)
              || (rendered && !check_shown (engine, SB_SHOW_RESULT, image, list))
              || !sb_test_in_share ())
            break;
        }
      if (g_test_failed ())
        return;
    }
}

/* A drag on the last edit behind others, and one on an edit in the middle. */
static void
test_drag (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbImage) image = sb_fill_image (90, 70, SB_FILL_NOISE_ALPHA, 9, depth, rand);
      SbEdit edits[4] = { sb_test_blur (1.5, 1, FALSE), sb_test_blur (3, 2, TRUE),
                          sb_test_blur (2, 3, FALSE), sb_test_blur (1, 1, TRUE) };

      load (engine, image);
      for (guint moving = 0; moving < 4; moving++)
        for (guint radius = 0; radius <= 6; radius++)
          {
            edits[moving].values[SB_BLUR_RADIUS] = radius;
            g_autoptr (SbEditList) list = sb_edit_list_new (edits, 4);

            render (engine, list, moving);
            if (!check_shown (engine, SB_SHOW_RESULT, image, list)
                || !check_read (engine, image, list, moving))
              return;
          }
    }
}

static void
test_base (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 40; i++)
    {
      g_autoptr (SbImage) image = random_picture (rand, 60);
      const guint n = (guint)g_rand_int_range (rand, 1, 5);
      const guint n_base = (guint)g_rand_int_range (rand, 0, (gint32)n + 1);
      const guint n_fixed = (guint)g_rand_int_range (rand, 0, (gint32)n + 1);
      g_autoptr (SbEditList) list = random_list (rand, image, n);
      g_autoptr (SbEditList) first = sb_edit_list_new (list->edits, n_base);
      g_autoptr (SbEditList) other = random_list (rand, image, n);
      g_autoptr (SbImage) base = sb_reference_fold (image, first, 16, &srgb);
      g_autoptr (GError) error = NULL;

      load (engine, image);
      if (g_rand_boolean (rand))
        render (engine, other, n_fixed);
      g_assert_true (sb_engine_set_base (engine, base, list, n_base, &error));
      g_assert_no_error (error);
      /* What is shown stays until the next render. */
      if (g_rand_boolean (rand))
        {
          render (engine, list, n_fixed);
          if (!check_shown (engine, SB_SHOW_RESULT, image, list))
            return;
        }
      /* A list that does not begin with the base's edits must not start there. */
      if (!check_read (engine, image, list, n_fixed) || !check_read (engine, image, other, n_fixed)
          || !check_read (engine, image, list, n))
        return;
    }
}

/* A base that is not what the edits make is used all the same: the work of the edits before it is
 * not done again. */
static void
test_base_is_used (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = sb_fill_image (30, 20, SB_FILL_NOISE, 9, 16, rand);
  g_autoptr (SbImage) foreign = sb_fill_image (30, 20, SB_FILL_NOISE, 9, 16, rand);
  const SbEdit edits[3]
      = { sb_test_blur (5, 3, TRUE), sb_test_blur (2, 1, FALSE), sb_test_blur (3, 2, TRUE) };
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 3);
  g_autoptr (SbEditList) last = sb_edit_list_new (edits + 2, 1);
  g_autoptr (GError) error = NULL;

  load (engine, image);
  g_assert_true (sb_engine_set_base (engine, foreign, list, 2, &error));
  g_assert_no_error (error);
  render (engine, list, 2);
  check_shown (engine, SB_SHOW_RESULT, foreign, last);
}

/* --- Any order ------------------------------------------------------------------------------- */

/* Shows the whole picture at 100 %. */
static SbImage *
show (SbEngine *engine, SbImage *image, SbShowWhat what)
{
  const SbView view = {
    .what = what,
    .width = (int)sb_image_get_width (image),
    .height = (int)sb_image_get_height (image),
    .zoom = 1,
    .checker_size = 8,
    .ground = { 40, 40, 40 },
    .checker = { { 100, 100, 100 }, { 150, 150, 150 } },
  };
  SbImage *shown = sb_image_new ((guint)view.width, (guint)view.height, 8, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_show_host (engine, &view, sb_image_writable (shown),
                                      sb_image_get_stride (shown), &error));
  g_assert_no_error (error);
  return shown;
}

/* Each backend is within 1 of 255 of the exact bytes. */
static gboolean
is_close (SbImage *expected, SbImage *shown)
{
  const guint8 *a = sb_image_get_pixels (expected), *b = sb_image_get_pixels (shown);

  for (gsize i = 0; i < sb_image_get_bytes (expected); i++)
    if (ABS ((int)a[i] - (int)b[i]) > 1)
      {
        g_autofree char *difference = sb_test_first_difference (expected, shown);

        g_test_message ("more than 1 apart: %s", difference);
        g_test_fail ();
        return FALSE;
      }
  return TRUE;
}

static void
test_any_order (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (guint round = 0; round < 25; round++)
    {
      g_autoptr (SbEngine) engine = open_engine (1 + round % 3);
      g_autoptr (SbImage) image = random_picture (rand, 80);
      g_autoptr (SbImage) untouched
          = sb_reference_fold (image, NULL, sb_image_get_depth (image), &srgb);
      g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);
      SbEditList *lists[4];
      SbEditList *shown = none; /* NULL after a preview */

      for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
        lists[i] = random_list (rand, image, i);
      load (engine, image);
      g_autoptr (SbImage) original = show (engine, image, SB_SHOW_ORIGINAL);

      for (guint step = 0; step < 30 && !g_test_failed (); step++)
        {
          SbEditList *list = lists[g_rand_int_range (rand, 0, G_N_ELEMENTS (lists))];
          const guint n_fixed = (guint)g_rand_int_range (rand, 0, (gint32)list->n_edits + 1);
          g_autoptr (GCancellable) cancellable = g_cancellable_new ();
          g_autoptr (GError) error = NULL;

          switch (g_rand_int_range (rand, 0, 8))
            {
            case 0:
            case 1:
              render (engine, list, n_fixed);
              shown = list;
              break;
            case 2:
              {
                const SbRect region = { 3, 2, 20, 10 };
                const SbQuality preview = { FALSE, (guint)g_rand_int_range (rand, 0, 4),
                                            g_rand_boolean (rand) ? &region : NULL };

                g_assert_true (sb_engine_render (engine, list, n_fixed, preview, NULL, &error));
                g_assert_no_error (error);
                shown = NULL;
                break;
              }
            case 3:
              {
                const guint64 serial = sb_engine_get_serial (engine);

                g_cancellable_cancel (cancellable);
                g_assert_false (sb_engine_render (engine, list, n_fixed, SB_QUALITY_EXACT,
                                                  cancellable, &error));
                g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
                g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
                break;
              }
            case 4:
              sb_engine_trim (engine);
              break;
            case 5:
              {
                g_autoptr (SbImage) now = show (engine, image, SB_SHOW_ORIGINAL);

                sb_test_same_image (original, now, "the original shown again");
                break;
              }
            case 6:
              check_read (engine, image, list, n_fixed);
              break;
            default:
              {
                g_autoptr (SbImage) base = sb_reference_fold (image, list, 16, &srgb);

                g_assert_true (sb_engine_set_base (engine, base, list, list->n_edits, &error));
                g_assert_no_error (error);
                break;
              }
            }

          if (shown != NULL)
            {
              check_shown (engine, SB_SHOW_RESULT, image, shown);
              if (sb_image_is_opaque (image))
                {
                  g_autoptr (SbImage) exact = sb_reference_fold (image, shown, 8, &srgb);
                  g_autoptr (SbImage) now = show (engine, image, SB_SHOW_RESULT);

                  is_close (exact, now);
                }
            }
        }
      check_shown (engine, SB_SHOW_ORIGINAL, image, none);
      sb_test_same_image (untouched, image, "the picture that was loaded");
      for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
        sb_edit_list_unref (lists[i]);
      if (g_test_failed ())
        {
          g_test_message ("in round %u", round);
          return;
        }
    }
}

/* However many threads there are, and however often it is done. */
static void
test_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autoptr (SbImage) image = sb_fill_image (701, 403, SB_FILL_NOISE_ALPHA, 9, 8, rand);
  SbEdit edits[2] = { sb_test_blur (7, 3, TRUE), sb_test_blur (2.5, 2, FALSE) };

  edits[1].area = (SbArea){ SB_AREA_ELLIPSE, 50, 60, 500, 300, 20, FALSE };
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 2);
  g_autoptr (SbImage) expected = sb_reference_fold (image, list, 16, &srgb);

  for (guint threads = 1; threads <= 5; threads++)
    {
      g_autoptr (SbEngine) engine = open_engine (threads);

      load (engine, image);
      for (guint again = 0; again < 2; again++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (SbImage) actual = sb_engine_read (engine, list, 1, 16, NULL, &error);

          g_assert_no_error (error);
          if (!sb_test_same_image (expected, actual, "with several threads"))
            return;
        }
    }
}

/* --- Cancelling and bad edits ---------------------------------------------------------------- */

static gpointer
cancel_soon (gpointer data)
{
  g_usleep (1u << g_random_int_range (0, 18));
  g_cancellable_cancel (data);
  return NULL;
}

/* Cancelled in the middle, from another thread: done whole, or not at all. */
static void
test_cancel_midway (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = sb_fill_image (400, 300, SB_FILL_NOISE_ALPHA, 9, 16, rand);
  const SbEdit edits[3]
      = { sb_test_blur (9, 3, TRUE), sb_test_blur (4, 2, FALSE), sb_test_blur (5, 3, TRUE) };
  g_autoptr (SbEditList) before = sb_edit_list_new (edits, 1);
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 3);
  guint cancelled = 0;

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;

      load (engine, image);
      render (engine, before, 0);
      const guint64 serial = sb_engine_get_serial (engine);
      GThread *thread = g_thread_new ("cancel", cancel_soon, cancellable);
      const gboolean done
          = sb_engine_render (engine, list, i % 4, SB_QUALITY_EXACT, cancellable, &error);
      g_thread_join (thread);

      if (!done)
        {
          cancelled++;
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
        }
      if (i % 5 == 0
          && (!check_shown (engine, SB_SHOW_RESULT, image, done ? list : before)
              || !check_read (engine, image, list, i % 4)))
        return;
    }
  g_test_message ("%u of 20 were cancelled in time", cancelled);
}

static void
test_area_outside (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = sb_fill_image (20, 10, SB_FILL_NOISE, 9, 8, rand);
  SbEdit edits[2] = { sb_test_blur (2, 1, TRUE), sb_test_blur (3, 1, TRUE) };
  g_autoptr (SbEditList) good = sb_edit_list_new (edits, 2);
  g_autoptr (GError) error = NULL;

  edits[1].area = (SbArea){ SB_AREA_RECT, 20, 0, 5, 5, 0, FALSE };
  g_autoptr (SbEditList) bad = sb_edit_list_new (edits, 2);

  load (engine, image);
  render (engine, good, 1);
  const guint64 serial = sb_engine_get_serial (engine);

  g_assert_false (sb_engine_render (engine, bad, 1, SB_QUALITY_EXACT, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (sb_engine_read (engine, bad, 1, 8, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);

  g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
  check_shown (engine, SB_SHOW_RESULT, image, good);
  check_read (engine, image, good, 1);
}

static void
test_pick_outside (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (SbEngine) engine = open_engine (1);
  g_autoptr (SbImage) image = sb_fill_image (7, 5, SB_FILL_NOISE, 9, 8, rand);
  static const int outside[][2] = { { -1, 0 }, { 0, -1 }, { 7, 0 }, { 0, 5 }, { 70000, 70000 } };
  guint16 rgba[4];

  load (engine, image);
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++)
    for (SbShowWhat what = SB_SHOW_RESULT; what <= SB_SHOW_ORIGINAL; what++)
      g_assert_false (sb_engine_pick (engine, what, outside[i][0], outside[i][1], rgba));
}

/* The same list once more is not rendered once more, and a preview is no result to read. */
static void
test_serial (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  g_autoptr (SbEngine) engine = open_engine (2);
  g_autoptr (SbImage) image = sb_fill_image (64, 48, SB_FILL_RAMP, 9, 8, rand);
  const SbEdit edits[2] = { sb_test_blur (3, 1, TRUE), sb_test_blur (6, 2, TRUE) };
  g_autoptr (SbEditList) first = sb_edit_list_new (edits, 1);
  g_autoptr (SbEditList) second = sb_edit_list_new (edits, 2);

  load (engine, image);
  const guint64 loaded = sb_engine_get_serial (engine);
  render (engine, first, 0);
  const guint64 rendered = sb_engine_get_serial (engine);
  g_assert_cmpuint (rendered, !=, loaded);

  g_autoptr (GError) error = NULL;
  const SbQuality preview = { FALSE, 1, NULL };
  g_assert_true (sb_engine_render (engine, second, 1, preview, NULL, &error));
  g_assert_no_error (error);
  const guint64 previewed = sb_engine_get_serial (engine);
  g_assert_cmpuint (previewed, !=, rendered);

  /* Reading shows nothing else. */
  check_read (engine, image, second, 1);
  check_read (engine, image, first, 0);
  g_assert_cmpuint (sb_engine_get_serial (engine), ==, previewed);

  /* Where no less than EXACT is ever made, the preview was it. */
  render (engine, second, 1);
  if (sb_engine_is_immediate (engine))
    g_assert_cmpuint (sb_engine_get_serial (engine), ==, previewed);
  else
    g_assert_cmpuint (sb_engine_get_serial (engine), !=, previewed);
  check_shown (engine, SB_SHOW_RESULT, image, second);
}

/* The profile of the original is the profile of what is read. */
static void
test_profile (void)
{
  g_autoptr (SbEngine) engine = open_engine (1);
  g_autoptr (SbImage) image = sb_image_new (4, 4, 8, NULL);
  g_autoptr (GBytes) profile = g_bytes_new_static ("no profile at all", 17);
  const SbEdit edit = sb_test_blur (1, 1, FALSE);
  g_autoptr (SbEditList) list = sb_edit_list_new (&edit, 1);
  g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);

  memset (sb_image_writable (image), 255, sb_image_get_bytes (image));
  sb_image_set_profile (image, profile);
  load (engine, image);
  for (guint depth = 8; depth <= 16; depth += 8)
    for (guint edited = 0; edited < 2; edited++)
      {
        g_autoptr (SbImage) read
            = sb_engine_read (engine, edited ? list : none, 0, depth, NULL, NULL);

        g_assert_nonnull (sb_image_get_profile (read));
        g_assert_true (g_bytes_equal (sb_image_get_profile (read), profile));
      }
}

/* --- Bands and subbands ---------------------------------------------------------------------- */

/* Edits of bands alone, over every kind of picture. */
static void
test_bands (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 200; i++)
    {
      if (!sb_test_in_share ())
        continue;

      const guint width = (guint)g_rand_int_range (rand, 1, i % 20 == 0 ? 700 : 100);
      const guint height = (guint)g_rand_int_range (rand, 1, i % 20 == 0 ? 200 : 80);
      g_autoptr (SbImage) image
          = sb_fill_image (width, height, random_fill (rand), 20, i % 2 == 0 ? 8 : 16, rand);
      const SbEdit edit = sb_test_random_bands (rand, width, height);
      g_autoptr (SbEditList) list = sb_edit_list_new (&edit, 1);

      load (engine, image);
      if (!check_read (engine, image, list, 0))
        return;
      render (engine, list, 0);
      if ((gsize)width * height < 4000 && !check_shown (engine, SB_SHOW_RESULT, image, list))
        return;
    }
}

static SbHaarChoice
random_choice (GRand *rand, SbImage *image)
{
  const guint deepest
      = sb_haar_max_levels (sb_image_get_width (image), sb_image_get_height (image));

  return (SbHaarChoice){ (SbHaarChannel)g_rand_int_range (rand, 0, SB_N_HAAR_CHANNELS),
                         (guint)g_rand_int_range (rand, 1, (gint32)deepest + 1) };
}

/* Bands, row after row without padding, against the reference's transform of the reference's fold
 * at the picture's depth. */
static gboolean
check_bands (SbHaar *haar, SbImage *folded, const SbHaarChoice *choice)
{
  const guint width = sb_image_get_width (folded), height = sb_image_get_height (folded);
  g_autofree float *samples = sb_reference_channel (folded, choice->channel);
  SbReferenceHaar reference;
  gboolean same = TRUE;

  g_assert_cmpuint (sb_haar_get_width (haar), ==, width);
  g_assert_cmpuint (sb_haar_get_height (haar), ==, height);
  g_assert_cmpuint (sb_haar_get_depth (haar), ==, sb_image_get_depth (folded));
  sb_reference_haar (samples, width, height, choice->levels, &reference);
  for (guint n = 0; same && n < sb_haar_n_bands (choice->levels); n++)
    {
      const SbHaarBand band = sb_haar_nth_band (choice->levels, n);
      guint columns, rows;
      const float *values = sb_haar_get_band (haar, band, &columns, &rows);

      same = memcmp (values, sb_reference_haar_band (&reference, band),
                     (gsize)columns * rows * sizeof (float))
             == 0;
      if (!same)
        {
          g_autofree char *name = sb_haar_band_name (band);

          g_test_message ("%s of %s, %u levels, %ux%u at %u bits differs", name,
                          sb_haar_channel_key (choice->channel), choice->levels, width, height,
                          sb_image_get_depth (folded));
          g_test_fail ();
        }
    }
  sb_reference_haar_clear (&reference);
  return same;
}

static void
test_read_subbands (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 100; i++)
    {
      if (!sb_test_in_share ())
        continue;

      g_autoptr (SbImage) image = random_picture (rand, i % 10 == 0 ? 400 : 70);
      g_autoptr (SbEditList) list = random_list (rand, image, i % 3);
      const SbHaarChoice choice = random_choice (rand, image);
      const guint n_fixed = (guint)g_rand_int_range (rand, 0, (gint32)list->n_edits + 1);
      g_autoptr (SbImage) folded
          = sb_reference_fold (image, list, sb_image_get_depth (image), &srgb);
      g_autoptr (GError) error = NULL;

      load (engine, image);
      if (g_rand_boolean (rand))
        render (engine, list, n_fixed);
      const guint64 serial = sb_engine_get_serial (engine);
      g_autoptr (SbHaar) haar
          = sb_engine_read_subbands (engine, list, n_fixed, &choice, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
      if (!check_bands (haar, folded, &choice))
        return;
    }
}

static void
assert_close (double actual, double expected)
{
  if (isinf (expected) || isnan (expected))
    g_assert_true (isinf (actual) == isinf (expected) && isnan (actual) == isnan (expected));
  else
    g_assert_cmpfloat_with_epsilon (actual, expected, 1e-9 * (1 + fabs (expected)));
}

/* What is shown, measured and picked after a render, against a transform on the host. */
static gboolean
check_subbands (SbEngine *engine, SbImage *folded, const SbHaarChoice *choice, GRand *rand)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbHaar) host = sb_haar_new (folded, choice, &error);
  const guint n_bands = sb_haar_n_bands (choice->levels);
  SbHaarSummary expected_summary, summary;

  g_assert_no_error (error);
  for (guint n = 0; n < n_bands; n++)
    {
      const SbHaarBand band = sb_haar_nth_band (choice->levels, n);
      SbHaarStatistics expected, actual;
      guint columns, rows;
      const float *values = sb_haar_get_band (host, band, &columns, &rows);
      float value;

      sb_haar_measure (host, band, &expected);
      g_assert_true (sb_engine_measure_band (engine, band, &actual, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (actual.count, ==, expected.count);
      assert_close (actual.mean, expected.mean);
      assert_close (actual.deviation, expected.deviation);
      assert_close (actual.energy, expected.energy);
      assert_close (actual.share, expected.share);
      g_assert_cmpfloat (actual.near_zero, ==, expected.near_zero);
      assert_close (actual.entropy, expected.entropy);
      g_assert_cmpfloat (actual.bin_width, ==, expected.bin_width);
      g_assert_cmpmem (actual.histogram, sizeof actual.histogram, expected.histogram,
                       sizeof expected.histogram);
      for (guint k = 0; k < 20; k++)
        {
          const guint column = (guint)g_rand_int_range (rand, 0, (gint32)columns);
          const guint row = (guint)g_rand_int_range (rand, 0, (gint32)rows);

          g_assert_true (sb_engine_pick_coefficient (engine, band, column, row, &value));
          g_assert_cmpfloat (value, ==, values[(gsize)row * columns + column]);
        }
      g_assert_false (sb_engine_pick_coefficient (engine, band, columns, 0, &value));
      g_assert_false (sb_engine_pick_coefficient (engine, band, 0, rows, &value));
    }
  sb_haar_summarize (host, &expected_summary);
  g_assert_true (sb_engine_summarize_subbands (engine, &summary, NULL, &error));
  g_assert_no_error (error);
  assert_close (summary.noise, expected_summary.noise);
  assert_close (summary.noise_levels, expected_summary.noise_levels);
  g_assert_cmpfloat (summary.reconstruction_error, ==, expected_summary.reconstruction_error);

  const SbView view = {
    .what = SB_SHOW_SUBBANDS,
    .width = 60,
    .height = 45,
    .zoom = ldexp (1, g_rand_int_range (rand, -3, 3)),
    .x = g_rand_int_range (rand, -256, 1000) / 64.0,
    .y = g_rand_int_range (rand, -256, 1000) / 64.0,
    .checker_size = 8,
    .ground = { 10, 20, 30 },
    .look
    = { (SbHaarLayout)g_rand_int_range (rand, 0, 2), (SbHaarDisplay)g_rand_int_range (rand, 0, 3),
        ldexp (1, g_rand_int_range (rand, -2, 9)), g_rand_boolean (rand), g_rand_boolean (rand) },
  };
  SbParallel *parallel = sb_parallel_new (1);
  g_autoptr (SbImage) expected = sb_image_new (60, 45, 8, NULL);
  g_autoptr (SbImage) shown = sb_image_new (60, 45, 8, NULL);
  g_assert_true (
      sb_cpu_haar_show (&view, &host->set, sb_image_writable (expected), 240, parallel, NULL));
  sb_parallel_free (parallel);
  g_assert_true (sb_engine_show_host (engine, &view, sb_image_writable (shown), 240, &error));
  g_assert_no_error (error);
  return is_close (expected, shown);
}

static void
test_subbands (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 40; i++)
    {
      if (!sb_test_in_share ())
        continue;

      g_autoptr (SbImage) image = random_picture (rand, i % 8 == 0 ? 300 : 60);
      const SbHaarChoice choice = random_choice (rand, image);
      g_autoptr (GError) error = NULL;

      load (engine, image);
      g_assert_cmpuint (sb_engine_get_subbands (engine).levels, ==, 0);
      guint64 serial = sb_engine_get_serial (engine);
      g_assert_true (sb_engine_set_subbands (engine, &choice, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (sb_engine_get_serial (engine), !=, serial);
      g_assert_cmpuint (sb_engine_get_subbands (engine).levels, ==, choice.levels);
      g_assert_cmpuint (sb_engine_get_subbands (engine).channel, ==, choice.channel);
      for (guint step = 0; step < 4; step++)
        {
          g_autoptr (SbEditList) list = random_list (rand, image, step % 3);
          g_autoptr (SbImage) folded
              = sb_reference_fold (image, list, sb_image_get_depth (image), &srgb);

          if (g_rand_boolean (rand))
            {
              const SbQuality preview = { FALSE, (guint)g_rand_int_range (rand, 0, 3), NULL };

              g_assert_true (sb_engine_render (engine, list, 0, preview, NULL, &error));
              g_assert_no_error (error);
            }
          render (engine, list, list->n_edits > 0 ? list->n_edits - 1 : 0);
          if (!check_subbands (engine, folded, &choice, rand))
            return;
        }

      /* Off, and another picture. */
      if (g_rand_boolean (rand))
        {
          g_assert_true (sb_engine_set_subbands (engine, NULL, NULL, &error));
          g_assert_no_error (error);
        }
      else
        load (engine, image);
      SbHaarSummary summary;
      float value;
      g_assert_cmpuint (sb_engine_get_subbands (engine).levels, ==, 0);
      g_assert_false (sb_engine_summarize_subbands (engine, &summary, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_false (
          sb_engine_pick_coefficient (engine, (SbHaarBand){ 1, SB_HAAR_H }, 0, 0, &value));
      if (!sb_test_in_share ())
        return;
    }
}

/* A PREVIEW renews the levels above its own, inside its region; the finer ones are estimates, of
 * which nothing can be picked, and an EXACT render ends it. */
static void
test_subbands_preview (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 60 && !sb_engine_is_immediate (engine); i++)
    {
      const guint width = (guint)g_rand_int_range (rand, 60, 150);
      const guint height = (guint)g_rand_int_range (rand, 60, 120);
      const guint depth = i % 2 == 0 ? 8 : 16, level = i % 3;
      g_autoptr (SbImage) image
          = sb_fill_image (width, height, i % 4 < 2 ? SB_FILL_RAMP : SB_FILL_NOISE, 9, depth, rand);
      const SbEdit edits[2] = { sb_test_blur (1, 1, FALSE), sb_test_blur (20, 2, FALSE) };
      g_autoptr (SbEditList) first = sb_edit_list_new (edits, 1);
      g_autoptr (SbEditList) second = sb_edit_list_new (edits + 1, 1);
      const SbHaarChoice choice = { (SbHaarChannel)(i % SB_N_HAAR_CHANNELS), 5 };
      const SbRect rect = { 32, 32, 28, 28 };
      const gboolean part = g_rand_boolean (rand);
      g_autoptr (GError) error = NULL;

      load (engine, image);
      g_assert_true (sb_engine_set_subbands (engine, &choice, NULL, &error));
      render (engine, first, 0);
      g_autoptr (SbImage) folded = sb_reference_fold (image, first, depth, &srgb);
      g_autoptr (SbHaar) exact = sb_haar_new (folded, &choice, NULL);
      g_assert_true (sb_engine_render (
          engine, second, 0, (SbQuality){ FALSE, level, part ? &rect : NULL }, NULL, &error));
      g_assert_no_error (error);

      /* The level as it is shown, pixel by pixel. */
      const guint columns = sb_haar_side (width, level), rows = sb_haar_side (height, level);
      g_autoptr (SbImage) shown = sb_image_new (columns, rows, depth, NULL);
      for (guint y = 0; y < rows; y++)
        for (guint x = 0; x < columns; x++)
          {
            guint16 rgba[4];

            g_assert_true (sb_engine_pick (engine, SB_SHOW_RESULT, (int)(x << level),
                                           (int)(y << level), rgba));
            for (guint c = 0; c < 4; c++)
              if (depth == 8)
                sb_image_writable (shown)[4 * ((gsize)y * columns + x) + c]
                    = (guint8)(rgba[c] / 257);
              else
                ((guint16 *)(void *)sb_image_writable (shown))[4 * ((gsize)y * columns + x) + c]
                    = rgba[c];
          }
      g_assert_cmpuint (sb_engine_get_estimated (engine), ==, level);
      const SbHaarChoice reduced = { choice.channel, choice.levels - level };
      g_autoptr (SbHaar) preview = sb_haar_new (shown, &reduced, NULL);
      for (guint n = 0; n < sb_haar_n_bands (choice.levels); n++)
        {
          const SbHaarBand band = sb_haar_nth_band (choice.levels, n);
          const gboolean renewed = band.level > level;
          const SbHaarBand of = { renewed ? band.level - level : band.level, band.orientation };
          guint n_columns, n_rows;
          const float *values
              = sb_haar_get_band (renewed ? preview : exact, of, &n_columns, &n_rows);

          for (guint y = 0; y < n_rows; y++)
            for (guint x = 0; x < n_columns; x++)
              {
                const int unit = 1 << band.level;
                const int left = (int)x * unit, top = (int)y * unit;
                float value;

                /* Outside the region what is picked is not of the level. */
                if (renewed && part
                    && (left < rect.x || top < rect.y || left + unit > rect.x + rect.width
                        || top + unit > rect.y + rect.height))
                  continue;
                g_assert_true (sb_engine_pick_coefficient (engine, band, x, y, &value) == renewed);
                if (renewed)
                  g_assert_cmpfloat (value, ==, values[(gsize)y * n_columns + x]);
              }
        }

      render (engine, second, 0);
      g_autoptr (SbImage) after = sb_reference_fold (image, second, depth, &srgb);
      if (!check_subbands (engine, after, &choice, rand))
        return;
    }
}

/* Levels, channels and bands that there are not. */
static void
test_subbands_refused (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (SbEngine) engine = open_engine (1);
  g_autoptr (SbImage) image = sb_fill_image (40, 9, SB_FILL_NOISE, 9, 8, rand);
  static const SbHaarBand bands[]
      = { { 0, SB_HAAR_H }, { 4, SB_HAAR_H }, { 2, SB_HAAR_A }, { 3, SB_N_HAAR_ORIENTATIONS } };
  static const guint levels[] = { 0, 7, 20, 21 };
  const SbHaarChoice good = { SB_HAAR_LUMA, 3 };

  load (engine, image);
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      const SbHaarChoice choice = { SB_HAAR_LUMA, levels[i] };
      g_autoptr (GError) error = NULL;

      g_assert_false (sb_engine_set_subbands (engine, &choice, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "1 to 6"));
      g_clear_error (&error);
      g_assert_null (sb_engine_read_subbands (engine, NULL, 0, &choice, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
    }
  g_assert_true (sb_engine_set_subbands (engine, &good, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (bands); i++)
    {
      SbHaarStatistics statistics;
      g_autoptr (GError) error = NULL;
      float value;

      g_assert_false (sb_engine_measure_band (engine, bands[i], &statistics, NULL, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "cA3"));
      g_assert_false (sb_engine_pick_coefficient (engine, bands[i], 0, 0, &value));
    }
}

/* Kept coefficients and distance, by the reference. */
static void
test_measure_edit (void)
{
  const guint32 seed = sb_test_seed ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) engine = open_engine (2);

  for (guint i = 0; i < 40; i++)
    {
      if (!sb_test_in_share ())
        continue;

      g_autoptr (SbImage) image = random_picture (rand, i % 8 == 0 ? 300 : 60);
      const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
      const guint depth = sb_image_get_depth (image);
      const gsize n = (gsize)width * height;
      SbEdit edits[3] = { sb_test_blur (1.5, 1, FALSE), sb_test_random_bands (rand, width, height),
                          sb_test_blur (0.75, 1, TRUE) };
      const guint first = i % 2;     /* without a blur before, or with it */
      const guint after = i / 2 % 2; /* nor with one behind */
      g_autoptr (SbEditList) before = sb_edit_list_new (edits + first, 1 - first);
      g_autoptr (SbEditList) until = sb_edit_list_new (edits + first, 2 - first);
      g_autoptr (SbEditList) list = sb_edit_list_new (edits + first, 2 - first + after);
      g_autoptr (SbImage) input = sb_reference_fold (image, before, 16, &srgb);
      g_autoptr (SbImage) from = sb_reference_fold (input, NULL, depth, &srgb);
      g_autoptr (SbImage) to = sb_reference_fold (image, until, depth, &srgb);
      g_autoptr (GError) error = NULL;
      SbBandsMeasure measure;
      guint64 n_before = 0, n_after = 0;
      double sum = 0;

      if (sb_edit_is_identity (&edits[1]))
        continue;
      load (engine, image);
      render (engine, list, g_rand_boolean (rand) ? list->n_edits - 1 : 0);
      g_assert_true (sb_engine_measure_edit (engine, &measure, NULL, &error));
      g_assert_no_error (error);

      sb_reference_count_bands ((const guint16 *)(const void *)sb_image_get_pixels (input), width,
                                height, &edits[1], &n_before, &n_after);
      g_assert_cmpfloat (measure.kept, ==, n_before > 0 ? (double)n_after / (double)n_before : 1.0);
      for (gsize k = 0; k < 4 * n; k++)
        if (k % 4 != 3)
          {
            const guint8 *a = sb_image_get_pixels (from), *b = sb_image_get_pixels (to);
            const double d = depth == 8 ? (double)a[k] - b[k]
                                        : (double)((const guint16 *)(const void *)a)[k]
                                              - ((const guint16 *)(const void *)b)[k];
            sum += d * d;
          }
      const double peak = depth == 8 ? 255 : 65535;
      assert_close (measure.psnr,
                    sum > 0 ? 10 * log10 (peak * peak / (sum / (3.0 * (double)n))) : INFINITY);
    }

  /* None of the edits is one. */
  g_autoptr (SbImage) image = random_picture (rand, 20);
  const SbEdit blur = sb_test_blur (2, 1, FALSE);
  g_autoptr (SbEditList) list = sb_edit_list_new (&blur, 1);
  g_autoptr (GError) error = NULL;
  SbBandsMeasure measure;

  load (engine, image);
  g_assert_false (sb_engine_measure_edit (engine, &measure, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_clear_error (&error);
  render (engine, list, 0);
  g_assert_false (sb_engine_measure_edit (engine, &measure, NULL, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
}

static void
test_on_host (void)
{
  without_subbands = TRUE;
  test_subbands ();
  test_read_subbands ();
  test_subbands_refused ();
  test_measure_edit ();
  without_subbands = FALSE;
}

static void
add (const char *prefix, const char *name, GTestFunc func)
{
  g_autofree char *path = g_strconcat (prefix, "/", name, NULL);

  g_test_add_func (path, func);
}

void
sb_suite_add (const char *prefix, SbDevice device)
{
  suite_device = device;
  if (srgb.decode[0] == NULL)
    sb_reference_tone_srgb (&srgb);

  add (prefix, "unedited", test_unedited);
  add (prefix, "identity", test_identity);
  add (prefix, "reload", test_reload);
  add (prefix, "lists", test_lists);
  add (prefix, "drag", test_drag);
  add (prefix, "base", test_base);
  add (prefix, "base-is-used", test_base_is_used);
  add (prefix, "any-order", test_any_order);
  add (prefix, "threads", test_threads);
  add (prefix, "cancel-midway", test_cancel_midway);
  add (prefix, "area-outside", test_area_outside);
  add (prefix, "pick-outside", test_pick_outside);
  add (prefix, "serial", test_serial);
  add (prefix, "profile", test_profile);
  add (prefix, "bands", test_bands);
  add (prefix, "read-subbands", test_read_subbands);
  add (prefix, "subbands", test_subbands);
  add (prefix, "subbands-preview", test_subbands_preview);
  add (prefix, "subbands-refused", test_subbands_refused);
  add (prefix, "measure-edit", test_measure_edit);
  add (prefix, "subbands-on-host", test_on_host);
}
