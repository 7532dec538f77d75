/* What of a layer is neither an expert nor attention, for one token: norms, sums, gates, products of raw matrices, and the
 * choice of experts. All but uh_raw give the bits of norm.h and ops.h. Blocks of UH_THREADS. */
#include "activation.cuh"
#include "sums.cuh"

/* out = x / sqrt(mean(x^2) + eps) * scale (or without scale, NULL), and with a bias LayerNorm; out may be x. Grid: rows. */
UH_KERNEL uh_norm(const float *x, float *out, const float *scale, const float *bias, int32_t width, float eps) {
    __shared__ float tile[UH_TILE_FLOATS], lanes[UH_SUM_LANES];
    const int64_t first = (int64_t)blockIdx.x * width;
    const float mean = bias ? uh_sum_of<false>(x + first, width, 0.0f, tile, lanes) / (float)width : 0.0f;
    const float by = 1.0f / sqrtf(uh_sum_of<true>(x + first, width, mean, tile, lanes) / (float)width + eps);
#pragma unroll 4
    for (int32_t c = threadIdx.x; c < width; c += UH_THREADS) {
        const float value = bias ? (x[first + c] - mean) * by : x[first + c] * by;
        out[first + c] = bias ? value * scale[c] + bias[c] : scale ? value * scale[c] : value;
    }
}

/* x += by * source. Grid: n / UH_THREADS. */
UH_KERNEL uh_add(float *x, const float *source, float by, int32_t n) {
    const int32_t i = blockIdx.x * UH_THREADS + threadIdx.x;
    if (i < n) x[i] = x[i] + by * source[i];
}

/* x *= sigmoid(gates): one for each value, or (gates: 1) one for all. Grid: n / UH_THREADS. */
UH_KERNEL uh_gate(float *x, const float *gate, int32_t n, int32_t gates) {
    const int32_t i = blockIdx.x * UH_THREADS + threadIdx.x;
    if (i < n) x[i] = x[i] * uh_sigmoid(gate[gates == 1 ? 0 : i]);
}

/* y [rows] = W x + bias, W [rows, cols] in bf16 or float32 (bits), a warp for each row. Every `each` rows have an x of their own,
 * `step` behind that of those before. Grid: rows / UH_WARPS. */
UH_KERNEL uh_raw(const float *x, const uint8_t *weights, const float *bias, float *y, int32_t rows, int32_t cols, int32_t bits,
                 int32_t each, int32_t step) {
    const int32_t lane = threadIdx.x % UH_WARP, row = blockIdx.x * UH_WARPS + threadIdx.x / UH_WARP;
    if (row >= rows) return;
    const int64_t first = (int64_t)row * cols;
    const float *own = x + (int64_t)(row / each) * step;
    float sum = 0.0f;
#pragma unroll 8
    for (int32_t c = lane; c < cols; c += UH_WARP) {
        const float weight = bits == 16 ? __int_as_float((int)__ldg((const uint16_t *)weights + first + c) << 16)
                                        : __ldg((const float *)weights + first + c);
        sum = __fmaf_rn(weight, own[c], sum);
    }
#pragma unroll
    for (int apart = 16; apart; apart /= 2) sum = sum + __shfl_xor_sync(UH_EVERY_LANE, sum, apart);
    if (!lane) y[row] = bias ? sum + bias[row] : sum;
}

enum { UH_MOST_EXPERTS = 1024, UH_MOST_TAKEN = 64 };
enum { UH_SOFTMAX, UH_TOPK_SOFTMAX, UH_SIGMOID_SCORES }; /* SCORE_ of ops.h */

/* e^(x - largest) of n values in shared memory, not yet divided; returns their sum. */
UH_DEVICE float uh_exponentials(float *x, int32_t n, float *lanes) {
    float best = -__int_as_float(0x7f800000);
#pragma unroll 8
    for (int32_t i = 0; i < n; i++) best = x[i] > best ? x[i] : best;
    __syncthreads(); /* all have read what each writes over */
#pragma unroll 1
    for (int32_t i = threadIdx.x; i < n; i += UH_THREADS) x[i] = uh_exp(x[i] - best);
    __syncthreads();
    return uh_sum_shared<false>(x, n, 0.0f, lanes);
}

/* The number of the first of the largest of `choice`, of which those that were taken are NaN. By a whole warp. */
UH_DEVICE int32_t uh_best(const float *choice, int32_t n) {
    const int32_t none = 0x7fffffff;
    float best = -__int_as_float(0x7f800000);
    int32_t at = none;
#pragma unroll 1
    for (int32_t i = threadIdx.x % UH_WARP; i < n; i += UH_WARP) {
        const float value = choice[i];
        if (value == value && (at == none || value > best)) best = value, at = i;
    }
#pragma unroll
    for (int apart = 16; apart; apart /= 2) {
        const float other = __shfl_xor_sync(UH_EVERY_LANE, best, apart);
        const int32_t there = __shfl_xor_sync(UH_EVERY_LANE, at, apart);
        if (there != none && (at == none || other > best || (other == best && there < at))) best = other, at = there;
    }
    return at;
}

/* ids [top_k] and weights [top_k] from router logits, by one block: `run_route` of ops.h without groups. bias, of the choice,
 * and expert_scale: [experts], or NULL. */
UH_KERNEL uh_route(const float *logits, const float *bias, const float *expert_scale, int64_t *ids, float *weights,
                   int32_t experts, int32_t top_k, int32_t score, int32_t normalize, float eps, float least, float scale) {
    __shared__ float scores[UH_MOST_EXPERTS], choice[UH_MOST_EXPERTS], chosen[UH_MOST_TAKEN], lanes[UH_SUM_LANES];
    __shared__ int32_t where[UH_MOST_TAKEN];
    const int32_t lane = threadIdx.x;
#pragma unroll 1
    for (int32_t i = lane; i < experts; i += UH_THREADS) scores[i] = logits[i];
    __syncthreads();
    const float whole = score == UH_SOFTMAX ? uh_exponentials(scores, experts, lanes) : 1.0f;
#pragma unroll 1
    for (int32_t i = lane; i < experts; i += UH_THREADS) {
        const float own = score == UH_SOFTMAX ? scores[i] / whole : score == UH_SIGMOID_SCORES ? uh_sigmoid(scores[i]) : scores[i];
        const float value = bias ? own + bias[i] : own;
        scores[i] = own;
        choice[i] = value != value ? __int_as_float(0x7f800000) : value;
    }
    __syncthreads();
    if (lane < UH_WARP) {
#pragma unroll 1
        for (int32_t k = 0; k < top_k; k++) {
            const int32_t at = uh_best(choice, experts);
            __syncwarp();
            if (!lane) choice[at] = __int_as_float(0x7fc00000), where[k] = at, chosen[k] = scores[at];
            __syncwarp();
        }
    }
    __syncthreads();
    if (score == UH_TOPK_SOFTMAX) {
        const float sum = uh_exponentials(chosen, top_k, lanes);
        __syncthreads();
        if (lane < top_k) chosen[lane] = chosen[lane] / sum;
        __syncthreads();
    }
    float total = 0.0f;
#pragma unroll 1
    for (int32_t k = 0; k < top_k; k++) total = total + chosen[k];
    total = total + eps;
    total = total < least ? least : total;
    if (lane >= top_k) return;
    const float weight = (normalize ? chosen[lane] / total : chosen[lane]) * scale;
    ids[lane] = where[lane];
    weights[lane] = expert_scale ? weight * expert_scale[where[lane]] : weight;
}
