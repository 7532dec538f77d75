/* In which order experts leave a cache, for policies that give each of them a number, and who is expected where. */
#include <math.h>

#include "underhill_kernels.h"

int32_t uh_first_out(const double *priority, int32_t n, int32_t most, int32_t *found) {
    int32_t count = 0;
    double bound = INFINITY; /* nobody from here on is among them */
    for (int32_t i = 0; i < n; i++) {
        const double own = priority[i];
        if (!(own < bound)) continue;
        int32_t at = count < most ? count++ : count - 1;
        for (; at > 0 && priority[found[at - 1]] > own; at--) found[at] = found[at - 1];
        found[at] = i;
        if (count == most) bound = priority[found[most - 1]];
    }
    return count;
}

int32_t uh_order(const double *scores, const double *ticks, const double *bars, const double *near, double token,
                 int32_t rows, int32_t experts, double *priority, int32_t most, int32_t *found) {
    for (int32_t row = 0; row < rows; row++) {
        const double own = near[row] * token;
        const int64_t first = (int64_t)row * experts;
        for (int64_t at = first; at < first + experts; at++) priority[at] = scores[at] + ticks[at] + own + bars[at];
    }
    return uh_first_out(priority, rows * experts, most, found);
}

/* The `most` greatest scores, the greatest first. */
static int32_t greatest(const float *scores, int32_t n, int32_t most, int32_t *found) {
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (count == most && scores[i] <= scores[found[count - 1]]) continue;
        int32_t at = count < most ? count++ : count - 1;
        for (; at > 0 && scores[found[at - 1]] < scores[i]; at--) found[at] = found[at - 1];
        found[at] = i;
    }
    return count;
}

int32_t uh_predict_topk(const uh_resident_layer *layer, const float *scores, const int32_t *asked, int32_t width, int32_t most,
                   int32_t *expected, int32_t *to_fetch) {
    const int32_t count = greatest(scores, layer->n, most, expected);
    for (int32_t rank = 0; rank < width && rank < count; rank++) {
        const uh_expert *expert = layer->experts + expected[rank];
        const int32_t wanted = expert->most && expert->most < asked[rank] ? expert->most : asked[rank];
        const int32_t there = layer->card && layer->card[expected[rank]] > expert->planes ? layer->card[expected[rank]] : expert->planes;
        to_fetch[rank] = there < wanted ? wanted : 0;
    }
    return count;
}
