/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-stats.h"

#include <locale.h>

/* One process, one set of samples: the tests run in this order. */

static void
test_off (void)
{
  g_assert_false (sb_stats_is_on ());
  sb_stats_add (SB_STATS_RENDER, 5);
  sb_stats_frame (SB_STATS_PHOTO);
  sb_stats_frame (SB_STATS_SUBBANDS);
  sb_stats_result (1);
  sb_stats_measured (1);
  g_autofree char *json = sb_stats_print ();
  g_assert_cmpstr (json, ==,
                   "{\"frames\": 0, \"fps\": 0.000, "
                   "\"shown_ms\": {\"p50\": null, \"p95\": null, \"p99\": null}, "
                   "\"render_ms\": {\"p50\": null, \"p95\": null, \"p99\": null}, "
                   "\"show_ms\": {\"p50\": null, \"p95\": null, \"p99\": null}, "
                   "\"stall_ms\": {\"p50\": null, \"p95\": null, \"p99\": null}, "
                   "\"exact_ms\": {\"p50\": null, \"p95\": null, \"p99\": null}, "
                   "\"measured_ms\": {\"p50\": null, \"p95\": null, \"p99\": null}, "
                   "\"subbands_frames\": 0, \"subbands_fps\": 0.000, "
                   "\"results\": 0, \"unmeasured\": 0}");
}

static void
test_percentiles (void)
{
  sb_stats_start ();
  g_assert_true (sb_stats_is_on ());
  /* 100 samples, the k-th of them k / 4, in no order. */
  for (guint i = 0; i < 100; i++)
    sb_stats_add (SB_STATS_RENDER, (i * 37 % 100 + 1) / 4.0);
  sb_stats_add (SB_STATS_SHOW, 1.5);
  sb_stats_frame (SB_STATS_PHOTO);

  g_autofree char *json = sb_stats_print ();
  g_assert_nonnull (strstr (json, "\"frames\": 1, \"fps\": 0.000,"));
  g_assert_nonnull (
      strstr (json, "\"render_ms\": {\"p50\": 12.500, \"p95\": 23.750, \"p99\": 24.750}"));
  g_assert_nonnull (strstr (json, "\"show_ms\": {\"p50\": 1.500, \"p95\": 1.500, \"p99\": 1.500}"));

  /* A comma in the user's numbers is none in these. */
  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") != NULL)
    {
      g_autofree char *german = sb_stats_print ();
      setlocale (LC_NUMERIC, "C");
      g_assert_cmpstr (german, ==, json);
    }
}

static double
read_number (const char *json, const char *object, const char *key)
{
  const char *at = strstr (json, object);
  g_assert_nonnull (at);
  at = strstr (at, key);
  g_assert_nonnull (at);
  return g_ascii_strtod (at + strlen (key), NULL);
}

/* Which samples and counts there are; what they say is the clock's. */
static void
test_measured (void)
{
  sb_stats_frame (SB_STATS_SUBBANDS);
  sb_stats_frame (SB_STATS_SUBBANDS);
  sb_stats_measured (7); /* before its result */
  sb_stats_result (7);
  sb_stats_result (7);
  sb_stats_result (8); /* never measured */
  sb_stats_result (9);
  sb_stats_measured (8); /* too late */
  g_usleep (2000);
  sb_stats_measured (9);
  sb_stats_measured (9); /* another band of it */
  sb_stats_result (10);  /* not yet */

  g_autofree char *json = sb_stats_print ();
  g_assert_nonnull (strstr (json, "\"measured_ms\": {\"p50\": 0.000, "));
  g_assert_cmpfloat (read_number (json, "\"measured_ms\"", "\"p95\": "), >=, 2);
  g_assert_nonnull (strstr (json, "\"frames\": 1, "));
  g_assert_nonnull (strstr (json, "\"subbands_frames\": 2, "));
  g_assert_true (g_str_has_suffix (json, "\"results\": 4, \"unmeasured\": 1}"));
}

static gboolean
quit (gpointer data)
{
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

static gboolean
block (gpointer data)
{
  g_usleep (60 * 1000);
  return G_SOURCE_REMOVE;
}

static void
test_stall (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  g_timeout_add (10, block, NULL);
  g_timeout_add (120, quit, loop);
  g_main_loop_run (loop);
  g_autofree char *json = sb_stats_print ();
  const double worst = read_number (json, "\"stall_ms\"", "\"p99\": ");
  /* It was due up to 4 ms before the block began, or after. */
  g_assert_cmpfloat (worst, >=, 55);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stats/off", test_off);
  g_test_add_func ("/stats/percentiles", test_percentiles);
  g_test_add_func ("/stats/measured", test_measured);
  g_test_add_func ("/stats/stall", test_stall);
  return g_test_run ();
}
