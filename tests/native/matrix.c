#include "matrix.h"

#include <math.h>
#include <string.h>

#include "check.h"

static const int PLANE_BITS[3] = {2, 2, 4}, BITS_SO_FAR[3] = {2, 4, 8};

static int aligned(int n, int to) { return (n + to - 1) / to * to; }

uint16_t half_of(double value) { /* the nearest; no infinities are asked for */
    const uint16_t sign = value < 0 ? 0x8000 : 0;
    int exponent;
    const double size = fabs(value), fraction = frexp(size, &exponent); /* fraction in [0.5, 1) */
    if (size == 0.0 || exponent < -13) return (uint16_t)(sign | (int)rint(ldexp(size, 24)));
    return (uint16_t)(sign | (((exponent + 14) << 10) + (int)rint(ldexp(fraction, 11)) - 1024));
}

double value_of_half(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return half & 0x8000 ? -size : size;
}

static void fill_raw(matrix *m) {
    const size_t n = (size_t)m->rows * (size_t)m->cols;
    m->raw = exactly(n * (size_t)m->top / 8, 0);
    for (size_t i = 0; i < n; i++) {
        const float value = (float)normal();
        uint32_t bits;
        memcpy(&bits, &value, 4);
        if (m->top == 32)
            ((float *)m->raw)[i] = value;
        else
            ((uint16_t *)m->raw)[i] = (uint16_t)(bits >> 16);
    }
}

static void fill_tiles(matrix *m, int tiny) {
    const size_t params = (size_t)m->stored_rows * (size_t)m->groups;
    const size_t n = (size_t)m->stored_rows * (size_t)m->stored_cols;
    m->codes = exactly(n, 0);
    for (size_t i = 0; i < n; i++) m->codes[i] = (uint8_t)(random_bits() & (m->top == 8 ? 255 : 15));
    for (int p = 0; p < most_planes(m); p++) {
        m->scales[p] = exactly(params * 2, 0);
        m->offsets[p] = exactly(params * 2, 0);
        for (size_t i = 0; i < (size_t)m->rows * (size_t)m->groups; i++) {
            const double size = 0.5 + uniform(), sign = random_bits() & 1 ? 4 : -4;
            const double step = size * sign / (1 << BITS_SO_FAR[p]);
            const double middle = step * ((1 << BITS_SO_FAR[p]) - 1) / 2, factor = tiny ? 0x1p-17 : 1.0;
            m->scales[p][i] = half_of(factor * step);
            m->offsets[p][i] = half_of(factor * (0.2 * normal() - middle));
        }
    }
    m->unit = tiny ? 0x1p17f : random_bits() & 1 ? 0.25f : 2.0f;
}

matrix make_matrix(const recipe *how) {
    matrix m = {.rows = how->rows, .cols = how->cols, .group = how->group, .top = how->top, .unit = 1.0f};
    const int raw = m.top >= 16;
    m.stored_rows = raw ? m.rows : aligned(m.rows, ROWS_PER_TILE);
    m.stored_cols = raw ? m.cols : aligned(m.cols, m.group);
    m.groups = raw ? 0 : m.stored_cols / m.group;
    if (raw)
        fill_raw(&m);
    else
        fill_tiles(&m, how->tiny);
    if (how->has_bias) {
        m.bias = floats((size_t)m.rows);
        for (int r = 0; r < m.rows; r++) m.bias[r] = (float)normal();
    }
    return m;
}

int most_planes(const matrix *m) { return m->top >= 16 ? m->top : m->top == 8 ? 3 : 2; }

double *weights_of(const matrix *m, int planes) {
    double *w = exactly((size_t)m->rows * (size_t)m->cols * sizeof *w, 0);
    for (int r = 0; r < m->rows; r++) {
        for (int c = 0; c < m->cols; c++) {
            double *to = w + (size_t)r * (size_t)m->cols + c;
            const size_t at = (size_t)r * (size_t)m->stored_cols + c;
            if (planes == 32) {
                *to = ((float *)m->raw)[at];
            } else if (planes == 16) {
                const uint32_t bits = (uint32_t)((uint16_t *)m->raw)[at] << 16;
                float value;
                memcpy(&value, &bits, 4);
                *to = value;
            } else {
                const int code = m->codes[at] >> (m->top - BITS_SO_FAR[planes - 1]);
                const size_t g = (size_t)r * (size_t)m->groups + (size_t)(c / m->group);
                *to = m->unit * (value_of_half(m->scales[planes - 1][g]) * code + value_of_half(m->offsets[planes - 1][g]));
            }
        }
    }
    return w;
}

int64_t code_bytes(const matrix *m, int plane) {
    const int bits = m->top >= 16 ? m->top : PLANE_BITS[plane];
    return (int64_t)m->stored_rows * m->stored_cols * bits / 8;
}

int64_t param_bytes(const matrix *m) { return (int64_t)(m->stored_rows / ROWS_PER_TILE) * m->groups * 64; }

void pack_codes(const matrix *m, int plane, uint8_t *to) {
    if (m->top >= 16) {
        memcpy(to, m->raw, (size_t)code_bytes(m, 0));
        return;
    }
    const int bits = PLANE_BITS[plane], per_byte = 8 / bits, shift = m->top - BITS_SO_FAR[plane];
    memset(to, 0, (size_t)code_bytes(m, plane));
    for (int r = 0; r < m->stored_rows; r++) {
        for (int c = 0; c < m->stored_cols; c++) {
            const int tile = r / ROWS_PER_TILE * m->groups + c / m->group, column = c % m->group;
            const int line = column / (4 * per_byte), s = column % (4 * per_byte) / 4, j = column % 4;
            const int code = m->codes[(size_t)r * (size_t)m->stored_cols + c] >> shift & ((1 << bits) - 1);
            const size_t tile_bytes = (size_t)m->group * ROWS_PER_TILE * (size_t)bits / 8;
            to[(size_t)tile * tile_bytes + (size_t)(64 * line + 4 * (r % ROWS_PER_TILE) + j)] |= (uint8_t)(code << bits * s);
        }
    }
}

void pack_params(const matrix *m, int plane, uint8_t *to) {
    for (int r = 0; r < m->stored_rows; r++) {
        for (int g = 0; g < m->groups; g++) {
            uint8_t *line = to + 64 * (r / ROWS_PER_TILE * m->groups + g) + 2 * (r % ROWS_PER_TILE);
            memcpy(line, &m->scales[plane][r * m->groups + g], 2);
            memcpy(line + 32, &m->offsets[plane][r * m->groups + g], 2);
        }
    }
}

uh_matrix_view view_of_matrix(const matrix *m, int planes, size_t shift) {
    uh_matrix_view view = {.bias = m->bias, .unit = m->unit, .rows = m->rows, .cols = m->cols, .groups = m->groups};
    view.group = m->group;
    view.kind = planes;
    for (int p = 0; p < (planes > 3 ? 1 : planes); p++) {
        uint8_t *codes = exactly((size_t)code_bytes(m, p), shift);
        pack_codes(m, p, codes);
        view.codes[p] = codes;
    }
    if (planes <= 3) {
        uint8_t *params = exactly((size_t)param_bytes(m), shift);
        pack_params(m, planes - 1, params);
        view.params = params;
    }
    return view;
}
