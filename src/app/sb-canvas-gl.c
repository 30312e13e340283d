/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-canvas-private.h"

#include <epoxy/gl.h>
#include <glib/gi18n-lib.h>

#include "sb-error.h"

/* Everything here belongs to one GL context, which is current in the area's "render" only, and ends
 * with it: the area is realized anew, with another context, whenever it gets another parent.
 *
 * The pixel buffers are mapped here and lent to the document, whose thread fills them; back again
 * they are unmapped and copied to the texture. Where the engine draws into GL memory itself, buffer
 * 0 is attached to it instead. */
typedef struct
{
  GLuint name;
  gsize bytes;
  guint8 *mapped; /* NULL: not mapped */
} PixelBuffer;

struct _SbCanvasGl
{
  GLuint program, vertices, texture;
  GLint rect_uniform;
  int texture_width, texture_height;
  GLint filter;
  gboolean has_pixels;
  SbView view; /* of the texture's pixels */
  PixelBuffer buffers[SB_DOCUMENT_VIEW_BUFFERS];
  SbGlTarget *target;
  gboolean attach_failed; /* with this engine: not tried again */
};

/* The corner of a unit square, whose row 0 is at the top, and its place on the canvas. */
static const char vertex_source[]
    = "uniform vec4 rect;\n"
      "out vec2 place;\n"
      "void main ()\n"
      "{\n"
      "  place = vec2 (float (gl_VertexID & 1), float (gl_VertexID / 2));\n"
      "  gl_Position = vec4 (mix (rect.xy, rect.zw, place), 0.0, 1.0);\n"
      "}\n";
static const char fragment_source[] = "uniform sampler2D pixels;\n"
                                      "in vec2 place;\n"
                                      "out vec4 colour;\n"
                                      "void main ()\n"
                                      "{\n"
                                      "  colour = vec4 (texture (pixels, place).rgb, 1.0);\n"
                                      "}\n";

static gboolean
check (const char *what, GError **error)
{
  const GLenum code = glGetError ();

  if (code == GL_NO_ERROR)
    return TRUE;
  /* A lost context answers for ever. */
  for (guint i = 0; i < 16 && glGetError () != GL_NO_ERROR; i++)
    ;
  /* Translators: a failed call of OpenGL and its error number */
  g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("OpenGL error 0x%x in %s"), code, what);
  return FALSE;
}

/* --- Objects --------------------------------------------------------------------------------- */

static GLuint
compile (GLenum kind, const char *version, const char *source, GError **error)
{
  const char *parts[] = { version, source };
  const GLuint shader = glCreateShader (kind);
  GLint compiled = GL_FALSE;

  glShaderSource (shader, G_N_ELEMENTS (parts), parts, NULL);
  glCompileShader (shader);
  glGetShaderiv (shader, GL_COMPILE_STATUS, &compiled);
  if (compiled == GL_TRUE)
    return shader;
  char log[512] = "";
  glGetShaderInfoLog (shader, sizeof log, NULL, log);
  g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE, _ ("OpenGL does not take the shader: %s"),
               g_strstrip (log));
  glDeleteShader (shader);
  return 0;
}

static gboolean
make_program (SbCanvasGl *gl, GError **error)
{
  const char *version
      = epoxy_is_desktop_gl () ? "#version 150\n" : "#version 300 es\nprecision highp float;\n";
  const GLuint vertex = compile (GL_VERTEX_SHADER, version, vertex_source, error);
  const GLuint fragment
      = vertex != 0 ? compile (GL_FRAGMENT_SHADER, version, fragment_source, error) : 0;
  GLint linked = GL_FALSE;

  if (fragment != 0)
    {
      gl->program = glCreateProgram ();
      glAttachShader (gl->program, vertex);
      glAttachShader (gl->program, fragment);
      glLinkProgram (gl->program);
      glGetProgramiv (gl->program, GL_LINK_STATUS, &linked);
      if (linked != GL_TRUE)
        {
          char log[512] = "";
          glGetProgramInfoLog (gl->program, sizeof log, NULL, log);
          g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                       _ ("OpenGL does not take the shader: %s"), g_strstrip (log));
        }
      glDeleteShader (fragment);
    }
  if (vertex != 0)
    glDeleteShader (vertex);
  return linked == GL_TRUE;
}

static gboolean
make_objects (SbCanvasGl *gl, GError **error)
{
  if (!make_program (gl, error))
    return FALSE;
  gl->rect_uniform = glGetUniformLocation (gl->program, "rect");
  glGenVertexArrays (1, &gl->vertices);
  glGenTextures (1, &gl->texture);
  glBindTexture (GL_TEXTURE_2D, gl->texture);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glBindTexture (GL_TEXTURE_2D, 0);
  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    glGenBuffers (1, &gl->buffers[i].name);
  return check ("glGenBuffers", error);
}

static void
unmap (PixelBuffer *buffer)
{
  if (buffer->mapped == NULL)
    return;
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, buffer->name);
  glUnmapBuffer (GL_PIXEL_UNPACK_BUFFER);
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, 0);
  buffer->mapped = NULL;
}

/* At least so many bytes, mapped. What was in it is lost. */
static gboolean
map (PixelBuffer *buffer, gsize bytes, GError **error)
{
  if (buffer->mapped != NULL && buffer->bytes >= bytes)
    return TRUE;
  unmap (buffer);
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, buffer->name);
  if (buffer->bytes < bytes)
    {
      buffer->bytes = bytes + bytes / 4; /* for a window that is being made larger */
      glBufferData (GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)buffer->bytes, NULL, GL_STREAM_DRAW);
    }
  buffer->mapped = glMapBufferRange (GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)buffer->bytes,
                                     GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, 0);
  if (!check ("glMapBufferRange", error))
    {
      buffer->bytes = 0;
      buffer->mapped = NULL;
      return FALSE;
    }
  if (buffer->mapped != NULL)
    return TRUE;
  buffer->bytes = 0;
  g_set_error_literal (error, SB_ERROR, SB_ERROR_OUT_OF_MEMORY,
                       _ ("OpenGL has no memory for the picture's pixels"));
  return FALSE;
}

/* From the buffer to the texture. FALSE without an error: the driver has lost the pixels. */
static gboolean
upload (SbCanvasGl *gl, PixelBuffer *buffer, const SbView *view, GError **error)
{
  gboolean whole = TRUE;

  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, buffer->name);
  if (buffer->mapped != NULL)
    {
      whole = glUnmapBuffer (GL_PIXEL_UNPACK_BUFFER);
      buffer->mapped = NULL;
    }
  if (whole)
    {
      glBindTexture (GL_TEXTURE_2D, gl->texture);
      if (gl->texture_width != view->width || gl->texture_height != view->height)
        {
          /* NULL would be an offset into the buffer, which has the pixels there. */
          glTexImage2D (GL_TEXTURE_2D, 0, GL_RGBA8, view->width, view->height, 0, GL_RGBA,
                        GL_UNSIGNED_BYTE, NULL);
          gl->texture_width = view->width;
          gl->texture_height = view->height;
        }
      else
        glTexSubImage2D (GL_TEXTURE_2D, 0, 0, 0, view->width, view->height, GL_RGBA,
                         GL_UNSIGNED_BYTE, NULL);
      glBindTexture (GL_TEXTURE_2D, 0);
      gl->view = *view;
      gl->has_pixels = TRUE;
    }
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, 0);
  return check ("glTexSubImage2D", error) && whole;
}

static void
draw (SbCanvas *self)
{
  SbCanvasGl *gl = self->gl;
  const guint8 *ground = self->wanted.ground;

  glClearColor (ground[0] / 255.f, ground[1] / 255.f, ground[2] / 255.f, 1.f);
  glClear (GL_COLOR_BUFFER_BIT);
  if (!gl->has_pixels || self->viewport.picture_width <= 0)
    return;

  graphene_rect_t place;
  const gboolean moved = sb_canvas_place (self, &gl->view, &place);
  const GLint filter = moved && gl->view.zoom != self->wanted.zoom ? GL_LINEAR : GL_NEAREST;
  const float x = 2.f / (float)self->viewport.width, y = 2.f / (float)self->viewport.height;

  glUseProgram (gl->program);
  glBindVertexArray (gl->vertices);
  glActiveTexture (GL_TEXTURE0);
  glBindTexture (GL_TEXTURE_2D, gl->texture);
  if (gl->filter != filter)
    {
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
      glTexParameteri (GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
      gl->filter = filter;
    }
  glUniform4f (gl->rect_uniform, place.origin.x * x - 1, 1 - place.origin.y * y,
               (place.origin.x + place.size.width) * x - 1,
               1 - (place.origin.y + place.size.height) * y);
  glDrawArrays (GL_TRIANGLE_STRIP, 0, 4);
  glBindTexture (GL_TEXTURE_2D, 0);
  glBindVertexArray (0);
  glUseProgram (0);
}

/* --- The two ways of getting pixels ----------------------------------------------------------- */

/* Takes everything back from the document. The context need not be current. */
static void
withdraw (SbCanvas *self)
{
  if (self->view != NULL)
    sb_document_view_withdraw (self->view);
}

static void
detach (SbCanvasGl *gl)
{
  g_clear_pointer (&gl->target, sb_document_gl_detach);
}

/* The engine's own way, where it has one. FALSE: through lent buffers. */
static gboolean
attach (SbCanvas *self, gsize needed)
{
  SbCanvasGl *gl = self->gl;
  PixelBuffer *buffer = &gl->buffers[0];
  g_autoptr (GError) error = NULL;

  if (gl->target != NULL && !sb_document_gl_is_current (self->document, gl->target))
    {
      detach (gl);
      gl->attach_failed = FALSE;
    }
  if (!self->may_attach || gl->attach_failed || !sb_document_is_immediate (self->document))
    return FALSE;
  if (gl->target != NULL && buffer->bytes >= needed)
    return TRUE;

  detach (gl);
  withdraw (self);
  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    unmap (&gl->buffers[i]);
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, buffer->name);
  if (buffer->bytes < needed)
    {
      buffer->bytes = needed + needed / 4;
      glBufferData (GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)buffer->bytes, NULL, GL_STREAM_DRAW);
    }
  glBindBuffer (GL_PIXEL_UNPACK_BUFFER, 0);
  if (check ("glBufferData", &error))
    gl->target = sb_document_gl_attach (self->document, buffer->name, buffer->bytes, &error);
  else
    buffer->bytes = 0;
  if (gl->target != NULL)
    {
      sb_canvas_set_rung (self, _ ("device to OpenGL"));
      return TRUE;
    }
  gl->attach_failed = TRUE;
  g_autofree char *rung = g_strdup_printf (
      /* Translators: how pixels reach the screen; %s is why there is no quicker way */
      _ ("copied to OpenGL (%s)"), error->message);
  sb_canvas_set_rung (self, rung);
  return FALSE;
}

static gboolean
show_attached (SbCanvas *self, GError **error)
{
  SbCanvasGl *gl = self->gl;
  SbFrame frame;
  gboolean shown;
  g_autoptr (GError) refused = NULL;

  if (!sb_document_view_show_gl (self->view, gl->target, &frame, &shown, &refused))
    {
      g_autofree char *rung = g_strdup_printf (_ ("copied to OpenGL (%s)"), refused->message);
      detach (gl);
      gl->attach_failed = TRUE;
      sb_canvas_set_rung (self, rung);
      sb_canvas_queue (self);
      return TRUE;
    }
  if (!shown)
    return TRUE;
  if (!upload (gl, &gl->buffers[0], &frame.view, error))
    return FALSE;
  sb_document_view_drawn (self->view, &frame);
  return TRUE;
}

static gboolean
show_lent (SbCanvas *self, gsize needed, GError **error)
{
  SbCanvasGl *gl = self->gl;
  SbFrame frame;

  if (sb_document_view_take (self->view, &frame))
    {
      g_autoptr (GError) failed = NULL;
      if (upload (gl, &gl->buffers[frame.buffer], &frame.view, &failed))
        sb_document_view_drawn (self->view, &frame);
      else if (failed != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&failed));
          return FALSE;
        }
      else
        withdraw (self); /* and they are filled again */
    }
  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    {
      const gsize lent = sb_document_view_lent (self->view, i);
      if (lent >= needed || (lent > 0 && !sb_document_view_reclaim (self->view, i)))
        continue;
      if (!map (&gl->buffers[i], needed, error))
        return FALSE;
      sb_document_view_give (self->view, i, gl->buffers[i].mapped, gl->buffers[i].bytes);
    }
  return TRUE;
}

/* --- The area -------------------------------------------------------------------------------- */

static gboolean
drop_area (gpointer data)
{
  SbCanvas *self = data;
  g_autofree char *rung = g_strdup_printf (
      /* Translators: how pixels reach the screen; %s is why there is no quicker way */
      _ ("memory to texture (%s)"), self->drop_reason);

  self->drop_id = 0;
  g_clear_pointer (&self->area, gtk_widget_unparent);
  sb_canvas_set_rung (self, rung);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  return G_SOURCE_REMOVE;
}

/* The area goes, but not while it is being realized or drawn. */
static void
give_up (SbCanvas *self, const GError *error)
{
  if (self->drop_id != 0)
    return;
  g_free (self->drop_reason);
  self->drop_reason = g_strdup (error->message);
  self->drop_id = g_idle_add_full (G_PRIORITY_HIGH, drop_area, self, NULL);
}

/* With the context current. */
static void
free_gl (SbCanvas *self)
{
  SbCanvasGl *gl = g_steal_pointer (&self->gl);

  if (gl == NULL)
    return;
  withdraw (self);
  detach (gl);
  for (guint i = 0; i < SB_DOCUMENT_VIEW_BUFFERS; i++)
    {
      unmap (&gl->buffers[i]);
      if (gl->buffers[i].name != 0)
        glDeleteBuffers (1, &gl->buffers[i].name);
    }
  if (gl->texture != 0)
    glDeleteTextures (1, &gl->texture);
  if (gl->vertices != 0)
    glDeleteVertexArrays (1, &gl->vertices);
  if (gl->program != 0)
    glDeleteProgram (gl->program);
  g_free (gl);
}

/* OpenGL or OpenGL ES, whichever there is: the shaders are written for both. */
static GdkGLContext *
on_create_context (GtkGLArea *area, SbCanvas *self)
{
  g_autoptr (GError) error = NULL;
  GdkSurface *surface = gtk_native_get_surface (gtk_widget_get_native (GTK_WIDGET (area)));
  g_autoptr (GdkGLContext) context = gdk_surface_create_gl_context (surface, &error);

  if (context != NULL)
    {
      gdk_gl_context_set_allowed_apis (context, GDK_GL_API_GL | GDK_GL_API_GLES);
      gdk_gl_context_set_required_version (context, 3, 0);
      if (gdk_gl_context_realize (context, &error))
        return g_steal_pointer (&context);
    }
  gtk_gl_area_set_error (area, error);
  return NULL;
}

static void
on_realize (GtkGLArea *area, SbCanvas *self)
{
  g_autoptr (GError) error = NULL;

  gtk_gl_area_make_current (area);
  /* Without a context no function of GL may be called. */
  if (gtk_gl_area_get_error (area) != NULL)
    {
      give_up (self, gtk_gl_area_get_error (area));
      return;
    }
  self->gl = g_new0 (SbCanvasGl, 1);
  if (!make_objects (self->gl, &error))
    {
      free_gl (self);
      give_up (self, error);
      return;
    }
  sb_canvas_set_rung (self, _ ("copied to OpenGL"));
}

static void
on_unrealize (GtkGLArea *area, SbCanvas *self)
{
  if (self->gl == NULL)
    return;
  gtk_gl_area_make_current (area);
  if (gtk_gl_area_get_error (area) == NULL)
    free_gl (self);
  else
    {
      /* The context is gone, and what was in it. */
      withdraw (self);
      g_clear_pointer (&self->gl, g_free);
    }
}

static gboolean
on_render (GtkGLArea *area, GdkGLContext *context, SbCanvas *self)
{
  const gsize needed = (gsize)self->viewport.width * self->viewport.height * 4;
  g_autoptr (GError) error = NULL;

  if (self->gl == NULL)
    return TRUE;
  if (self->has_wanted
      && !(attach (self, needed) ? show_attached (self, &error) : show_lent (self, needed, &error)))
    give_up (self, error);
  draw (self);
  if (error == NULL && !check ("glDrawArrays", &error))
    give_up (self, error);
  return TRUE;
}

void
sb_canvas_add_area (SbCanvas *self)
{
  self->area = gtk_gl_area_new ();
  gtk_widget_set_can_target (self->area, FALSE);
  g_signal_connect (self->area, "create-context", G_CALLBACK (on_create_context), self);
  g_signal_connect (self->area, "realize", G_CALLBACK (on_realize), self);
  g_signal_connect (self->area, "unrealize", G_CALLBACK (on_unrealize), self);
  g_signal_connect (self->area, "render", G_CALLBACK (on_render), self);
  gtk_widget_set_parent (self->area, GTK_WIDGET (self));
}

void
sb_canvas_queue (SbCanvas *self)
{
  if (self->area != NULL)
    gtk_gl_area_queue_render (GTK_GL_AREA (self->area));
  else
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
sb_canvas_gl_forget_view (SbCanvas *self)
{
  if (self->gl == NULL)
    return;
  withdraw (self);
  if (self->gl->target != NULL)
    {
      gtk_gl_area_make_current (GTK_GL_AREA (self->area));
      detach (self->gl);
    }
  self->gl->attach_failed = FALSE;
  self->gl->has_pixels = FALSE;
}
