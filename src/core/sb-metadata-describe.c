/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-metadata.h"
#include "sb-metadata-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define LONGEST_VALUE 300 /* characters */

static void
field_free (gpointer data)
{
  SbMetadataField *field = data;

  g_free (field->value);
  g_free (field);
}

/* Takes the value; one line of valid text, and not without end. */
static void
add (GPtrArray *fields, const char *label, char *value)
{
  if (value == NULL)
    return;
  char *valid = g_utf8_make_valid (value, -1);
  g_free (value);
  for (char *c = valid; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  if (g_utf8_strlen (valid, -1) > LONGEST_VALUE)
    {
      char *cut = g_utf8_substring (valid, 0, LONGEST_VALUE);
      g_free (valid);
      valid = g_strconcat (cut, "…", NULL);
      g_free (cut);
    }
  g_strstrip (valid);
  if (*valid == '\0')
    {
      g_free (valid);
      return;
    }
  SbMetadataField *field = g_new0 (SbMetadataField, 1);
  field->label = label;
  field->value = valid;
  g_ptr_array_add (fields, field);
}

static char *
get (GExiv2Metadata *exif, const char *tag)
{
  char *value = gexiv2_metadata_try_has_tag (exif, tag, NULL)
                    ? gexiv2_metadata_try_get_tag_interpreted_string (exif, tag, NULL)
                    : NULL;

  if (value != NULL && *g_strstrip (value) == '\0')
    g_clear_pointer (&value, g_free);
  return value;
}

/* Makers write their name into the model too, or not. */
static char *
get_camera (GExiv2Metadata *exif)
{
  g_autofree char *make = get (exif, "Exif.Image.Make");
  g_autofree char *model = get (exif, "Exif.Image.Model");

  if (make == NULL || (model != NULL && g_str_has_prefix (model, make)))
    return g_steal_pointer (&model);
  return model != NULL ? g_strdup_printf ("%s %s", make, model) : g_steal_pointer (&make);
}

/* "2024:05:01 13:07:00" with a date as people write it. */
static char *
get_date (GExiv2Metadata *exif)
{
  char *date = get (exif, "Exif.Photo.DateTimeOriginal");

  if (date == NULL)
    date = get (exif, "Exif.Image.DateTime");
  if (date != NULL && strlen (date) >= 10 && date[4] == ':' && date[7] == ':')
    date[4] = date[7] = '-';
  return date;
}

static void
describe_exif (GPtrArray *fields, GExiv2Metadata *exif)
{
  static const struct
  {
    const char *label, *tag;
  } plain[] = {
    { N_ ("Lens"), "Exif.Photo.LensModel" },
    { N_ ("Exposure"), "Exif.Photo.ExposureTime" },
    { N_ ("Aperture"), "Exif.Photo.FNumber" },
    { N_ ("Sensitivity"), "Exif.Photo.ISOSpeedRatings" },
    { N_ ("Focal length"), "Exif.Photo.FocalLength" },
    { N_ ("Flash"), "Exif.Photo.Flash" },
    { N_ ("Description"), "Exif.Image.ImageDescription" },
    { N_ ("Author"), "Exif.Image.Artist" },
    { N_ ("Copyright"), "Exif.Image.Copyright" },
    { N_ ("Software"), "Exif.Image.Software" },
  };

  add (fields, _ ("Camera"), get_camera (exif));
  add (fields, _ ("Taken"), get_date (exif));
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    {
      char *value = get (exif, plain[i].tag);
      if (value != NULL && g_str_equal (plain[i].tag, "Exif.Photo.ISOSpeedRatings"))
        {
          char *iso = g_strdup_printf ("ISO %s", value);
          g_free (value);
          value = iso;
        }
      add (fields, _ (plain[i].label), value);
    }
}

GPtrArray *
sb_metadata_describe (const SbMetadata *metadata)
{
  g_return_val_if_fail (metadata != NULL, NULL);

  GPtrArray *fields = g_ptr_array_new_with_free_func (field_free);
  if (metadata->exif != NULL)
    {
      g_mutex_lock (&sb_exiv2_lock);
      g_autoptr (GExiv2Metadata) exif = sb_exiv2_open (metadata->exif, NULL);
      if (exif != NULL)
        describe_exif (fields, exif);
      g_clear_object (&exif);
      g_mutex_unlock (&sb_exiv2_lock);
    }
  guint32 density_x = metadata->density_x, density_y = metadata->density_y;
  if (density_x == 0)
    sb_metadata_get_exif_density (metadata, &density_x, &density_y);
  if (density_x > 0 && !metadata->density_is_ratio)
    {
      const double x = density_x * 0.0254, y = density_y * 0.0254;
      if (density_x == density_y)
        add (fields, _ ("Resolution"), g_strdup_printf (_ ("%.0f pixels per inch"), x));
      else
        add (fields, _ ("Resolution"), g_strdup_printf (_ ("%.0f × %.0f pixels per inch"), x, y));
    }
  for (guint i = 0; i < metadata->texts->len; i++)
    {
      static const char *const known[]
          = { "Title", "Author", "Description", "Copyright", "Software", "Comment" };
      const char *const labels[] = { _ ("Title"),     _ ("Author"),   _ ("Description"),
                                     _ ("Copyright"), _ ("Software"), _ ("Comment") };
      const SbMetadataText *text = g_ptr_array_index (metadata->texts, i);
      for (guint k = 0; k < G_N_ELEMENTS (known); k++)
        if (g_str_equal (text->keyword, known[k]))
          add (fields, labels[k], g_strdup (text->text));
    }
  return fields;
}

char **
sb_metadata_describe_loss (SbMetadataLoss lost)
{
  const struct
  {
    SbMetadataLoss kind;
    const char *sentence;
  } kinds[] = {
    { SB_METADATA_LOST_EXIF, _ ("The file's camera data (EXIF) cannot be read and was left out of "
                                "the exported picture.") },
    { SB_METADATA_LOST_XMP, _ ("The file's description (XMP) cannot be read or is too large and "
                               "was left out of the exported picture.") },
    { SB_METADATA_LOST_XMP_EXTENSION, _ ("The file's description (XMP) has a second part, which "
                                         "was left out of the exported picture.") },
    { SB_METADATA_LOST_IPTC, _ ("The file's caption data (IPTC) is damaged and was left out of the "
                                "exported picture.") },
    { SB_METADATA_LOST_TEXT, _ ("Some of the file's texts are damaged or too long and were left "
                                "out of the exported picture.") },
  };
  GPtrArray *sentences = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if ((lost & kinds[i].kind) != 0)
      g_ptr_array_add (sentences, g_strdup (kinds[i].sentence));
  g_ptr_array_add (sentences, NULL);
  return (char **)g_ptr_array_free (sentences, FALSE);
}

char *
sb_metadata_describe_location (const SbMetadata *metadata)
{
  g_return_val_if_fail (metadata != NULL, NULL);

  double latitude = NAN, longitude = NAN;
  GBytes *const blocks[2] = { metadata->exif, metadata->xmp };

  for (guint i = 0; i < 2 && !isfinite (latitude); i++)
    {
      if (blocks[i] == NULL)
        continue;
      g_mutex_lock (&sb_exiv2_lock);
      g_autoptr (GExiv2Metadata) block
          = sb_exiv2_open (i == 0 ? blocks[0] : NULL, i == 1 ? blocks[1] : NULL);
      if (block != NULL
          && (!gexiv2_metadata_try_get_gps_latitude (block, &latitude, NULL)
              || !gexiv2_metadata_try_get_gps_longitude (block, &longitude, NULL)))
        latitude = longitude = NAN;
      g_clear_object (&block);
      g_mutex_unlock (&sb_exiv2_lock);
    }
  if (!(fabs (latitude) <= 90) || !(fabs (longitude) <= 180))
    return NULL;
  /* Translators: a place on earth: degrees, north or south, degrees, east or west. */
  return g_strdup_printf (_ ("%.5f° %s, %.5f° %s"), fabs (latitude),
                          latitude < 0 ? C_ ("south", "S") : C_ ("north", "N"), fabs (longitude),
                          longitude < 0 ? C_ ("west", "W") : C_ ("east", "E"));
}
