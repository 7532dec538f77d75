#include "substitute.h"

#include <math.h>
#include <string.h>

#include "op_graph.h"

/* An expert that others stood in for at so much of a token's gate weight, in all, is read the next time: no expert that is
 * asked for again and again stays out, and what is in memory follows the text. */
#define MOST_DENIED 1.0

/* One token of a step, and what its router left. chosen: the router's own, best first. choice: by which it chose, by
 * expert; infinitely low for the chosen. scores: by which it weighs. */
typedef struct {
    const uh_resident_layer *layer;
    const uh_op *route;
    const int64_t *chosen;
    const float *choice, *scores;
    int64_t *ids;
    int32_t token, k;
} routed_token;

static routed_token token_of(const uh_resident_layer *layer, const uh_step_args *a, int32_t token) {
    return (routed_token){
        layer, a->route, uh_row_address(a->route, UH_ROUTE_CHOSEN, token), uh_row_address(a->route, UH_ROUTE_ROOM, token),
        uh_row_address(a->route, UH_ROUTE_LOGITS, token), uh_row_address(a->route, UH_ROUTE_IDS, token), token, a->k,
    };
}

/* Planes that an expert of this unimportance should run with, as far as it has them; what may be skipped runs with any. */
static int32_t planes_for(const uh_resident_layer *layer, int64_t expert, double unimportance) {
    const int32_t most = layer->experts[expert].most;
    const int32_t asked = unimportance <= layer->t1 ? layer->high : unimportance <= layer->t2 ? layer->low : 1;
    return most && most < asked ? most : asked;
}

static int is_there(const uh_resident_layer *layer, int64_t expert, double unimportance) {
    if (layer->taken && layer->taken[expert]) return 1;
    return layer->experts[expert].planes >= planes_for(layer, expert, unimportance);
}

/* Whether the router gives `other` at least the layer's share of what it gives the expert. */
static int is_near(const routed_token *t, int64_t expert, int64_t other) {
    const double least = t->layer->substitute, own = t->scores[expert], its = t->scores[other];
    if (t->route->n[UH_ROUTE_SCORE] == UH_SCORE_TOPK_SOFTMAX) return its - own >= log(least);
    return its >= least * own;
}

static int is_used(const routed_token *t, int64_t expert) {
    for (int32_t i = 0; i < t->k; i++)
        if (t->ids[i] == expert) return 1;
    return 0;
}

/* The best of those in memory that are near enough; -1: there is none. Experts outside the router's groups are no choice. */
static int64_t substitute_for(const routed_token *t, int64_t expert, double unimportance) {
    const int grouped = t->route->n[UH_ROUTE_GROUPS] > 1;
    int64_t found = -1;
    float best = -INFINITY;
    for (int32_t other = 0; other < t->layer->n; other++) {
        if (!(t->choice[other] > best) || !t->layer->experts[other].planes) continue;
        if (grouped && t->choice[other] == t->route->f[UH_ROUTE_MASKED_SCORE]) continue;
        if (!is_there(t->layer, other, unimportance) || !is_near(t, expert, other) || is_used(t, other)) continue;
        best = t->choice[other];
        found = other;
    }
    return found;
}

static void substitute_token(const routed_token *t, const float *weights) {
    int32_t order[UH_MOST_CHOSEN], changed = 0;
    double unimportance[UH_MOST_CHOSEN];
    if (memcmp(t->ids, t->chosen, (size_t)t->k * sizeof *t->ids)) { /* of a look before */
        memcpy(t->ids, t->chosen, (size_t)t->k * sizeof *t->ids);
        uh_reweigh(t->route, t->token);
    }
    if (isnan(t->choice[0])) return; /* a card's routing left no scores here */
    for (int32_t i = 0; i < t->k; i++)
        if (isnan(weights[i]) || t->ids[i] < 0 || t->ids[i] >= t->layer->n) return;
    uh_unimportance(weights, 1, t->k, order, unimportance);
    for (int32_t rank = 1; rank < t->k; rank++) {
        const int32_t slot = order[rank];
        const int64_t expert = t->ids[slot];
        if (is_there(t->layer, expert, unimportance[slot]) || t->layer->denied[expert] >= MOST_DENIED) continue;
        const int64_t other = substitute_for(t, expert, unimportance[slot]);
        if (other < 0) continue;
        t->ids[slot] = other;
        changed = 1;
    }
    if (changed) uh_reweigh(t->route, t->token);
}

void uh_substitute(const uh_resident_layer *layer, const uh_step_args *a) {
    for (int32_t token = 0; token < a->tokens; token++) {
        const routed_token t = token_of(layer, a, token);
        substitute_token(&t, a->weights + token * a->k);
    }
}

void uh_note_substitutes(const uh_resident_layer *layer, const uh_step_args *a) {
    for (int32_t i = 0; i < a->n; i++)
        if (a->to_fetch[i] != UH_SKIPPED) layer->denied[a->experts[i]] = 0.0;
    for (int32_t token = 0; token < a->tokens; token++) {
        const routed_token t = token_of(layer, a, token);
        const float *weights = a->weights + token * a->k;
        double total = 0.0;
        for (int32_t i = 0; i < t.k; i++) total += fabsf(weights[i]);
        for (int32_t i = 0; i < t.k; i++) {
            if (t.ids[i] == t.chosen[i]) continue;
            layer->denied[t.chosen[i]] += total > 0.0 ? fabsf(weights[i]) / total : 0.0;
            ++*layer->substituted;
        }
    }
}
