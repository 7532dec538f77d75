/* The small ops of the graph, compiled once per instruction set: see vectors.h. */
#ifndef UH_OPS_H
#define UH_OPS_H

#include "vectors.h"

#include <math.h>

#include "activation.h"
#include "context.h"
#include "heads.h"
#include "op_graph.h"

UH_TARGET static void run_norm(const uh_op *op, const uh_row *row) {
    const float *x = op->p[UH_NORM_X], *scale = op->p[UH_NORM_SCALE], *bias = op->p[UH_NORM_BIAS];
    float *out = op->p[UH_NORM_OUT];
    const int32_t n = op->n[UH_NORM_WIDTH];
    (void)row;
    for (int32_t i = 0; i < op->n[UH_NORM_HEADS]; i++, x += n, out += n) {
        if (!bias) {
            rms(x, scale, n, op->f[UH_NORM_EPS], out);
            continue;
        }
        const float mean = sum_of(x, n) / (float)n;
        const float by = 1.0f / sqrtf(squares_of(x, n, mean) / (float)n + op->f[UH_NORM_EPS]);
        for (int32_t c = 0; c < n; c++) out[c] = (x[c] - mean) * by * scale[c] + bias[c];
    }
}

UH_TARGET static void run_add(const uh_op *op, const uh_row *row) {
    float *x = op->p[UH_ADD_X];
    const float *source = op->p[UH_ADD_SOURCE], by = op->f[UH_ADD_BY];
    (void)row;
    for (int32_t i = 0; i < op->n[UH_ADD_COUNT]; i++) x[i] += by * source[i];
}

UH_TARGET static void run_scale(const uh_op *op, const uh_row *row) {
    float *x = op->p[UH_SCALE_X];
    (void)row;
    for (int32_t i = 0; i < op->n[UH_SCALE_COUNT]; i++) x[i] *= op->f[UH_SCALE_BY];
}

/* One gate for all of x, or one each. */
UH_TARGET static void run_gate(const uh_op *op, const uh_row *row) {
    float *x = op->p[UH_GATE_X];
    const float *gate = op->p[UH_GATE_GATES];
    (void)row;
    if (op->n[UH_GATE_GATE_COUNT] == 1) {
        const float by = uh_sigmoid(gate[0]);
        for (int32_t i = 0; i < op->n[UH_GATE_COUNT]; i++) x[i] *= by;
    } else {
        for (int32_t i = 0; i < op->n[UH_GATE_COUNT]; i++) x[i] *= uh_sigmoid(gate[i]);
    }
}

UH_TARGET static void run_activate(const uh_op *op, const uh_row *row) {
    const float *gate = op->p[UH_ACTIVATE_GATES], *up = op->p[UH_ACTIVATE_UP];
    float *h = op->p[UH_ACTIVATE_OUT];
    const int32_t n = op->n[UH_ACTIVATE_COUNT];
    const uh_layout layout = {
        .activation = op->n[UH_ACTIVATE_ACTIVATION], .alpha = op->f[UH_ACTIVATE_ALPHA], .limit = op->f[UH_ACTIVATE_LIMIT],
    };
    int32_t at = 0;
    (void)row;
    for (; at + UH_ROWS <= n; at += UH_ROWS) uh_activate16(&layout, gate + at, up + at, h + at);
    if (at < n) {
        float ends[3][UH_ROWS] = {{0}};
        memcpy(ends[0], gate + at, (size_t)(n - at) * sizeof(float));
        memcpy(ends[1], up + at, (size_t)(n - at) * sizeof(float));
        uh_activate16(&layout, ends[0], ends[1], ends[2]);
        memcpy(h + at, ends[2], (size_t)(n - at) * sizeof(float));
    }
}

UH_TARGET static void run_softcap(const uh_op *op, const uh_row *row) {
    float *x = op->p[UH_SOFTCAP_X];
    (void)row;
    for (int32_t i = 0; i < op->n[UH_SOFTCAP_COUNT]; i++) x[i] = uh_softcap(x[i], op->f[UH_SOFTCAP_CAP]);
}

/* ---- queries, keys and values ------------------------------------------------------------------------------------ */

/* Writes row `position`, x [heads, dim], to where it belongs; there is room for it. */
UH_TARGET static void append(const uh_kv_rows *rows, int64_t position, const float *x, int32_t heads, int32_t dim) {
    int32_t c = 0;
    while (position >= rows->chunk[c].rows) position -= rows->chunk[c++].rows;
    for (int32_t head = 0; head < heads; head++, x += dim) {
        const int64_t at = head * rows->chunk[c].rows + position;
        pack_kv_row(x, rows->bits, dim, rows->chunk[c].data + at * uh_kv_row_bytes(rows->bits, dim));
    }
}

UH_TARGET static void keep_heads(const uh_op *op, const uh_row *row) {
    const int32_t kv_heads = op->n[UH_HEADS_KV_HEADS], dim = op->n[UH_HEADS_DIM];
    const float *keys = (const float *)op->p[UH_HEADS_PROJECTED] + (int64_t)op->n[UH_HEADS_HEADS] * dim;
    append(row->state[op->n[UH_HEADS_STATE]], row->position, keys, kv_heads, dim);
    append(row->state[op->n[UH_HEADS_STATE] + 1], row->position, op->p[UH_HEADS_VALUES], kv_heads, dim);
}

UH_TARGET static void run_heads(const uh_op *op, const uh_row *row) {
    const int32_t kv_heads = op->n[UH_HEADS_KV_HEADS], dim = op->n[UH_HEADS_DIM];
    float *x = op->p[UH_HEADS_PROJECTED];
    const uh_heads heads = {
        .x = x,
        .values = op->p[UH_HEADS_VALUES],
        .q_scale = op->p[UH_HEADS_Q_SCALE],
        .k_scale = op->p[UH_HEADS_K_SCALE],
        .cosines = op->p[UH_HEADS_COSINES],
        .sines = op->p[UH_HEADS_SINES],
        .eps = op->f[UH_HEADS_EPS],
        .limit = op->f[UH_HEADS_LIMIT],
        .tokens = 1,
        .heads = op->n[UH_HEADS_HEADS],
        .kv_heads = kv_heads,
        .dim = dim,
        .norm = op->n[UH_HEADS_NORM],
        .norm_last = op->n[UH_HEADS_NORM_LAST],
        .half = op->n[UH_HEADS_HALF],
        .interleaved = op->n[UH_HEADS_INTERLEAVED],
        .norm_values = op->n[UH_HEADS_NORM_VALUES],
        .reuse_keys = op->n[UH_HEADS_REUSE_KEYS],
        .clips = op->n[UH_HEADS_CLIPS],
    };
    finish_heads(&heads, 0);
    keep_heads(op, row);
}

/* ---- routing ------------------------------------------------------------------------------------------------------ */

UH_TARGET static void softmax(float *x, int32_t n) {
    float best = -INFINITY, sum = 0.0f;
    for (int32_t i = 0; i < n; i++) best = x[i] > best ? x[i] : best;
    for (int32_t i = 0; i < n; i++) x[i] = uh_exp(x[i] - best);
    sum = sum_of(x, n);
    for (int32_t i = 0; i < n; i++) x[i] /= sum;
}

/* The first of the largest of x, NaN counting as infinite, which then becomes -infinity. Among nothing but -infinity it
 * is one that was not taken before: taken lists those. */
UH_TARGET static int32_t take_best(float *x, int32_t n, const int64_t *taken, int32_t n_taken) {
    float lanes[SUM_LANES], best = -INFINITY;
    int32_t at = 0;
    for (int i = 0; i < SUM_LANES; i++) lanes[i] = -INFINITY;
    for (; at + SUM_LANES <= n; at += SUM_LANES)
        for (int i = 0; i < SUM_LANES; i++) lanes[i] = x[at + i] > lanes[i] ? x[at + i] : lanes[i];
    for (; at < n; at++) best = x[at] > best ? x[at] : best;
    for (int i = 0; i < SUM_LANES; i++) best = lanes[i] > best ? lanes[i] : best;
    for (at = 0; at < n; at++) {
        if (x[at] != best) continue;
        int32_t seen = 0;
        if (best == -INFINITY)
            for (int32_t i = 0; i < n_taken; i++) seen |= taken[i] == at;
        if (!seen) break;
    }
    x[at] = -INFINITY;
    return at;
}

/* ids: the best `count` of x, best first; x is written over. */
UH_TARGET static void take_top(float *x, int32_t n, int32_t count, int64_t *ids) {
    for (int32_t i = 0; i < n; i++) x[i] = x[i] != x[i] ? INFINITY : x[i];
    for (int32_t k = 0; k < count; k++) ids[k] = take_best(x, n, ids, k);
}

/* Choice scores of experts outside the best groups become `masked`. rating: groups; best: top_groups. */
UH_TARGET static void keep_best_groups(float *choice, int32_t experts, const uh_op *op, float *rating, int64_t *best) {
    const int32_t groups = op->n[UH_ROUTE_GROUPS], top_groups = op->n[UH_ROUTE_TOP_GROUPS], size = experts / groups;
    const int32_t two = op->n[UH_ROUTE_TOP_TWO];
    for (int32_t g = 0; g < groups; g++) {
        float first = -INFINITY, second = -INFINITY;
        for (int32_t i = g * size; i < (g + 1) * size; i++) {
            if (choice[i] > first) {
                second = first;
                first = choice[i];
            } else if (choice[i] > second) {
                second = choice[i];
            }
        }
        rating[g] = two ? first + second : first;
    }
    take_top(rating, groups, top_groups, best);
    for (int32_t g = 0; g < groups; g++) {
        int kept = 0;
        for (int32_t i = 0; i < top_groups; i++) kept |= best[i] == g;
        for (int32_t i = g * size; !kept && i < (g + 1) * size; i++) choice[i] = op->f[UH_ROUTE_MASKED_SCORE];
    }
}

/* The top 1, then the top 1 of the rest; each weighs its softmax among the logits near it. */
UH_TARGET static void sparsemixer(const float *logits, int32_t n, float jitter, float *rest, int64_t *ids, float *weights) {
    memcpy(rest, logits, (size_t)n * sizeof(float));
    for (int32_t i = 0; i < n; i++) rest[i] = rest[i] != rest[i] ? INFINITY : rest[i];
    for (int k = 0; k < 2; k++) {
        ids[k] = take_best(rest, n, ids, k);
        const float best = logits[ids[k]];
        float sum = 0.0f;
        for (int32_t i = 0; i < n; i++) {
            const float size = fabsf(logits[i]) > best ? fabsf(logits[i]) : best;
            const int out = (best - logits[i]) / size > 2.0f * jitter || (k && i == ids[0]);
            if (!out) sum += uh_exp(logits[i] - best);
        }
        weights[k] = 1.0f / sum;
    }
}

/* Scores by which experts are chosen and weighed; those of UH_SCORE_TOPK_SOFTMAX are the logits. */
UH_TARGET static void score_experts(float *logits, int32_t experts, int32_t score) {
    if (score == UH_SCORE_SOFTMAX) softmax(logits, experts);
    for (int32_t i = 0; score == UH_SCORE_SIGMOID && i < experts; i++) logits[i] = uh_sigmoid(logits[i]);
    for (int32_t i = 0; score == UH_SCORE_SQRT_SOFTPLUS && i < experts; i++) logits[i] = sqrtf(uh_softplus(logits[i]));
}

UH_TARGET static void run_route(const uh_op *op, const uh_row *row) {
    const int32_t experts = op->n[UH_ROUTE_EXPERTS], top_k = op->n[UH_ROUTE_TOP_K], score = op->n[UH_ROUTE_SCORE];
    const int32_t normalize = op->n[UH_ROUTE_NORMALIZE], given = op->n[UH_ROUTE_GIVEN];
    float *scores = op->p[UH_ROUTE_LOGITS], *choice = op->p[UH_ROUTE_ROOM], *weights = op->p[UH_ROUTE_WEIGHTS];
    const float *bias = op->p[UH_ROUTE_CHOICE_BIAS], *expert_scale = op->p[UH_ROUTE_EXPERT_SCALE];
    int64_t *ids = op->p[UH_ROUTE_IDS], *groups = op->p[UH_ROUTE_BEST_GROUPS], *chosen = op->p[UH_ROUTE_CHOSEN];
    (void)row;
    if (score == UH_SCORE_SPARSEMIXER) {
        sparsemixer(scores, experts, op->f[UH_ROUTE_SCALE_OR_JITTER], choice, ids, weights);
    } else {
        if (given != UH_GIVEN_SCORED) score_experts(scores, experts, score);
        if (given == UH_NOT_GIVEN) {
            for (int32_t i = 0; i < experts; i++) choice[i] = bias ? scores[i] + bias[i] : scores[i];
            if (op->n[UH_ROUTE_GROUPS] > 1) keep_best_groups(choice, experts, op, choice + experts, groups);
            take_top(choice, experts, top_k, ids);
            if (chosen) memcpy(chosen, ids, (size_t)top_k * sizeof *ids);
        }
        for (int32_t k = 0; k < top_k; k++) weights[k] = scores[ids[k]];
        if (score == UH_SCORE_TOPK_SOFTMAX) softmax(weights, top_k);
        if (normalize) {
            float total = 0.0f;
            for (int32_t k = 0; k < top_k; k++) total += weights[k];
            total += op->f[UH_ROUTE_NORMALIZE_EPS];
            total = total < op->f[UH_ROUTE_NORMALIZE_MIN] ? op->f[UH_ROUTE_NORMALIZE_MIN] : total;
            for (int32_t k = 0; k < top_k; k++) weights[k] /= total;
        }
        for (int32_t k = 0; k < top_k; k++) weights[k] *= op->f[UH_ROUTE_SCALE_OR_JITTER];
    }
    for (int32_t k = 0; expert_scale && k < top_k; k++) weights[k] *= expert_scale[ids[k]];
}

#endif
