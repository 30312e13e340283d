/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <math.h>
#include <string.h>

#include "sb-stats.h"

static gboolean
view_equal (const SbView *a, const SbView *b)
{
  return a->what == b->what && a->width == b->width && a->height == b->height && a->zoom == b->zoom
         && a->x == b->x && a->y == b->y && a->checker_size == b->checker_size
         && memcmp (a->ground, b->ground, sizeof a->ground) == 0
         && memcmp (a->checker, b->checker, sizeof a->checker) == 0
         && a->look.layout == b->look.layout && a->look.display == b->look.display
         && a->look.gain == b->look.gain && a->look.logarithmic == b->look.logarithmic
         && a->look.dark == b->look.dark;
}

/* There is what the view wants to show. */
static gboolean
can_show (const SbDocumentView *view)
{
  const SbWork *work = view->work;

  return view->wanted && work->box != NULL && work->generation != 0
         && view->generation == work->generation
         && (view->view.what != SB_SHOW_SUBBANDS || sb_work_bands_ready (work));
}

/* The view's newest pixels show another result than there is now. */
static gboolean
is_outdated (const SbDocumentView *view)
{
  const SbWork *work = view->work;

  if (!can_show (view))
    return FALSE;
  return !view->has_shown || view->shown_generation != work->generation
         || view->shown.what != view->view.what
         || (view->view.what != SB_SHOW_ORIGINAL && view->shown_stamp != work->stamp);
}

gboolean
sb_work_view_is_stale (const SbDocumentView *view)
{
  return is_outdated (view) || (can_show (view) && !view_equal (&view->shown, &view->view));
}

static gsize
view_bytes (const SbView *view)
{
  return (gsize)view->width * view->height * 4;
}

static int
find_buffer (const SbDocumentView *view, SbBufferState state)
{
  for (int i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    if (view->buffers[i].state == state)
      return i;
  return -1;
}

static int
find_fitting (const SbDocumentView *view)
{
  for (int i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    if (view->buffers[i].state == SB_BUFFER_FREE
        && view->buffers[i].bytes >= view_bytes (&view->view))
      return i;
  return -1;
}

SbFrame
sb_work_begin_frame (SbDocumentView *view, guint buffer)
{
  const SbWork *work = view->work;
  const gboolean moved = view->has_shown && !view_equal (&view->shown, &view->view);
  const gboolean result = view->view.what != SB_SHOW_ORIGINAL;
  SbFrame frame = { buffer, view->view, view->shown_id, 0, 0, FALSE };

  if (result && (!view->has_shown || view->shown_stamp != work->stamp))
    {
      if (view->shown_id != work->stamp_id)
        frame.since = work->stamp_changed;
      if (work->stamp_exact && view->exact_id != work->stamp_id)
        frame.rest = work->stamp_rest;
    }
  if (moved)
    frame.since = MAX (frame.since, view->changed);
  view->has_shown = TRUE;
  view->shown = view->view;
  view->shown_generation = work->generation;
  if (result)
    {
      view->shown_stamp = work->stamp;
      frame.id = view->shown_id = work->stamp_id;
      frame.exact = work->stamp_exact;
      if (work->stamp_exact)
        view->exact_id = work->stamp_id;
    }
  return frame;
}

/* Fills one buffer. With the mutex, which is let go meanwhile. */
static void
fill (SbDocumentView *view, guint buffer)
{
  SbWork *work = view->work;
  SbEngineBox *box = sb_engine_box_ref (work->box);
  const SbFrame frame = sb_work_begin_frame (view, buffer);
  guint8 *pixels = view->buffers[buffer].pixels;
  g_autoptr (GError) error = NULL;

  view->buffers[buffer].state = SB_BUFFER_FILLING;
  g_mutex_unlock (&work->mutex);
  const gint64 start = g_get_monotonic_time ();
  const gboolean shown
      = sb_engine_show_host (box->engine, &frame.view, pixels, (gsize)frame.view.width * 4, &error);
  sb_stats_add (SB_STATS_SHOW, (g_get_monotonic_time () - start) / 1000.0);
  g_mutex_lock (&work->mutex);

  if (shown)
    {
      /* An older one that nobody has fetched is overtaken; its time was the user's, too. */
      const int old = find_buffer (view, SB_BUFFER_FILLED);
      view->buffers[buffer].frame = frame;
      if (old >= 0)
        {
          SbFrame *newest = &view->buffers[buffer].frame;
          const SbFrame *passed = &view->buffers[old].frame;
          if (newest->since == 0)
            newest->since = passed->since;
          if (newest->rest == 0)
            newest->rest = passed->rest;
          view->buffers[old].state = SB_BUFFER_FREE;
        }
    }
  else
    sb_work_show_failed (work, box, error);
  view->buffers[buffer].state = shown ? SB_BUFFER_FILLED : SB_BUFFER_FREE;
  g_cond_broadcast (&work->settled);
  g_cond_signal (&work->wake);
  sb_work_update (work);

  g_mutex_unlock (&work->mutex);
  sb_engine_box_unref (box); /* perhaps the last one */
  g_mutex_lock (&work->mutex);
}

gpointer
sb_work_show_thread (gpointer data)
{
  SbWork *work = data;

  g_mutex_lock (&work->mutex);
  while (!work->quit)
    {
      gboolean idle = TRUE;
      for (guint i = 0; i < work->views->len && !work->quit; i++)
        {
          SbDocumentView *view = g_ptr_array_index (work->views, i);
          const int buffer = sb_work_view_is_stale (view) ? find_fitting (view) : -1;
          if (buffer >= 0)
            {
              fill (view, (guint)buffer);
              idle = FALSE;
            }
        }
      if (idle)
        g_cond_wait (&work->show, &work->mutex);
    }
  g_mutex_unlock (&work->mutex);
  return NULL;
}

gboolean
sb_work_owes_show (SbWork *work)
{
  for (guint i = 0; i < work->views->len; i++)
    {
      const SbDocumentView *view = g_ptr_array_index (work->views, i);
      if (find_buffer (view, SB_BUFFER_FILLING) >= 0
          || (is_outdated (view) && find_fitting (view) >= 0))
        return TRUE;
    }
  return FALSE;
}

gboolean
sb_work_get_detail (SbWork *work, guint *level, SbRect *region)
{
  const int width = (int)sb_image_get_width (work->original);
  const int height = (int)sb_image_get_height (work->original);
  double left = width, top = height, right = 0, bottom = 0, zoom = 0;

  for (guint i = 0; i < work->views->len; i++)
    {
      const SbDocumentView *view = g_ptr_array_index (work->views, i);
      if (!view->wanted || view->generation != work->generation
          || view->view.what != SB_SHOW_RESULT)
        continue;
      left = MIN (left, view->view.x);
      top = MIN (top, view->view.y);
      right = MAX (right, view->view.x + view->view.width / view->view.zoom);
      bottom = MAX (bottom, view->view.y + view->view.height / view->view.zoom);
      zoom = MAX (zoom, view->view.zoom);
    }
  *region = (SbRect){ 0, 0, 0, 0 };
  if (zoom <= 0)
    return FALSE;

  *level = sb_engine_level_for_zoom (zoom);
  const double margin = 2 << *level; /* what the reduction reads beyond the rim */
  const int x0 = (int)CLAMP (floor (left - margin), 0, width);
  const int y0 = (int)CLAMP (floor (top - margin), 0, height);
  const int x1 = (int)CLAMP (ceil (right + margin), 0, width);
  const int y1 = (int)CLAMP (ceil (bottom + margin), 0, height);
  *region = (SbRect){ x0, y0, x1 - x0, y1 - y0 };
  return region->width > 0 && region->height > 0;
}

/* --- For canvases, on the main thread --------------------------------------------------------- */

SbDocumentView *
sb_document_view_new (SbDocument *document)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (document), NULL);

  SbDocumentView *view = g_new0 (SbDocumentView, 1);
  view->work = sb_work_ref (sb_document_get_work (document));
  g_mutex_lock (&view->work->mutex);
  g_ptr_array_add (view->work->views, view);
  g_mutex_unlock (&view->work->mutex);
  return view;
}

/* With the mutex. */
static void
wait_until_settled (SbDocumentView *view)
{
  while (find_buffer (view, SB_BUFFER_FILLING) >= 0)
    g_cond_wait (&view->work->settled, &view->work->mutex);
}

void
sb_document_view_free (SbDocumentView *view)
{
  SbWork *work = view->work;

  g_mutex_lock (&work->mutex);
  view->wanted = FALSE;
  wait_until_settled (view);
  g_ptr_array_remove (work->views, view);
  g_mutex_unlock (&work->mutex);
  g_free (view);
  sb_work_unref (work);
}

void
sb_document_view_set (SbDocumentView *view, const SbView *wanted)
{
  SbWork *work = view->work;

  g_return_if_fail (wanted == NULL || (wanted->width > 0 && wanted->height > 0));
  g_return_if_fail (wanted == NULL || wanted->zoom > 0);

  g_mutex_lock (&work->mutex);
  const guint generation = work->document != NULL ? sb_document_get_generation (work->document) : 0;
  if (wanted == NULL)
    view->wanted = FALSE;
  else if (!view->wanted || view->generation != generation || !view_equal (&view->view, wanted))
    {
      view->wanted = TRUE;
      view->generation = generation;
      view->view = *wanted;
      view->changed = g_get_monotonic_time ();
      /* A PREVIEW is right for the view it was made for. */
      if (!work->stamp_exact && work->exact_id != work->wanted.id)
        {
          work->preview_id = 0;
          g_cond_signal (&work->wake);
        }
      g_cond_signal (&work->show);
    }
  g_mutex_unlock (&work->mutex);
}

void
sb_document_view_give (SbDocumentView *view, guint buffer, guint8 *pixels, gsize bytes)
{
  g_return_if_fail (buffer < SB_DOCUMENT_VIEW_BUFFERS && pixels != NULL);
  g_return_if_fail (view->buffers[buffer].state == SB_BUFFER_AWAY);

  g_mutex_lock (&view->work->mutex);
  view->buffers[buffer].state = SB_BUFFER_FREE;
  view->buffers[buffer].pixels = pixels;
  view->buffers[buffer].bytes = bytes;
  g_cond_signal (&view->work->show);
  g_mutex_unlock (&view->work->mutex);
}

gsize
sb_document_view_lent (SbDocumentView *view, guint buffer)
{
  g_return_val_if_fail (buffer < SB_DOCUMENT_VIEW_BUFFERS, 0);

  g_mutex_lock (&view->work->mutex);
  const gsize bytes
      = view->buffers[buffer].state != SB_BUFFER_AWAY ? view->buffers[buffer].bytes : 0;
  g_mutex_unlock (&view->work->mutex);
  return bytes;
}

gboolean
sb_document_view_take (SbDocumentView *view, SbFrame *frame)
{
  g_mutex_lock (&view->work->mutex);
  const int buffer = find_buffer (view, SB_BUFFER_FILLED);
  if (buffer >= 0)
    {
      *frame = view->buffers[buffer].frame;
      view->buffers[buffer].state = SB_BUFFER_AWAY;
    }
  g_mutex_unlock (&view->work->mutex);
  return buffer >= 0;
}

gboolean
sb_document_view_has_frame (SbDocumentView *view)
{
  g_mutex_lock (&view->work->mutex);
  const gboolean filled = find_buffer (view, SB_BUFFER_FILLED) >= 0;
  g_mutex_unlock (&view->work->mutex);
  return filled;
}

gboolean
sb_document_view_reclaim (SbDocumentView *view, guint buffer)
{
  g_return_val_if_fail (buffer < SB_DOCUMENT_VIEW_BUFFERS, FALSE);

  g_mutex_lock (&view->work->mutex);
  const SbBufferState state = view->buffers[buffer].state;
  if (state == SB_BUFFER_FILLED)
    view->has_shown = FALSE; /* it was not seen */
  if (state != SB_BUFFER_FILLING)
    view->buffers[buffer].state = SB_BUFFER_AWAY;
  g_mutex_unlock (&view->work->mutex);
  return state != SB_BUFFER_FILLING;
}

void
sb_document_view_withdraw (SbDocumentView *view)
{
  g_mutex_lock (&view->work->mutex);
  const gboolean wanted = view->wanted;
  view->wanted = FALSE; /* no other is begun meanwhile */
  wait_until_settled (view);
  view->wanted = wanted;
  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    view->buffers[i].state = SB_BUFFER_AWAY;
  view->has_shown = FALSE;
  g_mutex_unlock (&view->work->mutex);
}

void
sb_document_view_drawn (SbDocumentView *view, const SbFrame *frame)
{
  const gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&view->work->mutex);
  view->drawn_id = frame->id;
  const gboolean measured = sb_work_bands_ready (view->work);
  g_mutex_unlock (&view->work->mutex);
  sb_stats_frame (frame->view.what == SB_SHOW_SUBBANDS ? SB_STATS_SUBBANDS : SB_STATS_PHOTO);
  if (measured && frame->exact && frame->id != 0)
    sb_stats_result (frame->id);
  if (frame->since > 0)
    sb_stats_add (SB_STATS_SHOWN, (now - frame->since) / 1000.0);
  if (frame->rest > 0)
    sb_stats_add (SB_STATS_EXACT, (now - frame->rest) / 1000.0);
}
