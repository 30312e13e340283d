/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The instruction sets a kernel file is compiled for, each in its own static library, by the macro
 * SB_ISA (base, avx2, avx512). A kernel file ends in one table of function pointers named by
 * SB_ISA_SYMBOL; the family's dispatch picks the table of the set in use. */
typedef enum
{
  SB_ISA_BASE,   /* x86-64 as it first was, or what another architecture has */
  SB_ISA_AVX2,   /* with FMA */
  SB_ISA_AVX512, /* F, BW, DQ, VL, VBMI, VNNI: Ice Lake, Zen 4 and later */
  SB_N_ISAS,
} SbIsa;

/* The best set of this machine, or what SOFTBOX_ISA names where that can run here; looked up once.
 * A name that is unknown or cannot run here is warned of once and the best is taken. */
SbIsa sb_isa_get (void);
gboolean sb_isa_is_available (SbIsa isa);
const char *sb_isa_name (SbIsa isa);  /* "base", "avx2", "avx512" */
const char *sb_isa_label (SbIsa isa); /* for people: "AVX2" */
/* For tests: every later sb_isa_get() gives this. */
void sb_isa_force (SbIsa isa);

#define SB_ISA_JOIN_(name, isa) name##_##isa
#define SB_ISA_JOIN(name, isa)  SB_ISA_JOIN_ (name, isa)
#define SB_ISA_SYMBOL(name)     SB_ISA_JOIN (name, SB_ISA)

G_END_DECLS
