#include "oracle.h"

#include <math.h>
#include <stddef.h>

void product(const double *w, const float *bias, int rows, int cols, const double *x, double *y) {
    for (int r = 0; r < rows; r++) {
        double sum = bias ? bias[r] : 0.0;
        for (int c = 0; c < cols; c++) sum += w[(size_t)r * (size_t)cols + (size_t)c] * x[c];
        y[r] = sum;
    }
}

void in_8_bits(double *x, int cols, int group) {
    for (int first = 0; first < cols; first += group) {
        const int end = first + group < cols ? first + group : cols;
        double peak = 0.0;
        for (int c = first; c < end; c++) peak = isfinite(x[c]) && isfinite(peak) ? fmax(peak, fabs(x[c])) : NAN;
        for (int c = first; c < end; c++) x[c] = peak == 0.0 ? 0.0 : peak / 127 * rint(x[c] * 127 / peak);
    }
}

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static double at_most(double x, double limit) { return x > limit ? limit : x; }

static double within(double x, double limit) { return at_most(x < -limit ? -limit : x, limit); }

double activated(const uh_layout *layout, double gate, double up) {
    const double a = layout->has_gate ? gate : up, limit = layout->limit, up_limit = layout->up_limit;
    double h;
    switch (layout->activation) {
    case UH_SILU: h = a * sigmoid(a); break;
    case UH_GELU: h = a * 0.5 * erfc(-a / sqrt(2.0)); break;
    case UH_GELU_TANH: h = 0.5 * a * (1.0 + tanh(sqrt(8.0 / acos(-1.0)) / 2 * (a + 0.044715 * a * a * a))); break;
    case UH_RELU: h = a < 0 ? 0 : a; break;
    case UH_RELU2: h = a < 0 ? 0 : a * a; break;
    case UH_CLAMPED_SWIGLU:
        return (within(up, limit) + 1.0) * at_most(gate, limit) * sigmoid(layout->alpha * at_most(gate, limit));
    case UH_LIMITED_SWIGLU: return within(up, limit) * at_most(gate, limit) * sigmoid(at_most(gate, limit));
    default: return limit * tanh(gate / limit) * sigmoid(gate) * up_limit * tanh(up / up_limit);
    }
    return layout->has_gate ? h * up : h;
}
