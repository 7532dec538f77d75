/* Plain C for every processor: slow, and the arbiter of the fast ones. */
#define UH_TARGET
#include "activation.h"
#include "quantize.h"
#include "scales.h"

static float raw_weight(const uint8_t *codes, int64_t index, int32_t kind) {
    float value;
    if (kind == 32) {
        memcpy(&value, codes + 4 * index, 4);
    } else {
        uint16_t half;
        memcpy(&half, codes + 2 * index, 2);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(&value, &bits, 4);
    }
    return value;
}

static void raw_rows(const uh_matrix_view *view, int32_t block, const float *const *x, int32_t n, float (*y)[UH_ROWS]) {
    for (int r = 0; r < UH_ROWS; r++) {
        int64_t row = (int64_t)block * UH_ROWS + r;
        for (int t = 0; t < n; t++) {
            float lanes[8] = {0};
            if (row < view->rows)
                for (int32_t c = 0; c < view->cols; c++)
                    lanes[c & 7] += raw_weight(view->codes[0], row * view->cols + c, view->kind) * x[t][c];
            y[t][r] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
        }
    }
}

/* The codes of 16 columns from `column` on, as [column][row]. */
static void decode(const uh_matrix_view *view, const uint8_t *const *tile, int32_t column, float (*codes)[UH_ROWS]) {
    int64_t line = (int64_t)column / 16 * UH_LINE;
    for (int s = 0; s < 4; s++) {
        for (int j = 0; j < 4; j++) {
            for (int r = 0; r < UH_ROWS; r++) {
                int code = tile[0][line + 4 * r + j] >> 2 * s & 3;
                if (UH_HAS_SECOND(view->kind)) code = code << 2 | (tile[1][line + 4 * r + j] >> 2 * s & 3);
                if (UH_HAS_TABLE(view->kind)) code = view->table[code];
                if (UH_HAS_FINE(view->kind))
                    code = code << 4 | (tile[2][2 * line + UH_LINE * (s / 2) + 4 * r + j] >> 4 * (s % 2) & 15);
                codes[4 * s + j][r] = (float)code;
            }
        }
    }
}

static void tile_rows(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,
                      float (*y)[UH_ROWS]) {
    memset(y, 0, (size_t)n * sizeof *y);
    for (int32_t g = 0; g < view->groups; g++) {
        int64_t tile = (int64_t)block * view->groups + g;
        const uint8_t *codes_at[3] = {view->codes[0] + tile * view->group * 4, NULL, NULL};
        if (UH_HAS_SECOND(view->kind)) codes_at[1] = view->codes[1] + tile * view->group * 4;
        if (UH_HAS_FINE(view->kind)) codes_at[2] = view->codes[2] + tile * view->group * 8;
        float scales[UH_ROWS], offsets[UH_ROWS];
        uh_scales(view, block, g, scales, offsets);
        float sum[UH_MOST_TOKENS][UH_ROWS] = {{0}};
        for (int32_t column = 0; column < view->group; column += 16) {
            float codes[16][UH_ROWS];
            decode(view, codes_at, column, codes);
            for (int t = 0; t < n; t++)
                for (int c = 0; c < 16; c++)
                    for (int r = 0; r < UH_ROWS; r++) sum[t][r] += codes[c][r] * x[t][g * view->group + column + c];
        }
        for (int r = 0; r < UH_ROWS; r++) {
            for (int t = 0; t < n; t++) y[t][r] += scales[r] * sum[t][r] + offsets[r] * sums[t][g];
        }
    }
    for (int t = 0; t < n; t++)
        for (int r = 0; r < UH_ROWS; r++) y[t][r] *= view->unit;
}

void uh_rows_portable(const uh_matrix_view *view, int32_t block, const float *const *x, const float *const *sums, int32_t n,
                      float (*y)[UH_ROWS]) {
    if (view->kind >= 16)
        raw_rows(view, block, x, n, y);
    else
        tile_rows(view, block, x, sums, n, y);
}

uint64_t uh_read_portable(const uint8_t *bytes, int64_t n) {
    uint64_t sum = 0, word;
    for (int64_t i = 0; i + 8 <= n; i += 8) {
        memcpy(&word, bytes + i, 8);
        sum += word;
    }
    return sum;
}

void uh_activate_portable(const uh_layout *layout, const float *gate, const float *up, float *h) {
    uh_activate16(layout, gate, up, h);
}

void uh_quantize_portable(const float *x, int32_t cols, int32_t stored_cols, int32_t group, int8_t *codes, float *scales,
                          float *sums) {
    uh_quantize(x, cols, stored_cols, group, codes, scales, sums);
}
