/* Vectors as one side of a product, in the form that the kernels take. */
#ifndef UH_OPERAND_H
#define UH_OPERAND_H

#include <stddef.h>
#include <stdint.h>

#include "rows.h"

/* Memory on a 64-byte boundary, never given back before the end. */
typedef struct {
    void *data, *whole;
    size_t bytes;
} uh_buffer;

/* 0: out of memory. What was in the buffer is lost when it grows. */
int uh_ensure(uh_buffer *buffer, size_t bytes);
void uh_release(uh_buffer *buffer);

enum {
    UH_INT8,  /* quantized */
    UH_FLOAT, /* float32, padded to whole groups, with their sums */
    UH_PLAIN  /* float32 as it is, for raw matrices */
};

typedef struct {
    int form;
    int32_t cols, stored, group, groups;
    uh_quantized *quantized; /* [n], of UH_INT8 */
    const float **x, **sums; /* [n], of the other two; sums of UH_FLOAT alone */
    int8_t *codes;
    int64_t sizes_at; /* bytes from codes to their sizes; 0: there are none */
    float *scales, *group_sums, *padded; /* what the above point to */
    uh_buffer vectors, values, numbers;
} uh_operand;

/* Room for n vectors of `cols` values, `stored` with their padding, in groups of `group` (UH_PLAIN: not looked at).
 * stored = 0: only to be filled by uh_operand_copy. 0: out of memory. What the operand held before is lost. */
int uh_operand_open(uh_operand *operand, const uh_isa *isa, int form, int32_t n, int32_t cols, int32_t stored, int32_t group);
void uh_operand_close(uh_operand *operand);

/* Vector `index` is x [cols], which must outlive the operand. */
void uh_operand_take(uh_operand *operand, const uh_isa *isa, int32_t index, const float *x);
/* Columns first .. end - 1, whole groups, of vector `index` are those of x [stored], which is already padded. UH_FLOAT and
 * UH_PLAIN: `operand->x[index]` is set by the caller. */
void uh_operand_part(uh_operand *operand, const uh_isa *isa, int32_t index, const float *x, int32_t first, int32_t end);
/* Vector `index` is vector `other` of another operand of the same shape and form. */
void uh_operand_copy(uh_operand *operand, int32_t index, const uh_operand *from, int32_t other);

#endif
