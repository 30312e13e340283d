/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-backend.h"
#include "sb-cpu-bands.h"
#include "sb-cpu-fold.h"
#include "sb-cpu-frame.h"
#include "sb-cpu-preview.h"
#include "sb-cpu-subbands.h"
#include "sb-error.h"
#include "sb-isa.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _SbBackend
{
  char *name;
  SbParallel *parallel;      /* of renders */
  SbParallel *show_parallel; /* of shows, which must not wait for a loop of a render */
  SbCpuFold fold;

  SbPicture original;
  SbPicture base; /* pixels NULL: none; 16 bits */
  SbCpuBuffer own_base;
  SbCpuFrame *spare; /* the EXACT frame before the last, its memory to be used again */
  SbCpuFrame *spare_preview;
  SbCpuSubbands subbands;

  GMutex lock; /* guards what follows, which other threads show from */
  SbCpuFrame *original_frame;
  SbCpuFrame *exact; /* the last EXACT result */
  SbCpuFrame *shown; /* `exact` or a PREVIEW */
  SbColorTable *display;
};

/* --- Memory ---------------------------------------------------------------------------------- */

/* A frame to render the whole picture into. */
static SbCpuFrame *
take_exact_frame (SbBackend *self, GError **error)
{
  SbCpuFrame *frame = g_steal_pointer (&self->spare);

  if (!sb_cpu_frame_is_free (frame))
    {
      sb_cpu_frame_unref (frame);
      frame = sb_cpu_frame_new (&self->original);
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
          sb_cpu_frame_unref (frame);
          return NULL;
        }
      sb_image_set_profile (frame->image, sb_image_get_profile (self->original.image));
    }
  return frame;
}

static SbCpuFrame *
take_preview_frame (SbBackend *self, guint level, const SbRect *rect, GError **error)
{
  SbCpuFrame *frame = g_steal_pointer (&self->spare_preview);
  const gsize bytes = (gsize)rect->width * (gsize)rect->height * (self->original.depth / 2);

  if (!sb_cpu_frame_is_free (frame))
    {
      sb_cpu_frame_unref (frame);
      frame = sb_cpu_frame_new (&self->original);
    }
  SbCpuBuffer buffer = { frame->pixels, frame->bytes };
  const gboolean reserved = sb_cpu_buffer_reserve (&buffer, bytes, error);
  frame->pixels = buffer.pixels;
  frame->bytes = buffer.bytes;
  frame->level = level;
  frame->rect = *rect;
  if (!reserved)
    g_clear_pointer (&frame, sb_cpu_frame_unref);
  return frame;
}

/* Fresh memory costs as much as the rendering: all of the spare frame is written to here, as the
 * render of no edits at all would do it. */
static void
cpu_prepare (SbBackend *self, GCancellable *cancellable)
{
  const SbSource source = sb_cpu_picture_source (&self->original);

  if (sb_cpu_frame_is_free (self->spare))
    return;
  SbCpuFrame *frame = take_exact_frame (self, NULL);
  if (frame == NULL)
    return;
  memcpy (sb_image_writable (frame->image), self->original.pixels,
          sb_image_get_bytes (frame->image));
  sb_pyramid_build (&frame->pyramid, &source, self->parallel, cancellable, NULL);
  self->spare = frame;
}

/* --- Rendering ------------------------------------------------------------------------------- */

static gboolean
fold (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, guint level,
      const SbTarget *target, GCancellable *cancellable, GError **error)
{
  const gboolean from_base = start == SB_START_BASE;

  return sb_cpu_fold_run (&self->fold, from_base ? &self->base : &self->original,
                          from_base ? NULL : &self->original_frame->pyramid, edits, n_edits, level,
                          target, cancellable, error);
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
  sb_cpu_fold_init (&self->fold, self->parallel);
  sb_cpu_subbands_init (&self->subbands, self->parallel);
  g_autofree char *text = describe (threads);
  /* Translators: "CPU, 2 threads, AVX2" */
  self->name = g_strdup_printf (_ ("CPU, %s"), text);
  g_mutex_init (&self->lock);
  return self;
}

static void
cpu_trim (SbBackend *self)
{
  g_clear_pointer (&self->spare_preview, sb_cpu_frame_unref);
  sb_cpu_fold_trim (&self->fold);
  sb_cpu_subbands_trim (&self->subbands);
}

static void
cpu_close (SbBackend *self)
{
  cpu_trim (self);
  sb_cpu_frame_unref (self->spare);
  sb_cpu_buffer_clear (&self->own_base);
  sb_cpu_frame_unref (self->original_frame);
  sb_cpu_frame_unref (self->exact);
  sb_cpu_frame_unref (self->shown);
  sb_cpu_fold_clear (&self->fold);
  sb_cpu_subbands_clear (&self->subbands);
  sb_parallel_free (self->parallel);
  sb_parallel_free (self->show_parallel);
  sb_color_table_unref (self->display);
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
swap (SbBackend *self, SbCpuFrame *exact, SbCpuFrame *shown)
{
  g_mutex_lock (&self->lock);
  SbCpuFrame *old_exact = exact != NULL ? self->exact : NULL;
  SbCpuFrame *old_shown = self->shown;
  if (exact != NULL)
    self->exact = exact;
  self->shown = shown;
  g_mutex_unlock (&self->lock);

  /* Kept for the next render; what still draws from one has a reference. */
  if (old_shown != NULL && old_shown->image == NULL)
    {
      sb_cpu_frame_unref (self->spare_preview);
      self->spare_preview = old_shown;
    }
  else
    sb_cpu_frame_unref (old_shown);
  if (old_exact != NULL && old_exact->image != self->original.image)
    {
      sb_cpu_frame_unref (self->spare);
      self->spare = old_exact;
    }
  else
    sb_cpu_frame_unref (old_exact);
}

static gboolean
cpu_load (SbBackend *self, const SbPicture *original, GError **error)
{
  const SbSource source = sb_cpu_picture_source (original);
  SbCpuFrame *frame = sb_cpu_frame_new (original);

  if (!sb_pyramid_build (&frame->pyramid, &source, self->parallel, NULL, error))
    {
      sb_cpu_frame_unref (frame);
      return FALSE;
    }
  frame->image = sb_image_ref (original->image);

  g_mutex_lock (&self->lock);
  SbCpuFrame *old[] = { self->original_frame, self->exact, self->shown };
  self->original_frame = frame;
  self->exact = sb_cpu_frame_ref (frame);
  self->shown = sb_cpu_frame_ref (frame);
  SbColorTable *old_display = self->display;
  self->display
      = original->display != NULL ? sb_color_table_ref ((SbColorTable *)original->display) : NULL;
  g_mutex_unlock (&self->lock);
  sb_color_table_unref (old_display);
  for (guint i = 0; i < G_N_ELEMENTS (old); i++)
    sb_cpu_frame_unref (old[i]);
  sb_cpu_subbands_set (&self->subbands, NULL, NULL, NULL, NULL);
  /* They were of another size. */
  cpu_trim (self);
  g_clear_pointer (&self->spare, sb_cpu_frame_unref);
  sb_cpu_buffer_clear (&self->own_base);
  self->base = (SbPicture){ 0 };
  self->original = *original;
  return TRUE;
}

static gboolean
cpu_set_base (SbBackend *self, const SbPicture *base16, GError **error)
{
  sb_cpu_fold_forget (&self->fold, self->base.pixels);
  sb_cpu_subbands_forget (&self->subbands, self->base.pixels);
  sb_cpu_buffer_clear (&self->own_base);
  self->base = base16 != NULL ? *base16 : (SbPicture){ 0 };
  return TRUE;
}

static gboolean
cpu_make_base (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
               GCancellable *cancellable, GError **error)
{
  const gsize stride = (gsize)self->original.width * 8;
  SbCpuBuffer buffer = { NULL, 0 };

  if (!sb_cpu_buffer_reserve (&buffer, stride * self->original.height, error)
      || !fold_whole (self, start, edits, n_edits, 16, buffer.pixels, cancellable, error))
    {
      sb_cpu_buffer_clear (&buffer);
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
  g_autoptr (GError) failure = NULL;
  if (start == SB_START_ORIGINAL && n_edits == 0)
    {
      SbCpuHaar *haar
          = sb_cpu_subbands_make (&self->subbands, self->original_frame, cancellable, &failure);
      if (failure != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&failure));
          return FALSE;
        }
      sb_cpu_subbands_take (&self->subbands, haar);
      swap (self, sb_cpu_frame_ref (self->original_frame), sb_cpu_frame_ref (self->original_frame));
      return TRUE;
    }

  SbCpuFrame *frame = take_exact_frame (self, error);
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
  SbCpuHaar *haar = sb_cpu_subbands_make (&self->subbands, frame, cancellable, &failure);
  if (failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      self->spare = frame;
      return FALSE;
    }
  sb_cpu_subbands_take (&self->subbands, haar);
  swap (self, frame, sb_cpu_frame_ref (frame));
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

/* A part of an EXACT result, for estimates. */
typedef struct
{
  SbBackend *self;
  SbStart start;
  const SbEdit *edits;
  guint n_edits;
} Part;

static gboolean
render_part (gpointer data, const SbTarget *target, GCancellable *cancellable, GError **error)
{
  const Part *part = data;

  return fold (part->self, part->start, part->edits, part->n_edits, 0, target, cancellable, error);
}

static gboolean
render_preview (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                SbQuality quality, GCancellable *cancellable, GError **error)
{
  if (start == SB_START_ORIGINAL && n_edits == 0 && !sb_cpu_subbands_are_on (&self->subbands))
    {
      swap (self, NULL, sb_cpu_frame_ref (self->original_frame));
      return TRUE;
    }

  const guint level = sb_preview_level (edits, n_edits, quality.level);
  const SbRect rect = level_rect (&self->original, level, quality.region);
  SbCpuFrame *frame = take_preview_frame (self, level, &rect, error);
  if (frame == NULL)
    return FALSE;
  const SbTarget target = {
    .format = frame->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .rect = rect,
    .pixels = frame->pixels,
    .stride = (gsize)rect.width * (frame->depth / 2),
  };
  Part part = { self, start, edits, n_edits };
  const SbCpuStart from = {
    .picture = sb_cpu_picture_source (start == SB_START_BASE ? &self->base : &self->original),
    .render = render_part,
    .data = &part,
    .reach = sb_cpu_fold_reach (edits, n_edits),
  };
  if (!fold (self, start, edits, n_edits, level, &target, cancellable, error)
      || !sb_cpu_subbands_preview (&self->subbands, frame, self->exact, &from, cancellable, error))
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
  sb_cpu_subbands_end_preview (&self->subbands);
  swap (self, NULL, sb_cpu_frame_ref (self->exact));
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

/* --- Subbands -------------------------------------------------------------------------------- */

static gboolean
cpu_set_subbands (SbBackend *self, const SbHaarChoice *choice, GCancellable *cancellable,
                  GError **error)
{
  return sb_cpu_subbands_set (&self->subbands, choice, self->exact, cancellable, error);
}

static gboolean
cpu_measure_band (SbBackend *self, SbHaarBand band, SbHaarStatistics *statistics,
                  GCancellable *cancellable, GError **error)
{
  return sb_cpu_subbands_measure (&self->subbands, band, statistics, cancellable, error);
}

static gboolean
cpu_summarize_subbands (SbBackend *self, SbHaarSummary *summary, GCancellable *cancellable,
                        GError **error)
{
  return sb_cpu_subbands_summarize (&self->subbands, self->exact, summary, cancellable, error);
}

static gboolean
cpu_pick_coefficient (SbBackend *self, SbHaarBand band, guint column, guint row, float *value)
{
  return sb_cpu_subbands_pick (&self->subbands, band, column, row, value);
}

static guint
cpu_get_estimated (SbBackend *self)
{
  return sb_cpu_subbands_estimated (&self->subbands);
}

static gboolean
cpu_read_subbands (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                   const SbHaarChoice *choice, float *const *bands, GCancellable *cancellable,
                   GError **error)
{
  const SbPicture *original = &self->original;
  const gsize stride = (gsize)original->width * (original->depth / 2);
  SbCpuBuffer pixels = { NULL, 0 };
  SbSource source = sb_cpu_picture_source (original);
  g_autoptr (SbCpuHaar) haar
      = sb_cpu_haar_new (original->width, original->height, original->depth, choice, error);
  gboolean done = haar != NULL;

  if (done && (start == SB_START_BASE || n_edits > 0))
    {
      done = sb_cpu_buffer_reserve (&pixels, stride * original->height, error)
             && fold_whole (self, start, edits, n_edits, original->depth, pixels.pixels,
                            cancellable, error);
      source.pixels = pixels.pixels;
      source.stride = stride;
    }
  done = done && sb_cpu_haar_transform (haar, &source, self->parallel, cancellable, error);
  for (guint n = 0; done && n < sb_haar_n_bands (choice->levels); n++)
    {
      const SbHaarPlane *plane = &haar->set.planes[n];

      for (guint j = 0; j < plane->rows; j++)
        memcpy (bands[n] + (gsize)j * plane->columns, plane->values + j * plane->stride,
                plane->columns * sizeof (float));
    }
  sb_cpu_buffer_clear (&pixels);
  return done;
}

static gboolean
cpu_measure_edit (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                  SbBandsMeasure *measure, GCancellable *cancellable, GError **error)
{
  const SbPicture *from = start == SB_START_BASE ? &self->base : &self->original;
  const gsize stride = (gsize)from->width * 8;
  SbCpuBuffer pixels = { NULL, 0 };
  SbSource source = sb_cpu_picture_source (from);
  const SbSource result = {
    .format = self->original.depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = self->exact->width,
    .height = self->exact->height,
    .pixels = sb_image_get_pixels (self->exact->image),
    .stride = sb_image_get_stride (self->exact->image),
    .opaque = self->exact->opaque,
  };
  gboolean done = TRUE;

  if (n_edits > 1)
    {
      done = sb_cpu_buffer_reserve (&pixels, stride * from->height, error)
             && fold_whole (self, start, edits, n_edits - 1, 16, pixels.pixels, cancellable, error);
      source.format = SB_PIXELS_16;
      source.pixels = pixels.pixels;
      source.stride = stride;
    }
  done = done
         && sb_cpu_bands_measure (&source, &result, &edits[n_edits - 1], self->parallel, measure,
                                  cancellable, error);
  sb_cpu_buffer_clear (&pixels);
  return done;
}

/* --- Showing --------------------------------------------------------------------------------- */

/* The frames that a view or a colour is taken from, the one on top last: a PREVIEW lies over the
 * last EXACT result. `display` may be NULL. */
static guint
get_frames (SbBackend *self, SbShowWhat what, SbCpuFrame *frames[2], SbColorTable **display)
{
  guint n = 0;

  g_mutex_lock (&self->lock);
  if (display != NULL)
    *display = self->display != NULL ? sb_color_table_ref (self->display) : NULL;
  if (what == SB_SHOW_ORIGINAL)
    frames[n++] = sb_cpu_frame_ref (self->original_frame);
  else
    {
      if (self->shown->image == NULL)
        frames[n++] = sb_cpu_frame_ref (self->exact);
      frames[n++] = sb_cpu_frame_ref (self->shown);
    }
  g_mutex_unlock (&self->lock);
  return n;
}

static gboolean
cpu_show_host (SbBackend *self, const SbView *view, guint8 *rgba, gsize stride, GError **error)
{
  if (view->what == SB_SHOW_SUBBANDS)
    return sb_cpu_subbands_show (&self->subbands, view, rgba, stride, self->show_parallel, error);

  SbCpuFrame *frames[2];
  SbShowSource sources[2];
  SbColorTable *display;
  const guint n = get_frames (self, view->what, frames, &display);

  for (guint i = 0; i < n; i++)
    {
      sources[i] = sb_cpu_frame_source (frames[i], view->zoom);
      sources[i].display = display;
    }
  const gboolean done = sb_cpu_show (view, sources, n, rgba, stride, self->show_parallel, error);
  for (guint i = 0; i < n; i++)
    sb_cpu_frame_unref (frames[i]);
  sb_color_table_unref (display);
  return done;
}

static gboolean
cpu_pick (SbBackend *self, SbShowWhat what, int x, int y, guint16 rgba[4])
{
  SbCpuFrame *frames[2];
  const guint n = get_frames (self, what, frames, NULL);
  const gboolean inside = x < (int)frames[0]->width && y < (int)frames[0]->height;

  for (guint i = 0; inside && i < n; i++)
    sb_cpu_frame_pick (frames[i], x, y, rgba);
  for (guint i = 0; i < n; i++)
    sb_cpu_frame_unref (frames[i]);
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
  .prepare = cpu_prepare,
  .trim = cpu_trim,
  .set_subbands = cpu_set_subbands,
  .measure_band = cpu_measure_band,
  .summarize_subbands = cpu_summarize_subbands,
  .pick_coefficient = cpu_pick_coefficient,
  .get_estimated = cpu_get_estimated,
  .read_subbands = cpu_read_subbands,
  .measure_edit = cpu_measure_edit,
  .pick = cpu_pick,
  .show_host = cpu_show_host,
};
