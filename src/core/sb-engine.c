/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-engine-private.h"
#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* --- Devices --------------------------------------------------------------------------------- */

static SbBackend *
open_cuda (const SbDevice *device, const SbBackendClass **table, GError **error)
{
  *table = sb_module_get_cuda (error);
  return *table != NULL ? (*table)->open (device, error) : NULL;
}

SbEngine *
sb_engine_new (SbDevice device, GError **error)
{
  g_autoptr (GError) reason = NULL;
  const SbBackendClass *table = NULL;
  SbBackend *backend = NULL;
  const char *wish = g_getenv ("SOFTBOX_DEVICE");

  if (device.kind == SB_DEVICE_AUTO && wish != NULL && *wish != '\0')
    {
      const guint threads = device.threads;
      if (!sb_device_parse (wish, &device, error))
        {
          /* Nobody has typed it. */
          g_prefix_error (error, "SOFTBOX_DEVICE: ");
          return NULL;
        }
      device.threads = threads;
    }

  if (device.kind != SB_DEVICE_CPU)
    backend = open_cuda (&device, &table, &reason);
  if (backend == NULL)
    {
      if (device.kind == SB_DEVICE_CUDA)
        {
          g_propagate_prefixed_error (error, g_steal_pointer (&reason),
                                      _ ("CUDA cannot be used: "));
          return NULL;
        }
      table = &sb_cpu_backend_class;
      backend = table->open (&device, error);
      if (backend == NULL)
        return NULL;
    }

  SbEngine *engine = g_new0 (SbEngine, 1);
  engine->class = table;
  engine->backend = backend;
  g_mutex_init (&engine->lock);
  engine->reason = reason != NULL ? g_strdup (reason->message) : NULL;
  return engine;
}

void
sb_engine_free (SbEngine *engine)
{
  if (engine == NULL)
    return;
  engine->class->close (engine->backend);
  sb_image_unref (engine->original);
  if (engine->picture.tone != NULL)
    sb_tone_unref (engine->picture.tone);
  sb_color_table_unref ((SbColorTable *)engine->picture.display);
  sb_image_unref (engine->base_image);
  g_clear_pointer (&engine->base, sb_edit_list_unref);
  g_clear_pointer (&engine->exact, sb_edit_list_unref);
  sb_haar_unref (engine->haar);
  g_mutex_clear (&engine->lock);
  g_free (engine->reason);
  g_free (engine);
}

const char *
sb_engine_get_name (SbEngine *engine)
{
  g_return_val_if_fail (engine != NULL, NULL);
  return engine->class->get_name (engine->backend);
}

const char *
sb_engine_get_reason (SbEngine *engine)
{
  g_return_val_if_fail (engine != NULL, NULL);
  return engine->reason;
}

gboolean
sb_engine_is_immediate (SbEngine *engine)
{
  g_return_val_if_fail (engine != NULL, FALSE);
  return engine->class->is_immediate (engine->backend);
}

guint
sb_engine_level_for_zoom (double zoom)
{
  guint level = 0;

  /* Not a logarithm: powers of two must come out exact. */
  while (level < SB_ENGINE_MAX_LEVEL && ldexp (1.0, -(int)level - 1) >= zoom)
    level++;
  return level;
}

/* --- Pictures and edits ---------------------------------------------------------------------- */

static SbPicture
describe (SbImage *image, const SbTone *tone, gboolean opaque)
{
  return (SbPicture){
    .width = sb_image_get_width (image),
    .height = sb_image_get_height (image),
    .depth = sb_image_get_depth (image),
    .opaque = opaque,
    .pixels = sb_image_get_pixels (image),
    .stride = sb_image_get_stride (image),
    .tone = tone,
    .image = image,
  };
}

void
sb_engine_changed (SbEngine *engine)
{
  __atomic_add_fetch (&engine->serial, 1, __ATOMIC_RELEASE);
}

static void
forget_base (SbEngine *engine)
{
  if (engine->base == NULL)
    return;
  engine->class->set_base (engine->backend, NULL, NULL);
  g_clear_pointer (&engine->base, sb_edit_list_unref);
  g_clear_pointer (&engine->base_image, sb_image_unref);
}

gboolean
sb_engine_load (SbEngine *engine, SbImage *original, GError **error)
{
  g_return_val_if_fail (engine != NULL, FALSE);
  g_return_val_if_fail (original != NULL, FALSE);

  const SbTone *tone = sb_tone_new (sb_image_get_profile (original));
  SbPicture picture = describe (original, tone, sb_image_is_opaque (original));
  picture.display = sb_color_table_new (sb_image_get_profile (original));
  if (!engine->class->load (engine->backend, &picture, error))
    {
      sb_tone_unref (tone);
      sb_color_table_unref ((SbColorTable *)picture.display);
      return FALSE;
    }

  if (engine->picture.tone != NULL)
    sb_tone_unref (engine->picture.tone);
  sb_color_table_unref ((SbColorTable *)engine->picture.display);
  engine->picture = picture;
  SbImage *old = engine->original;
  engine->original = sb_image_ref (original);
  sb_image_unref (old);
  g_clear_pointer (&engine->base, sb_edit_list_unref);
  g_clear_pointer (&engine->base_image, sb_image_unref);
  g_clear_pointer (&engine->exact, sb_edit_list_unref);
  engine->exact = sb_edit_list_new (NULL, 0);
  engine->preview = FALSE;
  sb_engine_forget_subbands (engine);
  g_atomic_int_set (&engine->loaded, TRUE);
  sb_engine_changed (engine);
  return TRUE;
}

gboolean
sb_engine_check_loaded (SbEngine *engine, GError **error)
{
  if (g_atomic_int_get (&engine->loaded))
    return TRUE;
  g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("No picture is open"));
  return FALSE;
}

SbEditList *
sb_engine_simplify (SbEngine *engine, const SbEditList *edits, guint *n_fixed, GError **error)
{
  const guint n = edits != NULL ? edits->n_edits : 0;
  g_autofree SbEdit *kept = g_new (SbEdit, MAX (n, 1));
  guint n_kept = 0, fixed = 0;

  for (guint i = 0; i < n; i++)
    {
      if (!sb_edit_check (&edits->edits[i], engine->picture.width, engine->picture.height, error))
        return NULL;
      if (sb_edit_is_identity (&edits->edits[i]))
        continue;
      kept[n_kept++] = edits->edits[i];
      if (i < *n_fixed)
        fixed = n_kept;
    }
  *n_fixed = fixed;
  return sb_edit_list_new (kept, n_kept);
}

guint
sb_engine_base_edits (SbEngine *engine, const SbEditList *edits)
{
  if (engine->base == NULL || engine->base->n_edits == 0
      || sb_edit_list_common (engine->base, edits) < engine->base->n_edits)
    return 0;
  return engine->base->n_edits;
}

gboolean
sb_engine_set_base (SbEngine *engine, SbImage *result16, const SbEditList *edits, guint n_edits,
                    GError **error)
{
  g_return_val_if_fail (engine != NULL, FALSE);
  g_return_val_if_fail (result16 != NULL && sb_image_get_depth (result16) == 16, FALSE);
  g_return_val_if_fail (edits != NULL && n_edits <= edits->n_edits, FALSE);

  if (!sb_engine_check_loaded (engine, error))
    return FALSE;
  if (sb_image_get_width (result16) != engine->picture.width
      || sb_image_get_height (result16) != engine->picture.height)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
                   _ ("The kept result does not have the picture's size"));
      return FALSE;
    }

  guint n_fixed = n_edits;
  g_autoptr (SbEditList) simple = sb_engine_simplify (engine, edits, &n_fixed, error);
  if (simple == NULL)
    return FALSE;
  forget_base (engine);
  if (n_fixed == 0)
    return TRUE; /* the original */
  /* Edits keep an opaque picture opaque. */
  const SbPicture picture = describe (result16, engine->picture.tone, engine->picture.opaque);
  if (!engine->class->set_base (engine->backend, &picture, error))
    return FALSE;
  engine->base = sb_edit_list_new (simple->edits, n_fixed);
  engine->base_image = sb_image_ref (result16);
  return TRUE;
}

/* Sees to it that the base is what n_fixed edits make, unless what is there serves as well. */
static gboolean
prepare_base (SbEngine *engine, const SbEditList *edits, guint n_fixed, GCancellable *cancellable,
              GError **error)
{
  const guint done = sb_engine_base_edits (engine, edits);

  if (done == 0 && n_fixed == 0)
    forget_base (engine); /* of no more use, and large */
  if (done >= n_fixed)
    return TRUE;
  if (!engine->class->make_base (engine->backend, done > 0 ? SB_START_BASE : SB_START_ORIGINAL,
                                 edits->edits + done, n_fixed - done, cancellable, error))
    return FALSE;
  g_clear_pointer (&engine->base, sb_edit_list_unref);
  g_clear_pointer (&engine->base_image, sb_image_unref);
  engine->base = sb_edit_list_new (edits->edits, n_fixed);
  return TRUE;
}

gboolean
sb_engine_render (SbEngine *engine, const SbEditList *edits, guint n_fixed, SbQuality quality,
                  GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (engine != NULL, FALSE);
  g_return_val_if_fail (!quality.exact || (quality.level == 0 && quality.region == NULL), FALSE);

  if (!sb_engine_check_loaded (engine, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  g_autoptr (SbEditList) simple = sb_engine_simplify (engine, edits, &n_fixed, error);
  if (simple == NULL)
    return FALSE;
  /* Where an EXACT render fits in a frame, nothing less is ever made. */
  if (engine->class->is_immediate (engine->backend))
    quality = SB_QUALITY_EXACT;

  if (quality.exact && sb_edit_list_equal (simple, engine->exact))
    {
      if (engine->preview)
        {
          engine->class->show_exact (engine->backend);
          engine->preview = FALSE;
          sb_engine_changed (engine);
        }
      /* An edit was applied, perhaps: the next drag starts behind it. */
      return prepare_base (engine, simple, n_fixed, cancellable, error);
    }

  SbRect region;
  if (quality.region != NULL)
    {
      const int x0 = CLAMP (quality.region->x, 0, (int)engine->picture.width - 1);
      const int y0 = CLAMP (quality.region->y, 0, (int)engine->picture.height - 1);
      const gint64 x1 = (gint64)quality.region->x + quality.region->width;
      const gint64 y1 = (gint64)quality.region->y + quality.region->height;
      region = (SbRect){ x0, y0, (int)CLAMP (x1, x0 + 1, (gint64)engine->picture.width) - x0,
                         (int)CLAMP (y1, y0 + 1, (gint64)engine->picture.height) - y0 };
      quality.region = &region;
    }
  const guint side = MAX (engine->picture.width, engine->picture.height);
  quality.level = MIN (quality.level, SB_ENGINE_MAX_LEVEL);
  while (quality.level > 0 && (side - 1) >> quality.level == 0)
    quality.level--;

  if (!prepare_base (engine, simple, n_fixed, cancellable, error))
    return FALSE;
  const guint done = sb_engine_base_edits (engine, simple);
  if (!engine->class->render (engine->backend, done > 0 ? SB_START_BASE : SB_START_ORIGINAL,
                              simple->edits + done, simple->n_edits - done, quality, cancellable,
                              error))
    return FALSE;
  if (quality.exact)
    {
      sb_edit_list_unref (engine->exact);
      engine->exact = sb_edit_list_ref (simple);
    }
  engine->preview = !quality.exact;
  if (quality.exact)
    sb_engine_renew_subbands (engine);
  sb_engine_changed (engine);
  /* A kept state put back whole has done its work: the next edit starts before its last one. */
  if (quality.exact && done > n_fixed)
    forget_base (engine);
  return TRUE;
}

SbImage *
sb_engine_read_exact (SbEngine *engine, GError **error)
{
  if (engine->class->ref_result != NULL)
    {
      SbImage *image = engine->class->ref_result (engine->backend);
      if (image != NULL)
        return image;
    }
  g_autoptr (SbImage) image
      = sb_image_new (engine->picture.width, engine->picture.height, engine->picture.depth, error);
  if (image == NULL
      || !engine->class->read_result (engine->backend, sb_image_writable (image), error))
    return NULL;
  sb_image_set_profile (image, sb_image_get_profile (engine->original));
  return g_steal_pointer (&image);
}

SbImage *
sb_engine_read (SbEngine *engine, const SbEditList *edits, guint n_fixed, guint depth,
                GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  g_return_val_if_fail (depth == 8 || depth == 16, NULL);

  if (!sb_engine_check_loaded (engine, error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  g_autoptr (SbEditList) simple = sb_engine_simplify (engine, edits, &n_fixed, error);
  if (simple == NULL)
    return NULL;

  if (simple->n_edits == 0)
    return sb_image_convert (engine->original, depth, error);
  if (depth <= engine->picture.depth && sb_edit_list_equal (simple, engine->exact))
    {
      g_autoptr (SbImage) result = sb_engine_read_exact (engine, error);
      return result != NULL ? sb_image_convert (result, depth, error) : NULL;
    }

  const guint done = sb_engine_base_edits (engine, simple);
  g_autoptr (SbImage) image
      = sb_image_new (engine->picture.width, engine->picture.height, depth, error);
  if (image == NULL
      || !engine->class->read (engine->backend, done > 0 ? SB_START_BASE : SB_START_ORIGINAL,
                               simple->edits + done, simple->n_edits - done, depth,
                               sb_image_writable (image), cancellable, error))
    return NULL;
  sb_image_set_profile (image, sb_image_get_profile (engine->original));
  return g_steal_pointer (&image);
}

void
sb_engine_prepare (SbEngine *engine, GCancellable *cancellable)
{
  g_return_if_fail (engine != NULL);

  if (g_atomic_int_get (&engine->loaded) && engine->class->prepare != NULL)
    engine->class->prepare (engine->backend, cancellable);
}

void
sb_engine_trim (SbEngine *engine)
{
  g_return_if_fail (engine != NULL);
  engine->class->trim (engine->backend);
}

/* --- Showing --------------------------------------------------------------------------------- */

guint64
sb_engine_get_serial (SbEngine *engine)
{
  g_return_val_if_fail (engine != NULL, 0);
  return __atomic_load_n (&engine->serial, __ATOMIC_ACQUIRE);
}

gboolean
sb_engine_pick (SbEngine *engine, SbShowWhat what, int x, int y, guint16 rgba[4])
{
  g_return_val_if_fail (engine != NULL && rgba != NULL, FALSE);

  if (!g_atomic_int_get (&engine->loaded) || x < 0 || y < 0 || what == SB_SHOW_SUBBANDS)
    return FALSE;
  return engine->class->pick (engine->backend, what, x, y, rgba);
}

static gboolean
check_view (SbEngine *engine, const SbView *view, GError **error)
{
  if (!sb_engine_check_loaded (engine, error))
    return FALSE;
  if (view->width >= 1 && view->height >= 1 && view->zoom > 0 && isfinite (view->zoom)
      && isfinite (view->x) && isfinite (view->y) && view->checker_size >= 1)
    return TRUE;
  g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("This view cannot be shown"));
  return FALSE;
}

gboolean
sb_engine_show_host (SbEngine *engine, const SbView *view, guint8 *rgba, gsize stride,
                     GError **error)
{
  g_return_val_if_fail (engine != NULL && view != NULL && rgba != NULL, FALSE);
  g_return_val_if_fail (stride >= 4 * (gsize)MAX (view->width, 0), FALSE);

  if (view->what == SB_SHOW_SUBBANDS)
    return check_view (engine, view, error)
           && sb_engine_show_subbands (engine, view, rgba, stride, error);
  return check_view (engine, view, error)
         && engine->class->show_host (engine->backend, view, rgba, stride, error);
}

gpointer
sb_engine_gl_attach (SbEngine *engine, guint pbo, gsize bytes, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);

  if (engine->class->gl_attach == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("This device cannot draw into a buffer of the graphics system"));
      return NULL;
    }
  return engine->class->gl_attach (engine->backend, pbo, bytes, error);
}

gboolean
sb_engine_show_gl (SbEngine *engine, gpointer target, const SbView *view, GError **error)
{
  g_return_val_if_fail (engine != NULL && target != NULL && view != NULL, FALSE);
  g_return_val_if_fail (engine->class->show_gl != NULL, FALSE);

  return check_view (engine, view, error)
         && engine->class->show_gl (engine->backend, target, view, error);
}

void
sb_engine_gl_detach (SbEngine *engine, gpointer target)
{
  g_return_if_fail (engine != NULL);

  if (target != NULL && engine->class->gl_detach != NULL)
    engine->class->gl_detach (engine->backend, target);
}
