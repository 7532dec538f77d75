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
UH_DEVICE void uh_add_group(const uh_scaler &scaler, const uh_scale_words &words, int32_t g, const uh_vectors &x,
                            const int32_t (&row)[N], int32_t n, const int (&dot)[N], float (&total)[N]) {
    float scale, offset;
    uh_scale_of(scaler, words, &scale, &offset);
#pragma unroll
    for (int t = 0; t < N; t++) {
        if (t >= n) break;
        const int whole = dot[t] + __shfl_xor_sync(UH_EVERY_LANE, dot[t], 16);
        const int32_t at = row[t] * x.groups + g;
        total[t] = __fmaf_rn((float)whole, __fmul_rn(scale, x.scales[at]), total[t]);
        total[t] = __fmaf_rn(offset, x.sums[at], total[t]);
    }
}

/* y[t] = (W x[row[t]] + bias)[16 block + r] for t < n, in both halves of the warp. For groups of any number of lines. */
template <int KIND, int N>
UH_DEVICE void uh_dots(const uh_product_view &view, int32_t block, const uh_vectors &x, const int32_t (&row)[N], int32_t n,
                       float (&y)[N]) {
    const int32_t lane = threadIdx.x % UH_WARP, r = lane % UH_ROWS, h = lane / UH_ROWS, lines = view.group / 16;
    const uh_scaler scaler = uh_scaler_of(view, block, r);
#pragma unroll
    for (int t = 0; t < N; t++) y[t] = 0.0f;
#pragma unroll 1
    for (int32_t g = 0; g < view.groups; g++) {
        const uh_scale_words scale = uh_read_scale(scaler, g);
        const int64_t first = ((int64_t)block * view.groups + g) * lines;
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
                dot[t] = uh_line_dot(c, x.codes + (row[t] * x.stored + (g * lines + line) * 16), dot[t]);
            }
        }
        uh_add_group<N>(scaler, scale, g, x, row, n, dot, y);
    }
#pragma unroll
    for (int t = 0; t < N; t++) y[t] = uh_finished(view, block * UH_ROWS + r, y[t]);
}

/* What a lane reads of a group: its lines' words, and its row's scale. */
template <int LINES>
struct uh_group {
    uh_words words[LINES / 2];
    uh_scale_words scale;
};

template <int KIND, int LINES>
UH_DEVICE uh_group<LINES> uh_read_group(const uh_product_view &view, const uh_scaler &scaler, int64_t first, int32_t g,
                                        int32_t r) {
    uh_group<LINES> group;
#pragma unroll
    for (int i = 0; i < LINES / 2; i++) group.words[i] = uh_load<KIND>(view, first + g * LINES + 2 * i, r);
    group.scale = uh_read_scale(scaler, g);
    return group;
}

/* The same for one token, whose time is all reading, and groups of LINES lines: AHEAD groups are on their way whenever one is
 * waited for. Each has registers of its own, which are read into again once they were used: to move them along would be
 * to wait for them. */
template <int KIND, int LINES, int AHEAD>
UH_DEVICE float uh_dots_one(const uh_product_view &view, int32_t block, const uh_vectors &x, int32_t row) {
    const int32_t lane = threadIdx.x % UH_WARP, r = lane % UH_ROWS, h = lane / UH_ROWS;
    const uh_scaler scaler = uh_scaler_of(view, block, r);
    const int64_t first = (int64_t)block * view.groups * LINES + h;
    const int8_t *columns = x.codes + (row * x.stored + h * 16);
    const float *scales = x.scales + row * x.groups, *sums = x.sums + row * x.groups;
    uh_group<LINES> ahead[AHEAD] = {};
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        if (i < view.groups) ahead[i] = uh_read_group<KIND, LINES>(view, scaler, first, i, r);
#pragma unroll 1
    for (int32_t start = 0; start < view.groups; start += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int32_t g = start + i;
            if (g >= view.groups) break;
            int dot = 0;
#pragma unroll
            for (int l = 0; l < LINES / 2; l++) {
                uint32_t c[4];
                uh_unpack<KIND>(view, ahead[i].words[l], c);
                dot = uh_line_dot(c, columns + (g * LINES + 2 * l) * 16, dot);
            }
            float scale, offset;
            uh_scale_of(scaler, ahead[i].scale, &scale, &offset);
            if (g + AHEAD < view.groups) ahead[i] = uh_read_group<KIND, LINES>(view, scaler, first, g + AHEAD, r);
            dot += __shfl_xor_sync(UH_EVERY_LANE, dot, 16);
            total = __fmaf_rn((float)dot, __fmul_rn(scale, scales[g]), total);
            total = __fmaf_rn(offset, sums[g], total);
        }
    }
    return uh_finished(view, block * UH_ROWS + r, total);
}

template <int N>
UH_DEVICE void uh_dots_any(const uh_product_view &view, int32_t block, const uh_vectors &x, const int32_t (&row)[N], int32_t n,
                           float (&y)[N]) {
#define UH_CALL(kind)                                           \
    if (N == 1 && view.group == 64)                             \
        y[0] = uh_dots_one<kind, 4, 3>(view, block, x, row[0]); \
    else if (N == 1 && view.group == 32)                        \
        y[0] = uh_dots_one<kind, 2, 4>(view, block, x, row[0]); \
    else                                                        \
        uh_dots<kind, N>(view, block, x, row, n, y)
    UH_FOR_KIND(view.kind, UH_CALL)
#undef UH_CALL
}

#endif
