/* SPDX-License-Identifier: MIT */

#include "haar.cuh"

/* The transform that is looked at: from the picture straight to the bands of one channel, five
 * levels a launch. The means of level 5 are the picture of the next launch. */

enum Source
{
  SOURCE_PLANE,
  SOURCE_LIGHTNESS,
  SOURCE_LUMA,
  SOURCE_SAMPLE, /* one of R, G, B, A */
};

/* One launch. */
struct Step
{
  SbCudaPicture picture;
  SbCudaPlane plane; /* instead of it */
  int sample;        /* 0 .. 3 */
  int width, height;
  int levels;                     /* 1 .. 5 */
  float scale[SB_CUDA_HAAR_STEP]; /* 4^-level */
  SbCudaPlane details[SB_CUDA_HAAR_STEP][3];
  SbCudaPlane mean;
};

/* --- Samples --------------------------------------------------------------------------------- */

__device__ __forceinline__ uint32_t
to_lightness (uint32_t r, uint32_t g, uint32_t b)
{
  return max (max (r, g), b) + min (min (r, g), b);
}

template <int SOURCE>
__device__ __forceinline__ float
sample_8 (uint32_t v, uint32_t pick)
{
  if (SOURCE == SOURCE_LUMA)
    /* Bytes 1 and 2 of the sum are what the shift by 8 leaves. */
    return __uint_as_float (__byte_perm (__dp4a (v, 0x0013b736u, 128u), 0x4b000000u, 0x7421))
           - 8388608.0f;
  if (SOURCE == SOURCE_LIGHTNESS)
    return sb_to_float (to_lightness (v & 255, v >> 8 & 255, v >> 16 & 255));
  return __uint_as_float (__byte_perm (v, 0x4b000000u, pick)) - 8388608.0f;
}

template <int SOURCE>
__device__ __forceinline__ float
sample_16 (uint32_t rg, uint32_t ba, int sample)
{
  const uint32_t r = rg & 65535, g = rg >> 16, b = ba & 65535;
  if (SOURCE == SOURCE_LUMA)
    return sb_to_float ((54 * r + 183 * g + 19 * b + 128) >> 8);
  if (SOURCE == SOURCE_LIGHTNESS)
    return sb_to_float (to_lightness (r, g, b));
  return sb_to_float ((sample & 2 ? ba : rg) >> 16 * (sample & 1) & 65535);
}

template <int SOURCE, int DEPTH, bool EDGE>
__device__ __forceinline__ void
load_tile (const Step &step, const SbPlace &p, float (&s)[8][4])
{
  if (SOURCE == SOURCE_PLANE)
    {
      /* Rows need not reach as far as the tile. */
      const int x = EDGE && p.x >= p.width ? p.x & ~31 : p.x;
#pragma unroll
      for (int i = 0; i < 8; i++)
        {
          const int y = EDGE ? min (p.y + i, p.height - 1) : p.y + i;
          const float4 v
              = __ldg ((const float4 *)(step.plane.values + (size_t)y * step.plane.stride + x));
          s[i][0] = v.x;
          s[i][1] = v.y;
          s[i][2] = v.z;
          s[i][3] = v.w;
        }
      return;
    }
  constexpr int WORDS = DEPTH == 16 ? 2 : 1;
  uint4 raw[8][WORDS];
#pragma unroll
  for (int i = 0; i < 8; i++)
    {
      const int y = EDGE ? min (p.y + i, p.height - 1) : p.y + i;
      const uint4 *at = (const uint4 *)(sb_row_at (step.picture, y) + (size_t)p.x * 4 * WORDS);
#pragma unroll
      for (int k = 0; k < WORDS; k++)
        raw[i][k] = __ldg (at + k);
    }
  const uint32_t pick = 0x7440u | (uint32_t)step.sample;
#pragma unroll
  for (int i = 0; i < 8; i++)
    {
      if (DEPTH == 8)
        {
          s[i][0] = sample_8<SOURCE> (raw[i][0].x, pick);
          s[i][1] = sample_8<SOURCE> (raw[i][0].y, pick);
          s[i][2] = sample_8<SOURCE> (raw[i][0].z, pick);
          s[i][3] = sample_8<SOURCE> (raw[i][0].w, pick);
        }
      else
        {
          s[i][0] = sample_16<SOURCE> (raw[i][0].x, raw[i][0].y, step.sample);
          s[i][1] = sample_16<SOURCE> (raw[i][0].z, raw[i][0].w, step.sample);
          s[i][2] = sample_16<SOURCE> (raw[i][WORDS - 1].x, raw[i][WORDS - 1].y, step.sample);
          s[i][3] = sample_16<SOURCE> (raw[i][WORDS - 1].z, raw[i][WORDS - 1].w, step.sample);
        }
    }
}

/* --- Forward --------------------------------------------------------------------------------- */

template <bool EDGE>
__device__ __forceinline__ void
store_2 (const SbCudaPlane &to, int x, int y, float a, float b)
{
  float *at = to.values + (size_t)y * to.stride + x;
  if (!EDGE || (y < to.rows && x + 1 < to.columns))
    *(float2 *)at = make_float2 (a, b);
  else if (y < to.rows && x < to.columns)
    *at = a;
}

template <bool EDGE>
__device__ __forceinline__ void
store_1 (const SbCudaPlane &to, int x, int y, float a)
{
  if (!EDGE || (y < to.rows && x < to.columns))
    to.values[(size_t)y * to.stride + x] = a;
}

template <bool EDGE>
__device__ __forceinline__ void
store_tile (const Step &step, const SbPlace &p, const SbTile &t)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    {
      const int x = p.x >> 1, y = (p.y >> 1) + i;
      const float k = 0.25f;
      store_2<EDGE> (step.details[0][0], x, y, t.s[2 * i + 1][0] * k, t.s[2 * i + 1][2] * k);
      store_2<EDGE> (step.details[0][1], x, y, t.s[2 * i][1] * k, t.s[2 * i][3] * k);
      store_2<EDGE> (step.details[0][2], x, y, t.s[2 * i + 1][1] * k, t.s[2 * i + 1][3] * k);
      if (step.levels == 1)
        store_2<EDGE> (step.mean, x, y, t.s[2 * i][0] * k, t.s[2 * i][2] * k);
    }
  if (step.levels < 2)
    return;
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      const int x = p.x >> 2, y = (p.y >> 2) + i;
      const float k = 0.0625f;
      store_1<EDGE> (step.details[1][0], x, y, t.s[4 * i + 2][0] * k);
      store_1<EDGE> (step.details[1][1], x, y, t.s[4 * i][2] * k);
      store_1<EDGE> (step.details[1][2], x, y, t.s[4 * i + 2][2] * k);
      if (step.levels == 2)
        store_1<EDGE> (step.mean, x, y, t.s[4 * i][0] * k);
    }
#pragma unroll
  for (int l = 3; l <= SB_CUDA_HAAR_STEP; l++)
    {
      if (step.levels < l)
        return;
      /* One lane of those that hold the same: the first one of its columns and of its rows. */
      const int lanes = (l == 3 ? 1 : l == 4 ? 3 | 8 : 7 | 24);
      if ((p.lane & lanes) != 0)
        continue;
      const float k = step.scale[l - 1];
      store_1<EDGE> (step.details[l - 1][0], p.x >> l, p.y >> l, t.h[l - 3] * k);
      store_1<EDGE> (step.details[l - 1][1], p.x >> l, p.y >> l, t.v[l - 3] * k);
      store_1<EDGE> (step.details[l - 1][2], p.x >> l, p.y >> l, t.d[l - 3] * k);
      if (step.levels == l)
        store_1<EDGE> (step.mean, p.x >> l, p.y >> l, t.a * k);
    }
}

template <int SOURCE, int DEPTH, bool EDGE>
__device__ __forceinline__ void
forward_tile (const Step &step, const SbPlace &p)
{
  SbTile t;
  load_tile<SOURCE, DEPTH, EDGE> (step, p, t.s);
  sb_tile_forward<EDGE> (t, p, step.levels);
  store_tile<EDGE> (step, p, t);
}

template <int SOURCE, int DEPTH>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    forward_kernel (const __grid_constant__ Step step)
{
  const SbPlace p = sb_place (0, 0, step.width, step.height);
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    forward_tile<SOURCE, DEPTH, false> (step, p);
  else
    forward_tile<SOURCE, DEPTH, true> (step, p);
}

/* --- Back, to see that nothing is lost ------------------------------------------------------- */

template <bool EDGE>
__device__ __forceinline__ float
load_1 (const SbCudaPlane &from, int x, int y)
{
  if (EDGE && (y >= from.rows || x >= from.columns))
    return 0;
  return __ldg (from.values + (size_t)y * from.stride + x);
}

template <bool EDGE>
__device__ __forceinline__ float2
load_2 (const SbCudaPlane &from, int x, int y)
{
  if (EDGE)
    return make_float2 (load_1<true> (from, x, y), load_1<true> (from, x + 1, y));
  return __ldg ((const float2 *)(from.values + (size_t)y * from.stride + x));
}

template <bool EDGE>
__device__ __forceinline__ void
load_bands (const Step &step, const SbPlace &p, SbTile &t)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    {
      const int x = p.x >> 1, y = (p.y >> 1) + i;
      const float2 h = load_2<EDGE> (step.details[0][0], x, y);
      const float2 v = load_2<EDGE> (step.details[0][1], x, y);
      const float2 d = load_2<EDGE> (step.details[0][2], x, y);
      t.s[2 * i + 1][0] = h.x;
      t.s[2 * i + 1][2] = h.y;
      t.s[2 * i][1] = v.x;
      t.s[2 * i][3] = v.y;
      t.s[2 * i + 1][1] = d.x;
      t.s[2 * i + 1][3] = d.y;
      if (step.levels == 1)
        {
          const float2 a = load_2<EDGE> (step.mean, x, y);
          t.s[2 * i][0] = a.x;
          t.s[2 * i][2] = a.y;
        }
    }
  if (step.levels < 2)
    return;
#pragma unroll
  for (int i = 0; i < 2; i++)
    {
      const int x = p.x >> 2, y = (p.y >> 2) + i;
      t.s[4 * i + 2][0] = load_1<EDGE> (step.details[1][0], x, y);
      t.s[4 * i][2] = load_1<EDGE> (step.details[1][1], x, y);
      t.s[4 * i + 2][2] = load_1<EDGE> (step.details[1][2], x, y);
      if (step.levels == 2)
        t.s[4 * i][0] = load_1<EDGE> (step.mean, x, y);
    }
#pragma unroll
  for (int l = 3; l <= SB_CUDA_HAAR_STEP; l++)
    {
      if (step.levels < l)
        return;
      /* With the signs that lanes hold them with. */
      const float across = (p.lane & (1 << (l - 3))) != 0 ? -1.0f : 1.0f;
      const float down = (p.lane & (l > 3 ? 8 << (l - 4) : 0)) != 0 ? -1.0f : 1.0f;
      t.h[l - 3] = load_1<EDGE> (step.details[l - 1][0], p.x >> l, p.y >> l) * down;
      t.v[l - 3] = load_1<EDGE> (step.details[l - 1][1], p.x >> l, p.y >> l) * across;
      t.d[l - 3] = load_1<EDGE> (step.details[l - 1][2], p.x >> l, p.y >> l) * across * down;
      if (step.levels == l)
        t.a = load_1<EDGE> (step.mean, p.x >> l, p.y >> l);
    }
}

template <bool EDGE>
__device__ __forceinline__ void
store_plane (const Step &step, const SbPlace &p, const float (&s)[8][4])
{
#pragma unroll
  for (int i = 0; i < 8; i++)
    {
      store_2<EDGE> (step.plane, p.x, p.y + i, s[i][0], s[i][1]);
      store_2<EDGE> (step.plane, p.x + 2, p.y + i, s[i][2], s[i][3]);
    }
}

template <int SOURCE, int DEPTH, bool EDGE>
__device__ __forceinline__ float
inverse_tile (const Step &step, const SbPlace &p)
{
  SbTile t;
  float most = 0;
  load_bands<EDGE> (step, p, t);
  sb_tile_inverse (t, step.levels);
  if (SOURCE == SOURCE_PLANE)
    {
      store_plane<EDGE> (step, p, t.s);
      return 0;
    }
  float s[8][4];
  load_tile<SOURCE, DEPTH, EDGE> (step, p, s);
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (!EDGE || (p.x + j < p.width && p.y + i < p.height))
        most = fmaxf (most, fabsf (t.s[i][j] - s[i][j]));
  return most;
}

template <int SOURCE, int DEPTH>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    inverse_kernel (const __grid_constant__ Step step, int *error)
{
  const SbPlace p = sb_place (0, 0, step.width, step.height);
  if (!sb_tile_begins (p))
    return;
  float most = sb_tile_ends (p) ? inverse_tile<SOURCE, DEPTH, false> (step, p)
                                : inverse_tile<SOURCE, DEPTH, true> (step, p);
  if (SOURCE == SOURCE_PLANE)
    return;
  for (int k = 16; k > 0; k >>= 1)
    most = fmaxf (most, sb_from (most, k));
  /* Floats from 0 on are in the order of their bits. */
  if (p.lane == 0 && most > 0)
    atomicMax (error, __float_as_int (most));
}

/* --- Launches -------------------------------------------------------------------------------- */

size_t
sb_cuda_haar_lay_out (SbCudaHaar *haar, float *values)
{
  size_t total = 0;

  for (int i = 0; i < SB_CUDA_HAAR_MAX_BANDS + SB_CUDA_HAAR_STEPS - 1; i++)
    {
      const bool is_band = i < SB_CUDA_HAAR_MAX_BANDS;
      const int k = i - SB_CUDA_HAAR_MAX_BANDS;
      const int level = is_band ? (i == 0 ? haar->levels : haar->levels - (i - 1) / 3)
                                : (k + 1) * SB_CUDA_HAAR_STEP;
      SbCudaPlane *plane = is_band ? &haar->bands[i] : &haar->means[k];
      if (level < 1 || (!is_band && level >= haar->levels))
        {
          *plane = SbCudaPlane{ NULL, 0, 0, 0 };
          continue;
        }
      plane->columns = (int)(((long long)haar->width + (1ll << level) - 1) >> level);
      plane->rows = (int)(((long long)haar->height + (1ll << level) - 1) >> level);
      /* Whole lines of the cache where rows are long. */
      const int unit = plane->columns >= 128 ? 32 : 4;
      plane->stride = (size_t)(plane->columns + unit - 1) / unit * unit;
      plane->values = values != NULL ? values + total : NULL;
      total += (plane->stride * plane->rows + 31) / 32 * 32;
    }
  return total;
}

/* The launch for levels SB_CUDA_HAAR_STEP * n + 1 and on. */
static Step
make_step (const SbCudaPicture *source, const SbCudaHaar *haar, int n)
{
  const int before = n * SB_CUDA_HAAR_STEP;
  Step step = {};

  if (n == 0)
    {
      step.picture = *source;
      step.sample = haar->channel - 2; /* SB_HAAR_RED */
      step.width = haar->width;
      step.height = haar->height;
    }
  else
    {
      step.plane = haar->means[n - 1];
      step.width = step.plane.columns;
      step.height = step.plane.rows;
    }
  step.levels
      = haar->levels - before < SB_CUDA_HAAR_STEP ? haar->levels - before : SB_CUDA_HAAR_STEP;
  for (int l = 0; l < step.levels; l++)
    {
      step.scale[l] = 1.0f / (float)(4 << 2 * l);
      for (int o = 0; o < 3; o++)
        step.details[l][o] = haar->bands[1 + 3 * (haar->levels - before - l - 1) + o];
    }
  step.mean = before + step.levels == haar->levels ? haar->bands[0] : haar->means[n];
  return step;
}

/* By source and depth. */
#define CHOOSE(kernel, step, depth, channel, ...)                                                  \
  do                                                                                               \
    {                                                                                              \
      const dim3 grid = sb_tile_grid ((step).width, (step).height);                                \
      const int threads = 32 * SB_HAAR_WARPS;                                                      \
      if ((step).plane.values != NULL)                                                             \
        kernel<SOURCE_PLANE, 8><<<grid, threads, 0, stream>>> (__VA_ARGS__);                       \
      else if ((channel) == 0)                                                                     \
        ((depth) == 8 ? kernel<SOURCE_LIGHTNESS, 8>                                                \
                      : kernel<SOURCE_LIGHTNESS, 16>)<<<grid, threads, 0, stream>>> (__VA_ARGS__); \
      else if ((channel) == 1)                                                                     \
        ((depth) == 8 ? kernel<SOURCE_LUMA, 8>                                                     \
                      : kernel<SOURCE_LUMA, 16>)<<<grid, threads, 0, stream>>> (__VA_ARGS__);      \
      else                                                                                         \
        ((depth) == 8 ? kernel<SOURCE_SAMPLE, 8>                                                   \
                      : kernel<SOURCE_SAMPLE, 16>)<<<grid, threads, 0, stream>>> (__VA_ARGS__);    \
    }                                                                                              \
  while (0)

cudaError_t
sb_cuda_haar_forward (const SbCudaPicture *source, const SbCudaHaar *haar, cudaStream_t stream)
{
  cudaError_t status = cudaSuccess;

  for (int n = 0; status == cudaSuccess && n * SB_CUDA_HAAR_STEP < haar->levels; n++)
    {
      const Step step = make_step (source, haar, n);
      CHOOSE (forward_kernel, step, source->depth, haar->channel, step);
      status = cudaGetLastError ();
    }
  return status;
}

cudaError_t
sb_cuda_haar_error (const SbCudaPicture *source, const SbCudaHaar *haar, float *error,
                    cudaStream_t stream)
{
  cudaError_t status = cudaMemsetAsync (error, 0, sizeof *error, stream);

  for (int n = (haar->levels - 1) / SB_CUDA_HAAR_STEP; status == cudaSuccess && n >= 0; n--)
    {
      const Step step = make_step (source, haar, n);
      CHOOSE (inverse_kernel, step, source->depth, haar->channel, step, (int *)error);
      status = cudaGetLastError ();
    }
  return status;
}
