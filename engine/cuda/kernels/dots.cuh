/* 16 rows of a matrix times activations of 8 bits, by one warp: lane 16 h + r has row r, and every other line of 16 columns.
 *
 * Whole numbers are added up within a group in any order; what the groups give is added in their order, by fused
 * multiply-adds, as isa.dots of rows.h is defined: the same bits as the processor's with VNNI. */
#ifndef UH_DOTS_CUH
#define UH_DOTS_CUH

#include "unpack.cuh"

/* Vectors in 8 bits: codes [n, stored], scales and sums [n, groups]; n * stored is below 2^31. */
struct uh_vectors {
    const int8_t *codes;
    const float *scales, *sums;
    int32_t stored, groups;
};

UH_DEVICE int uh_dot4(uint32_t codes, int32_t x, int sum) {
    int result;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(codes), "r"(x), "r"(sum));
    return result;
}

UH_DEVICE int uh_line_dot(const uint32_t (&c)[4], const int8_t *x, int sum) {
    const int4 columns = *(const int4 *)x;
    sum = uh_dot4(c[0], columns.x, sum);
    sum = uh_dot4(c[1], columns.y, sum);
    sum = uh_dot4(c[2], columns.z, sum);
    return uh_dot4(c[3], columns.w, sum);
}

/* total[t] += what group g gives; dot[t]: of this lane's lines. */
template <int N>
UH_DEVICE void uh_add_group(const uh_product_view &view, int32_t block, int32_t g, int32_t r, const uh_vectors &x,
                            const int32_t (&row)[N], int32_t n, const int (&dot)[N], float (&total)[N]) {
    float scale, offset;
    uh_scale_of(view, block, g, r, &scale, &offset);
#pragma unroll
    for (int t = 0; t < N; t++) {
        if (t >= n) break;
        const int whole = dot[t] + __shfl_xor_sync(UH_EVERY_LANE, dot[t], 16);
        const int32_t at = row[t] * x.groups + g;
        total[t] = __fmaf_rn((float)whole, __fmul_rn(scale, x.scales[at]), total[t]);
        total[t] = __fmaf_rn(offset, x.sums[at], total[t]);
    }
}

/* y[t] = (W x[row[t]] + bias)[16 block + r] for t < n, in both halves of the warp. LINES: of a group, if the compiler is to
 * know (then a whole group is on its way before anything waits); 0: any number. */
template <int KIND, int N, int LINES>
UH_DEVICE void uh_dots(const uh_product_view &view, int32_t block, const uh_vectors &x, const int32_t (&row)[N], int32_t n,
                       float (&y)[N]) {
    const int32_t lane = threadIdx.x % UH_WARP, r = lane % UH_ROWS, h = lane / UH_ROWS;
    const int32_t lines = LINES ? LINES : view.group / 16;
#pragma unroll
    for (int t = 0; t < N; t++) y[t] = 0.0f;
    for (int32_t g = 0; g < view.groups; g++) {
        const int64_t first = ((int64_t)block * view.groups + g) * lines;
        const int8_t *columns = x.codes + (int64_t)g * lines * 16;
        int dot[N];
#pragma unroll
        for (int t = 0; t < N; t++) dot[t] = 0;
#pragma unroll 2
        for (int32_t line = h; line < lines; line += 2) {
            uint32_t c[4];
            uh_unpack<KIND>(view, uh_load<KIND>(view, first + line, r), c);
#pragma unroll
            for (int t = 0; t < N; t++) {
                if (t >= n) break;
                dot[t] = uh_line_dot(c, columns + (row[t] * x.stored + line * 16), dot[t]);
            }
        }
        uh_add_group<N>(view, block, g, r, x, row, n, dot, y);
    }
#pragma unroll
    for (int t = 0; t < N; t++) y[t] = uh_finished(view, block * UH_ROWS + r, y[t]);
}

template <int N>
UH_DEVICE void uh_dots_any(const uh_product_view &view, int32_t block, const uh_vectors &x, const int32_t (&row)[N], int32_t n,
                           float (&y)[N]) {
#define UH_CALL(kind)                                            \
    if (N == 1 && view.group == 64)                              \
        uh_dots<kind, N, 4>(view, block, x, row, n, y);          \
    else                                                         \
        uh_dots<kind, N, 0>(view, block, x, row, n, y)
    UH_FOR_KIND(view.kind, UH_CALL)
#undef UH_CALL
}

#endif
