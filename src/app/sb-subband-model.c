/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-subband-model.h"

struct _SbSubbandModel
{
  GObject parent_instance;

  SbDocument *document;
  gboolean visible;
  guint levels; /* wished for */
  SbHaarChannel channel;
  SbHaarLook look;
  SbHaarBand band; /* level of A: the last one */
  SbSubbandMap map;
};

enum
{
  CHANGED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (SbSubbandModel, sb_subband_model, G_TYPE_OBJECT)

/* Works out what follows from the wishes, and has the document do it. */
static void
follow (SbSubbandModel *self)
{
  SbImage *image = self->document != NULL ? sb_document_get_image (self->document) : NULL;
  const guint width = image != NULL ? sb_image_get_width (image) : 0;
  const guint height = image != NULL ? sb_image_get_height (image) : 0;
  const guint levels
      = image != NULL ? MIN (self->levels, sb_haar_max_levels (width, height)) : self->levels;

  if (self->map.width != width || self->map.height != height || self->map.levels != levels
      || self->map.layout != self->look.layout)
    sb_subband_map_init (&self->map, width, height, levels, self->look.layout);
  if (self->band.orientation == SB_HAAR_A || self->band.level > levels)
    self->band.level = levels;
  if (self->document != NULL)
    {
      const SbHaarChoice choice = { self->channel, levels };

      sb_document_set_subbands (self->document, self->visible && image != NULL ? &choice : NULL,
                                self->band);
    }
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
sb_subband_model_dispose (GObject *object)
{
  sb_subband_model_close (SB_SUBBAND_MODEL (object));

  G_OBJECT_CLASS (sb_subband_model_parent_class)->dispose (object);
}

static void
sb_subband_model_class_init (SbSubbandModelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = sb_subband_model_dispose;

  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
sb_subband_model_init (SbSubbandModel *self)
{
  self->levels = 5;
  self->channel = SB_HAAR_LIGHTNESS;
  self->look = (SbHaarLook){ .layout = SB_HAAR_PYRAMID, .display = SB_HAAR_SIGNED, .gain = 2 };
  self->band = (SbHaarBand){ 2, SB_HAAR_V };
}

SbSubbandModel *
sb_subband_model_new (SbDocument *document)
{
  g_return_val_if_fail (SB_IS_DOCUMENT (document), NULL);

  SbSubbandModel *self = g_object_new (SB_TYPE_SUBBAND_MODEL, NULL);

  self->document = g_object_ref (document);
  g_signal_connect_swapped (document, "picture-changed", G_CALLBACK (follow), self);
  follow (self);
  return self;
}

void
sb_subband_model_close (SbSubbandModel *self)
{
  g_return_if_fail (SB_IS_SUBBAND_MODEL (self));

  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_object (&self->document);
}

SbDocument *
sb_subband_model_get_document (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), NULL);

  return self->document;
}

void
sb_subband_model_set_visible (SbSubbandModel *self, gboolean visible)
{
  g_return_if_fail (SB_IS_SUBBAND_MODEL (self));

  if (self->visible == !!visible)
    return;
  self->visible = !!visible;
  follow (self);
}

gboolean
sb_subband_model_get_visible (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), FALSE);

  return self->visible;
}

void
sb_subband_model_set_levels (SbSubbandModel *self, guint levels)
{
  g_return_if_fail (SB_IS_SUBBAND_MODEL (self));

  levels = CLAMP (levels, 1, SB_HAAR_MAX_LEVELS);
  if (self->levels == levels)
    return;
  self->levels = levels;
  follow (self);
}

guint
sb_subband_model_get_wished_levels (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), 0);

  return self->levels;
}

guint
sb_subband_model_get_max_levels (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), 0);

  return self->map.width > 0 ? sb_haar_max_levels (self->map.width, self->map.height) : 0;
}

void
sb_subband_model_set_channel (SbSubbandModel *self, SbHaarChannel channel)
{
  g_return_if_fail (SB_IS_SUBBAND_MODEL (self));
  g_return_if_fail ((guint)channel < SB_N_HAAR_CHANNELS);

  if (self->channel == channel)
    return;
  self->channel = channel;
  follow (self);
}

SbHaarChoice
sb_subband_model_get_choice (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), ((SbHaarChoice){ SB_HAAR_LIGHTNESS, 1 }));

  return (SbHaarChoice){ self->channel, self->map.levels };
}

void
sb_subband_model_set_look (SbSubbandModel *self, const SbHaarLook *look)
{
  g_return_if_fail (SB_IS_SUBBAND_MODEL (self) && look != NULL);

  if (self->look.layout == look->layout && self->look.display == look->display
      && self->look.gain == look->gain && self->look.logarithmic == look->logarithmic)
    return;
  self->look = *look;
  follow (self);
}

const SbHaarLook *
sb_subband_model_get_look (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), NULL);

  return &self->look;
}

const SbSubbandMap *
sb_subband_model_get_map (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), NULL);

  return &self->map;
}

void
sb_subband_model_select (SbSubbandModel *self, guint cell)
{
  g_return_if_fail (SB_IS_SUBBAND_MODEL (self));

  if (cell >= self->map.n_cells || cell == sb_subband_model_get_selected (self))
    return;
  self->band = self->map.cells[cell].band;
  follow (self);
}

guint
sb_subband_model_get_selected (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), 0);

  return sb_haar_band_index (self->map.levels, self->band);
}

SbHaarBand
sb_subband_model_get_band (SbSubbandModel *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_MODEL (self), ((SbHaarBand){ 1, SB_HAAR_A }));

  return self->band;
}
