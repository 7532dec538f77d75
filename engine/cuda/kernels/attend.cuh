/* What attention is made of, over rows of any kind: which rows are seen, in which splits; their scores, and what these weigh;
 * values weighed so; and how a token's own row is finished and kept. Blocks of UH_THREADS. */
#ifndef UH_ATTEND_CUH
#define UH_ATTEND_CUH

#include "activation.cuh"
#include "sums.cuh"

enum { UH_QUERIES = 8, UH_TILE_KEYS = 64, UH_MOST_SPLITS = 64, UH_MOST_HEAD = 256 };

/* Divided by its root mean square, times scale where there is one. x: shared; a barrier lies before and behind. */
UH_DEVICE void uh_norm_head(float *x, const float *scale, int32_t dim, float eps, float *lanes) {
    const float by = 1.0f / sqrtf(uh_sum_shared<true>(x, dim, 0.0f, lanes) / (float)dim + eps);
    __syncthreads();
#pragma unroll 1
    for (int32_t d = threadIdx.x; d < dim; d += UH_THREADS) x[d] = scale ? x[d] * by * scale[d] : x[d] * by;
    __syncthreads();
}

/* Turned by angles, 2 * half numbers: each thread turns pairs of its own. */
UH_DEVICE void uh_turn(float *x, const float *cosines, const float *sines, int32_t half, int32_t interleaved) {
#pragma unroll 1
    for (int32_t i = threadIdx.x; i < half; i += UH_THREADS) {
        const int32_t one = interleaved ? 2 * i : i, other = interleaved ? 2 * i + 1 : i + half;
        const float a = x[one], b = x[other];
        x[one] = a * cosines[i] - b * sines[i];
        x[other] = b * cosines[i] + a * sines[i];
    }
}

UH_DEVICE uint16_t uh_to_bf16(float x) {
    const uint32_t bits = (uint32_t)__float_as_int(x), rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)(x != x ? bits >> 16 | 0x40u : rounded);
}

UH_DEVICE void uh_put(void *rows, int32_t bits, int64_t at, float value) {
    if (bits == 16) ((uint16_t *)rows)[at] = uh_to_bf16(value);
    else ((float *)rows)[at] = value;
}

/* Which rows a token sees, and how they are split up: split i has `span` of them from first + i * span on. */
struct uh_seen {
    int64_t first, end, span;
};

UH_DEVICE uh_seen uh_seen_by(int64_t position, int32_t window, int32_t splits) {
    uh_seen seen;
    seen.end = position + 1;
    seen.first = window && seen.end > window ? seen.end - window : 0;
    const int64_t each = (seen.end - seen.first + splits - 1) / splits;
    seen.span = (each + UH_TILE_KEYS - 1) / UH_TILE_KEYS * UH_TILE_KEYS;
    return seen;
}

template <int BITS>
UH_DEVICE void uh_read_eight(const uint8_t *rows, int64_t at, float (&to)[8]) {
    if (BITS == 16) {
        const uint4 words = __ldg((const uint4 *)(rows + 2 * at));
        const uint32_t w[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int i = 0; i < 4; i++) to[2 * i] = __int_as_float((int)(w[i] << 16)), to[2 * i + 1] = __int_as_float((int)(w[i] & 0xffff0000u));
    } else {
        const float4 low = __ldg((const float4 *)(rows + 4 * at)), high = __ldg((const float4 *)(rows + 4 * at) + 1);
        to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w, to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
    }
}

/* weight[q][r] = query[q] . row r, for n queries and `count` rows: eight lanes have a row. first: of the first row, in numbers;
 * width: of a row, a multiple of 8. UNROLL: pieces of a row that are on their way at once. */
template <int BITS, int UNROLL, int MOST>
UH_DEVICE void uh_scores(const float (&query)[UH_QUERIES][MOST], const uint8_t *rows, int64_t first, int32_t width, int32_t count,
                         int32_t n, float (&weight)[UH_QUERIES][UH_TILE_KEYS]) {
    const int32_t thread = threadIdx.x, lane = thread % UH_WARP, eighth = thread % 8;
#pragma unroll 1
    for (int32_t r = thread / 8; r - lane / 8 < count; r += UH_THREADS / 8) { /* warps do not part: they shuffle */
        float score[UH_QUERIES] = {};
#pragma unroll UNROLL
        for (int32_t d = 8 * eighth; r < count && d < width; d += 64) {
            float key[8];
            uh_read_eight<BITS>(rows, first + (int64_t)r * width + d, key);
#pragma unroll
            for (int q = 0; q < UH_QUERIES; q++) {
                if (q >= n) break;
#pragma unroll
                for (int e = 0; e < 8; e++) score[q] = __fmaf_rn(query[q][d + e], key[e], score[q]);
            }
        }
#pragma unroll
        for (int q = 0; q < UH_QUERIES; q++) {
            if (q >= n) break;
#pragma unroll
            for (int apart = 4; apart; apart /= 2) score[q] = score[q] + __shfl_xor_sync(UH_EVERY_LANE, score[q], apart);
            if (eighth == q && r < count) weight[q][r] = score[q];
        }
    }
}

/* That every query sees all rows of a tile. */
struct uh_all_seen {
    bool operator()(int32_t, int32_t) const { return true; }
};

/* Scores become e^(score - largest so far), their sum is added to `total`; fade: what earlier rows shrink by. What a query
 * does not see weighs 0, whatever its score is. A warp for each query. */
template <class SEEN = uh_all_seen>
UH_DEVICE void uh_weigh(float (&weight)[UH_QUERIES][UH_TILE_KEYS], int32_t count, int32_t n, float *largest, float *total,
                        float *fade, const SEEN seen = SEEN()) {
    const int32_t lane = threadIdx.x % UH_WARP, warp = threadIdx.x / UH_WARP;
#pragma unroll 1
    for (int32_t q = warp; q < n; q += UH_WARPS) {
        const float before = largest[q], sum_before = total[q];
        float most = before, own = 0.0f;
#pragma unroll 1
        for (int32_t r = lane; r < count; r += UH_WARP) most = seen(q, r) && weight[q][r] > most ? weight[q][r] : most;
#pragma unroll
        for (int apart = 16; apart; apart /= 2) {
            const float other = __shfl_xor_sync(UH_EVERY_LANE, most, apart);
            most = other > most ? other : most;
        }
#pragma unroll 1
        for (int32_t r = lane; r < count; r += UH_WARP) {
            const float e = seen(q, r) ? uh_exp(weight[q][r] - most) : 0.0f;
            weight[q][r] = e;
            own = own + e;
        }
#pragma unroll
        for (int apart = 16; apart; apart /= 2) own = own + __shfl_xor_sync(UH_EVERY_LANE, own, apart);
        __syncwarp();
        if (!lane) {
            const float by = uh_exp(before - most);
            largest[q] = most, fade[q] = by, total[q] = sum_before * by + own;
        }
    }
}

template <int BITS>
UH_DEVICE float2 uh_read_two(const uint8_t *rows, int64_t at) {
    if (BITS == 32) return __ldg((const float2 *)(rows + 4 * at));
    const uint32_t word = __ldg((const uint32_t *)(rows + 2 * at));
    return make_float2(__int_as_float((int)(word << 16)), __int_as_float((int)(word & 0xffff0000u)));
}

/* What `count` rows from the number `first` on add to sums, which fade first. A thread has two numbers of every row of its
 * group of threads, dim / 2 of them. PARTLY: not all queries see all rows; what a row holds that weighs 0 is nothing then. */
template <int BITS, bool PARTLY>
UH_DEVICE void uh_add_values(const uint8_t *values, int64_t first, int32_t dim, int32_t count, int32_t n,
                             const float (&weight)[UH_QUERIES][UH_TILE_KEYS], const float *fade, float2 (&sum)[UH_QUERIES]) {
    const int32_t half = dim / 2, groups = UH_THREADS / half, pair = threadIdx.x % half, group = threadIdx.x / half;
#pragma unroll
    for (int q = 0; q < UH_QUERIES; q++)
        if (q < n) sum[q].x = sum[q].x * fade[q], sum[q].y = sum[q].y * fade[q];
#pragma unroll 1
    for (int32_t r = group; r < count; r += groups) {
        const float2 value = uh_read_two<BITS>(values, first + (int64_t)r * dim + 2 * pair);
#pragma unroll
        for (int q = 0; q < UH_QUERIES; q++) {
            if (q >= n) break;
            if (PARTLY && weight[q][r] == 0.0f) continue;
            sum[q].x = __fmaf_rn(weight[q][r], value.x, sum[q].x);
            sum[q].y = __fmaf_rn(weight[q][r], value.y, sum[q].y);
        }
    }
}

/* The sums of each group of threads to the room of the queries, which are not needed any more: [groups, dim] for each. A
 * barrier lies in front, and behind. */
UH_DEVICE void uh_gather_groups(float (&query)[UH_QUERIES][UH_MOST_HEAD], const float2 (&sum)[UH_QUERIES], int32_t n, int32_t dim) {
    const int32_t half = dim / 2, pair = threadIdx.x % half, group = threadIdx.x / half;
    if (group < UH_THREADS / half) {
#pragma unroll
        for (int q = 0; q < UH_QUERIES; q++)
            if (q < n) query[q][group * dim + 2 * pair] = sum[q].x, query[q][group * dim + 2 * pair + 1] = sum[q].y;
    }
    __syncthreads();
}

#endif
