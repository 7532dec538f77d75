#include "record.h"

#include <string.h>

#include "check.h"
#include "oracle.h"

enum { HEADER_BYTES = 64, UNITS_AT = 16, LINE_BYTES = 64 };

static int first_of(const uh_layout *layout) { return layout->has_gate ? UH_GATE : UH_UP; }

static int planes_of(const uh_layout *layout) { return layout->top >= 16 ? 1 : layout->top == 8 ? 3 : 2; }

static int aligned(int n, int to) { return (n + to - 1) / to * to; }

static uh_matrix shape_of(const expert_recipe *how, int which) {
    const int down = which == UH_DOWN, raw = how->top >= 16;
    uh_matrix m = {.rows = down ? how->hidden : how->intermediate, .cols = down ? how->intermediate : how->hidden};
    m.stored_rows = raw ? m.rows : aligned(m.rows, ROWS_PER_TILE);
    m.stored_cols = raw ? m.cols : aligned(m.cols, how->group);
    return m;
}

static int64_t codes_of(const uh_matrix *m, int top, int plane) {
    const int bits = top >= 16 ? top : plane == 2 ? 4 : 2;
    return (int64_t)m->stored_rows * m->stored_cols * bits / 8;
}

static int64_t params_of(const uh_matrix *m, int group) {
    return (int64_t)(m->stored_rows / ROWS_PER_TILE) * (m->stored_cols / group) * LINE_BYTES;
}

/* The place of a section of n bytes; a line that nobody may read follows it, which records on disk do not have. */
static int64_t place(int64_t *here, int64_t n) {
    const int64_t at = *here;
    *here = (at + n + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES + LINE_BYTES;
    return at;
}

uh_layout layout_of(const expert_recipe *how) {
    uh_layout layout = {.hidden = how->hidden, .intermediate = how->intermediate, .top = how->top};
    layout.has_gate = how->has_gate;
    layout.activation = how->activation;
    layout.alpha = 1.702f;
    layout.limit = how->activation == UH_SOFTCAPPED_SWIGLU ? 4.0f : 3.0f;
    layout.up_limit = 6.0f;
    const int first = first_of(&layout);
    for (int which = first; which < UH_MATRICES; which++) {
        layout.matrix[which] = shape_of(how, which);
        layout.matrix[which].group = how->group;
        for (int p = 0; p < 3; p++) layout.matrix[which].kind[p] = p + 1; /* codes that count, scales as pairs of halves */
        layout.matrix[which].bias = -1;
        layout.matrix[which].unit = UNITS_AT + 4 * (which - first);
    }
    for (int p = 0; p < planes_of(&layout); p++) {
        int64_t here = p ? 0 : HEADER_BYTES;
        for (int which = first; which < UH_MATRICES; which++) {
            uh_matrix *m = &layout.matrix[which];
            m->codes[p] = place(&here, codes_of(m, how->top, p));
        }
        for (int which = first; which < UH_MATRICES && how->has_bias && p == 0; which++)
            layout.matrix[which].bias = place(&here, 4 * (int64_t)layout.matrix[which].rows);
    }
    int64_t here = 0;
    for (int which = first; which < UH_MATRICES && how->top < 16; which++) {
        const int64_t at = place(&here, params_of(&layout.matrix[which], how->group));
        for (int p = 0; p < 3; p++) layout.matrix[which].params[p] = at;
    }
    return layout;
}

/* The bytes of a part that mean something: calls visit with each section. Returns where the last one ends. params: of the
 * tier of that many planes, else its codes. */
typedef void (*visitor)(record *made, const uh_layout *layout, int plane, int params, int which, int bias, int64_t at,
                        int64_t n);

static int64_t each_section(record *made, const uh_layout *layout, int plane, int params, visitor visit) {
    int64_t end = 0;
    for (int which = first_of(layout); which < UH_MATRICES; which++) {
        const uh_matrix *m = &layout->matrix[which];
        const int64_t at[2] = {params ? m->params[plane] : m->codes[plane], m->bias};
        const int64_t n[2] = {params ? params_of(m, m->group) : codes_of(m, layout->top, plane),
                              !params && plane == 0 && m->bias >= 0 ? 4 * (int64_t)m->rows : 0};
        for (int bias = 0; bias < 2; bias++) {
            if (!n[bias]) continue;
            if (visit) visit(made, layout, plane, params, which, bias, at[bias], n[bias]);
            end = at[bias] + n[bias] > end ? at[bias] + n[bias] : end;
        }
    }
    return end;
}

static void write_section(record *made, const uh_layout *layout, int plane, int params, int which, int bias, int64_t at,
                          int64_t n) {
    const matrix *m = &made->matrix[which];
    (void)layout;
    if (params)
        pack_params(m, plane, made->params[plane] + at);
    else if (bias)
        memcpy(made->codes[plane] + at, m->bias, (size_t)n);
    else
        pack_codes(m, plane, made->codes[plane] + at);
}

/* The line behind every section but the last. */
static void close_gap(record *made, const uh_layout *layout, int plane, int params, int which, int bias, int64_t at,
                      int64_t n) {
    (void)which, (void)bias;
    const int64_t part_end = each_section(made, layout, plane, params, NULL), end = at + n;
    const int64_t next = (end + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES + LINE_BYTES;
    if (end < part_end) forbid((params ? made->params : made->codes)[plane] + end, (size_t)(next - end));
}

record make_record(const expert_recipe *how, const uh_layout *layout, size_t shift) {
    record made = {0};
    for (int which = first_of(layout); which < UH_MATRICES; which++) {
        const uh_matrix *m = &layout->matrix[which];
        const recipe r = {m->rows, m->cols, how->group, how->top, how->has_bias, 0};
        made.matrix[which] = make_matrix(&r);
    }
    for (int p = 0; p < planes_of(layout); p++) {
        for (int params = 0; params < (layout->top >= 16 ? 1 : 2); params++) {
            (params ? made.params : made.codes)[p] = exactly((size_t)each_section(&made, layout, p, params, NULL), shift);
            each_section(&made, layout, p, params, write_section);
            each_section(&made, layout, p, params, close_gap);
        }
    }
    for (int which = first_of(layout); which < UH_MATRICES; which++)
        memcpy(made.codes[0] + layout->matrix[which].unit, &made.matrix[which].unit, 4);
    return made;
}

uh_expert expert_of(const record *made, int planes) {
    uh_expert expert = {.params = made->params[planes - 1], .planes = planes};
    for (int p = 0; p < planes; p++) expert.codes[p] = made->codes[p];
    return expert;
}

void expert_product(const record *made, const uh_layout *layout, int planes, int in_8, const float *x, double *y) {
    const int hidden = layout->hidden, intermediate = layout->intermediate;
    double *in = exactly((size_t)hidden * 8, 0), *h = exactly((size_t)intermediate * 8, 0);
    double *middle[2];
    for (int c = 0; c < hidden; c++) in[c] = x[c];
    if (in_8) in_8_bits(in, hidden, layout->matrix[UH_UP].group);
    for (int which = first_of(layout); which < UH_DOWN; which++) {
        middle[which] = exactly((size_t)intermediate * 8, 0);
        product(weights_of(&made->matrix[which], planes), made->matrix[which].bias, intermediate, hidden, in, middle[which]);
    }
    for (int i = 0; i < intermediate; i++)
        h[i] = activated(layout, layout->has_gate ? middle[UH_GATE][i] : 0.0, middle[UH_UP][i]);
    if (in_8) in_8_bits(h, intermediate, layout->matrix[UH_DOWN].group);
    product(weights_of(&made->matrix[UH_DOWN], planes), made->matrix[UH_DOWN].bias, hidden, intermediate, h, y);
}
