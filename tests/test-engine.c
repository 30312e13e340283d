/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "engine.h"
#include "sb-error.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The engine of a CPU from outside: what it keeps and reuses, what PREVIEW may differ by, and
 * threads. That folds of edits are right is the matter of the suite for every engine. */

/* --- Results --------------------------------------------------------------------------------- */

/* Two edits are one after the other at 16 bits, rounded once. */
static void
test_fold (void)
{
  const SbEdit edits[2] = { sb_test_make_blur (3.5, 2, TRUE), sb_test_make_blur (6, 1, FALSE) };

  for (guint kind = 0; kind < 4; kind++)
    {
      const guint depth = (kind & 1) ? 16 : 8;
      g_autoptr (SbEngine) engine = sb_test_open_engine ();
      g_autoptr (SbImage) image = sb_test_photo (157, 91, depth, (kind & 2) != 0);
      g_autoptr (SbImage) first = sb_test_blur_alone (image, &edits[0], 16);
      g_autoptr (SbImage) expected16 = sb_test_blur_alone (first, &edits[1], 16);
      g_autoptr (SbImage) expected8 = sb_test_blur_alone (first, &edits[1], 8);
      sb_test_load (engine, image);
      for (guint n_fixed = 0; n_fixed <= 2; n_fixed++)
        {
          sb_test_render (engine, edits, 1, 0, SB_QUALITY_EXACT);
          sb_test_render (engine, edits, 2, n_fixed, SB_QUALITY_EXACT);
          g_autoptr (SbImage) eight = sb_test_read (engine, edits, 2, 8);
          g_autoptr (SbImage) sixteen = sb_test_read (engine, edits, 2, 16);
          g_assert_true (sb_image_equal (eight, expected8));
          g_assert_true (sb_image_equal (sixteen, expected16));
        }
    }
}

/* The result at the document's depth is handed out without a copy, and never written to again. */
static void
test_read_is_a_reference (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (300, 200, 8, FALSE);
  SbEdit edit = sb_test_make_blur (5, 3, FALSE);

  sb_test_load (engine, image);
  g_autoptr (SbImage) original = sb_test_read (engine, NULL, 0, 8);
  g_assert_true (original == image);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) one = sb_test_read (engine, &edit, 1, 8);
  g_autoptr (SbImage) same = sb_test_read (engine, &edit, 1, 8);
  g_assert_true (one == same);
  g_autoptr (SbImage) expected = sb_test_blur_alone (image, &edit, 8);
  for (guint i = 0; i < 5; i++)
    {
      SbEdit other = sb_test_make_blur (6 + i, 3, FALSE);
      sb_test_render (engine, &other, 1, 0, SB_QUALITY_EXACT);
    }
  g_assert_true (sb_image_equal (one, expected));
}

/* Two buffers are enough for as many renders as there are, while nobody holds a result. */
static void
test_buffers_are_used_again (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (300, 200, 8, FALSE);
  const guint8 *seen[6];

  sb_test_load (engine, image);
  for (guint i = 0; i < 6; i++)
    {
      SbEdit edit = sb_test_make_blur (1 + i, 1, FALSE);
      sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
      g_autoptr (SbImage) result = sb_test_read (engine, &edit, 1, 8);
      seen[i] = sb_image_get_pixels (result);
    }
  for (guint i = 2; i < 6; i++)
    g_assert_true (seen[i] == seen[i - 2]);
  sb_engine_trim (engine);
  SbEdit edit = sb_test_make_blur (9, 1, FALSE);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = sb_test_read (engine, &edit, 1, 8);
  g_autoptr (SbImage) expected = sb_test_blur_alone (image, &edit, 8);
  g_assert_true (sb_image_equal (result, expected));
}

/* A kept state that is not what its edits make shows which renders start from it. */
static void
test_base (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (157, 91, 8, FALSE);
  g_autoptr (SbImage) other = sb_test_photo (157, 91, 16, FALSE);
  g_autoptr (GError) error = NULL;
  const SbEdit edits[3] = { sb_test_make_blur (4, 1, FALSE), sb_test_make_blur (2, 2, FALSE),
                            sb_test_make_blur (7, 1, FALSE) };
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 3);

  for (gsize i = 0; i < sb_image_get_bytes (other) / 2; i++)
    if (i % 4 != 3)
      ((guint16 *)sb_image_writable (other))[i] ^= 0x3fff;
  sb_test_load (engine, image);

  /* It stands for two edits: the third runs on it, and on a drag of the third. */
  g_assert_true (sb_engine_set_base (engine, other, list, 2, &error));
  sb_test_render (engine, edits, 3, 2, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = sb_test_read (engine, edits, 3, 8);
  g_autoptr (SbImage) expected = sb_test_blur_alone (other, &edits[2], 8);
  g_assert_true (sb_image_equal (result, expected));
  const SbEdit moved[3] = { edits[0], edits[1], sb_test_make_blur (9, 1, FALSE) };
  sb_test_render (engine, moved, 3, 2, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result_moved = sb_test_read (engine, moved, 3, 8);
  g_autoptr (SbImage) expected_moved = sb_test_blur_alone (other, &moved[2], 8);
  g_assert_true (sb_image_equal (result_moved, expected_moved));

  /* All of the list: the result is the base, rounded. */
  g_assert_true (sb_engine_set_base (engine, other, list, 3, &error));
  sb_test_render (engine, edits, 3, 2, SB_QUALITY_EXACT);
  g_autoptr (SbImage) whole = sb_test_read (engine, edits, 3, 8);
  g_autoptr (SbImage) rounded = sb_image_convert (other, 8, &error);
  /* The list is what the last but one render was of: only a list that changed is rendered. */
  g_assert_true (sb_image_equal (whole, rounded));

  /* Another first edit: the base is of no use. */
  const SbEdit different[2] = { sb_test_make_blur (3, 1, FALSE), edits[1] };
  sb_test_render (engine, different, 2, 1, SB_QUALITY_EXACT);
  g_autoptr (SbImage) fresh = sb_test_read (engine, different, 2, 8);
  g_autoptr (SbImage) first = sb_test_blur_alone (image, &different[0], 16);
  g_autoptr (SbImage) second = sb_test_blur_alone (first, &different[1], 8);
  g_assert_true (sb_image_equal (fresh, second));

  /* Of another size: refused. */
  g_autoptr (SbImage) small = sb_test_photo (20, 20, 16, FALSE);
  g_assert_false (sb_engine_set_base (engine, small, list, 1, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
}

static void
test_serial (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (200, 100, 8, FALSE);
  SbEdit edit = sb_test_make_blur (5, 1, FALSE);
  guint64 serial = sb_engine_get_serial (engine);

#define CHANGED(expected)                                                                          \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const guint64 now_ = sb_engine_get_serial (engine);                                            \
    g_assert_true ((now_ != serial) == (expected));                                                \
    serial = now_;                                                                                 \
  }                                                                                                \
  G_STMT_END
  sb_test_load (engine, image);
  CHANGED (TRUE);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  CHANGED (TRUE);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  CHANGED (FALSE);
  sb_test_render (engine, &edit, 1, 0, (SbQuality){ FALSE, 1, NULL });
  CHANGED (TRUE);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  CHANGED (TRUE);
  g_autoptr (SbImage) sixteen = sb_test_read (engine, &edit, 1, 16);
  g_assert_false (sixteen == image);
  CHANGED (FALSE);
#undef CHANGED
}

static void
test_cancel (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (900, 700, 8, FALSE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  SbEdit edit = sb_test_make_blur (5, 3, FALSE), other = sb_test_make_blur (30, 5, TRUE);
  g_autoptr (SbEditList) list = sb_edit_list_new (&other, 1);

  sb_test_load (engine, image);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autofree guint8 *before = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.33);
  const guint64 serial = sb_engine_get_serial (engine);
  g_cancellable_cancel (cancellable);
  g_assert_false (sb_engine_render (engine, list, 0, SB_QUALITY_EXACT, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (sb_engine_read (engine, list, 0, 16, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_autofree guint8 *after = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.33);
  g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);
  g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
  /* And goes on. */
  sb_test_render (engine, &other, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = sb_test_read (engine, &other, 1, 8);
  g_autoptr (SbImage) expected = sb_test_blur_alone (image, &other, 8);
  g_assert_true (sb_image_equal (result, expected));
}

#if !defined(__SANITIZE_ADDRESS__)
/* Bytes of address space in use. */
static rlim_t
address_space (void)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  return (rlim_t)g_ascii_strtoull (text, NULL, 10) * (rlim_t)sysconf (_SC_PAGESIZE);
}
#endif

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

  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (2400, 1600, 8, FALSE);
  SbEdit edit = sb_test_make_blur (5, 3, FALSE);
  const SbEdit edits[2] = { sb_test_make_blur (9, 2, TRUE), sb_test_make_blur (3, 1, FALSE) };
  g_autoptr (SbEditList) list = sb_edit_list_new (edits, 2);
  guint failures = 0;
  struct rlimit limit;

  sb_test_load (engine, image);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  sb_engine_trim (engine);
  g_autofree guint8 *before = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.125);
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
      g_autofree guint8 *after = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.125);
      g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);
      sb_engine_trim (engine);
    }
  g_assert_cmpuint (failures, >, 3);
  g_autoptr (SbImage) result = sb_test_read (engine, edits, 2, 8);
  g_autoptr (SbImage) first = sb_test_blur_alone (image, &edits[0], 16);
  g_autoptr (SbImage) expected = sb_test_blur_alone (first, &edits[1], 8);
  g_assert_true (sb_image_equal (result, expected));
#endif
}

/* Room for the next EXACT render is made before it is asked for, and nothing is seen of that. */
static void
test_prepare (void)
{
#ifdef __SANITIZE_ADDRESS__
  g_test_skip ("the sanitizer keeps an account of its own");
#else
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (2400, 1700, 8, FALSE);
  const SbEdit edits[2] = { sb_test_make_blur (9, 1, FALSE), sb_test_make_blur (7, 1, FALSE) };

  sb_engine_prepare (engine, NULL); /* no picture: nothing happens */
  sb_test_load (engine, image);
  sb_test_render (engine, &edits[0], 1, 0, SB_QUALITY_EXACT);
  sb_engine_trim (engine);
  g_autofree guint8 *before = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.125);
  const guint64 serial = sb_engine_get_serial (engine);
  const gsize bare = address_space ();

  sb_engine_prepare (engine, NULL);
  const gsize ready = address_space ();
  g_assert_cmpuint (ready, >=, bare + sb_image_get_bytes (image));
  sb_engine_prepare (engine, NULL); /* once is enough */
  g_assert_cmpuint (address_space (), ==, ready);
  g_assert_cmpuint (sb_engine_get_serial (engine), ==, serial);
  g_autofree guint8 *after = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.125);
  g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);

  sb_engine_trim (engine);
  const gsize trimmed = address_space ();
  g_assert_cmpuint (trimmed, >=, bare);
  sb_test_render (engine, &edits[1], 1, 0, SB_QUALITY_EXACT);
  g_assert_cmpuint (address_space (), <, trimmed + sb_image_get_bytes (image) / 2);
  g_autoptr (SbImage) result = sb_test_read (engine, &edits[1], 1, 8);
  g_autoptr (SbImage) expected = sb_test_blur_alone (image, &edits[1], 8);
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
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (1200, 900, 8, FALSE);
  SbEdit edit = sb_test_make_blur (5, 3, FALSE);

  sb_test_load (engine, image);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autofree guint8 *before = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.25);
  for (guint i = 0; i < 25; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      Canceller canceller = { cancellable, i * 300 };
      const SbEdit edits[2]
          = { sb_test_make_blur (40 + i, 5, TRUE), sb_test_make_blur (3, 5, TRUE) };
      g_autoptr (SbEditList) list = sb_edit_list_new (edits, 2);
      GThread *thread = g_thread_new ("cancel", cancel_later, &canceller);
      const gboolean done
          = sb_engine_render (engine, list, i % 2, SB_QUALITY_EXACT, cancellable, &error);
      g_thread_join (thread);
      if (done)
        sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_autofree guint8 *after = sb_test_shoot (engine, SB_SHOW_RESULT, 0, 0, 300, 200, 0.25);
      g_assert_cmpmem (before, 300 * 200 * 4, after, 300 * 200 * 4);
    }
}

/* --- Picking and threads --------------------------------------------------------------------- */

static void
test_pick (void)
{
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
  g_autoptr (SbImage) image = sb_test_photo (101, 67, 8, TRUE);
  SbEdit edit = sb_test_make_blur (3, 1, FALSE);
  guint16 rgba[4];

  g_assert_false (sb_engine_pick (engine, SB_SHOW_RESULT, 0, 0, rgba));
  sb_test_load (engine, image);
  sb_test_render (engine, &edit, 1, 0, SB_QUALITY_EXACT);
  g_autoptr (SbImage) result = sb_test_read (engine, &edit, 1, 8);
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
  sb_test_render (engine, &edit, 1, 0, (SbQuality){ FALSE, 2, NULL });
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
      g_autofree guint8 *pixels
          = sb_test_shoot (shower->engine, SB_SHOW_RESULT, 0, 0, 100, 75, 0.125);
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
  g_autoptr (SbEngine) engine = sb_test_open_engine ();
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
      sb_test_load (engine, image);
      if (round == 0)
        for (guint t = 0; t < 2; t++)
          threads[t] = g_thread_new ("show", show_all_the_time, &showers[t]);
      for (guint i = 0; i < 6; i++)
        {
          const SbEdit edits[2]
              = { sb_test_make_blur (3 + i, 1, i % 2), sb_test_make_blur (2, 2, FALSE) };
          sb_test_render (engine, edits, 1 + i % 2, i % 2,
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
      g_clear_error (&error);
      g_setenv ("SOFTBOX_DEVICE", "gpu", TRUE);
      g_assert_null (sb_engine_new ((SbDevice){ SB_DEVICE_AUTO, 0, 0 }, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_true (g_str_has_prefix (error->message, "SOFTBOX_DEVICE: “gpu”"));
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
  g_test_add_func ("/engine/prepare", test_prepare);
  g_test_add_func ("/engine/cancel", test_cancel);
  g_test_add_func ("/engine/cancel-in-the-middle", test_cancel_in_the_middle);
  g_test_add_func ("/engine/pick", test_pick);
  g_test_add_func ("/engine/show-during-render", test_show_during_render);
  return g_test_run ();
}
