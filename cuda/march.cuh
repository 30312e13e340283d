/* SPDX-License-Identifier: MIT */

#pragma once

#include "line.cuh"
#include "pixel.cuh"

/* The vertical passes as a march: a thread owns a column of the 16-bit picture and goes down it,
 * one row a step, with up to three passes in a cascade. A pass slides its sum by the sample that
 * enters and the one that leaves; between two passes lies a ring of 2R + 2 samples a column in
 * shared memory, which only the column's own thread touches, so nothing ever waits at a barrier.
 * The first pass reads both samples from the picture: the one that leaves is still in the L2 cache.
 *
 * Needs a picture of more than 2R + 2 rows, so that edges never reach around twice. */

struct March
{
  SbCudaBlur blur;
  SbWindow window;
  const char *in; /* the work picture */
  char *out;      /* another work picture, or NULL: the target */
  size_t stride;
  int height, first, last; /* columns [first, last) */
  int begin, end, rows;    /* rows [begin, end), `rows` of them a segment */
};

/* Rows loaded at once, so that their latencies overlap. */
#define MARCH_AHEAD(n) 4

template <int N, int CHANNELS, int METHOD> struct Marcher
{
  typedef SbSum<CHANNELS> Sum;

  const March &m;
  const char *column; /* of this thread, row 0 */
  uint2 *rings;       /* [pass][slot][lane] */
  int slots;
  Sum sum[N];
  uint2 left[N];
  int at[N]; /* the row each pass makes next */

  __device__ __forceinline__
  Marcher (const March &march, const char *column_, uint2 *rings_)
      : m (march), column (column_), rings (rings_), slots (2 * march.window.radius + 2)
  {
  }

  __device__ __forceinline__ uint2
  row (int y) const
  {
    return __ldg ((const uint2 *)(column + (size_t)y * m.stride));
  }

  __device__ __forceinline__ uint2 &
  slot (int pass, int y)
  {
    return rings[(pass * slots + y % slots) * 32];
  }

  __device__ __forceinline__ void
  add (Sum &s, uint2 p)
  {
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      s.c[c] += sb_channel (p, c);
  }

  /* Turns the sum of pass K into its sample, and slides. */
  template <int K>
  __device__ __forceinline__ uint2
  make (uint2 enter, uint2 leave)
  {
    uint32_t q[4];
    q[3] = 0xffff;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
      {
        const uint32_t in = sb_channel (enter, c);
        uint32_t ends = 0;
        if (METHOD == SB_METHOD_FRACTION)
          ends = in + sb_channel (left[K], c);
        q[c] = sb_divide<METHOD> (sum[K].c[c], ends, m.window);
        sum[K].c[c] += in - sb_channel (leave, c);
      }
    if (METHOD == SB_METHOD_FRACTION)
      left[K] = leave;
    at[K]++;
    return make_uint2 (__byte_perm (q[0], q[1], 0x5410), __byte_perm (q[2], q[3], 0x5410));
  }

  /* Sample at[K] of pass K, wherever edges are. */
  template <int K>
  __device__ uint2
  step ()
  {
    const int R = m.window.radius, n = m.height;
    const int in = at[K] + R + 1, out = sb_edge (at[K] - R, n, m.window.mirror);
    uint2 enter, leave;
    if constexpr (K == 0)
      {
        enter = row (sb_edge (in, n, m.window.mirror));
        leave = row (out);
      }
    else
      {
        if (in < n)
          {
            enter = step<K - 1> ();
            slot (K - 1, in) = enter;
          }
        else
          enter = slot (K - 1, sb_edge (in, n, m.window.mirror));
        leave = slot (K - 1, out);
      }
    return make<K> (enter, leave);
  }

  /* Sets pass K, and those before it, to make row y next. */
  template <int K>
  __device__ void
  start (int y)
  {
    const int R = m.window.radius, n = m.height, mirror = m.window.mirror;
    if constexpr (K > 0)
      {
        /* All that the window touches, from the row before it on for the fraction's sake. */
        const int low = max (y - R - 1, 0), high = min (y + R, n - 1);
        start<K - 1> (low);
        for (int i = low; i <= high; i++)
          {
            const uint2 p = step<K - 1> ();
            slot (K - 1, i) = p;
          }
      }
    Sum s = {};
#pragma unroll 4
    for (int i = y - R; i <= y + R; i++)
      {
        const int e = sb_edge (i, n, mirror);
        if constexpr (K == 0)
          add (s, row (e));
        else
          add (s, slot (K - 1, e));
      }
    sum[K] = s;
    const int before = sb_edge (y - R - 1, n, mirror);
    if constexpr (K == 0)
      left[K] = row (before);
    else
      left[K] = slot (K - 1, before);
    at[K] = y;
  }

  /* The same as step where no edge is near: positions in the rings are given, counted up by hand.
   */
  template <int K>
  __device__ __forceinline__ uint2
  step_inside (uint2 enter0, uint2 leave0, int *position)
  {
    uint2 enter, leave;
    if constexpr (K == 0)
      {
        enter = enter0;
        leave = leave0;
      }
    else
      {
        enter = step_inside<K - 1> (enter0, leave0, position);
        uint2 *ring = rings + (K - 1) * slots * 32;
        const int in = position[K - 1];
        /* The slot after the one that is written holds the sample 2R + 1 rows before. */
        const int out = in + 1 == slots ? 0 : in + 1;
        ring[in * 32] = enter;
        leave = ring[out * 32];
        position[K - 1] = out;
      }
    return make<K> (enter, leave);
  }
};

extern __shared__ uint4 march_rings[];

template <int N, int CHANNELS, int METHOD>
__global__ void __launch_bounds__ (128) march_kernel (const __grid_constant__ March m)
{
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int x = m.first + blockIdx.x * blockDim.x + threadIdx.x;
  const int y0 = m.begin + blockIdx.y * m.rows;
  const int y1 = min (y0 + m.rows, m.end);
  const int slots = 2 * m.window.radius + 2;
  const int R = m.window.radius;
  uint2 *rings = (uint2 *)march_rings + (size_t)warp * (N - 1) * slots * 32 + lane;
  /* Columns beyond the last work along on the last one. */
  const char *column = m.in + 8 * (size_t)min (x, m.last - 1);
  Marcher<N, CHANNELS, METHOD> marcher (m, column, rings);

  if (y0 >= y1)
    return;
  marcher.template start<N - 1> (y0);

  auto put = [&] (int y, uint2 p) {
    if (x >= m.last)
      return;
    if (m.out != NULL)
      ((uint2 *)(m.out + (size_t)y * m.stride))[x] = p;
    else if (x >= m.blur.x && x < m.blur.x + m.blur.width)
      sb_store_result (m.blur, x, y, p);
  };

  constexpr int ahead = MARCH_AHEAD (N);
  int y = y0;
  while (y < y1)
    {
      /* Inside: every pass has its whole window, and the one it comes from, in the picture. */
      const bool inside
          = marcher.at[N - 1] - R >= 0 && marcher.at[0] + R + ahead < m.height && y + ahead <= y1;
      if (!inside)
        {
          put (y, marcher.template step<N - 1> ());
          y++;
          continue;
        }
      int position[N];
#pragma unroll
      for (int k = 0; k < N - 1; k++)
        position[k] = (marcher.at[k + 1] + R + 1) % slots;
      const char *enter = column + (size_t)(marcher.at[0] + R + 1) * m.stride;
      const char *leave = column + (size_t)(marcher.at[0] - R) * m.stride;
      int left = min (y1 - y, m.height - R - 1 - marcher.at[0]);
      for (; left >= ahead; left -= ahead)
        {
          uint2 in[ahead], out[ahead];
#pragma unroll
          for (int u = 0; u < ahead; u++)
            {
              in[u] = __ldg ((const uint2 *)(enter + u * m.stride));
              out[u] = __ldg ((const uint2 *)(leave + u * m.stride));
            }
          enter += ahead * m.stride;
          leave += ahead * m.stride;
#pragma unroll
          for (int u = 0; u < ahead; u++)
            put (y + u, marcher.template step_inside<N - 1> (in[u], out[u], position));
          y += ahead;
        }
    }
}
