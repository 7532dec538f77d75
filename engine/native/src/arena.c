/* Blocks are known by number, since their records move when there are more of them. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE = 50 }; /* one part in so many of the capacity may lie idle in lengths that are not asked for just now */

void uh_arena_open(uh_arena *of, int64_t capacity, uh_arena_allocate allocate, uh_arena_release release) {
    memset(of, 0, sizeof *of);
    of->capacity = capacity;
    of->unused = UH_NONE;
    of->allocate = allocate;
    of->release = release;
}

void uh_arena_close(uh_arena *of) {
    free(of->block);
    free(of->free_list);
}

/* A record that is not in use; UH_NONE: no memory. There are as many free_lists as records, so that whatever comes back can wait. */
static int32_t record(uh_arena *of) {
    if (of->unused != UH_NONE) {
        const int32_t found = of->unused;
        of->unused = of->block[found].later;
        return found;
    }
    if (of->blocks == of->most) {
        const int32_t most = of->most ? 2 * of->most : 256;
        uh_block *piece = realloc(of->block, (size_t)most * sizeof *piece);
        if (piece) of->block = piece;
        uh_free_list *free_list = realloc(of->free_list, (size_t)most * sizeof *free_list);
        if (free_list) of->free_list = free_list;
        if (!piece || !free_list) return UH_NONE;
        of->most = most;
    }
    return of->blocks++;
}

static void forget(uh_arena *of, int32_t piece) {
    of->block[piece].later = of->unused;
    of->unused = piece;
}

/* The number of the first free_list whose blocks are at least so long. */
static int32_t line_from(const uh_arena *of, int64_t nbytes) {
    int32_t at = 0;
    while (at < of->free_lists && of->free_list[at].nbytes < nbytes) at++;
    return at;
}

/* It waits no more. */
static void lift(uh_arena *of, int32_t piece) {
    uh_block *s = of->block + piece;
    const int32_t at = line_from(of, s->nbytes);
    uh_free_list *free_list = of->free_list + at;
    if (s->earlier != UH_NONE) of->block[s->earlier].later = s->later;
    else free_list->first = s->later;
    if (s->later != UH_NONE) of->block[s->later].earlier = s->earlier;
    else free_list->last = s->earlier;
    s->waits = 0;
    if (free_list->first == UH_NONE) memmove(free_list, free_list + 1, (size_t)(--of->free_lists - at) * sizeof *free_list);
}

/* It waits, behind others of its length. */
static void line_up(uh_arena *of, int32_t piece) {
    uh_block *s = of->block + piece;
    const int32_t at = line_from(of, s->nbytes);
    uh_free_list *free_list = of->free_list + at;
    if (at == of->free_lists || free_list->nbytes != s->nbytes) {
        memmove(free_list + 1, free_list, (size_t)(of->free_lists++ - at) * sizeof *free_list);
        *free_list = (uh_free_list){s->nbytes, UH_NONE, UH_NONE};
    }
    s->waits = 1;
    s->earlier = free_list->last;
    s->later = UH_NONE;
    if (free_list->last != UH_NONE) of->block[free_list->last].later = piece;
    else free_list->first = piece;
    free_list->last = piece;
}

/* Two neighbours, neither of them in a free_list, become the first of them. */
static void join(uh_arena *of, int32_t first, int32_t second) {
    uh_block *a = of->block + first, *b = of->block + second;
    a->nbytes += b->nbytes;
    a->behind = b->behind;
    if (b->behind != UH_NONE) of->block[b->behind].before = first;
    forget(of, second);
}

/* Let it wait, as one with its neighbours that do. */
static void lay(uh_arena *of, int32_t piece) {
    const int32_t before = of->block[piece].before, behind = of->block[piece].behind;
    if (behind != UH_NONE && of->block[behind].waits) {
        lift(of, behind);
        join(of, piece, behind);
    }
    if (before != UH_NONE && of->block[before].waits) {
        lift(of, before);
        join(of, before, piece);
        piece = before;
    }
    line_up(of, piece);
}

/* The first `nbytes` of one that waits; the rest waits on. UH_NO_MEMORY. */
static int32_t cut(uh_arena *of, int32_t piece, int64_t nbytes) {
    const int32_t rest = record(of);
    if (rest == UH_NONE) return UH_NO_MEMORY;
    lift(of, piece);
    uh_block *s = of->block + piece, *r = of->block + rest;
    *r = (uh_block){s->at + nbytes, s->nbytes - nbytes, s->slab, piece, s->behind, UH_NONE, UH_NONE, 0};
    if (s->behind != UH_NONE) of->block[s->behind].before = rest;
    s->behind = rest;
    s->nbytes = nbytes;
    line_up(of, rest);
    return piece;
}

/* A slab of its own. UH_NO_MEMORY. */
static int32_t allocated(uh_arena *of, int64_t nbytes) {
    const int32_t piece = record(of);
    void *memory = piece == UH_NONE ? NULL : of->allocate(nbytes, of->slabs);
    if (!memory) {
        if (piece != UH_NONE) forget(of, piece);
        return UH_NO_MEMORY;
    }
    of->block[piece] = (uh_block){memory, nbytes, of->slabs++, UH_NONE, UH_NONE, UH_NONE, UH_NONE, 0};
    of->total += nbytes;
    return piece;
}

/* One piece of this length; UH_NONE, UH_NO_MEMORY. */
static int32_t one(uh_arena *of, int64_t nbytes, int anew) {
    const int32_t at = line_from(of, nbytes);
    if (at < of->free_lists && of->free_list[at].nbytes == nbytes) {
        const int32_t piece = of->free_list[at].first;
        lift(of, piece);
        return piece;
    }
    if (of->total + nbytes > of->capacity) {
        if (!anew && of->total - of->in_use <= of->capacity / IDLE) return UH_NONE;
        if (at < of->free_lists) return cut(of, of->free_list[at].first, nbytes);
        uh_arena_shrink(of, of->capacity - nbytes);
        if (of->total + nbytes > of->capacity) return UH_NONE;
    }
    return allocated(of, nbytes);
}

int uh_arena_take(uh_arena *of, const int64_t *nbytes, int32_t n, int anew, int32_t *taken) {
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++) sum += nbytes[i];
    if (of->in_use + sum > of->capacity) return UH_NONE;
    for (int32_t i = 0; i < n; i++) {
        taken[i] = one(of, nbytes[i], anew);
        if (taken[i] < 0) {
            const int failed = taken[i];
            uh_arena_give(of, taken, i);
            return failed;
        }
        of->in_use += nbytes[i];
    }
    return 0;
}

void uh_arena_give(uh_arena *of, const int32_t *pieces, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        of->in_use -= of->block[pieces[i]].nbytes;
        lay(of, pieces[i]);
    }
    uh_arena_shrink(of, of->capacity);
}

void uh_arena_shrink(uh_arena *of, int64_t most) {
    for (int32_t at = of->free_lists - 1; at >= 0 && of->total > most; at--) {
        int32_t piece = of->free_list[at].first;
        while (piece != UH_NONE && of->total > most) {
            const uh_block s = of->block[piece];
            if (s.before == UH_NONE && s.behind == UH_NONE) {
                lift(of, piece); /* the last one takes its free_list with it */
                forget(of, piece);
                of->total -= s.nbytes;
                of->release(s.slab);
            }
            piece = s.later;
        }
    }
}
