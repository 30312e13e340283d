/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-cuda-kernels.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* The Haar transform on the device: what the host side calls. As in sb-cuda-kernels.h every
   * function returns at once and pointers are device memory. The arithmetic is that of
   * sb-haar-arith.h. */

  /* Levels of one launch: a tile of 32 x 32 has no more. */
#define SB_CUDA_HAAR_STEP       5
#define SB_CUDA_HAAR_MAX_LEVELS 20
#define SB_CUDA_HAAR_MAX_BANDS  (1 + 3 * SB_CUDA_HAAR_MAX_LEVELS)
#define SB_CUDA_HAAR_STEPS      (SB_CUDA_HAAR_MAX_LEVELS / SB_CUDA_HAAR_STEP)

  /* Floats; stride counts floats and is a multiple of 4, rows start at multiples of 16 bytes. */
  typedef struct
  {
    float *values;
    size_t stride;
    int columns, rows;
  } SbCudaPlane;

  /* A transform: the bands in the order of sb_haar_nth_band(), and the means of level 5, 10 and 15
   * where deeper levels follow. channel: an SbHaarChannel. */
  typedef struct
  {
    int width, height, levels, channel;
    SbCudaPlane bands[SB_CUDA_HAAR_MAX_BANDS];
    SbCudaPlane means[SB_CUDA_HAAR_STEPS - 1];
  } SbCudaHaar;

  /* Fills in the planes of a transform that lies at `values`, and returns how many floats that
   * takes; values NULL: only counts. */
  size_t sb_cuda_haar_lay_out (SbCudaHaar *haar, float *values);
  cudaError_t sb_cuda_haar_forward (const SbCudaPicture *source, const SbCudaHaar *haar,
                                    cudaStream_t stream);
  /* max |inverse (transform) - source| into *error, as float. Spoils the means, which only the
   * forward transform needs. */
  cudaError_t sb_cuda_haar_error (const SbCudaPicture *source, const SbCudaHaar *haar, float *error,
                                  cudaStream_t stream);

  /* --- The edit of bands --------------------------------------------------------------------- */

  /* Only the pixels of the rect are written. mask as in SbCudaBlur. `room`: sb_cuda_bands_room()
   * floats, where the means of level 5, 10 and 15 lie; NULL where that is 0. */
  typedef struct
  {
    SbCudaPicture source, target;
    int opaque, luma;
    int x, y, width, height;
    const uint16_t *mask;
    size_t mask_stride;
    int levels; /* not more than the picture has */
    int hard;
    float gain_a;
    float threshold[SB_CUDA_HAAR_MAX_LEVELS]; /* of level 1, 2, …, in our scale */
    float gain[SB_CUDA_HAAR_MAX_LEVELS][3];   /* H, V, D */
    float *room;
  } SbCudaBands;

  size_t sb_cuda_bands_room (int width, int height, int levels);
  cudaError_t sb_cuda_bands (const SbCudaBands *bands, cudaStream_t stream);
  /* Of the details of all planes: how many are not zero before and after, into counts[0 .. 1]. The
   * target is not touched. */
  cudaError_t sb_cuda_bands_count (const SbCudaBands *bands, unsigned long long *counts,
                                   cudaStream_t stream);
  /* The sum of squared differences of R, G, B of two pictures at the depth of b, into *sum. */
  cudaError_t sb_cuda_squared_error (const SbCudaPicture *a, const SbCudaPicture *b,
                                     unsigned long long *sum, cudaStream_t stream);

  /* --- Measures ------------------------------------------------------------------------------ */

  /* Of one band, in the orthonormal scale. */
  typedef struct
  {
    double sum, squares;
    float low, high;
    unsigned long long near_zero;
  } SbCudaSums;

  /* Of all bands into sums[0 …]; room: SB_CUDA_HAAR_MAX_BANDS * SB_CUDA_SUM_BLOCKS of them. */
#define SB_CUDA_SUM_BLOCKS 256
  cudaError_t sb_cuda_haar_sums (const SbCudaHaar *haar, SbCudaSums *sums, SbCudaSums *room,
                                 cudaStream_t stream);

  /* Of one band: how many coefficients lie in each of n_bins bins of width 1, the first one
   * centred on first, and in 255 of bin_width as sb-haar.h has it; with the mean, the sum of
   * squared deviations from it, by SB_CUDA_SUM_BLOCKS blocks. n_bins 0: not counted. All of it is
   * cleared before. entropy: by SB_CUDA_SUM_BLOCKS blocks, to be added up. */
  typedef struct
  {
    SbCudaPlane band;
    float scale; /* 2^level */
    double mean, bin_width;
    int first, n_bins;
    unsigned int *bins, *plot;
    double *deviations, *entropies;
  } SbCudaCounts;

  cudaError_t sb_cuda_haar_counts (const SbCudaCounts *counts, cudaStream_t stream);

  /* The middle two of the magnitudes of a plane, one twice where the count is odd, into
   * middle[0 .. 1]. room: SB_CUDA_MEDIAN_ROOM bytes. */
#define SB_CUDA_MEDIAN_ROOM (64 + 2 * 2048 * 4)
  cudaError_t sb_cuda_haar_median (const SbCudaPlane *plane, float *middle, void *room,
                                   cudaStream_t stream);

  /* --- The mosaic ---------------------------------------------------------------------------- */

  /* A band on the mosaic: its device pixels left .. right - 1, top .. bottom - 1; its place in
   * points, a coefficient taking scale each way (sb-haar.h); and how values become u, means 0 ..
   * 255. reduced: a pixel covers more than a coefficient. Small, as all cells travel with the
   * launch. */
  typedef struct
  {
    const float *values;
    int stride, columns, rows;
    int left, right, top, bottom;
    int x, y, width, height, scale;
    float factor;
    short means, reduced;
  } SbCudaCell;

  typedef struct
  {
    int n_cells, display, logarithmic, dark;
    SbCudaCell cells[SB_CUDA_HAAR_MAX_BANDS];
  } SbCudaMosaic;

  cudaError_t sb_cuda_show_mosaic (const SbCudaMosaic *mosaic, const SbCudaView *view, void *rgba,
                                   size_t stride, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
