/* Heads and attention of many tokens for every processor. */
#include "heads.h"
#include "prefill_attention.h"

int uh_attend_many_portable(uh_context *context, const uh_prefill *span) { return attend_many(context, span); }
void uh_finish_heads_portable(void *heads, int32_t unit, int32_t lane) { finish_some(heads, unit, lane); }
