/* What the products with activations of 8 bits have in common in registers of 256 bits: the 16 rows of a tile in two halves
 * of 8. Before it define UH_TARGET; MIDDLE(kind), which is taken from the levels of that kind; and FURTHER(kind), how many
 * times as far ahead as with AVX-512 VNNI codes of that kind are fetched. Define group_dots after it, and use UH_DOTS. */
#include <immintrin.h>
#include <string.h>

#include "scales_256.h"

#define INLINE UH_TARGET static inline __attribute__((always_inline))

enum { TOKENS = 2, HALF = 8, HALF_LINE = 32 };

INLINE __m256i masked(__m256i v, int mask) { return _mm256_and_si256(v, _mm256_set1_epi8((char)mask)); }

/* The lines of upper and of lower two bits to codes of 4 bits, two in a byte. even: the upper ones, and then those of columns
 * 4 s + j for s = 0, 2; odd: then those for s = 1, 3. */
INLINE void exchange(__m256i lower, __m256i *even, __m256i *odd) {
    const __m256i differ = masked(_mm256_xor_si256(_mm256_srli_epi32(lower, 2), *even), 0x33);
    *odd = _mm256_xor_si256(*even, differ);
    *even = _mm256_xor_si256(lower, _mm256_slli_epi32(differ, 2));
}

INLINE __m256i line(const uint8_t *from, int half) { return _mm256_loadu_si256((const __m256i *)(from + half * HALF_LINE)); }

INLINE __m256i four(const int8_t *codes) {
    int32_t columns;
    memcpy(&columns, codes, 4);
    return _mm256_set1_epi32(columns);
}

/* Where the codes and the scales of a group of a row block stand, and how many bytes ahead they are fetched. */
typedef struct {
    const uint8_t *p0, *p1, *p2, *params;
    int32_t each, ahead, params_ahead;
} cursor;

INLINE cursor cursor_at(const uh_matrix_view *view, int32_t block) {
    const int64_t at = (int64_t)block * view->groups * view->group * 4;
    const int kind = view->kind, each = uh_scales_bytes(view);
    const uint8_t *p0 = view->codes[0] + at;
    return (cursor){.p0 = p0,
                   .p1 = UH_HAS_SECOND(kind) ? view->codes[1] + at : p0,
                   .p2 = UH_HAS_FINE(kind) ? view->codes[2] + 2 * at : p0,
                   .params = uh_scales_at(view, block, 0),
                   .each = each,
                   .ahead = FURTHER(kind) * uh_fetch_distance(kind),
                   .params_ahead = FURTHER(kind) * uh_params_distance(kind, view->group, each)};
}

INLINE void advance(cursor *at, int32_t columns) { at->p0 += columns * 4, at->p1 += columns * 4, at->p2 += columns * 8; }

/* Fetches codes ahead of 16 columns. */
INLINE void fetch(const cursor *at, int kind) {
    UH_STREAM(at->p0 + at->ahead);
    if (UH_HAS_SECOND(kind)) UH_STREAM(at->p1 + at->ahead);
    if (UH_HAS_FINE(kind)) UH_STREAM(at->p2 + 2 * at->ahead), UH_STREAM(at->p2 + 2 * at->ahead + UH_LINE);
}

/* The first two parts of the codes of 16 columns, for `halves` halves of the rows from `first` on: see `exchange`. With one
 * part, both are that. */
INLINE void read_pairs(const cursor *at, int kind, int first, int halves, __m256i *even, __m256i *odd) {
#pragma GCC unroll 2
    for (int h = 0; h < halves; h++) {
        even[h] = odd[h] = line(at->p0, first + h);
        if (UH_HAS_SECOND(kind)) exchange(line(at->p1, first + h), &even[h], &odd[h]);
    }
}

/* sum[t][h] = code * x of group g, for both halves of the rows: of each instruction set. halves: to be taken at once. */
INLINE void group_dots(cursor *at, __m256i table, const uh_quantized *x, int32_t g, int kind, int group, int n, int halves,
                       __m256i (*sum)[2]);

/* total += scale of w * scale of x * sum + offset * sum of x, for group g of n tokens; sum: whole numbers. */
INLINE void add_group(const uh_matrix_view *view, const uint8_t *params, const uh_wide_256 *wide, const uh_quantized *x, int32_t g,
                      int n, __m256i (*sum)[2], __m256 (*total)[2]) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        __m256 scale, offset;
        uh_scales_256(view, params, wide[half], half, &scale, &offset);
#pragma GCC unroll 2
        for (int t = 0; t < n; t++) {
            const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(x[t].scales[g]));
            total[t][half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[t][half]), both, total[t][half]);
            total[t][half] = _mm256_fmadd_ps(offset, _mm256_set1_ps(x[t].sums[g]), total[t][half]);
        }
    }
}

INLINE void store_rows(const uh_matrix_view *view, int n, __m256 (*total)[2], float (*y)[UH_ROWS]) {
    for (int t = 0; t < n; t++)
        for (int half = 0; half < 2; half++)
            _mm256_storeu_ps(y[t] + half * HALF, _mm256_mul_ps(total[t][half], _mm256_set1_ps(view->unit)));
}

/* The table of a view, twice: for each half of a register. */
INLINE __m256i table_of(const uh_matrix_view *view) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)view->table));
}

INLINE void tile_dots(const uh_matrix_view *any, int32_t block, const uh_quantized *x, int kind, int form, int group, int n,
                      float (*y)[UH_ROWS]) {
    uh_matrix_view own = uh_known(any, kind, form, group);
    const uh_matrix_view *view = &own;
    __m256i table = UH_HAS_TABLE(kind) ? table_of(view) : _mm256_setzero_si256();
    if (MIDDLE(kind)) own.zero -= MIDDLE(kind), table = _mm256_sub_epi8(table, _mm256_set1_epi8(MIDDLE(kind)));
    const int halves = n == 1 ? 2 : 1; /* at once: their sums fit in registers */
    cursor at = cursor_at(view, block);
    const __m256 none = _mm256_setzero_ps();
    uh_wide_256 wide[2] = {{none, none}, {none, none}}; /* set at the first group; GCC does not see that */
    __m256 total[TOKENS][2];
#pragma GCC unroll 2
    for (int t = 0; t < n; t++) total[t][0] = total[t][1] = _mm256_setzero_ps();
    for (int32_t g = 0; g < view->groups; g++) {
        __m256i sum[TOKENS][2];
        if (form != UH_SUPER || g * group % UH_SUPER_COLUMNS == 0)
            for (int half = 0; half < 2; half++) wide[half] = uh_wide_of(view, uh_wide_at(view, block, g), half);
        group_dots(&at, table, x, g, kind, group, n, halves, sum);
        add_group(view, at.params, wide, x, g, n, sum, total);
        UH_STREAM(at.params + at.params_ahead);
        at.params += at.each;
    }
    store_rows(view, n, total, y);
}

/* The `dots` of an instruction set: one body for each coding and count of tokens; for one token of each group that sources
 * of 4 bits have, too. */
#define BODY(kind, form, group, n) \
    case 2 * UH_CODING(kind, form) + n - 1: tile_dots(view, block, x, kind, form, group, n, y); break;
#define ONE(kind, form, group) BODY(kind, form, group, 1)
#define SOME(kind, form, group) ONE(kind, form, group) BODY(kind, form, group, 2)
#define UH_DOTS(name)                                                                                                   \
    UH_TARGET static void few(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n,                     \
                              float (*y)[UH_ROWS]) {                                                                    \
        const int body = 2 * UH_CODING(view->kind, view->form) + n - 1;                                                 \
        if (n == 1 && view->group == 16) {                                                                              \
            switch (body) { UH_CODINGS(ONE, 16) }                                                                       \
        } else if (n == 1 && view->group == 32) {                                                                       \
            switch (body) { UH_CODINGS(ONE, 32) }                                                                       \
        } else {                                                                                                        \
            switch (body) { UH_CODINGS(SOME, view->group) }                                                             \
        }                                                                                                               \
    }                                                                                                                   \
    void name(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]) {              \
        for (int32_t t = 0; t < n; t += TOKENS) few(view, block, x + t, n - t < TOKENS ? 1 : TOKENS, y + t);            \
    }
