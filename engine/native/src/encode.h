/* Experts to tiles: half-quadratic codes, a fit of every tier, and their bytes, in one call per matrix. */
#ifndef UH_ENCODE_H
#define UH_ENCODE_H

#include "encode_tile.h"

enum { UH_F16 = 11, UH_BF16 = 16, UH_F32 = 32 }; /* kinds of weights */

/* One matrix and where its parts go. Stored rows and columns are padded to whole tiles, as layout.py says. */
typedef struct {
    const uint8_t *weights; /* [rows, cols], contiguous */
    uint8_t *codes[UH_TIERS], *params[UH_TIERS]; /* of the tiers 2, 4 and 8, as far as `tiers` of them are wanted */
    int32_t kind, rows, cols, group; /* group: a multiple of 16, at most UH_MOST_ENCODED_GROUP */
    int32_t tiers;                   /* 1, 2, 3: the codes have 2, 4 or 8 bits */
    float unit;                      /* filled in, as the next two: what scales and offsets are multiples of */
    double norm, errors[UH_TIERS];   /* sum of w^2, and of (w - decoded)^2 at each tier */
} uh_encoding;

/* 0: done; -1: out of memory; -2: a weight is not finite, and nothing was written. Every instruction set and any number of
 * calls at once give the same bytes and sums. isa: one that this processor has. */
UH_API int uh_encode(int isa, const uh_rule *rule, uh_encoding *encoding);

#endif
