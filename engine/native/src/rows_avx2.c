/* AVX2 with FMA and F16C, float32 activations: the 16 rows of a tile are two registers of 8, taken one after the other. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c")))
#include <immintrin.h>

#include "activation.h"
#include "quantize.h"
#include "scales_256.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

enum { TOKENS = 2, HALF = 8, HALF_LINE = 32 }; /* 16 registers: 2 tokens x 4 accumulators, and room to decode */

INLINE __m256i moved(__m256i v, int left) { return left >= 0 ? _mm256_slli_epi32(v, left) : _mm256_srli_epi32(v, -left); }

INLINE __m256i bits_of(__m256i v, int mask) { return _mm256_and_si256(v, _mm256_set1_epi8((char)mask)); }

/* acc[t][j] += code * x of the four columns 4 s + j whose codes are the bytes of `c` (at 2 bits: their low bits). */
INLINE void four_columns(__m256i c, int kind, const float *const *x, int32_t at, int n, __m256 (*acc)[4]) {
    const __m256 table = _mm256_setr_ps(0, 1, 2, 3, 0, 1, 2, 3);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        const __m256i pick = _mm256_set1_epi32((int)0x80808000u | j); /* byte j of each lane, zero-extended */
        const __m256i lanes = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
        __m256 w = kind == 1 ? _mm256_permutevar8x32_ps(table, _mm256_srli_epi32(c, 8 * j))
                             : _mm256_cvtepi32_ps(_mm256_shuffle_epi8(c, _mm256_or_si256(pick, lanes)));
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) acc[t][j] = _mm256_fmadd_ps(w, _mm256_set1_ps(x[t][at + j]), acc[t][j]);
    }
}

INLINE void half_rows(const uh_matrix_view *view, int32_t block, int half, const float *const *x, const float *const *sums,
                      int kind, int n, float (*y)[UH_ROWS]) {
    const int64_t first = (int64_t)block * view->groups;
    const uint8_t *params = uh_scales_at(view, block, 0);
    const int32_t each = uh_scales_bytes(view);
    __m256i table = _mm256_setzero_si256();
    if (UH_HAS_TABLE(kind)) table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)view->table));
    const uint8_t *p0 = view->codes[0] + first * view->group * 4 + half * HALF_LINE;
    const uint8_t *p1 = UH_HAS_SECOND(kind) ? view->codes[1] + first * view->group * 4 + half * HALF_LINE : NULL;
    const uint8_t *p2 = UH_HAS_FINE(kind) ? view->codes[2] + first * view->group * 8 + half * HALF_LINE : NULL;
    __m256 total[TOKENS];
    for (int t = 0; t < n; t++) total[t] = _mm256_setzero_ps();
    int32_t column = 0;
    for (int32_t g = 0; g < view->groups; g++) {
        __m256 acc[TOKENS][4];
#pragma GCC unroll 2
        for (int t = 0; t < n; t++)
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) acc[t][j] = _mm256_setzero_ps();
        for (int32_t end = column + view->group; column < end; column += 16, p0 += UH_LINE) {
            UH_FETCH(p0 + UH_FETCH_DISTANCE);
            if (UH_HAS_SECOND(kind)) UH_FETCH(p1 + UH_FETCH_DISTANCE);
            if (UH_HAS_FINE(kind)) UH_FETCH(p2 + 2 * UH_FETCH_DISTANCE), UH_FETCH(p2 + 2 * UH_FETCH_DISTANCE + UH_LINE);
            const __m256i a = _mm256_loadu_si256((const __m256i *)p0);
            __m256i b = a, low[2] = {a, a};
            if (UH_HAS_SECOND(kind)) b = _mm256_loadu_si256((const __m256i *)p1), p1 += UH_LINE;
            if (UH_HAS_FINE(kind)) {
                low[0] = _mm256_loadu_si256((const __m256i *)p2);
                low[1] = _mm256_loadu_si256((const __m256i *)(p2 + UH_LINE));
                p2 += 2 * UH_LINE;
            }
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++) {
                __m256i c = moved(a, -2 * s);
                if (kind == 2 || UH_HAS_TABLE(kind))
                    c = _mm256_or_si256(bits_of(moved(a, 2 - 2 * s), 0x0c), bits_of(moved(b, -2 * s), 0x03));
                if (kind == 3)
                    c = _mm256_or_si256(
                        _mm256_or_si256(bits_of(moved(a, 6 - 2 * s), 0xc0), bits_of(moved(b, 4 - 2 * s), 0x30)),
                        bits_of(moved(low[s / 2], s % 2 ? -4 : 0), 0x0f));
                if (UH_HAS_TABLE(kind)) c = _mm256_shuffle_epi8(table, c);
                if (kind == UH_SIX)
                    c = _mm256_or_si256(bits_of(moved(a, 4 - 2 * s), 0x30),
                                        bits_of(moved(low[s / 2], s % 2 ? -4 : 0), 0x0f));
                four_columns(c, kind, x, column + 4 * s, n, acc);
            }
        }
        __m256 scale, offset;
        uh_scales_256(view, params, uh_wide_of(view, uh_wide_at(view, block, g), half), half, &scale, &offset);
        params += each;
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) {
            __m256 sum = _mm256_add_ps(_mm256_add_ps(acc[t][0], acc[t][1]), _mm256_add_ps(acc[t][2], acc[t][3]));
            total[t] = _mm256_fmadd_ps(scale, sum, total[t]);
            total[t] = _mm256_fmadd_ps(offset, _mm256_set1_ps(sums[t][g]), total[t]);
        }
    }
    for (int t = 0; t < n; t++)
        _mm256_storeu_ps(y[t] + half * HALF, _mm256_mul_ps(total[t], _mm256_set1_ps(view->unit)));
}

INLINE void tile_rows(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int kind,
                      int n, float (*y)[UH_ROWS]) {
    half_rows(view, block, 0, x, sums, kind, n, y);
    half_rows(view, block, 1, x, sums, kind, n, y);
}

INLINE __m256 raw_weights(const uint8_t *row, int32_t column, int kind) {
    if (kind == 32) return _mm256_loadu_ps((const float *)row + column);
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(row + 2 * (int64_t)column)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

INLINE float raw_weight(const uint8_t *row, int32_t column, int kind) {
    uint32_t bits = 0;
    if (kind == 32)
        memcpy(&bits, row + 4 * (int64_t)column, 4);
    else
        memcpy((uint8_t *)&bits + 2, row + 2 * (int64_t)column, 2);
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

INLINE float across(__m256 v) {
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

INLINE void raw_rows(const uh_matrix_view *view, int32_t block, const float *const *x, int kind, int n, float (*y)[UH_ROWS]) {
    const int64_t row_bytes = (int64_t)view->cols * (kind / 8);
    for (int r = 0; r < UH_ROWS; r++) {
        const int32_t index = block * UH_ROWS + r;
        const uint8_t *row = view->codes[0] + index * row_bytes;
        __m256 acc[TOKENS][4];
        float tail[TOKENS] = {0};
        for (int t = 0; t < n; t++)
            for (int j = 0; j < 4; j++) acc[t][j] = _mm256_setzero_ps();
        int32_t c = 0, cols = index < view->rows ? view->cols : 0;
        for (; c + 32 <= cols; c += 32) {
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) {
                __m256 w = raw_weights(row, c + 8 * j, kind);
#pragma GCC unroll 2
                for (int t = 0; t < n; t++) acc[t][j] = _mm256_fmadd_ps(w, _mm256_loadu_ps(x[t] + c + 8 * j), acc[t][j]);
            }
        }
        for (; c < cols; c++)
            for (int t = 0; t < n; t++) tail[t] += raw_weight(row, c, kind) * x[t][c];
        for (int t = 0; t < n; t++)
            y[t][r] = tail[t] + across(_mm256_add_ps(_mm256_add_ps(acc[t][0], acc[t][1]),
                                                     _mm256_add_ps(acc[t][2], acc[t][3])));
    }
}

/* One body for each kind and count, so that accumulators live in registers. */
#define BODY(name, function, kind, count)                                                                         \
    UH_TARGET static void name(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, \
                               float (*y)[UH_ROWS]) {                                                             \
        function;                                                                                                 \
    }
#define TILE_BODY(name, kind, count) BODY(name, tile_rows(view, block, x, sums, kind, count, y), kind, count)
#define RAW_BODY(name, kind, count) BODY(name, (void)sums; raw_rows(view, block, x, kind, count, y), kind, count)
TILE_BODY(rows2_1, 1, 1)
TILE_BODY(rows2_2, 1, 2)
TILE_BODY(rows4_1, 2, 1)
TILE_BODY(rows4_2, 2, 2)
TILE_BODY(rows8_1, 3, 1)
TILE_BODY(rows8_2, 3, 2)
TILE_BODY(rows_tabled_1, UH_TABLED, 1)
TILE_BODY(rows_tabled_2, UH_TABLED, 2)
TILE_BODY(rows6_1, UH_SIX, 1)
TILE_BODY(rows6_2, UH_SIX, 2)
RAW_BODY(rows16_1, 16, 1)
RAW_BODY(rows16_2, 16, 2)
RAW_BODY(rows32_1, 32, 1)
RAW_BODY(rows32_2, 32, 2)

void uh_rows_avx2(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,
                  float (*y)[UH_ROWS]) {
    switch (view->kind) {
    case 1: (n == 1 ? rows2_1 : rows2_2)(view, block, x, sums, y); break;
    case 2: (n == 1 ? rows4_1 : rows4_2)(view, block, x, sums, y); break;
    case 3: (n == 1 ? rows8_1 : rows8_2)(view, block, x, sums, y); break;
    case UH_TABLED:
    case UH_WIDE_TABLED: (n == 1 ? rows_tabled_1 : rows_tabled_2)(view, block, x, sums, y); break;
    case UH_SIX: (n == 1 ? rows6_1 : rows6_2)(view, block, x, sums, y); break;
    case 16: (n == 1 ? rows16_1 : rows16_2)(view, block, x, sums, y); break;
    default: (n == 1 ? rows32_1 : rows32_2)(view, block, x, sums, y); break;
    }
}

UH_TARGET uint64_t uh_read_avx2(const uint8_t *bytes, int64_t n) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (int64_t i = 0; i + 128 <= n; i += 128) {
        a = _mm256_add_epi64(a, _mm256_loadu_si256((const __m256i *)(bytes + i)));
        b = _mm256_add_epi64(b, _mm256_loadu_si256((const __m256i *)(bytes + i + 32)));
        c = _mm256_add_epi64(c, _mm256_loadu_si256((const __m256i *)(bytes + i + 64)));
        d = _mm256_add_epi64(d, _mm256_loadu_si256((const __m256i *)(bytes + i + 96)));
    }
    uint64_t lanes[4];
    _mm256_storeu_si256((__m256i *)lanes, _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d)));
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

UH_TARGET void uh_activate_avx2(const uh_layout *layout, const float *gate, const float *up, float *h) {
    uh_activate16(layout, gate, up, h);
}

UH_TARGET void uh_quantize_avx2(const float *x, int32_t cols, int32_t stored_cols, int32_t group, int8_t *codes, float *scales,
                                float *sums) {
    uh_quantize(x, cols, stored_cols, group, codes, scales, sums);
}
#endif
