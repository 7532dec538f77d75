/* SHA-256 (FIPS 180-4) whose state between two blocks can be put away, and taken up in another process. */
#ifndef UH_SHA256_H
#define UH_SHA256_H

#include "underhill_kernels.h"

/* How it is computed: the second by the processor's own instructions. */
enum { UH_SHA_PLAIN, UH_SHA_NI, UH_SHA_WAYS };

/* Which of them this processor can do, as bits 1 << UH_SHA_PLAIN and so on. */
UH_API int uh_sha256_ways(void);
/* Adds n whole blocks of 64 bytes to the eight words of the state. way: -1 takes the fastest. */
UH_API void uh_sha256(int way, uint32_t *state, const uint8_t *bytes, int64_t n);

#endif
