/* uh_linear: one matrix on some tokens. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "matrix.h"
#include "oracle.h"
#include "selftest.h"

enum { MOST = 40 };

/* Errors over all tokens, relative to the exact result and to that of x in 8 bits. */
static void compare(const variant *which, const matrix *m, int planes, const float *x, int tokens, const float *y) {
    const int raw = planes >= 16;
    const double *w = weights_of(m, planes);
    double *in = exactly((size_t)m->cols * 8, 0), *exact = exactly((size_t)(tokens * m->rows) * 8, 0);
    double *rounded = exactly((size_t)(tokens * m->rows) * 8, 0);
    for (int t = 0; t < tokens; t++) {
        for (int c = 0; c < m->cols; c++) in[c] = x[t * m->cols + c];
        product(w, m->bias, m->rows, m->cols, in, exact + t * m->rows);
        if (!raw) in_8_bits(in, m->cols, m->group);
        product(w, m->bias, m->rows, m->cols, in, rounded + t * m->rows);
    }
    const size_t n = (size_t)(tokens * m->rows);
    const double error = error_of(y, which->exact ? exact : rounded, n);
    check(error <= 1e-5, "[%d x %d] group %d, %d of top %d, %d tokens: error %.2e", m->rows, m->cols, m->group, planes,
          m->top, tokens, error);
    if (n >= 256 && m->cols >= 32) { /* of few numbers, any may be near 0 */
        const double whole = error_of(y, exact, n);
        check(whole <= 0.01, "[%d x %d] group %d, %d of top %d, %d tokens: %.2e from float64", m->rows, m->cols, m->group,
              planes, m->top, tokens, whole);
    }
}

static void one_shape(const variant *which, const recipe *how, int tokens, size_t shift) {
    const matrix m = make_matrix(how);
    const size_t n = (size_t)(tokens * m.rows);
    float *x = floats((size_t)(tokens * m.cols)), *y = floats(n), *again = floats(n);
    for (int i = 0; i < tokens * m.cols; i++) x[i] = (float)normal();
    for (int planes = m.top >= 16 ? m.top : 1; planes <= most_planes(&m); planes++) {
        const uh_matrix_view view = view_of_matrix(&m, planes, shift);
        for (int threads = 1; threads <= 3; threads++) {
            uh_context *context = opened(threads, which);
            float *to = threads == 1 ? y : again;
            memset(to, 0xff, n * 4);
            check(uh_linear(context, &view, x, tokens, to) == 0, "no memory");
            if (threads > 1) check(!memcmp(y, again, n * 4), "%d threads give other bits than one", threads);
            if (threads == 3) { /* each token alone */
                for (int t = 0; t < tokens; t++) uh_linear(context, &view, x + t * m.cols, 1, again + t * m.rows);
                check(!memcmp(y, again, n * 4), "[%d x %d] kind %d: a token alone gives other bits than among %d", m.rows,
                      m.cols, planes, tokens);
            }
            uh_close(context);
        }
        compare(which, &m, planes, x, tokens, y);
    }
    release_all();
}

static void shapes(const variant *which) {
    static const int TOPS[4] = {4, 8, 16, 32}, GROUPS[6] = {32, 64, 128, 16, 48, 256};
    char name[64];
    snprintf(name, sizeof name, "linear: %s", which->name);
    group(name);
    reseed(1);
    for (int tokens = 1; tokens <= MOST; tokens++) { /* every number of tokens, and every kind many times */
        const int rows = between(1, 70), cols = between(1, 300), size = GROUPS[between(0, 5)];
        const recipe how = {rows, cols, size, TOPS[tokens % 4], tokens % 3 == 0, 0};
        one_shape(which, &how, tokens, (size_t)(tokens % 2 ? 0 : between(1, 63)));
    }
    for (int top = 0; top < 4; top++) {
        for (int g = 0; g < 3; g++) { /* large enough for several units of work; with and without padding */
            const recipe even = {256, 4 * GROUPS[g], GROUPS[g], TOPS[top], 0, 0};
            const recipe odd = {200 + g, 5 * GROUPS[g] - 17, GROUPS[g], TOPS[top], 1, 0};
            one_shape(which, &even, 1, 0);
            one_shape(which, &odd, 2 + g, 8);
        }
    }
    const recipe large = {1500, 700, 64, 8, 0, 0}; /* more than one thread's worth */
    one_shape(which, &large, 1, 0);
    const recipe tiny = {40, 100, 32, 8, 0, 1};
    one_shape(which, &tiny, 5, 0);
}

/* One token of four is not finite; the others do not notice. */
static void not_finite(const variant *which) {
    static const float BAD[3] = {NAN, INFINITY, -INFINITY};
    char name[64];
    snprintf(name, sizeof name, "linear, NaN and infinities: %s", which->name);
    group(name);
    reseed(2);
    for (int top = 4; top <= 32; top *= 2) {
        const recipe how = {37, 150, 64, top, 0, 0};
        const matrix m = make_matrix(&how);
        float *x = floats(4 * 150), *y = floats(4 * 37), *clean = floats(4 * 37);
        uh_context *context = opened(2, which);
        for (int i = 0; i < 4 * 150; i++) x[i] = (float)normal();
        for (int planes = top >= 16 ? top : 1; planes <= most_planes(&m); planes++) {
            const uh_matrix_view view = view_of_matrix(&m, planes, 0);
            uh_linear(context, &view, x, 4, clean);
            for (int i = 0; i < 12; i++) {
                const int column = i < 9 ? between(0, 149) : 149;
                const float was = x[2 * 150 + column];
                int finite = 0, nan = 0;
                x[2 * 150 + column] = BAD[i % 3];
                uh_linear(context, &view, x, 4, y);
                for (int r = 0; r < 37; r++) {
                    finite += isfinite(y[2 * 37 + r]) != 0;
                    nan += isnan(y[2 * 37 + r]) != 0;
                }
                check(!finite, "kind %d: %d of 37 rows are finite with %f in column %d", planes, finite, BAD[i % 3], column);
                check(i % 3 || nan == 37, "kind %d: NaN in x gives NaN in %d of 37 rows", planes, nan);
                check(!memcmp(y, clean, 2 * 37 * 4) && !memcmp(y + 3 * 37, clean + 3 * 37, 37 * 4),
                      "kind %d: %f in one token changes another", planes, BAD[i % 3]);
                x[2 * 150 + column] = was;
            }
        }
        uh_close(context);
        release_all();
    }
}

/* Nothing but zeros, and sizes far from 1. */
static void extremes(const variant *which) {
    static const float SIZES[5] = {0.0f, 1e-30f, 1e-10f, 1e15f, 1e30f};
    char name[64];
    snprintf(name, sizeof name, "linear, large and small: %s", which->name);
    group(name);
    reseed(3);
    for (int top = 4; top <= 32; top *= 2) {
        const recipe how = {33, 96, 32, top, 0, 0};
        const matrix m = make_matrix(&how);
        const uh_matrix_view view = view_of_matrix(&m, most_planes(&m), 0);
        uh_context *context = opened(1, which);
        float *x = floats(96), *y = floats(33);
        for (int i = 0; i < 5; i++) {
            for (int c = 0; c < 96; c++) x[c] = SIZES[i] * (float)normal();
            uh_linear(context, &view, x, 1, y);
            compare(which, &m, most_planes(&m), x, 1, y);
        }
        uh_close(context);
        release_all();
    }
}

void test_linear(void) {
    each_variant(shapes);
    each_variant(not_finite);
    each_variant(extremes);
}
