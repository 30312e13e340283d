/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-isa.h"

#include <string.h>

typedef struct
{
  const char *name, *label;
} IsaClass;

static const IsaClass classes[SB_N_ISAS] = {
#if defined(__x86_64__)
  [SB_ISA_BASE] = { "base", "SSE2" },
#elif defined(__aarch64__)
  [SB_ISA_BASE] = { "base", "NEON" },
#else
  [SB_ISA_BASE] = { "base", "plain" },
#endif
  [SB_ISA_AVX2] = { "avx2", "AVX2" },
  [SB_ISA_AVX512] = { "avx512", "AVX-512" },
};

static int forced = -1; /* atomic */

gboolean
sb_isa_is_available (SbIsa isa)
{
  switch (isa)
    {
    case SB_ISA_BASE:
      return TRUE;
#if defined(__x86_64__)
    case SB_ISA_AVX2:
      return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma")
             && __builtin_cpu_supports ("bmi2");
    case SB_ISA_AVX512:
      return sb_isa_is_available (SB_ISA_AVX2) && __builtin_cpu_supports ("avx512f")
             && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq")
             && __builtin_cpu_supports ("avx512vl") && __builtin_cpu_supports ("avx512vbmi")
             && __builtin_cpu_supports ("avx512vnni");
#endif
    default:
      return FALSE;
    }
}

const char *
sb_isa_name (SbIsa isa)
{
  g_return_val_if_fail (isa < SB_N_ISAS, NULL);
  return classes[isa].name;
}

const char *
sb_isa_label (SbIsa isa)
{
  g_return_val_if_fail (isa < SB_N_ISAS, NULL);
  return classes[isa].label;
}

static SbIsa
choose (void)
{
  const char *wanted = g_getenv ("SOFTBOX_ISA");
  SbIsa best = SB_ISA_BASE;

  for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
    if (sb_isa_is_available (isa))
      best = isa;
  if (wanted == NULL || *wanted == '\0')
    return best;
  for (SbIsa isa = SB_ISA_BASE; isa < SB_N_ISAS; isa++)
    if (strcmp (classes[isa].name, wanted) == 0)
      {
        if (sb_isa_is_available (isa))
          return isa;
        g_warning ("SOFTBOX_ISA: this machine has no %s, using %s", classes[isa].label,
                   classes[best].label);
        return best;
      }
  g_warning ("SOFTBOX_ISA: \"%s\" is none of base, avx2, avx512; using %s", wanted,
             classes[best].name);
  return best;
}

SbIsa
sb_isa_get (void)
{
  static gsize chosen; /* the set + 1 */
  const int by_force = g_atomic_int_get (&forced);

  if (by_force >= 0)
    return (SbIsa)by_force;
  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, (gsize)choose () + 1);
  return (SbIsa)(chosen - 1);
}

void
sb_isa_force (SbIsa isa)
{
  g_return_if_fail (isa < SB_N_ISAS && sb_isa_is_available (isa));
  g_atomic_int_set (&forced, (int)isa);
}
