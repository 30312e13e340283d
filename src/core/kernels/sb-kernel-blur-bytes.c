/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-kernel-blur-bytes.h"
#include "sb-kernel-blur-simd.h"

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

/* state + the sums, of each pixel group of 4, that the signs say: for 4 bytes. */
INLINE __m512i
move_by (__m512i state, __m512i enter, __m512i leave, guint32 ones)
{
  const __m512i plus = _mm512_set1_epi32 ((gint32)ones);
  const __m512i minus = _mm512_set1_epi32 ((gint32)(ones * 0xff));

  return _mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (state, enter, plus), leave, minus);
}

static void
row (const SbBytesBox *box, const guint8 *in, gsize blocks, guint16 *out, const guint8 *ahead)
{
  const gsize width = 2 * (gsize)box->radius + 1;
  const guint8 *enter = in + 4 * width;
  const __m512 inverse = _mm512_set1_ps (box->row_inverse);
  const __m512 addend = _mm512_set1_ps (box->row_addend);
  const __m512i zero = _mm512_setzero_si512 (), ones = _mm512_set1_epi32 (0x01010101);
  const __mmask32 high = 0xaaaaaaaa;

  /* The window of the first pixel: in all four parts of the vector alike. Two sums, so that one
   * need not wait for the other. */
  __m512i sum = zero, other = zero;
  gsize i = 0;
  for (; i + 2 * SB_BLOCK <= width; i += 2 * SB_BLOCK)
    {
      _mm_prefetch ((const char *)ahead + 4 * i, _MM_HINT_T1);
      _mm_prefetch ((const char *)ahead + 4 * i + 64, _MM_HINT_T1);
      sum = _mm512_dpbusd_epi32 (sum, turn (_mm512_loadu_si512 (in + 4 * i)), ones);
      other = _mm512_dpbusd_epi32 (other, turn (_mm512_loadu_si512 (in + 4 * i + 64)), ones);
    }
  const guint32 rest = (1u << (width - i)) - 1;
  _mm_prefetch ((const char *)ahead + 4 * i, _MM_HINT_T1);
  sum = _mm512_dpbusd_epi32 (sum, turn (_mm512_maskz_loadu_epi32 ((__mmask16)rest, in + 4 * i)),
                             ones);
  other = _mm512_dpbusd_epi32 (
      other, turn (_mm512_maskz_loadu_epi32 ((__mmask16)(rest >> 16), in + 4 * i + 64)), ones);
  ahead += 4 * width;
  sum = _mm512_add_epi32 (sum, other);
  sum = _mm512_add_epi32 (sum, _mm512_shuffle_i32x4 (sum, sum, 0x4e));
  sum = _mm512_add_epi32 (sum, _mm512_shuffle_i32x4 (sum, sum, 0xb1));
  sum = _mm512_add_epi32 (sum, _mm512_set1_epi32 (box->row_offset));

  for (gsize b = 0; b < blocks; b++, in += 64, enter += 64, out += SB_BLOCK_SAMPLES, ahead += 64)
    {
      const __m512i e = turn (_mm512_loadu_si512 (enter)), l = turn (_mm512_loadu_si512 (in));

      _mm_prefetch ((const char *)ahead, _MM_HINT_T1);
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
        _mm512_store_si512 (
            out + 32 * h,
            _mm512_mask_blend_epi16 (high, q[2 * h], _mm512_slli_epi32 (q[2 * h + 1], 16)));
    }
  /* The last pixels lie in one line more, as rows begin within one. */
  _mm_prefetch ((const char *)ahead, _MM_HINT_T1);
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
              two[h] = _mm512_mask_blend_epi8 (0x2222222222222222, _mm512_castps_si512 (q0),
                                               _mm512_castps_si512 (q1));

              const __m512i e = _mm512_load_si512 (enter[i] + at + 32 * h);
              const __m512i l = _mm512_load_si512 (leave[i] + at + 32 * h);
              n[2 * h] = _mm512_dpwssd_epi32 (_mm512_dpwssd_epi32 (n[2 * h], e, low), l, low_out);
              n[2 * h + 1]
                  = _mm512_dpwssd_epi32 (_mm512_dpwssd_epi32 (n[2 * h + 1], e, high), l, high_out);
            }
          const __m512i all
              = turn (_mm512_mask_blend_epi16 (0xaaaaaaaa, two[0], _mm512_slli_epi32 (two[1], 16)));
          if (stream)
            _mm512_stream_si512 ((void *)to, all);
          else
            _mm512_storeu_si512 (to, all);
        }
      for (guint k = 0; k < 4; k++)
        _mm512_store_si512 (sums + 16 * k, n[k]);
    }
}

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
