/* SPDX-License-Identifier: MIT */

#include "haar-bands.cuh"

/* What is said of an edit of bands: coefficients kept, and how far the result is from before. */

template <int LEVEL, bool EDGE>
__device__ __forceinline__ void
count_level (SbTile &t, const SbPlace &p, const SbBandsChange &c, uint32_t &before, uint32_t &after)
{
  const float limit = c.threshold[LEVEL - 1];
  const float gains[3] = { c.gain[LEVEL - 1][0], c.gain[LEVEL - 1][1], c.gain[LEVEL - 1][2] };
  const int columns = sb_side<LEVEL> (p.width), rows = sb_side<LEVEL> (p.height);
  int k = 0;

  /* Of deeper levels, one lane of those that hold the same. */
  if (LEVEL >= 3 && (p.lane & (LEVEL == 3 ? 1 : LEVEL == 4 ? 3 | 8 : 7 | 24)) != 0)
    return;
  sb_each_detail<LEVEL> (t, [&] (float &x, int o) {
    const int at = k++ / 3, step = LEVEL == 1 ? 2 : 1;
    if (EDGE && ((p.x >> LEVEL) + at % step >= columns || (p.y >> LEVEL) + at / step >= rows))
      return;
    before += x != 0;
    after += fabsf (x) > limit && gains[o] != 0;
  });
}

template <bool BYTES, bool LUMA, bool EDGE>
__device__ __forceinline__ void
count_tile (const SbBandsJob &job, const SbPlace &p, uint32_t &before, uint32_t &after)
{
  const SbBandsChange &c = job.change;
  sb_bands_each_plane<BYTES, LUMA, EDGE> (job, p, [&] (SbTile &t, int) {
    sb_tile_forward<EDGE> (t, p, c.levels);
    count_level<1, EDGE> (t, p, c, before, after);
    if (c.levels >= 2)
      count_level<2, EDGE> (t, p, c, before, after);
    if (c.levels >= 3)
      count_level<3, EDGE> (t, p, c, before, after);
    if (c.levels >= 4)
      count_level<4, EDGE> (t, p, c, before, after);
    if (c.levels >= 5)
      count_level<5, EDGE> (t, p, c, before, after);
  });
}

template <bool BYTES, bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    count_kernel (const __grid_constant__ SbBandsJob job, unsigned long long *counts)
{
  const SbPlace p = sb_place (0, 0, job.width, job.height);
  uint32_t before = 0, after = 0;
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    count_tile<BYTES, LUMA, false> (job, p, before, after);
  else
    count_tile<BYTES, LUMA, true> (job, p, before, after);
  for (int k = 16; k > 0; k >>= 1)
    {
      before += __shfl_xor_sync (0xffffffffu, before, k);
      after += __shfl_xor_sync (0xffffffffu, after, k);
    }
  if (p.lane == 0)
    {
      atomicAdd (counts, (unsigned long long)before);
      atomicAdd (counts + 1, (unsigned long long)after);
    }
}

cudaError_t
sb_bands_launch_count (const SbBandsJob &job, bool bytes, bool luma, dim3 grid,
                       unsigned long long *counts, cudaStream_t stream)
{
  if (bytes)
    (luma ? count_kernel<true, true>
          : count_kernel<true, false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job, counts);
  else
    (luma ? count_kernel<false, true>
          : count_kernel<false, false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job, counts);
  return cudaGetLastError ();
}

/* Four bytes as they are, 16 bits each. */
__device__ __forceinline__ uint2
sb_split (uint32_t v)
{
  return make_uint2 (__byte_perm (v, 0, 0x4140), __byte_perm (v, 0, 0x4342));
}

__global__ void
squared_error_kernel (const __grid_constant__ SbCudaPicture a,
                      const __grid_constant__ SbCudaPicture b, unsigned long long *sum)
{
  unsigned long long own = 0;
  for (int y = blockIdx.y; y < a.height; y += gridDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < a.width; x += gridDim.x * blockDim.x)
      {
        uint2 p = sb_load_straight (a, x, y), q = sb_load_straight (b, x, y);
        if (b.depth == 8)
          {
            p = sb_split (sb_pack_8 (p));
            q = sb_split (sb_pack_8 (q));
          }
        const long long r = (long long)(p.x & 65535) - (long long)(q.x & 65535);
        const long long g = (long long)(p.x >> 16) - (long long)(q.x >> 16);
        const long long u = (long long)(p.y & 65535) - (long long)(q.y & 65535);
        own += (unsigned long long)(r * r + g * g + u * u);
      }
  for (int k = 16; k > 0; k >>= 1)
    own += __shfl_xor_sync (0xffffffffu, own, k);
  if ((threadIdx.x & 31) == 0 && own > 0)
    atomicAdd (sum, own);
}

cudaError_t
sb_cuda_squared_error (const SbCudaPicture *a, const SbCudaPicture *b, unsigned long long *sum,
                       cudaStream_t stream)
{
  const cudaError_t status = cudaMemsetAsync (sum, 0, sizeof *sum, stream);
  if (status != cudaSuccess)
    return status;
  const dim3 grid (8, (unsigned)(a->height < 512 ? a->height : 512));
  squared_error_kernel<<<grid, 256, 0, stream>>> (*a, *b, sum);
  return cudaGetLastError ();
}
