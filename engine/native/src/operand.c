/* Vectors made ready: in 8 bits, or padded and summed up in groups. */
#include "operand.h"

#include <stdlib.h>
#include <string.h>

int uh_ensure(uh_buffer *buffer, size_t bytes) {
    if (bytes <= buffer->bytes) return 1;
    uh_release(buffer);
    buffer->whole = malloc(bytes + UH_LINE);
    if (!buffer->whole) return 0;
    buffer->data = (void *)(((uintptr_t)buffer->whole + UH_LINE - 1) / UH_LINE * UH_LINE);
    buffer->bytes = bytes;
    return 1;
}

void uh_release(uh_buffer *buffer) {
    free(buffer->whole);
    *buffer = (uh_buffer){0};
}

/* A run of lines for n things of `size` bytes. */
static size_t room(size_t n, size_t size) { return (n * size + UH_LINE - 1) / UH_LINE * UH_LINE; }

int uh_operand_open(uh_operand *o, const uh_isa *isa, int form, int32_t n, int32_t cols, int32_t stored, int32_t group) {
    o->form = form;
    o->cols = cols;
    o->stored = stored;
    o->group = group;
    o->groups = form == UH_PLAIN || !stored ? 0 : stored / group;
    const size_t count = (size_t)n, numbers = room(count * (size_t)o->groups, sizeof(float));
    const size_t pointers = room(count, sizeof(float *));
    size_t values = 0;
    if (form == UH_INT8) values = count * (size_t)stored * (isa->sizes ? 2 : 1);
    if (form == UH_FLOAT && cols != stored) values = count * (size_t)stored * sizeof(float);
    if (!uh_ensure(&o->vectors, form == UH_INT8 ? count * sizeof(uh_quantized) : 2 * pointers) ||
        !uh_ensure(&o->numbers, 2 * numbers) || !uh_ensure(&o->values, values))
        return 0;
    o->quantized = form == UH_INT8 ? o->vectors.data : NULL;
    o->x = form == UH_INT8 ? NULL : o->vectors.data;
    o->sums = form == UH_INT8 ? NULL : (void *)((char *)o->vectors.data + pointers);
    o->codes = o->values.data;
    o->sizes_at = isa->sizes ? (int64_t)n * stored : 0;
    o->padded = o->values.data;
    o->scales = o->numbers.data;
    o->group_sums = (void *)((char *)o->numbers.data + numbers);
    for (int64_t i = 0; i < n; i++) {
        const int8_t *codes = o->codes + i * stored;
        if (form == UH_INT8)
            o->quantized[i] = (uh_quantized){codes, codes + o->sizes_at, o->scales + i * o->groups, o->group_sums + i * o->groups};
        else
            o->sums[i] = form == UH_FLOAT ? o->group_sums + i * o->groups : NULL;
    }
    return 1;
}

void uh_operand_close(uh_operand *o) {
    uh_release(&o->vectors);
    uh_release(&o->values);
    uh_release(&o->numbers);
}

/* The sums of some groups of a padded vector, always added in the same order. */
static void sum_groups(const float *x, int32_t first, int32_t end, int32_t group, float *sums) {
    for (int32_t g = first; g < end; g++) {
        float lanes[16] = {0};
        for (int32_t c = 0; c < group; c += 16)
            for (int i = 0; i < 16; i++) lanes[i] += x[g * group + c + i];
        float sum = 0.0f;
        for (int i = 0; i < 16; i++) sum += lanes[i];
        sums[g] = sum;
    }
}

/* x [cols], whole groups of `stored` columns, in 8 bits as columns from `first` on of vector `index`. */
static void take_codes(uh_operand *o, const uh_isa *isa, int32_t index, const float *x, int32_t cols, int32_t stored,
                       int32_t first) {
    const int64_t at = (int64_t)index * o->groups + first / o->group;
    int8_t *codes = o->codes + (int64_t)index * o->stored + first;
    isa->quantize(x, cols, stored, o->group, codes, o->scales + at, o->group_sums + at);
    if (!o->sizes_at) return;
    int8_t *sizes = codes + o->sizes_at;
    for (int32_t i = 0; i < stored; i++) sizes[i] = (int8_t)(codes[i] < 0 ? -codes[i] : codes[i]);
}

void uh_operand_take(uh_operand *o, const uh_isa *isa, int32_t index, const float *x) {
    const int64_t at = (int64_t)index * o->groups;
    if (o->form == UH_INT8) {
        take_codes(o, isa, index, x, o->cols, o->stored, 0);
        return;
    }
    o->x[index] = x;
    if (o->form == UH_PLAIN) return;
    if (o->cols != o->stored) {
        float *to = o->padded + (int64_t)index * o->stored;
        memcpy(to, x, (size_t)o->cols * sizeof(float));
        memset(to + o->cols, 0, (size_t)(o->stored - o->cols) * sizeof(float));
        o->x[index] = to;
    }
    sum_groups(o->x[index], 0, o->groups, o->group, o->group_sums + at);
}

void uh_operand_part(uh_operand *o, const uh_isa *isa, int32_t index, const float *x, int32_t first, int32_t end) {
    if (o->form == UH_PLAIN) return;
    if (o->form == UH_FLOAT)
        sum_groups(x, first / o->group, end / o->group, o->group, o->group_sums + (int64_t)index * o->groups);
    else
        take_codes(o, isa, index, x + first, end - first, end - first, first);
}

void uh_operand_copy(uh_operand *o, int32_t index, const uh_operand *from, int32_t other) {
    if (o->form == UH_INT8) {
        o->quantized[index] = from->quantized[other];
    } else {
        o->x[index] = from->x[other];
        o->sums[index] = from->sums[other];
    }
}
