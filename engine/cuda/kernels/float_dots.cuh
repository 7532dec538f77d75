/* 16 rows of a matrix times activations in float32, by one warp: slower than in 8 bits, and closer. */
#ifndef UH_FLOAT_DOTS_CUH
#define UH_FLOAT_DOTS_CUH

#include "unpack.cuh"

/* Vectors in float32: x [n, stored], padded; sums [n, groups]; n * stored is below 2^31. */
struct uh_float_vectors {
    const float *x, *sums;
    int32_t stored, groups;
};

/* Lane 16 h + r has the columns 4 s + 2 h and 4 s + 2 h + 1 of row r. Sums of every fourth column are
 * kept apart and added in pairs, as `rows` of rows_avx512.c and rows_avx2.c do: the same bits. y: as of uh_dots. */
template <int KIND, int N>
UH_DEVICE void uh_float_dots(const uh_product_view &view, int32_t block, const uh_float_vectors &x,
                             const int32_t (&row)[N], int32_t n, float (&y)[N]) {
    const int32_t lane = threadIdx.x % UH_WARP, r = lane % UH_ROWS, h = lane / UH_ROWS;
    const int32_t lines = view.group / 16;
    const uh_scaler scaler = uh_scaler_of(view, block, r);
#pragma unroll
    for (int t = 0; t < N; t++) y[t] = 0.0f;
    for (int32_t g = 0; g < view.groups; g++) {
        const uh_scale_words words = uh_read_scale(scaler, g);
        float own[N][2] = {};
        for (int32_t line = 0; line < lines; line++) {
            uint32_t c[4];
            uh_unpack<KIND>(view, uh_load<KIND>(view, ((int64_t)block * view.groups + g) * lines + line, r), c);
#pragma unroll
            for (int s = 0; s < 4; s++) {
                const uint32_t two = c[s] >> 16 * h;
                const float first = (float)(two & 255), second = (float)(two >> 8 & 255);
#pragma unroll
                for (int t = 0; t < N; t++) {
                    if (t >= n) break;
                    const float2 at = *(const float2 *)(x.x + (row[t] * x.stored + (g * lines + line) * 16 + 4 * s + 2 * h));
                    own[t][0] = __fmaf_rn(first, at.x, own[t][0]);
                    own[t][1] = __fmaf_rn(second, at.y, own[t][1]);
                }
            }
        }
        float scale, offset;
        uh_scale_of(scaler, words, &scale, &offset);
#pragma unroll
        for (int t = 0; t < N; t++) {
            if (t >= n) break;
            const float half = __fadd_rn(own[t][0], own[t][1]);
            const float sum = __fadd_rn(half, __shfl_xor_sync(UH_EVERY_LANE, half, 16));
            y[t] = __fmaf_rn(scale, sum, y[t]);
            y[t] = __fmaf_rn(offset, x.sums[row[t] * x.groups + g], y[t]);
        }
    }
#pragma unroll
    for (int t = 0; t < N; t++) y[t] = uh_finished(view, block * UH_ROWS + r, y[t]);
}

template <int N>
UH_DEVICE void uh_dots_any(const uh_product_view &view, int32_t block, const uh_float_vectors &x, const int32_t (&row)[N],
                           int32_t n, float (&y)[N]) {
#define UH_CALL(kind) uh_float_dots<kind, N>(view, block, x, row, n, y)
    UH_FOR_KIND(view.kind, UH_CALL)
#undef UH_CALL
}

#endif
