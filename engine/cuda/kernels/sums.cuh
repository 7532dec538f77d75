/* Sums in the order of norm.h, by a block: each of 16 threads adds every 16th value, and what they have is added in turn. */
#ifndef UH_SUMS_CUH
#define UH_SUMS_CUH

#include "matrix.cuh"

enum { UH_SUM_LANES = 16, UH_TILE_FLOATS = 2048 };

template <bool SQUARES>
UH_DEVICE float uh_added(float sum, const float *x, int32_t n, float mean) {
#pragma unroll 16
    for (int32_t i = threadIdx.x; i < n; i += UH_SUM_LANES) sum = sum + (SQUARES ? (x[i] - mean) * (x[i] - mean) : x[i]);
    return sum;
}

/* What each of the first 16 threads has, added up; for all threads. lanes [16]: shared, and not read since a barrier. */
UH_DEVICE float uh_lanes_sum(float own, float *lanes) {
    if (threadIdx.x < UH_SUM_LANES) lanes[threadIdx.x] = own;
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < UH_SUM_LANES; i++) sum = sum + lanes[i];
    return sum;
}

/* The sum of n values in shared memory, or of (x - mean)^2. */
template <bool SQUARES>
UH_DEVICE float uh_sum_shared(const float *x, int32_t n, float mean, float *lanes) {
    float own = 0.0f;
    if (threadIdx.x < UH_SUM_LANES) own = uh_added<SQUARES>(own, x, n, mean);
    return uh_lanes_sum(own, lanes);
}

/* The same of n values anywhere, which pass through `tile` [UH_TILE_FLOATS]. */
template <bool SQUARES>
UH_DEVICE float uh_sum_of(const float *x, int32_t n, float mean, float *tile, float *lanes) {
    float own = 0.0f;
#pragma unroll 1
    for (int32_t first = 0; first < n; first += UH_TILE_FLOATS) {
        const int32_t count = min((int32_t)UH_TILE_FLOATS, n - first);
        __syncthreads(); /* the tile before has been added, and `lanes` read */
#pragma unroll 8
        for (int32_t i = threadIdx.x; i < count; i += UH_THREADS) tile[i] = x[first + i];
        __syncthreads();
        if (threadIdx.x < UH_SUM_LANES) own = uh_added<SQUARES>(own, tile, count, mean);
    }
    return uh_lanes_sum(own, lanes);
}

#endif
