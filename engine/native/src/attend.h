/* Attention of one token over the rows of its sequence, compiled once per instruction set: see vectors.h.
 *
 * A unit of work is one key head over a span of rows, for all queries that share that head: so keys and values are read
 * once. Each unit keeps running maxima, the sums of its exponentials and weighted sums of values; the units of a head
 * are merged at the end, which is exact and does not depend on who computed what. */
#include "vectors.h"

#include "activation.h"
#include "attend_block.h"
#include "attend_pairs.h"
#include "context.h"
#include "op_graph.h"

enum {
    SPAN_ROWS = 256,         /* at least, in a unit */
    SPANS = 16,              /* at most, of a head: op_graph.py makes room for so many */
    UNITS = 64,              /* of all heads, about: so that threads end together */
    SERIAL_FLOATS = 1 << 15, /* of keys, below which waking others costs more than it brings */
    SERIAL_MERGE = 1 << 16   /* floats of unfinished sums, likewise */
};

typedef struct {
    const uh_kv_rows *keys, *values;
    const float *queries, *sinks; /* [heads, dim], [heads] or NULL */
    float *out, *slots;           /* [heads, dim]; slot_floats for every unit */
    int64_t first, end, span_rows; /* rows seen */
    int32_t kv_heads, share, dim, padded, spans;
    int even_odd[2]; /* whether keys, and values, are taken in that order */
    int pairs;       /* whether both are multiplied two numbers at a time: see attend_pairs.h */
    int packed;      /* whether both are of 8 bits: a block at a time becomes bf16 (pairs) or float32 */
    float scale;
} attention;

/* Of a unit: its queries, scaled [share, padded]; weighted values [share, padded]; maxima and sums [share] each; the
 * queries in bf16 [share, padded]. */
static int64_t slot_floats(const attention *a) { return a->share * (2LL * (a->padded + 1) + a->padded / 2); }

#if defined(UH_WITH_AVX512)
static uint16_t *query_pairs(const attention *a, float *slot) {
    return (uint16_t *)(slot + 2LL * a->share * (a->padded + 1));
}

/* Rows as they lie in bf16: their own place, or `room` where they are of 8 bits. */
UH_PAIRS static const uint8_t *as_pairs(const attention *a, const uint8_t *rows, int32_t n, uint16_t *room) {
    if (!a->packed) return rows;
    unpack_kv_pairs(rows, n, a->dim, room);
    return (const uint8_t *)room;
}

/* A block of whole tiles in bf16, and what is read after it. */
UH_PAIRS static void attend_pairs(const attention *a, const block *b, float *slot, weighing *s, const uint8_t *k,
                                  const uint8_t *v, int64_t next, uint16_t *room) {
    const int64_t bytes = uh_kv_row_bytes(a->keys->bits, a->dim);
    coming soon = fetched_in(v, b->rows * bytes, key_tiles(b));
    weigh_key_pairs(b, query_pairs(a, slot), as_pairs(a, k, b->rows, room), s, &soon);
    soon = fetched_in(k + b->rows * bytes, next * bytes, value_tiles(b));
    add_value_pairs(b, slot + (int64_t)a->share * a->padded, as_pairs(a, v, b->rows, room), s, &soon);
}
#endif

/* One piece of rows that lie together, for all queries of the head. */
UH_TARGET static void attend_rows(const attention *a, float *slot, weighing *s, const uint8_t *keys, const uint8_t *values,
                                  int64_t n) {
    float wide[BLOCK_FLOATS];
#if defined(UH_WITH_AVX512)
    uint16_t unpacked[BLOCK_FLOATS];
#endif
    const int32_t step = BLOCK_FLOATS / a->padded / UH_ROWS * UH_ROWS;
    const int32_t most = uh_least(step, a->share < MANY_SHARE || a->pairs ? MOST_BLOCK_ROWS : FEW_BLOCK_ROWS);
    const int64_t key_bytes = uh_kv_row_bytes(a->keys->bits, a->dim);
    const int64_t value_bytes = uh_kv_row_bytes(a->values->bits, a->dim);
    float *out = slot + (int64_t)a->share * a->padded;
    block b = {.queries = slot, .share = a->share, .padded = a->padded};
    for (int64_t at = 0; at < n; at += most) {
        b.rows = n - at < most ? (int32_t)(n - at) : most;
        const int32_t whole = (b.rows + UH_LANES - 1) / UH_LANES * UH_LANES;
        const uint8_t *k = keys + at * key_bytes, *v = values + at * value_bytes;
        const int key_lies = a->even_odd[0] && b.rows == whole, value_lies = a->even_odd[1];
        const int64_t left = n - at - b.rows, next = left < most ? left : most;
#if defined(UH_WITH_AVX512)
        if (a->pairs && key_lies) {
            attend_pairs(a, &b, slot, s, k, v, next, unpacked);
            continue;
        }
        if (a->pairs && a->packed) k = as_pairs(a, k, b.rows, unpacked);
#endif
        if (!key_lies) {
            widen(k, a->even_odd[0] ? 16 : a->keys->bits, b.rows, a->dim, a->padded, a->even_odd[0], wide);
            memset(wide + (int64_t)b.rows * a->padded, 0, (size_t)(whole - b.rows) * (size_t)a->padded * sizeof(float));
            k = (const uint8_t *)wide;
        }
        coming soon = fetched_in(v, b.rows * value_bytes, key_tiles(&b));
        weigh_keys(&b, k, key_lies, s, &soon);
#if defined(UH_WITH_AVX512)
        if (a->pairs && a->packed) v = as_pairs(a, v, b.rows, unpacked);
#endif
        if (!value_lies) {
            widen(v, a->values->bits, b.rows, a->dim, a->padded, 0, wide);
            v = (const uint8_t *)wide;
        }
        soon = fetched_in(keys + (at + b.rows) * key_bytes, next * key_bytes, value_tiles(&b));
        add_values(&b, out, v, value_lies, s, &soon);
    }
}

/* A head's numbers, scaled, filled up with zeros to `padded`; or the even ones of 2 * UH_LANES before the odd. */
UH_TARGET static void lay_out(const float *from, int32_t dim, int32_t padded, int in_order, float scale, float *to) {
    if (in_order) {
        for (int32_t d = 0; d < dim; d += 2 * UH_LANES)
            for (int l = 0; l < UH_LANES; l++) {
                to[d + l] = from[d + 2 * l] * scale;
                to[d + UH_LANES + l] = from[d + 2 * l + 1] * scale;
            }
        return;
    }
    for (int32_t d = 0; d < dim; d++) to[d] = from[d] * scale;
    for (int32_t d = dim; d < padded; d++) to[d] = 0.0f;
}

/* The opposite. */
UH_TARGET static void bring_back(const float *from, int32_t dim, int in_order, float scale, float *to) {
    if (in_order) {
        for (int32_t d = 0; d < dim; d += 2 * UH_LANES)
            for (int l = 0; l < UH_LANES; l++) {
                to[d + 2 * l] = from[d + l] * scale;
                to[d + 2 * l + 1] = from[d + UH_LANES + l] * scale;
            }
        return;
    }
    for (int32_t d = 0; d < dim; d++) to[d] = from[d] * scale;
}

UH_TARGET static void attend_unit(void *argument, int32_t unit, int32_t lane) {
    const attention *a = argument;
    (void)lane;
    weighing s;
    const int32_t head = unit / a->spans;
    float *slot = a->slots + unit * slot_floats(a), *out = slot + (int64_t)a->share * a->padded;
    float *maxima = out + (int64_t)a->share * a->padded, *sums = maxima + a->share;
    const int64_t low = a->first + unit % a->spans * a->span_rows;
    const int64_t high = low + a->span_rows < a->end ? low + a->span_rows : a->end;
    for (int32_t i = 0; i < a->share; i++)
        lay_out(a->queries + ((int64_t)head * a->share + i) * a->dim, a->dim, a->padded, a->even_odd[0], a->scale,
                slot + (int64_t)i * a->padded);
#if defined(UH_WITH_AVX512)
    if (a->pairs)
        for (int32_t i = 0; i < a->share; i++)
            round_pairs(a->queries + ((int64_t)head * a->share + i) * a->dim, a->dim, a->scale,
                        query_pairs(a, slot) + (int64_t)i * a->padded);
#endif
    memset(out, 0, (size_t)a->share * (size_t)a->padded * sizeof(float));
    for (int32_t l = 0; l < a->share * UH_LANES; l++) s.largest[l] = -3.4e38f, s.sums[l] = 0.0f;
    int64_t start = 0; /* of the chunk */
    for (int32_t c = 0; c < a->keys->chunks && start < high; c++) {
        const int64_t rows = a->keys->chunk[c].rows;
        const int64_t from = low > start ? low - start : 0, to = high - start < rows ? high - start : rows;
        if (from < to) {
            const int64_t row = head * rows + from;
            attend_rows(a, slot, &s, a->keys->chunk[c].data + row * uh_kv_row_bytes(a->keys->bits, a->dim),
                        a->values->chunk[c].data + row * uh_kv_row_bytes(a->values->bits, a->dim), to - from);
        }
        start += rows;
    }
    for (int32_t i = 0, queries; i < a->share; i += queries) {
        queries = together(a->share - i);
        for (int32_t q = 0; q < queries; q++) {
            const int32_t lanes = UH_LANES / queries, at = i * UH_LANES + q * lanes;
            maxima[i + q] = s.largest[at];
            sums[i + q] = 0.0f;
            for (int32_t l = 0; l < lanes; l++) sums[i + q] += s.sums[at + l];
        }
    }
}

/* One query's output from the units of its head. */
UH_TARGET static void merge(void *argument, int32_t query, int32_t lane) {
    const attention *a = argument;
    (void)lane;
    const int32_t head = query / a->share, i = query % a->share;
    const float *slots = a->slots + (int64_t)head * a->spans * slot_floats(a);
    const float *maxima = slots + 2LL * a->share * a->padded + i;
    float best = a->sinks ? a->sinks[query] : -INFINITY, sum = 0.0f;
    for (int32_t s = 0; s < a->spans; s++) {
        const float largest = maxima[s * slot_floats(a)];
        best = largest > best ? largest : best;
    }
    if (a->sinks) sum = uh_exp(a->sinks[query] - best);
    float share[SPANS];
    for (int32_t s = 0; s < a->spans; s++) {
        share[s] = uh_exp(maxima[s * slot_floats(a)] - best);
        sum += share[s] * maxima[s * slot_floats(a) + a->share];
    }
    /* The first unit's weighted values become the whole's. */
    float *to = a->slots + (int64_t)head * a->spans * slot_floats(a) + ((int64_t)a->share + i) * a->padded;
    for (int32_t d = 0; d < a->padded; d += UH_LANES) {
        vf whole = vf_all(0.0f);
        for (int32_t s = 0; s < a->spans; s++)
            whole = vf_fma(vf_all(share[s]), vf_load(to + s * slot_floats(a) + d), whole);
        vf_store(to + d, whole);
    }
    bring_back(to, a->dim, a->even_odd[1], 1.0f / sum, a->out + (int64_t)query * a->dim);
}

/* All rows of a step: a head's keys and values of a span, once read, are in the nearest caches for the next row. */
typedef struct {
    attention row[UH_MOST_ROWS];
    int32_t rows, heads, spans; /* spans: the most of a row */
} attention_rows;

UH_TARGET static void attend_units(void *argument, int32_t unit, int32_t lane) {
    attention_rows *all = argument;
    const int32_t head = unit / all->spans, span = unit % all->spans;
    for (int32_t r = 0; r < all->rows; r++) {
        attention *a = &all->row[r];
        if (span < a->spans) attend_unit(a, head * a->spans + span, lane);
    }
}

UH_TARGET static void merge_rows(void *argument, int32_t unit, int32_t lane) {
    attention_rows *all = argument;
    merge(&all->row[unit / all->heads], unit % all->heads, lane);
}

UH_TARGET static void ready_attention(const uh_context *context, const uh_op *op, const uh_step *step, int32_t row, attention *a) {
    const int32_t window = op->n[UH_ATTEND_WINDOW];
    void *const *state = step->row[row].state;
    *a = (attention){.keys = state[op->n[UH_ATTEND_STATE]], .values = state[op->n[UH_ATTEND_STATE] + 1]};
    a->queries = uh_row_address(op, UH_ATTEND_QUERIES, row), a->sinks = op->p[UH_ATTEND_SINKS];
    a->out = uh_row_address(op, UH_ATTEND_OUT, row), a->slots = uh_row_address(op, UH_ATTEND_ROOM, row);
    a->kv_heads = op->n[UH_ATTEND_KV_HEADS], a->dim = op->n[UH_ATTEND_DIM], a->scale = op->f[UH_ATTEND_SCALE];
    a->share = op->n[UH_ATTEND_HEADS] / a->kv_heads;
    a->padded = (a->dim + UH_LANES - 1) / UH_LANES * UH_LANES;
    a->packed = a->keys->bits == 8;
    const int pairs = context->pairs && a->dim % UH_KV_GROUP == 0;
    a->even_odd[0] = a->packed ? pairs : a->keys->bits == 16 && a->dim % (2 * UH_LANES) == 0;
    a->even_odd[1] = a->packed ? pairs : a->values->bits == 16 && a->dim % (2 * UH_LANES) == 0;
    a->pairs = pairs && a->even_odd[0] && a->even_odd[1];
    a->end = step->row[row].position + 1;
    a->first = window && a->end > window ? a->end - window : 0;
    const int64_t rows = a->end - a->first;
    const int32_t many = UNITS / a->kv_heads < 1 ? 1 : uh_least(UNITS / a->kv_heads, SPANS);
    a->span_rows = (rows + many - 1) / many;
    if (a->span_rows < SPAN_ROWS) a->span_rows = SPAN_ROWS;
    a->spans = (int32_t)((rows + a->span_rows - 1) / a->span_rows);
}

UH_TARGET static int run_attend(uh_context *context, const uh_op *op, const uh_step *step) {
    attention_rows all = {.rows = step->end - step->first, .heads = op->n[UH_ATTEND_HEADS]};
    int64_t floats = 0, sums = 0;
    for (int32_t r = 0; r < all.rows; r++) {
        attention *a = &all.row[r];
        ready_attention(context, op, step, step->first + r, a);
        all.spans = a->spans > all.spans ? a->spans : all.spans;
        floats += (a->end - a->first) * a->kv_heads * a->dim;
        sums += (int64_t)all.heads * a->spans * a->padded;
    }
    uh_share(context, floats < SERIAL_FLOATS, attend_units, &all, op->n[UH_ATTEND_KV_HEADS] * all.spans);
    uh_share(context, sums < SERIAL_MERGE, merge_rows, &all, all.rows * all.heads);
    return 0;
}
