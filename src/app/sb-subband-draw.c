/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"
#include "sb-subband-view-private.h"

#include <adwaita.h>
#include <math.h>

/* A name is there in bands that are so many times larger than it, gone in those that are as large;
 * gone where a coefficient is so many device pixels large. */
#define NAME_ROOM  1.6
#define NAME_POINT 4.0
#define NAME_INSET 3.0
/* Bands of fewer device pixels have no border inside: it would hide them. */
#define BORDER_SIDE 4
/* The least side of an outline around what is too small to be seen. */
#define OUTLINE_SIDE 7.0
#define BAR_WIDTH    120.0
#define BAR_HEIGHT   8.0
#define BAR_INSET    12.0
#define BAR_STOPS    17

static void
append_frame (GtkSnapshot *snapshot, const graphene_rect_t *rect, float width,
              const GdkRGBA *colour)
{
  const float widths[4] = { width, width, width, width };
  const GdkRGBA colours[4] = { *colour, *colour, *colour, *colour };
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (&outline, rect, 0);
  gtk_snapshot_append_border (snapshot, &outline, widths, colours);
}

/* A box of the canvas' picture on the widget, on whole device pixels, perhaps none; FALSE: it lies
 * outside. */
static gboolean
place_box (SbCanvas *canvas, double x, double y, double width, double height, graphene_rect_t *rect)
{
  const double scale = gtk_widget_get_scale_factor (GTK_WIDGET (canvas));
  double x0, y0, x1, y1;

  sb_canvas_to_widget (canvas, x, y, &x0, &y0);
  sb_canvas_to_widget (canvas, x + width, y + height, &x1, &y1);
  x0 = floor (x0 * scale + 0.5) / scale;
  y0 = floor (y0 * scale + 0.5) / scale;
  x1 = floor (x1 * scale + 0.5) / scale;
  y1 = floor (y1 * scale + 0.5) / scale;
  /* Far outside a float is no longer exact, and nothing is seen of it. */
  const double right = gtk_widget_get_width (GTK_WIDGET (canvas)) + 2.0;
  const double bottom = gtk_widget_get_height (GTK_WIDGET (canvas)) + 2.0;
  x0 = MAX (x0, -2);
  y0 = MAX (y0, -2);
  x1 = MIN (x1, right);
  y1 = MIN (y1, bottom);
  if (x1 < x0 || y1 < y0)
    return FALSE;
  graphene_rect_init (rect, (float)x0, (float)y0, (float)(x1 - x0), (float)(y1 - y0));
  return TRUE;
}

/* Two lines, so that it is seen on any ground. */
static void
append_outline (SbCanvas *canvas, GtkSnapshot *snapshot, double x, double y, double width,
                double height)
{
  const GdkRGBA dark = { 0, 0, 0, 0.75f }, light = { 1, 1, 1, 1 };
  graphene_rect_t rect;

  if (!place_box (canvas, x, y, width, height, &rect))
    return;
  const float more_x = (float)MAX (0, ceil ((OUTLINE_SIDE - rect.size.width) / 2));
  const float more_y = (float)MAX (0, ceil ((OUTLINE_SIDE - rect.size.height) / 2));
  graphene_rect_inset (&rect, -1 - more_x, -1 - more_y);
  append_frame (snapshot, &rect, 1, &light);
  graphene_rect_inset (&rect, -1, -1);
  append_frame (snapshot, &rect, 1, &dark);
}

static void
append_pointed (SbSubbandView *self, GtkSnapshot *snapshot)
{
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  const SbHaarCell *cell = &map->cells[self->pointed.cell];

  append_outline (self->canvas, snapshot, cell->x + self->pointed.column * cell->scale,
                  cell->y + self->pointed.row * cell->scale, cell->scale, cell->scale);
}

/* --- Names ------------------------------------------------------------------------------------ */

static PangoLayout *
make_layout (SbSubbandView *self, const char *text)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_scale_new (PANGO_SCALE_SMALL));
  pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum"));
  pango_layout_set_attributes (layout, attributes);
  return layout;
}

/* Light on dark, whatever is below. */
static void
append_text (GtkSnapshot *snapshot, PangoLayout *layout, float x, float y, float alpha)
{
  const GdkRGBA ground = { 0, 0, 0, 0.6f * alpha }, ink = { 1, 1, 1, alpha };
  int width, height;
  GskRoundedRect pill;

  pango_layout_get_pixel_size (layout, &width, &height);
  const graphene_rect_t rect = GRAPHENE_RECT_INIT (x, y, (float)width + 8, (float)height + 2);
  gsk_rounded_rect_init_from_rect (&pill, &rect, 4);
  gtk_snapshot_push_rounded_clip (snapshot, &pill);
  gtk_snapshot_append_color (snapshot, &ground, &rect);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x + 4, y + 1));
  gtk_snapshot_append_layout (snapshot, layout, &ink);
  gtk_snapshot_restore (snapshot);
}

static void
append_name (SbSubbandView *self, GtkSnapshot *snapshot, const SbHaarCell *cell, double x, double y,
             double width, double height)
{
  /* Those of a grid are as large as their cell allows: there zoom alone tells. */
  const double point = sb_canvas_get_zoom (self->canvas);
  double alpha = CLAMP (2 - point / (NAME_POINT / 2), 0, 1);
  double x0, y0, x1, y1;
  int name_width, name_height;

  sb_canvas_to_widget (self->canvas, x, y, &x0, &y0);
  sb_canvas_to_widget (self->canvas, x + width, y + height, &x1, &y1);
  if (alpha <= 0 || x1 < 0 || y1 < 0 || x0 > gtk_widget_get_width (GTK_WIDGET (self->canvas))
      || y0 > gtk_widget_get_height (GTK_WIDGET (self->canvas)))
    return;
  g_autofree char *name = sb_haar_band_name (cell->band);
  /* What is not quite what it will be when the hand rests says so. */
  g_autofree char *text
      = cell->band.level <= self->estimated ? g_strconcat ("≈ ", name, NULL) : g_strdup (name);
  g_autoptr (PangoLayout) layout = make_layout (self, text);
  pango_layout_get_pixel_size (layout, &name_width, &name_height);
  const double room = MIN ((x1 - x0) / (name_width + 8 + 2 * NAME_INSET),
                           (y1 - y0) / (name_height + 2 + 2 * NAME_INSET));
  alpha *= CLAMP ((room - 1) / (NAME_ROOM - 1), 0, 1);
  if (alpha > 0)
    append_text (snapshot, layout, (float)(x0 + NAME_INSET), (float)(y0 + NAME_INSET),
                 (float)alpha);
}

/* --- The scale of colours --------------------------------------------------------------------- */

static void
append_bar (SbSubbandView *self, GtkSnapshot *snapshot)
{
  SbHaarLook look = *sb_subband_model_get_look (self->model);
  const int widget_width = gtk_widget_get_width (GTK_WIDGET (self->canvas));
  const int widget_height = gtk_widget_get_height (GTK_WIDGET (self->canvas));
  GskColorStop stops[BAR_STOPS];
  /* Where a scale ends: a coefficient of so much, as the status line has it in the orthonormal
   * scale, is shown in the last colour. */
  SbImage *image = sb_document_get_image (sb_subband_model_get_document (self->model));
  const double end = 255 / look.gain
                     * sb_haar_unit (sb_subband_model_get_choice (self->model).channel,
                                     image != NULL ? sb_image_get_depth (image) : 8);
  g_autofree char *text = sb_number_format (end, 4);
  g_autofree char *low = sb_number_format (-end, 4);
  g_autofree char *high = g_strconcat ("+", text, NULL);
  const char *texts[] = { low, "0", high };

  look.dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  for (guint i = 0; i < BAR_STOPS; i++)
    {
      guint8 rgb[3];
      double u = 2.0 * i / (BAR_STOPS - 1) - 1;

      if (look.logarithmic)
        u = copysign (log2 (1 + 255 * fabs (u)) / 8, u);
      sb_haar_color (&look, u, rgb);
      stops[i] = (GskColorStop){ (float)i / (BAR_STOPS - 1),
                                 { rgb[0] / 255.f, rgb[1] / 255.f, rgb[2] / 255.f, 1 } };
    }

  g_autoptr (PangoLayout) layout = make_layout (self, "0");
  int text_width, text_height;
  pango_layout_get_pixel_size (layout, &text_width, &text_height);
  const float width = BAR_WIDTH, height = BAR_HEIGHT;
  const float x = BAR_INSET;
  const float y = (float)(widget_height - BAR_INSET - text_height) - height - 2;
  if (widget_width < BAR_WIDTH + 4 * BAR_INSET || y < widget_height / 2.0f)
    return;

  const GdkRGBA ground = { 0, 0, 0, 0.6f }, ink = { 1, 1, 1, 1 };
  const graphene_rect_t box
      = GRAPHENE_RECT_INIT (x - 6, y - 6, width + 12, height + (float)text_height + 12);
  const graphene_rect_t bar = GRAPHENE_RECT_INIT (x, y, width, height);
  GskRoundedRect rounded;
  gsk_rounded_rect_init_from_rect (&rounded, &box, 6);
  gtk_snapshot_push_rounded_clip (snapshot, &rounded);
  gtk_snapshot_append_color (snapshot, &ground, &box);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_append_linear_gradient (snapshot, &bar, &GRAPHENE_POINT_INIT (x, y),
                                       &GRAPHENE_POINT_INIT (x + width, y), stops, BAR_STOPS);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      pango_layout_set_text (layout, texts[i], -1);
      pango_layout_get_pixel_size (layout, &text_width, NULL);
      gtk_snapshot_save (snapshot);
      gtk_snapshot_translate (
          snapshot,
          &GRAPHENE_POINT_INIT (x + (width - (float)text_width) * (float)i / 2, y + height + 2));
      gtk_snapshot_append_layout (snapshot, layout, &ink);
      gtk_snapshot_restore (snapshot);
    }
}

/* --- All of it -------------------------------------------------------------------------------- */

void
sb_subband_view_draw_mosaic (SbSubbandView *self, GtkSnapshot *snapshot)
{
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  const SbHaarLook *look = sb_subband_model_get_look (self->model);
  const guint selected = sb_subband_model_get_selected (self->model);
  const gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  const float line = 1.f / (float)gtk_widget_get_scale_factor (GTK_WIDGET (self->canvas));
  const gboolean on_dark
      = look->display == SB_HAAR_MAGNITUDE || (look->display == SB_HAAR_COLOR && dark);
  const GdkRGBA thin = on_dark ? (GdkRGBA){ 1, 1, 1, 0.35f } : (GdkRGBA){ 0, 0, 0, 0.45f };
  GdkRGBA accent;
  graphene_rect_t rect;
  double x, y, width, height;

  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                       dark ? "accent_color" : "accent_bg_color", &accent))
    accent = (GdkRGBA){ 0.2f, 0.5f, 0.9f, 1 };

  for (guint i = 0; i < map->n_cells; i++)
    {
      sb_subband_map_get_box (map, i, &x, &y, &width, &height);
      if (i != selected && place_box (self->canvas, x, y, width, height, &rect)
          && MIN (rect.size.width, rect.size.height) >= BORDER_SIDE * line)
        append_frame (snapshot, &rect, line, &thin);
    }
  sb_subband_map_get_box (map, selected, &x, &y, &width, &height);
  if (place_box (self->canvas, x, y, width, height, &rect))
    {
      /* Over the borders of its neighbours as well, or it would be lost among blue coefficients. */
      const float out
          = MIN (rect.size.width, rect.size.height) < BORDER_SIDE * line ? 2 * line : line;
      graphene_rect_inset (&rect, -out, -out);
      append_frame (snapshot, &rect, 2 * line, &accent);
    }
  for (guint i = 0; i < map->n_cells; i++)
    {
      sb_subband_map_get_box (map, i, &x, &y, &width, &height);
      append_name (self, snapshot, &map->cells[i], x, y, width, height);
    }
  if (self->has_pointed)
    append_pointed (self, snapshot);
  if (look->display == SB_HAAR_COLOR)
    append_bar (self, snapshot);
}

void
sb_subband_view_draw_photo (SbSubbandView *self, GtkSnapshot *snapshot)
{
  const SbRect area
      = sb_subband_map_get_area (sb_subband_model_get_map (self->model), self->pointed);

  append_outline (self->photo, snapshot, area.x, area.y, area.width, area.height);
}
