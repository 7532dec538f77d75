/* Multi-head latent attention of one token, absorbed, compiled once per instruction set: see vectors.h.
 *
 * All heads attend to the same rows [latent | rotary key], so heads are the lanes: a cached number, broadcast, serves a
 * register full of them, scores need no sums across lanes, and the softmax of all heads runs side by side. A unit of
 * work is a span of rows, which come from memory once for all heads; its unfinished sums are merged at the end, exactly.
 * Two products per cached number and head: with 16 heads or more the multipliers are the limit, not memory. */
#include "vectors.h"

#include "activation.h"
#include "context.h"
#include "ops.h"
#include "op_graph.h"

enum {
    LATENT_BENCH = 624,      /* floats between widened rows, so a row at most; an odd number of lines */
    LATENT_BLOCK = 24,       /* rows widened at once, which all heads then meet */
    LATENT_SPANS = 8,        /* at most: each leaves a part as wide as the result */
    LATENT_SPAN_ROWS = 64,   /* at least */
    LATENT_SERIAL = 1 << 19, /* rows times heads times rank, some 15 us: below, waking others costs more */
    LATENT_HEADS = 16,       /* are padded to whole registers of any instruction set, */
    LATENT_DIMS = 16,        /* and so is the rank */
    SCORE_SUMS = UH_LANES == 16 ? 24 : 12, /* sums held in registers: rows, or dimensions, times registers of heads */
    GATHER_SUMS = UH_LANES == 16 ? 16 : 8
};

typedef struct {
    const uh_kv_rows *rows;
    const float *latent, *rotary; /* queries [heads, rank]; their rotary parts, `rotary_step` apart */
    float *out;                   /* [heads, rank] */
    float *query;                 /* [rank + rope, padded], scaled */
    float *parts; /* [spans]: sums [deep, padded]; largest, weight and fade [padded]; scores [BLOCK, padded] */
    int64_t end, span_rows, part_floats;
    int32_t heads, rank, rope, rotary_step, padded, deep, spans;
    float scale;
} latent_attention;

/* scores[r][heads] = query[heads] . bench[r] for SCORE_SUMS / wide rows and `wide` registers of heads. */
UH_INLINE void latent_score(const float *query, const float *bench, int32_t width, int32_t padded, const int wide,
                            float *scores) {
    vf sums[SCORE_SUMS][2];
#pragma GCC unroll 24
    for (int r = 0; r < SCORE_SUMS / wide; r++)
#pragma GCC unroll 2
        for (int w = 0; w < wide; w++) sums[r][w] = vf_all(0.0f);
    for (int32_t d = 0; d < width; d++) {
        vf q[2];
#pragma GCC unroll 2
        for (int w = 0; w < wide; w++) q[w] = vf_load(query + (int64_t)d * padded + w * UH_LANES);
#pragma GCC unroll 24
        for (int r = 0; r < SCORE_SUMS / wide; r++) {
            const vf x = vf_all(bench[r * LATENT_BENCH + d]);
#pragma GCC unroll 2
            for (int w = 0; w < wide; w++) sums[r][w] = vf_fma(x, q[w], sums[r][w]);
        }
    }
#pragma GCC unroll 24
    for (int r = 0; r < SCORE_SUMS / wide; r++)
#pragma GCC unroll 2
        for (int w = 0; w < wide; w++) vf_store(scores + (int64_t)r * padded + w * UH_LANES, sums[r][w]);
}

/* sums[d][heads] = fade[heads] sums[d][heads] + sum over r of weights[r][heads] bench[r][d]; GATHER_SUMS / wide d. */
UH_INLINE void latent_gather(const float *weights, const float *bench, const float *fade, int32_t n, int32_t padded,
                             const int wide, float *sums) {
    vf held[GATHER_SUMS][2];
#pragma GCC unroll 16
    for (int d = 0; d < GATHER_SUMS / wide; d++)
#pragma GCC unroll 2
        for (int w = 0; w < wide; w++)
            held[d][w] = vf_load(fade + w * UH_LANES) * vf_load(sums + (int64_t)d * padded + w * UH_LANES);
    for (int32_t r = 0; r < n; r++) {
        vf p[2];
#pragma GCC unroll 2
        for (int w = 0; w < wide; w++) p[w] = vf_load(weights + (int64_t)r * padded + w * UH_LANES);
#pragma GCC unroll 16
        for (int d = 0; d < GATHER_SUMS / wide; d++) {
            const vf x = vf_all(bench[r * LATENT_BENCH + d]);
#pragma GCC unroll 2
            for (int w = 0; w < wide; w++) held[d][w] = vf_fma(x, p[w], held[d][w]);
        }
    }
#pragma GCC unroll 16
    for (int d = 0; d < GATHER_SUMS / wide; d++)
#pragma GCC unroll 2
        for (int w = 0; w < wide; w++) vf_store(sums + (int64_t)d * padded + w * UH_LANES, held[d][w]);
}

/* Of n rows; whole groups of rows, so that some beyond n are scored too, and never looked at. */
UH_TARGET static void latent_scores(const latent_attention *a, const float *bench, int32_t n, float *scores) {
    const int32_t padded = a->padded, width = a->rank + a->rope;
    int32_t h = 0;
    for (; h + 2 * UH_LANES <= padded; h += 2 * UH_LANES)
        for (int32_t r = 0; r < n; r += SCORE_SUMS / 2)
            latent_score(a->query + h, bench + r * LATENT_BENCH, width, padded, 2, scores + (int64_t)r * padded + h);
    if (h < padded)
        for (int32_t r = 0; r < n; r += SCORE_SUMS)
            latent_score(a->query + h, bench + r * LATENT_BENCH, width, padded, 1, scores + (int64_t)r * padded + h);
}

/* next: the rows that come after, `lines` cache lines, fetched meanwhile. */
UH_TARGET static void latent_values(const latent_attention *a, const float *weights, const float *bench,
                                    const float *fade, int32_t n, float *sums, const uint8_t *next, int32_t lines) {
    const int32_t padded = a->padded;
    const int32_t each = lines / (padded / UH_LANES * (a->deep / GATHER_SUMS)) + 1;
    for (int32_t h = 0, wide; h < padded; h += wide * UH_LANES) {
        wide = h + 2 * UH_LANES <= padded ? 2 : 1;
        for (int32_t d = 0; d < a->deep; d += GATHER_SUMS / wide) {
            float *to = sums + (int64_t)d * padded + h;
            for (int32_t i = 0; i < each && lines > 0; i++, lines--, next += UH_LINE) __builtin_prefetch(next, 0, 2);
            if (wide == 2)
                latent_gather(weights + h, bench + d, fade + h, n, padded, 2, to);
            else
                latent_gather(weights + h, bench + d, fade + h, n, padded, 1, to);
        }
    }
}

/* Scores become weights, e^(score - largest so far); fade: what the weights of earlier rows shrink by. */
UH_TARGET static void latent_weigh(float *scores, int32_t n, int32_t padded, float *largest, float *weight,
                                   float *fade) {
    for (int32_t h = 0; h < padded; h += UH_LANES) {
        vf most = vf_load(largest + h);
        for (int32_t r = 0; r < n; r++) most = vf_most(vf_load(scores + (int64_t)r * padded + h), most);
        const vf shrunk = vf_exp(vf_load(largest + h) - most);
        vf sum = shrunk * vf_load(weight + h);
        for (int32_t r = 0; r < n; r++) {
            const vf p = vf_exp(vf_load(scores + (int64_t)r * padded + h) - most);
            vf_store(scores + (int64_t)r * padded + h, p);
            sum = sum + p;
        }
        vf_store(largest + h, most);
        vf_store(fade + h, shrunk);
        vf_store(weight + h, sum);
    }
}

/* A row as float32, with zeros where the sums go further than it does. */
UH_TARGET static void latent_widen(const latent_attention *a, const uint8_t *row, float *to) {
    const int32_t width = a->rank + a->rope;
    int32_t d = 0;
    if (a->rows->bits == 16) {
        const uint16_t *from = (const uint16_t *)row;
        for (; d + UH_LANES <= width; d += UH_LANES) vf_store(to + d, vf_load_bf16(from + d));
        for (; d < width; d++) {
            const uint32_t wide = (uint32_t)from[d] << 16;
            memcpy(to + d, &wide, 4);
        }
    } else {
        memcpy(to, row, (size_t)width * sizeof(float));
    }
    for (d = width; d < a->deep; d++) to[d] = 0.0f;
}

UH_TARGET static void latent_span(void *argument, int32_t span, int32_t lane) {
    const latent_attention *a = argument;
    float bench[LATENT_BLOCK * LATENT_BENCH];
    const int32_t padded = a->padded;
    const int64_t row_bytes = (int64_t)(a->rank + a->rope) * (a->rows->bits / 8);
    float *sums = a->parts + span * a->part_floats;
    float *largest = sums + (int64_t)a->deep * padded, *weight = largest + padded, *fade = weight + padded;
    (void)lane;
    memset(sums, 0, (size_t)a->deep * (size_t)padded * sizeof(float));
    for (int32_t h = 0; h < padded; h++) largest[h] = -3.4e38f, weight[h] = 0.0f;
    int64_t at = span * a->span_rows, inside = at; /* inside: of the chunk */
    const int64_t end = at + a->span_rows < a->end ? at + a->span_rows : a->end;
    int32_t chunk = 0;
    while (at < end) {
        const int32_t n = end - at < LATENT_BLOCK ? (int32_t)(end - at) : LATENT_BLOCK;
        for (int32_t r = 0; r < n; r++, inside++) {
            while (inside >= a->rows->chunk[chunk].rows) inside -= a->rows->chunk[chunk++].rows;
            latent_widen(a, a->rows->chunk[chunk].data + inside * row_bytes, bench + r * LATENT_BENCH);
        }
        latent_scores(a, bench, n, fade + padded);
        latent_weigh(fade + padded, n, padded, largest, weight, fade);
        at += n;
        const int64_t here = a->rows->chunk[chunk].rows - inside, left = end - at < here ? end - at : here;
        const int32_t lines = (int32_t)((left < LATENT_BLOCK ? left : LATENT_BLOCK) * row_bytes / UH_LINE);
        latent_values(a, fade + padded, bench, fade, n, sums, a->rows->chunk[chunk].data + inside * row_bytes, lines);
    }
}

/* The parts of 16 heads, each by its share of the softmax. */
UH_TARGET static void latent_merge(void *argument, int32_t unit, int32_t lane) {
    const latent_attention *a = argument;
    const int32_t first = unit * LATENT_HEADS, there = uh_least(a->heads - first, LATENT_HEADS);
    const int64_t largest_at = (int64_t)a->deep * a->padded + first;
    float share[LATENT_SPANS][LATENT_HEADS], best[LATENT_HEADS], total[LATENT_HEADS] = {0};
    (void)lane;
    memcpy(best, a->parts + largest_at, sizeof best);
    for (int32_t s = 1; s < a->spans; s++)
        for (int i = 0; i < LATENT_HEADS; i++) {
            const float largest = a->parts[s * a->part_floats + largest_at + i];
            best[i] = largest > best[i] ? largest : best[i];
        }
    for (int32_t s = 0; s < a->spans; s++) {
        const float *largest = a->parts + s * a->part_floats + largest_at, *weight = largest + a->padded;
        for (int i = 0; i < LATENT_HEADS; i++) {
            share[s][i] = uh_exp(largest[i] - best[i]);
            total[i] += share[s][i] * weight[i];
        }
    }
    for (int32_t s = 0; s < a->spans; s++)
        for (int i = 0; i < LATENT_HEADS; i++) share[s][i] /= total[i];
    for (int32_t d = 0; d < a->rank; d++) {
        float sum[LATENT_HEADS] = {0};
        for (int32_t s = 0; s < a->spans; s++) {
            const float *part = a->parts + s * a->part_floats + (int64_t)d * a->padded + first;
            for (int i = 0; i < LATENT_HEADS; i++) sum[i] += share[s][i] * part[i];
        }
        for (int32_t i = 0; i < there; i++) a->out[(int64_t)(first + i) * a->rank + d] = sum[i];
    }
}

/* All rows of a step: what a span of rows is to one is in the nearest caches for the next. */
typedef struct {
    latent_attention row[UH_MOST_ROWS];
    int32_t rows, spans, blocks; /* the most spans of a row; blocks of heads */
} latent_rows;

UH_TARGET static void latent_spans(void *argument, int32_t span, int32_t lane) {
    latent_rows *all = argument;
    for (int32_t r = 0; r < all->rows; r++)
        if (span < all->row[r].spans) latent_span(&all->row[r], span, lane);
}

UH_TARGET static void latent_merges(void *argument, int32_t unit, int32_t lane) {
    latent_rows *all = argument;
    latent_merge(&all->row[unit / all->blocks], unit % all->blocks, lane);
}

/* The queries of one row, scaled, heads side by side. */
UH_TARGET static void latent_queries(void *argument, int32_t row, int32_t lane) {
    latent_rows *all = argument;
    const latent_attention *a = &all->row[row];
    float *query = a->query;
    (void)lane;
    for (int32_t d = 0; d < a->rank + a->rope; d++, query += a->padded)
        for (int32_t h = 0; h < a->padded; h++) {
            const float *from = d < a->rank ? a->latent + (int64_t)h * a->rank + d
                                            : a->rotary + (int64_t)h * a->rotary_step + d - a->rank;
            query[h] = h < a->heads ? a->scale * *from : 0.0f;
        }
}

UH_TARGET static void ready_latent(const uh_op *op, const uh_step *step, int32_t row, latent_attention *a) {
    *a = (latent_attention){.rows = step->row[row].state[op->n[UH_LATENT_ATTEND_STATE]], .end = step->row[row].position + 1};
    a->heads = op->n[UH_LATENT_ATTEND_HEADS], a->rank = op->n[UH_LATENT_ATTEND_RANK];
    a->rope = op->n[UH_LATENT_ATTEND_ROPE], a->rotary_step = op->n[UH_LATENT_ATTEND_ROTARY_STEP];
    a->scale = op->f[UH_LATENT_ATTEND_SCALE];
    a->latent = uh_row_address(op, UH_LATENT_ATTEND_IN_LATENT, row), a->rotary = uh_row_address(op, UH_LATENT_ATTEND_ROTARY, row);
    a->out = uh_row_address(op, UH_LATENT_ATTEND_OUT, row), a->query = uh_row_address(op, UH_LATENT_ATTEND_ROOM, row);
    a->padded = (a->heads + LATENT_HEADS - 1) / LATENT_HEADS * LATENT_HEADS;
    a->deep = (a->rank + LATENT_DIMS - 1) / LATENT_DIMS * LATENT_DIMS;
    a->part_floats = (int64_t)a->padded * (a->deep + 3 + LATENT_BLOCK);
    a->parts = a->query + (int64_t)a->padded * (a->rank + a->rope);
    a->span_rows = (a->end + LATENT_SPANS - 1) / LATENT_SPANS;
    if (a->span_rows < LATENT_SPAN_ROWS) a->span_rows = LATENT_SPAN_ROWS;
    a->span_rows = (a->span_rows + LATENT_BLOCK - 1) / LATENT_BLOCK * LATENT_BLOCK;
    a->spans = (int32_t)((a->end + a->span_rows - 1) / a->span_rows);
}

UH_TARGET static int run_latent_attend(uh_context *context, const uh_op *op, const uh_step *step) {
    latent_rows all = {.rows = step->end - step->first};
    int64_t seen = 0, parts = 0;
    for (int32_t r = 0; r < all.rows; r++) {
        latent_attention *a = &all.row[r];
        ready_latent(op, step, step->first + r, a);
        all.spans = a->spans > all.spans ? a->spans : all.spans;
        seen += a->end;
        parts += a->spans;
    }
    const int32_t padded = all.row[0].padded, rank = all.row[0].rank;
    const int64_t results = (int64_t)padded * rank;
    all.blocks = padded / LATENT_HEADS;
    uh_share(context, all.rows * results < LATENT_SERIAL / 4, latent_queries, &all, all.rows);
    uh_share(context, seen * results < LATENT_SERIAL, latent_spans, &all, all.spans);
    uh_share(context, parts * results < LATENT_SERIAL / 2, latent_merges, &all, all.rows * all.blocks);
    return 0;
}

UH_TARGET static void keep_latent(const uh_op *op, const uh_row *step) {
    const int32_t width = op->n[UH_LATENT_RANK] + op->n[UH_LATENT_ROPE];
    append(step->state[op->n[UH_LATENT_STATE]], step->position, op->p[UH_LATENT_ROW], 1, width);
}

/* The token's row [normed latent | turned key] goes to the cache, and the rotary parts of its queries are turned. */
UH_TARGET static void run_latent(const uh_op *op, const uh_row *step) {
    const int32_t heads = op->n[UH_LATENT_HEADS], nope = op->n[UH_LATENT_NOPE], rope = op->n[UH_LATENT_ROPE];
    const int32_t rank = op->n[UH_LATENT_RANK], interleaved = op->n[UH_LATENT_INTERLEAVED];
    const float *cosines = op->p[UH_LATENT_COSINES], *sines = op->p[UH_LATENT_SINES];
    float *queries = op->p[UH_LATENT_QUERIES], *row = op->p[UH_LATENT_ROW];
    rms(row, op->p[UH_LATENT_SCALE], rank, op->f[UH_LATENT_EPS], row);
    turn(row + rank, cosines, sines, rope / 2, interleaved);
    for (int32_t h = 0; h < heads; h++)
        turn(queries + (int64_t)h * (nope + rope) + nope, cosines, sines, rope / 2, interleaved);
    keep_latent(op, step);
}
