/* The selftest of the native kernels: every public function against plain double arithmetic.
 *
 * Built and run in several ways by test_selftest.py; the argument `threads` leaves out what knows nothing of threads, and
 * `bytes SECONDS SEED` does nothing but give kernels any bytes, for so long (python -m tests.fuzz.kernels).
 * Prints a line for each group and "N passed, M failed". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "selftest.h"

static const char *const NAMES[UH_ISAS] = {"portable", "avx2", "avxvnni", "avx512", "avx512vnni", "neon"};

void each_variant(variant_test visit) {
    for (int isa = 0; isa < UH_ISAS; isa++) {
        if (!(uh_isas() >> isa & 1)) continue;
        for (int exact = 1; exact >= 0; exact--) {
            char name[40];
            snprintf(name, sizeof name, "%s, %s", NAMES[isa], exact ? "float32" : "8 bits");
            const variant which = {isa, exact, name};
            visit(&which);
            release_all();
        }
    }
}

uh_context *opened(int threads, const variant *which) {
    uh_context *context = uh_open(threads, which->isa, which->exact);
    if (!context) {
        printf("no context of %d threads for %s\n", threads, which->name);
        exit(2);
    }
    return context;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "bytes") == 0) {
        int isas = 0;
        for (int isa = 0; isa < UH_ISAS; isa++) isas += uh_isas() >> isa & 1;
        test_any_bytes(atof(argv[2]) / (2 * isas), strtoull(argv[3], NULL, 10));
        return summary();
    }
    if (argc < 2 || strcmp(argv[1], "threads") != 0) {
        for (int isa = 0; isa < UH_ISAS; isa++)
            if (!(uh_isas() >> isa & 1)) left_out("%s, which this processor lacks", NAMES[isa]);
        test_numbers();
        test_contexts();
        test_card();
        test_linear();
        test_any_bytes(0.0, 1);
        test_experts();
        test_combine();
        test_read();
        test_pack();
        test_encode();
        test_op_graph();
        test_crc32();
        test_order();
    }
    test_threads();
    test_io_pool();
    test_expert_cache();
#if defined(SELFTEST_INSIDE)
    test_pool();
#endif
    return summary();
}
