/* SPDX-License-Identifier: MIT */

#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

  /* What the host side calls to put kernels on a stream. Every function returns at once and reports
   * the status of its own launches; pointers are device memory unless said otherwise; strides are
   * bytes. No GLib here: nvcc reads this header. */

  /* A picture on the device: RGBA, straight, encoded; depth 8 or 16. Rows start at multiples of
   * 256. */
  typedef struct
  {
    void *pixels;
    size_t stride;
    int width, height;
    int depth;
  } SbCudaPicture;

  /* The tables of a tone curve: three channels one after the other. encode8_steps packs eight
   * linear values an entry: the 8-bit code of the first in the low byte, and from bit 8 on the
   * linear value (less the entry's first) from which on it is one more, 8 where none of the eight
   * is. */
  typedef struct
  {
    const uint16_t *decode;        /* 3 x 65536 */
    const uint16_t *encode;        /* 3 x 65536 */
    const uint16_t *decode8;       /* 3 x 256 */
    const uint16_t *encode8_steps; /* 3 x 8192, or NULL where a curve is too steep for them */
    int same;                      /* the three channels' steps are equal */
  } SbCudaTone;

  /* One blur. The target has the source's size; only the pixels of the rect x, y, width, height are
   * written. `work` and `work2` hold RGBA at 16 bits, work_stride bytes a row; sb_cuda_blur_needs()
   * says whether work2 may be NULL, and what of the two is used: of the columns only x / 8 * 8 up
   * to (x + width + 7) / 8 * 8, of the rows only those of the rect and as far beyond as all passes
   * reach. So a caller may hand over smaller buffers and pointers to where their pixel (0, 0) would
   * be. mask: 16 bits a pixel of the whole picture in rows of a multiple of 16 bytes, or NULL;
   * where it is 0 the source's bytes are written. */
  typedef struct
  {
    SbCudaPicture source, target;
    int radius, fraction, passes; /* R, k of the radius R + k/16 */
    int mirror, linear, opaque;
    int horizontal, vertical;
    int x, y, width, height;
    const uint16_t *mask;
    size_t mask_stride;
    SbCudaTone tone;
    void *work, *work2;
    size_t work_stride;
  } SbCudaBlur;

  enum
  {
    SB_CUDA_AUTO,
    SB_CUDA_NEVER,
    SB_CUDA_ALWAYS, /* where it can be at all */
  };

  /* Sizes of a device that the launchers choose by; filled once. Tests force what is chosen by the
   * device or by the radius: bulk to 0, march to other than SB_CUDA_AUTO. */
  typedef struct
  {
    int multiprocessors;
    int bulk; /* copies in bulk */
    int march;
    size_t shared_per_block; /* with opt-in */
    size_t shared_per_multiprocessor;
  } SbCudaLimits;

  cudaError_t sb_cuda_blur_prepare (SbCudaLimits *limits, int device);
  enum
  {
    SB_CUDA_NEEDS_SECOND = 1,      /* work2 */
    SB_CUDA_NEEDS_ALL_ROWS = 2,    /* of the picture, in both */
    SB_CUDA_NEEDS_ALL_COLUMNS = 4, /* likewise */
  };
  int sb_cuda_blur_needs (const SbCudaLimits *limits, const SbCudaBlur *blur);
  cudaError_t sb_cuda_blur (const SbCudaLimits *limits, const SbCudaBlur *blur,
                            cudaStream_t stream);

  /* The rect's pixels, 8 to 16 bits or back or as they are; both pictures have one size. */
  cudaError_t sb_cuda_convert (const SbCudaPicture *source, const SbCudaPicture *target, int x,
                               int y, int width, int height, cudaStream_t stream);

  /* The mask of an area, softened by `feather` (0 to 500). spans: of each of the `height` rows, the
   * first pixel inside and the first one behind, after what repeated ends add; both 0 where none
   * is. values: what the horizontal box makes of 0 .. 2 feather + 1 samples inside. */
  typedef struct
  {
    int width, height, feather;
    const int2 *spans;
    const uint16_t *values;
    size_t stride; /* of what is made */
  } SbCudaMask;

  cudaError_t sb_cuda_mask (const SbCudaMask *mask, uint16_t *out, cudaStream_t stream);

  /* Show: view->width x view->height RGBA pixels from a picture, as SbView defines it. */
  typedef struct
  {
    int width, height;
    double zoom, inverse, x, y;
    int left, top, right, bottom; /* outputs whose centres lie in the picture */
    int level; /* of the pyramid, whose pixels are weighed; where zoom is 1 or more none is */
    int checker_size;
    uint8_t ground[4], checker[2][4];
  } SbCudaView;

  /* A table of sb-color.h: three curves one after the other, and the points. */
  typedef struct
  {
    const uint16_t *curves;
    const uint2 *points;
  } SbCudaColor;

  /* color NULL: as they are. */
  cudaError_t sb_cuda_show (const SbCudaPicture *source, int opaque, const SbCudaColor *color,
                            const SbCudaView *view, void *rgba, size_t stride, cudaStream_t stream);

  /* trap.cu, in the module for tests only. */
  cudaError_t sb_cuda_trap (cudaStream_t stream);

#ifdef __cplusplus
}
#endif
