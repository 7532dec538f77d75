/* uh_peak, uh_pack, uh_rows: dense matrices made here, and read back. */
#include "pack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "matrix.h"
#include "oracle.h"
#include "selftest.h"

/* n values as bf16 or float32; values become what was kept of them. */
static uint8_t *stored(float *values, size_t n, int kind, size_t shift) {
    uint8_t *bytes = exactly(n * (size_t)kind / 8, shift);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        if (kind == 16) {
            const uint16_t half = (uint16_t)(bits >> 16);
            memcpy(bytes + 2 * i, &half, 2);
            bits &= 0xffff0000u;
            memcpy(&values[i], &bits, 4);
        } else {
            memcpy(bytes + 4 * i, &bits, 4);
        }
    }
    return bytes;
}

static void peaks(uh_context *context) {
    for (int i = 0; i < 30; i++) {
        const int kind = 16 << i % 2, n = i < 10 ? i + 1 : between(1, 5000), at = i % 3 ? between(0, n - 1) : n - 1;
        float *values = floats((size_t)n);
        for (int c = 0; c < n; c++) values[c] = (float)normal();
        values[at] = i % 4 ? -16.0f : 16.0f;
        check(uh_peak(context, stored(values, (size_t)n, kind, 0), kind, n) == 16.0f, "the largest of %d, at %d", n, at);
        values[at] = i % 4 ? NAN : -INFINITY;
        check(isnan(uh_peak(context, stored(values, (size_t)n, kind, 0), kind, n)), "NaN of %d, at %d", n, at);
    }
}

/* A matrix packed in two calls, read back, and multiplied with. */
static void one_matrix(uh_context *context, int rows, int cols, int group_size, int kind, int source) {
    const size_t n = (size_t)(rows * cols);
    const int groups = (cols + group_size - 1) / group_size, stored_rows = (rows + 15) / 16 * 16;
    float *w = floats(n), *back = floats(n);
    for (size_t i = 0; i < n; i++) w[i] = (float)(0.02 * normal() + 0.005);
    const int first = between(0, rows);
    const uint8_t *bytes = stored(w, n, source, source == 16 ? 2 : 4);
    uh_matrix_view view = {.unit = 0x1p-9f, .rows = rows, .cols = cols, .groups = groups, .group = group_size, .kind = kind};
    for (int p = 0; p < kind; p++) view.codes[p] = exactly((size_t)(stored_rows * groups * group_size) * (p == 2 ? 4 : 2) / 8, 0);
    view.params = exactly((size_t)(stored_rows / 16 * groups * 64), 0);
    uh_pack(context, &view, 0, first, bytes, source);
    uh_pack(context, &view, first, rows - first, bytes + (size_t)(first * cols) * (size_t)source / 8, source);

    int64_t *ids = exactly((size_t)rows * 8, 8);
    double *wanted = exactly(n * 8, 0), *decoded = exactly(n * 8, 0);
    for (int r = 0; r < rows; r++) ids[r] = r;
    uh_rows(&view, ids, rows, back);
    for (size_t i = 0; i < n; i++) {
        wanted[i] = w[i];
        decoded[i] = back[i];
    }
    const double error = error_of(back, wanted, n), most = kind == 3 ? 0.01 : 0.13;
    check(error < most, "[%d x %d] group %d kind %d: %.3f off after packing", rows, cols, group_size, kind, error);

    float *x = floats((size_t)cols), *y = floats((size_t)rows);
    double *in = exactly((size_t)cols * 8, 0), *out = exactly((size_t)rows * 8, 0);
    for (int c = 0; c < cols; c++) in[c] = x[c] = (float)normal();
    uh_linear(context, &view, x, 1, y);
    product(decoded, NULL, rows, cols, in, out);
    check(error_of(y, out, (size_t)rows) <= 1e-5, "[%d x %d] kind %d: products and rows disagree", rows, cols, kind);
}

static void packs(const variant *which) {
    if (!which->exact) return;
    static const int GROUPS[5] = {32, 64, 128, 16, 256};
    uh_context *context = opened(2, which);
    peaks(context);
    release_all();
    for (int i = 0; i < 24; i++) {
        const int rows = between(1, 60), cols = between(1, 300);
        one_matrix(context, rows, cols, GROUPS[i % 5], 2 + i % 2, 16 << i / 2 % 2);
        release_all();
    }
    for (int kind = 2; kind <= 3; kind++) { /* rows of any order, out of tiles made here */
        const recipe how = {50, 130, 64, kind == 3 ? 8 : 4, 0, 0};
        const matrix m = make_matrix(&how);
        const uh_matrix_view view = view_of_matrix(&m, kind, 3);
        const double *w = weights_of(&m, kind);
        int64_t *ids = exactly(7 * 8, 8);
        float *out = floats(7 * 130);
        for (int i = 0; i < 7; i++) ids[i] = i == 6 ? 49 : between(0, 49);
        uh_rows(&view, ids, 7, out);
        for (int i = 0; i < 7; i++)
            check(error_of(out + i * 130, w + ids[i] * 130, 130) < 1e-6, "kind %d: row %d", kind, (int)ids[i]);
        release_all();
    }
    uh_close(context);
}

void test_pack(void) {
    group("packing dense matrices, and reading their rows");
    reseed(12);
    each_variant(packs);
}
