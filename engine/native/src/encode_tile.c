/* What all instruction sets have of the work on a tile. */
#include "encode_tile.h"

#include <math.h>

float uh_shrunk(const uh_encoder *encoder, int32_t step, float d, float codes_per_weight) {
    const float p = (float)encoder->rule->lp_norm, size = fabsf(d);
    const float pull = powf(codes_per_weight, 2.0f - p) / (float)encoder->beta[step];
    const float left = size - pull * powf(size, p - 1.0f);
    return left > 0.0f ? copysignf(left, d) : 0.0f;
}
