/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <string.h>

#include <gio/gio.h>

#include "sb-history.h"

#define SECOND G_USEC_PER_SEC

/* A list from texts with a space between. */
static SbEditList *
list (const char *texts)
{
  g_auto (GStrv) parts = g_strsplit (texts, " ", -1);
  SbEdit edits[16];
  guint n = 0;

  for (; parts[n] != NULL; n++)
    g_assert_true (sb_edit_parse (parts[n], &edits[n], NULL));
  return sb_edit_list_new (edits, n);
}

static void
push (SbHistory *history, const char *texts, guint n_applied, const char *control, gint64 now)
{
  g_autoptr (SbEditList) edits = list (texts);

  sb_history_push (history, edits, n_applied, texts, control, now);
}

/* The labels of all states, the cursor's in brackets: push() labels a state with its texts. */
static void
assert_states (SbHistory *history, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < sb_history_get_n_states (history); i++)
    {
      SbHistoryState state = sb_history_get_state (history, i);
      g_autofree char *edits = sb_edit_list_print (state.edits);

      if (i > 0)
        g_assert_cmpstr (edits, ==, state.label);
      g_string_append_printf (text, i == sb_history_get_cursor (history) ? "%s[%s]" : "%s%s",
                              i == 0 ? "" : " | ", i == 0 ? "Original" : state.label);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_steps (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  assert_states (history, "[Original]");
  g_assert_cmpstr (sb_history_get_state (history, 0).label, ==, "Original");
  g_assert_cmpuint (sb_history_get_state (history, 0).edits->n_edits, ==, 0);
  g_assert_false (sb_history_undo (history));
  g_assert_false (sb_history_redo (history));
  g_assert_false (sb_history_is_modified (history));

  push (history, "blur", 0, NULL, 0);
  push (history, "blur:radius=2", 0, NULL, 0);
  assert_states (history, "Original | blur | [blur:radius=2]");
  g_assert_true (sb_history_is_modified (history));
  g_assert_true (sb_history_undo (history));
  assert_states (history, "Original | [blur] | blur:radius=2");
  g_assert_true (sb_history_undo (history));
  g_assert_false (sb_history_undo (history));
  assert_states (history, "[Original] | blur | blur:radius=2");
  g_assert_false (sb_history_is_modified (history));
  g_assert_true (sb_history_redo (history));
  g_assert_true (sb_history_redo (history));
  g_assert_false (sb_history_redo (history));
  assert_states (history, "Original | blur | [blur:radius=2]");

  /* What is beyond the cursor goes when something new comes, and not before. */
  sb_history_undo (history);
  push (history, "blur", 0, NULL, 0);
  assert_states (history, "Original | [blur] | blur:radius=2");
  push (history, "blur:radius=3", 0, NULL, 0);
  assert_states (history, "Original | blur | [blur:radius=3]");
  g_assert_false (sb_history_redo (history));
}

static void
test_merge_by_time (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  push (history, "blur:radius=1", 0, "blur.radius", 10 * SECOND);
  push (history, "blur:radius=2", 0, "blur.radius", 11 * SECOND);
  push (history, "blur:radius=3", 0, "blur.radius", 12 * SECOND);
  assert_states (history, "Original | [blur:radius=3]");
  /* a second counts from the last change, one microsecond more is too late */
  push (history, "blur:radius=4", 0, "blur.radius", 13 * SECOND + 1);
  assert_states (history, "Original | blur:radius=3 | [blur:radius=4]");
  /* another control */
  push (history, "blur:radius=4,passes=1", 0, "blur.passes", 13 * SECOND + 2);
  push (history, "blur:radius=5,passes=1", 0, "blur.radius", 13 * SECOND + 3);
  assert_states (history, "Original | blur:radius=3 | blur:radius=4 | blur:radius=4,passes=1 | "
                          "[blur:radius=5,passes=1]");
  /* no control: never */
  push (history, "blur:radius=6", 0, NULL, 13 * SECOND + 4);
  push (history, "blur:radius=7", 0, NULL, 13 * SECOND + 5);
  g_assert_cmpuint (sb_history_get_n_states (history), ==, 7);
  push (history, "blur:radius=8", 0, "blur.radius", 13 * SECOND + 6);
  g_assert_cmpuint (sb_history_get_n_states (history), ==, 8);
}

static void
test_merge_stops (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  push (history, "blur:radius=1", 0, "r", 0);
  sb_history_close (history);
  push (history, "blur:radius=2", 0, "r", 1);
  assert_states (history, "Original | blur:radius=1 | [blur:radius=2]");

  /* Undo and redo end it too: the step that was undone is not changed by the next. */
  sb_history_undo (history);
  push (history, "blur:radius=3", 0, "r", 2);
  assert_states (history, "Original | blur:radius=1 | [blur:radius=3]");
  sb_history_undo (history);
  sb_history_redo (history);
  push (history, "blur:radius=4", 0, "r", 3);
  assert_states (history, "Original | blur:radius=1 | blur:radius=3 | [blur:radius=4]");

  /* The saved state stays. */
  sb_history_mark_saved (history);
  push (history, "blur:radius=5", 0, "r", 4);
  push (history, "blur:radius=6", 0, "r", 5);
  assert_states (history,
                 "Original | blur:radius=1 | blur:radius=3 | blur:radius=4 | [blur:radius=6]");
  g_assert_true (sb_history_is_modified (history));
  sb_history_undo (history);
  g_assert_false (sb_history_is_modified (history));
}

static void
test_drag (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  /* One whole drag is one step, however long the hand rests in it. */
  sb_history_begin_drag (history, "r");
  push (history, "blur:radius=1", 0, "r", 0);
  push (history, "blur:radius=2", 0, "r", 60 * SECOND);
  push (history, "blur:radius=3", 0, "r", 600 * SECOND);
  sb_history_end_drag (history);
  assert_states (history, "Original | [blur:radius=3]");

  /* A drag that begins later is another step, and does not swallow the one before. */
  sb_history_begin_drag (history, "r");
  push (history, "blur:radius=4", 0, "r", 700 * SECOND);
  push (history, "blur:radius=5", 0, "r", 800 * SECOND);
  assert_states (history, "Original | blur:radius=3 | [blur:radius=5]");

  /* Another control meanwhile (a key) is a step of its own. */
  push (history, "blur:radius=5,passes=1", 0, "p", 800 * SECOND);
  push (history, "blur:radius=6,passes=1", 0, "r", 900 * SECOND);
  sb_history_end_drag (history);
  assert_states (history, "Original | blur:radius=3 | blur:radius=5 | blur:radius=5,passes=1 | "
                          "[blur:radius=6,passes=1]");

  /* After the drag only the second counts. */
  push (history, "blur:radius=7,passes=1", 0, "r", 902 * SECOND);
  g_assert_cmpuint (sb_history_get_n_states (history), ==, 6);
}

static void
test_drag_back (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  push (history, "blur:radius=1", 0, "r", 0);
  sb_history_begin_drag (history, "r");
  push (history, "blur:radius=2", 0, "r", 10 * SECOND);
  push (history, "blur:radius=3", 0, "r", 11 * SECOND);
  push (history, "blur:radius=1", 0, "r", 12 * SECOND);
  assert_states (history, "Original | [blur:radius=1]");
  /* and on: a new step, not a change of the one before the drag */
  push (history, "blur:radius=4", 0, "r", 12 * SECOND);
  push (history, "blur:radius=5", 0, "r", 20 * SECOND);
  assert_states (history, "Original | blur:radius=1 | [blur:radius=5]");
  push (history, "blur:radius=1", 0, "r", 20 * SECOND);
  sb_history_end_drag (history);
  assert_states (history, "Original | [blur:radius=1]");

  /* Back to the original by hand. */
  g_autoptr (SbHistory) other = sb_history_new (0);
  g_autoptr (SbEditList) none = sb_edit_list_new (NULL, 0);

  push (other, "blur:radius=1", 0, "r", 0);
  sb_history_push (other, none, 0, "Off", "r", 1);
  assert_states (other, "[Original]");
}

static void
test_apply (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  push (history, "blur", 0, "r", 0);
  push (history, "blur", 1, NULL, 1);
  assert_states (history, "Original | blur | [blur]");
  g_assert_cmpuint (sb_history_get_state (history, 1).n_applied, ==, 0);
  g_assert_cmpuint (sb_history_get_state (history, 2).n_applied, ==, 1);
  push (history, "blur blur:radius=1", 1, "r", 2);
  assert_states (history, "Original | blur | blur | [blur blur:radius=1]");

  /* Applied in place: no state of its own, and still so after coming back. */
  g_autoptr (SbHistory) other = sb_history_new (0);
  push (other, "blur", 0, "r", 0);
  sb_history_apply (other);
  sb_history_undo (other);
  g_assert_cmpuint (sb_history_get_state (other, 0).n_applied, ==, 0);
  sb_history_redo (other);
  g_assert_cmpuint (sb_history_get_state (other, 1).n_applied, ==, 1);
  sb_history_apply (other);
  push (other, "blur blur:radius=1", 1, "r", 1);
  assert_states (other, "Original | blur | [blur blur:radius=1]");
}

static void
test_saved (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);

  push (history, "blur:radius=1", 0, NULL, 0);
  push (history, "blur:radius=2", 0, NULL, 0);
  sb_history_mark_saved (history);
  g_assert_false (sb_history_is_modified (history));
  sb_history_undo (history);
  g_assert_true (sb_history_is_modified (history));
  sb_history_undo (history);
  g_assert_true (sb_history_is_modified (history));
  sb_history_redo (history);
  sb_history_redo (history);
  g_assert_false (sb_history_is_modified (history));

  /* The saved state is gone from the list, yet what it held is known: states are compared. */
  sb_history_undo (history);
  push (history, "blur:radius=3", 0, NULL, 0);
  g_assert_true (sb_history_is_modified (history));
  push (history, "blur:radius=2", 0, NULL, 0);
  g_assert_false (sb_history_is_modified (history));
  /* Applying changes no pixel. */
  push (history, "blur:radius=2", 1, NULL, 0);
  g_assert_false (sb_history_is_modified (history));

  /* A save that ended after the hand went on. */
  g_autoptr (SbEditList) first = list ("blur:radius=1");

  sb_history_mark_saved_edits (history, first);
  g_assert_true (sb_history_is_modified (history));
  while (sb_history_get_cursor (history) > 1)
    sb_history_undo (history);
  g_assert_false (sb_history_is_modified (history));
}

/* --- Pixels ---------------------------------------------------------------------------------- */

/* Noise: as good as incompressible. */
static SbImage *
noise (guint width, guint height, guint seed)
{
  SbImage *image = sb_image_new (width, height, 16, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint32 *words = (guint32 *)sb_image_writable (image);

  for (gsize i = 0; i < sb_image_get_bytes (image) / 4; i++)
    words[i] = g_rand_int (rand);
  return image;
}

static void
assert_kept (SbHistory *history, guint position, SbImage *expected)
{
  g_autoptr (SbSnapshot) snapshot = sb_history_take (history, position);

  g_assert_cmpint (sb_history_get_state (history, position).kept, ==, expected != NULL);
  if (expected == NULL)
    {
      g_assert_null (snapshot);
      return;
    }
  g_assert_nonnull (snapshot);

  g_autoptr (SbImage) image = sb_snapshot_restore (snapshot, NULL);

  g_assert_true (sb_image_equal (image, expected));
}

/* States 1 .. 9 with pixels of their own; images[0] is unused. */
static void
push_nine (SbHistory *history, SbImage *images[10])
{
  for (guint i = 1; i <= 9; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", i);

      push (history, text, 0, NULL, 0);
      images[i] = noise (50, 20, i);
      sb_history_keep (history, i, images[i]);
    }
}

static void
free_nine (SbImage *images[10])
{
  for (guint i = 1; i <= 9; i++)
    sb_image_unref (images[i]);
}

static void
test_keep (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);
  SbImage *images[10];

  push_nine (history, images);
  /* At once, compressed or not. */
  for (guint i = 1; i <= 9; i++)
    assert_kept (history, i, images[i]);
  sb_history_settle (history);
  for (guint i = 1; i <= 9; i++)
    assert_kept (history, i, images[i]);
  assert_kept (history, 0, NULL);
  g_assert_cmpuint (sb_history_get_bytes (history), >, 9 * 8000);
  g_assert_cmpuint (sb_history_get_bytes (history), <, 9 * 8500);

  /* States that go take their pixels with them. */
  for (guint i = 0; i < 5; i++)
    sb_history_undo (history);
  push (history, "blur:radius=99", 0, NULL, 0);
  g_assert_cmpuint (sb_history_get_bytes (history), <, 4 * 8500);
  assert_kept (history, 5, NULL);
  free_nine (images);
}

static void
test_budget (void)
{
  g_autoptr (SbHistory) history = sb_history_new (3 * 8500);
  SbImage *images[10];

  push_nine (history, images);
  sb_history_settle (history);
  g_assert_cmpuint (sb_history_get_bytes (history), <=, 3 * 8500);
  for (guint i = 1; i <= 9; i++)
    {
      assert_kept (history, i, i >= 7 ? images[i] : NULL);
      g_assert_cmpint (sb_history_get_state (history, i).evicted, ==, i < 7);
    }

  /* Undo never forgets: the states are there without their pixels. */
  for (guint i = 9; i >= 1; i--)
    g_assert_true (sb_history_undo (history));
  g_assert_cmpuint (sb_history_get_n_states (history), ==, 10);
  for (guint i = 0; i < 4; i++)
    sb_history_redo (history);

  /* At 4: keeping 4 drops 9, the farthest; keeping 5 drops 8. */
  sb_history_keep (history, 4, images[4]);
  sb_history_settle (history);
  g_assert_false (sb_history_get_state (history, 4).evicted);
  g_assert_true (sb_history_get_state (history, 9).evicted);
  for (guint i = 1; i <= 9; i++)
    assert_kept (history, i, i == 4 || i == 7 || i == 8 ? images[i] : NULL);
  sb_history_keep (history, 5, images[5]);
  sb_history_settle (history);
  for (guint i = 1; i <= 9; i++)
    assert_kept (history, i, i == 4 || i == 5 || i == 7 ? images[i] : NULL);
  /* Of 1 and 7, both three away, the one to be redone goes. */
  sb_history_keep (history, 1, images[1]);
  sb_history_settle (history);
  for (guint i = 1; i <= 9; i++)
    assert_kept (history, i, i == 1 || i == 4 || i == 5 ? images[i] : NULL);

  /* A smaller budget holds at once. */
  sb_history_set_budget (history, 8500);
  g_assert_cmpuint (sb_history_get_bytes (history), <=, 8500);
  assert_kept (history, 4, images[4]);
  assert_kept (history, 5, NULL);

  /* What is larger than all of it is not kept, and drives nothing out. */
  g_autoptr (SbImage) large = noise (50, 30, 77);

  sb_history_keep (history, 3, large);
  sb_history_settle (history);
  assert_kept (history, 3, NULL);
  assert_kept (history, 4, images[4]);
  g_assert_false (sb_history_get_state (history, 0).evicted);

  sb_history_set_budget (history, 1);
  g_assert_cmpuint (sb_history_get_bytes (history), ==, 0);
  free_nine (images);
}

static void
test_nearest (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);
  g_autoptr (SbImage) one = noise (4, 4, 1);
  g_autoptr (SbImage) two = noise (4, 4, 2);
  g_autoptr (SbImage) other = noise (4, 4, 3);
  guint n_edits = 99;

  push (history, "blur:radius=1", 0, NULL, 0);                             /* 1 */
  push (history, "blur:radius=1", 1, NULL, 0);                             /* 2 */
  push (history, "blur:radius=1 blur:radius=2", 1, NULL, 0);               /* 3 */
  push (history, "blur:radius=1 blur:radius=3", 1, NULL, 0);               /* 4 */
  push (history, "blur:radius=1 blur:radius=3 blur:radius=4", 2, NULL, 0); /* 5 */

  g_assert_null (sb_history_take_nearest (history, 5, &n_edits));
  g_assert_cmpuint (n_edits, ==, 0);

  sb_history_keep (history, 1, one);
  sb_history_keep (history, 3, other);
  sb_history_settle (history);
  /* 3 has more edits, but not those of 5 */
  g_autoptr (SbSnapshot) first = sb_history_take_nearest (history, 5, &n_edits);
  g_autoptr (SbImage) first_image = sb_snapshot_restore (first, NULL);

  g_assert_cmpuint (n_edits, ==, 1);
  g_assert_true (sb_image_equal (first_image, one));

  sb_history_keep (history, 4, two);
  g_autoptr (SbSnapshot) second = sb_history_take_nearest (history, 5, &n_edits);
  g_autoptr (SbImage) second_image = sb_snapshot_restore (second, NULL);

  g_assert_cmpuint (n_edits, ==, 2);
  g_assert_true (sb_image_equal (second_image, two));

  /* An applied state looks like the one before it: nothing is kept twice. */
  guint64 bytes = sb_history_get_bytes (history);

  sb_history_settle (history);
  bytes = sb_history_get_bytes (history);
  sb_history_keep (history, 2, one);
  sb_history_settle (history);
  g_assert_cmpuint (sb_history_get_bytes (history), ==, bytes);
  assert_kept (history, 2, one);
}

/* Steps that are replaced before their picture is packed, and histories that end meanwhile. */
static void
test_hurry (void)
{
  g_autoptr (SbImage) large = noise (1500, 1000, 5);

  for (guint round = 0; round < 5; round++)
    {
      SbHistory *history = sb_history_new (0);

      for (guint i = 1; i <= 6; i++)
        {
          g_autofree char *text = g_strdup_printf ("blur:radius=%u", i);

          push (history, text, 0, "r", i);
          sb_history_keep (history, 1, large);
        }
      assert_kept (history, 1, large);
      g_assert_cmpuint (sb_history_get_bytes (history), ==, 0);
      if (round % 2 == 0)
        {
          sb_history_settle (history);
          g_assert_cmpuint (sb_history_get_bytes (history), >, sb_image_get_bytes (large) * 9 / 10);
          assert_kept (history, 1, large);
        }
      sb_history_free (history);
    }
  /* What came back too late is thrown away in the main loop. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static gboolean
on_timeout (gpointer user_data)
{
  *(gboolean *)user_data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Without settle the main loop brings the snapshot in. */
static void
test_main_loop (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);
  g_autoptr (SbImage) image = noise (100, 100, 6);
  gboolean late = FALSE;
  guint source = g_timeout_add_seconds (20, on_timeout, &late);

  push (history, "blur", 0, NULL, 0);
  sb_history_keep (history, 1, image);
  while (sb_history_get_bytes (history) == 0 && !late)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (late);
  g_source_remove (source);
  assert_kept (history, 1, image);
}

/* A burst of large pictures must not pile up uncompressed: one waits, that at the cursor. */
static void
test_backlog (void)
{
  g_autoptr (SbHistory) history = sb_history_new (0);
  g_autoptr (SbImage) large = sb_image_new (3000, 3000, 16, NULL);
  guint n_kept = 0;

  memset (sb_image_writable (large), 0x11, sb_image_get_bytes (large));
  for (guint i = 1; i <= 6; i++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", i);

      push (history, text, 0, NULL, 0);
      sb_history_keep (history, i, large);
    }
  for (guint i = 1; i <= 6; i++)
    n_kept += sb_history_get_state (history, i).kept ? 1 : 0;
  g_assert_cmpuint (n_kept, ==, 1);
  g_assert_true (sb_history_get_state (history, 6).kept);
  sb_history_settle (history);
  assert_kept (history, 6, large);
  /* Nor does one wait where it will never have room. */
  sb_history_set_budget (history, sb_image_get_bytes (large) / 64 - 1);
  push (history, "blur:radius=7", 0, NULL, 0);
  sb_history_keep (history, 7, large);
  g_assert_false (sb_history_get_state (history, 7).kept);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/history/steps", test_steps);
  g_test_add_func ("/history/merge-by-time", test_merge_by_time);
  g_test_add_func ("/history/merge-stops", test_merge_stops);
  g_test_add_func ("/history/drag", test_drag);
  g_test_add_func ("/history/drag-back", test_drag_back);
  g_test_add_func ("/history/apply", test_apply);
  g_test_add_func ("/history/saved", test_saved);
  g_test_add_func ("/history/keep", test_keep);
  g_test_add_func ("/history/budget", test_budget);
  g_test_add_func ("/history/nearest", test_nearest);
  g_test_add_func ("/history/hurry", test_hurry);
  g_test_add_func ("/history/main-loop", test_main_loop);
  g_test_add_func ("/history/backlog", test_backlog);
  return g_test_run ();
}
