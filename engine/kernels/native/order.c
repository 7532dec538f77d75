/* In which order experts leave a cache, for policies that give each of them a number. */
#include "underhill_kernels.h"

void uh_order(const double *scores, const double *ticks, const double *bars, const double *near, double token, int32_t rows,
              int32_t experts, double *order) {
    for (int32_t row = 0; row < rows; row++) {
        const double own = near[row] * token;
        const int64_t first = (int64_t)row * experts;
        for (int64_t at = first; at < first + experts; at++) order[at] = scores[at] + ticks[at] + own + bars[at];
    }
}
