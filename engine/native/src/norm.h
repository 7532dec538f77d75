/* Sums and norms, compiled once per instruction set: see vectors.h. Sums run in 16 lanes, so that the compiler may use
 * vectors without being allowed to change the order of additions. */
#ifndef UH_NORM_H
#define UH_NORM_H

#include "vectors.h"

#include <math.h>

enum { SUM_LANES = 16 };

UH_TARGET static float sum_lanes(const float *lanes) {
    float sum = 0.0f;
    for (int i = 0; i < SUM_LANES; i++) sum += lanes[i];
    return sum;
}

UH_TARGET static inline float sum_of(const float *x, int32_t n) {
    float lanes[SUM_LANES] = {0};
    int32_t at = 0;
    for (; at + SUM_LANES <= n; at += SUM_LANES)
        for (int i = 0; i < SUM_LANES; i++) lanes[i] += x[at + i];
    for (; at < n; at++) lanes[at % SUM_LANES] += x[at];
    return sum_lanes(lanes);
}

/* The sum of (x - mean)^2. */
UH_TARGET static float squares_of(const float *x, int32_t n, float mean) {
    float lanes[SUM_LANES] = {0};
    int32_t at = 0;
    for (; at + SUM_LANES <= n; at += SUM_LANES)
        for (int i = 0; i < SUM_LANES; i++) lanes[i] += (x[at + i] - mean) * (x[at + i] - mean);
    for (; at < n; at++) lanes[at % SUM_LANES] += (x[at] - mean) * (x[at] - mean);
    return sum_lanes(lanes);
}

/* out = x / sqrt(mean(x^2) + eps) * scale; out may be x. scale: NULL, or n values. */
UH_TARGET static void rms(const float *x, const float *scale, int32_t n, float eps, float *out) {
    const float by = 1.0f / sqrtf(squares_of(x, n, 0.0f) / (float)n + eps);
    if (scale)
        for (int32_t i = 0; i < n; i++) out[i] = x[i] * by * scale[i];
    else
        for (int32_t i = 0; i < n; i++) out[i] = x[i] * by;
}
#endif
