/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "suite.h"

#include <stdlib.h>

/* The CPU's suite on a CUDA device. Skipped only where there is no such device, and then the reason
 * must be a clean answer. */
int
main (int argc, char **argv)
{
  const SbDevice device = { SB_DEVICE_CUDA, 0, 2 };
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  g_autoptr (SbEngine) engine = sb_engine_new (device, &error);
  if (engine == NULL)
    {
      g_assert_nonnull (error);
      g_print ("1..0 # SKIP %s\n", error->message);
      return 0;
    }
  sb_suite_add ("/cuda", device);
  return g_test_run ();
}
