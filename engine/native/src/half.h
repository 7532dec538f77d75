/* float16 to float32 and back in plain C. */
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

/* Nearest, ties to even; |value| < 65504. */
static inline uint16_t uh_float_to_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u;
    bits &= 0x7fffffffu;
    if (bits < 0x38800000u) { /* below 2^-14: the float 0.5 + value has steps of 2^-24, as subnormals do */
        float shifted;
        memcpy(&shifted, &bits, sizeof bits);
        shifted += 0.5f;
        memcpy(&bits, &shifted, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    bits += 0xfffu + (bits >> 13 & 1u);
    return (uint16_t)(sign | (bits - 0x38000000u) >> 13);
}

#endif
