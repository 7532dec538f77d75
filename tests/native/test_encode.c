/* uh_encode: matrices made here, read back by uh_rows; what it says of itself, and the same bytes on every instruction set. */
#include "encode.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "matrix.h"
#include "pack.h"
#include "selftest.h"

static const uh_rule RULE = {0.7, 10.0, 1.01, 20, 5, 1e-30f, 12};

/* n values stored as a kind says, and the values as they are then. */
static uint8_t *stored(float *values, size_t n, int kind) {
    uint8_t *bytes = exactly(n * (kind == UH_F32 ? 4 : 2), kind == UH_F32 ? 4 : 2);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        if (kind == UH_F32) {
            memcpy(bytes + 4 * i, &bits, 4);
            continue;
        }
        const uint16_t half = kind == UH_BF16 ? (uint16_t)(bits >> 16) : half_of(values[i]);
        memcpy(bytes + 2 * i, &half, 2);
        bits = (uint32_t)half << 16;
        if (kind == UH_BF16) memcpy(&values[i], &bits, 4);
        else values[i] = (float)value_of_half(half);
    }
    return bytes;
}

/* With sections of its own, each of exactly the bytes it takes. */
static uh_encoding encoding_of(const uint8_t *weights, int kind, int rows, int cols, int size, int tiers) {
    const int groups = (cols + size - 1) / size, blocks = (rows + 15) / 16;
    uh_encoding e = {.weights = weights, .kind = kind, .rows = rows, .cols = cols, .group = size, .tiers = tiers};
    for (int t = 0; t < tiers; t++) {
        e.codes[t] = exactly((size_t)(blocks * groups * size) * (t == 2 ? 8 : 4), 1);
        e.params[t] = exactly((size_t)(blocks * groups * 64), 3);
    }
    return e;
}

static void one(int rows, int cols, int size, int tiers, int kind) {
    const size_t n = (size_t)(rows * cols);
    const int groups = (cols + size - 1) / size, blocks = (rows + 15) / 16;
    float *w = floats(n), *back = floats(n);
    for (size_t i = 0; i < n; i++) w[i] = (float)(0.02 * normal() + 0.005);
    const uint8_t *weights = stored(w, n, kind);
    uh_encoding first = encoding_of(weights, kind, rows, cols, size, tiers);
    check(uh_encode(UH_PORTABLE, &RULE, &first) == 0, "[%d x %d] encoded", rows, cols);
    for (int isa = 1; isa < UH_ISAS; isa++) {
        if (!(uh_isas() >> isa & 1)) continue;
        uh_encoding e = encoding_of(weights, kind, rows, cols, size, tiers);
        int same = uh_encode(isa, &RULE, &e) == 0 && e.norm == first.norm && e.unit == first.unit;
        for (int t = 0; t < tiers; t++)
            same = same && e.errors[t] == first.errors[t] &&
                   !memcmp(e.codes[t], first.codes[t], (size_t)(blocks * groups * size) * (t == 2 ? 8 : 4)) &&
                   !memcmp(e.params[t], first.params[t], (size_t)(blocks * groups * 64));
        check(same, "[%d x %d] group %d: set %d gives other bytes", rows, cols, size, isa);
    }
    int64_t *ids = exactly((size_t)rows * 8, 8);
    for (int r = 0; r < rows; r++) ids[r] = r;
    for (int planes = 2; planes <= tiers; planes++) {
        uh_matrix_view view = {.params = first.params[planes - 1], .unit = first.unit, .rows = rows, .cols = cols,
                        .groups = groups, .group = size, .kind = planes};
        for (int p = 0; p < planes; p++) view.codes[p] = first.codes[p];
        uh_rows(&view, ids, rows, back);
        double error = 0.0, norm = 0.0;
        for (size_t i = 0; i < n; i++) {
            error += ((double)w[i] - back[i]) * ((double)w[i] - back[i]);
            norm += (double)w[i] * w[i];
        }
        check(error <= (planes == 3 ? 1e-4 : 0.017) * norm, "[%d x %d] group %d: %g off at %d", rows, cols, size,
              sqrt(error / norm), planes);
        check(fabs(error - first.errors[planes - 1]) <= 1e-3 * error + 1e-12 * norm, "its error at %d", planes);
        check(fabs(norm - first.norm) <= 1e-5 * norm, "its norm");
    }
}

static void refused(int kind, float value, int at) {
    float *w = floats(40 * 70);
    w[at] = value;
    uint8_t *weights = stored(w, 40 * 70, UH_F32);
    if (kind != UH_F32) {
        weights = exactly(40 * 70 * 2, 2);
        const uint16_t half = kind == UH_BF16 ? (isnan(value) ? 0x7fc0 : 0xff80) : (isnan(value) ? 0x7e00 : 0xfc00);
        memcpy(weights + 2 * at, &half, 2);
    }
    uh_encoding e = encoding_of(weights, kind, 40, 70, 64, 3);
    check(uh_encode(UH_PORTABLE, &RULE, &e) == -2, "kind %d: %g at %d is refused", kind, value, at);
}

void test_encode(void) {
    static const int GROUPS[5] = {64, 32, 16, 128, 256}, KINDS[3] = {UH_BF16, UH_F16, UH_F32};
    group("encoding experts");
    reseed(13);
    for (int i = 0; i < 30; i++) {
        const int rows = between(1, 50), cols = between(1, 280);
        one(rows, cols, GROUPS[i % 5], 2 + i % 2, KINDS[i % 3]);
        release_all();
    }
    for (int i = 0; i < 6; i++) {
        refused(KINDS[i % 3], i % 2 ? NAN : -INFINITY, i < 3 ? 40 * 70 - 1 : between(0, 40 * 70 - 1));
        release_all();
    }
}
