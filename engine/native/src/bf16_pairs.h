/* Pairs of bf16: an instruction of the newer AVX-512 processors multiplies two numbers to a lane and adds both products to a
 * float32. That is twice what a lane of float32 gets out of the multipliers. Include vectors.h before. */
#ifndef UH_BF16_PAIRS_H
#define UH_BF16_PAIRS_H

#include "kv_rows.h"

#if defined(UH_WITH_AVX512)

#define UH_PAIRS __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define UH_PAIRS_INLINE UH_PAIRS static inline __attribute__((always_inline))

UH_PAIRS_INLINE __m512bh pairs_at(const void *p) { return (__m512bh)_mm512_loadu_si512(p); }

/* Numbers rounded to the nearest bf16, to one half of a register. */
UH_PAIRS_INLINE void round_16(vf numbers, uint16_t *to) {
    _mm256_storeu_si256((__m256i *)to, (__m256i)_mm512_cvtneps_pbh(numbers));
}

/* n rows of 8 bits (kv_rows.h), dim a multiple of UH_KV_GROUP, to bf16 [n, dim]: a code times its scale, rounded. */
UH_PAIRS static void unpack_kv_pairs(const uint8_t *rows, int32_t n, int32_t dim, uint16_t *to) {
    const int64_t bytes = uh_kv_row_bytes(8, dim);
    for (int32_t r = 0; r < n; r++, rows += bytes, to += dim)
        for (int32_t d = 0; d < dim; d += UH_KV_GROUP) {
            uint16_t scale;
            memcpy(&scale, rows + dim + d / UH_KV_GROUP * 2, 2);
            const vf unit = _mm512_castsi512_ps(_mm512_set1_epi32((int32_t)((uint32_t)scale << 16)));
            const __m128i *at = (const __m128i *)(rows + d);
            const vf low = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(at))) * unit;
            const vf high = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(at + 1))) * unit;
            _mm512_storeu_si512(to + d, (__m512i)_mm512_cvtne2ps_pbh(high, low));
        }
}

#endif

#endif
