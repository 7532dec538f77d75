/* Many tokens as a loop over few. */
#include <string.h>

#include "rows.h"

#define LOOP_OVER_DOTS(isa, few)                                                                                       \
    void uh_many_##isa(const uh_view *view, int32_t block, const uh_quantized *x, int32_t n, void *scratch, float *y,  \
                       int64_t stride) {                                                                               \
        (void)scratch;                                                                                                 \
        for (int32_t at = 0; at < n; at += UH_MOST_TOKENS) {                                                           \
            const int32_t count = n - at < UH_MOST_TOKENS ? n - at : UH_MOST_TOKENS;                                   \
            float rows[UH_MOST_TOKENS][UH_ROWS];                                                                       \
            uh_dots_##few(view, block, x + at, count, rows);                                                           \
            for (int32_t t = 0; t < count; t++) memcpy(y + (at + t) * stride, rows[t], sizeof rows[t]);                \
        }                                                                                                              \
    }

LOOP_OVER_DOTS(portable, portable)
#if defined(__x86_64__)
LOOP_OVER_DOTS(avx2, avx2)
LOOP_OVER_DOTS(avxvnni, avxvnni)
LOOP_OVER_DOTS(avx512, avx2)
LOOP_OVER_DOTS(avx512vnni, avx512vnni)
#endif
