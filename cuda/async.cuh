/* SPDX-License-Identifier: MIT */

#pragma once

#include <stdint.h>

/* Copies that run beside the threads that ask for them, where the device has them: of 8 bytes from
 * sm_80 on, in bulk from sm_90 on. */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SB_HAS_BULK 1
#else
#define SB_HAS_BULK 0
#endif

__device__ __forceinline__ uint32_t
sb_shared_address (const void *p)
{
  return (uint32_t)__cvta_generic_to_shared (p);
}

/* 8 bytes from global to shared memory; there after sb_wait_copies. On older devices at once. */
__device__ __forceinline__ void
sb_copy_8 (uint2 *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" ::"r"(sb_shared_address (to)),
               "l"(__cvta_generic_to_global (from))
               : "memory");
#else
  *to = __ldg ((const uint2 *)from);
#endif
}

/* The same of 4 bytes. */
__device__ __forceinline__ void
sb_copy_4 (uint32_t *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(sb_shared_address (to)),
               "l"(__cvta_generic_to_global (from))
               : "memory");
#else
  *to = __ldg ((const uint32_t *)from);
#endif
}

/* The same of 16 bytes. */
__device__ __forceinline__ void
sb_copy_16 (void *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(sb_shared_address (to)),
               "l"(__cvta_generic_to_global (from))
               : "memory");
#else
  *(uint4 *)to = __ldg ((const uint4 *)from);
#endif
}

__device__ __forceinline__ void
sb_commit_copies ()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most N of the committed groups are under way. */
template <int N>
__device__ __forceinline__ void
sb_wait_copies ()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

#if SB_HAS_BULK

__device__ __forceinline__ void
sb_bulk_init (uint64_t *barrier)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
               "fence.mbarrier_init.release.cluster;" ::"r"(sb_shared_address (barrier))
               : "memory");
}

/* One thread: what follows brings `bytes` in all. */
__device__ __forceinline__ void
sb_bulk_expect (uint32_t bytes, uint64_t *barrier)
{
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sb_shared_address (barrier)),
      "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void
sb_bulk_ask (void *to, const void *from, uint32_t bytes, uint64_t *barrier)
{
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(sb_shared_address (to)),
      "l"(__cvta_generic_to_global (from)), "r"(bytes), "r"(sb_shared_address (barrier))
      : "memory");
}

/* One thread: `bytes`, a multiple of 16 between addresses that are, to shared memory. */
__device__ __forceinline__ void
sb_bulk_load (void *to, const void *from, uint32_t bytes, uint64_t *barrier)
{
  sb_bulk_expect (bytes, barrier);
  sb_bulk_ask (to, from, bytes, barrier);
}

/* One thread: `bytes`, a multiple of 16 at an address that is, into the L2 cache. */
__device__ __forceinline__ void
sb_bulk_prefetch (const void *from, uint32_t bytes)
{
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global (from)),
               "r"(bytes)
               : "memory");
}

/* Every thread, after the barrier's initialisation is known to it. */
__device__ __forceinline__ void
sb_bulk_wait (uint64_t *barrier, uint32_t parity)
{
  asm volatile("{\n"
               ".reg .pred done;\n"
               "SB_AGAIN:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra SB_OUT;\n"
               "bra SB_AGAIN;\n"
               "SB_OUT:\n"
               "}" ::"r"(sb_shared_address (barrier)),
               "r"(parity)
               : "memory");
}

/* What threads wrote to shared memory becomes visible to bulk copies after a barrier that follows.
 */
__device__ __forceinline__ void
sb_bulk_fence ()
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* One thread: to global memory, and waits until shared memory has been read. */
__device__ __forceinline__ void
sb_bulk_store (void *to, const void *from, uint32_t bytes)
{
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
               "cp.async.bulk.commit_group;\n"
               "cp.async.bulk.wait_group.read 0;" ::"l"(__cvta_generic_to_global (to)),
               "r"(sb_shared_address (from)), "r"(bytes)
               : "memory");
}

#endif
