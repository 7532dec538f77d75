/* Vectors of one instruction set under common names, for code that is compiled once per instruction set: define one of
 * UH_WITH_AVX512, UH_WITH_AVX2 or neither, and include. vf: UH_LANES floats. vf_even_bf16, vf_odd_bf16: of 2 * UH_LANES
 * numbers every other one, the first or the second of each pair. */
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

#endif
