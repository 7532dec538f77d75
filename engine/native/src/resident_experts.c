/* One token's experts of one layer: decide their precision, look them up in the cache, run them if all are resident. */
#include <math.h>

#include "hobbit.h"

/* wanted_planes [k]: how many planes each expert is wanted at by its unimportance, 0: it may be skipped. Returns 0 where a
 * weight is no number. */
static int decide_precision(const uh_resident_layer *layer, const float *weights, int32_t k, int32_t *wanted_planes) {
    int32_t order[UH_MOST_CHOSEN];
    double scores[UH_MOST_CHOSEN];
    for (int32_t i = 0; i < k; i++)
        if (isnan(weights[i])) return 0;
    uh_unimportance(weights, 1, k, order, scores);
    for (int32_t i = 0; i < k; i++)
        wanted_planes[i] = scores[i] > layer->t2 ? 0 : scores[i] > layer->t1 ? layer->low : layer->high;
    return 1;
}

int uh_missing_experts(const uh_resident_layer *layer, const int64_t *ids, int32_t k, const float *weights, int32_t *to_fetch) {
    const int exact = layer->t1 >= 1.0;
    int32_t wanted_planes[UH_MOST_CHOSEN];
    int missing = 0;
    if (k > UH_MOST_CHOSEN || (!exact && !decide_precision(layer, weights, k, wanted_planes))) return UH_NOT_DECIDED;
    for (int32_t i = 0; i < k; i++) {
        if (ids[i] < 0 || ids[i] >= layer->n) return UH_NOT_DECIDED;
        for (int32_t j = 0; j < i; j++)
            if (ids[j] == ids[i]) return UH_NOT_DECIDED;
    }
    for (int32_t i = 0; i < k; i++) {
        if (layer->taken && layer->taken[ids[i]]) {
            to_fetch[i] = UH_TAKEN;
            continue;
        }
        const uh_expert *expert = layer->experts + ids[i];
        int32_t wanted = exact ? layer->high : wanted_planes[i];
        if (expert->most && expert->most < wanted) wanted = expert->most; /* it was stored with fewer */
        to_fetch[i] = expert->planes < wanted ? wanted : expert->planes ? 0 : UH_SKIPPED;
        missing += expert->planes < wanted;
    }
    return missing;
}

/* Whether an expert of so many planes, 0: none, runs at less than its full precision. */
static int coarse(const uh_resident_layer *layer, const uh_expert *expert) {
    const int32_t full = expert->most && expert->most < layer->high ? expert->most : layer->high;
    return expert->planes && expert->planes < full;
}

/* Count a token's choice: uses, gate weights, skips and hits, but not yet at what precision they run. Returns the hits. */
static int32_t record_lookup(const uh_resident_layer *layer, const int64_t *ids, int32_t k, const float *weights,
                       const int32_t *to_fetch) {
    int32_t hits = 0;
    for (int32_t i = 0; i < k; i++) {
        double *note = layer->notes + 4 * ids[i];
        layer->uses[ids[i]]++;
        note[0] += note[1] = fabsf(weights[i]);
        note[3] += to_fetch[i] == UH_SKIPPED;
        layer->ran[0] += to_fetch[i] == UH_SKIPPED;
        hits += !to_fetch[i] || to_fetch[i] == UH_TAKEN;
    }
    *layer->hits += hits;
    return hits;
}

/* Count one resident expert by the precision that it runs at. */
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
    const int32_t hits = record_lookup(layer, ids, k, weights, to_fetch);
    if (layer->policy) uh_hobbit_visit(layer->policy, layer, ids, k, weights, to_fetch);
    if (layer->ranks && layer->t1 < 1.0) uh_ranks_learn(layer->ranks, weights, k, layer->t1, layer->t2);
    if (missing) return UH_NOT_RESIDENT;
    for (int32_t i = 0; i < k; i++)
        if (to_fetch[i] == UH_TAKEN) return UH_NOT_RESIDENT;
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
    return uh_moe_forward(context, layer->layout, asked, n, ranks, n, k, x, 1, out);
}

void uh_combine_some(uh_context *context, const float *weights, const int32_t *to_fetch, const float *out, float *y,
                     int32_t k, int32_t hidden) {
    float kept[UH_MOST_CHOSEN];
    for (int32_t i = 0; i < k; i++) kept[i] = to_fetch[i] == UH_SKIPPED ? 0.0f : weights[i];
    uh_combine(context, kept, out, y, 1, k, hidden);
}
