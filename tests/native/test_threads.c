/* Contexts that come and go, many small calls, and several contexts at work at the same time. */
#include <string.h>

#include "check.h"
#include "matrix.h"
#include "selftest.h"
#include "threads.h"

enum { AT_ONCE = 4, BYTES = 64 * 64 };

/* Enough work for all threads of a context, in many short calls. */
typedef struct {
    const uh_matrix_view *view;
    const uint8_t *bytes;
    const float *x, *expected;
    uint64_t sum;
    int rounds, wrong;
} job;

static void work(uh_context *context, job *j) {
    float y[600];
    for (int i = 0; i < j->rounds; i++) {
        if (uh_read(context, j->bytes, BYTES) != j->sum) j->wrong++;
        if (i % 8) continue;
        uh_linear(context, j->view, j->x, 1, y);
        if (memcmp(y, j->expected, sizeof y)) j->wrong++;
    }
}

static const variant FLOAT32 = {UH_PORTABLE, 1, "portable, float32"};

UH_THREAD_MAIN(worker) {
    job *j = argument;
    uh_context *context = opened(2, &FLOAT32);
    work(context, j);
    uh_close(context);
    return UH_THREAD_END;
}

void test_threads(void) {
    group("threads");
    reseed(10);
    const recipe how = {600, 1024, 64, 4, 0, 0};
    const matrix m = make_matrix(&how);
    const uh_matrix_view view = view_of_matrix(&m, 2, 0);
    uint8_t *bytes = exactly(BYTES, 0);
    uint64_t sum = 0;
    for (int i = 0; i < BYTES; i += 8) {
        const uint64_t word = random_bits();
        memcpy(bytes + i, &word, 8);
        sum += word;
    }
    float *x = floats(1024), *y = floats(600);
    for (int c = 0; c < 1024; c++) x[c] = (float)normal();
    uh_context *context = opened(1, &FLOAT32);
    uh_linear(context, &view, x, 1, y);
    uh_close(context);

    job j = {&view, bytes, x, y, sum, 0, 0};
    for (int i = 0; i < 60; i++) { /* closed while its threads are still starting, at work, or asleep */
        j.rounds = i % 3;
        context = opened(1 + i % 4, &FLOAT32);
        work(context, &j);
        uh_close(context);
    }
    for (int threads = 2; threads <= 4; threads++) {
        j.rounds = 600;
        context = opened(threads, &FLOAT32);
        work(context, &j);
        uh_close(context);
    }
    check(!j.wrong, "%d results of short calls are wrong", j.wrong);

    job jobs[AT_ONCE];
    uh_thread thread[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        jobs[i] = (job){&view, bytes, x, y, sum, 150, 0};
        check(!uh_thread_start(&thread[i], worker, &jobs[i]), "a thread starts");
    }
    for (int i = 0; i < AT_ONCE; i++) {
        uh_thread_join(thread[i]);
        check(!jobs[i].wrong, "%d results beside other contexts are wrong", jobs[i].wrong);
    }
    release_all();
}
