/* What stands between up and down, for one value; the functions are those of the processor's activation.h. */
#ifndef UH_ACTIVATION_CUH
#define UH_ACTIVATION_CUH

#include "matrix.cuh"

#define UH_TARGET __device__
#include "activation.h"

/* The arithmetic of uh_activate16 of activation.h. gate is up's where the experts have none. */
UH_DEVICE float uh_activated(const uh_layout &layout, float gate, float up) {
    const float a = gate, limit = layout.limit;
    float h;
    switch (layout.activation) {
    case UH_SILU: h = a * uh_sigmoid(a); break;
    case UH_GELU: h = 0.5f * a * erfcf(a * -0.70710678f); break;
    case UH_GELU_TANH: h = a * uh_sigmoid(1.59576912f * (a + 0.044715f * a * a * a)); break;
    case UH_RELU: h = a < 0.0f ? 0.0f : a; break;
    case UH_RELU2: h = a < 0.0f ? 0.0f : a * a; break;
    case UH_CLAMPED_SWIGLU: {
        const float g = uh_at_most(gate, limit);
        return (uh_within(up, limit) + 1.0f) * (g * uh_sigmoid(layout.alpha * g));
    }
    case UH_LIMITED_SWIGLU: {
        const float g = uh_at_most(gate, limit);
        return uh_within(up, limit) * (g * uh_sigmoid(g));
    }
    case UH_LATE_LIMITED_SWIGLU: return uh_within(up, limit) * uh_at_most(gate * uh_sigmoid(gate), limit);
    default: return uh_softcap(gate, limit) * uh_sigmoid(gate) * uh_softcap(up, layout.up_limit);
    }
    return layout.has_gate ? h * up : h;
}

#endif
