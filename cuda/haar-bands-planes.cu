/* SPDX-License-Identifier: MIT */

#include "haar-bands.cuh"

/* More than five levels: the means of level 5, and the edit of such means. */

template <bool BYTES, bool LUMA, bool EDGE>
__device__ __forceinline__ void
means_tile (const SbBandsJob &job, const SbPlace &p)
{
  sb_bands_each_plane<BYTES, LUMA, EDGE> (job, p, [&] (SbTile &t, int n) {
    sb_tile_forward<EDGE> (t, p, SB_CUDA_HAAR_STEP);
    if (p.lane == 0)
      job.made[(size_t)n * job.made_size + (size_t)(p.y >> 5) * job.made_stride + (p.x >> 5)]
          = t.a * job.made_scale;
  });
}

/* The means of level 5. */
template <bool BYTES, bool LUMA>
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    means_kernel (const __grid_constant__ SbBandsJob job)
{
  const SbPlace p = sb_place (0, 0, job.width, job.height);
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    means_tile<BYTES, LUMA, false> (job, p);
  else
    means_tile<BYTES, LUMA, true> (job, p);
}

template <bool EDGE>
__device__ __forceinline__ void
plane_tile (const SbBandsJob &job, const SbPlace &p)
{
  float *plane = job.plane + (size_t)blockIdx.z * job.plane_size;
  const float *means
      = job.change.means == NULL ? NULL : job.change.means + (size_t)blockIdx.z * job.made_size;
  sb_bands_each_plane<false, false, EDGE> (job, p, [&] (SbTile &t, int) {
    sb_bands_edit_tile<EDGE> (t, p, job.change, means, sb_bands_means_stride (p.width));
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        if (!EDGE || (p.x + j < p.width && p.y + i < p.height))
          plane[(size_t)(p.y + i) * job.stride + p.x + j] = t.s[i][j];
  });
}

/* Floats, edited in place: a warp reads all of its tile before it writes. */
__global__ void __launch_bounds__ (32 * SB_HAAR_WARPS)
    plane_kernel (const __grid_constant__ SbBandsJob job)
{
  const SbPlace p = sb_place (0, 0, job.width, job.height);
  if (!sb_tile_begins (p))
    return;
  if (sb_tile_ends (p))
    plane_tile<false> (job, p);
  else
    plane_tile<true> (job, p);
}

cudaError_t
sb_bands_launch_means (const SbBandsJob &job, bool bytes, bool luma, dim3 grid, cudaStream_t stream)
{
  if (bytes)
    (luma ? means_kernel<true, true>
          : means_kernel<true, false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job);
  else
    (luma ? means_kernel<false, true>
          : means_kernel<false, false>)<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job);
  return cudaGetLastError ();
}

cudaError_t
sb_bands_launch_plane (const SbBandsJob &job, dim3 grid, cudaStream_t stream)
{
  plane_kernel<<<grid, 32 * SB_HAAR_WARPS, 0, stream>>> (job);
  return cudaGetLastError ();
}
