/* Activations of 16 values, compiled once per instruction set: define UH_TARGET, include, and use uh_activate16.
 * Loops have fixed length and no contraction (-ffp-contract=off), so a value's result does not depend on its lane. */
#ifndef UH_ACTIVATION_H
#define UH_ACTIVATION_H

#include <math.h>
#include <string.h>

#include "rows.h"

/* e^x to about 1e-7: x = n ln 2 + r, polynomial in r (the classical Cephes coefficients), times 2^n. */
UH_TARGET static inline float uh_exp(float x) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer that stands in the low bits */
    x = x < -87.0f ? -87.0f : x;     /* NaN passes both */
    x = x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + magic;
    float n = shifted - magic;
    float r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, 4);
    bits = (bits + 127u) << 23; /* the magic's own bits fall out at the top */
    float power;
    memcpy(&power, &bits, 4);
    return p * power;
}

UH_TARGET static inline float uh_sigmoid(float x) { return 1.0f / (1.0f + uh_exp(-x)); }

static inline float uh_softplus(float x) { return x > 20.0f ? x : log1pf(expf(x)); }

/* tanh x to 3e-7 of itself: near 0 a polynomial in x^2 (Cephes again), for 1 - 2 / (1 + e^2x) cancels there. */
UH_TARGET static inline float uh_tanh(float x) {
    float square = x * x;
    float p = -5.70498872745e-3f;
    p = p * square + 2.06390887954e-2f;
    p = p * square - 5.37397155531e-2f;
    p = p * square + 1.33314422036e-1f;
    p = p * square - 3.33332819422e-1f;
    float inner = p * square * x + x;
    float outer = 1.0f - 2.0f / (1.0f + uh_exp(2.0f * x));
    return square < 0.390625f ? inner : outer; /* 0.625^2 */
}

UH_TARGET static inline float uh_softcap(float x, float cap) { return cap * uh_tanh(x / cap); }

UH_TARGET static inline float uh_at_most(float x, float limit) { return x > limit ? limit : x; } /* NaN stays */

UH_TARGET static inline float uh_within(float x, float limit) { return uh_at_most(x < -limit ? -limit : x, limit); }

UH_TARGET static inline void uh_activate16(const uh_layout *layout, const float *gate, const float *up, float *h) {
    const float *a = gate ? gate : up;
    float alpha = layout->alpha, limit = layout->limit;
    switch (layout->activation) {
    case UH_SILU:
        for (int i = 0; i < UH_ROWS; i++) h[i] = a[i] * uh_sigmoid(a[i]);
        break;
    case UH_GELU:
        for (int i = 0; i < UH_ROWS; i++) h[i] = 0.5f * a[i] * erfcf(a[i] * -0.70710678f);
        break;
    case UH_GELU_TANH: /* 0.5 (1 + tanh u) = sigmoid(2u) */
        for (int i = 0; i < UH_ROWS; i++)
            h[i] = a[i] * uh_sigmoid(1.59576912f * (a[i] + 0.044715f * a[i] * a[i] * a[i]));
        break;
    case UH_RELU:
        for (int i = 0; i < UH_ROWS; i++) h[i] = a[i] < 0.0f ? 0.0f : a[i];
        break;
    case UH_RELU2:
        for (int i = 0; i < UH_ROWS; i++) h[i] = a[i] < 0.0f ? 0.0f : a[i] * a[i];
        break;
    /* These have always a gate, and hold `up` themselves. */
    case UH_CLAMPED_SWIGLU:
        for (int i = 0; i < UH_ROWS; i++) {
            float g = uh_at_most(gate[i], limit);
            h[i] = (uh_within(up[i], limit) + 1.0f) * (g * uh_sigmoid(alpha * g));
        }
        return;
    case UH_LIMITED_SWIGLU:
        for (int i = 0; i < UH_ROWS; i++) {
            float g = uh_at_most(gate[i], limit);
            h[i] = uh_within(up[i], limit) * (g * uh_sigmoid(g));
        }
        return;
    case UH_LATE_LIMITED_SWIGLU:
        for (int i = 0; i < UH_ROWS; i++)
            h[i] = uh_within(up[i], limit) * uh_at_most(gate[i] * uh_sigmoid(gate[i]), limit);
        return;
    default: /* UH_SOFTCAPPED_SWIGLU */
        for (int i = 0; i < UH_ROWS; i++)
            h[i] = uh_softcap(gate[i], limit) * uh_sigmoid(gate[i]) * uh_softcap(up[i], layout->up_limit);
        return;
    }
    if (gate)
        for (int i = 0; i < UH_ROWS; i++) h[i] *= up[i];
}

#endif
