/* Vectors of one instruction set under common names, for code that is compiled once per instruction set: define one of
 * UH_WITH_AVX512, UH_WITH_AVX2 or neither, and include. vf: UH_LANES floats. vf_even_bf16, vf_odd_bf16: of 2 * UH_LANES
 * numbers every other one, the first or the second of each pair. vf_most(a, b): the larger, b where either is NaN.
 * vf_exchanged: lane l has what lane l ^ by had. */
#ifndef UH_VECTORS_H
#define UH_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(UH_WITH_AVX512) || defined(UH_WITH_AVX2)
#include <immintrin.h>
#endif

#if defined(UH_WITH_AVX512)

#define UH_TARGET __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")))
#define UH_INLINE UH_TARGET static inline __attribute__((always_inline))
enum { UH_LANES = 16 };
typedef __m512 vf;

UH_INLINE vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
UH_INLINE void vf_store(float *p, vf a) { _mm512_storeu_ps(p, a); }
UH_INLINE vf vf_all(float a) { return _mm512_set1_ps(a); }
UH_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
UH_INLINE vf vf_most(vf a, vf b) { return _mm512_max_ps(a, b); }
UH_INLINE vf vf_exchanged(vf a, const int by) {
    return by == 8   ? _mm512_shuffle_f32x4(a, a, 0x4e)
           : by == 4 ? _mm512_shuffle_f32x4(a, a, 0xb1)
           : by == 2 ? _mm512_permute_ps(a, 0x4e)
                     : _mm512_permute_ps(a, 0xb1);
}
UH_INLINE vf vf_load_bf16(const uint16_t *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16));
}
UH_INLINE vf vf_even_bf16(const uint8_t *p) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16)); }
UH_INLINE vf vf_odd_bf16(const uint8_t *p) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), _mm512_set1_epi32((int)0xffff0000)));
}
UH_INLINE vf vf_pairs(vf a, vf b) { return _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)); }
UH_INLINE vf vf_fours(vf a, vf b) {
    __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
    return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(x, y)), _mm512_castpd_ps(_mm512_unpackhi_pd(x, y)));
}
/* Lane i: the sum over the lanes of a[i]. */
UH_INLINE vf vf_sums(const vf *a) {
    vf four[4];
    for (int i = 0; i < 4; i++) four[i] = vf_fours(vf_pairs(a[4 * i], a[4 * i + 1]), vf_pairs(a[4 * i + 2], a[4 * i + 3]));
    vf low = _mm512_add_ps(_mm512_shuffle_f32x4(four[0], four[1], 0x88), _mm512_shuffle_f32x4(four[0], four[1], 0xdd));
    vf high = _mm512_add_ps(_mm512_shuffle_f32x4(four[2], four[3], 0x88), _mm512_shuffle_f32x4(four[2], four[3], 0xdd));
    return _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
}

#elif defined(UH_WITH_AVX2)

#define UH_TARGET __attribute__((target("avx2,fma")))
#define UH_INLINE UH_TARGET static inline __attribute__((always_inline))
enum { UH_LANES = 8 };
typedef __m256 vf;

UH_INLINE vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
UH_INLINE void vf_store(float *p, vf a) { _mm256_storeu_ps(p, a); }
UH_INLINE vf vf_all(float a) { return _mm256_set1_ps(a); }
UH_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
UH_INLINE vf vf_most(vf a, vf b) { return _mm256_max_ps(a, b); }
UH_INLINE vf vf_exchanged(vf a, const int by) {
    return by == 4   ? _mm256_permute2f128_ps(a, a, 1)
           : by == 2 ? _mm256_permute_ps(a, 0x4e)
                     : _mm256_permute_ps(a, 0xb1);
}
UH_INLINE vf vf_load_bf16(const uint16_t *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
}
UH_INLINE vf vf_even_bf16(const uint8_t *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)p), 16));
}
UH_INLINE vf vf_odd_bf16(const uint8_t *p) {
    return _mm256_castsi256_ps(_mm256_and_si256(_mm256_loadu_si256((const __m256i *)p), _mm256_set1_epi32((int)0xffff0000)));
}
/* Lane i: the sum over the lanes of a[i]. */
UH_INLINE vf vf_sums(const vf *a) {
    vf low = _mm256_hadd_ps(_mm256_hadd_ps(a[0], a[1]), _mm256_hadd_ps(a[2], a[3]));
    vf high = _mm256_hadd_ps(_mm256_hadd_ps(a[4], a[5]), _mm256_hadd_ps(a[6], a[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31));
}

#else

#define UH_TARGET
#define UH_INLINE static inline
enum { UH_LANES = 4 };
typedef float vf __attribute__((vector_size(16)));

UH_INLINE vf vf_load(const float *p) {
    vf a;
    memcpy(&a, p, sizeof a);
    return a;
}
UH_INLINE void vf_store(float *p, vf a) { memcpy(p, &a, sizeof a); }
UH_INLINE vf vf_all(float a) { return (vf){a, a, a, a}; }
UH_INLINE vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
UH_INLINE vf vf_most(vf a, vf b) {
    for (int i = 0; i < UH_LANES; i++) b[i] = a[i] > b[i] ? a[i] : b[i];
    return b;
}
UH_INLINE vf vf_exchanged(vf a, const int by) {
    return by == 2 ? (vf){a[2], a[3], a[0], a[1]} : (vf){a[1], a[0], a[3], a[2]};
}
UH_INLINE vf vf_load_bf16(const uint16_t *p) {
    uint32_t bits[4] = {(uint32_t)p[0] << 16, (uint32_t)p[1] << 16, (uint32_t)p[2] << 16, (uint32_t)p[3] << 16};
    vf a;
    memcpy(&a, bits, sizeof a);
    return a;
}
UH_INLINE vf vf_even_bf16(const uint8_t *p) {
    uint32_t bits[4];
    memcpy(bits, p, sizeof bits);
    for (int i = 0; i < 4; i++) bits[i] <<= 16;
    vf a;
    memcpy(&a, bits, sizeof a);
    return a;
}
UH_INLINE vf vf_odd_bf16(const uint8_t *p) {
    uint32_t bits[4];
    memcpy(bits, p, sizeof bits);
    for (int i = 0; i < 4; i++) bits[i] &= 0xffff0000u;
    vf a;
    memcpy(&a, bits, sizeof a);
    return a;
}
/* Lane i: the sum over the lanes of a[i]. */
UH_INLINE vf vf_sums(const vf *a) {
    vf sums;
    for (int i = 0; i < 4; i++) sums[i] = (a[i][0] + a[i][2]) + (a[i][1] + a[i][3]);
    return sums;
}

#endif

/* e^x of x <= 0 to about 1e-7, as uh_exp has it (activation.h), but in whole registers; NaN stays NaN. */
UH_INLINE vf vf_exp(vf x) {
    typedef int32_t bits __attribute__((vector_size(4 * UH_LANES)));
    const vf magic = vf_all(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer that stands in the low bits */
    x = vf_most(vf_all(-87.0f), x);
    const vf shifted = vf_fma(x, vf_all(1.44269504f), magic), n = shifted - magic;
    const vf r = vf_fma(n, vf_all(2.12194440e-4f), vf_fma(n, vf_all(-0.693359375f), x));
    /* In pairs of terms and not one after the other: waiting is what this costs most. */
    const vf square = r * r, low = vf_fma(vf_all(1.6666665459e-1f), r, vf_all(5.0000001201e-1f));
    const vf middle = vf_fma(vf_all(8.3334519073e-3f), r, vf_all(4.1665795894e-2f));
    const vf high = vf_fma(vf_all(1.9875691500e-4f), r, vf_all(1.3981999507e-3f));
    const vf p = vf_fma(vf_fma(vf_fma(high, square, middle), square, low), square, r + vf_all(1.0f));
    return p * (vf)(((bits)shifted + 127) << 23); /* 2^n: the magic's own bits fall out at the top */
}

#endif
