/* What a shelf keeps of an expert: for shelf.c, who holds it, and fetch.c, who reads it. */
#ifndef UH_SHELF_INTERNAL_H
#define UH_SHELF_INTERNAL_H

#include "shelf.h"

typedef struct uh_plan uh_plan;
struct uh_plan {
    uh_plan *next;
    int32_t parts, n_runs, n_chunks;
    int64_t crcs[UH_PARTS]; /* by part */
    uh_read_run *runs;
    uh_read_chunk *chunks;
};

typedef struct {
    const uh_record *record;
    uh_expert *shown;
    uh_plan *plans;
    int64_t version;
    int64_t read, read_bytes; /* under way: the request, and what it brings */
    int32_t held[UH_PARTS], coming[UH_PARTS];
    int32_t parts, bringing; /* bits of both */
    int32_t planes;          /* the most whose parts are all there */
    int32_t meant, aims;     /* that it was last fetched at, or is being */
    int32_t most;            /* that are shown */
    int32_t pins, arriving, surplus, urgency;
} uh_item;

struct uh_shelf {
    uh_room room;
    uh_reads *reads;
    uh_leaving leaving;
    uh_shelf_victim victim;
    uh_shelf_told told;
    uh_shelf_plan plan;
    int32_t *under_way, *last; /* experts: on their way, and those that leave last */
    int32_t n_under_way, n_last, n;
    uh_item items[];
};

#endif
