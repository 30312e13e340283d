/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT     64
#define HUGE_PAGE     ((gsize)2 << 20)
#define MAP_THRESHOLD (2 * HUGE_PAGE)

/* Whole huge pages, so that the kernel can back all of a buffer with them. */
static gsize
mapped_size (gsize bytes)
{
  return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

gpointer
sb_memory_alloc (gsize bytes)
{
  if (bytes > G_MAXSSIZE - 2 * HUGE_PAGE)
    return NULL;
  if (bytes < MAP_THRESHOLD)
    {
      void *memory = NULL;
      return posix_memalign (&memory, ALIGNMENT, MAX (bytes, 1)) == 0 ? memory : NULL;
    }

  /* A mapping starts at any page: take one huge page more and give both ends back. */
  const gsize size = mapped_size (bytes);
  char *start
      = mmap (NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return NULL;
  char *aligned = (char *)(((guintptr)start + HUGE_PAGE - 1) & ~(guintptr)(HUGE_PAGE - 1));
  if (aligned > start)
    munmap (start, (gsize)(aligned - start));
  const gsize tail = (gsize)(start + HUGE_PAGE - aligned);
  if (tail > 0)
    munmap (aligned + size, tail);
#ifdef MADV_HUGEPAGE
  madvise (aligned, size, MADV_HUGEPAGE); /* a wish: the kernel may not have it */
#endif
  return aligned;
}

void
sb_memory_free (gpointer memory, gsize bytes)
{
  if (memory == NULL)
    return;
  if (bytes < MAP_THRESHOLD)
    free (memory);
  else
    munmap (memory, mapped_size (bytes));
}

guint64
sb_memory_physical (void)
{
  guint64 bytes = (guint64)sysconf (_SC_PHYS_PAGES) * (guint64)sysconf (_SC_PAGE_SIZE);
  g_autofree char *limit = NULL;

  if (g_file_get_contents ("/sys/fs/cgroup/memory.max", &limit, NULL, NULL))
    {
      guint64 group = g_ascii_strtoull (limit, NULL, 10); /* "max" reads as 0 */
      if (group > 0 && group < bytes)
        bytes = group;
    }
  return bytes;
}

gsize
sb_memory_second_cache (void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long bytes = sysconf (_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0)
    return (gsize)bytes;
#endif
  return (gsize)512 << 10;
}
