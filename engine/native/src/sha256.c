/* SHA-256 as FIPS 180-4 says it (section 6.2.2), and by the SHA extensions where the processor has them. */
#include "cpu.h"
#include "sha256.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t turned(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void plain(uint32_t *state, const uint8_t *p, int64_t n) {
    for (; n > 0; p += 64, n--) {
        uint32_t w[64], s[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 64; i++) {
            const uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
        }
        for (int i = 0; i < 8; i++) s[i] = state[i];
        for (int i = 0; i < 64; i++) {
            const uint32_t a = s[0], e = s[4];
            const uint32_t one = s[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + K[i] + w[i];
            const uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j > 0; j--) s[j] = s[j - 1];
            s[4] += one;
            s[0] = one + two;
        }
        for (int i = 0; i < 8; i++) state[i] += s[i];
    }
}

#if defined(__x86_64__)

/* The instructions keep a, b, e, f in one register and c, d, g, h in another, the first of them highest. */
__attribute__((target("sha,sse4.1"))) static void by_instructions(uint32_t *state, const uint8_t *p, int64_t n) {
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    for (; n > 0; p += 64, n--) {
        const __m128i before[2] = {abef, cdgh};
        __m128i w[4]; /* the last sixteen words of the schedule, four at a time */
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i & 3];
            if (i < 4) {
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p + i), swap);
            } else {
                const __m128i last = w[(i + 3) & 3], seven = _mm_alignr_epi8(last, w[(i + 2) & 3], 4);
                *now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) & 3]), seven), last);
            }
            const __m128i added = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)K + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
        }
        abef = _mm_add_epi32(abef, before[0]);
        cdgh = _mm_add_epi32(cdgh, before[1]);
    }
    uint32_t out[2][4];
    _mm_storeu_si128((__m128i *)out[0], abef);
    _mm_storeu_si128((__m128i *)out[1], cdgh);
    for (int i = 0; i < 2; i++) {
        state[i] = out[0][3 - i];
        state[4 + i] = out[0][1 - i];
        state[2 + i] = out[1][3 - i];
        state[6 + i] = out[1][1 - i];
    }
}

#endif

int uh_sha256_ways(void) {
    static _Atomic int known; /* asked for at every call, and cpuid takes microseconds in a virtual machine */
    if (known) return known;
    int ways = 1 << UH_SHA_PLAIN;
#if defined(__x86_64__)
    if (uh_cpu_has(UH_CPU_SSE41) && uh_cpu_has(UH_CPU_SHA)) ways |= 1 << UH_SHA_NI;
#endif
    known = ways;
    return ways;
}

void uh_sha256(int way, uint32_t *state, const uint8_t *bytes, int64_t n) {
#if defined(__x86_64__)
    if (way == UH_SHA_NI || (way < 0 && uh_sha256_ways() >> UH_SHA_NI & 1)) {
        by_instructions(state, bytes, n);
        return;
    }
#endif
    (void)way;
    plain(state, bytes, n);
}
