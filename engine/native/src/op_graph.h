/* The op graph: the way of up to UH_MOST_ROWS tokens through the part of a layer that is no expert, as a list of operations
 * on fixed addresses. Each token is a row, with a position and a state of its own: tokens of one sequence, in their order,
 * or of several.
 *
 * engine/native/op_graph.py packs the ops, whose numbers and addresses op_slots.h names; every op is one function, found by
 * its kind: what differs by instruction set in ops_*.c, the rest in op_graph.c. A row's result has the same bits
 * whichever other rows run beside it. Most ops know one row alone. Those that read what all rows share, weights or the
 * keys of a sequence, run all rows at once, so that it comes from memory once. All vectors are float32.
 */
#ifndef UH_OP_GRAPH_H
#define UH_OP_GRAPH_H

#include <stdint.h>

#include "op_slots.h"
#include "underhill_kernels.h"

enum {
    UH_OP_NORM,
    UH_OP_LINEAR,
    UH_OP_ADD,
    UH_OP_SCALE,
    UH_OP_GATE,
    UH_OP_ACTIVATE,
    UH_OP_SOFTCAP,
    UH_OP_ROPE,
    UH_OP_HEADS,
    UH_OP_ATTEND,
    UH_OP_ROUTE,
    UH_OP_EACH,
    UH_OP_LATENT,
    UH_OP_LATENT_ATTEND,
    UH_OP_DELTA,
    UH_OP_CONV,
    UH_OP_KINDS
};

/* How a router's logits become scores; and what UH_ROUTE_GIVEN says: whether the experts are known and only to be weighed, or
 * that the scores are there as well. */
enum {
    UH_SCORE_SOFTMAX,
    UH_SCORE_TOPK_SOFTMAX, /* the scores are the logits */
    UH_SCORE_SIGMOID,
    UH_SCORE_SPARSEMIXER,
    UH_SCORE_SQRT_SOFTPLUS
};
enum { UH_NOT_GIVEN, UH_GIVEN, UH_GIVEN_SCORED };

struct uh_op {
    int32_t kind;
    /* Numbers, factors and addresses of the kind: see op_slots.h. */
    int32_t n[11];
    float f[4];
    void *p[12];
    /* The last of p: the uh_card_run that begins with this op, or NULL. */
    int32_t stride[12]; /* bytes from a row's to the next one's; 0: the same for all */
};

/* What of a row is not fixed. state: for every layer UH_STATES addresses of what its sequence keeps there: a uh_kv_rows per
 * buffer of rows; or the tensors of a recurrent state, which are written, and behind them as many that its first token in a
 * step is read from: the same, or others with what there was before. */
typedef struct {
    int64_t position;
    void *const *state;
} uh_row;

/* Rows first .. end - 1 run. Those of one sequence follow each other in the order of their positions. */
struct uh_step {
    const uh_row *row;
    int32_t first, end;
};

/* Where argument i of an op lies for a row. */
static inline void *uh_row_address(const uh_op *op, int i, int32_t row) {
    return op->p[i] ? (char *)op->p[i] + (int64_t)row * op->stride[i] : op->p[i];
}

/* Rows [heads, rows of all chunks, dim] of one buffer, in chunks [heads, rows, dim]. bits: 8 (kv_rows.h), 16 (bf16) or 32
 * (float32). */
typedef struct {
    int32_t chunks, bits;
    struct {
        uint8_t *data;
        int64_t rows;
    } chunk[];
} uh_kv_rows;

/* How a kind of op is run: row by row, in any order, op->p being that row's; or all at once: 0: done; -1: out of memory.
 * keep: what is left to do here where a card computed the op: what its sequence keeps is written. */
typedef struct {
    void (*row)(const uh_op *op, const uh_row *row);
    int (*rows)(uh_context *context, const uh_op *op, const uh_step *step);
    void (*keep)(const uh_op *op, const uh_row *row);
} uh_op_function;

/* Weighs the experts that a row's ids name now by the scores of its routing, which has run. */
void uh_reweigh(const uh_op *route, int32_t row);
/* Of ops whose answers a card has written for one row: their routing leaves no scores here, without which no expert can
 * stand in for what it chose. */
void uh_mark_routed_elsewhere(const uh_op *ops, int32_t n);
/* What is left to do here for ops that a card computed for a row: what their sequence keeps is written. */
void uh_keep_of(const uh_context *context, const uh_op *ops, int32_t n, const uh_row *row);

extern const uh_op_function uh_ops_portable[UH_OP_KINDS];
#if defined(__x86_64__)
extern const uh_op_function uh_ops_avx2[UH_OP_KINDS];
extern const uh_op_function uh_ops_avx512[UH_OP_KINDS];
#endif

#endif
