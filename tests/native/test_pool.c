/* The pool itself: each unit once, whatever the number of threads and however short the work. */
#include "pool.h"

#include <string.h>

#include "check.h"
#include "selftest.h"

enum { MOST_UNITS = 200, TIMES = 4000 };

typedef struct {
    int done[MOST_UNITS]; /* each written by whoever has its unit, and by nobody else */
} counts;

static void count(void *argument, int32_t unit) { ((counts *)argument)->done[unit]++; }

void test_pool(void) {
    group("the pool");
    reseed(11);
    for (int threads = 1; threads <= 4; threads++) {
        uh_pool *pool = uh_pool_open(threads);
        check(pool != NULL, "a pool of %d", threads);
        if (!pool) continue;
        int wrong = 0;
        for (int i = 0; i < TIMES; i++) {
            counts c = {{0}};
            const int units = between(0, i % 50 ? 5 : MOST_UNITS);
            uh_pool_run(pool, count, &c, units);
            for (int u = 0; u < MOST_UNITS; u++) wrong += c.done[u] != (u < units);
        }
        check(!wrong, "%d threads: %d units were not run exactly once", threads, wrong);
        uh_pool_close(pool);
    }
}
