/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-document-private.h"

#include <glib/gi18n-lib.h>

G_DEFINE_FINAL_TYPE (SbDocument, sb_document, G_TYPE_OBJECT)

static GParamSpec *props[SB_N_PROPS];
static guint signals[SB_N_SIGNALS];

/* --- Properties ------------------------------------------------------------------------------ */

void
sb_document_set_flag (SbDocument *self, guint prop, gboolean value)
{
  if (self->flags[prop] == !!value)
    return;
  self->flags[prop] = !!value;
  g_object_notify_by_pspec (G_OBJECT (self), props[prop]);
}

/* NULL counts as "". */
void
sb_document_set_text (SbDocument *self, guint prop, const char *value)
{
  if (g_strcmp0 (self->texts[prop], value != NULL ? value : "") == 0)
    return;
  g_free (self->texts[prop]);
  self->texts[prop] = g_strdup (value != NULL ? value : "");
  g_object_notify_by_pspec (G_OBJECT (self), props[prop]);
}

void
sb_document_set_number (SbDocument *self, guint prop, double value)
{
  if (self->numbers[prop] == value)
    return;
  self->numbers[prop] = value;
  g_object_notify_by_pspec (G_OBJECT (self), props[prop]);
}

/* Something is on its way to the screen. The animation always has the next step on its way, and is
 * no reason to wait. */
gboolean
sb_document_is_busy (SbDocument *self)
{
  if (self->flags[SB_PROP_LOADING] || self->flags[SB_PROP_EXPORTING] || self->n_holds > 0)
    return TRUE;
  if (self->flags[SB_PROP_ANIMATING] || self->closed)
    return FALSE;
  g_mutex_lock (&self->work->mutex);
  const gboolean pending = sb_work_is_pending (self->work);
  g_mutex_unlock (&self->work->mutex);
  return pending;
}

void
sb_document_hold (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  self->n_holds++;
  sb_document_set_flag (self, SB_PROP_BUSY, TRUE);
}

void
sb_document_release (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self) && self->n_holds > 0);

  self->n_holds--;
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
}

SbHistoryState
sb_document_get_cursor_state (SbDocument *self)
{
  return sb_history_get_state (self->history, sb_history_get_cursor (self->history));
}

/* What follows from the history. */
void
sb_document_refresh (SbDocument *self)
{
  const guint cursor = sb_history_get_cursor (self->history);
  const gboolean can_redo = cursor + 1 < sb_history_get_n_states (self->history);
  const SbHistoryState state = sb_document_get_cursor_state (self);
  g_autofree char *edits = sb_edit_list_print (state.edits);

  g_object_freeze_notify (G_OBJECT (self));
  sb_document_set_flag (self, SB_PROP_HAS_PICTURE, self->image != NULL);
  sb_document_set_flag (self, SB_PROP_MODIFIED, sb_history_is_modified (self->history));
  sb_document_set_flag (self, SB_PROP_CAN_UNDO, cursor > 0);
  sb_document_set_flag (self, SB_PROP_CAN_REDO, can_redo);
  sb_document_set_flag (self, SB_PROP_CAN_APPLY, state.edits->n_edits > self->n_applied);
  sb_document_set_text (self, SB_PROP_EDITS, edits);
  sb_document_set_text (self, SB_PROP_UNDO_LABEL, cursor > 0 ? state.label : "");
  sb_document_set_text (self, SB_PROP_REDO_LABEL,
                        can_redo ? sb_history_get_state (self->history, cursor + 1).label : "");
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
  g_object_thaw_notify (G_OBJECT (self));
}

static void
refresh_title (SbDocument *self)
{
  g_autofree char *name = self->file != NULL ? g_file_get_basename (self->file) : NULL;
  g_autofree char *title = name != NULL ? g_filename_display_name (name) : NULL;
  g_autofree char *subtitle = NULL;

  if (self->image != NULL)
    subtitle = g_strdup_printf (
        /* Translators: of a picture: width x height, colour profile, bits a channel */
        _ ("%u × %u, %s, %u bit"), sb_image_get_width (self->image),
        sb_image_get_height (self->image), sb_image_get_profile_name (self->image),
        sb_image_get_depth (self->image));
  sb_document_set_text (self, SB_PROP_TITLE, title);
  sb_document_set_text (self, SB_PROP_SUBTITLE, subtitle);
}

void
sb_document_changed_elsewhere (SbDocument *self)
{
  g_signal_emit (self, signals[SB_SIGNAL_EDITS_CHANGED], 0);
}

void
sb_document_message (SbDocument *self, const char *sentence)
{
  g_signal_emit (self, signals[SB_SIGNAL_MESSAGE], 0, sentence);
}

void
sb_document_measured (SbDocument *self, const SbSubbandMeasures *measures)
{
  if (measures == NULL && !self->has_measures)
    return;
  self->has_measures = measures != NULL;
  if (measures != NULL)
    self->measures = *measures;
  g_signal_emit (self, signals[SB_SIGNAL_MEASURED], 0);
}

/* --- From the threads ------------------------------------------------------------------------ */

/* The engine, the result or a canvas' pixels have changed. */
void
sb_document_updated (SbDocument *self)
{
  SbWork *work = self->work;

  g_mutex_lock (&work->mutex);
  const char *name = work->box != NULL ? sb_engine_get_name (work->box->engine) : NULL;
  const char *reason = work->box != NULL ? sb_engine_get_reason (work->box->engine) : NULL;
  if (work->left != NULL)
    reason = work->left;
  g_autofree char *device_name = g_strdup (name);
  g_autofree char *device_reason = g_strdup (reason);
  const double render_ms = work->render_ms;
  g_mutex_unlock (&work->mutex);

  sb_document_set_text (self, SB_PROP_DEVICE_REASON, device_reason);
  sb_document_set_text (self, SB_PROP_DEVICE_NAME, device_name);
  sb_document_set_number (self, SB_PROP_RENDER_MS, render_ms);
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
  g_signal_emit (self, signals[SB_SIGNAL_SHOWN], 0);
}

void
sb_document_kept (SbDocument *self, guint64 id, SbImage *pixels)
{
  if (id == self->wanted_id && !self->flags[SB_PROP_ANIMATING])
    sb_history_keep (self->history, sb_history_get_cursor (self->history), pixels);
}

void
sb_document_warn (SbDocument *self, const char *sentence)
{
  g_signal_emit (self, signals[SB_SIGNAL_WARNING], 0, sentence);
}

void
sb_document_failed (SbDocument *self, const GError *error)
{
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    sb_document_report (self, error);
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
}

void
sb_document_loaded (SbDocument *self, GFile *file, SbImage *image, guint generation)
{
  g_object_freeze_notify (G_OBJECT (self));
  sb_document_set_animating (self, FALSE);
  g_set_object (&self->file, file);
  g_clear_pointer (&self->image, sb_image_unref);
  self->image = sb_image_ref (image);
  self->generation = generation;
  sb_history_free (self->history);
  self->history = sb_history_new (self->history_budget);
  self->n_applied = 0;
  self->dragging = FALSE;
  sb_document_set_flag (self, SB_PROP_COMPARING, FALSE);
  sb_document_want (self, g_get_monotonic_time (), TRUE);
  refresh_title (self);
  sb_document_refresh (self);
  g_object_thaw_notify (G_OBJECT (self));

  g_signal_emit (self, signals[SB_SIGNAL_PICTURE_CHANGED], 0);
  sb_document_changed_elsewhere (self);
  for (const char *const *warning = sb_image_get_warnings (image); *warning != NULL; warning++)
    sb_document_warn (self, *warning);
}

void
sb_document_set_etag (SbDocument *self, const char *etag)
{
  char *copy = g_strdup (etag);

  g_free (self->etag);
  self->etag = copy;
}

const char *
sb_document_get_etag (SbDocument *self)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), NULL);
  return self->etag;
}

void
sb_document_exported (SbDocument *self, guint generation, SbEditList *edits)
{
  if (generation != self->generation)
    return;
  sb_history_mark_saved_edits (self->history, edits);
  sb_document_refresh (self);
}

void
sb_document_set_io (SbDocument *self, gboolean loading, gboolean exporting, double progress)
{
  g_object_freeze_notify (G_OBJECT (self));
  sb_document_set_flag (self, SB_PROP_LOADING, loading);
  sb_document_set_flag (self, SB_PROP_EXPORTING, exporting);
  sb_document_set_number (self, SB_PROP_PROGRESS, progress);
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
  g_object_thaw_notify (G_OBJECT (self));
}

SbWork *
sb_document_get_work (SbDocument *self)
{
  return self->work;
}

guint
sb_document_get_generation (SbDocument *self)
{
  return self->generation;
}

SbEditList *
sb_document_get_state (SbDocument *self, guint *n_applied)
{
  *n_applied = self->n_applied;
  return sb_document_get_cursor_state (self).edits;
}

guint64
sb_document_get_memory_limit (SbDocument *self)
{
  return self->memory_limit;
}

SbJobs *
sb_document_get_jobs (SbDocument *self)
{
  return &self->jobs;
}

/* --- The rest of the interface --------------------------------------------------------------- */

SbDocument *
sb_document_new (SbDevice device)
{
  SbDocument *self = g_object_new (SB_TYPE_DOCUMENT, NULL);
  self->work->device = device; /* nobody has asked for the engine yet */
  return self;
}

GFile *
sb_document_get_file (SbDocument *self)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), NULL);
  return self->file;
}

SbImage *
sb_document_get_image (SbDocument *self)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), NULL);
  return self->image;
}

gboolean
sb_document_pick (SbDocument *self, int x, int y, guint16 rgba[4])
{
  g_return_val_if_fail (SB_IS_DOCUMENT (self), FALSE);

  SbEngineBox *box = NULL;
  g_mutex_lock (&self->work->mutex);
  if (self->work->box != NULL && self->generation != 0
      && self->work->generation == self->generation)
    box = sb_engine_box_ref (self->work->box);
  g_mutex_unlock (&self->work->mutex);
  if (box == NULL)
    return FALSE;
  const gboolean found = sb_engine_pick (
      box->engine, self->flags[SB_PROP_COMPARING] ? SB_SHOW_ORIGINAL : SB_SHOW_RESULT, x, y, rgba);
  sb_engine_box_unref (box);
  return found;
}

void
sb_document_close (SbDocument *self)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  if (self->closed)
    return;
  self->closed = TRUE;
  sb_document_set_animating (self, FALSE);
  sb_document_cancel_jobs (self);
  sb_work_close (self->work);
  sb_document_set_flag (self, SB_PROP_BUSY, sb_document_is_busy (self));
}

void
sb_document_set_history_budget (SbDocument *self, guint64 bytes)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));

  self->history_budget = bytes;
  sb_history_set_budget (self->history, bytes);
}

void
sb_document_set_memory_limit (SbDocument *self, guint64 bytes)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));
  self->memory_limit = bytes;
}

void
sb_document_report (SbDocument *self, const GError *error)
{
  g_return_if_fail (SB_IS_DOCUMENT (self));
  sb_document_set_text (self, SB_PROP_ERROR, error != NULL ? error->message : "");
}

/* --- GObject --------------------------------------------------------------------------------- */

static void
sb_document_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SbDocument *self = SB_DOCUMENT (object);

  if (id == SB_PROP_0 || id >= SB_N_PROPS)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, self->flags[id]);
  else if (G_VALUE_HOLDS_DOUBLE (value))
    g_value_set_double (value, self->numbers[id]);
  else
    g_value_set_string (value, self->texts[id]);
}

static void
sb_document_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SbDocument *self = SB_DOCUMENT (object);

  switch (id)
    {
    case SB_PROP_COMPARING:
      sb_document_set_flag (self, SB_PROP_COMPARING,
                            g_value_get_boolean (value) && self->image != NULL);
      break;
    case SB_PROP_ANIMATING:
      sb_document_set_animating (self, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sb_document_dispose (GObject *object)
{
  SbDocument *self = SB_DOCUMENT (object);

  sb_document_close (self);
  self->work->document = NULL;
  G_OBJECT_CLASS (sb_document_parent_class)->dispose (object);
}

static void
sb_document_finalize (GObject *object)
{
  SbDocument *self = SB_DOCUMENT (object);

  sb_work_unref (self->work);
  sb_history_free (self->history);
  g_clear_object (&self->file);
  g_clear_pointer (&self->etag, g_free);
  g_clear_pointer (&self->image, sb_image_unref);
  for (guint i = 0; i < SB_N_PROPS; i++)
    g_free (self->texts[i]);
  G_OBJECT_CLASS (sb_document_parent_class)->finalize (object);
}

static void
sb_document_class_init (SbDocumentClass *klass)
{
  static const struct
  {
    guint id;
    const char *name;
    GType type;
  } table[] = {
    { SB_PROP_HAS_PICTURE, "has-picture", G_TYPE_BOOLEAN },
    { SB_PROP_TITLE, "title", G_TYPE_STRING },
    { SB_PROP_SUBTITLE, "subtitle", G_TYPE_STRING },
    { SB_PROP_MODIFIED, "modified", G_TYPE_BOOLEAN },
    { SB_PROP_CAN_UNDO, "can-undo", G_TYPE_BOOLEAN },
    { SB_PROP_CAN_REDO, "can-redo", G_TYPE_BOOLEAN },
    { SB_PROP_UNDO_LABEL, "undo-label", G_TYPE_STRING },
    { SB_PROP_REDO_LABEL, "redo-label", G_TYPE_STRING },
    { SB_PROP_CAN_APPLY, "can-apply", G_TYPE_BOOLEAN },
    { SB_PROP_EDITS, "edits", G_TYPE_STRING },
    { SB_PROP_BUSY, "busy", G_TYPE_BOOLEAN },
    { SB_PROP_ERROR, "error", G_TYPE_STRING },
    { SB_PROP_LOADING, "loading", G_TYPE_BOOLEAN },
    { SB_PROP_EXPORTING, "exporting", G_TYPE_BOOLEAN },
    { SB_PROP_PROGRESS, "progress", G_TYPE_DOUBLE },
    { SB_PROP_COMPARING, "comparing", G_TYPE_BOOLEAN },
    { SB_PROP_ANIMATING, "animating", G_TYPE_BOOLEAN },
    { SB_PROP_ANIMATION_FPS, "animation-fps", G_TYPE_DOUBLE },
    { SB_PROP_DEVICE_NAME, "device-name", G_TYPE_STRING },
    { SB_PROP_DEVICE_REASON, "device-reason", G_TYPE_STRING },
    { SB_PROP_RENDER_MS, "render-ms", G_TYPE_DOUBLE },
  };
  static const struct
  {
    guint id;
    const char *name;
    GType argument;
  } signal_table[] = {
    { SB_SIGNAL_PICTURE_CHANGED, "picture-changed", G_TYPE_NONE },
    { SB_SIGNAL_EDITS_CHANGED, "edits-changed", G_TYPE_NONE },
    { SB_SIGNAL_WARNING, "warning", G_TYPE_STRING },
    { SB_SIGNAL_MESSAGE, "message", G_TYPE_STRING },
    { SB_SIGNAL_SHOWN, "shown", G_TYPE_NONE },
    { SB_SIGNAL_MEASURED, "measured", G_TYPE_NONE },
  };
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = sb_document_get_property;
  object_class->set_property = sb_document_set_property;
  object_class->dispose = sb_document_dispose;
  object_class->finalize = sb_document_finalize;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      const gboolean writable
          = table[i].id == SB_PROP_COMPARING || table[i].id == SB_PROP_ANIMATING;
      const GParamFlags flags = (writable ? G_PARAM_READWRITE : G_PARAM_READABLE)
                                | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
      const char *name = table[i].name;
      if (table[i].type == G_TYPE_BOOLEAN)
        props[table[i].id] = g_param_spec_boolean (name, NULL, NULL, FALSE, flags);
      else if (table[i].type == G_TYPE_DOUBLE)
        props[table[i].id] = g_param_spec_double (name, NULL, NULL, 0, G_MAXDOUBLE, 0, flags);
      else
        props[table[i].id] = g_param_spec_string (name, NULL, NULL, "", flags);
    }
  g_object_class_install_properties (object_class, SB_N_PROPS, props);

  for (guint i = 0; i < G_N_ELEMENTS (signal_table); i++)
    signals[signal_table[i].id] = g_signal_new (
        signal_table[i].name, G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
        G_TYPE_NONE, signal_table[i].argument == G_TYPE_NONE ? 0 : 1, signal_table[i].argument);
}

static void
sb_document_init (SbDocument *self)
{
  for (guint i = 0; i < SB_N_PROPS; i++)
    self->texts[i] = g_strdup ("");
  self->work = sb_work_new (self, (SbDevice){ SB_DEVICE_AUTO, 0, 0 });
  self->history = sb_history_new (0);
}
