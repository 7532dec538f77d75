/* The ops of the graph for every processor. */
#define UH_OPS uh_ops_portable
#include "ops_table.h"
