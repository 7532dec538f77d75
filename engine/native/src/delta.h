/* The recurrent token mixers for one token, compiled once per instruction set (see vectors.h): the Gated DeltaNet step
 * between its projections (Yang et al. 2024, Gated Delta Networks), and the gated short convolution of LFM2. */
#include "vectors.h"

#include <math.h>
#include <string.h>

#include "activation.h"
#include "context.h"
#include "ops.h"
#include "op_graph.h"

enum {
    DELTA_WIDEST = 512,     /* of a head */
    DELTA_SERIAL = 1 << 16, /* values of memory, some 10 us: below, waking others costs more */
    DELTA_ACROSS = UH_LANES == 16 ? 8 : 4 /* registers of columns whose two sums are held at once */
};

/* C = 2 k_heads k_dim + v_heads v_dim channels: queries, keys, values, head by head. */
typedef struct {
    const float *mixed;                 /* [C + v_heads v_dim]: this token's channels, and the gates of its result */
    const float *rates;                 /* [2 v_heads]: what becomes learning rates, and what becomes decays */
    const float *taps;                  /* [kernel, C], the current token's last */
    const float *decay, *dt_bias, *norm; /* [v_heads], [v_heads], [v_dim] */
    /* [kernel - 1, C], oldest first, and [v_heads, k_dim, v_dim]: as they were before this token, and behind it. */
    const float *history_before, *memory_before;
    float *history, *memory;
    float *out;                         /* [v_heads v_dim] */
    int32_t k_heads, v_heads, k_dim, v_dim, kernel;
    float qk_eps, norm_eps;
} delta;

/* y = convolution of n of so many channels over the current token x and the ones before it, whose rows move on: from
 * `before` to `history`, which may be the same. */
UH_TARGET static void convolve(const float *x, const float *taps, const float *before, float *history, int32_t kernel,
                               int64_t channels, int32_t n, float *y) {
    for (int32_t i = 0; i < n; i++) y[i] = x[i] * taps[(kernel - 1) * channels + i];
    for (int32_t t = 0; t < kernel - 1; t++) {
        const float *row = before + t * channels, *next = t + 2 < kernel ? row + channels : x;
        for (int32_t i = 0; i < n; i++) y[i] += row[i] * taps[t * channels + i];
        memcpy(history + t * channels, next, n * sizeof *next); /* row t is through, and row t + 1 lies elsewhere */
    }
}

UH_TARGET static float dot_of(const float *a, const float *b, int32_t n) {
    float lanes[SUM_LANES] = {0};
    int32_t at = 0;
    for (; at + SUM_LANES <= n; at += SUM_LANES)
        for (int i = 0; i < SUM_LANES; i++) lanes[i] += a[at + i] * b[at + i];
    for (; at < n; at++) lanes[at % SUM_LANES] += a[at] * b[at];
    return sum_lanes(lanes);
}

UH_TARGET static void delta_to_length(float *x, int32_t n, float eps, float length) {
    const float by = length / sqrtf(squares_of(x, n, 0.0f) + eps);
    for (int32_t i = 0; i < n; i++) x[i] *= by;
}

typedef struct {
    float keep, learn, qk; /* decay, learning rate, q . k */
} delta_rates;

/* `across` registers of columns of S: S = keep S; S += k (learn (v - k S)); out = q S. Columns do not meet, so they are
 * read from memory once, and written while they are still in the nearest caches. before: S as it was, which may lie
 * where S does. */
UH_INLINE void delta_columns(const float *q, const float *k, const float *v, delta_rates r, int32_t k_dim,
                             int32_t v_dim, const int across, const float *before, float *state, float *out) {
    vf known[8], read[8];
#pragma GCC unroll 8
    for (int c = 0; c < across; c++) known[c] = read[c] = vf_all(0.0f);
    for (int32_t i = 0; i < k_dim; i++) {
        const vf ki = vf_all(k[i]), qi = vf_all(q[i]);
#pragma GCC unroll 8
        for (int c = 0; c < across; c++) {
            const vf s = vf_load(before + (int64_t)i * v_dim + c * UH_LANES);
            known[c] = vf_fma(ki, s, known[c]);
            read[c] = vf_fma(qi, s, read[c]);
        }
    }
    const vf keep = vf_all(r.keep), learn = vf_all(r.learn), qk = vf_all(r.qk);
#pragma GCC unroll 8
    for (int c = 0; c < across; c++) {
        known[c] = learn * (vf_load(v + c * UH_LANES) - keep * known[c]); /* what is learned */
        vf_store(out + c * UH_LANES, vf_fma(qk, known[c], keep * read[c]));
    }
    for (int32_t i = 0; i < k_dim; i++) {
        const vf ki = vf_all(k[i]);
        const float *was = before + (int64_t)i * v_dim;
        float *row = state + (int64_t)i * v_dim;
#pragma GCC unroll 8
        for (int c = 0; c < across; c++)
            vf_store(row + c * UH_LANES, vf_fma(ki, known[c], keep * vf_load(was + c * UH_LANES)));
    }
}

/* The same for the last columns, fewer than a register holds. */
UH_TARGET static void delta_last_columns(const float *q, const float *k, const float *v, delta_rates r, int32_t k_dim,
                                         int32_t v_dim, int32_t count, const float *before, float *state, float *out) {
    for (int32_t c = 0; c < count; c++) {
        float known = 0.0f, read = 0.0f;
        for (int32_t i = 0; i < k_dim; i++) {
            known += k[i] * before[(int64_t)i * v_dim + c];
            read += q[i] * before[(int64_t)i * v_dim + c];
        }
        const float learned = r.learn * (v[c] - r.keep * known);
        out[c] = r.keep * read + r.qk * learned;
        for (int32_t i = 0; i < k_dim; i++) {
            const int64_t at = (int64_t)i * v_dim + c;
            state[at] = r.keep * before[at] + k[i] * learned;
        }
    }
}

UH_TARGET static void delta_columns_all(const float *q, const float *k, const float *v, delta_rates r, int32_t k_dim,
                                        int32_t v_dim, const float *before, float *state, float *out) {
    int32_t c = 0;
    for (; c + DELTA_ACROSS * UH_LANES <= v_dim; c += DELTA_ACROSS * UH_LANES)
        delta_columns(q, k, v + c, r, k_dim, v_dim, DELTA_ACROSS, before + c, state + c, out + c);
    for (; c + UH_LANES <= v_dim; c += UH_LANES)
        delta_columns(q, k, v + c, r, k_dim, v_dim, 1, before + c, state + c, out + c);
    delta_last_columns(q, k, v + c, r, k_dim, v_dim, v_dim - c, before + c, state + c, out + c);
}

/* The channels of one head, convolved, and what silu makes of them. */
UH_TARGET static void delta_channels(const delta *d, int32_t from, int32_t n, float *y) {
    const int64_t channels = 2 * (int64_t)d->k_heads * d->k_dim + (int64_t)d->v_heads * d->v_dim;
    convolve(d->mixed + from, d->taps + from, d->history_before + from, d->history + from, d->kernel, channels, n, y);
    for (int32_t i = 0; i < n; i++) y[i] *= uh_sigmoid(y[i]);
}

/* A key head, with the value heads that share it: they meet no other. */
UH_TARGET static void delta_head(void *argument, int32_t key_head, int32_t lane) {
    const delta *d = argument;
    const int32_t k_dim = d->k_dim, v_dim = d->v_dim, keys = d->k_heads * k_dim, values = d->v_heads * v_dim;
    const int32_t share = d->v_heads / d->k_heads;
    float q[DELTA_WIDEST], k[DELTA_WIDEST], v[DELTA_WIDEST];
    (void)lane;
    delta_channels(d, key_head * k_dim, k_dim, q);
    delta_channels(d, keys + key_head * k_dim, k_dim, k);
    delta_to_length(q, k_dim, d->qk_eps, 1.0f / sqrtf((float)k_dim));
    delta_to_length(k, k_dim, d->qk_eps, 1.0f);
    delta_rates r = {.qk = dot_of(q, k, k_dim)};
    for (int32_t head = key_head * share; head < (key_head + 1) * share; head++) {
        const float *z = d->mixed + 2 * keys + values + head * v_dim;
        float *out = d->out + head * v_dim;
        delta_channels(d, 2 * keys + head * v_dim, v_dim, v);
        r.learn = uh_sigmoid(d->rates[head]);
        r.keep = expf(d->decay[head] * uh_softplus(d->rates[d->v_heads + head] + d->dt_bias[head]));
        const int64_t memory = (int64_t)head * k_dim * v_dim;
        delta_columns_all(q, k, v, r, k_dim, v_dim, d->memory_before + memory, d->memory + memory, out);
        rms(out, d->norm, v_dim, d->norm_eps, out);
        for (int32_t i = 0; i < v_dim; i++) out[i] *= z[i] * uh_sigmoid(z[i]);
    }
}

/* All rows of a step, in their order: where they are of one sequence, each goes on from what the one before it left, which
 * is in the nearest caches then. */
typedef struct {
    delta row[UH_MOST_ROWS];
    int32_t rows;
} delta_rows;

UH_TARGET static void delta_heads(void *argument, int32_t key_head, int32_t lane) {
    delta_rows *all = argument;
    for (int32_t r = 0; r < all->rows; r++) delta_head(&all->row[r], key_head, lane);
}

/* What a sequence keeps here, and behind so many states where it is read from: what the first token of a sequence in a
 * step goes on from, which may lie apart (engine.models.layers.state). */
typedef struct {
    void *const *to, *const *from;
} recurrent;

UH_TARGET static recurrent recurrent_of(const uh_step *step, int32_t row, int32_t state, int32_t states) {
    void *const *to = step->row[row].state + state;
    const int goes_on = row > step->first && step->row[row - 1].state == step->row[row].state;
    return (recurrent){to, goes_on ? to : to + states};
}

UH_TARGET static int run_delta(uh_context *context, const uh_op *op, const uh_step *step) {
    delta_rows all = {.rows = step->end - step->first};
    for (int32_t r = 0; r < all.rows; r++) {
        const int32_t row = step->first + r;
        const recurrent state = recurrent_of(step, row, op->n[UH_DELTA_STATE], 2);
        all.row[r] = (delta){
            .history_before = state.from[0],
            .memory_before = state.from[1],
            .history = state.to[0],
            .memory = state.to[1],
            .k_heads = op->n[UH_DELTA_K_HEADS],
            .v_heads = op->n[UH_DELTA_V_HEADS],
            .k_dim = op->n[UH_DELTA_K_DIM],
            .v_dim = op->n[UH_DELTA_V_DIM],
            .kernel = op->n[UH_DELTA_KERNEL],
            .qk_eps = op->f[UH_DELTA_QK_EPS],
            .norm_eps = op->f[UH_DELTA_NORM_EPS],
            .mixed = uh_row_address(op, UH_DELTA_MIXED, row),
            .rates = uh_row_address(op, UH_DELTA_RATES, row),
            .taps = op->p[UH_DELTA_TAPS],
            .decay = op->p[UH_DELTA_DECAY],
            .dt_bias = op->p[UH_DELTA_DT_BIAS],
            .norm = op->p[UH_DELTA_NORM],
            .out = uh_row_address(op, UH_DELTA_OUT, row),
        };
    }
    const int64_t numbers = (int64_t)all.rows * op->n[UH_DELTA_V_HEADS] * op->n[UH_DELTA_K_DIM] * op->n[UH_DELTA_V_DIM];
    uh_share(context, numbers < DELTA_SERIAL, delta_heads, &all, op->n[UH_DELTA_K_HEADS]);
    return 0;
}

enum { CONV_AT_ONCE = 256 /* channels, whose products lie on the stack */ };

/* out = after * (convolution(before * value) + bias), of three parts [before | after | value] that lie together. Rows go in
 * their order, as in delta_rows. */
UH_TARGET static int run_conv(uh_context *context, const uh_op *op, const uh_step *step) {
    const int32_t channels = op->n[UH_CONV_CHANNELS], kernel = op->n[UH_CONV_KERNEL];
    const float *taps = op->p[UH_CONV_TAPS], *bias = op->p[UH_CONV_BIAS];
    (void)context;
    for (int32_t row = step->first; row < step->end; row++) {
        const recurrent state = recurrent_of(step, row, op->n[UH_CONV_STATE], 1);
        const float *x = uh_row_address(op, UH_CONV_MIXED, row), *after = x + channels, *value = after + channels;
        const float *before = state.from[0];
        float *history = state.to[0], *out = uh_row_address(op, UH_CONV_OUT, row), in[CONV_AT_ONCE];
        for (int32_t at = 0; at < channels; at += CONV_AT_ONCE) {
            const int32_t n = channels - at < CONV_AT_ONCE ? channels - at : CONV_AT_ONCE;
            for (int32_t i = 0; i < n; i++) in[i] = x[at + i] * value[at + i];
            convolve(in, taps + at, before + at, history + at, kernel, channels, n, out + at);
            for (int32_t i = 0; i < n; i++) out[at + i] = (bias ? out[at + i] + bias[at + i] : out[at + i]) * after[at + i];
        }
    }
    return 0;
}
