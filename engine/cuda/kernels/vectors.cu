/* Activations made ready for products, one warp for each group: rounded to 8 bits, or padded and summed. */
#include "matrix.cuh"

UH_DEVICE int32_t uh_most(int32_t a, int32_t b) { return a > b ? a : b; }

/* x [n, x_stride], of which `cols` columns count, to codes [n, stored] and scales and sums [n, stored / group]: the same
 * operations as quantize.h. Grid: (groups / UH_WARPS, n). */
UH_KERNEL uh_quantize(const float *x, int64_t x_stride, int32_t cols, int32_t stored, int32_t group, int32_t n, int8_t *codes,
                      float *scales, float *sums) {
    const int32_t lane = threadIdx.x % UH_WARP, g = blockIdx.x * UH_WARPS + threadIdx.x / UH_WARP, groups = stored / group;
    const int64_t vector = blockIdx.y;
    if (g >= groups || vector >= n) return;
    const float *from = x + vector * x_stride + (int64_t)g * group;
    int8_t *to = codes + vector * stored + (int64_t)g * group;
    const int32_t there = cols - g * group, count = there < 0 ? 0 : there < group ? there : group;
    int32_t most = 0; /* of the bits without the sign: as whole numbers they are in the order of the floats */
    for (int32_t i = lane; i < count; i += UH_WARP) most = uh_most(most, __float_as_int(from[i]) & 0x7fffffff);
#pragma unroll
    for (int apart = 16; apart; apart /= 2) most = uh_most(most, __shfl_xor_sync(UH_EVERY_LANE, most, apart));
    const float peak = __int_as_float(most);
    const bool finite = most < 0x7f800000;
    const float inverse = finite && peak > 1e-36f ? __fdiv_rn(127.0f, peak) : 0.0f;
    int32_t sum = 0;
    for (int32_t i = lane; i < group; i += UH_WARP) {
        int8_t code = 0;
        if (i < count && finite) code = (int8_t)__float_as_int(__fadd_rn(__fmul_rn(from[i], inverse), 12582912.0f));
        to[i] = code;
        sum += code;
    }
#pragma unroll
    for (int apart = 16; apart; apart /= 2) sum += __shfl_xor_sync(UH_EVERY_LANE, sum, apart);
    if (lane) return;
    const float scale = finite ? __fdiv_rn(peak, 127.0f) : __int_as_float(0x7fc00000);
    scales[vector * groups + g] = scale;
    sums[vector * groups + g] = __fmul_rn(scale, (float)sum);
}

/* x [n, x_stride] to padded [n, stored], zero from `cols` on, and the sums of its groups, added as sum_groups of operand.c
 * does. Grid as above. */
UH_KERNEL uh_pad(const float *x, int64_t x_stride, int32_t cols, int32_t stored, int32_t group, int32_t n, float *padded,
                 float *sums) {
    const int32_t lane = threadIdx.x % UH_WARP, g = blockIdx.x * UH_WARPS + threadIdx.x / UH_WARP, groups = stored / group;
    const int64_t vector = blockIdx.y;
    if (g >= groups || vector >= n) return;
    const float *from = x + vector * x_stride;
    float *to = padded + vector * stored;
    float own = 0.0f; /* of every 16th column */
    for (int32_t i = lane; i < group && lane < 16; i += 16) {
        const int32_t column = g * group + i;
        const float value = column < cols ? from[column] : 0.0f;
        to[column] = value;
        own = __fadd_rn(own, value);
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; i++) sum = __fadd_rn(sum, __shfl_sync(UH_EVERY_LANE, own, i));
    if (!lane) sums[vector * groups + g] = sum;
}
