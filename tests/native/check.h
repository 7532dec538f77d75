/* What every part of the selftest uses: checks and their count, random numbers, buffers that end where they should. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

/* ---- checks: a group prints one line, a failed check prints one of its own ---------------------------------------- */

void group(const char *name);
void check(int ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
void left_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the last line, "N passed, N failed"; the exit code. */
int summary(void);

/* ---- random numbers: the same on every computer -------------------------------------------------------------------- */

/* Draw one to a statement: in what order a compiler evaluates arguments and operands is left open, and theirs differ. */

void reseed(uint64_t seed);
uint64_t random_bits(void);
double uniform(void);                /* [0, 1) */
double normal(void);                 /* mean 0, variance 1 */
int between(int least, int greatest); /* both included */

/* ---- memory: freed all at once by release_all ---------------------------------------------------------------------- */

/* n bytes, zero, that begin `shift` bytes after a multiple of 64. What lies before and behind may not be touched; the
 * address sanitizer sees to that. */
void *exactly(size_t n, size_t shift);
float *floats(size_t n); /* the same for n floats, at an address that is a multiple of 4 and of nothing more */
/* Forbid bytes inside of such a buffer. */
void forbid(const void *from, size_t n);
void release_all(void);
void forget(const void *last); /* the newest buffer, which this is, alone */

/* ||a - b|| / ||b|| over n values; NaN or infinite where one of them is. */
double error_of(const float *a, const double *b, size_t n);

#endif
