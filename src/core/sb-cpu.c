/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-backend.h"
#include "sb-cpu-blur.h"
#include "sb-cpu-preview.h"
#include "sb-cpu-pyramid.h"
#include "sb-cpu-show.h"
#include "sb-error.h"
#include "sb-isa.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Something to show: a whole picture with its pyramid, or a part of one reduced by 2^level. Never
 * changed while it can be seen; whoever draws holds a reference. */
typedef struct
{
  gatomicrefcount references;
  guint width, height; /* of the full-size picture */
  guint depth;
  gboolean opaque;
  /* EXACT: */
  SbImage *image;
  SbPyramid pyramid;
  /* PREVIEW: */
  guint level;
  SbRect rect;
  guint8 *pixels;
  gsize bytes; /* of `pixels`, at least what the rect needs */
} Frame;

typedef struct
{
  guint8 *pixels;
  gsize bytes;
} Buffer;

struct _SbBackend
{
  char *name;
  SbParallel *parallel;      /* of renders */
  SbParallel *show_parallel; /* of shows, which must not wait for a loop of a render */
  SbBlurScratch *scratch;

  SbPicture original;
  SbPicture base; /* pixels NULL: none; 16 bits */
  Buffer own_base;
  SbPyramid work; /* of `work_start`, decoded where work_linear */
  gboolean work_valid;
  SbStart work_start;
  gboolean work_linear;
  Buffer between[2]; /* 16 bits, between the edits of a list */
  Frame *spare;      /* the EXACT frame before the last, its memory to be used again */
  Frame *spare_preview;

  GMutex lock; /* guards what follows, which other threads show from */
  Frame *original_frame;
  Frame *exact; /* the last EXACT result */
  Frame *shown; /* `exact` or a PREVIEW */
};

/* --- Memory ---------------------------------------------------------------------------------- */

static gboolean
fail_memory (GError **error)
{
  g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
               _ ("There is not enough memory to render the picture"));
  return FALSE;
}

static void
buffer_clear (Buffer *buffer)
{
  sb_memory_free (buffer->pixels, buffer->bytes);
  *buffer = (Buffer){ NULL, 0 };
}

static gboolean
buffer_reserve (Buffer *buffer, gsize bytes, GError **error)
{
  if (buffer->bytes >= bytes)
    return TRUE;
  buffer_clear (buffer);
  buffer->pixels = sb_memory_alloc (bytes);
  if (buffer->pixels == NULL)
    return fail_memory (error);
  buffer->bytes = bytes;
  return TRUE;
}

static Frame *
frame_new (const SbPicture *picture)
{
  Frame *frame = g_new0 (Frame, 1);

  g_atomic_ref_count_init (&frame->references);
  frame->width = picture->width;
  frame->height = picture->height;
  frame->depth = picture->depth;
  frame->opaque = picture->opaque;
  return frame;
}

static Frame *
frame_ref (Frame *frame)
{
  g_atomic_ref_count_inc (&frame->references);
  return frame;
}

static void
frame_unref (Frame *frame)
{
  if (frame == NULL || !g_atomic_ref_count_dec (&frame->references))
    return;
  sb_image_unref (frame->image);
  sb_pyramid_clear (&frame->pyramid);
  sb_memory_free (frame->pixels, frame->bytes);
  g_free (frame);
}

/* Whether the caller's reference is the only one: nobody draws from it. */
static gboolean
frame_is_free (Frame *frame)
{
  return frame != NULL && g_atomic_ref_count_compare (&frame->references, 1);
}

/* A frame to render the whole picture into. */
static Frame *
take_exact_frame (SbBackend *self, GError **error)
{
  Frame *frame = g_steal_pointer (&self->spare);

  if (!frame_is_free (frame))
    {
      frame_unref (frame);
      frame = frame_new (&self->original);
    }
  /* The image may have been handed out. */
  if (frame->image != NULL && !sb_image_reclaim (frame->image))
    g_clear_pointer (&frame->image, sb_image_unref);
  if (frame->image == NULL)
    {
      frame->image
          = sb_image_new (self->original.width, self->original.height, self->original.depth, error);
      if (frame->image == NULL)
        {
          frame_unref (frame);
          return NULL;
        }
      sb_image_set_profile (frame->image, sb_image_get_profile (self->original.image));
    }
  return frame;
}

static Frame *
take_preview_frame (SbBackend *self, guint level, const SbRect *rect, GError **error)
{
  Frame *frame = g_steal_pointer (&self->spare_preview);
  const gsize bytes = (gsize)rect->width * (gsize)rect->height * (self->original.depth / 2);

  if (!frame_is_free (frame))
    {
      frame_unref (frame);
      frame = frame_new (&self->original);
    }
  Buffer buffer = { frame->pixels, frame->bytes };
  const gboolean reserved = buffer_reserve (&buffer, bytes, error);
  frame->pixels = buffer.pixels;
  frame->bytes = buffer.bytes;
  frame->level = level;
  frame->rect = *rect;
  if (!reserved)
    g_clear_pointer (&frame, frame_unref);
  return frame;
}

/* --- Rendering ------------------------------------------------------------------------------- */

static SbSource
picture_source (const SbPicture *picture)
{
  return (SbSource){
    .format = picture->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = picture->width,
    .height = picture->height,
    .pixels = picture->pixels,
    .stride = picture->stride,
    .opaque = picture->opaque,
  };
}

static SbSource
level_source (const SbPyramid *pyramid, guint level, gboolean opaque)
{
  const SbLevel *from = &pyramid->levels[level];

  return (SbSource){
    .format = SB_PIXELS_WORK,
    .width = from->width,
    .height = from->height,
    .pixels = from->pixels,
    .stride = from->stride,
    .opaque = opaque,
  };
}

/* What a list of edits starts from at a level, in the space of its first edit. */
static gboolean
get_start (SbBackend *self, SbStart start, guint level, gboolean linear, SbSource *source,
           GCancellable *cancellable, GError **error)
{
  const SbPicture *picture = start == SB_START_BASE ? &self->base : &self->original;
  const SbSource whole = picture_source (picture);

  if (level == 0)
    {
      *source = whole;
      return TRUE;
    }
  if (start == SB_START_ORIGINAL && !linear)
    {
      /* What the original is shown from holds the same means. */
      const SbPyramid *pyramid = &self->original_frame->pyramid;
      if (level <= pyramid->n_levels && pyramid->levels[level].depth == 16)
        {
          *source = level_source (pyramid, level, picture->opaque);
          return TRUE;
        }
    }
  if (!self->work_valid || self->work_start != start || self->work_linear != linear)
    {
      sb_pyramid_invalidate (&self->work);
      self->work_valid = TRUE;
      self->work_start = start;
      self->work_linear = linear;
    }
  return sb_pyramid_get_work (&self->work, &whole, linear ? picture->tone : NULL, level, source,
                              self->parallel, cancellable, error);
}

/* The pixels of an edit's input that `rect` of its output is made from. */
static SbRect
reach (const SbEdit *edit, const SbRect *rect, guint width, guint height)
{
  const int by
      = (int)edit->values[SB_BLUR_PASSES] * ((int)floor (edit->values[SB_BLUR_RADIUS]) + 1);
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  const int dx = direction == SB_DIRECTION_VERTICAL ? 0 : by;
  const int dy = direction == SB_DIRECTION_HORIZONTAL ? 0 : by;
  const int x0 = MAX (rect->x - dx, 0), y0 = MAX (rect->y - dy, 0);
  const int x1 = MIN (rect->x + rect->width + dx, (int)width);
  const int y1 = MIN (rect->y + rect->height + dy, (int)height);

  return (SbRect){ x0, y0, x1 - x0, y1 - y0 };
}

/* The edits one after the other, at a level, into `target`. */
static gboolean
fold (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, guint level,
      const SbTarget *target, GCancellable *cancellable, GError **error)
{
  SbEdit nothing;
  sb_edit_init (&nothing, SB_EDIT_BLUR);
  nothing.values[SB_BLUR_RADIUS] = 0;
  nothing.values[SB_BLUR_LINEAR] = 0;
  if (n_edits == 0)
    {
      edits = &nothing;
      n_edits = 1;
    }

  g_autofree SbEdit *scaled = g_new (SbEdit, n_edits);
  g_autofree SbRect *rects = g_new (SbRect, n_edits);
  sb_preview_scale (edits, n_edits, level, scaled);

  SbSource source;
  if (!get_start (self, start, level, scaled[0].values[SB_BLUR_LINEAR] != 0, &source, cancellable,
                  error))
    return FALSE;
  const guint width = source.width, height = source.height;
  rects[n_edits - 1] = target->rect;
  for (guint i = n_edits - 1; i > 0; i--)
    rects[i - 1] = reach (&scaled[i], &rects[i], width, height);

  for (guint i = 0; i < n_edits; i++)
    {
      SbTarget to = *target;
      if (i + 1 < n_edits)
        {
          Buffer *buffer = &self->between[i & 1];
          const gsize stride = (gsize)width * 8;
          if (!buffer_reserve (buffer, stride * height, error))
            return FALSE;
          to = (SbTarget){ .format = SB_PIXELS_16,
                           .rect = rects[i],
                           .pixels
                           = buffer->pixels + (gsize)rects[i].y * stride + (gsize)rects[i].x * 8,
                           .stride = stride };
        }
      if (!sb_cpu_blur (&source, &scaled[i], self->original.tone, &to, self->parallel,
                        self->scratch, cancellable, error))
        return FALSE;
      source = (SbSource){ .format = SB_PIXELS_16,
                           .width = width,
                           .height = height,
                           .pixels = self->between[i & 1].pixels,
                           .stride = (gsize)width * 8,
                           .opaque = self->original.opaque };
    }
  return TRUE;
}

static gboolean
fold_whole (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, guint depth,
            guint8 *pixels, GCancellable *cancellable, GError **error)
{
  const SbTarget target = {
    .format = depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .rect = { 0, 0, (int)self->original.width, (int)self->original.height },
    .pixels = pixels,
    .stride = (gsize)self->original.width * (depth / 2),
  };

  return fold (self, start, edits, n_edits, 0, &target, cancellable, error);
}

/* --- The table ------------------------------------------------------------------------------- */

static char *
describe (guint threads)
{
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%u thread, %s", "%u threads, %s", threads),
                          threads, sb_isa_label (sb_isa_get ()));
}

static char *
cpu_list (guint threads, GError **error)
{
  return describe (threads > 0 ? threads : g_get_num_processors ());
}

static SbBackend *
cpu_open (const SbDevice *device, GError **error)
{
  SbBackend *self = g_new0 (SbBackend, 1);

  self->parallel = sb_parallel_new (device->threads);
  const guint threads = sb_parallel_get_n_threads (self->parallel);
  self->show_parallel = sb_parallel_new (MIN (threads, 4));
  self->scratch = sb_blur_scratch_new ();
  g_autofree char *text = describe (threads);
  /* Translators: "CPU, 2 threads, AVX2" */
  self->name = g_strdup_printf (_ ("CPU, %s"), text);
  g_mutex_init (&self->lock);
  return self;
}

static void
cpu_trim (SbBackend *self)
{
  g_clear_pointer (&self->spare, frame_unref);
  g_clear_pointer (&self->spare_preview, frame_unref);
  sb_pyramid_clear (&self->work);
  self->work_valid = FALSE;
  buffer_clear (&self->between[0]);
  buffer_clear (&self->between[1]);
  sb_blur_scratch_trim (self->scratch);
}

static void
cpu_close (SbBackend *self)
{
  cpu_trim (self);
  buffer_clear (&self->own_base);
  frame_unref (self->original_frame);
  frame_unref (self->exact);
  frame_unref (self->shown);
  sb_blur_scratch_free (self->scratch);
  sb_parallel_free (self->parallel);
  sb_parallel_free (self->show_parallel);
  g_mutex_clear (&self->lock);
  g_free (self->name);
  g_free (self);
}

static const char *
cpu_get_name (SbBackend *self)
{
  return self->name;
}

static gboolean
cpu_is_immediate (SbBackend *self)
{
  return FALSE;
}

/* Takes the references. exact NULL: the last EXACT result stays. */
static void
swap (SbBackend *self, Frame *exact, Frame *shown)
{
  g_mutex_lock (&self->lock);
  Frame *old_exact = exact != NULL ? self->exact : NULL;
  Frame *old_shown = self->shown;
  if (exact != NULL)
    self->exact = exact;
  self->shown = shown;
  g_mutex_unlock (&self->lock);

  /* Kept for the next render; what still draws from one has a reference. */
  if (old_shown != NULL && old_shown->image == NULL)
    {
      frame_unref (self->spare_preview);
      self->spare_preview = old_shown;
    }
  else
    frame_unref (old_shown);
  if (old_exact != NULL && old_exact->image != self->original.image)
    {
      frame_unref (self->spare);
      self->spare = old_exact;
    }
  else
    frame_unref (old_exact);
}

static gboolean
cpu_load (SbBackend *self, const SbPicture *original, GError **error)
{
  const SbSource source = picture_source (original);
  Frame *frame = frame_new (original);

  if (!sb_pyramid_build (&frame->pyramid, &source, self->parallel, NULL, error))
    {
      frame_unref (frame);
      return FALSE;
    }
  frame->image = sb_image_ref (original->image);

  g_mutex_lock (&self->lock);
  Frame *old[] = { self->original_frame, self->exact, self->shown };
  self->original_frame = frame;
  self->exact = frame_ref (frame);
  self->shown = frame_ref (frame);
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < G_N_ELEMENTS (old); i++)
    frame_unref (old[i]);
  cpu_trim (self); /* it was of another size */
  buffer_clear (&self->own_base);
  self->base = (SbPicture){ 0 };
  self->original = *original;
  return TRUE;
}

static void
forget_base_work (SbBackend *self)
{
  if (self->work_start == SB_START_BASE)
    self->work_valid = FALSE;
}

static gboolean
cpu_set_base (SbBackend *self, const SbPicture *base16, GError **error)
{
  forget_base_work (self);
  buffer_clear (&self->own_base);
  self->base = base16 != NULL ? *base16 : (SbPicture){ 0 };
  return TRUE;
}

static gboolean
cpu_make_base (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
               GCancellable *cancellable, GError **error)
{
  const gsize stride = (gsize)self->original.width * 8;
  Buffer buffer = { NULL, 0 };

  if (!buffer_reserve (&buffer, stride * self->original.height, error)
      || !fold_whole (self, start, edits, n_edits, 16, buffer.pixels, cancellable, error))
    {
      buffer_clear (&buffer);
      return FALSE;
    }
  cpu_set_base (self, NULL, NULL);
  self->own_base = buffer;
  self->base = self->original;
  self->base.depth = 16;
  self->base.pixels = buffer.pixels;
  self->base.stride = stride;
  self->base.image = NULL;
  return TRUE;
}

static gboolean
render_exact (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
              GCancellable *cancellable, GError **error)
{
  if (start == SB_START_ORIGINAL && n_edits == 0)
    {
      swap (self, frame_ref (self->original_frame), frame_ref (self->original_frame));
      return TRUE;
    }

  Frame *frame = take_exact_frame (self, error);
  if (frame == NULL)
    return FALSE;
  const SbSource result = {
    .format = frame->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = frame->width,
    .height = frame->height,
    .pixels = sb_image_get_pixels (frame->image),
    .stride = sb_image_get_stride (frame->image),
    .opaque = frame->opaque,
  };
  if (!fold_whole (self, start, edits, n_edits, frame->depth, sb_image_writable (frame->image),
                   cancellable, error)
      || !sb_pyramid_build (&frame->pyramid, &result, self->parallel, cancellable, error))
    {
      self->spare = frame;
      return FALSE;
    }
  swap (self, frame, frame_ref (frame));
  return TRUE;
}

/* The pixels of a level that `region` touches, and one more on each side for footprints that reach
 * over its edge. */
static SbRect
level_rect (const SbPicture *picture, guint level, const SbRect *region)
{
  const gint64 unit = (gint64)1 << level;
  const gint64 width = (picture->width + unit - 1) / unit;
  const gint64 height = (picture->height + unit - 1) / unit;

  if (region == NULL)
    return (SbRect){ 0, 0, (int)width, (int)height };
  const gint64 x0 = MAX (region->x / unit - 1, 0), y0 = MAX (region->y / unit - 1, 0);
  const gint64 x1 = MIN ((region->x + (gint64)region->width + unit - 1) / unit + 1, width);
  const gint64 y1 = MIN ((region->y + (gint64)region->height + unit - 1) / unit + 1, height);
  return (SbRect){ (int)x0, (int)y0, (int)(x1 - x0), (int)(y1 - y0) };
}

static gboolean
render_preview (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                SbQuality quality, GCancellable *cancellable, GError **error)
{
  if (start == SB_START_ORIGINAL && n_edits == 0)
    {
      swap (self, NULL, frame_ref (self->original_frame));
      return TRUE;
    }

  const guint level = sb_preview_level (edits, n_edits, quality.level);
  const SbRect rect = level_rect (&self->original, level, quality.region);
  Frame *frame = take_preview_frame (self, level, &rect, error);
  if (frame == NULL)
    return FALSE;
  const SbTarget target = {
    .format = frame->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .rect = rect,
    .pixels = frame->pixels,
    .stride = (gsize)rect.width * (frame->depth / 2),
  };
  if (!fold (self, start, edits, n_edits, level, &target, cancellable, error))
    {
      self->spare_preview = frame;
      return FALSE;
    }
  swap (self, NULL, frame);
  return TRUE;
}

static gboolean
cpu_render (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, SbQuality quality,
            GCancellable *cancellable, GError **error)
{
  return quality.exact ? render_exact (self, start, edits, n_edits, cancellable, error)
                       : render_preview (self, start, edits, n_edits, quality, cancellable, error);
}

static void
cpu_show_exact (SbBackend *self)
{
  swap (self, NULL, frame_ref (self->exact));
}

static gboolean
cpu_read (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, guint depth,
          guint8 *pixels, GCancellable *cancellable, GError **error)
{
  return fold_whole (self, start, edits, n_edits, depth, pixels, cancellable, error);
}

static gboolean
cpu_read_result (SbBackend *self, guint8 *pixels, GError **error)
{
  memcpy (pixels, sb_image_get_pixels (self->exact->image),
          sb_image_get_bytes (self->exact->image));
  return TRUE;
}

static SbImage *
cpu_ref_result (SbBackend *self)
{
  return sb_image_ref (self->exact->image);
}

/* --- Showing --------------------------------------------------------------------------------- */

/* The frames that a view or a colour is taken from, the one on top last: a PREVIEW lies over the
 * last EXACT result. */
static guint
get_frames (SbBackend *self, SbShowWhat what, Frame *frames[2])
{
  guint n = 0;

  g_mutex_lock (&self->lock);
  if (what == SB_SHOW_ORIGINAL)
    frames[n++] = frame_ref (self->original_frame);
  else
    {
      if (self->shown->image == NULL)
        frames[n++] = frame_ref (self->exact);
      frames[n++] = frame_ref (self->shown);
    }
  g_mutex_unlock (&self->lock);
  return n;
}

static SbShowSource
frame_source (const Frame *frame, double zoom)
{
  SbShowSource source = {
    .width = frame->width,
    .height = frame->height,
    .depth = frame->depth,
    .alpha = frame->opaque ? SB_ALPHA_OPAQUE : SB_ALPHA_STRAIGHT,
  };

  if (frame->image == NULL)
    {
      source.level = frame->level;
      source.rect = frame->rect;
      source.pixels = frame->pixels;
      source.stride = (gsize)frame->rect.width * (frame->depth / 2);
      return source;
    }
  source.level = MIN (sb_engine_level_for_zoom (zoom), frame->pyramid.n_levels);
  if (source.level == 0)
    {
      source.rect = (SbRect){ 0, 0, (int)frame->width, (int)frame->height };
      source.pixels = sb_image_get_pixels (frame->image);
      source.stride = sb_image_get_stride (frame->image);
      return source;
    }
  const SbLevel *level = &frame->pyramid.levels[source.level];
  source.rect = (SbRect){ 0, 0, (int)level->width, (int)level->height };
  source.pixels = level->pixels;
  source.stride = level->stride;
  source.depth = level->depth;
  source.alpha = frame->opaque ? SB_ALPHA_OPAQUE : SB_ALPHA_PREMULTIPLIED;
  return source;
}

static gboolean
cpu_show_host (SbBackend *self, const SbView *view, guint8 *rgba, gsize stride, GError **error)
{
  Frame *frames[2];
  SbShowSource sources[2];
  const guint n = get_frames (self, view->what, frames);

  for (guint i = 0; i < n; i++)
    sources[i] = frame_source (frames[i], view->zoom);
  const gboolean done = sb_cpu_show (view, sources, n, rgba, stride, self->show_parallel, error);
  for (guint i = 0; i < n; i++)
    frame_unref (frames[i]);
  return done;
}

static gboolean
cpu_pick (SbBackend *self, SbShowWhat what, int x, int y, guint16 rgba[4])
{
  Frame *frames[2];
  const guint n = get_frames (self, what, frames);
  const gboolean inside = x < (int)frames[0]->width && y < (int)frames[0]->height;

  for (guint i = 0; inside && i < n; i++)
    {
      const SbShowSource source = frame_source (frames[i], 1.0);
      const int u = (x >> source.level) - source.rect.x, v = (y >> source.level) - source.rect.y;
      if (u < 0 || v < 0 || u >= source.rect.width || v >= source.rect.height)
        continue;
      const guint8 *row = source.pixels + (gsize)v * source.stride;
      if (source.depth == 16)
        memcpy (rgba, row + 8 * (gsize)u, 8);
      else
        for (guint c = 0; c < 4; c++)
          rgba[c] = (guint16)(row[4 * (gsize)u + c] * 257);
    }
  for (guint i = 0; i < n; i++)
    frame_unref (frames[i]);
  return inside;
}

const SbBackendClass sb_cpu_backend_class = {
  .abi = SB_BACKEND_ABI,
  .kind = "cpu",
  .list = cpu_list,
  .open = cpu_open,
  .close = cpu_close,
  .get_name = cpu_get_name,
  .is_immediate = cpu_is_immediate,
  .load = cpu_load,
  .set_base = cpu_set_base,
  .make_base = cpu_make_base,
  .render = cpu_render,
  .show_exact = cpu_show_exact,
  .read = cpu_read,
  .read_result = cpu_read_result,
  .ref_result = cpu_ref_result,
  .trim = cpu_trim,
  .pick = cpu_pick,
  .show_host = cpu_show_host,
};
