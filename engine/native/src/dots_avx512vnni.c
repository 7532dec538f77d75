/* Activations of 8 bits with AVX-512 VNNI: one dpbusd multiplies 4 columns of 16 rows, codes as they stand in the line.
 *
 * A code that stands in the upper bits of its byte stays there: its products are whole multiples of 4, 16 or 64, which
 * an accumulator of their own adds up and one shift a group brings back. So there is one AND for each dpbusd and little
 * else: 8 instructions for the 64 bytes of a 2-bit line, 12 for the 128 of 4 bits, 16 for the 256 of 8 bits. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")))
#include <immintrin.h>
#include <stddef.h>

#include "scales_512.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

/* (a & mask) | (b & ~mask) */
INLINE __m512i chosen(int mask, __m512i a, __m512i b) {
    return _mm512_ternarylogic_epi32(_mm512_set1_epi8((char)mask), a, b, 0xCA);
}

INLINE __m512i masked(__m512i v, int mask) { return _mm512_and_si512(v, _mm512_set1_epi8((char)mask)); }

/* sum += the four products of each lane with four columns. As an instruction: around the intrinsic GCC 12 copies every sum
 * to and fro. */
INLINE void add_products(__m512i *sum, __m512i codes, const int8_t *columns) {
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(codes), "m"(*(const int8_t(*)[4])columns));
}

INLINE void tile_dots(const uh_matrix_view *any, int32_t block, const uh_quantized *x, int kind, int form, int group, int n,
                      float (*y)[UH_ROWS]) {
    const uh_matrix_view own = uh_known(any, kind, form, group), *view = &own;
    const int64_t first = (int64_t)block * view->groups;
    const uint8_t *params = uh_scales_at(view, block, 0);
    __m512i table = _mm512_setzero_si512();
    if (UH_HAS_TABLE(kind)) table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)view->table));
    const uint8_t *p0 = view->codes[0] + first * view->group * 4;
    const uint8_t *p1 = UH_HAS_SECOND(kind) ? view->codes[1] + first * view->group * 4 : NULL;
    const uint8_t *p2 = UH_HAS_FINE(kind) ? view->codes[2] + first * view->group * 8 : NULL;
    __m512 total[UH_MOST_TOKENS];
#pragma GCC unroll 4
    for (int t = 0; t < n; t++) total[t] = _mm512_setzero_ps();
    const int32_t each = uh_scales_bytes(view), ahead = uh_fetch_distance(kind);
    const int32_t params_ahead = uh_params_distance(kind, view->group, each);
    int32_t column = 0;
    for (int32_t g = 0; g < view->groups; g++) {
        __m512i acc[UH_MOST_TOKENS][4];
#pragma GCC unroll 4
        for (int t = 0; t < n; t++)
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++) acc[t][s] = _mm512_setzero_si512();
        for (int32_t end = column + view->group; column < end; column += 16, p0 += UH_LINE) {
            UH_STREAM(p0 + ahead);
            const __m512i a = _mm512_loadu_si512(p0);
            __m512i c[4]; /* the codes of columns 4 s + j; at 2 bits times 4^s, at 4 bits times 16 for s = 2, 3 */
            if (kind == 1) {
                c[0] = masked(a, 0x03), c[1] = masked(a, 0x0c), c[2] = masked(a, 0x30), c[3] = masked(a, 0xc0);
            } else if (kind == UH_SIX) {
                UH_STREAM(p2 + 2 * ahead), UH_STREAM(p2 + 2 * ahead + UH_LINE);
                const __m512i low = _mm512_loadu_si512(p2), high = _mm512_loadu_si512(p2 + UH_LINE);
                p2 += 2 * UH_LINE;
                c[0] = masked(chosen(0x0f, low, _mm512_slli_epi32(a, 4)), 0x3f);
                c[1] = masked(chosen(0x0f, _mm512_srli_epi32(low, 4), _mm512_slli_epi32(a, 2)), 0x3f);
                c[2] = masked(chosen(0x0f, high, a), 0x3f);
                c[3] = masked(chosen(0x0f, _mm512_srli_epi32(high, 4), _mm512_srli_epi32(a, 2)), 0x3f);
            } else {
                UH_STREAM(p1 + ahead);
                const __m512i b = _mm512_loadu_si512(p1);
                p1 += UH_LINE;
                const __m512i even = chosen(0x33, b, _mm512_slli_epi32(a, 2)); /* upper 4 bits of s = 0 and 2 */
                const __m512i odd = chosen(0x33, _mm512_srli_epi32(b, 2), a);  /* of s = 1 and 3 */
                if (UH_HAS_TABLE(kind)) {
                    c[0] = _mm512_shuffle_epi8(table, masked(even, 0x0f));
                    c[1] = _mm512_shuffle_epi8(table, masked(odd, 0x0f));
                    c[2] = _mm512_shuffle_epi8(table, masked(_mm512_srli_epi32(even, 4), 0x0f));
                    c[3] = _mm512_shuffle_epi8(table, masked(_mm512_srli_epi32(odd, 4), 0x0f));
                } else if (kind == 2) {
                    c[0] = masked(even, 0x0f), c[1] = masked(odd, 0x0f);
                    c[2] = masked(even, 0xf0), c[3] = masked(odd, 0xf0);
                } else {
                    UH_STREAM(p2 + 2 * ahead), UH_STREAM(p2 + 2 * ahead + UH_LINE);
                    const __m512i low = _mm512_loadu_si512(p2), high = _mm512_loadu_si512(p2 + UH_LINE);
                    p2 += 2 * UH_LINE;
                    c[0] = chosen(0x0f, low, _mm512_slli_epi32(even, 4));
                    c[1] = chosen(0x0f, _mm512_srli_epi32(low, 4), _mm512_slli_epi32(odd, 4));
                    c[2] = chosen(0x0f, high, even);
                    c[3] = chosen(0x0f, _mm512_srli_epi32(high, 4), odd);
                }
            }
#pragma GCC unroll 4
            for (int t = 0; t < n; t++)
#pragma GCC unroll 4
                for (int s = 0; s < 4; s++)
                    add_products(&acc[t][s], c[s], x[t].codes + column + 4 * s);
        }
        __m512 scale, offset;
        uh_scales_512(view, params, uh_wide_at(view, block, g), &scale, &offset);
        UH_STREAM(params + params_ahead);
        params += each;
#pragma GCC unroll 4
        for (int t = 0; t < n; t++) {
            __m512i *s = acc[t];
            if (kind == 1)
                s[1] = _mm512_srai_epi32(s[1], 2), s[2] = _mm512_srai_epi32(s[2], 4), s[3] = _mm512_srai_epi32(s[3], 6);
            __m512i rest = _mm512_add_epi32(s[2], s[3]);
            if (kind == 2) rest = _mm512_srai_epi32(rest, 4);
            const __m512 sum = _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_add_epi32(s[0], s[1]), rest));
            total[t] = _mm512_fmadd_ps(sum, _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scales[g])), total[t]);
            total[t] = _mm512_fmadd_ps(offset, _mm512_set1_ps(x[t].sums[g]), total[t]);
        }
    }
#pragma GCC unroll 4
    for (int t = 0; t < n; t++) _mm512_storeu_ps(y[t], _mm512_mul_ps(total[t], _mm512_set1_ps(view->unit)));
}

/* One body for each coding and count of tokens, so that accumulators live in registers; for one token of each group that
 * sources of 4 bits have, too. */
#define BODY(kind, form, group, n) \
    case 4 * UH_CODING(kind, form) + n - 1: tile_dots(view, block, x, kind, form, group, n, y); break;
#define ONE(kind, form, group) BODY(kind, form, group, 1)
#define SOME(kind, form, group) ONE(kind, form, group) BODY(kind, form, group, 2) BODY(kind, form, group, 3) BODY(kind, form, group, 4)

UH_TARGET void uh_dots_avx512vnni(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n,
                                  float (*y)[UH_ROWS]) {
    const int body = 4 * UH_CODING(view->kind, view->form) + n - 1;
    if (n == 1 && view->group == 16) {
        switch (body) { UH_CODINGS(ONE, 16) }
    } else if (n == 1 && view->group == 32) {
        switch (body) { UH_CODINGS(ONE, 32) }
    } else {
        switch (body) { UH_CODINGS(SOME, view->group) }
    }
}
#endif
