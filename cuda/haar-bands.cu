/* SPDX-License-Identifier: MIT */

#include "haar-bands.cuh"

/* What an edit of bands launches, in what order. */

/* The planes of means of one step: rows of a multiple of 4 floats, three planes or one. */
static size_t
plane_floats (int width, int height)
{
  return (size_t)((width + 127) / 128 * 4) * (size_t)((height + 31) / 32);
}

size_t
sb_cuda_bands_room (int width, int height, int levels)
{
  size_t total = 0;

  for (; levels > SB_CUDA_HAAR_STEP; levels -= SB_CUDA_HAAR_STEP)
    {
      total += 3 * plane_floats (width, height);
      width = (width + 31) / 32;
      height = (height + 31) / 32;
    }
  return total;
}

static SbBandsChange
make_change (const SbCudaBands *bands, int n)
{
  const int before = n * SB_CUDA_HAAR_STEP;
  SbBandsChange c = {};

  c.levels
      = bands->levels - before < SB_CUDA_HAAR_STEP ? bands->levels - before : SB_CUDA_HAAR_STEP;
  c.hard = bands->hard;
  for (int l = 0; l < c.levels; l++)
    {
      const float unit = (float)(4 << 2 * l);
      c.threshold[l] = bands->threshold[before + l] * unit;
      for (int o = 0; o < 3; o++)
        c.gain[l][o] = bands->gain[before + l][o] / unit;
    }
  c.gain_a = bands->gain_a / (float)(1 << 2 * c.levels);
  return c;
}

struct Plan
{
  int n_steps;
  SbBandsJob jobs[SB_CUDA_HAAR_STEPS];
};

/* SbBandsJob n edits levels 5 n + 1 and on, of the picture or of the means before. */
static void
make_plan (const SbCudaBands *bands, Plan *plan)
{
  int width = bands->source.width, height = bands->source.height;
  float *room = bands->room;

  plan->n_steps = (bands->levels + SB_CUDA_HAAR_STEP - 1) / SB_CUDA_HAAR_STEP;
  for (int n = 0; n < plan->n_steps; n++)
    {
      SbBandsJob &job = plan->jobs[n];
      job = SbBandsJob{};
      job.width = width;
      job.height = height;
      job.change = make_change (bands, n);
      if (n == 0)
        {
          job.source = bands->source;
          job.target = bands->target;
          job.opaque = bands->opaque;
          job.x = bands->x;
          job.y = bands->y;
          job.right = bands->x + bands->width;
          job.bottom = bands->y + bands->height;
          job.first_x = bands->x / 32 * 32;
          job.first_y = bands->y / 32 * 32;
          job.mask = bands->mask;
          job.mask_stride = bands->mask_stride;
        }
      else
        {
          const SbBandsJob &last = plan->jobs[n - 1];
          job.plane = last.made;
          job.stride = last.made_stride;
          job.plane_size = last.made_size;
        }
      if (n + 1 < plan->n_steps)
        {
          job.made = room;
          job.made_stride = (size_t)((width + 127) / 128 * 4);
          job.made_size = plane_floats (width, height);
          job.made_scale = 1.0f / 1024;
          room += 3 * job.made_size;
          width = (width + 31) / 32;
          height = (height + 31) / 32;
        }
    }
}

static dim3
planes_grid (const SbCudaBands *bands, const SbBandsJob &job)
{
  dim3 grid = sb_tile_grid (job.width, job.height);
  grid.z = job.plane == NULL || bands->luma ? 1 : 3;
  return grid;
}

static bool
is_bytes (const SbBandsJob &job)
{
  return job.plane == NULL && job.source.depth == 8 && job.opaque;
}

static cudaError_t
make_means (const SbCudaBands *bands, const Plan &plan, cudaStream_t stream)
{
  cudaError_t status = cudaSuccess;

  for (int n = 0; status == cudaSuccess && n + 1 < plan.n_steps; n++)
    {
      const SbBandsJob &job = plan.jobs[n];
      status = sb_bands_launch_means (job, is_bytes (job), bands->luma, planes_grid (bands, job),
                                      stream);
    }
  return status;
}

cudaError_t
sb_cuda_bands (const SbCudaBands *bands, cudaStream_t stream)
{
  Plan plan;

  make_plan (bands, &plan);
  cudaError_t status = make_means (bands, plan, stream);
  for (int n = plan.n_steps - 1; status == cudaSuccess && n > 0; n--)
    {
      SbBandsJob &job = plan.jobs[n];
      job.change.means = job.made; /* NULL for the last one */
      status = sb_bands_launch_plane (job, planes_grid (bands, job), stream);
    }
  if (status != cudaSuccess)
    return status;

  SbBandsJob &job = plan.jobs[0];
  job.change.means = job.made;
  const dim3 grid = sb_tile_grid (job.right - job.first_x, job.bottom - job.first_y);
  if (bands->source.depth == 8 && bands->target.depth == 8 && bands->mask == NULL)
    return sb_bands_launch_bytes (job, bands->luma, grid, stream);
  return sb_bands_launch_pixels (job, bands->luma, grid, stream);
}

cudaError_t
sb_cuda_bands_count (const SbCudaBands *bands, unsigned long long *counts, cudaStream_t stream)
{
  Plan plan;

  make_plan (bands, &plan);
  cudaError_t status = cudaMemsetAsync (counts, 0, 2 * sizeof *counts, stream);
  if (status == cudaSuccess)
    status = make_means (bands, plan, stream);
  for (int n = 0; status == cudaSuccess && n < plan.n_steps; n++)
    {
      const SbBandsJob &job = plan.jobs[n];
      status = sb_bands_launch_count (job, is_bytes (job), bands->luma, planes_grid (bands, job),
                                      counts, stream);
    }
  return status;
}
