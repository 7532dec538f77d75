/* A table of experts: memory within its ceiling and nobody's twice, who leaves, and reads from a disk that plays one. */
#include "prefetch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "crc32.h"
#include "selftest.h"

enum { EXPERTS = 12, PAGE = 4096, BLOCKS = 4096, STEPS = 6000, CAPACITY = 40 * PAGE };

static const uh_record RECORD = {
    .nbytes = {PAGE, 3 * PAGE, 2 * PAGE, PAGE},
    .parts_for = {0, 3, 14, 0}, /* parts 0 and 1; 1 to 3 */
    .codes = {1, 2, 0},
    .params = {-1, 0, 3, -1},
    .most = 2,
};

static struct {
    uint8_t *block[BLOCKS];
    int64_t nbytes[BLOCKS], held;
    int refuse, comings[EXPERTS];
    double bars[EXPERTS], order[EXPERTS];
    uint8_t protect[EXPERTS];
    int32_t state[2], next[EXPERTS];
    uh_cache *cache;
} at;

static void *allocate(int64_t nbytes, int64_t block) {
    if (at.refuse || block >= BLOCKS) return NULL;
    at.block[block] = malloc((size_t)nbytes);
    at.nbytes[block] = nbytes;
    at.held += nbytes;
    return at.block[block];
}

static void let_go(int64_t block) {
    at.held -= at.nbytes[block];
    free(at.block[block]);
    at.block[block] = NULL;
}

/* The first that nobody uses. */
static int32_t victim(int32_t incoming) {
    for (int32_t i = 0; i < EXPERTS; i++)
        if (i != incoming && uh_cache_planes(at.cache, i, 0) && !uh_cache_pins(at.cache, i)) return i;
    return UH_NONE;
}

static void residency_changed(int32_t expert, int32_t there) { at.comings[expert] += there ? 1 : -1; }

static int64_t byte_of(int32_t expert, int32_t part) { return 16 * expert + part + 1; }

static int64_t from_nowhere(int64_t file, int64_t offset, const uh_slice *slices, int32_t n, int32_t *error) {
    int64_t done = 0;
    (void)error;
    for (int32_t i = 0; i < n; i++) {
        memset(slices[i].to, (int)(file + offset / (16 * PAGE)), (size_t)slices[i].nbytes);
        done += slices[i].nbytes;
    }
    return done;
}

/* Each part is a run of its own, whose file says what its bytes are. */
static void planned(int32_t expert, int32_t parts) {
    static uint8_t page[3 * PAGE];
    int64_t crcs[UH_PARTS] = {0};
    uh_io_run runs[UH_PARTS];
    uh_io_chunk chunks[UH_PARTS];
    int32_t n = 0;
    for (int32_t i = 0; i < UH_PARTS; i++) {
        if (!(parts >> i & 1)) continue;
        memset(page, (int)byte_of(expert, i), (size_t)RECORD.nbytes[i]);
        crcs[i] = uh_crc32(-1, 0, page, RECORD.nbytes[i]);
        runs[n] = (uh_io_run){byte_of(expert, i), 0, 0};
        chunks[n] = (uh_io_chunk){0, RECORD.nbytes[i], 0, n, n};
        n++;
    }
    check(!uh_cache_set_plan(at.cache, expert, parts, crcs, runs, n, chunks, n), "a plan of expert %d", expert);
}

static void fill(int32_t expert) {
    int64_t parts[3 * UH_PARTS];
    const int32_t found = uh_cache_parts(at.cache, expert, 1, parts);
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (found >> i & 1) memset((void *)(intptr_t)parts[3 * i + 1], (int)byte_of(expert, i), (size_t)parts[3 * i + 2]);
}

/* Whether what is held is what was written, and no more than there may be. */
static void consistent(int64_t ceiling) {
    const int64_t *totals = uh_cache_totals(at.cache);
    int64_t used = 0, parts[3 * UH_PARTS];
    for (int32_t e = 0; e < EXPERTS; e++) {
        for (int arriving = 0; arriving < 2; arriving++) {
            const int32_t found = uh_cache_parts(at.cache, e, arriving, parts);
            for (int32_t i = 0; i < UH_PARTS; i++) {
                if (!(found >> i & 1)) continue;
                const uint8_t *bytes = (const uint8_t *)(intptr_t)parts[3 * i + 1];
                used += parts[3 * i + 2];
                check(parts[3 * i + 2] == RECORD.nbytes[i], "length of part %d", (int)i);
                if (!arriving)
                    check(bytes[0] == byte_of(e, i) && bytes[parts[3 * i + 2] - 1] == byte_of(e, i), "bytes of %d", (int)e);
            }
        }
    }
    check(used == totals[1] && used <= totals[2] && totals[2] == at.held, "what is in use, and what is held");
    check(totals[2] <= ceiling, "%lld bytes are held", (long long)totals[2]);
}

static void begin(uh_io_pool *reads) {
    memset(&at, 0, sizeof at);
    at.cache = uh_cache_open(EXPERTS, CAPACITY, allocate, let_go, victim, residency_changed, planned);
    check(at.cache != NULL, "opened");
    for (int32_t e = 0; e < EXPERTS; e++) uh_cache_expert(at.cache, e, &RECORD);
    if (reads) uh_cache_reads(at.cache, reads);
}

static void finish(void) {
    uh_cache_close(at.cache);
    for (int i = 0; i < BLOCKS; i++) free(at.block[i]);
}

static void anything(void) {
    group("experts that come and go");
    reseed(31);
    begin(NULL);
    int arriving[EXPERTS] = {0}, pinned[EXPERTS] = {0};
    int64_t before = 0;
    uh_expert *shown = exactly(EXPERTS * sizeof *shown, 0);
    for (int32_t e = 0; e < EXPERTS; e++) uh_cache_publish(at.cache, e, shown + e, 2);
    for (int step = 0; step < STEPS; step++) {
        const int32_t e = between(0, EXPERTS - 1);
        switch (between(0, 6)) {
        case 0:
        case 1:
            if (!arriving[e] && !uh_cache_reserve(at.cache, e, between(1, 2))) arriving[e] = 1, fill(e);
            break;
        case 2:
        case 3:
            if (!arriving[e]) break;
            arriving[e] = 0;
            if (between(0, 3)) uh_cache_insert(at.cache, e, 0);
            else uh_cache_abandon(at.cache, e);
            break;
        case 4:
            if (pinned[e]) pinned[e] = 0, uh_cache_unpin(at.cache, &e, 1);
            else if (uh_cache_planes(at.cache, e, 0)) pinned[e] = 1, uh_cache_pin(at.cache, &e, 1);
            break;
        case 5:
            if (between(0, 9)) break;
            uh_cache_totals(at.cache)[0] = between(10, 60) * PAGE;
            uh_cache_trim(at.cache, 0);
            break;
        default: uh_cache_make_free(at.cache, between(0, 12) * PAGE);
        }
        const int64_t *totals = uh_cache_totals(at.cache);
        consistent(before > totals[0] ? before : totals[0]); /* what is pinned may stay above a lowered ceiling */
        before = totals[2];
        for (int32_t i = 0; i < EXPERTS; i++) {
            check(shown[i].planes == uh_cache_planes(at.cache, i, 2), "what is shown of %d", (int)i);
            check(!shown[i].planes || shown[i].codes[0][5] == byte_of(i, 1), "where the codes of %d are", (int)i);
            check(!pinned[i] || uh_cache_planes(at.cache, i, 0), "who is pinned stays");
        }
    }
    finish();
    release_all();
}

static void refused(void) {
    group("no memory for an expert");
    begin(NULL);
    at.refuse = 1;
    check(uh_cache_reserve(at.cache, 0, 1) == UH_OUT_OF_MEMORY, "it is said");
    check(!uh_cache_pins(at.cache, 0) && !uh_cache_totals(at.cache)[1], "and nothing is held for it");
    at.refuse = 0;
    check(uh_cache_reserve(at.cache, 0, 1) == UH_ASKED, "later there is some");
    check(uh_cache_reserve(at.cache, 0, 2) == UH_THERE, "it is arriving");
    at.refuse = 1;
    check(uh_cache_reserve(at.cache, 1, 2) == UH_OUT_OF_MEMORY, "nobody may leave for it");
    check(uh_cache_totals(at.cache)[0] == CAPACITY, "nor would that help others");
    fill(0);
    uh_cache_insert(at.cache, 0, 0);
    check(uh_cache_reserve(at.cache, 1, 1) == UH_ASKED, "it gets the memory of one that nobody uses");
    check(!uh_cache_planes(at.cache, 0, 0), "which left");
    check(uh_cache_totals(at.cache)[0] == uh_cache_totals(at.cache)[2], "there is no more than is held");
    check(uh_cache_reserve(at.cache, 2, 1) == UH_NO_ROOM, "nor asked for");
    finish();
}

static void leaving(void) {
    group("a policy's numbers");
    begin(NULL);
    const uh_eviction numbers = {at.bars, at.order, at.protect, at.state, at.next, NULL, 0};
    uh_cache_policy(at.cache, &numbers);
    for (int32_t e = 0; e < 6; e++) { /* six of seven pages: no room for a seventh */
        at.protect[e] = e == 1;
        check(!uh_cache_reserve(at.cache, e, 2), "room for %d", (int)e);
        fill(e);
        uh_cache_insert(at.cache, e, 0);
        check((at.bars[e] >= 1e15) == (e == 1) && !at.state[0], "it may leave, but for who is expected");
    }
    const int32_t order[] = {3, 2, 4, 1};
    memcpy(at.next, order, sizeof order);
    at.state[0] = 1;
    at.state[1] = 4;
    const int32_t kept = 3;
    uh_cache_pin(at.cache, &kept, 1);
    check(!uh_cache_reserve(at.cache, 8, 2), "room for one more");
    check(uh_cache_planes(at.cache, 3, 0) && !uh_cache_planes(at.cache, 2, 0), "the first that nobody uses leaves");
    check(isinf(at.bars[2]) && isinf(at.order[2]) && !at.comings[2], "the policy's numbers say so");
    finish();
}

static void reading(void) {
    group("a token's experts from disk");
    uh_io_pool *reads = uh_io_open(2, from_nowhere);
    check(reads != NULL, "readers");
    begin(reads);
    const int64_t ids[] = {4, 7, 2, 9};
    const int32_t needed[] = {2, 1, UH_SKIPPED, 2};
    int64_t nbytes[2];
    const int32_t hoped[] = {7, 0}, planes[] = {1, 2};
    check(uh_cache_prefetch(at.cache, 2, hoped, planes, 1, nbytes) == UH_NO_ROOM, "expected");
    check(nbytes[0] == 4 * PAGE && !nbytes[1], "no more than there is room for");
    int32_t *indices = exactly(4 * sizeof *indices, 0), *waits = exactly(4 * sizeof *waits, 0), counts[2];
    check(uh_cache_demand(at.cache, 0, ids, needed, 4, indices, waits, counts) == 3, "three are on their way");
    check(!counts[0] && counts[1] == 3, "nobody is there, three have to come");
    check(waits[0] == 2 && waits[1] == 1 && !waits[2] && waits[3] == 2, "as what each waits for");
    check(uh_cache_pending_planes(at.cache, 7) == 1 && uh_cache_pending_planes(at.cache, 4) == 2 && !uh_cache_pending_planes(at.cache, 2), "which");
    const int32_t awaited[] = {4, 7, 9};
    int left = 3;
    while (left) {
        uh_io_completion ends[8];
        uh_load_result arrived[8];
        const int32_t n = uh_io_completed(reads, ends, 8, 1);
        uh_cache_commit(at.cache, ends, n, awaited, 3, arrived);
        for (int32_t i = 0; i < n; i++) {
            check(arrived[i].status == UH_IO_WHOLE && arrived[i].awaited, "read and awaited");
            check(uh_cache_planes(at.cache, arrived[i].expert, 0) == arrived[i].planes, "as it was asked for");
            check(uh_cache_pins(at.cache, arrived[i].expert) == 1, "pinned");
        }
        left -= n;
    }
    consistent(CAPACITY);
    uh_cache_unpin(at.cache, awaited, 3);
    check(!uh_cache_fetch(at.cache, 2, 1, UH_PREFETCH), "one for nobody");
    uh_batch_stats came = {0};
    for (int collected = 0; !collected;) {
        uh_io_completion ends[8];
        uh_load_result arrived[8];
        collected = uh_cache_commit_completed(at.cache, ends, 8, arrived, &came);
    }
    check(came.reads == 1 && came.nbytes > 0 && uh_cache_planes(at.cache, 2, 0) == 1, "and it is there");
    check(!uh_cache_pins(at.cache, 2), "for nobody");
    uh_io_stop(reads);
    check(uh_cache_fetch(at.cache, 0, 1, UH_DEMAND) == UH_STOPPED && !uh_cache_pins(at.cache, 0), "stopped");
    uh_io_close(reads);
    finish();
}

/* Waits for a layer's missing experts, all of which were asked for, and lets go of all that it uses. */
static void served(uh_io_pool *reads, int32_t base, const int64_t *ids, int32_t *waits, int32_t ready, int32_t missing) {
    int32_t indices[2] = {0, 1}, used[2];
    uh_io_completion ends[8];
    uh_load_result arrived[8];
    uh_batch_stats came;
    while (missing > 0) {
        const int32_t n = uh_io_completed(reads, ends, 8, 1), before = missing;
        check(n > 0, "who is missing is under way");
        if (!n) break;
        missing -= uh_cache_commit_step(at.cache, base, ids, waits, 2, NULL, 0, ends, n, arrived, indices, &came);
        ready += before - missing;
        if (came.too_coarse) break; /* on its way to less than was needed */
    }
    int32_t n = 0;
    for (int32_t i = 0; i < 2; i++)
        if (!waits[i]) used[n++] = base + (int32_t)ids[i];
    check(n >= ready, "%d are ready", (int)ready);
    for (int32_t i = 0; i < n; i++)
        if (uh_cache_pins(at.cache, used[i])) uh_cache_unpin(at.cache, used + i, 1);
}

static void ahead(void) {
    enum { ROWS = 3, OWN = EXPERTS / ROWS };
    group("experts that are read ahead");
    reseed(33);
    uh_io_pool *reads = uh_io_open(2, from_nowhere);
    begin(reads);
    uh_expert *shown = exactly(EXPERTS * sizeof *shown, 0);
    uh_ranks *ranks = exactly(ROWS * sizeof *ranks, 0);
    double *scores = exactly(EXPERTS * 8, 0), *last = exactly(EXPERTS * 8, 0), *ticks = exactly(EXPERTS * 8, 0);
    double *near = exactly((ROWS + 1) * ROWS * 8, 0);
    uh_hobbit hobbit = {scores, last, ticks, at.order, at.bars, near, at.state, at.next, 0.4, 0.1, 0.5, 0, 0, ROWS,
                        ROWS, OWN, EXPERTS};
    const uh_eviction numbers = {at.bars, at.order, at.protect, at.state, at.next, &hobbit, 0};
    uh_resident_layer layers[ROWS];
    const uh_resident_layer *rows[ROWS];
    for (int32_t row = 0; row < ROWS; row++) {
        layers[row] = (uh_resident_layer){.experts = shown + row * OWN, .n = OWN, .high = 2, .low = 1, .t1 = 0.5, .t2 = 0.8};
        layers[row].ranks = ranks + row;
        rows[row] = layers + row;
    }
    for (int32_t e = 0; e < EXPERTS; e++) {
        at.bars[e] = INFINITY;
        uh_cache_publish(at.cache, e, shown + e, 2);
    }
    uh_cache_policy(at.cache, &numbers);
    uh_prefetch *planner = uh_prefetch_open(at.cache, rows, ROWS, OWN, 2, 2);
    check(planner != NULL, "opened");
    int full = 0;
    for (int step = 0; step < 1500; step++) {
        uh_prefetch_cancel_all(planner);
        uh_prefetch_routed(planner, -1, NULL, 0);
        for (int32_t row = -1; row < ROWS; row++) {
            const int heavy = between(1, 9), light = between(1, 9);
            float said[OWN], weights[2] = {(float)heavy, (float)light};
            if (row >= 0) {
                const int64_t one = between(0, OWN - 1), ids[2] = {one, (one + between(1, OWN - 1)) % OWN};
                const int32_t used[2] = {(int32_t)ids[0], (int32_t)ids[1]};
                int64_t listed[2];
                int32_t offsets[3], slots[2], needed[2], ready[2], waits[2], counts[2];
                uint8_t high[2];
                uh_step_args step = {.ids = ids, .weights = weights, .tokens = 1, .k = 2, .experts = listed,
                                     .offsets = offsets, .slots = slots, .to_fetch = needed, .high = high};
                check(uh_look_up(layers + row, &step) >= 0, "decided");
                uh_hobbit_note(&hobbit, row, used, NULL, 2, 1);
                uh_ranks_learn(ranks + row, weights, 2, 0.5, 0.8);
                const int32_t asked = uh_cache_demand(at.cache, row * OWN, ids, needed, 2, ready, waits, counts);
                check(asked >= 0 && asked <= counts[1], "asked for");
                uh_prefetch_routed(planner, row, ids, 2);
                /* What was given up holds its room until a reader is done with it: there may be none for all. */
                served(reads, row * OWN, ids, waits, counts[0], asked < counts[1] ? 0 : counts[1]);
                full += asked == counts[1];
            }
            for (int32_t to = row + 1; to < ROWS && to <= row + 2; to++) {
                for (int32_t i = 0; i < OWN; i++) said[i] = (float)uniform();
                const int depth = between(1, 2), pages = between(0, 20);
                check(uh_prefetch_plan(planner, to, said, depth, 3, pages * PAGE) >= -1, "a look");
                if (between(0, 1)) break;
            }
        }
        consistent(CAPACITY);
    }
    uh_prefetch_cancel_all(planner);
    const uh_prefetch_counts *counts = uh_prefetch_stats(planner);
    check(counts->started > 100 && counts->used > 10 && counts->useful > 0, "some were used");
    check(full > 2 * 1500, "of most layers all were asked for, of %d", full);
    check(counts->wasted > 0 && counts->early <= counts->useful, "and some were not");
    uh_prefetch_close(planner);
    uh_io_stop(reads);
    uh_io_close(reads);
    finish();
    release_all();
}

void test_expert_cache(void) {
    anything();
    refused();
    leaving();
    reading();
    ahead();
}
