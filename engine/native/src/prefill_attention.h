/* Attention of many tokens over the rows of their sequence, compiled once per instruction set: see vectors.h.
 *
 * A unit of work is one key head for some of the tokens, with all queries that share that head. It goes over blocks of
 * keys: each is widened and turned round once, and then met by all queries of the unit, with a running maximum, the sum
 * of exponentials and the weighted sum of values for every query. */
#include "vectors.h"

#include "activation.h"
#include "context.h"
#include "kv_rows.h"
#include "rows.h"

enum {
    KEYS = 64,                          /* in a block */
    QUERIES = 256,                      /* in a unit, unless more share a key head */
    AT_ONCE = UH_LANES == 16 ? 8 : 4,   /* queries: with two vectors of keys, their sums fit in registers */
    MOST_UNPACKED_DIM = 256,            /* of a head of 8 bits whose block becomes bf16: 32 KiB on the stack */
    SERIAL_PRODUCTS = 1 << 18           /* below which waking others costs more than it brings */
};

#include "prefill_pairs.h"

typedef struct {
    uh_context *context;
    const uh_prefill *span;
    int32_t share, tokens, parts, rows, padded; /* queries per key head; tokens per unit; units per head; queries */
    int pairs; /* whether rows are multiplied two numbers at a time: see prefill_pairs.h */
} attention;

/* What a unit works in. With pairs, queries are bf16 [rows, padded], keys and values pairs of them. */
typedef struct {
    float *queries, *out, *keys, *values, *maxima, *sums; /* [rows, dim] scaled, [rows, padded], [dim, KEYS], [KEYS, padded] */
} room;

static int64_t room_floats(const attention *a) {
    const int64_t padded = a->padded;
    return a->rows * (2 * padded + 2) + 2 * KEYS * padded;
}

static room room_in(const attention *a, float *at) {
    const int64_t padded = a->padded;
    room r = {.queries = at, .out = at + a->rows * padded};
    r.maxima = r.out + a->rows * padded;
    r.sums = r.maxima + a->rows;
    r.keys = r.sums + a->rows;
    r.values = r.keys + KEYS * padded;
    return r;
}

#if defined(UH_WITH_AVX512)
/* n rows as they lie in bf16: their own place, or `room` where they are of 8 bits. */
UH_PAIRS static const uint16_t *as_pairs(const attention *a, const uint8_t *rows, int32_t n, uint16_t *room) {
    if (a->span->bits == 16) return (const uint16_t *)rows;
    unpack_kv_pairs(rows, n, a->span->dim, room);
    return room;
}
#endif

/* A block of n keys, turned round, and of n values, filled up with zeros. from: bytes before it, in keys as in values. */
UH_TARGET static void take_block(const attention *a, const room *r, const uh_kv_piece *piece, int64_t from, int32_t n) {
    const int32_t dim = a->span->dim, bits = a->span->bits;
    const int64_t bytes = uh_kv_row_bytes(bits, dim);
    const uint8_t *keys = (const uint8_t *)piece->keys + from, *values = (const uint8_t *)piece->values + from;
#if defined(UH_WITH_AVX512)
    if (a->pairs) {
        uint16_t unpacked[KEYS * MOST_UNPACKED_DIM];
        turn_key_pairs(as_pairs(a, keys, n, unpacked), n, dim, a->padded, (uint32_t *)r->keys);
        pair_values(as_pairs(a, values, n, unpacked), n, dim, a->padded, (uint32_t *)r->values);
        return;
    }
#endif
    for (int32_t k = 0; k < n; k++) {
        float *value = r->values + (int64_t)k * a->padded;
        widen_kv_row(keys + k * bytes, bits, dim, value); /* a key, until it is turned round */
        for (int32_t d = 0; d < dim; d++) r->keys[d * KEYS + k] = value[d];
        widen_kv_row(values + k * bytes, bits, dim, value);
        memset(value + dim, 0, (size_t)(a->padded - dim) * sizeof(float));
    }
    for (int32_t k = n; k < KEYS; k++)
        for (int32_t d = 0; d < dim; d++) r->keys[d * KEYS + k] = 0.0f;
}

/* scores[i][k] = queries[i] . keys[k], for AT_ONCE queries. */
UH_TARGET static void score(const float *queries, const float *keys, int32_t dim, float (*scores)[KEYS]) {
    for (int k = 0; k < KEYS; k += 2 * UH_LANES) {
        vf sums[AT_ONCE][2];
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) sums[i][0] = sums[i][1] = vf_all(0.0f);
        for (int32_t d = 0; d < dim; d++) {
            const vf low = vf_load(keys + d * KEYS + k), high = vf_load(keys + d * KEYS + k + UH_LANES);
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) {
                const vf x = vf_all(queries[(int64_t)i * dim + d]);
                sums[i][0] = vf_fma(x, low, sums[i][0]);
                sums[i][1] = vf_fma(x, high, sums[i][1]);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) vf_store(scores[i] + k, sums[i][0]), vf_store(scores[i] + k + UH_LANES, sums[i][1]);
    }
}

/* out[i] += sum over the keys from low to high of weights[i][k] * values[k], for AT_ONCE queries. */
UH_TARGET static void add_values(const float *values, float (*weights)[KEYS], int32_t low, int32_t high, int32_t padded,
                                 float *out) {
    for (int32_t d = 0; d < padded; d += 2 * UH_LANES) {
        vf sums[AT_ONCE][2];
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) {
            sums[i][0] = vf_load(out + (int64_t)i * padded + d);
            sums[i][1] = vf_load(out + (int64_t)i * padded + d + UH_LANES);
        }
        for (int32_t k = low; k < high; k++) {
            const vf a = vf_load(values + (int64_t)k * padded + d), b = vf_load(values + (int64_t)k * padded + d + UH_LANES);
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) {
                const vf weight = vf_all(weights[i][k]);
                sums[i][0] = vf_fma(weight, a, sums[i][0]);
                sums[i][1] = vf_fma(weight, b, sums[i][1]);
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < AT_ONCE; i++) {
            vf_store(out + (int64_t)i * padded + d, sums[i][0]);
            vf_store(out + (int64_t)i * padded + d + UH_LANES, sums[i][1]);
        }
    }
}

/* Scores of one query become weights e^(score - maximum), those outside of low .. high - 1 become 0; what was summed up
 * so far is brought to the new maximum. */
UH_TARGET static void weigh(float *scores, int32_t low, int32_t high, float *maximum, float *sum, float *out, int32_t padded) {
    enum { LANES = 16 };
    float lanes[LANES], best = *maximum;
    if (low >= high) {
        memset(scores, 0, KEYS * sizeof(float));
        return;
    }
    for (int k = 0; k < KEYS; k++) scores[k] = k >= low && k < high ? scores[k] : -INFINITY;
    memcpy(lanes, scores, sizeof lanes);
    for (int k = LANES; k < KEYS; k += LANES)
        for (int i = 0; i < LANES; i++) lanes[i] = scores[k + i] > lanes[i] ? scores[k + i] : lanes[i];
    for (int i = 0; i < LANES; i++) best = lanes[i] > best ? lanes[i] : best;
    if (best > *maximum) {
        const float shrunk = uh_exp(*maximum - best);
        *sum *= shrunk;
        for (int32_t d = 0; d < padded; d++) out[d] *= shrunk;
        *maximum = best;
    }
    for (int k = 0; k < KEYS; k++) scores[k] = uh_exp(scores[k] - best);
    for (int k = 0; k < KEYS; k++) scores[k] = k >= low && k < high ? scores[k] : 0.0f;
    for (int i = 0; i < LANES; i++) lanes[i] = 0.0f;
    for (int k = 0; k < KEYS; k += LANES)
        for (int i = 0; i < LANES; i++) lanes[i] += scores[k + i];
    for (int i = 0; i < LANES; i++) *sum += lanes[i];
}

/* The queries of one unit, and what was summed up for them; those that only fill up a group are zeros. */
UH_TARGET static void start(const attention *a, const room *r, int32_t head, int32_t token, int32_t rows) {
    const uh_prefill *s = a->span;
    memset(r->queries, 0, (size_t)a->rows * (size_t)a->padded * sizeof(float));
    for (int32_t i = 0; i < a->rows; i++) r->maxima[i] = -INFINITY, r->sums[i] = 0.0f;
    for (int32_t i = 0; i < rows; i++) {
        float *to = r->queries + (int64_t)i * s->dim;
        const float *from = s->q + (token + i / a->share) * s->q_stride + ((int64_t)head * a->share + i % a->share) * s->dim;
#if defined(UH_WITH_AVX512)
        if (a->pairs) {
            round_query(from, s->dim, a->padded, s->scale, (uint16_t *)r->queries + (int64_t)i * a->padded);
            continue;
        }
#endif
        for (int32_t d = 0; d < s->dim; d++) to[d] = from[d] * s->scale;
    }
    memset(r->out, 0, (size_t)a->rows * (size_t)a->padded * sizeof(float));
}

UH_TARGET static void finish(const attention *a, const room *r, int32_t head, int32_t token, int32_t rows) {
    const uh_prefill *s = a->span;
    for (int32_t i = 0; i < rows; i++) {
        const int64_t query = (int64_t)head * a->share + i % a->share;
        float *to = s->out + ((int64_t)(token + i / a->share) * s->heads + query) * s->dim;
        const float sum = r->sums[i] + (s->sinks ? uh_exp(s->sinks[query] - r->maxima[i]) : 0.0f), whole = 1.0f / sum;
        for (int32_t d = 0; d < s->dim; d++) to[d] = r->out[(int64_t)i * a->padded + d] * whole;
    }
}

/* Whether rows of 8 bits become bf16. */
static int can_unpack(int32_t dim) { return dim % UH_KV_GROUP == 0 && dim <= MOST_UNPACKED_DIM; }

/* The first key that the token at this position sees; it is the last one. */
static int64_t first_seen(const uh_prefill *s, int64_t position) {
    return s->window && position >= s->window ? position - s->window + 1 : 0;
}

/* One block of n keys, from key `base` on, for all queries of the unit. */
UH_TARGET static void meet(const attention *a, const room *r, int32_t token, int32_t rows, int64_t base, int32_t n) {
    const uh_prefill *s = a->span;
    for (int32_t i = 0; i < rows; i += AT_ONCE) {
        float scores[AT_ONCE][KEYS];
        int32_t low[AT_ONCE], high[AT_ONCE], least = KEYS, most = 0;
        for (int j = 0; j < AT_ONCE; j++) {
            const int64_t position = s->start + token + (i + j) / a->share;
            const int64_t from = first_seen(s, position) - base, to = position + 1 - base;
            low[j] = from > 0 ? (int32_t)(from < n ? from : n) : 0;
            high[j] = i + j < rows && to > 0 ? (int32_t)(to < n ? to : n) : 0;
            if (low[j] >= high[j]) continue;
            least = low[j] < least ? low[j] : least;
            most = high[j] > most ? high[j] : most;
        }
        if (least >= most) continue;
        float *out = r->out + (int64_t)i * a->padded;
#if defined(UH_WITH_AVX512)
        if (a->pairs) {
            uint16_t weights[AT_ONCE][KEYS];
            score_with_pairs((const uint16_t *)r->queries + (int64_t)i * a->padded, (const uint32_t *)r->keys, (s->dim + 1) / 2,
                             a->padded, scores);
            for (int j = 0; j < AT_ONCE; j++)
                weigh_with_pairs(scores[j], low[j], high[j], r->maxima + i + j, r->sums + i + j,
                                 out + (int64_t)j * a->padded, a->padded, weights[j]);
            add_values_with_pairs((const uint32_t *)r->values, weights, least / 2, (most + 1) / 2, a->padded, out);
            continue;
        }
#endif
        score(r->queries + (int64_t)i * s->dim, r->keys, s->dim, scores);
        for (int j = 0; j < AT_ONCE; j++)
            weigh(scores[j], low[j], high[j], r->maxima + i + j, r->sums + i + j, out + (int64_t)j * a->padded, a->padded);
        add_values(r->values, scores, least, most, a->padded, out);
    }
}

UH_TARGET static void run_unit(void *argument, int32_t unit, int32_t lane) {
    const attention *a = argument;
    const uh_prefill *s = a->span;
    const int32_t head = unit / a->parts, token = unit % a->parts * a->tokens;
    const int32_t tokens = uh_least(a->tokens, s->tokens - token), rows = tokens * a->share;
    const int64_t first = first_seen(s, s->start + token), end = s->start + token + tokens;
    const room r = room_in(a, uh_scratch(a->context, lane));
    start(a, &r, head, token, rows);
    int64_t at = 0; /* the first key of the piece */
    for (int32_t p = 0; p < s->pieces && at < end; at += s->piece[p++].rows) {
        const uh_kv_piece *piece = &s->piece[p];
        for (int64_t k = first > at ? first - at : 0; k < piece->rows && at + k < end; k += KEYS) {
            const int32_t n = piece->rows - k < KEYS ? (int32_t)(piece->rows - k) : KEYS;
            take_block(a, &r, piece, head * piece->stride + k * uh_kv_row_bytes(s->bits, s->dim), n);
            meet(a, &r, token, rows, at + k, n);
        }
    }
    finish(a, &r, head, token, rows);
}

UH_TARGET static int attend_many(uh_context *context, const uh_prefill *span) {
    attention a = {.context = context, .span = span, .share = span->heads / span->kv_heads};
    a.pairs = context->pairs && (span->bits == 16 || (span->bits == 8 && can_unpack(span->dim)));
    a.tokens = a.share < QUERIES ? QUERIES / a.share : 1;
    a.tokens = uh_least(a.tokens, span->tokens);
    a.parts = (span->tokens + a.tokens - 1) / a.tokens;
    a.rows = (a.tokens * a.share + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    a.padded = (span->dim + 2 * UH_LANES - 1) / (2 * UH_LANES) * 2 * UH_LANES;
    if (!uh_ensure_scratch(context, room_floats(&a) * (int64_t)sizeof(float))) return -1;
    const int64_t products = (int64_t)span->tokens * span->heads * span->dim * (span->start + span->tokens);
    uh_share(context, uh_sharing(products < SERIAL_PRODUCTS, span->tokens), run_unit, &a, a.parts * span->kv_heads);
    return 0;
}
