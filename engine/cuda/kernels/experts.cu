/* A few tokens through a layer's experts: gate, up and activation in one launch, down in the next. */
#include "activation.cuh"
#include "dots.cuh"
#include "float_dots.cuh"

/* The rows of the operand that n slots from `at` on read: each slot's token, or the slot's own. */
template <int N>
UH_DEVICE int32_t uh_rows_of(const int32_t *slots, int32_t k, int32_t at, int32_t last, int32_t (&row)[N]) {
    const int32_t n = last - at < N ? last - at : N;
#pragma unroll
    for (int t = 0; t < N; t++) row[t] = t < n ? (k ? slots[at + t] / k : at + t) : 0;
    return n;
}

/* Zeros in columns from `first` on, `n` of them as far as there are `cols`, of `rows` rows. */
UH_DEVICE void uh_zeros(float *to, int64_t stride, int32_t rows, int32_t first, int32_t n, int32_t cols) {
#pragma unroll 1
    for (int32_t i = threadIdx.x; i < rows * n; i += UH_THREADS)
        if (first + i % n < cols) to[i / n * stride + first + i % n] = 0.0f;
}

/* h = activation(gate x, up x); of an expert that is not there (planes: 0), zeros. Warps 0 and 1 of a block have two row blocks of up, warps 2 and 3 the same of gate; without a
 * gate all four have one of up. What they give goes through shared memory, so that all threads share the activations.
 * Grid: (row blocks / 2 or 4, experts). */
template <int N, typename VECTORS>
UH_DEVICE void uh_gate_up(const uh_layout &layout, const uh_expert *experts, const int32_t *slots, int32_t k, VECTORS x,
                          float *h, int64_t h_stride) {
    __shared__ float products[N][UH_WARPS * UH_ROWS];
    const uh_expert expert = experts[blockIdx.y];
    const int32_t warp = threadIdx.x / UH_WARP, lane = threadIdx.x % UH_WARP;
    const int32_t blocks = layout.has_gate ? UH_WARPS / 2 : UH_WARPS, last = expert.first_slot + expert.count;
    const int32_t block = blockIdx.x * blocks + warp % blocks;
    if (!expert.planes) {
        uh_zeros(h + expert.first_slot * h_stride, h_stride, expert.count, blockIdx.x * blocks * UH_ROWS, blocks * UH_ROWS,
                 layout.intermediate);
        return;
    }
    const uh_product_view view = warp < blocks ? uh_view_of<UH_UP>(layout, expert) : uh_view_of<UH_GATE>(layout, expert);
    x.stored = view.groups * view.group, x.groups = view.groups;
    for (int32_t at = expert.first_slot; at < last; at += N) {
        int32_t row[N];
        float y[N] = {}; /* of rows that are not there */
        const int32_t n = uh_rows_of<N>(slots, k, at, last, row);
        if (at > expert.first_slot) __syncthreads(); /* all have read the products of the slots before */
        if (block * UH_ROWS < layout.intermediate) uh_dots_any<N>(view, block, x, row, n, y);
#pragma unroll
        for (int t = 0; t < N; t++)
            if (lane < UH_ROWS) products[t][warp * UH_ROWS + lane] = y[t];
        __syncthreads();
        const int32_t rows = blocks * UH_ROWS;
#pragma unroll 1
        for (int32_t i = threadIdx.x; i < n * rows; i += UH_THREADS) {
            const int32_t t = i / rows, r = i % rows, index = blockIdx.x * rows + r;
            if (index >= layout.intermediate) continue;
            const float up = products[t][r], gate = layout.has_gate ? products[t][rows + r] : up;
            h[(at + t) * h_stride + index] = uh_activated(layout, gate, up);
        }
    }
}

#define UH_GATE_UP(name, n)                                                                                                \
    UH_KERNEL UH_BOUNDED                                                                                                   \
        name(const uh_layout layout, const uh_expert *experts, const int32_t *slots, int32_t k, const int8_t *codes,       \
             const float *scales, const float *sums, float *h, int64_t h_stride) {                                         \
        uh_gate_up<n>(layout, experts, slots, k, uh_vectors{codes, scales, sums}, h, h_stride);                            \
    }
UH_GATE_UP(uh_gate_up_1, 1)
UH_GATE_UP(uh_gate_up_4, 4)

UH_KERNEL UH_BOUNDED
    uh_gate_up_exact(const uh_layout layout, const uh_expert *experts, const int32_t *slots, int32_t k, const float *padded,
                     const float *sums, float *h, int64_t h_stride) {
    uh_gate_up<4>(layout, experts, slots, k, uh_float_vectors{padded, sums}, h, h_stride);
}

/* out[slot] = down h, or zeros of an expert that is not there. A dense matrix is run as the down matrix of an expert, too. Grid: (row blocks / UH_WARPS, experts). */
template <int N, typename VECTORS>
UH_DEVICE void uh_down(const uh_layout &layout, const uh_expert *experts, const int32_t *slots, VECTORS x, float *out) {
    const uh_expert expert = experts[blockIdx.y];
    const int32_t warp = threadIdx.x / UH_WARP, lane = threadIdx.x % UH_WARP, half = lane / UH_ROWS;
    const int32_t block = blockIdx.x * UH_WARPS + warp, index = block * UH_ROWS + lane % UH_ROWS;
    const int32_t last = expert.first_slot + expert.count;
    if (!expert.planes) {
        const int32_t rows = UH_WARPS * UH_ROWS;
        for (int32_t at = expert.first_slot; at < last; at++)
            uh_zeros(out + (int64_t)slots[at] * layout.hidden, 0, 1, blockIdx.x * rows, rows, layout.hidden);
        return;
    }
    if (block * UH_ROWS >= layout.hidden) return;
    const uh_product_view view = uh_view_of<UH_DOWN>(layout, expert);
    x.stored = view.groups * view.group, x.groups = view.groups;
    for (int32_t at = expert.first_slot; at < last; at += N) {
        int32_t row[N];
        float y[N];
        const int32_t n = uh_rows_of<N>(slots, 0, at, last, row);
        uh_dots_any<N>(view, block, x, row, n, y);
#pragma unroll
        for (int t = 0; t < N; t++)
            if (t % 2 == half && t < n && index < layout.hidden)
                out[(int64_t)slots[at + t] * layout.hidden + index] = y[t];
    }
}

#define UH_DOWN_KERNEL(name, n)                                                                                            \
    UH_KERNEL UH_BOUNDED                                                                                                   \
        name(const uh_layout layout, const uh_expert *experts, const int32_t *slots, const int8_t *codes,                  \
             const float *scales, const float *sums, float *out) {                                                         \
        uh_down<n>(layout, experts, slots, uh_vectors{codes, scales, sums}, out);                                          \
    }
UH_DOWN_KERNEL(uh_down_1, 1)
UH_DOWN_KERNEL(uh_down_4, 4)

UH_KERNEL UH_BOUNDED
    uh_down_exact(const uh_layout layout, const uh_expert *experts, const int32_t *slots, const float *padded,
                  const float *sums, float *out) {
    uh_down<4>(layout, experts, slots, uh_float_vectors{padded, sums}, out);
}

/* y [tokens, hidden] = sum over k, in order, of weights [tokens, k] * out [tokens * k, hidden]; a weight of exactly 0 drops
 * its slot unread. Rounded between product and sum, as combine of moe.c. Grid: (hidden / UH_THREADS, tokens). */
UH_KERNEL uh_combine(const float *weights, const float *out, float *y, int32_t k, int32_t hidden) {
    const int32_t column = blockIdx.x * UH_THREADS + threadIdx.x;
    const int64_t token = blockIdx.y;
    if (column >= hidden) return;
    float sum = 0.0f;
    for (int32_t rank = 0; rank < k; rank++) {
        const float weight = weights[token * k + rank];
        if (weight != 0.0f) sum = __fadd_rn(sum, __fmul_rn(weight, out[(token * k + rank) * hidden + column]));
    }
    y[token * hidden + column] = sum;
}
