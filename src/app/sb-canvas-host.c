/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-canvas-private.h"

#include "sb-memory.h"

/* Where there is no GL: the show thread fills memory, which becomes a texture of GTK's. */

typedef struct
{
  gpointer memory;
  gsize bytes;
} HostBuffer;

static void
host_buffer_free (gpointer data)
{
  HostBuffer *buffer = data;
  sb_memory_free (buffer->memory, buffer->bytes);
  g_free (buffer);
}

/* Lends what is not lent, large enough for what is wanted. */
static void
lend_host_buffers (SbCanvas *self)
{
  const gsize needed = (gsize)self->viewport.width * self->viewport.height * 4;

  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    {
      const gsize lent = sb_document_view_lent (self->view, i);
      if (lent >= needed || (lent > 0 && !sb_document_view_reclaim (self->view, i)))
        continue;
      if (self->host_bytes[i] < needed)
        {
          sb_memory_free (self->host_buffers[i], self->host_bytes[i]);
          self->host_buffers[i] = sb_memory_alloc (needed);
          self->host_bytes[i] = self->host_buffers[i] != NULL ? needed : 0;
        }
      if (self->host_buffers[i] != NULL)
        sb_document_view_give (self->view, i, self->host_buffers[i], self->host_bytes[i]);
    }
}

/* The newest pixels become the texture, memory and all. */
static void
take_host_frame (SbCanvas *self)
{
  SbFrame frame;

  if (!sb_document_view_take (self->view, &frame))
    return;
  HostBuffer *buffer = g_new (HostBuffer, 1);
  *buffer = (HostBuffer){ g_steal_pointer (&self->host_buffers[frame.buffer]),
                          self->host_bytes[frame.buffer] };
  self->host_bytes[frame.buffer] = 0;
  const gsize stride = (gsize)frame.view.width * 4;
  g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (buffer->memory, stride * frame.view.height,
                                                         host_buffer_free, buffer);
  g_clear_object (&self->texture);
  /* Opaque, so it is premultiplied as it is. */
  self->texture = gdk_memory_texture_new (frame.view.width, frame.view.height,
                                          GDK_MEMORY_R8G8B8A8_PREMULTIPLIED, bytes, stride);
  self->texture_view = frame.view;
  sb_document_view_drawn (self->view, &frame);
}

void
sb_canvas_host_snapshot (SbCanvas *self, GtkSnapshot *snapshot)
{
  const float scale = (float)self->scale;
  const float width = (float)gtk_widget_get_width (GTK_WIDGET (self));
  const float height = (float)gtk_widget_get_height (GTK_WIDGET (self));
  const guint8 *ground = self->wanted.ground;
  const GdkRGBA colour = { ground[0] / 255.f, ground[1] / 255.f, ground[2] / 255.f, 1.f };
  graphene_rect_t place;

  if (self->has_wanted)
    {
      take_host_frame (self);
      lend_host_buffers (self);
    }
  gtk_snapshot_append_color (snapshot, &colour, &GRAPHENE_RECT_INIT (0, 0, width, height));
  if (self->texture == NULL || self->viewport.picture_width <= 0)
    return;
  sb_canvas_place (self, &self->texture_view, &place);
  graphene_rect_scale (&place, 1 / scale, 1 / scale, &place);
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  gtk_snapshot_append_texture (snapshot, self->texture, &place);
  gtk_snapshot_pop (snapshot);
}

void
sb_canvas_host_free (SbCanvas *self)
{
  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    {
      sb_memory_free (self->host_buffers[i], self->host_bytes[i]);
      self->host_buffers[i] = NULL;
      self->host_bytes[i] = 0;
    }
  g_clear_object (&self->texture);
}
