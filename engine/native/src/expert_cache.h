/* The experts of one memory by number: what is held of each, which may not be evicted, and what is on its way from disk.
 *
 * One table for the cache, its memory and the reads under way, so that a layer's misses are asked for in one call, and what has
 * come takes its place in one. What is evicted is the
 * policy's to say. tests/engine/experts/cache/cache_model.py is a plain model of it. Not for several threads at once. */
#ifndef UH_EXPERT_CACHE_H
#define UH_EXPERT_CACHE_H

#include "hobbit.h"
#include "io_pool.h"
#include "arena.h"
#include "underhill_kernels.h"

enum { UH_PARTS = 6, UH_PLANES = 3 }; /* of a record */

/* How one was asked for went. */
enum { UH_ASKED, UH_NO_ROOM = -1, UH_OUT_OF_MEMORY = -2, UH_THERE = -3, UH_STOPPED = -4 };

/* The parts of a record: those that each number of planes, 1 to 3, needs (bits), where its codes are, and its parameters. */
typedef struct {
    int64_t nbytes[UH_PARTS];
    int32_t parts_for[UH_PLANES + 1];
    int32_t codes[UH_PLANES];
    int32_t params[UH_PLANES + 1]; /* -1: none */
    int32_t most;                  /* planes */
} uh_record;

/* The numbers that a policy keeps (engine/experts/policies/scored.py), which the table reads and writes in place. */
typedef struct {
    double *penalty, *priority; /* added to scores: infinite for those that may not leave; and the sums, the least leaving first */
    uint8_t *pinned;        /* those to evict last */
    int32_t *state;         /* whether `priority` is up to date, and how many are in `next` */
    const int32_t *next;    /* the next victims, as long as nothing changes */
    uh_hobbit *hobbit;      /* whose numbers these are, to be brought up to date natively; NULL: `victim` does that */
    int32_t asks;           /* the policy goes by more than these: `residency_changed` tells it of all that come and go, and names victims */
} uh_eviction;

typedef int32_t (*uh_cache_choose_victim)(int32_t incoming);             /* the expert to evict; UH_NONE: none */
typedef void (*uh_cache_residency_changed)(int32_t expert, int32_t there);      /* it is resident now, or about not to be any more */
typedef void (*uh_cache_plan_read)(int32_t expert, int32_t parts);      /* how these are read is needed: uh_cache_set_plan */

typedef struct uh_cache uh_cache;

/* What reads that have ended amount to. failed: not whole, cancelled ones too; too_coarse: of the awaited, those that
 * came coarser than they are wanted, or not at all, and have to be asked for again. */
typedef struct {
    int64_t nbytes, ns;
    int32_t reads, upgraded, failed, too_coarse;
} uh_batch_stats;

/* How a read ended. status: of io_pool.h. awaited: it is pinned for the caller, as precisely as `planes` says. */
typedef struct {
    int32_t expert, status, planes, error, part, urgency, awaited, parts;
    int64_t nbytes, ns;
} uh_load_result;

/* NULL: no memory. reads may be NULL where nothing is fetched; it has to outlive the cache's use. */
UH_API uh_cache *uh_cache_open(int32_t experts, int64_t capacity, uh_arena_allocate allocate, uh_arena_release release,
                               uh_cache_choose_victim victim, uh_cache_residency_changed residency_changed, uh_cache_plan_read plan);
UH_API void uh_cache_close(uh_cache *cache);
/* capacity, bytes in use, bytes held, slabs ever had: read and, the first of them, written in place. */
UH_API int64_t *uh_cache_totals(uh_cache *cache);
UH_API void uh_cache_reads(uh_cache *cache, uh_io_pool *reads);
/* Before anything is reserved. */
UH_API void uh_cache_policy(uh_cache *cache, const uh_eviction *eviction);
/* These are evicted last, until the next call. At most as many as there are. */
UH_API void uh_cache_protect(uh_cache *cache, const int32_t *experts, int32_t n);
/* record: kept by the caller. */
UH_API void uh_cache_expert(uh_cache *cache, int32_t expert, const uh_record *record);
/* Where its addresses are shown to the kernels, and how many planes of it run at most; NULL: nowhere. */
UH_API void uh_cache_publish(uh_cache *cache, int32_t expert, uh_expert *shown, int32_t most);

/* Planes held, at most `most` (0: any); 0: it is not there. */
UH_API int32_t uh_cache_planes(const uh_cache *cache, int32_t expert, int32_t most);
UH_API int32_t uh_cache_pins(const uh_cache *cache, int32_t expert);
UH_API int64_t uh_cache_missing_bytes(const uh_cache *cache, int32_t expert, int32_t planes);
/* What is held, or arriving: slab, address and length of each part [UH_PARTS][3], slab -1 where it is not; returns the parts
 * as bits. */
UH_API int32_t uh_cache_parts(const uh_cache *cache, int32_t expert, int arriving, int64_t *parts);
/* A number that is another one whenever what is held has changed. */
UH_API int64_t uh_cache_version(const uh_cache *cache, int32_t expert);
/* Of every expert, the planes held and the number of its latest slab (-1: none). Either may be NULL. */
UH_API void uh_cache_snapshot(const uh_cache *cache, uint8_t *planes, int64_t *latest);

UH_API void uh_cache_pin(uh_cache *cache, const int32_t *experts, int32_t n);
UH_API void uh_cache_unpin(uh_cache *cache, const int32_t *experts, int32_t n);

/* Room for what is missing of an expert, others being evicted for it. UH_ASKED: it is arriving, and pinned; UH_NO_ROOM;
 * UH_OUT_OF_MEMORY; UH_THERE: nothing is missing, or it is arriving. Where the system refuses memory while others could be
 * evicted, the capacity comes down to what is held. */
UH_API int uh_cache_reserve(uh_cache *cache, int32_t expert, int32_t planes);
/* Its read has ended well. pin: for its use now. */
UH_API void uh_cache_insert(uh_cache *cache, int32_t expert, int pin);
/* Its read has failed. */
UH_API void uh_cache_abandon(uh_cache *cache, int32_t expert);
/* Evicts it, pinned or not. */
UH_API void uh_cache_forget(uh_cache *cache, int32_t expert);
/* Evicts until so much can be had, or until the rest is pinned. */
UH_API void uh_cache_make_free(uh_cache *cache, int64_t nbytes);
/* Comes down to the capacity as far as that goes. shrink_only: what waits goes back to the system, and no expert is evicted. */
UH_API void uh_cache_trim(uh_cache *cache, int shrink_only);

/* How these parts (bits) of an expert are read; copied. -1: no memory. */
UH_API int uh_cache_set_plan(uh_cache *cache, int32_t expert, int32_t parts, const int64_t *crcs, const uh_io_run *runs,
                            int32_t n_runs, const uh_io_chunk *chunks, int32_t n_chunks);
/* Reserves and begins to read. As uh_cache_reserve; UH_STOPPED: the readers were stopped. */
UH_API int uh_cache_fetch(uh_cache *cache, int32_t expert, int32_t planes, int32_t urgency);
/* Fetches the first of n experts, as precisely as `planes` says of each, that is not on its way nor skipped (0 planes), and so on
 * while `room` bytes are not used up. nbytes [n]: what each takes, 0: it was not begun. Returns UH_ASKED or why it ended. */
UH_API int uh_cache_prefetch(uh_cache *cache, int32_t n, const int32_t *experts, const int32_t *planes, int64_t room,
                           int64_t *nbytes);
/* The k experts base + ids[index] of a step, with their `to_fetch`, base being the number of the layer's expert 0: those that
 * are there are pinned, the others demanded, in the order of the list. indices [k]: of those that are pinned; awaited [k]: planes
 * that each waits for, 0: none; counts [2]: how many of the one and of the other. Returns how many were asked for or are under way before there was no
 * room, or why it went wrong below 0 (UH_OUT_OF_MEMORY, UH_STOPPED): then none is pinned and all that was asked for is on its
 * way. */
UH_API int32_t uh_cache_demand(uh_cache *cache, int32_t base, const int64_t *ids, const int32_t *to_fetch, int32_t k,
                               int32_t *indices, int32_t *awaited, int32_t *counts);
/* Makes a read in flight as urgent as a demand: a layer waits for it. 0: none is in flight. */
UH_API int uh_cache_promote(uh_cache *cache, int32_t expert);
/* Planes that it is on its way to; 0: it is not. */
UH_API int32_t uh_cache_pending_planes(const uh_cache *cache, int32_t expert);
/* Bytes under way, and those that no reader has taken yet. */
UH_API int64_t uh_cache_pending_bytes(const uh_cache *cache, int32_t expert);
UH_API int64_t uh_cache_unread_bytes(const uh_cache *cache, int32_t expert);
UH_API int64_t uh_cache_request(const uh_cache *cache, int32_t expert);
UH_API int uh_cache_cancel(uh_cache *cache, int32_t expert);
/* Reads under way, whose numbers are written down; at most `most`. */
UH_API int32_t uh_cache_pending(const uh_cache *cache, int32_t *experts, int32_t most);
/* Reads that have ended take their place, or give their room back; those awaited are pinned for the caller. */
UH_API void uh_cache_commit(uh_cache *cache, const uh_io_completion *ends, int32_t n, const int32_t *awaited, int32_t n_awaited,
                            uh_load_result *arrived);

/* Computes the n experts at `indices` as uh_moe_some does, and waits for a read to end; returns how many have, 0: none is open. Without reads
 * all has been computed, and it puts the answer together. times [3], by uh_nanoseconds: begun, computed, and waited. Below 0: as
 * uh_moe_some. Does not touch the cache. */
UH_API int32_t uh_compute_and_wait(uh_context *context, const uh_resident_layer *layer, const uh_step_args *serving, const int32_t *indices,
                        int32_t n, uh_io_pool *reads, uh_io_completion *ends, int32_t most, int64_t *times);
/* Those that `ran`, indices of experts base + ids[index], are unpinned, and what has ended takes its place as uh_cache_commit says.
 * awaited [k]: planes that each waits for, 0: none; set to 0 for those that have come so precisely, which are pinned, and
 * whose `indices` are written down. Returns how many. At most UH_MOST_ASKED experts. */
UH_API int32_t uh_cache_commit_step(uh_cache *cache, int32_t base, const int64_t *ids, int32_t *awaited, int32_t k,
                             const int32_t *ran, int32_t n_ran, const uh_io_completion *ends, int32_t n, uh_load_result *arrived,
                             int32_t *indices, uh_batch_stats *came);

/* The same for reads that have ended by now and are not awaited, at most `most`, whose `ends` are written down; returns how many. */
UH_API int32_t uh_cache_commit_completed(uh_cache *cache, uh_io_completion *ends, int32_t most, uh_load_result *arrived, uh_batch_stats *came);

#endif
