/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-engine.h"

G_BEGIN_DECLS

/* What the tests of the engine share: calls that must succeed, and a picture like a photo. */

/* On the CPU, all threads. */
SbEngine *sb_test_open_engine (void) G_GNUC_WARN_UNUSED_RESULT;
void sb_test_load (SbEngine *engine, SbImage *image);
void sb_test_render (SbEngine *engine, const SbEdit *edits, guint n_edits, guint n_fixed,
                     SbQuality quality);
SbImage *sb_test_read (SbEngine *engine, const SbEdit *edits, guint n_edits,
                       guint depth) G_GNUC_WARN_UNUSED_RESULT;
/* A view of width x height without padding. */
guint8 *sb_test_shoot (SbEngine *engine, SbShowWhat what, double x, double y, int width, int height,
                       double zoom) G_GNUC_WARN_UNUSED_RESULT;

/* A wall, sky, a disk and blocks: gradients, hard and soft edges, fine texture and some noise. */
SbImage *sb_test_photo (guint width, guint height, guint depth,
                        gboolean alpha) G_GNUC_WARN_UNUSED_RESULT;
SbEdit sb_test_make_blur (double radius, guint passes, gboolean linear);
/* One edit by the blur alone. */
SbImage *sb_test_blur_alone (SbImage *image, const SbEdit *edit,
                             guint depth) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
