/* The work on a tile, compiled once per instruction set: see vectors.h. tests/engine/quantization/reference.py is the same
 * in torch, and say why. */
#include "vectors.h"

#include <math.h>

#include "encode_tile.h"

static const float ROUNDER = 12582912.0f; /* 1.5 * 2^23: adding it rounds to the nearest whole number, ties to even */

/* Whole numbers, as comparisons give them with all bits set where they hold; and floats as the compiler converts them. */
typedef int32_t vi __attribute__((vector_size(4 * UH_LANES)));
typedef float floats __attribute__((vector_size(4 * UH_LANES)));

UH_INLINE vi vi_all(int32_t a) { return (vi){0} + a; }
UH_INLINE vf vf_zero(void) { return vf_all(0.0f); }
UH_INLINE vf choose(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }
#if defined(UH_WITH_AVX512)
UH_INLINE vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
UH_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
#elif defined(UH_WITH_AVX2)
UH_INLINE vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
UH_INLINE vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
#else
UH_INLINE vf vf_min(vf a, vf b) { return choose((vi)(a < b), a, b); }
UH_INLINE vf vf_max(vf a, vf b) { return choose((vi)(a > b), a, b); }
#endif
UH_INLINE vf magnitude(vf a) { return (vf)((vi)a & 0x7fffffff); }
UH_INLINE vf rounded(vf a, vf top) {
    const vf shift = vf_all(ROUNDER);
    return (vf_min(vf_max(a, vf_zero()), top) + shift) - shift;
}
UH_INLINE vf to_floats(vi a) { return (vf)__builtin_convertvector(a, floats); }
UH_INLINE vi to_integers(vf a) { return __builtin_convertvector((floats)a, vi); }
UH_INLINE int any(vi mask) {
    int32_t found = 0;
    for (int i = 0; i < UH_LANES; i++) found |= mask[i];
    return found != 0;
}

/* The sum of the shrunk residuals of each lane whose largest is over the threshold. */
UH_TARGET static vf shrunk_sum(const uh_encoder *encoder, int32_t step, const float *scaled, int32_t n, vf zero, vi over,
                               vf codes_per_weight) {
    vf total = vf_zero();
    for (int32_t c = 0; c < n; c++) {
        vf d = vf_load(scaled + c * UH_ROWS) + zero;
        d -= rounded(d, vf_all(encoder->top));
        for (int i = 0; i < UH_LANES; i++)
            if (over[i] && d[i] != 0.0f) total[i] += uh_shrunk(encoder, step, d[i], codes_per_weight[i]);
    }
    return total;
}

/* The zero point with the smallest sum of residuals that each lane meets; it leaves after `patience` that were no better. */
UH_TARGET static vf best_zero(const uh_encoder *encoder, const float *scaled, int32_t n, vf zero, vf codes_per_weight) {
    const vf count = vf_all((float)n), top = vf_all(encoder->top);
    vf best = zero, best_error = vf_all(INFINITY);
    vi patience = vi_all(encoder->rule->patience);
    for (int32_t step = 0; step <= encoder->rule->iterations; step++) { /* the last only judges the one before */
        vf error = vf_zero(), sum = vf_zero(), most = vf_zero();
        for (int32_t c = 0; c < n; c++) {
            vf d = vf_load(scaled + c * UH_ROWS) + zero;
            d -= rounded(d, top);
            const vf size = magnitude(d);
            error += size;
            sum += d;
            most = vf_max(most, size);
        }
        const vi better = (vi)(error < best_error) & (vi)(patience > 0);
        best = choose(better, zero, best);
        best_error = choose(better, error, best_error);
        patience += ~better; /* all bits set is -1 */
        if (!any(patience > 0)) break;
        const vi over = (vi)(most > codes_per_weight * encoder->threshold[step]);
        if (any(over)) sum -= shrunk_sum(encoder, step, scaled, n, zero, over, codes_per_weight);
        zero -= sum / count;
    }
    return best;
}

UH_TARGET static void solve_lanes(const uh_encoder *encoder, uh_tile *tile, int first) {
    const float *w = tile->w + first;
    float *scaled = tile->scaled + first;
    int32_t *codes = tile->codes + first;
    const int32_t n = tile->n;
    const vf top = vf_all(encoder->top), flat = vf_all(encoder->rule->flat), count = vf_all((float)n);

    vf low = vf_load(w), high = low, total = vf_zero();
    for (int32_t c = 0; c < n; c++) {
        const vf value = vf_load(w + c * UH_ROWS);
        low = vf_min(low, value);
        high = vf_max(high, value);
        total += value;
    }
    const vf span = high - low, mean = total / count;
    const vf inverse = choose((vi)(span > flat), top / vf_max(span, flat), vf_all(1.0f));
    for (int32_t c = 0; c < n; c++) vf_store(scaled + c * UH_ROWS, vf_load(w + c * UH_ROWS) * inverse);
    const vf zero = best_zero(encoder, scaled, n, vf_zero() - low * inverse, inverse * encoder->inverse_unit);

    vf spread = vf_zero(), norm = vf_zero(), sum = vf_zero(), squares = vf_zero();
    for (int32_t c = 0; c < n; c++) {
        const vf value = vf_load(w + c * UH_ROWS), off = value - mean;
        const vf code = rounded(vf_load(scaled + c * UH_ROWS) + zero, top);
        const vi whole = to_integers(code);
        memcpy(codes + c * UH_ROWS, &whole, sizeof whole);
        spread += off * off;
        norm += value * value;
        sum += code;
        squares += code * code;
    }
    vf_store(tile->mean + first, mean);
    vf_store(tile->spread + first, spread / count);
    vf_store(tile->norm + first, norm);
    vf_store(tile->sum[encoder->tiers - 1] + first, sum);
    vf_store(tile->squares[encoder->tiers - 1] + first, squares);
}

UH_TARGET static void renew_lanes(const uh_encoder *encoder, uh_tile *tile, int first) {
    int32_t *codes = tile->codes + first;
    const int finest = encoder->tiers - 1;
    const vf top = vf_all(encoder->top), scale = vf_load(tile->scale[finest] + first);
    const vf offset = vf_load(tile->offset[finest] + first);
    const vi varied = (vi)(scale > vf_zero());
    const vf inverse = choose(varied, vf_all(1.0f) / scale, vf_zero());
    vf sum[UH_TIERS], squares[UH_TIERS];
    for (int t = 0; t < finest; t++) sum[t] = squares[t] = vf_zero();
    for (int32_t c = 0; c < tile->n; c++) {
        vi code;
        memcpy(&code, codes + c * UH_ROWS, sizeof code);
        const vi found = to_integers(rounded((vf_load(tile->w + c * UH_ROWS + first) - offset) * inverse, top));
        code = (varied & found) | (~varied & code);
        memcpy(codes + c * UH_ROWS, &code, sizeof code);
        for (int t = 0; t < finest; t++) {
            const vf coarse = to_floats(code >> uh_shift(encoder, t));
            sum[t] += coarse;
            squares[t] += coarse * coarse;
        }
    }
    for (int t = 0; t < finest; t++) {
        vf_store(tile->sum[t] + first, sum[t]);
        vf_store(tile->squares[t] + first, squares[t]);
    }
}

/* Four columns' codes of each lane as the bytes of a word; columns that only pad have code 0. */
UH_INLINE vi four_codes(const uh_tile *tile, int32_t column, int first) {
    vi word = vi_all(0), code;
    for (int32_t j = 0; j < 4 && column + j < tile->n; j++) {
        memcpy(&code, tile->codes + (column + j) * UH_ROWS + first, sizeof code);
        word |= code << (8 * j);
    }
    return word;
}

UH_TARGET static void settle_lanes(const uh_encoder *encoder, uh_tile *tile, int first, uint8_t *const *lines) {
    for (int t = 0; t < encoder->tiers; t++) {
        const vf scale = vf_load(tile->scale[t] + first), offset = vf_load(tile->offset[t] + first);
        const int shift = uh_shift(encoder, t);
        vf error = vf_zero();
        for (int32_t c = 0; c < tile->n; c++) {
            vi code;
            memcpy(&code, tile->codes + c * UH_ROWS + first, sizeof code);
            const vf off = (offset + scale * to_floats(code >> shift)) - vf_load(tile->w + c * UH_ROWS + first);
            error += off * off;
        }
        vf_store(tile->error[t] + first, error);

        const int bits = UH_PART_BITS[t], words = 8 / bits;
        const vi mask = vi_all(0x01010101 * ((1 << bits) - 1));
        uint8_t *line = lines[t] + 4 * first;
        for (int32_t c = 0; c < encoder->group; c += 4 * words, line += UH_LINE) {
            vi packed = vi_all(0);
            for (int s = 0; s < words; s++) packed |= (four_codes(tile, c + 4 * s, first) >> shift & mask) << (bits * s);
            memcpy(line, &packed, sizeof packed);
        }
    }
}

UH_TARGET static void solve(const uh_encoder *encoder, uh_tile *tile) {
    for (int first = 0; first < UH_ROWS; first += UH_LANES) solve_lanes(encoder, tile, first);
}

UH_TARGET static void renew(const uh_encoder *encoder, uh_tile *tile) {
    for (int first = 0; first < UH_ROWS; first += UH_LANES) renew_lanes(encoder, tile, first);
}

UH_TARGET static void settle(const uh_encoder *encoder, uh_tile *tile, uint8_t *const *lines) {
    for (int first = 0; first < UH_ROWS; first += UH_LANES) settle_lanes(encoder, tile, first, lines);
}
