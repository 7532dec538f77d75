/* Instructions on bits and bytes of one lane, as the PTX manual defines them. */
#ifndef BITS_H
#define BITS_H

#include <math.h>
#include <stdint.h>

static uint32_t field(uint32_t a, uint32_t at, uint32_t length) {
    at &= 255, length &= 255;
    if (at > 31 || !length) return 0;
    a >>= at;
    return length > 31 ? a : a & ((1u << length) - 1);
}

static uint32_t insert(uint32_t a, uint32_t b, uint32_t at, uint32_t length) {
    at &= 255, length &= 255;
    if (at > 31 || !length) return b;
    const uint32_t mask = (length > 31 ? 0xffffffffu : (1u << length) - 1) << at;
    return (b & ~mask) | (a << at & mask);
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t both = a | (uint64_t)b << 32;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t four = selector >> 4 * i & 15;
        uint8_t byte = (uint8_t)(both >> 8 * (four & 7));
        if (four & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= (uint32_t)byte << 8 * i;
    }
    return result;
}

static uint32_t truth(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

static int32_t dot4(uint32_t a, uint32_t b, int sign) {
    int32_t sum = 0;
    for (int i = 0; i < 4; i++) sum += (sign ? (int8_t)(a >> 8 * i) : (int32_t)(uint8_t)(a >> 8 * i)) * (int8_t)(b >> 8 * i);
    return sum;
}

static int32_t whole(float value) {
    return isnan(value) ? 0 : value >= 2147483648.0f ? INT32_MAX : value < -2147483648.0f ? INT32_MIN : (int32_t)value;
}

#endif
