/* What calls share: threads, the instruction set, and scratch memory that grows to what was needed. */
#ifndef UH_CONTEXT_H
#define UH_CONTEXT_H

#include <stddef.h>

#include "operand.h"
#include "pool.h"
#include "rows.h"

/* What one thread works in. */
typedef struct {
    uh_buffer scratch;
    char apart[UH_LINE]; /* no two in one line: two threads that write to one would fetch it from each other every time */
} uh_lane;

struct uh_context {
    uh_pool *pool;
    const uh_isa *isa;
    int exact;
    int pairs; /* whether bf16 may be multiplied two numbers at a time: see attend_pairs.h */
    int32_t lanes; /* threads that may work at the same time */
    uh_lane *lane;
    uh_operand input, slots, hidden, raw; /* tokens; the same by slot; between up and down; for raw matrices */
    uh_buffer h, out, jobs, call_tokens, asked;
};

/* Weights times tokens below which waking others costs more than it brings: some 15 us. */
enum { UH_SERIAL_WEIGHTS = 1 << 19, UH_SERIAL_NUMBERS = 1 << 17 };

/* How work is shared out: on the pool, one unit after the other here in lane 0, or on the pool and lasting. */
enum { UH_SHARED, UH_SERIAL, UH_LASTING };
static inline int uh_sharing(int serial, int32_t tokens) {
    return serial ? UH_SERIAL : tokens > UH_MOST_TOKENS ? UH_LASTING : UH_SHARED;
}

/* Runs units, shared out as `how` says (see uh_pool_run). */
void uh_share(uh_context *context, int how, uh_work work, void *argument, int32_t units);

/* Room in every lane for `many`; 0: out of memory. */
int uh_ensure_scratch(uh_context *context, int64_t bytes);
void *uh_scratch(const uh_context *context, int32_t lane);

/* The most row blocks that uh_product takes at once, and how many it should be given for n tokens. */
enum { UH_WIDE = UH_PAIR * UH_ROWS };
static inline int32_t uh_blocks(const uh_operand *operand, int32_t n) {
    return operand->form == UH_INT8 && n > UH_MOST_TOKENS ? UH_PAIR : 1;
}

/* Row blocks of 16 that cover `rows` rows, at most `most`. */
static inline int32_t uh_blocks_for(int32_t rows, int32_t most) {
    const int32_t blocks = (rows + UH_ROWS - 1) / UH_ROWS;
    return blocks < most ? blocks : most;
}

/* y[t * 16 * blocks + r] = (W x[at + t] + bias)[16 * block + r] for t < n and the rows r of `blocks` row blocks, in the
 * form that the operand has. */
void uh_product(const uh_context *context, const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_operand *operand,
                int32_t at, int32_t n, int32_t lane, float *y);

/* uh_linear on vectors that lie x_stride values apart, with results y_stride values apart. */
int uh_linear_rows(uh_context *context, const uh_matrix_view *view, const float *x, int64_t x_stride, int32_t tokens,
                   float *y, int64_t y_stride);

static inline int32_t uh_least(int32_t a, int32_t b) { return a < b ? a : b; }

#endif
