/* Every thread owns a run of neighbouring units, takes them from the front, and helps the others from the back.
 *
 * A run is one 64-bit word, (end << 32 | next): a claim succeeds only while that work is unfinished, so a claimer may then
 * read the work's fields safely, and a thread that sleeps through a piece of work delays nobody. What can delay it is a
 * thread that loses its core to another program within a unit; and two threads that have but one core between them take
 * turns at it. The caller notices either, the latter by pieces of work of which a thread did no unit at all, though it was
 * awake when they began: one that has to be woken is late anyway, as often happens where the disk is waited for. A thread
 * that was gone for a moment and is back may go on: what a window on the same computer takes, 2 ms every 50, is lost once.
 * But where more is lost by its absence than was gained by its presence before, the caller works alone for a while, which is
 * faster than with a thread that keeps disappearing, and tries again, ever more rarely while that goes on. Where a piece
 * lasts, as a prompt's do, a thread that is late costs nothing, for the others take what it leaves: while readers took
 * turns with the threads that compute, the caller worked alone nine tenths of a prompt. */
#include "pool.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "threads.h"

enum {
    PAUSES = 64,         /* between two looks at the clock */
    AWAKE_NS = 200000,   /* that a worker waits awake for more: longer than any gap within a token, but for the disk */
    STALL_NS = 300000,   /* that the caller waits for the last units, and ... */
    STALL_UNITS = 8,     /* ... as many times its own mean unit, before it takes the worker to have lost its core */
    WATCHED_NS = 4000000, /* of work together, over which absence is averaged */
    WORTH = 2,           /* times as long as an absence must a thread have been there before it to be worth it */
    ALONE_NS = 1000000,  /* of working alone where it was not; doubled while the next try is not either, to the most of */
    MOST_ALONE_NS = 320000000
};

typedef struct {
    _Atomic uint64_t run;
    _Atomic int64_t worked_ns;
    char apart[112]; /* from the next one's cache line, and the one fetched with it */
    uh_pool *pool;
    int number;
    uh_thread thread;
} member;

struct uh_pool {
    _Atomic uint32_t turn; /* counts pieces of work: a change of it is what workers wait for */
    _Atomic int32_t sleepers;
    _Atomic int stopping;
    _Atomic(uh_work) work;
    _Atomic(void *) argument;
    char apart[128];
    _Atomic int32_t finished, present; /* units; threads that ran one */
    char apart_too[128];
    uh_mutex mutex;
    uh_condition awake;
    int64_t alone_until, alone_ns; /* of the caller, by uh_nanoseconds; the former is also when it was together again */
    int64_t watched_ns, absent_ns; /* of all threads together, since absence was last judged */
    int threads;
    member members[]; /* the first is the caller */
};

/* Claims the first unit of a run, or its last; -1: there is none left. */
static int32_t claim(member *m, int last) {
    uint64_t run = atomic_load(&m->run);
    for (;;) {
        const uint32_t next = (uint32_t)run, end = (uint32_t)(run >> 32);
        if (next >= end) return -1;
        const uint64_t rest = last ? (uint64_t)(end - 1) << 32 | next : (uint64_t)end << 32 | (next + 1);
        if (atomic_compare_exchange_weak(&m->run, &run, rest)) return (int32_t)(last ? end - 1 : next);
    }
}

/* Runs what there is to run, its own first; returns how many units that were. The caller's time is not counted. */
static int32_t run_units(uh_pool *pool, int number) {
    int32_t unit, count = 0;
    int64_t start = 0;
    for (int i = 0; i < pool->threads; i++) {
        member *m = &pool->members[(number + i) % pool->threads];
        while ((unit = claim(m, i > 0)) >= 0) {
            if (number && !count) start = uh_nanoseconds();
            uh_work work = atomic_load(&pool->work);
            work(atomic_load(&pool->argument), unit, number);
            if (!count++) atomic_fetch_add(&pool->present, 1);
            atomic_fetch_add(&pool->finished, 1);
        }
    }
    if (start) atomic_fetch_add_explicit(&pool->members[number].worked_ns, uh_nanoseconds() - start, memory_order_relaxed);
    return count;
}

int64_t uh_pool_worked(const uh_pool *pool) {
    int64_t worked_ns = 0;
    for (int i = 1; i < pool->threads; i++) worked_ns += atomic_load_explicit(&pool->members[i].worked_ns, memory_order_relaxed);
    return worked_ns;
}

static int nothing_new(uh_pool *pool, uint32_t seen) {
    return atomic_load(&pool->turn) == seen && !atomic_load(&pool->stopping);
}

/* Waits for the turn after `seen`: awake at first, then asleep. */
static void await_turn(uh_pool *pool, uint32_t seen) {
    const int64_t end = uh_nanoseconds() + AWAKE_NS;
    while (nothing_new(pool, seen)) {
        for (int i = 0; i < PAUSES && nothing_new(pool, seen); i++) uh_pause();
        if (uh_nanoseconds() > end) {
            uh_lock(&pool->mutex);
            atomic_fetch_add(&pool->sleepers, 1);
            while (nothing_new(pool, seen)) uh_wait(&pool->awake, &pool->mutex);
            atomic_fetch_sub(&pool->sleepers, 1);
            uh_unlock(&pool->mutex);
        }
    }
}

UH_THREAD_MAIN(worker_main) {
    const member *self = argument;
    uh_pool *pool = self->pool;
    for (uint32_t seen = 0; !atomic_load(&pool->stopping);) {
        await_turn(pool, seen);
        seen = atomic_load(&pool->turn);
        run_units(pool, self->number);
    }
    return UH_THREAD_END;
}

uh_pool *uh_pool_open(int threads) {
    if (threads < 1) threads = 1;
    uh_pool *pool = calloc(1, sizeof(uh_pool) + (size_t)threads * sizeof(member));
    if (!pool) return NULL;
    uh_mutex_init(&pool->mutex);
    uh_condition_init(&pool->awake);
    for (int i = 0; i < threads; i++) {
        member *m = &pool->members[i];
        m->pool = pool;
        m->number = i;
    }
    /* Workers run only once there is work, and by then `threads` is final. */
    for (pool->threads = 1; pool->threads < threads; pool->threads++) {
        member *m = &pool->members[pool->threads];
        if (uh_thread_start(&m->thread, worker_main, m)) {
            uh_pool_close(pool);
            return NULL;
        }
    }
    return pool;
}

void uh_pool_close(uh_pool *pool) {
    uh_lock(&pool->mutex);
    atomic_store(&pool->stopping, 1);
    uh_wake_all(&pool->awake);
    uh_unlock(&pool->mutex);
    for (int i = 1; i < pool->threads; i++) uh_thread_join(pool->members[i].thread);
    uh_condition_destroy(&pool->awake);
    uh_mutex_destroy(&pool->mutex);
    free(pool);
}

/* A thread was found to have been without a core for `lost_ns` up to `now`. */
static void absent(uh_pool *pool, int64_t now, int64_t lost_ns) {
    if (now - lost_ns - pool->alone_until > WORTH * lost_ns) {
        pool->alone_ns = 0;
    } else {
        pool->alone_ns = pool->alone_ns ? 2 * pool->alone_ns : ALONE_NS;
        if (pool->alone_ns > MOST_ALONE_NS) pool->alone_ns = MOST_ALONE_NS;
    }
    pool->alone_until = now + pool->alone_ns;
    pool->watched_ns = pool->absent_ns = 0;
}

static void await_others(uh_pool *pool, int32_t units, int64_t unit_ns, int lasting) {
    int64_t start = 0, end = 0;
    for (int spins = 1; atomic_load(&pool->finished) < units; spins++) {
        uh_pause();
        if (spins % PAUSES) continue;
        const int64_t now = uh_nanoseconds();
        if (!end) {
            start = now;
            end = now + STALL_NS + STALL_UNITS * unit_ns;
        }
        if (now > end) {
            while (atomic_load(&pool->finished) < units) uh_give_way();
            const int64_t back = uh_nanoseconds();
            if (!lasting) absent(pool, back, back - start);
        }
    }
}

/* A piece of work ended. The more threads there are, the more of them must be missing for one alone to be faster. */
static void judge(uh_pool *pool, int64_t start, int32_t units) {
    const int64_t now = uh_nanoseconds(), ns = now - start;
    const int32_t wanted = units < pool->threads ? units : pool->threads;
    pool->watched_ns += ns * wanted;
    pool->absent_ns += ns * (wanted - atomic_load(&pool->present));
    if (pool->watched_ns < (int64_t)WATCHED_NS * pool->threads) return;
    if (8 * pool->absent_ns > pool->watched_ns * (pool->threads - 1)) absent(pool, now, pool->absent_ns / (pool->threads - 1));
    pool->watched_ns = pool->absent_ns = 0;
}

void uh_pool_run(uh_pool *pool, uh_work work, void *argument, int32_t units, int lasting) {
    const int threads = pool->threads;
    const int64_t start = threads > 1 && units > 1 ? uh_nanoseconds() : 0;
    if (!start || (start < pool->alone_until && !lasting)) {
        for (int32_t unit = 0; unit < units; unit++) work(argument, unit, 0);
        return;
    }
    atomic_store(&pool->work, work);
    atomic_store(&pool->argument, argument);
    atomic_store(&pool->finished, 0);
    atomic_store(&pool->present, 0);
    for (int64_t i = 0; i < threads; i++)
        atomic_store(&pool->members[i].run, (uint64_t)(units * (i + 1) / threads) << 32 | (uint64_t)(units * i / threads));
    atomic_fetch_add(&pool->turn, 1);
    const int roused = atomic_load(&pool->sleepers) > 0;
    if (roused) {
        uh_lock(&pool->mutex);
        uh_wake_all(&pool->awake);
        uh_unlock(&pool->mutex);
    }
    const int32_t own = run_units(pool, 0);
    if (atomic_load(&pool->finished) < units) await_others(pool, units, (uh_nanoseconds() - start) / (own ? own : 1), lasting);
    if (!roused && !lasting) judge(pool, start, units);
}
