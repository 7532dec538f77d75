/* Dense matrices: the same tiles as the experts', or raw rows, over all threads. */
#include <string.h>

#include "context.h"

enum { UNIT_ROWS = 64, CHUNK = UH_TOGETHER };

typedef struct {
    uh_context *context;
    const uh_matrix_view *view;
    const uh_operand *operand;
    const float *x;
    float *y;
    int64_t x_stride, y_stride; /* from token to token */
    int32_t tokens;
} call;

static void quantize_token(void *argument, int32_t token, int32_t lane) {
    const call *c = argument;
    uh_context *context = c->context;
    (void)lane;
    uh_operand_take(&context->input, context->isa, token, c->x + token * c->x_stride);
}

static void run_unit(void *argument, int32_t unit, int32_t lane) {
    const call *c = argument;
    const uh_matrix_view *view = c->view;
    const int32_t first = unit * UNIT_ROWS, end = uh_least(first + UNIT_ROWS, view->rows);
    for (int32_t at = 0; at < c->tokens; at += CHUNK) {
        const int32_t n = uh_least(CHUNK, c->tokens - at), step = uh_blocks(c->operand, n) * UH_ROWS;
        for (int32_t row = first; row < end; row += step) {
            const int32_t blocks = uh_blocks_for(end - row, step / UH_ROWS), width = blocks * UH_ROWS;
            float y[CHUNK * UH_WIDE];
            uh_product(c->context, view, row / UH_ROWS, blocks, c->operand, at, n, lane, y);
            for (int32_t t = 0; t < n; t++)
                memcpy(c->y + (at + t) * c->y_stride + row, y + t * width,
                       (size_t)uh_least(width, end - row) * sizeof(float));
        }
    }
}

int uh_linear(uh_context *context, const uh_matrix_view *view, const float *x, int32_t tokens, float *y) {
    return uh_linear_rows(context, view, x, view->cols, tokens, y, view->rows);
}

int uh_linear_rows(uh_context *context, const uh_matrix_view *view, const float *x, int64_t x_stride, int32_t tokens,
                   float *y, int64_t y_stride) {
    const int64_t weights = (int64_t)view->rows * view->cols * tokens;
    const int serial = weights * (view->kind >= 16 ? view->kind / 4 : 1) < UH_SERIAL_WEIGHTS; /* raw ones are longer */
    const int32_t cols = view->cols;
    uh_operand *operand = view->kind >= 16 ? &context->raw : &context->input;
    call c = {context, view, operand, x, y, x_stride, y_stride, tokens};
    if (view->kind >= 16) {
        if (!uh_operand_open(operand, context->isa, UH_PLAIN, tokens, cols, cols, 0)) return -1;
        for (int32_t t = 0; t < tokens; t++) uh_operand_take(operand, context->isa, t, x + t * x_stride);
    } else {
        const int form = context->exact ? UH_FLOAT : UH_INT8;
        if (!uh_operand_open(operand, context->isa, form, tokens, cols, view->groups * view->group, view->group) ||
            (tokens > UH_MOST_TOKENS && !uh_ensure_scratch(context, uh_many_scratch(view))))
            return -1;
        uh_share(context, uh_sharing(serial || tokens < 8, tokens), quantize_token, &c, tokens);
    }
    uh_share(context, uh_sharing(serial, tokens), run_unit, &c, (view->rows + UNIT_ROWS - 1) / UNIT_ROWS);
    return 0;
}
