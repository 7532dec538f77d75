/* Runs an op graph: every op by its kind; those that are the same for every instruction set are here. */
#include "op_graph.h"

#include <math.h>
#include <string.h>

#include "context.h"

/* Cosines and sines of the angles position * frequency, times the factor that follows the frequencies: [n] each. */
static int run_rope(uh_context *context, const uh_op *op, const uh_step *step) {
    const float *frequencies = op->p[0], factor = frequencies[op->n[0]];
    float *cosines = op->p[1], *sines = op->p[2];
    (void)context;
    for (int32_t i = 0; i < op->n[0]; i++) {
        const float angle = (float)step->position * frequencies[i];
        cosines[i] = cosf(angle) * factor;
        sines[i] = sinf(angle) * factor;
    }
    return 0;
}

static int run_linear(uh_context *context, const uh_op *op, const uh_step *step) {
    (void)step;
    return uh_linear(context, op->p[0], op->p[1], 1, op->p[2]);
}

/* A matrix for every head, one below the other in one view. */
typedef struct {
    const uh_context *context;
    const uh_matrix_view *view;
    const uh_operand *x; /* [heads] */
    float *y;
    int64_t step; /* from head to head in y */
    int32_t rows; /* of a head; whole tiles in a matrix of tiles */
} each_head;

static void run_head(void *argument, int32_t head, int32_t lane) {
    const each_head *e = argument;
    uh_matrix_view view = *e->view;
    int32_t block = 0;
    if (view.kind >= 16) {
        view.rows = e->rows;
        view.codes[0] += (int64_t)head * e->rows * view.cols * (view.kind / 8);
    } else {
        block = head * (e->rows / UH_ROWS);
    }
    for (int32_t row = 0; row < e->rows; row += UH_ROWS, block++) {
        float y[UH_ROWS];
        uh_product(e->context, &view, block, 1, e->x, head, 1, lane, y);
        memcpy(e->y + head * e->step + row, y, (size_t)uh_least(UH_ROWS, e->rows - row) * sizeof(float));
    }
}

static int run_each(uh_context *context, const uh_op *op, const uh_step *step) {
    const int32_t heads = op->n[0];
    const uh_matrix_view *view = op->p[0];
    const float *x = op->p[1];
    const int raw = view->kind >= 16, form = raw ? UH_PLAIN : context->exact ? UH_FLOAT : UH_INT8;
    uh_operand *operand = raw ? &context->raw : &context->input;
    (void)step;
    if (!uh_operand_open(operand, context->isa, form, heads, view->cols, view->groups * view->group, view->group)) return -1;
    for (int32_t head = 0; head < heads; head++)
        uh_operand_take(operand, context->isa, head, x + (int64_t)head * op->n[1]);
    each_head e = {context, view, operand, op->p[2], op->n[2], view->rows / heads};
    uh_share(context, (int64_t)view->rows * view->cols < UH_SERIAL_WEIGHTS, run_head, &e, heads);
    return 0;
}

static const uh_op_function everywhere[UH_OP_KINDS] = {
    [UH_OP_ROPE] = run_rope, [UH_OP_LINEAR] = run_linear, [UH_OP_EACH] = run_each
};

static const uh_op_function *ops_of(const uh_context *context) {
#if defined(__x86_64__)
    const uh_isa *isa = context->isa;
    if (isa == uh_isa_table(UH_AVX512) || isa == uh_isa_table(UH_AVX512VNNI)) return uh_ops_avx512;
    if (isa != uh_isa_table(UH_PORTABLE)) return uh_ops_avx2;
#else
    (void)context;
#endif
    return uh_ops_portable;
}

int uh_run_graph(uh_context *context, const uh_op *ops, int32_t n, const uh_step *step) {
    const uh_op_function *functions = ops_of(context);
    for (int32_t i = 0; i < n; i++) {
        const uh_op_function function = everywhere[ops[i].kind] ? everywhere[ops[i].kind] : functions[ops[i].kind];
        if (function(context, &ops[i], step)) return -1;
    }
    return 0;
}
