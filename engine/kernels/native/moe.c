/* One layer's experts in two sweeps over all threads: gate, up and activation; then down. */
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "rows.h"

enum {
    UNIT_ROWS = 64,          /* rows of a unit of work, rounded up to whole groups */
    CHUNK = 16,              /* tokens that stay in the nearest caches while all rows of a unit pass over them */
    SERIAL_WEIGHTS = 1 << 19 /* weights times tokens, some 15 us, below which waking others costs more than it brings */
};

typedef struct {
    float *data;
    size_t floats;
} buffer;

struct uh_context {
    uh_pool *pool;
    uh_pool *alone; /* no workers: for calls too small to share */
    const uh_isa *isa;
    buffer x, x_sums, h, h_sums, needed;
};

/* A call in progress. */
typedef struct {
    const uh_context *context;
    const uh_layout *layout;
    const uh_expert *experts;
    const int32_t *slots;
    const float *x, *x_sums; /* [T, x_stride], [T, x_groups] */
    float *h, *h_sums;       /* [n_slots, h_stride], [n_slots, h_groups]; in the order of `slots` */
    float *out;
    const float *source;   /* x as the caller gave it */
    float *padded;         /* where x is copied to, or NULL where its rows are whole groups already */
    const int32_t *needed; /* the tokens that occur in this call */
    int32_t k, x_stride, x_groups, h_stride, h_groups;
    int32_t unit_rows, units; /* units per expert in the current sweep */
} call;

int uh_abi(void) { return UH_ABI; }

int uh_best_isa(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return UH_AVX512;
    if (avx2) return UH_AVX2;
#endif
    return UH_PORTABLE;
}

static const uh_isa *isa_table(int isa) {
#if defined(__x86_64__)
    if (isa == UH_AVX512) return &uh_avx512;
    if (isa == UH_AVX2) return &uh_avx2;
#endif
    return isa == UH_PORTABLE ? &uh_portable : NULL;
}

uh_context *uh_open(int threads, int isa) {
    if (isa > uh_best_isa() || !isa_table(isa)) return NULL;
    uh_context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    context->isa = isa_table(isa);
    context->pool = uh_pool_open(threads);
    context->alone = uh_pool_open(1);
    if (context->pool && context->alone) return context;
    uh_close(context);
    return NULL;
}

void uh_close(uh_context *context) {
    if (context->pool) uh_pool_close(context->pool);
    if (context->alone) uh_pool_close(context->alone);
    free(context->x.data);
    free(context->x_sums.data);
    free(context->h.data);
    free(context->h_sums.data);
    free(context->needed.data);
    free(context);
}

static int ensure(buffer *b, size_t floats) {
    if (floats <= b->floats) return 1;
    free(b->data);
    b->data = malloc(floats * sizeof(float));
    b->floats = b->data ? floats : 0;
    return b->data != NULL;
}

/* The sums of the groups of one padded vector, always added in the same order. */
static void sum_groups(const float *x, int32_t first, int32_t end, int32_t group, float *sums) {
    for (int32_t g = first; g < end; g++) {
        float lanes[16] = {0};
        for (int32_t c = 0; c < group; c += 16)
            for (int i = 0; i < 16; i++) lanes[i] += x[g * group + c + i];
        float sum = 0.0f;
        for (int i = 0; i < 16; i++) sum += lanes[i];
        sums[g] = sum;
    }
}

static uh_view view_of(const uh_layout *layout, const uh_expert *expert, int which) {
    const uh_matrix *m = &layout->matrix[which];
    int raw = layout->top >= 16;
    uh_view view = {.rows = m->rows, .cols = m->cols, .group = layout->group, .unit = 1.0f};
    view.groups = raw ? 0 : m->stored_cols / layout->group;
    view.kind = raw ? layout->top : expert->planes;
    for (int p = 0; p < expert->planes; p++) view.codes[p] = expert->plane[p] + m->codes[p];
    if (!raw) {
        view.params = expert->plane[expert->planes - 1] + m->params[expert->planes - 1];
        memcpy(&view.unit, expert->plane[0] + m->unit, sizeof view.unit);
    }
    if (m->bias >= 0) view.bias = (const float *)(expert->plane[0] + m->bias);
    return view;
}

static void add_bias(const uh_view *view, int32_t block, float *y) {
    if (!view->bias) return;
    for (int r = 0; r < UH_ROWS && block * UH_ROWS + r < view->rows; r++) y[r] += view->bias[block * UH_ROWS + r];
}

static int least(int a, int b) { return a < b ? a : b; }

/* The tokens of these slots, each once, into `needed` [2 * tokens]; returns how many. */
static int32_t list_tokens(const int32_t *slots, int32_t n_slots, int32_t k, int32_t tokens, int32_t *needed) {
    int32_t *seen = needed + tokens, count = 0;
    memset(seen, 0, (size_t)tokens * sizeof *seen);
    for (int32_t i = 0; i < n_slots; i++) {
        const int32_t token = slots[i] / k;
        if (!seen[token]) needed[count++] = token;
        seen[token] = 1;
    }
    return count;
}

/* The sums of one token's x, and a copy padded with zeros to whole groups where that is needed. */
static void prepare_token(void *argument, int32_t unit) {
    const call *c = argument;
    const int64_t token = c->needed[unit];
    if (c->padded) {
        const int32_t hidden = c->layout->hidden;
        float *to = c->padded + token * c->x_stride;
        memcpy(to, c->source + token * hidden, (size_t)hidden * sizeof(float));
        memset(to + hidden, 0, (size_t)(c->x_stride - hidden) * sizeof(float));
    }
    sum_groups(c->x + token * c->x_stride, 0, c->x_groups, c->layout->group, (float *)c->x_sums + token * c->x_groups);
}

/* One row block of one expert on the n slots from `at` on, as far as one sweep takes it. */
typedef void (*tile_work)(const call *c, const uh_view *views, int32_t row, int32_t at, int n);

/* h = activation(gate x, up x); rows that only fill up a group become 0. */
static void first_tile(const call *c, const uh_view *views, int32_t row, int32_t at, int n) {
    const uh_layout *layout = c->layout;
    const uh_isa *isa = c->context->isa;
    const float *x[UH_MOST_TOKENS], *sums[UH_MOST_TOKENS];
    float gate[UH_MOST_TOKENS][UH_ROWS], up[UH_MOST_TOKENS][UH_ROWS], h[UH_ROWS] = {0};
    const int32_t block = row / UH_ROWS, rows = least(UH_ROWS, layout->intermediate - row);
    const int32_t width = least(UH_ROWS, c->h_stride - row);
    for (int t = 0; t < n; t++) {
        const int64_t token = c->slots[at + t] / c->k;
        x[t] = c->x + token * c->x_stride;
        sums[t] = c->x_sums ? c->x_sums + token * c->x_groups : NULL;
    }
    if (rows > 0) {
        isa->rows(&views[UH_UP], block, x, sums, n, up);
        if (layout->has_gate) isa->rows(&views[UH_GATE], block, x, sums, n, gate);
    }
    for (int t = 0; t < n; t++) {
        if (rows > 0) {
            add_bias(&views[UH_UP], block, up[t]);
            if (layout->has_gate) add_bias(&views[UH_GATE], block, gate[t]);
            isa->activate(layout, layout->has_gate ? gate[t] : NULL, up[t], h);
            for (int r = rows; r < width; r++) h[r] = 0.0f;
        }
        memcpy(c->h + (int64_t)(at + t) * c->h_stride + row, h, (size_t)width * sizeof(float));
    }
}

/* out = down h. */
static void second_tile(const call *c, const uh_view *views, int32_t row, int32_t at, int n) {
    const int32_t hidden = c->layout->hidden;
    const float *h[UH_MOST_TOKENS], *sums[UH_MOST_TOKENS];
    float y[UH_MOST_TOKENS][UH_ROWS];
    for (int t = 0; t < n; t++) {
        h[t] = c->h + (int64_t)(at + t) * c->h_stride;
        sums[t] = c->h_groups ? c->h_sums + (int64_t)(at + t) * c->h_groups : NULL;
    }
    c->context->isa->rows(&views[UH_DOWN], row / UH_ROWS, h, sums, n, y);
    for (int t = 0; t < n; t++) {
        add_bias(&views[UH_DOWN], row / UH_ROWS, y[t]);
        memcpy(c->out + (int64_t)c->slots[at + t] * hidden + row, y[t], (size_t)least(UH_ROWS, hidden - row) * sizeof(float));
    }
}

/* All slots of one expert over the rows from `first` to `end`. */
static void run_unit(const call *c, const uh_expert *expert, int32_t first, int32_t end, tile_work tile) {
    uh_view views[UH_MATRICES];
    const int tokens = c->context->isa->tokens;
    for (int which = c->layout->has_gate ? UH_GATE : UH_UP; which < UH_MATRICES; which++)
        views[which] = view_of(c->layout, expert, which);
    const int32_t last = expert->first + expert->count;
    for (int32_t from = expert->first; from < last; from += CHUNK) {
        const int32_t to = least(from + CHUNK, last);
        for (int32_t row = first; row < end; row += UH_ROWS)
            for (int32_t at = from; at < to; at += tokens) tile(c, views, row, at, least(tokens, to - at));
    }
}

static void first_sweep(void *argument, int32_t unit) {
    const call *c = argument;
    const uh_expert *expert = &c->experts[unit / c->units];
    const int32_t first = unit % c->units * c->unit_rows, end = least(first + c->unit_rows, c->h_stride);
    run_unit(c, expert, first, end, first_tile);
    if (c->h_groups)
        for (int64_t i = expert->first; i < expert->first + expert->count; i++)
            sum_groups(c->h + i * c->h_stride, first / c->layout->group, end / c->layout->group, c->layout->group,
                       c->h_sums + i * c->h_groups);
}

static void second_sweep(void *argument, int32_t unit) {
    const call *c = argument;
    const int32_t first = unit % c->units * c->unit_rows, end = least(first + c->unit_rows, c->layout->hidden);
    run_unit(c, &c->experts[unit / c->units], first, end, second_tile);
}

static void sweep(uh_pool *pool, call *c, uh_work work, int32_t rows, int32_t n_experts) {
    c->units = (rows + c->unit_rows - 1) / c->unit_rows;
    uh_pool_run(pool, work, c, c->units * n_experts);
}

int uh_run(uh_context *context, const uh_layout *layout, const uh_expert *experts, int32_t n_experts,
           const int32_t *slots, int32_t n_slots, int32_t k, const float *x, int32_t tokens, float *out) {
    const int raw = layout->top >= 16;
    call c = {.context = context, .layout = layout, .experts = experts, .slots = slots, .x = x, .out = out, .k = k};
    c.source = x;
    c.x_stride = layout->matrix[UH_UP].stored_cols;
    c.h_stride = layout->matrix[UH_DOWN].stored_cols;
    c.x_groups = raw ? 0 : c.x_stride / layout->group;
    c.h_groups = raw ? 0 : c.h_stride / layout->group;
    const int32_t step = raw ? UH_ROWS : layout->group;
    c.unit_rows = (UNIT_ROWS + step - 1) / step * step;
    const int64_t weights = (int64_t)layout->hidden * layout->intermediate * (layout->has_gate ? 3 : 2);
    uh_pool *pool = weights * n_slots < SERIAL_WEIGHTS ? context->alone : context->pool;
    if (!ensure(&context->h, (size_t)n_slots * (size_t)c.h_stride)) return -1;
    c.h = context->h.data;
    if (!raw) {
        const int whole = c.x_stride == layout->hidden;
        if (!ensure(&context->x, whole ? 0 : (size_t)tokens * (size_t)c.x_stride) ||
            !ensure(&context->x_sums, (size_t)tokens * (size_t)c.x_groups) ||
            !ensure(&context->h_sums, (size_t)n_slots * (size_t)c.h_groups) ||
            !ensure(&context->needed, 2 * (size_t)tokens))
            return -1;
        if (!whole) c.x = c.padded = context->x.data;
        c.x_sums = context->x_sums.data;
        c.h_sums = context->h_sums.data;
        c.needed = (int32_t *)context->needed.data;
        const int32_t count = list_tokens(slots, n_slots, k, tokens, (int32_t *)context->needed.data);
        uh_pool_run(pool, prepare_token, &c, count);
    }
    sweep(pool, &c, first_sweep, c.h_stride, n_experts);
    sweep(pool, &c, second_sweep, layout->hidden, n_experts);
    return 0;
}

typedef struct {
    const float *weights, *out;
    float *y;
    int32_t k, hidden;
} combination;

static void combine_token(void *argument, int32_t token) {
    const combination *c = argument;
    float *y = c->y + (int64_t)token * c->hidden;
    memset(y, 0, (size_t)c->hidden * sizeof(float));
    for (int32_t rank = 0; rank < c->k; rank++) {
        const int64_t slot = (int64_t)token * c->k + rank;
        const float weight = c->weights[slot], *out = c->out + slot * c->hidden;
        if (weight != 0.0f)
            for (int32_t i = 0; i < c->hidden; i++) y[i] += weight * out[i];
    }
}

void uh_combine(uh_context *context, const float *weights, const float *out, float *y, int32_t tokens, int32_t k,
                int32_t hidden) {
    combination c = {weights, out, y, k, hidden};
    uh_pool_run((int64_t)tokens * k * hidden < SERIAL_WEIGHTS ? context->alone : context->pool, combine_token, &c, tokens);
}

typedef struct {
    const uh_isa *isa;
    const uint8_t *bytes;
    int64_t n;
    uint64_t sums[64];
} reading;

static void read_part(void *argument, int32_t unit) {
    reading *r = argument;
    const int64_t part = r->n / 64;
    r->sums[unit] = r->isa->read(r->bytes + unit * part, part);
}

uint64_t uh_read(uh_context *context, const uint8_t *bytes, int64_t n) {
    reading r = {context->isa, bytes, n, {0}};
    uh_pool_run(context->pool, read_part, &r, 64);
    uint64_t sum = 0;
    for (int i = 0; i < 64; i++) sum += r.sums[i];
    return sum;
}
