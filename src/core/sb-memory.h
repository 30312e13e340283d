/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Large pixel buffers. Memory is aligned to 64 bytes; from 4 MiB on it is mapped on its own with
 * huge pages asked for, because the column passes touch one line in every row of a picture and
 * would miss the TLB at each of them otherwise. Contents of a fresh large buffer are zero, of a
 * small one undefined. Safe from any thread.
 *
 * sb_memory_alloc returns NULL when memory is not to be had: a size that comes from a file must
 * never end the program. `bytes` must be the same in alloc and free. */
gpointer sb_memory_alloc (gsize bytes) G_GNUC_WARN_UNUSED_RESULT;
void sb_memory_free (gpointer memory, gsize bytes);

/* Bytes of physical memory of this machine, or of the control group it runs in where that is less.
 */
guint64 sb_memory_physical (void);

/* Bytes of a core's second cache, 512 KiB where the system does not say. */
gsize sb_memory_second_cache (void);

G_END_DECLS
