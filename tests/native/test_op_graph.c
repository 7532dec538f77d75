/* uh_run_graph: ops of one token, each against plain arithmetic, on buffers as long as they must be and no longer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "matrix.h"
#include "oracle.h"
#include "selftest.h"
#include "op_graph.h"

static float *random_floats(int n) {
    float *x = floats((size_t)n);
    for (int i = 0; i < n; i++) x[i] = (float)normal();
    return x;
}

static double *as_doubles(const float *x, int n) {
    double *copy = exactly((size_t)n * 8, 0);
    for (int i = 0; i < n; i++) copy[i] = x[i];
    return copy;
}

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static void run_op(uh_context *context, uh_op op) {
    const uh_row row = {0, NULL};
    const uh_step step = {&row, 0, 1};
    check(uh_run_graph(context, &op, 1, &step) == 0, "op %d", op.kind);
}

static void near(const float *ours, const double *exact, int n, const char *what) {
    const double error = error_of(ours, exact, (size_t)n);
    check(error <= 2e-6, "%s of %d: error %.2e", what, n, error);
}

static void norms(uh_context *context, int rows, int width) {
    const double eps = 1e-5f;
    float *x = random_floats(rows * width), *scale = random_floats(width), *bias = random_floats(width);
    for (int form = 0; form < 3; form++) { /* bare, scaled, LayerNorm */
        float *out = floats((size_t)(rows * width));
        double *exact = as_doubles(x, rows * width);
        for (int r = 0; r < rows; r++) {
            double *to = exact + r * width, mean = 0.0, squares = 0.0;
            for (int c = 0; c < width && form == 2; c++) mean += to[c] / width;
            for (int c = 0; c < width; c++) squares += (to[c] - mean) * (to[c] - mean) / width;
            for (int c = 0; c < width; c++) {
                to[c] = (to[c] - mean) / sqrt(squares + eps) * (form ? scale[c] : 1.0) + (form == 2 ? bias[c] : 0.0);
            }
        }
        run_op(context, (uh_op){.kind = UH_OP_NORM, .n = {rows, width}, .f = {(float)eps},
                              .p = {x, out, form ? scale : NULL, form == 2 ? bias : NULL}});
        near(out, exact, rows * width, "norm");
    }
}

static void by_value(uh_context *context, int n) {
    float *x = random_floats(n), *y = random_floats(n), *out = floats((size_t)n);
    double *exact = as_doubles(x, n);
    for (int i = 0; i < n; i++) exact[i] += 0.5 * y[i];
    run_op(context, (uh_op){.kind = UH_OP_ADD, .n = {n}, .f = {0.5f}, .p = {x, y}});
    near(x, exact, n, "sum");
    for (int i = 0; i < n; i++) exact[i] = 3.0 * x[i];
    run_op(context, (uh_op){.kind = UH_OP_SCALE, .n = {n}, .f = {3.0f}, .p = {x}});
    near(x, exact, n, "multiple");
    for (int i = 0; i < n; i++) exact[i] = x[i] * sigmoid(y[i]);
    run_op(context, (uh_op){.kind = UH_OP_GATE, .n = {n, n}, .p = {x, y}});
    near(x, exact, n, "gate");
    for (int i = 0; i < n; i++) exact[i] = x[i] * sigmoid(y[0]);
    run_op(context, (uh_op){.kind = UH_OP_GATE, .n = {n, 1}, .p = {x, y}});
    near(x, exact, n, "one gate");
    for (int i = 0; i < n; i++) exact[i] = 2.0 * tanh(x[i] / 2.0);
    run_op(context, (uh_op){.kind = UH_OP_SOFTCAP, .n = {n}, .f = {2.0f}, .p = {x}});
    near(x, exact, n, "softcap");
    for (int kind = UH_SILU; kind <= UH_CLAMPED_SWIGLU; kind++) {
        const uh_layout layout = {.activation = kind, .has_gate = 1, .alpha = 1.702f, .limit = 1.0f};
        for (int i = 0; i < n; i++) exact[i] = activated(&layout, x[i], y[i]);
        run_op(context, (uh_op){.kind = UH_OP_ACTIVATE, .n = {n, kind}, .f = {1.702f, 1.0f}, .p = {x, y, out}});
        near(out, exact, n, "activation");
    }
}

static void products(uh_context *context, const variant *which) {
    const recipe how = {45, 100, 32, 8, 1, 0};
    const matrix m = make_matrix(&how);
    uh_matrix_view view = view_of_matrix(&m, 3, 0);
    float *x = random_floats(100), *y = floats(45), *same = floats(45);
    run_op(context, (uh_op){.kind = UH_OP_LINEAR, .p = {&view, x, y}});
    uh_linear(context, &view, x, 1, same);
    check(!memcmp(y, same, 45 * 4), "a product gives other bits than uh_linear");

    const recipe parts = {3 * 32, 50, 64, which->exact ? 8 : 32, 0, 0}; /* a matrix for each of 3 heads */
    const matrix all = make_matrix(&parts);
    view = view_of_matrix(&all, most_planes(&all), 0);
    const double *w = weights_of(&all, most_planes(&all));
    float *in = random_floats(3 * 50 + 2 * 4), *out = floats(3 * 32);
    double exact[3 * 32];
    for (int head = 0; head < 3; head++)
        product(w + head * 32 * 50, NULL, 32, 50, as_doubles(in + head * 54, 50), exact + head * 32);
    run_op(context, (uh_op){.kind = UH_OP_EACH, .n = {3, 54, 32}, .p = {&view, in, out}});
    check(error_of(out, exact, 96) <= 1e-5, "a matrix for every head");
}

/* Tokens one after the other through ROPE, HEADS and ATTEND, the rows of keys and values in several chunks. */
enum { SPANS = 16, CHUNKS = 3, LAST = 350, UNTOUCHED = 0x5a };
static const int CHUNK_ROWS[CHUNKS] = {3, 40, 400};

typedef struct {
    int heads, kv_heads, dim, half, bits, window, interleaved, sinks;
} attention;

static double kept(const float *x, int bits) { /* as a buffer of so many bits keeps it */
    uint32_t raw;
    float value = *x;
    memcpy(&raw, &value, 4);
    if (bits == 16) raw = (raw + 0x7fff + (raw >> 16 & 1)) & 0xffff0000u;
    memcpy(&value, &raw, 4);
    return value;
}

static uh_kv_rows *table_of(const attention *a) {
    uh_kv_rows *table = exactly(sizeof(uh_kv_rows) + CHUNKS * sizeof table->chunk[0], 0);
    table->chunks = CHUNKS;
    table->bits = a->bits;
    for (int c = 0; c < CHUNKS; c++) {
        table->chunk[c].rows = CHUNK_ROWS[c];
        table->chunk[c].data = exactly((size_t)(a->kv_heads * CHUNK_ROWS[c] * a->dim * a->bits / 8), 0);
    }
    return table;
}

static void turned(const attention *a, const float *frequencies, int position, double *x) {
    for (int i = 0; i < a->half; i++) {
        const double angle = (double)((float)position * frequencies[i]);
        double *first = x + (a->interleaved ? 2 * i : i), *second = x + (a->interleaved ? 2 * i + 1 : i + a->half);
        const double p = *first, q = *second;
        *first = p * cos(angle) - q * sin(angle);
        *second = q * cos(angle) + p * sin(angle);
    }
}

static void attended(const attention *a, const double *query, const double *keys, const double *values, int position,
                     const float *sink, double *out) {
    const int first = a->window && position + 1 > a->window ? position + 1 - a->window : 0;
    double best = sink ? *sink : -INFINITY, sum = 0.0, scores[LAST + 1];
    for (int r = first; r <= position; r++) {
        scores[r] = 0.0;
        for (int d = 0; d < a->dim; d++) scores[r] += 0.3f * query[d] * keys[r * a->dim + d];
        best = fmax(best, scores[r]);
    }
    if (sink) sum = exp(*sink - best);
    for (int d = 0; d < a->dim; d++) out[d] = 0.0;
    for (int r = first; r <= position; r++) {
        const double share = exp(scores[r] - best);
        sum += share;
        for (int d = 0; d < a->dim; d++) out[d] += share * values[r * a->dim + d];
    }
    for (int d = 0; d < a->dim; d++) out[d] /= sum;
}

/* rounded: queries and weights may be rounded to bf16, where keys and values are. */
static void attention_of(uh_context *context, const attention *a, int rounded) {
    const int all = a->heads + a->kv_heads, dim = a->dim, queries = a->heads * dim;
    float *projected = floats((size_t)(all * dim)), *new_values = floats((size_t)(a->kv_heads * dim));
    float *frequencies = floats((size_t)a->half + 1), *cosines = floats((size_t)a->half), *sines = floats((size_t)a->half);
    float *out = floats((size_t)queries), *room = floats((size_t)(SPANS * a->heads * (2 * (dim + 17) + (dim + 16) / 2)));
    float *sinks = random_floats(a->heads);
    double *keys = exactly((size_t)(a->kv_heads * (LAST + 1) * dim) * 8, 0), *values = exactly((size_t)(a->kv_heads * (LAST + 1) * dim) * 8, 0);
    double *exact = exactly((size_t)queries * 8, 0), *turned_head = exactly((size_t)dim * 8, 0);
    void *states[2] = {table_of(a), table_of(a)};
    for (int i = 0; i < a->half; i++) frequencies[i] = (float)pow(100.0, -(double)i / a->half);
    frequencies[a->half] = 1.0f;
    const uh_op ops[3] = {
        {.kind = UH_OP_ROPE, .n = {a->half}, .p = {frequencies, cosines, sines}},
        {.kind = UH_OP_HEADS, .n = {0, a->heads, a->kv_heads, dim, 0, 0, a->half, a->interleaved},
         .p = {projected, NULL, NULL, cosines, sines, new_values}},
        {.kind = UH_OP_ATTEND, .n = {0, a->heads, a->kv_heads, dim, a->window}, .f = {0.3f},
         .p = {projected, a->sinks ? sinks : NULL, out, room}},
    };
    for (int position = 0; position <= LAST; position++) {
        for (int i = 0; i < all * dim; i++) projected[i] = (float)normal();
        for (int i = 0; i < a->kv_heads * dim; i++) new_values[i] = (float)normal();
        double *before = as_doubles(projected, all * dim);
        const uh_row row = {position, states};
        const uh_step step = {&row, 0, 1};
        check(uh_run_graph(context, ops, 3, &step) == 0, "no memory");
        for (int h = 0; h < a->kv_heads; h++) {
            for (int d = 0; d < dim; d++) { /* the kernel's own keys: turning is checked with the queries */
                keys[(h * (LAST + 1) + position) * dim + d] = kept(projected + queries + h * dim + d, a->bits);
                values[(h * (LAST + 1) + position) * dim + d] = kept(new_values + h * dim + d, a->bits);
            }
        }
        if (position > 50 && position % 37 && position < LAST) {
            forget(before);
            continue;
        }
        double worst = 0.0;
        for (int h = 0; h < a->heads; h++) {
            const int at = h / (a->heads / a->kv_heads) * (LAST + 1) * dim;
            memcpy(turned_head, before + h * dim, (size_t)dim * 8);
            turned(a, frequencies, position, turned_head);
            worst = fmax(worst, error_of(projected + h * dim, turned_head, (size_t)dim));
            attended(a, turned_head, keys + at, values + at, position, a->sinks ? sinks + h : NULL, exact + h * dim);
        }
        forget(before);
        const double error = error_of(out, exact, (size_t)queries);
        check(worst <= 1e-5, "dim %d: turned by %d, error %.2e", dim, position, worst);
        check(error <= (rounded && a->bits == 16 && dim % 32 == 0 ? 2e-2 : 1e-5), "%d heads on %d of %d, %d bits, window %d, position %d: error %.2e", a->heads, a->kv_heads, dim,
              a->bits, a->window, position, error);
    }
}

/* Several rows, of two sequences, have the bits that each has alone: ops that know one row, and those that run all at once.
 * Only rows from `first` on run. */
static void rows_of_two(uh_context *context, int n, int first) {
    enum { HEADS = 4, KV = 2, DIM = 32, ALL = (HEADS + 2 * KV) * DIM, QUERIES = HEADS * DIM, ROOM = SPANS * HEADS * (2 * (DIM + 17) + (DIM + 16) / 2) };
    const attention a = {HEADS, KV, DIM, 16, 16, 0, 0, 0};
    const recipe how = {ALL, 96, 32, 8, 1, 0};
    const matrix m = make_matrix(&how);
    uh_matrix_view view = view_of_matrix(&m, 3, 0);
    float *x = random_floats(n * 96), *scale = random_floats(96), *frequencies = random_floats(17);
    float *got[2];
    for (int together = 0; together < 2; together++) {
        float *normed = floats((size_t)(n * 96)), *cosines = floats((size_t)(n * 16)), *sines = floats((size_t)(n * 16));
        float *projected = floats((size_t)(n * ALL)), *room = floats((size_t)(n * ROOM));
        float *out = got[together] = floats((size_t)(n * QUERIES));
        void *states[2][2] = {{table_of(&a), table_of(&a)}, {table_of(&a), table_of(&a)}};
        uh_row row[UH_MOST_ROWS];
        for (int r = 0; r < n; r++) row[r] = (uh_row){r / 2 * 1 + (r % 2 ? 40 : 0), states[r % 2]};
        for (int s = 0; s < 2; s++) /* the second has a past of zeros */
            for (int half = 0; half < 2; half++) {
                uh_kv_rows *kv = states[s][half];
                for (int c = 0; c < CHUNKS; c++) memset(kv->chunk[c].data, 0, (size_t)(KV * CHUNK_ROWS[c] * DIM * 2));
            }
        const uh_op ops[5] = {
            {.kind = UH_OP_NORM, .n = {1, 96}, .f = {1e-5f}, .p = {x, normed, scale}, .stride = {96 * 4, 96 * 4}},
            {.kind = UH_OP_LINEAR, .p = {&view, normed, projected}, .stride = {0, 96 * 4, ALL * 4}},
            {.kind = UH_OP_ROPE, .n = {16}, .p = {frequencies, cosines, sines}, .stride = {0, 16 * 4, 16 * 4}},
            {.kind = UH_OP_HEADS, .n = {0, HEADS, KV, DIM, 0, 0, 16}, .stride = {ALL * 4, 0, 0, 16 * 4, 16 * 4, ALL * 4},
             .p = {projected, NULL, NULL, cosines, sines, projected + (HEADS + KV) * DIM}},
            {.kind = UH_OP_ATTEND, .n = {0, HEADS, KV, DIM}, .f = {0.3f}, .p = {projected, NULL, out, room},
             .stride = {ALL * 4, 0, QUERIES * 4, ROOM * 4}},
        };
        memset(out, UNTOUCHED, (size_t)(n * QUERIES) * 4);
        if (together) {
            const uh_step step = {row, first, n};
            check(!uh_run_graph(context, ops, 5, &step), "no memory");
        } else {
            for (int r = first; r < n; r++) {
                const uh_step step = {row, r, r + 1};
                check(!uh_run_graph(context, ops, 5, &step), "no memory");
            }
        }
    }
    check(!memcmp(got[0], got[1], (size_t)(n * QUERIES) * 4), "%d rows from %d on: other bits than alone", n, first);
    const unsigned char *bytes = (const unsigned char *)got[1];
    for (int i = 0; i < first * QUERIES * 4; i++) check(bytes[i] == UNTOUCHED, "a row that does not run was written");
}

/* Softmax or sigmoid scores, the best k of them, and their weights. */
static void routes(uh_context *context, int experts, int top_k, int sigmoid_score, int with_bias) {
    float *logits = random_floats(experts), *bias = random_floats(experts), *room = floats((size_t)(2 * experts));
    float *weights = floats((size_t)top_k);
    int64_t *ids = exactly((size_t)top_k * 8, 8), *groups = exactly(8, 8);
    double *scores = as_doubles(logits, experts), sum = 0.0, total = 0.0;
    for (int e = 0; e < experts; e++) sum += exp(scores[e]);
    for (int e = 0; e < experts; e++) scores[e] = sigmoid_score ? sigmoid(scores[e]) : exp(scores[e]) / sum;
    run_op(context, (uh_op){.kind = UH_OP_ROUTE, .n = {experts, top_k, sigmoid_score ? 2 : 0, 1, 1, 1, 1},
                          .f = {0.0f, 0.0f, 0.0f, 2.0f}, .p = {logits, with_bias ? bias : NULL, NULL, room, ids, weights, groups}});
    for (int k = 0; k < top_k; k++) total += scores[ids[k]];
    for (int k = 0; k < top_k; k++) {
        const double mine = scores[ids[k]] + (with_bias ? bias[ids[k]] : 0.0);
        int better = 0;
        for (int e = 0; e < experts; e++) better += scores[e] + (with_bias ? bias[e] : 0.0) > mine;
        check(better == k, "%d better than choice %d of %d", better, k, experts);
        check(fabs(weights[k] - 2.0 * scores[ids[k]] / total) <= 1e-5, "weight %d of %d", k, top_k);
    }
}

static void ops(const variant *which) {
    char name[64];
    snprintf(name, sizeof name, "ops of the graph: %s", which->name);
    group(name);
    reseed(13);
    uh_context *context = opened(2, which);
    for (int n = 1; n <= 70; n += 1 + n / 20) {
        norms(context, 1 + n % 3, n);
        by_value(context, n);
        release_all();
    }
    products(context, which);
    release_all();
    for (int n = 1; n <= UH_MOST_ROWS; n += n < 6 ? 1 : 5) {
        rows_of_two(context, n, n / 4);
        release_all();
    }
    static const attention SHAPES[5] = {{4, 2, 64, 32, 16, 0, 0, 0}, {6, 2, 40, 10, 32, 0, 1, 1}, {3, 3, 16, 8, 16, 33, 0, 1},
                                        {8, 1, 128, 64, 16, 0, 0, 0}, {5, 1, 6, 3, 32, 7, 0, 0}};
    for (int i = 0; i < 5; i++) {
        attention_of(context, &SHAPES[i], !which->exact);
        release_all();
    }
    for (int i = 0; i < 12; i++) {
        const int experts = i % 3 ? between(2, 160) : 8;
        routes(context, experts, between(1, experts < 8 ? experts : 8), i % 2, i % 4 > 1);
        release_all();
    }
    uh_close(context);
}

void test_op_graph(void) { each_variant(ops); }
