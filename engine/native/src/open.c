/* Opening: the one place that knows both what calls share and the instruction sets, which are built on that. */
#include <stdlib.h>

#include "context.h"

int uh_abi(void) { return UH_ABI; }

uh_context *uh_open(int threads, int isa, int exact) {
    if (isa < 0 || isa >= UH_ISAS || !(uh_isas() >> isa & 1)) return NULL;
    uh_context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    context->isa = uh_isa_table(isa);
    context->exact = exact;
    context->pairs = !exact && isa >= UH_AVX512 && uh_has_pairs();
    context->lanes = threads > 1 ? threads : 1;
    context->lane = calloc((size_t)context->lanes, sizeof *context->lane);
    context->pool = uh_pool_open(threads);
    if (context->lane && context->pool) return context;
    uh_close(context);
    return NULL;
}
