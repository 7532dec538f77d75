/* Scales and offsets of half the rows of a tile in registers of 256 bits. Define UH_TARGET before; needs immintrin.h. */
#include "scales.h"

UH_TARGET static inline __attribute__((always_inline)) __m256 uh_halves_256(const uint8_t *at) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at));
}

UH_TARGET static inline __attribute__((always_inline)) __m256 uh_bytes_256(const uint8_t *at) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at)));
}

/* What 256 columns share of half the rows: factors of scales and of offsets; only of UH_SUPER. */
typedef struct {
    __m256 scale, offset;
} uh_wide_256;

/* wide: uh_wide_at. */
UH_TARGET static inline __attribute__((always_inline)) uh_wide_256 uh_wide_of(const uh_matrix_view *view, const uint8_t *wide,
                                                                              int half) {
    if (view->form != UH_SUPER) return (uh_wide_256){_mm256_setzero_ps(), _mm256_setzero_ps()};
    const __m256 offset = uh_halves_256(wide + 2 * (UH_ROWS + half * 8));
    return (uh_wide_256){uh_halves_256(wide + 16 * half), _mm256_xor_ps(offset, _mm256_set1_ps(-0.0f))};
}

/* at: uh_scales_at; wide: of this half. */
UH_TARGET static inline __attribute__((always_inline)) void uh_scales_256(const uh_matrix_view *view, const uint8_t *at,
                                                                          uh_wide_256 wide, int half, __m256 *scale,
                                                                          __m256 *offset) {
    const int rows = half * 8;
    switch (view->form) {
    case UH_HALF_PAIRS:
        *scale = uh_halves_256(at + 2 * rows), *offset = uh_halves_256(at + 2 * (UH_ROWS + rows));
        return;
    case UH_SUPER:
        *scale = _mm256_mul_ps(wide.scale, uh_bytes_256(at + rows));
        *offset = _mm256_mul_ps(wide.offset, uh_bytes_256(at + UH_ROWS + rows));
        return;
    case UH_HALVES: *scale = uh_halves_256(at + 2 * rows); break;
    default: {
        const __m128i bits = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(at + rows)));
        *scale = _mm256_cvtph_ps(view->form == UH_SIGNED ? _mm_slli_epi16(bits, 8) : _mm_slli_epi16(bits, 7));
    }
    }
    *offset = _mm256_mul_ps(*scale, _mm256_set1_ps(-view->zero));
}
