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
  guint64 frames;
  gint64 first_frame, last_frame;
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
sb_stats_frame (void)
{
  if (!sb_stats_is_on ())
    return;
  const gint64 now = g_get_monotonic_time ();
  g_mutex_lock (&stats.mutex);
  if (stats.frames++ == 0)
    stats.first_frame = now;
  stats.last_frame = now;
  g_mutex_unlock (&stats.mutex);
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

char *
sb_stats_print (void)
{
  static const char *const names[SB_N_STATS] = {
    [SB_STATS_SHOWN] = "shown_ms", [SB_STATS_RENDER] = "render_ms", [SB_STATS_SHOW] = "show_ms",
    [SB_STATS_STALL] = "stall_ms", [SB_STATS_EXACT] = "exact_ms",
  };
  GString *json = g_string_new (NULL);

  g_mutex_lock (&stats.mutex);
  const gint64 elapsed = stats.last_frame - stats.first_frame;
  g_string_append_printf (json, "{\"frames\": %" G_GUINT64_FORMAT ", \"fps\": ", stats.frames);
  append_number (json, stats.frames > 1 && elapsed > 0 ? (stats.frames - 1) * 1e6 / elapsed : 0);
  for (guint kind = 0; kind < SB_N_STATS; kind++)
    {
      g_string_append_printf (json, ", \"%s\": ", names[kind]);
      append_percentiles (json, stats.samples[kind]);
    }
  g_mutex_unlock (&stats.mutex);
  g_string_append_c (json, '}');
  return g_string_free (json, FALSE);
}
