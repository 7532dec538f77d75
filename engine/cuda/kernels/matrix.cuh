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

/* Where the scales of row r of a row block lie, so that one piece of code reads all forms: nothing branches between two
 * tiles, and what is read for the next can be on its way. */
struct uh_scaler {
    const uint8_t *at, *wide; /* of group 0: a word of 16 bits that holds the scale; d of UH_SUPER, else NULL */
    int32_t stride, apart;    /* bytes to the next group, and from scale to offset */
    int32_t right, mask, left; /* of the word: bits to drop, to keep, and to add below */
    int32_t columns;          /* of a group */
    float zero;               /* offsets are scales times this, where none is stored */
};

/* What was read: not yet numbers, so that nothing waits for it. */
struct uh_scale_words {
    uint32_t scale, offset, wide, wide_offset;
};

UH_DEVICE uh_scaler uh_scaler_of(const uh_product_view &view, int64_t block, int32_t r) {
    const bool super = view.form == UH_SUPER, bytes = super || view.form == UH_BYTES || view.form == UH_SIGNED;
    const int32_t wides = super ? (view.groups * view.group + UH_SUPER_COLUMNS - 1) / UH_SUPER_COLUMNS * UH_LINE : 0;
    uh_scaler s;
    s.stride = view.form == UH_HALF_PAIRS ? UH_LINE : view.form == UH_HALVES || super ? UH_LINE / 2 : UH_LINE / 4;
    const uint8_t *row = view.params + block * (wides + view.groups * s.stride);
    s.at = row + wides + (bytes ? r & ~1 : 2 * r);
    s.wide = super ? row + 2 * r : nullptr;
    s.apart = view.form == UH_HALF_PAIRS ? 2 * UH_ROWS : super ? UH_ROWS : 0;
    s.right = bytes ? r % 2 * 8 : 0;
    s.mask = bytes ? 0xff : 0xffff;
    s.left = view.form == UH_BYTES ? 7 : view.form == UH_SIGNED ? 8 : 0;
    s.columns = view.group;
    s.zero = -view.zero;
    return s;
}

UH_DEVICE uint32_t uh_word_at(const uint8_t *at) { return __ldg((const uint16_t *)at); }

UH_DEVICE uh_scale_words uh_read_scale(const uh_scaler &s, int32_t g) {
    const uint8_t *at = s.at + (int64_t)g * s.stride, *wide = s.wide + g * s.columns / UH_SUPER_COLUMNS * UH_LINE;
    uh_scale_words words = {uh_word_at(at), 0, 0, 0};
    if (s.apart) words.offset = uh_word_at(at + s.apart);
    if (s.wide) words.wide = uh_word_at(wide), words.wide_offset = uh_word_at(wide + 2 * UH_ROWS);
    return words;
}

/* Scale and offset, as uh_scales_of of scales.h has them, to the last bit. */
UH_DEVICE void uh_scale_of(const uh_scaler &s, const uh_scale_words &words, float *scale, float *offset) {
    const uint32_t first = words.scale >> s.right & s.mask, second = words.offset >> s.right & s.mask;
    if (s.wide) {
        *scale = __fmul_rn(uh_half(words.wide), (float)first);
        *offset = -__fmul_rn(uh_half(words.wide_offset), (float)second);
    } else {
        *scale = uh_half(first << s.left);
        *offset = s.apart ? uh_half(second) : __fmul_rn(*scale, s.zero);
    }
}

/* The end of a product: unit, then bias. */
UH_DEVICE float uh_finished(const uh_product_view &view, int32_t row, float total) {
    total = __fmul_rn(total, view.unit);
    return view.bias && row < view.rows ? __fadd_rn(total, __ldg((const float *)view.bias + row)) : total;
}

#endif
