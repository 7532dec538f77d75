/* A block of rows met by all queries of its key head, compiled once per instruction set: see vectors.h and attend.h.
 *
 * Queries are taken four at a time, then two, then one: UH_LANES / queries rows make a register of scores, lane
 * q * rows + r, and in that order scores are weighed and lie in memory, a register for every tile of rows. Heads of whole
 * registers in bf16 are computed with as they lie: a shift widens the even ones of 2 * UH_LANES numbers and a mask the odd
 * ones, so queries and sums are held in that order too, the even ones of a pair of registers before the odd. What is held
 * otherwise, and the last rows, which fill no tile, are widened to float32 first. */
#ifndef UH_ATTEND_BLOCK_H
#define UH_ATTEND_BLOCK_H

#include <math.h>

#include "vectors.h"

#include "kv_rows.h"
#include "rows.h"

enum {
    BLOCK_FLOATS = 8192,  /* of keys or values widened to float32 at a time: they stay in the nearest cache */
    MOST_BLOCK_ROWS = 64, /* so many rows where a head is small enough, */
    FEW_BLOCK_ROWS = 32,  /* and so many */
    MANY_SHARE = 8,       /* where so many queries want room in the nearest cache too */
    MOST_QUERIES = 64     /* that share a key head */
};

/* Of the queries that share a key head; those that are taken together have a register in each, at that of the first. */
typedef struct {
    float scores[MOST_QUERIES * MOST_BLOCK_ROWS]; /* of a block, then weights e^(score - largest); row by tile */
    float largest[MOST_QUERIES * UH_LANES];       /* score so far, in all lanes of a query */
    float sums[MOST_QUERIES * UH_LANES];          /* of weights, by lane */
    float fade[MOST_QUERIES * UH_LANES];          /* what all weighed before shrinks by */
} weighing;

/* How many queries are taken together, of those left. */
static int32_t together(int32_t left) { return left >= 4 ? 4 : left >= 2 ? 2 : 1; }

/* Memory that is needed soon, fetched a few lines at a time while something else is computed. */
typedef struct {
    const uint8_t *at, *end;
    int32_t lines;
} coming;

UH_INLINE void fetch_some(coming *c) {
    for (int32_t i = 0; i < c->lines && c->at < c->end; i++, c->at += UH_LINE) UH_FETCH(c->at);
}

/* So that `times` calls of fetch_some fetch it all. */
static coming fetched_in(const uint8_t *from, int64_t bytes, int32_t times) {
    const int64_t lines = (bytes + UH_LINE - 1) / UH_LINE;
    return (coming){from, from + bytes, (int32_t)((lines + times - 1) / times)};
}

/* Vector w of a row of float32, or of bf16 in that order. */
UH_INLINE vf taken(const uint8_t *row, int32_t w, const int bf16) {
    const uint8_t *at = row + (int64_t)w / (bf16 ? 2 : 1) * UH_LANES * sizeof(float);
    return bf16 ? w % 2 ? vf_odd_bf16(at) : vf_even_bf16(at) : vf_load((const float *)at);
}

/* n rows as float32, each filled up with zeros to `padded`, or in that order. */
UH_TARGET static void widen(const uint8_t *rows, int32_t bits, int32_t n, int32_t dim, int32_t padded, int in_order,
                            float *out) {
    for (int32_t r = 0; r < n; r++) {
        float *to = out + (int64_t)r * padded;
        int32_t d = 0;
        if (in_order) {
            for (; d < dim; d += 2 * UH_LANES)
                for (int w = 0; w < 2; w++) vf_store(to + d + w * UH_LANES, taken(rows + 2 * ((int64_t)r * dim + d), w, 1));
        } else {
            widen_kv_row(rows + r * uh_kv_row_bytes(bits, dim), bits, dim, to);
            d = dim;
        }
        for (; d < padded; d++) to[d] = 0.0f;
    }
}

/* Scores of `queries` queries with UH_LANES / queries rows: lane q * rows + r. */
UH_INLINE vf score_tile(const float *q, const uint8_t *k, int32_t padded, const int queries, const int bf16) {
    const int rows = UH_LANES / queries, step = bf16 ? 2 : 1;
    const int64_t row = (int64_t)padded * (bf16 ? 2 : 4);
    vf sums[UH_LANES];
    for (int i = 0; i < UH_LANES; i++) sums[i] = vf_all(0.0f);
    for (int32_t d = 0; d < padded / UH_LANES; d += step)
#pragma GCC unroll 2
        for (int w = 0; w < step; w++)
#pragma GCC unroll 4
            for (int i = 0; i < queries; i++) {
                const vf x = vf_load(q + (int64_t)i * padded + (d + w) * UH_LANES);
#pragma GCC unroll 16
                for (int r = 0; r < rows; r++)
                    sums[i * rows + r] =
                        vf_fma(x, taken(k + r * row + d / step * UH_LANES * 4, w, bf16), sums[i * rows + r]);
            }
    return vf_sums(sums);
}

/* Of n rows, rounded up to whole tiles: scores beyond n are minus infinity. */
UH_INLINE void score_rows(const float *q, const uint8_t *k, int32_t n, int32_t padded, const int queries, const int bf16,
                          float *scores, coming *soon) {
    const int rows = UH_LANES / queries;
    const int64_t row = (int64_t)padded * (bf16 ? 2 : 4);
    int32_t r = 0;
    for (; r < n; r += rows, k += rows * row, scores += UH_LANES) {
        fetch_some(soon);
        vf_store(scores, score_tile(q, k, padded, queries, bf16));
    }
    for (int l = 0; l < UH_LANES; l++)
        if (l % rows >= n - (r - rows)) scores[l - UH_LANES] = -INFINITY;
}

/* Scores of n rows become weights, of some queries from `first` on. Kept apart, or its constants would take the registers
 * that the tiles need. */
UH_TARGET __attribute__((noinline)) static void weigh(weighing *s, int32_t first, int32_t n, int32_t queries) {
    const int32_t rows = UH_LANES / queries;
    const int32_t end = (n + rows - 1) / rows * UH_LANES;
    float *scores = s->scores + first * MOST_BLOCK_ROWS, *largest = s->largest + first * UH_LANES;
    vf most = vf_load(largest);
    for (int32_t at = 0; at < end; at += UH_LANES) most = vf_most(vf_load(scores + at), most);
    for (int32_t by = 1; by < rows; by *= 2) most = vf_most(vf_exchanged(most, by), most);
    const vf fade = vf_exp(vf_load(largest) - most);
    vf sum = fade * vf_load(s->sums + first * UH_LANES);
    for (int32_t at = 0; at < end; at += UH_LANES) {
        const vf weight = vf_exp(vf_load(scores + at) - most);
        vf_store(scores + at, weight);
        sum = sum + weight; /* with what fills up the last tile, which is e^-87 each */
    }
    vf_store(largest, most);
    vf_store(s->fade + first * UH_LANES, fade);
    vf_store(s->sums + first * UH_LANES, sum);
}

/* sums[i][w] += weights[i * rows] * v[w] */
UH_INLINE void value_row(const float *weights, const uint8_t *v, const int queries, const int wide, const int bf16,
                         vf *sums) {
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++) {
        const vf weight = vf_all(weights[i * (UH_LANES / queries)]);
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++) sums[i * wide + w] = vf_fma(weight, taken(v, w, bf16), sums[i * wide + w]);
    }
}

/* out[q] = fade[q] * out[q] + sum over n rows of weights[q][r] * v[r], for `queries` queries and `wide` registers. */
UH_INLINE void value_tile(float *out, const uint8_t *v, const float *weights, const float *fade, int32_t n, int32_t padded,
                          const int queries, const int wide, const int bf16, coming *soon) {
    const int rows = UH_LANES / queries;
    const int64_t row = (int64_t)padded * (bf16 ? 2 : 4);
    vf sums[16];
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++)
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++)
            sums[i * wide + w] = vf_all(fade[i * rows]) * vf_load(out + (int64_t)i * padded + w * UH_LANES);
    for (; n >= rows; n -= rows, weights += UH_LANES) {
        fetch_some(soon);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++, v += row) value_row(weights + r, v, queries, wide, bf16, sums);
    }
    for (; n > 0; n--, weights++, v += row) value_row(weights, v, queries, wide, bf16, sums);
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++)
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++) vf_store(out + (int64_t)i * padded + w * UH_LANES, sums[i * wide + w]);
}

/* So many registers of a head are summed up at once, for `queries` queries. */
UH_INLINE int registers_wide(const int queries, const int bf16) {
    const int most = UH_LANES / queries < 8 ? UH_LANES / queries : 8;
    return most == 1 && bf16 ? 2 : most;
}

UH_INLINE void value_rows(float *out, const uint8_t *v, const float *weights, const float *fade, int32_t n, int32_t padded,
                          const int queries, const int bf16, coming *soon) {
    const int narrow = bf16 ? 2 : 1, wide = registers_wide(queries, bf16), bytes = bf16 ? 2 : 4;
    int32_t d = 0;
    for (; d + wide * UH_LANES <= padded; d += wide * UH_LANES)
        value_tile(out + d, v + d * bytes, weights, fade, n, padded, queries, wide, bf16, soon);
    for (; d < padded; d += narrow * UH_LANES)
        value_tile(out + d, v + d * bytes, weights, fade, n, padded, queries, narrow, bf16, soon);
}

/* A block: its queries [share, padded], and what they weigh values with. */
typedef struct {
    const float *queries;
    int32_t share, padded, rows;
} block;

/* Scores and weights of the rows of a block, k: as they lie (bf16) or widened. */
UH_INLINE void weigh_kind(const block *b, const uint8_t *k, const int bf16, weighing *s, coming *soon) {
    for (int32_t i = 0; i < b->share; i += together(b->share - i)) {
        const float *q = b->queries + (int64_t)i * b->padded;
        float *scores = s->scores + i * MOST_BLOCK_ROWS;
        switch (together(b->share - i)) {
        case 4:
            score_rows(q, k, b->rows, b->padded, 4, bf16, scores, soon);
            weigh(s, i, b->rows, 4);
            break;
        case 2:
            score_rows(q, k, b->rows, b->padded, 2, bf16, scores, soon);
            weigh(s, i, b->rows, 2);
            break;
        default:
            score_rows(q, k, b->rows, b->padded, 1, bf16, scores, soon);
            weigh(s, i, b->rows, 1);
        }
    }
}

UH_TARGET static void weigh_keys(const block *b, const uint8_t *k, int bf16, weighing *s, coming *soon) {
    if (bf16)
        weigh_kind(b, k, 1, s, soon);
    else
        weigh_kind(b, k, 0, s, soon);
}

UH_INLINE void add_kind(const block *b, float *out, const uint8_t *v, const int bf16, const weighing *s, coming *soon) {
    for (int32_t i = 0; i < b->share; i += together(b->share - i)) {
        const float *weights = s->scores + i * MOST_BLOCK_ROWS, *fade = s->fade + i * UH_LANES;
        float *to = out + (int64_t)i * b->padded;
        switch (together(b->share - i)) {
        case 4: value_rows(to, v, weights, fade, b->rows, b->padded, 4, bf16, soon); break;
        case 2: value_rows(to, v, weights, fade, b->rows, b->padded, 2, bf16, soon); break;
        default: value_rows(to, v, weights, fade, b->rows, b->padded, 1, bf16, soon);
        }
    }
}

/* out[share, padded] = faded, plus the weighted rows of a block, v: as they lie (bf16) or widened. */
UH_TARGET static void add_values(const block *b, float *out, const uint8_t *v, int bf16, const weighing *s, coming *soon) {
    if (bf16)
        add_kind(b, out, v, 1, s, soon);
    else
        add_kind(b, out, v, 0, s, soon);
}

/* How often `weigh_keys` fetches. */
static int32_t key_tiles(const block *b) {
    int32_t tiles = 0;
    for (int32_t i = 0, queries; i < b->share; i += queries) {
        queries = together(b->share - i);
        tiles += (queries * b->rows + UH_LANES - 1) / UH_LANES;
    }
    return tiles;
}

/* How often `add_values` fetches, at least; never 0. */
UH_TARGET static int32_t value_tiles(const block *b) {
    int32_t tiles = 1;
    for (int32_t i = 0, queries; i < b->share; i += queries) {
        queries = together(b->share - i);
        const int32_t wide = registers_wide(queries, 1) * UH_LANES;
        tiles += queries * b->rows / UH_LANES * ((b->padded + wide - 1) / wide);
    }
    return tiles;
}

#endif
