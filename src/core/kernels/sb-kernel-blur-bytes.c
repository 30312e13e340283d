/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-blur-bytes.h"
#include "sb-kernel-blur-simd.h"

#include <string.h>

#define INLINE static inline __attribute__ ((always_inline))

#if SB_V_BYTES == 64

/* In a block, sample (pixel 4g + k, channel c) is held by number 4g + c of vector k of four: what
 * turning 4 x 4 bytes in each 16 makes of the picture's order, and the same again undoes. Stored
 * at 16 bits, vectors 0 and 1 share the low and high halves of 64 bytes, then 2 and 3. */
INLINE __m512i
turn (__m512i v)
{
  return _mm512_shuffle_epi8 (v, _mm512_broadcast_i32x4 (_mm_setr_epi8 (0, 4, 8, 12, 1, 5, 9, 13, 2,
                                                                        6, 10, 14, 3, 7, 11, 15)));
}

/* b's bits where the mask has them, otherwise a's; a mask of constants would be loaded again and
 * again. */
INLINE __m512i
choose (__m512i a, __m512i b, __m512i mask)
{
  return _mm512_ternarylogic_epi32 (a, b, mask, 0xd8);
}

/* state + the sums, of each pixel group of 4, that the signs say: for 4 bytes. */
INLINE __m512i
move_by (__m512i state, __m512i enter, __m512i leave, guint32 ones)
{
  const __m512i plus = _mm512_set1_epi32 ((gint32)ones);
  const __m512i minus = _mm512_set1_epi32 ((gint32)(ones * 0xff));

  return _mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (state, enter, plus), leave, minus);
}

/* The sums of `width` pixels, in all four parts of the vector alike. */
INLINE __m512i
window_sum (const guint8 *in, gsize width)
{
  const __m512i ones = _mm512_set1_epi32 (0x01010101);

  /* Two sums, so that one need not wait for the other. */
  __m512i sum = _mm512_setzero_si512 (), other = sum;
  gsize i = 0;
  for (; i + 2 * SB_BLOCK <= width; i += 2 * SB_BLOCK)
    {
      sum = _mm512_dpbusd_epi32 (sum, turn (_mm512_loadu_si512 (in + 4 * i)), ones);
      other = _mm512_dpbusd_epi32 (other, turn (_mm512_loadu_si512 (in + 4 * i + 64)), ones);
    }
  const guint32 rest = (1u << (width - i)) - 1;
  sum = _mm512_dpbusd_epi32 (sum, turn (_mm512_maskz_loadu_epi32 ((__mmask16)rest, in + 4 * i)),
                             ones);
  other = _mm512_dpbusd_epi32 (
      other, turn (_mm512_maskz_loadu_epi32 ((__mmask16)(rest >> 16), in + 4 * i + 64)), ones);
  sum = _mm512_add_epi32 (sum, other);
  sum = _mm512_add_epi32 (sum, _mm512_shuffle_i32x4 (sum, sum, 0x4e));
  return _mm512_add_epi32 (sum, _mm512_shuffle_i32x4 (sum, sum, 0xb1));
}

static void
row (const SbBytesBox *box, const guint8 *in, gsize blocks, guint16 *out, void *carry,
     gboolean carried, const guint8 *ahead)
{
  const gsize width = 2 * (gsize)box->radius + 1;
  const guint8 *enter = in + 4 * width;
  const __m512 inverse = _mm512_set1_ps (box->row_inverse);
  const __m512 addend = _mm512_set1_ps (box->row_addend);
  const __m512i zero = _mm512_setzero_si512 ();
  const __m512i high = _mm512_set1_epi32 ((gint32)0xffff0000);

  /* The window of the first pixel. */
  __m512i sum;
  if (carried)
    sum = _mm512_broadcast_i32x4 (_mm_load_si128 (carry));
  else
    sum = _mm512_add_epi32 (window_sum (in, width), _mm512_set1_epi32 (box->row_offset));

  /* Rows to come are called for evenly: many lines at once would keep what is loaded waiting. */
  const guint8 *beyond = ahead + 4 * width;
  const gsize step = (4 * width + blocks - 1) / blocks;
  for (gsize b = 0; b < blocks; b++, in += 64, enter += 64, out += SB_BLOCK_SAMPLES)
    {
      const __m512i e = turn (_mm512_loadu_si512 (enter)), l = turn (_mm512_loadu_si512 (in));

      _mm_prefetch ((const char *)beyond + 64 * b, _MM_HINT_T1);
      _mm_prefetch ((const char *)ahead + step * b, _MM_HINT_T1);
      /* How far 4 pixels move the window, then up to the end of each group of 4. */
      const __m512i by = move_by (zero, e, l, 0x01010101);
      __m512i to = _mm512_add_epi32 (by, _mm512_alignr_epi64 (by, zero, 6));
      to = _mm512_add_epi32 (to, _mm512_alignr_epi64 (to, zero, 4));
      const __m512i end = _mm512_add_epi32 (sum, to);
      sum = _mm512_shuffle_i32x4 (end, end, 0xff);

      __m512i n[4], q[4];
      n[0] = _mm512_sub_epi32 (end, by);
      n[1] = move_by (n[0], e, l, 0x00000001);
      n[2] = move_by (n[0], e, l, 0x00000101);
      n[3] = move_by (n[0], e, l, 0x00010101);
      for (guint k = 0; k < 4; k++)
        q[k] = _mm512_castps_si512 (_mm512_fmadd_ps (_mm512_castsi512_ps (n[k]), inverse, addend));
      for (guint h = 0; h < 2; h++)
        _mm512_store_si512 (out + 32 * h,
                            choose (q[2 * h], _mm512_slli_epi32 (q[2 * h + 1], 16), high));
    }
  /* The last pixels lie in one line more, as rows begin within one. */
  _mm_prefetch ((const char *)beyond + 64 * blocks, _MM_HINT_T1);
  if (carry != NULL)
    _mm_store_si128 (carry, _mm512_castsi512_si128 (sum));
}

static void
add (gint32 *sums, const guint16 *in, gsize blocks, gint32 weight)
{
  const __m512i low = _mm512_set1_epi32 (weight & 0xffff), high = _mm512_set1_epi32 (weight << 16);

  for (gsize h = 0; h < 2 * blocks; h++, in += 32, sums += 32)
    {
      const __m512i v = _mm512_load_si512 (in);
      _mm512_store_si512 (sums, _mm512_dpwssd_epi32 (_mm512_load_si512 (sums), v, low));
      _mm512_store_si512 (sums + 16, _mm512_dpwssd_epi32 (_mm512_load_si512 (sums + 16), v, high));
    }
}

INLINE void
columns_method (const SbBytesBox *box, gint32 *sums, const guint16 *const *enter,
                const guint16 *const *leave, gsize rows, gsize blocks, guint8 *out, gsize out_step,
                gboolean stream, gboolean bits)
{
  const __m512 inverse = _mm512_set1_ps (box->inverse);
  const __m512 low_addend = _mm512_set1_ps (box->low_addend);
  const __m512 high_addend = _mm512_set1_ps (box->high_addend);
  const __m512i low = _mm512_set1_epi32 (1), high = _mm512_set1_epi32 (0x10000);
  const __m512i low_out = _mm512_set1_epi32 (0xffff),
                high_out = _mm512_set1_epi32 ((gint32)0xffff0000);
  const __m512i second = _mm512_set1_epi32 (0xff00);

  for (gsize b = 0; b < blocks; b++, sums += SB_BLOCK_SAMPLES, out += 64)
    {
      const gsize at = b * SB_BLOCK_SAMPLES;
      guint8 *to = out;
      __m512i n[4];

      for (guint k = 0; k < 4; k++)
        n[k] = _mm512_load_si512 (sums + 16 * k);
      for (gsize i = 0; i < rows; i++, to += out_step)
        {
          __m512i two[2];
          for (guint h = 0; h < 2; h++)
            {
              const __m512 n0 = bits ? _mm512_castsi512_ps (n[2 * h]) : sb_f_from (n[2 * h]);
              const __m512 n1
                  = bits ? _mm512_castsi512_ps (n[2 * h + 1]) : sb_f_from (n[2 * h + 1]);
              const __m512 q0 = _mm512_fmadd_ps (n0, inverse, low_addend);
              const __m512 q1 = _mm512_fmadd_round_ps (n1, inverse, high_addend,
                                                       _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
              two[h] = choose (_mm512_castps_si512 (q0), _mm512_castps_si512 (q1), second);

              const __m512i e = _mm512_load_si512 (enter[i] + at + 32 * h);
              const __m512i l = _mm512_load_si512 (leave[i] + at + 32 * h);
              n[2 * h] = _mm512_dpwssd_epi32 (_mm512_dpwssd_epi32 (n[2 * h], e, low), l, low_out);
              n[2 * h + 1]
                  = _mm512_dpwssd_epi32 (_mm512_dpwssd_epi32 (n[2 * h + 1], e, high), l, high_out);
            }
          const __m512i all = turn (choose (two[0], _mm512_slli_epi32 (two[1], 16), high_out));
          if (stream)
            _mm512_stream_si512 ((void *)to, all);
          else
            _mm512_storeu_si512 (to, all);
        }
      for (guint k = 0; k < 4; k++)
        _mm512_store_si512 (sums + 16 * k, n[k]);
    }
}

#elif SB_V_BYTES == 32

/* 8 pixels make two vectors of 16 samples, the first one of pixels 0, 1, 4, 5, the other of 2, 3,
 * 6, 7: unpacking bytes takes them apart so, packing puts them together again. A row's sums have
 * 16 bits, which is what the lower half of row_offset leaves room for. */

#define ODD 0xaa

INLINE void
unpack (__m256i a, __m256i b, __m256i out[2])
{
  out[0] = _mm256_unpacklo_epi8 (a, b);
  out[1] = _mm256_unpackhi_epi8 (a, b);
}

/* The sums of `count` pixels, for each channel four times over. */
INLINE __m256i
window_sum (const guint8 *in, gsize count)
{
  const __m256i zero = _mm256_setzero_si256 ();
  __m256i sum = zero, two[2];
  gsize i = 0;

  for (; i + 8 <= count; i += 8)
    {
      unpack (_mm256_loadu_si256 ((const __m256i *)(in + 4 * i)), zero, two);
      sum = _mm256_add_epi16 (sum, _mm256_add_epi16 (two[0], two[1]));
    }
  for (; i < count; i++)
    {
      gint32 pixel;
      memcpy (&pixel, in + 4 * i, 4);
      sum = _mm256_add_epi16 (
          sum, _mm256_castsi128_si256 (_mm_cvtepu8_epi16 (_mm_cvtsi32_si128 (pixel))));
    }
  sum = _mm256_add_epi16 (sum, _mm256_permute2x128_si256 (sum, sum, 1));
  return _mm256_add_epi16 (sum, _mm256_shuffle_epi32 (sum, 0x4e));
}

INLINE __m256i
row_quotient (__m256i s, __m256i high, __m256 inverse, __m256 addend)
{
  const __m256 n0 = _mm256_castsi256_ps (_mm256_blend_epi16 (s, high, ODD));
  const __m256 n1 = _mm256_castsi256_ps (_mm256_or_si256 (_mm256_srli_epi32 (s, 16), high));
  const __m256i q0 = _mm256_castps_si256 (_mm256_fmadd_ps (n0, inverse, addend));
  const __m256i q1 = _mm256_castps_si256 (_mm256_fmadd_ps (n1, inverse, addend));

  return _mm256_blend_epi16 (q0, _mm256_slli_epi32 (q1, 16), ODD);
}

static void
row (const SbBytesBox *box, const guint8 *in, gsize blocks, guint16 *out, void *carry,
     gboolean carried, const guint8 *ahead)
{
  const gsize width = 2 * (gsize)box->radius + 1;
  const guint8 *leave = in - 4, *enter = leave + 4 * width;
  const __m256 inverse = _mm256_set1_ps (box->row_inverse);
  const __m256 addend = _mm256_set1_ps (box->row_addend);
  const __m256i high = _mm256_set1_epi32 (box->row_offset & (gint32)0xffff0000);
  const __m256i signs = _mm256_set1_epi16 ((gint16)0xff01); /* 1, -1 */
  const __m256i upper = _mm256_setr_epi64x (0, 0, -1, -1);

  /* The window of the pixel before the first one. */
  __m256i sum;
  if (carried)
    sum = _mm256_broadcastsi128_si256 (_mm_load_si128 (carry));
  else
    sum = _mm256_add_epi16 (window_sum (leave, width),
                            _mm256_set1_epi16 ((gint16)(box->row_offset & 0xffff)));
  const guint8 *beyond = ahead + 4 * width;
  const gsize step = (4 * width + blocks - 1) / blocks;
  for (gsize h = 0; h < 2 * blocks; h++, leave += 32, enter += 32, out += 32)
    {
      __m256i s[2];

      if (h % 2 == 0)
        {
          _mm_prefetch ((const char *)beyond + 32 * h, _MM_HINT_T1);
          _mm_prefetch ((const char *)ahead + step * h / 2, _MM_HINT_T1);
        }
      /* How each pixel moves the window, then up to each of a group of 4. */
      unpack (_mm256_loadu_si256 ((const __m256i *)enter),
              _mm256_loadu_si256 ((const __m256i *)leave), s);
      for (guint i = 0; i < 2; i++)
        {
          s[i] = _mm256_maddubs_epi16 (s[i], signs);
          s[i] = _mm256_add_epi16 (s[i], _mm256_slli_si256 (s[i], 8));
        }
      s[1] = _mm256_add_epi16 (s[1], _mm256_shuffle_epi32 (s[0], 0xee));
      const __m256i by = _mm256_shuffle_epi32 (s[1], 0xee);
      const __m256i other = _mm256_permute2x128_si256 (by, by, 1);
      const __m256i base = _mm256_add_epi16 (sum, _mm256_and_si256 (other, upper));
      sum = _mm256_add_epi16 (sum, _mm256_add_epi16 (by, other));
      for (guint i = 0; i < 2; i++)
        _mm256_store_si256 ((__m256i *)(out + 16 * i),
                            row_quotient (_mm256_add_epi16 (base, s[i]), high, inverse, addend));
    }
  /* The last pixels lie in one line more, as rows begin within one. */
  _mm_prefetch ((const char *)beyond + 64 * blocks, _MM_HINT_T1);
  if (carry != NULL)
    _mm_store_si128 (carry, _mm256_castsi256_si128 (sum));
}

/* Stored sums: of each 16 samples first the even ones, then the odd ones. */
static void
add (gint32 *sums, const guint16 *in, gsize blocks, gint32 weight)
{
  const __m256i low = _mm256_set1_epi32 (weight & 0xffff), high = _mm256_set1_epi32 (weight << 16);

  for (gsize h = 0; h < 4 * blocks; h++, in += 16, sums += 16)
    {
      const __m256i v = sb_v_load (in);
      sb_v_store (sums, sb_v_dot (sb_v_load (sums), v, low));
      sb_v_store (sums + 8, sb_v_dot (sb_v_load (sums + 8), v, high));
    }
}

INLINE void
columns_method (const SbBytesBox *box, gint32 *sums, const guint16 *const *enter,
                const guint16 *const *leave, gsize rows, gsize blocks, guint8 *out, gsize out_step,
                gboolean stream, gboolean bits)
{
  const __m256 inverse = _mm256_set1_ps (box->inverse);
  const __m256 addend = _mm256_set1_ps (box->low_addend);
  const __m256i signs = _mm256_set1_epi32 (0xffff0001); /* 1, -1 */

  /* Half a line of memory is written only together with the other half. */
  __m256i first[SB_MOST_ROWS];

  for (gsize b = 0; b < 2 * blocks; b++, sums += SB_BLOCK_SAMPLES / 2)
    {
      const gsize at = b * SB_BLOCK_SAMPLES / 2;
      guint8 *to = out + b / 2 * 64;
      __m256i n[4];

      for (guint k = 0; k < 4; k++)
        n[k] = sb_v_load (sums + 8 * k);
      for (gsize i = 0; i < rows; i++, to += out_step)
        {
          __m256i q[2];
          for (guint h = 0; h < 2; h++)
            {
              const __m256 n0 = bits ? sb_v_float (n[2 * h]) : sb_f_from (n[2 * h]);
              const __m256 n1 = bits ? sb_v_float (n[2 * h + 1]) : sb_f_from (n[2 * h + 1]);
              const __m256i q0 = sb_f_bits (sb_f_fma (n0, inverse, addend));
              const __m256i q1 = sb_f_bits (sb_f_fma (n1, inverse, addend));
              q[h] = _mm256_blend_epi16 (q0, _mm256_slli_epi32 (q1, 16), ODD);

              /* What enters and what leaves side by side: one of them from a sample farther. */
              const guint16 *e = enter[i] + at + 16 * h, *l = leave[i] + at + 16 * h;
              const __m256i even = _mm256_blend_epi16 (
                  sb_v_load (e), _mm256_loadu_si256 ((const __m256i *)(l - 1)), ODD);
              const __m256i odd = _mm256_blend_epi16 (_mm256_loadu_si256 ((const __m256i *)(e + 1)),
                                                      sb_v_load (l), ODD);
              n[2 * h] = sb_v_dot (n[2 * h], even, signs);
              n[2 * h + 1] = sb_v_dot (n[2 * h + 1], odd, signs);
            }
          const __m256i all = _mm256_packus_epi16 (q[0], q[1]);
          if (b % 2 == 0)
            first[i] = all;
          else if (stream)
            {
              _mm256_stream_si256 ((__m256i *)to, first[i]);
              _mm256_stream_si256 ((__m256i *)(to + 32), all);
            }
          else
            {
              _mm256_storeu_si256 ((__m256i *)to, first[i]);
              _mm256_storeu_si256 ((__m256i *)(to + 32), all);
            }
        }
      for (guint k = 0; k < 4; k++)
        sb_v_store (sums + 8 * k, n[k]);
    }
}

#endif

#if SB_V_BYTES >= 32

static void
columns (const SbBytesBox *box, gint32 *sums, const guint16 *const *enter,
         const guint16 *const *leave, gsize rows, gsize blocks, guint8 *out, gsize out_step,
         gboolean stream)
{
  if (box->bits && stream)
    columns_method (box, sums, enter, leave, rows, blocks, out, out_step, TRUE, TRUE);
  else if (box->bits)
    columns_method (box, sums, enter, leave, rows, blocks, out, out_step, FALSE, TRUE);
  else if (stream)
    columns_method (box, sums, enter, leave, rows, blocks, out, out_step, TRUE, FALSE);
  else
    columns_method (box, sums, enter, leave, rows, blocks, out, out_step, FALSE, FALSE);
}

const SbBytesKernels SB_ISA_SYMBOL (sb_bytes_kernels);
const SbBytesKernels SB_ISA_SYMBOL (sb_bytes_kernels) = { row, add, columns };

#endif
