/* What HOBBIT's priority is made of, kept up to date natively: the twin of engine/experts/policies/hobbit.py, which says what
 * the numbers mean. Experts are numbered row by row. */
#ifndef UH_HOBBIT_H
#define UH_HOBBIT_H

#include "underhill_kernels.h"

/* All the caller's, which writes weights and near, and row and token when a sequence begins. */
struct uh_hobbit {
    double *scores, *last, *ticks, *priority;
    const double *bars, *near; /* near: [rows + 1, rows] */
    int32_t *state, *next;     /* as in uh_eviction; next: [most] */
    double lru, lfu, lhu, visits;
    int64_t token; /* in this sequence */
    int32_t row;   /* that runs now; `rows` before the first */
    int32_t rows, experts, most;
};

/* A row's turn: it uses these n experts. high: which of them at high precision, NULL: all. tokens: of the pass. */
UH_API void uh_hobbit_note(uh_hobbit *hobbit, int32_t row, const int32_t *experts, const uint8_t *high, int32_t n,
                           int32_t tokens);
/* The same for a step as uh_look_up leaves it: what is skipped is not used. */
void uh_hobbit_visit(uh_hobbit *hobbit, const uh_resident_layer *layer, const uh_step_args *step);
/* The priorities of now, and which leave next. */
UH_API void uh_hobbit_prioritize(uh_hobbit *hobbit);

#endif
