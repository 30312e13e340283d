/* SPDX-License-Identifier: MIT */

#pragma once

/* The few vector operations that the walks are written in, for the instruction set this file is
 * compiled for. A V holds SB_V_BYTES bytes of samples, an F as many of floats.
 *
 * sb_v_pairs takes two lines' samples apart into pairs of one of each, in two halves: the lower and
 * the upper ones of each 16 bytes, by unpacking; or, with AVX2, the even and the odd ones, which
 * two blends do, for a sample before b and one behind a. (In vectors of 64 bytes every such load
 * would meet two lines of the cache.) sb_v_half takes the same of one line, beside zeros, by
 * weights: sb_v_first and sb_v_second make these. sb_v_join puts quotients of 16 bits together
 * again. */

#include <stdint.h>

#if defined(__AVX512BW__)
#define SB_V_BYTES 64
#elif defined(__AVX2__)
#define SB_V_BYTES 32
#elif defined(__SSE2__) && !defined(SB_PLAIN_KERNELS)
#define SB_V_BYTES 16
#else
#define SB_V_BYTES 0 /* plain C */
#endif

#if SB_V_BYTES > 0
#include <immintrin.h>
#endif

#if SB_V_BYTES == 64
typedef __m512i SbV;
typedef __m512 SbF;
#define sb_v_load(p)          _mm512_load_si512 ((const void *)(p))
#define sb_v_store(p, v)      _mm512_store_si512 ((void *)(p), v)
#define sb_v_set16(x)         _mm512_set1_epi16 (x)
#define sb_v_set32(x)         _mm512_set1_epi32 (x)
#define sb_v_set64(x)         _mm512_set1_epi64 (x)
#define sb_v_zero()           _mm512_setzero_si512 ()
#define sb_v_madd(a, b)       _mm512_madd_epi16 (a, b)
#define sb_v_dot(s, a, b)     _mm512_dpwssd_epi32 (s, a, b)
#define sb_v_xor(a, b)        _mm512_xor_si512 (a, b)
#define sb_v_add32(a, b)      _mm512_add_epi32 (a, b)
#define sb_v_sub32(a, b)      _mm512_sub_epi32 (a, b)
#define sb_v_lo16(a, b)       _mm512_unpacklo_epi16 (a, b)
#define sb_v_hi16(a, b)       _mm512_unpackhi_epi16 (a, b)
#define sb_v_join(a, b)       _mm512_packs_epi32 (a, b)
#define sb_v_srl32(a, n)      _mm512_srli_epi32 (a, n)
#define sb_v_srl64(a, n)      _mm512_srl_epi64 (a, n)
#define sb_v_srl64_32(a)      _mm512_srli_epi64 (a, 32)
#define sb_v_mul32(a, b)      _mm512_mul_epu32 (a, b)
#define sb_v_odd32(even, odd) _mm512_mask_mov_epi32 (even, 0xaaaa, odd)
#define sb_f_from(a)          _mm512_cvtepi32_ps (a)
#define sb_f_set(x)           _mm512_set1_ps (x)
#define sb_f_fma(a, b, c)     _mm512_fmadd_ps (a, b, c)
#define sb_f_bits(f)          _mm512_castps_si512 (f)
#define sb_v_float(v)         _mm512_castsi512_ps (v)
#elif SB_V_BYTES == 32
typedef __m256i SbV;
typedef __m256 SbF;
#define sb_v_load(p)          _mm256_load_si256 ((const __m256i *)(p))
#define sb_v_store(p, v)      _mm256_store_si256 ((__m256i *)(p), v)
#define sb_v_set16(x)         _mm256_set1_epi16 (x)
#define sb_v_set32(x)         _mm256_set1_epi32 (x)
#define sb_v_set64(x)         _mm256_set1_epi64x (x)
#define sb_v_zero()           _mm256_setzero_si256 ()
#define sb_v_madd(a, b)       _mm256_madd_epi16 (a, b)
#define sb_v_dot(s, a, b)     _mm256_add_epi32 (s, _mm256_madd_epi16 (a, b))
#define sb_v_xor(a, b)        _mm256_xor_si256 (a, b)
#define sb_v_add32(a, b)      _mm256_add_epi32 (a, b)
#define sb_v_sub32(a, b)      _mm256_sub_epi32 (a, b)
#define sb_v_join(a, b)       _mm256_blend_epi16 (a, _mm256_slli_epi32 (b, 16), 0xaa)
#define sb_v_odd16(a, b)      _mm256_blend_epi16 (a, b, 0xaa)
#define sb_v_loadu(p)         _mm256_loadu_si256 ((const __m256i *)(p))
#define sb_v_srl32(a, n)      _mm256_srli_epi32 (a, n)
#define sb_v_srl64(a, n)      _mm256_srl_epi64 (a, n)
#define sb_v_srl64_32(a)      _mm256_srli_epi64 (a, 32)
#define sb_v_mul32(a, b)      _mm256_mul_epu32 (a, b)
#define sb_v_odd32(even, odd) _mm256_blend_epi32 (even, odd, 0xaa)
#define sb_f_from(a)          _mm256_cvtepi32_ps (a)
#define sb_f_set(x)           _mm256_set1_ps (x)
#define sb_f_fma(a, b, c)     _mm256_fmadd_ps (a, b, c)
#define sb_f_bits(f)          _mm256_castps_si256 (f)
#define sb_v_float(v)         _mm256_castsi256_ps (v)
#elif SB_V_BYTES == 16
typedef __m128i SbV;
typedef __m128 SbF;
#define sb_v_load(p)      _mm_load_si128 ((const __m128i *)(p))
#define sb_v_store(p, v)  _mm_store_si128 ((__m128i *)(p), v)
#define sb_v_set16(x)     _mm_set1_epi16 (x)
#define sb_v_set32(x)     _mm_set1_epi32 (x)
#define sb_v_set64(x)     _mm_set1_epi64x (x)
#define sb_v_zero()       _mm_setzero_si128 ()
#define sb_v_lo16(a, b)   _mm_unpacklo_epi16 (a, b)
#define sb_v_hi16(a, b)   _mm_unpackhi_epi16 (a, b)
#define sb_v_madd(a, b)   _mm_madd_epi16 (a, b)
#define sb_v_dot(s, a, b) _mm_add_epi32 (s, _mm_madd_epi16 (a, b))
#define sb_v_xor(a, b)    _mm_xor_si128 (a, b)
#define sb_v_add32(a, b)  _mm_add_epi32 (a, b)
#define sb_v_sub32(a, b)  _mm_sub_epi32 (a, b)
#define sb_v_join(a, b)   _mm_packs_epi32 (a, b)
#define sb_v_srl32(a, n)  _mm_srli_epi32 (a, n)
#define sb_v_srl64(a, n)  _mm_srl_epi64 (a, n)
#define sb_v_srl64_32(a)  _mm_srli_epi64 (a, 32)
#define sb_v_mul32(a, b)  _mm_mul_epu32 (a, b)
#define sb_v_odd32(even, odd)                                                                      \
  _mm_or_si128 (_mm_and_si128 (even, _mm_set1_epi64x (0xffffffff)),                                \
                _mm_andnot_si128 (_mm_set1_epi64x (0xffffffff), odd))
#define sb_f_from(a) _mm_cvtepi32_ps (a)
#define sb_f_set(x)  _mm_set1_ps (x)
#endif

#if SB_V_BYTES > 0
static inline __attribute__ ((always_inline)) void
sb_v_pairs (const void *a, const void *b, SbV out[2])
{
#if SB_V_BYTES == 32
  out[0] = sb_v_odd16 (sb_v_load (a), sb_v_loadu ((const char *)b - 2));
  out[1] = sb_v_odd16 (sb_v_loadu ((const char *)a + 2), sb_v_load (b));
#else
  const SbV v = sb_v_load (a), w = sb_v_load (b);
  out[0] = sb_v_lo16 (v, w);
  out[1] = sb_v_hi16 (v, w);
#endif
}

#if SB_V_BYTES == 32
#define sb_v_half(v, i) (v)
#define sb_v_first(w)   sb_v_set32 ((w)&0xffff)
#define sb_v_second(w)  sb_v_set32 ((gint32)((guint32)(w) << 16))
#else
#define sb_v_half(v, i) ((i) == 0 ? sb_v_lo16 (v, sb_v_zero ()) : sb_v_hi16 (v, sb_v_zero ()))
#define sb_v_first(w)   sb_v_set32 ((w)&0xffff)
#define sb_v_second(w)  sb_v_set32 ((w)&0xffff)
#endif
#endif
