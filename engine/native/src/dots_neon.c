/* Activations of 8 bits with NEON's dot products (ARMv8.2): the 16 rows of a tile in four registers of 4, four columns of
 * each. What one group sums up to are the whole numbers of plain C, and what follows them is the same, too. */
#if defined(__aarch64__)
#include <arm_neon.h>
#include <string.h>

#include "many.h"

#define UH_TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#define INLINE UH_TARGET static inline __attribute__((always_inline))

enum { QUARTERS = UH_ROWS / 4, SHIFT = 128 };

/* Codes over 127, which have no sign, are met less SHIFT; what that takes away is SHIFT times the sum of the group's x. */
#define IS_SHIFTED(kind) (UH_HAS_TABLE(kind) || (kind) == 3)

typedef struct {
    const uint8_t *p0, *p1, *p2; /* of a line, the 16 columns of a tile */
} cursor;

/* The two bits of columns 4 s .. 4 s + 3. */
INLINE uint8x16_t two_bits(uint8x16_t from, int s) {
    return vandq_u8(vshlq_u8(from, vdupq_n_s8((int8_t)(-2 * s))), vdupq_n_u8(3));
}

/* Codes of four columns from 4 s on, of the rows 4 q .. 4 q + 3. */
INLINE int8x16_t codes_of(const cursor *at, uint8x16_t table, int kind, int s, int q) {
    uint8x16_t code = two_bits(vld1q_u8(at->p0 + 16 * q), s);
    if (UH_HAS_SECOND(kind)) code = vorrq_u8(vshlq_n_u8(code, 2), two_bits(vld1q_u8(at->p1 + 16 * q), s));
    if (UH_HAS_TABLE(kind)) code = vqtbl1q_u8(table, code);
    if (UH_HAS_FINE(kind)) {
        const uint8x16_t both = vld1q_u8(at->p2 + UH_LINE * (s / 2) + 16 * q);
        code = vorrq_u8(vshlq_n_u8(code, 4), s % 2 ? vshrq_n_u8(both, 4) : vandq_u8(both, vdupq_n_u8(15)));
    }
    return vreinterpretq_s8_u8(IS_SHIFTED(kind) ? veorq_u8(code, vdupq_n_u8(SHIFT)) : code);
}

INLINE int8x16_t four(const int8_t *codes) {
    int32_t columns;
    memcpy(&columns, codes, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(columns));
}

/* sums[t][r] = code * x of group g. */
INLINE void group_dots(cursor at, uint8x16_t table, const uh_quantized *x, int64_t column, int32_t group, int kind, int n,
                       int32_t (*sums)[UH_ROWS]) {
    int32x4_t acc[UH_MOST_TOKENS][QUARTERS], of_x[UH_MOST_TOKENS];
    for (int t = 0; t < n; t++) {
        of_x[t] = vdupq_n_s32(0);
        for (int q = 0; q < QUARTERS; q++) acc[t][q] = vdupq_n_s32(0);
    }
    for (int32_t c = 0; c < group; c += 16) {
        for (int s = 0; s < 4; s++) {
            for (int q = 0; q < QUARTERS; q++) {
                const int8x16_t code = codes_of(&at, table, kind, s, q);
                for (int t = 0; t < n; t++) acc[t][q] = vdotq_s32(acc[t][q], code, four(x[t].codes + column + c + 4 * s));
            }
        }
        if (IS_SHIFTED(kind))
            for (int t = 0; t < n; t++) of_x[t] = vdotq_s32(of_x[t], vdupq_n_s8(1), vld1q_s8(x[t].codes + column + c));
        at.p0 += UH_LINE, at.p1 += UH_LINE, at.p2 += 2 * UH_LINE;
    }
    for (int t = 0; t < n; t++) {
        const int32x4_t less = vdupq_n_s32(IS_SHIFTED(kind) ? SHIFT * vaddvq_s32(of_x[t]) : 0);
        for (int q = 0; q < QUARTERS; q++) vst1q_s32(sums[t] + 4 * q, vaddq_s32(acc[t][q], less));
    }
}

INLINE void tile_dots(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int kind, int n, float (*y)[UH_ROWS]) {
    const uint8x16_t table = UH_HAS_TABLE(kind) ? vld1q_u8(view->table) : vdupq_n_u8(0);
    memset(y, 0, (size_t)n * sizeof *y);
    for (int32_t g = 0; g < view->groups; g++) {
        const int64_t at = ((int64_t)block * view->groups + g) * view->group * 4;
        const uint8_t *first = view->codes[0] + at;
        const cursor start = {first, UH_HAS_SECOND(kind) ? view->codes[1] + at : first, UH_HAS_FINE(kind) ? view->codes[2] + 2 * at : first};
        float scales[UH_ROWS], offsets[UH_ROWS];
        int32_t sums[UH_MOST_TOKENS][UH_ROWS];
        uh_scales(view, block, g, scales, offsets);
        group_dots(start, table, x, (int64_t)g * view->group, view->group, kind, n, sums);
        for (int t = 0; t < n; t++) {
            for (int r = 0; r < UH_ROWS; r++) {
                y[t][r] += (float)sums[t][r] * (scales[r] * x[t].scales[g]);
                y[t][r] += offsets[r] * x[t].sums[g];
            }
        }
    }
    for (int t = 0; t < n; t++)
        for (int r = 0; r < UH_ROWS; r++) y[t][r] *= view->unit;
}

/* One body for each kind of codes, for one token and for some: nothing is decided between two tiles. */
#define BODY(kind)                                                                     \
    case kind:                                                                         \
        if (n == 1)                                                                    \
            tile_dots(view, block, x, kind, 1, y);                                     \
        else                                                                           \
            tile_dots(view, block, x, kind, n, y);                                     \
        break;
UH_TARGET void uh_dots_neon(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]) {
    switch (view->kind) { BODY(1) BODY(2) BODY(3) BODY(UH_TABLED) BODY(UH_WIDE_TABLED) BODY(UH_SIX) }
}

void uh_many_neon(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n, void *scratch, float *y,
                  int64_t stride) {
    (void)scratch;
    uh_many_of(uh_dots_neon, view, block, blocks, x, n, y, stride);
}
#endif
