/* The work on a tile for AVX-512. */
#if defined(__x86_64__)
#define UH_WITH_AVX512
#include "encode_lanes.h"

const uh_tile_work uh_tile_avx512 = {solve, renew, settle};

#else
typedef int uh_nothing_here; /* a file must declare something */
#endif
