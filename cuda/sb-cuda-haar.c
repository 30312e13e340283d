/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-bands.h"
#include "sb-cuda-private.h"

#include "sb-error.h"
#include "sb-view-range.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two transforms, one shown and one being made, as with results. Each lies in one buffer, whose
 * bands are laid out again whenever the choice has changed. */

/* Bins of width 1 that are counted on the device; of a wider range there are so few coefficients
 * that the host sorts them. */
#define MAX_BINS (1 << 22)

/* How `measures` is shared out. */
typedef struct
{
  SbCudaSums sums[SB_CUDA_HAAR_MAX_BANDS], parts[SB_CUDA_HAAR_MAX_BANDS * SB_CUDA_SUM_BLOCKS];
  double deviations[SB_CUDA_SUM_BLOCKS], entropies[SB_CUDA_SUM_BLOCKS];
  unsigned int plot[SB_HAAR_BINS];
  float middle[2], error;
  unsigned long long counts[3];
  guint8 median[SB_CUDA_MEDIAN_ROOM] __attribute__ ((aligned (16)));
} Measures;

static guint
n_bands_of (guint levels)
{
  return 1 + 3 * levels;
}

static guint
band_index (guint levels, SbHaarBand band)
{
  if (band.orientation == SB_HAAR_A)
    return 0;
  return 1 + 3 * (levels - band.level) + (guint)(band.orientation - SB_HAAR_H);
}

static guint
level_of (guint levels, guint index)
{
  return index == 0 ? levels : levels - (index - 1) / 3;
}

/* --- Making ---------------------------------------------------------------------------------- */

static gboolean
off (GError **error)
{
  g_set_error_literal (error, SB_ERROR, SB_ERROR_INVALID, _ ("No subbands are made"));
  return FALSE;
}

static guint
get_back (SbBackend *self)
{
  return self->haar_front == 0 ? 1 : 0;
}

/* Puts the transform of a picture on `compute`, into the one that is not shown. */
static gboolean
transform (SbBackend *self, const SbCudaPicture *picture, const SbHaarChoice *choice,
           GError **error)
{
  const guint back = get_back (self);
  SbCudaBuffer *buffer = &self->subbands[back];
  SbCudaHaar *haar = &self->haar[back];

  *haar = (SbCudaHaar){ .width = picture->width,
                        .height = picture->height,
                        .levels = (int)choice->levels,
                        .channel = (int)choice->channel };
  const gsize bytes = sb_cuda_haar_lay_out (haar, NULL) * sizeof (float);
  if (buffer->bytes < bytes
      && (!sb_cuda_reserve (self, buffer, bytes, error)
          || !sb_cuda_check (self, cudaMemsetAsync (buffer->data, 0, bytes, self->compute),
                             "cudaMemset", error)))
    return FALSE;
  sb_cuda_haar_lay_out (haar, buffer->data);
  return sb_cuda_check (self, sb_cuda_haar_forward (picture, haar, self->compute), "subbands",
                        error);
}

/* What may still be shown of the transform that is about to be written has an end on the device. */
static gboolean
wait_for_shows (SbBackend *self, GError **error)
{
  g_mutex_lock (&self->lock);
  const cudaError_t status = cudaStreamWaitEvent (self->compute, self->shown, 0);
  g_mutex_unlock (&self->lock);
  return sb_cuda_check (self, status, "cudaStreamWaitEvent", error);
}

static gboolean
finish (SbBackend *self, GError **error)
{
  return sb_cuda_check (self, cudaStreamSynchronize (self->compute), "subbands", error);
}

gboolean
sb_cuda_subbands_make (SbBackend *self, const SbCudaPicture *result, GError **error)
{
  return self->choice.levels == 0 || transform (self, result, &self->choice, error);
}

void
sb_cuda_subbands_take (SbBackend *self)
{
  if (self->choice.levels == 0)
    return;
  self->haar_front = (int)get_back (self);
  self->summed = FALSE;
}

void
sb_cuda_subbands_forget (SbBackend *self)
{
  self->choice = (SbHaarChoice){ 0 };
  self->haar_front = -1;
  self->summed = FALSE;
  sb_cuda_release (&self->subbands[0]);
  sb_cuda_release (&self->subbands[1]);
}

gboolean
sb_cuda_set_subbands (SbBackend *self, const SbHaarChoice *choice, GCancellable *cancellable,
                      GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  if (choice == NULL)
    {
      /* Freeing waits for the shows that are under way. */
      g_mutex_lock (&self->lock);
      sb_cuda_subbands_forget (self);
      g_mutex_unlock (&self->lock);
      return TRUE;
    }

  const SbCudaPicture front = sb_cuda_front (self);
  if (!wait_for_shows (self, error) || !sb_cuda_begin_timing (self, SB_CUDA_COMPUTE, error)
      || !transform (self, &front, choice, error)
      || !sb_cuda_end_timing (self, SB_CUDA_COMPUTE, error) || !finish (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  self->choice = *choice;
  sb_cuda_subbands_take (self);
  g_mutex_unlock (&self->lock);
  return TRUE;
}

gboolean
sb_cuda_read_subbands (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                       const SbHaarChoice *choice, float *const *bands, GCancellable *cancellable,
                       GError **error)
{
  SbCudaPicture result;

  if (!sb_cuda_render_back (self, start, edits, n_edits, &result, cancellable, error)
      || !wait_for_shows (self, error) || !transform (self, &result, choice, error))
    return FALSE;
  const SbCudaHaar *haar = &self->haar[get_back (self)];
  gboolean done = TRUE;
  for (guint i = 0; done && i < n_bands_of (choice->levels); i++)
    {
      const SbCudaPlane *plane = &haar->bands[i];
      /* A float is as large as a pixel of 8 bits. */
      const SbCudaPicture from
          = { plane->values, plane->stride * sizeof (float), plane->columns, plane->rows, 8 };
      done = !g_cancellable_set_error_if_cancelled (cancellable, error)
             && sb_cuda_download (self, &from, (guint8 *)bands[i], error);
    }
  if (!done)
    cudaStreamSynchronize (self->compute);
  if (self->choice.levels == 0)
    sb_cuda_release (&self->subbands[get_back (self)]);
  return done;
}

/* --- Measuring ------------------------------------------------------------------------------- */

static Measures *
get_measures (SbBackend *self, GError **error)
{
  if (self->measures.bytes < sizeof (Measures)
      && (!sb_cuda_reserve (self, &self->measures, sizeof (Measures), error)
          || !sb_cuda_check (
              self, cudaMemsetAsync (self->measures.data, 0, sizeof (Measures), self->compute),
              "cudaMemset", error)))
    return NULL;
  return self->measures.data;
}

/* A little from the device; waits for it. */
static gboolean
fetch (SbBackend *self, void *to, const void *from, gsize bytes, GError **error)
{
  return sb_cuda_check (self,
                        cudaMemcpyAsync (to, from, bytes, cudaMemcpyDeviceToHost, self->compute),
                        "measure", error)
         && finish (self, error);
}

static int
compare_integers (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return (x > y) - (x < y);
}

/* Of a band whose values are spread too widely to be counted. */
static gboolean
sorted_entropy (SbBackend *self, const SbCudaPlane *plane, double scale, double *entropy,
                GError **error)
{
  const gsize count = (gsize)plane->columns * (gsize)plane->rows;
  const SbCudaPicture from
      = { plane->values, plane->stride * sizeof (float), plane->columns, plane->rows, 8 };
  g_autofree float *values = g_try_new (float, count);
  g_autofree gint64 *integers = g_try_new (gint64, count);

  if (values == NULL || integers == NULL)
    {
      g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                           _ ("There is not enough memory to measure the subbands"));
      return FALSE;
    }
  if (!sb_cuda_download (self, &from, (guint8 *)values, error))
    return FALSE;
  for (gsize i = 0; i < count; i++)
    integers[i] = (gint64)floor (values[i] * scale + 0.5);
  qsort (integers, count, sizeof *integers, compare_integers);
  *entropy = 0;
  for (gsize first = 0, end; first < count; first = end)
    {
      for (end = first + 1; end < count && integers[end] == integers[first]; end++)
        ;
      const double part = (double)(end - first) / (double)count;
      *entropy -= part * log2 (part);
    }
  return TRUE;
}

static double
total_of (const double *parts)
{
  double total = 0;

  for (guint i = 0; i < SB_CUDA_SUM_BLOCKS; i++)
    total += parts[i];
  return total;
}

gboolean
sb_cuda_measure_band (SbBackend *self, SbHaarBand band, SbHaarStatistics *statistics,
                      GCancellable *cancellable, GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  if (self->haar_front < 0)
    return off (error);

  const SbCudaHaar *haar = &self->haar[self->haar_front];
  const guint levels = self->choice.levels, index = band_index (levels, band);
  const SbCudaPlane *plane = &haar->bands[index];
  const guint64 count = (guint64)plane->columns * (guint64)plane->rows;
  Measures *measures = get_measures (self, error);
  if (measures == NULL)
    return FALSE;
  if (!self->summed)
    {
      if (!sb_cuda_check (self,
                          sb_cuda_haar_sums (haar, measures->sums, measures->parts, self->compute),
                          "measure", error)
          || !fetch (self, self->sums, measures->sums, n_bands_of (levels) * sizeof *self->sums,
                     error))
        return FALSE;
      self->summed = TRUE;
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  const SbCudaSums *sums = &self->sums[index];
  double total = 0;
  for (guint i = 0; i < n_bands_of (levels); i++)
    total += self->sums[i].squares;
  *statistics = (SbHaarStatistics){
    .count = count,
    .mean = sums->sum / (double)count,
    .energy = sums->squares,
    .share = total > 0 ? sums->squares / total : 0,
    .near_zero = (double)sums->near_zero / (double)count,
    .bin_width = 1.0 / 16,
  };
  while (127 * statistics->bin_width < 3 * sqrt (sums->squares / (double)count))
    statistics->bin_width *= 2;

  const double lowest = floor (sums->low + 0.5), n_bins = floor (sums->high + 0.5) - lowest + 1;
  const gboolean counted = n_bins <= MAX_BINS;
  SbCudaCounts counts = {
    .band = *plane,
    .scale = ldexpf (1, (int)level_of (levels, index)),
    .mean = statistics->mean,
    .bin_width = statistics->bin_width,
    .first = counted ? (int)lowest : 0,
    .n_bins = counted ? (int)n_bins : 0,
    .plot = measures->plot,
    .deviations = measures->deviations,
    .entropies = measures->entropies,
  };
  if (counted)
    {
      /* So that a drag does not allocate time and again. */
      gsize room = 1 << 16;
      while (room < (gsize)n_bins)
        room *= 2;
      if (!sb_cuda_reserve (self, &self->bins, room * sizeof (unsigned int), error))
        return FALSE;
      counts.bins = self->bins.data;
    }
  struct
  {
    double deviations[SB_CUDA_SUM_BLOCKS], entropies[SB_CUDA_SUM_BLOCKS];
    unsigned int plot[SB_HAAR_BINS];
  } made;
  if (!sb_cuda_check (self, sb_cuda_haar_counts (&counts, self->compute), "measure", error)
      || !fetch (self, &made, measures->deviations, sizeof made, error))
    return FALSE;
  statistics->deviation = sqrt (total_of (made.deviations) / (double)count);
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    statistics->histogram[i] = made.plot[i];
  statistics->entropy = total_of (made.entropies);
  return counted || sorted_entropy (self, plane, counts.scale, &statistics->entropy, error);
}

gboolean
sb_cuda_summarize_subbands (SbBackend *self, SbHaarSummary *summary, GCancellable *cancellable,
                            GError **error)
{
  if (!sb_cuda_enter (self, error))
    return FALSE;
  if (self->haar_front < 0)
    return off (error);

  const SbCudaHaar *haar = &self->haar[self->haar_front];
  const SbHaarBand finest = { 1, SB_HAAR_D };
  const SbCudaPicture front = sb_cuda_front (self);
  Measures *measures = get_measures (self, error);
  float made[3];
  if (measures == NULL
      || !sb_cuda_check (
          self,
          sb_cuda_haar_median (&haar->bands[band_index (self->choice.levels, finest)],
                               measures->middle, measures->median, self->compute),
          "measure", error)
      || !sb_cuda_check (self, sb_cuda_haar_error (&front, haar, &measures->error, self->compute),
                         "measure", error)
      || !fetch (self, made, measures->middle, sizeof made, error))
    return FALSE;
  summary->noise = ((double)made[0] + (double)made[1]) / 2 * 2 / 0.6745;
  summary->reconstruction_error = made[2];
  return TRUE;
}

gboolean
sb_cuda_pick_coefficient (SbBackend *self, SbHaarBand band, guint column, guint row, float *value)
{
  gboolean done = FALSE;

  if (!sb_cuda_enter (self, NULL))
    return FALSE;
  g_mutex_lock (&self->lock);
  const guint levels = self->choice.levels;
  if (self->haar_front >= 0 && band.level >= 1 && band.level <= levels
      && (band.orientation != SB_HAAR_A || band.level == levels))
    {
      const SbCudaPlane *plane = &self->haar[self->haar_front].bands[band_index (levels, band)];
      done = column < (guint)plane->columns && row < (guint)plane->rows
             && sb_cuda_check (self,
                               cudaMemcpyAsync (value, plane->values + row * plane->stride + column,
                                                sizeof *value, cudaMemcpyDeviceToHost,
                                                self->display),
                               "pick", NULL)
             && sb_cuda_check (self, cudaStreamSynchronize (self->display), "pick", NULL);
    }
  g_mutex_unlock (&self->lock);
  return done;
}

/* --- The edit -------------------------------------------------------------------------------- */

static gboolean
describe (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
          const SbCudaPicture *target, SbCudaBands *bands, GError **error)
{
  const guint side = MAX (self->picture.width, self->picture.height);
  guint deepest = 1;

  while (deepest < SB_CUDA_HAAR_MAX_LEVELS && (side - 1) >> deepest > 0)
    deepest++;
  *bands = (SbCudaBands){
    .source = *source,
    .target = *target,
    .opaque = self->opaque,
    .luma = edit->values[SB_BANDS_LUMA] != 0,
    .width = source->width,
    .height = source->height,
    .levels = (int)MIN ((guint)edit->values[SB_BANDS_LEVELS], deepest),
    .hard = (int)edit->values[SB_BANDS_RULE] == SB_BANDS_HARD,
    .gain_a = (float)edit->values[SB_BANDS_GAIN_A],
  };
  for (guint level = 1; level <= (guint)bands->levels; level++)
    {
      bands->threshold[level - 1] = sb_bands_threshold (edit, level);
      for (guint o = 1; o <= 3; o++)
        bands->gain[level - 1][o - 1] = sb_bands_gain (edit, level, o);
    }
  const gsize bytes
      = sb_cuda_bands_room (source->width, source->height, bands->levels) * sizeof (float);
  if (bytes > self->deep.bytes
      && (!sb_cuda_reserve (self, &self->deep, bytes, error)
          || !sb_cuda_check (self, cudaMemsetAsync (self->deep.data, 0, bytes, self->compute),
                             "cudaMemset", error)))
    return FALSE;
  bands->room = bytes > 0 ? self->deep.data : NULL;
  return TRUE;
}

gboolean
sb_cuda_bands_edit (SbBackend *self, const SbEdit *edit, const SbCudaPicture *source,
                    const SbCudaPicture *target, const SbRect *rect, const guint16 *mask,
                    GError **error)
{
  SbCudaBands bands;

  if (!describe (self, edit, source, target, &bands, error))
    return FALSE;
  bands.x = rect->x;
  bands.y = rect->y;
  bands.width = rect->width;
  bands.height = rect->height;
  bands.mask = mask;
  bands.mask_stride = sb_cuda_mask_stride (self->picture.width);
  return sb_cuda_check (self, sb_cuda_bands (&bands, self->compute), "bands", error);
}

gboolean
sb_cuda_measure_edit (SbBackend *self, SbStart start, const SbEdit *edits, guint n_edits,
                      SbBandsMeasure *measure, GCancellable *cancellable, GError **error)
{
  const double samples = 3.0 * self->picture.width * self->picture.height;
  const double peak = self->picture.depth == 8 ? 255 : 65535;
  SbCudaPicture source;
  SbCudaBands bands;
  unsigned long long counts[3];

  if (!sb_cuda_enter (self, error)
      || !sb_cuda_run_steps (self, start, edits, n_edits, &source, cancellable, error))
    return FALSE;
  const SbCudaPicture front = sb_cuda_front (self);
  Measures *measures = get_measures (self, error);
  if (measures == NULL || !describe (self, &edits[n_edits - 1], &source, &front, &bands, error)
      || !sb_cuda_check (self, sb_cuda_bands_count (&bands, measures->counts, self->compute),
                         "measure", error)
      || !sb_cuda_check (
          self, sb_cuda_squared_error (&source, &front, measures->counts + 2, self->compute),
          "measure", error)
      || !fetch (self, counts, measures->counts, sizeof counts, error))
    return FALSE;
  measure->kept = counts[0] > 0 ? (double)counts[1] / (double)counts[0] : 1;
  measure->psnr = counts[2] > 0 ? 10 * log10 (peak * peak * samples / (double)counts[2]) : INFINITY;
  return TRUE;
}

/* --- Showing --------------------------------------------------------------------------------- */

/* One band's place, as sb_haar_mosaic() has it; x and y: the size of all that is coarser. */
static void
place (const SbCudaHaar *haar, SbHaarLayout layout, guint index, int x, int y, SbCudaCell *cell)
{
  const SbCudaPlane *plane = &haar->bands[index];
  const guint level = level_of ((guint)haar->levels, index);
  const guint orientation = index == 0 ? SB_HAAR_A : SB_HAAR_H + (index - 1) % 3;

  *cell = (SbCudaCell){ .values = plane->values,
                        .stride = (int)plane->stride,
                        .columns = plane->columns,
                        .rows = plane->rows,
                        .width = plane->columns,
                        .height = plane->rows,
                        .scale = 1,
                        .means = index == 0 };
  if (layout == SB_HAAR_GRID)
    {
      const int width = (haar->width + 1) / 2, height = (haar->height + 1) / 2;
      cell->scale = 1 << (level - 1);
      cell->x = (int)orientation * (width + SB_HAAR_GRID_GAP);
      cell->y = (int)(level - 1) * (height + SB_HAAR_GRID_GAP);
      cell->width = MIN (plane->columns * cell->scale, width);
      cell->height = MIN (plane->rows * cell->scale, height);
      return;
    }
  cell->x = orientation == SB_HAAR_V || orientation == SB_HAAR_D ? x : 0;
  cell->y = orientation == SB_HAAR_H || orientation == SB_HAAR_D ? y : 0;
}

gboolean
sb_cuda_subbands_show (SbBackend *self, const SbView *view, const SbCudaView *v, void *rgba,
                       gsize stride, GError **error)
{
  if (self->haar_front < 0)
    return off (error);

  const SbCudaHaar *haar = &self->haar[self->haar_front];
  const double sample = (self->picture.depth == 16 ? 1 / 257.0 : 1.0)
                        * (self->choice.channel == SB_HAAR_LIGHTNESS ? 0.5 : 1.0);
  SbCudaMosaic mosaic = { .display = (int)view->look.display,
                          .logarithmic = view->look.logarithmic,
                          .dark = view->look.dark };
  int x = haar->bands[0].columns, y = haar->bands[0].rows;

  for (guint i = 0; i < n_bands_of ((guint)haar->levels); i++)
    {
      const guint level = level_of ((guint)haar->levels, i);
      SbCudaCell cell;
      place (haar, view->look.layout, i, x, y, &cell);
      cell.reduced = view->zoom * cell.scale < 1;
      cell.factor
          = (float)(cell.means ? sample : sample * ldexp (view->look.gain / 255, (int)level));
      sb_view_range (view->x, view->zoom, view->width, cell.x, cell.x + cell.width, &cell.left,
                     &cell.right);
      sb_view_range (view->y, view->zoom, view->height, cell.y, cell.y + cell.height, &cell.top,
                     &cell.bottom);
      if (cell.left < cell.right && cell.top < cell.bottom)
        mosaic.cells[mosaic.n_cells++] = cell;
      if (i > 0 && i % 3 == 0)
        {
          x += haar->bands[i].columns;
          y += haar->bands[i].rows;
        }
    }
  return sb_cuda_check (self, sb_cuda_show_mosaic (&mosaic, v, rgba, stride, self->display), "show",
                        error);
}
