/* Activations of 8 bits with AVX-VNNI: as with AVX-512 VNNI, the 16 rows of a tile in two registers of 8. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c,avxvnni")))
#include "dots_256.h"

INLINE void tile_dots(const uh_view *view, int32_t block, const uh_quantized *x, int kind, int n, float (*y)[UH_ROWS]) {
    const int64_t first = (int64_t)block * view->groups;
    const int32_t ahead = uh_ahead(kind), params_ahead = uh_params_ahead(kind, view->group);
    const uint8_t *params = view->params + first * UH_LINE;
    const uint8_t *p0 = view->codes[0] + first * view->group * 4;
    const uint8_t *p1 = kind > 1 ? view->codes[1] + first * view->group * 4 : p0;
    const uint8_t *p2 = kind > 2 ? view->codes[2] + first * view->group * 8 : p0;
    __m256 total[TOKENS][2];
    for (int t = 0; t < n; t++) total[t][0] = total[t][1] = _mm256_setzero_ps();
    int32_t column = 0;
    for (int32_t g = 0; g < view->groups; g++) {
        __m256i acc[TOKENS][2][4];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++)
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++) acc[t][0][s] = acc[t][1][s] = _mm256_setzero_si256();
        for (int32_t end = column + view->group; column < end; column += 16) {
            UH_FETCH(p0 + ahead);
            if (kind > 1) UH_FETCH(p1 + ahead);
            if (kind > 2) UH_FETCH(p2 + 2 * ahead), UH_FETCH(p2 + 2 * ahead + UH_LINE);
#pragma GCC unroll 2
            for (int half = 0; half < 2; half++) {
                const __m256i a = line(p0, half);
                __m256i c[4];
                if (kind == 1) {
                    c[0] = masked(a, 0x03), c[1] = masked(a, 0x0c), c[2] = masked(a, 0x30), c[3] = masked(a, 0xc0);
                } else {
                    const __m256i b = line(p1, half);
                    const __m256i even = chosen(0x33, b, _mm256_slli_epi32(a, 2));
                    const __m256i odd = chosen(0x33, _mm256_srli_epi32(b, 2), a);
                    if (kind == 2) {
                        c[0] = masked(even, 0x0f), c[1] = masked(odd, 0x0f);
                        c[2] = masked(even, 0xf0), c[3] = masked(odd, 0xf0);
                    } else {
                        const __m256i low = line(p2, half), high = line(p2 + UH_LINE, half);
                        c[0] = chosen(0x0f, low, _mm256_slli_epi32(even, 4));
                        c[1] = chosen(0x0f, _mm256_srli_epi32(low, 4), _mm256_slli_epi32(odd, 4));
                        c[2] = chosen(0x0f, high, even);
                        c[3] = chosen(0x0f, _mm256_srli_epi32(high, 4), odd);
                    }
                }
#pragma GCC unroll 2
                for (int t = 0; t < n; t++)
#pragma GCC unroll 4
                    for (int s = 0; s < 4; s++) {
                        /* at 4 and 8 bits two accumulators do: one for codes as they are, one for 16 times */
                        const int at = kind == 1 ? s : kind == 2 ? s / 2 : s % 2;
                        acc[t][half][at] =
                            _mm256_dpbusd_avx_epi32(acc[t][half][at], c[s], four(x[t].codes + column + 4 * s));
                    }
            }
            p0 += UH_LINE, p1 += UH_LINE, p2 += 2 * UH_LINE;
        }
        __m256i sum[TOKENS][2];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++)
#pragma GCC unroll 2
            for (int half = 0; half < 2; half++) {
                __m256i *s = acc[t][half];
                if (kind == 1) {
                    s[0] = _mm256_add_epi32(s[0], _mm256_srai_epi32(s[2], 4));
                    s[1] = _mm256_srai_epi32(_mm256_add_epi32(s[1], _mm256_srai_epi32(s[3], 4)), 2);
                }
                if (kind == 2) s[1] = _mm256_srai_epi32(s[1], 4);
                sum[t][half] = _mm256_add_epi32(s[0], s[1]);
            }
        add_group(params, x, g, n, sum, total);
        UH_FETCH(params + params_ahead);
        params += UH_LINE;
    }
    store_rows(view, n, total, y);
}

UH_DOTS(uh_dots_avxvnni)
#endif
