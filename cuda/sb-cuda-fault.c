/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-fault-plan.h"
#include "sb-cuda-fault.h"
#include "sb-cuda-private.h"

#include <gmodule.h>
#include <string.h>

/* Faults on demand, in a module of their own: the one that is installed has none of this. */

#define SHARE ((gsize)64 << 20)

static GMutex lock;
static guint n_allocations;
static int forced_bulk = -1, forced_march = -1;

G_MODULE_EXPORT guint sb_cuda_fault_allocations (void);
G_MODULE_EXPORT gsize sb_cuda_fault_free (void);
G_MODULE_EXPORT void sb_cuda_fault_hog (gsize leave);
G_MODULE_EXPORT void sb_cuda_fault_path (int bulk, int march);

cudaError_t
sb_cuda_fault (SbBackend *self, cudaError_t status, const char *what)
{
  const int code = sb_cuda_fault_due (what);

  if (strcmp (what, "cudaMalloc") == 0 || strcmp (what, "cudaHostAlloc") == 0)
    {
      g_mutex_lock (&lock);
      n_allocations++;
      g_mutex_unlock (&lock);
    }
  if (code == SB_CUDA_FAULT_TRAP)
    return sb_cuda_trap (self->compute);
  return status == cudaSuccess && code != 0 ? (cudaError_t)code : status;
}

void
sb_cuda_fault_limits (SbCudaLimits *limits)
{
  if (forced_bulk >= 0)
    limits->bulk = limits->bulk && forced_bulk;
  if (forced_march >= 0)
    limits->march = forced_march;
}

void
sb_cuda_fault_path (int bulk, int march)
{
  forced_bulk = bulk;
  forced_march = march;
}

guint
sb_cuda_fault_allocations (void)
{
  g_mutex_lock (&lock);
  const guint n = n_allocations;
  g_mutex_unlock (&lock);
  return n;
}

gsize
sb_cuda_fault_free (void)
{
  size_t room = 0, total = 0;

  cudaSetDevice (0);
  cudaDeviceSynchronize ();
  return cudaMemGetInfo (&room, &total) == cudaSuccess ? room : 0;
}

void
sb_cuda_fault_hog (gsize leave)
{
  static void *taken[4096];
  static guint n;

  if (leave == G_MAXSIZE)
    while (n > 0)
      cudaFree (taken[--n]);
  else
    for (gsize room = sb_cuda_fault_free (); n < G_N_ELEMENTS (taken) && room > leave + (2 << 20);
         room = sb_cuda_fault_free ())
      {
        gsize share = room - leave > 4 * SHARE ? (room - leave) / 2 : MIN (SHARE, room - leave);
        if (cudaMalloc (&taken[n], share) != cudaSuccess)
          break;
        n++;
      }
  cudaGetLastError ();
}
