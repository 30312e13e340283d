/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-stats.h"

#include <string.h>

/* How often the main loop is asked whether it answers in time. */
#define TICK_US 4000
/* An hour of frames at 60 a second, and then no more memory. */
#define MAX_SAMPLES (1 << 18)

static struct
{
  GMutex mutex;
  gint on;
  GArray *samples[SB_N_STATS]; /* float, ms */
  struct
  {
    guint64 frames;
    gint64 first, last;
  } canvases[SB_N_STATS_CANVASES];
  guint64 n_results, n_unmeasured;
  guint64 result_id, measured_id; /* the last ones on screen; 0: none */
  gint64 result_at;
} stats;

typedef struct
{
  GSource source;
  gint64 due;
} Tick;

/* Runs before anything else that is ready, so that it is as late as the callback before it was
 * long. */
static gboolean
tick_dispatch (GSource *source, GSourceFunc callback, gpointer user_data)
{
  Tick *tick = (Tick *)source;
  const gint64 now = g_get_monotonic_time ();

  sb_stats_add (SB_STATS_STALL, MAX (0, now - tick->due) / 1000.0);
  tick->due = now + TICK_US;
  g_source_set_ready_time (source, tick->due);
  return G_SOURCE_CONTINUE;
}

static GSourceFuncs tick_funcs = { NULL, NULL, tick_dispatch, NULL, NULL, NULL };

void
sb_stats_start (void)
{
  if (sb_stats_is_on ())
    return;
  g_mutex_lock (&stats.mutex);
  for (guint kind = 0; kind < SB_N_STATS; kind++)
    stats.samples[kind] = g_array_new (FALSE, FALSE, sizeof (float));
  g_mutex_unlock (&stats.mutex);
  g_atomic_int_set (&stats.on, TRUE);

  Tick *tick = (Tick *)g_source_new (&tick_funcs, sizeof (Tick));
  tick->due = g_get_monotonic_time () + TICK_US;
  g_source_set_ready_time (&tick->source, tick->due);
  g_source_set_priority (&tick->source, G_PRIORITY_HIGH);
  g_source_set_static_name (&tick->source, "[softbox] stall");
  g_source_attach (&tick->source, NULL);
  g_source_unref (&tick->source);
}

gboolean
sb_stats_is_on (void)
{
  return g_atomic_int_get (&stats.on);
}

void
sb_stats_add (SbStatsKind kind, double ms)
{
  g_return_if_fail (kind < SB_N_STATS);

  if (!sb_stats_is_on ())
    return;
  const float sample = (float)ms;
  g_mutex_lock (&stats.mutex);
  if (stats.samples[kind]->len < MAX_SAMPLES)
    g_array_append_val (stats.samples[kind], sample);
  g_mutex_unlock (&stats.mutex);
}

void
sb_stats_frame (SbStatsCanvas canvas)
{
  g_return_if_fail (canvas < SB_N_STATS_CANVASES);

  if (!sb_stats_is_on ())
    return;
  const gint64 now = g_get_monotonic_time ();
  g_mutex_lock (&stats.mutex);
  if (stats.canvases[canvas].frames++ == 0)
    stats.canvases[canvas].first = now;
  stats.canvases[canvas].last = now;
  g_mutex_unlock (&stats.mutex);
}

void
sb_stats_result (guint64 id)
{
  if (!sb_stats_is_on ())
    return;
  g_mutex_lock (&stats.mutex);
  const gboolean fresh = id != stats.result_id, measured = id == stats.measured_id;
  if (fresh)
    {
      if (stats.result_id != 0 && stats.result_id != stats.measured_id)
        stats.n_unmeasured++;
      stats.n_results++;
      stats.result_id = id;
      stats.result_at = g_get_monotonic_time ();
    }
  g_mutex_unlock (&stats.mutex);
  if (fresh && measured)
    sb_stats_add (SB_STATS_MEASURED, 0);
}

void
sb_stats_measured (guint64 id)
{
  if (!sb_stats_is_on ())
    return;
  g_mutex_lock (&stats.mutex);
  const gboolean due = id == stats.result_id && id != stats.measured_id;
  const gint64 since = stats.result_at;
  stats.measured_id = id;
  g_mutex_unlock (&stats.mutex);
  if (due)
    sb_stats_add (SB_STATS_MEASURED, (g_get_monotonic_time () - since) / 1000.0);
}

static int
compare_floats (gconstpointer a, gconstpointer b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void
append_number (GString *json, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (json, g_ascii_formatd (text, sizeof text, "%.3f", number));
}

/* The nearest-rank percentiles, null where there are no samples. Sorts the samples. */
static void
append_percentiles (GString *json, GArray *samples)
{
  static const guint percents[] = { 50, 95, 99 };

  if (samples != NULL)
    g_array_sort (samples, compare_floats);
  for (guint i = 0; i < G_N_ELEMENTS (percents); i++)
    {
      g_string_append_printf (json, "%s\"p%u\": ", i == 0 ? "{" : ", ", percents[i]);
      if (samples == NULL || samples->len == 0)
        g_string_append (json, "null");
      else
        {
          const gsize rank = ((gsize)samples->len * percents[i] + 99) / 100;
          append_number (json, g_array_index (samples, float, rank - 1));
        }
    }
  g_string_append_c (json, '}');
}

static void
append_canvas (GString *json, const char *prefix, SbStatsCanvas canvas)
{
  const guint64 frames = stats.canvases[canvas].frames;
  const gint64 elapsed = stats.canvases[canvas].last - stats.canvases[canvas].first;

  g_string_append_printf (json, "\"%sframes\": %" G_GUINT64_FORMAT ", \"%sfps\": ", prefix, frames,
                          prefix);
  append_number (json, frames > 1 && elapsed > 0 ? (frames - 1) * 1e6 / elapsed : 0);
}

char *
sb_stats_print (void)
{
  static const char *const names[SB_N_STATS] = {
    [SB_STATS_SHOWN] = "shown_ms", [SB_STATS_RENDER] = "render_ms",
    [SB_STATS_SHOW] = "show_ms",   [SB_STATS_STALL] = "stall_ms",
    [SB_STATS_EXACT] = "exact_ms", [SB_STATS_MEASURED] = "measured_ms",
  };
  GString *json = g_string_new ("{");

  g_mutex_lock (&stats.mutex);
  append_canvas (json, "", SB_STATS_PHOTO);
  for (guint kind = 0; kind < SB_N_STATS; kind++)
    {
      g_string_append_printf (json, ", \"%s\": ", names[kind]);
      append_percentiles (json, stats.samples[kind]);
    }
  g_string_append (json, ", ");
  append_canvas (json, "subbands_", SB_STATS_SUBBANDS);
  g_string_append_printf (
      json, ", \"results\": %" G_GUINT64_FORMAT ", \"unmeasured\": %" G_GUINT64_FORMAT,
      stats.n_results, stats.n_unmeasured);
  g_mutex_unlock (&stats.mutex);
  g_string_append_c (json, '}');
  return g_string_free (json, FALSE);
}
