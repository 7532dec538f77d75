/* What is done to queries, keys and values between their projection and the attention, compiled once per instruction set:
 * see vectors.h. */
#ifndef UH_HEADS_H
#define UH_HEADS_H

#include "vectors.h"

#include <string.h>

#include "activation.h"
#include "context.h"
#include "norm.h"

/* Turns the first 2 * half of x by the angles whose cosines and sines are given. */
UH_TARGET static void turn(float *x, const float *cosines, const float *sines, int32_t half, int interleaved) {
    if (interleaved) {
        for (int32_t i = 0; i < half; i++) {
            const float a = x[2 * i], b = x[2 * i + 1];
            x[2 * i] = a * cosines[i] - b * sines[i];
            x[2 * i + 1] = b * cosines[i] + a * sines[i];
        }
    } else {
        for (int32_t i = 0; i < half; i++) {
            const float a = x[i], b = x[i + half];
            x[i] = a * cosines[i] - b * sines[i];
            x[i + half] = b * cosines[i] + a * sines[i];
        }
    }
}

UH_TARGET static void clip(float *x, int64_t n, float limit) {
    for (int64_t i = 0; i < n; i++) x[i] = uh_within(x[i], limit);
}

enum { NORM_NONE, NORM_HEAD, NORM_FULL };

UH_TARGET static void norm_each(float *x, const float *scale, int32_t heads, int32_t dim, float eps) {
    for (int32_t h = 0; h < heads; h++, x += dim) rms(x, scale, dim, eps, x);
}

UH_TARGET static void norm_heads(const uh_heads *h, float *queries, float *keys) {
    if (h->norm == NORM_FULL) {
        rms(queries, h->q_scale, h->heads * h->dim, h->eps, queries);
        rms(keys, h->k_scale, h->kv_heads * h->dim, h->eps, keys);
    } else if (h->norm == NORM_HEAD) {
        norm_each(queries, h->q_scale, h->heads, h->dim, h->eps);
        norm_each(keys, h->k_scale, h->kv_heads, h->dim, h->eps);
    }
}

/* Those of one token: see uh_heads. */
UH_TARGET static void finish_heads(const uh_heads *h, int32_t token) {
    const int32_t dim = h->dim, both = h->heads + h->kv_heads;
    const int64_t turned = (int64_t)token * h->half;
    float *queries = h->x + token * h->stride, *keys = queries + (int64_t)h->heads * dim;
    float *values = h->values + token * h->value_stride;
    if (h->reuse_keys) memcpy(values, keys, (size_t)h->kv_heads * (size_t)dim * sizeof(float));
    if (!h->norm_last) norm_heads(h, queries, keys);
    if (h->clips) {
        clip(queries, (int64_t)both * dim, h->limit);
        clip(values, (int64_t)h->kv_heads * dim, h->limit);
    }
    for (int32_t head = 0; h->half && head < both; head++)
        turn(queries + (int64_t)head * dim, h->cosines + turned, h->sines + turned, h->half, h->interleaved);
    if (h->norm_last) norm_heads(h, queries, keys);
    if (h->norm_values) norm_each(values, NULL, h->kv_heads, dim, h->eps);
}

UH_TARGET static inline void finish_some(void *argument, int32_t unit, int32_t lane) {
    const uh_heads *h = argument;
    const int32_t first = unit * UH_HEADS_TOKENS, end = uh_least(first + UH_HEADS_TOKENS, h->tokens);
    (void)lane;
    for (int32_t token = first; token < end; token++) finish_heads(h, token);
}
#endif
