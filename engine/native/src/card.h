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

/* y [rows] = W x [cols]. 1: done; 0: it failed, now or before, and the processor has to. */
UH_API int uh_card_product(const uh_card_matrix *matrix, const float *x, float *y);

#endif
