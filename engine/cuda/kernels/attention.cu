/* Grouped-query attention of one token: its queries, keys and values finished, and met with the rows of its sequence, which
 * lie on the card as keys and values [kv_heads, capacity, dim] in bf16 or float32. Blocks of UH_THREADS. */
#include "attend.cuh"

/* How queries, keys and values are finished: uh_heads of underhill_kernels.h, where the fields are explained. */
struct uh_finish {
    int32_t heads, kv_heads, dim, norm, norm_last, half, interleaved, norm_values, reuse_keys, clips;
    float eps, limit;
};

/* finish_heads of heads.h where they lie, x [heads + kv_heads, dim] and values [kv_heads, dim], and row *position of both
 * caches: the same bits. Grid: heads + kv_heads. */
UH_KERNEL uh_heads_finish(float *x, float *values, const uh_finish how, const float *q_scale, const float *k_scale,
                          const float *cosines, const float *sines, const int64_t *position, void *key_rows, void *value_rows,
                          int64_t capacity, int32_t bits) {
    __shared__ float head[UH_MOST_HEAD], value[UH_MOST_HEAD], lanes[UH_SUM_LANES];
    const int32_t index = blockIdx.x, kv = index - how.heads, dim = how.dim;
    const float *scale = kv < 0 ? q_scale : k_scale;
    float *own = x + (int64_t)index * dim, *beside = values + (int64_t)kv * dim;
#pragma unroll 1
    for (int32_t d = threadIdx.x; d < dim; d += UH_THREADS) {
        head[d] = own[d];
        if (kv >= 0) value[d] = how.reuse_keys ? own[d] : beside[d];
    }
    __syncthreads();
    if (how.norm && !how.norm_last) uh_norm_head(head, scale, dim, how.eps, lanes);
#pragma unroll 1
    for (int32_t d = threadIdx.x; how.clips && d < dim; d += UH_THREADS) {
        head[d] = uh_within(head[d], how.limit);
        if (kv >= 0) value[d] = uh_within(value[d], how.limit);
    }
    __syncthreads();
    uh_turn(head, cosines, sines, how.half, how.interleaved);
    __syncthreads();
    if (how.norm && how.norm_last) uh_norm_head(head, scale, dim, how.eps, lanes);
    if (how.norm_values && kv >= 0) uh_norm_head(value, nullptr, dim, how.eps, lanes);
    const int64_t row = (kv * capacity + *position) * dim;
#pragma unroll 1
    for (int32_t d = threadIdx.x; d < dim; d += UH_THREADS) {
        own[d] = head[d];
        if (kv < 0) continue;
        beside[d] = value[d];
        uh_put(key_rows, bits, row + d, head[d]);
        uh_put(value_rows, bits, row + d, value[d]);
    }
}

/* Up to UH_QUERIES queries of a key head over one split of its rows. partial [heads, splits, 2 + dim]: the largest score, the
 * sum of e^(score - largest), and the values weighed so. Eight lanes have a row's key, and a thread two dimensions of the
 * values of every 256 / dim'th row. Grid: (splits, kv_heads, queries of a key head / UH_QUERIES). */
template <int BITS>
UH_DEVICE void uh_attend(const float *queries, const uint8_t *keys, const uint8_t *values, const int64_t *position, float *partial,
                         int32_t share, int32_t dim, int32_t window, int64_t capacity, float scale) {
    __shared__ float query[UH_QUERIES][UH_MOST_HEAD], weight[UH_QUERIES][UH_TILE_KEYS];
    __shared__ float largest[UH_QUERIES], total[UH_QUERIES], fade[UH_QUERIES];
    const int32_t splits = gridDim.x, kv = blockIdx.y, first = blockIdx.z * UH_QUERIES, n = min((int32_t)UH_QUERIES, share - first);
    const uh_seen seen = uh_seen_by(*position, window, splits);
    const int64_t low = seen.first + blockIdx.x * seen.span, high = min(low + seen.span, seen.end);
    if (low >= high) return;
    const int32_t thread = threadIdx.x, half = dim / 2, groups = UH_THREADS / half, group = thread / half;
    const int32_t head = kv * share + first;
    const int64_t start = kv * capacity;
#pragma unroll 1
    for (int32_t i = thread; i < n * dim; i += UH_THREADS) query[i / dim][i % dim] = queries[(int64_t)head * dim + i] * scale;
    if (thread < UH_QUERIES) largest[thread] = -3.4e38f, total[thread] = 0.0f, fade[thread] = 1.0f;
    __syncthreads();
    float2 sum[UH_QUERIES] = {};
#pragma unroll 1
    for (int64_t at = low; at < high; at += UH_TILE_KEYS) {
        const int32_t count = (int32_t)min(high - at, (int64_t)UH_TILE_KEYS);
        uh_scores<BITS, 1>(query, keys, (start + at) * dim, dim, count, n, weight);
        __syncthreads();
        uh_weigh(weight, count, n, largest, total, fade);
        __syncthreads();
        if (group < groups) uh_add_values<BITS, false>(values, (start + at) * dim, dim, count, n, weight, fade, sum);
        __syncthreads();
    }
    uh_gather_groups(query, sum, n, dim);
#pragma unroll 1
    for (int32_t i = thread; i < n * dim; i += UH_THREADS) {
        const int32_t q = i / dim, d = i % dim;
        float whole = 0.0f;
#pragma unroll 1
        for (int32_t g = 0; g < groups; g++) whole = whole + query[q][g * dim + d];
        partial[((int64_t)(head + q) * splits + blockIdx.x) * (2 + dim) + 2 + d] = whole;
    }
    if (thread >= n) return;
    float *to = partial + ((int64_t)(head + thread) * splits + blockIdx.x) * (2 + dim);
    to[0] = largest[thread], to[1] = total[thread];
}

#define UH_ATTEND(name, bits)                                                                                              \
    UH_KERNEL UH_BOUNDED name(const float *queries, const uint8_t *keys, const uint8_t *values, const int64_t *position,   \
                              float *partial, int32_t share, int32_t dim, int32_t window, int64_t capacity, float scale) { \
        uh_attend<bits>(queries, keys, values, position, partial, share, dim, window, capacity, scale);                    \
    }
UH_ATTEND(uh_attend_16, 16)
UH_ATTEND(uh_attend_32, 32)

/* What the splits found, put together. sinks: [heads] extra logits, or NULL. out: [heads, dim]. Grid: heads. */
UH_KERNEL uh_merge(const float *partial, const float *sinks, const int64_t *position, float *out, int32_t dim, int32_t window,
                   int32_t splits) {
    __shared__ float by[UH_MOST_SPLITS];
    const int32_t head = blockIdx.x, split = threadIdx.x;
    const uh_seen seen = uh_seen_by(*position, window, splits);
    const int32_t used = (int32_t)((seen.end - seen.first + seen.span - 1) / seen.span);
    const float *from = partial + (int64_t)head * splits * (2 + dim);
    float best = sinks ? sinks[head] : -3.4e38f;
#pragma unroll 1
    for (int32_t s = 0; s < used; s++) best = from[(int64_t)s * (2 + dim)] > best ? from[(int64_t)s * (2 + dim)] : best;
    if (split < used) by[split] = uh_exp(from[(int64_t)split * (2 + dim)] - best);
    __syncthreads();
    float total = sinks ? uh_exp(sinks[head] - best) : 0.0f;
#pragma unroll 1
    for (int32_t s = 0; s < used; s++) total = total + by[s] * from[(int64_t)s * (2 + dim) + 1];
    const float inverse = 1.0f / total;
#pragma unroll 1
    for (int32_t d = threadIdx.x; d < dim; d += UH_THREADS) {
        float whole = 0.0f;
#pragma unroll 1
        for (int32_t s = 0; s < used; s++) whole = __fmaf_rn(by[s], from[(int64_t)s * (2 + dim) + 2 + d], whole);
        out[(int64_t)head * dim + d] = whole * inverse;
    }
}
