/* uh_moe_forward: some experts of a layer on some slots; uh_moe_one: the same for one token, added up; uh_moe_if_resident: by number. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "op_graph.h"
#include "record.h"
#include "selftest.h"

enum { EXPERTS = 5, MOST_SLOTS = 128, UNTOUCHED = 0x5a };

/* A call: which expert runs which slots, and with how many planes. */
typedef struct {
    const expert_recipe *how;
    uh_layout layout;
    record records[EXPERTS];
    uh_expert experts[EXPERTS];
    int32_t slots[MOST_SLOTS];
    int n_experts, n_slots, tokens, k;
    float *x, *out; /* exactly [tokens, hidden] and [tokens * k, hidden] */
} call;

static size_t out_bytes(const call *c) { return (size_t)(c->tokens * c->k * c->how->hidden) * 4; }

/* Slots are dealt out at random; about one in eight is left to nobody. */
static void make_call(call *c, const expert_recipe *how, int tokens, int k, size_t shift) {
    *c = (call){.how = how, .layout = layout_of(how), .tokens = tokens, .k = k};
    const int most = how->top >= 16 ? 1 : how->top == 8 ? 3 : 2;
    int owner[MOST_SLOTS];
    for (int slot = 0; slot < tokens * k; slot++) owner[slot] = between(0, 7) ? between(0, EXPERTS - 1) : -1;
    owner[0] = 0;
    for (int e = 0; e < EXPERTS; e++) {
        const int first = c->n_slots;
        for (int slot = 0; slot < tokens * k; slot++)
            if (owner[slot] == e) c->slots[c->n_slots++] = slot;
        if (c->n_slots == first) continue;
        c->records[c->n_experts] = make_record(how, &c->layout, shift);
        uh_expert expert = expert_of(&c->records[c->n_experts], 1 + (e + tokens) % most);
        expert.first_slot = first;
        expert.count = c->n_slots - first;
        c->experts[c->n_experts++] = expert;
    }
    c->x = floats((size_t)(tokens * how->hidden));
    c->out = exactly(out_bytes(c), 0);
    for (int i = 0; i < tokens * how->hidden; i++) c->x[i] = (float)normal();
}

static void run(call *c, uh_context *context, float *out) {
    int32_t *slots = exactly((size_t)c->n_slots * 4, 4); /* as long as they say, no longer */
    memcpy(slots, c->slots, (size_t)c->n_slots * 4);
    memset(out, UNTOUCHED, out_bytes(c));
    const int failed = uh_moe_forward(context, &c->layout, c->experts, c->n_experts, slots, c->n_slots, c->k, c->x, c->tokens, out);
    check(!failed, "no memory");
}

static void describe(const call *c, char *text, size_t n) {
    const expert_recipe *h = c->how;
    snprintf(text, n, "H %d I %d group %d top %d%s%s activation %d, T %d k %d", h->hidden, h->intermediate, h->group, h->top,
             h->has_gate ? "" : ", no gate", h->has_bias ? ", biases" : "", h->activation, c->tokens, c->k);
}

static void compare(const variant *which, const call *c) {
    const int hidden = c->how->hidden, raw = c->how->top >= 16;
    const size_t n = (size_t)(c->n_slots * hidden);
    char text[120];
    describe(c, text, sizeof text);
    double *exact = exactly(n * 8, 0), *rounded = exactly(n * 8, 0);
    float *ours = exactly(n * 4, 0);
    uint8_t *touched = exactly((size_t)(c->tokens * c->k), 0);
    for (int e = 0; e < c->n_experts; e++) {
        const uh_expert *expert = &c->experts[e];
        for (int i = expert->first_slot; i < expert->first_slot + expert->count; i++) {
            const float *x = c->x + c->slots[i] / c->k * hidden;
            const int planes = raw ? c->how->top : expert->planes;
            expert_product(&c->records[e], &c->layout, planes, 0, x, exact + i * hidden);
            expert_product(&c->records[e], &c->layout, planes, !raw, x, rounded + i * hidden);
            memcpy(ours + i * hidden, c->out + c->slots[i] * hidden, (size_t)hidden * 4);
            touched[c->slots[i]] = 1;
        }
    }
    if (which->exact) {
        const double error = error_of(ours, exact, n);
        check(error <= 1e-5, "%s: error %.2e", text, error);
    } else {
        /* Of h, which is 1e-7 off, an occasional value falls to the next whole number. */
        const double error = error_of(ours, rounded, n), whole = error_of(ours, exact, n);
        check(error <= 5e-3, "%s: %.2e from x and h in 8 bits", text, error);
        /* What 8 bits themselves cost: of few numbers, or sums of few, it may be more. H 45, I 8 drew 0.036. */
        check(whole <= 0.03 || n < 256 || c->how->intermediate < 32, "%s: %.2e from float64", text, whole);
    }
    for (int slot = 0; slot < c->tokens * c->k; slot++) {
        int changed = 0;
        for (int i = 0; i < 4 * hidden; i++) changed |= ((uint8_t *)(c->out + slot * hidden))[i] != UNTOUCHED;
        check(touched[slot] == changed, "%s: slot %d is %s", text, slot, changed ? "nobody's, and written to" : "not written");
    }
}

/* The same bits with other numbers of threads, in another order, and a slot at a time. */
static void promises(const variant *which, call *c) {
    float *again = exactly(out_bytes(c), 0);
    char text[120];
    describe(c, text, sizeof text);
    for (int threads = 2; threads <= 3; threads++) {
        uh_context *context = opened(threads, which);
        run(c, context, again);
        check(!memcmp(c->out, again, out_bytes(c)), "%s: %d threads give other bits than one", text, threads);
        uh_close(context);
    }
    call turned = *c;
    for (int e = 0; e < c->n_experts; e++) turned.experts[e] = c->experts[c->n_experts - 1 - e];
    uh_context *context = opened(1, which);
    run(&turned, context, again);
    check(!memcmp(c->out, again, out_bytes(c)), "%s: another order of the experts gives other bits", text);
    memset(again, UNTOUCHED, out_bytes(c));
    for (int e = 0; e < c->n_experts; e++) {
        for (int i = 0; i < c->experts[e].count; i++) {
            uh_expert alone = c->experts[e];
            alone.count = 1;
            alone.first_slot = 0;
            uh_moe_forward(context, &c->layout, &alone, 1, &c->slots[c->experts[e].first_slot + i], 1, c->k, c->x, c->tokens, again);
        }
    }
    check(!memcmp(c->out, again, out_bytes(c)), "%s: a slot alone gives other bits", text);
    uh_close(context);
}

static void one_call(const variant *which, const expert_recipe *how, int tokens, int k, size_t shift) {
    call c;
    make_call(&c, how, tokens, k, shift);
    uh_context *context = opened(1, which);
    run(&c, context, c.out);
    uh_close(context);
    compare(which, &c);
    promises(which, &c);
    release_all();
}

static void calls(const variant *which) {
    static const int TOPS[4] = {8, 4, 16, 32}, GROUPS[6] = {64, 32, 128, 16, 48, 256};
    char name[64];
    snprintf(name, sizeof name, "experts: %s", which->name);
    group(name);
    reseed(5);
    for (int i = 0; i < 32; i++) {
        const int activation = i % 8, swiglu = activation >= UH_CLAMPED_SWIGLU;
        const int hidden = between(1, 150), intermediate = between(1, 100), size = GROUPS[between(0, 5)], k = between(1, 4);
        const expert_recipe how = {.hidden = hidden,
                                   .intermediate = intermediate,
                                   .group = size,
                                   .top = TOPS[(i / 8 + i) % 4],
                                   .has_gate = swiglu || i % 5,
                                   .has_bias = i % 3 == 0,
                                   .activation = activation};
        one_call(which, &how, 1 + i % 7, k, how.has_bias || how.top >= 16 ? 0 : (size_t)between(0, 63));
    }
    const expert_recipe many = {96, 80, 32, 8, 1, 0, UH_SILU}, wide = {512, 384, 64, 8, 1, 0, UH_SILU};
    one_call(which, &many, 40, 2, 0); /* more tokens than pass over a unit at once */
    one_call(which, &wide, 2, 3, 0);  /* more than one thread's worth */
}

/* One token: its experts, weighted and added, one of them with weight 0 and not even there. */
static void one_token(const variant *which) {
    char name[64];
    snprintf(name, sizeof name, "one token's experts: %s", which->name);
    group(name);
    reseed(6);
    for (int i = 0; i < 16; i++) {
        const int top = 4 << i % 4, threads = 1 + i % 3;
        const int hidden = i == 15 ? 512 : between(1, 200), intermediate = i == 15 ? 256 : between(1, 150);
        const expert_recipe how = {hidden, intermediate, 16 << i % 4, top, 1, i % 2, UH_SILU};
        const uh_layout layout = layout_of(&how);
        uh_expert experts[4];
        int32_t slots[4];
        float *x = floats((size_t)hidden), *y = floats((size_t)hidden), *sum = floats((size_t)hidden);
        float *out = floats((size_t)hidden * 4), *weights = floats(4);
        for (int c = 0; c < hidden; c++) x[c] = (float)normal();
        for (int e = 0; e < 4; e++) {
            const record made = make_record(&how, &layout, 0);
            experts[e] = expert_of(&made, 1 + (top >= 16 ? 0 : e % (top == 8 ? 3 : 2)));
            experts[e].first_slot = slots[e] = 3 - e;
            experts[e].count = 1;
            weights[3 - e] = e == 2 ? 0.0f : (float)uniform();
        }
        uh_context *context = opened(threads, which);
        uh_expert dropped = experts[2], with_first[4];
        memset(&experts[2], 0, offsetof(uh_expert, planes));
        check(uh_moe_one(context, &layout, experts, 4, x, weights, y) == 0, "no memory");
        experts[2] = dropped;
        for (int e = 0; e < 4; e++) {
            with_first[e] = experts[e];
            with_first[e].first_slot = e;
        }
        float in_order[4] = {weights[3], weights[2], weights[1], weights[0]};
        int32_t order[4] = {0, 1, 2, 3};
        uh_moe_forward(context, &layout, with_first, 4, order, 4, 4, x, 1, out);
        uh_combine(context, in_order, out, sum, 1, 4, hidden);
        check(!memcmp(y, sum, (size_t)hidden * 4), "H %d I %d top %d: other bits than uh_moe_forward and uh_combine", hidden,
              how.intermediate, top);
        uh_close(context);
        release_all();
    }
}

/* Room for what is listed of a step, as long as it must be and no longer. */
static uh_step_args step_of(const int64_t *ids, const float *weights, const float *x, float *y, int tokens, int k) {
    const size_t slots = (size_t)(tokens * k);
    return (uh_step_args){
        .ids = ids, .weights = weights, .x = x, .y = y, .tokens = tokens, .k = k,
        .experts = exactly(slots * 8, 8), .offsets = exactly((slots + 1) * 4, 4), .slots = exactly(slots * 4, 4),
        .to_fetch = exactly(slots * 4, 4), .high = exactly(slots, 1),
    };
}

/* The same out of a table of a layer's experts, by their numbers; with counters. */
static void residents(const variant *which) {
    char name[64];
    snprintf(name, sizeof name, "experts by number: %s", which->name);
    group(name);
    reseed(14);
    enum { N = 6, K = 3 };
    const expert_recipe how = {90, 60, 32, 8, 1, 0, UH_SILU};
    const uh_layout layout = layout_of(&how);
    uh_expert experts[N] = {{{0}, 0, 0, 0, 0, 0}};
    int64_t uses[N] = {0}, hits = 0, ran[9] = {0};
    for (int e = 0; e < N - 1; e++) { /* the last is not there */
        const record made = make_record(&how, &layout, 0);
        experts[e] = expert_of(&made, 1 + e % 3);
    }
    double notes[N][4] = {{0}};
    uh_resident_layer layer = {&layout, experts, uses, &hits, ran, &notes[0][0], 0.5, 0.8, N, 3, 1, {0, 2, 4, 8},
                               0, NULL, NULL, NULL, NULL, 0, NULL, NULL};
    uh_context *context = opened(2, which);
    float *x = floats(90), *y = floats(90), *same = floats(90);
    int64_t ids[K] = {4, 2, 5}; /* scores 0.65, 0 and 0.85: some planes, all planes, none */
    float weights[K] = {0.2f, 0.65f, 0.15f};
    uh_step_args step = step_of(ids, weights, x, y, 1, K);
    const int32_t *needed = step.to_fetch;
    for (int c = 0; c < 90; c++) x[c] = (float)normal();
    check(uh_moe_if_resident(context, &layer, &step) == 2, "two of three run, one is skipped");
    check(!needed[0] && !needed[1] && needed[2] == UH_SKIPPED, "which one is said");
    uh_expert chosen[2] = {experts[4], experts[2]};
    chosen[0].first_slot = 0;
    chosen[1].first_slot = 1;
    uh_moe_one(context, &layout, chosen, 2, x, weights, same);
    check(!memcmp(y, same, 90 * 4), "other bits than uh_moe_one");
    check(hits == 2 && uses[4] == 1 && uses[2] == 1 && uses[5] == 1 && uses[0] == 0, "uses and hits are counted");
    check(ran[0] == 1 && ran[4] == 1 && ran[8] == 1 && ran[2] == 0, "so is what they ran at");
    check(notes[2][0] == weights[1] && notes[2][1] == weights[1] && !notes[2][2] && !notes[2][3], "its gate weight");
    check(notes[4][2] == 1 && notes[5][3] == 1 && !notes[0][0], "what ran coarse, and what was skipped");
    memcpy(same, y, 90 * 4);
    weights[2] = 3.0f; /* now the missing one matters most */
    check(uh_moe_if_resident(context, &layer, &step) == UH_NOT_RESIDENT, "what matters is fetched");
    check(needed[2] == 3 && !needed[1], "with all its planes, and alone");
    check(hits == 4 && uses[5] == 2 && ran[0] == 1 && ran[4] == 1 && ran[8] == 1, "the choice is counted, not yet the run");
    check(notes[5][0] == (double)0.15f + 3.0 && notes[5][1] == 3.0 && notes[5][3] == 1, "its gate weights, too");
    layer.t1 = layer.t2 = 1.0; /* exact: 4 bits of expert 4 are too few */
    ids[2] = 3;
    check(uh_moe_if_resident(context, &layer, &step) == UH_NOT_RESIDENT, "exact wants every plane");
    check(needed[0] == 3 && !needed[1] && needed[2] == 3, "those that lack some");
    check(!memcmp(y, same, 90 * 4) && hits == 5 && uses[3] == 1, "nothing was computed, all was counted");
    layer.t1 = 0.1; /* who may be skipped is while others are fetched */
    layer.t2 = 0.2;
    ids[0] = 5;
    ids[2] = 4;
    check(uh_moe_if_resident(context, &layer, &step) == UH_NOT_RESIDENT && needed[2] == 3, "one lacks");
    check(needed[0] == UH_SKIPPED && ran[0] == 2 && notes[5][3] == 2 && hits == 6, "and one is skipped, and counted so");
    ids[0] = 4;
    ids[2] = 3;
    const int32_t indices[2] = {2, 1}; /* those at hand, whatever they lack: each into the row of its choice */
    float *rows = floats(K * 90), *one = floats(90);
    memset(rows, UNTOUCHED, K * 90 * 4);
    check(uh_look_up(&layer, &step) >= 0, "listed");
    step.out = rows;
    check(!uh_moe_some(context, &layer, &step, indices, 2), "some of the experts");
    const float once = 1.0f;
    for (int i = 0; i < 2; i++) {
        uh_expert alone = experts[ids[indices[i]]];
        alone.first_slot = 0;
        uh_moe_one(context, &layout, &alone, 1, x, &once, one);
        check(!memcmp(rows + indices[i] * 90, one, 90 * 4), "choice %d: other bits than alone", (int)indices[i]);
    }
    memset(one, UNTOUCHED, 90 * 4);
    check(!memcmp(rows, one, 90 * 4), "the row of another choice was written");
    check(ran[4] == 1 && ran[2] == 1 && ran[8] == 2, "what ran is counted");
    ids[2] = 5;
    check(uh_look_up(&layer, &step) >= 0, "listed");
    check(uh_moe_some(context, &layer, &step, indices, 2) == UH_NOT_RESIDENT, "one of them is not there");
    const int64_t wrong[3][K] = {{2, -1, 4}, {2, N, 4}, {2, 2, 4}};
    for (int i = 0; i < 3; i++) {
        step.ids = wrong[i];
        check(uh_moe_if_resident(context, &layer, &step) == UH_NOT_DECIDED, "impossible numbers");
    }
    uh_close(context);
}

/* Several tokens have the bits that each has alone, and every expert is asked for once, as precisely as one of them wants. */
static void several(const variant *which) {
    char name[64];
    snprintf(name, sizeof name, "several tokens' experts by number: %s", which->name);
    group(name);
    reseed(15);
    enum { N = 9, K = 3 };
    for (int top = 4; top <= 32; top *= 2) {
        const expert_recipe how = {70, 50, 32, top, 1, 1, UH_SILU};
        const uh_layout layout = layout_of(&how);
        uh_expert experts[N];
        int64_t uses[N] = {0}, hits = 0, ran[33] = {0};
        const int planes = top == 8 ? 3 : top == 4 ? 2 : 1;
        for (int e = 0; e < N; e++) {
            const record made = make_record(&how, &layout, 0);
            experts[e] = expert_of(&made, planes);
        }
        double notes[N][4] = {{0}};
        uh_resident_layer layer = {&layout, experts, uses, &hits, ran, &notes[0][0], 1.0, 1.0, N, planes, planes,
                                   {0, 2, 4, 8}, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL};
        uh_context *context = opened(2, which);
        int times = 0;
        for (int tokens = 1; tokens <= UH_MOST_ROWS; tokens += tokens < 5 ? 1 : 11) {
            float *x = floats((size_t)(tokens * 70)), *y = floats((size_t)(tokens * 70)), *one = floats(70);
            float *weights = floats((size_t)(tokens * K));
            int64_t *ids = exactly((size_t)(tokens * K) * 8, 8);
            for (int i = 0; i < tokens * 70; i++) x[i] = (float)normal();
            for (int i = 0; i < tokens * K; i++) weights[i] = i % 7 == 5 ? 0.0f : (float)uniform();
            for (int i = 0; i < tokens * K; i += K)
                for (int k = 0, e = between(0, N - 1); k < K; k++) ids[i + k] = (e + k * 4) % N;
            uh_step_args step = step_of(ids, weights, x, y, tokens, K);
            check(uh_moe_if_resident(context, &layer, &step) == step.n, "all are there");
            for (int i = 0; i < step.n; i++) {
                check(tokens == 1 || !i || step.experts[i] > step.experts[i - 1], "in the order of the disk");
                for (int s = step.offsets[i]; s < step.offsets[i + 1]; s++)
                    check(ids[step.slots[s]] == step.experts[i], "the slots of each");
            }
            check(step.offsets[step.n] == tokens * K, "all slots");
            times += tokens;
            float *again = floats((size_t)(tokens * 70));
            const uh_row rows[UH_MOST_ROWS] = {{0}};
            const uh_step of_all = {rows, 0, tokens};
            const uh_graph_layer same = {NULL, &layer, ids, weights, x, again, 0, K, NULL}, none = {.n_ops = 0};
            const uh_graph_layer layers[3] = {same, same, none};
            check(uh_run_layers(context, layers, 0, 3, &of_all, &step, INT64_MAX / 2) == 2, "all layers in one call");
            check(!memcmp(again, y, (size_t)(tokens * 70) * 4), "%d tokens: other bits than layer by layer", tokens);
            check(uh_run_layers(context, layers, 1, 3, &of_all, &step, -1) == 1, "no patience: one graph");
            const uh_graph_layer around[3] = {none, same, none};
            memset(again, 0, (size_t)(tokens * 70) * 4);
            check(uh_run_layers(context, around, 0, 3, &of_all, &step, INT64_MAX / 2) == 2, "also of graphs without experts");
            check(!memcmp(again, y, (size_t)(tokens * 70) * 4), "%d tokens: other bits between such graphs", tokens);
            check(uh_run_layers(context, layers, 0, 2, &of_all, &step, INT64_MAX / 2) == 1, "up to the last one's experts");
            times += 4 * tokens; /* each of the first call twice, and once between others, and the first of two */
            experts[ids[0]].planes = 0;
            check(!uh_run_layers(context, layers, 0, 3, &of_all, &step, INT64_MAX / 2), "one is not there");
            experts[ids[0]].planes = planes;
            for (int token = 0; token < tokens; token++) {
                uh_step_args alone = step_of(ids + token * K, weights + token * K, x + token * 70, one, 1, K);
                uh_moe_if_resident(context, &layer, &alone);
                check(!memcmp(one, y + token * 70, 70 * 4), "top %d, token %d of %d: other bits than alone", top, token, tokens);
            }
            times += tokens;
        }
        int64_t all = 0;
        for (int e = 0; e < N; e++) all += uses[e];
        check(all == (int64_t)times * K && hits > 0, "uses are counted");
        uh_close(context);
        release_all();
    }
    /* The most precise wish of an expert's tokens counts: one skips 1 and 2, which the other wants. */
    const expert_recipe how = {90, 60, 32, 8, 1, 0, UH_SILU};
    const uh_layout layout = layout_of(&how);
    uh_expert none[N] = {{{0}, 0, 0, 0, 0, 0}};
    int64_t uses[N] = {0}, hits = 0, ran[9] = {0};
    double notes[N][4] = {{0}};
    const uh_resident_layer layer = {&layout, none, uses, &hits, ran, &notes[0][0], 0.5, 0.8, N, 3, 1, {0, 2, 4, 8},
                                     0, NULL, NULL, NULL, NULL, 0, NULL, NULL};
    const int64_t ids[2 * K] = {0, 1, 2, 1, 2, 0};
    const float weights[2 * K] = {0.9f, 0.05f, 0.05f, 0.6f, 0.3f, 0.1f};
    uh_step_args step = step_of(ids, weights, NULL, NULL, 2, K);
    check(uh_look_up(&layer, &step) == 3 && step.n == 3, "three experts are wanted");
    check(step.to_fetch[0] == 3 && step.to_fetch[1] == 3 && step.to_fetch[2] == 1, "each as its keenest token wants it");
    check(step.high[0] && step.high[1] && !step.high[2], "two of them in full");
    const int64_t twice[2 * K] = {0, 1, 2, 4, 3, 4};
    step.ids = twice;
    check(uh_look_up(&layer, &step) == UH_NOT_DECIDED, "the second token names one twice");
    release_all();
}

/* A token with NaN or an infinity in it comes out as NaN or infinite; the others do not notice. */
static void not_finite(const variant *which) {
    char name[64];
    snprintf(name, sizeof name, "experts, NaN and infinities: %s", which->name);
    group(name);
    reseed(7);
    for (int i = 0; i < 16; i++) {
        const int activation = i % 8;
        const expert_recipe how = {70, 50, 32, 4 << i / 4, 1, i % 2, activation};
        call c;
        make_call(&c, &how, 4, 2, 0);
        uh_context *context = opened(2, which);
        run(&c, context, c.out);
        float *again = exactly(out_bytes(&c), 0);
        const int column = between(0, 69);
        c.x[2 * 70 + column] = i % 3 ? NAN : INFINITY;
        run(&c, context, again);
        for (int s = 0; s < c.n_slots; s++) {
            const int slot = c.slots[s];
            int nan = 0;
            for (int r = 0; r < 70; r++) nan += isnan(again[slot * 70 + r]) != 0;
            if (slot / 2 == 2)
                check(i % 3 == 0 || nan == 70, "top %d activation %d: NaN in x gives NaN in %d of 70", how.top, activation, nan);
            else
                check(!memcmp(again + slot * 70, c.out + slot * 70, 70 * 4), "one token that is not finite changes another");
        }
        uh_close(context);
        release_all();
    }
}

void test_experts(void) {
    each_variant(calls);
    each_variant(one_token);
    each_variant(residents);
    each_variant(several);
    each_variant(not_finite);
}
