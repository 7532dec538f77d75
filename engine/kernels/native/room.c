/* Stretches are known by number, since their records move when there are more of them. */
#include "room.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE = 50 }; /* one part in so many of the capacity may lie idle in lengths that nobody asks for just now */

void uh_room_open(uh_room *of, int64_t capacity, uh_room_allocate allocate, uh_room_release release) {
    memset(of, 0, sizeof *of);
    of->capacity = capacity;
    of->unused = UH_NONE;
    of->allocate = allocate;
    of->release = release;
}

void uh_room_close(uh_room *of) {
    free(of->stretch);
    free(of->line);
}

/* A record that nobody uses; UH_NONE: no memory. There are as many lines as records, so that whatever comes back can wait. */
static int32_t record(uh_room *of) {
    if (of->unused != UH_NONE) {
        const int32_t found = of->unused;
        of->unused = of->stretch[found].later;
        return found;
    }
    if (of->stretches == of->most) {
        const int32_t most = of->most ? 2 * of->most : 256;
        uh_stretch *piece = realloc(of->stretch, (size_t)most * sizeof *piece);
        if (piece) of->stretch = piece;
        uh_line *line = realloc(of->line, (size_t)most * sizeof *line);
        if (line) of->line = line;
        if (!piece || !line) return UH_NONE;
        of->most = most;
    }
    return of->stretches++;
}

static void forget(uh_room *of, int32_t piece) {
    of->stretch[piece].later = of->unused;
    of->unused = piece;
}

/* The number of the first line whose stretches are at least so long. */
static int32_t line_from(const uh_room *of, int64_t nbytes) {
    int32_t at = 0;
    while (at < of->lines && of->line[at].nbytes < nbytes) at++;
    return at;
}

/* It waits no more. */
static void lift(uh_room *of, int32_t piece) {
    uh_stretch *s = of->stretch + piece;
    const int32_t at = line_from(of, s->nbytes);
    uh_line *line = of->line + at;
    if (s->earlier != UH_NONE) of->stretch[s->earlier].later = s->later;
    else line->first = s->later;
    if (s->later != UH_NONE) of->stretch[s->later].earlier = s->earlier;
    else line->last = s->earlier;
    s->waits = 0;
    if (line->first == UH_NONE) memmove(line, line + 1, (size_t)(--of->lines - at) * sizeof *line);
}

/* It waits, behind others of its length. */
static void line_up(uh_room *of, int32_t piece) {
    uh_stretch *s = of->stretch + piece;
    const int32_t at = line_from(of, s->nbytes);
    uh_line *line = of->line + at;
    if (at == of->lines || line->nbytes != s->nbytes) {
        memmove(line + 1, line, (size_t)(of->lines++ - at) * sizeof *line);
        *line = (uh_line){s->nbytes, UH_NONE, UH_NONE};
    }
    s->waits = 1;
    s->earlier = line->last;
    s->later = UH_NONE;
    if (line->last != UH_NONE) of->stretch[line->last].later = piece;
    else line->first = piece;
    line->last = piece;
}

/* Two neighbours, neither of them in a line, become the first of them. */
static void join(uh_room *of, int32_t first, int32_t second) {
    uh_stretch *a = of->stretch + first, *b = of->stretch + second;
    a->nbytes += b->nbytes;
    a->behind = b->behind;
    if (b->behind != UH_NONE) of->stretch[b->behind].before = first;
    forget(of, second);
}

/* Let it wait, as one with its neighbours that do. */
static void lay(uh_room *of, int32_t piece) {
    const int32_t before = of->stretch[piece].before, behind = of->stretch[piece].behind;
    if (behind != UH_NONE && of->stretch[behind].waits) {
        lift(of, behind);
        join(of, piece, behind);
    }
    if (before != UH_NONE && of->stretch[before].waits) {
        lift(of, before);
        join(of, before, piece);
        piece = before;
    }
    line_up(of, piece);
}

/* The first `nbytes` of one that waits; the rest waits on. UH_NO_MEMORY. */
static int32_t cut(uh_room *of, int32_t piece, int64_t nbytes) {
    const int32_t rest = record(of);
    if (rest == UH_NONE) return UH_NO_MEMORY;
    lift(of, piece);
    uh_stretch *s = of->stretch + piece, *r = of->stretch + rest;
    *r = (uh_stretch){s->at + nbytes, s->nbytes - nbytes, s->block, piece, s->behind, UH_NONE, UH_NONE, 0};
    if (s->behind != UH_NONE) of->stretch[s->behind].before = rest;
    s->behind = rest;
    s->nbytes = nbytes;
    line_up(of, rest);
    return piece;
}

/* A block of its own. UH_NO_MEMORY. */
static int32_t allocated(uh_room *of, int64_t nbytes) {
    const int32_t piece = record(of);
    void *memory = piece == UH_NONE ? NULL : of->allocate(nbytes, of->blocks);
    if (!memory) {
        if (piece != UH_NONE) forget(of, piece);
        return UH_NO_MEMORY;
    }
    of->stretch[piece] = (uh_stretch){memory, nbytes, of->blocks++, UH_NONE, UH_NONE, UH_NONE, UH_NONE, 0};
    of->total += nbytes;
    return piece;
}

/* One piece of this length; UH_NONE, UH_NO_MEMORY. */
static int32_t one(uh_room *of, int64_t nbytes, int anew) {
    const int32_t at = line_from(of, nbytes);
    if (at < of->lines && of->line[at].nbytes == nbytes) {
        const int32_t piece = of->line[at].first;
        lift(of, piece);
        return piece;
    }
    if (of->total + nbytes > of->capacity) {
        if (!anew && of->total - of->in_use <= of->capacity / IDLE) return UH_NONE;
        if (at < of->lines) return cut(of, of->line[at].first, nbytes);
        uh_room_shrink(of, of->capacity - nbytes);
        if (of->total + nbytes > of->capacity) return UH_NONE;
    }
    return allocated(of, nbytes);
}

int uh_room_take(uh_room *of, const int64_t *nbytes, int32_t n, int anew, int32_t *taken) {
    int64_t sum = 0;
    for (int32_t i = 0; i < n; i++) sum += nbytes[i];
    if (of->in_use + sum > of->capacity) return UH_NONE;
    for (int32_t i = 0; i < n; i++) {
        taken[i] = one(of, nbytes[i], anew);
        if (taken[i] < 0) {
            const int failed = taken[i];
            uh_room_give(of, taken, i);
            return failed;
        }
        of->in_use += nbytes[i];
    }
    return 0;
}

void uh_room_give(uh_room *of, const int32_t *pieces, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        of->in_use -= of->stretch[pieces[i]].nbytes;
        lay(of, pieces[i]);
    }
    uh_room_shrink(of, of->capacity);
}

void uh_room_shrink(uh_room *of, int64_t most) {
    for (int32_t at = of->lines - 1; at >= 0 && of->total > most; at--) {
        int32_t piece = of->line[at].first;
        while (piece != UH_NONE && of->total > most) {
            const uh_stretch s = of->stretch[piece];
            if (s.before == UH_NONE && s.behind == UH_NONE) {
                lift(of, piece); /* the last one takes its line with it */
                forget(of, piece);
                of->total -= s.nbytes;
                of->release(s.block);
            }
            piece = s.later;
        }
    }
}
