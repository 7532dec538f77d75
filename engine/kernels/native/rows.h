/* What an instruction set provides: 16 rows of a matrix on a few tokens, and the activation of 16 values. */
#ifndef UH_ROWS_H
#define UH_ROWS_H

#include <stdint.h>

#include "underhill_kernels.h"

enum { UH_ROWS = 16, UH_MOST_TOKENS = 4, UH_LINE = 64 };

/* Bytes to fetch ahead in a plane of 2 bits. On Zen 5 it lifts 8 bits from 45 to 80 % of what one core can read, 4 bits
 * from 45 to 57 %; nearer helps less, and further no more. */
enum { UH_AHEAD = 2048 };

#define UH_FETCH(address) __builtin_prefetch((address), 0, 3)

/* One matrix of one expert, ready to be read. */
typedef struct {
    const uint8_t *codes[3];
    const uint8_t *params; /* of the finest plane in use */
    const float *bias;     /* or NULL */
    float unit;
    int32_t rows, cols, groups, group;
    int32_t kind; /* 1, 2, 3: planes in use; 16, 32: raw */
} uh_view;

typedef struct {
    int32_t tokens; /* per call, at most; up to UH_MOST_TOKENS */
    /* y[t][r] = (W x[t])[16 * block + r], without bias. x[t]: padded to whole groups (raw: to cols); sums[t][g]: the sum
     * of group g of x[t] (raw: not read). One token's result does not depend on the others. */
    void (*rows)(const uh_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,
                 float (*y)[UH_ROWS]);
    /* h = activation(gate, up); gate is NULL where the experts have none. */
    void (*activate)(const uh_layout *layout, const float *gate, const float *up, float *h);
    uint64_t (*read)(const uint8_t *bytes, int64_t n);
} uh_isa;

extern const uh_isa uh_portable;
#if defined(__x86_64__)
extern const uh_isa uh_avx2;
extern const uh_isa uh_avx512;
#endif

#endif
