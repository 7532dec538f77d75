/* Scales and offsets of the rows of a tile in registers of 512 bits. Define UH_TARGET before; needs immintrin.h. */
#include "scales.h"

UH_TARGET static inline __attribute__((always_inline)) __m512 uh_halves_512(const uint8_t *at) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)at));
}

UH_TARGET static inline __attribute__((always_inline)) __m512 uh_bytes_512(const uint8_t *at) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)at)));
}

/* at, wide: uh_scales_at and uh_wide_at. */
UH_TARGET static inline __attribute__((always_inline)) void uh_scales_512(const uh_matrix_view *view, const uint8_t *at,
                                                                          const uint8_t *wide, __m512 *scale,
                                                                          __m512 *offset) {
    switch (view->form) {
    case UH_HALF_PAIRS: *scale = uh_halves_512(at), *offset = uh_halves_512(at + 2 * UH_ROWS); return;
    case UH_SUPER:
        *scale = _mm512_mul_ps(uh_halves_512(wide), uh_bytes_512(at));
        *offset = _mm512_mul_ps(uh_halves_512(wide + 2 * UH_ROWS), uh_bytes_512(at + UH_ROWS));
        *offset = _mm512_xor_ps(*offset, _mm512_set1_ps(-0.0f));
        return;
    case UH_HALVES: *scale = uh_halves_512(at); break;
    default: {
        const __m256i bits = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)at));
        *scale = _mm512_cvtph_ps(_mm256_sll_epi16(bits, _mm_cvtsi32_si128(view->form == UH_SIGNED ? 8 : 7)));
    }
    }
    *offset = _mm512_mul_ps(*scale, _mm512_set1_ps(-view->zero));
}
