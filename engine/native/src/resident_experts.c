/* One token's experts by number, out of those in memory: who is asked for how precisely, counters, and the call. */
#include <math.h>

#include "hobbit.h"

/* The planes that each of k experts needs, 0: it may be skipped. 0: not to be decided here. */
static int needed_planes(const uh_resident_layer *layer, const float *weights, int32_t k, int32_t *to_fetch) {
    int32_t order[UH_MOST_CHOSEN];
    double scores[UH_MOST_CHOSEN];
    for (int32_t i = 0; i < k; i++)
        if (isnan(weights[i])) return 0;
    uh_unimportance(weights, 1, k, order, scores);
    for (int32_t i = 0; i < k; i++)
        to_fetch[i] = scores[i] > layer->t2 ? 0 : scores[i] > layer->t1 ? layer->low : layer->high;
    return 1;
}

int uh_missing_experts(const uh_resident_layer *layer, const int64_t *ids, int32_t k, const float *weights, int32_t *to_fetch) {
    const int exact = layer->t1 >= 1.0;
    int missing = 0;
    if (k > UH_MOST_CHOSEN || (!exact && !needed_planes(layer, weights, k, to_fetch))) return UH_NOT_DECIDED;
    for (int32_t i = 0; i < k; i++) {
        if (ids[i] < 0 || ids[i] >= layer->n) return UH_NOT_DECIDED;
        for (int32_t j = 0; j < i; j++)
            if (ids[j] == ids[i]) return UH_NOT_DECIDED;
    }
    for (int32_t i = 0; i < k; i++) {
        const int32_t asked = exact ? layer->high : to_fetch[i], most = layer->experts[ids[i]].most;
        const int32_t wanted = most && most < asked ? most : asked, there = layer->experts[ids[i]].planes;
        to_fetch[i] = there < wanted ? wanted : there ? 0 : UH_SKIPPED;
        missing += there < wanted;
    }
    return missing;
}

/* Whether an expert of so many planes, 0: none, runs at less than its full precision. */
static int coarse(const uh_resident_layer *layer, const uh_expert *expert) {
    const int32_t full = expert->most && expert->most < layer->high ? expert->most : layer->high;
    return expert->planes && expert->planes < full;
}

/* What a token's choice adds to the counters, but for what its experts run at; returns how many are there. */
static int32_t counted(const uh_resident_layer *layer, const int64_t *ids, int32_t k, const float *weights,
                       const int32_t *to_fetch) {
    int32_t hits = 0;
    for (int32_t i = 0; i < k; i++) {
        double *note = layer->notes + 4 * ids[i];
        layer->uses[ids[i]]++;
        note[0] += note[1] = fabsf(weights[i]);
        note[3] += to_fetch[i] == UH_SKIPPED;
        layer->ran[0] += to_fetch[i] == UH_SKIPPED;
        hits += !to_fetch[i];
    }
    *layer->hits += hits;
    return hits;
}

/* What one expert, which is there, adds to them. */
static void count_run(const uh_resident_layer *layer, int64_t id) {
    layer->ran[layer->tiers[layer->experts[id].planes]]++;
    layer->notes[4 * id + 2] += coarse(layer, layer->experts + id);
}

int uh_moe_if_resident(uh_context *context, const uh_resident_layer *layer, const int64_t *ids, int32_t k, const float *x,
                    const float *weights, float *y, int32_t *to_fetch) {
    uh_expert asked[UH_MOST_CHOSEN];
    int32_t at = 0;
    const int missing = uh_missing_experts(layer, ids, k, weights, to_fetch);
    if (missing < 0) return missing;
    const int32_t hits = counted(layer, ids, k, weights, to_fetch);
    if (layer->policy) uh_hobbit_visit(layer->policy, layer, ids, k, weights, to_fetch);
    if (layer->ranks && layer->t1 < 1.0) uh_ranks_learn(layer->ranks, weights, k, layer->t1, layer->t2);
    if (missing) return UH_NOT_RESIDENT;
    for (int32_t i = 0; i < k; i++) {
        if (to_fetch[i] == UH_SKIPPED) continue;
        count_run(layer, ids[i]);
        asked[at] = layer->experts[ids[i]];
        asked[at++].first = i;
    }
    return uh_moe_one(context, layer->layout, asked, hits, x, weights, y) ? -1 : hits;
}

int uh_moe_some(uh_context *context, const uh_resident_layer *layer, const int64_t *ids, const int32_t *ranks, int32_t n,
                int32_t k, const float *x, float *out) {
    uh_expert asked[UH_MOST_CHOSEN];
    if (n > UH_MOST_CHOSEN) return UH_NOT_DECIDED;
    for (int32_t i = 0; i < n; i++) {
        asked[i] = layer->experts[ids[ranks[i]]];
        asked[i].first = i;
        asked[i].count = 1;
        if (!asked[i].planes) return UH_NOT_RESIDENT;
    }
    for (int32_t i = 0; i < n; i++) count_run(layer, ids[ranks[i]]);
    return uh_run(context, layer->layout, asked, n, ranks, n, k, x, 1, out);
}

void uh_combine_some(uh_context *context, const float *weights, const int32_t *to_fetch, const float *out, float *y,
                     int32_t k, int32_t hidden) {
    float kept[UH_MOST_CHOSEN];
    for (int32_t i = 0; i < k; i++) kept[i] = to_fetch[i] == UH_SKIPPED ? 0.0f : weights[i];
    uh_combine(context, kept, out, y, 1, k, hidden);
}
