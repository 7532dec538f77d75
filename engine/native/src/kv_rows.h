/* How a sequence keeps its keys and values: float32, bf16, or 8 bits, compiled once per instruction set: see vectors.h.
 *
 * A row of 8 bits: whole numbers from -127 to 127, one byte each, then a scale in bf16 for every UH_KV_GROUP of them. So a
 * head of 128 takes 136 bytes where bf16 takes 256. Every operation rounds as IEEE 754 says, so a row has the same bits
 * whatever packed it. */
#ifndef UH_KV_ROWS_H
#define UH_KV_ROWS_H

#include "vectors.h"

#include "context.h"

enum { UH_KV_GROUP = 32 }; /* numbers to a scale: two registers of AVX-512; finer groups cost a byte in 16 */

/* Bytes of a row. bits: 8, 16 or 32. */
static inline int64_t uh_kv_row_bytes(int32_t bits, int32_t dim) {
    if (bits == 8) return dim + 2 * (((int64_t)dim + UH_KV_GROUP - 1) / UH_KV_GROUP);
    return (int64_t)bits / 8 * dim;
}

static inline float uh_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline uint32_t uh_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* To nearest, ties to even; a NaN stays one. */
static inline uint16_t uh_bf16_of(float value) {
    const uint32_t bits = uh_bits_of(value), rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)(value != value ? bits >> 16 | 0x40u : rounded);
}

/* n numbers, and their scale, UH_KV_GROUP at most. A group with an infinity or a NaN becomes NaN as a whole. */
UH_INLINE void pack_kv_group(const float *x, const int32_t n, uint8_t *codes, uint8_t *scale) {
    enum { MAGIC = 0x4b400000 }; /* 1.5 * 2^23: adding it rounds to the whole number that then stands in the low bits */
    float most = 0.0f, poison = 0.0f;
    for (int32_t i = 0; i < n; i++) {
        const float size = uh_float_of(uh_bits_of(x[i]) & 0x7fffffffu);
        most = size > most ? size : most;
        poison += x[i] * 0.0f;
    }
    /* Rounded up, so that no code is beyond 127. What is smaller than 1e-35 is 0: its inverse would be infinite. */
    const uint32_t unit = most < 1e-35f ? 0 : (uh_bits_of(most / 127.0f) + 0xffffu) >> 16;
    const float inverse = unit ? 1.0f / uh_float_of(unit << 16) : 0.0f;
    for (int32_t i = 0; i < n; i++) codes[i] = (uint8_t)(uh_bits_of(x[i] * inverse + uh_float_of(MAGIC)) - MAGIC);
    const uint16_t kept = (uint16_t)(poison != poison ? 0x7fc0u : unit);
    memcpy(scale, &kept, 2);
}

/* x [dim] to a row of any kind. */
UH_TARGET static inline void pack_kv_row(const float *x, int32_t bits, int32_t dim, uint8_t *row) {
    if (bits == 32) {
        memcpy(row, x, (size_t)dim * sizeof(float));
        return;
    }
    if (bits == 16) {
        uint16_t *to = (uint16_t *)row;
        for (int32_t d = 0; d < dim; d++) to[d] = uh_bf16_of(x[d]);
        return;
    }
    uint8_t *scales = row + dim;
    int32_t g = 0;
    for (; g + UH_KV_GROUP <= dim; g += UH_KV_GROUP, scales += 2) pack_kv_group(x + g, UH_KV_GROUP, row + g, scales);
    if (g < dim) pack_kv_group(x + g, dim - g, row + g, scales);
}

UH_INLINE void widen_kv_group(const uint8_t *codes, const uint8_t *scale, const int32_t n, float *to) {
    uint16_t kept;
    memcpy(&kept, scale, 2);
    const float unit = uh_float_of((uint32_t)kept << 16);
    for (int32_t i = 0; i < n; i++) to[i] = (float)(int8_t)codes[i] * unit;
}

/* A row of any kind to float32 [dim]. */
UH_TARGET static inline void widen_kv_row(const uint8_t *row, int32_t bits, int32_t dim, float *to) {
    if (bits == 32) {
        memcpy(to, row, (size_t)dim * sizeof(float));
        return;
    }
    if (bits == 16) {
        int32_t d = 0;
        for (; d + UH_LANES <= dim; d += UH_LANES) vf_store(to + d, vf_load_bf16((const uint16_t *)row + d));
        for (; d < dim; d++) to[d] = uh_float_of((uint32_t)((const uint16_t *)row)[d] << 16);
        return;
    }
    const uint8_t *scales = row + dim;
    int32_t g = 0;
    for (; g + UH_KV_GROUP <= dim; g += UH_KV_GROUP, scales += 2) widen_kv_group(row + g, scales, UH_KV_GROUP, to + g);
    if (g < dim) widen_kv_group(row + g, scales, dim - g, to + g);
}

#endif
