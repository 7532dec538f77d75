/* Activations of 8 bits in plain C: the arbiter of the fast ones. */
#include "scales.h"

/* The code at row r of the column 16 * line + 4 * s + j of a tile. */
static int code_at(const uh_matrix_view *view, const uint8_t *const *tile, int32_t line, int s, int j, int r) {
    const int64_t at = (int64_t)line * UH_LINE + 4 * r + j;
    int code = tile[0][at] >> 2 * s & 3;
    if (UH_HAS_SECOND(view->kind)) code = code << 2 | (tile[1][at] >> 2 * s & 3);
    if (UH_HAS_TABLE(view->kind)) return view->table[code];
    if (UH_HAS_FINE(view->kind)) code = code << 4 | (tile[2][at + (int64_t)line * UH_LINE + UH_LINE * (s / 2)] >> 4 * (s % 2) & 15);
    return code;
}

void uh_dots_portable(const uh_matrix_view *view, int32_t block, const uh_quantized *x, int32_t n, float (*y)[UH_ROWS]) {
    memset(y, 0, (size_t)n * sizeof *y);
    for (int32_t g = 0; g < view->groups; g++) {
        const int64_t at = (int64_t)block * view->groups + g;
        const uint8_t *tile[3] = {view->codes[0] + at * view->group * 4, NULL, NULL};
        if (UH_HAS_SECOND(view->kind)) tile[1] = view->codes[1] + at * view->group * 4;
        if (UH_HAS_FINE(view->kind)) tile[2] = view->codes[2] + at * view->group * 8;
        float scales[UH_ROWS], offsets[UH_ROWS];
        uh_scales(view, block, g, scales, offsets);
        int32_t sums[UH_MOST_TOKENS][UH_ROWS] = {{0}};
        for (int32_t line = 0; line < view->group / 16; line++) {
            for (int c = 0; c < 16; c++) {
                const int64_t column = (int64_t)g * view->group + 16 * line + c;
                for (int r = 0; r < UH_ROWS; r++) {
                    const int code = code_at(view, tile, line, c / 4, c % 4, r);
                    for (int t = 0; t < n; t++) sums[t][r] += code * x[t].codes[column];
                }
            }
        }
        for (int r = 0; r < UH_ROWS; r++) {
            for (int t = 0; t < n; t++) {
                y[t][r] += (float)sums[t][r] * (scales[r] * x[t].scales[g]);
                y[t][r] += offsets[r] * x[t].sums[g];
            }
        }
    }
    for (int t = 0; t < n; t++)
        for (int r = 0; r < UH_ROWS; r++) y[t][r] *= view->unit;
}
