/* A pool of persistent threads that share out the numbered units of one piece of work at a time. */
#ifndef UH_POOL_H
#define UH_POOL_H

#include <stdint.h>

typedef struct uh_pool uh_pool;
/* lane: of the thread, 0 is the caller's. Two units never run in one lane at once. */
typedef void (*uh_work)(void *argument, int32_t unit, int32_t lane);

/* threads counts the caller, which works too. NULL: no memory or no threads to be had. */
uh_pool *uh_pool_open(int threads);
void uh_pool_close(uh_pool *pool);
/* Runs work(argument, unit, lane) for units 0 .. units - 1, each once; returns when all are done. Every lane takes its own
 * run of neighbouring units in rising order, then what others have left, from their ends. lasting: it takes so long, as
 * that of many tokens does, that a thread is of use however late it comes, and nobody ever works alone. */
void uh_pool_run(uh_pool *pool, uh_work work, void *argument, int32_t units, int lasting);
/* Nanoseconds that all threads but the caller have spent on pieces of work since the pool was opened. From any thread. */
int64_t uh_pool_worked(const uh_pool *pool);

#endif
