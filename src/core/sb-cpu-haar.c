/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-haar.h"
#include "sb-error.h"
#include "sb-haar-arith.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Rows of bands begin in lines of their own. */
#define PADDED(n) (((gsize)(n) + 15) & ~(gsize)15)
/* From here on what is written is not read again soon: it goes past the caches. */
#define STREAM_BYTES ((gsize)8 << 20)

const SbHaarKernels *
sb_haar_kernels_get (void)
{
#if defined(__x86_64__)
  switch (sb_isa_get ())
    {
    case SB_ISA_AVX512:
      return &sb_haar_kernels_avx512;
    case SB_ISA_AVX2:
      return &sb_haar_kernels_avx2;
    default:
      break;
    }
#endif
  return &sb_haar_kernels_base;
}

/* --- Memory ---------------------------------------------------------------------------------- */

SbCpuHaar *
sb_cpu_haar_new (guint width, guint height, guint depth, const SbHaarChoice *choice, GError **error)
{
  const guint levels = choice->levels, n = sb_haar_n_bands (levels);
  SbCpuHaar *haar = g_new0 (SbCpuHaar, 1);
  gsize total = 0;

  g_atomic_ref_count_init (&haar->references);
  haar->set = (SbHaarBands){ width, height, depth, *choice, { { NULL } } };
  for (guint i = 0; i <= n; i++)
    {
      SbHaarPlane *plane = i < n ? &haar->set.planes[i] : &haar->means;
      const guint level
          = i < n ? sb_haar_nth_band (levels, i).level : MIN (levels, SB_CPU_HAAR_LEVELS);

      plane->columns = sb_haar_side (width, level);
      plane->rows = sb_haar_side (height, level);
      plane->stride = PADDED (plane->columns);
      total += plane->stride * plane->rows;
    }
  haar->bytes = total * sizeof (float);
  haar->memory = sb_memory_alloc (haar->bytes);
  if (haar->memory == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory for the subbands of %u × %u pixels"), width,
                   height);
      g_free (haar);
      return NULL;
    }
  total = 0;
  for (guint i = 0; i <= n; i++)
    {
      SbHaarPlane *plane = i < n ? &haar->set.planes[i] : &haar->means;
      plane->values = haar->memory + total;
      total += plane->stride * plane->rows;
    }
  return haar;
}

SbCpuHaar *
sb_cpu_haar_ref (SbCpuHaar *haar)
{
  g_atomic_ref_count_inc (&haar->references);
  return haar;
}

void
sb_cpu_haar_unref (SbCpuHaar *haar)
{
  if (haar == NULL || !g_atomic_ref_count_dec (&haar->references))
    return;
  sb_memory_free (haar->memory, haar->bytes);
  g_free (haar);
}

gboolean
sb_cpu_haar_fits (SbCpuHaar *haar, guint width, guint height, guint depth,
                  const SbHaarChoice *choice)
{
  return haar != NULL && g_atomic_ref_count_compare (&haar->references, 1)
         && haar->set.width == width && haar->set.height == height && haar->set.depth == depth
         && haar->set.choice.channel == choice->channel
         && haar->set.choice.levels == choice->levels;
}

static const SbHaarPlane *
details (const SbHaarBands *set, guint level)
{
  return &set->planes[sb_haar_band_index (set->choice.levels, (SbHaarBand){ level, SB_HAAR_H })];
}

/* --- Forward --------------------------------------------------------------------------------- */

typedef struct
{
  const SbHaarKernels *kernels;
  SbCpuHaar *haar;
  const SbSource *source;
  guint levels; /* made in one pass */
  gboolean stream;
  gsize room; /* floats of a thread */
  float *rows;
} Pass;

/* One row of a level from two of the level before, an odd last column too. */
static void
forward_row (const SbHaarKernels *kernels, const float *upper, const float *lower, guint columns,
             gboolean stream, float *const out[4])
{
  const guint n = columns / 2;

  kernels->forward (upper, lower, n, stream, out[0], out[1], out[2], out[3]);
  if (columns % 2 == 1)
    {
      const SbHaarQuad c = sb_haar_forward (upper[columns - 1], upper[columns - 1],
                                            lower[columns - 1], lower[columns - 1]);
      out[0][n] = c.a;
      out[1][n] = c.h;
      out[2][n] = c.v;
      out[3][n] = c.d;
    }
}

static void
first_row (const Pass *pass, guint j, float *const out[4])
{
  const SbSource *source = pass->source;
  const SbHaarChannel channel = pass->haar->set.choice.channel;
  const guint n = source->width / 2;
  const guint8 *upper = source->pixels + 2 * (gsize)j * source->stride;
  const guint8 *lower = 2 * j + 1 < source->height ? upper + source->stride : upper;

  if (source->format == SB_PIXELS_8)
    pass->kernels->first_8 (upper, lower, n, channel, 0.25f, pass->stream, out[0], out[1], out[2],
                            out[3]);
  else
    pass->kernels->first_16 ((const guint16 *)(const void *)upper,
                             (const guint16 *)(const void *)lower, n, channel, pass->stream, out[0],
                             out[1], out[2], out[3]);
  if (source->width % 2 == 1)
    {
      const guint depth = source->format == SB_PIXELS_8 ? 8 : 16;
      const gsize at = (gsize)(source->width - 1) * (depth / 2);
      float p, r;

      sb_haar_samples (upper + at, 1, depth, channel, &p);
      sb_haar_samples (lower + at, 1, depth, channel, &r);
      const SbHaarQuad c = sb_haar_forward (p, p, r, r);
      out[0][n] = c.a;
      out[1][n] = c.h;
      out[2][n] = c.v;
      out[3][n] = c.d;
    }
}

/* The rows of a level's bands where row j goes. */
static void
place (const SbCpuHaar *haar, guint level, guint j, float *means, float *out[4])
{
  const SbHaarPlane *planes = details (&haar->set, level);

  out[0] = means;
  for (guint k = 0; k < 3; k++)
    out[k + 1] = planes[k].values + j * planes[k].stride;
}

/* A band of rows through all levels of the pass: as soon as two rows of means are there, the next
 * level takes them. */
static void
transform_band (gsize item, guint thread, gpointer data)
{
  const Pass *pass = data;
  SbCpuHaar *haar = pass->haar;
  const guint width = haar->set.width, height = haar->set.height;
  const guint from = (guint)item << (pass->levels - 1);
  const guint to = MIN (from + (1u << (pass->levels - 1)), sb_haar_side (height, 1));
  float *rows[SB_CPU_HAAR_LEVELS + 1][2];
  float *next = pass->rows + thread * pass->room;

  for (guint level = 1; level < pass->levels; level++)
    for (guint k = 0; k < 2; k++)
      {
        rows[level][k] = next;
        next += PADDED (sb_haar_side (width, level));
      }
  for (guint j = from; j < to; j++)
    {
      guint row = j;
      float *out[4];

      for (guint level = 1; level <= pass->levels; level++)
        {
          const gboolean last = level == pass->levels;
          place (haar, level, row,
                 last ? haar->means.values + row * haar->means.stride : rows[level][row & 1], out);
          if (level == 1)
            first_row (pass, row, out);
          else
            {
              const guint rows_above = sb_haar_side (height, level - 1);
              float *upper = rows[level - 1][0];
              float *lower = 2 * row + 1 < rows_above ? rows[level - 1][1] : upper;
              forward_row (pass->kernels, upper, lower, sb_haar_side (width, level - 1),
                           pass->stream && level <= 3, out);
            }
          /* Go on where this completes a pair. */
          if (row % 2 == 0 && row + 1 < sb_haar_side (height, level))
            break;
          row /= 2;
        }
    }
  pass->kernels->fence ();
}

static gboolean
out_of_memory (GError **error)
{
  g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("There is not enough memory for the subbands"));
  return FALSE;
}

gboolean
sb_cpu_haar_transform (SbCpuHaar *haar, const SbSource *source, SbParallel *parallel,
                       GCancellable *cancellable, GError **error)
{
  const guint levels = haar->set.choice.levels;
  Pass pass = { .kernels = sb_haar_kernels_get (),
                .haar = haar,
                .source = source,
                .levels = MIN (levels, SB_CPU_HAAR_LEVELS),
                .stream = haar->bytes > STREAM_BYTES };
  const guint rows = 1u << pass.levels;

  g_return_val_if_fail (source->width == haar->set.width && source->height == haar->set.height,
                        FALSE);

  for (guint level = 1; level < pass.levels; level++)
    pass.room += 2 * PADDED (sb_haar_side (source->width, level));
  /* Threads do not share a line. */
  pass.room += 32;
  g_autofree float *memory
      = g_try_new (float, sb_parallel_get_n_threads (parallel) * pass.room + 16);
  if (memory == NULL)
    return out_of_memory (error);
  pass.rows = memory;
  if (!sb_parallel_run (parallel, ((gsize)source->height + rows - 1) / rows, transform_band, &pass,
                        cancellable))
    return sb_error_cancelled (error);

  SbHaarPlane a = haar->means;
  for (guint level = pass.levels + 1; level <= levels; level++)
    {
      const SbHaarPlane *planes = details (&haar->set, level);
      SbHaarPlane next = planes[0];

      /* A row of means is not read any more when its place is written. */
      next.values = haar->means.values;
      next.stride = haar->means.stride;
      for (guint j = 0; j < next.rows; j++)
        {
          const float *upper = a.values + 2 * j * a.stride;
          const float *lower = 2 * j + 1 < a.rows ? upper + a.stride : upper;
          float *out[4];

          place (haar, level, j, next.values + j * next.stride, out);
          for (guint i = 0; i < next.columns; i++)
            {
              const guint left = 2 * i, right = MIN (left + 1, a.columns - 1);
              const SbHaarQuad c
                  = sb_haar_forward (upper[left], upper[right], lower[left], lower[right]);
              out[1][i] = c.h;
              out[2][i] = c.v;
              out[3][i] = c.d;
              out[0][i] = c.a;
            }
        }
      a = next;
    }
  for (guint j = 0; j < a.rows; j++)
    memcpy (haar->set.planes[0].values + j * haar->set.planes[0].stride, a.values + j * a.stride,
            a.columns * sizeof (float));
  return TRUE;
}

/* --- And back -------------------------------------------------------------------------------- */

typedef struct
{
  const SbHaarKernels *kernels;
  const SbCpuHaar *haar;
  const SbSource *source;
  guint levels;
  SbHaarPlane means; /* of the deepest level of the pass */
  gsize room;
  float *rows;
  double *errors; /* of each band of rows */
} Check;

/* Two rows of the level before from one row of each band, an odd last column too. */
static void
inverse_row (const SbHaarKernels *kernels, const float *const in[4], guint columns, float *upper,
             float *lower)
{
  const guint n = columns / 2;

  kernels->inverse (in[0], in[1], in[2], in[3], n, upper, lower);
  if (columns % 2 == 1)
    {
      const SbHaarQuad c = { in[0][n], in[1][n], in[2][n], in[3][n] };
      float block[4];
      sb_haar_inverse (c, block);
      upper[columns - 1] = block[0];
      lower[columns - 1] = block[2];
    }
}

static void
check_band (gsize item, guint thread, gpointer data)
{
  const Check *check = data;
  const SbHaarBands *set = &check->haar->set;
  const SbSource *source = check->source;
  float *planes[2] = { check->rows + thread * check->room, NULL };
  SbHaarPlane a = check->means;
  double error = 0;

  planes[1] = planes[0] + (check->room - PADDED (set->width)) / 2;
  float *samples = planes[0] + (check->room - PADDED (set->width));

  a.values += item * a.stride; /* one row of means is a band */
  a.rows = 1;
  for (guint level = check->levels; level >= 1; level--)
    {
      const SbHaarPlane *bands = details (set, level);
      const guint columns = sb_haar_side (set->width, level - 1);
      const gsize first = item << (check->levels - level);
      SbHaarPlane to = { planes[level & 1], PADDED (columns), columns, 0 };

      to.rows = MIN (2 * a.rows, sb_haar_side (set->height, level - 1) - (guint)(2 * first));
      for (guint j = 0; j < a.rows; j++)
        {
          const float *in[4] = { a.values + j * a.stride };
          for (guint k = 0; k < 3; k++)
            in[k + 1] = bands[k].values + (first + j) * bands[k].stride;
          float *upper = to.values + 2 * j * to.stride;
          inverse_row (check->kernels, in, columns, upper,
                       2 * j + 1 < to.rows ? upper + to.stride : samples);
        }
      a = to;
    }
  for (guint j = 0; j < a.rows; j++)
    {
      const gsize y = (item << check->levels) + j;
      const float *row = a.values + j * a.stride;

      const guint8 *in = source->pixels + y * source->stride;

      if (source->format == SB_PIXELS_8)
        check->kernels->samples_8 (in, source->width, set->choice.channel, samples);
      else
        check->kernels->samples_16 ((const guint16 *)(const void *)in, source->width,
                                    set->choice.channel, samples);
      error = MAX (error, (double)check->kernels->distance (row, samples, source->width));
    }
  check->errors[item] = error;
}

double
sb_cpu_haar_error (const SbCpuHaar *haar, const SbSource *source, SbParallel *parallel,
                   GCancellable *cancellable)
{
  const guint levels = haar->set.choice.levels;
  Check check = { .kernels = sb_haar_kernels_get (),
                  .haar = haar,
                  .source = source,
                  .levels = MIN (levels, SB_CPU_HAAR_LEVELS) };
  const guint rows = 1u << check.levels;
  const gsize n = ((gsize)source->height + rows - 1) / rows;
  const gsize width = PADDED (source->width);

  check.room = (2 * rows + 1) * width;
  g_autofree float *memory = g_try_new (float, sb_parallel_get_n_threads (parallel) * check.room);
  g_autofree double *errors = g_new0 (double, n);
  const gsize deep = haar->means.stride * haar->means.rows;
  g_autofree float *odd = levels > check.levels ? g_try_new (float, deep) : NULL;
  g_autofree float *even = levels > check.levels ? g_try_new (float, deep) : NULL;
  double error = 0;

  if (memory == NULL || (levels > check.levels && (odd == NULL || even == NULL)))
    return -1;
  check.rows = memory;
  check.errors = errors;
  check.means = haar->set.planes[0];
  for (guint level = levels; level > check.levels; level--)
    {
      const SbHaarPlane *bands = details (&haar->set, level);
      const guint columns = sb_haar_side (source->width, level - 1);
      const SbHaarPlane to = { (level & 1) != 0 ? odd : even, columns, columns,
                               sb_haar_side (source->height, level - 1) };

      sb_haar_inverse_plane (&check.means, &bands[0], &bands[1], &bands[2], &to);
      check.means = to;
    }
  if (!sb_parallel_run (parallel, n, check_band, &check, cancellable))
    return -1;
  for (gsize i = 0; i < n; i++)
    error = MAX (error, errors[i]);
  return error;
}
