/* The op graph: one token's way through the part of a layer that is no expert, as a list of operations on fixed addresses.
 *
 * engine/native/op_graph.py packs the ops and says what each one's numbers and addresses mean; every op is one function of
 * the type uh_op_function, found by its kind: what differs by instruction set in ops_*.c, the rest in op_graph.c.
 * All vectors are float32. Ops run on the calling thread, but for products and attention, which take the pool.
 */
#ifndef UH_OP_GRAPH_H
#define UH_OP_GRAPH_H

#include <stdint.h>

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

struct uh_op {
    int32_t kind;
    int32_t n[11];
    float f[4];
    void *p[12];
};

/* What of a step is not fixed. state: for every layer UH_STATES addresses of what the sequence keeps there: a uh_kv_rows per
 * buffer of rows, or the tensors of a recurrent state. */
struct uh_step {
    int64_t position; /* of the token */
    void *const *state;
};

/* Rows [heads, rows of all chunks, dim] of one buffer, in chunks [heads, rows, dim]. bits: 16 (bf16) or 32 (float32). */
typedef struct {
    int32_t chunks, bits;
    struct {
        uint8_t *data;
        int64_t rows;
    } chunk[];
} uh_kv_rows;

/* 0: done; -1: out of memory. */
typedef int (*uh_op_function)(uh_context *context, const uh_op *op, const uh_step *step);

extern const uh_op_function uh_ops_portable[UH_OP_KINDS];
#if defined(__x86_64__)
extern const uh_op_function uh_ops_avx2[UH_OP_KINDS];
extern const uh_op_function uh_ops_avx512[UH_OP_KINDS];
#endif

#endif
