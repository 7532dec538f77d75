/* The ops of the graph for AVX2. */
#if defined(__x86_64__)
#define UH_WITH_AVX2
#define UH_OPS uh_ops_avx2
#include "ops_table.h"
#else
typedef int uh_nothing_here; /* a file must declare something */
#endif
