/* See card.h. */
#include "card.h"

#include <string.h>

enum { NOT_READY = 600 }; /* CUDA_ERROR_NOT_READY */

static int hand_on(const uh_card_driver *driver, const uh_card_command *c, void *stream) {
    switch (c->kind) {
        case UH_CARD_COPY_IN: return driver->copy_in(c->device, c->host, c->bytes, stream);
        case UH_CARD_COPY_OUT: return driver->copy_out(c->host, c->device, c->bytes, stream);
        case UH_CARD_LAUNCH:
            return driver->launch(c->handle, c->grid[0], c->grid[1], c->grid[2], c->block, 1, 1, 0, stream, c->parameters, NULL);
        case UH_CARD_RECORD: return driver->record(c->handle, stream);
        default: {
            const int code = driver->query(c->handle);
            return code == NOT_READY ? 0 : code;
        }
    }
}

int uh_card_submit(const uh_card_driver *driver, const uh_card_command *commands, int32_t n, void *stream, int32_t *at) {
    for (*at = 0; *at < n; ++*at) {
        const int code = hand_on(driver, commands + *at, stream);
        if (code) return code;
    }
    return 0;
}

int uh_card_product(const uh_card_matrix *matrix, const float *x, float *y) {
    uh_card_products *shared = matrix->shared;
    const uh_card_driver *driver = shared->driver;
    int32_t at;
    if (shared->failed) return 0;
    shared->failed = driver->use(shared->context);
    if (shared->failed) return 0;
    memcpy(shared->x, x, (size_t)matrix->cols * sizeof(float));
    shared->failed = uh_card_submit(driver, matrix->commands, matrix->n, shared->stream, &at);
    if (!shared->failed) shared->failed = driver->wait(shared->done);
    if (shared->failed) return 0;
    memcpy(y, shared->y, (size_t)matrix->rows * sizeof(float));
    shared->computed++;
    return 1;
}

int uh_card_compute(const uh_card_run *run, void *graph, const uh_card_command *commands, int32_t n, int64_t position) {
    uh_card_products *shared = run->shared;
    const uh_card_driver *driver = shared->driver;
    int32_t at;
    if (shared->failed || position >= run->capacity) return 0;
    shared->failed = driver->use(shared->context);
    if (shared->failed) return 0;
    for (int32_t i = 0; i < run->n_in; i++) memcpy(run->frame + run->in[i].at, run->in[i].host, (size_t)run->in[i].bytes);
    *run->position = position;
    if (graph) shared->failed = driver->launch_graph(graph, shared->stream);
    if (!shared->failed) shared->failed = uh_card_submit(driver, commands, n, shared->stream, &at);
    if (!shared->failed) shared->failed = driver->wait(shared->done);
    if (shared->failed) return 0;
    shared->computed++;
    return 1;
}

void uh_card_bring(const uh_card_copy *copies, int32_t n, const char *came) {
    for (int32_t i = 0; i < n; i++) memcpy(copies[i].host, came + copies[i].at, (size_t)copies[i].bytes);
}

int uh_card_run_ops(const uh_card_run *run, int64_t position) {
    if (!uh_card_compute(run, NULL, run->commands, run->n, position)) return 0;
    uh_card_bring(run->out, run->n_out, run->came);
    return 1;
}
