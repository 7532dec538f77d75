/* Heads and attention of many tokens for every processor. */
#include "heads.h"
#include "prefill_attention.h"

int uh_attend_many_portable(uh_context *context, const uh_prefill *span) { return attend_many(context, span); }
void uh_finish_heads_portable(void *heads, int32_t unit, int32_t lane) { finish_some(heads, unit, lane); }

void uh_pack_kv_rows(const float *x, int64_t rows, int32_t dim, uint8_t *out) {
    const int64_t bytes = uh_kv_row_bytes(8, dim);
    for (int64_t r = 0; r < rows; r++) pack_kv_row(x + r * dim, 8, dim, out + r * bytes);
}
