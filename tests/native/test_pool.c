/* The pool itself: each unit once, in a lane that nobody else is in, however short the work. */
#include "pool.h"

#include <string.h>

#include "check.h"
#include "selftest.h"

enum { MOST_UNITS = 200, MOST_LANES = 4, TIMES = 4000 };

typedef struct {
    int done[MOST_UNITS];           /* each written by whoever has its unit, and by nobody else */
    int units_in_lane[MOST_LANES]; /* likewise: of two writers, the thread sanitizer would tell */
    int threads, outside;
} counts;

static void count(void *argument, int32_t unit, int32_t lane) {
    counts *c = argument;
    c->done[unit]++;
    if (lane >= 0 && lane < c->threads)
        c->units_in_lane[lane]++;
    else
        c->outside++;
}

void test_pool(void) {
    group("the pool");
    reseed(11);
    for (int threads = 1; threads <= MOST_LANES; threads++) {
        uh_pool *pool = uh_pool_open(threads);
        check(pool != NULL, "a pool of %d", threads);
        if (!pool) continue;
        int wrong = 0;
        for (int i = 0; i < TIMES; i++) {
            counts c = {.threads = threads};
            const int units = between(0, i % 50 ? 5 : MOST_UNITS);
            uh_pool_run(pool, count, &c, units, i % 3 == 0);
            int in_lanes = 0;
            for (int u = 0; u < MOST_UNITS; u++) wrong += c.done[u] != (u < units);
            for (int lane = 0; lane < threads; lane++) in_lanes += c.units_in_lane[lane];
            wrong += c.outside + (in_lanes != units);
        }
        check(!wrong, "%d threads: %d units were not run exactly once, in a lane of their own", threads, wrong);
        uh_pool_close(pool);
    }
}
