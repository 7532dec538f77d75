/* Activations of 8 bits on many tokens with registers of 256 bits: a tile is unpacked once and then met by all tokens.
 * Define UH_TARGET, UH_MANY (the name), COUNTS (4 or 6 tokens, whose sums fit in registers), MIDDLE(kind), which is taken
 * from the levels of that kind, and `products`; include. */

#include "scales_256.h"

enum { HALF = 8, HALF_LINE = 32 };

INLINE __m256i masked(int mask, __m256i v) { return _mm256_and_si256(v, _mm256_set1_epi8((char)mask)); }

INLINE __m256i moved(__m256i v, int left) { return left >= 0 ? _mm256_slli_epi32(v, left) : _mm256_srli_epi32(v, -left); }

/* The codes of one tile, or their levels, a byte each: line s of `to` holds the columns 4 s .. 4 s + 3 of its 16 rows. Fetches `next`. */
INLINE void unpack(const uh_matrix_view *view, int64_t tile, int64_t next, int kind, uint8_t *to) {
    const int64_t size = (int64_t)view->group * 4, ahead = (next - tile) * size;
    const uint8_t *p0 = view->codes[0] + tile * size;
    const uint8_t *p1 = UH_HAS_SECOND(kind) ? view->codes[1] + tile * size : NULL;
    const uint8_t *p2 = UH_HAS_FINE(kind) ? view->codes[2] + tile * size * 2 : NULL;
    __m256i table = _mm256_setzero_si256();
    if (UH_HAS_TABLE(kind)) table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)view->table));
    table = _mm256_sub_epi8(table, _mm256_set1_epi8(MIDDLE(kind)));
    for (int32_t c = 0; c < view->group; c += 16, to += 4 * UH_LINE) {
        UH_FETCH(p0 + c * 4 + ahead);
        if (UH_HAS_SECOND(kind)) UH_FETCH(p1 + c * 4 + ahead);
        if (UH_HAS_FINE(kind)) UH_FETCH(p2 + c * 8 + 2 * ahead), UH_FETCH(p2 + c * 8 + 2 * ahead + UH_LINE);
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
            const int64_t at = c * 4 + half * HALF_LINE;
            const __m256i a = line(p0 + at), b = UH_HAS_SECOND(kind) ? line(p1 + at) : a;
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++) {
                __m256i v;
                if (kind == 1) {
                    v = masked(0x03, moved(a, -2 * s));
                } else if (!UH_HAS_FINE(kind)) {
                    v = _mm256_or_si256(masked(0x0c, moved(a, 2 - 2 * s)), masked(0x03, moved(b, -2 * s)));
                    if (UH_HAS_TABLE(kind)) v = _mm256_shuffle_epi8(table, v);
                } else if (kind == UH_SIX) {
                    const __m256i low = line(p2 + c * 8 + half * HALF_LINE + s / 2 * UH_LINE);
                    v = _mm256_or_si256(masked(0x30, moved(a, 4 - 2 * s)), masked(0x0f, moved(low, s % 2 ? -4 : 0)));
                } else {
                    const __m256i low = line(p2 + c * 8 + half * HALF_LINE + s / 2 * UH_LINE);
                    v = _mm256_or_si256(masked(0xc0, moved(a, 6 - 2 * s)), masked(0x30, moved(b, 4 - 2 * s)));
                    v = _mm256_or_si256(v, masked(0x0f, moved(low, s % 2 ? -4 : 0)));
                }
                _mm256_storeu_si256((__m256i *)(to + s * UH_LINE + half * HALF_LINE), v);
            }
        }
    }
}

/* totals[t] += one tile times x[t], for t < n. */
INLINE void group_on(const uint8_t *codes, const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t g, int kind,
                     int n, float (*totals)[UH_ROWS]) {
    const int32_t group = view->group;
    const int8_t *from[COUNTS];
    __m256i sums[COUNTS][2];
#pragma GCC unroll 6
    for (int t = 0; t < n; t++) {
        from[t] = x[t].codes + (int64_t)g * group;
        sums[t][0] = sums[t][1] = _mm256_setzero_si256();
    }
    products(codes, group, from, kind, n, sums);
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        __m256 scale, offset;
        const uh_wide_256 wide = uh_wide_of(view, uh_wide_at(view, block, g), half);
        uh_scales_256(view, uh_scales_at(view, block, g), wide, half, &scale, &offset);
#pragma GCC unroll 6
        for (int t = 0; t < n; t++) {
            float *sum = totals[t] + half * HALF;
            const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(x[t].scales[g]));
            __m256 total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[t][half]), both, _mm256_loadu_ps(sum));
            total = _mm256_fmadd_ps(offset, _mm256_set1_ps(x[t].sums[g]), total);
            _mm256_storeu_ps(sum, total);
        }
    }
}

/* One body for each count of tokens, so that sums live in registers. */
#define COUNT(kind, n) \
    case n: group_on(codes, view, block, x, g, kind, n, totals); break;
#if COUNTS == 6
#define MORE_COUNTS(kind) COUNT(kind, 5) COUNT(kind, 6)
#else
#define MORE_COUNTS(kind)
#endif
typedef void on(const uint8_t *codes, const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t g, int32_t n,
                float (*totals)[UH_ROWS]);
#define BODIES(name, kind)                                                                                       \
    UH_TARGET static void name(const uint8_t *codes, const uh_matrix_view *view, int32_t block, const uh_quantized *x,   \
                               int32_t g, int32_t n, float (*totals)[UH_ROWS]) {                                 \
        switch (n) {                                                                                             \
            COUNT(kind, 1)                                                                                       \
            COUNT(kind, 2)                                                                                       \
            COUNT(kind, 3)                                                                                       \
            COUNT(kind, 4)                                                                                       \
            MORE_COUNTS(kind)                                                                                    \
        }                                                                                                        \
    }
BODIES(on_narrow, 2) /* codes of 2 and 4 bits */
BODIES(on_tabled, UH_TABLED)
BODIES(on_levels, UH_WIDE_TABLED)
BODIES(on_wide, 3) /* any byte */

UH_TARGET static void unpack_kind(const uh_matrix_view *view, int64_t tile, int64_t next, uint8_t *to) {
    switch (view->kind) {
    case 1: unpack(view, tile, next, 1, to); break;
    case 2: unpack(view, tile, next, 2, to); break;
    case UH_TABLED: unpack(view, tile, next, UH_TABLED, to); break;
    case UH_WIDE_TABLED: unpack(view, tile, next, UH_WIDE_TABLED, to); break;
    case UH_SIX: unpack(view, tile, next, UH_SIX, to); break;
    default: unpack(view, tile, next, 3, to); break;
    }
}

static on *on_kind(int kind) {
    return kind < 3 ? on_narrow : kind == UH_TABLED ? on_tabled : kind == UH_WIDE_TABLED ? on_levels : on_wide;
}

/* One row block on at most UH_TOGETHER tokens. */
UH_TARGET static void pass(const uh_matrix_view *any, int32_t block, const uh_quantized *x, int32_t n, void *scratch, float *y,
                           int64_t stride) {
    uh_matrix_view own = *any;
    own.zero -= MIDDLE(own.kind);
    const uh_matrix_view *view = &own;
    on *const met = on_kind(view->kind);
    const int32_t parts = (n + COUNTS - 1) / COUNTS;
    float(*totals)[UH_ROWS] = scratch;
    uint8_t *codes = (uint8_t *)(totals + UH_TOGETHER);
    memset(totals, 0, (size_t)n * sizeof *totals);
    for (int32_t g = 0; g < view->groups; g++) {
        const int64_t tile = (int64_t)block * view->groups + g, next = uh_tile_ahead(view, tile, g, 1);
        UH_FETCH(uh_scales_of_tile(view, next));
        unpack_kind(view, tile, next, codes);
        for (int32_t p = 0, at = 0; p < parts; p++) {
            const int32_t end = n * (p + 1) / parts;
            met(codes, view, block, x + at, g, end - at, totals + at);
            at = end;
        }
    }
    const __m256 unit = _mm256_set1_ps(view->unit);
    for (int32_t t = 0; t < n; t++)
        for (int at = 0; at < UH_ROWS; at += HALF)
            _mm256_storeu_ps(y + t * stride + at, _mm256_mul_ps(_mm256_loadu_ps(totals[t] + at), unit));
}

void UH_MANY(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n, void *scratch, float *y,
             int64_t stride) {
    for (int32_t at = 0; at < n; at += UH_TOGETHER) {
        const int32_t count = n - at < UH_TOGETHER ? n - at : UH_TOGETHER;
        for (int32_t b = 0; b < blocks; b++)
            pass(view, block + b, x + at, count, scratch, y + at * stride + b * UH_ROWS, stride);
    }
}
