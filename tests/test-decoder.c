/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-decoder.h"
#include "sb-error.h"
#include "sb-image.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Loading from slow streams, from places without a path, and through loaders that hang, crash, lie
 * and take all memory: each ends in time with an error or a picture, and leaves no process. */

#define SECOND G_TIME_SPAN_SECOND

/* A loader that is told to end, and one that is looked at while it works. */
#define SHORT_MS 400

/* --- A stream that takes its time ------------------------------------------------------------- */

typedef struct
{
  GInputStream parent;
  GBytes *bytes;
  gsize at;
  gsize piece;    /* at a time */
  gulong wait_us; /* before each piece */
} SlowStream;

typedef struct
{
  GInputStreamClass parent;
} SlowStreamClass;

static GType slow_stream_get_type (void);
G_DEFINE_TYPE (SlowStream, slow_stream, G_TYPE_INPUT_STREAM)

static gssize
slow_read (GInputStream *stream, void *to, gsize n, GCancellable *cancellable, GError **error)
{
  SlowStream *self = (SlowStream *)stream;
  gsize length = 0;
  const guint8 *data = g_bytes_get_data (self->bytes, &length);
  const gsize some = MIN (MIN (n, self->piece), length - self->at);

  g_usleep (self->wait_us);
  memcpy (to, data + self->at, some);
  self->at += some;
  return (gssize)some;
}

static void
slow_finalize (GObject *object)
{
  g_bytes_unref (((SlowStream *)object)->bytes);
  G_OBJECT_CLASS (slow_stream_parent_class)->finalize (object);
}

static void
slow_stream_class_init (SlowStreamClass *class)
{
  G_INPUT_STREAM_CLASS (class)->read_fn = slow_read;
  G_OBJECT_CLASS (class)->finalize = slow_finalize;
}

static void
slow_stream_init (SlowStream *self)
{
}

static GInputStream *
slow_stream_new (GBytes *bytes, gsize piece, gulong wait_us)
{
  SlowStream *self = g_object_new (slow_stream_get_type (), NULL);

  self->bytes = g_bytes_ref (bytes);
  self->piece = piece;
  self->wait_us = wait_us;
  return (GInputStream *)self;
}

static GBytes *
from_collection (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "corpus", name, NULL);
  g_autoptr (GError) error = NULL;
  char *data = NULL;
  gsize n = 0;

  g_file_get_contents (path, &data, &n, &error);
  g_assert_no_error (error);
  return g_bytes_new_take (data, n);
}

/* --- Cancelling ------------------------------------------------------------------------------- */

typedef struct
{
  GCancellable *cancellable;
  gulong after_us;
  gint64 at;
} Cancel;

static gpointer
cancel_later (gpointer data)
{
  Cancel *cancel = data;

  g_usleep (cancel->after_us);
  cancel->at = g_get_monotonic_time ();
  g_cancellable_cancel (cancel->cancellable);
  return NULL;
}

/* No child is left, not even a dead one. */
static void
assert_alone (void)
{
  g_assert_cmpint (waitpid (-1, NULL, WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
}

/* Loads and is cancelled meanwhile: an error, and soon. */
static void
assert_cancelled (GInputStream *stream, gulong after_us)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Cancel cancel = { cancellable, after_us, 0 };
  GThread *thread = g_thread_new ("cancel", cancel_later, &cancel);
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_load_stream (stream, "x", 0, cancellable, &error);
  const gint64 done = g_get_monotonic_time ();

  g_thread_join (thread);
  g_assert_null (image);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (done - cancel.at, <, 2 * SECOND);
  assert_alone ();
}

/* The file never ends before it is cancelled. */
static void
test_slow_stream (void)
{
  static const char *const names[]
      = { "png/rgba8.png",       "jpeg/q100.jpg",           "tiff/rgb8.tif",
          "anim/gif_1frame.gif", "fmt/bmp24_odd.bmp",       "fmt/webp_icc_swapped.webp",
          "fmt/tga_24.tga",      "fmt/svg_viewbox_only.svg" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GBytes) bytes = from_collection (names[i]);
      g_autoptr (GInputStream) stream = slow_stream_new (bytes, 1, 20000);
      assert_cancelled (stream, 100000);
    }
}

/* A decoder that comes to its end all the same makes no picture of a load that was cancelled: here
 * by the stream itself, when it gives its last byte. */
typedef struct
{
  SlowStream parent;
  GCancellable *cancellable;
} LateStream;

typedef struct
{
  SlowStreamClass parent;
} LateStreamClass;

static GType late_stream_get_type (void);
G_DEFINE_TYPE (LateStream, late_stream, slow_stream_get_type ())

static gssize
late_read (GInputStream *stream, void *to, gsize n, GCancellable *cancellable, GError **error)
{
  LateStream *self = (LateStream *)stream;
  const gssize some = slow_read (stream, to, n, cancellable, error);

  if (self->parent.at == g_bytes_get_size (self->parent.bytes))
    g_cancellable_cancel (self->cancellable);
  return some;
}

static void
late_stream_class_init (LateStreamClass *class)
{
  G_INPUT_STREAM_CLASS (class)->read_fn = late_read;
}

static void
late_stream_init (LateStream *self)
{
}

static void
test_late (void)
{
  static const char *const names[] = { "png/rgba8.png", "jpeg/q100.jpg", "tiff/rgb8.tif",
                                       "anim/gif_1frame.gif", "fmt/webp_icc_swapped.webp" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      LateStream *late = g_object_new (late_stream_get_type (), NULL);
      g_autoptr (GInputStream) stream = (GInputStream *)late;
      late->parent.bytes = from_collection (names[i]);
      late->parent.piece = G_MAXSSIZE;
      late->cancellable = cancellable;
      g_assert_null (sb_image_load_stream (stream, "x", 0, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      assert_alone ();
    }
}

/* Reading may take as long as it likes: only the loader's own time counts. */
static void
test_slow_is_no_hang (void)
{
  const SbLoadOptions options = { .decode_ms = 3000 };
  g_autoptr (GBytes) bytes = from_collection ("anim/gif_1frame.gif");
  g_autoptr (GInputStream) stream = slow_stream_new (bytes, 8, 50000);
  g_autoptr (GError) error = NULL;
  const gint64 begun = g_get_monotonic_time ();
  g_autoptr (SbImage) image = sb_image_load_stream_with (stream, "x", &options, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - begun, >, 3 * SECOND);
  g_assert_cmpuint (sb_image_get_width (image), ==, 40);
  assert_alone ();
}

/* --- Loaders that misbehave ------------------------------------------------------------------- */

static GInputStream *
hostile (const char *word)
{
  g_autofree char *text = g_strconcat ("HOSTILE!", word, NULL);
  const gsize n = strlen (text);

  return g_memory_input_stream_new_from_data (g_steal_pointer (&text), (gssize)n, g_free);
}

static SbImage *
load_hostile (const char *word, const SbLoadOptions *options, GError **error)
{
  g_autoptr (GInputStream) stream = hostile (word);

  SbImage *image = sb_image_load_stream_with (stream, "x", options, NULL, error);
  assert_alone ();
  return image;
}

static void
test_hang (void)
{
  static const char *const words[] = { "loop", "sleep", "hang at once" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      const SbLoadOptions options = { .decode_ms = SHORT_MS };
      g_autoptr (GError) error = NULL;
      const gint64 begun = g_get_monotonic_time ();
      g_assert_null (load_hostile (words[i], &options, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_cmpstr (error->message, ==,
                       "Could not open “x”: decoding it takes longer than 0.4 seconds");
      const gint64 took = g_get_monotonic_time () - begun;
      g_assert_cmpint (took, >=, SHORT_MS * 1000);
      g_assert_cmpint (took, <, 4 * SECOND);

      g_autoptr (GInputStream) stream = hostile (words[i]);
      assert_cancelled (stream, 100000);
    }
}

static void
test_failing (void)
{
  static const struct
  {
    const char *word, *message;
  } cases[] = {
    { "crash", "its loader failed: the file is damaged or needs more memory than it may have" },
    { "leave", "its loader failed: the file is damaged or needs more memory than it may have" },
    { "forge", "its loader failed" },
  };
  const SbLoadOptions options = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *message = g_strconcat ("Could not open “x”: ", cases[i].message, NULL);
      g_assert_null (load_hostile (cases[i].word, &options, &error));
      g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
      g_assert_cmpstr (error->message, ==, message);
    }

  g_autoptr (GError) error = NULL;
  g_autoptr (SbImage) image = load_hostile ("good", &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sb_image_get_width (image), ==, 8);
  g_assert_cmphex (*(const guint32 *)sb_image_get_pixels (image), ==,
                   GUINT32_FROM_BE (0x808080ffu));
}

#if SB_DECODER_LIMITS_MEMORY
static guint64
children_peak (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_CHILDREN, &usage), ==, 0);
  return (guint64)usage.ru_maxrss * 1024;
}

static void
test_memory (void)
{
  const SbLoadOptions options = { .limit_bytes = (guint64)8 << 30 };
  g_autoptr (GError) error = NULL;

  g_assert_null (load_hostile ("memory", &options, &error));
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "more memory than it may have"));
  g_assert_cmpuint (children_peak (), <, (guint64)600 << 20);
}
#endif

/* --- Files that real loaders work on for minutes ---------------------------------------------- */

static SbImage *
load_text (const char *text, const SbLoadOptions *options, GError **error)
{
  g_autoptr (GInputStream) stream
      = g_memory_input_stream_new_from_data (text, (gssize)strlen (text), NULL);

  return sb_image_load_stream_with (stream, "x", options, NULL, error);
}

/* Noise of very many octaves over 4 megapixels. */
static void
test_svg (void)
{
  static const char text[]
      = "<svg xmlns='http://www.w3.org/2000/svg' width='2000' height='2000'><filter id='f'>"
        "<feTurbulence baseFrequency='.1' numOctaves='2000' type='fractalNoise'/></filter>"
        "<rect width='2000' height='2000' filter='url(#f)'/></svg>";
  const SbLoadOptions options = { .decode_ms = SHORT_MS };
  g_autoptr (GError) error = NULL;
  const gint64 begun = g_get_monotonic_time ();
  g_autoptr (SbImage) image = load_text (text, &options, &error);

  if (g_error_matches (error, SB_ERROR, SB_ERROR_UNAVAILABLE))
    {
      g_test_skip ("no loader for SVG");
      return;
    }
  g_assert_null (image);
  g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "longer than 0.4 seconds"));
  g_assert_cmpint (g_get_monotonic_time () - begun, <, 4 * SECOND);
  assert_alone ();
}

/* An animation of 20,000 pictures of 4 megapixels in 560 kB. */
static void
test_gif (void)
{
  static const guint8 head[]
      = { 'G', 'I', 'F', '8', '9', 'a', 0xd0, 7, 0xd0, 7, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff };
  static const guint8 frame[]
      = { 0x21, 0xf9, 4, 4, 1, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0 };
  g_autoptr (GByteArray) file = g_byte_array_new ();
  const SbLoadOptions options = { .decode_ms = 0 };
  g_autoptr (GError) error = NULL;

  g_byte_array_append (file, head, sizeof head);
  for (guint i = 0; i < 20000; i++)
    g_byte_array_append (file, frame, sizeof frame);
  g_byte_array_append (file, (const guint8 *)";", 1);
  g_autoptr (GInputStream) stream
      = g_memory_input_stream_new_from_data (file->data, file->len, NULL);
  const gint64 begun = g_get_monotonic_time ();
  g_autoptr (SbImage) image = sb_image_load_stream_with (stream, "x", &options, NULL, &error);

  g_assert_cmpint (g_get_monotonic_time () - begun, <, 12 * SECOND);
  if (image != NULL)
    {
      g_assert_cmpuint (sb_image_get_width (image), ==, 2000);
      g_assert_cmpstr (sb_image_get_warnings (image)[0], ==,
                       "The file is an animation: only its first picture is shown.");
    }
  else
    g_assert_error (error, SB_ERROR, SB_ERROR_INVALID);
  assert_alone ();
}

/* --- More bits than the loader gives ---------------------------------------------------------- */

/* The first box of an AVIF or HEIF file, and of those that follow the one that sets the decoder up
 * (AV1-ISOBMFF 2.3.3, ISO/IEC 14496-15 8.3.3.1). */
static void
test_deep (void)
{
  static const struct
  {
    const char *brand, *box;
    guint8 body[19];
    gboolean deep;
  } files[] = {
    { "avif", "av1C", { 0x81, 0, 0x0c, 0 }, FALSE },    /* 8 bits, 4:2:0 */
    { "avif", "av1C", { 0x81, 0x20, 0x4c, 0 }, TRUE },  /* 10 bits */
    { "avif", "av1C", { 0x81, 0x40, 0x60, 0 }, TRUE },  /* 12 bits, 4:4:4 */
    { "avif", "av1C", { 0x81, 0xff, 0x1c, 0 }, FALSE }, /* 8 bits, monochrome */
    { "heic", "hvcC", { 1, [15] = 0xfc, 0xfd, 0xf8, 0xf8 }, FALSE },
    { "heic", "hvcC", { 1, [15] = 0xfc, 0xfd, 0xfa, 0xfa }, TRUE }, /* 10 bits */
    { "mif1", "hvcC", { 1, [15] = 0xfc, 0xfd, 0xfc, 0xfc }, TRUE }, /* 12 bits */
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      g_byte_array_append (file,
                           (const guint8 *)"\0\0\0\x10"
                                           "ftyp",
                           8);
      g_byte_array_append (file, (const guint8 *)files[i].brand, 4);
      g_byte_array_append (file, (const guint8 *)"\0\0\0\0\0\0\0\x1b", 8);
      g_byte_array_append (file, (const guint8 *)files[i].box, 4);
      g_byte_array_append (file, files[i].body, sizeof files[i].body);
      g_autoptr (GInputStream) stream
          = g_memory_input_stream_new_from_data (file->data, file->len, NULL);
      g_autoptr (SbImage) image = sb_image_load_stream (stream, "x", 0, NULL, &error);
      g_assert_no_error (error);
      const char *const *warnings = sb_image_get_warnings (image);
      g_assert_cmpstr (warnings[0], ==,
                       files[i].deep ? "The file has more than 8 bits a channel: the picture was "
                                       "reduced to 8."
                                     : NULL);
    }
}

/* EXIF and XMP are listed in the file; nobody hands them on. */
static void
test_items (void)
{
  static const struct
  {
    const char *items;
    gsize n;
    SbMetadataLoss lost;
  } files[] = {
    { "infe\2\0\0\0\0\1\0\0av01\0\0\0\0", 20, 0 },
    { "infe\2\0\0\0\0\2\0\0Exif\0\0\0\0", 20, SB_METADATA_LOST_EXIF },
    { "infe\3\0\0\0\0\0\0\3\0\0mime\0\0\0\0", 22, SB_METADATA_LOST_XMP },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      g_byte_array_append (file,
                           (const guint8 *)"\0\0\0\x10"
                                           "ftypavif\0\0\0\0\0\0\0\x15",
                           20);
      g_byte_array_append (file, (const guint8 *)files[i].items, (guint)files[i].n);
      g_autoptr (GInputStream) stream
          = g_memory_input_stream_new_from_data (file->data, file->len, NULL);
      g_autoptr (SbImage) image = sb_image_load_stream (stream, "x", 0, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (sb_image_get_metadata (image)->lost, ==, files[i].lost);
    }
}

/* --- Places without a path -------------------------------------------------------------------- */

static void
test_no_path (void)
{
  static const struct
  {
    const char *name;
    guint width, height;
  } pictures[] = { { "rgba8.png", 48, 40 }, { "gif_1frame.gif", 40, 32 } };
  g_autofree char *path = g_test_build_filename (G_TEST_BUILT, "pictures.gresource", NULL);
  g_autoptr (GError) error = NULL;
  GResource *resource = g_resource_load (path, &error);

  g_assert_no_error (error);
  g_resources_register (resource);
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++)
    {
      g_autofree char *uri = g_strconcat ("resource:///pictures/", pictures[i].name, NULL);
      g_autoptr (GFile) file = g_file_new_for_uri (uri);
      g_assert_null (g_file_peek_path (file));
      g_autoptr (SbImage) image = sb_image_load (file, 0, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (sb_image_get_width (image), ==, pictures[i].width);
      g_assert_cmpuint (sb_image_get_height (image), ==, pictures[i].height);

      /* Nothing can be written there, whether something is there or not. */
      g_autoptr (GFile) new_file = g_file_new_for_uri ("resource:///pictures/new.png");
      for (guint k = 0; k < 4; k++)
        {
          const SbSaveOptions options = { .compression = 1, .overwrite = k & 1 };
          g_assert_false (sb_image_save_png (image, k & 2 ? file : new_file, &options, NULL, NULL,
                                             NULL, &error));
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
          g_assert_true (g_str_has_prefix (error->message, "Could not write “"));
          g_assert_nonnull (strstr (error->message, k & 2 ? pictures[i].name : "new.png"));
          g_clear_error (&error);
        }
    }

  g_autoptr (GFile) missing = g_file_new_for_uri ("resource:///pictures/none.png");
  g_assert_null (sb_image_load (missing, 0, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_str_has_prefix (error->message, "Could not open “none.png”: "));
  g_clear_error (&error);
  g_autoptr (GFile) folder = g_file_new_for_uri ("resource:///pictures");
  g_assert_null (sb_image_load (folder, 0, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  g_resources_unregister (resource);
  g_resource_unref (resource);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  /* The loader of tests/hostile is the only one, or is not there. */
  if (g_getenv ("GDK_PIXBUF_MODULE_FILE") != NULL)
    {
      g_test_add_func ("/decoder/hang", test_hang);
      g_test_add_func ("/decoder/failing", test_failing);
#if SB_DECODER_LIMITS_MEMORY
      g_test_add_func ("/decoder/memory", test_memory);
#endif
      g_test_add_func ("/decoder/deep", test_deep);
      g_test_add_func ("/decoder/items", test_items);
      return g_test_run ();
    }
  g_test_add_func ("/decoder/slow-stream", test_slow_stream);
  g_test_add_func ("/decoder/late", test_late);
  g_test_add_func ("/decoder/slow-is-no-hang", test_slow_is_no_hang);
  g_test_add_func ("/decoder/svg", test_svg);
  g_test_add_func ("/decoder/gif", test_gif);
  g_test_add_func ("/decoder/no-path", test_no_path);
  return g_test_run ();
}
