/* What the products with activations of 8 bits have in common in registers of 256 bits: the 16 rows of a tile in two halves
 * of 8. Define UH_TARGET before, and tile_dots before UH_DOTS. */
#include <immintrin.h>
#include <string.h>

#include "rows.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

enum { TOKENS = 2, HALF = 8, HALF_LINE = 32 };

/* Bytes to fetch ahead: further than with AVX-512 VNNI, found by trying on Zen 5 beside other programs, where it brought a
 * fifth at 8 bits and little at 4 and 2. */
static inline int32_t further_ahead(int kind) { return 2 * uh_ahead(kind); }

INLINE __m256i masked(__m256i v, int mask) { return _mm256_and_si256(v, _mm256_set1_epi8((char)mask)); }

/* (a & mask) | (b & ~mask) */
INLINE __m256i chosen(int mask, __m256i a, __m256i b) {
    return _mm256_xor_si256(b, _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_set1_epi8((char)mask)));
}

INLINE __m256i line(const uint8_t *from, int half) { return _mm256_loadu_si256((const __m256i *)(from + half * HALF_LINE)); }

INLINE __m256i four(const int8_t *codes) {
    int32_t columns;
    memcpy(&columns, codes, 4);
    return _mm256_set1_epi32(columns);
}

/* total += scale of w * scale of x * sum + offset * sum of x, for group g of n tokens; sum: whole numbers. */
INLINE void add_group(const uint8_t *params, const uh_quantized *x, int32_t g, int n, __m256i (*sum)[2],
                      __m256 (*total)[2]) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        const uint8_t *at = params + half * 2 * HALF;
        const __m256 scale = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at));
        const __m256 offset = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at + 2 * UH_ROWS)));
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) {
            const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(x[t].scales[g]));
            total[t][half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[t][half]), both, total[t][half]);
            total[t][half] = _mm256_fmadd_ps(offset, _mm256_set1_ps(x[t].sums[g]), total[t][half]);
        }
    }
}

INLINE void store_rows(const uh_view *view, int n, __m256 (*total)[2], float (*y)[UH_ROWS]) {
    for (int t = 0; t < n; t++)
        for (int half = 0; half < 2; half++)
            _mm256_storeu_ps(y[t] + half * HALF, _mm256_mul_ps(total[t][half], _mm256_set1_ps(view->unit)));
}

#define BODY(kind, n) \
    case 2 * kind + n: tile_dots(view, block, x, kind, n, y); break;

/* The `dots` of an instruction set: one body for each kind and count of tokens. */
#define UH_DOTS(name)                                                                                                   \
    UH_TARGET static void few(const uh_view *view, int32_t block, const uh_quantized *x, int32_t n,                     \
                              float (*y)[UH_ROWS]) {                                                                    \
        switch (2 * view->kind + n) { BODY(1, 1) BODY(1, 2) BODY(2, 1) BODY(2, 2) BODY(3, 1) BODY(3, 2) }               \
    }                                                                                                                   \
    void name(const uh_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]) {              \
        for (int32_t t = 0; t < n; t += TOKENS) few(view, block, x + t, n - t < TOKENS ? 1 : TOKENS, y + t);            \
    }
