/* Experts to tiles: reading the weights, going over the tiles, and the fit of each tier. */
#include "encode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

enum { NO_MEMORY = -1, NOT_FINITE = -2, LEAST_EXPONENT = -126, HALVES = UH_LINE / 2 };

static const uh_tile_work *work_of(int isa) {
#if defined(__x86_64__)
    if (isa >= UH_AVX512) return &uh_tile_avx512;
    if (isa >= UH_AVX2) return &uh_tile_avx2;
#endif
    (void)isa;
    return &uh_tile_portable;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

static float widened(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A finite float16, subnormal or not. */
static float from_half(uint16_t half) {
    const float size = widened((uint32_t)(half & 0x7fffu) << 13) * 0x1p112f;
    return half & 0x8000u ? -size : size;
}

/* The largest magnitude; NAN where a weight is not finite. */
static float peak_of(const uh_encoding *e) {
    const int64_t n = (int64_t)e->rows * e->cols;
    if (e->kind == UH_F32) {
        int32_t most = 0, bits;
        for (int64_t i = 0; i < n; i++) {
            memcpy(&bits, e->weights + 4 * i, 4);
            bits &= 0x7fffffff;
            most = bits > most ? bits : most;
        }
        return most < 0x7f800000 ? widened((uint32_t)most) : NAN;
    }
    int16_t most = 0, bits;
    for (int64_t i = 0; i < n; i++) {
        memcpy(&bits, e->weights + 2 * i, 2);
        bits &= 0x7fff;
        most = bits > most ? bits : most;
    }
    if (e->kind == UH_BF16) return most < 0x7f80 ? widened((uint32_t)most << 16) : NAN;
    return most < 0x7c00 ? from_half((uint16_t)most) : NAN;
}

/* The power of two in whose multiples no weight is larger than 2^largest. */
static float unit_of(float peak, int largest) {
    int exponent;
    if (peak == 0.0f) return 1.0f;
    if (frexpf(peak, &exponent) == 0.5f) exponent--;
    exponent -= largest;
    return ldexpf(1.0f, exponent > LEAST_EXPONENT ? exponent : LEAST_EXPONENT);
}

/* The rows of a block, n columns from `column` on, turned round; rows that only pad are zero. */
static void load(const uh_encoding *e, const uh_encoder *encoder, int32_t block, int32_t column, uh_tile *tile) {
    for (int32_t r = 0; r < UH_ROWS; r++) {
        const int32_t row = block * UH_ROWS + r;
        float *to = tile->w + r;
        if (row >= e->rows) {
            for (int32_t c = 0; c < tile->n; c++) to[c * UH_ROWS] = 0.0f;
            continue;
        }
        const int64_t at = (int64_t)row * e->cols + column;
        if (e->kind == UH_F32) {
            float value;
            for (int32_t c = 0; c < tile->n; c++) {
                memcpy(&value, e->weights + 4 * (at + c), 4);
                to[c * UH_ROWS] = value * encoder->inverse_unit;
            }
            continue;
        }
        uint16_t half[UH_MOST_ENCODED_GROUP];
        memcpy(half, e->weights + 2 * at, 2 * (size_t)tile->n);
        if (e->kind == UH_BF16)
            for (int32_t c = 0; c < tile->n; c++) to[c * UH_ROWS] = widened((uint32_t)half[c] << 16) * encoder->inverse_unit;
        else
            for (int32_t c = 0; c < tile->n; c++) to[c * UH_ROWS] = from_half(half[c]) * encoder->inverse_unit;
    }
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

/* Scale and offset with which decoded rows have the mean and the spread of the weights; both into their line. */
static void fit(uh_tile *tile, int tier, uint8_t *line) {
    const int64_t n = tile->n;
    uint16_t halves[HALVES];
    for (int r = 0; r < UH_ROWS; r++) {
        const int64_t sum = (int64_t)tile->sum[tier][r], squares = (int64_t)tile->squares[tier][r];
        const float spread = (float)(n * squares - sum * sum) / (float)(n * n);
        const uint16_t scale = uh_float_to_half(spread > 0.0f ? sqrtf(tile->spread[r] / spread) : 0.0f);
        tile->scale[tier][r] = uh_half_to_float(scale);
        const uint16_t offset = uh_float_to_half(tile->mean[r] - tile->scale[tier][r] * ((float)sum / (float)n));
        tile->offset[tier][r] = uh_half_to_float(offset);
        halves[r] = scale;
        halves[UH_ROWS + r] = offset;
    }
    memcpy(line, halves, UH_LINE);
}

/* ---- a matrix ---------------------------------------------------------------------------------------------------- */

static void encode_tiles(const uh_tile_work *work, const uh_encoder *encoder, uh_encoding *e, uh_tile *tile) {
    const int32_t groups = (e->cols + e->group - 1) / e->group, blocks = (e->rows + UH_ROWS - 1) / UH_ROWS;
    double norm = 0.0, errors[UH_TIERS] = {0.0};
    for (int64_t number = 0; number < (int64_t)blocks * groups; number++) {
        const int32_t column = (int32_t)(number % groups) * e->group, left = e->cols - column;
        uint8_t *lines[UH_TIERS];
        tile->n = left < e->group ? left : e->group;
        load(e, encoder, (int32_t)(number / groups), column, tile);
        work->solve(encoder, tile);
        fit(tile, e->tiers - 1, e->params[e->tiers - 1] + number * UH_LINE);
        work->renew(encoder, tile);
        for (int t = 0; t < e->tiers; t++) {
            if (t < e->tiers - 1) fit(tile, t, e->params[t] + number * UH_LINE);
            lines[t] = e->codes[t] + number * e->group * UH_ROWS * UH_PART_BITS[t] / 8;
        }
        work->settle(encoder, tile, lines);
        for (int r = 0; r < UH_ROWS; r++) {
            norm += tile->norm[r];
            for (int t = 0; t < e->tiers; t++) errors[t] += tile->error[t][r];
        }
    }
    const double square = (double)e->unit * e->unit;
    e->norm = norm * square;
    for (int t = 0; t < UH_TIERS; t++) e->errors[t] = errors[t] * square;
}

int uh_encode(int isa, const uh_rule *rule, uh_encoding *encoding) {
    const float peak = peak_of(encoding);
    if (isnan(peak)) return NOT_FINITE;
    const size_t steps = (size_t)rule->iterations + 1;
    double *beta = malloc(steps * sizeof *beta);
    float *threshold = malloc(steps * sizeof *threshold);
    uh_tile *tile = malloc(sizeof *tile);
    const int failed = !beta || !threshold || !tile;
    if (!failed) {
        for (size_t step = 0; step < steps; step++) {
            beta[step] = step ? beta[step - 1] * rule->kappa : rule->beta;
            threshold[step] = (float)pow(beta[step], -1.0 / (2.0 - rule->lp_norm));
        }
        encoding->unit = unit_of(peak, rule->largest);
        const uh_encoder encoder = {.rule = rule, .beta = beta, .threshold = threshold, .inverse_unit = 1.0f / encoding->unit,
                                    .top = (float)((1 << (1 << encoding->tiers)) - 1), .group = encoding->group,
                                    .tiers = encoding->tiers};
        encode_tiles(work_of(isa), &encoder, encoding, tile);
    }
    free(beta);
    free(threshold);
    free(tile);
    return failed ? NO_MEMORY : 0;
}
