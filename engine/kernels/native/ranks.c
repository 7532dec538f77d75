/* What a dial asks of a token's experts by their rank: the twin of engine/experts/ranks.py, in the same order of operations. */
#include <math.h>

#include "underhill_kernels.h"

#define SMOOTHING 0.05 /* weight of the last token */

void uh_ranks_learn(uh_ranks *ranks, const float *weights, int32_t k, double t1, double t2) {
    double sizes[UH_RANKS], before = 0.0, total = 0.0;
    if (k > UH_RANKS) return;
    for (int32_t i = 0; i < k; i++) {
        const double size = fabs((double)weights[i]);
        int32_t at = i;
        for (; at > 0 && sizes[at - 1] < size; at--) sizes[at] = sizes[at - 1];
        sizes[at] = size;
    }
    for (int32_t i = 0; i < k; i++) total += sizes[i];
    if (!(total > 0.0)) total = 1.0;
    for (int32_t i = 0; i < k; i++) {
        const double score = before / total, high = score <= t1, wanted = score <= t2;
        double *share = ranks->share[i];
        if (ranks->n == k) {
            share[0] += SMOOTHING * (high - share[0]);
            share[1] += SMOOTHING * (wanted - share[1]);
        } else {
            share[0] = high;
            share[1] = wanted;
        }
        before += sizes[i];
    }
    ranks->n = k;
}

void uh_ranks_ask(const uh_ranks *ranks, int32_t most, int32_t high, int32_t low, int32_t *planes) {
    int32_t last = low; /* of ranks never seen: as of the last one */
    for (int32_t i = 0; i < most; i++) {
        if (i < ranks->n) last = ranks->share[i][0] >= 0.5 ? high : ranks->share[i][1] >= 0.5 ? low : 0;
        planes[i] = i ? last : high;
    }
}
