/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-fault.h"
#include "sb-cuda-private.h"

#include <gmodule.h>
#include <string.h>

/* Faults on demand, in a module of their own: the one that is installed has none of this. */

#define SHARE ((gsize)64 << 20)

static GMutex lock;
static char planned[32];
static guint to_skip;
static int planned_code;
static gboolean struck;
static guint n_allocations;
static int forced_bulk = -1, forced_march = -1;

G_MODULE_EXPORT void sb_cuda_fault_plan (const char *what, guint skip, int code);
G_MODULE_EXPORT gboolean sb_cuda_fault_struck (void);
G_MODULE_EXPORT guint sb_cuda_fault_allocations (void);
G_MODULE_EXPORT gsize sb_cuda_fault_free (void);
G_MODULE_EXPORT void sb_cuda_fault_hog (gsize leave);
G_MODULE_EXPORT void sb_cuda_fault_path (int bulk, int march);

void
sb_cuda_fault_plan (const char *what, guint skip, int code)
{
  g_mutex_lock (&lock);
  g_strlcpy (planned, what != NULL ? what : "", sizeof planned);
  to_skip = skip;
  planned_code = code;
  struck = FALSE;
  g_mutex_unlock (&lock);
}

gboolean
sb_cuda_fault_struck (void)
{
  g_mutex_lock (&lock);
  const gboolean answer = struck;
  g_mutex_unlock (&lock);
  return answer;
}

cudaError_t
sb_cuda_fault (SbBackend *self, cudaError_t status, const char *what)
{
  int code = 0;

  g_mutex_lock (&lock);
  if (strcmp (what, "cudaMalloc") == 0 || strcmp (what, "cudaHostAlloc") == 0)
    n_allocations++;
  if (planned_code != 0 && strcmp (what, planned) == 0 && to_skip-- == 0)
    {
      code = planned_code;
      planned_code = 0;
      struck = TRUE;
    }
  g_mutex_unlock (&lock);
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
