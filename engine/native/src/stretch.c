/* See stretch.h. */
#include "stretch.h"

int32_t uh_run_stretch(uh_context *context, const uh_card_stretch *s, const uh_step *step) {
    if (!uh_card_compute(s->run, s->graph, s->commands, s->n_commands, step->row->position)) return -1;
    const int32_t asked = *s->lacking < 0 ? s->end : *s->lacking;
    for (int32_t at = s->first_part; at < s->ends[asked]; at++) {
        const uh_card_part *part = s->parts + at;
        uh_card_bring(part->kept, part->n_kept, s->log);
        uh_keep_of(context, part->ops, part->n_ops, step->row);
    }
    if (asked == s->layers) {
        uh_card_bring(s->answer, s->n_answer, s->came);
        return asked;
    }
    uh_card_bring(s->out, s->n_out, s->came);
    const uh_card_part *last = s->parts + s->ends[asked] - 1;
    uh_mark_routed_elsewhere(last->ops, last->n_ops);
    return asked;
}
