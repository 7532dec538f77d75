/* Sharing out work among lanes, and closing. */
#include "context.h"

#include <stdlib.h>

void uh_close(uh_context *context) {
    if (context->pool) uh_pool_close(context->pool);
    for (int32_t i = 0; context->lane && i < context->lanes; i++) uh_release(&context->lane[i].scratch);
    free(context->lane);
    uh_operand_close(&context->input);
    uh_operand_close(&context->slots);
    uh_operand_close(&context->hidden);
    uh_operand_close(&context->raw);
    uh_release(&context->h);
    uh_release(&context->out);
    uh_release(&context->jobs);
    uh_release(&context->call_tokens);
    uh_release(&context->asked);
    free(context);
}

int64_t uh_worked(const uh_context *context) { return uh_pool_worked(context->pool); }

int uh_ensure_scratch(uh_context *context, int64_t bytes) {
    for (int32_t i = 0; i < context->lanes; i++)
        if (!uh_ensure(&context->lane[i].scratch, (size_t)bytes)) return 0;
    return 1;
}

void *uh_scratch(const uh_context *context, int32_t lane) { return context->lane[lane].scratch.data; }

void uh_heads_many(uh_context *context, const uh_heads *heads) {
    const int64_t numbers = (int64_t)heads->tokens * (heads->heads + 2 * heads->kv_heads) * heads->dim;
    const int how = uh_sharing(numbers < UH_SERIAL_NUMBERS, heads->tokens);
    uh_share(context, how, context->isa->finish_heads, (void *)heads, (heads->tokens + UH_HEADS_TOKENS - 1) / UH_HEADS_TOKENS);
}

int uh_attend_many(uh_context *context, const uh_prefill *span) { return context->isa->attend_many(context, span); }

void uh_share(uh_context *context, int how, uh_work work, void *argument, int32_t units) {
    if (how != UH_SERIAL) uh_pool_run(context->pool, work, argument, units, how == UH_LASTING);
    else
        for (int32_t unit = 0; unit < units; unit++) work(argument, unit, 0);
}

void uh_product(const uh_context *context, const uh_matrix_view *view, int32_t block, int32_t blocks, const uh_operand *operand,
                int32_t at, int32_t n, int32_t lane, float *y) {
    const uh_isa *isa = context->isa;
    const int32_t width = blocks * UH_ROWS;
    float(*one)[UH_ROWS] = (void *)y;
    if (operand->form != UH_INT8) {
        for (int32_t t = 0; t < n; t += isa->tokens)
            isa->rows(view, block, operand->x + at + t, operand->sums + at + t, uh_least(isa->tokens, n - t), one + t);
    } else if (n <= UH_MOST_TOKENS) {
        isa->dots(view, block, operand->quantized + at, n, one);
    } else {
        isa->many(view, block, blocks, operand->quantized + at, n, context->lane[lane].scratch.data, y, width);
    }
    if (!view->bias) return;
    const float *bias = view->bias + (int64_t)block * UH_ROWS;
    const int32_t rows = uh_least(width, view->rows - block * UH_ROWS);
    for (int32_t t = 0; t < n; t++)
        for (int32_t r = 0; r < rows; r++) y[t * width + r] += bias[r];
}

enum { PARTS = 64 };

typedef struct {
    const uh_isa *isa;
    const uint8_t *bytes;
    int64_t n;
    uint64_t sums[PARTS];
} reading;

static void read_part(void *argument, int32_t unit, int32_t lane) {
    (void)lane;
    reading *r = argument;
    const int64_t part = r->n / PARTS;
    r->sums[unit] = r->isa->read(r->bytes + unit * part, part);
}

uint64_t uh_read(uh_context *context, const uint8_t *bytes, int64_t n) {
    reading r = {context->isa, bytes, n, {0}};
    uh_share(context, 0, read_part, &r, PARTS);
    uint64_t sum = 0;
    for (int i = 0; i < PARTS; i++) sum += r.sums[i];
    return sum;
}
