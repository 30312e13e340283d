/* SPDX-License-Identifier: MIT */

#include "config.h"

#include <math.h>
#include <string.h>

#include "documents.h"
#include "sb-document-private.h"
#include "wait.h"

/* The document's subbands without a display: what it measures and shows is what the transform of
 * its exact result says, made in the plain way. */

#define WIDTH  203
#define HEIGHT 151

typedef struct
{
  char *folder;
  GFile *file;
  SbDocument *document;
  guint n_measured;
  guint n_early; /* of these, before the noise was known */
  guint wake_id;
} Fixture;

static const SbHaarChoice choice = { SB_HAAR_LIGHTNESS, 4 };
static const SbHaarBand band = { 2, SB_HAAR_V };

static gboolean
is_busy (SbDocument *document)
{
  gboolean busy;

  g_object_get (document, "busy", &busy, NULL);
  return busy;
}

static void
measured_cb (Fixture *fixture)
{
  const SbSubbandMeasures *measures = sb_document_get_measures (fixture->document);

  fixture->n_measured++;
  if (measures != NULL && measures->id != 0 && isnan (measures->noise))
    fixture->n_early++;
}

/* Noise, and a quarter of it smooth. */
static GFile *
save_picture (const char *folder, const char *name, guint width, guint height)
{
  const SbSaveOptions options = { 0, 0, TRUE };
  g_autoptr (SbImage) image = sb_image_new (width, height, 8, NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  GFile *file = g_file_new_for_path (path);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GError) error = NULL;
  guint8 *pixels = sb_image_writable (image);

  for (gsize i = 0; i < (gsize)width * height; i++)
    {
      const guint32 noise = i < (gsize)width * height / 4 * 3 ? g_rand_int (rand) : 0;

      pixels[4 * i] = (guint8)(100 + (noise & 15));
      pixels[4 * i + 1] = (guint8)(i % width / 2 + (noise >> 8 & 7));
      pixels[4 * i + 2] = (guint8)(i / width);
      pixels[4 * i + 3] = 255;
    }
  sb_image_save_png (image, file, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return file;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("softbox-subbands-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  fixture->file = save_picture (fixture->folder, "picture.png", WIDTH, HEIGHT);
  fixture->document = sb_document_new ((SbDevice){ SB_DEVICE_CPU, 0, 2 });
  g_signal_connect_swapped (fixture->document, "measured", G_CALLBACK (measured_cb), fixture);
  fixture->wake_id = g_timeout_add (20, sb_test_wake_up, NULL);
  sb_test_load (fixture->document, fixture->file);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_add_weak_pointer (G_OBJECT (fixture->document), (gpointer *)&fixture->document);
  g_object_unref (fixture->document);
  g_assert_null (fixture->document);
  wait_for (sb_work_n_threads () == 0);
  g_source_remove (fixture->wake_id);
  sb_test_remove_folder (fixture->folder);
  g_object_unref (fixture->file);
  g_free (fixture->folder);
}

/* What the edits make of the picture, in an engine of its own. */
static SbImage *
render (Fixture *fixture, const char *text)
{
  SbEngine *engine = sb_engine_new ((SbDevice){ SB_DEVICE_CPU, 0, 1 }, NULL);
  g_autoptr (SbEditList) edits = NULL;
  g_autoptr (GError) error = NULL;
  SbEdit edit;

  if (text != NULL)
    {
      sb_edit_parse (text, &edit, &error);
      g_assert_no_error (error);
    }
  edits = sb_edit_list_new (&edit, text != NULL ? 1 : 0);
  sb_engine_load (engine, sb_document_get_image (fixture->document), &error);
  g_assert_no_error (error);
  SbImage *image = sb_engine_read (engine, edits, 0, 8, NULL, &error);
  g_assert_no_error (error);
  sb_engine_free (engine);
  return image;
}

static void
assert_measures (Fixture *fixture, const char *text, SbHaarChoice wanted, SbHaarBand of)
{
  const SbSubbandMeasures *measures = sb_document_get_measures (fixture->document);
  g_autoptr (SbImage) image = render (fixture, text);
  g_autoptr (SbHaar) haar = sb_haar_new (image, &wanted, NULL);
  SbHaarStatistics statistics;
  SbHaarSummary summary;

  g_assert_nonnull (measures);
  g_assert_cmpuint (measures->choice.levels, ==, wanted.levels);
  g_assert_cmpuint (measures->choice.channel, ==, wanted.channel);
  g_assert_cmpuint (measures->band.level, ==, of.level);
  g_assert_cmpuint (measures->band.orientation, ==, of.orientation);
  g_assert_cmpuint (measures->depth, ==, 8);
  sb_haar_measure (haar, of, &statistics);
  sb_haar_summarize (haar, &summary);
  g_assert_cmpuint (measures->statistics.count, ==, statistics.count);
  g_assert_cmpfloat (measures->statistics.energy, ==, statistics.energy);
  g_assert_cmpfloat (measures->statistics.entropy, ==, statistics.entropy);
  g_assert_cmpmem (measures->statistics.histogram, sizeof statistics.histogram,
                   statistics.histogram, sizeof statistics.histogram);
  g_assert_cmpfloat (measures->summary.noise, ==, summary.noise);
  g_assert_cmpfloat (measures->summary.reconstruction_error, ==, 0);
}

static void
set_edit (Fixture *fixture, const char *text, const char *control)
{
  g_autoptr (GError) error = NULL;
  SbEdit edit;

  sb_edit_parse (text, &edit, &error);
  g_assert_no_error (error);
  sb_document_set_edit (fixture->document, &edit, control, &error);
  g_assert_no_error (error);
}

static void
wait_until_idle (Fixture *fixture)
{
  wait_for (!is_busy (fixture->document));
  /* What was measured is on its way by the same loop. */
  for (guint i = 0; i < 3; i++)
    g_main_context_iteration (NULL, FALSE);
}

/* All of it: the band comes first, and what is suggested last. */
static void
wait_until_measured (Fixture *fixture)
{
  wait_for (sb_document_get_measures (fixture->document) != NULL);
  wait_until_idle (fixture);
  g_assert_cmpuint (sb_document_get_measures (fixture->document)->id, !=, 0);
  g_assert_false (isnan (sb_document_get_measures (fixture->document)->noise));
}

static void
test_measures (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  float value;

  g_assert_null (sb_document_get_measures (document));
  g_assert_false (sb_document_pick_coefficient (document, band, 0, 0, &value));
  sb_document_set_subbands (document, &choice, band);
  g_assert_true (is_busy (document));
  wait_until_measured (fixture);
  assert_measures (fixture, NULL, choice, band);
  g_assert_false (sb_document_get_measures (document)->has_edit);
  /* What is asked for does not wait for what is suggested. */
  g_assert_cmpuint (fixture->n_measured, ==, 2);
  g_assert_cmpuint (fixture->n_early, ==, 1);

  /* One coefficient, as the plain transform has it. */
  g_autoptr (SbHaar) haar = sb_haar_new (sb_document_get_image (document), &choice, NULL);
  guint columns, rows;
  const float *values = sb_haar_get_band (haar, band, &columns, &rows);
  g_assert_true (sb_document_pick_coefficient (document, band, 7, 5, &value));
  g_assert_cmpfloat (value, ==, values[5 * columns + 7]);
  g_assert_false (sb_document_pick_coefficient (document, band, columns, 0, &value));

  /* Another band, other levels, another channel, and after an edit. */
  const SbHaarBand diagonal = { 1, SB_HAAR_D };
  guint n = fixture->n_measured;
  sb_document_set_subbands (document, &choice, diagonal);
  wait_for (fixture->n_measured > n);
  assert_measures (fixture, NULL, choice, diagonal);

  const SbHaarChoice other = { SB_HAAR_GREEN, 2 };
  sb_document_set_subbands (document, &other, diagonal);
  g_assert_null (sb_document_get_measures (document)); /* the old ones are of something else */
  wait_until_measured (fixture);
  assert_measures (fixture, NULL, other, diagonal);

  set_edit (fixture, "blur:radius=3", NULL);
  n = fixture->n_measured;
  wait_for (fixture->n_measured > n && !is_busy (document));
  wait_until_idle (fixture);
  assert_measures (fixture, "blur:radius=3", other, diagonal);

  /* Off: nothing is known any more, and nothing computed. */
  sb_document_set_subbands (document, NULL, band);
  g_assert_null (sb_document_get_measures (document));
  wait_for (!is_busy (document));
  g_assert_false (sb_document_pick_coefficient (document, band, 0, 0, &value));
  g_assert_cmpuint (sb_engine_get_subbands (document->work->box->engine).levels, ==, 0);
}

/* What the threshold is chosen by is what the edit works on, not what it leaves. */
static void
test_noise_of_the_input (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;

  sb_document_set_subbands (document, &choice, band);
  wait_until_measured (fixture);
  const SbSubbandMeasures before = *sb_document_get_measures (document);
  g_assert_cmpfloat (before.noise, >, 0.5);
  g_assert_cmpfloat (before.noise, ==, before.summary.noise / 2); /* lightness counts twice */
  g_assert_cmpfloat (before.noise, ==, before.summary.noise_levels);

  /* By the rule in the header. */
  g_autoptr (SbHaar) haar = sb_haar_new (sb_document_get_image (document), &choice, NULL);
  SbHaarStatistics finest;
  sb_haar_measure (haar, (SbHaarBand){ 1, SB_HAAR_D }, &finest);
  const double noise = before.summary.noise;
  const double spread = finest.deviation * finest.deviation - noise * noise;
  const double most = noise * sqrt (2 * log ((double)finest.count));
  const double expected = spread > 0 ? MIN (noise * noise / sqrt (spread), most) : most;
  g_assert_cmpfloat_with_epsilon (before.suggested, expected / 2, 1e-12);

  guint n = fixture->n_measured;
  set_edit (fixture, "bands:levels=4,threshold=9", NULL);
  wait_for (fixture->n_measured > n && !is_busy (document));
  wait_until_idle (fixture);
  const SbSubbandMeasures *after = sb_document_get_measures (document);
  assert_measures (fixture, "bands:levels=4,threshold=9", choice, band);
  g_assert_true (after->has_edit);
  g_assert_cmpfloat (after->edit.kept, >, 0);
  g_assert_cmpfloat (after->edit.kept, <, 0.9);
  g_assert_cmpfloat (after->edit.psnr, >, 20);
  g_assert_cmpfloat (after->summary.noise, <, before.summary.noise);
  g_assert_cmpfloat (after->noise, ==, before.noise);
  g_assert_cmpfloat (after->suggested, ==, before.suggested);

  /* What follows the edit changes nothing of what the edit does. */
  const SbBandsMeasure alone = after->edit;
  n = fixture->n_measured;
  set_edit (fixture, "blur:radius=2", NULL);
  wait_for (fixture->n_measured > n && !is_busy (document));
  wait_until_idle (fixture);
  after = sb_document_get_measures (document);
  g_assert_true (after->has_edit);
  g_assert_cmpfloat (after->edit.kept, ==, alone.kept);
  g_assert_cmpfloat (after->edit.psnr, ==, alone.psnr);
  g_assert_cmpfloat (after->noise, ==, before.noise);

  /* Nor is it forgotten when it is changed with the blur behind it. */
  n = fixture->n_measured;
  set_edit (fixture, "bands:levels=4,threshold=4", NULL);
  wait_for (fixture->n_measured > n && !is_busy (document));
  wait_until_idle (fixture);
  after = sb_document_get_measures (document);
  g_assert_cmpfloat (after->edit.kept, >, alone.kept);
  g_assert_cmpfloat (after->edit.psnr, >, alone.psnr);
  g_assert_cmpfloat (after->edit.psnr, <, 100);

  /* Asked for while the edit is there, on another channel: of what comes before it. */
  const SbHaarChoice green = { SB_HAAR_GREEN, 4 };
  sb_document_set_subbands (document, &green, band);
  wait_until_measured (fixture);
  g_autoptr (SbHaar) input = sb_haar_new (sb_document_get_image (document), &green, NULL);
  SbHaarSummary summary;
  sb_haar_summarize (input, &summary);
  g_assert_cmpfloat (sb_document_get_measures (document)->noise, ==, summary.noise);

  /* Applied, it is the input of the next one. */
  n = fixture->n_measured;
  sb_document_apply (document);
  wait_for (fixture->n_measured > n && !is_busy (document));
  wait_until_idle (fixture);
  after = sb_document_get_measures (document);
  g_assert_cmpfloat (after->noise, ==, after->summary.noise);
}

static void
read_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  *(SbHaar **)data = sb_document_read_subbands_finish (SB_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
}

typedef struct
{
  gboolean done;
  GError *error;
} Outcome;

static void
ended_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  Outcome *outcome = data;
  SbHaar *haar = sb_document_read_subbands_finish (SB_DOCUMENT (source), result, &outcome->error);

  g_clear_pointer (&haar, sb_haar_unref);
  outcome->done = TRUE;
}

static void
test_read (Fixture *fixture, gconstpointer data)
{
  g_autoptr (SbImage) image = render (fixture, "blur:radius=2");
  g_autoptr (SbHaar) expected = sb_haar_new (image, &choice, NULL);
  g_autoptr (SbHaar) found = NULL;

  /* Whatever is on its way to the screen. */
  set_edit (fixture, "blur:radius=2", "blur.radius");
  sb_document_read_subbands_async (fixture->document, &choice, read_cb, &found);
  wait_for (found != NULL);
  for (guint i = 0; i < sb_haar_n_bands (choice.levels); i++)
    {
      guint columns, rows;
      const SbHaarBand one = sb_haar_nth_band (choice.levels, i);
      const float *a = sb_haar_get_band (found, one, &columns, &rows);
      const float *b = sb_haar_get_band (expected, one, &columns, &rows);

      g_assert_cmpmem (a, sizeof (float) * columns * rows, b, sizeof (float) * columns * rows);
    }

  /* What is left when the document closes is answered, too, and what comes after that. The worker
   * may have been quicker than the close. */
  Outcome left = { 0 }, late = { 0 };
  sb_document_read_subbands_async (fixture->document, &choice, ended_cb, &left);
  sb_document_close (fixture->document);
  sb_document_read_subbands_async (fixture->document, &choice, ended_cb, &late);
  wait_for (left.done && late.done);
  g_assert_error (late.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&late.error);
  g_clear_error (&left.error);
}

/* Choices are of a picture: another one may have fewer levels. */
static void
test_another_picture (Fixture *fixture, gconstpointer data)
{
  SbDocument *document = fixture->document;
  g_autoptr (GFile) small = save_picture (fixture->folder, "small.png", 5, 3);
  const SbHaarChoice deep = { SB_HAAR_LUMA, 8 };
  g_autofree char *error = NULL;

  sb_document_set_subbands (document, &deep, band);
  wait_until_measured (fixture);
  sb_test_load (fixture->document, small);
  wait_for (!is_busy (document)); /* eight levels are not asked of it */
  g_object_get (document, "error", &error, NULL);
  g_assert_cmpstr (error, ==, "");
  const SbHaarChoice few = { SB_HAAR_LUMA, 3 };
  const guint n = fixture->n_measured;
  sb_document_set_subbands (document, &few, (SbHaarBand){ 1, SB_HAAR_H });
  wait_for (fixture->n_measured > n && sb_document_get_measures (document) != NULL);
  assert_measures (fixture, NULL, few, (SbHaarBand){ 1, SB_HAAR_H });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/document/subbands/measures", Fixture, NULL, set_up, test_measures, tear_down);
  g_test_add ("/document/subbands/noise-of-the-input", Fixture, NULL, set_up,
              test_noise_of_the_input, tear_down);
  g_test_add ("/document/subbands/read", Fixture, NULL, set_up, test_read, tear_down);
  g_test_add ("/document/subbands/another-picture", Fixture, NULL, set_up, test_another_picture,
              tear_down);
  return g_test_run ();
}
