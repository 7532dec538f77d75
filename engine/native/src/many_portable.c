/* Many tokens in plain C: a loop over few. */
#include <string.h>

#include "rows.h"

void uh_many_portable(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n, void *scratch,
                      float *y, int64_t stride) {
    float rows[UH_MOST_TOKENS][UH_ROWS];
    (void)scratch;
    for (int32_t b = 0; b < blocks; b++) {
        for (int32_t at = 0; at < n; at += UH_MOST_TOKENS) {
            const int32_t count = n - at < UH_MOST_TOKENS ? n - at : UH_MOST_TOKENS;
            uh_dots_portable(view, block + b, x + at, count, rows);
            for (int32_t t = 0; t < count; t++) memcpy(y + (at + t) * stride + b * UH_ROWS, rows[t], sizeof rows[t]);
        }
    }
}
