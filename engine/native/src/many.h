/* What the kernels for many tokens have in common. */
#ifndef UH_MANY_H
#define UH_MANY_H

#include "scales.h"

enum { UH_TILES_AHEAD = 4 }; /* how far to fetch: the tokens are few enough, at times, that the next tile comes at once */

/* The tile to fetch while `tile`, of group g, is unpacked, where `blocks` row blocks go together: at the end of theirs it
 * is one of the row blocks that come after them. */
static inline int64_t uh_tile_ahead(const uh_matrix_view *view, int64_t tile, int32_t g, int blocks) {
    const int beyond = g + UH_TILES_AHEAD >= view->groups;
    return tile + UH_TILES_AHEAD + (beyond ? (int64_t)(blocks - 1) * view->groups : 0);
}

/* Where the scales of a tile lie. */
static inline const uint8_t *uh_scales_of_tile(const uh_matrix_view *view, int64_t tile) {
    return uh_scales_at(view, tile / view->groups, tile % view->groups);
}

#endif
