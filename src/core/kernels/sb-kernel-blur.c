/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-blur.h"
#include "sb-kernel-blur-pixels.h"
#include "sb-kernel-blur-simd.h"

#include <string.h>

#define INLINE static inline __attribute__ ((always_inline))
#define BIAS   0x8000

/* The mutation that the tests must notice: the quotient of the float walk that writes 16 bits is
 * one too high. */
#ifdef SB_MUTATE_BLUR
#define MUTATION 1
#else
#define MUTATION 0
#endif

/* --- Walks ----------------------------------------------------------------------------------- */

#if SB_V_BYTES > 0

#define SAMPLES (SB_V_BYTES / 2)
/* A walk takes ABREAST machine vectors of a line along, and is walked PARTS times. */
#define ABREAST (SB_V_BYTES == 32 ? 2 : 1)
#define PARTS   (SB_VECTOR / SAMPLES / ABREAST)

/* 1.5 * 2^23: added to a float below 2^22 it leaves the nearest whole number in the low bits. */
#define MAGIC 12582912.0f

/* Two weights as one 32-bit constant of a madd: `lo` times the first of a pair. */
INLINE SbV
pair (gint32 lo, gint32 hi)
{
  return sb_v_set32 ((gint32)(((guint32)lo & 0xffff) | ((guint32)hi << 16)));
}

/* Quotients of 8 bits, and all with AVX2, need be right in their low 16 bits only; others are
 * packed, which limits them. Of a float sum these bits are right as they are. */
#if SB_V_BYTES >= 32
INLINE SbV
float_bits (SbF sum, gboolean to_8)
{
#if SB_V_BYTES == 64
  if (!to_8)
    return sb_v_sub32 (sb_f_bits (sum), sb_v_set32 (0x4b400000));
#endif
  return sb_f_bits (sum);
}
#endif

/* round (n * inverse), + 128 for to_8. */
INLINE SbV
quotient_float (SbV n, SbF inverse, gboolean to_8)
{
#if SB_V_BYTES == 16
  const SbV q = _mm_cvtps_epi32 (_mm_mul_ps (sb_f_from (n), inverse));
  return to_8 || MUTATION ? sb_v_add32 (q, sb_v_set32 (to_8 ? 128 : MUTATION)) : q;
#else
  const SbF sum = sb_f_fma (sb_f_from (n), inverse, sb_f_set (MAGIC + (to_8 ? 128 : MUTATION)));
  return float_bits (sum, to_8);
#endif
}

/* Biased. */
INLINE SbV
quotient_integer (SbV n, SbV multiplier, __m128i shift, __m128i shift_high, gboolean even)
{
  const SbV t = even ? sb_v_srl32 (n, 1) : n;
  const SbV q0 = sb_v_srl64 (sb_v_mul32 (t, multiplier), shift_high);
  /* The odd lanes' high halves are in place already; the shift brings in nothing from below that
   * is not shifted out again by taking 32 bits, as quotients have 16. */
  const SbV high = sb_v_mul32 (sb_v_srl64_32 (t), multiplier);
  const SbV q1 = sb_v_srl64 (high, shift);
  return sb_v_sub32 (sb_v_odd32 (q0, q1), sb_v_set32 (BIAS));
}

/* The constants of a walk and its place. */
typedef struct
{
  const guint16 *enter, *leave, *outer_enter, *outer_leave;
  const guint8 *ahead;
  gssize enter_step, leave_step, outer_enter_step, outer_leave_step;
  gsize ahead_step;
  SbV weights, weights_out, multiplier;
  SbF inverse, addend;
  __m128i shift, shift_high;
} Place;

INLINE Place
place_init (const SbBox *box, const SbWalk *walk, gsize first, gboolean fractional)
{
  Place place = { walk->enter + first,
                  walk->leave + first,
                  walk->outer_enter + first,
                  walk->outer_leave + first,
                  walk->ahead,
                  walk->enter_step,
                  walk->leave_step,
                  walk->outer_enter_step,
                  walk->outer_leave_step,
                  walk->ahead_step };

  place.weights
      = fractional ? pair (box->inner - box->outer, box->outer) : pair (box->inner, -box->inner);
  place.weights_out = pair (box->outer - box->inner, -box->outer);
  place.multiplier = sb_v_set64 (box->multiplier);
  place.inverse = sb_f_set (box->inverse);
  place.addend = sb_f_set (box->addend + (box->to_8 ? 0 : MUTATION));
  place.shift = _mm_cvtsi32_si128 ((int)box->shift);
  place.shift_high = _mm_cvtsi32_si128 ((int)box->shift + 32);
  return place;
}

INLINE SbV
quotient (const Place *place, SbV n, SbBoxMethod method, gboolean to_8)
{
#if SB_V_BYTES >= 32
  if (method == SB_BOX_FLOAT_BITS)
    return float_bits (sb_f_fma (sb_v_float (n), place->inverse, place->addend), to_8);
#endif
  if (method == SB_BOX_FLOAT)
    return quotient_float (n, place->inverse, to_8);
  return quotient_integer (n, place->multiplier, place->shift, place->shift_high,
                           method == SB_BOX_INTEGER_EVEN);
}

/* Moves the window of the samples `behind` after the place's. brief: by the shorter chain from step
 * to step, at the cost of an instruction. */
INLINE void
move_window (const Place *place, gsize behind, SbV n[2], gboolean fractional, gboolean brief)
{
  SbV in[2], out[2];

  if (fractional)
    {
      sb_v_pairs (place->enter + behind, place->outer_enter + behind, in);
      sb_v_pairs (place->leave + behind, place->outer_leave + behind, out);
      for (guint h = 0; h < 2; h++)
        n[h] = sb_v_add32 (
            n[h], sb_v_dot (sb_v_madd (in[h], place->weights), out[h], place->weights_out));
      return;
    }
  sb_v_pairs (place->enter + behind, place->leave + behind, in);
  for (guint h = 0; h < 2; h++)
    n[h] = brief ? sb_v_add32 (n[h], sb_v_madd (in[h], place->weights))
                 : sb_v_dot (n[h], in[h], place->weights);
}

INLINE void
place_next (Place *place, gboolean fractional)
{
  _mm_prefetch ((const char *)place->ahead, _MM_HINT_T1);
  place->ahead += place->ahead_step;
  place->enter += place->enter_step;
  place->leave += place->leave_step;
  if (fractional)
    {
      place->outer_enter += place->outer_enter_step;
      place->outer_leave += place->outer_leave_step;
    }
}

#if SB_V_BYTES == 64
/* The low bytes of quotients that were taken apart, two in 32 bits. */
INLINE SbV
bytes_of (SbV lower, SbV upper)
{
  return _mm512_mask_mov_epi16 (lower, 0xaaaaaaaa, _mm512_slli_epi32 (upper, 16));
}

/* What bytes_of made, in order: its bytes, then those of another one shifted up by 8 bits. */
INLINE SbV
bytes_in_order (SbV v)
{
  return _mm512_permutexvar_epi8 (_mm512_set_epi64 (0x3f3b37333d393531, 0x2f2b27232d292521,
                                                    0x1f1b17131d191511, 0x0f0b07030d090501,
                                                    0x3e3a36323c383430, 0x2e2a26222c282420,
                                                    0x1e1a16121c181410, 0x0e0a06020c080400),
                                  v);
}
#endif

INLINE void
walk_step (Place *place, SbV n[ABREAST][2], guint8 *out, SbBoxMethod method, gboolean fractional,
           gboolean to_8, gboolean brief)
{
  SbV q[ABREAST];

  for (guint a = 0; a < ABREAST; a++)
    {
      const SbV q0 = quotient (place, n[a][0], method, to_8);
      const SbV q1 = quotient (place, n[a][1], method, to_8);
#if SB_V_BYTES == 64
      q[a] = to_8 ? bytes_of (q0, q1) : sb_v_join (q0, q1);
#else
      q[a] = sb_v_join (q0, q1);
#endif
      move_window (place, a * SAMPLES, n[a], fractional, brief);
    }
  place_next (place, fractional);
  if (!to_8)
    for (guint a = 0; a < ABREAST; a++)
      sb_v_store (out + a * SB_V_BYTES, q[a]);
  else
    {
#if SB_V_BYTES == 64
      _mm256_storeu_si256 ((__m256i *)out, _mm512_castsi512_si256 (bytes_in_order (q[0])));
#elif SB_V_BYTES == 32
      const SbV both = _mm256_packus_epi16 (q[0], q[1]);
      _mm256_storeu_si256 ((__m256i *)out, _mm256_permute4x64_epi64 (both, 0xd8));
#else
      _mm_storel_epi64 ((__m128i *)out, _mm_packus_epi16 (q[0], sb_v_zero ()));
#endif
    }
}

INLINE void
walk_part (const SbBox *box, gint32 *state, const SbWalk *walk, gsize first, guint8 *out,
           gsize out_step, gsize count, SbBoxMethod method, gboolean fractional, gboolean to_8)
{
  Place place = place_init (box, walk, first, fractional);
  SbV n[ABREAST][2];
  gsize i = 0;

  for (guint a = 0; a < ABREAST; a++)
    for (guint h = 0; h < 2; h++)
      n[a][h] = sb_v_load (state + a * SAMPLES + h * SAMPLES / 2);
  /* Every other step by the short chain: all by it, or none, would take longer. */
  for (; i + 2 <= count; i += 2, out += 2 * out_step)
    {
      walk_step (&place, n, out, method, fractional, to_8, TRUE);
      walk_step (&place, n, out + out_step, method, fractional, to_8, FALSE);
    }
  if (i < count)
    walk_step (&place, n, out, method, fractional, to_8, FALSE);
  for (guint a = 0; a < ABREAST; a++)
    for (guint h = 0; h < 2; h++)
      sb_v_store (state + a * SAMPLES + h * SAMPLES / 2, n[a][h]);
}

#if SB_V_BYTES == 64
INLINE void
walk_pair (const SbBox *box, SbWalkState *first_state, SbWalkState *second_state,
           const SbWalk *walk, gsize second, guint8 *out, gsize out_step, gsize count,
           SbBoxMethod method, gboolean fractional)
{
  Place place = place_init (box, walk, 0, fractional);
  SbV n[2] = { sb_v_load (first_state->n), sb_v_load (first_state->n + 16) };
  SbV m[2] = { sb_v_load (second_state->n), sb_v_load (second_state->n + 16) };

  for (gsize i = 0; i < count; i++)
    {
      const SbV a
          = bytes_of (quotient (&place, n[0], method, TRUE), quotient (&place, n[1], method, TRUE));
      const SbV b
          = bytes_of (quotient (&place, m[0], method, TRUE), quotient (&place, m[1], method, TRUE));

      move_window (&place, 0, n, fractional, FALSE);
      move_window (&place, second, m, fractional, FALSE);
      place_next (&place, fractional);
      const SbV both = _mm512_mask_mov_epi8 (a, 0xaaaaaaaaaaaaaaaa, _mm512_slli_epi16 (b, 8));
      _mm512_stream_si512 ((void *)out, bytes_in_order (both));
      out += out_step;
    }
  sb_v_store (first_state->n, n[0]);
  sb_v_store (first_state->n + 16, n[1]);
  sb_v_store (second_state->n, m[0]);
  sb_v_store (second_state->n + 16, m[1]);
}

static void
walk_8_pair (const SbBox *box, SbWalkState *first_state, SbWalkState *second_state,
             const SbWalk *walk, gsize second, guint8 *out, gsize out_step, gsize count)
{
  const gboolean bits = box->method == SB_BOX_FLOAT_BITS;

  if (bits && box->fractional)
    walk_pair (box, first_state, second_state, walk, second, out, out_step, count,
               SB_BOX_FLOAT_BITS, TRUE);
  else if (bits)
    walk_pair (box, first_state, second_state, walk, second, out, out_step, count,
               SB_BOX_FLOAT_BITS, FALSE);
  else if (box->fractional)
    walk_pair (box, first_state, second_state, walk, second, out, out_step, count, SB_BOX_FLOAT,
               TRUE);
  else
    walk_pair (box, first_state, second_state, walk, second, out, out_step, count, SB_BOX_FLOAT,
               FALSE);
}
#endif

static void
accumulate (SbWalkState *state, const guint16 *in, gssize step, gsize count, gint32 weight)
{
  const SbV first = sb_v_first (weight), second = sb_v_second (weight);

  for (gsize p = 0; p < SB_VECTOR / SAMPLES; p++)
    {
      gint32 *n = state->n + p * SAMPLES;
      const guint16 *from = in + p * SAMPLES;
      SbV n0 = sb_v_load (n), n1 = sb_v_load (n + SAMPLES / 2);
      for (gsize i = 0; i < count; i++, from += step)
        {
          const SbV v = sb_v_load (from);
          n0 = sb_v_dot (n0, sb_v_half (v, 0), first);
          n1 = sb_v_dot (n1, sb_v_half (v, 1), second);
        }
      sb_v_store (n, n0);
      sb_v_store (n + SAMPLES / 2, n1);
    }
}

#else /* plain C */

#define PARTS   1
#define ABREAST 1
#define SAMPLES SB_VECTOR

INLINE void
walk_part (const SbBox *box, gint32 *state, const SbWalk *walk, gsize first, guint8 *out,
           gsize out_step, gsize count, SbBoxMethod method, gboolean fractional, gboolean to_8)
{
  const guint16 *enter = walk->enter, *leave = walk->leave;
  const guint16 *outer_enter = walk->outer_enter, *outer_leave = walk->outer_leave;
  guint32 n[SB_VECTOR];

  memcpy (n, state, sizeof n);
  for (gsize i = 0; i < count; i++)
    {
      guint16 q[SB_VECTOR];
      for (guint j = 0; j < SB_VECTOR; j++)
        {
          const guint32 t = method == SB_BOX_INTEGER_EVEN ? n[j] >> 1 : n[j];
          q[j] = (guint16)((((guint64)t * box->multiplier) >> 32 >> box->shift) ^ BIAS);
        }
      if (fractional)
        for (guint j = 0; j < SB_VECTOR; j++)
          n[j] += (guint32)(box->outer * ((gint16)outer_enter[j] - (gint16)outer_leave[j])
                            + (box->inner - box->outer) * ((gint16)enter[j] - (gint16)leave[j]));
      else
        for (guint j = 0; j < SB_VECTOR; j++)
          n[j] += (guint32)(box->inner * ((gint16)enter[j] - (gint16)leave[j]));
      memcpy (out, q, sizeof q);
      out += out_step;
      enter += walk->enter_step;
      leave += walk->leave_step;
      outer_enter += walk->outer_enter_step;
      outer_leave += walk->outer_leave_step;
    }
  memcpy (state, n, sizeof n);
}

static void
accumulate (SbWalkState *state, const guint16 *in, gssize step, gsize count, gint32 weight)
{
  for (gsize i = 0; i < count; i++, in += step)
    for (guint j = 0; j < SB_VECTOR; j++)
      state->n[j] = (gint32)((guint32)state->n[j] + (guint32)(weight * (gint16)in[j]));
}

#endif

/* One copy of the loop for each method, so that nothing is decided inside it. */
INLINE void
walk_method (const SbBox *box, SbWalkState *state, const SbWalk *walk, guint8 *out, gsize out_step,
             gsize count, SbBoxMethod method, gboolean fractional, gboolean to_8)
{
  for (gsize p = 0; p < PARTS; p++)
    walk_part (box, state->n + p * SAMPLES * ABREAST, walk, p * SAMPLES * ABREAST,
               out + p * SAMPLES * ABREAST * (to_8 ? 1 : 2), out_step, count, method, fractional,
               to_8);
}

static void
walk_16 (const SbBox *box, SbWalkState *state, const SbWalk *walk, guint16 *out, gsize count)
{
  guint8 *bytes = (guint8 *)out;
  const gsize step = SB_VECTOR_BYTES;

  switch (box->method)
    {
    case SB_BOX_FLOAT_BITS:
      if (box->fractional)
        walk_method (box, state, walk, bytes, step, count, SB_BOX_FLOAT_BITS, TRUE, FALSE);
      else
        walk_method (box, state, walk, bytes, step, count, SB_BOX_FLOAT_BITS, FALSE, FALSE);
      break;
    case SB_BOX_FLOAT:
      if (box->fractional)
        walk_method (box, state, walk, bytes, step, count, SB_BOX_FLOAT, TRUE, FALSE);
      else
        walk_method (box, state, walk, bytes, step, count, SB_BOX_FLOAT, FALSE, FALSE);
      break;
    case SB_BOX_INTEGER:
      walk_method (box, state, walk, bytes, step, count, SB_BOX_INTEGER, FALSE, FALSE);
      break;
    case SB_BOX_INTEGER_EVEN:
      walk_method (box, state, walk, bytes, step, count, SB_BOX_INTEGER_EVEN, TRUE, FALSE);
      break;
    }
}

static void
walk_8 (const SbBox *box, SbWalkState *state, const SbWalk *walk, guint8 *out, gsize out_step,
        gsize count)
{
  const gboolean bits = box->method == SB_BOX_FLOAT_BITS;

  if (bits && box->fractional)
    walk_method (box, state, walk, out, out_step, count, SB_BOX_FLOAT_BITS, TRUE, TRUE);
  else if (bits)
    walk_method (box, state, walk, out, out_step, count, SB_BOX_FLOAT_BITS, FALSE, TRUE);
  else if (box->fractional)
    walk_method (box, state, walk, out, out_step, count, SB_BOX_FLOAT, TRUE, TRUE);
  else
    walk_method (box, state, walk, out, out_step, count, SB_BOX_FLOAT, FALSE, TRUE);
}

/* --- The table ------------------------------------------------------------------------------- */

const SbBlurKernels SB_ISA_SYMBOL (sb_blur_kernels);
const SbBlurKernels SB_ISA_SYMBOL (sb_blur_kernels) = {
#if SB_V_BYTES >= 32
  .limits = SB_BOX_LIMITS_FMA,
#elif SB_V_BYTES == 16
  .limits = SB_BOX_LIMITS_PRODUCT,
#else
  .limits = SB_BOX_LIMITS_NONE,
#endif
  .accumulate = accumulate,
  .walk = walk_16,
  .walk_8 = walk_8,
#if SB_V_BYTES == 64
  .walk_8_pair = walk_8_pair,
#endif
  .load_8 = sb_blur_load_8,
  .decode_8 = sb_blur_decode_8,
  .load_16 = sb_blur_load_16,
  .premultiply = sb_blur_premultiply,
  .transpose = sb_blur_transpose,
  .store_8 = sb_blur_store_8,
  .encode_8 = sb_blur_encode_8,
  .store_16 = sb_blur_store_16,
  .unpremultiply = sb_blur_unpremultiply,
  .stream = sb_blur_stream,
  .fence = sb_blur_fence,
};
