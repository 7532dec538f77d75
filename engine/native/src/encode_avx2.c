/* The work on a tile for AVX2. */
#if defined(__x86_64__)
#define UH_WITH_AVX2
#include "encode_lanes.h"

const uh_tile_work uh_tile_avx2 = {solve, renew, settle};

#else
typedef int uh_nothing_here; /* a file must declare something */
#endif
