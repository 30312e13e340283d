/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-canvas-private.h"

#include <adwaita.h>
#include <math.h>
#include <string.h>
#include <glib/gi18n-lib.h>

#define CHECKER_SIZE 12
#define BUTTON_ZOOM  1.5

enum
{
  PROP_0,
  PROP_DOCUMENT,
  PROP_ZOOM,
  PROP_FITTED,
  PROP_RUNG,
  N_PROPS,
};

G_DEFINE_FINAL_TYPE (SbCanvas, sb_canvas, GTK_TYPE_WIDGET)

static GParamSpec *props[N_PROPS];
static guint moved;

/* --- What is to be seen ----------------------------------------------------------------------- */

static void
describe (SbCanvas *self)
{
  g_autofree char *label = NULL;

  if (self->subbands)
    return; /* who shows them knows what they are */
  if (self->viewport.picture_width > 0)
    label = g_strdup_printf (
        /* Translators: of the picture on screen, for people who do not see it: width, height, zoom
         */
        _ ("Photo, %d by %d, zoomed to %d percent"), (int)self->viewport.picture_width,
        (int)self->viewport.picture_height, (int)lround (self->viewport.zoom * 100));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  label != NULL ? label : _ ("No photo"), -1);
}

static void
fill_colours (SbView *view)
{
  static const guint8 dark[] = { 0x24, 0x5a, 0x6e }, light[] = { 0xeb, 0xcc, 0xf7 };
  const guint8 *grey = adw_style_manager_get_dark (adw_style_manager_get_default ()) ? dark : light;

  memset (view->ground, grey[0], sizeof view->ground);
  memset (view->checker[0], grey[1], sizeof view->checker[0]);
  memset (view->checker[1], grey[2], sizeof view->checker[1]);
}

void
sb_canvas_update (SbCanvas *self)
{
  const SbView old = self->wanted;
  gboolean comparing = FALSE;

  if (self->document != NULL)
    g_object_get (self->document, "comparing", &comparing, NULL);
  if (self->subbands)
    {
      self->wanted.what = SB_SHOW_SUBBANDS;
      self->wanted.look.dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
    }
  else
    self->wanted.what = comparing ? SB_SHOW_ORIGINAL : SB_SHOW_RESULT;
  self->wanted.width = self->viewport.width;
  self->wanted.height = self->viewport.height;
  self->wanted.zoom = self->viewport.zoom;
  self->wanted.checker_size = CHECKER_SIZE * (guint)self->scale;
  sb_viewport_get_origin (&self->viewport, &self->wanted.x, &self->wanted.y);
  fill_colours (&self->wanted);

  self->has_wanted = self->view != NULL && self->viewport.picture_width > 0
                     && self->viewport.width > 0 && self->viewport.height > 0
                     && gtk_widget_get_mapped (GTK_WIDGET (self));
  if (self->view != NULL)
    sb_document_view_set (self->view, self->has_wanted ? &self->wanted : NULL);
  if (self->overlay != NULL)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  sb_canvas_update_cursor (self);
  if (self->wanted.zoom != old.zoom)
    {
      describe (self);
      g_object_notify_by_pspec (G_OBJECT (self), props[PROP_ZOOM]);
    }
  /* A pointer that rests points at something else now. */
  if (self->pointer_x >= 0
      && (self->wanted.zoom != old.zoom || self->wanted.x != old.x || self->wanted.y != old.y))
    sb_canvas_emit_pointer (self);
}

/* After the viewport was changed by `change`: tells of "fitted", and shows it. */
static void
viewport_changed (SbCanvas *self, gboolean was_fitted)
{
  sb_canvas_update (self);
  if (self->viewport.fitted != was_fitted)
    g_object_notify_by_pspec (G_OBJECT (self), props[PROP_FITTED]);
}

void
sb_canvas_zoom_at (SbCanvas *self, double zoom, double x, double y)
{
  const gboolean was_fitted = self->viewport.fitted;

  if (self->viewport.picture_width <= 0)
    return;
  sb_viewport_zoom_at (&self->viewport, zoom, x, y);
  viewport_changed (self, was_fitted);
  g_signal_emit (self, moved, 0);
}

void
sb_canvas_pan_by (SbCanvas *self, double dx, double dy)
{
  if (self->viewport.picture_width <= 0)
    return;
  sb_viewport_pan (&self->viewport, dx, dy);
  sb_canvas_update (self);
  g_signal_emit (self, moved, 0);
}

gboolean
sb_canvas_place (SbCanvas *self, const SbView *view, graphene_rect_t *place)
{
  /* A view of this size is only a moment old: it is replaced as a whole. */
  if (view->width == self->viewport.width && view->height == self->viewport.height)
    {
      graphene_rect_init (place, 0, 0, (float)view->width, (float)view->height);
      return FALSE;
    }
  const double ratio = self->wanted.zoom / view->zoom;
  graphene_rect_init (place, (float)((view->x - self->wanted.x) * self->wanted.zoom),
                      (float)((view->y - self->wanted.y) * self->wanted.zoom),
                      (float)(view->width * ratio), (float)(view->height * ratio));
  return TRUE;
}

void
sb_canvas_set_rung (SbCanvas *self, const char *rung)
{
  if (g_strcmp0 (rung, self->rung) == 0)
    return;
  g_free (self->rung);
  self->rung = g_strdup (rung);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_RUNG]);
}

/* --- The interface --------------------------------------------------------------------------- */

GtkWidget *
sb_canvas_new (void)
{
  return g_object_new (SB_TYPE_CANVAS, NULL);
}

double
sb_canvas_get_zoom (SbCanvas *self)
{
  g_return_val_if_fail (SB_IS_CANVAS (self), 1.0);
  return self->viewport.zoom;
}

void
sb_canvas_set_zoom (SbCanvas *self, double zoom)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  const gboolean inside = self->pointer_x >= 0;
  sb_canvas_zoom_at (self, zoom,
                     inside ? self->pointer_x * self->scale : self->viewport.width / 2.0,
                     inside ? self->pointer_y * self->scale : self->viewport.height / 2.0);
}

void
sb_canvas_zoom_in (SbCanvas *self)
{
  sb_canvas_set_zoom (self, sb_canvas_get_zoom (self) * BUTTON_ZOOM);
}

void
sb_canvas_zoom_out (SbCanvas *self)
{
  sb_canvas_set_zoom (self, sb_canvas_get_zoom (self) / BUTTON_ZOOM);
}

void
sb_canvas_fit (SbCanvas *self)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  sb_canvas_put_fitted (self);
  g_signal_emit (self, moved, 0);
}

void
sb_canvas_pan (SbCanvas *self, double dx, double dy)
{
  g_return_if_fail (SB_IS_CANVAS (self));
  sb_canvas_pan_by (self, dx * self->viewport.width, dy * self->viewport.height);
}

void
sb_canvas_put_fitted (SbCanvas *self)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  const gboolean was_fitted = self->viewport.fitted;

  sb_viewport_fit (&self->viewport);
  viewport_changed (self, was_fitted);
}

/* --- Subbands, and what is drawn over the picture ----------------------------------------------
 */

void
sb_canvas_set_subbands (SbCanvas *self, guint columns, guint rows, const SbHaarLook *look)
{
  g_return_if_fail (SB_IS_CANVAS (self) && look != NULL);

  const gboolean was_fitted = self->viewport.fitted;

  self->subbands = TRUE;
  self->viewport.mosaic = TRUE;
  self->wanted.look = *look;
  if (columns == 0 || self->viewport.picture_width != columns
      || self->viewport.picture_height != rows)
    {
      sb_viewport_change_picture (&self->viewport, columns, rows);
      self->wanted.zoom = 0;
    }
  viewport_changed (self, was_fitted);
  sb_canvas_queue (self);
}

void
sb_canvas_get_ground (SbCanvas *self, guint8 ground[3])
{
  g_return_if_fail (SB_IS_CANVAS (self));

  memcpy (ground, self->wanted.ground, sizeof self->wanted.ground);
}

void
sb_canvas_set_overlay (SbCanvas *self, SbCanvasOverlayFunc func, gpointer data)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  self->overlay = func;
  self->overlay_data = data;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
sb_canvas_to_widget (SbCanvas *self, double x, double y, double *at_x, double *at_y)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  double left, top;

  sb_viewport_get_origin (&self->viewport, &left, &top);
  *at_x = (x - left) * self->viewport.zoom / self->scale;
  *at_y = (y - top) * self->viewport.zoom / self->scale;
}

void
sb_canvas_get_anchor (SbCanvas *self, double *x, double *y, double *at_x, double *at_y)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  const gboolean inside = self->pointer_x >= 0 && self->viewport.width > 0;

  *at_x = inside ? CLAMP (self->pointer_x * self->scale / self->viewport.width, 0, 1) : 0.5;
  *at_y = inside ? CLAMP (self->pointer_y * self->scale / self->viewport.height, 0, 1) : 0.5;
  *x = self->viewport.x + *at_x * self->viewport.width / self->viewport.zoom;
  *y = self->viewport.y + *at_y * self->viewport.height / self->viewport.zoom;
}

void
sb_canvas_put (SbCanvas *self, double zoom, double x, double y, double at_x, double at_y)
{
  g_return_if_fail (SB_IS_CANVAS (self));

  const gboolean was_fitted = self->viewport.fitted;

  if (self->viewport.picture_width <= 0 || self->viewport.width <= 0)
    return;
  sb_viewport_put (&self->viewport, zoom, x, y, at_x * self->viewport.width,
                   at_y * self->viewport.height);
  viewport_changed (self, was_fitted);
}

/* --- The document ---------------------------------------------------------------------------- */

/* The next step is asked for as soon as the last one is drawn, and so has the whole time between
 * two frames to be made in. At the start of a frame it would come a frame late. */
static void
on_after_paint (SbCanvas *self)
{
  if (self->document != NULL)
    sb_document_animate (self->document);
}

static void
forget_clock (SbCanvas *self)
{
  if (self->clock != NULL)
    g_signal_handlers_disconnect_by_func (self->clock, on_after_paint, self);
  g_clear_object (&self->clock);
}

/* Keeps the frames coming, and finds the clock, which changes with the window. */
static gboolean
on_tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  SbCanvas *self = SB_CANVAS (widget);

  if (self->clock != clock)
    {
      forget_clock (self);
      self->clock = g_object_ref (clock);
      g_signal_connect_object (clock, "after-paint", G_CALLBACK (on_after_paint), self,
                               G_CONNECT_SWAPPED);
    }
  return G_SOURCE_CONTINUE;
}

static void
on_animating (SbCanvas *self)
{
  gboolean animating = FALSE;

  if (self->document != NULL)
    g_object_get (self->document, "animating", &animating, NULL);
  if (animating && self->tick_id == 0)
    self->tick_id = gtk_widget_add_tick_callback (GTK_WIDGET (self), on_tick, NULL, NULL);
  else if (!animating && self->tick_id != 0)
    {
      gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->tick_id);
      self->tick_id = 0;
      forget_clock (self);
    }
}

static void
on_picture (SbCanvas *self)
{
  SbImage *image = self->document != NULL ? sb_document_get_image (self->document) : NULL;
  const gboolean was_fitted = self->viewport.fitted;

  if (self->subbands)
    return; /* who shows them tells of their size */
  sb_viewport_set_picture (&self->viewport, image != NULL ? sb_image_get_width (image) : 0,
                           image != NULL ? sb_image_get_height (image) : 0);
  self->wanted.zoom = 0; /* also tells of a zoom that is the same number of another picture */
  viewport_changed (self, was_fitted);
  sb_canvas_queue (self);
}

static void
on_shown (SbCanvas *self)
{
  if (self->view != NULL
      && (sb_document_view_has_frame (self->view) || sb_document_is_immediate (self->document)))
    sb_canvas_queue (self);
}

static void
drop_view (SbCanvas *self)
{
  if (self->view == NULL)
    return;
  sb_canvas_gl_forget_view (self);
  sb_document_view_withdraw (self->view);
  g_clear_pointer (&self->view, sb_document_view_free);
}

void
sb_canvas_set_document (SbCanvas *self, SbDocument *document)
{
  g_return_if_fail (SB_IS_CANVAS (self));
  g_return_if_fail (document == NULL || SB_IS_DOCUMENT (document));

  if (document == self->document)
    return;
  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  drop_view (self);
  g_set_object (&self->document, document);
  if (document != NULL)
    {
      self->view = sb_document_view_new (document);
      g_signal_connect_swapped (document, "shown", G_CALLBACK (on_shown), self);
      g_signal_connect_swapped (document, "picture-changed", G_CALLBACK (on_picture), self);
      g_signal_connect_swapped (document, "notify::comparing", G_CALLBACK (sb_canvas_update), self);
      g_signal_connect_swapped (document, "notify::animating", G_CALLBACK (on_animating), self);
      g_signal_connect_swapped (document, "notify::device-name", G_CALLBACK (sb_canvas_queue),
                                self);
    }
  on_picture (self);
  on_animating (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_DOCUMENT]);
}

/* --- GtkWidget ------------------------------------------------------------------------------- */

static void
sb_canvas_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  SbCanvas *self = SB_CANVAS (widget);

  if (self->area != NULL)
    gtk_widget_snapshot_child (widget, self->area, snapshot);
  else
    sb_canvas_host_snapshot (self, snapshot);
  if (self->overlay != NULL && self->viewport.picture_width > 0)
    self->overlay (self, snapshot, self->overlay_data);
}

static void
sb_canvas_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                   int *natural, int *minimum_baseline, int *natural_baseline)
{
  *minimum = *natural = 0;
  *minimum_baseline = *natural_baseline = -1;
}

static void
sb_canvas_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  SbCanvas *self = SB_CANVAS (widget);

  self->scale = MAX (gtk_widget_get_scale_factor (widget), 1);
  if (self->area != NULL)
    gtk_widget_size_allocate (self->area, &(GtkAllocation){ 0, 0, width, height }, -1);
  sb_viewport_resize (&self->viewport, width * self->scale, height * self->scale);
  sb_canvas_update (self);
  sb_canvas_queue (self);
}

static void
on_scale (SbCanvas *self)
{
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

static void
on_style (SbCanvas *self)
{
  sb_canvas_update (self);
  sb_canvas_queue (self); /* also the ground beside an old picture */
}

/* Only keys come this way: who clicks knows where. */
static gboolean
sb_canvas_focus (GtkWidget *widget, GtkDirectionType direction)
{
  if (gtk_widget_is_focus (widget) || !gtk_widget_grab_focus (widget))
    return FALSE;
  gtk_widget_add_css_class (widget, SB_CANVAS_REACHED);
  return TRUE;
}

static void
sb_canvas_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (sb_canvas_parent_class)->map (widget);
  sb_canvas_update (SB_CANVAS (widget));
}

static void
sb_canvas_unmap (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (sb_canvas_parent_class)->unmap (widget);
  sb_canvas_update (SB_CANVAS (widget));
}

/* --- GObject --------------------------------------------------------------------------------- */

static void
sb_canvas_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SbCanvas *self = SB_CANVAS (object);

  switch (id)
    {
    case PROP_DOCUMENT:
      g_value_set_object (value, self->document);
      break;
    case PROP_ZOOM:
      g_value_set_double (value, self->viewport.zoom);
      break;
    case PROP_FITTED:
      g_value_set_boolean (value, self->viewport.fitted);
      break;
    case PROP_RUNG:
      g_value_set_string (value, self->rung);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sb_canvas_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_DOCUMENT:
      sb_canvas_set_document (SB_CANVAS (object), g_value_get_object (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sb_canvas_dispose (GObject *object)
{
  SbCanvas *self = SB_CANVAS (object);

  g_signal_handlers_disconnect_by_data (adw_style_manager_get_default (), self);
  sb_canvas_set_document (self, NULL);
  g_clear_handle_id (&self->drop_id, g_source_remove);
  g_clear_pointer (&self->area, gtk_widget_unparent);
  sb_canvas_host_free (self);
  G_OBJECT_CLASS (sb_canvas_parent_class)->dispose (object);
}

static void
sb_canvas_finalize (GObject *object)
{
  SbCanvas *self = SB_CANVAS (object);

  g_free (self->drop_reason);
  g_free (self->rung);
  G_OBJECT_CLASS (sb_canvas_parent_class)->finalize (object);
}

static void
sb_canvas_class_init (SbCanvasClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->get_property = sb_canvas_get_property;
  object_class->set_property = sb_canvas_set_property;
  object_class->dispose = sb_canvas_dispose;
  object_class->finalize = sb_canvas_finalize;
  widget_class->snapshot = sb_canvas_snapshot;
  widget_class->measure = sb_canvas_measure;
  widget_class->size_allocate = sb_canvas_size_allocate;
  widget_class->focus = sb_canvas_focus;
  widget_class->map = sb_canvas_map;
  widget_class->unmap = sb_canvas_unmap;

  props[PROP_DOCUMENT]
      = g_param_spec_object ("document", NULL, NULL, SB_TYPE_DOCUMENT,
                             G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  props[PROP_ZOOM] = g_param_spec_double ("zoom", NULL, NULL, 0, SB_VIEWPORT_MAX_ZOOM, 1, readable);
  props[PROP_FITTED] = g_param_spec_boolean ("fitted", NULL, NULL, TRUE, readable);
  props[PROP_RUNG] = g_param_spec_string ("rung", NULL, NULL, NULL, readable);
  g_object_class_install_properties (object_class, N_PROPS, props);
  g_signal_new ("pointer-moved", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  g_signal_new ("clicked", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  moved = g_signal_new ("moved", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                        G_TYPE_NONE, 0);

  gtk_widget_class_set_css_name (widget_class, "canvas");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
sb_canvas_init (SbCanvas *self)
{
  self->scale = 1;
  self->pointer_x = self->pointer_y = -1;
  self->viewport = (SbViewport){ .zoom = 1, .fitted = TRUE };
  fill_colours (&self->wanted);
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  sb_canvas_add_controllers (self);
  g_signal_connect (self, "notify::scale-factor", G_CALLBACK (on_scale), NULL);
  g_signal_connect_swapped (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (on_style),
                            self);

  const char *show = g_getenv ("SOFTBOX_SHOW");
  if (g_strcmp0 (show, "host") == 0)
    sb_canvas_set_rung (self, _ ("memory to texture, as SOFTBOX_SHOW asks"));
  else
    {
      self->may_attach = g_strcmp0 (show, "copy") != 0;
      if (self->may_attach && show != NULL && *show != '\0' && strcmp (show, "pbo") != 0)
        g_warning ("SOFTBOX_SHOW: \"%s\" is none of pbo, copy, host; using pbo", show);
      sb_canvas_add_area (self);
    }
  describe (self);
}
