/* From weights to tiles: quantizing and packing the rows of a dense matrix, and reading single rows back. */
#ifndef UH_PACK_H
#define UH_PACK_H

#include "underhill_kernels.h"

/* The largest magnitude among n weights, of kind 16 (bf16) or 32 (float32); NaN if one of them is not finite. */
UH_API float uh_peak(uh_context *context, const uint8_t *weights, int32_t kind, int64_t n);

/* Writes rows first .. first + count - 1 of a matrix of kind 2 or 3 (its bias is not looked at) from weights
 * [count, cols] of kind 16 or 32. All of them are finite, and at most 4096 units. Rows that only pad are left as they
 * are. Rows of different calls may share a block, but one must have ended before the other begins. */
UH_API void uh_pack(uh_context *context, const uh_matrix_view *view, int32_t first, int32_t count, const uint8_t *weights,
                    int32_t kind);

/* out [n, cols]: the rows of a matrix of kind 2 or 3 as float32. ids: in 0 .. rows - 1. */
UH_API void uh_rows(const uh_matrix_view *view, const int64_t *ids, int32_t n, float *out);

#endif
