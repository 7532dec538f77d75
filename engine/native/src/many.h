/* What the kernels for many tokens have in common. */
#ifndef UH_MANY_H
#define UH_MANY_H

#include <string.h>

#include "scales.h"

enum { UH_TILES_AHEAD = 4 }; /* how far to fetch: the tokens are few enough, at times, that the next tile comes at once */

/* The tile to fetch while `tile`, of group g, is unpacked, where `blocks` row blocks go together: at the end of theirs it
 * is one of the row blocks that come after them. */
static inline int64_t uh_tile_ahead(const uh_matrix_view *view, int64_t tile, int32_t g, int blocks) {
    const int beyond = g + UH_TILES_AHEAD >= view->groups;
    return tile + UH_TILES_AHEAD + (beyond ? (int64_t)(blocks - 1) * view->groups : 0);
}

typedef void uh_dots(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]);

/* The `many` of an instruction set that has none of its own: a loop over few tokens. */
static inline void uh_many_of(uh_dots *dots, const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n,
                              float *y, int64_t stride) {
    float rows[UH_MOST_TOKENS][UH_ROWS];
    for (int32_t b = 0; b < blocks; b++) {
        for (int32_t at = 0; at < n; at += UH_MOST_TOKENS) {
            const int32_t count = n - at < UH_MOST_TOKENS ? n - at : UH_MOST_TOKENS;
            dots(view, block + b, x + at, count, rows);
            for (int32_t t = 0; t < count; t++) memcpy(y + (at + t) * stride + b * UH_ROWS, rows[t], sizeof rows[t]);
        }
    }
}

/* Where the scales of a tile lie. */
static inline const uint8_t *uh_scales_of_tile(const uh_matrix_view *view, int64_t tile) {
    return uh_scales_at(view, tile / view->groups, tile % view->groups);
}

#endif
