/* Pairs of bf16: an instruction of the newer AVX-512 processors multiplies two numbers to a lane and adds both products to a
 * float32. That is twice what a lane of float32 gets out of the multipliers. Include vectors.h before. */
#ifndef UH_BF16_PAIRS_H
#define UH_BF16_PAIRS_H

#if defined(UH_WITH_AVX512)

#define UH_PAIRS __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define UH_PAIRS_INLINE UH_PAIRS static inline __attribute__((always_inline))

UH_PAIRS_INLINE __m512bh pairs_at(const void *p) { return (__m512bh)_mm512_loadu_si512(p); }

/* Numbers rounded to the nearest bf16, to one half of a register. */
UH_PAIRS_INLINE void round_16(vf numbers, uint16_t *to) {
    _mm256_storeu_si256((__m256i *)to, (__m256i)_mm512_cvtneps_pbh(numbers));
}

#endif

#endif
