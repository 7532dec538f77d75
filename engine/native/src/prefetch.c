/* Prefetches are few: those of a row lie in a row of their own, in the order in which they were begun. */
#include "prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "expert_cache_internal.h"

enum {
    MOST_EXPECTED = 64, /* experts expected of one row, and read by one call: MOST_EXPECTED in engine/native/prefetch.py */
    PROTECTED_ROWS = 2  /* coming rows whose expected experts are evicted last, where a plan speaks of all rows */
};

typedef struct {
    int32_t expert;
    int64_t nbytes;
} uh_prefetched;

struct uh_prefetch {
    uh_prefetch_counts *counts;
    int64_t *said, *right; /* [depth] */
    uh_cache *cache;
    const uh_resident_layer *const *layers;
    uh_prefetched *prefetched;      /* [rows, experts] */
    int32_t *n_prefetched;   /* [rows] */
    int32_t *expected; /* [depth, rows, k] */
    int32_t *n_expected; /* [depth, rows] */
    int32_t *first;      /* [k], expected of the first row before it has run */
    int32_t *last_out;       /* numbers of those to evict last */
    int32_t rows, experts, k, depth, row, n_last_out, n_first;
};

uh_prefetch *uh_prefetch_open(uh_cache *cache, const uh_resident_layer *const *layers, int32_t rows, int32_t experts, int32_t k,
                        int32_t depth) {
    uh_prefetch *planner = calloc(1, sizeof *planner);
    if (!planner) return NULL;
    const size_t n = (size_t)rows, all = n * (size_t)experts, far = n * (size_t)depth;
    planner->counts = calloc(1, sizeof *planner->counts + 2 * (size_t)depth * sizeof *planner->said);
    planner->prefetched = calloc(all, sizeof *planner->prefetched);
    planner->n_prefetched = calloc(n, sizeof *planner->n_prefetched);
    planner->expected = calloc(far * (size_t)k, sizeof *planner->expected);
    planner->n_expected = calloc(far, sizeof *planner->n_expected);
    planner->first = calloc((size_t)k, sizeof *planner->first);
    planner->last_out = calloc(MOST_EXPECTED * (size_t)(depth + 1), sizeof *planner->last_out);
    if (!planner->counts || !planner->prefetched || !planner->n_prefetched || !planner->expected || !planner->n_expected || !planner->first ||
        !planner->last_out) {
        uh_prefetch_close(planner);
        return NULL;
    }
    planner->said = (int64_t *)(planner->counts + 1);
    planner->right = planner->said + depth;
    planner->cache = cache;
    planner->layers = layers;
    planner->rows = rows;
    planner->experts = experts;
    planner->k = k;
    planner->depth = depth;
    planner->row = -1;
    return planner;
}

void uh_prefetch_close(uh_prefetch *planner) {
    free(planner->counts);
    free(planner->prefetched);
    free(planner->n_prefetched);
    free(planner->expected);
    free(planner->n_expected);
    free(planner->first);
    free(planner->last_out);
    free(planner);
}

const uh_prefetch_counts *uh_prefetch_stats(const uh_prefetch *planner) { return planner->counts; }

static int32_t number(const uh_prefetch *planner, int32_t row, int32_t expert) { return row * planner->experts + expert; }

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

static int64_t read_so_far(const uh_prefetch *planner, int32_t at) {
    return uh_cache_pending_bytes(planner->cache, at) - uh_cache_unread_bytes(planner->cache, at);
}

/* It was read in vain; what no reader has in hand yet is not read at all. */
static void mark_wasted(uh_prefetch *planner, int32_t row, const uh_prefetched *one) {
    const int32_t at = number(planner, row, one->expert);
    int64_t wasted = one->nbytes;
    if (uh_cache_pending_planes(planner->cache, at)) {
        wasted = read_so_far(planner, at);
        uh_cache_cancel(planner->cache, at);
        planner->counts->cancelled += wasted < one->nbytes;
    }
    planner->counts->wasted += wasted;
}

/* ---- the routing of a row ------------------------------------------------------------------------------------------ */

static void mark_used(uh_prefetch *planner, int32_t row, const uh_prefetched *one) {
    const int32_t at = number(planner, row, one->expert);
    const int coming = uh_cache_pending_planes(planner->cache, at) != 0;
    uh_prefetch_counts *counts = planner->counts;
    counts->used++;
    counts->joined += coming;
    counts->useful += one->nbytes;
    counts->early += coming ? read_so_far(planner, at) : one->nbytes;
}

void uh_prefetch_routed(uh_prefetch *planner, int32_t row, const int64_t *ids, int32_t k) {
    planner->row = row;
    planner->n_last_out = 0;
    for (int32_t i = 0; i < k && i < MOST_EXPECTED; i++) planner->last_out[planner->n_last_out++] = number(planner, row, (int32_t)ids[i]);
    if (row < 0) return;
    if (row == 0 && planner->n_first) {
        planner->counts->first_said += k;
        for (int32_t i = 0; i < planner->n_first; i++) planner->counts->first_right += chosen(planner->first[i], ids, k);
        planner->n_first = 0;
    }
    for (int32_t far = 0; far < planner->depth; far++) {
        const int32_t at = far * planner->rows + row;
        const int32_t *expected = planner->expected + (size_t)at * (size_t)planner->k;
        if (!planner->n_expected[at]) continue;
        planner->said[far] += k;
        for (int32_t i = 0; i < planner->n_expected[at]; i++) planner->right[far] += chosen(expected[i], ids, k);
        planner->n_expected[at] = 0;
    }
    const uh_prefetched *prefetched = planner->prefetched + (size_t)row * (size_t)planner->experts;
    for (int32_t i = 0; i < planner->n_prefetched[row]; i++)
        if (chosen(prefetched[i].expert, ids, k)) mark_used(planner, row, prefetched + i);
        else mark_wasted(planner, row, prefetched + i);
    planner->n_prefetched[row] = 0;
}

void uh_prefetch_cancel_all(uh_prefetch *planner) {
    for (int32_t row = 0; row < planner->rows; row++) {
        for (int32_t i = 0; i < planner->n_prefetched[row]; i++)
            mark_wasted(planner, row, planner->prefetched + (size_t)row * (size_t)planner->experts + i);
        planner->n_prefetched[row] = 0;
    }
}

/* ---- planning ------------------------------------------------------------------------------------------------------ */

static void cancel_unexpected(uh_prefetch *planner, int32_t row, const int32_t *expected, int32_t n) {
    uh_prefetched *prefetched = planner->prefetched + (size_t)row * (size_t)planner->experts;
    int32_t kept = 0;
    for (int32_t i = 0; i < planner->n_prefetched[row]; i++) {
        if (among(prefetched[i].expert, expected, n) || !uh_cache_pending_planes(planner->cache, number(planner, row, prefetched[i].expert)))
            prefetched[kept++] = prefetched[i];
        else
            mark_wasted(planner, row, prefetched + i);
    }
    planner->n_prefetched[row] = kept;
}

/* Bytes. Nothing is read for rows that have been routed, nor for those farther ahead than it looks. */
static int64_t in_flight(const uh_prefetch *planner) {
    int64_t nbytes = 0;
    for (int32_t row = planner->row + 1; row <= planner->row + planner->depth && row < planner->rows; row++) {
        const uh_prefetched *prefetched = planner->prefetched + (size_t)row * (size_t)planner->experts;
        for (int32_t i = 0; i < planner->n_prefetched[row]; i++)
            if (uh_cache_pending_planes(planner->cache, number(planner, row, prefetched[i].expert))) nbytes += prefetched[i].nbytes;
    }
    return nbytes;
}

static void add_prefetched(uh_prefetch *planner, int32_t row, int32_t expert, int64_t nbytes) {
    uh_prefetched *prefetched = planner->prefetched + (size_t)row * (size_t)planner->experts;
    int32_t at = 0;
    while (at < planner->n_prefetched[row] && prefetched[at].expert != expert) at++;
    prefetched[at] = (uh_prefetched){expert, nbytes};
    if (at == planner->n_prefetched[row]) planner->n_prefetched[row]++;
    planner->counts->started++;
}

/* What is expected of a row, of which the first `width` are read where they are missing; other reads for it are cancelled. */
static int32_t expect(uh_prefetch *planner, int32_t row, const float *scores, int32_t width, int32_t most, int32_t *expected,
                       int32_t *to_fetch) {
    int32_t asked[MOST_EXPECTED];
    const uh_resident_layer *layer = planner->layers[row];
    if (layer->t1 < 1.0) uh_ranks_ask(layer->ranks, width, layer->high, layer->low, asked);
    for (int32_t i = 0; i < width && layer->t1 >= 1.0; i++) asked[i] = layer->high;
    const int32_t found = uh_predict_topk(layer, scores, asked, width, most, expected, to_fetch);
    if (planner->row >= 0) {
        const int32_t at = (row - planner->row - 1) * planner->rows + row, kept = found < planner->k ? found : planner->k;
        memcpy(planner->expected + (size_t)at * (size_t)planner->k, expected, (size_t)kept * sizeof *expected);
        planner->n_expected[at] = kept;
    } else if (row == 0) {
        planner->n_first = found < planner->k ? found : planner->k;
        memcpy(planner->first, expected, (size_t)planner->n_first * sizeof *expected);
    }
    cancel_unexpected(planner, row, expected, found);
    return found;
}

/* Reads these, n at most MOST_EXPECTED, as far as there is room; returns bytes in flight. */
static int64_t read_all(uh_prefetch *planner, const int32_t *missing, const int32_t *planes, int32_t n, int64_t room) {
    int64_t nbytes[MOST_EXPECTED];
    const int64_t before = in_flight(planner);
    int64_t begun = 0;
    uh_cache_prefetch(planner->cache, n, missing, planes, room - before, nbytes);
    for (int32_t i = 0; i < n; i++) {
        if (!nbytes[i]) continue;
        add_prefetched(planner, missing[i] / planner->experts, missing[i] % planner->experts, nbytes[i]);
        begun += nbytes[i];
    }
    return before + begun;
}

int64_t uh_prefetch_plan(uh_prefetch *planner, int32_t row, const float *scores, int32_t width, int32_t most, int64_t room) {
    int32_t expected[MOST_EXPECTED], to_fetch[MOST_EXPECTED], missing[MOST_EXPECTED], planes[MOST_EXPECTED], n = 0;
    const int32_t found = expect(planner, row, scores, width, most, expected, to_fetch);
    for (int32_t i = 0; i < width && i < found; i++) {
        if (to_fetch[i]) {
            missing[n] = number(planner, row, expected[i]);
            planes[n++] = to_fetch[i];
        } else {
            planner->last_out[planner->n_last_out++] = number(planner, row, expected[i]);
        }
    }
    uh_cache_protect(planner->cache, planner->last_out, planner->n_last_out); /* first, or they might make room for the others */
    return n ? read_all(planner, missing, planes, n, room) : -1;
}

int64_t uh_prefetch_plan_all(uh_prefetch *planner, const float *plan, int32_t width, int32_t most, int64_t room) {
    int32_t expected[MOST_EXPECTED], to_fetch[MOST_EXPECTED], missing[MOST_EXPECTED], planes[MOST_EXPECTED], n = 0;
    float worth[MOST_EXPECTED]; /* of those missing, descending; among equals they come by number */
    for (int32_t row = planner->row + 1; row < planner->rows; row++) {
        const float *scores = plan + (size_t)row * (size_t)planner->experts;
        const int32_t found = expect(planner, row, scores, width, most, expected, to_fetch);
        for (int32_t i = 0; i < width && i < found; i++) {
            const int32_t own = number(planner, row, expected[i]);
            const float score = scores[expected[i]];
            if (!to_fetch[i]) {
                if (row <= planner->row + PROTECTED_ROWS) planner->last_out[planner->n_last_out++] = own;
                continue;
            }
            int32_t at = n;
            while (at > 0 && (worth[at - 1] < score || (worth[at - 1] == score && missing[at - 1] > own))) at--;
            if (!(score > 0.0f) || at == MOST_EXPECTED) continue;
            const size_t behind = (size_t)((n < MOST_EXPECTED ? n : MOST_EXPECTED - 1) - at);
            memmove(worth + at + 1, worth + at, behind * sizeof *worth);
            memmove(missing + at + 1, missing + at, behind * sizeof *missing);
            memmove(planes + at + 1, planes + at, behind * sizeof *planes);
            worth[at] = score;
            missing[at] = own;
            planes[at] = to_fetch[i];
            if (n < MOST_EXPECTED) n++;
        }
    }
    uh_cache_protect(planner->cache, planner->last_out, planner->n_last_out); /* first, or they might make room for the others */
    return n ? read_all(planner, missing, planes, n, room) : -1;
}
