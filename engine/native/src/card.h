/* Work for a graphics card, handed to its driver in one go: Python takes some 20 microseconds for each of its calls. */
#ifndef UH_CARD_H
#define UH_CARD_H

#include <stddef.h>
#include <stdint.h>

#include "underhill_kernels.h"

enum { UH_CARD_COPY_IN, UH_CARD_COPY_OUT, UH_CARD_LAUNCH, UH_CARD_RECORD, UH_CARD_QUERY };

/* Functions of the CUDA driver API, by the names that it gives them; 0 means success. */
typedef struct {
    int (*copy_in)(uint64_t device, const void *host, size_t bytes, void *stream);
    int (*copy_out)(void *host, uint64_t device, size_t bytes, void *stream);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra);
    int (*record)(void *event, void *stream);
    int (*query)(void *event);
    int (*wait)(void *event);
    int (*use)(void *context);
    int (*launch_graph)(void *graph, void *stream);
} uh_card_driver;

/* handle: the function of a launch, or an event. host, device, bytes: of a copy. parameters: of a launch, addresses of its
 * arguments with NULL behind the last. */
typedef struct {
    int32_t kind;
    uint32_t grid[3], block;
    void *handle, *host;
    uint64_t device;
    size_t bytes;
    void **parameters;
} uh_card_command;

/* Hand n commands to the driver, for one stream. Returns 0, or what the driver returned and in `at` which command it refused;
 * those behind it were not asked for. A query that finds its event not reached is no failure: it makes drivers that gather
 * work (Windows') hand it on. */
UH_API int uh_card_submit(const uh_card_driver *driver, const uh_card_command *commands, int32_t n, void *stream, int32_t *at);

/* What all matrices on a card share. x, y: pinned memory that their commands copy from and to. failed: what the driver
 * returned, anything but 0: the card is of no use from then on. computed: products since the beginning. */
typedef struct {
    const uh_card_driver *driver;
    void *context, *stream, *done;
    float *x, *y;
    int32_t failed;
    int64_t computed;
} uh_card_products;

/* A matrix that lies on the card as well as in ordinary memory. commands end by recording `done`. */
typedef struct {
    uh_card_products *shared;
    const uh_card_command *commands;
    int32_t n, rows, cols;
} uh_card_matrix;

/* What of ordinary memory lies `at` so many bytes from the start of a run's frame. */
typedef struct {
    void *host;
    int64_t at, bytes;
} uh_card_copy;

/* Ops of a graph that follow each other, computed on the card for a single token. frame, came: pinned memory that commands
 * copy from, and to; position lies in the first. Rows of a sequence there reach up to `capacity` tokens. commands end by
 * recording the event `done` of what is shared. */
typedef struct {
    uh_card_products *shared;
    const uh_card_command *commands;
    const uh_card_copy *in, *out;
    char *frame, *came;
    int64_t *position;
    int64_t capacity;
    int32_t n, n_in, n_out, ops;
} uh_card_run;

/* Compute the ops for the token at this position. 1: done; 0: the processor has to: the card failed, now or before, or there
 * is no room for such a token. Nothing was written to ordinary memory then. */
UH_API int uh_card_run_ops(const uh_card_run *run, int64_t position);

/* Have a graph (NULL: none) and these commands run, after what the run copies there. 0: the card failed, and nothing happened
 * in ordinary memory. */
int uh_card_compute(const uh_card_run *run, void *graph, const uh_card_command *commands, int32_t n, int64_t position);

/* Copies from `came` to ordinary memory. */
void uh_card_bring(const uh_card_copy *copies, int32_t n, const char *came);

/* y [rows] = W x [cols]. 1: done; 0: it failed, now or before, and the processor has to. */
UH_API int uh_card_product(const uh_card_matrix *matrix, const float *x, float *y);

#endif
