#include "hobbit.h"

#include <stddef.h>

#define TIE 1e-9 /* of a use, per visit */

void uh_hobbit_note(uh_hobbit *hobbit, int32_t row, const int32_t *experts, const uint8_t *high, int32_t n,
                    int32_t tokens) {
    if (row <= hobbit->row) hobbit->token += tokens; /* the round begins anew */
    hobbit->row = row;
    hobbit->visits += TIE;
    hobbit->state[0] = 0;
    const double token = (double)hobbit->token, recent = hobbit->lru * token;
    for (int32_t i = 0; i < n; i++) {
        const int64_t at = (int64_t)row * hobbit->experts + experts[i];
        const double used = !high || high[i] ? hobbit->lfu + hobbit->lhu : hobbit->lfu;
        hobbit->scores[at] += recent - hobbit->lru * hobbit->last[at] + used;
        hobbit->last[at] = token;
        hobbit->ticks[at] = hobbit->visits;
    }
}

void uh_hobbit_visit(uh_hobbit *hobbit, const uh_resident_layer *layer, const uh_step_args *step) {
    int32_t used[UH_MOST_ASKED], n = 0;
    uint8_t high[UH_MOST_ASKED];
    for (int32_t i = 0; i < step->n; i++) {
        /* What a card computed was no use of this memory's: its copy here grows old, and makes room for what is. */
        if (step->to_fetch[i] == UH_SKIPPED || step->to_fetch[i] == UH_TAKEN) continue;
        used[n] = (int32_t)step->experts[i];
        high[n++] = step->high[i];
    }
    uh_hobbit_note(hobbit, layer->row, used, high, n, step->tokens);
}

void uh_hobbit_prioritize(uh_hobbit *hobbit) {
    hobbit->state[1] = uh_order(hobbit->scores, hobbit->ticks, hobbit->bars, hobbit->near + hobbit->row * hobbit->rows,
                                (double)hobbit->token, hobbit->rows, hobbit->experts, hobbit->priority, hobbit->most,
                                hobbit->next);
    hobbit->state[0] = 1;
}
