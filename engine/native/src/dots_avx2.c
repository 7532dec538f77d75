/* Activations of 8 bits with AVX2 alone: maddubs adds two products in 16 bits, which hold 8 of them at 4 bits each.
 *
 * Codes meet the activation in at most 4 bits (at 8 bits in two halves), so nothing ever saturates: two columns make at
 * most 2 * 15 * 127, and every 8 of them (32 columns, at 2 bits 64) are widened to 32 bits. Low levels out of a table are
 * met whole, 16 columns at a time. Levels of 8 bits are moved to -127 .. 127 and get the signs of the activations, which are
 * met without their own: two columns make at most 2 * 127 * 127, and are widened at once. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c")))
#define MIDDLE(kind) UH_MIDDLE(kind)
/* Found by trying: on Zen 5 twice as far brought a fifth at 8 bits and little at fewer, where it cost 2 to 4 % on Zen 4. */
#define FURTHER(kind) ((kind) == 3 ? 2 : 1)
#include "dots_256.h"

INLINE __m256i upper(__m256i v) { return masked(_mm256_srli_epi32(v, 4), 0x0f); }

/* 16-bit sums of pairs to 32-bit sums of fours. */
INLINE __m256i widened(__m256i v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }

/* sum += products of two columns each, in 16 bits. The sum stays what it is here: GCC 12 would add all products of a group
 * in the end, with more of them alive than there are registers. */
INLINE void add_products(__m256i *sum, __m256i codes, __m256i x) {
    *sum = _mm256_add_epi16(*sum, _mm256_maddubs_epi16(codes, x));
    __asm__("" : "+x"(*sum));
}

/* sum += products of four columns each, in 32 bits, with levels that have a sign; size: x without its own. */
INLINE void add_signed(__m256i *sum, __m256i levels, __m256i x, __m256i size) {
    *sum = _mm256_add_epi32(*sum, widened(_mm256_maddubs_epi16(size, _mm256_sign_epi8(levels, x))));
    __asm__("" : "+x"(*sum));
}

/* sum[t][h] += code * x of 16 columns, for `halves` halves of the rows from `first` on; of these sum[t][h][1] counts 16 times, at
 * 2 bits 4 times. */
INLINE void line_dots(const cursor *at, __m256i table, const uh_quantized *x, int32_t column, int kind, int n, int first,
                      int halves, __m256i (*sum)[2][2]) {
    __m256i even[2], odd[2];
    read_pairs(at, kind, first, halves, even, odd);
#pragma GCC unroll 4
    for (int s = 0; s < 4; s++) {
        __m256i columns[TOKENS], sizes[TOKENS];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) {
            columns[t] = four(x[t].codes + column + 4 * s);
            if (kind == UH_WIDE_TABLED) sizes[t] = four(x[t].sizes + column + 4 * s);
        }
#pragma GCC unroll 2
        for (int h = 0; h < halves; h++) {
            const __m256i from = s % 2 ? odd[h] : even[h];
            const int to = kind == 1 ? s % 2 : UH_HAS_FINE(kind);
            __m256i code;
            if (kind == 1) code = masked(s < 2 ? from : _mm256_srli_epi32(from, 4), s % 2 ? 0x0c : 0x03);
            else if (kind == UH_SIX) code = masked(_mm256_srli_epi32(from, 2 * s), 0x03);
            else code = s < 2 ? masked(from, 0x0f) : upper(from);
            if (UH_HAS_TABLE(kind)) code = _mm256_shuffle_epi8(table, code);
            __m256i fine = code;
            if (UH_HAS_FINE(kind))
                fine = line(at->p2 + s / 2 * UH_LINE, first + h), fine = s % 2 ? upper(fine) : masked(fine, 0x0f);
#pragma GCC unroll 2
            for (int t = 0; t < n; t++) {
                if (kind == UH_WIDE_TABLED) add_signed(&sum[t][h][0], code, columns[t], sizes[t]);
                else add_products(&sum[t][h][to], code, columns[t]);
                if (UH_HAS_FINE(kind)) add_products(&sum[t][h][0], fine, columns[t]);
            }
        }
    }
}

/* What the columns met together add up to, in 32 bits. */
INLINE __m256i whole(const __m256i *sum, int kind) {
    if (kind == UH_WIDE_TABLED) return sum[0];
    if (kind == 1) return widened(_mm256_add_epi16(sum[0], _mm256_srai_epi16(sum[1], 2)));
    const __m256i low = widened(sum[0]);
    return UH_HAS_FINE(kind) ? _mm256_add_epi32(low, _mm256_slli_epi32(widened(sum[1]), 4)) : low;
}

INLINE void group_dots(cursor *at, __m256i table, const uh_quantized *x, int32_t g, int kind, int group, int n, int halves,
                       __m256i (*acc)[2]) {
    const int32_t together = kind == UH_WIDE_TABLED ? group : kind == 1 ? 64 : kind == UH_TABLED ? 16 : 32;
#pragma GCC unroll 2
    for (int t = 0; t < n; t++) acc[t][0] = acc[t][1] = _mm256_setzero_si256();
    for (int32_t from = 0; from < group; from += together) {
        const int32_t width = group - from < together ? group - from : together;
        cursor next = *at;
#pragma GCC unroll 2
        for (int first = 0; first < 2; first += halves) {
            __m256i sum[TOKENS][2][2];
            next = *at;
#pragma GCC unroll 2
            for (int t = 0; t < n; t++)
                for (int h = 0; h < 2; h++) sum[t][h][0] = sum[t][h][1] = _mm256_setzero_si256();
            for (int32_t c = 0; c < width; c += 16) {
                if (first == 0) fetch(&next, kind);
                line_dots(&next, table, x, g * group + from + c, kind, n, first, halves, sum);
                advance(&next, 16);
            }
#pragma GCC unroll 2
            for (int t = 0; t < n; t++)
#pragma GCC unroll 2
                for (int h = 0; h < halves; h++)
                    acc[t][first + h] = _mm256_add_epi32(acc[t][first + h], whole(sum[t][h], kind));
        }
        *at = next;
    }
}

UH_DOTS(uh_dots_avx2)
#endif
