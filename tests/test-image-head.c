/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-head.h"

#include <string.h>

/* Beginnings of files that other programs have written, and some made by hand from the formats'
 * definitions. */

typedef struct
{
  const char *name;
  const char *bytes;
  gsize n;
  gboolean deep;
  SbMetadataLoss loss;
} Head;

#define BYTES(text) text, sizeof (text) - 1
#define JXL_CONTAINER                                                                              \
  "\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x14"                                                             \
  "ftypjxl \0\0\0\0jxl "
#define JXL_8 "\xff\x0a\x40\x46\x0b\x24\x14\x97\x04\0"

static const Head heads[] = {
  /* cjxl 0.11: as usual, with alpha, 16 bits, turned; EXIF as it is, packed, and beside a JPEG. */
  { "plain", BYTES ("\xff\x0a\x40\xc6\x01\x00\x13\x88"), FALSE, 0 },
  { "alpha", BYTES ("\xff\x0a\xcb\xc0\x4a\x08\x10\x10"), FALSE, 0 },
  { "deep",
    BYTES (JXL_CONTAINER "\0\0\0\x09jxll\x0a\0\x03\x5a\xb6jxlc\xff\x0a\x40\x46\xfc\x40\x02\x08"),
    TRUE, 0 },
  { "turned", BYTES (JXL_CONTAINER "\0\0\0\x12jxlp\0\0\0\0" JXL_8), FALSE, 0 },
  { "exif",
    BYTES (JXL_CONTAINER "\0\0\0\x16jxlp\0\0\0\0" JXL_8 "\0\0\0\xc6"
                         "Exif\0\0\0\0MM"),
    FALSE, SB_METADATA_LOST_EXIF },
  { "packed",
    BYTES (JXL_CONTAINER "\0\0\0\x16jxlp\0\0\0\0" JXL_8 "\0\0\0\x7f"
                         "brobExif\x1b\xbd"),
    FALSE, SB_METADATA_LOST_EXIF },
  { "beside",
    BYTES (JXL_CONTAINER "\0\0\0\x16jxlp\0\0\0\0" JXL_8 "\0\0\0\x0ajbrdxy"
                         "\0\0\0\x0c"
                         "brobxml \0\0\0\x0a"
                         "Exifxy"),
    FALSE, SB_METADATA_LOST_EXIF | SB_METADATA_LOST_XMP },
  /* 64 x 48 in eighths with a ratio, then: not as usual, no extras, 10 bits. */
  { "ten", BYTES ("\xff\x0a\xcb\x10"), TRUE, 0 },
  /* The same with extras: turned, a size to show it at, a preview and an animation, 12 bits. */
  { "extras", BYTES ("\xff\x0a\xcb\xec\x65\xa1\xa0\xa6\x8e\x41\x42"), TRUE, 0 },
  { "extras, 8 bits", BYTES ("\xff\x0a\xcb\xec\x65\xa1\xa0\xa6\x8e\x41\x02"), FALSE, 0 },
  { "float", BYTES ("\xff\x0a\xcb\x08"), TRUE, 0 },
  /* Cut short, sizes that are none, and 64 bits of size. */
  { "short", BYTES ("\xff\x0a"), FALSE, 0 },
  { "short box", BYTES (JXL_CONTAINER "\0\0\0\x16jxlp\0\0"), FALSE, 0 },
  { "size 7",
    BYTES (JXL_CONTAINER "\0\0\0\x07"
                         "Exif\0\0\0\0"),
    FALSE, 0 },
  { "size 1",
    BYTES (JXL_CONTAINER "\0\0\0\x01"
                         "Exif\0\0\0\0\0\0\0\x0f\0\0\0\x08xml "),
    FALSE, 0 },
  { "large",
    BYTES (JXL_CONTAINER "\0\0\0\x01"
                         "abcd\0\0\0\0\0\0\0\x11"
                         "e\0\0\0\x08xml "),
    FALSE, SB_METADATA_LOST_XMP },
  { "endless",
    BYTES (JXL_CONTAINER "\0\0\0\x01"
                         "abcd\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x08xml "),
    FALSE, 0 },
  /* Others. */
  { "anymap", BYTES ("P6 # deep\n3 2 1023\n"), TRUE, 0 },
  { "shallow anymap", BYTES ("P6 3 2 255\n"), FALSE, 0 },
  { "avif",
    BYTES ("\0\0\0\x1c"
           "ftypavif\0\0\0\x0c"
           "av1C\x81\x20\x40\0................"),
    TRUE, 0 },
  { "heic",
    BYTES ("\0\0\0\x18"
           "ftypheic"
           "\0\0\0\x15infe\x02\0\0\0\0\2\0\0Exif\0\0"),
    FALSE, SB_METADATA_LOST_EXIF },
  { "nothing", BYTES (""), FALSE, 0 },
};

static void
test_heads (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      const Head *head = &heads[i];
      /* On its own, so that a read beyond it is found. */
      g_autofree guint8 *bytes = g_memdup2 (head->bytes, head->n);
      const gboolean deep = sb_head_is_deep (bytes, head->n);
      const SbMetadataLoss loss = sb_head_find_loss (bytes, head->n);

      if (deep != head->deep || loss != head->loss)
        g_test_fail_printf ("%s: deep %d, lost %u", head->name, deep, (guint)loss);
    }
}

/* Every beginning of each, and each with any of its bytes changed: nothing beyond it is read, and
 * it ends. */
static void
test_any_bytes (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    for (gsize n = 0; n <= heads[i].n; n++)
      for (guint round = 0; round < 20; round++)
        {
          g_autofree guint8 *bytes = g_memdup2 (heads[i].bytes, n);

          for (guint k = 0; n > 0 && k < round / 5; k++)
            bytes[g_rand_int_range (rand, 0, (gint32)n)] = (guint8)g_rand_int_range (rand, 0, 256);
          sb_head_is_deep (bytes, n);
          sb_head_find_loss (bytes, n);
          sb_head_name_format (bytes, n);
        }
}

static void
test_names (void)
{
  g_assert_cmpstr (sb_head_name_format ((const guint8 *)JXL_CONTAINER, 12), ==, "JPEG XL");
  g_assert_cmpstr (sb_head_name_format ((const guint8 *)JXL_8, 2), ==, "JPEG XL");
  g_assert_cmpstr (sb_head_name_format ((const guint8 *)"\0\0\0\x1c"
                                                        "ftypavif",
                                        12),
                   ==, "AVIF");
  g_assert_null (sb_head_name_format ((const guint8 *)"\0\0\0\x1c"
                                                      "ftypavi",
                                      11));
  g_assert_null (sb_head_name_format (NULL, 0));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/image-head/heads", test_heads);
  g_test_add_func ("/image-head/any-bytes", test_any_bytes);
  g_test_add_func ("/image-head/names", test_names);
  return g_test_run ();
}
