/* What a cache keeps of an expert: for expert_cache.c, which holds it, and fetch.c, which reads it. */
#ifndef UH_EXPERT_CACHE_INTERNAL_H
#define UH_EXPERT_CACHE_INTERNAL_H

#include "expert_cache.h"

typedef struct uh_plan uh_plan;
struct uh_plan {
    uh_plan *next;
    int32_t parts, n_runs, n_chunks;
    int64_t crcs[UH_PARTS]; /* by part */
    uh_io_run *runs;
    uh_io_chunk *chunks;
};

typedef struct {
    const uh_record *record;
    uh_expert *shown;
    uh_plan *plans;
    int64_t version;
    int64_t read, read_bytes; /* under way: the request, and what it brings */
    int32_t held[UH_PARTS], loading_blocks[UH_PARTS]; /* blocks of the arena, by part */
    int32_t parts, loading_parts;        /* as bits: held, and being read */
    int32_t planes;                      /* the most whose parts are all held */
    int32_t last_planes, target_planes;  /* as of the last fetch that ended, and of the one that is under way */
    int32_t most;                        /* planes that lookups see */
    int32_t pins, arriving, surplus, urgency;
} uh_item;

struct uh_cache {
    uh_arena arena;
    uh_io_pool *reads;
    uh_eviction eviction;
    uh_cache_choose_victim victim;
    uh_cache_residency_changed residency_changed;
    uh_cache_plan_read plan;
    int32_t *under_way, *last; /* experts: on their way, and those that leave last */
    int32_t n_under_way, n_last, n;
    uh_item items[];
};

#endif
