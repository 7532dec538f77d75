/* One matrix of an expert on the card: where its codes and scales lie, and what they are. The structures are those of the
 * C library, whose headers are used as they are, so that a record needs no other form on the card than on the disk. */
#ifndef UH_MATRIX_CUH
#define UH_MATRIX_CUH

#include "rows.h"

#define UH_KERNEL extern "C" __global__ void
#define UH_DEVICE static __device__ __forceinline__
#define UH_EVERY_LANE 0xffffffffu

/* Blocks of UH_THREADS, of which at least four fit on a multiprocessor: so many registers that none is spilled. Left to
 * itself, ptxas aims at more warps, and spills a few. */
#define UH_BOUNDED __launch_bounds__(UH_THREADS, 4)

enum { UH_WARP = 32, UH_THREADS = 128, UH_WARPS = UH_THREADS / UH_WARP };

/* A view by value: kernels must not take the address of a parameter, which PTX below 7.7 has no way to do. */
struct uh_product_view {
    const uint8_t *codes[3], *params, *bias;
    float unit, zero;
    int32_t rows, groups, group, kind, form;
    uint32_t table[4]; /* 16 levels */
};

UH_DEVICE int32_t uh_of_planes(const int32_t (&values)[3], int32_t planes) {
    return planes == 1 ? values[0] : planes == 2 ? values[1] : values[2];
}

/* Matrix WHICH of an expert. The index is known to the compiler, so that every field is read from where it stands. */
template <int WHICH>
UH_DEVICE uh_product_view uh_view_of(const uh_layout &layout, const uh_expert &expert) {
    const uh_matrix &m = layout.matrix[WHICH];
    const int32_t planes = expert.planes;
    uh_product_view view;
    view.codes[0] = expert.codes[0] + m.codes[0];
    view.codes[1] = planes > 1 ? expert.codes[1] + m.codes[1] : nullptr;
    view.codes[2] = planes > 2 ? expert.codes[2] + m.codes[2] : nullptr;
    view.params = expert.params + (planes == 1 ? m.params[0] : planes == 2 ? m.params[1] : m.params[2]);
    view.kind = uh_of_planes(m.kind, planes);
    view.form = uh_of_planes(m.form, planes);
    view.zero = planes == 1 ? m.zero[0] : planes == 2 ? m.zero[1] : m.zero[2];
    view.bias = m.bias >= 0 ? expert.codes[0] + m.bias : nullptr;
    view.unit = __ldg((const float *)(expert.codes[0] + m.unit));
    view.rows = m.rows;
    view.group = m.group;
    view.groups = m.stored_cols / m.group;
    if (view.kind == UH_SIX) view.codes[2] = view.codes[1];
#pragma unroll
    for (int i = 0; i < 4; i++) /* bytes 4 i .. 4 i + 3 */
        view.table[i] = m.table[4 * i] | m.table[4 * i + 1] << 8 | m.table[4 * i + 2] << 16 | (uint32_t)m.table[4 * i + 3] << 24;
    return view;
}

UH_DEVICE float uh_half(uint32_t bits) {
    float value;
    asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(value) : "r"(bits));
    return value;
}

UH_DEVICE float uh_half_at(const uint8_t *at) { return uh_half(__ldg((const uint16_t *)at)); }

/* Scale and offset of row r of group g of a row block, as uh_scales_of of scales.h has them, to the last bit. */
UH_DEVICE void uh_scale_of(const uh_product_view &view, int64_t block, int32_t g, int32_t r, float *scale, float *offset) {
    const int64_t tile = block * view.groups + g;
    switch (view.form) {
    case UH_HALF_PAIRS: {
        const uint8_t *at = view.params + tile * UH_LINE + 2 * r;
        *scale = uh_half_at(at), *offset = uh_half_at(at + 2 * UH_ROWS);
        return;
    }
    case UH_SUPER: {
        const int32_t wides = (view.groups * view.group + UH_SUPER_COLUMNS - 1) / UH_SUPER_COLUMNS;
        const uint8_t *row = view.params + block * ((int64_t)wides * UH_LINE + (int64_t)view.groups * 2 * UH_ROWS);
        const uint8_t *wide = row + (int64_t)(g * view.group / UH_SUPER_COLUMNS) * UH_LINE + 2 * r;
        const uint8_t *at = row + (int64_t)wides * UH_LINE + (int64_t)g * 2 * UH_ROWS + r;
        *scale = __fmul_rn(uh_half_at(wide), (float)__ldg(at));
        *offset = -__fmul_rn(uh_half_at(wide + 2 * UH_ROWS), (float)__ldg(at + UH_ROWS));
        return;
    }
    case UH_HALVES: *scale = uh_half_at(view.params + tile * 2 * UH_ROWS + 2 * r); break;
    default: *scale = uh_half((uint32_t)__ldg(view.params + tile * UH_ROWS + r) << (view.form == UH_SIGNED ? 8 : 7)); break;
    }
    *offset = __fmul_rn(*scale, -view.zero);
}

/* The end of a product: unit, then bias. */
UH_DEVICE float uh_finished(const uh_product_view &view, int32_t row, float total) {
    total = __fmul_rn(total, view.unit);
    return view.bias && row < view.rows ? __fadd_rn(total, __ldg((const float *)view.bias + row)) : total;
}

#endif
