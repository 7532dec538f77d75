/* The ops of the graph for the instruction set that vectors.h was told of: included by one file for each, with UH_OPS as
 * the name of its table. */
#include "vectors.h"

#include "attend.h"
#include "delta.h"
#include "latent.h"
#include "ops.h"

const uh_op_function UH_OPS[UH_OP_KINDS] = {
    [UH_OP_NORM] = run_norm,       [UH_OP_ADD] = run_add,         [UH_OP_SCALE] = run_scale,
    [UH_OP_GATE] = run_gate,       [UH_OP_ACTIVATE] = run_activate, [UH_OP_SOFTCAP] = run_softcap,
    [UH_OP_HEADS] = run_heads,     [UH_OP_ATTEND] = run_attend,   [UH_OP_ROUTE] = run_route,
    [UH_OP_LATENT] = run_latent,   [UH_OP_LATENT_ATTEND] = run_latent_attend,
    [UH_OP_DELTA] = run_delta,     [UH_OP_CONV] = run_conv,
};
