/* Activations of 8 bits with AVX2 alone: maddubs adds two products in 16 bits, which hold 8 of them at 4 bits each.
 *
 * Codes meet the activation in at most 4 bits (at 8 bits in two halves), so nothing ever saturates: two columns make at
 * most 2 * 15 * 127, and every 8 of them (32 columns, at 2 bits 64) are widened to 32 bits. Levels out of a table are met
 * whole where they are low, 16 columns at a time; those of 8 bits meet the two halves of the activation instead, which make
 * at most 2 * 255 * 8. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c")))
#include "dots_256.h"

INLINE __m256i upper(__m256i v) { return masked(_mm256_srli_epi32(v, 4), 0x0f); }

/* 16-bit sums of pairs to 32-bit sums of fours. */
INLINE __m256i widened(__m256i v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }

/* Kinds whose products are added in two halves. */
#define IN_HALVES(kind) (UH_HAS_FINE(kind) || (kind) == UH_WIDE_TABLED)

/* sum[t][h] += code * x of 16 columns, for `halves` halves of the rows from `first` on; of these sum[t][h][1] counts 16 times, at
 * 2 bits 4 times. */
INLINE void line_dots(const uint8_t *p0, const uint8_t *p1, const uint8_t *p2, __m256i table, const uh_quantized *x,
                      int32_t column, int kind, int n, int first, int halves, __m256i (*sum)[2][2]) {
    __m256i even[2], odd[2];
#pragma GCC unroll 2
    for (int h = 0; h < halves; h++) {
        even[h] = odd[h] = line(p0, first + h);
        if (UH_HAS_SECOND(kind)) exchange(line(p1, first + h), &even[h], &odd[h]);
    }
#pragma GCC unroll 4
    for (int s = 0; s < 4; s++) {
        __m256i columns[TOKENS], others[TOKENS];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) {
            const int32_t at = column + 4 * s;
            columns[t] = others[t] = four((kind == UH_WIDE_TABLED ? x[t].coarse : x[t].codes) + at);
            if (kind == UH_WIDE_TABLED) others[t] = four(x[t].fine + at);
        }
#pragma GCC unroll 2
        for (int h = 0; h < halves; h++) {
            const __m256i from = s % 2 ? odd[h] : even[h];
            const int to = kind == 1 ? s % 2 : IN_HALVES(kind);
            __m256i code;
            if (kind == 1) code = masked(s < 2 ? from : _mm256_srli_epi32(from, 4), s % 2 ? 0x0c : 0x03);
            else if (kind == UH_SIX) code = masked(_mm256_srli_epi32(from, 2 * s), 0x03);
            else code = s < 2 ? masked(from, 0x0f) : upper(from);
            if (UH_HAS_TABLE(kind)) code = _mm256_shuffle_epi8(table, code);
            __m256i fine = code;
            if (UH_HAS_FINE(kind)) fine = line(p2 + s / 2 * UH_LINE, first + h), fine = s % 2 ? upper(fine) : masked(fine, 0x0f);
#pragma GCC unroll 2
            for (int t = 0; t < n; t++) {
                sum[t][h][to] = _mm256_add_epi16(sum[t][h][to], _mm256_maddubs_epi16(code, columns[t]));
                if (IN_HALVES(kind))
                    sum[t][h][0] = _mm256_add_epi16(sum[t][h][0], _mm256_maddubs_epi16(fine, others[t]));
            }
        }
    }
}

/* What up to `together` columns add up to, in 32 bits. */
INLINE __m256i whole(const __m256i *sum, int kind) {
    if (kind == 1) return widened(_mm256_add_epi16(sum[0], _mm256_srai_epi16(sum[1], 2)));
    const __m256i low = widened(sum[0]);
    return IN_HALVES(kind) ? _mm256_add_epi32(low, _mm256_slli_epi32(widened(sum[1]), 4)) : low;
}

INLINE void tile_dots(const uh_view *any, int32_t block, const uh_quantized *x, int kind, int form, int group, int n,
                      float (*y)[UH_ROWS]) {
    const uh_view own = uh_known(any, kind, form, group), *view = &own;
    const int64_t first_tile = (int64_t)block * view->groups;
    const int32_t together = kind == 1 ? 64 : kind == UH_TABLED ? 16 : 32; /* columns added in 16 bits */
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
        __m256i acc[TOKENS][2];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) acc[t][0] = acc[t][1] = _mm256_setzero_si256();
        for (int32_t from = 0; from < group; from += together) {
            const int32_t width = group - from < together ? group - from : together;
            const int32_t column = g * group + from;
#pragma GCC unroll 2
            for (int first = 0; first < 2; first += halves) {
                __m256i sum[TOKENS][2][2];
#pragma GCC unroll 2
                for (int t = 0; t < n; t++)
                    for (int h = 0; h < 2; h++) sum[t][h][0] = sum[t][h][1] = _mm256_setzero_si256();
                for (int32_t c = 0; c < width; c += 16) {
                    const uint8_t *q0 = p0 + c * 4, *q1 = p1 + c * 4, *q2 = p2 + c * 8;
                    if (first == 0) {
                        UH_STREAM(q0 + ahead);
                        if (UH_HAS_SECOND(kind)) UH_STREAM(q1 + ahead);
                        if (UH_HAS_FINE(kind)) UH_STREAM(q2 + 2 * ahead), UH_STREAM(q2 + 2 * ahead + UH_LINE);
                    }
                    line_dots(q0, q1, q2, table, x, column + c, kind, n, first, halves, sum);
                }
#pragma GCC unroll 2
                for (int t = 0; t < n; t++)
#pragma GCC unroll 2
                    for (int h = 0; h < halves; h++)
                        acc[t][first + h] = _mm256_add_epi32(acc[t][first + h], whole(sum[t][h], kind));
            }
            p0 += width * 4, p1 += width * 4, p2 += width * 8;
        }
        add_group(view, params, uh_wide_at(view, block, g), x, g, n, acc, total);
        UH_STREAM(params + params_ahead);
        params += each;
    }
    store_rows(view, n, total, y);
}

UH_DOTS(uh_dots_avx2)
#endif
