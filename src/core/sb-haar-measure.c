/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-haar-private.h"
#include "sb-kernel-haar.h"

#include <math.h>
#include <string.h>

/* Rows are taken in blocks of a size that does not depend on the threads, and what the blocks give
 * is added up in their order: every machine gets the same sums. */
#define BLOCK 65536 /* coefficients */
#define CHUNK 512   /* whose places in the histograms are found at a time */

/* So many counters at most for each coefficient; beyond, sorting is cheaper than memory. */
#define SPARSE 4
/* Most coefficients are near zero: neighbours are counted in different tables, or each count would
 * have to wait for the one before. */
#define TABLES     4
#define TABLE_BINS 16384 /* from here on one table has to do */

typedef guint32 Plot[TABLES][SB_HAAR_BINS];

typedef struct
{
  const SbHaarKernels *kernels;
  const SbHaarPlane *plane;
  float scale; /* to the orthonormal */
  guint rows;  /* of a block */
  guint n_blocks;
  SbParallel *parallel;
  GCancellable *cancellable;

  double centre;
  SbHaarMoments *moments; /* of each block */

  float inverse_width;
  gint32 first;  /* the integer of bins[0] */
  guint32 *bins; /* tables * n_bins for each thread; NULL: not counted */
  gsize n_bins;
  guint tables;
  Plot *plot; /* for each thread */
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
  *pass = (Pass){ .kernels = sb_haar_kernels_get (),
                  .plane = plane,
                  .parallel = parallel,
                  .cancellable = cancellable };
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

/* --- Passes ---------------------------------------------------------------------------------- */

static void
moments_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  SbHaarMoments *moments = &pass->moments[block];
  guint from, to;

  *moments = (SbHaarMoments){ .low = G_MAXFLOAT, .high = -G_MAXFLOAT };
  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    pass->kernels->moments (pass->plane->values + j * pass->plane->stride, pass->plane->columns,
                            pass->scale, pass->centre, moments);
}

/* A value that the mean is likely near to, so that little is lost where squares are subtracted. */
static double
find_centre (const SbHaarPlane *plane, float scale)
{
  const gsize n = (gsize)plane->columns * plane->rows, samples = MIN (n, 64);
  double sum = 0;

  for (gsize k = 0; k < samples; k++)
    {
      const gsize at = n / samples * k;
      sum += (double)plane->values[at / plane->columns * plane->stride + at % plane->columns];
    }
  return sum / (double)samples * scale;
}

static void
count_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  guint32 *bins = pass->bins != NULL ? pass->bins + thread * pass->tables * pass->n_bins : NULL;
  guint32 (*plot)[SB_HAAR_BINS] = pass->plot[thread];
  gint32 places[CHUNK];
  guint from, to;

  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    for (guint x = 0; x < pass->plane->columns; x += CHUNK)
      {
        const float *c = pass->plane->values + j * pass->plane->stride + x;
        const guint n = MIN (CHUNK, pass->plane->columns - x);

        pass->kernels->nearest (c, n, pass->scale * pass->inverse_width, places);
        for (guint i = 0; i < n; i++)
          plot[i % TABLES][CLAMP (places[i], -127, 127) + 127]++;
        if (bins == NULL)
          continue;
        pass->kernels->nearest (c, n, pass->scale, places);
        if (pass->tables == TABLES)
          for (guint i = 0; i < n; i++)
            bins[(i % TABLES) * pass->n_bins + (gsize)(places[i] - pass->first)]++;
        else
          for (guint i = 0; i < n; i++)
            bins[places[i] - pass->first]++;
      }
}

static double
sum_lanes (const double lanes[SB_HAAR_LANES])
{
  double sum = 0;

  for (guint k = 0; k < SB_HAAR_LANES; k++)
    sum += lanes[k];
  return sum;
}

static void
add_totals (const Pass *pass, SbHaarTotals *totals)
{
  const double count = (double)pass->plane->columns * pass->plane->rows;
  double sum = 0, off = 0, off2 = 0;

  *totals = (SbHaarTotals){ .low = G_MAXFLOAT, .high = -G_MAXFLOAT };
  for (guint i = 0; i < pass->n_blocks; i++)
    {
      const SbHaarMoments *moments = &pass->moments[i];

      sum += sum_lanes (moments->x);
      totals->energy += sum_lanes (moments->x2);
      off += sum_lanes (moments->d);
      off2 += sum_lanes (moments->d2);
      totals->low = MIN (totals->low, moments->low);
      totals->high = MAX (totals->high, moments->high);
      totals->near_zero += moments->near_zero;
    }
  totals->mean = sum / count;
  totals->deviation = sqrt (MAX (off2 / count - (off / count) * (off / count), 0.0));
}

/* The blocks of all bands one behind the other: many bands are too small to be divided. */
typedef struct
{
  Pass passes[1 + 3 * SB_HAAR_MAX_LEVELS];
  guint n_bands;
} Passes;

static void
any_moments_block (gsize block, guint thread, gpointer data)
{
  Passes *all = data;
  guint n = 0;

  while (block >= all->passes[n].n_blocks)
    block -= all->passes[n++].n_blocks;
  moments_block (block, thread, &all->passes[n]);
}

double
sb_haar_bands_totals (const SbHaarBands *set, SbHaarTotals *totals, SbParallel *parallel,
                      GCancellable *cancellable)
{
  g_autofree Passes *all = g_new (Passes, 1);
  gsize n_blocks = 0, first = 0;
  double energy = 0;

  all->n_bands = sb_haar_n_bands (set->choice.levels);
  for (guint n = 0; n < all->n_bands; n++)
    {
      pass_init (&all->passes[n], &set->planes[n], sb_haar_nth_band (set->choice.levels, n).level,
                 parallel, cancellable);
      all->passes[n].centre = find_centre (&set->planes[n], all->passes[n].scale);
      n_blocks += all->passes[n].n_blocks;
    }
  g_autofree SbHaarMoments *moments = g_new0 (SbHaarMoments, n_blocks);
  for (guint n = 0; n < all->n_bands; n++)
    {
      all->passes[n].moments = moments + first;
      first += all->passes[n].n_blocks;
    }
  if (parallel != NULL)
    sb_parallel_run (parallel, n_blocks, any_moments_block, all, cancellable);
  else
    for (gsize i = 0; i < n_blocks; i++)
      any_moments_block (i, 0, all);
  for (guint n = 0; n < all->n_bands; n++)
    {
      add_totals (&all->passes[n], &totals[n]);
      energy += totals[n].energy;
    }
  return energy;
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

      for (guint t = 0; t < n_threads (pass) * pass->tables; t++)
        n += pass->bins[t * pass->n_bins + i];
      add_bits (&entropy, n, count);
    }
  return entropy;
}

/* --- All of it ------------------------------------------------------------------------------- */

gboolean
sb_haar_plane_measure (const SbHaarPlane *plane, guint level, const SbHaarTotals *totals,
                       double total, SbHaarStatistics *statistics, SbParallel *parallel,
                       GCancellable *cancellable)
{
  const guint64 count = (guint64)plane->columns * plane->rows;
  Pass pass;

  pass_init (&pass, plane, level, parallel, cancellable);
  g_autofree Plot *plot = g_new0 (Plot, n_threads (&pass));
  pass.plot = plot;

  *statistics = (SbHaarStatistics){ .count = count,
                                    .mean = totals->mean,
                                    .deviation = totals->deviation,
                                    .energy = totals->energy,
                                    .share = total > 0 ? totals->energy / total : 0,
                                    .near_zero = (double)totals->near_zero / (double)count };

  const double reach = 3 * sqrt (totals->energy / (double)count);
  statistics->bin_width = 1.0 / 16;
  while (127 * statistics->bin_width < reach)
    statistics->bin_width *= 2;
  pass.inverse_width = (float)(1 / statistics->bin_width);

  const double first = floor (totals->low + 0.5), last = floor (totals->high + 0.5);
  const gboolean sparse = last - first + 1 > MAX (SPARSE * (double)count, 4096);
  g_autofree guint32 *bins = NULL;
  if (!sparse)
    {
      pass.first = (gint32)first;
      pass.n_bins = (gsize)(last - first + 1);
      pass.tables = pass.n_bins <= TABLE_BINS ? TABLES : 1;
      bins = g_try_new0 (guint32, n_threads (&pass) * pass.tables * pass.n_bins);
      if (bins == NULL)
        return FALSE;
      pass.bins = bins;
    }
  run (&pass, count_block);
  for (guint i = 0; i < SB_HAAR_BINS; i++)
    for (guint t = 0; t < n_threads (&pass); t++)
      for (guint k = 0; k < TABLES; k++)
        statistics->histogram[i] += pass.plot[t][k][i];
  if (sparse)
    return sorted_entropy (&pass, &statistics->entropy);
  statistics->entropy = counted_entropy (&pass, (double)count);
  return TRUE;
}

/* --- Noise ----------------------------------------------------------------------------------- */

/* Four times a coefficient of level 1 is a whole number. */
static void
noise_block (gsize block, guint thread, gpointer data)
{
  const Pass *pass = data;
  guint32 *bins = pass->bins + thread * pass->tables * pass->n_bins;
  gint32 places[CHUNK];
  guint from, to;

  block_rows (pass, block, &from, &to);
  for (guint j = from; j < to; j++)
    for (guint x = 0; x < pass->plane->columns; x += CHUNK)
      {
        const guint n = MIN (CHUNK, pass->plane->columns - x);

        pass->kernels->nearest (pass->plane->values + j * pass->plane->stride + x, n, 4, places);
        for (guint i = 0; i < n; i++)
          bins[(i % TABLES) * pass->n_bins + (gsize)ABS (places[i])]++;
      }
}

/* The value of rank `rank`, counted from 0. */
static double
ranked (const Pass *pass, guint64 rank)
{
  guint64 below = 0;

  for (gsize i = 0; i < pass->n_bins; i++)
    {
      for (gsize t = 0; t < (gsize)n_threads (pass) * pass->tables; t++)
        below += pass->bins[t * pass->n_bins + i];
      if (below > rank)
        return (double)i / 4;
    }
  return 0;
}

gboolean
sb_haar_plane_noise (const SbHaarPlane *plane, const SbHaarTotals *totals, double *noise,
                     SbParallel *parallel, GCancellable *cancellable)
{
  const guint64 count = (guint64)plane->columns * plane->rows;
  Pass pass;

  pass_init (&pass, plane, 1, parallel, cancellable);
  /* No more bins than values, or their tables would not stay in the cache. */
  const double largest = MAX (-(double)totals->low, (double)totals->high) / pass.scale;
  pass.n_bins = (gsize)(4 * largest + 0.5) + 1;
  pass.tables = TABLES;
  g_autofree guint32 *bins
      = g_try_new0 (guint32, (gsize)n_threads (&pass) * pass.tables * pass.n_bins);
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
  const guint place = sb_haar_band_index (levels, band);
  SbHaarTotals totals[1 + 3 * SB_HAAR_MAX_LEVELS];

  const double total = sb_haar_bands_totals (&haar->set, totals, NULL, NULL);
  if (!sb_haar_plane_measure (&haar->set.planes[place], band.level, &totals[place], total,
                              statistics, NULL, NULL))
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

double
sb_haar_noise (const SbHaar *haar, double *deviation)
{
  g_return_val_if_fail (haar != NULL, NAN);

  const guint levels = haar->set.choice.levels;
  const SbHaarPlane *finest
      = &haar->set.planes[sb_haar_band_index (levels, (SbHaarBand){ 1, SB_HAAR_D })];
  SbHaarTotals totals;
  double noise;
  Pass pass;

  pass_init (&pass, finest, 1, NULL, NULL);
  pass.centre = find_centre (finest, pass.scale);
  g_autofree SbHaarMoments *moments = g_new0 (SbHaarMoments, pass.n_blocks);
  pass.moments = moments;
  run (&pass, moments_block);
  add_totals (&pass, &totals);
  if (deviation != NULL)
    *deviation = totals.deviation;
  return sb_haar_plane_noise (finest, &totals, &noise, NULL, NULL) ? noise : NAN;
}

double
sb_haar_unit (SbHaarChannel channel, guint depth)
{
  return (depth == 16 ? 257.0 : 1.0) * (channel == SB_HAAR_LIGHTNESS ? 2.0 : 1.0);
}

void
sb_haar_summarize (const SbHaar *haar, SbHaarSummary *summary)
{
  g_return_if_fail (haar != NULL && summary != NULL);

  summary->noise = sb_haar_noise (haar, NULL);
  summary->noise_levels = summary->noise / sb_haar_unit (haar->set.choice.channel, haar->set.depth);
  summary->reconstruction_error = haar->image != NULL ? reconstruction_error (haar) : NAN;
}
