/* Many tokens with AVX-VNNI: four products of one byte each are added in one step. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,avxvnni,fma,f16c")))
#include <immintrin.h>
#include <string.h>

#include "many.h"

#define UH_MANY uh_many_avxvnni
#define INLINE UH_TARGET static inline __attribute__((always_inline))

#define COUNTS 6
#define MIDDLE(kind) 0

INLINE __m256i line(const uint8_t *from) { return _mm256_loadu_si256((const __m256i *)from); }

/* sum += the four products of each lane. As an instruction: around the intrinsic GCC 12 copies every sum to and fro. */
INLINE void add_products(__m256i *sum, __m256i codes, __m256i x) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(*sum) : "x"(codes), "x"(x));
}

/* sums[t][half] += codes * x[t] over one group, half the rows each. */
INLINE void products(const uint8_t *codes, int32_t group, const int8_t *const *from, int kind, int n, __m256i (*sums)[2]) {
    (void)kind;
    for (int32_t c = 0; c < group; c += 16) {
#pragma GCC unroll 4
        for (int s = 0; s < 16; s += 4) {
            const uint8_t *at = codes + (c + s) * UH_ROWS;
            const __m256i w0 = line(at), w1 = line(at + 32);
#pragma GCC unroll 6
            for (int t = 0; t < n; t++) {
                int32_t columns;
                memcpy(&columns, from[t] + c + s, 4);
                const __m256i x = _mm256_set1_epi32(columns);
                add_products(&sums[t][0], w0, x);
                add_products(&sums[t][1], w1, x);
            }
        }
    }
}

#include "many_256.h"
#endif
