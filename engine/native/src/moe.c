/* One layer's experts in two passes over all threads: gate, up and activation; then down. */
#include <string.h>

#include "context.h"

enum {
    UNIT_ROWS = 64,      /* rows of a unit of work, rounded up to whole groups */
    FEW_BLOCKS = 8,      /* row blocks that few slots pass over at a time: a unit, or half a one of large groups */
    COMBINED = 256,      /* columns that are added up at a time */
    CHUNK = UH_TOGETHER, /* tokens that pass over one row block after the other, at most */
    FLOAT_CHUNK = 16     /* in float32: so many stay in the nearest caches */
};

/* One expert and its slots, `count` from `first_slot` on. */
typedef struct {
    uh_matrix_view views[UH_MATRICES];
    int32_t first_slot, count;
} job;

/* A call in progress. */
typedef struct {
    uh_context *context;
    const uh_layout *layout;
    const job *jobs;
    int32_t n_jobs;
    const int32_t *slots; /* NULL: one token, and each job has one slot */
    const float *x;
    const int32_t *used_tokens; /* the tokens that occur in this call */
    float *h;              /* [n_slots, h_stride]; in the order of `slots` */
    float *out;            /* [T * k, hidden]; without slots [n_jobs, hidden] */
    int32_t h_stride, unit_rows, units; /* units per expert in the current pass */
    int how; /* it is shared out */
} call;

static uh_matrix_view view_of(const uh_layout *layout, const uh_expert *expert, int which) {
    const uh_matrix *m = &layout->matrix[which];
    int raw = layout->top >= 16;
    const int planes = expert->planes;
    uh_matrix_view view = {.rows = m->rows, .cols = m->cols, .group = m->group, .unit = 1.0f};
    view.groups = raw ? 0 : m->stored_cols / m->group;
    view.kind = raw ? layout->top : m->kind[planes - 1];
    for (int p = 0; p < planes; p++) view.codes[p] = expert->codes[p] + m->codes[p];
    if (view.kind == UH_SIX) view.codes[2] = view.codes[1];
    if (!raw) {
        view.params = expert->params + m->params[planes - 1];
        view.form = m->form[planes - 1];
        view.zero = m->zero[planes - 1];
        view.table = m->table;
        memcpy(&view.unit, expert->codes[0] + m->unit, sizeof view.unit);
    }
    if (m->bias >= 0) view.bias = (const float *)(expert->codes[0] + m->bias);
    return view;
}

static void fill_job(job *to, const uh_layout *layout, const uh_expert *expert, int32_t first_slot, int32_t count) {
    for (int which = layout->has_gate ? UH_GATE : UH_UP; which < UH_MATRICES; which++)
        to->views[which] = view_of(layout, expert, which);
    to->first_slot = first_slot;
    to->count = count;
}

/* The tokens of these slots, each once, into `used` [2 * tokens]; returns how many. */
static int32_t list_tokens(const int32_t *slots, int32_t n_slots, int32_t k, int32_t tokens, int32_t *used) {
    int32_t *seen = used + tokens, count = 0;
    memset(seen, 0, (size_t)tokens * sizeof *seen);
    for (int32_t i = 0; i < n_slots; i++) {
        const int32_t token = slots[i] / k;
        if (!seen[token]) used[count++] = token;
        seen[token] = 1;
    }
    return count;
}

static void quantize_token(void *argument, int32_t unit, int32_t lane) {
    const call *c = argument;
    const int32_t token = c->used_tokens[unit];
    (void)lane;
    uh_operand_take(&c->context->input, c->context->isa, token, c->x + (int64_t)token * c->layout->hidden);
}

/* The rows of `blocks` row blocks on n slots from `at` on: 16 rows from r of slot t at y[place(blocks, n, t, r)]. For few
 * slots, whose time goes into reading, blocks follow one another, so that a matrix is read in one long stream: gate and up
 * in turns of one block were 3 to 5 % slower at 8 and 4 bits. */
static void tile_product(const call *c, const uh_matrix_view *view, int32_t block, int32_t blocks, int32_t at, int32_t n,
                         int32_t lane, float *y) {
    const uh_operand *x = &c->context->slots;
    if (n > UH_MOST_TOKENS) {
        uh_product(c->context, view, block, blocks, x, at, n, lane, y);
        return;
    }
    for (int32_t b = 0; b < blocks; b++)
        uh_product(c->context, view, block + b, 1, x, at, n, lane, y + b * n * UH_ROWS);
}

static int32_t place(int32_t blocks, int32_t n, int32_t t, int32_t r) {
    return n > UH_MOST_TOKENS ? t * blocks * UH_ROWS + r : (r / UH_ROWS * n + t) * UH_ROWS;
}

/* h = activation(gate x, up x) for n slots from `at` on, in at most `most` row blocks from `row` on, all of which are there
 * but for those that only fill up a group, whose rows become 0. Returns the rows done. */
static int32_t first_tile(const call *c, const job *job, int32_t row, int32_t most, int32_t at, int32_t n, int32_t lane) {
    const uh_layout *layout = c->layout;
    const int32_t rows = layout->intermediate - row, blocks = rows > 0 ? uh_blocks_for(rows, most) : 1;
    const int32_t done = uh_least(blocks * UH_ROWS, c->h_stride - row);
    float gate[CHUNK * UH_WIDE], up[CHUNK * UH_WIDE], h[CHUNK * UH_WIDE / UH_MOST_TOKENS] = {0};
    if (rows > 0) {
        tile_product(c, &job->views[UH_UP], row / UH_ROWS, blocks, at, n, lane, up);
        if (layout->has_gate) tile_product(c, &job->views[UH_GATE], row / UH_ROWS, blocks, at, n, lane, gate);
    }
    for (int32_t t = 0; t < n; t++) {
        for (int32_t r = 0; rows > 0 && r < blocks * UH_ROWS; r += UH_ROWS) {
            const int32_t from = place(blocks, n, t, r);
            c->context->isa->activate(layout, layout->has_gate ? gate + from : NULL, up + from, h + r);
        }
        for (int32_t r = uh_least(rows > 0 ? rows : 0, done); r < done; r++) h[r] = 0.0f;
        memcpy(c->h + (int64_t)(at + t) * c->h_stride + row, h, (size_t)done * sizeof(float));
    }
    return done;
}

static int32_t chunk_of(const call *c) { return c->context->hidden.form == UH_INT8 ? CHUNK : FLOAT_CHUNK; }

static void gate_up_pass(void *argument, int32_t unit, int32_t lane) {
    const call *c = argument;
    const job *job = &c->jobs[unit / c->units];
    const int32_t first = unit % c->units * c->unit_rows, end = uh_least(first + c->unit_rows, c->h_stride);
    const int32_t last = job->first_slot + job->count, chunk = chunk_of(c);
    for (int32_t at = job->first_slot; at < last; at += chunk) {
        const int32_t n = uh_least(chunk, last - at);
        const int32_t most = n > UH_MOST_TOKENS ? uh_blocks(&c->context->slots, n) : FEW_BLOCKS;
        for (int32_t row = first; row < end;)
            row += first_tile(c, job, row, uh_blocks_for(end - row, most), at, n, lane);
    }
    for (int32_t i = job->first_slot; i < last; i++)
        uh_operand_part(&c->context->hidden, c->context->isa, i, c->h + (int64_t)i * c->h_stride, first, end);
}

/* out = down h. */
static void down_pass(void *argument, int32_t unit, int32_t lane) {
    const call *c = argument;
    const job *job = &c->jobs[unit / c->units];
    const int32_t hidden = c->layout->hidden, last = job->first_slot + job->count, chunk = chunk_of(c);
    const int32_t first = unit % c->units * c->unit_rows, end = uh_least(first + c->unit_rows, hidden);
    for (int32_t at = job->first_slot; at < last; at += chunk) {
        const int32_t n = uh_least(chunk, last - at), step = uh_blocks(&c->context->hidden, n) * UH_ROWS;
        for (int32_t row = first; row < end; row += step) {
            const int32_t blocks = uh_blocks_for(end - row, step / UH_ROWS), width = blocks * UH_ROWS;
            float y[CHUNK * UH_WIDE];
            uh_product(c->context, &job->views[UH_DOWN], row / UH_ROWS, blocks, &c->context->hidden, at, n, lane, y);
            for (int32_t t = 0; t < n; t++)
                memcpy(c->out + (int64_t)(c->slots ? c->slots[at + t] : at) * hidden + row, y + t * width,
                       (size_t)uh_least(width, end - row) * sizeof(float));
        }
    }
}

static int32_t units_for(const call *c, int32_t rows) { return (rows + c->unit_rows - 1) / c->unit_rows; }

/* Quantize each token once to int8 by groups (or take it as float, under Exact), and let `slots` [n_slots] point to the
 * quantized tokens. 0: out of memory. */
static int open_operands(call *c, int32_t n_slots, int32_t tokens, int32_t k, int32_t n_used) {
    uh_context *context = c->context;
    const uh_layout *layout = c->layout;
    const int form = layout->top >= 16 ? UH_PLAIN : context->exact ? UH_FLOAT : UH_INT8;
    const int32_t group = layout->matrix[UH_UP].group, inner = layout->matrix[UH_DOWN].group;
    const int32_t step = form == UH_PLAIN ? UH_ROWS : inner, x_stride = layout->matrix[UH_UP].stored_cols;
    c->h_stride = layout->matrix[UH_DOWN].stored_cols;
    c->unit_rows = (UNIT_ROWS + step - 1) / step * step;
    const int64_t weights = (int64_t)layout->hidden * layout->intermediate * (layout->has_gate ? 3 : 2);
    c->how = uh_sharing(weights * n_slots < UH_SERIAL_WEIGHTS, tokens);
    if (!uh_operand_open(&context->input, context->isa, form, tokens, layout->hidden, x_stride, group) ||
        !uh_operand_open(&context->slots, context->isa, form, n_slots, 0, 0, group) ||
        !uh_operand_open(&context->hidden, context->isa, form, n_slots, layout->intermediate, c->h_stride, inner) ||
        !uh_ensure(&context->h, (size_t)n_slots * (size_t)c->h_stride * sizeof(float)))
        return 0;
    c->h = context->h.data;
    uh_share(context, n_used < 8 ? UH_SERIAL : c->how, quantize_token, c, n_used);
    for (int32_t i = 0; i < n_slots; i++) {
        uh_operand_copy(&context->slots, i, &context->input, c->slots ? c->slots[i] / k : 0);
        if (form != UH_INT8) context->hidden.x[i] = c->h + (int64_t)i * c->h_stride;
    }
    return 1;
}

static void run_passes(call *c) {
    c->units = units_for(c, c->h_stride);
    uh_share(c->context, c->how, gate_up_pass, c, c->units * c->n_jobs);
    c->units = units_for(c, c->layout->hidden);
    uh_share(c->context, c->how, down_pass, c, c->units * c->n_jobs);
}

int uh_moe_forward(uh_context *context, const uh_layout *layout, const uh_expert *experts, int32_t n_experts,
           const int32_t *slots, int32_t n_slots, int32_t k, const float *x, int32_t tokens, float *out) {
    call c = {.context = context, .layout = layout, .n_jobs = n_experts, .slots = slots, .x = x, .out = out};
    if (!uh_ensure(&context->jobs, (size_t)n_experts * sizeof(job)) ||
        !uh_ensure(&context->call_tokens, 2 * (size_t)tokens * sizeof(int32_t)))
        return -1;
    job *jobs = context->jobs.data;
    int64_t scratch = 0;
    for (int32_t i = 0; i < n_experts; i++) {
        fill_job(&jobs[i], layout, &experts[i], experts[i].first_slot, experts[i].count);
        for (int which = UH_UP; experts[i].count > UH_MOST_TOKENS && which < UH_MATRICES; which++) {
            const int64_t needed = uh_many_scratch(&jobs[i].views[which]);
            scratch = needed > scratch ? needed : scratch;
        }
    }
    c.jobs = jobs;
    c.used_tokens = context->call_tokens.data;
    const int32_t n_used = list_tokens(slots, n_slots, k, tokens, context->call_tokens.data);
    if (!uh_ensure_scratch(context, scratch) || !open_operands(&c, n_slots, tokens, k, n_used)) return -1;
    run_passes(&c);
    return 0;
}

typedef struct {
    const float *weights, *out;
    float *y;
    int32_t k, hidden;
} combination;

/* Columns first .. end - 1 of one token's y. */
static void combine(const combination *c, int32_t token, int32_t first, int32_t end) {
    float *y = c->y + (int64_t)token * c->hidden;
    for (int32_t i = first; i < end; i++) y[i] = 0.0f;
    for (int32_t rank = 0; rank < c->k; rank++) {
        const int64_t slot = (int64_t)token * c->k + rank;
        const float weight = c->weights[slot], *out = c->out + slot * c->hidden;
        if (weight != 0.0f)
            for (int32_t i = first; i < end; i++) y[i] += weight * out[i];
    }
}

static void combine_token(void *argument, int32_t token, int32_t lane) {
    const combination *c = argument;
    (void)lane;
    for (int32_t first = 0; first < c->hidden; first += COMBINED)
        combine(c, token, first, uh_least(first + COMBINED, c->hidden));
}

void uh_combine(uh_context *context, const float *weights, const float *out, float *y, int32_t tokens, int32_t k,
                int32_t hidden) {
    combination c = {weights, out, y, k, hidden};
    uh_share(context, uh_sharing((int64_t)tokens * k * hidden < UH_SERIAL_WEIGHTS, tokens), combine_token, &c, tokens);
}

/* The sum is taken in a step of its own: rows of all experts at a time would break off every stream of weights after a
 * few KiB, which costs more than a line of 256 columns of each expert out of the nearest cache. */
int uh_moe_one(uh_context *context, const uh_layout *layout, const uh_expert *experts, int32_t n_experts, const float *x,
               const float *weights, float *y) {
    static const int32_t only_token = 0;
    const int32_t hidden = layout->hidden;
    call c = {.context = context, .layout = layout, .x = x, .used_tokens = &only_token};
    if (!uh_ensure(&context->jobs, (size_t)n_experts * (sizeof(job) + sizeof(float))) ||
        !uh_ensure(&context->out, (size_t)n_experts * (size_t)hidden * sizeof(float)))
        return -1;
    job *jobs = context->jobs.data;
    float *kept = (float *)(jobs + n_experts);
    for (int32_t i = 0; i < n_experts; i++) {
        const float weight = weights[experts[i].first_slot];
        if (weight == 0.0f) continue;
        fill_job(&jobs[c.n_jobs], layout, &experts[i], c.n_jobs, 1);
        kept[c.n_jobs++] = weight;
    }
    c.jobs = jobs;
    c.out = context->out.data;
    if (!open_operands(&c, c.n_jobs, 1, 1, 1)) return -1;
    run_passes(&c);
    uh_combine(context, kept, c.out, y, 1, c.n_jobs, hidden);
    return 0;
}
