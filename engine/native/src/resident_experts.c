/* A few tokens' experts of one layer: decide their precision, look them up in the cache, run them if all are resident. */
#include <math.h>
#include <stdlib.h>

#include "context.h"
#include "hobbit.h"
#include "op_graph.h"
#include "substitute.h"
#include "threads.h"

/* An expert and a slot that chose it, in the order of the experts. */
static int64_t pair_of(int64_t expert, int32_t slot) { return expert * UH_MOST_ASKED + slot; }

static int by_expert(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the different experts and the slots of each. One token's stay in its order, in which they are wanted; those of
 * several are in the order in which they lie on disk. 0: a token names one twice, or one that there is not. */
static int list_experts(const uh_resident_layer *layer, uh_step_args *a) {
    int64_t pairs[UH_MOST_ASKED];
    const int32_t slots = a->tokens * a->k;
    for (int32_t i = 0; i < slots; i++) {
        if (a->ids[i] < 0 || a->ids[i] >= layer->n) return 0;
        pairs[i] = pair_of(a->ids[i], i);
    }
    if (a->tokens > 1) qsort(pairs, (size_t)slots, sizeof *pairs, by_expert);
    a->n = 0;
    for (int32_t i = 0; i < slots; i++) {
        const int64_t expert = pairs[i] / UH_MOST_ASKED;
        const int32_t slot = (int32_t)(pairs[i] % UH_MOST_ASKED);
        const int same = a->tokens > 1 && i && a->experts[a->n - 1] == expert;
        if (same && a->slots[i - 1] / a->k == slot / a->k) return 0;
        for (int32_t j = 0; a->tokens == 1 && j < i; j++)
            if (a->experts[j] == expert) return 0;
        if (!same) {
            a->offsets[a->n] = i;
            a->experts[a->n++] = expert;
        }
        a->slots[i] = slot;
    }
    a->offsets[a->n] = slots;
    return 1;
}

/* wanted [a->n]: how many planes each expert is wanted at by its unimportance to the token to which it matters most, 0: it
 * may be skipped. Returns 0 where a weight is no number. */
static int decide_precision(const uh_resident_layer *layer, const uh_step_args *a, int32_t *wanted) {
    int32_t order[UH_MOST_CHOSEN];
    double scores[UH_MOST_ASKED];
    for (int32_t i = 0; i < a->tokens * a->k; i++)
        if (isnan(a->weights[i])) return 0;
    uh_unimportance(a->weights, a->tokens, a->k, order, scores);
    for (int32_t i = 0; i < a->n; i++) {
        double least = scores[a->slots[a->offsets[i]]];
        for (int32_t s = a->offsets[i] + 1; s < a->offsets[i + 1]; s++)
            least = scores[a->slots[s]] < least ? scores[a->slots[s]] : least;
        a->high[i] = least <= layer->t1;
        wanted[i] = least > layer->t2 ? 0 : least > layer->t1 ? layer->low : layer->high;
    }
    return 1;
}

/* Whether others may stand in for what is missing. */
static int substitutes(const uh_resident_layer *layer, const uh_step_args *a) {
    return layer->t1 < 1.0 && layer->substitute > 0.0 && a->route;
}

int uh_look_up(const uh_resident_layer *layer, uh_step_args *a) {
    const int exact = layer->t1 >= 1.0;
    int32_t decided[UH_MOST_ASKED];
    int missing = 0;
    if (a->k > UH_MOST_CHOSEN || a->tokens > UH_MOST_ROWS) return UH_NOT_DECIDED;
    if (substitutes(layer, a)) uh_substitute(layer, a);
    if (!list_experts(layer, a)) return UH_NOT_DECIDED;
    if (!exact && !decide_precision(layer, a, decided)) return UH_NOT_DECIDED;
    for (int32_t i = 0; i < a->n; i++) {
        const uh_expert *expert = layer->experts + a->experts[i];
        if (exact) a->high[i] = 1;
        if (layer->taken && layer->taken[a->experts[i]]) {
            a->to_fetch[i] = UH_TAKEN;
            continue;
        }
        const int32_t asked = exact ? layer->high : decided[i], most = expert->most;
        const int32_t wanted = most && most < asked ? most : asked, there = expert->planes;
        a->to_fetch[i] = there < wanted ? wanted : there ? 0 : UH_SKIPPED;
        missing += there < wanted;
    }
    return missing;
}

/* Whether an expert of so many planes, 0: none, runs at less than its full precision. */
static int coarse(const uh_resident_layer *layer, const uh_expert *expert) {
    const int32_t full = expert->most && expert->most < layer->high ? expert->most : layer->high;
    return expert->planes && expert->planes < full;
}

/* Count the tokens' choices: uses, gate weights, skips and hits, but not yet at what precision they run. Returns the hits. */
static int32_t record_lookup(const uh_resident_layer *layer, const uh_step_args *a) {
    int32_t hits = 0;
    for (int32_t i = 0; i < a->n; i++) {
        double *note = layer->notes + 4 * a->experts[i];
        const int32_t times = a->offsets[i + 1] - a->offsets[i];
        for (int32_t s = a->offsets[i]; s < a->offsets[i + 1]; s++) note[0] += note[1] = fabsf(a->weights[a->slots[s]]);
        layer->uses[a->experts[i]] += times;
        if (a->to_fetch[i] == UH_SKIPPED) {
            note[3] += times;
            layer->ran[0] += times;
        }
        hits += !a->to_fetch[i] || a->to_fetch[i] == UH_TAKEN;
    }
    *layer->hits += hits;
    return hits;
}

/* Count one resident expert in so many slots by the precision that it runs at. */
static void count_run(const uh_resident_layer *layer, int64_t id, int32_t times) {
    layer->ran[layer->tiers[layer->experts[id].planes]] += times;
    if (coarse(layer, layer->experts + id)) layer->notes[4 * id + 2] += times;
}

/* out[slot] = expert(x[slot / k]) for the slots of n experts of the step, numbers into its list. 0: done; -1: no memory. */
static int run_some(uh_context *context, const uh_resident_layer *layer, const uh_step_args *a, const int32_t *indices,
                    int32_t n, float *out) {
    if (!uh_ensure(&context->asked, UH_MOST_ASKED * (sizeof(uh_expert) + sizeof(int32_t)))) return -1;
    uh_expert *asked = context->asked.data;
    int32_t *slots = (int32_t *)(asked + UH_MOST_ASKED), at = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t index = indices[i];
        asked[i] = layer->experts[a->experts[index]];
        asked[i].first_slot = at;
        asked[i].count = a->offsets[index + 1] - a->offsets[index];
        for (int32_t s = a->offsets[index]; s < a->offsets[index + 1]; s++) slots[at++] = a->slots[s];
        count_run(layer, a->experts[index], asked[i].count);
    }
    return uh_moe_forward(context, layer->layout, asked, n, slots, at, a->k, a->x, a->tokens, out);
}

/* One token's experts, `hits` of which are there, and their sum. */
static int run_token(uh_context *context, const uh_resident_layer *layer, const uh_step_args *a, int32_t hits) {
    uh_expert asked[UH_MOST_CHOSEN];
    int32_t at = 0;
    for (int32_t i = 0; i < a->n; i++) {
        if (a->to_fetch[i] == UH_SKIPPED) continue;
        count_run(layer, a->experts[i], 1);
        asked[at] = layer->experts[a->experts[i]];
        asked[at++].first_slot = i;
    }
    return uh_moe_one(context, layer->layout, asked, hits, a->x, a->weights, a->y);
}

/* The same for several tokens. */
static int run_tokens(uh_context *context, const uh_resident_layer *layer, const uh_step_args *a) {
    int32_t indices[UH_MOST_ASKED], n = 0;
    const size_t numbers = (size_t)a->tokens * (size_t)a->k * (size_t)layer->layout->hidden;
    for (int32_t i = 0; i < a->n; i++)
        if (a->to_fetch[i] != UH_SKIPPED) indices[n++] = i;
    if (!uh_ensure(&context->out, numbers * sizeof(float))) return -1;
    float *out = context->out.data;
    if (run_some(context, layer, a, indices, n, out)) return -1;
    uh_combine_some(context, a, out, layer->layout->hidden);
    return 0;
}

/* Whether one of the step's experts is a card's. */
static int some_taken(const uh_step_args *a) {
    for (int32_t i = 0; i < a->n; i++)
        if (a->to_fetch[i] == UH_TAKEN) return 1;
    return 0;
}

/* Count a listed step, and tell whoever learns from it. Returns the hits. */
static int32_t note_step(const uh_resident_layer *layer, const uh_step_args *a) {
    const int32_t hits = record_lookup(layer, a);
    if (substitutes(layer, a)) uh_note_substitutes(layer, a);
    if (layer->policy) uh_hobbit_visit(layer->policy, layer, a);
    for (int32_t t = 0; layer->ranks && layer->t1 < 1.0 && t < a->tokens; t++)
        uh_ranks_learn(layer->ranks, a->weights + t * a->k, a->k, layer->t1, layer->t2);
    return hits;
}

/* A listed step, all of whose experts are there. Returns the hits; -1: no memory. */
static int run_resident(uh_context *context, const uh_resident_layer *layer, const uh_step_args *a, int32_t hits) {
    const int failed = a->tokens == 1 ? run_token(context, layer, a, hits) : run_tokens(context, layer, a);
    return failed ? -1 : hits;
}

int uh_moe_if_resident(uh_context *context, const uh_resident_layer *layer, uh_step_args *a) {
    const int missing = uh_look_up(layer, a);
    if (missing < 0) return missing;
    const int32_t hits = note_step(layer, a);
    return missing || some_taken(a) ? UH_NOT_RESIDENT : run_resident(context, layer, a, hits);
}

int32_t uh_run_layers(uh_context *context, const uh_graph_layer *layers, int32_t first, int32_t n, const uh_step *step,
                      uh_step_args *asked, int64_t patience) {
    const int64_t end = uh_nanoseconds() + patience;
    for (int32_t at = first;; at++) {
        const uh_graph_layer *own = layers + at;
        if (uh_run_graph(context, own->ops, own->n_ops, step)) return -1;
        if (at == n - 1 || (own->k && !own->experts) || uh_nanoseconds() > end) return at;
        if (!own->k) continue;
        asked->ids = own->ids;
        asked->weights = own->weights;
        asked->x = own->x;
        asked->y = own->y;
        asked->tokens = step->end;
        asked->k = own->k;
        asked->route = own->route;
        if (uh_look_up(own->experts, asked) || some_taken(asked)) return at;
        if (run_resident(context, own->experts, asked, note_step(own->experts, asked)) < 0) return -1;
    }
}

int uh_moe_some(uh_context *context, const uh_resident_layer *layer, const uh_step_args *a, const int32_t *indices, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (!layer->experts[a->experts[indices[i]]].planes) return UH_NOT_RESIDENT;
    return run_some(context, layer, a, indices, n, a->out);
}

void uh_combine_some(uh_context *context, const uh_step_args *a, const float *out, int32_t hidden) {
    float kept[UH_MOST_ASKED];
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t s = a->offsets[i]; s < a->offsets[i + 1]; s++)
            kept[a->slots[s]] = a->to_fetch[i] == UH_SKIPPED ? 0.0f : a->weights[a->slots[s]];
    uh_combine(context, kept, out, a->y, a->tokens, a->k, hidden);
}
