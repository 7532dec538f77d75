/* AVX-512 (F, BW, VL, DQ) with float32 activations: 16 rows are the 16 lanes of a register. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")))
#include <immintrin.h>

#include "activation.h"
#include "quantize.h"
#include "scales_512.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

/* acc[t][j] += code * x of the four columns 4 s + j, j = 0..3, whose codes are the bytes of `c`.
 * Below 8 bits one permutation turns the low bits of a lane, whatever stands above them, into a float. */
INLINE void four_columns(__m512i c, int bits, __m512 table, const float *const *x, int32_t at, int n,
                         __m512 (*acc)[4]) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m512 w;
        if (bits == 8) {
            const __m512i pick = _mm512_set1_epi32((int)0x80808000u | j); /* byte j of each lane, zero-extended */
            const __m512i lanes = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
            w = _mm512_cvtepi32_ps(_mm512_shuffle_epi8(c, _mm512_or_si512(pick, lanes)));
        } else {
            w = _mm512_permutexvar_ps(_mm512_srli_epi32(c, 8 * j), table);
        }
#pragma GCC unroll 4
        for (int t = 0; t < n; t++) acc[t][j] = _mm512_fmadd_ps(w, _mm512_set1_ps(x[t][at + j]), acc[t][j]);
    }
}

INLINE __m512i moved(__m512i v, int left) { return left >= 0 ? _mm512_slli_epi32(v, left) : _mm512_srli_epi32(v, -left); }

/* (a & mask) | (b & ~mask) */
INLINE __m512i chosen(__m512i mask, __m512i a, __m512i b) { return _mm512_ternarylogic_epi32(mask, a, b, 0xCA); }

INLINE void tile_rows(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int kind,
                      int n, float (*y)[UH_ROWS]) {
    const int bits = kind == 1 ? 2 : kind == 2 ? 4 : 8; /* of what becomes a float: a level out of a table is a byte */
    const __m512 counting = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 table = bits == 2 ? _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3) : counting;
    const int64_t first = (int64_t)block * view->groups;
    const uint8_t *params = uh_scales_at(view, block, 0);
    const int32_t each = uh_scales_bytes(view);
    __m512i levels = _mm512_setzero_si512();
    if (UH_HAS_TABLE(kind)) levels = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)view->table));
    const uint8_t *p0 = view->codes[0] + first * view->group * 4;
    const uint8_t *p1 = UH_HAS_SECOND(kind) ? view->codes[1] + first * view->group * 4 : NULL;
    const uint8_t *p2 = UH_HAS_FINE(kind) ? view->codes[2] + first * view->group * 8 : NULL;
    __m512 total[UH_MOST_TOKENS];
    for (int t = 0; t < n; t++) total[t] = _mm512_setzero_ps();
    int32_t column = 0;
    for (int32_t g = 0; g < view->groups; g++) {
        __m512 acc[UH_MOST_TOKENS][4];
#pragma GCC unroll 4
        for (int t = 0; t < n; t++)
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) acc[t][j] = _mm512_setzero_ps();
        for (int32_t end = column + view->group; column < end; column += 16, p0 += UH_LINE) {
            UH_FETCH(p0 + UH_FETCH_DISTANCE);
            if (UH_HAS_SECOND(kind)) UH_FETCH(p1 + UH_FETCH_DISTANCE);
            if (UH_HAS_FINE(kind)) UH_FETCH(p2 + 2 * UH_FETCH_DISTANCE), UH_FETCH(p2 + 2 * UH_FETCH_DISTANCE + UH_LINE);
            const __m512i a = _mm512_loadu_si512(p0);
            __m512i b = a, low[2] = {a, a};
            if (UH_HAS_SECOND(kind)) b = _mm512_loadu_si512(p1), p1 += UH_LINE;
            if (UH_HAS_FINE(kind)) {
                low[0] = _mm512_loadu_si512(p2), low[1] = _mm512_loadu_si512(p2 + UH_LINE);
                p2 += 2 * UH_LINE;
            }
#pragma GCC unroll 4
            for (int s = 0; s < 4; s++) {
                __m512i c;
                if (kind == 1) {
                    c = moved(a, -2 * s);
                } else if (!UH_HAS_FINE(kind)) {
                    c = chosen(_mm512_set1_epi8(0x0c), moved(a, 2 - 2 * s), moved(b, -2 * s));
                    if (UH_HAS_TABLE(kind)) c = _mm512_shuffle_epi8(levels, _mm512_and_si512(c, _mm512_set1_epi8(0x0f)));
                } else if (kind == UH_SIX) {
                    c = chosen(_mm512_set1_epi8(0x30), moved(a, 4 - 2 * s), moved(low[s / 2], s % 2 ? -4 : 0));
                    c = _mm512_and_si512(c, _mm512_set1_epi8(0x3f));
                } else {
                    c = chosen(_mm512_set1_epi8(0x30), moved(b, 4 - 2 * s), moved(low[s / 2], s % 2 ? -4 : 0));
                    c = chosen(_mm512_set1_epi8((char)0xc0), moved(a, 6 - 2 * s), c);
                }
                four_columns(c, bits, table, x, column + 4 * s, n, acc);
            }
        }
        __m512 scale, offset;
        uh_scales_512(view, params, uh_wide_at(view, block, g), &scale, &offset);
        params += each;
#pragma GCC unroll 4
        for (int t = 0; t < n; t++) {
            __m512 sum = _mm512_add_ps(_mm512_add_ps(acc[t][0], acc[t][1]), _mm512_add_ps(acc[t][2], acc[t][3]));
            total[t] = _mm512_fmadd_ps(scale, sum, total[t]);
            total[t] = _mm512_fmadd_ps(offset, _mm512_set1_ps(sums[t][g]), total[t]);
        }
    }
    for (int t = 0; t < n; t++) _mm512_storeu_ps(y[t], _mm512_mul_ps(total[t], _mm512_set1_ps(view->unit)));
}

INLINE __m512 raw_weights(const uint8_t *row, int32_t column, int kind, __mmask16 mask) {
    if (kind == 32) return _mm512_maskz_loadu_ps(mask, row + 4 * (int64_t)column);
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, row + 2 * (int64_t)column));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

INLINE void raw_rows(const uh_matrix_view *view, int32_t block, const float *const *x, int kind, int n, float (*y)[UH_ROWS]) {
    const int64_t row_bytes = (int64_t)view->cols * (kind / 8);
    for (int r = 0; r < UH_ROWS; r++) {
        const int32_t index = block * UH_ROWS + r;
        if (index >= view->rows) {
            for (int t = 0; t < n; t++) y[t][r] = 0.0f;
            continue;
        }
        const uint8_t *row = view->codes[0] + index * row_bytes;
        __m512 acc[UH_MOST_TOKENS][4];
#pragma GCC unroll 4
        for (int t = 0; t < n; t++)
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) acc[t][j] = _mm512_setzero_ps();
        int32_t c = 0;
        for (; c + 64 <= view->cols; c += 64) {
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) {
                __m512 w = raw_weights(row, c + 16 * j, kind, 0xffff);
#pragma GCC unroll 4
                for (int t = 0; t < n; t++) acc[t][j] = _mm512_fmadd_ps(w, _mm512_loadu_ps(x[t] + c + 16 * j), acc[t][j]);
            }
        }
        for (; c < view->cols; c += 16) {
            const __mmask16 mask = view->cols - c >= 16 ? 0xffff : (__mmask16)((1u << (view->cols - c)) - 1);
            __m512 w = raw_weights(row, c, kind, mask);
#pragma GCC unroll 4
            for (int t = 0; t < n; t++) acc[t][0] = _mm512_fmadd_ps(w, _mm512_maskz_loadu_ps(mask, x[t] + c), acc[t][0]);
        }
#pragma GCC unroll 4
        for (int t = 0; t < n; t++)
            y[t][r] = _mm512_reduce_add_ps(
                _mm512_add_ps(_mm512_add_ps(acc[t][0], acc[t][1]), _mm512_add_ps(acc[t][2], acc[t][3])));
    }
}

/* One body for each count of tokens, so that accumulators live in registers. */
#define FOR_COUNT(n, call)   \
    switch (n) {             \
    case 1: call(1); break;  \
    case 2: call(2); break;  \
    case 3: call(3); break;  \
    default: call(4); break; \
    }
#define TILES(name, kind)                                                                                        \
    UH_TARGET static void name(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, \
                               int32_t n, float (*y)[UH_ROWS]) {                                                 \
        FOR_COUNT(n, TILES_##kind)                                                                               \
    }
#define TILES_1(count) tile_rows(view, block, x, sums, 1, count, y)
#define TILES_2(count) tile_rows(view, block, x, sums, 2, count, y)
#define TILES_3(count) tile_rows(view, block, x, sums, 3, count, y)
#define TILES_4(count) tile_rows(view, block, x, sums, UH_TABLED, count, y)
#define TILES_6(count) tile_rows(view, block, x, sums, UH_SIX, count, y)
#define RAW_16(count) raw_rows(view, block, x, 16, count, y)
#define RAW_32(count) raw_rows(view, block, x, 32, count, y)
TILES(rows2, 1)
TILES(rows4, 2)
TILES(rows8, 3)
TILES(rows_tabled, 4)
TILES(rows6, 6)

UH_TARGET static void rows_raw(const uh_matrix_view *view, int32_t block, const float *const *x, int32_t n,
                               float (*y)[UH_ROWS]) {
    if (view->kind == 16) {
        FOR_COUNT(n, RAW_16)
    } else {
        FOR_COUNT(n, RAW_32)
    }
}

void uh_rows_avx512(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,
                    float (*y)[UH_ROWS]) {
    switch (view->kind) {
    case 1: rows2(view, block, x, sums, n, y); break;
    case 2: rows4(view, block, x, sums, n, y); break;
    case 3: rows8(view, block, x, sums, n, y); break;
    case UH_TABLED:
    case UH_WIDE_TABLED: rows_tabled(view, block, x, sums, n, y); break;
    case UH_SIX: rows6(view, block, x, sums, n, y); break;
    default: rows_raw(view, block, x, n, y); break;
    }
}

UH_TARGET uint64_t uh_read_avx512(const uint8_t *bytes, int64_t n) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (int64_t i = 0; i + 256 <= n; i += 256) {
        a = _mm512_add_epi64(a, _mm512_loadu_si512(bytes + i));
        b = _mm512_add_epi64(b, _mm512_loadu_si512(bytes + i + 64));
        c = _mm512_add_epi64(c, _mm512_loadu_si512(bytes + i + 128));
        d = _mm512_add_epi64(d, _mm512_loadu_si512(bytes + i + 192));
    }
    uint64_t lanes[8], sum = 0; /* added without signs: they may wrap */
    _mm512_storeu_si512(lanes, _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d)));
    for (int i = 0; i < 8; i++) sum += lanes[i];
    return sum;
}

UH_TARGET void uh_activate_avx512(const uh_layout *layout, const float *gate, const float *up, float *h) {
    uh_activate16(layout, gate, up, h);
}

UH_TARGET void uh_quantize_avx512(const float *x, int32_t cols, int32_t stored_cols, int32_t group, int8_t *codes, float *scales,
                                  float *sums) {
    uh_quantize(x, cols, stored_cols, group, codes, scales, sums);
}
#endif
