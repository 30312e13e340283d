/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <gmodule.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures.h"
#include "sb-cuda-fault.h"
#include "sb-error.h"
#include "sb-engine.h"

/* A GPU beyond what every engine must do (test-cuda): every kernel on every path, the memory it
 * takes, when it allocates, two engines at once, what reaches OpenGL. With the module for tests. */

#define DEVICE ((SbDevice){ SB_DEVICE_CUDA, 0, 0 })
#define CPU    ((SbDevice){ SB_DEVICE_CPU, 0, 0 })

static SbCudaFaultAllocationsFunc count_allocations;
static SbCudaFaultFreeFunc get_free;
static SbCudaFaultHogFunc hog;
static SbCudaFaultPathFunc force_path;

static SbEngine *
open_engine (SbDevice device)
{
  g_autoptr (GError) error = NULL;
  SbEngine *engine = sb_engine_new (device, &error);
  g_assert_no_error (error);
  return engine;
}

static void
load (SbEngine *engine, SbImage *image)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (sb_engine_load (engine, image, &error));
  g_assert_no_error (error);
}

static void
render (SbEngine *engine, const SbEditList *list)
{
  g_autoptr (GError) error = NULL;
  const gboolean rendered = sb_engine_render (
      engine, list, list->n_edits > 0 ? list->n_edits - 1 : 0, SB_QUALITY_EXACT, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (rendered);
}

static SbImage *
read_all (SbEngine *engine, const SbEditList *list, guint depth)
{
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_engine_read (engine, list, list->n_edits > 0 ? list->n_edits - 1 : 0, depth,
                                   NULL, &error);
  g_assert_no_error (error);
  return image;
}

static SbEdit
parse (const char *text)
{
  SbEdit edit;
  g_autoptr (GError) error = NULL;
  g_assert_true (sb_edit_parse (text, &edit, &error));
  g_assert_no_error (error);
  return edit;
}

static SbEditList *
parse_list (const char *const *texts)
{
  SbEdit edits[8];
  guint n = 0;

  for (; texts[n] != NULL; n++)
    edits[n] = parse (texts[n]);
  return sb_edit_list_new (edits, n);
}

/* --- Every kernel, on every path -------------------------------------------------------------- */

static const struct
{
  guint width, height, depth;
  SbFill fill;
} pictures[] = {
  { 390, 261, 8, SB_FILL_NOISE },
  { 263, 200, 8, SB_FILL_NOISE_ALPHA },
  { 200, 240, 16, SB_FILL_NEAR_TIE },
  { 98, 330, 16, SB_FILL_TIE_ALPHA },
};

static const char *const kernel_edits[] = {
  "blur:radius=14,passes=1",
  "blur:radius=14,passes=3",
  "blur:radius=3,passes=2,linear=1",
  "blur:radius=14,passes=3,linear=1",
  "blur:radius=14.5,passes=1",
  "blur:radius=14.5,passes=3",
  "blur:radius=64,passes=1",
  "blur:radius=64,passes=3",
  "blur:radius=100.25,passes=2",
  "blur:radius=120,passes=1,linear=1",
  "blur:radius=300,passes=2",
  "blur:radius=14,passes=4",
  "blur:radius=20,passes=7,linear=1",
  "blur:radius=14,passes=3,edge=mirror",
  "blur:radius=14,passes=3,direction=horizontal",
  "blur:radius=14,passes=3,direction=vertical",
  "blur:radius=9,passes=2,area=ellipse:40:30:90:200,feather=12",
  "blur:radius=30,passes=1,linear=1,area=rect:-20:30:150:100,feather=3,invert=1",
  "blur:radius=5.0625,passes=6,area=rect:10:0:100:300",
  "blur:radius=14,passes=1,area=ellipse:20:-30:220:260,feather=40",
  "blur:radius=14.5,passes=1,area=rect:30:20:150:150,feather=9,invert=1",
  "blur:radius=64,passes=1,area=ellipse:0:0:200:240,feather=2",
  "blur:radius=120,passes=1,area=ellipse:10:10:180:220,feather=60",
  "blur:radius=70,passes=3,linear=1,area=ellipse:10:10:180:220,feather=25",
  "blur:radius=12,passes=1,direction=vertical",
  "blur:radius=12.5,passes=1,direction=vertical,area=ellipse:10:10:180:220",
  "blur:radius=90,passes=3,edge=mirror",
  "bands:threshold=10",
  "bands:levels=3,threshold=5,rule=hard,gainH1=0",
  "bands:levels=9,threshold=10,gain7=2",
  "bands:levels=2,luma=1,gain1=2",
  "bands:levels=8,threshold=20,luma=1,rule=hard",
  "bands:levels=1,gainA=0.5",
  "bands:gain1=0,gain2=1.5,area=ellipse:40:30:90:200,feather=12",
  "bands:levels=7,threshold=10,luma=1,area=rect:-20:30:150:100,invert=1",
};

static void
test_kernels (gconstpointer data)
{
  const int path = GPOINTER_TO_INT (data);
  const guint32 seed = 20 + (guint32)path;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) cpu = open_engine (CPU);

  force_path (path / 3, path % 3);
  g_autoptr (SbEngine) gpu = open_engine (DEVICE);
  force_path (-1, -1);
  for (guint p = 0; p < G_N_ELEMENTS (pictures); p++)
    {
      g_autoptr (SbImage) image = sb_fill_image (pictures[p].width, pictures[p].height,
                                                 pictures[p].fill, 40, pictures[p].depth, rand);
      load (cpu, image);
      load (gpu, image);
      for (guint i = 0; i < G_N_ELEMENTS (kernel_edits); i++)
        {
          const char *const texts[]
              = { kernel_edits[i], kernel_edits[(i + 5) % G_N_ELEMENTS (kernel_edits)], NULL };
          const char *const first[] = { texts[0], NULL };
          /* One edit is a render, two are read: through 16 bits in between. */
          g_autoptr (SbEditList) one = parse_list (first), two = parse_list (texts);
          render (cpu, one);
          render (gpu, one);
          g_autoptr (SbImage) expected = read_all (cpu, one, pictures[p].depth);
          g_autoptr (SbImage) actual = read_all (gpu, one, pictures[p].depth);
          if (!sb_test_same_image (expected, actual, texts[0]))
            return;
          if (i % 4 != p)
            continue;
          g_autoptr (SbImage) expected2 = read_all (cpu, two, 16);
          g_autoptr (SbImage) actual2 = read_all (gpu, two, 16);
          g_autofree char *what = g_strdup_printf ("%s, %s", texts[0], texts[1]);
          if (!sb_test_same_image (expected2, actual2, what))
            return;
        }
    }
}

/* --- Show ------------------------------------------------------------------------------------- */

static SbView
random_view (GRand *rand, guint width, guint height)
{
  const double zoom = exp2 (g_rand_double_range (rand, -6, 3));
  SbView view = { .what = g_rand_boolean (rand) ? SB_SHOW_RESULT : SB_SHOW_ORIGINAL,
                  .width = g_rand_int_range (rand, 1, 300),
                  .height = g_rand_int_range (rand, 1, 200),
                  .zoom = g_rand_int_range (rand, 0, 4) == 0 ? 1.0 : zoom,
                  .x = g_rand_double_range (rand, -0.3, 0.8) * width,
                  .y = g_rand_double_range (rand, -0.3, 0.8) * height,
                  .checker_size = (guint)g_rand_int_range (rand, 1, 17),
                  .ground = { 40, 41, 42 },
                  .checker = { { 100, 110, 120 }, { 200, 150, 90 } } };
  return view;
}

static void
assert_close (const guint8 *a, const guint8 *b, const SbView *view)
{
  const gsize n = 4 * (gsize)view->width * (gsize)view->height;

  for (gsize i = 0; i < n; i++)
    if (abs (a[i] - b[i]) > 1)
      {
        g_test_fail_printf (
            "pixel %u, %u of %d x %d at zoom %g: %u and %u", (guint)(i / 4 % (gsize)view->width),
            (guint)(i / 4 / (gsize)view->width), view->width, view->height, view->zoom, a[i], b[i]);
        return;
      }
}

static guint8 *
shoot (SbEngine *engine, const SbView *view)
{
  const gsize row = 4 * (gsize)view->width;
  guint8 *pixels = g_malloc (row * (gsize)view->height);
  g_autoptr (GError) error = NULL;
  g_assert_true (sb_engine_show_host (engine, view, pixels, row, &error));
  g_assert_no_error (error);
  return pixels;
}

static void
test_show (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  g_autoptr (SbEngine) cpu = open_engine (CPU), gpu = open_engine (DEVICE);
  g_autoptr (SbEditList) list = parse_list ((const char *const[]){ "blur:radius=2", NULL });

  for (guint p = 0; p < G_N_ELEMENTS (pictures); p++)
    {
      g_autoptr (SbImage) image = sb_fill_image (pictures[p].width, pictures[p].height,
                                                 pictures[p].fill, 40, pictures[p].depth, rand);
      load (cpu, image);
      load (gpu, image);
      render (cpu, list);
      render (gpu, list);
      for (guint i = 0; i < 40; i++)
        {
          const SbView view = random_view (rand, pictures[p].width, pictures[p].height);
          g_autofree guint8 *a = shoot (cpu, &view), *b = shoot (gpu, &view);
          assert_close (a, b, &view);
          if (g_test_failed ())
            return;
        }
    }
}

/* --- OpenGL ----------------------------------------------------------------------------------- */

typedef struct
{
  PFNGLGENBUFFERSPROC gen_buffers;
  PFNGLBINDBUFFERPROC bind_buffer;
  PFNGLBUFFERDATAPROC buffer_data;
  PFNGLGETBUFFERSUBDATAPROC get_buffer_sub_data;
  PFNGLDELETEBUFFERSPROC delete_buffers;
  PFNGLGETSTRINGPROC get_string;
} Gl;

/* A context on the first device that EGL has, or why there is none. */
static const char *
make_gl (Gl *gl)
{
  GModule *egl = g_module_open ("libEGL.so.1", G_MODULE_BIND_LAZY);
  gpointer symbol = NULL;
  EGLDeviceEXT devices[16];
  EGLint n_devices = 0, n_configs = 0;
  EGLConfig config;

  if (egl == NULL || !g_module_symbol (egl, "eglGetProcAddress", &symbol))
    return "there is no libEGL.so.1";
  g_module_make_resident (egl);
  const PFNEGLGETPROCADDRESSPROC get = (PFNEGLGETPROCADDRESSPROC)symbol;
#define egl_function(type, name) const type name##_ = (type)get (#name)
  egl_function (PFNEGLQUERYDEVICESEXTPROC, eglQueryDevicesEXT);
  egl_function (PFNEGLGETPLATFORMDISPLAYEXTPROC, eglGetPlatformDisplayEXT);
  egl_function (PFNEGLINITIALIZEPROC, eglInitialize);
  egl_function (PFNEGLBINDAPIPROC, eglBindAPI);
  egl_function (PFNEGLCHOOSECONFIGPROC, eglChooseConfig);
  egl_function (PFNEGLCREATECONTEXTPROC, eglCreateContext);
  egl_function (PFNEGLMAKECURRENTPROC, eglMakeCurrent);
  egl_function (PFNEGLGETERRORPROC, eglGetError);
#undef egl_function
  static const EGLint attributes[]
      = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE };

  if (eglQueryDevicesEXT_ == NULL || eglGetPlatformDisplayEXT_ == NULL
      || !eglQueryDevicesEXT_ (G_N_ELEMENTS (devices), devices, &n_devices))
    return "EGL lists no devices";
  for (EGLint i = 0; i < n_devices; i++)
    {
      EGLDisplay display = eglGetPlatformDisplayEXT_ (EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
      const char *missing = NULL;
      EGLContext context = EGL_NO_CONTEXT;
      if (display == EGL_NO_DISPLAY || !eglInitialize_ (display, NULL, NULL))
        missing = "a display";
      else if (!eglBindAPI_ (EGL_OPENGL_API)
               || !eglChooseConfig_ (display, attributes, &config, 1, &n_configs) || n_configs < 1)
        missing = "OpenGL";
      else if ((context = eglCreateContext_ (display, config, EGL_NO_CONTEXT, NULL))
                   == EGL_NO_CONTEXT
               || !eglMakeCurrent_ (display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        missing = "a context";
      if (missing != NULL)
        {
          g_test_message ("EGL device %d does not give %s (0x%x)", i, missing, eglGetError_ ());
          continue;
        }
      gl->gen_buffers = (PFNGLGENBUFFERSPROC)get ("glGenBuffers");
      gl->bind_buffer = (PFNGLBINDBUFFERPROC)get ("glBindBuffer");
      gl->buffer_data = (PFNGLBUFFERDATAPROC)get ("glBufferData");
      gl->get_buffer_sub_data = (PFNGLGETBUFFERSUBDATAPROC)get ("glGetBufferSubData");
      gl->delete_buffers = (PFNGLDELETEBUFFERSPROC)get ("glDeleteBuffers");
      gl->get_string = (PFNGLGETSTRINGPROC)get ("glGetString");
      g_test_message ("OpenGL: %s", gl->get_string (GL_RENDERER));
      if (strstr ((const char *)gl->get_string (GL_RENDERER), "NVIDIA") != NULL)
        return NULL;
    }
  return "EGL has no NVIDIA device";
}

/* Several buffers attached at once show what the other ways show, and one that goes leaves the
 * others as they are. */
static void
test_buffers (void)
{
  const gsize bytes = 300 * 200 * 4;
  g_autoptr (GRand) rand = g_rand_new_with_seed (41);
  g_autoptr (SbEngine) cpu = open_engine (CPU), gpu = open_engine (DEVICE);
  g_autoptr (SbImage) image = sb_fill_image (520, 390, SB_FILL_NOISE_ALPHA, 40, 8, rand);
  g_autofree guint8 *pixels = g_malloc (bytes);
  GLuint names[3];
  gpointer targets[3];
  Gl gl;
  g_autoptr (GError) error = NULL;
  const char *why = make_gl (&gl);

  if (why != NULL)
    {
      g_test_skip (why);
      return;
    }
  load (cpu, image);
  load (gpu, image);
  gl.gen_buffers (3, names);
  for (guint i = 0; i < 3; i++)
    {
      gl.bind_buffer (GL_PIXEL_UNPACK_BUFFER, names[i]);
      gl.buffer_data (GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)bytes, NULL, GL_STREAM_DRAW);
      targets[i] = sb_engine_gl_attach (gpu, names[i], bytes, &error);
      g_assert_no_error (error);
    }
  for (guint round = 1; round <= 30; round++)
    {
      g_autofree char *text = g_strdup_printf ("blur:radius=%u", round);
      g_autoptr (SbEditList) list = parse_list ((const char *const[]){ text, NULL });
      render (cpu, list);
      render (gpu, list);
      for (guint i = 0; i < (round < 20 ? 3 : 2); i++)
        {
          const SbView view = random_view (rand, 520, 390);
          const gsize size = 4 * (gsize)view.width * (gsize)view.height;
          g_assert_true (sb_engine_show_gl (gpu, targets[i], &view, &error));
          g_assert_no_error (error);
          gl.bind_buffer (GL_PIXEL_UNPACK_BUFFER, names[i]);
          gl.get_buffer_sub_data (GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)size, pixels);
          g_autofree guint8 *a = shoot (cpu, &view), *b = shoot (gpu, &view);
          g_assert_cmpmem (pixels, size, b, size);
          assert_close (a, pixels, &view);
        }
      if (round == 19)
        {
          sb_engine_gl_detach (gpu, targets[2]);
          gl.delete_buffers (1, &names[2]);
        }
    }
  /* A view that does not fit is refused, and nothing else is lost by it. */
  const SbView large
      = { .what = SB_SHOW_RESULT, .width = 301, .height = 200, .zoom = 1, .checker_size = 8 };
  g_assert_false (sb_engine_show_gl (gpu, targets[0], &large, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_clear_error (&error);
  const SbView small
      = { .what = SB_SHOW_RESULT, .width = 30, .height = 20, .zoom = 1, .checker_size = 8 };
  g_assert_true (sb_engine_show_gl (gpu, targets[0], &small, &error));
  for (guint i = 0; i < 2; i++)
    sb_engine_gl_detach (gpu, targets[i]);
  gl.delete_buffers (2, names);
}

/* --- Memory ----------------------------------------------------------------------------------- */

#define LARGE_WIDTH  4096
#define LARGE_HEIGHT 3072

/* Bytes a pixel of an engine that has done all of this, beyond those of one with a tiny picture. */
static double
measure (guint depth, const char *const (*lists)[4])
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (51);
  g_autoptr (SbEngine) engine = open_engine (DEVICE);
  g_autoptr (SbImage) tiny = sb_fill_image (16, 16, SB_FILL_NOISE, 4, depth, rand);
  g_autoptr (SbImage) image = sb_image_new (LARGE_WIDTH, LARGE_HEIGHT, depth, NULL);
  double most = 0;

  for (gsize i = 0; i < sb_image_get_bytes (image); i += 7)
    sb_image_writable (image)[i] = (guint8)(i * 31);
  load (engine, tiny);
  g_autoptr (SbEditList) first = parse_list (lists[0]);
  render (engine, first);
  const gsize before = get_free ();
  load (engine, image);
  for (guint i = 0; lists[i][0] != NULL; i++)
    {
      g_autoptr (SbEditList) list = parse_list (lists[i]);
      render (engine, list);
      sb_image_unref (read_all (engine, list, 16));
      const double now = ((double)before - (double)get_free ()) / LARGE_WIDTH / LARGE_HEIGHT;
      most = MAX (most, now);
    }
  return most;
}

static void
test_memory_one (void)
{
  static const char *const lists[][4] = {
    { "blur:radius=14", NULL },
    { "blur:radius=14,passes=10", NULL },
    { "blur:radius=64,passes=3,linear=1", NULL },
    { "blur:radius=300,passes=4", NULL },
    { "blur:radius=14,passes=7,area=ellipse:10:10:3000:2000,feather=100", NULL },
    { "blur:radius=40,passes=1,area=rect:100:10:300:2000,invert=1", NULL },
    { NULL },
  };
  const double bytes = measure (8, lists);

  g_test_message ("8 bits, one edit: %.2f bytes a pixel", bytes);
  g_assert_cmpfloat (bytes, <=, 24);
}

static void
test_memory_more (void)
{
  static const char *const lists[][4] = {
    { "blur:radius=14", NULL },
    { "blur:radius=14", "blur:radius=5,passes=10", NULL },
    { "blur:radius=14", "blur:radius=5",
      "blur:radius=14,passes=7,area=ellipse:10:10:3000:2000,feather=100", NULL },
    { "blur:radius=3", "blur:radius=5", "blur:radius=8", NULL },
    { NULL },
  };

  for (guint depth = 8; depth <= 16; depth += 8)
    {
      const double bytes = measure (depth, lists);
      g_test_message ("%u bits, several edits: %.2f bytes a pixel", depth, bytes);
      g_assert_cmpfloat (bytes, <=, 40.5); /* rows end at multiples of 256 bytes */
    }
}

/* After the first render and the first show nothing is allocated, whatever a slider does. */
static void
test_allocations (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (61);
  g_autoptr (SbEngine) engine = open_engine (DEVICE);
  g_autoptr (SbImage) image = sb_fill_image (900, 700, SB_FILL_NOISE, 9, 8, rand);
  SbView view
      = { .what = SB_SHOW_RESULT, .width = 400, .height = 300, .zoom = 0.4, .checker_size = 8 };

  load (engine, image);
  g_autoptr (SbEditList) first = parse_list ((const char *const[]){ "blur:radius=1", NULL });
  render (engine, first);
  g_free (shoot (engine, &view));
  const guint before = count_allocations ();
  for (guint i = 1; i < 120; i++)
    {
      g_autofree char *text
          = g_strdup_printf ("blur:radius=%u,passes=%u,linear=%u", i, 1 + i % 4, i & 1);
      g_autoptr (SbEditList) list = parse_list ((const char *const[]){ text, NULL });
      render (engine, list);
      view.zoom = 0.2 + i * 0.01;
      g_free (shoot (engine, &view));
      if (i % 10 == 0)
        sb_image_unref (read_all (engine, list, 16));
    }
  g_assert_cmpuint (count_allocations (), ==, before);
}

/* A picture that does not fit: an error of its own, the open one as it was, and room again later.
 */
static void
test_full (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (71);
  g_autoptr (SbEngine) engine = open_engine (DEVICE), cpu = open_engine (CPU);
  g_autoptr (SbImage) small = sb_fill_image (300, 200, SB_FILL_NOISE, 9, 8, rand);
  g_autoptr (SbImage) large = sb_image_new (LARGE_WIDTH, LARGE_HEIGHT, 8, NULL);
  g_autoptr (SbEditList) list = parse_list ((const char *const[]){ "blur:radius=6", NULL });
  g_autoptr (GError) error = NULL;

  load (engine, small);
  load (cpu, small);
  render (engine, list);
  hog (64 << 20);
  const gboolean loaded = sb_engine_load (engine, large, &error);
  g_autoptr (SbImage) expected = read_all (cpu, list, 16), actual = read_all (engine, list, 16);
  hog (G_MAXSIZE);
  g_assert_false (loaded);
  g_assert_error (error, SB_ERROR, SB_ERROR_DEVICE_FULL);
  sb_test_same_image (expected, actual, "after a picture that did not fit");
  load (engine, large);
}

/* --- Two documents ---------------------------------------------------------------------------- */

static gpointer
edit_alone (gpointer data)
{
  const guint32 seed = GPOINTER_TO_UINT (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (SbEngine) gpu = open_engine (DEVICE),
                       cpu = open_engine ((SbDevice){ SB_DEVICE_CPU, 0, 1 });

  for (guint round = 0; round < 4; round++)
    {
      const guint width = 200 + (guint)g_rand_int_range (rand, 0, 400), height = 300;
      g_autoptr (SbImage) image
          = sb_fill_image (width, height, (SbFill)g_rand_int_range (rand, 0, SB_N_FILLS), 9,
                           g_rand_boolean (rand) ? 8 : 16, rand);
      load (gpu, image);
      load (cpu, image);
      for (guint i = 0; i < 12; i++)
        {
          const SbEdit edit = sb_test_random_edit (rand, width, height, 60);
          g_autoptr (SbEditList) list = sb_edit_list_new (&edit, 1);
          render (gpu, list);
          g_autoptr (SbImage) expected = read_all (cpu, list, 16),
                              actual = read_all (gpu, list, 16);
          g_autofree char *difference = sb_test_first_difference (expected, actual);
          if (difference != NULL)
            return g_steal_pointer (&difference);
          const SbView view = random_view (rand, width, height);
          g_free (shoot (gpu, &view));
        }
    }
  return NULL;
}

static void
test_two (void)
{
  GThread *threads[3];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("document", edit_alone, GUINT_TO_POINTER (80 + i));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      g_autofree char *difference = g_thread_join (threads[i]);
      g_assert_cmpstr (difference, ==, NULL);
    }
}

/* --- Subbands --------------------------------------------------------------------------------- */

/* Every kernel of the transform, its measures and its mosaic; test-cuda looks closer. */
static void
test_subbands (void)
{
  static const SbHaarChoice choices[]
      = { { SB_HAAR_LIGHTNESS, 1 }, { SB_HAAR_LUMA, 5 }, { SB_HAAR_LUMA, 8 },
          { SB_HAAR_RED, 2 },       { SB_HAAR_BLUE, 4 }, { SB_HAAR_ALPHA, 6 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (91);
  g_autoptr (SbEngine) gpu = open_engine (DEVICE), cpu = open_engine (CPU);
  g_autoptr (SbEditList) list = parse_list ((const char *const[]){ "bands:threshold=9", NULL });

  for (guint p = 0; p < G_N_ELEMENTS (pictures); p++)
    for (guint c = 0; c < G_N_ELEMENTS (choices); c++)
      {
        g_autoptr (SbImage) image = sb_fill_image (pictures[p].width, pictures[p].height,
                                                   pictures[p].fill, 40, pictures[p].depth, rand);
        SbEngine *const engines[] = { cpu, gpu };
        SbHaarSummary summaries[2];
        SbHaarStatistics statistics[2];
        SbBandsMeasure measures[2];
        guint8 *shots[2];
        SbHaar *haars[2];
        const guint levels = choices[c].levels;
        const SbHaarBand band = sb_haar_nth_band (levels, (p + c) % sb_haar_n_bands (levels));
        const SbView view = { .what = SB_SHOW_SUBBANDS,
                              .width = 200,
                              .height = 150,
                              .zoom = c % 2 == 0 ? 0.4 : 2,
                              .x = -5,
                              .y = 3,
                              .checker_size = 8,
                              .look = { (SbHaarLayout)(p % 2), (SbHaarDisplay)(c % 3), 4,
                                        p % 2 == 0, c % 2 == 0 } };
        g_autoptr (GError) error = NULL;

        for (guint i = 0; i < 2; i++)
          {
            load (engines[i], image);
            g_assert_true (sb_engine_set_subbands (engines[i], &choices[c], NULL, &error));
            render (engines[i], list);
            g_assert_true (sb_engine_measure_band (engines[i], band, &statistics[i], NULL, &error));
            g_assert_true (sb_engine_summarize_subbands (engines[i], &summaries[i], NULL, &error));
            g_assert_true (sb_engine_measure_edit (engines[i], &measures[i], NULL, &error));
            haars[i] = sb_engine_read_subbands (engines[i], list, 0, &choices[c], NULL, &error);
            g_assert_no_error (error);
            shots[i] = shoot (engines[i], &view);
          }
        g_assert_cmpmem (statistics[0].histogram, sizeof statistics[0].histogram,
                         statistics[1].histogram, sizeof statistics[1].histogram);
        g_assert_cmpfloat (summaries[0].noise, ==, summaries[1].noise);
        g_assert_cmpfloat (summaries[0].reconstruction_error, ==,
                           summaries[1].reconstruction_error);
        g_assert_cmpfloat (measures[0].kept, ==, measures[1].kept);
        for (guint n = 0; n < sb_haar_n_bands (levels); n++)
          {
            guint columns, rows;
            const float *expected
                = sb_haar_get_band (haars[0], sb_haar_nth_band (levels, n), &columns, &rows);
            const float *actual
                = sb_haar_get_band (haars[1], sb_haar_nth_band (levels, n), NULL, NULL);
            for (gsize k = 0; k < (gsize)columns * rows; k++)
              g_assert_cmpfloat (actual[k], ==, expected[k]);
          }
        for (gsize k = 0; k < 4 * 200 * 150; k++)
          g_assert_cmpint (ABS ((int)shots[0][k] - (int)shots[1][k]), <=, 1);
        for (guint i = 0; i < 2; i++)
          {
            sb_haar_unref (haars[i]);
            g_free (shots[i]);
          }
      }
}

static gpointer
find (GModule *module, const char *name)
{
  gpointer symbol = NULL;
  g_assert_true (g_module_symbol (module, name, &symbol));
  return symbol;
}

int
main (int argc, char **argv)
{
  const char *folder = g_getenv ("SOFTBOX_MODULE_DIR");
  g_autofree char *path = g_build_filename (folder != NULL ? folder : ".", "softbox-cuda.so", NULL);
  static const char *const paths[]
      = { "plain-march-auto", "plain-march-never", "plain-march-always",
          "bulk-march-auto",  "bulk-march-never",  "bulk-march-always" };
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_print ("1..0 # SKIP the module for tests is not built\n");
      return 0;
    }
  SbEngine *engine = sb_engine_new (DEVICE, &error);
  if (engine == NULL)
    {
      g_assert_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE);
      g_print ("1..0 # SKIP %s\n", error->message);
      return 0;
    }
  sb_engine_free (engine);

  GModule *module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  g_assert_nonnull (module);
  count_allocations = (SbCudaFaultAllocationsFunc)find (module, SB_CUDA_FAULT_ALLOCATIONS);
  get_free = (SbCudaFaultFreeFunc)find (module, SB_CUDA_FAULT_FREE);
  hog = (SbCudaFaultHogFunc)find (module, SB_CUDA_FAULT_HOG);
  force_path = (SbCudaFaultPathFunc)find (module, SB_CUDA_FAULT_PATH);

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autofree char *name = g_strdup_printf ("/device/short/%s", paths[i]);
      g_test_add_data_func (name, GUINT_TO_POINTER (i), test_kernels);
    }
  g_test_add_func ("/device/short/show", test_show);
  g_test_add_func ("/device/short/subbands", test_subbands);
  g_test_add_func ("/device/buffers", test_buffers);
  g_test_add_func ("/device/memory/one-edit", test_memory_one);
  g_test_add_func ("/device/memory/more", test_memory_more);
  g_test_add_func ("/device/memory/allocations", test_allocations);
  g_test_add_func ("/device/memory/full", test_full);
  g_test_add_func ("/device/two", test_two);
  return g_test_run ();
}
