/* A block of keys met by the queries of many tokens, two numbers of bf16 to a lane: the products of prefill_attention.h in
 * half the instructions. Queries and weights are rounded to bf16 as the rows are. Keys are turned round in pairs of numbers, values lie in
 * pairs of keys; scores, maxima and sums stay float32, and weights are summed up as rounded. */
#ifndef UH_PREFILL_PAIRS_H
#define UH_PREFILL_PAIRS_H

#include "bf16_pairs.h"

#if defined(UH_WITH_AVX512)

enum { LANE_NUMBERS = 2 * UH_LANES };

/* Which of the LANE_NUMBERS from `from` on are among the first `end`. */
UH_PAIRS_INLINE __mmask32 numbers_before(int32_t from, int32_t end) {
    const int32_t left = end - from;
    return left >= LANE_NUMBERS ? 0xffffffffu : left <= 0 ? 0 : (1u << left) - 1;
}

/* Numbers [dim], scaled and rounded, filled up with zeros to `padded`. */
UH_PAIRS static void round_query(const float *from, int32_t dim, int32_t padded, float scale, uint16_t *to) {
    for (int32_t d = 0; d < padded; d += UH_LANES) {
        round_16(_mm512_maskz_loadu_ps((__mmask16)numbers_before(d, dim), from + d) * vf_all(scale), to + d);
    }
}

/* 16 registers of 16 lanes: lane i of register j becomes lane j of register i. */
UH_PAIRS_INLINE void turn_lanes(__m512i *rows) {
    __m512i a[16], b[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        a[2 * i] = _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { /* b[4g + i] has columns i, i + 4, i + 8, i + 12 of rows 4g .. 4g + 3 */
        const __m512i low = _mm512_shuffle_i32x4(b[i], b[4 + i], 0x88), high = _mm512_shuffle_i32x4(b[i], b[4 + i], 0xdd);
        const __m512i low_2 = _mm512_shuffle_i32x4(b[8 + i], b[12 + i], 0x88);
        const __m512i high_2 = _mm512_shuffle_i32x4(b[8 + i], b[12 + i], 0xdd);
        rows[i] = _mm512_shuffle_i32x4(low, low_2, 0x88);
        rows[i + 4] = _mm512_shuffle_i32x4(high, high_2, 0x88);
        rows[i + 8] = _mm512_shuffle_i32x4(low, low_2, 0xdd);
        rows[i + 12] = _mm512_shuffle_i32x4(high, high_2, 0xdd);
    }
}

/* n keys of a block, dim apart, to [padded / 2, KEYS] pairs. */
UH_PAIRS static void turn_key_pairs(const uint16_t *keys, int32_t n, int32_t dim, int32_t padded, uint32_t *to) {
    for (int32_t k = 0; k < KEYS; k += UH_LANES)
        for (int32_t d = 0; d < padded; d += LANE_NUMBERS) {
            const __mmask32 there = numbers_before(d, dim);
            __m512i rows[UH_LANES];
#pragma GCC unroll 16
            for (int i = 0; i < UH_LANES; i++)
                rows[i] = _mm512_maskz_loadu_epi16(k + i < n ? there : 0, keys + (int64_t)(k + i) * dim + d);
            turn_lanes(rows);
#pragma GCC unroll 16
            for (int i = 0; i < UH_LANES; i++) _mm512_storeu_si512(to + (int64_t)(d / 2 + i) * KEYS + k, rows[i]);
        }
}

/* n values of a block, dim apart, to [KEYS / 2, padded] pairs; of an odd number the last with zeros. */
UH_PAIRS static void pair_values(const uint16_t *values, int32_t n, int32_t dim, int32_t padded, uint32_t *to) {
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    /* Of lane i, the numbers i of both rows, 32 apart; those of the other half of the rows lie 16 behind. */
    const __m512i low = _mm512_add_epi32(_mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x00010001)), _mm512_set1_epi32(0x00200000));
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(0x00100010));
    for (int32_t k = 0; k < n; k += 2)
        for (int32_t d = 0; d < padded; d += LANE_NUMBERS) {
            const __mmask32 there = numbers_before(d, dim);
            const uint16_t *at = values + (int64_t)k * dim + d;
            const __m512i one = _mm512_maskz_loadu_epi16(there, at);
            const __m512i two = _mm512_maskz_loadu_epi16(k + 1 < n ? there : 0, at + dim);
            uint32_t *pairs = to + (int64_t)k / 2 * padded + d;
            _mm512_storeu_si512(pairs, _mm512_permutex2var_epi16(one, low, two));
            _mm512_storeu_si512(pairs + UH_LANES, _mm512_permutex2var_epi16(one, high, two));
        }
}

UH_PAIRS_INLINE __m512bh pair_to_all(const void *pair) {
    uint32_t both;
    memcpy(&both, pair, sizeof both);
    return (__m512bh)_mm512_set1_epi32((int32_t)both);
}

/* As score of prefill_attention.h; queries [AT_ONCE, padded], pairs: of numbers of a query. */
UH_PAIRS static void score_with_pairs(const uint16_t *queries, const uint32_t *keys, int32_t pairs, int32_t padded,
                                      float (*scores)[KEYS]) {
    for (int k = 0; k < KEYS; k += 2 * UH_LANES) {
        vf sums[AT_ONCE][2];
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) sums[i][0] = sums[i][1] = vf_all(0.0f);
        for (int32_t d = 0; d < pairs; d++) {
            const uint32_t *at = keys + (int64_t)d * KEYS + k;
            const __m512bh low = pairs_at(at), high = pairs_at(at + UH_LANES);
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) {
                const __m512bh x = pair_to_all(queries + (int64_t)i * padded + 2 * d);
                sums[i][0] = _mm512_dpbf16_ps(sums[i][0], low, x);
                sums[i][1] = _mm512_dpbf16_ps(sums[i][1], high, x);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) vf_store(scores[i] + k, sums[i][0]), vf_store(scores[i] + k + UH_LANES, sums[i][1]);
    }
}

/* As weigh of prefill_attention.h; weights [KEYS]. */
UH_PAIRS static void weigh_with_pairs(const float *scores, int32_t low, int32_t high, float *maximum, float *sum, float *out,
                                      int32_t padded, uint16_t *weights) {
    if (low >= high) {
        memset(weights, 0, KEYS * sizeof *weights);
        return;
    }
    const uint64_t seen = (high == KEYS ? ~0ull : (1ull << high) - 1) & ~((1ull << low) - 1);
    vf best = vf_all(*maximum), total = vf_all(0.0f);
    for (int k = 0; k < KEYS; k += UH_LANES)
        best = _mm512_mask_max_ps(best, (__mmask16)(seen >> k), best, vf_load(scores + k));
    const float most = _mm512_reduce_max_ps(best);
    if (most > *maximum) {
        const float shrunk = uh_exp(*maximum - most);
        *sum *= shrunk;
        for (int32_t d = 0; d < padded; d += UH_LANES) vf_store(out + d, vf_load(out + d) * vf_all(shrunk));
        *maximum = most;
    }
    for (int k = 0; k < KEYS; k += UH_LANES) {
        const vf weight = _mm512_maskz_mov_ps((__mmask16)(seen >> k), vf_exp(vf_load(scores + k) - vf_all(*maximum)));
        const __m256i rounded = (__m256i)_mm512_cvtneps_pbh(weight);
        _mm256_storeu_si256((__m256i *)(weights + k), rounded);
        total = total + _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(rounded), 16));
    }
    *sum += _mm512_reduce_add_ps(total);
}

/* As add_values of prefill_attention.h, low and high in pairs of keys. */
UH_PAIRS static void add_values_with_pairs(const uint32_t *values, uint16_t (*weights)[KEYS], int32_t low, int32_t high,
                                           int32_t padded, float *out) {
    for (int32_t d = 0; d < padded; d += LANE_NUMBERS) {
        vf sums[AT_ONCE][2];
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) {
            sums[i][0] = vf_load(out + (int64_t)i * padded + d);
            sums[i][1] = vf_load(out + (int64_t)i * padded + d + UH_LANES);
        }
        for (int32_t k = low; k < high; k++) {
            const uint32_t *at = values + (int64_t)k * padded + d;
            const __m512bh a = pairs_at(at), b = pairs_at(at + UH_LANES);
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) {
                const __m512bh weight = pair_to_all(weights[i] + 2 * k);
                sums[i][0] = _mm512_dpbf16_ps(sums[i][0], a, weight);
                sums[i][1] = _mm512_dpbf16_ps(sums[i][1], b, weight);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) {
            vf_store(out + (int64_t)i * padded + d, sums[i][0]);
            vf_store(out + (int64_t)i * padded + d + UH_LANES, sums[i][1]);
        }
    }
}

#endif

#endif
