/* The plain C interface of the kernels: one call runs one layer's experts, or one matrix, from packed codes.
 *
 * Layout of parts, tiles and parameters: engine/record/layout.py, which fills uh_layout; nothing is laid out here.
 * Every function may be called with Python's lock released. One context runs one call at a time.
 */
#ifndef UNDERHILL_KERNELS_H
#define UNDERHILL_KERNELS_H

#include <stdint.h>

#if defined(_WIN32)
#define UH_API __declspec(dllexport)
#else
#define UH_API __attribute__((visibility("default")))
#endif

#define UH_ABI 30

enum { UH_GATE, UH_UP, UH_DOWN, UH_MATRICES };
/* Each may need what the ones before it lack; the best is the last that the processor has. */
enum { UH_PORTABLE, UH_AVX2, UH_AVXVNNI, UH_AVX512, UH_AVX512VNNI, UH_NEON, UH_ISAS };
enum {
    UH_SILU,
    UH_GELU,
    UH_GELU_TANH,
    UH_RELU,
    UH_RELU2,
    UH_CLAMPED_SWIGLU,
    UH_LIMITED_SWIGLU,
    UH_SOFTCAPPED_SWIGLU,
    UH_LATE_LIMITED_SWIGLU
};

/* How the scales of tiles are stored: engine/record/coding.py, FORMS, in this order. Groups of UH_SUPER share some by 256
 * columns. */
enum { UH_HALF_PAIRS, UH_HALVES, UH_BYTES, UH_SIGNED, UH_SUPER };
enum { UH_SUPER_COLUMNS = 256 };

/* What codes of a matrix are, beyond 1, 2, 3 (codes of 2, 4, 8 bits that count): codes of 4 bits into a table whose largest
 * entry is at most UH_LOW_LEVEL; into a table of bytes up to 254; codes of 6 bits, whose lower 4 are the second part. */
enum { UH_TABLED = 4, UH_WIDE_TABLED, UH_SIX };
enum { UH_LOW_LEVEL = 32, UH_LEVELS = 16 };

/* One weight matrix, y [rows] = W [rows, cols] x. Offsets are bytes from the start of their part. Of the arrays of three, one
 * for each number of planes in use. */
typedef struct {
    int32_t rows, cols;               /* of the matrix */
    int32_t stored_rows, stored_cols; /* padded to whole tiles; the same as above in raw records */
    int64_t codes[3];
    int64_t params[3];
    int64_t bias;   /* in the first part of the codes; -1: none */
    int64_t unit;   /* there too; not read in raw records */
    int32_t group;  /* columns per group */
    int32_t kind[3], form[3];
    float zero[3];
    uint8_t table[UH_LEVELS]; /* of codes into a table */
} uh_matrix;

typedef struct {
    int32_t hidden, intermediate;
    int32_t top; /* 2, 4 or 8: progressive; 16, 32: raw bf16 or float32 */
    int32_t has_gate, activation;
    float alpha;           /* of UH_CLAMPED_SWIGLU */
    float limit, up_limit; /* of the last four; up_limit of UH_SOFTCAPPED_SWIGLU alone */
    uh_matrix matrix[UH_MATRICES];
} uh_layout;

/* One expert to run on `count` slots, listed from slots[first_slot] on. planes: parts of the codes in use (1, 2, 3: 2, 4, 8
 * bits); raw records have one. */
typedef struct {
    const uint8_t *codes[3];
    const uint8_t *params; /* of the tier that it runs at; raw: not read */
    int32_t planes, first_slot, count;
    int32_t most; /* of `planes` that its record holds, for a layer whose experts differ in it; 0: all */
} uh_expert;

/* One matrix, ready to be read; no alignment is asked for. */
typedef struct {
    const uint8_t *codes[3]; /* the parts in use; a raw matrix: its rows in codes[0] */
    const uint8_t *params;   /* of the tier in use; raw: not read */
    const float *bias;       /* [rows], or NULL */
    float unit;              /* raw: not read */
    int32_t rows, cols;
    int32_t groups, group; /* groups of `group` columns that a row is stored in; raw: not read */
    int32_t kind;          /* 1, 2, 3: codes of 2, 4, 8 bits in so many parts; UH_TABLED and so on; 16, 32: raw bf16, float32 */
    int32_t form;          /* of the scales */
    float zero;            /* offsets are scales times -zero, where the form stores none */
    const uint8_t *table;  /* [UH_LEVELS], of UH_TABLED and UH_WIDE_TABLED */
} uh_matrix_view; /* of UH_SIX codes[1] is not read: the second part is codes[2] */

typedef struct uh_context uh_context;

UH_API int uh_abi(void);
/* The instruction sets that this processor has, as bits 1 << UH_PORTABLE and so on. */
UH_API int uh_isas(void);
/* NULL: out of memory, or an instruction set that this processor lacks. threads counts the caller. exact: multiply
 * with activations in float32 (1e-5 of float64); else tiles meet activations of 8 bits (1 %), and only raw matrices
 * meet float32. */
UH_API uh_context *uh_open(int threads, int isa, int exact);
UH_API void uh_close(uh_context *context);
/* See uh_pool_worked. */
UH_API int64_t uh_worked(const uh_context *context);

/* y = W x + bias. x [T, cols], y [T, rows]. 0: done; -1: out of memory. */
UH_API int uh_linear(uh_context *context, const uh_matrix_view *view, const float *x, int32_t tokens, float *y);

/* x [rows, dim] to rows of 8 bits that follow one another: see kv_rows.h. */
UH_API void uh_pack_kv_rows(const float *x, int64_t rows, int32_t dim, uint8_t *out);

/* Keys and values of some tokens in a row, head by head: `rows` rows [dim] each, `stride` bytes from head to head. */
typedef struct {
    const void *keys, *values;
    int64_t stride, rows;
} uh_kv_piece;

/* Queries, keys and values of many tokens, finished where they lie. x: of every token queries [heads, dim], then keys
 * [kv_heads, dim]; values: [kv_heads, dim]; stride, value_stride: from token to token. In this order: the values become a
 * copy of the keys (reuse_keys); queries and keys are normed (norm: 1 each head, 2 all queries together and all keys; 0 not
 * at all), all are clipped at +- limit (clips), queries and keys are turned in their first 2 * half dimensions, or normed
 * only now (norm_last), and the heads of the values are normed (norm_values). */
typedef struct {
    float *x, *values;
    const float *q_scale, *k_scale; /* [dim] for each head, or for all heads; NULL where nothing is normed */
    const float *cosines, *sines;   /* [tokens, half]; half 0: not read */
    int64_t stride, value_stride;
    float eps, limit;
    int32_t tokens, heads, kv_heads, dim;
    int32_t norm, norm_last, half, interleaved, norm_values, reuse_keys, clips;
} uh_heads;

UH_API void uh_heads_many(uh_context *context, const uh_heads *heads);

/* The attention of many tokens, each over the keys up to its own and at most `window` of them (0: all). The first token is
 * key number `start` of the pieces taken together, which reach to the last token. */
typedef struct {
    const float *q;  /* [tokens, heads, dim], q_stride values from token to token */
    const float *sinks; /* [heads], or NULL */
    float *out;      /* [tokens, heads, dim] */
    const uh_kv_piece *piece;
    int64_t q_stride, start, window;
    int32_t pieces, bits; /* of keys and values: 8 (kv_rows.h), 16 (bf16) or 32 */
    int32_t tokens, heads, kv_heads, dim;
    float scale;
} uh_prefill;

/* 0: done; -1: out of memory. */
UH_API int uh_attend_many(uh_context *context, const uh_prefill *span);

/* out[slot] = expert(x[slot / k]) for every slot of every expert. x [T, hidden], out [T * k, hidden], float32.
 * The result of a slot does not depend on the other slots, on the number of threads or on the order of the experts.
 * 0: done; -1: out of memory. */
UH_API int uh_moe_forward(uh_context *context, const uh_layout *layout, const uh_expert *experts, int32_t n_experts,
                  const int32_t *slots, int32_t n_slots, int32_t k, const float *x, int32_t tokens, float *out);

/* y[t] = sum over k, in order, of weights[t, k] * out[t * k + k]; a weight of exactly 0 drops its slot unread. */
UH_API void uh_combine(uh_context *context, const float *weights, const float *out, float *y, int32_t tokens, int32_t k,
                       int32_t hidden);

/* One token: y [hidden] = sum over the experts, in the order of the list, of weights[expert.first_slot] * expert(x [hidden]);
 * a weight of exactly 0 drops its expert unread. `count` is not looked at. The same bits as uh_moe_forward and uh_combine.
 * 0: done; -1: out of memory. */
UH_API int uh_moe_one(uh_context *context, const uh_layout *layout, const uh_expert *experts, int32_t n_experts,
                      const float *x, const float *weights, float *y);

/* Runs n ops for the tokens of a step: op_graph.h. 0: done; -1: out of memory. */
typedef struct uh_op uh_op;
typedef struct uh_step uh_step;
UH_API int uh_run_graph(uh_context *context, const uh_op *ops, int32_t n, const uh_step *step);

/* One op of routing for any number of tokens, on the caller's thread. isa: one that this
 * processor has, as uh_isas says. 0: done; -1: the library does not know it. */
UH_API int uh_route(int isa, const uh_op *op, int32_t tokens);

/* Experts that a token may choose in a layer: arrays on the stack have this length, so more are refused or left alone. No
 * published model chooses half as many. MOST_CHOSEN in engine/kernels/native.py. Tokens of a step, likewise: MOST_ROWS in
 * engine/native/op_graph.py. And what these may choose together. */
enum { UH_MOST_CHOSEN = 64, UH_MOST_ROWS = 16, UH_MOST_ASKED = UH_MOST_CHOSEN * UH_MOST_ROWS };

/* Of the first n ranks of a token's experts in a layer, how often they were wanted high, and at all, lately: a share each. */
typedef struct {
    int32_t n, unused;
    double share[UH_MOST_CHOSEN][2];
} uh_ranks;

typedef struct uh_hobbit uh_hobbit;

/* A layer's experts by number, those in memory with their addresses. Counters are the caller's, and are added to. */
typedef struct {
    const uh_layout *layout;
    const uh_expert *experts; /* [n]; planes: what it runs at, 0 if it is not there; `first_slot` and `count` are not read */
    int64_t *uses;            /* [n]; times it was chosen, skipped or not */
    int64_t *hits;
    int64_t *ran;      /* by tier: experts that ran at it; 0: skipped */
    double *notes;     /* [n][4]: sum of its gate weights by magnitude, the last one, times it ran coarse, times skipped */
    double t1, t2;     /* unimportance above which an expert needs no more than `low` planes, or none; t1 = 1: exact */
    int32_t n;
    int32_t high, low; /* planes that an expert needs, not to have to be fetched */
    int32_t tiers[4];  /* by planes; 0 planes: 0 */
    int32_t row;       /* of the policy */
    uh_hobbit *policy; /* told of every token's choice; NULL: the caller tells it */
    uh_ranks *ranks;   /* learnt from every token but under the exact dial; NULL: they are not wanted */
    const uint8_t *card;  /* [n]; planes that a graphics card holds of each: not to be prefetched; NULL: there is none */
    const uint8_t *taken; /* [n]; 1: the card computes it in the call that comes, so that it is not looked for here; NULL: none */
    double substitute;    /* least score, as a share of the missing expert's, of one in memory that stands in for it; 0: none does */
    double *denied;       /* [n]; share of a token's gate weight that others stood in for since it was used last, summed */
    int64_t *substituted; /* times that another stood in */
} uh_resident_layer;

/* NOT_RESIDENT: something has to be fetched, or is TAKEN. NOT_DECIDED: a call that these functions do not take. */
enum { UH_SKIPPED = -1, UH_NOT_RESIDENT = -2, UH_NOT_DECIDED = -3, UH_TAKEN = -4 };

/* A layer's call of a few tokens. From the caller: what each chose, ids and weights [tokens, k], x and the answer y [tokens,
 * hidden], out [tokens * k, hidden], what each slot gives, for uh_moe_some alone, and room for all that uh_look_up
 * writes: the n different experts, [tokens * k]; the slots (indices of choices in `ids`) that chose expert i, slots[offsets[i]]
 * .. slots[offsets[i + 1] - 1], offsets [tokens * k + 1]; the planes that each expert has to be fetched at, 0 if it is there,
 * UH_SKIPPED if it is neither there nor to be fetched, UH_TAKEN if a card computes it; and whether a token wants it as precisely as the layer has it. */
typedef struct {
    const int64_t *ids;
    const float *weights, *x;
    float *y, *out;
    int32_t tokens, k;
    int64_t *experts;
    int32_t *offsets, *slots, *to_fetch;
    uint8_t *high;
    int32_t n, unused;
    const uh_op *route; /* that chose ids and weights, which substitute.h may change; NULL: they stay as they are */
} uh_step_args;

/* Lists the experts of a step, and returns how many have to be fetched; UH_NOT_DECIDED: a token names one twice or one that
 * there is not, or has a weight that is no number. */
UH_API int uh_look_up(const uh_resident_layer *layer, uh_step_args *step);

/* Runs a step's experts, each for all tokens that chose it, if none of them has to be fetched. An expert that may be skipped
 * and is not there is skipped. A token's y has the bits that uh_moe_one gives. Returns how many are there; -1: out of memory;
 * below: nothing was computed. The step is as uh_look_up leaves it; of UH_NOT_RESIDENT all is counted but what they will run at. */
UH_API int uh_moe_if_resident(uh_context *context, const uh_resident_layer *layer, uh_step_args *step);

/* The ops of a layer, and what the experts behind them are asked, for 1 to UH_MOST_ROWS tokens: ids and weights [tokens, k],
 * x and the answer y [tokens, hidden]. k 0: no experts follow; experts: NULL: only the caller computes them. */
typedef struct {
    const uh_op *ops;
    const uh_resident_layer *experts;
    const int64_t *ids;
    const float *weights, *x;
    float *y;
    int32_t n_ops, k;
    const uh_op *route; /* as in uh_step_args */
} uh_graph_layer;

/* Runs layers for all rows of a step: the ops of number `first`, and on to the next as long as no expert has to be fetched,
 * none is TAKEN or only the caller's, `patience` nanoseconds have not passed, and one follows of the n. Returns the layer whose
 * ops ran last; what comes behind these has not been computed, and is not counted. -1: out of memory. asked: room as of
 * uh_look_up. */
UH_API int32_t uh_run_layers(uh_context *context, const uh_graph_layer *layers, int32_t first, int32_t n, const uh_step *step,
                             uh_step_args *asked, int64_t patience);

/* Some of a listed step's experts, all of them there: step->out[slot] for the slots of the n experts at `indices` of its list.
 * Counts in `ran`, and what ran coarse. 0: done; -1: out of memory; below: nothing was done. */
UH_API int uh_moe_some(uh_context *context, const uh_resident_layer *layer, const uh_step_args *step, const int32_t *indices,
                       int32_t n);

/* uh_combine of a listed step's `out` [tokens * k, hidden]: what is skipped is dropped unread. */
UH_API void uh_combine_some(uh_context *context, const uh_step_args *step, const float *out, int32_t hidden);

/* found: numbers of the `most` least of priority [n], the least first and of equals the first; infinite ones are none.
 * Returns how many. most: 1 or more. */
UH_API int32_t uh_first_out(const double *priority, int32_t n, int32_t most, int32_t *found);

/* The same behind priority [rows, experts] = scores + ticks + near [rows] * token + bars, added in this order. */
UH_API int32_t uh_order(const double *scores, const double *ticks, const double *bars, const double *near, double token,
                        int32_t rows, int32_t experts, double *priority, int32_t most, int32_t *found);

/* expected: the `most` experts of a layer, 1 or more, with the greatest scores [layer->n], the greatest first and of equals
 * the first. to_fetch: of the `width` first of them, the planes that each has to be fetched at where asked [width] says how many
 * it should have; 0: none. Returns how many are expected. */
UH_API int32_t uh_predict_topk(const uh_resident_layer *layer, const float *scores, const int32_t *asked, int32_t width, int32_t most,
                          int32_t *expected, int32_t *to_fetch);

/* Unimportance of the k experts of each token (HOBBIT, section 3.2, eq. 2): the share, 0 to 1, of the gate weight of those that weigh
 * more, the first having 0. Weights count by magnitude; of equals the earlier matters more. weights, scores: [tokens, k]; order
 * [k]: scratch, and then the last token's experts, the most important first. */
UH_API void uh_unimportance(const float *weights, int32_t tokens, int32_t k, int32_t *order, double *scores);
/* A token gave its k experts these weights: what thresholds t1 and t2 ask of each rank. More than UH_MOST_CHOSEN are left alone. */
UH_API void uh_ranks_learn(uh_ranks *ranks, const float *weights, int32_t k, double t1, double t2);
/* planes [most]: what the first ranks will most likely be wanted at, `high` or `low` planes or 0; the first high. */
UH_API void uh_ranks_ask(const uh_ranks *ranks, int32_t most, int32_t high, int32_t low, int32_t *planes);

/* Reads n bytes once with all threads, but for less than 256 of each of 64 parts, as fast as it goes: the roof the kernels
 * are measured against. */
UH_API uint64_t uh_read(uh_context *context, const uint8_t *bytes, int64_t n);

#endif
