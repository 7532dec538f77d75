/* The work on a tile for every processor. */
#include "encode_lanes.h"

const uh_tile_work uh_tile_portable = {solve, renew, settle};
