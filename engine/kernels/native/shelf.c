/* What is held is known by its stretches' numbers; a reservation is kept with its expert, for there is never more than one. */
#include "shelf_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROTECTED 1e15 /* engine/experts/policies/scored.py */

uh_shelf *uh_shelf_open(int32_t experts, int64_t capacity, uh_room_allocate allocate, uh_room_release release,
                        uh_shelf_victim victim, uh_shelf_told told, uh_shelf_plan plan) {
    uh_shelf *shelf = calloc(1, sizeof *shelf + (size_t)experts * sizeof(uh_item));
    if (!shelf) return NULL;
    uh_room_open(&shelf->room, capacity, allocate, release);
    shelf->under_way = calloc((size_t)experts + 1, sizeof *shelf->under_way);
    shelf->last = calloc((size_t)experts + 1, sizeof *shelf->last);
    shelf->n = experts;
    shelf->victim = victim;
    shelf->told = told;
    shelf->plan = plan;
    shelf->leaving.asks = 1;
    if (shelf->under_way && shelf->last) return shelf;
    uh_shelf_close(shelf);
    return NULL;
}

void uh_shelf_close(uh_shelf *shelf) {
    for (int32_t i = 0; i < shelf->n; i++) {
        for (uh_plan *p = shelf->items[i].plans, *next; p; p = next) {
            next = p->next;
            free(p);
        }
    }
    uh_room_close(&shelf->room);
    free(shelf->under_way);
    free(shelf->last);
    free(shelf);
}

int64_t *uh_shelf_totals(uh_shelf *shelf) { return &shelf->room.capacity; }

void uh_shelf_reads(uh_shelf *shelf, uh_reads *reads) { shelf->reads = reads; }

void uh_shelf_policy(uh_shelf *shelf, const uh_leaving *leaving) { shelf->leaving = *leaving; }

void uh_shelf_expert(uh_shelf *shelf, int32_t expert, const uh_record *record) { shelf->items[expert].record = record; }

/* ---- what is held ------------------------------------------------------------------------------------------------- */

/* The most planes, no more than `most`, whose parts are all among these. */
static int32_t planes_of(const uh_record *record, int32_t parts, int32_t most) {
    int32_t planes = most && most < record->most ? most : record->most;
    while (planes && (record->needed[planes] & ~parts)) planes--;
    return planes;
}

static int32_t count_of(int32_t parts) {
    int32_t count = 0;
    for (; parts; parts &= parts - 1) count++;
    return count;
}

/* Shows the kernels what an expert runs at, and where it is. */
static void show(uh_shelf *shelf, uh_item *e) {
    e->version++;
    if (!e->shown) return;
    const int32_t planes = planes_of(e->record, e->parts, e->most);
    e->shown->planes = planes;
    if (!planes) return;
    for (int32_t i = 0; i < UH_PLANES; i++)
        e->shown->codes[i] = i < planes ? shelf->room.stretch[e->held[e->record->codes[i]]].at : NULL;
    const int32_t params = e->record->params[planes];
    e->shown->params = params < 0 ? NULL : shelf->room.stretch[e->held[params]].at;
}

void uh_shelf_show(uh_shelf *shelf, int32_t expert, uh_expert *shown, int32_t most) {
    shelf->items[expert].shown = shown;
    shelf->items[expert].most = most;
    show(shelf, shelf->items + expert);
}

/* Of these parts, in their order; returns how many. */
static int32_t stretches_of(const int32_t *numbers, int32_t parts, int32_t *found) {
    int32_t n = 0;
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (parts >> i & 1) found[n++] = numbers[i];
    return n;
}

static void give(uh_shelf *shelf, const int32_t *numbers, int32_t parts) {
    int32_t found[UH_PARTS];
    uh_room_give(&shelf->room, found, stretches_of(numbers, parts, found));
}

/* These parts it has no more. */
static void lose(uh_shelf *shelf, uh_item *e, int32_t parts) {
    e->parts &= ~parts;
    e->planes = planes_of(e->record, e->parts, 0);
    show(shelf, e);
}

/* It gives these parts up. */
static void let_go(uh_shelf *shelf, uh_item *e, int32_t parts) {
    parts &= e->parts;
    if (!parts) return;
    lose(shelf, e, parts);
    give(shelf, e->held, parts);
}

/* It is resident no more; returns the parts that it had. */
static int32_t taken_from(uh_shelf *shelf, int32_t expert) {
    uh_item *e = shelf->items + expert;
    if (shelf->leaving.asks) shelf->told(expert, 0);
    else shelf->leaving.bars[expert] = shelf->leaving.order[expert] = INFINITY;
    const int32_t parts = e->parts;
    e->surplus = 0;
    lose(shelf, e, parts);
    return parts;
}

static void forget(uh_shelf *shelf, int32_t expert) {
    give(shelf, shelf->items[expert].held, taken_from(shelf, expert));
}

/* Gives back what an expert that nobody uses holds beyond what it is meant to be. */
static void tidy(uh_shelf *shelf, uh_item *e) {
    if (!e->surplus || e->pins || !e->parts) return;
    let_go(shelf, e, ~e->record->needed[e->meant]);
    e->surplus = 0;
}

/* ---- who leaves --------------------------------------------------------------------------------------------------- */

static int32_t victim(uh_shelf *shelf, int32_t incoming) {
    const uh_leaving *l = &shelf->leaving;
    if (l->hobbit && !l->state[0]) uh_hobbit_rank(l->hobbit);
    if (!l->asks && l->state[0])
        for (int32_t i = 0; i < l->state[1]; i++)
            if (l->order[l->next[i]] < INFINITY && !shelf->items[l->next[i]].pins) return l->next[i];
    return shelf->victim(incoming);
}

void uh_shelf_protect(uh_shelf *shelf, const int32_t *experts, int32_t n) {
    const uh_leaving *l = &shelf->leaving;
    for (int32_t i = 0; i < shelf->n_last; i++) {
        l->protect[shelf->last[i]] = 0;
        if (l->bars[shelf->last[i]] == PROTECTED) l->bars[shelf->last[i]] = 0.0;
    }
    for (int32_t i = 0; i < n; i++) {
        l->protect[experts[i]] = 1;
        if (l->bars[experts[i]] == 0.0) l->bars[experts[i]] = PROTECTED;
    }
    if (n) memcpy(shelf->last, experts, (size_t)n * sizeof *experts);
    shelf->n_last = n;
    l->state[0] = 0;
}

/* Lets one go, for nobody in particular; 0: nobody may. */
static int evict(uh_shelf *shelf) {
    const int32_t leaving = victim(shelf, UH_NONE);
    if (leaving < 0) return 0;
    forget(shelf, leaving);
    return 1;
}

void uh_shelf_settle(uh_shelf *shelf, int shrink_only) {
    uh_room *room = &shelf->room;
    uh_room_shrink(room, room->capacity);
    /* Of blocks in part in use nothing could go. */
    while (!shrink_only && room->total > room->capacity && evict(shelf)) continue;
}

void uh_shelf_make_free(uh_shelf *shelf, int64_t nbytes) {
    while (shelf->room.capacity - shelf->room.in_use < nbytes && evict(shelf)) continue;
}

void uh_shelf_forget(uh_shelf *shelf, int32_t expert) { forget(shelf, expert); }

void uh_shelf_pin(uh_shelf *shelf, const int32_t *experts, int32_t n) {
    for (int32_t i = 0; i < n; i++) shelf->items[experts[i]].pins++;
}

void uh_shelf_unpin(uh_shelf *shelf, const int32_t *experts, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        shelf->items[experts[i]].pins--;
        tidy(shelf, shelf->items + experts[i]);
    }
    uh_shelf_settle(shelf, 0);
}

/* ---- room --------------------------------------------------------------------------------------------------------- */

/* Whether these are of exactly these lengths, and may be used at all. */
static int fit(const uh_room *room, const int32_t *left, int32_t n_left, const int64_t *nbytes, int32_t n) {
    if (room->in_use > room->capacity || n_left != n) return 0;
    for (int32_t i = 0; i < n; i++)
        if (room->stretch[left[i]].nbytes != nbytes[i]) return 0;
    return 1;
}

static int take(uh_shelf *shelf, int32_t expert, const int64_t *nbytes, int32_t n, int32_t *taken) {
    uh_room *room = &shelf->room;
    for (;;) {
        const int found = uh_room_take(room, nbytes, n, 0, taken);
        if (!found) return 0;
        const int32_t leaving = victim(shelf, expert);
        if (leaving < 0) return found == UH_NONE ? uh_room_take(room, nbytes, n, 1, taken) : found;
        if (found == UH_NO_MEMORY) room->capacity = room->total; /* more than this the system does not give */
        int32_t left[UH_PARTS];
        const int32_t parts = taken_from(shelf, leaving);
        const int32_t n_left = stretches_of(shelf->items[leaving].held, parts, left);
        if (fit(room, left, n_left, nbytes, n)) { /* one like the other: its memory changes hands */
            memcpy(taken, left, (size_t)n * sizeof *taken);
            return 0;
        }
        uh_room_give(room, left, n_left);
    }
}

/* Room for these parts, at worst in the place of what the expert, if nobody else uses it, will not need. */
static int make_room(uh_shelf *shelf, int32_t expert, int32_t missing, int32_t needed) {
    uh_item *e = shelf->items + expert;
    int64_t nbytes[UH_PARTS];
    int32_t taken[UH_PARTS], n = 0;
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (missing >> i & 1) nbytes[n++] = e->record->nbytes[i];
    int found = take(shelf, expert, nbytes, n, taken);
    if (found == UH_NONE && e->pins == 1 && (e->parts & ~needed)) {
        let_go(shelf, e, ~needed);
        found = take(shelf, expert, nbytes, n, taken);
    }
    for (int32_t i = UH_PARTS; !found && i-- > 0;)
        if (missing >> i & 1) e->coming[i] = taken[--n];
    return found;
}

/* What was reserved does not come, or could not be had. */
static void drop(uh_shelf *shelf, int32_t expert, int32_t parts) {
    uh_item *e = shelf->items + expert;
    give(shelf, e->coming, parts);
    if (e->parts && !e->planes) forget(shelf, expert); /* it gave up a coarser one for what did not come */
    uh_shelf_unpin(shelf, &expert, 1);
}

int uh_shelf_reserve(uh_shelf *shelf, int32_t expert, int32_t planes) {
    uh_item *e = shelf->items + expert;
    const int32_t needed = e->record->needed[planes], missing = needed & ~e->parts;
    if (e->arriving || !missing) return UH_THERE;
    e->pins++;
    const int found = make_room(shelf, expert, missing, needed);
    if (found) {
        drop(shelf, expert, 0);
        return found == UH_NONE ? UH_NO_ROOM : UH_OUT_OF_MEMORY;
    }
    e->arriving = 1;
    e->bringing = missing;
    e->aims = planes;
    return UH_ASKED;
}

void uh_shelf_place(uh_shelf *shelf, int32_t expert, int pin) {
    uh_item *e = shelf->items + expert;
    const uh_leaving *l = &shelf->leaving;
    const int alone = !e->parts;
    for (int32_t i = 0; i < UH_PARTS; i++)
        if (e->bringing >> i & 1) e->held[i] = e->coming[i];
    e->parts |= e->bringing;
    e->arriving = e->bringing = 0;
    e->meant = e->aims;
    e->planes = planes_of(e->record, e->parts, 0);
    e->surplus = !alone && count_of(e->parts) > count_of(e->record->needed[e->meant]);
    if (l->asks) {
        shelf->told(expert, 1);
    } else {
        l->bars[expert] = l->protect[expert] ? PROTECTED : 0.0;
        l->state[0] = 0;
    }
    show(shelf, e);
    e->pins--;
    tidy(shelf, e);
    e->pins += pin;
    uh_shelf_settle(shelf, 0);
}

void uh_shelf_abandon(uh_shelf *shelf, int32_t expert) {
    uh_item *e = shelf->items + expert;
    const int32_t bringing = e->bringing;
    e->arriving = e->bringing = 0;
    drop(shelf, expert, bringing);
}

/* ---- for whoever looks -------------------------------------------------------------------------------------------- */

int32_t uh_shelf_planes(const uh_shelf *shelf, int32_t expert, int32_t most) {
    const uh_item *e = shelf->items + expert;
    return planes_of(e->record, e->parts, most);
}

int64_t uh_shelf_version(const uh_shelf *shelf, int32_t expert) { return shelf->items[expert].version; }

int32_t uh_shelf_pins(const uh_shelf *shelf, int32_t expert) { return shelf->items[expert].pins; }

int64_t uh_shelf_lacking(const uh_shelf *shelf, int32_t expert, int32_t planes) {
    const uh_item *e = shelf->items + expert;
    int64_t nbytes = 0;
    for (int32_t i = 0; i < UH_PARTS && !e->arriving; i++)
        if ((e->record->needed[planes] & ~e->parts) >> i & 1) nbytes += e->record->nbytes[i];
    return nbytes;
}

int32_t uh_shelf_parts(const uh_shelf *shelf, int32_t expert, int arriving, int64_t *parts) {
    const uh_item *e = shelf->items + expert;
    const int32_t found = arriving ? e->bringing : e->parts, *numbers = arriving ? e->coming : e->held;
    for (int32_t i = 0; i < UH_PARTS; i++) {
        const uh_stretch *s = found >> i & 1 ? shelf->room.stretch + numbers[i] : NULL;
        parts[3 * i] = s ? s->block : -1;
        parts[3 * i + 1] = s ? (int64_t)(intptr_t)s->at : 0;
        parts[3 * i + 2] = s ? s->nbytes : 0;
    }
    return found;
}

void uh_shelf_look(const uh_shelf *shelf, uint8_t *planes, int64_t *latest) {
    for (int32_t expert = 0; expert < shelf->n; expert++) {
        const uh_item *e = shelf->items + expert;
        if (planes) planes[expert] = (uint8_t)e->planes;
        if (latest) latest[expert] = -1;
        for (int32_t i = 0; latest && i < UH_PARTS; i++) {
            const int64_t block = e->parts >> i & 1 ? shelf->room.stretch[e->held[i]].block : -1;
            if (block > latest[expert]) latest[expert] = block;
        }
    }
}
