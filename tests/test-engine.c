/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur.h"
#include "sb-engine.h"
#include "sb-error.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The engine of a CPU from outside: what it keeps and reuses, what PREVIEW may differ by, and
 * threads. That folds of edits are right is the matter of the suite for every engine. */

static SbEngine *
open_engine (void)
{
  g_autoptr (GError) error = NULL;
  SbEngine *engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 0 }, &error);

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

/* A wall, sky, disks and stripes: gradients, hard and soft edges, fine texture and some noise. */
static SbImage *
make_photo (guint width, guint height, guint depth, gboolean alpha)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (width, height, depth, &error);
  guint8 *p8 = sb_image_writable (image);
  guint16 *p16 = (guint16 *)p8;

  g_assert_no_error (error);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      {
        const double ground = 0.35 + 0.4 * y / height + 0.1 * sin (x * 0.006);
        const double texture = 0.05 * sin (x * 0.9) * sin (y * 1.1);
        const double disk = hypot (x - 0.6 * width, y - 0.45 * height) - 0.13 * height;
        const double inside = CLAMP (0.5 - disk, 0, 1);
        const gboolean block = (x / 170 + y / 140) % 5 == 0;
        for (guint c = 0; c < 4; c++)
          {
            const gsize i = 4 * ((gsize)y * width + x) + c;
            double v = block ? 0.2 + 0.15 * c + texture * (1 + c) : ground * (0.7 + 0.15 * c);
            v = (1 - inside) * v + inside * (0.75 - 0.2 * c);
            v += 0.02 * (g_rand_double (rand) - 0.5);
            if (c == 3)
              v = alpha ? 1 - inside * 0.9 : 1;
            v = CLAMP (v, 0, 1);
            if (depth == 16)
              p16[i] = (guint16)(v * 65535 + 0.5);
            else
              p8[i] = (guint8)(v * 255 + 0.5);
          }
      }
  return image;
}

static SbEdit
make_blur (double radius, guint passes, gboolean linear)
{
  SbEdit edit;

  sb_edit_init (&edit, SB_EDIT_BLUR);
  edit.values[SB_BLUR_RADIUS] = radius;
  edit.values[SB_BLUR_PASSES] = passes;
  edit.values[SB_BLUR_LINEAR] = linear;
  return edit;
}

static void
render (SbEngine *engine, const SbEdit *edits, guint n_edits, guint n_fixed, SbQuality quality)
{
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, n_edits);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_render (engine, list, n_fixed, quality, NULL, &error));
  g_assert_no_error (error);
}

static SbImage *
read_back (SbEngine *engine, const SbEdit *edits, guint n_edits, guint depth)
{
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, n_edits);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_engine_read (engine, list, 0, depth, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (image);
  g_assert_cmpuint (sb_image_get_depth (image), ==, depth);
  return image;
}

/* One edit by the blur alone. */
static SbImage *
blur_alone (SbImage *image, const SbEdit *edit, guint depth)
{
  g_autoptr (SbParallel) parallel = sb_parallel_new (1);
  g_autoptr (SbBlurScratch) scratch = sb_blur_scratch_new ();
  g_autoptr (GError) error = NULL;
  const SbTone *tone = sb_tone_new (NULL);
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  SbImage *result = sb_image_new (width, height, depth, &error);
  const SbSource source = {
    .format = sb_image_get_depth (image) == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = width,
    .height = height,
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .opaque = sb_image_is_opaque (image),
  };
  const SbTarget target = {
    .format = depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .rect = { 0, 0, (int)width, (int)height },
    .pixels = sb_image_writable (result),
    .stride = sb_image_get_stride (result),
  };

  g_assert_true (sb_cpu_blur (&source, edit, tone, &target, parallel, scratch, NULL, &error));
  g_assert_no_error (error);
  sb_tone_unref (tone);
  return result;
}

static guint8 *
shoot (SbEngine *engine, SbShowWhat what, double x, double y, int width, int height, double zoom)
{
  const SbView view = {
    .what = what,
    .width = width,
    .height = height,
    .zoom = zoom,
    .x = x,
    .y = y,
    .checker_size = 8,
    .ground = { 1, 2, 3 },
    .checker = { { 90, 90, 90 }, { 160, 160, 160 } },
  };
  guint8 *pixels = g_malloc (4 * (gsize)width * (gsize)height);
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_engine_show_host (engine, &view, pixels, 4 * (gsize)width, &error));
  g_assert_no_error (error);
  return pixels;
}

/* --- Results --------------------------------------------------------------------------------- */

/* Two edits are one after the other at 16 bits, rounded once. */
static void
test_fold (void)
{
  const SbEdit edits[2] = { make_blur (3.5, 2, TRUE), make_blur (6, 1, FALSE) };

  for (guint kind = 0; kind < 4; kind++)
    {
      const guint depth = (kind & 1) ? 16 : 8;
      g_autoptr (SbEngine) engine = open_engine ();
      g_autoptr (SbImage) image = make_photo (157, 91, depth, (kind & 2) != 0);
      g_autoptr (SbImage) first = blur_alone (image, &edits[0], 16);
      g_autoptr (SbImage) expected16 = blur_alone (first, &edits[1], 16);
      g_autoptr (SbImage) expected8 = blur_alone (first, &edits[1], 8);
      load (engine, image);
      for (guint n_fixed = 0; n_fixed <= 2; n_fixed++)
        {
          render (engine, edits, 1, 0, SB_QUALITY_EXACT);
          render (engine, edits, 2, n_fixed, SB_QUALITY_EXACT);
          g_autoptr (SbImage) eight = read_back (engine, edits, 2, 8);
          g_autoptr (SbImage) sixteen = read_back (engine, edits, 2, 16);
          g_assert_true (sb_image_equal (eight, expected8));
          g_assert_true (sb_image_equal (sixteen, expected16));
        }
    }
}

/* The result at the document's depth is handed out without a copy, and never written to again. */
static void
test_read_is_a_reference (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (300, 200, 8, FALSE);
  SbEdit edit = make_blur (5, 3, FALSE);

  load (engine, image);
  g_autoptr (SbImage) original = read_back (engine, NULL, 0, 8);
  g_assert_true (original == image);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) one = read_back (engine, &edit, 1, 8);
  g_autoptr (SbImage) same = read_back (engine, &edit, 1, 8);
  g_assert_true (one == same);
  g_autoptr (SbImage) expected = blur_alone (image, &edit, 8);
  for (guint i = 0; i < 5; i++)
    {
      SbEdit other = make_blur (6 + i, 3, FALSE);
      render (engine, &other, 1, 0, SB_QUALITY_EXACT);
    }
  g_assert_true (sb_image_equal (one, expected));
}

/* Two buffers are enough for as many renders as there are, while nobody holds a result. */
static void
test_buffers_are_used_again (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (300, 200, 8, FALSE);
  const guint8 *seen[6];

  load (engine, image);
  for (guint i = 0; i < 6; i++)
    {
      SbEdit edit = make_blur (1 + i, 1, FALSE);
      render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
      g_autoptr (SbImage) result = read_back (engine, &edit, 1, 8);
      seen[i] = sb_image_get_pixels (result);
    }
  for (guint i = 2; i < 6; i++)
    g_assert_true (seen[i] == seen[i - 2]);
  sb_engine_trim (engine);
  SbEdit edit = make_blur (9, 1, FALSE);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = read_back (engine, &edit, 1, 8);
  g_autoptr (SbImage) expected = blur_alone (image, &edit, 8);
  g_assert_true (sb_image_equal (result, expected));
}

/* A kept state that is not what its edits make shows which renders start from it. */
static void
test_base (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (157, 91, 8, FALSE);
  g_autoptr (SbImage) other = make_photo (157, 91, 16, FALSE);
  g_autoptr (GError) error = NULL;
  const SbEdit edits[3]
      = { make_blur (4, 1, FALSE), make_blur (2, 2, FALSE), make_blur (7, 1, FALSE) };
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 3);

  for (gsize i = 0; i < sb_image_get_bytes (other) / 2; i++)
    if (i % 4 != 3)
      ((guint16 *)sb_image_writable (other))[i] ^= 0x3fff;
  load (engine, image);

  /* It stands for two edits: the third runs on it, and on a drag of the third. */
  g_assert_true (sb_engine_set_base (engine, other, list, 2, &error));
  render (engine, edits, 3, 2, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = read_back (engine, edits, 3, 8);
  g_autoptr (SbImage) expected = blur_alone (other, &edits[2], 8);
  g_assert_true (sb_image_equal (result, expected));
  const SbEdit moved[3] = { edits[0], edits[1], make_blur (9, 1, FALSE) };
  render (engine, moved, 3, 2, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result_moved = read_back (engine, moved, 3, 8);
  g_autoptr (SbImage) expected_moved = blur_alone (other, &moved[2], 8);
  g_assert_true (sb_image_equal (result_moved, expected_moved));

  /* All of the list: the result is the base, rounded. */
  g_assert_true (sb_engine_set_base (engine, other, list, 3, &error));
  render (engine, edits, 3, 2, SB_QUALITY_EXACT);
  g_autoptr (SbImage) whole = read_back (engine, edits, 3, 8);
  g_autoptr (SbImage) rounded = sb_image_convert (other, 8, &error);
  /* The list is what the last but one render was of: only a list that changed is rendered. */
  g_assert_true (sb_image_equal (whole, rounded));

  /* Another first edit: the base is of no use. */
  const SbEdit different[2] = { make_blur (3, 1, FALSE), edits[1] };
  render (engine, different, 2, 1, SB_QUALITY_EXACT);
  g_autoptr (SbImage) fresh = read_back (engine, different, 2, 8);
  g_autoptr (SbImage) first = blur_alone (image, &different[0], 16);
  g_autoptr (SbImage) second = blur_alone (first, &different[1], 8);
  g_assert_true (sb_image_equal (fresh, second));

  /* Of another size: refused. */
  g_autoptr (SbImage) small = make_photo (20, 20, 16, FALSE);
  g_assert_false (sb_engine_set_base (engine, small, list, 1, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
}

static void
test_serial (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (200, 100, 8, FALSE);
  SbEdit edit = make_blur (5, 1, FALSE);
  guint64 serial = sb_engine_get_serial (engine);

#define CHANGED(expected)                                                                          \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const guint64 now_ = sb_engine_get_serial (engine);                                            \
    g_assert_true ((now_ != serial) == (expected));                                                \
    serial = now_;                                                                                 \
  }                                                                                                \
  G_STMT_END
  load (engine, image);
  CHANGED (TRUE);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  CHANGED (TRUE);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  CHANGED (FALSE);
  render (engine, &edit, 1, 0, (SbQuality){ FALSE, 1, NULL });
  CHANGED (TRUE);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  CHANGED (TRUE);
  g_autoptr (SbImage) sixteen = read_back (engine, &edit, 1, 16);
  g_assert_false (sixteen == image);
  CHANGED (FALSE);
#undef CHANGED
}

static void
test_cancel (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (900, 700, 8, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  SbEdit edit = make_blur (5, 3, FALSE), other = make_blur (30, 5, TRUE);
  g_autoptr (SbEditList) list = sb_edit_list_new (&other, 1);

  load (engine, image);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autofree guint8 *before = shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.33);
  const guint64 serial = sb_engine_get_serial (engine);
  g_cancellable_cancel (cancellable);
  g_assert_false (sb_engine_render (engine, list, 0, SB_QUALITY_EXACT, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (sb_engine_read (engine, list, 0, 16, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_autofree guint8 *after = shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.33);
  g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);
  g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
  /* And goes on. */
  render (engine, &other, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = read_back (engine, &other, 1, 8);
  g_autoptr (SbImage) expected = blur_alone (image, &other, 8);
  g_assert_true (sb_image_equal (result, expected));
}

/* Bytes of address space in use. */
static rlim_t
address_space (void)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  return (rlim_t)g_ascii_strtoull (text, NULL, 10) * (rlim_t)sysconf (_SC_PAGESIZE);
}

/* Too little memory for whatever a render needs, a bit more each time, until it is enough: each
 * failure says so and leaves what is shown. */
static void
test_out_of_memory (void)
{
#if defined(__SANITIZE_ADDRESS__)
  g_test_skip ("the address sanitizer needs all the address space there is");
#else
  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      return;
    }

  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (2400, 1600, 8, FALSE);
  SbEdit edit = make_blur (5, 3, FALSE);
  const SbEdit edits[2] = { make_blur (9, 2, TRUE), make_blur (3, 1, FALSE) };
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 2);
  guint failures = 0;
  struct rlimit limit;

  load (engine, image);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  sb_engine_trim (engine);
  g_autofree guint8 *before = shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.125);
  const guint64 serial = sb_engine_get_serial (engine);
  g_assert_cmpint (getrlimit (RLIMIT_AS, &limit), ==, 0);
  const struct rlimit all = limit;
  for (guint mb = 8;; mb += 6)
    {
      g_autoptr (GError) error = NULL;
      limit.rlim_cur = address_space () + ((rlim_t)mb << 20);
      g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
      const gboolean done
          = sb_engine_render (engine, list, mb / 6 % 2, SB_QUALITY_EXACT, NULL, &error);
      g_assert_cmpint (setrlimit (RLIMIT_AS, &all), ==, 0);
      if (done)
        break;
      failures++;
      g_assert_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY);
      g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
      g_autofree guint8 *after = shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.125);
      g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);
      sb_engine_trim (engine);
    }
  g_assert_cmpuint (failures, >, 3);
  g_autoptr (SbImage) result = read_back (engine, edits, 2, 8);
  g_autoptr (SbImage) first = blur_alone (image, &edits[0], 16);
  g_autoptr (SbImage) expected = blur_alone (first, &edits[1], 8);
  g_assert_true (sb_image_equal (result, expected));
#endif
}

typedef struct
{
  GCancellable *cancellable;
  guint delay_us;
} Canceller;

static gpointer
cancel_later (gpointer data)
{
  Canceller *canceller = data;

  g_usleep (canceller->delay_us);
  g_cancellable_cancel (canceller->cancellable);
  return NULL;
}

/* Wherever it strikes. */
static void
test_cancel_in_the_middle (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (1200, 900, 8, FALSE);
  SbEdit edit = make_blur (5, 3, FALSE);

  load (engine, image);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autofree guint8 *before = shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.25);
  for (guint i = 0; i < 25; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      Canceller canceller = { cancellable, i * 300 };
      const SbEdit edits[2] = { make_blur (40 + i, 5, TRUE), make_blur (3, 5, TRUE) };
      g_autoptr (SbEditList) list = sb_edit_list_new (edits, 2);
      GThread *thread = g_thread_new ("cancel", cancel_later, &canceller);
      const gboolean done
          = sb_engine_render (engine, list, i % 2, SB_QUALITY_EXACT, cancellable, &error);
      g_thread_join (thread);
      if (done)
        render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_autofree guint8 *after = shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.25);
      g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);
    }
}

/* --- PREVIEW --------------------------------------------------------------------------------- */

/* What PREVIEW shows at the zoom of its level against what EXACT shows there. */
static void
check_bounds (SbEngine *engine, SbImage *image, const SbEdit *edits, guint n_edits, guint level)
{
  const int width = (int)sb_image_get_width (image) >> level;
  const int height = (int)sb_image_get_height (image) >> level;
  const double zoom = ldexp (1, -(int)level);
  guint64 histogram[256] = { 0 }, count = 0, sum = 0;

  render (engine, edits, n_edits, n_edits - 1, SB_QUALITY_EXACT);
  g_autofree guint8 *exact = shoot (engine, SB_SHOW_RESULT, 0, 0, width, height, zoom);
  render (engine, edits, n_edits, n_edits - 1, (SbQuality){ FALSE, level, NULL });
  g_autofree guint8 *preview = shoot (engine, SB_SHOW_RESULT, 0, 0, width, height, zoom);
  for (int i = 0; i < width * height; i++)
    for (guint c = 0; c < 3; c++)
      {
        const int difference = ABS (exact[4 * i + c] - preview[4 * i + c]);
        histogram[difference]++;
        sum += (guint64)difference;
        count++;
      }
  const double mean = (double)sum / (double)count;
  const double close
      = (double)(histogram[0] + histogram[1] + histogram[2] + histogram[3]) / (double)count;
  if (mean > 0.5 || close < 0.999)
    {
      g_autofree char *text = sb_edit_print (&edits[n_edits - 1]);
      g_test_message ("level %u, %s: mean %.3f, within 3: %.5f", level, text, mean, close);
      g_test_fail ();
    }
}

static void
test_preview_bounds (void)
{
  static const double radii[] = { 0, 0.5, 1, 2, 2.5, 3, 4, 6, 8, 11, 14, 20.25, 32, 45, 64 };
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (1200, 904, 8, FALSE);

  load (engine, image);
  for (guint level = 1; level <= 3; level++)
    for (guint r = 0; r < G_N_ELEMENTS (radii); r++)
      for (guint passes = 1; passes <= 5; passes += 2)
        for (guint linear = 0; linear < 2; linear++)
          for (guint edge = 0; edge < 2; edge++)
            {
              SbEdit edit = make_blur (radii[r], passes, linear);
              edit.values[SB_BLUR_EDGE] = edge;
              check_bounds (engine, image, &edit, 1, level);
            }
}

static void
test_preview_bounds_others (void)
{
  for (guint kind = 0; kind < 4; kind++)
    {
      g_autoptr (SbEngine) engine = open_engine ();
      g_autoptr (SbImage) image = make_photo (801, 603, (kind & 1) ? 16 : 8, (kind & 2) != 0);
      const SbEdit edits[3]
          = { make_blur (2, 1, TRUE), make_blur (12, 3, FALSE), make_blur (8, 2, TRUE) };
      load (engine, image);
      for (guint level = 1; level <= 3; level++)
        for (guint n = 1; n <= 3; n++)
          check_bounds (engine, image, edits, n, level);
      for (guint direction = 0; direction < 3; direction++)
        {
          SbEdit edit = make_blur (10, 3, direction == SB_DIRECTION_BOTH);
          edit.values[SB_BLUR_DIRECTION] = direction;
          edit.area = (SbArea){ SB_AREA_ELLIPSE, 100, 80, 500, 400, 60, direction == 1 };
          check_bounds (engine, image, &edit, 1, 1 + direction % 2);
        }
    }
}

/* Level 0 is the result itself. */
static void
test_preview_level_0 (void)
{
  for (guint depth = 8; depth <= 16; depth += 8)
    {
      g_autoptr (SbEngine) engine = open_engine ();
      g_autoptr (SbImage) image = make_photo (301, 203, depth, TRUE);
      const SbEdit edits[2] = { make_blur (6.25, 3, TRUE), make_blur (3, 2, FALSE) };
      load (engine, image);
      for (guint n_fixed = 0; n_fixed < 2; n_fixed++)
        {
          render (engine, edits, 2, n_fixed, SB_QUALITY_EXACT);
          g_autofree guint8 *exact = shoot (engine, SB_SHOW_RESULT, -4, -4, 310, 211, 1);
          render (engine, edits, 2, n_fixed, (SbQuality){ FALSE, 0, NULL });
          g_autofree guint8 *preview = shoot (engine, SB_SHOW_RESULT, -4, -4, 310, 211, 1);
          g_assert_cmpmem (exact, 310 * 211 * 4, preview, 310 * 211 * 4);
        }
    }
}

/* A region costs less and looks the same inside; outside it the last EXACT result is seen. */
static void
test_preview_region (void)
{
  static const SbRect regions[] = { { 100, 50, 200, 150 },
                                    { 0, 0, 64, 64 },
                                    { 337, 211, 300, 300 },
                                    { -50, -50, 120, 80 },
                                    { 401, 0, 1, 301 } };
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (402, 301, 8, FALSE);
  const SbEdit edits[2] = { make_blur (4, 2, TRUE), make_blur (9.5, 3, FALSE) };
  SbEdit before = make_blur (1, 1, FALSE);

  load (engine, image);
  for (guint level = 0; level <= 2; level++)
    for (guint r = 0; r < G_N_ELEMENTS (regions); r++)
      for (guint linear = 0; linear < 2; linear++)
        {
          const SbRect *region = &regions[r];
          const int unit = 1 << level;
          const double zoom = 1.0 / unit;
          render (engine, edits, 2, 0, (SbQuality){ FALSE, level, NULL });
          g_autofree guint8 *whole = shoot (engine, SB_SHOW_RESULT, 0, 0, 402, 301, zoom);
          render (engine, &before, 1, 0, SB_QUALITY_EXACT);
          g_autofree guint8 *exact = shoot (engine, SB_SHOW_RESULT, 0, 0, 402, 301, zoom);
          render (engine, edits, 2, 0, (SbQuality){ FALSE, level, region });
          g_autofree guint8 *part = shoot (engine, SB_SHOW_RESULT, 0, 0, 402, 301, zoom);
          for (int j = 0; j < 301 / unit; j++)
            for (int i = 0; i < 402 / unit; i++)
              {
                const double x = (i + 0.5) * unit, y = (j + 0.5) * unit;
                const gsize at = 4 * ((gsize)j * 402 + (gsize)i);
                const gboolean inside = x >= region->x && x < region->x + region->width
                                        && y >= region->y && y < region->y + region->height;
                const gboolean away
                    = x < region->x - 4 * unit || x > region->x + region->width + 4 * unit
                      || y < region->y - 4 * unit || y > region->y + region->height + 4 * unit;
                if (inside)
                  g_assert_cmpmem (part + at, 4, whole + at, 4);
                else if (away)
                  g_assert_cmpmem (part + at, 4, exact + at, 4);
              }
        }
}

/* --- Picking and threads --------------------------------------------------------------------- */

static void
test_pick (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (SbImage) image = make_photo (101, 67, 8, TRUE);
  SbEdit edit = make_blur (3, 1, FALSE);
  guint16 rgba[4];

  g_assert_false (sb_engine_pick (engine, SB_SHOW_RESULT, 0, 0, rgba));
  load (engine, image);
  render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = read_back (engine, &edit, 1, 8);
  for (int y = 0; y < 67; y += 6)
    for (int x = 0; x < 101; x += 4)
      for (guint what = 0; what < 2; what++)
        {
          const guint8 *pixel
              = sb_image_get_pixels (what == SB_SHOW_RESULT ? result : image) + 4 * (y * 101 + x);
          g_assert_true (sb_engine_pick (engine, what, x, y, rgba));
          for (guint c = 0; c < 4; c++)
            g_assert_cmpuint (rgba[c], ==, pixel[c] * 257);
        }
  static const int outside[][2] = { { -1, 0 }, { 0, -1 }, { 101, 0 }, { 0, 67 } };
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++)
    g_assert_false (sb_engine_pick (engine, SB_SHOW_RESULT, outside[i][0], outside[i][1], rgba));
  /* In a PREVIEW: the pixel of the level, also where that is wider than the picture. */
  render (engine, &edit, 1, 0, (SbQuality){ FALSE, 2, NULL });
  g_assert_true (sb_engine_pick (engine, SB_SHOW_RESULT, 100, 66, rgba));
  g_assert_false (sb_engine_pick (engine, SB_SHOW_RESULT, 101, 66, rgba));
}

typedef struct
{
  SbEngine *engine;
  gint stop; /* atomic */
  guint shows;
} Shower;

/* What is seen is one of the results, whole: never a mix. */
static gpointer
show_all_the_time (gpointer data)
{
  Shower *shower = data;

  while (!g_atomic_int_get (&shower->stop))
    {
      g_autofree guint8 *pixels = shoot (shower->engine, SB_SHOW_RESULT, 0, 0, 100, 75, 0.125);
      for (guint i = 1; i < 100 * 75; i++)
        g_assert_cmpmem (pixels, 3, pixels + 4 * i, 3);
      guint16 rgba[4];
      g_assert_true (sb_engine_pick (shower->engine, SB_SHOW_RESULT, 5, 5, rgba));
      shower->shows++;
    }
  return NULL;
}

/* Pictures of one grey each, loaded and rendered while two threads show. */
static void
test_show_during_render (void)
{
  g_autoptr (SbEngine) engine = open_engine ();
  g_autoptr (GError) error = NULL;
  Shower showers[2] = { { engine, 0, 0 }, { engine, 0, 0 } };
  GThread *threads[2];

  for (guint round = 0; round < 12; round++)
    {
      g_autoptr (SbImage) image = sb_image_new (800, 600, round % 2 ? 16 : 8, &error);
      guint8 *pixels = sb_image_writable (image);
      for (gsize i = 0; i < sb_image_get_bytes (image); i++)
        pixels[i] = round % 2 == 0 && i % 4 == 3 ? 255 : (guint8)(20 * round);
      if (round % 2)
        for (gsize i = 3; i < 800 * 600 * 4; i += 4)
          ((guint16 *)pixels)[i] = 65535;
      load (engine, image);
      if (round == 0)
        for (guint t = 0; t < 2; t++)
          threads[t] = g_thread_new ("show", show_all_the_time, &showers[t]);
      for (guint i = 0; i < 6; i++)
        {
          const SbEdit edits[2] = { make_blur (3 + i, 1, i % 2), make_blur (2, 2, FALSE) };
          render (engine, edits, 1 + i % 2, i % 2,
                  i % 3 == 2 ? (SbQuality){ FALSE, 2, NULL } : SB_QUALITY_EXACT);
        }
      sb_engine_trim (engine);
    }
  for (guint t = 0; t < 2; t++)
    {
      g_atomic_int_set (&showers[t].stop, 1);
      g_thread_join (threads[t]);
      g_assert_cmpuint (showers[t].shows, >, 0);
    }
}

static void
test_devices (void)
{
  SbDevice device;
  g_autoptr (GError) error = NULL;

  g_assert_true (sb_device_parse ("auto", &device, &error));
  g_assert_cmpint (device.kind, ==, SB_DEVICE_AUTO);
  g_assert_true (sb_device_parse ("cpu", &device, &error));
  g_assert_cmpint (device.kind, ==, SB_DEVICE_CPU);
  g_assert_true (sb_device_parse ("cuda:3", &device, &error));
  g_assert_cmpint (device.kind, ==, SB_DEVICE_CUDA);
  g_assert_cmpint (device.index, ==, 3);
  static const char *const wrong[] = { "", "gpu", "cuda:", "cuda:-1", "cuda:x", "cpu:1", "CPU" };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_assert_false (sb_device_parse (wrong[i], &device, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      if (*wrong[i] != '\0')
        g_assert_nonnull (strstr (error->message, wrong[i]));
      g_clear_error (&error);
    }

  g_autofree char *list = sb_engine_list_devices (0);
  g_assert_true (g_str_has_prefix (list, "cpu: "));
  g_assert_nonnull (strstr (list, "\ncuda: "));
  g_assert_true (g_str_has_suffix (list, "\n"));
}

/* Without a module: AUTO takes the CPU and says why, CUDA is an error. */
static void
test_no_module (void)
{
  if (g_test_subprocess ())
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SbEngine) engine = sb_engine_new ((SbDevice){ SB_DEVICE_AUTO, 0, 0 }, &error);
      g_assert_no_error (error);
      g_assert_nonnull (sb_engine_get_reason (engine));
      g_assert_nonnull (strstr (sb_engine_get_name (engine), "CPU"));
      g_assert_null (sb_engine_new ((SbDevice){ SB_DEVICE_CUDA, 0, 0 }, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE);
      g_clear_error (&error);
      g_assert_null (sb_engine_gl_attach (engine, 1, 100, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE);
      g_clear_error (&error);
      g_setenv ("SOFTBOX_DEVICE", "cuda", TRUE);
      g_assert_null (sb_engine_new ((SbDevice){ SB_DEVICE_AUTO, 0, 0 }, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE);
      return;
    }
  g_setenv ("SOFTBOX_MODULE_DIR", "/nonexistent", TRUE);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_unsetenv ("SOFTBOX_MODULE_DIR");
  g_test_trap_assert_passed ();
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/devices", test_devices);
  g_test_add_func ("/engine/no-module", test_no_module);
  g_test_add_func ("/engine/fold", test_fold);
  g_test_add_func ("/engine/read-is-a-reference", test_read_is_a_reference);
  g_test_add_func ("/engine/buffers-are-used-again", test_buffers_are_used_again);
  g_test_add_func ("/engine/base", test_base);
  g_test_add_func ("/engine/serial", test_serial);
  g_test_add_func ("/engine/out-of-memory", test_out_of_memory);
  g_test_add_func ("/engine/cancel", test_cancel);
  g_test_add_func ("/engine/cancel-in-the-middle", test_cancel_in_the_middle);
  g_test_add_func ("/engine/preview/bounds", test_preview_bounds);
  g_test_add_func ("/engine/preview/bounds-others", test_preview_bounds_others);
  g_test_add_func ("/engine/preview/level-0", test_preview_level_0);
  g_test_add_func ("/engine/preview/region", test_preview_region);
  g_test_add_func ("/engine/pick", test_pick);
  g_test_add_func ("/engine/show-during-render", test_show_during_render);
  return g_test_run ();
}
