/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "suite.h"

#include "pictures.h"
#include "sb-error.h"

#include <string.h>

static SbDevice suite_device;
static SbReferenceTone srgb;

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

      edits[i] = sb_test_random_edit (rand, sb_image_get_width (image), sb_image_get_height (image),
                                      radius);
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
}
