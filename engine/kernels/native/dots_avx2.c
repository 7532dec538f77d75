/* Activations of 8 bits with AVX2 alone: maddubs adds two products in 16 bits, which hold 8 of them at 4 bits each.
 *
 * Codes meet the activation in at most 4 bits (at 8 bits in two halves), so nothing ever saturates: two columns make at
 * most 2 * 15 * 127, and every 8 of them (32 columns, at 2 bits 64) are widened to 32 bits. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c")))
#include "dots_256.h"

INLINE __m256i upper(__m256i v) { return masked(_mm256_srli_epi32(v, 4), 0x0f); }

/* 16-bit sums of pairs to 32-bit sums of fours. */
INLINE __m256i widened(__m256i v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }

/* sum += code * x of 16 columns, for one half of the rows; wide[t][1] counts 16 times, at 8 bits. */
INLINE void line_dots(__m256i a, __m256i b, __m256i low, __m256i high, const uh_quantized *x, int32_t column, int kind,
                      int n, __m256i (*sum)[2]) {
    __m256i c[4], fine[4];
    if (kind == 1) { /* c[1] and c[3] four times */
        const __m256i right = _mm256_srli_epi32(a, 4);
        c[0] = masked(a, 0x03), c[1] = masked(a, 0x0c), c[2] = masked(right, 0x03), c[3] = masked(right, 0x0c);
    } else {
        const __m256i even = chosen(0x33, b, _mm256_slli_epi32(a, 2)), odd = chosen(0x33, _mm256_srli_epi32(b, 2), a);
        c[0] = masked(even, 0x0f), c[1] = masked(odd, 0x0f), c[2] = upper(even), c[3] = upper(odd);
    }
    if (kind == 3) fine[0] = masked(low, 0x0f), fine[1] = upper(low), fine[2] = masked(high, 0x0f), fine[3] = upper(high);
#pragma GCC unroll 2
    for (int t = 0; t < n; t++)
#pragma GCC unroll 4
        for (int s = 0; s < 4; s++) {
            const __m256i columns = four(x[t].codes + column + 4 * s);
            const int at = kind == 2 ? 0 : kind == 3 ? 1 : s % 2;
            sum[t][at] = _mm256_add_epi16(sum[t][at], _mm256_maddubs_epi16(c[s], columns));
            if (kind == 3) sum[t][0] = _mm256_add_epi16(sum[t][0], _mm256_maddubs_epi16(fine[s], columns));
        }
}

INLINE void tile_dots(const uh_view *view, int32_t block, const uh_quantized *x, int kind, int n, float (*y)[UH_ROWS]) {
    const int64_t first = (int64_t)block * view->groups;
    const int32_t together = kind == 1 ? 64 : 32; /* columns added in 16 bits */
    const int32_t ahead = further_ahead(kind), params_ahead = 2 * uh_params_ahead(kind, view->group);
    const uint8_t *params = view->params + first * UH_LINE;
    const uint8_t *p0 = view->codes[0] + first * view->group * 4;
    const uint8_t *p1 = kind > 1 ? view->codes[1] + first * view->group * 4 : p0;
    const uint8_t *p2 = kind > 2 ? view->codes[2] + first * view->group * 8 : p0;
    __m256 total[TOKENS][2];
    for (int t = 0; t < n; t++) total[t][0] = total[t][1] = _mm256_setzero_ps();
    for (int32_t g = 0; g < view->groups; g++) {
        __m256i acc[TOKENS][2];
        for (int t = 0; t < n; t++) acc[t][0] = acc[t][1] = _mm256_setzero_si256();
        for (int32_t from = 0; from < view->group; from += together) {
            const int32_t width = view->group - from < together ? view->group - from : together;
            const int32_t column = g * view->group + from;
#pragma GCC unroll 2
            for (int half = 0; half < 2; half++) {
                __m256i sum[TOKENS][2];
                for (int t = 0; t < n; t++) sum[t][0] = sum[t][1] = _mm256_setzero_si256();
                for (int32_t c = 0; c < width; c += 16) {
                    const uint8_t *q0 = p0 + c * 4, *q1 = p1 + c * 4, *q2 = p2 + c * 8;
                    if (half == 0) {
                        UH_STREAM(q0 + ahead);
                        if (kind > 1) UH_STREAM(q1 + ahead);
                        if (kind > 2) UH_STREAM(q2 + 2 * ahead), UH_STREAM(q2 + 2 * ahead + UH_LINE);
                    }
                    const __m256i a = line(q0, half), b = kind > 1 ? line(q1, half) : a;
                    const __m256i low = kind > 2 ? line(q2, half) : a, high = kind > 2 ? line(q2 + UH_LINE, half) : a;
                    line_dots(a, b, low, high, x, column + c, kind, n, sum);
                }
#pragma GCC unroll 2
                for (int t = 0; t < n; t++) {
                    if (kind == 1) sum[t][0] = _mm256_add_epi16(sum[t][0], _mm256_srai_epi16(sum[t][1], 2));
                    acc[t][half] = _mm256_add_epi32(acc[t][half], widened(sum[t][0]));
                    if (kind == 3)
                        acc[t][half] = _mm256_add_epi32(acc[t][half], _mm256_slli_epi32(widened(sum[t][1]), 4));
                }
            }
            p0 += width * 4, p1 += width * 4, p2 += width * 8;
        }
        add_group(params, x, g, n, acc, total);
        UH_STREAM(params + params_ahead);
        params += UH_LINE;
    }
    store_rows(view, n, total, y);
}

UH_DOTS(uh_dots_avx2)
#endif
