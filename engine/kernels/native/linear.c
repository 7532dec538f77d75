/* Dense matrices: the same tiles as the experts', or raw rows, over all threads. */
#include <string.h>

#include "context.h"

enum { UNIT_ROWS = 64, CHUNK = UH_TOGETHER };

typedef struct {
    uh_context *context;
    const uh_view *views;
    float *const *y;
    const float *x;
    int32_t n, tokens;
} call;

static int raw(const uh_view *view) { return view->kind >= 16; }

static int32_t units_of(const uh_view *view) { return (view->rows + UNIT_ROWS - 1) / UNIT_ROWS; }

static void take_token(void *argument, int32_t token, int32_t lane) {
    const call *c = argument;
    uh_context *context = c->context;
    (void)lane;
    uh_operand_take(&context->input, context->isa, token, c->x + (int64_t)token * c->views[0].cols);
}

static void run_unit(void *argument, int32_t unit, int32_t lane) {
    const call *c = argument;
    int32_t which = 0;
    for (; unit >= units_of(&c->views[which]); which++) unit -= units_of(&c->views[which]);
    const uh_view *view = &c->views[which];
    const uh_operand *operand = raw(view) ? &c->context->raw : &c->context->input;
    const int32_t first = unit * UNIT_ROWS, end = uh_least(first + UNIT_ROWS, view->rows);
    for (int32_t at = 0; at < c->tokens; at += CHUNK) {
        const int32_t n = uh_least(CHUNK, c->tokens - at), step = uh_blocks(operand, n) * UH_ROWS;
        for (int32_t row = first; row < end; row += step) {
            const int32_t blocks = uh_blocks_for(end - row, step / UH_ROWS), width = blocks * UH_ROWS;
            float y[CHUNK * UH_WIDE];
            uh_product(c->context, view, row / UH_ROWS, blocks, operand, at, n, lane, y);
            for (int32_t t = 0; t < n; t++)
                memcpy(c->y[which] + (int64_t)(at + t) * view->rows + row, y + t * width,
                       (size_t)uh_least(width, end - row) * sizeof(float));
        }
    }
}

int uh_linear_several(uh_context *context, const uh_view *views, float *const *y, int32_t n, const float *x,
                      int32_t tokens) {
    call c = {context, views, y, x, n, tokens};
    int64_t weights = 0, scratch = 0;
    int32_t units = 0;
    const uh_view *tiled = NULL;
    int any_raw = 0;
    for (int32_t i = 0; i < n; i++) {
        weights += (int64_t)views[i].rows * views[i].cols;
        units += units_of(&views[i]);
        if (raw(&views[i])) {
            any_raw = 1;
        } else {
            tiled = &views[i];
            scratch = uh_many_scratch(tiled);
        }
    }
    const int serial = weights * tokens < UH_SERIAL_WEIGHTS;
    const int32_t cols = views[0].cols;
    if (any_raw) {
        if (!uh_operand_open(&context->raw, UH_PLAIN, tokens, cols, cols, 0)) return -1;
        for (int32_t t = 0; t < tokens; t++)
            uh_operand_take(&context->raw, context->isa, t, x + (int64_t)t * cols);
    }
    if (tiled) {
        const int form = context->exact ? UH_FLOAT : UH_INT8;
        if (!uh_operand_open(&context->input, form, tokens, cols, tiled->groups * tiled->group, tiled->group) ||
            (tokens > UH_MOST_TOKENS && !uh_ensure_scratch(context, scratch)))
            return -1;
        uh_share(context, serial || tokens < 8, take_token, &c, tokens);
    }
    uh_share(context, serial, run_unit, &c, units);
    return 0;
}

int uh_linear(uh_context *context, const uh_view *view, const float *x, int32_t tokens, float *y) {
    return uh_linear_several(context, view, &y, 1, x, tokens);
}
