/* One mutex over a few lists; it is never held while a disk is read or a checksum is computed. */
#include "io_pool.h"

#include <stdlib.h>
#include <string.h>

#include "crc32.h"
#include "thread_priority.h"
#include "threads.h"

enum { FIRST_TABLE = 64, EVENTS = 4096 };

typedef struct request request;
struct request {
    request *before, *behind; /* in its queue, or among those that have ended */
    int64_t id, started, ns;
    int32_t urgency, status, error, part;
    int32_t n_parts, n_chunks, taken, under_way; /* chunks */
    const uh_io_part *parts;
    const uh_io_run *runs;
    const uh_io_chunk *chunks;
    uint32_t *found; /* by part: the checksum of what has come, zeros being in the place of what has not */
};

typedef struct {
    request *first, *last;
} list;

/* Time in which at least one is under way. */
typedef struct {
    int64_t bytes, ns, since;
    int32_t count;
} meter;

typedef struct {
    uh_io_pool *reads;
    int32_t number;
    uh_thread thread;
    uh_io_scratch scratch;
} reader;

struct uh_io_pool {
    uh_mutex mutex;
    uh_condition work, ends;
    uh_read_hook hook;
    list queues[UH_URGENCIES]; /* with chunks that no thread has taken */
    list ended;
    meter meters[UH_URGENCIES], disk;
    request **table; /* every request until its end is taken, at its id modulo table_size */
    int64_t table_size, next_id, held, open, opened;
    uh_io_event *events;
    int32_t n_events, listening;
    int32_t readers, takers, stopping, stopped;
    int32_t asleep; /* readers */
    int32_t waking; /* one of them was woken, and has not noticed yet */
    reader reader[];
};

static void append(list *to, request *r) {
    r->before = to->last;
    r->behind = NULL;
    if (to->last) to->last->behind = r;
    else to->first = r;
    to->last = r;
}

static void unlink_from(list *from, request *r) {
    if (r->before) r->before->behind = r->behind;
    else from->first = r->behind;
    if (r->behind) r->behind->before = r->before;
    else from->last = r->before;
}

static void begin(meter *m, int64_t now) {
    if (!m->count++) m->since = now;
}

static void finish(meter *m, int64_t now, int64_t nbytes) {
    m->bytes += nbytes;
    if (!--m->count) m->ns += now - m->since;
}

static int64_t spent(const meter *m, int64_t now) { return m->ns + (m->count ? now - m->since : 0); }

static int64_t left_of(const request *r) {
    int64_t left = 0;
    for (int32_t i = r->taken; i < r->n_chunks; i++) left += r->chunks[i].nbytes;
    return left;
}

static request *find(const uh_io_pool *reads, int64_t id) {
    request *r = reads->table[id % reads->table_size];
    return r && r->id == id ? r : NULL;
}

/* Gives it an id whose place in the table is free; 0: no memory. What differs modulo n differs modulo 2n. */
static int numbered(uh_io_pool *reads, request *r) {
    if (reads->held == reads->table_size) {
        request **table = calloc((size_t)reads->table_size * 2, sizeof *table);
        if (!table) return 0;
        for (int64_t i = 0; i < reads->table_size; i++) table[reads->table[i]->id % (2 * reads->table_size)] = reads->table[i];
        free(reads->table);
        reads->table = table;
        reads->table_size *= 2;
    }
    while (reads->table[reads->next_id % reads->table_size]) reads->next_id++;
    r->id = reads->next_id++;
    reads->table[r->id % reads->table_size] = r;
    reads->held++;
    return 1;
}

/* The next request to read for; NULL: none. */
static request *next(const uh_io_pool *reads) {
    if (reads->queues[UH_DEMAND].first) return reads->queues[UH_DEMAND].first;
    const int32_t most = reads->readers > 1 ? reads->readers - 1 : 1;
    if (reads->meters[UH_DEMAND].count || reads->disk.count >= most) return NULL;
    for (int u = UH_DEMAND + 1; u < UH_URGENCIES; u++)
        if (reads->queues[u].first) return reads->queues[u].first;
    return NULL;
}

/* Whether the caller is to wake a reader, once it has let the mutex go, for which that one would only have to wait; no
 * other caller does then. To wake one takes 10 us and
 * more where its core is idle, so whoever asks for something wakes one at most; who is awake then wakes the next. */
static int claim_wakeup(uh_io_pool *reads) {
    if (!reads->asleep || reads->waking || !next(reads)) return 0;
    return reads->waking = 1;
}

static void end(uh_io_pool *reads, request *r) {
    reads->open--;
    append(&reads->ended, r);
    if (reads->takers) uh_wake_all(&reads->ends);
}

/* Drop the chunks that no reader has taken. The request keeps its first error. */
static void drop_untaken(uh_io_pool *reads, request *r, int32_t status, int32_t error) {
    if (r->taken < r->n_chunks) unlink_from(&reads->queues[r->urgency], r);
    r->taken = r->n_chunks;
    if (r->status) return;
    r->status = status;
    r->error = error;
}

static void cancel(uh_io_pool *reads, request *r) {
    drop_untaken(reads, r, UH_IO_CANCELLED, 0);
    if (!r->under_way) end(reads, r);
}

/* ---- on the readers' threads -------------------------------------------------------------------------------------- */

static request *await_turn(uh_io_pool *reads) {
    request *r;
    while (!(r = next(reads)) && !reads->stopping) {
        reads->asleep++;
        uh_wait(&reads->work, &reads->mutex);
        reads->asleep--;
        reads->waking = 0;
    }
    return r;
}

/* The memory that a chunk goes to, part by part; returns how many parts. */
static int32_t slices_of(const request *r, const uh_io_chunk *chunk, uh_slice *slices) {
    int32_t n = 0;
    int64_t from = chunk->from, left = chunk->nbytes;
    for (const uh_io_part *part = &r->parts[chunk->part]; left > 0; part++, from = 0) {
        const int64_t room = part->nbytes - from;
        slices[n] = (uh_slice){part->to + from, left < room ? left : room};
        left -= slices[n++].nbytes;
    }
    return n;
}

static int32_t read_chunk(reader *self, const request *r, const uh_io_chunk *chunk, const uh_slice *slices, int32_t n,
                          int32_t *error) {
    const uh_io_run *run = &r->runs[chunk->run];
    const int64_t offset = run->offset + chunk->start;
    const int64_t got = self->reads->hook
                            ? self->reads->hook(run->file, offset, slices, n, error)
                            : uh_file_read(run->file, run->direct != 0, offset, slices, n, &self->scratch, error);
    return got < 0 ? UH_IO_REFUSED : got < chunk->nbytes ? UH_IO_SHORT : UH_IO_WHOLE;
}

/* What each slice of a chunk adds to the checksum of its part. Chunk by chunk, so that little is left to be done when the
 * last one is there. */
static void checksums_of(const request *r, const uh_io_chunk *chunk, const uh_slice *slices, int32_t n, uint32_t *crcs) {
    for (int32_t i = 0; i < n; i++) {
        const uh_io_part *part = &r->parts[chunk->part + i];
        const int64_t behind = part->to + part->nbytes - (slices[i].to + slices[i].nbytes);
        crcs[i] = uh_crc32_before(uh_crc32(-1, 0, slices[i].to, slices[i].nbytes), behind);
    }
}

/* The first part that is not what was written; -1: there is none. */
static int32_t damaged_part(const request *r) {
    for (int32_t i = 0; i < r->n_parts; i++)
        if (r->found[i] != (uint32_t)r->parts[i].crc) return i;
    return -1;
}

static void write_down(reader *self, const request *r, int32_t urgency, int64_t nbytes, int64_t start, int64_t now) {
    uh_io_pool *reads = self->reads;
    if (!reads->listening || reads->n_events == EVENTS) return;
    reads->events[reads->n_events++] = (uh_io_event){r->id, nbytes, start, now, self->number, urgency};
}

/* Reads the next chunk of a request, and ends it if that was all. The mutex is held before and after. */
static void serve(reader *self, request *r) {
    uh_io_pool *reads = self->reads;
    const uh_io_chunk *chunk = &r->chunks[r->taken];
    const int32_t urgency = r->urgency;
    const int64_t start = uh_nanoseconds();
    if (++r->taken == r->n_chunks) unlink_from(&reads->queues[urgency], r);
    if (!r->started) r->started = start;
    r->under_way++;
    begin(&reads->meters[urgency], start);
    begin(&reads->disk, start);
    int wake = claim_wakeup(reads);
    uh_unlock(&reads->mutex);
    if (wake) uh_wake_one(&reads->work);

    uh_slice slices[UH_MOST_SLICES];
    const int32_t n = slices_of(r, chunk, slices);
    int32_t error = 0;
    const int32_t status = read_chunk(self, r, chunk, slices, n, &error);

    uh_lock(&reads->mutex);
    const int64_t now = uh_nanoseconds(), nbytes = status ? 0 : chunk->nbytes;
    write_down(self, r, urgency, chunk->nbytes, start, now);
    finish(&reads->meters[urgency], now, nbytes);
    finish(&reads->disk, now, nbytes);
    if (now - r->started > r->ns) r->ns = now - r->started;
    if (status) drop_untaken(reads, r, status, error);
    if (!r->status) {
        uint32_t crcs[UH_MOST_SLICES];
        wake = claim_wakeup(reads); /* it may be the turn of others, and this one has still something to do */
        uh_unlock(&reads->mutex);
        if (wake) uh_wake_one(&reads->work);
        checksums_of(r, chunk, slices, n, crcs);
        uh_lock(&reads->mutex);
        for (int32_t i = 0; i < n; i++) r->found[chunk->part + i] ^= crcs[i];
    }
    if (--r->under_way || r->taken < r->n_chunks) return;
    if (!r->status && (r->part = damaged_part(r)) >= 0) r->status = UH_IO_DAMAGED;
    end(reads, r);
}

UH_THREAD_MAIN(reader_main) {
    reader *self = argument;
    request *r;
    uh_raise_thread_priority(); /* the disk is idle until who has its answer asks for the next */
    uh_lock(&self->reads->mutex);
    while ((r = await_turn(self->reads))) serve(self, r);
    uh_unlock(&self->reads->mutex);
    return UH_THREAD_END;
}

/* ---- for everybody ------------------------------------------------------------------------------------------------ */

uh_io_pool *uh_io_open(int readers, uh_read_hook hook) {
    if (readers < 1) readers = 1;
    uh_io_pool *reads = calloc(1, sizeof *reads + (size_t)readers * sizeof(reader));
    if (!reads) return NULL;
    uh_mutex_init(&reads->mutex);
    uh_condition_init(&reads->work);
    uh_condition_init(&reads->ends);
    reads->hook = hook;
    reads->table_size = FIRST_TABLE;
    reads->next_id = 1;
    reads->table = calloc(FIRST_TABLE, sizeof *reads->table);
    reads->opened = uh_nanoseconds();
    for (int32_t i = 0; reads->table && i < readers; i++) {
        reads->reader[i].reads = reads;
        reads->reader[i].number = i;
        uh_lock(&reads->mutex);
        const int failed = uh_thread_start(&reads->reader[i].thread, reader_main, &reads->reader[i]);
        if (!failed) reads->readers++;
        uh_unlock(&reads->mutex);
        if (failed) break;
    }
    if (reads->readers == readers) return reads;
    uh_io_close(reads);
    return NULL;
}

int64_t uh_io_submit(uh_io_pool *reads, int32_t urgency, const uh_io_part *parts, int32_t n_parts,
                        const uh_io_run *runs, int32_t n_runs, const uh_io_chunk *chunks, int32_t n_chunks) {
    const size_t part_bytes = (size_t)n_parts * sizeof *parts, run_bytes = (size_t)n_runs * sizeof *runs;
    const size_t chunk_bytes = (size_t)n_chunks * sizeof *chunks, found_bytes = (size_t)n_parts * sizeof(uint32_t);
    request *r = calloc(1, sizeof *r + part_bytes + run_bytes + chunk_bytes + found_bytes);
    if (!r) return -1;
    uint8_t *room = (uint8_t *)(r + 1);
    r->parts = memcpy(room, parts, part_bytes);
    r->runs = memcpy(room + part_bytes, runs, run_bytes);
    r->chunks = memcpy(room + part_bytes + run_bytes, chunks, chunk_bytes);
    r->found = (uint32_t *)(room + part_bytes + run_bytes + chunk_bytes);
    r->n_parts = n_parts;
    r->n_chunks = n_chunks;
    r->urgency = urgency;
    int64_t id = 0;
    uh_lock(&reads->mutex);
    if (!reads->stopping) id = numbered(reads, r) ? r->id : -1;
    if (id > 0) {
        reads->open++;
        if (n_chunks) append(&reads->queues[urgency], r);
        else end(reads, r);
    }
    const int wake = claim_wakeup(reads);
    uh_unlock(&reads->mutex);
    if (wake) uh_wake_one(&reads->work);
    if (id <= 0) free(r);
    return id;
}

int uh_io_cancel(uh_io_pool *reads, int64_t id) {
    uh_lock(&reads->mutex);
    request *r = find(reads, id);
    const int possible = r && r->taken < r->n_chunks;
    if (possible) cancel(reads, r);
    const int wake = claim_wakeup(reads); /* with a demand gone it may be the turn of others */
    uh_unlock(&reads->mutex);
    if (wake) uh_wake_one(&reads->work);
    return possible;
}

void uh_io_promote(uh_io_pool *reads, int64_t id) {
    uh_lock(&reads->mutex);
    request *r = find(reads, id);
    if (r && r->urgency != UH_DEMAND) {
        if (r->taken < r->n_chunks) {
            unlink_from(&reads->queues[r->urgency], r);
            append(&reads->queues[UH_DEMAND], r);
        }
        r->urgency = UH_DEMAND;
    }
    const int wake = claim_wakeup(reads);
    uh_unlock(&reads->mutex);
    if (wake) uh_wake_one(&reads->work);
}

int64_t uh_io_left(uh_io_pool *reads, int64_t id) {
    uh_lock(&reads->mutex);
    const request *r = find(reads, id);
    const int64_t left = r ? left_of(r) : 0;
    uh_unlock(&reads->mutex);
    return left;
}

void uh_io_look(uh_io_pool *reads, uh_io_state *state) {
    memset(state, 0, sizeof *state);
    uh_lock(&reads->mutex);
    const int64_t now = uh_nanoseconds();
    for (int u = 0; u < UH_URGENCIES; u++) {
        state->bytes[u] = reads->meters[u].bytes;
        state->ns[u] = spent(&reads->meters[u], now);
        for (const request *r = reads->queues[u].first; r; r = r->behind) state->queued[u] += left_of(r);
    }
    state->busy_ns = spent(&reads->disk, now);
    state->ns_since_open = now - reads->opened;
    state->open = reads->open;
    uh_unlock(&reads->mutex);
}

int32_t uh_io_completed(uh_io_pool *reads, uh_io_completion *ends, int32_t most, int wait) {
    int32_t n = 0;
    request *r;
    uh_lock(&reads->mutex);
    while (wait && !reads->ended.first && reads->open) {
        reads->takers++;
        uh_wait(&reads->ends, &reads->mutex);
        reads->takers--;
    }
    while (n < most && (r = reads->ended.first)) {
        unlink_from(&reads->ended, r);
        reads->table[r->id % reads->table_size] = NULL;
        reads->held--;
        ends[n++] = (uh_io_completion){r->id, r->ns, r->status, r->error, r->part, 0};
        free(r);
    }
    uh_unlock(&reads->mutex);
    return n;
}

int uh_io_listen(uh_io_pool *reads, int on) {
    uh_lock(&reads->mutex);
    if (on && !reads->events) reads->events = calloc(EVENTS, sizeof *reads->events);
    reads->listening = on && reads->events;
    reads->n_events = 0;
    const int failed = on && !reads->events;
    uh_unlock(&reads->mutex);
    return failed ? -1 : 0;
}

int32_t uh_io_events(uh_io_pool *reads, uh_io_event *events, int32_t most) {
    uh_lock(&reads->mutex);
    const int32_t n = reads->n_events < most ? reads->n_events : most;
    if (n) {
        memcpy(events, reads->events, (size_t)n * sizeof *events);
        reads->n_events -= n;
        memmove(reads->events, reads->events + n, (size_t)reads->n_events * sizeof *events);
    }
    uh_unlock(&reads->mutex);
    return n;
}

void uh_io_stop(uh_io_pool *reads) {
    uh_lock(&reads->mutex);
    const int first = !reads->stopping;
    reads->stopping = 1;
    for (int u = 0; u < UH_URGENCIES; u++)
        while (reads->queues[u].first) cancel(reads, reads->queues[u].first);
    uh_wake_all(&reads->work);
    if (first) {
        uh_unlock(&reads->mutex);
        for (int32_t i = 0; i < reads->readers; i++) uh_thread_join(reads->reader[i].thread);
        uh_lock(&reads->mutex);
        reads->stopped = 1;
        uh_wake_all(&reads->ends);
    }
    while (!reads->stopped) uh_wait(&reads->ends, &reads->mutex);
    uh_unlock(&reads->mutex);
}

void uh_io_close(uh_io_pool *reads) {
    uh_io_stop(reads);
    for (int64_t i = 0; reads->table && i < reads->table_size; i++) free(reads->table[i]);
    for (int32_t i = 0; i < reads->readers; i++) uh_io_scratch_close(&reads->reader[i].scratch);
    uh_condition_destroy(&reads->ends);
    uh_condition_destroy(&reads->work);
    uh_mutex_destroy(&reads->mutex);
    free(reads->table);
    free(reads->events);
    free(reads);
}
