/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cpu-blur-job.h"
#include "sb-arith.h"

#include <string.h>

/* A source pixel as straight, encoded 16 bits. */
static inline void
read_pixel (const SbBlurJob *job, const guint8 *in, guint16 out[4])
{
  if (job->source->format == SB_PIXELS_8)
    {
      for (guint c = 0; c < 4; c++)
        out[c] = in[c] * 257;
      return;
    }
  memcpy (out, in, 8);
  if (job->source->format == SB_PIXELS_WORK)
    for (guint c = 0; c < 3; c++)
      {
        out[c] = sb_unpremultiply (out[c], out[3]);
        if (job->linear)
          out[c] = job->tone->encode[c][out[c]];
      }
}

static inline void
write_pixel (const SbBlurJob *job, const guint16 in[4], guint8 *out)
{
  if (job->target->format == SB_PIXELS_8)
    for (guint c = 0; c < 4; c++)
      out[c] = sb_round_to_8 (in[c]);
  else
    memcpy (out, in, 8);
}

typedef struct
{
  const SbBlurJob *job;
  SbRect rect;
  guint rows; /* of an item */
} CopyJob;

static void
copy_rows (gsize item, guint thread, gpointer data)
{
  const CopyJob *copy = data;
  const SbBlurJob *job = copy->job;
  const SbRect *rect = &copy->rect;
  const gsize in_step = sb_pixel_bytes (job->source->format);
  const gsize out_step = sb_pixel_bytes (job->target->format);
  const int from = rect->y + (int)(item * copy->rows);
  const int to = MIN (from + (int)copy->rows, rect->y + rect->height);

  for (int y = from; y < to; y++)
    {
      const guint8 *in = sb_blur_job_source (job, rect->x, y);
      guint8 *out = sb_blur_job_target (job, rect->x, y);
      if (job->source->format == job->target->format)
        {
          memcpy (out, in, (gsize)rect->width * out_step);
          continue;
        }
      for (int x = 0; x < rect->width; x++, in += in_step, out += out_step)
        {
          guint16 pixel[4];
          read_pixel (job, in, pixel);
          write_pixel (job, pixel, out);
        }
    }
}

gboolean
sb_blur_job_copy (const SbBlurJob *job, const SbRect *rect)
{
  CopyJob copy = { job, *rect, (guint)CLAMP (65536 / rect->width, 1, 256) };

  return sb_parallel_run (job->parallel, ((gsize)rect->height + copy.rows - 1) / copy.rows,
                          copy_rows, &copy, job->cancellable);
}

void
sb_blur_job_blend_row (const SbBlurJob *job, const guint16 *mask, const guint16 *result, int x,
                       int y, guint width)
{
  const guint8 *in = sb_blur_job_source (job, x, y);
  guint8 *out = sb_blur_job_target (job, x, y);
  const gsize in_step = sb_pixel_bytes (job->source->format);
  const gsize out_step = sb_pixel_bytes (job->target->format);
  const gboolean same = job->source->format == job->target->format;

  for (guint i = 0; i < width; i++, in += in_step, out += out_step, result += 4)
    {
      guint16 pixel[4];
      if (mask[i] == 0 && same)
        {
          memcpy (out, in, out_step);
          continue;
        }
      if (mask[i] == 65535)
        {
          write_pixel (job, result, out);
          continue;
        }
      read_pixel (job, in, pixel);
      if (mask[i] != 0)
        {
          const guint32 a = pixel[3];
          for (guint c = 0; c < 3; c++)
            pixel[c] = sb_blend (pixel[c], a, result[c], result[3], mask[i], &pixel[3]);
        }
      write_pixel (job, pixel, out);
    }
}
