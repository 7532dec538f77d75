#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(from, n) ((void)(from), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(from, n) ((void)(from), (void)(n))
#endif

enum { FAILURES_SHOWN = 40, MOST_BUFFERS = 4096, LINE = 64 };

static int passed, failed, passed_before, failed_before;
static char current[80];

static void end_group(void) {
    if (*current) printf("%-50s %6d passed, %d failed\n", current, passed - passed_before, failed - failed_before);
    fflush(stdout);
    passed_before = passed;
    failed_before = failed;
}

void group(const char *name) {
    end_group();
    snprintf(current, sizeof current, "%s", name);
}

void check(int ok, const char *format, ...) {
    if (ok) {
        passed++;
        return;
    }
    if (failed++ >= FAILURES_SHOWN) return;
    va_list values;
    va_start(values, format);
    printf("FAILED: %s: ", current);
    vprintf(format, values);
    printf("\n");
    va_end(values);
}

void left_out(const char *format, ...) {
    va_list values;
    va_start(values, format);
    printf("left out: ");
    vprintf(format, values);
    printf("\n");
    va_end(values);
}

int summary(void) {
    end_group();
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}

/* splitmix64 */
static uint64_t state;

void reseed(uint64_t seed) { state = seed; }

uint64_t random_bits(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double uniform(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

double normal(void) { /* twelve uniform ones: near enough, and the same to the last bit everywhere */
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
}

int between(int least, int greatest) { return least + (int)(random_bits() % (uint64_t)(greatest - least + 1)); }

static struct {
    uint8_t *start;
    size_t whole;
} buffers[MOST_BUFFERS];
static int n_buffers;

void *exactly(size_t n, size_t shift) {
    const size_t whole = n + 2 * LINE;
    uint8_t *start = calloc(1, whole);
    if (!start || n_buffers == MOST_BUFFERS) {
        printf("no memory for the selftest\n");
        exit(2);
    }
    buffers[n_buffers].start = start;
    buffers[n_buffers++].whole = whole;
    uint8_t *from = start + (LINE - (uintptr_t)start % LINE) % LINE + shift % LINE;
    ASAN_POISON_MEMORY_REGION(start, (size_t)(from - start));
    ASAN_POISON_MEMORY_REGION(from + n, whole - n - (size_t)(from - start));
    return from;
}

float *floats(size_t n) { return exactly(n * sizeof(float), 4); }

void forbid(const void *from, size_t n) { ASAN_POISON_MEMORY_REGION(from, n); }

static void release_last(void) {
    n_buffers--;
    ASAN_UNPOISON_MEMORY_REGION(buffers[n_buffers].start, buffers[n_buffers].whole);
    free(buffers[n_buffers].start);
}

void forget(const void *last) {
    check((uintptr_t)last - (uintptr_t)buffers[n_buffers - 1].start < 2 * LINE, "a buffer is forgotten that is not the newest");
    release_last();
}

void release_all(void) {
    while (n_buffers) release_last();
}

double error_of(const float *a, const double *b, size_t n) {
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return difference == 0.0 ? 0.0 : sqrt(difference / size);
}
