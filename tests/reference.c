/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "reference.h"

#include <math.h>
#include <string.h>

#define MAXIMUM 65535

/* Products of four lengths of up to a million pixels pass 64 bits. */
__extension__ typedef __int128 Wide;

/* One of R, G, B, A or the mask: width * height samples, row after row. */
typedef guint16 Plane;

/* floor (n / d + 1/2) for non-negative n. */
static guint64
divide_rounded (guint64 n, guint64 d)
{
  return (2 * n + d) / (2 * d);
}

/* --- The tone curve -------------------------------------------------------------------------- */

static double
srgb_to_linear (double x)
{
  if (x <= 0.04045)
    return x / 12.92;
  return pow ((x + 0.055) / 1.055, 2.4);
}

void
sb_reference_tone_srgb (SbReferenceTone *tone)
{
  g_autofree double *linear = g_new (double, MAXIMUM + 1);

  tone->decode[0] = g_new (guint16, MAXIMUM + 1);
  tone->encode[0] = g_new (guint16, MAXIMUM + 1);
  for (guint u = 0; u <= MAXIMUM; u++)
    {
      linear[u] = MAXIMUM * srgb_to_linear (u / (double)MAXIMUM);
      tone->decode[0][u] = (guint16)floor (linear[u] + 0.5);
    }

  /* The curve rises everywhere, so the nearest of one value is never below that of a lesser one,
   * and the distance falls up to it and rises after it: walk on while it falls. */
  guint nearest = 0;
  for (guint v = 0; v <= MAXIMUM; v++)
    {
      while (nearest < MAXIMUM && fabs (linear[nearest + 1] - v) < fabs (linear[nearest] - v))
        nearest++;
      tone->encode[0][v] = (guint16)nearest;
    }

  for (guint c = 1; c < 3; c++)
    {
      tone->decode[c] = g_memdup2 (tone->decode[0], (MAXIMUM + 1) * sizeof (guint16));
      tone->encode[c] = g_memdup2 (tone->encode[0], (MAXIMUM + 1) * sizeof (guint16));
    }
}

void
sb_reference_tone_clear (SbReferenceTone *tone)
{
  for (guint c = 0; c < 3; c++)
    {
      g_clear_pointer (&tone->decode[c], g_free);
      g_clear_pointer (&tone->encode[c], g_free);
    }
}

/* --- The box --------------------------------------------------------------------------------- */

/* Which of n samples stands at place i, any whole number. */
static gint64
edge_index (gint64 i, gint64 n, SbEdge edge)
{
  if (edge == SB_EDGE_CLAMP)
    return i < 0 ? 0 : i >= n ? n - 1 : i;

  gint64 m = i % (2 * n);
  if (m < 0)
    m += 2 * n;
  return m < n ? m : 2 * n - 1 - m;
}

/* One pass over a line of n samples with radius whole + sixteenths / 16. `line` is replaced;
 * `spread` has room for n + 2 * (whole + 1) samples: the line as the window sees it, beginning at
 * place -whole - 1. */
static void
pass_over_line (guint16 *line, guint n, guint whole, guint sixteenths, SbEdge edge, guint16 *spread)
{
  const guint64 divisor = 16 * (2 * (guint64)whole + 1) + 2 * sixteenths;
  const guint length = 2 * whole + 3;

  for (gint64 i = 0; i < (gint64)n + 2 * ((gint64)whole + 1); i++)
    spread[i] = line[edge_index (i - whole - 1, n, edge)];

  for (guint i = 0; i < n; i++)
    {
      const guint16 *window = spread + i;
      guint64 sum = 0;

      for (guint j = 1; j < length - 1; j++)
        sum += window[j];

      guint64 total = 16 * sum + sixteenths * ((guint64)window[0] + window[length - 1]);
      line[i] = (guint16)((total + divisor / 2) / divisor);
    }
}

static void
pass_horizontal (Plane *plane, guint width, guint height, guint whole, guint sixteenths,
                 SbEdge edge)
{
  g_autofree guint16 *spread = g_new (guint16, (gsize)width + 2 * whole + 2);

  for (guint y = 0; y < height; y++)
    pass_over_line (plane + (gsize)y * width, width, whole, sixteenths, edge, spread);
}

static void
pass_vertical (Plane *plane, guint width, guint height, guint whole, guint sixteenths, SbEdge edge)
{
  g_autofree guint16 *spread = g_new (guint16, (gsize)height + 2 * whole + 2);
  g_autofree guint16 *line = g_new (guint16, height);

  for (guint x = 0; x < width; x++)
    {
      for (guint y = 0; y < height; y++)
        line[y] = plane[(gsize)y * width + x];
      pass_over_line (line, height, whole, sixteenths, edge, spread);
      for (guint y = 0; y < height; y++)
        plane[(gsize)y * width + x] = line[y];
    }
}

/* --- Areas ----------------------------------------------------------------------------------- */

static gboolean
area_contains (const SbArea *area, gint64 i, gint64 j)
{
  const gint64 x = area->x, y = area->y, w = area->width, h = area->height;

  switch (area->shape)
    {
    case SB_AREA_RECT:
      return x <= i && i < x + w && y <= j && j < y + h;
    case SB_AREA_ELLIPSE:
      {
        const Wide across = 2 * (i - x) + 1 - w, down = 2 * (j - y) + 1 - h;

        return across * across * h * h + down * down * w * w <= (Wide)w * w * h * h;
      }
    case SB_AREA_WHOLE:
    default:
      return TRUE;
    }
}

static Plane *
area_mask (const SbArea *area, guint width, guint height)
{
  Plane *mask = g_new (Plane, (gsize)width * height);

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      {
        gboolean inside = area_contains (area, x, y);

        if (area->invert)
          inside = !inside;
        mask[(gsize)y * width + x] = inside ? MAXIMUM : 0;
      }

  pass_horizontal (mask, width, height, area->feather, 0, SB_EDGE_CLAMP);
  pass_vertical (mask, width, height, area->feather, 0, SB_EDGE_CLAMP);
  return mask;
}

/* One pixel of the edit's output, from its input, what the edit would give over the whole picture,
 * and the mask. */
static void
blend_pixel (const guint16 in[4], const guint16 result[4], guint64 mask, guint16 out[4])
{
  if (mask == 0 || mask == MAXIMUM)
    {
      memcpy (out, mask == 0 ? in : result, 4 * sizeof (guint16));
      return;
    }

  const guint64 weight_in = in[3] * (MAXIMUM - mask);
  const guint64 weight_result = result[3] * mask;
  const guint64 weight = weight_in + weight_result;

  for (guint c = 0; c < 3; c++)
    out[c] = weight == 0
                 ? in[c]
                 : (guint16)divide_rounded (in[c] * weight_in + result[c] * weight_result, weight);
  out[3] = (guint16)divide_rounded (weight, MAXIMUM);
}

/* --- The blur -------------------------------------------------------------------------------- */

void
sb_reference_to_work (const guint16 *straight, guint16 *work, gsize n_pixels, gboolean linear,
                      const SbReferenceTone *tone)
{
  for (gsize i = 0; i < n_pixels; i++)
    {
      const guint64 alpha = straight[4 * i + 3];

      for (guint c = 0; c < 3; c++)
        {
          guint64 colour = straight[4 * i + c];

          if (linear)
            colour = tone->decode[c][colour];
          work[4 * i + c] = (guint16)divide_rounded (colour * alpha, MAXIMUM);
        }
      work[4 * i + 3] = (guint16)alpha;
    }
}

void
sb_reference_from_work (const guint16 *work, guint16 *straight, gsize n_pixels, gboolean linear,
                        const SbReferenceTone *tone)
{
  for (gsize i = 0; i < n_pixels; i++)
    {
      const guint64 alpha = work[4 * i + 3];

      for (guint c = 0; c < 3; c++)
        {
          guint64 colour = 0;

          if (alpha > 0)
            colour = MIN (MAXIMUM, divide_rounded (work[4 * i + c] * (guint64)MAXIMUM, alpha));
          straight[4 * i + c] = linear ? tone->encode[c][colour] : (guint16)colour;
        }
      straight[4 * i + 3] = (guint16)alpha;
    }
}

static guint
radius_in_sixteenths (const SbEdit *edit)
{
  return (guint)floor (edit->values[SB_BLUR_RADIUS] * 16 + 0.5);
}

/* All passes over work pixels, in place. */
static void
blur_passes (guint16 *work, guint width, guint height, const SbEdit *edit)
{
  const gsize n = (gsize)width * height;
  const guint whole = radius_in_sixteenths (edit) / 16;
  const guint sixteenths = radius_in_sixteenths (edit) % 16;
  const guint passes = (guint)edit->values[SB_BLUR_PASSES];
  const SbEdge edge = (SbEdge)edit->values[SB_BLUR_EDGE];
  const SbDirection direction = (SbDirection)edit->values[SB_BLUR_DIRECTION];
  g_autofree Plane *plane = g_new (Plane, n);

  for (guint c = 0; c < 4; c++)
    {
      for (gsize i = 0; i < n; i++)
        plane[i] = work[4 * i + c];

      if (direction != SB_DIRECTION_VERTICAL)
        for (guint pass = 0; pass < passes; pass++)
          pass_horizontal (plane, width, height, whole, sixteenths, edge);
      if (direction != SB_DIRECTION_HORIZONTAL)
        for (guint pass = 0; pass < passes; pass++)
          pass_vertical (plane, width, height, whole, sixteenths, edge);

      for (gsize i = 0; i < n; i++)
        work[4 * i + c] = plane[i];
    }
}

static void
blur_from (const guint16 *work, const guint16 *in, guint16 *out, guint width, guint height,
           const SbEdit *edit, const SbReferenceTone *tone)
{
  const gsize n = (gsize)width * height;
  const gboolean linear = edit->values[SB_BLUR_LINEAR] != 0;

  if (radius_in_sixteenths (edit) == 0)
    {
      memcpy (out, in, n * 4 * sizeof (guint16));
      return;
    }

  g_autofree guint16 *result = g_memdup2 (work, n * 4 * sizeof (guint16));
  blur_passes (result, width, height, edit);
  sb_reference_from_work (result, result, n, linear, tone);

  g_autofree Plane *mask = area_mask (&edit->area, width, height);
  for (gsize i = 0; i < n; i++)
    blend_pixel (in + 4 * i, result + 4 * i, mask[i], out + 4 * i);
}

void
sb_reference_blur (const guint16 *in, guint16 *out, guint width, guint height, const SbEdit *edit,
                   const SbReferenceTone *tone)
{
  const gsize n = (gsize)width * height;
  g_autofree guint16 *work = g_new (guint16, n * 4);

  sb_reference_to_work (in, work, n, edit->values[SB_BLUR_LINEAR] != 0, tone);
  blur_from (work, in, out, width, height, edit, tone);
}

void
sb_reference_blur_work (const guint16 *work, guint16 *out, guint width, guint height,
                        const SbEdit *edit, const SbReferenceTone *tone)
{
  const gsize n = (gsize)width * height;
  g_autofree guint16 *in = g_new (guint16, n * 4);

  sb_reference_from_work (work, in, n, edit->values[SB_BLUR_LINEAR] != 0, tone);
  blur_from (work, in, out, width, height, edit, tone);
}

/* --- The Haar transform ---------------------------------------------------------------------- */

void
sb_reference_haar (const float *samples, guint width, guint height, guint levels,
                   SbReferenceHaar *haar)
{
  const float *from = samples;

  memset (haar, 0, sizeof *haar);
  haar->levels = levels;
  for (guint l = 0; l < levels; l++)
    {
      const guint columns = (width + 1) / 2, rows = (height + 1) / 2;
      const gsize n = (gsize)columns * rows;

      haar->columns[l] = columns;
      haar->rows[l] = rows;
      haar->means[l] = g_new (float, n);
      for (guint o = 0; o < 3; o++)
        haar->details[l][o] = g_new (float, n);
      for (guint j = 0; j < rows; j++)
        for (guint i = 0; i < columns; i++)
          {
            const guint x = 2 * i, x1 = x + 1 < width ? x + 1 : x;
            const guint y = 2 * j, y1 = y + 1 < height ? y + 1 : y;
            const float p = from[(gsize)y * width + x], q = from[(gsize)y * width + x1];
            const float r = from[(gsize)y1 * width + x], t = from[(gsize)y1 * width + x1];
            const gsize k = (gsize)j * columns + i;

            haar->means[l][k] = ((p + r) + (q + t)) / 4;
            haar->details[l][0][k] = ((p - r) + (q - t)) / 4;
            haar->details[l][1][k] = ((p + r) - (q + t)) / 4;
            haar->details[l][2][k] = ((p - r) - (q - t)) / 4;
          }
      from = haar->means[l];
      width = columns;
      height = rows;
    }
}

float *
sb_reference_haar_inverse (const SbReferenceHaar *haar, guint width, guint height)
{
  g_autofree float *a = g_memdup2 (haar->means[haar->levels - 1],
                                   (gsize)haar->columns[haar->levels - 1]
                                       * haar->rows[haar->levels - 1] * sizeof (float));

  for (guint l = haar->levels; l-- > 0;)
    {
      const guint columns = l > 0 ? haar->columns[l - 1] : width;
      const guint rows = l > 0 ? haar->rows[l - 1] : height;
      float *to = g_new (float, (gsize)columns *rows);

      for (guint y = 0; y < rows; y++)
        for (guint x = 0; x < columns; x++)
          {
            const gsize k = (gsize)(y / 2) * haar->columns[l] + x / 2;
            const float h = haar->details[l][0][k], v = haar->details[l][1][k];
            const float d = haar->details[l][2][k];
            const float across = x % 2 == 0 ? a[k] + v : a[k] - v;
            const float down = x % 2 == 0 ? h + d : h - d;

            to[(gsize)y * columns + x] = y % 2 == 0 ? across + down : across - down;
          }
      g_free (a);
      a = to;
    }
  return g_steal_pointer (&a);
}

void
sb_reference_haar_clear (SbReferenceHaar *haar)
{
  for (guint l = 0; l < haar->levels; l++)
    {
      g_free (haar->means[l]);
      for (guint o = 0; o < 3; o++)
        g_free (haar->details[l][o]);
    }
  haar->levels = 0;
}

const float *
sb_reference_haar_band (const SbReferenceHaar *haar, SbHaarBand band)
{
  return band.orientation == SB_HAAR_A ? haar->means[band.level - 1]
                                       : haar->details[band.level - 1][band.orientation - 1];
}

static gint64
luma_of (gint64 r, gint64 g, gint64 b)
{
  return (54 * r + 183 * g + 19 * b + 128) / 256;
}

float *
sb_reference_channel (SbImage *image, SbHaarChannel channel)
{
  const gsize n = (gsize)sb_image_get_width (image) * sb_image_get_height (image);
  const guint8 *p8 = sb_image_get_pixels (image);
  const guint16 *p16 = (const guint16 *)(const void *)p8;
  float *samples = g_new (float, n);

  for (gsize i = 0; i < n; i++)
    {
      gint64 c[4];

      for (guint k = 0; k < 4; k++)
        c[k] = sb_image_get_depth (image) == 8 ? p8[4 * i + k] : p16[4 * i + k];
      switch (channel)
        {
        case SB_HAAR_LIGHTNESS:
          samples[i] = (float)(MAX (MAX (c[0], c[1]), c[2]) + MIN (MIN (c[0], c[1]), c[2]));
          break;
        case SB_HAAR_LUMA:
          samples[i] = (float)luma_of (c[0], c[1], c[2]);
          break;
        case SB_HAAR_RED:
          samples[i] = (float)c[0];
          break;
        case SB_HAAR_GREEN:
          samples[i] = (float)c[1];
          break;
        case SB_HAAR_BLUE:
          samples[i] = (float)c[2];
          break;
        default:
          samples[i] = (float)c[3];
          break;
        }
    }
  return samples;
}

/* --- The edit of bands ----------------------------------------------------------------------- */

static float
changed (float c, float threshold, float gain, gboolean hard)
{
  if (hard)
    c = fabsf (c) > threshold ? c : 0;
  else
    c = copysignf (fmaxf (fabsf (c) - threshold, 0), c);
  return c * gain;
}

/* One plane through the transform, the changes and back, not rounded; details that are not zero are
 * counted before and after the changes. */
static void
change_plane (float *plane, guint width, guint height, const SbEdit *edit, guint64 counts[2])
{
  SbReferenceHaar haar;
  guint levels = 1;

  while ((MAX (width, height) - 1) >> levels > 0)
    levels++;
  levels = MIN (levels, (guint)edit->values[SB_BANDS_LEVELS]);
  if (levels == 0)
    {
      for (gsize i = 0; i < (gsize)width * height; i++)
        plane[i] *= (float)edit->values[SB_BANDS_GAIN_A];
      return;
    }

  sb_reference_haar (plane, width, height, levels, &haar);
  for (guint l = 0; l < levels; l++)
    for (gsize k = 0; k < (gsize)haar.columns[l] * haar.rows[l]; k++)
      {
        const float threshold = (float)(edit->values[SB_BANDS_THRESHOLD] * 257 / pow (2, l + 1));
        const guint first[3] = { SB_BANDS_GAIN_H, SB_BANDS_GAIN_V, SB_BANDS_GAIN_D };

        for (guint o = 0; o < 3; o++)
          {
            const float gain
                = (float)(edit->values[SB_BANDS_GAIN + l] * edit->values[first[o] + l]);

            counts[0] += haar.details[l][o][k] != 0;
            haar.details[l][o][k] = changed (haar.details[l][o][k], threshold, gain,
                                             edit->values[SB_BANDS_RULE] == SB_BANDS_HARD);
            counts[1] += haar.details[l][o][k] != 0;
          }
        if (l + 1 == levels)
          haar.means[l][k] *= (float)edit->values[SB_BANDS_GAIN_A];
      }

  g_autofree float *back = sb_reference_haar_inverse (&haar, width, height);
  memcpy (plane, back, (gsize)width * height * sizeof (float));
  sb_reference_haar_clear (&haar);
}

static void
bands_from (const guint16 *work, const guint16 *in, guint16 *out, guint width, guint height,
            const SbEdit *edit, guint64 counts[2])
{
  const gsize n = (gsize)width * height;
  g_autofree guint16 *result = g_memdup2 (work, n * 4 * sizeof (guint16));
  g_autofree float *plane = g_new (float, n);

  if (sb_edit_is_identity (edit))
    {
      memcpy (out, in, n * 4 * sizeof (guint16));
      return;
    }
  if (edit->values[SB_BANDS_LUMA] != 0)
    {
      for (gsize i = 0; i < n; i++)
        plane[i] = (float)luma_of (work[4 * i], work[4 * i + 1], work[4 * i + 2]);
      change_plane (plane, width, height, edit, counts);
      for (gsize i = 0; i < n; i++)
        {
          const double shift
              = rint (plane[i]) - (double)luma_of (work[4 * i], work[4 * i + 1], work[4 * i + 2]);

          for (guint c = 0; c < 3; c++)
            result[4 * i + c] = (guint16)CLAMP (work[4 * i + c] + shift, 0, MAXIMUM);
        }
    }
  else
    for (guint c = 0; c < 3; c++)
      {
        for (gsize i = 0; i < n; i++)
          plane[i] = work[4 * i + c];
        change_plane (plane, width, height, edit, counts);
        for (gsize i = 0; i < n; i++)
          result[4 * i + c] = (guint16)CLAMP (rint (plane[i]), 0, MAXIMUM);
      }
  sb_reference_from_work (result, result, n, FALSE, NULL);

  g_autofree Plane *mask = area_mask (&edit->area, width, height);
  for (gsize i = 0; i < n; i++)
    blend_pixel (in + 4 * i, result + 4 * i, mask[i], out + 4 * i);
}

void
sb_reference_bands (const guint16 *in, guint16 *out, guint width, guint height, const SbEdit *edit)
{
  const gsize n = (gsize)width * height;
  g_autofree guint16 *work = g_new (guint16, n * 4);

  guint64 counts[2] = { 0, 0 };

  sb_reference_to_work (in, work, n, FALSE, NULL);
  bands_from (work, in, out, width, height, edit, counts);
}

void
sb_reference_count_bands (const guint16 *in, guint width, guint height, const SbEdit *edit,
                          guint64 *before, guint64 *after)
{
  const gsize n = (gsize)width * height;
  g_autofree guint16 *work = g_new (guint16, n * 4);
  g_autofree guint16 *out = g_new (guint16, n * 4);
  guint64 counts[2] = { 0, 0 };

  sb_reference_to_work (in, work, n, FALSE, NULL);
  bands_from (work, in, out, width, height, edit, counts);
  *before = counts[0];
  *after = counts[1];
}

void
sb_reference_bands_work (const guint16 *work, guint16 *out, guint width, guint height,
                         const SbEdit *edit)
{
  const gsize n = (gsize)width * height;
  g_autofree guint16 *in = g_new (guint16, n * 4);

  guint64 counts[2] = { 0, 0 };

  sb_reference_from_work (work, in, n, FALSE, NULL);
  bands_from (work, in, out, width, height, edit, counts);
}

SbImage *
sb_reference_fold (SbImage *image, const SbEditList *edits, guint depth,
                   const SbReferenceTone *tone)
{
  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  const gsize n = (gsize)width * height * 4;
  const guint8 *pixels = sb_image_get_pixels (image);
  g_autofree guint16 *state = g_new (guint16, n);
  SbImage *folded = sb_image_new (width, height, depth, NULL);

  if (folded == NULL)
    return NULL;

  if (sb_image_get_depth (image) == 8)
    for (gsize i = 0; i < n; i++)
      state[i] = (guint16)(pixels[i] * 257);
  else
    memcpy (state, pixels, n * sizeof (guint16));

  for (guint e = 0; edits != NULL && e < edits->n_edits; e++)
    {
      g_autofree guint16 *next = g_new (guint16, n);

      if (edits->edits[e].kind == SB_EDIT_BANDS)
        sb_reference_bands (state, next, width, height, &edits->edits[e]);
      else
        sb_reference_blur (state, next, width, height, &edits->edits[e], tone);
      memcpy (state, next, n * sizeof (guint16));
    }

  guint8 *out = sb_image_writable (folded);
  if (depth == 8)
    for (gsize i = 0; i < n; i++)
      out[i] = (guint8)divide_rounded (state[i], 257);
  else
    memcpy (out, state, n * sizeof (guint16));
  sb_image_set_profile (folded, sb_image_get_profile (image));
  return folded;
}
