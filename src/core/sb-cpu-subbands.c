/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-subbands.h"
#include "sb-arith.h"
#include "sb-error.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

void
sb_cpu_subbands_init (SbCpuSubbands *subbands, SbParallel *parallel)
{
  *subbands = (SbCpuSubbands){ .parallel = parallel, .energy = -1 };
  g_mutex_init (&subbands->lock);
}

void
sb_cpu_subbands_trim (SbCpuSubbands *subbands)
{
  g_clear_pointer (&subbands->spare, sb_cpu_haar_unref);
  g_clear_pointer (&subbands->spare_preview, sb_cpu_haar_unref);
  sb_cpu_estimate_clear (&subbands->estimate);
}

void
sb_cpu_subbands_clear (SbCpuSubbands *subbands)
{
  sb_cpu_subbands_trim (subbands);
  sb_cpu_haar_unref (subbands->exact);
  sb_cpu_haar_unref (subbands->preview);
  sb_cpu_haar_unref (subbands->pooled);
  g_mutex_clear (&subbands->lock);
}

gboolean
sb_cpu_subbands_are_on (SbCpuSubbands *subbands)
{
  return subbands->choice.levels > 0;
}

/* A transform to fill: the spare one where nobody looks at it and it has the form. */
static SbCpuHaar *
take_spare (SbCpuHaar **spare, guint width, guint height, guint depth, const SbHaarChoice *choice,
            GError **error)
{
  SbCpuHaar *haar = g_steal_pointer (spare);

  if (sb_cpu_haar_fits (haar, width, height, depth, choice))
    return haar;
  sb_cpu_haar_unref (haar);
  return sb_cpu_haar_new (width, height, depth, choice, error);
}

static SbSource
frame_source (const SbCpuFrame *frame)
{
  return (SbSource){
    .format = frame->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = frame->width,
    .height = frame->height,
    .pixels = sb_image_get_pixels (frame->image),
    .stride = sb_image_get_stride (frame->image),
    .opaque = frame->opaque,
  };
}

static SbCpuHaar *
transform (SbCpuSubbands *subbands, const SbHaarChoice *choice, const SbCpuFrame *frame,
           GCancellable *cancellable, GError **error)
{
  const SbSource source = frame_source (frame);
  SbCpuHaar *haar
      = take_spare (&subbands->spare, frame->width, frame->height, frame->depth, choice, error);

  if (haar == NULL || sb_cpu_haar_transform (haar, &source, subbands->parallel, cancellable, error))
    return haar;
  subbands->spare = haar;
  return NULL;
}

gboolean
sb_cpu_subbands_set (SbCpuSubbands *subbands, const SbHaarChoice *choice, const SbCpuFrame *frame,
                     GCancellable *cancellable, GError **error)
{
  SbCpuHaar *haar = NULL;

  if (choice != NULL)
    {
      haar = transform (subbands, choice, frame, cancellable, error);
      if (haar == NULL)
        return FALSE;
    }
  g_mutex_lock (&subbands->lock);
  SbCpuHaar *old[] = { subbands->exact, subbands->preview, subbands->pooled };
  subbands->exact = haar;
  subbands->preview = NULL;
  subbands->pooled = NULL;
  subbands->n_estimated = 0;
  subbands->choice = choice != NULL ? *choice : (SbHaarChoice){ 0 };
  g_mutex_unlock (&subbands->lock);
  for (guint i = 0; i < G_N_ELEMENTS (old); i++)
    sb_cpu_haar_unref (old[i]);
  subbands->energy = -1;
  if (choice == NULL)
    sb_cpu_subbands_trim (subbands);
  return TRUE;
}

SbCpuHaar *
sb_cpu_subbands_make (SbCpuSubbands *subbands, const SbCpuFrame *frame, GCancellable *cancellable,
                      GError **error)
{
  if (!sb_cpu_subbands_are_on (subbands))
    return NULL;
  return transform (subbands, &subbands->choice, frame, cancellable, error);
}

void
sb_cpu_subbands_take (SbCpuSubbands *subbands, SbCpuHaar *haar)
{
  if (haar == NULL)
    return;
  g_mutex_lock (&subbands->lock);
  SbCpuHaar *old = subbands->exact;
  subbands->exact = haar;
  g_mutex_unlock (&subbands->lock);
  sb_cpu_haar_unref (subbands->spare);
  subbands->spare = old;
  subbands->energy = -1;
  sb_cpu_subbands_end_preview (subbands);
}

void
sb_cpu_subbands_end_preview (SbCpuSubbands *subbands)
{
  g_mutex_lock (&subbands->lock);
  SbCpuHaar *old = g_steal_pointer (&subbands->preview);
  SbCpuHaar *pooled = g_steal_pointer (&subbands->pooled);
  subbands->n_estimated = 0;
  g_mutex_unlock (&subbands->lock);
  sb_cpu_haar_unref (pooled);
  if (old == NULL)
    return;
  sb_cpu_haar_unref (subbands->spare_preview);
  subbands->spare_preview = old;
}

/* --- Previews -------------------------------------------------------------------------------- */

static gboolean
is_whole (const SbCpuFrame *frame)
{
  return frame->rect.x == 0 && frame->rect.y == 0
         && (guint)frame->rect.width == sb_haar_side (frame->width, frame->level)
         && (guint)frame->rect.height == sb_haar_side (frame->height, frame->level);
}

/* A row of a level of a pyramid as straight pixels of the frame's depth. */
static void
straight_row (const SbCpuFrame *frame, const SbLevel *level, guint y, guint8 *out)
{
  const guint8 *in = level->pixels + y * level->stride;

  if (level->depth == 8)
    {
      for (gsize i = 0; i < 4 * (gsize)level->width; i++)
        {
          if (frame->depth == 8)
            out[i] = in[i];
          else
            ((guint16 *)(void *)out)[i] = (guint16)(in[i] * 257);
        }
      return;
    }
  for (guint x = 0; x < level->width; x++)
    {
      guint16 pixel[4];

      memcpy (pixel, in + 8 * (gsize)x, sizeof pixel);
      for (guint c = 0; c < 3 && !frame->opaque; c++)
        pixel[c] = sb_unpremultiply (pixel[c], pixel[3]);
      if (frame->depth == 16)
        memcpy (out + 8 * (gsize)x, pixel, sizeof pixel);
      else
        for (guint c = 0; c < 4; c++)
          out[4 * (gsize)x + c] = sb_round_to_8 (pixel[c]);
    }
}

/* The PREVIEW with the EXACT result around it. NULL: out of memory. */
static guint8 *
surround (const SbCpuFrame *frame, const SbCpuFrame *exact, guint width, guint height)
{
  const gsize pixel = frame->depth / 2, stride = width * pixel;
  guint8 *pixels = g_try_malloc (stride * height);
  const SbRect *rect = &frame->rect;

  for (guint y = 0; pixels != NULL && y < height; y++)
    {
      guint8 *row = pixels + y * stride;

      if (frame->level == 0)
        memcpy (row, sb_image_get_pixels (exact->image) + y * stride, stride);
      else
        straight_row (exact, &exact->pyramid.levels[frame->level], y, row);
      if ((int)y >= rect->y && (int)y < rect->y + rect->height)
        memcpy (row + (gsize)rect->x * pixel,
                frame->pixels + (gsize)((int)y - rect->y) * (gsize)rect->width * pixel,
                (gsize)rect->width * pixel);
    }
  return pixels;
}

/* Estimates of the bands that a PREVIEW of this level does not have. */
static gboolean
estimate (SbCpuSubbands *subbands, const SbCpuFrame *frame, const SbCpuStart *start,
          const SbCpuHaar *preview, guint n_levels, SbCpuEstimateFit *fits,
          GCancellable *cancellable, GError **error)
{
  const guint depth = start->picture.format == SB_PIXELS_8 ? 8 : 16;

  if (!sb_cpu_estimate_is_of (&subbands->estimate, &subbands->choice, start))
    {
      /* Of a base the start has another depth, and the spare transform another form. */
      SbCpuHaar *other = NULL;
      SbCpuHaar **spare = depth == frame->depth ? &subbands->spare : &other;
      SbCpuHaar *haar
          = take_spare (spare, frame->width, frame->height, depth, &subbands->choice, error);
      const gboolean done
          = haar != NULL
            && sb_cpu_haar_transform (haar, &start->picture, subbands->parallel, cancellable, error)
            && sb_cpu_estimate_begin (&subbands->estimate, &subbands->choice, start, haar,
                                      subbands->parallel, cancellable, error);
      if (depth == frame->depth)
        subbands->spare = haar;
      else
        sb_cpu_haar_unref (haar);
      if (!done)
        return FALSE;
    }
  return sb_cpu_estimate_fit (&subbands->estimate, start, preview, frame->level, n_levels, fits,
                              subbands->parallel, cancellable, error);
}

void
sb_cpu_subbands_forget (SbCpuSubbands *subbands, const guint8 *pixels)
{
  if (subbands->estimate.of == pixels)
    sb_cpu_estimate_clear (&subbands->estimate);
}

/* Levels of the transform of a PREVIEW: at least one, for its means. */
static guint
preview_levels (const SbHaarChoice *choice, guint level)
{
  return choice->levels > level ? choice->levels - level : 1;
}

gboolean
sb_cpu_subbands_preview (SbCpuSubbands *subbands, const SbCpuFrame *frame, const SbCpuFrame *exact,
                         const SbCpuStart *start, GCancellable *cancellable, GError **error)
{
  if (!sb_cpu_subbands_are_on (subbands))
    return TRUE;

  const SbHaarChoice choice
      = { subbands->choice.channel, preview_levels (&subbands->choice, frame->level) };
  const guint n_estimated
      = MIN (MIN (frame->level, subbands->choice.levels), SB_CPU_ESTIMATE_LEVELS);
  SbCpuEstimateFit fits[SB_CPU_ESTIMATE_BANDS] = { { 0 } };
  SbSource source = {
    .format = frame->depth == 8 ? SB_PIXELS_8 : SB_PIXELS_16,
    .width = sb_haar_side (frame->width, frame->level),
    .height = sb_haar_side (frame->height, frame->level),
    .pixels = frame->pixels,
    .stride = (gsize)frame->rect.width * (frame->depth / 2),
    .opaque = frame->opaque,
  };
  g_autofree guint8 *pixels = NULL;

  if (!is_whole (frame))
    {
      /* So small a picture that it has no such level. */
      if (frame->level > exact->pyramid.n_levels)
        {
          sb_cpu_subbands_end_preview (subbands);
          return TRUE;
        }
      pixels = surround (frame, exact, source.width, source.height);
      if (pixels == NULL)
        {
          g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                               _ ("There is not enough memory for the subbands"));
          return FALSE;
        }
      source.pixels = pixels;
      source.stride = (gsize)source.width * (frame->depth / 2);
    }

  SbCpuHaar *haar = take_spare (&subbands->spare_preview, source.width, source.height, frame->depth,
                                &choice, error);
  if (haar == NULL)
    return FALSE;
  if (!sb_cpu_haar_transform (haar, &source, subbands->parallel, cancellable, error)
      || (n_estimated > 0
          && !estimate (subbands, frame, start, haar, n_estimated, fits, cancellable, error)))
    {
      subbands->spare_preview = haar;
      return FALSE;
    }
  g_mutex_lock (&subbands->lock);
  SbCpuHaar *old = subbands->preview;
  SbCpuHaar *old_pooled = subbands->pooled;
  subbands->preview = haar;
  subbands->level = frame->level;
  subbands->pooled = n_estimated > 0 ? sb_cpu_haar_ref (subbands->estimate.pooled) : NULL;
  subbands->n_estimated = n_estimated;
  memcpy (subbands->fits, fits, sizeof fits);
  g_mutex_unlock (&subbands->lock);
  sb_cpu_haar_unref (old_pooled);
  if (old != NULL)
    {
      sb_cpu_haar_unref (subbands->spare_preview);
      subbands->spare_preview = old;
    }
  return TRUE;
}

/* --- What is shown --------------------------------------------------------------------------- */

/* What is seen now, with references to what it is in. */
typedef struct
{
  SbHaarBands set;
  SbCpuHaarStand stands[1 + 3 * SB_HAAR_MAX_LEVELS];
  guint n_estimated;
  SbCpuHaar *held[3];
} Seen;

/* FALSE: there are none. */
static gboolean
see (SbCpuSubbands *subbands, Seen *seen)
{
  SbCpuEstimateFit fits[SB_CPU_ESTIMATE_BANDS];

  g_mutex_lock (&subbands->lock);
  const gboolean on = subbands->exact != NULL;
  const guint level = subbands->level;
  seen->held[0] = on ? sb_cpu_haar_ref (subbands->exact) : NULL;
  seen->held[1] = on && subbands->preview != NULL ? sb_cpu_haar_ref (subbands->preview) : NULL;
  seen->held[2] = on && subbands->pooled != NULL ? sb_cpu_haar_ref (subbands->pooled) : NULL;
  seen->n_estimated = subbands->n_estimated;
  memcpy (fits, subbands->fits, sizeof fits);
  g_mutex_unlock (&subbands->lock);
  if (!on)
    return FALSE;

  SbHaarBands *set = &seen->set;
  const SbCpuHaar *preview = seen->held[1], *pooled = seen->held[2];
  *set = seen->held[0]->set;
  for (guint n = 0; n < sb_haar_n_bands (set->choice.levels); n++)
    seen->stands[n] = (SbCpuHaarStand){ 0, 1, 0 };
  /* Coarse bands come first in both; of one that has no coarse bands the means are to be had. */
  if (preview != NULL && set->choice.levels > level)
    for (guint n = 0; n < sb_haar_n_bands (preview->set.choice.levels); n++)
      set->planes[n] = preview->set.planes[n];
  else if (preview != NULL)
    {
      set->planes[0] = preview->set.planes[0];
      seen->stands[0].shift = level + 1 - set->choice.levels;
    }
  for (guint l = 1; pooled != NULL && l <= seen->n_estimated; l++)
    for (guint k = 0; k < 3; k++)
      {
        const SbHaarBand band = { l, (SbHaarOrientation)(SB_HAAR_H + k) };
        const guint n = sb_haar_band_index (set->choice.levels, band);

        const SbCpuEstimateFit *fit = &fits[3 * (l - 1) + k];
        const SbCpuHaar *from = fit->coarse ? preview : pooled;
        const SbHaarBand pattern = { fit->coarse ? 1 : l, band.orientation };

        set->planes[n] = from->set.planes[sb_haar_band_index (from->set.choice.levels, pattern)];
        seen->stands[n] = (SbCpuHaarStand){ fit->coarse ? level + 1 - l : SB_CPU_ESTIMATE_SHIFT,
                                            fit->scale, fit->offset };
      }
  return TRUE;
}

static void
release (Seen *seen)
{
  for (guint i = 0; i < G_N_ELEMENTS (seen->held); i++)
    sb_cpu_haar_unref (seen->held[i]);
}

static gboolean
off (GError **error)
{
  g_set_error_literal (error, SB_ERROR, SB_ERROR_INVALID, _ ("No subbands are made"));
  return FALSE;
}

gboolean
sb_cpu_subbands_show (SbCpuSubbands *subbands, const SbView *view, guint8 *rgba, gsize stride,
                      SbParallel *parallel, GError **error)
{
  Seen seen;

  if (!see (subbands, &seen))
    return off (error);
  const gboolean done
      = sb_cpu_haar_show_stands (view, &seen.set, seen.stands, rgba, stride, parallel, error);
  release (&seen);
  return done;
}

guint
sb_cpu_subbands_estimated (SbCpuSubbands *subbands)
{
  g_mutex_lock (&subbands->lock);
  const guint n = subbands->n_estimated;
  g_mutex_unlock (&subbands->lock);
  return n;
}

gboolean
sb_cpu_subbands_pick (SbCpuSubbands *subbands, SbHaarBand band, guint column, guint row,
                      float *value)
{
  gboolean inside = FALSE;
  Seen seen;

  if (!see (subbands, &seen))
    return FALSE;

  const SbHaarBands *set = &seen.set;
  if (band.level >= 1 && band.level <= set->choice.levels
      && (band.orientation != SB_HAAR_A || band.level == set->choice.levels))
    {
      const guint n = sb_haar_band_index (set->choice.levels, band);
      const SbHaarPlane *plane = &set->planes[n];

      inside = seen.stands[n].shift == 0 && column < plane->columns && row < plane->rows;
      if (inside)
        *value = plane->values[row * plane->stride + column];
    }
  release (&seen);
  return inside;
}

/* --- Measures -------------------------------------------------------------------------------- */

/* Whether all of it was done. */
static gboolean
finish (gboolean enough_memory, GCancellable *cancellable, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (!enough_memory)
    g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                         _ ("There is not enough memory to measure the subbands"));
  return enough_memory;
}

/* Makes sure that the totals of the EXACT result's bands are there. */
static gboolean
have_totals (SbCpuSubbands *subbands, GCancellable *cancellable, GError **error)
{
  if (subbands->energy >= 0)
    return TRUE;

  const double energy = sb_haar_bands_totals (&subbands->exact->set, subbands->totals,
                                              subbands->parallel, cancellable);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  subbands->energy = energy;
  return TRUE;
}

gboolean
sb_cpu_subbands_measure (SbCpuSubbands *subbands, SbHaarBand band, SbHaarStatistics *statistics,
                         GCancellable *cancellable, GError **error)
{
  if (subbands->exact == NULL)
    return off (error);

  const SbHaarBands *set = &subbands->exact->set;
  const guint place = sb_haar_band_index (set->choice.levels, band);

  return have_totals (subbands, cancellable, error)
         && finish (sb_haar_plane_measure (&set->planes[place], band.level,
                                           &subbands->totals[place], subbands->energy, statistics,
                                           subbands->parallel, cancellable),
                    cancellable, error);
}

gboolean
sb_cpu_subbands_summarize (SbCpuSubbands *subbands, const SbCpuFrame *frame, SbHaarSummary *summary,
                           GCancellable *cancellable, GError **error)
{
  if (subbands->exact == NULL)
    return off (error);

  const SbHaarBands *set = &subbands->exact->set;
  const guint finest = sb_haar_band_index (set->choice.levels, (SbHaarBand){ 1, SB_HAAR_D });
  const SbSource source = frame_source (frame);

  if (!have_totals (subbands, cancellable, error))
    return FALSE;
  const gboolean done = sb_haar_plane_noise (&set->planes[finest], &subbands->totals[finest],
                                             &summary->noise, subbands->parallel, cancellable);
  summary->reconstruction_error
      = done ? sb_cpu_haar_error (subbands->exact, &source, subbands->parallel, cancellable) : -1;
  return finish (done && summary->reconstruction_error >= 0, cancellable, error);
}
