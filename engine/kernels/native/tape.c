/* Plays a tape: every op by its kind; those that are the same for every instruction set are here. */
#include "tape.h"

#include <math.h>

#include "context.h"

/* Cosines and sines of the angles position * frequency, times the factor that follows the frequencies: [n] each. */
static int play_rope(uh_context *context, const uh_op *op, const uh_step *step) {
    const float *frequencies = op->p[0], factor = frequencies[op->n[0]];
    float *cosines = op->p[1], *sines = op->p[2];
    (void)context;
    for (int32_t i = 0; i < op->n[0]; i++) {
        const float angle = (float)step->position * frequencies[i];
        cosines[i] = cosf(angle) * factor;
        sines[i] = sinf(angle) * factor;
    }
    return 0;
}

static int play_linear(uh_context *context, const uh_op *op, const uh_step *step) {
    (void)step;
    return uh_linear(context, op->p[0], op->p[1], 1, op->p[2]);
}

static const uh_player everywhere[UH_OP_KINDS] = {[UH_OP_ROPE] = play_rope, [UH_OP_LINEAR] = play_linear};

static const uh_player *ops_of(const uh_context *context) {
#if defined(__x86_64__)
    const uh_isa *isa = context->isa;
    if (isa == uh_isa_table(UH_AVX512) || isa == uh_isa_table(UH_AVX512VNNI)) return uh_ops_avx512;
    if (isa != uh_isa_table(UH_PORTABLE)) return uh_ops_avx2;
#else
    (void)context;
#endif
    return uh_ops_portable;
}

int uh_play(uh_context *context, const uh_op *ops, int32_t n, const uh_step *step) {
    const uh_player *players = ops_of(context);
    for (int32_t i = 0; i < n; i++) {
        const uh_player player = everywhere[ops[i].kind] ? everywhere[ops[i].kind] : players[ops[i].kind];
        if (player(context, &ops[i], step)) return -1;
    }
    return 0;
}
