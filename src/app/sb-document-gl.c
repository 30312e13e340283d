/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <glib/gi18n-lib.h>

#include "sb-stats.h"

/* Pixels that go from the device to GL without a thread in between. */
struct _SbGlTarget
{
  SbEngineBox *box; /* stays open until it is detached, whatever the document does */
  gpointer target;
};

gboolean
sb_document_is_immediate (SbDocument *self)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), FALSE);

  SbWork *work = self->work;
  g_mutex_lock (&work->mutex);
  const gboolean immediate = work->box != NULL && sb_engine_is_immediate (work->box->engine);
  g_mutex_unlock (&work->mutex);
  return immediate;
}

SbGlTarget *
sb_document_gl_attach (SbDocument *self, guint pbo, gsize bytes, GError **error)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), NULL);

  SbWork *work = self->work;
  g_mutex_lock (&work->mutex);
  SbEngineBox *box = work->box != NULL ? sb_engine_box_ref (work->box) : NULL;
  g_mutex_unlock (&work->mutex);
  if (box == NULL)
    {
      g_set_error_literal (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("No picture is open"));
      return NULL;
    }
  gpointer attached = sb_engine_gl_attach (box->engine, pbo, bytes, error);
  if (attached == NULL)
    {
      sb_engine_box_unref (box);
      return NULL;
    }
  SbGlTarget *target = g_new (SbGlTarget, 1);
  *target = (SbGlTarget){ box, attached };
  return target;
}

void
sb_document_gl_detach (SbGlTarget *target)
{
  g_return_if_fail (target != NULL);

  sb_engine_gl_detach (target->box->engine, target->target);
  sb_engine_box_unref (target->box);
  g_free (target);
}

gboolean
sb_document_gl_is_current (SbDocument *self, SbGlTarget *target)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (target != NULL, FALSE);

  g_mutex_lock (&self->work->mutex);
  const gboolean current = self->work->box == target->box;
  g_mutex_unlock (&self->work->mutex);
  return current;
}

gboolean
sb_document_view_show_gl (SbDocumentView *view, SbGlTarget *target, SbFrame *frame, gboolean *shown,
                          GError **error)
{
  g_return_val_if_fail (view != NULL && target != NULL, FALSE);
  g_return_val_if_fail (frame != NULL && shown != NULL, FALSE);

  SbWork *work = view->work;
  *shown = FALSE;
  g_mutex_lock (&work->mutex);
  const gboolean stale = work->box == target->box && sb_work_view_is_stale (view);
  if (stale)
    *frame = sb_work_begin_frame (view, 0);
  g_mutex_unlock (&work->mutex);
  if (!stale)
    return TRUE;

  const gint64 start = g_get_monotonic_time ();
  GError *failed = NULL;
  *shown = sb_engine_show_gl (target->box->engine, target->target, &frame->view, &failed);
  sb_stats_add (SB_STATS_SHOW, (g_get_monotonic_time () - start) / 1000.0);
  if (!*shown)
    {
      g_mutex_lock (&work->mutex);
      sb_work_show_failed (work, target->box, failed);
      g_propagate_error (error, failed);
      view->has_shown = FALSE;
      g_mutex_unlock (&work->mutex);
    }
  return *shown;
}
