/* Attention of one token over the rows of its sequence, compiled once per instruction set: see vectors.h.
 *
 * A unit of work is one key head over a span of rows, for all queries that share that head: so keys and values are read
 * once. Each unit keeps a running maximum, the sum of its exponentials and a weighted sum of values; the units of a head
 * are merged at the end, which is exact and does not depend on who computed what.
 *
 * Heads of whole vectors in bf16 are computed with as they lie: a shift widens the even ones of 2 * UH_LANES numbers and a
 * mask the odd ones, so queries and sums are held in that order too, the even ones of a pair of vectors before the odd. What
 * is held otherwise, and the last rows, which fill no tile, are widened to float32 first, a block at a time. */
#include "vectors.h"

#include "activation.h"
#include "context.h"
#include "tape.h"

enum {
    BLOCK_FLOATS = 8192,    /* of keys or values widened to float32 at a time: they stay in the nearest cache */
    MOST_BLOCK_ROWS = 64,   /* so many rows where a head is small enough */
    MOST_QUERIES = 64,      /* that share a key head */
    SPAN_ROWS = 256,        /* at least, in a unit */
    SPANS = 16,             /* at most, of a head */
    SERIAL_FLOATS = 1 << 15 /* of keys, below which waking others costs more than it brings */
};

typedef struct {
    const uh_table *keys, *values;
    const float *queries, *sinks; /* [heads, dim], [heads] or NULL */
    float *out, *slots;           /* [heads, dim]; slot_floats for every unit */
    int64_t first, end, span_rows; /* rows seen */
    int32_t kv_heads, share, dim, padded, spans;
    int even_odd[2]; /* whether keys, and values, are taken in that order */
    float scale;
} attention;

/* Of a unit: its queries, scaled [share, padded]; weighted values [share, padded]; maxima and sums [share] each. */
static int64_t slot_floats(const attention *a) { return 2LL * a->share * (a->padded + 1); }

/* Memory that is needed soon, fetched a few lines at a time while something else is computed. */
typedef struct {
    const uint8_t *at, *end;
    int32_t lines;
} coming;

UH_INLINE void fetch_some(coming *c) {
    for (int32_t i = 0; i < c->lines; i++, c->at += UH_LINE)
        if (c->at < c->end) UH_FETCH(c->at);
}

/* So that `times` calls of fetch_some fetch it all. */
static coming fetched_in(const uint8_t *from, int64_t bytes, int32_t times) {
    const int64_t lines = (bytes + UH_LINE - 1) / UH_LINE;
    return (coming){from, from + bytes, (int32_t)((lines + times - 1) / times)};
}

/* Where number d of a head stands in that order. */
static int32_t even_odd(int32_t d) { return d / (2 * UH_LANES) * 2 * UH_LANES + d % 2 * UH_LANES + d / 2 % UH_LANES; }

/* Vector w of a row of float32, or of bf16 in that order. */
UH_INLINE vf taken(const uint8_t *row, int32_t w, const int bf16) {
    const uint8_t *at = row + (int64_t)w / (bf16 ? 2 : 1) * UH_LANES * sizeof(float);
    return bf16 ? w % 2 ? vf_odd_bf16(at) : vf_even_bf16(at) : vf_load((const float *)at);
}

/* n rows as float32, each filled up with zeros to `padded`, or in that order. */
UH_TARGET static void widen(const uint8_t *rows, int32_t bits, int32_t n, int32_t dim, int32_t padded, int in_order,
                            float *out) {
    for (int32_t r = 0; r < n; r++) {
        float *to = out + (int64_t)r * padded;
        const int64_t at = (int64_t)r * dim;
        int32_t d = 0;
        if (in_order) {
            for (; d < dim; d += 2 * UH_LANES)
                for (int w = 0; w < 2; w++) vf_store(to + d + w * UH_LANES, taken(rows + 2 * (at + d), w, 1));
        } else if (bits == 16) {
            const uint16_t *row = (const uint16_t *)rows + at;
            for (; d + UH_LANES <= dim; d += UH_LANES) vf_store(to + d, vf_load_bf16(row + d));
            for (; d < dim; d++) {
                const uint32_t wide = (uint32_t)row[d] << 16;
                memcpy(to + d, &wide, 4);
            }
        } else {
            memcpy(to, (const float *)rows + at, (size_t)dim * sizeof(float));
            d = dim;
        }
        for (; d < padded; d++) to[d] = 0.0f;
    }
}

/* Scores of `queries` queries with UH_LANES / queries rows: lane q * rows + r. */
UH_INLINE vf score_tile(const float *q, const uint8_t *k, int32_t padded, const int queries, const int bf16) {
    const int rows = UH_LANES / queries, step = bf16 ? 2 : 1;
    const int64_t row = (int64_t)padded * (bf16 ? 2 : 4);
    vf sums[UH_LANES];
    for (int i = 0; i < UH_LANES; i++) sums[i] = vf_all(0.0f);
    for (int32_t d = 0; d < padded / UH_LANES; d += step)
#pragma GCC unroll 2
        for (int w = 0; w < step; w++)
#pragma GCC unroll 4
            for (int i = 0; i < queries; i++) {
                const vf x = vf_load(q + (int64_t)i * padded + (d + w) * UH_LANES);
#pragma GCC unroll 16
                for (int r = 0; r < rows; r++)
                    sums[i * rows + r] =
                        vf_fma(x, taken(k + r * row + d / step * UH_LANES * 4, w, bf16), sums[i * rows + r]);
            }
    return vf_sums(sums);
}

/* scores[share][MOST_BLOCK_ROWS] of `n` rows, rounded up to whole tiles: what is beyond n is of no meaning. */
UH_INLINE void score_kind(const attention *a, const float *q, const uint8_t *k, int32_t n, const int bf16,
                          float (*scores)[MOST_BLOCK_ROWS], coming *values) {
    const int64_t row = (int64_t)a->padded * (bf16 ? 2 : 4);
    int32_t i = 0;
    float lanes[UH_LANES];
    for (; i + 4 <= a->share; i += 4)
        for (int32_t r = 0; r < n; r += UH_LANES / 4) {
            fetch_some(values);
            vf_store(lanes, score_tile(q + (int64_t)i * a->padded, k + r * row, a->padded, 4, bf16));
            for (int j = 0; j < 4; j++)
                memcpy(scores[i + j] + r, lanes + j * (UH_LANES / 4), UH_LANES / 4 * sizeof(float));
        }
    for (; i < a->share; i++)
        for (int32_t r = 0; r < n; r += UH_LANES) {
            fetch_some(values);
            vf_store(scores[i] + r, score_tile(q + (int64_t)i * a->padded, k + r * row, a->padded, 1, bf16));
        }
}

UH_TARGET static void score(const attention *a, const float *q, const uint8_t *k, int32_t n, int bf16,
                            float (*scores)[MOST_BLOCK_ROWS], coming *values) {
    if (bf16)
        score_kind(a, q, k, n, 1, scores, values);
    else
        score_kind(a, q, k, n, 0, scores, values);
}

/* How often `score` fetches. */
static int32_t score_tiles(const attention *a, int32_t n) {
    return a->share / 4 * ((4 * n + UH_LANES - 1) / UH_LANES) + a->share % 4 * ((n + UH_LANES - 1) / UH_LANES);
}

/* out[q] += sum over n rows of weights[q][r] * v[r], for `queries` queries and `wide` vectors of the head from number d on. */
UH_INLINE void value_tile(float *out, const uint8_t *v, int32_t d, float (*weights)[MOST_BLOCK_ROWS], int32_t n,
                          int32_t padded, const int queries, const int wide, const int bf16, coming *keys) {
    const int64_t row = (int64_t)padded * (bf16 ? 2 : 4);
    vf sums[16];
    out += d, v += d * (bf16 ? 2 : 4);
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++)
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++) sums[i * wide + w] = vf_load(out + (int64_t)i * padded + w * UH_LANES);
    for (int32_t r = 0; r < n; r++) {
        fetch_some(keys);
#pragma GCC unroll 4
        for (int i = 0; i < queries; i++) {
            const vf weight = vf_all(weights[i][r]);
#pragma GCC unroll 8
            for (int w = 0; w < wide; w++)
                sums[i * wide + w] = vf_fma(weight, taken(v + r * row, w, bf16), sums[i * wide + w]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < queries; i++)
#pragma GCC unroll 8
        for (int w = 0; w < wide; w++) vf_store(out + (int64_t)i * padded + w * UH_LANES, sums[i * wide + w]);
}

UH_INLINE void add_kind(const attention *a, float *out, const uint8_t *v, float (*weights)[MOST_BLOCK_ROWS], int32_t n,
                        const int bf16, coming *keys) {
    const int narrow = bf16 ? 2 : 1, wide = UH_LANES / 4 > narrow ? UH_LANES / 4 : narrow;
    int32_t i = 0, d;
    for (; i + 4 <= a->share; i += 4) {
        float *to = out + (int64_t)i * a->padded;
        for (d = 0; d + wide * UH_LANES <= a->padded; d += wide * UH_LANES)
            value_tile(to, v, d, weights + i, n, a->padded, 4, wide, bf16, keys);
        for (; d < a->padded; d += narrow * UH_LANES) value_tile(to, v, d, weights + i, n, a->padded, 4, narrow, bf16, keys);
    }
    for (; i < a->share; i++) {
        float *to = out + (int64_t)i * a->padded;
        for (d = 0; d + 8 * UH_LANES <= a->padded; d += 8 * UH_LANES)
            value_tile(to, v, d, weights + i, n, a->padded, 1, 8, bf16, keys);
        for (; d < a->padded; d += narrow * UH_LANES) value_tile(to, v, d, weights + i, n, a->padded, 1, narrow, bf16, keys);
    }
}

UH_TARGET static void add_values(const attention *a, float *out, const uint8_t *v, float (*weights)[MOST_BLOCK_ROWS],
                                 int32_t n, int bf16, coming *keys) {
    if (bf16)
        add_kind(a, out, v, weights, n, 1, keys);
    else
        add_kind(a, out, v, weights, n, 0, keys);
}

/* How often `add_values` fetches for a row, at least. */
static int32_t value_tiles(const attention *a) {
    return a->share / 4 * ((a->padded + 4 * UH_LANES - 1) / (4 * UH_LANES)) + a->share % 4;
}

/* Scores of one query become weights e^(score - maximum); what was summed so far is brought to the new maximum. */
UH_TARGET static void weigh(float *scores, int32_t n, float *maximum, float *sum, float *out, int32_t padded) {
    enum { LANES = 16 };
    const int32_t whole = (n + LANES - 1) / LANES * LANES;
    float lanes[LANES], best = *maximum;
    for (int32_t r = n; r < whole; r++) scores[r] = -INFINITY; /* whatever was there */
    memcpy(lanes, scores, sizeof lanes);
    for (int32_t r = LANES; r < whole; r += LANES)
        for (int i = 0; i < LANES; i++) lanes[i] = scores[r + i] > lanes[i] ? scores[r + i] : lanes[i];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] = lanes[i + half] > lanes[i] ? lanes[i + half] : lanes[i];
    best = lanes[0] > best ? lanes[0] : best;
    if (best > *maximum) {
        const float shrunk = uh_exp(*maximum - best);
        *sum *= shrunk;
        for (int32_t d = 0; d < padded; d++) out[d] *= shrunk;
        *maximum = best;
    }
    memset(lanes, 0, sizeof lanes);
    for (int32_t r = 0; r < whole; r += LANES)
        for (int i = 0; i < LANES; i++) {
            scores[r + i] = uh_exp(scores[r + i] - best);
            lanes[i] += scores[r + i];
        }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    *sum += lanes[0]; /* with what fills up the lanes, which is e^-87 each */
}

/* One piece of rows that lie together, for all queries of the head. */
UH_TARGET static void attend_rows(const attention *a, float *slot, const uint8_t *keys, const uint8_t *values, int64_t n) {
    float block[BLOCK_FLOATS], scores[MOST_QUERIES][MOST_BLOCK_ROWS];
    const int32_t step = BLOCK_FLOATS / a->padded / UH_ROWS * UH_ROWS;
    const int32_t most = step < MOST_BLOCK_ROWS ? step : MOST_BLOCK_ROWS;
    const int64_t key_bytes = a->keys->bits / 8 * a->dim, value_bytes = a->values->bits / 8 * a->dim;
    float *out = slot + (int64_t)a->share * a->padded, *maxima = out + (int64_t)a->share * a->padded;
    for (int64_t at = 0; at < n; at += most) {
        const int32_t rows = n - at < most ? (int32_t)(n - at) : most;
        const int32_t whole = (rows + UH_LANES - 1) / UH_LANES * UH_LANES;
        const uint8_t *k = keys + at * key_bytes, *v = values + at * value_bytes;
        const int key_lies = a->even_odd[0] && rows == whole, value_lies = a->even_odd[1];
        if (!key_lies) {
            widen(k, a->keys->bits, rows, a->dim, a->padded, a->even_odd[0], block);
            memset(block + (int64_t)rows * a->padded, 0, (size_t)(whole - rows) * (size_t)a->padded * sizeof(float));
            k = (const uint8_t *)block;
        }
        const int64_t left = n - at - rows, next = left < most ? left : most;
        coming soon = fetched_in(v, rows * value_bytes, score_tiles(a, rows));
        score(a, slot, k, rows, key_lies, scores, &soon);
        for (int32_t i = 0; i < a->share; i++)
            weigh(scores[i], rows, maxima + i, maxima + a->share + i, out + (int64_t)i * a->padded, a->padded);
        if (!value_lies) {
            widen(v, a->values->bits, rows, a->dim, a->padded, 0, block);
            v = (const uint8_t *)block;
        }
        soon = fetched_in(keys + (at + rows) * key_bytes, next * key_bytes, value_tiles(a) * rows);
        add_values(a, out, v, scores, rows, value_lies, &soon);
    }
}

UH_TARGET static void attend_unit(void *argument, int32_t unit, int32_t lane) {
    const attention *a = argument;
    (void)lane;
    const int32_t head = unit / a->spans;
    float *slot = a->slots + unit * slot_floats(a), *out = slot + (int64_t)a->share * a->padded;
    const int64_t low = a->first + unit % a->spans * a->span_rows;
    const int64_t high = low + a->span_rows < a->end ? low + a->span_rows : a->end;
    for (int32_t i = 0; i < a->share; i++) {
        const float *query = a->queries + ((int64_t)head * a->share + i) * a->dim;
        float *to = slot + (int64_t)i * a->padded;
        for (int32_t d = 0; d < a->padded; d++)
            to[a->even_odd[0] ? even_odd(d) : d] = d < a->dim ? query[d] * a->scale : 0.0f;
        for (int32_t d = 0; d < a->padded; d++) out[(int64_t)i * a->padded + d] = 0.0f;
        out[(int64_t)a->share * a->padded + i] = -INFINITY;
        out[(int64_t)a->share * (a->padded + 1) + i] = 0.0f;
    }
    int64_t start = 0; /* of the chunk */
    for (int32_t c = 0; c < a->keys->chunks && start < high; c++) {
        const int64_t rows = a->keys->chunk[c].rows;
        const int64_t from = low > start ? low - start : 0, to = high - start < rows ? high - start : rows;
        if (from < to) {
            const int64_t row = head * rows + from;
            attend_rows(a, slot, a->keys->chunk[c].data + row * a->dim * (a->keys->bits / 8),
                        a->values->chunk[c].data + row * a->dim * (a->values->bits / 8), to - from);
        }
        start += rows;
    }
}

/* One query's output from the units of its head. */
UH_TARGET static void merge(const attention *a, int32_t query) {
    const int32_t head = query / a->share, i = query % a->share;
    float *to = a->out + (int64_t)query * a->dim;
    float best = a->sinks ? a->sinks[query] : -INFINITY, sum = 0.0f;
    for (int32_t s = 0; s < a->spans; s++) {
        const float *maxima = a->slots + ((int64_t)head * a->spans + s) * slot_floats(a) + 2LL * a->share * a->padded;
        best = maxima[i] > best ? maxima[i] : best;
    }
    if (a->sinks) sum = uh_exp(a->sinks[query] - best);
    for (int32_t d = 0; d < a->dim; d++) to[d] = 0.0f;
    for (int32_t s = 0; s < a->spans; s++) {
        const float *slot = a->slots + ((int64_t)head * a->spans + s) * slot_floats(a);
        const float *values = slot + ((int64_t)a->share + i) * a->padded, *maxima = slot + 2LL * a->share * a->padded;
        const float share = uh_exp(maxima[i] - best);
        sum += share * maxima[a->share + i];
        for (int32_t d = 0; d < a->dim; d++) to[d] += share * values[a->even_odd[1] ? even_odd(d) : d];
    }
    const float whole = 1.0f / sum;
    for (int32_t d = 0; d < a->dim; d++) to[d] *= whole;
}

UH_TARGET static int play_attend(uh_context *context, const uh_op *op, const uh_step *step) {
    const int32_t heads = op->n[1], window = op->n[4];
    attention a = {.keys = step->state[op->n[0]], .values = step->state[op->n[0] + 1]};
    a.queries = op->p[0], a.sinks = op->p[1], a.out = op->p[2], a.slots = op->p[3];
    a.kv_heads = op->n[2], a.dim = op->n[3], a.scale = op->f[0];
    a.share = heads / a.kv_heads;
    a.padded = (a.dim + UH_LANES - 1) / UH_LANES * UH_LANES;
    a.even_odd[0] = a.keys->bits == 16 && a.dim % (2 * UH_LANES) == 0;
    a.even_odd[1] = a.values->bits == 16 && a.dim % (2 * UH_LANES) == 0;
    a.end = step->position + 1;
    a.first = window && a.end > window ? a.end - window : 0;
    const int64_t rows = a.end - a.first;
    a.span_rows = (rows + SPANS - 1) / SPANS;
    if (a.span_rows < SPAN_ROWS) a.span_rows = SPAN_ROWS;
    a.spans = (int32_t)((rows + a.span_rows - 1) / a.span_rows);
    const int small = rows * a.kv_heads * a.dim < SERIAL_FLOATS;
    uh_share(context, small, attend_unit, &a, a.kv_heads * a.spans);
    for (int32_t query = 0; query < heads; query++) merge(&a, query);
    return 0;
}
