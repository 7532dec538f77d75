/* Many tokens with AVX2 alone: maddubs adds two products in 16 bits, which hold 16 of them at 4 bits each. Levels of a wide
 * table are met with a sign, as in dots_avx2.c. */
#if defined(__x86_64__)
#define UH_TARGET __attribute__((target("avx2,fma,f16c")))
#include <immintrin.h>
#include <string.h>

#include "many.h"

#define UH_MANY uh_many_avx2
#define INLINE UH_TARGET static inline __attribute__((always_inline))

#define COUNTS 4
#define MIDDLE(kind) UH_MIDDLE(kind)

/* Columns that 16 bits hold: 8 times 2 * 15 * 127 is still below 2^15, and so is 4 times 2 * UH_LOW_LEVEL * 127. */
#define IN_16_BITS(kind) ((kind) == UH_TABLED ? 16 : 32)

INLINE __m256i line(const uint8_t *from) { return _mm256_loadu_si256((const __m256i *)from); }

INLINE __m256i widened(__m256i v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }

/* sums[t][half] += levels * x[t] over one group, half the rows each, with levels that have a sign: at
 * most 2 * 127 * 127 in 16 bits. */
INLINE void signed_products(const uint8_t *codes, int32_t group, const int8_t *const *from, int n, __m256i (*sums)[2]) {
    for (int32_t c = 0; c < group; c += 4) {
        const __m256i w0 = line(codes + c * UH_ROWS), w1 = line(codes + c * UH_ROWS + 32);
#pragma GCC unroll 4
        for (int t = 0; t < n; t++) {
            int32_t columns;
            memcpy(&columns, from[t] + c, 4);
            const __m256i x = _mm256_set1_epi32(columns), size = _mm256_abs_epi8(x);
            sums[t][0] = _mm256_add_epi32(sums[t][0], widened(_mm256_maddubs_epi16(size, _mm256_sign_epi8(w0, x))));
            sums[t][1] = _mm256_add_epi32(sums[t][1], widened(_mm256_maddubs_epi16(size, _mm256_sign_epi8(w1, x))));
        }
    }
}

/* sums[t][half] += codes * x[t] over one group, half the rows each. Codes of 8 bits are met in two halves of 4 bits, so
 * that nothing saturates. */
INLINE void products(const uint8_t *codes, int32_t group, const int8_t *const *from, int kind, int n, __m256i (*sums)[2]) {
    if (kind == UH_WIDE_TABLED) return signed_products(codes, group, from, n, sums);
    const __m256i four = _mm256_set1_epi8(0x0f);
    for (int32_t start = 0; start < group; start += IN_16_BITS(kind)) {
        const int32_t end = group - start < IN_16_BITS(kind) ? group : start + IN_16_BITS(kind);
        for (int half = 0; half < (kind == 3 ? 2 : 1); half++) {
            __m256i narrow[COUNTS][2]; /* by half of the rows; at 8 bits by half of the code */
#pragma GCC unroll 4
            for (int t = 0; t < n; t++) narrow[t][0] = narrow[t][1] = _mm256_setzero_si256();
            for (int32_t c = start; c < end; c += 16) {
#pragma GCC unroll 4
                for (int s = 0; s < 16; s += 4) {
                    const uint8_t *at = codes + (c + s) * UH_ROWS + half * 32;
                    const __m256i whole = line(at);
                    const __m256i low = kind == 3 ? _mm256_and_si256(whole, four) : whole;
                    const __m256i high = kind == 3 ? _mm256_and_si256(_mm256_srli_epi32(whole, 4), four) : line(at + 32);
#pragma GCC unroll 4
                    for (int t = 0; t < n; t++) {
                        int32_t columns;
                        memcpy(&columns, from[t] + c + s, 4);
                        const __m256i x = _mm256_set1_epi32(columns);
                        narrow[t][0] = _mm256_add_epi16(narrow[t][0], _mm256_maddubs_epi16(low, x));
                        narrow[t][1] = _mm256_add_epi16(narrow[t][1], _mm256_maddubs_epi16(high, x));
                    }
                }
            }
#pragma GCC unroll 4
            for (int t = 0; t < n; t++) {
                const __m256i a = widened(narrow[t][0]), b = widened(narrow[t][1]);
                if (kind == 3) {
                    sums[t][half] = _mm256_add_epi32(sums[t][half], _mm256_add_epi32(a, _mm256_slli_epi32(b, 4)));
                } else {
                    sums[t][0] = _mm256_add_epi32(sums[t][0], a), sums[t][1] = _mm256_add_epi32(sums[t][1], b);
                }
            }
        }
    }
}

#include "many_256.h"
#endif
