/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-haar.h"
#include "sb-error.h"
#include "sb-haar-arith.h"
#include "sb-haar-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* --- Sizes and names ------------------------------------------------------------------------- */

static const char *const channel_keys[SB_N_HAAR_CHANNELS]
    = { "lightness", "luma", "red", "green", "blue", "alpha" };
static const char orientation_letters[SB_N_HAAR_ORIENTATIONS] = { 'A', 'H', 'V', 'D' };

guint
sb_haar_side (guint side, guint level)
{
  g_return_val_if_fail (level < 32, 1);

  return (guint)(((guint64)side + (G_GUINT64_CONSTANT (1) << level) - 1) >> level);
}

guint
sb_haar_max_levels (guint width, guint height)
{
  guint level = 1;

  while (level < SB_HAAR_MAX_LEVELS && sb_haar_side (MAX (width, height), level) > 1)
    level++;
  return level;
}

const char *
sb_haar_channel_key (SbHaarChannel channel)
{
  g_return_val_if_fail ((guint)channel < SB_N_HAAR_CHANNELS, NULL);

  return channel_keys[channel];
}

gboolean
sb_haar_channel_parse (const char *text, SbHaarChannel *channel, GError **error)
{
  g_return_val_if_fail (text != NULL && channel != NULL, FALSE);

  GString *names = g_string_new (NULL);

  for (guint i = 0; i < SB_N_HAAR_CHANNELS; i++)
    {
      if (g_str_equal (text, channel_keys[i]))
        {
          *channel = (SbHaarChannel)i;
          g_string_free (names, TRUE);
          return TRUE;
        }
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", channel_keys[i]);
    }

  g_autofree char *shown = g_utf8_make_valid (text, -1);

  g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("“%s” is not a channel; the channels are %s"),
               shown, names->str);
  g_string_free (names, TRUE);
  return FALSE;
}

char *
sb_haar_band_name (SbHaarBand band)
{
  g_return_val_if_fail ((guint)band.orientation < SB_N_HAAR_ORIENTATIONS, NULL);

  return g_strdup_printf ("c%c%u", orientation_letters[band.orientation], band.level);
}

gboolean
sb_haar_band_parse (const char *text, guint levels, SbHaarBand *band, GError **error)
{
  g_return_val_if_fail (text != NULL && band != NULL, FALSE);

  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    {
      const SbHaarBand one = sb_haar_nth_band (levels, n);
      g_autofree char *name = sb_haar_band_name (one);

      if (g_str_equal (text, name))
        {
          *band = one;
          return TRUE;
        }
    }

  g_autofree char *shown = g_utf8_make_valid (text, -1);

  g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
               _ ("“%s” is not a band; the bands are cA%u, and cH, cV and cD of level 1 to %u"),
               shown, levels, levels);
  return FALSE;
}

guint
sb_haar_n_bands (guint levels)
{
  return 1 + 3 * levels;
}

SbHaarBand
sb_haar_nth_band (guint levels, guint n)
{
  if (n == 0)
    return (SbHaarBand){ levels, SB_HAAR_A };
  return (SbHaarBand){ levels - (n - 1) / 3, (SbHaarOrientation)(SB_HAAR_H + (n - 1) % 3) };
}

guint
sb_haar_band_index (guint levels, SbHaarBand band)
{
  if (band.orientation == SB_HAAR_A)
    return 0;
  return 1 + 3 * (levels - band.level) + (guint)(band.orientation - SB_HAAR_H);
}

gboolean
sb_haar_check (const SbHaarChoice *choice, guint width, guint height, GError **error)
{
  const guint deepest = sb_haar_max_levels (width, height);

  if ((guint)choice->channel >= SB_N_HAAR_CHANNELS)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_INVALID, _ ("There is no channel %u"),
                   (guint)choice->channel);
      return FALSE;
    }
  if (choice->levels >= 1 && choice->levels <= deepest)
    return TRUE;
  g_set_error (error, SB_ERROR, SB_ERROR_INVALID,
               _ ("%u levels: a picture of %u × %u pixels has 1 to %u"), choice->levels, width,
               height, deepest);
  return FALSE;
}

/* --- The mosaic ------------------------------------------------------------------------------ */

void
sb_haar_mosaic (guint width, guint height, guint levels, SbHaarLayout layout, guint *columns,
                guint *rows, SbHaarCell *cells)
{
  g_return_if_fail (levels >= 1 && levels <= SB_HAAR_MAX_LEVELS);

  guint x = sb_haar_side (width, levels), y = sb_haar_side (height, levels);
  const guint cell_width = sb_haar_side (width, 1), cell_height = sb_haar_side (height, 1);

  for (guint n = 0; n < sb_haar_n_bands (levels); n++)
    {
      const SbHaarBand band = sb_haar_nth_band (levels, n);
      SbHaarCell cell = { .band = band,
                          .columns = sb_haar_side (width, band.level),
                          .rows = sb_haar_side (height, band.level),
                          .scale = 1 };

      if (layout == SB_HAAR_GRID)
        {
          cell.x = band.orientation * ((double)cell_width + SB_HAAR_GRID_GAP);
          cell.y = (band.level - 1) * ((double)cell_height + SB_HAAR_GRID_GAP);
          cell.scale = ldexp (1, (int)band.level - 1);
        }
      else
        {
          cell.x = band.orientation == SB_HAAR_V || band.orientation == SB_HAAR_D ? x : 0;
          cell.y = band.orientation == SB_HAAR_H || band.orientation == SB_HAAR_D ? y : 0;
        }
      if (cells != NULL)
        cells[n] = cell;
      if (band.orientation == SB_HAAR_D)
        {
          x += cell.columns;
          y += cell.rows;
        }
    }
  if (layout == SB_HAAR_GRID)
    {
      x = SB_N_HAAR_ORIENTATIONS * cell_width + (SB_N_HAAR_ORIENTATIONS - 1) * SB_HAAR_GRID_GAP;
      y = levels * cell_height + (levels - 1) * SB_HAAR_GRID_GAP;
    }
  if (columns != NULL)
    *columns = x;
  if (rows != NULL)
    *rows = y;
}

void
sb_haar_color (const SbHaarLook *look, double u, guint8 rgb[3])
{
  g_return_if_fail (look != NULL && rgb != NULL);

  sb_haar_shade (look->display, look->dark, (float)CLAMP (u, -1.0, 1.0), rgb);
}

/* --- The transform --------------------------------------------------------------------------- */

SbHaar *
sb_haar_alloc (guint width, guint height, guint depth, const SbHaarChoice *choice, GError **error)
{
  const guint n = sb_haar_n_bands (choice->levels);
  SbHaar *haar = g_new0 (SbHaar, 1);
  gsize total = 0;

  g_atomic_ref_count_init (&haar->references);
  haar->set.width = width;
  haar->set.height = height;
  haar->set.depth = depth;
  haar->set.choice = *choice;
  for (guint i = 0; i < n; i++)
    {
      SbHaarPlane *plane = &haar->set.planes[i];
      const guint level = sb_haar_nth_band (choice->levels, i).level;

      plane->columns = sb_haar_side (width, level);
      plane->rows = sb_haar_side (height, level);
      plane->stride = plane->columns;
      total += plane->stride * plane->rows;
    }
  haar->memory = g_try_new (float, total);
  if (haar->memory == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory for the subbands of %u × %u pixels"), width,
                   height);
      g_free (haar);
      return NULL;
    }
  total = 0;
  for (guint i = 0; i < n; i++)
    {
      haar->set.planes[i].values = haar->memory + total;
      total += haar->set.planes[i].stride * haar->set.planes[i].rows;
    }
  return haar;
}

/* R, G, B, A of pixel i. */
static inline guint
channel_of (const guint8 *p8, const guint16 *p16, gsize i)
{
  return p16 != NULL ? p16[i] : p8[i];
}

void
sb_haar_samples (const guint8 *pixels, gsize n, guint depth, SbHaarChannel channel, float *samples)
{
  const guint16 *p16 = depth == 16 ? (const guint16 *)(const void *)pixels : NULL;

  for (gsize i = 0; i < n; i++)
    {
      gint32 c[4];

      for (guint k = 0; k < 4; k++)
        c[k] = (gint32)channel_of (pixels, p16, 4 * i + k);
      switch (channel)
        {
        case SB_HAAR_LIGHTNESS:
          samples[i] = (float)sb_haar_lightness (c[0], c[1], c[2]);
          break;
        case SB_HAAR_LUMA:
          samples[i] = (float)sb_haar_luma (c[0], c[1], c[2]);
          break;
        default:
          samples[i] = (float)c[channel - SB_HAAR_RED];
          break;
        }
    }
}

void
sb_haar_forward_plane (const SbHaarPlane *from, const SbHaarPlane *a, const SbHaarPlane *h,
                       const SbHaarPlane *v, const SbHaarPlane *d)
{
  for (guint j = 0; j < a->rows; j++)
    {
      const float *upper = from->values + 2 * j * from->stride;
      const float *lower = 2 * j + 1 < from->rows ? upper + from->stride : upper;

      for (guint i = 0; i < a->columns; i++)
        {
          const guint left = 2 * i, right = MIN (left + 1, from->columns - 1);
          const SbHaarQuad quad
              = sb_haar_forward (upper[left], upper[right], lower[left], lower[right]);

          a->values[j * a->stride + i] = quad.a;
          h->values[j * h->stride + i] = quad.h;
          v->values[j * v->stride + i] = quad.v;
          d->values[j * d->stride + i] = quad.d;
        }
    }
}

void
sb_haar_inverse_plane (const SbHaarPlane *a, const SbHaarPlane *h, const SbHaarPlane *v,
                       const SbHaarPlane *d, const SbHaarPlane *to)
{
  for (guint j = 0; j < to->rows; j++)
    for (guint i = 0; i < to->columns; i++)
      {
        const gsize row = j / 2, column = i / 2;
        const SbHaarQuad quad
            = { a->values[row * a->stride + column], h->values[row * h->stride + column],
                v->values[row * v->stride + column], d->values[row * d->stride + column] };
        float block[4];

        sb_haar_inverse (quad, block);
        to->values[j * to->stride + i] = block[2 * (j & 1) + (i & 1)];
      }
}

SbHaar *
sb_haar_new (SbImage *image, const SbHaarChoice *choice, GError **error)
{
  g_return_val_if_fail (image != NULL && choice != NULL, NULL);

  const guint width = sb_image_get_width (image), height = sb_image_get_height (image);
  const guint depth = sb_image_get_depth (image);

  if (!sb_haar_check (choice, width, height, error))
    return NULL;

  g_autoptr (SbHaar) haar = sb_haar_alloc (width, height, depth, choice, error);
  g_autofree float *samples = g_try_new (float, (gsize)width *height);
  g_autofree float *means
      = g_try_new (float, (gsize)sb_haar_side (width, 1) * sb_haar_side (height, 1));

  if (haar == NULL)
    return NULL;
  if (samples == NULL || means == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                   _ ("There is not enough memory for the subbands of %u × %u pixels"), width,
                   height);
      return NULL;
    }
  haar->image = sb_image_ref (image);
  for (guint y = 0; y < height; y++)
    sb_haar_samples (sb_image_get_pixels (image) + y * sb_image_get_stride (image), width, depth,
                     choice->channel, samples + (gsize)y * width);

  SbHaarPlane from = { samples, width, width, height };
  for (guint level = 1; level <= choice->levels; level++)
    {
      const SbHaarPlane *details
          = &haar->set
                 .planes[sb_haar_band_index (choice->levels, (SbHaarBand){ level, SB_HAAR_H })];
      SbHaarPlane a = details[0];

      /* The means of one level take the place of those of the level before the last. */
      a.values = level == choice->levels ? haar->set.planes[0].values
                 : level % 2 == 1        ? means
                                         : samples;
      sb_haar_forward_plane (&from, &a, &details[0], &details[1], &details[2]);
      from = a;
    }
  return g_steal_pointer (&haar);
}

SbHaar *
sb_haar_ref (SbHaar *haar)
{
  g_return_val_if_fail (haar != NULL, NULL);

  g_atomic_ref_count_inc (&haar->references);
  return haar;
}

void
sb_haar_unref (SbHaar *haar)
{
  if (haar == NULL || !g_atomic_ref_count_dec (&haar->references))
    return;
  sb_image_unref (haar->image);
  g_free (haar->memory);
  g_free (haar);
}

guint
sb_haar_get_width (const SbHaar *haar)
{
  g_return_val_if_fail (haar != NULL, 0);
  return haar->set.width;
}

guint
sb_haar_get_height (const SbHaar *haar)
{
  g_return_val_if_fail (haar != NULL, 0);
  return haar->set.height;
}

guint
sb_haar_get_depth (const SbHaar *haar)
{
  g_return_val_if_fail (haar != NULL, 0);
  return haar->set.depth;
}

SbHaarChoice
sb_haar_get_choice (const SbHaar *haar)
{
  g_return_val_if_fail (haar != NULL, (SbHaarChoice){ 0 });
  return haar->set.choice;
}

const float *
sb_haar_get_band (const SbHaar *haar, SbHaarBand band, guint *columns, guint *rows)
{
  g_return_val_if_fail (haar != NULL, NULL);
  g_return_val_if_fail (band.level >= 1 && band.level <= haar->set.choice.levels, NULL);
  g_return_val_if_fail (band.orientation != SB_HAAR_A || band.level == haar->set.choice.levels,
                        NULL);

  const SbHaarPlane *plane = &haar->set.planes[sb_haar_band_index (haar->set.choice.levels, band)];

  if (columns != NULL)
    *columns = plane->columns;
  if (rows != NULL)
    *rows = plane->rows;
  return plane->values;
}
