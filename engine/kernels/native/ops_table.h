/* The ops of the tape for the instruction set that vectors.h was told of: included by one file for each, with UH_OPS as
 * the name of its table. */
#include "vectors.h"

#include "attend.h"
#include "delta.h"
#include "latent.h"
#include "ops.h"

const uh_player UH_OPS[UH_OP_KINDS] = {
    [UH_OP_NORM] = play_norm,       [UH_OP_ADD] = play_add,         [UH_OP_SCALE] = play_scale,
    [UH_OP_GATE] = play_gate,       [UH_OP_ACTIVATE] = play_activate, [UH_OP_SOFTCAP] = play_softcap,
    [UH_OP_HEADS] = play_heads,     [UH_OP_ATTEND] = play_attend,   [UH_OP_ROUTE] = play_route,
    [UH_OP_LATENT] = play_latent,   [UH_OP_LATENT_ATTEND] = play_latent_attend,
    [UH_OP_DELTA] = play_delta,     [UH_OP_CONV] = play_conv,
};
