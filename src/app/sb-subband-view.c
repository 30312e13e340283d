/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-number.h"
#include "sb-subband-view-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>

enum
{
  PROP_0,
  PROP_LINKED,
  N_PROPS,
};

enum
{
  POINTED,
  N_SIGNALS,
};

static GParamSpec *props[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (SbSubbandView, sb_subband_view, GTK_TYPE_WIDGET)

static void
queue_overlays (SbSubbandView *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self->canvas));
  if (self->photo != NULL)
    gtk_widget_queue_draw (GTK_WIDGET (self->photo));
}

static gboolean
is_shown (SbSubbandView *self)
{
  return self->model != NULL && sb_subband_model_get_visible (self->model)
         && sb_subband_model_get_map (self->model)->width > 0;
}

/* --- Two canvases, one place ------------------------------------------------------------------ */

/* Device pixels of the mosaic's points for one of the picture's pixels. A cell of the grid is half
 * as large as the picture. */
static double
zoom_ratio (const SbSubbandMap *map)
{
  return map->layout == SB_HAAR_GRID ? 0.5 : 1;
}

/* What is under the pointer, or else in the middle, stays beside what it belongs to: the same place
 * on both canvases shows a coefficient and the pixels that it stands for. Of the many coefficients
 * of a pixel it is one of the frame's: the band that was last pointed at or selected. */
static void
photo_moved (SbSubbandView *self)
{
  gboolean fitted;
  double x, y, at_x, at_y;

  if (!self->linked || !is_shown (self) || !gtk_widget_get_mapped (GTK_WIDGET (self->photo)))
    return;
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  g_object_get (self->photo, "fitted", &fitted, NULL);
  if (fitted)
    {
      sb_canvas_put_fitted (self->canvas);
      return;
    }
  if (self->frame >= map->n_cells)
    self->frame = sb_subband_model_get_selected (self->model);
  sb_canvas_get_anchor (self->photo, &x, &y, &at_x, &at_y);
  sb_subband_map_from_picture (map, self->frame, &x, &y);
  sb_canvas_put (self->canvas, sb_canvas_get_zoom (self->photo) * zoom_ratio (map), x, y, at_x,
                 at_y);
}

static void
mosaic_moved (SbSubbandView *self)
{
  SbCoefficient coefficient;
  gboolean fitted;
  double x, y, at_x, at_y;

  if (!self->linked || !is_shown (self))
    return;
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  g_object_get (self->canvas, "fitted", &fitted, NULL);
  if (fitted)
    {
      sb_canvas_put_fitted (self->photo);
      return;
    }
  sb_canvas_get_anchor (self->canvas, &x, &y, &at_x, &at_y);
  if (sb_subband_map_hit (map, x, y, &coefficient))
    self->frame = coefficient.cell;
  else if (self->frame >= map->n_cells)
    self->frame = sb_subband_model_get_selected (self->model);
  sb_subband_map_to_picture (map, self->frame, &x, &y);
  sb_canvas_put (self->photo, sb_canvas_get_zoom (self->canvas) / zoom_ratio (map), x, y, at_x,
                 at_y);
}

/* --- What the pointer points at --------------------------------------------------------------- */

/* brief: the same in fewer letters. */
static char *
describe_pointed (SbSubbandView *self, char **brief)
{
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  const SbCoefficient c = self->pointed;
  const SbHaarBand band = map->cells[c.cell].band;
  const SbRect area = sb_subband_map_get_area (map, c);
  g_autofree char *name = sb_haar_band_name (band);
  g_autofree char *values = NULL;
  g_autofree char *product = NULL;
  float value;

  if (sb_document_pick_coefficient (sb_subband_model_get_document (self->model), band, c.column,
                                    c.row, &value))
    {
      g_autofree char *average = sb_number_format (value, 5);
      g_autofree char *orthonormal = sb_number_format (ldexp (value, (int)band.level), 5);

      /* Translators: a coefficient in both of its scales */
      values = g_strdup_printf (_ ("%s, orthonormal %s"), average, orthonormal);
      product = g_strdup_printf ("%s × %u = %s", average, 1u << band.level, orthonormal);
    }
  else if (band.level <= self->estimated)
    /* Translators: in place of the values of a coefficient, while a control is moved */
    values = g_strdup (_ ("estimated"));
  *brief = g_strdup_printf (
      /* Translators: of a coefficient: band, column and row, values, and the width, height, column
       * and row of the pixels that it stands for */
      _ ("%s (%u, %u)  %s  %d × %d at %d, %d"), name, c.column, c.row,
      product != NULL  ? product
      : values != NULL ? values
                       : "",
      area.width, area.height, area.x, area.y);
  return g_strdup_printf (
      /* Translators: of a coefficient: band, level, column and row, values, and the width, height,
       * column and row of the pixels that it stands for */
      _ ("%s  level %u  (%u, %u)  %s  area %d × %d at %d, %d"), name, band.level, c.column, c.row,
      values != NULL ? values : "", area.width, area.height, area.x, area.y);
}

static void
tell_pointed (SbSubbandView *self)
{
  g_autofree char *brief = NULL;
  g_autofree char *text
      = self->has_pointed && is_shown (self) ? describe_pointed (self, &brief) : NULL;

  g_signal_emit (self, signals[POINTED], 0, text != NULL ? text : "", brief != NULL ? brief : "");
}

static void
mosaic_pointed (SbSubbandView *self, double x, double y)
{
  self->over_photo = FALSE;
  self->has_pointed
      = is_shown (self) && x >= 0
        && sb_subband_map_hit (sb_subband_model_get_map (self->model), x, y, &self->pointed);
  tell_pointed (self);
  queue_overlays (self);
}

static void
photo_pointed (SbSubbandView *self, double x, double y)
{
  const gboolean had = self->has_pointed;

  self->over_photo = TRUE;
  self->has_pointed
      = is_shown (self) && x >= 0
        && sb_subband_map_cover (sb_subband_model_get_map (self->model),
                                 sb_subband_model_get_selected (self->model), x, y, &self->pointed);
  if (had || self->has_pointed)
    {
      tell_pointed (self);
      queue_overlays (self);
    }
}

/* The value under a resting pointer changes with the picture. */
static void
shown_cb (SbSubbandView *self)
{
  const guint estimated = sb_document_get_estimated (sb_subband_model_get_document (self->model));

  if (estimated != self->estimated)
    {
      self->estimated = estimated;
      gtk_widget_queue_draw (GTK_WIDGET (self->canvas));
    }
  if (self->has_pointed)
    tell_pointed (self);
}

/* --- Selecting -------------------------------------------------------------------------------- */

static void
clicked_cb (SbSubbandView *self, double x, double y)
{
  SbCoefficient coefficient;

  if (!is_shown (self)
      || !sb_subband_map_hit (sb_subband_model_get_map (self->model), x, y, &coefficient))
    return;
  sb_subband_model_select (self->model, coefficient.cell);
}

static gboolean
key_cb (SbSubbandView *self, guint key, guint code, GdkModifierType state)
{
  int dx = 0, dy = 0;

  if ((state & gtk_accelerator_get_default_mod_mask ()) != 0 || !is_shown (self))
    return GDK_EVENT_PROPAGATE;
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      dx = -1;
      break;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      dx = 1;
      break;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      dy = -1;
      break;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      dy = 1;
      break;
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      sb_subband_model_select (self->model, 0);
      return GDK_EVENT_STOP;
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      sb_subband_model_select (self->model, map->n_cells - 1);
      return GDK_EVENT_STOP;
    default:
      return GDK_EVENT_PROPAGATE;
    }
  sb_subband_model_select (
      self->model, sb_subband_map_step (map, sb_subband_model_get_selected (self->model), dx, dy));
  return GDK_EVENT_STOP;
}

/* --- The model -------------------------------------------------------------------------------- */

/* For those who do not see it. */
static void
describe (SbSubbandView *self)
{
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  g_autofree char *name = sb_haar_band_name (sb_subband_model_get_band (self->model));
  g_autofree char *text = g_strdup_printf (
      /* Translators: of the mosaic of subbands, for people who do not see it; %s is "cV2" */
      ngettext ("Subbands of %u level, %s selected", "Subbands of %u levels, %s selected",
                map->levels),
      map->levels, name);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self->canvas), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  text, -1);
}

static void
changed_cb (SbSubbandView *self)
{
  const SbSubbandMap *map = sb_subband_model_get_map (self->model);
  const guint selected = sb_subband_model_get_selected (self->model);
  const gboolean visible = sb_subband_model_get_visible (self->model);
  const gboolean another = visible != self->was_visible || map->layout != self->layout
                           || map->levels != self->levels || map->width != self->width
                           || map->height != self->height;

  if (selected != self->selected || another)
    self->frame = selected;
  self->selected = selected;
  /* A pointer that rests stays where it is; over the photo it means the selected band. */
  if (self->has_pointed && (another || self->over_photo))
    self->has_pointed = FALSE;
  tell_pointed (self);
  sb_canvas_set_subbands (self->canvas, map->columns, map->rows,
                          sb_subband_model_get_look (self->model));
  if (another)
    {
      self->was_visible = visible;
      self->layout = map->layout;
      self->levels = map->levels;
      self->width = map->width;
      self->height = map->height;
      photo_moved (self);
    }
  describe (self);
  queue_overlays (self);
}

static void
draw_mosaic (SbCanvas *canvas, GtkSnapshot *snapshot, gpointer data)
{
  SbSubbandView *self = data;

  if (is_shown (self))
    sb_subband_view_draw_mosaic (self, snapshot);
}

static void
draw_photo (SbCanvas *canvas, GtkSnapshot *snapshot, gpointer data)
{
  SbSubbandView *self = data;

  if (is_shown (self) && self->has_pointed)
    sb_subband_view_draw_photo (self, snapshot);
}

void
sb_subband_view_set_model (SbSubbandView *self, SbSubbandModel *model, SbCanvas *photo)
{
  g_return_if_fail (SB_IS_SUBBAND_VIEW (self));

  if (self->model != NULL)
    {
      SbDocument *document = sb_subband_model_get_document (self->model);

      if (document != NULL)
        g_signal_handlers_disconnect_by_data (document, self);
      g_signal_handlers_disconnect_by_data (self->model, self);
      g_signal_handlers_disconnect_by_data (self->photo, self);
      sb_canvas_set_overlay (self->photo, NULL, NULL);
      sb_canvas_set_document (self->canvas, NULL);
    }
  g_set_object (&self->model, model);
  g_set_object (&self->photo, photo);
  if (model == NULL)
    return;

  sb_canvas_set_document (self->canvas, sb_subband_model_get_document (model));
  sb_canvas_set_overlay (photo, draw_photo, self);
  g_signal_connect_swapped (model, "changed", G_CALLBACK (changed_cb), self);
  g_signal_connect_swapped (photo, "moved", G_CALLBACK (photo_moved), self);
  g_signal_connect_swapped (photo, "pointer-moved", G_CALLBACK (photo_pointed), self);
  g_signal_connect_swapped (sb_subband_model_get_document (model), "shown", G_CALLBACK (shown_cb),
                            self);
  changed_cb (self);
}

SbCanvas *
sb_subband_view_get_canvas (SbSubbandView *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_VIEW (self), NULL);

  return self->canvas;
}

GtkMenuButton *
sb_subband_view_get_menu_button (SbSubbandView *self)
{
  g_return_val_if_fail (SB_IS_SUBBAND_VIEW (self), NULL);

  return self->menu;
}

/* --- GObject ---------------------------------------------------------------------------------- */

static void
sb_subband_view_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_LINKED)
    g_value_set_boolean (value, SB_SUBBAND_VIEW (object)->linked);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sb_subband_view_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SbSubbandView *self = SB_SUBBAND_VIEW (object);

  if (id != PROP_LINKED)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  if (self->linked == g_value_get_boolean (value))
    return;
  self->linked = !self->linked;
  g_object_notify_by_pspec (object, props[PROP_LINKED]);
  if (self->linked && self->model != NULL)
    photo_moved (self);
}

static void
sb_subband_view_dispose (GObject *object)
{
  SbSubbandView *self = SB_SUBBAND_VIEW (object);

  sb_subband_view_set_model (self, NULL, NULL);
  for (GtkWidget *child; (child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL;)
    gtk_widget_unparent (child);

  G_OBJECT_CLASS (sb_subband_view_parent_class)->dispose (object);
}

static void
sb_subband_view_class_init (SbSubbandViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = sb_subband_view_get_property;
  object_class->set_property = sb_subband_view_set_property;
  object_class->dispose = sb_subband_view_dispose;

  props[PROP_LINKED]
      = g_param_spec_boolean ("linked", NULL, NULL, TRUE,
                              G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
  signals[POINTED] = g_signal_new ("pointed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);

  g_type_ensure (SB_TYPE_CANVAS);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "subbandview");
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/softbox/Softbox/subband-view.ui");
  gtk_widget_class_bind_template_child (widget_class, SbSubbandView, canvas);
  gtk_widget_class_bind_template_child (widget_class, SbSubbandView, menu);
}

static void
sb_subband_view_init (SbSubbandView *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  static const SbHaarLook look = { .gain = 1 };

  self->linked = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));

  sb_canvas_set_subbands (self->canvas, 0, 0, &look);
  sb_canvas_set_overlay (self->canvas, draw_mosaic, self);
  g_signal_connect_swapped (self->canvas, "moved", G_CALLBACK (mosaic_moved), self);
  g_signal_connect_swapped (self->canvas, "pointer-moved", G_CALLBACK (mosaic_pointed), self);
  g_signal_connect_swapped (self->canvas, "clicked", G_CALLBACK (clicked_cb), self);
  /* Before the canvas: it pans with the same keys. */
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (key_cb), self);
  gtk_widget_add_controller (GTK_WIDGET (self->canvas), keys);
}
