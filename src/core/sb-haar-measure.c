/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-haar-private.h"

#include <math.h>
#include <string.h>

/* Rows are taken in blocks of a size that does not depend on the threads, and what the blocks give
 * is added up in their order: every machine gets the same sums. */
#define BLOCK 65536 /* coefficients */
#define LANES 8

/* So many counters at most for each coefficient; beyond, sorting is cheaper than memory. */
#define SPARSE 4

/* Added before a number is cut to an integer, so that it is rounded down below zero too. */
#define OFFSET 1099511627776.0 /* 2^40 */

typedef double Lanes __attribute__ ((vector_size (LANES * sizeof (double))));

typedef struct
{
  const SbHaarPlane *plane;
  float scale; /* to the orthonormal */
  guint rows;  /* of a block */
  guint n_blocks;
  SbParallel *parallel;
  GCancellable *cancellable;

  /* For each block. */
  double *sums, *squares;
  float *low, *high;
  guint64 *near_zero;

  double mean;
  double inverse_width;
  gint64 first;  /* the integer of bins[0] */
  guint32 *bins; /* n_bins for each thread; NULL: not counted */
  gsize n_bins;
  guint32 (*plot)[SB_HAAR_BINS]; /* for each thread */
} Pass;

static guint
n_threads (const Pass *pass)
{
  return pass->parallel != NULL ? sb_parallel_get_n_threads (pass->parallel) : 1;
}

static void
pass_init (Pass *pass, const SbHaarPlane *plane, guint level, SbParallel *parallel,
           GCancellable *cancellable)
{
  *pass = (Pass){ .plane = plane, .parallel = parallel, .cancellable = cancellable };
  pass->scale = ldexpf (1, (int)level);
  pass->rows = MAX (BLOCK / plane->columns, 1);
  pass->n_blocks = (plane->rows + pass->rows - 1) / pass->rows;
}

static void
run (Pass *pass, SbParallelFunc func)
{
  if (pass->parallel != NULL)
    sb_parallel_run (pass->parallel, pass->n_blocks, func, pass, pass->cancellable);
  else
    for (guint i = 0; i < pass->n_blocks; i++)
      func (i, 0, pass);
}

/* The rows of a block. */
static void
block_rows (const Pass *pass, gsize block, guint *from, guint *to)
{
  *from = (guint)block * pass->rows;
  *to = MIN (*from + pass->rows, pass->plane->rows);
}

static double
sum_lanes (const Lanes *lanes)
{
  double sum = 0;

  for (guint i = 0; i < LANES; i++)
    sum += (*lanes)[i];
  return sum;
}

static inline void
load (const float *values, float scale, Lanes *x)
{
  for (guint k = 0; k < LANES; k++)
    (*x)[k] = (double)values[k] * scale;
}

/* --- Passes ---------------------------------------------------------------------------------- */

static void
square_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  Lanes squares = { 0 };
  double rest = 0;
  guint from, to;

  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    {
      const float *row = pass->plane->values + j * pass->plane->stride;
      guint i = 0;

      for (; i + LANES <= pass->plane->columns; i += LANES)
        {
          Lanes x;
          load (row + i, pass->scale, &x);
          squares += x * x;
        }
      for (; i < pass->plane->columns; i++)
        {
          const double x = (double)row[i] * pass->scale;
          rest += x * x;
        }
    }
  pass->squares[block] = sum_lanes (&squares) + rest;
}

static void
sum_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  Lanes sums = { 0 };
  double rest = 0;
  float low = G_MAXFLOAT, high = -G_MAXFLOAT;
  guint64 near_zero = 0;
  guint from, to;

  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    {
      const float *row = pass->plane->values + j * pass->plane->stride;
      guint i = 0;

      for (; i + LANES <= pass->plane->columns; i += LANES)
        {
          Lanes x;
          load (row + i, pass->scale, &x);
          sums += x;
        }
      for (; i < pass->plane->columns; i++)
        rest += (double)row[i] * pass->scale;
      for (i = 0; i < pass->plane->columns; i++)
        {
          const float x = row[i] * pass->scale;

          low = x < low ? x : low;
          high = x > high ? x : high;
          near_zero += fabsf (x) < 0.5f;
        }
    }
  pass->sums[block] = sum_lanes (&sums) + rest;
  pass->low[block] = low;
  pass->high[block] = high;
  pass->near_zero[block] = near_zero;
}

static void
count_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  guint32 *bins = pass->bins != NULL ? pass->bins + thread * pass->n_bins : NULL;
  guint32 *plot = pass->plot[thread];
  double deviation = 0;
  guint from, to;

  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    {
      const float *row = pass->plane->values + j * pass->plane->stride;

      for (guint i = 0; i < pass->plane->columns; i++)
        {
          const double x = (double)row[i] * pass->scale, off = x - pass->mean;
          const gint64 bin = (gint64)(x * pass->inverse_width + (OFFSET + 127.5)) - (gint64)OFFSET;

          deviation += off * off;
          plot[CLAMP (bin, 0, SB_HAAR_BINS - 1)]++;
          if (bins != NULL)
            bins[(gint64)(x + (OFFSET + 0.5)) - (gint64)OFFSET - pass->first]++;
        }
    }
  pass->sums[block] = deviation;
}

static double
total_of (const double *sums, guint n)
{
  double total = 0;

  for (guint i = 0; i < n; i++)
    total += sums[i];
  return total;
}

double
sb_haar_plane_energy (const SbHaarPlane *plane, guint level, SbParallel *parallel,
                      GCancellable *cancellable)
{
  Pass pass;

  pass_init (&pass, plane, level, parallel, cancellable);
  g_autofree double *squares = g_new0 (double, pass.n_blocks);
  pass.squares = squares;
  run (&pass, square_block);
  return total_of (squares, pass.n_blocks);
}

/* --- Entropy --------------------------------------------------------------------------------- */

static int
compare_integers (gconstpointer a, gconstpointer b)
{
  const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return (x > y) - (x < y);
}

static void
add_bits (double *entropy, guint64 n, double count)
{
  const double part = (double)n / count;

  if (n > 0)
    *entropy -= part * log2 (part);
}

static gboolean
sorted_entropy (const Pass *pass, double *entropy)
{
  const SbHaarPlane *plane = pass->plane;
  const gsize count = (gsize)plane->columns * plane->rows;
  g_autofree gint64 *integers = g_try_new (gint64, count);
  gsize n = 0;

  if (integers == NULL)
    return FALSE;
  for (guint j = 0; j < plane->rows; j++)
    for (guint i = 0; i < plane->columns; i++)
      integers[n++]
          = (gint64)floor ((double)plane->values[j * plane->stride + i] * pass->scale + 0.5);
  qsort (integers, count, sizeof *integers, compare_integers);
  *entropy = 0;
  for (gsize from = 0; from < count; from = n)
    {
      n = from + 1;
      while (n < count && integers[n] == integers[from])
        n++;
      add_bits (entropy, n - from, (double)count);
    }
  return TRUE;
}

static double
counted_entropy (const Pass *pass, double count)
{
  double entropy = 0;

  for (gsize i = 0; i < pass->n_bins; i++)
    {
      guint64 n = 0;

      for (guint t = 0; t < n_threads (pass); t++)
        n += pass->bins[t * pass->n_bins + i];
      add_bits (&entropy, n, count);
    }
  return entropy;
}

/* --- All of it ------------------------------------------------------------------------------- */

gboolean
sb_haar_plane_measure (const SbHaarPlane *plane, guint level, double total,
                       SbHaarStatistics *statistics, SbParallel *parallel,
                       GCancellable *cancellable)
{
  const guint64 count = (guint64)plane->columns * plane->rows;
  Pass pass;

  pass_init (&pass, plane, level, parallel, cancellable);
  g_autofree double *sums = g_new0 (double, pass.n_blocks);
  g_autofree float *low = g_new0 (float, pass.n_blocks), *high = g_new0 (float, pass.n_blocks);
  g_autofree guint64 *near_zero = g_new0 (guint64, pass.n_blocks);
  g_autofree guint32 *plot = g_new0 (guint32, n_threads (&pass) * SB_HAAR_BINS);
  pass.sums = sums;
  pass.low = low;
  pass.high = high;
  pass.near_zero = near_zero;
  pass.plot = (guint32 (*)[SB_HAAR_BINS])plot;

  *statistics = (SbHaarStatistics){ .count = count };
  statistics->energy = sb_haar_plane_energy (plane, level, parallel, cancellable);
  statistics->share = total > 0 ? statistics->energy / total : 0;
  run (&pass, sum_block);
  statistics->mean = total_of (sums, pass.n_blocks) / (double)count;

  double lowest = G_MAXFLOAT, highest = -G_MAXFLOAT;
  guint64 zeros = 0;
  for (guint i = 0; i < pass.n_blocks; i++)
    {
      lowest = MIN (lowest, low[i]);
      highest = MAX (highest, high[i]);
      zeros += near_zero[i];
    }
  statistics->near_zero = (double)zeros / (double)count;

  const double reach = 3 * sqrt (statistics->energy / (double)count);
  statistics->bin_width = 1.0 / 16;
  while (127 * statistics->bin_width < reach)
    statistics->bin_width *= 2;

  pass.mean = statistics->mean;
  pass.inverse_width = 1 / statistics->bin_width;
  pass.first = (gint64)floor (lowest + 0.5);
  pass.n_bins = (gsize)((gint64)floor (highest + 0.5) - pass.first + 1);
  g_autofree guint32 *bins = NULL;
  const gboolean sparse = pass.n_bins > MAX (SPARSE * count, 4096);
  if (!sparse)
    {
      bins = g_try_new0 (guint32, n_threads (&pass) * pass.n_bins);
      if (bins == NULL)
        return FALSE;
      pass.bins = bins;
    }
  run (&pass, count_block);
  statistics->deviation = sqrt (total_of (sums, pass.n_blocks) / (double)count);
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    for (guint t = 0; t < n_threads (&pass); t++)
      statistics->histogram[i] += pass.plot[t][i];
  if (sparse)
    return sorted_entropy (&pass, &statistics->entropy);
  statistics->entropy = counted_entropy (&pass, (double)count);
  return TRUE;
}

/* --- Noise ----------------------------------------------------------------------------------- */

/* Four times a coefficient of level 1 is a whole number, at most twice two samples' range. */
#define NOISE_BINS (4 * 65536)

static void
noise_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  guint32 *bins = pass->bins + thread * (gsize)NOISE_BINS;
  guint from, to;

  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    {
      const float *row = pass->plane->values + j * pass->plane->stride;

      for (guint i = 0; i < pass->plane->columns; i++)
        bins[MIN ((guint)(4 * fabsf (row[i])), NOISE_BINS - 1)]++;
    }
}

/* The value of rank `rank`, counted from 0. */
static double
ranked (const Pass *pass, guint64 rank)
{
  guint64 below = 0;

  for (guint i = 0; i < NOISE_BINS; i++)
    {
      for (guint t = 0; t < n_threads (pass); t++)
        below += pass->bins[t * (gsize)NOISE_BINS + i];
      if (below > rank)
        return i / 4.0;
    }
  return 0;
}

gboolean
sb_haar_plane_noise (const SbHaarPlane *plane, double *noise, SbParallel *parallel,
                     GCancellable *cancellable)
{
  const guint64 count = (guint64)plane->columns * plane->rows;
  Pass pass;

  pass_init (&pass, plane, 1, parallel, cancellable);
  g_autofree guint32 *bins = g_try_new0 (guint32, n_threads (&pass) * (gsize)NOISE_BINS);
  if (bins == NULL)
    return FALSE;
  pass.bins = bins;
  run (&pass, noise_block);

  const double middle = (ranked (&pass, (count - 1) / 2) + ranked (&pass, count / 2)) / 2;
  *noise = middle * pass.scale / 0.6745;
  return TRUE;
}

/* --- Of a host transform --------------------------------------------------------------------- */

void
sb_haar_measure (const SbHaar *haar, SbHaarBand band, SbHaarStatistics *statistics)
{
  g_return_if_fail (haar != NULL && statistics != NULL);
  g_return_if_fail (band.level >= 1 && band.level <= haar->set.choice.levels);

  const guint levels = haar->set.choice.levels;
  double total = 0;

  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    total += sb_haar_plane_energy (&haar->set.planes[n], sb_haar_nth_band (levels, n).level, NULL,
                                   NULL);
  if (!sb_haar_plane_measure (&haar->set.planes[sb_haar_band_index (levels, band)], band.level,
                              total, statistics, NULL, NULL))
    statistics->entropy = NAN;
}

/* inverse (forward (x)) against x, over whole planes. */
static double
reconstruction_error (const SbHaar *haar)
{
  const guint levels = haar->set.choice.levels;
  const gsize n = (gsize)haar->set.width * haar->set.height;
  g_autofree float *odd = g_try_new (float, n);
  g_autofree float *even = g_try_new (float, n);
  g_autofree float *samples = g_try_new (float, haar->set.width);
  SbHaarPlane a = haar->set.planes[0];
  double error = 0;

  if (odd == NULL || even == NULL || samples == NULL)
    return NAN;
  for (guint level = levels; level >= 1; level--)
    {
      const SbHaarPlane *details
          = &haar->set.planes[sb_haar_band_index (levels, (SbHaarBand){ level, SB_HAAR_H })];
      SbHaarPlane to = { .values = (level & 1) != 0 ? odd : even,
                         .stride = sb_haar_side (haar->set.width, level - 1),
                         .columns = sb_haar_side (haar->set.width, level - 1),
                         .rows = sb_haar_side (haar->set.height, level - 1) };

      sb_haar_inverse_plane (&a, &details[0], &details[1], &details[2], &to);
      a = to;
    }

  for (guint y = 0; y < haar->set.height; y++)
    {
      sb_haar_samples (sb_image_get_pixels (haar->image) + y * sb_image_get_stride (haar->image),
                       haar->set.width, haar->set.depth, haar->set.choice.channel, samples);
      for (guint x = 0; x < haar->set.width; x++)
        error = MAX (error, fabs ((double)a.values[y * a.stride + x] - samples[x]));
    }
  return error;
}

void
sb_haar_summarize (const SbHaar *haar, SbHaarSummary *summary)
{
  g_return_if_fail (haar != NULL && summary != NULL);

  const SbHaarBand finest = { 1, SB_HAAR_D };

  if (!sb_haar_plane_noise (&haar->set.planes[sb_haar_band_index (haar->set.choice.levels, finest)],
                            &summary->noise, NULL, NULL))
    summary->noise = NAN;
  summary->reconstruction_error = haar->image != NULL ? reconstruction_error (haar) : NAN;
}
