/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-image.h"

G_BEGIN_DECLS

/* The two-dimensional Haar transform of one channel of a picture: what it is called, how large its
 * parts are, where they lie on a mosaic, what is measured of them. On a block p q / r t of samples
 *
 *   cA = ((p+r) + (q+t)) / 4   cV = ((p+r) - (q+t)) / 4
 *   cH = ((p-r) + (q-t)) / 4   cD = ((p-r) - (q-t)) / 4
 *
 * in float and in this order of operations; the inverse by plain additions (sb-haar-arith.h has
 * both to the letter). The next level takes cA. Of an odd side the last sample pairs with itself;
 * level L has ceil (side / 2^L) coefficients a side. Names and signs are those of the textbooks'
 * multilevel transform with a symmetric edge; its orthonormal coefficient at level L is 2^L times
 * ours. */

/* Enough for SB_IMAGE_MAX_SIDE. */
#define SB_HAAR_MAX_LEVELS 20

typedef enum
{
  SB_HAAR_LIGHTNESS, /* max + min of R, G, B: twice the L of HSL, so that it stays whole */
  SB_HAAR_LUMA,      /* (54 R + 183 G + 19 B + 128) >> 8 */
  SB_HAAR_RED,
  SB_HAAR_GREEN,
  SB_HAAR_BLUE,
  SB_HAAR_ALPHA,
  SB_N_HAAR_CHANNELS,
} SbHaarChannel;

/* A is only kept of the last level. */
typedef enum
{
  SB_HAAR_A,
  SB_HAAR_H,
  SB_HAAR_V,
  SB_HAAR_D,
  SB_N_HAAR_ORIENTATIONS,
} SbHaarOrientation;

/* What is transformed: the encoded, straight samples of one channel at the picture's depth. */
typedef struct
{
  SbHaarChannel channel;
  guint levels; /* 1 .. sb_haar_max_levels() */
} SbHaarChoice;

typedef struct
{
  guint level; /* 1 .. levels */
  SbHaarOrientation orientation;
} SbHaarBand;

/* The first level whose sides are both 1; at least 1. */
guint sb_haar_max_levels (guint width, guint height);
/* A side of a band: ceil (side / 2^level). */
guint sb_haar_side (guint side, guint level);
/* "lightness" and back; SB_ERROR_INVALID names the token and the allowed ones. */
const char *sb_haar_channel_key (SbHaarChannel channel);
gboolean sb_haar_channel_parse (const char *text, SbHaarChannel *channel, GError **error);
/* "cA5", "cH1"; parse: also that the level is one of 1 .. levels and A stands at the last only. */
char *sb_haar_band_name (SbHaarBand band) G_GNUC_WARN_UNUSED_RESULT;
gboolean sb_haar_band_parse (const char *text, guint levels, SbHaarBand *band, GError **error);
/* The bands of a transform in their usual order: cA of the last level, then H V D from the last
 * level to the first; 1 + 3 levels of them. */
guint sb_haar_n_bands (guint levels);
SbHaarBand sb_haar_nth_band (guint levels, guint n);
guint sb_haar_band_index (guint levels, SbHaarBand band);

/* --- The mosaic ------------------------------------------------------------------------------ */

typedef enum
{
  SB_HAAR_PYRAMID, /* cA in the corner, cV to its right, cH below, cD across, level after level */
  SB_HAAR_GRID, /* a row for each level, the finest first; columns A H V D, all cells of a size */
} SbHaarLayout;

/* Where a band lies: its top left corner in points of the mosaic, and how many of them one
 * coefficient takes each way. Of a pyramid scale is 1 and nothing overlaps: the place of a level is
 * the size of all that is coarser; gaps that odd sides leave show the ground. A grid shows A of
 * every level that is kept, which is the last; the others of that column stay ground. Its cells are
 * as large as level 1, with a gap of SB_HAAR_GRID_GAP points between; what an odd side makes longer
 * than its cell is cut. */
typedef struct
{
  SbHaarBand band;
  guint columns, rows; /* of coefficients */
  double x, y, scale;
} SbHaarCell;

#define SB_HAAR_GRID_GAP 8

/* The size of the mosaic of a width x height picture, and its cells in the order of
 * sb_haar_nth_band(); `cells` has room for sb_haar_n_bands (levels), or is NULL. */
void sb_haar_mosaic (guint width, guint height, guint levels, SbHaarLayout layout, guint *columns,
                     guint *rows, SbHaarCell *cells);

typedef enum
{
  SB_HAAR_SIGNED,    /* zero is grey */
  SB_HAAR_MAGNITUDE, /* zero is black */
  SB_HAAR_COLOR,     /* blue below zero, orange above */
} SbHaarDisplay;

/* How coefficients become colours: the same rule for all bands and frames, nothing fits itself to
 * the picture. A detail c of ours at level L counts 2^L c, that of a 16-bit picture 1/257 of it and
 * that of lightness one half, so that 255 is about the largest there is at level 1. With u that
 * times gain / 255, limited to -1 .. 1 (logarithmic: sign (u) log2 (1 + 255 |u|) / 8), signed shows
 * grey 127.5 (1 + u), magnitude 255 |u|, colour the two-sided scale. A is shown as the picture is:
 * grey, 0 .. 255, whatever the gain. Where a coefficient covers a device pixel or more, the one
 * under the pixel's centre is shown; below that a pixel shows, of the coefficients that its
 * footprint touches, the one that is largest in magnitude (of two alike, the positive one), of A
 * the mean of those it touches, each with the same weight: fine bands stay visible. A footprint is
 * that part of the pixel's square that lies in the band's cell; a pixel belongs to the band whose
 * cell has its centre. */
typedef struct
{
  SbHaarLayout layout;
  SbHaarDisplay display;
  double gain; /* 1/4 .. 256 */
  gboolean logarithmic;
  gboolean dark; /* zero of the two-sided scale: near black, else white */
} SbHaarLook;

/* The colour of u = -1 .. 1 by that rule; the viewer's scale bar and tests ask for it too. */
void sb_haar_color (const SbHaarLook *look, double u, guint8 rgb[3]);

/* --- The transform in host memory ------------------------------------------------------------ */

/* Immutable, reference-counted. */
typedef struct _SbHaar SbHaar;

/* Of any picture; the slow way round a backend, in the calling thread. */
SbHaar *sb_haar_new (SbImage *image, const SbHaarChoice *choice,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
SbHaar *sb_haar_ref (SbHaar *haar) G_GNUC_WARN_UNUSED_RESULT;
void sb_haar_unref (SbHaar *haar);
guint sb_haar_get_width (const SbHaar *haar); /* of the picture */
guint sb_haar_get_height (const SbHaar *haar);
guint sb_haar_get_depth (const SbHaar *haar);
SbHaarChoice sb_haar_get_choice (const SbHaar *haar);
/* Rows of *columns coefficients without padding, owned by the transform. */
const float *sb_haar_get_band (const SbHaar *haar, SbHaarBand band, guint *columns, guint *rows);

/* --- Measures -------------------------------------------------------------------------------- */

#define SB_HAAR_BINS 255

/* Of one band, in the orthonormal scale, sums in double. */
typedef struct
{
  guint64 count;
  double mean, deviation; /* of the whole band: divided by count */
  double energy, share;   /* sum of squares; its part of all bands' */
  double near_zero;       /* part of |c| < 0.5 */
  double entropy;         /* bits, of a histogram with bins of width 1 centred on 0 */
  /* For a plot: bin i counts |c - (i - 127) * bin_width| < bin_width / 2 (lower end included), the
   * outermost ones all beyond. bin_width is the least power of two, from 1/16 on, for which 127
   * bins reach 3 times the root of the mean square. */
  double bin_width;
  guint64 histogram[SB_HAAR_BINS];
} SbHaarStatistics;

/* Of the whole transform. noise: median |cD1| / 0.6745, the mean of the middle two if even, in the
 * units of the samples like all that is measured of bands; noise_levels: the same in 8-bit levels
 * of the picture, the units of thresholds. reconstruction_error: max |inverse (forward (x)) - x|,
 * computed, in the units of the samples. */
typedef struct
{
  double noise, noise_levels;
  double reconstruction_error;
} SbHaarSummary;

/* How much one 8-bit level of the picture is in samples of a channel: 257 of a 16-bit picture, and
 * twice as much of lightness. */
double sb_haar_unit (SbHaarChannel channel, guint depth);

/* Of a host transform; bands of any backend give the same. Of one that did not come from
 * sb_haar_new() the picture is not known, and the reconstruction error is NAN. */
void sb_haar_measure (const SbHaar *haar, SbHaarBand band, SbHaarStatistics *statistics);
void sb_haar_summarize (const SbHaar *haar, SbHaarSummary *summary);
/* The noise of a summary alone; NAN: out of memory. deviation: of the finest diagonals, as in their
 * statistics; may be NULL. */
double sb_haar_noise (const SbHaar *haar, double *deviation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbHaar, sb_haar_unref)

G_END_DECLS
