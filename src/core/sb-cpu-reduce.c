/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-reduce.h"
#include "sb-error.h"
#include "sb-kernel-reduce.h"
#include "sb-kernel-view.h"
#include "sb-memory.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define BAND_ROWS    16  /* of the target, in one piece of work */
#define CHUNK_PIXELS 512 /* of a row that is summed while it stays in the first cache */

const SbReduceKernels *
sb_reduce_kernels_get (void)
{
#if defined(__x86_64__)
  switch (sb_isa_get ())
    {
    case SB_ISA_AVX512:
      return &sb_reduce_kernels_avx512;
    case SB_ISA_AVX2:
      return &sb_reduce_kernels_avx2;
    default:
      break;
    }
#endif
  return &sb_reduce_kernels_base;
}

/* --- Weights --------------------------------------------------------------------------------- */

/* What pixels first .. first + n_out - 1 of a level are made of along one axis. */
typedef struct
{
  guint n_out, taps;
  guint stride;   /* of the weights: taps with zeros behind them */
  guint32 *begin; /* of each pixel, the first sample */
  float *weights; /* `stride` for each pixel; they add up to 1 */
} Axis;

typedef struct
{
  gint64 size; /* of the full-size picture */
  guint from, to;
  guint passes; /* 0: not blurred along this axis */
  int whole;    /* of the radius */
  double part;
  gboolean mirror;
} AxisBlur;

static void
axis_clear (Axis *axis)
{
  g_clear_pointer (&axis->begin, g_free);
  g_clear_pointer (&axis->weights, g_free);
}

static gint64
at_edge (const AxisBlur *blur, gint64 i)
{
  if (!blur->mirror)
    return CLAMP (i, 0, blur->size - 1);
  const gint64 period = 2 * blur->size;
  const gint64 k = ((i % period) + period) % period;
  return k < blur->size ? k : period - 1 - k;
}

/* The weights of full-size pixels lo .. hi - 1 in pixel `index`; bounded: with the picture's edges.
 * Two buffers of hi - lo; gives the one that has them. */
static double *
full_size_weights (const AxisBlur *blur, gint64 index, gint64 lo, gint64 hi, gboolean bounded,
                   double *buffers[2])
{
  const gint64 unit = (gint64)1 << blur->to;
  const gint64 begin = index * unit;
  const gint64 end = bounded ? MIN (begin + unit, blur->size) : begin + unit;
  const double share = 1.0 / (2 * blur->whole + 1 + 2 * blur->part);
  double *now = buffers[0], *next = buffers[1];

  memset (now, 0, (gsize)(hi - lo) * sizeof *now);
  for (gint64 i = begin; i < end; i++)
    now[i - lo] = 1.0 / (double)(end - begin);
  for (guint pass = 0; pass < blur->passes; pass++)
    {
      memset (next, 0, (gsize)(hi - lo) * sizeof *next);
      for (gint64 i = lo; i < hi; i++)
        if (now[i - lo] != 0)
          for (int d = -blur->whole - 1; d <= blur->whole + 1; d++)
            {
              const double w = ABS (d) <= blur->whole ? share : share * blur->part;
              if (w != 0)
                next[(bounded ? at_edge (blur, i + d) : i + d) - lo] += now[i - lo] * w;
            }
      double *const old = now;
      now = next;
      next = old;
    }
  return now;
}

static void
axis_init (Axis *axis, const AxisBlur *blur, guint first, guint n_out)
{
  const gint64 unit = (gint64)1 << blur->to;
  const gint64 reach = (gint64)blur->passes * (blur->whole + (blur->part > 0 ? 1 : 0));
  const gint64 n_samples = (blur->size + ((gint64)1 << blur->from) - 1) >> blur->from;
  const gint64 margin = ((reach + ((gint64)1 << blur->from) - 1) >> blur->from) << blur->from;
  const gint64 span = unit + 2 * margin;
  const guint taps = (guint)MIN (span >> blur->from, n_samples);
  g_autofree double *memory = g_new (double, 2 * (gsize)span);
  double *buffers[2] = { memory, memory + span };
  gint64 pattern = -1; /* the pixel whose weights all those away from the edges have */

  axis->n_out = n_out;
  axis->taps = taps;
  axis->begin = g_new (guint32, n_out);
  axis->stride = (taps + SB_REDUCE_TAPS - 1) / SB_REDUCE_TAPS * SB_REDUCE_TAPS;
  const gsize n_weights = (gsize)n_out * axis->stride;
  axis->weights = g_new0 (float, n_weights);
  for (guint o = 0; o < n_out; o++)
    {
      const gint64 index = (gint64)first + o;
      gint64 lo = index * unit - margin, hi = lo + span;
      float *const weights = axis->weights + (gsize)o * axis->stride;
      const gboolean inside = lo >= 0 && hi <= blur->size;

      lo = MAX (lo, 0);
      hi = MIN (hi, blur->size);
      const gint64 begin = CLAMP (lo >> blur->from, 0, n_samples - taps);
      axis->begin[o] = (guint32)begin;
      if (inside && pattern >= 0)
        {
          memcpy (weights, axis->weights + (gsize)pattern * axis->stride, taps * sizeof *weights);
          continue;
        }
      const double *full = full_size_weights (blur, index, lo, hi, !inside, buffers);
      for (gint64 sample = lo >> blur->from; sample <= (hi - 1) >> blur->from; sample++)
        {
          const gint64 end = MIN ((sample + 1) << blur->from, hi);
          double sum = 0;
          for (gint64 i = sample << blur->from; i < end; i++)
            sum += full[i - lo];
          weights[sample - begin] = (float)sum;
        }
      if (inside)
        pattern = o;
    }
}

/* --- Rows ------------------------------------------------------------------------------------ */

typedef struct
{
  const SbReduceKernels *kernels;
  const SbViewKernels *view;
  const SbSource *source;
  const SbTarget *target;
  const SbTone *tone;            /* NULL: not in linear light */
  const guint16 *const *convert; /* tables for rows that become ones of 16 bits, or NULL */
  SbReduceDecode *tables;        /* likewise, of opaque rows of 8 bits */
  Axis columns, rows;
  guint left, n_columns; /* of the source, those that are read */
  gboolean as_bytes;     /* rows of the source are summed as they lie, at 8 bits */
  gboolean as_work;      /* likewise, at 16 */
  guint8 *scratch;
  gsize scratch_each; /* bytes of a thread: the parts of a Scratch one behind the other */
  gsize ring_row;     /* bytes */
} Work;

typedef struct
{
  float *sums;  /* of columns of the source, RGBA */
  float *mixed; /* a row of the target */
  guint16 *rounded;
  gconstpointer *rows, *at;
  guint8 *ring; /* converted rows; row y of the source at y % taps */
} Scratch;

static gsize
round_up (gsize bytes)
{
  return (bytes + 63) & ~(gsize)63;
}

/* The taps of the last pixels go on behind the row, where their weights are 0. */
static gsize
sums_bytes (const Work *work)
{
  return round_up (16 * ((gsize)work->n_columns + SB_REDUCE_TAPS));
}

static void
lay_out (Work *work)
{
  const gboolean direct = work->as_bytes || work->as_work;

  work->ring_row = direct ? 0 : round_up (8 * (gsize)work->n_columns);
  work->scratch_each = sums_bytes (work) + round_up (16 * (gsize)work->columns.n_out)
                       + round_up (8 * (gsize)work->columns.n_out)
                       + 2 * round_up (work->rows.taps * sizeof (gpointer))
                       + work->rows.taps * work->ring_row;
}

static Scratch
get_scratch (const Work *work, guint thread)
{
  guint8 *p = work->scratch + thread * work->scratch_each;
  const gsize pointers = round_up (work->rows.taps * sizeof (gpointer));
  Scratch scratch;

  scratch.sums = (float *)p;
  p += sums_bytes (work);
  scratch.mixed = (float *)p;
  p += round_up (16 * (gsize)work->columns.n_out);
  scratch.rounded = (guint16 *)p;
  p += round_up (8 * (gsize)work->columns.n_out);
  scratch.rows = (gconstpointer *)p;
  scratch.at = (gconstpointer *)(p + pointers);
  scratch.ring = p + 2 * pointers;
  return scratch;
}

/* Row y of the source from column `left` on, as it is summed. */
static gconstpointer
get_row (const Work *work, const Scratch *scratch, guint y)
{
  const SbSource *source = work->source;
  const gsize pixel = source->format == SB_PIXELS_8 ? 4 : 8;

  if (!work->as_bytes && !work->as_work)
    return scratch->ring + y % work->rows.taps * work->ring_row;
  return source->pixels + y * source->stride + work->left * pixel;
}

static void
convert_row (const Work *work, const Scratch *scratch, guint y)
{
  const SbSource *source = work->source;
  const guint8 *in = source->pixels + y * source->stride;
  guint16 *out = (guint16 *)(scratch->ring + y % work->rows.taps * work->ring_row);

  if (work->tables != NULL)
    work->kernels->decode (work->tables, in + 4 * (gsize)work->left, work->n_columns, out);
  else if (source->format == SB_PIXELS_8)
    work->view->work_8 (in + 4 * (gsize)work->left, work->n_columns, work->convert, source->opaque,
                        out);
  else
    work->view->work_16 ((const guint16 *)in + 4 * (gsize)work->left, work->n_columns,
                         work->convert, source->opaque, out);
}

static void
sum_rows (const Work *work, const Scratch *scratch, const float *weights)
{
  const gsize taps = work->rows.taps;
  const gsize pixel = work->as_bytes ? 4 : 8;

  for (guint first = 0; first < work->n_columns; first += CHUNK_PIXELS)
    {
      const guint n = MIN (CHUNK_PIXELS, work->n_columns - first);
      float *out = scratch->sums + 4 * (gsize)first;
      for (gsize k = 0; k < taps; k++)
        scratch->at[k] = (const guint8 *)scratch->rows[k] + first * pixel;
      if (work->as_bytes)
        work->kernels->sum_8 ((const guint8 *const *)scratch->at, weights, taps, 4 * (gsize)n, out);
      else
        work->kernels->sum_16 ((const guint16 *const *)scratch->at, weights, taps, 4 * (gsize)n,
                               out);
    }
}

static guint8
to_8 (guint v)
{
  return (guint8)((v * 255 + 32895) >> 16);
}

/* A row of the target from premultiplied pixels of 0 .. 65535; rounded: room for as many. */
static void
finish_row (const Work *work, const float *in, guint16 *rounded, guint8 *out)
{
  const SbTone *tone = work->tone;
  const gboolean opaque = work->source->opaque;
  const gsize samples = 4 * (gsize)work->columns.n_out;
  const gboolean bytes = work->target->format == SB_PIXELS_8;

  if (tone == NULL && bytes && opaque)
    {
      work->kernels->round_8 (in, samples, out);
      return;
    }
  work->kernels->round_16 (in, samples, rounded);
  for (gsize i = 0; i < samples && !opaque; i += 4)
    {
      const guint a = rounded[i + 3];
      for (gsize c = 0; c < 3 && a < 65535; c++)
        rounded[i + c]
            = a == 0 ? 0 : (guint16)MIN (65535, ((guint)rounded[i + c] * 65535u + a / 2) / a);
    }
  if (!bytes)
    {
      guint16 *out16 = (guint16 *)out;
      memcpy (out16, rounded, samples * sizeof *rounded);
      for (gsize i = 0; i < samples && tone != NULL; i += 4)
        for (gsize c = 0; c < 3; c++)
          out16[i + c] = tone->encode[c][rounded[i + c]];
      return;
    }
  if (tone != NULL && opaque)
    {
      const guint8 *const encode[3] = { tone->encode8[0], tone->encode8[1], tone->encode8[2] };
      work->kernels->encode (encode, rounded, samples / 4, out);
      return;
    }
  for (gsize i = 0; i < samples; i += 4)
    {
      for (gsize c = 0; c < 3; c++)
        out[i + c] = tone != NULL ? tone->encode8[c][rounded[i + c]] : to_8 (rounded[i + c]);
      out[i + 3] = to_8 (rounded[i + 3]);
    }
}

static void
band (gsize item, guint thread, gpointer user_data)
{
  const Work *work = user_data;
  const Axis *rows = &work->rows;
  const Scratch scratch = get_scratch (work, thread);
  memset (scratch.sums + 4 * (gsize)work->n_columns, 0, 16 * SB_REDUCE_TAPS);
  const gboolean direct = work->as_bytes || work->as_work;
  const guint end = MIN ((guint)(item + 1) * BAND_ROWS, rows->n_out);
  guint converted = 0; /* rows of the source before this one are in the ring, or no longer needed */

  for (guint o = (guint)item * BAND_ROWS; o < end; o++)
    {
      const guint begin = rows->begin[o];
      for (guint y = MAX (begin, converted); !direct && y < begin + rows->taps; y++)
        convert_row (work, &scratch, y);
      converted = begin + rows->taps;
      for (guint k = 0; k < rows->taps; k++)
        scratch.rows[k] = get_row (work, &scratch, begin + k);
      sum_rows (work, &scratch, rows->weights + (gsize)o * rows->stride);
      work->kernels->mix (scratch.sums, work->columns.begin, work->columns.weights,
                          work->columns.stride, work->columns.n_out, scratch.mixed);
      finish_row (work, scratch.mixed, scratch.rounded,
                  work->target->pixels + o * work->target->stride);
    }
}

static SbReduceDecode *
make_decode (const SbTone *tone)
{
  SbReduceDecode *tables = g_new (SbReduceDecode, 1);

  tables->same = tone->same;
  for (guint v = 0; v < 256; v++)
    {
      for (guint c = 0; c < 3; c++)
        {
          const guint16 alpha = c == 0 ? 65535 : 0;
          guint16 pixel[4] = { 0, 0, 0, alpha };
          pixel[c] = tone->decode8[c][v];
          memcpy (&tables->pixel[c][v], pixel, sizeof pixel);
        }
      tables->bytes[0][v] = (guint8)(tone->decode8[0][v] & 0xff);
      tables->bytes[1][v] = (guint8)(tone->decode8[0][v] >> 8);
    }
  return tables;
}

gboolean
sb_cpu_reduce (const SbSource *source, guint width, guint height, guint from, guint to,
               const SbEdit *edit, const SbTone *tone, const SbTarget *target, SbParallel *parallel,
               GCancellable *cancellable, GError **error)
{
  const gboolean linear = edit->values[SB_BLUR_LINEAR] != 0;
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  const guint passes = (guint)edit->values[SB_BLUR_PASSES];
  const double radius = edit->values[SB_BLUR_RADIUS];
  AxisBlur blur = {
    .size = width,
    .from = from,
    .to = to,
    .passes = direction == SB_DIRECTION_VERTICAL ? 0 : passes,
    .whole = (int)floor (radius),
    .part = radius - floor (radius),
    .mirror = edit->values[SB_BLUR_EDGE] == SB_EDGE_MIRROR,
  };
  const guint16 *tables[3];
  Work work = {
    .kernels = sb_reduce_kernels_get (),
    .view = sb_view_kernels_get (),
    .source = source,
    .target = target,
    .tone = linear ? tone : NULL,
    .as_bytes = source->format == SB_PIXELS_8 && source->opaque && !linear,
    .as_work = source->format == SB_PIXELS_WORK,
  };

  for (guint c = 0; c < 3 && linear; c++)
    tables[c] = source->format == SB_PIXELS_8 ? tone->decode8[c] : tone->decode[c];
  work.convert = linear ? tables : NULL;
  if (linear && source->format == SB_PIXELS_8 && source->opaque)
    work.tables = make_decode (tone);
  axis_init (&work.columns, &blur, (guint)target->rect.x, (guint)target->rect.width);
  blur.size = height;
  blur.passes = direction == SB_DIRECTION_HORIZONTAL ? 0 : passes;
  axis_init (&work.rows, &blur, (guint)target->rect.y, (guint)target->rect.height);

  work.left = work.columns.begin[0];
  work.n_columns = work.columns.begin[work.columns.n_out - 1] + work.columns.taps - work.left;
  for (guint o = 0; o < work.columns.n_out; o++)
    work.columns.begin[o] -= work.left;
  /* Bytes stand for v * 257. */
  for (gsize i = 0; work.as_bytes && i < (gsize)work.rows.n_out * work.rows.stride; i++)
    work.rows.weights[i] *= 257;
  lay_out (&work);
  const gsize bytes = sb_parallel_get_n_threads (parallel) * work.scratch_each;
  work.scratch = sb_memory_alloc (bytes);
  gboolean done = work.scratch != NULL;
  if (!done)
    g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                 _ ("There is not enough memory to render the picture"));
  else if (!sb_parallel_run (parallel, (work.rows.n_out + BAND_ROWS - 1) / BAND_ROWS, band, &work,
                             cancellable))
    {
      done = FALSE;
      g_cancellable_set_error_if_cancelled (cancellable, error);
    }
  sb_memory_free (work.scratch, bytes);
  axis_clear (&work.columns);
  axis_clear (&work.rows);
  g_free (work.tables);
  return done;
}
