/* Multi-head latent attention of one token, absorbed: its row finished, and its queries met with the rows of its sequence, which
 * lie on the card as [capacity, rank + rope] in bf16 or float32, the same for all heads. Blocks of UH_THREADS. */
#include "attend.cuh"

enum { UH_MOST_RANK = 512, UH_MOST_ROW = 576, UH_ROWS_AHEAD = 4 };

/* run_latent of latent.h: row [rank + rope] finished where it lies, and as row *position of `rows`; the rotary parts of queries
 * [heads, nope + rope] turned. The same bits. Grid: 1 + heads. */
UH_KERNEL uh_latent(float *queries, float *row, const float *scale, const float *cosines, const float *sines,
                    const int64_t *position, void *rows, int32_t bits, int32_t nope, int32_t rope, int32_t rank,
                    int32_t interleaved, float eps) {
    __shared__ float own[UH_MOST_ROW], lanes[UH_SUM_LANES];
    const int32_t width = rank + rope;
    if (blockIdx.x) {
        uh_turn(queries + (int64_t)(blockIdx.x - 1) * (nope + rope) + nope, cosines, sines, rope / 2, interleaved);
        return;
    }
#pragma unroll 1
    for (int32_t d = threadIdx.x; d < width; d += UH_THREADS) own[d] = row[d];
    __syncthreads();
    uh_norm_head(own, scale, rank, eps, lanes);
    uh_turn(own + rank, cosines, sines, rope / 2, interleaved);
    __syncthreads();
#pragma unroll 1
    for (int32_t d = threadIdx.x; d < width; d += UH_THREADS) {
        row[d] = own[d];
        uh_put(rows, bits, *position * width + d, own[d]);
    }
}

template <int BITS>
UH_DEVICE float4 uh_read_four(const uint8_t *rows, int64_t at) {
    if (BITS == 32) return __ldg((const float4 *)(rows + 4 * at));
    const uint2 words = __ldg((const uint2 *)(rows + 2 * at));
    return make_float4(__int_as_float((int)(words.x << 16)), __int_as_float((int)(words.x & 0xffff0000u)),
                       __int_as_float((int)(words.y << 16)), __int_as_float((int)(words.y & 0xffff0000u)));
}

/* What `count` rows of latents add to the sums of n queries, four numbers of each: UH_ROWS_AHEAD rows are on their way at once.
 * first: of these numbers in the first row. */
template <int BITS>
UH_DEVICE void uh_add_latents(const uint8_t *rows, int64_t first, int32_t width, int32_t count, int32_t n,
                              const float (&weight)[UH_QUERIES][UH_TILE_KEYS], float4 (&sum)[UH_QUERIES]) {
#pragma unroll 1
    for (int32_t r = 0; r < count; r += UH_ROWS_AHEAD) {
        float4 value[UH_ROWS_AHEAD] = {};
#pragma unroll
        for (int i = 0; i < UH_ROWS_AHEAD; i++)
            if (r + i < count) value[i] = uh_read_four<BITS>(rows, first + (int64_t)(r + i) * width);
#pragma unroll
        for (int i = 0; i < UH_ROWS_AHEAD; i++) {
            if (r + i >= count) break;
#pragma unroll
            for (int q = 0; q < UH_QUERIES; q++) {
                if (q >= n) break;
                const float by = weight[q][r + i];
                sum[q].x = __fmaf_rn(by, value[i].x, sum[q].x);
                sum[q].y = __fmaf_rn(by, value[i].y, sum[q].y);
                sum[q].z = __fmaf_rn(by, value[i].z, sum[q].z);
                sum[q].w = __fmaf_rn(by, value[i].w, sum[q].w);
            }
        }
    }
}

/* UH_QUERIES heads over one split of the rows. latent: queries [heads, rank]; rotary: their other parts, `step` apart. partial
 * [heads, splits, 2 + rank]: as of uh_attend, for uh_merge. A thread has four numbers of the latents. Grid: (splits, heads /
 * UH_QUERIES). */
template <int BITS>
UH_DEVICE void uh_attend_latents(const float *latent, const float *rotary, const uint8_t *rows, const int64_t *position,
                                 float *partial, int32_t heads, int32_t rank, int32_t rope, int32_t step, float scale) {
    __shared__ float query[UH_QUERIES][UH_MOST_ROW], weight[UH_QUERIES][UH_TILE_KEYS];
    __shared__ float largest[UH_QUERIES], total[UH_QUERIES], fade[UH_QUERIES];
    const int32_t splits = gridDim.x, head = blockIdx.y * UH_QUERIES, n = min((int32_t)UH_QUERIES, heads - head);
    const int32_t width = rank + rope, thread = threadIdx.x, d = 4 * thread;
    const uh_seen seen = uh_seen_by(*position, 0, splits);
    const int64_t low = blockIdx.x * seen.span, high = min(low + seen.span, seen.end);
    if (low >= high) return;
#pragma unroll 1
    for (int32_t i = thread; i < n * width; i += UH_THREADS) {
        const int32_t q = i / width, c = i % width;
        const float own = c < rank ? latent[(int64_t)(head + q) * rank + c] : rotary[(int64_t)(head + q) * step + c - rank];
        query[q][c] = scale * own;
    }
    if (thread < UH_QUERIES) largest[thread] = -3.4e38f, total[thread] = 0.0f, fade[thread] = 1.0f;
    __syncthreads();
    float4 sum[UH_QUERIES] = {};
#pragma unroll 1
    for (int64_t at = low; at < high; at += UH_TILE_KEYS) {
        const int32_t count = (int32_t)min(high - at, (int64_t)UH_TILE_KEYS);
        uh_scores<BITS, 3>(query, rows, at * width, width, count, n, weight);
        __syncthreads();
        uh_weigh(weight, count, n, largest, total, fade);
        __syncthreads();
        if (d < rank) {
#pragma unroll
            for (int q = 0; q < UH_QUERIES; q++) {
                if (q >= n) break;
                const float by = fade[q];
                sum[q] = make_float4(sum[q].x * by, sum[q].y * by, sum[q].z * by, sum[q].w * by);
            }
            uh_add_latents<BITS>(rows, at * width + d, width, count, n, weight, sum);
        }
        __syncthreads(); /* the weights are written over next */
    }
    float *to = partial + ((int64_t)head * splits + blockIdx.x) * (2 + rank);
#pragma unroll
    for (int q = 0; q < UH_QUERIES; q++) {
        if (q >= n) break;
        if (d < rank) to[2 + d] = sum[q].x, to[3 + d] = sum[q].y, to[4 + d] = sum[q].z, to[5 + d] = sum[q].w;
        if (thread == q) to[0] = largest[q], to[1] = total[q];
        to += (int64_t)splits * (2 + rank);
    }
}

#define UH_ATTEND_LATENTS(name, bits)                                                                                       \
    UH_KERNEL UH_BOUNDED name(const float *latent, const float *rotary, const uint8_t *rows, const int64_t *position,       \
                              float *partial, int32_t heads, int32_t rank, int32_t rope, int32_t step, float scale) {       \
        uh_attend_latents<bits>(latent, rotary, rows, position, partial, heads, rank, rope, step, scale);                   \
    }
UH_ATTEND_LATENTS(uh_attend_latent_16, 16)
UH_ATTEND_LATENTS(uh_attend_latent_32, 32)
