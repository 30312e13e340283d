/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-cuda-fault-plan.h"

#include <string.h>

static GMutex lock;
static char planned[32];
static guint to_skip;
static int planned_code;
static gboolean struck;

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

int
sb_cuda_fault_due (const char *what)
{
  int code = 0;

  g_mutex_lock (&lock);
  if (planned_code != 0 && strcmp (what, planned) == 0 && to_skip-- == 0)
    {
      code = planned_code;
      planned_code = 0;
      struck = TRUE;
    }
  g_mutex_unlock (&lock);
  return code;
}
