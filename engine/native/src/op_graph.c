/* Runs an op graph: every op by its kind; those that are the same for every instruction set are here. */
#include "op_graph.h"

#include <math.h>
#include <string.h>

#include "card.h"
#include "context.h"

enum { UH_CARD_RUN = 11 }; /* of uh_op.p */

/* Cosines and sines of the angles position * frequency, times the factor that follows the frequencies: [n] each. */
static void run_rope(const uh_op *op, const uh_row *row) {
    const float *frequencies = op->p[UH_ROPE_FREQUENCIES], factor = frequencies[op->n[UH_ROPE_COUNT]];
    float *cosines = op->p[UH_ROPE_COSINES], *sines = op->p[UH_ROPE_SINES];
    for (int32_t i = 0; i < op->n[UH_ROPE_COUNT]; i++) {
        const float angle = (float)row->position * frequencies[i];
        cosines[i] = cosf(angle) * factor;
        sines[i] = sinf(angle) * factor;
    }
}

static int run_linear(uh_context *context, const uh_op *op, const uh_step *step) {
    const int64_t size = sizeof(float);
    const int32_t rows = step->end - step->first;
    float *x = uh_row_address(op, UH_LINEAR_X, step->first), *out = uh_row_address(op, UH_LINEAR_OUT, step->first);
    if (op->p[UH_LINEAR_CARD] && rows == 1 && uh_card_product(op->p[UH_LINEAR_CARD], x, out)) return 0;
    return uh_linear_rows(context, op->p[UH_LINEAR_VIEW], x, op->stride[UH_LINEAR_X] / size, rows, out,
                          op->stride[UH_LINEAR_OUT] / size);
}

/* A matrix for every head, one below the other in one view. */
typedef struct {
    const uh_context *context;
    const uh_matrix_view *view;
    const uh_operand *x; /* [heads, rows] */
    const uh_op *op;
    int32_t first, n; /* rows of the step */
    int32_t rows;     /* of a head; whole tiles in a matrix of tiles */
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
        float y[UH_MOST_ROWS * UH_ROWS];
        uh_product(e->context, &view, block, 1, e->x, head * e->n, e->n, lane, y);
        for (int32_t r = 0; r < e->n; r++) {
            float *out = (float *)uh_row_address(e->op, UH_EACH_OUT, e->first + r) + (int64_t)head * e->op->n[UH_EACH_OUT_STEP];
            memcpy(out + row, y + r * UH_ROWS, (size_t)uh_least(UH_ROWS, e->rows - row) * sizeof(float));
        }
    }
}

static int run_each(uh_context *context, const uh_op *op, const uh_step *step) {
    const int32_t heads = op->n[UH_EACH_HEADS], n = step->end - step->first;
    const uh_matrix_view *view = op->p[UH_EACH_VIEW];
    const int raw = view->kind >= 16, form = raw ? UH_PLAIN : context->exact ? UH_FLOAT : UH_INT8;
    uh_operand *operand = raw ? &context->raw : &context->input;
    if (!uh_operand_open(operand, context->isa, form, heads * n, view->cols, view->groups * view->group, view->group) ||
        (!raw && n > UH_MOST_TOKENS && !uh_ensure_scratch(context, uh_many_scratch(view))))
        return -1;
    for (int32_t r = 0; r < n; r++) {
        const float *x = uh_row_address(op, UH_EACH_X, step->first + r);
        for (int32_t head = 0; head < heads; head++)
            uh_operand_take(operand, context->isa, head * n + r, x + (int64_t)head * op->n[UH_EACH_X_STEP]);
    }
    each_head e = {context, view, operand, op, step->first, n, view->rows / heads};
    uh_share(context, (int64_t)view->rows * view->cols * n < UH_SERIAL_WEIGHTS, run_head, &e, heads);
    return 0;
}

static const uh_op_function everywhere[UH_OP_KINDS] = {
    [UH_OP_ROPE] = {.row = run_rope}, [UH_OP_LINEAR] = {.rows = run_linear}, [UH_OP_EACH] = {.rows = run_each},
};

static const uh_op_function *ops_for(const uh_isa *isa) {
#if defined(__x86_64__)
    if (isa == uh_isa_table(UH_AVX512) || isa == uh_isa_table(UH_AVX512VNNI)) return uh_ops_avx512;
    if (isa != uh_isa_table(UH_PORTABLE)) return uh_ops_avx2;
#else
    (void)isa;
#endif
    return uh_ops_portable;
}

static const uh_op_function *ops_of(const uh_context *context) { return ops_for(context->isa); }

/* An op as it is for one row. */
static uh_op own_op(const uh_op *op, int32_t row) {
    uh_op own = *op;
    for (int i = 0; i < 12; i++) own.p[i] = uh_row_address(op, i, row);
    return own;
}

typedef struct {
    const uh_op_function *how;
    const uh_op *op;
    const uh_step *step;
} row_call;

static void run_row(void *argument, int32_t unit, int32_t lane) {
    const row_call *c = argument;
    const int32_t row = c->step->first + unit;
    const uh_op own = own_op(c->op, row);
    (void)lane;
    c->how->row(&own, c->step->row + row);
}

/* About as many numbers as an op goes over for a row; those that take many instructions each count for several. */
static int64_t row_numbers(const uh_op *op) {
    switch (op->kind) {
    case UH_OP_NORM: return (int64_t)op->n[UH_NORM_HEADS] * op->n[UH_NORM_WIDTH];
    case UH_OP_HEADS: return (int64_t)(op->n[UH_HEADS_HEADS] + 2 * op->n[UH_HEADS_KV_HEADS]) * op->n[UH_HEADS_DIM];
    case UH_OP_ROUTE: return (int64_t)op->n[UH_ROUTE_EXPERTS] * (op->n[UH_ROUTE_TOP_K] + 8);
    case UH_OP_LATENT: return (int64_t)op->n[UH_LATENT_HEADS] * op->n[UH_LATENT_ROPE] + op->n[UH_LATENT_RANK];
    default: return op->n[0]; /* their count */
    }
}

/* Row 0 alone, as every single token is, needs no op of its own. */
static void run_rows(uh_context *context, const uh_op_function *how, const uh_op *op, const uh_step *step) {
    const int32_t n = step->end - step->first;
    if (n == 1 && !step->first) {
        how->row(op, step->row);
        return;
    }
    row_call c = {how, op, step};
    uh_share(context, n * row_numbers(op) < UH_SERIAL_NUMBERS / 4 ? UH_SERIAL : UH_SHARED, run_row, &c, n);
}

void uh_keep_of(const uh_context *context, const uh_op *ops, int32_t n, const uh_row *row) {
    const uh_op_function *functions = ops_of(context);
    for (int32_t i = 0; i < n; i++)
        if (functions[ops[i].kind].keep) functions[ops[i].kind].keep(ops + i, row);
}

void uh_mark_routed_elsewhere(const uh_op *ops, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if (ops[i].kind != UH_OP_ROUTE || !ops[i].p[UH_ROUTE_CHOSEN]) continue;
        memcpy(ops[i].p[UH_ROUTE_CHOSEN], ops[i].p[UH_ROUTE_IDS], (size_t)ops[i].n[UH_ROUTE_TOP_K] * sizeof(int64_t));
        *(float *)ops[i].p[UH_ROUTE_ROOM] = NAN;
    }
}

/* Whether a card computed the ops that begin with this one. */
static int ran_on_card(const uh_context *context, const uh_op *op, const uh_step *step) {
    const uh_card_run *run = op->p[UH_CARD_RUN];
    if (!run || step->first || step->end != 1 || !uh_card_run_ops(run, step->row->position)) return 0;
    uh_keep_of(context, op, run->ops, step->row);
    uh_mark_routed_elsewhere(op, run->ops);
    return 1;
}

int uh_run_graph(uh_context *context, const uh_op *ops, int32_t n, const uh_step *step) {
    const uh_op_function *functions = ops_of(context);
    for (int32_t i = 0; i < n; i++) {
        const int32_t kind = ops[i].kind;
        if (ran_on_card(context, &ops[i], step)) {
            i += ((const uh_card_run *)ops[i].p[UH_CARD_RUN])->ops - 1;
            continue;
        }
        const uh_op_function *how = everywhere[kind].row || everywhere[kind].rows ? &everywhere[kind] : &functions[kind];
        if (how->row) run_rows(context, how, &ops[i], step);
        else if (how->rows(context, &ops[i], step)) return -1;
    }
    return 0;
}

void uh_reweigh(const uh_op *route, int32_t row) {
    uh_op own = own_op(route, row);
    own.n[UH_ROUTE_GIVEN] = UH_GIVEN_SCORED;
    uh_ops_portable[UH_OP_ROUTE].row(&own, NULL);
}

int uh_route(int isa, const uh_op *op, int32_t tokens) {
    const uh_isa *table = uh_isa_table(isa);
    if (!table) return -1;
    for (int32_t token = 0; token < tokens; token++) {
        const uh_op own = own_op(op, token);
        ops_for(table)[UH_OP_ROUTE].row(&own, NULL);
    }
    return 0;
}
