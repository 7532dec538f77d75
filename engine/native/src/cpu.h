/* What the processor can and the system lets it. Our own: __builtin_cpu_supports answers no to all for zig on Windows. */
#ifndef UH_CPU_H
#define UH_CPU_H

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

/* Leaf, subleaf, register (0 eax, 1 ebx, 2 ecx) and bit of cpuid: Intel's manual, volume 2A, CPUID. */
#define UH_CPU(leaf, subleaf, part, bit) ((leaf) << 16 | (subleaf) << 12 | (part) << 8 | (bit))
enum {
    UH_CPU_PCLMUL = UH_CPU(1, 0, 2, 1),
    UH_CPU_FMA = UH_CPU(1, 0, 2, 12),
    UH_CPU_SSE41 = UH_CPU(1, 0, 2, 19),
    UH_CPU_F16C = UH_CPU(1, 0, 2, 29),
    UH_CPU_AVX2 = UH_CPU(7, 0, 1, 5),
    UH_CPU_AVX512F = UH_CPU(7, 0, 1, 16),
    UH_CPU_AVX512DQ = UH_CPU(7, 0, 1, 17),
    UH_CPU_SHA = UH_CPU(7, 0, 1, 29),
    UH_CPU_AVX512BW = UH_CPU(7, 0, 1, 30),
    UH_CPU_AVX512VL = UH_CPU(7, 0, 1, 31),
    UH_CPU_VPCLMULQDQ = UH_CPU(7, 0, 2, 10),
    UH_CPU_AVX512VNNI = UH_CPU(7, 0, 2, 11),
    UH_CPU_AVXVNNI = UH_CPU(7, 1, 0, 4),
    UH_CPU_AVX512BF16 = UH_CPU(7, 1, 0, 5),
};
#undef UH_CPU

static inline int uh_cpu_has(int feature) {
    unsigned found[4] = {0};
    return __get_cpuid_count(feature >> 16, feature >> 12 & 15, &found[0], &found[1], &found[2], &found[3]) &&
           found[feature >> 8 & 15] >> (feature & 255) & 1;
}

/* Whether the system saves all of these registers: bits of XCR0, 0x6 for AVX, 0xe6 for AVX-512 (volume 1, 13.3). */
static inline int uh_system_saves(unsigned registers) {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0; /* OSXSAVE: xgetbv is there */
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & registers) == registers;
}
#elif defined(__aarch64__)
#if defined(_WIN32)
#include <windows.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

/* Whether there are the instructions sdot and udot of ARMv8.2 (FEAT_DotProd). */
static inline int uh_cpu_has_dot_products(void) {
#if defined(_WIN32)
    return IsProcessorFeaturePresent(43) != 0; /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE, which older headers lack */
#elif defined(__linux__)
    return getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */
#else
    return 1; /* every Mac with such a processor */
#endif
}
#endif

#endif
