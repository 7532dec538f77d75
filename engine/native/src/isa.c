/* Which instruction sets there are, and what each is made of. */
#include <stddef.h>

#include "cpu.h"
#include "rows.h"

int uh_isas(void) {
    int isas = 1 << UH_PORTABLE;
#if defined(__x86_64__)
    if (!uh_system_saves(0x6) || !uh_cpu_has(UH_CPU_AVX2) || !uh_cpu_has(UH_CPU_FMA) || !uh_cpu_has(UH_CPU_F16C)) return isas;
    isas |= 1 << UH_AVX2;
    if (uh_cpu_has(UH_CPU_AVXVNNI)) isas |= 1 << UH_AVXVNNI;
    if (!uh_system_saves(0xe6) || !uh_cpu_has(UH_CPU_AVX512F) || !uh_cpu_has(UH_CPU_AVX512BW)) return isas;
    if (!uh_cpu_has(UH_CPU_AVX512VL) || !uh_cpu_has(UH_CPU_AVX512DQ)) return isas;
    isas |= 1 << UH_AVX512;
    if (uh_cpu_has(UH_CPU_AVX512VNNI)) isas |= 1 << UH_AVX512VNNI;
#elif defined(__aarch64__)
    if (uh_cpu_has_dot_products()) isas |= 1 << UH_NEON;
#endif
    return isas;
}

int uh_has_pairs(void) {
#if defined(__x86_64__)
    return uh_system_saves(0xe6) && uh_cpu_has(UH_CPU_AVX512BF16);
#else
    return 0;
#endif
}

static const uh_isa portable = {UH_MOST_TOKENS, 0, uh_rows_portable,     uh_quantize_portable, uh_dots_portable,
                                uh_many_portable, uh_activate_portable, uh_read_portable,     uh_attend_many_portable, uh_finish_heads_portable};
#if defined(__aarch64__)
/* The compiler makes NEON of plain C by itself where numbers are floating; what it cannot find are the dot products. */
static const uh_isa neon = {UH_MOST_TOKENS, 0, uh_rows_portable,     uh_quantize_portable, uh_dots_neon,
                            uh_many_neon,   uh_activate_portable, uh_read_portable,     uh_attend_many_portable, uh_finish_heads_portable};
#endif
#if defined(__x86_64__)
static const uh_isa avx2 = {2, 1,
                            uh_rows_avx2,
                            uh_quantize_avx2,
                            uh_dots_avx2,
                            uh_many_avx2,
                            uh_activate_avx2,
                            uh_read_avx2,
                            uh_attend_many_avx2, uh_finish_heads_avx2};
static const uh_isa avxvnni = {2, 0,
                               uh_rows_avx2,
                               uh_quantize_avx2,
                               uh_dots_avxvnni,
                               uh_many_avxvnni,
                               uh_activate_avx2,
                               uh_read_avx2,
                               uh_attend_many_avx2, uh_finish_heads_avx2};
/* Without VNNI the wider registers would gain little over AVX2: memory is the limit. */
static const uh_isa avx512 = {UH_MOST_TOKENS, 1, uh_rows_avx512,     uh_quantize_avx512, uh_dots_avx2,
                              uh_many_avx2,   uh_activate_avx512, uh_read_avx512,     uh_attend_many_avx512, uh_finish_heads_avx512};
static const uh_isa avx512vnni = {UH_MOST_TOKENS, 0, uh_rows_avx512,     uh_quantize_avx512, uh_dots_avx512vnni,
                                  uh_many_avx512vnni, uh_activate_avx512, uh_read_avx512,     uh_attend_many_avx512, uh_finish_heads_avx512};
#endif

const uh_isa *uh_isa_table(int isa) {
    switch (isa) {
    case UH_PORTABLE: return &portable;
#if defined(__x86_64__)
    case UH_AVX2: return &avx2;
    case UH_AVXVNNI: return &avxvnni;
    case UH_AVX512: return &avx512;
    case UH_AVX512VNNI: return &avx512vnni;
#elif defined(__aarch64__)
    case UH_NEON: return &neon;
#endif
    default: return NULL;
    }
}
