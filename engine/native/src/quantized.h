/* A vector in 8 bits, as the tiles meet it. */
#ifndef UH_QUANTIZED_H
#define UH_QUANTIZED_H

#include <stdint.h>

/* x[c] ~ scales[c / group] * codes[c], codes in -127..127, in the groups of the matrix; padding columns have code 0.
 * sums[g] = scales[g] * the sum of the group's codes: of what is multiplied, not of what was meant, so that the errors
 * of x meet weights without a mean. A group with a NaN or an infinity has NaN for scale and sum. sizes: the codes without
 * their signs, where an instruction set asks for them. */
typedef struct {
    const int8_t *codes, *sizes;
    const float *scales, *sums;
} uh_quantized;

#endif
