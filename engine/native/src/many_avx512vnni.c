/* Activations of 8 bits on many tokens with AVX-512 VNNI: a tile is unpacked once and then met by all tokens.
 * Two row blocks go together, so that one broadcast of four activations serves two products. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")))
#include <immintrin.h>
#include <string.h>

#include "many.h"
#include "scales_512.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

enum { COUNTS = 8 /* tokens: with two row blocks 16 sums, twice what it takes to hide their latency */ };

INLINE __m512i moved(__m512i v, int left) { return left >= 0 ? _mm512_slli_epi32(v, left) : _mm512_srli_epi32(v, -left); }

/* (a & mask) | (b & ~mask) */
INLINE __m512i chosen(int mask, __m512i a, __m512i b) {
    return _mm512_ternarylogic_epi32(_mm512_set1_epi8((char)mask), a, b, 0xCA);
}

INLINE __m512i kept(int mask, __m512i v) { return _mm512_and_si512(v, _mm512_set1_epi8((char)mask)); }

/* sum += the four products of each lane. As an instruction: around the intrinsic GCC 12 copies every sum to and fro. */
INLINE void add_products(__m512i *sum, __m512i codes, __m512i x) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(codes), "v"(x));
}

/* The codes of one tile, a byte each: line s of `to` holds the columns 4 s .. 4 s + 3 of its 16 rows. Fetches `next`. */
INLINE void unpack(const uh_matrix_view *view, int64_t tile, int64_t next, int kind, uint8_t *to) {
    const int64_t size = (int64_t)view->group * 4, ahead = (next - tile) * size;
    const uint8_t *p0 = view->codes[0] + tile * size;
    const uint8_t *p1 = UH_HAS_SECOND(kind) ? view->codes[1] + tile * size : NULL;
    const uint8_t *p2 = UH_HAS_FINE(kind) ? view->codes[2] + tile * size * 2 : NULL;
    __m512i table = _mm512_setzero_si512();
    if (UH_HAS_TABLE(kind)) table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)view->table));
    for (int32_t c = 0; c < view->group; c += 16, p0 += UH_LINE) {
        UH_FETCH(p0 + ahead);
        if (UH_HAS_SECOND(kind)) UH_FETCH(p1 + ahead);
        if (UH_HAS_FINE(kind)) UH_FETCH(p2 + 2 * ahead), UH_FETCH(p2 + 2 * ahead + UH_LINE);
        const __m512i a = _mm512_loadu_si512(p0);
        __m512i b = a, low[2] = {a, a};
        if (UH_HAS_SECOND(kind)) b = _mm512_loadu_si512(p1), p1 += UH_LINE;
        if (UH_HAS_FINE(kind)) {
            low[0] = _mm512_loadu_si512(p2), low[1] = _mm512_loadu_si512(p2 + UH_LINE);
            p2 += 2 * UH_LINE;
        }
#pragma GCC unroll 4
        for (int s = 0; s < 4; s++, to += UH_LINE) {
            __m512i v;
            if (kind == 1) {
                v = kept(0x03, moved(a, -2 * s));
            } else if (!UH_HAS_FINE(kind)) {
                v = kept(0x0f, chosen(0x0c, moved(a, 2 - 2 * s), moved(b, -2 * s)));
                if (UH_HAS_TABLE(kind)) v = _mm512_shuffle_epi8(table, v);
            } else if (kind == UH_SIX) {
                v = kept(0x3f, chosen(0x30, moved(a, 4 - 2 * s), moved(low[s / 2], s % 2 ? -4 : 0)));
            } else {
                v = chosen(0x30, moved(b, 4 - 2 * s), kept(0x0f, moved(low[s / 2], s % 2 ? -4 : 0)));
                v = chosen(0xc0, moved(a, 6 - 2 * s), v);
            }
            _mm512_storeu_si512(to, v);
        }
    }
}

/* totals[t][b] += one group of tiles times x[t], for t < n and b < blocks. */
INLINE void group_on(const uint8_t *codes, const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t g, int blocks,
                     int n, float (*totals)[UH_PAIR * UH_ROWS]) {
    const int32_t group = view->group;
    const uint8_t *second = codes + group * UH_ROWS;
    const int8_t *from[COUNTS];
    __m512i sums[COUNTS][UH_PAIR];
#pragma GCC unroll 8
    for (int t = 0; t < n; t++) {
        from[t] = x[t].codes + (int64_t)g * group;
        sums[t][0] = sums[t][1] = _mm512_setzero_si512();
    }
    for (int32_t c = 0; c < group; c += 16) {
#pragma GCC unroll 4
        for (int s = 0; s < 16; s += 4) {
            const __m512i w0 = _mm512_loadu_si512(codes + (c + s) * UH_ROWS);
            const __m512i w1 = blocks > 1 ? _mm512_loadu_si512(second + (c + s) * UH_ROWS) : w0;
#pragma GCC unroll 8
            for (int t = 0; t < n; t++) {
                int32_t four;
                memcpy(&four, from[t] + c + s, 4);
                const __m512i v = _mm512_set1_epi32(four);
                add_products(&sums[t][0], w0, v);
                if (blocks > 1) add_products(&sums[t][1], w1, v);
            }
        }
    }
#pragma GCC unroll 2
    for (int b = 0; b < blocks; b++) {
        __m512 scale, offset;
        uh_scales_512(view, uh_scales_at(view, block + b, g), uh_wide_at(view, block + b, g), &scale, &offset);
#pragma GCC unroll 8
        for (int t = 0; t < n; t++) {
            float *at = totals[t] + b * UH_ROWS;
            const __m512 both = _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scales[g]));
            __m512 total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[t][b]), both, _mm512_loadu_ps(at));
            total = _mm512_fmadd_ps(offset, _mm512_set1_ps(x[t].sums[g]), total);
            _mm512_storeu_ps(at, total);
        }
    }
}

/* One body for each count of tokens, so that sums live in registers. */
#define COUNT(blocks, n) \
    case n: group_on(codes, view, block, x, g, blocks, n, totals); break;
#define BODIES(name, blocks)                                                                                      \
    UH_TARGET static void name(const uint8_t *codes, const uh_matrix_view *view, int32_t block,                          \
                               const uh_quantized *x, int32_t g, int32_t n, float (*totals)[UH_PAIR * UH_ROWS]) {    \
        switch (n) {                                                                                              \
            COUNT(blocks, 1)                                                                                      \
            COUNT(blocks, 2)                                                                                      \
            COUNT(blocks, 3)                                                                                      \
            COUNT(blocks, 4)                                                                                      \
            COUNT(blocks, 5)                                                                                      \
            COUNT(blocks, 6)                                                                                      \
            COUNT(blocks, 7)                                                                                      \
        default: group_on(codes, view, block, x, g, blocks, COUNTS, totals); break;                           \
        }                                                                                                         \
    }
BODIES(on_one, 1)
BODIES(on_two, 2)

UH_TARGET static void unpack_kind(const uh_matrix_view *view, int64_t tile, int64_t next, uint8_t *to) {
    switch (view->kind) {
    case 1: unpack(view, tile, next, 1, to); break;
    case 2: unpack(view, tile, next, 2, to); break;
    case UH_TABLED:
    case UH_WIDE_TABLED: unpack(view, tile, next, UH_TABLED, to); break;
    case UH_SIX: unpack(view, tile, next, UH_SIX, to); break;
    default: unpack(view, tile, next, 3, to); break;
    }
}

/* One or two row blocks on at most UH_TOGETHER tokens. */
UH_TARGET static void pass(const uh_matrix_view *view, int32_t block, int blocks, const uh_quantized *x, int32_t n,
                           void *scratch, float *y, int64_t stride) {
    const int32_t group = view->group, parts = (n + COUNTS - 1) / COUNTS;
    float(*totals)[UH_PAIR * UH_ROWS] = scratch;
    uint8_t *codes = (uint8_t *)(totals + UH_TOGETHER);
    memset(totals, 0, (size_t)n * sizeof *totals);
    for (int32_t g = 0; g < view->groups; g++) {
        for (int b = 0; b < blocks; b++) {
            const int64_t tile = (int64_t)(block + b) * view->groups + g;
            const int64_t next = uh_tile_ahead(view, tile, g, blocks);
            UH_FETCH(uh_scales_of_tile(view, next));
            unpack_kind(view, tile, next, codes + b * UH_ROWS * group);
        }
        for (int32_t p = 0, at = 0; p < parts; p++) {
            const int32_t end = n * (p + 1) / parts;
            (blocks > 1 ? on_two : on_one)(codes, view, block, x + at, g, end - at, totals + at);
            at = end;
        }
    }
    const __m512 unit = _mm512_set1_ps(view->unit);
    for (int32_t t = 0; t < n; t++)
        for (int b = 0; b < blocks; b++)
            _mm512_storeu_ps(y + t * stride + b * UH_ROWS, _mm512_mul_ps(_mm512_loadu_ps(totals[t] + b * UH_ROWS), unit));
}

void uh_many_avx512vnni(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n,
                        void *scratch, float *y, int64_t stride) {
    for (int32_t at = 0; at < n; at += UH_TOGETHER) {
        const int32_t count = n - at < UH_TOGETHER ? n - at : UH_TOGETHER;
        for (int32_t b = 0; b < blocks; b += UH_PAIR)
            pass(view, block + b, blocks - b < UH_PAIR ? 1 : UH_PAIR, x + at, count, scratch, y + at * stride + b * UH_ROWS, stride);
    }
}
#endif
