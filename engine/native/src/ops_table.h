/* The ops of the graph for the instruction set that vectors.h was told of: included by one file for each, with UH_OPS as
 * the name of its table. */
#include "vectors.h"

#include "attend.h"
#include "delta.h"
#include "latent.h"
#include "ops.h"

const uh_op_function UH_OPS[UH_OP_KINDS] = {
    [UH_OP_NORM] = {.row = run_norm},     [UH_OP_ADD] = {.row = run_add},
    [UH_OP_SCALE] = {.row = run_scale},   [UH_OP_GATE] = {.row = run_gate},
    [UH_OP_ACTIVATE] = {.row = run_activate}, [UH_OP_SOFTCAP] = {.row = run_softcap},
    [UH_OP_HEADS] = {.row = run_heads, .keep = keep_heads},   [UH_OP_ATTEND] = {.rows = run_attend},
    [UH_OP_ROUTE] = {.row = run_route},   [UH_OP_LATENT] = {.row = run_latent, .keep = keep_latent},
    [UH_OP_LATENT_ATTEND] = {.rows = run_latent_attend},
    [UH_OP_DELTA] = {.rows = run_delta},  [UH_OP_CONV] = {.rows = run_conv},
};
