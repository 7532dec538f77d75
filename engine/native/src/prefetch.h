/* Reads ahead of a cache: which experts were read in advance, row by row, and what became of them.
 *
 * Rows are MoE layers as they run; experts of a row are numbered by themselves. Not for several threads at once. */
#ifndef UH_PREFETCH_H
#define UH_PREFETCH_H

#include "expert_cache.h"

typedef struct uh_prefetch uh_prefetch;

/* What it did so far: see PrefetchStats in engine/experts/telemetry.py. */
typedef struct {
    int64_t started, used, joined, cancelled, useful, early, wasted, first_said, first_right;
} uh_prefetch_counts;

/* layers [rows]: whose `n` may differ, but none has more than `experts`, by which the cache numbers them row by row; kept by
 * the caller. k: experts of a row that count as expected; depth: rows looked ahead at most. NULL: no memory. */
UH_API uh_prefetch *uh_prefetch_open(uh_cache *cache, const uh_resident_layer *const *layers, int32_t rows, int32_t experts, int32_t k,
                               int32_t depth);
UH_API void uh_prefetch_close(uh_prefetch *planner);
/* Behind the counts, by distance less one: experts expected of rows that were routed, and then, of these, those chosen. */
UH_API const uh_prefetch_counts *uh_prefetch_stats(const uh_prefetch *planner);

/* Records the experts chosen in a row, and marks its prefetches used or wasted. row: -1 before the first, k: 0 there. */
UH_API void uh_prefetch_routed(uh_prefetch *planner, int32_t row, const int64_t *ids, int32_t k);
/* Plans a row behind the one routed last: the `most` experts of the greatest scores are expected, of the first `width` of
 * which those that are not there as precisely as their rank is mostly wanted are read, in this order, while no more
 * than `room` bytes are in flight. Other reads for that row are cancelled; the choice of the row routed last, and what is
 * expected and there in the rows planned since, are evicted last. Returns bytes in flight; -1: nothing is missing there.
 * width, most: at most 64. */
UH_API int64_t uh_prefetch_plan(uh_prefetch *planner, int32_t row, const float *scores, int32_t width, int32_t most,
                             int64_t room);
/* As uh_prefetch_plan, for all rows behind the one routed last at once. plan [rows, experts]: of the first `width` of each row
 * those that are missing are read, the greatest of all rows first, those of 0 not at all; at most 64 in one call. Only what
 * is expected and there in the next two rows is evicted last. depth has to be `rows`. Returns bytes in flight; -1: nothing is missing. */
UH_API int64_t uh_prefetch_plan_all(uh_prefetch *planner, const float *plan, int32_t width, int32_t most, int64_t room);
/* Cancels all reads, which are wasted. */
UH_API void uh_prefetch_cancel_all(uh_prefetch *planner);

#endif
