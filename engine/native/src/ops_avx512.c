/* The ops of the graph for AVX-512. */
#if defined(__x86_64__)
#define UH_WITH_AVX512
#define UH_OPS uh_ops_avx512
#include "ops_table.h"
#else
typedef int uh_nothing_here; /* a file must declare something */
#endif
