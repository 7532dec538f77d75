/* How much each of a token's experts matters, and what a dial therefore asks of them by their rank. */
#include <float.h>
#include <math.h>

#include "underhill_kernels.h"

#define SMOOTHING 0.05 /* weight of the last token */

/* The share is taken as (sum - size) / total and not as the sum before: one order of operations for all who ask, so that a score that
 * falls exactly on a threshold is decided alike in prompts, in decoding and in replays. */
void uh_unimportance(const float *weights, int32_t tokens, int32_t k, int32_t *order, double *scores) {
    for (int32_t t = 0; t < tokens; t++, weights += k, scores += k) {
        double sum = 0.0, total = 0.0;
        for (int32_t i = 0; i < k; i++) {
            int32_t at = i; /* insertion: k is small, and equals stay in their order */
            for (; at > 0 && fabsf(weights[order[at - 1]]) < fabsf(weights[i]); at--) order[at] = order[at - 1];
            order[at] = i;
        }
        for (int32_t i = 0; i < k; i++) total += fabs((double)weights[order[i]]);
        if (total < DBL_MIN) total = DBL_MIN; /* all of them 0: each scores 0 */
        for (int32_t i = 0; i < k; i++) {
            const double size = fabs((double)weights[order[i]]);
            sum += size;
            const double share = (sum - size) / total;
            scores[order[i]] = share > 1.0 ? 1.0 : share; /* not a number stays so, and is above no threshold */
        }
    }
}

void uh_ranks_learn(uh_ranks *ranks, const float *weights, int32_t k, double t1, double t2) {
    double scores[UH_MOST_CHOSEN];
    int32_t order[UH_MOST_CHOSEN];
    if (k > UH_MOST_CHOSEN) return;
    uh_unimportance(weights, 1, k, order, scores);
    for (int32_t i = 0; i < k; i++) {
        const double score = scores[order[i]], high = score <= t1, wanted = score <= t2;
        double *share = ranks->share[i];
        if (ranks->n == k) {
            share[0] += SMOOTHING * (high - share[0]);
            share[1] += SMOOTHING * (wanted - share[1]);
        } else {
            share[0] = high;
            share[1] = wanted;
        }
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
