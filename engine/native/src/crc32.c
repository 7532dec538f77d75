/* Checksums by carry-less multiplication (Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ,
 * 2009), by tables elsewhere.
 *
 * Bytes are a polynomial over GF(2), and its remainder is the checksum. What lies D bits further on may be added to
 * what is in a register times x^D, and x^D may be replaced by its remainder: so a register moves ahead by two
 * multiplications, one for each half, and at the end 16 bytes remain that have the same checksum as all of them. */
#include "cpu.h"
#include "crc32.h"


#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { SLICES = 8 };
static uint32_t table[SLICES][256]; /* table[s][b]: the checksum of byte b and s zeros behind it */

__attribute__((constructor)) static void fill_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        table[0][byte] = crc;
    }
    for (int s = 1; s < SLICES; s++)
        for (int byte = 0; byte < 256; byte++) table[s][byte] = table[s - 1][byte] >> 8 ^ table[0][table[s - 1][byte] & 255];
}

/* All of these work on the inverse of the checksum, which is what a register holds. */
static uint32_t by_table(uint32_t crc, const uint8_t *p, int64_t n) {
    for (; n >= 8; p += 8, n -= 8) {
        const uint32_t a = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^ table[3][p[4]] ^
              table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; n > 0; p++, n--) crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
    return crc;
}

#if defined(__x86_64__)

#define CLMUL __attribute__((target("sse4.1,pclmul")))
#define VCLMUL __attribute__((target("sse4.1,pclmul,avx512f,vpclmulqdq")))

/* The remainders of x^(D + 32) and x^(D - 32), reflected: for the lower and the upper half of 128 bits. */
#define AHEAD_128 0x1751997d0, 0x0ccaa009e
#define AHEAD_512 0x154442bd4, 0x1c6e41596
#define AHEAD_2048 0x11542778a, 0x1322d1430
#define PAIR_(low, high) _mm_set_epi64x(high, low)
#define PAIR(ahead) PAIR_(ahead)

CLMUL static inline __m128i ahead(__m128i x, __m128i by, __m128i there) {
    return _mm_xor_si128(there, _mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)));
}

CLMUL static inline __m128i load(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }

/* The register's 16 bytes, and n more. */
CLMUL static uint32_t finish(__m128i x, const uint8_t *p, int64_t n) {
    const __m128i by = PAIR(AHEAD_128);
    for (; n >= 16; p += 16, n -= 16) x = ahead(x, by, load(p));
    uint8_t left[16];
    _mm_storeu_si128((__m128i *)left, x);
    return by_table(by_table(0, left, 16), p, n);
}

CLMUL static uint32_t by_clmul(uint32_t crc, const uint8_t *p, int64_t n) {
    if (n < 64) return by_table(crc, p, n);
    __m128i x[4];
    for (int i = 0; i < 4; i++) x[i] = load(p + 16 * i);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
    const __m128i by = PAIR(AHEAD_512);
    for (p += 64, n -= 64; n >= 64; p += 64, n -= 64)
        for (int i = 0; i < 4; i++) x[i] = ahead(x[i], by, load(p + 16 * i));
    const __m128i next = PAIR(AHEAD_128);
    for (int i = 1; i < 4; i++) x[i] = ahead(x[i - 1], next, x[i]);
    return finish(x[3], p, n);
}

VCLMUL static inline __m512i far_ahead(__m512i x, __m512i by, __m512i there) {
    const __m512i low = _mm512_clmulepi64_epi128(x, by, 0x00), high = _mm512_clmulepi64_epi128(x, by, 0x11);
    return _mm512_ternarylogic_epi64(low, high, there, 0x96); /* all three added */
}

VCLMUL static uint32_t by_vclmul(uint32_t crc, const uint8_t *p, int64_t n) {
    if (n < 256) return by_clmul(crc, p, n);
    __m512i x[4];
    for (int i = 0; i < 4; i++) x[i] = _mm512_loadu_si512(p + 64 * i);
    x[0] = _mm512_xor_si512(x[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    const __m512i by = _mm512_broadcast_i32x4(PAIR(AHEAD_2048));
    for (p += 256, n -= 256; n >= 256; p += 256, n -= 256)
        for (int i = 0; i < 4; i++) x[i] = far_ahead(x[i], by, _mm512_loadu_si512(p + 64 * i));
    const __m512i next = _mm512_broadcast_i32x4(PAIR(AHEAD_512));
    for (int i = 1; i < 4; i++) x[i] = far_ahead(x[i - 1], next, x[i]);
    for (; n >= 64; p += 64, n -= 64) x[3] = far_ahead(x[3], next, _mm512_loadu_si512(p));
    uint8_t four[64];
    _mm512_storeu_si512(four, x[3]);
    const __m128i by_one = PAIR(AHEAD_128);
    __m128i last = load(four);
    for (int i = 1; i < 4; i++) last = ahead(last, by_one, load(four + 16 * i));
    return finish(last, p, n);
}

#endif

int uh_crc32_ways(void) {
    static _Atomic int known; /* asked for at every call, and cpuid takes microseconds in a virtual machine */
    if (known) return known;
    int ways = 1 << UH_CRC_TABLE;
#if defined(__x86_64__)
    if (uh_cpu_has(UH_CPU_SSE41) && uh_cpu_has(UH_CPU_PCLMUL)) ways |= 1 << UH_CRC_CLMUL;
    const int wide = uh_system_saves(0xe6) && uh_cpu_has(UH_CPU_AVX512F) && uh_cpu_has(UH_CPU_VPCLMULQDQ);
    if (ways >> UH_CRC_CLMUL & 1 && wide) ways |= 1 << UH_CRC_VCLMUL;
#endif
    known = ways;
    return ways;
}

uint32_t uh_crc32(int way, uint32_t crc, const uint8_t *bytes, int64_t n) {
    const int ways = uh_crc32_ways();
    if (way < 0) way = ways >> UH_CRC_VCLMUL & 1 ? UH_CRC_VCLMUL : ways >> UH_CRC_CLMUL & 1 ? UH_CRC_CLMUL : UH_CRC_TABLE;
#if defined(__x86_64__)
    if (way == UH_CRC_VCLMUL) return ~by_vclmul(~crc, bytes, n);
    if (way == UH_CRC_CLMUL) return ~by_clmul(~crc, bytes, n);
#endif
    return ~by_table(~crc, bytes, n);
}

/* The product of two polynomials, modulo that of the checksum; the highest bit is x^0. */
static uint32_t product(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
        if (a & bit) sum ^= b;
        b = b >> 1 ^ (b & 1 ? 0xedb88320u : 0);
    }
    return sum;
}

uint32_t uh_crc32_before(uint32_t crc, int64_t n) {
    uint32_t power = 1u << 23; /* x^8, and its squares */
    for (; n > 0; n >>= 1) {
        if (n & 1) crc = product(crc, power);
        power = product(power, power);
    }
    return crc;
}
