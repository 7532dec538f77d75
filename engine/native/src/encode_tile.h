/* What happens to one tile, 16 rows by one group of columns. Every row has a lane of its own and nothing is added across
 * lanes, so that every instruction set gives the same bits. */
#ifndef UH_ENCODE_TILE_H
#define UH_ENCODE_TILE_H

#include "rows.h"

enum { UH_MOST_ENCODED_GROUP = 256, UH_TIERS = 3 };

/* What half-quadratic quantization is told: engine/kernels/encode.py has the numbers, and says what they mean. */
typedef struct {
    double lp_norm, beta, kappa;
    int32_t iterations, patience;
    float flat;
    int32_t largest; /* weights are scaled to at most 2^largest */
} uh_rule;

/* The same for every tile of a matrix. step numbers iterations; beta grows with it. */
typedef struct {
    const uh_rule *rule;
    const double *beta;     /* [step] */
    const float *threshold; /* [step]: residuals up to threshold * (codes per weight) shrink to nothing */
    float inverse_unit, top;
    int32_t group, tiers;
} uh_encoder;

/* Columns by rows: the weights of column c are w[c * UH_ROWS ...]. n columns are there, of the group. */
typedef struct {
    float w[UH_MOST_ENCODED_GROUP * UH_ROWS], scaled[UH_MOST_ENCODED_GROUP * UH_ROWS];
    int32_t codes[UH_MOST_ENCODED_GROUP * UH_ROWS];
    int32_t n;
    float mean[UH_ROWS], spread[UH_ROWS], norm[UH_ROWS]; /* of the weights; spread: mean squared distance from the mean */
    float sum[UH_TIERS][UH_ROWS], squares[UH_TIERS][UH_ROWS]; /* of codes and codes^2: whole numbers */
    float scale[UH_TIERS][UH_ROWS], offset[UH_TIERS][UH_ROWS], error[UH_TIERS][UH_ROWS];
} uh_tile;

typedef struct {
    /* From w and n: codes, what is summed up about the weights, and the finest tier's sums. */
    void (*solve)(const uh_encoder *encoder, uh_tile *tile);
    /* The codes nearest to the weights with the finest tier's scale and offset, and the other tiers' sums. */
    void (*renew)(const uh_encoder *encoder, uh_tile *tile);
    /* From codes, scale and offset: error, and the codes' lines, one address per tier. */
    void (*settle)(const uh_encoder *encoder, uh_tile *tile, uint8_t *const *lines);
} uh_tile_work;

/* Bits of a code that each part of codes holds, and how far those of a tier are above the lowest. */
static const int UH_PART_BITS[UH_TIERS] = {2, 2, 4};
static inline int uh_shift(const uh_encoder *encoder, int tier) { return (1 << encoder->tiers) - (2 << tier); }

/* What the residual of one weight, d != 0 in codes, keeps of itself when it is shrunk. */
float uh_shrunk(const uh_encoder *encoder, int32_t step, float d, float codes_per_weight);

extern const uh_tile_work uh_tile_portable;
#if defined(__x86_64__)
extern const uh_tile_work uh_tile_avx2, uh_tile_avx512;
#endif

#endif
