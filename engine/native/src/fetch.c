/* Experts on their way from disk: how each is read, what is under way, and what becomes of it. */
#include <stdlib.h>
#include <string.h>

#include "expert_cache_internal.h"

int uh_cache_set_plan(uh_cache *cache, int32_t expert, int32_t parts, const int64_t *crcs, const uh_io_run *runs,
                     int32_t n_runs, const uh_io_chunk *chunks, int32_t n_chunks) {
    const size_t run_bytes = (size_t)n_runs * sizeof *runs, chunk_bytes = (size_t)n_chunks * sizeof *chunks;
    uh_plan *made = malloc(sizeof *made + run_bytes + chunk_bytes);
    if (!made) return -1;
    made->runs = (uh_io_run *)(made + 1);
    made->chunks = (uh_io_chunk *)(made->runs + n_runs);
    memcpy(made->runs, runs, run_bytes);
    memcpy(made->chunks, chunks, chunk_bytes);
    memcpy(made->crcs, crcs, sizeof made->crcs);
    made->parts = parts;
    made->n_runs = n_runs;
    made->n_chunks = n_chunks;
    made->next = cache->items[expert].plans;
    cache->items[expert].plans = made;
    return 0;
}

/* How the parts that an expert lacks are read; NULL: not planned yet. */
static const uh_plan *find_read_plan(const uh_item *e) {
    const uh_plan *found = e->plans;
    while (found && found->parts != e->loading_parts) found = found->next;
    return found;
}

/* Submits the read of what has been reserved. UH_ASKED, UH_OUT_OF_MEMORY, UH_STOPPED. */
static int submit_read(uh_cache *cache, int32_t expert, int32_t urgency) {
    uh_item *e = cache->items + expert;
    const uh_plan *how = find_read_plan(e);
    if (!how) {
        cache->plan(expert, e->loading_parts);
        how = find_read_plan(e);
    }
    if (!how) return UH_OUT_OF_MEMORY;
    uh_io_part parts[UH_PARTS];
    int32_t n = 0;
    e->read_bytes = 0;
    for (int32_t i = 0; i < UH_PARTS; i++) {
        if (!(e->loading_parts >> i & 1)) continue;
        const uh_block *to = cache->arena.block + e->loading_blocks[i];
        parts[n++] = (uh_io_part){to->at, to->nbytes, how->crcs[i]};
        e->read_bytes += to->nbytes;
    }
    e->read = uh_io_submit(cache->reads, urgency, parts, n, how->runs, how->n_runs, how->chunks, how->n_chunks);
    e->urgency = urgency;
    return e->read > 0 ? UH_ASKED : e->read ? UH_OUT_OF_MEMORY : UH_STOPPED;
}

int uh_cache_fetch(uh_cache *cache, int32_t expert, int32_t planes, int32_t urgency) {
    int found = uh_cache_reserve(cache, expert, planes);
    if (found) return found;
    found = submit_read(cache, expert, urgency);
    if (found) {
        cache->items[expert].read = 0;
        uh_cache_abandon(cache, expert);
    } else {
        cache->under_way[cache->n_under_way++] = expert;
    }
    return found;
}

int uh_cache_prefetch(uh_cache *cache, int32_t n, const int32_t *experts, const int32_t *planes, int64_t room,
                    int64_t *nbytes) {
    memset(nbytes, 0, (size_t)n * sizeof *nbytes);
    for (int32_t i = 0; i < n; i++) {
        const uh_item *e = cache->items + experts[i];
        if (!planes[i] || e->read) continue;
        if (room <= 0) return UH_NO_ROOM;
        const int found = uh_cache_fetch(cache, experts[i], planes[i], UH_PREFETCH);
        if (found == UH_THERE) continue;
        if (found) return found;
        room -= nbytes[i] = e->read_bytes;
    }
    return UH_ASKED;
}

int uh_cache_promote(uh_cache *cache, int32_t expert) {
    uh_item *e = cache->items + expert;
    if (!e->read) return 0;
    if (e->urgency != UH_DEMAND) uh_io_promote(cache->reads, e->read);
    e->urgency = UH_DEMAND;
    return 1;
}

int32_t uh_cache_demand(uh_cache *cache, int32_t base, const int64_t *ids, const int32_t *to_fetch, int32_t k,
                        int32_t *indices, int32_t *awaited, int32_t *counts) {
    int32_t asked = 0, at = 0, found = UH_ASKED;
    counts[0] = counts[1] = 0;
    for (int32_t i = 0; i < k; i++) {
        if (!to_fetch[i]) indices[counts[0]++] = i;
        awaited[i] = to_fetch[i] > 0 ? to_fetch[i] : 0;
        counts[1] += to_fetch[i] > 0;
    }
    /* First what takes no room: those that are there are pinned, those in flight are promoted. */
    for (int32_t i = 0; i < k; i++)
        if (!to_fetch[i]) cache->items[base + ids[i]].pins++;
    for (int32_t i = 0; i < k; i++)
        if (to_fetch[i] > 0) asked += uh_cache_promote(cache, base + (int32_t)ids[i]);
    for (; at < k && !found; at++) {
        const int32_t expert = base + (int32_t)ids[at];
        if (to_fetch[at] <= 0 || cache->items[expert].read) continue;
        found = uh_cache_fetch(cache, expert, to_fetch[at], UH_DEMAND);
        asked += !found;
    }
    if (!found || found == UH_NO_ROOM) return asked;
    for (int32_t i = 0; i < k; i++) {
        const int32_t expert = base + (int32_t)ids[i];
        if (!to_fetch[i]) uh_cache_unpin(cache, &expert, 1);
    }
    return found;
}

int32_t uh_cache_pending_planes(const uh_cache *cache, int32_t expert) {
    const uh_item *e = cache->items + expert;
    return e->read ? e->target_planes : 0;
}

int64_t uh_cache_pending_bytes(const uh_cache *cache, int32_t expert) { return cache->items[expert].read_bytes; }

int64_t uh_cache_unread_bytes(const uh_cache *cache, int32_t expert) {
    return uh_io_left(cache->reads, cache->items[expert].read);
}

int64_t uh_cache_request(const uh_cache *cache, int32_t expert) { return cache->items[expert].read; }

int uh_cache_cancel(uh_cache *cache, int32_t expert) {
    return uh_io_cancel(cache->reads, cache->items[expert].read);
}

int32_t uh_cache_pending(const uh_cache *cache, int32_t *experts, int32_t most) {
    const int32_t n = cache->n_under_way < most ? cache->n_under_way : most;
    if (n) memcpy(experts, cache->under_way, (size_t)n * sizeof *experts);
    return cache->n_under_way;
}

/* The expert of a read that has ended, taken out of those in flight; UH_NONE: it was given up before. */
static int32_t remove_inflight(uh_cache *cache, int64_t read) {
    for (int32_t i = 0; i < cache->n_under_way; i++) {
        const int32_t expert = cache->under_way[i];
        if (cache->items[expert].read != read) continue;
        memmove(cache->under_way + i, cache->under_way + i + 1,
                (size_t)(--cache->n_under_way - i) * sizeof *cache->under_way);
        cache->items[expert].read = 0;
        return expert;
    }
    return UH_NONE;
}

void uh_cache_commit(uh_cache *cache, const uh_io_completion *ends, int32_t n, const int32_t *awaited, int32_t n_awaited,
                     uh_load_result *arrived) {
    for (int32_t i = 0; i < n; i++) {
        const uh_io_completion *end = ends + i;
        const int32_t expert = remove_inflight(cache, end->id);
        if (expert == UH_NONE) {
            arrived[i] = (uh_load_result){.expert = UH_NONE};
            continue;
        }
        const uh_item *e = cache->items + expert;
        int32_t wanted = 0;
        for (int32_t j = 0; j < n_awaited; j++) wanted |= awaited[j] == expert;
        arrived[i] = (uh_load_result){expert, end->status,  e->target_planes,  end->error,    end->part, e->urgency,
                                  wanted, e->loading_parts, e->read_bytes, end->ns};
        if (end->status == UH_IO_WHOLE) uh_cache_insert(cache, expert, wanted);
        else uh_cache_abandon(cache, expert);
    }
}
