/* A block of rows in bf16 met by all queries of its key head, two numbers to a lane (bf16_pairs.h): twice what
 * attend_block.h gets out of the multipliers, which is what binds where many queries share a key head. Queries and weights are rounded to bf16 as the
 * rows themselves are; weights are summed up as rounded, so that they still sum to one. Tiles are those of attend_block.h,
 * and so is the order of sums. Queries: uint16, as they lie; a pair of weights, of one query and two rows, is a lane. */
#ifndef UH_ATTEND_PAIRS_H
#define UH_ATTEND_PAIRS_H

#include "attend_block.h"
#include "bf16_pairs.h"

#if defined(UH_WITH_AVX512)

/* n numbers rounded to the nearest bf16, scaled before. */
UH_PAIRS static void round_pairs(const float *from, int32_t n, float scale, uint16_t *to) {
    for (int32_t d = 0; d < n; d += UH_LANES) round_16(vf_load(from + d) * scale, to + d);
}

/* As score_rows, of whole tiles. */
UH_PAIRS_INLINE void score_pairs(const uint16_t *q, const uint8_t *k, int32_t n, int32_t dim, const int queries,
                                 float *scores, coming *soon) {
    const int rows = UH_LANES / queries;
    const int64_t row = 2LL * dim;
    for (int32_t r = 0; r < n; r += rows, k += rows * row, scores += UH_LANES) {
        fetch_some(soon);
        vf sums[UH_LANES];
        for (int i = 0; i < UH_LANES; i++) sums[i] = vf_all(0.0f);
        for (int32_t d = 0; d < dim; d += 2 * UH_LANES)
#pragma GCC unroll 4
            for (int i = 0; i < queries; i++) {
                const __m512bh x = pairs_at(q + (int64_t)i * dim + d);
#pragma GCC unroll 16
                for (int j = 0; j < rows; j++)
                    sums[i * rows + j] = _mm512_dpbf16_ps(sums[i * rows + j], x, pairs_at(k + j * row + 2LL * d));
            }
        vf_store(scores, vf_sums(sums));
    }
}

/* As weigh, of whole tiles; weights take the first half of their scores' room. */
UH_PAIRS __attribute__((noinline)) static void weigh_pairs(weighing *s, int32_t first, int32_t n, int32_t queries) {
    const int32_t rows = UH_LANES / queries, end = n * queries;
    float *scores = s->scores + first * MOST_BLOCK_ROWS, *largest = s->largest + first * UH_LANES;
    vf most = vf_load(largest);
    for (int32_t at = 0; at < end; at += UH_LANES) most = vf_most(vf_load(scores + at), most);
    for (int32_t by = 1; by < rows; by *= 2) most = vf_most(vf_exchanged(most, by), most);
    const vf fade = vf_exp(vf_load(largest) - most);
    vf sum = fade * vf_load(s->sums + first * UH_LANES);
    for (int32_t at = 0; at < end; at += UH_LANES) {
        const __m256i weights = (__m256i)_mm512_cvtneps_pbh(vf_exp(vf_load(scores + at) - most));
        _mm256_storeu_si256((__m256i *)(scores + at), weights);
        sum = sum + _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(weights), 16));
    }
    vf_store(largest, most);
    vf_store(s->fade + first * UH_LANES, fade);
    vf_store(s->sums + first * UH_LANES, sum);
}

/* As value_tile, of whole tiles; wide: even. */
UH_PAIRS_INLINE void value_pairs(float *out, const uint8_t *v, const float *weights, const float *fade, int32_t n,
                                 int32_t dim, const int queries, const int wide, coming *soon) {
    const int rows = UH_LANES / queries;
    const int64_t row = 2LL * dim;
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    /* Of lane i, the numbers 2i of both rows, 32 apart; the odd ones follow them. */
    const __m512i twice = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x00020002));
    const __m512i even = _mm512_add_epi32(twice, _mm512_set1_epi32(0x00200000));
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(0x00010001));
    vf sums[16];
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++)
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++)
            sums[i * wide + w] = vf_all(fade[i * rows]) * vf_load(out + (int64_t)i * dim + w * UH_LANES);
    for (; n > 0; n -= rows, weights += UH_LANES) {
        fetch_some(soon);
#pragma GCC unroll 2
        for (int r = 0; r < rows; r += 2, v += 2 * row) {
            __m512bh both[8];
#pragma GCC unroll 4
            for (int w = 0; w < wide; w += 2) {
                const __m512i one = _mm512_loadu_si512(v + w * 2 * UH_LANES);
                const __m512i two = _mm512_loadu_si512(v + row + w * 2 * UH_LANES);
                both[w] = (__m512bh)_mm512_permutex2var_epi16(one, even, two);
                both[w + 1] = (__m512bh)_mm512_permutex2var_epi16(one, odd, two);
            }
#pragma GCC unroll 4
            for (int i = 0; i < queries; i++) {
                const __m512bh weight = (__m512bh)_mm512_castps_si512(vf_all(weights[(i * rows + r) / 2]));
#pragma GCC unroll 8
                for (int w = 0; w < wide; w++) sums[i * wide + w] = _mm512_dpbf16_ps(sums[i * wide + w], weight, both[w]);
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++)
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++) vf_store(out + (int64_t)i * dim + w * UH_LANES, sums[i * wide + w]);
}

UH_PAIRS_INLINE void value_pair_rows(float *out, const uint8_t *v, const float *weights, const float *fade, int32_t n,
                                     int32_t dim, const int queries, coming *soon) {
    const int wide = registers_wide(queries, 1);
    int32_t d = 0;
    for (; d + wide * UH_LANES <= dim; d += wide * UH_LANES)
        value_pairs(out + d, v + 2 * d, weights, fade, n, dim, queries, wide, soon);
    for (; d < dim; d += 2 * UH_LANES) value_pairs(out + d, v + 2 * d, weights, fade, n, dim, queries, 2, soon);
}

/* Scores and weights of a block of whole tiles; queries: of bf16, [share, padded]. */
UH_PAIRS static void weigh_key_pairs(const block *b, const uint16_t *queries, const uint8_t *k, weighing *s, coming *soon) {
    for (int32_t i = 0; i < b->share; i += together(b->share - i)) {
        const uint16_t *q = queries + (int64_t)i * b->padded;
        float *scores = s->scores + i * MOST_BLOCK_ROWS;
        switch (together(b->share - i)) {
        case 4:
            score_pairs(q, k, b->rows, b->padded, 4, scores, soon);
            weigh_pairs(s, i, b->rows, 4);
            break;
        case 2:
            score_pairs(q, k, b->rows, b->padded, 2, scores, soon);
            weigh_pairs(s, i, b->rows, 2);
            break;
        default:
            score_pairs(q, k, b->rows, b->padded, 1, scores, soon);
            weigh_pairs(s, i, b->rows, 1);
        }
    }
}

/* out[share, padded] = faded, plus the weighted rows of the block. */
UH_PAIRS static void add_value_pairs(const block *b, float *out, const uint8_t *v, const weighing *s, coming *soon) {
    for (int32_t i = 0; i < b->share; i += together(b->share - i)) {
        const float *weights = s->scores + i * MOST_BLOCK_ROWS, *fade = s->fade + i * UH_LANES;
        float *to = out + (int64_t)i * b->padded;
        switch (together(b->share - i)) {
        case 4: value_pair_rows(to, v, weights, fade, b->rows, b->padded, 4, soon); break;
        case 2: value_pair_rows(to, v, weights, fade, b->rows, b->padded, 2, soon); break;
        default: value_pair_rows(to, v, weights, fade, b->rows, b->padded, 1, soon);
        }
    }
}

#endif

#endif
