/* uh_abi, uh_isas, uh_open, uh_close; uh_combine; uh_read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "selftest.h"

void test_contexts(void) {
    group("contexts");
    check(uh_abi() == UH_ABI, "the library is of ABI %d, its header of %d", uh_abi(), UH_ABI);
    check(uh_isas() & 1 << UH_PORTABLE, "portable C runs everywhere");
    for (int isa = -1; isa <= UH_ISAS; isa++) {
        for (int threads = -1; threads <= 4; threads++) {
            uh_context *context = uh_open(threads, isa, threads & 1);
            const int there = isa >= 0 && isa < UH_ISAS && (uh_isas() >> isa & 1);
            check(!context == !there, "instruction set %d, %d threads: %s", isa, threads, context ? "opened" : "refused");
            if (context) uh_close(context);
        }
    }
}

static void combinations(const variant *which) {
    if (!which->exact) return;
    static const int SHAPES[6][3] = {{1, 1, 1}, {1, 8, 2048}, {3, 2, 17}, {40, 4, 33}, {7, 1, 64}, {64, 8, 1500}};
    for (int i = 0; i < 6; i++) {
        const int tokens = SHAPES[i][0], k = SHAPES[i][1], hidden = SHAPES[i][2];
        const size_t n = (size_t)(tokens * hidden);
        float *out = floats(n * (size_t)k), *weights = floats((size_t)(tokens * k)), *y = floats(n);
        double *sum = exactly(n * 8, 0);
        for (size_t s = 0; s < (size_t)(tokens * k); s++) {
            weights[s] = between(0, 3) ? (float)uniform() : 0.0f;
            for (int c = 0; c < hidden; c++) {
                float *value = &out[s * (size_t)hidden + (size_t)c];
                *value = weights[s] == 0.0f ? (c & 1 ? NAN : INFINITY) : (float)normal();
                if (weights[s] != 0.0f) sum[s / (size_t)k * (size_t)hidden + (size_t)c] += (double)weights[s] * *value;
            }
        }
        for (int threads = 1; threads <= 3; threads++) {
            uh_context *context = opened(threads, which);
            memset(y, 0xff, n * 4);
            uh_combine(context, weights, out, y, tokens, k, hidden);
            const double error = error_of(y, sum, n);
            check(error <= 1e-6, "[%d x %d x %d] error %.2e; a weight of 0 drops its slot unread", tokens, k, hidden, error);
            uh_close(context);
        }
    }
}

void test_combine(void) {
    group("weighted sums");
    reseed(8);
    each_variant(combinations);
}

static void reads(const variant *which) {
    if (!which->exact) return;
    const int64_t n = 64 * 4096;
    uint8_t *bytes = exactly((size_t)n, 0);
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i += 8) {
        const uint64_t word = random_bits();
        memcpy(bytes + i, &word, 8);
        sum += word;
    }
    for (int threads = 1; threads <= 3; threads++) {
        uh_context *context = opened(threads, which);
        check(uh_read(context, bytes, n) == sum, "%s, %d threads: not every byte was read once", which->name, threads);
        for (int64_t odd = 0; odd < 5000; odd += 611) uh_read(context, bytes + n - odd, odd); /* never beyond the end */
        uh_close(context);
    }
}

void test_read(void) {
    group("reading everything once");
    reseed(9);
    each_variant(reads);
}
