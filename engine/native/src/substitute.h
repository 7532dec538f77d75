/* Cache-aware routing: an expert that is missing may be replaced by one in memory that the router likes nearly as well
 * (Skliar et al. 2024, arXiv 2412.00099). Never under the exact dial. */
#ifndef UH_SUBSTITUTE_H
#define UH_SUBSTITUTE_H

#include "underhill_kernels.h"

/* Writes which experts run into the ids of a step with a route, and their weights: those that its router chose, but for
 * substitutes. What it finds depends on the router and on what is in memory now, not on what it found before. The most
 * important expert of a token always stays. */
void uh_substitute(const uh_resident_layer *layer, const uh_step_args *step);
/* Counts a step that runs as uh_substitute left it. */
void uh_note_substitutes(const uh_resident_layer *layer, const uh_step_args *step);

#endif
