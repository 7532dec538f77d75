/* The parts of the selftest. Each takes every instruction set that this processor has. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "underhill_kernels.h"

void test_numbers(void); /* the selftest's own halves and packing */
void test_contexts(void);
void test_card(void);
void test_linear(void);
void test_any_bytes(double seconds_each, uint64_t seed); /* at least so long for every instruction set, twice */
void test_experts(void);
void test_combine(void);
void test_read(void);
void test_pack(void);
void test_encode(void);
void test_op_graph(void);
void test_crc32(void);
void test_order(void);
void test_expert_cache(void);   /* experts in memory and on their way there */
void test_io_pool(void);   /* readers, on real files and on a disk that is held up */
void test_threads(void); /* contexts that come, go and work at the same time */
#if defined(SELFTEST_INSIDE)
void test_pool(void); /* what the library does not show: only where its sources are compiled in */
#endif

/* Runs visit for every instruction set of this processor, with float32 (exact) and 8-bit activations. */
typedef struct {
    int isa, exact;
    const char *name;
} variant;
typedef void (*variant_test)(const variant *which);
void each_variant(variant_test visit);
/* A context; ends the program where there is none. */
uh_context *opened(int threads, const variant *which);

#endif
