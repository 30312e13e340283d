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

#define PARTS   (SB_VECTOR_BYTES / SB_V_BYTES)
#define SAMPLES (SB_V_BYTES / 2)

/* 1.5 * 2^23: added to a float below 2^22 it leaves the nearest whole number in the low bits. */
#define MAGIC 12582912.0f

/* Two weights as one 32-bit constant of a madd: `lo` times the first of a pair. */
INLINE SbV
pair (gint32 lo, gint32 hi)
{
  return sb_v_set32 ((gint32)(((guint32)lo & 0xffff) | ((guint32)hi << 16)));
}

/* round (n * inverse) + 128 for to_8, as whole numbers. */
INLINE SbV
quotient_float (SbV n, SbF inverse, gboolean to_8)
{
#if SB_V_BYTES == 16
  const SbV q = _mm_cvtps_epi32 (_mm_mul_ps (sb_f_from (n), inverse));
  return to_8 || MUTATION ? sb_v_add32 (q, sb_v_set32 (to_8 ? 128 : MUTATION)) : q;
#else
  const SbF sum = sb_f_fma (sb_f_from (n), inverse, sb_f_set (MAGIC + (to_8 ? 128 : MUTATION)));
  return sb_v_sub32 (sb_f_bits (sum), sb_v_set32 (0x4b400000));
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
    return sb_v_sub32 (sb_f_bits (sb_f_fma (sb_v_float (n), place->inverse, place->addend)),
                       sb_v_set32 (0x4b400000));
#endif
  if (method == SB_BOX_FLOAT)
    return quotient_float (n, place->inverse, to_8);
  return quotient_integer (n, place->multiplier, place->shift, place->shift_high,
                           method == SB_BOX_INTEGER_EVEN);
}

/* Moves the window of the line `behind` samples after the place's. */
INLINE void
move_window (const Place *place, gsize behind, SbV *n0, SbV *n1, gboolean fractional)
{
  const SbV e = sb_v_load (place->enter + behind), l = sb_v_load (place->leave + behind);

  if (fractional)
    {
      const SbV eo = sb_v_load (place->outer_enter + behind);
      const SbV lo = sb_v_load (place->outer_leave + behind);
      /* Both products first, then one addition to the state: the chain from step to step stays
       * short. */
      *n0 = sb_v_add32 (*n0, sb_v_dot (sb_v_madd (sb_v_lo16 (e, eo), place->weights),
                                       sb_v_lo16 (l, lo), place->weights_out));
      *n1 = sb_v_add32 (*n1, sb_v_dot (sb_v_madd (sb_v_hi16 (e, eo), place->weights),
                                       sb_v_hi16 (l, lo), place->weights_out));
    }
  else
    {
      *n0 = sb_v_dot (*n0, sb_v_lo16 (e, l), place->weights);
      *n1 = sb_v_dot (*n1, sb_v_hi16 (e, l), place->weights);
    }
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
/* q0 holds samples 0 .. 3 of each 16 bytes, q1 samples 4 .. 7, all below 256: in order. */
INLINE __m256i
bytes_in_order (SbV q0, SbV q1)
{
  const SbV order = _mm512_set_epi64 (0, 0, 0, 0, 0x3e3a36323c383430, 0x2e2a26222c282420,
                                      0x1e1a16121c181410, 0x0e0a06020c080400);
  const SbV both = _mm512_or_si512 (q0, _mm512_slli_epi32 (q1, 16));
  return _mm512_castsi512_si256 (_mm512_permutexvar_epi8 (order, both));
}
#endif

INLINE void
walk_part (const SbBox *box, gint32 *state, const SbWalk *walk, gsize first, guint8 *out,
           gsize out_step, gsize count, SbBoxMethod method, gboolean fractional, gboolean to_8)
{
  Place place = place_init (box, walk, first, fractional);
  SbV n0 = sb_v_load (state), n1 = sb_v_load (state + SAMPLES / 2);

  for (gsize i = 0; i < count; i++)
    {
      const SbV q0 = quotient (&place, n0, method, to_8);
      const SbV q1 = quotient (&place, n1, method, to_8);

      move_window (&place, 0, &n0, &n1, fractional);
      place_next (&place, fractional);
      if (!to_8)
        sb_v_store (out, sb_v_pack (q0, q1));
      else
        {
#if SB_V_BYTES == 64
          _mm256_storeu_si256 ((__m256i *)out, bytes_in_order (q0, q1));
#elif SB_V_BYTES == 32
          const SbV q = _mm256_packus_epi16 (sb_v_pack (q0, q1), sb_v_zero ());
          _mm_storeu_si128 ((__m128i *)out,
                            _mm256_castsi256_si128 (_mm256_permute4x64_epi64 (q, 0x08)));
#else
          _mm_storel_epi64 ((__m128i *)out, _mm_packus_epi16 (sb_v_pack (q0, q1), sb_v_zero ()));
#endif
        }
      out += out_step;
    }
  sb_v_store (state, n0);
  sb_v_store (state + SAMPLES / 2, n1);
}

#if SB_V_BYTES == 64
INLINE void
walk_pair (const SbBox *box, SbWalkState *first_state, SbWalkState *second_state,
           const SbWalk *walk, gsize second, guint8 *out, gsize out_step, gsize count,
           SbBoxMethod method, gboolean fractional)
{
  Place place = place_init (box, walk, 0, fractional);
  SbV n0 = sb_v_load (first_state->n), n1 = sb_v_load (first_state->n + 16);
  SbV m0 = sb_v_load (second_state->n), m1 = sb_v_load (second_state->n + 16);

  for (gsize i = 0; i < count; i++)
    {
      const __m256i a = bytes_in_order (quotient (&place, n0, method, TRUE),
                                        quotient (&place, n1, method, TRUE));
      const __m256i b = bytes_in_order (quotient (&place, m0, method, TRUE),
                                        quotient (&place, m1, method, TRUE));

      move_window (&place, 0, &n0, &n1, fractional);
      move_window (&place, second, &m0, &m1, fractional);
      place_next (&place, fractional);
      _mm512_stream_si512 ((void *)out, _mm512_inserti64x4 (_mm512_castsi256_si512 (a), b, 1));
      out += out_step;
    }
  sb_v_store (first_state->n, n0);
  sb_v_store (first_state->n + 16, n1);
  sb_v_store (second_state->n, m0);
  sb_v_store (second_state->n + 16, m1);
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
  const SbV weights = pair (weight, 0);

  for (gsize p = 0; p < PARTS; p++)
    {
      gint32 *n = state->n + p * SAMPLES;
      const guint16 *from = in + p * SAMPLES;
      SbV n0 = sb_v_load (n), n1 = sb_v_load (n + SAMPLES / 2);
      for (gsize i = 0; i < count; i++, from += step)
        {
          const SbV v = sb_v_load (from);
          n0 = sb_v_dot (n0, sb_v_lo16 (v, sb_v_zero ()), weights);
          n1 = sb_v_dot (n1, sb_v_hi16 (v, sb_v_zero ()), weights);
        }
      sb_v_store (n, n0);
      sb_v_store (n + SAMPLES / 2, n1);
    }
}

#else /* plain C */

#define PARTS   1
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
    walk_part (box, state->n + p * SAMPLES, walk, p * SAMPLES, out + p * SAMPLES * (to_8 ? 1 : 2),
               out_step, count, method, fractional, to_8);
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
