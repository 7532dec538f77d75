/* Bets are few: those of a row lie in a row of their own, in the order in which they were made. */
#include "prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "expert_cache_internal.h"

enum { MOST = 64, NEAR = 2 }; /* experts of a look; rows ahead whose experts leave last where all are looked at */

typedef struct {
    int32_t expert;
    int64_t nbytes;
} uh_bet;

struct uh_prefetch {
    uh_prefetch_counts *counts;
    int64_t *said, *right; /* [depth] */
    uh_cache *cache;
    const uh_resident_layer *const *layers;
    uh_bet *bets;      /* [rows, experts] */
    int32_t *n_bets;   /* [rows] */
    int32_t *expected; /* [depth, rows, k] */
    int32_t *n_expected; /* [depth, rows] */
    int32_t *first;      /* [k], expected of the first row before it has run */
    int32_t *near;       /* numbers: who is to leave last */
    int32_t rows, experts, k, depth, row, n_near, n_first;
};

uh_prefetch *uh_prefetch_open(uh_cache *cache, const uh_resident_layer *const *layers, int32_t rows, int32_t experts, int32_t k,
                        int32_t depth) {
    uh_prefetch *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return NULL;
    const size_t n = (size_t)rows, all = n * (size_t)experts, far = n * (size_t)depth;
    ahead->counts = calloc(1, sizeof *ahead->counts + 2 * (size_t)depth * sizeof *ahead->said);
    ahead->bets = calloc(all, sizeof *ahead->bets);
    ahead->n_bets = calloc(n, sizeof *ahead->n_bets);
    ahead->expected = calloc(far * (size_t)k, sizeof *ahead->expected);
    ahead->n_expected = calloc(far, sizeof *ahead->n_expected);
    ahead->first = calloc((size_t)k, sizeof *ahead->first);
    ahead->near = calloc(MOST * (size_t)(depth + 1), sizeof *ahead->near);
    if (!ahead->counts || !ahead->bets || !ahead->n_bets || !ahead->expected || !ahead->n_expected || !ahead->first ||
        !ahead->near) {
        uh_prefetch_close(ahead);
        return NULL;
    }
    ahead->said = (int64_t *)(ahead->counts + 1);
    ahead->right = ahead->said + depth;
    ahead->cache = cache;
    ahead->layers = layers;
    ahead->rows = rows;
    ahead->experts = experts;
    ahead->k = k;
    ahead->depth = depth;
    ahead->row = -1;
    return ahead;
}

void uh_prefetch_close(uh_prefetch *ahead) {
    free(ahead->counts);
    free(ahead->bets);
    free(ahead->n_bets);
    free(ahead->expected);
    free(ahead->n_expected);
    free(ahead->first);
    free(ahead->near);
    free(ahead);
}

const uh_prefetch_counts *uh_prefetch_stats(const uh_prefetch *ahead) { return ahead->counts; }

static int32_t number(const uh_prefetch *ahead, int32_t row, int32_t expert) { return row * ahead->experts + expert; }

static int among(int32_t expert, const int32_t *experts, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (experts[i] == expert) return 1;
    return 0;
}

static int chosen(int32_t expert, const int64_t *ids, int32_t k) {
    for (int32_t i = 0; i < k; i++)
        if (ids[i] == expert) return 1;
    return 0;
}

static int64_t brought(const uh_prefetch *ahead, int32_t at) {
    return uh_cache_pending_bytes(ahead->cache, at) - uh_cache_unread_bytes(ahead->cache, at);
}

/* It was read in vain; what no reader has in hand yet is not read at all. */
static void lose(uh_prefetch *ahead, int32_t row, const uh_bet *bet) {
    const int32_t at = number(ahead, row, bet->expert);
    int64_t wasted = bet->nbytes;
    if (uh_cache_pending_planes(ahead->cache, at)) {
        wasted = brought(ahead, at);
        uh_cache_cancel(ahead->cache, at);
        ahead->counts->cancelled += wasted < bet->nbytes;
    }
    ahead->counts->wasted += wasted;
}

/* ---- what is said of a row ----------------------------------------------------------------------------------------- */

static void win(uh_prefetch *ahead, int32_t row, const uh_bet *bet) {
    const int32_t at = number(ahead, row, bet->expert);
    const int coming = uh_cache_pending_planes(ahead->cache, at) != 0;
    uh_prefetch_counts *counts = ahead->counts;
    counts->used++;
    counts->joined += coming;
    counts->useful += bet->nbytes;
    counts->early += coming ? brought(ahead, at) : bet->nbytes;
}

void uh_prefetch_routed(uh_prefetch *ahead, int32_t row, const int64_t *ids, int32_t k) {
    ahead->row = row;
    ahead->n_near = 0;
    for (int32_t i = 0; i < k && i < MOST; i++) ahead->near[ahead->n_near++] = number(ahead, row, (int32_t)ids[i]);
    if (row < 0) return;
    if (row == 0 && ahead->n_first) {
        ahead->counts->first_said += k;
        for (int32_t i = 0; i < ahead->n_first; i++) ahead->counts->first_right += chosen(ahead->first[i], ids, k);
        ahead->n_first = 0;
    }
    for (int32_t far = 0; far < ahead->depth; far++) {
        const int32_t at = far * ahead->rows + row;
        const int32_t *expected = ahead->expected + (size_t)at * (size_t)ahead->k;
        if (!ahead->n_expected[at]) continue;
        ahead->said[far] += k;
        for (int32_t i = 0; i < ahead->n_expected[at]; i++) ahead->right[far] += chosen(expected[i], ids, k);
        ahead->n_expected[at] = 0;
    }
    const uh_bet *bets = ahead->bets + (size_t)row * (size_t)ahead->experts;
    for (int32_t i = 0; i < ahead->n_bets[row]; i++)
        if (chosen(bets[i].expert, ids, k)) win(ahead, row, bets + i);
        else lose(ahead, row, bets + i);
    ahead->n_bets[row] = 0;
}

void uh_prefetch_cancel_all(uh_prefetch *ahead) {
    for (int32_t row = 0; row < ahead->rows; row++) {
        for (int32_t i = 0; i < ahead->n_bets[row]; i++)
            lose(ahead, row, ahead->bets + (size_t)row * (size_t)ahead->experts + i);
        ahead->n_bets[row] = 0;
    }
}

/* ---- a look -------------------------------------------------------------------------------------------------------- */

static void give_up_all_but(uh_prefetch *ahead, int32_t row, const int32_t *expected, int32_t n) {
    uh_bet *bets = ahead->bets + (size_t)row * (size_t)ahead->experts;
    int32_t kept = 0;
    for (int32_t i = 0; i < ahead->n_bets[row]; i++) {
        if (among(bets[i].expert, expected, n) || !uh_cache_pending_planes(ahead->cache, number(ahead, row, bets[i].expert)))
            bets[kept++] = bets[i];
        else
            lose(ahead, row, bets + i);
    }
    ahead->n_bets[row] = kept;
}

/* Bytes. Nothing is bet on rows that have been routed, nor on those farther ahead than it looks. */
static int64_t under_way(const uh_prefetch *ahead) {
    int64_t nbytes = 0;
    for (int32_t row = ahead->row + 1; row <= ahead->row + ahead->depth && row < ahead->rows; row++) {
        const uh_bet *bets = ahead->bets + (size_t)row * (size_t)ahead->experts;
        for (int32_t i = 0; i < ahead->n_bets[row]; i++)
            if (uh_cache_pending_planes(ahead->cache, number(ahead, row, bets[i].expert))) nbytes += bets[i].nbytes;
    }
    return nbytes;
}

static void bet_on(uh_prefetch *ahead, int32_t row, int32_t expert, int64_t nbytes) {
    uh_bet *bets = ahead->bets + (size_t)row * (size_t)ahead->experts;
    int32_t at = 0;
    while (at < ahead->n_bets[row] && bets[at].expert != expert) at++;
    bets[at] = (uh_bet){expert, nbytes};
    if (at == ahead->n_bets[row]) ahead->n_bets[row]++;
    ahead->counts->started++;
}

/* What is expected of a row, of which the first `width` may lack something; other reads for it are given up. */
static int32_t foresee(uh_prefetch *ahead, int32_t row, const float *scores, int32_t width, int32_t most, int32_t *expected,
                       int32_t *lacks) {
    int32_t asked[MOST];
    const uh_resident_layer *layer = ahead->layers[row];
    if (layer->t1 < 1.0) uh_ranks_ask(layer->ranks, width, layer->high, layer->low, asked);
    for (int32_t i = 0; i < width && layer->t1 >= 1.0; i++) asked[i] = layer->high;
    const int32_t found = uh_predict_topk(layer, scores, asked, width, most, expected, lacks);
    if (ahead->row >= 0) {
        const int32_t at = (row - ahead->row - 1) * ahead->rows + row, kept = found < ahead->k ? found : ahead->k;
        memcpy(ahead->expected + (size_t)at * (size_t)ahead->k, expected, (size_t)kept * sizeof *expected);
        ahead->n_expected[at] = kept;
    } else if (row == 0) {
        ahead->n_first = found < ahead->k ? found : ahead->k;
        memcpy(ahead->first, expected, (size_t)ahead->n_first * sizeof *expected);
    }
    give_up_all_but(ahead, row, expected, found);
    return found;
}

/* Reads these, n at most MOST, as far as there is room; returns bytes under way. */
static int64_t read_all(uh_prefetch *ahead, const int32_t *missing, const int32_t *planes, int32_t n, int64_t room) {
    int64_t nbytes[MOST];
    const int64_t before = under_way(ahead);
    int64_t begun = 0;
    uh_cache_prefetch(ahead->cache, n, missing, planes, room - before, nbytes);
    for (int32_t i = 0; i < n; i++) {
        if (!nbytes[i]) continue;
        bet_on(ahead, missing[i] / ahead->experts, missing[i] % ahead->experts, nbytes[i]);
        begun += nbytes[i];
    }
    return before + begun;
}

int64_t uh_prefetch_plan(uh_prefetch *ahead, int32_t row, const float *scores, int32_t width, int32_t most, int64_t room) {
    int32_t expected[MOST], lacks[MOST], missing[MOST], planes[MOST], n = 0;
    const int32_t found = foresee(ahead, row, scores, width, most, expected, lacks);
    for (int32_t i = 0; i < width && i < found; i++) {
        if (lacks[i]) {
            missing[n] = number(ahead, row, expected[i]);
            planes[n++] = lacks[i];
        } else {
            ahead->near[ahead->n_near++] = number(ahead, row, expected[i]);
        }
    }
    uh_cache_protect(ahead->cache, ahead->near, ahead->n_near); /* first, or they might make room for the others */
    return n ? read_all(ahead, missing, planes, n, room) : -1;
}

int64_t uh_prefetch_plan_all(uh_prefetch *ahead, const float *plan, int32_t width, int32_t most, int64_t room) {
    int32_t expected[MOST], lacks[MOST], missing[MOST], planes[MOST], n = 0;
    float worth[MOST]; /* of those missing, descending; among equals they come by number */
    for (int32_t row = ahead->row + 1; row < ahead->rows; row++) {
        const float *scores = plan + (size_t)row * (size_t)ahead->experts;
        const int32_t found = foresee(ahead, row, scores, width, most, expected, lacks);
        for (int32_t i = 0; i < width && i < found; i++) {
            const int32_t own = number(ahead, row, expected[i]);
            const float score = scores[expected[i]];
            if (!lacks[i]) {
                if (row <= ahead->row + NEAR) ahead->near[ahead->n_near++] = own;
                continue;
            }
            int32_t at = n;
            while (at > 0 && (worth[at - 1] < score || (worth[at - 1] == score && missing[at - 1] > own))) at--;
            if (!(score > 0.0f) || at == MOST) continue;
            const size_t behind = (size_t)((n < MOST ? n : MOST - 1) - at);
            memmove(worth + at + 1, worth + at, behind * sizeof *worth);
            memmove(missing + at + 1, missing + at, behind * sizeof *missing);
            memmove(planes + at + 1, planes + at, behind * sizeof *planes);
            worth[at] = score;
            missing[at] = own;
            planes[at] = lacks[i];
            if (n < MOST) n++;
        }
    }
    uh_cache_protect(ahead->cache, ahead->near, ahead->n_near); /* first, or they might make room for the others */
    return n ? read_all(ahead, missing, planes, n, room) : -1;
}
