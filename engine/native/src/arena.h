/* Memory under one ceiling, cut into blocks that are handed out, taken back, and cut anew where need be.
 *
 * What comes back waits until that length is asked for. Only where much waits in vain is it cut for other lengths, and only
 * where that does not help does it go back to the system: memory that comes anew comes in small pages, takes
 * long to clear, and longer to read into (half the speed of mixed precisions).
 * Not for several threads at once. */
#ifndef UH_ARENA_H
#define UH_ARENA_H

#include <stdint.h>

enum { UH_NONE = -1, UH_NO_MEMORY = -2 };

/* Memory for a slab, whose number it is told; NULL: there is none. And a slab that is not in use any more. */
typedef void *(*uh_arena_allocate)(int64_t nbytes, int64_t slab);
typedef void (*uh_arena_release)(int64_t slab);

/* A part of a slab. */
typedef struct {
    uint8_t *at;
    int64_t nbytes, slab;   /* the later its slab came, the higher */
    int32_t before, behind;  /* neighbours in the slab; UH_NONE */
    int32_t earlier, later;  /* among those of its length that wait */
    int32_t waits;
} uh_block;

/* Blocks of one length that wait, in the order in which they came. */
typedef struct {
    int64_t nbytes;
    int32_t first, last;
} uh_free_list;

typedef struct {
    int64_t capacity; /* most bytes */
    int64_t in_use;
    int64_t total; /* in use and waiting */
    int64_t slabs;
    uh_block *block;
    uh_free_list *free_list; /* shortest first; none is empty */
    int32_t blocks, free_lists, most, unused;
    uh_arena_allocate allocate;
    uh_arena_release release;
} uh_arena;

void uh_arena_open(uh_arena *of, int64_t capacity, uh_arena_allocate allocate, uh_arena_release release);
void uh_arena_close(uh_arena *of);

/* Blocks of exactly these lengths. 0: done; else nothing is taken: UH_NONE: no room; UH_NO_MEMORY. anew: none can be evicted for
 * them any more, so that waiting ones of other lengths have to do, however few. */
int uh_arena_take(uh_arena *of, const int64_t *nbytes, int32_t n, int anew, int32_t *taken);
/* They come back. */
void uh_arena_give(uh_arena *of, const int32_t *pieces, int32_t n);
/* Gives slabs that wait as a whole back to the system, the longest first, until the total is at most `most`. */
void uh_arena_shrink(uh_arena *of, int64_t most);

#endif
