/* float16 to float32 in plain C. */
#ifndef UH_HALF_H
#define UH_HALF_H

#include <stdint.h>
#include <string.h>

static inline float uh_half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 0x3ffu;
    if (exponent == 0) { /* subnormal: fraction * 2^-24 */
        float value = (float)fraction * 5.9604644775390625e-8f;
        return sign ? -value : value;
    }
    uint32_t bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23) | fraction << 13;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

#endif
