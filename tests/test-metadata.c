/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image.h"

#include <string.h>
#include <zlib.h>

/* What a file says beside its pixels and cannot be kept is told when the picture is exported: once
 * for each kind, and only where nobody asked to leave it out. What an export keeps is seen by other
 * programs in test-export.py. */

#define EXIF_LOST                                                                                  \
  "The file's camera data (EXIF) cannot be read and was left out of the exported picture."
#define XMP_LOST                                                                                   \
  "The file's description (XMP) cannot be read or is too large and was left out of the exported "  \
  "picture."
#define EXTENSION_LOST                                                                             \
  "The file's description (XMP) has a second part, which was left out of the exported picture."
#define IPTC_LOST                                                                                  \
  "The file's caption data (IPTC) is damaged and was left out of the exported picture."
#define TEXT_LOST                                                                                  \
  "Some of the file's texts are damaged or too long and were left out of the exported picture."

/* A directory of one entry: Make, six letters. */
static const guint8 good_exif[]
    = { 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x0f, 1,   2,   0,   6,   0,
        0,   0,   26, 0, 0, 0, 0, 0, 0, 0, 'M',  'a', 'k', 'e', 'r', 0 };
/* The directory begins far behind the end. */
static const guint8 lost_exif[64] = { 'I', 'I', 42, 0, 0xf0, 0xff, 0xff, 0xff };

static const char good_xmp[]
    = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/"
      "22-rdf-syntax-ns#\"><rdf:Description xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" "
      "xmp:Label=\"red\" xmlns:xmpNote=\"http://ns.adobe.com/xmp/note/\" "
      "xmpNote:HasExtendedXMP=\"0123456789ABCDEF0123456789ABCDEF\"/></rdf:RDF></x:xmpmeta>";
static const char broken_xmp[] = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF broken";

static SbImage *
make_image (void)
{
  g_autoptr (GError) error = NULL;
  SbImage *image = sb_image_new (3, 2, 8, &error);

  g_assert_no_error (error);
  memset (sb_image_writable (image), 0x7f, sb_image_get_bytes (image));
  return image;
}

static void
note (const char *sentence, gpointer user_data)
{
  g_ptr_array_add (user_data, g_strdup (sentence));
}

static GBytes *
export_image (SbImage *image, SbMetadata *metadata, gboolean strip, GPtrArray *told)
{
  const SbSaveOptions options
      = { .compression = -1, .metadata = metadata, .strip_metadata = strip, .warned = note };
  g_autoptr (GError) error = NULL;
  GBytes *png = sb_image_encode_png (image, &options, NULL, told, NULL, &error);

  g_assert_no_error (error);
  return png;
}

/* Whether the bytes are anywhere in the file. */
static gboolean
holds (GBytes *file, const char *text)
{
  gsize n = 0;
  const guint8 *data = g_bytes_get_data (file, &n);

  return memmem (data, n, text, strlen (text)) != NULL;
}

/* An export of `metadata` tells these sentences, and none if everything is to be left out. */
static GBytes *
assert_told (SbMetadata *metadata, const char *const *sentences)
{
  g_autoptr (SbImage) image = make_image ();
  g_autoptr (GPtrArray) told = g_ptr_array_new_with_free_func (g_free);
  GBytes *png = export_image (image, metadata, FALSE, told);

  for (guint i = 0; i < told->len; i++)
    g_assert_cmpstr (g_ptr_array_index (told, i), ==, sentences[i]);
  g_assert_null (sentences[told->len]);

  g_ptr_array_set_size (told, 0);
  g_autoptr (GBytes) bare = export_image (image, metadata, TRUE, told);
  g_assert_cmpuint (told->len, ==, 0);
  g_assert_false (holds (bare, "eXIf"));
  return png;
}

static void
test_kept (void)
{
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();
  static const guint8 iptc[] = { 0x1c, 2, 105, 0, 1, 'H' };

  sb_metadata_take_exif (metadata, good_exif, sizeof good_exif);
  sb_metadata_take_xmp (metadata, (const guint8 *)good_xmp, strlen (good_xmp));
  sb_metadata_take_iptc (metadata, iptc, sizeof iptc);
  sb_metadata_take_text (metadata, "Title", "One", 3);
  g_autoptr (GBytes) png = assert_told (metadata, (const char *[]){ NULL });
  g_assert_true (holds (png, "eXIf"));
  g_assert_true (holds (png, "Maker"));
  g_assert_true (holds (png, "XML:com.adobe.xmp"));
  g_assert_true (holds (png, "Raw profile type iptc"));
  g_assert_true (holds (png, "One"));
  g_assert_false (holds (png, "HasExtendedXMP"));
}

static void
test_unreadable (void)
{
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();

  sb_metadata_take_exif (metadata, lost_exif, sizeof lost_exif);
  sb_metadata_take_xmp (metadata, (const guint8 *)broken_xmp, strlen (broken_xmp));
  g_autoptr (GBytes) png = assert_told (metadata, (const char *[]){ EXIF_LOST, XMP_LOST, NULL });
  g_assert_false (holds (png, "eXIf"));
  g_assert_false (holds (png, "broken"));
}

/* What was no EXIF, no text and so on when the file was opened. */
static void
test_never_taken (void)
{
  static const guint8 latin1[] = "caf\xe9";
  static const struct
  {
    const char *type;
    const char *data; /* NUL stands for itself: n counts */
    gsize n;
    const char *sentence;
  } chunks[] = {
    { "tEXt", "no zero", 7, TEXT_LOST },
    { "tEXt", "\0empty", 6, TEXT_LOST },
    { "zTXt", "Title\0\0not packed", 17, TEXT_LOST },
    { "zTXt", "Title\0\1", 7, TEXT_LOST },
    { "iTXt", "Title\0\0\0en", 10, TEXT_LOST },
    { "iTXt", "XML:com.adobe.xmp\0\1\0\0\0xx", 24, XMP_LOST },
    { "tEXt", "Raw profile type exif\0\nexif\n 99\n00", 34, EXIF_LOST },
    { "tEXt", "Raw profile type iptc\0\niptc\n 5\n0000000000", 41, IPTC_LOST },
    { "tEXt", "Raw profile type odd\0\nodd\n 99\n00", 32, NULL },
    { "tEXt", "Thumb::Size\0one", 15, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autoptr (SbMetadata) metadata = sb_metadata_new ();
      sb_metadata_take_png_text (metadata, chunks[i].type, (const guint8 *)chunks[i].data,
                                 chunks[i].n);
      g_test_message ("%u", i);
      g_bytes_unref (assert_told (metadata, (const char *[]){ chunks[i].sentence, NULL }));
    }

  g_autoptr (SbMetadata) metadata = sb_metadata_new ();
  sb_metadata_take_exif (metadata, latin1, 4);
  sb_metadata_take_xmp (metadata, latin1, 4);
  sb_metadata_take_iptc (metadata, latin1, 4);
  g_bytes_unref (assert_told (metadata, (const char *[]){ EXIF_LOST, XMP_LOST, IPTC_LOST, NULL }));
}

/* Larger than anything that is kept. */
static void
test_too_large (void)
{
  const gsize n = SB_METADATA_MAX_BLOCK + 1;
  g_autofree char *spaces = g_malloc (n);
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();

  memset (spaces, ' ', n);
  sb_metadata_take_xmp (metadata, (const guint8 *)spaces, n);
  sb_metadata_take_text (metadata, "Comment", spaces, SB_METADATA_MAX_TEXTS + 1);
  g_autoptr (GBytes) png = assert_told (metadata, (const char *[]){ XMP_LOST, TEXT_LOST, NULL });
  g_assert_false (holds (png, "Comment"));
}

/* A chunk of 64 kB that unpacks to 64 MB: its text is left out, and never unpacked whole. */
static void
test_bomb (void)
{
  const gsize n = (gsize)64 << 20;
  g_autofree guint8 *zeros = g_malloc0 (n);
  uLong packed = compressBound (n);
  g_autoptr (GByteArray) chunk = g_byte_array_new ();
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();

  g_byte_array_append (chunk, (const guint8 *)"Comment\0", 9);
  g_byte_array_set_size (chunk, (guint)(9 + packed));
  memset (zeros, 'a', n);
  g_assert_cmpint (compress2 (chunk->data + 9, &packed, zeros, n, 9), ==, Z_OK);
  sb_metadata_take_png_text (metadata, "zTXt", chunk->data, 9 + packed);
  g_assert_cmpuint (metadata->texts->len, ==, 0);
  /* Thousands of them are not unpacked one after the other. */
  for (guint i = 0; i < 2000; i++)
    sb_metadata_take_png_text (metadata, "zTXt", chunk->data, 9 + packed);
  g_assert_cmpuint (metadata->unpacked_bytes, <=, SB_METADATA_MAX_UNPACKED + SB_METADATA_MAX_BLOCK);
  g_bytes_unref (assert_told (metadata, (const char *[]){ TEXT_LOST, NULL }));
}

/* What makes Exiv2 work for minutes, or leave a whole directory unread. */
static void
test_excessive (void)
{
  enum
  {
    MANY = 20000
  };
  g_autoptr (SbMetadata) metadata = sb_metadata_new ();
  g_autoptr (GString) xmp = g_string_new (
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/"
      "22-rdf-syntax-ns#\"><rdf:Description "
      "xmlns:a=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\">"
      "<a:LocationShown><rdf:Bag>");
  g_autoptr (GByteArray) exif = g_byte_array_new ();

  for (guint i = 0; i < MANY; i++)
    g_string_append (xmp, "<rdf:li rdf:parseType=\"Resource\"><a:City>x</a:City></rdf:li>");
  g_string_append (xmp, "</rdf:Bag></a:LocationShown></rdf:Description></rdf:RDF></x:xmpmeta>");
  sb_metadata_take_xmp (metadata, (const guint8 *)xmp->str, xmp->len);

  const guint8 head[10] = { 'I', 'I', 42, 0, 8, 0, 0, 0, MANY & 255, MANY >> 8 };
  g_byte_array_append (exif, head, sizeof head);
  for (guint i = 1; i <= MANY; i++)
    {
      const guint8 entry[12] = { (guint8)i, (guint8)(i >> 8), 2, 0, 4, 0, 0, 0, 'a', 'b', 'c', 0 };
      g_byte_array_append (exif, entry, sizeof entry);
    }
  g_byte_array_append (exif, (const guint8 *)"\0\0\0", 4);
  sb_metadata_take_exif (metadata, exif->data, exif->len);

  const gint64 begun = g_get_monotonic_time ();
  g_bytes_unref (assert_told (metadata, (const char *[]){ EXIF_LOST, XMP_LOST, NULL }));
  g_assert_cmpint (g_get_monotonic_time () - begun, <, 10 * G_TIME_SPAN_SECOND);
}

/* A JPEG of the collection with one more segment behind its first marker. */
static SbImage *
load_with_segment (const char *body, gsize n)
{
  g_autofree char *path
      = g_test_build_filename (G_TEST_DIST, "data", "corpus", "jpeg", "1x1.jpg", NULL);
  g_autofree char *data = NULL;
  gsize length = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) file = g_byte_array_new ();
  const guint8 head[4] = { 0xff, 0xe1, (guint8)((n + 2) >> 8), (guint8)(n + 2) };

  g_file_get_contents (path, &data, &length, &error);
  g_assert_no_error (error);
  g_byte_array_append (file, (const guint8 *)data, 2);
  g_byte_array_append (file, head, sizeof head);
  g_byte_array_append (file, (const guint8 *)body, (guint)n);
  g_byte_array_append (file, (const guint8 *)data + 2, (guint)(length - 2));
  g_autoptr (GInputStream) stream
      = g_memory_input_stream_new_from_data (file->data, file->len, NULL);
  SbImage *image = sb_image_load_stream (stream, "segment.jpg", 0, NULL, &error);
  g_assert_no_error (error);
  return image;
}

/* From a file to its export. */
static void
test_jpeg (void)
{
  static const char extension[] = "http://ns.adobe.com/xmp/extension/\0and so on";
  g_autoptr (GByteArray) exif = g_byte_array_new ();
  g_autoptr (GByteArray) xmp = g_byte_array_new ();

  g_byte_array_append (exif, (const guint8 *)"Exif\0", 6);
  g_byte_array_append (exif, lost_exif, sizeof lost_exif);
  g_byte_array_append (xmp, (const guint8 *)"http://ns.adobe.com/xap/1.0/", 29);
  g_byte_array_append (xmp, (const guint8 *)broken_xmp, sizeof broken_xmp - 1);
  const struct
  {
    const void *body;
    gsize n;
    const char *sentence;
  } segments[] = {
    { exif->data, exif->len, EXIF_LOST },
    { xmp->data, xmp->len, XMP_LOST },
    { extension, sizeof extension - 1, EXTENSION_LOST },
  };

  for (guint i = 0; i < G_N_ELEMENTS (segments); i++)
    {
      g_autoptr (SbImage) image = load_with_segment (segments[i].body, segments[i].n);
      /* Nothing is wrong with the picture. */
      g_assert_null (sb_image_get_warnings (image)[0]);
      g_bytes_unref (assert_told (sb_image_get_metadata (image),
                                  (const char *[]){ segments[i].sentence, NULL }));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/metadata/kept", test_kept);
  g_test_add_func ("/metadata/unreadable", test_unreadable);
  g_test_add_func ("/metadata/never-taken", test_never_taken);
  g_test_add_func ("/metadata/too-large", test_too_large);
  g_test_add_func ("/metadata/bomb", test_bomb);
  g_test_add_func ("/metadata/excessive", test_excessive);
  g_test_add_func ("/metadata/jpeg", test_jpeg);
  return g_test_run ();
}
