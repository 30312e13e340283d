/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-private.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES 11

SbCudaPicture
sb_cuda_front (SbBackend *self)
{
  return sb_cuda_picture (self, self->front < 0 ? &self->original : &self->results[self->front],
                          self->picture.depth);
}

/* The result that is not shown. */
static guint
get_back (SbBackend *self)
{
  return self->front == 0 ? 1 : 0;
}

/* --- Loading --------------------------------------------------------------------------------- */

/* The tables of a tone curve into `tables`, once for a curve. */
static gboolean
load_tone (SbBackend *self, const SbTone *tone, SbCudaBuffer *tables, SbCudaTone *made,
           GError **error)
{
  const gsize wide = 3 * 65536 * sizeof (guint16), narrow = 3 * 256 * sizeof (guint16);
  const gsize steps_bytes = 3 * 8192 * sizeof (guint16);
  g_autofree guint16 *steps = g_new (guint16, 3 * 8192);
  gboolean gentle = TRUE;

  for (int c = 0; c < 3; c++)
    for (int j = 0; j < 8192; j++)
      {
        const guint8 *codes = tone->encode8[c] + 8 * j;
        int at = 8;
        for (int k = 7; k > 0; k--)
          if (codes[k] != codes[0])
            at = k;
        gentle = gentle && codes[7] <= codes[0] + 1;
        steps[8192 * c + j] = (guint16)(codes[0] | at << 8);
      }

  if (!sb_cuda_reserve (self, tables, 2 * wide + narrow + steps_bytes, error))
    return FALSE;
  guint8 *at = tables->data;
  const struct
  {
    const void *from;
    gsize bytes;
  } parts[] = { { tone->decode, wide },
                { tone->encode, wide },
                { tone->decode8, narrow },
                { steps, steps_bytes } };
  const guint8 *places[4];
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      const SbCudaPicture to = { at, parts[i].bytes, (int)(parts[i].bytes / 4), 1, 8 };
      if (!sb_cuda_upload (self, &to, parts[i].from, parts[i].bytes, error))
        return FALSE;
      places[i] = at;
      at += parts[i].bytes;
    }
  *made = (SbCudaTone){
    .decode = (const guint16 *)places[0],
    .encode = (const guint16 *)places[1],
    .decode8 = (const guint16 *)places[2],
    .encode8_steps = gentle ? (const guint16 *)places[3] : NULL,
    .same = TRUE,
  };
  for (int c = 1; c < 3; c++)
    if (memcmp (steps, steps + 8192 * c, 8192 * sizeof (guint16)) != 0)
      made->same = FALSE;
  return TRUE;
}

static void
exchange (SbCudaBuffer *a, SbCudaBuffer *b)
{
  const SbCudaBuffer c = *a;
  *a = *b;
  *b = c;
}

/* The new picture's buffers come beside the old one's, so that a failure leaves the old one as it
 * was; what only speeds up its next render goes first. The upload begins before the rest is
 * allocated, and its end is not waited for: what uses the picture comes after it on the device. */
gboolean
sb_cuda_load (SbBackend *self, const SbPicture *original, GError **error)
{
  const guint width = original->width, height = original->height, depth = original->depth;
  SbCudaBuffer pixels = { NULL, 0 }, results[2] = { { NULL, 0 }, { NULL, 0 } };
  SbCudaBuffer work = { NULL, 0 }, tables = { NULL, 0 }, display_table = { NULL, 0 };
  SbCudaColor color = { NULL, NULL };
  SbCudaTone tone = self->tone_tables;
  const gboolean same_tone = self->tone == original->tone && self->tone != NULL;
  const SbCudaPicture to
      = { NULL, sb_cuda_stride (width, depth), (int)width, (int)height, (int)depth };

  if (!sb_cuda_enter (self, error))
    return FALSE;
  sb_cuda_trim (self);
  gboolean done = sb_cuda_reserve_picture (self, &pixels, width, height, depth, error);
  if (done)
    {
      SbCudaPicture target = to;
      target.pixels = pixels.data;
      done = (same_tone || load_tone (self, original->tone, &tables, &tone, error))
             && sb_cuda_load_color (self, original->display, &display_table, &color, error)
             && sb_cuda_upload (self, &target, original->pixels, original->stride, error)
             && sb_cuda_check (self, cudaEventRecord (self->loaded, self->compute), "load", error)
             /* One row at 16 bits fits in any. */
             && sb_cuda_reserve_picture (self, &results[0], width, MAX (height, 2), depth, error)
             && sb_cuda_reserve_picture (self, &results[1], width, MAX (height, 2), depth, error)
             && sb_cuda_reserve_work (self, &work, width, height, error);
    }
  if (done)
    {
      /* A view may be reading what is there: it has the lock while it launches, and the device's
       * end here. */
      g_mutex_lock (&self->lock);
      done = sb_cuda_check (self, cudaStreamWaitEvent (self->display, self->loaded, 0), "load",
                            error)
             && sb_cuda_check (self, cudaEventSynchronize (self->shown), "load", error);
      if (done)
        {
          exchange (&self->original, &pixels);
          exchange (&self->results[0], &results[0]);
          exchange (&self->results[1], &results[1]);
          exchange (&self->work, &work);
          if (!same_tone)
            exchange (&self->tables, &tables);
          exchange (&self->display_table, &display_table);
          self->color = color;
          sb_cuda_subbands_forget (self);
          self->tone = original->tone;
          self->tone_tables = tone;
          self->picture = *original;
          self->opaque = original->opaque;
          self->has_base = FALSE;
          self->front = -1;
        }
      g_mutex_unlock (&self->lock);
    }
  else
    cudaStreamSynchronize (self->compute);

  /* The old ones, or else the new ones. */
  sb_cuda_release (&pixels);
  sb_cuda_release (&results[0]);
  sb_cuda_release (&results[1]);
  sb_cuda_release (&work);
  sb_cuda_release (&tables);
  sb_cuda_release (&display_table);
  if (done)
    sb_cuda_release (&self->base);
  return done;
}

gboolean
sb_cuda_set_base (SbBackend *self, const SbPicture *base16, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  self->has_base = FALSE;
  if (base16 == NULL)
    return TRUE;
  if (!sb_cuda_reserve_picture (self, &self->base, self->picture.width, self->picture.height, 16,
                                error))
    return FALSE;
  const SbCudaPicture to = sb_cuda_picture (self, &self->base, 16);
  self->has_base = sb_cuda_upload (self, &to, base16->pixels, base16->stride, error);
  return self->has_base;
}

/* --- Rendering ------------------------------------------------------------------------------- */

/* A buffer for a picture of 16 bits while another holds what it is made of: one that there is,
 * rather than one more. The base's is free where there is no base. */
static SbCudaBuffer *
get_spare (SbBackend *self, const void *source)
{
  SbCudaBuffer *const all[] = { &self->base, &self->steps[0], &self->steps[1] };
  SbCudaBuffer *empty = NULL;

  for (guint i = self->has_base ? 1 : 0; i < G_N_ELEMENTS (all); i++)
    if (all[i]->data == NULL)
      empty = empty != NULL ? empty : all[i];
    else if (all[i]->data != source)
      return all[i];
  return empty;
}

/* A picture of 16 bits between two edits, made of `source`. */
static gboolean
get_step (SbBackend *self, const void *source, SbCudaPicture *step, GError **error)
{
  SbCudaBuffer *buffer = get_spare (self, source);

  if (!sb_cuda_reserve_picture (self, buffer, self->picture.width, self->picture.height, 16, error))
    return FALSE;
  *step = sb_cuda_picture (self, buffer, 16);
  return TRUE;
}

/* What only edits made in one go from a base on need is not kept, but between the frames of a
 * slider. */
static void
drop_surplus (SbBackend *self)
{
  if (self->base.data == NULL || self->steps[0].data == NULL)
    return;
  if (self->picture.depth == 16)
    sb_cuda_release (&self->steps[0]);
  sb_cuda_release (&self->steps[1]);
}

gboolean
sb_cuda_run_steps (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                   SbCudaPicture *source, GCancellable *cancellable, GError **error)
{
  const SbRect whole = { 0, 0, (int)self->picture.width, (int)self->picture.height };

  *source = start == SB_START_BASE ? sb_cuda_picture (self, &self->base, 16)
                                   : sb_cuda_picture (self, &self->original, self->picture.depth);
  for (guint i = 0; i + 1 < n_edits; i++)
    {
      SbCudaPicture to;
      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !get_step (self, source->pixels, &to, error)
          || !sb_cuda_edit (self, &edits[i], source, &to, &whole, error))
        return FALSE;
      *source = to;
    }
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* The last edit, or a copy where there is none, over the rect. */
static gboolean
run_last (SbBackend *self, const SbEdit *edits, guint n_edits, const SbCudaPicture *source,
          const SbCudaPicture *target, const SbRect *rect, GError **error)
{
  if (n_edits > 0)
    return sb_cuda_edit (self, &edits[n_edits - 1], source, target, rect, error);
  return sb_cuda_check (
      self,
      sb_cuda_convert (source, target, rect->x, rect->y, rect->width, rect->height, self->compute),
      "convert", error);
}

static gboolean
finish (SbBackend *self, GError **error)
{
  return sb_cuda_check (self, cudaStreamSynchronize (self->compute), "render", error);
}

/* The result that is not shown, for writing: what may still show it has an end on the device. */
static gboolean
take_back (SbBackend *self, guint *back, GError **error)
{
  g_mutex_lock (&self->lock);
  *back = get_back (self);
  const cudaError_t status = cudaStreamWaitEvent (self->compute, self->shown, 0);
  g_mutex_unlock (&self->lock);
  return sb_cuda_check (self, status, "cudaStreamWaitEvent", error);
}

gboolean
sb_cuda_make_base (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                   GCancellable *cancellable, GError **error)
{
  const guint width = self->picture.width, height = self->picture.height;
  const SbRect whole = { 0, 0, (int)width, (int)height };
  const gboolean wide = self->picture.depth == 16;
  SbCudaPicture source;
  SbCudaBuffer *made;
  guint back;

  if (!sb_cuda_enter (self, error)
      || !sb_cuda_run_steps (self, start, edits, n_edits, &source, cancellable, error)
      || !take_back (self, &back, error))
    return FALSE;
  /* At 16 bits the result that is not shown has the same size. */
  made = wide ? &self->results[back] : get_spare (self, source.pixels);
  if (!sb_cuda_reserve_picture (self, made, width, height, 16, error)
      || (wide && !sb_cuda_reserve_picture (self, &self->base, width, height, 16, error)))
    return FALSE;
  const SbCudaPicture target = sb_cuda_picture (self, made, 16);
  if (!run_last (self, edits, n_edits, &source, &target, &whole, error) || !finish (self, error))
    {
      cudaStreamSynchronize (self->compute);
      return FALSE;
    }
  if (made != &self->base)
    {
      g_mutex_lock (&self->lock);
      exchange (made, &self->base);
      g_mutex_unlock (&self->lock);
    }
  self->has_base = TRUE;
  drop_surplus (self);
  return TRUE;
}

gboolean
sb_cuda_render (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                SbQuality quality, GCancellable *cancellable, GError **error)
{
  const SbRect whole = { 0, 0, (int)self->picture.width, (int)self->picture.height };
  SbCudaPicture source;
  guint back;

  if (!sb_cuda_enter (self, error) || !take_back (self, &back, error)
      || !sb_cuda_begin_timing (self, SB_CUDA_COMPUTE, error))
    return FALSE;
  const SbCudaPicture target = sb_cuda_picture (self, &self->results[back], self->picture.depth);
  if (!sb_cuda_run_steps (self, start, edits, n_edits, &source, cancellable, error)
      || !run_last (self, edits, n_edits, &source, &target, &whole, error)
      || !sb_cuda_subbands_make (self, &target, error)
      || !sb_cuda_end_timing (self, SB_CUDA_COMPUTE, error) || !finish (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  self->front = (int)back;
  sb_cuda_subbands_take (self);
  g_mutex_unlock (&self->lock);
  return TRUE;
}

gboolean
sb_cuda_render_back (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                     SbCudaPicture *result, GCancellable *cancellable, GError **error)
{
  const SbRect whole = { 0, 0, (int)self->picture.width, (int)self->picture.height };
  SbCudaPicture source;
  guint back;

  if (!sb_cuda_enter (self, error) || !take_back (self, &back, error)
      || !sb_cuda_run_steps (self, start, edits, n_edits, &source, cancellable, error))
    return FALSE;
  *result = sb_cuda_picture (self, &self->results[back], self->picture.depth);
  return run_last (self, edits, n_edits, &source, result, &whole, error);
}

/* In the result that is not shown; where that is too small for `depth`, band after band. */
gboolean
sb_cuda_read (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits, guint depth,
              guint8 *pixels, GCancellable *cancellable, GError **error)
{
  const int width = (int)self->picture.width, height = (int)self->picture.height;
  const gsize stride = sb_cuda_stride (self->picture.width, depth), row = (gsize)width * depth / 2;
  SbCudaPicture source;
  guint back;

  if (!sb_cuda_enter (self, error)
      || !sb_cuda_run_steps (self, start, edits, n_edits, &source, cancellable, error)
      || !take_back (self, &back, error))
    return FALSE;
  const SbCudaBuffer *room = &self->results[back];
  const int rows = (int)MIN (room->bytes / stride, (gsize)height);
  for (int y = 0; y < height; y += rows)
    {
      const SbRect band = { 0, y, width, MIN (rows, height - y) };
      /* Where row 0 would be. */
      const SbCudaPicture target
          = { (guint8 *)room->data - (gsize)y * stride, stride, width, height, (int)depth };
      const SbCudaPicture part = { room->data, stride, width, band.height, (int)depth };
      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !run_last (self, edits, n_edits, &source, &target, &band, error)
          || !sb_cuda_download (self, &part, pixels + (gsize)y * row, error))
        {
          cudaStreamSynchronize (self->compute);
          return FALSE;
        }
    }
  drop_surplus (self);
  return TRUE;
}

gboolean
sb_cuda_read_result (SbBackend *self, guint8 *pixels, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  const SbCudaPicture from = sb_cuda_front (self);
  return sb_cuda_download (self, &from, pixels, error);
}

void
sb_cuda_trim (SbBackend *self)
{
  if (!sb_cuda_enter (self, NULL))
    return;
  sb_cuda_release (&self->steps[0]);
  sb_cuda_release (&self->steps[1]);
  sb_cuda_release (&self->second);
  sb_cuda_release (&self->mask);
  sb_cuda_release (&self->bins);
  self->mask_at = NULL;
  if (!self->has_base)
    sb_cuda_release (&self->base);
}

/* --- Measuring ------------------------------------------------------------------------------- */

static int
compare_floats (const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

/* Into the result that is not shown. */
gboolean
sb_cuda_measure_copy (SbBackend *self, double *ms, GError **error)
{
  const gsize bytes = (gsize)self->picture.width * self->picture.height * self->picture.depth / 2;
  float times[COPIES];
  guint back;

  if (!sb_cuda_enter (self, error) || !take_back (self, &back, error))
    return FALSE;
  /* The first one is not counted. */
  for (int i = -1; i < COPIES; i++)
    if (!sb_cuda_begin_timing (self, SB_CUDA_COMPUTE, error)
        || !sb_cuda_check (self,
                           cudaMemcpyAsync (self->results[back].data, self->original.data, bytes,
                                            cudaMemcpyDeviceToDevice, self->compute),
                           "copy", error)
        || !sb_cuda_end_timing (self, SB_CUDA_COMPUTE, error) || !finish (self, error)
        || !sb_cuda_check (self,
                           cudaEventElapsedTime (&times[MAX (i, 0)],
                                                 self->timers[SB_CUDA_COMPUTE].begin,
                                                 self->timers[SB_CUDA_COMPUTE].end),
                           "copy", error))
      return FALSE;
  qsort (times, COPIES, sizeof *times, compare_floats);
  *ms = times[COPIES / 2];
  return TRUE;
}
