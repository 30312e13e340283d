/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur.h"
#include "sb-arith.h"
#include "sb-error.h"
#include "sb-memory.h"

#include <string.h>
#include <glib/gi18n-lib.h>

struct _SbBlurScratch
{
  gpointer memory;
  gsize bytes;
};

SbBlurScratch *
sb_blur_scratch_new (void)
{
  return g_new0 (SbBlurScratch, 1);
}

void
sb_blur_scratch_trim (SbBlurScratch *scratch)
{
  g_return_if_fail (scratch != NULL);
  sb_memory_free (scratch->memory, scratch->bytes);
  scratch->memory = NULL;
  scratch->bytes = 0;
}

void
sb_blur_scratch_free (SbBlurScratch *scratch)
{
  if (scratch == NULL)
    return;
  sb_blur_scratch_trim (scratch);
  g_free (scratch);
}

static gpointer
scratch_get (SbBlurScratch *scratch, gsize bytes)
{
  if (scratch->bytes < bytes)
    {
      sb_blur_scratch_trim (scratch);
      scratch->memory = sb_memory_alloc (bytes);
      if (scratch->memory != NULL)
        scratch->bytes = bytes;
    }
  return scratch->memory;
}

typedef struct
{
  const SbSource *source;
  const SbTarget *target;
  const SbTone *tone;
  const SbEdit *edit;
  guint width, height, radius, k, passes;
  gboolean linear, mirror, horizontal, vertical, identity, whole;
  guint16 *work;  /* width x height x 4 */
  guint16 *lines; /* per thread, 2 x longest side x 4 */
  guint16 *mask, *mask2;
  gsize line_size;
} Job;

static void
read_pixel (const Job *job, guint x, guint y, guint16 *out)
{
  const guint8 *row = job->source->pixels + y * job->source->stride;
  if (job->source->format == SB_PIXELS_8)
    for (int c = 0; c < 4; c++)
      out[c] = row[x * 4 + c] * 257;
  else
    memcpy (out, row + x * 8, 8);
}

static void
box_line (const guint16 *in, guint16 *out, gint64 n, gint64 r, guint k, int mirror)
{
  for (int c = 0; c < 4; c++)
    {
      guint32 sum = 0;
      for (gint64 i = -r; i <= r; i++)
        sum += in[sb_edge_index (i, n, mirror) * 4 + c];
      for (gint64 x = 0; x < n; x++)
        {
          const guint32 b = in[sb_edge_index (x + r + 1, n, mirror) * 4 + c];
          const guint32 a = in[sb_edge_index (x - r - 1, n, mirror) * 4 + c];
          out[x * 4 + c] = sb_box_quotient (sum, a + b, (guint32)r, k);
          sum += b - in[sb_edge_index (x - r, n, mirror) * 4 + c];
        }
    }
}

static guint16 *
box_passes (const Job *job, guint16 *a, guint16 *b, guint n)
{
  for (guint p = 0; p < job->passes; p++)
    {
      box_line (a, b, n, job->radius, job->k, job->mirror);
      guint16 *t = a;
      a = b;
      b = t;
    }
  return a;
}

static void
do_row (gsize y, guint thread, gpointer data)
{
  const Job *job = data;
  guint16 *a = job->lines + thread * job->line_size * 2, *b = a + job->line_size;

  for (guint x = 0; x < job->width; x++)
    {
      guint16 *p = a + x * 4;
      read_pixel (job, x, (guint)y, p);
      if (job->source->format == SB_PIXELS_WORK)
        continue;
      for (int c = 0; c < 3; c++)
        {
          if (job->linear)
            p[c] = job->tone->decode[c][p[c]];
          p[c] = sb_premultiply (p[c], p[3]);
        }
    }
  if (job->horizontal)
    a = box_passes (job, a, b, job->width);
  memcpy (job->work + y * job->width * 4, a, (gsize)job->width * 8);
}

static void
write_pixel (const Job *job, guint x, guint y, const guint16 *in, guint32 mask)
{
  guint8 *out = job->target->pixels + (y - job->target->rect.y) * job->target->stride;
  guint16 source[4], result[4];
  x -= job->target->rect.x;
  read_pixel (job, x + job->target->rect.x, y, source);
  if (job->source->format == SB_PIXELS_WORK)
    for (int c = 0; c < 3; c++)
      {
        source[c] = sb_unpremultiply (source[c], source[3]);
        if (job->linear)
          source[c] = job->tone->encode[c][source[c]];
      }
  if (mask == 0)
    memcpy (result, source, 8);
  else
    {
      result[3] = in[3];
      for (int c = 0; c < 3; c++)
        {
          result[c] = sb_unpremultiply (in[c], in[3]);
          if (job->linear)
            result[c] = job->tone->encode[c][result[c]];
        }
      if (mask < 65535)
        {
          guint16 alpha = 0;
          for (int c = 0; c < 3; c++)
            result[c] = sb_blend (source[c], source[3], result[c], in[3], mask, &alpha);
          result[3] = alpha;
        }
    }
  if (job->target->format == SB_PIXELS_8)
    for (int c = 0; c < 4; c++)
      out[x * 4 + c] = sb_round_to_8 (result[c]);
  else
    memcpy (out + x * 8, result, 8);
}

static void
do_column (gsize item, guint thread, gpointer data)
{
  const Job *job = data;
  guint16 *a = job->lines + thread * job->line_size * 2, *b = a + job->line_size;
  const guint x = (guint)item + job->target->rect.x;

  if (!job->identity)
    {
      for (guint y = 0; y < job->height; y++)
        memcpy (a + y * 4, job->work + ((gsize)y * job->width + x) * 4, 8);
      if (job->vertical)
        a = box_passes (job, a, b, job->height);
    }
  for (guint y = job->target->rect.y; y < (guint)(job->target->rect.y + job->target->rect.height);
       y++)
    write_pixel (job, x, y, a + y * 4,
                 job->identity ? 0
                 : job->whole  ? 65535
                               : job->mask[(gsize)y * job->width + x]);
}

static void
make_mask (Job *job)
{
  const SbArea *area = &job->edit->area;
  const gint64 w = area->width, h = area->height, f = area->feather;
  for (gint64 j = 0; j < job->height; j++)
    for (gint64 i = 0; i < job->width; i++)
      {
        gboolean in;
        if (area->shape == SB_AREA_RECT)
          in = i >= area->x && i < area->x + w && j >= area->y && j < area->y + h;
        else
          {
            const __int128 dx = 2 * (i - area->x) + 1 - w, dy = 2 * (j - area->y) + 1 - h;
            in = dx * dx * h * h + dy * dy * w * w <= (__int128)w * w * h * h;
          }
        job->mask[j * job->width + i] = in != area->invert ? 65535 : 0;
      }
  for (gint64 j = 0; f > 0 && j < job->height; j++)
    for (gint64 i = 0; i < job->width; i++)
      {
        guint32 sum = 0;
        for (gint64 d = -f; d <= f; d++)
          sum += job->mask[j * job->width + CLAMP (i + d, 0, (gint64)job->width - 1)];
        job->mask2[j * job->width + i] = (guint16)((sum + f) / (2 * f + 1));
      }
  for (gint64 j = 0; f > 0 && j < job->height; j++)
    for (gint64 i = 0; i < job->width; i++)
      {
        guint32 sum = 0;
        for (gint64 d = -f; d <= f; d++)
          sum += job->mask2[CLAMP (j + d, 0, (gint64)job->height - 1) * job->width + i];
        job->mask[j * job->width + i] = (guint16)((sum + f) / (2 * f + 1));
      }
}

gboolean
sb_cpu_blur (const SbSource *source, const SbEdit *edit, const SbTone *tone, const SbTarget *target,
             SbParallel *parallel, SbBlurScratch *scratch, GCancellable *cancellable,
             GError **error)
{
  const gint64 sixteenths = (gint64)(edit->values[SB_BLUR_RADIUS] * 16 + 0.5);
  Job job = { source, target, tone, edit, source->width, source->height };
  const gsize pixels = (gsize)source->width * source->height;
  const int direction = (int)edit->values[SB_BLUR_DIRECTION];
  const guint n_threads = sb_parallel_get_n_threads (parallel);

  job.radius = (guint)(sixteenths / 16);
  job.k = (guint)(sixteenths % 16);
  job.passes = (guint)edit->values[SB_BLUR_PASSES];
  job.linear = edit->values[SB_BLUR_LINEAR] != 0;
  job.mirror = edit->values[SB_BLUR_EDGE] == SB_EDGE_MIRROR;
  job.horizontal = direction != SB_DIRECTION_VERTICAL;
  job.vertical = direction != SB_DIRECTION_HORIZONTAL;
  job.identity = sixteenths == 0;
  job.whole = edit->area.shape == SB_AREA_WHOLE;
  job.line_size = (gsize)MAX (source->width, source->height) * 4;

  const gsize work = pixels * 8, lines = job.line_size * 4 * n_threads;
  const gsize mask = job.whole ? 0 : pixels * 2;
  guint8 *memory = scratch_get (scratch, work + lines + 2 * mask);
  if (memory == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory to blur %u × %u pixels."), source->width,
                   source->height);
      return FALSE;
    }
  job.work = (guint16 *)memory;
  job.lines = (guint16 *)(memory + work);
  job.mask = (guint16 *)(memory + work + lines);
  job.mask2 = (guint16 *)(memory + work + lines + mask);
  if (!job.whole)
    make_mask (&job);

  if ((!job.identity && !sb_parallel_run (parallel, job.height, do_row, &job, cancellable))
      || !sb_parallel_run (parallel, target->rect.width, do_column, &job, cancellable))
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _ ("Cancelled"));
      return FALSE;
    }
  return TRUE;
}
