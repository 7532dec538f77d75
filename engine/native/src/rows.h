/* What an instruction set provides: 16 rows of a matrix on some tokens, and what makes and follows them. */
#ifndef UH_ROWS_H
#define UH_ROWS_H

#include <stdint.h>

#include "quantized.h"
#include "underhill_kernels.h"

enum { UH_ROWS = 16, UH_MOST_TOKENS = 4, UH_LINE = 64 };

/* Bytes to fetch ahead in a part of 2 bits, with activations in float32: found by trying on Zen 5, where nearer helped
 * less and further no more. */
enum { UH_FETCH_DISTANCE = 2048 };

/* The same for activations of 8 bits: some 4 KiB over all streams, so that the time ahead is the same at every tier; found
 * by trying there too. Parameters, a line for each group, are fetched as far ahead. */
static inline int32_t uh_fetch_distance(int kind) { return 8192 >> (kind == UH_SIX ? 3 : kind > 3 ? 2 : kind); }
/* each: bytes of them for a group. */
static inline int32_t uh_params_distance(int kind, int32_t group, int32_t each) { return uh_fetch_distance(kind) / (4 * group) * each; }

/* Whether codes of a kind have a second part of 2 bits, and one of 4. */
#define UH_HAS_SECOND(kind) ((kind) != 1 && (kind) != UH_SIX)
#define UH_HAS_FINE(kind) ((kind) == 3 || (kind) == UH_SIX)
#define UH_HAS_TABLE(kind) ((kind) == UH_TABLED || (kind) == UH_WIDE_TABLED)

/* What AVX2 alone takes from each level of a wide table, to have a sign in 8 bits. */
#define UH_MIDDLE(kind) ((kind) == UH_WIDE_TABLED ? 127 : 0)

#define UH_FETCH(address) __builtin_prefetch((address), 0, 3)
/* For weights of which a token reads every line once: they pass by the larger caches, where everything else of a layer lies
 * (what Python runs between two layers was cold behind every one of them). */
#define UH_STREAM(address) __builtin_prefetch((address), 0, 0)

typedef struct {
    int32_t tokens; /* of `rows` per call, at most; up to UH_MOST_TOKENS */
    int32_t sizes;  /* whether `dots` reads activations without their signs, too */
    /* y[t][r] = (W x[t])[16 * block + r], without bias, with activations in float32. x[t]: padded to whole groups (raw:
     * to cols); sums[t][g]: the sum of group g of x[t] (raw: not read). One token's result does not depend on the
     * others. */
    void (*rows)(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,
                 float (*y)[UH_ROWS]);
    /* x [cols] in 8 bits: codes [stored_cols], scales and sums [stored_cols / group]. */
    void (*quantize)(const float *x, int32_t cols, int32_t stored_cols, int32_t group, int8_t *codes, float *scales,
                     float *sums);
    /* The same as `rows` on a tiled matrix and activations of 8 bits, n = 1 .. UH_MOST_TOKENS. For each row, by groups:
     *     total = fma(whole-number sum of code * x code, scale of w * scale of x, total)
     *     total = fma(offset, sum of x, total)
     * and in the end times the unit; portable C rounds between product and sum, and AVX2 alone takes UH_MIDDLE from code and
     * zero first. */
    void (*dots)(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]);
    /* The same, to the last bit, for any n and for `blocks` row blocks from `block` on: y[t * stride + r] for all their
     * rows r. scratch: uh_many_scratch(view) bytes of this thread's. */
    void (*many)(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n, void *scratch,
                 float *y, int64_t stride);
    /* h = activation(gate, up); gate is NULL where the experts have none. */
    void (*activate)(const uh_layout *layout, const float *gate, const float *up, float *h);
    uint64_t (*read)(const uint8_t *bytes, int64_t n);
    int (*attend_many)(uh_context *context, const uh_prefill *span);
    void (*finish_heads)(void *heads, int32_t unit, int32_t lane); /* an uh_work on a uh_heads, UH_HEADS_TOKENS tokens a unit */
} uh_isa;

enum { UH_HEADS_TOKENS = 8 };

/* The table of one instruction set, or NULL where it was not compiled in. */
const uh_isa *uh_isa_table(int isa);

/* Whether this processor multiplies pairs of bf16 in registers of 512 bits. */
int uh_has_pairs(void);

/* Row blocks and tokens that go together in `many`: two row blocks share what is read of a token, and so many tokens, with
 * what they have summed up so far, stay in the nearest cache beside one unpacked group of both. */
enum { UH_PAIR = 2, UH_TOGETHER = 64 };

/* Bytes that `many` needs beside what it is given: those sums, and that group. */
static inline int64_t uh_many_scratch(const uh_matrix_view *view) {
    return UH_PAIR * UH_ROWS * (UH_TOGETHER * (int64_t)sizeof(float) + view->group);
}

#define UH_DECLARE(isa)                                                                                                 \
    void uh_rows_##isa(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,  \
                       float (*y)[UH_ROWS]);                                                                            \
    void uh_quantize_##isa(const float *x, int32_t cols, int32_t stored_cols, int32_t group, int8_t *codes,             \
                           float *scales, float *sums);                                                                 \
    void uh_dots_##isa(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]);      \
    void uh_many_##isa(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n,            \
                       void *scratch, float *y, int64_t stride);                                                        \
    void uh_activate_##isa(const uh_layout *layout, const float *gate, const float *up, float *h);                      \
    uint64_t uh_read_##isa(const uint8_t *bytes, int64_t n);

int uh_attend_many_portable(uh_context *context, const uh_prefill *span);
void uh_finish_heads_portable(void *heads, int32_t unit, int32_t lane);
#if defined(__x86_64__)
int uh_attend_many_avx2(uh_context *context, const uh_prefill *span);
void uh_finish_heads_avx2(void *heads, int32_t unit, int32_t lane);
int uh_attend_many_avx512(uh_context *context, const uh_prefill *span);
void uh_finish_heads_avx512(void *heads, int32_t unit, int32_t lane);
#endif

UH_DECLARE(portable)
#if defined(__aarch64__)
UH_DECLARE(neon)
#endif
#if defined(__x86_64__)
UH_DECLARE(avx2)
UH_DECLARE(avxvnni)
UH_DECLARE(avx512)
UH_DECLARE(avx512vnni)
#endif

#endif
