/* Grouped-query attention of a prompt's tokens over the rows of their sequence, which lie on the card, those of the tokens
 * themselves included. Blocks of UH_THREADS. */
#include "attend.cuh"

/* What the queries of a block see: query q is of token (first + q) / share of a piece that begins at `position`. */
struct uh_causal {
    int64_t position, bottom; /* rows before `bottom` are nobody's */
    int32_t first, share, window;

    int64_t end(int32_t q) const { return position + (first + q) / share + 1; }
    int64_t start(int32_t q) const {
        const int64_t near = window && end(q) > window ? end(q) - window : 0;
        return max(near, bottom);
    }
};

/* Which of a tile's rows, the first of which is `at`, a query sees: low and high are of all. */
struct uh_tile_seen {
    const int64_t *low, *high;
    int64_t at;

    bool operator()(int32_t q, int32_t r) const { return at + r >= low[q] && at + r < high[q]; }
};

/* queries, out: [tokens, heads, dim]. sinks: [heads] extra logits, or NULL. share: queries of a key head. Token t is at
 * position + t. A block takes UH_QUERIES of a key head, token by token, and reads each row that one of them sees once.
 * Grid: (tokens * share / UH_QUERIES, kv_heads). */
template <int BITS>
UH_DEVICE void uh_attend_many(const float *queries, const uint8_t *keys, const uint8_t *values, const float *sinks, float *out,
                              int64_t position, int64_t bottom, int64_t capacity, int32_t tokens, int32_t share, int32_t dim,
                              int32_t window, float scale) {
    __shared__ float query[UH_QUERIES][UH_MOST_HEAD], weight[UH_QUERIES][UH_TILE_KEYS];
    __shared__ float largest[UH_QUERIES], total[UH_QUERIES], fade[UH_QUERIES];
    __shared__ int64_t from[UH_QUERIES], to[UH_QUERIES], place[UH_QUERIES];
    const int32_t thread = threadIdx.x, kv = blockIdx.y, first = blockIdx.x * UH_QUERIES;
    const int32_t n = min((int32_t)UH_QUERIES, tokens * share - first);
    const uh_causal seen = {position, bottom, first, share, window};
    const int32_t half = dim / 2, groups = UH_THREADS / half, group = thread / half;
    const int64_t start = kv * capacity;
    if (thread < n) {
        const int64_t token = (first + thread) / share, head = kv * share + (first + thread) % share;
        place[thread] = (token * gridDim.y * share + head) * dim;
        from[thread] = seen.start(thread), to[thread] = seen.end(thread);
    }
    if (thread < UH_QUERIES) largest[thread] = -3.4e38f, total[thread] = 0.0f, fade[thread] = 1.0f;
    __syncthreads();
#pragma unroll 1
    for (int32_t i = thread; i < n * dim; i += UH_THREADS) query[i / dim][i % dim] = queries[place[i / dim] + i % dim] * scale;
    __syncthreads();
    float2 sum[UH_QUERIES] = {};
    const int64_t low = seen.start(0), high = seen.end(n - 1);
#pragma unroll 1
    for (int64_t at = low; at < high; at += UH_TILE_KEYS) {
        const int32_t count = (int32_t)min(high - at, (int64_t)UH_TILE_KEYS);
        uh_scores<BITS, 1>(query, keys, (start + at) * dim, dim, count, n, weight);
        __syncthreads();
        uh_weigh(weight, count, n, largest, total, fade, uh_tile_seen{from, to, at});
        __syncthreads();
        if (group < groups) uh_add_values<BITS, true>(values, (start + at) * dim, dim, count, n, weight, fade, sum);
        __syncthreads();
    }
    uh_gather_groups(query, sum, n, dim);
    if (thread < n) {
        const float sink = sinks ? sinks[kv * share + (first + thread) % share] : -3.4e38f;
        const float best = sink > largest[thread] ? sink : largest[thread], kept = uh_exp(largest[thread] - best);
        fade[thread] = kept / (total[thread] * kept + (sinks ? uh_exp(sink - best) : 0.0f));
    }
    __syncthreads();
#pragma unroll 1
    for (int32_t i = thread; i < n * dim; i += UH_THREADS) {
        const int32_t q = i / dim, d = i % dim;
        float whole = 0.0f;
#pragma unroll 1
        for (int32_t g = 0; g < groups; g++) whole = whole + query[q][g * dim + d];
        out[place[q] + d] = whole * fade[q];
    }
}

#define UH_ATTEND_MANY(name, bits)                                                                                            \
    UH_KERNEL UH_BOUNDED name(const float *queries, const uint8_t *keys, const uint8_t *values, const float *sinks, float *out, \
                              int64_t position, int64_t bottom, int64_t capacity, int32_t tokens, int32_t share,              \
                              int32_t dim, int32_t window, float scale) {                                                     \
        uh_attend_many<bits>(queries, keys, values, sinks, out, position, bottom, capacity, tokens, share, dim, window, scale); \
    }
UH_ATTEND_MANY(uh_attend_many_16, 16)
UH_ATTEND_MANY(uh_attend_many_32, 32)
