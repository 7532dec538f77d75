/* Attention of many tokens for every processor. */
#include "span.h"

int uh_attend_many_portable(uh_context *context, const uh_span *span) { return attend_many(context, span); }
