/* Activations of 8 bits with AVX-VNNI: as with AVX-512 VNNI, the 16 rows of a tile in two registers of 8.
 *
 * Codes of 8 bits are met in two halves of 4: one more product for each four columns takes less than what it would take to
 * put the halves together. One token meets both halves of the rows at once, so that its columns are read once. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c,avxvnni")))
#define MIDDLE(kind) 0
/* Found by trying on Zen 5 beside other programs, where it brought a fifth at 8 bits and little at 4 and 2. */
#define FURTHER(kind) 2
#include "dots_256.h"

/* sum += the four products of each lane. As an instruction: around the intrinsic GCC 12 copies every sum to and fro. */
INLINE void add_products(__m256i *sum, __m256i codes, __m256i x) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(*sum) : "x"(codes), "x"(x));
}

/* acc[t][h] += code * x of 16 columns, for `halves` halves of the rows from `first` on. Of the sums, at 2 bits acc[s] counts
 * 4^s times; at 4 bits acc[1] counts 16 times; at 6 and 8 bits acc[1] counts 16 times, and acc[2] a 16th of one; out of a
 * table acc[0] and acc[1] count once. */
INLINE void line_dots(const cursor *at, __m256i table, const uh_quantized *x, int32_t column, int kind, int n, int first,
                      int halves, __m256i (*acc)[2][4]) {
    __m256i even[2], odd[2];
    read_pairs(at, kind, first, halves, even, odd);
#pragma GCC unroll 4
    for (int s = 0; s < 4; s++) {
        __m256i columns[TOKENS];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) columns[t] = four(x[t].codes + column + 4 * s);
#pragma GCC unroll 2
        for (int h = 0; h < halves; h++) {
            const __m256i from = s % 2 ? odd[h] : even[h];
            __m256i code = masked(from, kind == 1 ? 0x03 << 2 * s : s < 2 ? 0x0f : 0xf0);
            int to = kind == 1 ? s : kind == 2 ? s / 2 : s < 2 ? 2 : 0;
            if (UH_HAS_TABLE(kind)) {
                code = _mm256_shuffle_epi8(table, masked(s < 2 ? from : _mm256_srli_epi32(from, 4), 0x0f));
                to = s / 2;
            } else if (kind == UH_SIX) {
                code = masked(_mm256_srli_epi32(from, 2 * s), 0x03), to = 2;
            }
#pragma GCC unroll 2
            for (int t = 0; t < n; t++) add_products(&acc[t][h][to], code, columns[t]);
            if (!UH_HAS_FINE(kind)) continue;
            const __m256i fine = masked(line(at->p2 + s / 2 * UH_LINE, first + h), s % 2 ? 0xf0 : 0x0f);
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

INLINE void group_dots(cursor *at, __m256i table, const uh_quantized *x, int32_t g, int kind, int group, int n, int halves,
                       __m256i (*sum)[2]) {
    cursor next = *at;
#pragma GCC unroll 2
    for (int first = 0; first < 2; first += halves) {
        __m256i acc[TOKENS][2][4];
        next = *at;
#pragma GCC unroll 2
        for (int t = 0; t < n; t++)
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++) acc[t][0][s] = acc[t][1][s] = _mm256_setzero_si256();
        for (int32_t c = 0; c < group; c += 16) {
            if (first == 0) fetch(&next, kind);
            line_dots(&next, table, x, g * group + c, kind, n, first, halves, acc);
            advance(&next, 16);
        }
#pragma GCC unroll 2
        for (int t = 0; t < n; t++)
#pragma GCC unroll 2
            for (int h = 0; h < halves; h++) sum[t][first + h] = whole(acc[t][h], kind);
    }
    *at = next;
}

UH_DOTS(uh_dots_avxvnni)
#endif
