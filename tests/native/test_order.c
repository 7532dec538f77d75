/* Who leaves a cache first, and who is expected of a layer: against plain counting. */
#include <math.h>

#include "check.h"
#include "selftest.h"

enum { ROWS = 3, EXPERTS = 7, ALL = ROWS * EXPERTS };

/* How many come before number i where the least comes first, or the greatest, and of equals the first. */
static int before(const double *values, int n, int i, int greatest) {
    int count = 0;
    for (int j = 0; j < n; j++) {
        const double difference = greatest ? values[i] - values[j] : values[j] - values[i];
        count += difference < 0 || (!(difference > 0) && j < i);
    }
    return count;
}

static void leaving(void) {
    group("who leaves first");
    reseed(21);
    double *scores = exactly(ALL * 8, 0), *ticks = exactly(ALL * 8, 0), *bars = exactly(ALL * 8, 0);
    double *order = exactly(ALL * 8, 0), *near = exactly(ROWS * 8, 0);
    int32_t *found = exactly(ALL * 4, 0);
    for (int i = 0; i < ALL; i++) {
        scores[i] = between(0, 4); /* equals, too */
        ticks[i] = i % 2;
        bars[i] = i % 5 == 3 ? INFINITY : i % 4 ? 0 : 1e15;
    }
    for (int row = 0; row < ROWS; row++) near[row] = row;
    const int first = uh_order(scores, ticks, bars, near, 2, ROWS, EXPERTS, order, ALL, found);
    int there = 0;
    for (int i = 0; i < ALL; i++) {
        const double expected = scores[i] + ticks[i] + 2.0 * (i / EXPERTS) + bars[i];
        check(order[i] <= expected && order[i] >= expected, "score of %d", i);
        there += order[i] < INFINITY;
    }
    check(first == there, "%d of %d may leave", first, there);
    for (int rank = 0; rank < first; rank++) check(before(order, ALL, found[rank], 0) == rank, "put in order at once");
    for (int most = 1; most <= ALL; most++) {
        int32_t *few = exactly((size_t)most * 4, 0);
        const int count = uh_first_out(order, ALL, most, few);
        check(count == (most < there ? most : there), "%d of %d that may leave", count, most);
        for (int rank = 0; rank < count; rank++)
            check(before(order, ALL, few[rank], 0) == rank, "number %d is not rank %d", (int)few[rank], rank);
    }
    for (int i = 0; i < ALL; i++) order[i] = i % 2 ? NAN : INFINITY;
    check(!uh_first_out(order, ALL, ALL, found), "nobody may leave");
    release_all();
}

static void expected(void) {
    group("who is expected, and what he lacks");
    reseed(22);
    uh_expert *experts = exactly(EXPERTS * sizeof *experts, 0);
    const uh_resident_layer layer = {.experts = experts, .n = EXPERTS, .high = 3, .low = 1};
    float *scores = floats(EXPERTS);
    double values[EXPERTS];
    for (int i = 0; i < EXPERTS; i++) {
        experts[i].planes = i % 4;
        experts[i].most = i == 5 ? 1 : 0;
        scores[i] = (float)(values[i] = between(0, 3));
    }
    for (int most = 1; most <= EXPERTS; most++) {
        for (int width = 1; width <= most; width++) {
            int32_t *asked = exactly((size_t)width * 4, 0), *lacks = exactly((size_t)width * 4, 0);
            int32_t *found = exactly((size_t)most * 4, 0);
            for (int rank = 0; rank < width; rank++) asked[rank] = rank ? between(0, 3) : 3;
            check(uh_predict_topk(&layer, scores, asked, width, most, found, lacks) == most, "as many as asked for");
            for (int rank = 0; rank < most; rank++)
                check(before(values, EXPERTS, found[rank], 1) == rank, "number %d is not rank %d", (int)found[rank], rank);
            for (int rank = 0; rank < width; rank++) {
                const int at = found[rank], wanted = at == 5 && asked[rank] > 1 ? 1 : asked[rank];
                check(lacks[rank] == (experts[at].planes < wanted ? wanted : 0), "what rank %d lacks", rank);
            }
        }
    }
    int32_t asked[1] = {3}, found[EXPERTS + 2], lacks[1];
    check(uh_predict_topk(&layer, scores, asked, 1, EXPERTS + 2, found, lacks) == EXPERTS, "no more than there are");
    for (int i = 0; i < EXPERTS; i++) scores[i] = NAN;
    check(uh_predict_topk(&layer, scores, asked, 1, 3, found, lacks) == 3, "whatever the scores");
    for (int rank = 0; rank < 3; rank++) check(found[rank] >= 0 && found[rank] < EXPERTS, "an expert that there is");
    release_all();
}

void test_order(void) {
    leaving();
    expected();
}
