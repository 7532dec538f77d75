/* What is held is known by its blocks' numbers; a reservation is kept with its expert, for there is never more than one. */
#include "expert_cache_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROTECTED 1e15 /* engine/experts/policies/scored.py */

uh_cache *uh_cache_open(int32_t experts, int64_t capacity, uh_arena_allocate allocate, uh_arena_release release,
                        uh_cache_choose_victim victim, uh_cache_residency_changed residency_changed, uh_cache_plan_read plan) {
    uh_cache *cache = calloc(1, sizeof *cache + (size_t)experts * sizeof(uh_item));
    if (!cache) return NULL;
    uh_arena_open(&cache->arena, capacity, allocate, release);
    cache->under_way = calloc((size_t)experts + 1, sizeof *cache->under_way);
    cache->last = calloc((size_t)experts + 1, sizeof *cache->last);
    cache->n = experts;
    cache->victim = victim;
    cache->residency_changed = residency_changed;
    cache->plan = plan;
    cache->eviction.asks = 1;
    if (cache->under_way && cache->last) return cache;
    uh_cache_close(cache);
    return NULL;
}

void uh_cache_close(uh_cache *cache) {
    for (int32_t i = 0; i < cache->n; i++) {
        for (uh_plan *p = cache->items[i].plans, *next; p; p = next) {
            next = p->next;
            free(p);
        }
    }
    uh_arena_close(&cache->arena);
    free(cache->under_way);
    free(cache->last);
    free(cache);
}

int64_t *uh_cache_totals(uh_cache *cache) { return &cache->arena.capacity; }

void uh_cache_reads(uh_cache *cache, uh_io_pool *reads) { cache->reads = reads; }

void uh_cache_policy(uh_cache *cache, const uh_eviction *eviction) { cache->eviction = *eviction; }

void uh_cache_expert(uh_cache *cache, int32_t expert, const uh_record *record) { cache->items[expert].record = record; }

/* ---- what is held ------------------------------------------------------------------------------------------------- */

/* The most planes, no more than `most`, whose parts are all among these. */
static int32_t planes_of(const uh_record *record, int32_t parts, int32_t most) {
    int32_t planes = most && most < record->most ? most : record->most;
    while (planes && (record->parts_for[planes] & ~parts)) planes--;
    return planes;
}

static int32_t count_of(int32_t parts) {
    int32_t count = 0;
    for (; parts; parts &= parts - 1) count++;
    return count;
}

/* Shows the kernels what an expert runs at, and where it is. */
static void show(uh_cache *cache, uh_item *e) {
    e->version++;
    if (!e->shown) return;
    const int32_t planes = planes_of(e->record, e->parts, e->most);
    e->shown->planes = planes;
    if (!planes) return;
    for (int32_t i = 0; i < UH_PLANES; i++)
        e->shown->codes[i] = i < planes ? cache->arena.block[e->held[e->record->codes[i]]].at : NULL;
    const int32_t params = e->record->params[planes];
    e->shown->params = params < 0 ? NULL : cache->arena.block[e->held[params]].at;
}

void uh_cache_publish(uh_cache *cache, int32_t expert, uh_expert *shown, int32_t most) {
    cache->items[expert].shown = shown;
    cache->items[expert].most = most;
    show(cache, cache->items + expert);
}

/* Of these parts, in their order; returns how many. */
static int32_t stretches_of(const int32_t *numbers, int32_t parts, int32_t *found) {
    int32_t n = 0;
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (parts >> i & 1) found[n++] = numbers[i];
    return n;
}

static void give(uh_cache *cache, const int32_t *numbers, int32_t parts) {
    int32_t found[UH_PARTS];
    uh_arena_give(&cache->arena, found, stretches_of(numbers, parts, found));
}

/* These parts it has no more. */
static void lose(uh_cache *cache, uh_item *e, int32_t parts) {
    e->parts &= ~parts;
    e->planes = planes_of(e->record, e->parts, 0);
    show(cache, e);
}

/* It gives these parts up. */
static void let_go(uh_cache *cache, uh_item *e, int32_t parts) {
    parts &= e->parts;
    if (!parts) return;
    lose(cache, e, parts);
    give(cache, e->held, parts);
}

/* It is resident no more; returns the parts that it had. */
static int32_t taken_from(uh_cache *cache, int32_t expert) {
    uh_item *e = cache->items + expert;
    if (cache->eviction.asks) cache->residency_changed(expert, 0);
    else cache->eviction.penalty[expert] = cache->eviction.priority[expert] = INFINITY;
    const int32_t parts = e->parts;
    e->surplus = 0;
    lose(cache, e, parts);
    return parts;
}

static void forget(uh_cache *cache, int32_t expert) {
    give(cache, cache->items[expert].held, taken_from(cache, expert));
}

/* Gives back what an expert that is not in use holds beyond what it is meant to be. */
static void tidy(uh_cache *cache, uh_item *e) {
    if (!e->surplus || e->pins || !e->parts) return;
    let_go(cache, e, ~e->record->parts_for[e->last_planes]);
    e->surplus = 0;
}

/* ---- eviction ---------------------------------------------------------------------------------------------------- */

static int32_t victim(uh_cache *cache, int32_t incoming) {
    const uh_eviction *l = &cache->eviction;
    if (l->hobbit && !l->state[0]) uh_hobbit_prioritize(l->hobbit);
    if (!l->asks && l->state[0])
        for (int32_t i = 0; i < l->state[1]; i++)
            if (l->priority[l->next[i]] < INFINITY && !cache->items[l->next[i]].pins) return l->next[i];
    return cache->victim(incoming);
}

void uh_cache_protect(uh_cache *cache, const int32_t *experts, int32_t n) {
    const uh_eviction *l = &cache->eviction;
    for (int32_t i = 0; i < cache->n_last; i++) {
        l->pinned[cache->last[i]] = 0;
        if (l->penalty[cache->last[i]] == PROTECTED) l->penalty[cache->last[i]] = 0.0;
    }
    for (int32_t i = 0; i < n; i++) {
        l->pinned[experts[i]] = 1;
        if (l->penalty[experts[i]] == 0.0) l->penalty[experts[i]] = PROTECTED;
    }
    if (n) memcpy(cache->last, experts, (size_t)n * sizeof *experts);
    cache->n_last = n;
    l->state[0] = 0;
}

/* Evicts one, for no expert in particular; 0: none may be. */
static int evict(uh_cache *cache) {
    const int32_t leaving = victim(cache, UH_NONE);
    if (leaving < 0) return 0;
    forget(cache, leaving);
    return 1;
}

void uh_cache_trim(uh_cache *cache, int shrink_only) {
    uh_arena *room = &cache->arena;
    uh_arena_shrink(room, room->capacity);
    /* Of slabs in part in use nothing could go. */
    while (!shrink_only && room->total > room->capacity && evict(cache)) continue;
}

void uh_cache_make_free(uh_cache *cache, int64_t nbytes) {
    while (cache->arena.capacity - cache->arena.in_use < nbytes && evict(cache)) continue;
}

void uh_cache_forget(uh_cache *cache, int32_t expert) { forget(cache, expert); }

void uh_cache_pin(uh_cache *cache, const int32_t *experts, int32_t n) {
    for (int32_t i = 0; i < n; i++) cache->items[experts[i]].pins++;
}

void uh_cache_unpin(uh_cache *cache, const int32_t *experts, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        cache->items[experts[i]].pins--;
        tidy(cache, cache->items + experts[i]);
    }
    uh_cache_trim(cache, 0);
}

/* ---- room --------------------------------------------------------------------------------------------------------- */

/* Whether these are of exactly these lengths, and may be used at all. */
static int fit(const uh_arena *room, const int32_t *left, int32_t n_left, const int64_t *nbytes, int32_t n) {
    if (room->in_use > room->capacity || n_left != n) return 0;
    for (int32_t i = 0; i < n; i++)
        if (room->block[left[i]].nbytes != nbytes[i]) return 0;
    return 1;
}

static int take(uh_cache *cache, int32_t expert, const int64_t *nbytes, int32_t n, int32_t *taken) {
    uh_arena *room = &cache->arena;
    for (;;) {
        const int found = uh_arena_take(room, nbytes, n, 0, taken);
        if (!found) return 0;
        const int32_t leaving = victim(cache, expert);
        if (leaving < 0) return found == UH_NONE ? uh_arena_take(room, nbytes, n, 1, taken) : found;
        if (found == UH_NO_MEMORY) room->capacity = room->total; /* more than this the system does not give */
        int32_t left[UH_PARTS];
        const int32_t parts = taken_from(cache, leaving);
        const int32_t n_left = stretches_of(cache->items[leaving].held, parts, left);
        if (fit(room, left, n_left, nbytes, n)) { /* one like the other: its memory changes hands */
            memcpy(taken, left, (size_t)n * sizeof *taken);
            return 0;
        }
        uh_arena_give(room, left, n_left);
    }
}

/* Room for these parts, at worst in the place of what the expert, if nothing else uses it, will not need. */
static int make_room(uh_cache *cache, int32_t expert, int32_t missing, int32_t wanted) {
    uh_item *e = cache->items + expert;
    int64_t nbytes[UH_PARTS];
    int32_t taken[UH_PARTS], n = 0;
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (missing >> i & 1) nbytes[n++] = e->record->nbytes[i];
    int found = take(cache, expert, nbytes, n, taken);
    if (found == UH_NONE && e->pins == 1 && (e->parts & ~wanted)) {
        let_go(cache, e, ~wanted);
        found = take(cache, expert, nbytes, n, taken);
    }
    for (int32_t i = UH_PARTS; !found && i-- > 0;)
        if (missing >> i & 1) e->loading_blocks[i] = taken[--n];
    return found;
}

/* What was reserved does not come, or could not be had. */
static void drop(uh_cache *cache, int32_t expert, int32_t parts) {
    uh_item *e = cache->items + expert;
    give(cache, e->loading_blocks, parts);
    if (e->parts && !e->planes) forget(cache, expert); /* it gave up a coarser one for what did not come */
    uh_cache_unpin(cache, &expert, 1);
}

int uh_cache_reserve(uh_cache *cache, int32_t expert, int32_t planes) {
    uh_item *e = cache->items + expert;
    const int32_t wanted = e->record->parts_for[planes], missing = wanted & ~e->parts;
    if (e->arriving || !missing) return UH_THERE;
    e->pins++;
    const int found = make_room(cache, expert, missing, wanted);
    if (found) {
        drop(cache, expert, 0);
        return found == UH_NONE ? UH_NO_ROOM : UH_OUT_OF_MEMORY;
    }
    e->arriving = 1;
    e->loading_parts = missing;
    e->target_planes = planes;
    return UH_ASKED;
}

void uh_cache_insert(uh_cache *cache, int32_t expert, int pin) {
    uh_item *e = cache->items + expert;
    const uh_eviction *l = &cache->eviction;
    const int alone = !e->parts;
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (e->loading_parts >> i & 1) e->held[i] = e->loading_blocks[i];
    e->parts |= e->loading_parts;
    e->arriving = e->loading_parts = 0;
    e->last_planes = e->target_planes;
    e->planes = planes_of(e->record, e->parts, 0);
    e->surplus = !alone && count_of(e->parts) > count_of(e->record->parts_for[e->last_planes]);
    if (l->asks) {
        cache->residency_changed(expert, 1);
    } else {
        l->penalty[expert] = l->pinned[expert] ? PROTECTED : 0.0;
        l->state[0] = 0;
    }
    show(cache, e);
    e->pins--;
    tidy(cache, e);
    e->pins += pin;
    uh_cache_trim(cache, 0);
}

void uh_cache_abandon(uh_cache *cache, int32_t expert) {
    uh_item *e = cache->items + expert;
    const int32_t loading_parts = e->loading_parts;
    e->arriving = e->loading_parts = 0;
    drop(cache, expert, loading_parts);
}

/* ---- what is there ------------------------------------------------------------------------------------------------ */

int32_t uh_cache_planes(const uh_cache *cache, int32_t expert, int32_t most) {
    const uh_item *e = cache->items + expert;
    return planes_of(e->record, e->parts, most);
}

int64_t uh_cache_version(const uh_cache *cache, int32_t expert) { return cache->items[expert].version; }

int32_t uh_cache_pins(const uh_cache *cache, int32_t expert) { return cache->items[expert].pins; }

int64_t uh_cache_missing_bytes(const uh_cache *cache, int32_t expert, int32_t planes) {
    const uh_item *e = cache->items + expert;
    int64_t nbytes = 0;
    for (int32_t i = 0; i < UH_PARTS && !e->arriving; i++)
        if ((e->record->parts_for[planes] & ~e->parts) >> i & 1) nbytes += e->record->nbytes[i];
    return nbytes;
}

int32_t uh_cache_parts(const uh_cache *cache, int32_t expert, int arriving, int64_t *parts) {
    const uh_item *e = cache->items + expert;
    const int32_t found = arriving ? e->loading_parts : e->parts, *numbers = arriving ? e->loading_blocks : e->held;
    for (int32_t i = 0; i < UH_PARTS; i++) {
        const uh_block *s = found >> i & 1 ? cache->arena.block + numbers[i] : NULL;
        parts[3 * i] = s ? s->slab : -1;
        parts[3 * i + 1] = s ? (int64_t)(intptr_t)s->at : 0;
        parts[3 * i + 2] = s ? s->nbytes : 0;
    }
    return found;
}

void uh_cache_snapshot(const uh_cache *cache, uint8_t *planes, int64_t *latest) {
    for (int32_t expert = 0; expert < cache->n; expert++) {
        const uh_item *e = cache->items + expert;
        if (planes) planes[expert] = (uint8_t)e->planes;
        if (latest) latest[expert] = -1;
        for (int32_t i = 0; latest && i < UH_PARTS; i++) {
            const int64_t slab = e->parts >> i & 1 ? cache->arena.block[e->held[i]].slab : -1;
            if (slab > latest[expert]) latest[expert] = slab;
        }
    }
}
