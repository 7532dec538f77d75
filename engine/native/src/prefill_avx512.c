/* Heads and attention of many tokens for AVX-512. */
#if defined(__x86_64__)
#define UH_WITH_AVX512
#include "heads.h"
#include "prefill_attention.h"

int uh_attend_many_avx512(uh_context *context, const uh_prefill *span) { return attend_many(context, span); }
void uh_finish_heads_avx512(void *heads, int32_t unit, int32_t lane) { finish_some(heads, unit, lane); }

#else
typedef int uh_nothing_here; /* a file must declare something */
#endif
