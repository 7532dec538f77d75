/* Weight matrices made here, and packed as the documentation of engine/record/layout.py says. */
#ifndef MATRIX_H
#define MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "underhill_kernels.h"

enum { ROWS_PER_TILE = 16 };

/* A matrix as it is meant, not as it is stored. top: 4 or 8 bits, 16 or 32 for raw ones. */
typedef struct {
    int rows, cols, group, top;
    int stored_rows, stored_cols, groups; /* whole tiles; raw: rows, cols and 0 */
    uint8_t *codes;                       /* [stored_rows, stored_cols], full codes; those of the padding are random */
    uint16_t *scales[3], *offsets[3];     /* [stored_rows, groups] halves for 2, 4 and 8 bits; 0 in padding rows */
    void *raw;                            /* [rows, cols] bf16 or float32 */
    float unit;
    float *bias; /* [rows], or NULL */
} matrix;

/* How a random matrix is to be: tiny gives halves below the normal range. */
typedef struct {
    int rows, cols, group, top, has_bias, tiny;
} recipe;

matrix make_matrix(const recipe *how);
/* planes in use (1, 2, 3), or 16, 32 */
int most_planes(const matrix *m);
/* W [rows, cols] of that many planes, in double */
double *weights_of(const matrix *m, int planes);
int64_t code_bytes(const matrix *m, int plane);
int64_t param_bytes(const matrix *m);
void pack_codes(const matrix *m, int plane, uint8_t *to);
void pack_params(const matrix *m, int plane, uint8_t *to);
/* Packed into buffers of its own, each `shift` bytes off a line. */
uh_matrix_view view_of_matrix(const matrix *m, int planes, size_t shift);

uint16_t half_of(double value);
double value_of_half(uint16_t half);

#endif
