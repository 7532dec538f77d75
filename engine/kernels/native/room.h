/* Memory under one ceiling, cut into stretches that are handed out, taken back, and cut anew where need be.
 *
 * What comes back waits for whoever asks for that length. Only where much waits in vain is it cut for other lengths, and only
 * where that does not help does it go back to the system: memory that comes anew comes in small pages, takes
 * long to clear, and longer to read into (half the speed of mixed precisions).
 * Not for several threads at once. */
#ifndef UH_ROOM_H
#define UH_ROOM_H

#include <stdint.h>

enum { UH_NONE = -1, UH_NO_MEMORY = -2 };

/* Memory for a block, whose number it is told; NULL: there is none. And a block that nobody uses any more. */
typedef void *(*uh_room_allocate)(int64_t nbytes, int64_t block);
typedef void (*uh_room_release)(int64_t block);

/* A part of a block. */
typedef struct {
    uint8_t *at;
    int64_t nbytes, block;   /* the later its block came, the higher */
    int32_t before, behind;  /* neighbours in the block; UH_NONE */
    int32_t earlier, later;  /* among those of its length that wait */
    int32_t waits;
} uh_stretch;

/* Stretches of one length that wait, in the order in which they came. */
typedef struct {
    int64_t nbytes;
    int32_t first, last;
} uh_line;

typedef struct {
    int64_t capacity; /* most bytes */
    int64_t in_use;
    int64_t total; /* in use and waiting */
    int64_t blocks;
    uh_stretch *stretch;
    uh_line *line; /* shortest first; none is empty */
    int32_t stretches, lines, most, unused;
    uh_room_allocate allocate;
    uh_room_release release;
} uh_room;

void uh_room_open(uh_room *of, int64_t capacity, uh_room_allocate allocate, uh_room_release release);
void uh_room_close(uh_room *of);

/* Stretches of exactly these lengths. 0: done; else nothing is taken: UH_NONE: no room; UH_NO_MEMORY. anew: nobody can leave for
 * them any more, so that waiting ones of other lengths have to do, however few. */
int uh_room_take(uh_room *of, const int64_t *nbytes, int32_t n, int anew, int32_t *taken);
/* They come back. */
void uh_room_give(uh_room *of, const int32_t *pieces, int32_t n);
/* Gives blocks that wait as a whole back to the system, the longest first, until the total is at most `most`. */
void uh_room_shrink(uh_room *of, int64_t most);

#endif
