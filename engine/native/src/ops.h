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
    const float *x = op->p[0], *scale = op->p[2], *bias = op->p[3];
    float *out = op->p[1];
    const int32_t n = op->n[1];
    (void)row;
    for (int32_t i = 0; i < op->n[0]; i++, x += n, out += n) {
        if (!bias) {
            rms(x, scale, n, op->f[0], out);
            continue;
        }
        const float mean = sum_of(x, n) / (float)n;
        const float by = 1.0f / sqrtf(squares_of(x, n, mean) / (float)n + op->f[0]);
        for (int32_t c = 0; c < n; c++) out[c] = (x[c] - mean) * by * scale[c] + bias[c];
    }
}

UH_TARGET static void run_add(const uh_op *op, const uh_row *row) {
    float *x = op->p[0];
    const float *source = op->p[1], by = op->f[0];
    (void)row;
    for (int32_t i = 0; i < op->n[0]; i++) x[i] += by * source[i];
}

UH_TARGET static void run_scale(const uh_op *op, const uh_row *row) {
    float *x = op->p[0];
    (void)row;
    for (int32_t i = 0; i < op->n[0]; i++) x[i] *= op->f[0];
}

/* One gate for all of x, or one each. */
UH_TARGET static void run_gate(const uh_op *op, const uh_row *row) {
    float *x = op->p[0];
    const float *gate = op->p[1];
    (void)row;
    if (op->n[1] == 1) {
        const float by = uh_sigmoid(gate[0]);
        for (int32_t i = 0; i < op->n[0]; i++) x[i] *= by;
    } else {
        for (int32_t i = 0; i < op->n[0]; i++) x[i] *= uh_sigmoid(gate[i]);
    }
}

UH_TARGET static void run_activate(const uh_op *op, const uh_row *row) {
    const float *gate = op->p[0], *up = op->p[1];
    float *h = op->p[2];
    const int32_t n = op->n[0];
    const uh_layout layout = {.activation = op->n[1], .alpha = op->f[0], .limit = op->f[1]};
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
    float *x = op->p[0];
    (void)row;
    for (int32_t i = 0; i < op->n[0]; i++) x[i] = uh_softcap(x[i], op->f[0]);
}

/* ---- queries, keys and values ------------------------------------------------------------------------------------ */

UH_TARGET static uint16_t to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16; /* to nearest, ties to even */
    return (uint16_t)(x != x ? bits >> 16 | 0x40u : rounded);
}

/* Writes row `position`, x [heads, dim], to where it belongs; there is room for it. */
UH_TARGET static void append(const uh_kv_rows *rows, int64_t position, const float *x, int32_t heads, int32_t dim) {
    int32_t c = 0;
    while (position >= rows->chunk[c].rows) position -= rows->chunk[c++].rows;
    for (int32_t head = 0; head < heads; head++, x += dim) {
        const int64_t at = head * rows->chunk[c].rows + position;
        uint8_t *row = rows->chunk[c].data + at * uh_kv_row_bytes(rows->bits, dim);
        if (rows->bits == 8) {
            pack_kv_row(x, dim, row);
        } else if (rows->bits == 16) {
            uint16_t *to = (uint16_t *)row;
            for (int32_t d = 0; d < dim; d++) to[d] = to_bf16(x[d]);
        } else {
            memcpy(row, x, (size_t)dim * sizeof(float));
        }
    }
}

UH_TARGET static void keep_heads(const uh_op *op, const uh_row *row) {
    const int32_t kv_heads = op->n[2], dim = op->n[3];
    const float *keys = (const float *)op->p[0] + (int64_t)op->n[1] * dim;
    append(row->state[op->n[0]], row->position, keys, kv_heads, dim);
    append(row->state[op->n[0] + 1], row->position, op->p[5], kv_heads, dim);
}

UH_TARGET static void run_heads(const uh_op *op, const uh_row *row) {
    const int32_t kv_heads = op->n[2], dim = op->n[3];
    float *x = op->p[0];
    const uh_heads heads = {
        .x = x, .values = op->p[5], .q_scale = op->p[1], .k_scale = op->p[2], .cosines = op->p[3], .sines = op->p[4],
        .eps = op->f[0], .limit = op->f[1], .tokens = 1, .heads = op->n[1], .kv_heads = kv_heads, .dim = dim,
        .norm = op->n[4], .norm_last = op->n[5], .half = op->n[6], .interleaved = op->n[7], .norm_values = op->n[8],
        .reuse_keys = op->n[9], .clips = op->n[10],
    };
    finish_heads(&heads, 0);
    keep_heads(op, row);
}

/* ---- routing ------------------------------------------------------------------------------------------------------ */

enum { SCORE_SOFTMAX, SCORE_TOPK_SOFTMAX, SCORE_SIGMOID, SCORE_SPARSEMIXER, SCORE_SQRT_SOFTPLUS };

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
    const int32_t groups = op->n[3], top_groups = op->n[4], two = op->n[5], size = experts / groups;
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
        for (int32_t i = g * size; !kept && i < (g + 1) * size; i++) choice[i] = op->f[0];
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

/* Scores by which experts are chosen and weighed; those of SCORE_TOPK_SOFTMAX are the logits. */
UH_TARGET static void score_experts(float *logits, int32_t experts, int32_t score) {
    if (score == SCORE_SOFTMAX) softmax(logits, experts);
    for (int32_t i = 0; score == SCORE_SIGMOID && i < experts; i++) logits[i] = uh_sigmoid(logits[i]);
    for (int32_t i = 0; score == SCORE_SQRT_SOFTPLUS && i < experts; i++) logits[i] = sqrtf(uh_softplus(logits[i]));
}

UH_TARGET static void run_route(const uh_op *op, const uh_row *row) {
    const int32_t experts = op->n[0], top_k = op->n[1], score = op->n[2], normalize = op->n[6], given = op->n[7];
    float *scores = op->p[0], *choice = op->p[3], *weights = op->p[5];
    const float *bias = op->p[1], *expert_scale = op->p[2];
    int64_t *ids = op->p[4], *groups = op->p[6];
    (void)row;
    if (score == SCORE_SPARSEMIXER) {
        sparsemixer(scores, experts, op->f[3], choice, ids, weights);
    } else {
        score_experts(scores, experts, score);
        for (int32_t i = 0; i < experts; i++) choice[i] = bias ? scores[i] + bias[i] : scores[i];
        if (!given && op->n[3] > 1) keep_best_groups(choice, experts, op, choice + experts, groups);
        if (!given) take_top(choice, experts, top_k, ids);
        for (int32_t k = 0; k < top_k; k++) weights[k] = scores[ids[k]];
        if (score == SCORE_TOPK_SOFTMAX) softmax(weights, top_k);
        if (normalize) {
            float total = 0.0f;
            for (int32_t k = 0; k < top_k; k++) total += weights[k];
            total += op->f[1];
            total = total < op->f[2] ? op->f[2] : total;
            for (int32_t k = 0; k < top_k; k++) weights[k] /= total;
        }
        for (int32_t k = 0; k < top_k; k++) weights[k] *= op->f[3];
    }
    for (int32_t k = 0; expert_scale && k < top_k; k++) weights[k] *= expert_scale[ids[k]];
}

#endif
