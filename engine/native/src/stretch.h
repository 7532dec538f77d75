/* Layers of a token that a graphics card computes one after the other, experts included (engine/cuda/stretches.py). */
#ifndef UH_STRETCH_H
#define UH_STRETCH_H

#include "card.h"
#include "op_graph.h"

/* What is left to do here for ops that a card computed: `kept` is copied from where the log has come to, then the ops write
 * what their sequence keeps. */
typedef struct {
    const uh_op *ops;
    const uh_card_copy *kept;
    int32_t n_ops, n_kept;
} uh_card_part;

/* Layers of a single token that a card computes in one go, experts included, up to the first that lacks one there; or all of
 * them, and the logits. run: that of the first of them, whose vectors go there. graph: all of it, as the driver has it, but
 * for the commands; NULL: these are all of it. parts: of the token's ops, in their order; ends: by layer, how many of them
 * there are up to its experts; layers: how many; the last of ends is behind them. first_part: that the stretch begins with;
 * end: the layer whose experts are not computed in any case; `layers`: none, and what follows is computed as well. out,
 * answer: what comes back from `came`, in front of a layer's experts, and behind all layers. lacking: pinned memory that the
 * number of the first layer that lacked an expert is copied to; -1: none. */
typedef struct {
    const uh_card_run *run;
    void *graph;
    const uh_card_command *commands;
    const uh_card_part *parts;
    const int32_t *ends, *lacking;
    const uh_card_copy *out, *answer;
    const char *came, *log;
    int32_t n_commands, first_part, end, layers, n_out, n_answer;
} uh_card_stretch;

/* Compute a stretch of layers: the layer whose experts are to be computed next, for which all is in
 * ordinary memory; n: none, the logits are there; -1: the processor has to compute from the first layer on. */
UH_API int32_t uh_run_stretch(uh_context *context, const uh_card_stretch *stretch, const uh_step *step);

#endif
