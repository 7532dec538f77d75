/* Dense matrices are quantized when a model is opened, by a fit that takes moments. 8 bits: from the lowest weight of a
 * group to its highest. 4 bits: the best of 16 ranges inside that one, by the error of the least-squares line through
 * weights and codes; the codes nearest to that line give the next line, and so on. */
#include "pack.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "context.h"
#include "half.h"
#include "scales.h"

enum {
    MOST_GROUP = 256,
    PEAK_UNITS = 64,
    TRIALS = 4, /* of either end of the range */
    REFITS = 2
};

/* Parts of the way from the middle to an end. */
static const float SHARES[TRIALS] = {1.0f, 0.92f, 0.84f, 0.76f};
static const float ROUNDER = 12582912.0f; /* 1.5 * 2^23: adding it rounds to the nearest whole number, ties to even */

#define VECTORS(width)                                                                           \
    typedef float v##width##f __attribute__((vector_size(4 * width), aligned(4), may_alias));    \
    typedef int32_t v##width##i __attribute__((vector_size(4 * width), aligned(4), may_alias));  \
    typedef uint8_t v##width##b __attribute__((vector_size(width), aligned(1), may_alias))
VECTORS(4);

typedef struct {
    float offset, inverse, top; /* code = clamp((w - offset) * inverse, 0, top), rounded */
} line;

typedef struct {
    float codes, squares, products; /* sums of code, code^2 and code * (w - middle) */
} moments;

typedef struct {
    float low, high, middle, sum;
} range;

#define TARGET
#define NAME(name) name##_portable
#define WIDTH 4
#define VF v4f
#define VI v4i
#define VB v4b
#if defined(__x86_64__)
#define MAX(a, b) ((v4f)_mm_max_ps((__m128)(a), (__m128)(b)))
#define MIN(a, b) ((v4f)_mm_min_ps((__m128)(a), (__m128)(b)))
#else
#define EITHER(mask, a, b) ((v4f)(((mask) & (v4i)(a)) | (~(mask) & (v4i)(b))))
#define MAX(a, b) EITHER((a) > (b), a, b)
#define MIN(a, b) EITHER((a) < (b), a, b)
#endif
#include "pack_group.h"
#if defined(__x86_64__)
VECTORS(8);
#define TARGET __attribute__((target("avx2")))
#define NAME(name) name##_avx2
#define WIDTH 8
#define VF v8f
#define VI v8i
#define VB v8b
#define MAX(a, b) ((v8f)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define MIN(a, b) ((v8f)_mm256_min_ps((__m256)(a), (__m256)(b)))
#include "pack_group.h"
VECTORS(16);
/* GCC takes 256 bits at a time unless it is told. clang does not know the word, and drops the whole attribute for it. */
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")))
#endif
#define NAME(name) name##_avx512
#define WIDTH 16
#define VF v16f
#define VI v16i
#define VB v16b
#define MAX(a, b) ((v16f)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define MIN(a, b) ((v16f)_mm512_min_ps((__m512)(a), (__m512)(b)))
#include "pack_group.h"
#endif

typedef struct {
    void (*load)(const uint8_t *weights, int32_t kind, int32_t n, float factor, float *w);
    void (*fit)(const float *w, int32_t group, int32_t kind, uint8_t *codes, uint16_t *params);
} fitter;

static fitter fitter_of(const uh_context *context) {
#if defined(__x86_64__)
    if (context->isa == uh_isa_table(UH_AVX512) || context->isa == uh_isa_table(UH_AVX512VNNI))
        return (fitter){load_avx512, fit_avx512};
    if (context->isa != uh_isa_table(UH_PORTABLE)) return (fitter){load_avx2, fit_avx2};
#endif
    (void)context;
    return (fitter){load_portable, fit_portable};
}

/* ---- the largest ------------------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *weights;
    int64_t n;
    int32_t kind;
    uint32_t most[PEAK_UNITS]; /* bits of the largest magnitude; those of what is not finite are larger than any other */
} search;

static void peak_part(void *argument, int32_t unit, int32_t lane) {
    search *s = argument;
    const int64_t part = (s->n + PEAK_UNITS - 1) / PEAK_UNITS, first = unit * part;
    const int64_t end = first + part < s->n ? first + part : s->n;
    (void)lane;
    if (s->kind == 32) {
        int32_t most = 0, bits;
        for (int64_t i = first; i < end; i++) {
            memcpy(&bits, s->weights + 4 * i, 4);
            bits &= 0x7fffffff;
            most = bits > most ? bits : most;
        }
        s->most[unit] = (uint32_t)most;
    } else {
        int16_t most = 0, bits;
        for (int64_t i = first; i < end; i++) {
            memcpy(&bits, s->weights + 2 * i, 2);
            bits &= 0x7fff;
            most = bits > most ? bits : most;
        }
        s->most[unit] = (uint32_t)most << 16;
    }
}

float uh_peak(uh_context *context, const uint8_t *weights, int32_t kind, int64_t n) {
    search s = {weights, n, kind, {0}};
    uh_share(context, n < UH_SERIAL_WEIGHTS, peak_part, &s, PEAK_UNITS);
    uint32_t most = 0;
    for (int i = 0; i < PEAK_UNITS; i++) most = s.most[i] > most ? s.most[i] : most;
    if (most >= 0x7f800000u) most = 0x7fc00000u;
    float peak;
    memcpy(&peak, &most, sizeof peak);
    return peak;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const uh_matrix_view *view;
    const uint8_t *weights;
    fitter fitter;
    int32_t first, count, kind;
} packing;

/* Bits shift .. shift + bits - 1 of a row's codes, 4 codes to a word, into its words of a tile. */
static void put_plane(const uint8_t *codes, int32_t group, int shift, int bits, uint8_t *tile) {
    const uint32_t mask = 0x01010101u * ((1u << bits) - 1u);
    const int words = 8 / bits;
    for (int32_t line = 0; line < group / (4 * words); line++) {
        uint32_t packed = 0, word;
        for (int s = 0; s < words; s++) {
            memcpy(&word, codes + 4 * (line * words + s), 4);
            packed |= (word >> shift & mask) << (bits * s);
        }
        memcpy(tile + line * UH_LINE, &packed, 4);
    }
}

static void put_row(const packing *p, int32_t row) {
    const uh_matrix_view *view = p->view;
    const int32_t group = view->group, size = p->kind == 32 ? 4 : 2, at_row = row % UH_ROWS;
    const uint8_t *weights = p->weights + (int64_t)(row - p->first) * view->cols * size;
    const float factor = 1.0f / view->unit;
    for (int32_t g = 0; g < view->groups; g++) {
        float w[MOST_GROUP];
        uint8_t codes[MOST_GROUP];
        uint16_t params[UH_ROWS + 1];
        const int32_t n = uh_least(group, view->cols - g * group);
        const int64_t tile = (int64_t)(row / UH_ROWS) * view->groups + g;
        p->fitter.load(weights + (int64_t)g * group * size, p->kind, n, factor, w);
        for (int32_t c = n; c < group; c++) w[c] = w[c - n]; /* what only pads shall not widen the range */
        p->fitter.fit(w, group, view->kind, codes, params);
        memset(codes + n, 0, (size_t)(group - n));
        const int64_t at = tile * group * 4 + 4 * at_row; /* in a part of 2 bits */
        put_plane(codes, group, view->kind == 3 ? 6 : 2, 2, (uint8_t *)view->codes[0] + at);
        put_plane(codes, group, view->kind == 3 ? 4 : 0, 2, (uint8_t *)view->codes[1] + at);
        if (view->kind == 3) put_plane(codes, group, 0, 4, (uint8_t *)view->codes[2] + 2 * at - 4 * at_row);
        uint8_t *to = (uint8_t *)view->params + tile * UH_LINE + 2 * at_row;
        memcpy(to, &params[0], 2);
        memcpy(to + UH_LINE / 2, &params[UH_ROWS], 2);
    }
}

static void pack_block(void *argument, int32_t unit, int32_t lane) {
    const packing *p = argument;
    const int32_t block = p->first / UH_ROWS + unit, end = p->first + p->count;
    (void)lane;
    for (int32_t row = block * UH_ROWS; row < (block + 1) * UH_ROWS; row++)
        if (row >= p->first && row < end) put_row(p, row);
}

void uh_pack(uh_context *context, const uh_matrix_view *view, int32_t first, int32_t count, const uint8_t *weights,
             int32_t kind) {
    packing p = {view, weights, fitter_of(context), first, count, kind};
    const int32_t blocks = (first + count + UH_ROWS - 1) / UH_ROWS - first / UH_ROWS;
    uh_share(context, 0, pack_block, &p, blocks);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int bits_at(const uint8_t *tile, int32_t column, int bits) {
    const int32_t words = 8 / bits, line = column / (4 * words), s = column / 4 % words;
    return tile[line * UH_LINE + column % 4] >> (bits * s) & ((1 << bits) - 1);
}

void uh_rows(const uh_matrix_view *view, const int64_t *ids, int32_t n, float *out) {
    for (int32_t i = 0; i < n; i++, out += view->cols) {
        const int64_t block = ids[i] / UH_ROWS, row = ids[i] % UH_ROWS;
        for (int32_t g = 0; g < view->groups; g++) {
            const int64_t tile = block * view->groups + g, at = tile * view->group * 4 + 4 * row; /* in a part of 2 bits */
            float scale, offset;
            uh_scales_of(view, uh_scales_at(view, block, g), uh_wide_at(view, block, g), (int)row, &scale, &offset);
            const int32_t first = g * view->group, end = uh_least(first + view->group, view->cols);
            for (int32_t c = first; c < end; c++) {
                int code = bits_at(view->codes[0] + at, c - first, 2);
                if (UH_HAS_SECOND(view->kind)) code = code << 2 | bits_at(view->codes[1] + at, c - first, 2);
                if (UH_HAS_TABLE(view->kind)) code = view->table[code];
                if (UH_HAS_FINE(view->kind)) code = code << 4 | bits_at(view->codes[2] + 2 * at - 4 * row, c - first, 4);
                out[c] = view->unit * (scale * (float)code + offset);
            }
        }
    }
}
