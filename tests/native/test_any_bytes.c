/* uh_linear on any bytes that a file may hold as codes and scales: it reads them and nothing beside them, and says the same
 * with one thread as with two. Under sanitizers this is what fuzzes the kernels: no other native code is given bytes of
 * files that were not checked before. */
#include <string.h>
#include <time.h>

#include "check.h"
#include "selftest.h"

enum { ROWS_PER_TILE = 16, TRIES = 300, MOST_ROWS = 50, MOST_GROUPS = 12, MOST_TOKENS = 20 };

/* Which codes go with which scales: engine/record/coding.py, LEVELS_OF, and those of coarse codes. */
static const struct {
    int kind, form;
} CODINGS[] = {
    {1, UH_HALF_PAIRS}, {2, UH_HALF_PAIRS}, {3, UH_HALF_PAIRS}, {UH_SIX, UH_HALF_PAIRS}, {1, UH_SIGNED},
    {2, UH_HALVES},     {UH_WIDE_TABLED, UH_HALVES}, {UH_SIX, UH_HALVES}, {1, UH_BYTES}, {UH_TABLED, UH_BYTES},
    {1, UH_SUPER},      {2, UH_SUPER},      {UH_SIX, UH_SUPER},
};
static const int GROUPS[] = {16, 32, 64, 128, 256, 48}; /* those before the last divide UH_SUPER_COLUMNS */

/* n bytes and no more: random ones, or one over and over, such as the halves that are infinite or no number. */
static uint8_t *bytes(size_t n) {
    uint8_t *to = exactly(n, (size_t)between(0, 63));
    const int all_alike = !between(0, 3);
    const uint8_t one = (uint8_t)random_bits();
    for (size_t i = 0; i < n; i++) to[i] = all_alike ? one : (uint8_t)random_bits();
    return to;
}

static size_t params_bytes(int form, int rows, int groups, int group) {
    static const size_t each[] = {64, 32, 16, 16};
    const size_t blocks = (size_t)(rows / ROWS_PER_TILE);
    if (form != UH_SUPER) return blocks * (size_t)groups * each[form];
    return blocks * (64 * (size_t)((groups * group + UH_SUPER_COLUMNS - 1) / UH_SUPER_COLUMNS) + 32 * (size_t)groups);
}

static void one_matrix(const variant *which, uh_context *const contexts[2]) {
    const int coding = between(0, (int)(sizeof CODINGS / sizeof *CODINGS) - 1);
    const int kind = CODINGS[coding].kind, form = CODINGS[coding].form;
    const int group = GROUPS[between(0, form == UH_SUPER ? 4 : 5)], groups = between(1, MOST_GROUPS);
    const int rows = between(1, MOST_ROWS), tokens = between(1, MOST_TOKENS);
    const int stored = (rows + ROWS_PER_TILE - 1) / ROWS_PER_TILE * ROWS_PER_TILE;
    const int cols = groups * group - (form == UH_HALF_PAIRS ? between(0, group - 1) : 0); /* the rest is padding */
    const size_t codes = (size_t)stored * (size_t)(groups * group) / 4, n = (size_t)(tokens * rows) * sizeof(float);
    uint8_t *table = bytes(UH_LEVELS);
    for (int i = 0; i < UH_LEVELS && kind == UH_TABLED; i++) table[i] %= UH_LOW_LEVEL + 1;
    uh_matrix_view view = {.unit = 1.0f, .rows = rows, .cols = cols, .groups = groups, .group = group, .kind = kind, .form = form,
                           .table = table};
    view.codes[0] = bytes(codes);
    if (kind != 1 && kind != UH_SIX) view.codes[1] = bytes(codes);
    if (kind == 3 || kind == UH_SIX) view.codes[2] = bytes(2 * codes);
    view.params = bytes(params_bytes(form, stored, groups, group));
    view.zero = (float)between(0, 255);
    float *x = floats((size_t)(tokens * cols)), *one = floats(n / 4), *two = floats(n / 4);
    memcpy(x, bytes((size_t)(tokens * cols) * sizeof(float)), (size_t)(tokens * cols) * sizeof(float));
    check(uh_linear(contexts[0], &view, x, tokens, one) == 0, "no memory");
    check(uh_linear(contexts[1], &view, x, tokens, two) == 0, "no memory");
    int same = 1; /* which of several NaN comes out is left open */
    for (size_t i = 0; i < n / 4; i++) same &= one[i] == two[i] || (one[i] != one[i] && two[i] != two[i]);
    check(same, "%s, kind %d, form %d, group %d: two threads say something else", which->name, kind, form, group);
    release_all();
}

static double seconds;

static void visited(const variant *which) {
    uh_context *const contexts[2] = {opened(1, which), opened(2, which)};
    const time_t end = time(NULL) + (time_t)seconds;
    for (int i = 0; i < TRIES || time(NULL) < end; i++) one_matrix(which, contexts);
    uh_close(contexts[0]);
    uh_close(contexts[1]);
}

void test_any_bytes(double seconds_each, uint64_t seed) {
    group("any bytes as codes and scales");
    seconds = seconds_each;
    reseed(seed);
    each_variant(visited);
}
