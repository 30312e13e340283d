/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <math.h>
#include <glib/gi18n-lib.h>

/* After the last change of a control that may go on: then the hand rests. */
#define REST_DELAY (50 * 1000)
/* The animation's largest radius, and how often its frame rate is told. */
#define SWEEP_RADIUS 64
#define FPS_PERIOD   (500 * 1000)

/* --- What is wanted --------------------------------------------------------------------------- */

/* The position of the unapplied edit of a kind in a list, or its length. */
static guint
find_edit (const SbEditList *edits, guint n_applied, SbEditKind kind)
{
  guint i = MIN (n_applied, edits->n_edits);
  while (i < edits->n_edits && edits->edits[i].kind != kind)
    i++;
  return i;
}

/* The list with `edit` in place of the unapplied one of its kind, or at its end; NULL takes the one
 * at `position` out. */
static SbEditList *
replace_edit (const SbEditList *edits, guint position, const SbEdit *edit)
{
  g_autofree SbEdit *copy = g_new (SbEdit, edits->n_edits + 1);
  guint n = 0;

  for (guint i = 0; i < edits->n_edits; i++)
    if (i != position)
      copy[n++] = edits->edits[i];
    else if (edit != NULL)
      copy[n++] = *edit;
  if (position == edits->n_edits && edit != NULL)
    copy[n++] = *edit;
  return sb_edit_list_new (copy, n);
}

/* Has the newest state rendered. exact_at: when the hand will have come to rest. */
void
sb_document_want (SbDocument *self, gint64 exact_at, gboolean same_pixels)
{
  const SbHistoryState state = sb_document_get_cursor_state (self);
  SbWanted wanted = { 0 };

  wanted.generation = self->generation;
  wanted.n_fixed = self->n_applied;
  wanted.changed = g_get_monotonic_time ();
  wanted.exact_at = exact_at;
  wanted.same_pixels = same_pixels;
  if (self->flags[SB_PROP_ANIMATING])
    {
      const guint position = find_edit (state.edits, self->n_applied, self->sweep.edit.kind);
      wanted.edits = replace_edit (state.edits, position, &self->sweep.edit);
    }
  else
    {
      wanted.edits = sb_edit_list_ref (state.edits);
      wanted.keep = state.edits->n_edits > 0 && !state.kept;
      wanted.snapshot = sb_history_take_nearest (
          self->history, sb_history_get_cursor (self->history), &wanted.n_snapshot);
    }
  self->wanted_id = sb_work_want (self->work, &wanted);
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
}

/* A new state after the cursor. */
static void
push (SbDocument *self, SbEditList *edits, const char *label, const char *control)
{
  const gint64 now = g_get_monotonic_time ();

  sb_history_push (self->history, edits, self->n_applied, label, control, now);
  /* One change of its own needs no hand to come to rest. */
  sb_document_want (self, control == NULL && !self->dragging ? now : now + REST_DELAY, FALSE);
  sb_document_refresh (self);
}

/* --- Editing --------------------------------------------------------------------------------- */

const SbEdit *
sb_document_get_edit (SbDocument *self, SbEditKind kind)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), NULL);

  if (self->flags[SB_PROP_ANIMATING] && kind == self->sweep.edit.kind)
    return &self->sweep.edit;
  const SbEditList *edits = sb_document_get_cursor_state (self).edits;
  const guint position = find_edit (edits, self->n_applied, kind);
  return position < edits->n_edits ? &edits->edits[position] : NULL;
}

gboolean
sb_document_set_edit (SbDocument *self, const SbEdit *edit, const char *control, GError **error)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (edit != NULL && edit->kind < SB_N_EDIT_KINDS, FALSE);

  if (self->image == NULL)
    {
      g_set_error_literal (error, SB_ERROR, SB_ERROR_INVALID,
                           _ ("There is no picture to edit. Open one first"));
      return FALSE;
    }
  if (!sb_edit_check (edit, sb_image_get_width (self->image), sb_image_get_height (self->image),
                      error))
    return FALSE;

  sb_document_report (self, NULL);
  const SbEditList *edits = sb_document_get_cursor_state (self).edits;
  const guint position = find_edit (edits, self->n_applied, edit->kind);
  SbEdit next = *edit;
  if (self->flags[SB_PROP_ANIMATING] && edit->kind == self->sweep.edit.kind)
    {
      if (control == NULL || g_strcmp0 (control, "blur.radius") == 0)
        g_object_set (self, "animating", FALSE, NULL); /* the hand takes over */
      else
        {
          /* Another control moves while the radius sweeps: the sweep's radius is not the user's. */
          const double radius = self->sweep.edit.values[SB_BLUR_RADIUS];
          SbEdit defaults;
          sb_edit_init (&defaults, edit->kind);
          self->sweep.edit = *edit;
          self->sweep.edit.values[SB_BLUR_RADIUS] = radius;
          next.values[SB_BLUR_RADIUS]
              = (position < edits->n_edits ? &edits->edits[position] : &defaults)
                    ->values[SB_BLUR_RADIUS];
        }
    }
  if (position < edits->n_edits && sb_edit_equal (&edits->edits[position], &next))
    return TRUE;

  g_autoptr (SbEditList) list = replace_edit (edits, position, &next);
  g_autofree char *label = sb_edit_label (&next);
  push (self, list, label, control);
  if (control == NULL)
    sb_document_changed_elsewhere (self);
  return TRUE;
}

void
sb_document_remove_edit (SbDocument *self, SbEditKind kind)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));
  g_return_if_fail (kind < SB_N_EDIT_KINDS);

  const SbEditList *edits = sb_document_get_cursor_state (self).edits;
  const guint position = find_edit (edits, self->n_applied, kind);
  if (self->flags[SB_PROP_ANIMATING] && kind == self->sweep.edit.kind)
    g_object_set (self, "animating", FALSE, NULL);
  if (position == edits->n_edits)
    return;
  g_autoptr (SbEditList) list = replace_edit (edits, position, NULL);
  /* Translators: a step in the history; %s is an edit, as in "Blur off" */
  g_autofree char *label = g_strdup_printf (_ ("%s off"), _ (sb_edit_class (kind)->label));
  push (self, list, label, NULL);
  sb_document_changed_elsewhere (self);
}

void
sb_document_begin_drag (SbDocument *self, const char *control)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));
  g_return_if_fail (control != NULL);

  self->dragging = TRUE;
  sb_history_begin_drag (self->history, control);
}

void
sb_document_end_drag (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  if (!self->dragging)
    return;
  self->dragging = FALSE;
  sb_history_end_drag (self->history);
  if (!self->flags[SB_PROP_ANIMATING])
    sb_work_rest (self->work);
}

void
sb_document_apply (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  const guint n_edits = sb_document_get_cursor_state (self).edits->n_edits;
  if (n_edits == self->n_applied)
    return;
  g_object_set (self, "animating", FALSE, NULL);
  sb_history_apply (self->history);
  self->n_applied = n_edits;
  /* The same pixels, but the engine keeps the result of these edits from now on. */
  sb_document_want (self, g_get_monotonic_time (), TRUE);
  sb_document_refresh (self);
  sb_document_changed_elsewhere (self);
}

/* The cursor stands at another state. */
static void
cursor_moved (SbDocument *self)
{
  const SbHistoryState state = sb_document_get_cursor_state (self);

  self->n_applied = state.n_applied;
  if (state.evicted)
    sb_document_message (self, _ ("This step is no longer kept and is rendered again"));
  sb_document_want (self, g_get_monotonic_time (), FALSE);
  sb_document_refresh (self);
  sb_document_changed_elsewhere (self);
}

void
sb_document_undo (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  g_object_set (self, "animating", FALSE, NULL);
  if (sb_history_undo (self->history))
    cursor_moved (self);
  else
    sb_document_message (self, _ ("Nothing to undo"));
}

void
sb_document_redo (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  g_object_set (self, "animating", FALSE, NULL);
  if (sb_history_redo (self->history))
    cursor_moved (self);
  else
    sb_document_message (self, _ ("Nothing to redo"));
}

/* --- Animation ------------------------------------------------------------------------------- */

void
sb_document_set_animating (SbDocument *self, gboolean animating)
{
  animating = animating && self->image != NULL && !self->closed;
  if (self->flags[SB_PROP_ANIMATING] == animating)
    return;
  if (animating)
    {
      const SbEdit *edit = sb_document_get_edit (self, SB_EDIT_BLUR);
      if (edit != NULL)
        self->sweep.edit = *edit;
      else
        sb_edit_init (&self->sweep.edit, SB_EDIT_BLUR);
      double *radius = &self->sweep.edit.values[SB_BLUR_RADIUS];
      *radius = MIN (round (*radius), SWEEP_RADIUS);
      self->sweep.direction = 1;
      self->sweep.n_steps = 0;
      self->sweep.since = g_get_monotonic_time ();
    }
  sb_document_set_flag (self, SB_PROP_ANIMATING, animating);
  sb_document_set_number (self, SB_PROP_ANIMATION_FPS, 0);
  if (self->image != NULL)
    sb_document_want (self, animating ? G_MAXINT64 : g_get_monotonic_time (), FALSE);
  self->sweep.id = self->wanted_id;
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
  sb_document_changed_elsewhere (self);
}

void
sb_document_animate (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  if (!self->flags[SB_PROP_ANIMATING])
    return;
  guint64 drawn = 0;
  g_mutex_lock (&self->work->mutex);
  for (guint i = 0; i < self->work->views->len; i++)
    drawn = MAX (drawn, ((SbDocumentView *)g_ptr_array_index (self->work->views, i))->drawn_id);
  g_mutex_unlock (&self->work->mutex);
  if (drawn < self->sweep.id)
    return;

  const gint64 now = g_get_monotonic_time ();
  self->sweep.n_steps++;
  if (now - self->sweep.since >= FPS_PERIOD)
    {
      sb_document_set_number (self, SB_PROP_ANIMATION_FPS,
                              self->sweep.n_steps * 1e6 / (now - self->sweep.since));
      self->sweep.n_steps = 0;
      self->sweep.since = now;
    }

  /* Both ends are shown for two steps: the step that would leave the range turns round. */
  double *radius = &self->sweep.edit.values[SB_BLUR_RADIUS];
  *radius += self->sweep.direction;
  if (*radius > SWEEP_RADIUS || *radius < 0)
    {
      *radius = CLAMP (*radius, 0, SWEEP_RADIUS);
      self->sweep.direction = -self->sweep.direction;
    }
  sb_document_want (self, G_MAXINT64, FALSE);
  self->sweep.id = self->wanted_id;
  sb_document_changed_elsewhere (self);
}
