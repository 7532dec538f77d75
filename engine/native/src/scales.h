/* Where the scales and offsets of a tile lie, in each of the forms of engine/record/coding.py; and in plain C what they are. */
#ifndef UH_SCALES_H
#define UH_SCALES_H

#include "half.h"
#include "rows.h"

/* Every way in which codes and the forms of their scales go together (engine/record/coding.py): one body of `dots` for each, so
 * that nothing is decided between two tiles. */
#define UH_CODINGS(X, group)                                                                               \
    X(1, UH_HALF_PAIRS, group) X(1, UH_BYTES, group) X(1, UH_SIGNED, group) X(1, UH_SUPER, group)          \
    X(2, UH_HALF_PAIRS, group) X(2, UH_HALVES, group) X(2, UH_SUPER, group)                                \
    X(3, UH_HALF_PAIRS, group)                                                                             \
    X(UH_TABLED, UH_BYTES, group) X(UH_WIDE_TABLED, UH_HALVES, group)                                      \
    X(UH_SIX, UH_HALF_PAIRS, group) X(UH_SIX, UH_HALVES, group) X(UH_SIX, UH_SUPER, group)
#define UH_CODING(kind, form) (8 * (kind) + (form))

/* The same view, of which the compiler knows what it is given here, where this is inlined. */
static inline uh_matrix_view uh_known(const uh_matrix_view *view, int kind, int form, int group) {
    uh_matrix_view known = *view;
    known.kind = kind, known.form = form, known.group = group;
    return known;
}

/* Bytes of the scales of one tile, but for what 256 columns share. */
static inline int32_t uh_scales_bytes(const uh_matrix_view *view) {
    return view->form == UH_HALF_PAIRS ? UH_LINE : view->form == UH_HALVES || view->form == UH_SUPER ? UH_LINE / 2 : UH_LINE / 4;
}

/* Lines that 256 columns share, of one row block. */
static inline int64_t uh_wide_lines(const uh_matrix_view *view) {
    return view->form == UH_SUPER ? ((int64_t)view->groups * view->group + UH_SUPER_COLUMNS - 1) / UH_SUPER_COLUMNS : 0;
}

/* The scales of group g of a row block. */
static inline const uint8_t *uh_scales_at(const uh_matrix_view *view, int64_t block, int64_t g) {
    const int64_t wide = uh_wide_lines(view) * UH_LINE, each = uh_scales_bytes(view);
    return view->params + block * (wide + view->groups * each) + wide + g * each;
}

/* What a group of a row block shares with others; only of UH_SUPER. */
static inline const uint8_t *uh_wide_at(const uh_matrix_view *view, int64_t block, int64_t g) {
    const int64_t wide = uh_wide_lines(view) * UH_LINE, each = uh_scales_bytes(view);
    return view->params + block * (wide + view->groups * each) + g * view->group / UH_SUPER_COLUMNS * UH_LINE;
}

static inline float uh_half_at(const uint8_t *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return uh_half_to_float(half);
}

/* Of row r of a group of a row block. at, wide: uh_scales_at and uh_wide_at. */
static inline void uh_scales_of(const uh_matrix_view *view, const uint8_t *at, const uint8_t *wide, int r, float *scale, float *offset) {
    switch (view->form) {
    case UH_HALF_PAIRS: *scale = uh_half_at(at + 2 * r), *offset = uh_half_at(at + 2 * (UH_ROWS + r)); return;
    case UH_SUPER:
        *scale = uh_half_at(wide + 2 * r) * (float)at[r];
        *offset = -(uh_half_at(wide + 2 * (UH_ROWS + r)) * (float)at[UH_ROWS + r]);
        return;
    case UH_HALVES: *scale = uh_half_at(at + 2 * r); break;
    default: *scale = uh_half_to_float((uint16_t)(at[r] << (view->form == UH_SIGNED ? 8 : 7))); break;
    }
    *offset = *scale * -view->zero;
}

/* scale and offset [UH_ROWS] of group g of a row block. */
static inline void uh_scales(const uh_matrix_view *view, int64_t block, int64_t g, float *scale, float *offset) {
    const uint8_t *at = uh_scales_at(view, block, g), *wide = uh_wide_at(view, block, g);
    for (int r = 0; r < UH_ROWS; r++) uh_scales_of(view, at, wide, r, scale + r, offset + r);
}

#endif
