/* SPDX-License-Identifier: MIT */

#pragma once

#include "reference.h"
#include "sb-tone.h"

G_BEGIN_DECLS

/* Pictures and edits for tests, and the words to report a difference with. Pixels are straight
 * RGBA at 16 bits throughout; those of an 8-bit picture are multiples of 257. */

typedef enum
{
  SB_FILL_NOISE,       /* every sample any value, opaque */
  SB_FILL_NOISE_ALPHA, /* alpha any value too, a third of them 0, 1 or the maximum */
  SB_FILL_SPARSE,      /* mostly alpha 0 with colour hidden under it */
  SB_FILL_NEAR_TIE,    /* runs of q and q + 1: window sums crowd round the halves where a division
                          is rounded, so that one that is off in its last bit shows */
  SB_FILL_TIE_ALPHA,   /* the same with alpha of that kind */
  SB_FILL_BLACK,       /* all samples 0, alpha too */
  SB_FILL_WHITE,       /* all samples the maximum */
  SB_FILL_CONSTANT,    /* one colour, one alpha */
  SB_FILL_CHECKER,     /* 0 and the maximum in turn, opaque */
  SB_FILL_IMPULSE,     /* one white pixel on opaque black */
  SB_FILL_RAMP,        /* smooth, each channel another way, opaque */
  SB_N_FILLS,
} SbFill;

const char *sb_fill_name (SbFill fill);
/* run: about how long a run of NEAR_TIE is, best somewhat longer than the box. */
void sb_fill_pixels (guint16 *rgba, guint width, guint height, SbFill fill, guint run, guint depth,
                     GRand *rand);
SbImage *sb_fill_image (guint width, guint height, SbFill fill, guint run, guint depth,
                        GRand *rand) G_GNUC_WARN_UNUSED_RESULT;

/* The seed of this run: SOFTBOX_TEST_SEED, or one drawn anew; told in the test's output. */
guint32 sb_test_seed (void);
/* For long sweeps, at each case: always TRUE, or with SOFTBOX_TEST_SHARE=n for one call in n, so
 * that a build with sanitizers, many times slower, walks the same sweeps with longer strides. */
gboolean sb_test_in_share (void);

/* A blur of the whole picture. */
SbEdit sb_test_blur (double radius, guint passes, gboolean linear);
/* Any blur of a radius up to max_radius, half of them with an area that meets the picture. */
SbEdit sb_test_random_edit (GRand *rand, guint width, guint height, guint max_radius);
/* Any edit of bands, of all levels there are and more, half of them with an area. */
SbEdit sb_test_random_bands (GRand *rand, guint width, guint height);
/* Every parameter and the area, also where they are the defaults. */
char *sb_test_describe_edit (const SbEdit *edit) G_GNUC_WARN_UNUSED_RESULT;
char *sb_test_describe_list (const SbEdit *edits, guint n_edits) G_GNUC_WARN_UNUSED_RESULT;

/* NULL if the images are equal; else what differs first, and how many pixels do. */
char *sb_test_first_difference (SbImage *expected, SbImage *actual) G_GNUC_WARN_UNUSED_RESULT;
/* Fails the running test, with `what` and the difference, if the images differ. */
gboolean sb_test_same_image (SbImage *expected, SbImage *actual, const char *what);

/* Tables of three different curves (a gamma of 1.8, sRGB, a straight line), so that a channel that
 * is coded with another's is seen; and sRGB's. Made from the reference, not by sb_tone_new(). */
typedef struct
{
  SbReferenceTone reference;
  SbTone *tone;
} SbTestTone;

void sb_test_tone_init_srgb (SbTestTone *tone);
void sb_test_tone_init_mixed (SbTestTone *tone);
void sb_test_tone_clear (SbTestTone *tone);

G_END_DECLS
