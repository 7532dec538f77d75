/* Activations to 8 bits, compiled once per instruction set: define UH_TARGET, include, and use uh_quantize.
 * Integers and single float operations throughout: every instruction set gives the same codes, scales and sums. */
#include <math.h>
#include <string.h>

#include "rows.h"

UH_TARGET static void uh_quantize(const float *x, int32_t cols, int32_t stored_cols, int32_t group, int8_t *codes,
                                  float *scales, float *sums) {
    for (int32_t g = 0; g < stored_cols / group; g++, codes += group) {
        const float *from = x + (int64_t)g * group;
        const int32_t there = cols - g * group, n = there < 0 ? 0 : there < group ? there : group;
        int32_t most = 0; /* of the bits without the sign: as whole numbers they are in the order of the floats */
        for (int32_t i = 0; i < n; i++) {
            int32_t bits;
            memcpy(&bits, from + i, 4);
            bits &= 0x7fffffff;
            most = bits > most ? bits : most;
        }
        float peak;
        memcpy(&peak, &most, 4);
        const int finite = most < 0x7f800000;
        const float inverse = finite && peak > 1e-36f ? 127.0f / peak : 0.0f; /* what is smaller counts as 0 */
        const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer that stands in the low bits */
        int32_t sum = 0;
        if (finite) {
            for (int32_t i = 0; i < n; i++) {
                const float shifted = from[i] * inverse + magic;
                int32_t bits;
                memcpy(&bits, &shifted, 4);
                codes[i] = (int8_t)bits;
                sum += (int8_t)bits;
            }
        }
        memset(codes + (finite ? n : 0), 0, (size_t)(group - (finite ? n : 0)));
        scales[g] = finite ? peak / 127.0f : NAN;
        sums[g] = scales[g] * (float)sum;
    }
}
