/* Prompts: products in 8 bits on tensor cores, by the same tiles, with the bits of uh_dots. */
#include "activation.cuh"
#include "dots.cuh"

enum { UH_TILE_TOKENS = 8, UH_TILES = 4, UH_TOKENS = UH_TILE_TOKENS * UH_TILES };

/* sum [16 rows, 8 tokens] += codes [16, 32] x [32, 8], in whole numbers. Lane 4 i + j has, of `codes`, four columns of row i,
 * of row i + 8, and four more of both; of x, the same columns of token i; of sum, tokens 2 j and 2 j + 1 of rows i and i + 8
 * (PTX ISA, mma.m16n8k32 with .u8 and .s8). Turing has the product of 8 rows and 16 columns alone: four of these. */
UH_DEVICE void uh_mma(int (&sum)[4], const uint32_t (&codes)[4], const uint32_t (&x)[2]) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(codes[0]), "r"(codes[1]), "r"(codes[2]), "r"(codes[3]), "r"(x[0]), "r"(x[1]));
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
        asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+r"(sum[2 * (i % 2)]), "+r"(sum[2 * (i % 2) + 1])
            : "r"(codes[i]), "r"(x[i / 2]));
#endif
}

/* One warp: 16 rows on UH_TOKENS tokens. total[tile][i]: row lane / 4 + 8 (i / 2), token 8 tile + 2 (lane % 4) + i % 2.
 *
 * A sum of whole numbers may take its columns in any order, so a lane takes those of a line of 16 as its words have them:
 * lane 4 i + j has line j of up to four, row i and i + 8. */
template <int KIND>
UH_DEVICE void uh_tile_dots(const uh_product_view &view, int32_t block, const uh_vectors &x, const int32_t (&row)[UH_TILES],
                            const int32_t (&own)[UH_TILES][2], float (&total)[UH_TILES][4]) {
    const int32_t lane = threadIdx.x % UH_WARP, i = lane / 4, j = lane % 4, lines = view.group / 16;
    const uh_scaler upper_scales = uh_scaler_of(view, block, i), lower_scales = uh_scaler_of(view, block, i + 8);
    for (int32_t g = 0; g < view.groups; g++) {
        const uh_scale_words upper_words = uh_read_scale(upper_scales, g), lower_words = uh_read_scale(lower_scales, g);
        int sum[UH_TILES][4] = {};
        for (int32_t line = j; line - j < lines; line += 4) {
            const bool there = line < lines;
            const int64_t at = ((int64_t)block * view.groups + g) * lines + line;
            uint32_t upper[4] = {}, lower[4] = {};
            if (there) {
                uh_unpack<KIND>(view, uh_load<KIND>(view, at, i), upper);
                uh_unpack<KIND>(view, uh_load<KIND>(view, at, i + 8), lower);
            }
#pragma unroll
            for (int tile = 0; tile < UH_TILES; tile++) {
                int4 columns = {};
                if (there)
                    columns = *(const int4 *)(x.codes + (row[tile] * x.stored + (g * lines + line) * 16));
                const uint32_t first[2] = {(uint32_t)columns.x, (uint32_t)columns.y};
                const uint32_t second[2] = {(uint32_t)columns.z, (uint32_t)columns.w};
                uh_mma(sum[tile], {upper[0], lower[0], upper[1], lower[1]}, first);
                uh_mma(sum[tile], {upper[2], lower[2], upper[3], lower[3]}, second);
            }
        }
        float scale[2], offset[2];
        uh_scale_of(upper_scales, upper_words, &scale[0], &offset[0]);
        uh_scale_of(lower_scales, lower_words, &scale[1], &offset[1]);
#pragma unroll
        for (int tile = 0; tile < UH_TILES; tile++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int32_t at = own[tile][e % 2] * x.groups + g;
                float *y = &total[tile][e];
                *y = __fmaf_rn((float)sum[tile][e], __fmul_rn(scale[e / 2], x.scales[at]), *y);
                *y = __fmaf_rn(offset[e / 2], x.sums[at], *y);
            }
    }
}

/* Slots `first` .. `end` - 1, at most UH_TOKENS. x row slots[t] / k gives y row t; where k is 0, x row t gives y row slots[t]. */
UH_DEVICE void uh_tile(const uh_product_view &view, int32_t block, const uh_vectors &x, const int32_t *slots, int32_t k,
                       int32_t first, int32_t end, float *y, int64_t y_stride) {
    const int32_t lane = threadIdx.x % UH_WARP, i = lane / 4, j = lane % 4;
    int32_t row[UH_TILES], own[UH_TILES][2];
    float total[UH_TILES][4] = {};
#pragma unroll
    for (int tile = 0; tile < UH_TILES; tile++) {
        /* Tokens beyond the last are the last once more; what they give is not written. */
        const int32_t base = first + UH_TILE_TOKENS * tile, t = min(base + i, end - 1);
        const int32_t t0 = min(base + 2 * j, end - 1), t1 = min(base + 2 * j + 1, end - 1);
        row[tile] = k ? slots[t] / k : t;
        own[tile][0] = k ? slots[t0] / k : t0;
        own[tile][1] = k ? slots[t1] / k : t1;
    }
#define UH_CALL(kind) uh_tile_dots<kind>(view, block, x, row, own, total)
    UH_FOR_KIND(view.kind, UH_CALL)
#undef UH_CALL
#pragma unroll
    for (int tile = 0; tile < UH_TILES; tile++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int32_t index = block * UH_ROWS + i + 8 * (e / 2), t = first + UH_TILE_TOKENS * tile + 2 * j + e % 2;
            if (t >= end || index >= view.rows) continue;
            y[(k ? t : slots[t]) * y_stride + index] = uh_finished(view, index, total[tile][e]);
        }
}

/* One matrix of a layer's experts. Of gate and up (which 0, 1) y row i is that of slots[i]; of down (2) row i of x gives y
 * row slots[i]. Grid: (row blocks / UH_WARPS, experts, slots of an expert / UH_TOKENS). */
UH_KERNEL UH_BOUNDED
    uh_gemm(const uh_layout layout, int32_t which, const uh_expert *experts, const int32_t *slots, int32_t k,
            const int8_t *codes, const float *scales, const float *sums, float *y, int64_t y_stride) {
    const uh_expert expert = experts[blockIdx.y];
    const int32_t block = blockIdx.x * UH_WARPS + threadIdx.x / UH_WARP;
    const int32_t first = expert.first_slot + blockIdx.z * UH_TOKENS, last = expert.first_slot + expert.count;
    const uh_product_view view = which == UH_GATE ? uh_view_of<UH_GATE>(layout, expert)
                                 : which == UH_UP ? uh_view_of<UH_UP>(layout, expert)
                                                  : uh_view_of<UH_DOWN>(layout, expert);
    if (first >= last || block * UH_ROWS >= view.rows) return;
    const uh_vectors x = {codes, scales, sums, view.groups * view.group, view.groups};
    uh_tile(view, block, x, slots, which == UH_DOWN ? 0 : k, first, min(first + UH_TOKENS, last), y, y_stride);
}

/* h = activation(gate, up), rows of `stride` values; h may be one of the two. Grid: (intermediate / UH_THREADS, rows). */
UH_KERNEL uh_activate(const uh_layout layout, const float *gate, const float *up, float *h, int64_t stride) {
    const int32_t index = blockIdx.x * UH_THREADS + threadIdx.x;
    if (index >= layout.intermediate) return;
    const int64_t at = blockIdx.y * stride + index;
    const float value = up[at];
    h[at] = uh_activated(layout, layout.has_gate ? gate[at] : value, value);
}
