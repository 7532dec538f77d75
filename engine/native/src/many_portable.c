/* Many tokens in plain C: a loop over few. */
#include "many.h"

void uh_many_portable(const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_quantized *x, int32_t n, void *scratch,
                      float *y, int64_t stride) {
    (void)scratch;
    uh_many_of(uh_dots_portable, view, block, blocks, x, n, y, stride);
}
