/* Activations of 8 bits with AVX-VNNI: as with AVX-512 VNNI, the 16 rows of a tile in two registers of 8.
 *
 * Codes of 8 bits are met in two halves of 4: one more product for each four columns takes less than what it would take to
 * put the halves together. One token meets both halves of the rows at once, so that its columns are read once. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c,avxvnni")))
#include "dots_256.h"

/* sum += the four products of each lane. As an instruction: around the intrinsic GCC 12 copies every sum to and fro. */
INLINE void add_products(__m256i *sum, __m256i codes, __m256i x) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(*sum) : "x"(codes), "x"(x));
}

/* acc[t][h] += code * x of 16 columns, for `halves` halves of the rows from `first` on. Of the sums, at 2 bits acc[s] counts
 * 4^s times; at 4 bits acc[1] counts 16 times; at 6 and 8 bits acc[1] counts 16 times, and acc[2] a 16th of one; out of a
 * table acc[0] and acc[1] count once. */
INLINE void line_dots(const uint8_t *p0, const uint8_t *p1, const uint8_t *p2, __m256i table, const uh_quantized *x,
                      int32_t column, int kind, int n, int first, int halves, __m256i (*acc)[2][4]) {
    __m256i even[2], odd[2];
#pragma GCC unroll 2
    for (int h = 0; h < halves; h++) {
        even[h] = odd[h] = line(p0, first + h);
        if (UH_HAS_SECOND(kind)) exchange(line(p1, first + h), &even[h], &odd[h]);
    }
#pragma GCC unroll 4
    for (int s = 0; s < 4; s++) {
        __m256i columns[TOKENS];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) columns[t] = four(x[t].codes + column + 4 * s);
#pragma GCC unroll 2
        for (int h = 0; h < halves; h++) {
            const __m256i from = s % 2 ? odd[h] : even[h];
            __m256i code = masked(from, kind == 1 ? 0x03 << 2 * s : s < 2 ? 0x0f : 0xf0);
            int at = kind == 1 ? s : kind == 2 ? s / 2 : s < 2 ? 2 : 0;
            if (UH_HAS_TABLE(kind)) {
                code = _mm256_shuffle_epi8(table, masked(s < 2 ? from : _mm256_srli_epi32(from, 4), 0x0f));
                at = s / 2;
            } else if (kind == UH_SIX) {
                code = masked(_mm256_srli_epi32(from, 2 * s), 0x03), at = 2;
            }
#pragma GCC unroll 2
            for (int t = 0; t < n; t++) add_products(&acc[t][h][at], code, columns[t]);
            if (!UH_HAS_FINE(kind)) continue;
            const __m256i fine = masked(line(p2 + s / 2 * UH_LINE, first + h), s % 2 ? 0xf0 : 0x0f);
#pragma GCC unroll 2
            for (int t = 0; t < n; t++) add_products(&acc[t][h][s % 2], fine, columns[t]);
        }
    }
}

/* What one group adds up to. */
INLINE __m256i whole(const __m256i *acc, int kind) {
    if (kind == 1) {
        const __m256i upper = _mm256_add_epi32(acc[2], _mm256_srai_epi32(acc[3], 2));
        const __m256i rest = _mm256_add_epi32(acc[1], _mm256_srai_epi32(upper, 2));
        return _mm256_add_epi32(acc[0], _mm256_srai_epi32(rest, 2));
    }
    if (UH_HAS_TABLE(kind)) return _mm256_add_epi32(acc[0], acc[1]);
    const __m256i sum = _mm256_add_epi32(acc[0], _mm256_srai_epi32(acc[1], 4));
    return kind == 2 ? sum : _mm256_add_epi32(sum, _mm256_slli_epi32(acc[2], 4));
}

INLINE void tile_dots(const uh_view *any, int32_t block, const uh_quantized *x, int kind, int form, int group, int n,
                      float (*y)[UH_ROWS]) {
    const uh_view own = uh_known(any, kind, form, group), *view = &own;
    const int64_t first_tile = (int64_t)block * view->groups;
    const int32_t each = uh_scales_bytes(view);
    const int32_t ahead = further_ahead(kind), params_ahead = 2 * uh_params_ahead(kind, group, each);
    const __m256i table = UH_HAS_TABLE(kind) ? table_of(view) : _mm256_setzero_si256();
    const int halves = n == 1 ? 2 : 1; /* at once: their sums fit in registers */
    const uint8_t *params = uh_scales_at(view, block, 0);
    const uint8_t *p0 = view->codes[0] + first_tile * group * 4;
    const uint8_t *p1 = UH_HAS_SECOND(kind) ? view->codes[1] + first_tile * group * 4 : p0;
    const uint8_t *p2 = UH_HAS_FINE(kind) ? view->codes[2] + first_tile * group * 8 : p0;
    __m256 total[TOKENS][2];
#pragma GCC unroll 2
    for (int t = 0; t < n; t++) total[t][0] = total[t][1] = _mm256_setzero_ps();
    for (int32_t g = 0; g < view->groups; g++) {
        __m256i sum[TOKENS][2];
#pragma GCC unroll 2
        for (int first = 0; first < 2; first += halves) {
            __m256i acc[TOKENS][2][4];
#pragma GCC unroll 2
            for (int t = 0; t < n; t++)
#pragma GCC unroll 4
                for (int s = 0; s < 4; s++) acc[t][0][s] = acc[t][1][s] = _mm256_setzero_si256();
            for (int32_t c = 0; c < group; c += 16) {
                const uint8_t *q0 = p0 + c * 4, *q1 = p1 + c * 4, *q2 = p2 + c * 8;
                if (first == 0) {
                    UH_STREAM(q0 + ahead);
                    if (UH_HAS_SECOND(kind)) UH_STREAM(q1 + ahead);
                    if (UH_HAS_FINE(kind)) UH_STREAM(q2 + 2 * ahead), UH_STREAM(q2 + 2 * ahead + UH_LINE);
                }
                line_dots(q0, q1, q2, table, x, g * group + c, kind, n, first, halves, acc);
            }
#pragma GCC unroll 2
            for (int t = 0; t < n; t++)
#pragma GCC unroll 2
                for (int h = 0; h < halves; h++) sum[t][first + h] = whole(acc[t][h], kind);
        }
        p0 += group * 4, p1 += group * 4, p2 += group * 8;
        add_group(view, params, uh_wide_at(view, block, g), x, g, n, sum, total);
        UH_STREAM(params + params_ahead);
        params += each;
    }
    store_rows(view, n, total, y);
}

UH_DOTS(uh_dots_avxvnni)
#endif
