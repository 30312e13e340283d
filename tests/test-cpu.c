/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "suite.h"

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sb_suite_add ("/cpu", (SbDevice){ SB_DEVICE_CPU, 0, 2 });
  return g_test_run ();
}
