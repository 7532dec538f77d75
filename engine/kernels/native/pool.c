/* Units are claimed from one 64-bit ticket, (units << 32 | next): a claim succeeds only while that work is unfinished,
 * so a claimer may then read the work's fields safely, and a thread that sleeps through a piece of work delays nobody. */
#include "pool.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "threads.h"

enum {
    SPINS = 4000,           /* some 40 us of waiting before a worker goes to sleep: the gap between two phases */
    SPINS_BEFORE_YIELD = 64 /* the caller waiting for the last units gives way, in case their thread lost its core */
};

struct uh_pool {
    _Atomic uint64_t ticket;
    _Atomic int32_t finished;
    _Atomic int32_t sleepers;
    _Atomic int stopping;
    _Atomic(uh_work) work;
    _Atomic(void *) argument;
    uh_mutex mutex;
    uh_condition awake;
    int workers;
    uh_thread thread[];
};

static int open_units(uint64_t ticket) { return (uint32_t)ticket < (uint32_t)(ticket >> 32); }

/* Claims and runs one unit; 0 when there is none left. */
static int run_one(uh_pool *pool) {
    uint64_t ticket = atomic_load(&pool->ticket);
    while (open_units(ticket)) {
        if (atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) {
            uh_work work = atomic_load(&pool->work);
            work(atomic_load(&pool->argument), (int32_t)(uint32_t)ticket);
            atomic_fetch_add(&pool->finished, 1);
            return 1;
        }
    }
    return 0;
}

UH_THREAD_MAIN(worker_main) {
    uh_pool *pool = argument;
    int idle = 0;
    while (!atomic_load(&pool->stopping)) {
        if (run_one(pool)) {
            idle = 0;
        } else if (++idle < SPINS) {
            uh_pause();
        } else {
            uh_lock(&pool->mutex);
            atomic_fetch_add(&pool->sleepers, 1);
            while (!open_units(atomic_load(&pool->ticket)) && !atomic_load(&pool->stopping))
                uh_wait(&pool->awake, &pool->mutex);
            atomic_fetch_sub(&pool->sleepers, 1);
            uh_unlock(&pool->mutex);
            idle = 0;
        }
    }
    return UH_THREAD_END;
}

uh_pool *uh_pool_open(int threads) {
    int workers = threads > 1 ? threads - 1 : 0;
    uh_pool *pool = calloc(1, sizeof(uh_pool) + (size_t)workers * sizeof(uh_thread));
    if (!pool) return NULL;
    uh_mutex_init(&pool->mutex);
    uh_condition_init(&pool->awake);
    for (; pool->workers < workers; pool->workers++) {
        if (uh_thread_start(&pool->thread[pool->workers], worker_main, pool)) {
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
    for (int i = 0; i < pool->workers; i++) uh_thread_join(pool->thread[i]);
    uh_condition_destroy(&pool->awake);
    uh_mutex_destroy(&pool->mutex);
    free(pool);
}

void uh_pool_run(uh_pool *pool, uh_work work, void *argument, int32_t units) {
    if (!pool->workers || units < 2) {
        for (int32_t unit = 0; unit < units; unit++) work(argument, unit);
        return;
    }
    atomic_store(&pool->work, work);
    atomic_store(&pool->argument, argument);
    atomic_store(&pool->finished, 0);
    atomic_store(&pool->ticket, (uint64_t)(uint32_t)units << 32);
    if (atomic_load(&pool->sleepers)) {
        uh_lock(&pool->mutex);
        uh_wake_all(&pool->awake);
        uh_unlock(&pool->mutex);
    }
    while (run_one(pool)) continue;
    for (int spins = 0; atomic_load(&pool->finished) < units; spins++) {
        if (spins < SPINS_BEFORE_YIELD)
            uh_pause();
        else
            uh_give_way();
    }
}
