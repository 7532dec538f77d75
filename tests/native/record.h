/* Expert records made here, part by part, as the documentation of engine/record/layout.py says. */
#ifndef RECORD_H
#define RECORD_H

#include "matrix.h"

/* How an expert is to be. */
typedef struct {
    int hidden, intermediate, group, top, has_gate, has_bias, activation;
} expert_recipe;

typedef struct {
    matrix matrix[UH_MATRICES];
    uint8_t *codes[3], *params[3]; /* params: by tier */
} record;

/* Where everything lies in the parts of such experts: header, codes, biases; parameters; each from a multiple of 64. */
uh_layout layout_of(const expert_recipe *how);
/* A random expert. Its parts end with their last byte, begin `shift` bytes off a line, and hold nothing between the
 * sections that may be read. */
record make_record(const expert_recipe *how, const uh_layout *layout, size_t shift);
/* It as the library takes it, with this many planes, for no slots yet. */
uh_expert expert_of(const record *made, int planes);
/* y [hidden] = expert(x [hidden]) with this many planes; in 8 bits: x and h are rounded as the kernels do it. */
void expert_product(const record *made, const uh_layout *layout, int planes, int in_8_bits, const float *x, double *y);

#endif
