/* uh_crc32 in every way that this processor has, against one bit at a time. */
#include "crc32.h"

#include "check.h"
#include "selftest.h"

static uint32_t by_bits(uint32_t crc, const uint8_t *p, int n) {
    crc = ~crc;
    for (int i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void one(int way, int n, size_t shift) {
    uint8_t *bytes = exactly((size_t)n, shift);
    for (int i = 0; i < n; i++) bytes[i] = (uint8_t)random_bits();
    const int cut = between(0, n);
    const uint32_t wanted = by_bits(0, bytes, n);
    check(uh_crc32(way, 0, bytes, n) == wanted, "way %d, %d bytes", way, n);
    check(uh_crc32(way, uh_crc32(way, 0, bytes, cut), bytes + cut, n - cut) == wanted, "way %d, %d of %d bytes", way, cut, n);
    const uint32_t first = uh_crc32(way, 0, bytes, cut), second = uh_crc32(way, 0, bytes + cut, n - cut);
    check((uh_crc32_before(first, n - cut) ^ second) == wanted, "way %d, %d and %d bytes apart", way, cut, n - cut);
    release_all();
}

void test_crc32(void) {
    group("checksums");
    reseed(11);
    check(uh_crc32(-1, 0, (const uint8_t *)"123456789", 9) == 0xcbf43926u, "the check value of the standard");
    for (int way = -1; way < UH_CRC_WAYS; way++) {
        if (way >= 0 && !(uh_crc32_ways() >> way & 1)) {
            left_out("checksums in way %d, which this processor cannot", way);
            continue;
        }
        for (int n = 0; n <= 530; n++) one(way, n, (size_t)between(0, 63));
        for (int i = 0; i < 30; i++) {
            const int n = between(500, 9000);
            one(way, n, (size_t)between(0, 63));
        }
    }
}
