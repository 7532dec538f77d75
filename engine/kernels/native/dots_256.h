/* What the products with activations of 8 bits have in common in registers of 256 bits: the 16 rows of a tile in two halves
 * of 8. Define UH_TARGET before, and tile_dots before UH_DOTS. */
#include <immintrin.h>
#include <string.h>

#include "scales_256.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

enum { TOKENS = 2, HALF = 8, HALF_LINE = 32 };

/* Bytes to fetch ahead: further than with AVX-512 VNNI, found by trying on Zen 5 beside other programs, where it brought a
 * fifth at 8 bits and little at 4 and 2. */
static inline int32_t further_ahead(int kind) { return 2 * uh_ahead(kind); }

INLINE __m256i masked(__m256i v, int mask) { return _mm256_and_si256(v, _mm256_set1_epi8((char)mask)); }

/* The lines of upper and of lower two bits to codes of 4 bits, two in a byte. even: the upper ones, and then those of columns
 * 4 s + j for s = 0, 2; odd: then those for s = 1, 3. */
INLINE void exchange(__m256i lower, __m256i *even, __m256i *odd) {
    const __m256i differ = masked(_mm256_xor_si256(_mm256_srli_epi32(lower, 2), *even), 0x33);
    *odd = _mm256_xor_si256(*even, differ);
    *even = _mm256_xor_si256(lower, _mm256_slli_epi32(differ, 2));
}

INLINE __m256i line(const uint8_t *from, int half) { return _mm256_loadu_si256((const __m256i *)(from + half * HALF_LINE)); }

INLINE __m256i four(const int8_t *codes) {
    int32_t columns;
    memcpy(&columns, codes, 4);
    return _mm256_set1_epi32(columns);
}

/* total += scale of w * scale of x * sum + offset * sum of x, for group g of n tokens; sum: whole numbers. */
INLINE void add_group(const uh_view *view, const uint8_t *params, const uint8_t *wide, const uh_quantized *x, int32_t g,
                      int n, __m256i (*sum)[2], __m256 (*total)[2]) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        __m256 scale, offset;
        uh_scales_256(view, params, wide, half, &scale, &offset);
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

/* The table of a view, twice: for each half of a register. */
INLINE __m256i table_of(const uh_view *view) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)view->table));
}

/* The `dots` of an instruction set: one body for each coding and count of tokens; for one token of each group that sources
 * of 4 bits have, too. */
#define BODY(kind, form, group, n) \
    case 2 * UH_CODING(kind, form) + n - 1: tile_dots(view, block, x, kind, form, group, n, y); break;
#define ONE(kind, form, group) BODY(kind, form, group, 1)
#define SOME(kind, form, group) ONE(kind, form, group) BODY(kind, form, group, 2)
#define UH_DOTS(name)                                                                                                   \
    UH_TARGET static void few(const uh_view *view, int32_t block, const uh_quantized *x, int32_t n,                     \
                              float (*y)[UH_ROWS]) {                                                                    \
        const int body = 2 * UH_CODING(view->kind, view->form) + n - 1;                                                 \
        if (n == 1 && view->group == 16) {                                                                              \
            switch (body) { UH_CODINGS(ONE, 16) }                                                                       \
        } else if (n == 1 && view->group == 32) {                                                                       \
            switch (body) { UH_CODINGS(ONE, 32) }                                                                       \
        } else {                                                                                                        \
            switch (body) { UH_CODINGS(SOME, view->group) }                                                             \
        }                                                                                                               \
    }                                                                                                                   \
    void name(const uh_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]) {              \
        for (int32_t t = 0; t < n; t += TOKENS) few(view, block, x + t, n - t < TOKENS ? 1 : TOKENS, y + t);            \
    }
